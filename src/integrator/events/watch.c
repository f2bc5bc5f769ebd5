// SPDX-License-Identifier: Apache-2.0
// What happens inside a step: gaps that close, forces that end, friction that gives way, pieces
// that are left (drive.h).
//
// Positions are looked at in eight places of the dense output, forces at the middle and the end
// (each costs a solution). Where something has happened at one place and not at the one before, the
// instant is found by halving to the tolerance: "has anything happened?" is asked as a whole, so
// that the earliest of several events is found, and several at once are one. A gap that is smallest
// between two places and may have been zero there is looked at there as well.
#include "integrator/events/drive.h"

#include "core/vec.h"

#include <string.h>

#define LOOKS 8
#define FORCE_ZERO 1e-10 // of the largest force and one: forces above minus this still push

static int watches_forces(const CniDrive *d) {
  for (int32_t i = 0; i < cni_drive_count(d); i++)
    if (d->modes[i].closed) return 1;
  return 0;
}

// Gaps and pieces at q.
static CnStatus look_at_place(CniDrive *d, double t, const double *q, CniFound *found) {
  const CnEquations *eq = d->motion.eq;
  CNI_TRY(cni_motion_gaps(&d->motion, t, q));
  if (eq->covered && !eq->covered(d->motion.system->context, t, q)) d->left = 1;
  if (eq->domains) eq->domains(d->motion.system->context, t, q, d->domains);
  const double *gaps = d->motion.gaps + eq->bilateral_count;
  for (int32_t i = 0; i < eq->contact_count; i++) {
    int inside = !eq->domains || d->domains[i] >= (d->modes[i].closed ? -CNI_DOMAIN_LEFT : 0);
    if (d->modes[i].closed) {
      if (!inside) cni_found_take(found, CN_EVENT_DOMAIN, i, 0);
    } else if (inside &&
               (d->modes[i].armed ? gaps[i] <= d->modes[i].floor : gaps[i] < -2 * CNI_GAP_CLOSED)) {
      cni_found_take(found, CN_EVENT_IMPACT, i, 0);
    }
  }
  return CN_OK;
}

// Forces and slip at a state.
static CnStatus look_at_forces(CniDrive *d, double t, const double *q, const double *v,
                               CniFound *found) {
  CniMotion *m = &d->motion;
  const CnEquations *eq = m->eq;
  CNI_TRY(cni_motion_accelerate(m, t, q, v, NULL, NULL, d->a, d->multipliers));
  CNI_TRY(cni_motion_jacobian(m, t, q, m->scratch_g, m->scratch_rate));
  CNI_TRY(cni_watch_bounds(d, t, q));
  double most = 1;
  for (int32_t i = 0; i < m->active; i++) most = cn_max(most, fabs(d->multipliers[i]));
  double zero = FORCE_ZERO * most;
  CniFound doubtful = {0, CN_EVENT_RELEASE, -1, 0};
  for (int32_t i = 0; i < cni_drive_count(d); i++) {
    const CniContactMode *mode = &d->modes[i];
    int bound = i >= eq->contact_count;
    if (!mode->closed || (mode->place < 0 && !bound)) continue;
    double load = bound ? 1 : d->multipliers[mode->place];
    if (load < -zero) cni_found_take(&doubtful, CN_EVENT_RELEASE, i, 0);
    cni_watch_parts(d, i, cn_max(load, 0), zero, v, found, &doubtful);
  }
  return cni_watch_doubtful(d, t, q, v, &doubtful, found);
}

// Has anything happened by theta?
static CnStatus look(CniDrive *d, double theta, int forces, CniFound *found) {
  CniStep *s = &d->step;
  double *q = d->q, *v = d->v; // the state of the start is the step's own
  double t = s->t + theta * s->h;
  found->contact = -1;
  if (theta == 1) {
    q = s->q1;
    v = s->v1;
  } else {
    CNI_TRY(d->stepper->dense(&d->motion, s, theta, q, forces ? v : NULL));
  }
  CNI_TRY(look_at_place(d, t, q, found));
  return forces ? look_at_forces(d, t, q, v, found) : CN_OK;
}

static CnStatus halve(CniDrive *d, double low, double high, int forces, CniFound *found) {
  CniStep *s = &d->step;
  double width = cn_max(0.5 * d->def.event_tolerance, 4e-16 * fabs(s->t)) / s->h;
  while (high - low > width) {
    double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    CniFound there;
    CNI_TRY(look(d, middle, forces, &there));
    if (there.contact < 0) {
      low = middle;
    } else {
      high = middle;
      *found = there;
    }
  }
  found->theta = high;
  return CN_OK;
}

// Contacts that have left their surface since the last look.
static void arm(CniDrive *d) {
  const double *gaps = d->motion.gaps + d->motion.eq->bilateral_count;
  for (int32_t i = 0; i < d->motion.eq->contact_count; i++)
    if (!d->modes[i].closed && gaps[i] > CNI_GAP_CLOSED) d->modes[i].armed = 1;
}

// Gaps of the last three looks: an open contact whose gap was smallest at the middle one may have
// closed and opened between them. Where the parabola through the three says so, its lowest place is
// looked at too: *theta, 0 if there is none.
static void remember_gaps(CniDrive *d, int32_t looks, double theta, double *lowest) {
  int32_t n = d->motion.eq->contact_count;
  const double *now = d->motion.gaps + d->motion.eq->bilateral_count;
  double *first = d->gaps_before, *middle = d->gaps_before + n, step = 1.0 / LOOKS;
  *lowest = 0;
  for (int32_t i = 0; i < n; i++) {
    double bend = first[i] - 2 * middle[i] + now[i], slope = now[i] - first[i];
    if (looks >= 2 && !d->modes[i].closed && d->modes[i].armed && bend > 0 &&
        middle[i] <= first[i] && middle[i] <= now[i] && middle[i] - slope * slope / (8 * bend) <= 0)
      *lowest = theta - step - 0.5 * step * slope / bend;
    first[i] = middle[i];
    middle[i] = now[i];
  }
}

#define OVERLAP 1e-14 // m: less is round-off

// A contact that was let go with an overlap leaves it slowly; it is hit again where that grows.
static void set_floors(CniDrive *d) {
  const double *gaps = d->motion.gaps + d->motion.eq->bilateral_count;
  for (int32_t i = 0; i < d->motion.eq->contact_count; i++)
    d->modes[i].floor = gaps[i] < -OVERLAP ? gaps[i] : 0;
}

static CnStatus scan(CniDrive *d, CniFound *found) {
  int forces = watches_forces(d);
  double before = 0, before_forces = 0, lowest;
  CNI_TRY(cni_motion_gaps(&d->motion, d->step.t, d->step.q0));
  set_floors(d);
  remember_gaps(d, 0, 0, &lowest);
  for (int32_t i = 1; i <= LOOKS; i++) {
    double theta = (double)i / LOOKS;
    int with_forces = forces && (i == LOOKS / 2 || i == LOOKS);
    CNI_TRY(look(d, theta, with_forces, found));
    if (found->contact >= 0) {
      // without forces at the places between, they may have ended before
      return halve(d, forces ? before_forces : before, theta, forces, found);
    }
    arm(d);
    remember_gaps(d, i, theta, &lowest);
    if (lowest > 0) {
      CNI_TRY(look(d, lowest, 0, found));
      double last = theta - 2.0 / LOOKS;
      if (found->contact >= 0)
        return halve(d, forces ? cn_min(before_forces, last) : last, lowest, forces, found);
    }
    before = theta;
    if (with_forces) before_forces = theta;
  }
  return CN_OK;
}

CnStatus cni_watch_step(CniDrive *d, CniFound *found) {
  size_t q_bytes = (size_t)d->motion.q_count * sizeof(double);
  size_t v_bytes = (size_t)d->motion.v_count * sizeof(double);
  CnStatus status = scan(d, found);
  // the state of the instant before the step, which the looks have used as memory
  memcpy(d->q, d->step.q0, q_bytes);
  memcpy(d->v, d->step.v0, v_bytes);
  return status;
}

CnStatus cni_watch_gap(CniDrive *d, int32_t contact, double *gap, double *speed) {
  CniStep *s = &d->step;
  const CnEquations *eq = d->motion.eq;
  double t = s->t + s->h;
  CNI_TRY(cni_motion_gaps(&d->motion, t, s->q1));
  *gap = d->motion.gaps[eq->bilateral_count + contact];
  d->chosen[0] = contact;
  CNI_TRY(cni_modes_probe(d, 1, 0));
  CNI_TRY(cni_modes_speeds(d, t, s->q1, s->v1));
  *speed = d->speeds[d->fixed_count];
  return CN_OK;
}
