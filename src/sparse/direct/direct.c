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
#define LINE CNI_DIRECT_LINE

static const double *load(const CnTwist *e) { return &e->velocity.x; }

static double dot6(const double *a, const double *b) {
  return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

static void factor_shifted(CniDirect *d, int32_t island, double shift) {
  d->kernels->values(d, island, shift);
  d->kernels->factor(d, island, CNI_DIRECT_NOTHING);
}

static void factor_islands(void *context, int32_t begin, int32_t end) {
  CniDirect *d = context;
  for (int32_t i = begin; i < end; i++) {
    d->kernels->values(d, i, 0);
    d->care[i] = (uint8_t)d->kernels->factor(d, i, CNI_DIRECT_LOST);
    if (d->care[i] == CNI_DIRECT_SHIFTED) factor_shifted(d, i, CNI_DIRECT_SHIFT);
  }
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

// y = factor^-1 x
static void precondition(CniDirect *d, int32_t island, const double *x) {
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  memcpy(d->y + begin, x + begin, (size_t)(end - begin) * sizeof *d->y);
  d->kernels->substitute(d, island, d->y);
}

// The part of the residual that no x can give, to d->image, where rows contradict each other by
// round-off or by what they ask for: with P = S + shift D, (shift D P^-1)^n leaves of it what S
// cannot reach and next to nothing of the rest.
static void find_contradiction(CniDirect *d, int32_t island, double shift, int32_t filters) {
  const double *from = d->residual;
  for (int32_t n = 0; n < filters; n++, from = d->image) {
    precondition(d, island, from);
    for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
      for (int32_t i = LINE * k; i < LINE * k + LINE; i++)
        d->image[i] = d->order[k] < d->block_count ? shift * d->weight[i] * d->y[i] : 0;
  }
}

// Conjugate gradients from zero; the residual is in d->residual, the solution goes to d->y. Rows of
// hubs stay zero in all vectors but y.
static void gradients(CniDirect *d, int32_t island) {
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

// The right-hand side less S times what is there (null: nothing), by places.
static void load_island(CniDirect *d, int32_t island, const double *c, double *to) {
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    int block = d->order[k] < d->block_count;
    const double *from = block ? c + d->blocks[d->order[k]].row : NULL;
    for (int32_t r = 0; r < d->dim[k]; r++) to[LINE * k + r] = block ? from[r] : 0;
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
  d->kernels->substitute(d, island, d->y);
  int32_t begin = LINE * d->island_start[island], end = LINE * d->island_start[island + 1];
  for (int32_t n = 0; n < steps; n++) {
    multiply(d, island, d->y, d->image);
    load_island(d, island, c, d->residual);
    for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
      for (int32_t i = LINE * k; i < LINE * k + d->dim[k] && d->order[k] < d->block_count; i++)
        d->residual[i] -= d->image[i];
    d->kernels->substitute(d, island, d->residual);
    for (int32_t i = begin; i < end; i++) d->y[i] += d->residual[i];
  }
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
  int shifted = d->care[island] == CNI_DIRECT_SHIFTED;
  if (proof) *proof = 0;
  if (shifted) load_island(d, island, c, d->residual);
  if (shifted && !proof) find_contradiction(d, island, CNI_DIRECT_SHIFT, FILTERS);
  if (shifted && proof) {
    factor_shifted(d, island, PROOF_SHIFT);
    find_contradiction(d, island, PROOF_SHIFT, FILTERS_MOST);
    *proof = proof_of(d, island);
    factor_shifted(d, island, CNI_DIRECT_SHIFT);
  }
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++) {
    if (d->order[k] >= d->block_count) continue;
    double *to = part + d->blocks[d->order[k]].row;
    for (int32_t r = 0; r < d->dim[k]; r++) {
      to[r] = shifted ? d->image[LINE * k + r] : 0;
      most = cn_max(most, fabs(to[r]));
    }
  }
  return most;
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
      if (!d->lost[LINE * d->place[b] + r]) continue;
      if (count < capacity) rows[count] = d->blocks[b].row + r;
      count++;
    }
  return count;
}
