// SPDX-License-Identifier: Apache-2.0
// cairn solve, check --answer and info of problem files, through the binary. Expected answers are
// closed-form; then the stored problems.
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "cli_case.h"
#include "problems.h"

// M = (2 1; 1 2), q = (-5, -6): z = (4, 7)/3
static const char lcp[] = "2\n0\n2 2\n2 2\n2 1 1 2\n-5 -6\n";
// w = -z - 1 < 0 for every z >= 0
static const char no_lcp[] = "1\n0\n1 1\n1 1\n-1\n-1\n";
// one contact, W = 1, mu = 0.5: q = (-1, 0.2, 0) sticks, r = (1, -0.2, 0)
static const char sticking[] = "3\n1\n0\n3 3\n3 3\n1 0 0 0 1 0 0 0 1\n-1 0.2 0\n0.5\n";
// the same in global form, M = 2, H = 1, q = (-2, 0.4, 0), b = 0: r = (2, -0.4, 0), v = 0
static const char global[] = "3\n1\n0\n3 3\n3 3\n2 0 0 0 2 0 0 0 2\n"
                             "0\n3 3\n3 3\n1 0 0 0 1 0 0 0 1\n-2 0.4 0\n0 0 0\n0.5\n";

static void check_list(const json_t *object, const char *key, const double *expected, size_t count,
                       double tolerance) {
  const json_t *list = json_object_get(object, key);
  if (!json_is_array(list)) fail_msg("no list %s", key);
  CHECK(json_array_size(list) == count);
  for (size_t i = 0; i < count; i++)
    CHECK_NEAR(json_number_value(json_array_get(list, i)), expected[i], tolerance);
}

// ---- solve ----

static void contract(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.dat", lcp);
  json_t *o = parse(c, "solve p.dat --json --impulses", 0);
  CHECK(strcmp(text(o, "problem"), "p.dat") == 0);
  CHECK(strcmp(text(o, "kind"), "lcp") == 0);
  CHECK(strcmp(text(o, "solver"), "auto") == 0);
  CHECK(number(o, "contacts") == 2 && number(o, "unknowns") == 2);
  CHECK(json_is_true(json_object_get(o, "converged")));
  CHECK(json_is_integer(json_object_get(o, "iterations")));
  CHECK(number(o, "seconds") >= 0 && number(o, "seconds") < 10);
  CHECK(number(o, "residual") <= 1e-8);
  CHECK(number(o, "error_siconos") <= 1e-8);
  CHECK(number(o, "error_scaled") <= 1e-8);
  const double z[2] = {4.0 / 3, 7.0 / 3};
  check_list(o, "z", z, 2, 1e-12);
  CHECK(!json_object_get(o, "r") && !json_object_get(o, "v"));
  json_decref(o);
  // without --impulses there are none
  o = parse(c, "solve p.dat --json", 0);
  CHECK(!json_object_get(o, "z"));
  json_decref(o);
}

static void friction(void **state) {
  CliCase *c = *state;
  const double r[3] = {1, -0.2, 0}, twice[3] = {2, -0.4, 0}, none[3] = {0, 0, 0};
  scratch_write(&c->scratch, "local.dat", sticking);
  scratch_write(&c->scratch, "global.dat", global);
  json_t *o = parse(c, "solve local.dat --json --impulses --tol 1e-12 --solver psor", 0);
  CHECK(strcmp(text(o, "kind"), "fc3d") == 0 && strcmp(text(o, "solver"), "psor") == 0);
  CHECK(number(o, "contacts") == 1 && number(o, "unknowns") == 3);
  check_list(o, "r", r, 3, 1e-11);
  CHECK(!json_object_get(o, "v") && !json_object_get(o, "z"));
  json_decref(o);
  o = parse(c, "solve global.dat --json --impulses --tol 1e-12", 0);
  CHECK(strcmp(text(o, "kind"), "gfc3d") == 0);
  check_list(o, "r", twice, 3, 1e-11);
  check_list(o, "v", none, 3, 1e-11);
  json_decref(o);
}

static void for_people(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.dat", lcp);
  cairn_status(c, "solve p.dat --impulses", 0);
  check_contains(c->command.out, "lcp");
  check_contains(c->command.out, "converged         yes");
  check_contains(c->command.out, "1.33333");
  CHECK(c->command.err[0] == 0);
}

static void not_solved(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "none.dat", no_lcp);
  json_t *o = parse(c, "solve none.dat --json", 3);
  CHECK(json_is_false(json_object_get(o, "converged")));
  CHECK(number(o, "error_siconos") > 1e-8);
  json_decref(o);
  cairn_status(c, "solve none.dat", 3);
  check_contains(c->command.out, "converged         no");
}

static void wrong_usage(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.dat", sticking);
  check_refused(c, "solve", 2, "PROBLEM is missing");
  check_refused(c, "solve p.dat --solver lemk", 2, "did you mean lemke?");
  check_refused(c, "solve p.dat --tol -1", 2, "(got -1)");
  check_refused(c, "solve p.dat --iters 0", 2, "(got 0)");
  check_refused(c, "solve p.dat --solver lemke", 2, "these can: psor");
  // for tools the same sentence is in the object
  json_t *o = parse(c, "solve p.dat --solver lemke --json", 2);
  check_contains(text(o, "error"), "p.dat: solver lemke cannot take friction problems");
  json_decref(o);
  check_refused(c, "check p.dat", 2, "--answer FILE is missing");
  check_refused(c, "check stack --tol 1", 2, "--tol needs --answer");
  check_refused(c, "check p.dat --answer a --set k=1", 2, "--set is for scenes");
}

// Problems given where scenes or runs belong, and what each solver takes.
static void wrong_place(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.dat", lcp);
  check_refused(c, "run p.dat", 1, "p.dat: is a problem, not a scene");
  check_refused(c, "report p.dat", 1, "p.dat: is a problem");
  json_t *o = parse(c, "solvers --json", 0), *row;
  size_t i;
  int lemke = 0, psor = 0;
  json_array_foreach(json_object_get(o, "solvers"), i, row) {
    if (strcmp(text(row, "name"), "lemke") == 0)
      lemke = strcmp(text(row, "accepts"), "lcp mlcp") == 0;
    if (strcmp(text(row, "name"), "psor") == 0)
      psor = strcmp(text(row, "accepts"), "lcp mlcp fc2d fc3d rfc3d step") == 0;
  }
  CHECK(lemke && psor);
  json_decref(o);
}

static void unreadable(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "cut.dat", "2\n0\n2 2\n2 2\n2 1 1");
  scratch_write(&c->scratch, "empty.dat", "");
  scratch_write(&c->scratch, "huge.dat", "2000000000\n0\n2 2\n");
  scratch_write(&c->scratch, "p.dat", lcp);
  scratch_write(&c->scratch, "short.json", "{\"z\": [1]}");
  check_refused(c, "solve nothing.dat", 1, "nothing.dat: ");
  check_refused(c, "solve cut.dat", 1, "cut.dat: ");
  check_refused(c, "solve empty.dat", 1, "empty.dat: ");
  check_refused(c, "solve huge.dat", 1, "huge.dat: ");
  check_refused(c, "info cut.dat", 1, "cut.dat: ");
  check_refused(c, "check cut.dat --answer short.json", 1, "cut.dat: ");
  check_refused(c, "check p.dat --answer nothing.json", 1, "nothing.json: ");
  check_refused(c, "check p.dat --answer short.json", 1, "z: must have 2 numbers (got 1)");
}

// Fewer iterations than needed: the certificate, not the solver, decides.
static void too_few_iterations(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.dat",
                "2\n0\n2 2\n2 2\n1 0.99 0.99 1\n-1 -2\n"); // Gauss-Seidel takes hundreds of sweeps
  json_t *o = parse(c, "solve p.dat --solver psor --iters 1 --tol 1e-12 --json", 3);
  CHECK(number(o, "iterations") == 1);
  CHECK(json_is_false(json_object_get(o, "converged")));
  json_decref(o);
}

// ---- check --answer ----

static void answers(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.dat", global);
  scratch_write(&c->scratch, "good.json", "{\"r\": [2, -0.4, 0], \"v\": [0, 0, 0]}");
  scratch_write(&c->scratch, "bad.json", "{\"r\": [2, -0.4, 0.3]}");
  scratch_write(&c->scratch, "moved.json", "{\"r\": [2, -0.4, 0], \"v\": [0, 0, 0.1]}");
  json_t *o = parse(c, "check p.dat --answer good.json --json", 0);
  CHECK(json_is_true(json_object_get(o, "converged")));
  CHECK(number(o, "error_siconos") < 1e-14);
  json_decref(o);
  o = parse(c, "check p.dat --answer bad.json --json", 3);
  CHECK(json_is_false(json_object_get(o, "converged")));
  CHECK(number(o, "error_siconos") > 1e-2);
  json_decref(o);
  cairn_status(c, "check p.dat --answer moved.json", 3);
  cairn_status(c, "check p.dat --answer bad.json --tol 10", 0);
}

// What solve prints is read back, and has the same errors.
static void round_trip(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "lcp.dat", lcp);
  scratch_write(&c->scratch, "fc.dat", sticking);
  scratch_write(&c->scratch, "gfc.dat", global);
  static const char *const names[] = {"lcp.dat", "fc.dat", "gfc.dat"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char line[128];
    snprintf(line, sizeof line, "solve %s --json --impulses", names[i]);
    json_t *solved = parse(c, line, 0);
    scratch_write(&c->scratch, "answer.json", c->command.out);
    snprintf(line, sizeof line, "check %s --answer answer.json --json", names[i]);
    json_t *checked = parse(c, line, 0);
    CHECK_NEAR(number(checked, "error_siconos"), number(solved, "error_siconos"), 1e-15);
    json_decref(solved);
    json_decref(checked);
  }
}

// ---- info ----

static void info(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.dat", "2\n0\n2 2\n2 2\n4 1 2 4\n-5 -6\n");
  json_t *o = parse(c, "info p.dat --json", 0);
  CHECK(strcmp(text(o, "kind"), "lcp") == 0 && strcmp(text(o, "format"), "text") == 0);
  CHECK(strcmp(text(o, "storage"), "dense") == 0);
  CHECK(number(o, "entries") == 4);
  CHECK_NEAR(number(o, "asymmetry"), 0.25, 0); // |1 - 2|/4
  json_decref(o);
  scratch_write(&c->scratch, "fc.dat", sticking);
  o = parse(c, "info fc.dat --json", 0);
  CHECK(strcmp(text(o, "kind"), "fc3d") == 0);
  CHECK_NEAR(number(o, "asymmetry"), 0, 0);
  CHECK_NEAR(number(o, "mu_least"), 0.5, 0);
  CHECK_NEAR(number(o, "mu_most"), 0.5, 0);
  json_decref(o);
  cairn_status(c, "info fc.dat", 0);
  check_contains(c->command.out, "0.5 .. 0.5");
}

// Cairn's JSON is told from a scene, wherever the word stands.
static void recognised(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "p.json",
                "{\"version\": 1, \"form\": \"explicit\", \"sets\": [{\"kind\": \"unilateral\"}],\n"
                " \"W\": {\"columns\": 1, \"start\": [0, 1], \"column\": [0], \"value\": [2]},\n"
                " \"q\": [-1], \"blocks\": [{\"set\": 0}], \"cairn\": \"problem\"}\n");
  json_t *o = parse(c, "info p.json --json", 0);
  CHECK(strcmp(text(o, "format"), "json") == 0);
  json_decref(o);
  o = parse(c, "info stack --json", 0);
  CHECK(strcmp(text(o, "kind"), "scene") == 0);
  json_decref(o);
}

// ---- stored problems ----

// The verdict is the certificate's; friction problems are all within reach of 1e-4.
static void check_stored(CliCase *c, const char *folder, const char *name) {
  char line[1024];
  snprintf(line, sizeof line, "solve %s/%s --tol 1e-4 --json", folder, name);
  int status = cairn(c, line);
  json_t *o = parse_output(c);
  int converged = json_is_true(json_object_get(o, "converged"));
  int is_lcp = strstr(text(o, "kind"), "lcp") != NULL;
  if (status != (converged ? 0 : 3) || (!is_lcp && !converged))
    fail_msg("%s: exit status %d, converged %d", name, status, converged);
  CHECK(!converged || number(o, "error_siconos") <= 1e-4);
  json_t *kind = json_incref(json_object_get(o, "kind"));
  json_decref(o);
  snprintf(line, sizeof line, "info %s/%s --json", folder, name);
  o = parse(c, line, 0);
  CHECK(json_equal(kind, json_object_get(o, "kind")));
  json_decref(kind);
  json_decref(o);
}

static void stored(void **state) {
  CliCase *c = *state;
  static const char *const folders[] = {"friction", "lcp", "mlcp", "rolling"};
  int count = 0;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", problem_folder(), folders[i]);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
      if (!strstr(entry->d_name, ".dat") && !strstr(entry->d_name, ".hdf5")) continue;
      check_stored(c, path, entry->d_name);
      count++;
    }
    if (folder) closedir(folder);
  }
  CHECK(count >= 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CLI_TEST(contract),    CLI_TEST(friction),
      CLI_TEST(for_people),  CLI_TEST(not_solved),
      CLI_TEST(wrong_usage), CLI_TEST(unreadable),
      CLI_TEST(wrong_place), CLI_TEST(too_few_iterations),
      CLI_TEST(answers),     CLI_TEST(round_trip),
      CLI_TEST(info),        CLI_TEST(recognised),
      CLI_TEST(stored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
