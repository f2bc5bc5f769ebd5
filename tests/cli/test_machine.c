// SPDX-License-Identifier: Apache-2.0
// cairn equilibrium, modes and inverse through the binary.
#include "cli_case.h"

static const char pendulum[] =
    "{\"settings\": {\"time_step\": 0.001, \"time\": 0.05}, \"functions\": {\"swing\": {\"kind\": "
    "\"sine\", \"amplitude\": 0.5, \"frequency\": 1}},"
    "\"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0, 0], \"mass\": 1, \"inertia\": [0.01, "
    "\"=1/12\", \"=1/12\"]}],"
    "\"joints\": [{\"name\": \"hinge\", \"kind\": \"revolute\", \"bodies\": [\"ground\", \"rod\"], "
    "\"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]%s}],"
    "\"sensors\": [{\"name\": \"z\", \"kind\": \"position\", \"body\": \"rod\", \"axis\": \"z\"}]}";

static void write_scene(const CliCase *c, const char *name, const char *axis) {
  char line[1024];
  snprintf(line, sizeof line, pendulum, axis);
  scratch_write(&c->scratch, name, line);
}

static void rest(void **state) {
  CliCase *c = *state;
  write_scene(c, "rod.json", "");
  json_t *object = parse(c, "equilibrium rod.json -o rest.ckpt --json", 0);
  CHECK(strcmp(text(object, "stability"), "stable") == 0);
  CHECK_NEAR(number(object, "energy"), -0.5 * 9.81, 1e-9);
  json_t *body = json_array_get(json_object_get(object, "bodies"), 0);
  json_t *z = json_array_get(json_object_get(body, "position"), 2);
  CHECK_NEAR(json_number_value(z), -0.5, 1e-12);
  json_t *joint = json_array_get(json_object_get(object, "joints"), 0);
  CHECK_NEAR(json_number_value(json_array_get(json_object_get(joint, "force"), 2)), 9.81, 1e-9);
  json_decref(object);
  // a run from there stays there
  object = parse(c, "run --resume rest.ckpt --json", 0);
  CHECK_NEAR(number(object, "kinetic_energy"), 0, 1e-20);
  CHECK_NEAR(number(object, "steps"), 50, 0);
  json_decref(object);
  CHECK(cairn(c, "equilibrium slope") == 1);
  check_contains(c->command.err, "nothing holds body 'box'");
  CHECK(cairn(c, "equilibrium rod.json --contacts glued") == 2);
  // a pile, and the bound on its work
  object = parse(c, "equilibrium pyramid --set rows=6 --json", 0);
  CHECK(number(object, "moved") < 1e-6 && number(object, "residual") < 1e-9);
  CHECK(c->command.err[0] == 0);
  json_decref(object);
  CHECK(cairn(c, "equilibrium pyramid --set rows=6 --work 1e6") == 1);
  check_contains(c->command.err, "within the work allowed");
}

static void modes(void **state) {
  CliCase *c = *state;
  write_scene(c, "rod.json", "");
  CHECK(cairn(c, "modes rod.json") == 1);
  check_contains(c->command.err, "not in equilibrium");
  json_t *object = parse(c, "modes rod.json --at-equilibrium --json", 0),
         *mode = json_array_get(json_object_get(object, "modes"), 0);
  CHECK_NEAR(number(mode, "frequency"), sqrt(1.5 * 9.81) / (2 * 3.14159265358979323846), 1e-9);
  CHECK(json_array_size(json_object_get(mode, "shape")) == 1);
  json_decref(object);
}

static void inverse(void **state) {
  CliCase *c = *state;
  write_scene(c, "driven.json",
              ", \"angle\": {\"drive\": \"position\", \"motor_effort\": \"unlimited\", "
              "\"motor_function\": \"swing\"}");
  json_t *object = parse(c, "inverse driven.json --time 0.25 --samples 2 --json", 0),
         *drive = json_array_get(json_object_get(object, "drives"), 1);
  // at the turning point: th'' = -.5 (2 pi)^2, gravity pulls the rod down from .5 rad below +x
  double w = 2 * 3.14159265358979323846, truth = -0.5 * w * w / 3 - 0.5 * 9.81 * cos(0.5);
  CHECK_NEAR(number(drive, "effort"), truth, 1e-9);
  CHECK(json_array_size(json_object_get(object, "sensors")) == 2);
  json_decref(object);
}

int main(void) {
  const struct CMUnitTest tests[] = {CLI_TEST(rest), CLI_TEST(modes), CLI_TEST(inverse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
