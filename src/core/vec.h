// SPDX-License-Identifier: Apache-2.0
// Small vectors, quaternions, symmetric and full 3x3 matrices. All inline; the order of operations
// is written out, because it is part of the bits.
#ifndef CNI_CORE_VEC_H
#define CNI_CORE_VEC_H

#include <cairn/base.h>
#include <math.h>

typedef struct CnMat3 {
  CnVec3 x, y, z; // columns
} CnMat3;

#define CN_VEC3_ZERO ((CnVec3){0, 0, 0})
#define CN_QUAT_ONE ((CnQuat){1, 0, 0, 0})
#define CN_POSE_ONE ((CnPose){{0, 0, 0}, {1, 0, 0, 0}})

static inline CnVec3 cn_vec3(double x, double y, double z) { return (CnVec3){x, y, z}; }
static inline CnVec3 cn_add(CnVec3 a, CnVec3 b) {
  return (CnVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline CnVec3 cn_sub(CnVec3 a, CnVec3 b) {
  return (CnVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline CnVec3 cn_neg(CnVec3 a) { return (CnVec3){-a.x, -a.y, -a.z}; }
static inline CnVec3 cn_scale(double s, CnVec3 a) { return (CnVec3){s * a.x, s * a.y, s * a.z}; }
// a + s b
static inline CnVec3 cn_madd(CnVec3 a, double s, CnVec3 b) {
  return (CnVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double cn_dot(CnVec3 a, CnVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline CnVec3 cn_cross(CnVec3 a, CnVec3 b) {
  return (CnVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double cn_norm2(CnVec3 a) { return cn_dot(a, a); }
static inline double cn_norm(CnVec3 a) { return sqrt(cn_dot(a, a)); }
// Unit vector along a; `fallback` where a has no direction.
static inline CnVec3 cn_unit_or(CnVec3 a, CnVec3 fallback) {
  double n = cn_norm(a);
  return n > 0 ? cn_scale(1 / n, a) : fallback;
}
static inline double cn_min(double a, double b) { return a < b ? a : b; }
static inline double cn_max(double a, double b) { return a > b ? a : b; }
static inline double cn_clamp(double x, double lo, double hi) { return cn_min(cn_max(x, lo), hi); }
static inline int cn_vec3_finite(CnVec3 a) {
  return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// Two tangents that make (n, t1, t2) right-handed: (0, 0, s) turned into n by the shortest way. s
// is chosen so that the way is never half a turn and 1 + |n_z| never small.
static inline void cni_tangents(CnVec3 n, CnVec3 *t1, CnVec3 *t2) {
  double s = __builtin_copysign(1, n.z + 0.0); // -1 below zero, without a branch
  double a = -1 / (s + n.z), b = n.x * n.y * a;
  *t1 = cn_vec3(1 + s * n.x * n.x * a, s * b, -s * n.x);
  *t2 = cn_vec3(b, s + n.y * n.y * a, -n.y);
}

// ---- quaternions ----

static inline CnQuat cn_qmul(CnQuat a, CnQuat b) {
  return (CnQuat){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline CnQuat cn_qconj(CnQuat a) { return (CnQuat){a.w, -a.x, -a.y, -a.z}; }
static inline double cn_qnorm2(CnQuat a) { return a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z; }
static inline CnQuat cn_qunit(CnQuat a) {
  double s = 1 / sqrt(cn_qnorm2(a));
  return (CnQuat){s * a.w, s * a.x, s * a.y, s * a.z};
}
static inline CnVec3 cn_rotate(CnQuat q, CnVec3 a) {
  CnVec3 u = {q.x, q.y, q.z};
  CnVec3 t = cn_scale(2, cn_cross(u, a));
  return cn_add(cn_madd(a, q.w, t), cn_cross(u, t));
}
static inline CnVec3 cn_unrotate(CnQuat q, CnVec3 a) { return cn_rotate(cn_qconj(q), a); }
static inline CnMat3 cn_qmat(CnQuat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (CnMat3){{1 - 2 * (yy + zz), 2 * (xy + wz), 2 * (xz - wy)},
                  {2 * (xy - wz), 1 - 2 * (xx + zz), 2 * (yz + wx)},
                  {2 * (xz + wy), 2 * (yz - wx), 1 - 2 * (xx + yy)}};
}

// ---- matrices ----

static inline CnVec3 cn_mmul(CnMat3 m, CnVec3 a) {
  return cn_madd(cn_madd(cn_scale(a.x, m.x), a.y, m.y), a.z, m.z);
}
// transpose(m) a
static inline CnVec3 cn_mtmul(CnMat3 m, CnVec3 a) {
  return (CnVec3){cn_dot(m.x, a), cn_dot(m.y, a), cn_dot(m.z, a)};
}
static inline CnVec3 cn_smul(CnSym3 s, CnVec3 a) {
  return (CnVec3){s.xx * a.x + s.xy * a.y + s.xz * a.z, s.xy * a.x + s.yy * a.y + s.yz * a.z,
                  s.xz * a.x + s.yz * a.y + s.zz * a.z};
}
static inline CnSym3 cn_sadd(CnSym3 a, CnSym3 b) {
  return (CnSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
static inline CnSym3 cn_sdiag(double x, double y, double z) { return (CnSym3){x, y, z, 0, 0, 0}; }
// R diag(d) R^T
static inline CnSym3 cn_srotate(CnMat3 r, CnVec3 d) {
  CnSym3 s;
  s.xx = d.x * r.x.x * r.x.x + d.y * r.y.x * r.y.x + d.z * r.z.x * r.z.x;
  s.yy = d.x * r.x.y * r.x.y + d.y * r.y.y * r.y.y + d.z * r.z.y * r.z.y;
  s.zz = d.x * r.x.z * r.x.z + d.y * r.y.z * r.y.z + d.z * r.z.z * r.z.z;
  s.xy = d.x * r.x.x * r.x.y + d.y * r.y.x * r.y.y + d.z * r.z.x * r.z.y;
  s.xz = d.x * r.x.x * r.x.z + d.y * r.y.x * r.y.z + d.z * r.z.x * r.z.z;
  s.yz = d.x * r.x.y * r.x.z + d.y * r.y.y * r.y.z + d.z * r.z.y * r.z.z;
  return s;
}
static inline double cn_sdet(CnSym3 s) {
  return s.xx * (s.yy * s.zz - s.yz * s.yz) - s.xy * (s.xy * s.zz - s.yz * s.xz) +
         s.xz * (s.xy * s.yz - s.yy * s.xz);
}
// Inverse of a positive definite matrix, by its adjugate.
static inline CnSym3 cn_sinverse(CnSym3 s) {
  double f = 1 / cn_sdet(s);
  return (CnSym3){f * (s.yy * s.zz - s.yz * s.yz), f * (s.xx * s.zz - s.xz * s.xz),
                  f * (s.xx * s.yy - s.xy * s.xy), f * (s.xz * s.yz - s.xy * s.zz),
                  f * (s.xy * s.yz - s.xz * s.yy), f * (s.xy * s.xz - s.xx * s.yz)};
}

// Eigenvalues (ascending) and eigenvectors (right-handed columns) by Jacobi rotations.
void cni_seigen(CnSym3 s, CnVec3 *values, CnMat3 *vectors);
// What rotations have found, put in that form: values and their axes, one a row of `column`.
void cni_principal_axes(const double value[3], const double column[3][3], CnVec3 *values,
                        CnMat3 *vectors);
// Quaternion of a right-handed rotation matrix.
CnQuat cni_quat_from_mat(CnMat3 m);
// Rotation by the vector a (rad): the exponential map.
CnQuat cni_quat_exp(CnVec3 a);

// ---- poses ----

static inline CnVec3 cn_pose_point(CnPose p, CnVec3 a) {
  return cn_add(p.position, cn_rotate(p.rotation, a));
}
static inline CnVec3 cn_pose_local(CnPose p, CnVec3 a) {
  return cn_unrotate(p.rotation, cn_sub(a, p.position));
}
static inline CnPose cn_pose_mul(CnPose a, CnPose b) {
  return (CnPose){cn_pose_point(a, b.position), cn_qmul(a.rotation, b.rotation)};
}
static inline CnPose cn_pose_inverse(CnPose p) {
  CnQuat q = cn_qconj(p.rotation);
  return (CnPose){cn_neg(cn_rotate(q, p.position)), q};
}

#endif
