// SPDX-License-Identifier: Apache-2.0
// Impacts: the velocities jump, the positions do not.
//
//     M (v+ - v-) = G^T p,   0 <= U+ + e U- _|_ p >= 0      (contacts)
//     G v+ + r = 0                                          (bilateral)
//
// with U- counted only where it approaches. Simultaneous: one problem over all closed contacts, by
// a solver of the table; with friction the impulse lies in its cone and the tangential velocity
// after the impact opposes it. Sequential: the contact that approaches fastest alone (ties: the
// lowest), then the next, until none approaches.
#include "integrator/events/drive.h"

#include "core/vec.h"

#include <string.h>

#define ANY_JAM 1e-300 // m/s: bounds are looked for from above, and there is no approach

// The answer changes v and is told; impulses of the normals into d->impulses.
void cni_impact_take(CniDrive *d, int32_t count) {
  CniMotion *p = &d->probe;
  const double *g = d->clash.answer.g;
  int32_t row = d->fixed_count;
  cni_motion_push(p, g, d->v);
  if (d->listener.struck) d->listener.struck(d->def.observer.context, p->list, g, p->active);
  for (int32_t i = 0; i < count; i++) {
    d->impulses[i] = g[row];
    row += cni_contact_rows(p->eq, d->chosen[i]);
  }
}

CnStatus cni_impact_begin(CniDrive *d, int32_t count) {
  CniMotion *p = &d->probe;
  CNI_TRY(cni_modes_probe(d, count, 1));
  CNI_TRY(cni_motion_mass(p, d->t, d->q));
  CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
  CNI_TRY(cni_clash_begin(&d->clash, p, p->scratch_g, p->scratch_g));
  memcpy(d->clash.q, d->speeds, (size_t)p->active * sizeof *d->speeds);
  return CN_OK;
}

// One problem over chosen[0 .. count), with `approach` besides that there is; v is changed, impulses of the
// normals in d->impulses.
CnStatus cni_impact_strike(CniDrive *d, int32_t count, double approach) {
  CniMotion *p = &d->probe;
  CniClash *clash = &d->clash;
  CnSolveReport report;
  CNI_TRY(cni_impact_begin(d, count));
  int32_t row = d->fixed_count;
  for (int32_t i = 0; i < count; i++) {
    clash->q[row] +=
        cni_drive_law(d, d->chosen[i]).restitution * cn_min(clash->q[row], 0) - approach;
    row += cni_contact_rows(p->eq, d->chosen[i]);
  }
  CnStatus status = cni_modes_solve(d, d->t, d->q, count, 0, &report);
  if (status == CN_STOPPED && p->eq->bound_count > 0 &&
      d->jam == 0) { // friction of joints may lock
    d->jam = ANY_JAM;
    status = cni_modes_solve(d, d->t, d->q, count, 0, &report);
    d->jam = 0;
  }
  CNI_TRY(status);
  cni_impact_take(d, count);
  return CN_OK;
}

// Tell of the contacts that had an impulse; d->v_new holds their speeds before.
void cni_impact_tell(CniDrive *d, int32_t count, const double *before) {
  double zero = 0;
  for (int32_t i = 0; i < count; i++) zero = cn_max(zero, 1e-12 * fabs(d->impulses[i]));
  for (int32_t i = 0; i < count; i++)
    if (d->impulses[i] > zero)
      cni_drive_tell(d, CN_EVENT_IMPACT, d->chosen[i], d->t, before[i], d->impulses[i]);
}

// Normal speeds of chosen, in their order, into the multipliers' memory.
double *cni_impact_speeds(CniDrive *d, int32_t count) {
  double *before = d->multipliers;
  int32_t row = d->fixed_count;
  for (int32_t i = 0; i < count; i++) {
    before[i] = d->speeds[row];
    row += cni_contact_rows(d->motion.eq, d->chosen[i]);
  }
  return before;
}

CnStatus cni_impact_at_once(CniDrive *d, int32_t count) {
  const double *before = cni_impact_speeds(d, count);
  CNI_TRY(cni_impact_strike(d, count, 0));
  cni_impact_tell(d, count, before);
  return CN_OK;
}

#define MOST_STRIKES 100000

static CnStatus sequential(CniDrive *d, int32_t count) {
  int32_t *all = d->chosen + d->motion.eq->contact_count + 1;
  memcpy(all, d->chosen, (size_t)count * sizeof *all);
  for (int32_t strikes = 0;; strikes++) {
    memcpy(d->chosen, all, (size_t)count * sizeof *all);
    CNI_TRY(cni_modes_probe(d, count, 1));
    CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v));
    const double *u = cni_impact_speeds(d, count);
    double scale = 1;
    for (int32_t i = 0; i < d->motion.v_count; i++) scale = cn_max(scale, fabs(d->v[i]));
    int32_t worst = -1;
    for (int32_t i = 0; i < count; i++)
      if (u[i] < -CNI_SPEED_ZERO * scale && (worst < 0 || u[i] < u[worst])) worst = i;
    if (worst < 0) return CN_OK;
    if (strikes == MOST_STRIKES)
      return cni_error(CN_STOPPED, "%s: t = %.17g s: %d impacts one after the other, and no end",
                       d->stepper->name, d->t * cni_time_unit(d->motion.eq), MOST_STRIKES);
    double before = u[worst];
    d->chosen[0] = all[worst];
    CNI_TRY(cni_impact_strike(d, 1, 0));
    cni_impact_tell(d, 1, &before);
  }
}

CnStatus cni_impact(CniDrive *d, int32_t count) {
  return d->def.impact == CN_IMPACT_SEQUENTIAL ? sequential(d, count)
                                               : cni_impact_at_once(d, count);
}
