// SPDX-License-Identifier: Apache-2.0
// A sphere: its centre, and a ball of its radius on it.
//
//     m = 4/3 pi r^3 rho     J = 2/5 m r^2
#include "core/math.h"
#include "geometry/geometry_private.h"

static double radius(const CniPlaced *shape) { return shape->size[0]; }

static CniBounds bounds(const CniPlaced *shape) {
  CnVec3 p = shape->pose.position, e = {radius(shape), radius(shape), radius(shape)};
  return (CniBounds){cn_sub(p, e), cn_add(p, e)};
}

static CniMassProps mass(const CniPlaced *shape, double density) {
  double r = radius(shape), m = 4.0 / 3.0 * CNI_PI * (r * r * r) * density;
  double j = 0.4 * m * (r * r);
  return (CniMassProps){m, CN_VEC3_ZERO, cn_sdiag(j, j, j)};
}

static CnVec3 support(const CniPlaced *shape, CnVec3 direction, uint32_t *corner) {
  (void)shape, (void)direction;
  *corner = 0;
  return CN_VEC3_ZERO;
}

static void face(const CniPlaced *shape, CnVec3 direction, CniFace *out) {
  out->count = 1;
  out->points[0] = support(shape, direction, &out->corner[0]);
}

static double ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  return cni_ray_ball(CN_VEC3_ZERO, radius(shape), origin, direction, normal);
}

static const CniField fields[] = {{.name = "radius",
                                   .type = CNI_FIELD_REAL,
                                   .range = CNI_POSITIVE,
                                   .offset = offsetof(CnShapeDef, radius),
                                   .unit = "m",
                                   .sentence = "radius"},
                                  CNI_FIELDS_END};

const CniShapeKind cni_shape_sphere = {.name = "sphere",
                                       .summary = "a ball",
                                       .fields = fields,
                                       .page = CNI_PAGE_SPHERE,
                                       .bounds = bounds,
                                       .inradius = radius,
                                       .outradius = radius,
                                       .mass = mass,
                                       .rounding = radius,
                                       .support = support,
                                       .face = face,
                                       .ray = ray};
