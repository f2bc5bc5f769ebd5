// SPDX-License-Identifier: Apache-2.0
// Nothing that is read is written over: an output that is one of the inputs, under any name, is refused with one
// sentence and every file stays as it was, to the last byte.
#include <cairn/checkpoint.h>
#include <cairn/record.h>
#include <cairn/tools.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli_case.h"

#define LOST "is one of the files that are read"

static const char part[] = "{\"materials\": {\"m\": {\"friction\": 0.5}}}";
static const char mesh[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
static const char scene[] =
    "{\"include\": [\"part.json\"], \"settings\": {\"time\": 0.05}, \"parameters\": {\"z\": 2},"
    " \"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
    " {\"name\": \"b\", \"position\": [0, 0, \"=z\"],"
    " \"shapes\": [{\"kind\": \"mesh\", \"file\": \"mesh.obj\", \"as\": \"hull\"}]}],"
    " \"sensors\": [{\"name\": \"h\", \"kind\": \"position\", \"body\": \"b\", \"axis\": \"z\"}]}";
static const char robot[] = "<robot name=\"r\"><link name=\"l\"><inertial><mass "
                            "value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" "
                            "ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link></robot>";
static const char cases[] = "z\n2\n3\n";

// name, text; null: made by the command
static const char *const files[][2] = {
    {"part.json", part},  {"mesh.obj", mesh}, {"scene.json", scene}, {"robot.urdf", robot},
    {"cases.csv", cases}, {"run.h5", NULL},   {"start.ckpt", NULL}};
#define FILES (sizeof files / sizeof files[0])

typedef struct Kept {
  char *bytes;
  size_t size;
} Kept;

static void write_files(CliCase *c) {
  for (size_t i = 0; i < FILES; i++)
    if (files[i][1]) scratch_write(&c->scratch, files[i][0], files[i][1]);
  cairn_status(c, "run scene.json --out run.h5 --checkpoint start.ckpt -q", 0);
}

static void read_files(CliCase *c, Kept kept[FILES]) {
  for (size_t i = 0; i < FILES; i++)
    kept[i].bytes = file_bytes(scratch_file(&c->scratch, files[i][0]), &kept[i].size);
}

static void same_files(CliCase *c, const Kept kept[FILES], const char *line) {
  for (size_t i = 0; i < FILES; i++) {
    Kept now;
    now.bytes = file_bytes(scratch_file(&c->scratch, files[i][0]), &now.size);
    if (now.size != kept[i].size || memcmp(now.bytes, kept[i].bytes, now.size) != 0)
      fail_msg("cairn %s: %s is not what it was", line, files[i][0]);
    free(now.bytes);
  }
}

static void release(Kept kept[FILES]) {
  for (size_t i = 0; i < FILES; i++) free(kept[i].bytes);
}

// ---- the command ----

static const char *const lines[] = {
    "report run.h5 -o run.h5",
    "report run.h5 -o ./run.h5",
    "report run.h5 -o folder/../run.h5",
    "report folder/link.h5 -o run.h5",
    "report run.h5 -o folder/link.h5",
    "report run.h5 -o hard.h5",
    "report run.h5 run.h5 -o run.h5",
    "report part.h5.partial -o part.h5", // written as part.h5.partial
    "report scene.json -o scene.json",
    "report scene.json -o part.json",
    "report scene.json -o mesh.obj",
    "report robot.urdf -o robot.urdf",
    "export run.h5 --to gltf -o run.h5",
    "export run.h5 --to xdmf -o run.h5",
    "export run.h5 --to gltf -o folder/link.h5",
    "plot run.png h -o run.png", // a run by an odd name
    "render run.png -o run.png",
    "convert scene.json -o scene.json --force",
    "convert scene.json -o part.json --force",
    "convert robot.urdf -o ./robot.urdf --force",
    "run scene.json --out scene.json --force",
    "run scene.json --out part.json --force",
    "run scene.json --out folder/../mesh.obj --force",
    "run scene.json --checkpoint scene.json --force",
    "run scene.json --checkpoint mesh.obj --force",
    "run robot.urdf --out robot.urdf --force --steps 2",
    "run --resume start.ckpt --out ./start.ckpt --force --time 1 --set z=2",
    "equilibrium scene.json -o scene.json",
    "sweep scene.json --set z=2,3 -o scene.json --force",
    "sweep scene.json --set z=2,3 -o part.json --force",
    "sweep scene.json --cases cases.csv -o cases.csv --force",
};

static void test_refused(void **state) {
  CliCase *c = *state;
  Kept kept[FILES];
  char path[1024];
  write_files(c);
  CHECK(mkdir(scratch_file(&c->scratch, "folder"), 0777) == 0);
  CHECK(symlink("../run.h5", scratch_file(&c->scratch, "folder/link.h5")) == 0);
  static const char *const others[] = {"hard.h5", "part.h5.partial", "run.png"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    snprintf(path, sizeof path, "%s", scratch_file(&c->scratch, "run.h5"));
    CHECK(link(path, scratch_file(&c->scratch, others[i])) == 0);
  }
  read_files(c, kept);
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    int status = cairn(c, lines[i]);
    if (status == 0 || !strstr(c->command.err, LOST))
      fail_msg("cairn %s: status %d, not refused: %s", lines[i], status, c->command.err);
    CHECK(line_count(c->command.err) == 1);
    same_files(c, kept, lines[i]);
  }
  release(kept);
}

// What is no input may be written over as before.
static void test_allowed(void **state) {
  CliCase *c = *state;
  static const char *const good[] = {
      "report run.h5 -o out.html",
      "report run.h5 -o out.html",
      "report scene.json -o out.html",
      "run scene.json --out run.h5 --force -q",
      "run --resume start.ckpt --time 0.1 --checkpoint start.ckpt -q",
      "convert robot.urdf -o out.json",
      "export run.h5 --to csv",
      "export run.h5 --to csv",
      "sweep scene.json --set z=2,3 -o out.csv -q",
      "sweep scene.json --set z=2,3 -o out.csv -q",
  };
  write_files(c);
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) cairn_status(c, good[i], 0);
}

// A file that cairn did not make is left alone without --force; what it made is made again.
static void test_vacant(void **state) {
  CliCase *c = *state;
  static const char mine[] = "time,h\n0,1\n";
  static const char *const outputs[][2] = {
      {"page.html", "report run.h5 -o page.html"},
      {"page.html", "report run.h5 run.h5 -o page.html"},
      {"page.html", "report scene.json -o page.html"},
      {"scene.html", "report scene.json"},
      {"h.svg", "plot run.h5 h -o h.svg"},
      {"h.png", "plot run.h5 h -o h.png"},
      {"run.glb", "export run.h5 --to gltf"},
      {"run.xdmf", "export run.h5 --to xdmf"},
      {"run-csv/steps.csv", "export run.h5 --to csv"},
      {"run-csv/events.csv", "export run.h5 --to csv"},
      {"run-vtk/run.pvd", "export run.h5 --to vtk"},
      {"rest.ckpt", "equilibrium rest.json -o rest.ckpt"},
  };
  char line[128];
  write_files(c);
  scratch_write(&c->scratch, "rest.json",
                "{\"bodies\": [{\"name\": \"b\", \"shapes\": [{\"kind\": \"sphere\", \"radius\": "
                "1}]}], \"joints\": [{\"kind\": "
                "\"ball\", \"bodies\": [\"ground\", \"b\"], \"anchor\": [0, 0, 1]}]}");
  CHECK(mkdir(scratch_file(&c->scratch, "run-csv"), 0777) == 0);
  CHECK(mkdir(scratch_file(&c->scratch, "run-vtk"), 0777) == 0);
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
    const char *name = outputs[i][0];
    scratch_write(&c->scratch, name, mine);
    int status = cairn(c, outputs[i][1]);
    if (status != 1 || !strstr(c->command.err, "--force replaces it"))
      fail_msg("cairn %s: status %d: %s", outputs[i][1], status, c->command.err);
    size_t size;
    char *bytes = file_bytes(scratch_file(&c->scratch, name), &size);
    CHECK(size == sizeof mine - 1 && memcmp(bytes, mine, size) == 0);
    free(bytes);
    snprintf(line, sizeof line, "%s --force", outputs[i][1]);
    cairn_status(c, line, 0);
    cairn_status(c, outputs[i][1], 0);
  }
}

// Ended by a signal while a page is written: nothing is left of it.
static void test_ended(void **state) {
  CliCase *c = *state;
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  write_files(c);
  cairn_status(c, "run granular --set spheres=300 --time 0.2 --fps 0 --out many.h5 -q", 0);
  for (int i = 0; i < 24; i++) {
    struct stat there;
    Command started = {0};
    command_start(&started, CAIRN_COMMAND, &c->scratch, "report many.h5 -o many.html");
    for (int k = 0; k < 2000 && waitpid(started.pid, NULL, WNOHANG | WNOWAIT) == 0; k++) {
      if (stat(scratch_file(&c->scratch, "many.html.partial"), &there) == 0) break;
      sleep_seconds(0.0005);
    }
    sleep_seconds(0.001 * (i / 4));
    kill(started.pid, signals[i % 4]);
    command_wait(&started);
    command_release(&started);
    CHECK(stat(scratch_file(&c->scratch, "many.html.partial"), &there) != 0);
  }
}

// ---- the library ----

static void invalid(CnStatus status) {
  CHECK(status == CN_INVALID_ARGUMENT);
  check_contains(cn_error_message(), LOST);
}

static void test_library(void **state) {
  CliCase *c = *state;
  Kept kept[FILES];
  char own[1024], odd[1100], run_path[1024];
  CnAllocator allocator = cn_allocator_default();
  CnScene *s;
  CnRun *run;
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  CnRecorder *recorder = NULL;
  write_files(c);
  read_files(c, kept);
  snprintf(own, sizeof own, "%s", scratch_file(&c->scratch, "scene.json"));
  snprintf(run_path, sizeof run_path, "%s", scratch_file(&c->scratch, "run.h5"));
  snprintf(odd, sizeof odd, "%s/./part.json", c->scratch.path);
  CHECK_OK(cn_scene_open(own, NULL, 0, &allocator, &s));
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(s, world));
  invalid(cn_scene_check_output(s, own));
  invalid(cn_scene_check_output(s, odd));
  CHECK_OK(cn_scene_check_output(s, run_path));
  CHECK_OK(cn_scene_check_output(s, "/dev/null"));
  invalid(cn_page_from_scene(s, odd));
  CnRecorderDef record = cn_recorder_def_default();
  record.path = odd;
  record.scene = s;
  record.replace = 1;
  invalid(cn_recorder_create(&record, world, &recorder));
  CHECK(!recorder);
  CHECK_OK(cn_run_open(run_path, &allocator, &run));
  invalid(cn_run_check_output(run, run_path));
  invalid(cn_page_from_run(run, run_path, 0));
  invalid(cn_page_from_runs(run, "a", run, "b", run_path, 0));
  cn_run_close(run);
  invalid(cn_run_export(run_path, "gltf", run_path));
  invalid(cn_output_check(run_path, run_path));
  CHECK(cn_output_vacant(run_path) == CN_FILE && cn_output_vacant(own) == CN_FILE);
  CHECK(cn_output_vacant(NULL) == CN_INVALID_ARGUMENT);
  CHECK(cn_output_vacant(c->scratch.path) == CN_FILE); // cases.csv
  CHECK(mkfifo(scratch_file(&c->scratch, "pipe.html"), 0666) == 0);
  CHECK_OK(cn_output_vacant(scratch_file(&c->scratch, "pipe.html"))); // it is not opened
  CHECK_OK(cn_output_check(run_path, own));
  CHECK(cn_output_check(NULL, own) == CN_INVALID_ARGUMENT);
  // a file that took the place of one that was read counts, and one with its old number does not
  snprintf(odd, sizeof odd, "%s", scratch_file(&c->scratch, "part.json"));
  CHECK(rename(odd, scratch_file(&c->scratch, "moved.json")) == 0);
  scratch_write(&c->scratch, "part.json", part);
  invalid(cn_scene_check_output(s, odd));
  CHECK_OK(cn_scene_check_output(s, scratch_file(&c->scratch, "moved.json")));
  CnCheckpoint checkpoint = {.run_path = run_path, .scene_label = own};
  invalid(cn_checkpoint_write(run_path, &checkpoint));
  invalid(cn_checkpoint_write(own, &checkpoint));
  cn_world_destroy(world);
  cn_scene_destroy(s);
  same_files(c, kept, "of the library");
  release(kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CLI_TEST(test_refused), CLI_TEST(test_allowed), CLI_TEST(test_vacant),
      CLI_TEST(test_ended),   CLI_TEST(test_library),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
