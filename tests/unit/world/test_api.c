// SPDX-License-Identifier: Apache-2.0
// Misuse of the world's functions: every wrong call answers with a status and a sentence, and the
// world is as it was.
#include "check.h"
#include "alloc.h"
#include "toys.h"

#include <string.h>

static const CnMaterialId no_material = {0, 0};

static void refused(CnWorldDef def, const char *word) {
  CnWorld *world = (CnWorld *)&def;
  CHECK_STATUS(cn_world_create(&def, &world), CN_INVALID_ARGUMENT);
  if (!strstr(cn_error_message(), word)) print_error("%s\n", cn_error_message());
  CHECK(strstr(cn_error_message(), word) != NULL);
  CHECK(world == NULL);
}

static void test_world_def(void **state) {
  (void)state;
  CnWorldDef d = cn_world_def_default();
  CHECK_NEAR(d.gravity.z, -9.81, 0);
  CHECK_NEAR(d.time_step, 1e-3, 0);
  d.tag = 0;
  refused(d, "tag");
  d = cn_world_def_default();
  d.size -= 8;
  refused(d, "world: the definition is of another version of Cairn (size ");
  d = cn_world_def_default();
  d.solver.size -= 8; // of the definitions inside likewise
  refused(d, "solver: the definition is of another version of Cairn (size ");
  d = cn_world_def_default();
  d.integration.size += 16;
  refused(d, "integrator: the definition is of another version of Cairn (size ");
  d = cn_world_def_default();
  d.gravity.x = (double)NAN;
  refused(d, "gravity");
  d = cn_world_def_default();
  d.time_step = 0;
  refused(d, "time_step");
  d.time_step = (double)INFINITY;
  refused(d, "time_step");
  d = cn_world_def_default();
  d.stabilisation = 0;
  refused(d, "stabilisation");
  d.stabilisation = 0.2;
  d.contact_stabilisation = 0;
  refused(d, "contact_stabilisation");
  d.contact_stabilisation = 0.02;
  d.contact_slop = -1;
  refused(d, "contact_slop");
  d.contact_slop = 0;
  d.stabilisation = 1.5;
  refused(d, "1.5");
  d = cn_world_def_default();
  d.recovery_speed = -2;
  refused(d, "recovery_speed");
  d = cn_world_def_default();
  d.restitution_threshold = (double)NAN;
  refused(d, "restitution_threshold");
  d = cn_world_def_default();
  d.contact_margin = -1e-3;
  refused(d, "contact_margin");
  d = cn_world_def_default();
  d.geometric_stiffness = 2;
  refused(d, "geometric_stiffness");
  d = cn_world_def_default();
  d.friction = (CnFrictionModel)7;
  refused(d, "friction");
  d = cn_world_def_default();
  d.worker_count = 0;
  refused(d, "worker_count");
  d = cn_world_def_default();
  d.integrator = "magic";
  refused(d, "magic");
  d = cn_world_def_default();
  d.solver.name = "magic";
  refused(d, "magic");
  d = cn_world_def_default();
  d.solver.max_iterations = 0;
  refused(d, "iterations");
  d = cn_world_def_default();
  d.broad_phase = "magic";
  refused(d, "magic");
  d = cn_world_def_default();
  d.allocator.allocate = NULL;
  refused(d, "allocator");
  CHECK_STATUS(cn_world_create(NULL, NULL), CN_INVALID_ARGUMENT);
}

// A solver that nobody named suits the integrator; one that is named stays.
static void test_usual_solver(void **state) {
  (void)state;
  const char *const integrators[] = {"impulse", "moreau-jean", "moreau-jean", "hem5"};
  const char *const solvers[] = {"auto", "auto", "psor", "auto"};
  for (int k = 0; k < 4; k++) {
    CnWorldDef d = cn_world_def_default();
    CnWorld *world;
    d.integrator = integrators[k];
    d.solver.tolerance = 1e-9;
    if (k == 2) d.solver = cn_solver_def_default("psor");
    CHECK_OK(cn_world_create(&d, &world));
    CHECK_OK(cn_world_settings(world, &d));
    assert_string_equal(d.solver.name, solvers[k]);
    CHECK(k == 2 || d.solver.tolerance == 1e-9);
    CHECK(d.solver.effort == (k == 1 ? CN_EFFORT_EXACT : CN_EFFORT_NORMAL));
    cn_world_destroy(world);
  }
}

static void test_null_world(void **state) {
  (void)state;
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnPose pose;
  CnWorldInfo info;
  CnWorldSums sums;
  CnContact contact;
  size_t size;
  CHECK_STATUS(cn_body_create(NULL, &body, &id), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_pose(NULL, id, &pose), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_step(NULL, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_contact(NULL, 0, &contact), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_save(NULL, NULL, 0, &size), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_restore(NULL, &size, sizeof size), CN_INVALID_ARGUMENT);
  cn_world_info(NULL, &info);
  cn_world_sums(NULL, &sums);
  cn_world_destroy(NULL);
  CHECK(info.body_count == 0 && sums.mass == 0);
  CHECK(cn_world_next_body(NULL, id).slot == 0);
}

static void test_null_results(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  CnBodyId ball = toy_ball(w, 0.1, CN_VEC3_ZERO, no_material);
  CnBodyDef body = cn_body_def_default();
  CnShapeId shape = cn_body_shape(w, ball, 0);
  CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
  CHECK_STATUS(cn_body_create(w, &body, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_create(w, NULL, &ball), CN_INVALID_ARGUMENT);
  ball = cn_world_next_body(w, (CnBodyId){0, 0});
  CHECK_STATUS(cn_body_pose(w, ball, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_twist(w, ball, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_set_pose(w, ball, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_set_twist(w, ball, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_info(w, ball, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_shape_create(w, ball, &sphere, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_shape_create(w, ball, NULL, &shape), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_shape_body(w, shape, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_shape_def(w, shape, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_penetration(w, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_contact(w, 0, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_save(w, NULL, 0, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_restore(w, NULL, 0), CN_INVALID_ARGUMENT);
  cn_world_destroy(w);
}

// An id outlives its object: every function says so, also after the slot has a new owner.
static void stale_body(CnWorld *w, CnBodyId body) {
  CnPose pose = CN_POSE_ONE;
  CnTwist twist = {{0, 0, 0}, {0, 0, 0}};
  CnBodyInfo info;
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
  CnShapeId shape;
  CnJointId id;
  def.radius = 1;
  joint.body_a = body;
  CHECK_STATUS(cn_body_pose(w, body, &pose), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_body_twist(w, body, &twist), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_body_set_pose(w, body, &pose), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_body_set_twist(w, body, &twist), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_body_apply_force(w, body, CN_VEC3_ZERO, CN_VEC3_ZERO), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_body_apply_torque(w, body, CN_VEC3_ZERO), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_body_info(w, body, &info), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_body_destroy(w, body), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_shape_create(w, body, &def, &shape), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_joint_create(w, &joint, &id), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_joint_def_at(w, CN_VEC3_ZERO, &joint), CN_INVALID_HANDLE);
  CHECK(cn_body_shape(w, body, 0).slot == 0);
}

static void test_stale_ids(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  CnBodyId first = toy_ball(w, 0.1, CN_VEC3_ZERO, no_material);
  CnShapeId shape = cn_body_shape(w, first, 0);
  CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId joint;
  CnJointState joint_state;
  CnBodyId of;
  CnShapeDef shape_def;
  def.body_a = first;
  CHECK_OK(cn_joint_create(w, &def, &joint));
  CHECK_OK(cn_body_destroy(w, first));
  stale_body(w, first);
  CnBodyId second = toy_ball(w, 0.2, cn_vec3(1, 0, 0), no_material);
  CHECK(second.slot == first.slot && second.generation != first.generation);
  stale_body(w, first);
  stale_body(w, (CnBodyId){0, 0});
  stale_body(w, (CnBodyId){0xffffffffu, 1});
  CHECK_STATUS(cn_shape_body(w, shape, &of), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_shape_def(w, shape, &shape_def), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_shape_destroy(w, shape), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_joint_state(w, joint, &joint_state), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_joint_destroy(w, joint), CN_INVALID_HANDLE);
  CHECK_NEAR(toy_pose(w, second).position.x, 1, 0);
  cn_world_destroy(w);
}

static void test_numbers(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(1, 2, 3), no_material);
  CnBodyId floor = toy_floor(w);
  uint64_t hash = cn_world_hash(w);
  CnPose pose = {{1, 2, (double)NAN}, CN_QUAT_ONE};
  CnTwist twist = {{0, 0, 0}, {(double)INFINITY, 0, 0}};
  CHECK_STATUS(cn_body_set_pose(w, ball, &pose), CN_INVALID_ARGUMENT);
  pose = (CnPose){{1, 2, 3}, {0, 0, 0, 0}};
  CHECK_STATUS(cn_body_set_pose(w, ball, &pose), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_set_twist(w, ball, &twist), CN_INVALID_ARGUMENT);
  twist.spin.x = 1;
  CHECK_STATUS(cn_body_set_twist(w, floor, &twist), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "floor") != NULL);
  CHECK_STATUS(cn_body_apply_force(w, ball, cn_vec3((double)NAN, 0, 0), CN_VEC3_ZERO),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_apply_force(w, ball, CN_VEC3_ZERO, cn_vec3(0, (double)INFINITY, 0)),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_body_apply_torque(w, ball, cn_vec3(0, 0, (double)NAN)), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_body_apply_torque(w, ball, cn_vec3(1e308, 0, 0)));
  CHECK_STATUS(cn_body_apply_torque(w, ball, cn_vec3(1e308, 0, 0)), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_set_time_step(w, -1), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_set_gravity(w, cn_vec3(0, (double)NAN, 0)), CN_INVALID_ARGUMENT);
  CHECK(cn_world_hash(w) == hash);
  cn_world_destroy(w);
}

// ---- inside a step ----

typedef struct Visit {
  CnBodyId ball;
  int32_t calls;
} Visit;

static void intrude(void *context, CnWorld *w, double time, double time_step) {
  Visit *visit = context;
  CnBodyDef body = cn_body_def_default();
  CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
  CnMaterialDef material = cn_material_def_default();
  CnBodyId new_body;
  CnShapeId shape;
  CnJointId new_joint;
  CnMaterialId new_material;
  CnPenetration penetration;
  size_t size;
  char byte = 0;
  sphere.radius = 1;
  joint.body_a = visit->ball;
  visit->calls++;
  CHECK_NEAR(time_step, 0.01, 0);
  CHECK_NEAR(time, 0.01 * (visit->calls - 1), 1e-15);
  CHECK_STATUS(cn_body_create(w, &body, &new_body), CN_BUSY);
  CHECK_STATUS(cn_body_destroy(w, visit->ball), CN_BUSY);
  CHECK_STATUS(cn_shape_create(w, visit->ball, &sphere, &shape), CN_BUSY);
  CHECK_STATUS(cn_shape_destroy(w, cn_body_shape(w, visit->ball, 0)), CN_BUSY);
  CHECK_STATUS(cn_joint_create(w, &joint, &new_joint), CN_BUSY);
  CHECK_STATUS(cn_joint_destroy(w, (CnJointId){1, 1}), CN_BUSY);
  CHECK_STATUS(cn_material_create(w, &material, &new_material), CN_BUSY);
  CHECK_STATUS(cn_material_set(w, (CnMaterialId){1, 1}, &material), CN_BUSY);
  CHECK_STATUS(cn_material_destroy(w, (CnMaterialId){1, 1}), CN_BUSY);
  CHECK_STATUS(cn_world_step(w, NULL), CN_BUSY);
  CHECK_STATUS(cn_world_save(w, NULL, 0, &size), CN_BUSY);
  CHECK_STATUS(cn_world_restore(w, &byte, 1), CN_BUSY);
  CHECK_STATUS(cn_world_penetration(w, &penetration), CN_BUSY);
  CHECK_STATUS(cn_world_set_time_step(w, 1), CN_BUSY);
  CHECK_STATUS(cn_world_set_gravity(w, CN_VEC3_ZERO), CN_BUSY);
  cn_world_destroy(w); // ignored
  CHECK_OK(cn_body_apply_torque(w, visit->ball, cn_vec3(0, 0, 0.1)));
}

static void test_busy(void **state) {
  (void)state;
  Visit visit = {{0, 0}, 0};
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.hooks.before_step = intrude;
  def.hooks.context = &visit;
  CnWorld *w = toy_world_from(&def);
  visit.ball = toy_ball(w, 0.1, CN_VEC3_ZERO, no_material);
  toy_steps(w, 3);
  CHECK(visit.calls == 3);
  CnBodyInfo info;
  CHECK_OK(cn_body_info(w, visit.ball, &info));
  CHECK_REL(toy_twist(w, visit.ball).spin.z, 3 * 0.01 * 0.1 / info.inertia.z, 1e-13);
  cn_world_destroy(w);
}

// ---- steps that fail ----

static void test_massless(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  toy_ball(w, 0.1, CN_VEC3_ZERO, no_material);
  CnBodyDef def = cn_body_def_default();
  CnBodyId ghost;
  def.name = "ghost";
  CHECK_OK(cn_body_create(w, &def, &ghost));
  uint64_t hash = cn_world_hash(w);
  CHECK_STATUS(cn_world_step(w, NULL), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "ghost") != NULL);
  CHECK(cn_world_hash(w) == hash);
  CHECK_OK(cn_body_destroy(w, ghost));
  CHECK_OK(cn_world_step(w, NULL));
  cn_world_destroy(w);
}

static void push(void *context, CnWorld *w, double time, double time_step) {
  (void)time;
  (void)time_step;
  const Visit *visit = context;
  CnPose pose = {{7, 7, 7}, CN_QUAT_ONE};
  CnTwist twist = {{1, 1, 1}, {2, 2, 2}};
  CHECK_OK(cn_body_set_pose(w, visit->ball, &pose));
  CHECK_OK(cn_body_set_twist(w, visit->ball, &twist));
  CHECK_OK(cn_body_apply_force(w, visit->ball, cn_vec3(0, 0, 1.5e308), pose.position));
}

// A force beyond all bounds: the step says which body and which step, and everything is as before,
// what the hook has set included.
static void test_not_finite(void **state) {
  (void)state;
  static unsigned char before[16384], after[16384];
  size_t size_before, size_after;
  Visit visit = {{0, 0}, 0};
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1;
  def.hooks.before_step = push;
  def.hooks.context = &visit;
  CnWorld *w = toy_world_from(&def);
  CnBodyDef body = cn_body_def_default();
  body.mass = 1e-3;
  body.inertia = cn_sdiag(1e-3, 1e-3, 1e-3);
  body.name = "rocket";
  toy_ball(w, 0.1, CN_VEC3_ZERO, no_material);
  CHECK_OK(cn_body_create(w, &body, &visit.ball));
  CHECK_OK(cn_body_apply_force(w, visit.ball, cn_vec3(1, 0, 0), CN_VEC3_ZERO));
  CHECK_OK(cn_world_save(w, before, sizeof before, &size_before));
  CHECK_STATUS(cn_world_step(w, NULL), CN_NOT_FINITE);
  CHECK(strstr(cn_error_message(), "rocket") != NULL);
  CHECK(strstr(cn_error_message(), "step 1") != NULL);
  CHECK_OK(cn_world_save(w, after, sizeof after, &size_after));
  CHECK(size_before == size_after);
  assert_memory_equal(before, after, size_before);
  cn_world_destroy(w);
}

// The walk is by ascending slot and goes on from a body destroyed on the way.
static void test_walk_over_bodies(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  CnBodyId ids[6];
  for (int i = 0; i < 6; i++) ids[i] = toy_ball(w, 0.1, cn_vec3(i, 0, 0), no_material);
  CHECK_OK(cn_body_destroy(w, ids[1]));
  CHECK_OK(cn_body_destroy(w, ids[4]));
  int seen = 0;
  uint32_t last = 0;
  for (CnBodyId b = cn_world_next_body(w, (CnBodyId){0, 0}); b.slot; b = cn_world_next_body(w, b)) {
    CHECK(b.slot > last);
    last = b.slot;
    CHECK_NEAR(toy_pose(w, b).position.x, b.slot - 1.0, 0);
    if (b.slot == ids[2].slot) CHECK_OK(cn_body_destroy(w, b));
    seen++;
  }
  CHECK(seen == 4);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_world_def),    cmocka_unit_test(test_null_world),
      cmocka_unit_test(test_usual_solver), cmocka_unit_test(test_null_results),
      cmocka_unit_test(test_stale_ids),    cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_busy),         cmocka_unit_test(test_massless),
      cmocka_unit_test(test_not_finite),   cmocka_unit_test(test_walk_over_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
