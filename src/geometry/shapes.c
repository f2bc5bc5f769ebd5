// SPDX-License-Identifier: Apache-2.0
// What is true of one shape alone: its bounds, its radii, its mass, and whether its numbers make
// sense.
//
// Mass properties of a homogeneous body of density rho:
//     sphere   m = 4/3 pi r^3 rho     J = 2/5 m r^2
//     box      m = 8 a b c rho        J_x = m (b^2 + c^2)/3, ... (a, b, c: half sizes)
// A plane bounds a half-space: no mass, no bounds. Parts are joined by the parallel-axis theorem.
#include "geometry/geometry.h"

#include "core/error.h"
#include "core/math.h"

// ---- extent -----------------------------------------------------------------------------------

CniBounds cni_shape_bounds(const CniPlaced *shape) {
  CnVec3 p = shape->pose.position;
  CnVec3 e = {INFINITY, INFINITY, INFINITY};
  if (shape->kind == CN_SHAPE_PLANE) return (CniBounds){cn_neg(e), e};
  if (shape->kind == CN_SHAPE_SPHERE) {
    e = cn_vec3(shape->radius, shape->radius, shape->radius);
  } else {
    // a corner reaches along a world axis as far as its three half edges do, each by its own size
    CnMat3 r = cn_qmat(shape->pose.rotation);
    CnVec3 h = shape->half_size;
    e.x = fabs(r.x.x) * h.x + fabs(r.y.x) * h.y + fabs(r.z.x) * h.z;
    e.y = fabs(r.x.y) * h.x + fabs(r.y.y) * h.y + fabs(r.z.y) * h.z;
    e.z = fabs(r.x.z) * h.x + fabs(r.y.z) * h.y + fabs(r.z.z) * h.z;
  }
  return (CniBounds){cn_sub(p, e), cn_add(p, e)};
}

double cni_shape_inradius(const CniPlaced *shape) {
  CnVec3 h = shape->half_size;
  if (shape->kind == CN_SHAPE_PLANE) return INFINITY;
  return shape->kind == CN_SHAPE_SPHERE ? shape->radius : cn_min(h.x, cn_min(h.y, h.z));
}

double cni_shape_outradius(const CniPlaced *shape) {
  if (shape->kind == CN_SHAPE_PLANE) return INFINITY;
  return shape->kind == CN_SHAPE_SPHERE ? shape->radius : cn_norm(shape->half_size);
}

// ---- mass -------------------------------------------------------------------------------------

CniMassProps cni_shape_mass(const CniPlaced *shape, double density) {
  CniMassProps p = {0, shape->pose.position, {0, 0, 0, 0, 0, 0}};
  if (shape->kind == CN_SHAPE_SPHERE) {
    double r = shape->radius;
    p.mass = 4.0 / 3.0 * CNI_PI * (r * r * r) * density;
    double j = 0.4 * p.mass * (r * r);
    p.inertia = cn_sdiag(j, j, j);
  } else if (shape->kind == CN_SHAPE_BOX) {
    CnVec3 h = shape->half_size;
    p.mass = 8 * (h.x * h.y * h.z) * density;
    double m = p.mass / 3, xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
    CnVec3 j = {m * (yy + zz), m * (xx + zz), m * (xx + yy)};
    // a cube's inertia is the same about every axis: keep it exactly so at any pose
    int cube = h.x == h.y && h.y == h.z;
    p.inertia = cube ? cn_sdiag(j.x, j.x, j.x) : cn_srotate(cn_qmat(shape->pose.rotation), j);
  }
  return p;
}

CniMassProps cni_mass_add(CniMassProps a, CniMassProps b) {
  // a part without mass changes nothing, not even the last bit
  if (b.mass == 0) return a;
  if (a.mass == 0) return b;
  CniMassProps s;
  s.mass = a.mass + b.mass;
  CnVec3 d = cn_sub(b.centre, a.centre);
  s.centre = cn_madd(a.centre, b.mass / s.mass, d);
  // both shifts to the common centre together: the reduced mass turning at the whole distance
  double m = a.mass * (b.mass / s.mass);
  s.inertia = cn_sadd(a.inertia, b.inertia);
  s.inertia.xx += m * (d.y * d.y + d.z * d.z);
  s.inertia.yy += m * (d.x * d.x + d.z * d.z);
  s.inertia.zz += m * (d.x * d.x + d.y * d.y);
  s.inertia.xy -= m * d.x * d.y;
  s.inertia.xz -= m * d.x * d.z;
  s.inertia.yz -= m * d.y * d.z;
  return s;
}

// ---- definitions ------------------------------------------------------------------------------

// A quaternion further from unit length than this was not meant to be one (four digits typed by
// hand pass); what is nearer can be brought to unit length without moving anything visibly.
#define UNIT_TOLERANCE 1e-3

static CnStatus check_pose(const CnPose *pose) {
  CnVec3 p = pose->position;
  CnQuat q = pose->rotation;
  if (!cn_vec3_finite(p))
    return cni_error(CN_INVALID_ARGUMENT, "shape position must be finite (got %g, %g, %g)", p.x,
                     p.y, p.z);
  // written so that not-a-number fails too
  double n2 = cn_qnorm2(q);
  if (!(fabs(n2 - 1) <= 2 * UNIT_TOLERANCE))
    return cni_error(CN_INVALID_ARGUMENT,
                     "shape rotation must be a unit quaternion (got %g, %g, %g, %g of length %g)",
                     q.w, q.x, q.y, q.z, sqrt(n2));
  return CN_OK;
}

static CnStatus check_length(double value, const char *name) {
  if (value > 0 && isfinite(value)) return CN_OK;
  return cni_error(CN_INVALID_ARGUMENT, "shape %s must be positive and finite (got %g)", name,
                   value);
}

CnStatus cni_shape_check(const CnShapeDef *def) {
  if ((int)def->kind < 0 || def->kind >= CN_SHAPE_KIND_COUNT)
    return cni_error(CN_INVALID_ARGUMENT, "shape kind %d does not exist", (int)def->kind);
  CNI_TRY(check_pose(&def->pose));
  if (def->kind == CN_SHAPE_SPHERE) CNI_TRY(check_length(def->radius, "radius"));
  if (def->kind == CN_SHAPE_BOX) {
    CNI_TRY(check_length(def->half_size.x, "half_size.x"));
    CNI_TRY(check_length(def->half_size.y, "half_size.y"));
    CNI_TRY(check_length(def->half_size.z, "half_size.z"));
  }
  if (!(def->density >= 0 && isfinite(def->density)))
    return cni_error(CN_INVALID_ARGUMENT, "shape density must be finite and not negative (got %g)",
                     def->density);

  // sizes and density that are fine by themselves can still overflow together
  CniPlaced placed = {def->kind, def->pose, def->radius, def->half_size};
  CniMassProps p = cni_shape_mass(&placed, def->density);
  if (!isfinite(p.mass) || !isfinite(p.inertia.xx + p.inertia.yy + p.inertia.zz))
    return cni_error(CN_INVALID_ARGUMENT, "shape of density %g has no finite mass (got %g kg)",
                     def->density, p.mass);
  return CN_OK;
}
