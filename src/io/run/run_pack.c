// SPDX-License-Identifier: Apache-2.0
// Packing a run that is complete. While a run is recorded its numbers lie in the file as they are, so that a
// kill at any moment leaves all of them readable; packed as they come they would be packed again
// whenever the file is brought up to date. So the packing comes at the end: a copy of the file with the
// same objects, whose columns are shuffled (the first bytes of all numbers of a chunk, then the second ones, ...)
// and deflated, the two filters that every HDF5 has. It is made as PATH.new, brought to the disk
// and takes the place of the run in one rename: at any moment PATH is one whole run. A copy that cannot be
// made (a full disk) is dropped, and the run stays as it was.
//
// A chunk of wide columns holds few things over many frames, because what deflate finds is what stays the same from
// frame to frame, within 32 kB.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/run/run_private.h"

#define LEVEL 1 // of deflate: higher ones take up to ten times as long for a few per cent
#define CHUNK_BYTES 262144  // about
#define CHUNK_FRAMES 16     // at most
#define BAND_BYTES 16777216 // of the frames of a chunk over all things

void cni_pack_chunk(int32_t column, const CniRunSizes *sizes, int64_t rows, hsize_t chunk[3]) {
  const CniColumn *c = &cni_run_columns[column];
  hsize_t dims[3], number = cni_number_size(c->number), one = number;
  hsize_t row = (hsize_t)cni_column_width(column, sizes) * number;
  int rank = cni_column_dims(column, sizes, dims, chunk);
  for (int i = 1; i < rank; i++) chunk[i] = dims[i];
  if (c->per == CNI_PER_ROW) {
    chunk[0] = CHUNK_BYTES / row;
  } else {
    chunk[0] = BAND_BYTES / row < CHUNK_FRAMES ? BAND_BYTES / row : CHUNK_FRAMES;
    if (c->rows == CNI_ROWS_STEPS) chunk[0] = CHUNK_BYTES / row; // sensors
    if (chunk[0] < 1) chunk[0] = 1;
    for (int i = 2; i < rank; i++) one *= dims[i];
    hsize_t things = CHUNK_BYTES / (chunk[0] * one);
    if (things < chunk[1]) chunk[1] = things < 1 ? 1 : things;
  }
  if (chunk[0] > (hsize_t)rows) chunk[0] = (hsize_t)rows;
}

// ---- the copy ----

typedef struct Copy {
  CnRun *run;
  CniHdf hdf;
  CnStatus status; // of reading
} Copy;

static herr_t copy_attribute(hid_t from, const char *name, const H5A_info_t *info, void *context) {
  (void)info;
  hid_t to = *(hid_t *)context, attribute = H5Aopen(from, name, H5P_DEFAULT);
  hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  hid_t made = H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  char values[4096]; // attributes are settings and words
  size_t size = H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space);
  herr_t result = -1;
  if (made >= 0 && size <= sizeof values && H5Aread(attribute, type, values) >= 0)
    result = H5Awrite(made, type, values);
  if (made >= 0) H5Aclose(made);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return result;
}

static herr_t copy_attributes(hid_t from, hid_t to) {
  return H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, NULL, copy_attribute, &to);
}

static herr_t copy_group(hid_t from, hid_t file, const char *path) {
  hid_t how = cni_hdf_creation(H5P_GROUP_CREATE);
  hid_t to = H5Gcreate2(file, path, H5P_DEFAULT, how, H5P_DEFAULT);
  herr_t result = to < 0 ? -1 : copy_attributes(from, to);
  if (to >= 0 && H5Gclose(to) < 0) result = -1;
  H5Pclose(how);
  return result;
}

// An empty column with all its rows.
static hid_t create_column(const Copy *copy, int32_t column, int64_t rows, hsize_t chunk[3]) {
  const CniColumn *c = &cni_run_columns[column];
  hsize_t dims[3];
  int rank = cni_column_dims(column, &copy->run->sizes, dims, chunk);
  cni_pack_chunk(column, &copy->run->sizes, rows, chunk);
  dims[0] = (hsize_t)rows;
  hid_t space = H5Screate_simple(rank, dims, NULL), how = cni_hdf_creation(H5P_DATASET_CREATE);
  hid_t set = -1;
  if (H5Pset_chunk(how, rank, chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
      H5Pset_deflate(how, LEVEL) >= 0)
    set = H5Dcreate2(copy->hdf.file, c->path, cni_number_stored(c->number), space, H5P_DEFAULT, how,
                     H5P_DEFAULT);
  H5Pclose(how);
  H5Sclose(space);
  return set;
}

// Whole chunks at a time, each of which is packed once.
static herr_t copy_rows(Copy *copy, int32_t column, hid_t to, int64_t rows, int64_t block) {
  CnRun *run = copy->run;
  CniNumber number = cni_run_columns[column].number;
  size_t bytes = (size_t)(block * cni_column_width(column, &run->sizes)) * cni_number_size(number);
  char *values = cni_allocate(&run->allocator, bytes);
  herr_t result = values ? 0 : -1;
  for (int64_t first = 0; first < rows && result >= 0; first += block) {
    int64_t count = rows - first < block ? rows - first : block;
    if (cni_run_read(run, column, first, count, cni_number_type(number), values) < 0)
      copy->status = cni_run_read_error(run, cni_run_columns[column].path);
    result = copy->status != CN_OK ? -1 : cni_column_write(to, first, count, number, values);
  }
  cni_release(&run->allocator, values, bytes);
  return result;
}

static herr_t copy_column(Copy *copy, int32_t column, hid_t from) {
  int64_t rows = copy->run->committed.rows[cni_run_columns[column].rows];
  hsize_t chunk[3];
  hid_t to = create_column(copy, column, rows, chunk);
  herr_t result = to < 0 ? -1 : copy_attributes(from, to);
  if (result >= 0) result = copy_rows(copy, column, to, rows, (int64_t)chunk[0]);
  if (to >= 0 && H5Dclose(to) < 0) result = -1;
  return result;
}

// The column of a path that has rows, -1: none.
static int32_t column_at(const CnRun *run, const char *path) {
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++)
    if (strcmp(cni_run_columns[c].path, path) == 0 && run->columns[c] >= 0 &&
        run->committed.rows[cni_run_columns[c].rows] > 0)
      return c;
  return -1;
}

static herr_t copy_object(hid_t root, const char *name, const H5L_info_t *info, void *context) {
  (void)info;
  Copy *copy = context;
  char path[80];
  snprintf(path, sizeof path, "/%s", name);
  hid_t object = H5Oopen(root, path, H5P_DEFAULT);
  int32_t column = column_at(copy->run, path);
  herr_t result = -1;
  if (object >= 0 && H5Iget_type(object) == H5I_GROUP)
    result = copy_group(object, copy->hdf.file, path);
  else if (object >= 0 && column >= 0)
    result = copy_column(copy, column, object);
  else if (object >= 0)
    result = H5Ocopy(root, path, copy->hdf.file, path, H5P_DEFAULT, H5P_DEFAULT);
  hid_t errors = cni_hdf_keep_errors(result);
  if (object >= 0) H5Oclose(object);
  cni_hdf_bring_errors(errors);
  return result;
}

// ---- the file ----

static herr_t copy_all(Copy *copy, CniDisk *disk, const char *path) {
  hid_t access = cni_disk_access(disk), how = cni_hdf_creation(H5P_FILE_CREATE), root = -1, to = -1;
  if (access >= 0) copy->hdf.file = H5Fcreate(path, H5F_ACC_TRUNC, how, access);
  if (access >= 0) H5Pclose(access);
  H5Pclose(how);
  if (copy->hdf.file < 0) return -1;
  root = H5Oopen(copy->run->file, "/", H5P_DEFAULT);
  to = H5Oopen(copy->hdf.file, "/", H5P_DEFAULT);
  herr_t result = root < 0 || to < 0 ? -1 : copy_attributes(root, to);
  if (root >= 0) H5Oclose(root);
  if (to >= 0) H5Oclose(to);
  if (result >= 0)
    result = H5Lvisit(copy->run->file, H5_INDEX_NAME, H5_ITER_INC, copy_object, copy);
  hid_t errors = cni_hdf_keep_errors(result);
  if (H5Fclose(copy->hdf.file) < 0) result = -1;
  cni_hdf_bring_errors(errors);
  return result;
}

CnStatus cni_run_pack(const char *path, const char *new_path, const CnAllocator *allocator,
                      int64_t writes) {
  Copy copy = {.hdf = {.file = -1}};
  CniDisk disk = {.fd = -1};
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0) return CN_OK; // an HDF5 without it
  CNI_TRY(cni_run_open_exactly(path, allocator, &copy.run));
  CnStatus status = cni_disk_create(&disk, new_path, path);
  disk.writes_left = writes;
  CniQuiet quiet = cni_quiet_begin();
  if (status == CN_OK && copy_all(&copy, &disk, new_path) < 0)
    status = copy.status != CN_OK ? copy.status : cni_hdf_error(path, "cannot be packed");
  cni_quiet_end(quiet);
  cn_run_close(copy.run);
  if (disk.fd < 0) return status;
  if (status == CN_OK && !disk.error && fsync(disk.fd) != 0 && errno != EINVAL) disk.error = errno;
  if (close(disk.fd) != 0 && !disk.error) disk.error = errno;
  if (disk.error) status = cni_file_error(path, "cannot be packed", disk.error);
  if (status == CN_OK && rename(new_path, path) != 0)
    status = cni_file_error(path, "cannot be packed", errno);
  if (status != CN_OK) unlink(new_path);
  return status;
}
