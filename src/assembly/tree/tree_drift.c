// SPDX-License-Identifier: Apache-2.0
// The drift of a tree: the scheme of drift_joints.c (midpoint rule, joints that carry what keeps them
// together and do no work), with the factor of the tree.
//
// Newton's method for the joints' impulses: all bodies go without them; inertias and arms in the middle of
// that motion make the factor; what the joints are then apart is asked of it as velocities, 2/h of it,
// since impulses act on both halves of the motion. Forces and couples act along fixed directions,
// at arms that turn with the bodies. It ends where nothing but round-off is left.
#include "assembly/tree/tree_private.h"

#define MOST 8      // steps of Newton's method
#define AXLE 1e4    // how soon a joint's arm is one
#define LIGHT 1e-3  // stiffness of the forces over inertia that is not worth it
#define LEAST 0.5   // of the least inertia that forces leave
#define SLOW 0.3    // error left by a step: the method does not come nearer
#define SURE 0.5    // error that need not be looked at
#define SERIES 0.01 // rad: half a turn below which tan x/x is a sum

// ---- bodies ----

static double stretched(double h, double w) {
  double x = h * w / 2, xx = x * x;
  if (x > SERIES) return cni_drift_stretched(h, w);
  return h * (1 + xx * (1.0 / 3 + xx * (2.0 / 15 + xx * (17.0 / 315))));
}

static void begin_bodies(CniTree *t, const CniTreeInput *in) {
  for (int32_t i = 0; i < t->node_count; i++) {
    CniTreeBody *b = &t->bodies[i];
    b->spin = b->middle = cn_mtmul(b->axes, b->twist.spin);
    b->turn = 0; // here: the largest s^2 of its joints
  }
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    if (node->joint < 0) continue;
    for (int32_t side = 0; side < 2; side++) {
      CniTreeBody *b = side ? &t->bodies[i] : node->parent >= 0 ? &t->bodies[node->parent] : NULL;
      if (!b) continue;
      CnVec3 r = side ? t->joints[i].arm : t->joints[i].parent_arm, w = b->twist.spin;
      double both = cn_norm2(w) * cn_norm2(r);
      if (both > 0) b->turn = cn_max(b->turn, cn_norm2(cn_cross(w, r)) / both);
    }
  }
  double h = in->time_step;
  for (int32_t i = 0; i < t->node_count; i++) {
    CniTreeBody *b = &t->bodies[i];
    double share = 1 / (1 + AXLE * b->turn);
    b->turn = h + share * (stretched(h, cn_norm(b->spin)) - h);
  }
}

static void forget(CniTree *t) {
  for (int32_t i = 0; i < t->node_count; i++) {
    CniTreeBody *b = &t->bodies[i];
    b->force = b->couple = b->lever.x = b->lever.y = b->lever.z = CN_VEC3_ZERO;
  }
}

static inline void add_lever(CniTreeBody *b, CnVec3 arm, CnVec3 f) {
  b->lever.x = cn_madd(b->lever.x, f.x, arm);
  b->lever.y = cn_madd(b->lever.y, f.y, arm);
  b->lever.z = cn_madd(b->lever.z, f.z, arm);
}

// Force and reaction meet at b's point, half way of what is left of the gap.
static void push(CniTree *t, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  const CniTreeJoint *j = &t->joints[i];
  CniTreeBody *b = &t->bodies[i];
  CnVec3 f = j->wrench.velocity, own = cn_mtmul(b->axes, f), couple = j->wrench.spin;
  CnVec3 turn = cn_cross(cn_scale(0.5, cn_add(j->gap, j->gap_target)), f);
  b->force = cn_add(b->force, f);
  add_lever(b, node->arm, own);
  if (node->sign < 0) couple = cn_sub(couple, turn);
  b->couple = cn_add(b->couple, cn_mtmul(b->axes, couple));
  if (node->parent < 0) return;
  b = &t->bodies[node->parent];
  f = cn_neg(f);
  couple = cn_neg(j->wrench.spin);
  if (node->sign > 0) couple = cn_sub(couple, turn);
  b->force = cn_add(b->force, f);
  add_lever(b, node->parent_arm, cn_mtmul(b->axes, f));
  b->couple = cn_add(b->couple, cn_mtmul(b->axes, couple));
}

static int move(CniTreeBody *b, double h) {
  CnTwist end;
  CniDriftTorque torque = {b->couple, b->lever};
  end.velocity = cn_madd(b->twist.velocity, 1 / b->mass, b->force);
  b->pose_new.position = cn_madd(b->pose.position, h / 2, cn_add(b->twist.velocity, end.velocity));
  if (!cni_drift_middle(b->inertia, b->spin, &torque, b->turn, &b->middle)) return 0;
  b->pose_new.rotation = cni_drift_turned(b->pose.rotation, b->middle, b->turn);
  b->axes_new = cn_qmat(b->pose_new.rotation);
  end.spin = cn_mmul(b->axes_new, cn_madd(cn_scale(2, b->middle), -1, b->spin));
  b->end = end;
  return 1;
}

// All bodies by the impulses found so far.
static int go(CniTree *t, double h) {
  forget(t);
  for (int32_t i = 0; i < t->node_count; i++)
    if (t->nodes[i].joint >= 0) push(t, i);
  for (int32_t i = 0; i < t->node_count; i++)
    if (!move(&t->bodies[i], h)) return 0;
  return 1;
}

// ---- joints ----

static const CnMat3 unit = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// How far a joint is from where it is to be, to what is asked of it; returns the largest in units of what may be left.
static double look_at(CniTree *t, const CniTreeInput *in, int32_t i, int first) {
  const CniTreeNode *node = &t->nodes[i];
  const CniTreeBody *b = &t->bodies[i];
  CniTreeJoint *j = &t->joints[i];
  CniTreeFactor *f = &t->factors[i];
  CnMat3 axes = unit;
  CnVec3 from = CN_VEC3_ZERO;
  if (node->parent >= 0) {
    axes = t->bodies[node->parent].axes_new;
    from = t->bodies[node->parent].pose_new.position;
  } else if (node->base >= 0) {
    axes = cn_qmat(in->model->pose[node->base].rotation);
    from = in->model->pose[node->base].position;
  }
  CnVec3 arm = cn_mmul(b->axes_new, node->arm), parent_arm = cn_mmul(axes, node->parent_arm);
  CnVec3 gap = cn_sub(cn_add(b->pose_new.position, arm), cn_add(from, parent_arm));
  CnVec3 left = cn_sub(gap, j->gap_target);
  double f2 = -2 / in->time_step, worst;
  worst = cn_max(fabs(left.x), cn_max(fabs(left.y), fabs(left.z))) / j->tolerance;
  f->asked = (CnTwist){cn_scale(f2, left), CN_VEC3_ZERO};
  if (first) {
    f->arm = cn_scale(0.5, cn_add(j->arm, arm));
    f->parent_arm = cn_scale(0.5, cn_add(j->parent_arm, parent_arm));
  }
  if (!node->hinge) return worst;
  const CnMat3 *a = node->sign > 0 ? &axes : &b->axes_new;
  CnVec3 z = node->sign > 0 ? cn_mmul(b->axes_new, node->z) : cn_mmul(axes, node->z);
  CnVec3 x = cn_mmul(*a, node->x), y = cn_mmul(*a, node->y);
  double u = cn_dot(x, z), v = cn_dot(y, z);
  if (first) { // rows of the tilt (joint_turn.c)
    CnVec3 s = cn_madd(cn_scale(u / 3, x), v / 3, y), along = cn_cross(x, y);
    j->lines[0] = cn_scale(0.5, cn_add(j->x, cn_madd(x, -u, cn_add(along, s))));
    j->lines[1] = cn_scale(0.5, cn_add(j->y, cn_madd(y, -v, cn_add(along, s))));
    f->axis = cn_cross(j->lines[0], j->lines[1]);
    f->axis = cn_scale(1 / cn_norm(f->axis), f->axis);
  }
  double about_x = -v - j->tilt_target[0], about_y = u - j->tilt_target[1];
  double by = node->sign * f2 / cn_norm2(j->lines[0]);
  f->asked.spin = cn_madd(cn_scale(by * about_x, j->lines[0]), by * about_y, j->lines[1]);
  return cn_max(worst, cn_max(fabs(about_x), fabs(about_y)) / CNI_TREE_TURNS);
}

static double look(CniTree *t, const CniTreeInput *in, int first) {
  double worst = 0;
  for (int32_t i = 0; i < t->node_count; i++)
    if (t->nodes[i].joint >= 0) worst = cn_max(worst, look_at(t, in, i, first));
  return worst;
}

// Errors are round-off: a share of them goes away.
static void aim(CniTree *t, const CniTreeInput *in) {
  double keep = 1 - in->stabilisation;
  for (int32_t i = 0; i < t->node_count; i++) {
    CniTreeJoint *j = &t->joints[i];
    j->wrench = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
    if (t->nodes[i].joint < 0) continue;
    j->gap_target = cn_scale(keep, j->gap);
    j->tilt_target[0] = keep * j->tilt[0];
    j->tilt_target[1] = keep * j->tilt[1];
  }
}

// ---- the factor ----

// Forces of the step before, which have turned on with the bodies: they hold these against turning.
static void expect(CniTree *t, const CniTreeInput *in, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  const CniJoint *joint = &in->model->joints[node->joint];
  if (!(joint->impulse_step > 0) || !(cn_norm2(joint->carried) > 0)) return;
  CniTreeBody *b = &t->bodies[i], *p = node->parent >= 0 ? &t->bodies[node->parent] : NULL;
  CnVec3 w = cn_scale(p ? in->time_step / 2 : in->time_step,
                      p ? cn_add(b->twist.spin, p->twist.spin) : b->twist.spin);
  CnVec3 force = cn_add(joint->carried, cn_cross(w, joint->carried));
  force = cn_scale(node->sign * in->time_step / joint->impulse_step, force);
  add_lever(b, node->arm, cn_mtmul(b->axes, force));
  if (p) add_lever(p, node->parent_arm, cn_mtmul(p->axes, cn_neg(force)));
}

// R S R^T
static CnSym3 turned(CnMat3 r, CnSym3 s) {
  CnVec3 x = cn_madd(cn_madd(cn_scale(s.xx, r.x), s.xy, r.y), s.xz, r.z);
  CnVec3 y = cn_madd(cn_madd(cn_scale(s.xy, r.x), s.yy, r.y), s.yz, r.z);
  CnVec3 z = cn_madd(cn_madd(cn_scale(s.xz, r.x), s.yz, r.y), s.zz, r.z);
  return (CnSym3){r.x.x * x.x + r.y.x * y.x + r.z.x * z.x, r.x.y * x.y + r.y.y * y.y + r.z.y * z.y,
                  r.x.z * x.z + r.y.z * y.z + r.z.z * z.z, r.x.x * x.y + r.y.x * y.y + r.z.x * z.y,
                  r.x.x * x.z + r.y.x * y.z + r.z.x * z.z, r.x.y * x.z + r.y.y * y.z + r.z.y * z.z};
}

// Inertia in the middle, and what the forces add to it where they pull.
static CnSym3 middle_inertia(const CniTreeBody *b, double h) {
  CnQuat p = b->pose.rotation, q = b->pose_new.rotation;
  CnMat3 r = cn_qmat(cn_qunit((CnQuat){p.w + q.w, p.x + q.x, p.y + q.y, p.z + q.z}));
  double f = h / b->turn, sum = 0;
  const double *lever = &b->lever.x.x;
  CnVec3 j = b->inertia;
  for (int32_t i = 0; i < 9; i++) sum += fabs(lever[i]);
  double least = cn_min(j.x, cn_min(j.y, j.z));
  if (!(h * sum > LIGHT * least)) return cn_srotate(r, cn_scale(f, j));
  CnMat3 g = b->lever;
  double trace = g.x.x + g.y.y + g.z.z, k = h / 4;
  CnSym3 s = {j.x + k * (trace - g.x.x), j.y + k * (trace - g.y.y), j.z + k * (trace - g.z.z),
              -k / 2 * (g.y.x + g.x.y),  -k / 2 * (g.z.x + g.x.z),  -k / 2 * (g.z.y + g.y.z)};
  double xy = fabs(s.xy), xz = fabs(s.xz), yz = fabs(s.yz);
  least *= LEAST;
  if (!(s.xx - xy - xz > least && s.yy - xy - yz > least && s.zz - xz - yz > least)) {
    CnVec3 v;
    CnMat3 axes;
    cni_seigen(s, &v, &axes);
    s = cn_srotate(axes, cn_vec3(cn_max(v.x, least), cn_max(v.y, least), cn_max(v.z, least)));
  }
  s = turned(r, s);
  return (CnSym3){f * s.xx, f * s.yy, f * s.zz, f * s.xy, f * s.xz, f * s.yz};
}

static int factor(CniTree *t, const CniTreeInput *in) {
  for (int32_t i = 0; i < t->node_count; i++)
    if (t->nodes[i].joint >= 0) expect(t, in, i);
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeBody *b = &t->bodies[i];
    CniTreeFactor *f = &t->factors[i];
    f->a = cn_sdiag(b->mass, b->mass, b->mass);
    f->b = (CnMat3){CN_VEC3_ZERO, CN_VEC3_ZERO, CN_VEC3_ZERO};
    f->c = middle_inertia(b, in->time_step);
  }
  return cni_tree_factor(t);
}

int cni_tree_drift(CniTree *t, const CniTreeInput *in) {
  double h = in->time_step, before = INFINITY;
  aim(t, in);
  begin_bodies(t, in);
  if (!go(t, h)) return 0;
  double now = look(t, in, 1);
  if (now > 1 && !factor(t, in)) return 0;
  for (int32_t k = 0; now > 1; k++) {
    if (k == MOST || !(now < SLOW * before)) return 0;
    cni_tree_solve(t);
    for (int32_t i = 0; i < t->node_count; i++)
      if (t->nodes[i].joint >= 0)
        t->joints[i].wrench = cni_twist_add(t->joints[i].wrench, t->factors[i].wrench);
    if (!go(t, h)) return 0;
    double expected = before < INFINITY ? now / before * now : INFINITY;
    before = now;
    now = expected < SURE ? expected : look(t, in, 0);
  }
  return isfinite(now);
}
