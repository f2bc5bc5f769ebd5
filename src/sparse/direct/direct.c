// SPDX-License-Identifier: Apache-2.0
// Direct solution of joints: values, factor, solutions.
//
// Column k is eliminated by blocks: its diagonal block is L D L^T, the rows Z below it solve
// Z L^T = A, and every pair of nodes i >= j below loses Z_i D^-1 Z_j^T. Then Z D^-1 is kept.
// Cost of a chain of hinges: about a thousand multiplications a joint, a hundred a solution.
#include "sparse/direct/direct_private.h"

#include "core/tasks.h"
#include "core/vec.h"

#include <string.h>

#define STEPS_MOST 30       // of conjugate gradients
#define STEPS_ENOUGH 1e-24  // of r^T P^-1 r: nothing but round-off is left
#define ISLANDS_PER_TASK 16 // small ones; large ones wait for nobody
#define FILTERS 3           // of right-hand sides
#define LONGEST 100         // step along a direction; longer where S is below shift D/100: nothing
#define NOTHING 1e-15       // of the diagonal: no pivot even with the shift
#define POOR 1e-4           // pivots of less than that ask for a refinement

static const double *load(const CnTwist *e) { return &e->velocity.x; }

static double dot6(const double *a, const double *b) {
  return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

// ---- values ----

// K of a hub: the square root of its inverse mass. Directions without inertia have zeros.
static void prepare_hub(CniDirectHub *hub, const CniDirectBody *body) {
  const CnSym3 *j = &body->inv_inertia;
  double *c = hub->turn;
  hub->move = sqrt(cn_max(0, body->inv_mass));
  c[0] = sqrt(cn_max(0, j->xx));
  c[1] = c[0] > 0 ? j->xy / c[0] : 0;
  c[3] = c[0] > 0 ? j->xz / c[0] : 0;
  c[2] = sqrt(cn_max(0, j->yy - c[1] * c[1]));
  c[4] = c[2] > 0 ? (j->yz - c[1] * c[3]) / c[2] : 0;
  c[5] = sqrt(cn_max(0, j->zz - c[3] * c[3] - c[4] * c[4]));
}

// e K
static void hub_row(const CniDirectHub *hub, const CnTwist *e, double *row) {
  const double *c = hub->turn;
  CnVec3 w = e->spin;
  row[0] = hub->move * e->velocity.x;
  row[1] = hub->move * e->velocity.y;
  row[2] = hub->move * e->velocity.z;
  row[3] = c[0] * w.x + c[1] * w.y + c[3] * w.z;
  row[4] = c[2] * w.y + c[4] * w.z;
  row[5] = c[5] * w.z;
}

// Responses, the diagonal of S, D, and the diagonal block of S'.
static void value_block(CniDirect *d, int32_t k, double shift) {
  const CniDirectSystem *s = &d->now;
  const CniDirectBlock *block = &d->blocks[d->order[k]];
  int32_t dim = block->dim;
  double *a = d->value + d->panel[k], *diagonal = d->diagonal + d->at[k],
         *weight = d->weight + d->at[k], turn[CNI_DIRECT_DIM] = {0};
  for (int32_t r = 0; r < dim; r++) diagonal[r] = weight[r] = 0;
  for (int32_t side = block->side; side < block->side + block->side_count; side++) {
    const CniDirectBody *body = &s->bodies[d->sides[side].body];
    const CnTwist *e = s->e + d->sides[side].at;
    CnTwist *response = d->response + d->sides[side].at;
    int hub = d->hub_of[d->sides[side].body] >= 0;
    for (int32_t r = 0; r < dim; r++) {
      response[r].velocity = cn_scale(body->inv_mass, e[r].velocity);
      response[r].spin = cn_smul(body->inv_inertia, e[r].spin);
      double own = dot6(load(&e[r]), load(&response[r]));
      turn[r] += own;
      weight[r] += body->inv_mass * cn_norm2(e[r].velocity);
      for (int32_t c = 0; c < r && !hub; c++)
        a[r * dim + c] += dot6(load(&e[r]), load(&response[c]));
      if (!hub) a[r * dim + r] += own;
    }
  }
  for (int32_t r = 0; r < dim; r++) {
    double soft = s->compliance ? s->compliance[block->row + r] : 0;
    if (!(weight[r] > 0)) weight[r] = turn[r];
    diagonal[r] = turn[r] + soft;
    a[r * dim + r] += soft + shift * weight[r];
  }
}

static void value_links(CniDirect *d, int32_t k) {
  const CniDirectSystem *s = &d->now;
  int32_t dim = d->dim[k];
  double *a = d->value + d->panel[k], row[CNI_DIRECT_DIM];
  for (int32_t i = d->link_start[k]; i < d->link_start[k + 1]; i++) {
    const CniDirectLink *link = &d->links[i];
    double *to = a + (int64_t)link->row * dim;
    int32_t known = link->side_row >= 0 ? link->side_row : link->side_column;
    const CnTwist *e = s->e + d->sides[known].at;
    int32_t count = d->blocks[d->side_block[known]].dim;
    if (link->side_row >= 0 && link->side_column >= 0) {
      const CnTwist *response = d->response + d->sides[link->side_column].at;
      for (int32_t r = 0; r < count; r++)
        for (int32_t c = 0; c < dim; c++) to[r * dim + c] += dot6(load(&e[r]), load(&response[c]));
      continue;
    }
    const CniDirectHub *hub = &d->hubs[d->hub_of[d->sides[known].body]];
    for (int32_t r = 0; r < count; r++) {
      hub_row(hub, &e[r], row);
      for (int32_t c = 0; c < CNI_DIRECT_DIM; c++)
        if (link->side_row >= 0)
          to[r * dim + c] += row[c];
        else
          to[c * dim + r] += row[c];
    }
  }
}

static void value_island(CniDirect *d, int32_t island, double shift) {
  int32_t begin = d->island_start[island], end = d->island_start[island + 1];
  double *first = d->value + d->panel[begin];
  int64_t count = d->panel[end] - d->panel[begin];
  memset(first, 0, (size_t)count * sizeof *first);
  for (int32_t k = begin; k < end; k++) {
    if (d->order[k] < d->block_count) {
      value_block(d, k, shift);
      continue;
    }
    CniDirectHub *hub = &d->hubs[d->order[k] - d->block_count];
    prepare_hub(hub, &d->now.bodies[hub->body]);
    for (int32_t r = 0; r < CNI_DIRECT_DIM; r++)
      first[d->panel[k] - d->panel[begin] + r * (CNI_DIRECT_DIM + 1)] = -1;
  }
  for (int32_t k = begin; k < end; k++) value_links(d, k);
}

// ---- factor ----

// The diagonal block of place k. Rows whose pivots are lost are left out. Returns what the island
// needs because of it.
static CniDirectCare factor_diagonal(CniDirect *d, int32_t k, double least) {
  int32_t dim = d->dim[k], hub = d->order[k] >= d->block_count;
  CniDirectCare care = CNI_DIRECT_PLAIN;
  double *a = d->value + d->panel[k], *inverse = d->inverse + d->at[k];
  for (int32_t j = 0; j < dim; j++) {
    double pivot = a[j * dim + j], column[CNI_DIRECT_DIM];
    double size = hub ? 1 : d->diagonal[d->at[k] + j], share = hub ? 1 / -pivot : pivot / size;
    int good = hub ? pivot < 0 : share > least;
    inverse[j] = good ? 1 / pivot : 0;
    if (least > NOTHING) d->lost[d->at[k] + j] = (uint8_t)!good;
    if (!good)
      care = CNI_DIRECT_SHIFTED;
    else if (share < POOR && care == CNI_DIRECT_PLAIN)
      care = CNI_DIRECT_REFINED;
    for (int32_t i = j + 1; i < dim; i++) {
      column[i] = a[i * dim + j];
      a[i * dim + j] *= inverse[j];
      for (int32_t m = j + 1; m <= i; m++) a[i * dim + m] -= a[i * dim + j] * column[m];
    }
  }
  return care;
}

// Rows below the diagonal block: Z L^T = A.
static inline void factor_panel(const double *a, double *z, int32_t rows, int32_t dim) {
  for (int32_t i = 0; i < rows; i++, z += dim)
    for (int32_t c = 1; c < dim; c++) {
      double x = z[c];
      for (int32_t m = 0; m < c; m++) x -= z[m] * a[c * dim + m];
      z[c] = x;
    }
}

// A -= Z L^T, of `rows` and `columns` rows of `dim` numbers.
static inline void subtract(double *a, int32_t stride, const double *z, int32_t rows,
                            const double *l, int32_t columns, int32_t dim) {
  for (int32_t r = 0; r < rows; r++)
    for (int32_t c = 0; c < columns; c++) {
      double x = a[r * stride + c];
      for (int32_t m = 0; m < dim; m++) x -= z[r * dim + m] * l[c * dim + m];
      a[r * stride + c] = x;
    }
}

// What column k leaves for the later ones.
static inline void update_later(CniDirect *d, int32_t k, int32_t dim) {
  const double *panel = d->value + d->panel[k], *inverse = d->inverse + d->at[k];
  for (int32_t i = d->start[k]; i < d->start[k + 1]; i++) {
    int32_t j = d->pattern[i], columns = d->dim[j], at = d->start[j];
    double l[CNI_DIRECT_DIM * CNI_DIRECT_DIM], *to = d->value + d->panel[j];
    const double *z = panel + (int64_t)d->row[i] * dim;
    for (int32_t r = 0; r < columns; r++)
      for (int32_t c = 0; c < dim; c++) l[r * dim + c] = z[r * dim + c] * inverse[c];
    subtract(to, columns, z, columns, l, columns, dim);
    // the pattern of k after j is part of that of j
    for (int32_t m = i + 1; m < d->start[k + 1]; m++) {
      while (d->pattern[at] < d->pattern[m]) at++;
      subtract(to + (int64_t)d->row[at] * columns, columns, panel + (int64_t)d->row[m] * dim,
               d->dim[d->pattern[m]], l, columns, dim);
    }
  }
}

static inline void factor_column(CniDirect *d, int32_t k, int32_t dim) {
  int32_t last = d->start[k + 1] - 1;
  int32_t rows = last >= d->start[k] ? d->row[last] + d->dim[d->pattern[last]] - dim : 0;
  double *a = d->value + d->panel[k], *z = a + dim * dim, *inverse = d->inverse + d->at[k];
  factor_panel(a, z, rows, dim);
  update_later(d, k, dim);
  for (int32_t i = 0; i < rows; i++)
    for (int32_t c = 0; c < dim; c++) z[i * dim + c] *= inverse[c];
}

static CniDirectCare factor_island(CniDirect *d, int32_t island, double least) {
  CniDirectCare most = CNI_DIRECT_PLAIN;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    CniDirectCare care = factor_diagonal(d, k, least);
    if (care > most) most = care;
    // the sizes of joints have loops of their own
    switch (d->dim[k]) {
    case 3:
      factor_column(d, k, 3);
      break;
    case 5:
      factor_column(d, k, 5);
      break;
    case 6:
      factor_column(d, k, 6);
      break;
    default:
      factor_column(d, k, d->dim[k]);
    }
  }
  return most;
}

static void factor_islands(void *context, int32_t begin, int32_t end) {
  CniDirect *d = context;
  for (int32_t i = begin; i < end; i++) {
    value_island(d, i, 0);
    d->care[i] = (uint8_t)factor_island(d, i, CNI_DIRECT_LOST);
    if (d->care[i] != CNI_DIRECT_SHIFTED) continue;
    value_island(d, i, CNI_DIRECT_SHIFT);
    factor_island(d, i, NOTHING);
  }
}

void cni_direct_factor(CniDirect *d, const CniDirectSystem *s, CnTasks *tasks) {
  d->now = *s;
  cni_parallel_for(tasks, d->island_count, ISLANDS_PER_TASK, factor_islands, d);
}

// ---- solutions ----

static inline void forward(const CniDirect *d, int32_t k, int32_t dim, double *x) {
  const double *a = d->value + d->panel[k];
  double *own = x + d->at[k];
  for (int32_t i = 1; i < dim; i++)
    for (int32_t m = 0; m < i; m++) own[i] -= a[i * dim + m] * own[m];
  for (int32_t e = d->start[k]; e < d->start[k + 1]; e++) {
    int32_t j = d->pattern[e], rows = d->dim[j];
    const double *l = a + (int64_t)d->row[e] * dim;
    double *to = x + d->at[j];
    for (int32_t r = 0; r < rows; r++) {
      double sum = to[r];
      for (int32_t m = 0; m < dim; m++) sum -= l[r * dim + m] * own[m];
      to[r] = sum;
    }
  }
}

static inline void backward(const CniDirect *d, int32_t k, int32_t dim, double *x) {
  const double *a = d->value + d->panel[k], *inverse = d->inverse + d->at[k];
  double *own = x + d->at[k];
  for (int32_t i = 0; i < dim; i++) own[i] *= inverse[i];
  for (int32_t e = d->start[k]; e < d->start[k + 1]; e++) {
    int32_t j = d->pattern[e], rows = d->dim[j];
    const double *l = a + (int64_t)d->row[e] * dim, *from = x + d->at[j];
    for (int32_t r = 0; r < rows; r++)
      for (int32_t m = 0; m < dim; m++) own[m] -= l[r * dim + m] * from[r];
  }
  for (int32_t i = dim - 1; i > 0; i--)
    for (int32_t m = 0; m < i; m++) own[m] -= a[i * dim + m] * own[i];
}

// x <- factor^-1 x of one island, by places.
static void substitute(const CniDirect *d, int32_t island, double *x) {
  int32_t begin = d->island_start[island], end = d->island_start[island + 1];
  for (int32_t k = begin; k < end; k++) switch (d->dim[k]) {
    case 3:
      forward(d, k, 3, x);
      break;
    case 5:
      forward(d, k, 5, x);
      break;
    case 6:
      forward(d, k, 6, x);
      break;
    default:
      forward(d, k, d->dim[k], x);
    }
  for (int32_t k = end - 1; k >= begin; k--) switch (d->dim[k]) {
    case 3:
      backward(d, k, 3, x);
      break;
    case 5:
      backward(d, k, 5, x);
      break;
    case 6:
      backward(d, k, 6, x);
      break;
    default:
      backward(d, k, d->dim[k], x);
    }
}

void cni_direct_product(CniDirect *d, int32_t island, const double *x, double *y) {
  const CniDirectSystem *s = &d->now;
  int32_t begin = d->block_start[island], end = d->block_start[island + 1];
  for (int32_t i = begin; i < end; i++) {
    const CniDirectBlock *block = &d->blocks[d->block_list[i]];
    for (int32_t k = block->side; k < block->side + block->side_count; k++)
      d->moved[d->sides[k].body] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  }
  for (int32_t i = begin; i < end; i++) {
    const CniDirectBlock *block = &d->blocks[d->block_list[i]];
    const double *own = x + d->at[d->place[d->block_list[i]]];
    for (int32_t k = block->side; k < block->side + block->side_count; k++) {
      CnTwist *moved = &d->moved[d->sides[k].body];
      const CnTwist *response = d->response + d->sides[k].at;
      for (int32_t r = 0; r < block->dim; r++) {
        moved->velocity = cn_madd(moved->velocity, own[r], response[r].velocity);
        moved->spin = cn_madd(moved->spin, own[r], response[r].spin);
      }
    }
  }
  for (int32_t i = begin; i < end; i++) {
    const CniDirectBlock *block = &d->blocks[d->block_list[i]];
    int32_t at = d->at[d->place[d->block_list[i]]];
    for (int32_t r = 0; r < block->dim; r++) {
      double sum = s->compliance ? s->compliance[block->row + r] * x[at + r] : 0;
      for (int32_t k = block->side; k < block->side + block->side_count; k++)
        sum += dot6(load(&s->e[d->sides[k].at + r]), load(&d->moved[d->sides[k].body]));
      y[at + r] = sum;
    }
  }
}

// r^T z over the rows of blocks.
static double measure(const CniDirect *d, int32_t island, const double *r, const double *z) {
  double sum = 0;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t i = d->at[k]; i < d->at[k + 1] && d->order[k] < d->block_count; i++)
      sum += r[i] * z[i];
  return sum;
}

// y = factor^-1 x
static void precondition(CniDirect *d, int32_t island, const double *x) {
  int32_t begin = d->at[d->island_start[island]], end = d->at[d->island_start[island + 1]];
  memcpy(d->y + begin, x + begin, (size_t)(end - begin) * sizeof *d->y);
  substitute(d, island, d->y);
}

// Takes the part out of the right-hand side that no x can give, where rows contradict each other by
// round-off or by joints that are open: with P = S + shift D, (shift D P^-1)^n leaves of it what S
// cannot reach and next to nothing of the rest.
static void make_consistent(CniDirect *d, int32_t island) {
  int32_t begin = d->at[d->island_start[island]], end = d->at[d->island_start[island + 1]];
  const double *from = d->residual;
  for (int32_t n = 0; n < FILTERS; n++, from = d->image) {
    precondition(d, island, from);
    for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
      for (int32_t i = d->at[k]; i < d->at[k + 1]; i++)
        d->image[i] = d->order[k] < d->block_count ? CNI_DIRECT_SHIFT * d->weight[i] * d->y[i] : 0;
  }
  for (int32_t i = begin; i < end; i++) d->residual[i] -= d->image[i];
}

// Conjugate gradients from zero; the residual is in d->residual, the solution goes to d->y. Rows of
// hubs stay zero in all vectors but y.
static void gradients(CniDirect *d, int32_t island) {
  int32_t begin = d->at[d->island_start[island]], end = d->at[d->island_start[island + 1]];
  make_consistent(d, island);
  precondition(d, island, d->residual);
  double now = measure(d, island, d->residual, d->y), enough = STEPS_ENOUGH * now;
  for (int32_t i = begin; i < end; i++) {
    d->sum[i] = 0;
    d->step[i] = d->y[i];
    d->image[i] = 0;
  }
  for (int32_t n = 0; n < STEPS_MOST && now > enough; n++) {
    cni_direct_product(d, island, d->step, d->image);
    double curve = measure(d, island, d->step, d->image);
    if (!(LONGEST * curve > now)) break; // the rest is contradiction or round-off
    double length = now / curve;
    for (int32_t i = begin; i < end; i++) {
      d->sum[i] += length * d->step[i];
      d->residual[i] -= length * d->image[i];
    }
    precondition(d, island, d->residual);
    double next = measure(d, island, d->residual, d->y), share = next / now;
    if (!(next < now)) {
      for (int32_t i = begin; i < end; i++) d->sum[i] -= length * d->step[i];
      break;
    }
    for (int32_t i = begin; i < end; i++) d->step[i] = d->y[i] + share * d->step[i];
    now = next;
  }
  memcpy(d->y + begin, d->sum + begin, (size_t)(end - begin) * sizeof *d->y);
}

// The right-hand side less S times what is there (null: nothing), by places.
static void load_island(CniDirect *d, int32_t island, const double *c, double *to) {
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    int block = d->order[k] < d->block_count;
    const double *from = block ? c + d->blocks[d->order[k]].row : NULL;
    for (int32_t r = 0; r < d->dim[k]; r++) to[d->at[k] + r] = block ? from[r] : 0;
  }
}

static void solve_island(CniDirect *d, int32_t island, const double *c, int32_t steps) {
  if (d->care[island] == CNI_DIRECT_SHIFTED) {
    load_island(d, island, c, d->residual);
    gradients(d, island);
    return;
  }
  if (d->care[island] == CNI_DIRECT_REFINED && steps < 1) steps = 1;
  load_island(d, island, c, d->y);
  substitute(d, island, d->y);
  int32_t begin = d->at[d->island_start[island]], end = d->at[d->island_start[island + 1]];
  for (int32_t n = 0; n < steps; n++) {
    cni_direct_product(d, island, d->y, d->image);
    load_island(d, island, c, d->residual);
    for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
      for (int32_t i = d->at[k]; i < d->at[k + 1] && d->order[k] < d->block_count; i++)
        d->residual[i] -= d->image[i];
    substitute(d, island, d->residual);
    for (int32_t i = begin; i < end; i++) d->y[i] += d->residual[i];
  }
}

static void store_island(const CniDirect *d, int32_t island, double *x) {
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    if (d->order[k] >= d->block_count) continue;
    double *to = x + d->blocks[d->order[k]].row;
    for (int32_t r = 0; r < d->dim[k]; r++) to[r] = d->y[d->at[k] + r];
  }
}

void cni_direct_solve(CniDirect *d, const double *c, double *x, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    solve_island(d, i, c, 0);
    store_island(d, i, x);
  }
}

typedef struct RefineLoop {
  CniDirect *d;
  const double *c;
  double *x;
  int32_t steps;
} RefineLoop;

static void refine_islands(void *context, int32_t begin, int32_t end) {
  const RefineLoop *loop = context;
  for (int32_t i = begin; i < end; i++) {
    solve_island(loop->d, i, loop->c, loop->steps);
    store_island(loop->d, i, loop->x);
  }
}

void cni_direct_refine(CniDirect *d, const double *c, double *x, int32_t steps, CnTasks *tasks) {
  RefineLoop loop = {d, c, x, steps};
  cni_parallel_for(tasks, d->island_count, ISLANDS_PER_TASK, refine_islands, &loop);
}

int32_t cni_direct_dependent(const CniDirect *d, int32_t *rows, int32_t capacity) {
  int32_t count = 0;
  for (int32_t b = 0; b < d->block_count; b++)
    for (int32_t r = 0; r < d->blocks[b].dim; r++) {
      if (!d->lost[d->at[d->place[b]] + r]) continue;
      if (count < capacity) rows[count] = d->blocks[b].row + r;
      count++;
    }
  return count;
}
