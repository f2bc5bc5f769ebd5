// SPDX-License-Identifier: Apache-2.0
// The integrator table. A row of integrator_list.inc and a file integrator_NAME.c make an
// integrator.
#ifndef CNI_INTEGRATOR_H
#define CNI_INTEGRATOR_H

#include <cairn/system.h>

#include "core/fields.h"

// What restitution is about: speeds (Newton), impulses (Poisson), work (Stronge).
typedef enum CniRestitution { CNI_OF_SPEEDS = 0, CNI_OF_IMPULSES, CNI_OF_WORK } CniRestitution;

// The observer's context is told the impulses of an impact by rows of the Jacobian, those of joints and
// friction too.
typedef void (*CniStruck)(void *context, const int32_t *rows, const double *impulses,
                          int32_t count);

// Where steps begin to be made with other rows than before, what the forces are there.
typedef void (*CniStarted)(void *context, double t, const double *q, const double *v,
                           const double *multipliers);
// The state from which the next step is made.
typedef void (*CniBegun)(void *context, double t, const double *q, const double *v);
// Others that are told, of hem5 and rkf45, with the observer's context; null: not asked.
typedef struct CniListener {
  CniStruck struck;
  CniStarted started;
  CniBegun begun;
} CniListener;

typedef struct CnIntegratorKind {
  const char *name, *summary;
  int32_t needs_equations;     // 1: works with CnEquations, 0: with step problems
  int32_t needs_solver;        // 1: takes the solver given with the step
  const char *solver;          // of worlds that name none; null: psor
  int32_t impulse_multipliers; // 1: multipliers told to the observer are impulses over the step
  CnStatus (*create)(const CnIntegratorDef *def, const CnAllocator *allocator, void **state);
  CnStatus (*step)(void *state, const CnSystem *system, CnSolver *solver, double t, const double *q,
                   const double *v, double h, CnSolveReport *report);
  void (*destroy)(void *state);
  // Optional: who the observer is told to be; what the last step did; dense output.
  void (*attach)(void *state, CnIntegrator *handle);
  void (*report)(const void *state, CnIntegratorReport *report);
  CnStatus (*dense)(void *state, double t, double *q, double *v);
  void (*observe)(void *state, const CnObserver *observer, CniListener listener);
  void (*restitution)(void *state, CniRestitution law);
} CnIntegratorKind;

extern const CniField cni_integrator_fields[]; // of CnIntegratorDef but its names
extern const CnIntegratorKind *const cni_integrator_kinds[];
extern const int32_t cni_integrator_kind_count;

const CnIntegratorKind *cni_integrator_find(const char *name); // null: unknown

// A state that left the real numbers must not go on: CN_NOT_FINITE with the number.
CnStatus cni_check_state(const char *name, const double *x, int32_t count, double t);

// Another observer from now on.
void cni_integrator_observe(CnIntegrator *integrator, const CnObserver *observer,
                            CniListener listener);
// Another law of restitution, where the integrator knows several.
void cni_integrator_restitution(CnIntegrator *integrator, CniRestitution law);

#endif
