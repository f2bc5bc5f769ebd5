// SPDX-License-Identifier: Apache-2.0
#include "placed.h"

#include "check.h"

CniPlaced placed_sphere(CnVec3 centre, double radius) {
  return (CniPlaced){CN_SHAPE_SPHERE, {centre, CN_QUAT_ONE}, {radius}, NULL, NULL};
}

CniPlaced placed_box(CnVec3 centre, CnQuat rotation, CnVec3 half_size) {
  return (CniPlaced){
      CN_SHAPE_BOX, {centre, rotation}, {half_size.x, half_size.y, half_size.z}, NULL, NULL};
}

CniPlaced placed_plane(CnVec3 origin, CnQuat rotation) {
  return (CniPlaced){CN_SHAPE_PLANE, {origin, rotation}, {0}, NULL, NULL};
}

const CniHull *placed_hull(const CnVec3 *points, int32_t count) {
  static CniHull *kept[64]; // released by the end of the program
  static int used;
  CnAllocator allocator = cn_allocator_default();
  CHECK(used < 64);
  CHECK_OK(cni_hull_create(&allocator, "hull", points, count, &kept[used]));
  return kept[used++];
}

static const CniHull *cut_box(void) {
  static const CniHull *hull;
  CnVec3 points[24];
  for (int i = 0; i < 24 && !hull; i++) {
    double c[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
    c[i / 8] *= 0.8;
    points[i] = cn_vec3(c[0], c[1], c[2]);
  }
  if (!hull) hull = placed_hull(points, 24);
  return hull;
}

CniPlaced placed_unit(CnShapeKind kind, CnPose pose) {
  CniPlaced s = {.kind = kind, .pose = pose};
  for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = 1;
  if (cni_shape_needs_geometry(kind)) s.hull = cut_box();
  return s;
}

int next_convex(int kind) {
  do kind++;
  while (kind < CN_SHAPE_KIND_COUNT && cni_shape_is_surface((CnShapeKind)kind));
  return kind;
}

CnQuat turn(CnVec3 axis, double angle) {
  CnVec3 a = cn_scale(sin(angle / 2) / cn_norm(axis), axis);
  return (CnQuat){cos(angle / 2), a.x, a.y, a.z};
}

CnVec3 random_in_cube(CniRng *rng, double half_side) {
  double x = cni_rng_range(rng, -half_side, half_side);
  double y = cni_rng_range(rng, -half_side, half_side);
  return cn_vec3(x, y, cni_rng_range(rng, -half_side, half_side));
}

CnVec3 random_direction(CniRng *rng) {
  for (;;) {
    CnVec3 d = random_in_cube(rng, 1);
    double n = cn_norm(d);
    if (n > 0.1 && n <= 1) return cn_scale(1 / n, d);
  }
}

CnQuat random_rotation(CniRng *rng) {
  for (;;) {
    CnVec3 d = random_in_cube(rng, 1);
    CnQuat q = {cni_rng_range(rng, -1, 1), d.x, d.y, d.z};
    double n = cn_qnorm2(q);
    if (n > 0.01 && n <= 1) return cn_qunit(q);
  }
}

CniPlaced placed_moved(CniPlaced shape, CnPose motion) {
  shape.pose = cn_pose_mul(motion, shape.pose);
  shape.pose.rotation = cn_qunit(shape.pose.rotation);
  return shape;
}

CnVec3 placed_half(const CniPlaced *box) {
  return cn_vec3(box->size[0], box->size[1], box->size[2]);
}

CnVec3 placed_corner(const CniPlaced *box, int i) {
  CnVec3 h = placed_half(box);
  CnVec3 local = {i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z};
  return cn_pose_point(box->pose, local);
}
