// SPDX-License-Identifier: Apache-2.0
/// Ranks: one simulation by several processes, or by several threads that share nothing. Every rank runs the same
/// program with the same world (docs/howto/cluster.md); contacts and sweeps of a step are spread over them. Results are those
/// of one process, to the last bit, for any number of ranks. Hooks are called on every rank, for its own world, and
/// must do the same there. Worlds of the same ranks are stepped one after the other, in the same order everywhere;
/// those of a batch (<cairn/batch.h>) are of one rank alone.
///
/// How bytes go from rank to rank is a transport: threads of one process (here), MPI (libcairn-mpi,
/// <cairn-mpi.h>), or a table of one's own.
#ifndef CAIRN_RANKS_H
#define CAIRN_RANKS_H

#include <cairn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The place of one rank among its like. It is used by one thread at a time.
typedef struct CnRanks CnRanks;

/// Bytes for another rank, or from it.
typedef struct CnPacket {
  int32_t rank; ///< the other one
  size_t size;  ///< bytes, the same on both sides
  void *data;
} CnPacket;

/// How ranks talk. All ranks call the same functions in the same order; each returns when its own data may be used
/// again. Where a rank fails or is gone the others get CN_REMOTE with one sentence instead of waiting for ever.
typedef struct CnTransport {
  size_t size;      ///< sizeof(CnTransport)
  const char *name; ///< static
  /// Send `out` and receive `in`: packets between two ranks arrive in the order in which they were sent.
  CnStatus (*exchange)(void *context, const CnPacket *out, int32_t out_count, const CnPacket *in,
                       int32_t in_count);
  /// Every value becomes its sum over all ranks.
  CnStatus (*sum)(void *context, int64_t *values, int32_t count);
  /// Every value becomes the largest of all ranks.
  CnStatus (*largest)(void *context, double *values, int32_t count);
  /// Bytes [start[r], start[r + 1]) of `data` are those of rank r: every rank has written its own and gets all.
  CnStatus (*gather)(void *context, void *data, const int64_t *start);
  /// This rank cannot go on: from now on all calls on all ranks fail with this sentence.
  void (*fail)(void *context, const char *sentence);
  /// Release the context.
  void (*destroy)(void *context);
} CnTransport;

/// Ranks by a transport: this one is number `rank` of `count`. The context is released with them, also on failure. A
/// null allocator means the default one.
CN_API CnStatus cn_ranks_create(const CnTransport *transport, void *context, int32_t rank,
                                int32_t count, const CnAllocator *allocator, CnRanks **ranks);
/// Ranks as threads of one process, for tests: fills ranks[0 .. count - 1], one for each thread, 1 to 1024. The
/// allocator is called from all of them.
CN_API CnStatus cn_ranks_create_threads(int32_t count, const CnAllocator *allocator,
                                        CnRanks **ranks);
/// Release this rank's; worlds that use it go first. Null is allowed.
CN_API void cn_ranks_destroy(CnRanks *ranks);

/// Number of this rank, from 0; 0 for null.
CN_API int32_t cn_ranks_rank(const CnRanks *ranks);
/// How many there are; 1 for null.
CN_API int32_t cn_ranks_count(const CnRanks *ranks);
/// Name of the transport, "one" for null.
CN_API const char *cn_ranks_transport(const CnRanks *ranks);
/// The value becomes the largest of all ranks: how they agree that one of them wants to stop. Collective.
CN_API CnStatus cn_ranks_most(CnRanks *ranks, int64_t *value);
/// What some ranks would have to sweep of a pile.
typedef struct CnRankPlan {
  int32_t slabs, rows; ///< parts of the pile, and rows of each
  int32_t at_work;     ///< ranks that have slabs of their own; 0: all would sweep everything
  double efficiency;   ///< of the sweeps: the mean over the fullest rank, idle ones included
} CnRankPlan;

/// The plan for so many bodies with mass and ranks, both >= 1. A pile may be too narrow for it.
CN_API CnStatus cn_ranks_plan(int32_t body_count, int32_t rank_count, CnRankPlan *plan);
/// Tell all others that this rank cannot go on, and why: what they call then fails with CN_REMOTE. Null is allowed.
CN_API void cn_ranks_fail(CnRanks *ranks, const char *sentence);

#ifdef __cplusplus
}
#endif
#endif
