// SPDX-License-Identifier: Apache-2.0
// Jams: where no forces keep closed contacts as they are, impulses within their cones stop what is
// closed (drive.h).
#include "integrator/events/drive.h"

#include <string.h>

#define JAM 1e-6  // of the largest velocity and one: far above what solvers leave
#define SOFT 1e-9 // of what an impulse does to its own row: rows may depend on each other

// Do the impulses lie within their cones and bounds?
static int within(CniDrive *d, int32_t count) {
  const CnEquations *eq = d->probe.eq;
  const double *g = d->clash.answer.g;
  int32_t row = d->fixed_count, good = 1;
  memset(d->all_multipliers, 0, (size_t)d->probe.row_count * sizeof(double));
  for (int32_t i = 0; i < d->probe.active; i++) d->all_multipliers[d->probe.list[i]] = g[i];
  if (eq->bound_count > 0) {
    cni_least_share(&d->least, d->all_multipliers); // of the same place
    eq->bounds(d->probe.system->context, d->t, d->q, d->all_multipliers, 1, d->bounds);
  }
  for (int32_t i = 0; i < count; i++) {
    for (int32_t part = 0; part < CNI_PARTS; part++) {
      CniPartRows rows = cni_part_rows(d, d->chosen[i], part);
      double along = 0, *own = &d->all_multipliers[rows.row];
      for (int32_t k = 0; k < rows.count; k++) along += own[k] * own[k];
      good &= sqrt(along) <= rows.friction * g[row];
    }
    good &= g[row] >= 0;
    row += cni_contact_rows(eq, d->chosen[i]);
  }
  for (int32_t i = 0; i < eq->bound_count; i++) good &= fabs(g[row + i]) <= d->bounds[i];
  return good;
}

// Everything that is closed stops, if impulses within the cones can do that.
static CnStatus stop_all(CniDrive *d, int32_t count, int *stopped) {
  CniMotion *p = &d->probe;
  CniClash *clash = &d->clash;
  CnSolveReport report;
  CNI_TRY(cni_impact_begin(d, count));
  for (int32_t i = 0; i < p->active; i++) {
    cni_clash_block(clash, CN_BLOCK_BILATERAL, 1, 0);
    for (int32_t e = clash->start[i]; e < clash->start[i + 1]; e++)
      if (clash->column[e] == i) clash->w[e] *= 1 + SOFT;
  }
  CNI_TRY(cni_clash_solve(clash, d->solver, &report));
  *stopped = report.certificate.error_siconos <= 1e-8 && within(d, count);
  if (*stopped) cni_impact_take(d, count);
  return CN_OK;
}

CnStatus cni_impact_jam(CniDrive *d, int32_t count) {
  const double *before = cni_impact_speeds(d, count);
  int stopped;
  d->jam = JAM * (1 + cni_largest(d->v, d->motion.v_count));
  CNI_TRY(stop_all(d, count, &stopped));
  if (!stopped) CNI_TRY(cni_impact_strike(d, count, d->jam));
  cni_impact_tell(d, count, before);
  return CN_OK;
}
