// SPDX-License-Identifier: Apache-2.0
// What holds at one instant: which contacts are closed, which of them stay closed (drive.h).
//
//     I1   closed: the gap is zero and the piece of surface is there
//     impact, as long as one of I1 approaches (impact.c)
//     I2   those of I1 at rest in the normal direction whose force pushes, by the friction problem of
//          the accelerations or, where pieces of a surface meet, as the definition says (pieces.c)
//
// Stick and slip are decided for all closed contacts together, by the friction problem of the
// accelerations: which forces within their cones keep closed contacts from moving, and where none
// can. A contact that slips pulls -mu L_N along its tangential velocity. Rows of closed contacts may
// depend on each other (a box on its four corners): the motion does not need all of them, and is
// made with those that carry most; whether it can go on is asked of the friction problem again,
// because the forces of so few rows need not lie in their cones where others do.
#include "integrator/events/drive.h"

#include "core/vec.h"

#include <string.h>

// ---- rows ----

CniPartRows cni_part_rows(const CniDrive *d, int32_t contact, int32_t part) {
  const CnEquations *eq = d->motion.eq;
  int32_t row = cni_normal_row(eq, contact), bound = contact - eq->contact_count;
  if (bound >= 0) return (CniPartRows){row, part == 0, d->bounds[bound]};
  CnContactLaw law = cni_drive_law(d, contact);
  int32_t dim = cni_contact_rows(eq, contact);
  CniPartRows parts[CNI_PARTS] = {{row + 1, dim < 3 ? dim - 1 : 2, law.friction},
                                  {row + 3, dim > 4 ? 2 : 0, law.rolling},
                                  {row + 5, dim > 5 ? 1 : 0, law.spinning}};
  if (!(parts[part].friction > 0)) parts[part].count = 0;
  return parts[part];
}

CnStatus cni_modes_probe(CniDrive *d, int32_t count, int friction) {
  const CnEquations *eq = d->motion.eq;
  int32_t n = 0;
  for (int32_t i = 0; i < d->fixed_count; i++) d->rows[n++] = d->fixed[i];
  for (int32_t i = 0; i < count; i++) {
    int32_t row = cni_normal_row(eq, d->chosen[i]);
    int32_t dim = friction ? cni_contact_rows(eq, d->chosen[i]) : 1;
    for (int32_t k = 0; k < dim; k++) d->rows[n++] = row + k;
  }
  for (int32_t i = 0; friction && i < eq->bound_count; i++)
    d->rows[n++] = cni_normal_row(eq, eq->contact_count + i);
  return cni_motion_set_rows(&d->probe, d->rows, NULL, n);
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
  CNI_TRY(cni_motion_strongest(&d->probe, d->t, d->q, d->fixed, eq->bilateral_count, d->fixed,
                               &d->fixed_count));
  CNI_TRY(cni_motion_gaps(&d->probe, d->t, d->q));
  if (eq->domains) eq->domains(d->motion.system->context, d->t, d->q, d->domains);
  for (int32_t i = 0; i < eq->contact_count; i++) {
    double gap = d->probe.gaps[eq->bilateral_count + i];
    d->modes[i] = (CniContactMode){.armed = gap > CNI_GAP_CLOSED, .place = -1};
    for (int32_t k = 0; k < CNI_PARTS; k++) d->modes[i].parts[k].slip = -1;
    if (gap < -CNI_GAP_CLOSED && (!eq->domains || d->domains[i] >= 0)) d->chosen[count++] = i;
  }
  for (int32_t i = eq->contact_count; i < cni_drive_count(d); i++)
    d->modes[i] = (CniContactMode){.closed = 1, .place = -1, .parts = {{.slip = -1}}};
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
    const CnEquations *eq = d->motion.eq;
    double unit = eq->row_unit ? eq->row_unit(d->motion.system->context, row) : 1;
    return cni_error(CN_STOPPED,
                     "%s: t = %.17g s: the state does not meet %s: g = %g, dg/dt = %g (allowed: "
                     "%.2g; project_start is off)",
                     d->stepper->name, d->t * cni_time_unit(eq), label, gap * unit,
                     speed * unit / cni_time_unit(eq), limit * unit);
  }
  d->report.projections++;
  CNI_TRY(cni_motion_independent(&d->probe, d->t, d->q, d->probe.list, d->probe.active,
                                 CNI_SHARE_PLACES, d->rows, &d->probe.active));
  CNI_TRY(cni_motion_set_rows(&d->probe, d->rows, NULL, d->probe.active));
  return cni_motion_project(&d->probe, d->t, d->q, d->v);
}

// ---- closed contacts ----

// I1 into chosen; returns how many. A gap that was seen to close is closed, however near the border.
static CnStatus find_closed(CniDrive *d, const CniFound *found, int edge, int32_t *count) {
  const CnEquations *eq = d->motion.eq;
  double closed = CNI_GAP_CLOSED + (edge ? 4 * d->report.position_drift : 0);
  *count = 0;
  CNI_TRY(cni_motion_gaps(&d->probe, d->t, d->q));
  if (eq->domains) eq->domains(d->motion.system->context, d->t, d->q, d->domains);
  for (int32_t i = 0; i < eq->contact_count; i++) {
    double gap = d->probe.gaps[eq->bilateral_count + i];
    if (!d->modes[i].closed && gap > closed) continue;
    int hit = found->contact == i && found->kind == CN_EVENT_IMPACT;
    if (eq->domains && !hit && !cni_piece_ahead(d, i, d->domains[i])) continue;
    d->chosen[(*count)++] = i;
  }
  return CN_OK;
}

CnStatus cni_modes_jolt(CniDrive *d) {
  CniFound none = {0, CN_EVENT_IMPACT, -1, 0};
  int32_t count;
  CNI_TRY(start_rows(d));
  CNI_TRY(find_closed(d, &none, 0, &count));
  CNI_TRY(cni_modes_probe(d, count, 1));
  CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
  if (cni_largest(d->speeds, d->fixed_count) <= cni_speed_zero(d)) return CN_OK;
  return cni_impact_at_once(d, count);
}

// ---- slip ----

void cni_modes_aim(CniDrive *d) {
  CniMotion *m = &d->motion;
  const CniStep *s = &d->step;
  double u[2];
  for (int32_t i = 0; i < m->slip_count; i++) {
    CniSlip *slip = &m->slip[i];
    if (slip->count < 2) continue;
    double speed = cni_motion_slip(m, i, s->jacobian0, s->rate0, s->v0, u);
    slip->speed = 0;
    // what is below the round-off of velocities has no direction of its own, whatever the tolerance
    slip->slow = cn_max(cni_slip_stiff(d), cni_slip_zero(d));
    if (!(speed > slip->slow)) continue;
    slip->speed = speed;
    for (int32_t k = 0; k < 2; k++)
      d->modes[slip->owner].parts[slip->part].direction[k] = slip->start[k] = u[k] / speed;
  }
}

// The same by a step of moreau-jean, taken back.
static CnStatus choose_by_nscd(CniDrive *d, int32_t *candidates, int32_t count) {
  double h = cn_clamp(1e-3 * d->h_next, 1e-8, 1e-4);
  memcpy(d->chosen, candidates, (size_t)count * sizeof *candidates);
  CNI_TRY(cni_nscd_step(d, count, h, 1, d->v_new, d->impulses));
  double zero = 1e-9 * cni_largest(d->impulses, count);
  for (int32_t i = 0; i < count; i++)
    if (!(d->impulses[i] > zero)) d->modes[candidates[i]].closed = 0;
  return CN_OK;
}

// I2 from I1 (chosen[0 .. count)), whose speeds are known.
static CnStatus choose(CniDrive *d, int32_t count, const CniFound *found, int edge, int impact) {
  const CnEquations *eq = d->motion.eq;
  int32_t *candidates = d->chosen + eq->contact_count + 1, n = 0, rubs = eq->bound_count > 0;
  const double *u = d->speeds + d->fixed_count;
  double zero = cni_speed_zero(d) + (edge ? 4 * d->report.velocity_drift : 0) + 2 * d->jam;
  for (int32_t i = 0; i < eq->contact_count; i++) d->modes[i].next_open = 1;
  for (int32_t i = 0; i < count; i++) {
    int32_t contact = d->chosen[i];
    // without an impact a closed contact moves by its drift only
    if (u[0] <= zero || (d->modes[contact].closed && !impact)) {
      d->modes[contact].next_open = 0;
      d->modes[contact].armed = 0; // one that carries nothing lies there, and does not fall again
      d->modes[contact].closed = 1;
      for (int32_t k = 0; k < CNI_PARTS; k++) d->modes[contact].parts[k].slips = 0;
      candidates[n++] = contact;
    } else {
      d->modes[contact].armed = 1; // it flies
    }
    u += cni_contact_rows(eq, contact);
    rubs |= cni_contact_rows(eq, contact) > 1;
  }
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].next_open) d->modes[i].closed = 0;
  memset(d->all_multipliers, 0, (size_t)d->motion.row_count * sizeof(double));
  if (n + eq->bound_count == 0) return CN_OK;
  if (edge && !rubs && d->def.remedy == CN_REMEDY_NSCD) return choose_by_nscd(d, candidates, n);
  return cni_friction_choose(d, candidates, n, found);
}

// ---- active rows ----

// Bilateral rows, normals that carry, then rows of parts that hold, of the contacts in the order
// given, and of the bounds; those that depend on others are left out.
static CnStatus active_rows(CniDrive *d, const int32_t *order, int32_t closed, int32_t *count) {
  const CnEquations *eq = d->motion.eq;
  int32_t n = 0;
  for (int32_t i = 0; i < d->fixed_count; i++) d->rows[n++] = d->fixed[i];
  for (int32_t i = 0; i < closed; i++) d->rows[n++] = cni_normal_row(eq, order[i]);
  for (int32_t i = 0; i < closed + eq->bound_count; i++) {
    int32_t contact = i < closed ? order[i] : eq->contact_count + i - closed;
    for (int32_t part = 0; part < CNI_PARTS; part++) {
      CniPartRows rows = cni_part_rows(d, contact, part);
      for (int32_t k = 0; k < rows.count && !d->modes[contact].parts[part].slips; k++)
        d->rows[n++] = rows.row + k;
    }
  }
  *count = n;
  if (n > d->fixed_count)
    CNI_TRY(
        cni_motion_independent(&d->probe, d->t, d->q, d->rows, n, CNI_SHARE_MOVES, d->rows, count));
  d->redundant = *count < n;
  return CN_OK;
}

// By their forces, the largest first, so that rows left out are those of contacts that carry least.
static void sort_by_load(const CniDrive *d, int32_t *order, int32_t count) {
  for (int32_t i = 1; i < count; i++) {
    int32_t contact = order[i], k = i;
    for (; k > 0 && d->modes[order[k - 1]].load < d->modes[contact].load; k--)
      order[k] = order[k - 1];
    order[k] = contact;
  }
}

// Rows that hold from now on hold for the velocity too: contacts that came to rest by the error of
// the steps are at rest.
static CnStatus meet_velocity(CniDrive *d) {
  CniMotion *m = &d->motion;
  double *w = m->scratch_v, *r = m->multipliers, largest = 0;
  if (cni_drive_count(d) == 0 || m->active == 0) return CN_OK;
  CNI_TRY(cni_motion_jacobian(m, d->t, d->q, m->scratch_g, m->scratch_rate));
  for (int32_t i = 0; i < m->active; i++) {
    r[i] = -cni_motion_row(m, m->scratch_g, i, m->scratch_rate[i], d->v);
    largest = cn_max(largest, fabs(r[i]));
  }
  if (largest <= 1e-13 * (1 + cni_largest(d->v, m->v_count))) return CN_OK;
  CNI_TRY(cni_motion_mass(m, d->t, d->q));
  memset(w, 0, (size_t)m->v_count * sizeof *w);
  CNI_TRY(cni_motion_solve(m, d->t, m->scratch_g, m->scratch_g, w, r));
  for (int32_t i = 0; i < m->v_count; i++) d->v[i] += w[i];
  return CN_OK;
}

static CnStatus apply(CniDrive *d) {
  const CnEquations *eq = d->motion.eq;
  int32_t n, closed = 0, *order = d->chosen;
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (d->modes[i].closed) order[closed++] = i;
  CNI_TRY(active_rows(d, order, closed, &n));
  if (d->redundant) {
    sort_by_load(d, order, closed);
    CNI_TRY(active_rows(d, order, closed, &n));
  }
  CniSlips slips = {d->slip, cni_modes_list_slips(d, n)};
  CNI_TRY(cni_motion_set_rows(&d->motion, d->rows, &slips, n));
  CNI_TRY(meet_velocity(d));
  CNI_TRY(cni_step_fit(&d->step, d->stepper, &d->motion, d->q, d->v));
  d->step.t = d->t;
  d->fresh = 1;
  if (cni_drive_count(d) == 0) return CN_OK;
  CNI_TRY(cni_motion_jacobian(&d->motion, d->t, d->q, d->step.jacobian0, d->step.rate0));
  d->step.start_known = 1;
  cni_modes_aim(d);
  return cni_motion_accelerate(&d->motion, d->t, d->q, d->v, d->step.jacobian0, d->step.rate0, d->a,
                               d->multipliers);
}

CnStatus cni_modes_renew_rows(CniDrive *d, int *changed) {
  const CnEquations *eq = d->motion.eq;
  int32_t *rows = d->rows, count = 0;
  *changed = 0;
  if (d->fixed_count == eq->bilateral_count) return CN_OK;
  for (int32_t i = 0; i < eq->bilateral_count; i++) rows[i] = i;
  CNI_TRY(cni_motion_strongest(&d->probe, d->t, d->q, rows, eq->bilateral_count, rows, &count));
  *changed = count != d->fixed_count || memcmp(rows, d->fixed, (size_t)count * sizeof *rows) != 0;
  if (!*changed) return CN_OK;
  memcpy(d->fixed, rows, (size_t)count * sizeof *rows);
  d->fixed_count = count;
  return apply(d);
}

// ---- flights that end at once ----

#define TOGETHER 32 // times the time of the definition: what comes to rest with others

// For open contacts at zero gap that move away and are pulled back: how long to the top, and how
// long until infinitely many impacts have ended. chosen: those that come to rest within the time
// of the definition, and with them those that nearly do: contacts of one body that hit by turns give
// each other what they lose.
static CnStatus find_flights(CniDrive *d, int32_t *count, double *rest) {
  const CnEquations *eq = d->motion.eq;
  CniMotion *p = &d->probe;
  int32_t flying = 0, ends = 0;
  *count = 0;
  *rest = 0;
  d->h_limit = 0;
  for (int32_t i = 0; i < eq->contact_count; i++) {
    double gap = p->gaps[eq->bilateral_count + i];
    if (!d->modes[i].closed && d->modes[i].armed && fabs(gap) <= CNI_GAP_CLOSED)
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
    ends |= end < d->def.accumulation;
    if (!(end < TOGETHER * d->def.accumulation)) continue;
    *rest = cn_max(*rest, end);
    d->chosen[(*count)++] = contact;
  }
  if (!ends) *count = 0;
  return CN_OK;
}

// Over the rest of infinitely many impacts; back to events at rest.
static CnStatus bring_to_rest(CniDrive *d, int32_t count, double rest) {
  for (int32_t i = 0; i < count; i++)
    cni_drive_tell(d, CN_EVENT_REST, d->chosen[i], d->t + rest, 0, 0);
  return cni_lead(d, rest);
}

// ---- settling ----

// A contact that was closed all along drifts at most; one on the next piece of a surface takes over
// that drift.
static int approaching(const CniDrive *d, int32_t count, int edge) {
  const double *u = d->speeds + d->fixed_count;
  double zero = cni_speed_zero(d) + (edge ? 4 * d->report.velocity_drift : 0);
  for (int32_t i = 0; i < count; i++) {
    if (u[0] < -zero && !d->modes[d->chosen[i]].closed) return 1;
    u += cni_contact_rows(d->motion.eq, d->chosen[i]);
  }
  return 0;
}

// What changed by the event, for the log.
static void tell_changes(CniDrive *d, const CniFound *found, int impact) {
  const CnEquations *eq = d->motion.eq;
  if (found->contact < 0) return;
  int32_t contact = found->contact;
  const CniContactMode *mode = &d->modes[contact];
  double force = d->all_multipliers[cni_normal_row(eq, contact)];
  if (found->kind == CN_EVENT_IMPACT && impact) return; // told with its impulse
  int slips = mode->parts[found->part].slips;
  if (found->kind == CN_EVENT_IMPACT && mode->closed)
    cni_drive_tell(d, CN_EVENT_TOUCH, contact, d->t, 0, force);
  else if (found->kind == CN_EVENT_SLIP && mode->closed && slips)
    cni_drive_tell(d, CN_EVENT_SLIP, contact, d->t, 0, force);
  else if (found->kind == CN_EVENT_STICK)
    cni_drive_tell(d, mode->closed && !slips ? CN_EVENT_STICK : CN_EVENT_SLIP, contact, d->t, 0,
                   force);
  else if (found->kind == CN_EVENT_RELEASE && !mode->closed)
    cni_drive_tell(d, CN_EVENT_RELEASE, contact, d->t, 0, 0);
  else if (found->kind == CN_EVENT_DOMAIN)
    cni_drive_tell(d, CN_EVENT_DOMAIN, contact, d->t, 0, 0);
}

// There are no forces for what is closed and slips: a jam stops it. Where there is no jam either, a short step
// leads on.
static CnStatus unlock(CniDrive *d, const CniFound *found, int edge) {
  int32_t count;
  if (d->jam == 0) {
    CNI_TRY(find_closed(d, found, edge, &count));
    CNI_TRY(cni_modes_probe(d, count, 1));
    CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
    if (cni_impact_jam(d, count) == CN_OK) return CN_OK;
  }
  return d->t < d->t_end ? cni_lead_on(d) : CN_OK;
}

static CnStatus settle(CniDrive *d, const CniFound *found, int *impact) {
  int edge = found->contact >= 0 && found->kind == CN_EVENT_DOMAIN;
  int32_t count, resting;
  double rest;
  for (;;) {
    CNI_TRY(find_closed(d, found, edge, &count));
    if (d->same_time > (d->leaps > 0 ? CNI_SAME_AGAIN : CNI_SAME_TIME)) {
      if (!(d->t < d->t_end)) return CN_OK; // the next call decides
      CNI_TRY(cni_lead_on(d));
      continue;
    }
    CNI_TRY(cni_modes_probe(d, count, 1));
    CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
    if (approaching(d, count, edge)) {
      d->same_time++;
      *impact = 1;
      CNI_TRY(cni_impact(d, count));
      continue;
    }
    CnStatus status = choose(d, count, found, edge, *impact);
    if (status == CN_STOPPED && d->def.accumulation > 0) {
      d->same_time++;
      *impact = 1;
      CNI_TRY(unlock(d, found, edge));
      continue;
    }
    CNI_TRY(status);
    status = apply(d);
    if (status == CN_STOPPED && d->def.accumulation > 0) { // rows that slip depend on each other
      if (!(d->t < d->t_end)) return CN_OK;                // the next call decides
      d->same_time++;
      CNI_TRY(cni_lead_on(d));
      continue;
    }
    CNI_TRY(status);
    CNI_TRY(find_flights(d, &resting, &rest));
    if (resting == 0 || !(d->t < d->t_end)) return CN_OK;
    d->same_time++;
    CNI_TRY(bring_to_rest(d, resting, rest));
  }
}

CnStatus cni_modes_settle(CniDrive *d, const CniFound *found) {
  int impact = 0;
  if (cni_drive_count(d) == 0) return apply(d);
  d->jam = 0;
  CNI_TRY(settle(d, found, &impact));
  d->jam = 0;
  tell_changes(d, found, impact);
  return CN_OK;
}
