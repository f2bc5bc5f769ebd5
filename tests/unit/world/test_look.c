// SPDX-License-Identifier: Apache-2.0
// A world as one who draws or judges it sees it: triangles, sizes, overlaps, targets of motors; settings by
// their names; names of kinds.
#include "check.h"
#include "toys.h"

#include <cairn/cairn.h>
#include <stdlib.h>
#include <string.h>

#include "core/vec.h"

// The volume that triangles enclose: a sixth of the sum of a . (b x c).
static double enclosed(const CnTriangles *t) {
  double sum = 0;
  for (int32_t i = 0; i < t->triangle_count; i++) {
    const int32_t *c = &t->corners[3 * i];
    sum += cn_dot(t->places[c[0]], cn_cross(t->places[c[1]], t->places[c[2]])) / 6;
  }
  return sum;
}

static void test_drawing(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.2, 0.3), CN_VEC3_ZERO, CN_QUAT_ONE);
  CnShapeDef round = cn_shape_def_default(CN_SHAPE_CYLINDER), def;
  CnShapeId box = cn_body_shape(w, b, 0), cylinder;
  round.radius = 0.5;
  round.half_length = 1;
  CHECK_OK(cn_shape_create(w, b, &round, &cylinder));
  CnVec3 size;
  CHECK_OK(cn_shape_def(w, box, &def));
  CHECK(cn_shape_drawing(&def, &size) == CN_DRAW_BOX && size.y == 0.2);
  CHECK(cn_shape_drawing(&round, &size) == CN_DRAW_TRIANGLES && size.x == 1);
  CHECK(cn_joint_drawing(CN_JOINT_DISTANCE) == CN_DRAW_JOINT_LINK);
  CHECK(cn_joint_drawing(CN_JOINT_REVOLUTE) == CN_DRAW_JOINT_AXIS);

  CnTriangles t = {0};
  CHECK_OK(cn_shape_triangles(w, box, 6, &t));
  CHECK(t.triangle_count == 12);
  static CnVec3 places[8000], normals[8000];
  static int32_t corners[3 * 16000];
  t = (CnTriangles){places, normals, corners, 8000, 16000, 0, 0};
  CHECK_OK(cn_shape_triangles(w, box, 6, &t));
  CHECK_NEAR(enclosed(&t), 8 * 0.1 * 0.2 * 0.3, 1e-15);
  CHECK_OK(cn_shape_triangles(w, cylinder, 16, &t));
  CHECK_REL(enclosed(&t), 3.14159265358979 * 0.25 * 2, 2e-3); // 64 sides: sin(x)/x
  t.place_capacity = 5;
  CHECK_STATUS(cn_shape_triangles(w, cylinder, 16, &t), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_shape_triangles(w, cylinder, 0, &t), CN_INVALID_ARGUMENT);

  CnShapeSize of;
  CHECK_OK(cn_shape_size(w, cylinder, &of));
  CHECK_NEAR(of.high.z, 1, 1e-12);
  CHECK_NEAR(of.low.x, -0.5, 1e-12);
  CHECK_NEAR(of.inradius, 0.5, 1e-12);
  CHECK_NEAR(of.outradius, sqrt(1.25), 1e-12);
  cn_world_destroy(w);
}

static void test_overlaps(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  CnMaterialId plain = toy_material(w, 0.5, 0);
  CnBodyId floor = toy_floor(w), ball = toy_ball(w, 1, cn_vec3(0, 0, 0.9), plain);
  CnBodyId other = toy_ball(w, 1, cn_vec3(0, 0, 2.6), plain);
  toy_ball(w, 1, cn_vec3(5, 0, 1.01), plain); // near the floor, but above it
  CnOverlap list[4];
  int32_t count;
  CHECK_OK(cn_world_overlap_pairs(w, list, 4, &count));
  CHECK(count == 2); // the deepest first
  CHECK_NEAR(list[0].depth, 0.3, 1e-12);
  CHECK_NEAR(list[1].depth, 0.1, 1e-12);
  CHECK(list[0].body_a.slot == ball.slot && list[0].body_b.slot == other.slot);
  CHECK(list[1].body_a.slot == floor.slot && list[1].body_b.slot == ball.slot);
  CHECK_OK(cn_world_overlap_pairs(w, NULL, 0, &count));
  CHECK(count == 2);
  CHECK_STATUS(cn_world_overlap_pairs(w, NULL, 3, &count), CN_INVALID_ARGUMENT);
  CHECK(cn_world_doubts(w) == 0);
  toy_steps(w, 1);
  CHECK(cn_world_doubts(w) >= 0 && cn_world_doubts(NULL) == 0);
  CHECK_OK(cn_world_check_meetings(w)); // impulse follows everything
  cn_world_destroy(w);
}

static void test_targets(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnFunctionDef ramp = cn_function_def_default(CN_FUNCTION_RAMP);
  CnJointId id;
  ramp.value = 1;
  ramp.rate = 3;
  hinge.body_b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), CN_VEC3_ZERO, CN_QUAT_ONE);
  hinge.axes[0].drive = CN_DRIVE_POSITION;
  hinge.axes[0].motor_effort = 10;
  CHECK_OK(cn_function_create(w, &ramp, &hinge.axes[0].motor_function));
  CHECK_OK(cn_joint_create(w, &hinge, &id));
  double target[3];
  CHECK_OK(cn_joint_target(w, id, 0, 2, target));
  CHECK(target[0] == 7 && target[1] == 3 && target[2] == 0);
  CHECK_STATUS(cn_joint_target(w, id, 1, 2, target), CN_INVALID_ARGUMENT);
  CnJointId all[2];
  int32_t count;
  CHECK_OK(cn_world_joints(w, all, 2, &count));
  CHECK(count == 1 && all[0].slot == id.slot);
  cn_world_destroy(w);
}

static void test_settings(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnSettingInfo info;
  CnSettingValue value;
  int32_t count = 0;
  for (; cn_setting_info(count, &info) == CN_OK; count++) {
    CHECK(cn_setting_find(info.name) == count && info.sentence[0]);
    CHECK_OK(cn_setting_get(&def, count, &value));
    CHECK((info.type == CN_SETTING_WORD) == (value.word != NULL));
    CHECK((info.type == CN_SETTING_WORD) == (cn_setting_word(count, 0) != NULL));
  }
  CHECK(count > 30 && cn_setting_find("nonsense") == -1);
  int32_t gravity = cn_setting_find("gravity"), step = cn_setting_find("time_step");
  CHECK_OK(cn_setting_set(&def, gravity, "0,1.5,-3"));
  CHECK(def.gravity.y == 1.5 && def.gravity.z == -3);
  CHECK_OK(cn_setting_set(&def, step, "2e-3"));
  CHECK(def.time_step == 2e-3);
  CHECK_OK(cn_setting_set(&def, cn_setting_find("solver.name"), "psor"));
  assert_string_equal(def.solver.name, "psor");
  CHECK_OK(cn_setting_set(&def, cn_setting_find("balance"), "true"));
  CHECK(def.balance == 1);
  CHECK_STATUS(cn_setting_set(&def, step, "-1"), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_setting_set(&def, step, "fast"), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_setting_set(&def, cn_setting_find("balance"), "maybe"), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_setting_set(&def, gravity, "1,2"), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_setting_set(&def, count, "1"), CN_INVALID_ARGUMENT);
  CHECK(def.time_step == 2e-3 && def.balance == 1 && def.gravity.y == 1.5);
  CHECK(cn_solver_tolerance(&def.solver) == def.solver.tolerance);
  def.solver = cn_solver_def_default("auto");
  CHECK(cn_solver_tolerance(&def.solver) == 1e-4); // of its effort
  CHECK(cn_integrator_traits("hem5") == (CN_INTEGRATOR_OWN_STEPS | CN_INTEGRATOR_EQUATIONS));
  CHECK(cn_integrator_traits("moreau-jean") == CN_INTEGRATOR_EQUATIONS);
  CHECK(cn_integrator_traits("impulse") == 0 && cn_integrator_traits("none") == 0);
}

static void test_names(void **state) {
  (void)state;
  assert_string_equal(cn_curve_kind_name(CN_CURVE_SPLINE), "spline");
  CHECK(!cn_curve_kind_name(CN_CURVE_KIND_COUNT));
  assert_string_equal(cn_event_kind_name(CN_EVENT_IMPACT), "impact");
  assert_string_equal(cn_balance_part_name(CN_BALANCE_GRAVITY), "gravity");
  CnWorld *w = toy_world(0.001);
  const double x[] = {0, 1, 1}, y[] = {0, 0, 1};
  CnCurveDef def = cn_curve_def_default(CN_CURVE_SPLINE), back;
  CnCurveId curve;
  def.x = x;
  def.y = y;
  def.point_count = 3;
  def.name = "groove";
  CHECK_OK(cn_curve_create(w, &def, &curve));
  CHECK_OK(cn_curve_def(w, curve, &back));
  CHECK(back.point_count == 3 && back.x[1] == 1 && strcmp(back.name, "groove") == 0);
  CHECK(cn_world_next_curve(w, (CnCurveId){0, 0}).slot == curve.slot);
  CHECK(cn_world_next_curve(w, curve).slot == 0);
  cn_world_destroy(w);
}

// Rows of a problem lead to their blocks, and these to their sets.
static void test_blocks(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  toy_floor(w);
  toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 0.1), CN_QUAT_ONE);
  toy_steps(w, 1);
  CnProblem *problem;
  CnProblemInfo info;
  CnProblemMatrices matrices;
  CHECK_OK(cn_world_problem(w, &problem, NULL));
  cn_problem_info(problem, &info);
  CHECK(info.block_count == 4 && info.row_count == 12);
  for (int32_t row = 0; row < info.row_count; row++) {
    int32_t block;
    CnBlock found;
    CnSet set;
    CHECK_OK(cn_problem_row_block(problem, row, &block));
    CHECK_OK(cn_problem_block(problem, block, &found));
    CHECK_OK(cn_problem_block_set(problem, block, &set));
    CHECK(found.row <= row && row < found.row + found.dim && found.kind == CN_BLOCK_FRICTION);
    CHECK(set.kind == found.kind && set.mu == 0.5);
  }
  CnBlock none;
  CHECK_STATUS(cn_problem_block(problem, 4, &none), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_matrices(problem, &matrices), CN_UNSUPPORTED);
  CnProblem *dense;
  CHECK_OK(cn_problem_to_explicit(problem, &dense));
  CHECK_OK(cn_problem_matrices(dense, &matrices));
  CHECK(matrices.w->row_count == 12 && matrices.q && !matrices.m);
  CnCertificate certificate;
  const CnAnswer *answer;
  CHECK_OK(cn_world_problem(w, &problem, &answer));
  CHECK_OK(cn_certify(problem, answer, &certificate));
  CHECK(cn_solve_error(problem, &certificate) == certificate.residual);
  cn_problem_destroy(dense);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_drawing), cmocka_unit_test(test_overlaps),
      cmocka_unit_test(test_targets), cmocka_unit_test(test_settings),
      cmocka_unit_test(test_names),   cmocka_unit_test(test_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
