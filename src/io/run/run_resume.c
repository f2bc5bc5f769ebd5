// SPDX-License-Identifier: Apache-2.0
// Going on with an interrupted run: finding its file, and copying what it holds up to the step of
// the checkpoint. The copy costs one reading of the file; it needs no repair of a file whose writer
// was killed, and the old file is whole until the new one takes its place.
#include <stdio.h>
#include <string.h>

#include "io/run/run_private.h"

#define COPY_BYTES 4000000

// ---- the same run? ----

static CnStatus other(const char *path, const char *what, double file, double asked) {
  return cni_bad_data("%s: is of another run: %s %.17g, not %.17g", path, what, file, asked);
}

static CnStatus check_same(const CniRunWriter *w, const CniRunWriterDef *def, const CnRun *run) {
  const CnRunInfo *info = &run->info;
  const CniRunSizes *sizes = &w->sizes;
  CnSceneInfo scene;
  cn_scene_info(def->scene, &scene);
  const struct {
    const char *what;
    double file, asked;
  } numbers[] = {
      {"bodies:", info->body_count, sizes->body_count},
      {"shapes:", info->shape_count, w->shape_count},
      {"joints:", info->joint_count, sizes->joint_count},
      {"sensors:", info->sensor_count, sizes->sensor_count},
      {"parameters:", info->parameter_count, scene.parameter_count},
      {"frames per second:", info->frames_per_second, w->frames_per_second},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (numbers[i].file != numbers[i].asked)
      return other(run->path, numbers[i].what, numbers[i].file, numbers[i].asked);
  if (strcmp(info->scene_text, scene.text) != 0)
    return cni_bad_data("%s: is of another run: the scene \"%s\" differs", run->path,
                        info->scene_name);
  for (int32_t i = 0; i < info->parameter_count; i++) {
    CnSceneParameter p;
    CNI_TRY(cn_scene_parameter(def->scene, i, &p));
    if (p.value != run->parameters[i].value)
      return other(run->path, p.name, run->parameters[i].value, p.value);
  }
  return CN_OK;
}

static CnStatus open_same(const CniRunWriter *w, const CniRunWriterDef *def, int64_t step,
                          const char *path, CnRun **run) {
  CNI_TRY(cni_run_open_exactly(path, &w->allocator, run));
  CnStatus status = check_same(w, def, *run);
  int64_t last = (*run)->info.first_step + (*run)->info.step_count;
  if (status == CN_OK && (step < (*run)->info.first_step || step > last))
    status = cni_bad_data("%s: holds steps %lld to %lld, but step %lld is to be resumed", path,
                          (long long)(*run)->info.first_step, (long long)last, (long long)step);
  if (status == CN_OK) return CN_OK;
  cn_run_close(*run);
  *run = NULL;
  return status;
}

CnStatus cni_run_find(const CniRunWriter *w, const CniRunWriterDef *def, int64_t step, CnRun **run,
                      int *is_partial) {
  *is_partial = 1;
  if (open_same(w, def, step, w->partial_path, run) == CN_OK) return CN_OK;
  *is_partial = 0;
  return open_same(w, def, step, w->path, run);
}

// ---- copying ----

// How many rows of each kind belong to the steps up to the given one.
static herr_t count_rows(CnRun *run, int64_t step, int64_t rows[CNI_ROW_KIND_COUNT]) {
  int64_t steps = step - run->info.first_step;
  int64_t lo = 0, hi = run->committed.rows[CNI_ROWS_FRAMES];
  // frames are in the order of steps: the first one after the step
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2, at;
    if (cni_run_read(run, CNI_COLUMN_FRAME_STEP, middle, 1, H5T_NATIVE_INT64, &at) < 0) return -1;
    if (at <= step)
      lo = middle + 1;
    else
      hi = middle;
  }
  for (int32_t k = 0; k < CNI_ROW_KIND_COUNT; k++) rows[k] = 0;
  rows[CNI_ROWS_STEPS] = steps;
  rows[CNI_ROWS_FRAMES] = lo;
  if (steps > 0 && cni_run_read(run, CNI_COLUMN_EVENTS_END, steps - 1, 1, H5T_NATIVE_INT64,
                                &rows[CNI_ROWS_EVENTS]) < 0)
    return -1;
  if (lo > 0 && run->columns[CNI_COLUMN_CONTACTS_END] >= 0)
    return cni_run_read(run, CNI_COLUMN_CONTACTS_END, lo - 1, 1, H5T_NATIVE_INT64,
                        &rows[CNI_ROWS_CONTACTS]);
  return 0;
}

CnStatus cni_column_copy(CnRun *run, int32_t column, CniHdf *hdf, int64_t rows) {
  const CniColumn *c = &cni_run_columns[column];
  size_t row_bytes = (size_t)cni_column_width(column, &run->sizes) * cni_number_size(c->number);
  int64_t block = (int64_t)(COPY_BYTES / row_bytes);
  if (block < 1) block = 1;
  if (block > rows) block = rows;
  size_t bytes = (size_t)block * row_bytes;
  char *values = cni_allocate(&run->allocator, bytes);
  if (bytes > 0 && !values) return cni_error_memory(bytes);
  CnStatus status = CN_OK;
  hid_t to = H5Dopen2(hdf->file, c->path, H5P_DEFAULT);
  if (to < 0) hdf->failed = 1;
  for (int64_t first = 0; first < rows && status == CN_OK && !hdf->failed; first += block) {
    int64_t count = rows - first < block ? rows - first : block;
    if (cni_run_read(run, column, first, count, cni_number_type(c->number), values) < 0)
      status = cni_run_read_error(run, "cannot be read");
    else if (cni_column_append(to, first, count, c->number, values) < 0)
      hdf->failed = 1;
  }
  if (to >= 0 && H5Dclose(to) < 0) hdf->failed = 1;
  cni_release(&run->allocator, values, bytes);
  return status;
}

CnStatus cni_run_copy(CniRunWriter *w, CnRun *run, int64_t step) {
  int64_t rows[CNI_ROW_KIND_COUNT];
  if (count_rows(run, step, rows) < 0) return cni_run_read_error(run, "cannot be read");
  for (int32_t k = 0; k < CNI_ROW_KIND_COUNT; k++)
    if (rows[k] < 0 || rows[k] > run->committed.rows[k])
      return cni_bad_data("%s: is damaged: %lld rows asked of %lld", run->path, (long long)rows[k],
                          (long long)run->committed.rows[k]);
  CniHdf hdf = {.file = w->file};
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) {
    if (cni_column_width(c, &w->sizes) == 0 || run->columns[c] < 0) continue;
    CNI_TRY(cni_column_copy(run, c, &hdf, rows[cni_run_columns[c].rows]));
    if (hdf.failed || w->disk.error) return cni_run_fail(w, "cannot be written");
  }
  for (int32_t k = 0; k < CNI_ROW_KIND_COUNT; k++) w->rows[k].written = rows[k];
  return CN_OK;
}
