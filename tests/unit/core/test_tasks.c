// SPDX-License-Identifier: Apache-2.0
// Parallel loops: every index once, blocks that do not depend on the workers, phases that see each
// other's results, nested and concurrent regions, the host's threads, failures.
//
// Built twice: with threads and, with CNI_NO_THREADS, against the pool that has none.

#include "alloc.h"
#include "check.h"
#include "core/tasks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define SIZE 5000

#ifdef CNI_NO_THREADS
#define HAS_THREADS 0
#else
#define HAS_THREADS 1
#endif

static CnTasks *pool_of(int32_t worker_count, const CnTaskHost *host) {
  CnTasks *tasks = NULL;
  CHECK_OK(cn_tasks_create(worker_count, host, NULL, &tasks));
  assert_int_equal(cni_tasks_worker_count(tasks), HAS_THREADS ? worker_count : 1);
  return tasks;
}

// ---- one loop ----

typedef struct Visits {
  int32_t count[SIZE], begin[SIZE], end[SIZE];
} Visits;

static void visit(void *context, int32_t begin, int32_t end) {
  Visits *visits = context;
  for (int32_t i = begin; i < end; ++i) {
    visits->count[i] += 1;
    visits->begin[i] = begin;
    visits->end[i] = end;
  }
}

static void check_visits(CnTasks *tasks, int32_t count, int32_t block) {
  static Visits visits;
  memset(&visits, 0, sizeof visits);
  cni_parallel_for(tasks, count, block, visit, &visits);
  for (int32_t i = 0; i < SIZE; ++i) {
    assert_int_equal(visits.count[i], i < count ? 1 : 0);
    if (i >= count) continue;
    int32_t begin = i / block * block;
    assert_int_equal(visits.begin[i], begin);
    assert_int_equal(visits.end[i], begin + block < count ? begin + block : count);
  }
}

static void check_many_visits(CnTasks *tasks) {
  static const int32_t counts[] = {0, 1, 2, 3, 7, 64, 100, 4999, SIZE};
  static const int32_t blocks[] = {1, 2, 3, 64, 1000, 100000};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; ++k) {
      check_visits(tasks, counts[i], blocks[k]);
    }
  }
}

static void every_index_once(void **state) {
  (void)state;
  check_many_visits(NULL);
  assert_int_equal(cni_tasks_worker_count(NULL), 1);
  for (int32_t workers = 1; workers <= 4; ++workers) {
    CnTasks *tasks = pool_of(workers, NULL);
    check_many_visits(tasks);
    cn_tasks_destroy(tasks);
  }
}

static void add_length(void *context, int32_t begin, int32_t end) {
  atomic_fetch_add((atomic_llong *)context, end - begin);
}

static void huge_counts_do_not_overflow(void **state) {
  (void)state;
  CnTasks *tasks = pool_of(3, NULL);
  // a body that does nothing: only the bounds are at stake
  int32_t counts[2] = {INT32_MAX, INT32_MAX - 1};
  static atomic_llong sum;
  atomic_store(&sum, 0);
  for (int i = 0; i < 2; ++i) {
    cni_parallel_for(tasks, counts[i], INT32_MAX / 3, add_length, &sum);
  }
  CHECK(atomic_load(&sum) == 2LL * INT32_MAX - 1);
  cn_tasks_destroy(tasks);
}

// ---- phases ----

#define PHASES 6000
#define WIDTH 97

// Each phase makes row p of a table from row p-1, read across block borders.
typedef struct Rows {
  double now[2][WIDTH];
  const int32_t *counts;
} Rows;

static void next_row(void *context, int32_t phase, int32_t begin, int32_t end) {
  Rows *rows = context;
  const double *from = rows->now[phase % 2];
  double *to = rows->now[(phase + 1) % 2];
  for (int32_t i = begin; i < end; ++i) {
    double left = from[(i + WIDTH - 1) % WIDTH], right = from[(i + 31) % WIDTH];
    to[i] = 0.49 * left + 0.51 * right + 1e-3 * i / (phase + 1);
  }
  // indices that this phase does not cover are carried over by whoever has the last block
  if (end == rows->counts[phase]) {
    for (int32_t i = end; i < WIDTH; ++i) to[i] = from[i];
  }
}

static void run_rows(CnTasks *tasks, int32_t block, Rows *rows, int32_t *counts) {
  for (int32_t p = 0; p < PHASES; ++p) counts[p] = 1 + (p * 7919) % WIDTH;
  for (int32_t i = 0; i < WIDTH; ++i) rows->now[0][i] = rows->now[1][i] = 1.0 / (1 + i);
  rows->counts = counts;
  cni_parallel_phases(tasks, PHASES, counts, block, next_row, rows);
}

static void phases_see_each_other(void **state) {
  (void)state;
  static Rows expected, actual;
  static int32_t counts[PHASES];
  static const int32_t blocks[] = {1, 5, 40};
  run_rows(NULL, 5, &expected, counts);
  for (int32_t workers = 1; workers <= 4; ++workers) {
    CnTasks *tasks = pool_of(workers, NULL);
    for (int k = 0; k < 3; ++k) {
      memset(&actual, 0, sizeof actual);
      run_rows(tasks, blocks[k], &actual, counts);
      CHECK(memcmp(expected.now, actual.now, sizeof actual.now) == 0);
    }
    cn_tasks_destroy(tasks);
  }
}

static void count_calls(void *context, int32_t phase, int32_t begin, int32_t end) {
  atomic_int *calls = context;
  atomic_fetch_add(&calls[phase], end - begin);
}

static void empty_phases(void **state) {
  (void)state;
  static const int32_t counts[] = {0, 0, 10, 0, 1, 0, 200, 0, 0};
  for (int32_t workers = 1; workers <= 4; ++workers) {
    CnTasks *tasks = pool_of(workers, NULL);
    for (int repeat = 0; repeat < 300; ++repeat) {
      atomic_int calls[9];
      for (int i = 0; i < 9; ++i) atomic_init(&calls[i], 0);
      cni_parallel_phases(tasks, 9, counts, 3, count_calls, calls);
      for (int i = 0; i < 9; ++i) assert_int_equal(atomic_load(&calls[i]), counts[i]);
    }
    cni_parallel_phases(tasks, 0, NULL, 3, count_calls, NULL);
    cn_tasks_destroy(tasks);
  }
}

// Many short regions in a row: counts, bodies and blocks of one must not leak into the next.
static void many_regions(void **state) {
  (void)state;
  CnTasks *tasks = pool_of(4, NULL);
  for (int32_t region = 0; region < 3000; ++region) {
    int32_t counts[3] = {region % 17, 1 + region % 5, region % 29};
    atomic_int calls[3];
    for (int i = 0; i < 3; ++i) atomic_init(&calls[i], 0);
    cni_parallel_phases(tasks, 3, counts, 1 + region % 4, count_calls, calls);
    for (int i = 0; i < 3; ++i) assert_int_equal(atomic_load(&calls[i]), counts[i]);
  }
  cn_tasks_destroy(tasks);
}

// ---- regions inside and beside regions ----

typedef struct Nest {
  CnTasks *tasks;
  atomic_int total;
  atomic_int foreign; // inner bodies that ran in another thread than their caller
} Nest;

typedef struct Inner {
  Nest *nest;
  pthread_t caller;
} Inner;

static void inner_body(void *context, int32_t begin, int32_t end) {
  Inner *inner = context;
  atomic_fetch_add(&inner->nest->total, end - begin);
  if (!pthread_equal(inner->caller, pthread_self())) atomic_fetch_add(&inner->nest->foreign, 1);
}

static void outer_body(void *context, int32_t begin, int32_t end) {
  Nest *nest = context;
  for (int32_t i = begin; i < end; ++i) {
    Inner inner = {nest, pthread_self()};
    cni_parallel_for(nest->tasks, 50, 7, inner_body, &inner);
  }
}

static void nested_regions_are_serial(void **state) {
  (void)state;
  for (int32_t workers = 1; workers <= 4; ++workers) {
    Nest nest = {.tasks = pool_of(workers, NULL)};
    cni_parallel_for(nest.tasks, 100, 3, outer_body, &nest);
    assert_int_equal(atomic_load(&nest.total), 100 * 50);
    assert_int_equal(atomic_load(&nest.foreign), 0);
    cn_tasks_destroy(nest.tasks);
  }
}

static void *user_thread(void *context) {
  CnTasks *tasks = context;
  intptr_t wrong = 0;
  for (int i = 0; i < 500; ++i) {
    int32_t counts[2] = {40, 13};
    atomic_int calls[2];
    for (int k = 0; k < 2; ++k) atomic_init(&calls[k], 0);
    cni_parallel_phases(tasks, 2, counts, 4, count_calls, calls);
    if (atomic_load(&calls[0]) != 40 || atomic_load(&calls[1]) != 13) ++wrong;
  }
  return (void *)wrong;
}

static void two_users_of_one_pool(void **state) {
  (void)state;
  CnTasks *tasks = pool_of(3, NULL);
  pthread_t users[2];
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(pthread_create(&users[i], NULL, user_thread, tasks), 0);
  }
  for (int i = 0; i < 2; ++i) {
    void *wrong = NULL;
    pthread_join(users[i], &wrong);
    CHECK(wrong == NULL);
  }
  cn_tasks_destroy(tasks);
}

// ---- the host's threads ----

typedef void (*Task)(void *, int32_t);

typedef struct Host {
  int calls, tasks;
} Host;

// A host without threads: one task after the other, last first.
static void run_backwards(void *context, int32_t count, Task task, void *task_context) {
  Host *host = context;
  host->calls += 1;
  host->tasks += count;
  for (int32_t i = count - 1; i >= 0; --i) task(task_context, i);
}

typedef struct HostTask {
  Task task;
  void *context;
  int32_t index;
} HostTask;

static void *host_thread(void *argument) {
  HostTask *item = argument;
  item->task(item->context, item->index);
  return NULL;
}

// A host that starts a thread for every task but the first.
static void run_threads(void *context, int32_t count, Task task, void *task_context) {
  Host *host = context;
  host->calls += 1;
  host->tasks += count;
  HostTask items[8];
  pthread_t threads[8];
  for (int32_t i = 1; i < count; ++i) {
    items[i] = (HostTask){task, task_context, i};
    assert_int_equal(pthread_create(&threads[i], NULL, host_thread, &items[i]), 0);
  }
  task(task_context, 0);
  for (int32_t i = 1; i < count; ++i) pthread_join(threads[i], NULL);
}

static void check_host(CnTaskHost hook, Host *host) {
  static Rows expected, actual;
  static int32_t counts[PHASES];
  run_rows(NULL, 5, &expected, counts);
  for (int32_t workers = 2; workers <= 4; ++workers) {
    CnTasks *tasks = pool_of(workers, &hook);
    *host = (Host){0, 0};
    run_rows(tasks, 5, &actual, counts);
    CHECK(memcmp(expected.now, actual.now, sizeof actual.now) == 0);
    assert_int_equal(host->calls, HAS_THREADS);
    assert_int_equal(host->tasks, HAS_THREADS * workers);
    for (int i = 0; i < 50; ++i) check_visits(tasks, 200 + i, 7);
    cn_tasks_destroy(tasks);
  }
}

static void host_without_threads(void **state) {
  (void)state;
  Host host;
  check_host((CnTaskHost){run_backwards, &host}, &host);
}

static void host_with_threads(void **state) {
  (void)state;
  Host host;
  check_host((CnTaskHost){run_threads, &host}, &host);
}

// ---- failures ----

static void wrong_arguments(void **state) {
  (void)state;
  CnTasks *tasks = (CnTasks *)(uintptr_t)8;
  CHECK_STATUS(cn_tasks_create(0, NULL, NULL, &tasks), CN_INVALID_ARGUMENT);
  CHECK(tasks == NULL);
  CHECK_STATUS(cn_tasks_create(-3, NULL, NULL, &tasks), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "-3") != NULL);
  CHECK_STATUS(cn_tasks_create(1000000, NULL, NULL, &tasks), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_tasks_create(2, NULL, NULL, NULL), CN_INVALID_ARGUMENT);
  cn_tasks_destroy(NULL);
}

static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CnTasks *tasks = NULL;
  int failures = 0;
  for (;; ++failures) {
    test_alloc_fail_at(&alloc, failures + 1);
    CnStatus status = cn_tasks_create(3, NULL, &hook, &tasks);
    if (alloc.failed_count == 0) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(tasks == NULL);
    test_alloc_check_clean(&alloc);
  }
  CHECK(failures >= 1);
  // a loop asks for no memory
  int64_t before = alloc.allocation_count;
  check_visits(tasks, SIZE, 10);
  assert_int_equal(alloc.allocation_count, before);
  cn_tasks_destroy(tasks);
  test_alloc_check_clean(&alloc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_index_once),
      cmocka_unit_test(huge_counts_do_not_overflow),
      cmocka_unit_test(phases_see_each_other),
      cmocka_unit_test(empty_phases),
      cmocka_unit_test(many_regions),
      cmocka_unit_test(nested_regions_are_serial),
      cmocka_unit_test(two_users_of_one_pool),
      cmocka_unit_test(host_without_threads),
      cmocka_unit_test(host_with_threads),
      cmocka_unit_test(wrong_arguments),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
