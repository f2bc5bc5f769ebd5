// SPDX-License-Identifier: Apache-2.0
// The solver table. A row of solver_list.inc and a file solver_NAME.c make a solver; the row enrols
// it in the conformance tests, the benchmark and the command.
#ifndef CNI_SOLVER_H
#define CNI_SOLVER_H

#include <cairn/own_solver.h>
#include <cairn/solver.h>
#include "core/fields.h"
#include "problem/problem.h"

// What a solver can take: one bit per block kind, then forms and models.
#define CNI_ACCEPT_KIND(kind) CN_ACCEPT_KIND(kind)
#define CNI_ACCEPT_ALL_KINDS CN_ACCEPT_ALL_KINDS
#define CNI_ACCEPT_STEP CN_ACCEPT_STEP
#define CNI_ACCEPT_EXPLICIT CN_ACCEPT_EXPLICIT
#define CNI_ACCEPT_UNSYMMETRIC CN_ACCEPT_UNSYMMETRIC
#define CNI_ACCEPT_COULOMB CN_ACCEPT_COULOMB
#define CNI_ACCEPT_CONVEX CN_ACCEPT_CONVEX
#define CNI_ACCEPT_RELAXED (1u << 22)    // takes coulomb problems, solves the convex model, says so
#define CNI_LEAVES_U (1u << 23)          // does not fill the u of the step form
#define CNI_TAKES_B_PER_BLOCK (1u << 24) // reads b by cni_block_b alone
#define CNI_ACCEPT_GLOBAL CN_ACCEPT_GLOBAL // without it a global problem comes in its explicit form

typedef struct CnSolverKind {
  const char *name, *summary;
  uint32_t accepts;
  CnSolverDef defaults; // tolerance and iterations; cn_solver_def_default fills the rest
  CnStatus (*create)(const CnSolverDef *def, const CnAllocator *allocator, void **state);
  // answer: g in = warm start; g, v, u out (u of the step form may be left to the certificate,
  // which fills it). memory: working memory, held. The report's certificate and converged are not the solver's.
  CnStatus (*solve)(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                    CnSolveReport *report);
  void (*destroy)(void *state);
} CnSolverKind;

// The rows.
#define CN_SOLVER(name) extern const CnSolverKind cni_solver_##name;
#include "solver/solver_list.inc"
#undef CN_SOLVER

extern const CniField cni_solver_fields[]; // of CnSolverDef
extern const char *const cni_efforts[];    // the words of CnEffort; ends with null
extern const CnSolverKind *const cni_solver_kinds[];
extern const int32_t cni_solver_kind_count;

// The library's rows and those of the program (own.c): number `index`, null past the end; by name, null:
// unknown.
const CnSolverKind *cni_solver_kind(int32_t index);
const CnSolverKind *cni_solver_find(const char *name);
const char *cni_solver_builtin_name(int32_t index); // of the library's alone

// Refuse what a solver cannot take, with a message that names the solvers that can.
CnStatus cni_solver_check(const CnSolverKind *kind, const CnProblem *p);

// cn_solver_solve in the memory of a step (null: the solver's own).
CnStatus cni_solver_solve(CnSolver *solver, const CnProblem *problem, CnAnswer *answer,
                          CniStepMemory *memory, CnSolveReport *report);
// For who asks for many solves: what one of so many rows, or all of a step, may take by the solver's effort; and what the
// solves from here on may take of it (CniStepMemory.work), null: there is no such bound.
double cni_solver_allowance(const CnSolver *solver, double rows);
void cni_solver_allow(CnSolver *solver, double *work);
// Does it read b by cni_block_b alone? Others are given problems with all rows (cni_problem_widen_b).
int cni_solver_takes_b_per_block(const CnSolver *solver);

#endif
