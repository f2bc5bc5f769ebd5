// SPDX-License-Identifier: Apache-2.0
// Mesh files: one block in every format, what is wrong with a file in one line, memory that ends.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "core/memory.h"
#include "core/vec.h"
#include "io/meshes/mesh_file.h"
#include "meshes.h"
#include "source_dir.h"

#define FOLDER CAIRN_SOURCE_DIR "/tests/data/meshes/"

static double volume_of(const CniMeshData *mesh) {
  return mesh_volume(mesh->vertices, &mesh->triangles[0][0], mesh->triangle_count);
}

static CnVec3 highest(const CniMeshData *mesh) {
  CnVec3 most = mesh->vertices[0];
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    CnVec3 p = mesh->vertices[i];
    most = cn_vec3(cn_max(most.x, p.x), cn_max(most.y, p.y), cn_max(most.z, p.z));
  }
  return most;
}

static const struct {
  const char *file, *format;
  int32_t corners;
} blocks[] = {
    {"block.obj", "obj", 8},   {"block-text.stl", "stl", 36},    {"block.stl", "stl", 36},
    {"block.ply", "ply", 8},   {"block-little.ply", "ply", 8},   {"block-big.ply", "ply", 8},
    {"block.gltf", "gltf", 8}, {"block-beside.gltf", "gltf", 8}, {"block.glb", "glb", 8}};

// 1 x 2 x 3 in every format: twelve triangles that look outward.
static void formats(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    char path[512];
    CniMeshData mesh;
    print_message("%s\n", blocks[i].file);
    snprintf(path, sizeof path, FOLDER "%s", blocks[i].file);
    CHECK(cni_mesh_file_named(path));
    CHECK_OK(cni_mesh_file_read(path, NULL, NULL, &mesh));
    assert_string_equal(mesh.format, blocks[i].format);
    CHECK(mesh.triangle_count == 12 && mesh.vertex_count == blocks[i].corners);
    CHECK_REL(volume_of(&mesh), 6, 1e-14);
    CnVec3 most = highest(&mesh);
    CHECK_NEAR(most.x, 1, 1e-14);
    CHECK_NEAR(most.y, 2, 1e-14);
    CHECK_NEAR(most.z, 3, 1e-14);
    CnVec3 points[CNI_HULL_VERTICES];
    int32_t count;
    double error;
    CHECK_OK(cni_mesh_hull_points(&mesh, "block", points, &count, &error));
    CHECK(count == 8 && error < 1e-14);
    cni_mesh_release(&mesh);
  }
  CHECK(!cni_mesh_file_named("scene.json") && !cni_mesh_file_named("a.stl/b"));
  CHECK(cni_mesh_file_named("A.STL"));
}

// Millimetres, another axis up, mirrored: the volume stays positive.
static void placed(void **state) {
  (void)state;
  static const struct {
    CniMeshUse use;
    CnVec3 most;
  } cases[] = {{{{.001, .001, .001}, 0}, {.001, .002, .003}},
               {{{1, 1, 1}, 'y'}, {1, 0, 2}},
               {{{1, 1, 1}, 'x'}, {2, 3, 1}},
               {{{1, -1, 2}, 'z'}, {1, 0, 6}}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CniMeshData mesh;
    CHECK_OK(cni_mesh_file_read(FOLDER "block.obj", NULL, &cases[i].use, &mesh));
    CnVec3 most = highest(&mesh), s = cases[i].use.scale;
    CHECK_NEAR(most.x, cases[i].most.x, 1e-15);
    CHECK_NEAR(most.y, cases[i].most.y, 1e-15);
    CHECK_NEAR(most.z, cases[i].most.z, 1e-15);
    CHECK_REL(volume_of(&mesh), 6 * fabs(s.x * s.y * s.z), 1e-14);
    cni_mesh_release(&mesh);
  }
  CniMeshData mesh;
  CniMeshUse flat = {{1, 0, 1}, 0}, large = {{1e9, 1, 1}, 0}, odd = {{1, 1, 1}, 'w'};
  CHECK_STATUS(cni_mesh_file_read(FOLDER "block.obj", NULL, &flat, &mesh), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cni_mesh_file_read(FOLDER "block.obj", NULL, &odd, &mesh), CN_INVALID_ARGUMENT);
  CHECK_OK(cni_mesh_file_read(FOLDER "block.obj", NULL, &large, &mesh));
  cni_mesh_release(&mesh);
  large.scale.x = 1.001e9;
  CHECK_STATUS(cni_mesh_file_read(FOLDER "block.obj", NULL, &large, &mesh), CN_INVALID_DATA);
  CHECK_STATUS(cni_mesh_file_read(FOLDER "none.obj", NULL, NULL, &mesh), CN_FILE);
}

// The ends of an L are polygons that a fan would get wrong; and so is a quad with a dent.
static void polygons(void **state) {
  (void)state;
  CniMeshData mesh;
  CHECK_OK(cni_mesh_file_read(FOLDER "l.obj", NULL, NULL, &mesh));
  CHECK(mesh.triangle_count == 20);
  CHECK_REL(volume_of(&mesh), 4, 1e-15);
  for (int32_t i = 0; i < mesh.triangle_count; i++) {
    // no triangle reaches into the notch x > 1, y > 1
    const int32_t *t = mesh.triangles[i];
    CnVec3 c = cn_add(mesh.vertices[t[0]], cn_add(mesh.vertices[t[1]], mesh.vertices[t[2]]));
    CHECK(!(c.x > 3 && c.y > 3));
  }
  cni_mesh_release(&mesh);
  // an arrow head: its area is 1, whichever corner comes first
  for (int32_t turn = 0; turn < 4; turn++) {
    char text[256];
    snprintf(text, sizeof text, "v 0 0 1\nv 2 1 1\nv 0 2 1\nv 1 1 1\nf %d %d %d %d\n", turn + 1,
             (turn + 1) % 4 + 1, (turn + 2) % 4 + 1, (turn + 3) % 4 + 1);
    CnAllocator a = cn_allocator_default();
    CHECK_OK(cni_mesh_read_memory(text, strlen(text), "arrow", "obj", &a, NULL, &mesh));
    double area = 0;
    for (int32_t i = 0; i < mesh.triangle_count; i++) {
      const int32_t *t = mesh.triangles[i];
      CnVec3 p = mesh.vertices[t[0]];
      double part = cn_cross(cn_sub(mesh.vertices[t[1]], p), cn_sub(mesh.vertices[t[2]], p)).z / 2;
      CHECK(part > 0);
      area += part;
    }
    CHECK_NEAR(area, 1, 1e-15);
    cni_mesh_release(&mesh);
  }
}

// ---- what is wrong ----

#define PLY_HEAD                                                                                   \
  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "   \
  "z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
#define GLTF(rest) "{\"asset\": {\"version\": \"2.0\"}, " rest "}"
#define TRIANGLE                                                                                   \
  "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"accessors\": "         \
  "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}], "

static const struct {
  const char *ending, *text, *line;
} wrong[] = {
    {"obj", "", "m: there is no triangle in it (0 corners)"},
    {"obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "m: there is no triangle in it (3 corners)"},
    {NULL, "hello", "m: not a mesh file: the formats are OBJ, STL, PLY, glTF and GLB"},
    {"obj", "v 0 0 0\nv 1 0\n", "m: line 2: corner: must have three coordinates (got \"v 1 0\")"},
    {"obj", "v 0 x 0\n", "m: line 1: corner[1]: not a number (got \"x\")"},
    {"obj", "v 0 0 nan\n", "m: line 1: corner[2]: must be finite (got \"nan\")"},
    {"obj", "v 0 0 1e999\n", "m: line 1: corner[2]: too large for a double (got \"1e999\")"},
    {"obj", "v 0 0 1e12\nv 0 0 0\nv 1 0 0\nf 1 2 3\n",
     "m: corner 1: farther than 1e+09 m from the origin (got 1e+12)"},
    {"obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2\n",
     "m: line 5: face: must have at least three corners (got \"f 1 2\")"},
    {"obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
     "m: line 4: face: there is no such corner among the 3 before it (got \"4\")"},
    {"obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0/1\n",
     "m: line 4: face: there is no such corner among the 3 before it (got \"0/1\")"},
    {"obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 2 3\n",
     "m: line 4: face: there is no such corner among the 3 before it (got \"-4\")"},
    {"obj", "v 0 0 0\nf 1 1.5 1\n",
     "m: line 2: face: the number of a corner is not a whole number (got \"1.5\")"},
    {"obj", "v 0 0 0\nsurf 0 1 0 1 1 2\n",
     "m: line 2: statement: neither a corner nor a face nor one that can be left out (got \"surf 0 "
     "1 0 1 1 2\")"},
    {"obj", "<html>\n",
     "m: line 1: statement: neither a corner nor a face nor one that can be left out (got "
     "\"<html>\")"},
    {"stl", "short", "m: neither the word solid nor a head of 84 bytes (got 5)"},
    {"stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\nendloop\n",
     "m: line 6: vertex[2]: not a number (got \"endloop\")"},
    {"stl", "solid a\nfacet normal 0 0\nouter loop\n",
     "m: line 3: facet: its normal must have three coordinates (got \"outer\")"},
    {"stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n",
     "m: line 5: facet: expected vertex (the file ends here)"},
    {"stl", "solid a\nfacets\n", "m: line 2: STL: expected facet or endsolid (got \"facets\")"},
    {"stl", "solid a\nendsolid\n", "m: there is no triangle in it (0 corners)"},
    {"ply", "plx\n", "m: a PLY file begins with the word ply"},
    {"ply", "ply\nelement vertex 3\nend_header\n", "m: the head has no line \"format\""},
    {"ply", "ply\nformat ascii 2.0\nend_header\n",
     "m: line 2: format: the version must be 1.0 (got \"2.0\")"},
    {"ply", "ply\nformat utf8 1.0\n",
     "m: line 2: format: must be ascii, binary_little_endian or binary_big_endian (got \"utf8\")"},
    {"ply", "ply\nformat ascii 1.0\nelement vertex many\n",
     "m: line 3: element: its number must be a whole one (got \"many\")"},
    {"ply", "ply\nformat ascii 1.0\nproperty float x\n",
     "m: line 3: property: there is no element before it (got \"float\")"},
    {"ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\n",
     "m: line 4: property: no such type of numbers (got \"real\")"},
    {"ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n",
     "m: the head has no element \"vertex\" with x, y and z"},
    {"ply", "ply\nformat ascii 1.0\nelement tristrips 1\n",
     "m: line 3: element: strips of triangles are not read (got \"tristrips\")"},
    {"ply", PLY_HEAD "0 0 0 1 0 0 0 1 0\n3 0 1 3\n",
     "m: line 11: face: there is no such corner (got \"3\")"},
    {"ply", PLY_HEAD "0 0 0 1 0 0 0 1 0\n2 0 1\n",
     "m: line 11: face: a face must have at least three corners (got \"2\")"},
    {"ply", PLY_HEAD "0 0 0 1 0 0 0 1 0\n200 0 1\n",
     "m: line 11: face: a list longer than the rest of the file (got \"200\")"},
    {"ply", PLY_HEAD "0 0 0 1 0 0 0 1", "m: line 10: float: not a number (the file ends here)"},
    {"gltf", "{}", "m: a glTF file has an \"asset\""},
    {"gltf", "{\"asset\": {\"version\": \"1.0\"}}",
     "m: line 1: asset: the version must be 2 (got \"{\"version\":\")"},
    {"gltf", GLTF("\"meshes\": [1]"), "m: line 1: mesh: expected an object (got \"1\")"},
    {"gltf",
     GLTF(TRIANGLE "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}], \"buffers\": "
                   "[{\"uri\": \"data:;base64,AAAA\"}]"),
     "m: accessor 0 of 3 elements does not fit in its buffer of 3 bytes"},
    {"gltf",
     GLTF(TRIANGLE "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}], \"buffers\": "
                   "[{\"uri\": \"data:;base64,??\"}]"),
     "m: a buffer is not base64"},
    {"gltf",
     GLTF(TRIANGLE "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}], \"buffers\": "
                   "[{\"uri\": \"../secret.bin\"}]"),
     "m: its numbers are in another file, which is not at hand"},
    {"gltf", GLTF(TRIANGLE "\"bufferViews\": [{\"buffer\": 3, \"byteLength\": 36}]"),
     "m: there is no element 3 of \"buffers\", which has 0"},
    {"gltf", GLTF("\"extensionsRequired\": [\"KHR_draco_mesh_compression\"]"),
     "m: line 1: extensionsRequired: an extension that is not read (got "
     "\"\"KHR_draco_mesh_compress...\")"},
    {"gltf", GLTF("\"nodes\": [{\"children\": [0]}], \"scenes\": [{\"nodes\": [0]}]"),
     "m: node 0 is in the scene twice"},
    {NULL, "glTF", "m: a GLB file has a head of 20 bytes (got 4)"},
};

static void refused(void **state) {
  (void)state;
  int32_t count = (int32_t)(sizeof wrong / sizeof wrong[0]);
  for (int32_t i = 0; i < count; i++) {
    TestAlloc alloc;
    test_alloc_init(&alloc);
    CnAllocator hook = test_alloc_hook(&alloc);
    CniMeshData mesh;
    CnStatus status = cni_mesh_read_memory(wrong[i].text, strlen(wrong[i].text), "m",
                                           wrong[i].ending, &hook, NULL, &mesh);
    if (status == CN_OK) fail_msg("accepted: %s", wrong[i].text);
    if (strcmp(cn_error_message(), wrong[i].line) != 0)
      fail_msg("%s\n%s\n%s", wrong[i].text, cn_error_message(), wrong[i].line);
    CHECK_FAILED(status, CN_INVALID_DATA);
    CHECK(mesh.vertices == NULL && mesh.triangle_count == 0);
    test_alloc_check_clean(&alloc);
  }
  CHECK(count >= 30);
}

// Bytes that do not fit on a line of a table: a binary STL too short and one that is not finite, a GLB
// cut off, a glTF whose nodes use a mesh ten thousand times.
static void binary(void **state) {
  (void)state;
  static char bytes[200000];
  CnAllocator a = cn_allocator_default();
  CniMeshData mesh;
  FILE *file = fopen(FOLDER "block.stl", "rb");
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK_STATUS(cni_mesh_read_memory(bytes, size - 1, "m", "stl", &a, NULL, &mesh), CN_INVALID_DATA);
  assert_string_equal(cn_error_message(),
                      "m: byte 80: 12 triangles announced, which are 684 bytes, "
                      "but the file has 683");
  memset(bytes + 84 + 50 + 12, 0xff, 4);
  CHECK_STATUS(cni_mesh_read_memory(bytes, size, "m", "stl", &a, NULL, &mesh), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "m: byte 146: triangle 2: a coordinate is not finite (got");
  file = fopen(FOLDER "block.glb", "rb");
  size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  for (size_t cut = 0; cut < size; cut++)
    CHECK(cni_mesh_read_memory(bytes, cut, "m", "glb", &a, NULL, &mesh) != CN_OK);
  size_t n = (size_t)snprintf(
      bytes, sizeof bytes,
      GLTF(TRIANGLE
           "\"bufferViews\": [{\"buffer\": 0, "
           "\"byteLength\": 36}], \"buffers\": [{\"uri\": \"data:;base64,"
           "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}], \"scenes\": [{\"nodes\": [0"));
  n--; // the closing bracket
  for (int i = 1; i < 9000; i++) n += (size_t)snprintf(bytes + n, sizeof bytes - n, ",%d", i);
  n += (size_t)snprintf(bytes + n, sizeof bytes - n, "]}], \"nodes\": [{\"mesh\": 0}");
  for (int i = 1; i < 9000; i++)
    n += (size_t)snprintf(bytes + n, sizeof bytes - n, ",{\"mesh\":0}");
  n += (size_t)snprintf(bytes + n, sizeof bytes - n, "]}");
  // three corners a node, of 14 bytes: that is still little
  CHECK_OK(cni_mesh_read_memory(bytes, n, "m", "gltf", &a, NULL, &mesh));
  CHECK(mesh.triangle_count == 9000);
  cni_mesh_release(&mesh);
}

// At most 64 times the size of the file and 1 MB: small files, and those that say most in fewest bytes: polygons of
// two bytes a corner, corners of six bytes.
static void frugal(void **state) {
  (void)state;
  enum { ROOM = 1 << 21 };
  static char text[ROOM];
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0] + 4; i++) {
    CniMeter meter = {.inner = cn_allocator_default()};
    CnAllocator hook = cni_meter_allocator(&meter);
    CniMeshData mesh;
    size_t n = 0;
    size_t kind = i - sizeof blocks / sizeof blocks[0];
    const char *ending = "obj";
    if (i < sizeof blocks / sizeof blocks[0]) {
      char path[512];
      snprintf(path, sizeof path, FOLDER "%s", blocks[i].file);
      FILE *file = fopen(path, "rb");
      n = fread(text, 1, sizeof text, file);
      fclose(file);
      ending = blocks[i].format;
    } else if (kind == 0) {
      n = (size_t)sprintf(text, "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
      while (n + 20 < ROOM) n += (size_t)sprintf(text + n, "f 1 2 3\n");
    } else if (kind == 1) {
      n = (size_t)sprintf(text, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf");
      while (n + 20 < ROOM) n += (size_t)sprintf(text + n, " 1 2 3");
      text[n++] = 10;
    } else if (kind == 2) {
      while (n + 40 < ROOM) n += (size_t)sprintf(text + n, "v 0 0 0\n");
      n += (size_t)sprintf(text + n, "f 1 2 3\n");
    } else {
      n = (size_t)sprintf(text, "solid a\n");
      while (n + 200 < ROOM)
        n += (size_t)sprintf(text + n, "facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 "
                                       "vertex 0 1 0 endloop endfacet\n");
      n += (size_t)sprintf(text + n, "endsolid\n");
      ending = "stl";
    }
    CnStatus status = cni_mesh_read_memory(text, n, "m", ending, &hook, NULL, &mesh);
    CHECK(status == CN_OK || i < sizeof blocks / sizeof blocks[0] || kind == 1);
    CHECK((size_t)meter.peak_bytes <= 64 * n + (1 << 20));
    if (i >= sizeof blocks / sizeof blocks[0])
      print_message("%zu bytes, %d triangles: %.1f times in memory\n", n, (int)mesh.triangle_count,
                    (double)meter.peak_bytes / (double)n);
    cni_mesh_release(&mesh);
    CHECK(meter.bytes == 0);
  }
}

// Every allocation that fails leaves nothing behind.
static void memory(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    TestAlloc alloc;
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s", blocks[i].file);
    test_alloc_init(&alloc);
    CnAllocator hook = test_alloc_hook(&alloc);
    for (int n = 1;; n++) {
      CniMeshData mesh;
      test_alloc_fail_at(&alloc, n);
      CnStatus status = cni_mesh_file_read(path, &hook, NULL, &mesh);
      cni_mesh_release(&mesh);
      test_alloc_check_clean(&alloc);
      if (!alloc.failed_count) break;
      CHECK_FAILED(status, CN_NO_MEMORY);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(formats),  cmocka_unit_test(placed),
                                     cmocka_unit_test(polygons), cmocka_unit_test(refused),
                                     cmocka_unit_test(binary),   cmocka_unit_test(frugal),
                                     cmocka_unit_test(memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
