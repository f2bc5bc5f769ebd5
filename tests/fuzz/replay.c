// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on files and on all files of folders: what fuzzing has found stays found.
//
//     fuzz.scene tests/fuzz/corpus/scene examples/scenes
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define LARGEST (1 << 20)

static int replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(LARGEST);
  if (!file || !data) {
    fprintf(stderr, "replay: %s cannot be read\n", path);
    if (file) fclose(file);
    free(data);
    return 0;
  }
  size_t size = fread(data, 1, LARGEST, file);
  fclose(file);
  // a copy of just this size, so that a sanitizer sees the end
  uint8_t *exact = malloc(size ? size : 1);
  if (exact) {
    for (size_t i = 0; i < size; i++) exact[i] = data[i];
    LLVMFuzzerTestOneInput(exact, size);
  }
  free(exact);
  free(data);
  return 1;
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    if (!folder) {
      if (!replay_file(argv[i])) return 1;
      count++;
      continue;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
      if (entry->d_name[0] == '.') continue;
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
      if (!replay_file(path)) {
        closedir(folder);
        return 1;
      }
      count++;
    }
    closedir(folder);
  }
  printf("%d inputs\n", count);
  return count > 0 ? 0 : 1;
}
