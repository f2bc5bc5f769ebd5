// SPDX-License-Identifier: Apache-2.0
// Nearest places of two shapes, and when one that moves touches another.
//
// At the time t the shapes are g(t) apart along the normal n(t). As long as nothing turns, they stay
// apart along n for g/(n.c) more, c the velocity at which they come nearer: to go there is safe, and
// is Newton's step for the convex function g, which therefore comes to the first touch from before,
// mostly in 3 to 6 rounds. Where they graze each other it is slow; after 64 rounds the time reached
// is the answer if less than 1e-9 of the size is left.
#include "geometry/pairs/convex_private.h"

#define ROUNDS 64
#define TOUCH 1e-13 // of the extent
#define LEFT 1e-9   // of the extent
#define SHARP 1e-6  // of the extent: from nearer than this a normal is not sharp

// A bounded shape over a half-space b.
static CniPlaces over_plane(const CniPlaced *a, const CniPlaced *b) {
  const CniShapeKind *kind = cni_shape_kinds[a->kind];
  CnVec3 up = cn_qmat(b->pose.rotation).z;
  uint32_t corner;
  CnVec3 p = kind->support(a, cn_unrotate(a->pose.rotation, cn_neg(up)), &corner);
  p = cn_madd(cn_pose_point(a->pose, p), -kind->rounding(a), up);
  double gap = cn_dot(up, cn_sub(p, b->pose.position));
  return (CniPlaces){gap, cn_neg(up), p, cn_madd(p, -gap, up)};
}

static CniPlaces turned(CniPlaces p) { return (CniPlaces){p.gap, cn_neg(p.normal), p.b, p.a}; }

static CniPlaces of_nearest(const CniConvex *x, const CniNearest *near) {
  CnVec3 pa = CN_VEC3_ZERO;
  for (int32_t i = 0; i < near->simplex.count; i++)
    pa = cn_madd(pa, near->simplex.share[i], near->simplex.corner[i].a);
  CniPlaces p = {near->gap - x->round_a - x->round_b, cn_rotate(x->a->pose.rotation, near->normal),
                 CN_VEC3_ZERO, CN_VEC3_ZERO};
  p.a = cn_pose_point(x->a->pose, cn_madd(pa, x->round_a, near->normal));
  p.b = cn_madd(p.a, p.gap, p.normal);
  return p;
}

static CniPlaces of_convex(const CniPlaced *a, const CniPlaced *b) {
  CniConvex x = cni_convex_of(a, b, INFINITY);
  CniNearest near;
  cni_convex_nearest(&x, &near);
  return of_nearest(&x, &near);
}

static CniPlaces of_surface(const CniPlaced *a, const CniPlaced *b) {
  int mesh_a = cni_shape_is_surface(a->kind), mesh_b = cni_shape_is_surface(b->kind);
  if (mesh_a && mesh_b) return cni_places_meshes(a, b);
  const CniPlaced *mesh = mesh_a ? a : b, *other = mesh_a ? b : a;
  CniPlaces p = cni_shape_unbounded(other->kind) ? turned(cni_places_mesh_plane(mesh, other))
                                                 : cni_places_mesh(other, mesh);
  return mesh_a ? turned(p) : p;
}

CniPlaces cni_places(const CniPlaced *a, const CniPlaced *b) {
  int end_a = cni_shape_unbounded(a->kind), end_b = cni_shape_unbounded(b->kind);
  if (cni_shape_is_surface(a->kind) || cni_shape_is_surface(b->kind)) return of_surface(a, b);
  if (end_a && end_b) return (CniPlaces){.gap = INFINITY, .normal = {0, 0, 1}};
  if (end_b) return over_plane(a, b);
  if (end_a) return turned(over_plane(b, a));
  return of_convex(a, b);
}

CniPlaces cni_places_of(const CniPlaced *a, const CniPlaced *b, uint32_t feature, CnVec3 normal) {
  const uint32_t others = CNI_SHAPE_UNBOUNDED | CNI_SHAPE_SURFACE;
  if ((cni_shape_kinds[a->kind]->flags | cni_shape_kinds[b->kind]->flags) & others)
    return cni_places(a, b);
  CniConvex x = cni_convex_of(a, b, INFINITY);
  CniNearest near;
  CnVec3 own = cn_unrotate(a->pose.rotation, normal);
  CnVec3 back = cn_neg(cn_unrotate(b->pose.rotation, normal));
  // names of two kinds stand in the order of these (collide.c)
  if (a->kind > b->kind) feature = cni_feature_turned(feature);
  uint32_t parts[2] = {cni_part_named(a, feature >> 10 & 0x3ffu, own),
                       cni_part_named(b, feature & 0x3ffu, back)};
  if (!cni_convex_meet(&x, parts, &near)) cni_convex_nearest(&x, &near);
  return of_nearest(&x, &near);
}

static double size_of(const CniPlaced *shape) {
  return cni_shape_unbounded(shape->kind) ? 0 : cni_shape_outradius(shape);
}

static CniPlaces at_time(CniPlaced a, const CniPlaced *b, CnVec3 motion, double t) {
  a.pose.position = cn_madd(a.pose.position, t, motion);
  return cni_places(&a, b);
}

double cni_cast(const CniPlaced *a, const CniPlaced *b, CnVec3 motion, double most,
                CniPlaces *places) {
  if (cni_shape_is_surface(b->kind) && b->size[2] != 1)
    return cni_cast_mesh(a, b, motion, most, places);
  CniPlaces now = cni_places(a, b);
  CnVec3 normal = now.normal;
  double t = 0, extent = size_of(a) + size_of(b) + fabs(now.gap), speed = 0;
  if (places) *places = now;
  if (now.gap <= 0) return 0;
  if (now.gap == INFINITY) return INFINITY;
  for (int32_t round = 0; round < ROUNDS && now.gap > TOUCH * extent; round++) {
    if (now.gap > SHARP * extent || round == 0) normal = now.normal;
    speed = cn_dot(normal, motion);
    if (!(speed > 0)) return INFINITY;
    t += now.gap / speed;
    if (!(t <= most)) return INFINITY;
    now = at_time(*a, b, motion, t);
  }
  if (!(now.gap <= LEFT * extent)) return INFINITY;
  if (!places) return t;
  // seen from a little before
  double back = t - SHARP * extent / speed;
  *places = now;
  places->normal = back > 0 ? at_time(*a, b, motion, back).normal : normal;
  return t;
}

double cni_ray_convex(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  CniPlaced own = *shape, point = {.kind = CN_SHAPE_SPHERE, .pose = {origin, CN_QUAT_ONE}};
  CniPlaces places;
  own.pose = CN_POSE_ONE;
  double t = cni_cast(&point, &own, direction, INFINITY, &places);
  if (t == 0 && places.gap < 0) return cni_ray_inside(direction, normal);
  *normal = cn_neg(places.normal);
  return t;
}
