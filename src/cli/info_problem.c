// SPDX-License-Identifier: Apache-2.0
// cairn info PROBLEM: kind, sizes, storage, symmetry, friction coefficients.

#include "cli/problem_file.h"

#include "core/vec.h"
#include "problem/problem.h"
#include "sparse/sparse.h"

// max |A_ij - A_ji| / max |A_ij|
static double asymmetry(const CnSparse *a) {
  double largest = 0, defect = 0;
  for (int32_t i = 0; i < a->row_count; i++)
    for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
      largest = cn_max(largest, fabs(a->value[e]));
      defect = cn_max(defect, fabs(a->value[e] - cni_sparse_entry(a, a->column[e], i)));
    }
  return largest > 0 ? defect / largest : 0;
}

// The matrix of the problem: W of a local one, M of a global one; null in the step form.
static const CnSparse *matrix_of(const CnProblem *p) {
  if (p->form == CN_FORM_EXPLICIT) return &p->w;
  return p->global ? &p->global->m : NULL;
}

static void show_matrix(CniShow *show, const CniProblemFile *file) {
  const CnSparse *a = matrix_of(file->problem);
  const char *name = file->problem->form == CN_FORM_GLOBAL ? "M" : "W";
  char text[96];
  if (!a) return;
  snprintf(text, sizeof text, "%s, %d x %d, %d entries, %s", name, a->row_count, a->column_count,
           file->info.entries, file->info.storage);
  cni_show_text(show, NULL, "matrix", text);
  cni_show_text(show, "matrix", NULL, name);
  cni_show_text(show, "storage", NULL, file->info.storage);
  cni_show_count(show, "rows", NULL, a->row_count);
  cni_show_count(show, "entries", NULL, file->info.entries);
  double defect = asymmetry(a);
  snprintf(text, sizeof text, defect > 0 ? "%.2g of the largest entry" : "none", defect);
  cni_show_number(show, "asymmetry", NULL, defect, "");
  cni_show_text(show, NULL, "asymmetry", text);
}

static void show_friction(CniShow *show, const CniProblemFile *file) {
  const CnProblem *p = file->problem;
  double least = 0, most = 0;
  char text[64];
  int32_t rolling = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    double mu = p->sets[p->blocks[i].set].mu_roll;
    if (p->blocks[i].kind < CN_BLOCK_ROLLING) continue;
    least = rolling ? cn_min(least, mu) : mu;
    most = rolling ? cn_max(most, mu) : mu;
    rolling++;
  }
  int has_friction = file->info.contacts > 0 && !cni_problem_is_lcp(p);
  snprintf(text, sizeof text, "%g .. %g", file->info.mu_least, file->info.mu_most);
  cni_show_text(show, NULL, has_friction ? "mu" : NULL, text);
  snprintf(text, sizeof text, "%g .. %g", least, most);
  cni_show_text(show, NULL, rolling ? "mu rolling" : NULL, text);
  if (!has_friction) return;
  cni_show_text(show, "friction_model", "friction model", cn_friction_model_name(p->friction));
  cni_show_number(show, "mu_least", NULL, file->info.mu_least, "");
  cni_show_number(show, "mu_most", NULL, file->info.mu_most, "");
  if (!rolling) return;
  cni_show_number(show, "mu_roll_least", NULL, least, "");
  cni_show_number(show, "mu_roll_most", NULL, most, "");
}

static void show_blocks(CniShow *show, const CnProblem *p) {
  CnProblemInfo info;
  cn_problem_info(p, &info);
  cni_show_list(show, "blocks", info.block_count ? "blocks" : NULL);
  for (int32_t kind = 0; kind < CN_BLOCK_KIND_COUNT; kind++) {
    if (info.kind_count[kind] == 0) continue;
    cni_show_row(show);
    cni_show_text(show, "kind", "kind", cn_block_kind_name((CnBlockKind)kind));
    cni_show_count(show, "count", "count", info.kind_count[kind]);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

int cni_info_problem(const CniArgs *args, const char *path) {
  CniProblemFile file;
  CniShow show;
  int status = cni_problem_file_open(&file, args, path);
  if (status == CNI_EXIT_DONE) {
    cni_show_begin(&show, stdout, cni_args_has(args, "json"));
    cni_show_text(&show, "file", NULL, path);
    cni_show_problem(&show, &file);
    cni_show_text(&show, "format", "format", file.info.format);
    show_matrix(&show, &file);
    show_friction(&show, &file);
    show_blocks(&show, file.problem);
    cni_show_end(&show);
  }
  cni_problem_file_release(&file);
  return status;
}
