// SPDX-License-Identifier: Apache-2.0
// The drift of a machine of hinges, balls and welds along its tree: the equations of drift_joints.c, with coordinates
// for unknowns in place of the impulses of all rows.
//
// Coordinates place all bodies (T: the turn of a body since the beginning), and so tell what its joints have to give
// to each of them,
//
//     f = 2 m ((x1 - x0)/h - v+),   L1 - L0 = T J0 (4 g/k - w+) - J0 w+,   T = cay(g)
//
// which goes from joint to joint to the root, force and reaction at mean arms. What is left of it along a
// coordinate has to be what is given there, in most cases nothing. Joints that close loops tell some coordinates from
// others, whatever the forces, and their impulses are those that leave nothing along these. With z the others,
// F = T^T r = 0 is a small full system, whose matrix is made of eight motions side by side. Arms and lines
// are those of the coordinates at hand, so that light bars whose forces turn with them do no harm: each step of
// Newton's method leaves a ten-thousandth, and both matrices are made once.
//
// Rows of loops that depend on others are told by their pivots where the loops are nearly closed, planes exactly. What
// is not as clear as that, coordinates that cannot be held, limits that are passed: is left to the general way.
#include "assembly/drift/along.h"

#include "core/math.h"

#include <string.h>

#define FIRST 1e7 // of what may be left: the size of a step before impulses of least norm are taken
#define PACE 1e-3 // what a step leaves, where that is all that hangs on it
#define STEPS 24  // of Newton's method,
#define CLOSINGS 8    // and of loops alone before it
#define NEARLY 1e-9   // of their sizes: closed until forces are known
#define TURN_MOST 0.3 // tangent of half a turn in a step
#define SPEEDS 1e-12  // rad/s, and lengths of the machine: what may be left of a step, over it,
#define LEAST 1e-15   // and no more or less than that
#define MOST 1e-14
#define SLOW 0.5  // of a step: there is no pace,
#define ROUND 100 // since what is left is round-off

// ---- places ----

// Where bodies are by their coordinates; returns the largest tangent of half a turn.
static double place(CniAlong *t) {
  double most = 0;
  for (int32_t i = 0; i < t->node_count; i++) {
    CniAlongNode *node = &t->nodes[i];
    const CniAlongNode *parent = cni_along_parent(t, node);
    CnVec3 turn = node->turned;
    if (node->leans) turn = cni_along_composed(node->lean, turn);
    node->g = parent ? cni_along_composed(parent->g, turn) : turn;
    double gg = cn_norm2(node->g);
    node->f = 1 / (1 + gg);
    most = cn_max(most, gg);
    if (node->link < 0) continue;
    node->bend = cni_along_change(node->g, node->f, node->arm);
    node->way = cn_madd(node->shift, -2, node->bend);
    if (!parent) continue;
    node->other_bend = cni_along_change(parent->g, parent->f, node->parent_arm);
    node->way = cn_add(node->way, cn_madd(parent->way, 2, node->other_bend));
  }
  return sqrt(most);
}

// Bodies go with their velocities, those of hinges about their axes.
static void set_off(CniAlong *t) {
  double half = t->pace / 2;
  for (int32_t i = 0; i < t->node_count; i++) {
    CniAlongNode *node = &t->nodes[i];
    const CniAlongNode *parent = cni_along_parent(t, node);
    CnVec3 spin = parent ? cn_sub(node->spin, parent->spin) : node->spin;
    node->turned = CN_VEC3_ZERO;
    if (node->hinge && node->count == 0) { // held
      const CniDriftLink *link = &t->d->links[node->link];
      double angle = t->d->change[link->row + link->locked];
      node->turned = cn_scale(cni_tan((node->side ? 0.5 : -0.5) * angle), node->axis);
    } else if (node->hinge) {
      node->turned = cn_scale(half * cn_dot(spin, node->axis), node->axis);
    } else if (node->count > 0) {
      node->turned = cn_scale(half, spin);
    }
    if (node->link < 0) node->way = cn_madd(t->along, 2 * half, node->velocity);
  }
}

// Coordinates change by `change`, turns of the bodies as they are now.
static void change(CniAlong *t) {
  for (int32_t i = 0; i < t->node_count; i++) {
    CniAlongNode *node = &t->nodes[i];
    const double *z = t->change + node->at;
    if (node->count == 1) {
      double now = cn_dot(node->turned, node->axis);
      double more = 0.5 * z[0];
      node->turned = cn_scale((now + more) / (1 - now * more), node->axis);
    } else if (node->count == 3) {
      const CniAlongNode *parent = cni_along_parent(t, node);
      CnVec3 more = cn_scale(0.5, cn_vec3(z[0], z[1], z[2]));
      if (parent) more = cni_along_turned(cn_neg(parent->g), parent->f, more);
      node->turned = cni_along_composed(more, node->turned);
    } else if (node->count == 6) {
      node->way = cn_add(node->way, cn_vec3(z[0], z[1], z[2]));
      node->turned = cni_along_composed(cn_scale(0.5, cn_vec3(z[3], z[4], z[5])), node->turned);
    }
  }
}

// ---- forces ----

// What joints have to give to bodies that go where they are.
static void find_needs(CniAlong *t) {
  for (int32_t i = 0; i < t->node_count; i++) {
    CniAlongNode *node = &t->nodes[i];
    CnVec3 way = cn_sub(node->way, t->along);
    CnVec3 v = cn_madd(cn_scale(1 / t->pace, way), -1, node->velocity);
    CnVec3 w = cn_madd(cn_scale(4 / node->turn, node->g), -1, node->spin);
    CnVec3 end = cni_along_turned(node->g, node->f, cn_smul(node->inertia, w));
    node->need.velocity = cn_scale(2 * node->mass, v);
    node->need.spin = cn_sub(end, cn_smul(node->inertia, node->spin));
    if (node->count == 1) node->free = cni_along_free_direction(t, node);
    node->mean = cn_add(cn_add(node->arm, node->rest), node->bend);
    node->other_mean = cn_add(cn_add(node->parent_arm, node->other_rest), node->other_bend);
  }
}

static void pull(CniAlongNode *node, CnVec3 arm, CnVec3 force, CnVec3 couple, double sign) {
  CnVec3 turn = cn_add(couple, cn_cross(arm, force));
  node->total.velocity = cn_madd(node->total.velocity, sign, force);
  node->total.spin = cn_madd(node->total.spin, sign, turn);
}

// From the leaves to the root, with impulses of loops as they are: what joints carry, and what of it is along
// coordinates where it should not be.
static void gather(CniAlong *t) {
  for (int32_t i = 0; i < t->node_count; i++) t->nodes[i].total = t->nodes[i].need;
  for (int32_t i = 0; i < t->loop_count; i++) {
    CniAlongLoop *loop = &t->loops[i];
    const double *x = loop->impulse;
    cni_along_find_lines(t, loop);
    loop->force = cn_vec3(x[0], x[1], x[2]);
    loop->couple = cn_madd(cn_scale(x[3], loop->mean_lines[0]), x[4], loop->mean_lines[1]);
    for (int32_t side = 0; side < 2; side++)
      if (loop->nodes[side] >= 0)
        pull(&t->nodes[loop->nodes[side]], loop->means[side], loop->force, loop->couple,
             side ? -1 : 1);
  }
  for (int32_t i = t->node_count; i-- > 0;) {
    CniAlongNode *node = &t->nodes[i];
    double *left = t->pulled + node->at;
    CnVec3 f = node->total.velocity, c = node->total.spin;
    if (node->link >= 0) {
      c = node->couple = cn_sub(c, cn_cross(node->mean, f));
      if (node->parent >= 0) pull(&t->nodes[node->parent], node->other_mean, f, c, 1);
    }
    if (node->count == 1) {
      left[0] = cn_dot(node->free, c);
      if (node->given != 0) left[0] -= node->given * cn_dot(node->free, node->axis);
    } else if (node->count > 1) {
      const double all[6] = {f.x, f.y, f.z, c.x, c.y, c.z};
      memcpy(left, node->count == 3 ? all + 3 : all, (size_t)node->count * sizeof *left);
    }
  }
}

// ---- Newton's method ----

// How large a change of the coordinates is, in units of what may be left of it.
static double size_of(const CniAlong *t) {
  double most = 0;
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniAlongNode *node = &t->nodes[i];
    for (int32_t k = 0; k < node->count; k++) {
      double size = node->count == 6 && k < 3 ? t->size : 1;
      double way = fabs(t->change[node->at + k]) / size;
      if (!(way <= most)) most = way;
    }
  }
  return most / cn_clamp(SPEEDS * t->d->in->time_step, LEAST, MOST);
}

// Impulses of loops for what bodies need.
static void find_step(CniAlong *t) {
  gather(t);
  cni_along_pull_loops(t);
}

// Until steps are smaller than `enough`; the last one, or the one that would be the next by the pace so far, is not
// made. *before: the step before. Returns 0 where there is no pace.
static int solve(CniAlong *t, double enough, double *before) {
  for (int32_t k = 0; k < STEPS; k++) {
    for (int32_t i = 0; i < t->coordinate_count; i++)
      if (t->free_of[i] >= 0) t->right[t->free_of[i]] = -t->pulled[i];
    cni_along_solve_matrix(t, t->right);
    for (int32_t i = 0; i < t->coordinate_count; i++)
      if (t->free_of[i] >= 0) t->change[i] = t->right[t->free_of[i]];
    cni_along_close_loops(t);
    int known = *before < INFINITY;
    double now = size_of(t), pace = known ? now / *before : PACE;
    if (now <= enough) return 1;
    if (!(pace < SLOW)) return now < ROUND; // round-off, or no method
    change(t);
    if (!(place(t) < TURN_MOST)) return 0;
    find_needs(t);
    find_step(t);
    *before = now;
    if (pace * now < enough && (known || enough > 1)) return 1;
  }
  return 0;
}

static int close_first(CniAlong *t) {
  for (int32_t i = 0; i < t->coordinate_count; i++) t->change[i] = 0;
  for (int32_t k = 0; k < CLOSINGS; k++) {
    if (cni_along_close_loops(t) <= NEARLY) return 1;
    change(t);
    if (!(place(t) < TURN_MOST)) return 0;
  }
  return 0;
}

int cni_along_run(CniAlong *t) {
  set_off(t);
  if (!(place(t) < TURN_MOST)) return 0;
  for (int32_t i = 0; i < t->group_count; i++)
    if (!cni_along_factor_group(t, &t->groups[i])) return 0;
  if (!cni_along_choose_free(t) || !close_first(t) || !cni_along_make_matrix(t)) return 0;
  double before = INFINITY;
  find_needs(t);
  find_step(t);
  // which of the impulses that do the same it is matters to next to nothing
  if (!solve(t, FIRST, &before)) return 0;
  gather(t);
  if (!cni_along_least(t)) return 0;
  find_step(t);
  if (!solve(t, 1, &before) || !cni_along_is_closed(t)) return 0;
  gather(t);
  cni_along_give_poses(t);
  if (!cni_along_give_impulses(t)) {
    cni_along_take_back(t);
    return 0;
  }
  cni_along_give_twists(t);
  return 1;
}
