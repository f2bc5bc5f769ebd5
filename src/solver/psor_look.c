// Looks at the tolerance: is every block's residual below the limit?
//
// The measure is the certificate's, S_i |g_i - P_K(g_i - (u_i + s_i)/S_i)| against the tolerance
// times the largest |r_i|, the velocity without any impulse. The answer is no at the first block
// that fails, and the next look begins there.
#include "solver/psor.h"
#include "core/tasks.h"

#include <string.h>

#define BLOCKS_PER_TASK 2048

static double norm(const double *x, int32_t dim) {
  double sum = 0;
  for (int32_t i = 0; i < dim; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

// The first row of a block takes |r_i|.
static void free_blocks(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  const CnProblem *p = s->p;
  for (int32_t i = begin; i < end; i++) {
    const CniBlock *block = &p->blocks[i];
    double *u = s->u + block->row;
    cni_block_b(p, block, u);
    cni_storages[block->storage].velocity(p, block, s->free, u);
    u[0] = norm(u, block->dim);
  }
}

double cni_psor_free_speed(CniPsor *s) {
  const CnProblem *p = s->p;
  double largest = 0;
  cni_parallel_for(s->def.tasks, p->block_count, BLOCKS_PER_TASK, free_blocks, s);
  for (int32_t i = 0; i < p->block_count; i++) largest = cn_max(largest, s->u[p->blocks[i].row]);
  return largest;
}

// Uses the block's impulses in s->g and the velocities of its groups in s->v.
static double block_residual(CniPsor *s, const CniBlock *block) {
  const CnProblem *p = s->p;
  const double *g = s->g + block->row;
  double b[CNI_MAX_DIM], u[CNI_MAX_DIM], c[CNI_MAX_DIM], x[CNI_MAX_DIM];
  double trace = cni_storages[block->storage].trace(p, block);
  double scale = trace > 0 ? trace / block->dim : 1;
  cni_block_compliance(p, block, c);
  cni_block_b(p, block, b);
  for (int32_t k = 0; k < block->dim; k++) u[k] = b[k] + c[k] * g[k];
  cni_storages[block->storage].velocity(p, block, s->v, u);
  for (int32_t k = 0; k < block->dim; k++) x[k] = g[k] - u[k] / scale;
  x[0] -= cni_shift(p, block, u) / scale;
  cni_project(p, block, x);
  for (int32_t k = 0; k < block->dim; k++) x[k] = g[k] - x[k];
  return scale * norm(x, block->dim);
}

// ---- with the velocities of the sweeps ----

static void fetch_group(CniPsor *s, int32_t i) {
  memcpy(s->v + 6 * (size_t)i, &s->groups[i].v, 3 * sizeof *s->v);
  memcpy(s->v + 6 * (size_t)i + 3, &s->groups[i].w, 3 * sizeof *s->v);
}

static int rows_pass(CniPsor *s, int32_t index, double limit) {
  const CniPsorRows *c = &s->rows[index];
  for (int32_t e = c->entry_begin; e < c->entry_end; e++) {
    int32_t group = s->entries[e].group;
    fetch_group(s, group < 0 ? ~group : group);
  }
  return block_residual(s, &s->p->blocks[c->block]) <= limit;
}

static int batch_passes(CniPsor *s, const CniPsorRun *run, int32_t i, double limit) {
  const CniPsorHead *head = cni_psor_store_batch(s, run, i);
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  for (int32_t lane = 0; lane < batch->lane_count; lane++) {
    int32_t a = head->a[lane], b = head->b[lane];
    fetch_group(s, a < 0 ? ~a : a);
    fetch_group(s, b < 0 ? ~b : b);
    for (int32_t k = 0; k < batch->length; k++)
      if (!(block_residual(s, &s->p->blocks[batch->block[lane] + k]) <= limit)) return 0;
  }
  return 1;
}

// Items [begin, end) of a run; what fails is remembered.
static int run_passes(CniPsor *s, int32_t index, int32_t begin, int32_t end, double limit) {
  const CniPsorRun *run = &s->runs[index];
  for (int32_t i = begin; i < end; i++) {
    int pass = run->kind == CNI_PSOR_ROWS ? rows_pass(s, run->begin + i, limit)
                                          : batch_passes(s, run, i, limit);
    if (pass) continue;
    s->suspect_run = index;
    s->suspect = i;
    return 0;
  }
  return 1;
}

static int all_pass(CniPsor *s, double limit) {
  int32_t first = s->suspect_run, from = s->suspect;
  if (s->run_count == 0) return 1;
  if (!run_passes(s, first, from, s->runs[first].count, limit)) return 0;
  for (int32_t i = 1; i < s->run_count; i++) {
    int32_t index = (first + i) % s->run_count;
    if (!run_passes(s, index, 0, s->runs[index].count, limit)) return 0;
  }
  return run_passes(s, first, 0, from, limit);
}

// ---- with the velocities that the answer will have ----

typedef struct FreshLoop {
  CniPsor *s;
  double limit;
} FreshLoop;

static void fetch_groups(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  for (int32_t i = begin; i < end; i++) fetch_group(s, i);
}

// What the sweeps had goes back to the groups, what is to be looked at to s->v.
static void exchange_groups(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  for (int32_t i = begin; i < end; i++) {
    CnTwist fresh = cni_group_free(&s->groups[i]);
    memcpy(&s->groups[i].v, s->v + 6 * (size_t)i, 3 * sizeof *s->v);
    memcpy(&s->groups[i].w, s->v + 6 * (size_t)i + 3, 3 * sizeof *s->v);
    memcpy(s->v + 6 * (size_t)i, &fresh, sizeof fresh);
  }
}

// The first row of a block takes whether it fails.
static void look_blocks(void *context, int32_t begin, int32_t end) {
  const FreshLoop *loop = context;
  CniPsor *s = loop->s;
  for (int32_t i = begin; i < end; i++) {
    const CniBlock *block = &s->p->blocks[i];
    s->u[block->row] = !(block_residual(s, block) <= loop->limit);
  }
}

// All impulses are in s->g.
static int fresh_pass(CniPsor *s, double limit) {
  const CnProblem *p = s->p;
  FreshLoop loop = {s, limit};
  cni_parallel_for(s->def.tasks, p->group_count, BLOCKS_PER_TASK, fetch_groups, s);
  cni_psor_restart(s);
  cni_parallel_for(s->def.tasks, p->group_count, BLOCKS_PER_TASK, exchange_groups, s);
  cni_parallel_for(s->def.tasks, p->block_count, BLOCKS_PER_TASK, look_blocks, &loop);
  for (int32_t i = 0; i < p->block_count; i++)
    if (s->u[p->blocks[i].row] != 0) return 0;
  return 1;
}

int cni_psor_good_enough(CniPsor *s, double limit) {
  const CnProblem *p = s->p;
  if (p->form == CN_FORM_EXPLICIT) {
    // the error falls about as the change does
    double error = cni_problem_error(p, s->g, s->u), ratio = s->def.tolerance / error;
    s->look_below = s->change * cn_clamp(2 * ratio, .05, .5);
    return error <= s->def.tolerance;
  }
  return all_pass(s, limit) && fresh_pass(s, limit);
}
