// SPDX-License-Identifier: Apache-2.0
// A plane bounds the half-space z <= 0 of its frame: no mass, no bounds, no core.
#include "geometry/geometry_private.h"

static CniBounds bounds(const CniPlaced *shape) {
  (void)shape;
  CnVec3 e = {INFINITY, INFINITY, INFINITY};
  return (CniBounds){cn_neg(e), e};
}

static double endless(const CniPlaced *shape) {
  (void)shape;
  return INFINITY;
}

static CniMassProps mass(const CniPlaced *shape, double density) {
  (void)shape, (void)density;
  return (CniMassProps){0, CN_VEC3_ZERO, {0, 0, 0, 0, 0, 0}};
}

static double ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  (void)shape;
  if (origin.z < 0) return cni_ray_inside(direction, normal);
  if (!(direction.z < 0)) return INFINITY;
  *normal = cn_vec3(0, 0, 1);
  return origin.z / -direction.z;
}

static const CniField fields[] = {CNI_FIELDS_END};

const CniShapeKind cni_shape_plane = {.name = "plane",
                                      .summary = "a half-space below a plane",
                                      .fields = fields,
                                      .flags = CNI_SHAPE_UNBOUNDED,
                                      .page = CNI_PAGE_PLANE,
                                      .bounds = bounds,
                                      .inradius = endless,
                                      .outradius = endless,
                                      .mass = mass,
                                      .ray = ray};
