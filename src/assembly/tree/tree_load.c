// SPDX-License-Identifier: Apache-2.0
// What acts in the kick of a tree besides gravity and joints: loads, efforts of motors, and inertia that
// forces add; and the step problem's groups as the kick had them.
#include "assembly/tree/tree_private.h"

static CnSym3 inertia_of(const CniTreeBodies *b, int32_t lane) {
  CnSym3 inertia =
      cn_srotate(cn_qmat(cni_lane_quat(&b->rotation, lane)), cni_lane_vec(&b->inertia, lane));
  return b->stiff[lane] > 0 ? cn_sadd(inertia, cni_lane_sym(&b->added, lane)) : inertia;
}

// What is added to an inertia leaves its angular momentum as it is.
static CnTwist free_twist(const CniTreeBodies *b, int32_t lane, const CniTreeInput *in,
                          int32_t body) {
  CnTwist free = cni_lane_twist(&b->free, lane);
  CnMat3 axes = cn_qmat(cni_lane_quat(&b->rotation, lane));
  CnVec3 j = cni_lane_vec(&b->inertia, lane);
  if (in->model->load) {
    CnTwist load = in->model->load[body];
    CnVec3 turn = cn_mtmul(axes, load.spin);
    turn = cn_mmul(axes, cn_vec3(turn.x / j.x, turn.y / j.y, turn.z / j.z));
    free.velocity = cn_madd(free.velocity, in->time_step / b->mass[lane], load.velocity);
    free.spin = cn_madd(free.spin, in->time_step, turn);
  }
  if (!(b->stiff[lane] > 0)) return free;
  CnSym3 inertia = cn_srotate(axes, j);
  free.spin = cn_smul(cn_sinverse(inertia_of(b, lane)), cn_smul(inertia, free.spin));
  return free;
}

double cni_tree_effort(const CniTreeNode *node, const CniTreeInput *in) {
  const CnJointAxis *axis = &in->model->joints[node->joint].def.axes[0];
  if (!(node->acts & CNI_TREE_DRIVEN)) return 0;
  return in->time_step * cni_drive_effort(in->model, axis, in->time, in->time_step);
}

static void turn_by(CniTree *t, int32_t node, CnVec3 turn) {
  CniTreeBodies *b = &t->bodies[node / CNI_TREE_LANES];
  int32_t lane = node % CNI_TREE_LANES;
  CnVec3 more = cn_smul(cn_sinverse(inertia_of(b, lane)), turn);
  cni_lane_put(&b->free.spin, lane, cn_add(cni_lane_vec(&b->free.spin, lane), more));
}

void cni_tree_load(CniTree *t, const CniTreeInput *in, int32_t e) {
  CniTreeBodies *b = &t->bodies[e];
  for (int32_t lane = 0; lane < CNI_TREE_LANES; lane++) {
    int32_t i = CNI_TREE_LANES * e + lane;
    if (i < t->node_count && (in->model->load || b->stiff[lane] > 0))
      cni_lane_put_twist(&b->free, lane, free_twist(b, lane, in, t->nodes[i].body));
  }
}

void cni_tree_efforts(CniTree *t, const CniTreeInput *in) {
  for (int32_t i = 0; i < t->link_count; i++) { // on both bodies of a hinge
    const CniTreeNode *node = &t->nodes[i];
    double effort = cni_tree_effort(node, in);
    if (effort == 0) continue;
    CnVec3 turn = cn_scale(node->sign * effort, cni_tree_axis(t, i));
    turn_by(t, node->own, turn);
    if (node->parent >= 0) turn_by(t, node->parent, cn_neg(turn));
  }
}

void cni_tree_groups(const CniTree *t, CnProblem *problem) {
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
    int32_t group = t->nodes[i].body, lane = i % CNI_TREE_LANES;
    problem->groups[group].v = cni_lane_vec(&b->free.velocity, lane);
    problem->groups[group].w = cni_lane_vec(&b->free.spin, lane);
    if (!(b->stiff[lane] > 0)) continue;
    CnMat3 axes = cn_qmat(cni_lane_quat(&b->rotation, lane));
    CnSym3 own = cn_srotate(axes, cni_lane_vec(&b->inertia, lane));
    problem->groups[group].inv_inertia = CNI_INERTIA_FULL;
    problem->inertias[group] = cn_sinverse(cn_sadd(own, cni_lane_sym(&b->added, lane)));
  }
}
