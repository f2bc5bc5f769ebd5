// SPDX-License-Identifier: Apache-2.0
// Instants at which rates jump: steps end before them and begin after them (drive.h).
#include "integrator/events/drive.h"

// The end of the steps before rates jump. They must not see what comes after, nor those after it what
// was before: some units of round-off of the time are left out.
#define JOLT_WIDTH 8.0

static double jolt_width(const CniDrive *d) {
  return JOLT_WIDTH * CNI_ROUND_OFF * cn_max(fabs(d->t), fabs(d->t_end));
}

double cni_jolt_stop(const CniDrive *d) { return cn_min(d->t_end, d->jolt - jolt_width(d)); }

int cni_jolt_is(const CniDrive *d) {
  double stop = cni_jolt_stop(d);
  return stop < d->t_end && stop - d->t <= 2 * jolt_width(d);
}

void cni_jolt_find(CniDrive *d) {
  const CnEquations *eq = d->motion.eq;
  d->jolt = eq->next_jolt ? eq->next_jolt(d->motion.system->context, d->t) : INFINITY;
}

CnStatus cni_jolt_pass(CniDrive *d) {
  CniFound none = {0, CN_EVENT_IMPACT, -1, 0};
  d->t = cn_min(d->t_end, d->jolt + jolt_width(d));
  cni_jolt_find(d);
  CNI_TRY(cni_modes_jolt(d));
  return cni_modes_settle(d, &none);
}
