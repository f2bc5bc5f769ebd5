// SPDX-License-Identifier: Apache-2.0
// An ellipsoid with the half axes a, b, c along x, y, z. It has one corner, which is wherever it is
// asked for: the surface point of normal n is (a^2 n_x, b^2 n_y, c^2 n_z)/|(a n_x, b n_y, c n_z)|.
//
//     m = 4/3 pi a b c rho     J_x = m (b^2 + c^2)/5, ...
#include "core/math.h"
#include "geometry/geometry_private.h"

static double inradius(const CniPlaced *shape) {
  return cn_min(shape->size[0], cn_min(shape->size[1], shape->size[2]));
}
static double outradius(const CniPlaced *shape) {
  return cn_max(shape->size[0], cn_max(shape->size[1], shape->size[2]));
}

static CniMassProps mass(const CniPlaced *shape, double density) {
  const double *h = shape->size;
  double xx = h[0] * h[0], yy = h[1] * h[1], zz = h[2] * h[2];
  double m = 4.0 / 3.0 * CNI_PI * (h[0] * h[1] * h[2]) * density, j = m / 5;
  return (CniMassProps){m, CN_VEC3_ZERO, cn_sdiag(j * (yy + zz), j * (xx + zz), j * (xx + yy))};
}

static CnVec3 support(const CniPlaced *shape, CnVec3 d, uint32_t *corner) {
  const double *h = shape->size;
  *corner = 0;
  // of any length: the largest component is made one, so that no square vanishes
  double most = cn_max(fabs(d.x), cn_max(fabs(d.y), fabs(d.z)));
  if (!(most > 0)) return cn_vec3(0, 0, h[2]);
  CnVec3 s = {h[0] * (d.x / most), h[1] * (d.y / most), h[2] * (d.z / most)};
  s = cn_scale(1 / cn_norm(s), s);
  return cn_vec3(h[0] * s.x, h[1] * s.y, h[2] * s.z);
}

// With M = diag(a^2, b^2, c^2) and s = |(a n_x, b n_y, c n_z)| it is M/s - (M n)(M n)^T/s^3.
static CnVec3 bend(const CniPlaced *shape, uint32_t corner, CnVec3 d, CnSym3 *by) {
  CnVec3 p = support(shape, d, &corner);
  const double *h = shape->size;
  double s = 1 / cn_dot(p, d);
  *by = (CnSym3){s * (h[0] * h[0] - p.x * p.x),
                 s * (h[1] * h[1] - p.y * p.y),
                 s * (h[2] * h[2] - p.z * p.z),
                 -s * p.x * p.y,
                 -s * p.x * p.z,
                 -s * p.y * p.z};
  return p;
}

static void face(const CniPlaced *shape, CnVec3 direction, CniFace *out) {
  out->count = 1;
  out->points[0] = support(shape, direction, &out->corner[0]);
  out->edge[0] = 1;
}

// Scaled to a unit ball the ray is a ray still; normals scale the other way.
static double ray(const CniPlaced *shape, CnVec3 o, CnVec3 d, CnVec3 *normal) {
  const double *h = shape->size;
  CnVec3 from = {o.x / h[0], o.y / h[1], o.z / h[2]}, along = {d.x / h[0], d.y / h[1], d.z / h[2]};
  double t = cni_ray_ball(CN_VEC3_ZERO, 1, from, along, normal);
  if (t == 0 && cn_norm2(from) < 1) return cni_ray_inside(d, normal);
  if (t < INFINITY) {
    CnVec3 n = {normal->x / h[0], normal->y / h[1], normal->z / h[2]};
    *normal = cn_scale(1 / cn_norm(n), n);
  }
  return t;
}

static const CniField fields[] = {
    CNI_FIELD(VEC3, CnShapeDef, half_size, POSITIVE, "m", "half axes along x, y and z"),
    CNI_FIELDS_END};

const CniShapeKind cni_shape_ellipsoid = {.name = "ellipsoid",
                                          .summary = "a ball stretched along x, y and z",
                                          .fields = fields,
                                          .flags = CNI_SHAPE_CURVED,
                                          .page = CNI_PAGE_TRIANGLES,
                                          .bounds = cni_bounds_by_support,
                                          .inradius = inradius,
                                          .outradius = outradius,
                                          .mass = mass,
                                          .rounding = cni_not_rounded,
                                          .support = support,
                                          .bend = bend,
                                          .face = face,
                                          .ray = ray};
