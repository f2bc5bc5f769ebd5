// SPDX-License-Identifier: Apache-2.0
// A film as WebM: a lossy WebP picture is a key frame of VP8 in a wrapper, and a film of VP8 key frames is a
// film. So a film needs no encoder but the browser's. The container is Matroska (RFC 9559): elements of
// an id, a size and a content; head, information, one track, the places of the clusters, then a cluster a
// second.
#include <cairn/tools.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render/render.h"

#define MOST_BYTES ((size_t)2000000000)

typedef struct Frame {
  size_t start, size; // in the film's bytes
} Frame;

struct CniFilm {
  int width, height;
  double rate;
  unsigned char *bytes;
  size_t used, room;
  Frame *frames;
  int64_t count, capacity;
};

// ---- elements ----

typedef struct Buffer {
  unsigned char *bytes;
  size_t used, room;
  int failed;
} Buffer;

static void put(Buffer *b, const void *bytes, size_t size) {
  if (b->used + size > b->room && !b->failed) {
    size_t room = 2 * b->room + size + 1024;
    unsigned char *fresh = realloc(b->bytes, room);
    b->failed = !fresh;
    if (fresh) b->bytes = fresh, b->room = room;
  }
  if (b->failed || size == 0) return;
  memcpy(b->bytes + b->used, bytes, size);
  b->used += size;
}

static void put_number(Buffer *b, uint64_t value, int bytes) {
  for (int k = bytes - 1; k >= 0; k--)
    put(b, &(unsigned char){(unsigned char)(value >> (8 * k))}, 1);
}

// Ids carry their length in their first bits.
static void put_head(Buffer *b, uint32_t id, uint64_t size) {
  put_number(b, id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
  put_number(b, size | (uint64_t)1 << 56, 8);
}

static void put_unsigned(Buffer *b, uint32_t id, uint64_t value) {
  put_head(b, id, 8);
  put_number(b, value, 8);
}

static void put_real(Buffer *b, uint32_t id, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_unsigned(b, id, bits);
}

static void put_text(Buffer *b, uint32_t id, const char *text) {
  put_head(b, id, strlen(text));
  put(b, text, strlen(text));
}

// An element of elements; the inner ones are gone.
static void put_inner(Buffer *b, uint32_t id, Buffer *inner) {
  put_head(b, id, inner->used);
  put(b, inner->bytes, inner->used);
  b->failed |= inner->failed;
  free(inner->bytes);
  *inner = (Buffer){0};
}

enum {
  EBML = 0x1a45dfa3,
  SEGMENT = 0x18538067,
  INFO = 0x1549a966,
  TRACKS = 0x1654ae6b,
  CUES = 0x1c53bb6b,
  CLUSTER = 0x1f43b675
};

// ---- the film ----

CnStatus cni_film_create(int width, int height, double frames_per_second, CniFilm **film) {
  CniFilm *f = calloc(1, sizeof *f);
  *film = f;
  if (!f) return cn_error_set(CN_NO_MEMORY, "out of memory");
  f->width = width;
  f->height = height;
  f->rate = frames_per_second;
  return CN_OK;
}

void cni_film_destroy(CniFilm *film) {
  if (!film) return;
  free(film->bytes);
  free(film->frames);
  free(film);
}

static size_t little(const unsigned char *bytes) {
  return (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

// The key frame in a WebP file: its chunk "VP8 ".
static const unsigned char *key_frame(const unsigned char *webp, size_t size, size_t *length) {
  if (size < 20 || memcmp(webp, "RIFF", 4) != 0 || memcmp(webp + 8, "WEBP", 4) != 0) return NULL;
  for (size_t at = 12; at + 8 <= size;) {
    *length = little(webp + at + 4);
    if (*length > size - at - 8) return NULL;
    if (memcmp(webp + at, "VP8 ", 4) == 0) return webp + at + 8;
    at += 8 + *length + *length % 2;
  }
  return NULL;
}

CnStatus cni_film_add(CniFilm *f, const unsigned char *webp, size_t size) {
  size_t length = 0;
  const unsigned char *frame = key_frame(webp, size, &length);
  if (!frame) return cn_error_set(CN_INVALID_DATA, "the browser's picture is no lossy WebP");
  if (f->used + length > MOST_BYTES)
    return cn_error_set(CN_UNSUPPORTED,
                        "the film is larger than 2 GB: fewer frames, or a smaller size");
  if (f->used + length > f->room) {
    size_t room = 2 * f->room + length;
    unsigned char *fresh = realloc(f->bytes, room);
    if (!fresh) return cn_error_set(CN_NO_MEMORY, "out of memory");
    f->bytes = fresh;
    f->room = room;
  }
  if (f->count == f->capacity) {
    int64_t capacity = 2 * f->capacity + 64;
    Frame *fresh = realloc(f->frames, (size_t)capacity * sizeof *fresh);
    if (!fresh) return cn_error_set(CN_NO_MEMORY, "out of memory");
    f->frames = fresh;
    f->capacity = capacity;
  }
  memcpy(f->bytes + f->used, frame, length);
  f->frames[f->count++] = (Frame){f->used, length};
  f->used += length;
  return CN_OK;
}

// ms, of a frame
static int64_t time_of(const CniFilm *f, int64_t frame) {
  return (int64_t)floor(1000 * (double)frame / f->rate + 0.5);
}

// The first frame of the cluster after that of a frame.
static int64_t cluster_end(const CniFilm *f, int64_t first) {
  int64_t end = first + 1;
  while (end < f->count && time_of(f, end) < time_of(f, first) + 1000) end++;
  return end;
}

static void put_cluster(const CniFilm *f, int64_t first, int64_t end, Buffer *b) {
  Buffer inner = {0};
  put_unsigned(&inner, 0xe7, (uint64_t)time_of(f, first));
  for (int64_t i = first; i < end; i++) {
    put_head(&inner, 0xa3, f->frames[i].size + 4); // track, time within the cluster, key frame
    put_number(&inner, 0x81, 1);
    put_number(&inner, (uint64_t)(time_of(f, i) - time_of(f, first)), 2);
    put_number(&inner, 0x80, 1);
    put(&inner, f->bytes + f->frames[i].start, f->frames[i].size);
  }
  put_inner(b, CLUSTER, &inner);
}

static void put_heads(const CniFilm *f, Buffer *b) {
  Buffer info = {0}, tracks = {0}, track = {0}, video = {0};
  put_unsigned(&info, 0x2ad7b1, 1000000); // ns in a unit of time
  put_real(&info, 0x4489, 1000 * (double)f->count / f->rate);
  put_text(&info, 0x4d80, "cairn");
  put_text(&info, 0x5741, "cairn");
  put_inner(b, INFO, &info);
  put_unsigned(&video, 0xb0, (uint64_t)f->width);
  put_unsigned(&video, 0xba, (uint64_t)f->height);
  put_unsigned(&track, 0xd7, 1);
  put_unsigned(&track, 0x73c5, 1);
  put_unsigned(&track, 0x83, 1); // pictures
  put_unsigned(&track, 0x9c, 0); // no lacing
  put_text(&track, 0x86, "V_VP8");
  put_unsigned(&track, 0x23e383, (uint64_t)(1e9 / f->rate + 0.5));
  put_inner(&track, 0xe0, &video);
  put_inner(&tracks, 0xae, &track);
  put_inner(b, TRACKS, &tracks);
}

static void put_cues(const CniFilm *f, uint64_t at, Buffer *b) {
  Buffer cues = {0};
  for (int64_t i = 0; i < f->count; i = cluster_end(f, i)) {
    Buffer point = {0}, place = {0};
    put_unsigned(&point, 0xb3, (uint64_t)time_of(f, i));
    put_unsigned(&place, 0xf7, 1);
    put_unsigned(&place, 0xf1, at);
    put_inner(&point, 0xb7, &place);
    put_inner(&cues, 0xbb, &point);
    at += 12 + 17; // head and time of the cluster
    for (int64_t k = i; k < cluster_end(f, i); k++) at += 9 + 4 + f->frames[k].size;
  }
  put_inner(b, CUES, &cues);
}

CnStatus cni_film_write(CniFilm *f, const char *path) {
  Buffer head = {0}, start = {0}, segment = {0}, trial = {0};
  uint64_t clusters = 0;
  put_unsigned(&head, 0x4286, 1);
  put_unsigned(&head, 0x42f7, 1);
  put_unsigned(&head, 0x42f2, 4);
  put_unsigned(&head, 0x42f3, 8);
  put_text(&head, 0x4282, "webm");
  put_unsigned(&head, 0x4287, 2);
  put_unsigned(&head, 0x4285, 2);
  put_inner(&start, EBML, &head);
  put_heads(f, &segment);
  for (int64_t i = 0; i < f->count; i = cluster_end(f, i)) {
    clusters += 12 + 17;
    for (int64_t k = i; k < cluster_end(f, i); k++) clusters += 9 + 4 + f->frames[k].size;
  }
  put_cues(f, 0, &trial); // all numbers have eight bytes: their size does not depend on the places
  put_cues(f, segment.used + trial.used, &segment);
  free(trial.bytes);
  put_head(&start, SEGMENT, segment.used + clusters);
  CnOutput *out;
  CnStatus status = start.failed || segment.failed ? cn_error_set(CN_NO_MEMORY, "out of memory")
                                                   : cn_output_create(path, &out);
  if (status == CN_OK) {
    cn_output_write(out, start.bytes, start.used);
    cn_output_write(out, segment.bytes, segment.used);
    for (int64_t i = 0; i < f->count && status == CN_OK; i = cluster_end(f, i)) {
      Buffer cluster = {0};
      put_cluster(f, i, cluster_end(f, i), &cluster);
      if (cluster.failed)
        status = cn_error_set(CN_NO_MEMORY, "out of memory");
      else
        cn_output_write(out, cluster.bytes, cluster.used);
      free(cluster.bytes);
    }
    if (status == CN_OK)
      status = cn_output_close(out);
    else
      cn_output_discard(out);
  }
  free(start.bytes);
  free(segment.bytes);
  return status;
}
