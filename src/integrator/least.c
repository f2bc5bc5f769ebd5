// SPDX-License-Identifier: Apache-2.0
// What is told where bilateral rows depend on each other (motion.h). The motion is made with rows B that do not;
// forces L of these are one share of many. Of the rows D that were left out G_D = C G_B, C = S_DB S_BB^-1, so that
// n = (C^T z, -z) adds nothing to G^T L, and the one of least norm is
//
//     L + (C^T z, -z),   (W_D + C W_B C^T) z = -C W_B L_B
//
// with W the squares of forces over the masses that they move, of torques over the inertias: what bearings of equal
// stiffness would carry, as the solver for joints has it (sparse/direct.h).
//
// What goes with a reaction, the friction of a bearing, goes with this one: the motion does not depend on which rows
// were left out, or on the order of joints.
#include "integrator/least.h"

#include "core/error.h"
#include "core/vec.h"

#include <string.h>

#define BODY 6     // velocities of a body: three of its centre, three of its spin
#define PIVOT 1e-9 // of the diagonal

void cni_least_init(CniLeast *l, const CnAllocator *allocator) {
  *l = (CniLeast){.pool = {.allocator = *allocator}};
  cni_motion_init(&l->motion, allocator);
}

void cni_least_release(CniLeast *l) {
  CnAllocator a = l->pool.allocator;
  cni_motion_release(&l->motion);
  cni_pool_release(&l->pool);
  cni_release(&a, l->rows, (size_t)l->capacity * sizeof *l->rows);
}

CnStatus cni_least_begin(CniLeast *l, const CnSystem *system) {
  l->most = l->left = l->known = 0;
  CNI_TRY(cni_motion_begin(&l->motion, system));
  return CNI_RESERVE(&l->pool.allocator, l->rows, l->capacity, 0,
                     system->equations->bilateral_count + 1);
}

// Of a row: what it does to the centres of its bodies, or else to their spins.
static double weight_of(const CniMotion *m, int32_t row) {
  double move = 0, all = 0;
  int32_t size = m->size;
  for (int32_t k = m->touch_start[row] * size; k < m->touch_start[row + 1] * size; k++) {
    double by = m->scratch_g[k] * m->x[k];
    all += by;
    if (size == BODY && k % BODY < 3) move += by;
  }
  return move > 0 ? move : all;
}

// A row of C: S_BB^-1 times what the rows B see of row i.
static void find_row(CniLeast *l, int32_t i, double *c) {
  CniMotion *m = &l->motion;
  int32_t size = m->size;
  double *w = m->scratch_v;
  memset(w, 0, (size_t)m->v_count * sizeof *w);
  for (int32_t e = m->touch_start[i]; e < m->touch_start[i + 1]; e++)
    memcpy(w + (int64_t)m->touch[e] * size, m->x + (int64_t)e * size, (size_t)size * sizeof *w);
  for (int32_t k = 0; k < l->kept; k++)
    c[k] = m->row_scale[k] * cni_motion_row(m, m->scratch_g, k, 0, w);
  cni_schur_solve(m, c);
}

// A = L L^T in place, symmetric and positive.
static void factor(double *a, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double *row = a + (int64_t)i * n, own = row[i];
    for (int32_t j = 0; j <= i; j++) {
      const double *other = a + (int64_t)j * n;
      double sum = row[j];
      for (int32_t k = 0; k < j; k++) sum -= row[k] * other[k];
      row[j] = j < i ? sum / other[j] : sqrt(cn_max(sum, PIVOT * own));
    }
    if (!(row[i] > 0)) row[i] = 1; // a row that moves nothing
  }
}

// z <- A^-1 z
static void solve(const double *a, double *z, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    const double *row = a + (int64_t)i * n;
    for (int32_t k = 0; k < i; k++) z[i] -= row[k] * z[k];
    z[i] /= row[i];
  }
  for (int32_t i = n; i-- > 0;) {
    for (int32_t k = i + 1; k < n; k++) z[i] -= a[(int64_t)k * n + i] * z[k];
    z[i] /= a[(int64_t)i * n + i];
  }
}

// W_D + C W_B C^T
static void find_matrix(CniLeast *l) {
  for (int32_t i = 0; i < l->left; i++) {
    const double *ci = l->c + (int64_t)i * l->kept;
    for (int32_t j = 0; j <= i; j++) {
      const double *cj = l->c + (int64_t)j * l->kept;
      double sum = i == j ? l->weight[l->kept + i] : 0;
      for (int32_t k = 0; k < l->kept; k++) sum += ci[k] * l->weight[k] * cj[k];
      l->matrix[(int64_t)i * l->left + j] = sum;
    }
  }
  factor(l->matrix, l->left);
}

// Rows of `of` first, then the others: the motion's own, unless they are those of before.
static CnStatus take_rows(CniLeast *l, const CniMotion *of, int32_t count) {
  CniMotion *m = &l->motion;
  int32_t bilateral = m->eq->bilateral_count, n = count;
  if (l->known && count == l->kept &&
      memcmp(of->list, l->rows, (size_t)count * sizeof *l->rows) == 0)
    return CN_OK;
  for (int32_t i = 0, k = 0; i < bilateral; i++) {
    if (k < count && of->list[k] == i)
      l->rows[k++] = i;
    else
      l->rows[n++] = i;
  }
  l->kept = count;
  l->known = 1;
  CNI_TRY(cni_motion_set_rows(m, l->rows, NULL, bilateral));
  int64_t left = l->left;
  return CNI_CUT(&l->pool, CNI_ARRAY(bilateral, l->weight), CNI_ARRAY(left * count, l->c),
                 CNI_ARRAY(left * left, l->matrix), CNI_ARRAY(left, l->z));
}

CnStatus cni_least_at(CniLeast *l, const CniMotion *of, double t, const double *q) {
  CniMotion *m = &l->motion;
  int32_t bilateral = of->eq->bilateral_count, count = 0;
  while (count < of->active && of->list[count] < bilateral) count++;
  l->left = bilateral - count;
  if (l->most < count) l->most = count;
  // where a place is singular rows that are left out do not quite depend on the others
  if (count == 0 || count < l->most) l->left = 0;
  if (l->left == 0) return CN_OK;
  CNI_TRY(take_rows(l, of, count));
  CNI_TRY(cni_motion_mass(m, t, q));
  CNI_TRY(cni_motion_jacobian(m, t, q, m->scratch_g, m->scratch_rate));
  m->active = bilateral;
  cni_motion_directions(m, m->scratch_g);
  m->active = count;
  CNI_TRY(cni_schur_factor(m, t, m->scratch_g));
  for (int32_t i = 0; i < bilateral; i++) l->weight[i] = weight_of(m, i);
  for (int32_t i = 0; i < l->left; i++) find_row(l, count + i, l->c + (int64_t)i * count);
  find_matrix(l);
  return CN_OK;
}

void cni_least_share(CniLeast *l, double *all) {
  const int32_t *rows = l->rows;
  for (int32_t i = 0; i < l->left; i++) {
    const double *ci = l->c + (int64_t)i * l->kept;
    l->z[i] = 0;
    for (int32_t k = 0; k < l->kept; k++) l->z[i] -= ci[k] * l->weight[k] * all[rows[k]];
  }
  solve(l->matrix, l->z, l->left);
  for (int32_t i = 0; i < l->left; i++) {
    const double *ci = l->c + (int64_t)i * l->kept;
    for (int32_t k = 0; k < l->kept; k++) all[rows[k]] += ci[k] * l->z[i];
    all[rows[l->kept + i]] = -l->z[i];
  }
}
