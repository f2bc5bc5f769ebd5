// SPDX-License-Identifier: Apache-2.0
// What the kinds of joints share: the fields of CnJointDef that a kind may list.
#ifndef CNI_JOINT_PRIVATE_H
#define CNI_JOINT_PRIVATE_H

#include "joint/joint.h"

#define CNI_JOINT_FIELD(field, unit_text, text)                                                    \
  {                                                                                                \
    .name = #field, .type = CNI_FIELD_REAL, .range = CNI_NOT_NEGATIVE,                             \
    .offset = offsetof(CnJointDef, field), .unit = unit_text, .sentence = text                     \
  }
#define CNI_JOINT_DISTANCE                                                                         \
  CNI_JOINT_FIELD(distance, "m", "what the origins keep; 0: the distance at creation")
#define CNI_JOINT_STIFFNESS CNI_JOINT_FIELD(stiffness, "N/m", "0 is rigid")
#define CNI_JOINT_DAMPING CNI_JOINT_FIELD(damping, "N s/m", "of a joint that is not rigid")
#define CNI_JOINT_LEAD                                                                             \
  {                                                                                                \
    .name = "lead", .type = CNI_FIELD_REAL, .range = CNI_ANY,                                      \
    .offset = offsetof(CnJointDef, lead), .unit = "m",                                             \
    .sentence = "travel of a whole turn; negative: a left-handed thread"                           \
  }

#define CNI_JOINT_CURVE(field, text)                                                               \
  {                                                                                                \
    .name = #field, .type = CNI_FIELD_BITS, .offset = offsetof(CnJointDef, field), .unit = "",     \
    .sentence = text, .words = cni_joint_curve_words                                               \
  }
#define CNI_JOINT_ONE_SIDED                                                                        \
  CNI_FIELD(FLAG, CnJointDef, one_sided, ANY, "", "a cam, which only pushes; otherwise a groove",  \
            .fallback = {0})
#define CNI_JOINT_SIDE                                                                             \
  CNI_FIELD(CHOICE, CnJointDef, side, ANY, "", "of the curve where the follower is",               \
            .words = cni_joint_sides)
#define CNI_JOINT_RADIUS CNI_JOINT_FIELD(radius, "m", "of the follower's roller")
extern const char *const cni_joint_curve_words[], *const cni_joint_sides[];

// ---- curves ----

// The side of a joint that is to take it from where things are (found: 1 left, -1 right, 0 neither), and
// zero below the gap of a one-sided one.
CnStatus cni_joint_fit_side(double found, CnJointDef *def);
static inline double cni_joint_side(const CnJointDef *def) {
  return def->side == CN_SIDE_RIGHT ? -1 : 1;
}

// The present distance for a joint that was given none.
CnStatus cni_joint_fit_distance(const CniJointSight *sight, CnJointDef *def);

#endif
