// SPDX-License-Identifier: Apache-2.0
// Exports: tables that read back as the same numbers, and a description for ParaView whose every
// reference is in the run file with the size it says.
#include "check.h"

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hdf5.h>

#include "core/vec.h"
#include "runs.h"

#define STEPS 40 // nine frames

static int begin(void **state) {
  (void)state;
  test_folder_make();
  return 0;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

static const CniExportKind *find(const char *name) {
  for (int32_t i = 0; i < cni_export_count; i++)
    if (strcmp(cni_exports[i]->name, name) == 0) return cni_exports[i];
  CHECK(0);
  return NULL;
}

static char *text_of(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = calloc(1, size + 1);
  CHECK(fread(text, 1, size, file) == size);
  fclose(file);
  return text;
}

// ---- csv ----

// The next field of a line; quotes are taken off. Returns the place behind it.
static char *next_field(char *at, char *field, size_t size) {
  size_t n = 0;
  int quoted = *at == '"';
  if (quoted) at++;
  for (; *at && *at != '\n'; at++) {
    if (quoted && *at == '"' && at[1] == '"')
      at++;
    else if (quoted && *at == '"') {
      at++;
      break;
    } else if (!quoted && *at == ',')
      break;
    CHECK(n + 1 < size);
    field[n++] = *at;
  }
  field[n] = 0;
  CHECK(*at == ',' || *at == '\n');
  return at + 1;
}

static char *next_number(char *at, double *value) {
  char field[100], *rest;
  at = next_field(at, field, sizeof field);
  *value = field[0] ? strtod(field, &rest) : (double)NAN;
  CHECK(!field[0] || *rest == 0);
  return at;
}

static void check_steps_table(CnRun *run) {
  CnRunInfo info;
  cn_run_info(run, &info);
  char *text = text_of(test_path("run-csv/steps.csv")), *at = text, field[100];
  int32_t columns = 2 + info.scalar_count + info.sensor_count;
  for (int32_t c = 0; c < columns; c++) {
    at = next_field(at, field, sizeof field);
    if (c == 2) assert_string_equal(field, "kinetic_energy [J]");
    if (c == columns - 2) assert_string_equal(field, "load, \"all\" [N]");
  }
  for (int64_t i = 0; i < info.step_count; i++) {
    double value, expected;
    for (int32_t c = 0; c < columns; c++) {
      at = next_number(at, &value);
      CnRunSeries series = {"time", "s"};
      if (c > 1 && c < 2 + info.scalar_count) CHECK_OK(cn_run_scalar(run, c - 2, &series));
      if (c >= 2 + info.scalar_count)
        CHECK_OK(cn_run_sensor(run, c - 2 - info.scalar_count, &series));
      if (c == 0)
        expected = (double)(i + 1);
      else
        CHECK_OK(cn_run_values(run, series.name, i, 1, &expected));
      if (isnan(expected))
        CHECK(isnan(value));
      else
        CHECK_NEAR(value, expected, 0);
    }
    CHECK(at[-1] == '\n');
  }
  CHECK(*at == 0);
  free(text);
}

static void check_frames_table(CnRun *run) {
  char *text = text_of(test_path("run-csv/frames.csv")), *at = strchr(text, '\n') + 1;
  for (int64_t f = 0; f < STEPS / 5 + 1; f++) {
    CnPose poses[RUN_BODIES];
    CnTwist twists[RUN_BODIES];
    double time;
    CHECK_OK(cn_run_frame(run, f, &time, poses, twists));
    for (int32_t b = 0; b < RUN_BODIES; b++) {
      double head[4], numbers[13];
      char name[60];
      CnRunBody body;
      CHECK_OK(cn_run_body(run, b, &body));
      for (int i = 0; i < 4; i++) at = next_number(at, &head[i]);
      at = next_field(at, name, sizeof name);
      for (int i = 0; i < 13; i++) at = next_number(at, &numbers[i]);
      CHECK_NEAR(head[0], (double)f, 0);
      CHECK_NEAR(head[1], (double)(5 * f), 0);
      CHECK_NEAR(head[2], time, 0);
      CHECK_NEAR(head[3], b, 0);
      assert_string_equal(name, body.name);
      for (int i = 0; i < 7; i++) CHECK_NEAR(numbers[i], (&poses[b].position.x)[i], 0);
      for (int i = 0; i < 6; i++) CHECK_NEAR(numbers[7 + i], (&twists[b].velocity.x)[i], 0);
    }
  }
  CHECK(*at == 0);
  free(text);
}

static int lines_of(const char *path) {
  char *text = text_of(path);
  int lines = 0;
  for (char *c = text; *c; c++) lines += *c == '\n';
  free(text);
  return lines;
}

static void csv(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  test_run_record(path, STEPS);
  CnRun *run;
  CnRunInfo info;
  CHECK_OK(cn_run_open(path, NULL, &run));
  cn_run_info(run, &info);
  CHECK_OK(find("csv")->write(run, path, NULL));
  check_steps_table(run);
  check_frames_table(run);
  CHECK(lines_of(test_path("run-csv/bodies.csv")) == RUN_BODIES + 1);
  CHECK(lines_of(test_path("run-csv/events.csv")) == info.event_count + 1);
  // again into the same folder, and to a place that is none
  CHECK_OK(find("csv")->write(run, path, test_path("run-csv")));
  CHECK_STATUS(find("csv")->write(run, path, test_path("no/such/place")), CN_FILE);
  CHECK_STATUS(find("csv")->write(run, path, path), CN_FILE);
  CHECK(strstr(cn_error_message(), "run.h5") != NULL);
  cn_run_close(run);
}

// A comma for a point would break the table.
static void csv_in_another_locale(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  const char *set = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !set; i++)
    set = setlocale(LC_NUMERIC, names[i]);
  if (!set) skip();
  const char *path = test_path("run.h5");
  test_run_record(path, 10);
  CnRun *run;
  CHECK_OK(cn_run_open(path, NULL, &run));
  CHECK_OK(find("csv")->write(run, path, NULL));
  setlocale(LC_NUMERIC, "C");
  check_steps_table(run);
  cn_run_close(run);
}

// ---- xdmf ----

// Tags open and close in order, and nothing is outside the root. Returns the number of elements.
static int well_formed(const char *text) {
  char open[32][40];
  int depth = 0, elements = 0;
  CHECK(strncmp(text, "<?xml", 5) == 0);
  text = strstr(text, "?>") + 2;
  for (const char *c = strchr(text, '<'); c; c = strchr(c + 1, '<')) {
    char name[40] = "";
    int closing = c[1] == '/';
    CHECK(sscanf(c + 1 + closing, "%39[A-Za-z]", name) == 1);
    const char *last = strchr(c, '>');
    CHECK(last != NULL && !memchr(c + 1, '<', (size_t)(last - c - 1)));
    int quotes = 0;
    for (const char *q = c; q < last; q++) quotes += *q == '"';
    CHECK(quotes % 2 == 0);
    if (closing) {
      CHECK(depth > 0);
      assert_string_equal(open[--depth], name);
    } else if (last[-1] != '/') {
      CHECK(depth < 32);
      memcpy(open[depth++], name, sizeof name);
    }
    elements += !closing;
    CHECK(depth > 0 || !strpbrk(last + 1, "<"));
  }
  CHECK(depth == 0);
  return elements;
}

// Every "FILE:/path" of a text is a dataset there; what stands before it as Dimensions is its size,
// and the selections stay within it. Returns how many there were.
static int check_references(const char *text, const char *file_name, hid_t file) {
  int count = 0;
  size_t length = strlen(file_name);
  for (const char *c = strstr(text, file_name); c; c = strstr(c + 1, file_name)) {
    char path[100];
    long long said[3] = {0}, start[3] = {0}, size[3] = {0};
    hsize_t dims[3];
    CHECK(c[length] == ':' && sscanf(c + length + 1, "%99[^|<]", path) == 1);
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    CHECK(set >= 0);
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    H5Dclose(set);
    const char *end_of_path = c + length + 1 + strlen(path);
    if (*end_of_path == '|') {
      CHECK(sscanf(end_of_path, "|%lld %lld %lld:1 1 1:%lld %lld %lld:%lld %lld %lld", &start[0],
                   &start[1], &start[2], &size[0], &size[1], &size[2], &said[0], &said[1],
                   &said[2]) == 9);
      for (int i = 0; i < 3; i++)
        CHECK(said[i] == (long long)dims[i] && start[i] + size[i] <= said[i]);
      // the same selection for the other readers
      long long again[9];
      const char *next = strstr(end_of_path, "Format=\"XML\">");
      CHECK(sscanf(next, "Format=\"XML\">%lld %lld %lld %lld %lld %lld %lld %lld %lld", &again[0],
                   &again[1], &again[2], &again[3], &again[4], &again[5], &again[6], &again[7],
                   &again[8]) == 9);
      for (int i = 0; i < 3; i++)
        CHECK(again[i] == start[i] && again[3 + i] == 1 && again[6 + i] == size[i]);
    } else {
      const char *tag = c;
      while (*tag != '<') tag--;
      const char *dimensions = strstr(tag, "Dimensions=\"");
      CHECK(dimensions && dimensions < c);
      CHECK(sscanf(dimensions, "Dimensions=\"%lld %lld %lld", &said[0], &said[1], &said[2]) ==
            rank);
      for (int i = 0; i < rank; i++) CHECK(said[i] == (long long)dims[i]);
    }
    count++;
  }
  return count;
}

static void check_page(const char *page, const char *data_path, const char *data_name) {
  char *text = text_of(page);
  CHECK(well_formed(text) > 100);
  hid_t file = H5Fopen(data_path, H5F_ACC_RDONLY, H5P_DEFAULT);
  CHECK(file >= 0);
  // a frame has four columns, said twice each, and four tables
  CHECK(check_references(text, data_name, file) == (STEPS / 5 + 1) * 12);
  H5Fclose(file);
  int times = 0;
  double time;
  for (const char *c = strstr(text, "<Time Value=\""); c; c = strstr(c + 1, "<Time Value=\"")) {
    CHECK(sscanf(c, "<Time Value=\"%lf\"/>", &time) == 1);
    CHECK_NEAR(time, 0.02 * (times % (STEPS / 5 + 1)), 1e-12);
    times++;
  }
  CHECK(times == 2 * (STEPS / 5 + 1)); // of the bodies, and of their shapes
  free(text);
}

// Volume inside the triangles of a frame, by the tetrahedra that they make with the origin.
static void check_shapes(const char *page, double volume) {
  char *text = text_of(page), path[500];
  long long triangles, corners, seek = 0;
  const char *grid = strstr(text, "<Topology TopologyType=\"Triangle\"");
  CHECK(grid != NULL);
  CHECK(sscanf(grid, "<Topology TopologyType=\"Triangle\" NumberOfElements=\"%lld\"", &triangles) ==
        1);
  const char *geometry = strstr(grid, "<Geometry");
  CHECK(sscanf(strstr(geometry, "Dimensions"), "Dimensions=\"%lld", &corners) == 1);
  // the last frame
  for (const char *c = strstr(geometry, "Float"); c; c = strstr(c + 1, "NumberType=\"Float"))
    sscanf(strstr(c, "Seek"), "Seek=\"%lld", &seek);
  snprintf(path, sizeof path, "%s.bin", page);
  FILE *file = fopen(path, "rb");
  int32_t *corner = calloc((size_t)triangles * 3, sizeof *corner);
  float *place = calloc((size_t)corners * 3, sizeof *place);
  CHECK(file && corner && place);
  CHECK(fread(corner, 12, (size_t)triangles, file) == (size_t)triangles);
  CHECK(fseek(file, (long)seek, SEEK_SET) == 0);
  CHECK(fread(place, 12, (size_t)corners, file) == (size_t)corners);
  CHECK(fgetc(file) == EOF);
  double found = 0;
  for (long long t = 0; t < triangles; t++) {
    CnVec3 p[3];
    for (int k = 0; k < 3; k++) {
      int32_t c = corner[3 * t + k];
      CHECK(c >= 0 && c < corners);
      p[k] = cn_vec3((double)place[3 * c], (double)place[3 * c + 1], (double)place[3 * c + 2]);
    }
    found += cn_dot(p[0], cn_cross(p[1], p[2])) / 6;
  }
  CHECK_REL(found, volume, 1e-5);
  fclose(file);
  free(corner);
  free(place);
  free(text);
}

static void xdmf(void **state) {
  (void)state;
  char path[400];
  snprintf(path, sizeof path, "%s", test_path("run & <co>.h5"));
  test_run_record(path, STEPS);
  CnRun *run;
  CHECK_OK(cn_run_open(path, NULL, &run));
  CHECK_OK(find("xdmf")->write(run, path, NULL));
  check_page(test_path("run & <co>.xdmf"), path, ">run &amp; &lt;co&gt;.h5");
  double volume = 0; // of its boxes
  CnRunInfo info;
  cn_run_info(run, &info);
  for (int32_t i = 0; i < info.shape_count; i++) {
    CnRunShape s;
    CHECK_OK(cn_run_shape(run, i, &s));
    CnVec3 h = s.def.half_size;
    if (s.def.kind == CN_SHAPE_BOX) volume += 8 * h.x * h.y * h.z;
  }
  check_shapes(test_path("run & <co>.xdmf"), volume);
  // beside nothing: the run is named by its whole path
  CHECK_STATUS(find("xdmf")->write(run, path, test_path("no/folder/a.xdmf")), CN_FILE);
  cn_run_close(run);
}

// The writer was killed: other programs would not open the run, so they get a copy.
static void xdmf_of_a_killed_run(void **state) {
  (void)state;
  char path[400];
  snprintf(path, sizeof path, "%s", test_path("run.h5"));
  pid_t child = fork();
  if (child == 0) {
    TestRun t;
    test_run_begin(&t, path);
    if (cni_run_writer_create(&t.def, t.world, &t.writer) != CN_OK) _exit(1);
    if (test_run_try(&t, STEPS) != CN_OK || cni_run_writer_flush(t.writer) != CN_OK) _exit(1);
    raise(SIGKILL);
  }
  int ended;
  CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended));
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  CHECK(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
  CnRun *run;
  CHECK_OK(cn_run_open(path, NULL, &run));
  CHECK_OK(find("xdmf")->write(run, path, NULL));
  check_page(test_path("run.xdmf"), test_path("run.xdmf.h5"), ">run.xdmf.h5");
  hid_t file = H5Fopen(test_path("run.xdmf.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t set = H5Dopen2(file, "/frames/position", H5P_DEFAULT);
  double copied[STEPS / 5 + 1][RUN_BODIES][3];
  CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, copied) >= 0);
  H5Dclose(set);
  H5Fclose(file);
  for (int64_t f = 0; f <= STEPS / 5; f++) {
    CnPose poses[RUN_BODIES];
    CHECK_OK(cn_run_frame(run, f, NULL, poses, NULL));
    for (int b = 0; b < RUN_BODIES; b++) CHECK_NEAR(copied[f][b][2], poses[b].position.z, 0);
  }
  cn_run_close(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(csv, begin, end),
      cmocka_unit_test_setup_teardown(csv_in_another_locale, begin, end),
      cmocka_unit_test_setup_teardown(xdmf, begin, end),
      cmocka_unit_test_setup_teardown(xdmf_of_a_killed_run, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
