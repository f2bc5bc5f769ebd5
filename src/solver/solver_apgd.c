// SPDX-License-Identifier: Apache-2.0
// apgd: Nesterov's accelerated projected gradient with adaptive restart and backtracking.
//
//     y = x + beta (x - x_old)
//     x_new = P(y - t D^-1 u(y)),   u = N y + r
//
// A step d = x_new - y is accepted if f lies below its model there, f(x_new) <= f(y) + u.d +
// |d|^2/(2t); as f is quadratic this is t d^T N d <= |d|^2, in the metric D. Else t is cut to what
// the test would have allowed. d^T N d comes from the change of the momenta, one pass over the groups;
// after the first iterations, when t is found, only some are tested.
//
// beta follows Nesterov's sequence, up to a largest value, and is set back to zero where the step
// turns against the motion, (y - x_new).D (x_new - x) > 0: without that the method runs round the
// minimum. New shifts of Coulomb's law take some of the momentum and leave the rest: zero would
// cost a pile tens of iterations each time. Error after k iterations O(1/k^2) on the convex
// problem, linear near the solution; psor's is O(1/k).
//
// Cost of an iteration: one pass over the blocks and two over the groups, about one and a half
// sweeps of psor. References: Mazhar, Heyn, Negrut and Tasora 2015; O'Donoghue and Candes 2015.
#include "solver/gradients/descent.h"

#define FIRST_STEP 1.   // the largest eigenvalue of D^-1 N is at least one
#define LEAST_STEP 1e-5 // blocks that touch one light body, at most some ten thousand
#define GROWTH 1.02     // of t while the test leaves room
#define ROOM 1.2        //
#define LONGEST_SEARCH 30
#define SHIFTED_THETA .02 // momentum that is kept when the shifts of Coulomb's law change
#define LEAST_THETA .005  // modes that swing die out within some hundred iterations
#define ALL_TESTED 40     // iterations in which t is found
#define TEST_INTERVAL 5   // afterwards

typedef struct Pace {
  double t, beta, theta;
} Pace;

// Does the step that was made pass? Else t is cut.
static int test(CniDescent *s, const double sums[CNI_GRAD_SUMS], Pace *pace) {
  CniGradientVector at[3];
  for (int32_t k = 0; k < 3; k++) at[k] = (CniGradientVector){s->x[k], s->image[k]};
  double curvature =
      sums[2] + cni_gradient_curvature(&s->gradient, at[2], at[0], at[1], pace->beta);
  if (!(curvature * pace->t > sums[0]) || pace->t <= LEAST_STEP) {
    if (curvature * pace->t * ROOM < sums[0]) pace->t *= GROWTH;
    return 1;
  }
  pace->t = cn_max(LEAST_STEP, cn_max(.5 * pace->t, .95 * sums[0] / curvature));
  return 0;
}

// A step from points 0 and 1 to point 2; returns what the test for a restart says.
static double step(CniDescent *s, Pace *pace) {
  CniGradient *g = &s->gradient;
  double sums[CNI_GRAD_SUMS];
  int tested = s->iterations < ALL_TESTED || s->iterations % TEST_INTERVAL == 0;
  cni_gradient_point(g, s->image[0], s->image[1], pace->beta);
  for (int32_t i = 0; i < LONGEST_SEARCH; i++) {
    cni_gradient_step(g, s->x[0], s->x[1], pace->beta, pace->t, s->x[2], s->image[2], sums);
    if (!tested || test(s, sums, pace)) break;
  }
  return sums[1];
}

// The next beta of Nesterov's sequence.
static void speed_up(Pace *pace) {
  double theta2 = pace->theta * pace->theta;
  double next = .5 * (sqrt(theta2 * theta2 + 4 * theta2) - theta2);
  pace->beta = pace->theta * (1 - pace->theta) / (theta2 + next);
  pace->theta = cn_max(next, LEAST_THETA);
}

static void slow_down(Pace *pace) {
  pace->beta = 0;
  pace->theta = 1;
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  CniDescent *s = state;
  (void)memory;
  CNI_TRY(cni_descent_begin(s, p, answer, report));
  Pace pace = {FIRST_STEP, 0, 1};
  CniDescentTurn turn = cni_descent_next(s, report);
  cni_descent_copy(s, 0, 1);
  while (turn != CNI_DESCENT_STOP) {
    if (turn == CNI_DESCENT_SHIFTED) pace.theta = cn_max(pace.theta, SHIFTED_THETA);
    double against = step(s, &pace);
    if (against > 0)
      slow_down(&pace);
    else
      speed_up(&pace);
    cni_descent_swap(s, 1, 2); // 1: new, 2: the one before last
    cni_descent_swap(s, 0, 1);
    s->iterations++;
    turn = cni_descent_next(s, report);
  }
  cni_descent_end(s, p, answer, report);
  return CN_OK;
}

const CnSolverKind cni_solver_apgd = {
    .name = "apgd",
    .summary = "accelerated projected gradient (Nesterov) with adaptive restart: matrix-free, for "
               "large piles",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT | CNI_ACCEPT_COULOMB |
               CNI_ACCEPT_CONVEX,
    .defaults = {.tolerance = 0, .max_iterations = 120},
    .create = cni_descent_create,
    .solve = solve,
    .destroy = cni_descent_destroy,
};
