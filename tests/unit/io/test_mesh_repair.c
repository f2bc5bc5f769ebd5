// SPDX-License-Identifier: Apache-2.0
// Meshes made whole: corners joined, triangles turned, those without area removed. Every fault is made
// on purpose in a block whose volume is known.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "core/memory.h"
#include "core/vec.h"
#include "io/meshes/mesh_repair.h"
#include "meshes.h"
#include "source_dir.h"

#define FOLDER CAIRN_SOURCE_DIR "/tests/data/meshes/"

static double volume_of(const CniMeshData *mesh) {
  return mesh_volume(mesh->vertices, &mesh->triangles[0][0], mesh->triangle_count);
}

static CniMeshData read_mesh(const char *text) {
  CnAllocator a = cn_allocator_default();
  CniMeshData mesh;
  CHECK_OK(cni_mesh_read_memory(text, strlen(text), "m", "obj", &a, NULL, &mesh));
  return mesh;
}

static CniMeshData read_block(const char *file) {
  char path[512];
  CniMeshData mesh;
  snprintf(path, sizeof path, FOLDER "%s", file);
  CHECK_OK(cni_mesh_file_read(path, NULL, NULL, &mesh));
  return mesh;
}

// 36 corners of an STL become 8, and nothing is wrong.
static void joined(void **state) {
  (void)state;
  CniMeshData mesh = read_block("block.stl");
  CniMeshFaults f;
  CHECK_OK(cni_mesh_repair(&mesh, "m", 0, 1, &f));
  CHECK(f.file_vertices == 36 && mesh.vertex_count == 8 && mesh.triangle_count == 12);
  CHECK(f.closed && f.edges == 18 && f.pieces == 1 && !f.flipped && !f.lone_edges);
  CHECK(!f.degenerate && !f.doubled && !f.crowded_edges && f.first_flipped == -1);
  cni_mesh_release(&mesh);
  // moved by up to 1e-6 m each: open until corners so near are joined
  mesh = read_block("block.stl");
  for (int32_t i = 0; i < mesh.vertex_count; i++) mesh.vertices[i].x += 1e-6 * (i % 3 - 1) / 4;
  CHECK_OK(cni_mesh_repair(&mesh, "m", 0, 1, &f));
  CHECK(!f.closed && f.lone_edges > 0 && mesh.vertex_count > 8);
  CHECK_OK(cni_mesh_repair(&mesh, "m", 1e-6, 1, &f));
  CHECK(f.closed && mesh.vertex_count == 8);
  CHECK_NEAR(volume_of(&mesh), 6, 1e-5);
  // corners that no triangle uses go, and so does what is joined to nothing
  CHECK_OK(cni_mesh_repair(&mesh, "m", .5, 1, &f));
  CHECK(mesh.vertex_count == 8);
  CHECK_STATUS(cni_mesh_repair(&mesh, "m", 100, 1, &f), CN_INVALID_DATA);
  CHECK_STATUS(cni_mesh_repair(&mesh, "m", -1, 1, &f), CN_INVALID_ARGUMENT);
  cni_mesh_release(&mesh);
}

// Every set of triangles turned, of 12: the block comes out with its volume, and the fewer are counted.
static void turned(void **state) {
  (void)state;
  for (unsigned set = 1; set < 4096; set += 37) {
    CniMeshData mesh = read_block("block.obj");
    CniMeshFaults f;
    int32_t count = 0;
    for (int32_t t = 0; t < 12; t++) {
      if (!(set >> t & 1)) continue;
      CNI_SWAP(int32_t, mesh.triangles[t][1], mesh.triangles[t][2]);
      count++;
    }
    CHECK_OK(cni_mesh_repair(&mesh, "m", 0, 0, &f));
    CHECK(f.flipped == count && !f.closed == (count > 0));
    CHECK(set >> f.first_flipped & 1);
    CHECK_OK(cni_mesh_repair(&mesh, "m", 0, 1, &f));
    CHECK(f.flipped == count && f.closed);
    CHECK_REL(volume_of(&mesh), 6, 1e-15);
    cni_mesh_release(&mesh);
  }
}

// Blocks within blocks: a cavity stays one; the block beside, and the outer one, are turned.
static void cavities(void **state) {
  (void)state;
  for (int32_t turn = 0; turn < 3; turn++) {
    CniMeshData mesh = {.allocator = cn_allocator_default()};
    CniMeshData block = read_block("block.obj");
    CniMeshFaults f;
    size_t places = sizeof(CnVec3[24]), corners = sizeof(int32_t[36][3]);
    mesh.vertices = cni_allocate(&mesh.allocator, places);
    mesh.triangles = cni_allocate(&mesh.allocator, corners);
    mesh.vertex_count = mesh.vertex_capacity = 24;
    mesh.triangle_count = mesh.triangle_capacity = 36;
    for (int32_t k = 0; k < 3; k++) {
      // the second lies within the first, inside out; the third beside them
      CnVec3 at = k == 1 ? cn_vec3(.25, .5, .75) : cn_vec3(5.0 * k, 0, 0);
      int inside_out = k == 1 || (turn == 1 && k == 2) || (turn == 2 && k == 0);
      for (int32_t i = 0; i < 8; i++)
        mesh.vertices[8 * k + i] = cn_madd(at, k == 1 ? .5 : 1, block.vertices[i]);
      for (int32_t t = 0; t < 12; t++)
        for (int32_t j = 0; j < 3; j++)
          mesh.triangles[12 * k + t][j] = 8 * k + block.triangles[t][inside_out ? 2 - j : j];
    }
    CHECK_OK(cni_mesh_repair(&mesh, "m", 0, 1, &f));
    CHECK(f.closed && f.pieces == 3 && f.flipped == (turn ? 12 : 0));
    CHECK_REL(volume_of(&mesh), 6 - .75 + 6, 1e-14);
    cni_mesh_release(&mesh);
    cni_mesh_release(&block);
  }
}

// A Moebius band cannot look one way; a fin has an edge of three; a plate is open.
static void open(void **state) {
  (void)state;
  CniMeshFaults f;
  CniMeshData band = read_mesh("v 0 0 0\nv 1 0 1\nv 2 0 0\nv 0 1 0\nv 1 1 1\nv 2 1 0\n"
                               "f 1 2 5 4\nf 2 3 6 5\nf 3 4 1 6\n");
  CHECK_OK(cni_mesh_repair(&band, "m", 0, 1, &f));
  CHECK(!f.closed && f.twisted_edges == 1 && f.pieces == 1);
  cni_mesh_release(&band);
  CniMeshData fin = read_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\n"
                              "f 1 2 3\nf 2 1 4\nf 1 2 5\n");
  CHECK_OK(cni_mesh_repair(&fin, "m", 0, 1, &f));
  CHECK(!f.closed && f.crowded_edges == 1 && f.lone_edges == 6 && f.edges == 7);
  cni_mesh_release(&fin);
  CniMeshData plate = read_mesh("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf 1 2 3 4\n");
  CHECK_OK(cni_mesh_repair(&plate, "m", 0, 1, &f));
  CHECK(!f.closed && f.doubled == 2 && f.lone_edges == 4 && f.first_lone == 0);
  cni_mesh_release(&plate);
}

// A block one of whose edges has corners along it that lie on a line: the triangles without area between
// them go, and the block stays closed.
static void slivers(void **state) {
  (void)state;
  CniMeshData mesh = read_mesh(
      "v 0 0 0\nv 3 0 0\nv 3 2 0\nv 0 2 0\nv 0 0 1\nv 3 0 1\nv 3 2 1\nv 0 2 1\n"
      "v 1 0 1\nv 2 0 1\n"
      "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6\nf 1 6 10\nf 1 10 9\nf 1 9 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 "
      "8\n"
      // the edge from 5 to 6 above has 9 and 10 on it below: two triangles on a line fill the slit
      "f 5 9 6\nf 9 10 6\nf 3 3 7\n");
  CniMeshFaults f;
  CHECK_OK(cni_mesh_repair(&mesh, "m", 0, 1, &f));
  CHECK(f.degenerate == 3 && f.closed && !f.flipped);
  CHECK_REL(volume_of(&mesh), 6, 1e-15);
  for (int32_t i = 0; i < mesh.triangle_count; i++) {
    CnVec3 p = mesh.vertices[mesh.triangles[i][0]];
    CHECK(cn_norm(cn_cross(cn_sub(mesh.vertices[mesh.triangles[i][1]], p),
                           cn_sub(mesh.vertices[mesh.triangles[i][2]], p))) > .1);
  }
  cni_mesh_release(&mesh);
}

static void memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  for (int n = 1;; n++) {
    CniMeshData mesh;
    CniMeshFaults f;
    test_alloc_fail_never(&alloc);
    CHECK_OK(cni_mesh_file_read(FOLDER "block.stl", &hook, NULL, &mesh));
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cni_mesh_repair(&mesh, "m", 1e-9, 1, &f);
    cni_mesh_release(&mesh);
    test_alloc_check_clean(&alloc);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(joined),   cmocka_unit_test(turned),
                                     cmocka_unit_test(cavities), cmocka_unit_test(open),
                                     cmocka_unit_test(slivers),  cmocka_unit_test(memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
