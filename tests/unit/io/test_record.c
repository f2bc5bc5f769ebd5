// SPDX-License-Identifier: Apache-2.0
// A program records a run, reads it back, exports it and makes a page of it.
#include "check.h"
#include "toys.h"

#include <cairn/record.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *at(const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "test_record_%d_%s", (int)getpid(), name);
  return path[turn];
}

static CnWorld *falling(CnBodyId *ball) {
  CnWorld *w = toy_world(1e-2);
  toy_floor(w);
  *ball = toy_ball(w, 0.1, cn_vec3(0, 0, 1), (CnMaterialId){0, 0});
  return w;
}

static void test_record(void **state) {
  (void)state;
  CnBodyId ball;
  CnWorld *w = falling(&ball);
  CnRecorderDef def = cn_recorder_def_default();
  CnRecorder *recorder;
  CnStepReport report;
  def.path = at("run.h5");
  def.frames_per_second = 0;
  def.contacts = 1;
  CHECK_OK(cn_recorder_create(&def, w, &recorder));
  for (int i = 0; i < 60; i++) {
    CHECK_OK(cn_world_step(w, &report));
    CHECK_OK(cn_recorder_step(recorder, w, &report));
  }
  CHECK_OK(cn_recorder_flush(recorder));
  CHECK_OK(cn_recorder_close(recorder, w));

  CnRun *run;
  CnRunInfo info;
  CnPose poses[2], pose;
  double time;
  CHECK_OK(cn_run_open(def.path, NULL, &run));
  cn_run_info(run, &info);
  CHECK(info.complete && info.frame_count == 61 && info.trusted == 1);
  CHECK_OK(cn_run_frame(run, 60, &time, poses, NULL));
  CHECK_OK(cn_body_pose(w, ball, &pose));
  CHECK(fabs(time - 0.6) < 1e-12 && memcmp(&poses[1], &pose, sizeof pose) == 0);
  const char *page = at("page.html");
  struct stat there;
  CHECK_OK(cn_page_from_run(run, page, 0));
  CHECK(stat(page, &there) == 0 && there.st_size > 10000);
  cn_run_close(run);
  unlink(page);
  const char *table = at("run.csv");
  CHECK_OK(cn_run_export(def.path, "csv", table));
  CHECK(stat(table, &there) == 0 && there.st_size > 1000);
  unlink(table);
  CHECK_STATUS(cn_run_export(def.path, "avi", NULL), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "avi");

  // an existing file is refused and stays
  CHECK_STATUS(cn_recorder_create(&def, w, &recorder), CN_FILE);
  CHECK(recorder == NULL);
  def.replace = 1;
  CHECK_OK(cn_recorder_create(&def, w, &recorder));
  CHECK_OK(cn_recorder_abandon(recorder));
  unlink(def.path);
  char partial[300];
  snprintf(partial, sizeof partial, "%s.partial", def.path);
  unlink(partial);
  cn_world_destroy(w);
}

static void test_misuse(void **state) {
  (void)state;
  CnRecorder *recorder;
  CnRecorderDef def = cn_recorder_def_default();
  CnBodyId ball;
  CnWorld *w = falling(&ball);
  CHECK_STATUS(cn_recorder_create(&def, w, &recorder), CN_INVALID_ARGUMENT);
  def.path = "no/such/folder/run.h5";
  CHECK_STATUS(cn_recorder_create(&def, w, &recorder), CN_FILE);
  CHECK_STATUS(cn_recorder_create(&def, NULL, &recorder), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_recorder_step(NULL, w, NULL), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_recorder_close(NULL, NULL));
  CHECK_STATUS(cn_page_from_run(NULL, "x", 0), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_page_from_scene(NULL, "x"), CN_INVALID_ARGUMENT);
  CHECK(cn_export_name(0) && cn_export_summary(0) && !cn_export_name(1000));
  cn_world_destroy(w);
}

// A run of 20 steps that cannot go on: whole, with those steps.
static void check_run(const char *path, const char *verdict) {
  CnRun *run;
  CnRunInfo info;
  CnPose poses[2];
  CHECK_OK(cn_run_open(path, NULL, &run));
  cn_run_info(run, &info);
  CHECK(info.complete && info.step_count == 20 && info.frame_count == 21);
  CHECK(strncmp(info.verdict, verdict, strlen(verdict)) == 0 && !info.verdict[0] == !verdict[0]);
  CHECK_OK(cn_run_frame(run, 20, NULL, poses, NULL));
  cn_run_close(run);
  unlink(path);
}

static void record_steps(CnRecorder *recorder, CnWorld *w, int count) {
  CnStepReport report;
  for (int i = 0; i < count; i++) {
    CHECK_OK(cn_world_step(w, &report));
    CHECK_OK(cn_recorder_step(recorder, w, &report));
  }
}

// The world gets another body, or goes back.
static void test_other_world(void **state) {
  (void)state;
  static unsigned char shot[100000];
  size_t size;
  CnBodyId ball, another;
  CnBodyDef body = cn_body_def_default();
  CnRecorderDef def = cn_recorder_def_default();
  CnRecorder *recorder;
  CnStepReport report;
  body.kind = CN_BODY_FIXED;
  def.frames_per_second = 0;
  for (int back = 0; back < 2; back++) {
    CnWorld *w = falling(&ball);
    CHECK_OK(cn_world_save(w, shot, sizeof shot, &size));
    def.path = at(back ? "back.h5" : "more.h5");
    CHECK_OK(cn_recorder_create(&def, w, &recorder));
    record_steps(recorder, w, 20);
    if (back)
      CHECK_OK(cn_world_restore(w, shot, size));
    else
      CHECK_OK(cn_body_create(w, &body, &another));
    for (int i = 0; i < 3; i++) {
      CHECK_OK(cn_world_step(w, &report));
      CHECK_STATUS(cn_recorder_step(recorder, w, &report),
                   back ? CN_INVALID_ARGUMENT : CN_UNSUPPORTED);
      CHECK_TEXT(cn_error_message(), back     ? "step 21 was to be recorded, not"
                                     : i == 0 ? "it ends with step 20"
                                              : "the run has ended with step 20");
    }
    CHECK_OK(cn_recorder_flush(recorder));
    CHECK_OK(cn_recorder_close(recorder, w));
    check_run(def.path, back ? "" : "trusted");
    cn_world_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_record),
      cmocka_unit_test(test_misuse),
      cmocka_unit_test(test_other_world),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
