// SPDX-License-Identifier: Apache-2.0
// A cone along z, whole or truncated: radius r below, at z = -l, and r + d above, at z = l. Its
// discs, at the share t of the height 2 l, have the radius r + d t, and
//
//     m_k = integral of (r + d t)^2 t^k     m = 2 pi l rho m_0     centre z = 2 l m_1/m_0 - l
//     J_z = pi l rho (r^4 + 2 r^3 d + 2 r^2 d^2 + r d^3 + d^4/5)
//     J_x = J_z/2 + 8 pi l^3 rho (m_2 - m_1^2/m_0)
#include "core/math.h"
#include "geometry/frustum.h"

static CniFrustum of(const CniPlaced *shape) {
  return (CniFrustum){shape->size[0], shape->size[1], shape->size[2]};
}

static double inradius(const CniPlaced *shape) { return cni_frustum_inradius(of(shape)); }
static double outradius(const CniPlaced *shape) { return cni_frustum_outradius(of(shape)); }

static CniMassProps mass(const CniPlaced *shape, double density) {
  double r = shape->size[0], d = shape->size[1] - r, l = shape->size[2],
         unit = CNI_PI * l * density;
  double m0 = r * r + r * d + d * d / 3, m1 = r * r / 2 + 2 * r * d / 3 + d * d / 4;
  double m2 = r * r / 3 + r * d / 2 + d * d / 5;
  double axial = unit * (r * r * (r * r + 2 * r * d + 2 * d * d) + d * d * d * (r + d / 5));
  double across = axial / 2 + 8 * unit * l * l * (m2 - m1 * (m1 / m0));
  return (CniMassProps){2 * unit * m0, cn_vec3(0, 0, 2 * l * (m1 / m0) - l),
                        cn_sdiag(across, across, axial)};
}

static CnVec3 support(const CniPlaced *shape, CnVec3 direction, uint32_t *corner) {
  return cni_frustum_support(of(shape), direction, corner);
}
static CnVec3 bend(const CniPlaced *shape, uint32_t corner, CnVec3 direction, CnSym3 *by) {
  return cni_frustum_bend(of(shape), corner, direction, by);
}
static void face(const CniPlaced *shape, CnVec3 direction, CniFace *out) {
  cni_frustum_face(of(shape), direction, out);
}

static const CniField fields[] = {
    CNI_FIELD(REAL, CnShapeDef, radius, POSITIVE, "m", "radius at the lower end"),
    CNI_FIELD(REAL, CnShapeDef, top_radius, NOT_NEGATIVE, "m",
              "radius at the upper end; 0, the default: a point"),
    CNI_FIELD(REAL, CnShapeDef, half_length, POSITIVE, "m", "half the height along z"),
    CNI_FIELDS_END};

const CniShapeKind cni_shape_cone = {.name = "cone",
                                     .summary = "a cone along z, whole or truncated",
                                     .fields = fields,
                                     .flags = CNI_SHAPE_CURVED | CNI_SHAPE_AXIAL,
                                     .page = CNI_PAGE_TRIANGLES,
                                     .bounds = cni_bounds_by_support,
                                     .inradius = inradius,
                                     .outradius = outradius,
                                     .mass = mass,
                                     .rounding = cni_not_rounded,
                                     .support = support,
                                     .bend = bend,
                                     .face = face,
                                     .ray = cni_ray_convex};
