// SPDX-License-Identifier: Apache-2.0
// Parallel loops. Work is cut into blocks whose bounds depend on the input alone, never on the
// number of workers; a worker claims the next block when it runs, so a worker the machine does not
// schedule holds nobody up. Workers wait with a short bounded spin, then for real.
//
// A loop body writes to places that belong to its indices and to nothing else. A loop inside a loop
// body, or on a pool that another thread is using, runs in the calling thread. A barrier between two
// phases costs a few tenths of a microsecond while the workers are awake, waking them some ten.
#ifndef CNI_CORE_TASKS_H
#define CNI_CORE_TASKS_H

#include <cairn/base.h>

typedef void (*CniLoop)(void *context, int32_t begin, int32_t end);

// fn over [0, count) in blocks of at most `block` indices. tasks may be null: the calling thread.
void cni_parallel_for(CnTasks *tasks, int32_t count, int32_t block, CniLoop fn, void *context);

// A sequence of loops with a barrier after each, run as one region: for sweeps with thousands of
// short loops. Loop i covers counts[i] indices in blocks of at most `block`; fn gets its number.
typedef void (*CniPhaseLoop)(void *context, int32_t phase, int32_t begin, int32_t end);
void cni_parallel_phases(CnTasks *tasks, int32_t phase_count, const int32_t *counts, int32_t block,
                         CniPhaseLoop fn, void *context);

int32_t cni_tasks_worker_count(const CnTasks *tasks); // 1 for null

#endif
