// SPDX-License-Identifier: Apache-2.0
// The built-in scenes: each one builds a world that steps, the same bits every time; scene G is the
// one of the benchmarks.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>

#include "core/hash.h"
#include "scene_g.h"

static CnScene *open_scene(const char *name, const CnSetting *settings, int32_t count) {
  CnScene *scene = NULL;
  CHECK_OK(cn_scene_open(name, settings, count, NULL, &scene));
  CHECK(scene != NULL);
  return scene;
}

static CnWorld *world_of(CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  CnWorld *world = NULL;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  return world;
}

// Ten steps of a scene; sensors read finite numbers; the hash of the last state.
static uint64_t ten_steps(const char *name) {
  CnScene *scene = open_scene(name, NULL, 0);
  CnWorld *world = world_of(scene);
  CnSceneInfo info;
  CnWorldInfo built;
  cn_scene_info(scene, &info);
  cn_world_info(world, &built);
  CHECK(strcmp(info.name, name) == 0 && info.title[0] && info.description[0] && info.time > 0);
  CHECK(built.body_count == info.body_count && built.shape_count == info.shape_count);
  CHECK(built.joint_count == info.joint_count && built.material_count == info.material_count);
  CHECK(info.body_count > 0 && info.sensor_count > 0);
  double *values = malloc((size_t)info.sensor_count * sizeof *values);
  CHECK(values != NULL);
  for (int32_t i = 0; i < 10; i++) {
    CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_scene_measure(scene, world, values));
    for (int32_t k = 0; k < info.sensor_count; k++) CHECK(isfinite(values[k]));
  }
  free(values);
  uint64_t hash = cn_world_hash(world);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return hash;
}

static void all(void **state) {
  (void)state;
  static const char *const names[] = {"granular", "scene-g",       "stack",         "pyramid",
                                      "slope",    "newton-cradle", "conveyor",      "domino",
                                      "chain",    "heap",          "bouncing-ball", "joints"};
  int32_t count = 0, known = 0;
  for (; cn_builtin_scene_name(count); count++) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
      known += strcmp(names[i], cn_builtin_scene_name(count)) == 0;
    CHECK(cn_builtin_scene_summary(count)[0] != 0);
    uint64_t hash = ten_steps(cn_builtin_scene_name(count));
    CHECK(hash == ten_steps(cn_builtin_scene_name(count)));
  }
  CHECK(known == 12);
  CHECK(cn_builtin_scene_name(-1) == NULL && cn_builtin_scene_summary(count) == NULL);
}

// Positions and planes equal those of bench/scene_g.c bit by bit, for sizes on both sides of a full
// layer.
static void scene_g(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 7, 81, 1000, 2345};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    int32_t n = sizes[k];
    CnScene *scene = open_scene("scene-g", &(CnSetting){"n", n}, 1);
    CnWorld *world = world_of(scene);
    CnWorldInfo info;
    cn_world_info(world, &info);
    CHECK(info.body_count == n + 1 && info.shape_count == n + SCENE_G_PLANES);
    CHECK(info.time_step == SCENE_G_TIME_STEP && info.gravity.z == -SCENE_G_GRAVITY);
    double *expected = malloc(3 * (size_t)n * sizeof *expected);
    CHECK(expected != NULL);
    scene_g_positions(n, expected);
    CnBodyId box = cn_world_next_body(world, (CnBodyId){0, 0});
    CnBodyId body = cn_world_next_body(world, box);
    for (int32_t i = 0; i < n; i++, body = cn_world_next_body(world, body)) {
      CnPose pose;
      CnShapeDef def;
      CHECK_OK(cn_body_pose(world, body, &pose));
      CHECK(memcmp(&pose.position, expected + 3 * (size_t)i, sizeof pose.position) == 0);
      CHECK_OK(cn_shape_def(world, cn_body_shape(world, body, 0), &def));
      CHECK(def.radius == SCENE_G_RADIUS && def.density == SCENE_G_DENSITY);
    }
    double planes[SCENE_G_PLANES][4];
    scene_g_planes(n, planes[0]);
    for (int32_t i = 0; i < SCENE_G_PLANES; i++) {
      CnShapeDef def;
      CHECK_OK(cn_shape_def(world, cn_body_shape(world, box, i), &def));
      CHECK(def.pose.position.x == planes[i][3] * planes[i][0] + 0.0);
      CHECK(def.pose.position.y == planes[i][3] * planes[i][1] + 0.0);
    }
    free(expected);
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

static double sensor(const CnScene *scene, const CnWorld *world, const char *name) {
  double values[16];
  CnSensorInfo info;
  CHECK_OK(cn_scene_measure(scene, world, values));
  for (int32_t i = 0; cn_scene_sensor(scene, i, &info) == CN_OK; i++)
    if (strcmp(info.name, name) == 0) return values[i];
  fail_msg("no sensor %s", name);
  return NAN;
}

// On a slope of tangent 0.51, whatever its direction: a = g (sin - mu cos); the plane carries the
// weight's normal part.
static void slope(void **state) {
  (void)state;
  for (int32_t k = 0; k < 3; k++) {
    const CnSetting settings[] = {{"tan", 0.51}, {"turn", 45.0 * k}};
    CnScene *scene = open_scene("slope", settings, 2);
    CnWorld *world = world_of(scene);
    for (int32_t i = 0; i < 50; i++) CHECK_OK(cn_world_step(world, NULL));
    double speed = sensor(scene, world, "speed"), cosine = 1 / sqrt(1 + 0.51 * 0.51);
    for (int32_t i = 0; i < 50; i++) CHECK_OK(cn_world_step(world, NULL));
    CHECK_REL((sensor(scene, world, "speed") - speed) / 0.5, 9.81 * cosine * 0.01, 1e-6);
    CHECK_REL(sensor(scene, world, "contact force.z"), 9.81 * cosine, 1e-6);
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

// The floor carries the tower: 9 cubes of 1 kg and one of 5.
static void stack(void **state) {
  (void)state;
  const CnSetting settings[] = {{"boxes", 10}, {"ratio", 5}};
  CnScene *scene = open_scene("stack", settings, 2);
  CnWorld *world = world_of(scene);
  CnWorldSums sums;
  cn_world_sums(world, &sums);
  CHECK_REL(sums.mass, 14, 1e-14);
  double load = 0;
  for (int32_t i = 0; i < 150; i++) {
    CHECK_OK(cn_world_step(world, NULL));
    if (i >= 50) load += sensor(scene, world, "load on the floor") / 100;
  }
  CHECK_REL(load, 14 * 9.81, 0.01);
  CHECK_NEAR(sensor(scene, world, "top.z"), 9.5, 1e-3);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// The last of the balls swings out, the first stands, the energy stays.
static void cradle(void **state) {
  (void)state;
  CnScene *scene = open_scene("newton-cradle", NULL, 0);
  CnWorld *world = world_of(scene);
  double first = sensor(scene, world, "first"), last = sensor(scene, world, "last");
  double energy = sensor(scene, world, "energy"), reach = last;
  for (int32_t i = 0; i < 2200; i++) {
    CHECK_OK(cn_world_step(world, NULL));
    reach = fmax(reach, sensor(scene, world, "last"));
  }
  // as far to the right as the first was lifted to the left
  double lifted = 0.2 * 0.64278760968653933;
  CHECK_NEAR(first, -0.0816 - lifted, 1e-12);
  CHECK_NEAR(reach, last + lifted, 0.005);
  CHECK_NEAR(sensor(scene, world, "first"), -0.0816, 0.005);
  CHECK_REL(sensor(scene, world, "energy"), energy, 0.01);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(scene_g),
                                     cmocka_unit_test(slope), cmocka_unit_test(stack),
                                     cmocka_unit_test(cradle)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
