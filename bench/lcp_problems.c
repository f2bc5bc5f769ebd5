// SPDX-License-Identifier: Apache-2.0
#include "lcp_problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int lcp_problem_create(LcpProblem *p, const char *name, int32_t size) {
  memset(p, 0, sizeof *p);
  snprintf(p->name, sizeof p->name, "%s", name);
  p->size = size;
  size_t n = (size_t)size;
  p->w = calloc(n * n + 1, sizeof *p->w);
  p->q = calloc(n + 1, sizeof *p->q);
  p->equality = calloc(n + 1, sizeof *p->equality);
  if (p->w && p->q && p->equality) return 1;
  lcp_problem_destroy(p);
  return 0;
}

void lcp_problem_destroy(LcpProblem *p) {
  free(p->w);
  free(p->q);
  free(p->equality);
  memset(p, 0, sizeof *p);
}

// ---- at random ----

static double next_unit(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static double next_between(uint64_t *state, double low, double high) {
  return low + (high - low) * next_unit(state);
}

// w = B B^T / size with B of size x rank.
static int add_product(LcpProblem *p, int32_t rank, uint64_t *state) {
  size_t n = (size_t)p->size, r = (size_t)rank;
  double *b = malloc((n * r + 1) * sizeof *b);
  if (!b) return 0;
  for (size_t i = 0; i < n * r; i++) b[i] = next_between(state, -1, 1);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t k = 0; k < r; k++) sum += b[i * r + k] * b[j * r + k];
      p->w[i * n + j] = p->w[j * n + i] = sum / (double)n;
    }
  free(b);
  return 1;
}

static int make_psd(LcpProblem *p, uint64_t *state) {
  size_t n = (size_t)p->size;
  if (!add_product(p, p->size / 2, state)) return 0;
  // q = u - W g of a solution: every other row active on average
  for (size_t j = 0; j < n; j++) {
    double size = next_unit(state);
    int active = next_unit(state) < .5;
    if (!active) p->q[j] += size;
    for (size_t i = 0; active && i < n; i++) p->q[i] -= p->w[i * n + j] * size;
  }
  return 1;
}

static int make_p(LcpProblem *p, uint64_t *state) {
  size_t n = (size_t)p->size;
  if (!add_product(p, p->size, state)) return 0;
  double skew = 1 / sqrt((double)n);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      double x = next_between(state, -skew, skew);
      p->w[i * n + j] += x;
      p->w[j * n + i] -= x;
    }
    p->w[i * n + i] += .01;
    p->q[i] = next_between(state, -1, 1);
  }
  return 1;
}

// Discs of mass 1 to 10 in a strip ten wide; each touches those beside and above it and two walls'
// worth of ground, with normals turned at random: 2.4 contacts a disc, 2 freedoms.
static int make_contact(LcpProblem *p, uint64_t *state) {
  size_t n = (size_t)p->size, wide = 10, discs = n * 10 / 24 + 1;
  double *inverse = malloc(discs * sizeof *inverse), *normal = malloc(2 * n * sizeof *normal);
  int32_t *pair = malloc(2 * n * sizeof *pair);
  int ok = inverse && normal && pair;
  for (size_t i = 0; ok && i < discs; i++) inverse[i] = 1 / next_between(state, 1, 10);
  for (size_t c = 0; ok && c < n; c++) {
    // neighbours at the distance of 1, of a row, of a row and 1; -1 is the ground
    static const int32_t steps[] = {1, 10, 11};
    int32_t a = (int32_t)(c * discs / n), b = a - steps[c % 3];
    if (b < 0 || (steps[c % 3] == 1 && a % (int32_t)wide == 0)) b = -1;
    double t = next_between(state, -1, 1);
    normal[2 * c] = 2 * t / (1 + t * t);
    normal[2 * c + 1] = (1 - t * t) / (1 + t * t);
    pair[2 * c] = a;
    pair[2 * c + 1] = b;
    p->q[c] = -.0981 * normal[2 * c + 1] + next_between(state, -.1, .1);
  }
  for (size_t i = 0; ok && i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (int32_t s = 0; s < 4; s++) {
        int32_t a = pair[2 * i + (size_t)(s & 1)], b = pair[2 * j + (size_t)(s >> 1)];
        if (a < 0 || a != b) continue;
        double sign = (s & 1) == (s >> 1) ? 1 : -1;
        sum += sign * inverse[a] *
               (normal[2 * i] * normal[2 * j] + normal[2 * i + 1] * normal[2 * j + 1]);
      }
      p->w[i * n + j] = sum;
    }
  free(inverse);
  free(normal);
  free(pair);
  return ok;
}

typedef struct Kind {
  const char *name;
  int (*make)(LcpProblem *p, uint64_t *state);
} Kind;
static const Kind kinds[] = {{"psd", make_psd}, {"p", make_p}, {"contact", make_contact}};
#define KIND_COUNT ((int32_t)(sizeof kinds / sizeof kinds[0]))

const char *lcp_kind_name(int32_t kind) {
  return kind >= 0 && kind < KIND_COUNT ? kinds[kind].name : NULL;
}

int lcp_generate(LcpProblem *p, const char *kind, int32_t size) {
  for (int32_t i = 0; i < KIND_COUNT; i++) {
    if (strcmp(kinds[i].name, kind) != 0) continue;
    char name[96];
    uint64_t state = (uint64_t)size;
    snprintf(name, sizeof name, "%s-%d", kind, (int)size);
    return lcp_problem_create(p, name, size) && kinds[i].make(p, &state);
  }
  return 0;
}

// ---- handing over ----

int lcp_problem_write(const LcpProblem *p, FILE *file) {
  fprintf(file, "%d\n", (int)p->size);
  for (int32_t i = 0; i < p->size; i++) {
    fprintf(file, "%d %a", (int)p->equality[i], p->q[i]);
    for (int32_t j = 0; j < p->size; j++)
      fprintf(file, " %a", p->w[(size_t)i * (size_t)p->size + (size_t)j]);
    fprintf(file, "\n");
  }
  return !ferror(file);
}

int lcp_problem_read(LcpProblem *p, FILE *file) {
  int size, equality;
  if (fscanf(file, "%d", &size) != 1 || size < 0 || size > 20000) return 0;
  if (!lcp_problem_create(p, "", size)) return 0;
  int ok = 1;
  for (int32_t i = 0; ok && i < size; i++) {
    ok = fscanf(file, "%d %la", &equality, &p->q[i]) == 2;
    p->equality[i] = ok && equality;
    p->equalities += p->equality[i];
    for (int32_t j = 0; ok && j < size; j++)
      ok = fscanf(file, "%la", &p->w[(size_t)i * (size_t)size + (size_t)j]) == 1;
  }
  if (!ok) lcp_problem_destroy(p);
  return ok;
}
