// From poses to contacts, in six strokes:
//
//   place    every shape in the world, with bounds grown by its share of the margin
//   broad    pairs of shapes whose bounds overlap; half-spaces, of which bounds say nothing, are
//            tested with the bounding ball of every shape
//   cull     drop pairs that may not meet, and those whose bounding balls are too far apart
//   sort     by the ids of the shapes, so that the order does not depend on the broad phase
//   filter   ask the user
//   narrow   points of contact with a gap up to the pair's margin, in the order of the pairs
//
// Margin of a pair. A contact that does not exist at the start of a step cannot stop anything
// within it, so everything that could meet during the step becomes a contact now:
//
//   margin = base + reach_a + reach_b,   base = given, or 0.05 of the smaller inradius
//   reach  = h (|v| + h (|g| + |f|/m) + (|w| + h |t|/J) r),   r: from the centre of mass
//
// with g, f, t (gravity and loads) for bodies that have mass only, J the least principal inertia,
// and r the distance of the farthest point of the shape, or for a sphere of its centre, as a sphere
// that turns about its own centre stays where it is. Reaches add up whatever the directions: one of
// the two bodies may be stopped or turned aside by a third within the same step. A turning plane
// reaches farther the farther away it is touched; its reach is found for each pair. Bounds grow by
// reach + base / 2 on every side, which the least of two inradii keeps sufficient.
//
// Pairs that never make a contact: shapes of one body, shapes of two bodies without inverse mass,
// shapes whose categories and masks say so, and shapes of two bodies that a joint connects directly
// (links of a chain overlap at their joints by design).
//
// Shapes are numbered by ascending slot of their ids, so the smaller number is the smaller slot: a
// pair is one integer, and sorting it sorts the contact keys. Every parallel loop writes to its own
// places; counts are summed in index order afterwards.
#include "collision/collision.h"

#include <stdio.h>

#include "collision/broad.h"
#include "core/error.h"

#define SHAPES_A_TASK 256
#define PAIRS_A_TASK 2048
#define NARROW_A_TASK 128

#define PRESCRIBED 1u // no inverse mass
#define ENDLESS 2u    // a half-space
#define JOINTED 4u    // its body has a joint
#define ROUND 8u      // a sphere
#define AHEAD 8       // pairs whose data is fetched ahead of use: they lie anywhere in memory

// What decides about a pair before its shapes are looked at, one cache line.
typedef struct Proxy {
  CnVec3 centre; // of the bounding ball; of a half-space: a point of its surface
  double outradius;
  double base;  // m, its share of the margin if it is the smaller one
  double reach; // m, in this step; of a half-space without its spin
  int32_t body;
  uint32_t category, mask;
  uint32_t flags;
} Proxy;
_Static_assert(sizeof(Proxy) == 64, "a proxy is one cache line");

struct CniCollision {
  CnAllocator allocator;
  const CniBroadPhase *broad;
  CniArena arena;
  size_t arena_room; // bytes it has in one block, 0: none
  CniContact *contacts;
  int32_t contact_capacity;
  double points; // expected of a pair without a sphere: a guess of room, never seen in the result
};

typedef struct Plane {
  CnVec3 up;
  int32_t number;
} Plane;

// The contacts of one block of pairs. What does not fit is counted all the same.
typedef struct Part {
  CniContact *contacts;
  int32_t room, count;
  int32_t others; // pairs without a sphere, which may have several points
  int32_t points; // of those
  int32_t again;  // it had not enough room
} Part;

// One detection.
typedef struct Work {
  const CniCollisionInput *in;
  int32_t count;         // shapes
  const int32_t *shapes; // dense index by number
  uint32_t *slots;       // by number, ascending
  CniBounds *bounds;
  Proxy *proxies;
  Plane *planes;
  int32_t plane_count;
  const CniPair *pairs, *plane_pairs;
  int32_t pair_count, plane_pair_count;
  CniSort sort;      // keys of the pairs that are left
  int32_t key_shift; // key = a << key_shift | b
  int32_t key_count;
  int32_t *kept; // pairs left in each block
  Part *parts;   // of the contacts, one a block of pairs
  int32_t part_count;
  int32_t overflow; // a second try is under way: only parts that had not enough room
} Work;

// ---- the object ----

static CnStatus unknown_broad_phase(const char *name) {
  char names[256];
  int used = 0;
  names[0] = 0;
  for (int32_t i = 0; i < cni_broad_phase_count && used < (int)sizeof names; i++)
    used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", i ? ", " : "",
                     cni_broad_phases[i].name);
  return cni_error(CN_INVALID_ARGUMENT, "broad phase '%s' is unknown; there are: %s", name, names);
}

CnStatus cni_collision_create(const char *broad_phase, const CnAllocator *allocator,
                              CniCollision **collision) {
  *collision = NULL;
  const CniBroadPhase *broad = broad_phase ? NULL : &cni_broad_phases[0];
  for (int32_t i = 0; i < cni_broad_phase_count && !broad; i++)
    if (strcmp(broad_phase, cni_broad_phases[i].name) == 0) broad = &cni_broad_phases[i];
  if (!broad) return unknown_broad_phase(broad_phase);

  CniCollision *c = cni_allocate(allocator, sizeof *c);
  if (!c) return cni_error_memory(sizeof *c);
  *c = (CniCollision){.allocator = *allocator, .broad = broad, .points = 5};
  cni_arena_init(&c->arena, allocator);
  *collision = c;
  return CN_OK;
}

void cni_collision_destroy(CniCollision *collision) {
  if (!collision) return;
  CnAllocator allocator = collision->allocator;
  cni_arena_release(&collision->arena);
  cni_release(&allocator, collision->contacts,
              (size_t)collision->contact_capacity * sizeof(CniContact));
  cni_release(&allocator, collision, sizeof *collision);
}

static int compare(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

int cni_contact_key_compare(const CniContactKey *a, const CniContactKey *b) {
  if (a->shape_a != b->shape_a) return compare(a->shape_a, b->shape_a);
  if (a->shape_b != b->shape_b) return compare(a->shape_b, b->shape_b);
  return compare(a->feature, b->feature);
}

// ---- place ----

// Number the shapes by ascending slot.
static CnStatus number_shapes(Work *w, CniArena *arena) {
  const CniModel *m = w->in->model;
  size_t slots = (size_t)m->shape_ids.slot_count + 1, bytes = slots * sizeof(int32_t);
  int32_t *by_slot = cni_arena_take(arena, bytes);
  w->slots = cni_arena_take(arena, (size_t)w->count * sizeof *w->slots);
  if (!by_slot || !w->slots) return cni_error_memory(2 * bytes);
  memset(by_slot, -1, bytes);
  for (int32_t i = 0; i < w->count; i++) by_slot[m->shapes[i].slot] = i;
  // close the gaps in place
  int32_t n = 0;
  for (size_t slot = 0; slot < slots; slot++) {
    if (by_slot[slot] < 0) continue;
    w->slots[n] = (uint32_t)slot;
    by_slot[n++] = by_slot[slot];
  }
  w->shapes = by_slot;
  return CN_OK;
}

// How far points at most r from the centre of mass may come in this step.
static double reach_of(const CniCollisionInput *in, int32_t body, double r) {
  const CniModel *m = in->model;
  if (m->bodies[body].kind == CN_BODY_FIXED) return 0;
  double h = in->time_step;
  double speed = cn_norm(in->twist[body].velocity), spin = cn_norm(in->twist[body].spin);
  const CniBodyMass *mass = &m->mass[body];
  if (mass->inv_mass > 0) {
    double force = cn_norm(m->load[body].velocity), torque = cn_norm(m->load[body].spin);
    double inv_inertia =
        cn_max(mass->inv_inertia.x, cn_max(mass->inv_inertia.y, mass->inv_inertia.z));
    speed += h * (cn_norm(in->gravity) + force * mass->inv_mass);
    spin += h * torque * inv_inertia;
  }
  // no point gets farther by turning than to the opposite side
  return h * speed + cn_min(h * spin, 2) * r;
}

// Meets nothing in the broad phase.
static const CniBounds no_bounds = {{1, 1, 1}, {-1, -1, -1}};

static CniPlaced placed_shape(const Work *w, int32_t i) {
  const CniModel *m = w->in->model;
  return cni_model_placed(m, w->shapes[i], &w->in->pose[m->shapes[w->shapes[i]].body]);
}

static void place_shape(const Work *w, int32_t i) {
  const CniCollisionInput *in = w->in;
  const CniShape *s = &in->model->shapes[w->shapes[i]];
  CniPlaced placed = placed_shape(w, i);
  int endless = s->kind == CN_SHAPE_PLANE;
  double arm = endless || !s->poses ? 0 : cn_norm(s->poses->pose.position);
  if (s->kind != CN_SHAPE_SPHERE && !endless) arm += s->outradius;

  Proxy p = {.centre = placed.pose.position,
             .outradius = s->outradius,
             .base = in->margin > 0 ? in->margin : 0.05 * s->inradius,
             .reach = reach_of(in, s->body, arm),
             .body = s->body,
             .category = s->category,
             .mask = s->mask};
  if (!(in->model->mass[s->body].inv_mass > 0)) p.flags |= PRESCRIBED;
  if (endless) p.flags |= ENDLESS;
  if (s->kind == CN_SHAPE_SPHERE) p.flags |= ROUND;
  if (in->model->bodies[s->body].first_joint >= 0) p.flags |= JOINTED;

  CniBounds b = cni_shape_bounds(&placed);
  double grow = p.reach + 0.5 * p.base;
  w->bounds[i] = (CniBounds){{b.lo.x - grow, b.lo.y - grow, b.lo.z - grow},
                             {b.hi.x + grow, b.hi.y + grow, b.hi.z + grow}};
  if (endless) w->bounds[i] = no_bounds;
  w->proxies[i] = p;
}

static void place_shapes(void *context, int32_t begin, int32_t end) {
  const Work *w = context;
  for (int32_t i = begin; i < end; i++) place_shape(w, i);
}

// A body that has left the real numbers is found by its bounds, a half-space by its centre.
static CnStatus check_finite(const Work *w) {
  for (int32_t i = 0; i < w->count; i++) {
    const CniBounds *b = &w->bounds[i];
    const Proxy *p = &w->proxies[i];
    if (cn_vec3_finite(b->lo) && cn_vec3_finite(b->hi) && cn_vec3_finite(p->centre) &&
        isfinite(p->reach))
      continue;
    char label[CNI_NAME_SIZE + 16];
    cni_model_body_label(w->in->model, p->body, label);
    return cni_error(CN_NOT_FINITE, "%s: position or velocity is not finite", label);
  }
  return CN_OK;
}

// Set the half-spaces apart.
static CnStatus list_planes(Work *w, CniArena *arena) {
  for (int32_t i = 0; i < w->count; i++) w->plane_count += (w->proxies[i].flags & ENDLESS) != 0;
  size_t bytes = (size_t)w->plane_count * sizeof *w->planes;
  w->planes = cni_arena_take(arena, bytes);
  if (!w->planes) return cni_error_memory(bytes);
  int32_t n = 0;
  for (int32_t i = 0; i < w->count && n < w->plane_count; i++) {
    if (!(w->proxies[i].flags & ENDLESS)) continue;
    CniPlaced placed = placed_shape(w, i);
    w->planes[n++] = (Plane){cn_qmat(placed.pose.rotation).z, i};
  }
  return CN_OK;
}

static CnStatus place(Work *w, CniArena *arena) {
  CNI_TRY(number_shapes(w, arena));
  size_t n = (size_t)w->count;
  w->bounds = cni_arena_take(arena, n * sizeof *w->bounds);
  w->proxies = cni_arena_take(arena, n * sizeof *w->proxies);
  if (!w->bounds || !w->proxies)
    return cni_error_memory(n * (sizeof *w->bounds + sizeof *w->proxies));
  cni_parallel_for(w->in->tasks, w->count, SHAPES_A_TASK, place_shapes, w);
  CNI_TRY(check_finite(w));
  return list_planes(w, arena);
}

// ---- cull and sort ----

// What the spin of a half-space adds to its reach where the other shape is.
static double swing(const CniCollisionInput *in, const Proxy *plane, const Proxy *other) {
  if (in->model->bodies[plane->body].kind == CN_BODY_FIXED) return 0;
  CnVec3 arm = cn_sub(other->centre, in->pose[plane->body].position);
  double r = cn_norm(arm) + other->outradius + other->reach;
  return in->time_step * cn_norm(in->twist[plane->body].spin) * r;
}

static double pair_margin(const Work *w, int32_t i, int32_t j) {
  const Proxy *a = &w->proxies[i], *b = &w->proxies[j];
  double margin = cn_min(a->base, b->base) + a->reach + b->reach;
  if (a->flags & ENDLESS) margin += swing(w->in, a, b);
  if (b->flags & ENDLESS) margin += swing(w->in, b, a);
  return margin;
}

// Are two bodies the ends of one joint? Both lists are walked at once, so that a hub with a
// thousand joints costs no more than its partner.
static int are_joined(const CniModel *m, int32_t a, int32_t b) {
  int32_t of_a = m->bodies[a].first_joint, of_b = m->bodies[b].first_joint;
  while (of_a >= 0 && of_b >= 0) {
    const CniJoint *i = &m->joints[of_a], *j = &m->joints[of_b];
    if (i->body_a == b || i->body_b == b || j->body_a == a || j->body_b == a) return 1;
    of_a = i->body_a == a ? i->next_a : i->next_b;
    of_b = j->body_a == b ? j->next_a : j->next_b;
  }
  return 0;
}

// May two shapes meet at all?
static int may_meet(const CniModel *m, const Proxy *a, const Proxy *b) {
  return a->body != b->body && !(a->flags & b->flags & PRESCRIBED) && (a->category & b->mask) &&
         (b->category & a->mask) &&
         !(a->flags & b->flags & JOINTED && are_joined(m, a->body, b->body));
}

// Could two shapes come within their margin? The slack covers rounding, so that nothing the narrow
// phase would keep is dropped.
static int are_near(const Work *w, int32_t i, int32_t j) {
  const Proxy *a = &w->proxies[i], *b = &w->proxies[j];
  double r = (a->outradius + b->outradius + pair_margin(w, i, j)) * (1 + 1e-9);
  return cn_norm2(cn_sub(b->centre, a->centre)) <= r * r;
}

// Half-spaces with the shapes [begin, end) that come near them.
static void find_plane_pairs(const void *context, int32_t begin, int32_t end, CniPairSink *sink) {
  const Work *w = context;
  for (int32_t i = begin; i < end; i++) {
    const Proxy *a = &w->proxies[i];
    if (a->flags & ENDLESS) continue;
    for (int32_t k = 0; k < w->plane_count; k++) {
      const Plane *plane = &w->planes[k];
      CnVec3 d = cn_sub(a->centre, w->proxies[plane->number].centre);
      double r = a->outradius + pair_margin(w, i, plane->number);
      double slack = 1e-9 * (r + fabs(d.x) + fabs(d.y) + fabs(d.z));
      cni_sink_add(sink, i, plane->number, cn_dot(plane->up, d) <= r + slack);
    }
  }
}

// The pairs of each block that are left, as keys, packed at the start of the block.
static void cull_blocks(void *context, int32_t begin, int32_t end) {
  const Work *w = context;
  int32_t all = w->pair_count + w->plane_pair_count;
  for (int32_t block = begin; block < end; block++) {
    int32_t first = block * PAIRS_A_TASK, left = all - first, n = first;
    int32_t last = first + (left < PAIRS_A_TASK ? left : PAIRS_A_TASK);
    for (int32_t k = first; k < last; k++) {
      int plane = k >= w->pair_count;
      CniPair pair = plane ? w->plane_pairs[k - w->pair_count] : w->pairs[k];
      if (k + AHEAD < w->pair_count) {
        __builtin_prefetch(&w->proxies[w->pairs[k + AHEAD].a]);
        __builtin_prefetch(&w->proxies[w->pairs[k + AHEAD].b]);
      }
      if ((plane || are_near(w, pair.a, pair.b)) &&
          may_meet(w->in->model, &w->proxies[pair.a], &w->proxies[pair.b]))
        w->sort.keys[n++] = (uint64_t)pair.a << w->key_shift | (uint64_t)pair.b;
    }
    w->kept[block] = n - first;
  }
}

static CnStatus cull(Work *w, CniArena *arena) {
  int64_t all = (int64_t)w->pair_count + w->plane_pair_count;
  if (all == 0) return CN_OK;
  if (all > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "%lld pairs of shapes are near each other, more than %d",
                     (long long)all, INT32_MAX);
  size_t n = (size_t)all;
  int32_t blocks = (int32_t)((all - 1) / PAIRS_A_TASK + 1);
  w->sort.keys = cni_arena_take(arena, n * sizeof(uint64_t));
  w->kept = cni_arena_take(arena, (size_t)blocks * sizeof *w->kept);
  if (!w->sort.keys || !w->kept) return cni_error_memory(n * sizeof(uint64_t));
  w->key_shift = cni_bit_count((uint64_t)w->count);
  cni_parallel_for(w->in->tasks, blocks, 1, cull_blocks, w);

  for (int32_t block = 0; block < blocks; block++) {
    const uint64_t *from = w->sort.keys + (size_t)block * PAIRS_A_TASK;
    memmove(w->sort.keys + w->key_count, from, (size_t)w->kept[block] * sizeof *from);
    w->key_count += w->kept[block];
  }
  n = (size_t)w->key_count;
  w->sort.spare_keys = cni_arena_take(arena, n * sizeof(uint64_t));
  if (!w->sort.spare_keys) return cni_error_memory(n * sizeof(uint64_t));
  cni_sort_keys(&w->sort, w->key_count, 2 * w->key_shift);
  return CN_OK;
}

static CniPair key_pair(const Work *w, int32_t k) {
  uint64_t key = w->sort.keys[k], mask = ((uint64_t)1 << w->key_shift) - 1;
  return (CniPair){(int32_t)(key >> w->key_shift), (int32_t)(key & mask)};
}

// Ask the user, one pair after another.
static void ask_user(Work *w) {
  const CniCollisionInput *in = w->in;
  int32_t n = 0;
  for (int32_t k = 0; k < w->key_count; k++) {
    CniPair pair = key_pair(w, k);
    const CniShape *a = &in->model->shapes[w->shapes[pair.a]];
    const CniShape *b = &in->model->shapes[w->shapes[pair.b]];
    CnShapeId id_a = {a->slot, a->generation}, id_b = {b->slot, b->generation};
    if (in->filter(in->filter_context, id_a, id_b)) w->sort.keys[n++] = w->sort.keys[k];
  }
  w->key_count = n;
}

// ---- narrow ----

static int has_sphere(const Work *w, CniPair pair) {
  return w->proxies[pair.a].flags & ROUND || w->proxies[pair.b].flags & ROUND;
}

// How two shapes touch.
static void collide(const Work *w, CniPair pair, CniManifold *manifold) {
  CniPlaced a = placed_shape(w, pair.a), b = placed_shape(w, pair.b);
  cni_collide(&a, &b, pair_margin(w, pair.a, pair.b), manifold);
}

// Append the points of a pair to the contacts of its part.
static void add_contacts(const Work *w, CniPair pair, const CniManifold *manifold, Part *part) {
  for (int32_t i = 0; i < manifold->count; i++) {
    const CniPoint *p = &manifold->points[i];
    if (part->count++ >= part->room) continue;
    part->contacts[part->count - 1] =
        (CniContact){.key = {w->slots[pair.a], w->slots[pair.b], p->feature},
                     .shape_a = w->shapes[pair.a],
                     .shape_b = w->shapes[pair.b],
                     .body_a = w->proxies[pair.a].body,
                     .body_b = w->proxies[pair.b].body,
                     .point = p->point,
                     .normal = manifold->normal,
                     .gap = p->gap};
  }
}

static void collide_parts(void *context, int32_t begin, int32_t end) {
  const Work *w = context;
  for (int32_t n = begin; n < end; n++) {
    Part *part = &w->parts[n];
    if (w->overflow && !part->again) continue;
    part->count = part->points = 0;
    int32_t first = n * NARROW_A_TASK, left = w->key_count - first;
    int32_t last = first + (left < NARROW_A_TASK ? left : NARROW_A_TASK);
    for (int32_t k = first; k < last; k++) {
      if (k + AHEAD < w->key_count) __builtin_prefetch(&w->proxies[key_pair(w, k + AHEAD).b]);
      CniPair pair = key_pair(w, k);
      CniManifold manifold;
      collide(w, pair, &manifold);
      add_contacts(w, pair, &manifold, part);
      if (!has_sphere(w, pair)) part->points += manifold.count;
    }
  }
}

// Room for the contacts as they are expected, cut into the parts' shares.
static CnStatus make_parts(CniCollision *c, Work *w) {
  w->part_count = w->key_count > 0 ? (w->key_count - 1) / NARROW_A_TASK + 1 : 0;
  size_t bytes = (size_t)w->part_count * sizeof(Part);
  w->parts = cni_arena_take(&c->arena, bytes);
  if (!w->parts) return cni_error_memory(bytes);
  int64_t total = 0;
  for (int32_t n = 0; n < w->part_count; n++) {
    Part part = {0};
    int32_t first = n * NARROW_A_TASK, left = w->key_count - first;
    int32_t pairs = left < NARROW_A_TASK ? left : NARROW_A_TASK;
    for (int32_t k = first; k < first + pairs; k++) part.others += !has_sphere(w, key_pair(w, k));
    part.room = pairs - part.others;
    if (part.others > 0) part.room += 8 + (int32_t)(c->points * part.others);
    total += part.room;
    w->parts[n] = part;
  }
  if (total > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->contacts, &c->contact_capacity, 0,
                            (int32_t)total, sizeof(CniContact)));
  CniContact *at = c->contacts;
  for (int32_t n = 0; n < w->part_count; at += w->parts[n++].room) w->parts[n].contacts = at;
  return CN_OK;
}

// Parts with more contacts than room are found once more, into the arena.
static CnStatus widen_parts(CniCollision *c, Work *w) {
  for (int32_t n = 0; n < w->part_count; n++) {
    Part *part = &w->parts[n];
    if (part->count <= part->room) continue;
    size_t bytes = (size_t)part->count * sizeof(CniContact);
    part->contacts = cni_arena_take(&c->arena, bytes);
    if (!part->contacts) return cni_error_memory(bytes);
    part->room = part->count;
    part->again = w->overflow = 1;
  }
  if (w->overflow) cni_parallel_for(w->in->tasks, w->part_count, 1, collide_parts, w);
  return CN_OK;
}

// One part after another: down into the first room if every part stayed within its own.
static CnStatus join_parts(CniCollision *c, const Work *w, int32_t *count) {
  int64_t total = 0;
  for (int32_t n = 0; n < w->part_count; n++) total += w->parts[n].count;
  if (total > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  CniContact *all = c->contacts, *at;
  size_t bytes = (size_t)total * sizeof *all;
  if (w->overflow) all = cni_arena_take(&c->arena, bytes);
  if (!all && total > 0) return cni_error_memory(bytes);
  at = all;
  for (int32_t n = 0; n < w->part_count; at += w->parts[n++].count)
    memmove(at, w->parts[n].contacts, (size_t)w->parts[n].count * sizeof *all);
  if (w->overflow) {
    CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->contacts, &c->contact_capacity, 0,
                              (int32_t)total, sizeof *all));
    memcpy(c->contacts, all, bytes);
  }
  *count = (int32_t)total;
  return CN_OK;
}

// What to expect of the next call: a quarter more points than a pair had in this one.
static void expect_points(CniCollision *c, const Work *w) {
  int64_t others = 0, points = 0;
  for (int32_t n = 0; n < w->part_count; n++) {
    others += w->parts[n].others;
    points += w->parts[n].points;
  }
  if (others > 0) c->points = cn_clamp(1.25 * (double)points / (double)others, 0.5, CNI_MAX_POINTS);
}

static CnStatus narrow(CniCollision *c, Work *w, int32_t *count) {
  CNI_TRY(make_parts(c, w));
  cni_parallel_for(w->in->tasks, w->part_count, 1, collide_parts, w);
  CNI_TRY(widen_parts(c, w));
  CNI_TRY(join_parts(c, w, count));
  expect_points(c, w);
  return CN_OK;
}

// ---- all of it ----

static CnStatus detect(CniCollision *c, const CniCollisionInput *in, int32_t *count) {
  Work w = {.in = in, .count = in->model->shape_count};
  CniPair *pairs = NULL, *plane_pairs = NULL;
  CNI_TRY(place(&w, &c->arena));
  CNI_TRY(c->broad->find(w.bounds, w.count, in->tasks, &c->arena, &pairs, &w.pair_count));
  if (w.plane_count > 0)
    CNI_TRY(cni_collect_pairs(find_plane_pairs, &w, w.count, 1, in->tasks, &c->arena, &plane_pairs,
                              &w.plane_pair_count));
  w.pairs = pairs;
  w.plane_pairs = plane_pairs;
  CNI_TRY(cull(&w, &c->arena));
  if (in->filter) ask_user(&w);
  return narrow(c, &w, count);
}

// Leave the arena with one block, a little larger than what was needed, so that later calls find
// their room at once. What was there goes first: it holds nothing any more, and both together would
// double the memory.
static CnStatus settle_arena(CniCollision *c) {
  size_t used = c->arena.total, room = used + used / 8;
  if (used > c->arena_room) {
    cni_arena_release(&c->arena);
    if (!cni_arena_take(&c->arena, room)) return cni_error_memory(room);
    c->arena_room = room;
  }
  return cni_arena_reset(&c->arena);
}

CnStatus cni_collision_detect(CniCollision *collision, const CniCollisionInput *input,
                              const CniContact **contacts, int32_t *count) {
  *contacts = NULL;
  *count = 0;
  if (!(input->time_step >= 0 && isfinite(input->time_step)))
    return cni_error(CN_INVALID_ARGUMENT, "time step must be finite and not negative (got %g)",
                     input->time_step);
  if (!(input->margin >= 0 && isfinite(input->margin)))
    return cni_error(CN_INVALID_ARGUMENT, "contact margin must be finite and not negative (got %g)",
                     input->margin);
  int32_t found = 0;
  CnStatus status = detect(collision, input, &found);
  if (status == CN_OK) status = settle_arena(collision);
  if (status != CN_OK) {
    cni_arena_release(&collision->arena);
    collision->arena_room = 0;
    return status;
  }
  *contacts = collision->contacts;
  *count = found;
  return CN_OK;
}
