// SPDX-License-Identifier: Apache-2.0
// A toy export: one line. tests/open_house adds it to a copy of the sources.
#include <stdio.h>

#include "core/error.h"
#include "io/io.h"

static CnStatus write_toy(CnRun *run, const char *run_path, const char *output) {
  CnRunInfo info;
  cn_run_info(run, &info);
  FILE *file = fopen(output, "w");
  if (!file) return cni_error(CN_FILE, "%s: cannot be written", output);
  fprintf(file, "%s has %d bodies\n", run_path, (int)info.body_count);
  fclose(file);
  return CN_OK;
}

const CniExportKind cni_export_toy = {"toy", "a toy", write_toy, ".toy"};
