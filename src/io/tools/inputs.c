// SPDX-License-Identifier: Apache-2.0
// Files that something was read from. See inputs.h.
//
// A file that is written has other names on the way (PATH.partial, and a run PATH.new): what is there is
// taken away as well, so these count.
#define _XOPEN_SOURCE 700 // realpath
#include "io/tools/inputs.h"

#include <cairn/tools.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"

#define MOST_PATH 4200

static CnStatus note(CniInputs *inputs, const CnAllocator *allocator, const char *path) {
  for (int32_t i = 0; i < inputs->count; i++)
    if (strcmp(inputs->list[i].path, path) == 0) return CN_OK;
  CniInput input = {.size = strlen(path) + 1};
  input.path = cni_allocate(allocator, input.size);
  if (!input.path) return cni_error_memory(input.size);
  memcpy(input.path, path, input.size);
  CnStatus status = CNI_PUSH(allocator, inputs->list, inputs->capacity, inputs->count, input);
  if (status != CN_OK) cni_release(allocator, input.path, input.size);
  return status;
}

CnStatus cni_inputs_note(CniInputs *inputs, const CnAllocator *allocator, const char *path) {
  char real[PATH_MAX];
  return realpath(path, real) ? note(inputs, allocator, real) : CN_OK;
}

CnStatus cni_inputs_add(CniInputs *inputs, const CnAllocator *allocator, const CniInputs *others) {
  for (int32_t i = 0; i < others->count; i++)
    CNI_TRY(note(inputs, allocator, others->list[i].path));
  return CN_OK;
}

void cni_inputs_release(CniInputs *inputs, const CnAllocator *allocator) {
  for (int32_t i = 0; i < inputs->count; i++)
    cni_release(allocator, inputs->list[i].path, inputs->list[i].size);
  CNI_RELEASE(allocator, inputs->list, inputs->capacity);
  *inputs = (CniInputs){0};
}

// ---- is it one of them? ----

static int is_file(const struct stat *s) {
  // what is no file, as /dev/null, stays what it is
  return S_ISREG(s->st_mode) || S_ISDIR(s->st_mode);
}

static CnStatus check(const struct stat *input, const char *output) {
  static const char *const endings[] = {"", ".partial", ".new"};
  for (size_t i = 0; is_file(input) && i < sizeof endings / sizeof endings[0]; i++) {
    char path[MOST_PATH];
    struct stat there;
    if (snprintf(path, sizeof path, "%s%s", output, endings[i]) >= (int)sizeof path) continue;
    if (stat(path, &there) == 0 && there.st_dev == input->st_dev && there.st_ino == input->st_ino)
      return cni_invalid("%s: is one of the files that are read, and would be lost: the output "
                         "needs another name",
                         path);
  }
  return CN_OK;
}

CnStatus cni_inputs_check(const CniInputs *inputs, const char *output) {
  for (int32_t i = 0; i < inputs->count; i++)
    CNI_TRY(cn_output_check(output, inputs->list[i].path));
  return CN_OK;
}

CnStatus cni_inputs_check_open(int fd, const char *output) {
  struct stat input;
  return fstat(fd, &input) == 0 ? check(&input, output) : CN_OK;
}

CnStatus cn_output_check(const char *output, const char *input) {
  struct stat there;
  if (!output || !input)
    return cni_invalid("cn_output_check: the %s is null", output ? "input" : "output");
  return stat(input, &there) == 0 ? check(&there, output) : CN_OK;
}
