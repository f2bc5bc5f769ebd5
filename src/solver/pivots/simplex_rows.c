// SPDX-License-Identifier: Apache-2.0
// A problem as the scalar rows of the simplex: cones become pyramids, W becomes a compliance.
//
// A friction cone with k facets is the convex hull of k rays: g = sum_j beta_j (1, mu d_j) with
// beta >= 0 and d_j the unit vectors at angles 2 pi j/k, and the row of beta_j is
// e_j = E_n + mu d_j . E_t. In the plane there are two such rays and the cone is exact. The rays
// lie on the cone, so the pyramid is inside it and meets it there; between them it falls short by
// mu g_n (1 - cos(pi/k)), about mu g_n 5/k^2.
#include "solver/pivots/simplex.h"

#include "core/math.h"
#include "core/vec.h"

#include <string.h>

// Rays of a block's pyramid, one without friction; 0: no cone.
static int32_t ray_count(const CnProblem *p, const CniBlock *block, int32_t facets) {
  if (block->kind != CN_BLOCK_FRICTION_2D && block->kind != CN_BLOCK_FRICTION) return 0;
  if (p->sets[block->set].mu == 0) return 1;
  return block->kind == CN_BLOCK_FRICTION_2D ? 2 : facets;
}

// Direction of ray j of k; the four on the axes are exact.
static void ray_direction(int32_t j, int32_t k, double *x, double *y) {
  if (j % k * 4 % k == 0) {
    int32_t quarter = j % k * 4 / k;
    *x = quarter == 0 ? 1 : quarter == 2 ? -1 : 0;
    *y = quarter == 1 ? 1 : quarter == 3 ? -1 : 0;
    return;
  }
  *x = cni_cos(2 * CNI_PI * j / k);
  *y = cni_sin(2 * CNI_PI * j / k);
}

// ---- the rows ----

static void add_from(CniSimplexRows *r, int32_t *end, int32_t row, double weight) {
  r->from[*end] = row;
  r->weight[(*end)++] = weight;
}

static void set_block(CniSimplexRows *r, const CnProblem *p, const CniBlock *block, int32_t facets,
                      int32_t *row, int32_t *end) {
  const CnSet *set = &p->sets[block->set];
  int32_t rays = ray_count(p, block, facets), count = rays ? rays : block->dim;
  CniCone cone = cni_block_cone(p, block);
  for (int32_t j = 0; j < count; j++, (*row)++) {
    r->from_start[*row] = *end;
    r->lo[*row] = block->kind == CN_BLOCK_BILATERAL  ? -INFINITY
                  : block->kind == CN_BLOCK_INTERVAL ? set->lo
                                                     : 0;
    r->hi[*row] = block->kind == CN_BLOCK_INTERVAL ? set->hi : INFINITY;
    if (!rays) {
      add_from(r, end, block->row + j, 1);
      continue;
    }
    double x = j == 0 ? 1 : -1, y = 0;
    if (rays > 2) ray_direction(j, rays, &x, &y);
    add_from(r, end, block->row, 1);
    if (rays == 1) continue;
    add_from(r, end, block->row + 1, cone.mu[0] * x);
    if (block->dim > 2) add_from(r, end, block->row + 2, cone.mu[0] * y);
  }
  if (rays) r->shift[block->row] = -cone.cohesion;
}

static CnStatus make_rows(CniSimplexRows *r, const CnProblem *p, int32_t facets) {
  int64_t count = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t rays = ray_count(p, &p->blocks[i], facets);
    count += rays ? rays : p->blocks[i].dim;
  }
  if (3 * count > INT32_MAX) return cni_error(CN_NO_MEMORY, "too many rows for the simplex");
  CNI_TRY(CNI_LAY(&r->arena, CNI_ARRAY(count, r->from_start), CNI_ARRAY(3 * count, r->from),
                  CNI_ARRAY(3 * count, r->weight), CNI_ARRAY(count, r->lo), CNI_ARRAY(count, r->hi),
                  CNI_ARRAY(count, r->b), CNI_ARRAY(p->row_count, r->shift)));
  int32_t end = 0, row = 0;
  for (int32_t i = 0; i < p->block_count; i++) set_block(r, p, &p->blocks[i], facets, &row, &end);
  r->row_count = row;
  r->from_start[row] = end;
  return CN_OK;
}

// ---- the matrices ----

// T A for a matrix by rows, T the weights of the rows.
static CnStatus combine_rows(CniSimplexRows *r, const CnSparse *a, CnSparse *out) {
  int64_t count = 0;
  for (int32_t e = 0; e < r->from_start[r->row_count]; e++)
    count += a->start[r->from[e] + 1] - a->start[r->from[e]];
  if (count > INT32_MAX) return cni_error(CN_NO_MEMORY, "too many entries for the simplex");
  CniTriplet *list = NULL;
  CNI_TRY(cni_arena_array(&r->arena, count, sizeof *list, &list));
  int32_t end = 0;
  for (int32_t i = 0; i < r->row_count; i++)
    for (int32_t f = r->from_start[i]; f < r->from_start[i + 1]; f++)
      for (int32_t e = a->start[r->from[f]]; e < a->start[r->from[f] + 1]; e++)
        if (r->weight[f] != 0)
          list[end++] = (CniTriplet){i, a->column[e], r->weight[f] * a->value[e]};
  return cni_sparse_build(&r->allocator, r->row_count, a->column_count, list, end, out);
}

// Lower triangle of T C T^T from a square C of the problem's rows.
static CnStatus combine_square(CniSimplexRows *r, const CnSparse *c) {
  CnSparse half = {0}, back = {0}, full = {0};
  CnStatus status = combine_rows(r, c, &half);
  if (status == CN_OK) status = cni_sparse_transpose(&r->allocator, &half, &back);
  if (status == CN_OK) status = combine_rows(r, &back, &full);
  CniTriplet *list = NULL;
  int32_t end = 0;
  if (status == CN_OK)
    status = cni_arena_array(&r->arena, cni_sparse_entry_count(&full), sizeof *list, &list);
  for (int32_t i = 0; status == CN_OK && i < r->row_count; i++)
    for (int32_t e = full.start[i]; e < full.start[i + 1]; e++)
      if (full.column[e] <= i) list[end++] = (CniTriplet){i, full.column[e], full.value[e]};
  if (status == CN_OK)
    status = cni_sparse_build(&r->allocator, r->row_count, r->row_count, list, end, &r->c);
  cni_sparse_release(&r->allocator, &half);
  cni_sparse_release(&r->allocator, &back);
  cni_sparse_release(&r->allocator, &full);
  return status;
}

// The lower triangle of [M E^T; E -C] by rows.
//
// `triples`: velocities and spins come in threes; zeros between them make a supernode of each.
static CnStatus make_saddle(CniSimplexRows *r, const CnSparse *m, int triples) {
  int64_t count = 2 * (int64_t)r->v_count + (int64_t)cni_sparse_entry_count(m) +
                  cni_sparse_entry_count(&r->e) + cni_sparse_entry_count(&r->c);
  CniTriplet *list = NULL;
  if (count > INT32_MAX) return cni_error(CN_NO_MEMORY, "too many entries for the simplex");
  CNI_TRY(CNI_LAY(&r->arena, CNI_ARRAY(count, list), CNI_ARRAY(r->v_count + r->row_count, r->sign),
                  CNI_ARRAY(r->v_count + r->row_count, r->late)));
  int32_t end = 0;
  for (int32_t i = 0; i < r->v_count; i++) {
    r->sign[i] = 1;
    for (int32_t j = i / 3 * 3; triples && j < i; j++) list[end++] = (CniTriplet){i, j, 0};
    for (int32_t e = m->start[i]; e < m->start[i + 1]; e++)
      if (m->column[e] <= i) list[end++] = (CniTriplet){i, m->column[e], m->value[e]};
  }
  for (int32_t i = 0; i < r->row_count; i++) {
    int32_t row = r->v_count + i;
    r->sign[row] = -1;
    r->late[row] = CNI_LDL_AFTER; // however small the compliance
    for (int32_t e = r->v_count > 0 ? r->e.start[i] : 0; r->v_count > 0 && e < r->e.start[i + 1];
         e++)
      list[end++] = (CniTriplet){row, r->e.column[e], r->e.value[e]};
    for (int32_t e = r->c.start[i]; e < r->c.start[i + 1]; e++)
      list[end++] = (CniTriplet){row, r->v_count + r->c.column[e], -r->c.value[e]};
  }
  int32_t n = r->v_count + r->row_count;
  return cni_sparse_build(&r->allocator, n, n, list, end, &r->saddle);
}

// About N_ii of each row, with the diagonal of M alone.
static CnStatus find_own(CniSimplexRows *r, const CnSparse *m) {
  CNI_TRY(cni_arena_array(&r->arena, r->row_count, sizeof(double), &r->own));
  for (int32_t i = 0; i < r->row_count; i++) {
    double sum = cni_sparse_entry(&r->c, i, i);
    for (int32_t e = r->v_count > 0 ? r->e.start[i] : 0; r->v_count > 0 && e < r->e.start[i + 1];
         e++)
      sum += r->e.value[e] * r->e.value[e] / cni_sparse_entry(m, r->e.column[e], r->e.column[e]);
    r->own[i] = sum;
  }
  return CN_OK;
}

// k = E^T shift and b = T (b + C shift), with the problem's own matrices.
static void shift_sides(CniSimplexRows *r, const CnSparse *e, const CnSparse *c, const double *b,
                        int32_t problem_rows) {
  for (int32_t i = 0; e && i < problem_rows; i++)
    for (int32_t at = e->start[i]; at < e->start[i + 1]; at++)
      r->k[e->column[at]] += e->value[at] * r->shift[i];
  for (int32_t i = 0; i < r->row_count; i++) {
    double sum = 0;
    for (int32_t f = r->from_start[i]; f < r->from_start[i + 1]; f++) {
      int32_t row = r->from[f];
      double side = b[row];
      for (int32_t at = c->start[row]; at < c->start[row + 1]; at++)
        side += c->value[at] * r->shift[c->column[at]];
      sum += r->weight[f] * side;
    }
    r->b[i] = sum;
  }
}

// b becomes r = E v_free + b, what the rows would have without impulses: v is the change of the
// velocities from here on.
static CnStatus free_rows(CniSimplexRows *r, const CnProblem *p, const CnExpanded *x) {
  double *free = NULL;
  CNI_TRY(cni_arena_array(&r->arena, r->v_count, sizeof(double), &free));
  if (p->form == CN_FORM_GLOBAL && r->v_count > 0)
    memcpy(free, p->global->v_free, (size_t)r->v_count * sizeof *free);
  for (int32_t i = 0; x && i < x->group_count; i++) {
    CnTwist twist = cni_group_free(&p->groups[i]);
    if (x->group_column[i] >= 0) memcpy(free + x->group_column[i], &twist, sizeof twist);
  }
  for (int32_t i = 0; i < r->row_count; i++) {
    double sum = r->b[i];
    for (int32_t e = x ? r->e.start[i] : 0; x && e < r->e.start[i + 1]; e++)
      sum += r->e.value[e] * free[r->e.column[e]];
    r->b[i] = sum;
    r->scale = cn_max(r->scale, fabs(sum));
  }
  return CN_OK;
}

static CnStatus from_explicit(CniSimplexRows *r, const CnProblem *p) {
  CNI_TRY(combine_square(r, &p->w));
  CNI_TRY(cni_arena_array(&r->arena, 0, sizeof(double), &r->k));
  shift_sides(r, NULL, &p->w, p->b, p->row_count);
  CNI_TRY(free_rows(r, p, NULL));
  const CnSparse none = {0};
  CNI_TRY(find_own(r, &none));
  return make_saddle(r, &none, 0);
}

static CnStatus from_expanded(CniSimplexRows *r, const CnProblem *p, const CnExpanded *x) {
  CniTriplet *list = NULL;
  CNI_TRY(cni_arena_array(&r->arena, p->row_count, sizeof *list, &list));
  int32_t end = 0;
  for (int32_t i = 0; i < p->row_count; i++)
    if (x->compliance[i] > 0) list[end++] = (CniTriplet){i, i, x->compliance[i]};
  CnSparse c = {0};
  CNI_TRY(cni_sparse_build(&r->allocator, p->row_count, p->row_count, list, end, &c));
  r->v_count = x->m.row_count;
  CnStatus status = combine_square(r, &c);
  if (status == CN_OK) status = combine_rows(r, &x->e, &r->e);
  if (status == CN_OK) status = cni_arena_array(&r->arena, r->v_count, sizeof(double), &r->k);
  if (status == CN_OK) {
    shift_sides(r, &x->e, &c, x->b, p->row_count);
    status = free_rows(r, p, x);
  }
  if (status == CN_OK) status = find_own(r, &x->m);
  if (status == CN_OK) status = make_saddle(r, &x->m, p->form == CN_FORM_STEP);
  cni_sparse_release(&r->allocator, &c);
  return status;
}

CnStatus cni_simplex_rows(const CnProblem *p, int32_t facets, const CnAllocator *allocator,
                          CniSimplexRows *rows) {
  memset(rows, 0, sizeof *rows);
  rows->allocator = *allocator;
  cni_arena_init(&rows->arena, allocator);
  CnStatus status = make_rows(rows, p, facets);
  if (status == CN_OK && p->form == CN_FORM_EXPLICIT) {
    status = from_explicit(rows, p);
  } else if (status == CN_OK) {
    CnExpanded x;
    status = cn_problem_expand(p, &x);
    if (status == CN_OK) status = from_expanded(rows, p, &x);
    cn_expanded_destroy(&x);
  }
  if (status != CN_OK) cni_simplex_rows_release(rows);
  return status;
}

void cni_simplex_rows_release(CniSimplexRows *rows) {
  cni_sparse_release(&rows->allocator, &rows->e);
  cni_sparse_release(&rows->allocator, &rows->c);
  cni_sparse_release(&rows->allocator, &rows->saddle);
  cni_arena_release(&rows->arena);
}

// ---- impulses ----

void cni_simplex_impulses(const CniSimplexRows *r, int32_t problem_rows, const double *g,
                          double *out) {
  for (int32_t i = 0; i < problem_rows; i++) out[i] = r->shift[i];
  for (int32_t i = 0; i < r->row_count; i++)
    for (int32_t f = r->from_start[i]; f < r->from_start[i + 1]; f++)
      out[r->from[f]] += r->weight[f] * g[i];
}

// A cone's impulse as the sum of two neighbouring rays and, for what is left of the normal part, of
// one of them and the ray opposite.
static void start_cone(double mu, int32_t rays, const double *impulse, double n, double *g) {
  if (!(n > 0)) return;
  if (rays == 1) {
    g[0] = n;
    return;
  }
  double t[2] = {impulse[1] / mu, rays > 2 ? impulse[2] / mu : 0};
  int32_t at = 0, next = 1;
  double a = t[0] > 0 ? t[0] : 0, b = t[0] < 0 ? -t[0] : 0;
  for (int32_t j = 0; rays > 2 && j < rays; j++) {
    double x0, y0, x1, y1;
    ray_direction(j, rays, &x0, &y0);
    ray_direction(j + 1, rays, &x1, &y1);
    double det = x0 * y1 - x1 * y0;
    a = (t[0] * y1 - t[1] * x1) / det;
    b = (x0 * t[1] - y0 * t[0]) / det;
    at = j;
    next = (j + 1) % rays;
    if (a >= 0 && b >= 0) break;
  }
  a = a > 0 ? a : 0;
  b = b > 0 ? b : 0;
  double scale = a + b > n ? n / (a + b) : 1, left = n - scale * (a + b);
  g[at] += scale * a;
  g[next] += scale * b;
  if (left <= 0) return;
  g[at] += left / 2;
  g[(at + rays / 2) % rays] += left / 2;
}

void cni_simplex_start(const CniSimplexRows *r, const CnProblem *p, int32_t facets,
                       const double *impulses, double *g) {
  int32_t row = 0;
  for (int32_t i = 0; i < r->row_count; i++) g[i] = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t rays = ray_count(p, block, facets), count = rays ? rays : block->dim;
    const double *impulse = impulses + block->row;
    if (rays)
      start_cone(p->sets[block->set].mu, rays, impulse, impulse[0] - r->shift[block->row], g + row);
    for (int32_t j = 0; j < count; j++, row++) {
      if (!rays) g[row] = impulse[j];
      g[row] = cn_min(cn_max(g[row], r->lo[row]), r->hi[row]);
    }
  }
}
