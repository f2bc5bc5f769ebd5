// SPDX-License-Identifier: Apache-2.0
// How far parts reach beyond the surface of their solid: from points of the surface along its normal out
// of every part that has the point within. A body that touches a part there is kept off by so much. Four
// points a triangle are looked at, of very many triangles some.
#include "io/meshes/mesh_private.h"

#include "io/parts/parts.h"

#define MOST_TRIANGLES 20000
#define NEAR 1e-9 // of the size: on a face

// The way from a point within to where a hull ends; 0 of a point outside.
static double way_out(const CniHull *hull, CnVec3 p, CnVec3 n, double near) {
  double way = INFINITY;
  for (int32_t f = 0; f < hull->face_count; f++) {
    double below = hull->faces[f].height - cn_dot(hull->faces[f].normal, p);
    double along = cn_dot(hull->faces[f].normal, n);
    if (below < -near) return 0;
    if (along > 1e-9) way = cn_min(way, below / along);
  }
  return way > 0 && way < INFINITY ? way : 0;
}

static double deepest(const CniCutter *cutter, const CniHull *hull, int32_t step) {
  const CniMeshData *m = cutter->mesh;
  double most = 0, near = NEAR * cutter->size;
  CnVec3 lo = hull->vertices[0], hi = lo;
  for (int32_t i = 1; i < hull->vertex_count; i++) {
    CnVec3 v = hull->vertices[i];
    lo = cn_vec3(cn_min(lo.x, v.x), cn_min(lo.y, v.y), cn_min(lo.z, v.z));
    hi = cn_vec3(cn_max(hi.x, v.x), cn_max(hi.y, v.y), cn_max(hi.z, v.z));
  }
  for (int32_t t = 0; t < m->triangle_count; t += step) {
    CniCorners c;
    for (int32_t k = 0; k < 3; k++) c.at[k] = m->vertices[m->triangles[t][k]];
    CnVec3 n = cn_unit_or(cni_corners_area(&c), CN_VEC3_ZERO);
    CnVec3 centre = cn_scale(1.0 / 3, cn_add(c.at[0], cn_add(c.at[1], c.at[2])));
    for (int32_t k = 0; k < 4; k++) {
      CnVec3 p = k < 3 ? cn_madd(centre, 0.9, cn_sub(c.at[k], centre)) : centre;
      if (p.x < lo.x || p.y < lo.y || p.z < lo.z || p.x > hi.x || p.y > hi.y || p.z > hi.z)
        continue;
      most = cn_max(most, way_out(hull, p, n, near));
    }
  }
  return most;
}

CnStatus cni_parts_depth(const CniCutter *cutter, CniMeshParts *parts) {
  int32_t step = 1 + cutter->mesh->triangle_count / MOST_TRIANGLES;
  parts->depth = 0;
  for (int32_t i = 0; i < parts->count; i++) {
    CniHull *hull;
    CNI_TRY(cni_hull_create(&parts->allocator, "part", parts->points + parts->first[i],
                            parts->first[i + 1] - parts->first[i], &hull));
    parts->depth = cn_max(parts->depth, deepest(cutter, hull, step));
    cni_hull_destroy(&parts->allocator, hull);
  }
  return CN_OK;
}
