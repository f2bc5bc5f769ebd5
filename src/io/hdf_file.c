// Numbers from HDF5 files in memory, through the HDF5 library and with its back to the wall: only
// plain datasets of standard number types, stored in the file itself, whose size is in proportion
// to the file, are read. Soft and external links, external and virtual storage, plugins and exotic
// types are refused, so that a file can neither reach other files nor ask for memory it does not
// have. The library's own messages are silenced; what it will not do is one sentence of ours.
//
// The HDF5 library has global state: use from one thread at a time.
#include "io/hdf_file.h"

#include "core/error.h"
#include "core/memory.h"

#include <hdf5.h>
#include <math.h>
#include <string.h>

#define PATH_SIZE 128
#define EXPANSION 8 // compressed data may be that many times larger than the file

struct CniHdfFile {
  CnAllocator allocator;
  const char *name;
  size_t size;
  hid_t file;
  H5E_auto2_t report; // of the library, put back at the end
  void *report_data;
};

static CnStatus fail(const CniHdfFile *hdf, const char *path, const char *problem) {
  return cni_error(CN_INVALID_DATA, "%s: %s: %s", hdf->name, path, problem);
}

// ---- the file ----

static hid_t open_image(const void *data, size_t size) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
  if (access < 0) return -1;
  // the buffer is copied and never written back
  void *image;
  memcpy(&image, &data, sizeof image);
  if (H5Pset_fapl_core(access, 65536, 0) >= 0 && H5Pset_file_image(access, image, size) >= 0)
    file = H5Fopen("image", H5F_ACC_RDONLY, access);
  H5Pclose(access);
  return file;
}

CnStatus cni_hdf_file_open(const void *data, size_t size, const char *name,
                           const CnAllocator *allocator, CniHdfFile **hdf) {
  *hdf = NULL;
  CniHdfFile *made = cni_allocate(allocator, sizeof *made);
  if (!made) return cni_error_memory(sizeof *made);
  *made = (CniHdfFile){.allocator = *allocator, .name = name, .size = size};
  H5Eget_auto2(H5E_DEFAULT, &made->report, &made->report_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  made->file = open_image(data, size);
  if (made->file < 0) {
    cni_hdf_file_close(made);
    return cni_error(CN_INVALID_DATA, "%s: begins like an HDF5 file but is damaged or cut short",
                     name);
  }
  *hdf = made;
  return CN_OK;
}

void cni_hdf_file_close(CniHdfFile *hdf) {
  if (!hdf) return;
  if (hdf->file >= 0) H5Fclose(hdf->file);
  H5Eset_auto2(H5E_DEFAULT, hdf->report, hdf->report_data);
  CnAllocator allocator = hdf->allocator;
  cni_release(&allocator, hdf, sizeof *hdf);
}

// ---- paths ----

// Every part of the path must be a hard link.
static int is_there(const CniHdfFile *hdf, const char *path) {
  char part[PATH_SIZE];
  size_t length = strlen(path);
  if (length >= sizeof part) return 0;
  memcpy(part, path, length + 1);
  for (size_t i = 0; i <= length; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    part[i] = 0;
    H5L_info_t link;
    if (H5Lexists(hdf->file, part, H5P_DEFAULT) <= 0) return 0;
    if (H5Lget_info(hdf->file, part, &link, H5P_DEFAULT) < 0) return 0;
    if (link.type != H5L_TYPE_HARD) return 0;
    part[i] = path[i];
  }
  return 1;
}

int cni_hdf_file_has(CniHdfFile *hdf, const char *path) { return is_there(hdf, path); }

// ---- datasets ----

typedef struct Dataset {
  hid_t set, type, space, plan;
} Dataset;

static void close_dataset(const Dataset *d) {
  if (d->plan >= 0) H5Pclose(d->plan);
  if (d->space >= 0) H5Sclose(d->space);
  if (d->type >= 0) H5Tclose(d->type);
  if (d->set >= 0) H5Dclose(d->set);
}

static CnStatus open_dataset(const CniHdfFile *hdf, const char *path, Dataset *d) {
  *d = (Dataset){-1, -1, -1, -1};
  if (!is_there(hdf, path)) return fail(hdf, path, "is missing");
  hid_t object = H5Oopen(hdf->file, path, H5P_DEFAULT);
  if (object < 0) return fail(hdf, path, "is damaged");
  if (H5Iget_type(object) != H5I_DATASET) {
    H5Oclose(object);
    return fail(hdf, path, "must be a dataset");
  }
  d->set = object;
  d->type = H5Dget_type(object);
  d->space = H5Dget_space(object);
  d->plan = H5Dget_create_plist(object);
  if (d->type >= 0 && d->space >= 0 && d->plan >= 0) return CN_OK;
  close_dataset(d);
  return fail(hdf, path, "is damaged");
}

static int is_integer(hid_t type) {
  return H5Tequal(type, H5T_STD_I32LE) > 0 || H5Tequal(type, H5T_STD_I32BE) > 0 ||
         H5Tequal(type, H5T_STD_I64LE) > 0 || H5Tequal(type, H5T_STD_I64BE) > 0 ||
         H5Tequal(type, H5T_STD_U32LE) > 0 || H5Tequal(type, H5T_STD_U32BE) > 0 ||
         H5Tequal(type, H5T_STD_I16LE) > 0 || H5Tequal(type, H5T_STD_I8LE) > 0;
}

static int is_real(hid_t type) {
  return H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0 ||
         H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0;
}

// Only filters that are part of the library itself.
static int filters_known(hid_t plan) {
  int count = H5Pget_nfilters(plan);
  for (int i = 0; i < count; i++) {
    unsigned flags, config;
    size_t values = 0;
    H5Z_filter_t filter =
        H5Pget_filter2(plan, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
        filter != H5Z_FILTER_FLETCHER32)
      return 0;
  }
  return count >= 0;
}

// Stored here, in pieces no larger than the file allows.
static CnStatus check_storage(const CniHdfFile *hdf, const char *path, const Dataset *d) {
  H5D_layout_t layout = H5Pget_layout(d->plan);
  if (H5Pget_external_count(d->plan) != 0) return fail(hdf, path, "is stored in another file");
  if (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS) return CN_OK;
  hsize_t chunk[1] = {0};
  if (layout != H5D_CHUNKED || H5Pget_chunk(d->plan, 1, chunk) != 1)
    return fail(hdf, path, "has a storage that is not supported");
  if (!filters_known(d->plan)) return fail(hdf, path, "has a filter that is not supported");
  if (chunk[0] > EXPANSION * (hsize_t)hdf->size / 8)
    return cni_error(CN_INVALID_DATA, "%s: %s: chunks of %llu elements in a file of %zu bytes",
                     hdf->name, path, (unsigned long long)chunk[0], hdf->size);
  return CN_OK;
}

static CnStatus check_dataset(const CniHdfFile *hdf, const char *path, CniHdfType type,
                              const Dataset *d, int64_t *count) {
  if (type == CNI_HDF_INTEGER ? !is_integer(d->type) : !is_real(d->type))
    return fail(hdf, path,
                type == CNI_HDF_INTEGER ? "must hold integers of at most 64 bits"
                                        : "must hold 32- or 64-bit reals");
  CNI_TRY(check_storage(hdf, path, d));
  int rank = H5Sget_simple_extent_ndims(d->space);
  hssize_t points = H5Sget_simple_extent_npoints(d->space);
  if (rank < 0 || rank > 1 || points < 0)
    return cni_error(CN_INVALID_DATA, "%s: %s: must be one-dimensional (got rank %d)", hdf->name,
                     path, rank);
  if ((uint64_t)points > EXPANSION * (uint64_t)hdf->size / (type == CNI_HDF_INTEGER ? 4 : 8))
    return cni_error(CN_INVALID_DATA, "%s: %s: %lld elements announced in a file of %zu bytes",
                     hdf->name, path, (long long)points, hdf->size);
  *count = (int64_t)points;
  return CN_OK;
}

CnStatus cni_hdf_file_count(CniHdfFile *hdf, const char *path, CniHdfType type, int64_t *count) {
  Dataset d;
  *count = 0;
  CNI_TRY(open_dataset(hdf, path, &d));
  CnStatus status = check_dataset(hdf, path, type, &d, count);
  close_dataset(&d);
  return status;
}

static CnStatus read_dataset(CniHdfFile *hdf, const char *path, CniHdfType type, hid_t memory_type,
                             int64_t count, void *values) {
  Dataset d;
  int64_t found = 0;
  CNI_TRY(open_dataset(hdf, path, &d));
  CnStatus status = check_dataset(hdf, path, type, &d, &found);
  if (status == CN_OK && found != count)
    status = cni_error(CN_INVALID_DATA, "%s: %s: must have %lld elements (got %lld)", hdf->name,
                       path, (long long)count, (long long)found);
  if (status == CN_OK && count > 0 &&
      H5Dread(d.set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    status = fail(hdf, path, "cannot be read");
  close_dataset(&d);
  return status;
}

CnStatus cni_hdf_file_integers(CniHdfFile *hdf, const char *path, int64_t count, int32_t *values) {
  if (count == 0) return CN_OK;
  size_t bytes = (size_t)count * sizeof(int64_t);
  int64_t *wide = cni_allocate(&hdf->allocator, bytes);
  if (!wide) return cni_error_memory(bytes);
  memset(wide, 0, bytes);
  CnStatus status = read_dataset(hdf, path, CNI_HDF_INTEGER, H5T_NATIVE_INT64, count, wide);
  for (int64_t i = 0; status == CN_OK && i < count; i++) {
    if (wide[i] < INT32_MIN || wide[i] > INT32_MAX)
      status = cni_error(CN_INVALID_DATA, "%s: %s[%lld]: does not fit 32 bits (got %lld)",
                         hdf->name, path, (long long)i, (long long)wide[i]);
    values[i] = (int32_t)wide[i];
  }
  cni_release(&hdf->allocator, wide, bytes);
  return status;
}

CnStatus cni_hdf_file_reals(CniHdfFile *hdf, const char *path, int64_t count, double *values) {
  if (count == 0) return CN_OK;
  memset(values, 0, (size_t)count * sizeof *values);
  CNI_TRY(read_dataset(hdf, path, CNI_HDF_REAL, H5T_NATIVE_DOUBLE, count, values));
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(values[i]))
      return cni_error(CN_INVALID_DATA, "%s: %s[%lld]: must be finite (got %g)", hdf->name, path,
                       (long long)i, values[i]);
  return CN_OK;
}
