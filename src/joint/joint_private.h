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

// The present distance for a joint that was given none.
CnStatus cni_joint_fit_distance(const CniJointSight *sight, CnJointDef *def);

#endif
