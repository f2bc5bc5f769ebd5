// SPDX-License-Identifier: Apache-2.0
#include "runs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

#include "check.h"

static const char scene_text[] =
    "{\"title\": \"A little of everything\","
    " \"parameters\": {\"balls\": 6, \"mu\": {\"default\": 0.4, \"summary\": \"friction\"}},"
    " \"seed\": 7,"
    " \"settings\": {\"time_step\": 0.004, \"solver\": {\"name\": \"psor\", \"iterations\": 30}},"
    " \"materials\": {\"stuff\": {\"friction\": \"=mu\", \"restitution\": 0.3}},"
    " \"bodies\": ["
    "  {\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
    "  {\"name\": \"box\", \"position\": [0, 0, 0.2],"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, 0.4, 0.4], \"material\": \"stuff\"}]},"
    "  {\"repeat\": \"=balls\", \"items\": [{\"name\": \"ball{i}\","
    "    \"position\": [\"=0.02*i\", \"=0.01*i\", \"=0.6+0.21*i\"],"
    "    \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"material\": \"stuff\"}]}]},"
    "  {\"name\": \"bob\", \"position\": [2, 0, 1],"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}],"
    " \"joints\": [{\"name\": \"string\", \"kind\": \"ball\", \"bodies\": [\"bob\", \"ground\"],"
    "   \"anchor\": [1.5, 0, 1]}],"
    " \"sensors\": [{\"name\": \"top\", \"kind\": \"position\", \"body\": \"ball5\"},"
    "   {\"name\": \"load, \\\"all\\\"\", \"kind\": \"contact_force\", \"body\": \"floor\","
    "    \"axis\": \"z\"},"
    "   {\"name\": \"string\", \"kind\": \"joint_force\", \"joint\": \"string\","
    "    \"axis\": \"length\"}]}";

void test_run_begin(TestRun *run, const char *path) {
  memset(run, 0, sizeof *run);
  CHECK_OK(
      cn_scene_parse(scene_text, sizeof scene_text - 1, "everything", NULL, 0, NULL, &run->scene));
  run->world_def = cn_world_def_default();
  cn_scene_world_def(run->scene, &run->world_def);
  CHECK_OK(cn_world_create(&run->world_def, &run->world));
  CHECK_OK(cn_scene_fill(run->scene, run->world));
  run->def = (CniRunWriterDef){.path = path,
                               .scene = run->scene,
                               .frames_per_second = 50,
                               .record_contacts = 1,
                               .record_joints = 1,
                               .allocator = cn_allocator_default()};
}

CnStatus test_run_try(TestRun *run, int count) {
  for (int i = 0; i < count; i++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(run->world, &report));
    CnStatus status = cni_run_writer_step(run->writer, run->world, &report);
    if (status != CN_OK) return status;
  }
  return CN_OK;
}

void test_run_steps(TestRun *run, int count) { CHECK_OK(test_run_try(run, count)); }

void test_run_end(TestRun *run) {
  cn_world_destroy(run->world);
  cn_scene_destroy(run->scene);
  memset(run, 0, sizeof *run);
}

static void record(const char *path, int steps, int plain) {
  TestRun run;
  test_run_begin(&run, path);
  run.def.plain = plain;
  CHECK_OK(cni_run_writer_create(&run.def, run.world, &run.writer));
  test_run_steps(&run, steps);
  CHECK_OK(cni_run_writer_close(run.writer));
  test_run_end(&run);
}

void test_run_record(const char *path, int steps) { record(path, steps, 0); }

void test_run_record_plain(const char *path, int steps) { record(path, steps, 1); }

// ---- two files ----

typedef struct Comparison {
  hid_t a, b;
  int datasets;
} Comparison;

// Bytes of an object's values and their number, in the type they are stored in.
static char *values_of(hid_t object, int is_attribute, size_t *bytes) {
  hid_t space = is_attribute ? H5Aget_space(object) : H5Dget_space(object);
  hid_t type = is_attribute ? H5Aget_type(object) : H5Dget_type(object);
  *bytes = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
  char *values = calloc(1, *bytes + 1);
  CHECK(values != NULL);
  if (is_attribute)
    CHECK(H5Aread(object, type, values) >= 0);
  else if (*bytes > 0)
    CHECK(H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Tclose(type);
  H5Sclose(space);
  return values;
}

static void compare_values(hid_t a, hid_t b, int is_attribute, const char *name) {
  size_t size_a, size_b;
  char *values_a = values_of(a, is_attribute, &size_a);
  char *values_b = values_of(b, is_attribute, &size_b);
  if (size_a != size_b || memcmp(values_a, values_b, size_a) != 0)
    print_error("%s differs (%zu and %zu bytes)\n", name, size_a, size_b);
  CHECK(size_a == size_b && memcmp(values_a, values_b, size_a) == 0);
  free(values_a);
  free(values_b);
}

static herr_t compare_attribute(hid_t a, const char *name, const H5A_info_t *info, void *context) {
  (void)info;
  hid_t b = *(hid_t *)context;
  CHECK(H5Aexists(b, name) > 0);
  hid_t attribute_a = H5Aopen(a, name, H5P_DEFAULT), attribute_b = H5Aopen(b, name, H5P_DEFAULT);
  compare_values(attribute_a, attribute_b, 1, name);
  H5Aclose(attribute_a);
  H5Aclose(attribute_b);
  return 0;
}

static void compare_object(Comparison *c, const char *name) {
  hid_t a = H5Oopen(c->a, name, H5P_DEFAULT), b = H5Oopen(c->b, name, H5P_DEFAULT);
  CHECK(a >= 0 && b >= 0);
  CHECK(H5Aiterate2(a, H5_INDEX_NAME, H5_ITER_INC, NULL, compare_attribute, &b) >= 0);
  if (H5Iget_type(a) == H5I_DATASET && strncmp(name, "steps/seconds_", 14) != 0) {
    compare_values(a, b, 0, name);
    c->datasets++;
  }
  H5Oclose(a);
  H5Oclose(b);
}

static herr_t compare_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
  (void)group;
  (void)info;
  compare_object(context, name);
  return 0;
}

static herr_t count_link(hid_t group, const char *name, const H5L_info_t *info, void *context) {
  (void)group;
  (void)name;
  (void)info;
  ++*(int *)context;
  return 0;
}

int test_runs_equal(const char *path_a, const char *path_b) {
  Comparison c = {H5Fopen(path_a, H5F_ACC_RDONLY, H5P_DEFAULT),
                  H5Fopen(path_b, H5F_ACC_RDONLY, H5P_DEFAULT), 0};
  CHECK(c.a >= 0 && c.b >= 0);
  int links_a = 0, links_b = 0;
  CHECK(H5Lvisit(c.a, H5_INDEX_NAME, H5_ITER_INC, count_link, &links_a) >= 0);
  CHECK(H5Lvisit(c.b, H5_INDEX_NAME, H5_ITER_INC, count_link, &links_b) >= 0);
  CHECK(links_a == links_b);
  compare_object(&c, "/");
  CHECK(H5Lvisit(c.a, H5_INDEX_NAME, H5_ITER_INC, compare_link, &c) >= 0);
  H5Fclose(c.a);
  H5Fclose(c.b);
  return c.datasets;
}

// ---- files ----

static char folder[200];

const char *test_folder_make(void) {
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/cairn-test-XXXXXX", base && base[0] ? base : "/tmp");
  CHECK(mkdtemp(folder) != NULL);
  return folder;
}

static void remove_in(const char *path) {
  DIR *dir = opendir(path);
  struct dirent *entry;
  while (dir && (entry = readdir(dir))) {
    char name[600];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (unlink(name) != 0) remove_in(name);
  }
  if (dir) closedir(dir);
  rmdir(path);
}

void test_folder_remove(void) {
  if (folder[0]) remove_in(folder);
  folder[0] = 0;
}

const char *test_path(const char *name) {
  static char paths[8][400];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

int test_exists(const char *path) { return access(path, F_OK) == 0; }

double test_sensor(const CnScene *scene, const double *values, const char *name, const char *unit) {
  CnSensorInfo info;
  for (int32_t i = 0; cn_scene_sensor(scene, i, &info) == CN_OK; i++) {
    if (strcmp(info.name, name) != 0) continue;
    assert_string_equal(info.unit, unit);
    return values[i];
  }
  fail_msg("no sensor %s", name);
  return 0;
}
