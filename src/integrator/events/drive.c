// SPDX-License-Identifier: Apache-2.0
// The event driver: step control, drift, events, the observer (drive.h).
//
//     settle the modes at the start
//     until the end:  a step; rejected where its error or its drift is too large
//                     something happened inside? cut it there (watch.c), make the shorter step,
//                     and settle the modes anew (modes.c, impact.c, pieces.c);
//                     it went where contacts may be that are not listed? back, and a new list
//
// A call depends on nothing but its arguments: modes are found from the state, the first step is
// tried with the length given. So a restored world goes on with the same bits.
#include "integrator/events/drive.h"

#include "core/math.h"
#include "core/vec.h"

#include <string.h>

#define SAFETY 0.9
#define SHRINK_MOST 5.0
#define GROW_MOST 10.0
#define ROWS_EVERY 4 // steps after which bilateral rows are chosen anew

// ---- life ----

CnStatus cni_drive_create(const CnIntegratorDef *def, const CnAllocator *allocator,
                          const CniStepper *stepper, void **state) {
  CniDrive *d = cni_allocate(allocator, sizeof *d);
  if (!d) return cni_error_memory(sizeof *d);
  *d = (CniDrive){.allocator = *allocator, .def = *def, .stepper = stepper};
  d->pool.allocator = *allocator;
  cni_motion_init(&d->motion, allocator);
  cni_motion_init(&d->probe, allocator);
  cni_least_init(&d->least, allocator);
  d->motion.least = &d->least;
  cni_step_init(&d->step, allocator);
  CnStatus status = cni_clash_init(&d->clash, allocator);
  if (status == CN_OK) status = cni_clash_solver(def->solver, allocator, &d->solver);
  if (status != CN_OK) {
    cni_drive_free(d);
    return status;
  }
  *state = d;
  return CN_OK;
}

void cni_drive_free(void *state) {
  CniDrive *d = state;
  CnAllocator a = d->allocator;
  cn_solver_destroy(d->solver);
  cni_clash_release(&d->clash);
  cni_step_release(&d->step);
  cni_motion_release(&d->probe);
  cni_motion_release(&d->motion);
  cni_least_release(&d->least);
  cni_pool_release(&d->pool);
  cni_release(&a, d->modes, (size_t)d->mode_capacity * sizeof *d->modes);
  cni_release(&a, d->rows, (size_t)d->row_capacity * sizeof *d->rows);
  cni_release(&a, d->slip, (size_t)d->slip_capacity * sizeof *d->slip);
  cni_release(&a, d->chosen, (size_t)d->chosen_capacity * sizeof *d->chosen);
  cni_release(&a, d->fixed, (size_t)d->fixed_capacity * sizeof *d->fixed);
  cni_release(&a, d, sizeof *d);
}

// Memory for the system at hand.
static CnStatus fit(CniDrive *d, const CnSystem *system) {
  const CnAllocator *a = &d->allocator;
  CNI_TRY(cni_motion_begin(&d->motion, system));
  CNI_TRY(cni_motion_begin(&d->probe, system));
  CNI_TRY(cni_least_begin(&d->least, system));
  const CnEquations *eq = system->equations;
  int32_t rows = d->motion.row_count + 1, contacts = eq->contact_count + 1;
  int32_t bounds = eq->bound_count;
  CNI_TRY(CNI_RESERVE(a, d->modes, d->mode_capacity, 0, contacts + bounds));
  CNI_TRY(CNI_RESERVE(a, d->rows, d->row_capacity, 0, rows));
  CNI_TRY(CNI_RESERVE(a, d->slip, d->slip_capacity, 0, rows));
  CNI_TRY(CNI_RESERVE(a, d->chosen, d->chosen_capacity, 0, 2 * contacts));
  CNI_TRY(CNI_RESERVE(a, d->fixed, d->fixed_capacity, 0, eq->bilateral_count + 1));
  int32_t nq = system->q_count, nv = system->v_count;
  return CNI_CUT(&d->pool, CNI_ARRAY(nq, d->q), CNI_ARRAY(nv, d->v), CNI_ARRAY(nv, d->a),
                 CNI_ARRAY(nv, d->v_new), CNI_ARRAY(rows, d->multipliers),
                 CNI_ARRAY(rows, d->all_multipliers), CNI_ARRAY(rows, d->speeds),
                 CNI_ARRAY(rows, d->impulses), CNI_ARRAY(contacts, d->domains),
                 CNI_ARRAY(2 * contacts, d->gaps_before), CNI_ARRAY(4 * bounds, d->bounds));
}

// ---- rows ----

// Rows that do not depend on each other may come to do so, where others would not: they are chosen
// anew every few steps, and where a step fails. At a singular place (the rods of a parallelogram in
// one line) there are fewer for a moment: the motion goes through by its inertia, in short steps,
// until all can hold again.
static int row_missing(const CniDrive *d) { return d->fixed_count < d->fixed_most; }

// ---- telling ----

void cni_drive_tell(CniDrive *d, CnEventKind kind, int32_t contact, double time, double speed,
                    double impulse) {
  d->report.events++;
  if (kind == CN_EVENT_IMPACT) d->report.impacts++;
  CnEvent event = {kind, contact, time, speed, impulse};
  const CnObserver *observer = &d->def.observer;
  if (observer->event) observer->event(observer->context, d->handle, &event);
}

// Accelerations and multipliers at the end of the step.
static CnStatus end_forces(CniDrive *d) {
  CniStep *s = &d->step;
  return cni_motion_accelerate(&d->motion, s->t + s->h, s->q1, s->v1, s->jacobian1, s->rate1, d->a,
                               d->multipliers);
}

// Forces of the rows with which the motion is made.
static void own_forces(CniDrive *d) {
  memset(d->all_multipliers, 0, (size_t)d->motion.row_count * sizeof(double));
  for (int32_t i = 0; i < d->motion.active; i++)
    d->all_multipliers[d->motion.list[i]] = d->multipliers[i];
  for (int32_t i = 0; i < d->motion.slip_count; i++) {
    const CniSlip *slip = &d->motion.slip[i];
    double force = slip->friction * (slip->normal < 0 ? 1 : d->multipliers[slip->normal]);
    for (int32_t k = 0; k < slip->count; k++)
      d->all_multipliers[slip->row + k] = -force * slip->now[k];
  }
}

// Where several forces are right a first step alone says no more than its end does.
static CnStatus tell_start(CniDrive *d) {
  CniStarted started = d->listener.started;
  if (!d->fresh || !started) return CN_OK;
  d->fresh = 0;
  if (d->redundant) return CN_OK;
  if (cni_drive_count(d) == 0) // else they are known
    CNI_TRY(cni_motion_accelerate(&d->motion, d->t, d->q, d->v, NULL, NULL, d->a, d->multipliers));
  own_forces(d);
  started(d->def.observer.context, d->t, d->q, d->v, d->all_multipliers);
  return CN_OK;
}

static void tell_point(CniDrive *d) {
  const CnObserver *observer = &d->def.observer;
  CniStep *s = &d->step;
  if (!observer->point) return;
  if (!d->redundant || cni_modes_tell(d) != CN_OK) own_forces(d);
  if (cni_least_at(&d->least, &d->motion, d->t, s->q1) == CN_OK)
    cni_least_share(&d->least, d->all_multipliers);
  CnPoint point = {.time = d->t,
                   .step = s->h,
                   .q = s->q1,
                   .v = s->v1,
                   .a = d->a,
                   .multipliers = d->all_multipliers};
  d->in_point = 1;
  observer->point(observer->context, d->handle, &point);
  d->in_point = 0;
}

// ---- drift ----

// Drift at the end of the step; 0 where it uses up more than its share of what is left.
static CnStatus check_drift(CniDrive *d, int *good, double *position, double *velocity) {
  CniStep *s = &d->step;
  *good = 1;
  CNI_TRY(cni_motion_drift(&d->motion, s->t + s->h, s->q1, s->v1, s->jacobian1, s->rate1, position,
                           velocity));
  double limit = d->def.drift_limit;
  if (!(limit > 0) || d->def.projection > 0) return CN_OK;
  double p0, v0;
  CNI_TRY(cni_motion_drift(&d->motion, s->t, s->q0, s->v0, s->jacobian0, s->rate0, &p0, &v0));
  // Below a line that ends at the limit, or within its share of what is left. A drift of the
  // velocity moves the position for the rest of the time, whatever the steps: its own limit leaves
  // half of the other.
  double whole = d->t_end - d->t_start, share = s->h / (d->t_end - s->t);
  double line = 0.1 + 0.9 * (s->t + s->h - d->t_start) / whole;
  double speed = limit / cn_max(1, 2 * whole);
  *good = (*position <= limit * line || *position <= p0 + cn_max(0, limit - p0) * share) &&
          (*velocity <= speed * line || *velocity <= v0 + cn_max(0, speed - v0) * share);
  return CN_OK;
}

// Back to the constraints where that is asked for.
static CnStatus project_end(CniDrive *d, double *position, double *velocity) {
  CniStep *s = &d->step;
  if (d->def.projection <= 0 || d->motion.active == 0) return CN_OK;
  int wanted = d->def.drift_limit > 0 ? cn_max(*position, *velocity) > d->def.drift_limit
                                      : (d->report.steps + 1) % d->def.projection == 0;
  if (!wanted) return CN_OK;
  double t = s->t + s->h;
  CNI_TRY(cni_motion_project(&d->motion, t, s->q1, s->v1));
  CNI_TRY(cni_motion_jacobian(&d->motion, t, s->q1, s->jacobian1, s->rate1));
  d->report.projections++;
  return cni_motion_drift(&d->motion, t, s->q1, s->v1, s->jacobian1, s->rate1, position, velocity);
}

// ---- steps ----

static CnStatus underflow(CniDrive *d, double h, const char *cause) {
  return cni_error(CN_STOPPED,
                   "%s: t = %.17g s: a step of %g s is too large and a smaller one "
                   "makes no progress (%s)",
                   d->stepper->name, d->t * cni_time_unit(d->motion.eq),
                   h * cni_time_unit(d->motion.eq), cause);
}

static double least_step(const CniDrive *d) {
  double round_off = 16 * CNI_ROUND_OFF * cn_max(fabs(d->t), fabs(d->t_end));
  return cn_max(d->def.step_min / cni_time_unit(d->motion.eq), round_off);
}

static CnStatus renew_rows(CniDrive *d, int *changed) {
  d->rows_known = d->report.steps + 1;
  CNI_TRY(cni_modes_renew_rows(d, changed));
  if (d->fixed_most < d->fixed_count) d->fixed_most = d->fixed_count;
  return CN_OK;
}

// Make a step of the length wanted or shorter, within error and drift.
static CnStatus make_step(CniDrive *d, double h, double *position, double *velocity) {
  CniStep *s = &d->step;
  int fixed = !(d->def.tolerance > 0);
  double order = d->stepper->order;
  s->tolerance = fixed ? 1 : d->def.tolerance;
  for (;;) {
    const char *cause = "the error";
    s->t = d->t;
    s->h = h;
    CnStatus status = d->stepper->step(&d->motion, s);
    if (status != CN_OK && (status != CN_STOPPED || fixed)) return status;
    int finite = status == CN_OK && isfinite(s->error);
    double shrink = SHRINK_MOST;
    if (status != CN_OK) cause = cn_error_message();
    if (finite && (fixed || s->error <= 1)) {
      int good;
      CNI_TRY(check_drift(d, &good, position, velocity));
      if (good || fixed) {
        double fac = cni_pow(cn_max(s->error, 1e-10), 1 / order) / SAFETY;
        fac = cn_clamp(fac, 1 / GROW_MOST, SHRINK_MOST);
        if (d->rejected_last) fac = cn_max(fac, 1);
        d->h_next = s->error == 0 ? 1.2 * h : h / fac;
        if (row_missing(d)) d->h_next = cn_min(d->h_next, 2 * h);
        d->rejected_last = 0;
        return CN_OK;
      }
      cause = "the drift";
      shrink = 2;
    } else if (finite) {
      shrink = cn_min(SHRINK_MOST, cni_pow(s->error, 1 / order) / SAFETY);
    } else if (status == CN_OK) {
      cause = "the state is not finite";
    }
    if (fixed)
      return cni_error(CN_NOT_FINITE,
                       "%s: t = %.17g s: the state after a step of %g s is "
                       "not finite",
                       d->stepper->name, d->t * cni_time_unit(d->motion.eq),
                       h * cni_time_unit(d->motion.eq));
    d->report.rejected++;
    int changed = 0;
    if (d->report.steps >= d->rows_known) CNI_TRY(renew_rows(d, &changed));
    d->report.last_cause = cause[0] == 't' && cause[4] == 'e'   ? "error"
                           : cause[0] == 't' && cause[4] == 'd' ? "drift"
                                                                : "singular";
    d->rejected_last = 1;
    if (changed) continue;
    h /= shrink;
    if (!(h > least_step(d))) return underflow(d, h, cause);
  }
}

// The step is part of the motion.
static CnStatus accept(CniDrive *d, double position, double velocity) {
  CniStep *s = &d->step;
  int end = d->t_end - (s->t + s->h) <= 2 * CNI_ROUND_OFF * cn_max(fabs(s->t), fabs(d->t_end));
  CNI_TRY(project_end(d, &position, &velocity));
  d->report.position_drift = cn_max(d->report.position_drift, position);
  d->report.velocity_drift = cn_max(d->report.velocity_drift, velocity);
  d->report.steps++;
  if (d->def.tolerance > 0) d->report.error = cn_max(d->report.error, s->error);
  if (s->h > 100 * d->def.event_tolerance) d->same_time = 0; // else it is the same instant
  d->t = end ? d->t_end : s->t + s->h;
  d->report.time = d->t;
  if (d->def.observer.point) {
    CNI_TRY(end_forces(d));
    tell_point(d);
  }
  memcpy(d->q, s->q1, (size_t)d->motion.q_count * sizeof(double));
  memcpy(d->v, s->v1, (size_t)d->motion.v_count * sizeof(double));
  cni_step_shift(s);
  s->t = d->t;
  cni_modes_aim(d);
  if (d->given > 0) CNI_TRY(cni_modes_share(d));
  int changed;
  return row_missing(d) || d->report.steps % ROWS_EVERY == 0 ? renew_rows(d, &changed) : CN_OK;
}

// Length of the next step to try: as planned, not past the end, nor leaving a sliver before it.
static double next_length(const CniDrive *d) {
  double left = cni_jolt_stop(d) - d->t, h = d->h_next;
  if (d->def.step_max > 0) h = cn_min(h, d->def.step_max / cni_time_unit(d->motion.eq));
  if (d->h_limit > 0) h = cn_min(h, d->h_limit);
  if (h >= left * (1 - 1e-12)) return left;
  return h > 0.5 * left && d->def.tolerance > 0 ? 0.5 * left : h;
}

// Once more, up to the event; for a gap the place is improved on the method's own result.
static CnStatus step_to_event(CniDrive *d, CniFound found, double *position, double *velocity) {
  CniStep *s = &d->step;
  double whole = s->h, h = whole * found.theta, t = s->t;
  for (int32_t tries = 0; tries < 6; tries++) {
    s->t = t;
    s->h = h;
    CNI_TRY(d->stepper->step(&d->motion, s));
    double gap, speed;
    if (found.kind != CN_EVENT_IMPACT) break;
    CNI_TRY(cni_watch_gap(d, found.contact, &gap, &speed));
    double change = speed < 0 ? -gap / speed : 0;
    if (fabs(change) > 0.1 * whole) break;
    if (fabs(change) <= d->def.event_tolerance && gap <= CNI_GAP_CLOSED) break;
    h = cn_clamp(h + change, 0, whole);
  }
  return cni_motion_drift(&d->motion, s->t + s->h, s->q1, s->v1, s->jacobian1, s->rate1, position,
                          velocity);
}

static CnStatus check_limits(const CniDrive *d) {
  if (d->report.events > d->def.max_events)
    return cni_error(CN_STOPPED, "%s: t = %.17g s: more than %d events", d->stepper->name,
                     d->t * cni_time_unit(d->motion.eq), (int)d->def.max_events);
  if (d->report.steps + d->report.rejected > d->def.max_steps)
    return cni_error(CN_STOPPED, "%s: t = %.17g s: more than %d steps", d->stepper->name,
                     d->t * cni_time_unit(d->motion.eq), (int)d->def.max_steps);
  return CN_OK;
}

// The step has left the places for which contacts are listed: a new list from its start on, where it
// is as if the call began there; a shorter step where that has been done already.
static CnStatus renew(CniDrive *d) {
  const CnSystem *system = d->motion.system;
  CniStep *s = &d->step;
  d->report.rejected++;
  d->report.last_cause = "contacts";
  if (d->renewed == d->t) {
    d->h_limit = 0.5 * s->h;
    return d->h_limit > least_step(d) ? CN_OK : underflow(d, d->h_limit, "contacts come from afar");
  }
  d->renewed = d->t;
  d->h_next = s->h;
  CNI_TRY(system->detect(system->context, d->t, s->q0, s->v0, d->t_end - d->t));
  CNI_TRY(fit(d, system));
  memcpy(d->q, s->q0, (size_t)system->q_count * sizeof *d->q);
  memcpy(d->v, s->v0, (size_t)system->v_count * sizeof *d->v);
  CNI_TRY(cni_modes_start(d));
  CniFound none = {0, CN_EVENT_IMPACT, -1, 0};
  return cni_modes_settle(d, &none);
}

static int covered(const CniDrive *d) {
  const CnEquations *eq = d->motion.eq;
  const CniStep *s = &d->step;
  return !d->left && (!eq->covered || eq->covered(d->motion.system->context, s->t + s->h, s->q1));
}

// May a step of another kind lead on where none of the method can be made?
static int can_lead(const CniDrive *d) {
  int closed = 0;
  for (int32_t i = 0; i < cni_drive_count(d); i++) closed |= d->modes[i].closed;
  return closed && d->def.accumulation > 0;
}

// A step that is part of the motion, as far as nothing has happened in it: *found. *anew: the contacts are listed
// anew instead.
static CnStatus try_step(CniDrive *d, CniFound *found, double *position, double *velocity,
                         int *anew) {
  CNI_TRY(make_step(d, next_length(d), position, velocity));
  d->left = 0;
  d->left = !covered(d);
  if (!d->left && cni_drive_count(d) > 0) CNI_TRY(cni_watch_step(d, found));
  *anew = d->left;
  d->left = 0;
  return *anew ? renew(d) : CN_OK;
}

static CnStatus advance(CniDrive *d) {
  double position = 0, velocity = 0;
  int anew = 0;
  CNI_TRY(check_limits(d));
  if (d->listener.begun) d->listener.begun(d->def.observer.context, d->t, d->q, d->v);
  if (cni_jolt_is(d)) return cni_jolt_pass(d);
  CNI_TRY(tell_start(d));
  CniFound found = {1, CN_EVENT_IMPACT, -1, 0};
  CnStatus status = try_step(d, &found, &position, &velocity, &anew);
  // forces grow beyond all bounds, and what they move leaves every list, or rows that slip depend on each other
  if (status == CN_STOPPED && can_lead(d)) {
    CniFound none = {1, CN_EVENT_IMPACT, -1, 0};
    CNI_TRY(cni_lead_on(d));
    return cni_modes_settle(d, &none);
  }
  CNI_TRY(status);
  if (anew) return CN_OK;
  d->h_limit = 0;
  if (found.contact < 0) return accept(d, position, velocity);

  double planned = d->h_next;
  d->report.last_cause = "event";
  if (found.theta > 0) {
    CNI_TRY(step_to_event(d, found, &position, &velocity));
    CNI_TRY(accept(d, position, velocity));
  }
  d->h_next = planned;
  d->same_time++;
  return cni_modes_settle(d, &found);
}

static CnStatus run(CniDrive *d) {
  d->h_next = d->def.step > 0 ? d->def.step / cni_time_unit(d->motion.eq) : d->t_end - d->t;
  cni_jolt_find(d);
  CNI_TRY(cni_modes_start(d));
  d->fixed_most = d->fixed_count;
  d->rows_known = 0;
  CniFound none = {0, CN_EVENT_IMPACT, -1, 0};
  CNI_TRY(cni_modes_settle(d, &none));
  double fixed = d->h_next;
  while (d->t < d->t_end) {
    if (!(d->def.tolerance > 0)) d->h_next = fixed;
    CNI_TRY(advance(d));
  }
  return CN_OK;
}

static CnStatus drive(CniDrive *d, const CnSystem *system, double t, const double *q,
                      const double *v, double h) {
  d->report = (CnIntegratorReport){.time = t, .last_cause = ""};
  CNI_TRY(fit(d, system));
  for (int32_t i = 0; i < system->q_count; i++) d->q[i] = q[i];
  for (int32_t i = 0; i < system->v_count; i++) d->v[i] = v[i];
  cni_motion_normalise(&d->motion, d->q);
  d->t = d->t_start = t;
  d->t_end = t + h;
  d->rejected_last = d->same_time = d->leaps = 0;
  d->jam = 0;
  d->stops = -1;
  d->h_limit = 0;
  d->renewed = -INFINITY;
  d->motion.systems = d->probe.systems = 0;
  CnStatus status = run(d);
  d->report.step = d->h_next;
  d->report.systems = d->motion.systems + d->probe.systems;
  return status;
}

// ---- rows of the table ----

CnStatus cni_drive_step(void *state, const CnSystem *system, CnSolver *solver, double t,
                        const double *q, const double *v, double h, CnSolveReport *report) {
  CniDrive *d = state;
  (void)solver;
  // not a step problem: there is nothing to certify
  *report = (CnSolveReport){.solver = d->stepper->name,
                            .converged = -1,
                            .method = "events",
                            .certificate = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, -1}};
  CNI_TRY(drive(d, system, t, q, v, h));
  report->iterations = (int32_t)cn_min((double)d->report.steps, 2e9);
  return system->done(system->context, d->t_end, d->q, d->v, NULL);
}

void cni_drive_attach(void *state, CnIntegrator *handle) {
  CniDrive *d = state;
  d->handle = handle;
}

void cni_drive_report(const void *state, CnIntegratorReport *report) {
  const CniDrive *d = state;
  *report = d->report;
  if (d->leaps > 0) report->last_cause = "endless"; // changes of contact, led over
}

void cni_drive_observe(void *state, const CnObserver *observer, CniListener listener) {
  CniDrive *d = state;
  d->def.observer = *observer;
  d->listener = listener;
}

CnStatus cni_drive_dense(void *state, double t, double *q, double *v) {
  CniDrive *d = state;
  CniStep *s = &d->step;
  if (!d->in_point)
    return cni_error(CN_UNSUPPORTED, "dense output is there inside the observer's point() only");
  double theta = (t - s->t) / s->h;
  if (!(theta >= -1e-9 && theta <= 1 + 1e-9))
    return cni_invalid("dense output: t = %g is outside the step %g .. %g", t, s->t, s->t + s->h);
  return d->stepper->dense(&d->motion, s, cn_clamp(theta, 0, 1), q, v);
}
