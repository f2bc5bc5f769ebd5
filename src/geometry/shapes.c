// SPDX-License-Identifier: Apache-2.0
// What is true of one shape alone, whatever its kind: the rows of the kinds say it, this file carries
// it from the shape's frame to others and adds it up.
#include <string.h>

#include "core/error.h"
#include "geometry/geometry_private.h"

const CniShapeKind *const cni_shape_kinds[CN_SHAPE_KIND_COUNT] = {
#define CN_SHAPE(number, name) &cni_shape_##name,
#include <cairn/shape_list.h>
#undef CN_SHAPE
};

const char *cn_shape_kind_name(CnShapeKind kind) {
  return (uint32_t)kind < CN_SHAPE_KIND_COUNT ? cni_shape_kinds[kind]->name : NULL;
}

// ---- sizes ------------------------------------------------------------------------------------

static int32_t numbers(const CniField *field) { return field->type == CNI_FIELD_VEC3 ? 3 : 1; }

void cni_shape_pack(const CnShapeDef *def, double size[CNI_SHAPE_SIZES]) {
  int32_t n = 0;
  for (const CniField *f = cni_shape_kinds[def->kind]->fields; f->name; n += numbers(f), f++)
    memcpy(size + n, cni_field_of(f, def), (size_t)numbers(f) * sizeof *size);
  for (; n < CNI_SHAPE_SIZES; n++) size[n] = 0;
}

void cni_shape_unpack(const double size[CNI_SHAPE_SIZES], CnShapeDef *def) {
  for (const CniField *f = cni_shape_kinds[def->kind]->fields; f->name; size += numbers(f), f++)
    memcpy(cni_field_at(f, def), size, (size_t)numbers(f) * sizeof *size);
}

CniPlaced cni_shape_placed(const CnShapeDef *def) {
  CniPlaced placed = {.kind = def->kind, .pose = def->pose};
  cni_shape_pack(def, placed.size);
  return placed;
}

// Is it a field of an earlier kind too?
static int seen_before(int32_t kind, const CniField *field) {
  for (int32_t k = 0; k < kind; k++)
    for (const CniField *f = cni_shape_kinds[k]->fields; f->name; f++)
      if (f->offset == field->offset) return 1;
  return 0;
}

const CniField *cni_shape_field(int32_t index) {
  for (int32_t k = 0; k < CN_SHAPE_KIND_COUNT; k++)
    for (const CniField *f = cni_shape_kinds[k]->fields; f->name; f++)
      if (!seen_before(k, f) && index-- == 0) return f;
  return NULL;
}

// ---- extent -----------------------------------------------------------------------------------

CniBounds cni_shape_bounds(const CniPlaced *shape) {
  return cni_shape_kinds[shape->kind]->bounds(shape);
}
double cni_shape_inradius(const CniPlaced *shape) {
  return cni_shape_kinds[shape->kind]->inradius(shape);
}
double cni_shape_outradius(const CniPlaced *shape) {
  return cni_shape_kinds[shape->kind]->outradius(shape);
}

// ---- rays -------------------------------------------------------------------------------------

double cni_shape_ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  CnMat3 r = cn_qmat(shape->pose.rotation);
  CnVec3 o = cn_mtmul(r, cn_sub(origin, shape->pose.position)), n = CN_VEC3_ZERO;
  double t = cni_shape_kinds[shape->kind]->ray(shape, o, cn_mtmul(r, direction), &n);
  *normal = cn_mmul(r, n);
  return t;
}

// ---- mass -------------------------------------------------------------------------------------

// r j r^T
static CnSym3 rotated(CnMat3 r, CnSym3 j) {
  CnVec3 x = cn_mtmul(r, cn_vec3(1, 0, 0)), y = cn_mtmul(r, cn_vec3(0, 1, 0));
  CnVec3 z = cn_mtmul(r, cn_vec3(0, 0, 1)), jx = cn_smul(j, x), jy = cn_smul(j, y);
  return (CnSym3){cn_dot(x, jx), cn_dot(y, jy), cn_dot(z, cn_smul(j, z)),
                  cn_dot(y, jx), cn_dot(z, jx), cn_dot(z, jy)};
}

CniMassProps cni_shape_mass(const CniPlaced *shape, double density) {
  CniMassProps p = cni_shape_kinds[shape->kind]->mass(shape, density);
  CnSym3 j = p.inertia;
  CnVec3 c = p.centre;
  p.centre = shape->pose.position;
  if (c.x != 0 || c.y != 0 || c.z != 0) p.centre = cn_pose_point(shape->pose, c);
  // what is the same about every axis stays exactly so at any pose
  if (j.xy != 0 || j.xz != 0 || j.yz != 0)
    p.inertia = rotated(cn_qmat(shape->pose.rotation), j);
  else if (j.xx != j.yy || j.yy != j.zz)
    p.inertia = cn_srotate(cn_qmat(shape->pose.rotation), cn_vec3(j.xx, j.yy, j.zz));
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
    return cni_invalid("shape position must be finite (got %g, %g, %g)", p.x, p.y, p.z);
  // written so that not-a-number fails too
  double n2 = cn_qnorm2(q);
  if (!(fabs(n2 - 1) <= 2 * UNIT_TOLERANCE))
    return cni_invalid("shape rotation must be a unit quaternion (got %g, %g, %g, %g of length %g)",
                       q.w, q.x, q.y, q.z, sqrt(n2));
  return CN_OK;
}

CnStatus cni_shape_check(const CnShapeDef *def) {
  if ((int)def->kind < 0 || def->kind >= CN_SHAPE_KIND_COUNT)
    return cni_invalid("shape kind %d does not exist", (int)def->kind);
  CNI_TRY(check_pose(&def->pose));
  CnShapeDef sizes = *def;
  CNI_TRY(cni_fields_check(cni_shape_kinds[def->kind]->fields, "shape", &sizes));
  if (!(def->density >= 0 && isfinite(def->density)))
    return cni_invalid("shape density must be finite and not negative (got %g)", def->density);

  // sizes and density that are fine by themselves can still overflow together
  if (cni_shape_needs_geometry(def->kind)) return CN_OK;
  CniPlaced placed = cni_shape_placed(def);
  CniMassProps p = cni_shape_mass(&placed, def->density);
  if (!isfinite(p.mass) || !isfinite(p.inertia.xx + p.inertia.yy + p.inertia.zz))
    return cni_invalid("shape of density %g has no finite mass (got %g kg)", def->density, p.mass);
  return CN_OK;
}
