// SPDX-License-Identifier: Apache-2.0
// Rows that turn: the orientation of frame b seen from frame a, as angles and their exact gradients.
//
// Turn. The rotation vector phi from frame a to frame b, in the axes of a. It is zero for parallel
// frames only and points the short way for every wrong assembly, half a turn included, where
// products of axes would vanish or push the wrong way. With the spin W of b relative to a, in the
// axes of a,
//
//     phi' = W - phi x W / 2 + k phi x (phi x W),   k = (1 - (t/2) cot(t/2))/t^2,  t = |phi|
//
// whose rows are the gradients of the three components of phi. They are independent up to a whole
// turn.
//
// Tilt. The shortest rotation vector c from z of a to z of b. With t the angle between the two and
// s = (t/sin t) (u_x, u_y, 0), u being z of b in the axes of a, c = z x s and
//
//     c_i' = W . (e_i + k s_i s - s_i z),   k = (t cot t - 1)/t^2
//
// Twist. The rotation from a to b is a turn about z followed by that shortest one; with its
// quaternion (w, x, y, z) the angle of the first is 2 atan2(z, w), and its rate
//
//     W . (z axis + (w y + z x, z y - w x, 0)/(w^2 + z^2))
#include "joint/joint.h"

#include "core/math.h"

#define BENT_LITTLE 2.25e-4 // (t/2)^2: series are exact there
#define CLEARLY_NEAR 3.14   // rad: less than half a turn, whatever is rounded

static CniJointRow turn_row(const CniJointSight *sight, CnVec3 in_a, double value) {
  return (CniJointRow){
      .angular = cn_rotate(sight->at_a.rotation, in_a), .value = value, .turns = 1};
}

// ---- turn ----

// (1 - (t/2) cot(t/2))/t^2 with the sine s and cosine c of t/2; by its series where the difference
// would lose digits.
static double turn_factor(double t, double s, double c) {
  double tt = t * t;
  if (t < 0.03) return 1.0 / 12 + tt * (1.0 / 720 + tt / 30240);
  return (1 - 0.5 * t * c / s) / tt;
}

void cni_joint_turn(const CniJointSight *sight, CniJointRow rows[3]) {
  CnQuat turn = sight->turn;
  double sign = turn.w < 0 ? -1 : 1, c = sign * turn.w;
  CnVec3 v = cn_scale(sign, cn_vec3(turn.x, turn.y, turn.z));
  double s = cn_norm(v), t = 2 * cni_atan2(s, c);
  CnVec3 phi = cn_scale(s > 0 ? t / s : 2, v);
  double k = turn_factor(t, s, c);
  const CnVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const double values[3] = {phi.x, phi.y, phi.z};
  for (int32_t i = 0; i < 3; i++) {
    // e . (W - phi x W/2 + k phi x (phi x W)) = W . (e + phi x e/2 + k phi x (phi x e))
    CnVec3 across = cn_cross(phi, axes[i]);
    CnVec3 row = cn_madd(cn_madd(axes[i], 0.5, across), k, cn_cross(phi, across));
    rows[i] = turn_row(sight, row, values[i]);
  }
}

void cni_joint_lock_turn(const CniJointSight *sight, CniJointPlace *place) {
  cni_joint_turn(sight, &place->locked[place->locked_count]);
  place->locked_count += 3;
}

// ---- tilt ----

typedef struct Tilt {
  CnVec3 s;
  double t, k, k_slope; // the slope is that over t^2
} Tilt;

static Tilt tilt_of(const CniJointSight *sight) {
  CnQuat q = sight->turn;
  // z of b in the axes of a; its sine by half angles keeps its digits near both ends
  double x = 2 * (q.x * q.z + q.w * q.y), y = 2 * (q.y * q.z - q.w * q.x);
  double bb = q.x * q.x + q.y * q.y;
  Tilt tilt;
  if (bb < BENT_LITTLE) {
    // t = 2 asin b
    double tt = 4 * bb * (1 + bb * (1.0 / 3 + bb * (8.0 / 45 + bb * (4.0 / 35))));
    double ratio = 1 + tt * (1.0 / 6 + tt * (7.0 / 360)); // t/sin t
    tilt.s = cn_vec3(ratio * x, ratio * y, 0);
    tilt.k = -1.0 / 3 - tt * (1.0 / 45 + tt * (2.0 / 945));
    tilt.k_slope = -1.0 / 45 - tt * (4.0 / 945);
    tilt.t = sqrt(tt);
    return tilt;
  }
  double bent = sqrt(bb), straight = sqrt(q.w * q.w + q.z * q.z);
  double t = tilt.t = 2 * cni_atan2(bent, straight), tt = t * t;
  double sine = cn_max(2 * bent * straight, 1e-12), cosine = straight * straight - bent * bent;
  tilt.s = cn_vec3(t / sine * x, t / sine * y, 0);
  tilt.k = (t * cosine / sine - 1) / tt;
  tilt.k_slope = (2 / tt - cosine / (sine * t) - 1 / (sine * sine)) / (2 * tt);
  return tilt;
}

static CnVec3 tilt_row(const Tilt *tilt, int32_t i) {
  CnVec3 e = i ? cn_vec3(0, 1, 0) : cn_vec3(1, 0, 0);
  double s = i ? tilt->s.y : tilt->s.x;
  return cn_madd(cn_madd(e, tilt->k * s, tilt->s), -s, cn_vec3(0, 0, 1));
}

void cni_joint_tilt(const CniJointSight *sight, CniJointRow rows[2]) {
  Tilt tilt = tilt_of(sight);
  rows[0] = turn_row(sight, tilt_row(&tilt, 0), -tilt.s.y);
  rows[1] = turn_row(sight, tilt_row(&tilt, 1), tilt.s.x);
}

void cni_joint_tilt_values(const CniJointSight *sight, double values[2]) {
  Tilt tilt = tilt_of(sight);
  values[0] = -tilt.s.y;
  values[1] = tilt.s.x;
}

void cni_joint_lock_tilt(const CniJointSight *sight, CniJointPlace *place) {
  cni_joint_tilt(sight, &place->locked[place->locked_count]);
  place->locked_count += 2;
}

// The row's own change, and that of W = R_a^T (w_b - w_a), which is W_b x W_a.
double cni_joint_tilt_curvature(const CniJointSight *sight, int32_t row, const CnTwist *a,
                                const CnTwist *b) {
  Tilt tilt = tilt_of(sight);
  CnVec3 wa = cn_unrotate(sight->at_a.rotation, a->spin);
  CnVec3 wb = cn_unrotate(sight->at_a.rotation, b->spin), w = cn_sub(wb, wa);
  CnVec3 rows[2] = {tilt_row(&tilt, 0), tilt_row(&tilt, 1)};
  CnVec3 s = tilt.s, ds = cn_vec3(cn_dot(rows[1], w), -cn_dot(rows[0], w), 0);
  double si = row ? s.y : s.x, dsi = row ? ds.y : ds.x;
  double dk = tilt.k_slope * 2 * cn_dot(s, ds);
  CnVec3 change = cn_scale(dk * si + tilt.k * dsi, s);
  change = cn_madd(cn_madd(change, tilt.k * si, ds), -dsi, cn_vec3(0, 0, 1));
  return cn_dot(change, w) + cn_dot(rows[row], cn_cross(wb, wa));
}

CniJointRow cni_joint_swing(const CniJointSight *sight) {
  Tilt tilt = tilt_of(sight);
  CnVec3 n = cn_vec3(-tilt.s.y, tilt.s.x, 0); // of length t
  return turn_row(sight, tilt.t > 0 ? cn_scale(1 / tilt.t, n) : cn_vec3(1, 0, 0), tilt.t);
}

// ---- angles about an axis ----

double cni_joint_nearest(double angle, double near) {
  if (fabs(near - angle) < CLEARLY_NEAR) return angle; // what follows would find no turn
  double turns = floor((near - angle) / (2 * CNI_PI) + 0.5);
  return turns == 0 ? angle : angle + turns * (2 * CNI_PI);
}

CniJointRow cni_joint_twist(const CniJointSight *sight) {
  CnQuat q = sight->turn;
  double sign = q.w < 0 ? -1 : 1, size = cn_max(q.w * q.w + q.z * q.z, 1e-24);
  CnVec3 row = {(q.w * q.y + q.z * q.x) / size, (q.z * q.y - q.w * q.x) / size, 1};
  CniJointRow twist = turn_row(sight, row, 2 * cni_atan2(sign * q.z, sign * q.w));
  twist.wraps = 1;
  return twist;
}

// u = sin t (cos p start + sin p across) + cos t axis:  p' = W . (axis - cot t (the part of u across
// the axis, of length one)).
CniJointRow cni_joint_azimuth(CnVec3 axis, CnVec3 start, CnVec3 u) {
  double along = cn_dot(u, axis);
  CnVec3 across = cn_madd(u, -along, axis);
  double size = cn_max(cn_norm2(across), 1e-24);
  return (CniJointRow){.angular = cn_madd(axis, -along / size, across),
                       .value = cni_atan2(cn_dot(u, cn_cross(axis, start)), cn_dot(u, start)),
                       .turns = 1,
                       .wraps = 1};
}
