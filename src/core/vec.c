// SPDX-License-Identifier: Apache-2.0
// The parts of vec.h that are too long to be inline: principal axes of a symmetric matrix,
// quaternion of a rotation matrix, exponential map.

#include "core/memory.h"
#include "core/vec.h"
#include "core/math.h"

// ---- principal axes ----

#define SWEEP_LIMIT 40 // five or six are enough; the bound only stops a matrix that is not finite

// One Jacobi rotation: makes a[p][q] zero by turning axes p and q, and turns the columns of v
// along. With t = tan(angle) the smaller root of t^2 + 2 theta t - 1 = 0 the angle is at most 45
// degrees, which is what makes the sweeps converge.
static void jacobi_rotate(double a[3][3], double v[3][3], int p, int q) {
  double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  double t = 1 / (fabs(theta) + sqrt(theta * theta + 1));
  if (theta < 0) t = -t;
  double c = 1 / sqrt(t * t + 1);
  double s = t * c;

  int r = 3 - p - q;
  double a_rp = a[r][p], a_rq = a[r][q], shift = t * a[p][q];
  a[p][p] -= shift;
  a[q][q] += shift;
  a[p][q] = a[q][p] = 0;
  a[r][p] = a[p][r] = c * a_rp - s * a_rq;
  a[r][q] = a[q][r] = s * a_rp + c * a_rq;
  for (int i = 0; i < 3; ++i) {
    double v_ip = v[i][p], v_iq = v[i][q];
    v[i][p] = c * v_ip - s * v_iq;
    v[i][q] = s * v_ip + c * v_iq;
  }
}

// True if the entry is too small to change either diagonal element beside it.
static int negligible(double a[3][3], int p, int q) {
  double size = fabs(a[p][q]);
  return fabs(a[p][p]) + size == fabs(a[p][p]) && fabs(a[q][q]) + size == fabs(a[q][q]);
}

void cni_seigen(CnSym3 m, CnVec3 *values, CnMat3 *vectors) {
  double a[3][3] = {{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

  for (int sweep = 0; sweep < SWEEP_LIMIT; ++sweep) {
    int turned = 0;
    for (int k = 0; k < 3; ++k) {
      int p = pairs[k][0], q = pairs[k][1];
      if (negligible(a, p, q)) continue;
      jacobi_rotate(a, v, p, q);
      turned = 1;
    }
    if (!turned) break;
  }

  const double diagonal[3] = {a[0][0], a[1][1], a[2][2]};
  const double columns[3][3] = {
      {v[0][0], v[1][0], v[2][0]}, {v[0][1], v[1][1], v[2][1]}, {v[0][2], v[1][2], v[2][2]}};
  cni_principal_axes(diagonal, columns, values, vectors);
}

void cni_principal_axes(const double value[3], const double column[3][3], CnVec3 *values,
                        CnMat3 *vectors) {
  // ascending; equal values keep the order of their axes
  int order[3] = {0, 1, 2};
  for (int i = 1; i < 3; ++i) {
    for (int j = i; j > 0 && value[order[j]] < value[order[j - 1]]; --j)
      CNI_SWAP(int, order[j], order[j - 1]);
  }
  int i0 = order[0], i1 = order[1];
  *values = cn_vec3(value[i0], value[i1], value[order[2]]);

  // the third axis from the first two: right-handed whatever the order was
  CnVec3 x = cn_vec3(column[i0][0], column[i0][1], column[i0][2]);
  CnVec3 y = cn_vec3(column[i1][0], column[i1][1], column[i1][2]);
  vectors->x = cn_unit_or(x, cn_vec3(1, 0, 0));
  vectors->y = cn_unit_or(y, cn_vec3(0, 1, 0));
  vectors->z = cn_cross(vectors->x, vectors->y);
}

// ---- rotations ----

// The largest of the four squares 4w^2, 4x^2, 4y^2, 4z^2 is at least 1: dividing by its root is
// safe for every rotation, half turns included. Of q and -q the one with w >= 0 is returned.
CnQuat cni_quat_from_mat(CnMat3 m) {
  double ww = 1 + m.x.x + m.y.y + m.z.z, xx = 1 + m.x.x - m.y.y - m.z.z;
  double yy = 1 - m.x.x + m.y.y - m.z.z, zz = 1 - m.x.x - m.y.y + m.z.z;
  double wx = m.y.z - m.z.y, wy = m.z.x - m.x.z, wz = m.x.y - m.y.x;
  double xy = m.y.x + m.x.y, xz = m.z.x + m.x.z, yz = m.z.y + m.y.z;

  CnQuat q;
  if (ww >= xx && ww >= yy && ww >= zz) {
    q = (CnQuat){ww, wx, wy, wz};
  } else if (xx >= yy && xx >= zz) {
    q = (CnQuat){wx, xx, xy, xz};
  } else if (yy >= zz) {
    q = (CnQuat){wy, xy, yy, yz};
  } else {
    q = (CnQuat){wz, xz, yz, zz};
  }
  if (q.w < 0) q = (CnQuat){-q.w, -q.x, -q.y, -q.z};
  return cn_qunit(q);
}

// exp(a) = (cos |a|/2, sin(|a|/2) a/|a|).
CnQuat cni_quat_exp(CnVec3 a) {
  double angle2 = cn_norm2(a);
  double c, s; // s = sin(angle/2) / angle
  if (angle2 < 1e-6) {
    // Taylor; the first terms left out are below 1e-22
    c = 1 - angle2 * (1.0 / 8 - angle2 * (1.0 / 384));
    s = 0.5 - angle2 * (1.0 / 48 - angle2 * (1.0 / 3840));
  } else {
    double angle = sqrt(angle2);
    c = cni_cos(angle / 2);
    s = cni_sin(angle / 2) / angle;
  }
  return cn_qunit((CnQuat){c, s * a.x, s * a.y, s * a.z});
}
