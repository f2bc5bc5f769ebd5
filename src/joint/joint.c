// SPDX-License-Identifier: Apache-2.0
// The table of joint kinds and what all kinds have in common: frames in the world, rows, rates,
// curvature. Rows that turn are in joint_turn.c.
#include "joint/joint.h"

#include "core/math.h"

#define CN_JOINT(KIND, name) extern const CniJointKind cni_joint_##name;
#include <cairn/joint_list.h>
#undef CN_JOINT
#define CN_JOINT(KIND, name) [CN_JOINT_##KIND] = &cni_joint_##name,
const CniJointKind *const cni_joint_kinds[CN_JOINT_KIND_COUNT] = {
#include <cairn/joint_list.h>
};
#undef CN_JOINT

// ---- the table, for people ----

const char *cn_joint_kind_name(CnJointKind kind) {
  return (int64_t)kind < cni_joint_kind_count() ? cni_joint_kind(kind)->name : NULL;
}

static const CniCoordinate *coordinate(CnJointKind kind, int32_t index) {
  static const CniCoordinate none = {NULL, NULL};
  if ((int64_t)kind >= cni_joint_kind_count() || index < 0) return &none;
  return index < cni_joint_coordinate_count(kind) ? &cni_joint_kind(kind)->coordinates[index]
                                                  : &none;
}

const char *cn_joint_coordinate_name(CnJointKind kind, int32_t index) {
  return coordinate(kind, index)->name;
}

const char *cn_joint_coordinate_unit(CnJointKind kind, int32_t index) {
  return coordinate(kind, index)->unit;
}

// ---- rows ----

void cni_joint_lock(CniJointPlace *place, CnVec3 linear, double value) {
  place->locked[place->locked_count++] = (CniJointRow){.linear = linear, .value = value};
}

void cni_joint_free(CniJointPlace *place, CnVec3 linear, double value) {
  place->axes[place->axis_count++] = (CniJointRow){.linear = linear, .value = value};
}

CniJointSlide cni_joint_slide(const CniJointSight *sight, CniJointPlace *place) {
  CnVec3 d = cn_sub(sight->at_b.position, sight->at_a.position);
  place->arm_a = cn_add(sight->arm_a, d);
  return (CniJointSlide){d, cn_qmat(sight->at_a.rotation)};
}

void cni_joint_lock_along(CniJointPlace *place, const CniJointSlide *slide, int32_t axes) {
  const CnVec3 axis[3] = {slide->axes.x, slide->axes.y, slide->axes.z};
  for (int32_t i = 0; i < 3; i++)
    if (axes & (1 << i)) cni_joint_lock(place, axis[i], cn_dot(axis[i], slide->d));
}

void cni_joint_free_along(CniJointPlace *place, const CniJointSlide *slide, int32_t axes) {
  const CnVec3 axis[3] = {slide->axes.x, slide->axes.y, slide->axes.z};
  for (int32_t i = 0; i < 3; i++)
    if (axes & (1 << i)) cni_joint_free(place, axis[i], cn_dot(axis[i], slide->d));
}

CniJointRow cni_joint_line(const CniJointSight *sight, double length) {
  CnVec3 line = cn_sub(sight->at_b.position, sight->at_a.position);
  return (CniJointRow){.linear = cn_unit_or(line, cn_vec3(1, 0, 0)),
                       .value = cn_norm(line) - length};
}

void cni_joint_lock_point(const CniJointSight *sight, CniJointPlace *place) {
  CnVec3 c = cn_sub(sight->at_b.position, sight->at_a.position);
  cni_joint_lock(place, cn_vec3(1, 0, 0), c.x);
  cni_joint_lock(place, cn_vec3(0, 1, 0), c.y);
  cni_joint_lock(place, cn_vec3(0, 0, 1), c.z);
}

CnVec3 cni_joint_bend(const CniJointPlace *place, const CnTwist *a, const CnTwist *b) {
  return cn_sub(cn_cross(b->spin, cn_cross(b->spin, place->arm_b)),
                cn_cross(a->spin, cn_cross(a->spin, place->arm_a)));
}

// e . d with e fixed in a: e'' . d + 2 e' . d' + e . d''.
double cni_joint_slide_curvature(const CniJointSight *sight, CnVec3 reach, CnVec3 e,
                                 const CnTwist *a, const CnTwist *b) {
  CniJointPlace own = {.arm_a = sight->arm_a, .arm_b = cn_add(sight->arm_b, reach)};
  CnVec3 d = cn_add(cn_sub(sight->at_b.position, sight->at_a.position), reach);
  CnVec3 u = cn_sub(cn_add(b->velocity, cn_cross(b->spin, own.arm_b)),
                    cn_add(a->velocity, cn_cross(a->spin, own.arm_a)));
  CnVec3 e1 = cn_cross(a->spin, e), e2 = cn_cross(a->spin, e1);
  return cn_dot(e2, d) + 2 * cn_dot(e1, u) + cn_dot(e, cni_joint_bend(&own, a, b));
}

double cni_joint_fixed_curvature(const CniJointSight *sight, const CniJointPlace *place,
                                 int32_t row, const CnTwist *a, const CnTwist *b) {
  if (!place->locked[row].turns)
    return cni_joint_slide_curvature(sight, CN_VEC3_ZERO, place->locked[row].linear, a, b);
  return cni_joint_tilt_curvature(sight, row - place->locked_count + 2, a, b);
}

// ---- any kind ----

CniJointSight cni_joint_sight(const CnJointDef *def, const CniJointEnd *a, const CniJointEnd *b) {
  CniJointSight sight = {.def = def, .curves = {a->curve, b->curve}, .along = {a->along, b->along}};
  sight.at_a = cni_joint_frame(a->ground ? NULL : &a->pose, &a->local, &sight.arm_a);
  sight.at_b = cni_joint_frame(b->ground ? NULL : &b->pose, &b->local, &sight.arm_b);
  sight.turn = cn_qmul(cn_qconj(sight.at_a.rotation), sight.at_b.rotation);
  return sight;
}

static void begin_place(const CniJointSight *sight, CniJointPlace *place) {
  place->arm_a = sight->arm_a;
  place->arm_b = sight->arm_b;
  place->locked_count = place->axis_count = 0;
}

void cni_joint_see(const CniJointSight *sight, CniJointPlace *place) {
  begin_place(sight, place);
  cni_joint_kind(sight->def->kind)->place(sight, place);
}

void cni_joint_see_locked(const CniJointSight *sight, CniJointPlace *place) {
  const CniJointKind *kind = cni_joint_kind(sight->def->kind);
  begin_place(sight, place);
  (kind->lock ? kind->lock : kind->place)(sight, place);
}

void cni_joint_see_free(const CniJointSight *sight, CniJointPlace *place) {
  const CniJointKind *kind = cni_joint_kind(sight->def->kind);
  begin_place(sight, place);
  (kind->free ? kind->free : kind->place)(sight, place);
}

void cni_joint_place(const CnJointDef *def, const CniJointEnd *a, const CniJointEnd *b,
                     CniJointPlace *place) {
  CniJointSight sight = cni_joint_sight(def, a, b);
  cni_joint_see(&sight, place);
}

void cni_joint_unroll(CniJointPlace *place, const double *near) {
  for (int32_t i = 0; i < place->axis_count; i++)
    if (place->axes[i].wraps == 1)
      place->axes[i].value = cni_joint_nearest(place->axes[i].value, near[i]);
}

double cni_joint_rate(const CniJointPlace *place, const CniJointRow *row, const CnTwist *a,
                      const CnTwist *b) {
  CnVec3 u = cn_sub(cn_add(b->velocity, cn_cross(b->spin, place->arm_b)),
                    cn_add(a->velocity, cn_cross(a->spin, place->arm_a)));
  return cn_dot(row->linear, u) + cn_dot(row->angular, cn_sub(b->spin, a->spin));
}

double cni_joint_spring(const CnJointAxis *axis, const CniJointPlace *place, const CniJointRow *row,
                        const CnTwist *a, const CnTwist *b) {
  double rate = cni_joint_rate(place, row, a, b);
  return -(axis->stiffness * (row->value - axis->rest) + axis->damping * rate);
}

// The rate of a row after both bodies have gone on for the time s.
static double rate_after(const CnJointDef *def, const CniJointEnd *a, const CniJointEnd *b,
                         int32_t row, double s) {
  CniJointEnd ends[2] = {*a, *b};
  for (int32_t i = 0; i < 2; i++) {
    if (ends[i].ground) ends[i].twist = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
    CnPose *pose = &ends[i].pose;
    pose->position = cn_madd(pose->position, s, ends[i].twist.velocity);
    pose->rotation = cn_qmul(cni_quat_exp(cn_scale(s, ends[i].twist.spin)), pose->rotation);
  }
  CniJointPlace place;
  cni_joint_place(def, &ends[0], &ends[1], &place);
  return cni_joint_rate(&place, cni_joint_row(&place, row), &ends[0].twist, &ends[1].twist);
}

// Central differences of fourth order; the step is a thousandth of a radian, or of a second.
double cni_joint_curvature_by_differences(const CnJointDef *def, const CniJointEnd *a,
                                          const CniJointEnd *b, int32_t row) {
  double spin = (a->ground ? 0 : cn_norm(a->twist.spin)) + (b->ground ? 0 : cn_norm(b->twist.spin));
  double s = 1e-3 / cn_max(1, spin);
  double near = rate_after(def, a, b, row, s) - rate_after(def, a, b, row, -s);
  double far = rate_after(def, a, b, row, 2 * s) - rate_after(def, a, b, row, -2 * s);
  return (8 * near - far) / (12 * s);
}

double cni_joint_curvature(const CnJointDef *def, const CniJointEnd *a, const CniJointEnd *b,
                           int32_t row) {
  const CniJointKind *kind = cni_joint_kind(def->kind);
  int32_t exact = row < CNI_JOINT_LOCKED || (kind->gap && row == CNI_JOINT_LOCKED + kind->gap);
  if (!kind->curvature || !exact) return cni_joint_curvature_by_differences(def, a, b, row);
  const CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  CniJointSight sight = cni_joint_sight(def, a, b);
  CniJointPlace place;
  cni_joint_see(&sight, &place);
  return kind->curvature(&sight, &place, row, a->ground ? &rest : &a->twist,
                         b->ground ? &rest : &b->twist);
}

CnQuat cni_joint_axes(CnVec3 axis) {
  CnMat3 m = {.z = cn_unit_or(axis, cn_vec3(0, 0, 1))};
  cni_tangents(m.z, &m.x, &m.y);
  return cni_quat_from_mat(m);
}

void cni_joint_errors(const CniJointPlace *place, double *error, double *turn_error) {
  double sum[2] = {0, 0};
  for (int32_t i = 0; i < place->locked_count; i++) {
    const CniJointRow *row = &place->locked[i];
    sum[row->turns] += row->value * row->value;
  }
  *error = sqrt(sum[0]);
  *turn_error = sqrt(sum[1]);
}
