// SPDX-License-Identifier: Apache-2.0
// Recorded runs for tests of the files they leave: a small scene with everything in it (plane,
// balls, a box, a joint, sensors, impacts, friction), stepped and written.
#ifndef TESTS_RUNS_H
#define TESTS_RUNS_H

#include <cairn/scene.h>

#include "io/io.h"

#define RUN_BALLS 6
#define RUN_BODIES (RUN_BALLS + 3) // floor, box, balls, bob
#define RUN_STEP 0.004             // s

typedef struct TestRun {
  CnScene *scene;
  CnWorldDef world_def;
  CnWorld *world;
  CniRunWriterDef def; // contacts and joints recorded, 50 frames a second, no replacing
  CniRunWriter *writer;
} TestRun;

// The scene filled into a world; nothing is written yet.
void test_run_begin(TestRun *run, const char *path);
// Step and record, which must succeed.
void test_run_steps(TestRun *run, int count);
// The same up to the first failure, whose status is returned.
CnStatus test_run_try(TestRun *run, int count);
void test_run_end(TestRun *run);
// All of it: a complete run of so many steps.
void test_run_record(const char *path, int steps);
// The same, not packed.
void test_run_record_plain(const char *path, int steps);

// Two closed run files must have the same datasets with the same bytes and the same attributes, up
// to the measured times. Returns how many datasets were compared.
int test_runs_equal(const char *path_a, const char *path_b);

// The value of the sensor of that name, which has that unit; `values` as cn_scene_measure gives them.
double test_sensor(const CnScene *scene, const double *values, const char *name, const char *unit);

// A folder of the test's own under the build's temporary place, removed with all in it at the end.
const char *test_folder_make(void);
void test_folder_remove(void);
// A path in it, in one of eight buffers that are used in turn.
const char *test_path(const char *name);
int test_exists(const char *path);

#endif
