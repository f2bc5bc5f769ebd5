// SPDX-License-Identifier: Apache-2.0
// Rows of a run on their way to the file. They are gathered in memory, column by column, because a
// step of a small scene takes microseconds and a call of HDF5 as long; they go to HDF5 when there
// is a megabyte of them or when the file is brought up to date.
//
// Bringing up to date ends with the counts of whole rows (CniCommitted), after everything else has
// been written: whoever reads those first finds all rows that they speak of.
#include <string.h>

#include "core/clock.h"
#include "io/run/run_private.h"

#define MOST_PENDING 1000000 // bytes

static size_t column_bytes(const CniRunWriter *w, int32_t column) {
  return (size_t)cni_column_width(column, &w->sizes) *
         cni_number_size(cni_run_columns[column].number);
}

static CnStatus grow(CniRunWriter *w, CniRowKind kind, int64_t needed) {
  CniRows *rows = &w->rows[kind];
  int64_t capacity = rows->capacity > 0 ? rows->capacity : kind == CNI_ROWS_FRAMES ? 1 : 64;
  while (capacity < needed) capacity *= 2;
  char *grown[CNI_COLUMN_COUNT] = {0};
  // all of them or none
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) {
    size_t bytes = column_bytes(w, c);
    if (cni_run_columns[c].rows != kind || bytes == 0) continue;
    grown[c] = cni_allocate(&w->allocator, bytes * (size_t)capacity);
    if (grown[c]) continue;
    for (int32_t d = 0; d < c; d++)
      if (grown[d]) cni_release(&w->allocator, grown[d], column_bytes(w, d) * (size_t)capacity);
    return cni_error_memory(bytes * (size_t)capacity);
  }
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) {
    if (!grown[c]) continue;
    size_t bytes = column_bytes(w, c);
    if (w->pending[c]) memcpy(grown[c], w->pending[c], bytes * (size_t)rows->pending);
    cni_release(&w->allocator, w->pending[c], bytes * (size_t)rows->capacity);
    w->pending[c] = grown[c];
  }
  rows->capacity = capacity;
  return CN_OK;
}

CnStatus cni_run_rows_add(CniRunWriter *w, CniRowKind kind, int64_t count, int64_t *first) {
  CniRows *rows = &w->rows[kind];
  if ((size_t)rows->pending * rows->row_bytes >= MOST_PENDING) CNI_TRY(cni_run_rows_write(w, kind));
  if (rows->pending + count > rows->capacity) CNI_TRY(grow(w, kind, rows->pending + count));
  *first = rows->pending;
  rows->pending += count;
  return CN_OK;
}

static void *cell(CniRunWriter *w, int32_t column, int64_t row) {
  if (!w->pending[column]) return NULL;
  return w->pending[column] + column_bytes(w, column) * (size_t)row;
}

// One number of a field into one of a column; whole numbers may become narrower or real.
static void convert(CniNumber from, const void *source, CniNumber to, void *target) {
  int64_t whole = from == CNI_INT64   ? *(const int64_t *)source
                  : from == CNI_INT32 ? *(const int32_t *)source
                                      : 0;
  if (to == CNI_DOUBLE)
    *(double *)target = from == CNI_DOUBLE ? *(const double *)source : (double)whole;
  else if (to == CNI_INT64)
    *(int64_t *)target = whole;
  else if (to == CNI_INT32)
    *(int32_t *)target = (int32_t)whole;
  else
    *(uint8_t *)target = (uint8_t)whole;
}

void cni_run_rows_put(CniRunWriter *w, int32_t first, int32_t end, int64_t row, const void *from) {
  for (int32_t c = first; c < end; c++) {
    const CniColumn *column = &cni_run_columns[c];
    char *to = cell(w, c, row);
    const char *field = (const char *)from + column->offset;
    for (int32_t i = 0; to && i < (column->components ? column->components : 1); i++)
      convert(column->field, field + (size_t)i * cni_number_size(column->field), column->number,
              to + (size_t)i * cni_number_size(column->number));
  }
}

double *cni_run_rows_doubles(CniRunWriter *w, int32_t column, int64_t row) {
  return cell(w, column, row);
}

CnStatus cni_run_rows_write(CniRunWriter *w, CniRowKind kind) {
  CniRows *rows = &w->rows[kind];
  for (int32_t c = 0; c < CNI_COLUMN_COUNT && rows->pending > 0; c++) {
    if (cni_run_columns[c].rows != kind || !w->pending[c]) continue;
    if (cni_column_append(w->columns[c], rows->written, rows->pending, cni_run_columns[c].number,
                          w->pending[c]) < 0 ||
        w->disk.error)
      return cni_run_fail(w, "cannot be written");
  }
  rows->written += rows->pending;
  rows->pending = 0;
  return CN_OK;
}

CnStatus cni_run_rows_commit(CniRunWriter *w) {
  CniCommitted now = w->committed;
  for (int32_t k = 0; k < CNI_ROW_KIND_COUNT; k++) {
    CNI_TRY(cni_run_rows_write(w, (CniRowKind)k));
    now.rows[k] = w->rows[k].written;
  }
  if (H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0 || w->disk.error)
    return cni_run_fail(w, "cannot be written");
  hid_t type = cni_committed_type();
  herr_t result = H5Dwrite(w->committed_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &now);
  H5Tclose(type);
  if (result < 0 || H5Dflush(w->committed_set) < 0 || w->disk.error)
    return cni_run_fail(w, "cannot be written");
  w->committed = now;
  w->flushed = cni_seconds();
  return CN_OK;
}

void cni_run_rows_release(CniRunWriter *w) {
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) {
    size_t capacity = (size_t)w->rows[cni_run_columns[c].rows].capacity;
    cni_release(&w->allocator, w->pending[c], column_bytes(w, c) * capacity);
    w->pending[c] = NULL;
  }
}
