// SPDX-License-Identifier: Apache-2.0
// A search of auto for a problem with cones: the best so far and what may be tried (auto_attempts.c), in the order of the
// ladder (auto_cones.c).
#ifndef CNI_SOLVER_AUTO_SEARCH_H
#define CNI_SOLVER_AUTO_SEARCH_H

#include "solver/cones/auto_cones.h"
#include "solver/sweeps/mixed.h"

#define CNI_DESCENT_STEPS 4000
#define CNI_ROUND_STEPS 60 // iterations of one round of the interior point
#define CNI_CONE_STEPS 300 // and where all else has failed

typedef struct CniAutoSearch {
  CniAutoCones *s;
  const CnProblem *p;
  CniStepMemory *memory;
  CnSolveReport *report;
  const CnAnswer *given;
  double *best;   // impulses of the problem
  double *walked; // velocities of the walk of simplex, truer than those of its impulses
  int has_walked;
  double *scaled, *other; // work, in the units of the cones
  const CnProblem *swept; // explicit form of the problem, null: none; borrowed or
  CnProblem *made;        // made for this solve
  CniMixed mixed;         // sweeps over that
  CnAnswer trial;         // of a global problem
  double aim;             // error that the sweeps are to reach
  double error, deadline;
  double *budget; // multiplications that are left, null: there is no bound
  int32_t done;
} CniAutoSearch;

// Is there work left to be done?
int cni_auto_funded(const CniAutoSearch *k);
void cni_auto_keep(CniAutoSearch *k, const double *g, double error, int32_t steps,
                   const char *method);
// So many steps, or those that the budget has left.
int32_t cni_auto_affordable(const CniAutoSearch *k, int32_t most);
CnStatus cni_auto_try_ipm(CniAutoSearch *k, int32_t most);
// A few steps, or as many as it may take.
CnStatus cni_auto_try_newton(CniAutoSearch *k, const double *from, int32_t most);
// From change of state to change of state.
CnStatus cni_auto_try_path(CniAutoSearch *k);
// The deciding error of what the sweeps found. The measure of a global problem is another one than
// that of its explicit form.
CnStatus cni_auto_swept_error(CniAutoSearch *k, double *error);
CnStatus cni_auto_first_sweeps(CniAutoSearch *k);
// Sweeps and Newton from what they reach.
CnStatus cni_auto_later_sweeps(CniAutoSearch *k);
// Sweeps that are mixed jump about where contacts change their states; plain ones settle them, and
// mixed ones may end it from there.
CnStatus cni_auto_last_sweeps(CniAutoSearch *k);
// Room for an answer like the one given.
CnStatus cni_auto_new_answer(const CniAutoSearch *k, CniArena *arena, CnAnswer *answer);
// Step problems: sweeps from zero with the exact solution of every block.
CnStatus cni_auto_plain_sweeps(CniAutoSearch *k);
// A solver of step problems, from the impulses given or the best.
CnStatus cni_auto_try_solver(CniAutoSearch *k, const CnSolverKind *kind, void *state,
                             const double *from, const char *method);
// Before factors of all rows: joints alone are one linear system, and sweeps that solve it go
// before others where there are many rows. Without joints momentum carries the weights through a
// pile in less time than one factor takes.
CnStatus cni_auto_begin_step(CniAutoSearch *k);
// Rows without friction: the walk finds which of them act where conditioning keeps the interior point
// and Newton's method from the tolerance.
CnStatus cni_auto_try_walk(CniAutoSearch *k);
// Machines whose factors cost more than its pivots: the walk to its end, or not at all: what it leaves is no place to
// begin from. In small ones, whose time is no matter, the impulses that it gives to one of several dependent joints would
// make the next step's harder.
CnStatus cni_auto_walk_first(CniAutoSearch *k);

#endif
