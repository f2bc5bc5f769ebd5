// SPDX-License-Identifier: Apache-2.0
// Drag of still air on a body, at the origin of its frame b:
//
//     force -(c1 + c2 |v|) v,   torque -c3 w
//
// as dampers along the axes of the world, so that no drag is too strong for a step; in `impulse` the
// speed |v| is that at the start of the step.
#include "force/force.h"

static void place(const CniForceSight *sight, CniForcePlace *p) {
  const CnForceDef *def = sight->def;
  const CnVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double along = def->linear_drag + def->quadratic_drag * cn_norm(sight->velocity);
  for (int32_t i = 0; i < 3; i++) cni_force_row(p, (CniJointRow){.linear = axes[i]}, 0, along);
  for (int32_t i = 0; i < 3; i++)
    cni_force_row(p, (CniJointRow){.angular = axes[i], .turns = 1}, 0, def->angular_drag);
}

static const CniField fields[] = {
    CNI_FORCE_FIELD(REAL, linear_drag, NOT_NEGATIVE, "N s/m", "force over speed"),
    CNI_FORCE_FIELD(REAL, quadratic_drag, NOT_NEGATIVE, "N s2/m2", "force over speed squared"),
    CNI_FORCE_FIELD(REAL, angular_drag, NOT_NEGATIVE, "N m s", "torque over spin"), CNI_FIELDS_END};

const CniForceKind cni_force_drag = {.name = "drag",
                                     .summary = "still air against a body that moves",
                                     .row_count = 6,
                                     .single = 1,
                                     .fields = fields,
                                     .place = place};
