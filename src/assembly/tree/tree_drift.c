// SPDX-License-Identifier: Apache-2.0
// The drift of a tree: the scheme of drift_joints.c (midpoint rule, joints that carry what keeps them
// together and do no work), with the factor of the tree.
//
// Newton's method for the joints' impulses: all bodies go without them; inertias and arms in the middle of
// that motion make the factor; what the joints are then apart is asked of it as velocities, 2/h of it,
// since impulses act on both halves of the motion. Forces and couples act along fixed directions,
// at arms that turn with the bodies. It ends where nothing but round-off is left.
#include "assembly/tree/tree_factor.h"

#define MOST 16      // steps of Newton's method
#define AXLE 1e4     // how soon a joint's arm is one
#define LIGHT 1e-3   // stiffness of the forces over inertia that is not worth it
#define LEAST 0.5    // of the least inertia that forces leave
#define SLOW 0.1     // of the error left by a step: a new factor is worth its price,
#define FACTORS 2    // so many in all,
#define AWAY 0.5     // or the method does not come nearer
#define TURNS_MOST 8 // steps for the spin of a body
#define FIRST 1e-16  // of the squares: what is left is round-off after this step,
#define NEXT 1e-32   // of the squares: the next step would be round-off
#define SERIES 0.01  // rad: half a turn below which tan x/x is a sum

// ---- bodies ----

static double stretched(double h, double w) {
  double x = h * w / 2, xx = x * x;
  if (x > SERIES) return cni_drift_stretched(h, w);
  return h * (1 + xx * (1.0 / 3 + xx * (2.0 / 15 + xx * (17.0 / 315))));
}

// How far the arms of joints are from the axes about which the bodies turn, and k; leaves first.
CNI_TREE_INLINE void look_across(CniTreeBody *b, CnVec3 r) {
  CnVec3 w = b->twist.spin;
  double both = cn_norm2(w) * cn_norm2(r);
  if (both > 0) b->across = cn_max(b->across, cn_norm2(cn_cross(w, r)) / both);
}

static void begin(CniTree *t, const CniTreeInput *in) {
  double h = in->time_step, keep = 1 - in->stabilisation;
  for (int32_t i = 0; i < t->node_count; i++) t->bodies[i].across = 0;
  for (int32_t i = t->link_count; i-- > 0;) {
    const CniTreeNode *node = &t->nodes[i];
    CniTreeBody *b = &t->bodies[node->own];
    CniTreeJoint *j = &t->joints[i];
    j->wrench = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
    if (node->joint >= 0) {
      look_across(b, j->arm);
      if (node->parent >= 0) look_across(&t->bodies[node->parent], j->parent_arm);
      // errors are round-off: a share of them goes away
      j->gap_target = cn_scale(keep, j->gap);
      j->tilt_target[0] = keep * j->tilt[0];
      j->tilt_target[1] = keep * j->tilt[1];
    }
    if (i >= t->node_count) continue;
    b->spin = b->middle = cn_mtmul(b->axes, b->twist.spin);
    b->force = b->couple = b->lever.x = b->lever.y = b->lever.z = CN_VEC3_ZERO;
    b->turn = h + (stretched(h, cn_norm(b->spin)) - h) / (1 + AXLE * b->across);
  }
}

CNI_TREE_INLINE void add_lever(CniTreeBody *b, CnVec3 arm, CnVec3 f) {
  b->lever.x = cn_madd(b->lever.x, f.x, arm);
  b->lever.y = cn_madd(b->lever.y, f.y, arm);
  b->lever.z = cn_madd(b->lever.z, f.z, arm);
}

// Force and reaction meet at b's point, half way of what is left of the gap.
CNI_TREE_INLINE void push(CniTree *t, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  const CniTreeJoint *j = &t->joints[i];
  CniTreeBody *b = &t->bodies[node->own];
  CnVec3 f = j->wrench.velocity, couple = j->wrench.spin;
  CnVec3 turn = cn_cross(cn_scale(0.5, cn_add(j->gap, j->gap_target)), f);
  b->force = cn_add(b->force, f);
  add_lever(b, node->arm, cn_mtmul(b->axes, f));
  b->couple = cn_add(b->couple, cn_mtmul(b->axes, node->sign < 0 ? cn_sub(couple, turn) : couple));
  if (node->parent < 0) return;
  b = &t->bodies[node->parent];
  f = cn_neg(f);
  couple = cn_neg(couple);
  b->force = cn_add(b->force, f);
  add_lever(b, node->parent_arm, cn_mtmul(b->axes, f));
  b->couple = cn_add(b->couple, cn_mtmul(b->axes, node->sign > 0 ? cn_sub(couple, turn) : couple));
}

// The equation of the midpoint spin m (drift.c), a = k m/2: forces at arms that turn have the moment t.
CNI_TREE_INLINE CnVec3 defect(const CniTreeBody *b, CnVec3 d, CnVec3 m, CnVec3 *moment) {
  CnVec3 j = b->inertia, w = b->spin, a = cn_scale(b->turn / 2, m);
  CnMat3 g = b->lever;
  double trace = g.x.x + g.y.y + g.z.z;
  CnVec3 t = {g.z.y - g.y.z, g.x.z - g.z.x, g.y.x - g.x.y};
  t = cn_add(cn_madd(cn_add(t, cn_mmul(g, a)), -trace, a), cn_cross(a, cn_mtmul(g, a)));
  t = cn_madd(b->couple, 1 / (1 + cn_norm2(a)), t);
  CnVec3 f = {2 * j.x * (m.x - w.x) + d.x * m.y * m.z, 2 * j.y * (m.y - w.y) + d.y * m.z * m.x,
              2 * j.z * (m.z - w.z) + d.z * m.x * m.y};
  *moment = t;
  return cn_add(f, cn_sub(cn_cross(a, t), t));
}

// Its inverse slope, as rows.
CNI_TREE_INLINE int slope_of(const CniTreeBody *b, CnVec3 d, CnVec3 m, CnVec3 t, CnMat3 *rows) {
  double k = b->turn / 2, trace = b->lever.x.x + b->lever.y.y + b->lever.z.z;
  CnVec3 j = b->inertia, s = cn_scale(k, t), a = cn_scale(k, m);
  CnMat3 g = b->lever;
  g.x.x -= trace;
  g.y.y -= trace;
  g.z.z -= trace;
  CnVec3 x = {2 * j.x, d.y * m.z - s.z, d.z * m.y + s.y};
  CnVec3 y = {d.x * m.z + s.z, 2 * j.y, d.z * m.x - s.x};
  CnVec3 z = {d.x * m.y - s.y, d.y * m.x + s.x, 2 * j.z};
  x = cn_madd(x, k, cn_sub(cn_cross(a, g.x), g.x));
  y = cn_madd(y, k, cn_sub(cn_cross(a, g.y), g.y));
  z = cn_madd(z, k, cn_sub(cn_cross(a, g.z), g.z));
  CnVec3 yz = cn_cross(y, z);
  double det = cn_dot(x, yz), inverse = 1 / det;
  *rows = (CnMat3){cn_scale(inverse, yz), cn_scale(inverse, cn_cross(z, x)),
                   cn_scale(inverse, cn_cross(x, y))};
  return fabs(det) > 0;
}

// Newton's method with the slope where it begins: each step tells how much the next one will leave.
static int find_middle(CniTreeBody *b) {
  CnVec3 j = b->inertia, m = b->middle, t;
  double k = b->turn, before = INFINITY;
  CnVec3 d = {k * (j.z - j.y), k * (j.x - j.z), k * (j.y - j.x)};
  CnMat3 rows;
  for (int32_t i = 0; i < TURNS_MOST; i++) {
    CnVec3 f = defect(b, d, m, &t);
    if (i == 0 && !slope_of(b, d, m, t, &rows)) return 0;
    CnVec3 step = cn_mtmul(rows, f);
    m = cn_sub(m, step);
    double size = cn_norm2(b->spin) + cn_norm2(m), way = cn_norm2(step);
    // the first step leaves its own square, every other one what it is of the one before
    if (i == 0 ? way <= FIRST * size : way * way <= NEXT * size * before) {
      b->middle = m;
      return 1;
    }
    if (!(way < before)) return 0;
    before = way;
  }
  return 0;
}

// A body by what pushes it, which is then forgotten.
static inline int move(CniTreeBody *b, double h) {
  CnTwist end;
  end.velocity = cn_madd(b->twist.velocity, 1 / b->mass, b->force);
  b->pose_new.position = cn_madd(b->pose.position, h / 2, cn_add(b->twist.velocity, end.velocity));
  if (!find_middle(b)) return 0;
  CnVec3 m = b->middle;
  CnQuat half = {1, b->turn * m.x / 2, b->turn * m.y / 2, b->turn * m.z / 2};
  if (!(cn_qnorm2(half) < INFINITY)) return 0; // a turn whose square is no number
  b->pose_new.rotation = cn_qunit(cn_qmul(b->pose.rotation, half));
  b->axes_new = cn_qmat(b->pose_new.rotation);
  end.spin = cn_mmul(b->axes_new, cn_madd(cn_scale(2, m), -1, b->spin));
  b->end = end;
  b->force = b->couple = b->lever.x = b->lever.y = b->lever.z = CN_VEC3_ZERO;
  return 1;
}

// ---- joints ----

static const CnMat3 unit = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// How far a joint is from where it is to be, to what is asked of it; returns the largest in units of what may be left.
static inline double look_at(CniTree *t, const CniTreeInput *in, int32_t i, int first) {
  const CniTreeNode *node = &t->nodes[i];
  const CniTreeBody *b = &t->bodies[node->own];
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

// Bodies [begin, end) by the impulses found so far, and how far their joints are apart then, to *worst;
// 0: not found.
static int go(CniTree *t, const CniTreeInput *in, int32_t begin, int32_t end, int first,
              double *worst) {
  for (int32_t i = begin; i < end; i++) {
    if (i < t->node_count && !move(&t->bodies[i], in->time_step)) return 0;
    if (first) cni_tree_clear(&t->factors[i]);
    if (t->nodes[i].joint >= 0) *worst = cn_max(*worst, look_at(t, in, i, first));
  }
  return 1;
}

// ---- the factor ----

// Forces of the step before, which have turned on with the bodies: they hold these against turning.
static void expect(CniTree *t, const CniTreeInput *in, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  const CniJoint *joint = &in->model->joints[node->joint];
  if (!(joint->impulse_step > 0) || !(cn_norm2(joint->carried) > 0)) return;
  CniTreeBody *b = &t->bodies[node->own], *p = node->parent >= 0 ? &t->bodies[node->parent] : NULL;
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

// The forces found so far, and arms in the middle of the motion that they give.
static void refresh(CniTree *t) {
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    const CniTreeJoint *j = &t->joints[i];
    CniTreeBody *b = &t->bodies[node->own];
    CniTreeFactor *f = &t->factors[i];
    CnVec3 force = j->wrench.velocity;
    cni_tree_clear(f);
    if (node->joint < 0) continue;
    f->arm = cn_scale(0.5, cn_add(j->arm, cn_mmul(b->axes_new, node->arm)));
    add_lever(b, node->arm, cn_mtmul(b->axes, force));
    if (node->parent < 0) continue;
    b = &t->bodies[node->parent];
    f->parent_arm = cn_scale(0.5, cn_add(j->parent_arm, cn_mmul(b->axes_new, node->parent_arm)));
    add_lever(b, node->parent_arm, cn_mtmul(b->axes, cn_neg(force)));
  }
}

static int factor(CniTree *t, const CniTreeInput *in, int again) {
  int loops = t->link_count > t->node_count;
  if (again) refresh(t);
  for (int32_t i = t->link_count; i-- > 0;) { // what hangs at a body comes before it
    if (!again && t->nodes[i].joint >= 0) expect(t, in, i);
    if (i >= t->node_count) continue;
    CniTreeBody *b = &t->bodies[i];
    CnSym3 inertia = middle_inertia(b, in->time_step);
    if (loops)
      t->loops.bodies[i] = (CniDirectBody){1 / b->mass, cn_sinverse(inertia)};
    else if (!cni_tree_eliminate(t, i, b->mass, inertia))
      return 0;
    else
      cni_tree_gather(t, i);
    b->lever.x = b->lever.y = b->lever.z = CN_VEC3_ZERO;
  }
  if (loops) cni_tree_loops_factor(t);
  return 1;
}

// The impulses that the joints still ask for, to those found before, and to the bodies, which go as soon
// as they have all of theirs; what is left, below 0: not found. gathered: the factor has done that.
static double solve(CniTree *t, const CniTreeInput *in, int gathered) {
  int loops = t->link_count > t->node_count;
  int32_t gone = 0;
  double worst = 0;
  if (loops) cni_tree_loops_solve(t, 0);
  for (int32_t i = t->node_count; !loops && !gathered && i-- > 0;) cni_tree_gather(t, i);
  for (int32_t i = 0; i < t->link_count; i++) {
    if (!loops) cni_tree_spread(t, i);
    if (t->nodes[i].joint >= 0) {
      t->joints[i].wrench = cni_twist_add(t->joints[i].wrench, t->factors[i].wrench);
      push(t, i);
    }
    int32_t done = gone;
    while (!loops && done < t->node_count && t->nodes[done].last <= i) done++;
    if (!go(t, in, gone, done, 0, &worst)) return -1;
    gone = done;
  }
  return go(t, in, gone, t->link_count, 0, &worst) ? worst : -1;
}

int cni_tree_drift(CniTree *t, const CniTreeInput *in) {
  double before = INFINITY, now = 0;
  int factors = 0;
  t->kicked = 0;
  begin(t, in);
  if (!go(t, in, 0, t->link_count, 1, &now)) return 0;
  for (int32_t k = 0; now > 1; k++) {
    int gathered = 0;
    if (k > 0 && !(now < AWAY * before)) return 0;
    if (factors == 0 || (factors < FACTORS && !(now < SLOW * before))) {
      if (!factor(t, in, factors > 0)) return 0;
      factors++;
      gathered = 1;
      before = INFINITY;
    }
    if (k == MOST) return 0;
    before = now;
    now =
        solve(t, in, gathered); // always looked at: how fast the error fell before says too little
  }
  return now >= 0 && isfinite(now);
}
