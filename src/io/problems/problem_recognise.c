// SPDX-License-Identifier: Apache-2.0
// Is a file that of a problem? Run files are HDF5 and scenes JSON too, so a look at the first bytes
// is not enough for these. A large run file is not read for it.
#include "io/io.h"
#include "io/tools/json_scan.h"

#include <ctype.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static int has_problem_group(const char *path) {
  static const char *const groups[] = {"fclib_local", "fclib_global", "fclib_global_rolling"};
  H5E_auto2_t report;
  void *report_data;
  int found = 0;
  if (cni_hdf_room(path) != CN_OK) return 0;
  H5Eget_auto2(H5E_DEFAULT, &report, &report_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (size_t i = 0; file >= 0 && i < sizeof groups / sizeof groups[0]; i++)
    found |= H5Lexists(file, groups[i], H5P_DEFAULT) > 0;
  if (file >= 0) H5Fclose(file);
  H5Eset_auto2(H5E_DEFAULT, report, report_data);
  return found;
}

// {"cairn": "problem", ...}: the member may stand anywhere, and what follows it may be damaged.
static int says_problem(CniJson *json) {
  int32_t state = 0, more = 0;
  char key[CNI_JSON_KEY], value[16];
  for (;;) {
    if (cni_json_member(json, "problem", &state, key, &more) != CN_OK || !more) return 0;
    if (strcmp(key, "cairn") == 0)
      return cni_json_string(json, key, value, sizeof value) == CN_OK &&
             strcmp(value, "problem") == 0;
    if (cni_json_skip(json, key) != CN_OK) return 0;
  }
}

static int is_json_problem(const char *path) {
  CnAllocator allocator = cn_allocator_default();
  CniFileBuffer buffer;
  if (cni_file_read(path, &allocator, &buffer) != CN_OK) return 0;
  CniJson json = {{buffer.data, buffer.data + buffer.size, buffer.data, path}};
  int found = says_problem(&json);
  cni_release(&allocator, buffer.data, buffer.capacity);
  return found;
}

int cni_problem_file_is(const char *path) {
  static const char signature[4] = {(char)0x89, 'H', 'D', 'F'};
  char bytes[64] = {0};
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
