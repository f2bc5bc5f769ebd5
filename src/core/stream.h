// SPDX-License-Identifier: Apache-2.0
// Numbers to bytes and back, little-endian whatever the machine. One function a type serves all
// three directions (count, write, read), so that what is written is what is read.
#ifndef CNI_CORE_STREAM_H
#define CNI_CORE_STREAM_H

#include <cairn/base.h>

typedef struct CniStream {
  const uint8_t *in; // reading
  uint8_t *out;      // writing; both null: counting
  size_t size, at;
  int32_t failed; // reading: the data ended too soon, or a count cannot be true
} CniStream;

void cni_stream_bytes(CniStream *s, void *bytes, size_t count);
void cni_stream_u32(CniStream *s, uint32_t *value);
void cni_stream_u64(CniStream *s, uint64_t *value);
void cni_stream_i32(CniStream *s, int32_t *value);
void cni_stream_double(CniStream *s, double *value);
// A count of things of at least `bytes_each` bytes: refused if so many cannot follow.
void cni_stream_count(CniStream *s, int32_t *count, size_t bytes_each);

#endif
