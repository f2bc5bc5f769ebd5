// SPDX-License-Identifier: Apache-2.0
// Every kind as triangles: closed, turned outwards, on the surface, and of nearly its volume.
#include "check.h"
#include "geometry/geometry.h"
#include "placed.h"

typedef struct Mesh {
  CnVec3 place[4096], normal[4096];
  int32_t corners, triangles, wrong;
  double volume;
} Mesh;

static void corner(void *context, CnVec3 place, CnVec3 normal) {
  Mesh *m = context;
  CHECK(m->triangles == 0 && m->corners < 4096);
  m->place[m->corners] = place;
  m->normal[m->corners++] = normal;
}

static void triangle(void *context, const int32_t at[3]) {
  Mesh *m = context;
  CnVec3 p[3];
  for (int k = 0; k < 3; k++) {
    CHECK(at[k] >= 0 && at[k] < m->corners);
    p[k] = m->place[at[k]];
  }
  CnVec3 n = cn_cross(cn_sub(p[1], p[0]), cn_sub(p[2], p[0]));
  m->volume += cn_dot(p[0], cn_cross(p[1], p[2])) / 6;
  // a triangle that has an area looks where its corners look, but for a few of rounded hulls
  CnVec3 out = cn_add(m->normal[at[0]], cn_add(m->normal[at[1]], m->normal[at[2]]));
  if (cn_norm(n) > 1e-6 && !(cn_dot(n, out) > 0)) m->wrong++;
  m->triangles++;
}

static void every_kind(void **state) {
  (void)state;
  static Mesh m;
  for (int32_t kind = 0; kind < CN_SHAPE_KIND_COUNT; kind = next_convex(kind)) {
    CniPlaced shape = placed_unit((CnShapeKind)kind, CN_POSE_ONE);
    const CniMeshTaker take = {&m, corner, triangle, 0};
    m.corners = m.triangles = m.wrong = 0;
    m.volume = 0;
    cni_shape_triangles(&shape, 6, 10, &take);
    CHECK(m.triangles > 0 && 100 * m.wrong <= m.triangles);
    if (cni_shape_unbounded((CnShapeKind)kind)) continue;
    double volume = cni_shape_mass(&shape, 1).mass;
    CHECK(m.volume < volume * (1 + 1e-9) && m.volume > (kind == CN_SHAPE_BOX ? .85 : .9) * volume);
    for (int32_t i = 0; i < m.corners; i++) {
      CniPlaced point = {.kind = CN_SHAPE_SPHERE, .pose = {m.place[i], CN_QUAT_ONE}};
      CHECK_NEAR(cni_places(&point, &shape).gap, 0, 1e-6);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
