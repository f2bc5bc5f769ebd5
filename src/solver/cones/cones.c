// SPDX-License-Identifier: Apache-2.0
// Scaling and graph of cones.h: a problem as the interior point and Newton solvers want it.
//
// Loading. Blocks are scaled as cones.h tells. The matrix is then laid out as a graph of small
// dense blocks, whose nodes are the blocks of rows and, where M is not inverted, velocities:
//
//   step      one node a body with mass; its inverse mass is split as L L^T, so that M = I
//   explicit  the pattern of W, no velocities
//   global    the connected pieces of M, split densely where they are small; else W is formed
//
// It costs a pass over the entries and an ordering, once a solve. Memory is one arena that the next
// solve of the same size finds in one piece.
//
// What is done with it is in cones_system.c.
#include "solver/cones/cones.h"
#include "solver/solver.h"

#include "core/clock.h"
#include "core/vec.h"

#include <string.h>

CnStatus cni_cones_create(const CnAllocator *allocator, CniCones **cones) {
  *cones = NULL;
  CniCones *made;
  CNI_TRY(cni_new(allocator, sizeof *made, &made));
  made->allocator = *allocator;
  CnStatus status = cni_lu_create(allocator, &made->lu);
  if (status != CN_OK) {
    cni_release(allocator, made, sizeof *made);
    return status;
  }
  cni_arena_init(&made->arena, allocator);
  *cones = made;
  return CN_OK;
}

void cni_cones_destroy(CniCones *c) {
  if (!c) return;
  CnAllocator allocator = c->allocator;
  cni_lu_destroy(c->lu);
  cni_arena_release(&c->arena);
  CNI_RELEASE(&allocator, c->result, c->result_capacity);
  cni_release(&allocator, c, sizeof *c);
}

// ---- blocks and scales ----

// Discs with mu = 0 are left out: their rows are held at zero.
static void strip_cone(CniConeBlock *to) {
  CniCone cone = to->cone;
  int32_t count = 0;
  for (int32_t j = 0; j < cone.disc_count; j++) {
    if (!(cone.mu[j] > 0)) {
      for (int32_t d = 0; d < cone.dim[j]; d++)
        to->fixed = (uint8_t)(to->fixed | 1u << (cone.start[j] + d));
      continue;
    }
    to->cone.mu[count] = cone.mu[j];
    to->cone.start[count] = cone.start[j];
    to->cone.dim[count++] = cone.dim[j];
  }
  to->cone.disc_count = count;
}

static void load_block(CniCones *c, const CnProblem *p, int32_t i) {
  const CniBlock *block = &p->blocks[i];
  CniConeBlock *to = &c->blocks[i];
  double trace = cni_storages[block->storage].trace(p, block);
  *to = (CniConeBlock){.cone = cni_block_cone(p, block),
                       .row = block->row,
                       .matrix = c->matrix_count,
                       .dim = block->dim,
                       .kind = block->kind};
  c->matrix_count += block->dim * block->dim;
  strip_cone(to);
  to->sigma = trace > 0 ? 1 / sqrt(trace / block->dim) : 0;
  if (to->sigma == 0) to->fixed = 0xff;
}

// r unscaled, then sigma and kappa applied to all that has their unit.
static void scale_blocks(CniCones *c, const CnProblem *p) {
  c->kappa = 0;
  c->speed = p->speed;
  for (int32_t i = 0; i < c->block_count; i++) {
    CniConeBlock *block = &c->blocks[i];
    double *r = c->r + block->row, size = 0;
    for (int32_t d = 0; d < block->dim; d++) {
      r[d] = p->form == CN_FORM_GLOBAL ? p->global->r[block->row + d] : p->b[block->row + d];
    }
    if (p->form == CN_FORM_STEP) cni_storages[p->blocks[i].storage].free(p, &p->blocks[i], r);
    for (int32_t d = 0; d < block->dim; d++) {
      size += r[d] * r[d];
      r[d] *= block->sigma;
    }
    c->speed = cn_max(c->speed, sqrt(size));
    c->kappa = cn_max(c->kappa, block->sigma * sqrt(size));
  }
  if (!(c->kappa > 0)) c->kappa = 1;
  for (int32_t i = 0; i < c->block_count; i++) {
    CniConeBlock *block = &c->blocks[i];
    const CnSet *set = &p->sets[p->blocks[i].set];
    double unit = block->sigma > 0 ? 1 / (block->sigma * c->kappa) : 1;
    block->cone.cohesion *= unit;
    block->lo = set->lo * unit;
    block->hi = set->hi * unit;
    if (block->kind == CN_BLOCK_INTERVAL && !(block->lo < block->hi)) block->fixed |= 1;
    for (int32_t d = 0; d < block->dim; d++) c->r[block->row + d] /= c->kappa;
  }
}

// ---- graph of an explicit problem ----

// Lists of the nodes of other lists: list j of the result has the i whose list has j, ascending.
static void transpose_lists(int32_t count, const int32_t *start, const int32_t *list,
                            int32_t *to_start, int32_t *to, int32_t *place) {
  memset(to_start, 0, ((size_t)count + 1) * sizeof *to_start);
  for (int32_t e = 0; e < start[count]; e++) to_start[list[e] + 1]++;
  for (int32_t i = 0; i < count; i++) to_start[i + 1] += to_start[i];
  memcpy(place, to_start, (size_t)count * sizeof *place);
  for (int32_t i = 0; i < count; i++)
    for (int32_t e = start[i]; e < start[i + 1]; e++) to[place[list[e]]++] = i;
}

// Blocks of W with a number that is not zero, one list a block row, in the order met.
static int32_t list_blocks(const CniCones *c, const CnSparse *w, const int32_t *block_of,
                           int32_t *mark, int32_t *start, int32_t *list) {
  int32_t count = 0;
  for (int32_t i = 0; i < c->block_count; i++) mark[i] = -1;
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    if (start) start[i] = count;
    for (int32_t e = w->start[block->row]; e < w->start[block->row + block->dim]; e++) {
      int32_t j = block_of[w->column[e]];
      if (j == i || mark[j] == i || w->value[e] == 0) continue;
      mark[j] = i;
      if (list) list[count] = j;
      count++;
    }
  }
  if (start) start[c->block_count] = count;
  return count;
}

static void merge_lists(int32_t n, const int32_t *sa, const int32_t *a, const int32_t *sb,
                        const int32_t *b, int32_t *start, int32_t *to) {
  int32_t count = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t x = sa[i], y = sb[i];
    start[i] = count;
    while (x < sa[i + 1] || y < sb[i + 1]) {
      int32_t left = x < sa[i + 1] ? a[x] : INT32_MAX, right = y < sb[i + 1] ? b[y] : INT32_MAX;
      to[count++] = left < right ? left : right;
      x += left <= right;
      y += right <= left;
    }
  }
  start[n] = count;
}

static CnStatus explicit_graph(CniCones *c, const CnSparse *w, const int32_t *block_of) {
  int32_t n = c->block_count, *mark = NULL, *start[3] = {0}, *list[3] = {0};
  CNI_TRY(cni_arena_array(&c->arena, n, sizeof *mark, &mark));
  int32_t count = list_blocks(c, w, block_of, mark, NULL, NULL);
  for (int32_t k = 0; k < 3; k++) {
    CNI_TRY(CNI_LAY(&c->arena, CNI_ARRAY((int64_t)n + 1, start[k]), CNI_ARRAY(count, list[k])));
  }
  CNI_TRY(cni_arena_array(&c->arena, 2 * (int64_t)count, sizeof(int32_t), &c->node_column));
  list_blocks(c, w, block_of, mark, start[0], list[0]);
  transpose_lists(n, start[0], list[0], start[1], list[1], mark);
  transpose_lists(n, start[1], list[1], start[2], list[2], mark);
  merge_lists(n, start[1], list[1], start[2], list[2], c->node_start, c->node_column);
  for (int32_t i = 0; i < n; i++) c->node_size[i] = c->blocks[i].dim;
  return CN_OK;
}

// Numbers of W, scaled, into the blocks of the graph.
static CnStatus explicit_values(CniCones *c, const CnSparse *w, const int32_t *block_of) {
  int64_t *where = NULL;
  CNI_TRY(cni_arena_array(&c->arena, c->block_count, sizeof *where, &where));
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    int64_t at = c->node_value[i];
    where[i] = at;
    at += (int64_t)block->dim * block->dim;
    for (int32_t e = c->node_start[i]; e < c->node_start[i + 1]; e++) {
      int32_t j = c->node_column[e];
      where[j] = at;
      at += (int64_t)block->dim * c->blocks[j].dim;
    }
    for (int32_t d = 0; d < block->dim; d++)
      for (int32_t e = w->start[block->row + d]; e < w->start[block->row + d + 1]; e++) {
        if (w->value[e] == 0) continue;
        int32_t j = block_of[w->column[e]];
        const CniConeBlock *other = &c->blocks[j];
        c->base[where[j] + d * other->dim + w->column[e] - other->row] =
            block->sigma * other->sigma * w->value[e];
      }
  }
  return CN_OK;
}

// ---- graph of a step problem: groups with mass, then blocks ----

// Lower triangular L with L L^T = S, for S positive semidefinite: columns without a pivot are zero.
static void root_of(CnSym3 s, double l[9]) {
  double a[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
  double least = 1e-14 * (s.xx + s.yy + s.zz);
  memset(l, 0, 9 * sizeof *l);
  for (int32_t j = 0; j < 3; j++) {
    double d = a[j][j];
    for (int32_t k = 0; k < j; k++) d -= l[3 * j + k] * l[3 * j + k];
    if (!(d > least)) continue;
    l[4 * j] = sqrt(d);
    for (int32_t i = j + 1; i < 3; i++) {
      double x = a[i][j];
      for (int32_t k = 0; k < j; k++) x -= l[3 * i + k] * l[3 * j + k];
      l[3 * i + j] = x / l[4 * j];
    }
  }
}

typedef struct StepWork {
  CnRowEntry *entries; // of all blocks
  int32_t *first;      // per block, block_count + 1
  int32_t *node;       // per entry: the node of its velocities, -1: prescribed
  double *root;        // per group: sqrt(1/m), then L
} StepWork;

static CnStatus expand_blocks(CniCones *c, StepWork *w) {
  const CnProblem *p = c->p;
  int32_t count = 0;
  CNI_TRY(cni_arena_array(&c->arena, (int64_t)c->block_count + 1, sizeof *w->first, &w->first));
  for (int32_t i = 0; i < c->block_count; i++) {
    w->first[i] = count;
    count += cni_storages[p->blocks[i].storage].expand(p, &p->blocks[i], NULL, 0);
  }
  w->first[c->block_count] = count;
  CNI_TRY(cni_arena_array(&c->arena, count, sizeof *w->entries, &w->entries));
  for (int32_t i = 0; i < c->block_count; i++)
    cni_storages[p->blocks[i].storage].expand(p, &p->blocks[i], w->entries + w->first[i],
                                              w->first[i + 1] - w->first[i]);
  CNI_TRY(cni_arena_array(&c->arena, count, sizeof *w->node, &w->node));
  for (int32_t e = 0; e < count; e++) w->node[e] = c->group_node[w->entries[e].group];
  CNI_TRY(cni_arena_array(&c->arena, 10 * (int64_t)p->group_count, sizeof *w->root, &w->root));
  for (int32_t i = 0; i < p->group_count; i++) {
    w->root[10 * i] = sqrt(p->groups[i].inv_mass);
    root_of(cni_group_inertia(p, i), w->root + 10 * i + 1);
  }
  return CN_OK;
}

// Neighbours of blocks and of velocities: block i touches the nodes node[first[i]] .. of its
// entries.
static CnStatus touch_graph(CniCones *c, const int32_t *first, const int32_t *touched) {
  int32_t groups = c->group_nodes, n = groups + c->block_count, *mark = NULL, *start = NULL;
  int32_t *list = NULL, *place = NULL, *list_start = NULL, *turned = NULL, total = 0;
  int32_t most = first[c->block_count];
  CNI_TRY(CNI_LAY(&c->arena, CNI_ARRAY(groups, mark), CNI_ARRAY(n, place),
                  CNI_ARRAY((int64_t)n + 1, start), CNI_ARRAY((int64_t)n + 1, list_start),
                  CNI_ARRAY(most, list), CNI_ARRAY(most, turned)));
  CNI_TRY(cni_arena_array(&c->arena, 2 * (int64_t)most, sizeof *list, &c->node_column));
  for (int32_t i = 0; i < groups; i++) mark[i] = -1;
  for (int32_t i = 0; i < c->block_count; i++) {
    c->node_size[groups + i] = c->blocks[i].dim;
    start[groups + i] = total;
    for (int32_t e = first[i]; e < first[i + 1]; e++) {
      int32_t node = touched[e];
      if (node < 0 || mark[node] == i) continue;
      mark[node] = i;
      list[total++] = node;
    }
  }
  start[n] = total;
  transpose_lists(n, start, list, list_start, turned, place);
  transpose_lists(n, list_start, turned, start, list, place);
  merge_lists(n, start, list, list_start, turned, c->node_start, c->node_column);
  return CN_OK;
}

// Where the blocks F of a block begin, per node that it touches.
static void find_places(const CniCones *c, int32_t i, int64_t *where) {
  int32_t node = c->group_nodes + i, dim = c->blocks[i].dim;
  int64_t at = c->node_value[node] + (int64_t)dim * dim;
  for (int32_t e = c->node_start[node]; e < c->node_start[node + 1]; e++) {
    where[c->node_column[e]] = at;
    at += (int64_t)dim * c->node_size[c->node_column[e]];
  }
}

// Velocities have the identity on the diagonal, blocks their compliance.
static CnStatus augmented_diagonals(CniCones *c) {
  CNI_TRY(cni_arena_array(&c->arena, c->n, sizeof *c->compliance, &c->compliance));
  for (int32_t i = 0; i < c->group_nodes; i++)
    for (int32_t d = 0; d < c->node_size[i]; d++)
      c->base[c->node_value[i] + (int64_t)(c->node_size[i] + 1) * d] = 1;
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    double own[CNI_MAX_DIM];
    cni_block_compliance(c->p, &c->p->blocks[i], own);
    for (int32_t d = 0; d < block->dim; d++) {
      c->compliance[block->row + d] = block->sigma * block->sigma * own[d];
      c->base[c->node_value[c->group_nodes + i] + d * (block->dim + 1)] =
          c->compliance[block->row + d];
    }
  }
  return CN_OK;
}

// Row of F: sigma times the coefficients over the square root of the mass.
static void scaled_row(const CnRowEntry *e, double sigma, const double *root, double f[6]) {
  const CnTwist *t = &e->coefficient;
  double spin[3] = {t->spin.x, t->spin.y, t->spin.z};
  f[0] = sigma * root[0] * t->velocity.x;
  f[1] = sigma * root[0] * t->velocity.y;
  f[2] = sigma * root[0] * t->velocity.z;
  for (int32_t j = 0; j < 3; j++) {
    double sum = 0;
    for (int32_t i = j; i < 3; i++) sum += spin[i] * root[1 + 3 * i + j];
    f[3 + j] = sigma * sum;
  }
}

static CnStatus step_values(CniCones *c, const StepWork *w) {
  int64_t *where = NULL;
  CNI_TRY(cni_arena_array(&c->arena, c->group_nodes, sizeof *where, &where));
  for (int32_t i = 0; i < c->block_count; i++) {
    find_places(c, i, where);
    for (int32_t e = w->first[i]; e < w->first[i + 1]; e++) {
      const CnRowEntry *entry = &w->entries[e];
      double f[6];
      if (w->node[e] < 0) continue;
      scaled_row(entry, c->blocks[i].sigma, w->root + 10 * entry->group, f);
      for (int32_t k = 0; k < 6; k++) c->base[where[w->node[e]] + 6 * entry->row + k] += f[k];
    }
  }
  return CN_OK;
}

// -F^T of the velocities' rows from F of the blocks' rows.
static void mirror(CniCones *c) {
  for (int32_t i = 0; i < c->group_nodes; i++) {
    int32_t size = c->node_size[i];
    int64_t at = c->node_value[i] + (int64_t)size * size;
    for (int32_t e = c->node_start[i]; e < c->node_start[i + 1]; e++) {
      int32_t node = c->node_column[e], dim = c->node_size[node];
      int64_t from = c->node_value[node] + (int64_t)dim * dim;
      for (int32_t k = c->node_start[node]; c->node_column[k] != i; k++)
        from += (int64_t)dim * c->node_size[c->node_column[k]];
      for (int32_t a = 0; a < size; a++)
        for (int32_t b = 0; b < dim; b++) c->base[at + a * dim + b] = -c->base[from + size * b + a];
      at += (int64_t)size * dim;
    }
  }
}

// ---- graph of a global problem: pieces of M, then blocks ----

#define PIECE 6    // rows of M that are taken together where nothing joins them to others
#define LARGEST 48 // rows of a piece; where M has larger ones it is eliminated

typedef struct GlobalWork {
  int32_t *piece, *local; // per row of M: its piece, its place in that
  int64_t *root;          // per piece: where L of its block begins
  double *l;              // L L^T = M, by rows
  int32_t count;
} GlobalWork;

// Pieces of M: six rows at a time if that cuts nothing, else its components.
static int find_pieces(const CnProblem *p, GlobalWork *w) {
  const CnSparse *m = &p->global->m;
  const CniFactor *f = p->global->factor;
  int whole = m->row_count % PIECE == 0;
  for (int32_t i = 0; i < m->row_count && whole; i++)
    for (int32_t e = m->start[i]; e < m->start[i + 1]; e++)
      if (m->value[e] != 0 && m->column[e] / PIECE != i / PIECE) whole = 0;
  w->count = whole ? m->row_count / PIECE : f->component_count;
  for (int32_t i = 0; i < m->row_count; i++) {
    int32_t row = f->order[i], piece = f->component[row];
    w->piece[row] = whole ? row / PIECE : piece;
    w->local[row] = whole ? row % PIECE : i - f->component_start[piece];
    if (w->local[row] >= LARGEST) return 0;
  }
  return !f->refine;
}

// Only pieces that a block acts on become nodes; the rows of others have piece -1.
static CnStatus drop_idle_pieces(CniCones *c, GlobalWork *w) {
  const CnSparse *e = &c->p->global->e;
  int32_t *number = NULL, count = 0, entries = cni_sparse_entry_count(e);
  CNI_TRY(cni_arena_array(&c->arena, w->count, sizeof *number, &number));
  for (int32_t k = 0; k < entries; k++) number[w->piece[e->column[k]]] = 1;
  for (int32_t k = 0; k < w->count; k++) number[k] = number[k] ? count++ : -1;
  for (int32_t i = 0; i < c->p->global->m.row_count; i++) w->piece[i] = number[w->piece[i]];
  w->count = count;
  return CN_OK;
}

// Cholesky factors of the pieces.
static int factor_pieces(const CnProblem *p, const GlobalWork *w, const int32_t *size) {
  const CnSparse *m = &p->global->m;
  for (int32_t i = 0; i < m->row_count; i++)
    for (int32_t e = m->start[i]; e < m->start[i + 1]; e++) {
      int32_t j = m->column[e], k = w->piece[i];
      if (k >= 0 && w->piece[j] == k)
        w->l[w->root[k] + w->local[i] * size[k] + w->local[j]] = m->value[e];
    }
  for (int32_t k = 0; k < w->count; k++) {
    double *l = w->l + w->root[k];
    int32_t n = size[k];
    for (int32_t j = 0; j < n; j++) {
      for (int32_t i = j; i < n; i++) {
        double x = l[i * n + j];
        for (int32_t t = 0; t < j; t++) x -= l[i * n + t] * l[j * n + t];
        if (i == j && !(x > 0)) return 0;
        l[i * n + j] = i == j ? sqrt(x) : x / l[j * n + j];
      }
    }
  }
  return 1;
}

// Rows of F: sigma E L^-T, piece by piece.
static CnStatus global_values(CniCones *c, const GlobalWork *w) {
  const CnSparse *e = &c->p->global->e;
  int64_t *where = NULL;
  CNI_TRY(cni_arena_array(&c->arena, c->group_nodes, sizeof *where, &where));
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    int32_t node = c->group_nodes + i;
    find_places(c, i, where);
    for (int32_t d = 0; d < block->dim; d++) {
      int32_t row = block->row + d;
      for (int32_t k = e->start[row]; k < e->start[row + 1]; k++) {
        int32_t piece = w->piece[e->column[k]];
        c->base[where[piece] + d * c->node_size[piece] + w->local[e->column[k]]] +=
            block->sigma * e->value[k];
      }
      for (int32_t t = c->node_start[node]; t < c->node_start[node + 1]; t++) {
        int32_t piece = c->node_column[t], n = c->node_size[piece];
        double *y = c->base + where[piece] + d * n;
        const double *l = w->l + w->root[piece];
        for (int32_t a = 0; a < n; a++) {
          for (int32_t b = 0; b < a; b++) y[a] -= l[a * n + b] * y[b];
          y[a] /= l[a * n + a];
        }
      }
    }
  }
  return CN_OK;
}

// ---- loading ----

// First number of every node's blocks; the numbers themselves are cleared.
static CnStatus place_values(CniCones *c, int32_t nodes) {
  int64_t at = 0;
  for (int32_t i = 0; i < nodes; i++) {
    int64_t size = c->node_size[i];
    c->node_value[i] = at;
    at += size * size;
    for (int32_t e = c->node_start[i]; e < c->node_start[i + 1]; e++)
      at += size * c->node_size[c->node_column[e]];
  }
  c->node_value[nodes] = at;
  return CNI_LAY(&c->arena, CNI_ARRAY(at, c->base), CNI_ARRAY(at, c->values));
}

static CnStatus reserve_graph(CniCones *c) {
  int64_t nodes = c->group_nodes + c->block_count;
  return CNI_LAY(&c->arena, CNI_ARRAY(nodes, c->node_size), CNI_ARRAY(nodes + 1, c->node_start),
                 CNI_ARRAY(nodes + 1, c->node_value));
}

static CnStatus load_step(CniCones *c, const CnProblem *p) {
  StepWork w = {NULL, NULL, NULL, NULL};
  CNI_TRY(cni_arena_array(&c->arena, p->group_count, sizeof *c->group_node, &c->group_node));
  for (int32_t i = 0; i < p->group_count; i++)
    c->group_node[i] = p->groups[i].inv_mass > 0 ? c->group_nodes++ : -1;
  CNI_TRY(reserve_graph(c));
  for (int32_t i = 0; i < c->group_nodes; i++) c->node_size[i] = 6;
  CNI_TRY(expand_blocks(c, &w));
  CNI_TRY(touch_graph(c, w.first, w.node));
  CNI_TRY(place_values(c, c->group_nodes + c->block_count));
  CNI_TRY(step_values(c, &w));
  CNI_TRY(augmented_diagonals(c));
  mirror(c);
  return CN_OK;
}

static CnStatus load_explicit(CniCones *c, const CnSparse *w) {
  int32_t *block_of = NULL;
  CNI_TRY(cni_arena_array(&c->arena, c->n, sizeof *block_of, &block_of));
  for (int32_t i = 0; i < c->block_count; i++)
    for (int32_t d = 0; d < c->blocks[i].dim; d++) block_of[c->blocks[i].row + d] = i;
  CNI_TRY(reserve_graph(c));
  CNI_TRY(explicit_graph(c, w, block_of));
  CNI_TRY(place_values(c, c->block_count));
  return explicit_values(c, w, block_of);
}

static CnStatus load_pieces(CniCones *c, const CnProblem *p, GlobalWork *w) {
  const CnSparse *e = &p->global->e;
  int32_t *touched = NULL, *first = NULL, entries = cni_sparse_entry_count(e);
  CNI_TRY(drop_idle_pieces(c, w));
  c->group_nodes = w->count;
  CNI_TRY(reserve_graph(c));
  CNI_TRY(cni_arena_array(&c->arena, w->count, sizeof *w->root, &w->root));
  for (int32_t i = 0; i < p->global->m.row_count; i++)
    if (w->piece[i] >= 0) c->node_size[w->piece[i]]++;
  int64_t numbers = 0;
  for (int32_t k = 0; k < w->count; k++) {
    w->root[k] = numbers;
    numbers += (int64_t)c->node_size[k] * c->node_size[k];
  }
  CNI_TRY(cni_arena_array(&c->arena, numbers, sizeof *w->l, &w->l));
  if (!factor_pieces(p, w, c->node_size))
    return cni_bad_data("the mass matrix is not positive definite");
  CNI_TRY(cni_arena_array(&c->arena, entries, sizeof *touched, &touched));
  CNI_TRY(cni_arena_array(&c->arena, (int64_t)c->block_count + 1, sizeof *first, &first));
  for (int32_t k = 0; k < entries; k++) touched[k] = w->piece[e->column[k]];
  for (int32_t i = 0; i < c->block_count; i++) first[i] = e->start[c->blocks[i].row];
  first[c->block_count] = entries;
  CNI_TRY(touch_graph(c, first, touched));
  CNI_TRY(place_values(c, c->group_nodes + c->block_count));
  CNI_TRY(global_values(c, w));
  CNI_TRY(augmented_diagonals(c));
  mirror(c);
  return CN_OK;
}

static CnStatus load_global(CniCones *c, const CnProblem *p) {
  GlobalWork w = {0};
  CNI_TRY(CNI_ARRAYS(&c->arena, p->global->m.row_count, int32_t, &w.piece, &w.local));
  CNI_TRY(cni_arena_array(&c->arena, p->global->m.row_count, sizeof *c->velocity, &c->velocity));
  if (find_pieces(p, &w)) return load_pieces(c, p, &w);
  CnSparse eliminated;
  CNI_TRY(cni_global_eliminate(p, &eliminated));
  CnStatus status = load_explicit(c, &eliminated);
  cni_sparse_release(&p->allocator, &eliminated);
  return status;
}

CnStatus cni_cones_finish(CniCones *c, const double *g) {
  cni_cones_export(c, g, c->result);
  CNI_TRY(cni_lu_rest(c->lu));
  return cni_arena_reset(&c->arena);
}

CnStatus cni_cones_load(CniCones *c, const CnProblem *p) {
  CNI_TRY(CNI_RESERVE(&c->allocator, c->result, c->result_capacity, 0, p->row_count));
  CNI_TRY(cni_arena_reset(&c->arena));
  c->p = p;
  c->n = p->row_count;
  c->block_count = p->block_count;
  c->convex = p->friction == CN_FRICTION_CONVEX;
  c->matrix_count = c->group_nodes = 0;
  c->deadline = 0;
  c->cut = 0;
  CNI_TRY(CNI_LAY(&c->arena, CNI_ARRAY(c->block_count, c->blocks), CNI_ARRAY(c->n, c->r)));
  for (int32_t i = 0; i < c->block_count; i++) load_block(c, p, i);
  scale_blocks(c, p);

  c->dense = (CniConesDense){0};
  if (cni_cones_is_full(p))
    CNI_TRY(cni_cones_dense_load(c));
  else if (p->form == CN_FORM_STEP)
    CNI_TRY(load_step(c, p));
  else if (p->form == CN_FORM_GLOBAL)
    CNI_TRY(load_global(c, p));
  else
    CNI_TRY(load_explicit(c, &p->w));
  int32_t nodes = c->group_nodes + c->block_count;
  c->velocities = 0;
  for (int32_t i = 0; i < c->group_nodes; i++) c->velocities += c->node_size[i];
  c->graph = (CniLuGraph){nodes, c->node_size, c->node_start, c->node_column};

  CNI_TRY(CNI_LAY(&c->arena, CNI_ARRAY(c->matrix_count, c->a), CNI_ARRAY(c->matrix_count, c->b),
                  CNI_ARRAY((int64_t)c->velocities + c->n, c->x), CNI_ARRAY(c->velocities, c->v),
                  CNI_ARRAY(c->group_nodes, c->first_velocity)));
  for (int32_t i = 1; i < c->group_nodes; i++)
    c->first_velocity[i] = c->first_velocity[i - 1] + c->node_size[i - 1];
  CNI_TRY(CNI_ARRAYS(&c->arena, c->n, double, &c->g_out, &c->u_out));
  return c->dense.w ? CN_OK : cni_lu_analyse(c->lu, &c->graph);
}
