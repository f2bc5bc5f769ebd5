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
// Reference: Simo and Wong 1991, Unconditionally stable algorithms for rigid body dynamics.
#include "assembly/assembly.h"
#include "core/math.h"

#define MAX_NEWTON 24
#define MAX_HALVINGS 12
#define MAX_PARTS                                                                                  \
  64 // of a step; faster bodies are turned by less than they should, and lose nothing

// 2 J (Wm - W0) + h Wm x (J Wm): zero at the midpoint spin. d = (J3-J2, J1-J3, J2-J1) h.
static CnVec3 spin_defect(CnVec3 inertia, CnVec3 d, CnVec3 w0, CnVec3 m) {
  return (CnVec3){2 * inertia.x * (m.x - w0.x) + d.x * m.y * m.z,
                  2 * inertia.y * (m.y - w0.y) + d.y * m.z * m.x,
                  2 * inertia.z * (m.z - w0.z) + d.z * m.x * m.y};
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

// Midpoint spin in body axes by Newton's method with step halving; returns 0 if it did not get
// there. A solution exists for every h (the defect points outwards on a large sphere).
static int midpoint_spin(CnVec3 inertia, CnVec3 w0, double h, CnVec3 *result) {
  CnVec3 d = {h * (inertia.z - inertia.y), h * (inertia.x - inertia.z),
              h * (inertia.y - inertia.x)};
  CnVec3 m = w0;
  CnVec3 f = spin_defect(inertia, d, w0, m);
  double size = cn_norm(w0);
  for (int i = 0; i < MAX_NEWTON; i++) {
    CnMat3 slope = {{2 * inertia.x, d.y * m.z, d.z * m.y},
                    {d.x * m.z, 2 * inertia.y, d.z * m.x},
                    {d.x * m.y, d.y * m.x, 2 * inertia.z}};
    CnVec3 step;
    if (!solve3(slope, f, &step)) return 0;
    // near the solution every step squares the error: after this one it is below rounding
    if (cn_norm(step) <= 1e-13 * size) {
      *result = cn_sub(m, step);
      return 1;
    }
    CnVec3 next = cn_sub(m, step);
    CnVec3 f_next = spin_defect(inertia, d, w0, next);
    double scale = 1;
    for (int k = 0; k < MAX_HALVINGS && !(cn_norm2(f_next) < cn_norm2(f)); k++) {
      scale *= 0.5;
      next = cn_madd(m, -scale, step);
      f_next = spin_defect(inertia, d, w0, next);
    }
    // rounding keeps the defect from falling further: the step tells how far away that is
    if (!(cn_norm2(f_next) < cn_norm2(f))) {
      *result = m;
      return cn_norm(step) <= 1e-10 * size;
    }
    m = next;
    f = f_next;
  }
  return 0;
}

CnVec3 cni_gyroscopic_spin(CnVec3 inertia, CnQuat rotation, CnVec3 spin, double h) {
  int isotropic = inertia.x == inertia.y && inertia.y == inertia.z;
  if (isotropic || !(cn_norm2(spin) > 0)) return spin;

  // Where the solution is not found (h|w| far beyond a turn a step) the spin stays in body axes,
  // which keeps the energy and the size of the angular momentum as the solution would have.
  CnVec3 w0 = cn_unrotate(rotation, spin), m;
  if (!midpoint_spin(inertia, w0, h, &m)) return spin;
  return cn_rotate(rotation, cn_madd(cn_scale(2, m), -1, w0));
}

// The k of a step h for a spin of size w: tan(x)/x by its series where that is exact.
static double stretched(double h, double w) {
  double x = h * w / 2;
  if (!(x < 0.75)) return h;
  return x < 1e-4 ? h * (1 + x * x / 3) : h * cni_tan(x) / x;
}

// A part of a step.
static void turn(CnVec3 inertia, double h, CnQuat *rotation, CnVec3 *body_spin) {
  CnVec3 w0 = *body_spin, m;
  double k = stretched(h, cn_norm(w0));
  // where the solution is not found the spin stays in body axes, which keeps the energy
  if (!midpoint_spin(inertia, w0, k, &m)) m = w0;
  CnQuat half = {1, k * m.x / 2, k * m.y / 2, k * m.z / 2};
  *rotation = cn_qunit(cn_qmul(*rotation, half));
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
