// SPDX-License-Identifier: Apache-2.0
// Convex parts of solids: how many, how much they enclose beyond, how far they stand out; the same bits on every
// machine.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/hash.h"
#include "core/vec.h"
#include "io/meshes/mesh_private.h"
#include "io/parts/parts.h"
#include "solids.h"

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static uint64_t hash_of(const CniMeshParts *p) {
  uint64_t h = cni_hash_u64(CNI_HASH_START, (uint64_t)p->count);
  for (int32_t i = 0; i < p->count; i++) h = cni_hash_u64(h, (uint64_t)p->first[i + 1]);
  return cni_hash_doubles(h, &p->points[0].x, 3 * (size_t)p->point_count);
}

// Every corner of the solid lies in a part.
static void check_covered(const CniMeshData *mesh, const CniMeshParts *p, double size) {
  uint8_t *in = calloc((size_t)mesh->vertex_count, 1);
  for (int32_t i = 0; i < p->count; i++) {
    CniHull *hull;
    CHECK_OK(cni_hull_create(&p->allocator, "part", p->points + p->first[i],
                             p->first[i + 1] - p->first[i], &hull));
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
      double above = -INFINITY;
      for (int32_t f = 0; f < hull->face_count; f++)
        above =
            cn_max(above, cn_dot(hull->faces[f].normal, mesh->vertices[v]) - hull->faces[f].height);
      if (above <= p->outside + 1e-9 * size) in[v] = 1;
    }
    cni_hull_destroy(&p->allocator, hull);
  }
  for (int32_t v = 0; v < mesh->vertex_count; v++) CHECK(in[v]);
  free(in);
}

static void solids(void **state) {
  (void)state;
  struct {
    const char *name;
    CniMeshData mesh;
    int32_t most, limit;
    double error, depth, size;
    uint64_t hash;
  } cases[] = {
      {"L", solid_prism(solid_l, 6, 1), 2, 0, 1e-12, 1e-12, 3, 0x5fbba22718094c40u},
      {"U", solid_prism(solid_u, 8, 2), 3, 0, 1e-12, 1e-12, 4, 0x645e9f1df9455bb8u},
      {"cup", solid_on_grid(solid_turned(solid_cup, 6, 24)), 32, 0, .011, .1, 2,
       0x56a89f3975816de5u},
      {"gear", solid_on_grid(solid_gear(.5)), 32, 0, .01, .1, 2, 0x944636b7f18b5dccu},
      {"torus", solid_on_grid(solid_torus(3, 1, 24, 12)), 32, 0, .01, .1, 8, 0xfc07523157eb3fb1u},
      {"funnel", solid_on_grid(solid_turned(solid_funnel, 8, 32)), 32, 0, .35, .15, 2,
       0x289d485c01a75315u},
      {"funnel, 8", solid_on_grid(solid_turned(solid_funnel, 8, 32)), 8, 8, 2, .7, 2,
       0x76ae13dec925c3abu},
      {"funnel, 256", solid_on_grid(solid_turned(solid_funnel, 8, 32)), 256, 256, .03, .05, 2,
       0xbab1cd287e802301u}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CniMeshParts p;
    double start = seconds();
    CHECK_OK(cni_mesh_parts(&cases[i].mesh, cases[i].name,
                            &(CniMeshPartsDef){.most = cases[i].limit}, &p));
    double error = p.volume / p.mesh_volume - 1;
    print_message(
        "%s: %d triangles, %d parts, volume %+.2g, stand out %.2g, %.2f s, hash %016llx\n",
        cases[i].name, (int)cases[i].mesh.triangle_count, (int)p.count, error, p.depth,
        seconds() - start, (unsigned long long)hash_of(&p));
    CHECK(p.count > 1 && p.count <= cases[i].most);
    CHECK(error > -1e-9 && error <= cases[i].error && p.outside < 1e-6);
    CHECK(p.depth <= cases[i].depth);
    CHECK(hash_of(&p) == cases[i].hash); // as gcc and clang found them, at any level
    check_covered(&cases[i].mesh, &p, cases[i].size);
    cni_mesh_parts_release(&p);
    if (i > 3) {
      cni_mesh_release(&cases[i].mesh);
      continue;
    }
    // a limit is kept, whatever it costs
    CHECK_OK(cni_mesh_parts(&cases[i].mesh, cases[i].name, &(CniMeshPartsDef){.most = 2}, &p));
    CHECK(p.count <= 2);
    check_covered(&cases[i].mesh, &p, cases[i].size);
    cni_mesh_parts_release(&p);
    cni_mesh_release(&cases[i].mesh);
  }
}

// 20000 triangles, for the time that it takes; cut into few, or, where CAIRN_PARTS_LONG is set, into 32.
static void large(void **state) {
  (void)state;
  int32_t all = getenv("CAIRN_PARTS_LONG") != NULL;
  CniMeshData mesh = all ? solid_torus(3, 1, 200, 50) : solid_torus(3, 1, 60, 20);
  CniMeshParts p;
  double start = seconds();
  CHECK_OK(cni_mesh_parts(&mesh, "ring", &(CniMeshPartsDef){.most = all ? 32 : 3}, &p));
  double took = seconds() - start;
  print_message("ring: %d triangles, %d parts, volume %+.2g, outside %.2g, %.1f s\n",
                (int)mesh.triangle_count, (int)p.count, p.volume / p.mesh_volume - 1, p.outside,
                took);
  CHECK(took < 120); // under any sanitizer
  CHECK(p.count <= (all ? 32 : 3) && p.volume / p.mesh_volume < (all ? 1.02 : 1.5));
  check_covered(&mesh, &p, 8);
  cni_mesh_parts_release(&p);
  cni_mesh_release(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solids), cmocka_unit_test(large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
