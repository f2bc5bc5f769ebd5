// SPDX-License-Identifier: Apache-2.0
// Couplings of a run: their names, and their states at its frames.
#include "io/run/run_private.h"

CnStatus cn_run_coupling(const CnRun *run, int32_t index, const char **name) {
  if (!run || !name) return cni_run_null("cn_run_coupling");
  CNI_TRY(cni_run_check_index(run, "coupling", index, run->info.coupling_count));
  const CniTexts *names = &run->names[CNI_RUN_NAMES - 1];
  *name = names->bytes + (size_t)index * names->size;
  return CN_OK;
}

CnStatus cn_run_coupling_states(CnRun *run, int64_t frame, CnCouplingState *states) {
  if (!run || !states) return cni_run_null("cn_run_coupling_states");
  CNI_TRY(cni_run_check_index(run, "frame", frame, run->info.frame_count));
  size_t n = (size_t)run->info.coupling_count, bytes = 2 * n * sizeof(double);
  if (n > 0 && cni_column_width(CNI_COLUMN_COUPLING_EFFORT, &run->sizes) == 0)
    return cni_error(CN_UNSUPPORTED, "%s: joint reactions were not recorded", run->path);
  if (n == 0) return CN_OK;
  double *values = cni_allocate(&run->allocator, bytes);
  if (!values) return cni_error_memory(bytes);
  CnStatus status =
      cni_run_rows_read(run, CNI_COLUMN_COUPLING_EFFORT, frame, 1, H5T_NATIVE_DOUBLE, values);
  if (status == CN_OK)
    status =
        cni_run_rows_read(run, CNI_COLUMN_COUPLING_ERROR, frame, 1, H5T_NATIVE_DOUBLE, values + n);
  for (size_t i = 0; i < n && status == CN_OK; i++)
    states[i] = (CnCouplingState){values[i], values[n + i]};
  cni_release(&run->allocator, values, bytes);
  return status;
}
