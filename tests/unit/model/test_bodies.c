// SPDX-License-Identifier: Apache-2.0
// Bodies and their mass properties: what is refused, what the centre of mass does when shapes come
// and go, and that the body frame never notices.
#include "check.h"
#include "alloc.h"

#include <string.h>

#include "model/model.h"

static TestAlloc alloc;
static CniModel model;

static int start(void **state) {
  (void)state;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  return cni_model_init(&model, &hook) == CN_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  cni_model_release(&model);
  test_alloc_check_clean(&alloc);
  return 0;
}

#define CHECK_VEC(a, b, tolerance)                                                                 \
  do {                                                                                             \
    CnVec3 check_a = (a), check_b = (b);                                                           \
    CHECK_NEAR(check_a.x, check_b.x, tolerance);                                                   \
    CHECK_NEAR(check_a.y, check_b.y, tolerance);                                                   \
    CHECK_NEAR(check_a.z, check_b.z, tolerance);                                                   \
  } while (0)

static CnBodyDef solid(void) {
  CnBodyDef def = cn_body_def_default();
  def.mass = 2;
  def.inertia = cn_sdiag(1, 2, 2.5);
  return def;
}

static CnBodyId body_of(CnBodyDef def) {
  CnBodyId id;
  CHECK_OK(cni_model_add_body(&model, &def, &id));
  return id;
}

static CnShapeId ball_on(CnBodyId body, double radius, double density, CnVec3 at) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId id;
  def.radius = radius;
  def.density = density;
  def.pose.position = at;
  CHECK_OK(cni_model_add_shape(&model, body, &def, &id));
  return id;
}

static void refused(CnBodyDef def, const char *word) {
  CnBodyId id = {7, 7};
  CHECK_STATUS(cni_model_add_body(&model, &def, &id), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), word) != NULL);
  CHECK(id.slot == 0 && id.generation == 0);
  CHECK(model.body_count == 0);
}

static void test_refused(void **state) {
  (void)state;
  CnBodyDef d = cn_body_def_default();
  d.tag = 0;
  refused(d, "tag");
  d = cn_body_def_default();
  d.size = 120;
  refused(d, "body: the definition is of another version of Cairn (size 120, expected ");
  d = cn_body_def_default();
  d.kind = (CnBodyKind)3;
  refused(d, "kind");
  d.kind = (CnBodyKind)-1;
  refused(d, "kind");
  d = cn_body_def_default();
  d.pose.position.y = (double)NAN;
  refused(d, "pose.position");
  d = cn_body_def_default();
  d.pose.rotation = (CnQuat){0, 0, 0, 0};
  refused(d, "pose.rotation");
  d.pose.rotation = (CnQuat){1, (double)INFINITY, 0, 0};
  refused(d, "pose.rotation");
  d = cn_body_def_default();
  d.twist.spin.z = (double)INFINITY;
  refused(d, "twist");
  d = cn_body_def_default();
  d.kind = CN_BODY_FIXED;
  d.twist.velocity.x = 1;
  refused(d, "fixed");
  d = solid();
  d.mass = -1;
  refused(d, "-1");
  d.mass = (double)NAN;
  refused(d, "mass");
  d = solid();
  d.com.rotation = (CnQuat){0, 0, 0, 0};
  refused(d, "com.rotation");
  d = solid();
  d.inertia.xy = (double)NAN;
  refused(d, "inertia");
  d = solid();
  d.inertia = cn_sdiag(1, 1, 0);
  refused(d, "positive definite");
  d.inertia = cn_sdiag(1, 1, -1e-3);
  refused(d, "positive definite");
  d.inertia = (CnSym3){1, 1, 1, 1, 0, 0};
  refused(d, "positive definite");
  d.inertia = cn_sdiag(1, 1, 2.001);
  refused(d, "2.001");
}

static void test_accepted_at_the_edge(void **state) {
  (void)state;
  CnBodyDef d = solid();
  d.inertia = cn_sdiag(0.333333, 0.333333, 0.666667); // a plate, six digits
  body_of(d);
  d.inertia = cn_sdiag(1e-9, 1, 1); // a rod
  body_of(d);
  d.pose.rotation = (CnQuat){0, 0, 0, 1e-250}; // a direction is a direction
  CnBodyId id = body_of(d);
  int32_t i;
  CHECK_OK(cni_model_find_body(&model, id, &i));
  CHECK_NEAR(cni_model_body_pose(&model, i).rotation.z, 1, 1e-15);
  d.pose.rotation = (CnQuat){3e200, 4e200, 0, 0};
  id = body_of(d);
  CHECK_OK(cni_model_find_body(&model, id, &i));
  CHECK_NEAR(cni_model_body_pose(&model, i).rotation.x, 0.8, 1e-15);
}

// Inertia given in turned axes: the principal values come out and the tensor in the world is the
// one that was given.
static void test_principal_axes(void **state) {
  (void)state;
  CnQuat turn = cn_qunit((CnQuat){1, 0.3, -0.2, 0.5});
  CnBodyDef d = solid();
  d.inertia = cn_srotate(cn_qmat(turn), cn_vec3(1, 2, 2.5));
  d.com.position = cn_vec3(0.1, 0.2, 0.3);
  d.pose.rotation = cn_qunit((CnQuat){0.7, -0.1, 0.4, 0.2});
  d.pose.position = cn_vec3(5, -4, 3);
  CnBodyId id = body_of(d);
  int32_t i;
  CHECK_OK(cni_model_find_body(&model, id, &i));
  CHECK_VEC(cni_model_principal(&model, i), cn_vec3(1, 2, 2.5), 1e-14);
  CHECK(model.mass[i].inertia == CNI_TURNS_BY_AXIS && !cni_model_massless(&model, i));
  CnQuat whole = cn_qmul(d.pose.rotation, turn);
  CnSym3 expected = cn_srotate(cn_qmat(whole), cn_vec3(1, 2, 2.5));
  CnSym3 got = cni_model_inertia(&model, i, model.pose[i].rotation);
  CHECK_NEAR(got.xx, expected.xx, 1e-13);
  CHECK_NEAR(got.yy, expected.yy, 1e-13);
  CHECK_NEAR(got.zz, expected.zz, 1e-13);
  CHECK_NEAR(got.xy, expected.xy, 1e-13);
  CHECK_NEAR(got.xz, expected.xz, 1e-13);
  CHECK_NEAR(got.yz, expected.yz, 1e-13);
  CnSym3 inverse = cni_model_inv_inertia(&model, i, model.pose[i].rotation);
  CnVec3 x = cn_vec3(0.3, -0.7, 0.2);
  CHECK_VEC(cn_smul(inverse, cn_smul(got, x)), x, 1e-13);
  CHECK_VEC(model.pose[i].position, cn_pose_point(d.pose, d.com.position), 1e-14);
  CHECK_VEC(cni_model_body_pose(&model, i).position, d.pose.position, 1e-14);
}

static void test_isotropic(void **state) {
  (void)state;
  CnBodyDef d = cn_body_def_default();
  CnBodyId id = body_of(d);
  CnShapeDef cube = cn_shape_def_default(CN_SHAPE_BOX);
  CnShapeId shape;
  cube.half_size = cn_vec3(0.1, 0.1, 0.1);
  cube.pose.rotation = cn_qunit((CnQuat){1, 0.2, 0.7, -0.3});
  CHECK_OK(cni_model_add_shape(&model, id, &cube, &shape));
  const CniBodyMass *m = &model.mass[0];
  CHECK(m->inertia > 0);
  CHECK_REL(m->mass, 8, 1e-14);
  CHECK_REL(m->inertia, 8 * 0.04 / 6, 1e-13);
  CnQuat one = cni_body_com(&model.bodies[0]).rotation;
  CHECK(one.w == 1 && one.x == 0 && one.y == 0 && one.z == 0);
  CnSym3 j = cni_model_inertia(&model, 0, cn_qunit((CnQuat){1, 2, 3, 4}));
  CHECK(j.xx == j.yy && j.yy == j.zz && j.xy == 0 && j.xz == 0 && j.yz == 0);
  // a box a little off is not a cube
  CHECK_OK(cni_model_remove_shape(&model, shape));
  cube.half_size.z = 0.1 * (1 + 1e-9);
  CHECK_OK(cni_model_add_shape(&model, id, &cube, &shape));
  CHECK(model.mass[0].inertia == CNI_TURNS_BY_AXIS);
}

// A box in its own axes keeps them: no sorting of the inertias.
static void test_box_keeps_axes(void **state) {
  (void)state;
  CnBodyId id = body_of(cn_body_def_default());
  CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
  CnShapeId shape;
  box.half_size = cn_vec3(0.3, 0.2, 0.1);
  box.density = 500;
  CHECK_OK(cni_model_add_shape(&model, id, &box, &shape));
  double m = 500 * 0.6 * 0.4 * 0.2;
  CHECK_REL(model.mass[0].mass, m, 1e-14);
  CHECK_REL(cni_model_principal(&model, 0).x, m * (0.16 + 0.04) / 12, 1e-14);
  CHECK_REL(cni_model_principal(&model, 0).y, m * (0.36 + 0.04) / 12, 1e-14);
  CHECK_REL(cni_model_principal(&model, 0).z, m * (0.36 + 0.16) / 12, 1e-14);
  CHECK(cni_body_com(&model.bodies[0]).rotation.w == 1);
}

// Two equal balls on a turning, moving body: the centre of mass lies midway, inertia by Steiner,
// and the body frame keeps pose and velocity while balls come and go.
static void test_centre_of_mass_moves(void **state) {
  (void)state;
  CnBodyDef d = cn_body_def_default();
  d.pose = (CnPose){{1, 2, 3}, cn_qunit((CnQuat){1, 0.5, -0.5, 0.25})};
  d.twist = (CnTwist){{0.5, -1, 2}, {3, -2, 1}};
  CnBodyId id = body_of(d);
  CHECK(cni_model_massless(&model, 0));
  double r = 0.1, m = 1000 * 4 * 3.14159265358979323846 / 3 * r * r * r;
  CnShapeId first = ball_on(id, r, 1000, cn_vec3(1, 0, 0));
  CHECK(!cni_model_massless(&model, 0) && model.mass[0].inertia > 0);
  ball_on(id, r, 1000, cn_vec3(-1, 2, 0));
  CHECK_REL(model.mass[0].mass, 2 * m, 1e-13);
  CHECK_VEC(cni_body_com(&model.bodies[0]).position, cn_vec3(0, 1, 0), 1e-14);
  // half the distance between the balls is sqrt 2
  double own = 2 * 0.4 * m * r * r;
  CHECK_REL(cni_model_principal(&model, 0).x, own, 1e-10);
  CHECK_REL(cni_model_principal(&model, 0).y, own + 2 * m * 2, 1e-12);
  CHECK_REL(cni_model_principal(&model, 0).z, own + 2 * m * 2, 1e-12);
  CHECK_REL(cni_inv_mass(&model.mass[0]), 1 / (2 * m), 1e-13);

  // the state at the centre of mass, from the frame by rigid motion
  CnVec3 arm = cn_rotate(d.pose.rotation, cn_vec3(0, 1, 0));
  CHECK_VEC(model.pose[0].position, cn_add(d.pose.position, arm), 1e-13);
  CHECK_VEC(model.twist[0].velocity, cn_add(d.twist.velocity, cn_cross(d.twist.spin, arm)), 1e-13);
  CHECK_VEC(cni_model_body_pose(&model, 0).position, d.pose.position, 1e-13);
  CHECK_VEC(cni_model_body_twist(&model, 0).velocity, d.twist.velocity, 1e-13);
  CnPose frame = cni_model_body_pose(&model, 0);
  CHECK_VEC(cn_rotate(frame.rotation, cn_vec3(1, 2, 3)),
            cn_rotate(d.pose.rotation, cn_vec3(1, 2, 3)), 1e-13);
  CniPlaced placed = cni_model_placed(&model, 0, &model.pose[0]);
  CHECK_VEC(placed.pose.position, cn_pose_point(d.pose, cn_vec3(1, 0, 0)), 1e-13);

  CHECK_OK(cni_model_remove_shape(&model, first));
  CHECK_VEC(cni_body_com(&model.bodies[0]).position, cn_vec3(-1, 2, 0), 1e-14);
  CHECK_VEC(cni_model_body_pose(&model, 0).position, d.pose.position, 1e-13);
  CHECK_VEC(cni_model_body_twist(&model, 0).velocity, d.twist.velocity, 1e-13);
}

// A load is a force and a torque about the centre of mass: when that moves, the torque about a
// fixed point must not.
static void test_load_follows(void **state) {
  (void)state;
  CnBodyId id = body_of(cn_body_def_default());
  ball_on(id, 0.1, 1000, cn_vec3(1, 0, 0));
  CHECK_OK(cni_model_loads(&model));
  model.load[0] = (CnTwist){{0, 0, 6}, {0, 0, 0}}; // through (1, 0, 0)
  ball_on(id, 0.1, 1000, cn_vec3(-1, 0, 0));
  CHECK_VEC(model.load[0].velocity, cn_vec3(0, 0, 6), 0);
  CHECK_VEC(model.load[0].spin, cn_vec3(0, -6, 0), 1e-13); // (1,0,0) x (0,0,6)
}

// Pose and twist survive a round trip bit by bit where the frames coincide.
static void test_set_pose(void **state) {
  (void)state;
  CnBodyDef d = cn_body_def_default();
  d.pose.rotation = cn_qunit((CnQuat){1, 0.5, -0.5, 0.25});
  CnBodyId id = body_of(d);
  ball_on(id, 0.1, 1000, CN_VEC3_ZERO);
  CnPose before = model.pose[0], pose = cni_model_body_pose(&model, 0);
  cni_model_set_body_pose(&model, 0, &pose);
  assert_memory_equal(&before, &model.pose[0], sizeof before);

  ball_on(id, 0.2, 1000, cn_vec3(0.5, 0, 0));
  CnTwist twist = {{1, 2, 3}, {-1, 0.5, 2}};
  cni_model_set_body_twist(&model, 0, &twist);
  pose = (CnPose){{9, 8, 7}, cn_qunit((CnQuat){0.1, 0.9, 0.3, 0.2})};
  cni_model_set_body_pose(&model, 0, &pose);
  CHECK_VEC(cni_model_body_pose(&model, 0).position, pose.position, 1e-14);
  CHECK_VEC(cni_model_body_twist(&model, 0).velocity, twist.velocity, 1e-14);
  CHECK_VEC(cni_model_body_twist(&model, 0).spin, twist.spin, 0);
}

// A kinematic body is prescribed at its own frame, wherever its shapes are.
static void test_kinematic_frame(void **state) {
  (void)state;
  CnBodyDef d = cn_body_def_default();
  d.kind = CN_BODY_KINEMATIC;
  d.twist.spin.z = 1;
  CnBodyId id = body_of(d);
  ball_on(id, 0.1, 1000, cn_vec3(1, 0, 0));
  CHECK(cni_inv_mass(&model.mass[0]) == 0 && cni_model_inv_inertia(&model, 0, CN_QUAT_ONE).xx == 0);
  CHECK(model.mass[0].mass > 0 && !cni_model_massless(&model, 0));
  CHECK_VEC(model.pose[0].position, CN_VEC3_ZERO, 0);
  CHECK_VEC(model.twist[0].velocity, CN_VEC3_ZERO, 0);
}

static void test_massless(void **state) {
  (void)state;
  CnBodyId id = body_of(cn_body_def_default());
  ball_on(id, 0.1, 0, cn_vec3(1, 0, 0));
  CHECK(cni_model_massless(&model, 0) && cni_inv_mass(&model.mass[0]) == 0);
  CnShapeDef huge = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId shape;
  huge.radius = 1e150;
  CHECK_STATUS(cni_model_add_shape(&model, id, &huge, &shape), CN_INVALID_ARGUMENT);
  CHECK(model.shape_count == 1);
}

static void test_names(void **state) {
  (void)state;
  char label[CNI_NAME_SIZE + 16];
  CnBodyDef d = cn_body_def_default();
  body_of(d);
  d.name = "crate";
  body_of(d);
  // 46 letters, then a two-byte character that does not fit whole
  d.name = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst\xc3\xa9z";
  body_of(d);
  cni_model_body_label(&model, 0, label);
  assert_string_equal(label, "body 1");
  cni_model_body_label(&model, 1, label);
  assert_string_equal(label, "body 'crate'");
  CHECK(strlen(cni_body_name(&model.bodies[2])) == 46);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_refused, start, stop),
      cmocka_unit_test_setup_teardown(test_accepted_at_the_edge, start, stop),
      cmocka_unit_test_setup_teardown(test_principal_axes, start, stop),
      cmocka_unit_test_setup_teardown(test_isotropic, start, stop),
      cmocka_unit_test_setup_teardown(test_box_keeps_axes, start, stop),
      cmocka_unit_test_setup_teardown(test_centre_of_mass_moves, start, stop),
      cmocka_unit_test_setup_teardown(test_load_follows, start, stop),
      cmocka_unit_test_setup_teardown(test_set_pose, start, stop),
      cmocka_unit_test_setup_teardown(test_kinematic_frame, start, stop),
      cmocka_unit_test_setup_teardown(test_massless, start, stop),
      cmocka_unit_test_setup_teardown(test_names, start, stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
