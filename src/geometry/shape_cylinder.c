// SPDX-License-Identifier: Apache-2.0
// A cylinder along z, whose rims may be rounded: a ball of radius c is carried over a cylinder of
// radius r and half length l. Its discs have the radius r + c between the ends and r + s beyond,
// s^2 = c^2 - t^2 at the height l + t. With s_k the integral of s^k over t from 0 to c
//
//     s_0 = c   s_1 = pi c^2/4   s_2 = 2/3 c^3   s_3 = 3/16 pi c^4   s_4 = 8/15 c^5
//
// the integral of (r + s)^n, n = 2 and 4, is a sum of these, and that of (r + s)^2 (l + t)^2 needs
// those of s^k t and s^k t^2 besides.
#include "core/math.h"
#include "geometry/frustum.h"

static CniFrustum of(const CniPlaced *shape) {
  return (CniFrustum){shape->size[0], shape->size[0], shape->size[1]};
}
static double rounding(const CniPlaced *shape) { return shape->size[2]; }

static double inradius(const CniPlaced *shape) {
  return cni_frustum_inradius(of(shape)) + rounding(shape);
}
static double outradius(const CniPlaced *shape) {
  return cni_frustum_outradius(of(shape)) + rounding(shape);
}

static CniMassProps mass(const CniPlaced *shape, double density) {
  double r = shape->size[0], l = shape->size[1], c = shape->size[2], w = r + c, r2 = r * r;
  double c2 = c * c, c3 = c2 * c, c4 = c2 * c2;
  double s1 = CNI_PI / 4 * c2, s2 = 2.0 / 3.0 * c3, s3 = 3.0 / 16.0 * CNI_PI * c4;
  // over the upper rounding
  double area = r2 * c + 2 * r * s1 + s2;
  double fourth = r2 * r2 * c + 4 * r2 * r * s1 + 6 * r2 * s2 + 4 * r * s3 + 8.0 / 15.0 * c4 * c;
  double first = r2 * c2 / 2 + 2 * r * c3 / 3 + c4 / 4;
  double second = r2 * c3 / 3 + r * (CNI_PI / 8) * c4 + 2.0 / 15.0 * c4 * c;
  double unit = 2 * CNI_PI * density;
  double axial = unit * (l * (w * w) * (w * w) + fourth) / 2;
  double height = l * l * l / 3 * (w * w) + l * l * area + 2 * l * first + second;
  double across = axial / 2 + unit * height;
  return (CniMassProps){unit * (l * (w * w) + area), CN_VEC3_ZERO, cn_sdiag(across, across, axial)};
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
    CNI_FIELD(REAL, CnShapeDef, radius, POSITIVE, "m", "radius of the cylinder"),
    CNI_FIELD(REAL, CnShapeDef, half_length, POSITIVE, "m", "half its length along z"),
    CNI_FIELD(REAL, CnShapeDef, rounding, NOT_NEGATIVE, "m",
              "radius of a ball that is carried over the whole, default 0"),
    CNI_FIELDS_END};

const CniShapeKind cni_shape_cylinder = {.name = "cylinder",
                                         .summary = "a cylinder along z, its rims sharp or round",
                                         .fields = fields,
                                         .flags = CNI_SHAPE_CURVED | CNI_SHAPE_AXIAL,
                                         .page = CNI_PAGE_TRIANGLES,
                                         .bounds = cni_bounds_by_support,
                                         .inradius = inradius,
                                         .outradius = outradius,
                                         .mass = mass,
                                         .rounding = rounding,
                                         .support = support,
                                         .bend = bend,
                                         .face = face,
                                         .ray = cni_ray_convex};
