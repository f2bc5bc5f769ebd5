// SPDX-License-Identifier: Apache-2.0
// A box against a half-space: every corner nearer than the margin, named by its number.
//
// Corner i lies at (+-h_x, +-h_y, +-h_z) in the box's frame; bit 0, 1, 2 of i set means + in x, y,
// z. The number is a lasting name: the same corner has it however the box lies. A box lying flat
// gives its four lower corners; the upper ones join when the margin exceeds the height, that is
// when the box may turn over within one step.
#include "geometry/geometry_private.h"

void cni_collide_box_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                           CniManifold *manifold) {
  CnVec3 up = cn_qmat(b->pose.rotation).z;
  CnMat3 r = cn_qmat(a->pose.rotation);
  CnVec3 h = cni_box_half(a);
  double height = cn_dot(up, cn_sub(a->pose.position, b->pose.position));

  // half edges as vectors, and how much each lifts a corner
  CnVec3 ex = cn_scale(h.x, r.x), ey = cn_scale(h.y, r.y), ez = cn_scale(h.z, r.z);
  double lx = cn_dot(up, ex), ly = cn_dot(up, ey), lz = cn_dot(up, ez);
  if (!(height - (fabs(lx) + fabs(ly) + fabs(lz)) <= margin)) return;

  manifold->normal = cn_neg(up);
  for (uint32_t i = 0; i < 8; i++) {
    double sx = i & 1 ? 1 : -1, sy = i & 2 ? 1 : -1, sz = i & 4 ? 1 : -1;
    double gap = height + (sx * lx + sy * ly + sz * lz);
    if (!(gap <= margin)) continue;
    CnVec3 arm = cn_madd(cn_madd(cn_scale(sx, ex), sy, ey), sz, ez);
    CnVec3 corner = cn_add(a->pose.position, arm);
    cni_manifold_add(manifold, cn_madd(corner, -0.5 * gap, up), gap, i);
  }
}
