// SPDX-License-Identifier: Apache-2.0
// Things changed between steps: mass, kind, impulses, forces in body axes, materials, filters; names of
// shapes and user data of everything, which snapshots and copies keep.
#include "check.h"
#include "toys.h"

#include <cairn/cairn.h>
#include <stdlib.h>
#include <string.h>

#include "core/vec.h"
#include "world/world.h"

static CnTwist twist_of(const CnWorld *w, CnBodyId b) {
  CnTwist twist;
  CHECK_OK(cn_body_twist(w, b, &twist));
  return twist;
}

static CnVec3 place_of(const CnWorld *w, CnBodyId b) {
  CnPose pose;
  CHECK_OK(cn_body_pose(w, b, &pose));
  return pose.position;
}

// The body frame goes on as it did; the same force then moves it by its new mass and inertia.
static void test_mass(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&def);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(1, 2, 3), CN_QUAT_ONE);
  CnTwist moving = {{1, 0, 0}, {0, 0, 2}};
  CHECK_OK(cn_body_set_twist(w, b, &moving));
  CnPose com = CN_POSE_ONE;
  com.position = cn_vec3(0.3, 0, 0);
  CnSym3 inertia = {0.5, 0.6, 0.7, 0, 0, 0};
  CHECK_OK(cn_body_set_mass(w, b, 4, &com, &inertia));
  CnBodyInfo info;
  CHECK_OK(cn_body_info(w, b, &info));
  CHECK(info.mass == 4);
  CHECK_NEAR(info.com.position.x, 0.3, 1e-15);
  CHECK_NEAR(cn_norm(cn_sub(place_of(w, b), cn_vec3(1, 2, 3))), 0, 1e-15);
  CHECK_NEAR(twist_of(w, b).velocity.x, 1, 1e-15);
  CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  CHECK_OK(cn_body_set_twist(w, b, &rest));
  CHECK_OK(cn_body_apply_torque(w, b, cn_vec3(0, 0, 0.7)));
  CHECK_OK(cn_world_step(w, NULL));
  CHECK_NEAR(twist_of(w, b).spin.z, def.time_step, 1e-15);
  CHECK_NEAR(twist_of(w, b).velocity.y, -0.3 * def.time_step, 1e-12); // about the new centre
  CHECK_OK(cn_body_set_mass(w, b, 0, NULL, NULL));                    // from the shapes again
  CHECK_OK(cn_body_info(w, b, &info));
  CHECK_NEAR(info.mass, 8, 1e-12);
  CHECK_STATUS(cn_body_set_mass(w, b, 3, NULL, NULL), CN_INVALID_ARGUMENT); // no inertia
  CHECK_STATUS(cn_body_set_mass(w, b, -1, NULL, &inertia), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_body_info(w, b, &info));
  CHECK_NEAR(info.mass, 8, 1e-12);
  cn_world_destroy(w);
}

// J = m dv and r x J = I dw, exactly; a fixed body feels nothing. Forces in body axes turn with the body.
static void test_impulse(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&def);
  CnQuat turned = {sqrt(0.5), 0, 0, sqrt(0.5)};                          // x of the body along y
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), CN_VEC3_ZERO, turned); // 8 kg
  CHECK_OK(cn_body_apply_impulse(w, b, cn_vec3(0, 4, 0), cn_vec3(0.1, 0, 0)));
  CHECK_NEAR(twist_of(w, b).velocity.y, 0.5, 1e-14);
  CHECK_NEAR(twist_of(w, b).spin.z, 0.4 / (8 * 0.04 / 6), 1e-12);
  CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  CHECK_OK(cn_body_set_twist(w, b, &rest));
  CHECK_OK(cn_body_apply_local_force(w, b, cn_vec3(8, 0, 0), cn_vec3(0, 0, 0)));
  CHECK_OK(cn_world_step(w, NULL));
  CHECK_NEAR(twist_of(w, b).velocity.y, def.time_step, 1e-14);
  CHECK_NEAR(twist_of(w, b).velocity.x, 0, 1e-14);
  CHECK_OK(cn_body_set_kind(w, b, CN_BODY_FIXED));
  CHECK_OK(cn_body_apply_impulse(w, b, cn_vec3(0, 4, 0), cn_vec3(0.1, 0, 0)));
  CHECK(cn_norm(twist_of(w, b).velocity) == 0);
  CHECK_STATUS(cn_body_apply_impulse(w, b, cn_vec3(NAN, 0, 0), CN_VEC3_ZERO), CN_INVALID_ARGUMENT);
  cn_world_destroy(w);
}

// Held fast it stays; let go it falls g t from then on; led it goes with its velocity.
static void test_kind(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 10), CN_QUAT_ONE);
  CHECK_OK(cn_body_set_kind(w, b, CN_BODY_FIXED));
  toy_steps(w, 100);
  CHECK(place_of(w, b).z == 10);
  CHECK_OK(cn_body_set_kind(w, b, CN_BODY_DYNAMIC));
  toy_steps(w, 100);
  CHECK_NEAR(twist_of(w, b).velocity.z, -0.981, 1e-12);
  CHECK_OK(cn_body_set_kind(w, b, CN_BODY_KINEMATIC));
  double z = place_of(w, b).z;
  toy_steps(w, 100);
  CHECK_NEAR(place_of(w, b).z, z - 0.0981, 1e-12);
  CHECK_STATUS(cn_body_set_kind(w, b, (CnBodyKind)7), CN_INVALID_ARGUMENT);
  // a joint needs a body that moves
  CHECK_OK(cn_body_set_kind(w, b, CN_BODY_DYNAMIC));
  CnJointDef hook = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId joint;
  hook.body_b = b;
  hook.name = "hook";
  CHECK_OK(cn_joint_def_at(w, place_of(w, b), &hook));
  CHECK_OK(cn_joint_create(w, &hook, &joint));
  CHECK_STATUS(cn_body_set_kind(w, b, CN_BODY_FIXED), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "hook");
  // a half-space cannot be thrown
  CnBodyId ground = toy_floor(w);
  CHECK_STATUS(cn_body_set_kind(w, ground, CN_BODY_DYNAMIC), CN_INVALID_ARGUMENT);
  CHECK_OK(cni_model_consistent(&w->now.model));
  cn_world_destroy(w);
}

// On ice it slides on; with another material it is stopped; without a common category it falls through.
static void test_shapes(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  toy_floor(w);
  CnMaterialId ice = toy_material(w, 0, 0), rubber = toy_material(w, 1, 0);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 0.1), CN_QUAT_ONE);
  CnShapeId shape = cn_body_shape(w, b, 0);
  CHECK_OK(cn_shape_set_material(w, shape, ice));
  CnTwist push = {{1, 0, 0}, CN_VEC3_ZERO};
  CHECK_OK(cn_body_set_twist(w, b, &push));
  toy_steps(w, 100);
  CHECK_NEAR(twist_of(w, b).velocity.x, 1, 1e-9);
  CHECK_STATUS(cn_material_destroy(w, ice), CN_INVALID_ARGUMENT); // in use
  CHECK_OK(cn_shape_set_material(w, shape, rubber));
  CHECK_OK(cn_material_destroy(w, ice));
  toy_steps(w, 300);
  CHECK_NEAR(twist_of(w, b).velocity.x, 0, 1e-6);
  CHECK_OK(cn_shape_set_filter(w, shape, 2, 2));
  toy_steps(w, 100);
  CHECK_NEAR(twist_of(w, b).velocity.z, -0.981, 1e-6);
  CnShapeDef def;
  CHECK_OK(cn_shape_def(w, shape, &def));
  CHECK(def.category == 2 && def.mask == 2 && def.material.slot == rubber.slot);
  CHECK_OK(cni_model_consistent(&w->now.model));
  CHECK_STATUS(cn_shape_set_material(w, shape, ice), CN_INVALID_HANDLE);
  cn_world_destroy(w);
}

static void test_notes(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 1), CN_QUAT_ONE);
  CnShapeId shape = cn_body_shape(w, b, 0);
  CnMaterialId material = toy_material(w, 0.4, 0);
  const CnThing things[] = {{CN_THING_WORLD, 0, 0},
                            {CN_THING_BODY, b.slot, b.generation},
                            {CN_THING_SHAPE, shape.slot, shape.generation},
                            {CN_THING_MATERIAL, material.slot, material.generation}};
  uint64_t data;
  for (uint64_t i = 0; i < 4; i++) {
    CHECK_OK(cn_user_data(w, things[i], &data));
    CHECK(data == 0);
    CHECK_OK(cn_user_data_set(w, things[i], 1000 + i));
  }
  CHECK_OK(cn_shape_set_name(w, shape, "blade"));
  CnBodyInfo info;
  CHECK_OK(cn_body_info(w, b, &info));
  CHECK(info.user_data == 1001);
  CnWorld *copy;
  CHECK_OK(cn_world_copy(w, &copy));
  for (uint64_t i = 0; i < 4; i++) {
    CHECK_OK(cn_user_data(copy, things[i], &data));
    CHECK(data == 1000 + i);
  }
  assert_string_equal(cn_shape_name(copy, shape), "blade");
  CHECK(cn_world_find_shape(copy, "blade").slot == shape.slot);
  CHECK(cn_world_find_shape(copy, "handle").slot == 0);
  // what has gone has no data, and what comes into its slot begins anew
  CHECK_OK(cn_shape_destroy(copy, shape));
  CHECK_STATUS(cn_user_data(copy, things[2], &data), CN_INVALID_HANDLE);
  CHECK(cn_world_find_shape(copy, "blade").slot == 0);
  CnShapeDef ball = cn_shape_def_default(CN_SHAPE_SPHERE);
  ball.radius = 0.1;
  CnShapeId next;
  CHECK_OK(cn_shape_create(copy, b, &ball, &next));
  assert_string_equal(cn_shape_name(copy, next), "");
  CHECK_OK(cn_user_data(copy, (CnThing){CN_THING_SHAPE, next.slot, next.generation}, &data));
  CHECK(data == 0);
  CHECK_STATUS(cn_user_data(copy, (CnThing){(CnThingSort)99, 1, 1}, &data), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_user_data(copy, things[0], NULL), CN_INVALID_ARGUMENT);
  CHECK_OK(cni_model_consistent(&copy->now.model));
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

// Chosen bodies in and out, all or none; coordinates of joints as numbers.
static void test_chosen(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  CnBodyId floor = toy_floor(w), list[2];
  list[1] = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 1), CN_QUAT_ONE);
  list[0] = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 2), CN_QUAT_ONE);
  CnPose poses[2];
  CnTwist twists[2];
  CHECK_OK(cn_bodies_get_state(w, list, 2, poses, twists));
  CHECK(poses[0].position.z == 2 && poses[1].position.z == 1);
  poses[0].position.x = 7;
  twists[1].spin.y = 3;
  CHECK_OK(cn_bodies_set_state(w, list, 2, poses, twists));
  CHECK(place_of(w, list[0]).x == 7 && twist_of(w, list[1]).spin.y == 3);
  poses[0].position.x = 8;
  poses[1].position.x = NAN;
  CHECK_STATUS(cn_bodies_set_state(w, list, 2, poses, NULL), CN_INVALID_ARGUMENT);
  CHECK(place_of(w, list[0]).x == 7); // all or none
  CHECK_STATUS(cn_bodies_set_state(w, &floor, 1, NULL, &twists[1]), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_bodies_get_state(w, &(CnBodyId){99, 1}, 1, poses, NULL), CN_INVALID_HANDLE);
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId joint;
  hinge.body_b = list[1];
  CHECK_OK(cn_joint_def_along(w, cn_vec3(0, 0, 1), cn_vec3(0, 1, 0), &hinge));
  CHECK_OK(cn_joint_create(w, &hinge, &joint));
  double x[2], rates[2];
  int32_t count;
  CHECK_OK(cn_world_joint_coordinates(w, x, rates, 2, &count));
  CHECK(count == 1);
  CHECK_NEAR(x[0], 0, 1e-12);
  CHECK_NEAR(rates[0], 3, 1e-12);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mass),  cmocka_unit_test(test_impulse),
                                     cmocka_unit_test(test_kind),  cmocka_unit_test(test_shapes),
                                     cmocka_unit_test(test_notes), cmocka_unit_test(test_chosen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
