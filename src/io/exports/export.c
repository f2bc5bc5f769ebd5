// SPDX-License-Identifier: Apache-2.0
// The table of exports: a format is a file export_NAME.c and a row of export_list.inc.
#include "io/io.h"

#include <stdio.h>
#include <string.h>

const CniExportKind *const cni_exports[] = {
#define CN_EXPORT(name) &cni_export_##name,
#include "io/exports/export_list.inc"
#undef CN_EXPORT
};
const int32_t cni_export_count = sizeof cni_exports / sizeof cni_exports[0];

CnStatus cni_export_path(const char *run_path, const char *output, const char *ending, char *path,
                         size_t size) {
  static const char *const endings[] = {".partial", ".h5", ".hdf5"};
  size_t length = strlen(run_path);
  for (size_t i = 0; !output && i < sizeof endings / sizeof endings[0]; i++) {
    size_t own = strlen(endings[i]);
    if (length > own && strncmp(run_path + length - own, endings[i], own) == 0) length -= own;
  }
  int written = output ? snprintf(path, size, "%s", output)
                       : snprintf(path, size, "%.*s%s", (int)length, run_path, ending);
  if (written >= 0 && (size_t)written < size) return CN_OK;
  return cni_invalid("%.80s...: the path is too long", run_path);
}
