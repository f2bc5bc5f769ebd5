// SPDX-License-Identifier: Apache-2.0
// The drift along trees: joints that close loops. Which coordinates they tell from others, and what they pull along
// coordinates.
#include "assembly/drift/along.h"

#include <string.h>

#define PIVOT 1e-4   // of the largest: rows of loops are independent,
#define NOTHING 1e-8 // or depend on others
#define AGREE 1e3    // of what may be left: rows that depend on others

// Where the point of a node's joint is: at the end, and in the mean.
static CnVec3 point_of(const CniAlong *t, const CniAlongNode *node, int at_end) {
  CnVec3 from = t->d->in->pose[t->d->bodies[node->body].body].position;
  if (at_end) return cn_add(cn_add(from, node->way), cn_madd(node->arm, 2, node->bend));
  return cn_add(cn_madd(from, 0.5, node->way), cn_add(cn_add(node->arm, node->rest), node->bend));
}

// The axis of a hinge at the end, and the direction that its couples, along the lines of a, leave.
CnVec3 cni_along_axis_now(const CniAlong *t, const CniAlongNode *node) {
  const CniAlongNode *parent = cni_along_parent(t, node);
  return parent ? cni_along_turned(parent->g, parent->f, node->axis) : node->axis;
}
CnVec3 cni_along_free_direction(const CniAlong *t, const CniAlongNode *node) {
  const CniAlongNode *a = node->side ? cni_along_parent(t, node) : node;
  return a ? cn_add(node->axis, cn_cross(a->g, node->axis)) : node->axis;
}

static CnVec3 loop_change(const CniAlong *t, const CniAlongLoop *loop, int32_t side) {
  int32_t i = loop->nodes[side];
  if (i < 0) return CN_VEC3_ZERO;
  const CniAlongNode *node = &t->nodes[i];
  return cn_madd(node->way, 2, cni_along_change(node->g, node->f, loop->arms[side]));
}

// How far a loop is open, over its size, to its rows.
static void look_at_loop(const CniAlong *t, const CniAlongLoop *loop, double *row) {
  CnVec3 b = loop_change(t, loop, 1), a = loop_change(t, loop, 0);
  CnVec3 gap = cn_scale(1 / loop->size, cn_sub(cn_sub(b, a), loop->shift));
  row[0] = gap.x;
  row[1] = gap.y;
  row[2] = gap.z;
  if (loop->dim == 3) return;
  int32_t i = loop->nodes[0];
  CnVec3 from = cn_add(loop->axis, cn_cross(loop->lean, loop->axis));
  CnVec3 turn =
      cn_cross(cni_along_turned_at(t, i, from), cni_along_turned_at(t, loop->nodes[1], loop->axis));
  row[3] = cn_dot(cni_along_turned_at(t, i, loop->lines[0]), turn);
  row[4] = cn_dot(cni_along_turned_at(t, i, loop->lines[1]), turn);
}

// Columns of coordinates of a node in rows of a loop, from where its joint is.
static void write_columns(const CniAlong *t, const CniAlongGroup *group, const CniAlongLoop *loop,
                          int32_t index, double sign, int at_end, double *matrix) {
  const CniAlongNode *node = &t->nodes[index];
  int32_t n = group->columns;
  CnVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (node->count == 1)
    axes[0] = at_end ? cni_along_axis_now(t, node) : cni_along_free_direction(t, node);
  int32_t side = sign > 0, end = loop->nodes[side];
  CnVec3 point, at = point_of(t, node, at_end);
  const CniAlongNode *body = &t->nodes[end];
  point = t->d->in->pose[t->d->bodies[body->body].body].position;
  if (at_end)
    point = cn_add(cn_add(point, body->way), cni_along_turned_at(t, end, loop->arms[side]));
  else
    point = cn_add(cn_madd(point, 0.5, body->way), loop->means[side]);
  CnVec3 arm = cn_scale(1 / loop->size, cn_sub(point, at));
  for (int32_t k = 0; k < node->count; k++) {
    double *to = matrix + (size_t)loop->row * (size_t)n + t->column_of[node->at + k];
    CnVec3 move = cn_scale(sign, cn_cross(axes[k], arm)), axis = cn_scale(sign, axes[k]);
    to[0] = move.x;
    to[n] = move.y;
    to[2 * n] = move.z;
    if (loop->dim == 3) continue;
    for (int32_t r = 0; r < 2; r++) {
      CnVec3 line =
          at_end ? cni_along_turned_at(t, loop->nodes[0], loop->lines[r]) : loop->mean_lines[r];
      to[(3 + r) * n] = cn_dot(line, axis);
    }
  }
}

// Arms of force and reaction, and lines of couples.
void cni_along_find_lines(const CniAlong *t, CniAlongLoop *loop) {
  for (int32_t side = 0; side < 2; side++)
    loop->means[side] =
        cn_add(cni_along_mean_at(t, loop->nodes[side], loop->arms[side]), loop->rest[side]);
  for (int32_t r = 0; r < 2 && loop->dim > 3; r++)
    loop->mean_lines[r] = cni_along_mean_at(t, loop->nodes[0], loop->lines[r]);
}

static void write_group(const CniAlong *t, CniAlongGroup *group) {
  size_t size = (size_t)group->rows * (size_t)group->columns;
  memset(group->ways, 0, size * sizeof *group->ways);
  memset(group->pulls, 0, size * sizeof *group->pulls);
  for (int32_t i = group->loop_begin; i < group->loop_end; i++) {
    CniAlongLoop *loop = &t->loops[t->loop_list[i]];
    cni_along_find_lines(t, loop);
    for (int32_t side = 0; side < 2; side++)
      for (int32_t k = loop->nodes[side]; k != loop->meet; k = t->nodes[k].parent) {
        if (t->nodes[k].count == 0) continue;
        write_columns(t, group, loop, k, side ? 1 : -1, 1, group->ways);
        write_columns(t, group, loop, k, side ? 1 : -1, 0, group->pulls);
      }
  }
}

static void swap_rows(double *a, int32_t n, int32_t i, int32_t j) {
  for (int32_t c = 0; c < n && i != j; c++) CNI_SWAP(double, a[i * n + c], a[j * n + c]);
}
static void swap_columns(double *a, int32_t m, int32_t n, int32_t i, int32_t j) {
  for (int32_t r = 0; r < m && i != j; r++) CNI_SWAP(double, a[r * n + i], a[r * n + j]);
}

// Rows and columns k take the largest number that is left; returns it.
static double find_pivot(CniAlongGroup *group, int32_t k) {
  int32_t m = group->rows, n = group->columns, row = k, column = k;
  double most = 0, *a = group->ways;
  for (int32_t r = k; r < m; r++)
    for (int32_t c = k; c < n; c++)
      if (fabs(a[r * n + c]) > most) {
        most = fabs(a[r * n + c]);
        row = r;
        column = c;
      }
  if (!(most > 0)) return 0;
  CNI_SWAP(int32_t, group->row[k], group->row[row]);
  CNI_SWAP(int32_t, group->column[k], group->column[column]);
  swap_rows(a, n, k, row);
  swap_rows(group->pulls, n, k, row);
  swap_columns(a, m, n, k, column);
  swap_columns(group->pulls, m, n, k, column);
  return most;
}

// Row k from the rows behind it: multipliers stay below the diagonal, on which the inverse is kept.
static void eliminate(double *a, int32_t m, int32_t n, int32_t k) {
  const double *from = a + (size_t)k * (size_t)n;
  double inverse = 1 / from[k];
  for (int32_t r = k + 1; r < m; r++) {
    double *to = a + (size_t)r * (size_t)n, l = to[k] * inverse;
    to[k] = l;
    for (int32_t c = k + 1; c < n; c++) to[c] -= l * from[c];
  }
  a[(size_t)k * (size_t)n + (size_t)k] = inverse;
}

// Rows and coordinates of a group in the order of their pivots; 0: it is not clear how many tell how many.
int cni_along_factor_group(const CniAlong *t, CniAlongGroup *group) {
  double most = 0;
  write_group(t, group);
  for (int32_t r = 0; r < group->rows; r++) group->row[r] = r;
  for (int32_t i = group->node_begin; i < group->node_end; i++) {
    const CniAlongNode *node = &t->nodes[t->node_list[i]];
    for (int32_t k = node->at; k < node->at + node->count; k++) group->column[t->column_of[k]] = k;
  }
  group->rank = 0;
  while (group->rank < group->rows && group->rank < group->columns) {
    double pivot = find_pivot(group, group->rank);
    most = cn_max(most, pivot);
    if (pivot <= NOTHING * most) break;
    if (!(pivot > PIVOT * most)) return 0;
    eliminate(group->ways, group->rows, group->columns, group->rank++);
  }
  for (int32_t k = 0; k < group->rank; k++) {
    if (!(fabs(group->pulls[k * group->columns + k]) > 0)) return 0;
    eliminate(group->pulls, group->rank, group->columns, k);
  }
  return 1;
}

double *cni_along_impulse(const CniAlong *t, const CniAlongGroup *group, int32_t row,
                          double *size) {
  int32_t i = group->loop_begin, own = group->row[row];
  while (own >= t->loops[t->loop_list[i]].row + t->loops[t->loop_list[i]].dim) i++;
  CniAlongLoop *loop = &t->loops[t->loop_list[i]];
  own -= loop->row;
  *size = own < 3 ? loop->size : 1;
  return &loop->impulse[own];
}

void cni_along_begin_pulls(const CniAlongGroup *group, double *x) {
  int32_t n = group->columns;
  const double *a = group->pulls;
  for (int32_t k = 0; k < group->rank; k++) {
    for (int32_t j = 0; j < k; j++) x[k] -= a[j * n + k] * x[j];
    x[k] *= a[k * n + k];
  }
}
void cni_along_end_pulls(const CniAlongGroup *group, double *x) {
  int32_t n = group->columns;
  const double *a = group->pulls;
  for (int32_t k = group->rank; k-- > 0;)
    for (int32_t j = k + 1; j < group->rank; j++) x[k] -= a[j * n + k] * x[j];
}

// Impulses of loops leave nothing along the coordinates that these tell: what there is along the others then.
void cni_along_pull_loops(CniAlong *t) {
  for (int32_t i = 0; i < t->group_count; i++) {
    const CniAlongGroup *group = &t->groups[i];
    int32_t n = group->columns, rank = group->rank;
    double *x = t->row;
    for (int32_t k = 0; k < rank; k++) x[k] = t->pulled[group->column[k]];
    cni_along_begin_pulls(group, x);
    for (int32_t k = 0; k < rank; k++) t->pulled[group->column[k]] = 0;
    for (int32_t c = rank; c < n; c++)
      for (int32_t k = 0; k < rank; k++)
        t->pulled[group->column[c]] -= group->pulls[k * n + c] * x[k];
    cni_along_end_pulls(group, x);
    for (int32_t k = 0; k < rank; k++) {
      double size, *impulse = cni_along_impulse(t, group, k, &size);
      *impulse += x[k] / size;
    }
  }
}

// Changes of coordinates that loops tell, by how far these are open and by those of the others, which are there;
// returns how far they are open, over their sizes.
double cni_along_close_loops(CniAlong *t) {
  double worst = 0;
  for (int32_t i = 0; i < t->group_count; i++) {
    const CniAlongGroup *group = &t->groups[i];
    int32_t n = group->columns, rank = group->rank;
    double *open = t->row, *x = t->row_lanes;
    for (int32_t k = group->loop_begin; k < group->loop_end; k++) {
      CniAlongLoop *loop = &t->loops[t->loop_list[k]];
      look_at_loop(t, loop, open + loop->row);
    }
    for (int32_t r = 0; r < rank; r++) {
      const double *a = group->ways + (size_t)r * (size_t)n;
      x[r] = open[group->row[r]];
      worst = cn_max(worst, fabs(x[r]));
      for (int32_t c = 0; c < r; c++) x[r] -= a[c] * x[c];
    }
    for (int32_t r = rank; r-- > 0;) {
      const double *a = group->ways + (size_t)r * (size_t)n;
      double sum = x[r];
      for (int32_t c = r + 1; c < n; c++) sum += a[c] * t->change[group->column[c]];
      t->change[group->column[r]] = -sum * a[r];
    }
  }
  return worst;
}

// Rows that depend on others have come along with them.
int cni_along_is_closed(const CniAlong *t) {
  for (int32_t i = 0; i < t->loop_count; i++) {
    double row[5];
    look_at_loop(t, &t->loops[i], row);
    for (int32_t r = 0; r < t->loops[i].dim; r++)
      if (!(fabs(row[r]) <= AGREE * CNI_DRIFT_LINES)) return 0;
  }
  return 1;
}
