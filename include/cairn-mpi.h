// SPDX-License-Identifier: Apache-2.0
/// Ranks by MPI (libcairn-mpi): <cairn/ranks.h> tells what ranks are.
#ifndef CAIRN_MPI_H
#define CAIRN_MPI_H

#include <cairn/ranks.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One rank for every process of a communicator, of which a copy is made. Collective. MPI must have been initialised
/// (MPI_THREAD_FUNNELED suffices: worlds talk from the thread that steps them) and is finalised by the program, after
/// cn_ranks_destroy. A null allocator means the default one.
CN_API CnStatus cn_ranks_create_mpi(MPI_Comm communicator, const CnAllocator *allocator,
                                    CnRanks **ranks);

#ifdef __cplusplus
}
#endif
#endif
