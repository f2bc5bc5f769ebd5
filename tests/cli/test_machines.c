// SPDX-License-Identifier: Apache-2.0
// Machines with closed forms as one would write them first, run by the command and read from --json:
// drives, limits, friction of bearings, gears, racks, differentials, screws, shafts, cams
// (tests/scenes/machines.json: what each sensor is to show at the end, and how near impulse and hem5
// come; impulse is of first order in h).
#include "cli_case.h"
#include "source_dir.h"

#include <cairn/run.h>

static double sensor(const json_t *report, const char *name) {
  json_t *list = json_object_get(report, "sensors"), *item;
  size_t i;
  json_array_foreach(list, i,
                     item) if (strcmp(text(item, "name"), name) == 0) return number(item, "value");
  fail_msg("no sensor %s", name);
  return 0;
}

static void machine(CliCase *c, json_t *item) {
  static const char *const names[] = {"impulse", "hem5"};
  json_t *expect = json_object_get(item, "expect"), *bounds;
  const char *key;
  char *scene = json_dumps(json_object_get(item, "scene"), 0);
  scratch_write(&c->scratch, "machine.json", scene);
  free(scene);
  for (size_t k = 0; k < 2; k++) {
    char line[100];
    json_t *report = NULL;
    double h = number(json_object_get(json_object_get(item, "scene"), "settings"), "time_step");
    snprintf(line, sizeof line, "run machine.json --json --integrator %s --h %.17g", names[k],
             k ? 10 * h : h); // hem5 chooses its own steps
    json_object_foreach(expect, key, bounds) {
      if (json_array_size(bounds) < k + 2) continue; // not with this integrator
      if (!report) report = parse(c, line, 0);
      double wanted = json_number_value(json_array_get(bounds, 0)), got = sensor(report, key);
      double off = json_number_value(json_array_get(bounds, k + 1));
      if (!(fabs(got - wanted) <= off))
        fail_msg("%s, %s: %s is %.12g, not %.12g +- %g", text(item, "title"), names[k], key, got,
                 wanted, off);
    }
    json_decref(report);
  }
}

static void machines(void **state) {
  CliCase *c = *state;
  json_error_t error;
  json_t *list = json_load_file(CAIRN_SOURCE_DIR "/tests/scenes/machines.json", 0, &error), *item;
  size_t i;
  if (!list) fail_msg("%s", error.text);
  CHECK(json_array_size(list) >= 30);
  json_array_foreach(list, i, item) machine(c, item);
  json_decref(list);
}

// A gear in the run file: name, terms, effort and error of every frame; its plot in the page.
static void couplings_in_a_run(void **state) {
  CliCase *c = *state;
  json_error_t error;
  json_t *list = json_load_file(CAIRN_SOURCE_DIR "/tests/scenes/machines.json", 0, &error);
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *item = json_array_get(list, i);
    if (strcmp(text(item, "title"), "gear") != 0) continue;
    char *scene = json_dumps(json_object_get(item, "scene"), 0);
    scratch_write(&c->scratch, "gear.json", scene);
    free(scene);
  }
  json_decref(list);
  cairn_status(c, "run gear.json --out gear.h5 --record joints -q", 0);
  CnRun *run;
  CnRunInfo info;
  CnCouplingState s;
  const char *name;
  CnAllocator allocator = cn_allocator_default();
  CHECK_OK(cn_run_open(scratch_file(&c->scratch, "gear.h5"), &allocator, &run));
  cn_run_info(run, &info);
  CHECK(info.coupling_count == 1);
  CHECK_OK(cn_run_coupling(run, 0, &name));
  CHECK(strcmp(name, "c") == 0);
  CHECK_STATUS(cn_run_coupling(run, 1, &name), CN_INVALID_ARGUMENT);
  for (int64_t k = 1; k < info.frame_count; k++) {
    CHECK_OK(cn_run_coupling_states(run, k, &s));
    CHECK_NEAR(s.effort, -1, 1e-9);
    CHECK_NEAR(s.error, 0, 1e-9);
  }
  cn_run_close(run);
  cairn_status(c, "report gear.h5 -o gear.html", 0);
  char *page = file_bytes(scratch_file(&c->scratch, "gear.html"), NULL);
  check_contains(page, "\"title\":\"Coupling efforts\",\"name\":\"c\"");
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(machines, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(couplings_in_a_run, cli_set_up, cli_tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
