// SPDX-License-Identifier: Apache-2.0
// psor: projected successive over-relaxation, one sweep an iteration. See psor.c.
#include "solver/sweeps/psor.h"

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  return cni_psor_create(def, allocator, 0, state);
}

const CnSolverKind cni_solver_psor = {
    .name = "psor",
    .summary = "projected successive over-relaxation: matrix-free sweeps, cheap and steady",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT |
               CNI_ACCEPT_UNSYMMETRIC | CNI_ACCEPT_COULOMB | CNI_ACCEPT_CONVEX | CNI_LEAVES_U |
               CNI_TAKES_B_PER_BLOCK,
    .defaults = {.tolerance = 0, .max_iterations = 120},
    .create = create,
    .solve = cni_psor_solve,
    .destroy = cni_psor_destroy,
};
