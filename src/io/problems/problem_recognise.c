// SPDX-License-Identifier: Apache-2.0
// Is a file that of a problem? Run files are HDF5 and scenes JSON too, so a look at the first bytes
// is not enough for these. A large run file is not read for it.
#include "io/run/run_private.h"
#include "io/tools/json_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int has_problem_group(const char *path) {
  static const char *const groups[] = {"fclib_local", "fclib_global", "fclib_global_rolling"};
  int found = 0;
  if (cni_hdf_room(path) != CN_OK) return 0;
  CniQuiet quiet = cni_quiet_begin();
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (size_t i = 0; file >= 0 && i < sizeof groups / sizeof groups[0]; i++)
    found |= H5Lexists(file, groups[i], H5P_DEFAULT) > 0;
  if (file >= 0) H5Fclose(file);
  cni_quiet_end(quiet);
  return found;
}

// {"cairn": "problem", ...}: the member may stand anywhere, and what follows it may be damaged.
static int says_problem(CniJson *json) {
  int32_t state = 0;
  char key[CNI_JSON_KEY], value[16];
  while (cni_json_member(json, "problem", &state, key)) {
    if (strcmp(key, "cairn") == 0)
      return cni_json_string(json, key, value, sizeof value) == CN_OK &&
             strcmp(value, "problem") == 0;
    if (cni_json_skip(json, key) != CN_OK) return 0;
  }
  return 0;
}

static int is_json_problem(const char *path) {
  CnAllocator allocator = cn_allocator_default();
  CniFileBuffer buffer;
  if (cni_file_read(path, &allocator, &buffer) != CN_OK) return 0;
  CniJson json = {.text = {buffer.data, buffer.data + buffer.size, buffer.data, path}};
  int found = says_problem(&json);
  cni_release(&allocator, buffer.data, buffer.capacity);
  return found;
}

int cni_problem_file_is(const char *path) {
  static const char signature[4] = {(char)0x89, 'H', 'D', 'F'};
  char bytes[64] = {0};
  if (cni_no_file(path)) return 0;
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  size_t size = fread(bytes, 1, sizeof bytes, file), at = 0;
  fclose(file);
  if (size >= sizeof signature && memcmp(bytes, signature, sizeof signature) == 0)
    return has_problem_group(path);
  while (at < size && isspace((unsigned char)bytes[at])) at++;
  if (at == size) return 0;
  return bytes[at] == '{' ? is_json_problem(path) : isdigit((unsigned char)bytes[at]) != 0;
}
