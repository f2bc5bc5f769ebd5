// SPDX-License-Identifier: Apache-2.0
// The rows of hinges and balls halfway through a drift, for its factor: from body to body along the joints, each turning
// at its rate. There joints are closed, axes that are parallel stay so, and a plane loop stays in its plane, so that the
// factor tells which rows depend on others. From bodies that each went their own way it does not: there such
// rows depend on each other but for some 1e-4, and pivots of the size of its square tell nothing. Only the joints that
// close loops are open, along their planes, by what rates change in a step.
#include "assembly/drift_private.h"

#include "core/error.h"

// Where a body is.
struct CniDriftHalf {
  CnQuat turn; // since the beginning
  CnVec3 position;
  int32_t known;
  int32_t first,
      next; // sides of links at it, 2 link + side, -1: none; the body to go on from after it
};

static int takes(const CniDrift *d, const CniDriftLink *link) {
  const CniModel *model = d->in->model;
  if (link->joint < 0 || link->rotor || !link->point) return 0;
  if (!link->turns && (link->dim != 3 || link->locked != 3)) return 0;
  const CniJoint *joint = &model->joints[link->joint];
  const int32_t bodies[] = {joint->body_a, joint->body_b};
  for (int32_t k = 0; k < 2; k++)
    if (bodies[k] >= 0 && model->bodies[bodies[k]].kind == CN_BODY_KINEMATIC) return 0;
  return 1;
}

static int32_t body_at(const CniDriftPair *pair, int32_t side) { return side ? pair->b : pair->a; }

// To the point that force and reaction share, at the beginning.
static CnVec3 arm_at(const CniDriftPair *pair, int32_t side) {
  return cn_add(pair->arms[side], pair->rest[side]);
}

// A body without mass stays where it is.
static CnVec3 half_position(const CniDrift *d, const CniDriftPair *pair, int32_t side) {
  int32_t i = body_at(pair, side), other = body_at(pair, 1 - side);
  if (i >= 0) return d->half[i].position;
  CnVec3 from = d->in->pose[d->bodies[other].body].position;
  return cn_sub(cn_add(from, arm_at(pair, 1 - side)), arm_at(pair, side));
}
static CnQuat half_turn(const CniDrift *d, const CniDriftPair *pair, int32_t side) {
  int32_t i = body_at(pair, side);
  return i >= 0 ? d->half[i].turn : CN_QUAT_ONE;
}
static CnVec3 half_point(const CniDrift *d, const CniDriftPair *pair, int32_t side) {
  CnVec3 arm = cn_rotate(half_turn(d, pair, side), arm_at(pair, side));
  return cn_add(half_position(d, pair, side), arm);
}

// By the tangent of half an angle.
static CnQuat turned_by(CnVec3 t) { return cn_qunit((CnQuat){1, t.x, t.y, t.z}); }

// The other body of a link goes along with that of a side; it is the last from then on.
static void reach(const CniDrift *d, const CniDriftLink *link, int32_t side, int32_t *last) {
  const CniDriftInput *in = d->in;
  const CniDriftPair *pair = &d->pairs[link->pair];
  const CniDriftLine *lines = &d->lines[link->line];
  int32_t from = body_at(pair, side), to = body_at(pair, 1 - side);
  double half = in->time_step / 2;
  if (to < 0 || d->half[to].known) return;
  CnVec3 turn = in->twist[d->bodies[to].body].spin;
  if (from >= 0) turn = cn_sub(turn, in->twist[d->bodies[from].body].spin);
  if (link->locked == 5) { // about the axis that a hinge leaves
    CnVec3 axis = cn_cross(lines[3].angular, lines[4].angular);
    turn = cn_scale(cn_dot(turn, axis), axis); // of length one where the joint is closed
  }
  if (link->locked == 6) turn = CN_VEC3_ZERO;
  struct CniDriftHalf *other = &d->half[to];
  other->turn = cn_qmul(half_turn(d, pair, side), turned_by(cn_scale(half / 2, turn)));
  CnVec3 arm = cn_rotate(other->turn, arm_at(pair, 1 - side));
  other->position = cn_sub(half_point(d, pair, side), arm);
  other->known = 1;
  if (*last >= 0) d->half[*last].next = to;
  *last = to;
}

// All bodies that hang together with those from `body` on.
static void follow(const CniDrift *d, const int32_t *next_side, int32_t body, int32_t *last) {
  for (; body >= 0; body = d->half[body].next)
    for (int32_t s = d->half[body].first; s >= 0; s = next_side[s])
      reach(d, &d->links[s / 2], s % 2, last);
}

static void begin_at(const CniDrift *d, int32_t body) {
  const CniDriftInput *in = d->in;
  int32_t i = d->bodies[body].body;
  struct CniDriftHalf *half = &d->half[body];
  double t = in->time_step / 2;
  half->turn = turned_by(cn_scale(t / 2, in->twist[i].spin));
  half->position = cn_madd(in->pose[i].position, t, in->twist[i].velocity);
  half->known = 1;
}

// Leaves d->half null where joints are none of these.
CnStatus cni_drift_find_halfway(CniDrift *d) {
  int32_t *next_side, first = -1, last = -1;
  for (int32_t i = 0; i < d->link_count; i++)
    if (!takes(d, &d->links[i])) return CN_OK;
  if (!d->half) CNI_TRY(CNI_TAKE(d->in->arena, d->body_count, d->half));
  CNI_TRY(CNI_TAKE(d->in->arena, 2 * d->link_count, next_side));
  for (int32_t i = 0; i < d->body_count; i++)
    d->half[i] = (struct CniDriftHalf){.first = -1, .next = -1};
  for (int32_t s = 2 * d->link_count; s-- > 0;) {
    int32_t body = body_at(&d->pairs[d->links[s / 2].pair], s % 2);
    next_side[s] = body >= 0 ? d->half[body].first : -1;
    if (body >= 0) d->half[body].first = s;
  }
  for (int32_t i = 0; i < d->link_count; i++) { // what the ground holds goes first
    const CniDriftPair *pair = &d->pairs[d->links[i].pair];
    int32_t side = pair->a >= 0;
    if (body_at(pair, side) >= 0) continue;
    reach(d, &d->links[i], side, &last);
    if (first < 0) first = last;
  }
  follow(d, next_side, first, &last);
  for (int32_t i = 0; i < d->link_count; i++) {
    const CniDriftPair *pair = &d->pairs[d->links[i].pair];
    int32_t body = pair->a >= 0 ? pair->a : pair->b;
    if (d->half[body].known) continue;
    begin_at(d, body);
    last = body;
    follow(d, next_side, body, &last);
  }
  return CN_OK;
}

void cni_drift_half_side(const CniDrift *d, const CniDriftLink *link, int32_t side, CnTwist *e) {
  const CniDriftPair *pair = &d->pairs[link->pair];
  CnQuat turn = half_turn(d, pair, 0); // rows turn with a
  double s = side ? 1 : -1;
  CnVec3 arm = side ? cn_rotate(half_turn(d, pair, 1), arm_at(pair, 1))
                    : cn_sub(half_point(d, pair, 1), half_position(d, pair, 0));
  arm = cn_scale(s, arm);
  for (int32_t r = 0; r < 3; r++) {
    CnVec3 axis = d->lines[link->line + r].linear;
    e[r] = (CnTwist){cn_scale(s, axis), cn_cross(arm, axis)};
  }
  for (int32_t r = 3; r < link->dim; r++) {
    CnVec3 axis = cn_rotate(turn, d->lines[link->line + r].angular);
    e[r] = (CnTwist){CN_VEC3_ZERO, cn_scale(d->loose[link->row + r] > 0 ? 0 : s, axis)};
  }
}
