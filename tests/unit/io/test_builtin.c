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
  int32_t count = 0;
  for (; cn_builtin_scene_name(count); count++) {
    CHECK(cn_builtin_scene_summary(count)[0] != 0);
    uint64_t hash = ten_steps(cn_builtin_scene_name(count));
    CHECK(hash == ten_steps(cn_builtin_scene_name(count)));
  }
  CHECK(count >= 3);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(scene_g)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
