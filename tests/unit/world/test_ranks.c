// SPDX-License-Identifier: Apache-2.0
// Worlds on several ranks: what is refused, what a rank without memory does to the others, that copies and
// estimates, which are worlds of the same ranks, find the same everywhere, and that what is large in a step is spread.
#include "alloc.h"
#include "check.h"
#include "crew.h"

#include <cairn/batch.h>
#include <cairn/state.h>
#include <cairn/verdict.h>
#include <cairn/world.h>
#include <stdio.h>
#include <string.h>

#define SIDE 6

// A heap of spheres on a plane, which two ranks share.
static CnStatus fill(CnWorld *world) {
  CnBodyDef ground = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnBodyId body;
  CnShapeId shape;
  ground.kind = CN_BODY_FIXED;
  sphere.radius = 0.1;
  CnStatus status = cn_body_create(world, &ground, &body);
  if (status == CN_OK) status = cn_shape_create(world, body, &plane, &shape);
  for (int i = 0; i < SIDE * SIDE * SIDE * 2 && status == CN_OK; i++) {
    CnBodyDef ball = cn_body_def_default();
    ball.pose.position = (CnVec3){0.199 * (i % (2 * SIDE)), 0.199 * (i / (2 * SIDE) % SIDE),
                                  0.099 + 0.198 * (i / (2 * SIDE * SIDE))};
    status = cn_body_create(world, &ball, &body);
    if (status == CN_OK) status = cn_shape_create(world, body, &sphere, &shape);
  }
  return status;
}

static CnStatus create(CnRanks *ranks, const CnAllocator *allocator, CnWorld **world) {
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default("psor");
  def.solver.max_iterations = 10;
  def.solver.tolerance = 1e-9; // looks, but never enough
  def.ranks = ranks;
  if (allocator) def.allocator = *allocator;
  CnStatus status = cn_world_create(&def, world);
  return status == CN_OK ? fill(*world) : status;
}

// ---- refusals ----

// The worlds of a batch step side by side: each is of its rank alone, which need not wait for the others.
static void batch_alone(CnRanks *ranks, void *context) {
  (void)context;
  CnWorld *world = NULL;
  CnBatch *batch = NULL;
  CnWorldDef def = {.ranks = ranks};
  CREW_CHECK(create(ranks, NULL, &world) == CN_OK);
  CREW_CHECK(cn_batch_create(world, 2, 1, &batch) == CN_OK);
  CREW_CHECK(cn_world_settings(cn_batch_world(batch, 1), &def) == CN_OK && def.ranks == NULL);
  if (cn_ranks_rank(ranks) == 0) CREW_CHECK(cn_world_step(cn_batch_world(batch, 0), NULL) == CN_OK);
  cn_batch_destroy(batch);
  cn_world_destroy(world);
}

static void refused(CnRanks *ranks, void *context) {
  (void)context;
  CnWorld *world = NULL;
  CnWorldDef def = cn_world_def_default();
  def.ranks = ranks;
  def.solver = cn_solver_def_default("simplex");
  CREW_CHECK(cn_world_create(&def, &world) == CN_UNSUPPORTED);
  CREW_CHECK(strstr(cn_error_message(), "solver 'simplex' runs on one rank") != NULL);
  def = cn_world_def_default();
  def.ranks = ranks;
  def.integrator = "hem5";
  CREW_CHECK(cn_world_create(&def, &world) == CN_UNSUPPORTED);
  def = cn_world_def_default();
  def.integrator = "hem5";
  CREW_CHECK(cn_world_create(&def, &world) == CN_OK); // a world of this rank alone
  def.ranks = ranks;
  CREW_CHECK(cn_world_set_settings(world, &def) == CN_UNSUPPORTED);
  cn_world_destroy(world);
}

static void one_rank_may_do_all(CnRanks *ranks, void *context) {
  (void)context;
  CnWorld *world = NULL;
  CnWorldDef def = cn_world_def_default();
  def.ranks = ranks;
  def.integrator = "hem5";
  CREW_CHECK(cn_world_create(&def, &world) == CN_OK);
  cn_world_destroy(world);
}

static void what_is_not_shared(void **state) {
  (void)state;
  crew_run(3, refused, NULL);
  crew_run(1, one_rank_may_do_all, NULL);
  crew_run(2, batch_alone, NULL);
}

// ---- copies and estimates ----

typedef struct Found {
  uint64_t hash, copied;
  CnStepEstimate estimate;
} Found;

static void look(CnRanks *ranks, Found *found) {
  CnWorld *world = NULL, *copy = NULL;
  *found = (Found){0, 0, {0}};
  CREW_CHECK(create(ranks, NULL, &world) == CN_OK);
  for (int i = 0; i < 5; i++) CREW_CHECK(cn_world_step(world, NULL) == CN_OK);
  CREW_CHECK(cn_world_copy(world, &copy) == CN_OK);
  for (int i = 0; i < 3; i++) CREW_CHECK(cn_world_step(copy, NULL) == CN_OK);
  CREW_CHECK(cn_world_estimate(world, &found->estimate) == CN_OK);
  for (int i = 0; i < 3; i++) CREW_CHECK(cn_world_step(world, NULL) == CN_OK);
  found->hash = cn_world_hash(world);
  found->copied = cn_world_hash(copy);
  cn_world_destroy(copy);
  cn_world_destroy(world);
}

static void look_together(CnRanks *ranks, void *context) {
  const Found *alone = context;
  Found found;
  look(ranks, &found);
  CREW_CHECK(found.hash == alone->hash && found.copied == alone->hash);
  CREW_CHECK(found.estimate.position == alone->estimate.position);
  CREW_CHECK(found.estimate.velocity == alone->estimate.velocity);
}

static void copies(void **state) {
  (void)state;
  Found alone;
  look(NULL, &alone);
  CHECK(alone.hash == alone.copied && alone.estimate.velocity > 0);
  crew_run(2, look_together, &alone);
}

// ---- steps that are spread ----

#define ACROSS 16

// Balls of a simple cubic lattice, between walls if there are any: these squeeze them where they overlap a little.
static CnStatus crowd(CnRanks *ranks, int across, double spacing, int walls, CnWorld **world) {
  CnWorldDef def = cn_world_def_default();
  CnBodyDef ground = cn_body_def_default();
  CnBodyId body;
  CnShapeId shape;
  const double h = 0.7071067811865476, half = 0.09 * across;
  const CnPose planes[3] = {
      {{0, 0, 0}, {1, 0, 0, 0}}, {{-half, 0, 0}, {h, 0, h, 0}}, {{half, 0, 0}, {h, 0, -h, 0}}};
  def.solver = cn_solver_def_default("psor");
  def.solver.max_iterations = 20;
  def.ranks = ranks;
  ground.kind = CN_BODY_FIXED;
  CnStatus status = cn_world_create(&def, world);
  if (status == CN_OK) status = cn_body_create(*world, &ground, &body);
  for (int i = 0; i < (walls ? 3 : 1) && status == CN_OK; i++) {
    CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
    plane.pose = planes[i];
    status = cn_shape_create(*world, body, &plane, &shape);
  }
  for (int i = 0; i < across * across * across && status == CN_OK; i++) {
    CnBodyDef ball = cn_body_def_default();
    CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
    sphere.radius = 0.1;
    ball.pose.position =
        (CnVec3){spacing * (i % across) - spacing * (across - 1) / 2,
                 spacing * (i / across % across), 0.1 + spacing * (i / (across * across))};
    status = cn_body_create(*world, &ball, &body);
    if (status == CN_OK) status = cn_shape_create(*world, body, &sphere, &shape);
  }
  return status;
}

typedef struct Spread {
  int walls;
  uint64_t hash, contacts, events;
  size_t peak;
  CnFinding overlap;
  CnCertificate certificate;
} Spread;

static uint64_t add_bytes(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

// Contacts of others are with them until all have gathered; events are told to all.
static CnStatus ask_for_contacts(CnRanks *ranks, CnWorld *world, Spread *found) {
  CnContact contact;
  CnWorldInfo info;
  const CnContactEvent *events;
  int32_t count;
  cn_world_info(world, &info);
  cn_world_events(world, &events, &count);
  found->events = add_bytes((uint64_t)count, events, (size_t)count * sizeof *events);
  size_t size;
  if (ranks && !found->walls) {
    CREW_CHECK(cn_world_contact(world, 0, &contact) == CN_REMOTE);
    CREW_CHECK(strstr(cn_error_message(), "all call cn_world_gather first") != NULL);
    CREW_CHECK(cn_world_contacts(world, NULL, 0, &count) == CN_REMOTE);
    CREW_CHECK(cn_world_save(world, NULL, 0, &size) == CN_REMOTE);
  }
  CnStatus status = cn_world_gather(world);
  found->contacts = (uint64_t)info.contact_count;
  for (int32_t i = 0; i < info.contact_count && status == CN_OK; i++) {
    memset(&contact, 0, sizeof contact);
    status = cn_world_contact(world, i, &contact);
    const double numbers[] = {contact.point.x,   contact.point.z,   contact.normal.x, contact.gap,
                              contact.impulse.x, contact.impulse.z, contact.torque.x};
    found->contacts = add_bytes(found->contacts, &contact.shape_a, sizeof contact.shape_a);
    found->contacts = add_bytes(found->contacts, numbers, sizeof numbers);
  }
  return status;
}

static CnStatus squash(CnRanks *ranks, Spread *found, CnStatus *problem) {
  CnWorld *world = NULL;
  CnStepReport report;
  CnWorldInfo info;
  CnProblem *p;
  CnVerdict verdict;
  CnStatus status = crowd(ranks, ACROSS, 0.1999, found->walls, &world);
  for (int i = 0; i < 4 && status == CN_OK; i++) status = cn_world_step(world, &report);
  if (status != CN_OK) return status;
  *problem = cn_world_problem(world, &p, NULL);
  cn_world_info(world, &info);
  CREW_CHECK(cn_world_verdict(world, &verdict) == CN_OK);
  found->hash = cn_world_hash(world);
  found->peak = info.memory_peak_bytes;
  status = ask_for_contacts(ranks, world, found);
  found->certificate = report.solve.certificate;
  found->overlap = verdict.findings[CN_FINDING_OVERLAPS];
  cn_world_destroy(world);
  return status;
}

static int same_numbers(const CnCertificate *a, const CnCertificate *b) {
  return a->residual == b->residual && a->error_siconos == b->error_siconos &&
         a->error_scaled == b->error_scaled && a->momentum_defect == b->momentum_defect &&
         a->dissipation == b->dissipation && a->cone == b->cone &&
         a->complementarity == b->complementarity && a->gap_speed == b->gap_speed;
}

static void squash_together(CnRanks *ranks, void *context) {
  const Spread *alone = context;
  Spread found = {.walls = alone->walls};
  CnStatus problem = CN_OK;
  CREW_CHECK(squash(ranks, &found, &problem) == CN_OK);
  CREW_CHECK(found.hash == alone->hash);
  CREW_CHECK(found.contacts == alone->contacts && found.events == alone->events);
  CREW_CHECK(same_numbers(&found.certificate, &alone->certificate));
  CREW_CHECK(found.overlap.value == alone->overlap.value);
  CREW_CHECK(found.overlap.body.slot == alone->overlap.body.slot);
  // what is squeezed between walls is solved by all; otherwise none has the whole problem, and all need less memory
  CREW_CHECK(problem == (alone->walls ? CN_OK : CN_UNSUPPORTED));
  CREW_CHECK(alone->walls || found.peak < alone->peak - alone->peak / 6);
}

static void spread_steps(void **state) {
  (void)state;
  for (int walls = 0; walls < 2; walls++) {
    Spread alone = {.walls = walls};
    CnStatus problem = CN_STOPPED;
    CHECK_OK(squash(NULL, &alone, &problem));
    CHECK_OK(problem);
    crew_run(2, squash_together, &alone);
  }
}

// ---- a state that is not finite ----

typedef struct Lost {
  uint64_t hash;
  char message[256];
} Lost;

// A torque that no number holds the motion of: the body is named, and the step leaves no trace.
static void lose(CnRanks *ranks, Lost *lost) {
  CnWorld *world = NULL;
  CREW_CHECK(crowd(ranks, ACROSS, 0.1999, 0, &world) == CN_OK);
  CREW_CHECK(cn_world_step(world, NULL) == CN_OK);
  CnBodyId ball = cn_world_next_body(world, (CnBodyId){0, 0});
  for (int i = 0; i < ACROSS * ACROSS * ACROSS / 3; i++) ball = cn_world_next_body(world, ball);
  uint64_t hash = cn_world_hash(world);
  CREW_CHECK(cn_body_apply_torque(world, ball, (CnVec3){1e308, 0, 0}) == CN_OK);
  CREW_CHECK(cn_world_step(world, NULL) == CN_NOT_FINITE);
  snprintf(lost->message, sizeof lost->message, "%s", cn_error_message());
  lost->hash = cn_world_hash(world);
  CREW_CHECK(lost->hash == hash);
  cn_world_destroy(world);
}

static void lose_together(CnRanks *ranks, void *context) {
  const Lost *alone = context;
  Lost lost;
  lose(ranks, &lost);
  CREW_CHECK(lost.hash == alone->hash && strcmp(lost.message, alone->message) == 0);
}

static void same_sentence(void **state) {
  (void)state;
  Lost alone;
  lose(NULL, &alone);
  CHECK(strstr(alone.message, "the state of body") != NULL);
  crew_run(2, lose_together, &alone);
}

// ---- memory ----

typedef struct Weight {
  int across;
  double alone; // bytes that steps take of one process, beside the world as it was created
} Weight;

// Balls that are near each other, so that hardly any contact begins: that is told to all.
static double weigh(CnRanks *ranks, int across) {
  CnWorld *world = NULL;
  CnWorldInfo before, after;
  CREW_CHECK(crowd(ranks, across, 0.2002, 0, &world) == CN_OK);
  cn_world_info(world, &before);
  for (int i = 0; i < 3; i++) CREW_CHECK(cn_world_step(world, NULL) == CN_OK);
  cn_world_info(world, &after);
  cn_world_destroy(world);
  return (double)after.memory_peak_bytes - (double)before.memory_bytes;
}

// A rank's share, and what it knows of its neighbours; nothing that is as long as all bodies but the bodies: 32 bytes
// of each of them would be too much.
static void weigh_part(CnRanks *ranks, void *context) {
  const Weight *weight = context;
  CREW_CHECK(weigh(ranks, weight->across) < 1.35 * weight->alone / cn_ranks_count(ranks));
}

static void no_array_of_all(void **state) {
  (void)state;
  for (int across = 20; across <= 32; across += 12) {
    Weight weight = {across, weigh(NULL, across)};
    crew_run(2, weigh_part, &weight);
    if (across > 30) crew_run(4, weigh_part, &weight);
  }
}

typedef struct Shortage {
  int64_t nth;    // allocation of rank 1 that fails
  int32_t remote; // did rank 0 hear of it?
} Shortage;

// Rank 1 has none from some allocation of a step on: it tells that, and the other one tells the same.
static void runs_out(CnRanks *ranks, void *context) {
  Shortage *shortage = context;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CnWorld *world = NULL;
  int own = cn_ranks_rank(ranks) == 1;
  CREW_CHECK(create(ranks, &hook, &world) == CN_OK);
  if (own) test_alloc_fail_from(&alloc, shortage->nth);
  CnStatus status = CN_OK;
  for (int i = 0; i < 4 && status == CN_OK; i++) status = cn_world_step(world, NULL);
  if (alloc.failed_count > 0) {
    CREW_CHECK(status == CN_NO_MEMORY);
  } else if (own) {
    CREW_CHECK(status == CN_OK); // so many allocations are never made
  } else {
    // the other one may have been through when it ended
    CREW_CHECK(status == CN_OK || status == CN_REMOTE);
    shortage->remote += status == CN_REMOTE;
    if (status == CN_REMOTE) CREW_CHECK(strstr(cn_error_message(), "rank 1: the allocator has no"));
  }
  cn_world_destroy(world);
}

static void memory_of_one_rank(void **state) {
  (void)state;
  Shortage shortage = {1, 0};
  for (; shortage.nth < 400; shortage.nth += 1 + shortage.nth / 4) crew_run(2, runs_out, &shortage);
  CHECK(shortage.remote > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_not_shared), cmocka_unit_test(copies),
      cmocka_unit_test(spread_steps),       cmocka_unit_test(same_sentence),
      cmocka_unit_test(no_array_of_all),    cmocka_unit_test(memory_of_one_rank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
