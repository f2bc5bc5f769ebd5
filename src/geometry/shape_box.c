// SPDX-License-Identifier: Apache-2.0
// A box, given by its half sizes a, b, c. Corners and edges have the numbers of box_private.h, the
// edges after the eight corners.
//
//     m = 8 a b c rho     J_x = m (b^2 + c^2)/3, ...
//
// A ball of radius r may be carried over it. The whole is then the box, six slabs on its faces, the
// quarters of three cylinders along its edges and the eighths of a ball at its corners.
#include "core/math.h"
#include "geometry/pairs/box_private.h"

// A corner reaches along a world axis as far as its three half edges do, each by its own size.
static CniBounds bounds(const CniPlaced *shape) {
  CnMat3 r = cn_qmat(shape->pose.rotation);
  CnVec3 h = cni_box_half(shape), p = shape->pose.position, e;
  e.x = fabs(r.x.x) * h.x + fabs(r.y.x) * h.y + fabs(r.z.x) * h.z;
  e.y = fabs(r.x.y) * h.x + fabs(r.y.y) * h.y + fabs(r.z.y) * h.z;
  e.z = fabs(r.x.z) * h.x + fabs(r.y.z) * h.y + fabs(r.z.z) * h.z;
  double round = cni_box_round(shape);
  if (round > 0) e = cn_add(e, cn_vec3(round, round, round));
  return (CniBounds){cn_sub(p, e), cn_add(p, e)};
}

static double inradius(const CniPlaced *shape) {
  CnVec3 h = cni_box_half(shape);
  return cn_min(h.x, cn_min(h.y, h.z)) + cni_box_round(shape);
}

static double outradius(const CniPlaced *shape) {
  return cn_norm(cni_box_half(shape)) + cni_box_round(shape);
}

// Of the rounded box: volume, and integral of x^2 for the half size a along x.
static double round_square(double a, double b, double c, double r, double *volume) {
  double box = 8 * a * b * c, ends = 8 * b * c * r, sides = 8 * a * (b + c) * r;
  double along = 2 * CNI_PI * r * r * a, across = 2 * CNI_PI * r * r * (b + c);
  double ball = 4.0 / 3.0 * CNI_PI * r * r * r;
  *volume = box + ends + sides + along + across + ball;
  return (box + sides + along) * (a * a / 3) + ends * (a * a + a * r + r * r / 3) +
         across * (a * a + 8 / (3 * CNI_PI) * a * r + r * r / 4) +
         ball * (a * a + 0.75 * a * r + r * r / 5);
}

static CniMassProps round_mass(CnVec3 h, double r, double density) {
  double volume, x = density * round_square(h.x, h.y, h.z, r, &volume);
  double y = density * round_square(h.y, h.z, h.x, r, &volume);
  double z = density * round_square(h.z, h.x, h.y, r, &volume);
  return (CniMassProps){density * volume, CN_VEC3_ZERO, cn_sdiag(y + z, x + z, x + y)};
}

static CniMassProps mass(const CniPlaced *shape, double density) {
  if (cni_box_round(shape) > 0)
    return round_mass(cni_box_half(shape), cni_box_round(shape), density);
  CnVec3 h = cni_box_half(shape);
  double whole = 8 * (h.x * h.y * h.z) * density;
  double m = whole / 3, xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
  return (CniMassProps){whole, CN_VEC3_ZERO, cn_sdiag(m * (yy + zz), m * (xx + zz), m * (xx + yy))};
}

static double rounding(const CniPlaced *shape) { return cni_box_round(shape); }

static CnVec3 support(const CniPlaced *shape, CnVec3 d, uint32_t *corner) {
  CnVec3 h = cni_box_half(shape);
  *corner = (d.x > 0 ? 1u : 0) | (d.y > 0 ? 2u : 0) | (d.z > 0 ? 4u : 0);
  return cn_vec3(d.x > 0 ? h.x : -h.x, d.y > 0 ? h.y : -h.y, d.z > 0 ? h.z : -h.z);
}

// The face whose normal is nearest to the direction.
static void face(const CniPlaced *shape, CnVec3 direction, CniFace *out) {
  const double d[3] = {direction.x, direction.y, direction.z}, *h = shape->size;
  int k = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(d[i]) > fabs(d[k])) k = i;
  int u = (k + 1) % 3, v = (k + 2) % 3, up = d[k] > 0;
  double n[3] = {0, 0, 0};
  n[k] = up ? 1 : -1;
  out->count = 4;
  out->normal = cn_vec3(n[0], n[1], n[2]);
  for (int i = 0; i < 4; i++) {
    // round (+ +) (- +) (- -) (+ -) on the upper end, the other way on the lower one
    int j = up ? i : 3 - i, plus_u = j == 0 || j == 3, plus_v = j < 2;
    double c[3];
    c[k] = up ? h[k] : -h[k];
    c[u] = plus_u ? h[u] : -h[u];
    c[v] = plus_v ? h[v] : -h[v];
    out->points[i] = cn_vec3(c[0], c[1], c[2]);
    out->corner[i] = (up ? 1u << k : 0) | (plus_u ? 1u << u : 0) | (plus_v ? 1u << v : 0);
    out->edge[i] = 8 + cni_box_edge(i % 2 ? v : u, out->corner[i]);
  }
}

// Slabs: the last entry and the first exit.
static double ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  if (cni_box_round(shape) > 0) return cni_ray_convex(shape, origin, direction, normal);
  const double o[3] = {origin.x, origin.y, origin.z};
  const double d[3] = {direction.x, direction.y, direction.z};
  double in = -INFINITY, out = INFINITY, n[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    double near = -shape->size[k] - o[k], far = shape->size[k] - o[k];
    if (d[k] == 0) {
      if (near > 0 || far < 0) return INFINITY;
      continue;
    }
    double side = d[k] > 0 ? -1 : 1;
    double enter = (side < 0 ? near : far) / d[k], leave = (side < 0 ? far : near) / d[k];
    if (enter > in) {
      in = enter;
      n[0] = n[1] = n[2] = 0;
      n[k] = side;
    }
    out = cn_min(out, leave);
  }
  if (in > out || out < 0) return INFINITY;
  if (in < 0) return cni_ray_inside(direction, normal);
  *normal = cn_vec3(n[0], n[1], n[2]);
  return in;
}

static const CniField fields[] = {{.name = "half_size",
                                   .type = CNI_FIELD_VEC3,
                                   .range = CNI_POSITIVE,
                                   .offset = offsetof(CnShapeDef, half_size),
                                   .unit = "m",
                                   .sentence = "half the edges along x, y and z"},
                                  {.name = "rounding",
                                   .type = CNI_FIELD_REAL,
                                   .range = CNI_NOT_NEGATIVE,
                                   .offset = offsetof(CnShapeDef, rounding),
                                   .unit = "m",
                                   .sentence = "radius of a ball that is carried over the whole, "
                                               "default 0"},
                                  CNI_FIELDS_END};

const CniShapeKind cni_shape_box = {.name = "box",
                                    .summary = "a block, its edges sharp or round",
                                    .fields = fields,
                                    .page = CNI_PAGE_BOX,
                                    .bounds = bounds,
                                    .inradius = inradius,
                                    .outradius = outradius,
                                    .mass = mass,
                                    .rounding = rounding,
                                    .support = support,
                                    .face = face,
                                    .ray = ray};
