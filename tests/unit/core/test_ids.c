// SPDX-License-Identifier: Apache-2.0
// Generational ids: reuse, stale ones, failure, wear.

#include "alloc.h"
#include "check.h"
#include "core/ids.h"

#define COUNT 1000

static void take(CniIds *ids, const CnAllocator *hook, int32_t index, uint32_t *slot,
                 uint32_t *generation) {
  CHECK_OK(cni_ids_reserve(ids, hook));
  cni_ids_take(ids, index, slot, generation);
}

static void reuse_and_stale(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniIds ids = CNI_IDS_EMPTY;
  static uint32_t slot[COUNT], generation[COUNT];
  for (int32_t i = 0; i < COUNT; ++i) take(&ids, &hook, i, &slot[i], &generation[i]);
  for (int32_t i = 0; i < COUNT; ++i) {
    assert_int_equal(slot[i], i + 1);
    assert_int_equal(cni_ids_find(&ids, slot[i], generation[i]), i);
  }

  // the last one freed comes back first, with another generation
  cni_ids_free(&ids, slot[10]);
  cni_ids_free(&ids, slot[20]);
  assert_int_equal(cni_ids_find(&ids, slot[10], generation[10]), -1);
  assert_int_equal(cni_ids_find(&ids, slot[20], generation[20]), -1);
  uint32_t new_slot, new_generation;
  take(&ids, &hook, 777, &new_slot, &new_generation);
  assert_int_equal(new_slot, slot[20]);
  CHECK(new_generation != generation[20]);
  assert_int_equal(cni_ids_find(&ids, slot[20], generation[20]), -1);
  assert_int_equal(cni_ids_find(&ids, new_slot, new_generation), 777);
  take(&ids, &hook, 778, &new_slot, &new_generation);
  assert_int_equal(new_slot, slot[10]);
  take(&ids, &hook, 779, &new_slot, &new_generation);
  assert_int_equal(new_slot, COUNT + 1);

  cni_ids_move(&ids, slot[5], 99);
  assert_int_equal(cni_ids_find(&ids, slot[5], generation[5]), 99);
  cni_ids_release(&ids, &hook);
  test_alloc_check_clean(&alloc);
}

static void nonsense(void **state) {
  (void)state;
  CnAllocator hook = cn_allocator_default();
  CniIds ids = CNI_IDS_EMPTY;
  assert_int_equal(cni_ids_find(&ids, 0, 0), -1);
  assert_int_equal(cni_ids_find(&ids, 1, 1), -1);
  uint32_t slot, generation;
  take(&ids, &hook, 0, &slot, &generation);
  assert_int_equal(cni_ids_find(&ids, 0, generation), -1);
  assert_int_equal(cni_ids_find(&ids, slot, 0), -1);
  assert_int_equal(cni_ids_find(&ids, slot + 1, generation), -1);
  assert_int_equal(cni_ids_find(&ids, UINT32_MAX, UINT32_MAX), -1);

  // freeing twice changes nothing; neither an even generation nor a move revives a free slot
  cni_ids_free(&ids, slot);
  cni_ids_free(&ids, slot);
  cni_ids_free(&ids, 0);
  cni_ids_free(&ids, 55);
  cni_ids_move(&ids, slot, 4);
  assert_int_equal(cni_ids_find(&ids, slot, generation + 1), -1);
  uint32_t first, second, unused;
  take(&ids, &hook, 1, &first, &unused);
  take(&ids, &hook, 2, &second, &unused);
  assert_int_equal(first, slot);
  assert_int_equal(second, slot + 1);
  cni_ids_release(&ids, &hook);
}

static void worn_out_slot_is_given_up(void **state) {
  (void)state;
  CnAllocator hook = cn_allocator_default();
  CniIds ids = CNI_IDS_EMPTY;
  uint32_t slot, generation;
  take(&ids, &hook, 0, &slot, &generation);
  ids.slots[0].generation = UINT32_MAX;
  cni_ids_free(&ids, slot);
  assert_int_equal(cni_ids_find(&ids, slot, UINT32_MAX), -1);
  uint32_t next;
  take(&ids, &hook, 0, &next, &generation);
  assert_int_equal(next, slot + 1);
  cni_ids_release(&ids, &hook);
}

static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniIds ids = CNI_IDS_EMPTY;
  uint32_t slot, generation;
  for (int32_t i = 0; i < 200; ++i) {
    test_alloc_fail_at(&alloc, 1);
    CnStatus status = cni_ids_reserve(&ids, &hook);
    if (alloc.failed_count > 0) {
      CHECK_FAILED(status, CN_NO_MEMORY);
      CHECK_OK(cni_ids_reserve(&ids, &hook));
    }
    // after a reserve that worked a take needs no memory
    test_alloc_fail_from(&alloc, 1);
    cni_ids_take(&ids, i, &slot, &generation);
    assert_int_equal(alloc.failed_count, 0);
    test_alloc_fail_never(&alloc);
    for (int32_t k = 0; k <= i; ++k) assert_int_equal(cni_ids_find(&ids, (uint32_t)k + 1, 1), k);
  }
  cni_ids_release(&ids, &hook);
  test_alloc_check_clean(&alloc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reuse_and_stale),
      cmocka_unit_test(nonsense),
      cmocka_unit_test(worn_out_slot_is_given_up),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
