// SPDX-License-Identifier: Apache-2.0
// Kinds of the program in the library's tables: a solver, a joint and a force, seen by worlds, snapshots and
// scenes. A joint that is a copy of the library's own moves with the same motion; what is wrong is refused.
#include "check.h"
#include "toys.h"

#include <cairn/cairn.h>
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joint), cmocka_unit_test(test_force_and_solver),
      cmocka_unit_test(test_snapshot), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
