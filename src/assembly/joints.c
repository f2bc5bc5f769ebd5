// SPDX-License-Identifier: Apache-2.0
// Joints to bilateral blocks: the table of joint kinds and what they have in common.
//
// A joint is one pair block. Rigid: u = 0 with b = (kappa/h) c(q), which removes the share kappa of
// a position error in each step. With a stiffness k_s or a damping d it is an implicit
// spring-damper in the same rows:
//
//     C = 1/(h (h k_s + d)),   b = k_s c/(h k_s + d)
//
// for which u = E v + b + C g = 0 says g = -h (k_s (c + h E v) + d E v): the force at the end of
// the step. Exact in every solver family, stable for any stiffness.
#include "assembly/assembly_private.h"

#include "core/error.h"

#define CN_JOINT(KIND, name, dim) [CN_JOINT_##KIND] = {#name, dim, cni_joint_##name##_rows},
const CniJointKindRow cni_joint_kinds[CN_JOINT_KIND_COUNT] = {
#include "assembly/joint_list.inc"
};
#undef CN_JOINT

static CnVec3 anchor(const CnPose *pose, int32_t body, CnVec3 local, CnVec3 *arm) {
  *arm = body >= 0 ? cn_rotate(pose[body].rotation, local) : CN_VEC3_ZERO;
  return body >= 0 ? cn_add(pose[body].position, *arm) : local;
}

CnVec3 cni_joint_anchors(const CnPose *pose, const CniJoint *joint, CniJointRows *rows) {
  CnVec3 a = anchor(pose, joint->body_a, joint->local_a, &rows->arm_a);
  CnVec3 b = anchor(pose, joint->body_b, joint->local_b, &rows->arm_b);
  return cn_sub(b, a);
}

// The set of a joint and the factor from its position error to b.
static CnStatus joint_law(const CniAssemblyInput *in, const CniJoint *joint, CniSetTable *sets,
                          int32_t *set, double *factor) {
  double h = in->time_step, stiffness = joint->def.stiffness, damping = joint->def.damping;
  CnSet law = cn_set_default(CN_BLOCK_BILATERAL);
  *factor = in->stabilisation / h;
  if (stiffness > 0 || damping > 0) {
    double both = h * stiffness + damping;
    law.compliance[0] = 1 / (h * both);
    *factor = stiffness / both;
  }
  return cni_set_table_find(sets, &law, set);
}

CnStatus cni_assemble_joints(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                             int32_t *block_of) {
  int32_t ground = input->model->body_count;
  for (int32_t i = 0; i < input->model->joint_count; i++) {
    const CniJoint *joint = &input->model->joints[i];
    int32_t a = joint->body_a >= 0 ? joint->body_a : ground;
    int32_t b = joint->body_b >= 0 ? joint->body_b : ground;
    block_of[i] = -1;
    if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b]))
      continue;

    int32_t set;
    double factor;
    CNI_TRY(joint_law(input, joint, sets, &set, &factor));
    CniJointRows rows;
    cni_joint_kinds[joint->kind].rows(input->model, input->pose, joint, &rows);
    for (int32_t r = 0; r < rows.dim; r++)
      problem->b[problem->row_count + r] = factor * rows.error[r];

    int32_t index = problem->pair_count++;
    problem->pairs[index] = (CniPairBlock){.normal = rows.normal,
                                           .tangent = rows.tangent,
                                           .arm_a = rows.arm_a,
                                           .arm_b = rows.arm_b,
                                           .length = 1,
                                           .group_a = a,
                                           .group_b = b};
    block_of[i] = cni_append_block(problem, CNI_PAIR, index, problem->row_count, set, rows.dim);
    problem->row_count += rows.dim;
  }
  return CN_OK;
}

void cni_warm_start_joints(const CniAssemblyInput *input, const CnProblem *problem,
                           const int32_t *block_of, double *g) {
  for (int32_t i = 0; i < input->model->joint_count; i++) {
    const CniJoint *joint = &input->model->joints[i];
    if (block_of[i] < 0 || !(joint->impulse_step > 0)) continue;
    const CniBlock *block = &problem->blocks[block_of[i]];
    double scale = input->time_step / joint->impulse_step;
    for (int32_t r = 0; r < block->dim; r++) g[block->row + r] = scale * joint->impulse[r];
  }
}
