// SPDX-License-Identifier: Apache-2.0
// What slips, and rows with bounds that go with the forces: forces against a motion there is
// (motion.h).
#include "integrator/least.h"

#include <string.h>

#define SLIP_LEFT 0.1 // of the speed at the start: below, the direction is more and more that of it
#define FOLLOWS 100   // repetitions for bounds that go with the forces they change
#define FOLLOWED 1e-13 // relative change of a bound that is none
#define PLAIN 12       // rounds of repetition that are nothing else

double cni_motion_slip(const CniMotion *m, int32_t i, const double *jacobian, const double *rate,
                       const double *v, double u[2]) {
  int32_t place = m->slip[i].place;
  u[0] = cni_motion_row(m, jacobian, place, rate[place], v);
  u[1] = m->slip[i].count > 1 ? cni_motion_row(m, jacobian, place + 1, rate[place + 1], v) : 0;
  return sqrt(u[0] * u[0] + u[1] * u[1]);
}

// Directions of slip at a velocity; `jacobian` and `rate` are those of the list at its place.
static void aim(CniMotion *m, const double *jacobian, const double *rate, const double *v) {
  for (int32_t i = 0; i < m->slip_count; i++) {
    CniSlip *slip = &m->slip[i];
    double u[2];
    if (slip->count < 2) continue;
    double speed = cni_motion_slip(m, i, jacobian, rate, v, u);
    double on = u[0] * slip->start[0] + u[1] * slip->start[1], length = on < 0 ? -speed : speed;
    double left = speed / cn_max(SLIP_LEFT * slip->speed, slip->slow), share = speed > 0;
    if (left < 1) share = left * left * (3 - 2 * left);
    for (int32_t k = 0; k < 2; k++)
      slip->now[k] = (share > 0 ? share * u[k] / length : 0) + (1 - share) * slip->start[k];
    double size = sqrt(slip->now[0] * slip->now[0] + slip->now[1] * slip->now[1]);
    for (int32_t k = 0; k < 2; k++) slip->now[k] = size > 0 ? slip->now[k] / size : slip->start[k];
  }
}

// f at a place, with what bounds that move give, times the weight.
static CnStatus load(CniMotion *m, const CniPlaceOfForce *at, double weight, double *w) {
  int32_t size = m->size;
  CNI_TRY(m->eq->force(m->system->context, at->t, at->q, at->v, w));
  for (int32_t i = 0; i < m->slip_count; i++) {
    const CniSlip *slip = &m->slip[i];
    for (int32_t r = 0; r < slip->count && slip->normal < 0; r++) {
      int32_t place = slip->place + r;
      for (int32_t e = m->touch_start[place]; e < m->touch_start[place + 1]; e++)
        for (int32_t k = 0; k < size; k++)
          w[(int64_t)m->touch[e] * size + k] -=
              slip->friction * slip->now[r] * at->jacobian[(int64_t)e * size + k];
    }
  }
  for (int32_t i = 0; i < m->v_count; i++) w[i] *= weight;
  return CN_OK;
}

void cni_repeat(CniRepeat *r) {
  double *x_last = r->last, *d_last = r->last + r->count, over = 0, under = 0;
  for (int32_t i = 0; i < r->count; i++) {
    double d = r->fx[i] - r->x[i], change = d - d_last[i];
    over += d * change;
    under += change * change;
  }
  double back = r->round++ > PLAIN && under > 0 ? over / under : 0;
  for (int32_t i = 0; i < r->count; i++) {
    double d = r->fx[i] - r->x[i], next = r->fx[i] - back * (r->fx[i] - (x_last[i] + d_last[i]));
    x_last[i] = r->x[i];
    d_last[i] = d;
    if (back != 0) r->fx[i] = cn_max(next, 0);
  }
}

// The largest part that makes up a force of the rows: what the forces do to them, and what they are to do. Where a
// reaction passes through zero these cancel, and what is left of it is their round-off. With rows of another place it is
// velocities that have to be met.
static CnStatus find_parts(CniMotion *m, const CniPlaceOfForce *at, double weight,
                           const double *rows_of, double *parts) {
  double *w = m->scratch_v, most = 0;
  CNI_TRY(load(m, at, weight, w));
  cni_motion_mass_solve(m, w);
  for (int32_t i = 0; i < m->v_count; i++)
    w[i] = fabs(w[i]) + (rows_of == at->jacobian ? 0 : fabs(at->v[i]));
  for (int32_t i = 0; i < m->active; i++) {
    double sum = fabs(m->wanted[i]);
    for (int32_t e = m->touch_start[i]; e < m->touch_start[i + 1]; e++)
      for (int32_t k = 0; k < m->size; k++)
        sum += fabs(rows_of[(int64_t)e * m->size + k]) * w[(int64_t)m->touch[e] * m->size + k];
    most = cn_max(most, m->row_scale[i] * sum);
  }
  *parts = most / fabs(weight);
  return CN_OK;
}

// Bounds for the multipliers found; returns the largest relative change. `parts`: of forces.
static double follow_bounds(CniMotion *m, const CniPlaceOfForce *at, double weight, double parts,
                            const double *multipliers, CniRepeat *repeat) {
  int32_t first = cni_normal_row(m->eq, m->eq->contact_count);
  double most = 0;
  memset(m->all, 0, (size_t)m->row_count * sizeof *m->all);
  for (int32_t i = 0; i < m->active; i++) m->all[m->list[i]] = multipliers[i] / weight;
  if (m->least) cni_least_share(m->least, m->all);
  m->eq->bounds(m->system->context, at->t, at->q, m->all, 0, m->bounds);
  double least = CNI_ROUNDED * cn_max(parts, cni_largest(m->all, m->row_count));
  for (int32_t i = 0; i < m->slip_count; i++) {
    CniSlip *slip = &m->slip[i];
    if (slip->row < first) continue;
    double bound = m->bounds[slip->row - first], change = fabs(bound - slip->friction);
    if (change > least) most = cn_max(most, change / cn_max(bound, slip->friction));
    repeat->x[slip->row - first] = slip->friction;
  }
  if (most <= FOLLOWED) return most;
  cni_repeat(repeat);
  for (int32_t i = 0; i < m->slip_count; i++)
    if (m->slip[i].row >= first) m->slip[i].friction = m->bounds[m->slip[i].row - first];
  return most;
}

CnStatus cni_motion_drive(CniMotion *m, const CniPlaceOfForce *at, double weight, int follow,
                          const double *rows_of, double *w, double *multipliers) {
  int moves = 0;
  double parts = 0;
  int32_t first = cni_normal_row(m->eq, m->eq->contact_count), count = m->eq->bound_count;
  CniRepeat repeat = {count, 0, m->bounds + count, m->bounds, m->bounds + 2 * count};
  for (int32_t i = 0; i < m->slip_count; i++) moves |= m->slip[i].row >= first;
  aim(m, at->jacobian, at->rate, at->v);
  if (m->least && moves && follow) CNI_TRY(cni_least_at(m->least, m, at->t, at->q));
  memcpy(m->wanted, multipliers, (size_t)m->active * sizeof *multipliers);
  for (int32_t i = 0; i < FOLLOWS; i++) {
    CNI_TRY(load(m, at, weight, w));
    memcpy(multipliers, m->wanted, (size_t)m->active * sizeof *multipliers);
    CNI_TRY(cni_motion_solve(m, at->t, at->jacobian, rows_of, w, multipliers));
    if (!moves || !follow) return CN_OK;
    if (i == 0) CNI_TRY(find_parts(m, at, weight, rows_of, &parts));
    if (follow_bounds(m, at, weight, parts, multipliers, &repeat) <= FOLLOWED) return CN_OK;
  }
  return cni_error(CN_STOPPED, "t = %.17g s: friction that goes with its own reaction locks",
                   at->t * cni_time_unit(m->eq));
}
