// SPDX-License-Identifier: Apache-2.0
// Machines that a step without a problem may move: joints that do nothing but hold, and not too taut.
#include "assembly/assembly_private.h"

int cni_joints_calm(const CniAssemblyInput *input) {
  CniAssemblyInput in = *input;
  const CniModel *model = in.model;
  in.time_step = 2 * input->time_step;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CnJointDef *def = &model->joints[i].def;
    int32_t blocks, rows;
    cni_joint_count(def, &blocks, &rows);
    for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++)
      blocks -= def->axes[k].armature > 0; // drifts and kicks alike
    if (blocks > 1 || def->one_sided || def->stiffness > 0 || def->damping > 0 ||
        cni_joint_hold_count(def) > 0)
      return 0;
  }
  cni_see_joints(&in);
  for (int32_t i = 0; i < model->body_count; i++) {
    CnSym3 added;
    if (!cni_has_mass(&model->mass[i]) || model->bodies[i].first_joint < 0) continue;
    CnSym3 inertia = cni_model_inertia(model, i, in.pose[i].rotation);
    if (cni_joint_stiffness(&in, i, inertia, &added)) return 0;
  }
  return 1;
}
