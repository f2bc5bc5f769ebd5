// SPDX-License-Identifier: Apache-2.0
// Hulls on their way through the files: scene, run, and what is wrong with a scene.
#include "check.h"

#include <cairn/scene.h>
#include <string.h>

#include "io/io.h"
#include "runs.h"
#include "source_dir.h"

static void scene_and_run(void **state) {
  (void)state;
  CnScene *s;
  CnWorld *world;
  test_folder_make();
  CHECK_OK(cn_scene_open(CAIRN_SOURCE_DIR "/tests/scenes/good/hulls.json", NULL, 0, NULL, &s));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(s, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(s, world));
  // the wedge, half of a box, is shared by three; the pyramid has its own
  CnShapeDef shapes[5];
  CnBodyId body = {0, 0};
  for (int i = 0; i < 5; i++) {
    body = cn_world_next_body(world, body);
    CHECK_OK(cn_shape_def(world, cn_body_shape(world, body, 0), &shapes[i]));
  }
  CnGeometryInfo wedge, pyramid;
  CHECK_OK(cn_geometry_info(world, shapes[1].geometry, &wedge));
  CHECK_OK(cn_geometry_info(world, shapes[4].geometry, &pyramid));
  assert_string_equal(wedge.name, "wedge");
  CHECK(wedge.use_count == 3 && wedge.vertex_count == 6 && wedge.face_count == 5);
  CHECK_REL(wedge.volume, 0.2 * 0.2 * 0.1 / 2, 1e-12);
  CHECK(pyramid.use_count == 1 && pyramid.vertex_count == 5);
  CHECK_REL(pyramid.volume, 0.2 * 0.2 * 0.15 / 3, 1e-12);
  CHECK(shapes[3].rounding == 0.02);

  CniRunWriterDef to = {.path = test_path("hulls.h5"), .scene = s, .frames_per_second = 50};
  CniRunWriter *writer;
  CHECK_OK(cni_run_writer_create(&to, world, &writer));
  for (int i = 0; i < 10; i++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(world, &report));
    CHECK_OK(cni_run_writer_step(writer, world, &report));
  }
  CHECK_OK(cni_run_writer_close(writer));
  CnRun *run;
  CHECK_OK(cn_run_open(to.path, NULL, &run));
  for (int i = 0; i < 5; i++) {
    CnRunShape shape;
    CHECK_OK(cn_run_shape(run, i, &shape));
    CHECK(shape.def.kind == (i ? CN_SHAPE_HULL : CN_SHAPE_PLANE));
    CHECK(shape.def.rounding == shapes[i].rounding);
    const CniHull *hull = cni_run_hull(run, shape.def.geometry);
    CHECK((hull != NULL) == (i > 0));
    if (hull) CHECK(hull->volume == (i < 4 ? wedge.volume : pyramid.volume));
  }
  cn_run_close(run);
  cn_world_destroy(world);
  cn_scene_destroy(s);
  test_folder_remove();
}

// The sentence says what and where.
static void refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"{\"kind\": \"hull\"}", "either"},
      {"{\"kind\": \"hull\", \"points\": [], \"geometry\": \"a\"}", "either"},
      {"{\"kind\": \"hull\", \"geometry\": \"b\"}", "geometry"},
      {"{\"kind\": \"hull\", \"points\": 3}", "list of points"},
      {"{\"kind\": \"hull\", \"points\": [[0, 0, 0], [1, 0]]}", "/points/1"},
      {"{\"kind\": \"hull\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}", "plane"},
      {"{\"kind\": \"box\", \"size\": 1, \"points\": []}", "points"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[400];
    CnScene *s;
    snprintf(text, sizeof text,
             "{\"geometries\": {\"a\": {\"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}},"
             " \"bodies\": [{\"shapes\": [%s]}]}",
             cases[i][0]);
    CHECK_STATUS(cn_scene_parse(text, strlen(text), "t", NULL, 0, NULL, &s), CN_INVALID_DATA);
    if (!strstr(cn_error_message(), cases[i][1])) fail_msg("%s", cn_error_message());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scene_and_run), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
