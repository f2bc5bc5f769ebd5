// SPDX-License-Identifier: Apache-2.0
// cairn run --dump-problems: the files hold the problem of their step. The same scene is stepped
// here, by the same bits; what `cairn solve` makes of the file must be what the step had.
#include <stdio.h>
#include <string.h>

#include <cairn/scene.h>

#include "check.h"
#include "cli_case.h"

// A ball that slides and one at rest on a plane, and a pendulum that swings beside them.
static const char scene_text[] =
    "{\"settings\": {\"time_step\": 0.01, \"time\": 0.1,\n"
    "  \"solver\": {\"name\": \"psor\", \"iterations\": 2000, \"tolerance\": 1e-13}},\n"
    " \"materials\": {\"m\": {\"friction\": 0.4}},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"table\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\", \"material\": "
    "\"m\"}]},\n"
    "  {\"name\": \"slider\", \"position\": [0, 0, 0.1], \"velocity\": [1, 0.5, 0],\n"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"density\": 1000, \"material\": "
    "\"m\"}]},\n"
    "  {\"name\": \"bob\", \"position\": [3, 0, 2],\n"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"density\": 1000, \"material\": "
    "\"m\"}]},\n"
    "  {\"name\": \"rest\", \"position\": [0, 2, 0.1],\n"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"density\": 2000, \"material\": "
    "\"m\"}]}],\n"
    " \"joints\": [{\"name\": \"pin\", \"kind\": \"ball\", \"bodies\": [\"bob\", \"ground\"],\n"
    "   \"anchor\": [2, 0, 2]}]}\n";

// The world of the scene after `steps` steps.
static CnWorld *stepped(const Scratch *scratch, const char *name, int steps) {
  CnAllocator allocator = cn_allocator_default();
  CnScene *scene;
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  CHECK_OK(cn_scene_open(scratch_file(scratch, name), NULL, 0, &allocator, &scene));
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  for (int i = 0; i < steps; i++) CHECK_OK(cn_world_step(world, NULL));
  cn_scene_destroy(scene);
  return world;
}

static double element(const json_t *object, const char *key, size_t index) {
  return json_number_value(json_array_get(json_object_get(object, key), index));
}

// r, l and v of the file's answer against the step's; its blocks are the joint's three rows, then
// the contacts'.
static void compare(const json_t *solved, CnWorld *world) {
  CnProblem *problem;
  const CnAnswer *answer;
  CnExpanded expanded;
  CnProblemInfo info;
  CHECK_OK(cn_world_problem(world, &problem, &answer));
  CHECK_OK(cn_problem_expand(problem, &expanded));
  cn_problem_info(problem, &info);
  CHECK(info.kind_count[CN_BLOCK_BILATERAL] == 1 && info.kind_count[CN_BLOCK_FRICTION] == 2);
  CHECK(json_array_size(json_object_get(solved, "r")) == 6);
  CHECK(json_array_size(json_object_get(solved, "l")) == 3);
  CHECK(json_array_size(json_object_get(solved, "v")) == (size_t)expanded.m.row_count);
  for (size_t i = 0; i < 3; i++) CHECK_NEAR(element(solved, "l", i), answer->g[i], 1e-8);
  for (size_t i = 0; i < 6; i++) CHECK_NEAR(element(solved, "r", i), answer->g[3 + i], 1e-8);
  for (int32_t group = 0; group < expanded.group_count; group++)
    for (int32_t k = 0; k < 6 && expanded.group_column[group] >= 0; k++)
      CHECK_NEAR(element(solved, "v", (size_t)(expanded.group_column[group] + k)),
                 answer->v[6 * group + k], 1e-8);
  cn_expanded_destroy(&expanded);
}

static void same_as_the_step(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "scene.json", scene_text);
  json_t *o = parse(c, "run scene.json --dump-problems problems --dump-every 4 --json -q", 0);
  CHECK(number(o, "problems_written") == 2);
  json_decref(o);
  CHECK(file_exists(scratch_file(&c->scratch, "problems/step-000004.hdf5")));
  CHECK(file_exists(scratch_file(&c->scratch, "problems/step-000008.hdf5")));
  CHECK(!file_exists(scratch_file(&c->scratch, "problems/step-000001.hdf5")));
  for (int step = 4; step <= 8; step += 4) {
    char line[160];
    snprintf(line, sizeof line, "solve problems/step-%06d.hdf5 --tol 1e-11 --json --impulses",
             step);
    o = parse(c, line, 0);
    CHECK(strcmp(text(o, "kind"), "gfc3d") == 0);
    CHECK(number(o, "contacts") == 2);
    CnWorld *world = stepped(&c->scratch, "scene.json", step);
    compare(o, world);
    cn_world_destroy(world);
    json_decref(o);
  }
}

// The run itself does not notice.
static void same_bits(void **state) {
  CliCase *c = *state;
  scratch_write(&c->scratch, "scene.json", scene_text);
  json_t *with = parse(c, "run scene.json --dump-problems problems --json -q", 0);
  CHECK(number(with, "problems_written") == 10);
  json_t *without = parse(c, "run scene.json --json -q", 0);
  CHECK(strcmp(text(with, "state_hash"), text(without, "state_hash")) == 0);
  CHECK(!json_object_get(without, "problems_written"));
  json_decref(with);
  json_decref(without);
}

// Joints alone, and the convex model, which FCLib has no words for.
static void other_problems(void **state) {
  CliCase *c = *state;
  cairn_status(c, "run chain --set links=3 --steps 2 --dump-problems chain -q", 0);
  json_t *o = parse(c, "solve chain/step-000002.hdf5 --tol 1e-6 --json --impulses", 0);
  CHECK(number(o, "contacts") == 0 && number(o, "equalities") == 12);
  json_decref(o);
  cairn_status(c, "run stack --set boxes=1 --steps 2 --friction convex --dump-problems convex -q",
               0);
  o = parse(c, "info convex/step-000002.json --json", 0);
  CHECK(strcmp(text(o, "kind"), "cairn") == 0);
  CHECK(strcmp(text(o, "friction_model"), "convex") == 0);
  json_decref(o);
}

static void refused(void **state) {
  CliCase *c = *state;
  check_refused(c, "run stack --dump-every 2", 2, "--dump-every needs --dump-problems");
  check_refused(c, "run stack --dump-problems d --dump-every 0", 2, "(got 0)");
  check_refused(c, "run stack --dump-problems=", 2, "needs the name of a folder");
  scratch_write(&c->scratch, "file", "x");
  check_refused(c, "run stack --steps 1 --dump-problems file -q", 1, "file: ");
  check_refused(c, "run stack --steps 1 --dump-problems no/such -q", 1, "no/such: ");
  // a second run does not mix its problems with those of the first
  cairn_status(c, "run stack --set boxes=1 --steps 1 --dump-problems d -q", 0);
  check_refused(c, "run stack --set boxes=1 --steps 1 --dump-problems d -q", 1, "--force");
  cairn_status(c, "run stack --set boxes=1 --steps 1 --dump-problems d --force -q", 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {CLI_TEST(same_as_the_step), CLI_TEST(same_bits),
                                     CLI_TEST(other_problems), CLI_TEST(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
