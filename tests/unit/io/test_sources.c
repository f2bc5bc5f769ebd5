// SPDX-License-Identifier: Apache-2.0
// Sources and sinks of bodies, and sensors that look back: against counts and closed forms, and the
// same bits after save and restore.
#include "check.h"

#include <cairn/record.h>
#include <cairn/run_look.h>
#include <cairn/scene.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs.h"

typedef struct Play {
  CnScene *scene;
  CnWorld *world;
} Play;

static CnScene *scene_of(const char *text) {
  CnScene *scene;
  CHECK_OK(cn_scene_parse(text, strlen(text), "sources", NULL, 0, NULL, &scene));
  return scene;
}

static CnWorld *empty_world(const CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  return world;
}

static Play begin(const char *text) {
  Play play = {.scene = scene_of(text)};
  play.world = empty_world(play.scene);
  CHECK_OK(cn_scene_fill(play.scene, play.world));
  return play;
}

static void end(Play *play) {
  cn_world_destroy(play->world);
  cn_scene_destroy(play->scene);
}

static void steps(Play *play, int32_t count) {
  for (int32_t i = 0; i < count; i++) CHECK_OK(cn_scene_step(play->scene, play->world, NULL));
}

static CnSourceInfo source_of(const Play *play) {
  CnSourceInfo info;
  CHECK_OK(cn_scene_source(play->scene, play->world, 0, &info));
  return info;
}

static double value(const Play *play, const char *name) {
  CnSceneInfo info;
  double values[32] = {0};
  cn_scene_info(play->scene, &info);
  CHECK_OK(cn_scene_measure(play->scene, play->world, values));
  for (int32_t i = 0; i < info.sensor_count; i++) {
    CnSensorInfo sensor;
    CHECK_OK(cn_scene_sensor(play->scene, i, &sensor));
    if (strcmp(sensor.name, name) == 0) return values[i];
  }
  fail_msg("no sensor %s", name);
  return NAN;
}

// Balls of 1 kg thrown along x over a plane at x = 1, into a sink.
#define LINE(recycle)                                                                              \
  "{\"settings\": {\"time_step\": 0.001, \"gravity\": [0, 0, 0]},"                                 \
  "\"groups\": {\"balls\": {}},"                                                                   \
  "\"sources\": [{\"name\": \"feed\", \"rate\": 20, \"start\": 0.1, " recycle                      \
  " \"region\": {\"min\": [0, -0.3, 0], \"max\": [0, 0.3, 0]}, \"bodies\": [{\"repeat\": 12,"      \
  "\"items\": [{\"name\": \"b{i}\", \"mass\": 1, \"velocity\": [2, 0, 0], \"group\": \"balls\","   \
  "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.02}]}]}]}],"                                  \
  "\"sinks\": [{\"name\": \"bin\", \"region\": {\"min\": [2, -1, -1], \"max\": [9, 1, 1]}}],"      \
  "\"sensors\": [{\"name\": \"let go\", \"kind\": \"source_count\", \"source\": \"feed\"},"        \
  "{\"name\": \"taken\", \"kind\": \"sink_count\", \"sink\": \"bin\"},"                            \
  "{\"name\": \"taken mass\", \"kind\": \"sink_mass\", \"sink\": \"bin\"},"                        \
  "{\"name\": \"there\", \"kind\": \"count\", \"region\": {\"min\": [-9, -9, -9], \"max\": "       \
  "[9, 9, 9]}},"                                                                                   \
  "{\"name\": \"near\", \"kind\": \"mass\", \"group\": \"balls\", \"region\": {\"min\": "          \
  "[-1, -1, -1], \"max\": [1, 1, 1]}},"                                                            \
  "{\"name\": \"through\", \"kind\": \"flow_count\", \"point\": [1, 0, 0], \"normal\": "           \
  "[3, 0, 0]},"                                                                                    \
  "{\"name\": \"back\", \"kind\": \"flow_mass\", \"point\": [1, 0, 0], \"normal\": [-1, 0, 0]},"   \
  "{\"name\": \"rate\", \"kind\": \"flow_rate\", \"point\": [1, 0, 0], \"normal\": [1, 0, 0],"     \
  "\"statistic\": \"mean\"}]}"

// Ball k is let go at .1 + k/20 s, passes the plane .5 s later and is taken 1 s later.
static void counts(void **state) {
  (void)state;
  Play play = begin(LINE(""));
  CHECK(source_of(&play).due == 0 && source_of(&play).waiting == 12);
  steps(&play, 100);
  CHECK_NEAR(value(&play, "let go"), 0, 0);
  CHECK(source_of(&play).due == 0);
  CHECK_NEAR(value(&play, "there"), 0, 0); // bodies that wait are not there
  steps(&play, 1);
  CHECK_NEAR(value(&play, "let go"), 1, 0);
  CHECK(source_of(&play).due == 1 && source_of(&play).made == 1 && source_of(&play).waiting == 11);
  CHECK_TEXT(source_of(&play).name, "feed");
  steps(&play, 619); // .72 s
  CHECK(source_of(&play).due == 12 && source_of(&play).made == 12 && source_of(&play).waiting == 0);
  CHECK_NEAR(value(&play, "let go"), 12, 0);
  CHECK_NEAR(value(&play, "there"), 12, 0);
  CHECK_NEAR(value(&play, "through"), 3, 0); // let go at .1, .15, .2
  CHECK_NEAR(value(&play, "back"), -3, 0);
  CHECK_NEAR(value(&play, "near"), 9, 1e-12);
  steps(&play, 580); // 1.3 s: those of .1 to .25 are taken, that of .3 arrives now
  double taken = value(&play, "taken");
  CHECK(taken == 4 || taken == 5);
  CHECK_NEAR(value(&play, "taken mass"), taken, 0);
  CHECK_NEAR(value(&play, "there"), 12 - taken, 0);
  CHECK_NEAR(value(&play, "through"), 12, 0);
  CHECK_REL(value(&play, "rate"), 12 / 1.3, 1e-9);
  end(&play);
}

// What a sink took comes again: the rate is kept without an end.
static void recycled(void **state) {
  (void)state;
  Play play = begin(LINE("\"recycle\": true, \"limit\": 40,"));
  steps(&play, 1700); // 1.6 s at 20/s, but a ball is away for 1 s: 12 a second
  double made = value(&play, "let go");
  CHECK(made > 18 && made < 40);
  CHECK_NEAR(value(&play, "let go") - value(&play, "taken"), value(&play, "there"), 0);
  steps(&play, 3000);
  CHECK_NEAR(value(&play, "let go"), 40, 0);
  steps(&play, 2000);
  CHECK_NEAR(value(&play, "taken"), 40, 0);
  CHECK(source_of(&play).due == 40);
  CHECK_NEAR(value(&play, "through"), 40, 0); // a ball that is let go again has passed no plane
  end(&play);
}

// A place that is taken is not used: one ball, which does not move, stops the source.
static void blocked(void **state) {
  (void)state;
  Play play = begin("{\"settings\": {\"gravity\": [0, 0, 0]}, \"sources\": [{\"name\": \"s\", "
                    "\"rate\": 1000, \"region\": {\"min\": [0, 0, 0], \"max\": [0, 0, 0.05]}, "
                    "\"bodies\": [{\"repeat\": 5, \"items\": [{\"shapes\": [{\"kind\": \"sphere\", "
                    "\"radius\": 0.1}]}]}]}], \"sensors\": [{\"name\": \"n\", \"kind\": "
                    "\"source_count\", \"source\": \"s\"}]}");
  steps(&play, 50);
  CHECK_NEAR(value(&play, "n"), 1, 0);
  CHECK(source_of(&play).made == 1 && source_of(&play).due == 5 && source_of(&play).waiting == 4);
  CnSourceInfo none;
  CHECK_STATUS(cn_scene_source(play.scene, play.world, 1, &none), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_scene_source(play.scene, play.world, 0, NULL), CN_INVALID_ARGUMENT);
  CnPenetration penetration;
  CHECK_OK(cn_world_penetration(play.world, &penetration));
  CHECK(penetration.overlap_count == 0);
  end(&play);
}

// A world that was stepped past its scene is not recorded as if the source had fed it.
static void passed_over(void **state) {
  (void)state;
  Play play = begin(LINE(""));
  CnRecorder *recorder;
  CnStepReport report;
  CnRecorderDef def = cn_recorder_def_default();
  char path[300];
  snprintf(path, sizeof path, "%s/run.h5", test_folder_make());
  def.path = path;
  def.scene = play.scene;
  CHECK_OK(cn_recorder_create(&def, play.world, &recorder));
  CHECK_OK(cn_scene_step(play.scene, play.world, &report));
  CHECK_OK(cn_recorder_step(recorder, play.world, &report));
  CHECK_OK(cn_world_step(play.world, &report));
  CHECK_STATUS(cn_recorder_step(recorder, play.world, &report), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "stepped by cn_scene_step, and step 2 was not");
  CHECK_OK(cn_recorder_abandon(recorder));
  test_folder_remove();
  end(&play);
}

// A run that is stopped, saved and taken up by a scene that was read anew has the same bits and counts.
static void restored(void **state) {
  (void)state;
  Play one = begin(LINE("\"recycle\": true, \"turn\": \"random\","));
  steps(&one, 700);
  size_t world_size, scene_size;
  CHECK_OK(cn_world_save(one.world, NULL, 0, &world_size));
  CHECK_OK(cn_scene_save(one.scene, NULL, 0, &scene_size));
  void *world = malloc(world_size), *kept = malloc(scene_size);
  CHECK_OK(cn_world_save(one.world, world, world_size, &world_size));
  CHECK_OK(cn_scene_save(one.scene, kept, scene_size, &scene_size));
  steps(&one, 1300);
  Play two = {.scene = scene_of(LINE("\"recycle\": true, \"turn\": \"random\","))};
  two.world = empty_world(two.scene);
  CHECK_OK(cn_world_restore(two.world, world, world_size));
  CHECK_OK(cn_scene_restore(two.scene, two.world, kept, scene_size));
  steps(&two, 1300);
  CHECK(cn_world_hash(one.world) == cn_world_hash(two.world));
  double a[32], b[32];
  CHECK_OK(cn_scene_measure(one.scene, one.world, a));
  CHECK_OK(cn_scene_measure(two.scene, two.world, b));
  assert_memory_equal(a, b, 8 * sizeof *a);
  // bytes that are of another scene, or damaged
  CHECK_STATUS(cn_scene_restore(two.scene, two.world, kept, scene_size - 1), CN_INVALID_DATA);
  ((char *)kept)[0] ^= 1;
  CHECK_STATUS(cn_scene_restore(two.scene, two.world, kept, scene_size), CN_INVALID_DATA);
  CHECK_STATUS(cn_scene_save(two.scene, kept, 3, &scene_size), CN_INVALID_ARGUMENT);
  free(world);
  free(kept);
  end(&one);
  end(&two);
}

// Free fall: v after k steps is -g k h.
static void looking_back(void **state) {
  (void)state;
  Play play =
      begin("{\"settings\": {\"time_step\": 0.01}, \"bodies\": [{\"name\": \"b\", \"position\": "
            "[0, 0, 9],"
            "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}], \"sensors\": ["
            "{\"name\": \"a\", \"kind\": \"acceleration\", \"body\": \"b\", \"axis\": \"z\"},"
            "{\"name\": \"mean\", \"kind\": \"velocity\", \"body\": \"b\", \"axis\": \"z\", "
            "\"statistic\": \"mean\"},"
            "{\"name\": \"late\", \"kind\": \"velocity\", \"body\": \"b\", \"axis\": \"z\", "
            "\"statistic\": \"max\", \"from\": 0.5},"
            "{\"name\": \"low\", \"kind\": \"velocity\", \"body\": \"b\", \"axis\": \"z\", "
            "\"statistic\": \"min\"},"
            "{\"name\": \"rms\", \"kind\": \"velocity\", \"body\": \"b\", \"axis\": \"z\", "
            "\"statistic\": \"rms\"}]}");
  CHECK(isnan(value(&play, "mean")));
  CHECK_NEAR(value(&play, "a"), 0, 0);
  steps(&play, 1);
  CHECK_REL(value(&play, "a"), -9.81, 1e-12);
  steps(&play, 30);
  CHECK(isnan(value(&play, "late")));
  steps(&play, 69);
  double gh = 0.0981, n = 100;
  CHECK_REL(value(&play, "a"), -9.81, 1e-11);
  CHECK_REL(value(&play, "mean"), -gh * (n + 1) / 2, 1e-12);
  CHECK_REL(value(&play, "low"), -gh * n, 1e-12);
  CHECK(fabs(value(&play, "late") + gh * 50) < 1.01 * gh);
  CHECK_REL(value(&play, "rms"), gh * sqrt((n + 1) * (2 * n + 1) / 6), 1e-12);
  end(&play);
}

// A box of 2 kg that rests at x = 0.5 presses on the floor there.
static void torque(void **state) {
  (void)state;
  Play play = begin(
      "{\"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": "
      "\"plane\"}]},"
      "{\"name\": \"box\", \"mass\": 2, \"position\": [0.5, 0, 0.1], \"shapes\": [{\"kind\": "
      "\"box\","
      "\"size\": [0.1, 0.3, 0.2]}]}], \"sensors\": [{\"name\": \"t\", \"kind\": \"contact_torque\","
      "\"body\": \"floor\"}, {\"name\": \"u\", \"kind\": \"contact_torque\", \"bodies\": "
      "[\"box\", \"floor\"], \"axis\": \"y\"}]}");
  steps(&play, 200);
  CHECK_REL(value(&play, "t.y"), 0.5 * 2 * 9.81, 1e-6);
  CHECK_NEAR(value(&play, "t.x"), 0, 1e-6);
  CHECK_NEAR(value(&play, "u"), 0, 1e-6); // about the middle of the box itself
  end(&play);
}

// A mass alone: the inertia of the shapes in proportion, m/12 (b^2 + c^2), about their centre.
static void mass_alone(void **state) {
  (void)state;
  Play play = begin("{\"bodies\": [{\"mass\": 3, \"shapes\": [{\"kind\": \"box\", \"size\": "
                    "[0.1, 0.2, 0.3], \"position\": [0, 0, 1], \"density\": 77}]}]}");
  CnBodyInfo info;
  CHECK_OK(cn_body_info(play.world, cn_world_next_body(play.world, (CnBodyId){0, 0}), &info));
  CHECK_REL(info.mass, 3, 1e-15);
  CHECK_REL(info.com.position.z, 1, 1e-15);
  CHECK_REL(info.inertia.x + info.inertia.y + info.inertia.z, 3. / 12 * 2 * (0.01 + 0.04 + 0.09),
            1e-12);
  CHECK_REL(info.inertia.x * info.inertia.y * info.inertia.z, pow(3. / 12, 3) * 0.13 * 0.10 * 0.05,
            1e-12);
  end(&play);
}

// Colors of bodies, and of materials for those that have none; in the run file and the exports too. A
// body that waits in a source is a dynamic one there, with its mass.
static void colors(void **state) {
  (void)state;
  static const double expected[][4] = {
      {1, 0, 0, -1}, {0.5, 0.25, 0, 0.5}, {0.5, 0.25, 0, 0.125}, {-1, -1, -1, -1}};
  Play play = begin(
      "{\"materials\": {\"wood\": {\"color\": [0.5, 0.25, 0], \"opacity\": 0.5}}, \"bodies\": ["
      "{\"kind\": \"fixed\", \"color\": [1, 0, 0]},"
      "{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\", \"material\": \"wood\"}]},"
      "{\"kind\": \"fixed\", \"opacity\": 0.125, \"shapes\": [{\"kind\": \"sphere\", \"radius\": 1,"
      "\"material\": \"wood\"}]}], \"sources\": [{\"rate\": 1, \"start\": 9, \"region\": {\"min\": "
      "[0, 0, 5], \"max\": [0, 0, 5]}, \"bodies\": [{\"mass\": 2, \"shapes\": [{\"kind\": "
      "\"sphere\", \"radius\": 1}]}]}]}");
  double color[4];
  for (int32_t i = 0; i < 4; i++) {
    CHECK_OK(cn_scene_body_color(play.scene, i, color));
    assert_memory_equal(color, expected[i], sizeof color);
  }
  CHECK_STATUS(cn_scene_body_color(play.scene, 4, color), CN_INVALID_ARGUMENT);
  char path[256];
  snprintf(path, sizeof path, "%s/colors.h5", test_folder_make());
  CnRecorderDef def = cn_recorder_def_default();
  CnRecorder *recorder;
  def.path = path;
  def.scene = play.scene;
  CHECK_OK(cn_recorder_create(&def, play.world, &recorder));
  CHECK_OK(cn_recorder_close(recorder, play.world));
  CnRun *run;
  CnRunBody body;
  CHECK_OK(cn_run_open(path, NULL, &run));
  for (int32_t i = 0; i < 4; i++) {
    CHECK_OK(cn_run_body_color(run, i, color));
    assert_memory_equal(color, expected[i], sizeof color);
  }
  CHECK_STATUS(cn_run_body_color(run, 4, color), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_run_body(run, 3, &body));
  CHECK(body.kind == CN_BODY_DYNAMIC);
  CHECK_REL(body.mass, 2, 1e-15);
  cn_run_close(run);
  test_folder_remove();
  end(&play);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts),      cmocka_unit_test(recycled),   cmocka_unit_test(blocked),
      cmocka_unit_test(passed_over), cmocka_unit_test(restored),   cmocka_unit_test(looking_back),
      cmocka_unit_test(torque),      cmocka_unit_test(mass_alone), cmocka_unit_test(colors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
