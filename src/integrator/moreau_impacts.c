// SPDX-License-Identifier: Apache-2.0
// Laws of impact of moreau-jean (moreau.h).
//
// Newton's law of restitution is in the right side of the problem. Those of Poisson and Stronge are about
// impulse and work: where a contact is hit, a compression in stages to u_n = 0, so that slip may change
// its direction on the way, then a rebound to speeds that are corrected until impulse or work are e or e^2
// times those of the compression (as `impulse` has them, assembly/impacts.c).
//
// Sequential impacts: of the contacts that are hit the fastest one alone (ties: the first), by its law, then
// the next, until none approaches; the step begins with the velocity that they leave.
#include "integrator/moreau.h"

#include <math.h>
#include <string.h>

#define STAGES 16 // of a compression
#define TRIALS 12 // of the speeds of a rebound
#define PHASED 4  // looks at the velocity that compress anew; later ones take the last impulses
#define TRIAL_ERROR 1e-9
#define MOST_STRIKES 100000

// ---- laws in two phases ----

static double hit_restitution(const CniMoreau *s, int32_t i) {
  double slow = CNI_LEAVES * (1 + cni_largest(s->v_struck, s->motion.v_count));
  return s->before[i] < -slow ? cni_contact_law_of(s->motion.eq, s->contacts[i]).restitution : 0;
}

int cni_moreau_is_hit(const CniMoreau *s) {
  int any = 0;
  for (int32_t i = 0; i < s->active; i++) any |= hit_restitution(s, i) > 0;
  return any;
}

// The problem with q as it is so far and speeds that are left to the contacts that are hit.
static CnStatus solve_phase(CniMoreau *s, CnSolver *solver, double h, double left,
                            CnSolveReport *report) {
  CniClash *clash = &s->clash;
  const CniMotion *m = &s->motion;
  memcpy(clash->q, s->base, (size_t)m->active * sizeof *clash->q);
  int32_t row = s->fixed;
  for (int32_t i = 0; i < s->active; i++) {
    if (hit_restitution(s, i) > 0)
      clash->q[row] -= left > 0 ? left * s->before[i] : left < 0 ? s->blows[i].target : 0;
    row += cni_contact_rows(m->eq, s->contacts[i]);
  }
  int32_t first = clash->block_count - m->eq->bound_count;
  for (int32_t i = 0; i < m->eq->bound_count; i++) {
    clash->sets[first + i].lo = -h * m->bounds[i] - s->sum[row + i];
    clash->sets[first + i].hi = h * m->bounds[i] - s->sum[row + i];
  }
  return cni_clash_solve(clash, solver, report);
}

static double speed_after(const CniMoreau *s, int32_t row) {
  return s->base[row] + (s->clash.answer.u[row] - s->clash.q[row]);
}

// A stage stands.
static void take_stage(CniMoreau *s) {
  int32_t row = s->fixed;
  for (int32_t i = 0; i < s->active; i++) {
    CniBlow *blow = &s->blows[i];
    double g = s->clash.answer.g[row], speed = speed_after(s, row);
    blow->pressed += g;
    blow->work += 0.5 * g * (blow->now + speed);
    blow->now = speed;
    row += cni_contact_rows(s->motion.eq, s->contacts[i]);
  }
  for (int32_t i = 0; i < s->motion.active; i++) {
    s->base[i] = speed_after(s, i);
    s->sum[i] += s->clash.answer.g[i];
  }
}

// Speeds of the rebound by what its impulse or work should have been. Another trial?
static int correct(CniMoreau *s) {
  int32_t row = s->fixed, wrong = 0;
  for (int32_t i = 0; i < s->active; i++) {
    CniBlow *blow = &s->blows[i];
    double e = hit_restitution(s, i), g = s->clash.answer.g[row], ratio = e * blow->pressed / g;
    if (s->law == CNI_OF_WORK)
      ratio = sqrt(-e * e * blow->work / (0.5 * g * (blow->now + speed_after(s, row))));
    row += cni_contact_rows(s->motion.eq, s->contacts[i]);
    if (!(e > 0) || !(g > 0) || !isfinite(ratio) || !(fabs(ratio - 1) > TRIAL_ERROR)) continue;
    blow->target *= cn_clamp(ratio, 0.25, 4);
    wrong = 1;
  }
  return wrong;
}

static CnStatus compress(CniMoreau *s, CnSolver *solver, double h, CnSolveReport *report) {
  for (int32_t i = 0; i < s->active; i++)
    s->blows[i] = (CniBlow){.now = s->before[i], .target = -hit_restitution(s, i) * s->before[i]};
  memset(s->sum, 0, (size_t)s->motion.active * sizeof *s->sum);
  for (int32_t k = 1; k <= STAGES; k++) {
    CNI_TRY(solve_phase(s, solver, h, 1 - (double)k / STAGES, report));
    take_stage(s);
  }
  return CN_OK;
}

// The speeds after the impulses of the compression that an earlier look found.
static void press_again(CniMoreau *s) {
  const CniClash *c = &s->clash;
  for (int32_t i = 0; i < c->row_count; i++)
    for (int32_t k = c->start[i]; k < c->start[i + 1]; k++)
      s->base[i] += c->w[k] * s->sum[c->column[k]];
}

// Compression and rebound change with what later looks at the end of the step find: a little where
// these come to an end, for ever where surfaces jump. So they compress a few times only.
CnStatus cni_moreau_phases(CniMoreau *s, CnSolver *solver, double h, CnSolveReport *report) {
  int32_t n = s->motion.active, row = s->fixed, trial = s->look < PHASED ? 0 : TRIALS;
  for (int32_t i = 0; i < s->active; i++) {
    s->clash.q[row] -= hit_restitution(s, i) * cn_min(s->before[i], 0); // Newton's
    row += cni_contact_rows(s->motion.eq, s->contacts[i]);
  }
  memcpy(s->base, s->clash.q, (size_t)n * sizeof *s->base);
  if (s->look < PHASED)
    CNI_TRY(compress(s, solver, h, report));
  else
    press_again(s);
  do CNI_TRY(solve_phase(s, solver, h, -1, report));
  while (trial++ < TRIALS && correct(s));
  for (int32_t i = 0; i < n; i++) s->clash.answer.g[i] += s->sum[i];
  return CN_OK;
}

// ---- sequential impacts ----

// The rows of the active contacts at the place half a step ahead, and M there.
static CnStatus rows_ahead(CniMoreau *s, double t) {
  CniMotion *m = &s->motion;
  CNI_TRY(cni_moreau_rows(s));
  memcpy(m->mass, s->plain, (size_t)m->v_count * (size_t)m->size * sizeof *s->plain);
  CNI_TRY(cni_motion_factor(m, t));
  return cni_motion_jacobian(m, t, s->q_ahead, m->scratch_g, m->scratch_rate);
}

// One contact alone; its impulses go to s->struck.
static CnStatus strike(CniMoreau *s, CnSolver *solver, double t, int32_t contact, double speed,
                       CnSolveReport *report) {
  CniMotion *m = &s->motion;
  s->contacts[0] = contact;
  s->before[0] = speed;
  s->active = 1;
  s->look = 0;
  CNI_TRY(rows_ahead(s, t));
  CNI_TRY(cni_clash_begin(&s->clash, m, m->scratch_g, m->scratch_g));
  for (int32_t i = 0; i < m->active; i++) s->clash.q[i] = cni_moreau_speed(s, i, s->v_struck);
  if (m->eq->bound_count > 0) memset(m->bounds, 0, (size_t)m->eq->bound_count * sizeof *m->bounds);
  CNI_TRY(cni_moreau_solve(s, solver, 0, report));
  cni_motion_push(m, s->clash.answer.g, s->v_struck);
  for (int32_t i = 0; i < m->active; i++) s->struck[m->list[i]] += s->clash.answer.g[i];
  return CN_OK;
}

// The contact that is hit hardest by the velocity so far, -1: none; the rows are those of all.
static int32_t fastest(const CniMoreau *s, double *speed) {
  const CniMotion *m = &s->motion;
  int32_t row = s->fixed, found = -1;
  *speed = -CNI_LEAVES * (1 + cni_largest(s->v_struck, m->v_count));
  for (int32_t i = 0; i < s->active; i++) {
    double u = cni_moreau_speed(s, row, s->v_struck);
    if (u < *speed) {
      *speed = u;
      found = s->contacts[i];
    }
    row += cni_contact_rows(m->eq, s->contacts[i]);
  }
  return found;
}

// v_struck from v; the contacts that were active stay so, and are not hit any more.
CnStatus cni_moreau_strike(CniMoreau *s, CnSolver *solver, double t, const double *q,
                           const double *v, double h, CnSolveReport *report) {
  CniMotion *m = &s->motion;
  int32_t active = s->active, strikes = 0;
  double speed;
  if (m->v_count > 0) memcpy(s->v_struck, v, (size_t)m->v_count * sizeof *v);
  if (m->row_count > 0) memset(s->struck, 0, (size_t)m->row_count * sizeof *s->struck);
  if (s->def.impact != CN_IMPACT_SEQUENTIAL || !cni_moreau_is_hit(s)) return CN_OK;
  int32_t first = s->contacts[0];
  for (;;) {
    int32_t contact = fastest(s, &speed);
    if (contact < 0) break;
    if (strikes++ == MOST_STRIKES)
      return cni_error(CN_STOPPED,
                       "moreau-jean: t = %.17g s: %d impacts one after the other, and no end",
                       t * cni_time_unit(m->eq), MOST_STRIKES);
    CNI_TRY(strike(s, solver, t + 0.5 * h, contact, speed, report));
    s->contacts[0] = first;
    s->active = active;
    CNI_TRY(rows_ahead(s, t + 0.5 * h));
  }
  for (int32_t i = 0; i < active; i++) s->before[i] = 0;
  return cni_moreau_matrix(s, t, q, v, h);
}
