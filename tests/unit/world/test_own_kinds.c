// SPDX-License-Identifier: Apache-2.0
// Kinds of the program in the library's tables: a solver, a joint and a force, seen by worlds, snapshots and
// scenes. A joint that is a copy of the library's own moves with the same motion; what is wrong is refused.
#include "check.h"
#include "toys.h"

#include <cairn/cairn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/vec.h"
#include "world/world.h"

// ---- a ball joint, written again ----

static void socket(void *context, const CnJointSight *sight, CnJointRows *rows) {
  CnVec3 d = cn_sub(sight->frame_b.position, sight->frame_a.position);
  const double value[3] = {d.x, d.y, d.z};
  (void)context;
  for (int i = 0; i < 3; i++)
    rows->locked[i] = (CnJointRow){.linear = {i == 0, i == 1, i == 2}, .value = value[i]};
}

// The same with one sign wrong.
static void broken(void *context, const CnJointSight *sight, CnJointRows *rows) {
  socket(context, sight, rows);
  rows->locked[2].linear.z = -1;
}

static CnOwnJoint socket_kind(void) {
  return (CnOwnJoint){.size = sizeof(CnOwnJoint),
                      .name = "socket",
                      .summary = "a ball joint of the program",
                      .locked_count = 3,
                      .reads = {"stiffness", "damping"},
                      .place = socket};
}

static CnStatus push(void *context, const CnForceDef *def, const CnForceSight *sight,
                     CnForceEffect *effect) {
  (void)context;
  (void)sight;
  effect->force = cn_vec3(def->strength, 0, 0);
  return CN_OK;
}

static CnStatus none(void *context, void *state, const CnSolverDef *def, const CnProblem *problem,
                     CnAnswer *answer, CnSolveReport *report) {
  int *calls = context;
  (void)state, (void)def, (void)problem;
  for (int32_t i = 0; i < answer->row_count; i++) answer->g[i] = 0;
  report->iterations = ++*calls;
  return CN_OK;
}

static CnJointKind joint_kind;
static CnForceKind force_kind;
static int calls;

static int setup(void **state) {
  (void)state;
  CnOwnJoint joint = socket_kind();
  CnOwnForce force = {
      .size = sizeof force, .single = 1, .name = "push", .reads = {"strength"}, .evaluate = push};
  CnOwnSolver solver = {.size = sizeof solver,
                        .accepts = CN_ACCEPT_STEP | CN_ACCEPT_ALL_KINDS | CN_ACCEPT_COULOMB,
                        .name = "nothing",
                        .max_iterations = 1,
                        .solve = none,
                        .context = &calls};
  CHECK_OK(cn_joint_register(&joint, &joint_kind));
  CHECK_OK(cn_force_register(&force, &force_kind));
  CHECK_OK(cn_solver_register(&solver));
  return 0;
}

static CnWorld *pendulum(CnJointKind kind, const char *integrator) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  CnWorld *w = toy_world_from(&def);
  CnBodyId b = toy_box(w, cn_vec3(0.05, 0.06, 0.04), cn_vec3(1, 0, 0), CN_QUAT_ONE);
  CnJointDef d = cn_joint_def_default(kind);
  CnJointId joint;
  d.body_b = b;
  d.name = "hook";
  CHECK_OK(cn_joint_def_at(w, CN_VEC3_ZERO, &d));
  CHECK_OK(cn_joint_create(w, &d, &joint));
  return w;
}

static CnVec3 place_of(const CnWorld *w) {
  CnPose pose;
  CHECK_OK(cn_body_pose(w, cn_world_next_body(w, (CnBodyId){0, 0}), &pose));
  return pose.position;
}

// As the library's ball joint, with every integrator: impulse, equations of motion, events.
static void test_joint(void **state) {
  static const char *const integrators[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  (void)state;
  assert_string_equal(cn_joint_kind_name(joint_kind), "socket");
  CHECK(cn_joint_kind_find("socket") == joint_kind);
  CHECK(cn_joint_kind_find("ball") == CN_JOINT_BALL);
  CHECK(cn_joint_kind_find("nothing") == CN_JOINT_KIND_NONE);
  for (int i = 0; i < 4; i++) {
    CnWorld *own = pendulum(joint_kind, integrators[i]);
    CnWorld *library = pendulum(CN_JOINT_BALL, integrators[i]);
    toy_steps(own, 300);
    toy_steps(library, 300);
    CnVec3 a = place_of(own), b = place_of(library);
    CHECK_NEAR(cn_norm(cn_sub(a, b)), 0, 1e-8);
    CHECK(b.z < -0.2);
    cn_world_destroy(own);
    cn_world_destroy(library);
  }
}

static void test_force_and_solver(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default("nothing");
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 0.1), CN_QUAT_ONE); // 8 kg
  CnForceDef force = cn_force_def_default(force_kind);
  CnForceId id;
  force.body_b = b;
  force.strength = 4;
  CHECK_OK(cn_force_create(w, &force, &id));
  CnStepReport report;
  calls = 0;
  for (int i = 0; i < 100; i++) CHECK_OK(cn_world_step(w, &report));
  // the solver gives no impulses: the box falls through the floor, and the certificate says so
  CHECK(calls == 100 && report.solve.iterations == 100 && !report.solve.converged);
  assert_string_equal(report.solve.solver, "nothing");
  CnTwist twist;
  CHECK_OK(cn_body_twist(w, b, &twist));
  CHECK_NEAR(twist.velocity.x, 0.5 * 0.1, 1e-9);
  CHECK_NEAR(twist.velocity.z, -9.81 * 0.1, 1e-9);
  force.stiffness = 3; // a number that the kind does not read
  CHECK_STATUS(cn_force_set(w, id, &force), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "push has no stiffness");
  int32_t index = 0;
  while (strcmp(cn_solver_name(index), "nothing") != 0) index++;
  CHECK(cn_solver_accepts(index) == (CN_ACCEPT_STEP | CN_ACCEPT_ALL_KINDS | CN_ACCEPT_COULOMB));
  CHECK(cn_solver_accepts(index + 1) == 0 && !cn_solver_name(index + 1));
  cn_world_destroy(w);
}

// A snapshot names its kinds: where they are there it goes on with the same bits; where one is not, a
// sentence names it.
static void test_snapshot(void **state) {
  (void)state;
  CnWorld *w = pendulum(joint_kind, "impulse"), *other = toy_world(0.1);
  CnForceDef force = cn_force_def_default(force_kind);
  CnForceId id;
  force.body_b = cn_world_next_body(w, (CnBodyId){0, 0});
  force.strength = 2;
  CHECK_OK(cn_force_create(w, &force, &id));
  toy_steps(w, 50);
  size_t size = 0;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  char *data = malloc(size);
  assert_non_null(data);
  CHECK_OK(cn_world_save(w, data, size, &size));
  CHECK_OK(cn_world_restore(other, data, size));
  toy_steps(w, 50);
  toy_steps(other, 50);
  CHECK(cn_world_hash(w) == cn_world_hash(other));
  CnWorld *copy;
  CHECK_OK(cn_world_copy(w, &copy));
  CHECK(cn_world_hash(copy) == cn_world_hash(w));
  // as a program without the kind would see it: another name in the list of words
  for (char *at = data; at + 6 < data + size; at++)
    if (memcmp(at, "socket", 6) == 0) memcpy(at, "sacket", 6);
  cni_snapshot_seal(data, size);
  CHECK_STATUS(cn_world_restore(other, data, size), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "sacket");
  free(data);
  cn_world_destroy(copy);
  cn_world_destroy(other);
  cn_world_destroy(w);
}

static void test_refused(void **state) {
  (void)state;
  CnJointKind kind;
  CnOwnJoint joint = socket_kind();
  CHECK_STATUS(cn_joint_register(&joint, &kind), CN_INVALID_ARGUMENT); // the name is taken
  CHECK_TEXT(cn_error_message(), "socket");
  joint.name = "ball";
  CHECK_STATUS(cn_joint_register(&joint, &kind), CN_INVALID_ARGUMENT);
  joint.name = "Not A Name";
  CHECK_STATUS(cn_joint_register(&joint, &kind), CN_INVALID_ARGUMENT);
  joint.name = "other";
  joint.size--;
  CHECK_STATUS(cn_joint_register(&joint, &kind), CN_INVALID_ARGUMENT);
  joint.size++;
  joint.reads[0] = "curve_a";
  CHECK_STATUS(cn_joint_register(&joint, &kind), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "curve_a");
  joint.reads[0] = NULL;
  joint.locked_count = 7;
  CHECK_STATUS(cn_joint_register(&joint, &kind), CN_INVALID_ARGUMENT);
  joint.locked_count = 0;
  joint.coordinate_count = 1;
  joint.coordinates[0] = (CnOwnCoordinate){"x", "feet"};
  CHECK_STATUS(cn_joint_register(&joint, &kind), CN_INVALID_ARGUMENT);
  CHECK(kind == CN_JOINT_KIND_NONE);
  CHECK_STATUS(cn_joint_register(NULL, &kind), CN_INVALID_ARGUMENT);
  CnOwnForce force = {.size = sizeof force, .name = "spring", .evaluate = push};
  CnForceKind number;
  CHECK_STATUS(cn_force_register(&force, &number), CN_INVALID_ARGUMENT);
  force.name = "fine";
  force.reads[0] = "mass";
  CHECK_STATUS(cn_force_register(&force, &number), CN_INVALID_ARGUMENT);
  force.evaluate = NULL;
  CHECK_STATUS(cn_force_register(&force, &number), CN_INVALID_ARGUMENT);
  CHECK(cn_force_kind_find("fine") == CN_FORCE_KIND_NONE);
  CnOwnSolver solver = {.size = sizeof solver, .name = "psor", .solve = none};
  CHECK_STATUS(cn_solver_register(&solver), CN_INVALID_ARGUMENT);
  solver.name = "takes-nothing";
  CHECK_STATUS(cn_solver_register(&solver), CN_INVALID_ARGUMENT);
  // a kind whose rows are no derivatives is refused where a joint is made
  joint = socket_kind();
  joint.name = "broken";
  joint.place = broken;
  CHECK_OK(cn_joint_register(&joint, &kind));
  CnWorld *w = toy_world(0.1);
  CnJointDef d = cn_joint_def_default(kind);
  CnJointId id;
  d.body_b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), CN_VEC3_ZERO, CN_QUAT_ONE);
  CHECK_STATUS(cn_joint_create(w, &d, &id), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "row 2 of broken is not the derivative");
  cn_world_destroy(w);
}

// ---- functions that misbehave ----

static CnWorld *victim;
static CnBodyId victim_body;
static int inside_calls, inside_changed;

// The world that called is busy, in a step and where a joint is made: nothing of it can be changed.
static void try_changes(void) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId made;
  const CnTwist twist = {{1, 2, 3}, {0, 0, 0}};
  if (!victim) return;
  inside_calls++;
  inside_changed += cn_body_create(victim, &body, &made) != CN_BUSY;
  inside_changed += cn_world_step(victim, NULL) != CN_BUSY;
  inside_changed += cn_body_set_twist(victim, victim_body, &twist) != CN_BUSY;
  inside_changed += cn_body_destroy(victim, victim_body) != CN_BUSY;
}

static double spoil_value, spoil_linear, spoil_angular, spoil_force, spoil_damping;

static void meddler(void *context, const CnJointSight *sight, CnJointRows *rows) {
  socket(context, sight, rows);
  rows->locked[0].value += spoil_value;
  rows->locked[1].linear.y += spoil_linear;
  rows->locked[2].angular.x += spoil_angular;
  try_changes();
}

static CnStatus meddling_push(void *context, const CnForceDef *def, const CnForceSight *sight,
                              CnForceEffect *effect) {
  (void)context, (void)def, (void)sight;
  effect->force.x = spoil_force;
  effect->stiff = 1;
  effect->damping[0][0] = spoil_damping;
  try_changes();
  return CN_OK;
}

static CnStatus user_push(void *context, const CnForceSight *sight, CnForceEffect *effect) {
  return meddling_push(context, NULL, sight, effect);
}

static CnStatus thief(void *context, void *state, const CnSolverDef *def, const CnProblem *problem,
                      CnAnswer *answer, CnSolveReport *report) {
  (void)context, (void)state, (void)def, (void)problem, (void)report;
  answer->g = NULL;
  return CN_OK;
}

static CnJointKind meddler_kind(void) {
  CnJointKind kind = cn_joint_kind_find("meddler");
  CnOwnJoint joint = socket_kind();
  joint.name = "meddler";
  joint.place = meddler;
  if (kind == CN_JOINT_KIND_NONE) CHECK_OK(cn_joint_register(&joint, &kind));
  return kind;
}

static void test_busy(void **state) {
  (void)state;
  CnJointKind kind = meddler_kind();
  CnWorld *w = toy_world(0.1), *other = toy_world(0.1);
  CnJointDef d = cn_joint_def_default(kind);
  CnJointId joint;
  CnForceDef force = cn_force_def_default(CN_FORCE_USER);
  CnForceId id;
  CnForceState seen;
  CnJointState joint_seen;
  d.body_b = force.body_b = victim_body =
      toy_box(w, cn_vec3(0.1, 0.1, 0.1), CN_VEC3_ZERO, CN_QUAT_ONE);
  force.function = user_push;
  inside_calls = inside_changed = 0;
  victim = w;
  CHECK_OK(cn_joint_create(w, &d, &joint));
  CHECK(inside_calls == 13 && inside_changed == 0);
  CHECK_OK(cn_joint_state(w, joint, &joint_seen));
  CHECK_OK(cn_force_create(w, &force, &id));
  CHECK_OK(cn_force_state(w, id, &seen));
  CHECK(inside_calls > 14 && inside_changed == 0);
  toy_steps(w, 3);
  CHECK(inside_changed == 0);
  // another world is none of a force's business: it can be run within one
  inside_calls = 0;
  victim = other;
  CHECK_OK(cn_joint_destroy(w, joint));
  CHECK_OK(cn_force_state(w, id, &seen));
  CHECK(inside_calls > 0 && inside_changed > 0);
  victim = NULL;
  cn_world_destroy(other);
  cn_world_destroy(w);
}

// Rows that were numbers where the joint was made, and are none later, end the step with the joint's name.
static void test_rows_not_finite(void **state) {
  static const char *const integrators[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  double *const spoilt[] = {&spoil_value, &spoil_linear, &spoil_angular};
  (void)state;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 6; k++) {
      CnWorld *w = pendulum(meddler_kind(), integrators[i]);
      toy_steps(w, 2);
      uint64_t before = cn_world_hash(w);
      *spoilt[k % 3] = k < 3 ? NAN : INFINITY;
      CHECK_STATUS(cn_world_step(w, NULL), CN_NOT_FINITE);
      CHECK_TEXT(cn_error_message(), "of joint 'hook'");
      *spoilt[k % 3] = 0;
      CHECK(cn_world_hash(w) == before);
      toy_steps(w, 1);
      cn_world_destroy(w);
    }
}

static void test_force_not_finite(void **state) {
  static const char *const integrators[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  (void)state;
  CnOwnForce own = {.size = sizeof own, .name = "meddling", .evaluate = meddling_push};
  CnForceKind kinds[2] = {CN_FORCE_USER};
  CHECK_OK(cn_force_register(&own, &kinds[1]));
  for (int i = 0; i < 16; i++) {
    CnWorld *w = pendulum(CN_JOINT_BALL, integrators[i % 4]);
    double *spoilt = i < 8 ? &spoil_force : &spoil_damping;
    CnForceDef force = cn_force_def_default(kinds[i / 4 % 2]);
    CnForceId id;
    force.body_b = cn_world_next_body(w, (CnBodyId){0, 0});
    if (i / 4 % 2 == 0) force.function = user_push;
    force.name = "wind";
    CHECK_OK(cn_force_create(w, &force, &id));
    toy_steps(w, 2);
    uint64_t before = cn_world_hash(w);
    *spoilt = i % 3 ? NAN : INFINITY;
    CHECK_STATUS(cn_world_step(w, NULL), CN_NOT_FINITE);
    CHECK_TEXT(cn_error_message(), "of force 'wind'");
    *spoilt = 0;
    CHECK(cn_world_hash(w) == before);
    toy_steps(w, 1);
    cn_world_destroy(w);
  }
}

static void test_answer_exchanged(void **state) {
  (void)state;
  CnOwnSolver solver = {.size = sizeof solver,
                        .accepts = CN_ACCEPT_STEP | CN_ACCEPT_ALL_KINDS | CN_ACCEPT_COULOMB,
                        .name = "thief",
                        .max_iterations = 1,
                        .solve = thief};
  CHECK_OK(cn_solver_register(&solver));
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default("thief");
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 0.1), CN_QUAT_ONE);
  CHECK_STATUS(cn_world_step(w, NULL), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "solver thief");
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_joint),
                                     cmocka_unit_test(test_force_and_solver),
                                     cmocka_unit_test(test_snapshot),
                                     cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_busy),
                                     cmocka_unit_test(test_rows_not_finite),
                                     cmocka_unit_test(test_force_not_finite),
                                     cmocka_unit_test(test_answer_exchanged)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
