// SPDX-License-Identifier: Apache-2.0
// What the first-order solvers have in common around their iterations.
//
// Convergence checks. Every check_interval iterations the residual of the present point is measured as the
// certificate does, and the point is kept if it is the best so far: accelerated and non-monotone
// methods go up and down, the answer does not. The first check is of the warm start, which can
// therefore never be made worse. The checks decide what is returned and when to stop, so
// check_interval is part of the result.
//
// Coulomb's law by outer shifts. With s = mu |u_t| held, the problem is convex and its minimiser
// satisfies the law with that s. The first problem has s = 0, and s is brought up to date whenever
// the convex problem is solved to a fraction of what the outdated s costs. Most contacts of a pile
// stick, and the slip that an unfinished solve leaves them must not become a shift: it is taken
// only where the impulse is at the bound of friction, and less what is noise at this stage, in
// proportion to the residual of the convex problem.
//
// On settled piles that runs about the answer in the end. An eager solve, begun near it, brings the shifts up to
// date at every check, whatever the convex problem has come to, and takes all slip: it goes on.
//
// A NaN in a residual (impulses beyond what a double holds) ends the solve with the best point.
#include "solver/gradients/descent.h"
#include "core/clock.h"

#include <string.h>

#define INNER_FRACTION .6 // of the residual, below which the convex problem counts as solved
#define NOISE .3          // of that residual, below which mu |u_t| counts as none
#define STOP_FRACTION .9  // of the tolerance: the certificate rounds in another order

CnStatus cni_descent_create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  CniDescent *s;
  CNI_TRY(cni_new(allocator, sizeof *s, &s));
  s->allocator = *allocator;
  s->def = *def;
  cni_gradient_init(&s->gradient, allocator, def->tasks);
  *state = s;
  return CN_OK;
}

void cni_descent_destroy(void *state) {
  CniDescent *s = state;
  if (!s) return;
  CnAllocator a = s->allocator;
  cni_gradient_release(&s->gradient);
  for (int32_t i = 0; i < CNI_DESCENT_POINTS; i++) {
    cni_release(&a, s->x[i], (size_t)s->x_capacity[i] * sizeof(double));
    cni_release(&a, s->image[i], (size_t)s->image_capacity[i] * sizeof(double));
  }
  cni_release(&a, s->u, (size_t)s->u_capacity * sizeof(double));
  cni_release(&a, s->best, (size_t)s->best_capacity * sizeof(double));
  cni_release(&a, s, sizeof *s);
}

static CnStatus make_room(CniDescent *s) {
  for (int32_t i = 0; i < CNI_DESCENT_POINTS; i++) {
    CNI_TRY(CNI_RESERVE(&s->allocator, s->x[i], s->x_capacity[i], 0, s->gradient.size));
    CNI_TRY(
        CNI_RESERVE(&s->allocator, s->image[i], s->image_capacity[i], 0, s->gradient.image_size));
  }
  CNI_TRY(CNI_RESERVE(&s->allocator, s->u, s->u_capacity, 0, s->gradient.p->row_count));
  return CNI_RESERVE(&s->allocator, s->best, s->best_capacity, 0, s->gradient.size);
}

static void copy(double *to, const double *from, int32_t count) {
  if (count > 0) memcpy(to, from, (size_t)count * sizeof *to);
}

// ---- convergence checks ----

// The measure that decides, of the present point; the image is taken afresh.
static double measure(CniDescent *s) {
  CniGradient *gradient = &s->gradient;
  cni_gradient_image(gradient, s->x[0], s->image[0]);
  cni_gradient_point(gradient, s->image[0], NULL, 0);
  cni_gradient_check(gradient, s->x[0], &s->residual, &s->kept);
  if (gradient->p->form != CN_FORM_EXPLICIT) return s->residual;
  // rows of W lie in x in their own order
  return cni_problem_error(gradient->p, s->x[0], s->u);
}

static int check_convergence(CniDescent *s) {
  double error = measure(s);
  if (error < s->best_residual) {
    s->best_residual = error;
    copy(s->best, s->x[0], s->gradient.size);
  }
  return !(error > s->limit) || error != error;
}

static int shifts_are_old(const CniDescent *s) {
  if (!(s->gradient.coulomb > 0)) return 0;
  return s->eager || s->kept <= INNER_FRACTION * s->residual;
}

// ---- begin, next, end ----

CnStatus cni_descent_begin(CniDescent *s, const CnProblem *p, const CnAnswer *answer,
                           CnSolveReport *report) {
  s->start = cni_seconds();
  CNI_TRY(cni_gradient_prepare(&s->gradient, p));
  CNI_TRY(make_room(s));
  double scale = p->form == CN_FORM_EXPLICIT ? 1 : s->gradient.free_speed;
  s->limit = STOP_FRACTION * s->def.tolerance * scale;
  s->iterations = 0;
  s->best_residual = INFINITY;
  cni_gradient_load(&s->gradient, answer->g, s->x[0]);
  copy(s->best, s->x[0], s->gradient.size);
  report->seconds_setup = cni_seconds() - s->start;
  return CN_OK;
}

CniDescentTurn cni_descent_next(CniDescent *s, CnSolveReport *report) {
  const CnSolverDef *def = &s->def;
  int last = s->iterations >= def->max_iterations || s->gradient.p->block_count == 0;
  if (s->iterations % def->check_interval != 0 && !last) return CNI_DESCENT_GO_ON;
  if (check_convergence(s) || last) return CNI_DESCENT_STOP;
  if (def->time_budget > 0 && cni_seconds() - s->start > def->time_budget) {
    report->cut_by_time = 1;
    return CNI_DESCENT_STOP;
  }
  if (!shifts_are_old(s)) return CNI_DESCENT_GO_ON;
  cni_gradient_shift(&s->gradient, s->x[0], s->eager ? 0 : NOISE * s->kept);
  return CNI_DESCENT_SHIFTED;
}

void cni_descent_end(CniDescent *s, const CnProblem *p, CnAnswer *answer, CnSolveReport *report) {
  report->iterations = s->iterations;
  cni_gradient_store(&s->gradient, s->best, answer->g);
  if (p->form != CN_FORM_EXPLICIT) cni_problem_apply(p, answer->g, answer->v);
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
}

void cni_descent_swap(CniDescent *s, int32_t i, int32_t k) {
  double *x = s->x[i], *image = s->image[i];
  int32_t x_capacity = s->x_capacity[i], image_capacity = s->image_capacity[i];
  s->x[i] = s->x[k];
  s->image[i] = s->image[k];
  s->x_capacity[i] = s->x_capacity[k];
  s->image_capacity[i] = s->image_capacity[k];
  s->x[k] = x;
  s->image[k] = image;
  s->x_capacity[k] = x_capacity;
  s->image_capacity[k] = image_capacity;
}

void cni_descent_copy(CniDescent *s, int32_t i, int32_t k) {
  copy(s->x[k], s->x[i], s->gradient.size);
  copy(s->image[k], s->image[i], s->gradient.image_size);
}
