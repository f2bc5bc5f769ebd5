// SPDX-License-Identifier: Apache-2.0
// What ranks do together. Everything here is called by all ranks in the same order; with null, or with one
// rank, nothing is sent and the answers are those of one process.
//
// Only whole numbers are added up over ranks, and only maxima taken of others: neither the order of the
// ranks nor their number can be seen in a result.
#ifndef CNI_RANKS_RANKS_H
#define CNI_RANKS_RANKS_H

#include <cairn/ranks.h>

#include "core/error.h"
#include "core/memory.h"

struct CnRanks {
  CnTransport transport;
  void *context;
  int32_t rank, count;
  CnAllocator allocator;
};

static inline int32_t cni_ranks_count(const CnRanks *r) { return r ? r->count : 1; }
static inline int32_t cni_ranks_rank(const CnRanks *r) { return r ? r->rank : 0; }

CnStatus cni_ranks_exchange(CnRanks *ranks, const CnPacket *out, int32_t out_count,
                            const CnPacket *in, int32_t in_count);
CnStatus cni_ranks_sum(CnRanks *ranks, int64_t *values, int32_t count);
CnStatus cni_ranks_largest(CnRanks *ranks, double *values, int32_t count);
CnStatus cni_ranks_gather(CnRanks *ranks, void *data, const int64_t *start);
// Bytes [out_start[r], out_start[r + 1]) of `out` go to rank r, those of `in` come from it.
CnStatus cni_ranks_swap(CnRanks *ranks, const void *out, const int64_t *out_start, void *in,
                        const int64_t *in_start);
// The sum of the values of all ranks before this one.
CnStatus cni_ranks_before(CnRanks *ranks, int64_t value, int64_t *sum);
// A rank without memory cannot go on: the others are told. What fails alike on all of them needs no telling.
CnStatus cni_ranks_tell(CnRanks *ranks, CnStatus status);

#endif
