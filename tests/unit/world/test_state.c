// SPDX-License-Identifier: Apache-2.0
// Whole worlds at once: arrays tell what single calls tell, names are found, settings change between
// steps and worlds are copied without a change of bits.
#include "check.h"
#include "toys.h"

#include <cairn/state.h>
#include <math.h>
#include <string.h>

#define COUNT 12

// Balls, boxes and an eccentric body on a floor, two of them on a hinge, with a gap in the ids.
static CnWorld *world(void) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 5e-3;
  CnWorld *w = toy_world_from(&def);
  CnBodyId last = {0, 0};
  toy_floor(w);
  for (int i = 0; i < COUNT; i++) {
    CnVec3 at = cn_vec3(0.11 * (i % 3), 0.02 * i, 0.1 + 0.12 * i);
    CnBodyId b = i % 2 ? toy_ball(w, 0.06, at, (CnMaterialId){0, 0})
                       : toy_box(w, cn_vec3(0.05, 0.06, 0.04), at, CN_QUAT_ONE);
    if (i == 5) CHECK_OK(cn_body_destroy(w, last));
    last = b;
  }
  CnBodyDef body = cn_body_def_default();
  body.name = "arm";
  body.mass = 2;
  body.com.position = cn_vec3(0.1, 0.02, 0);
  body.inertia = (CnSym3){0.1, 0.1, 0.1, 0, 0, 0};
  body.pose.position = cn_vec3(1, 1, 1);
  body.twist = (CnTwist){cn_vec3(0.1, 0, 0), cn_vec3(0, 1, 2)};
  CHECK_OK(cn_body_create(w, &body, &last));
  CnJointDef joint = cn_joint_def_default(CN_JOINT_REVOLUTE);
  joint.body_b = last;
  joint.name = "hinge";
  CHECK_OK(cn_joint_def_along(w, cn_vec3(1, 1, 1), cn_vec3(0, 1, 0), &joint));
  CnJointId hinge;
  CHECK_OK(cn_joint_create(w, &joint, &hinge));
  return w;
}

static void run(CnWorld *w, int steps) {
  CnStepReport report;
  for (int i = 0; i < steps; i++) CHECK_OK(cn_world_step(w, &report));
}

static void test_arrays_as_single_calls(void **state) {
  (void)state;
  CnWorld *w = world();
  CnBodyId ids[32];
  CnPose poses[32], pose;
  CnTwist twists[32], twist;
  int32_t n;
  run(w, 40);
  CHECK_OK(cn_world_bodies(w, ids, 32, &n));
  CHECK(n == COUNT + 1);
  CHECK_OK(cn_world_get_state(w, poses, twists, n));
  for (int32_t i = 0; i < n; i++) {
    CHECK_OK(cn_body_pose(w, ids[i], &pose));
    CHECK_OK(cn_body_twist(w, ids[i], &twist));
    CHECK(memcmp(&pose, &poses[i], sizeof pose) == 0);
    CHECK(memcmp(&twist, &twists[i], sizeof twist) == 0);
  }
  CHECK_STATUS(cn_world_get_state(w, poses, twists, n - 1), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "room for");
  CnStateView view;
  CHECK_OK(cn_world_state_view(w, &view));
  CHECK(view.count == n);
  CHECK_OK(cn_world_view_bodies(w, ids, 32, &n));
  for (int32_t i = 0; i < n; i++) {
    CnBodyInfo info;
    CHECK_OK(cn_body_info(w, ids[i], &info));
    CHECK_OK(cn_body_pose(w, ids[i], &pose));
    CnVec3 centre = cn_add(pose.position, cn_rotate(pose.rotation, info.com.position));
    CHECK(cn_norm2(cn_sub(centre, view.poses[i].position)) < 1e-28);
  }
  CnContact contacts[64], contact;
  CHECK_OK(cn_world_contacts(w, contacts, 64, &n));
  CHECK(n > 0 && n <= 64);
  CHECK_OK(cn_world_contact(w, n - 1, &contact));
  CHECK(contact.feature == contacts[n - 1].feature && contact.gap == contacts[n - 1].gap &&
        contact.impulse.z == contacts[n - 1].impulse.z);
  CnJointState joints[2];
  CHECK_OK(cn_world_joint_states(w, joints, 2, &n));
  CHECK(n == 1 && fabs(joints[0].force.z) > 0);
  cn_world_destroy(w);
}

static void test_state_set(void **state) {
  (void)state;
  CnWorld *w = world(), *other = world();
  CnPose poses[32];
  CnTwist twists[32];
  run(w, 20);
  int32_t n = COUNT + 1;
  CHECK_OK(cn_world_get_state(w, poses, twists, n));
  CHECK_OK(cn_world_set_state(other, poses, twists, n));
  CnPose again[32];
  CHECK_OK(cn_world_get_state(other, again, NULL, n));
  for (int32_t i = 0; i < n; i++)
    CHECK(cn_norm2(cn_sub(again[i].position, poses[i].position)) < 1e-28);
  uint64_t before = cn_world_hash(other);
  poses[n - 1].position.x = NAN;
  CHECK_STATUS(cn_world_set_state(other, poses, twists, n), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "finite");
  CHECK_STATUS(cn_world_set_state(other, NULL, twists, n - 1), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "states for");
  twists[0].velocity.x = 1; // the floor
  CHECK_STATUS(cn_world_set_state(other, NULL, twists, n), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "fixed");
  CHECK(cn_world_hash(other) == before);
  cn_world_destroy(w);
  cn_world_destroy(other);
}

// A load on all bodies at once is the sum of single ones.
static void test_loads(void **state) {
  (void)state;
  CnWorld *w = world(), *other = world();
  CnBodyId ids[32];
  CnTwist loads[32];
  int32_t n;
  CHECK_OK(cn_world_bodies(w, ids, 32, &n));
  for (int32_t i = 0; i < n; i++) {
    loads[i] = (CnTwist){cn_vec3(i, 1, 2), cn_vec3(0, 0.1 * i, 0)};
    CnBodyInfo info;
    CnPose pose;
    CHECK_OK(cn_body_info(other, ids[i], &info));
    CHECK_OK(cn_body_pose(other, ids[i], &pose));
    CnVec3 centre = cn_add(pose.position, cn_rotate(pose.rotation, info.com.position));
    CHECK_OK(cn_body_apply_force(other, ids[i], loads[i].velocity, centre));
    CHECK_OK(cn_body_apply_torque(other, ids[i], loads[i].spin));
  }
  CHECK_OK(cn_world_add_loads(w, loads, n));
  run(w, 1);
  run(other, 1);
  CnPose a[32], b[32];
  CHECK_OK(cn_world_get_state(w, a, NULL, 32));
  CHECK_OK(cn_world_get_state(other, b, NULL, 32));
  for (int32_t i = 0; i < n; i++) CHECK(cn_norm2(cn_sub(a[i].position, b[i].position)) < 1e-26);
  cn_world_destroy(w);
  cn_world_destroy(other);
}

static void test_names(void **state) {
  (void)state;
  CnWorld *w = world();
  CnMaterialDef def = cn_material_def_default(), told;
  def.name = "steel";
  def.friction = 0.3;
  CnMaterialId steel;
  CHECK_OK(cn_material_create(w, &def, &steel));
  CHECK(cn_world_find_material(w, "steel").slot == steel.slot);
  CHECK_OK(cn_material_def(w, steel, &told));
  CHECK(told.friction == 0.3 && strcmp(told.name, "steel") == 0);
  CHECK(cn_world_next_material(w, (CnMaterialId){0, 0}).slot == steel.slot);
  CHECK(cn_world_find_body(w, "arm").slot != 0);
  CHECK(cn_world_find_joint(w, "hinge").slot != 0);
  CHECK(cn_world_find_body(w, "leg").slot == 0);
  CHECK(cn_world_find_joint(w, NULL).slot == 0);
  int shapes = 0;
  CnWorldInfo info;
  for (CnShapeId s = {0, 0}; (s = cn_world_next_shape(w, s)).slot != 0;) shapes++;
  cn_world_info(w, &info);
  CHECK(shapes == info.shape_count);
  cn_world_destroy(w);
}

static void test_settings(void **state) {
  (void)state;
  CnWorld *w = world(), *same = world();
  CnWorldDef def;
  run(w, 20);
  run(same, 20);
  CHECK_OK(cn_world_settings(w, &def));
  def.worker_count = 2;
  def.broad_phase = "sap";
  CHECK_OK(cn_world_set_settings(w, &def));
  run(w, 20);
  run(same, 20);
  CHECK(cn_world_hash(w) == cn_world_hash(same));
  def.solver = cn_solver_def_default("auto");
  def.solver.tolerance = 1e-9;
  def.time_step = 2e-3;
  CHECK_OK(cn_world_set_settings(w, &def));
  CnStepReport report;
  CHECK_OK(cn_world_step(w, &report));
  CHECK(strcmp(report.solve.solver, "auto") == 0 && report.solve.converged == 1);
  uint64_t before = cn_world_hash(w);
  def.integrator = "leapfrog";
  CHECK_STATUS(cn_world_set_settings(w, &def), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "leapfrog");
  CHECK_OK(cn_world_settings(w, &def));
  CHECK(def.time_step == 2e-3 && cn_world_hash(w) == before);
  def.size--;
  CHECK_STATUS(cn_world_set_settings(w, &def), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "world");
  run(w, 1);
  cn_world_destroy(w);
  cn_world_destroy(same);
}

static void test_copy(void **state) {
  (void)state;
  CnWorld *w = world(), *copy;
  run(w, 20);
  CHECK_OK(cn_world_copy(w, &copy));
  CHECK(cn_world_hash(w) == cn_world_hash(copy));
  run(w, 20);
  uint64_t hash = cn_world_hash(w);
  cn_world_destroy(w);
  run(copy, 20);
  CHECK(cn_world_hash(copy) == hash);
  CHECK(cn_world_find_joint(copy, "hinge").slot != 0);
  cn_world_destroy(copy);
  CHECK_STATUS(cn_world_copy(NULL, &copy), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "world");
}

static void test_many_bodies(void **state) {
  (void)state;
  CnWorld *w = world();
  CnPose poses[5];
  CnBodyId ids[5];
  CnWorldInfo before, after;
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  shape.radius = 0.1;
  for (int i = 0; i < 5; i++) poses[i] = (CnPose){cn_vec3(i, 3, 1), CN_QUAT_ONE};
  CHECK_OK(cn_bodies_create(w, &def, &shape, poses, 5, ids));
  CnPose pose;
  CHECK_OK(cn_body_pose(w, ids[3], &pose));
  CHECK(pose.position.x == 3);
  cn_world_info(w, &before);
  uint64_t hash = cn_world_hash(w);
  poses[4].position.y = INFINITY;
  CHECK_STATUS(cn_bodies_create(w, &def, &shape, poses, 5, ids), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "finite");
  cn_world_info(w, &after);
  CHECK(after.body_count == before.body_count && after.shape_count == before.shape_count);
  CHECK(cn_world_hash(w) == hash);
  run(w, 1);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrays_as_single_calls),
      cmocka_unit_test(test_state_set),
      cmocka_unit_test(test_loads),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_settings),
      cmocka_unit_test(test_copy),
      cmocka_unit_test(test_many_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
