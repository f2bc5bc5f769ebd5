// SPDX-License-Identifier: Apache-2.0
// What a person meets first: help, lists, wrong options, wrong names, exit statuses. Driven through
// the binary, as a person does.
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "cli_case.h"

// ---- help ----

static void help_for_all(void **state) {
  CliCase *c = *state;
  CHECK(cairn(c, "--help") == 0);
  CHECK(c->command.err[0] == 0);
  check_contains(c->command.out, "example");
  char *list = strdup(c->command.out);
  CHECK(cairn(c, "help") == 0);
  CHECK(strcmp(list, c->command.out) == 0);
  // without a command the same text is an error
  CHECK(cairn(c, "") == 2);
  CHECK(strcmp(list, c->command.err) == 0);
  free(list);
}

// Every command of the list has a help text with an example, under both names.
static void help_for_each(void **state) {
  CliCase *c = *state;
  CHECK(cairn(c, "--help") == 0);
  char *list = strdup(c->command.out), *rest = NULL;
  int count = 0;
  for (char *line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char name[32], words[80];
    if (sscanf(line, "  %31[a-z]", name) != 1 || strncmp(line, "  ", 2) != 0 || line[2] == ' ')
      continue;
    snprintf(words, sizeof words, "%s --help", name);
    CHECK(cairn(c, words) == 0);
    check_contains(c->command.out, "usage: cairn ");
    check_contains(c->command.out, "examples:\n  cairn ");
    check_contains(c->command.out, "--help");
    char *long_form = strdup(c->command.out);
    snprintf(words, sizeof words, "help %s", name);
    CHECK(cairn(c, words) == 0);
    CHECK(strcmp(long_form, c->command.out) == 0);
    free(long_form);
    count++;
  }
  free(list);
  CHECK(count >= 6);
}

static void manual_page(void **state) {
  CliCase *c = *state;
  CHECK(cairn(c, "man") == 0);
  check_contains(c->command.out, ".TH CAIRN 1");
  check_contains(c->command.out, "cairn run SCENE");
  check_contains(c->command.out, "\\-\\-integrator I");
  check_contains(c->command.out, ".SH EXIT STATUS");
}

static void version(void **state) {
  CliCase *c = *state;
  CHECK(cairn(c, "--version") == 0);
  char expected[64];
  snprintf(expected, sizeof expected, "cairn %s\n", cn_version());
  CHECK(strcmp(c->command.out, expected) == 0);
}

// ---- wrong usage ----

static void wrong_words(void **state) {
  CliCase *c = *state;
  check_refused(c, "rnu", 2, "unknown command rnu (did you mean run?)");
  // a file in the place of a command, a name without its ending, a scene in the place of a run
  check_refused(c, "stack", 2, "stack is no command: `cairn run stack` takes it");
  scratch_write(&c->scratch, "mine.json", "{}");
  check_refused(c, "mine.json", 2, "`cairn run mine.json` takes it");
  check_refused(c, "run mine", 1, "did you mean \"mine.json\"?");
  check_refused(c, "render mine.json -o a.png", 1,
                "`cairn run mine.json --out run.h5` records one");
  check_refused(c, "zzzzzzzz", 2, "unknown command zzzzzzzz");
  check_refused(c, "--verison", 2, "unknown option --verison");
  check_refused(c, "help rnu", 2, "did you mean run?");
  check_refused(c, "run stack --solvr psor", 2, "unknown option --solvr (did you mean --solver?)");
  check_refused(c, "run stack -x", 2, "unknown option -x");
  check_refused(c, "run stack --solver pso", 2, "did you mean psor?");
  check_refused(c, "run stack --solver none", 2, "there are: ");
  check_refused(c, "run stack --integrator impuls", 2, "did you mean impulse?");
  check_refused(c, "run stack --friction columb", 2, "did you mean coulomb?");
}

static void wrong_values(void **state) {
  CliCase *c = *state;
  check_refused(c, "run", 2, "SCENE is missing");
  check_refused(c, "check", 2, "SCENE|PROBLEM is missing");
  check_refused(c, "run stack pyramid", 2, "`pyramid` is one argument too many");
  check_refused(c, "run stack --h", 2, "--h needs a value");
  check_refused(c, "run stack --h 0", 2, "--h must be a number, positive (got 0)");
  check_refused(c, "run stack --h nan", 2, "(got nan)");
  check_refused(c, "run stack --h 1e-3x", 2, "(got 1e-3x)");
  check_refused(c, "run stack --tol=-1", 2, "(got -1)");
  check_refused(c, "run stack --steps 1.5", 2, "whole number");
  check_refused(c, "run stack --threads 0", 2, "1 .. 1024 (got 0)");
  check_refused(c, "run stack --iters -3", 2, "(got -3)");
  check_refused(c, "run stack --json=yes", 2, "--json takes no value");
  check_refused(c, "run stack --set boxes", 2, "KEY=VALUE");
  check_refused(c, "run stack --set boxes=ten", 2, "must be a number (got ten)");
  check_refused(c, "run stack --setting time_step", 2, "--setting needs KEY=VALUE");
  check_refused(c, "run stack --setting solver.facet=8", 2, "did you mean solver.facets?");
  check_refused(c, "run stack --setting solver.facets=7", 2, "must be even, from 4 to 64 (got 7)");
  check_refused(c, "run stack --setting friction=columb", 2, "columb does not fit a choice");
  check_refused(c, "run stack --setting gravity=1,2", 2, "1,2 does not fit a vector");
  check_refused(c, "run stack --setting gravity=[1,2,3", 2, "a vector, as 0,0,-9.81 does");
  check_refused(c, "run stack --setting solver.facets=13", 2, "--setting solver: facets must be");
  check_refused(c, "run stack --setting time_step=0", 2, "--setting time_step must be");
  check_refused(c, "run stack --setting time=5", 2, "it is an option, --time 5");
  cairn_status(c, "run stack --steps 1 -q --setting gravity=[0,0,-1]", 0);
  check_refused(c, "run stack --time 1 --steps 5", 2, "exclude each other");
  check_refused(c, "run stack -q -v", 2, "exclude each other");
}

// ---- failed jobs ----

static void wrong_scenes(void **state) {
  CliCase *c = *state;
  check_refused(c, "run nothing.json", 1, "nothing.json");
  check_refused(c, "check nothing.json", 1, "nothing.json");
  check_refused(c, "run stack --steps 1 --set boxs=3", 1, "did you mean");
  scratch_write(
      &c->scratch, "bad.json",
      "{\"bodies\": [{\"mass\": -1, \"shapes\": [{\"kind\": \"sphere\", \"radius\": 1}]}]}");
  check_refused(c, "run bad.json", 1, "cairn: bad.json: /bodies/0/mass: ");
  check_refused(c, "check bad.json", 1, "cairn: bad.json: /bodies/0/mass: ");
  // with --json the object says the same
  json_t *object = parse(c, "run bad.json --json", 1);
  check_contains(c->command.err, text(object, "error"));
  json_decref(object);
}

static void full_output(void **state) {
  CliCase *c = *state;
  char line[512];
  snprintf(line, sizeof line, "-c exec${IFS}%s${IFS}solvers>/dev/full", CAIRN_COMMAND);
  command_run(&c->command, "/bin/sh", &c->scratch, line);
  CHECK(c->command.status == 1);
  check_contains(c->command.err, "cairn: standard output: ");
  CHECK(line_count(c->command.err) == 1);
}

// ---- lists and check ----

static void lists(void **state) {
  CliCase *c = *state;
  static const char *const names[] = {"scenes", "solvers", "integrators"};
  for (size_t i = 0; i < 3; i++) {
    char line[64];
    snprintf(line, sizeof line, "%s --json", names[i]);
    json_t *object = parse(c, line, 0), *list = json_object_get(object, names[i]);
    CHECK(json_array_size(list) > 0);
    for (size_t k = 0; k < json_array_size(list); k++) {
      json_t *row = json_array_get(list, k);
      CHECK(json_is_string(json_object_get(row, "summary")));
      CHECK(cairn(c, names[i]) == 0);
      check_contains(c->command.out, json_string_value(json_object_get(row, "name")));
    }
    json_decref(object);
  }
}

static const char overlapping[] =
    "{\"parameters\": {\"used\": 1, \"idle\": 7}, \"settings\": {\"time_step\": 0.01},"
    " \"bodies\": ["
    "{\"name\": \"one\", \"shapes\": [{\"kind\": \"sphere\", \"radius\": \"=used\", \"density\": "
    "3}]},"
    "{\"name\": \"two\", \"position\": [0, 0, 1.5],"
    " \"shapes\": [{\"kind\": \"sphere\", \"radius\": 1, \"density\": 3}]}]}";

static void check_command(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "two.json", overlapping);
  json_t *object = parse(c, "check two.json --json", 1); // half of a radius is too deep
  // two balls of density 3 and radius 1, centres 1.5 apart
  CHECK_NEAR(number(object, "mass"), 8 * 3.14159265358979323846, 1e-12);
  CHECK_NEAR(number(object, "overlap_max"), 0.5, 1e-15);
  CHECK(json_integer_value(json_object_get(object, "overlap_count")) == 1);
  json_t *overlap = json_array_get(json_object_get(object, "overlaps"), 0);
  check_contains(text(overlap, "body_a"), "one");
  check_contains(text(overlap, "body_b"), "two");
  CHECK_NEAR(number(object, "size_min"), 2, 0);
  CHECK_NEAR(number(object, "size_max"), 2, 0);
  // sqrt(1/9.81)/20 = 0.01596, rounded down
  CHECK_NEAR(number(object, "recommended_h"), 0.01, 1e-17);
  json_t *unused = json_object_get(object, "unused_parameters");
  CHECK(json_array_size(unused) == 1);
  CHECK(strcmp(json_string_value(json_object_get(json_array_get(unused, 0), "name")), "idle") == 0);
  json_decref(object);
  CHECK(cairn(c, "check two.json") == 1);
  check_contains(c->command.out, "0.5 m");
  check_contains(c->command.out, "idle");
  check_contains(c->command.err, "overlap by 0.5 m, 50 % of the smaller one's radius");
  // a twentieth of a radius is allowed, and a little more is not
  static const char pair[] = "{\"parameters\": {\"d\": 1}, \"bodies\": [{\"kind\": \"fixed\", "
                             "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 1}]}, {\"position\":"
                             "[\"=d\", 0, 0], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5}"
                             "]}]}";
  scratch_write(&c->scratch, "pair.json", pair);
  CHECK(cairn(c, "check pair.json --set d=1.476") == 0);
  CHECK(cairn(c, "check pair.json --set d=1.474") == 1);
}

// 30,000 spheres are eight slabs: four ranks have two each; with more some have one, and wait for the others.
static void ranks_plan(void **state) {
  CliCase *c = *state;
  json_t *object = parse(c, "check granular --set spheres=30000 --ranks 7 --json", 0);
  CHECK_NEAR(number(object, "slabs"), 8, 0);
  CHECK_NEAR(number(object, "ranks_at_work"), 7, 0);
  CHECK_NEAR(number(object, "ranks_efficiency"), 4. / 7, 1e-15);
  CHECK_NEAR(number(object, "ranks_best"), 4, 0);
  CHECK_NEAR(number(object, "ranks_best_efficiency"), 1, 0);
  json_decref(object);
  check_refused(c, "check granular --ranks 0", 2, "(got 0)");
}

// What is given where something else is taken, in one line with what takes it.
static void other_files(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "two.json", overlapping);
  CHECK(cairn(c, "run bouncing-ball --steps 3 --out r.h5 --checkpoint c.ckpt -q") == 0);
  static const char *const cases[][2] = {
      {"run r.h5", "is a recorded run, not a scene: `cairn report` shows it"},
      {"check r.h5", "is a recorded run, not a scene"},
      {"run c.ckpt", "is a checkpoint, not a scene: `cairn run --resume c.ckpt`"},
      {"solve two.json", "is a scene, not a problem: `cairn run` simulates it"},
      {"solve r.h5", "is a recorded run, not a problem"},
      {"run stack --set foo=1", "no such parameter; there are boxes, ratio"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK(cairn(c, cases[i][0]) == 1);
    check_contains(c->command.err, cases[i][1]);
  }
}

// Parameters are listed, values that the scene works out from them are not.
static void scenes_command(void **state) {
  CliCase *c = *state;
  CHECK(cairn(c, "scenes") == 0);
  check_contains(c->command.out, "spheres=");
  CHECK(!strstr(c->command.out, "0.22000000000000003"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CLI_TEST(help_for_all),   CLI_TEST(help_for_each), CLI_TEST(manual_page),
      CLI_TEST(version),        CLI_TEST(wrong_words),   CLI_TEST(wrong_values),
      CLI_TEST(wrong_scenes),   CLI_TEST(full_output),   CLI_TEST(lists),
      CLI_TEST(check_command),  CLI_TEST(ranks_plan),    CLI_TEST(other_files),
      CLI_TEST(scenes_command),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
