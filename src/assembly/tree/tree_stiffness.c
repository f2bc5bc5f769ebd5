// SPDX-License-Identifier: Apache-2.0
// Geometric stiffness of a tree's joints, as groups.c has it: inertia J becomes J + (h^2 K - J)+ where
// forces at a body's joints hold it against turning faster than the step resolves.
#include "assembly/tree/tree_private.h"

// The force of the last step's kick on a joint's b over its time.
static inline CnVec3 last_force(const CniTree *t, const CniTreeInput *in, int32_t i) {
  const CniJoint *joint = &in->model->joints[t->nodes[i].joint];
  int32_t lane;
  const CniTreeLinks *l = cni_tree_link(t, i, &lane);
  const double *g = joint->impulse.locked;
  if (!(joint->impulse_step > 0)) return CN_VEC3_ZERO;
  CnVec3 f = {g[0], g[1], g[2]}, x = cni_lane_vec(&l->x, lane), y = cni_lane_vec(&l->y, lane);
  if (t->nodes[i].hinge) // along the axes of a
    f = cn_madd(cn_madd(cn_scale(g[0], x), g[1], y), g[2], cn_cross(x, y));
  return cn_scale(1 / joint->impulse_step, f);
}

// The inverse of the mass that a point of a node has at least; -1: of the ground.
static double give(const CniTree *t, int32_t node, double reach) {
  if (node < 0) return 0;
  const CniTreeBodies *b = &t->bodies[node / CNI_TREE_LANES];
  int32_t lane = node % CNI_TREE_LANES;
  CnVec3 j = cni_lane_vec(&b->inertia, lane);
  return 1 / b->mass[lane] + reach * reach / cn_min(j.x, cn_min(j.y, j.z));
}

static void begin_node(CniTree *t, int32_t i) {
  const CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
  int32_t lane = i % CNI_TREE_LANES;
  cni_stiffness_begin(&t->stiffness[i], cn_srotate(cn_qmat(cni_lane_quat(&b->rotation, lane)),
                                                   cni_lane_vec(&b->inertia, lane)));
}

static void add_link(CniTree *t, const CniTreeInput *in, int32_t i, double hh) {
  const CniTreeNode *node = &t->nodes[i];
  if (node->joint < 0 || !(in->model->joints[node->joint].impulse_step > 0)) return;
  int32_t lane;
  const CniTreeLinks *l = cni_tree_link(t, i, &lane);
  CnVec3 f = cn_scale(node->sign * hh, last_force(t, in, i));
  double mass = 1 / (give(t, node->own, 0) + give(t, node->parent, l->parent_reach[lane]));
  cni_stiffness_add(&t->stiffness[node->own], cni_lane_vec(&l->arm, lane), f, mass);
  if (node->parent < 0) return;
  mass = 1 / (give(t, node->parent, 0) + give(t, node->own, l->reach[lane]));
  cni_stiffness_add(&t->stiffness[node->parent], cni_lane_vec(&l->parent_arm, lane), cn_neg(f),
                    mass);
}

// Is there a body that forces hold? Each is known once the last link at it has been. keep: to all bodies.
static int stiffen_all(CniTree *t, const CniTreeInput *in, double hh, int keep) {
  int any = 0;
  int32_t known = 0, nodes = t->node_count, links = t->link_count;
  for (int32_t i = 0; i < links; i++) {
    if (i < nodes) begin_node(t, i);
    add_link(t, in, i, hh);
    int32_t until = i + 1 == links ? nodes : 0;
    while (known < until || (links == nodes && known <= i && t->nodes[known].last <= i)) {
      CniTreeBodies *b = &t->bodies[known / CNI_TREE_LANES];
      CnSym3 more;
      int stiff = cni_stiffness_end(&t->stiffness[known], &more);
      any |= stiff;
      if (any && !keep) return 1;
      if (keep) b->stiff[known % CNI_TREE_LANES] = stiff;
      if (keep && stiff) cni_lane_put_sym(&b->added, known % CNI_TREE_LANES, more);
      known++;
    }
  }
  return any;
}

int cni_tree_stiffen(CniTree *t, const CniTreeInput *in, int wanted) {
  double hh = in->time_step * in->time_step;
  t->stiff = 0;
  if (!in->geometric_stiffness) return 1;
  if (t->kernels->is_soft(t, in, wanted * wanted * hh)) return wanted;
  if (wanted > 1 && !stiffen_all(t, in, wanted * wanted * hh, 0)) return wanted;
  t->stiff = stiffen_all(t, in, hh, 1);
  return 1;
}
