// SPDX-License-Identifier: Apache-2.0
#include "placed.h"

CniPlaced placed_sphere(CnVec3 centre, double radius) {
  return (CniPlaced){CN_SHAPE_SPHERE, {centre, CN_QUAT_ONE}, {radius}};
}

CniPlaced placed_box(CnVec3 centre, CnQuat rotation, CnVec3 half_size) {
  return (CniPlaced){CN_SHAPE_BOX, {centre, rotation}, {half_size.x, half_size.y, half_size.z}};
}

CniPlaced placed_plane(CnVec3 origin, CnQuat rotation) {
  return (CniPlaced){CN_SHAPE_PLANE, {origin, rotation}, {0}};
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
