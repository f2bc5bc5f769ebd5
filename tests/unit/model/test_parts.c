// SPDX-License-Identifier: Apache-2.0
// Shapes, materials and joints: what is refused, how laws combine, where anchors are.
#include "check.h"
#include "alloc.h"

#include <string.h>

#include "model/model.h"

static TestAlloc alloc;
static CniModel model;
static CnBodyId body;   // dynamic, at (0, 0, 2)
static CnBodyId ground; // fixed

static CnShapeDef ball(double radius) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
  def.radius = radius;
  return def;
}

static int start(void **state) {
  (void)state;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CHECK_OK(cni_model_init(&model, &hook));
  CnBodyDef def = cn_body_def_default();
  def.pose.position.z = 2;
  CHECK_OK(cni_model_add_body(&model, &def, &body));
  CnShapeDef b = ball(0.5);
  CnShapeId shape;
  CHECK_OK(cni_model_add_shape(&model, body, &b, &shape));
  def = cn_body_def_default();
  def.kind = CN_BODY_FIXED;
  CHECK_OK(cni_model_add_body(&model, &def, &ground));
  return 0;
}

static int stop(void **state) {
  (void)state;
  cni_model_release(&model);
  test_alloc_check_clean(&alloc);
  return 0;
}

static void shape_refused(CnBodyId on, CnShapeDef def, CnStatus status, const char *word) {
  CnShapeId id = {7, 7};
  CHECK_STATUS(cni_model_add_shape(&model, on, &def, &id), status);
  if (!strstr(cn_error_message(), word)) print_error("%s\n", cn_error_message());
  CHECK(strstr(cn_error_message(), word) != NULL);
  CHECK(id.slot == 0);
  CHECK(model.shape_count == 1);
  CHECK_OK(cni_model_consistent(&model));
}

static void test_shapes_refused(void **state) {
  (void)state;
  CnShapeDef d = ball(1);
  d.tag = 1;
  shape_refused(body, d, CN_INVALID_ARGUMENT, "tag");
  d = ball(1);
  d.kind = CN_SHAPE_KIND_COUNT;
  shape_refused(body, d, CN_INVALID_ARGUMENT, "kind");
  shape_refused(body, ball(0), CN_INVALID_ARGUMENT, "radius");
  shape_refused(body, ball((double)NAN), CN_INVALID_ARGUMENT, "radius");
  d = ball(1);
  d.density = -3;
  shape_refused(body, d, CN_INVALID_ARGUMENT, "-3");
  d = ball(1);
  d.pose.rotation = (CnQuat){0, 0, 0, 0};
  shape_refused(body, d, CN_INVALID_ARGUMENT, "pose.rotation");
  d = cn_shape_def_default(CN_SHAPE_BOX);
  d.half_size = cn_vec3(1, -1, 1);
  shape_refused(body, d, CN_INVALID_ARGUMENT, "half_size");
  shape_refused(body, cn_shape_def_default(CN_SHAPE_PLANE), CN_INVALID_ARGUMENT, "plane");
  d = ball(1);
  d.material = (CnMaterialId){3, 1};
  shape_refused(body, d, CN_INVALID_HANDLE, "material");
  shape_refused((CnBodyId){9, 1}, ball(1), CN_INVALID_HANDLE, "body");
  shape_refused((CnBodyId){0, 0}, ball(1), CN_INVALID_HANDLE, "none");
  CnShapeId id;
  d = cn_shape_def_default(CN_SHAPE_PLANE);
  CHECK_OK(cni_model_add_shape(&model, ground, &d, &id));
}

static void material_refused(CnMaterialDef def, const char *word) {
  CnMaterialId id;
  CHECK_STATUS(cni_model_add_material(&model, &def, &id), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), word) != NULL);
  CHECK(id.slot == 0 && model.material_count == 1);
}

static void test_materials(void **state) {
  (void)state;
  CnMaterialDef d = cn_material_def_default();
  d.tag = 0;
  material_refused(d, "tag");
  d = cn_material_def_default();
  d.size += 8;
  material_refused(d, "another version");
  d = cn_material_def_default();
  d.friction = -0.1;
  material_refused(d, "-0.1");
  d = cn_material_def_default();
  d.restitution = 1.01;
  material_refused(d, "1.01");
  d.restitution = (double)NAN;
  material_refused(d, "restitution");
  d = cn_material_def_default();
  d.rolling_friction = (double)INFINITY;
  material_refused(d, "rolling_friction");
  d = cn_material_def_default();
  d.cohesion = -1;
  material_refused(d, "cohesion");
  d = cn_material_def_default();
  d.surface_velocity.y = (double)NAN;
  material_refused(d, "surface_velocity");
  d = cn_material_def_default();
  d.friction_rule = (CnCombine)5;
  material_refused(d, "friction_rule");

  // in use: not destroyed; afterwards stale
  CnMaterialId id;
  d = cn_material_def_default();
  d.name = "ice";
  CHECK_OK(cni_model_add_material(&model, &d, &id));
  CnShapeDef s = ball(1);
  CnShapeId shape;
  s.material = id;
  CHECK_OK(cni_model_add_shape(&model, body, &s, &shape));
  CHECK_STATUS(cni_model_remove_material(&model, id), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "ice") != NULL);
  CHECK_OK(cni_model_remove_shape(&model, shape));
  CHECK_OK(cni_model_remove_material(&model, id));
  CHECK_STATUS(cni_model_remove_material(&model, id), CN_INVALID_HANDLE);
  CHECK_STATUS(cni_model_set_material(&model, id, &d), CN_INVALID_HANDLE);
}

static void test_combine(void **state) {
  (void)state;
  CnMaterialDef a = cn_material_def_default(), b = a;
  a.friction = 0.2;
  b.friction = 0.8;
  a.restitution = 0.3;
  b.restitution = 0.6;
  a.rolling_friction = 0.01;
  b.spinning_friction = 0.02;
  a.cohesion = 5;
  b.cohesion = 3;
  CniMaterialPair law = cni_material_combine(&a, &b);
  CHECK_NEAR(law.friction, 0.4, 1e-16);
  CHECK_NEAR(law.restitution, 0.6, 0);
  CHECK_NEAR(law.rolling_friction, 0.01, 0);
  CHECK_NEAR(law.spinning_friction, 0.02, 0);
  CHECK_NEAR(law.cohesion, 3, 0);
  const double expected[] = {0.4, 0.5, 0.2, 0.16, 0.8};
  for (int rule = 0; rule <= CN_COMBINE_MAX; rule++) {
    a.friction_rule = (CnCombine)rule; // b's GEOMETRIC is the first of the list: a's wins
    CHECK_NEAR(cni_material_combine(&a, &b).friction, expected[rule], 1e-16);
    CHECK_NEAR(cni_material_combine(&b, &a).friction, expected[rule], 1e-16);
  }
  a.friction_rule = CN_COMBINE_AVERAGE;
  b.friction_rule = CN_COMBINE_PRODUCT;
  CHECK_NEAR(cni_material_combine(&a, &b).friction, 0.16, 1e-16);
  // equal values combine to themselves exactly
  a = cn_material_def_default();
  a.friction = 0.3;
  CHECK(cni_material_combine(&a, &a).friction == 0.3);
}

static void joint_refused(CnJointDef def, CnStatus status, const char *word) {
  CnJointId id = {7, 7};
  CHECK_STATUS(cni_model_add_joint(&model, &def, &id), status);
  if (!strstr(cn_error_message(), word)) print_error("%s\n", cn_error_message());
  CHECK(strstr(cn_error_message(), word) != NULL);
  CHECK(id.slot == 0 && model.joint_count == 0);
  CHECK_OK(cni_model_consistent(&model));
}

static CnJointDef joint_def(CnJointKind kind) {
  CnJointDef def = cn_joint_def_default(kind);
  def.body_a = body;
  return def;
}

static void test_joints_refused(void **state) {
  (void)state;
  CnJointDef d = joint_def(CN_JOINT_BALL);
  d.tag = 0;
  joint_refused(d, CN_INVALID_ARGUMENT, "tag");
  d = joint_def(CN_JOINT_KIND_COUNT);
  joint_refused(d, CN_INVALID_ARGUMENT, "kind");
  d = cn_joint_def_default(CN_JOINT_BALL);
  joint_refused(d, CN_INVALID_HANDLE, "none");
  d = joint_def(CN_JOINT_BALL);
  d.body_b = (CnBodyId){12, 1};
  joint_refused(d, CN_INVALID_HANDLE, "12");
  d.body_b = body;
  joint_refused(d, CN_INVALID_ARGUMENT, "both");
  d = joint_def(CN_JOINT_BALL);
  d.body_a = ground;
  joint_refused(d, CN_INVALID_ARGUMENT, "dynamic");
  d = joint_def(CN_JOINT_BALL);
  d.frame_a.position.x = (double)NAN;
  joint_refused(d, CN_INVALID_ARGUMENT, "frame_a");
  d = joint_def(CN_JOINT_BALL);
  d.frame_b.rotation = (CnQuat){0, 0, 0, 0};
  joint_refused(d, CN_INVALID_ARGUMENT, "frame_b");
  d = joint_def(CN_JOINT_DISTANCE);
  d.distance = -1;
  joint_refused(d, CN_INVALID_ARGUMENT, "distance");
  d.distance = 0;
  d.frame_b.position.z = 2;
  joint_refused(d, CN_INVALID_ARGUMENT, "present distance");
  d = joint_def(CN_JOINT_BALL);
  d.stiffness = (double)INFINITY;
  joint_refused(d, CN_INVALID_ARGUMENT, "stiffness");
  d = joint_def(CN_JOINT_BALL);
  d.damping = -2;
  joint_refused(d, CN_INVALID_ARGUMENT, "damping");
}

static void test_joint_data(void **state) {
  (void)state;
  CnJointDef d = joint_def(CN_JOINT_DISTANCE);
  CnJointId id;
  d.frame_a.position = cn_vec3(0, 0, 1); // at (0, 0, 3)
  d.frame_b.position = cn_vec3(3, 4, 3); // ground: world
  CHECK_OK(cni_model_add_joint(&model, &d, &id));
  CHECK_NEAR(model.joints[0].def.distance, 5, 1e-15);
  CHECK(model.joints[0].body_b == -1);
  // the centre of mass moves to (0, 0, 1) of the body: the anchor seen from there is the origin
  CnShapeDef s = ball(0.5);
  CnShapeId shape;
  s.pose.position.z = 2;
  CHECK_OK(cni_model_add_shape(&model, body, &s, &shape));
  CHECK_NEAR(model.joints[0].local_a.position.z, 0, 1e-15);
  CHECK_NEAR(model.joints[0].local_b.position.x, 3, 0);
  CHECK_OK(cni_model_remove_joint(&model, id));
  CHECK_STATUS(cni_model_remove_joint(&model, id), CN_INVALID_HANDLE);
  // destroying a body takes its joints along
  d.body_b = ground;
  CHECK_OK(cni_model_add_joint(&model, &d, &id));
  CHECK_OK(cni_model_remove_body(&model, ground));
  CHECK(model.joint_count == 0);
  CHECK_STATUS(cni_model_remove_joint(&model, id), CN_INVALID_HANDLE);
  CHECK_OK(cni_model_consistent(&model));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_shapes_refused, start, stop),
      cmocka_unit_test_setup_teardown(test_materials, start, stop),
      cmocka_unit_test_setup_teardown(test_combine, start, stop),
      cmocka_unit_test_setup_teardown(test_joints_refused, start, stop),
      cmocka_unit_test_setup_teardown(test_joint_data, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
