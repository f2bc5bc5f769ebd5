// SPDX-License-Identifier: Apache-2.0
// Every kind of joint in the table: rows are the derivatives of what they correct, given curvatures
// are second derivatives, definitions refuse what the kind does not have.
#include "check.h"

#include <string.h>

#include "core/math.h"
#include "core/rng.h"
#include "joint/joint.h"

static CniRng rng;

static double uniform(double lo, double hi) { return cni_rng_range(&rng, lo, hi); }

static CnVec3 any(double size) {
  return cn_vec3(uniform(-size, size), uniform(-size, size), uniform(-size, size));
}

// An oval, and a circle beside it.
static CniCurve curves[2];
static CnAllocator heap;

static int make_curves(void **state) {
  static const double x[] = {0.9, 0.3, -0.8, -0.7, 0.3}, y[] = {0, 0.7, 0.4, -0.5, -0.6};
  static const double round_x[] = {0.3, -0.3}, round_y[] = {0.1, 0.1}, half[] = {1, 1};
  CnCurveDef oval = cn_curve_def_default(CN_CURVE_SPLINE);
  CnCurveDef circle = cn_curve_def_default(CN_CURVE_PATH);
  (void)state;
  heap = cn_allocator_default();
  oval.closed = circle.closed = 1;
  oval.point_count = 5;
  oval.x = x;
  oval.y = y;
  circle.point_count = 2;
  circle.x = round_x;
  circle.y = round_y;
  circle.bulges = half;
  CHECK_OK(cni_curve_make(&heap, &oval, &curves[0]));
  CHECK_OK(cni_curve_make(&heap, &circle, &curves[1]));
  return 0;
}

static int forget_curves(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) cni_curve_forget(&heap, &curves[i]);
  return 0;
}

static CniJointEnd any_end(double turn) {
  return (CniJointEnd){.along = NAN,
                       .pose = {any(1), cni_quat_exp(any(turn))},
                       .local = {any(1), cni_quat_exp(any(turn))},
                       .twist = {any(1), any(1)}};
}

static void lend_curves(CniJointEnd ends[2]) {
  for (int i = 0; i < 2; i++) ends[i].curve = &curves[i];
}

static CnJointDef any_def(CnJointKind kind) {
  CnJointDef def = cn_joint_def_default(kind);
  if (cni_joint_kinds[kind]->fit && !cni_joint_kinds[kind]->curves) def.distance = 0.7;
  if (cni_joint_kinds[kind]->curves) def.side = CN_SIDE_RIGHT;
  if (kind == CN_JOINT_SCREW) def.lead = 0.3;
  return def;
}

// Both bodies after the time s.
static void move(const CniJointEnd from[2], double s, CniJointEnd to[2]) {
  for (int i = 0; i < 2; i++) {
    to[i] = from[i];
    CnPose *pose = &to[i].pose;
    pose->position = cn_madd(pose->position, s, from[i].twist.velocity);
    pose->rotation = cn_qmul(cni_quat_exp(cn_scale(s, from[i].twist.spin)), pose->rotation);
  }
}

static void table_is_whole(void **state) {
  (void)state;
  for (int32_t i = 0; i < CN_JOINT_KIND_COUNT; i++) {
    const CniJointKind *kind = cni_joint_kinds[i];
    CHECK(kind && kind->name && kind->summary && kind->place);
    CHECK(strcmp(cn_joint_kind_name((CnJointKind)i), kind->name) == 0);
    CniJointEnd ends[2] = {any_end(1), any_end(1)};
    lend_curves(ends);
    CniJointPlace place;
    CnJointDef def = any_def((CnJointKind)i);
    CHECK_OK(cni_joint_def_check(&def));
    cni_joint_place(&def, &ends[0], &ends[1], &place);
    CHECK(place.locked_count == kind->locked_count);
    CHECK(place.axis_count == cni_joint_coordinate_count((CnJointKind)i));
    for (int32_t k = 0; k < place.axis_count; k++) {
      const char *unit = cn_joint_coordinate_unit((CnJointKind)i, k);
      CHECK(strcmp(unit, place.axes[k].turns ? "rad" : "m") == 0);
    }
    CHECK(!cn_joint_coordinate_name((CnJointKind)i, place.axis_count));
    if (!kind->point) continue;
    for (int32_t k = 0; k < place.locked_count; k++) {
      CHECK_NEAR(cn_norm(place.locked[k].linear), 1, 1e-15);
      CHECK(cn_norm(place.locked[k].angular) == 0);
    }
  }
  CHECK(!cn_joint_kind_name(CN_JOINT_KIND_COUNT));
}

static void rows_are_derivatives(void **state) {
  (void)state;
  int32_t rows = 0, seen = 0;
  for (int32_t trial = 0; trial < 200 * CN_JOINT_KIND_COUNT; trial++) {
    CnJointDef def = any_def((CnJointKind)(trial % CN_JOINT_KIND_COUNT));
    CniJointEnd ends[2] = {any_end(trial % 3 ? 1 : 1e-3), any_end(trial % 3 ? 1 : 1e-3)}, moved[2];
    lend_curves(ends);
    def.one_sided = cni_joint_kinds[def.kind]->curves > 0 && trial % 2;
    if (trial % 5 == 0) {
      ends[1].ground = 1;
      ends[1].twist = (CnTwist){{0, 0, 0}, {0, 0, 0}};
    }
    CniJointPlace place, near[4];
    cni_joint_place(&def, &ends[0], &ends[1], &place);
    // deep inside each other the nearest place of a curve jumps
    const CniJointKind *kind = cni_joint_kinds[def.kind];
    if (kind->curves && place.axes[kind->gap].value < -0.1) continue;
    const double s = 1e-5, shifts[4] = {-2 * s, -s, s, 2 * s};
    for (int32_t i = 0; i < 4; i++) {
      move(ends, shifts[i], moved);
      cni_joint_place(&def, &moved[0], &moved[1], &near[i]);
    }
    for (int32_t row = 0; row < CNI_JOINT_LOCKED + place.axis_count; row++) {
      if (row < CNI_JOINT_LOCKED && row >= place.locked_count) continue;
      double x[4];
      for (int32_t i = 0; i < 4; i++) x[i] = cni_joint_row(&near[i], row)->value;
      double slope = (x[2] - x[1]) / (2 * s), wide = (x[3] - x[0]) / (4 * s);
      rows++;
      // a whole turn lies between, or the tip of a cone is too near for differences
      if (fabs(slope) > 100 || fabs(slope - wide) > 3e-8) continue;
      seen++;
      double rate =
          cni_joint_rate(&place, cni_joint_row(&place, row), &ends[0].twist, &ends[1].twist);
      CHECK_NEAR(rate, slope, 1e-7);
      double bend = cni_joint_curvature_by_differences(&def, &ends[0], &ends[1], row);
      if (kind->curves) {
        // their own smaller steps: the third derivative of a spline jumps
        for (int32_t i = 0; i < 4; i++)
          x[i] = cni_joint_rate(&near[i], cni_joint_row(&near[i], row), &ends[0].twist,
                                &ends[1].twist);
        bend = (x[2] - x[1]) / (2 * s);
        if (fabs(bend - (x[3] - x[0]) / (4 * s)) > 1e-7) continue;
        if (row >= CNI_JOINT_LOCKED && row != CNI_JOINT_LOCKED + kind->gap) continue;
      }
      CHECK_NEAR(cni_joint_curvature(&def, &ends[0], &ends[1], row), bend, 1e-6);
    }
  }
  CHECK(seen > rows - rows / 50);
}

// Locked axes know the angle of every wrong assembly, half a turn included.
static void turns_the_short_way(void **state) {
  (void)state;
  for (int32_t i = 0; i <= 12; i++) {
    CnVec3 axis = cn_unit_or(any(1), cn_vec3(1, 0, 0));
    double angle = i * CNI_PI / 12;
    CnQuat turned = cni_quat_exp(cn_scale(angle, axis));
    CniJointSight sight = {.at_a = CN_POSE_ONE, .at_b = {CN_VEC3_ZERO, turned}, .turn = turned};
    CniJointPlace place = {.locked_count = 0};
    cni_joint_lock_turn(&sight, &place);
    double error, turn;
    cni_joint_errors(&place, &error, &turn);
    CHECK_NEAR(turn, angle, 1e-14);
    CHECK(error == 0);
    // a turn about the axis itself changes the error by what it turns
    CnTwist rest = {{0, 0, 0}, {0, 0, 0}}, spin = {{0, 0, 0}, axis};
    double sum = 0;
    for (int k = 0; k < 3; k++) {
      double rate = cni_joint_rate(&place, &place.locked[k], &rest, &spin);
      sum += rate * (k == 0 ? axis.x : k == 1 ? axis.y : axis.z);
    }
    CHECK_NEAR(fabs(sum), 1, 1e-14);
  }
}

static void refused(CnJointDef def, const char *word) {
  CHECK_STATUS(cni_joint_def_check(&def), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), word) != NULL);
}

static void definitions_are_checked(void **state) {
  (void)state;
  for (int32_t i = 0; i < CN_JOINT_KIND_COUNT; i++) {
    CnJointKind kind = (CnJointKind)i;
    CnJointDef def = cn_joint_def_default(kind);
    int32_t count = cni_joint_coordinate_count(kind);
    CHECK(def.axes[5].lower == -INFINITY && def.axes[5].upper == INFINITY);
    if (count < CN_JOINT_AXES) {
      def.axes[count].friction = 1;
      refused(def, "coordinates");
    }
    if (!cni_joint_kinds[i]->fields || !cni_field_find(cni_joint_kinds[i]->fields, "stiffness")) {
      def = cn_joint_def_default(kind);
      def.stiffness = 1;
      refused(def, "has no stiffness");
    }
    for (int32_t k = 0; k < count; k++) {
      def = cn_joint_def_default(kind);
      def.axes[k].friction = -1;
      refused(def, "friction");
      def = cn_joint_def_default(kind);
      def.axes[k].motor_effort = -1;
      refused(def, "motor_effort");
      def = cn_joint_def_default(kind);
      def.axes[k].lower = 1;
      def.axes[k].upper = 0;
      refused(def, "limits");
      def = cn_joint_def_default(kind);
      def.axes[k].rest = NAN;
      refused(def, "rest");
      def = cn_joint_def_default(kind);
      def.axes[k].motor_effort = INFINITY;
      def.one_sided = cni_joint_kinds[i]->curves > 0;
      if (cni_joint_kinds[i]->curves == 2 && k < 2) continue;
      CHECK_OK(cni_joint_def_check(&def));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_whole),
      cmocka_unit_test(rows_are_derivatives),
      cmocka_unit_test(turns_the_short_way),
      cmocka_unit_test(definitions_are_checked),
  };
  return cmocka_run_group_tests(tests, make_curves, forget_curves);
}
