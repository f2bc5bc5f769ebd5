// SPDX-License-Identifier: Apache-2.0
// Packed run files: the same numbers as before in fewer bytes, whichever rows are asked for; the old file stays where the
// disk is full on the way; and packed chunks that were made to do harm (a bomb of deflate, other bytes,
// none at all, other filters, more rows than can be in them) are refused without more memory than a chunk.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <hdf5.h>

#include "alloc.h"
#include "command.h"
#include "core/rng.h"
#include "io/io.h"
#include "io/run/run_private.h"
#include "runs.h"

static int begin(void **state) {
  (void)state;
  test_folder_make();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return 0;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

static void copy(const char *from, const char *to) {
  size_t size;
  char *bytes = file_bytes(from, &size);
  FILE *out = fopen(to, "wb");
  CHECK(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
  free(bytes);
}

static int64_t size_of(const char *path) {
  struct stat file;
  CHECK(stat(path, &file) == 0);
  return (int64_t)file.st_size;
}

static CnStatus pack(const char *path, int64_t writes) {
  CnAllocator allocator = cn_allocator_default();
  return cni_run_pack(path, test_path("packed.new"), &allocator, writes);
}

// ---- the same numbers ----

static int is_packed(const char *path, int32_t column) {
  CnRun *run;
  CHECK_OK(cn_run_open(path, NULL, &run));
  int packed = run->packed[column];
  cn_run_close(run);
  return packed;
}

// All columns, by blocks of any size from any row on.
static void same_rows(const char *path_a, const char *path_b) {
  CnRun *a, *b;
  CniRng rng = {.state = 3};
  CHECK_OK(cn_run_open(path_a, NULL, &a));
  CHECK_OK(cn_run_open(path_b, NULL, &b));
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) {
    int64_t rows = a->committed.rows[cni_run_columns[c].rows];
    size_t size =
        (size_t)cni_column_width(c, &a->sizes) * cni_number_size(cni_run_columns[c].number);
    hid_t type = cni_number_type(cni_run_columns[c].number);
    CHECK((a->columns[c] < 0) == (b->columns[c] < 0));
    for (int k = 0; k < 6 && a->columns[c] >= 0 && rows > 0; k++) {
      int64_t first = k == 0 ? 0 : (int64_t)(cni_rng_unit(&rng) * (double)rows);
      int64_t count = k == 0 ? rows : 1 + (int64_t)(cni_rng_unit(&rng) * (double)(rows - first));
      char *in_a = malloc((size_t)count * size), *in_b = malloc((size_t)count * size);
      CHECK(cni_run_read(a, c, first, count, type, in_a) >= 0);
      CHECK(cni_run_read(b, c, first, count, type, in_b) >= 0);
      assert_memory_equal(in_a, in_b, (size_t)count * size);
      free(in_a);
      free(in_b);
    }
  }
  cn_run_close(a);
  cn_run_close(b);
}

static void same_numbers(void **state) {
  (void)state;
  char plain[400], packed[400], twice[400];
  snprintf(plain, sizeof plain, "%s", test_path("plain.h5"));
  snprintf(packed, sizeof packed, "%s", test_path("packed.h5"));
  snprintf(twice, sizeof twice, "%s", test_path("twice.h5"));
  test_run_record_plain(plain, 300);
  copy(plain, packed);
  CHECK_OK(pack(packed, -1));
  CHECK(!is_packed(plain, CNI_COLUMN_POSITION) && is_packed(packed, CNI_COLUMN_POSITION));
  CHECK(size_of(packed) < size_of(plain) / 3);
  CHECK(!test_exists(test_path("packed.new")));
  CHECK(test_runs_equal(plain, packed) > 60); // read by HDF5 itself
  same_rows(plain, packed);
  // the same bytes, and packed files can be packed
  copy(plain, twice);
  CHECK_OK(pack(twice, -1));
  size_t size_a, size_b;
  char *a = file_bytes(packed, &size_a), *b = file_bytes(twice, &size_b);
  CHECK(size_a == size_b && memcmp(a, b, size_a) == 0);
  free(a);
  free(b);
  CHECK_OK(pack(twice, -1));
  same_rows(plain, twice);
  // as a recorder leaves it
  test_run_record(test_path("usual.h5"), 300);
  CHECK(test_runs_equal(plain, test_path("usual.h5")) > 60);
  CHECK(is_packed(test_path("usual.h5"), CNI_COLUMN_SENSORS));
}

// What the reader's functions give, single numbers out of wide rows included.
static void same_answers(void **state) {
  (void)state;
  CnRun *runs[2];
  test_run_record_plain(test_path("plain.h5"), 200);
  copy(test_path("plain.h5"), test_path("packed.h5"));
  CHECK_OK(pack(test_path("packed.h5"), -1));
  CHECK_OK(cn_run_open(test_path("plain.h5"), NULL, &runs[0]));
  CHECK_OK(cn_run_open(test_path("packed.h5"), NULL, &runs[1]));
  double values[2][200], times[2];
  CnPose poses[2][RUN_BODIES];
  CnTwist twists[2][RUN_BODIES];
  CnRunEvent events[2][20];
  CnRunContact contacts[2][40];
  int32_t counts[2];
  memset(contacts, 0, sizeof contacts);
  memset(events, 0, sizeof events);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(cn_run_values(runs[i], "load, \"all\"", 0, 200, values[i]));
    CHECK_OK(cn_run_frame(runs[i], 31, &times[i], poses[i], twists[i]));
    CHECK_OK(cn_run_events(runs[i], 2, 5, events[i]));
    CHECK_OK(cn_run_contacts(runs[i], 31, contacts[i], 40, &counts[i]));
  }
  CHECK(counts[0] == counts[1] && counts[0] > 3 && times[0] == times[1]);
  assert_memory_equal(values[0], values[1], sizeof values[0]);
  assert_memory_equal(poses[0], poses[1], sizeof poses[0]);
  assert_memory_equal(twists[0], twists[1], sizeof twists[0]);
  assert_memory_equal(contacts[0], contacts[1], sizeof contacts[0]);
  for (int i = 0; i < 5; i++)
    CHECK(events[0][i].step == events[1][i].step && events[0][i].shape_b == events[1][i].shape_b);
  cn_run_close(runs[0]);
  cn_run_close(runs[1]);
}

// Rows of 1501 bodies lie in several chunks side by side.
static void wide(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  CHECK_OK(cn_world_create(&def, &world));
  for (int i = 0; i < 1501; i++) {
    CnBodyDef body = cn_body_def_default();
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
    CnBodyId id;
    CnShapeId shape_id;
    body.pose.position = cn_vec3(i % 40, (double)(i / 40), 0.01 * i);
    shape.radius = 0.1;
    CHECK_OK(cn_body_create(world, &body, &id));
    CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
  }
  CniRunWriterDef write = {.path = test_path("plain.h5"), .plain = 1, .skip_penetration = 1};
  CniRunWriter *writer;
  CHECK_OK(cni_run_writer_create(&write, world, &writer));
  for (int i = 0; i < 37; i++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(world, &report));
    CHECK_OK(cni_run_writer_step(writer, world, &report));
  }
  CHECK_OK(cni_run_writer_close(writer));
  cn_world_destroy(world);
  copy(test_path("plain.h5"), test_path("packed.h5"));
  CHECK_OK(pack(test_path("packed.h5"), -1));
  CnRun *run;
  hsize_t chunk[3];
  CHECK_OK(cn_run_open(test_path("packed.h5"), NULL, &run));
  cni_pack_chunk(CNI_COLUMN_POSITION, &run->sizes, 38, chunk);
  CHECK(chunk[0] < 38 && chunk[1] < 1501 && chunk[2] == 3);
  cn_run_close(run);
  same_rows(test_path("plain.h5"), test_path("packed.h5"));
}

// A disk that is full on the way: the run is as it was, and nothing is left beside it.
static void full_disk(void **state) {
  (void)state;
  char path[400];
  snprintf(path, sizeof path, "%s", test_path("run.h5"));
  test_run_record_plain(path, 60);
  copy(path, test_path("kept.h5"));
  int64_t n = 0;
  for (; pack(path, n) != CN_OK; n++) {
    size_t size_a, size_b;
    CHECK(strstr(cn_error_message(), "No space left") != NULL && n < 1000);
    char *a = file_bytes(path, &size_a), *b = file_bytes(test_path("kept.h5"), &size_b);
    CHECK(size_a == size_b && memcmp(a, b, size_a) == 0);
    CHECK(!test_exists(test_path("packed.new")));
    free(a);
    free(b);
  }
  CHECK(n > 2);
  CHECK(test_runs_equal(path, test_path("kept.h5")) > 60);
}

static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  test_run_record(test_path("run.h5"), 60);
  for (int64_t n = 1;; n++) {
    CnRun *run;
    double values[60];
    CnPose poses[RUN_BODIES];
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_run_open(test_path("run.h5"), &hook, &run);
    if (status == CN_OK) status = cn_run_values(run, "kinetic_energy", 0, 60, values);
    if (status == CN_OK) status = cn_run_frame(run, 3, NULL, poses, NULL);
    cn_run_close(run);
    test_alloc_check_clean(&alloc);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
  }
}

// ---- made to do harm ----

static hid_t open_to_change(const char *path) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
  H5Pclose(access);
  CHECK(file >= 0);
  return file;
}

// Other bytes in the place of the first chunk of a column.
static void put_chunk(const char *path, const char *column, uint32_t skipped, const void *bytes,
                      size_t size) {
  hid_t file = open_to_change(path), set = H5Dopen2(file, column, H5P_DEFAULT);
  hsize_t offset[3] = {0, 0, 0};
  CHECK(set >= 0 && H5Dwrite_chunk(set, H5P_DEFAULT, skipped, offset, size, bytes) >= 0);
  H5Dclose(set);
  H5Fclose(file);
}

// Opening is refused, or reading is; never with more than so many bytes of memory.
static void refused(const char *path, size_t most) {
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CnRun *run;
  CnPose poses[RUN_BODIES];
  CnStatus status = cn_run_open(path, &hook, &run);
  if (status == CN_OK) status = cn_run_frame(run, 0, NULL, poses, NULL);
  CHECK_FAILED(status, CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), path) && !strchr(cn_error_message(), '\n'));
  cn_run_close(run);
  test_alloc_check_clean(&alloc);
  CHECK(alloc.peak_bytes < most);
}

#define MEMORY 1000000

// 64 MB of zeros in 64 kB.
static void bomb(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  size_t size = 64000000;
  uLongf packed = compressBound((uLong)size);
  char *zeros = calloc(1, size), *bytes = malloc(packed);
  CHECK(compress2((Bytef *)bytes, &packed, (Bytef *)zeros, (uLong)size, 9) == Z_OK);
  test_run_record(path, 60);
  put_chunk(path, "/frames/position", 0, bytes, packed);
  refused(path, MEMORY);
  CHECK(strstr(cn_error_message(), "cannot be unpacked") != NULL);
  // one that is not longer than a chunk may be
  test_run_record(test_path("small.h5"), 60);
  packed = compressBound((uLong)size);
  CHECK(compress2((Bytef *)bytes, &packed, (Bytef *)zeros, 2000000, 9) == Z_OK);
  CHECK(packed < 3000);
  put_chunk(test_path("small.h5"), "/frames/position", 0, bytes, packed);
  refused(test_path("small.h5"), MEMORY);
  free(zeros);
  free(bytes);
}

static void other_bytes(void **state) {
  (void)state;
  static const char text[] = "these are no deflated numbers, whatever the index says";
  for (uint32_t skipped = 0; skipped < 4; skipped++) {
    char name[40];
    snprintf(name, sizeof name, "run%u.h5", skipped);
    test_run_record(test_path(name), 60);
    put_chunk(test_path(name), "/frames/position", skipped, text, sizeof text);
    refused(test_path(name), MEMORY);
  }
}

// Filters may be left out of a chunk, as HDF5 does where deflate does not help.
static void left_out(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  test_run_record(path, 60);
  CnRun *run;
  hsize_t chunk[3];
  CnPose before[RUN_BODIES], after[RUN_BODIES];
  CHECK_OK(cn_run_open(path, NULL, &run));
  cni_pack_chunk(CNI_COLUMN_POSITION, &run->sizes, run->info.frame_count, chunk);
  size_t size = (size_t)(chunk[0] * chunk[1] * chunk[2]) * sizeof(double);
  double *values = calloc(1, size);
  CHECK((int64_t)chunk[0] <= run->info.frame_count && chunk[1] == RUN_BODIES);
  CHECK(cni_run_read(run, CNI_COLUMN_POSITION, 0, (int64_t)chunk[0], H5T_NATIVE_DOUBLE, values) >=
        0);
  CHECK_OK(cn_run_frame(run, 5, NULL, before, NULL));
  cn_run_close(run);
  put_chunk(path, "/frames/position", 3, values, size);
  CHECK_OK(cn_run_open(path, NULL, &run));
  CHECK_OK(cn_run_frame(run, 5, NULL, after, NULL));
  assert_memory_equal(before, after, sizeof before);
  cn_run_close(run);
  free(values);
}

// A column with other filters, other chunks, no chunk at all, and more rows than its bytes can be.
static void other_layouts(void **state) {
  (void)state;
  for (int kind = 0; kind < 6; kind++) {
    char name[40];
    snprintf(name, sizeof name, "run%d.h5", kind);
    test_run_record(test_path(name), 60);
    hid_t file = open_to_change(test_path(name));
    hid_t set = H5Dopen2(file, "/frames/position", H5P_DEFAULT), space = H5Dget_space(set);
    hid_t how = H5Dget_create_plist(set);
    hsize_t chunk[3];
    CHECK(H5Pget_chunk(how, 3, chunk) == 3);
    if (kind == 0) CHECK(H5Pset_fletcher32(how) >= 0);
    if (kind == 1) CHECK(H5Premove_filter(how, H5Z_FILTER_SHUFFLE) >= 0);
    if (kind == 2) CHECK(H5Premove_filter(how, H5Z_FILTER_DEFLATE) >= 0);
    if (kind == 3)
      CHECK(H5Premove_filter(how, H5Z_FILTER_ALL) >= 0 && H5Pset_deflate(how, 1) >= 0 &&
            H5Pset_shuffle(how) >= 0);
    if (kind == 4) chunk[0]--;
    CHECK(H5Pset_chunk(how, 3, chunk) >= 0);
    H5Dclose(set);
    CHECK(H5Ldelete(file, "/frames/position", H5P_DEFAULT) >= 0);
    set =
        H5Dcreate2(file, "/frames/position", H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    CHECK(set >= 0);
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(space);
    H5Fclose(file);
    refused(test_path(name), MEMORY);
  }
}

// 10^9 frames are claimed of which one chunk is there.
static void too_many_rows(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  test_run_record(path, 60);
  hid_t file = open_to_change(path), type = cni_committed_type();
  hid_t set = H5Dopen2(file, "/committed", H5P_DEFAULT);
  CniCommitted committed;
  CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &committed) >= 0);
  committed.rows[CNI_ROWS_STEPS] = 1000000000;
  CHECK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &committed) >= 0);
  H5Dclose(set);
  H5Tclose(type);
  CniRunSizes sizes = {.body_count = RUN_BODIES, .sensor_count = 3};
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) {
    hsize_t dims[3], chunk[3];
    if (cni_run_columns[c].rows != CNI_ROWS_STEPS) continue;
    int rank = cni_column_dims(c, &sizes, dims, chunk);
    cni_pack_chunk(c, &sizes, 1000000000, chunk);
    dims[0] = 1000000000;
    hid_t space = H5Screate_simple(rank, dims, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(how, rank, chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
          H5Pset_deflate(how, 1) >= 0);
    CHECK(H5Ldelete(file, cni_run_columns[c].path, H5P_DEFAULT) >= 0);
    set = H5Dcreate2(file, cni_run_columns[c].path, cni_number_stored(cni_run_columns[c].number),
                     space, H5P_DEFAULT, how, H5P_DEFAULT);
    hsize_t offset[3] = {0, 0, 0};
    CHECK(set >= 0 && H5Dwrite_chunk(set, H5P_DEFAULT, 3, offset, 5, "12345") >= 0);
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(space);
  }
  H5Fclose(file);
  refused(path, MEMORY);
  CHECK(strstr(cn_error_message(), "larger than the file") != NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(same_numbers, begin, end),
      cmocka_unit_test_setup_teardown(same_answers, begin, end),
      cmocka_unit_test_setup_teardown(wide, begin, end),
      cmocka_unit_test_setup_teardown(full_disk, begin, end),
      cmocka_unit_test_setup_teardown(no_memory, begin, end),
      cmocka_unit_test_setup_teardown(bomb, begin, end),
      cmocka_unit_test_setup_teardown(other_bytes, begin, end),
      cmocka_unit_test_setup_teardown(left_out, begin, end),
      cmocka_unit_test_setup_teardown(other_layouts, begin, end),
      cmocka_unit_test_setup_teardown(too_many_rows, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
