// SPDX-License-Identifier: Apache-2.0
// How constraints feel each other: S = H M^-1 D^T, dense or sparse (motion.h).
//
// Entry (i, j) of S is what row i sees of a unit force along j: zero unless both touch a common
// velocity group. Rows that touch the same groups (a joint's, a contact's) are a node of a graph,
// nodes with a common group are neighbours. Where the factors along this graph are less than half
// of a dense matrix, S is factored by multifrontal LU (sparse/lu.h), whose order and structure are
// kept as long as the rows touch the same groups: a chain then costs in proportion to its length.
// Otherwise, and below a few dozen rows, S is dense with partial pivoting. The choice depends on
// counts alone.
//
// S is brought to rows of unit size; a pivot below 1e-14 means that the constraints depend on each
// other. Which of them do is found by L L^T of G M^-1 G^T: a row is left out where 1e-12 of its own
// size (1e-6 of the row itself) remains after those kept, or what is round-off behind the weakest of
// these. Rows with a rank among them (joints before
// contacts before tangents) are taken in the order given, along the profile; rows without in the order
// of what remains of them, the largest share first, down to 1e-9: at a singular place round-off u of
// positions turns the velocities by u over that share.
#include "integrator/motion.h"

#include "core/error.h"
#include "core/vec.h"

#include <string.h>

#define SINGULAR 1e-14 // pivot of S with rows of size one
#define NOISE 4e-15    // round-off of what is left of a row, over the least of those kept
#define RANK 1e-9    // share of rows that are chosen: what round-off makes of them grows as 1/RANK
#define CERTAIN 1e-6 // pivots above it: no row depends on others, whatever the order
#define FEW_ROWS 48  // below it S is dense
#define MANY_ROWS 2000 // above it the first that are independent are taken

void cni_schur_release(CniMotion *m) {
  CniSchur *c = &m->schur;
  cni_lu_destroy(c->lu);
  cni_arena_release(&c->arena);
  cni_release(&m->allocator, c->dense, (size_t)c->dense_capacity * sizeof *c->dense);
  cni_release(&m->allocator, c->pivot, (size_t)c->pivot_capacity * sizeof *c->pivot);
}

// ---- M^-1 D^T ----

void cni_motion_directions(CniMotion *m, const double *columns) {
  int64_t size = m->size;
  memcpy(m->x, columns, (size_t)(m->touch_start[m->active] * size) * sizeof *m->x);
  for (int32_t i = 0; i < m->slip_count; i++) {
    const CniSlip *slip = &m->slip[i];
    if (slip->normal < 0) continue;
    int32_t begin = m->touch_start[slip->normal], end = m->touch_start[slip->normal + 1];
    for (int32_t k = 0; k < slip->count; k++) {
      const double *tangent = columns + m->touch_start[slip->place + k] * size;
      double factor = -slip->friction * slip->now[k], *x = m->x + begin * size;
      for (int64_t j = 0; j < (end - begin) * size; j++) x[j] += factor * tangent[j];
    }
  }
  for (int32_t e = 0; e < m->touch_start[m->active]; e++)
    cni_motion_group_solve(m, m->touch[e], m->x + e * size);
}

void cni_motion_push(const CniMotion *m, const double *g, double *v) {
  int32_t size = m->size;
  for (int32_t i = 0; i < m->active; i++)
    for (int32_t e = m->touch_start[i]; e < m->touch_start[i + 1]; e++) {
      const double *x = m->x + (int64_t)e * size;
      double *to = v + (int64_t)m->touch[e] * size;
      for (int32_t k = 0; k < size; k++) to[k] += g[i] * x[k];
    }
}

// Row i of H times column j of M^-1 D^T.
static double entry(const CniMotion *m, const double *rows_of, int32_t i, int32_t j) {
  int32_t size = m->size, a = m->touch_start[i], b = m->touch_start[j];
  double sum = 0;
  while (a < m->touch_start[i + 1] && b < m->touch_start[j + 1]) {
    int32_t difference = m->touch[a] - m->touch[b];
    if (difference == 0) {
      const double *x = rows_of + (int64_t)a * size, *y = m->x + (int64_t)b * size;
      for (int32_t k = 0; k < size; k++) sum += x[k] * y[k];
    }
    a += difference <= 0;
    b += difference >= 0;
  }
  return sum;
}

// ---- structure ----

static int same_groups(const CniMotion *m, int32_t i, int32_t j) {
  int32_t count = m->touch_start[i + 1] - m->touch_start[i];
  return count == m->touch_start[j + 1] - m->touch_start[j] &&
         memcmp(m->touch + m->touch_start[i], m->touch + m->touch_start[j],
                (size_t)count * sizeof *m->touch) == 0;
}

// Is the structure kept that of the active rows?
static int known_again(const CniMotion *m) {
  const CniSchur *c = &m->schur;
  return c->key && c->key_rows == m->active && c->key_groups == m->touch_start[m->active] &&
         memcmp(c->key, m->touch_start, (size_t)m->active * sizeof *c->key) == 0 &&
         memcmp(c->key + m->active, m->touch, (size_t)c->key_groups * sizeof *c->key) == 0;
}

static CnStatus take(CniMotion *m, int64_t count, size_t size, void *memory) {
  size_t bytes = (size_t)(count > 0 ? count : 1) * size;
  void *taken = cni_arena_take(&m->schur.arena, bytes);
  if (!taken) return cni_error_memory(bytes);
  memset(taken, 0, bytes);
  memcpy(memory, &taken, sizeof taken);
  return CN_OK;
}

static CnStatus keep_key(CniMotion *m) {
  CniSchur *c = &m->schur;
  int32_t groups = m->touch_start[m->active];
  CNI_TRY(take(m, (int64_t)m->active + groups, sizeof *c->key, &c->key));
  memcpy(c->key, m->touch_start, (size_t)m->active * sizeof *c->key);
  memcpy(c->key + m->active, m->touch, (size_t)groups * sizeof *c->key);
  c->key_rows = m->active;
  c->key_groups = groups;
  return CN_OK;
}

// Nodes that touch each group: `node` of group g from start[g] on.
typedef struct Touching {
  int32_t *start, *node;
  int32_t *size, node_count;
} Touching;

// Nodes of the rows, and who touches a group; *entries bounds those of S.
static CnStatus find_nodes(CniMotion *m, Touching *t, double *entries) {
  CniSchur *c = &m->schur;
  CNI_TRY(take(m, m->active + 1, sizeof *c->node_start, &c->node_start));
  CNI_TRY(take(m, m->active, sizeof *t->size, &t->size));
  CNI_TRY(take(m, m->groups + 2, sizeof *t->start, &t->start));
  CNI_TRY(take(m, m->touch_start[m->active], sizeof *t->node, &t->node));
  int32_t *rows = NULL; // of a group
  CNI_TRY(take(m, m->groups, sizeof *rows, &rows));
  for (int32_t i = 0; i < m->active; i++) {
    int fresh = i == 0 || !same_groups(m, i - 1, i);
    if (fresh) c->node_start[t->node_count++] = i;
    t->size[t->node_count - 1]++;
    for (int32_t e = m->touch_start[i]; e < m->touch_start[i + 1]; e++) {
      rows[m->touch[e]]++;
      if (fresh) t->start[m->touch[e] + 2]++;
    }
  }
  c->node_start[t->node_count] = m->active;
  *entries = 0;
  for (int32_t g = 0; g < m->groups; g++) {
    t->start[g + 2] += t->start[g + 1];
    *entries += (double)rows[g] * rows[g];
  }
  for (int32_t n = 0; n < t->node_count; n++) {
    int32_t row = c->node_start[n];
    for (int32_t e = m->touch_start[row]; e < m->touch_start[row + 1]; e++)
      t->node[t->start[m->touch[e] + 1]++] = n;
  }
  return CN_OK;
}

// Neighbours of the nodes. Each node names those that share a group with it; put down with the one
// that is named, they ascend.
static CnStatus find_neighbours(CniMotion *m, const Touching *t) {
  CniSchur *c = &m->schur;
  int32_t *start = NULL, *column = NULL, *mark = NULL;
  int64_t most = 0;
  for (int32_t g = 0; g < m->groups; g++) {
    int64_t nodes = t->start[g + 1] - t->start[g];
    most += nodes * nodes;
  }
  CNI_TRY(take(m, t->node_count + 2, sizeof *start, &start));
  CNI_TRY(take(m, t->node_count, sizeof *mark, &mark));
  CNI_TRY(take(m, most, sizeof *column, &column));
  for (int32_t pass = 0; pass < 2; pass++) {
    for (int32_t n = 0; n < t->node_count; n++) mark[n] = -1;
    for (int32_t n = 0; n < t->node_count; n++) {
      int32_t row = c->node_start[n];
      mark[n] = n;
      for (int32_t e = m->touch_start[row]; e < m->touch_start[row + 1]; e++)
        for (int32_t k = t->start[m->touch[e]]; k < t->start[m->touch[e] + 1]; k++) {
          int32_t other = t->node[k];
          if (mark[other] == n) continue;
          mark[other] = n;
          if (pass == 0)
            start[other + 2]++;
          else
            column[start[other + 1]++] = n;
        }
    }
    for (int32_t n = 0; pass == 0 && n < t->node_count; n++) start[n + 2] += start[n + 1];
  }
  c->graph = (CniLuGraph){t->node_count, t->size, start, column};
  return CN_OK;
}

// Numbers of S in the blocks of the graph.
static int64_t block_numbers(const CniLuGraph *g) {
  int64_t count = 0;
  for (int32_t i = 0; i < g->node_count; i++) {
    int32_t rows = g->size[i];
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) rows += g->size[g->column[e]];
    count += (int64_t)g->size[i] * rows;
  }
  return count;
}

static CnStatus find_structure(CniMotion *m) {
  CniSchur *c = &m->schur;
  int64_t all = (int64_t)m->active * m->active;
  Touching t = {0};
  double most;
  c->sparse = 0;
  c->key = NULL;
  if (c->lu) CNI_TRY(cni_lu_rest(c->lu));
  CNI_TRY(cni_arena_reset(&c->arena));
  CNI_TRY(find_nodes(m, &t, &most));
  if (most < 0.25 * (double)all) {
    CNI_TRY(find_neighbours(m, &t));
    CNI_TRY(take(m, block_numbers(&c->graph), sizeof *c->values, &c->values));
    if (!c->lu) CNI_TRY(cni_lu_create(&m->allocator, &c->lu));
    CNI_TRY(cni_lu_analyse(c->lu, &c->graph));
    c->sparse = cni_lu_fill(c->lu) < all / 2;
  }
  return keep_key(m);
}

// The structure of the active rows, found where it is not known yet.
static CnStatus structure(CniMotion *m) {
  CniSchur *c = &m->schur;
  if (c->known) return CN_OK;
  if (m->active < FEW_ROWS || m->groups < 2) {
    c->sparse = 0;
    c->key = NULL;
  } else if (!known_again(m)) {
    CNI_TRY(find_structure(m));
  }
  c->known = 1;
  return CN_OK;
}

// ---- numbers ----

// A block, its rows scaled, and its columns where they are to be.
static void write_block(const CniMotion *m, const double *rows_of, int32_t i, int32_t j,
                        const double *column_scale, double **to) {
  const CniSchur *c = &m->schur;
  for (int32_t r = c->node_start[i]; r < c->node_start[i + 1]; r++)
    for (int32_t s = c->node_start[j]; s < c->node_start[j + 1]; s++)
      *(*to)++ = m->row_scale[r] * entry(m, rows_of, r, s) * (column_scale ? column_scale[s] : 1);
}

static void write_blocks(const CniMotion *m, const double *rows_of, const double *column_scale) {
  const CniLuGraph *g = &m->schur.graph;
  double *to = m->schur.values;
  for (int32_t i = 0; i < g->node_count; i++) {
    write_block(m, rows_of, i, i, column_scale, &to);
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
      write_block(m, rows_of, i, g->column[e], column_scale, &to);
  }
}

// Rows are of the size of their own node's block.
static int factor_sparse(CniMotion *m, const double *rows_of) {
  CniSchur *c = &m->schur;
  for (int32_t n = 0; n < c->graph.node_count; n++)
    for (int32_t i = c->node_start[n]; i < c->node_start[n + 1]; i++) {
      double size = 0;
      for (int32_t j = c->node_start[n]; j < c->node_start[n + 1]; j++)
        size = cn_max(size, fabs(entry(m, rows_of, i, j)));
      m->row_scale[i] = size > 0 ? 1 / size : 1;
    }
  write_blocks(m, rows_of, NULL);
  return cni_lu_factor(c->lu, c->values, SINGULAR);
}

static CnStatus reserve_dense(CniMotion *m, int64_t numbers) {
  CniSchur *c = &m->schur;
  if (numbers > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "equations: more than %d numbers are needed", INT32_MAX);
  CNI_TRY(CNI_RESERVE(&m->allocator, c->pivot, c->pivot_capacity, 0, 2 * m->active + 1));
  return CNI_RESERVE(&m->allocator, c->dense, c->dense_capacity, 0, (int32_t)numbers);
}

static int factor_dense(CniMotion *m, const double *rows_of) {
  CniSchur *c = &m->schur;
  int32_t k = m->active;
  for (int32_t i = 0; i < k; i++) {
    double *row = c->dense + (int64_t)i * c->stride, size = 0;
    for (int32_t j = 0; j < k; j++) {
      row[j] = entry(m, rows_of, i, j);
      size = cn_max(size, fabs(row[j]));
    }
    m->row_scale[i] = size > 0 ? 1 / size : 1;
    for (int32_t j = 0; j < k; j++) row[j] *= m->row_scale[i];
  }
  return cni_dense_factor(cni_dense_kernels(), k, c->dense, c->stride, c->pivot, SINGULAR);
}

CnStatus cni_schur_factor(CniMotion *m, double t, const double *rows_of) {
  CniSchur *c = &m->schur;
  CNI_TRY(structure(m));
  c->stride = cni_dense_stride(m->active);
  if (!c->sparse) CNI_TRY(reserve_dense(m, (int64_t)c->stride * m->active));
  if (c->sparse ? factor_sparse(m, rows_of) : factor_dense(m, rows_of)) return CN_OK;
  return cni_error(CN_STOPPED,
                   "t = %.17g s: the constraint matrix is singular (%d active rows depend on each "
                   "other)",
                   t * cni_time_unit(m->eq), (int)m->active);
}

void cni_schur_solve(CniMotion *m, double *x) {
  CniSchur *c = &m->schur;
  if (c->sparse)
    cni_lu_solve(c->lu, x); // nodes are rows one after another: their order is that of the rows
  else
    cni_dense_solve(m->active, c->dense, c->stride, c->pivot, x);
}

// ---- as a matrix by rows ----

CnStatus cni_schur_count(CniMotion *m, int64_t *entries) {
  CNI_TRY(structure(m));
  *entries = m->schur.sparse ? block_numbers(&m->schur.graph) : (int64_t)m->active * m->active;
  return CN_OK;
}

static void write_entries(const CniMotion *m, const double *rows_of, int32_t row, int32_t begin,
                          int32_t end, int32_t **column, double **value) {
  for (int32_t j = begin; j < end; j++) {
    *(*column)++ = j;
    *(*value)++ = entry(m, rows_of, row, j);
  }
}

void cni_schur_write(const CniMotion *m, const double *rows_of, int32_t *start, int32_t *column,
                     double *values) {
  const CniSchur *c = &m->schur;
  const CniLuGraph *g = &c->graph;
  int32_t *first = column, node = 0;
  for (int32_t i = 0; i < m->active; i++) {
    start[i] = (int32_t)(column - first);
    if (!c->sparse) {
      write_entries(m, rows_of, i, 0, m->active, &column, &values);
      continue;
    }
    while (c->node_start[node + 1] <= i) node++;
    int32_t e = g->start[node];
    for (int own = 0; e < g->start[node + 1] || !own;) {
      int32_t other = e < g->start[node + 1] ? g->column[e] : INT32_MAX;
      if (!own && node < other) {
        other = node;
        own = 1;
      } else {
        e++;
      }
      write_entries(m, rows_of, i, c->node_start[other], c->node_start[other + 1], &column,
                    &values);
    }
  }
  start[m->active] = (int32_t)(column - first);
}

// ---- independent rows ----

// Do pivots in an order of little fill show already that all rows are independent?
static int all_independent(CniMotion *m) {
  for (int32_t i = 0; i < m->active; i++) {
    double own = entry(m, m->scratch_g, i, i);
    if (!(own > 0)) return 0;
    m->row_scale[i] = 1 / sqrt(own);
  }
  write_blocks(m, m->scratch_g, m->row_scale);
  return cni_lu_factor(m->schur.lu, m->schur.values, CERTAIN);
}

// L L^T by rows, those that depend on others left out. Row i of L is kept from its first entry on:
// the first kept row that shares a group with it, or anything after that.
static CnStatus keep_rows(CniMotion *m, const int32_t *rows, double share, int32_t *kept,
                          int32_t *kept_count) {
  CniSchur *c = &m->schur;
  int32_t k = 0, used = 0, n = m->active;
  CNI_TRY(CNI_RESERVE(&m->allocator, c->pivot, c->pivot_capacity, 0, 3 * n + m->groups + 1));
  double weakest = 1; // share that was left of a row that is kept
  int32_t *begin = c->pivot, *first = begin + n, *of = first + n, *group_first = of + n;
  for (int32_t g = 0; g < m->groups; g++) group_first[g] = m->active;
  for (int32_t i = 0; i < m->active; i++) {
    int32_t from = k;
    for (int32_t e = m->touch_start[i]; e < m->touch_start[i + 1]; e++)
      if (group_first[m->touch[e]] < from) from = group_first[m->touch[e]];
    if (used > INT32_MAX / 2 - m->active)
      return cni_error(CN_NO_MEMORY, "equations: more than %d numbers are needed", INT32_MAX / 2);
    CNI_TRY(CNI_RESERVE(&m->allocator, c->dense, c->dense_capacity, used, used + k + 1));
    double *row = c->dense + used, before = entry(m, m->scratch_g, i, i), after = before;
    for (int32_t j = from; j < k; j++) {
      const double *other = c->dense + begin[j];
      int32_t low = from > first[j] ? from : first[j];
      double sum = entry(m, m->scratch_g, of[j], i);
      for (int32_t p = low; p < j; p++) sum -= row[p - from] * other[p - first[j]];
      row[j - from] = sum / other[j - first[j]];
      after -= row[j - from] * row[j - from];
    }
    if (!(after > cn_max(share, NOISE / weakest) * before)) continue;
    weakest = cn_min(weakest, after / before);
    row[k - from] = sqrt(after);
    begin[k] = used;
    first[k] = from;
    of[k] = i;
    for (int32_t e = m->touch_start[i]; e < m->touch_start[i + 1]; e++)
      if (group_first[m->touch[e]] > k) group_first[m->touch[e]] = k;
    used += k - from + 1;
    kept[k++] = rows[i];
  }
  *kept_count = k;
  return CN_OK;
}

// What the search works with; *all: there is nothing to search for.
static CnStatus begin_search(CniMotion *m, double t, const double *q, const int32_t *rows,
                             int32_t count, int *all) {
  CNI_TRY(cni_motion_set_rows(m, rows, NULL, count));
  CNI_TRY(cni_motion_mass(m, t, q));
  CNI_TRY(cni_motion_jacobian(m, t, q, m->scratch_g, m->scratch_rate));
  cni_motion_directions(m, m->scratch_g);
  CNI_TRY(structure(m));
  *all = m->schur.sparse && all_independent(m);
  return CN_OK;
}

static void keep_all(const CniMotion *m, int32_t *kept, int32_t *kept_count) {
  memmove(kept, m->list, (size_t)m->active * sizeof *kept);
  *kept_count = m->active;
}

CnStatus cni_motion_independent(CniMotion *m, double t, const double *q, const int32_t *rows,
                                int32_t count, double share, int32_t *kept, int32_t *kept_count) {
  int all;
  CNI_TRY(begin_search(m, t, q, rows, count, &all));
  if (!all) return keep_rows(m, m->list, share, kept, kept_count);
  keep_all(m, kept, kept_count);
  return CN_OK;
}

// L L^T with the largest share left as the next pivot; `rest` is what is left of the matrix, `column` that
// of the pivot, mostly zeros: rows feel few others. Marks what is taken; there is room for as many more.
static void take_strongest(CniMotion *m, double *rest, double *left, double *own, double *column,
                           int32_t *taken) {
  int32_t n = m->active, *felt = taken + n;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) rest[(int64_t)i * n + j] = entry(m, m->scratch_g, i, j);
    own[i] = left[i] = rest[(int64_t)i * n + i];
    taken[i] = 0;
  }
  for (int32_t k = 0; k < n; k++) {
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++)
      if (!taken[i] && left[i] > RANK * own[i] &&
          (best < 0 || left[i] * own[best] > left[best] * own[i]))
        best = i;
    if (best < 0) break;
    taken[best] = 1;
    double root = sqrt(left[best]);
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
      double x = rest[(int64_t)i * n + best];
      if (taken[i] || x == 0) continue;
      column[i] = x / root;
      left[i] -= column[i] * column[i];
      felt[count++] = i;
    }
    for (int32_t i = 0; i < count; i++) {
      double *row = rest + (int64_t)felt[i] * n, factor = column[felt[i]];
      for (int32_t j = 0; j < count; j++) row[felt[j]] -= factor * column[felt[j]];
    }
  }
}

CnStatus cni_motion_strongest(CniMotion *m, double t, const double *q, const int32_t *rows,
                              int32_t count, int32_t *kept, int32_t *kept_count) {
  CniSchur *c = &m->schur;
  int all;
  CNI_TRY(begin_search(m, t, q, rows, count, &all));
  if (!all && count > MANY_ROWS) return keep_rows(m, m->list, CNI_SHARE_MOVES, kept, kept_count);
  keep_all(m, kept, kept_count);
  if (all || count == 0) return CN_OK;
  CNI_TRY(reserve_dense(m, (int64_t)count * count + 3 * count));
  double *left = c->dense + (int64_t)count * count, *own = left + count;
  *kept_count = 0;
  take_strongest(m, c->dense, left, own, own + count, c->pivot);
  for (int32_t i = 0; i < count; i++)
    if (c->pivot[i]) kept[(*kept_count)++] = m->list[i]; // as they were given
  return CN_OK;
}
