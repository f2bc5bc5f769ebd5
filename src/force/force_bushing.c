// SPDX-License-Identifier: Apache-2.0
// Bushing: springs and dampers along and about the three axes of frame a, free where the two frames
// coincide. What a rubber mount is; stiffnesses of any size, also none.
//
//     on b, in the axes of a:  (force, torque) = -(K x + C x'),  x = (d, phi)
//
// with d from a's origin to b's and phi the rotation vector from a to b. The line of action goes
// through b's origin. K and C are diagonal, or full symmetric matrices without negative
// eigenvalues. Two such matrices have a common basis: with K + t C = B B^T the matrix B^-1 K B^-T has
// eigenvectors Q, and in the rows of (B Q)^T both are diagonal.
#include "core/error.h"
#include "force/force.h"
#include "sparse/sparse.h"

#define SIX 6
#define TINY 1e-12 // of a diagonal: pivots below are zero

typedef double Matrix[SIX][SIX];

static void fill(Matrix m, CnVec3 linear, CnVec3 linear_beside, CnVec3 angular,
                 CnVec3 angular_beside, const CnVec3 mixed[3]) {
  const double diagonal[SIX] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
  const double beside[SIX] = {linear_beside.x,  linear_beside.y,  linear_beside.z,
                              angular_beside.x, angular_beside.y, angular_beside.z};
  static const int32_t at[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  for (int32_t i = 0; i < SIX; i++) m[i][i] = diagonal[i];
  for (int32_t half = 0; half < SIX; half += 3)
    for (int32_t k = 0; k < 3; k++) {
      int32_t i = half + at[k][0], j = half + at[k][1];
      m[i][j] = m[j][i] = beside[half + k];
    }
  for (int32_t i = 0; i < 3; i++)
    for (int32_t j = 0; j < 3; j++) m[i][3 + j] = m[3 + j][i] = (&mixed[i].x)[j];
}

static void fill_both(const CnForceDef *def, Matrix k, Matrix c) {
  const CnVec3 stiff[3] = {def->mixed_x, def->mixed_y, def->mixed_z};
  const CnVec3 damp[3] = {def->mixed_damping_x, def->mixed_damping_y, def->mixed_damping_z};
  fill(k, def->linear_stiffness, def->linear_coupling, def->angular_stiffness,
       def->angular_coupling, stiff);
  fill(c, def->linear_damping, def->linear_damping_coupling, def->angular_damping,
       def->angular_damping_coupling, damp);
}

static int is_diagonal(Matrix m) {
  for (int32_t i = 0; i < SIX; i++)
    for (int32_t j = 0; j < i; j++)
      if (m[i][j] != 0) return 0;
  return 1;
}

// m = sum of b_j b_j^T, j < rank, by L D L^T; b_j begins at pivot[j]. Returns the rank, -1: there is a
// negative eigenvalue.
static int32_t columns(Matrix m, Matrix b, int32_t pivot[SIX]) {
  double scale[SIX];
  int32_t rank = 0;
  for (int32_t i = 0; i < SIX; i++) scale[i] = fabs(m[i][i]);
  for (int32_t j = 0; j < SIX; j++) {
    if (!(m[j][j] > TINY * scale[j])) {
      for (int32_t i = j; i < SIX; i++)
        if (m[i][j] * m[i][j] > TINY * scale[i] * scale[j] + 1e-300) return -1;
      if (m[j][j] < -TINY * scale[j]) return -1;
      continue;
    }
    double root = sqrt(m[j][j]);
    for (int32_t i = 0; i < SIX; i++) b[rank][i] = i < j ? 0 : m[i][j] / root;
    for (int32_t i = j; i < SIX; i++)
      for (int32_t k = j; k < SIX; k++) m[i][k] -= b[rank][i] * b[rank][k];
    pivot[rank++] = j;
  }
  return rank;
}

// The coefficients of a vector in the columns b; it becomes what is left.
static void split(Matrix b, const int32_t pivot[SIX], int32_t rank, double *v, double *to) {
  for (int32_t j = 0; j < rank; j++) {
    to[j] = v[pivot[j]] / b[j][pivot[j]];
    for (int32_t i = 0; i < SIX; i++) v[i] -= to[j] * b[j][i];
  }
}

// m seen in the columns b, on both sides.
static void see(Matrix m, Matrix b, const int32_t pivot[SIX], int32_t rank, double *to) {
  Matrix half;
  double v[SIX], x[SIX];
  for (int32_t i = 0; i < SIX; i++) {
    for (int32_t k = 0; k < SIX; k++) v[k] = m[i][k];
    split(b, pivot, rank, v, half[i]);
  }
  for (int32_t k = 0; k < rank; k++) {
    for (int32_t i = 0; i < SIX; i++) v[i] = half[i][k];
    split(b, pivot, rank, v, x);
    for (int32_t i = 0; i < rank; i++) to[i * rank + k] = x[i];
  }
}

// Rows w_j with k_j and c_j: K = sum of k_j w_j w_j^T, C likewise. Returns their number; -1: a negative
// eigenvalue.
static int32_t common_rows(Matrix k, Matrix c, Matrix w, double stiff[SIX], double damp[SIX]) {
  Matrix sum, b;
  int32_t pivot[SIX];
  double seen_k[SIX * SIX], seen_c[SIX * SIX], values[SIX], q[SIX * SIX], most_k = 0, most_c = 0;
  for (int32_t i = 0; i < SIX; i++) {
    most_k = cn_max(most_k, fabs(k[i][i]));
    most_c = cn_max(most_c, fabs(c[i][i]));
  }
  double t = most_k > 0 && most_c > 0 ? most_k / most_c : 1;
  for (int32_t i = 0; i < SIX; i++)
    for (int32_t j = 0; j < SIX; j++) sum[i][j] = k[i][j] + t * c[i][j];
  int32_t rank = columns(sum, b, pivot), worst = 0;
  if (rank <= 0) return rank;
  see(k, b, pivot, rank, seen_k);
  see(c, b, pivot, rank, seen_c);
  cni_eigen_symmetric(rank, seen_k, values, q);
  for (int32_t j = 0; j < rank; j++) {
    const double *own = q + j * rank;
    stiff[j] = values[j];
    damp[j] = 0;
    for (int32_t i = 0; i < rank; i++)
      for (int32_t l = 0; l < rank; l++) damp[j] += own[i] * own[l] * seen_c[i * rank + l];
    worst |= stiff[j] < -1e-9 || damp[j] < -1e-9 / t;
    for (int32_t i = 0; i < SIX; i++) {
      w[j][i] = 0;
      for (int32_t l = 0; l < rank; l++) w[j][i] += own[l] * b[l][i];
    }
  }
  return worst ? -1 : rank;
}

static void place(const CniForceSight *sight, CniForcePlace *p) {
  Matrix k, c, w;
  double stiff[SIX], damp[SIX];
  CniJointSlide slide = cni_joint_slide(&sight->at, &p->rows);
  if (sight->ends[0].ground) p->rows.arm_a = CN_VEC3_ZERO;
  const CnVec3 axes[3] = {slide.axes.x, slide.axes.y, slide.axes.z};
  CniJointRow rows[SIX];
  for (int32_t i = 0; i < 3; i++)
    rows[i] = (CniJointRow){.linear = axes[i], .value = cn_dot(axes[i], slide.d)};
  cni_joint_turn(&sight->at, rows + 3);
  fill_both(sight->def, k, c);
  if (is_diagonal(k) && is_diagonal(c)) {
    for (int32_t i = 0; i < SIX; i++) cni_force_row(p, rows[i], k[i][i], c[i][i]);
    return;
  }
  int32_t count = common_rows(k, c, w, stiff, damp);
  for (int32_t j = 0; j < count; j++) {
    CniJointRow row = {.value = 0};
    for (int32_t i = 0; i < SIX; i++) {
      row.linear = cn_madd(row.linear, w[j][i], rows[i].linear);
      row.angular = cn_madd(row.angular, w[j][i], rows[i].angular);
      row.value += w[j][i] * rows[i].value;
    }
    // in metres, or in radians where nothing slides
    double along = cn_norm(row.linear), size = along > 0 ? along : cn_norm(row.angular);
    row.turns = !(along > 0);
    row.linear = cn_scale(1 / size, row.linear);
    row.angular = cn_scale(1 / size, row.angular);
    row.value /= size;
    cni_force_row(p, row, cn_max(stiff[j], 0) * size * size, cn_max(damp[j], 0) * size * size);
  }
}

static CnStatus fit(const CniForceSight *sight, CnForceDef *def) {
  Matrix k, c, w;
  double stiff[SIX], damp[SIX];
  (void)sight;
  fill_both(def, k, c);
  if ((is_diagonal(k) && is_diagonal(c)) || common_rows(k, c, w, stiff, damp) >= 0) return CN_OK;
  return cni_invalid(
      "force: a matrix of the bushing has a negative eigenvalue: it would be a source "
      "of energy, or fall over");
}

#define DIAGONAL(field, unit, text) CNI_FORCE_FIELD(VEC3, field, NOT_NEGATIVE, unit, text)
#define BESIDE(field, unit, text) CNI_FORCE_FIELD(VEC3, field, ANY, unit, text)

static const CniField fields[] = {
    DIAGONAL(linear_stiffness, "N/m", "along the axes of frame a"),
    DIAGONAL(linear_damping, "N s/m", "along the axes of frame a"),
    DIAGONAL(angular_stiffness, "N m/rad", "about the axes of frame a"),
    DIAGONAL(angular_damping, "N m s/rad", "about the axes of frame a"),
    BESIDE(linear_coupling, "N/m", "between the axes: xy, xz, yz"),
    BESIDE(angular_coupling, "N m/rad", "between turns: xy, xz, yz"),
    BESIDE(mixed_x, "N/rad", "force along x by turns about x, y, z"),
    BESIDE(mixed_y, "N/rad", "force along y by turns about x, y, z"),
    BESIDE(mixed_z, "N/rad", "force along z by turns about x, y, z"),
    BESIDE(linear_damping_coupling, "N s/m", "between the axes: xy, xz, yz"),
    BESIDE(angular_damping_coupling, "N m s/rad", "between turns: xy, xz, yz"),
    BESIDE(mixed_damping_x, "N s/rad", "force along x by spins about x, y, z"),
    BESIDE(mixed_damping_y, "N s/rad", "force along y by spins about x, y, z"),
    BESIDE(mixed_damping_z, "N s/rad", "force along z by spins about x, y, z"),
    CNI_FIELDS_END};

const CniForceKind cni_force_bushing = {.name = "bushing",
                                        .summary = "springs and dampers along and about three axes",
                                        .row_count = SIX,
                                        .fields = fields,
                                        .fit = fit,
                                        .place = place};
