// SPDX-License-Identifier: Apache-2.0
// Numbers of lu.h: fronts are filled, eliminated and added to their parents.
//
// A front holds the rows and columns of its pivots and of the border they touch. What the pivots do
// to the border (the update) waits on a stack until the parent takes it: with children before
// parents it lies on top. Everything is done in one fixed order.
#include "sparse/lu_private.h"

#include <string.h>

#define NARROW 8 // columns of L that are solved for together

CnStatus cni_lu_create(const CnAllocator *allocator, CniLu **lu) {
  CniLu *made = cni_allocate(allocator, sizeof *made);
  *lu = made;
  if (!made) return cni_error_memory(sizeof *made);
  memset(made, 0, sizeof *made);
  made->allocator = *allocator;
  made->kernels = cni_dense_kernels();
  cni_arena_init(&made->arena, allocator);
  return CN_OK;
}

void cni_lu_destroy(CniLu *lu) {
  if (!lu) return;
  CnAllocator allocator = lu->allocator;
  cni_arena_release(&lu->arena);
  CNI_RELEASE(&allocator, lu->member, lu->member_capacity);
  cni_release(&allocator, lu, sizeof *lu);
}

int64_t cni_lu_fill(const CniLu *lu) { return lu->fill; }

double cni_lu_flops(const CniLu *lu) {
  double sum = 0;
  for (int32_t i = 0; i < lu->front_count; i++) {
    double p = lu->fronts[i].pivots, b = lu->fronts[i].border;
    sum += 2. / 3 * p * p * p + 2 * p * p * b + 2 * p * b * b;
  }
  return sum;
}

// Where the blocks of the values begin, and which are mates.
static CnStatus place_blocks(CniLu *lu) {
  const CniLuGraph *g = lu->graph;
  int64_t n = g->node_count, edges = n > 0 ? g->start[n] : 0, at = 0;
  int32_t row = 0;
  CNI_TRY(CNI_LAY(&lu->arena, CNI_ARRAY(n, lu->row), CNI_ARRAY(n, lu->local),
                  CNI_ARRAY(n, lu->diagonal), CNI_ARRAY(edges, lu->entry),
                  CNI_ARRAY(edges, lu->mate)));
  for (int32_t i = 0; i < n; i++) {
    lu->row[i] = row;
    row += g->size[i];
    lu->local[i] = g->start[i]; // the next neighbour whose mate is to come
    lu->diagonal[i] = at;
    at += (int64_t)g->size[i] * g->size[i];
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
      lu->entry[e] = at;
      at += (int64_t)g->size[i] * g->size[g->column[e]];
    }
  }
  // neighbours ascend: the nodes i that name j come in the order of j's own list
  for (int32_t i = 0; i < n; i++)
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) lu->mate[e] = lu->local[g->column[e]]++;
  return CN_OK;
}

CnStatus cni_lu_analyse(CniLu *lu, const CniLuGraph *graph) {
  lu->graph = graph;
  CNI_TRY(cni_arena_reset(&lu->arena));
  CNI_TRY(cni_lu_order(lu));
  CNI_TRY(place_blocks(lu));
  return CNI_LAY(&lu->arena, CNI_ARRAY(lu->size, lu->pivot), CNI_ARRAY(lu->size + 8, lu->x),
                 CNI_ARRAY(lu->fill, lu->factor), CNI_ARRAY(lu->front_size, lu->front),
                 CNI_ARRAY(lu->stack_size, lu->stack));
}

CnStatus cni_lu_rest(CniLu *lu) {
  lu->graph = NULL;
  return cni_arena_reset(&lu->arena);
}

// ---- filling ----

static void add_block(double *a, int32_t stride, const double *block, int32_t rows,
                      int32_t columns) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++) a[(int64_t)i * stride + j] += block[i * columns + j];
}

// The matrix's own numbers: blocks of the pivots with themselves and with what comes later. A row
// and the column of the same number are apart by the gap between pivots and border.
static void fill_front(CniLu *lu, const CniFront *f, const double *values) {
  const CniLuGraph *g = lu->graph;
  int32_t stride = cni_front_stride(f), gap = cni_front_border(f) - f->pivots, at = 0;
  const int32_t *nodes = lu->nodes + f->node_start;
  for (int32_t k = 0; k < f->pivot_nodes + f->border_nodes; k++) {
    lu->local[nodes[k]] = at;
    at += g->size[nodes[k]];
  }
  memset(lu->front, 0, (size_t)(f->pivots + f->border) * (size_t)stride * sizeof *lu->front);
  for (int32_t k = 0; k < f->pivot_nodes; k++) {
    int32_t i = nodes[k], row = lu->local[i], size = g->size[i];
    add_block(lu->front + (int64_t)row * stride + row, stride, values + lu->diagonal[i], size,
              size);
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
      int32_t j = g->column[e], other = lu->local[j];
      if (lu->place[j] < lu->place[i]) continue;
      int32_t column = other < f->pivots ? other : other + gap;
      add_block(lu->front + (int64_t)row * stride + column, stride, values + lu->entry[e], size,
                g->size[j]);
      add_block(lu->front + (int64_t)other * stride + row, stride, values + lu->entry[lu->mate[e]],
                g->size[j], size);
    }
  }
}

// Border nodes of a child from `k` on whose places in the front at hand follow each other; returns
// the next, and the rows of these in *count.
static int32_t find_run(const CniLu *lu, const CniFront *f, const CniFront *child, int32_t k,
                        int32_t *count) {
  const int32_t *size = lu->graph->size,
                *nodes = lu->nodes + child->node_start + child->pivot_nodes;
  int32_t at = lu->local[nodes[k]], sum = 0, pivots = at < f->pivots;
  while (k < child->border_nodes && lu->local[nodes[k]] == at + sum &&
         (lu->local[nodes[k]] < f->pivots) == pivots)
    sum += size[nodes[k++]];
  *count = sum;
  return k;
}

// A child's update into the front at hand.
static void add_update(CniLu *lu, const CniFront *f, const CniFront *child, const double *update) {
  const int32_t *nodes = lu->nodes + child->node_start + child->pivot_nodes;
  int32_t stride = cni_front_stride(f), gap = cni_front_border(f) - f->pivots;
  int32_t rows = child->border, column = 0;
  for (int32_t b = 0, count; b < child->border_nodes; column += count) {
    int32_t at = lu->local[nodes[b]], row = 0;
    if (at >= f->pivots) at += gap;
    b = find_run(lu, f, child, b, &count);
    for (int32_t a = 0; a < child->border_nodes; a++) {
      double *to = lu->front + (int64_t)lu->local[nodes[a]] * stride + at;
      for (int32_t i = 0; i < lu->graph->size[nodes[a]]; i++, row++) {
        const double *from = update + (int64_t)row * rows + column;
        for (int32_t j = 0; j < count; j++) to[j] += from[j];
        to += stride;
      }
    }
  }
}

// ---- elimination ----

// Rows of L below the pivots: x U = a for every row of the border, a few columns at a time, so that
// all but the last triangle of each is one wide product.
static void lower_rows(const CniDenseKernels *kernels, const CniFront *f, double *a) {
  int32_t stride = cni_front_stride(f), k = f->pivots, m = f->border;
  double *rows = a + (int64_t)k * stride;
  for (int32_t first = 0; first < k; first += NARROW) {
    int32_t last = first + NARROW < k ? first + NARROW : k;
    if (first > 0)
      kernels->multiply(m, last - first, first, rows, stride, a + first, stride, rows + first,
                        stride);
    for (int32_t j = first; j < last; j++) {
      const double *u = a + (int64_t)j * stride;
      double inverse = 1 / u[j];
      for (int32_t r = 0; r < m; r++) {
        double *row = rows + (int64_t)r * stride;
        double x = row[j] *= inverse;
        for (int32_t c = j + 1; c < last; c++) row[c] -= x * u[c];
      }
    }
  }
}

// Pivots of the front at hand: factors in place, the update in its border.
static int eliminate(CniLu *lu, const CniFront *f, double least) {
  int32_t stride = cni_front_stride(f), k = f->pivots, m = f->border, begin = cni_front_border(f);
  int32_t *pivot = lu->pivot + f->first_row;
  double *a = lu->front;
  if (!cni_dense_factor(lu->kernels, k, a, stride, pivot, least)) return 0;
  if (m == 0) return 1;
  for (int32_t i = 0; i < k; i++)
    if (pivot[i] != i)
      cni_dense_swap(a + (int64_t)i * stride + begin, a + (int64_t)pivot[i] * stride + begin, m);
  // rows of U right of the pivots
  for (int32_t i = 1; i < k; i++) {
    double *row = a + (int64_t)i * stride;
    for (int32_t j = 0; j < i; j++)
      if (row[j] != 0) lu->kernels->axpy(m, -row[j], a + (int64_t)j * stride + begin, row + begin);
  }
  lower_rows(lu->kernels, f, a);
  lu->kernels->multiply(m, m, k, a + (int64_t)k * stride, stride, a + begin, stride,
                        a + (int64_t)k * stride + begin, stride);
  return 1;
}

// Factors to where they stay, the update to the stack.
static void keep(CniLu *lu, const CniFront *f, double *update) {
  int32_t stride = cni_front_stride(f), k = f->pivots, m = f->border, begin = cni_front_border(f);
  double *to = lu->factor + f->factor;
  memcpy(to, lu->front, (size_t)k * (size_t)stride * sizeof *to);
  to += (int64_t)k * stride;
  for (int32_t i = 0; i < m; i++) {
    const double *row = lu->front + (int64_t)(k + i) * stride;
    memcpy(to + (int64_t)i * cni_front_l_stride(f), row, (size_t)k * sizeof *to);
    memcpy(update + (int64_t)i * m, row + begin, (size_t)m * sizeof *to);
  }
}

int cni_lu_factor(CniLu *lu, const double *values, double least) {
  double *top = lu->stack;
  for (int32_t k = 0; k < lu->front_count; k++) {
    const CniFront *f = &lu->fronts[k];
    fill_front(lu, f, values);
    // children end right before their parent, the last one first
    int32_t child = k - 1;
    for (int32_t c = 0; c < f->children; c++) {
      const CniFront *from = &lu->fronts[child];
      top -= (int64_t)from->border * from->border;
      add_update(lu, f, from, top);
      child = from->subtree - 1;
    }
    if (!eliminate(lu, f, least)) return 0;
    keep(lu, f, top);
    top += (int64_t)f->border * f->border;
  }
  return 1;
}

// ---- solutions ----

// x of the pivots and of the border, with the exchanges and L.
static void forward(const CniLu *lu, const CniFront *f, double *x) {
  int32_t stride = cni_front_stride(f), k = f->pivots, l_stride = cni_front_l_stride(f);
  const int32_t *pivot = lu->pivot + f->first_row, *size = lu->graph->size;
  const int32_t *border = lu->nodes + f->node_start + f->pivot_nodes;
  const double *a = lu->factor + f->factor, *l = a + (int64_t)k * stride;
  double *y = x + f->first_row;
  for (int32_t i = 0; i < k; i++) CNI_SWAP(double, y[pivot[i]], y[i]);
  for (int32_t i = 1; i < k; i++) {
    const double *row = a + (int64_t)i * stride;
    double sum = y[i];
    for (int32_t j = 0; j < i; j++) sum -= row[j] * y[j];
    y[i] = sum;
  }
  for (int32_t b = 0; b < f->border_nodes; b++) {
    double *z = x + lu->local[border[b]];
    for (int32_t i = 0; i < size[border[b]]; i++, l += l_stride) {
      double sum = z[i];
      for (int32_t j = 0; j < k; j++) sum -= l[j] * y[j];
      z[i] = sum;
    }
  }
}

static void backward(const CniLu *lu, const CniFront *f, double *x) {
  int32_t stride = cni_front_stride(f), k = f->pivots, begin = cni_front_border(f);
  const int32_t *border = lu->nodes + f->node_start + f->pivot_nodes, *size = lu->graph->size;
  const double *a = lu->factor + f->factor;
  double *y = x + f->first_row;
  for (int32_t i = k - 1; i >= 0; i--) {
    const double *row = a + (int64_t)i * stride, *u = row + begin;
    double sum = y[i];
    for (int32_t b = 0; b < f->border_nodes; b++) {
      const double *z = x + lu->local[border[b]];
      for (int32_t j = 0; j < size[border[b]]; j++) sum -= *u++ * z[j];
    }
    for (int32_t j = i + 1; j < k; j++) sum -= row[j] * y[j];
    y[i] = sum / row[i];
  }
}

void cni_lu_solve(CniLu *lu, double *x) {
  const CniLuGraph *g = lu->graph;
  // in the order of elimination: `local` is now a node's row there
  for (int32_t k = 0; k < lu->front_count; k++) {
    const CniFront *f = &lu->fronts[k];
    int32_t at = f->first_row;
    for (int32_t j = 0; j < f->pivot_nodes; j++) {
      int32_t node = lu->nodes[f->node_start + j];
      lu->local[node] = at;
      memcpy(lu->x + at, x + lu->row[node], (size_t)g->size[node] * sizeof *x);
      at += g->size[node];
    }
  }
  for (int32_t k = 0; k < lu->front_count; k++) forward(lu, &lu->fronts[k], lu->x);
  for (int32_t k = lu->front_count - 1; k >= 0; k--) backward(lu, &lu->fronts[k], lu->x);
  for (int32_t i = 0; i < g->node_count; i++)
    memcpy(x + lu->row[i], lu->x + lu->local[i], (size_t)g->size[i] * sizeof *x);
}
