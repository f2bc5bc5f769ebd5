// SPDX-License-Identifier: Apache-2.0
// The integrator table and the public door to it.
//
// An integrator is a time stepping scheme: it asks a system for its constraints and its step
// problem, has the problem solved, and moves the state. The schemes are rows of
// integrator_list.inc; here is what they share: looking one up by name, making and releasing it,
// and refusing arguments that no scheme could use.
#include "integrator/integrator.h"

#include "core/floats.h"
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

uint32_t cn_integrator_traits(const char *name) {
  const CnIntegratorKind *kind = cni_integrator_find(name);
  if (!kind) return 0;
  return (kind->dense ? CN_INTEGRATOR_OWN_STEPS : 0) |
         (kind->needs_equations ? CN_INTEGRATOR_EQUATIONS : 0);
}

const char *cn_integrator_summary(int32_t index) {
  return index >= 0 && index < cni_integrator_kind_count ? cni_integrator_kinds[index]->summary
                                                         : NULL;
}

// ---- definition ----

static const char *const impacts[] = {"simultaneous", "sequential", NULL};
static const char *const remedies[] = {"nscd", "lcp", NULL};

const CniField cni_integrator_fields[] = {
    CNI_FIELD(REAL, CnIntegratorDef, tolerance, NOT_NEGATIVE, "",
              "hem5, rkf45: error a step, absolute and relative; 0: steps of fixed length",
              .fallback = {1e-6}),
    CNI_FIELD(REAL, CnIntegratorDef, step, NOT_NEGATIVE, "s",
              "length of fixed steps or of the first trial; 0: the whole time step"),
    CNI_FIELD(REAL, CnIntegratorDef, step_max, NOT_NEGATIVE, "s", "longest step, 0: no bound"),
    CNI_FIELD(REAL, CnIntegratorDef, step_min, NOT_NEGATIVE, "s",
              "a smaller step is an underflow; 0: 16 units of round-off of the time"),
    CNI_FIELD(REAL, CnIntegratorDef, drift_limit, NOT_NEGATIVE, "",
              "position and velocity errors of constraints that are allowed; 0: watched only"),
    CNI_FIELD(INTEGER, CnIntegratorDef, projection, AT_LEAST_MINUS_1, "",
              "every n-th step ends with a projection on the constraints; 0: none, -1: the "
              "integrator's own choice",
              .fallback = {-1}),
    CNI_FIELD(FLAG, CnIntegratorDef, project_start, ANY, "",
              "inconsistent initial values are projected; off: they are an error", .fallback = {1}),
    CNI_FIELD(REAL, CnIntegratorDef, event_tolerance, POSITIVE, "s",
              "how exactly events are placed", .fallback = {1e-12}),
    CNI_FIELD(REAL, CnIntegratorDef, accumulation, NOT_NEGATIVE, "s",
              "impacts that come to rest within it are one event", .fallback = {1e-7}),
    CNI_FIELD(CHOICE, CnIntegratorDef, impact, ANY, "", "how impacts at the same time are solved",
              .words = impacts),
    CNI_FIELD(CHOICE, CnIntegratorDef, remedy, ANY, "",
              "who decides which contacts act where pieces of a surface meet", .words = remedies),
    CNI_FIELD(INTEGER, CnIntegratorDef, max_events, NOT_NEGATIVE, "", "most events of a time step",
              .fallback = {100000}),
    CNI_FIELD(INTEGER, CnIntegratorDef, max_steps, AT_LEAST_1, "", "most steps of a time step",
              .fallback = {100000}), // a second or two, and then a sentence
    CNI_FIELD(REAL, CnIntegratorDef, theta, UPPER_HALF, "",
              "moreau-jean: weight of the end of the step", .fallback = {0.5}),
    CNI_FIELDS_END,
};

CnIntegratorDef cn_integrator_def_default(const char *name) {
  CnIntegratorDef def = {.name = name, .solver = "auto", .allocator = cn_allocator_default()};
  def.size = sizeof def;
  def.tag = INTEGRATOR_TAG;
  cni_fields_default(cni_integrator_fields, &def);
  def.max_steps = 10000000; // a call may be a whole simulation
  return def;
}

#define EVENT_TOLERANCE_LEAST 1e-16 // s: below, bisection would not end

static CnStatus check_numbers(const CnIntegratorDef *def) {
  CnIntegratorDef copy = *def;
  CNI_TRY(cni_fields_check(cni_integrator_fields, "integrator", &copy));
  if (def->event_tolerance < EVENT_TOLERANCE_LEAST)
    return cni_invalid("integrator: event_tolerance must be at least %g (got %g)",
                       EVENT_TOLERANCE_LEAST, def->event_tolerance);
  return CN_OK;
}

const char *cn_event_kind_name(CnEventKind kind) {
  static const char *const names[CN_EVENT_KIND_COUNT] = {"impact", "touch", "release", "rest",
                                                         "slip",   "stick", "domain"};
  return (size_t)kind < CN_EVENT_KIND_COUNT ? names[kind] : "unknown event";
}

CnStatus cn_integrator_create(const CnIntegratorDef *def, CnIntegrator **integrator) {
  CNI_FLOATS;
  if (!integrator) return cni_invalid("integrator: the result pointer is null");
  *integrator = NULL;
  CNI_TRY(cni_def_check("integrator", def, sizeof *def, INTEGRATOR_TAG));
  if (!def->allocator.allocate || !def->allocator.release)
    return cni_invalid("integrator: the allocator lacks a function");
  CNI_TRY(check_numbers(def));
  const CnIntegratorKind *kind = cni_integrator_find(def->name);
  if (!kind) {
    char list[256];
    cni_list_names(cn_integrator_name, list, sizeof list);
    return cni_invalid("integrator: '%s' is unknown; known: %s", def->name ? def->name : "(null)",
                       list);
  }

  CnIntegrator *made = cni_allocate(&def->allocator, sizeof *made);
  if (!made) return cni_error_memory(sizeof *made);
  *made = (CnIntegrator){.allocator = def->allocator, .kind = kind};
  CnIntegratorDef chosen = *def;
  if (chosen.projection < 0) chosen.projection = 1;
  CnStatus status = kind->create(&chosen, &made->allocator, &made->state);
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
      (eq->contact_count > 0 &&
       (eq->contact_dim < 1 || eq->contact_dim > 6 || eq->contact_dim == 4)))
    return cni_invalid("equations: %d bilateral constraints, %d contacts of dimension %d",
                       (int)eq->bilateral_count, (int)eq->contact_count, (int)eq->contact_dim);
  if (eq->bound_count < 0 || (eq->bound_count > 0 && (!eq->bounds || !eq->jacobian)))
    return cni_invalid(
        "equations: with rows that have a bound (%d) bounds and jacobian must be given",
        (int)eq->bound_count);
  int constrained = eq->bilateral_count + eq->contact_count > 0;
  if (!eq->mass || !eq->force || (constrained && (!eq->gaps || !eq->jacobian)))
    return cni_invalid("equations: mass and force, and with constraints gaps and jacobian, must be "
                       "given");
  if (!eq->kinematics && system->q_count != system->v_count)
    return cni_invalid("equations: without kinematics q' = v, but there are %d positions and %d "
                       "velocities",
                       (int)system->q_count, (int)system->v_count);
  if (eq->group_size < 0 || (eq->group_size > 0 && (system->v_count % eq->group_size != 0 ||
                                                    (constrained && !eq->groups) || eq->stiffness)))
    return cni_invalid(
        "equations: with groups of %d velocities their number (%d) must be a multiple, "
        "groups() must be given, and stiffness() not",
        (int)eq->group_size, (int)system->v_count);
  if (eq->covered && !system->detect)
    return cni_invalid("equations: with covered() detect() must be given");
  for (int32_t i = 0; eq->laws && i < eq->contact_count; i++)
    if (!(eq->laws[i].restitution >= 0 && eq->laws[i].restitution <= 1) ||
        !(eq->laws[i].friction >= 0) || !(eq->laws[i].rolling >= 0) || !(eq->laws[i].spinning >= 0))
      return cni_invalid(
          "equations: contact %d: restitution %g, friction %g, rolling %g, spinning %g", (int)i,
          eq->laws[i].restitution, eq->laws[i].friction, eq->laws[i].rolling, eq->laws[i].spinning);
  return CN_OK;
}

// A system must be able to answer everything a scheme may ask.
static CnStatus check_system(const CnIntegratorKind *kind, const CnSystem *system, const double *q,
                             const double *v) {
  if (system->q_count < 0 || system->v_count < 0)
    return cni_invalid("system: q_count %d and v_count %d must be >= 0", (int)system->q_count,
                       (int)system->v_count);
  if ((system->q_count > 0 && !q) || (system->v_count > 0 && !v))
    return cni_invalid("step: q or v is null");
  if (kind->needs_equations) return check_equations(system, kind->name);
  if (!system->detect || !system->problem || !system->advance || !system->done)
    return cni_invalid("system: detect, problem, advance and done must all be given");
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
    return cni_invalid("step: integrator, system or solver is null");
  if (!(h > 0) || !isfinite(h))
    return cni_invalid("step: h must be positive and finite (got %g)", h);
  if (!isfinite(t)) return cni_invalid("step: time must be finite (got %g)", t);
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

void cni_integrator_observe(CnIntegrator *integrator, const CnObserver *observer,
                            CniListener listener) {
  if (integrator->kind->observe) integrator->kind->observe(integrator->state, observer, listener);
}

void cni_integrator_restitution(CnIntegrator *integrator, CniRestitution law) {
  if (integrator->kind->restitution) integrator->kind->restitution(integrator->state, law);
}

CnStatus cn_integrator_dense(CnIntegrator *integrator, double t, double *q, double *v) {
  CNI_FLOATS;
  if (!integrator || !q) return cni_invalid("dense output: integrator or q is null");
  if (!integrator->kind->dense)
    return cni_error(CN_UNSUPPORTED, "%s has no dense output", integrator->kind->name);
  return integrator->kind->dense(integrator->state, t, q, v);
}

CnStatus cn_equations_accelerations(const CnSystem *system, const CnAllocator *allocator, double t,
                                    const double *q, const double *v, const int32_t *rows,
                                    int32_t row_count, double *a, double *multipliers) {
  CNI_FLOATS;
  if (!system || !allocator || !q || !v || row_count < 0 || (row_count > 0 && !rows))
    return cni_invalid("accelerations: an argument is null or negative");
  CNI_TRY(check_equations(system, "accelerations"));
  CniMotion m;
  cni_motion_init(&m, allocator);
  CniPool pool = {.allocator = *allocator};
  CnStatus status = cni_motion_begin(&m, system);
  for (int32_t i = 0; i < row_count && status == CN_OK; i++)
    if (rows[i] < 0 || rows[i] >= m.row_count)
      status = cni_invalid("accelerations: row %d of %d", (int)rows[i], (int)m.row_count);
  if (status == CN_OK) status = cni_motion_set_rows(&m, rows, NULL, row_count);
  double *own_a, *own_l;
  if (status == CN_OK)
    status = CNI_CUT(&pool, CNI_ARRAY(m.v_count, own_a), CNI_ARRAY(row_count, own_l));
  if (status == CN_OK) {
    status = cni_motion_accelerate(&m, t, q, v, NULL, NULL, own_a, own_l);
    if (status == CN_OK && a) memcpy(a, own_a, (size_t)m.v_count * sizeof *a);
    if (status == CN_OK && multipliers)
      memcpy(multipliers, own_l, (size_t)row_count * sizeof *multipliers);
  }
  cni_pool_release(&pool);
  cni_motion_release(&m);
  return status;
}
