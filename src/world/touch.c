// SPDX-License-Identifier: Apache-2.0
// When bodies bounce: impulses of a step of `impulse` act at the moment of the first touch.
//
// With impulses at the beginning of a step two balls that meet obliquely would bounce off along a
// normal, and turn by lever arms, that belong to places they reach later: an error of order h. So
// bodies that hang together by contacts are moved to the time t of their first impact, the step
// problem is made there, and the rest of the step is made with the new velocities:
//
//     q* = q (+) t v_old,   M (v_new - v_old) = h f + E(q*)^T g,   q_new = q* (+) (h - t) v_new
//
// Where bodies move without forces neither part changes momentum, angular momentum or energy, so
// the balances close as they do with t = 0. For a single impact between bodies that fly this is exact.
//
// Gravity. The scheme has x_new = x + h v_new, so that its v is that of the middle of the step
// before: a body that flies is on its parabola with v + a h/2 at the beginning. It arrives with
// v + a (h/2 + t) at x + t (v + a (h + t)/2), bounces with the speed that it has there, and keeps
// a (h/2 - t) of its weight for afterwards. Without an impact that is x + h (v + h a) as ever, and a
// ball that bounces with e = 1 does so for ever. A body that something carries (a contact acts on
// its free motion and is no impact) has its weight with the impulses.
//
// Nothing is moved (t = 0) where a contact that does not bounce would close before, where joints,
// loads or force elements act, or a body is continuous: there the error stays of order h. Of
// several impacts that follow each other within one step the first is exact.
//
// Cost: some distances a bounce and a second look for contacts, in steps in which something bounces,
// and in worlds of at most CNI_FEW_BOUNCES contacts and bodies with mass.
#include "core/error.h"
#include "world/world.h"

#define ROUNDS 40
#define CLOSED 1e-15 // of the way of a step: a gap that is none
#define SLOW 1e-6    // of the fastest impact: what approaches slower does not count
#define LEAST 2      // rebounds slower than so many times g h have gravity with the impulses
#define REACH 1.01
#define NEAR 0.25 // of the way of a step

typedef struct Search {
  const CnWorld *world;
  const CniModel *model;
  const CnPose *pose;
  const CnTwist *twist;
  CnVec3 gravity;
  double h, threshold;
  double fastest; // m/s, of the impacts
  CniTouch *touch;
  int32_t *root;
  double *first; // by root: time of the first impact
  uint8_t *blocked;
} Search;

// Few bodies, of which some may bounce.
static int may_bounce(const CniModel *model) {
  int32_t bodies = 0;
  for (int32_t i = 0; i < model->body_count && bodies <= CNI_FEW_BOUNCES; i++)
    bodies += cni_has_mass(&model->mass[i]);
  if (bodies > CNI_FEW_BOUNCES) return 0;
  for (int32_t i = 0; i < model->material_count; i++)
    if (model->materials[i].def.restitution > 0) return 1;
  for (int32_t i = 0; i < model->law_count; i++)
    if (model->laws[i].law.restitution > 0) return 1;
  return 0;
}

static double restitution_of(const CniModel *model, const CniContact *c) {
  const CniShape *a = &model->shapes[c->shape_a], *b = &model->shapes[c->shape_b];
  return cni_model_law(model, a->material, b->material).restitution;
}

static int dynamic(const Search *s, int32_t body) { return cni_has_mass(&s->model->mass[body]); }

// Bodies whose places are shared by all that touch them.
static int moves(const Search *s, int32_t body) {
  return s->model->bodies[body].kind != CN_BODY_FIXED;
}

static int32_t root_of(const Search *s, int32_t body) {
  while (s->root[body] != body) body = s->root[body] = s->root[s->root[body]];
  return body;
}

// ---- ways ----

CnPose cni_world_path(const CniModel *model, int32_t body, CnPose from, double t, CnTwist *twist) {
  if (model->mass[body].inertia != CNI_TURNS_BY_AXIS) return cni_advance_pose(from, *twist, t);
  CnPose pose = {cn_madd(from.position, t, twist->velocity), from.rotation};
  cni_drift_turn(model->inertias[body], t, &pose.rotation, &twist->spin);
  return pose;
}

// Where a body is after the time t if nothing touches it, and how it moves there.
static CnPose arrive(const Search *s, int32_t body, double t, CnTwist *twist) {
  CnPose from = s->pose[body];
  *twist = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  if (!moves(s, body)) return from;
  *twist = s->twist[body];
  CnPose to = cni_world_path(s->model, body, from, t, twist);
  if (!s->touch->flies[body]) return to;
  to.position = cn_madd(to.position, t * (s->h + t) / 2, s->gravity);
  twist->velocity = cn_madd(twist->velocity, s->h / 2 + t, s->gravity);
  return to;
}

static CnVec3 velocity_at(CnVec3 position, CnTwist twist, CnVec3 point) {
  return cn_add(twist.velocity, cn_cross(twist.spin, cn_sub(point, position)));
}

// How fast a contact opens at the beginning of the step; `more` is added to bodies with mass.
static double opening(const Search *s, const CniContact *c, CnVec3 more) {
  const int32_t bodies[2] = {c->body_a, c->body_b};
  CnVec3 v[2] = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  for (int k = 0; k < 2; k++) {
    if (!moves(s, bodies[k])) continue;
    v[k] = velocity_at(s->pose[bodies[k]].position, s->twist[bodies[k]], c->point);
    if (dynamic(s, bodies[k])) v[k] = cn_add(v[k], more);
  }
  return cn_dot(c->normal, cn_sub(v[1], v[0]));
}

// ---- the time of a touch ----

typedef struct View {
  double gap, rate;
  CnVec3 point, normal;
} View;

static void keep_nearest(void *context, const CniManifold *manifold) {
  View *view = context;
  for (int32_t i = 0; i < manifold->count; i++) {
    if (!(manifold->points[i].gap < view->gap)) continue;
    view->gap = manifold->points[i].gap;
    view->point = manifold->points[i].point;
    view->normal = manifold->normal;
  }
}

static View look(const Search *s, const CniContact *c, double t, double reach) {
  CnTwist of_a, of_b;
  CnPose at_a = arrive(s, c->body_a, t, &of_a), at_b = arrive(s, c->body_b, t, &of_b);
  CniPlaced a = cni_model_placed(s->model, c->shape_a, &at_a);
  CniPlaced b = cni_model_placed(s->model, c->shape_b, &at_b);
  View view = {.gap = INFINITY};
  cni_collide_all(&a, &b, reach, keep_nearest, &view);
  view.rate = cn_dot(view.normal, cn_sub(velocity_at(at_b.position, of_b, view.point),
                                         velocity_at(at_a.position, of_a, view.point)));
  return view;
}

// How far the points of a shape may come in the step.
static double way_of(const Search *s, int32_t body, CnVec3 point) {
  if (!moves(s, body)) return 0;
  double far = cn_norm(cn_sub(point, s->pose[body].position));
  for (int32_t i = s->model->bodies[body].first_shape; i >= 0; i = s->model->shapes[i].next)
    if (!cni_shape_unbounded(s->model->shapes[i].kind))
      far = cn_max(far, cn_norm(cni_shape_pose(&s->model->shapes[i]).position) +
                            cni_model_outradius(&s->model->shapes[i]));
  return s->h * (cn_norm(s->twist[body].velocity) + cn_norm(s->twist[body].spin) * far +
                 s->h * cn_norm(s->gravity));
}

// When the shapes of a contact touch, by Newton's method from the beginning, or the end of the step if
// they do not. Along a straight way the distance of convex shapes is convex, so that it is the first time.
static double touch_time(const Search *s, const CniContact *c) {
  double way = way_of(s, c->body_a, c->point) + way_of(s, c->body_b, c->point), t = 0;
  for (int32_t i = 0; i < ROUNDS; i++) {
    View view = look(s, c, t, REACH * way);
    if (fabs(view.gap) <= CLOSED * way) return t;
    double next = t - view.gap / view.rate;
    if (!(view.rate < 0 && next >= 0 && next < s->h)) return s->h;
    if (next == t) return t;
    t = next;
  }
  return t;
}

// ---- which bodies ----

typedef enum Kind {
  PASSES,
  NEARS, // it may bounce in this step all the same: rows know straight ways only
  ACTS,
  BOUNCES
} Kind;

static Kind kind_of(const Search *s, const CniContact *c, double *speed, double *restitution) {
  *speed = opening(s, c, CN_VEC3_ZERO);
  *restitution = restitution_of(s->model, c);
  int fast = *restitution > 0 && *speed < -s->threshold;
  double gap = c->gap + s->h * opening(s, c, cn_scale(s->h, s->gravity));
  if (gap > 0) return fast && gap < -NEAR * s->h * *speed ? NEARS : PASSES;
  return fast ? BOUNCES : ACTS;
}

static int is_bound(const Search *s, int32_t body) {
  const CniBody *of = &s->model->bodies[body];
  CnTwist load = cni_model_load(s->model, body);
  return of->first_joint >= 0 || of->continuous || cn_norm2(load.velocity) > 0 ||
         cn_norm2(load.spin) > 0;
}

// Bodies that contacts join, which of them fly, and whether any contact bounces.
static int join(Search *s, const CniContact *contacts, int32_t count) {
  int any = 0;
  for (int32_t i = 0; i < s->model->body_count; i++) {
    s->root[i] = i;
    s->first[i] = INFINITY;
    s->touch->flies[i] = (uint8_t)dynamic(s, i);
  }
  for (int32_t k = 0; k < count; k++) {
    const CniContact *c = &contacts[k];
    double speed, restitution;
    Kind kind = kind_of(s, c, &speed, &restitution);
    int slow = !(-restitution * speed > LEAST * s->h * cn_norm(s->gravity));
    if (kind == ACTS || (kind == BOUNCES && slow))
      s->touch->flies[c->body_a] = s->touch->flies[c->body_b] = 0;
    any |= kind == BOUNCES || kind == NEARS;
    if (kind == BOUNCES) s->fastest = cn_max(s->fastest, -speed);
    int32_t a = root_of(s, c->body_a), b = root_of(s, c->body_b);
    if (moves(s, c->body_a) && moves(s, c->body_b)) s->root[a < b ? b : a] = a < b ? a : b;
  }
  return any;
}

// Those that hang together with a body on which more acts than gravity and contacts stay as they are.
static void block(const Search *s) {
  for (int32_t i = 0; i < s->model->body_count; i++)
    if (is_bound(s, i)) s->blocked[root_of(s, i)] = 1;
  for (int32_t i = 0; i < s->model->force_count; i++) {
    const CnForceDef *def = &s->model->forces[i].def;
    const CnBodyId ends[2] = {def->body_a, def->body_b};
    for (int k = 0; k < 2; k++) {
      int32_t body;
      if (ends[k].slot && cni_model_find_body(s->model, ends[k], &body) == CN_OK)
        s->blocked[root_of(s, body)] = 1;
    }
  }
}

// The first impact of those that hang together; nothing else may close before.
static int find_first(Search *s, const CniContact *contacts, int32_t count) {
  int any = 0;
  double speed, restitution;
  block(s);
  for (int32_t k = 0; k < count; k++) {
    const CniContact *c = &contacts[k];
    int32_t root = root_of(s, moves(s, c->body_a) ? c->body_a : c->body_b);
    Kind kind = kind_of(s, c, &speed, &restitution);
    if (s->blocked[root] || (kind != BOUNCES && kind != NEARS)) continue;
    double t = c->gap > 0 ? touch_time(s, c) : 0;
    if (kind == BOUNCES || t < s->h) s->first[root] = cn_min(s->first[root], t);
  }
  for (int32_t k = 0; k < count; k++) {
    const CniContact *c = &contacts[k];
    int32_t root = root_of(s, moves(s, c->body_a) ? c->body_a : c->body_b);
    double t = s->first[root];
    if (!(t < INFINITY) || kind_of(s, c, &speed, &restitution) == BOUNCES) continue;
    if (speed < -cn_max(s->threshold, SLOW * s->fastest) && c->gap + t * speed < 0)
      s->blocked[root] = 1;
  }
  for (int32_t i = 0; i < s->model->body_count; i++)
    any |= !s->blocked[i] && s->first[i] > 0 && s->first[i] < INFINITY;
  return any;
}

CnStatus cni_touch_reserve(CnWorld *world) {
  CniTouch *touch = &world->touch;
  int32_t bodies = world->now.model.body_count;
  if (touch->capacity >= bodies) return CN_OK;
  const CnAllocator *allocator = &world->allocator;
  cni_touch_release(touch, allocator);
  touch->pose = cni_allocate(allocator, (size_t)bodies * sizeof *touch->pose);
  touch->twist = cni_allocate(allocator, (size_t)bodies * sizeof *touch->twist);
  touch->time = cni_allocate(allocator, (size_t)bodies * sizeof *touch->time);
  touch->flies = cni_allocate(allocator, (size_t)bodies * sizeof *touch->flies);
  touch->capacity = bodies;
  if (touch->pose && touch->twist && touch->time && touch->flies) return CN_OK;
  cni_touch_release(touch, allocator);
  return cni_error_memory((size_t)bodies * sizeof *touch->pose);
}

void cni_touch_release(CniTouch *touch, const CnAllocator *allocator) {
  size_t bodies = (size_t)touch->capacity;
  cni_release(allocator, touch->pose, bodies * sizeof *touch->pose);
  cni_release(allocator, touch->twist, bodies * sizeof *touch->twist);
  cni_release(allocator, touch->time, bodies * sizeof *touch->time);
  cni_release(allocator, touch->flies, bodies * sizeof *touch->flies);
  *touch = (CniTouch){0};
}

CnStatus cni_world_touch(CnWorld *world, const CnPose *pose, const CnTwist *twist, double h) {
  const CniModel *model = &world->now.model;
  CniStepWork *work = &world->work;
  int32_t bodies = model->body_count;
  if (work->contact_count == 0 || work->contact_count > CNI_FEW_BOUNCES || !may_bounce(model) ||
      world->hooks.modify || world->hooks.force)
    return CN_OK;
  CNI_TRY(cni_touch_reserve(world));
  Search s = {.world = world,
              .model = model,
              .pose = pose,
              .twist = twist,
              .gravity = world->now.settings.gravity,
              .h = h,
              .threshold = cni_bounce_threshold(world, h),
              .touch = &world->touch};
  CniArena *arena = &world->memory.arena;
  CNI_TRY(CNI_LAY(arena, CNI_ARRAY(bodies, s.root), CNI_ARRAY(bodies, s.first),
                  CNI_ARRAY(bodies, s.blocked)));
  if (!join(&s, work->contacts, work->contact_count) ||
      !find_first(&s, work->contacts, work->contact_count))
    return CN_OK;
  for (int32_t i = 0; i < bodies; i++) {
    int32_t root = root_of(&s, i);
    int moved = !s.blocked[root] && s.first[root] < INFINITY;
    double t = moved ? s.first[root] : 0;
    world->touch.time[i] = t;
    if (!(t > 0)) world->touch.flies[i] = 0;
    world->touch.pose[i] = arrive(&s, i, t, &world->touch.twist[i]);
  }
  cni_arena_back(arena, work->mark);
  CNI_TRY(cni_world_detect(world, world->touch.pose, world->touch.twist, s.gravity, h));
  work->touch = &world->touch;
  return CN_OK;
}
