// SPDX-License-Identifier: Apache-2.0
// Functions of a world: ids, who follows them, save and restore, memory.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "toys.h"

static const double times[] = {0, 0.4, 1}, values[] = {0, 0.5, 0.2};

static CnFunctionDef spline(void) {
  CnFunctionDef def = cn_function_def_default(CN_FUNCTION_SPLINE);
  def.times = times;
  def.values = values;
  def.point_count = 3;
  def.name = "path";
  return def;
}

static CnJointId follower(CnWorld *w, CnFunctionId function) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointId joint;
  def.body_b = toy_ball(w, 0.1, CN_VEC3_ZERO, (CnMaterialId){0, 0});
  def.axes[0].drive = CN_DRIVE_POSITION;
  def.axes[0].motor_effort = INFINITY;
  def.axes[0].motor_function = function;
  CHECK_OK(cn_joint_def_along(w, CN_VEC3_ZERO, cn_vec3(1, 0, 0), &def));
  CHECK_OK(cn_joint_create(w, &def, &joint));
  return joint;
}

static void ids(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-2);
  CnFunctionDef def = spline(), back;
  CnFunctionId other, path, none = {0, 0};
  CHECK_OK(cn_function_create(w, &def, &other));
  CHECK_OK(cn_function_create(w, &def, &path));
  CHECK_OK(cn_function_destroy(w, other));
  CHECK_STATUS(cn_function_destroy(w, other), CN_INVALID_HANDLE);
  CHECK_OK(cn_function_def(w, path, &back));
  CHECK(strcmp(back.name, "path") == 0 && back.point_count == 3 && back.values[1] == 0.5);
  double x[3];
  CHECK_OK(cn_function_value(w, path, 0.4, x));
  CHECK_NEAR(x[0], 0.5, 1e-15);
  CHECK_STATUS(cn_function_value(w, path, NAN, x), CN_INVALID_ARGUMENT);
  CnFunctionId next = cn_world_next_function(w, none);
  CHECK(next.slot == path.slot && next.generation == path.generation);
  CHECK(cn_world_next_function(w, next).slot == 0);
  CnJointId joint = follower(w, path);
  CHECK_STATUS(cn_function_destroy(w, path), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "followed") != NULL);
  toy_steps(w, 40);
  CnJointState at;
  CHECK_OK(cn_joint_state(w, joint, &at));
  CHECK_NEAR(at.coordinate[0], 0.5, 1e-6);
  // another function in its place
  def = cn_function_def_default(CN_FUNCTION_CONSTANT);
  def.value = at.coordinate[0];
  CHECK_OK(cn_function_set(w, path, &def));
  toy_steps(w, 5);
  CHECK_OK(cn_joint_state(w, joint, &at));
  CHECK_NEAR(at.rate[0], 0, 1e-6);
  CnJointDef stale;
  CHECK_OK(cn_joint_def(w, joint, &stale));
  stale.axes[0].motor_function = other;
  CHECK_STATUS(cn_joint_set(w, joint, &stale), CN_INVALID_HANDLE);
  def.value = NAN;
  CHECK_STATUS(cn_function_create(w, &def, &other), CN_INVALID_ARGUMENT);
  CHECK(other.slot == 0);
  def.tag = 0;
  CHECK_STATUS(cn_function_create(w, &def, &other), CN_INVALID_ARGUMENT);
  cn_world_destroy(w);
}

static void saved(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-2), *copy = toy_world(1e-3);
  CnFunctionDef def = spline();
  CnFunctionId path, gone;
  CHECK_OK(cn_function_create(w, &def, &gone));
  CHECK_OK(cn_function_create(w, &def, &path));
  CHECK_OK(cn_function_destroy(w, gone));
  follower(w, path);
  toy_steps(w, 17);
  size_t size;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  char *data = malloc(size);
  CHECK_OK(cn_world_save(w, data, size, &size));
  CHECK_OK(cn_world_restore(copy, data, size));
  toy_steps(w, 30);
  toy_steps(copy, 30);
  CHECK(cn_world_hash(w) == cn_world_hash(copy));
  CHECK_OK(cn_function_def(copy, path, &def));
  CHECK(strcmp(def.name, "path") == 0);
  // damage is refused, whatever it is
  for (size_t i = 0; i < size; i++) {
    data[i] ^= 0x55;
    CHECK(cn_world_restore(copy, data, size) != CN_OK);
    data[i] ^= 0x55;
  }
  free(data);
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ids), cmocka_unit_test(saved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
