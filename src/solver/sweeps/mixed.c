// SPDX-License-Identifier: Apache-2.0
// Anderson's mixing of sweeps.
//
// A sweep maps impulses g to G(g); a solution is where the change f = G(g) - g is zero. While the
// contacts keep their states (open, stuck, sliding) G is nearly linear, and the last few sweeps
// tell how f depends on g: with the differences dg_j and df_j between m + 1 points, the gamma of
// the least |f - sum gamma_j df_j| give the next point
//
//     g + f - sum gamma_j (dg_j + df_j)
//
// which is what GMRES would find after m products. Rows are weighted by their diagonal, so that an
// impulse on a light body counts as much as one on a heavy body. Where contacts change their states
// the differences mislead: when a change has grown they are forgotten.
//
// On stored problems this takes a sixth to a fortieth of the sweeps of psor. Cost: a sweep, 2 m
// products and 2 m sums of vectors an iteration.
//
// References: Anderson 1965; Walker and Ni 2011.
#include "solver/sweeps/mixed.h"

#include <string.h>

#define GROWN 2           // times the least change: forget
#define RIDGE 1e-14       // of the trace, keeps the normal equations regular
#define CHECK_INTERVAL 16 // sweeps between checks of the error, at most
#define HARD_MOST 100     // blocks that took long: sweeps over them are given up

CnStatus cni_mixed_init(CniMixed *m, CniArena *arena, CniPsor *sweeps, const CnProblem *p,
                        const CnAnswer *answer, CniStepMemory *memory) {
  size_t n = (size_t)p->row_count;
  double **arrays[] = {&m->point, &m->change, &m->weight, &m->best, &m->u};
  size_t own = sizeof arrays / sizeof arrays[0], count = own + 2 * (size_t)CNI_MIXED_MEMORY;
  double *room = cni_arena_take(arena, (count * n + 1) * sizeof *room);
  if (!room) return cni_error_memory((count * n + 1) * sizeof *room);
  *m = (CniMixed){.sweeps = sweeps, .n = p->row_count};
  sweeps->hard_count = 0;
  for (size_t i = 0; i < own; i++, room += n) *arrays[i] = room;
  m->images = room;
  m->changes = room + (size_t)CNI_MIXED_MEMORY * n;
  CNI_TRY(cni_psor_prepare(sweeps, p, answer, memory));
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    double trace = cni_storages[block->storage].trace(p, block);
    for (int32_t d = 0; d < block->dim; d++)
      m->weight[block->row + d] = trace > 0 ? sqrt(trace / block->dim) : 1;
  }
  memcpy(m->best, sweeps->g, n * sizeof *m->best);
  m->error = cni_problem_error(p, m->best, m->u);
  return CN_OK;
}

void cni_mixed_restart(CniMixed *m, const double *g) {
  memcpy(m->sweeps->g, g, (size_t)m->n * sizeof *g);
  m->count = m->since = 0;
}

static double product(int32_t n, const double *x, const double *y) {
  double sum[4] = {0, 0, 0, 0};
  int32_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int32_t k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
  for (; i < n; i++) sum[0] += x[i] * y[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double *slot(const CniMixed *m, double *list, int32_t i) {
  return list + (size_t)i * (size_t)m->n;
}

static int32_t stored(const CniMixed *m) {
  return m->count < CNI_MIXED_MEMORY ? m->count : CNI_MIXED_MEMORY;
}

// The sweep from m->sweeps->g, with the differences to the sweep before. Returns |f|^2.
static double sweep(CniMixed *m) {
  CniPsor *s = m->sweeps;
  int32_t at = m->count % CNI_MIXED_MEMORY;
  double *image = slot(m, m->images, at), *change = slot(m, m->changes, at);
  // the point before: what the image of the new difference begins with
  if (m->since > 0)
    for (int32_t i = 0; i < m->n; i++) image[i] = m->point[i] + m->change[i] / m->weight[i];
  memcpy(m->point, s->g, (size_t)m->n * sizeof *s->g);
  cni_psor_explicit(s, 0, s->rows_count, 1);
  for (int32_t i = 0; i < m->n; i++) {
    double f = m->weight[i] * (s->g[i] - m->point[i]);
    if (m->since > 0) {
      image[i] = s->g[i] - image[i];
      change[i] = f - m->change[i];
    }
    m->change[i] = f;
  }
  if (m->since++ > 0) {
    m->count++;
    for (int32_t j = 0; j < stored(m); j++)
      m->gram[at][j] = m->gram[j][at] = product(m->n, change, slot(m, m->changes, j));
  }
  return product(m->n, m->change, m->change);
}

// gamma by Cholesky of the normal equations; 0: none.
static int weights(const CniMixed *m, double *gamma) {
  double a[CNI_MIXED_MEMORY][CNI_MIXED_MEMORY], trace = 0;
  int32_t count = stored(m);
  for (int32_t i = 0; i < count; i++) trace += m->gram[i][i];
  for (int32_t i = 0; i < count; i++) {
    gamma[i] = product(m->n, slot(m, m->changes, i), m->change);
    for (int32_t j = 0; j <= i; j++) {
      double x = m->gram[i][j] + (i == j ? RIDGE * trace : 0);
      for (int32_t k = 0; k < j; k++) x -= a[i][k] * a[j][k];
      if (i == j && !(x > 0)) return 0;
      a[i][j] = i == j ? sqrt(x) : x / a[j][j];
    }
  }
  for (int32_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < i; k++) gamma[i] -= a[i][k] * gamma[k];
    gamma[i] /= a[i][i];
  }
  for (int32_t i = count - 1; i >= 0; i--) {
    for (int32_t k = i + 1; k < count; k++) gamma[i] -= a[k][i] * gamma[k];
    gamma[i] /= a[i][i];
  }
  return 1;
}

static void mix(CniMixed *m) {
  double *g = m->sweeps->g, gamma[CNI_MIXED_MEMORY];
  if (!weights(m, gamma)) {
    m->count = m->since = 0;
    return;
  }
  for (int32_t j = 0; j < stored(m); j++) {
    const double *image = slot(m, m->images, j);
    for (int32_t i = 0; i < m->n; i++) g[i] -= gamma[j] * image[i];
  }
}

static void check_convergence(CniMixed *m, double tolerance) {
  double error = cni_problem_error(m->sweeps->p, m->sweeps->g, m->u);
  // the error falls about as the change does
  m->check_below = m->sweeps->change * cn_clamp(2 * tolerance / error, .05, .7);
  if (!(error < m->error)) return;
  m->error = error;
  memcpy(m->best, m->sweeps->g, (size_t)m->n * sizeof *m->best);
}

int32_t cni_mixed_run(CniMixed *m, int32_t most, double tolerance) {
  int32_t made = 0;
  while (made < most && !(m->error <= tolerance) && m->sweeps->hard_count < HARD_MOST) {
    double size = sweep(m);
    made++;
    m->sweep_count++;
    if (m->sweep_count % CHECK_INTERVAL == 0 || m->sweep_count < 3 ||
        m->sweeps->change < m->check_below)
      check_convergence(m, tolerance);
    if (m->since == 1 || size < m->least) m->least = size;
    if (!m->plain && size <= GROWN * GROWN * m->least)
      mix(m);
    else
      m->count = m->since = 0;
  }
  return made;
}
