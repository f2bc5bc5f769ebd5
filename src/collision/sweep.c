// SPDX-License-Identifier: Apache-2.0
// Bodies that are `continuous`: they stop where they touch, at the time when they touch.
//
// A row of a contact that is still far away knows the arms and the normal of now. A ball is stopped by
// it all the same; what is not round is turned as if it touched already, and may have turned away
// before it gets there. So a continuous body has rows for what it nearly touches only, and after the
// solve its way through the step is followed: where it comes into another shape, it goes no farther in
// this step. Its velocity stays, and the next step begins with the contact as it really is. What is
// lost is time, a part of one step for each touch.
//
// Along the normal n of a gap g two shapes come nearer by no more than
//
//     n.(v_a - v_b) + |w_a| r_a + |w_b| r_b    a second,
//
// so that it is safe to go on for (g - g_0) divided by that (conservative advancement, Mirtich 1996).
// g_0 is a little overlap, SINK of the smaller inradius: what slides or rolls over a floor is held by
// its rows and is not stopped, not by the next tile either. After ROUNDS looks a body stops where it is
// known to be free.
//
// Whom it meets may move, too. A body that stops is carried on by what it met, as if it stuck to it
// until the end of the step: their relative pose stays that of the touch. The one of higher rank
// carries: what is fixed, what follows its motion, what is not continuous, the heavier one. Touches are
// taken in the order of time, so that what is carried may touch again.
//
// A body goes no farther than contacts were looked for: one that was slow and is hit sets out in the
// next step.
//
// Only pairs within the reach of both are followed. The list of candidates has others, too, which ones
// depends on the broad phase and on when the list was made; that must not be seen in the result.
//
// Cost: some 5 to 20 distances a pair and step for what moves fast, one or two for what is slow.
#include "collision/collision_private.h"

#include "core/error.h"

#include <string.h>

#define ROUNDS 128
#define SINK 0.02      // of the smaller inradius
#define MOST_TOUCHES 8 // of a body in a step
#define PAIRS_A_TASK 16

enum { FREE = -1, HALTED = -2 }; // instead of who carries it

typedef struct Carried {
  int32_t by; // dense index, FREE, or HALTED: by nobody
  int32_t touches;
  double since;
  CnPose seen;  // from the one that carries it; in the world where it is halted
  double until; // where contacts were looked for
} Carried;

typedef struct Sweep {
  const CniSweepInput *in;
  CniSwept *pairs;
  int32_t pair_count;
  Carried *carried; // per body
  double *times;    // per pair: of the next touch
} Sweep;

// ---- ways ----

// A body at a time, and how it goes on: a constant velocity, and no more than `extra` besides.
typedef struct Way {
  CnPose pose;
  CnTwist twist;
  double extra;
} Way;

static Way way_at(const Sweep *s, int32_t body, double t) {
  const Carried *c = &s->carried[body];
  Way way = {.pose = c->seen};
  if (c->by == HALTED) return way;
  if (c->by == FREE) {
    way.pose = s->in->path(s->in->context, body, t, &way.twist);
    return way;
  }
  way = way_at(s, c->by, t);
  way.pose = cn_pose_mul(way.pose, c->seen);
  way.extra += cn_norm(way.twist.spin) * cn_norm(c->seen.position);
  return way;
}

static int32_t root_of(const Sweep *s, int32_t body) {
  while (s->carried[body].by >= 0) body = s->carried[body].by;
  return body;
}

static int is_carried_by(const Sweep *s, int32_t body, int32_t by) {
  while (body >= 0 && body != by) body = s->carried[body].by;
  return body == by;
}

// How fast the points of a shape may move but for the velocity of its body: by its spin, which may
// grow up to what the energy allows. What turns about its own axis stays where it is.
// `far`: where a half-space is met, from its body.
static double turning(const Sweep *s, int32_t shape, const CniPlaced *placed, const Way *way,
                      double far) {
  const CniModel *m = s->in->model;
  const CniShape *of = &m->shapes[shape];
  const CniBody *body = &m->bodies[of->body];
  uint32_t flags = cni_shape_kinds[of->kind]->flags;
  double spin = cn_norm(way->twist.spin), size = 0;
  if (!(spin > 0)) return way->extra;
  if (flags & CNI_SHAPE_UNBOUNDED) return way->extra + spin * far;
  if (of->kind != CN_SHAPE_SPHERE) size = cni_shape_outradius(placed);
  int alone = of->next < 0 && body->first_shape == shape;
  int of_its_shape = alone && !(body->detail && body->detail->def_mass > 0);
  if (flags & CNI_SHAPE_AXIAL && of_its_shape && s->carried[of->body].by == FREE) {
    double arm = cn_norm(cn_sub(placed->pose.position, way->pose.position));
    double across = cn_norm(cn_cross(way->twist.spin, cn_qmat(placed->pose.rotation).z));
    return across * (arm + size);
  }
  CnVec3 j = cni_model_principal(m, of->body);
  double least = cn_min(j.x, cn_min(j.y, j.z)), most = cn_max(j.x, cn_max(j.y, j.z));
  if (least > 0 && s->carried[of->body].by == FREE) spin *= sqrt(most / least);
  return way->extra + spin * (cn_norm(cni_shape_pose(of).position) + size);
}

// ---- touches ----

// The gap of a pair at a time, and how fast it may become less.
static double look(const Sweep *s, const CniSwept *pair, double t, double *rate) {
  const CniModel *m = s->in->model;
  Way of_a = way_at(s, m->shapes[pair->a].body, t), of_b = way_at(s, m->shapes[pair->b].body, t);
  CniPlaced a = cni_model_placed(m, pair->a, &of_a.pose);
  CniPlaced b = cni_model_placed(m, pair->b, &of_b.pose);
  CniPlaces places = cni_places(&a, &b);
  double far = cn_norm(cn_sub(of_b.pose.position, of_a.pose.position)) + 2 * pair->reach_a +
               2 * pair->reach_b + 2 * pair->size;
  CnVec3 nearer = cn_sub(of_a.twist.velocity, of_b.twist.velocity);
  // what is not convex may come nearer by another place
  int surface = cni_shape_is_surface(a.kind) || cni_shape_is_surface(b.kind);
  *rate = (surface ? cn_norm(nearer) : cn_dot(places.normal, nearer)) +
          turning(s, pair->a, &a, &of_a, far) + turning(s, pair->b, &b, &of_b, far);
  return places.gap;
}

// How far a body may go as it does now, m.
static double motion_of(const Sweep *s, int32_t shape, double h) {
  const CniShape *of = &s->in->model->shapes[shape];
  CnTwist twist;
  CnPose pose = s->in->path(s->in->context, of->body, 0, &twist);
  CniPlaced placed = cni_model_placed(s->in->model, shape, &pose);
  double arm = cn_norm(cni_shape_pose(of).position);
  if (of->kind != CN_SHAPE_SPHERE) arm += cni_shape_outradius(&placed);
  return h * cn_norm(twist.velocity) + cn_min(h * cn_norm(twist.spin), 2) * arm;
}

static double sink_of(const CniModel *m, const CniSwept *pair) {
  const CniShape *a = &m->shapes[pair->a], *b = &m->shapes[pair->b];
  double least = INFINITY;
  if (!cni_shape_unbounded(a->kind)) least = cni_model_inradius(a);
  if (!cni_shape_unbounded(b->kind)) least = cn_min(least, cni_model_inradius(b));
  return SINK * least;
}

// When a pair touches, or one of it comes to where nobody looked, after the time t; INFINITY: not in
// this step.
static double next_touch(const Sweep *s, const CniSwept *pair, double t) {
  const CniModel *m = s->in->model;
  int32_t body_a = m->shapes[pair->a].body, body_b = m->shapes[pair->b].body;
  if (root_of(s, body_a) == root_of(s, body_b)) return INFINITY;
  double until = INFINITY, sink = sink_of(m, pair), limit = -sink, rate;
  if (s->carried[body_a].by == FREE) until = s->carried[body_a].until;
  if (s->carried[body_b].by == FREE) until = cn_min(until, s->carried[body_b].until);
  double gap = look(s, pair, t, &rate), end = cn_min(until, s->in->time_step);
  // what is deep already may come out, but not go deeper
  if (gap < 0.5 * limit) limit = gap - 0.5 * sink;
  for (int32_t round = 0; round < ROUNDS; round++) {
    if (!(gap - limit > 0.25 * sink)) return t;
    if (rate > 0) t += (gap - limit) / rate;
    if (!(rate > 0 && t < end)) return until < s->in->time_step ? until : INFINITY;
    gap = look(s, pair, t, &rate);
  }
  return t;
}

static void find_touches(void *context, int32_t begin, int32_t end) {
  const Sweep *s = context;
  for (int32_t k = begin; k < end; k++) s->times[k] = next_touch(s, &s->pairs[k], 0);
}

// ---- who carries whom ----

static int32_t rank_of(const Sweep *s, int32_t body) {
  const CniBody *of = &s->in->model->bodies[body];
  const Carried *c = &s->carried[body];
  if (c->by == HALTED && c->touches <= MOST_TOUCHES) return -1; // until somebody comes
  if (of->kind == CN_BODY_FIXED || c->by == HALTED) return 3;
  return of->kind == CN_BODY_KINEMATIC ? 2 : !of->continuous;
}

static int outranks(const Sweep *s, int32_t x, int32_t y) {
  const CniModel *m = s->in->model;
  int32_t rank_x = rank_of(s, x), rank_y = rank_of(s, y);
  if (rank_x != rank_y) return rank_x > rank_y;
  double mass_x = m->mass[x].mass, mass_y = m->mass[y].mass;
  return mass_x != mass_y ? mass_x > mass_y : m->bodies[x].slot < m->bodies[y].slot;
}

// From the time t on the body goes with `by`, another one or HALTED. Pairs of it and of what it carries
// are looked at again.
static void attach(Sweep *s, int32_t body, int32_t by, double t) {
  const CniModel *m = s->in->model;
  Carried *c = &s->carried[body];
  CnPose pose = way_at(s, body, t).pose;
  if (c->by == FREE) c->since = t;
  if (by >= 0) pose = cn_pose_mul(cn_pose_inverse(way_at(s, by, t).pose), pose);
  c->seen = pose;
  c->by = by;
  c->touches++;
  for (int32_t k = 0; k < s->pair_count; k++) {
    int32_t a = m->shapes[s->pairs[k].a].body, b = m->shapes[s->pairs[k].b].body;
    if (is_carried_by(s, a, body) || is_carried_by(s, b, body))
      s->times[k] = next_touch(s, &s->pairs[k], t);
  }
}

static int leaves(const Sweep *s, int32_t body, double t) {
  return s->carried[body].by == FREE && t >= s->carried[body].until;
}

static void meet(Sweep *s, int32_t k, double t) {
  const CniModel *m = s->in->model;
  int32_t x = m->shapes[s->pairs[k].a].body, y = m->shapes[s->pairs[k].b].body;
  int32_t root_x = root_of(s, x), root_y = root_of(s, y);
  s->times[k] = INFINITY;
  if (leaves(s, x, t) || leaves(s, y, t)) {
    attach(s, leaves(s, x, t) ? x : y, HALTED, t);
    return;
  }
  int32_t stops = outranks(s, root_x, root_y) ? y : x, by = stops == x ? y : x;
  if (root_x == root_y || !m->bodies[stops].continuous) return;
  if (s->carried[stops].touches > MOST_TOUCHES) return;
  attach(s, stops, s->carried[stops].touches < MOST_TOUCHES ? by : HALTED, t);
}

// ---- which pairs ----

// A ball that turns stays where it is: its rows are exact against what does not turn.
static int is_still(const CniDetection *w, const CniProxy *p) {
  return w->in->model->bodies[p->body].kind == CN_BODY_FIXED;
}
static int is_ball(const CniProxy *p) {
  return (p->flags & CNI_IS_SPHERE) && !(p->flags & CNI_OFFSET);
}

int cni_is_swept(const CniDetection *w, const CniProxy *a, const CniProxy *b) {
  if (!w->has_continuous || !((a->flags | b->flags) & CNI_CONTINUOUS)) return 0;
  if ((a->flags | b->flags) & CNI_IS_MESH) return 1;
  return !((is_ball(a) && (is_still(w, b) || is_ball(b))) || (is_ball(b) && is_still(w, a)));
}

CnStatus cni_detection_swept(CniCollision *c, const CniDetection *w) {
  c->swept_count = 0;
  for (int32_t k = 0; w->has_continuous && k < w->key_count; k++) {
    CniPair pair = cni_key_pair(w, k);
    const CniProxy *a = &w->proxies[pair.a], *b = &w->proxies[pair.b];
    if (!cni_is_swept(w, a, b)) continue;
    CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->swept, &c->swept_capacity, c->swept_count,
                              c->swept_count + 1, sizeof *c->swept));
    double size = 0;
    if (!(a->flags & CNI_ENDLESS)) size += a->outradius;
    if (!(b->flags & CNI_ENDLESS)) size += b->outradius;
    c->swept[c->swept_count++] = (CniSwept){pair.a, pair.b, a->reach, b->reach, size};
  }
  return CN_OK;
}

// ---- all of it ----

static void look_how_near(void *context, int32_t begin, int32_t end) {
  const Sweep *s = context;
  double rate;
  for (int32_t k = begin; k < end; k++) s->times[k] = look(s, &s->pairs[k], 0, &rate);
}

// Half-spaces are looked at in every step anew, and reach farther where they turn.
static int is_near(const Sweep *s, int32_t k) {
  const CniSwept *pair = &s->pairs[k];
  const CniShape *shapes = s->in->model->shapes;
  return s->times[k] <= pair->reach_a + pair->reach_b ||
         cni_shape_unbounded(shapes[pair->a].kind) || cni_shape_unbounded(shapes[pair->b].kind);
}

static CnStatus begin(Sweep *s, const CniCollision *collision) {
  const CniSweepInput *in = s->in;
  int32_t bodies = in->model->body_count, all = collision->swept_count;
  CNI_TRY(cni_arena_array(in->arena, bodies, sizeof *s->carried, &s->carried));
  CNI_TRY(cni_arena_array(in->arena, all, sizeof *s->times, &s->times));
  CNI_TRY(cni_arena_array(in->arena, all, sizeof *s->pairs, &s->pairs));
  for (int32_t i = 0; i < bodies; i++) s->carried[i] = (Carried){.by = FREE, .until = INFINITY};
  memcpy(s->pairs, collision->swept, (size_t)all * sizeof *s->pairs);
  cni_parallel_for(in->tasks, all, PAIRS_A_TASK, look_how_near, s);
  for (int32_t k = 0; k < all; k++)
    if (is_near(s, k)) s->pairs[s->pair_count++] = s->pairs[k];
  return CN_OK;
}

// Where contacts were looked for.
static void limit_ways(Sweep *s) {
  const CniSweepInput *in = s->in;
  for (int32_t k = 0; k < s->pair_count; k++)
    for (int side = 0; side < 2; side++) {
      int32_t shape = side ? s->pairs[k].b : s->pairs[k].a;
      int32_t body = in->model->shapes[shape].body;
      double reach = side ? s->pairs[k].reach_b : s->pairs[k].reach_a;
      if (!in->model->bodies[body].continuous) continue;
      double motion = motion_of(s, shape, in->time_step);
      if (!(motion > reach * (1 + 1e-9))) continue;
      Carried *c = &s->carried[body];
      c->until = cn_min(c->until, in->time_step * (reach / motion));
    }
}

CnStatus cni_collision_sweep(const CniCollision *collision, const CniSweepInput *in) {
  Sweep s = {.in = in};
  if (collision->swept_count == 0) return CN_OK;
  CNI_TRY(begin(&s, collision));
  if (s.pair_count == 0) return CN_OK;
  limit_ways(&s);
  cni_parallel_for(in->tasks, s.pair_count, PAIRS_A_TASK, find_touches, &s);
  for (;;) {
    int32_t first = 0;
    for (int32_t k = 1; k < s.pair_count; k++)
      if (s.times[k] < s.times[first]) first = k;
    if (!(s.times[first] < in->time_step)) break;
    meet(&s, first, s.times[first]);
  }
  for (int32_t i = 0; i < in->model->body_count; i++) {
    const Carried *c = &s.carried[i];
    CnTwist twist;
    if (c->by == FREE) continue;
    in->path(in->context, i, c->since, &twist);
    in->pose_new[i] = way_at(&s, i, in->time_step).pose;
    in->pose_new[i].rotation = cn_qunit(in->pose_new[i].rotation);
    if (in->end) in->end[i] = twist;
  }
  return CN_OK;
}
