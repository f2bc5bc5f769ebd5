// SPDX-License-Identifier: Apache-2.0
// A whole file in memory.
#include "io/problems/problems_private.h"

#include "io/run/run_private.h"

#include "io/io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// From a pipe or a device, which may have no end.
#define STREAM_MOST ((size_t)1 << 27)

static CnStatus grow(const CnAllocator *allocator, CniFileBuffer *buffer) {
  size_t capacity = buffer->capacity ? 2 * buffer->capacity : 65536;
  char *data = cni_allocate(allocator, capacity);
  if (!data) return cni_error_memory(capacity);
  if (buffer->size > 0) memcpy(data, buffer->data, buffer->size);
  cni_release(allocator, buffer->data, buffer->capacity);
  buffer->data = data;
  buffer->capacity = capacity;
  return CN_OK;
}

static CnStatus read_all(FILE *file, const char *path, const CnAllocator *allocator,
                         CniFileBuffer *buffer) {
  int endless = cni_no_file(path);
  for (;;) {
    if (endless && buffer->size >= STREAM_MOST)
      return cni_bad_data("%s: more than %zu bytes from what is no file", path, STREAM_MOST);
    if (buffer->size == buffer->capacity) CNI_TRY(grow(allocator, buffer));
    size_t got = fread(buffer->data + buffer->size, 1, buffer->capacity - buffer->size, file);
    buffer->size += got;
    if (got == 0) break;
  }
  return ferror(file) ? cni_file_error(path, "cannot be read", errno) : CN_OK;
}

CnStatus cni_file_read(const char *path, const CnAllocator *allocator, CniFileBuffer *buffer) {
  *buffer = (CniFileBuffer){0};
  FILE *file = fopen(path, "rb");
  if (!file) return cni_file_error(path, "cannot be opened", errno);
  CnStatus status = read_all(file, path, allocator, buffer);
  fclose(file);
  if (status == CN_OK) return CN_OK;
  cni_release(allocator, buffer->data, buffer->capacity);
  *buffer = (CniFileBuffer){0};
  return status;
}
