// SPDX-License-Identifier: Apache-2.0
// The drift along trees: the matrix of the coordinates that no loop tells, eight motions at a time.
#include "assembly/drift/along.h"

#include <string.h>

#define SINGULAR 1e-14 // pivot of a coordinate, of its row
#define LANES CNI_ALONG_LANES
#define EACH(k) for (int32_t k = 0; k < LANES; k++)

// How the momentum L1 - L0 of a node changes with turns at the end.
static CnMat3 slope_of(const CniAlongNode *node) {
  const CnVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  CnVec3 w = cn_madd(cn_scale(4 / node->turn, node->g), -1, node->spin), g = node->g;
  CnVec3 end = cni_along_turned(g, node->f, cn_smul(node->inertia, w)), columns[3];
  for (int32_t k = 0; k < 3; k++) {
    CnVec3 more = cn_madd(cn_add(axes[k], cn_cross(axes[k], g)), cn_dot(g, axes[k]), g);
    more = cni_along_turned(g, node->f, cn_smul(node->inertia, more));
    columns[k] = cn_madd(cn_cross(axes[k], end), 2 / node->turn, more);
  }
  return (CnMat3){columns[0], columns[1], columns[2]};
}

// Coordinates that loops tell follow the others.
static void follow_lanes(CniAlong *t) {
  for (int32_t i = 0; i < t->group_count; i++) {
    const CniAlongGroup *group = &t->groups[i];
    int32_t n = group->columns;
    for (int32_t r = group->rank; r-- > 0;) {
      double *own = t->lanes + (size_t)LANES * (size_t)group->column[r];
      const double *a = group->ways + (size_t)r * (size_t)n;
      EACH(k) own[k] = 0;
      for (int32_t c = r + 1; c < n; c++) {
        const double *other = t->lanes + (size_t)LANES * (size_t)group->column[c];
        EACH(k) own[k] -= a[c] * other[k];
      }
      EACH(k) own[k] *= a[r];
    }
  }
}

// What is along these goes to the others.
static void hand_lanes(CniAlong *t) {
  for (int32_t i = 0; i < t->group_count; i++) {
    const CniAlongGroup *group = &t->groups[i];
    int32_t n = group->columns;
    for (int32_t r = 0; r < group->rank; r++) {
      const double *a = group->pulls + (size_t)r * (size_t)n;
      double *own = t->lanes + (size_t)LANES * (size_t)group->column[r];
      EACH(k) own[k] *= a[r];
      for (int32_t c = r + 1; c < n; c++) {
        double *other = t->lanes + (size_t)LANES * (size_t)group->column[c];
        EACH(k) other[k] -= a[c] * own[k];
      }
    }
  }
}

static void swap_rows(double *a, int32_t n, int32_t i, int32_t j) {
  for (int32_t c = 0; c < n && i != j; c++) CNI_SWAP(double, a[i * n + c], a[j * n + c]);
}

// L U of a full matrix, rows as their pivots come; 0: it is singular.
static int factor_matrix(CniAlong *t) {
  int32_t n = t->free_count;
  double *a = t->matrix;
  for (int32_t k = 0; k < n; k++) {
    int32_t best = k;
    double size = 0;
    for (int32_t r = k + 1; r < n; r++)
      if (fabs(a[r * n + k]) > fabs(a[best * n + k])) best = r;
    t->pivot[k] = best;
    swap_rows(a, n, k, best);
    for (int32_t c = k; c < n; c++) size = cn_max(size, fabs(a[k * n + c]));
    if (!(fabs(a[k * n + k]) > SINGULAR * size)) return 0;
    double inverse = 1 / a[k * n + k];
    for (int32_t r = k + 1; r < n; r++) {
      double l = a[r * n + k] *= inverse;
      for (int32_t c = k + 1; c < n; c++) a[r * n + c] -= l * a[k * n + c];
    }
    a[k * n + k] = inverse; // is kept
  }
  return 1;
}

void cni_along_solve_matrix(const CniAlong *t, double *x) {
  int32_t n = t->free_count;
  const double *a = t->matrix;
  for (int32_t k = 0; k < n; k++) CNI_SWAP(double, x[k], x[t->pivot[k]]);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
  for (int32_t i = n; i-- > 0;) {
    for (int32_t j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] *= a[i * n + i];
  }
}

static void prepare(const CniAlong *t) {
  for (int32_t i = 0; i < t->node_count; i++) {
    CniAlongNode *node = &t->nodes[i];
    node->slope = slope_of(node);
    node->end = cn_madd(node->arm, 2, node->bend);
    node->other_end = cn_madd(node->parent_arm, 2, node->other_bend);
    node->mean = cn_add(cn_add(node->arm, node->rest), node->bend);
    node->other_mean = cn_add(cn_add(node->parent_arm, node->other_rest), node->other_bend);
    if (node->count != 1) continue;
    node->axis_end = cni_along_axis_now(t, node);
    node->free = cni_along_free_direction(t, node);
  }
}

int cni_along_make_matrix(CniAlong *t) {
  int32_t n = t->free_count;
  prepare(t);
  for (int32_t first = 0; first < n; first += LANES) {
    memset(t->lanes, 0, (size_t)(LANES * t->coordinate_count) * sizeof *t->lanes);
    for (int32_t i = 0; i < t->coordinate_count; i++)
      if (t->free_of[i] >= first && t->free_of[i] < first + LANES)
        t->lanes[LANES * i + t->free_of[i] - first] = 1;
    follow_lanes(t);
    t->kernels->move(t);
    hand_lanes(t);
    for (int32_t i = 0; i < t->coordinate_count; i++)
      for (int32_t k = first; t->free_of[i] >= 0 && k < n && k < first + LANES; k++)
        t->matrix[t->free_of[i] * n + k] = t->lanes[LANES * i + k - first];
  }
  return factor_matrix(t);
}

int cni_along_choose_free(CniAlong *t) {
  t->free_count = 0;
  for (int32_t i = 0; i < t->coordinate_count; i++) t->free_of[i] = 0;
  for (int32_t i = 0; i < t->group_count; i++)
    for (int32_t k = 0; k < t->groups[i].rank; k++) t->free_of[t->groups[i].column[k]] = -1;
  for (int32_t i = 0; i < t->coordinate_count; i++)
    if (t->free_of[i] == 0) t->free_of[i] = t->free_count++;
  return t->free_count <= CNI_ALONG_FREE;
}
