// SPDX-License-Identifier: Apache-2.0
// FCLib files whose structure is sound and whose content is not: the input chooses group, sizes,
// types and numbers of every dataset of a small problem. (fuzz_problem changes the bytes of the
// files themselves.)
#include "fuzz.h"
#include "problem_check.h"

#include <hdf5.h>

typedef struct Input {
  const uint8_t *data;
  size_t size, at;
} Input;

static uint8_t next(Input *in) { return in->at < in->size ? in->data[in->at++] : 0; }

// One of 16 inputs means something else than the small number it stands for.
static int64_t next_integer(Input *in, int64_t usual) {
  static const int64_t odd[] = {-1,      -2,        -3,        0,         1,         2,
                                3,       5,         INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
                                1000000, 268435455, 7,         UINT32_MAX};
  uint8_t c = next(in);
  return (c & 15) == 15 ? odd[c >> 4] : usual;
}

static void put(hid_t group, const char *name, Input *in, int is_real, int count,
                const double *usual) {
  static const double odd[] = {0, -1, 1e308, -1e-310, 3, 1e10, -0.5, 2};
  uint8_t c = next(in);
  if (c == 255) return; // missing
  double reals[24];
  int64_t integers[24];
  int n = (c & 15) == 14 ? (int)next(in) % 24 : count;
  for (int i = 0; i < n; i++) {
    double value = i < count ? usual[i] : 0;
    uint8_t d = is_real ? next(in) : 0;
    reals[i] = d < 240 ? value : d == 255 ? (double)(0.0 / (d - 255.0)) : odd[d & 7];
    integers[i] = is_real ? 0 : next_integer(in, (int64_t)value);
  }
  hid_t memory = is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
  hid_t types[] = {is_real ? H5T_IEEE_F64LE : H5T_STD_I32LE,
                   H5T_STD_I64BE,
                   H5T_IEEE_F32BE,
                   H5T_STD_U32LE,
                   H5T_STD_I16LE,
                   H5T_STD_U8LE};
  hid_t type = types[c >> 4 < 6 ? c >> 4 : 0];
  hsize_t dims[2] = {(hsize_t)n, 1};
  hid_t space = (c & 15) == 13   ? H5Screate_simple(2, dims, NULL)
                : (c & 15) == 12 ? H5Screate(H5S_SCALAR)
                                 : H5Screate_simple(1, dims, NULL);
  hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk = 4;
  if ((c & 15) == 11) {
    H5Pset_chunk(plan, 1, &chunk);
    H5Pset_deflate(plan, 6);
  }
  hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  if (set >= 0) {
    H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, is_real ? (void *)reals : integers);
    H5Dclose(set);
  }
  H5Pclose(plan);
  H5Sclose(space);
}

static void put_matrix(hid_t root, const char *name, Input *in, int m, int n) {
  if (next(in) == 255) return;
  hid_t group = H5Gcreate2(root, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  double sizes[2] = {m, n}, p[24], i[24], x[24];
  int entries = m < n ? m : n, form = next(in) % 3; // triplet, columns, rows
  double nz = form == 0 ? entries : -form;
  int lists = form == 1 ? n : m;
  for (int k = 0; k < entries; k++) {
    i[k] = k;
    x[k] = 2;
  }
  for (int k = 0; k < 24; k++) p[k] = k < entries ? k : entries;
  double nzmax = entries;
  put(group, "nzmax", in, 0, 1, &nzmax);
  put(group, "m", in, 0, 1, &sizes[0]);
  put(group, "n", in, 0, 1, &sizes[1]);
  put(group, "nz", in, 0, 1, &nz);
  put(group, "p", in, 0, form == 0 ? entries : lists + 1, p);
  put(group, "i", in, 0, entries, i);
  put(group, "x", in, 1, entries, x);
  H5Gclose(group);
}

static void fill(hid_t file, Input *in) {
  static const char *const roots[] = {"fclib_local", "fclib_global", "fclib_global_rolling"};
  int kind = next(in) % 3, dimension = kind == 2 ? 5 : 3, rows = dimension * 2, size = 8;
  double spacedim = dimension, mu[2] = {.5, .5}, zeros[24] = {0};
  hid_t root = H5Gcreate2(file, roots[kind], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(root, "spacedim", in, 0, 1, &spacedim);
  int equalities = next(in) % 2 ? 2 : 0;
  hid_t vectors = H5Gcreate2(root, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put(vectors, kind == 0 ? "q" : "w", in, 1, rows, zeros);
  put(vectors, "mu", in, 1, 2, mu);
  if (kind > 0) put(vectors, "f", in, 1, size, zeros);
  if (kind == 2) put(vectors, "mu_r", in, 1, 2, mu);
  if (equalities) put(vectors, kind == 0 ? "s" : "b", in, 1, equalities, zeros);
  H5Gclose(vectors);
  if (kind == 0) {
    put_matrix(root, "W", in, rows, rows);
    if (equalities) put_matrix(root, "V", in, rows, equalities);
    if (equalities) put_matrix(root, "R", in, equalities, equalities);
  } else {
    put_matrix(root, "M", in, size, size);
    put_matrix(root, "H", in, size, rows);
    if (equalities) put_matrix(root, "G", in, size, equalities);
  }
  H5Gclose(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input in = {data, size, 0};
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(access, 4096, 0);
  hid_t file = H5Fcreate("made", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  require(file >= 0, "no file");
  fill(file, &in);
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  ssize_t length = H5Fget_file_image(file, NULL, 0);
  require(length > 0, "no image");
  uint8_t *image = malloc((size_t)length);
  require(image && H5Fget_file_image(file, image, (size_t)length) == length, "no image");
  H5Fclose(file);
  check_reading(cn_problem_read_memory, image, (size_t)length);
  free(image);
  return 0;
}
