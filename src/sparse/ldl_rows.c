// SPDX-License-Identifier: Apache-2.0
// Switching single rows of A on and off in the factors.
//
// A row that is off has a unit pivot of its sign and no other entries, neither in A nor in L; the
// pattern is that of all rows on, so nothing ever moves. With k the row's number, 1 what comes
// before and 3 what comes after it,
//
//     L11 D1 l12 = a12            one solution along the row's subtree: its row of L
//     d_k = a_kk - l12 D1 l12
//     l32 = (a32 - L31 D1 l12)/d_k
//     L33 D3 L33^T <- L33 D3 L33^T - l32 d_k l32^T     on;   + for off
//
// and the last line is a rank-1 change of the columns on the path from k to the root of the tree.
// Whether a row depends on those that are on does not show in its own pivot, which knows only what
// comes before it, but in all of them: the change of the determinant,
//
//     s = d_k prod_j (new d_j / old d_j)   over the path,
//
// is the pivot the row would have as the last one. It is found on a walk along the path that
// changes nothing, before the one that does.
//
// Cost: the columns of the row's subtree and of its path, once or twice each; a new factorisation
// costs them squared, and all of the others.
//
// Reference: T. A. Davis and W. W. Hager, Row modifications of a sparse Cholesky factorization,
// SIAM J. Matrix Anal. 26, 2005; P. E. Gill, G. H. Golub, W. Murray, M. A. Saunders, Methods for
// modifying matrix factorizations, Math. Comp. 28, 1974 (method C1).
#include "sparse/ldl_private.h"

#include "core/sort.h"
#include "core/vec.h"

#include <string.h>

#define LINE_ROOM 8 // numbers a gathered line may be read beyond its end

CnStatus cni_ldl_prepare_rows(CniLdl *ldl) {
  if (ldl->near_start) return CN_OK;
  int32_t n = ldl->size, entries = ldl->pattern.start[n], longest = 0, *near_start = NULL;
  for (int32_t k = 0; k < ldl->super_count; k++)
    if (cni_super_line(&ldl->super[k]) > longest) longest = cni_super_line(&ldl->super[k]);
  CNI_TRY(CNI_OWN(ldl, CNI_ARRAY(n + 2, near_start), CNI_ARRAY(2 * (int64_t)entries, ldl->near),
                  CNI_ARRAY(2 * (int64_t)entries, ldl->near_entry), CNI_ARRAY(entries, ldl->masked),
                  CNI_ARRAY(n, ldl->off), CNI_ARRAY(ldl->super_count, ldl->reach),
                  CNI_ARRAY(ldl->super_count, ldl->seen), CNI_ARRAY(n, ldl->sparse_x),
                  CNI_ARRAY(longest + LINE_ROOM, ldl->gathered)));
  // rows of A in both directions, in numbers of elimination
  for (int32_t pass = 0; pass < 2; pass++) {
    for (int32_t j = 0; j < n; j++)
      for (int32_t e = ldl->pattern.start[j]; e < ldl->pattern.start[j + 1]; e++) {
        int32_t p = ldl->inverse[ldl->pattern.column[e]], q = ldl->inverse[j];
        for (int32_t side = 0; side < (p == q ? 1 : 2); side++) {
          int32_t from = side ? p : q, to = side ? q : p;
          if (pass == 0) {
            near_start[from + 2]++;
          } else {
            ldl->near_entry[near_start[from + 1]] = e;
            ldl->near[near_start[from + 1]++] = to;
          }
        }
      }
    for (int32_t i = 0; pass == 0 && i < n; i++) near_start[i + 2] += near_start[i + 1];
  }
  for (int32_t k = 0; k < ldl->super_count; k++) ldl->seen[k] = -1;
  ldl->near_start = near_start;
  return CN_OK;
}

CnStatus cni_ldl_factor_rows(CniLdl *ldl, const double *values, const uint8_t *on, CnTasks *tasks,
                             CniLdlReport *report) {
  int32_t n = ldl->size;
  for (int32_t j = 0; j < n; j++) {
    ldl->off[ldl->inverse[j]] = !on[j];
    for (int32_t e = ldl->pattern.start[j]; e < ldl->pattern.start[j + 1]; e++)
      ldl->masked[e] = on[j] && on[ldl->pattern.column[e]] ? values[e] : 0;
  }
  ldl->rows_off = 1;
  ldl->switches = 0;
  CnStatus status = cni_ldl_factor(ldl, ldl->masked, tasks, report);
  ldl->rows_off = 0;
  return status;
}

int32_t cni_ldl_switches(const CniLdl *ldl) { return ldl->switches; }

// ---- the subtree of a row ----

// Supernodes with an entry of L in row k, children before parents, k's own excluded: from
// reach[return value] on.
static int32_t find_reach(CniLdl *ldl, int32_t k) {
  int32_t top = ldl->super_count, own = ldl->super_of[k], *reach = ldl->reach;
  for (int32_t e = ldl->near_start[k]; e < ldl->near_start[k + 1]; e++) {
    int32_t length = 0;
    if (ldl->near[e] >= k) continue;
    // the path is put at the front of the list, below what is at its back
    for (int32_t s = ldl->super_of[ldl->near[e]]; s != own && ldl->seen[s] != k;
         s = ldl->super[s].parent) {
      reach[length++] = s;
      ldl->seen[s] = k;
    }
    while (length > 0) reach[--top] = reach[--length];
  }
  for (int32_t s = top; s < ldl->super_count; s++) ldl->seen[reach[s]] = -1;
  return top;
}

// Place of row k among the rows below a supernode that has it.
static int32_t find_row(const CniLdl *ldl, const CniSuper *u, int32_t k) {
  return cni_up8(u->width) + cni_lower_bound(ldl->rows + u->row_start, u->below - 1, k);
}

// Take x through columns [0, end) of a supernode, noting row k of L at `place`; returns what they
// take off the pivot and adds its size to *made. Rows behind are changed in x.
static double pass_super(CniLdl *ldl, const CniSuper *u, int32_t end, int32_t place, double *made) {
  double *line = ldl->value + u->line_start, *x = ldl->sparse_x, *top = x + u->first, taken = 0;
  double *below = ldl->gathered;
  const int32_t *rows = ldl->rows + u->row_start;
  int32_t length = cni_super_line(u), own = cni_up8(u->width), touched = 0;
  for (int32_t c = 0; c < end; c++, line += length) {
    double y = top[c];
    if (y == 0) continue;
    if (!touched) memset(below, 0, (size_t)cni_up8(u->below) * sizeof *below);
    touched = 1;
    for (int32_t j = c + 1; j < u->width; j++) top[j] -= line[j] * y;
    ldl->kernels->axpy(cni_up8(u->below), y, line + own, below);
    double l = y * ldl->inv[u->first + c];
    line[place] = l;
    taken += y * l;
    *made += fabs(y * l);
  }
  for (int32_t r = 0; touched && r < u->below; r++) x[rows[r]] -= below[r];
  return taken;
}

// Row k of L to zero.
static void clear_row(CniLdl *ldl, int32_t k, int32_t reach) {
  for (int32_t s = reach; s <= ldl->super_count; s++) {
    int32_t own = s == ldl->super_count; // the supernode of k itself
    const CniSuper *u = &ldl->super[own ? ldl->super_of[k] : ldl->reach[s]];
    int32_t end = own ? k - u->first : u->width, length = cni_super_line(u);
    double *at = ldl->value + u->line_start + (own ? end : find_row(ldl, u, k));
    for (int32_t c = 0; c < end; c++) at[(int64_t)c * length] = 0;
  }
}

static void clear_x(CniLdl *ldl, int32_t k, int32_t reach) {
  double *x = ldl->sparse_x;
  for (int32_t s = reach; s <= ldl->super_count; s++) {
    const CniSuper *u = &ldl->super[s == ldl->super_count ? ldl->super_of[k] : ldl->reach[s]];
    memset(x + u->first, 0, (size_t)u->width * sizeof *x);
    for (int32_t r = 0; r < u->below; r++) x[ldl->rows[u->row_start + r]] = 0;
  }
}

// ---- the path ----

// A rank-1 change on its way along the path.
typedef struct Change {
  double alpha;
  double pivot, largest; // of the row as the last one, up to here, and the largest on the way
  int apply;             // 0: only look
  int sound;             // 0: a pivot lost its sign
} Change;

// L3 D3 L3^T += alpha w w^T for the columns of one supernode from column `begin` on; w is like a
// line of the supernode.
static void change_super(CniLdl *ldl, const CniSuper *u, int32_t begin, Change *change, double *w) {
  int32_t length = cni_super_line(u), own = cni_up8(u->width), below = cni_up8(u->below);
  double *line = ldl->value + u->line_start + (int64_t)begin * length;
  for (int32_t c = begin; c < u->width; c++, line += length) {
    double p = w[c];
    if (p == 0) continue;
    int32_t k = u->first + c;
    double d = ldl->d[k], changed = d + change->alpha * (p * p);
    if (!(changed * ldl->sign[k] > 0)) {
      change->sound = 0;
      return;
    }
    double inverse = 1 / changed, beta = change->alpha * p * inverse;
    change->alpha *= d * inverse;
    change->pivot *= changed * ldl->inv[k];
    change->largest = cn_max(change->largest, fabs(change->pivot));
    if (!change->apply) {
      for (int32_t j = c + 1; j < u->width; j++) w[j] -= p * line[j];
      ldl->kernels->axpy(below, -p, line + own, w + own);
      continue;
    }
    ldl->d[k] = changed;
    ldl->inv[k] = inverse;
    for (int32_t j = c + 1; j < u->width; j++) {
      w[j] -= p * line[j];
      line[j] += beta * w[j];
    }
    ldl->kernels->rank1(below, p, beta, line + own, w + own);
  }
}

// The path from column k on; x holds w on the rows of k's line and is zero afterwards.
static void change_path(CniLdl *ldl, int32_t k, Change *change) {
  double *x = ldl->sparse_x, *w = ldl->gathered;
  for (int32_t s = ldl->super_of[k], begin = k - ldl->super[s].first + 1; s >= 0;
       s = ldl->super[s].parent, begin = 0) {
    const CniSuper *u = &ldl->super[s];
    const int32_t *rows = ldl->rows + u->row_start;
    int32_t own = cni_up8(u->width), any = 0;
    for (int32_t c = begin; c < u->width; c++) {
      w[c] = x[u->first + c];
      x[u->first + c] = 0;
      any |= w[c] != 0;
    }
    if (!any) continue; // rows that are off have nothing to change
    for (int32_t r = 0; r < u->below; r++) w[own + r] = x[rows[r]];
    for (int32_t r = u->below; r < cni_up8(u->below); r++) w[own + r] = 0;
    if (change->sound) change_super(ldl, u, begin, change, w);
    for (int32_t r = 0; r < u->below; r++) x[rows[r]] = w[own + r];
  }
}

// ---- on and off ----

// What happens to the line of column k.
typedef enum LineMove {
  LINE_STORE, // from x, times a factor, to L; x too
  LINE_LOAD,  // from L to x
  LINE_TAKE,  // the same, and L cleared
  LINE_CLEAR  // L cleared
} LineMove;

static void move_line(CniLdl *ldl, int32_t k, LineMove move, double factor) {
  const CniSuper *u = &ldl->super[ldl->super_of[k]];
  int32_t c = k - u->first, own = cni_up8(u->width), length = cni_super_line(u);
  double *line = ldl->value + u->line_start + (int64_t)c * length, *x = ldl->sparse_x;
  for (int32_t i = c + 1; i < u->width + u->below; i++) {
    int32_t row = i < u->width ? u->first + i : ldl->rows[u->row_start + i - u->width];
    double *place = line + (i < u->width ? i : own + i - u->width);
    if (move == LINE_STORE) x[row] = *place = x[row] * factor;
    if (move == LINE_LOAD || move == LINE_TAKE) x[row] = *place;
    if (move == LINE_TAKE || move == LINE_CLEAR) *place = 0;
  }
}

CniSwitch cni_ldl_switch_on(CniLdl *ldl, const double *values, int32_t row, double least,
                            double *share) {
  int32_t k = ldl->inverse[row], reach = find_reach(ldl, k);
  double *x = ldl->sparse_x, d = 0;
  *share = 1;
  if (!ldl->off[k]) return CNI_SWITCHED;
  for (int32_t e = ldl->near_start[k]; e < ldl->near_start[k + 1]; e++) {
    if (ldl->near[e] == k)
      d = values[ldl->near_entry[e]];
    else if (!ldl->off[ldl->near[e]])
      x[ldl->near[e]] = values[ldl->near_entry[e]];
  }
  double made = fabs(d);
  for (int32_t s = reach; s < ldl->super_count; s++) {
    const CniSuper *u = &ldl->super[ldl->reach[s]];
    d -= pass_super(ldl, u, u->width, find_row(ldl, u, k), &made);
  }
  const CniSuper *mine = &ldl->super[ldl->super_of[k]];
  d -= pass_super(ldl, mine, k - mine->first, k - mine->first, &made);
  *share = made > 0 ? ldl->sign[k] * d / made : 0;
  if (!(*share > least)) {
    clear_row(ldl, k, reach);
    clear_x(ldl, k, reach);
    for (int32_t e = ldl->near_start[k]; e < ldl->near_start[k + 1]; e++) x[ldl->near[e]] = 0;
    return CNI_DEPENDENT;
  }
  // keep only the rows behind k in x
  move_line(ldl, k, LINE_STORE, 1 / d);
  memset(x + mine->first, 0, (size_t)(k - mine->first + 1) * sizeof *x);
  for (int32_t s = reach; s < ldl->super_count; s++) {
    const CniSuper *u = &ldl->super[ldl->reach[s]];
    memset(x + u->first, 0, (size_t)u->width * sizeof *x);
  }
  // look first
  Change change = {.alpha = -d, .pivot = d, .largest = made, .sound = 1};
  change_path(ldl, k, &change);
  *share = change.sound ? ldl->sign[k] * change.pivot / change.largest : 0;
  if (!(*share > least)) {
    clear_row(ldl, k, reach);
    move_line(ldl, k, LINE_CLEAR, 0);
    return CNI_DEPENDENT;
  }
  ldl->off[k] = 0;
  ldl->d[k] = d;
  ldl->inv[k] = 1 / d;
  ldl->made[k] = made;
  ldl->switches++;
  move_line(ldl, k, LINE_LOAD, 0);
  change = (Change){.alpha = -d, .pivot = d, .apply = 1, .sound = 1};
  change_path(ldl, k, &change);
  return change.sound ? CNI_SWITCHED : CNI_DAMAGED;
}

CniSwitch cni_ldl_switch_off(CniLdl *ldl, int32_t row) {
  int32_t k = ldl->inverse[row];
  if (ldl->off[k]) return CNI_SWITCHED;
  double d = ldl->d[k];
  clear_row(ldl, k, find_reach(ldl, k));
  ldl->off[k] = 1;
  ldl->d[k] = ldl->inv[k] = ldl->sign[k];
  ldl->switches++;
  move_line(ldl, k, LINE_TAKE, 0);
  Change change = {.alpha = d, .pivot = d, .apply = 1, .sound = 1};
  change_path(ldl, k, &change);
  return change.sound ? CNI_SWITCHED : CNI_DAMAGED;
}
