// SPDX-License-Identifier: Apache-2.0
// Islands on hand-made cases and against a slow definition on random problems.
#include "alloc.h"
#include "check.h"
#include "scenes.h"

#include "core/vec.h"

#include <string.h>

// Groups with mass where the letter is 'm', prescribed where it is 'p'.
static CnProblem *groups(const char *letters) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
  CHECK_OK(cn_problem_create(&def, &p));
  CHECK_OK(cn_problem_add_set(p, &set, NULL));
  for (; *letters; letters++) {
    CnGroupDef group = cn_group_def_default();
    group.inv_mass = *letters == 'm' ? 1 : 0;
    CHECK_OK(cn_problem_add_group(p, &group, NULL));
  }
  return p;
}

static void link_pair(CnProblem *p, int32_t a, int32_t b) {
  CnPairDef def = cn_pair_def_default();
  double rhs = 0;
  def.group_a = a;
  def.group_b = b;
  CHECK_OK(cn_problem_add_pair(p, 0, 1, &def, &rhs, NULL));
}

static void link_rows(CnProblem *p, int32_t count, const int32_t *which) {
  CnRowEntry entries[8];
  double rhs = 0;
  for (int32_t i = 0; i < count; i++)
    entries[i] = (CnRowEntry){0, which[i], {{1, 0, 0}, {0, 0, 0}}};
  CHECK_OK(cn_problem_add_rows(p, 0, 1, entries, count, &rhs, NULL));
}

static void check_islands(CnProblem *p, const int32_t *expected, int32_t expected_count) {
  int32_t found[32], count = -1;
  CHECK(p->block_count <= 32);
  CHECK_OK(cni_problem_islands(p, found, &count));
  CHECK(count == expected_count);
  for (int32_t i = 0; i < p->block_count; i++) assert_int_equal(found[i], expected[i]);
}

static void hand_made(void **state) {
  (void)state;
  // two piles on one ground; the higher groups come first
  CnProblem *p = groups("pmmmm");
  link_pair(p, 3, 4);
  link_pair(p, 0, 1);
  link_pair(p, 0, 3);
  link_pair(p, 1, 2);
  check_islands(p, (int32_t[]){0, 1, 0, 1}, 2);
  // a late block joins them
  link_pair(p, 4, 2);
  check_islands(p, (int32_t[]){0, 0, 0, 0, 0}, 1);
  cn_problem_destroy(p);

  // blocks without mass belong to no island; rows over many groups join all of them
  p = groups("ppmmmmm");
  link_pair(p, 0, 1);
  link_pair(p, 1, 6);
  link_rows(p, 3, (int32_t[]){2, 0, 3});
  link_rows(p, 3, (int32_t[]){0, 5, 4});
  link_rows(p, 0, NULL);
  link_pair(p, 4, 1);
  check_islands(p, (int32_t[]){-1, 0, 1, 2, -1, 2}, 3);
  cn_problem_destroy(p);

  p = groups("");
  check_islands(p, NULL, 0);
  link_rows(p, 0, NULL);
  check_islands(p, (int32_t[]){-1}, 0);
  cn_problem_destroy(p);
}

// A long chain given backwards: deep trees must not matter.
static void chain(void **state) {
  (void)state;
  CnProblem *p = chain_of_rows(3000);
  int32_t *found = test_malloc(3000 * sizeof *found), count;
  CHECK_OK(cni_problem_islands(p, found, &count));
  CHECK(count == 1);
  for (int32_t i = 0; i < 3000; i++) CHECK(found[i] == 0);
  test_free(found);
  cn_problem_destroy(p);
}

static int touches(const CnProblem *p, int32_t block, int32_t group) {
  CnRowEntry entries[64];
  const CniBlock *b = &p->blocks[block];
  int32_t count = cni_storages[b->storage].expand(p, b, entries, 64);
  for (int32_t i = 0; i < count; i++)
    if (entries[i].group == group) return cni_group_kind(&p->groups[group]) != CNI_MASS_NONE;
  return 0;
}

// Spread the lowest block number until nothing changes, then number in order of appearance.
static int32_t slow_islands(const CnProblem *p, int32_t *island) {
  int32_t count = 0, changed = 1, seen[64];
  for (int32_t i = 0; i < p->block_count; i++) island[i] = i;
  while (changed) {
    changed = 0;
    for (int32_t i = 0; i < p->block_count; i++)
      for (int32_t j = 0; j < p->block_count; j++)
        for (int32_t g = 0; g < p->group_count; g++)
          if (island[j] < island[i] && touches(p, i, g) && touches(p, j, g)) {
            island[i] = island[j];
            changed = 1;
          }
  }
  for (int32_t i = 0; i < p->block_count; i++) seen[i] = island[i] == i ? count++ : seen[island[i]];
  for (int32_t i = 0; i < p->block_count; i++) island[i] = seen[i];
  return count;
}

// The explicit form of a problem has the same islands: W couples what shares a group.
static void random_problems(void **state) {
  (void)state;
  CniRng rng = {41};
  for (int32_t round = 0; round < 60; round++) {
    RandomProblem how = random_problem_default();
    how.group_count = 20;
    how.block_count = 2 + round % 12;
    CnProblem *p = random_problem(&rng, &how), *w = NULL;
    int32_t expected[64], count = slow_islands(p, expected);
    check_islands(p, expected, count);
    CHECK_OK(cn_problem_to_explicit(p, &w));
    check_islands(w, expected, count);
    cn_problem_destroy(p);
    cn_problem_destroy(w);
  }
}

static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  CnProblem *p = chain_of_rows(5);
  CnAllocator normal = p->allocator;
  int32_t found[5], count;
  test_alloc_init(&alloc);
  p->allocator = test_alloc_hook(&alloc);
  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cni_problem_islands(p, found, &count), CN_NO_MEMORY);
  test_alloc_check_clean(&alloc);
  test_alloc_fail_never(&alloc);
  CHECK_OK(cni_problem_islands(p, found, &count));
  CHECK(alloc.allocation_count == 1);
  CHECK_OK(cni_problem_islands(p, found, &count)); // the second time there is room
  CHECK(alloc.allocation_count == 1);
  CnAllocator hook = p->allocator;
  hook.release(hook.context, p->links, (size_t)p->link_capacity * sizeof *p->links);
  p->links = NULL;
  p->link_capacity = 0;
  test_alloc_check_clean(&alloc);
  p->allocator = normal;
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hand_made),
      cmocka_unit_test(chain),
      cmocka_unit_test(random_problems),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
