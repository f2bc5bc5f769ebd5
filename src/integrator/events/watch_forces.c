// SPDX-License-Identifier: Apache-2.0
// Friction that gives way and slip that comes to its end, of a state within a step (watch.c).
#include "integrator/events/drive.h"

#include <string.h>

// Has a slip come to its end: turned back, or, in space, where it may turn as fast as it likes while it ends,
// become less than slip is?
static int slip_ends(const CniDrive *d, const CniContactPart *part, const double *v) {
  const CniMotion *m = &d->motion;
  const CniSlip *slip = &m->slip[part->slip];
  double u[2], zero = cni_slip_zero(d);
  double speed = cni_motion_slip(m, part->slip, m->scratch_g, m->scratch_rate, v, u);
  if (slip->count > 1 && slip->speed > zero && speed < zero) return 1;
  return part->direction[0] * u[0] + part->direction[1] * u[1] < 0;
}

static int32_t place_of_row(const CniMotion *m, int32_t row) {
  for (int32_t i = 0; i < m->active; i++)
    if (m->list[i] == row) return i;
  return -1;
}

CnStatus cni_watch_doubtful(CniDrive *d, double t, const double *q, const double *v,
                            const CniFound *doubtful, CniFound *found) {
  int hold = 0;
  if (doubtful->contact < 0 || found->contact >= 0) return CN_OK;
  if (d->redundant) CNI_TRY(cni_modes_hold(d, t, q, v, &hold));
  if (!hold) cni_found_take(found, doubtful->kind, doubtful->contact, doubtful->part);
  return CN_OK;
}

void cni_watch_parts(CniDrive *d, int32_t contact, double load, double zero, const double *v,
                     CniFound *found, CniFound *doubtful) {
  const CniMotion *m = &d->motion;
  for (int32_t i = 0; i < CNI_PARTS; i++) {
    const CniContactPart *part = &d->modes[contact].parts[i];
    CniPartRows rows = cni_part_rows(d, contact, i);
    int32_t gap = i > 0 ? -1 : cni_servo_gap(m->eq, contact - m->eq->contact_count);
    int ends =
        rows.count > 0 && part->slip >= 0 &&
        (gap < 0 ? slip_ends(d, part, v) : part->direction[0] * m->gaps[gap] < -CNI_SERVO_CROSSES);
    if (ends) cni_found_take(found, CN_EVENT_STICK, contact, i);
    if (rows.count == 0 || part->slips) continue;
    double along = 0;
    for (int32_t k = 0; k < rows.count; k++) {
      int32_t place = place_of_row(m, rows.row + k);
      if (place >= 0) along += d->multipliers[place] * d->multipliers[place];
    }
    if (sqrt(along) > rows.friction * load + 2 * zero)
      cni_found_take(doubtful, CN_EVENT_SLIP, contact, i);
  }
}

CnStatus cni_watch_bounds(CniDrive *d, double t, const double *q) {
  const CniMotion *m = &d->motion;
  if (m->eq->bound_count == 0) return CN_OK;
  CNI_TRY(cni_least_at(&d->least, m, t, q));
  memset(m->all, 0, (size_t)m->row_count * sizeof *m->all);
  for (int32_t i = 0; i < m->active; i++) m->all[m->list[i]] = d->multipliers[i];
  cni_least_share(&d->least, m->all);
  m->eq->bounds(m->system->context, t, q, m->all, 0, d->bounds);
  return CN_OK;
}
