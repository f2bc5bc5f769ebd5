// SPDX-License-Identifier: Apache-2.0
// Effort: what auto makes of a step within its budget. Columns of balls, whose forces have a closed form:
// the lowest contact carries all of them, which sweeps alone pass on one ball a sweep. Islands: each is a
// problem of its own with the residuals of the whole.
#include "check.h"
#include "core/vec.h"
#include "solver/islands/islands.h"
#include "worlds.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define RADIUS 0.1
#define STEP 0.005

// `columns` columns of `balls` balls of 1 kg beside each other, each ball on the one below.
static CnWorld *columns_of(int32_t columns, int32_t balls, CnEffort effort, int32_t threads) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = STEP;
  def.solver.effort = effort;
  def.worker_count = threads;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  for (int32_t k = 0; k < columns; k++)
    for (int32_t i = 0; i < balls; i++) {
      CnVec3 at = {1.0 * k, 0, RADIUS * (2 * i + 1)};
      world_ball(world, RADIUS, 1, at, CN_VEC3_ZERO, material);
    }
  return world;
}

// The largest normal impulse of the last step.
static double largest(CnWorld *world) {
  CnProblem *p;
  const CnAnswer *answer;
  double most = 0;
  CHECK_OK(cn_world_problem(world, &p, &answer));
  for (int32_t i = 0; i < p->block_count; i++) most = fmax(most, answer->g[p->blocks[i].row]);
  return most;
}

// Small islands are exact in the first step with any effort; one that is too large has its sweeps.
static void test_columns(void **state) {
  (void)state;
  static const struct {
    int32_t columns, balls;
    CnEffort effort;
    int exact;
  } cases[] = {{1, 4, CN_EFFORT_QUICK, 1},    {3, 40, CN_EFFORT_QUICK, 1},
               {1, 120, CN_EFFORT_QUICK, 0},  {3, 40, CN_EFFORT_NORMAL, 1},
               {2, 200, CN_EFFORT_NORMAL, 1}, {1, 300, CN_EFFORT_NORMAL, 0},
               {1, 300, CN_EFFORT_EXACT, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CnWorld *world = columns_of(cases[i].columns, cases[i].balls, cases[i].effort, 1);
    CnStepReport report = world_step(world);
    double weight = cases[i].balls * 9.81 * STEP;
    if (cases[i].exact) {
      CHECK(report.solve.converged);
      CHECK_REL(largest(world), weight, 2e-2);
    } else {
      CHECK(!report.solve.converged && strcmp(report.solve.method, "psor") == 0);
      CHECK(report.solve.iterations == (cases[i].effort == CN_EFFORT_QUICK ? 40 : 120));
    }
    cn_world_destroy(world);
  }
}

// The same bits with any number of threads, and from a snapshot.
static void test_bits(void **state) {
  (void)state;
  static unsigned char data[1 << 20];
  CnWorld *one = columns_of(4, 30, CN_EFFORT_NORMAL, 1);
  CnWorld *two = columns_of(4, 30, CN_EFFORT_NORMAL, 3);
  CnWorld *other = columns_of(1, 1, CN_EFFORT_QUICK, 1);
  for (int32_t i = 0; i < 10; i++) {
    size_t size;
    if (i == 5) CHECK_OK(cn_world_save(one, data, sizeof data, &size));
    if (i == 5) CHECK_OK(cn_world_restore(other, data, size));
    world_step(one);
    world_step(two);
    if (i >= 5) world_step(other);
  }
  CHECK(cn_world_hash(one) == cn_world_hash(two) && cn_world_hash(one) == cn_world_hash(other));
  CnWorldDef def;
  CHECK_OK(cn_world_settings(other, &def));
  CHECK(def.solver.effort == CN_EFFORT_NORMAL);
  cn_world_destroy(other);
  cn_world_destroy(two);
  cn_world_destroy(one);
}

// Parts have the blocks of the whole, each once, with the same residuals to the last bit.
static void test_islands(void **state) {
  (void)state;
  CnWorld *world = columns_of(5, 7, CN_EFFORT_QUICK, 1);
  CnAllocator allocator = cn_allocator_default();
  CnProblem *p;
  const CnAnswer *answer;
  CniIslands islands;
  world_step(world);
  CHECK_OK(cn_world_problem(world, &p, &answer));
  cni_islands_init(&islands, &allocator);
  CHECK_OK(cni_islands_find(&islands, p));
  cni_islands_list(&islands, p);
  CHECK(islands.count == 5);
  CniPart taken;
  cni_part_init(&taken, &allocator);
  CHECK_OK(cni_part_begin(&taken, p));
  int32_t rows = 0;
  for (int32_t i = 0; i < islands.count; i++) {
    int32_t *list = islands.list + islands.start[i];
    CHECK_OK(cni_part_take(&taken, p, list, islands.start[i + 1] - islands.start[i], 1));
    CnProblem *part = taken.problem;
    CnAnswer own = cn_answer_empty(&allocator);
    CHECK(!cni_problem_fault(part) && part->block_count == 7 && part->row_count == 21);
    CHECK_OK(cn_answer_fit(&own, part));
    for (int32_t k = 0; k < part->block_count; k++) {
      const CniBlock *block = &p->blocks[islands.list[islands.start[i] + k]];
      memcpy(own.g + part->blocks[k].row, answer->g + block->row, block->dim * sizeof *own.g);
      rows += block->dim;
    }
    CHECK_OK(cn_answer_complete(&own, part));
    for (int32_t k = 0; k < part->block_count; k++) {
      const CniBlock *block = &p->blocks[islands.list[islands.start[i] + k]];
      double whole = cni_block_residual(p, block, answer->g + block->row, answer->v);
      double alone = cni_block_residual(part, &part->blocks[k], own.g + part->blocks[k].row, own.v);
      CHECK_NEAR(alone, whole, 1e-15);
    }
    cn_answer_release(&own);
  }
  CHECK(rows == p->row_count);
  cni_part_release(&taken);
  cni_islands_release(&islands);
  cn_world_destroy(world);
}

// ---- islands in parallel ----

// An allocator that counts, and that is asked from one thread only.
static pthread_t owner;
static int32_t asked;
static void *count_allocate(void *context, size_t size, size_t alignment) {
  CnAllocator inner = cn_allocator_default();
  (void)context;
  CHECK(pthread_equal(owner, pthread_self()));
  asked++;
  return inner.allocate(inner.context, size, alignment);
}
static void count_release(void *context, void *memory, size_t size) {
  CnAllocator inner = cn_allocator_default();
  (void)context;
  CHECK(pthread_equal(owner, pthread_self()));
  inner.release(inner.context, memory, size);
}

// Stacks of three boxes a metre from each other, one of them pushed at its top; `arms`: hinged bars whose ends lie on the
// floor, at the other side.
static CnWorld *yard_of(int32_t stacks, int32_t arms, int32_t threads, double push,
                        CnBodyId *first) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = STEP;
  def.worker_count = threads;
  def.allocator = (CnAllocator){count_allocate, count_release, NULL};
  owner = pthread_self();
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  CnVec3 half = {0.1, 0.1, 0.1}, bar = {0.3, 0.05, 0.05};
  world_floor(world, material);
  for (int32_t k = 0; k < stacks; k++)
    for (int32_t i = 0; i < 3; i++) {
      CnVec3 v = {k == 0 && i == 2 ? push : 0, 0, 0};
      CnBodyId body =
          world_box(world, half, 1 + i, world_at(0.01 * i, k, 0.1 + 0.2 * i), v, material);
      if (k == 0 && i == 2) *first = body;
    }
  for (int32_t k = 0; k < arms; k++) {
    CnBodyId body = world_box(world, bar, 1, world_at(-3, k, 0.05), CN_VEC3_ZERO, material);
    world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, body, cn_vec3(-3.3, k, 0.05),
               cn_vec3(0, 1, 0), NULL);
  }
  return world;
}

// The same bits with any number of threads, memory from the calling thread alone and none once it is warm, and
// every island as if it were alone, but for what moves: alone it is solved more sharply.
static void test_apart(void **state) {
  (void)state;
  CnBodyId alone_body, body;
  CnWorld *alone = yard_of(1, 0, 1, 0.5, &alone_body);
  uint64_t hash = 0;
  for (int32_t threads = 1; threads <= 4; threads++) {
    CnWorld *world = yard_of(25, 8, threads, 0.5, &body);
    CnStepReport report;
    for (int32_t i = 0; i < 60; i++) {
      if (i == 40) asked = 0;
      report = world_step(world);
      CHECK(report.solve.converged);
      if (threads == 1) world_step(alone);
    }
    CHECK(asked == 0);
    if (threads == 1) hash = cn_world_hash(world);
    CHECK(cn_world_hash(world) == hash);
    CnPose a = world_pose(alone, alone_body), b = world_pose(world, body);
    CHECK(cn_norm(cn_sub(a.position, b.position)) < 1e-5);
    cn_world_destroy(world);
  }
  cn_world_destroy(alone);
}

// What rests is not solved again: neither all of it nor what lies beside something that moves.
static void test_rest(void **state) {
  (void)state;
  CnBodyId body;
  CnWorld *world = yard_of(25, 0, 2, 0, &body);
  CnStepReport report;
  for (int32_t i = 0; i < 200; i++) report = world_step(world);
  CHECK(strcmp(report.solve.method, "given") == 0 && report.solve.iterations == 0);
  CnTwist twist = {cn_vec3(0.2, 0, 0), CN_VEC3_ZERO};
  CHECK_OK(cn_body_set_twist(world, body, &twist));
  report = world_step(world);
  CHECK(report.solve.attempts <= 3 && report.solve.iterations > 0); // one island's
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_bits),
                                     cmocka_unit_test(test_islands), cmocka_unit_test(test_apart),
                                     cmocka_unit_test(test_rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
