// SPDX-License-Identifier: Apache-2.0
// cairn info PROBLEM: kind, sizes, storage, symmetry, friction coefficients.

#include "cli/problem_file.h"

#include <math.h>

// By halving: columns ascend.
static double entry(const CnSparse *a, int32_t row, int32_t column) {
  int32_t low = a->start[row], high = a->start[row + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (a->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < a->start[row + 1] && a->column[low] == column ? a->value[low] : 0;
}

// max |A_ij - A_ji| / max |A_ij|
static double asymmetry(const CnSparse *a) {
  double largest = 0, defect = 0;
  for (int32_t i = 0; i < a->row_count; i++)
    for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
      largest = fmax(largest, fabs(a->value[e]));
      defect = fmax(defect, fabs(a->value[e] - entry(a, a->column[e], i)));
    }
  return largest > 0 ? defect / largest : 0;
}

// The matrix of the problem: W of a local one, M of a global one; null in the step form.
static const CnSparse *matrix_of(const CnProblem *p) {
  CnProblemMatrices matrices;
  if (cn_problem_matrices(p, &matrices) != CN_OK) return NULL;
  return matrices.w ? matrices.w : matrices.m;
}

static void show_matrix(CniShow *show, const CniProblemFile *file) {
  const CnSparse *a = matrix_of(file->problem);
  CnProblemInfo info;
  cn_problem_info(file->problem, &info);
  const char *name = info.form == CN_FORM_GLOBAL ? "M" : "W";
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
  CnSet set;
  for (int32_t i = 0; cn_problem_block_set(p, i, &set) == CN_OK; i++) {
    double mu = set.mu_roll;
    if (set.kind < CN_BLOCK_ROLLING) continue;
    least = rolling ? fmin(least, mu) : mu;
    most = rolling ? fmax(most, mu) : mu;
    rolling++;
  }
  CnProblemInfo info;
  cn_problem_info(p, &info);
  int has_friction = file->info.contacts > 0 && !cni_problem_is_plain(p);
  snprintf(text, sizeof text, "%g .. %g", file->info.mu_least, file->info.mu_most);
  cni_show_text(show, NULL, has_friction ? "mu" : NULL, text);
  snprintf(text, sizeof text, "%g .. %g", least, most);
  cni_show_text(show, NULL, rolling ? "mu rolling" : NULL, text);
  if (!has_friction) return;
  cni_show_text(show, "friction_model", "friction model", cn_friction_model_name(info.friction));
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
