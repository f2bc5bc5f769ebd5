// SPDX-License-Identifier: Apache-2.0
// The careful HDF5 reader against files made by the HDF5 library: old and new layout of the
// metadata, types, storages, large groups; what it does not know it refuses in one line.
#include "io/tools/hdf_file.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct Made {
  hid_t file;
  uint8_t *image;
  size_t size;
  CniHdfFile hdf;
} Made;

static void begin(Made *made, int latest) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 65536, 0);
  if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  made->file = H5Fcreate("made", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  CHECK(made->file >= 0);
}

// Close the file and open its image with the reader.
static void finish(Made *made) {
  H5Fflush(made->file, H5F_SCOPE_GLOBAL);
  ssize_t size = H5Fget_file_image(made->file, NULL, 0);
  made->size = (size_t)size;
  made->image = malloc(made->size);
  CHECK(made->image && H5Fget_file_image(made->file, made->image, made->size) == size);
  H5Fclose(made->file);
  CHECK_OK(cni_hdf_file_open(made->image, made->size, "file", &made->hdf));
}

static void put(hid_t group, const char *name, hid_t type, hid_t memory, hsize_t count,
                const void *values, hid_t plan) {
  hid_t space = H5Screate_simple(1, &count, NULL);
  hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  CHECK(set >= 0 && H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Sclose(space);
}

static void check_refusal(const CniHdfFile *hdf, const char *path, CniHdfType type,
                          const char *message) {
  int64_t count;
  CHECK_STATUS(cni_hdf_file_count(hdf, path, type, &count), CN_INVALID_DATA);
  assert_string_equal(cn_error_message(), message);
}

// Every type that is read, little- and big-endian, in both layouts of the metadata.
static void types(void **state) {
  (void)state;
  const double reals[] = {1.5, -2.25, 0};
  const int integers[] = {1, -2, 100};
  const struct {
    const char *name;
    hid_t type;
    CniHdfType kind;
  } rows[] = {{"f64le", H5T_IEEE_F64LE, CNI_HDF_REAL}, {"f64be", H5T_IEEE_F64BE, CNI_HDF_REAL},
              {"f32le", H5T_IEEE_F32LE, CNI_HDF_REAL}, {"f32be", H5T_IEEE_F32BE, CNI_HDF_REAL},
              {"i8", H5T_STD_I8LE, CNI_HDF_INTEGER},   {"i16", H5T_STD_I16BE, CNI_HDF_INTEGER},
              {"i32", H5T_STD_I32LE, CNI_HDF_INTEGER}, {"i32be", H5T_STD_I32BE, CNI_HDF_INTEGER},
              {"i64", H5T_STD_I64LE, CNI_HDF_INTEGER}, {"i64be", H5T_STD_I64BE, CNI_HDF_INTEGER}};
  for (int latest = 0; latest < 2; latest++) {
    Made made;
    begin(&made, latest);
    hid_t group = H5Gcreate2(made.file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    // no more than eight links: the newest layout keeps those in the group itself
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
      put(i < 5 ? group : made.file, rows[i].name, rows[i].type,
          rows[i].kind == CNI_HDF_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, 3,
          rows[i].kind == CNI_HDF_REAL ? (const void *)reals : integers, H5P_DEFAULT);
    H5Gclose(group);
    finish(&made);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
      char path[32];
      int64_t count;
      snprintf(path, sizeof path, "%s%s", i < 5 ? "a/" : "", rows[i].name);
      CHECK(cni_hdf_file_has(&made.hdf, path));
      CHECK_OK(cni_hdf_file_count(&made.hdf, path, rows[i].kind, &count));
      CHECK(count == 3);
      double x[3];
      int32_t n[3];
      if (rows[i].kind == CNI_HDF_REAL) {
        CHECK_OK(cni_hdf_file_reals(&made.hdf, path, 3, x));
        for (int k = 0; k < 3; k++) CHECK_NEAR(x[k], reals[k], 0);
      } else {
        CHECK_OK(cni_hdf_file_integers(&made.hdf, path, 3, n));
        for (int k = 0; k < 3; k++) CHECK(n[k] == integers[k]);
      }
    }
    CHECK(!cni_hdf_file_has(&made.hdf, "a/none") && !cni_hdf_file_has(&made.hdf, "b/i8"));
    free(made.image);
  }
}

// A thousand names: a tree of several levels.
static void large_groups(void **state) {
  (void)state;
  Made made;
  begin(&made, 0);
  for (int i = 0; i < 1000; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    put(made.file, name, H5T_STD_I32LE, H5T_NATIVE_INT, 1, &i, H5P_DEFAULT);
  }
  finish(&made);
  for (int i = 0; i < 1000; i++) {
    char name[16];
    int32_t value;
    snprintf(name, sizeof name, "n%d", i);
    CHECK_OK(cni_hdf_file_integers(&made.hdf, name, 1, &value));
    CHECK(value == i);
  }
  CHECK(!cni_hdf_file_has(&made.hdf, "n1000") && !cni_hdf_file_has(&made.hdf, "a"));
  CHECK(!cni_hdf_file_has(&made.hdf, "z") && !cni_hdf_file_has(&made.hdf, "n"));
  free(made.image);
}

static void refusals(void **state) {
  (void)state;
  const double reals[] = {1, INFINITY};
  const int64_t large[] = {5000000000, -2147483648};
  Made made;
  begin(&made, 0);
  hid_t chunks = H5Pcreate(H5P_DATASET_CREATE), compact = H5Pcreate(H5P_DATASET_CREATE);
  hid_t external = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk = 2, dims[2] = {1, 2};
  H5Pset_chunk(chunks, 1, &chunk);
  H5Pset_layout(compact, H5D_COMPACT);
  H5Pset_external(external, "/tmp/cairn-external", 0, H5F_UNLIMITED);
  put(made.file, "chunks", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, reals, chunks);
  put(made.file, "compact", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, reals, compact);
  put(made.file, "infinite", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, reals, H5P_DEFAULT);
  put(made.file, "large", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, large, H5P_DEFAULT);
  put(made.file, "external", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, reals, external);
  hid_t space = H5Screate_simple(2, dims, NULL);
  H5Dclose(
      H5Dcreate2(made.file, "plane", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  dims[0] = 5;
  space = H5Screate_simple(1, dims, NULL);
  H5Dclose(H5Dcreate2(made.file, "unwritten", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                      H5P_DEFAULT));
  H5Sclose(space);
  hid_t group = H5Gcreate2(made.file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/compact", made.file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("/tmp/other.h5", "/x", group, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  finish(&made);
  remove("/tmp/cairn-external");

  const CniHdfFile *f = &made.hdf;
  check_refusal(f, "chunks", CNI_HDF_REAL,
                "file: chunks: is stored in chunks; rewrite the file with h5repack -l CONTI");
  check_refusal(f, "external", CNI_HDF_REAL, "file: external: is stored in another file");
  check_refusal(f, "plane", CNI_HDF_REAL, "file: plane: must be one-dimensional (got rank 2)");
  check_refusal(f, "unwritten", CNI_HDF_REAL, "file: unwritten: has no numbers or is cut short");
  check_refusal(f, "group", CNI_HDF_REAL, "file: group: must be a dataset");
  check_refusal(f, "soft", CNI_HDF_REAL, "file: soft: is missing");
  check_refusal(f, "group/elsewhere", CNI_HDF_REAL, "file: group/elsewhere: is missing");
  check_refusal(f, "compact", CNI_HDF_INTEGER, "file: compact: must hold integers");
  check_refusal(f, "large", CNI_HDF_REAL, "file: large: must hold reals");
  double x[2];
  int32_t n[2];
  CHECK_OK(cni_hdf_file_reals(f, "compact", 1, x));
  CHECK_NEAR(x[0], 1, 0);
  CHECK_STATUS(cni_hdf_file_reals(f, "infinite", 2, x), CN_INVALID_DATA);
  assert_string_equal(cn_error_message(), "file: infinite[1]: must be finite (got inf)");
  CHECK_STATUS(cni_hdf_file_integers(f, "large", 1, n), CN_INVALID_DATA);
  assert_string_equal(cn_error_message(), "file: large[0]: does not fit 32 bits (got 5000000000)");
  CHECK_STATUS(cni_hdf_file_reals(f, "compact", 2, x), CN_INVALID_DATA);
  assert_string_equal(cn_error_message(), "file: compact: must have 2 elements (got 1)");
  H5Pclose(chunks);
  H5Pclose(compact);
  H5Pclose(external);
  free(made.image);
}

// Cut anywhere, the file is refused at the first look; every flipped byte leaves it readable or
// refused.
static void damage(void **state) {
  (void)state;
  const double reals[] = {1, 2, 3};
  Made made;
  begin(&made, 0);
  put(made.file, "x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, reals, H5P_DEFAULT);
  finish(&made);
  for (size_t size = 0; size < made.size; size++) {
    CniHdfFile cut;
    CHECK_STATUS(cni_hdf_file_open(made.image, size, "file", &cut), CN_INVALID_DATA);
  }
  for (size_t i = 0; i < made.size; i++)
    for (int bit = 0; bit < 8; bit++) {
      CniHdfFile hdf;
      double x[3];
      made.image[i] ^= (uint8_t)(1 << bit);
      if (cni_hdf_file_open(made.image, made.size, "file", &hdf) == CN_OK)
        (void)cni_hdf_file_reals(&hdf, "x", 3, x);
      made.image[i] ^= (uint8_t)(1 << bit);
    }
  free(made.image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types),
      cmocka_unit_test(large_groups),
      cmocka_unit_test(refusals),
      cmocka_unit_test(damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
