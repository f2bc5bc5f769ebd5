// SPDX-License-Identifier: Apache-2.0
// Groups: free motion of bodies of every kind, and the geometric stiffness of joints.
#include "assembled.h"
#include "check.h"

static const CnTwist REST = {{0, 0, 0}, {0, 0, 0}};

// Gravity and a force: v + h (g + f/m), and torque on a turned body: w + h I^-1 t.
static void free_motion(void **state) {
  (void)state;
  Assembled a;
  assembled_start(&a);
  // a quarter turn about z: the body's x axis is the world's y
  double half = sqrt(0.5);
  CnPose pose = {{1, 2, 3}, {half, 0, 0, half}};
  int32_t body = assembled_block(&a, cn_vec3(1, 2, 2.5), pose, (CnTwist){{1, 0, 0}, {0, 0, 0}});
  CHECK_OK(cni_model_loads(&a.model));
  a.model.load[body] = (CnTwist){{4, 0, 0}, {0.5, 0.5, 0}};
  assembled_write(&a);

  const CniGroup *g = &a.problem->groups[body];
  CHECK_NEAR(g->v.x, 1 + 0.01 * 4 / 2, 1e-15);
  CHECK_NEAR(g->v.z, -0.01 * 9.81, 1e-15);
  CHECK_NEAR(g->w.x, 0.01 * 0.5 / 2, 1e-15);
  CHECK_NEAR(g->w.y, 0.01 * 0.5 / 1, 1e-15);
  CnSym3 inverse = cni_group_inertia(a.problem, body);
  CHECK_NEAR(inverse.xx, 0.5, 1e-15);
  CHECK_NEAR(inverse.yy, 1, 1e-15);
  CHECK_NEAR(inverse.xy, 0, 1e-15);
  CHECK_NEAR(cni_group_old(a.problem, body).velocity.x, 1, 0);
  CHECK(cni_group_kind(g) == CNI_MASS_FULL);
  assembled_end(&a);
}

// The spin waits for the drift: torques act on the angular momentum of the start.
static void tumbling(void **state) {
  (void)state;
  Assembled a;
  assembled_start(&a);
  CnTwist twist = {{0, 0, 0}, {1, 2, 3}};
  int32_t body = assembled_block(&a, cn_vec3(1, 2, 2.5), CN_POSE_ONE, twist);
  int32_t ball = assembled_ball(&a, 1, cn_vec3(5, 0, 0), twist);
  assembled_write(&a);
  CHECK_NEAR(a.problem->groups[body].w.x, 1, 0);
  CHECK_NEAR(a.problem->groups[body].w.z, 3, 0);
  CHECK_NEAR(a.problem->groups[ball].w.x, 1, 0);
  CHECK(cni_group_kind(&a.problem->groups[ball]) == CNI_MASS_ISOTROPIC);
  assembled_end(&a);
}

// Prescribed motion is kept, fixed bodies do not move, the ground is the last group.
static void without_mass(void **state) {
  (void)state;
  Assembled a;
  assembled_start(&a);
  CnTwist twist = {{1, 2, 3}, {4, 5, 6}};
  int32_t belt = assembled_ground(&a, CN_BODY_KINEMATIC, twist);
  int32_t wall = assembled_ground(&a, CN_BODY_FIXED, REST);
  CHECK_OK(cni_model_loads(&a.model));
  a.model.load[belt].velocity = cn_vec3(100, 0, 0);
  assembled_write(&a);
  CHECK(a.problem->group_count == 3);
  for (int32_t i = 0; i < 3; i++) {
    CHECK(cni_group_kind(&a.problem->groups[i]) == CNI_MASS_NONE);
    CHECK(a.problem->groups[i].inv_mass == 0 && a.problem->groups[i].inv_inertia == 0);
  }
  CHECK_NEAR(a.problem->groups[belt].v.x, 1, 0);
  CHECK_NEAR(a.problem->groups[belt].v.z, 3, 0);
  CHECK_NEAR(a.problem->groups[belt].w.y, 5, 0);
  CHECK_NEAR(a.problem->groups[wall].v.x, 0, 0);
  CHECK_NEAR(a.problem->groups[2].v.z, 0, 0);
  assembled_end(&a);
}

// A ball of mass m and inertia J hangs from (0,0,L): the joint pulls it up with f, and turning it about x
// or y is harder by what h^2 f L is more than its inertia J + m L^2 about the joint. The momentum J w is not
// touched.
static void hang(Assembled *a, double force) {
  assembled_start(a);
  int32_t ball = assembled_ball(a, 1, CN_VEC3_ZERO, (CnTwist){{0, 0, 0}, {3, 0, 5}});
  CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
  def.body_a = assembled_id(a, ball);
  def.frame_a.position = cn_vec3(0, 0, 2);
  def.frame_b.position = cn_vec3(0, 0, 2);
  CnJointId id;
  CHECK_OK(cni_model_add_joint(&a->model, &def, &id));
  // the impulse is kept as that on b, here the ground
  a->model.joints[0].impulse.locked[2] = -force * 0.02;
  a->model.joints[0].impulse_step = 0.02;
  a->input.time_step = 0.1;
  assembled_write(a);
}

static void taut(void **state) {
  (void)state;
  Assembled a;
  hang(&a, 500);
  double j = 0.8, m = 2, k = 0.1 * 0.1 * 500 * 2 - m * 2 * 2;
  const CniGroup *g = &a.problem->groups[0];
  CnSym3 inverse = cni_group_inertia(a.problem, 0);
  CHECK_NEAR(inverse.xx, 1 / k, 1e-14);
  CHECK_NEAR(inverse.yy, 1 / k, 1e-14);
  CHECK_NEAR(inverse.zz, 1 / j, 1e-14);
  CHECK_NEAR(inverse.xy, 0, 1e-14);
  CHECK_NEAR(g->w.x, 3 * j / k, 1e-14);
  CHECK_NEAR(g->w.z, 5, 1e-14);
  CHECK_NEAR(cni_group_old(a.problem, 0).spin.x, 3, 0);
  CHECK(cni_group_kind(g) == CNI_MASS_FULL);
  assembled_end(&a);
}

// Compression is clipped away, a stiffness below the inertia changes nothing, and the option
// switches all of it off.
static void slack(void **state) {
  (void)state;
  Assembled a;
  hang(&a, -50);
  CHECK_NEAR(a.problem->groups[0].inv_inertia, 1 / 0.8, 1e-15);
  CHECK_NEAR(a.problem->groups[0].w.x, 3, 0);
  CHECK(cni_group_kind(&a.problem->groups[0]) == CNI_MASS_ISOTROPIC);
  assembled_end(&a);

  hang(&a, 400);
  CHECK_NEAR(a.problem->groups[0].w.x, 3, 0);
  assembled_end(&a);

  hang(&a, 500);
  a.input.geometric_stiffness = 0;
  assembled_write(&a);
  CHECK_NEAR(a.problem->groups[0].w.x, 3, 0);
  assembled_end(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_motion), cmocka_unit_test(tumbling), cmocka_unit_test(without_mass),
      cmocka_unit_test(taut),        cmocka_unit_test(slack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
