// SPDX-License-Identifier: Apache-2.0
// Surfaces in pieces, and moreau-jean as a helper of the event driver.
//
// Every piece carries a domain; it counts only if its domain holds the place that the motion goes
// to. Which of the remaining pieces carry is found by a short step of moreau-jean with the rows at
// that place (so that the curvature is felt), which is then taken back (2013, second method).
#include "integrator/events/drive.h"

#include "core/vec.h"

#include <string.h>

#define BORDER 1e-8 // nearer to it the direction of motion decides
#define STAYS 1e-13 // change of a domain that is none

int cni_piece_ahead(CniDrive *d, int32_t contact, double domain) {
  const CnEquations *eq = d->motion.eq;
  CniMotion *p = &d->probe;
  if (domain > BORDER || domain < -BORDER) return domain > 0;
  if (d->modes[contact].closed && domain >= 0) return 1; // it is seen to leave
  double *q_dot = p->scratch_q, *ahead = p->scratch_q + p->q_count;
  cni_motion_kinematics(p, d->t, d->q, d->v, q_dot);
  double e = 1e-5 * (1 + cni_largest(d->q, p->q_count)) / (1 + cni_largest(q_dot, p->q_count));
  for (int32_t i = 0; i < p->q_count; i++) ahead[i] = d->q[i] + e * q_dot[i];
  double *there = d->impulses; // a contact has a row at least
  eq->domains(p->system->context, d->t + e, ahead, there);
  return there[contact] >= domain - STAYS;
}

CnStatus cni_nscd_step(CniDrive *d, int32_t count, double h, int ahead, double *v_new,
                       double *impulses) {
  CniMotion *p = &d->probe;
  CniClash *clash = &d->clash;
  int32_t n = p->v_count;
  CnSolveReport report;
  CNI_TRY(cni_modes_probe(d, count, 0));
  double *q_dot = p->scratch_q, *place = p->scratch_q + p->q_count;
  cni_motion_kinematics(p, d->t, d->q, d->v, q_dot);
  for (int32_t i = 0; i < p->q_count; i++) place[i] = d->q[i] + (ahead ? h * q_dot[i] : 0);
  CNI_TRY(cni_motion_mass(p, d->t, d->q));
  CNI_TRY(p->eq->force(p->system->context, d->t, d->q, d->v, v_new));
  cni_motion_mass_solve(p, v_new);
  for (int32_t i = 0; i < n; i++) v_new[i] = d->v[i] + h * v_new[i];
  CNI_TRY(cni_modes_speeds(d, d->t + h, place, v_new));
  CNI_TRY(cni_clash_begin(clash, p, p->scratch_g, p->scratch_g));
  memcpy(clash->q, d->speeds, (size_t)p->active * sizeof *clash->q);
  for (int32_t i = 0; i < p->active; i++)
    cni_clash_block(clash, i < d->fixed_count ? CN_BLOCK_BILATERAL : CN_BLOCK_UNILATERAL, 1, 0);
  CNI_TRY(cni_clash_solve(clash, d->solver, &report));
  if (!(report.certificate.error_siconos <= 1e-8))
    return cni_error(CN_STOPPED,
                     "%s: t = %.17g s: a step of moreau-jean was not solved (%s left an error of "
                     "%g)",
                     d->stepper->name, d->t * cni_time_unit(p->eq), report.solver,
                     report.certificate.error_siconos);
  cni_motion_push(p, clash->answer.g, v_new);
  for (int32_t i = 0; i < count; i++) impulses[i] = clash->answer.g[d->fixed_count + i];
  return CN_OK;
}
