// SPDX-License-Identifier: Apache-2.0
// A toy solver: psor under another name. tests/open_house adds it to a copy of the sources.
#include "solver/solver.h"

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  return cni_solver_psor.create(def, allocator, state);
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  return cni_solver_psor.solve(state, p, answer, memory, report);
}

static void destroy(void *state) { cni_solver_psor.destroy(state); }

const CnSolverKind cni_solver_toy = {
    .name = "toy",
    .summary = "a toy",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_COULOMB | CNI_LEAVES_U,
    .defaults = {.max_iterations = 120},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
