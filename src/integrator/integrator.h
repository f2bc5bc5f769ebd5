// The integrator table. A row of integrator_list.inc and a file integrator_NAME.c make an
// integrator.
#ifndef CNI_INTEGRATOR_H
#define CNI_INTEGRATOR_H

#include <cairn/system.h>

typedef struct CnIntegratorKind {
  const char *name, *summary;
  CnStatus (*create)(const CnIntegratorDef *def, const CnAllocator *allocator, void **state);
  CnStatus (*step)(void *state, const CnSystem *system, CnSolver *solver, double t, const double *q,
                   const double *v, double h, CnSolveReport *report);
  void (*destroy)(void *state);
} CnIntegratorKind;

extern const CnIntegratorKind *const cni_integrator_kinds[];
extern const int32_t cni_integrator_kind_count;

const CnIntegratorKind *cni_integrator_find(const char *name); // null: unknown

#endif
