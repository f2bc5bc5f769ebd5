// SPDX-License-Identifier: Apache-2.0
// A toy integrator: impulse under another name. tests/open_house adds it to a copy of the sources.
#include "integrator/integrator.h"

extern const CnIntegratorKind cni_integrator_impulse, cni_integrator_toy;

static CnStatus create(const CnIntegratorDef *def, const CnAllocator *allocator, void **state) {
  return cni_integrator_impulse.create(def, allocator, state);
}

static CnStatus step(void *state, const CnSystem *system, CnSolver *solver, double t,
                     const double *q, const double *v, double h, CnSolveReport *report) {
  return cni_integrator_impulse.step(state, system, solver, t, q, v, h, report);
}

static void destroy(void *state) { cni_integrator_impulse.destroy(state); }

const CnIntegratorKind cni_integrator_toy = {
    .name = "toy",
    .summary = "a toy",
    .needs_solver = 1,
    .create = create,
    .step = step,
    .destroy = destroy,
};
