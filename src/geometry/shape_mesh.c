// SPDX-License-Identifier: Apache-2.0
// A triangle mesh: a surface that need not be convex, a geometry that shapes share. It has no core:
// pairs with it go through its triangles (meshes/). The mass is that of what a closed one encloses,
// without its thickness.
#include "geometry/geometry_private.h"

static double rounding(const CniPlaced *shape) { return shape->mesh->radius; }

// Of its box as it is turned: never less than the surface.
static CniBounds bounds(const CniPlaced *shape) {
  const CniMesh *m = shape->mesh;
  CnMat3 r = cn_qmat(shape->pose.rotation);
  CnVec3 half = cn_scale(0.5, cn_sub(m->hi, m->lo));
  CnVec3 middle = cn_add(shape->pose.position, cn_mmul(r, m->origin));
  CnVec3 by = {fabs(r.x.x) * half.x + fabs(r.y.x) * half.y + fabs(r.z.x) * half.z + m->radius,
               fabs(r.x.y) * half.x + fabs(r.y.y) * half.y + fabs(r.z.y) * half.z + m->radius,
               fabs(r.x.z) * half.x + fabs(r.y.z) * half.y + fabs(r.z.z) * half.z + m->radius};
  return (CniBounds){cn_sub(middle, by), cn_add(middle, by)};
}

// What it touches is mostly smaller: margins go by that.
static double inradius(const CniPlaced *shape) {
  CnVec3 d = cn_sub(shape->mesh->hi, shape->mesh->lo);
  return 0.25 * cn_max(d.x, cn_max(d.y, d.z)) + shape->mesh->radius;
}
static double outradius(const CniPlaced *shape) { return shape->mesh->outradius; }

static CniMassProps mass(const CniPlaced *shape, double density) {
  const CniMesh *m = shape->mesh;
  CnSym3 j = m->inertia;
  return (CniMassProps){density * m->volume,
                        m->centre,
                        {density * j.xx, density * j.yy, density * j.zz, density * j.xy,
                         density * j.xz, density * j.yz}};
}

// From the inside of a closed one the first triangle is met from behind.
static double ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  const CniMesh *m = shape->mesh;
  int32_t t;
  if (m->radius > 0) return cni_ray_convex(shape, origin, direction, normal);
  double at = cni_mesh_ray(m, origin, direction, &t);
  if (t < 0) return INFINITY;
  CniTriangle triangle = cni_mesh_triangle(m, t);
  CnVec3 n = cn_unit_or(cni_triangle_area(&triangle), cn_vec3(0, 0, 1));
  int behind = cn_dot(n, direction) > 0;
  if (behind && m->closed && !m->two_sided) return cni_ray_inside(direction, normal);
  *normal = behind ? cn_neg(n) : n;
  return at;
}

static const CniField fields[] = {CNI_FIELDS_END};

const CniShapeKind cni_shape_mesh = {.name = "mesh",
                                     .summary = "a surface of triangles, a geometry",
                                     .fields = fields,
                                     .flags = CNI_SHAPE_GEOMETRY | CNI_SHAPE_SURFACE,
                                     .page = CNI_PAGE_TRIANGLES,
                                     .bounds = bounds,
                                     .inradius = inradius,
                                     .outradius = outradius,
                                     .mass = mass,
                                     .rounding = rounding,
                                     .ray = ray};
