#include "runs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
                               .world = &run->world_def,
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

void test_run_record(const char *path, int steps) {
  TestRun run;
  test_run_begin(&run, path);
  CHECK_OK(cni_run_writer_create(&run.def, run.world, &run.writer));
  test_run_steps(&run, steps);
  CHECK_OK(cni_run_writer_close(run.writer));
  test_run_end(&run);
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
