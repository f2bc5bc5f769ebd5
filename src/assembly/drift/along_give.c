// SPDX-License-Identifier: Apache-2.0
// The drift along trees: what it comes to. Impulses of the rows of all joints, poses and twists.
#include "assembly/drift/along.h"

#include "core/math.h"

#define PASSED 1e-12 // rad: a limit

// Lines of a link's couples in the middle, and what tells how much of a couple is along each.
typedef struct Lines {
  int32_t count; // that carry what they have to
  CnVec3 line[3], dual[3];
} Lines;

static Lines lines_of(const CniAlong *t, const CniDriftLink *link, int32_t a) {
  const CniDriftLine *from = t->d->lines + link->line + 3;
  Lines x = {.count = link->dim > 3 ? link->dim - 3 : 0};
  if (x.count == 0) return x;
  for (int32_t r = 0; r < x.count; r++) x.line[r] = cni_along_mean_at(t, a, from[r].angular);
  CnVec3 n = cn_cross(x.line[0], x.line[1]), z = x.count > 2 ? x.line[2] : n;
  double f = 1 / cn_dot(n, z);
  x.dual[0] = cn_scale(f, cn_cross(x.line[1], z));
  x.dual[1] = cn_scale(f, cn_cross(z, x.line[0]));
  x.dual[2] = cn_scale(f, n);
  if (link->locked < 6 && t->d->loose[link->row + link->dim - 1] > 0) x.count = 2;
  return x;
}

// Angle by which b turns against a about the axis of a hinge.
static double angle_of(const CniAlong *t, int32_t a, int32_t b, CnVec3 axis) {
  CnVec3 from = a < 0 ? CN_VEC3_ZERO : t->nodes[a].g, to = b < 0 ? CN_VEC3_ZERO : t->nodes[b].g;
  return 2 * cni_atan2(cn_dot(cni_along_composed(cn_neg(from), to), axis), 1);
}

// The rows of a link by what it does to b; 0: more than it can, or a limit is passed.
static int give_rows(const CniAlong *t, const CniDriftLink *link, int32_t a, CnVec3 force,
                     CnVec3 *couple, double angle) {
  const CniDrift *d = t->d;
  Lines lines = lines_of(t, link, a);
  CnVec3 sum = CN_VEC3_ZERO;
  for (int32_t r = 0; r < link->dim; r++) {
    double *l = &d->impulse[link->row + r];
    d->residual[link->row + r] = d->left[link->row + r] = 0;
    if (r < 3) {
      *l = cn_dot(force, d->lines[link->line + r].linear);
      continue;
    }
    if (r - 3 < lines.count) *l = cn_dot(*couple, lines.dual[r - 3]);
    d->means[link->line + r] = (CniDriftLine){CN_VEC3_ZERO, lines.line[r - 3]};
    sum = cn_madd(sum, *l, lines.line[r - 3]);
    if (r < link->locked) continue;
    const CniHold *hold = &d->holds[link->row + r];
    if (r - 3 < lines.count) {
      if (!(*l >= hold->lo && *l <= hold->hi)) return 0;
    } else {
      double left = d->left[link->row + r] = angle - d->change[link->row + r];
      if (hold->side != 0 && hold->side * left < -PASSED) return 0;
    }
  }
  *couple = sum;
  return 1;
}

static void push(CniAlongNode *node, CnVec3 arm, CnVec3 force, CnVec3 couple, double sign) {
  CnVec3 turn = cn_add(couple, cn_cross(arm, force));
  node->need.velocity = cn_madd(node->need.velocity, sign, force);
  node->need.spin = cn_madd(node->need.spin, sign, turn);
}

static int watches(const CniDrift *d, const CniDriftLink *link) {
  return link->dim > link->locked && d->holds[link->row + link->locked].side != 0;
}

// Impulses of rows, and what they come to on the bodies.
int cni_along_give_impulses(const CniAlong *t) {
  const CniDrift *d = t->d;
  for (int32_t i = 0; i < t->node_count; i++)
    t->nodes[i].need = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  for (int32_t i = 0; i < t->node_count; i++) {
    CniAlongNode *node = &t->nodes[i];
    if (node->link < 0) continue;
    const CniDriftLink *link = &d->links[node->link];
    double sign = node->side ? 1 : -1, angle = 0;
    CnVec3 f = cn_scale(sign, node->total.velocity), c = cn_scale(sign, node->couple);
    int32_t a = node->side ? node->parent : i, b = node->side ? i : node->parent;
    if (watches(d, link)) angle = angle_of(t, a, b, node->axis);
    if (!give_rows(t, link, a, f, &c, angle)) return 0;
    push(node, node->mean, f, c, sign);
    if (node->parent >= 0) push(&t->nodes[node->parent], node->other_mean, f, c, -sign);
  }
  for (int32_t i = 0; i < t->loop_count; i++) {
    CniAlongLoop *loop = &t->loops[i];
    const CniDriftLink *link = &d->links[loop->link];
    double angle = 0;
    if (watches(d, link)) angle = angle_of(t, loop->nodes[0], loop->nodes[1], loop->axis);
    if (!give_rows(t, link, loop->nodes[0], loop->force, &loop->couple, angle)) return 0;
    for (int32_t side = 0; side < 2; side++)
      if (loop->nodes[side] >= 0)
        push(&t->nodes[loop->nodes[side]], loop->means[side], loop->force, loop->couple,
             side ? 1 : -1);
  }
  return 1;
}

// As they were.
void cni_along_take_back(const CniAlong *t) {
  const CniDrift *d = t->d;
  for (int32_t i = 0; i < t->node_count + t->loop_count; i++) {
    int32_t at = i < t->node_count ? t->nodes[i].link : t->loops[i - t->node_count].link;
    if (at < 0) continue;
    const CniDriftLink *link = &d->links[at];
    for (int32_t r = 0; r < link->dim; r++)
      d->impulse[link->row + r] = r < link->locked ? 0 : d->holds[link->row + r].impulse;
  }
}

void cni_along_give_poses(const CniAlong *t) {
  const CniDriftInput *in = t->d->in;
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniAlongNode *node = &t->nodes[i];
    int32_t body = t->d->bodies[node->body].body;
    CnPose from = in->pose[body];
    CnQuat turn = {1, node->g.x, node->g.y, node->g.z};
    in->pose_new[body] =
        (CnPose){cn_add(from.position, node->way), cn_qunit(cn_qmul(turn, from.rotation))};
  }
}

void cni_along_give_twists(const CniAlong *t) {
  const CniDriftInput *in = t->d->in;
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniAlongNode *node = &t->nodes[i];
    const CniDriftBody *own = &t->d->bodies[node->body];
    CnQuat to = in->pose_new[own->body].rotation;
    CnVec3 turn = cn_add(cn_smul(node->inertia, node->spin), node->need.spin), j = own->inertia;
    turn = cn_unrotate(to, turn);
    in->end[own->body] =
        (CnTwist){cn_madd(node->velocity, 1 / node->mass, node->need.velocity),
                  cn_rotate(to, cn_vec3(turn.x / j.x, turn.y / j.y, turn.z / j.z))};
  }
}
