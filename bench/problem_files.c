// SPDX-License-Identifier: Apache-2.0
#include "problem_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bodies.h"
#if defined(BENCH_IO)
#include <cairn/files.h>
#endif

// ---- time ----

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int solve_times(CnSolver *solver, CnProblem *problem, CnAnswer *answer, int32_t repeats,
                int32_t least, double longest, CnSolveReport *report, SolveTimes *times) {
  double *list = malloc((size_t)repeats * sizeof *list), total = 0;
  int32_t count = 0;
  CnStatus status = list ? CN_OK : CN_NO_MEMORY;
  while (status == CN_OK && count < repeats && (total < longest || count < least)) {
    for (int32_t i = 0; i < answer->row_count; i++) answer->g[i] = 0;
    double start = seconds_now();
    status = cn_solver_solve(solver, problem, answer, report);
    total += list[count++] = seconds_now() - start;
  }
  if (status == CN_OK) {
    qsort(list, (size_t)count, sizeof *list, by_size);
    *times = (SolveTimes){list[0], list[count / 2]};
  } else {
    fprintf(stderr, "cairn-bench: %s\n", cn_error_message());
  }
  free(list);
  return status == CN_OK;
}

// ---- forms ----

CnProblemInfo info_of(const CnProblem *problem) {
  CnProblemInfo info;
  cn_problem_info(problem, &info);
  return info;
}

static int block_dim(int32_t kind) {
  return kind == CN_BLOCK_FRICTION_2D ? 2
         : kind == CN_BLOCK_FRICTION  ? 3
         : kind == CN_BLOCK_ROLLING   ? 5
                                      : 0;
}

int friction_plain_form(FrictionProblem *plain, const CnProblem *p) {
  CnProblemInfo info = info_of(p);
  CnProblemMatrices m;
  CnBlock block;
  CnSet set;
  int dim = 0;
  for (int32_t i = 0; cn_problem_block(p, i, &block) == CN_OK; i++) {
    if (i == 0) dim = block_dim((int32_t)block.kind);
    if (dim == 0 || block.dim != dim) return 0;
  }
  if (dim == 0 || cn_problem_matrices(p, &m) != CN_OK || !m.w) return 0;
  int32_t entries = m.w->start[info.row_count];
  if (!friction_problem_create(plain, dim, info.block_count, entries)) return 0;
  memcpy(plain->start, m.w->start, ((size_t)info.row_count + 1) * sizeof *plain->start);
  memcpy(plain->column, m.w->column, (size_t)entries * sizeof *plain->column);
  memcpy(plain->value, m.w->value, (size_t)entries * sizeof *plain->value);
  memcpy(plain->q, m.q, (size_t)info.row_count * sizeof *plain->q);
  for (int32_t i = 0; cn_problem_block_set(p, i, &set) == CN_OK; i++) {
    plain->mu[i] = set.mu;
    plain->mu_roll[i] = set.mu_roll;
  }
  return 1;
}

// ---- files ----

#if defined(BENCH_IO)
#define FILES 256
#define NAME 128

static int by_name(const void *a, const void *b) {
  return strcmp((const char *)a, (const char *)b);
}

static int32_t list_folder(const char *path, char names[FILES][NAME]) {
  int32_t count = 0;
  DIR *folder = opendir(path);
  for (struct dirent *e; folder && (e = readdir(folder));) {
    size_t length = strlen(e->d_name);
    if (e->d_name[0] != '.' && count < FILES && length < NAME)
      memcpy(names[count++], e->d_name, length + 1);
  }
  if (folder) closedir(folder);
  qsort(names, (size_t)count, NAME, by_name);
  return count;
}

int problem_files_each(const Values *values, const char *sub, ProblemVisit *visit, void *context) {
  static char names[FILES][NAME];
  char path[4096];
  const char *root = value_text(values, "files");
  if (!*root) root = getenv("CAIRN_PROBLEM_DIR");
  if (!root || !*root) root = BENCH_SOURCE_DIR "/../shared/data";
  if (access(root, R_OK) != 0 && strcmp(root, "none") != 0) root = BENCH_SOURCE_DIR "/tests/data";
  if (strcmp(root, "none") == 0) return 1;
  snprintf(path, sizeof path, "%s/%s", root, sub);
  int32_t count = list_folder(path, names);
  int ok = 1;
  for (int32_t i = 0; ok && i < count; i++) {
    CnProblem *problem = NULL;
    snprintf(path, sizeof path, "%s/%s/%s", root, sub, names[i]);
    if (cn_problem_read(path, NULL, &problem, NULL) != CN_OK) {
      fprintf(stderr, "cairn-bench: %s\n", cn_error_message());
      return 0;
    }
    ok = visit(context, names[i], problem);
    cn_problem_destroy(problem);
  }
  return ok;
}
#else
int problem_files_each(const Values *values, const char *sub, ProblemVisit *visit, void *context) {
  (void)values;
  (void)sub;
  (void)visit;
  (void)context;
  return 1;
}
#endif
