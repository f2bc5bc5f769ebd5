// SPDX-License-Identifier: Apache-2.0
// Runs that end badly: killed at any moment, cut off at any write, out of disk. What was committed
// is read back right, and resuming gives the file of an undisturbed run.
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hdf5.h>

#include "core/rng.h"
#include "io/run/run_private.h"
#include "runs.h"

#define STEPS 100 // 20 frames after the first

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

// ---- the right answers ----

typedef struct Truth {
  CnPose poses[STEPS / 5 + 1][RUN_BODIES];
  double kinetic[STEPS];
  int64_t events[STEPS + 1]; // up to and including the step
} Truth;

static Truth truth;

// Contacts as a run tells them: begun with the first impulse, ended without one and without a contact.
#define SHAPES 16
static int touching[SHAPES][SHAPES];

static int64_t count_events(const CnWorld *world) {
  int near[SHAPES][SHAPES] = {0}, presses[SHAPES][SHAPES] = {0};
  CnWorldInfo info;
  int64_t count = 0;
  cn_world_info(world, &info);
  for (int32_t i = 0; i < info.contact_count; i++) {
    CnContact c;
    CHECK_OK(cn_world_contact(world, i, &c));
    CHECK(c.shape_a.slot < SHAPES && c.shape_b.slot < SHAPES);
    near[c.shape_a.slot][c.shape_b.slot] = 1;
    presses[c.shape_a.slot][c.shape_b.slot] |= c.force.x != 0 || c.force.y != 0 || c.force.z != 0;
  }
  for (int a = 0; a < SHAPES; a++)
    for (int b = 0; b < SHAPES; b++) {
      int now = presses[a][b] || (touching[a][b] && near[a][b]);
      count += now != touching[a][b];
      touching[a][b] = now;
    }
  return count;
}

static int find_truth(void **state) {
  (void)state;
  TestRun t;
  test_run_begin(&t, "none");
  for (int step = 0; step <= STEPS; step++) {
    int32_t i = 0;
    CnWorldSums sums;
    if (step > 0) CHECK_OK(cn_world_step(t.world, NULL));
    for (CnBodyId b = cn_world_next_body(t.world, (CnBodyId){0, 0}); b.slot && step % 5 == 0;
         b = cn_world_next_body(t.world, b))
      CHECK_OK(cn_body_pose(t.world, b, &truth.poses[step / 5][i++]));
    cn_world_sums(t.world, &sums);
    if (step > 0) truth.kinetic[step - 1] = sums.kinetic_energy;
    truth.events[step] = step > 0 ? truth.events[step - 1] + count_events(t.world) : 0;
  }
  test_run_end(&t);
  return 0;
}

// All that a file says it holds is right. Returns the number of steps.
static int64_t check_run(const char *path) {
  CnRun *run = NULL;
  CHECK_OK(cn_run_open(path, NULL, &run));
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK(info.body_count == RUN_BODIES && info.step_count <= STEPS);
  CHECK(info.frame_count == info.step_count / 5 + 1);
  CHECK(info.event_count == truth.events[info.step_count]);
  double kinetic[STEPS];
  CHECK_OK(cn_run_values(run, "kinetic_energy", 0, info.step_count, kinetic));
  assert_memory_equal(kinetic, truth.kinetic, (size_t)info.step_count * sizeof(double));
  for (int64_t f = 0; f < info.frame_count; f++) {
    CnPose poses[RUN_BODIES];
    int32_t count;
    CHECK_OK(cn_run_frame(run, f, NULL, poses, NULL));
    assert_memory_equal(poses, truth.poses[f], sizeof poses);
    CHECK_OK(cn_run_contacts(run, f, NULL, 0, &count));
  }
  cn_run_close(run);
  return info.step_count;
}

// The way other programs open it, through HDF5's own driver; at least so many frames are there.
static void check_by_hdf5(const char *path, int64_t steps) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT);
  CHECK(file >= 0);
  hid_t set = H5Dopen2(file, "/frames/position", H5P_DEFAULT), space = H5Dget_space(set);
  hsize_t dims[3];
  CHECK(H5Sget_simple_extent_dims(space, dims, NULL) == 3);
  CHECK((int64_t)dims[0] >= steps / 5 + 1 && dims[1] == RUN_BODIES && dims[2] == 3);
  double *values = malloc(dims[0] * dims[1] * dims[2] * sizeof *values);
  CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  for (int64_t f = 0; f <= steps / 5; f++)
    CHECK_NEAR(values[(f * RUN_BODIES + 3) * 3 + 2], truth.poses[f][3].position.z, 0);
  free(values);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
}

// ---- killed ----

static CnStatus save(const TestRun *t, const char *path) {
  CnWorldInfo info;
  CnCheckpoint c = {.scene_text = "", .scene_label = "", .allocator = cn_allocator_default()};
  cn_world_info(t->world, &info);
  CHECK_OK(cn_world_save(t->world, NULL, 0, &c.snapshot_size));
  c.snapshot = malloc(c.snapshot_size);
  CHECK_OK(cn_world_save(t->world, c.snapshot, c.snapshot_size, &c.snapshot_size));
  c.step = info.step;
  CnStatus status = cn_checkpoint_write(path, &c);
  free(c.snapshot);
  return status;
}

// A run that flushes and saves all the time, over and over until somebody ends it.
static void busy_child(const char *path, const char *checkpoint) {
  TestRun t;
  test_run_begin(&t, path);
  if (cni_run_writer_create(&t.def, t.world, &t.writer) != CN_OK) _exit(1);
  for (int step = 1; step <= STEPS; step++) {
    if (test_run_try(&t, 1) != CN_OK) _exit(1);
    if (step % 3 == 0 && cni_run_writer_flush(t.writer) != CN_OK) _exit(1);
    if (step % 6 == 0 && save(&t, checkpoint) != CN_OK) _exit(1);
  }
  if (cni_run_writer_close(t.writer) != CN_OK) _exit(1);
  _exit(0);
}

// Go on from a checkpoint, or from the beginning without one, to the end.
static void go_on(const char *path, const char *checkpoint) {
  TestRun t;
  test_run_begin(&t, path);
  if (test_exists(checkpoint)) {
    CnCheckpoint c;
    CHECK_OK(cn_checkpoint_read(checkpoint, NULL, &c));
    CHECK_OK(cn_world_restore(t.world, c.snapshot, c.snapshot_size));
    CHECK_OK(cni_run_writer_resume(&t.def, t.world, c.step, &t.writer));
    test_run_steps(&t, STEPS - (int)c.step);
    cn_checkpoint_release(&c);
  } else {
    t.def.replace = 1;
    CHECK_OK(cni_run_writer_create(&t.def, t.world, &t.writer));
    test_run_steps(&t, STEPS);
  }
  CHECK_OK(cni_run_writer_close(t.writer));
  test_run_end(&t);
}

static void killed(void **state) {
  (void)state;
  char path[400], checkpoint[400], whole[400];
  snprintf(path, sizeof path, "%s", test_path("run.h5"));
  snprintf(checkpoint, sizeof checkpoint, "%s", test_path("run.ckp"));
  snprintf(whole, sizeof whole, "%s", test_path("whole.h5"));
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  pid_t child = fork();
  if (child == 0) busy_child(whole, test_path("whole.ckp"));
  int ended;
  CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  clock_gettime(CLOCK_MONOTONIC, &after);
  double seconds =
      (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
  CHECK(check_run(whole) == STEPS);

  CniRng rng = {.state = 20};
  int interrupted = 0, resumed = 0;
  for (int round = 0; round < 20; round++) {
    unlink(path);
    unlink(checkpoint);
    child = fork();
    if (child == 0) busy_child(path, checkpoint);
    double wait = seconds * cni_rng_unit(&rng);
    nanosleep(&(struct timespec){(time_t)wait, (long)(1e9 * (wait - (double)(time_t)wait))}, NULL);
    kill(child, SIGKILL);
    CHECK(waitpid(child, &ended, 0) == child);
    interrupted += WIFSIGNALED(ended) ? 1 : 0;
    // killed before there was anything, or readable
    if (test_exists(path)) check_by_hdf5(path, check_run(path));
    resumed += test_exists(checkpoint);
    go_on(path, checkpoint);
    CHECK(check_run(path) == STEPS);
    CHECK(test_runs_equal(whole, path) > 40);
  }
  CHECK(interrupted > 0 && resumed > 0);
}

// Read while it is being written, by another process.
static void watched(void **state) {
  (void)state;
  char path[400], checkpoint[400];
  snprintf(path, sizeof path, "%s", test_path("run.h5"));
  snprintf(checkpoint, sizeof checkpoint, "%s", test_path("run.ckp"));
  int ended = 0, seen = 0;
  int64_t last = -1;
  pid_t child = fork();
  if (child == 0) busy_child(path, checkpoint);
  while (waitpid(child, &ended, WNOHANG) == 0) {
    if (!test_exists(path)) continue;
    int64_t steps = check_run(path);
    CHECK(steps >= last);
    seen += steps > last;
    last = steps;
  }
  CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  CHECK(check_run(path) == STEPS && seen > 1);
}

// ---- the disk ----

// A run of 30 steps, brought to disk every 6, on a disk that takes so many writes from the moment
// the file has its name (creating: or before). Returns the first failure.
static CnStatus limited_run(const char *path, int64_t writes, int *failed_early) {
  TestRun t;
  test_run_begin(&t, path);
  *failed_early = 0;
  CHECK_OK(cni_run_writer_create(&t.def, t.world, &t.writer));
  t.writer->disk.writes_left = writes;
  CnStatus status = CN_OK;
  for (int i = 0; i < 5 && status == CN_OK; i++) {
    status = test_run_try(&t, 6);
    if (status == CN_OK) status = cni_run_writer_flush(t.writer);
  }
  char message[512];
  snprintf(message, sizeof message, "%s", cn_error_message());
  if (status != CN_OK) {
    *failed_early = 1;
    CHECK(strstr(message, "No space left on device") && strstr(message, path));
    CHECK(!strchr(message, '\n'));
    CHECK_STATUS(cni_run_writer_flush(t.writer), CN_FILE);
  }
  CnStatus closed = CN_FILE;
  if (status != CN_OK)
    CHECK_STATUS(cni_run_writer_close(t.writer), CN_FILE);
  else
    closed = cni_run_writer_close(t.writer);
  test_run_end(&t);
  return closed;
}

// Cut off at every third write, with CAIRN_WRITES at every single one: whatever HDF5 was in the middle of,
// the file is good up to the last flush.
static void every_write(void **state) {
  (void)state;
  char path[400];
  snprintf(path, sizeof path, "%s", test_path("run.h5"));
  int64_t most = 0;
  int lost = 0, stride = getenv("CAIRN_WRITES") ? 1 : 3;
  for (int64_t n = 0;; n += stride) {
    int failed_early;
    unlink(path);
    CnStatus status = limited_run(path, n, &failed_early);
    int64_t steps = check_run(path);
    CHECK(steps >= most && steps % 6 == 0); // more writes, more steps
    most = steps;
    if (steps < 30) lost++;
    if (status == CN_OK) break;
    CHECK(n < 100000);
  }
  CHECK(most == 30 && lost > 20);
}

// The limit on the size of files is a full disk without a disk.
static struct rlimit limit_files(rlim_t bytes) {
  struct rlimit before, now;
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  now = before;
  now.rlim_cur = bytes;
  CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
  return before;
}

static void full_disk(void **state) {
  (void)state;
  signal(SIGXFSZ, SIG_IGN);
  const char *path = test_path("run.h5"), *unfinished = test_path("run.h5.new");
  // no room for the description: nothing is left behind
  TestRun t;
  test_run_begin(&t, path);
  struct rlimit before = limit_files(10000);
  CHECK_STATUS(cni_run_writer_create(&t.def, t.world, &t.writer), CN_FILE);
  CHECK(strstr(cn_error_message(), "File too large") && strstr(cn_error_message(), path));
  CHECK(!test_exists(path) && !test_exists(unfinished));
  // room for that, and for some steps
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  t.def.frames_per_second = 0;
  CHECK_OK(cni_run_writer_create(&t.def, t.world, &t.writer));
  before = limit_files(700000);
  CnStatus status = CN_OK;
  int64_t kept = 0;
  for (int i = 0; i < 400 && status == CN_OK; i++) {
    status = test_run_try(&t, 10);
    if (status == CN_OK) status = cni_run_writer_flush(t.writer);
    if (status == CN_OK) kept += 10;
  }
  CHECK_FAILED(status, CN_FILE);
  CHECK(strstr(cn_error_message(), "File too large") && kept > 0);
  CHECK_STATUS(cni_run_writer_close(t.writer), CN_FILE);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  test_run_end(&t);
  CnRun *run;
  CnRunInfo info;
  CHECK_OK(cn_run_open(path, NULL, &run));
  cn_run_info(run, &info);
  CHECK(info.step_count == kept && info.frame_count == kept + 1 && info.complete == 0);
  CnPose poses[RUN_BODIES];
  CHECK_OK(cn_run_frame(run, kept, NULL, poses, NULL));
  cn_run_close(run);
}

// Replacing another run: the old one stays.
static void full_disk_keeps_the_old(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  test_run_record(path, 20);
  TestRun t;
  test_run_begin(&t, path);
  t.def.replace = 1;
  CHECK_OK(cni_run_writer_create(&t.def, t.world, &t.writer));
  test_run_steps(&t, 30);
  t.writer->disk.writes_left = 5;
  CHECK_STATUS(cni_run_writer_close(t.writer), CN_FILE);
  CHECK(strstr(cn_error_message(), "run.h5.partial") != NULL);
  test_run_end(&t);
  CHECK(check_run(path) == 20);
  CHECK(test_exists(test_path("run.h5.partial")));
}

// ---- resuming ----

static void resume_at(int step, int steps_of_first, int complete) {
  char path[400], whole[400];
  snprintf(path, sizeof path, "%s", test_path("run.h5"));
  snprintf(whole, sizeof whole, "%s", test_path("whole.h5"));
  if (!test_exists(whole)) test_run_record(whole, STEPS);
  unlink(path);
  TestRun t;
  test_run_begin(&t, path);
  CHECK_OK(cni_run_writer_create(&t.def, t.world, &t.writer));
  test_run_steps(&t, step);
  size_t size;
  CHECK_OK(cn_world_save(t.world, NULL, 0, &size));
  void *snapshot = malloc(size);
  CHECK_OK(cn_world_save(t.world, snapshot, size, &size));
  test_run_steps(&t, steps_of_first - step);
  CHECK_OK(complete ? cni_run_writer_close(t.writer) : cni_run_writer_abandon(t.writer));
  CHECK_OK(cn_world_restore(t.world, snapshot, size));
  free(snapshot);
  // a run goes on as it began, whatever is asked now
  t.def.record_contacts = t.def.record_joints = 0;
  CHECK_OK(cni_run_writer_resume(&t.def, t.world, step, &t.writer));
  CHECK(test_exists(test_path("run.h5.partial")) == complete);
  CHECK(check_run(path) == (complete ? steps_of_first : step));
  test_run_steps(&t, STEPS - step);
  CHECK_OK(cni_run_writer_close(t.writer));
  CHECK(!test_exists(test_path("run.h5.partial")) && !test_exists(test_path("run.h5.new")));
  test_run_end(&t);
  CHECK(test_runs_equal(whole, path) > 40);
}

static void resumed(void **state) {
  (void)state;
  resume_at(0, 17, 0);
  resume_at(40, 63, 0);
  resume_at(43, 43, 0);
  resume_at(44, 90, 1);
  resume_at(100, 100, 1);
}

static void resumed_wrongly(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  TestRun t;
  test_run_begin(&t, path);
  CHECK_STATUS(cni_run_writer_resume(&t.def, t.world, 0, &t.writer), CN_FILE);
  CHECK(strstr(cn_error_message(), "No such file") != NULL);
  test_run_record(path, 20);
  // a step that the world is not at, one that the file does not hold
  CHECK_STATUS(cni_run_writer_resume(&t.def, t.world, 5, &t.writer), CN_INVALID_ARGUMENT);
  for (int i = 0; i < 21; i++) CHECK_OK(cn_world_step(t.world, NULL));
  CHECK_STATUS(cni_run_writer_resume(&t.def, t.world, 21, &t.writer), CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), "21") && strstr(cn_error_message(), "20"));
  // another rate
  t.def.frames_per_second = 25;
  CHECK_STATUS(cni_run_writer_resume(&t.def, t.world, 21, &t.writer), CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), "frames per second") != NULL);
  CHECK(t.writer == NULL);
  test_run_end(&t);
  // another value of a parameter
  CnSetting mu = {"mu", 0.3};
  CnRun *run;
  CnRunInfo info;
  CHECK_OK(cn_run_open(path, NULL, &run));
  cn_run_info(run, &info);
  test_run_begin(&t, path);
  CnScene *other = NULL;
  CHECK_OK(
      cn_scene_parse(info.scene_text, strlen(info.scene_text), "everything", &mu, 1, NULL, &other));
  t.def.scene = other;
  CHECK_STATUS(cni_run_writer_resume(&t.def, t.world, 0, &t.writer), CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), "mu") != NULL);
  cn_scene_destroy(other);
  cn_run_close(run);
  test_run_end(&t);
  CHECK(check_run(path) == 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(killed, begin, end),
      cmocka_unit_test_setup_teardown(watched, begin, end),
      cmocka_unit_test_setup_teardown(every_write, begin, end),
      cmocka_unit_test_setup_teardown(full_disk, begin, end),
      cmocka_unit_test_setup_teardown(full_disk_keeps_the_old, begin, end),
      cmocka_unit_test_setup_teardown(resumed, begin, end),
      cmocka_unit_test_setup_teardown(resumed_wrongly, begin, end),
  };
  return cmocka_run_group_tests(tests, find_truth, NULL);
}
