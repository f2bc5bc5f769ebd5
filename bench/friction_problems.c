// SPDX-License-Identifier: Apache-2.0
#include "friction_problems.h"

#include <stdlib.h>
#include <string.h>

int friction_problem_create(FrictionProblem *p, int32_t dim, int32_t contacts, int32_t entries) {
  size_t rows = (size_t)dim * (size_t)contacts;
  *p = (FrictionProblem){.dim = dim, .contacts = contacts, .entries = entries};
  p->start = calloc(rows + 1, sizeof *p->start);
  p->column = calloc((size_t)entries + 1, sizeof *p->column);
  p->value = calloc((size_t)entries + 1, sizeof *p->value);
  p->q = calloc(rows + 1, sizeof *p->q);
  p->mu = calloc((size_t)contacts + 1, sizeof *p->mu);
  p->mu_roll = calloc((size_t)contacts + 1, sizeof *p->mu_roll);
  if (p->start && p->column && p->value && p->q && p->mu && p->mu_roll) return 1;
  friction_problem_destroy(p);
  return 0;
}

void friction_problem_destroy(FrictionProblem *p) {
  free(p->start);
  free(p->column);
  free(p->value);
  free(p->q);
  free(p->mu);
  free(p->mu_roll);
  memset(p, 0, sizeof *p);
}

int friction_problem_write(const FrictionProblem *p, FILE *file) {
  fprintf(file, "%d %d %d\n", (int)p->dim, (int)p->contacts, (int)p->entries);
  for (int32_t i = 0; i < p->contacts; i++) fprintf(file, "%a %a\n", p->mu[i], p->mu_roll[i]);
  for (int32_t i = 0; i < p->dim * p->contacts; i++) {
    fprintf(file, "%a %d", p->q[i], (int)(p->start[i + 1] - p->start[i]));
    for (int32_t e = p->start[i]; e < p->start[i + 1]; e++)
      fprintf(file, " %d %a", (int)p->column[e], p->value[e]);
    fprintf(file, "\n");
  }
  return !ferror(file);
}

int friction_problem_read(FrictionProblem *p, FILE *file) {
  int dim, contacts, entries, ok = 1;
  if (fscanf(file, "%d %d %d", &dim, &contacts, &entries) != 3) return 0;
  if (!friction_problem_create(p, dim, contacts, entries)) return 0;
  for (int32_t i = 0; ok && i < contacts; i++)
    ok = fscanf(file, "%la %la", &p->mu[i], &p->mu_roll[i]) == 2;
  for (int32_t i = 0; ok && i < dim * contacts; i++) {
    int count = 0, column;
    ok = fscanf(file, "%la %d", &p->q[i], &count) == 2 && p->start[i] + count <= entries;
    p->start[i + 1] = p->start[i] + count;
    for (int32_t e = p->start[i]; ok && e < p->start[i + 1]; e++) {
      ok = fscanf(file, "%d %la", &column, &p->value[e]) == 2;
      p->column[e] = column;
    }
  }
  if (!ok) friction_problem_destroy(p);
  return ok;
}
