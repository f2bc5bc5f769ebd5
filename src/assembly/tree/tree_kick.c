// SPDX-License-Identifier: Apache-2.0
// Where the joints of a tree are, and the kick: gravity over the step, and the impulses with which the
// joints hold (M v = M v_free + E^T g, E v = 0), certified by what the answer leaves of both.
#include "assembly/tree/tree_factor.h"

#include <string.h>

#define REFINED 2   // times at most,
#define EXACT 1e-12 // where more than this is left of the speeds
#define GOOD 1e-10  // or it is none of the tree's

// ---- where joints are ----

static const CnMat3 unit = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static int same_pose(const CnPose *a, const CnPose *b) { return memcmp(a, b, sizeof *a) == 0; }

// Does a body have the inertia, world axes, of the last kick?
static int stays(const CniTree *t, const CniTreeBody *b, const CniModel *model, int32_t body) {
  CnVec3 j = cni_model_principal(model, body);
  return same_pose(&model->pose[body], &t->pose[body]) && model->mass[body].mass == b->mass &&
         j.x == b->inertia.x && j.y == b->inertia.y && j.z == b->inertia.z;
}

static void begin(CniTreeBody *b, const CniModel *model, int32_t body) {
  b->mass = model->mass[body].mass;
  b->inertia = cni_model_principal(model, body);
  b->pose = model->pose[body];
  b->twist = model->twist[body];
  b->axes = cn_qmat(b->pose.rotation);
  b->stiff = 0;
  b->size = sqrt(cn_max(b->inertia.x, cn_max(b->inertia.y, b->inertia.z)) / b->mass);
}

// Lines of a hinge, and how far its axes are from each other, over what may be left, squared.
CNI_TREE_INLINE double place_axis(const CniTreeNode *node, CniTreeJoint *j, const CnMat3 *parent,
                                  const CnMat3 *own) {
  const CnMat3 *a = node->sign > 0 ? parent : own, *b = node->sign > 0 ? own : parent;
  CnVec3 z = cn_mmul(*b, node->z);
  j->x = cn_mmul(*a, node->x);
  j->y = cn_mmul(*a, node->y);
  j->tilt[0] = -cn_dot(j->y, z);
  j->tilt[1] = cn_dot(j->x, z);
  double tilt = j->tilt[0] * j->tilt[0] + j->tilt[1] * j->tilt[1];
  return tilt / (CNI_TREE_TURNS * CNI_TREE_TURNS);
}

// The joint that is farthest open, over its size, where the step begins.
CNI_TREE_INLINE void note_worst(const CniTree *t, int32_t i, CniTreeStep *step, double *most) {
  const CniTreeNode *node = &t->nodes[i];
  const CniTreeJoint *j = &t->joints[i];
  double size = cn_max(cn_max(node->reach, node->parent_reach), t->bodies[node->own].size);
  if (node->parent >= 0) size = cn_max(size, t->bodies[node->parent].size);
  double way2 = cn_norm2(j->gap), turn2 = 0;
  if (node->hinge) turn2 = j->tilt[0] * j->tilt[0] + j->tilt[1] * j->tilt[1];
  double relative = cn_max(way2, turn2 * size * size), bound = *most * size;
  if (!(relative > bound * bound)) return;
  *most = sqrt(relative) / size;
  step->worst = node->joint;
  step->way = sqrt(way2);
  step->turn = sqrt(turn2);
  step->open_size = size;
}

double cni_tree_place(CniTree *t, const CniTreeInput *in, int at_end, CniTreeStep *step) {
  double worst = 0, most = 0;
  if (step) step->worst = -1;
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    CniTreeBody *body = &t->bodies[node->own];
    CniTreeJoint *j = &t->joints[i];
    if (i >= t->node_count) {
      // its bodies are there already
    } else if (at_end) {
      body->pose = body->pose_new;
      body->twist = body->end;
      body->axes = body->axes_new;
    } else {
      if (t->kicked) t->kicked = stays(t, body, in->model, node->body);
      begin(body, in->model, node->body);
    }
    if (node->joint < 0) continue;
    const CniTreeBody *parent = node->parent >= 0 ? &t->bodies[node->parent] : NULL;
    CnMat3 axes = unit;
    CnVec3 from = CN_VEC3_ZERO;
    double size = 0;
    if (parent) {
      axes = parent->axes;
      from = parent->pose.position;
      size = parent->size;
    } else if (node->base >= 0) {
      axes = cn_qmat(in->model->pose[node->base].rotation);
      from = in->model->pose[node->base].position;
    }
    j->arm = cn_mmul(body->axes, node->arm);
    j->parent_arm = cn_mmul(axes, node->parent_arm);
    j->gap = cn_sub(cn_add(body->pose.position, j->arm), cn_add(from, j->parent_arm));
    j->tolerance = CNI_TREE_LINES * (node->reach + node->parent_reach + body->size + size) +
                   CNI_TREE_ROUNDING * (cn_norm(body->pose.position) + cn_norm(from));
    worst = cn_max(worst, cn_norm2(j->gap) / (j->tolerance * j->tolerance));
    if (node->hinge) worst = cn_max(worst, place_axis(node, j, &axes, &body->axes));
    if (step) note_worst(t, i, step, &most);
  }
  return sqrt(worst) / CNI_TREE_APART;
}

// ---- the kick ----

// Velocities of a joint: of the body against its parent, and the turn that is locked.
CNI_TREE_INLINE CnTwist speed_of(const CniTree *t, int32_t i) {
  const CniTreeNode *node = &t->nodes[i];
  const CniTreeFactor *f = &t->factors[i];
  CnTwist v = t->moved[node->body];
  CnTwist u = {cn_add(v.velocity, cn_cross(v.spin, f->arm)), v.spin};
  if (node->parent >= 0) {
    CnTwist p = t->moved[t->nodes[node->parent].body];
    u.velocity = cn_sub(u.velocity, cn_add(p.velocity, cn_cross(p.spin, f->parent_arm)));
    u.spin = cn_sub(u.spin, p.spin);
  }
  u.spin = node->hinge ? cn_madd(u.spin, -cn_dot(u.spin, f->axis), f->axis) : CN_VEC3_ZERO;
  return u;
}

static CnSym3 inertia_of(const CniTreeBody *b) {
  CnSym3 inertia = cn_srotate(b->axes, b->inertia);
  return b->stiff ? cn_sadd(inertia, b->added) : inertia;
}

// Without the joints' impulses. What is added to an inertia leaves its angular momentum as it is.
CNI_TREE_INLINE CnTwist free_twist(const CniTreeBody *b, const CniTreeInput *in, int32_t body) {
  CnTwist free = b->twist;
  free.velocity = cn_madd(free.velocity, in->time_step, in->gravity);
  if (in->model->load) {
    CnTwist load = in->model->load[body];
    CnVec3 turn = cn_mtmul(b->axes, load.spin), j = b->inertia;
    turn = cn_mmul(b->axes, cn_vec3(turn.x / j.x, turn.y / j.y, turn.z / j.z));
    free.velocity = cn_madd(free.velocity, in->time_step / b->mass, load.velocity);
    free.spin = cn_madd(free.spin, in->time_step, turn);
  }
  if (!b->stiff) return free;
  CnSym3 inertia = cn_srotate(b->axes, b->inertia);
  free.spin = cn_smul(cn_sinverse(inertia_of(b)), cn_smul(inertia, free.spin));
  return free;
}

double cni_tree_effort(const CniTreeNode *node, const CniTreeInput *in) {
  const CnJointAxis *axis = &in->model->joints[node->joint].def.axes[0];
  if (!(node->acts & CNI_TREE_DRIVEN)) return 0;
  return in->time_step * cni_drive_effort(in->model, axis, in->time, in->time_step);
}

// Efforts of motors, on both bodies of their hinges.
static void drive(CniTree *t, const CniTreeInput *in) {
  for (int32_t i = 0; i < t->node_count; i++)
    t->bodies[i].free = free_twist(&t->bodies[i], in, t->nodes[i].body);
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    double effort = cni_tree_effort(node, in);
    if (effort == 0) continue;
    CnVec3 turn = cn_scale(node->sign * effort, cn_cross(t->joints[i].x, t->joints[i].y));
    CniTreeBody *b = &t->bodies[node->own];
    b->free.spin = cn_add(b->free.spin, cn_smul(cn_sinverse(inertia_of(b)), turn));
    if (node->parent < 0) continue;
    b = &t->bodies[node->parent];
    b->free.spin = cn_sub(b->free.spin, cn_smul(cn_sinverse(inertia_of(b)), turn));
  }
}

static void lose_factor(CniTree *t) {
  for (int32_t i = 0; i < t->link_count; i++) cni_tree_clear(&t->factors[i]);
  t->kicked = 0;
}

CNI_TREE_INLINE int same(CnVec3 a, CnVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// What the joints ask for without their impulses; arms to the point that force and reaction share: b's.
static void load(CniTree *t, const CniTreeInput *in) {
  int driven = t->acts & CNI_TREE_DRIVEN;
  if (driven) drive(t, in);
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    CniTreeJoint *j = &t->joints[i];
    CniTreeFactor *f = &t->factors[i];
    if (!t->kicked) cni_tree_clear(f);
    if (i < t->node_count) {
      t->pose[node->body] = t->bodies[i].pose;
      t->twist[node->body] = t->bodies[i].twist;
      if (!driven) t->bodies[i].free = free_twist(&t->bodies[i], in, node->body);
      t->moved[node->body] = t->bodies[i].free;
    }
    if (node->joint < 0) continue;
    CnVec3 arm = node->sign > 0 ? j->arm : cn_sub(j->arm, j->gap);
    CnVec3 parent_arm = node->sign > 0 ? cn_add(j->parent_arm, j->gap) : j->parent_arm;
    CnVec3 axis = node->hinge ? cn_cross(j->x, j->y) : CN_VEC3_ZERO;
    if (t->kicked && !(same(arm, f->arm) && same(parent_arm, f->parent_arm) && same(axis, f->axis)))
      lose_factor(t);
    f->arm = arm;
    f->parent_arm = parent_arm;
    f->axis = axis;
    j->lines[0] = j->x;
    j->lines[1] = j->y;
    CnTwist u = speed_of(t, i);
    f->asked = (CnTwist){cn_neg(u.velocity), cn_neg(u.spin)};
  }
}

// m^2: rows that turn are certified times this length, as in the step problem.
static double length2_of(const CniTree *t, const CniTreeNode *node, const CniTreeBody *body) {
  double mass = 1 / body->mass, turn;
  turn = 1 / body->inertia.x + 1 / body->inertia.y + 1 / body->inertia.z;
  if (node->parent >= 0) {
    const CniTreeBody *p = &t->bodies[node->parent];
    mass += 1 / p->mass;
    turn += 1 / p->inertia.x + 1 / p->inertia.y + 1 / p->inertia.z;
  }
  return 3 * mass / turn;
}

typedef struct Sums {
  double u2, r2, u2_max, r2_max, speed2, dissipation;
  double k_max, d_max; // of momenta, and of what impulses leave of them
  int32_t worst;
} Sums;

static inline double largest(CnVec3 x) { return cn_max(fabs(x.x), cn_max(fabs(x.y), fabs(x.z))); }

static inline void weigh(CnVec3 k, CnVec3 change, CnVec3 p, Sums *s) {
  s->k_max = cn_max(s->k_max, cn_max(largest(k), largest(p)));
  s->d_max = cn_max(s->d_max, largest(cn_sub(change, p)));
}

// A body: its momenta against the impulses on it.
static void check_body(const CniTree *t, int32_t i, Sums *s) {
  const CniTreeBody *b = &t->bodies[i];
  CnTwist now = t->moved[t->nodes[i].body], p = b->push, free = b->free;
  CnSym3 inertia = inertia_of(b);
  weigh(cn_scale(b->mass, free.velocity), cn_scale(b->mass, cn_sub(now.velocity, free.velocity)),
        p.velocity, s);
  weigh(cn_smul(inertia, free.spin), cn_smul(inertia, cn_sub(now.spin, free.spin)), p.spin, s);
  s->dissipation -= 0.5 * (cn_dot(p.velocity, cn_add(now.velocity, b->twist.velocity)) +
                           cn_dot(p.spin, cn_add(now.spin, b->twist.spin)));
  s->speed2 =
      cn_max(s->speed2, cn_norm2(b->twist.velocity) + cn_norm2(b->twist.spin) * b->size * b->size);
}

// What the answer leaves at a joint; its impulse to the bodies.
static void check_joint(CniTree *t, int32_t i, Sums *s) {
  const CniTreeNode *node = &t->nodes[i];
  const CniTreeFactor *f = &t->factors[i];
  CnTwist u = speed_of(t, i), p = t->joints[i].impulse, *to = &t->bodies[node->own].push;
  double l2 = node->hinge ? length2_of(t, node, &t->bodies[node->own]) : 1;
  double u2 = cn_norm2(u.velocity) + l2 * cn_norm2(u.spin);
  double r2 = cn_norm2(f->asked.velocity) + l2 * cn_norm2(f->asked.spin);
  s->u2 += u2;
  s->r2 += r2;
  if (!(u2 <= s->u2_max)) s->worst = node->joint;
  s->u2_max = cn_max(s->u2_max, u2);
  s->r2_max = cn_max(s->r2_max, r2);
  to->velocity = cn_add(to->velocity, p.velocity);
  to->spin = cn_add(to->spin, cn_add(cn_cross(f->arm, p.velocity), p.spin));
  if (node->parent < 0) return;
  to = &t->bodies[node->parent].push;
  to->velocity = cn_sub(to->velocity, p.velocity);
  to->spin = cn_sub(to->spin, cn_add(cn_cross(f->parent_arm, p.velocity), p.spin));
}

static void certify(CniTree *t, const CniTreeInput *in, int first, CnCertificate *c) {
  Sums s = {.worst = -1};
  for (int32_t i = t->link_count; i-- > 0;) { // what hangs at a body comes before it
    if (t->nodes[i].joint >= 0) check_joint(t, i, &s);
    if (i < t->node_count) check_body(t, i, &s);
  }
  if (first) t->free = (CniTreeFree){s.r2, s.r2_max};
  double least = cn_max(cn_norm(in->gravity) * in->time_step, 1e-4 * sqrt(s.speed2));
  double speed = cn_max(sqrt(t->free.most), least), size = sqrt(cn_max(t->free.sum, s.u2));
  *c = (CnCertificate){.worst_block = s.worst, .dissipation = s.dissipation};
  c->residual_speed = c->joint_speed = sqrt(s.u2_max);
  c->residual = speed > 0 ? c->residual_speed / speed : 0;
  c->error_siconos = c->error_scaled = size > 0 ? sqrt(s.u2) / size : 0;
  c->momentum_defect = s.k_max > 0 ? s.d_max / s.k_max : 0;
}

// Impulses for what the joints still ask for, to those found before. The first time the factor has
// gathered it.
static void solve(CniTree *t, int first) {
  int loops = t->link_count > t->node_count;
  if (loops) cni_tree_loops_solve(t, 1);
  for (int32_t i = t->node_count; !loops && !first && i-- > 0;) cni_tree_gather(t, i);
  for (int32_t i = 0; i < t->link_count; i++) {
    CnTwist *impulse = &t->joints[i].impulse;
    if (!loops) cni_tree_spread(t, i);
    *impulse = first ? t->factors[i].wrench : cni_twist_add(*impulse, t->factors[i].wrench);
    if (i >= t->node_count) continue;
    CnTwist *moved = &t->moved[t->nodes[i].body];
    *moved = cni_twist_add(*moved, t->factors[i].moved);
    t->bodies[i].push = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  }
}

static int factor(CniTree *t) {
  int loops = t->link_count > t->node_count;
  if (t->kicked && loops) cni_direct_again(t->loops.direct);
  for (int32_t i = t->node_count; t->kicked && !loops && i-- > 0;) cni_tree_gather(t, i);
  if (t->kicked) return 1;
  for (int32_t i = t->node_count; i-- > 0;) {
    const CniTreeBody *b = &t->bodies[i];
    CnVec3 j = b->inertia;
    if (loops && !b->stiff) {
      CnSym3 inverse = cn_srotate(b->axes, cn_vec3(1 / j.x, 1 / j.y, 1 / j.z));
      t->loops.bodies[i] = (CniDirectBody){1 / b->mass, inverse};
      continue;
    }
    CnSym3 inertia = cn_srotate(b->axes, j);
    if (b->stiff) inertia = cn_sadd(inertia, b->added);
    if (loops)
      t->loops.bodies[i] = (CniDirectBody){1 / b->mass, cn_sinverse(inertia)};
    else if (!cni_tree_eliminate(t, i, b->mass, inertia))
      return 0;
    else
      cni_tree_gather(t, i);
  }
  if (loops) cni_tree_loops_factor(t);
  return 1;
}

int cni_tree_kick(CniTree *t, const CniTreeInput *in, CnCertificate *certificate) {
  t->kicked = t->kicked && !t->stiff;
  load(t, in);
  if (!factor(t)) return 0;
  t->kicked = !t->stiff;
  solve(t, 1);
  certify(t, in, 1, certificate);
  for (int32_t k = 0; k < REFINED && certificate->residual > EXACT; k++) {
    for (int32_t i = 0; i < t->link_count; i++) {
      if (t->nodes[i].joint < 0) continue;
      CnTwist u = speed_of(t, i);
      t->factors[i].asked = (CnTwist){cn_neg(u.velocity), cn_neg(u.spin)};
    }
    solve(t, 0);
    certify(t, in, 0, certificate);
  }
  return certificate->residual <= GOOD && certificate->momentum_defect <= GOOD;
}

void cni_tree_groups(const CniTree *t, CnProblem *problem) {
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeBody *b = &t->bodies[i];
    int32_t group = t->nodes[i].body;
    problem->groups[group].v = b->free.velocity;
    problem->groups[group].w = b->free.spin;
    if (!b->stiff) continue;
    CnSym3 own = cn_srotate(cn_qmat(t->pose[group].rotation), b->inertia);
    problem->groups[group].inv_inertia = CNI_INERTIA_FULL;
    problem->inertias[group] = cn_sinverse(cn_sadd(own, b->added));
  }
}
