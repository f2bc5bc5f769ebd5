// From poses to contacts, in five strokes:
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
// A pair is one integer, the two dense indices of its shapes, the smaller in front. Every parallel
// loop writes to its own places; counts are summed in index order afterwards.
#include "collision/parts.h"

#include <stdio.h>

#include "core/error.h"

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
  cni_release(&allocator, collision->starts, (size_t)collision->start_capacity * sizeof(int32_t));
  cni_release(&allocator, collision->partners,
              (size_t)collision->partner_capacity * sizeof(int32_t));
  cni_release(&allocator, collision, sizeof *collision);
}

// ---- all of it ----

static CnStatus detect(CniCollision *c, CniDetection *w, int32_t *count) {
  int32_t inside;
  w->key_shift = cni_bit_count((uint64_t)w->count);
  CNI_TRY(cni_detection_place(c, w, &inside));
  if (!inside) CNI_TRY(cni_detection_candidates(c, w));
  c->age++;

  // Room for the contacts lies before what is needed to find them, so that the latter can go. That
  // is a guess; if it fails, all stays until the caller goes back.
  w->contact_room = c->expected < INT32_MAX / 2 ? c->expected + c->expected / 32 : c->expected;
  w->contacts = cni_arena_take(w->arena, (size_t)w->contact_room * sizeof(CniContact));
  if (!w->contacts) return cni_error_memory((size_t)w->contact_room * sizeof(CniContact));
  const CniContact *room = w->contacts;
  CniArenaMark mark = cni_arena_mark(w->arena);
  CNI_TRY(cni_detection_cull(c, w));
  if (w->in->filter) cni_detection_filter(w);
  CNI_TRY(cni_detection_narrow(c, w, count));
  if (w->contacts == room) cni_arena_back(w->arena, mark);
  return CN_OK;
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
  CniArena *arena = input->arena ? input->arena : &collision->arena;
  if (!input->arena) CNI_TRY(cni_arena_reset(arena));
  CniDetection w = {.in = input, .arena = arena, .count = input->model->shape_count};
  CniArenaMark mark = cni_arena_mark(arena);
  CnStatus status = detect(collision, &w, &found);
  if (status != CN_OK) {
    cni_arena_back(arena, mark);
    return status;
  }
  *contacts = w.contacts;
  *count = found;
  return CN_OK;
}
