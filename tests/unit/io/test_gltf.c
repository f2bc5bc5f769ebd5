// SPDX-License-Identifier: Apache-2.0
// glTF: a run of all shapes as one file, whose text and numbers fit together and say what the run says.
#include "check.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cairn/run.h>
#include <cairn/scene.h>

#include "io/io.h"
#include "runs.h"
#include "solids.h"

static unsigned char file[1 << 22];

static uint32_t word(size_t at) {
  return file[at] | (uint32_t)file[at + 1] << 8 | (uint32_t)file[at + 2] << 16 |
         (uint32_t)file[at + 3] << 24;
}

static long long whole(json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

// The first number of accessor i, entry n.
static const float *numbers(json_t *root, size_t data, size_t i, size_t n, size_t width) {
  json_t *accessor = json_array_get(json_object_get(root, "accessors"), i);
  json_t *view =
      json_array_get(json_object_get(root, "bufferViews"), (size_t)whole(accessor, "bufferView"));
  CHECK(n < (size_t)whole(accessor, "count"));
  CHECK(4 * width * (size_t)whole(accessor, "count") == (size_t)whole(view, "byteLength"));
  return (const float *)(const void *)(file + data + whole(view, "byteOffset")) + n * width;
}

static const char scene_text[] =
    "{\"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
    " {\"name\": \"a \\\"b\\\"\", \"position\": [0, 0, 1], \"velocity\": [1, 2, 0], \"spin\": "
    "[3, 1, 2],"
    "  \"shapes\": [{\"kind\": \"box\", \"size\": 0.2}, {\"kind\": \"cone\", \"radius\": 0.1, "
    "\"length\": 0.2},"
    "  {\"kind\": \"hull\", \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}]},"
    " {\"position\": [3, 0, 1], \"shapes\": [{\"kind\": \"ellipsoid\", \"size\": [0.1, 0.2, "
    "0.3]},"
    "  {\"kind\": \"box\", \"size\": 0.2, \"position\": [0, 0, 1]}]}]}";

// Meshes of a file are found beside `path`.
static void record(const char *path, const char *text) {
  CnScene *scene;
  CnWorld *world;
  CniRunWriter *writer;
  CnWorldDef def = cn_world_def_default();
  CHECK_OK(cn_scene_parse(text, strlen(text), path, NULL, 0, NULL, &scene));
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  CniRunWriterDef to = {.path = path, .scene = scene, .frames_per_second = 0};
  CHECK_OK(cni_run_writer_create(&to, world, &writer));
  for (int i = 0; i < 20; i++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(world, &report));
    CHECK_OK(cni_run_writer_step(writer, world, &report));
  }
  CHECK_OK(cni_run_writer_close(writer));
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// The file's text, and where its numbers begin.
static json_t *export(CnRun *run, const char *path, const char *out, size_t *data) {
  CHECK_OK(cni_export_gltf.write(run, path, out));
  FILE *from = fopen(out, "rb");
  CHECK(from != NULL);
  size_t size = fread(file, 1, sizeof file, from);
  fclose(from);
  CHECK(word(0) == 0x46546c67 && word(4) == 2 && word(8) == size && word(16) == 0x4e4f534a);
  size_t text = word(12);
  *data = 28 + text;
  CHECK(word(24 + text) == 0x004e4942 && word(20 + text) + *data == size);
  json_t *root = json_loadb((const char *)file + 20, text, 0, NULL);
  CHECK(root != NULL);
  return root;
}

static void fits_together(void **state) {
  (void)state;
  char path[2048], out[2048];
  test_folder_make();
  snprintf(path, sizeof path, "%s", test_path("gltf.h5"));
  snprintf(out, sizeof out, "%s", test_path("gltf.glb"));
  record(path, scene_text);
  CnRun *run;
  CHECK_OK(cn_run_open(path, NULL, &run));
  size_t data;
  json_t *root = export(run, path, out, &data);

  // 3 bodies, 6 shapes of 5 meshes (two boxes are alike), under one node
  CHECK(json_array_size(json_object_get(root, "nodes")) == 1 + 3 + 6);
  CHECK(json_array_size(json_object_get(root, "meshes")) == 5);
  json_t *body = json_array_get(json_object_get(root, "nodes"), 2);
  assert_string_equal(json_string_value(json_object_get(body, "name")), "a \"b\"");
  CHECK(json_array_size(json_object_get(body, "children")) == 3);
  json_t *animation = json_array_get(json_object_get(root, "animations"), 0);
  CHECK(json_array_size(json_object_get(animation, "channels")) == 6);

  CnPose poses[3];
  double time;
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK_OK(cn_run_frame(run, info.frame_count - 1, &time, poses, NULL));
  size_t last = (size_t)info.frame_count - 1;
  CHECK_NEAR((double)*numbers(root, data, 15, last, 1), time, 1e-6);
  const float *place = numbers(root, data, 18, last, 3), *turn = numbers(root, data, 19, last, 4);
  CHECK_NEAR((double)place[0], poses[1].position.x, 1e-6);
  CHECK_NEAR((double)place[2], poses[1].position.z, 1e-6);
  CHECK_NEAR((double)turn[0], poses[1].rotation.x, 1e-6);
  CHECK_NEAR((double)turn[3], poses[1].rotation.w, 1e-6);
  json_decref(root);
  cn_run_close(run);
  test_folder_remove();
}

// Four bodies of one file are one mesh and four nodes: each corner once, and no normals, so that 18 bytes
// are a triangle's of a large one.
static void shares(void **state) {
  (void)state;
  static const char text[] =
      "{\"bodies\": [{\"repeat\": 4, \"as\": \"i\", \"items\": [{\"kind\": \"fixed\", "
      "\"position\": [\"=9*i\", 0, 0], \"shapes\": [{\"kind\": \"mesh\", \"file\": "
      "\"ring.obj\"}]}]}]}";
  char path[2048], out[2048];
  size_t data;
  CnRun *run;
  test_folder_make();
  snprintf(path, sizeof path, "%s", test_path("gltf.h5"));
  snprintf(out, sizeof out, "%s", test_path("gltf.glb"));
  CniMeshData ring = solid_torus(3, 1, 24, 12);
  solid_write(&ring, test_path("ring.obj"));
  record(path, text);
  CHECK_OK(cn_run_open(path, NULL, &run));
  json_t *root = export(run, path, out, &data);
  CHECK(json_array_size(json_object_get(root, "nodes")) == 1 + 4 + 4);
  CHECK(json_array_size(json_object_get(root, "meshes")) == 1);
  json_t *mesh = json_array_get(json_object_get(root, "meshes"), 0);
  json_t *part = json_array_get(json_object_get(mesh, "primitives"), 0);
  json_t *attributes = json_object_get(part, "attributes");
  CHECK(json_object_size(attributes) == 1 && whole(attributes, "POSITION") == 0);
  CHECK(whole(part, "indices") == 1);
  CHECK(whole(json_array_get(json_object_get(root, "accessors"), 0), "count") == 24 * 12);
  CHECK(whole(json_array_get(json_object_get(root, "accessors"), 1), "count") == 6 * 24 * 12);
  for (int32_t i = 0; i < 3 * ring.triangle_count; i++) {
    uint32_t corner;
    memcpy(&corner, numbers(root, data, 1, (size_t)i, 1), sizeof corner);
    CHECK(corner < 24 * 12);
    const float *place = numbers(root, data, 0, corner, 3);
    const double *want = &ring.vertices[ring.triangles[i / 3][i % 3]].x;
    for (int k = 0; k < 3; k++) CHECK_NEAR((double)place[k], want[k], 1e-6);
  }
  json_decref(root);
  // xdmf has places of its own for each body, but of each corner one
  snprintf(out, sizeof out, "%s", test_path("ring.xdmf"));
  CHECK_OK(cni_export_xdmf.write(run, path, out));
  FILE *page = fopen(out, "rb");
  size_t size = fread(file, 1, sizeof file - 1, page);
  fclose(page);
  file[size] = 0;
  CHECK_TEXT((const char *)file, "TopologyType=\"Triangle\" NumberOfElements=\"2304\"");
  CHECK_TEXT((const char *)file, "<DataItem Dimensions=\"1152 3\" NumberType=\"Float\"");
  cn_run_close(run);
  cni_mesh_release(&ring);
  test_folder_remove();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fits_together), cmocka_unit_test(shares)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
