// SPDX-License-Identifier: Apache-2.0
// Solvers of the program (<cairn/own_solver.h>) as rows of the table. A row's functions find the program's
// through the name of the definition; the impulses are the program's, v and u follow from them here.
#include <cairn/own_solver.h>

#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "core/own/own.h"
#include "solver/solver.h"

typedef struct Own {
  CnSolverKind row; // first: the rows of a sort begin with their names
  CnOwnSolver given;
  char name[CNI_OWN_NAME], summary[128];
} Own;

typedef struct State {
  const Own *own;
  CnSolverDef def;
  CnAllocator allocator;
  void *state;
} State;

// A failure has a sentence, if none else this one.
static CnStatus told(const Own *own, CnStatus status) {
  if (status == CN_OK || cn_error_message()[0]) return status;
  return cni_error(status, "solver %s failed without a word (%s)", own->name,
                   cn_status_name(status));
}

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  const CnSolverKind *kind = cni_solver_find(def->name);
  State *made;
  CNI_TRY(cni_new(allocator, sizeof *made, &made));
  *made = (State){(const Own *)(const void *)kind, *def, *allocator, NULL};
  const CnOwnSolver *given = &made->own->given;
  CniOwnCall call;
  cni_own_enter(&call, NULL);
  CnStatus status = given->create ? given->create(given->context, &made->def, &made->state) : CN_OK;
  cni_own_leave(&call);
  const Own *own = made->own;
  if (status != CN_OK) cni_release(allocator, made, sizeof *made);
  *state = status == CN_OK ? made : NULL;
  return told(own, status);
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  const State *s = state;
  const CnOwnSolver *given = &s->own->given;
  (void)memory;
  CNI_TRY(cni_answer_reserve_u(answer));
  CnAnswer shown = *answer;
  CniOwnCall call;
  cni_own_enter(&call, NULL);
  CnStatus status = given->solve(given->context, s->state, &s->def, p, &shown, report);
  cni_own_leave(&call);
  CNI_TRY(told(s->own, status));
  if (shown.g != answer->g || shown.u != answer->u || shown.v != answer->v ||
      shown.row_count != answer->row_count || shown.velocity_count != answer->velocity_count)
    return cni_invalid("solver %s: the arrays of the answer were exchanged: impulses are written "
                       "into answer->g, %d of them",
                       s->own->name, (int)answer->row_count);
  report->solver = report->method = s->own->name;
  if ((uint32_t)report->outcome >= CN_OUTCOME_COUNT) report->outcome = CN_OUTCOME_FINISHED;
  return cn_answer_complete(answer, p);
}

static void destroy(void *state) {
  State *s = state;
  CnAllocator allocator = s->allocator;
  const CnOwnSolver *given = &s->own->given;
  if (given->destroy) given->destroy(given->context, s->state);
  cni_release(&allocator, s, sizeof *s);
}

static CnStatus check(const CnOwnSolver *solver) {
  const char *call = "cn_solver_register";
  if (!solver) return cni_invalid("%s: the solver is null", call);
  if (solver->size != sizeof *solver)
    return cni_invalid("%s: the size is %u, expected %zu", call, (unsigned)solver->size,
                       sizeof *solver);
  CNI_TRY(cni_own_name_check(call, solver->name, cni_solver_builtin_name));
  if (!solver->solve) return cni_invalid("%s: %s has no function solve", call, solver->name);
  uint32_t forms = CN_ACCEPT_STEP | CN_ACCEPT_EXPLICIT | CN_ACCEPT_GLOBAL;
  uint32_t known =
      CN_ACCEPT_ALL_KINDS | forms | CN_ACCEPT_UNSYMMETRIC | CN_ACCEPT_COULOMB | CN_ACCEPT_CONVEX;
  if (!(solver->accepts & forms) || !(solver->accepts & CN_ACCEPT_ALL_KINDS))
    return cni_invalid("%s: %s accepts no form, or blocks of no kind", call, solver->name);
  if (solver->accepts & ~known)
    return cni_invalid("%s: %s accepts what is unknown (bits %x)", call, solver->name,
                       (unsigned)(solver->accepts & ~known));
  if (!(solver->tolerance >= 0) || !isfinite(solver->tolerance) || solver->max_iterations < 1)
    return cni_invalid("%s: %s needs a tolerance of at least 0 and iterations of at least 1 (got "
                       "%g, %d)",
                       call, solver->name, solver->tolerance, (int)solver->max_iterations);
  return CN_OK;
}

CnStatus cn_solver_register(const CnOwnSolver *solver) {
  CNI_FLOATS;
  CnAllocator allocator = cn_allocator_default();
  Own *own;
  CNI_TRY(check(solver));
  CNI_TRY(cni_new(&allocator, sizeof *own, &own));
  own->given = *solver;
  snprintf(own->name, sizeof own->name, "%s", solver->name);
  snprintf(own->summary, sizeof own->summary, "%s", solver->summary ? solver->summary : "");
  own->given.name = own->name;
  own->given.summary = own->summary;
  own->row = (CnSolverKind){
      .name = own->name,
      .summary = own->summary,
      .accepts = solver->accepts,
      .defaults = {.tolerance = solver->tolerance, .max_iterations = solver->max_iterations},
      .create = create,
      .solve = solve,
      .destroy = destroy};
  CnStatus status = cn_own_add(CNI_OWN_SOLVER, own);
  if (status != CN_OK) cni_release(&allocator, own, sizeof *own);
  return status;
}

uint32_t cn_solver_accepts(int32_t index) {
  const CnSolverKind *kind = cni_solver_kind(index);
  return kind ? kind->accepts & ((1u << 22) - 1) : 0;
}
