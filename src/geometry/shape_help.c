// SPDX-License-Identifier: Apache-2.0
// What rows of convex kinds share: extent by the support point, rays against balls.
#include "geometry/geometry_private.h"

#define PARALLEL 1e-9 // directions that differ by less are one

double cni_shape_beyond(const CniPlaced *shape, CnVec3 point, CnVec3 direction) {
  const CniShapeKind *kind = cni_shape_kinds[shape->kind];
  uint32_t corner;
  CnVec3 own = cn_unrotate(shape->pose.rotation, direction);
  if (kind->flags & CNI_SHAPE_UNBOUNDED) {
    if (cn_norm(cn_sub(own, cn_vec3(0, 0, 1))) > PARALLEL) return INFINITY;
    return cn_dot(direction, cn_sub(shape->pose.position, point));
  }
  CnVec3 far = cn_pose_point(shape->pose, kind->support(shape, own, &corner));
  return cn_dot(direction, cn_sub(far, point)) + kind->rounding(shape);
}

CniBounds cni_bounds_by_support(const CniPlaced *shape) {
  const CniShapeKind *kind = cni_shape_kinds[shape->kind];
  CnMat3 r = cn_qmat(shape->pose.rotation);
  const CnVec3 axes[3] = {{r.x.x, r.y.x, r.z.x}, {r.x.y, r.y.y, r.z.y}, {r.x.z, r.y.z, r.z.z}};
  double hi[3], lo[3], round = kind->rounding(shape);
  uint32_t corner;
  for (int32_t k = 0; k < 3; k++) {
    hi[k] = cn_dot(axes[k], kind->support(shape, axes[k], &corner)) + round;
    lo[k] = cn_dot(axes[k], kind->support(shape, cn_neg(axes[k]), &corner)) - round;
  }
  CnVec3 p = shape->pose.position;
  return (CniBounds){cn_add(p, cn_vec3(lo[0], lo[1], lo[2])),
                     cn_add(p, cn_vec3(hi[0], hi[1], hi[2]))};
}

double cni_not_rounded(const CniPlaced *shape) {
  (void)shape;
  return 0;
}

double cni_ray_inside(CnVec3 direction, CnVec3 *normal) {
  *normal = cn_neg(cn_unit_or(direction, cn_vec3(0, 0, 1)));
  return 0;
}

// With p the point of the line nearest to the centre: half a chord before it.
double cni_ray_ball(CnVec3 centre, double radius, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  CnVec3 o = cn_sub(origin, centre);
  double length2 = cn_norm2(direction);
  if (cn_norm2(o) < radius * radius) return cni_ray_inside(direction, normal);
  double to_p = -cn_dot(o, direction) / length2;
  CnVec3 p = cn_madd(o, to_p, direction);
  double half2 = radius * radius - cn_norm2(p);
  if (!(half2 >= 0)) return INFINITY;
  double t = to_p - sqrt(half2 / length2);
  if (!(to_p >= 0)) return INFINITY;
  *normal = cn_scale(1 / radius, cn_madd(o, t, direction));
  return cn_max(t, 0);
}
