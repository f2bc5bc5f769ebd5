// SPDX-License-Identifier: Apache-2.0
// Volume, centre and inertia of what a closed mesh encloses: sums over the tetrahedra between each
// triangle and one point, with their signs. The point is the middle of the mesh first, and for the
// inertia the centre itself, so that no large numbers cancel.
#include "geometry/mesh.h"

// Six times the volume of a tetrahedron whose fourth corner is `from`, and its corners seen from there.
static double six_volumes(const CniMesh *m, int32_t t, CnVec3 from, CniTriangle *at) {
  *at = cni_mesh_triangle(m, t);
  for (int32_t k = 0; k < 3; k++) at->at[k] = cn_sub(at->at[k], from);
  return cn_dot(at->at[0], cn_cross(at->at[1], at->at[2]));
}

// Integral of x y over a tetrahedron with one corner at the origin, over its six volumes.
static double product(double x0, double x1, double x2, double y0, double y1, double y2) {
  return ((x0 + x1 + x2) * (y0 + y1 + y2) + x0 * y0 + x1 * y1 + x2 * y2) / 120;
}

void cni_mesh_weigh(CniMesh *m) {
  if (!m->closed) return;
  CniTriangle a;
  CnVec3 moment = CN_VEC3_ZERO;
  double six = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    double v = six_volumes(m, t, m->origin, &a);
    six += v;
    moment = cn_madd(moment, v, cn_add(a.at[0], cn_add(a.at[1], a.at[2])));
  }
  if (six == 0) return;
  m->volume = six / 6;
  m->centre = cn_madd(m->origin, 1 / (4 * six), moment);
  CnSym3 c = {0, 0, 0, 0, 0, 0}; // integrals of products
  for (int32_t t = 0; t < m->triangle_count; t++) {
    double v = six_volumes(m, t, m->centre, &a);
    CnVec3 p = a.at[0], q = a.at[1], r = a.at[2];
    c.xx += v * product(p.x, q.x, r.x, p.x, q.x, r.x);
    c.yy += v * product(p.y, q.y, r.y, p.y, q.y, r.y);
    c.zz += v * product(p.z, q.z, r.z, p.z, q.z, r.z);
    c.xy += v * product(p.x, q.x, r.x, p.y, q.y, r.y);
    c.xz += v * product(p.x, q.x, r.x, p.z, q.z, r.z);
    c.yz += v * product(p.y, q.y, r.y, p.z, q.z, r.z);
  }
  m->inertia = (CnSym3){c.yy + c.zz, c.xx + c.zz, c.xx + c.yy, -c.xy, -c.xz, -c.yz};
}
