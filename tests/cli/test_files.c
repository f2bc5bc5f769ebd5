// SPDX-License-Identifier: Apache-2.0
// Files that `cairn run` leaves: run files and checkpoints, after a good end, Ctrl-C, SIGKILL, a
// full disk and a state that is not finite. A resumed run must equal one that never stopped, bit
// for bit, in its final state and in its run file.
#include <cairn/run.h>
#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_case.h"

static CnRun *open_run(const char *path) {
  CnAllocator allocator = cn_allocator_default();
  CnRun *run = NULL;
  CHECK_OK(cn_run_open(path, &allocator, &run));
  return run;
}

static CnRunInfo run_info(CliCase *c, const char *name) {
  CnRunInfo info;
  CnRun *run = open_run(scratch_file(&c->scratch, name));
  cn_run_info(run, &info);
  cn_run_close(run);
  return info;
}

// ---- two runs are the same ----

static void same_series(CnRun *a, CnRun *b, const char *name, int64_t count) {
  double *x = calloc((size_t)count + 1, sizeof *x), *y = calloc((size_t)count + 1, sizeof *y);
  CHECK_OK(cn_run_values(a, name, 0, count, x));
  CHECK_OK(cn_run_values(b, name, 0, count, y));
  if (memcmp(x, y, (size_t)count * sizeof *x) != 0) fail_msg("series %s differ", name);
  free(x);
  free(y);
}

static void same_frames(CnRun *a, CnRun *b, const CnRunInfo *info) {
  size_t n = (size_t)info->body_count + 1;
  CnPose *poses[2] = {calloc(n, sizeof(CnPose)), calloc(n, sizeof(CnPose))};
  CnTwist *twists[2] = {calloc(n, sizeof(CnTwist)), calloc(n, sizeof(CnTwist))};
  for (int64_t i = 0; i < info->frame_count; i++) {
    double times[2];
    CHECK_OK(cn_run_frame(a, i, &times[0], poses[0], twists[0]));
    CHECK_OK(cn_run_frame(b, i, &times[1], poses[1], twists[1]));
    CHECK(times[0] == times[1]);
    CHECK(memcmp(poses[0], poses[1], n * sizeof(CnPose)) == 0);
    CHECK(memcmp(twists[0], twists[1], n * sizeof(CnTwist)) == 0);
  }
  for (int i = 0; i < 2; i++) {
    free(poses[i]);
    free(twists[i]);
  }
}

static void same_runs(const char *path_a, const char *path_b) {
  CnRun *a = open_run(path_a), *b = open_run(path_b);
  CnRunInfo info, other;
  cn_run_info(a, &info);
  cn_run_info(b, &other);
  CHECK(info.complete && other.complete);
  CHECK(info.step_count == other.step_count && info.frame_count == other.frame_count);
  CHECK(info.body_count == other.body_count && info.scalar_count == other.scalar_count);
  for (int32_t i = 0; i < info.scalar_count; i++) {
    CnRunSeries series;
    CHECK_OK(cn_run_scalar(a, i, &series));
    // the clock is not part of the promise
    if (strncmp(series.name, "seconds", 7) == 0) continue;
    same_series(a, b, series.name, info.step_count);
  }
  for (int32_t i = 0; i < info.sensor_count; i++) {
    CnRunSeries series;
    CHECK_OK(cn_run_sensor(a, i, &series));
    same_series(a, b, series.name, info.step_count);
  }
  same_frames(a, b, &info);
  cn_run_close(a);
  cn_run_close(b);
}

// ---- recording ----

static int parse_info_kind(CliCase *c, const char *name, const char *kind) {
  char line[128];
  snprintf(line, sizeof line, "info %s --json", name);
  json_t *object = parse(c, line, 0);
  int same = strcmp(text(object, "kind"), kind) == 0;
  json_decref(object);
  return same;
}

static void recorded(void **state) {
  CliCase *c = *state;
  json_t *object = parse(c, "run granular --set spheres=30 --steps 50 --out run.h5 --json", 0);
  CHECK(strcmp(text(object, "out"), "run.h5") == 0);
  json_decref(object);
  CnRunInfo info = run_info(c, "run.h5");
  CHECK(info.complete && info.step_count == 50 && info.body_count == 31);
  // 0.25 s at 60 a second
  CHECK(info.frame_count >= 15 && info.frame_count <= 17);
  // it is not lost without being asked for
  check_refused(c, "run granular --steps 2 --out run.h5", 1, "run.h5: is there already");
  CHECK(run_info(c, "run.h5").step_count == 50);
  cairn_status(c, "run granular --set spheres=30 --steps 20 --fps 0 --out run.h5 --force -q", 0);
  info = run_info(c, "run.h5");
  CHECK(info.complete && info.step_count == 20 && info.frame_count >= 20);
  // no room at all
  check_refused(c, "run stack --steps 2 --out nowhere/run.h5", 1, "nowhere/run.h5");
  check_refused(c, "run stack --steps 2 --record forces --out x.h5", 2, "(got forces)");
  check_refused(c, "run stack --steps 2 --fps 10", 2, "--fps needs --out");
}

static void info_of_files(void **state) {
  CliCase *c = *state;
  cairn_status(
      c,
      "run granular --set spheres=30 --steps 50 --out run.h5 --checkpoint run.ckpt -q "
      "--record contacts,joints --setting solver.relaxation=0.9 --setting solver.facets=12",
      0);
  json_t *object = parse(c, "info run.h5 --json", 0);
  CHECK(strcmp(text(object, "kind"), "run") == 0);
  CHECK(number(object, "steps") == 50 && number(object, "bodies") == 31);
  CHECK_NEAR(number(object, "time"), 0.25, 1e-12);
  CHECK_NEAR(json_number_value(json_array_get(json_object_get(object, "gravity"), 2)), -9.81, 0);
  CHECK(json_array_size(json_object_get(object, "parameters")) > 0);
  CHECK(json_array_size(json_object_get(object, "scalars")) > 0);
  json_t *settings = json_incref(json_object_get(object, "settings"));
  json_decref(object);
  object = parse(c, "info run.ckpt --json", 0);
  CHECK(strcmp(text(object, "kind"), "checkpoint") == 0);
  CHECK(number(object, "steps") == 50 && number(object, "bodies") == 31);
  check_contains(text(object, "out"), "/run.h5");
  CHECK(json_array_size(json_object_get(object, "settings")) > 30);
  CHECK(json_equal(json_object_get(object, "settings"), settings)); // both tell all of them
  json_decref(settings);
  json_decref(object);
  object = parse(c, "info granular --json", 0);
  CHECK(strcmp(text(object, "kind"), "scene") == 0);
  CHECK(number(object, "bodies") == 1001);
  json_decref(object);
  static const char *const files[] = {"info run.h5", "info run.ckpt", "info granular"};
  for (size_t i = 0; i < 3; i++) {
    cairn_status(c, files[i], 0);
    check_contains(c->command.out, "(0, 0, -9.81) m/s^2");
  }
  check_refused(c, "info nothing.h5", 1, "nothing.h5");
  scratch_write(&c->scratch, "short.h5", "\x89HDF\r\n\x1a\n and no more");
  check_refused(c, "info short.h5", 1, "short.h5");
}

static void exports(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run stack --steps 20 --out run.h5 -q", 0);
  json_t *object = parse(c, "export --json", 0);
  CHECK(json_array_size(json_object_get(object, "formats")) >= 2);
  json_decref(object);
  object = parse(c, "export run.h5 --to csv --json", 0);
  CHECK(strcmp(text(object, "output"), "run-csv") == 0);
  CHECK(file_exists(scratch_file(&c->scratch, "run-csv")));
  json_decref(object);
  cairn_status(c, "export run.h5 --to xdmf", 0);
  check_contains(c->command.out, "exported to run.xdmf");
  CHECK(file_exists(scratch_file(&c->scratch, "run.xdmf")));
  cairn_status(c, "export run.h5 --to xdmf -o other.xdmf -q", 0);
  CHECK(file_exists(scratch_file(&c->scratch, "other.xdmf")));
  check_refused(c, "export run.h5", 2, "--to is missing");
  check_refused(c, "export run.h5 --to xdfm", 2, "did you mean xdmf?");
  check_refused(c, "export nothing.h5 --to csv", 1, "nothing.h5");
}

static void pages(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run stack --steps 20 --out run.h5 -q", 0);
  cairn_status(c, "report run.h5", 0);
  check_contains(c->command.out, "run.html");
  size_t size = 0;
  char *page = file_bytes(scratch_file(&c->scratch, "run.html"), &size);
  CHECK(size > 1000);
  check_contains(page, "</html>");
  free(page);
  json_t *object = parse(c, "report stack --set boxes=3 -o first.html --json", 0);
  CHECK(strcmp(text(object, "output"), "first.html") == 0);
  CHECK(strcmp(text(object, "kind"), "scene") == 0);
  CHECK(file_exists(scratch_file(&c->scratch, "first.html")));
  json_decref(object);
  check_refused(c, "report nothing.h5", 1, "nothing.h5");
  check_refused(c, "report run.h5 --set boxes=3", 2, "is a run");
  check_refused(c, "report run.h5 -o nowhere/run.html", 1, "nowhere/run.html");
}

// ---- Ctrl-C ----

static void interrupted(void **state) {
  CliCase *c = *state;
  command_start(&c->command, CAIRN_COMMAND, &c->scratch,
                "run granular --set spheres=60 --time 1e5 --out run.h5 --checkpoint c --json");
  sleep_seconds(0.5);
  CHECK(kill(c->command.pid, SIGINT) == 0);
  command_wait(&c->command);
  CHECK(c->command.status == 130);
  json_t *object = parse_output(c);
  CnRunInfo info = run_info(c, "run.h5");
  CHECK(!info.complete && info.frame_count > 0);
  CHECK((double)info.step_count == number(object, "steps"));
  // and it goes on from there
  char line[128];
  int64_t end = info.step_count + 30;
  snprintf(line, sizeof line, "run --resume c --steps %lld --json", (long long)end);
  json_t *resumed = parse(c, line, 0);
  CHECK(number(resumed, "first_step") == number(object, "steps"));
  CHECK(number(resumed, "steps") == (double)end);
  CHECK(run_info(c, "run.h5").step_count == end);
  json_decref(object);
  json_decref(resumed);
}

// What a run file was begun without is not dropped in silence.
static void resumed_with_more(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run stack --steps 7 --out run.h5 --checkpoint c --record joints -q", 0);
  command_release(&c->command);
  check_refused(c, "run --resume c --steps 9 --record contacts", 1,
                "run.h5 was begun without contacts: --out NAME --record begins a file");
  cairn_status(c, "run --resume c --steps 9 --record joints -q", 0);
  command_release(&c->command);
  cairn_status(c, "run --resume c --steps 9 --record contacts --out new.h5 -q", 0);
  CHECK(run_info(c, "run.h5").step_count == 9 && run_info(c, "new.h5").contacts_recorded);
}

// Ctrl-C in a run that was to replace another: the old one is kept, the new one lies beside it.
static void interrupted_beside(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run stack --steps 7 --out run.h5 -q", 0);
  command_release(&c->command);
  command_start(
      &c->command, CAIRN_COMMAND, &c->scratch,
      "run granular --set spheres=60 --time 1e5 --out run.h5 --force --checkpoint c --json");
  sleep_seconds(0.5);
  CHECK(kill(c->command.pid, SIGINT) == 0);
  command_wait(&c->command);
  json_t *object = parse_output(c);
  CHECK(strcmp(text(object, "out"), "run.h5.partial") == 0);
  CHECK(run_info(c, "run.h5").step_count == 7);
  CHECK((double)run_info(c, "run.h5.partial").step_count == number(object, "steps"));
  char line[128];
  snprintf(line, sizeof line, "run --resume c --steps %d -q", (int)number(object, "steps") + 1);
  cairn_status(c, line, 0);
  CHECK((double)run_info(c, "run.h5").step_count == number(object, "steps") + 1);
  CHECK(!file_exists(scratch_file(&c->scratch, "run.h5.partial")));
  json_decref(object);
}

// ---- going on ----

#define SCENE "granular --set spheres=60 --threads 1"

static void resumed(void **state) {
  CliCase *c = *state;
  char hash[32];
  json_t *object = parse(c, "run " SCENE " --steps 200 --out whole.h5 --json", 0);
  snprintf(hash, sizeof hash, "%s", text(object, "state_hash"));
  json_decref(object);
  cairn_status(c, "run " SCENE " --steps 90 --out run.h5 --checkpoint c -q", 0);
  // the same line again, or none of it
  object = parse(c, "run " SCENE " --steps 150 --out run.h5 --checkpoint c --resume c --json", 0);
  CHECK(number(object, "first_step") == 90);
  json_decref(object);
  object = parse(c, "run --resume c --steps 200 --json --threads 2", 0);
  CHECK(strcmp(hash, text(object, "state_hash")) == 0);
  json_decref(object);
  same_runs(scratch_file(&c->scratch, "whole.h5"), scratch_file(&c->scratch, "run.h5"));
}

// What was recorded beside the frames goes on being recorded, without being asked for again.
static void resumed_record(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run chain --steps 20 --out run.h5 --fps 0 --record joints --checkpoint c -q", 0);
  cairn_status(c, "run --resume c --steps 40 -q", 0);
  CnRunInfo info = run_info(c, "run.h5");
  CHECK(info.joints_recorded && !info.contacts_recorded);
  CHECK(info.step_count == 40 && info.frame_count == 41);
  // a new name begins there
  cairn_status(c, "run --resume c --set links=5 --steps 60 --out more.h5 -q", 1);
  cairn_status(c, "run --resume c --steps 60 --out more.h5 -q", 0);
  CHECK(run_info(c, "more.h5").step_count == 40);
  // a run file that is gone
  unlink(scratch_file(&c->scratch, "run.h5"));
  check_refused(c, "run --resume c --steps 40", 1, "run.h5");
}

// Settled with one time step, varied with another: --time is the time of the world all the same.
static void resumed_with_another_step(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run slope --h 0.001 --time 0.5 --checkpoint c -q", 0);
  static const struct {
    const char *line;
    double time, steps;
  } rows[] = {{"run --resume c --set mu=0.2 --h 0.002 --time 1 --checkpoint d --json", 1, 750},
              {"run --resume c --set mu=0.2 --h 0.0005 --time 1 --json", 1, 1500},
              {"run --resume c --set mu=0.2 --h 0.003 --time 0.51 --json", 0.512, 504},
              {"run --resume c --set mu=0.2 --h 0.01 --time 0.4 --json", 0.5, 500},
              {"run --resume c --set mu=0.2 --h 0.01 --steps 510 --json", 0.6, 510},
              {"run --resume d --time 1.1 --json", 1.1, 800},
              {"run --resume c --time 1 --json", 1, 1000}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    json_t *object = parse(c, rows[i].line, 0);
    CHECK_NEAR(number(object, "time"), rows[i].time, 1e-9);
    CHECK(number(object, "steps") == rows[i].steps);
    json_decref(object);
  }
}

static void resumed_wrongly(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run " SCENE " --steps 10 --checkpoint c -q", 0);
  check_refused(c, "run --resume c --h 0.001", 1, "another --h");
  check_refused(c, "run --resume c --solver pssor", 1, "another --solver");
  check_refused(c, "run --resume c --iters 3", 1, "another --iters");
  check_refused(c, "run --resume c --friction convex", 1, "another --friction");
  check_refused(c, "run --resume c --setting solver.facets=12", 1, "another --setting");
  check_refused(c, "run granular --set spheres=61 --resume c", 1,
                "there are 62 bodies instead of 61");
  check_refused(c, "run stack --resume c", 1, "c: was not made from stack: ");
  check_refused(c, "run --resume nothing", 1, "nothing");
  scratch_write(&c->scratch, "scene.json", "{\"bodies\": []}");
  check_refused(c, "run --resume scene.json", 1, "scene.json");
  check_refused(c, "run stack --steps 3 --checkpoint scene.json", 1, "is no checkpoint");
  // a damaged one
  FILE *file = fopen(scratch_file(&c->scratch, "c"), "r+");
  CHECK(file != NULL && fseek(file, -9, SEEK_END) == 0);
  int byte = fgetc(file);
  fseek(file, -1, SEEK_CUR);
  fputc(byte ^ 4, file);
  fclose(file);
  check_refused(c, "run --resume c", 1, "cairn: c: ");
}

// A source that is seldom free says so at the end, and in the figures.
static void source_blocked(void **state) {
  CliCase *c = *state;
  scratch_write(
      &c->scratch, "s.json",
      "{\"settings\": {\"gravity\": [0, 0, 0], \"time\": 0.05}, \"sources\": [{\"name\": \"feed\","
      " \"rate\": 1000, \"region\": {\"min\": [0, 0, 0], \"max\": [0, 0, 0.05]}, \"bodies\":"
      " [{\"repeat\": 5, \"items\": [{\"shapes\": [{\"kind\": \"sphere\", \"radius\": "
      "0.1}]}]}]}]}");
  cairn_status(c, "run s.json", 0);
  check_contains(c->command.err, "source feed has let go 1 body where its rate asks for 5: its "
                                 "region is seldom free");
  cairn_status(c, "run s.json -q", 0);
  CHECK(c->command.err[0] == 0);
  json_t *object = parse(c, "run s.json --json -q", 0);
  json_t *source = json_array_get(json_object_get(object, "sources"), 0);
  CHECK(number(source, "let_go") == 1 && number(source, "due") == 5);
  json_decref(object);
}

// ---- killed ----

// CAIRN_KILLS: how many runs are killed.
#define KILLED_RUNS 20

// Where the bytes of an unfinished run are: at its name, or beside a file that it will replace.
static void killed_file_opens(CliCase *c) {
  static const char *const names[] = {"run.h5", "run.h5.partial"};
  for (size_t i = 0; i < 2; i++) {
    const char *path = scratch_file(&c->scratch, names[i]);
    if (file_exists(path)) cn_run_close(open_run(path));
  }
}

static void killed(void **state) {
  CliCase *c = *state;
  static const char start[] =
      "run " SCENE " --steps 300 --out run.h5 --checkpoint c --checkpoint-every 0.02 --json";
  json_t *object = parse(c, "run " SCENE " --steps 300 --out whole.h5 --json", 0);
  char hash[32];
  snprintf(hash, sizeof hash, "%s", text(object, "state_hash"));
  double seconds = number(object, "seconds") + 0.05;
  json_decref(object);
  uint64_t random = 20240229;
  const char *asked = getenv("CAIRN_KILLS");
  int resumes = 0, count = asked ? atoi(asked) : KILLED_RUNS;
  for (int i = 0; i < count; i++) {
    unlink(scratch_file(&c->scratch, "run.h5"));
    unlink(scratch_file(&c->scratch, "c"));
    random = random * 6364136223846793005u + 1442695040888963407u;
    command_release(&c->command);
    command_start(&c->command, CAIRN_COMMAND, &c->scratch, start);
    sleep_seconds(1.1 * seconds * (double)(random >> 11) * 0x1p-53);
    kill(c->command.pid, SIGKILL);
    command_wait(&c->command);
    CHECK(c->command.status == 1000 + SIGKILL || c->command.status == 0);
    killed_file_opens(c);
    int go_on = file_exists(scratch_file(&c->scratch, "c"));
    resumes += go_on;
    object = parse(c,
                   go_on ? "run --resume c --json"
                         : "run " SCENE " --steps 300 --out run.h5 --force --json",
                   0);
    CHECK(number(object, "steps") == 300);
    CHECK(strcmp(hash, text(object, "state_hash")) == 0);
    json_decref(object);
    same_runs(scratch_file(&c->scratch, "whole.h5"), scratch_file(&c->scratch, "run.h5"));
  }
  print_message("%d runs killed, %d resumed from a checkpoint\n", count, resumes);
  CHECK(resumes >= count / 3);
}

// ---- a full disk ----

// One line, and what was flushed before is there: a checkpoint after every step flushes every step.
static void check_full(CliCase *c, const char *folder) {
  char line[512], path[128];
  snprintf(line, sizeof line,
           "run " SCENE
           " --steps 100000 --fps 0 --out %srun.h5 --checkpoint ck --checkpoint-every 0 "
           "-q",
           folder);
  snprintf(path, sizeof path, "%srun.h5", folder);
  check_refused(c, line, 1, "run.h5: ");
  c->command.file_limit = 0;
  CnRunInfo info = run_info(c, path);
  CHECK(info.frame_count > 1 && info.step_count > 0 && !info.complete);
  // the checkpoint is whole and lies within the file
  json_t *object = parse(c, "info ck --json", 0);
  CHECK(number(object, "steps") > 0 && number(object, "steps") <= (double)info.step_count);
  json_decref(object);
}

static void file_limit(void **state) {
  CliCase *c = *state;
  c->command.file_limit = 600000;
  check_full(c, "");
  // no room for a checkpoint: the old one stays
  size_t sizes[2];
  char *before = file_bytes(scratch_file(&c->scratch, "ck"), &sizes[0]);
  c->command.file_limit = 4096;
  check_refused(c, "run " SCENE " --steps 20 --checkpoint ck -q", 1, "cairn: ck");
  c->command.file_limit = 0;
  char *after = file_bytes(scratch_file(&c->scratch, "ck"), &sizes[1]);
  CHECK(sizes[0] > 4096 && sizes[0] == sizes[1] && memcmp(before, after, sizes[0]) == 0);
  free(before);
  free(after);
  CHECK(parse_info_kind(c, "ck", "checkpoint"));
}

// A file system of 600 kB, where the machine lets us have one.
static void disk_full(void **state) {
  CliCase *c = *state;
  char folder[300];
  snprintf(folder, sizeof folder, "%s", scratch_file(&c->scratch, "disk"));
  CHECK(mkdir(folder, 0700) == 0);
  if (mount("cairn-test", folder, "tmpfs", 0, "size=600k") != 0) {
    print_message("no file system of its own: %s\n", strerror(errno));
    rmdir(folder);
    skip();
  }
  check_full(c, "disk/");
  CHECK(umount(folder) == 0);
  rmdir(folder);
}

// ---- a state that leaves the real numbers ----

static void not_finite(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "far.json",
                "{\"settings\": {\"gravity\": [0, 0, -1e305], \"time_step\": 1},"
                " \"bodies\": [{\"name\": \"comet\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}");
  check_refused(c, "run far.json --time 1e9 -q --fps 0 --out run.h5", 1, "comet");
  int step = 0;
  CHECK(sscanf(c->command.err, "cairn: far.json: step %d: ", &step) == 1 && step > 2);
  CnRunInfo info = run_info(c, "run.h5");
  CHECK(info.step_count == step - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CLI_TEST(recorded),
      CLI_TEST(info_of_files),
      CLI_TEST(exports),
      CLI_TEST(pages),
      CLI_TEST(interrupted),
      CLI_TEST(interrupted_beside),
      CLI_TEST(resumed_with_more),
      CLI_TEST(resumed),
      CLI_TEST(resumed_record),
      CLI_TEST(resumed_wrongly),
      CLI_TEST(resumed_with_another_step),
      CLI_TEST(source_blocked),
      CLI_TEST(killed),
      CLI_TEST(file_limit),
      CLI_TEST(disk_full),
      CLI_TEST(not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
