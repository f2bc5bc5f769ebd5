// SPDX-License-Identifier: Apache-2.0
// Private to geometry: the rows of the pair table, one file a family, and how they hand out points.
#ifndef CNI_GEOMETRY_PRIVATE_H
#define CNI_GEOMETRY_PRIVATE_H

#include "geometry/geometry.h"

// A row of the table: kind a <= kind b. The manifold comes in empty; points go out in any order.
typedef void (*CniCollide)(const CniPlaced *a, const CniPlaced *b, double margin,
                           CniManifold *manifold);

void cni_collide_sphere_sphere(const CniPlaced *a, const CniPlaced *b, double margin,
                               CniManifold *manifold);
void cni_collide_sphere_box(const CniPlaced *a, const CniPlaced *b, double margin,
                            CniManifold *manifold);
void cni_collide_sphere_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                              CniManifold *manifold);
void cni_collide_box_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                           CniManifold *manifold);
void cni_collide_box_box(const CniPlaced *a, const CniPlaced *b, double margin,
                         CniManifold *manifold);

static inline void cni_manifold_add(CniManifold *manifold, CnVec3 point, double gap,
                                    uint32_t feature) {
  manifold->points[manifold->count++] = (CniPoint){point, gap, feature};
}

#endif
