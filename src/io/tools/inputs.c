// SPDX-License-Identifier: Apache-2.0
// Files that something was read from. See inputs.h.
//
// A file that is written has other names on the way (PATH.partial, and a run PATH.new): what is there is
// taken away as well, so these count.
#include "io/tools/inputs.h"

#include <cairn/tools.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/error.h"

#define MOST_PATH 4200

static int look(const char *path, CniInput *input) {
  struct stat there;
  if (stat(path, &there) != 0) return 0;
  *input = (CniInput){(uint64_t)there.st_dev, (uint64_t)there.st_ino};
  // what is no file, as /dev/null, stays what it is
  return S_ISREG(there.st_mode) || S_ISDIR(there.st_mode);
}

static int has(const CniInputs *inputs, CniInput wanted) {
  for (int32_t i = 0; i < inputs->count; i++)
    if (inputs->list[i].device == wanted.device && inputs->list[i].number == wanted.number)
      return 1;
  return 0;
}

static CnStatus note(CniInputs *inputs, const CnAllocator *allocator, CniInput input) {
  if (has(inputs, input)) return CN_OK;
  return CNI_PUSH(allocator, inputs->list, inputs->capacity, inputs->count, input);
}

CnStatus cni_inputs_note(CniInputs *inputs, const CnAllocator *allocator, const char *path) {
  CniInput input;
  return look(path, &input) ? note(inputs, allocator, input) : CN_OK;
}

CnStatus cni_inputs_add(CniInputs *inputs, const CnAllocator *allocator, const CniInputs *others) {
  for (int32_t i = 0; i < others->count; i++) CNI_TRY(note(inputs, allocator, others->list[i]));
  return CN_OK;
}

void cni_inputs_release(CniInputs *inputs, const CnAllocator *allocator) {
  CNI_RELEASE(allocator, inputs->list, inputs->capacity);
  *inputs = (CniInputs){0};
}

CnStatus cni_inputs_check(const CniInputs *inputs, const char *output) {
  static const char *const endings[] = {"", ".partial", ".new"};
  for (size_t i = 0; inputs->count > 0 && i < sizeof endings / sizeof endings[0]; i++) {
    char path[MOST_PATH];
    CniInput there;
    if (snprintf(path, sizeof path, "%s%s", output, endings[i]) >= (int)sizeof path) continue;
    if (look(path, &there) && has(inputs, there))
      return cni_invalid("%s: is one of the files that are read, and would be lost: the output "
                         "needs another name",
                         path);
  }
  return CN_OK;
}

CnStatus cni_inputs_check_open(int fd, const char *output) {
  struct stat there;
  if (fstat(fd, &there) != 0) return CN_OK;
  CniInput input = {(uint64_t)there.st_dev, (uint64_t)there.st_ino};
  return cni_inputs_check(&(CniInputs){&input, 1, 1}, output);
}

CnStatus cn_output_check(const char *output, const char *input) {
  CniInput there;
  if (!output || !input)
    return cni_invalid("cn_output_check: the %s is null", output ? "input" : "output");
  if (!look(input, &there)) return CN_OK;
  return cni_inputs_check(&(CniInputs){&there, 1, 1}, output);
}
