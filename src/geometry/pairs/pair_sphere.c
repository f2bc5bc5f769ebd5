// SPDX-License-Identifier: Apache-2.0
// A sphere against a sphere, a box, a half-space: one point, always of feature 0.
//
// The gap is the distance of the sphere's centre from the other surface (negative inside it) less
// the radius, along the direction to the nearest point of that surface. Where this point is not
// unique the choice is fixed: two coincident centres are pushed apart along z, a centre inside a
// box leaves by the nearest face, of several equally near ones by the first of +-x, +-y, +-z.
#include "geometry/geometry_private.h"

// Put the one point of a sphere on the line from its centre along the normal.
static void add_on_sphere(CniManifold *manifold, const CniPlaced *sphere, CnVec3 normal,
                          double gap) {
  manifold->normal = normal;
  CnVec3 point = cn_madd(sphere->pose.position, sphere->size[0] + 0.5 * gap, normal);
  cni_manifold_add(manifold, point, gap, 0);
}

void cni_collide_sphere_sphere(const CniPlaced *a, const CniPlaced *b, double margin,
                               CniManifold *manifold) {
  CnVec3 d = cn_sub(b->pose.position, a->pose.position);
  CniPointContact t =
      cni_point_contact_spheres(a->pose.position, a->size[0], b->size[0], d, cn_norm(d));
  if (!(t.gap <= margin)) return;
  manifold->normal = t.normal;
  cni_manifold_add(manifold, t.point, t.gap, 0);
}

void cni_collide_sphere_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                              CniManifold *manifold) {
  CnVec3 up = cn_qmat(b->pose.rotation).z;
  CniPointContact t = cni_point_contact_plane(a->pose.position, a->size[0], b->pose.position, up);
  if (!(t.gap <= margin)) return;
  manifold->normal = t.normal;
  cni_manifold_add(manifold, t.point, t.gap, 0);
}

void cni_collide_sphere_box(const CniPlaced *a, const CniPlaced *b, double margin,
                            CniManifold *manifold) {
  // the centre in the box's frame, and the nearest point of the box
  CnMat3 r = cn_qmat(b->pose.rotation);
  CnVec3 c = cn_mtmul(r, cn_sub(a->pose.position, b->pose.position));
  CnVec3 h = cni_box_half(b);
  CnVec3 nearest = {cn_clamp(c.x, -h.x, h.x), cn_clamp(c.y, -h.y, h.y), cn_clamp(c.z, -h.z, h.z)};
  CnVec3 d = cn_sub(nearest, c);
  double distance = cn_norm(d);
  if (distance > CNI_NO_DIRECTION) {
    double gap = distance - a->size[0];
    if (gap <= margin) add_on_sphere(manifold, a, cn_mmul(r, cn_scale(1 / distance, d)), gap);
    return;
  }

  // inside: the nearest face. The normal goes from the sphere into the box, so that the way out is
  // against it.
  double depth_x = fabs(c.x) - h.x, depth_y = fabs(c.y) - h.y, depth_z = fabs(c.z) - h.z;
  double depth = depth_x;
  CnVec3 normal = c.x < 0 ? r.x : cn_neg(r.x);
  if (depth_y > depth) {
    depth = depth_y;
    normal = c.y < 0 ? r.y : cn_neg(r.y);
  }
  if (depth_z > depth) {
    depth = depth_z;
    normal = c.z < 0 ? r.z : cn_neg(r.z);
  }
  double gap = depth - a->size[0];
  if (gap <= margin) add_on_sphere(manifold, a, normal, gap);
}
