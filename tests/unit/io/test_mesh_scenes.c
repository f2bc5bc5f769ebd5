// SPDX-License-Identifier: Apache-2.0
// Meshes in scenes: what a file becomes, where it may lie, what is refused; bodies from
// files that fall and come to rest, and a ball that stays in a cup.
#include "check.h"

#include <cairn/look.h>
#include <cairn/query.h>
#include <cairn/scene.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/vec.h"
#include "io/io.h"
#include "io/meshes/mesh_private.h"
#include "runs.h"
#include "solids.h"
#include "source_dir.h"

#define FOLDER CAIRN_SOURCE_DIR "/tests/data/meshes/"

static CnStatus parse(const char *text, const char *label, CnScene **scene) {
  return cn_scene_parse(text, strlen(text), label, NULL, 0, NULL, scene);
}

static CnWorld *fill(const char *text, const char *label, CnScene **scene) {
  CnWorld *world;
  CHECK_OK(parse(text, label, scene));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(*scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(*scene, world));
  return world;
}

static CnBodyId body_at(const CnWorld *world, int number) {
  CnBodyId body = {0, 0};
  for (int i = 0; i <= number; i++) body = cn_world_next_body(world, body);
  return body;
}

// ---- what a file becomes ----

static void becomes(void **state) {
  (void)state;
  CnScene *scene;
  CnWorld *world = fill(
      "{\"geometries\": {\"block\": {\"file\": \"block.glb\"},"
      "                  \"hull\": {\"file\": \"l.obj\", \"as\": \"hull\"}},"
      " \"bodies\": ["
      "  {\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"mesh\", \"geometry\": \"block\"}]},"
      "  {\"position\": [0, 0, 9], \"shapes\": [{\"kind\": \"mesh\", \"file\": \"block.stl\", "
      "\"unit\": \"cm\", \"as\": \"hull\", \"density\": 500}]},"
      "  {\"position\": [9, 0, 9], \"shapes\": [{\"kind\": \"hull\", \"geometry\": \"hull\"}]},"
      "  {\"repeat\": 5, \"as\": \"i\", \"items\": [{\"position\": [0, 20, \"=9*i\"], "
      "\"shapes\": [{\"kind\": \"mesh\", \"file\": \"l.obj\", \"as\": \"parts\", \"density\": "
      "100}]}]}]}",
      FOLDER "s.json", &scene);
  CnShapeDef shape;
  CnGeometryInfo info;
  CnWorldInfo all;
  cn_world_info(world, &all);
  CHECK(all.body_count == 8 && all.shape_count == 3 + 5 * 2);
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, body_at(world, 0), 0), &shape));
  CHECK_OK(cn_geometry_info(world, shape.geometry, &info));
  CHECK(shape.kind == CN_SHAPE_MESH && info.is_mesh && info.use_count == 1);
  CHECK_REL(info.volume, 6, 1e-14);
  CnBodyInfo def;
  CHECK_OK(cn_body_info(world, body_at(world, 1), &def));
  CHECK_REL(def.mass, 500 * 6e-6, 1e-12);
  CHECK_OK(cn_body_info(world, body_at(world, 2), &def));
  CHECK_REL(def.mass, 1000 * 5, 1e-12); // the notch of 2 is half filled
  // two bars of 3 and 1: mass, centre by hand, shared by five bodies
  CHECK_OK(cn_body_info(world, body_at(world, 5), &def));
  CHECK_REL(def.mass, 100 * 4, 1e-12);
  CHECK_NEAR(def.com.position.x, (3 * .5 + 1 * 1.5) / 4, 1e-12);
  CHECK_NEAR(def.com.position.y, (3 * 1.5 + 1 * .5) / 4, 1e-12);
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, body_at(world, 5), 0), &shape));
  CHECK_OK(cn_geometry_info(world, shape.geometry, &info));
  CHECK(shape.kind == CN_SHAPE_HULL && info.use_count == 5);
  // each file once, with the hash that the report tells
  CHECK_TEXT(cni_scene_files(scene), " block.glb\n");
  CHECK_TEXT(cni_scene_files(scene), " l.obj\n");
  CHECK(strlen(cni_scene_files(scene)) == 3 * 18 + strlen("block.glbblock.stll.obj"));
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// Centimetres, y up, twice as large along the new y: a block of 1 x 2 x 3 from the origin.
static void placed(void **state) {
  (void)state;
  CnScene *scene;
  CnShapeSize size;
  CnWorld *world = fill("{\"bodies\": [{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"block.obj\", "
                        "\"unit\": \"cm\", \"up\": \"y\", \"scale\": [1, 2, 1]}]}]}",
                        FOLDER "s.json", &scene);
  CHECK_OK(cn_shape_size(world, cn_body_shape(world, body_at(world, 0), 0), &size));
  const double low[3] = {0, -.06, 0}, high[3] = {.01, 0, .02};
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR((&size.low.x)[k], low[k], 1e-15);
    CHECK_NEAR((&size.high.x)[k], high[k], 1e-15);
  }
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// A run file has the name and the hash of the file, which is that of its bytes: another file, another hash.
static void noted(void **state) {
  (void)state;
  static const char text[] =
      "{\"bodies\": [{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"part.obj\"}]}]}";
  char line[2][64] = {"", ""};
  test_folder_make();
  for (int i = 0; i < 2; i++) {
    CnScene *scene;
    CniMeshData mesh = solid_prism(solid_l, 6, 1 + i);
    solid_write(&mesh, test_path("part.obj"));
    cni_mesh_release(&mesh);
    CnWorld *world = fill(text, test_path("s.json"), &scene);
    CniRunWriter *writer;
    CniRunWriterDef def = {.path = test_path("run.h5"), .scene = scene, .replace = 1};
    CHECK_OK(cni_run_writer_create(&def, world, &writer));
    CHECK_OK(cni_run_writer_close(writer));
    char want[64];
    CHECK_OK(cni_mesh_file_read(test_path("part.obj"), NULL, NULL, &mesh));
    snprintf(want, sizeof want, "%016llx part.obj\n", (unsigned long long)mesh.hash);
    cni_mesh_release(&mesh);
    CnAllocator a = cn_allocator_default();
    CniFileBuffer buffer;
    CHECK_OK(cni_file_read(test_path("run.h5"), &a, &buffer));
    for (size_t k = 0; k + strlen(want) <= buffer.size; k++)
      if (memcmp(buffer.data + k, want, strlen(want)) == 0) snprintf(line[i], 64, "%s", want);
    cni_release(&a, buffer.data, buffer.capacity);
    CHECK(line[i][0] != 0);
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
  CHECK(strcmp(line[0], line[1]) != 0);
}

// ---- what is refused ----

static void refuse(const char *shape, const char *line) {
  char text[1024];
  CnScene *scene;
  snprintf(text, sizeof text, "{\"bodies\": [{\"shapes\": [{\"kind\": \"mesh\", %s}]}]}", shape);
  CHECK_STATUS(parse(text, FOLDER "s.json", &scene), CN_INVALID_DATA);
  const char *at = strstr(cn_error_message(), "s.json: ");
  if (!at || strncmp(at + 8, line, strlen(line)) != 0) fail_msg("%s", cn_error_message());
}

static void refused(void **state) {
  (void)state;
#define AT "/bodies/0/shapes/0"
  refuse("\"file\": \"none.stl\"", AT "/file: No such file or directory (got \"none.stl\")");
  refuse("\"file\": \"../README.md\"", AT "/file: must lie in the folder of the scene or below");
  refuse("\"file\": \"/etc/passwd\"", AT "/file: must lie in the folder of the scene or below");
  refuse("\"file\": \"\"", AT "/file: must be the name of a file");
  refuse("\"file\": 3", AT "/file: must be a string");
  refuse("\"density\": 1", AT ": a mesh has either a \"file\" or a \"geometry\"");
  refuse("\"file\": \"l.obj\", \"geometry\": \"x\"", AT ": a mesh has either");
  refuse("\"file\": \"l.obj\", \"scale\": 0", AT "/scale: must not be zero (got 0");
  refuse("\"file\": \"l.obj\", \"unit\": \"km\"", AT "/unit: must be m, cm, mm, in or ft");
  refuse("\"file\": \"l.obj\", \"as\": \"box\"", AT "/as: must be surface, hull or parts");
  refuse("\"file\": \"l.obj\", \"parts\": 3", AT "/parts: is only for \"as\": \"parts\" (got 3)");
  refuse("\"file\": \"l.obj\", \"as\": \"hull\", \"thickness\": 1", AT "/thickness: is only for");
  refuse("\"file\": \"l.obj\", \"as\": \"parts\", \"parts\": 0", AT "/parts: ");
  refuse("\"file\": \"l.obj\", \"scale\": 1e12", AT "/file: ");
  refuse("\"file\": \"flipped.obj\"",
         AT "/file: 1 of 4 triangles look the wrong way, the first is triangle 4; \"repair\": true "
            "turns them (got \"flipped.obj\")");
  refuse("\"file\": \"plate.obj\", \"as\": \"parts\"", AT "/file: not closed");
  refuse("\"file\": \"plate.obj\"",
         AT "/file: cannot be on body '', which is dynamic: it encloses no volume, 4 edges have no "
            "partner; \"weld\" may close it (`cairn info` tells which), or \"as\": \"hull\" (got "
            "\"plate.obj\")");
#undef AT
  // with what the lines say it is accepted
  CnScene *scene;
  CHECK_OK(parse("{\"bodies\": [{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"flipped.obj\", "
                 "\"repair\": true}]}]}",
                 FOLDER "s.json", &scene));
  cn_scene_destroy(scene);
}

// A link that leads out of the folder; a folder that is allowed.
static void outside(void **state) {
  (void)state;
  test_folder_make();
  static const char text[] =
      "{\"bodies\": [{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"link.obj\"}]}]}";
  char path[600];
  CnScene *scene;
  snprintf(path, sizeof path, "%s", test_path("link.obj"));
  unlink(path);
  CHECK(symlink(FOLDER "block.obj", path) == 0);
  FILE *file = fopen(test_path("s.json"), "w");
  CHECK(file && fputs(text, file) >= 0);
  fclose(file);
  CHECK_STATUS(cn_scene_open(test_path("s.json"), NULL, 0, NULL, &scene), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "/file: lies outside of ");
  CHECK_OK(cn_scene_open_files(test_path("s.json"), FOLDER, NULL, 0, NULL, &scene));
  cn_scene_destroy(scene);
  unlink(path);
}

// ---- a ball in a cup ----

// A ball falls into a cup that stands on the floor: there it stays, on the bottom.
static void cup(void **state) {
  (void)state;
  test_folder_make();
  CniMeshData mesh = solid_turned(solid_cup, 6, 16);
  solid_write(&mesh, test_path("cup.obj"));
  cni_mesh_release(&mesh);
  CnScene *scene;
  CnWorld *world = fill(
      "{\"settings\": {\"time_step\": 0.002},"
      " \"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
      "  {\"shapes\": [{\"kind\": \"mesh\", \"file\": \"cup.obj\", \"scale\": 0.1, \"as\": "
      "\"parts\"}]},"
      "  {\"position\": [0.03, 0.01, 0.3], \"velocity\": [0.2, 0.1, 0], \"shapes\": [{\"kind\": "
      "\"sphere\", \"radius\": 0.03}]}]}",
      test_path("s.json"), &scene);
  for (int i = 0; i < 750; i++) CHECK_OK(cn_world_step(world, NULL));
  CnPose ball, can;
  CHECK_OK(cn_body_pose(world, body_at(world, 2), &ball));
  CHECK_OK(cn_body_pose(world, body_at(world, 1), &can));
  CnVec3 apart = cn_sub(ball.position, can.position);
  CHECK(hypot(apart.x, apart.y) < .09 - .03 + 1e-3);
  CHECK_NEAR(apart.z, .02 + .03, 1e-3);
  CHECK_NEAR(can.position.z, 0, 1e-3);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// ---- meshes that others made ----

// As its hull, .2 m large, it falls on a floor and comes to rest above it.
static void falls(const char *folder, const char *file, const char *as, double scale) {
  char text[1024], label[700];
  CnScene *scene;
  snprintf(label, sizeof label, "%s/s.json", folder);
  snprintf(text, sizeof text,
           "{\"settings\": {\"time_step\": 0.003}, \"materials\": {\"m\": {\"friction\": 0.5}},"
           " \"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\", \"material\": "
           "\"m\"}]},"
           " {\"position\": [0, 0, 0.3], \"rotation\": {\"axis\": [1, 2, 3], \"degrees\": 40}, "
           "\"shapes\": [{\"kind\": \"mesh\", \"file\": \"%s\", \"as\": \"%s\", \"scale\": %.17g, "
           "\"parts\": 8, \"material\": \"m\"}]}]}",
           file, as, scale);
  if (strcmp(as, "hull") == 0) memcpy(strstr(text, "\"parts\": 8,"), "           ", 11);
  CnWorld *world = fill(text, label, &scene);
  CnPose pose;
  CnTwist twist;
  CnWorldInfo info;
  // what is round rolls for a while
  int slow = 0, steps = 0;
  for (; slow < 150 && steps < 6000; steps++) {
    CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_body_twist(world, body_at(world, 1), &twist));
    slow = cn_norm(twist.velocity) < .02 && cn_norm(twist.spin) < .2 ? slow + 1 : 0;
  }
  print_message("%s as %s: at rest after %.1f s\n", file, as, .003 * steps);
  CHECK_OK(cn_body_pose(world, body_at(world, 1), &pose));
  cn_world_info(world, &info);
  CHECK(slow >= 150);
  CHECK(info.contact_count > 0 && fabs(pose.position.z) < 1);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

static void rest(void **state) {
  (void)state;
  static const struct {
    const char *file;
    double scale;
    int32_t slow; // to be cut: where CAIRN_MESHES_LONG is set
  } others[] = {{"feeder_bowl.obj", .25, 1},  {"feeder_item.obj", 4, 0},
                {"funnel.obj", .0005, 0},     {"shoe_collision.obj", 1, 0},
                {"torus.obj", .02, 1},        {"torus_quads.obj", .1, 1},
                {"BONEC_1.stl", 3, 1},        {"ur10_base.stl", 1, 0},
                {"ur10_upperarm.stl", .3, 1}, {"duplicate_vertices.stl", .1, 0}};
  const char *folder = mesh_folder();
  falls(CAIRN_SOURCE_DIR "/tests/data/meshes", "block.ply", "hull", .1);
  falls(CAIRN_SOURCE_DIR "/tests/data/meshes", "l.obj", "parts", .1);
  if (!folder) print_message("no meshes of others here\n");
  for (size_t i = 0; folder && i < sizeof others / sizeof others[0]; i++) {
    falls(folder, others[i].file, "hull", others[i].scale);
    if (!others[i].slow || getenv("CAIRN_MESHES_LONG"))
      falls(folder, others[i].file, "parts", others[i].scale);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(becomes), cmocka_unit_test(placed),
                                     cmocka_unit_test(noted),   cmocka_unit_test(refused),
                                     cmocka_unit_test(outside), cmocka_unit_test(cup),
                                     cmocka_unit_test(rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
