// SPDX-License-Identifier: Apache-2.0
// Candidates: pairs of shapes that may come near each other, kept as long as they last.
//
// The broad phase is asked with bounds that are wider than needed by a skin: SKIN of the shape's
// size, and for what moves AHEAD steps of its way, up to RUN of its size (of what is no sphere twice of
// both), by which the bounds are also set ahead. So they hold it for twice as many steps, and fast bodies do not end a list that
// is good for all others. As long as the bounds of every shape, grown by its margin and its reach,
// lie within its wide bounds, two shapes whose bounds overlap have wide bounds that overlap: every
// pair that the broad phase would find now is in the list. What is in it beyond that the cull
// drops, by a test that looks at the present alone. So the contacts do not depend on when the list
// was made, and neither on which shapes there were then: it speaks of places in memory and of space
// only.
//
// In a pile at rest a list serves for ever. Where something moves so fast that a list serves one
// call only, the skin is of no use: after HURRY such lists the next CALM ones are made with no more
// than a hair, so that two shapes at exactly their margin are in it however the sums were rounded.
//
// Two spheres are a pair only if the balls that fill their wide bounds meet, which leaves a third
// of the pairs of a pile. So a sphere must also stay within its wide ball: its way since then and
// its present radius, margin and reach must not be more than the ball's radius. That the balls of
// two spheres that come near meet is then the triangle inequality. What is kept of the wide bounds
// is rounded inwards (CniWide): a shape that is within it is within them.
//
// The same holds for half-spaces as long as they rest where they were: a ball that does not come
// near one while it is in its wide bounds need not be looked at. How near is derived at far_away.
//
// The list has the form of a sparse matrix, rows and columns ascending: sorted by counting, first
// by the larger index, then by the smaller. The cull keeps the order.
#include "collision/collision_private.h"

#include "core/error.h"

#define SKIN 0.1  // of the inradius
#define AHEAD 4.0 // steps
#define RUN 0.2   // of the inradius
#define HAIR 1e-9 // of the outradius and what it is grown by; far above rounding
#define HURRY 4
#define CALM 16
#define SHAPES_A_TASK 256

typedef struct WideLoop {
  const CniDetection *w;
  CniWide *wide;
  CniWideSides *sides; // null: not needed
  CnVec3 origin;
  CniBounds *bounds;
  uint8_t *round, *near;
  int skin; // 0: bounds as they are needed, and a hair
} WideLoop;

#define SAFE (1 - 1e-6) // more than what rounding to a float takes
#define ROUNDING 1e-15  // of a coordinate
#define FARTHEST 1e30   // what a float holds for sure
#define NOWHERE                                                                                    \
  (CniWide) { {0, 0, 0}, -1 }

// Bounds in short: the rounding of the centre is taken off the size. `sides` may be null.
static CniWide narrow(const CniBounds *b, CnVec3 origin, int round, CniWideSides *sides) {
  const double lo[3] = {b->lo.x, b->lo.y, b->lo.z}, hi[3] = {b->hi.x, b->hi.y, b->hi.z};
  const double at[3] = {origin.x, origin.y, origin.z};
  CniWide wide = NOWHERE;
  double way = 0, halves[3];
  if (sides) *sides = (CniWideSides){-1, -1};
  for (int i = 0; i < 3; i++) {
    double middle = 0.5 * (lo[i] + hi[i]), centre = middle - at[i], half = 0.5 * (hi[i] - lo[i]);
    if (!(fabs(centre) < FARTHEST && half < FARTHEST)) return NOWHERE;
    wide.centre[i] = (float)centre;
    double shift = fabs(centre - (double)wide.centre[i]) + ROUNDING * (fabs(middle) + fabs(at[i]));
    way += shift;
    halves[i] = (half - shift) * SAFE;
  }
  wide.half = (float)(round ? (0.5 * (hi[0] - lo[0]) - way) * SAFE : halves[0]);
  if (sides && !round) *sides = (CniWideSides){(float)halves[1], (float)halves[2]};
  return wide;
}

// Bounds with a skin. They are set ahead by no more than the part of it that is for the way.
static CniBounds wide_bounds(const CniDetection *w, int32_t shape) {
  const CniProxy *p = &w->proxies[shape];
  double size = cni_model_inradius(&w->in->model->shapes[shape]);
  // a new list costs more where bounds do, and a pair in it that does not meet less than other pairs
  double times = p->flags & CNI_IS_SPHERE ? 1 : 2;
  double steps = p->reach > 0 ? times * cn_min(AHEAD, RUN * size / p->reach) : 0;
  CniBounds b = cni_grown_bounds(w, shape, SKIN * size + steps * p->reach);
  if (!(steps > 0) || p->flags & (CNI_ENDLESS | CNI_GHOST)) return b;
  CnVec3 way = cn_scale(steps * w->in->time_step, w->in->twist[p->body].velocity);
  return (CniBounds){cn_add(b.lo, way), cn_add(b.hi, way)};
}

// Bounds without a skin.
static CniBounds hair_bounds(const CniDetection *w, int32_t shape) {
  const CniProxy *p = &w->proxies[shape];
  double far = fabs(p->centre.x) + fabs(p->centre.y) + fabs(p->centre.z);
  double size = p->outradius + p->reach + p->base;
  return cni_grown_bounds(w, shape, HAIR * size + 4 * ROUNDING * far);
}

// Is a shape out of reach of a half-space at rest wherever it is in its wide bounds? With R the
// radius of these (of a ball), x its centre and c theirs, |x - c| + radius + reach + base/2 <= R,
// hence base/2 <= R as well: the sum of all that the cull adds up, |x - c| + radius + reach + base,
// is at most 2 R. Of a box with half a diagonal D each of |x - c|, the radius and reach + base/2 is
// at most D, the sum at most 4 D.
static int far_away(const CniPlane *plane, const CniBounds *b, int round) {
  CnVec3 c = cn_scale(0.5, cn_add(b->lo, b->hi)), half = cn_scale(0.5, cn_sub(b->hi, b->lo));
  double r = round ? 2 * half.x : 4 * cn_norm(half);
  double slack = 1e-8 * (r + fabs(c.x) + fabs(c.y) + fabs(c.z) + plane->far);
  return cn_dot(plane->up, c) - plane->height > r + slack;
}

static void widen(void *context, int32_t begin, int32_t end) {
  const WideLoop *loop = context;
  for (int32_t i = begin; i < end; i++) {
    loop->bounds[i] = loop->skin ? wide_bounds(loop->w, i) : hair_bounds(loop->w, i);
    loop->round[i] = (loop->w->proxies[i].flags & CNI_IS_SPHERE) != 0;
    loop->wide[i] = narrow(&loop->bounds[i], loop->origin, loop->round[i],
                           loop->sides ? &loop->sides[i] : NULL);
    loop->near[i] = 0;
    for (int32_t k = 0; k < loop->w->plane_count; k++)
      loop->near[i] |= !far_away(&loop->w->planes[k], &loop->bounds[i], loop->round[i]);
  }
}

// The half-spaces that the list knows.
static CnStatus keep_planes(CniCollision *c, const CniDetection *w) {
  c->plane_count = -1;
  for (int32_t k = 0; k < w->plane_count; k++)
    if (w->planes[k].reach > 0 || w->planes[k].rotates) return CN_OK;
  CNI_TRY(CNI_RESERVE(&c->allocator, c->planes, c->plane_capacity, 0, w->plane_count));
  c->plane_count = w->plane_count;
  if (w->plane_count > 0) memcpy(c->planes, w->planes, (size_t)w->plane_count * sizeof *c->planes);
  return CN_OK;
}

// Room for the wide bounds; for their sides from the first shape on that is neither a ball nor a
// half-space.
static CnStatus wide_room(CniCollision *c, const CniDetection *w) {
  int sides = c->side_capacity > 0;
  sides |= w->has_others;
  if (sides) CNI_TRY(CNI_RESERVE(&c->allocator, c->sides, c->side_capacity, 0, w->count));
  CNI_TRY(CNI_RESERVE(&c->allocator, c->near, c->near_capacity, 0, w->count));
  return CNI_RESERVE(&c->allocator, c->wide, c->wide_capacity, 0, w->count);
}

// From counts in starts[1 ..] to first places.
static void sum_up(int32_t *starts, int32_t count) {
  starts[0] = 0;
  for (int32_t i = 0; i < count; i++) starts[i + 1] += starts[i];
}

// Sort the pairs of n shapes into the list. `by_b` has room for as many pairs, `places` for n + 1.
static void sort_pairs(CniCollision *c, const CniPair *pairs, int32_t n, CniPair *by_b,
                       int32_t *places) {
  size_t bytes = ((size_t)n + 1) * sizeof *places;
  memset(places, 0, bytes);
  memset(c->starts, 0, bytes);
  for (int32_t k = 0; k < c->pair_count; k++) {
    places[pairs[k].b + 1]++;
    c->starts[pairs[k].a + 1]++;
  }
  sum_up(places, n);
  sum_up(c->starts, n);
  for (int32_t k = 0; k < c->pair_count; k++) by_b[places[pairs[k].b]++] = pairs[k];
  memcpy(places, c->starts, bytes);
  for (int32_t k = 0; k < c->pair_count; k++) c->partners[places[by_b[k].a]++] = by_b[k].b;
}

// Is the next list to have a skin?
static int choose_skin(CniCollision *c) {
  c->hurried = c->age > 1 ? 0 : c->hurried + 1;
  if (c->narrow_left == 0 && c->hurried > HURRY) c->narrow_left = CALM;
  if (c->narrow_left == 0) return 1;
  c->narrow_left--;
  c->hurried = 0;
  return 0;
}

// Room for the list and for sorting it.
static CnStatus sort_room(CniCollision *c, const CniDetection *w, CniPair **by_b,
                          int32_t **places) {
  size_t pairs = (size_t)c->pair_count * sizeof **by_b;
  size_t starts = ((size_t)w->count + 1) * sizeof **places;
  CNI_TRY(CNI_RESERVE(&c->allocator, c->starts, c->start_capacity, 0, w->count + 1));
  CNI_TRY(CNI_RESERVE(&c->allocator, c->partners, c->partner_capacity, 0, c->pair_count));
  *by_b = cni_arena_take(w->arena, pairs);
  *places = cni_arena_take(w->arena, starts);
  return *by_b && *places ? CN_OK : cni_error_memory(pairs + starts);
}

// ---- some of the pairs: this rank's ----

static CnVec3 lower(CnVec3 a, CnVec3 b) {
  return cn_vec3(cn_min(a.x, b.x), cn_min(a.y, b.y), cn_min(a.z, b.z));
}

static CnVec3 higher(CnVec3 a, CnVec3 b) {
  return cn_vec3(cn_max(a.x, b.x), cn_max(a.y, b.y), cn_max(a.z, b.z));
}

static int is_one_of_them(const CniDetection *w, int32_t shape) {
  const CniProxy *p = &w->proxies[shape];
  return p->body >= w->in->first_body && p->body < w->in->last_body &&
         !(p->flags & (CNI_ENDLESS | CNI_GHOST));
}

// Bounds that do not reach those of the bodies looked for meet nothing.
static void leave_out(const CniDetection *w, CniBounds *bounds) {
  CnVec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t i = 0; i < w->count; i++) {
    if (!is_one_of_them(w, i)) continue;
    lo = lower(lo, bounds[i].lo);
    hi = higher(hi, bounds[i].hi);
  }
  for (int32_t i = 0; i < w->count; i++) {
    CniBounds *b = &bounds[i];
    if (is_one_of_them(w, i) || (b->lo.x <= hi.x && b->hi.x >= lo.x && b->lo.y <= hi.y &&
                                 b->hi.y >= lo.y && b->lo.z <= hi.z && b->hi.z >= lo.z))
      continue;
    *b = (CniBounds){{1, 1, 1}, {-1, -1, -1}};
  }
}

static void keep_some(CniCollision *c, const CniDetection *w, CniPair *pairs) {
  int32_t n = 0;
  for (int32_t k = 0; k < c->pair_count; k++)
    if (cni_is_looked_for(w->in, &w->proxies[pairs[k].a], &w->proxies[pairs[k].b]))
      pairs[n++] = pairs[k];
  c->pair_count = n;
}

CnStatus cni_detection_candidates(CniCollision *c, CniDetection *w) {
  int skin = choose_skin(c);
  c->wide_count = -1; // until all is done
  c->age = 0;
  CNI_TRY(wide_room(c, w));
  CNI_TRY(keep_planes(c, w));
  CniArenaMark mark = cni_arena_mark(w->arena);
  CniBounds *bounds;
  uint8_t *round;
  CNI_TRY(CNI_TAKE(w->arena, w->count, bounds));
  CNI_TRY(CNI_TAKE(w->arena, w->count, round));
  c->origin = w->count > 0 ? w->proxies[w->count / 2].centre : CN_VEC3_ZERO;
  WideLoop wide = {w, c->wide, c->sides, c->origin, bounds, round, c->near, skin};
  cni_parallel_for(w->in->tasks, w->count, SHAPES_A_TASK, widen, &wide);

  CniPair *pairs = NULL, *by_b = NULL;
  int32_t *places = NULL;
  CniOldAxes old;
  if (w->in->some) leave_out(w, bounds);
  CNI_TRY(c->broad->find(bounds, round, w->count, w->in->tasks, w->arena, &pairs, &c->pair_count));
  if (w->in->some) keep_some(c, w, pairs);
  CNI_TRY(cni_axes_leave(c, w, &old));
  CNI_TRY(sort_room(c, w, &by_b, &places));
  sort_pairs(c, pairs, w->count, by_b, places);
  CNI_TRY(cni_axes_take(c, w, &old));
  cni_arena_back(w->arena, mark);
  c->wide_count = w->count;
  c->some = w->in->some;
  c->first_body = w->in->first_body;
  c->last_body = w->in->last_body;
  c->edits = w->in->model->edits;
  return CN_OK;
}
