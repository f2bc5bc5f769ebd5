// SPDX-License-Identifier: Apache-2.0
// Sparse matrices by rows: building, checking, products, transposition.
//
// Building is two passes of counting sort, first by column, then by row. Both are stable, so that
// entries of one place stay in the order in which they were given and are added in that order: the
// bits of a matrix are a function of the list of entries alone. Transposition is the second pass
// of the same sort. All costs are linear in rows + columns + entries.
#include "sparse/sparse.h"

#include "core/sort.h"

#include <math.h>
#include <string.h>

int32_t cni_sparse_entry_count(const CnSparse *matrix) {
  return matrix->start ? matrix->start[matrix->row_count] : 0;
}

void cni_sparse_release(const CnAllocator *allocator, CnSparse *matrix) {
  if (matrix->start) {
    size_t entries = (size_t)cni_sparse_entry_count(matrix);
    cni_release(allocator, matrix->column, entries * sizeof(int32_t));
    cni_release(allocator, matrix->value, entries * sizeof(double));
    cni_release(allocator, matrix->start, ((size_t)matrix->row_count + 1) * sizeof(int32_t));
  }
  *matrix = (CnSparse){0, 0, NULL, NULL, NULL};
}

// Arrays for a matrix of known size. start[row_count] holds the number of entries from here on, so
// that the matrix can be released at any time.
static CnStatus make_room(const CnAllocator *allocator, int32_t row_count, int32_t column_count,
                          int32_t entry_count, CnSparse *matrix) {
  size_t rows = (size_t)row_count, entries = (size_t)entry_count;
  *matrix = (CnSparse){0, 0, NULL, NULL, NULL};
  CnSparse made = {row_count, column_count, NULL, NULL, NULL};
  CNI_TRY(cni_new(allocator, (rows + 1) * sizeof(int32_t), &made.start));
  made.start[row_count] = entry_count;
  made.column = cni_allocate(allocator, entries * sizeof(int32_t));
  made.value = cni_allocate(allocator, entries * sizeof(double));
  if (entries > 0 && (!made.column || !made.value)) {
    cni_sparse_release(allocator, &made);
    return cni_error_memory(entries * sizeof(double));
  }
  *matrix = made;
  return CN_OK;
}

CnStatus cni_sparse_copy(const CnAllocator *allocator, const CnSparse *source, CnSparse *copy) {
  int32_t entry_count = cni_sparse_entry_count(source);
  CNI_TRY(make_room(allocator, source->row_count, source->column_count, entry_count, copy));
  if (source->start)
    memcpy(copy->start, source->start, ((size_t)source->row_count + 1) * sizeof(int32_t));
  if (entry_count > 0) {
    memcpy(copy->column, source->column, (size_t)entry_count * sizeof(int32_t));
    memcpy(copy->value, source->value, (size_t)entry_count * sizeof(double));
  }
  return CN_OK;
}

// Turn counts in next[1 ..] into the places where each bin begins: next[i] is where the next entry
// of bin i goes.
static void counts_to_places(int32_t *next, int32_t bin_count) {
  for (int32_t i = 0; i < bin_count; i++) next[i + 1] += next[i];
}

// After a bin sort each next[i] has moved to the beginning of bin i + 1: shift back to row starts.
static void places_to_starts(int32_t *next, int32_t bin_count) {
  for (int32_t i = bin_count; i > 0; i--) next[i] = next[i - 1];
  next[0] = 0;
}

CnStatus cni_sparse_transpose(const CnAllocator *allocator, const CnSparse *source,
                              CnSparse *transposed) {
  int32_t entry_count = cni_sparse_entry_count(source), bins = source->column_count;
  CNI_TRY(make_room(allocator, bins, source->row_count, entry_count, transposed));
  if (entry_count == 0) return CN_OK;
  int32_t *next = transposed->start;
  next[bins] = 0;
  for (int32_t e = 0; e < entry_count; e++) next[source->column[e] + 1]++;
  counts_to_places(next, bins);
  for (int32_t i = 0; i < source->row_count; i++)
    for (int32_t e = source->start[i]; e < source->start[i + 1]; e++) {
      int32_t place = next[source->column[e]]++;
      transposed->column[place] = i;
      transposed->value[place] = source->value[e];
    }
  places_to_starts(next, bins);
  return CN_OK;
}

// The entries sorted by column alone, as the rows of the transposed matrix; duplicates stay.
static CnStatus sort_by_column(const CnAllocator *allocator, int32_t row_count,
                               int32_t column_count, const CniTriplet *entries, int32_t entry_count,
                               CnSparse *sorted) {
  CNI_TRY(make_room(allocator, column_count, row_count, entry_count, sorted));
  int32_t *next = sorted->start;
  next[column_count] = 0;
  for (int32_t e = 0; e < entry_count; e++) next[entries[e].column + 1]++;
  counts_to_places(next, column_count);
  for (int32_t e = 0; e < entry_count; e++) {
    int32_t place = next[entries[e].column]++;
    sorted->column[place] = entries[e].row;
    sorted->value[place] = entries[e].value;
  }
  places_to_starts(next, column_count);
  return CN_OK;
}

// Add up neighbours of the same place; the rows close up. Returns the number of entries left.
static int32_t merge_duplicates(CnSparse *matrix) {
  int32_t out = 0, begin = 0;
  for (int32_t i = 0; i < matrix->row_count; i++) {
    int32_t end = matrix->start[i + 1], first = out;
    for (int32_t e = begin; e < end; e++) {
      if (out > first && matrix->column[out - 1] == matrix->column[e]) {
        matrix->value[out - 1] += matrix->value[e];
      } else {
        matrix->column[out] = matrix->column[e];
        matrix->value[out] = matrix->value[e];
        out++;
      }
    }
    begin = end;
    matrix->start[i + 1] = out;
  }
  return out;
}

CnStatus cni_sparse_build(const CnAllocator *allocator, int32_t row_count, int32_t column_count,
                          const CniTriplet *entries, int32_t entry_count, CnSparse *matrix) {
  *matrix = (CnSparse){0, 0, NULL, NULL, NULL};
  for (int32_t e = 0; e < entry_count; e++)
    if (entries[e].row < 0 || entries[e].row >= row_count || entries[e].column < 0 ||
        entries[e].column >= column_count)
      return cni_invalid("entry %d at (%d, %d) lies outside a %d x %d matrix", e, entries[e].row,
                         entries[e].column, row_count, column_count);

  CnSparse sorted, full;
  CNI_TRY(sort_by_column(allocator, row_count, column_count, entries, entry_count, &sorted));
  CnStatus status = cni_sparse_transpose(allocator, &sorted, &full);
  cni_sparse_release(allocator, &sorted);
  if (status != CN_OK) return status;

  // most lists have no duplicates and keep their arrays; others move to arrays of the right size
  int32_t left = merge_duplicates(&full);
  if (left == entry_count) {
    *matrix = full;
    return CN_OK;
  }
  status = cni_sparse_copy(allocator, &full, matrix);
  full.start[row_count] = entry_count; // the size that was allocated
  cni_sparse_release(allocator, &full);
  return status;
}

void cni_sparse_multiply(const CnSparse *matrix, const double *x, double *y) {
  for (int32_t i = 0; i < matrix->row_count; i++) {
    double sum = 0;
    for (int32_t e = matrix->start[i]; e < matrix->start[i + 1]; e++)
      sum += matrix->value[e] * x[matrix->column[e]];
    y[i] = sum;
  }
}

void cni_sparse_add_transposed(const CnSparse *matrix, const double *x, double *y) {
  for (int32_t i = 0; i < matrix->row_count; i++)
    for (int32_t e = matrix->start[i]; e < matrix->start[i + 1]; e++)
      y[matrix->column[e]] += matrix->value[e] * x[i];
}

double cni_sparse_entry(const CnSparse *matrix, int32_t row, int32_t column) {
  int32_t lo = matrix->start[row], hi = matrix->start[row + 1];
  CNI_BISECT(lo, hi, middle, matrix->column[middle] < column)
  return lo < matrix->start[row + 1] && matrix->column[lo] == column ? matrix->value[lo] : 0;
}

CnStatus cni_sparse_check(const CnSparse *matrix, const char *name) {
  if (!matrix) return cni_invalid("%s is null", name);
  if (matrix->row_count < 0 || matrix->column_count < 0)
    return cni_invalid("%s: size %d x %d is negative", name, matrix->row_count,
                       matrix->column_count);
  if (!matrix->start) return cni_invalid("%s: start is null", name);
  if (matrix->start[0] != 0)
    return cni_invalid("%s: start[0] must be 0 (got %d)", name, matrix->start[0]);
  for (int32_t i = 0; i < matrix->row_count; i++)
    if (matrix->start[i + 1] < matrix->start[i])
      return cni_invalid("%s: start[%d] = %d is below start[%d] = %d", name, i + 1,
                         matrix->start[i + 1], i, matrix->start[i]);
  if (matrix->start[matrix->row_count] > 0 && (!matrix->column || !matrix->value))
    return cni_invalid("%s: column or value is null", name);

  for (int32_t i = 0; i < matrix->row_count; i++)
    for (int32_t e = matrix->start[i]; e < matrix->start[i + 1]; e++) {
      int32_t column = matrix->column[e];
      if (column < 0 || column >= matrix->column_count)
        return cni_invalid("%s: row %d has column %d, the matrix has %d columns", name, i, column,
                           matrix->column_count);
      if (e > matrix->start[i] && column <= matrix->column[e - 1])
        return cni_invalid("%s: row %d: column %d does not ascend", name, i, column);
      if (!isfinite(matrix->value[e]))
        return cni_invalid("%s: entry (%d, %d) is not finite", name, i, column);
    }
  return CN_OK;
}
