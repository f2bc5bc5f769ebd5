// SPDX-License-Identifier: Apache-2.0
// Height fields in scenes: rows of numbers, expressions, images; holes; what is refused; the run file.
#include "check.h"

#include <cairn/query.h>
#include <cairn/scene.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/vec.h"
#include "io/images/image.h"
#include "io/io.h"
#include "io/robots/robot.h"
#include "runs.h"
#include "source_dir.h"
#include "world/world.h"

#define FOLDER CAIRN_SOURCE_DIR "/tests/data/images/"

static CnStatus parse(const char *text, CnScene **scene) {
  return cn_scene_parse(text, strlen(text), FOLDER "s.json", NULL, 0, NULL, scene);
}

static CnWorld *fill(const char *text, CnScene **scene) {
  CnWorld *world;
  CHECK_OK(parse(text, scene));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(*scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(*scene, world));
  return world;
}

// A fixed body with one height field; the caller gives its keys.
static CnWorld *field(const char *keys, CnScene **scene) {
  static char text[1024];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"height_field\", %s}]}]}",
           keys);
  return fill(text, scene);
}

// The height under a place, NAN over a hole.
static double height_at(const CnWorld *world, double x, double y) {
  CnHit hit;
  CHECK_OK(cn_world_ray(world, cn_vec3(x, y, 100), cn_vec3(0, 0, -1000), NULL, &hit));
  return hit.body.slot ? 100 - 1000 * hit.at : NAN;
}

static void end(CnWorld *world, CnScene *scene) {
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// ---- where heights come from ----

// The first row is that of the least y, the middle is at the shape's place.
static void numbers(void **state) {
  (void)state;
  CnScene *scene;
  CnWorld *world = field("\"size\": [4, 2], \"position\": [10, 0, 5],"
                         "\"heights\": [[0, 1, 2], [3, 4, null]]",
                         &scene);
  CHECK_NEAR(height_at(world, 8.001, -.999), 5 + .0005 + .0015, 1e-12);
  CHECK(isnan(height_at(world, 11.999, -.999))); // no triangle has the hole as a corner
  CHECK_NEAR(height_at(world, 9, .5), 5 + .5 * 1 + .75 * 3, 1e-12); // upper triangle: x and y
  CHECK(isnan(height_at(world, 11.9, .9)));                         // the hole
  CHECK(isnan(height_at(world, 7.9, 0)));                           // beside it
  end(world, scene);
}

static void expression(void **state) {
  (void)state;
  CnScene *scene;
  CnWorld *world = field("\"size\": [4, 6], \"samples\": [5, 7],"
                         "\"heights\": \"=0.5*x - 0.25*y + x*0 + 3\","
                         "\"holes\": \"=0.6 - (x - 1)^2 - (y + 2)^2\"",
                         &scene);
  // of first degree: the triangles have it exactly
  for (double x = -1.9; x < 0; x += .37)
    for (double y = -2.9; y < 3; y += .41)
      CHECK_NEAR(height_at(world, x, y), .5 * x - .25 * y + 3, 1e-12);
  CHECK(isnan(height_at(world, 1.1, -1.9)));
  CHECK(!isnan(height_at(world, 1.1, .1)));
  end(world, scene);
}

// Sample (i, j) from the top left is 1000 j + 200 i + 100, but for a hole and a white one.
static void images(void **state) {
  (void)state;
  static const char *const files[] = {"ramp.pgm", "ramp.png", "ramp-text.pgm"};
  uint64_t hash = 0;
  for (int n = 0; n < 3; n++) {
    CnScene *scene;
    char keys[200];
    snprintf(keys, sizeof keys,
             "\"file\": \"%s\", \"size\": [4, 3], \"range\": [0, 65.535], \"holes\": 0", files[n]);
    CnWorld *world = field(keys, &scene);
    int seen = 0;
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 5; i++) {
        // a hair inside, where it is the sample but for little, unless a triangle is left out there
        double x = .999999 * (i - 2), y = .999999 * (1.5 - j), z = height_at(world, x, y);
        if (isnan(z) || (i == 4 && j == 3)) continue;
        CHECK_NEAR(1000 * z, 1000 * j + 200 * i + 100, .2);
        seen++;
      }
    CHECK(seen >= 12 && isnan(height_at(world, 1e-6, .5)));
    CHECK_NEAR(height_at(world, 2 - 1e-9, -1.5 + 1e-9), 65.535, 1e-6);
    CHECK_TEXT(cni_scene_files(scene), files[n]);
    if (n == 0) hash = cn_world_hash(world);
    CHECK(cn_world_hash(world) == hash);
    end(world, scene);
  }
  CnScene *scene;
  CnWorld *world = field("\"file\": \"ramp8.png\", \"size\": [4, 3], \"range\": [1, 2]", &scene);
  CHECK_NEAR(height_at(world, -2 + 1e-9, 1.5 - 1e-9), 1, 1e-6);
  CHECK_NEAR(height_at(world, 2 - 1e-9, -1.5 + 1e-9), 1 + 190. / 255, 1e-6);
  end(world, scene);
}

// Fields that are alike are one geometry.
static void shared(void **state) {
  (void)state;
  CnScene *scene;
  CnWorld *world = fill(
      "{\"bodies\": [{\"repeat\": 3, \"items\": [{\"kind\": \"fixed\", \"position\": [\"=9*i\", 0, "
      "0],"
      " \"shapes\": [{\"kind\": \"height_field\", \"size\": [4, 4], \"samples\": [9, 9],"
      " \"heights\": \"=0.1*x*y\"}, {\"kind\": \"height_field\", \"size\": [1, 1], \"position\": "
      "[0, 0, 4], \"heights\": [[0, \"=i\"], [0, 0]]}]}]}]}",
      &scene);
  CnBodyId body = cn_world_next_body(world, (CnBodyId){0, 0});
  CnShapeDef shape;
  CnGeometryInfo info;
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, body, 0), &shape));
  CHECK_OK(cn_geometry_info(world, shape.geometry, &info));
  CHECK(shape.kind == CN_SHAPE_MESH && info.is_mesh && info.use_count == 3 && !info.closed);
  CHECK(info.vertex_count == 81 && info.face_count == 128);
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, body, 1), &shape));
  CHECK_OK(cn_geometry_info(world, shape.geometry, &info));
  CHECK(info.use_count == 1);
  end(world, scene);
}

// ---- what is refused ----

static void refuse(const char *keys, const char *line) {
  char text[1024];
  CnScene *scene;
  snprintf(
      text, sizeof text,
      "{\"parameters\": {\"y\": {\"default\": 1}}, \"bodies\": [{\"kind\": \"fixed\", \"shapes\": "
      "[{\"kind\": \"height_field\", %s}]}]}",
      keys);
  CHECK_STATUS(parse(text, &scene), CN_INVALID_DATA);
  const char *at = strstr(cn_error_message(), "s.json: /bodies/0/shapes/0");
  if (!at || !strstr(at, line)) fail_msg("%s", cn_error_message());
}

static void refused(void **state) {
  (void)state;
#define SIZE "\"size\": [1, 1], "
  refuse("\"size\": [1, 1]", "a height field has either \"heights\" or a \"file\"");
  refuse("\"heights\": [[0, 0], [0, 0]]", "\"size\" is missing");
  refuse("\"size\": [1, 0], \"heights\": [[0, 0], [0, 0]]", "/size/1: must be positive (got 0)");
  refuse(SIZE "\"heights\": [[0, 0]]", "/heights: 2 or more samples a side");
  refuse(SIZE "\"heights\": [[0, 0], [0]]", "/heights/1: must be a list of 2 heights");
  refuse(SIZE "\"heights\": [[0, 0], [0, \"x\"]]", "/heights/1/1: must be a number");
  refuse(SIZE "\"heights\": 3", "/heights: 2 or more samples a side");
  refuse(SIZE "\"heights\": [[null, null], [null, null]]", "needs a height that is a number");
  refuse(SIZE "\"heights\": [[0, 1e40], [0, 0]]", "must be below 1e30");
  refuse(SIZE "\"heights\": [[0, 0], [0, 0]], \"samples\": [2, 2]", "/samples: is only for");
  refuse(SIZE "\"heights\": [[0, 0], [0, 0]], \"range\": [2, 2]", "/range: is only for a");
  refuse(SIZE "\"heights\": [[0, 0], [0, 0]], \"holes\": 0", "/holes: holes among numbers are");
  refuse(SIZE "\"heights\": [[0, 0], [0, 0]], \"density\": 1", "/density: unknown");
  refuse(SIZE "\"heights\": \"=x\"", "\"samples\" is missing");
  refuse(SIZE "\"heights\": \"=x\", \"samples\": [2.5, 2]", "/samples: must be whole numbers");
  refuse(SIZE "\"heights\": \"=x\", \"samples\": [9999, 9999]", "/heights: a scene has at most");
  refuse(SIZE "\"heights\": \"=x\", \"samples\": [2, 2]", "y is the place here");
  refuse(SIZE "\"file\": \"none.png\", \"range\": [0, 1]", "/file: No such file");
  refuse(SIZE "\"file\": \"../meshes/l.obj\", \"range\": [0, 1]", "/file: must lie in the folder");
  refuse(SIZE "\"file\": \"ramp.png\"", "\"range\" is missing");
  refuse(SIZE "\"file\": \"ramp.png\", \"range\": [0, 1], \"holes\": 70000",
         "/holes: must be at most");
  refuse(SIZE "\"file\": \"colour.png\", \"range\": [0, 1]", "/file: colour.png: must be grey");
  refuse(SIZE "\"file\": \"cut.png\", \"range\": [0, 1]", "/file: cut.png: ");
  refuse(SIZE "\"file\": \"short.pgm\", \"range\": [0, 1]", "ends too early: 5 by 4 samples, room");
  refuse(SIZE "\"file\": \"wide.pgm\", \"range\": [0, 1]", "ends too early: 200000 by 200000");
  refuse(SIZE "\"file\": \"bright.pgm\", \"range\": [0, 1]", "a sample must be at most 3 (got 4)");
  refuse(SIZE "\"heights\": [[0, 0], [0, 0]], \"thickness\": -1", "/thickness: ");
#undef SIZE
  CnScene *scene;
  CHECK_STATUS(parse("{\"bodies\": [{\"shapes\": [{\"kind\": \"height_field\", \"size\": [1, 1], "
                     "\"heights\": [[0, 0], [0, 0]]}]}]}",
                     &scene),
               CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "which is dynamic: it encloses no volume");
}

// ---- files ----

// The run file has the heights once, and gives back the same field, holes too.
static void run_file(void **state) {
  (void)state;
  test_folder_make();
  CnScene *scene;
  CnWorld *world = fill(
      "{\"bodies\": [{\"repeat\": 2, \"items\": [{\"kind\": \"fixed\", \"position\": [\"=9*i\", 0, "
      "0],"
      " \"shapes\": [{\"kind\": \"height_field\", \"size\": [4, 4], \"samples\": [101, 81],"
      " \"heights\": \"=0.1*sin(3*x)*y\", \"holes\": \"=0.01-x*x-y*y\", \"thickness\": 0.02}]}]},"
      " {\"position\": [1, 1, 1], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}]}",
      &scene);
  CniRunWriterDef def = {.path = test_path("field.h5"),
                         .scene = scene,
                         .replace = 1,
                         .allocator = cn_allocator_default()};
  CniRunWriter *writer;
  CHECK_OK(cni_run_writer_create(&def, world, &writer));
  for (int i = 0; i < 3; i++) CHECK_OK(cn_world_step(world, NULL));
  CHECK_OK(cni_run_writer_close(writer));
  CnRun *run;
  CHECK_OK(cn_run_open(test_path("field.h5"), NULL, &run));
  CniPlaced a, b;
  cni_run_form(run, (CnGeometryId){1, 1}, &a);
  CnShapeDef shape;
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, cn_world_next_body(world, (CnBodyId){0, 0}), 0),
                        &shape));
  cni_world_form(world, shape.geometry, &b);
  CHECK(a.mesh && a.mesh->heights && a.mesh->x_count == 101 && a.mesh->y_count == 81);
  CHECK(a.mesh->dx == b.mesh->dx && a.mesh->dy == b.mesh->dy && a.mesh->radius == .01);
  CHECK(memcmp(a.mesh->heights, b.mesh->heights, 101 * 81 * sizeof(double)) == 0);
  CniPlaced none;
  cni_run_form(run, (CnGeometryId){2, 1}, &none);
  CHECK(!none.mesh);
  cn_run_close(run);
  end(world, scene);
  test_folder_remove();
}

// ---- MJCF ----

// The first row of a list, and of an image, is that of the largest y; heights are brought to 0 to 1.
static void hfield(void **state) {
  (void)state;
  static const char *const fields[] = {"nrow='2' ncol='3' elevation='30 40 50  0 10 20'",
                                       "file='ramp8.png'", "file='rows.bin'"};
  const float rows[8] = {0, 0, 0, 1, 2, 3, 4, 5};
  int32_t head[2] = {2, 3};
  FILE *file = fopen(FOLDER "rows.bin", "rb");
  CHECK(file);
  float stored[8];
  CHECK(fread(stored, sizeof stored, 1, file) == 1 && memcmp(stored, head, sizeof head) == 0 &&
        memcmp(stored + 2, rows + 2, 6 * sizeof(float)) == 0);
  fclose(file);
  for (int n = 0; n < 3; n++) {
    char text[600];
    CniRobotDef def = {FOLDER "r.xml", "", CN_POSE_ONE, NULL, 0, NULL};
    CnAllocator allocator = cn_allocator_default();
    char *scene_text;
    size_t length;
    snprintf(text, sizeof text,
             "<mujoco><asset><hfield name='h' size='2 1 .5 .1' %s/></asset><worldbody>"
             "<geom type='hfield' hfield='h' pos='0 0 1'/></worldbody></mujoco>",
             fields[n]);
    CHECK_OK(cni_robot_text(&def, text, strlen(text), &allocator, &scene_text, &length));
    CnScene *scene;
    CnWorld *world = fill(scene_text, &scene);
    double low = n == 1 ? .5 * 150 / 190 : 0, high = n == 1 ? .5 * 40 / 190 : .5;
    CHECK_NEAR(height_at(world, -2 + 1e-9, -1 + 1e-9), 1 + low, 1e-6);
    CHECK_NEAR(height_at(world, 2 - 1e-9, 1 - 1e-9), 1 + high, 1e-6);
    end(world, scene);
    cni_release(&allocator, scene_text, length + 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(expression),
                                     cmocka_unit_test(images),  cmocka_unit_test(shared),
                                     cmocka_unit_test(refused), cmocka_unit_test(run_file),
                                     cmocka_unit_test(hfield)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
