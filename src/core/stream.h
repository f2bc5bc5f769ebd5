// SPDX-License-Identifier: Apache-2.0
// Numbers to bytes and back, little-endian whatever the machine. One function a type serves all
// three directions (count, write, read), so that what is written is what is read.
#ifndef CNI_CORE_STREAM_H
#define CNI_CORE_STREAM_H

#include <cairn/base.h>
#include <string.h>

typedef struct CniStream {
  const uint8_t *in; // reading
  uint8_t *out;      // writing; both null: counting
  size_t size, at;
  int32_t failed; // reading: the data ended too soon, or a count cannot be true
} CniStream;

static inline void cni_stream_bytes(CniStream *s, void *bytes, size_t count) {
  if (!s->in) {
    if (s->out && s->size - s->at >= count) memcpy(s->out + s->at, bytes, count);
    s->at += count;
    return;
  }
  if (s->failed || s->size - s->at < count) {
    s->failed = 1;
    memset(bytes, 0, count);
    return;
  }
  memcpy(bytes, s->in + s->at, count);
  s->at += count;
}

// The low `width` bytes of a value, lowest first.
static inline void cni_stream_number(CniStream *s, uint64_t *value, int32_t width) {
  uint8_t bytes[8];
  for (int32_t i = 0; !s->in && i < width; i++) bytes[i] = (uint8_t)(*value >> (8 * i));
  cni_stream_bytes(s, bytes, (size_t)width);
  if (!s->in) return;
  *value = 0;
  for (int32_t i = 0; i < width; i++) *value |= (uint64_t)bytes[i] << (8 * i);
}

static inline void cni_stream_u64(CniStream *s, uint64_t *value) { cni_stream_number(s, value, 8); }

static inline void cni_stream_u32(CniStream *s, uint32_t *value) {
  uint64_t wide = s->in ? 0 : *value;
  cni_stream_number(s, &wide, 4);
  *value = (uint32_t)wide;
}

static inline void cni_stream_i32(CniStream *s, int32_t *value) {
  uint32_t bits = 0;
  if (!s->in) memcpy(&bits, value, sizeof bits);
  cni_stream_u32(s, &bits);
  if (s->in) memcpy(value, &bits, sizeof bits);
}

static inline void cni_stream_double(CniStream *s, double *value) {
  uint64_t bits = 0;
  if (!s->in) memcpy(&bits, value, sizeof bits);
  cni_stream_u64(s, &bits);
  if (s->in) memcpy(value, &bits, sizeof bits);
}

static inline void cni_stream_vec3(CniStream *s, CnVec3 *v) {
  cni_stream_double(s, &v->x);
  cni_stream_double(s, &v->y);
  cni_stream_double(s, &v->z);
}

// A count of things of at least `bytes_each` bytes: refused if so many cannot follow.
static inline void cni_stream_count(CniStream *s, int32_t *count, size_t bytes_each) {
  cni_stream_i32(s, count);
  if (!s->in) return;
  if (!s->failed && *count >= 0 && (size_t)*count <= (s->size - s->at) / bytes_each) return;
  s->failed = 1;
  *count = 0;
}

#endif
