// SPDX-License-Identifier: Apache-2.0
// cairn run with hem5, rkf45 and moreau-jean: the log of events in the run file, fixed steps, a
// resumed run, refusals, and runs that stop in the middle with what they have.
#include <cairn/run.h>

#include "cli_case.h"
#include "source_dir.h"

static CnRun *open_run(CliCase *c, const char *name) {
  CnAllocator allocator = cn_allocator_default();
  CnRun *run = NULL;
  CHECK_OK(cn_run_open(scratch_file(&c->scratch, name), &allocator, &run));
  return run;
}

// Impacts and the rest of the bouncing ball, e = 0.5.
static void event_log(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run bouncing-ball --set e=0.5 --time 2 --out run.h5 -q", 0);
  CnRun *run = open_run(c, "run.h5");
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK(info.complete && strcmp(info.integrator, "hem5") == 0);
  double t = sqrt(2 / 9.81), v = 9.81 * t;
  int impacts = 0, rests = 0;
  for (int64_t i = 0; i < info.event_count; i++) {
    CnRunEvent event;
    CHECK_OK(cn_run_events(run, i, 1, &event));
    CHECK(event.shape_a == 0 && event.shape_b == 1);
    if (!event.located) {
      CHECK(isnan(event.speed) && isnan(event.impulse));
      continue;
    }
    if (event.what == CN_EVENT_IMPACT) {
      CHECK_NEAR(event.time, t, 1e-10);
      CHECK_NEAR(event.speed, -v, 1e-8);
      v *= .5;
      t += 2 * v / 9.81;
      impacts++;
    } else {
      CHECK(event.what == CN_EVENT_REST);
      CHECK_NEAR(event.time, 1.354570922957, 1e-6);
      rests++;
    }
  }
  CHECK(impacts > 15 && rests == 1);
  cn_run_close(run);
  cairn_status(c, "export run.h5 --to csv", 0);
  static char table[20000];
  FILE *file = fopen(scratch_file(&c->scratch, "run-csv/events.csv"), "r");
  CHECK(file != NULL);
  table[fread(table, 1, sizeof table - 1, file)] = 0;
  fclose(file);
  check_contains(table, "impact,0,1,0,1,0.45152364098");
  check_contains(table, "rest,0,1,0,1,1.35457092");
}

// A run resumed from a checkpoint has the bits of one that never stopped.
static void resumed(void **state) {
  CliCase *c = *state;
  json_t *whole = parse(c, "run bouncing-ball --time 1 --json", 0);
  cairn_status(c, "run bouncing-ball --time 0.5 --checkpoint a.ckpt -q", 0);
  json_t *parts = parse(c, "run --resume a.ckpt --time 1 --json", 0);
  CHECK(strcmp(text(whole, "state_hash"), text(parts, "state_hash")) == 0);
  json_decref(whole);
  json_decref(parts);
}

// --h alone: fixed steps; the order shows.
static void fixed_steps(void **state) {
  CliCase *c = *state;
  json_t *object = parse(c, "run chain --integrator hem5 --h 0.002 --time 0.1 --json", 0);
  CHECK(strcmp(text(object, "integrator"), "hem5") == 0);
  CHECK(number(object, "steps") == 50);
  CHECK_NEAR(number(object, "iterations_mean"), 1, 1e-9);
  json_decref(object);
  object = parse(c, "run chain --integrator rkf45 --tol 1e-9 --time 0.1 --json", 0);
  CHECK(number(object, "iterations_mean") >= 1);
  json_decref(object);
  object = parse(c, "run newton-cradle --integrator moreau-jean --time 0.1 --json", 0);
  CHECK(number(object, "steps") == 400);
  json_decref(object);
}

static void refused(void **state) {
  CliCase *c = *state;
  // what is refused in the first step is told by check too
  scratch_write(&c->scratch, "pair.json",
                "{\"settings\": {\"integrator\": \"hem5\"}, \"bodies\": ["
                "{\"name\": \"a\", \"shapes\": [{\"kind\": \"cylinder\", \"radius\": 0.1, "
                "\"length\": 0.2}]}, {\"name\": \"b\", \"position\": [0, 0, 0.05], \"shapes\": "
                "[{\"kind\": \"cylinder\", \"radius\": 0.1, \"length\": 0.2}]}]}");
  check_refused(c, "run pair.json -q", 1,
                "hem5: step 1: body 'a' (cylinder) and body 'b' (cylinder): they overlap where");
  cairn_status(c, "check pair.json", 1);
  check_contains(c->command.err, "a run would fail: hem5: step 1: body 'a' (cylinder)");
  cairn_status(c, "check stack --set boxes=2", 0);
  check_refused(c, "run stack --integrator euler", 2, "hem5");
  scratch_write(&c->scratch, "a.json",
                "{\"settings\": {\"integrator\": {\"name\": \"hem5\", \"tolerance\": -1}}}");
  check_refused(c, "run a.json", 1, "/settings/integrator/tolerance");
  scratch_write(&c->scratch, "b.json",
                "{\"settings\": {\"integrator\": {\"name\": \"hem5\", \"impact\": \"both\"}}}");
  check_refused(c, "run b.json", 1, "/settings/integrator/impact");
}

// Too many events in one step: the run file holds all steps before.
static void stops(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "stop.json",
                "{\"settings\": {\"time_step\": 0.01, \"time\": 2, \"integrator\": {\"name\": "
                "\"hem5\", \"max_events\": 3}},"
                " \"materials\": {\"m\": {\"friction\": 0, \"restitution\": 0.5}},"
                " \"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\", "
                "\"material\": \"m\"}]},"
                " {\"name\": \"ball\", \"position\": [0, 0, 1.1], \"shapes\": [{\"kind\": "
                "\"sphere\", \"radius\": 0.1, \"material\": \"m\"}]}]}");
  cairn_status(c, "run stop.json --out stop.h5 -q", 1);
  check_contains(c->command.err, "more than 3 events");
  CHECK(line_count(c->command.err) == 1);
  CnRun *run = open_run(c, "stop.h5");
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK(!info.complete && info.step_count > 100 && info.step_count < 140);
  cn_run_close(run);
}

// Where stick and slip change without end at one instant the run goes on, and tells it.
static void led_over(void **state) {
  CliCase *c = *state;
  json_t *object = parse(c, "run " CAIRN_SOURCE_DIR "/tests/scenes/tumble.json --json", 0);
  CHECK(number(object, "steps") == 60);
  CHECK(number(object, "steps_led_over") >= 1);
  CHECK(number(object, "penetration_max") < 1e-9);
  json_decref(object);
}

// Every built-in scene with every integrator: what `check` accepts runs, what it does not is told in one
// line. Large ones are made small.
static void all_scenes(void **state) {
  CliCase *c = *state;
  static const char *const small[][2] = {{"domino", "dominoes=3"}, {"granular", "spheres=20"},
                                         {"heap", "boxes=5"},      {"pyramid", "rows=2"},
                                         {"scene-g", "n=20"},      {"stack", "boxes=2"},
                                         {"chain", "links=5"},     {NULL, NULL}};
  json_t *list = parse(c, "scenes --json", 0), *scene;
  size_t i;
  json_array_foreach(json_object_get(list, "scenes"), i, scene) {
    const char *name = json_string_value(json_object_get(scene, "name"));
    char set[60] = "";
    for (int k = 0; small[k][0]; k++)
      if (strcmp(small[k][0], name) == 0) snprintf(set, sizeof set, " --set %s", small[k][1]);
    for (int32_t k = 0; cn_integrator_name(k); k++) {
      char line[200];
      snprintf(line, sizeof line, "check %s --integrator %s%s", name, cn_integrator_name(k), set);
      if (cairn(c, line) == 0) {
        snprintf(line, sizeof line, "run %s --integrator %s%s --steps 3 -q", name,
                 cn_integrator_name(k), set);
        cairn_status(c, line, 0);
        continue;
      }
      print_message("%s: %s", line, c->command.err);
      check_contains(c->command.err, "a run would fail");
      CHECK(line_count(c->command.err) == 1);
    }
  }
  json_decref(list);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(event_log, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(resumed, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(fixed_steps, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(refused, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(stops, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(led_over, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(all_scenes, cli_set_up, cli_tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
