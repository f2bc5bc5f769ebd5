// SPDX-License-Identifier: Apache-2.0
// Events of a page: how many contacts began, or bodies hit, in each part of the run; and one by one the impacts that
// were placed in time, all events where there are few. Bodies, not shapes, are what a reader knows by name.
#include "view/view_private.h"

#include <stdlib.h>

#define BINS 400
#define BLOCK 4096 // events read at a time
#define MOST 3000  // told one by one

// Names of kinds: contacts and triggers, then those of located events.
static const char *const contact_kinds[] = {"contact began", "contact ended", "trigger entered",
                                            "trigger left"};
#define CONTACT_KINDS ((int32_t)(sizeof contact_kinds / sizeof contact_kinds[0]))

void cni_page_write_event_kinds(CniPageFile *file) {
  cni_page_file_text(file, "[");
  for (int32_t k = 0; k < CONTACT_KINDS + CN_EVENT_KIND_COUNT; k++) {
    cni_page_file_text(file, k ? "," : "");
    cni_page_file_string(file, k < CONTACT_KINDS
                                   ? contact_kinds[k]
                                   : cn_event_kind_name((CnEventKind)(k - CONTACT_KINDS)));
  }
  cni_page_file_text(file, "]");
}

static int32_t kind_of(const CnRunEvent *e) {
  return e->located ? CONTACT_KINDS + (int32_t)e->what : (int32_t)e->kind;
}

static int is_impact(const CnRunEvent *e) { return e->located && e->what == CN_EVENT_IMPACT; }

typedef struct Listing {
  const CniPageSource *source;
  CnRunEvent *block;  // BLOCK
  int32_t *body_of;   // of each shape
  double first, last; // s, of the run
  float bins[BINS];
  double *speeds; // of all impacts
  int64_t impacts;
  double slowest; // impact that is told, m/s
  int64_t told;
} Listing;

// Call `each` for all events, in their order.
static CnStatus walk(Listing *l, CniPageFile *file,
                     void (*each)(Listing *l, CniPageFile *file, const CnRunEvent *e)) {
  int64_t count = l->source->info.event_count;
  for (int64_t first = 0; first < count; first += BLOCK) {
    int64_t part = count - first < BLOCK ? count - first : BLOCK;
    CNI_TRY(l->source->events(l->source->context, first, part, l->block));
    for (int64_t i = 0; i < part; i++) each(l, file, &l->block[i]);
  }
  return CN_OK;
}

static void count_event(Listing *l, CniPageFile *file, const CnRunEvent *e) {
  (void)file;
  if (is_impact(e)) l->speeds[l->impacts++] = isnan(e->speed) ? 0 : fabs(e->speed);
  if (!is_impact(e) && (e->located || e->kind != CN_CONTACT_BEGAN)) return;
  double share = (e->time - l->first) / (l->last - l->first);
  if (share >= 0 && share <= 1) l->bins[share < 1 ? (int32_t)(share * BINS) : BINS - 1]++;
}

static int32_t body_of(const Listing *l, int32_t shape) {
  return shape >= 0 && shape < l->source->info.shape_count ? l->body_of[shape] : -1;
}

static void put_event(Listing *l, CniPageFile *file, const CnRunEvent *e) {
  int few = l->source->info.event_count <= MOST;
  int wanted = few ? e->located || e->kind != CN_CONTACT_ENDED : is_impact(e);
  if (!wanted || l->told == MOST) return;
  if (is_impact(e) && fabs(e->speed) < l->slowest) return;
  const double row[5] = {e->time, kind_of(e), body_of(l, e->shape_a), body_of(l, e->shape_b),
                         fabs(e->speed)};
  for (int32_t k = 0; k < 5; k++) cni_page_file_float64(file, row[k]);
  l->told++;
}

static int descending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

static CnStatus write_from(CniPageFile *file, Listing *l, CniPageMemory *memory) {
  const CniPageSource *source = l->source;
  int64_t count = source->info.event_count;
  CNI_TRY(cni_page_array(memory, BLOCK, sizeof *l->block, &l->block));
  CNI_TRY(cni_page_array(memory, count, sizeof *l->speeds, &l->speeds));
  CNI_TRY(cni_page_array(memory, source->info.shape_count, sizeof *l->body_of, &l->body_of));
  for (int32_t i = 0; i < source->info.shape_count; i++) {
    CnRunShape shape;
    CNI_TRY(source->shape(source->context, i, &shape));
    l->body_of[i] = shape.body;
  }
  CNI_TRY(source->frame(source->context, 0, &l->first, NULL, NULL));
  CNI_TRY(source->frame(source->context, source->info.frame_count - 1, &l->last, NULL, NULL));
  CNI_TRY(walk(l, file, count_event));
  if (l->impacts > MOST) {
    qsort(l->speeds, (size_t)l->impacts, sizeof *l->speeds, descending);
    l->slowest = l->speeds[MOST - 1];
  }
  cni_page_file_begin(file, "events");
  CNI_TRY(walk(l, file, put_event));
  cni_page_file_end(file);
  cni_page_file_begin(file, "event-bins");
  for (int32_t i = 0; i < BINS; i++) cni_page_file_float32(file, l->bins[i]);
  cni_page_file_end(file);
  return CN_OK;
}

CnStatus cni_page_write_events(CniPageFile *file, const CniPageSource *source) {
  if (!source->events || source->info.event_count == 0 || source->info.frame_count < 2)
    return CN_OK;
  CniPageMemory memory = {NULL};
  Listing *listing;
  CnStatus status = cni_page_array(&memory, 1, sizeof *listing, &listing);
  if (status == CN_OK) {
    listing->source = source;
    status = write_from(file, listing, &memory);
  }
  cni_page_memory_release(&memory);
  return status;
}
