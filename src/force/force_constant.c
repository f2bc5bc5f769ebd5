// SPDX-License-Identifier: Apache-2.0
// A force and a torque that stay as they are, on b at its frame: in the axes of the world, or turning
// with the frame (a thruster).
#include "force/force.h"

static void place(const CniForceSight *sight, CniForcePlace *p) {
  const CnForceDef *def = sight->def;
  CnQuat axes = def->body_fixed ? sight->at.at_b.rotation : CN_QUAT_ONE;
  p->force = cn_rotate(axes, def->force);
  p->torque = cn_rotate(axes, def->torque);
}

static const CniField fields[] = {
    CNI_FORCE_FIELD(VEC3, force, ANY, "N", "at the point"),
    CNI_FORCE_FIELD(VEC3, torque, ANY, "N m", "beside it"),
    CNI_FORCE_FIELD(FLAG, body_fixed, ANY, "",
                    "both turn with the body; default false: axes of the world"),
    CNI_FIELDS_END};

const CniForceKind cni_force_constant = {.name = "constant",
                                         .summary = "force and torque at a point of a body",
                                         .single = 1,
                                         .fields = fields,
                                         .place = place};
