// SPDX-License-Identifier: Apache-2.0
// Who sweeps what: every block by exactly one rank or by everybody, groups of two ranks in the lists of both, and
// a share of the work for each.
#include "check.h"
#include "crew.h"
#include "ranks/ranks.h"
#include "problem/problem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 30 // groups along the side of a cube of spheres: eight slabs, four pairs
#define COUNT (SIDE * SIDE * SIDE)
#define BLOCKS (3 * SIDE * SIDE * (SIDE - 1) + 2)

// A cube of spheres in the order of a world: along x, in each layer along y, up z; and two contacts from one end
// to the other, which fit in no column.
static CnProblem *cube(void) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CniProblemRoom room = {
      .groups = COUNT, .sets = 1, .blocks = BLOCKS, .spheres = BLOCKS, .rows = 3 * BLOCKS};
  CHECK_OK(cni_problem_reserve(p, &room));
  for (int32_t i = 0; i < COUNT; i++) p->groups[i] = (CniGroup){.inv_mass = 1, .inv_inertia = 1};
  int32_t n = 0;
  for (int32_t i = 0; i < COUNT; i++) {
    const int32_t at[3] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
    const int32_t step[3] = {SIDE * SIDE, SIDE, 1};
    for (int axis = 0; axis < 3; axis++)
      if (at[axis] < SIDE - 1)
        p->spheres[n++] = (CniSphereBlock){.group_a = i, .group_b = i + step[axis]};
  }
  for (int32_t i = 0; i < 2; i++)
    p->spheres[n++] = (CniSphereBlock){.group_a = 5 + i, .group_b = COUNT - 9 + i};
  assert_int_equal(n, BLOCKS);
  for (int32_t i = 0; i < n; i++)
    p->blocks[i] = cni_block_make(CNI_SPHERE, i, 3 * i, 0, CN_BLOCK_FRICTION, 3);
  p->sets[0] = (CnSet){.kind = CN_BLOCK_FRICTION};
  p->group_count = COUNT;
  p->set_count = 1;
  p->block_count = p->sphere_count = n;
  p->row_count = 3 * n;
  return p;
}

// What ranks have found, for all to see.
typedef struct Found {
  const CnProblem *problem;
  int32_t active[8], batches[8], border[8], ghosts[8], first[8], last[8];
  int32_t border_list[8][COUNT], ghost_list[8][COUNT];
  int32_t swept[BLOCKS]; // how often a block is in a batch
  uint8_t owner[8][BLOCKS];
  pthread_mutex_t lock;
} Found;

static void make(CnRanks *ranks, void *context) {
  Found *found = context;
  const CnProblem *p = found->problem;
  int32_t rank = cn_ranks_rank(ranks);
  const CniBatchRule rule = {CNI_BATCH_LANES, 1};
  uint8_t *kinds = calloc((size_t)p->block_count, 1);
  CnAllocator a = cn_allocator_default();
  CniSchedule s;
  cni_schedule_init(&s, &a);
  s.ranks = ranks;
  CREW_CHECK(kinds && cni_schedule_make(&s, p, kinds, &rule, NULL) == CN_OK);
  CREW_CHECK(cni_schedule_fault(&s, p) == NULL);
  const CniSpread *spread = &s.spread;
  found->active[rank] = spread->active;
  found->batches[rank] = s.batch_count;
  found->first[rank] = spread->first;
  found->last[rank] = spread->last;
  found->border[rank] = spread->border_count;
  found->ghosts[rank] = spread->ghost_count;
  for (int32_t i = 0; i < spread->border_count; i++)
    found->border_list[rank][i] = spread->border[i];
  for (int32_t i = 0; i < spread->ghost_count; i++) found->ghost_list[rank][i] = spread->ghosts[i];
  if (spread->active > 0) memcpy(found->owner[rank], spread->owner, (size_t)p->block_count);
  CREW_CHECK(spread->active == 0 || spread->common_count == 4);
  pthread_mutex_lock(&found->lock);
  for (int32_t i = 0; i < s.batch_count; i++)
    for (int32_t lane = 0; lane < s.batches[i].lane_count; lane++)
      found->swept[s.batches[i].block[lane]]++;
  pthread_mutex_unlock(&found->lock);
  cni_schedule_release(&s);
  free(kinds);
}

static void check(Found *found, int32_t count) {
  int32_t active = count < 8 ? count : 8, whole = found->batches[0];
  memset(found->swept, 0, sizeof found->swept);
  crew_run(count, make, found);
  for (int32_t r = 0; r < count; r++) {
    assert_int_equal(found->active[r], active);
    // slabs, one rank after the other; ranks without any have the rest alone
    assert_int_equal(found->first[r], r < active ? 8 * r / active : 8);
    assert_int_equal(found->last[r], r < active ? 8 * (r + 1) / active : 8);
    CHECK(r < active ? found->batches[r] > whole / 16 && found->batches[r] < whole
                     : found->batches[r] <= 2);
    // a plane of the cube
    assert_int_equal(found->ghosts[r], r + 1 < active ? SIDE * SIDE : 0);
    if (r == 0) assert_int_equal(found->border[0], 0);
    if (r + 1 < active) {
      assert_int_equal(found->border[r + 1], found->ghosts[r]);
      assert_memory_equal(found->border_list[r + 1], found->ghost_list[r],
                          (size_t)found->ghosts[r] * sizeof(int32_t));
    }
    assert_memory_equal(found->owner[r], found->owner[0], BLOCKS);
  }
  for (int32_t i = 0; i < BLOCKS; i++)
    assert_int_equal(found->swept[i], found->owner[0][i] == CNI_EVERYBODY ? count : 1);
}

static void blocks_have_one_owner(void **state) {
  (void)state;
  Found *found = calloc(1, sizeof *found);
  CHECK(found != NULL);
  pthread_mutex_init(&found->lock, NULL);
  CnProblem *p = cube();
  found->problem = p;
  crew_run(1, make, found);
  assert_int_equal(found->active[0], 0);
  for (int32_t i = 0; i < BLOCKS; i++) assert_int_equal(found->swept[i], 1);
  int32_t whole = found->batches[0];
  for (int32_t count = 2; count <= 6; count++) {
    found->batches[0] = whole;
    check(found, count);
  }
  cn_problem_destroy(p);
  pthread_mutex_destroy(&found->lock);
  free(found);
}

// Slabs are dealt whole, even ones are swept before odd ones: of 20 on 4 ranks 3 and 3 are waited for.
static void plans(void **state) {
  (void)state;
  CnRankPlan plan;
  CHECK_OK(cn_ranks_plan(1000000, 4, &plan));
  CHECK(plan.slabs == 20 && plan.at_work == 4);
  CHECK_NEAR(plan.efficiency, 10.0 / 12, 1e-15);
  CHECK_OK(cn_ranks_plan(1000000, 64, &plan));
  CHECK(plan.at_work == 20);
  CHECK_NEAR(plan.efficiency, 10.0 / 64, 1e-15);
  CHECK_OK(cn_ranks_plan(100, 3, &plan));
  CHECK(plan.slabs == 1 && plan.at_work == 0);
  CHECK_STATUS(cn_ranks_plan(0, 1, &plan), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_ranks_plan(1, 1, NULL), CN_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_have_one_owner),
                                     cmocka_unit_test(plans)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
