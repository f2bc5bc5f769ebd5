// SPDX-License-Identifier: Apache-2.0
// What holds at one instant: which contacts are closed, which of them stay closed (drive.h).
//
//     I1   closed: the gap is zero and the piece of surface is there
//     impact, as long as one of I1 approaches (impact.c)
//     I2   those of I1 at rest in the normal direction whose force pushes: the complementarity
//          problem of the accelerations, 0 <= G a + d/dt(G) v _|_ L >= 0, or, where pieces of a
//          surface meet, what the definition says (pieces.c)
//
// Stick and slip: a closed contact with friction that does not move along its tangent is held there
// as long as |L_T| <= mu L_N; beyond, and while it moves, its friction is -mu sgn(u_T) L_N. Several
// tangents (motion in space) can only stick; a contact that would slip ends the call.
#include "integrator/drive.h"

#include "core/error.h"
#include "core/vec.h"

#include <string.h>

static double speed_zero(const CniDrive *d) {
  return CNI_SPEED_ZERO * (1 + cni_largest(d->v, d->motion.v_count));
}

// ---- rows ----

CnStatus cni_modes_probe(CniDrive *d, int32_t count, int tangents) {
  const CnEquations *eq = d->motion.eq;
  int32_t n = 0;
  for (int32_t i = 0; i < d->fixed_count; i++) d->rows[n++] = d->fixed[i];
  for (int32_t i = 0; i < count; i++) {
    int32_t row = cni_normal_row(eq, d->chosen[i]);
    int32_t dim = tangents && cni_has_friction(d, d->chosen[i]) ? eq->contact_dim : 1;
    for (int32_t k = 0; k < dim; k++) d->rows[n++] = row + k;
  }
  return cni_motion_set_rows(&d->probe, d->rows, NULL, NULL, n);
}

CnStatus cni_modes_speeds(CniDrive *d, double t, const double *q, const double *v) {
  CniMotion *p = &d->probe;
  CNI_TRY(cni_motion_jacobian(p, t, q, p->scratch_g, p->scratch_rate));
  for (int32_t i = 0; i < p->active; i++)
    d->speeds[i] = cni_motion_row(p, p->scratch_g, i, p->scratch_rate[i], v);
  return CN_OK;
}

// ---- the start ----

// Worst of the bilateral rows and of the overlaps at the start; the probe stands on the rows.
static CnStatus start_defect(CniDrive *d, int32_t *row, double *gap, double *speed) {
  const CnEquations *eq = d->motion.eq;
  double worst = 0;
  *row = -1;
  *gap = *speed = 0;
  CNI_TRY(cni_motion_gaps(&d->probe, d->t, d->q));
  CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
  double scale = 1 + cni_largest(d->v, d->motion.v_count);
  for (int32_t i = 0; i < d->probe.active; i++) {
    int32_t r = d->probe.list[i];
    double g = d->probe.gaps[cni_row_gap(eq, r)], u = d->speeds[i];
    if (r >= eq->bilateral_count) {
      g = cn_min(g, 0);
      u = 0; // an approach is an impact
    }
    double size = cn_max(fabs(g), fabs(u) / scale);
    if (!(size <= worst)) {
      worst = size;
      *row = r;
      *gap = g;
      *speed = u;
    }
  }
  return CN_OK;
}

static double start_limit(const CniDrive *d) {
  return cn_min(1e-4, 1e-8 + 100 * d->def.tolerance) * (1 + cni_largest(d->q, d->motion.q_count));
}

// Bilateral rows that do not depend on each other, and contacts that overlap.
static CnStatus start_rows(CniDrive *d) {
  const CnEquations *eq = d->motion.eq;
  int32_t count = 0;
  for (int32_t i = 0; i < eq->bilateral_count; i++) d->fixed[i] = i;
  d->fixed_count = 0;
  CNI_TRY(cni_motion_independent(&d->probe, d->t, d->q, d->fixed, eq->bilateral_count, d->fixed,
                                 &d->fixed_count));
  CNI_TRY(cni_motion_gaps(&d->probe, d->t, d->q));
  if (eq->domains) eq->domains(d->motion.system->context, d->t, d->q, d->domains);
  for (int32_t i = 0; i < eq->contact_count; i++) {
    double gap = d->probe.gaps[eq->bilateral_count + i];
    d->modes[i] = (CniContactMode){.armed = gap > CNI_GAP_CLOSED, .place = -1};
    if (gap < -CNI_GAP_CLOSED && (!eq->domains || d->domains[i] >= 0)) d->chosen[count++] = i;
  }
  return cni_modes_probe(d, count, 0);
}

CnStatus cni_modes_start(CniDrive *d) {
  int32_t row;
  double gap, speed;
  CNI_TRY(start_rows(d));
  CNI_TRY(start_defect(d, &row, &gap, &speed));
  double limit = start_limit(d);
  if (row < 0 || (fabs(gap) <= limit && fabs(speed) <= limit)) return CN_OK;
  if (!d->def.project_start) {
    char label[96];
    cni_row_label(d->motion.system, row, label);
    return cni_error(CN_STOPPED,
                     "%s: t = %.17g s: the state does not meet %s: g = %g, dg/dt = %g (allowed: "
                     "%.2g; it can be projected)",
                     d->stepper->name, d->t, label, gap, speed, limit);
  }
  d->report.projections++;
  CNI_TRY(cni_motion_independent(&d->probe, d->t, d->q, d->probe.list, d->probe.active, d->rows,
                                 &d->probe.active));
  CNI_TRY(cni_motion_set_rows(&d->probe, d->rows, NULL, NULL, d->probe.active));
  return cni_motion_project(&d->probe, d->t, d->q, d->v);
}

// ---- closed contacts ----

// I1 into chosen; returns how many.
static CnStatus find_closed(CniDrive *d, int edge, int32_t *count) {
  const CnEquations *eq = d->motion.eq;
  double closed = CNI_GAP_CLOSED + (edge ? 4 * d->report.position_drift : 0);
  *count = 0;
  CNI_TRY(cni_motion_gaps(&d->probe, d->t, d->q));
  if (eq->domains) eq->domains(d->motion.system->context, d->t, d->q, d->domains);
  for (int32_t i = 0; i < eq->contact_count; i++) {
    double gap = d->probe.gaps[eq->bilateral_count + i];
    if (d->modes[i].mode == CNI_OPEN && gap > closed) continue;
    if (eq->domains && !cni_piece_ahead(d, i, d->domains[i])) continue;
    d->chosen[(*count)++] = i;
  }
  return CN_OK;
}

// ---- accelerations ----

CnStatus cni_acceleration_lcp(CniClash *clash, CnSolver *solver, CniMotion *m, double t,
                              const double *columns, const double *rows_of, int32_t bilateral,
                              double *a, double *multipliers) {
  int32_t k = m->active;
  CnSolveReport report;
  cni_motion_mass_solve(m, a);
  CNI_TRY(cni_clash_begin(clash, m, columns, rows_of));
  if (k == 0) return CN_OK;
  for (int32_t i = 0; i < k; i++) {
    clash->q[i] = cni_motion_row(m, rows_of, i, -multipliers[i], a);
    cni_clash_block(clash, i < bilateral ? CN_BLOCK_BILATERAL : CN_BLOCK_UNILATERAL, 1, 0);
  }
  CNI_TRY(cni_clash_solve(clash, solver, &report));
  if (!(report.certificate.error_siconos <= 1e-8))
    return cni_error(CN_STOPPED,
                     "t = %.17g s: the accelerations of %d closed contacts were not found (%s left "
                     "an error of %g)",
                     t, (int)(k - bilateral), report.solver, report.certificate.error_siconos);
  for (int32_t i = 0; i < k; i++) multipliers[i] = clash->answer.g[i];
  cni_motion_push(m, multipliers, a);
  return CN_OK;
}

// Bilateral rows and held tangents first, then the normals of the candidates with their friction.
static CnStatus lcp_rows(CniDrive *d, const int32_t *candidates, int32_t count,
                         int32_t *bilateral) {
  const CnEquations *eq = d->motion.eq;
  int32_t n = 0;
  for (int32_t i = 0; i < d->fixed_count; i++) d->rows[n++] = d->fixed[i];
  for (int32_t i = 0; i < count; i++) {
    if (d->modes[candidates[i]].mode != CNI_STICK) continue;
    for (int32_t k = 1; k < eq->contact_dim; k++)
      d->rows[n++] = cni_normal_row(eq, candidates[i]) + k;
  }
  if (n > d->fixed_count)
    CNI_TRY(cni_motion_independent(&d->probe, d->t, d->q, d->rows, n, d->rows, &n));
  *bilateral = n;
  for (int32_t i = 0; i < n; i++) d->slip[i] = -1;
  for (int32_t i = 0; i < count; i++, n++) {
    const CniContactMode *mode = &d->modes[candidates[i]];
    d->rows[n] = cni_normal_row(eq, candidates[i]);
    d->slip[n] = mode->mode == CNI_SLIP ? d->rows[n] + 1 : -1;
    d->factor[n] = -mode->direction * cni_drive_law(d, candidates[i]).friction;
  }
  return cni_motion_set_rows(&d->probe, d->rows, d->slip, d->factor, n);
}

static CnStatus solve_candidates(CniDrive *d, const int32_t *candidates, int32_t count) {
  CniMotion *p = &d->probe;
  int32_t bilateral;
  CNI_TRY(lcp_rows(d, candidates, count, &bilateral));
  CNI_TRY(cni_motion_curvature(p, d->t, d->q, d->v, d->multipliers));
  for (int32_t i = 0; i < p->active; i++) d->multipliers[i] = -d->multipliers[i];
  CNI_TRY(cni_motion_jacobian(p, d->t, d->q, p->scratch_g, p->scratch_rate));
  CNI_TRY(cni_motion_mass(p, d->t, d->q));
  CNI_TRY(p->eq->force(p->system->context, d->t, d->q, d->v, d->a));
  CNI_TRY(cni_acceleration_lcp(&d->clash, d->solver, p, d->t, p->scratch_g, p->scratch_g, bilateral,
                               d->a, d->multipliers));
  memset(d->all_multipliers, 0, (size_t)p->row_count * sizeof(double));
  for (int32_t i = 0; i < p->active; i++) d->all_multipliers[p->list[i]] = d->multipliers[i];
  return CN_OK;
}

static CnStatus would_slip(const CniDrive *d, int32_t contact, double needed) {
  char label[96];
  cni_row_label(d->motion.system, cni_normal_row(d->motion.eq, contact), label);
  return cni_error(CN_STOPPED,
                   "%s: t = %.17g s: %s slips (friction %g, needed to stick: %g); impulse and "
                   "moreau-jean follow slip in space",
                   d->stepper->name, d->t, label, cni_drive_law(d, contact).friction, needed);
}

// Leave the modes that the forces found contradict; *changed: solve again.
static CnStatus review(CniDrive *d, int32_t contact, double zero, int *changed) {
  const CnEquations *eq = d->motion.eq;
  CniContactMode *mode = &d->modes[contact];
  const double *force = &d->all_multipliers[cni_normal_row(eq, contact)];
  double mu = cni_drive_law(d, contact).friction, along = 0;
  if (mode->mode != CNI_STICK) return CN_OK;
  if (force[0] <= zero) { // it carries nothing and holds nothing
    mode->mode = CNI_CLOSED;
    *changed = 1;
    return CN_OK;
  }
  for (int32_t k = 1; k < eq->contact_dim; k++) along += force[k] * force[k];
  along = sqrt(along);
  // half of what watch.c allows, so that what it has seen is seen here
  if (along <= mu * force[0] + cn_max(1e-10, 100 * zero)) return CN_OK;
  if (eq->contact_dim > 2) return would_slip(d, contact, along / force[0]);
  mode->mode = CNI_SLIP;
  mode->direction = force[1] > 0 ? -1 : 1;
  *changed = 1;
  return CN_OK;
}

// Modes of the candidates from the complementarity problem of the accelerations.
static CnStatus choose_by_lcp(CniDrive *d, const int32_t *candidates, int32_t count) {
  int changed = 1;
  double zero = 0;
  for (int32_t round = 0; changed; round++) {
    if (round > 2 * count + 4)
      return cni_error(CN_STOPPED, "%s: t = %.17g s: no combination of stick and slip was found",
                       d->stepper->name, d->t);
    changed = 0;
    CNI_TRY(solve_candidates(d, candidates, count));
    zero = 1e-12 * cni_largest(d->all_multipliers, d->motion.row_count);
    for (int32_t i = 0; i < count; i++) CNI_TRY(review(d, candidates[i], zero, &changed));
  }
  for (int32_t i = 0; i < count; i++)
    if (!(d->all_multipliers[cni_normal_row(d->motion.eq, candidates[i])] > zero))
      d->modes[candidates[i]].mode = CNI_OPEN;
  return CN_OK;
}

// The same by a step of moreau-jean, taken back.
static CnStatus choose_by_nscd(CniDrive *d, int32_t *candidates, int32_t count) {
  double h = cn_clamp(1e-3 * d->h_next, 1e-8, 1e-4);
  memcpy(d->chosen, candidates, (size_t)count * sizeof *candidates);
  CNI_TRY(cni_nscd_step(d, count, h, 1, d->v_new, d->impulses));
  double zero = 1e-9 * cni_largest(d->impulses, count);
  for (int32_t i = 0; i < count; i++)
    if (!(d->impulses[i] > zero)) d->modes[candidates[i]].mode = CNI_OPEN;
  return CN_OK;
}

// First guess of a closed contact's mode from its velocity.
static CnStatus guess_mode(CniDrive *d, int32_t contact, const double *u) {
  CniContactMode *mode = &d->modes[contact];
  double zero = 10 * speed_zero(d), along = 0;
  int32_t dim = d->motion.eq->contact_dim;
  mode->mode = CNI_CLOSED;
  if (!cni_has_friction(d, contact)) return CN_OK;
  for (int32_t k = 1; k < dim; k++) along = cn_max(along, fabs(u[k]));
  if (along <= zero) {
    mode->mode = CNI_STICK;
    return CN_OK;
  }
  if (dim > 2) return would_slip(d, contact, INFINITY);
  mode->mode = CNI_SLIP;
  mode->direction = u[1] > 0 ? 1 : -1;
  return CN_OK;
}

// I2 from I1 (chosen[0 .. count)), whose speeds are known.
static CnStatus choose(CniDrive *d, int32_t count, int edge, int impact) {
  const CnEquations *eq = d->motion.eq;
  int32_t *candidates = d->chosen + eq->contact_count + 1, n = 0;
  const double *u = d->speeds + d->fixed_count;
  double zero = speed_zero(d) + (edge ? 4 * d->report.velocity_drift : 0);
  for (int32_t i = 0; i < eq->contact_count; i++) d->modes[i].next_open = 1;
  for (int32_t i = 0; i < count; i++) {
    int32_t contact = d->chosen[i];
    // without an impact a closed contact moves by its drift only
    if (u[0] <= zero || (d->modes[contact].mode != CNI_OPEN && !impact)) {
      d->modes[contact].next_open = 0;
      d->modes[contact].armed = 0; // one that carries nothing lies there, and does not fall again
      CNI_TRY(guess_mode(d, contact, u));
      candidates[n++] = contact;
    } else {
      d->modes[contact].armed = 1; // it flies
    }
    u += cni_has_friction(d, contact) ? eq->contact_dim : 1;
  }
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].next_open) d->modes[i].mode = CNI_OPEN;
  memset(d->all_multipliers, 0, (size_t)d->motion.row_count * sizeof(double));
  if (n == 0) return CN_OK;
  if (edge && d->def.remedy == CN_REMEDY_NSCD) return choose_by_nscd(d, candidates, n);
  return choose_by_lcp(d, candidates, n);
}

// ---- active rows ----

// Bilateral rows, normals that carry, then held tangents; those that depend on others are left out.
static CnStatus active_rows(CniDrive *d, int32_t *count) {
  const CnEquations *eq = d->motion.eq;
  int32_t n = 0;
  for (int32_t i = 0; i < d->fixed_count; i++) d->rows[n++] = d->fixed[i];
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].mode != CNI_OPEN) d->rows[n++] = cni_normal_row(eq, i);
  for (int32_t i = 0; i < eq->contact_count; i++)
    for (int32_t k = 1; k < eq->contact_dim && d->modes[i].mode == CNI_STICK; k++)
      d->rows[n++] = cni_normal_row(eq, i) + k;
  if (n > d->fixed_count)
    CNI_TRY(cni_motion_independent(&d->probe, d->t, d->q, d->rows, n, d->rows, &n));
  *count = n;
  return CN_OK;
}

static CnStatus apply(CniDrive *d) {
  const CnEquations *eq = d->motion.eq;
  int32_t n;
  CNI_TRY(active_rows(d, &n));
  for (int32_t i = 0; i < eq->contact_count; i++) d->modes[i].place = -1;
  for (int32_t i = 0; i < n; i++) {
    int32_t contact = cni_row_contact(eq, d->rows[i]);
    d->slip[i] = -1;
    d->factor[i] = 0;
    if (contact < 0 || cni_row_gap(eq, d->rows[i]) < 0) continue;
    CniContactMode *mode = &d->modes[contact];
    mode->place = i;
    if (mode->mode != CNI_SLIP) continue;
    d->slip[i] = d->rows[i] + 1;
    d->factor[i] = -mode->direction * cni_drive_law(d, contact).friction;
  }
  CNI_TRY(cni_motion_set_rows(&d->motion, d->rows, d->slip, d->factor, n));
  CNI_TRY(cni_step_fit(&d->step, d->stepper, &d->motion, d->q, d->v));
  d->step.t = d->t;
  return eq->contact_count > 0
             ? cni_motion_accelerate(&d->motion, d->t, d->q, d->v, NULL, d->a, d->multipliers)
             : CN_OK;
}

// ---- flights that end at once ----

// For open contacts at zero gap that move away and are pulled back: how long to the top, and how
// long until infinitely many impacts have ended. chosen: those that come to rest within the time
// of the definition.
static CnStatus find_flights(CniDrive *d, int32_t *count, double *rest) {
  const CnEquations *eq = d->motion.eq;
  CniMotion *p = &d->probe;
  int32_t flying = 0;
  *count = 0;
  *rest = 0;
  d->h_limit = 0;
  for (int32_t i = 0; i < eq->contact_count; i++) {
    double gap = p->gaps[eq->bilateral_count + i];
    if (d->modes[i].mode == CNI_OPEN && d->modes[i].armed && fabs(gap) <= CNI_GAP_CLOSED)
      d->chosen[flying++] = i;
  }
  if (flying == 0) return CN_OK;
  CNI_TRY(cni_modes_probe(d, flying, 0));
  CNI_TRY(cni_motion_curvature(p, d->t, d->q, d->v, d->impulses));
  CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
  for (int32_t i = 0; i < flying; i++) {
    int32_t contact = d->chosen[i], row = d->fixed_count + i;
    double pull = d->impulses[row], u = d->speeds[row], e = cni_drive_law(d, contact).restitution;
    pull = cni_motion_row(p, p->scratch_g, row, pull, d->a);
    if (!(u > 0) || !(pull < 0)) continue;
    double top = -u / pull, end = e < 1 ? 2 * top / (1 - e) : INFINITY;
    if (d->h_limit == 0 || top < d->h_limit) d->h_limit = top;
    if (!(end < d->def.accumulation)) continue;
    *rest = cn_max(*rest, end);
    d->chosen[(*count)++] = contact;
  }
  return CN_OK;
}

// Over the rest of infinitely many impacts with one step of moreau-jean; back to events at rest.
static CnStatus bring_to_rest(CniDrive *d, int32_t count, double rest) {
  const CnEquations *eq = d->motion.eq;
  CniMotion *m = &d->motion;
  double h = cn_min(rest, d->t_end - d->t), *q_dot = m->scratch_q;
  for (int32_t i = 0; i < count; i++)
    cni_drive_tell(d, CN_EVENT_REST, d->chosen[i], d->t + rest, 0, 0);
  int32_t n = count;
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].mode != CNI_OPEN) d->chosen[n++] = i;
  CNI_TRY(cni_nscd_step(d, n, h, 0, d->v_new, d->impulses));
  for (int32_t i = 0; i < m->v_count; i++) d->a[i] = 0.5 * (d->v[i] + d->v_new[i]);
  cni_motion_kinematics(m, d->t, d->q, d->a, q_dot);
  for (int32_t i = 0; i < m->q_count; i++) d->q[i] += h * q_dot[i];
  cni_motion_normalise(m, d->q);
  memcpy(d->v, d->v_new, (size_t)m->v_count * sizeof *d->v);
  d->t = h < rest ? d->t_end : d->t + h;
  for (int32_t i = 0; i < count; i++) d->modes[d->chosen[i]].mode = CNI_CLOSED;
  return CN_OK;
}

// ---- settling ----

// A contact that was closed all along drifts at most; one on the next piece of a surface takes over
// that drift.
static int approaching(const CniDrive *d, int32_t count, int edge) {
  const double *u = d->speeds + d->fixed_count;
  double zero = speed_zero(d) + (edge ? 4 * d->report.velocity_drift : 0);
  for (int32_t i = 0; i < count; i++) {
    if (u[0] < -zero && d->modes[d->chosen[i]].mode == CNI_OPEN) return 1;
    u += cni_has_friction(d, d->chosen[i]) ? d->motion.eq->contact_dim : 1;
  }
  return 0;
}

static CnStatus give_up(const CniDrive *d) {
  return cni_error(CN_STOPPED,
                   "%s: t = %.17g s: %d changes of contact at one instant, and no end of them",
                   d->stepper->name, d->t, CNI_SAME_TIME);
}

// What changed by the event, for the log.
static void tell_changes(CniDrive *d, const CniFound *found, int impact) {
  const CnEquations *eq = d->motion.eq;
  if (found->contact < 0) return;
  int32_t contact = found->contact;
  const CniContactMode *mode = &d->modes[contact];
  double force = d->all_multipliers[cni_normal_row(eq, contact)];
  if (found->kind == CN_EVENT_IMPACT && impact) return; // told with its impulse
  if (found->kind == CN_EVENT_IMPACT && mode->mode != CNI_OPEN)
    cni_drive_tell(d, CN_EVENT_TOUCH, contact, d->t, 0, force);
  else if (found->kind == CN_EVENT_SLIP && mode->mode == CNI_SLIP)
    cni_drive_tell(d, CN_EVENT_SLIP, contact, d->t, 0, force);
  else if (found->kind == CN_EVENT_STICK)
    cni_drive_tell(d, mode->mode == CNI_STICK ? CN_EVENT_STICK : CN_EVENT_SLIP, contact, d->t, 0,
                   force);
  else if (found->kind == CN_EVENT_RELEASE && mode->mode == CNI_OPEN)
    cni_drive_tell(d, CN_EVENT_RELEASE, contact, d->t, 0, 0);
  else if (found->kind == CN_EVENT_DOMAIN)
    cni_drive_tell(d, CN_EVENT_DOMAIN, contact, d->t, 0, 0);
}

CnStatus cni_modes_settle(CniDrive *d, const CniFound *found) {
  int edge = found->contact >= 0 && found->kind == CN_EVENT_DOMAIN, impact = 0;
  int32_t count, resting;
  double rest;
  if (d->motion.eq->contact_count == 0) return apply(d);
  for (;;) {
    if (d->same_time > CNI_SAME_TIME) return give_up(d);
    CNI_TRY(find_closed(d, edge, &count));
    CNI_TRY(cni_modes_probe(d, count, 1));
    CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
    if (approaching(d, count, edge)) {
      d->same_time++;
      impact = 1;
      CNI_TRY(cni_impact(d, count));
      continue;
    }
    CNI_TRY(choose(d, count, edge, impact));
    CNI_TRY(apply(d));
    CNI_TRY(find_flights(d, &resting, &rest));
    if (resting == 0) break;
    d->same_time++;
    CNI_TRY(bring_to_rest(d, resting, rest));
  }
  tell_changes(d, found, impact);
  return CN_OK;
}
