// SPDX-License-Identifier: Apache-2.0
// The growing datasets of a run file: how rows are added and read (the table is run_columns.h).
//
// Every dataset can grow along its first dimension and is cut into chunks: small ones of many rows
// for series of numbers, one frame or more for the poses. The layout never changes while a run is
// written, which is what single-writer-multiple-reader mode asks for.

#include "io/run/run_private.h"

#define SERIES_CHUNK 1024       // rows
#define FRAME_CHUNK_BYTES 65536 // about; at least one row, at most 64

// How a column is made: rows, number in the file, one row or something of each, components, new in
// 0.2, and the field of the struct behind it with the kind of its numbers.
#define FIELD(Struct, path)                                                                        \
  offsetof(Struct, path), _Generic(((Struct *)0)->path, int64_t                                    \
                                   : CNI_INT64, int32_t                                            \
                                   : CNI_INT32, default                                            \
                                   : CNI_DOUBLE)
#define STEP(number, path) CNI_ROWS_STEPS, CNI_##number, CNI_PER_ROW, 0, 0, FIELD(CniStepRow, path)
#define ADDED_STEP(number, path)                                                                   \
  CNI_ROWS_STEPS, CNI_##number, CNI_PER_ROW, 0, 1, FIELD(CniStepRow, path)
#define FRAME(number, path)                                                                        \
  CNI_ROWS_FRAMES, CNI_##number, CNI_PER_ROW, 0, 0, FIELD(CniFrameRow, path)
#define CONTACT(number, path, components)                                                          \
  CNI_ROWS_CONTACTS, CNI_##number, CNI_PER_ROW, components, 0, FIELD(CnRunContact, path)
#define EVENT(number, path)                                                                        \
  CNI_ROWS_EVENTS, CNI_##number, CNI_PER_ROW, 0, 0, FIELD(CniEventRow, path)
#define JOINT(per, components, path)                                                               \
  CNI_ROWS_FRAMES, CNI_DOUBLE, CNI_PER_##per, components, 0, FIELD(CnJointState, path)
#define COUPLING(path)                                                                             \
  CNI_ROWS_FRAMES, CNI_DOUBLE, CNI_PER_COUPLING, 0, 1, FIELD(CnCouplingState, path)
#define WIDE(rows, per, components)                                                                \
  CNI_ROWS_##rows, CNI_DOUBLE, CNI_PER_##per, components, 0, 0, CNI_DOUBLE
#define COLUMN(name, ...) {__VA_ARGS__},
const CniColumn cni_run_columns[CNI_COLUMN_COUNT] = {
#include "io/run/run_columns.h"
};

size_t cni_number_size(CniNumber number) {
  static const size_t sizes[] = {sizeof(double), sizeof(int64_t), sizeof(int32_t), sizeof(uint8_t)};
  return sizes[number];
}

hid_t cni_number_type(CniNumber number) {
  if (number == CNI_INT64) return H5T_NATIVE_INT64;
  if (number == CNI_INT32) return H5T_NATIVE_INT32;
  if (number == CNI_UINT8) return H5T_NATIVE_UINT8;
  return H5T_NATIVE_DOUBLE;
}

// The same number everywhere: little-endian.
hid_t cni_number_stored(CniNumber number) {
  if (number == CNI_INT64) return H5T_STD_I64LE;
  if (number == CNI_INT32) return H5T_STD_I32LE;
  if (number == CNI_UINT8) return H5T_STD_U8LE;
  return H5T_IEEE_F64LE;
}

// Things in one row of a column that has one of each.
static int64_t things_in_row(const CniColumn *c, const CniRunSizes *sizes) {
  if (c->per == CNI_PER_BODY) return sizes->body_count;
  if (c->per == CNI_PER_JOINT) return sizes->joint_count;
  if (c->per == CNI_PER_COORDINATE) return sizes->coordinate_count;
  if (c->per == CNI_PER_COUPLING) return sizes->record_joints > 1 ? sizes->coupling_count : 0;
  if (c->per == CNI_PER_SENSOR) return sizes->sensor_count;
  return 1;
}

int64_t cni_column_width(int32_t column, const CniRunSizes *sizes) {
  const CniColumn *c = &cni_run_columns[column];
  int of_contacts = c->rows == CNI_ROWS_CONTACTS || column == CNI_COLUMN_CONTACTS_END;
  if (of_contacts && !sizes->record_contacts) return 0;
  if (column >= CNI_COLUMN_JOINT_FORCE && column < CNI_COLUMN_JOINT_END &&
      sizes->record_joints < (column < CNI_COLUMN_JOINT_TORQUE ? 1 : 2))
    return 0;
  return things_in_row(c, sizes) * (c->components ? c->components : 1);
}

static hsize_t chunk_rows(const CniColumn *c, int64_t width) {
  if (c->rows != CNI_ROWS_FRAMES || c->per == CNI_PER_ROW) return SERIES_CHUNK;
  hsize_t rows = FRAME_CHUNK_BYTES / ((hsize_t)width * cni_number_size(c->number));
  return rows < 1 ? 1 : rows > 64 ? 64 : rows;
}

int cni_column_dims(int32_t column, const CniRunSizes *sizes, hsize_t dims[3], hsize_t chunk[3]) {
  const CniColumn *c = &cni_run_columns[column];
  int rank = 1;
  dims[0] = 0;
  if (c->per != CNI_PER_ROW) dims[rank++] = (hsize_t)things_in_row(c, sizes);
  if (c->components) dims[rank++] = (hsize_t)c->components;
  chunk[0] = chunk_rows(c, cni_column_width(column, sizes));
  for (int i = 1; i < rank; i++) chunk[i] = dims[i];
  return rank;
}

void cni_column_create(CniHdf *hdf, int32_t column, const CniRunSizes *sizes) {
  const CniColumn *c = &cni_run_columns[column];
  if (hdf->failed || cni_column_width(column, sizes) == 0) return;
  hsize_t dims[3], chunk[3], most[3] = {H5S_UNLIMITED};
  int rank = cni_column_dims(column, sizes, dims, chunk);
  for (int i = 1; i < rank; i++) most[i] = dims[i];
  hid_t space = H5Screate_simple(rank, dims, most), how = cni_hdf_creation(H5P_DATASET_CREATE);
  H5Pset_chunk(how, rank, chunk);
  hid_t dataset = H5Dcreate2(hdf->file, c->path, cni_number_stored(c->number), space, H5P_DEFAULT,
                             how, H5P_DEFAULT);
  H5Pclose(how);
  H5Sclose(space);
  if (dataset < 0 || H5Dclose(dataset) < 0) hdf->failed = 1;
  cni_hdf_attribute_text(hdf, c->path, "unit", c->unit);
  cni_hdf_attribute_text(hdf, c->path, "about", c->summary);
}

// Rows first .. first + count - 1 of a dataset's space, negative on failure.
static hid_t select_rows(hid_t dataset, int64_t first, int64_t count, int64_t *rows) {
  hsize_t dims[3], start[3] = {(hsize_t)first, 0, 0};
  hid_t space = H5Dget_space(dataset);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (rank < 1 || rank > 3 || H5Sget_simple_extent_dims(space, dims, NULL) < 0) return -1;
  *rows = (int64_t)dims[0];
  dims[0] = (hsize_t)count;
  if (count > 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) < 0)
    return -1;
  return space;
}

int64_t cni_column_rows(hid_t dataset) {
  int64_t rows = -1;
  hid_t space = select_rows(dataset, 0, 0, &rows);
  if (space >= 0) H5Sclose(space);
  return rows;
}

// The memory beside a selection: one block without gaps.
static hid_t memory_of(hid_t space) {
  hssize_t points = H5Sget_select_npoints(space);
  hsize_t count = points > 0 ? (hsize_t)points : 0;
  return H5Screate_simple(1, &count, NULL);
}

static herr_t resize(hid_t dataset, int64_t rows) {
  hsize_t dims[3];
  hid_t space = H5Dget_space(dataset);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, dims, NULL);
  if (space >= 0) H5Sclose(space);
  if (rank < 1) return -1;
  dims[0] = (hsize_t)rows;
  return H5Dset_extent(dataset, dims);
}

// Rows of a dataset to or from memory, one of which is null.
static herr_t transfer(hid_t dataset, int64_t first, int64_t count, hid_t type, void *to,
                       const void *from) {
  int64_t rows;
  hid_t space = select_rows(dataset, first, count, &rows);
  if (space < 0) return -1;
  hid_t memory = memory_of(space);
  herr_t result = -1;
  if (first + count <= rows)
    result = to ? H5Dread(dataset, type, memory, space, H5P_DEFAULT, to)
                : H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, from);
  hid_t errors = cni_hdf_keep_errors(result);
  H5Sclose(memory);
  H5Sclose(space);
  cni_hdf_bring_errors(errors);
  return result;
}

herr_t cni_column_read(hid_t dataset, int64_t first, int64_t count, hid_t type, void *values) {
  return count == 0 ? 0 : transfer(dataset, first, count, type, values, NULL);
}

herr_t cni_column_append(hid_t dataset, int64_t first, int64_t count, CniNumber number,
                         const void *values) {
  if (count == 0) return 0;
  if (resize(dataset, first + count) < 0) return -1;
  return cni_column_write(dataset, first, count, number, values);
}

herr_t cni_column_write(hid_t dataset, int64_t first, int64_t count, CniNumber number,
                        const void *values) {
  return transfer(dataset, first, count, cni_number_type(number), NULL, values);
}

hid_t cni_committed_type(void) {
  static const char *const names[] = {"steps", "frames", "contacts", "events"};
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(CniCommitted));
  for (size_t i = 0; i < CNI_ROW_KIND_COUNT; i++)
    H5Tinsert(type, names[i], i * sizeof(int64_t), H5T_NATIVE_INT64);
  H5Tinsert(type, "complete", offsetof(CniCommitted, complete), H5T_NATIVE_INT64);
  return type;
}
