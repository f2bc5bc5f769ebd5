// SPDX-License-Identifier: Apache-2.0
// The same bits for any number of threads, from run to run, and after save and restore.
#include "check.h"
#include "piles.h"
#include <stdlib.h>

static uint64_t run(CnWorld *world, int steps) {
  for (int i = 0; i < steps; ++i) CHECK_OK(cn_world_step(world, NULL));
  return cn_world_hash(world);
}

static void threads_do_not_matter(void **state) {
  (void)state;
  for (int i = 0; i < pile_count; ++i) {
    uint64_t hash[4];
    for (int32_t workers = 1; workers <= 4; ++workers) {
      CnWorld *world = piles[i].build(workers);
      CHECK(world != NULL);
      hash[workers - 1] = run(world, piles[i].steps < 100 ? piles[i].steps : 100);
      cn_world_destroy(world);
    }
    for (int k = 1; k < 4; ++k) assert_int_equal(hash[k], hash[0]);
  }
}

// A snapshot now and then, restored into a fresh world, must go on exactly as the original.
static void restored_worlds_go_on_alike(void **state) {
  (void)state;
  for (int i = 0; i < pile_count; ++i) {
    CnWorld *world = piles[i].build(1);
    CnWorld *copy = piles[i].build(2);
    CHECK(world != NULL && copy != NULL);
    int stretch = piles[i].steps < 10 ? piles[i].steps / 2 : 10;
    for (int step = 0; step < piles[i].steps; step += stretch) {
      size_t size = 0;
      CHECK_OK(cn_world_save(world, NULL, 0, &size));
      void *data = malloc(size);
      CHECK(data != NULL);
      CHECK_OK(cn_world_save(world, data, size, &size));
      CHECK_OK(cn_world_restore(copy, data, size));
      free(data);
      assert_int_equal(run(copy, stretch), run(world, stretch));
    }
    cn_world_destroy(copy);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(restored_worlds_go_on_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
