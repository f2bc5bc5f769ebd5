// SPDX-License-Identifier: Apache-2.0
// Contacts of a page, where they were recorded: those that carry a force, where and how strongly. When there are
// more than the page has room for, the strongest of each frame stay.
#include "view/view_private.h"

#include <stdlib.h>

#define CONTACT_BYTES 43    // base64 of 8 words, rounded up
#define CHUNK_BYTES 1500000 // of a block: what a browser decodes in one go
#define FEWEST 16           // contacts of a frame, however little room there is

CnStatus cni_page_plan_contacts(const CniPageSource *source, int64_t max_bytes,
                                CniPageContacts *plan) {
  *plan = (CniPageContacts){.per_frame = INT32_MAX};
  if (!source->contacts) return CN_OK;
  int64_t frames = source->info.frame_count, total = 0;
  for (int64_t f = 0; f < frames; f++) {
    int32_t count = 0;
    CNI_TRY(source->contacts(source->context, f, NULL, 0, &count));
    total += count;
  }
  plan->byte_count = total * CONTACT_BYTES + frames * 11;
  if (plan->byte_count > max_bytes) {
    int64_t room = max_bytes / (frames * CONTACT_BYTES);
    plan->per_frame = room < FEWEST ? FEWEST : (int32_t)(room < INT32_MAX ? room : INT32_MAX);
    plan->byte_count = frames * (plan->per_frame * (int64_t)CONTACT_BYTES + 11);
  }
  return CN_OK;
}

typedef struct Writing {
  CniPageFile *file;
  const CniPageSource *source;
  CniPageContacts *plan;
  CniPageMemory memory; // of the contacts of a frame
  CnRunContact *contacts;
  double *sizes;
  int32_t capacity;
} Writing;

static double size_of(CnVec3 f) { return sqrt(f.x * f.x + f.y * f.y + f.z * f.z); }

static int descending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

static CnStatus read_contacts(Writing *w, int64_t frame, int32_t *count) {
  CNI_TRY(w->source->contacts(w->source->context, frame, NULL, 0, count));
  if (*count > w->capacity) {
    cni_page_memory_release(&w->memory);
    w->capacity = *count + *count / 2;
    CNI_TRY(cni_page_array(&w->memory, w->capacity, sizeof *w->contacts, &w->contacts));
    CNI_TRY(cni_page_array(&w->memory, w->capacity, sizeof *w->sizes, &w->sizes));
  }
  return w->source->contacts(w->source->context, frame, w->contacts, *count, count);
}

static void put_vec(CniPageFile *file, CnVec3 v) {
  cni_page_file_float32(file, (float)v.x);
  cni_page_file_float32(file, (float)v.y);
  cni_page_file_float32(file, (float)v.z);
}

// The force below which a frame's contacts are left out, N.
static double threshold(Writing *w, int32_t count) {
  int32_t carrying = 0;
  for (int32_t i = 0; i < count; i++) {
    double size = size_of(w->contacts[i].force);
    if (size > 0) w->sizes[carrying++] = size;
  }
  if (carrying <= w->plan->per_frame) return 0;
  qsort(w->sizes, (size_t)carrying, sizeof *w->sizes, descending);
  return w->sizes[w->plan->per_frame - 1];
}

static CnStatus write_frame(Writing *w, int64_t frame) {
  int32_t count = 0;
  CNI_TRY(read_contacts(w, frame, &count));
  double least = threshold(w, count);
  int64_t before = w->plan->kept;
  for (int32_t i = 0; i < count; i++) {
    const CnRunContact *c = &w->contacts[i];
    double size = size_of(c->force);
    if (!(size > 0)) continue;
    if (size < least || w->plan->kept - before == w->plan->per_frame) {
      w->plan->dropped++;
      continue;
    }
    cni_page_file_uint32(w->file, (uint32_t)c->body_a);
    cni_page_file_uint32(w->file, (uint32_t)c->body_b);
    put_vec(w->file, c->point);
    put_vec(w->file, c->force);
    w->plan->kept++;
  }
  return CN_OK;
}

static CnStatus write_all(Writing *w, const CniPageFrames *frames, CniPageMemory *memory) {
  CniPageContacts *plan = w->plan;
  int64_t each = plan->byte_count / w->source->info.frame_count + 1;
  double *ends;
  plan->frames_per_chunk = each < CHUNK_BYTES ? CHUNK_BYTES / each : 1;
  plan->chunk_count = (frames->count + plan->frames_per_chunk - 1) / plan->frames_per_chunk;
  CNI_TRY(cni_page_array(memory, frames->count, sizeof *ends, &ends));
  for (int64_t chunk = 0; chunk < plan->chunk_count; chunk++) {
    char name[40];
    snprintf(name, sizeof name, "contacts-%lld", (long long)chunk);
    cni_page_file_begin(w->file, name);
    int64_t first = chunk * plan->frames_per_chunk, past = first + plan->frames_per_chunk;
    for (int64_t f = first; f < past && f < frames->count; f++) {
      CNI_TRY(write_frame(w, cni_page_frame_index(w->source, frames, f)));
      ends[f] = (double)plan->kept;
    }
    cni_page_file_end(w->file);
  }
  cni_page_file_begin(w->file, "contact-ends");
  for (int64_t f = 0; f < frames->count; f++) cni_page_file_float64(w->file, ends[f]);
  cni_page_file_end(w->file);
  return CN_OK;
}

CnStatus cni_page_write_contacts(CniPageFile *file, const CniPageSource *source,
                                 const CniPageFrames *frames, CniPageContacts *plan) {
  if (!source->contacts) return CN_OK;
  CniPageMemory memory = {NULL};
  Writing w = {.file = file, .source = source, .plan = plan};
  CnStatus status = write_all(&w, frames, &memory);
  cni_page_memory_release(&w.memory);
  cni_page_memory_release(&memory);
  return status;
}
