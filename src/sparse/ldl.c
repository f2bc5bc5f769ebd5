// SPDX-License-Identifier: Apache-2.0
// Creating factors, and solving with them.
//
// A solution goes over the supernodes once up (L), divides by D, and once down (L^T). With many
// right-hand sides all of them are taken through a supernode before the next, so that L is read
// from memory once.
#include "sparse/ldl_private.h"

#include "core/vec.h"

#include <string.h>

CnStatus cni_ldl_own(CniLdl *ldl, const CniArray *arrays) {
  for (; arrays->address; arrays++) {
    size_t bytes = ((size_t)arrays->count + 8) * arrays->size;
    void *taken;
    CNI_TRY(cni_new(&ldl->allocator, bytes, &taken));
    ldl->bytes[ldl->memory_count] = bytes;
    ldl->memory[ldl->memory_count++] = taken;
    memcpy(arrays->address, &taken, sizeof taken);
  }
  return CN_OK;
}

void cni_ldl_destroy(CniLdl *ldl) {
  if (!ldl) return;
  CnAllocator allocator = ldl->allocator;
  for (int32_t i = 0; i < ldl->memory_count; i++)
    cni_release(&allocator, ldl->memory[i], ldl->bytes[i]);
  cni_release(&allocator, ldl, sizeof *ldl);
}

// ---- creation ----

static CnStatus fill(CniLdl *ldl, const CnSparse *upper, const int8_t *sign, const int32_t *order) {
  int32_t n = ldl->size, entries = upper->start[n];
  CNI_TRY(CNI_OWN(ldl, CNI_ARRAY(n, ldl->order), CNI_ARRAY(n, ldl->inverse),
                  CNI_ARRAY(n, ldl->sign), CNI_ARRAY(n, ldl->replaced),
                  CNI_ARRAY(n + 1, ldl->pattern.start), CNI_ARRAY(entries, ldl->pattern.column)));
  ldl->pattern.row_count = ldl->pattern.column_count = n;
  memcpy(ldl->pattern.start, upper->start, ((size_t)n + 1) * sizeof(int32_t));
  if (entries) memcpy(ldl->pattern.column, upper->column, (size_t)entries * sizeof(int32_t));
  CNI_TRY(cni_ldl_analyse(ldl, &ldl->pattern, order));
  for (int32_t k = 0; k < n; k++) ldl->sign[k] = sign[ldl->order[k]] < 0 ? -1 : 1;
  CNI_TRY(CNI_OWN(ldl, CNI_ARRAY(ldl->value_count, ldl->value),
                  CNI_ARRAY(ldl->stack_count, ldl->stack), CNI_ARRAY(n, ldl->d),
                  CNI_ARRAY(n, ldl->inv), CNI_ARRAY(n, ldl->made)));
  int32_t longest = 0;
  for (int32_t k = 0; k < ldl->super_count; k++)
    if (ldl->super[k].below > longest) longest = ldl->super[k].below;
  return CNI_OWN(ldl, CNI_ARRAY(cni_up8(longest), ldl->line_room),
                 CNI_ARRAY(5 * (int64_t)n, ldl->work));
}

// The same with an order from elsewhere: order[i] is the row eliminated as number i (up to an
// equivalent order of the same fill, which cni_ldl_order tells).
static CnStatus create_ordered(const CnAllocator *allocator, const CnSparse *upper,
                               const int8_t *sign, const int32_t *order, CniLdl **ldl) {
  *ldl = NULL;
  CniLdl *made;
  CNI_TRY(cni_new(allocator, sizeof *made, &made));
  made->allocator = *allocator;
  made->kernels = cni_dense_kernels();
  made->size = upper->row_count;
  CnStatus status = fill(made, upper, sign, order);
  if (status == CN_OK)
    *ldl = made;
  else
    cni_ldl_destroy(made);
  return status;
}

CnStatus cni_ldl_create(const CnAllocator *allocator, const CnSparse *upper, const int8_t *sign,
                        const int8_t *late, CniLdl **ldl) {
  *ldl = NULL;
  size_t bytes = ((size_t)upper->row_count + 1) * sizeof(int32_t);
  int32_t *order = cni_allocate(allocator, bytes);
  if (!order) return cni_error_memory(bytes);
  CnStatus status = cni_ldl_find_order(allocator, upper, sign, late, order);
  if (status == CN_OK) status = create_ordered(allocator, upper, sign, order, ldl);
  cni_release(allocator, order, bytes);
  return status;
}

int cni_ldl_fits(const CniLdl *ldl, const CnSparse *upper, const int8_t *sign) {
  size_t n = (size_t)ldl->size, entries = (size_t)ldl->pattern.start[n];
  if (upper->row_count != ldl->size || (size_t)upper->start[n] != entries) return 0;
  if (memcmp(upper->start, ldl->pattern.start, n * sizeof(int32_t)) != 0) return 0;
  if (entries && memcmp(upper->column, ldl->pattern.column, entries * sizeof(int32_t)) != 0)
    return 0;
  for (size_t i = 0; i < n; i++)
    if ((sign[i] < 0) != (ldl->sign[ldl->inverse[i]] < 0)) return 0;
  return 1;
}

int32_t cni_ldl_size(const CniLdl *ldl) { return ldl->size; }
const int32_t *cni_ldl_order(const CniLdl *ldl) { return ldl->order; }

// ---- solution ----

#define SHORT 6 // rows below up to which they are taken one by one

// x <- L^-1 x for the columns of one supernode.
static void forward(const CniLdl *ldl, const CniSuper *u, double *x) {
  const double *line = ldl->value + u->line_start;
  const int32_t *rows = ldl->rows + u->row_start;
  int32_t length = cni_super_line(u), own = cni_up8(u->width), below = u->below, touched = 0;
  double *top = x + u->first, *room = ldl->line_room;
  for (int32_t c = 0; c < u->width; c++, line += length) {
    double t = top[c];
    if (t == 0) continue;
    for (int32_t j = c + 1; j < u->width; j++) top[j] -= line[j] * t;
    if (below <= SHORT) {
      for (int32_t r = 0; r < below; r++) x[rows[r]] -= line[own + r] * t;
      continue;
    }
    if (!touched) memset(room, 0, (size_t)cni_up8(below) * sizeof *room);
    touched = 1;
    ldl->kernels->axpy(below, t, line + own, room);
  }
  for (int32_t r = 0; touched && r < below; r++) x[rows[r]] -= room[r];
}

// x <- L^-T D^-1 x likewise.
static void backward(const CniLdl *ldl, const CniSuper *u, double *x) {
  int32_t length = cni_super_line(u), own = cni_up8(u->width), below = u->below;
  const int32_t *rows = ldl->rows + u->row_start;
  double *top = x + u->first, *room = ldl->line_room;
  for (int32_t r = 0; r < below; r++) room[r] = x[rows[r]];
  for (int32_t r = below; r < cni_up8(below); r++) room[r] = 0;
  for (int32_t c = u->width - 1; c >= 0; c--) {
    const double *line = ldl->value + u->line_start + (int64_t)c * length;
    if (ldl->off && ldl->off[u->first + c]) { // nothing but its pivot
      top[c] *= ldl->inv[u->first + c];
      continue;
    }
    double sum = 0;
    if (below > SHORT)
      sum = ldl->kernels->dot(below, line + own, room);
    else
      for (int32_t r = 0; r < below; r++) sum += line[own + r] * room[r];
    for (int32_t j = c + 1; j < u->width; j++) sum += line[j] * top[j];
    top[c] = top[c] * ldl->inv[u->first + c] - sum;
  }
}

// At most three right-hand sides at a time, in the order of elimination.
static void solve_some(CniLdl *ldl, double *x, int32_t columns) {
  int32_t n = ldl->size;
  double *y = ldl->work;
  for (int32_t k = 0; k < columns; k++)
    for (int32_t i = 0; i < n; i++) y[(int64_t)k * n + i] = x[(int64_t)k * n + ldl->order[i]];
  for (int32_t s = 0; s < ldl->super_count; s++)
    for (int32_t k = 0; k < columns; k++) forward(ldl, &ldl->super[s], y + (int64_t)k * n);
  for (int32_t s = ldl->super_count - 1; s >= 0; s--)
    for (int32_t k = 0; k < columns; k++) backward(ldl, &ldl->super[s], y + (int64_t)k * n);
  for (int32_t k = 0; k < columns; k++)
    for (int32_t i = 0; i < n; i++) x[(int64_t)k * n + ldl->order[i]] = y[(int64_t)k * n + i];
}

void cni_ldl_solve(CniLdl *ldl, double *x, int32_t columns) {
  for (int32_t k = 0; k < columns; k += 3)
    solve_some(ldl, x + (int64_t)k * ldl->size, columns - k < 3 ? columns - k : 3);
}

int32_t cni_ldl_tree_end(const CniLdl *ldl, int32_t first) {
  const CniSuper *u = &ldl->super[ldl->super_of[first]];
  while (u->parent >= 0) u = &ldl->super[u->parent];
  return u->first + u->width;
}

void cni_ldl_solve_tree(CniLdl *ldl, int32_t first, int32_t end, double *x) {
  double *y = ldl->work;
  if (first == end) return;
  int32_t low = ldl->super_of[first], high = ldl->super_of[end - 1];
  for (int32_t i = first; i < end; i++) y[i] = x[ldl->order[i]];
  for (int32_t s = low; s <= high; s++) forward(ldl, &ldl->super[s], y);
  for (int32_t s = high; s >= low; s--) backward(ldl, &ldl->super[s], y);
  for (int32_t i = first; i < end; i++) x[ldl->order[i]] = y[i];
}

// r = b - A x; returns the backward error of x. Rows that are off, and their columns, are left out.
static double residual(const CniLdl *ldl, const double *values, const double *b, const double *x,
                       double *r) {
  int32_t n = ldl->size;
  const uint8_t *off = ldl->off;       // null: all are on
  double *size = ldl->work, worst = 0; // the solution's work is free here
  for (int32_t i = 0; i < n; i++) {
    r[i] = b[i];
    size[i] = fabs(b[i]);
  }
  for (int32_t j = 0; j < n; j++) {
    if (off && off[ldl->inverse[j]]) continue;
    for (int32_t e = ldl->pattern.start[j]; e < ldl->pattern.start[j + 1]; e++) {
      int32_t i = ldl->pattern.column[e];
      if (off && off[ldl->inverse[i]]) continue;
      double p = values[e] * x[i];
      r[j] -= p;
      size[j] += fabs(p);
      if (i == j) continue;
      double q = values[e] * x[j];
      r[i] -= q;
      size[i] += fabs(q);
    }
  }
  for (int32_t i = 0; i < n; i++) {
    if (off && off[ldl->inverse[i]]) r[i] = 0;
    double error = r[i] != 0 ? fabs(r[i]) / size[i] : 0;
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

double cni_ldl_refine(CniLdl *ldl, const double *values, const double *b, double *x,
                      int32_t steps) {
  int32_t n = ldl->size;
  double *r = ldl->work + 4 * (int64_t)n, *step = ldl->work + 3 * (int64_t)n;
  memmove(x, b, (size_t)n * sizeof *x);
  for (int32_t i = 0; ldl->off && i < n; i++)
    if (ldl->off[ldl->inverse[i]]) x[i] = 0;
  cni_ldl_solve(ldl, x, 1);
  double error = residual(ldl, values, b, x, r);
  for (int32_t i = 0; i < steps && error > 1e-16; i++) {
    // the correction takes the place of the residual, and is taken back where it does not help
    cni_ldl_solve(ldl, r, 1);
    memcpy(step, r, (size_t)n * sizeof *step);
    for (int32_t k = 0; k < n; k++) x[k] += step[k];
    double now = residual(ldl, values, b, x, r);
    if (!(now < 2 * error)) { // the measure of a good solution goes up and down by itself
      for (int32_t k = 0; k < n; k++) x[k] -= step[k];
      break;
    }
    error = now;
  }
  return error;
}
