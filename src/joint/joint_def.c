// SPDX-License-Identifier: Apache-2.0
// Definitions of joints: defaults and checks, from the fields of the kind and of its coordinates.
#include <stdio.h>

#include "core/error.h"
#include "joint/joint_private.h"

#define FIELD(field, limits, standard, unit_text, text)                                            \
  {                                                                                                \
    .name = #field, .type = CNI_FIELD_REAL, .range = limits,                                       \
    .offset = offsetof(CnJointAxis, field), .fallback = {standard}, .unit = unit_text,             \
    .sentence = text                                                                               \
  }

static const char *const drives[] = {"speed", "position", "effort", NULL};

const CniField cni_joint_axis_fields[] = {
    FIELD(lower, CNI_BOUND, -INFINITY, "m or rad", "lower limit"),
    FIELD(upper, CNI_BOUND, INFINITY, "m or rad", "upper limit"),
    FIELD(motor_speed, CNI_ANY, 0, "m/s or rad/s", "what the motor wants"),
    FIELD(motor_effort, CNI_BOUND, 0, "N or N m", "what the motor can give; 0: there is none"),
    FIELD(friction, CNI_NOT_NEGATIVE, 0, "N or N m", "dry friction"),
    FIELD(stiffness, CNI_NOT_NEGATIVE, 0, "N/m or N m/rad", "of a spring about `rest`"),
    FIELD(damping, CNI_NOT_NEGATIVE, 0, "N s/m or N m s/rad", "of a damper"),
    FIELD(rest, CNI_ANY, 0, "m or rad", "where the spring is free"),
    CNI_FIELD(CHOICE, CnJointAxis, drive, ANY, "", "what the motor keeps", .words = drives),
    {.name = "motor_function",
     .type = CNI_FIELD_BITS,
     .offset = offsetof(CnJointAxis, motor_function), // its slot comes first
     .unit = "",
     .sentence = "function of time that is its target"},
    FIELD(motor_position, CNI_ANY, 0, "m or rad", "what a motor that keeps a position wants"),
    FIELD(motor_stiffness, CNI_NOT_NEGATIVE, 0, "N/m or N m/rad", "of a motor that is a servo"),
    FIELD(motor_damping, CNI_NOT_NEGATIVE, 0, "N s/m or N m s/rad", "of a motor that is a servo"),
    FIELD(restitution, CNI_SHARE, 0, "", "of the limits"),
    FIELD(limit_stiffness, CNI_NOT_NEGATIVE, 0, "N/m or N m/rad", "of limits that are soft"),
    FIELD(limit_damping, CNI_NOT_NEGATIVE, 0, "N s/m or N m s/rad", "of limits that are soft"),
    FIELD(friction_coefficient, CNI_NOT_NEGATIVE, 0, "",
          "dry friction in proportion to the joint's own reaction"),
    FIELD(friction_radius, CNI_NOT_NEGATIVE, 0, "m", "at which that acts if it turns"),
    FIELD(armature, CNI_NOT_NEGATIVE, 0, "kg or kg m2", "inertia of a motor, seen here"),
    FIELD(near, CNI_ANY, 0, "rad", "whole turns of an angle at the start: nearest to this"),
    CNI_FIELDS_END};

static const char *kind_name(int32_t index) { return cn_joint_kind_name((CnJointKind)index); }

const CniField cni_joint_fields[] = {
    CNI_FIELD(CHOICE, CnJointDef, kind, ANY, "", "what it is", .table = kind_name),
    CNI_FIELD(POSE, CnJointDef, frame_a, ANY, "m", "in the frame of body a"),
    CNI_FIELD(POSE, CnJointDef, frame_b, ANY, "m", "in the frame of body b, or in the world"),
    CNI_FIELDS_END};

const char *const cni_joint_curve_words[] = {"curve", NULL}; // what such a field refers to
const char *const cni_joint_sides[] = {"present", "left", "right", NULL};

// Every field that some kind reads.
static const CniField all_fields[] = {CNI_JOINT_DISTANCE,
                                      CNI_JOINT_STIFFNESS,
                                      CNI_JOINT_DAMPING,
                                      CNI_JOINT_LEAD,
                                      CNI_JOINT_CURVE(curve_a, ""),
                                      CNI_JOINT_CURVE(curve_b, ""),
                                      CNI_JOINT_ONE_SIDED,
                                      CNI_JOINT_SIDE,
                                      CNI_JOINT_RADIUS,
                                      CNI_FIELDS_END};

CnJointDef cn_joint_def_default(CnJointKind kind) {
  CnJointDef def = {.size = sizeof def, .tag = CNI_TAG_JOINT};
  cni_fields_default(cni_joint_fields, &def);
  cni_fields_default(all_fields, &def);
  def.kind = kind;
  for (int32_t i = 0; i < CN_JOINT_AXES; i++)
    cni_fields_default(cni_joint_axis_fields, &def.axes[i]);
  return def;
}

static CnStatus check_axis(const CniCoordinate *coordinate, CnJointAxis *axis) {
  char sort[64];
  snprintf(sort, sizeof sort, "joint: %s", coordinate->name);
  CNI_TRY(cni_fields_check(cni_joint_axis_fields, sort, axis));
  if (axis->drive == CN_DRIVE_EFFORT && !isfinite(axis->motor_effort))
    return cni_invalid("%s: motor_effort must be finite (got %g)", sort, axis->motor_effort);
  if (axis->drive != CN_DRIVE_EFFORT && !(axis->motor_effort >= 0))
    return cni_invalid("%s: motor_effort must not be negative (got %g)", sort, axis->motor_effort);
  if (axis->friction_coefficient > 0 && !(axis->friction_radius > 0) && coordinate->unit[0] == 'r')
    return cni_invalid("%s: friction_radius must be positive for friction_coefficient to act on an "
                       "angle (got %g)",
                       sort, axis->friction_radius);
  if (axis->near != 0 && coordinate->unit[0] != 'r')
    return cni_invalid("%s: near is for angles, whose whole turns are counted (got %g)", sort,
                       axis->near);
  if (axis->lower > axis->upper || axis->lower == INFINITY || axis->upper == -INFINITY)
    return cni_invalid("%s: no place between the limits (got lower %g, upper %g)", sort,
                       axis->lower, axis->upper);
  return CN_OK;
}

// What the kind does not read has to be as cn_joint_def_default left it; but a distance may be there,
// as it always could: it is not kept.
static CnStatus check_unread(CnJointDef *def, int32_t coordinates) {
  const CniJointKind *kind = cni_joint_kind(def->kind);
  CnJointDef standard = cn_joint_def_default(def->kind);
  if (!kind->fields || !cni_field_find(kind->fields, "distance")) def->distance = standard.distance;
  for (const CniField *f = all_fields; f->name; f++) {
    if (f == all_fields || (kind->fields && cni_field_find(kind->fields, f->name))) continue;
    const CniField one[2] = {*f, CNI_FIELDS_END};
    if (!cni_fields_equal(one, def, &standard))
      return cni_invalid("joint: %s has no %s", kind->name, f->name);
  }
  for (int32_t i = coordinates; i < CN_JOINT_AXES; i++)
    if (!cni_fields_equal(cni_joint_axis_fields, &def->axes[i], &standard.axes[i]))
      return cni_invalid("joint: axes[%d] is set, and %s has %d coordinates", (int)i, kind->name,
                         (int)coordinates);
  return CN_OK;
}

// Places of contact only tell where it is, and a gap that is locked is.
static CnStatus check_curve_axes(const CniJointKind *kind, const CnJointDef *def) {
  CnJointDef standard = cn_joint_def_default(def->kind);
  for (int32_t i = 0; kind->curves && kind->coordinates[i].name; i++) {
    int acts = kind->curves == 2 ? i > kind->gap : i < kind->gap;
    if (acts || (def->one_sided && i == kind->gap)) continue;
    if (!cni_fields_equal(cni_joint_axis_fields, &def->axes[i], &standard.axes[i]))
      return cni_invalid("joint: nothing can act on the %s of a %s%s", kind->coordinates[i].name,
                         kind->name, i == kind->gap ? " that is not one-sided" : "");
  }
  return CN_OK;
}

// It goes with the force of locked directions, or of a cam's gap; limits that leave no play are neither.
static CnStatus check_reaction(const CniJointKind *kind, const CnJointDef *def) {
  if (kind->locked_count > 0 || kind->curves > 0) return CN_OK;
  for (int32_t i = 0; i < cni_joint_coordinate_count(def->kind); i++)
    if (def->axes[i].friction_coefficient > 0)
      return cni_invalid(
          "joint: %s: friction_coefficient goes with the force of locked directions, "
          "and %s locks none, whatever its limits are: take a kind that does, or "
          "friction",
          kind->coordinates[i].name, kind->name);
  return CN_OK;
}

CnStatus cni_joint_def_check(CnJointDef *def) {
  CNI_TRY(cni_fields_check(cni_joint_fields, "joint", def));
  const CniJointKind *kind = cni_joint_kind(def->kind);
  int32_t coordinates = cni_joint_coordinate_count(def->kind);
  if (kind->fields) CNI_TRY(cni_fields_check(kind->fields, "joint", def));
  for (int32_t i = 0; i < coordinates; i++)
    CNI_TRY(check_axis(&kind->coordinates[i], &def->axes[i]));
  CNI_TRY(check_curve_axes(kind, def));
  CNI_TRY(check_reaction(kind, def));
  return check_unread(def, coordinates);
}
