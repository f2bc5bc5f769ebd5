// SPDX-License-Identifier: Apache-2.0
// Files for programs (<cairn/tools.h>).
#include <cairn/checkpoint.h>
#include <cairn/tools.h>
#include <dirent.h>
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

// ---- what was made may be made again ----

#define HEAD 512 // bytes of a file in which its mark is

typedef struct Mark {
  const char *begins;
  size_t length; // of what it begins with
  const char *mark;
} Mark;
#define MARK(begins, mark)                                                                         \
  { begins, sizeof begins - 1, mark }

// How pages, pictures, films and exports begin, and what they have soon after.
static const Mark marks[] = {
    MARK("<!doctype html>", "name=\"generator\" content=\"Cairn\""),
    MARK("<svg ", "<!-- cairn -->"),
    MARK("\x89PNG\r\n", "cairn"),
    MARK("\x1a\x45\xdf\xa3", "cairn"), // WebM
    MARK("glTF", "\"generator\":\"cairn\""),
    MARK("<?xml ", "<!-- cairn -->"),
    MARK("<?xml ",
         "<Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">"), // XDMF
    MARK("step,time [s],", ""),
    MARK("step,time [s]\n", ""),
    MARK("frame,step,time [s],body,name,", ""),
    MARK("body,name,kind,mass [kg]\n", ""),
    MARK("step,event,shape_a,shape_b,", ""),
    MARK("frame,time [s],body_a,body_b,", ""),
    MARK("frame,time [s],joint,name,", ""),
};

static int has(const char *bytes, size_t size, const char *mark) {
  size_t length = strlen(mark);
  for (size_t i = 0; i + length <= size; i++)
    if (memcmp(bytes + i, mark, length) == 0) return 1;
  return 0;
}

// Made by Cairn, or empty, or not there; what is no file is refused by who writes.
static int is_made(const char *path) {
  char bytes[HEAD];
  if (cni_no_file(path)) return 1;
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return errno == ENOENT;
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  int made = size == 0;
  for (size_t i = 0; i < sizeof marks / sizeof marks[0] && !made; i++)
    made = size >= marks[i].length && memcmp(bytes, marks[i].begins, marks[i].length) == 0 &&
           has(bytes, size, marks[i].mark);
  return made;
}

static int is_table_or_frame(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (!strcmp(dot, ".csv") || !strcmp(dot, ".vtp") || !strcmp(dot, ".pvd"));
}

static CnStatus taken(const char *path) {
  return cni_error(CN_FILE, "%s: is there already, and was not made by cairn", path);
}

CnStatus cn_output_vacant(const char *path) {
  struct stat there;
  char inside[4096];
  CnStatus status = CN_OK;
  if (!path) return cni_invalid("cn_output_vacant: the path is null");
  if (stat(path, &there) != 0) return CN_OK; // who writes will tell what is wrong
  if (!S_ISDIR(there.st_mode)) return is_made(path) ? CN_OK : taken(path);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && status == CN_OK && (entry = readdir(folder));) {
    if (!is_table_or_frame(entry->d_name)) continue;
    snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
    if (!is_made(inside)) status = taken(inside);
  }
  if (folder) closedir(folder);
  return status;
}

// ---- outputs ----

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
