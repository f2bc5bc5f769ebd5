// SPDX-License-Identifier: Apache-2.0
// Drift of bodies on joints: their motion without forces over a step, in which joints carry what
// keeps them together and do no work.
//
//     x1 = x0 + h (v+ + v1)/2,   v1 = v+ + f/m,   L1 = L0 + r x f + t
//     R1 = R0 cay(h Wm),         Wm = (W0 + W1)/2 in body axes
//     c(q1) = c(q0)
//     x(q1) = x(q0) + h x', or at its limit: coordinates that something holds
//
// with the joint's impulse l: f, t = sum of its rows times l. Rows and lever arms r are the means of
// those at the two ends of the step. The Cayley map moves a point of the body by h w x r with that
// very mean r, so for a ball joint the work l.(E v+ + E v1)/2 is l.(c(q1) - c(q0))/h = 0 without
// any error of the step: an arm keeps turning for ever. Force and reaction have one line of action,
// so that angular momentum stays too. For the other kinds energy is kept to third order. A body that
// turns about the line of its joints (a wheel on its axle) takes k = 2 tan(h|W|/2)/|W| for h in its
// turn, as free ones do (drift.c), and so turns by h|W|: the joints' arms do not move with it. Between
// that and an arm, s = |W x r|/(|W||r|), k goes over to h as 1/(1 + 1e4 s^2). What hangs
// at rest has nothing to carry here: l = 0. Errors of positions that are there at the beginning stay,
// and go away afterwards (drift_close.c).
//
// Machines of hinges, balls and welds of which something may hold a coordinate go along their trees (drift/along.c),
// with the same equations; what follows is the way of all others.
//
// Motors, dry friction, limits and couplings that hold a coordinate in the kick (cni_joint_holds) hold
// it here too, with what is left of their effort: a row whose impulse comes out beyond that gives
// all it has instead, and a limit that would be passed begins to hold. Where the rows of an island
// contradict each other it goes without those.
//
// l is found island by island by Newton's method with a factor of S = E M^-1 E^T, rows and masses in
// the middle of the motion without joints, so that each step of it leaves a hundredth of the error or
// less: two to four of them. Lever arms turn with their bodies while these are moved (drift.c). A force
// that pulls at an arm holds against turning: J + h/4 (r.f - r f^T), which counts where bodies are light
// and forces large, stands for J, first with the forces of the step before. Forces at a point that is
// locked in all directions are numbers along axes that stay, and other rows keep the directions
// of the motion without joints, or follow while the error is large: a row that turned would turn what
// it carries, a stiffness that S does not know and that costs a factor. Where Newton's method does not
// come nearer (a turn of more than a radian in a step) the island goes without, and is put together
// afterwards.
//
// References: Hairer, Lubich and Wanner, Geometric Numerical Integration, VII.1 (SHAKE and RATTLE);
// Simo and Wong 1991.
#include "assembly/drift/along.h"
#include "assembly/tree/tree_private.h"

#include "core/error.h"

#define MAX_NEWTON 8
#define MAX_FACTORS 8
#define MAX_REVISIONS 8 // of what is held
#define ARM_ROUNDS 4    // in which arms follow impulses that are given
#define NEAR 30         // error from which one step may be the last without another look,
#define SURE 0.1        // if this is to be expected of it;
#define HINGES_NEAR 1e3 // where all arms turn with their bodies,
#define HINGES_SURE 0.5 // and a look tells nothing else
#define SLOW 0.2        // of the error left by a step: a new factor is worth its price
#define SETTLING 2      // steps in which arms and forces are still far from what they will be:
#define HOPE 0.6        // what a step may leave there
#define LIGHT 1e-3      // stiffness of the forces over inertia that is not worth it
#define LEAST 0.5       // of the least inertia that forces leave
#define ONE_LINE 1e-12  // square of the sine between arms that are along one line
#define EXPECT 1e3      // error from which it pays to reckon with forces before they are known
#define COARSE 1e7      // error from which the directions of rows follow,
#define WIDE 1e9        // and those of hinges
#define FAIR 1e3     // error left, in units of what may be, where rows do not contradict each other
#define PASSED 1e-12 // m or rad: a limit
#define BENT                                                                                       \
  1e-7 // rad, or of a size: joints that are so far apart hide which rows depend on others
#define BENT_FACTORS 2 // that go without these: the first finds them, the second keeps them
#define RANK_LOST 2e-8 // pivot of rows that depend on others: round-off grows along a row of loops
#define FIND_RANK 1
#define KEEP_RANK 2

// ---- one way through an island ----

// What a link does at its pair k.
static CnTwist wrench(const CniDrift *d, const CniDriftLink *link, int32_t k) {
  CnTwist sum = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  int32_t count = link->joint < 0 ? 1 : link->dim;
  for (int32_t r = 0; r < count; r++) {
    const CniDriftLine *line = &d->means[link->line + k + r];
    double l = d->impulse[link->row + r];
    sum.velocity = cn_madd(sum.velocity, l, line->linear);
    sum.spin = cn_madd(sum.spin, l, line->angular);
  }
  return sum;
}

// A force on b and its reaction on a, as far as they hold the bodies against turning.
static void add_arms(const CniDrift *d, const CniDriftPair *pair, CnVec3 force) {
  for (int32_t side = 0; side < 2; side++) {
    int32_t i = side ? pair->b : pair->a;
    if (i < 0) continue;
    CnMat3 *arms = &d->bodies[i].arms;
    CnVec3 r = pair->arms[side], f = side ? force : cn_neg(force);
    *arms = (CnMat3){cn_madd(arms->x, f.x, r), cn_madd(arms->y, f.y, r), cn_madd(arms->z, f.z, r)};
  }
}

// A hinge's force and couple.
static void push_hinge(const CniDrift *d, const CniDriftLink *link) {
  const CniDriftPair *pair = &d->pairs[link->pair];
  const CniDriftLine *line = &d->means[link->line];
  const double *l = &d->impulse[link->row];
  CnVec3 force = cn_madd(cn_scale(l[0], line[0].linear), l[1], line[1].linear),
         couple = CN_VEC3_ZERO;
  force = cn_madd(force, l[2], line[2].linear);
  for (int32_t r = 3; r < link->dim; r++) couple = cn_madd(couple, l[r], line[r].angular);
  if (pair->a >= 0) {
    CnTwist *sum = &d->bodies[pair->a].impulse;
    sum->velocity = cn_sub(sum->velocity, force);
    sum->spin = cn_sub(sum->spin, cn_add(cn_cross(pair->rest[0], force), couple));
  }
  if (pair->b >= 0) {
    CnTwist *sum = &d->bodies[pair->b].impulse;
    sum->velocity = cn_add(sum->velocity, force);
    sum->spin = cn_add(sum->spin, couple);
  }
  add_arms(d, pair, force);
}

void cni_drift_push(const CniDrift *d, const CniDriftLink *link) {
  if (link->turns && !d->closing) {
    push_hinge(d, link);
    return;
  }
  for (int32_t k = 0; k < link->pair_count; k++) {
    CnTwist p = wrench(d, link, k);
    const CniDriftPair *pair = &d->pairs[link->pair + k];
    for (int32_t side = 0; side < 2; side++) {
      int32_t i = side ? pair->b : pair->a;
      if (i < 0) continue;
      CnTwist *sum = &d->bodies[i].impulse;
      double sign = side ? 1 : -1;
      CnVec3 arm = d->closing ? pair->mean_arms[side] : pair->rest[side];
      CnVec3 turn = cn_add(cn_cross(arm, p.velocity), p.spin);
      sum->velocity = cn_madd(sum->velocity, sign, p.velocity);
      sum->spin = cn_madd(sum->spin, sign, turn);
    }
    add_arms(d, pair, p.velocity);
  }
}

// R^T A R
static inline __attribute__((always_inline)) CnMat3 in_body(CnQuat q, CnMat3 a) {
  CnMat3 r = cn_qmat(q), b = {cn_mmul(a, r.x), cn_mmul(a, r.y), cn_mmul(a, r.z)};
  return (CnMat3){{cn_dot(r.x, b.x), cn_dot(r.y, b.x), cn_dot(r.z, b.x)},
                  {cn_dot(r.x, b.y), cn_dot(r.y, b.y), cn_dot(r.z, b.y)},
                  {cn_dot(r.x, b.z), cn_dot(r.y, b.z), cn_dot(r.z, b.z)}};
}

// Do forces at the arms of a body hold it against turning?
static int is_stiff(const CniDrift *d, const CniDriftBody *body) {
  const double *a = &body->arms.x.x;
  double sum = 0, least = cn_min(body->inertia.x, cn_min(body->inertia.y, body->inertia.z));
  for (int32_t i = 0; i < 9; i++) sum += fabs(a[i]);
  return d->in->time_step * sum > LIGHT * least;
}

static void move(const CniDrift *d, CniDriftBody *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnPose old = in->pose[i], *now = &in->pose_new[i];
  CnTwist start = in->twist[i], *end = &in->end[i];
  double h = body->pace;
  end->velocity = cn_madd(start.velocity, 1 / body->mass, body->impulse.velocity);
  now->position =
      cn_madd(cn_add(old.position, body->along), h / 2, cn_add(start.velocity, end->velocity));
  CnVec3 m = body->middle;
  CniDriftTorque torque = {cn_unrotate(old.rotation, body->impulse.spin), body->arms};
  if (cn_norm2(torque.arms.x) + cn_norm2(torque.arms.y) + cn_norm2(torque.arms.z) > 0)
    torque.arms = in_body(old.rotation, body->arms);
  double k = body->turn;
  if (!cni_drift_middle(body->inertia, body->spin, &torque, k, &m)) m = body->spin;
  body->middle = m;
  now->rotation = cni_drift_turned(old.rotation, m, k);
  end->spin = cn_rotate(now->rotation, cn_madd(cn_scale(2, m), -1, body->spin));
}

void cni_drift_each_body(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end,
                         CniDriftDo *act) {
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t k = 0; k < 2 * link->pair_count; k++) {
      const CniDriftPair *pair = &d->pairs[link->pair + k / 2];
      int32_t body = k % 2 ? pair->b : pair->a;
      if (body >= 0 && d->bodies[body].owner == list_of[i]) act(d, &d->bodies[body]);
    }
  }
}

void cni_drift_forget(const CniDrift *d, CniDriftBody *body) {
  (void)d;
  body->impulse = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  body->arms = (CnMat3){CN_VEC3_ZERO, CN_VEC3_ZERO, CN_VEC3_ZERO};
}

// ---- several bodies at once ----

static void load_lane(const CniDrift *d, const CniDriftBody *body, CniDriftEight *e, int32_t k) {
  CnPose from = d->in->pose[body->body];
  e->inv_mass[k] = 1 / body->mass;
  e->pace[k] = body->pace;
  e->turn[k] = body->turn;
  cni_lane_put(&e->inertia, k, body->inertia);
  cni_lane_put(&e->spin, k, body->spin);
  cni_lane_put(&e->middle, k, body->middle);
  cni_lane_put(&e->position, k, cn_add(from.position, body->along));
  cni_lane_put(&e->velocity, k, d->in->twist[body->body].velocity);
  cni_lane_put_quat(&e->rotation, k, from.rotation);
  cni_lane_put(&e->force, k, body->impulse.velocity);
  cni_lane_put(&e->couple, k, body->impulse.spin);
  cni_lane_put(&e->arms.x, k, body->arms.x);
  cni_lane_put(&e->arms.y, k, body->arms.y);
  cni_lane_put(&e->arms.z, k, body->arms.z);
}

static void store_lane(const CniDrift *d, CniDriftBody *body, const CniDriftEight *e, int32_t k) {
  d->in->pose_new[body->body] =
      (CnPose){cni_lane_vec(&e->position_new, k), cni_lane_quat(&e->rotation_new, k)};
  d->in->end[body->body] =
      (CnTwist){cni_lane_vec(&e->velocity_new, k), cni_lane_vec(&e->spin_new, k)};
  body->middle = cni_lane_vec(&e->middle, k);
}

// Bodies of a list, at least one: lanes that are left over go as the first does.
static void move_eight(const CniDrift *d, int32_t count, CniDriftBody *const *list) {
  _Alignas(64) CniDriftEight e;
  for (int32_t k = 0; k < CNI_TREE_LANES; k++) load_lane(d, list[k < count ? k : 0], &e, k);
  int32_t left = cni_tree_kernels(cni_simd_level())->turn_eight(&e);
  for (int32_t k = 0; k < count; k++)
    if (left >> k & 1)
      move(d, list[k]);
    else
      store_lane(d, list[k], &e, k);
}

// All bodies of an island by the impulses found so far.
static void go(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  CniDriftBody *list[CNI_TREE_LANES];
  int32_t count = 0;
  cni_drift_each_body(d, list_of, begin, end, cni_drift_forget);
  for (int32_t i = begin; i < end; i++) cni_drift_push(d, &d->links[list_of[i]]);
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t k = 0; k < 2 * link->pair_count; k++) {
      const CniDriftPair *pair = &d->pairs[link->pair + k / 2];
      int32_t body = k % 2 ? pair->b : pair->a;
      if (body < 0 || d->bodies[body].owner != list_of[i]) continue;
      list[count++] = &d->bodies[body];
      if (count == CNI_TREE_LANES) move_eight(d, count, list);
      if (count == CNI_TREE_LANES) count = 0;
    }
  }
  if (count > 2)
    move_eight(d, count, list);
  else
    for (int32_t k = 0; k < count; k++) move(d, list[k]);
}

double cni_drift_look_at_all(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end,
                             int follow) {
  double worst = 0;
  for (int32_t i = begin; i < end; i++)
    worst = cn_max(worst, cni_drift_look(d, &d->links[list_of[i]], follow));
  return worst;
}

// s, of all bodies of a link's island.
static double pace_of(const CniDrift *d, const CniDriftLink *link) {
  double pace = d->in->time_step;
  for (int32_t k = link->pair; k < link->pair + link->pair_count; k++) {
    int32_t body = d->pairs[k].a >= 0 ? d->pairs[k].a : d->pairs[k].b;
    if (body >= 0) pace = d->bodies[body].pace;
  }
  return pace;
}

// Newton's method with the factor as it is: to the end, or until it becomes slow.
static void drift_island(const CniDrift *d, int32_t island) {
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  int32_t begin, end;
  cni_direct_island(d->in->direct, island, &begin, &end);
  double before = INFINITY, now = d->last[island], pace = pace_of(d, &d->links[list_of[begin]]);
  int slides = 0, rods = 0;
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    slides |= !link->turns && (link->dim > link->locked || !link->point);
    rods |= link->apart;
  }
  for (int32_t k = 0; k < MAX_NEWTON && now > 1; k++) {
    if (!(now < (k <= SETTLING ? HOPE : SLOW) * before)) break;
    if (d->rank_known)
      cni_direct_solve_basic(d->in->direct, d->residual, d->change, island, island + 1);
    else
      cni_direct_solve_some(d->in->direct, d->residual, d->change, island, island + 1);
    for (int32_t i = begin; i < end; i++) {
      const CniDriftLink *link = &d->links[list_of[i]];
      for (int32_t r = link->row; r < link->row + link->dim; r++)
        d->impulse[r] -= 2 / pace * d->change[r];
    }
    cni_direct_least(d->in->direct, d->impulse, island, island + 1);
    go(d, list_of, begin, end);
    // at the pace so far nothing is left to be seen
    double expected = before < INFINITY ? now / before * now : INFINITY;
    before = now;
    now = expected < (slides ? SURE : HINGES_SURE) && now < (slides ? NEAR : HINGES_NEAR)
              ? expected
              : cni_drift_look_at_all(d, list_of, begin, end, (now > COARSE) + (now > WIDE));
    // forces along the lines that there were lead there at once where lines are alone, but belong along the new ones
    if (!(rods && now <= 1)) continue;
    go(d, list_of, begin, end);
    now = cni_drift_look_at_all(d, list_of, begin, end, 2);
  }
  // arms that reach to another body are known once more, for the angular momentum
  if (slides) go(d, list_of, begin, end);
  d->last[island] = now;
}

static void drift_islands(void *context, int32_t begin, int32_t end) {
  const CniDrift *d = context;
  for (int32_t i = begin; i < end; i++)
    if (d->last[i] > 1) drift_island(d, i);
}

// An island that did not come nearer goes without its rows, or without those that may be let go.
static void let_go(const CniDrift *d, int32_t island, int only_holds) {
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  int32_t begin, end;
  cni_direct_island(d->in->direct, island, &begin, &end);
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t r = link->row; r < link->row + link->dim; r++) d->impulse[r] = 0;
    for (int32_t r = link->locked; only_holds && r < link->dim; r++) {
      d->holds[link->row + r].side = 0;
      d->loose[link->row + r] = 1;
    }
  }
  go(d, list_of, begin, end);
  if (only_holds)
    d->first[island] = d->last[island] = cni_drift_look_at_all(d, list_of, begin, end, 2);
}

// ---- what is held ----

// A row that cannot hold gives all it has; a limit that would be passed holds. Once each.
static int revise_row(const CniDrift *d, int32_t row, CniHold *hold) {
  double l = d->impulse[row];
  if (!(d->loose[row] > 0)) {
    if (l >= hold->lo && l <= hold->hi) return 0;
    d->impulse[row] = cn_clamp(l, hold->lo, hold->hi);
    d->loose[row] = 1;
    hold->side = 0;
    return 1;
  }
  if (hold->side == 0 || !(hold->side * d->left[row] < -PASSED)) return 0;
  d->loose[row] = 0;
  return 1;
}

static int revise_island(const CniDrift *d, int32_t island) {
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  int32_t begin, end;
  int changed = 0;
  cni_direct_island(d->in->direct, island, &begin, &end);
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t r = link->locked; r < link->dim; r++)
      changed |= revise_row(d, link->row + r, &d->holds[link->row + r]);
  }
  if (!changed) return 0;
  // nobody may look at it again: arms that reach to another body have to be where it goes
  for (int32_t k = 0; k < ARM_ROUNDS; k++) {
    go(d, list_of, begin, end);
    d->last[island] = cni_drift_look_at_all(d, list_of, begin, end, 2);
  }
  return 1;
}

static int revise(const CniDrift *d) {
  int changed = 0;
  for (int32_t i = 0; i < cni_direct_islands(d->in->direct); i++)
    if (d->last[i] <= FAIR) changed |= revise_island(d, i);
  return changed;
}

// ---- the factor ----

// Are all eigenvalues above `least`, by Gershgorin's circles?
static int is_safe(const CnSym3 *s, double least) {
  double xy = fabs(s->xy), xz = fabs(s->xz), yz = fabs(s->yz);
  return s->xx - xy - xz > least && s->yy - xy - yz > least && s->zz - xz - yz > least;
}

// f R S R^T
static CnSym3 turned(CnMat3 r, CnSym3 s, double f) {
  CnVec3 x = cn_madd(cn_madd(cn_scale(s.xx, r.x), s.xy, r.y), s.xz, r.z);
  CnVec3 y = cn_madd(cn_madd(cn_scale(s.xy, r.x), s.yy, r.y), s.yz, r.z);
  CnVec3 z = cn_madd(cn_madd(cn_scale(s.xz, r.x), s.yz, r.y), s.zz, r.z);
  return (CnSym3){
      f * (r.x.x * x.x + r.y.x * y.x + r.z.x * z.x), f * (r.x.y * x.y + r.y.y * y.y + r.z.y * z.y),
      f * (r.x.z * x.z + r.y.z * y.z + r.z.z * z.z), f * (r.x.x * x.y + r.y.x * y.y + r.z.x * z.y),
      f * (r.x.x * x.z + r.y.x * y.z + r.z.x * z.z), f * (r.x.y * x.z + r.y.y * y.z + r.z.y * z.z)};
}

// (r.f) (1 - r r^T/r^2): all arms of a body are along one line r, as those of a bar, so that f holds it
// against turns across the line alone. The part of f across the line makes such turns pull at the one about
// it; half of that to either side, as a symmetric matrix has it, is far more than a thin bar's inertia, and
// Newton's method would run away. Returns 0 where arms lie otherwise.
static int along_line(CnMat3 b, double f, CnSym3 *k) {
  CnVec3 x = cn_vec3(b.x.x, b.y.x, b.z.x), y = cn_vec3(b.x.y, b.y.y, b.z.y);
  CnVec3 z = cn_vec3(b.x.z, b.y.z, b.z.z); // rows of sum r f^T
  double xx = cn_norm2(x), yy = cn_norm2(y), zz = cn_norm2(z), all = xx + yy + zz;
  double minors = cn_norm2(cn_cross(x, y)) + cn_norm2(cn_cross(y, z)) + cn_norm2(cn_cross(z, x));
  if (!(minors <= ONE_LINE * all * all)) return 0;
  double s = f * (b.x.x + b.y.y + b.z.z), t = s / all;
  *k = (CnSym3){s - t * xx,        s - t * yy,        s - t * zz,
                -t * cn_dot(x, y), -t * cn_dot(x, z), -t * cn_dot(y, z)};
  return 1;
}

// Inverse of the inertia in the middle and what the forces add to it where they pull.
static CnSym3 inverse_inertia(const CniDrift *d, const CniDriftBody *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnQuat a = in->pose[i].rotation, c = in->pose_new[i].rotation;
  CnMat3 turn = cn_qmat(cn_qunit((CnQuat){a.w + c.w, a.x + c.x, a.y + c.y, a.z + c.z}));
  double f = body->pace / 4, share = body->turn / body->pace; // of the turn
  CnVec3 j = body->inertia;
  if (!is_stiff(d, body)) return cn_srotate(turn, cn_vec3(share / j.x, share / j.y, share / j.z));
  CnMat3 b = in_body(a, body->arms);
  double trace = b.x.x + b.y.y + b.z.z;
  CnSym3 k = {f * (trace - b.x.x),      f * (trace - b.y.y),      f * (trace - b.z.z),
              -f / 2 * (b.y.x + b.x.y), -f / 2 * (b.z.x + b.x.z), -f / 2 * (b.z.y + b.y.z)};
  CnSym3 sum = cn_sadd(cn_sdiag(j.x, j.y, j.z), k);
  if (is_safe(&sum, LEAST * cn_min(j.x, cn_min(j.y, j.z))))
    return turned(turn, cn_sinverse(sum), share);
  if (along_line(b, f, &k)) sum = cn_sadd(cn_sdiag(j.x, j.y, j.z), k);
  CnVec3 values;
  CnMat3 axes;
  cni_seigen(sum, &values, &axes);
  // principal axes of the sum, turned into the world
  CnMat3 world = {cn_mmul(turn, axes.x), cn_mmul(turn, axes.y), cn_mmul(turn, axes.z)};
  double least = LEAST * cn_min(j.x, cn_min(j.y, j.z));
  CnVec3 kept = {cn_max(values.x, least), cn_max(values.y, least), cn_max(values.z, least)};
  return cn_srotate(world, cn_vec3(share / kept.x, share / kept.y, share / kept.z));
}

// Where the coefficients of a body are in a block; made where there are none yet.
static int32_t side_of(CniDirectBlock *block, CniDirectSide *sides, int32_t body, CnTwist *e,
                       CniDriftCount *count) {
  for (int32_t i = block->side; i < count->sides; i++)
    if (sides[i].body == body) return sides[i].at;
  int32_t at = count->entries;
  for (int32_t r = 0; e && r < block->dim; r++) e[at + r] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  count->entries += block->dim;
  sides[count->sides++] = (CniDirectSide){body, at};
  block->side_count++;
  return at;
}

// In the middle, or at the beginning.
static CnVec3 arm_of(const CniDrift *d, const CniDriftPair *pair, int32_t side) {
  return d->beginning ? cn_add(pair->arms[side], pair->rest[side]) : pair->mean_arms[side];
}
static const CniDriftLine *line_of(const CniDrift *d, int32_t line) {
  return d->beginning ? &d->lines[line] : &d->means[line];
}

// A hinge: along its axes, and couples.
static void hinge_side(const CniDrift *d, const CniDriftLink *link, int32_t side, CnTwist *e) {
  double s = side ? 1 : -1;
  CnVec3 arm = cn_scale(s, arm_of(d, &d->pairs[link->pair], side));
  for (int32_t r = 0; r < 3; r++) {
    CnVec3 axis = d->lines[link->line + r].linear;
    e[r] = (CnTwist){cn_scale(s, axis), cn_cross(arm, axis)};
  }
  for (int32_t r = 3; r < link->dim; r++)
    e[r] = (CnTwist){CN_VEC3_ZERO, cn_scale(d->loose[link->row + r] > 0 ? 0 : s,
                                            line_of(d, link->line + r)->angular)};
}

// e may be null: the structure alone.
void cni_drift_sides(const CniDrift *d, const CniDriftLink *link, CniDirectBlock *block,
                     CniDirectSide *sides, CnTwist *e, CniDriftCount *count) {
  *block = (CniDirectBlock){.row = link->row, .dim = link->dim, .side = count->sides};
  for (int32_t k = 0; k < 2 * link->pair_count; k++) {
    const CniDriftPair *pair = &d->pairs[link->pair + k / 2];
    int32_t side = k % 2, body = side ? pair->b : pair->a;
    double sign = side ? 1 : -1;
    if (body < 0) continue;
    if ((link->turns || d->halfway) && e) { // of two bodies
      block->side_count++;
      sides[count->sides++] = (CniDirectSide){body, count->entries};
      if (d->halfway)
        cni_drift_half_side(d, link, side, e + count->entries);
      else
        hinge_side(d, link, side, e + count->entries);
      count->entries += link->dim;
      continue;
    }
    int32_t at = side_of(block, sides, body, e, count);
    for (int32_t r = 0; e && r < link->dim; r++) {
      if (d->loose[link->row + r] > 0) continue;
      const CniDriftLine *line = line_of(d, link->line + k / 2 + r);
      CnVec3 turn = cn_add(cn_cross(arm_of(d, pair, side), line->linear), line->angular);
      e[at + r].velocity = cn_madd(e[at + r].velocity, sign, line->linear);
      e[at + r].spin = cn_madd(e[at + r].spin, sign, turn);
    }
  }
}

// Room for the system, and its structure: that of all rows, held or not.
static CnStatus shape(CniDrift *d) {
  CniArena *arena = d->in->arena;
  CniDirectBody *bodies;
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
  CniDriftCount count = {0, 0};
  CNI_TRY(cni_arena_array(arena, d->body_count, sizeof *bodies, &bodies));
  CNI_TRY(CNI_TAKE(arena, d->link_count, blocks));
  CNI_TRY(CNI_TAKE(arena, 2 * d->pair_count, sides));
  CNI_TRY(CNI_TAKE(arena, d->entry_count, e));
  for (int32_t i = 0; i < d->link_count; i++)
    cni_drift_sides(d, &d->links[i], &blocks[i], sides, NULL, &count);
  for (int32_t i = 0; i < d->body_count; i++) bodies[i].inv_mass = 1 / d->bodies[i].mass;
  d->system = (CniDirectSystem){.bodies = bodies,
                                .blocks = blocks,
                                .sides = sides,
                                .e = e,
                                .compliance = d->compliance,
                                .body_count = d->body_count,
                                .block_count = d->link_count,
                                .side_count = count.sides,
                                .row_count = d->row_count};
  d->room = (CniDriftRoom){bodies, blocks, sides, e};
  return cni_direct_shape(d->in->direct, &d->system);
}

// What holds bodies against turning are forces about as large as those of the step before, which have
// turned on with the bodies.
static void expect(const CniDrift *d, const CniDriftLink *link) {
  const CniDriftInput *in = d->in;
  if (link->joint < 0 || link->rotor) return;
  const CniJoint *joint = &in->model->joints[link->joint];
  const CniDriftPair *pair = &d->pairs[link->pair];
  if (!(joint->impulse_step > 0) || !(cn_norm2(joint->carried) > 0)) return;
  CnVec3 w = CN_VEC3_ZERO;
  for (int32_t side = 0; side < 2; side++) {
    int32_t i = side ? pair->b : pair->a;
    if (i >= 0) w = cn_add(w, in->twist[d->bodies[i].body].spin);
  }
  double scale = in->time_step / joint->impulse_step;
  w = cn_scale(pair->a >= 0 && pair->b >= 0 ? in->time_step / 2 : in->time_step, w);
  CnVec3 force = cn_scale(scale, cn_add(joint->carried, cn_cross(w, joint->carried)));
  add_arms(d, pair, force);
}

// Efforts that are given act once the arms are known, by the steps of Newton's method. Where nothing moves, so that
// there are none, they would be told and do nothing.
static int has_efforts(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t r = link->locked; r < link->dim; r++)
      if (d->impulse[link->row + r] != 0) return 1;
  }
  return 0;
}

typedef struct Ways {
  const CniDrift *d;
  CniAlong **along;
} Ways;

static void run_along(void *context, int32_t begin, int32_t end) {
  const Ways *ways = context;
  for (int32_t i = begin; i < end; i++)
    ways->d->along[i] = ways->along[i] && cni_along_run(ways->along[i]);
}

// Islands that go along their trees.
static CnStatus go_along(CniDrift *d) {
  int32_t islands = cni_direct_islands(d->in->direct);
  Ways ways = {.d = d};
  CNI_TRY(cni_arena_array(d->in->arena, islands, sizeof *d->along, &d->along));
  CNI_TRY(CNI_TAKE(d->in->arena, islands, ways.along));
  for (int32_t i = 0; i < islands; i++) CNI_TRY(cni_along_prepare(d, i, &ways.along[i]));
  cni_parallel_for(d->in->tasks, islands, 1, run_along, &ways);
  return CN_OK;
}

// How far apart the joints are without their forces: there the factor is taken from.
static CnStatus begin_islands(CniDrift *d) {
  int32_t islands = cni_direct_islands(d->in->direct);
  CNI_TRY(cni_arena_array(d->in->arena, islands, sizeof(double), &d->first));
  CNI_TRY(cni_arena_array(d->in->arena, islands, sizeof(double), &d->last));
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  for (int32_t i = 0; i < islands; i++) {
    int32_t begin, end;
    if (d->along[i]) continue;
    cni_direct_island(d->in->direct, i, &begin, &end);
    go(d, list_of, begin, end);
    d->first[i] = d->last[i] = cni_drift_look_at_all(d, list_of, begin, end, 2);
    int still = d->last[i] <= 1 && has_efforts(d, list_of, begin, end);
    for (int32_t k = 0; still && k < ARM_ROUNDS; k++) {
      go(d, list_of, begin, end);
      d->first[i] = d->last[i] = cni_drift_look_at_all(d, list_of, begin, end, 2);
    }
    for (int32_t k = begin; d->last[i] > EXPECT && k < end; k++) expect(d, &d->links[list_of[k]]);
  }
  return CN_OK;
}

// Rows of all links.
static void write_sides(const CniDrift *d) {
  CniDriftCount count = {0, 0};
  const CniDriftRoom *room = &d->room;
  for (int32_t i = 0; i < d->link_count; i++)
    cni_drift_sides(d, &d->links[i], &room->blocks[i], room->sides, room->e, &count);
}

// The values where the bodies are now.
void cni_drift_factor(CniDrift *d) {
  for (int32_t i = 0; i < d->body_count; i++)
    d->room.bodies[i].inv_inertia = inverse_inertia(d, &d->bodies[i]);
  for (int32_t r = 0; r < d->row_count; r++)
    d->compliance[r] = d->loose[r] > 0 ? d->loose[r] : d->soft[r];
  if (d->rank_known == FIND_RANK) {
    CniDrift start = *d;
    start.beginning = !d->half;
    start.halfway = d->half != NULL;
    write_sides(&start);
    cni_direct_leave_out(d->in->direct, RANK_LOST);
    cni_direct_factor(d->in->direct, &d->system, d->in->tasks);
    cni_direct_leave_out(d->in->direct, CNI_DIRECT_LOST);
    if (cni_direct_dependent(d->in->direct, NULL, 0) == 0) d->rank_known = 0;
    if (d->half) return;
  }
  cni_direct_impose(d->in->direct, d->rank_known != 0); // that of the factor before
  write_sides(d);
  cni_direct_factor(d->in->direct, &d->system, d->in->tasks);
  cni_direct_impose(d->in->direct, 0);
}

static double worst_of(const CniDrift *d) {
  double worst = 0;
  for (int32_t i = 0; i < cni_direct_islands(d->in->direct); i++) worst = cn_max(worst, d->last[i]);
  return worst;
}

static int is_bent(const CniDrift *d) {
  return d->row_count > 6 * d->body_count - 6 && cni_drift_bent(d) > BENT;
}

// Newton's method on all islands; returns the largest error that is left. Where joints are apart, rows that
// depend on others do not quite: the pivots of a loop of hinges whose axes are not parallel are small numbers that
// tell nothing. Which rows these are is told by the joints where the step begins, or halfway with the
// factor itself where all are hinges and balls (drift/halfway.c), and the first factors leave them out: they
// come along with the others where they depend on them wherever the machine is. Where that is not so, in a place
// that is singular by chance, they do not come nearer, and later factors have all rows.
static double settle(CniDrift *d) {
  double worst = worst_of(d);
  int bent = worst > 1 && is_bent(d);
  for (int32_t k = 0; k < MAX_FACTORS && worst > 1; k++) {
    d->rank_known = !bent || k >= BENT_FACTORS ? 0 : k == 0 ? FIND_RANK : KEEP_RANK;
    cni_drift_factor(d);
    bent &= d->rank_known != 0;
    cni_parallel_for(d->in->tasks, cni_direct_islands(d->in->direct), 1, drift_islands, d);
    worst = worst_of(d);
  }
  d->rank_known = 0;
  return worst;
}

// ---- the result ----

static CnBalancePart part_of(const CniDriftLink *link, const CniHold *hold) {
  static const CnBalancePart parts[CNI_PART_COUNT] = {[CNI_PART_LOWER] = CN_BALANCE_IMPACTS,
                                                      [CNI_PART_UPPER] = CN_BALANCE_IMPACTS,
                                                      [CNI_PART_MOTOR] = CN_BALANCE_DRIVES,
                                                      [CNI_PART_ARMATURE] = CN_BALANCE_DRIVES,
                                                      [CNI_PART_FRICTION] = CN_BALANCE_FRICTION};
  return hold && link->joint >= 0 ? parts[hold->part] : CN_BALANCE_JOINTS;
}

// Momentum, angular momentum and work of a line times l on one body. The midpoint spin is that of body
// axes.
static void count_side(const CniDrift *d, const CniDriftPair *pair, int32_t side, double l,
                       const CniDriftLine *line, CnBalanceTerm *term) {
  const CniDriftInput *in = d->in;
  const CniDriftBody *body = &d->bodies[side ? pair->b : pair->a];
  CnPose from = in->pose[body->body], to = in->pose_new[body->body];
  CnVec3 force = cn_scale(side ? l : -l, line->linear);
  CnVec3 mean = cn_add(cni_drift_mean_arm(d, pair, side), pair->rest[side]);
  CnVec3 turn = cn_madd(cn_cross(mean, force), side ? l : -l, line->angular);
  CnTwist start = in->twist[body->body], end = in->end[body->body];
  CnVec3 spin = cn_add(start.spin, cn_rotate(from.rotation, cn_unrotate(to.rotation, end.spin)));
  CnVec3 arm = cn_scale(0.5, cn_add(from.position, to.position));
  term->momentum = cn_add(term->momentum, force);
  term->angular_momentum = cn_add(term->angular_momentum, cn_add(cn_cross(arm, force), turn));
  term->energy += 0.5 * (cn_dot(force, cn_add(start.velocity, end.velocity)) + cn_dot(turn, spin));
}

// A side that moves as prescribed: joints work against it, and what it gives is work of drives.
static void count_led(const CniDrift *d, const CniDriftLink *link, int32_t side, double l,
                      const CniDriftLine *line, CnBalanceTerm *term) {
  const CniDriftInput *in = d->in;
  if (link->joint < 0) return;
  const CniJoint *joint = &in->model->joints[link->joint];
  int32_t body = side ? joint->body_b : joint->body_a;
  if (body < 0 || in->model->bodies[body].kind != CN_BODY_KINEMATIC) return;
  CnVec3 force = cn_scale(side ? l : -l, line->linear);
  CnVec3 turn =
      cn_madd(cn_cross(d->pairs[link->pair].mean_arms[side], force), side ? l : -l, line->angular);
  double work = cn_dot(force, in->twist[body].velocity) + cn_dot(turn, in->twist[body].spin);
  term->energy += work;
  in->terms[CN_BALANCE_DRIVES].energy -= work;
}

static void count_link(const CniDrift *d, const CniDriftLink *link) {
  for (int32_t k = 0; k < link->pair_count; k++) {
    const CniDriftPair *pair = &d->pairs[link->pair + k];
    for (int32_t r = 0; r < link->dim; r++)
      for (int32_t side = 0; side < 2; side++) {
        CnBalanceTerm *term = &d->in->terms[part_of(link, cni_drift_hold(d, link, r))];
        double l = d->impulse[link->row + r];
        const CniDriftLine *line = &d->means[link->line + k + r];
        if ((side ? pair->b : pair->a) >= 0)
          count_side(d, pair, side, l, line, term);
        else
          count_led(d, link, side, l, line, term);
      }
  }
}

// Where Newton's method left joints apart, rows and arms are not those of the forces any more: what the
// joints did is what the bodies have.
static void count_body(const CniDrift *d, int32_t i) {
  const CniDriftInput *in = d->in;
  CnBalanceTerm *term = &in->terms[CN_BALANCE_JOINTS];
  double m = in->model->mass[i].mass;
  for (int32_t k = 0; k < 2; k++) {
    const CnPose *pose = k ? &in->pose_new[i] : &in->pose[i];
    const CnTwist *twist = k ? &in->end[i] : &in->twist[i];
    double sign = k ? 1 : -1;
    CnVec3 push = cn_scale(sign * m, twist->velocity);
    CnVec3 spin = cn_smul(cni_model_inertia(in->model, i, pose->rotation), twist->spin);
    term->momentum = cn_add(term->momentum, push);
    term->angular_momentum =
        cn_add(term->angular_momentum, cn_madd(cn_cross(pose->position, push), sign, spin));
    term->energy += 0.5 * (cn_dot(push, twist->velocity) + sign * cn_dot(spin, twist->spin));
  }
}

static CnStatus give(const CniDrift *d, int missed) {
  const CniDriftInput *in = d->in;
  CniDriftEffort *efforts;
  int32_t count = 0;
  CNI_TRY(CNI_TAKE(in->arena, d->row_count, efforts));
  for (int32_t i = 0; in->terms && missed && i < d->body_count; i++)
    count_body(d, d->bodies[i].body);
  for (int32_t i = 0; i < d->link_count; i++) {
    const CniDriftLink *link = &d->links[i];
    if (in->terms && !missed) count_link(d, link);
    if (link->joint >= 0) { // rotors come after the joints
      CnTwist *sum = &in->reactions[link->joint], own = wrench(d, link, 0);
      *sum = link->rotor
                 ? (CnTwist){cn_add(sum->velocity, own.velocity), cn_add(sum->spin, own.spin)}
                 : own;
    }
    for (int32_t r = link->locked; r < link->dim; r++) {
      double l = d->impulse[link->row + r];
      const CniHold *hold = &d->holds[link->row + r];
      if (l != 0)
        efforts[count++] = (CniDriftEffort){link->joint, link->coupling, hold->axis, hold->part, l};
    }
  }
  *in->efforts = efforts;
  *in->effort_count = count;
  return CN_OK;
}

CnStatus cni_drift_joints(const CniDriftInput *in) {
  CniDrift d = {.in = in};
  CNI_TRY(cni_drift_list(&d));
  if (d.link_count == 0) return CN_OK;
  CNI_TRY(shape(&d));
  int fits = cni_direct_fits(in->direct);
  cni_drift_paces(&d, fits ? cni_direct_islands(in->direct) : 0);
  if (!fits) {
    for (int32_t i = 0; i < d.body_count; i++) move(&d, &d.bodies[i]);
    cni_drift_close_alone(&d);
    return CN_OK;
  }
  CNI_TRY(go_along(&d));
  CNI_TRY(begin_islands(&d));
  if (worst_of(&d) > 1 && is_bent(&d)) CNI_TRY(cni_drift_find_halfway(&d));
  double worst = settle(&d);
  int32_t islands = cni_direct_islands(in->direct);
  for (int32_t k = 0; d.hold_count > 0 && k < MAX_REVISIONS && revise(&d); k++) worst = settle(&d);
  if (worst > FAIR && d.hold_count > 0) {
    for (int32_t i = 0; i < islands; i++)
      if (d.last[i] > FAIR) let_go(&d, i, 1);
    worst = settle(&d);
  }
  for (int32_t i = 0; i < islands && worst > 1; i++)
    if (!(d.last[i] <= d.first[i])) let_go(&d, i, 0);
  *in->missed |= worst > 1;
  CNI_TRY(give(&d, worst > 1));
  for (int32_t i = 0; i < islands; i++) {
    if (!(d.open_count > 0 || d.last[i] > FAIR)) continue;
    if (!d.kept) CNI_TRY(cni_arena_array(in->arena, d.body_count, sizeof *d.kept, &d.kept));
    cni_drift_close(&d, i);
  }
  return CN_OK;
}
