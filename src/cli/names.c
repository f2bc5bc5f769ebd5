// SPDX-License-Identifier: Apache-2.0
// Names that were meant, names in a line, and the clock.
#include <cairn/tools.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

double cni_clock(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *cni_nearest_of(const char *wanted, size_t length,
                           const char *(*list)(void *context, int32_t index), void *context) {
  char word[64];
  if (length >= sizeof word) return NULL;
  memcpy(word, wanted, length);
  word[length] = 0;
  return cn_nearest_name(word, list, context);
}

typedef struct Table {
  const char *(*name)(int32_t index);
} Table;

static const char *of_table(void *context, int32_t index) {
  return ((const Table *)context)->name(index);
}

const char *cni_nearest_in(const char *wanted, const char *(*table)(int32_t index)) {
  return cni_nearest_of(wanted, strlen(wanted), of_table, &(Table){table});
}

void cni_names_in(const char *(*table)(int32_t index), char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int32_t i = 0; table(i) && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", table(i));
}

int cni_not_a_scene(const CniArgs *args, const char *path) {
  switch (cn_file_kind(path)) {
  case CN_FILE_KIND_PROBLEM:
    return cni_fail(args, "%s: is a problem, not a scene: `cairn solve` takes it", path);
  case CN_FILE_KIND_RUN:
    return cni_fail(
        args,
        "%s: is a recorded run, not a scene: `cairn report` shows it, `cairn info` tells "
        "of it, `cairn export` converts it",
        path);
  case CN_FILE_KIND_CHECKPOINT:
    return cni_fail(args,
                    "%s: is a checkpoint, not a scene: `cairn run --resume %s` goes on from it",
                    path, path);
  default:
    return 0;
  }
}
