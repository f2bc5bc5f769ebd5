// SPDX-License-Identifier: Apache-2.0
// HDF5 in few words: attributes, tables and texts, and its failures as one sentence.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/run/run_private.h"

// ---- failures ----

CniQuiet cni_quiet_begin(void) {
  CniQuiet quiet = {NULL, NULL};
  H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return quiet;
}

void cni_quiet_end(CniQuiet quiet) { H5Eset_auto2(H5E_DEFAULT, quiet.print, quiet.data); }

void cni_io_leave_quietly(void) { H5dont_atexit(); }

CnStatus cni_hdf_room(const char *path) {
  void *room = malloc((size_t)4 << 20); // of its caches, and something more
  free(room);
  return room ? CN_OK : cni_error(CN_NO_MEMORY, "%s: too little memory for HDF5", path);
}

// The innermost entry says what went wrong; the others say on the way to what.
static herr_t take_cause(unsigned n, const H5E_error2_t *entry, void *context) {
  char *cause = context;
  if (n == 0 && entry->desc) snprintf(cause, 160, "%s", entry->desc);
  return 0;
}

hid_t cni_hdf_keep_errors(herr_t result) { return result < 0 ? H5Eget_current_stack() : -1; }

void cni_hdf_bring_errors(hid_t kept) {
  if (kept >= 0) H5Eset_current_stack(kept);
}

CnStatus cni_hdf_error(const char *path, const char *what) {
  char cause[160] = "HDF5 gives no reason";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_cause, cause);
  return cni_error(CN_FILE, "%s: %s: %s", path, what, cause);
}

CnStatus cni_file_error(const char *path, const char *what, int error) {
  char cause[120] = "";
  if (strerror_r(error, cause, sizeof cause) != 0) snprintf(cause, sizeof cause, "error %d", error);
  return cni_error(CN_FILE, "%s: %s: %s", path, what, cause);
}

// ---- small things ----

static void keep(CniHdf *hdf, herr_t result) {
  if (result < 0) hdf->failed = 1;
}

hid_t cni_hdf_creation(hid_t kind) {
  hid_t how = H5Pcreate(kind);
  if (how >= 0) H5Pset_obj_track_times(how, 0);
  return how;
}

void cni_hdf_group(CniHdf *hdf, const char *path) {
  if (hdf->failed) return;
  hid_t how = cni_hdf_creation(H5P_GROUP_CREATE);
  hid_t group = H5Gcreate2(hdf->file, path, H5P_DEFAULT, how, H5P_DEFAULT);
  keep(hdf, group < 0 ? -1 : H5Gclose(group));
  H5Pclose(how);
}

// An attribute of a type in memory, stored as another; count 0: one value.
static void put_attribute(CniHdf *hdf, const char *object, const char *name, hid_t stored,
                          hid_t type, const void *value, int32_t count) {
  hsize_t size = (hsize_t)count;
  hid_t space = count ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate_by_name(hdf->file, object, name, stored, space, H5P_DEFAULT,
                                      H5P_DEFAULT, H5P_DEFAULT);
  keep(hdf, attribute < 0 ? -1 : H5Awrite(attribute, type, value));
  if (attribute >= 0) keep(hdf, H5Aclose(attribute));
  if (space >= 0) H5Sclose(space);
}

void cni_hdf_attribute_numbers(CniHdf *hdf, const char *object, const char *name,
                               const double *values, int32_t count) {
  if (!hdf->failed)
    put_attribute(hdf, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values, count);
}

void cni_hdf_attribute_number(CniHdf *hdf, const char *object, const char *name, double value) {
  cni_hdf_attribute_numbers(hdf, object, name, &value, 0);
}

void cni_hdf_attribute_integer(CniHdf *hdf, const char *object, const char *name, int64_t value) {
  if (!hdf->failed) put_attribute(hdf, object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, 0);
}

// A type of fixed-length text, with its final zero, to be closed.
static hid_t text_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

void cni_hdf_attribute_text(CniHdf *hdf, const char *object, const char *name, const char *text) {
  if (hdf->failed) return;
  hid_t type = text_type(strlen(text) + 1);
  put_attribute(hdf, object, name, type, type, text, 0);
  H5Tclose(type);
}

// ---- tables ----

static void put_dataset(CniHdf *hdf, const char *path, hid_t stored, hid_t type, hid_t space,
                        const void *values) {
  hid_t how = cni_hdf_creation(H5P_DATASET_CREATE);
  hid_t dataset = H5Dcreate2(hdf->file, path, stored, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Pclose(how);
  if (dataset >= 0 && H5Sget_simple_extent_npoints(space) > 0)
    keep(hdf, H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  keep(hdf, dataset < 0 ? -1 : H5Dclose(dataset));
}

void cni_hdf_table(CniHdf *hdf, const char *path, CniNumber number, int64_t count,
                   int32_t components, const void *values) {
  if (hdf->failed) return;
  hsize_t dims[2] = {(hsize_t)count, (hsize_t)components};
  hid_t space = H5Screate_simple(components ? 2 : 1, dims, NULL);
  put_dataset(hdf, path, cni_number_stored(number), cni_number_type(number), space, values);
  H5Sclose(space);
}

void cni_hdf_texts(CniHdf *hdf, const CnAllocator *allocator, const char *path, int64_t count,
                   const char *(*get)(const void *context, int64_t i), const void *context) {
  size_t size = 1;
  for (int64_t i = 0; i < count; i++) {
    size_t length = strlen(get(context, i)) + 1;
    if (length > size) size = length;
  }
  size_t bytes = (size_t)count * size;
  char *block = hdf->failed ? NULL : cni_allocate(allocator, bytes);
  if (!hdf->failed && bytes > 0 && !block) {
    hdf->failed = 1;
    hdf->no_memory = bytes;
  }
  if (hdf->failed) return;
  if (block) memset(block, 0, bytes);
  for (int64_t i = 0; i < count; i++) {
    const char *text = get(context, i);
    memcpy(block + (size_t)i * size, text, strlen(text));
  }
  hsize_t dims = (hsize_t)count;
  hid_t space = H5Screate_simple(1, &dims, NULL), type = text_type(size);
  put_dataset(hdf, path, type, type, space, block);
  H5Tclose(type);
  H5Sclose(space);
  cni_release(allocator, block, bytes);
}

void cni_hdf_text(CniHdf *hdf, const char *path, const char *text, size_t size) {
  if (hdf->failed) return;
  hid_t space = H5Screate(H5S_SCALAR), type = text_type(size + 1);
  put_dataset(hdf, path, type, type, space, text);
  H5Tclose(type);
  H5Sclose(space);
}
