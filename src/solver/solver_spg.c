// SPDX-License-Identifier: Apache-2.0
// spg: spectral projected gradient, steps of Barzilai and Borwein with a non-monotone line search.
//
//     d = P(x - t D^-1 u(x)) - x,   x <- x + lambda d
//
// t is the inverse of the curvature found along the last direction, t = |d|^2/(d^T N d) in the
// metric D: steps of very different lengths, each of which removes other parts of the error, at the
// price of an objective that now and then rises. lambda = 1 is taken while f stays below the
// largest of its last values (Grippo, Lampariello and Lucidi); else the exact minimiser along d,
// which costs nothing as f is quadratic: f(x + lambda d) = f(x) + lambda u.d + lambda^2/2 d^T N d.
//
// Cost of an iteration: one pass over the blocks and two over the groups. Reference: Birgin,
// Martinez and Raydan 2000; Heyn, Anitescu, Tasora and Negrut 2013.
#include "solver/gradients/descent.h"

#define MEMORY 10       // values of f
#define SUFFICIENT 1e-4 // decrease, in parts of the slope
#define LEAST_STEP 1e-5
#define LARGEST_STEP 1e3

// Values of f are kept relative to the present one: near the minimum they differ by less than the
// round-off of f itself.
typedef struct Spectral {
  double t;
  double past[MEMORY];
  int32_t count; // since the shifts last changed
} Spectral;

static double highest(const Spectral *b) {
  double f = 0;
  for (int32_t i = 0; i < MEMORY && i < b->count; i++) f = cn_max(f, b->past[i]);
  return f;
}

// f changes by df.
static void remember(Spectral *b, double df) {
  b->past[b->count % MEMORY] = 0;
  b->count = b->count < 2 * MEMORY ? b->count + 1 : MEMORY + 1;
  for (int32_t i = 0; i < MEMORY && i < b->count; i++) b->past[i] -= df;
}

// One iteration on point 0; point 1 is the direction.
static void step(CniDescent *s, Spectral *b) {
  CniGradient *g = &s->gradient;
  CniGradientVector none = {NULL, NULL};
  double sums[CNI_GRAD_SUMS];
  cni_gradient_point(g, s->image[0], NULL, 0);
  cni_gradient_direction(g, s->x[0], b->t, s->x[1], s->image[1], sums);
  CniGradientVector d = {s->x[1], s->image[1]};
  double curvature = sums[2] + cni_gradient_curvature(g, d, none, none, 0);
  double slope = cn_min(sums[1], -sums[0] / b->t); // what it is but for cancellation

  double lambda = 1;
  if (slope + .5 * curvature > highest(b) + SUFFICIENT * slope && curvature > 0)
    lambda = cn_clamp(-slope / curvature, 0, 1);
  remember(b, lambda * slope + .5 * lambda * lambda * curvature);
  cni_gradient_add(g, g->size, lambda, s->x[1], s->x[0]);
  cni_gradient_add(g, g->image_size, lambda, s->image[1], s->image[0]);
  b->t = curvature > 0 ? cn_clamp(sums[0] / curvature, LEAST_STEP, LARGEST_STEP) : 1;
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  CniDescent *s = state;
  (void)memory;
  CNI_TRY(cni_descent_begin(s, p, answer, report));
  Spectral b = {.t = 1};
  CniDescentTurn turn = cni_descent_next(s, report);
  while (turn != CNI_DESCENT_STOP) {
    if (turn == CNI_DESCENT_SHIFTED) b.count = 0;
    step(s, &b);
    s->iterations++;
    turn = cni_descent_next(s, report);
  }
  cni_descent_end(s, p, answer, report);
  return CN_OK;
}

const CnSolverKind cni_solver_spg = {
    .name = "spg",
    .summary = "spectral projected gradient (Barzilai-Borwein), non-monotone: matrix-free, for "
               "large piles",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT | CNI_ACCEPT_COULOMB |
               CNI_ACCEPT_CONVEX,
    .defaults = {.tolerance = 0, .max_iterations = 120},
    .create = cni_descent_create,
    .solve = solve,
    .destroy = cni_descent_destroy,
};
