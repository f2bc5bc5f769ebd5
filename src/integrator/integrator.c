// The integrator table and the public door to it.
//
// An integrator is a time stepping scheme: it asks a system for its constraints and its step
// problem, has the problem solved, and moves the state. The schemes are rows of
// integrator_list.inc; here is what they share: looking one up by name, making and releasing it,
// and refusing arguments that no scheme could use.
#include "integrator/integrator.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

#define INTEGRATOR_TAG 0x696e7467u

#define CN_INTEGRATOR(name) extern const CnIntegratorKind cni_integrator_##name;
#include "integrator/integrator_list.inc"
#undef CN_INTEGRATOR

#define CN_INTEGRATOR(name) &cni_integrator_##name,
const CnIntegratorKind *const cni_integrator_kinds[] = {
#include "integrator/integrator_list.inc"
};
#undef CN_INTEGRATOR

const int32_t cni_integrator_kind_count =
    (int32_t)(sizeof cni_integrator_kinds / sizeof cni_integrator_kinds[0]);

struct CnIntegrator {
  CnAllocator allocator;
  const CnIntegratorKind *kind;
  void *state;
};

const CnIntegratorKind *cni_integrator_find(const char *name) {
  if (!name) return NULL;
  for (int32_t i = 0; i < cni_integrator_kind_count; i++)
    if (strcmp(cni_integrator_kinds[i]->name, name) == 0) return cni_integrator_kinds[i];
  return NULL;
}

const char *cn_integrator_name(int32_t index) {
  return index >= 0 && index < cni_integrator_kind_count ? cni_integrator_kinds[index]->name : NULL;
}

const char *cn_integrator_summary(int32_t index) {
  return index >= 0 && index < cni_integrator_kind_count ? cni_integrator_kinds[index]->summary
                                                         : NULL;
}

CnIntegratorDef cn_integrator_def_default(const char *name) {
  return (CnIntegratorDef){
      .name = name, .allocator = cn_allocator_default(), .tag = INTEGRATOR_TAG};
}

CnStatus cn_integrator_create(const CnIntegratorDef *def, CnIntegrator **integrator) {
  if (!integrator) return cni_error(CN_INVALID_ARGUMENT, "integrator: the result pointer is null");
  *integrator = NULL;
  if (!def || def->tag != INTEGRATOR_TAG)
    return cni_error(CN_INVALID_ARGUMENT,
                     "integrator definition was not made by cn_integrator_def_default");
  if (!def->allocator.allocate || !def->allocator.release)
    return cni_error(CN_INVALID_ARGUMENT, "integrator: the allocator lacks a function");
  const CnIntegratorKind *kind = cni_integrator_find(def->name);
  if (!kind)
    return cni_error(CN_INVALID_ARGUMENT, "unknown integrator '%s' (known: %s, ...)",
                     def->name ? def->name : "(null)", cni_integrator_kinds[0]->name);

  CnIntegrator *made = cni_allocate(&def->allocator, sizeof *made);
  if (!made) return cni_error_memory(sizeof *made);
  *made = (CnIntegrator){.allocator = def->allocator, .kind = kind};
  CnStatus status = kind->create(def, &made->allocator, &made->state);
  if (status != CN_OK) {
    cni_release(&def->allocator, made, sizeof *made);
    return status;
  }
  *integrator = made;
  return CN_OK;
}

void cn_integrator_destroy(CnIntegrator *integrator) {
  if (!integrator) return;
  integrator->kind->destroy(integrator->state);
  CnAllocator allocator = integrator->allocator;
  cni_release(&allocator, integrator, sizeof *integrator);
}

// A system must be able to answer everything a scheme may ask.
static CnStatus check_system(const CnSystem *system, const double *q, const double *v) {
  if (!system->detect || !system->problem || !system->advance || !system->done)
    return cni_error(CN_INVALID_ARGUMENT,
                     "system: detect, problem, advance and done must all be given");
  if (system->q_count < 0 || system->v_count < 0)
    return cni_error(CN_INVALID_ARGUMENT, "system: q_count %d and v_count %d must be >= 0",
                     (int)system->q_count, (int)system->v_count);
  if ((system->q_count > 0 && !q) || (system->v_count > 0 && !v))
    return cni_error(CN_INVALID_ARGUMENT, "step: q or v is null");
  return CN_OK;
}

CnStatus cn_integrator_step(CnIntegrator *integrator, const CnSystem *system, CnSolver *solver,
                            double t, const double *q, const double *v, double h,
                            CnSolveReport *report) {
  if (!integrator || !system || !solver)
    return cni_error(CN_INVALID_ARGUMENT, "step: integrator, system or solver is null");
  if (!(h > 0) || !isfinite(h))
    return cni_error(CN_INVALID_ARGUMENT, "step: h must be positive and finite (got %g)", h);
  if (!isfinite(t)) return cni_error(CN_INVALID_ARGUMENT, "step: time must be finite (got %g)", t);
  CNI_TRY(check_system(system, q, v));

  // a scheme may rely on a report to write to
  CnSolveReport own;
  return integrator->kind->step(integrator->state, system, solver, t, q, v, h,
                                report ? report : &own);
}
