// SPDX-License-Identifier: Apache-2.0
// The integrator table and the public door to it.
//
// An integrator is a time stepping scheme: it asks a system for its constraints and its step
// problem, has the problem solved, and moves the state. The schemes are rows of
// integrator_list.inc; here is what they share: looking one up by name, making and releasing it,
// and refusing arguments that no scheme could use.
#include "integrator/integrator.h"

#include "core/error.h"
#include "core/floats.h"
#include "core/memory.h"
#include "integrator/motion.h"

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
  return (CnIntegratorDef){.name = name,
                           .tolerance = 1e-6,
                           .event_tolerance = 1e-12,
                           .accumulation = 1e-7,
                           .max_events = 100000,
                           .max_steps = 10000000,
                           .theta = 0.5,
                           .solver = "auto",
                           .allocator = cn_allocator_default(),
                           .tag = INTEGRATOR_TAG};
}

static CnStatus check_at_least(const char *field, double value, double least) {
  if (value >= least && isfinite(value)) return CN_OK;
  return cni_error(CN_INVALID_ARGUMENT, "integrator: %s must be at least %g and finite (got %g)",
                   field, least, value);
}

static CnStatus check_numbers(const CnIntegratorDef *def) {
  CNI_TRY(check_at_least("tolerance", def->tolerance, 0));
  CNI_TRY(check_at_least("step", def->step, 0));
  CNI_TRY(check_at_least("step_max", def->step_max, 0));
  CNI_TRY(check_at_least("step_min", def->step_min, 0));
  CNI_TRY(check_at_least("drift_limit", def->drift_limit, 0));
  CNI_TRY(check_at_least("event_tolerance", def->event_tolerance, 1e-16));
  CNI_TRY(check_at_least("accumulation", def->accumulation, 0));
  CNI_TRY(check_at_least("projection", def->projection, 0));
  CNI_TRY(check_at_least("max_events", def->max_events, 0));
  CNI_TRY(check_at_least("max_steps", def->max_steps, 1));
  if (!(def->theta >= 0.5 && def->theta <= 1))
    return cni_error(CN_INVALID_ARGUMENT, "integrator: theta must be in 0.5 .. 1 (got %g)",
                     def->theta);
  if ((int)def->impact < 0 || def->impact > CN_IMPACT_SEQUENTIAL || (int)def->remedy < 0 ||
      def->remedy > CN_REMEDY_LCP)
    return cni_error(CN_INVALID_ARGUMENT, "integrator: impact %d or remedy %d is none",
                     (int)def->impact, (int)def->remedy);
  return CN_OK;
}

const char *cn_event_kind_name(CnEventKind kind) {
  static const char *const names[CN_EVENT_KIND_COUNT] = {"impact", "touch", "release", "rest",
                                                         "slip",   "stick", "domain"};
  return (size_t)kind < CN_EVENT_KIND_COUNT ? names[kind] : "unknown event";
}

CnStatus cn_integrator_create(const CnIntegratorDef *def, CnIntegrator **integrator) {
  CNI_FLOATS;
  if (!integrator) return cni_error(CN_INVALID_ARGUMENT, "integrator: the result pointer is null");
  *integrator = NULL;
  if (!def || def->tag != INTEGRATOR_TAG)
    return cni_error(CN_INVALID_ARGUMENT,
                     "integrator definition was not made by cn_integrator_def_default");
  if (!def->allocator.allocate || !def->allocator.release)
    return cni_error(CN_INVALID_ARGUMENT, "integrator: the allocator lacks a function");
  CNI_TRY(check_numbers(def));
  const CnIntegratorKind *kind = cni_integrator_find(def->name);
  if (!kind) {
    char list[256];
    cni_list_names(cn_integrator_name, list, sizeof list);
    return cni_error(CN_INVALID_ARGUMENT, "unknown integrator '%s'; known are %s",
                     def->name ? def->name : "(null)", list);
  }

  CnIntegrator *made = cni_allocate(&def->allocator, sizeof *made);
  if (!made) return cni_error_memory(sizeof *made);
  *made = (CnIntegrator){.allocator = def->allocator, .kind = kind};
  CnStatus status = kind->create(def, &made->allocator, &made->state);
  if (status != CN_OK) {
    cni_release(&def->allocator, made, sizeof *made);
    return status;
  }
  if (kind->attach) kind->attach(made->state, made);
  *integrator = made;
  return CN_OK;
}

void cn_integrator_destroy(CnIntegrator *integrator) {
  if (!integrator) return;
  integrator->kind->destroy(integrator->state);
  CnAllocator allocator = integrator->allocator;
  cni_release(&allocator, integrator, sizeof *integrator);
}

// Equations that can be worked with.
static CnStatus check_equations(const CnSystem *system, const char *integrator) {
  const CnEquations *eq = system->equations;
  if (!eq || !system->done)
    return cni_error(CN_UNSUPPORTED,
                     "%s works with equations of motion and done(), which this "
                     "system does not give",
                     integrator);
  if (eq->bilateral_count < 0 || eq->contact_count < 0 ||
      (eq->contact_count > 0 && (eq->contact_dim < 1 || eq->contact_dim > 3)))
    return cni_error(CN_INVALID_ARGUMENT,
                     "equations: %d bilateral constraints, %d contacts of dimension %d",
                     (int)eq->bilateral_count, (int)eq->contact_count, (int)eq->contact_dim);
  int constrained = eq->bilateral_count + eq->contact_count > 0;
  if (!eq->mass || !eq->force || (constrained && (!eq->gaps || !eq->jacobian)))
    return cni_error(CN_INVALID_ARGUMENT,
                     "equations: mass and force, and with constraints gaps and jacobian, must be "
                     "given");
  if (!eq->kinematics && system->q_count != system->v_count)
    return cni_error(CN_INVALID_ARGUMENT,
                     "equations: without kinematics q' = v, but there are %d positions and %d "
                     "velocities",
                     (int)system->q_count, (int)system->v_count);
  if (eq->group_size < 0 || (eq->group_size > 0 && (system->v_count % eq->group_size != 0 ||
                                                    (constrained && !eq->groups) || eq->stiffness)))
    return cni_error(
        CN_INVALID_ARGUMENT,
        "equations: with groups of %d velocities their number (%d) must be a multiple, "
        "groups() must be given, and stiffness() not",
        (int)eq->group_size, (int)system->v_count);
  if (eq->covered && !system->detect)
    return cni_error(CN_INVALID_ARGUMENT, "equations: with covered() detect() must be given");
  for (int32_t i = 0; eq->laws && i < eq->contact_count; i++)
    if (!(eq->laws[i].restitution >= 0 && eq->laws[i].restitution <= 1) ||
        !(eq->laws[i].friction >= 0))
      return cni_error(CN_INVALID_ARGUMENT, "equations: contact %d: restitution %g, friction %g",
                       (int)i, eq->laws[i].restitution, eq->laws[i].friction);
  return CN_OK;
}

// A system must be able to answer everything a scheme may ask.
static CnStatus check_system(const CnIntegratorKind *kind, const CnSystem *system, const double *q,
                             const double *v) {
  if (system->q_count < 0 || system->v_count < 0)
    return cni_error(CN_INVALID_ARGUMENT, "system: q_count %d and v_count %d must be >= 0",
                     (int)system->q_count, (int)system->v_count);
  if ((system->q_count > 0 && !q) || (system->v_count > 0 && !v))
    return cni_error(CN_INVALID_ARGUMENT, "step: q or v is null");
  if (kind->needs_equations) return check_equations(system, kind->name);
  if (!system->detect || !system->problem || !system->advance || !system->done)
    return cni_error(CN_INVALID_ARGUMENT,
                     "system: detect, problem, advance and done must all be given");
  return CN_OK;
}

CnStatus cni_check_state(const char *name, const double *x, int32_t count, double t) {
  for (int32_t i = 0; i < count; i++)
    if (!isfinite(x[i]))
      return cni_error(CN_NOT_FINITE, "step from t = %g s: %s[%d] is %g", t, name, (int)i, x[i]);
  return CN_OK;
}

CnStatus cn_integrator_step(CnIntegrator *integrator, const CnSystem *system, CnSolver *solver,
                            double t, const double *q, const double *v, double h,
                            CnSolveReport *report) {
  CNI_FLOATS;
  if (!integrator || !system || (!solver && integrator->kind->needs_solver))
    return cni_error(CN_INVALID_ARGUMENT, "step: integrator, system or solver is null");
  if (!(h > 0) || !isfinite(h))
    return cni_error(CN_INVALID_ARGUMENT, "step: h must be positive and finite (got %g)", h);
  if (!isfinite(t)) return cni_error(CN_INVALID_ARGUMENT, "step: time must be finite (got %g)", t);
  CNI_TRY(check_system(integrator->kind, system, q, v));
  if (integrator->kind->needs_equations) {
    CNI_TRY(cni_check_state("q", q, system->q_count, t));
    CNI_TRY(cni_check_state("v", v, system->v_count, t));
  }

  // a scheme may rely on a report to write to
  CnSolveReport own;
  return integrator->kind->step(integrator->state, system, solver, t, q, v, h,
                                report ? report : &own);
}

void cn_integrator_report(const CnIntegrator *integrator, CnIntegratorReport *report) {
  if (!report) return;
  *report = (CnIntegratorReport){.position_drift = NAN, .velocity_drift = NAN, .last_cause = ""};
  if (integrator && integrator->kind->report) integrator->kind->report(integrator->state, report);
}

void cni_integrator_observe(CnIntegrator *integrator, const CnObserver *observer) {
  if (integrator->kind->observe) integrator->kind->observe(integrator->state, observer);
}

CnStatus cn_integrator_dense(CnIntegrator *integrator, double t, double *q, double *v) {
  CNI_FLOATS;
  if (!integrator || !q)
    return cni_error(CN_INVALID_ARGUMENT, "dense output: integrator or q is null");
  if (!integrator->kind->dense)
    return cni_error(CN_UNSUPPORTED, "%s has no dense output", integrator->kind->name);
  return integrator->kind->dense(integrator->state, t, q, v);
}

CnStatus cn_equations_accelerations(const CnSystem *system, const CnAllocator *allocator, double t,
                                    const double *q, const double *v, const int32_t *rows,
                                    int32_t row_count, double *a, double *multipliers) {
  CNI_FLOATS;
  if (!system || !allocator || !q || !v || row_count < 0 || (row_count > 0 && !rows))
    return cni_error(CN_INVALID_ARGUMENT, "accelerations: an argument is null or negative");
  CNI_TRY(check_equations(system, "accelerations"));
  CniMotion m;
  cni_motion_init(&m, allocator);
  CniPool pool = {.allocator = *allocator};
  CnStatus status = cni_motion_begin(&m, system);
  for (int32_t i = 0; i < row_count && status == CN_OK; i++)
    if (rows[i] < 0 || rows[i] >= m.row_count)
      status = cni_error(CN_INVALID_ARGUMENT, "accelerations: row %d of %d", (int)rows[i],
                         (int)m.row_count);
  if (status == CN_OK) status = cni_motion_set_rows(&m, rows, NULL, NULL, row_count);
  if (status == CN_OK)
    status = cni_pool_begin(&pool, cni_pool_need(m.v_count) + cni_pool_need(row_count) + 8);
  if (status == CN_OK) {
    double *own_a = cni_pool_take(&pool, m.v_count), *own_l = cni_pool_take(&pool, row_count);
    status = cni_motion_accelerate(&m, t, q, v, NULL, own_a, own_l);
    if (status == CN_OK && a) memcpy(a, own_a, (size_t)m.v_count * sizeof *a);
    if (status == CN_OK && multipliers)
      memcpy(multipliers, own_l, (size_t)row_count * sizeof *multipliers);
  }
  cni_pool_release(&pool);
  cni_motion_release(&m);
  return status;
}
