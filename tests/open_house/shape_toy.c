// SPDX-License-Identifier: Apache-2.0
// A toy shape: a sphere under another name, which collides through the generic pair.
// tests/open_house adds it to a copy of the sources.
#include "geometry/geometry_private.h"

static CniBounds bounds(const CniPlaced *shape) { return cni_shape_sphere.bounds(shape); }

static double radius(const CniPlaced *shape) { return cni_shape_sphere.inradius(shape); }

static CniMassProps mass(const CniPlaced *shape, double density) {
  return cni_shape_sphere.mass(shape, density);
}

static CnVec3 support(const CniPlaced *shape, CnVec3 direction, uint32_t *corner) {
  return cni_shape_sphere.support(shape, direction, corner);
}

static void face(const CniPlaced *shape, CnVec3 direction, CniFace *out) {
  cni_shape_sphere.face(shape, direction, out);
}

static double ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  return cni_shape_sphere.ray(shape, origin, direction, normal);
}

static const CniField fields[] = {{.name = "radius",
                                   .type = CNI_FIELD_REAL,
                                   .range = CNI_POSITIVE,
                                   .offset = offsetof(CnShapeDef, radius),
                                   .unit = "m",
                                   .sentence = "radius"},
                                  CNI_FIELDS_END};

const CniShapeKind cni_shape_toy = {.name = "toy",
                                    .summary = "a toy",
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
