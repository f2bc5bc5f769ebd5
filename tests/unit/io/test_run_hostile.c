// SPDX-License-Identifier: Apache-2.0
// Run files that were made to do harm: texts and rows of other sizes than expected, sizes that the
// file does not have, numbers in other files, links round corners, filters, other types. Each is
// refused in one sentence; nothing is written outside a buffer (sanitizers look on), and no more
// memory is taken than the file is long.
#include "check.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "alloc.h"
#include "command.h"
#include "io/io.h"
#include "io/run/run_private.h"
#include "runs.h"

#define MEMORY_FOR_A_BYTE 64 // of the file; names, tables and their columns while they are read

// ---- a copy to be spoilt ----

static char *good;
static size_t good_size;

static const char *copy_good(void) {
  const char *bad = test_path("bad.h5");
  FILE *out = fopen(bad, "wb");
  CHECK(out && fwrite(good, 1, good_size, out) == good_size && fclose(out) == 0);
  return bad;
}

static int begin(void **state) {
  (void)state;
  test_folder_make();
  test_run_record_plain(test_path("good.h5"), 20); // packed ones: test_run_packed.c
  good = file_bytes(test_path("good.h5"), &good_size);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return 0;
}

static int end(void **state) {
  (void)state;
  free(good);
  test_folder_remove();
  return 0;
}

static hid_t open_to_change(const char *path) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
  H5Pclose(access);
  CHECK(file >= 0);
  return file;
}

// Everything that can be asked of an opened run; what it answers does not matter.
static void use(CnRun *run) {
  CnRunInfo info;
  cn_run_info(run, &info);
  CnPose *poses = calloc((size_t)info.body_count + 1, sizeof *poses);
  CnTwist *twists = calloc((size_t)info.body_count + 1, sizeof *twists);
  CnJointState *joints = calloc((size_t)info.joint_count + 1, sizeof *joints);
  CnRunContact contacts[50];
  CnRunEvent event;
  double value;
  int32_t count;
  for (int64_t f = 0; f < info.frame_count && f < 10; f++) {
    cn_run_frame(run, f, &value, poses, twists);
    cn_run_joint_states(run, f, joints);
    cn_run_contacts(run, f, contacts, 50, &count);
    for (int32_t i = 0; i < count && i < 50; i++)
      CHECK(contacts[i].body_a >= -1 && contacts[i].body_a < info.body_count &&
            contacts[i].shape_b >= -1 && contacts[i].shape_b < info.shape_count);
  }
  if (info.step_count > 0) cn_run_values(run, "kinetic_energy", info.step_count - 1, 1, &value);
  for (int64_t e = 0; e < info.event_count && e < 50; e++) cn_run_events(run, e, 1, &event);
  cni_exports[1]->write(run, "bad.h5", test_path("bad.xdmf"));
  free(poses);
  free(twists);
  free(joints);
}

// Refused in one line, with little memory. (Or opened, where that does no harm, and used.)
static CnStatus try_file(const char *path, int may_open) {
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator allocator = test_alloc_hook(&alloc);
  CnRun *run = NULL;
  struct stat file;
  CHECK(stat(path, &file) == 0);
  CnStatus status = cn_run_open(path, &allocator, &run);
  if (status == CN_OK) use(run);
  cn_run_close(run);
  test_alloc_check_clean(&alloc);
  CHECK(alloc.peak_bytes <= MEMORY_FOR_A_BYTE * (size_t)file.st_size + 1000000);
  if (!may_open) CHECK(status == CN_INVALID_DATA);
  if (status != CN_OK)
    CHECK(strlen(cn_error_message()) > 10 && !strchr(cn_error_message(), '\n') &&
          strstr(cn_error_message(), "bad.h5") != NULL);
  return status;
}

// ---- every attribute and dataset in turn ----

#define MOST_NAMES 200

typedef struct Names {
  char paths[MOST_NAMES][80]; // of objects, "PATH" or "PATH@ATTRIBUTE"
  int count;
} Names;

static Names names;

static herr_t note_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data) {
  (void)object;
  (void)info;
  CHECK(names.count < MOST_NAMES);
  snprintf(names.paths[names.count++], 80, "%s@%s", (const char *)data, name);
  return 0;
}

static herr_t note_object(hid_t file, const char *name, const H5L_info_t *info, void *data) {
  (void)info;
  (void)data;
  char path[70];
  snprintf(path, sizeof path, "/%s", name);
  hid_t object = H5Oopen(file, path, H5P_DEFAULT);
  CHECK(object >= 0 && names.count < MOST_NAMES);
  if (H5Iget_type(object) == H5I_DATASET) snprintf(names.paths[names.count++], 80, "%s", path);
  hsize_t start = 0;
  if (H5Iget_type(object) == H5I_GROUP)
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &start, note_attribute, path);
  H5Oclose(object);
  return 0;
}

static void list_everything(void) {
  hsize_t start = 0;
  char root[] = "/";
  hid_t file = open_to_change(test_path("good.h5"));
  names.count = 0;
  H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &start, note_attribute, root);
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note_object, NULL);
  H5Fclose(file);
  CHECK(names.count > 60);
}

// A dataset in place of one, or an attribute in place of one; nothing is written into it.
static void put(hid_t file, const char *name, hid_t type, hid_t space, hid_t how) {
  char object[80];
  snprintf(object, sizeof object, "%s", name);
  char *attribute = strchr(object, '@');
  if (!attribute) {
    CHECK(H5Ldelete(file, object, H5P_DEFAULT) >= 0);
    hid_t set = H5Dcreate2(file, object, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    if (set >= 0) H5Dclose(set);
    return;
  }
  *attribute++ = 0;
  CHECK(H5Adelete_by_name(file, object, attribute, H5P_DEFAULT) >= 0);
  hid_t a = H5Acreate_by_name(file, object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT,
                              H5P_DEFAULT);
  if (a >= 0) H5Aclose(a);
}

typedef struct Disguise {
  const char *what;
  int rank;
  hsize_t dims[3];
  int text; // bytes of a text, -1: of any length, 0: numbers
  int chunked;
} Disguise;

static const Disguise disguises[] = {
    {"nothing", 0, {0}, 0, 0},
    {"many numbers", 1, {4000}, 0, 0},
    {"very many numbers", 1, {(hsize_t)1 << 40}, 0, 0},
    {"numbers in a cube", 3, {3, 3, 3}, 0, 0},
    {"no numbers", 1, {0}, 0, 0},
    {"many texts", 1, {4096}, 10, 0},
    {"a long text", 0, {0}, 2000000000, 0},
    {"a text of any length", 0, {0}, -1, 0},
    {"rows that grow", 2, {1, 1000000}, 0, 1},
    {"very many rows", 1, {(hsize_t)1 << 60}, 0, 1},
};

static hid_t disguise_type(const Disguise *d) {
  hid_t type = H5Tcopy(d->text ? H5T_C_S1 : H5T_IEEE_F64LE);
  if (d->text) CHECK(H5Tset_size(type, d->text < 0 ? H5T_VARIABLE : (size_t)d->text) >= 0);
  return type;
}

static void disguised(void **state) {
  (void)state;
  list_everything();
  int refused = 0, tried = 0;
  for (int n = 0; n < names.count; n++)
    for (size_t k = 0; k < sizeof disguises / sizeof disguises[0]; k++) {
      const Disguise *d = &disguises[k];
      const char *path = copy_good();
      if (strchr(names.paths[n], '@') && (d->chunked || d->text > 60000 || d->dims[0] > 4000))
        continue; // HDF5 itself does not write such an attribute
      hid_t file = open_to_change(path), type = disguise_type(d);
      hid_t space = d->rank ? H5Screate_simple(d->rank, d->dims, NULL) : H5Screate(H5S_SCALAR);
      hid_t how = H5Pcreate(H5P_DATASET_CREATE);
      hsize_t chunk[3] = {1, 1000, 1};
      if (d->chunked) H5Pset_chunk(how, d->rank, chunk);
      put(file, names.paths[n], type, space, strchr(names.paths[n], '@') ? H5P_DEFAULT : how);
      H5Pclose(how);
      H5Sclose(space);
      H5Tclose(type);
      H5Fclose(file);
      refused += try_file(path, 1) != CN_OK;
      tried++;
    }
  // units, titles and some tables are not read at all
  CHECK(refused > tried * 2 / 3);
}

static void missing(void **state) {
  (void)state;
  list_everything();
  int refused = 0, tried = 0;
  for (int n = 0; n < names.count; n++) {
    const char *path = copy_good();
    char object[80];
    snprintf(object, sizeof object, "%s", names.paths[n]);
    char *attribute = strchr(object, '@');
    hid_t file = open_to_change(path);
    if (attribute) *attribute++ = 0;
    CHECK(attribute ? H5Adelete_by_name(file, object, attribute, H5P_DEFAULT) >= 0
                    : H5Ldelete(file, object, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    // settings that came later than a file are not missed
    int setting = strcmp(object, "/settings") == 0;
    refused += try_file(path, 1) != CN_OK && !setting;
    tried += !setting;
  }
  CHECK(refused > tried * 2 / 3);
}

// ---- the three that were found ----

static void text_of_many_elements(void **state) {
  (void)state;
  static const char *const where[][2] = {
      {"/", "format"}, {"/", "cairn_version"}, {"/settings", "solver"}, {"/scene", "name"}};
  for (int i = 0; i < 4; i++) {
    const char *path = copy_good();
    hid_t file = open_to_change(path), type = H5Tcopy(H5T_C_S1);
    hsize_t count = 4096;
    hid_t space = H5Screate_simple(1, &count, NULL);
    static char text[4096][10];
    memset(text, 'A', sizeof text);
    memcpy(text, "cairn-run", 10);
    H5Tset_size(type, 10);
    CHECK(H5Adelete_by_name(file, where[i][0], where[i][1], H5P_DEFAULT) >= 0);
    hid_t a = H5Acreate_by_name(file, where[i][0], where[i][1], type, space, H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT);
    CHECK(a >= 0 && H5Awrite(a, type, text) >= 0);
    H5Aclose(a);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    try_file(path, 0);
  }
}

// Rows nearly twice as wide as they should be, in a file that is to be copied for ParaView.
static void wide_rows(void **state) {
  (void)state;
  static const char *const columns[] = {"/frames/position", "/reactions/force", "/sensors/values"};
  for (int i = 0; i < 3; i++)
    for (int rank = 2; rank <= 3; rank++) {
      const char *path = copy_good();
      hid_t file = open_to_change(path);
      hsize_t dims[3] = {30, rank == 2 ? 6 * RUN_BODIES - 1 : 1, 6 * RUN_BODIES - 1};
      hid_t space = H5Screate_simple(rank, dims, NULL);
      put(file, columns[i], H5T_IEEE_F64LE, space, H5P_DEFAULT);
      H5Sclose(space);
      H5Fclose(file);
      int fd = open(path, O_WRONLY);
      CHECK(fd >= 0 && pwrite(fd, "\4", 1, 11) == 1); // the mark of a writer that was killed
      close(fd);
      try_file(path, 0);
    }
}

static void long_text(void **state) {
  (void)state;
  static const size_t sizes[] = {100000, 1000000000, 4000000000u};
  for (int i = 0; i < 3; i++) {
    const char *path = copy_good();
    hid_t file = open_to_change(path), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, sizes[i]);
    put(file, "/scene/text", type, space, H5P_DEFAULT);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    try_file(path, 0);
  }
}

// ---- out of the file ----

// A text that lies in another file: it would be shown in the page.
static void other_files(void **state) {
  (void)state;
  const char *secret = test_path("secret.txt");
  FILE *out = fopen(secret, "wb");
  CHECK(out && fputs("a secret of thirty-two characters", out) > 0 && fclose(out) == 0);
  const char *path = copy_good();
  hid_t file = open_to_change(path), type = H5Tcopy(H5T_C_S1), how = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t one = 1;
  hid_t space = H5Screate_simple(1, &one, NULL);
  H5Tset_size(type, 32);
  CHECK(H5Pset_external(how, secret, 0, 32) >= 0);
  put(file, "/scene/text", type, space, how);
  H5Pclose(how);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
  try_file(path, 0);
}

static void links(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    const char *path = copy_good();
    hid_t file = open_to_change(path);
    const char *name = i % 2 ? "/scene" : "/scene/text";
    CHECK(H5Lmove(file, name, file, "/moved", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    if (i < 2)
      CHECK(H5Lcreate_soft("/moved", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    else
      CHECK(H5Lcreate_external(test_path("good.h5"), name, file, name, H5P_DEFAULT, H5P_DEFAULT) >=
            0);
    H5Fclose(file);
    try_file(path, 0);
  }
}

static void filters(void **state) {
  (void)state;
  const char *path = copy_good();
  hid_t file = open_to_change(path), how = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t dims = RUN_BODIES, chunk = RUN_BODIES;
  hid_t space = H5Screate_simple(1, &dims, NULL);
  H5Pset_chunk(how, 1, &chunk);
  H5Pset_shuffle(how);
  put(file, "/bodies/mass", H5T_IEEE_F64LE, space, how);
  H5Pclose(how);
  H5Sclose(space);
  H5Fclose(file);
  try_file(path, 0);
}

// ---- counts ----

static void counts(void **state) {
  (void)state;
  static const int64_t values[] = {-1, 1000000, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
  for (int k = 0; k < CNI_ROW_KIND_COUNT; k++)
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
      const char *path = copy_good();
      hid_t file = open_to_change(path), type = cni_committed_type();
      hid_t set = H5Dopen2(file, "/committed", H5P_DEFAULT);
      CniCommitted committed;
      CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &committed) >= 0);
      committed.rows[k] = values[i];
      CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &committed) >= 0);
      H5Tclose(type);
      H5Dclose(set);
      H5Fclose(file);
      try_file(path, 0);
    }
}

// Rows that are promised but were never written: more of them than the file has bytes.
static void empty_rows(void **state) {
  (void)state;
  const char *path = copy_good();
  hid_t file = open_to_change(path), type = cni_committed_type();
  hid_t set = H5Dopen2(file, "/committed", H5P_DEFAULT);
  CniCommitted committed;
  CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &committed) >= 0);
  committed.rows[CNI_ROWS_EVENTS] = 1000000000;
  CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &committed) >= 0);
  H5Tclose(type);
  H5Dclose(set);
  for (int32_t c = CNI_COLUMN_EVENT_STEP; c < CNI_COLUMN_COUNT; c++) {
    hsize_t rows = 1000000000;
    set = H5Dopen2(file, cni_run_columns[c].path, H5P_DEFAULT);
    CHECK(H5Dset_extent(set, &rows) >= 0);
    H5Dclose(set);
  }
  H5Fclose(file);
  try_file(path, 0);
}

// Numbers that are no indices.
static void indices(void **state) {
  (void)state;
  static const char *const columns[] = {"/contacts/body_a", "/contacts/shape_b", "/events/shape_a",
                                        "/shapes/body", "/joints/body_a"};
  for (int i = 0; i < 5; i++) {
    const char *path = copy_good();
    hid_t file = open_to_change(path), set = H5Dopen2(file, columns[i], H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    int32_t *values = malloc((count + 1) * sizeof *values);
    for (size_t k = 0; k < count; k++) values[k] = k % 2 ? INT32_MAX : INT32_MIN;
    CHECK(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    free(values);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    try_file(path, i < 3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_of_many_elements),
      cmocka_unit_test(wide_rows),
      cmocka_unit_test(long_text),
      cmocka_unit_test(other_files),
      cmocka_unit_test(links),
      cmocka_unit_test(filters),
      cmocka_unit_test(counts),
      cmocka_unit_test(empty_rows),
      cmocka_unit_test(indices),
      cmocka_unit_test(missing),
      cmocka_unit_test(disguised),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
