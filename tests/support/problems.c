// SPDX-License-Identifier: Apache-2.0
#include "problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "sparse/sparse.h"
#include "source_dir.h"

static int is_there(const char *folder, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, R_OK) == 0;
}

const char *problem_folder(void) {
  const char *folder = getenv("CAIRN_PROBLEM_DIR");
  if (!folder || !folder[0]) folder = CAIRN_SOURCE_DIR "/../shared/data";
  return is_there(folder, "lcp/lcp_trivial.dat") ? folder : CAIRN_SOURCE_DIR "/tests/data";
}

int problem_folder_has(const char *name) { return is_there(problem_folder(), name); }

int problem_folder_is_whole(void) {
  return problem_folder_has("friction/KaplasTower-i1061-4.hdf5.dat");
}

static void check_same_matrix(const CnSparse *a, const CnSparse *b) {
  CHECK(a->row_count == b->row_count && a->column_count == b->column_count);
  int32_t entries = cni_sparse_entry_count(a);
  CHECK(entries == cni_sparse_entry_count(b));
  for (int32_t i = 0; i <= a->row_count && entries > 0; i++) CHECK(a->start[i] == b->start[i]);
  for (int32_t e = 0; e < entries; e++) {
    CHECK(a->column[e] == b->column[e]);
    CHECK_NEAR(a->value[e], b->value[e], 0);
  }
}

static void check_same_set(const CnProblem *a, const CniBlock *x, const CnProblem *b,
                           const CniBlock *y) {
  CnSet s = a->sets[x->set], t = b->sets[y->set];
  CHECK(s.kind == t.kind);
  CHECK_NEAR(s.mu, t.mu, 0);
  CHECK_NEAR(s.mu_roll, t.mu_roll, 0);
  CHECK_NEAR(s.mu_spin, t.mu_spin, 0);
  CHECK_NEAR(s.cohesion, t.cohesion, 0);
  CHECK(s.kind != CN_BLOCK_INTERVAL || (s.lo == t.lo && s.hi == t.hi));
  for (int32_t i = 0; i < 3; i++) CHECK_NEAR(s.compliance[i], t.compliance[i], 0);
}

static void check_same_step(const CnProblem *a, const CnProblem *b) {
  CHECK(a->group_count == b->group_count);
  for (int32_t i = 0; i < a->group_count; i++) {
    CnTwist old_a = cni_group_old(a, i), old_b = cni_group_old(b, i);
    CnSym3 inertia_a = cni_group_inertia(a, i), inertia_b = cni_group_inertia(b, i);
    CHECK(memcmp(&a->groups[i], &b->groups[i], sizeof a->groups[i]) == 0);
    CHECK(memcmp(&old_a, &old_b, sizeof old_a) == 0);
    CHECK(memcmp(&inertia_a, &inertia_b, sizeof inertia_a) == 0);
  }
  for (int32_t i = 0; i < a->pair_count; i++)
    CHECK(memcmp(&a->pairs[i], &b->pairs[i], sizeof a->pairs[i]) == 0);
  for (int32_t i = 0; i < a->sphere_count; i++)
    CHECK(memcmp(&a->spheres[i], &b->spheres[i], sizeof a->spheres[i]) == 0 &&
          cni_sphere_length(a, i) == cni_sphere_length(b, i));
  CHECK(a->row_entry_count == b->row_entry_count);
  for (int32_t i = 0; i < a->row_entry_count; i++)
    CHECK(memcmp(&a->row_entries[i], &b->row_entries[i], sizeof a->row_entries[i]) == 0);
}

void check_same_problem(const CnProblem *a, const CnProblem *b) {
  CHECK(a->form == b->form && a->friction == b->friction);
  CHECK(a->row_count == b->row_count && a->block_count == b->block_count);
  for (int32_t i = 0; i < a->row_count; i++) CHECK_NEAR(a->b[i], b->b[i], 0);
  for (int32_t i = 0; i < a->block_count; i++) {
    const CniBlock *x = &a->blocks[i], *y = &b->blocks[i];
    CHECK(x->kind == y->kind && x->dim == y->dim && x->row == y->row && x->storage == y->storage);
    check_same_set(a, x, b, y);
  }
  if (a->form == CN_FORM_EXPLICIT) check_same_matrix(&a->w, &b->w);
  if (a->form == CN_FORM_STEP) check_same_step(a, b);
  if (a->form != CN_FORM_GLOBAL) return;
  check_same_matrix(&a->global->m, &b->global->m);
  check_same_matrix(&a->global->e, &b->global->e);
  for (int32_t i = 0; i < a->global->m.row_count; i++)
    CHECK_NEAR(a->global->k[i], b->global->k[i], 0);
}

CnProblem *read_text(const char *text, CnProblemFileInfo *info) {
  CnProblem *problem = NULL;
  CHECK_OK(cn_problem_read_memory(text, strlen(text), "file", NULL, &problem, info));
  return problem;
}

void check_text_refused(const char *text, const char *message) {
  CnProblem *problem = NULL;
  CnStatus status = cn_problem_read_memory(text, strlen(text), "file", NULL, &problem, NULL);
  if (status == CN_INVALID_DATA && !problem && strcmp(cn_error_message(), message) == 0) return;
  print_error("%s (\"%s\")\nexpected the refusal \"%s\"\n", cn_status_name(status),
              status == CN_OK ? "" : cn_error_message(), message);
  cn_problem_destroy(problem);
  fail();
}
