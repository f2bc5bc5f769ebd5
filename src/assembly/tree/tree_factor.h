// SPDX-License-Identifier: Apache-2.0
// The inertia of a tree of bodies as its joints feel it: one elimination from the leaves to the root, one
// way back.
//
// All that hangs at a joint answers a velocity u of the joint's point and a spin w by the momentum
//
//     p = a u + b w,   l = b^T u + c w
//
// of which l has no part along the axis s that the joint leaves free: the body turns about it until that
// is so. With U = (b s, c s), D = s.c s, what is left is (a, b, c) - U U^T/D, which is then part of the
// inertia of the body before. The joints' impulses are the momenta that pass through them. About 400
// operations a hinge, 250 a solution (the same numbers as E M^-1 E^T g = c by L D L^T, sparse/direct.h,
// which takes five times that).
//
// Reference: Featherstone, Rigid Body Dynamics Algorithms, 7.
#ifndef CNI_TREE_FACTOR_H
#define CNI_TREE_FACTOR_H

#include "assembly/tree/tree_private.h"

#define CNI_TREE_LOST 1e-15 // of the inertia about all axes: what turns is lost in round-off

// To another point: velocities there are v - r x w.
CNI_TREE_INLINE void cni_tree_shift(CnSym3 *a, CnMat3 *b, CnSym3 *c, CnVec3 r) {
  CnVec3 ax = {a->xx, a->xy, a->xz}, ay = {a->xy, a->yy, a->yz}, az = {a->xz, a->yz, a->zz};
  CnMat3 n = {cn_cross(b->x, r), cn_cross(b->y, r), cn_cross(b->z, r)};
  b->x = cn_add(b->x, cn_madd(cn_scale(r.z, ay), -r.y, az));
  b->y = cn_add(b->y, cn_madd(cn_scale(r.x, az), -r.z, ax));
  b->z = cn_add(b->z, cn_madd(cn_scale(r.y, ax), -r.x, ay));
  CnMat3 m = {cn_cross(b->x, r), cn_cross(b->y, r), cn_cross(b->z, r)};
  c->xx += m.x.x + n.x.x;
  c->yy += m.y.y + n.y.y;
  c->zz += m.z.z + n.z.z;
  c->xy += m.y.x + n.x.y;
  c->xz += m.z.x + n.x.z;
  c->yz += m.z.y + n.y.z;
}

// s - f u v^T where that is symmetric
CNI_TREE_INLINE void cni_take_product(CnSym3 *s, CnVec3 u, CnVec3 v) {
  s->xx -= u.x * v.x;
  s->yy -= u.y * v.y;
  s->zz -= u.z * v.z;
  s->xy -= u.x * v.y;
  s->xz -= u.x * v.z;
  s->yz -= u.y * v.z;
}

CNI_TREE_INLINE int cni_tree_free_axis(CniTreeFactor *f, CnVec3 s) {
  CnVec3 u = cn_mmul(f->b, s), v = cn_smul(f->c, s);
  double d = cn_dot(s, v);
  if (!(d > CNI_TREE_LOST * (f->c.xx + f->c.yy + f->c.zz))) return 0;
  f->inverse = 1 / d;
  f->push = cn_scale(f->inverse, u);
  f->twist = cn_scale(f->inverse, v);
  cni_take_product(&f->a, u, f->push);
  f->b.x = cn_madd(f->b.x, -f->twist.x, u);
  f->b.y = cn_madd(f->b.y, -f->twist.y, u);
  f->b.z = cn_madd(f->b.z, -f->twist.z, u);
  cni_take_product(&f->c, v, f->twist);
  return 1;
}

// a - b c^-1 b^T
CNI_TREE_INLINE int cni_tree_free_point(CniTreeFactor *f, CniTreeBall *ball) {
  double trace = f->c.xx + f->c.yy + f->c.zz;
  if (!(cn_sdet(f->c) > CNI_TREE_LOST * CNI_TREE_LOST * trace * trace * trace)) return 0;
  ball->c = cn_sinverse(f->c);
  ball->b = f->b;
  CnVec3 bx = {f->b.x.x, f->b.y.x, f->b.z.x}, by = {f->b.x.y, f->b.y.y, f->b.z.y};
  CnVec3 bz = {f->b.x.z, f->b.y.z, f->b.z.z};
  CnVec3 x = cn_smul(ball->c, bx), y = cn_smul(ball->c, by), z = cn_smul(ball->c, bz);
  f->a.xx -= cn_dot(bx, x);
  f->a.yy -= cn_dot(by, y);
  f->a.zz -= cn_dot(bz, z);
  f->a.xy -= cn_dot(bx, y);
  f->a.xz -= cn_dot(bx, z);
  f->a.yz -= cn_dot(by, z);
  return 1;
}

// The inertia of a node without what hangs at it is there: add its own, take out the turn that its
// joint leaves, hand the rest to its parent. Leaves first. Returns 0 where that cannot be done.
CNI_TREE_INLINE int cni_tree_eliminate(CniTree *t, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  CniTreeFactor *f = &t->factors[i];
  const CniTreeLinks *link = &t->links[i / CNI_TREE_LANES];
  int32_t lane = i % CNI_TREE_LANES;
  double mass = t->bodies[i / CNI_TREE_LANES].mass[lane];
  if (node->is_leaf) {
    f->a = f->c = (CnSym3){0, 0, 0, 0, 0, 0};
    f->b = (CnMat3){CN_VEC3_ZERO, CN_VEC3_ZERO, CN_VEC3_ZERO};
    f->bias = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  }
  f->a.xx += mass;
  f->a.yy += mass;
  f->a.zz += mass;
  f->c = cn_sadd(f->c, cni_lane_sym(&t->bodies[i / CNI_TREE_LANES].felt, lane));
  if (node->joint < 0) {
    if (!cni_tree_free_point(f, &t->balls[i])) return 0;
    t->balls[i].whole = cn_sinverse(f->a);
    return 1;
  }
  cni_tree_shift(&f->a, &f->b, &f->c, cni_lane_vec(&link->factor_arm, lane));
  if (node->hinge) {
    if (!cni_tree_free_axis(f, cni_lane_vec(&link->axis, lane))) return 0;
  } else {
    if (!cni_tree_free_point(f, &t->balls[i])) return 0;
    f->b = (CnMat3){CN_VEC3_ZERO, CN_VEC3_ZERO, CN_VEC3_ZERO};
    f->c = (CnSym3){0, 0, 0, 0, 0, 0};
  }
  if (node->parent < 0) return 1;
  CniTreeFactor *p = &t->factors[node->parent];
  CnSym3 a = f->a, c = f->c;
  CnMat3 b = f->b;
  cni_tree_shift(&a, &b, &c, cn_neg(cni_lane_vec(&link->factor_parent_arm, lane)));
  if (node->is_last) { // the first that its parent hears of
    p->a = p->c = (CnSym3){0, 0, 0, 0, 0, 0};
    p->b = (CnMat3){CN_VEC3_ZERO, CN_VEC3_ZERO, CN_VEC3_ZERO};
    p->bias = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  }
  p->a = cn_sadd(p->a, a);
  p->b = (CnMat3){cn_add(p->b.x, b.x), cn_add(p->b.y, b.y), cn_add(p->b.z, b.z)};
  p->c = cn_sadd(p->c, c);
  return 1;
}

// Momenta that velocities of a joint take.
CNI_TREE_INLINE CnTwist cni_tree_momentum(const CniTreeFactor *f, CnTwist v) {
  return (CnTwist){cn_add(cn_smul(f->a, v.velocity), cn_mmul(f->b, v.spin)),
                   cn_add(cn_mtmul(f->b, v.velocity), cn_smul(f->c, v.spin))};
}

// Before a node is gathered from, if something may be left from the last time: nothing hangs at leaves, and the last that
// hangs at a parent is the first that this hears of.
CNI_TREE_INLINE void cni_tree_begin(CniTree *t, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  const CnTwist nothing = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  if (node->is_leaf) t->factors[i].bias = nothing;
  if (node->is_last && node->parent >= 0) t->factors[node->parent].bias = nothing;
}

// What gives the joints the velocities asked for. From the leaves: what parents have to bear if they stay.
CNI_TREE_INLINE void cni_tree_gather(CniTree *t, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  CniTreeFactor *f = &t->factors[i];
  const CniTreeLinks *link = &t->links[i / CNI_TREE_LANES];
  int32_t lane = i % CNI_TREE_LANES;
  CnTwist p = f->bias;
  if (node->joint < 0) return;
  p.spin = cn_add(p.spin, cn_cross(p.velocity, cni_lane_vec(&link->factor_arm, lane)));
  if (node->hinge) {
    f->left = cn_dot(cni_lane_vec(&link->axis, lane), p.spin);
    p.velocity = cn_madd(p.velocity, -f->left, f->push);
    p.spin = cn_madd(p.spin, -f->left, f->twist);
    f->bias = p;
  } else {
    const CniTreeBall *ball = &t->balls[i];
    CnVec3 turn = cn_smul(ball->c, p.spin);
    f->bias = p; // its spin: what the body turns by
    p.velocity = cn_sub(p.velocity, cn_mmul(ball->b, turn));
    f->bias.velocity = p.velocity;
    p.spin = CN_VEC3_ZERO;
  }
  if (node->parent < 0) return;
  CnTwist *to = &t->factors[node->parent].bias;
  CnVec3 arm = cni_lane_vec(&link->factor_parent_arm, lane);
  p = cni_twist_add(p, cni_tree_momentum(f, cni_lane_twist(&link->asked, lane)));
  to->velocity = cn_add(to->velocity, p.velocity);
  to->spin = cn_add(to->spin, cn_add(p.spin, cn_cross(arm, p.velocity)));
}

// To the leaves: velocities that bodies gain, and what joints answer. Where there are loops the next to gather finds
// nothing here but what closes them.
CNI_TREE_INLINE void cni_tree_spread(CniTree *t, int32_t i, int loops) {
  const CniTreeNode *node = &t->nodes[i];
  CniTreeFactor *f = &t->factors[i];
  CniTreeLinks *link = &t->links[i / CNI_TREE_LANES];
  int32_t lane = i % CNI_TREE_LANES;
  CniTreeMotion *gain = &t->bodies[i / CNI_TREE_LANES].gain;
  if (node->joint < 0) { // (a - b c^-1 b^T) v = b c^-1 l - p
    const CniTreeBall *ball = &t->balls[i];
    CnVec3 turn = cn_smul(ball->c, f->bias.spin);
    CnVec3 v = cn_smul(ball->whole, cn_sub(cn_mmul(ball->b, turn), f->bias.velocity));
    CnVec3 w = cn_neg(cn_add(turn, cn_smul(ball->c, cn_mtmul(ball->b, v))));
    cni_lane_put_twist(gain, lane, (CnTwist){v, w});
    if (loops) f->bias = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
    return;
  }
  CnTwist at = cni_lane_twist(&link->asked, lane);
  if (node->parent >= 0) {
    CnTwist p = cni_lane_twist(&t->bodies[node->parent / CNI_TREE_LANES].gain,
                               node->parent % CNI_TREE_LANES);
    CnVec3 arm = cni_lane_vec(&link->factor_parent_arm, lane);
    at.velocity = cn_add(at.velocity, cn_add(p.velocity, cn_cross(p.spin, arm)));
    at.spin = cn_add(at.spin, p.spin);
  }
  CnVec3 w;
  if (node->hinge) {
    cni_lane_put_twist(&link->answer, lane, cni_twist_add(f->bias, cni_tree_momentum(f, at)));
    double turn = cn_dot(f->push, at.velocity) + cn_dot(f->twist, at.spin) + f->inverse * f->left;
    w = cn_madd(at.spin, -turn, cni_lane_vec(&link->axis, lane));
  } else {
    CnVec3 force = cn_add(f->bias.velocity, cn_smul(f->a, at.velocity));
    cni_lane_put_twist(&link->answer, lane, (CnTwist){force, CN_VEC3_ZERO});
    const CniTreeBall *ball = &t->balls[i];
    w = cn_neg(cn_smul(ball->c, cn_add(cn_mtmul(ball->b, at.velocity), f->bias.spin)));
  }
  CnVec3 arm = cni_lane_vec(&link->factor_arm, lane);
  cni_lane_put_twist(gain, lane, (CnTwist){cn_add(at.velocity, cn_cross(arm, w)), w});
  if (loops) f->bias = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
}

#endif
