// SPDX-License-Identifier: Apache-2.0
// What a file is, told by its content.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/job.h"

CniFileKind cni_file_kind(const char *path) {
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char bytes[8] = {0};
  errno = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return errno == ENOENT ? CNI_FILE_NONE : CNI_FILE_OTHER;
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  if (cni_problem_file_is(path)) return CNI_FILE_PROBLEM;
  if (size == sizeof bytes && memcmp(bytes, hdf5, sizeof hdf5) == 0) return CNI_FILE_RUN;
  if (size == sizeof bytes && memcmp(bytes, "CAIRN", 5) == 0) return CNI_FILE_CHECKPOINT;
  return CNI_FILE_OTHER;
}
