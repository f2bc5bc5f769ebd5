// SPDX-License-Identifier: Apache-2.0
// How long a drift is for those it moves. The midpoint spin turns a body by 2 atan(k |W|/2), so that k = h leaves a
// rotor at .3 rad a step .7 % behind. As every joint keeps its work at zero for any k as long as its two bodies have
// the same, an island that turns as a whole, like one rigid body, takes k = 2 tan(h|w|/2)/|w| and turns by h|w|, about a
// place that stays or, where nothing holds it, about its centre of mass, which goes h V:
//
//     x1 = x0 + k (v+ + v1)/2 + (h - k) V
//
// What moves within it does so for k instead of h, too: with D the energy of that over the energy of the turn the turn
// is stretched by (1 - D/1e-6)^2 of it, and not at all where something slides as it is told or a support moves. A body
// whose joints hold it at its centre, as a wheel's do, turns for itself and takes the k of its own spin.
#include "assembly/drift_private.h"

#include "core/math.h"

#define WITHIN 1e-6 // energy of what moves within an island, over that of its turn
#define AXLE 1e4    // how soon a joint's arm is one

static double pace_of_turn(double h, CnVec3 spin, double turn, double within) {
  double w = cn_norm(spin);
  if (!(turn > 0) || !(within < WITHIN * turn) || !(h * w < CNI_DRIFT_LONG)) return h;
  double share = 1 - within / (WITHIN * turn);
  return h + share * share * (cni_drift_stretched(h, w) - h);
}

// An island, and what is summed over it.
typedef struct Whole {
  double mass;
  CnVec3 momentum;
  CnVec3 spin;         // of the strongest turn: its
  double strongest;    // energy
  double turn, within; // twice the energies of the turn, and of what moves within it
  double
      most; // of mass times the square of an arm: the turn is none larger than that times the spin's
  int held, told; // something without mass holds it; it moves, or something slides as it is told
} Whole;

// Where a joint meets a body, and how that moves.
typedef struct Side {
  double ease; // 1 over its mass; 0: none of its own
  CnVec3 velocity, spin, arm, point;
} Side;

static Side side_of(const CniDrift *d, const CniDriftPair *pair, int32_t side) {
  const CniDriftInput *in = d->in;
  int32_t at = side ? pair->b : pair->a;
  Side s = {.arm = cn_add(pair->arms[side], pair->rest[side])};
  if (at < 0) return s;
  int32_t body = d->bodies[at].body;
  s.ease = 1 / d->bodies[at].mass;
  s.spin = in->twist[body].spin;
  s.velocity = cn_add(in->twist[body].velocity, cn_cross(s.spin, s.arm));
  s.point = cn_add(in->pose[body].position, s.arm);
  return s;
}

// Sides without mass: do they stay? Where b's point is from a's.
static CnVec3 between(const CniDrift *d, const CniDriftLink *link, const Side side[2],
                      Whole *whole) {
  const CniDriftInput *in = d->in;
  const CniJoint *joint = &in->model->joints[link->joint];
  CnVec3 at[2];
  for (int32_t k = 0; k < 2; k++) {
    int32_t body = k ? joint->body_b : joint->body_a;
    at[k] = side[k].point;
    if (side[k].ease > 0) continue;
    whole->held = 1;
    at[k] = (k ? &joint->local_b : &joint->local_a)->position;
    if (body < 0) continue;
    at[k] = cn_pose_point(in->pose[body], at[k]);
    CnTwist moves = in->twist[body];
    whole->told |= in->model->bodies[body].kind == CN_BODY_KINEMATIC &&
                   cn_norm2(moves.velocity) + cn_norm2(moves.spin) > 0;
  }
  return cn_sub(at[1], at[0]);
}

static void weigh_turn(Whole *whole, double twice, CnVec3 spin) {
  if (!(twice > whole->strongest)) return;
  whole->strongest = twice;
  whole->spin = spin;
}

static void add_turn(Whole *whole, double mass, CnVec3 moves, CnVec3 arm) {
  CnVec3 turns = cn_cross(whole->spin, arm);
  whole->turn += mass * cn_norm2(turns);
  whole->within += mass * cn_norm2(cn_sub(moves, turns));
}

// First the strongest turn, then what fits it (`again`).
static void look_at(const CniDrift *d, const CniDriftLink *link, int again, Whole *whole) {
  if (link->joint < 0 || link->rotor) return; // those of other joints
  const CniDriftPair *pair = &d->pairs[link->pair];
  Side side[2] = {side_of(d, pair, 0), side_of(d, pair, 1)};
  CnVec3 way = link->apart ? between(d, link, side, whole) : CN_VEC3_ZERO;
  if (!link->apart) between(d, link, side, whole);
  CnVec3 moves = cn_sub(side[1].velocity, side[0].velocity);
  double mass = 1 / (side[0].ease + side[1].ease), square = cn_norm2(way);
  if (!again) whole->most += mass * square;
  for (int32_t k = 0; k < 2; k++) {
    if (!(side[k].ease > 0)) continue;
    if (!again) whole->most += cn_norm2(side[k].arm) / side[k].ease;
    CnVec3 turns = cn_cross(side[k].spin, side[k].arm);
    if (again)
      add_turn(whole, 1 / side[k].ease, turns, side[k].arm);
    else
      weigh_turn(whole, cn_norm2(turns) / side[k].ease, side[k].spin);
  }
  if (again)
    add_turn(whole, mass, moves, way);
  else if (square > 0)
    weigh_turn(whole, mass * cn_norm2(moves), cn_scale(1 / square, cn_cross(way, moves)));
  for (int32_t r = link->locked; r < link->dim; r++) {
    const CniHold *hold = &d->holds[link->row + r];
    CnVec3 angular = d->lines[link->line + r].angular;
    whole->told |= hold->active && !(cn_norm2(angular) > 0);
  }
}

static void pace_island(const CniDrift *d, int32_t island) {
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  int32_t begin, end;
  Whole whole = {0};
  double h = d->in->time_step;
  cni_direct_island(d->in->direct, island, &begin, &end);
  for (int32_t i = begin; i < end; i++) look_at(d, &d->links[list_of[i]], 0, &whole);
  if (whole.told) return;
  double least =
      WITHIN * cn_norm2(whole.spin) * whole.most; // of what moves within, for no turn as a whole
  for (int32_t i = begin; i < end; i++) {
    look_at(d, &d->links[list_of[i]], 1, &whole);
    if (whole.within > least) return;
  }
  double k = pace_of_turn(h, whole.spin, whole.turn, whole.within);
  if (!(k > h)) return;
  for (int32_t pass = 0; pass < 2; pass++)
    for (int32_t i = begin; i < end; i++) {
      const CniDriftLink *link = &d->links[list_of[i]];
      for (int32_t n = 0; n < 2 * link->pair_count; n++) {
        const CniDriftPair *pair = &d->pairs[link->pair + n / 2];
        int32_t at = n % 2 ? pair->b : pair->a;
        if (at < 0 || d->bodies[at].owner != list_of[i]) continue;
        CniDriftBody *body = &d->bodies[at];
        if (pass == 0) {
          whole.mass += body->mass;
          whole.momentum = cn_madd(whole.momentum, body->mass, d->in->twist[body->body].velocity);
          continue;
        }
        body->pace = k;
        if (!whole.held) body->along = cn_scale((h - k) / whole.mass, whole.momentum);
      }
    }
}

// Angles whose speed is kept go as far as their bodies turn with it: 2 atan(k w/2).
static void aim_motors(const CniDrift *d, const CniDriftLink *link) {
  for (int32_t r = link->locked; r < link->dim; r++) {
    const CniHold *hold = &d->holds[link->row + r];
    const CniDriftPair *pair = &d->pairs[link->pair];
    if (hold->rate == 0) continue;
    double k = d->bodies[pair->b >= 0 ? pair->b : pair->a].turn, w = 0;
    if (pair->a >= 0) {
      int32_t a = d->bodies[pair->a].body;
      w = cn_dot(d->lines[link->line + r].angular, d->in->twist[a].spin);
    }
    double way = 2 * (cni_atan2(0.5 * k * (w + hold->rate), 1) - cni_atan2(0.5 * k * w, 1));
    d->target[link->row + r] += way;
    d->change[link->row + r] += way;
  }
}

void cni_drift_paces(CniDrift *d, int32_t islands) {
  double h = d->in->time_step;
  for (int32_t i = 0; i < d->body_count; i++) {
    d->bodies[i].pace = h;
    d->bodies[i].along = CN_VEC3_ZERO;
  }
  for (int32_t i = 0; i < islands; i++) pace_island(d, i);
  for (int32_t i = 0; i < d->body_count; i++) {
    CniDriftBody *body = &d->bodies[i];
    double share = 1 / (1 + AXLE * body->across);
    body->turn = body->pace + share * (cni_drift_stretched(h, cn_norm(body->spin)) - body->pace);
  }
  for (int32_t i = 0; i < d->link_count; i++)
    if (d->links[i].joint >= 0) aim_motors(d, &d->links[i]);
}
