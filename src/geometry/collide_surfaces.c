// SPDX-License-Identifier: Apache-2.0
// Meshes and height fields: pairs that may touch in several places, each a manifold of its own.
#include "geometry/geometry_private.h"

// A mesh and another shape.
static void collide_surface(const CniPlaced *a, const CniPlaced *b, double margin, CniTake take,
                            void *context) {
  int32_t swap = cni_shape_is_surface(a->kind);
  const CniPlaced *mesh = swap ? a : b, *other = swap ? b : a;
  if (cni_shape_is_surface(other->kind)) {
    cni_collide_meshes(a, b, margin, take, context);
    return;
  }
  if (!cni_shape_unbounded(other->kind)) {
    cni_collide_mesh(other, mesh, margin, swap, take, context);
    return;
  }
  CniManifold manifold = {.count = 0};
  cni_collide_mesh_plane(mesh, other, margin, &manifold);
  if (!swap) manifold.normal = cn_neg(manifold.normal);
  cni_sort_points(&manifold);
  if (manifold.count > 0) take(context, &manifold);
}

void cni_collide_all(const CniPlaced *a, const CniPlaced *b, double margin, CniTake take,
                     void *context) {
  CniManifold manifold;
  if (cni_shape_is_surface(a->kind) || cni_shape_is_surface(b->kind)) {
    collide_surface(a, b, margin, take, context);
    return;
  }
  cni_collide(a, b, margin, &manifold);
  take(context, &manifold);
}
