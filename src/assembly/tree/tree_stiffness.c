// SPDX-License-Identifier: Apache-2.0
// Geometric stiffness of a tree's joints, as groups.c has it: inertia J becomes J + (h^2 K - J)+ where
// forces at a body's joints hold it against turning faster than the step resolves.
#include "assembly/tree/tree_private.h"

// The force of the last step's kick on a joint's b over its time.
static CnVec3 last_force(const CniTree *t, const CniTreeInput *in, int32_t i) {
  const CniJoint *joint = &in->model->joints[t->nodes[i].joint];
  const double *g = joint->impulse.locked;
  if (!(joint->impulse_step > 0)) return CN_VEC3_ZERO;
  CnVec3 f = {g[0], g[1], g[2]};
  if (t->nodes[i].hinge) { // along the axes of a
    CnQuat a = joint->local_a.rotation;
    if (joint->body_a >= 0) a = cn_qmul(in->model->pose[joint->body_a].rotation, a);
    f = cn_rotate(a, f);
  }
  return cn_scale(1 / joint->impulse_step, f);
}

// The bound |p||f| on K: is it below all inertias?
static int is_soft(CniTree *t, const CniTreeInput *in, double hh) {
  for (int32_t i = 0; i < t->node_count; i++) t->bodies[i].turn = 0;
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    if (node->joint < 0) continue;
    const double *g = in->model->joints[node->joint].impulse.locked;
    double step = in->model->joints[node->joint].impulse_step;
    double f = step > 0 ? sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / step : 0;
    t->bodies[i].turn += f * node->reach;
    if (node->parent >= 0) t->bodies[node->parent].turn += f * node->parent_reach;
  }
  for (int32_t i = 0; i < t->node_count; i++) {
    CnVec3 j = t->bodies[i].inertia;
    if (!(hh * t->bodies[i].turn < cn_min(j.x, cn_min(j.y, j.z)))) return 0;
  }
  return 1;
}

// The inverse of the mass that a point of a body has at least; null: of the ground.
static double give(const CniTreeBody *b, double reach) {
  if (!b) return 0;
  return 1 / b->mass + reach * reach / cn_min(b->inertia.x, cn_min(b->inertia.y, b->inertia.z));
}

static void sum_stiffness(CniTree *t, const CniTreeInput *in, double hh) {
  for (int32_t i = 0; i < t->node_count; i++)
    cni_stiffness_begin(&t->stiffness[i], cn_srotate(t->bodies[i].axes, t->bodies[i].inertia));
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    const CniTreeJoint *j = &t->joints[i];
    if (node->joint < 0 || !(in->model->joints[node->joint].impulse_step > 0)) continue;
    const CniTreeBody *b = &t->bodies[i], *p = node->parent >= 0 ? &t->bodies[node->parent] : NULL;
    CnVec3 f = cn_scale(node->sign * hh, last_force(t, in, i));
    double mass = 1 / (1 / b->mass + give(p, node->parent_reach));
    cni_stiffness_add(&t->stiffness[i], j->arm, f, mass);
    if (!p) continue;
    mass = 1 / (1 / p->mass + give(b, node->reach));
    cni_stiffness_add(&t->stiffness[node->parent], j->parent_arm, cn_neg(f), mass);
  }
}

int cni_tree_stiffen(CniTree *t, const CniTreeInput *in, int wanted) {
  double hh = in->time_step * in->time_step;
  CnSym3 more;
  int any = 0;
  if (!in->geometric_stiffness) return 1;
  if (is_soft(t, in, wanted * wanted * hh)) return wanted;
  if (wanted > 1) {
    sum_stiffness(t, in, wanted * wanted * hh);
    for (int32_t i = 0; i < t->node_count && !any; i++)
      any = cni_stiffness_end(&t->stiffness[i], &more);
    if (!any) return wanted;
  }
  sum_stiffness(t, in, hh);
  for (int32_t i = 0; i < t->node_count; i++)
    t->bodies[i].stiff = cni_stiffness_end(&t->stiffness[i], &t->bodies[i].added);
  return 1;
}
