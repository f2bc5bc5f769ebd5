// SPDX-License-Identifier: Apache-2.0
// Rows of an opened run, from files that were packed (run_pack.c) and from those that were not.
//
// Packed numbers may come from anybody, and what a deflated chunk of a kilobyte unfolds to is a megabyte if it says
// so. HDF5's own filter gives it all the memory that it asks for. So chunks are taken from the file as
// they are and unfolded here, into a buffer of the size that Cairn's own layout has: a chunk with more or less in it is damaged.
// The chunks over one stretch of rows stay in memory, decoded, until rows of another stretch are wanted: reading
// row by row unfolds each chunk once.
#include <string.h>
#include <zlib.h>

#include "io/run/run_private.h"

#define SKIPPED_SHUFFLE 1u // marks of a chunk: the filter was left out
#define SKIPPED_DEFLATE 2u

// Bytes that deflate may need for so many.
static size_t packed_most(size_t bytes) { return bytes + bytes / 100 + 64; }

static void unshuffle(const unsigned char *from, size_t count, size_t size, unsigned char *to) {
  for (size_t k = 0; k < size; k++)
    for (size_t i = 0; i < count; i++) to[i * size + k] = from[k * count + i];
}

// One chunk of `bytes` bytes, decoded to `values`. `room` holds it as stored, and the same again between the filters.
static herr_t unpack_chunk(CnRun *run, int32_t column, const hsize_t *offset, size_t bytes,
                           unsigned char *room, unsigned char *values) {
  hid_t set = run->columns[column];
  size_t size = cni_number_size(cni_run_columns[column].number);
  unsigned char *mixed = room + packed_most(bytes);
  hsize_t stored = 0;
  uint32_t skipped = 0;
  uLongf length = (uLongf)bytes;
  if (H5Dget_chunk_storage_size(set, offset, &stored) < 0) return -1;
  run->broken = 1;
  if (stored == 0 || stored > packed_most(bytes)) return -1;
  run->broken = 0;
  if (H5Dread_chunk(set, H5P_DEFAULT, offset, &skipped, room) < 0) return -1;
  run->broken = 1;
  if (!(skipped & SKIPPED_DEFLATE)) {
    if (uncompress(mixed, &length, room, (uLong)stored) != Z_OK || length != bytes) return -1;
  } else if (stored == bytes) {
    memcpy(mixed, room, bytes);
  } else {
    return -1;
  }
  run->broken = 0;
  if (skipped & SKIPPED_SHUFFLE)
    memcpy(values, mixed, bytes);
  else
    unshuffle(mixed, bytes / size, size, values);
  return 0;
}

// All chunks over the rows from `first` on (a multiple of the chunk's), side by side as whole rows.
static herr_t fill_band(CnRun *run, int32_t column, int64_t first, const hsize_t dims[3],
                        const hsize_t chunk[3], CniBand *band) {
  size_t size = cni_number_size(cni_run_columns[column].number);
  size_t thing = size * (size_t)dims[2], row = thing * (size_t)dims[1];
  size_t bytes = (size_t)(chunk[0] * chunk[1]) * thing, room = packed_most(bytes) + 2 * bytes;
  unsigned char *buffer = cni_allocate(&run->allocator, room);
  herr_t result = buffer ? 0 : -1;
  if (!buffer) run->no_memory = room;
  for (hsize_t at = 0; at < dims[1] && result >= 0; at += chunk[1]) {
    hsize_t offset[3] = {(hsize_t)first, at, 0};
    hsize_t things = dims[1] - at < chunk[1] ? dims[1] - at : chunk[1];
    unsigned char *values = buffer + packed_most(bytes) + bytes;
    result = unpack_chunk(run, column, offset, bytes, buffer, values);
    for (hsize_t r = 0; r < chunk[0] && result >= 0; r++)
      memcpy(band->bytes + (size_t)r * row + (size_t)at * thing,
             values + (size_t)(r * chunk[1]) * thing, (size_t)things * thing);
  }
  cni_release(&run->allocator, buffer, room);
  if (result < 0) return result;
  CniNumber number = cni_run_columns[column].number;
  return H5Tconvert(cni_number_stored(number), cni_number_type(number), band->size / size,
                    band->bytes, NULL, H5P_DEFAULT);
}

const void *cni_run_row(CnRun *run, int32_t column, int64_t row) {
  CniBand *band = &run->bands[column];
  hsize_t dims[3] = {0, 1, 1}, chunk[3] = {0, 1, 1};
  size_t row_bytes = (size_t)cni_column_width(column, &run->sizes) *
                     cni_number_size(cni_run_columns[column].number);
  if (!band->bytes || row < band->first || row >= band->first + band->rows) {
    cni_column_dims(column, &run->sizes, dims, chunk);
    cni_pack_chunk(column, &run->sizes, run->committed.rows[cni_run_columns[column].rows], chunk);
    if (!band->bytes) {
      band->rows = (int64_t)chunk[0];
      band->size = (size_t)chunk[0] * row_bytes;
      band->bytes = cni_allocate(&run->allocator, band->size);
      run->no_memory = band->bytes ? 0 : band->size;
      if (!band->bytes) return NULL;
    }
    band->first = row - row % band->rows;
    if (fill_band(run, column, band->first, dims, chunk, band) < 0) {
      cni_band_release(run, column);
      return NULL;
    }
  }
  return band->bytes + (size_t)(row - band->first) * row_bytes;
}

void cni_band_release(CnRun *run, int32_t column) {
  CniBand *band = &run->bands[column];
  cni_release(&run->allocator, band->bytes, band->size);
  *band = (CniBand){0};
}

herr_t cni_run_read(CnRun *run, int32_t column, int64_t first, int64_t count, hid_t type,
                    void *values) {
  if (!run->packed[column])
    return cni_column_read(run->columns[column], first, count, type, values);
  CniNumber number = cni_run_columns[column].number;
  int64_t width = cni_column_width(column, &run->sizes);
  size_t row_bytes = (size_t)width * cni_number_size(number);
  for (int64_t i = 0; i < count; i++) {
    const void *row = cni_run_row(run, column, first + i);
    if (!row) return -1;
    memcpy((char *)values + (size_t)i * row_bytes, row, row_bytes);
  }
  // in place: what is asked for is as wide as what is stored, or wider
  return count == 0 ? 0
                    : H5Tconvert(cni_number_type(number), type, (size_t)(count * width), values,
                                 NULL, H5P_DEFAULT);
}
