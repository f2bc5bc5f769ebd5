// SPDX-License-Identifier: Apache-2.0
// Laws of pairs of materials: blocks on a slope slide by the friction of the pair, balls bounce by its
// restitution, with every integrator that has contacts; and all of it after save and restore.
#include "check.h"

#include <cairn/change.h>
#include <cairn/scene.h>
#include <cairn/state.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CnScene *scene_of(const char *text) {
  CnScene *scene;
  CHECK_OK(cn_scene_parse(text, strlen(text), "laws", NULL, 0, NULL, &scene));
  return scene;
}

static CnWorld *world_of(CnScene *scene, const char *integrator) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  cn_scene_world_def(scene, &def);
  if (integrator) def.integrator = integrator;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  return world;
}

// Two blocks that slide with 2 m/s over a floor of steel: one of wood, one of rubber.
static const char slide[] =
    "{\"settings\": {\"time_step\": 0.001, \"solver\": {\"name\": \"auto\", \"effort\": "
    "\"exact\"}},"
    "\"materials\": {\"steel\": {\"friction\": 0.5}, \"wood\": {\"friction\": 0.5}, \"rubber\": "
    "{\"friction\": 0.5}},"
    "\"material_pairs\": [{\"materials\": [\"wood\", \"steel\"], \"friction\": 0.1},"
    "{\"materials\": [\"rubber\", \"rubber\"], \"friction\": 0.9}],"
    "\"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\", "
    "\"material\": \"steel\"}]},"
    "{\"name\": \"wood\", \"position\": [0, 0, 0.05], \"velocity\": [2, 0, 0], \"shapes\": "
    "[{\"kind\": "
    "\"box\", \"size\": 0.1, \"material\": \"wood\"}]},"
    "{\"name\": \"rubber\", \"position\": [0, 2, 0.05], \"velocity\": [2, 0, 0], \"shapes\": "
    "[{\"kind\": "
    "\"box\", \"size\": 0.1, \"material\": \"rubber\"}]}]}";

static double speed_of(const CnWorld *world, const char *name) {
  CnTwist twist;
  CHECK_OK(cn_body_twist(world, cn_world_find_body(world, name), &twist));
  return twist.velocity.x;
}

// v = v0 - mu g t
static void friction(void **state) {
  (void)state;
  static const char *const integrators[] = {"impulse", "moreau-jean", "hem5"};
  for (size_t i = 0; i < 3; i++) {
    CnScene *scene = scene_of(slide);
    CnWorld *world = world_of(scene, integrators[i]);
    for (int32_t k = 0; k < 300; k++) CHECK_OK(cn_world_step(world, NULL));
    CHECK_NEAR(speed_of(world, "wood"), 2 - 0.1 * 9.81 * 0.3, 1e-3);
    CHECK_NEAR(speed_of(world, "rubber"), 2 - 0.5 * 9.81 * 0.3, 5e-3); // by the rules
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

// The law is part of a snapshot, may be changed and taken away, and goes with a material.
static void kept(void **state) {
  (void)state;
  CnScene *scene = scene_of(slide);
  CnWorld *world = world_of(scene, NULL), *copy;
  for (int32_t k = 0; k < 10; k++) CHECK_OK(cn_world_step(world, NULL));
  size_t size;
  CHECK_OK(cn_world_save(world, NULL, 0, &size));
  void *data = malloc(size);
  CHECK_OK(cn_world_save(world, data, size, &size));
  CHECK_OK(cn_world_copy(world, &copy));
  for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(world, NULL));
  for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(copy, NULL));
  CHECK(cn_world_hash(world) == cn_world_hash(copy));
  CHECK_OK(cn_world_restore(copy, data, size));
  CnMaterialDef law = cn_material_def_default();
  CnMaterialId steel = cn_world_find_material(copy, "steel"),
               wood = cn_world_find_material(copy, "wood");
  law.friction = 0.25;
  CHECK_OK(cn_material_pair_set(copy, steel, wood, &law));
  double before = speed_of(copy, "wood");
  for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(copy, NULL));
  CHECK_NEAR(speed_of(copy, "wood"), before - 0.25 * 9.81 * 0.1, 1e-3);
  CHECK_OK(cn_material_pair_set(copy, wood, steel, NULL)); // the rules: 0.5
  before = speed_of(copy, "wood");
  for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(copy, NULL));
  CHECK_NEAR(speed_of(copy, "wood"), before - 0.5 * 9.81 * 0.1, 5e-3);
  law.restitution = 2;
  CHECK_STATUS(cn_material_pair_set(copy, steel, wood, &law), CN_INVALID_ARGUMENT);
  law.restitution = 0;
  CHECK_STATUS(cn_material_pair_set(copy, steel, (CnMaterialId){99, 1}, &law), CN_INVALID_HANDLE);
  // a material that goes takes its laws along: another in its slot has none of them
  CnMaterialId spare, next;
  CHECK_OK(cn_material_create(copy, &law, &spare));
  CHECK_OK(cn_material_pair_set(copy, spare, (CnMaterialId){0, 0}, &law));
  CHECK_OK(cn_material_destroy(copy, spare));
  CHECK_OK(cn_material_create(copy, &law, &next));
  CHECK_OK(cn_world_save(copy, NULL, 0, &size));
  data = realloc(data, size);
  CHECK_OK(cn_world_save(copy, data, size, &size));
  CHECK_OK(cn_world_restore(copy, data, size));
  free(data);
  cn_world_destroy(copy);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// A ball of two pairs: it keeps e of its speed.
static void restitution(void **state) {
  (void)state;
  CnScene *scene = scene_of("{\"settings\": {\"time_step\": 0.001, \"gravity\": [0, 0, 0]}, "
                            "\"materials\": {\"a\": {}, \"b\": "
                            "{}}, \"material_pairs\": [{\"materials\": [\"a\", \"b\"], "
                            "\"restitution\": 0.7}], \"bodies\": "
                            "[{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\", \"normal\": "
                            "[-1, 0, 0], \"material\": "
                            "\"a\"}]}, {\"name\": \"ball\", \"position\": [-0.3, 0, 0], "
                            "\"velocity\": [3, 0, 0], \"shapes\": "
                            "[{\"kind\": \"sphere\", \"radius\": 0.1, \"material\": \"b\"}]}]}");
  CnWorld *world = world_of(scene, NULL);
  for (int32_t k = 0; k < 200; k++) CHECK_OK(cn_world_step(world, NULL));
  CHECK_NEAR(speed_of(world, "ball"), -2.1, 1e-9);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// The same scene with another friction, in a world that runs already.
static void varied(void **state) {
  (void)state;
  static const char text[] =
      "{\"parameters\": {\"mu\": 0.2, \"r\": 0.1}, \"settings\": {\"time_step\": 0.001}, "
      "\"materials\": {\"m\": "
      "{\"friction\": \"=mu\"}}, \"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": "
      "\"plane\", "
      "\"material\": \"m\"}]}, {\"name\": \"box\", \"position\": [0, 0, \"=r/2\"], \"velocity\": "
      "[3, 0, 0], "
      "\"shapes\": [{\"kind\": \"box\", \"size\": \"=r\", \"material\": \"m\"}]}]}";
  CnSetting other = {"mu", 0.6}, larger = {"r", 0.2};
  CnScene *scene = scene_of(text), *rough, *large;
  CHECK_OK(cn_scene_parse(text, sizeof text - 1, "rough", &other, 1, NULL, &rough));
  CHECK_OK(cn_scene_parse(text, sizeof text - 1, "large", &larger, 1, NULL, &large));
  CnWorld *world = world_of(scene, NULL);
  for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(world, NULL));
  double before = speed_of(world, "box");
  CHECK_STATUS(cn_scene_change(scene, large, world), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "body 1 (box) is elsewhere");
  CHECK_OK(cn_scene_change(scene, rough, world));
  for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(world, NULL));
  CHECK_NEAR(speed_of(world, "box"), before - 0.6 * 9.81 * 0.1, 5e-3);
  cn_world_destroy(world);
  cn_scene_destroy(large);
  cn_scene_destroy(rough);
  cn_scene_destroy(scene);
}

static void refused(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"{\"material_pairs\": [{\"materials\": [\"x\", \"x\"]}]}", "there is no material named"},
      {"{\"materials\": {\"x\": {}}, \"material_pairs\": [{\"materials\": [\"x\"]}]}",
       "two materials"},
      {"{\"materials\": {\"x\": {}}, \"material_pairs\": [{\"materials\": [\"x\", \"x\"]}, "
       "{\"materials\": [\"x\", \"x\"]}]}",
       "have a law already"},
      {"{\"materials\": {\"x\": {}}, \"material_pairs\": [{\"materials\": [\"x\", \"x\"], "
       "\"restitution\": 2}]}",
       "must be in 0 .. 1"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CnScene *scene;
    CHECK_STATUS(cn_scene_parse(texts[i][0], strlen(texts[i][0]), "bad", NULL, 0, NULL, &scene),
                 CN_INVALID_DATA);
    CHECK_TEXT(cn_error_message(), texts[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(friction), cmocka_unit_test(kept),
                                     cmocka_unit_test(restitution), cmocka_unit_test(varied),
                                     cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
