// SPDX-License-Identifier: Apache-2.0
// Joint blocks: rows, right-hand sides, compliance, warm start.
#include "assembled.h"
#include "check.h"

static const CnTwist REST = {{0, 0, 0}, {0, 0, 0}};

static CnJointId join(Assembled *a, CnJointDef def, int32_t body_a, int32_t body_b) {
  CnJointId id;
  def.body_a = assembled_id(a, body_a);
  if (body_b >= 0) def.body_b = assembled_id(a, body_b);
  CHECK_OK(cni_model_add_joint(&a->model, &def, &id));
  return id;
}

// Two balls whose anchors are apart by (.01, .02, .03).
static void ball_rows(void **state) {
  (void)state;
  Assembled a;
  assembled_start(&a);
  double half = sqrt(0.5);
  int32_t one = assembled_ball(&a, 1, cn_vec3(0, 0, 0), REST);
  int32_t two = assembled_ball(&a, 1, cn_vec3(3.01, 0.02, 0.03), REST);
  a.model.pose[two].rotation = (CnQuat){half, 0, 0, half};
  CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
  def.frame_a.position = cn_vec3(1, 0, 0);
  def.frame_b.position = cn_vec3(0, 2, 0); // quarter turn about z: (-2, 0, 0) in the world
  join(&a, def, one, two);
  a.model.joints[0].impulse.locked[0] = 1;
  a.model.joints[0].impulse.locked[1] = -2;
  a.model.joints[0].impulse.locked[2] = 3;
  a.model.joints[0].impulse_step = 0.005;
  assembled_write(&a);

  CHECK(a.joint_block[0] == 0 && a.problem->block_count == 1 && a.problem->row_count == 3);
  const CniBlock *block = &a.problem->blocks[0];
  CHECK(block->kind == CN_BLOCK_BILATERAL && block->storage == CNI_PAIR && block->dim == 3);
  const CniPairBlock *pair = &a.problem->pairs[block->index];
  CHECK(pair->group_a == one && pair->group_b == two);
  CHECK_NEAR(pair->arm_a.x, 1, 1e-15);
  CHECK_NEAR(pair->arm_b.x, -2, 1e-15);
  CHECK_NEAR(pair->normal.x, 1, 0);
  CHECK_NEAR(pair->tangent.y, 1, 0);
  const double impulse[3] = {1, -2, 3};
  for (int r = 0; r < 3; r++) {
    CHECK_NEAR(a.problem->b[r], 0, 0); // errors of positions give no velocities
    CHECK_NEAR(a.answer.g[r], 2 * impulse[r], 1e-15);
  }
  CHECK_NEAR(a.problem->sets[block->set].compliance[0], 0, 0);
  assembled_end(&a);
}

// A distance joint to the ground, rigid and as a spring-damper.
static void distance_rows(void **state) {
  (void)state;
  Assembled a;
  assembled_start(&a);
  int32_t ball = assembled_ball(&a, 1, cn_vec3(0, 0, 0), REST);
  CnJointDef def = cn_joint_def_default(CN_JOINT_DISTANCE);
  def.frame_b.position = cn_vec3(0, 3, 4);
  def.distance = 4.9;
  join(&a, def, ball, -1);
  def.stiffness = 200;
  def.damping = 3;
  join(&a, def, ball, -1);
  assembled_write(&a);

  const CniBlock *rigid = &a.problem->blocks[a.joint_block[0]];
  const CniBlock *soft = &a.problem->blocks[a.joint_block[1]];
  const CniPairBlock *pair = &a.problem->pairs[rigid->index];
  CHECK(rigid->dim == 1 && soft->dim == 1 && rigid->set != soft->set);
  CHECK_NEAR(pair->normal.y, 0.6, 1e-15);
  CHECK_NEAR(pair->normal.z, 0.8, 1e-15);
  CHECK(pair->group_a == ball && pair->group_b == 1);
  CHECK_NEAR(a.problem->b[rigid->row], 0, 0);
  double both = 0.01 * 200 + 3;
  CHECK_NEAR(a.problem->sets[soft->set].compliance[0], 1 / (0.01 * both), 1e-12);
  CHECK_NEAR(a.problem->b[soft->row], 200 * 0.1 / both, 1e-12);
  assembled_end(&a);
}

// Coinciding ends have a direction all the same.
static void no_length(void **state) {
  (void)state;
  Assembled a;
  assembled_start(&a);
  int32_t ball = assembled_ball(&a, 1, cn_vec3(1, 2, 3), REST);
  CnJointDef def = cn_joint_def_default(CN_JOINT_DISTANCE);
  def.frame_b.position = cn_vec3(1, 2, 3);
  def.distance = 0.5;
  join(&a, def, ball, -1);
  assembled_write(&a);
  const CniPairBlock *pair = &a.problem->pairs[0];
  CHECK_NEAR(cn_norm(pair->normal), 1, 1e-15);
  CHECK_NEAR(cn_dot(pair->normal, pair->tangent), 0, 1e-15);
  CHECK_NEAR(a.problem->b[0], 0, 0);
  assembled_end(&a);
}

// A joint that nothing can feel has no block.
static void nothing_to_move(void **state) {
  (void)state;
  Assembled a;
  assembled_start(&a);
  int32_t ball = assembled_ball(&a, 1, cn_vec3(0, 0, 0), REST);
  join(&a, cn_joint_def_default(CN_JOINT_BALL), ball, -1);
  a.model.bodies[ball].kind = CN_BODY_KINEMATIC;
  assembled_write(&a);
  CHECK(a.joint_block[0] == a.joint_block[1] && a.problem->block_count == 0);
  assembled_end(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_rows),
      cmocka_unit_test(distance_rows),
      cmocka_unit_test(no_length),
      cmocka_unit_test(nothing_to_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
