// SPDX-License-Identifier: Apache-2.0
// Drift: the motion of a free body over a step after all impulses of the step have acted.
//
// No force acts, so the angular momentum L = R J W stays (W: spin in body axes, J: principal
// inertias) and so does the energy. In body axes J W' = (J W) x W, taken by the implicit midpoint
// rule of Simo and Wong, and the attitude by the Cayley map of the same midpoint spin:
//
//     J (W1 - W0) = k (J Wm) x Wm,   Wm = (W0 + W1)/2,   R1 = R0 cay(k Wm)
//
// Multiplied by Wm the first equation says that W.J W stays. With A = k hat(Wm)/2, cay = (1 - A)^-1
// (1 + A), it is the same as (1 + A) J W1 = (1 - A) J W0, that is R1 J W1 = R0 J W0: L stays, as a
// vector. Both hold for every k. k = h would turn a body that spins about a principal axis by
// 2 atan(h|W|/2) instead of h|W|; k = 2 tan(h|W0|/2)/|W0| turns it by h|W| and differs from h by
// h (h|W|)^2/12. Second order in h. A step that turns by more than a radian is made in parts.
//
// With an angular impulse t (body axes of the start) in the drift, from joints (drift_joints.c), R1 J
// W1 = R0 (J W0 + t), the first equation has t - k/2 Wm x t on its right, and the energy changes by
// t.Wm.
//
// Reference: Simo and Wong 1991, Unconditionally stable algorithms for rigid body dynamics.
#include "assembly/assembly_private.h"

#include "core/math.h"

#define INLINE static inline __attribute__((always_inline))
#define MAX_NEWTON 24
#define FEW 6 // steps without halving, where a body is held
#define MAX_HALVINGS 12
#define MAX_PARTS                                                                                  \
  64 // of a step; faster bodies are turned by less than they should, and lose nothing

// 2 J (Wm - W0) + h Wm x (J Wm): zero at the midpoint spin of a free body. d = (J3-J2, J1-J3, J2-J1)
// h.
INLINE CnVec3 spin_defect(CnVec3 inertia, CnVec3 d, CnVec3 w0, CnVec3 m) {
  return (CnVec3){2 * inertia.x * (m.x - w0.x) + d.x * m.y * m.z,
                  2 * inertia.y * (m.y - w0.y) + d.y * m.z * m.x,
                  2 * inertia.z * (m.z - w0.z) + d.z * m.x * m.y};
}

// What a torque adds to the defect, and to its slope. The mean arms are (1 - A)^-1 r with A = hat(a), a =
// h m/2, so that the forces give (1 + a.a) t = sum of r x f + (G - trace G) a + a x G^T a, G = sum of
// r f^T; the slope of the second term stands for all.
INLINE CnVec3 torque_defect(const CniDriftTorque *torque, CnVec3 m, double h, CnMat3 *slope) {
  CnVec3 a = cn_scale(h / 2, m);
  CnMat3 g = torque->arms;
  double trace = g.x.x + g.y.y + g.z.z;
  CnVec3 t = {g.z.y - g.y.z, g.x.z - g.z.x, g.y.x - g.x.y};
  CnVec3 turned = cn_cross(a, cn_mtmul(g, a));
  g.x.x -= trace;
  g.y.y -= trace;
  g.z.z -= trace;
  t = cn_add(cn_add(t, cn_mmul(g, a)), turned);
  t = cn_madd(torque->couple, 1 / (1 + cn_norm2(a)), t);
  slope->x = cn_madd(slope->x, h / 2, cn_sub(cn_cross(a, g.x), g.x));
  slope->y = cn_madd(slope->y, h / 2, cn_sub(cn_cross(a, g.y), g.y));
  slope->z = cn_madd(slope->z, h / 2, cn_sub(cn_cross(a, g.z), g.z));
  CnVec3 d = cn_scale(h / 2, t); // m x t has the columns e x t
  slope->x = cn_add(slope->x, cn_vec3(0, -d.z, d.y));
  slope->y = cn_add(slope->y, cn_vec3(d.z, 0, -d.x));
  slope->z = cn_add(slope->z, cn_vec3(-d.y, d.x, 0));
  return cn_sub(cn_cross(a, t), t);
}

typedef struct Middle {
  CnVec3 inertia, d, w0;
  double h;
  const CniDriftTorque *torque; // null: none
} Middle;

INLINE CnVec3 middle_defect(const Middle *k, CnVec3 m, CnMat3 *slope) {
  CnVec3 f = spin_defect(k->inertia, k->d, k->w0, m);
  *slope = (CnMat3){{2 * k->inertia.x, k->d.y * m.z, k->d.z * m.y},
                    {k->d.x * m.z, 2 * k->inertia.y, k->d.z * m.x},
                    {k->d.x * m.y, k->d.y * m.x, 2 * k->inertia.z}};
  return k->torque ? cn_add(f, torque_defect(k->torque, m, k->h, slope)) : f;
}

// Solve the 3x3 system with columns a by Cramer's rule; returns 0 where it is singular.
static int solve3(CnMat3 a, CnVec3 r, CnVec3 *x) {
  CnVec3 yz = cn_cross(a.y, a.z);
  double det = cn_dot(a.x, yz);
  if (!(fabs(det) > 0)) return 0;
  *x = (CnVec3){cn_dot(r, yz) / det, cn_dot(a.x, cn_cross(r, a.z)) / det,
                cn_dot(a.x, cn_cross(a.y, r)) / det};
  return 1;
}

// Newton's method from a guess that is near: a body in the step of a joint's.
static int find_near(const Middle *k, CnVec3 *result) {
  CnVec3 m = *result, step;
  CnMat3 slope;
  for (int i = 0; i < FEW; i++) {
    CnVec3 f = middle_defect(k, m, &slope);
    if (!solve3(slope, f, &step)) return 0;
    m = cn_sub(m, step);
    // every step squares the error: after this one it is below rounding
    if (cn_norm2(step) <= 1e-16 * (cn_norm2(k->w0) + cn_norm2(m))) {
      *result = m;
      return 1;
    }
  }
  return 0;
}

// By Newton's method with step halving. A solution exists for every h (the defect points outwards
// on a large sphere).
int cni_drift_middle(CnVec3 inertia, CnVec3 w0, const CniDriftTorque *torque, double h,
                     CnVec3 *result) {
  CnVec3 d = {h * (inertia.z - inertia.y), h * (inertia.x - inertia.z),
              h * (inertia.y - inertia.x)};
  Middle k = {inertia, d, w0, h, torque};
  CnVec3 m = *result;
  if (torque && find_near(&k, result)) return 1;
  CnMat3 slope, slope_next;
  CnVec3 f = middle_defect(&k, m, &slope);
  for (int i = 0; i < MAX_NEWTON; i++) {
    CnVec3 step;
    double size = cn_norm(w0) + cn_norm(m);
    if (!solve3(slope, f, &step)) return 0;
    // near the solution every step squares the error: after this one it is below rounding
    if (cn_norm(step) <= (torque ? 1e-8 : 1e-13) * size) {
      *result = cn_sub(m, step);
      return 1;
    }
    CnVec3 next = cn_sub(m, step), f_next = middle_defect(&k, next, &slope_next);
    double scale = 1;
    for (int n = 0; n < MAX_HALVINGS && !(cn_norm2(f_next) < cn_norm2(f)); n++) {
      scale *= 0.5;
      next = cn_madd(m, -scale, step);
      f_next = middle_defect(&k, next, &slope_next);
    }
    // rounding keeps the defect from falling further: the step tells how far away that is
    if (!(cn_norm2(f_next) < cn_norm2(f))) {
      *result = m;
      return cn_norm(step) <= 1e-10 * size;
    }
    m = next;
    f = f_next;
    slope = slope_next;
  }
  return 0;
}

// The k of a step h for a spin of size w: tan(x)/x by its series where that is exact.
double cni_drift_stretched(double h, double w) {
  double x = h * w / 2;
  if (!(x < 1.5)) return h;
  return x < 1e-4 ? h * (1 + x * x / 3) : h * cni_tan(x) / x;
}

CnQuat cni_drift_turned(CnQuat from, CnVec3 m, double k) {
  CnQuat half = {1, k * m.x / 2, k * m.y / 2, k * m.z / 2};
  CnQuat to = cn_qunit(cn_qmul(from, half));
  if (!(cn_qnorm2(to) > 0.5)) to.w = (double)NAN; // over the square root of the largest number
  return to;
}

// A part of a step.
static void turn(CnVec3 inertia, double h, CnQuat *rotation, CnVec3 *body_spin) {
  CnVec3 w0 = *body_spin, m = w0;
  double k = cni_drift_stretched(h, cn_norm(w0));
  // where the solution is not found the spin stays in body axes, which keeps the energy
  if (!cni_drift_middle(inertia, w0, NULL, k, &m)) m = w0;
  *rotation = cni_drift_turned(*rotation, m, k);
  *body_spin = cn_madd(cn_scale(2, m), -1, w0);
}

void cni_drift_turn(CnVec3 inertia, double h, CnQuat *rotation, CnVec3 *spin) {
  if (!(cn_norm2(*spin) > 0)) return;
  double angle = h * cn_norm(*spin);
  int32_t parts = angle < MAX_PARTS ? 1 + (int32_t)angle : MAX_PARTS;
  CnVec3 body_spin = cn_unrotate(*rotation, *spin);
  for (int32_t i = 0; i < parts; i++) turn(inertia, h / parts, rotation, &body_spin);
  *spin = cn_rotate(*rotation, body_spin);
}
