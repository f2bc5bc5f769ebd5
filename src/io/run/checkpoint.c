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
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/stream.h"
#include <cairn/tools.h>

#include "io/run/run_private.h"

#define MAGIC "CAIRNCKP"
#define VERSION 1u
#define HEADER 32 // bytes

// ---- all that a checkpoint holds: counted, written and read by one function ----

typedef struct Transfer {
  CniStream s;
  const CnAllocator *allocator; // of what is read
  CnStatus memory;              // what became of the allocations
} Transfer;

// Bytes with their size before them; read, they are a copy with a final zero, of size + 1 bytes.
static void move_block(Transfer *t, void **block, size_t *size) {
  uint64_t length = *size;
  cni_stream_u64(&t->s, &length);
  if (t->s.in) {
    if (length > t->s.size - t->s.at) t->s.failed = 1;
    if (t->s.failed || t->memory != CN_OK) return;
    t->memory = cni_new(t->allocator, (size_t)length + 1, block);
    if (t->memory != CN_OK) return;
    *size = (size_t)length;
  }
  if (length > 0) cni_stream_bytes(&t->s, *block, *size);
}

// A text is freed by its length: one with a zero inside is none.
static void move_text(Transfer *t, char **text) {
  size_t size = *text ? strlen(*text) : 0;
  void *block = *text;
  move_block(t, &block, &size);
  *text = block;
  if (!t->s.in || !block || strlen(block) == size) return;
  cni_release(t->allocator, block, size + 1);
  *text = NULL;
  t->s.failed = 1;
}

static void move_settings(Transfer *t, CnCheckpoint *c) {
  uint64_t count = (uint64_t)c->setting_count;
  cni_stream_u64(&t->s, &count);
  if (t->s.in) {
    // each takes 16 bytes or more
    if (count > (t->s.size - t->s.at) / 16 || count > INT32_MAX) t->s.failed = 1;
    if (t->s.failed || t->memory != CN_OK || count == 0) return;
    t->memory = cni_new(t->allocator, (size_t)count * sizeof *c->settings, &c->settings);
    if (t->memory != CN_OK) return;
    c->setting_count = (int32_t)count;
  }
  for (int32_t i = 0; i < c->setting_count; i++) {
    char *key = (char *)(uintptr_t)c->settings[i].key;
    double value = c->settings[i].value;
    move_text(t, &key);
    cni_stream_double(&t->s, &value);
    if (t->s.in) c->settings[i] = (CnSetting){key, value};
  }
}

static void release_text(const CnAllocator *a, const char *text) {
  if (text) cni_release(a, (void *)(uintptr_t)text, strlen(text) + 1);
}

static void move_checkpoint(Transfer *t, CnCheckpoint *c) {
  char *version = t->s.in ? NULL : (char *)(uintptr_t)cn_version();
  uint64_t step = (uint64_t)c->step, has_run = c->run_path != NULL;
  move_text(t, &version);
  if (t->s.in) release_text(t->allocator, version);
  cni_stream_u64(&t->s, &step);
  cni_stream_double(&t->s, &c->frames_per_second);
  cni_stream_double(&t->s, &c->end_time);
  move_settings(t, c);
  move_text(t, &c->scene_text);
  move_text(t, &c->scene_label);
  cni_stream_u64(&t->s, &has_run);
  move_text(t, &c->run_path);
  move_block(t, &c->snapshot, &c->snapshot_size);
  // only where there is one: a checkpoint without it is as those of 0.1
  int more =
      t->s.in ? !t->s.failed && t->memory == CN_OK && t->s.at < t->s.size : c->scene_state_size > 0;
  if (more) move_block(t, &c->scene_state, &c->scene_state_size);
  c->step = (int64_t)step;
  if (has_run || !t->s.in) return;
  release_text(t->allocator, c->run_path);
  c->run_path = NULL;
}

// ---- writing ----

static void put_header(unsigned char header[HEADER], const unsigned char *payload, size_t size) {
  CniStream s = {.out = header, .size = HEADER, .at = 8};
  uint64_t version = VERSION, bytes = size, hash = cni_hash_bytes(CNI_HASH_START, payload, size);
  memcpy(header, MAGIC, 8);
  cni_stream_u64(&s, &version); // and the four zeros behind it
  cni_stream_u64(&s, &bytes);
  cni_stream_u64(&s, &hash);
}

// Not over the run file, nor over the scene; an older checkpoint may have its name.
static CnStatus check_output(const char *path, const CnCheckpoint *checkpoint) {
  if (checkpoint->run_path) CNI_TRY(cn_output_check(path, checkpoint->run_path));
  if (!checkpoint->scene_label || cn_file_kind(path) == CN_FILE_KIND_CHECKPOINT) return CN_OK;
  return cn_output_check(path, checkpoint->scene_label);
}

CnStatus cn_checkpoint_write(const char *path, const CnCheckpoint *checkpoint) {
  if (!path || !checkpoint || (checkpoint->snapshot_size > 0 && !checkpoint->snapshot) ||
      (checkpoint->scene_state_size > 0 && !checkpoint->scene_state) ||
      checkpoint->setting_count < 0 || (checkpoint->setting_count > 0 && !checkpoint->settings))
    return cni_invalid("cn_checkpoint_write: a null pointer");
  CNI_TRY(check_output(path, checkpoint));
  CnAllocator a = checkpoint->allocator.allocate ? checkpoint->allocator : cn_allocator_default();
  CnCheckpoint copy = *checkpoint;
  Transfer t = {.s = {0}};
  move_checkpoint(&t, &copy);
  size_t size = t.s.at;
  unsigned char header[HEADER], *payload = cni_allocate(&a, size);
  if (!payload) return cni_error_memory(size);
  t.s = (CniStream){.out = payload, .size = size};
  move_checkpoint(&t, &copy);
  put_header(header, payload, size);
  CniOutput output;
  CnStatus status = cni_output_open(&output, path, &a);
  if (status == CN_OK) {
    cni_output_bytes(&output, header, HEADER);
    cni_output_bytes(&output, payload, size);
    status = cni_output_close(&output);
  }
  cni_release(&a, payload, size);
  return status;
}

// ---- reading ----

static CnStatus get_checkpoint(const char *path, Transfer *t, CnCheckpoint *c) {
  move_checkpoint(t, c);
  CNI_TRY(t->memory);
  if (t->s.failed || t->s.at != t->s.size)
    return cni_bad_data("%s: is a damaged checkpoint (its parts do not fit)", path);
  if (c->step < 0 || !(c->frames_per_second >= 0) || isinf(c->frames_per_second) ||
      !(c->end_time >= 0) || isinf(c->end_time))
    return cni_bad_data("%s: is a damaged checkpoint (step %lld, %g frames per second, to %g s)",
                        path, (long long)c->step, c->frames_per_second, c->end_time);
  return CN_OK;
}

// From the bytes of a whole file.
static CnStatus parse(const char *path, const unsigned char *bytes, size_t size,
                      const CnAllocator *allocator, CnCheckpoint *checkpoint) {
  if (size < 8 || memcmp(bytes, MAGIC, 8) != 0) return cni_bad_data("%s: is no checkpoint", path);
  CniStream header = {.in = bytes, .size = size < HEADER ? size : HEADER, .at = 8};
  uint64_t version = 0, payload = 0, hash = 0;
  cni_stream_u64(&header, &version);
  cni_stream_u64(&header, &payload);
  cni_stream_u64(&header, &hash);
  if (!header.failed && version != VERSION)
    return cni_bad_data("%s: is a checkpoint of version %llu (this is %u)", path,
                        (unsigned long long)version, VERSION);
  if (header.failed || payload != size - HEADER)
    return cni_bad_data("%s: is a damaged checkpoint (%zu bytes, %llu expected)", path, size,
                        header.failed ? (unsigned long long)HEADER
                                      : (unsigned long long)payload + HEADER);
  if (cni_hash_bytes(CNI_HASH_START, bytes + HEADER, size - HEADER) != hash)
    return cni_bad_data("%s: is a damaged checkpoint (wrong checksum)", path);
  Transfer t = {.s = {.in = bytes + HEADER, .size = size - HEADER}, .allocator = allocator};
  return get_checkpoint(path, &t, checkpoint);
}

// A file of another kind is told by its first bytes, without reading all of it.
static CnStatus measure(FILE *file, const char *path, long *size) {
  char magic[8] = "";
  size_t got = fread(magic, 1, 8, file);
  if (ferror(file)) return cni_file_error(path, "cannot be read", errno);
  if (got < 8 || memcmp(magic, MAGIC, 8) != 0) return cni_bad_data("%s: is no checkpoint", path);
  if (fseek(file, 0, SEEK_END) != 0 || (*size = ftell(file)) < 0)
    return cni_file_error(path, "cannot be read", errno);
  rewind(file);
  return CN_OK;
}

static CnStatus read_file(FILE *file, const char *path, const CnAllocator *a,
                          CnCheckpoint *checkpoint) {
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

CnStatus cn_checkpoint_read(const char *path, const CnAllocator *allocator,
                            CnCheckpoint *checkpoint) {
  if (!checkpoint) return cni_invalid("cn_checkpoint_read: a null pointer");
  memset(checkpoint, 0, sizeof *checkpoint);
  if (!path) return cni_invalid("cn_checkpoint_read: the path is null");
  CnAllocator a = allocator ? *allocator : cn_allocator_default();
  checkpoint->allocator = a;
  if (cni_no_file(path)) return cni_error(CN_FILE, "%s: is no file", path);
  FILE *file = fopen(path, "rb");
  if (!file) return cni_file_error(path, "cannot be opened", errno);
  CnStatus status = read_file(file, path, &a, checkpoint);
  fclose(file);
  if (status != CN_OK) cn_checkpoint_release(checkpoint);
  return status;
}

void cn_checkpoint_release(CnCheckpoint *checkpoint) {
  if (!checkpoint || !checkpoint->allocator.release) return;
  CnAllocator a = checkpoint->allocator;
  for (int32_t i = 0; i < checkpoint->setting_count; i++)
    release_text(&a, checkpoint->settings[i].key);
  CNI_RELEASE(&a, checkpoint->settings, checkpoint->setting_count);
  release_text(&a, checkpoint->scene_text);
  release_text(&a, checkpoint->scene_label);
  release_text(&a, checkpoint->run_path);
  if (checkpoint->snapshot) cni_release(&a, checkpoint->snapshot, checkpoint->snapshot_size + 1);
  if (checkpoint->scene_state)
    cni_release(&a, checkpoint->scene_state, checkpoint->scene_state_size + 1);
  memset(checkpoint, 0, sizeof *checkpoint);
}
