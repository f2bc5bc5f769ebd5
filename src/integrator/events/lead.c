// SPDX-License-Identifier: Apache-2.0
// Over what has no end in events: one step of moreau-jean with friction (drive.h).
//
//     M (v+ - v) = h f + G^T p,   0 <= u_n+ + max(gap, 0)/h _|_ p_n >= 0,   friction in its cone
//     q+ = q (+) h T v+
//
// It always has an answer where accelerations have none, takes any number of changes at once, has an error
// of h^2 and gives no energy away that there is not. What bounces is not in it: it may overlap by its way within
// h, and is hit after it.
#include "integrator/events/drive.h"

#include "core/error.h"
#include "core/vec.h"

#include <string.h>

// Contacts that a step to d->v_new has to know: chosen[0 .. *count), all of their rows on the probe.
static CnStatus find_met(CniDrive *d, double h, int32_t *count) {
  const CnEquations *eq = d->motion.eq;
  const double *gaps = d->probe.gaps + eq->bilateral_count;
  int32_t n = 0;
  CNI_TRY(cni_motion_gaps(&d->probe, d->t, d->q));
  if (eq->domains) eq->domains(d->motion.system->context, d->t, d->q, d->domains);
  for (int32_t i = 0; i < eq->contact_count; i++)
    if (!eq->domains || d->domains[i] >= (d->modes[i].closed ? -CNI_DOMAIN_LEFT : 0))
      d->chosen[n++] = i;
  CNI_TRY(cni_modes_probe(d, n, 0));
  CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v_new));
  *count = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t contact = d->chosen[i];
    int shut = d->modes[contact].closed || gaps[contact] <= CNI_GAP_CLOSED;
    int hits = gaps[contact] + h * d->speeds[d->fixed_count + i] < 0;
    if (shut || (hits && !(cni_drive_law(d, contact).restitution > 0)))
      d->chosen[(*count)++] = contact;
  }
  return cni_modes_probe(d, *count, 1);
}

// v_new with the impulses of the step; the problem's answer is there.
static CnStatus find_velocity(CniDrive *d, double h, int32_t *count) {
  CniMotion *p = &d->probe;
  CniClash *clash = &d->clash;
  CnSolveReport report;
  CNI_TRY(cni_modes_probe(d, 0, 0));
  CNI_TRY(cni_motion_mass(p, d->t, d->q));
  CNI_TRY(p->eq->force(p->system->context, d->t, d->q, d->v, d->v_new));
  cni_motion_mass_solve(p, d->v_new);
  for (int32_t i = 0; i < p->v_count; i++) d->v_new[i] = d->v[i] + h * d->v_new[i];
  CNI_TRY(find_met(d, h, count));
  CNI_TRY(cni_motion_mass(p, d->t, d->q));
  CNI_TRY(cni_modes_speeds(d, d->t, d->q, d->v_new));
  CNI_TRY(cni_clash_begin(clash, p, p->scratch_g, p->scratch_g));
  memcpy(clash->q, d->speeds, (size_t)p->active * sizeof *clash->q);
  int32_t row = d->fixed_count;
  for (int32_t i = 0; i < *count; i++) {
    clash->q[row] += cn_max(p->gaps[p->eq->bilateral_count + d->chosen[i]], 0) / h;
    row += cni_contact_rows(p->eq, d->chosen[i]);
  }
  CNI_TRY(cni_modes_solve(d, d->t, d->q, *count, h, &report));
  cni_motion_push(p, clash->answer.g, d->v_new);
  return CN_OK;
}

// The observer hears of it as of any other step: the mean forces.
static void tell(CniDrive *d, double h) {
  const CnObserver *observer = &d->def.observer;
  const CniMotion *p = &d->probe;
  if (!observer->point) return;
  memset(d->all_multipliers, 0, (size_t)p->row_count * sizeof(double));
  for (int32_t i = 0; i < p->active; i++) d->all_multipliers[p->list[i]] = d->clash.answer.g[i] / h;
  CnPoint point = {
      .time = d->t, .step = h, .q = d->q, .v = d->v, .a = d->a, .multipliers = d->all_multipliers};
  observer->point(observer->context, d->handle, &point);
}

CnStatus cni_lead(CniDrive *d, double time) {
  CniMotion *m = &d->motion;
  const CnEquations *eq = m->eq;
  double h = cn_min(time, cn_min(d->t_end, d->jolt) - d->t), *q_dot = m->scratch_q;
  int32_t count, row = d->fixed_count;
  CNI_TRY(find_velocity(d, h, &count));
  for (int32_t i = 0; i < eq->contact_count; i++) d->modes[i].closed = 0;
  for (int32_t i = 0; i < count; i++) {
    d->modes[d->chosen[i]].closed = d->clash.answer.g[row] > 0;
    row += cni_contact_rows(eq, d->chosen[i]);
  }
  cni_motion_kinematics(m, d->t, d->q, d->v_new, q_dot);
  for (int32_t i = 0; i < m->q_count; i++) d->q[i] += h * q_dot[i];
  cni_motion_normalise(m, d->q);
  for (int32_t i = 0; i < m->v_count; i++) d->a[i] = (d->v_new[i] - d->v[i]) / h;
  memcpy(d->v, d->v_new, (size_t)m->v_count * sizeof *d->v);
  d->t = h < time && d->t_end <= d->jolt ? d->t_end : d->t + h;
  d->report.time = d->t;
  d->report.steps++;
  tell(d, h);
  return CN_OK;
}

CnStatus cni_lead_on(CniDrive *d) {
  if (d->def.accumulation == 0)
    return cni_error(CN_STOPPED, "%s: t = %.17g s: changes of contact without end",
                     d->stepper->name, d->t * cni_time_unit(d->motion.eq));
  d->same_time = 0;
  int32_t longer = d->leaps < 10 ? d->leaps : 10;
  d->leaps++;
  return cni_lead(d, d->def.accumulation * (double)(1 << longer));
}
