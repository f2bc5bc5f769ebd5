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
  // a servo is asked what it would have to give, not what its spring has
  static const char *const motors[] = {"\"motor_effort\": \"unlimited\"",
                                       "\"motor_effort\": 3, \"motor_stiffness\": 100, "
                                       "\"motor_damping\": 5"};
  for (int k = 0; k < 2; k++) {
    char joint[256];
    snprintf(joint, sizeof joint,
             ", \"angle\": {\"drive\": \"position\", %s, \"motor_function\": \"swing\"}",
             motors[k]);
    write_scene(c, "driven.json", joint);
    json_t *object = parse(c, "inverse driven.json --time 0.25 --samples 2 --json", 0),
           *drive = json_array_get(json_object_get(object, "drives"), 1);
    // at the turning point: th'' = -.5 (2 pi)^2, gravity pulls the rod down from .5 rad below +x
    double w = 2 * 3.14159265358979323846, truth = -0.5 * w * w / 3 - 0.5 * 9.81 * cos(0.5);
    CHECK_NEAR(number(drive, "effort"), truth, 1e-9);
    CHECK(json_array_size(json_object_get(object, "sensors")) == 2);
    json_decref(object);
  }
}

// A motor that keeps a speed: 2 rad/s for .25 s from where the scene has it, and no step in between.
static void inverse_of_speeds(void **state) {
  CliCase *c = *state;
  write_scene(c, "turned.json",
              ", \"angle\": {\"motor_effort\": \"unlimited\", \"motor_speed\": 2}");
  json_t *object = parse(c, "inverse turned.json --time 0.25 --samples 3 --json", 0),
         *drive = json_array_get(json_object_get(object, "drives"), 2);
  CHECK_NEAR(number(drive, "value"), 0.5, 1e-12);
  CHECK_NEAR(number(drive, "effort"), -0.5 * 9.81 * cos(0.5), 1e-9);
  json_decref(object);
  // the integral of sin: (1 - cos(2 pi t)) .5/(2 pi)
  write_scene(c, "driven.json",
              ", \"angle\": {\"motor_effort\": \"unlimited\", \"motor_function\": \"swing\"}");
  object = parse(c, "inverse driven.json --time 0.25 --samples 1 --json", 0);
  drive = json_array_get(json_object_get(object, "drives"), 0);
  CHECK_NEAR(number(drive, "value"), 0.25 / 3.14159265358979323846, 1e-11);
  json_decref(object);
  write_scene(c, "free.json", "");
  CHECK(cairn(c, "inverse free.json") == 1);
  check_contains(c->command.err, "there is nothing to ask");
}

// A drum of radius .1 winds up a load of 2 kg by a coupling that only pulls one way; lowered faster than
// it falls, the load is free.
static void inverse_of_a_winch(void **state) {
  CliCase *c = *state;
  static const char winch[] =
      "{\"settings\": {\"time\": 1}, \"functions\": {\"f\": {\"kind\": \"sine\", \"amplitude\": "
      "%g, "
      "\"frequency\": \"=1/(2*pi)\"}}, \"bodies\": [{\"name\": \"drum\", \"mass\": 1, \"inertia\": "
      "[1e-9, 1e-9, 1e-9]}, {\"name\": \"load\", \"mass\": 2, \"inertia\": [1, 1, 1]}], "
      "\"joints\": [{\"name\": \"axle\", \"kind\": \"revolute\", \"bodies\": [\"ground\", "
      "\"drum\"], \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], \"angle\": {\"drive\": \"position\", "
      "\"motor_function\": \"f\", \"motor_effort\": \"unlimited\"}}, {\"name\": \"guide\", "
      "\"kind\": "
      "\"prismatic\", \"bodies\": [\"ground\", \"load\"], \"anchor\": [0, 0, 0], \"axis\": [0, 0, "
      "1]}], "
      "\"couplings\": [{\"terms\": [{\"joint\": \"guide\"}, {\"joint\": \"axle\", \"coefficient\": "
      "-0.1}], \"one_sided\": true}]}";
  static const double swings[] = {0, -20, 20, 200}; // at the turning point x'' = -x
  for (int i = 0; i < 4; i++) {
    char line[2048];
    snprintf(line, sizeof line, winch, swings[i]);
    scratch_write(&c->scratch, "winch.json", line);
    json_t *object = parse(c, "inverse winch.json --time 1.5707963267948966 --samples 1 --json", 0),
           *drive = json_array_get(json_object_get(object, "drives"), 0);
    double lift = 9.81 - 0.1 * swings[i], truth = lift > 0 ? 0.2 * lift : 0;
    CHECK_NEAR(number(drive, "effort"), truth, 1e-6);
    json_decref(object);
  }
}

// Starts that a run could not mend are told, and where nothing holds a shaft that is turned.
static void starts(void **state) {
  CliCase *c = *state;
  write_scene(c, "beyond.json", ", \"angle\": {\"lower\": 0.5, \"upper\": 1}");
  CHECK(cairn(c, "check beyond.json") == 1);
  check_contains(c->command.err, "joint 'hinge' starts beyond its limit by 0.5 rad");
  CHECK(cairn(c, "run beyond.json") == 0);
  check_contains(c->command.out, "mend the start");
  write_scene(c, "off.json",
              "}], \"couplings\": [{\"name\": \"gear\", \"offset\": 1, "
              "\"terms\": [{\"joint\": \"hinge\"}]");
  CHECK(cairn(c, "check off.json") == 1);
  check_contains(c->command.err, "coupling 'gear' starts off by 1 rad");
  check_contains(c->command.out, "freedoms          0");
  write_scene(c, "shaft.json", ", \"angle\": {\"drive\": \"effort\", \"motor_effort\": 50}");
  CHECK(cairn(c, "equilibrium shaft.json") == 1);
  check_contains(c->command.err, "nothing holds joint 'hinge', it turns without end");
}

int main(void) {
  const struct CMUnitTest tests[] = {CLI_TEST(rest),
                                     CLI_TEST(modes),
                                     CLI_TEST(inverse),
                                     CLI_TEST(inverse_of_speeds),
                                     CLI_TEST(inverse_of_a_winch),
                                     CLI_TEST(starts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
