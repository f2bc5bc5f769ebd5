// SPDX-License-Identifier: Apache-2.0
// A capsule: a ball of radius r carried along a segment of half length l on the z axis; a cylinder
// with a half ball on each end. With the masses of the cylinder m_c and of both caps m_s
//
//     m_c = 2 pi r^2 l rho                  m_s = 4/3 pi r^3 rho
//     J_z = m_c r^2/2 + 2/5 m_s r^2
//     J_x = m_c (r^2/4 + l^2/3) + m_s (2/5 r^2 + l^2 + 3/4 r l)
//
// where 3/8 r is how far the centre of a half ball is from its flat side.
#include "core/math.h"
#include "geometry/geometry_private.h"

static double radius(const CniPlaced *shape) { return shape->size[0]; }
static double half_length(const CniPlaced *shape) { return shape->size[1]; }
static double outradius(const CniPlaced *shape) { return radius(shape) + half_length(shape); }

static CniBounds bounds(const CniPlaced *shape) {
  CnVec3 axis = cn_qmat(shape->pose.rotation).z, p = shape->pose.position;
  double r = radius(shape), l = half_length(shape);
  CnVec3 e = {r + l * fabs(axis.x), r + l * fabs(axis.y), r + l * fabs(axis.z)};
  return (CniBounds){cn_sub(p, e), cn_add(p, e)};
}

static CniMassProps mass(const CniPlaced *shape, double density) {
  double r = radius(shape), l = half_length(shape), area = CNI_PI * (r * r) * density;
  double cylinder = 2 * area * l, caps = 4.0 / 3.0 * area * r;
  double axial = cylinder * (r * r) / 2 + 0.4 * caps * (r * r);
  double across =
      cylinder * (r * r / 4 + l * l / 3) + caps * (0.4 * (r * r) + l * l + 0.75 * r * l);
  return (CniMassProps){cylinder + caps, CN_VEC3_ZERO, cn_sdiag(across, across, axial)};
}

// Corner 0 is the lower end, 1 the upper one.
static CnVec3 support(const CniPlaced *shape, CnVec3 direction, uint32_t *corner) {
  *corner = direction.z > 0;
  return cn_vec3(0, 0, *corner ? half_length(shape) : -half_length(shape));
}

// Both ends: how they lie to the other shape is for the pair to see.
static void face(const CniPlaced *shape, CnVec3 direction, CniFace *out) {
  (void)direction;
  out->count = 2;
  for (uint32_t i = 0; i < 2; i++) {
    out->points[i] = support(shape, cn_vec3(0, 0, i), &out->corner[i]);
    out->edge[i] = 2;
  }
}

// The wall of the cylinder, then the balls at its ends: the first hit is the one.
static double ray(const CniPlaced *shape, CnVec3 o, CnVec3 d, CnVec3 *normal) {
  double r = radius(shape), l = half_length(shape), first = INFINITY;
  double a = d.x * d.x + d.y * d.y, b = o.x * d.x + o.y * d.y, c = o.x * o.x + o.y * o.y - r * r;
  CnVec3 n;
  if (fabs(o.z) <= l && c < 0) return cni_ray_inside(d, normal);
  // square to the axis the way to the wall is that of the nearest point less half a chord
  double across = o.x * d.y - o.y * d.x, half2 = r * r * a - across * across;
  if (a > 0 && c >= 0 && b < 0 && half2 >= 0) {
    double t = (-b - sqrt(half2)) / a;
    if (fabs(o.z + t * d.z) <= l) {
      first = cn_max(t, 0);
      *normal = cn_vec3((o.x + t * d.x) / r, (o.y + t * d.y) / r, 0);
    }
  }
  for (int end = -1; end <= 1; end += 2) {
    double t = cni_ray_ball(cn_vec3(0, 0, end * l), r, o, d, &n);
    if (t < first) {
      first = t;
      *normal = n;
    }
  }
  return first;
}

static const CniField fields[] = {
    {.name = "radius",
     .type = CNI_FIELD_REAL,
     .range = CNI_POSITIVE,
     .offset = offsetof(CnShapeDef, radius),
     .unit = "m",
     .sentence = "radius of the cylinder and of its round ends"},
    {.name = "half_length",
     .type = CNI_FIELD_REAL,
     .range = CNI_POSITIVE,
     .offset = offsetof(CnShapeDef, half_length),
     .unit = "m",
     .sentence = "half the length of the cylinder, without its ends, along z"},
    CNI_FIELDS_END};

const CniShapeKind cni_shape_capsule = {.name = "capsule",
                                        .summary = "a cylinder along z with round ends",
                                        .fields = fields,
                                        .flags = CNI_SHAPE_AXIAL,
                                        .page = CNI_PAGE_TRIANGLES,
                                        .bounds = bounds,
                                        .inradius = radius,
                                        .outradius = outradius,
                                        .mass = mass,
                                        .rounding = radius,
                                        .support = support,
                                        .face = face,
                                        .ray = ray};
