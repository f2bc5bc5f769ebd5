// SPDX-License-Identifier: Apache-2.0
// The table of exports.
#include "io/exports/export.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"

const CniExportKind cni_exports[] = {
    {"csv", "tables of comma-separated values, a folder of four files: NAME-csv/", cni_export_csv,
     "-csv"},
    {"xdmf", "a description of the run file that ParaView opens: NAME.xdmf", cni_export_xdmf,
     ".xdmf"},
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
  return cni_error(CN_INVALID_ARGUMENT, "%.80s...: the path is too long", run_path);
}
