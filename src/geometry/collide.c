// SPDX-License-Identifier: Apache-2.0
// The narrow phase: two placed shapes in, how they touch out.
//
// Any two convex shapes are one function (convex.c), a convex shape and a half-space another: a new
// kind needs none. Pairs that occur in great numbers, or whose closed form is better, have functions
// of their own in the table by the two kinds. They are written for kind a <= kind b, or a half-space
// b; the other order is the same function with the shapes exchanged and the normal turned round.
// Points lie midway between the two surfaces, so that they do not care which shape came first.
// Two shapes of one kind without a function of their own come in the order of their numbers, so that
// the answer is the same to the last bit whichever was named first.
#include "geometry/geometry.h"

#include "geometry/geometry_private.h"

// null: as any convex shapes
static const CniCollide pairs[CN_SHAPE_KIND_COUNT][CN_SHAPE_KIND_COUNT] = {
    [CN_SHAPE_SPHERE] = {[CN_SHAPE_SPHERE] = cni_collide_sphere_sphere,
                         [CN_SHAPE_BOX] = cni_collide_sphere_box,
                         [CN_SHAPE_PLANE] = cni_collide_sphere_plane},
    [CN_SHAPE_BOX] =
        {[CN_SHAPE_BOX] = cni_collide_box_box, [CN_SHAPE_PLANE] = cni_collide_box_plane},
    [CN_SHAPE_HULL] = {[CN_SHAPE_PLANE] = cni_collide_hull_plane},
};

// Insertion sort: at most eight points, mostly in order already.
void cni_sort_points(CniManifold *manifold) {
  for (int32_t i = 1; i < manifold->count; i++) {
    CniPoint p = manifold->points[i];
    int32_t j = i;
    for (; j > 0 && manifold->points[j - 1].feature > p.feature; j--)
      manifold->points[j] = manifold->points[j - 1];
    manifold->points[j] = p;
  }
}

// Is a's list of numbers the later one?
static int32_t compare(const double *a, const double *b, int32_t count) {
  for (int32_t i = 0; i < count; i++)
    if (a[i] != b[i]) return a[i] > b[i] ? 1 : -1;
  return 0;
}

// The functions of boxes are for those with sharp edges.
static int sharp(const CniPlaced *shape) {
  return shape->kind != CN_SHAPE_BOX || cni_box_round(shape) == 0;
}

// Does b come first? A half-space is always the second.
static int swapped(const CniPlaced *a, const CniPlaced *b) {
  int end_a = cni_shape_unbounded(a->kind), end_b = cni_shape_unbounded(b->kind);
  if (cni_shape_is_surface(a->kind)) return 1;
  if (end_a != end_b) return end_a;
  int own = pairs[a->kind][b->kind] && sharp(a) && sharp(b);
  if (a->kind != b->kind || end_a || own) return a->kind > b->kind;
  int32_t order = compare(a->size, b->size, CNI_SHAPE_SIZES);
  if (order == 0 && a->hull) order = compare(&a->hull->volume, &b->hull->volume, 1);
  if (order == 0) order = compare(&a->pose.position.x, &b->pose.position.x, 7);
  return order > 0;
}

void cni_collide(const CniPlaced *a, const CniPlaced *b, double margin, CniManifold *manifold) {
  CniHint hint = {0, 0, 0, {0, 0}};
  cni_collide_again(a, b, margin, &hint, manifold);
}

void cni_collide_again(const CniPlaced *a, const CniPlaced *b, double margin, CniHint *hint,
                       CniManifold *manifold) {
  uint32_t parts[2] = {0, 0};
  manifold->normal = cn_vec3(0, 0, 1);
  manifold->count = 0;
  if ((hint->x != 0 || hint->y != 0 || hint->z != 0) &&
      cni_still_apart(a, b, margin, cn_vec3((double)hint->x, (double)hint->y, (double)hint->z)))
    return;
  int swap = swapped(a, b);
  const CniPlaced *first = swap ? b : a, *second = swap ? a : b;
  if (cni_shape_unbounded(first->kind) || cni_shape_is_surface(second->kind)) return;
  CniCollide collide = pairs[first->kind][second->kind];
  if (!sharp(first) || !sharp(second)) collide = NULL;
  if (!collide && cni_shape_unbounded(second->kind)) collide = cni_collide_convex_plane;
  if (collide) {
    collide(first, second, margin, manifold);
  } else {
    parts[0] = hint->parts[swap];
    parts[1] = hint->parts[!swap];
    cni_collide_convex_again(first, second, margin, parts, manifold);
  }
  if (swap) manifold->normal = cn_neg(manifold->normal);
  *hint = (CniHint){0, 0, 0, {parts[swap], parts[!swap]}};
  if (manifold->count == 0) {
    CnVec3 n = manifold->normal;
    hint->x = (float)n.x, hint->y = (float)n.y, hint->z = (float)n.z;
  }
  // which of two of a kind comes first changes as they move: names keep the order of the caller
  for (int32_t i = 0; swap && a->kind == b->kind && i < manifold->count; i++)
    manifold->points[i].feature = cni_feature_turned(manifold->points[i].feature);
  cni_sort_points(manifold);
}
