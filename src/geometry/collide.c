// SPDX-License-Identifier: Apache-2.0
// The narrow phase: two placed shapes in, how they touch out.
//
// A table by the two kinds has one function a pair, written for kind a <= kind b; the other half of
// the table is the same function with the shapes exchanged and the normal turned round. Points lie
// midway between the two surfaces, so that they do not care which shape came first. To add a shape
// is one file with its functions and one row and column here.
#include "geometry/geometry.h"

#include "geometry/geometry_private.h"

// null: such a pair never meets
static const CniCollide pairs[CN_SHAPE_KIND_COUNT][CN_SHAPE_KIND_COUNT] = {
    [CN_SHAPE_SPHERE] = {[CN_SHAPE_SPHERE] = cni_collide_sphere_sphere,
                         [CN_SHAPE_BOX] = cni_collide_sphere_box,
                         [CN_SHAPE_PLANE] = cni_collide_sphere_plane},
    [CN_SHAPE_BOX] =
        {[CN_SHAPE_BOX] = cni_collide_box_box, [CN_SHAPE_PLANE] = cni_collide_box_plane},
};

// Insertion sort: at most eight points, mostly in order already.
static void sort_points(CniManifold *manifold) {
  for (int32_t i = 1; i < manifold->count; i++) {
    CniPoint p = manifold->points[i];
    int32_t j = i;
    for (; j > 0 && manifold->points[j - 1].feature > p.feature; j--)
      manifold->points[j] = manifold->points[j - 1];
    manifold->points[j] = p;
  }
}

void cni_collide(const CniPlaced *a, const CniPlaced *b, double margin, CniManifold *manifold) {
  manifold->normal = cn_vec3(0, 0, 1);
  manifold->count = 0;
  int swap = a->kind > b->kind;
  const CniPlaced *first = swap ? b : a, *second = swap ? a : b;
  CniCollide collide = pairs[first->kind][second->kind];
  if (!collide) return;
  collide(first, second, margin, manifold);
  if (swap) manifold->normal = cn_neg(manifold->normal);
  sort_points(manifold);
}
