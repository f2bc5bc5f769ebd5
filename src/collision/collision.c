// SPDX-License-Identifier: Apache-2.0
// From poses to contacts, in five stages:
//
//   place    every shape in the world, with how far it may come in this step
//   broad    candidates: pairs of shapes whose bounds overlap. A list of them is kept, made with
//            bounds a little wider, and serves until a shape leaves its wide bounds
//   cull     drop pairs that may not meet, and those whose bounding balls are too far apart; add
//            the half-spaces, of which bounds say nothing
//   filter   ask the user
//   narrow   points of contact with a gap up to the pair's margin, in the order of the pairs
//
// Margin of a pair. A contact that does not exist at the start of a step cannot stop anything
// within it, so everything that could meet during the step becomes a contact now:
//
//   margin = base + reach_a + reach_b
//   base   = given, or with the smaller inradius r the lesser of 0.05 r and 2 h sqrt(|g| r)
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
// Memory. Contacts lie in front of what is needed to find them, so that the latter can go when they
// are found. How many there are is known after the cull; as many as in the last call are expected,
// and what was written so far moves up or down where that is wrong, or where a new list of
// candidates needs the place.
//
// A pair is one integer, the two dense indices of its shapes, the smaller in front. Every parallel
// loop writes to its own places; counts are summed in index order afterwards.
#include "collision/collision_private.h"

#include "core/error.h"

// ---- the object ----

static const char *broad_phase_name(int32_t index) {
  return index < cni_broad_phase_count ? cni_broad_phases[index].name : NULL;
}

static CnStatus unknown_broad_phase(const char *name) {
  char names[256];
  cni_list_names(broad_phase_name, names, sizeof names);
  return cni_invalid("broad phase '%s' is unknown; there are: %s", name, names);
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
  *c = (CniCollision){.allocator = *allocator, .broad = broad, .points = 5, .wide_count = -1};
  cni_arena_init(&c->arena, allocator);
  *collision = c;
  return CN_OK;
}

void cni_collision_destroy(CniCollision *collision) {
  if (!collision) return;
  CnAllocator allocator = collision->allocator;
  cni_arena_release(&collision->arena);
  cni_release(&allocator, collision->wide, (size_t)collision->wide_capacity * sizeof(CniWide));
  cni_release(&allocator, collision->sides,
              (size_t)collision->side_capacity * sizeof(CniWideSides));
  cni_release(&allocator, collision->near, (size_t)collision->near_capacity);
  cni_release(&allocator, collision->swept, (size_t)collision->swept_capacity * sizeof(CniSwept));
  cni_release(&allocator, collision->planes, (size_t)collision->plane_capacity * sizeof(CniPlane));
  cni_release(&allocator, collision->starts, (size_t)collision->start_capacity * sizeof(int32_t));
  cni_release(&allocator, collision->partners,
              (size_t)collision->partner_capacity * sizeof(int32_t));
  CNI_RELEASE(&allocator, collision->of_some.shapes, collision->of_some.capacity);
  cni_release(&allocator, collision->axes, (size_t)collision->axis_capacity * sizeof(CniHint));
  cni_release(&allocator, collision, sizeof *collision);
}

// ---- memory ----

static size_t lines(size_t bytes) {
  return (bytes + CNI_ALIGNMENT - 1) / CNI_ALIGNMENT * CNI_ALIGNMENT;
}

// Never none: a pointer to no contacts is still not null.
static size_t contact_bytes(int32_t count) {
  return lines((size_t)(count > 0 ? count : 1) * sizeof(CniContact));
}

// Working memory so far, behind the headroom; all of it in one block.
static size_t work_bytes(const CniDetection *w) {
  return w->arena->total - w->start.total - w->headroom;
}

static void *moved(void *pointer, ptrdiff_t way) { return pointer ? (char *)pointer + way : NULL; }

// Another headroom in front of the working memory, which moves with all that is in it. It must fit: all
// was taken from the block in which it begins (cni_arena_keep asserts it).
static void move_work(CniDetection *w, size_t headroom) {
  size_t bytes = work_bytes(w), old = w->headroom;
  char *low = cni_arena_keep(w->arena, w->start, headroom + bytes);
  memmove(low + headroom, low + old, bytes);
  ptrdiff_t way = (ptrdiff_t)headroom - (ptrdiff_t)old;
  w->proxies = moved(w->proxies, way);
  w->placed = moved(w->placed, way);
  w->planes = moved(w->planes, way);
  w->keys = moved(w->keys, way);
  w->parts = moved(w->parts, way);
  w->contacts = (CniContact *)low;
  w->headroom = headroom;
}

// ---- all of it ----

// Headroom for as many contacts as the last call had, if that and what follows is likely to fit.
static CnStatus begin(const CniCollision *c, CniDetection *w) {
  w->start = cni_arena_mark(w->arena);
  size_t likely = (size_t)w->count * sizeof(CniProxy) + (size_t)c->pair_count * sizeof(uint64_t);
  if (c->side_capacity > 0) likely += (size_t)w->count * sizeof(CniPlaced);
  size_t headroom = contact_bytes(c->expected) / 32 * 33;
  if (headroom == 0 || !cni_arena_fits(w->arena, w->start, lines(headroom) + likely)) return CN_OK;
  w->headroom = lines(headroom);
  w->contacts = cni_arena_take(w->arena, w->headroom);
  return w->contacts ? CN_OK : cni_error_memory(w->headroom);
}

static CnStatus find_pairs(CniCollision *c, CniDetection *w) {
  int32_t inside;
  w->key_shift = cni_bit_count((uint64_t)w->count);
  CNI_TRY(cni_detection_place(c, w, &inside));
  if (!inside) {
    if (w->headroom > 0 && cni_arena_fits(w->arena, w->start, w->headroom + work_bytes(w)))
      move_work(w, 0);
    CNI_TRY(cni_detection_candidates(c, w));
  }
  CNI_TRY(cni_detection_cull(c, w));
  return cni_detection_parts(c, w);
}

// Contacts of the pairs, in front of the working memory if there is room, otherwise behind it.
static CnStatus touch_pairs(CniCollision *c, CniDetection *w, int32_t *count) {
  if (w->in->filter) {
    cni_detection_filter(w);
    CNI_TRY(cni_detection_parts(c, w));
  }
  CNI_TRY(cni_detection_swept(c, w));
  size_t bytes = contact_bytes(w->contact_room);
  if (bytes > w->headroom && cni_arena_fits(w->arena, w->start, bytes + work_bytes(w)))
    move_work(w, bytes);
  else if (bytes > w->headroom)
    w->contacts = cni_arena_take(w->arena, bytes);
  if (!w->contacts && bytes > 0) return cni_error_memory(bytes);
  c->expected = w->contact_room;
  CNI_TRY(cni_detection_narrow(c, w, count));
  // where working memory went on into another block, it stays
  if (!cni_arena_fits(w->arena, w->start, contact_bytes(*count))) return CN_OK;
  const CniContact *found = w->contacts;
  w->contacts = cni_arena_keep(w->arena, w->start, contact_bytes(*count));
  if (w->contacts != found) memmove(w->contacts, found, (size_t)*count * sizeof *found);
  return CN_OK;
}

// The same in memory of its own, for an arena that is yet to get its size, and then into the arena:
// what was needed to find the contacts does not stand in its books.
static CnStatus detect_apart(CniCollision *c, CniDetection *w, int32_t *count) {
  CniDetection own = {.in = w->in, .collision = c, .arena = &c->arena, .count = w->count};
  CnStatus status = cni_arena_reset(&c->arena);
  own.start = cni_arena_mark(&c->arena);
  if (status == CN_OK) status = find_pairs(c, &own);
  if (status == CN_OK) status = touch_pairs(c, &own, count);
  size_t bytes = status == CN_OK ? contact_bytes(*count) : 0;
  if (status == CN_OK) {
    w->contacts = cni_arena_take(w->arena, bytes);
    if (!w->contacts) status = cni_error_memory(bytes);
  }
  if (status == CN_OK && *count > 0)
    memcpy(w->contacts, own.contacts, (size_t)*count * sizeof(CniContact));
  cni_arena_release(&c->arena);
  return status;
}

static CnStatus detect(CniCollision *c, CniDetection *w, int32_t *count) {
  CNI_TRY(begin(c, w));
  CNI_TRY(find_pairs(c, w));
  c->age++;
  size_t bytes = contact_bytes(w->contact_room) + work_bytes(w);
  if (!w->in->arena || cni_arena_fits(w->arena, w->start, bytes)) return touch_pairs(c, w, count);
  cni_arena_back(w->arena, w->start);
  cni_arena_expect(w->arena, w->start, bytes);
  return detect_apart(c, w, count);
}

#define GROWTH 24 // one contact in so many is new

void cni_collision_expect(const CniCollision *c, CniArena *arena) {
  if (c->of_some.count == 0) return;
  size_t likely = contact_bytes(c->expected) + (size_t)c->pair_count * sizeof(uint64_t) +
                  (size_t)c->of_some.count * (sizeof(CniProxy) + sizeof(CniShape));
  cni_arena_expect(arena, (CniArenaMark){NULL, 0, 0}, likely + likely / GROWTH);
}

CnStatus cni_collision_detect(CniCollision *collision, const CniCollisionInput *input,
                              const CniContact **contacts, int32_t *count) {
  *contacts = NULL;
  *count = 0;
  if (!(input->time_step >= 0 && isfinite(input->time_step)))
    return cni_invalid("time step must be finite and not negative (got %g)", input->time_step);
  if (!(input->margin >= 0 && isfinite(input->margin)))
    return cni_invalid("contact margin must be finite and not negative (got %g)", input->margin);
  int32_t found = 0;
  CniArena *arena = input->arena ? input->arena : &collision->arena;
  if (!input->arena) CNI_TRY(cni_arena_reset(arena));
  CniCollisionInput own = *input;
  CniDetection w = {
      .in = &own, .collision = collision, .arena = arena, .count = input->model->shape_count};
  CniArenaMark mark = cni_arena_mark(arena);
  CniModel *some;
  CnStatus status = cni_some_choose(collision, &w, &some);
  if (some) {
    own.model = some;
    w.count = some->shape_count;
  }
  if (status == CN_OK) status = detect(collision, &w, &found);
  if (status == CN_OK && some) cni_some_name(collision, w.contacts, found);
  if (status != CN_OK) {
    cni_arena_back(arena, mark);
    return status;
  }
  *contacts = w.contacts;
  *count = found;
  return CN_OK;
}

const char *cni_collision_fault(const CniModel *model, const CniContact *contacts, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const CniContact *c = &contacts[i], *last = c - (i > 0);
    uint64_t rank = cni_contact_rank(c), before = cni_contact_rank(last);
    if (c->shape_a < 0 || c->shape_a >= model->shape_count || c->shape_b < 0 ||
        c->shape_b >= model->shape_count)
      return "a contact's shape is not there";
    if (model->shapes[c->shape_a].body != c->body_a || model->shapes[c->shape_b].body != c->body_b)
      return "a contact's body is not that of its shape";
    if (rank < before) return "contacts do not ascend by rank";
    if (i > 0 && rank == before && c->feature <= last->feature)
      return "the contacts of a pair do not ascend by feature";
  }
  return NULL;
}
