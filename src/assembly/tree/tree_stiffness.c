// SPDX-License-Identifier: Apache-2.0
// Geometric stiffness of a tree's joints, as groups.c has it: inertia J becomes J + (h^2 K - J)+ where
// forces at a body's joints hold it against turning faster than the step resolves.
#include "assembly/tree/tree_private.h"

// The force of the last step's kick on a joint's b over its time.
static inline CnVec3 last_force(const CniTree *t, const CniTreeInput *in, int32_t i) {
  const CniJoint *joint = &in->model->joints[t->nodes[i].joint];
  const CniTreeJoint *j = &t->joints[i];
  const double *g = joint->impulse.locked;
  if (!(joint->impulse_step > 0)) return CN_VEC3_ZERO;
  CnVec3 f = {g[0], g[1], g[2]};
  if (t->nodes[i].hinge) // along the axes of a
    f = cn_madd(cn_madd(cn_scale(g[0], j->x), g[1], j->y), g[2], cn_cross(j->x, j->y));
  return cn_scale(1 / joint->impulse_step, f);
}

// Sums of the moduli of K's rows, in the axes of a body, to its `couple`.
static inline void add_rows(CniTreeBody *b, CnVec3 p, CnVec3 force) {
  CnVec3 f = cn_mtmul(b->axes, force);
  double x = p.x * f.x, y = p.y * f.y, z = p.z * f.z;
  double xy = 0.5 * fabs(p.x * f.y + p.y * f.x), xz = 0.5 * fabs(p.x * f.z + p.z * f.x);
  double yz = 0.5 * fabs(p.y * f.z + p.z * f.y);
  b->couple.x += fabs(y + z) + xy + xz;
  b->couple.y += fabs(x + z) + xy + yz;
  b->couple.z += fabs(x + y) + xz + yz;
}

// By Gershgorin's circles: is K h^2 below the inertias of all bodies?
static int is_soft(CniTree *t, const CniTreeInput *in, double hh) {
  int soft = 1;
  for (int32_t i = 0; i < t->node_count; i++) t->bodies[i].couple = CN_VEC3_ZERO;
  for (int32_t i = t->link_count; i-- > 0;) { // what hangs at a body comes before it
    const CniTreeNode *node = &t->nodes[i];
    CniTreeBody *b = &t->bodies[node->own];
    if (node->joint >= 0) {
      CnVec3 f = last_force(t, in, i);
      add_rows(b, node->arm, f);
      if (node->parent >= 0) add_rows(&t->bodies[node->parent], node->parent_arm, f);
    }
    if (i >= t->node_count) continue;
    CnVec3 j = b->inertia, k = b->couple;
    soft &= hh * k.x < j.x && hh * k.y < j.y && hh * k.z < j.z;
  }
  return soft;
}

// The inverse of the mass that a point of a body has at least; null: of the ground.
static double give(const CniTreeBody *b, double reach) {
  if (!b) return 0;
  return 1 / b->mass + reach * reach / cn_min(b->inertia.x, cn_min(b->inertia.y, b->inertia.z));
}

static void sum_stiffness(CniTree *t, const CniTreeInput *in, double hh) {
  for (int32_t i = 0; i < t->node_count; i++)
    cni_stiffness_begin(&t->stiffness[i], cn_srotate(t->bodies[i].axes, t->bodies[i].inertia));
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    const CniTreeJoint *j = &t->joints[i];
    if (node->joint < 0 || !(in->model->joints[node->joint].impulse_step > 0)) continue;
    const CniTreeBody *b = &t->bodies[node->own],
                      *p = node->parent >= 0 ? &t->bodies[node->parent] : NULL;
    CnVec3 f = cn_scale(node->sign * hh, last_force(t, in, i));
    double mass = 1 / (1 / b->mass + give(p, node->parent_reach));
    cni_stiffness_add(&t->stiffness[node->own], j->arm, f, mass);
    if (!p) continue;
    mass = 1 / (1 / p->mass + give(b, node->reach));
    cni_stiffness_add(&t->stiffness[node->parent], j->parent_arm, cn_neg(f), mass);
  }
}

int cni_tree_stiffen(CniTree *t, const CniTreeInput *in, int wanted) {
  double hh = in->time_step * in->time_step;
  CnSym3 more;
  int any = 0;
  t->stiff = 0;
  if (!in->geometric_stiffness) return 1;
  if (is_soft(t, in, wanted * wanted * hh)) return wanted;
  if (wanted > 1) {
    sum_stiffness(t, in, wanted * wanted * hh);
    for (int32_t i = 0; i < t->node_count && !any; i++)
      any = cni_stiffness_end(&t->stiffness[i], &more);
    if (!any) return wanted;
  }
  sum_stiffness(t, in, hh);
  for (int32_t i = 0; i < t->node_count; i++) {
    t->bodies[i].stiff = cni_stiffness_end(&t->stiffness[i], &t->bodies[i].added);
    t->stiff |= t->bodies[i].stiff;
  }
  return 1;
}
