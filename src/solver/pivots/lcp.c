// SPDX-License-Identifier: Apache-2.0
// One attempt at a linear complementarity problem: pivoting, then the answer measured on the
// problem's own numbers and, where it is not good enough, improved by solving the linear system of
// the active rows that pivoting has found.
#include "solver/pivots/lcp.h"
#include "solver/solver.h"

#include "core/clock.h"
#include "core/rng.h"
#include "core/vec.h"

#include <string.h>

#define PROOF 1e-9 // part of the largest term that is round-off in a proof

void cni_lcp_work_init(CniLcpWork *k, const CnAllocator *allocator) {
  memset(k, 0, sizeof *k);
  k->allocator = k->reduced.allocator = k->active.allocator = *allocator;
  k->branch.allocator = k->newton.allocator = *allocator;
  k->reduced.t.kernels = k->active.kernels = k->newton.kernels = cni_dense_kernels();
}

CnStatus cni_lcp_work_reserve(CniLcpWork *k, const CnProblem *p) {
  size_t n = ((size_t)p->row_count + 7) / 8 * 8;
  size_t bytes = n * (6 * sizeof(double) + 1);
  CNI_TRY(cni_block_memory_reserve(&k->allocator, &k->vectors, bytes));
  if (n == 0) return CN_OK; // no rows, no vectors
  k->g = k->vectors.data;
  k->u = k->g + n;
  k->trial = k->u + n;
  k->best_g = k->trial + n;
  k->best_u = k->best_g + n;
  k->spare = k->best_u + n;
  k->flags = (uint8_t *)(k->spare + n);
  return CN_OK;
}

void cni_lcp_work_release(CniLcpWork *k) {
  CniBlockMemory *all[] = {&k->reduced.numbers, &k->reduced.indices, &k->active.numbers,
                           &k->active.indices,  &k->newton.numbers,  &k->newton.indices,
                           &k->branch.memory,   &k->vectors};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    cni_release(&k->allocator, all[i]->data, all[i]->bytes);
}

// Rows whose impulse is basic in the tableau, and the equality rows.
static void mark_active(const CniReduced *r, uint8_t *flags) {
  for (int32_t k = 0; k < r->complementary; k++) flags[r->row_of[k]] = r->t.place[2 * k + 1] >= 0;
  for (int32_t k = 0; k < r->equalities; k++) flags[r->equality[k]] = 1;
}

// Solve for the active rows; kept if it is better.
static CnStatus improve(CniLcpWork *k, const CnProblem *p, CniAttempt *attempt) {
  CNI_TRY(cni_active_reserve(&k->active, p));
  if (!cni_active_solve(&k->active, p, k->flags, k->trial)) return CN_OK;
  double error = cni_problem_error(p, k->trial, k->active.u);
  if (!(error < attempt->error)) return CN_OK;
  attempt->error = error;
  memcpy(k->g, k->trial, (size_t)p->row_count * sizeof *k->g);
  memcpy(k->u, k->active.u, (size_t)p->row_count * sizeof *k->u);
  return CN_OK;
}

// A ray y >= 0 with W^T y <= 0 and q.y < 0 proves that u = W g + q >= 0 has no g >= 0: y.u would be
// negative. For semidefinite and copositive-plus matrices every ray of Lemke's path is one. Not
// tried where equality rows were eliminated.
static int ray_proves(CniLcpWork *k, const CnProblem *p) {
  const CniReduced *r = &k->reduced;
  const CnSparse *w = &p->w;
  double *y = k->trial, *column = k->spare, largest = 0, product = 0, size = 0;
  if (r->equalities > 0) return 0;
  for (int32_t i = 0; i < p->row_count; i++) {
    y[i] = r->row_scale[i] * r->cover[i];
    column[i] = 0;
    if (y[i] < 0) y[i] = 0;
    product += p->b[i] * y[i];
    size += fabs(p->b[i] * y[i]);
  }
  for (int32_t i = 0; i < p->row_count; i++)
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++) {
      column[w->column[e]] += w->value[e] * y[i];
      largest = cn_max(largest, fabs(w->value[e] * y[i]));
    }
  if (!(product < -PROOF * size)) return 0;
  for (int32_t i = 0; i < p->row_count; i++)
    if (!(column[i] <= PROOF * largest)) return 0;
  return 1;
}

void cni_lcp_work_begin(CniLcpWork *k, double time_budget) {
  k->deadline = time_budget > 0 ? cni_seconds() + time_budget : 0;
  k->cut = 0;
}

int cni_lcp_work_late(CniLcpWork *k) {
  if (k->deadline > 0 && cni_seconds() > k->deadline) k->cut = 1;
  return k->cut;
}

CnStatus cni_lcp_lemke(CniLcpWork *k, const CnProblem *p, int32_t cover, int32_t max_pivots,
                       double tolerance, CniAttempt *attempt) {
  CniReduced *r = &k->reduced;
  CNI_TRY(cni_reduced_reserve(r, p));
  cni_reduced_load(r, p);
  CniRng rng = {(uint64_t)cover};
  for (int32_t i = 0; cover > 0 && i < r->t.rows; i++) r->cover[i] = cni_rng_range(&rng, 1, 2);
  attempt->pivots = 0;
  attempt->end = cni_lemke_path(&r->t, cover > 0 ? r->cover : NULL, r->delayed, max_pivots,
                                &attempt->pivots, r->cover);
  attempt->hopeless = attempt->end == CNI_PATH_RAY && ray_proves(k, p);
  cni_reduced_answer(r, k->g);
  attempt->error = cni_problem_error(p, k->g, k->u);
  if (attempt->error <= tolerance || attempt->end != CNI_PATH_SOLVED) return CN_OK;
  mark_active(r, k->flags);
  return improve(k, p, attempt);
}

CnStatus cni_lcp_active(CniLcpWork *k, const CnProblem *p, const double *start, int32_t max_steps,
                        double tolerance, CniAttempt *attempt) {
  CNI_TRY(cni_active_reserve(&k->active, p));
  attempt->pivots = 0;
  attempt->hopeless = 0;
  attempt->error = INFINITY;
  attempt->end = CNI_PATH_LIMIT;
  int found = cni_active_search(&k->active, p, start, max_steps, k->flags, k->g, &attempt->pivots);
  if (!found) return CN_OK;
  attempt->end = CNI_PATH_SOLVED;
  for (int32_t i = 0; i < p->block_count; i++)
    cni_project(p, &p->blocks[i], k->g + p->blocks[i].row);
  attempt->error = cni_problem_error(p, k->g, k->u);
  return attempt->error <= tolerance ? CN_OK : improve(k, p, attempt);
}

CnStatus cni_lcp_newton(CniLcpWork *k, const CnProblem *p, const double *start, int32_t max_steps,
                        double tolerance, CniAttempt *attempt) {
  CniNewton *newton = &k->newton;
  CNI_TRY(cni_newton_reserve(newton, p));
  cni_newton_load(newton, p);
  cni_newton_start(newton, start);
  attempt->hopeless = 0;
  attempt->end = CNI_PATH_LIMIT;
  for (attempt->pivots = 0;; attempt->pivots++) {
    cni_newton_answer(newton, k->g);
    attempt->error = cni_problem_error(p, k->g, k->u);
    if (attempt->error <= tolerance) {
      attempt->end = CNI_PATH_SOLVED;
      return CN_OK;
    }
    if (attempt->pivots == max_steps || cni_lcp_work_late(k)) break;
    if (!cni_newton_step(newton)) {
      attempt->end = CNI_PATH_RAY;
      break;
    }
  }
  // near a solution the sides of the rows are known although the steps have become too short
  for (int32_t i = 0; i < p->row_count; i++)
    k->flags[i] = newton->equality[i] || newton->z[i] > newton->w[i];
  return improve(k, p, attempt);
}

// Rows whose impulse is larger than their velocity, and the equality rows.
static void mark_larger(const CniReduced *r, uint8_t *flags) {
  for (int32_t k = 0; k < r->complementary; k++)
    flags[r->row_of[k]] = cni_tableau_value(&r->t, 2 * k + 1) > cni_tableau_value(&r->t, 2 * k);
  for (int32_t k = 0; k < r->equalities; k++) flags[r->equality[k]] = 1;
}

CnStatus cni_lcp_branch(CniLcpWork *k, const CnProblem *p, int32_t max_pivots, double tolerance,
                        CniAttempt *attempt) {
  CniReduced *r = &k->reduced;
  CniBranch *b = &k->branch;
  CNI_TRY(cni_reduced_reserve(r, p));
  cni_reduced_load(r, p);
  CNI_TRY(cni_branch_reserve(b, &r->t));
  CniBranchEnd end = cni_branch_start(b, &r->t, max_pivots);
  attempt->error = INFINITY;
  while (end == CNI_BRANCH_FOUND) {
    cni_reduced_answer(r, k->g);
    attempt->error = cni_problem_error(p, k->g, k->u);
    if (attempt->error > tolerance) {
      mark_larger(r, k->flags);
      CNI_TRY(improve(k, p, attempt));
    }
    if (attempt->error <= tolerance) break;
    end = cni_branch_next(b);
  }
  attempt->pivots = b->pivots;
  attempt->hopeless = end == CNI_BRANCH_NONE;
  attempt->end = end == CNI_BRANCH_FOUND ? CNI_PATH_SOLVED : CNI_PATH_LIMIT;
  return CN_OK;
}
