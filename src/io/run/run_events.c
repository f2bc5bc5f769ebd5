// SPDX-License-Identifier: Apache-2.0
// Events of a run. What integrators placed in time goes into the file as it is. Contacts of the world begin and end with
// the impulse, and in a pile at rest many carry something in one step and nothing in the next, which are no
// events for anybody. So a run tells with a hysteresis: a contact begins with its first impulse, and has ended when
// it carries none and its shapes are so far apart that the step looks at them no more (the margin of
// contacts, 0.05 of the smaller radius as a rule). Pairs in between are kept here.
//
// Which pairs those are follows from the events of the file and the contacts of the world, so that a resumed run
// tells the same.
#include <stdlib.h>
#include <string.h>

#include "io/run/run_private.h"
#include "world/world.h"

static uint64_t key_of(CnShapeId a, CnShapeId b) { return (uint64_t)a.slot << 32 | b.slot; }

static int compare_pairs(const void *a, const void *b) {
  const CniLoosePair *p = a, *q = b;
  uint64_t x = key_of(p->a, p->b), y = key_of(q->a, q->b);
  return (x > y) - (x < y);
}

static CniLoosePair *find(const CniRunWriter *w, CnShapeId a, CnShapeId b) {
  CniLoosePair wanted = {.a = a, .b = b};
  if (w->loose_count == 0) return NULL;
  return bsearch(&wanted, w->loose, (size_t)w->loose_count, sizeof wanted, compare_pairs);
}

// ---- a step ----

static CnStatus put_event(CniRunWriter *w, const CniEventRow *event) {
  int64_t row;
  CNI_TRY(cni_run_rows_add(w, CNI_ROWS_EVENTS, 1, &row));
  cni_run_rows_put(w, CNI_COLUMN_EVENT_STEP, CNI_COLUMN_COUNT, row, event);
  return CN_OK;
}

static CnStatus put_contact_event(CniRunWriter *w, const CnStepReport *report,
                                  CnContactEventKind kind, CnShapeId a, CnShapeId b) {
  int32_t trigger = CNI_RUN_TRIGGER + (int32_t)kind - (int32_t)CN_TRIGGER_ENTERED;
  CniEventRow event = {report->step,
                       kind < CN_TRIGGER_ENTERED ? (int32_t)kind : trigger,
                       cni_run_shape_index(w, a),
                       cni_run_shape_index(w, b),
                       report->time,
                       NAN,
                       NAN};
  return put_event(w, &event);
}

static CnStatus put_located(CniRunWriter *w, const CnWorld *world, const CnStepReport *report) {
  const CnLocatedEvent *located;
  int32_t count;
  cn_world_located_events(world, &located, &count);
  for (int32_t i = 0; i < count; i++) {
    const CnLocatedEvent *e = &located[i];
    CniEventRow event = {report->step,
                         CNI_RUN_LOCATED + (int32_t)e->kind,
                         cni_run_shape_index(w, e->shape_a),
                         cni_run_shape_index(w, e->shape_b),
                         e->time,
                         e->speed,
                         e->impulse};
    CNI_TRY(put_event(w, &event));
  }
  return CN_OK;
}

// Pairs that were loose before the step: those that press again are none any more, those that are apart have ended.
static CnStatus end_loose(CniRunWriter *w, const CnWorld *world, const CnStepReport *report,
                          int32_t before) {
  int32_t kept = 0;
  for (int32_t i = 0; i < w->loose_count; i++) {
    CniLoosePair p = w->loose[i];
    int near = i >= before || p.presses || cni_world_pair_is_near(world, p.a, p.b);
    if (!near) CNI_TRY(put_contact_event(w, report, CN_CONTACT_ENDED, p.a, p.b));
    if (near && !p.presses) w->loose[kept++] = p;
  }
  w->loose_count = kept;
  if (kept > 0) qsort(w->loose, (size_t)kept, sizeof *w->loose, compare_pairs);
  return CN_OK;
}

CnStatus cni_run_put_events(CniRunWriter *w, const CnWorld *world, const CnStepReport *report) {
  const CnContactEvent *events;
  int32_t count, before = w->loose_count, added = 0;
  CNI_TRY(put_located(w, world, report));
  cn_world_events(world, &events, &count);
  CNI_TRY(CNI_RESERVE(&w->allocator, w->loose, w->loose_capacity, before, before + count));
  for (int32_t i = 0; i < count; i++) {
    const CnContactEvent *e = &events[i];
    CniLoosePair *loose = e->kind == CN_CONTACT_BEGAN ? find(w, e->shape_a, e->shape_b) : NULL;
    if (loose)
      loose->presses = 1;
    else if (e->kind == CN_CONTACT_ENDED && cni_world_pair_is_near(world, e->shape_a, e->shape_b))
      w->loose[before + added++] = (CniLoosePair){e->shape_a, e->shape_b, 0};
    else
      CNI_TRY(put_contact_event(w, report, e->kind, e->shape_a, e->shape_b));
  }
  w->loose_count = before + added;
  return end_loose(w, world, report, before);
}

// ---- going on with a run ----

// Pairs of the world's contacts that carry nothing.
static CnStatus find_idle(CniRunWriter *w, const CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  CNI_TRY(CNI_RESERVE(&w->allocator, w->loose, w->loose_capacity, 0, info.contact_count));
  int32_t n = 0;
  for (int32_t i = 0; i < info.contact_count; i++) {
    CnContact c;
    CNI_TRY(cn_world_contact(world, i, &c));
    int presses = !cni_is_zero(c.impulse) || !cni_is_zero(c.torque);
    CniLoosePair pair = {c.shape_a, c.shape_b, presses};
    if (n > 0 && compare_pairs(&w->loose[n - 1], &pair) == 0)
      w->loose[n - 1].presses |= presses;
    else
      w->loose[n++] = pair;
  }
  for (int32_t i = 0; i < n; i++)
    if (!w->loose[i].presses) w->loose[w->loose_count++] = w->loose[i];
  if (w->loose_count > 0) qsort(w->loose, (size_t)w->loose_count, sizeof *w->loose, compare_pairs);
  return CN_OK;
}

// By the index of a shape in the file.
static CnShapeId shape_at(const CnShapeId *shapes, const CniRunWriter *w, int32_t index) {
  return index >= 0 && index < w->shape_count ? shapes[index] : (CnShapeId){0, 0};
}

// Of the idle pairs those whose last event in the file is that they began.
static CnStatus mark_begun(CniRunWriter *w, CnRun *run, int64_t count, const CnShapeId *shapes) {
  CnRunEvent events[256];
  for (int64_t first = 0; first < count; first += 256) {
    int64_t n = count - first < 256 ? count - first : 256;
    CNI_TRY(cn_run_events(run, first, n, events));
    for (int64_t i = 0; i < n; i++) {
      const CnRunEvent *e = &events[i];
      if (e->located || e->kind > CN_CONTACT_ENDED) continue;
      CniLoosePair *pair =
          find(w, shape_at(shapes, w, e->shape_a), shape_at(shapes, w, e->shape_b));
      if (pair) pair->presses = e->kind == CN_CONTACT_BEGAN; // here: it has begun
    }
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < w->loose_count; i++)
    if (w->loose[i].presses) w->loose[kept++] = (CniLoosePair){w->loose[i].a, w->loose[i].b, 0};
  w->loose_count = kept;
  return CN_OK;
}

CnStatus cni_run_resume_events(CniRunWriter *w, const CnWorld *world, CnRun *run, int64_t count) {
  CNI_TRY(find_idle(w, world));
  if (w->loose_count == 0) return CN_OK;
  size_t bytes = (size_t)w->shape_count * sizeof(CnShapeId);
  CnShapeId *shapes = cni_allocate(&w->allocator, bytes);
  if (!shapes) return cni_error_memory(bytes);
  memset(shapes, 0, bytes);
  for (int32_t i = 0; i < w->loose_count; i++) {
    int32_t a = cni_run_shape_index(w, w->loose[i].a), b = cni_run_shape_index(w, w->loose[i].b);
    if (a >= 0) shapes[a] = w->loose[i].a;
    if (b >= 0) shapes[b] = w->loose[i].b;
  }
  CnStatus status = mark_begun(w, run, count, shapes);
  cni_release(&w->allocator, shapes, bytes);
  return status;
}
