// SPDX-License-Identifier: Apache-2.0
// Allocator hook, growing arrays, meter, arena, and the allocator double of the tests themselves.

#include "alloc.h"
#include "check.h"
#include "core/memory.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int aligned(const void *memory) { return (uintptr_t)memory % CNI_ALIGNMENT == 0; }

static void default_hook(void **state) {
  (void)state;
  CnAllocator hook = cn_allocator_default();
  for (size_t size = 1; size < 300; size += 7) {
    char *memory = cni_allocate(&hook, size);
    CHECK(memory && aligned(memory));
    memset(memory, 1, size);
    cni_release(&hook, memory, size);
  }
  // large blocks begin with a large page
  const size_t page = (size_t)1 << 21;
  char *large = cni_allocate(&hook, 3 * page + 1);
  CHECK(large && (uintptr_t)large % page == 0);
  memset(large, 1, 3 * page + 1);
  cni_release(&hook, large, 3 * page + 1);
  CHECK(cni_allocate(&hook, 0) == NULL);
  CHECK(cni_allocate(&hook, SIZE_MAX) == NULL);
  CHECK(cni_allocate(&hook, SIZE_MAX - 63) == NULL);
  cni_release(&hook, NULL, 0);
}

// A block of zeros; none of no bytes; null and a sentence where there is no memory.
static void new_blocks(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  char *block = NULL, *none = (char *)&alloc, zeros[100] = {0};
  CHECK_OK(cni_new(&hook, sizeof zeros, &block));
  CHECK(block && aligned(block) && memcmp(block, zeros, sizeof zeros) == 0);
  CHECK_OK(cni_new(&hook, 0, &none));
  CHECK(none == NULL);
  none = block;
  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cni_new(&hook, 64, &none), CN_NO_MEMORY);
  CHECK(none == NULL);
  CNI_RELEASE(&hook, block, sizeof zeros);
  test_alloc_check_clean(&alloc);
}

static void array_grows_and_keeps(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  void *data = NULL;
  int32_t capacity = 0;
  for (int32_t count = 0; count < 10000; ++count) {
    CHECK_OK(cni_array_reserve(&hook, &data, &capacity, count, count + 1, sizeof(int32_t)));
    ((int32_t *)data)[count] = 3 * count;
  }
  for (int32_t i = 0; i < 10000; ++i) assert_int_equal(((int32_t *)data)[i], 3 * i);
  // half as much again: log1.5(10000 / 8) growths
  CHECK(alloc.allocation_count <= 20);
  CHECK(capacity >= 10000 && capacity < 15001);
  assert_int_equal(alloc.live_blocks, 1);
  cni_release(&hook, data, (size_t)capacity * sizeof(int32_t));
  test_alloc_check_clean(&alloc);
}

// Asked for all at once: an eighth more, so that small changes later need no memory.
static void array_gets_what_it_asks(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  void *data = NULL;
  int32_t capacity = 0;
  CHECK_OK(cni_array_reserve(&hook, &data, &capacity, 0, 8000, 1));
  assert_int_equal(capacity, 9000);
  CHECK_OK(cni_array_reserve(&hook, &data, &capacity, 8000, 9000, 1));
  assert_int_equal(alloc.allocation_count, 1);
  CHECK_OK(cni_array_reserve(&hook, &data, &capacity, 9000, 16000, 1));
  assert_int_equal(capacity, 18000);
  cni_release(&hook, data, (size_t)capacity);
  test_alloc_check_clean(&alloc);
}

static void array_failure_changes_nothing(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  void *data = NULL;
  int32_t capacity = 0;
  CHECK_OK(cni_array_reserve(&hook, &data, &capacity, 0, 20, sizeof(double)));
  void *before = data;
  int32_t capacity_before = capacity;

  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cni_array_reserve(&hook, &data, &capacity, 20, 1000, sizeof(double)), CN_NO_MEMORY);
  CHECK_STATUS(cni_array_reserve(&hook, &data, &capacity, 20, INT32_MAX, SIZE_MAX / 4),
               CN_NO_MEMORY);
  CHECK_STATUS(cni_array_reserve(&hook, &data, &capacity, 20, -1, sizeof(double)), CN_NO_MEMORY);
  CHECK(data == before);
  assert_int_equal(capacity, capacity_before);

  CHECK_OK(cni_array_reserve(&hook, &data, &capacity, 20, 1000, sizeof(double)));
  CHECK(capacity >= 1000);

  // nothing kept: two arrays never exist at the same time
  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cni_array_reserve(&hook, &data, &capacity, 0, 2000, sizeof(double)), CN_NO_MEMORY);
  CHECK(data == NULL && capacity == 0);
  CHECK_OK(cni_array_reserve(&hook, &data, &capacity, 0, 2000, sizeof(double)));
  cni_release(&hook, data, (size_t)capacity * sizeof(double));
  test_alloc_check_clean(&alloc);
}

static void meter_counts(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CniMeter meter = {.inner = test_alloc_hook(&alloc)};
  CnAllocator hook = cni_meter_allocator(&meter);
  void *a = cni_allocate(&hook, 100), *b = cni_allocate(&hook, 50);
  assert_int_equal(meter.bytes, 150);
  cni_release(&hook, a, 100);
  void *c = cni_allocate(&hook, 60);
  assert_int_equal(meter.bytes, 110);
  assert_int_equal(meter.peak_bytes, 150);
  assert_int_equal(meter.allocation_count, 3);
  // a refused one does not count
  test_alloc_fail_at(&alloc, 1);
  CHECK(cni_allocate(&hook, 1000) == NULL);
  assert_int_equal(meter.bytes, 110);
  assert_int_equal(meter.allocation_count, 3);
  cni_release(&hook, b, 50);
  cni_release(&hook, c, 60);
  assert_int_equal(meter.bytes, 0);
  test_alloc_check_clean(&alloc);
}

// Take `count` pieces of growing sizes, fill each with its own value, then look at all of them.
static void fill_arena(CniArena *arena, int count) {
  unsigned char *pieces[200];
  for (int i = 0; i < count; ++i) {
    size_t size = (size_t)(i * 37 % 501);
    pieces[i] = cni_arena_take(arena, size);
    CHECK(pieces[i] && aligned(pieces[i]));
    memset(pieces[i], i, size);
  }
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i * 37 % 501; ++j) assert_int_equal(pieces[i][j], i);
  }
}

static void arena_is_quiet_after_warm_up(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniArena arena;
  cni_arena_init(&arena, &hook);
  assert_int_equal(alloc.allocation_count, 0);
  CHECK_OK(cni_arena_reset(&arena));

  fill_arena(&arena, 200);
  CHECK(alloc.live_blocks > 1);
  // a step that needs as much: the reset merges, nothing more is asked for
  CHECK_OK(cni_arena_reset(&arena));
  assert_int_equal(alloc.live_blocks, 1);
  assert_int_equal(arena.total, 0);
  int64_t warm = alloc.allocation_count;
  for (int step = 0; step < 10; ++step) {
    fill_arena(&arena, 200);
    CHECK_OK(cni_arena_reset(&arena));
  }
  assert_int_equal(alloc.allocation_count, warm);

  // a piece far larger than what is there
  CHECK(cni_arena_take(&arena, 1000000) != NULL);
  assert_int_equal(alloc.live_blocks, 2);
  CHECK(arena.total >= 1000000);
  cni_arena_release(&arena);
  test_alloc_check_clean(&alloc);
}

static void arena_survives_failures(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniArena arena;
  cni_arena_init(&arena, &hook);

  test_alloc_fail_at(&alloc, 1);
  CHECK(cni_arena_take(&arena, 10) == NULL);
  char *kept = cni_arena_take(&arena, 5000);
  CHECK(kept != NULL);
  memset(kept, 42, 5000);
  test_alloc_fail_at(&alloc, 1);
  CHECK(cni_arena_take(&arena, 100000) == NULL);
  CHECK(cni_arena_take(&arena, SIZE_MAX) == NULL);
  CHECK(cni_arena_take(&arena, SIZE_MAX - 100) == NULL);
  CHECK(cni_arena_take(&arena, 100000) != NULL);

  for (int i = 0; i < 5000; ++i) assert_int_equal(kept[i], 42);

  // no memory for the one block: the arena is empty, and the same call works later
  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cni_arena_reset(&arena), CN_NO_MEMORY);
  assert_int_equal(alloc.live_blocks, 0);
  CHECK_OK(cni_arena_reset(&arena));
  assert_int_equal(alloc.live_blocks, 1);
  test_alloc_fail_from(&alloc, 1);
  CHECK(cni_arena_take(&arena, 100000) != NULL);
  assert_int_equal(alloc.failed_count, 0);
  cni_arena_release(&arena);
  test_alloc_check_clean(&alloc);
}

// What fits is what one block can still give; what is expected the next reset provides.
static void arena_fits(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniArena arena;
  cni_arena_init(&arena, &a);
  CHECK(!cni_arena_fits(&arena, cni_arena_mark(&arena), 1));
  CHECK(cni_arena_take(&arena, 1000) != NULL);
  CniArenaMark mark = cni_arena_mark(&arena);
  CHECK(!cni_arena_fits(&arena, mark, 100000));
  cni_arena_expect(&arena, mark, 100000);
  CHECK_OK(cni_arena_reset(&arena));
  CHECK(cni_arena_take(&arena, 1000) != NULL);
  mark = cni_arena_mark(&arena);
  CHECK(cni_arena_fits(&arena, mark, 100000));
  CHECK(cni_arena_take(&arena, 50000) != NULL);
  CHECK(cni_arena_fits(&arena, mark, 100000));
  CHECK(cni_arena_take(&arena, 1000000) != NULL);
  CHECK(!cni_arena_fits(&arena, mark, 100000)); // another block has been opened
  cni_arena_release(&arena);
}

// What was taken first stays, moved by nobody, and the rest is given back.
static void arena_keeps(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniArena arena;
  cni_arena_init(&arena, &a);
  CniArenaMark start = cni_arena_mark(&arena);
  cni_arena_expect(&arena, start, 100000);
  CHECK_OK(cni_arena_reset(&arena));
  start = cni_arena_mark(&arena);
  char *memory = cni_arena_take(&arena, 1000);
  memset(memory, 7, 1000);
  CHECK(cni_arena_take(&arena, 50000) != NULL);
  CHECK(cni_arena_keep(&arena, start, 1000) == memory);
  CHECK(memory[0] == 7 && memory[999] == 7 && arena.total == 1024);
  cni_arena_release(&arena);
}

// Checked builds stop where a mark is used after an older one.
static void marks_in_order(void **state) {
  (void)state;
#ifdef CNI_CHECKED
  pid_t child = fork();
  if (child == 0) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    fclose(stderr);
    CnAllocator a = cn_allocator_default();
    CniArena arena;
    cni_arena_init(&arena, &a);
    CHECK(cni_arena_take(&arena, 100) != NULL);
    CniArenaMark older = cni_arena_mark(&arena);
    CHECK(cni_arena_take(&arena, 100) != NULL);
    CniArenaMark newer = cni_arena_mark(&arena);
    cni_arena_back(&arena, older);
    cni_arena_back(&arena, newer);
    _exit(0);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#else
  skip();
#endif
}

// Two stages one after another need the memory of the larger one, not of both.
// Zeros although the memory was used before, three more than asked for; too many are refused.
static void arena_arrays(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniArena arena;
  cni_arena_init(&arena, &allocator);
  for (int round = 0; round < 3; round++) {
    double *numbers = NULL;
    CHECK_OK(cni_arena_array(&arena, 100, sizeof *numbers, &numbers));
    for (int i = 0; i < 103; i++) {
      CHECK(numbers[i] == 0);
      numbers[i] = 7;
    }
    CHECK_OK(cni_arena_array(&arena, 0, sizeof *numbers, &numbers));
    CHECK(numbers != NULL && numbers[2] == 0);
    CHECK_OK(cni_arena_reset(&arena));
  }
  double *none = NULL;
  CHECK_STATUS(cni_arena_array(&arena, INT64_MAX, sizeof *none, &none), CN_NO_MEMORY);
  CHECK_STATUS(cni_arena_array(&arena, -1, sizeof *none, &none), CN_NO_MEMORY);
  CHECK(!none);
  cni_arena_release(&arena);
}

static void arena_goes_back(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniMeter meter = {.inner = hook};
  CnAllocator counted = cni_meter_allocator(&meter);
  CniArena arena;
  cni_arena_init(&arena, &counted);
  for (int step = 0; step < 3; ++step) {
    int64_t warm = meter.allocation_count;
    CHECK_OK(cni_arena_reset(&arena));
    char *kept = cni_arena_take(&arena, 1000);
    memset(kept, 7, 1000);
    CniArenaMark mark = cni_arena_mark(&arena);
    CHECK(cni_arena_take(&arena, 300000) != NULL);
    CHECK(cni_arena_take(&arena, 100000) != NULL);
    cni_arena_back(&arena, mark);
    assert_int_equal(arena.total, 1024);
    char *next = cni_arena_take(&arena, 390000);
    memset(next, 8, 390000);
    cni_arena_back(&arena, mark);
    for (int i = 0; i < 1000; ++i) assert_int_equal(kept[i], 7);
    if (step == 2) assert_int_equal(meter.allocation_count, warm);
  }
  CHECK(meter.peak_bytes < 456000); // an eighth more than the most in use, and a header

  // a mark of an arena that has nothing yet
  cni_arena_release(&arena);
  assert_int_equal(alloc.live_blocks, 0);
  CniArenaMark empty = cni_arena_mark(&arena);
  CHECK(cni_arena_take(&arena, 10) != NULL);
  cni_arena_back(&arena, empty);
  assert_int_equal(alloc.live_blocks, 0);
  CHECK(cni_arena_take(&arena, 10) != NULL);
  cni_arena_release(&arena);
  test_alloc_check_clean(&alloc);
}

static void double_fails_where_told(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  void *memory[4];

  test_alloc_fail_at(&alloc, 3);
  for (int i = 0; i < 4; ++i) memory[i] = cni_allocate(&hook, 8);
  CHECK(memory[0] && memory[1] && !memory[2] && memory[3]);
  assert_int_equal(alloc.failed_count, 1);
  for (int i = 0; i < 4; ++i) cni_release(&hook, memory[i], 8);

  test_alloc_fail_from(&alloc, 2);
  for (int i = 0; i < 4; ++i) memory[i] = cni_allocate(&hook, 8);
  CHECK(memory[0] && !memory[1] && !memory[2] && !memory[3]);
  assert_int_equal(alloc.failed_count, 3);
  cni_release(&hook, memory[0], 8);
  test_alloc_check_clean(&alloc);
}

static void double_finds_wrong_releases(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  char *a = cni_allocate(&hook, 30);
  assert_int_equal(alloc.live_bytes, 30);
  cni_release(&hook, a, 31);
  assert_int_equal(alloc.wrong_count, 1);
  char *b = cni_allocate(&hook, 30);
  b[30] = 0;
  cni_release(&hook, b, 30);
  assert_int_equal(alloc.wrong_count, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(default_hook),
      cmocka_unit_test(new_blocks),
      cmocka_unit_test(array_grows_and_keeps),
      cmocka_unit_test(array_gets_what_it_asks),
      cmocka_unit_test(array_failure_changes_nothing),
      cmocka_unit_test(meter_counts),
      cmocka_unit_test(arena_is_quiet_after_warm_up),
      cmocka_unit_test(arena_survives_failures),
      cmocka_unit_test(arena_fits),
      cmocka_unit_test(arena_arrays),
      cmocka_unit_test(arena_goes_back),
      cmocka_unit_test(arena_keeps),
      cmocka_unit_test(marks_in_order),
      cmocka_unit_test(double_fails_where_told),
      cmocka_unit_test(double_finds_wrong_releases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
