// SPDX-License-Identifier: Apache-2.0
// Checkpoints: all that is needed to go on with a run, in one file.
//
//   "CAIRNCKP", version (4 bytes), 0 (4 bytes), size of the rest (8), its hash (8), and the rest:
//   version of Cairn, step, frames per second, end time, settings (count, then name and value of
//   each), text and label of the scene, path of the run file (a flag before it), snapshot.
//
// Numbers are little-endian, texts and the snapshot have their size (8 bytes) before them. The file
// is written to a temporary one and renamed, so that there is always a whole checkpoint. A file
// that was cut or changed does not have the hash it says; nothing of it is used.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "io/tools/output.h"
#include "io/run/run_private.h"

#define MAGIC "CAIRNCKP"
#define VERSION 1u
#define HEADER 32 // bytes

// ---- numbers and texts in a block of bytes ----

// With null bytes only the size is counted.
typedef struct Writing {
  unsigned char *bytes;
  size_t size;
} Writing;

static void put_u64(Writing *w, uint64_t value) {
  for (int i = 0; w->bytes && i < 8; i++)
    w->bytes[w->size + (size_t)i] = (unsigned char)(value >> (8 * i));
  w->size += 8;
}

static void put_double(Writing *w, double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  put_u64(w, bits);
}

static void put_block(Writing *w, const void *block, size_t size) {
  put_u64(w, size);
  if (w->bytes && size > 0) memcpy(w->bytes + w->size, block, size);
  w->size += size;
}

static void put_text(Writing *w, const char *text) {
  put_block(w, text ? text : "", text ? strlen(text) : 0);
}

typedef struct Parsing {
  const unsigned char *bytes;
  size_t size, at;
  int failed;
  const CnAllocator *allocator;
  CnStatus memory; // what became of the allocations
} Parsing;

static uint64_t get_u64(Parsing *p) {
  uint64_t value = 0;
  if (p->size - p->at < 8) p->failed = 1;
  if (p->failed) return 0;
  for (int i = 0; i < 8; i++) value |= (uint64_t)p->bytes[p->at + (size_t)i] << (8 * i);
  p->at += 8;
  return value;
}

static double get_double(Parsing *p) {
  uint64_t bits = get_u64(p);
  double value;
  memcpy(&value, &bits, 8);
  return value;
}

// A copy with a final zero, of size + 1 bytes.
static void *get_block(Parsing *p, size_t *size) {
  uint64_t length = get_u64(p);
  if (length > p->size - p->at) p->failed = 1;
  if (p->failed || p->memory != CN_OK) return NULL;
  char *copy = cni_allocate(p->allocator, (size_t)length + 1);
  if (!copy) {
    p->memory = cni_error_memory((size_t)length + 1);
    return NULL;
  }
  memcpy(copy, p->bytes + p->at, (size_t)length);
  copy[length] = 0;
  p->at += (size_t)length;
  if (size) *size = (size_t)length;
  return copy;
}

// A text is freed by its length: one with a zero inside is none.
static char *get_text(Parsing *p) {
  size_t size = 0;
  char *text = get_block(p, &size);
  if (!text || strlen(text) == size) return text;
  cni_release(p->allocator, text, size + 1);
  p->failed = 1;
  return NULL;
}

// ---- writing ----

static void put_checkpoint(Writing *w, const CniCheckpoint *c) {
  put_text(w, cn_version());
  put_u64(w, (uint64_t)c->step);
  put_double(w, c->frames_per_second);
  put_double(w, c->end_time);
  put_u64(w, (uint64_t)c->setting_count);
  for (int32_t i = 0; i < c->setting_count; i++) {
    put_text(w, c->settings[i].key);
    put_double(w, c->settings[i].value);
  }
  put_text(w, c->scene_text);
  put_text(w, c->scene_label);
  put_u64(w, c->run_path != NULL);
  put_text(w, c->run_path);
  put_block(w, c->snapshot, c->snapshot_size);
}

static void put_header(unsigned char header[HEADER], const Writing *payload) {
  Writing w = {header, 8};
  memcpy(header, MAGIC, 8);
  put_u64(&w, VERSION); // and the four zeros behind it
  put_u64(&w, payload->size);
  put_u64(&w, cni_hash_bytes(CNI_HASH_START, payload->bytes, payload->size));
}

CnStatus cni_checkpoint_write(const char *path, const CniCheckpoint *checkpoint) {
  if (!path || !checkpoint || (checkpoint->snapshot_size > 0 && !checkpoint->snapshot) ||
      checkpoint->setting_count < 0 || (checkpoint->setting_count > 0 && !checkpoint->settings))
    return cni_error(CN_INVALID_ARGUMENT, "cni_checkpoint_write: a null pointer");
  CnAllocator a = checkpoint->allocator.allocate ? checkpoint->allocator : cn_allocator_default();
  Writing payload = {0};
  put_checkpoint(&payload, checkpoint);
  size_t size = payload.size;
  payload = (Writing){cni_allocate(&a, size), 0};
  if (!payload.bytes) return cni_error_memory(size);
  put_checkpoint(&payload, checkpoint);
  unsigned char header[HEADER];
  put_header(header, &payload);
  CniOutput output;
  CnStatus status = cni_output_open(&output, path, &a);
  if (status == CN_OK) {
    cni_output_bytes(&output, header, HEADER);
    cni_output_bytes(&output, payload.bytes, size);
    status = cni_output_close(&output);
  }
  cni_release(&a, payload.bytes, size);
  return status;
}

// ---- reading ----

static void get_settings(Parsing *p, CniCheckpoint *c) {
  uint64_t count = get_u64(p);
  // each takes 16 bytes or more
  if (count > (p->size - p->at) / 16 || count > INT32_MAX) p->failed = 1;
  if (p->failed || p->memory != CN_OK || count == 0) return;
  c->settings = cni_allocate(p->allocator, (size_t)count * sizeof *c->settings);
  if (!c->settings) {
    p->memory = cni_error_memory((size_t)count * sizeof *c->settings);
    return;
  }
  c->setting_count = (int32_t)count;
  memset(c->settings, 0, (size_t)count * sizeof *c->settings);
  for (uint64_t i = 0; i < count; i++) {
    c->settings[i].key = get_text(p);
    c->settings[i].value = get_double(p);
  }
}

static CnStatus get_checkpoint(const char *path, Parsing *p, CniCheckpoint *c) {
  char *version = get_text(p);
  if (version) cni_release(p->allocator, version, strlen(version) + 1);
  c->step = (int64_t)get_u64(p);
  c->frames_per_second = get_double(p);
  c->end_time = get_double(p);
  get_settings(p, c);
  c->scene_text = get_text(p);
  c->scene_label = get_text(p);
  uint64_t has_run = get_u64(p);
  c->run_path = get_text(p);
  c->snapshot = get_block(p, &c->snapshot_size);
  if (!has_run && c->run_path) {
    cni_release(p->allocator, c->run_path, strlen(c->run_path) + 1);
    c->run_path = NULL;
  }
  if (p->memory != CN_OK) return p->memory;
  if (p->failed || p->at != p->size)
    return cni_error(CN_INVALID_DATA, "%s: is a damaged checkpoint (its parts do not fit)", path);
  if (c->step < 0 || !(c->frames_per_second >= 0) || isinf(c->frames_per_second) ||
      !(c->end_time >= 0) || isinf(c->end_time))
    return cni_error(CN_INVALID_DATA,
                     "%s: is a damaged checkpoint (step %lld, %g frames per second, to %g s)", path,
                     (long long)c->step, c->frames_per_second, c->end_time);
  return CN_OK;
}

// From the bytes of a whole file.
static CnStatus parse(const char *path, const unsigned char *bytes, size_t size,
                      const CnAllocator *allocator, CniCheckpoint *checkpoint) {
  if (size < 8 || memcmp(bytes, MAGIC, 8) != 0)
    return cni_error(CN_INVALID_DATA, "%s: is no checkpoint", path);
  Parsing header = {.bytes = bytes, .size = size < HEADER ? size : HEADER, .at = 8};
  uint64_t version = get_u64(&header), payload = get_u64(&header), hash = get_u64(&header);
  if (!header.failed && version != VERSION)
    return cni_error(CN_INVALID_DATA, "%s: is a checkpoint of version %llu (this is %u)", path,
                     (unsigned long long)version, VERSION);
  if (header.failed || payload != size - HEADER)
    return cni_error(
        CN_INVALID_DATA, "%s: is a damaged checkpoint (%zu bytes, %llu expected)", path, size,
        header.failed ? (unsigned long long)HEADER : (unsigned long long)payload + HEADER);
  if (cni_hash_bytes(CNI_HASH_START, bytes + HEADER, size - HEADER) != hash)
    return cni_error(CN_INVALID_DATA, "%s: is a damaged checkpoint (wrong checksum)", path);
  Parsing p = {.bytes = bytes + HEADER, .size = size - HEADER, .allocator = allocator};
  return get_checkpoint(path, &p, checkpoint);
}

// A file of another kind is told by its first bytes, without reading all of it.
static CnStatus measure(FILE *file, const char *path, long *size) {
  char magic[8] = "";
  size_t got = fread(magic, 1, 8, file);
  if (ferror(file)) return cni_file_error(path, "cannot be read", errno);
  if (got < 8 || memcmp(magic, MAGIC, 8) != 0)
    return cni_error(CN_INVALID_DATA, "%s: is no checkpoint", path);
  if (fseek(file, 0, SEEK_END) != 0 || (*size = ftell(file)) < 0)
    return cni_file_error(path, "cannot be read", errno);
  rewind(file);
  return CN_OK;
}

static CnStatus read_file(FILE *file, const char *path, const CnAllocator *a,
                          CniCheckpoint *checkpoint) {
  long length = 0;
  CNI_TRY(measure(file, path, &length));
  size_t size = (size_t)length;
  unsigned char *bytes = cni_allocate(a, size);
  if (!bytes) return cni_error_memory(size);
  CnStatus status = CN_OK;
  if (fread(bytes, 1, size, file) != size)
    status = cni_file_error(path, "cannot be read", ferror(file) ? errno : EIO);
  if (status == CN_OK) status = parse(path, bytes, size, a, checkpoint);
  cni_release(a, bytes, size);
  return status;
}

CnStatus cni_checkpoint_read(const char *path, const CnAllocator *allocator,
                             CniCheckpoint *checkpoint) {
  if (!checkpoint) return cni_error(CN_INVALID_ARGUMENT, "cni_checkpoint_read: a null pointer");
  memset(checkpoint, 0, sizeof *checkpoint);
  if (!path) return cni_error(CN_INVALID_ARGUMENT, "cni_checkpoint_read: the path is null");
  CnAllocator a = allocator ? *allocator : cn_allocator_default();
  checkpoint->allocator = a;
  FILE *file = fopen(path, "rb");
  if (!file) return cni_file_error(path, "cannot be opened", errno);
  CnStatus status = read_file(file, path, &a, checkpoint);
  fclose(file);
  if (status != CN_OK) cni_checkpoint_release(checkpoint);
  return status;
}

static void release_text(const CnAllocator *a, const char *text) {
  if (text) cni_release(a, (void *)(uintptr_t)text, strlen(text) + 1);
}

void cni_checkpoint_release(CniCheckpoint *checkpoint) {
  if (!checkpoint || !checkpoint->allocator.release) return;
  CnAllocator a = checkpoint->allocator;
  for (int32_t i = 0; i < checkpoint->setting_count; i++)
    release_text(&a, checkpoint->settings[i].key);
  CNI_RELEASE(&a, checkpoint->settings, checkpoint->setting_count);
  release_text(&a, checkpoint->scene_text);
  release_text(&a, checkpoint->scene_label);
  release_text(&a, checkpoint->run_path);
  if (checkpoint->snapshot) cni_release(&a, checkpoint->snapshot, checkpoint->snapshot_size + 1);
  memset(checkpoint, 0, sizeof *checkpoint);
}
