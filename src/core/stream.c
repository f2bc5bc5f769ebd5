// SPDX-License-Identifier: Apache-2.0
// See stream.h.
#include "core/stream.h"

#include <string.h>

void cni_stream_bytes(CniStream *s, void *bytes, size_t count) {
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
static void little_endian(CniStream *s, uint64_t *value, int32_t width) {
  uint8_t bytes[8];
  for (int32_t i = 0; i < width; i++) bytes[i] = (uint8_t)(*value >> (8 * i));
  cni_stream_bytes(s, bytes, (size_t)width);
  if (!s->in) return;
  *value = 0;
  for (int32_t i = 0; i < width; i++) *value |= (uint64_t)bytes[i] << (8 * i);
}

void cni_stream_u64(CniStream *s, uint64_t *value) { little_endian(s, value, 8); }

void cni_stream_u32(CniStream *s, uint32_t *value) {
  uint64_t wide = *value;
  little_endian(s, &wide, 4);
  *value = (uint32_t)wide;
}

void cni_stream_i32(CniStream *s, int32_t *value) {
  uint32_t bits;
  memcpy(&bits, value, sizeof bits);
  cni_stream_u32(s, &bits);
  memcpy(value, &bits, sizeof bits);
}

void cni_stream_double(CniStream *s, double *value) {
  uint64_t bits;
  memcpy(&bits, value, sizeof bits);
  cni_stream_u64(s, &bits);
  memcpy(value, &bits, sizeof bits);
}

void cni_stream_count(CniStream *s, int32_t *count, size_t bytes_each) {
  cni_stream_i32(s, count);
  if (!s->in) return;
  if (!s->failed && *count >= 0 && (size_t)*count <= (s->size - s->at) / bytes_each) return;
  s->failed = 1;
  *count = 0;
}
