// SPDX-License-Identifier: Apache-2.0
// cairn run: the figures it prints, the same bits whatever the number of threads, progress in its
// two forms, and Ctrl-C.
#include <signal.h>

#include "cli_case.h"

// The fields that other tools rely on.
static const char *const numbers[] = {"steps",
                                      "time",
                                      "bodies",
                                      "contacts_last",
                                      "contacts_mean",
                                      "overlaps",
                                      "iterations_mean",
                                      "ms_per_step",
                                      "ms_collision",
                                      "ms_solver",
                                      "ms_setup",
                                      "ns_per_contact_iteration",
                                      "penetration_max",
                                      "penetration_mean",
                                      "kinetic_energy",
                                      "residual_max",
                                      "steps_not_converged",
                                      "steps_cut_by_time",
                                      "peak_memory_bytes"};
static const char *const texts[] = {"friction_model", "integrator", "solver", "version",
                                    "state_hash"};

static void fields(void **state) {
  CliCase *c = *state;
  json_t *object = parse(c, "run granular --set spheres=50 --steps 100 --json", 0);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) number(object, numbers[i]);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) text(object, texts[i]);
  CHECK(number(object, "steps") == 100);
  CHECK_NEAR(number(object, "time"), 0.5, 1e-12);
  CHECK(number(object, "bodies") == 51);
  CHECK(strlen(text(object, "state_hash")) == 16);
  CHECK(strspn(text(object, "state_hash"), "0123456789abcdef") == 16);
  // what the names promise of each other
  double solver = number(object, "ms_solver"), setup = number(object, "ms_setup");
  double sweeps = number(object, "contacts_mean") * number(object, "iterations_mean");
  CHECK(sweeps > 0);
  CHECK_REL(number(object, "ns_per_contact_iteration"), 1e6 * (solver - setup) / sweeps, 1e-9);
  CHECK(number(object, "ms_collision") + solver <= 1.01 * number(object, "ms_per_step") + 1e-3);
  CHECK(number(object, "penetration_mean") <= number(object, "penetration_max"));
  json_decref(object);
}

// A ball in free fall: the kinetic energy has a closed form, and there is nothing to solve.
static void free_fall(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "fall.json",
                "{\"settings\": {\"gravity\": [0, 0, -10], \"time_step\": 0.01, \"time\": 0.5},"
                " \"bodies\": [{\"mass\": 2, \"inertia\": [1, 1, 1]}]}");
  json_t *object = parse(c, "run fall.json --json", 0);
  CHECK(number(object, "steps") == 50);
  CHECK_REL(number(object, "kinetic_energy"), 0.5 * 2 * 5 * 5, 1e-12);
  CHECK(number(object, "contacts_last") == 0);
  CHECK(number(object, "penetration_max") == 0);
  json_decref(object);
  // the command line goes before the scene
  object = parse(c, "run fall.json --json --h 0.02 --time 0.2", 0);
  CHECK(number(object, "steps") == 10);
  CHECK_REL(number(object, "kinetic_energy"), 0.5 * 2 * 2 * 2, 1e-12);
  json_decref(object);
  // 0.07/0.01 is not 7 in floating point, yet 7 steps are meant; 0.075 needs 8
  object = parse(c, "run fall.json --json --time 0.07", 0);
  CHECK(number(object, "steps") == 7);
  json_decref(object);
  object = parse(c, "run fall.json --json --time 0.075", 0);
  CHECK(number(object, "steps") == 8);
  json_decref(object);
  cairn_status(c, "run fall.json --time 0.075", 0);
  check_contains(c->command.err, "0.075 s are no whole number of steps of 0.01 s: 0.08 s are made");
  check_refused(c, "run fall.json --h 10 --time 5", 1,
                "a step of 10 s is longer than the 5 s to simulate");
  check_refused(c, "run fall.json --h 1", 1, "a step of 1 s is longer than the 0.5 s to simulate");
  // nothing was made: nothing to trust
  cairn_status(c, "run fall.json --steps 0 --strict", 3);
  check_contains(c->command.out, "not judged: no step was made");
}

static void same_hash(void **state) {
  CliCase *c = *state;
  static const char *const lines[] = {
      "run granular --set spheres=80 --steps 120 --json",
      "run granular --set spheres=80 --steps 120 --json --threads 3",
      "run granular --set spheres=80 --time 0.6 --json -v"};
  char hash[32] = "";
  for (size_t i = 0; i < 3; i++) {
    json_t *object = parse(c, lines[i], 0);
    if (i == 0) snprintf(hash, sizeof hash, "%s", text(object, "state_hash"));
    CHECK(strcmp(hash, text(object, "state_hash")) == 0);
    json_decref(object);
  }
  json_t *object = parse(c, "run granular --set spheres=80 --set seed=2 --steps 120 --json", 0);
  CHECK(strcmp(hash, text(object, "state_hash")) != 0);
  json_decref(object);
}

static void options_reach_the_world(void **state) {
  CliCase *c = *state;
  json_t *object = parse(c,
                         "run stack --steps 5 --json --solver pssor --friction convex "
                         "--integrator impulse --iters 7 --h 0.002",
                         0);
  CHECK(strcmp(text(object, "solver"), "pssor") == 0);
  CHECK(strcmp(text(object, "friction_model"), "convex") == 0);
  CHECK(strcmp(text(object, "integrator"), "impulse") == 0);
  CHECK_NEAR(number(object, "time"), 0.01, 1e-15);
  CHECK(number(object, "iterations_mean") == 7);
  // no tolerance was asked for: none was missed
  CHECK(number(object, "steps_not_converged") == 0 && number(object, "tolerance") == 0);
  json_decref(object);
  object = parse(c, "run stack --steps 5 --json --solver pssor --iters 2 --tol 1e-12", 0);
  CHECK(number(object, "steps_not_converged") == 5 && number(object, "tolerance") == 1e-12);
  json_decref(object);
  object = parse(c,
                 "run stack --steps 5 --json --setting solver.name=pssor --setting "
                 "solver.iterations=9 --setting gravity=0,0,-1 --setting friction=convex",
                 0);
  CHECK(strcmp(text(object, "solver"), "pssor") == 0);
  CHECK(strcmp(text(object, "friction_model"), "convex") == 0);
  CHECK(number(object, "iterations_mean") == 9);
  json_decref(object);
  object = parse(c, "run slope --steps 5 --json --tol 0.1", 0);
  CHECK(number(object, "steps_not_converged") == 0);
  CHECK(number(object, "residual_max") <= 0.1);
  json_decref(object);
}

// One word sets tolerance and work of auto; what it means is told.
static void efforts(void **state) {
  CliCase *c = *state;
  static const char *const words[] = {"quick", "normal", "exact"};
  static const double tolerances[] = {1e-3, 1e-4, 1e-8};
  char line[128];
  for (int32_t i = 0; i < 3; i++) {
    snprintf(line, sizeof line, "run stack --steps 3 --json --effort %s", words[i]);
    json_t *object = parse(c, line, 0);
    CHECK(number(object, "tolerance") == tolerances[i]);
    CHECK(number(object, "residual_max") <= tolerances[i]);
    CHECK(strcmp(text(object, "effort"), words[i]) == 0);
    json_decref(object);
  }
  cairn_status(c, "run stack --steps 3 --effort exakt", 2);
  check_contains(c->command.err, "did you mean exact?");
  // a scene's psor gives way; one that is asked for does not
  json_t *object = parse(c, "run granular --set spheres=20 --steps 3 --json --effort quick", 0);
  CHECK(strcmp(text(object, "solver"), "auto") == 0);
  json_decref(object);
  cairn_status(c, "run stack --steps 3 --effort quick --solver psor", 2);
  check_contains(c->command.err, "--effort is of the solver auto");
}

// Time is the number of steps times h, to the last bit; sensors are read at the end.
static void time_and_sensors(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "ball.json",
                "{\"bodies\": [{\"name\": \"ball\", \"velocity\": [1, 0, 0], \"shapes\":"
                " [{\"kind\": \"sphere\", \"radius\": 0.1}]}],"
                " \"sensors\": [{\"name\": \"way\", \"kind\": \"position\", \"body\": \"ball\","
                " \"axis\": \"x\"}]}");
  static const char *const integrators[] = {"impulse", "moreau-jean", "rkf45"};
  for (int i = 0; i < 3; i++) {
    char line[200];
    snprintf(line, sizeof line, "run ball.json --steps 1000 --h 0.0001 --json --integrator %s",
             integrators[i]);
    json_t *object = parse(c, line, 0);
    CHECK(number(object, "time") == 1000 * 0.0001);
    json_t *sensor = json_array_get(json_object_get(object, "sensors"), 0);
    CHECK(strcmp(text(sensor, "name"), "way") == 0 && strcmp(text(sensor, "unit"), "m") == 0);
    CHECK_NEAR(number(sensor, "value"), 0.1, 1e-12);
    json_decref(object);
  }
}

static void summary(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run stack --steps 5", 0);
  check_contains(c->command.out, "nothing was recorded");
  check_contains(c->command.out, "state hash");
  CHECK(c->command.err[0] == 0);
  cairn_status(c, "run stack --steps 5 -q", 0);
  CHECK(c->command.out[0] == 0 && c->command.err[0] == 0);
  cairn_status(c, "run stack --steps 5 -v", 0);
  check_contains(c->command.out, "threads");
  check_contains(c->command.err, "auto");
}

// ---- the verdict ----

// The last line, the fields, the exit status, and the same line in the run file.
static void verdict(void **state) {
  CliCase *c = *state;
  static const char *const torn =
      "{\"settings\": {\"time_step\": 0.001, \"time\": 0.1},"
      " \"bodies\": [{\"name\": \"bob\", \"position\": [1, 0, 0], \"mass\": 1, \"inertia\": [0.1, "
      "0.1, 0.1]}],"
      " \"joints\": [{\"name\": \"hook\", \"kind\": \"ball\", \"bodies\": [\"ground\", \"bob\"],"
      " \"anchors\": [[0, 0, 0.05], [0, 0, 0]]}]}";
  scratch_write(&c->scratch, "torn.json", torn);
  cairn_status(c, "run torn.json --strict --out torn.h5", 3);
  check_contains(c->command.out, "\ndo not trust this run: joint 'hook' starts open by 0.05 m (5 % "
                                 "of its size); mend the start");
  check_contains(c->command.err, "cairn: torn.json: step 1: joint 'hook' starts open by 0.05 m");
  CHECK(line_count(c->command.err) == 1);
  cairn_status(c, "info torn.h5", 0);
  check_contains(c->command.out, "do not trust this run: joint 'hook'");
  cairn_status(c, "run torn.json -q", 0);
  json_t *object = parse(c, "run torn.json --json --strict", 3);
  CHECK(strcmp(text(object, "verdict"), "do not trust") == 0);
  json_t *reasons = json_object_get(object, "reasons");
  CHECK(json_array_size(reasons) == 1);
  CHECK(strcmp(text(json_array_get(reasons, 0), "name"), "joints") == 0);
  CHECK(number(json_array_get(reasons, 0), "first_step") == 1);
  json_decref(object);
  cairn_status(c, "run stack --steps 20 --strict --out good.h5", 0);
  check_contains(c->command.out, "\ntrusted: 20 steps");
  cairn_status(c, "info good.h5", 0);
  check_contains(c->command.out, "trusted: 20 steps");
  object = parse(c, "run stack --steps 20 --json --strict", 0);
  CHECK(strcmp(text(object, "verdict"), "trusted") == 0);
  CHECK(json_array_size(json_object_get(object, "reasons")) == 0);
  json_decref(object);
}

// hem5 and rkf45 solve no step problems: their certificate is error and drift.
static void own_steps(void **state) {
  CliCase *c = *state;
  static const char *const integrators[] = {"hem5", "rkf45"};
  for (int i = 0; i < 2; i++) {
    char line[120];
    snprintf(line, sizeof line, "run newton-cradle --steps 5 --integrator %s", integrators[i]);
    cairn_status(c, line, 0);
    check_contains(c->command.out, "error a step   ");
    check_contains(c->command.out, "of the tolerance ");
    CHECK(!strstr(c->command.out, "residual") && !strstr(c->command.out, "psor"));
    snprintf(line, sizeof line, "run newton-cradle --steps 5 --json --integrator %s",
             integrators[i]);
    json_t *object = parse(c, line, 0);
    CHECK(strcmp(text(object, "certificate"), "drift") == 0);
    CHECK(number(object, "integrator_tolerance") > 0 &&
          number(object, "integrator_error_max") <= 1);
    CHECK(json_is_null(json_object_get(object, "residual_max")));
    json_decref(object);
  }
}

// ---- a state that leaves the real numbers ----

static void not_finite(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "far.json",
                "{\"settings\": {\"gravity\": [0, 0, -1e300], \"time_step\": 1},"
                " \"bodies\": [{\"name\": \"comet\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}");
  check_refused(c, "run far.json --time 1e9 -q", 1, "comet");
  check_contains(c->command.err, "cairn: far.json: step ");
}

// ---- progress ----

// Piped: whole lines, no control characters, at most one a second.
static void piped_progress(void **state) {
  CliCase *c = *state;
  command_start(&c->command, CAIRN_COMMAND, &c->scratch, "run granular --time 1e6");
  sleep_seconds(2.6);
  CHECK(kill(c->command.pid, SIGINT) == 0);
  command_wait(&c->command);
  CHECK(c->command.status == 130);
  int lines = line_count(c->command.err);
  CHECK(lines >= 1 && lines <= 4);
  CHECK(strpbrk(c->command.err, "\r\033") == NULL);
  check_contains(c->command.err, "steps/s, left ");
  check_contains(c->command.out, "interrupted after ");
}

static void bar(void **state) {
  CliCase *c = *state;
  int status = -1;
  char *shown = command_on_terminal(CAIRN_COMMAND, &c->scratch,
                                    "run granular --set spheres=200 --time 1", 100, &status);
  CHECK(status == 0);
  check_contains(shown, "\rgranular [");
  check_contains(shown, "0 %");
  check_contains(shown, "########] 100 %");
  check_contains(shown, "steps/s  left ");
  // drawn over itself: one line break behind the last drawing
  char *end = strstr(shown, "granular: ");
  CHECK(end != NULL);
  *end = 0;
  CHECK(line_count(shown) == 1);
  free(shown);
  // no drawing is wider than the terminal
  shown = command_on_terminal(CAIRN_COMMAND, &c->scratch,
                              "run granular --set spheres=20 --time 0.2 --json", 40, &status);
  CHECK(status == 0);
  end = strchr(shown, '{');
  CHECK(end != NULL);
  *end = 0;
  char *rest = NULL;
  for (char *part = strtok_r(shown, "\r\n", &rest); part; part = strtok_r(NULL, "\r\n", &rest))
    CHECK(strcspn(part, "\033") < 40);
  free(shown);
}

static void quiet_on_a_terminal(void **state) {
  CliCase *c = *state;
  int status = -1;
  char *shown =
      command_on_terminal(CAIRN_COMMAND, &c->scratch, "run stack --steps 20 -q", 80, &status);
  CHECK(status == 0 && shown[0] == 0);
  free(shown);
}

// ---- Ctrl-C ----

static void interrupted(void **state) {
  CliCase *c = *state;
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < 3; i++) {
    command_release(&c->command);
    command_start(&c->command, CAIRN_COMMAND, &c->scratch,
                  "run granular --set spheres=100 --time 1e6 --json");
    sleep_seconds(0.4);
    CHECK(kill(c->command.pid, signals[i]) == 0);
    command_wait(&c->command);
    CHECK(c->command.status == 130);
    json_t *object = parse_output(c);
    CHECK(json_is_true(json_object_get(object, "interrupted")));
    CHECK(number(object, "steps") > 0);
    json_decref(object);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CLI_TEST(fields),
      CLI_TEST(free_fall),
      CLI_TEST(same_hash),
      CLI_TEST(options_reach_the_world),
      CLI_TEST(efforts),
      CLI_TEST(time_and_sensors),
      CLI_TEST(summary),
      CLI_TEST(verdict),
      CLI_TEST(own_steps),
      CLI_TEST(not_finite),
      CLI_TEST(piped_progress),
      CLI_TEST(bar),
      CLI_TEST(quiet_on_a_terminal),
      CLI_TEST(interrupted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
