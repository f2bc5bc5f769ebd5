// SPDX-License-Identifier: Apache-2.0
// Files for programs (<cairn/tools.h>).
#include <cairn/checkpoint.h>
#include <cairn/tools.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/floats.h"
#include "io/io.h"

int cni_no_file(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

CnFileKind cn_file_kind(const char *path) {
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char bytes[8] = {0};
  if (path && cni_no_file(path)) return CN_FILE_KIND_OTHER;
  errno = 0;
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (!file) return !path || errno == ENOENT ? CN_FILE_KIND_NONE : CN_FILE_KIND_OTHER;
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  if (cni_problem_file_is(path)) return CN_FILE_KIND_PROBLEM;
  if (size == sizeof bytes && memcmp(bytes, hdf5, sizeof hdf5) == 0) return CN_FILE_KIND_RUN;
  if (size == sizeof bytes && memcmp(bytes, "CAIRN", 5) == 0) return CN_FILE_KIND_CHECKPOINT;
  return CN_FILE_KIND_OTHER;
}

struct CnOutput {
  CniOutput file;
  CnAllocator allocator;
  char path[]; // its own, to be named in messages
};

static void release(CnOutput *output) {
  CnAllocator allocator = output->allocator;
  cni_release(&allocator, output, sizeof *output + strlen(output->path) + 1);
}

CnStatus cn_output_create(const char *path, CnOutput **output) {
  CNI_FLOATS;
  if (!output || !path)
    return cni_invalid("cn_output_create: the %s is null", path ? "result pointer" : "path");
  *output = NULL;
  CnAllocator allocator = cn_allocator_default();
  CnOutput *made;
  size_t size = strlen(path) + 1;
  CNI_TRY(cni_new(&allocator, sizeof *made + size, &made));
  made->allocator = allocator;
  memcpy(made->path, path, size);
  CnStatus status = cni_output_open(&made->file, made->path, &made->allocator);
  if (status == CN_OK)
    *output = made;
  else
    release(made);
  return status;
}

void cn_output_write(CnOutput *output, const void *bytes, size_t size) {
  if (output && bytes) cni_output_bytes(&output->file, bytes, size);
}

CnStatus cn_output_close(CnOutput *output) {
  if (!output) return CN_OK;
  CnStatus status = cni_output_close(&output->file);
  release(output);
  return status;
}

void cn_output_discard(CnOutput *output) {
  if (!output) return;
  cni_output_discard(&output->file);
  release(output);
}

const char *cn_nearest_name(const char *wanted, const char *(*list)(void *context, int32_t index),
                            void *context) {
  if (!wanted || !list) return NULL;
  CniNearestName near = cni_nearest(wanted, strlen(wanted));
  const char *name;
  for (int32_t i = 0; (name = list(context, i)); i++) cni_nearest_offer(&near, name);
  return near.best;
}

void cn_io_leave_quietly(void) { cni_io_leave_quietly(); }

// ---- locks ----

CnStatus cn_checkpoint_lock(const char *path, CnCheckpointLock **lock) {
  CNI_FLOATS;
  if (!path || !lock)
    return cni_invalid("cn_checkpoint_lock: the %s is null", path ? "result pointer" : "path");
  *lock = NULL;
  CnAllocator allocator = cn_allocator_default();
  CniLock *taken;
  CNI_TRY(cni_lock_take(path, &allocator, &taken));
  *lock = (CnCheckpointLock *)(void *)taken; // the same thing under its public name
  return CN_OK;
}

void cn_checkpoint_unlock(CnCheckpointLock *lock) { cni_lock_release((CniLock *)(void *)lock); }
