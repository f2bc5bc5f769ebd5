// Projected successive over-relaxation, forth (psor) or forth and back (pssor).
//
// Unknowns are the impulses g. The sweep keeps v = M^-1 (k + E^T g) true at all times, so N is
// never formed: a block costs two group reads and two writes whatever the size of the pile. Blocks
// are visited in the order the problem fixes, which is part of the result.
//
//     d = g_i - (omega/eta_i)(E_i v + b_i + C g_i)
//     g_i <- (1 - lambda) g_i + lambda P_K(d),   v += M^-1 E_i^T (change of g_i)
//
// On bilateral rows alone this is linear SOR. On the convex problem every sweep decreases the dual
// objective 1/2 g^T N g + r^T g. Cost: one pass over the blocks an iteration (two for pssor).
//
// The tolerance is looked at every check_interval iterations, on the certificate's own measure with
// v recomputed from g, so that what stops a solve is what certifies it. The sweeps do not see these
// looks: the bits depend on the number of iterations alone.
//
// References: Tasora and Anitescu 2006, 2007.
#include "solver/psor.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

CnStatus cni_psor_create(const CnSolverDef *def, const CnAllocator *allocator, int32_t back,
                         void **state) {
  CniPsor *s = cni_allocate(allocator, sizeof *s);
  if (!s) return cni_error_memory(sizeof *s);
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
  s->def = *def;
  s->rule = (CniLocalRule){def->relaxation, def->acceleration, (int32_t)def->local};
  s->back = back;
  *state = s;
  return CN_OK;
}

void cni_psor_destroy(void *state) {
  CniPsor *s = state;
  if (!s) return;
  CnAllocator a = s->allocator;
#define DROP(array, capacity) cni_release(&a, s->array, (size_t)s->capacity * sizeof *s->array)
  DROP(groups, group_capacity);
  DROP(inertia, inertia_capacity);
  DROP(spheres, sphere_capacity);
  DROP(pairs, pair_capacity);
  DROP(wides, wide_capacity);
  DROP(rows, rows_capacity);
  DROP(entries, entry_capacity);
  DROP(runs, run_capacity);
  DROP(pool, pool_capacity);
  DROP(g, g_capacity);
  DROP(u, u_capacity);
  DROP(v, v_capacity);
#undef DROP
  cni_release(&a, s, sizeof *s);
}

static void sweep_run(CniPsor *s, const CniPsorRun *run, int32_t step) {
  static void (*const kernels[CNI_PSOR_KERNEL_COUNT])(CniPsor *, int32_t, int32_t, int32_t) = {
      cni_psor_sphere_split, cni_psor_sphere_project, cni_psor_pair_split, cni_psor_pair_project,
      cni_psor_wide,         cni_psor_rows,           cni_psor_explicit};
  kernels[run->kernel](s, run->begin, run->end, step);
}

static void iterate(CniPsor *s) {
  for (int32_t i = 0; i < s->run_count; i++) sweep_run(s, &s->runs[i], 1);
  if (!s->back) return;
  for (int32_t i = s->run_count - 1; i >= 0; i--) sweep_run(s, &s->runs[i], -1);
}

static double norm(const double *x, int32_t dim) {
  double sum = 0;
  for (int32_t i = 0; i < dim; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

// max_i |r_i|, the velocities without any impulse. Uses v and u.
static double free_speed(CniPsor *s) {
  const CnProblem *p = s->p;
  double largest = 0;
  for (int32_t i = 0; i < p->row_count; i++) s->u[i] = p->b[i];
  if (p->form == CN_FORM_STEP) {
    for (int32_t i = 0; i < p->group_count; i++)
      memcpy(s->v + 6 * i, &p->groups[i].free, 6 * sizeof *s->v);
    for (int32_t i = 0; i < p->block_count; i++) {
      const CniBlock *block = &p->blocks[i];
      cni_storages[block->storage].velocity(p, block, s->v, s->u + block->row);
    }
  }
  for (int32_t i = 0; i < p->block_count; i++)
    largest = cn_max(largest, norm(s->u + p->blocks[i].row, p->blocks[i].dim));
  return largest;
}

// max_i S_i |g_i - P_K(g_i - (u_i + s_i)/S_i)|, as in the certificate. Uses g, v and u.
static double residual_speed(CniPsor *s) {
  const CnProblem *p = s->p;
  double worst = 0;
  cni_psor_store(s);
  if (p->form == CN_FORM_STEP) cni_problem_apply(p, s->g, s->v);
  cni_problem_velocity(p, s->v, s->g, s->u);
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    const double *g = s->g + block->row, *u = s->u + block->row;
    double x[CNI_MAX_DIM], trace = cni_storages[block->storage].trace(p, block);
    double scale = trace > 0 ? trace / block->dim : 1;
    for (int32_t k = 0; k < block->dim; k++) x[k] = g[k] - u[k] / scale;
    x[0] -= cni_shift(p, block, u) / scale;
    cni_project(p, block, x);
    for (int32_t k = 0; k < block->dim; k++) x[k] = g[k] - x[k];
    worst = cn_max(worst, scale * norm(x, block->dim));
  }
  return worst;
}

// Whether the error that decides (solver.h) is at most the tolerance. `limit` is that of
// residual_speed, for the step form.
static int good_enough(CniPsor *s, double limit) {
  if (s->p->form == CN_FORM_STEP) return residual_speed(s) <= limit;
  cni_psor_store(s);
  return cni_problem_error(s->p, s->g, s->u) <= s->def.tolerance;
}

// Impulses, velocities and constraint velocities; v afresh from g, without the sweeps' round-off.
static void finish(CniPsor *s, CnAnswer *answer) {
  const CnProblem *p = s->p;
  cni_psor_store(s);
  if (p->row_count > 0) memcpy(answer->g, s->g, (size_t)p->row_count * sizeof *s->g);
  if (p->form == CN_FORM_STEP) cni_problem_apply(p, answer->g, answer->v);
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
}

CnStatus cni_psor_solve(void *state, CnProblem *p, CnAnswer *answer, CnSolveReport *report) {
  CniPsor *s = state;
  const CnSolverDef *def = &s->def;
  double start = cni_clock();
  CNI_TRY(cni_psor_prepare(s, p, answer->g));
  double limit = 0;
  if (def->tolerance > 0 && p->form == CN_FORM_STEP) limit = def->tolerance * free_speed(s);
  report->seconds_setup = cni_clock() - start;

  int32_t iterations = 0, wanted = p->block_count > 0 ? def->max_iterations : 0;
  while (iterations < wanted) {
    iterate(s);
    iterations++;
    if (iterations % def->check_interval != 0 || iterations == wanted) continue;
    if (def->tolerance > 0 && good_enough(s, limit)) break;
    if (def->time_budget > 0 && cni_clock() - start > def->time_budget) {
      report->cut_by_time = 1;
      break;
    }
  }
  report->iterations = iterations;
  finish(s, answer);
  return CN_OK;
}
