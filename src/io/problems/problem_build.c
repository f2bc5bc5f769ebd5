// SPDX-License-Identifier: Apache-2.0
// From the parts that a file holds to a problem: matrices and vectors, then one block per contact,
// equality or complementarity row. Contacts with the same coefficients, one after the other, share
// a set.
#include "io/problems/problems_private.h"

#include "problem/problem.h"
#include "sparse/sparse.h"

static int32_t row_count_of(const CniProblemData *parts) {
  return parts->contact_count * parts->dimension + parts->equality_count;
}

void cni_problem_data_release(CniProblemData *parts) {
  const CnAllocator *a = &parts->allocator;
  size_t rows = (size_t)row_count_of(parts), contacts = (size_t)parts->contact_count;
  CNI_RELEASE(a, parts->k, parts->m.row_count);
  cni_release(a, parts->q, rows * sizeof *parts->q);
  cni_release(a, parts->mu, contacts * sizeof *parts->mu);
  cni_release(a, parts->mu_r, contacts * sizeof *parts->mu_r);
  cni_release(a, parts->is_equality, rows);
  cni_sparse_release(a, &parts->w);
  cni_sparse_release(a, &parts->m);
  cni_sparse_release(a, &parts->e);
  *parts = (CniProblemData){.allocator = parts->allocator};
}

static CnBlockKind contact_kind(int32_t dimension) {
  return dimension == 1   ? CN_BLOCK_UNILATERAL
         : dimension == 2 ? CN_BLOCK_FRICTION_2D
         : dimension == 3 ? CN_BLOCK_FRICTION
                          : CN_BLOCK_ROLLING;
}

static CnStatus check_coefficients(const double *mu, int32_t count, const char *name,
                                   const char *what) {
  for (int32_t i = 0; mu && i < count; i++)
    if (!(mu[i] >= 0))
      return cni_bad_data("%s: %s[%d]: must not be negative (got %g)", name, what, (int)i, mu[i]);
  return CN_OK;
}

static int same_coefficients(const CniProblemData *parts, int32_t i, int32_t j) {
  return (!parts->mu || parts->mu[i] == parts->mu[j]) &&
         (!parts->mu_r || parts->mu_r[i] == parts->mu_r[j]);
}

static int32_t count_sets(const CniProblemData *parts) {
  int32_t count = parts->equality_count > 0;
  for (int32_t i = 0; i < parts->contact_count; i++)
    count += i == 0 || !same_coefficients(parts, i, i - 1);
  return count;
}

static CnStatus add_contacts(const CniProblemData *parts, CnProblem *p) {
  int32_t set = -1;
  for (int32_t i = 0; i < parts->contact_count; i++) {
    if (i == 0 || !same_coefficients(parts, i, i - 1)) {
      CnSet made = cn_set_default(contact_kind(parts->dimension));
      if (parts->mu) made.mu = parts->mu[i];
      if (parts->mu_r) made.mu_roll = parts->mu_r[i];
      CNI_TRY(cn_problem_add_set(p, &made, &set));
    }
    CNI_TRY(cn_problem_add_explicit(p, set, parts->dimension, NULL));
  }
  if (parts->equality_count == 0) return CN_OK;
  CnSet made = cn_set_default(CN_BLOCK_BILATERAL);
  CNI_TRY(cn_problem_add_set(p, &made, &set));
  for (int32_t i = 0; i < parts->equality_count; i++)
    CNI_TRY(cn_problem_add_explicit(p, set, 1, NULL));
  return CN_OK;
}

// Complementarity with equalities anywhere among the rows.
static CnStatus add_mixed(const CniProblemData *parts, CnProblem *p) {
  int32_t sets[2], rows = row_count_of(parts);
  CnSet pair = cn_set_default(CN_BLOCK_UNILATERAL), equality = cn_set_default(CN_BLOCK_BILATERAL);
  CNI_TRY(cn_problem_add_set(p, &pair, &sets[0]));
  CNI_TRY(cn_problem_add_set(p, &equality, &sets[1]));
  for (int32_t i = 0; i < rows; i++)
    CNI_TRY(cn_problem_add_explicit(p, sets[parts->is_equality[i]], 1, NULL));
  return CN_OK;
}

static CnStatus fill(const CniProblemData *parts, CnProblem *p) {
  CniProblemRoom room = {.sets = parts->is_equality ? 2 : count_sets(parts),
                         .blocks = parts->contact_count + parts->equality_count};
  CNI_TRY(cni_problem_reserve(p, &room));
  if (parts->is_global)
    CNI_TRY(cn_problem_set_global(p, &parts->m, &parts->e, parts->k, parts->q));
  else
    CNI_TRY(cn_problem_set_explicit(p, &parts->w, parts->q));
  return parts->is_equality ? add_mixed(parts, p) : add_contacts(parts, p);
}

CnStatus cni_problem_data_build(const CniProblemData *parts, const char *name,
                                CnProblem **problem) {
  *problem = NULL;
  CNI_TRY(check_coefficients(parts->mu, parts->contact_count, name, "mu"));
  CNI_TRY(check_coefficients(parts->mu_r, parts->contact_count, name, "mu_r"));
  CnProblemDef def = cn_problem_def_default();
  def.form = parts->is_global ? CN_FORM_GLOBAL : CN_FORM_EXPLICIT;
  def.allocator = parts->allocator;
  CnProblem *made;
  CNI_TRY(cn_problem_create(&def, &made));
  CnStatus status = fill(parts, made);
  if (status == CN_OK)
    *problem = made;
  else
    cn_problem_destroy(made);
  return status;
}
