// SPDX-License-Identifier: Apache-2.0
// A silo that flows: grains run out of the hole in its floor and are put on top again, so that neighbours change all
// the time. Four ranks end with the bits of one process, and none holds more memory at the end than half-way (not asked
// of few steps, in which the grains come to lie on each other). CAIRN_SILO_STEPS: how many steps.
#include "alloc.h"
#include "check.h"
#include "crew.h"

#include <cairn/world.h>
#include <stdlib.h>

#define GRAINS 1000
#define ACROSS 10
#define HALF 0.45 // m, of the silo's side
#define HOLE 0.16 // m, of the hole's
#define OUT (-0.4)
#define SETTLED 1000 // steps
#define LEAST_OUT 3  // grains that run out in a hundred steps

typedef struct Silo {
  CnWorld *world;
  CnBodyId grains[GRAINS];
  int out; // that have run out so far
} Silo;

static CnStatus add_shape(CnWorld *world, CnBodyId body, CnShapeKind kind, CnPose pose,
                          CnVec3 half) {
  CnShapeDef def = cn_shape_def_default(kind);
  CnShapeId shape;
  def.pose = pose;
  def.half_size = half;
  return cn_shape_create(world, body, &def, &shape);
}

// Four planes around, and four plates that leave the hole.
static CnStatus add_silo(CnWorld *world) {
  const double h = 0.7071067811865476, plate = (HALF - HOLE) / 2, at = HOLE + plate;
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.kind = CN_BODY_FIXED;
  CnStatus status = cn_body_create(world, &def, &body);
  const CnPose walls[4] = {{{-HALF, 0, 0}, {h, 0, h, 0}},
                           {{HALF, 0, 0}, {h, 0, -h, 0}},
                           {{0, -HALF, 0}, {h, -h, 0, 0}},
                           {{0, HALF, 0}, {h, h, 0, 0}}};
  for (int i = 0; i < 4 && status == CN_OK; i++) {
    double side = i % 2 ? 1 : -1;
    CnPose plates = {i < 2 ? (CnVec3){side * at, 0, -0.05} : (CnVec3){0, side * at, -0.05},
                     {1, 0, 0, 0}};
    CnVec3 half = i < 2 ? (CnVec3){plate, HALF, 0.05} : (CnVec3){HOLE, plate, 0.05};
    status = add_shape(world, body, CN_SHAPE_PLANE, walls[i], (CnVec3){0, 0, 0});
    if (status == CN_OK) status = add_shape(world, body, CN_SHAPE_BOX, plates, half);
  }
  return status;
}

static CnVec3 place(int i, double bottom) {
  return (CnVec3){0.085 * (i % ACROSS) - 0.3825 + 0.0003 * (i % 7),
                  0.085 * (i / ACROSS % ACROSS) - 0.3825 + 0.0003 * (i % 11),
                  bottom + 0.085 * (i / (ACROSS * ACROSS))};
}

static CnStatus create(Silo *silo, CnRanks *ranks, const CnAllocator *allocator) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.005;
  def.solver = cn_solver_def_default("psor");
  def.solver.max_iterations = 20;
  def.ranks = ranks;
  def.allocator = *allocator;
  silo->out = 0;
  CnStatus status = cn_world_create(&def, &silo->world);
  if (status == CN_OK) status = add_silo(silo->world);
  for (int i = 0; i < GRAINS && status == CN_OK; i++) {
    CnBodyDef body = cn_body_def_default();
    CnShapeDef grain = cn_shape_def_default(CN_SHAPE_SPHERE);
    CnShapeId shape;
    body.pose.position = place(i, 0.05);
    grain.radius = 0.036 + 0.006 * (i % 5) / 4;
    status = cn_body_create(silo->world, &body, &silo->grains[i]);
    if (status == CN_OK) status = cn_shape_create(silo->world, silo->grains[i], &grain, &shape);
  }
  return status;
}

// What has run out falls on the others again, from a place that is free.
static CnStatus put_back(Silo *silo) {
  const CnTwist still = {{0, 0, -1}, {0, 0, 0}};
  CnStatus status = CN_OK;
  for (int i = 0; i < GRAINS && status == CN_OK; i++) {
    CnPose pose;
    status = cn_body_pose(silo->world, silo->grains[i], &pose);
    if (status != CN_OK || pose.position.z > OUT) continue;
    pose.position = place(silo->out++ % (ACROSS * ACROSS), 1.6);
    status = cn_body_set_pose(silo->world, silo->grains[i], &pose);
    if (status == CN_OK) status = cn_body_set_twist(silo->world, silo->grains[i], &still);
  }
  return status;
}

typedef struct Flow {
  int steps, out;
  uint64_t hash;
} Flow;

// half: the most that was held in the first half of the steps.
static CnStatus run(Silo *silo, const TestAlloc *alloc, int steps, size_t *half) {
  CnStatus status = CN_OK;
  for (int i = 0; i < steps && status == CN_OK; i++) {
    if (i == steps / 2) *half = alloc->peak_bytes;
    status = put_back(silo);
    if (status == CN_OK) status = cn_world_step(silo->world, NULL);
  }
  return status;
}

static void together(CnRanks *ranks, void *context) {
  const Flow *flow = context;
  Silo *silo = calloc(1, sizeof *silo);
  TestAlloc alloc;
  size_t half = 0;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CREW_CHECK(silo != NULL && create(silo, ranks, &hook) == CN_OK);
  CREW_CHECK(run(silo, &alloc, flow->steps, &half) == CN_OK);
  CREW_CHECK(cn_world_hash(silo->world) == flow->hash);
  CREW_CHECK(silo->out == flow->out);
  // arrays follow the most contacts there ever were, in steps of some per cent
  CREW_CHECK(flow->steps < SETTLED || alloc.peak_bytes <= half + half / 10);
  cn_world_destroy(silo->world);
  free(silo);
}

static void a_flow_by_four(void **state) {
  (void)state;
  const char *text = getenv("CAIRN_SILO_STEPS");
  Flow flow = {.steps = text ? atoi(text) : 160};
  Silo *silo = calloc(1, sizeof *silo);
  TestAlloc alloc;
  size_t half = 0;
  CHECK(silo != NULL);
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CHECK_OK(create(silo, NULL, &hook));
  CHECK_OK(run(silo, &alloc, flow.steps, &half));
  CHECK(silo->out >= flow.steps / 100 * LEAST_OUT);
  flow.hash = cn_world_hash(silo->world);
  flow.out = silo->out;
  cn_world_destroy(silo->world);
  free(silo);
  crew_run(4, together, &flow);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_flow_by_four)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
