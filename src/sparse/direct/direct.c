// SPDX-License-Identifier: Apache-2.0
// Direct solution of joints: values, factor, solutions. Where the numbers are made: direct_kernels.inc.
//
// With K K^T = M^-1 of each body the rows of a side are F = E K, and S is the sum of F F^T. Column k is eliminated by blocks: its diagonal block is L D L^T, the rows Z below it solve
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
#define FILTERS_MOST 8      // where it is to be proved that no x gives them,
#define PROOF_SHIFT 1e-11   // with a shift that leaves rows alone that are nearly dependent
#define LONGEST 100         // step along a direction; longer where S is below shift D/100: nothing
#define AGREE 1e-9          // of the largest c: rows that are left out are met by the others
#define LEAST 1e-7          // of the largest norm: a solution is that of least norm
#define MUCH 1e4            // times that, of a row's own size: it is not
#define LINE CNI_DIRECT_LINE

static const double *load(const CnTwist *e) { return &e->velocity.x; }

static double dot6(const double *a, const double *b) {
  return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

// The same island with the factor of S + shift D, which is made where it is not there yet.
static CniDirect shifted(CniDirect *d, int32_t island, double shift) {
  CniDirect other = *d;
  other.value = d->value_shifted;
  other.inverse = d->inverse_shifted;
  if (d->shift[island] == shift) return other;
  d->kernels->values(&other, island, shift);
  d->kernels->factor(&other, island, CNI_DIRECT_NOTHING);
  d->shift[island] = shift;
  return other;
}

static void factor_islands(void *context, int32_t begin, int32_t end) {
  CniDirect *d = context;
  for (int32_t i = begin; i < end; i++) {
    d->shift[i] = d->asked[i] = d->given[i] = 0;
    d->scaled[i] = d->null_known[i] = d->null_used[i] = 0;
    d->kernels->values(d, i, 0);
    d->care[i] = (uint8_t)d->kernels->factor(d, i, d->least_pivot);
  }
}

void cni_direct_again(CniDirect *d) {
  for (int32_t i = 0; i < d->island_count; i++) {
    d->asked[i] = d->given[i] = 0;
    d->null_used[i] = 0;
  }
}

void cni_direct_leave_out(CniDirect *d, double share) { d->least_pivot = share; }

void cni_direct_impose(CniDirect *d, int on) {
  d->imposes = on;
  if (on) memcpy(d->imposed, d->lost, (size_t)d->size * sizeof *d->lost);
}

void cni_direct_factor(CniDirect *d, const CniDirectSystem *s, CnTasks *tasks) {
  d->now = *s;
  cni_parallel_for(tasks, d->island_count, ISLANDS_PER_TASK, factor_islands, d);
}

// ---- solutions ----

// Velocities that impulses x give to the bodies of an island.
static void move_bodies(const CniDirect *d, int32_t island, const double *x) {
  const CniDirectSystem *s = &d->now;
  int32_t begin = d->block_start[island], end = d->block_start[island + 1];
  for (int32_t i = begin; i < end; i++) {
    const CniDirectBlock *block = &d->blocks[d->block_list[i]];
    const double *own = x + (size_t)LINE * (size_t)d->place[d->block_list[i]];
    for (int32_t k = block->side; k < block->side + block->side_count; k++) {
      CnTwist *moved = &d->moved[d->sides[k].body], sum = {CN_VEC3_ZERO, CN_VEC3_ZERO};
      const CnTwist *e = s->e + d->sides[k].at;
      if (d->first_side[d->sides[k].body] != k) sum = *moved;
      for (int32_t r = 0; r < block->dim; r++) {
        sum.velocity = cn_madd(sum.velocity, own[r], e[r].velocity);
        sum.spin = cn_madd(sum.spin, own[r], e[r].spin);
      }
      *moved = sum;
    }
  }
  for (int32_t i = begin; i < end; i++) {
    const CniDirectBlock *block = &d->blocks[d->block_list[i]];
    for (int32_t k = block->side; k < block->side + block->side_count; k++) {
      int32_t body = d->sides[k].body;
      if (d->first_side[body] != k) continue;
      d->moved[body].velocity = cn_scale(s->bodies[body].inv_mass, d->moved[body].velocity);
      d->moved[body].spin = cn_smul(s->bodies[body].inv_inertia, d->moved[body].spin);
    }
  }
}

// y = S x by places, of one island.
static void multiply(const CniDirect *d, int32_t island, const double *x, double *y) {
  const CniDirectSystem *s = &d->now;
  move_bodies(d, island, x);
  for (int32_t i = d->block_start[island]; i < d->block_start[island + 1]; i++) {
    const CniDirectBlock *block = &d->blocks[d->block_list[i]];
    size_t at = (size_t)LINE * (size_t)d->place[d->block_list[i]];
    for (int32_t r = 0; r < block->dim; r++) {
      double sum = s->compliance ? s->compliance[block->row + r] * x[at + (size_t)r] : 0;
      for (int32_t k = block->side; k < block->side + block->side_count; k++)
        sum += dot6(load(&s->e[d->sides[k].at + r]), load(&d->moved[d->sides[k].body]));
      y[at + (size_t)r] = sum;
    }
  }
}

// r^T z over the rows of blocks.
static double measure(const CniDirect *d, int32_t island, const double *r, const double *z) {
  double sum = 0;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t i = LINE * k; i < LINE * k + d->dim[k] && d->order[k] < d->block_count; i++)
      sum += r[i] * z[i];
  return sum;
}

// x <- factor^-1 x
static void substitute(const CniDirect *d, int32_t island, double *x) {
  d->kernels->forward(d, island, x);
  d->kernels->backward(d, island, x);
}

// y = factor^-1 x
static void precondition(const CniDirect *d, int32_t island, const double *x) {
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  memcpy(d->y + begin, x + begin, (size_t)(end - begin) * sizeof *d->y);
  substitute(d, island, d->y);
}

// The part of the residual that no x can give, to d->image, where rows contradict each other by
// round-off or by what they ask for: with P = S + shift D, (shift D P^-1)^n leaves of it what S
// cannot reach and next to nothing of the rest.
static void find_contradiction(const CniDirect *d, int32_t island, double shift, int32_t filters) {
  const double *from = d->residual;
  for (int32_t n = 0; n < filters; n++, from = d->image) {
    precondition(d, island, from);
    for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
      for (int32_t i = LINE * k; i < LINE * k + LINE; i++)
        d->image[i] = d->order[k] < d->block_count ? shift * d->weight[i] * d->y[i] : 0;
  }
}

// Conjugate gradients from zero with the shifted factor; the residual is in d->residual, the solution
// goes to d->y. Rows of hubs stay zero in all vectors but y.
static void gradients(const CniDirect *d, int32_t island) {
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  find_contradiction(d, island, CNI_DIRECT_SHIFT, FILTERS);
  for (int32_t i = begin; i < end; i++) d->residual[i] -= d->image[i];
  precondition(d, island, d->residual);
  double now = measure(d, island, d->residual, d->y), enough = STEPS_ENOUGH * now;
  for (int32_t i = begin; i < end; i++) {
    d->sum[i] = 0;
    d->step[i] = d->y[i];
    d->image[i] = 0;
  }
  for (int32_t n = 0; n < STEPS_MOST && now > enough; n++) {
    multiply(d, island, d->step, d->image);
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

// By places; 0 at hubs.
static void load_island(CniDirect *d, int32_t island, const double *c, double *to) {
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    int block = d->order[k] < d->block_count;
    const double *from = block ? c + d->blocks[d->order[k]].row : NULL;
    for (int32_t r = 0; r < d->dim[k]; r++) to[LINE * k + r] = block ? from[r] : 0;
  }
}

// y by a step of refinement: y += factor^-1 (c - S y)
static void refine(CniDirect *d, int32_t island, const double *c) {
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  multiply(d, island, d->y, d->image);
  load_island(d, island, c, d->residual);
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t i = LINE * k; i < LINE * k + d->dim[k] && d->order[k] < d->block_count; i++)
      d->residual[i] -= d->image[i];
  substitute(d, island, d->residual);
  for (int32_t i = begin; i < end; i++) d->y[i] += d->residual[i];
}

// ---- rows that depend on others ----
//
// L^-1 has in the row of one that was left out a vector n with S n = 0: n.c is what contradicts in c, and
// n.D x = 0 for all of them where x is of least norm.

static double largest(const CniDirect *d, int32_t island, const double *x, int only_lost) {
  double most = 0;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t i = LINE * k; i < LINE * k + d->dim[k] && d->order[k] < d->block_count; i++)
      if (!only_lost || d->lost[i]) most = cn_max(most, fabs(x[i]));
  return most;
}

// Is c in d->residual one that all rows can have, but for round-off? L^-1 c to d->y.
static int agree(CniDirect *d, int32_t island) {
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  d->asked[island] = cn_max(d->asked[island], largest(d, island, d->residual, 0));
  memcpy(d->y + begin, d->residual + begin, (size_t)(end - begin) * sizeof *d->y);
  d->kernels->forward(d, island, d->y);
  return largest(d, island, d->y, 1) <= AGREE * d->asked[island];
}

// About the norm of each n: n.z, where z has a sign by chance and the size sqrt(D) in every row. Where
// that is too small by chance, a solution is only looked at more sharply.
static void find_scales(CniDirect *d, int32_t island) {
  uint32_t chance = 1;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t i = LINE * k; i < LINE * k + LINE; i++) {
      int row = d->order[k] < d->block_count && i < LINE * k + d->dim[k];
      chance = 1664525 * chance + 1013904223;
      d->scale[i] = row ? (chance >> 31 ? 1 : -1) * sqrt(d->weight[i]) : 0;
    }
  d->kernels->forward(d, island, d->scale);
  d->scaled[island] = 1;
}

// Is what y has of every n next to nothing? D y to d->residual.
static int is_least(CniDirect *d, int32_t island) {
  double square = 0, bound;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t i = LINE * k; i < LINE * k + LINE; i++) {
      int row = d->order[k] < d->block_count && i < LINE * k + d->dim[k];
      d->image[i] = d->residual[i] = row ? d->weight[i] * d->y[i] : 0;
      if (row) square += d->residual[i] * d->y[i];
    }
  d->given[island] = cn_max(d->given[island], square);
  bound = LEAST * sqrt(d->given[island]);
  d->kernels->forward(d, island, d->image);
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  for (int32_t i = begin; i < end && !d->scaled[island]; i++) // no n is as large as that
    if (d->lost[i] && fabs(d->image[i]) > MUCH * bound * sqrt(d->weight[i])) return 0;
  if (!d->scaled[island]) find_scales(d, island);
  for (int32_t i = begin; i < end; i++)
    if (d->lost[i] && !(fabs(d->image[i]) <= bound * fabs(d->scale[i]))) return 0;
  return 1;
}

// y becomes the one of least norm with the same S y: without its part along the vectors n where these are few
// (direct_least.c), else (shift P^-1 D)^n leaves of y what S does not see.
static void make_least(CniDirect *d, int32_t island) {
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  if (d->null_used[island] && cni_direct_project(d, island)) return;
  if (is_least(d, island)) return;
  d->null_used[island] = 1;
  if (cni_direct_project(d, island)) return;
  memcpy(d->sum + begin, d->y + begin, (size_t)(end - begin) * sizeof *d->y);
  CniDirect other = shifted(d, island, CNI_DIRECT_SHIFT);
  find_contradiction(&other, island, CNI_DIRECT_SHIFT, FILTERS);
  // the filter's last solution is what it leaves, over the shift
  for (int32_t i = begin; i < end; i++) d->y[i] = d->sum[i] - CNI_DIRECT_SHIFT * d->y[i];
}

// least: 0: any solution will do. steps: of refinement, below 0: none.
static void solve_island(CniDirect *d, int32_t island, const double *c, int32_t steps, int least) {
  int care = d->care[island];
  if ((care & CNI_DIRECT_REFINED) && steps == 0) steps = 1;
  if (care & CNI_DIRECT_BASIC) {
    load_island(d, island, c, d->residual);
    if (!agree(d, island)) {
      CniDirect other = shifted(d, island, CNI_DIRECT_SHIFT);
      gradients(&other, island);
      return;
    }
    d->kernels->backward(d, island, d->y);
  } else {
    load_island(d, island, c, d->y);
    substitute(d, island, d->y);
  }
  for (int32_t n = 0; n < steps; n++) refine(d, island, c);
  if (least && (care & CNI_DIRECT_BASIC)) make_least(d, island);
}

static void store_island(const CniDirect *d, int32_t island, double *x) {
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    if (d->order[k] >= d->block_count) continue;
    double *to = x + d->blocks[d->order[k]].row;
    for (int32_t r = 0; r < d->dim[k]; r++) to[r] = d->y[LINE * k + r];
  }
}

// With y = D^-1 d->image, of what is left of c: y^T c = y^T S x <= sqrt(y^T S y) sqrt(x^T S x) for every
// x that gives c, and S y is next to nothing.
static double proof_of(CniDirect *d, int32_t island) {
  double asked = 0;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t i = LINE * k; i < LINE * k + LINE; i++) {
      int row = d->order[k] < d->block_count && i < LINE * k + d->dim[k] && d->weight[i] > 0;
      d->sum[i] = row ? d->image[i] / d->weight[i] : 0;
      if (row && d->diagonal[i] > 0)
        asked = cn_max(asked, fabs(d->residual[i]) / sqrt(d->diagonal[i]));
    }
  multiply(d, island, d->sum, d->step);
  double along = measure(d, island, d->sum, d->residual);
  double given = sqrt(cn_max(0, measure(d, island, d->sum, d->step))) * asked;
  return along > 0 ? (given > 0 ? along / given : INFINITY) : 0;
}

double cni_direct_contradiction(CniDirect *d, const double *c, int32_t island, double *part,
                                double *proof) {
  double most = 0;
  int found = 0;
  if (proof) *proof = 0;
  if (d->care[island] & CNI_DIRECT_BASIC) {
    load_island(d, island, c, d->residual);
    found = !agree(d, island);
  }
  if (found) {
    double shift = proof ? PROOF_SHIFT : CNI_DIRECT_SHIFT;
    CniDirect other = shifted(d, island, shift);
    find_contradiction(&other, island, shift, proof ? FILTERS_MOST : FILTERS);
    if (proof) *proof = proof_of(d, island);
  }
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    if (d->order[k] >= d->block_count) continue;
    double *to = part + d->blocks[d->order[k]].row;
    for (int32_t r = 0; r < d->dim[k]; r++) {
      to[r] = found ? d->image[LINE * k + r] : 0;
      most = cn_max(most, fabs(to[r]));
    }
  }
  return most;
}

void cni_direct_solve(CniDirect *d, const double *c, double *x, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    solve_island(d, i, c, 0, 1);
    store_island(d, i, x);
  }
}

void cni_direct_solve_basic(CniDirect *d, const double *c, double *x, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    load_island(d, i, c, d->y);
    substitute(d, i, d->y);
    if ((d->care[i] & CNI_DIRECT_REFINED) && !(d->care[i] & CNI_DIRECT_BASIC)) refine(d, i, c);
    store_island(d, i, x);
  }
}

void cni_direct_expect(CniDirect *d, int32_t island, double size) {
  d->asked[island] = cn_max(d->asked[island], size);
}

void cni_direct_solve_once(CniDirect *d, const double *c, double *x) {
  for (int32_t i = 0; i < d->island_count; i++) {
    solve_island(d, i, c, -1, 1);
    store_island(d, i, x);
  }
}

void cni_direct_solve_some(CniDirect *d, const double *c, double *x, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    solve_island(d, i, c, 0, 0);
    store_island(d, i, x);
  }
}

void cni_direct_least(CniDirect *d, double *x, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    if (!(d->care[i] & CNI_DIRECT_BASIC)) continue;
    load_island(d, i, x, d->y);
    make_least(d, i);
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
    solve_island(loop->d, i, loop->c, loop->steps, 1);
    store_island(loop->d, i, loop->x);
  }
}

void cni_direct_refine(CniDirect *d, const double *c, double *x, int32_t steps, CnTasks *tasks) {
  RefineLoop loop = {d, c, x, steps};
  cni_parallel_for(tasks, d->island_count, ISLANDS_PER_TASK, refine_islands, &loop);
}

// ---- where F is given ----

double *cni_direct_lines(CniDirect *d) { return d->f; }

int cni_direct_solve_lines(CniDirect *d, const double *c, double *x) {
  for (int32_t i = 0; i < d->island_count; i++) {
    load_island(d, i, c, d->residual);
    if (!agree(d, i)) return 0;
    d->kernels->backward(d, i, d->y);
  }
  for (int32_t i = 0; i < d->island_count; i++) store_island(d, i, x);
  return 1;
}

int32_t cni_direct_lost(const CniDirect *d) {
  int32_t count = 0;
  for (int64_t i = 0; i < d->size; i++) count += d->lost[i];
  return count;
}

void cni_direct_measure_null(CniDirect *d, const double *z) {
  for (int32_t i = 0; i < d->island_count; i++) {
    load_island(d, i, z, d->scale);
    d->kernels->forward(d, i, d->scale);
  }
}

int cni_direct_is_beside_null(CniDirect *d, const double *y, double bound) {
  for (int32_t i = 0; i < d->island_count; i++) {
    load_island(d, i, y, d->image);
    d->kernels->forward(d, i, d->image);
  }
  for (int64_t i = 0; i < d->size; i++)
    if (d->lost[i] && !(fabs(d->image[i]) <= bound * fabs(d->scale[i]))) return 0;
  return 1;
}

int32_t cni_direct_dependent(const CniDirect *d, int32_t *rows, int32_t capacity) {
  int32_t count = 0;
  for (int32_t b = 0; b < d->block_count; b++)
    for (int32_t r = 0; r < d->blocks[b].dim; r++) {
      if (!d->lost[LINE * d->place[b] + r]) continue;
      if (count < capacity) rows[count] = d->blocks[b].row + r;
      count++;
    }
  return count;
}
