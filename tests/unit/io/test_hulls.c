// SPDX-License-Identifier: Apache-2.0
// Hulls on their way through the files: scene, run, and what is wrong with a scene.
#include "check.h"

#include <cairn/query.h>
#include <cairn/scene.h>
#include <math.h>
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
    CniPlaced placed = {.kind = shape.def.kind};
    cni_run_form(run, shape.def.geometry, &placed);
    const CniHull *hull = placed.hull;
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

static CnWorld *world_of(const char *text, CnScene **scene) {
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  CHECK_OK(cn_scene_parse(text, strlen(text), "t", NULL, 0, NULL, scene));
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(*scene, world));
  return world;
}

// Two bodies of one part, one of them turned with all it has: the mass is that of the shapes written
// out, the geometry is one.
static void parts(void **state) {
  (void)state;
  static const char text[] =
      "{\"parts\": {\"head\": {\"shapes\": [{\"kind\": \"hull\", \"points\":"
      " [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], \"position\": [0, 0, 2]}]},"
      " \"tool\": {\"shapes\": [{\"kind\": \"box\", \"size\": [1, 2, 3]}, {\"part\": \"head\"},"
      " {\"repeat\": 2, \"as\": \"i\", \"items\": [{\"part\": \"head\", \"position\": [\"=i+1\", "
      "0, 0]}]}]}},"
      " \"bodies\": [{\"shapes\": [{\"part\": \"tool\"}]},"
      " {\"shapes\": [{\"part\": \"tool\", \"position\": [5, 0, 0],"
      " \"rotation\": {\"axis\": [0, 0, 1], \"degrees\": 90}}]}]}";
  CnScene *scene;
  CnWorld *world = world_of(text, &scene);
  CnBodyId a = cn_world_next_body(world, (CnBodyId){0, 0}), b = cn_world_next_body(world, a);
  CnBodyInfo of_a, of_b;
  CnShapeDef head;
  CnGeometryInfo geometry;
  CnSceneInfo info;
  CHECK_OK(cn_body_info(world, a, &of_a));
  CHECK_OK(cn_body_info(world, b, &of_b));
  cn_scene_info(scene, &info);
  CHECK(info.shape_count == 8 && of_a.shape_count == 4);
  CHECK_REL(of_a.mass, 1000 * (6 + 3.0 / 6), 1e-14);
  CHECK_REL(of_b.mass, of_a.mass, 1e-15);
  CHECK_NEAR(of_a.com.position.x, (3 * .25 + 3) / 6 / 6.5, 1e-14);
  CHECK_NEAR(of_b.com.position.y, of_a.com.position.x, 1e-14);
  CHECK_NEAR(of_b.com.position.x, 5 - of_a.com.position.y, 1e-14);
  CHECK_REL(of_b.inertia.x, of_a.inertia.x, 1e-12);
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, b, 2), &head));
  CHECK_NEAR(head.pose.position.y, 1, 1e-15);
  CHECK_OK(cn_geometry_info(world, head.geometry, &geometry));
  CHECK(geometry.use_count == 6);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// Points on a ball: within the error that is allowed, or refused.
static void simplified(void **state) {
  (void)state;
  static char text[120000];
  const double errors[] = {.1, .02, .001};
  for (int k = 0; k < 3; k++) {
    size_t n =
        (size_t)snprintf(text, sizeof text,
                         "{\"geometries\": {\"ball\": {\"simplify\": %g, \"points\": [", errors[k]);
    for (int i = 0; i < 1000; i++) {
      double z = (i + .5) / 500 - 1, r = sqrt(1 - z * z), turn = 2.399963229728653 * i;
      n += (size_t)snprintf(text + n, sizeof text - n, "%s[%.15g, %.15g, %.15g]", i ? ", " : "",
                            r * cos(turn), r * sin(turn), z);
    }
    snprintf(text + n, sizeof text - n,
             "]}}, \"bodies\": [{\"shapes\": [{\"kind\": \"hull\", \"geometry\": \"ball\"}]}]}");
    CnScene *scene;
    if (k == 2) {
      CHECK_STATUS(cn_scene_parse(text, strlen(text), "t", NULL, 0, NULL, &scene), CN_INVALID_DATA);
      CHECK_TEXT(cn_error_message(), "corners leave points");
      break;
    }
    CnWorld *world = world_of(text, &scene);
    CnShapeId shape = cn_body_shape(world, cn_world_next_body(world, (CnBodyId){0, 0}), 0);
    CnShapeDef def;
    CnGeometryInfo info;
    CHECK_OK(cn_shape_def(world, shape, &def));
    CHECK_OK(cn_geometry_info(world, def.geometry, &info));
    CHECK(info.vertex_count < (k ? 256 : 100));
    CHECK(info.volume > 4.18879 * (1 - 3.5 * errors[k]) && info.volume < 4.18879);
    for (int i = 0; i < 1000; i += 7) {
      double z = (i + .5) / 500 - 1, r = sqrt(1 - z * z), turn = 2.399963229728653 * i;
      CnClosest closest;
      CHECK_OK(cn_world_closest(world, (CnVec3){r * cos(turn), r * sin(turn), z}, NULL, &closest));
      CHECK(closest.gap <= errors[k] * (1 + 1e-9));
    }
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scene_and_run), cmocka_unit_test(refused),
                                     cmocka_unit_test(parts), cmocka_unit_test(simplified)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
