// SPDX-License-Identifier: Apache-2.0
// The pool of workers behind parallel loops.
//
// A region is a sequence of phases, a phase a number of blocks. The blocks of a phase are dealt to
// as many segments as there are workers; a segment is one counter of the blocks left in it. A
// worker takes blocks from its own segment first (the data of a sweep stays in its cache), then
// from the others. It takes one by lowering the counter from r > 0 to r - 1 and reads what the
// block is only then. So it does not matter when the worker looked: what it has taken is a block of
// the phase that is going on now, and the phase cannot end before the block is done.
//
// The worker that finishes the last block of a phase publishes the next one; nobody waits for a
// worker that has taken nothing. One that finds nothing to take watches a counter of phases for a
// bounded number of turns, then sleeps on a condition variable. Phases of a single block are run by
// the publisher itself without telling anyone.
//
// What a loop body is called with depends on the counts and the block size alone.

#include "core/tasks.h"
#include "core/error.h"
#include "core/floats.h"
#include "core/memory.h"

#define WORKER_LIMIT 1024

static int32_t block_count(int32_t count, int32_t block) {
  return count <= 0 ? 0 : (count - 1) / block + 1;
}

// Everything in the calling thread, with the same blocks.
static void run_serially(int32_t phase_count, const int32_t *counts, int32_t block, CniPhaseLoop fn,
                         void *context) {
  for (int32_t phase = 0; phase < phase_count; ++phase) {
    for (int32_t begin = 0; begin < counts[phase];) {
      int32_t end = counts[phase] - begin > block ? begin + block : counts[phase];
      fn(context, phase, begin, end);
      begin = end;
    }
  }
}

// A loop without phases is one phase.
typedef struct SingleLoop {
  CniLoop fn;
  void *context;
} SingleLoop;

static void run_single(void *context, int32_t phase, int32_t begin, int32_t end) {
  const SingleLoop *loop = context;
  (void)phase;
  loop->fn(loop->context, begin, end);
}

void cni_parallel_for(CnTasks *tasks, int32_t count, int32_t block, CniLoop fn, void *context) {
  // what is one block needs no region; small steps are many such loops
  if (count > 0 && count <= block) {
    fn(context, 0, count);
    return;
  }
  SingleLoop loop = {fn, context};
  cni_parallel_phases(tasks, 1, &count, block, run_single, &loop);
}

static CnStatus check_arguments(int32_t worker_count, CnTasks **tasks) {
  if (!tasks) return cni_invalid("cn_tasks_create: tasks is null");
  *tasks = NULL;
  if (worker_count < 1 || worker_count > WORKER_LIMIT) {
    return cni_invalid("worker_count must be 1 to %d (got %d)", WORKER_LIMIT, worker_count);
  }
  return CN_OK;
}

#if defined(CNI_NO_THREADS) || defined(__STDC_NO_ATOMICS__) ||                                     \
    (defined(__wasm__) && !defined(__EMSCRIPTEN_PTHREADS__))

// ---- without threads ----

struct CnTasks {
  CnAllocator allocator;
};

CnStatus cn_tasks_create(int32_t worker_count, const CnTaskHost *host, const CnAllocator *allocator,
                         CnTasks **tasks) {
  (void)host;
  CNI_TRY(check_arguments(worker_count, tasks));
  CnAllocator hook = allocator ? *allocator : cn_allocator_default();
  CnTasks *pool = cni_allocate(&hook, sizeof *pool);
  if (!pool) return cni_error_memory(sizeof *pool);
  pool->allocator = hook;
  *tasks = pool;
  return CN_OK;
}

void cn_tasks_destroy(CnTasks *tasks) {
  if (!tasks) return;
  CnAllocator hook = tasks->allocator;
  cni_release(&hook, tasks, sizeof *tasks);
}

void cni_parallel_phases(CnTasks *tasks, int32_t phase_count, const int32_t *counts, int32_t block,
                         CniPhaseLoop fn, void *context) {
  (void)tasks;
  (void)block_count;
  run_serially(phase_count, counts, block < 1 ? 1 : block, fn, context);
}

int32_t cni_tasks_worker_count(const CnTasks *tasks) {
  (void)tasks;
  return 1;
}

#else

// ---- with threads ----

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

// Turns of the watching loop before a worker sleeps, a few tens of microseconds; hardly any where
// workers share processors, since what they wait for then needs theirs.
#define WATCH_LONG 1000
#define WATCH_SHORT 20

// Blocks of the present phase that one worker takes first.
typedef struct Segment {
  _Alignas(CNI_ALIGNMENT) atomic_int left; // not yet taken
  int32_t end;                             // the next one is number end - left
} Segment;

// Where threads sleep. `used` is raised by a thread before it looks for the last time whether it
// must sleep, and lowered by the one who wakes: most of the time there is nobody to wake.
typedef struct Bed {
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  atomic_bool used;
} Bed;

typedef struct Thread {
  CnTasks *tasks;
  int32_t worker;
  pthread_t id;
} Thread;

struct CnTasks {
  CnAllocator allocator;
  CnTaskHost host;
  int32_t worker_count;
  int32_t thread_count; // running, without the calling thread
  int32_t watch_limit;
  Segment *segments; // one a worker
  Thread *threads;   // one a worker, the first unused
  atomic_bool busy;  // a region is going on
  Bed worker_bed;    // threads of the pool
  Bed caller_bed;    // threads that return at the end of the region

  // The region. Written by the one who publishes a phase, read by those who hold one of its blocks.
  CniPhaseLoop fn;
  void *context;
  const int32_t *counts;
  int32_t phase_count, phase;
  int32_t count, block; // indices in this phase, indices in a block

  _Alignas(CNI_ALIGNMENT) atomic_int unfinished;   // blocks of this phase
  _Alignas(CNI_ALIGNMENT) atomic_uint publication; // counts up with every published phase
  atomic_bool over;                                // the region has ended
  atomic_bool stop;                                // the pool is being destroyed
};

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// ---- sleeping ----

static bool bed_init(Bed *bed) {
  atomic_init(&bed->used, false);
  if (pthread_mutex_init(&bed->mutex, NULL) != 0) return false;
  if (pthread_cond_init(&bed->wake, NULL) == 0) return true;
  pthread_mutex_destroy(&bed->mutex);
  return false;
}

static void bed_destroy(Bed *bed) {
  pthread_cond_destroy(&bed->wake);
  pthread_mutex_destroy(&bed->mutex);
}

// Called after the news has been stored. Either the sleeper's last look sees the news, or this sees
// that the bed is used: both sides store first and then load, sequentially consistent.
static void bed_wake(Bed *bed) {
  if (!atomic_load(&bed->used)) return;
  pthread_mutex_lock(&bed->mutex);
  atomic_store(&bed->used, false);
  pthread_cond_broadcast(&bed->wake);
  pthread_mutex_unlock(&bed->mutex);
}

// Something has changed since publication `seen`. A caller goes home at the end of the region, a
// thread of the pool when the pool is destroyed.
static bool has_news(CnTasks *tasks, unsigned seen, const atomic_bool *go_home) {
  return atomic_load(&tasks->publication) != seen || atomic_load(go_home);
}

static void wait_for_news(CnTasks *tasks, unsigned seen, const atomic_bool *go_home, Bed *bed) {
  for (int32_t i = 0; i < tasks->watch_limit; ++i) {
    if (has_news(tasks, seen, go_home)) return;
    pause_briefly();
  }
  pthread_mutex_lock(&bed->mutex);
  for (;;) {
    atomic_store(&bed->used, true);
    if (has_news(tasks, seen, go_home)) break;
    pthread_cond_wait(&bed->wake, &bed->mutex);
  }
  pthread_mutex_unlock(&bed->mutex);
}

// ---- phases ----

// Offer the blocks of the present phase to everybody.
static void publish(CnTasks *tasks, int32_t blocks) {
  atomic_store_explicit(&tasks->unfinished, blocks, memory_order_relaxed);
  int32_t begin = 0;
  for (int32_t i = 0; i < tasks->worker_count; ++i) {
    Segment *segment = &tasks->segments[i];
    int32_t end = (int32_t)((int64_t)blocks * (i + 1) / tasks->worker_count);
    if (end > begin) {
      segment->end = end;
      atomic_store_explicit(&segment->left, end - begin, memory_order_release);
    }
    begin = end;
  }
  atomic_fetch_add(&tasks->publication, 1);
  bed_wake(&tasks->worker_bed);
  bed_wake(&tasks->caller_bed);
}

// Go to the next phase that is worth sharing, or end the region. Called by the one thread that
// knows that no block is held: at the start of a region and after the last block of a phase.
static void advance(CnTasks *tasks) {
  for (;;) {
    tasks->phase += 1;
    if (tasks->phase == tasks->phase_count) break;
    tasks->count = tasks->counts[tasks->phase];
    int32_t blocks = block_count(tasks->count, tasks->block);
    if (blocks > 1) {
      publish(tasks, blocks);
      return;
    }
    if (blocks == 1) tasks->fn(tasks->context, tasks->phase, 0, tasks->count);
  }
  atomic_store(&tasks->over, true);
  bed_wake(&tasks->caller_bed);
}

// Take a block of this segment: its number, or -1.
static int32_t take_block(Segment *segment) {
  int left = atomic_load_explicit(&segment->left, memory_order_relaxed);
  while (left > 0) {
    if (atomic_compare_exchange_weak_explicit(&segment->left, &left, left - 1, memory_order_acquire,
                                              memory_order_relaxed)) {
      return segment->end - left;
    }
  }
  return -1;
}

static void run_block(CnTasks *tasks, int32_t number) {
  int32_t begin = number * tasks->block;
  int32_t end = tasks->count - begin > tasks->block ? begin + tasks->block : tasks->count;
  tasks->fn(tasks->context, tasks->phase, begin, end);
  if (atomic_fetch_sub_explicit(&tasks->unfinished, 1, memory_order_acq_rel) == 1) advance(tasks);
}

// Run blocks for as long as there are any, own segment first.
static void run_blocks(CnTasks *tasks, int32_t worker) {
  for (int32_t i = 0; i < tasks->worker_count;) {
    int32_t number = take_block(&tasks->segments[(worker + i) % tasks->worker_count]);
    if (number < 0) {
      ++i;
    } else {
      run_block(tasks, number);
      // the own segment may have been filled again meanwhile
      i = 0;
    }
  }
}

static void work(CnTasks *tasks, int32_t worker, const atomic_bool *go_home, Bed *bed) {
  while (!atomic_load(go_home)) {
    // Remember the publication before looking: one that comes during the look is not slept over.
    unsigned seen = atomic_load(&tasks->publication);
    run_blocks(tasks, worker);
    wait_for_news(tasks, seen, go_home, bed);
  }
}

// Entry of a thread of the pool. It was born with the floating-point mode of its maker.
static void *thread_main(void *argument) {
  CNI_FLOATS;
  Thread *thread = argument;
  CnTasks *tasks = thread->tasks;
  work(tasks, thread->worker, &tasks->stop, &tasks->worker_bed);
  return NULL;
}

// Entry of a task that the host runs; one that comes late finds the region ended.
static void host_task(void *context, int32_t index) {
  CNI_FLOATS;
  CnTasks *tasks = context;
  int32_t worker = index > 0 ? index % tasks->worker_count : 0;
  work(tasks, worker, &tasks->over, &tasks->caller_bed);
}

// Sharing pays only if some phase has two blocks.
static bool worth_sharing(int32_t phase_count, const int32_t *counts, int32_t block) {
  for (int32_t i = 0; i < phase_count; ++i) {
    if (counts[i] > block) return true;
  }
  return false;
}

void cni_parallel_phases(CnTasks *tasks, int32_t phase_count, const int32_t *counts, int32_t block,
                         CniPhaseLoop fn, void *context) {
  if (block < 1) block = 1;
  // A region inside a region, or beside one, finds the pool busy.
  bool shared = tasks && tasks->worker_count > 1 && worth_sharing(phase_count, counts, block) &&
                !atomic_exchange_explicit(&tasks->busy, true, memory_order_acquire);
  if (!shared) {
    run_serially(phase_count, counts, block, fn, context);
    return;
  }
  tasks->fn = fn;
  tasks->context = context;
  tasks->counts = counts;
  tasks->phase_count = phase_count;
  tasks->phase = -1;
  tasks->block = block;
  atomic_store(&tasks->over, false);
  advance(tasks);
  if (tasks->host.run) {
    tasks->host.run(tasks->host.context, tasks->worker_count, host_task, tasks);
  }
  work(tasks, 0, &tasks->over, &tasks->caller_bed);
  atomic_store_explicit(&tasks->busy, false, memory_order_release);
}

int32_t cni_tasks_worker_count(const CnTasks *tasks) { return tasks ? tasks->worker_count : 1; }

// ---- life of the pool ----

static int32_t choose_watch_limit(int32_t worker_count) {
#ifdef _SC_NPROCESSORS_ONLN
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (processors > 0 && worker_count > processors) return WATCH_SHORT;
#endif
  (void)worker_count;
  return WATCH_LONG;
}

// Start the threads of workers 1, 2, ... Signals stay with the host's threads.
static CnStatus start_threads(CnTasks *tasks) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  for (int32_t i = 1; i < tasks->worker_count && error == 0; ++i) {
    Thread *thread = &tasks->threads[i];
    *thread = (Thread){.tasks = tasks, .worker = i};
    error = pthread_create(&thread->id, NULL, thread_main, thread);
    if (error == 0) tasks->thread_count = i;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) return CN_OK;
  return cni_error(CN_NO_MEMORY, "cannot start worker thread %d of %d (system error %d)",
                   tasks->thread_count + 1, tasks->worker_count, error);
}

static void stop_threads(CnTasks *tasks) {
  atomic_store(&tasks->stop, true);
  bed_wake(&tasks->worker_bed);
  for (int32_t i = 1; i <= tasks->thread_count; ++i) pthread_join(tasks->threads[i].id, NULL);
}

static void pool_release(CnTasks *tasks) {
  CnAllocator hook = tasks->allocator;
  size_t workers = (size_t)tasks->worker_count;
  cni_release(&hook, tasks->segments, workers * sizeof(Segment));
  cni_release(&hook, tasks->threads, workers * sizeof(Thread));
  cni_release(&hook, tasks, sizeof *tasks);
}

// A pool with its memory, without beds and threads.
static CnStatus pool_create(int32_t worker_count, const CnTaskHost *host,
                            const CnAllocator *allocator, CnTasks **tasks) {
  CnAllocator hook = allocator ? *allocator : cn_allocator_default();
  CnTasks *pool = cni_allocate(&hook, sizeof *pool);
  if (!pool) return cni_error_memory(sizeof *pool);
  *pool = (CnTasks){.allocator = hook, .worker_count = worker_count};
  if (host) pool->host = *host;
  pool->watch_limit = choose_watch_limit(worker_count);
  atomic_init(&pool->busy, false);
  atomic_init(&pool->unfinished, 0);
  atomic_init(&pool->publication, 0);
  atomic_init(&pool->over, false);
  atomic_init(&pool->stop, false);

  size_t workers = (size_t)worker_count;
  pool->segments = cni_allocate(&hook, workers * sizeof(Segment));
  pool->threads = cni_allocate(&hook, workers * sizeof(Thread));
  if (!pool->segments || !pool->threads) {
    pool_release(pool);
    return cni_error_memory(workers * (sizeof(Segment) + sizeof(Thread)));
  }
  for (int32_t i = 0; i < worker_count; ++i) {
    atomic_init(&pool->segments[i].left, 0);
    pool->segments[i].end = 0;
  }
  *tasks = pool;
  return CN_OK;
}

CnStatus cn_tasks_create(int32_t worker_count, const CnTaskHost *host, const CnAllocator *allocator,
                         CnTasks **tasks) {
  CNI_TRY(check_arguments(worker_count, tasks));
  CnTasks *pool = NULL;
  CNI_TRY(pool_create(worker_count, host, allocator, &pool));
  if (!bed_init(&pool->worker_bed)) {
    pool_release(pool);
    return cni_error(CN_NO_MEMORY, "the system has no mutex for the worker pool");
  }
  if (!bed_init(&pool->caller_bed)) {
    bed_destroy(&pool->worker_bed);
    pool_release(pool);
    return cni_error(CN_NO_MEMORY, "the system has no mutex for the worker pool");
  }
  *tasks = pool;
  if (pool->host.run) return CN_OK;
  CnStatus status = start_threads(pool);
  if (status != CN_OK) {
    cn_tasks_destroy(pool);
    *tasks = NULL;
  }
  return status;
}

void cn_tasks_destroy(CnTasks *tasks) {
  if (!tasks) return;
  stop_threads(tasks);
  bed_destroy(&tasks->worker_bed);
  bed_destroy(&tasks->caller_bed);
  pool_release(tasks);
}

#endif
