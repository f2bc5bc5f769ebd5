// SPDX-License-Identifier: Apache-2.0
// Moreau-Jean time stepping: contacts at velocity level, no events.
//
//     active: gap + (h/2) u_n <= 0 at the start of the step
//     M (v+ - v) = h (theta f+ + (1-theta) f) + G^T p
//     0 <= u_n+ + e u_n _|_ p_n >= 0, friction in its cone, u+ = 0 (bilateral)
//     u+ = G+ v+ + r+, the velocity of the rows at the end of the step, u that at its start
//     q+ = q (+) h T (theta v+ + (1-theta) v)
//
// Any number of impacts falls into a step. Order 1 across impacts; between them order 2 with theta =
// 1/2, joints and closed contacts included: M and the directions G of the impulses are those of the
// place half a step ahead, and what has to hold holds for the velocity at the end where it is.
// Forces are implicit: Newton's iteration with M + h theta C + h^2 theta^2 K where the system gives
// K and C, plain iteration otherwise; within it the matrix G M^-1 G^T stays, and what the rows at
// the end see differently is added to the right side, a contraction of the order of h.
//
// With `projection` every n-th step, and every one with contacts that do not leave, ends on g = 0 and
// G v + r = 0 of the bilateral constraints and of these contacts, so that nothing drifts, overlaps, or hovers by the error of a step. Both:
// where a gap bends (what rolls, pivots, swings on a rope) the row at the place that was moved sees
// another velocity, by h^3, and a contact that seems to leave, or hovers, is not active: its force would
// come every other step, twice as large, and each time be an impact.
//
// References: Moreau 1988, Jean 1999.
#include "integrator/moreau.h"

#include <math.h>
#include <string.h>

#define ITERATIONS 60
#define RUNAWAY 1e3  // of the first velocity found: from there the iteration does not come back
#define MOVES 40     // of them that look at the end of the step anew,
#define RESTLESS 6   // fewer where so often a change was larger than the one before,
#define ENDLESS 12   // and none of twice as often: the problem's own answers jump about
#define STALLED 1e-8 // of the speeds: what rounding of a light body on joints may leave moving
#define CLOSED 1e-12 // m: round-off of a gap that is zero
#define SETTLED                                                                                    \
  1e-7 // of the speeds: what the problem of the next look may differ by where its answers jump
#define CONTRACTS 0.1 // of a change of the velocity
#define SMALL 1e-14   // change of v at which the iteration ends, of the largest velocity and one

static void destroy(void *state) {
  CniMoreau *s = state;
  CnAllocator a = s->allocator;
  cni_clash_release(&s->clash);
  cni_motion_release(&s->motion);
  cni_pool_release(&s->pool);
  cni_pool_release(&s->row_pool);
  cni_least_release(&s->least);
  cni_release(&a, s->rows, (size_t)s->row_capacity * sizeof *s->rows);
  cni_release(&a, s->contacts, (size_t)s->contact_capacity * sizeof *s->contacts);
  cni_release(&a, s, sizeof *s);
}

static CnStatus create(const CnIntegratorDef *def, const CnAllocator *allocator, void **state) {
  CniMoreau *s = cni_allocate(allocator, sizeof *s);
  if (!s) return cni_error_memory(sizeof *s);
  *s = (CniMoreau){.allocator = *allocator, .def = *def};
  s->pool.allocator = s->row_pool.allocator = *allocator;
  cni_motion_init(&s->motion, allocator);
  cni_least_init(&s->least, allocator);
  CnStatus status = cni_clash_init(&s->clash, allocator);
  if (status != CN_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return CN_OK;
}

static CnStatus fit(CniMoreau *s, const CnSystem *system) {
  const CnEquations *eq = system->equations;
  CNI_TRY(cni_motion_begin(&s->motion, system));
  CNI_TRY(cni_least_begin(&s->least, system));
  int32_t nq = system->q_count, nv = system->v_count, rows = s->motion.row_count;
  int32_t gaps = eq->bilateral_count + eq->contact_count;
  const CnAllocator *a = &s->allocator;
  CNI_TRY(CNI_RESERVE(a, s->rows, s->row_capacity, 0, rows + 1));
  CNI_TRY(CNI_RESERVE(a, s->contacts, s->contact_capacity, 0, gaps + 1));
  int32_t stiff = eq->stiffness ? nv * nv : 0;
  int32_t mass = nv * s->motion.size;
  return CNI_CUT(&s->pool, CNI_ARRAY(nq, s->q_ahead), CNI_ARRAY(nq, s->q_new),
                 CNI_ARRAY(nq, s->q_dot), CNI_ARRAY(nv, s->v_new), CNI_ARRAY(nv, s->v_mean),
                 CNI_ARRAY(nv, s->force), CNI_ARRAY(nv, s->force_new), CNI_ARRAY(nv, s->defect),
                 CNI_ARRAY(nv, s->v_struck), CNI_ARRAY(nv, s->free_last),
                 CNI_ARRAY(gaps, s->domains), CNI_ARRAY(gaps, s->before), CNI_ARRAY(gaps, s->blows),
                 CNI_ARRAY(rows, s->all), CNI_ARRAY(rows, s->struck), CNI_ARRAY(stiff, s->k),
                 CNI_ARRAY(stiff, s->c), CNI_ARRAY(mass, s->plain));
}

// ---- active rows ----

// The rows of bilateral constraints, active contacts and bounds.
CnStatus cni_moreau_rows(CniMoreau *s) {
  const CnEquations *eq = s->motion.eq;
  int32_t n = s->fixed;
  for (int32_t i = 0; i < s->active; i++) {
    int32_t dim = cni_contact_rows(eq, s->contacts[i]);
    for (int32_t k = 0; k < dim; k++) s->rows[n++] = cni_normal_row(eq, s->contacts[i]) + k;
  }
  for (int32_t i = 0; i < eq->bound_count; i++)
    s->rows[n++] = cni_normal_row(eq, eq->contact_count + i);
  return cni_motion_set_rows(&s->motion, s->rows, NULL, n);
}

// Bilateral rows that do not depend on each other, and contacts with gap + (h/2) u_n <= 0.
static CnStatus find_active(CniMoreau *s, double t, const double *q, const double *v, double h) {
  CniMotion *m = &s->motion;
  const CnEquations *eq = m->eq;
  int32_t n = 0;
  for (int32_t i = 0; i < eq->contact_count; i++) s->rows[n++] = cni_normal_row(eq, i);
  CNI_TRY(cni_motion_set_rows(m, s->rows, NULL, n));
  CNI_TRY(cni_motion_jacobian(m, t, q, m->scratch_g, m->scratch_rate));
  CNI_TRY(cni_motion_gaps(m, t, q));
  if (eq->domains) eq->domains(m->system->context, t, q, s->domains);
  s->active = 0;
  double slow = CNI_LEAVES * (1 + cni_largest(v, m->v_count)); // what a solve leaves is no flight
  for (int32_t i = 0; i < eq->contact_count; i++) {
    double gap = m->gaps[eq->bilateral_count + i];
    if (eq->domains && s->domains[i] < 0) continue;
    s->before[s->active] = cni_moreau_speed(s, i, v);
    double speed = s->before[s->active];
    if (speed > 0) speed = cn_max(speed - slow, 0);
    if (gap + 0.5 * h * speed <= CLOSED) s->contacts[s->active++] = i;
  }
  for (int32_t i = 0; i < eq->bilateral_count; i++) s->rows[i] = i;
  s->fixed = 0;
  CNI_TRY(cni_motion_strongest(m, t, q, s->rows, eq->bilateral_count, s->rows, &s->fixed));
  CNI_TRY(cni_moreau_rows(s));
  n = m->active;
  return CNI_CUT(&s->row_pool, CNI_ARRAY(m->entries, s->rows_end), CNI_ARRAY(n, s->rate_end),
                 CNI_ARRAY(n, s->base), CNI_ARRAY(n, s->sum), CNI_ARRAY(n, s->q_last));
}

// ---- the step ----

// M of the place ahead (kept plain for the defect), then the step matrix in its place, factored.
CnStatus cni_moreau_matrix(CniMoreau *s, double t, const double *q, const double *v, double h) {
  CniMotion *m = &s->motion;
  int32_t n = m->v_count;
  double theta = s->def.theta;
  CNI_TRY(m->eq->mass(m->system->context, t + 0.5 * h, s->q_ahead, m->mass));
  memcpy(s->plain, m->mass, (size_t)n * (size_t)m->size * sizeof *s->plain);
  if (m->eq->stiffness) {
    CNI_TRY(m->eq->stiffness(m->system->context, t, q, v, s->k, s->c));
    for (int32_t i = 0; i < n * n; i++)
      m->mass[i] += h * theta * s->c[i] + h * h * theta * theta * s->k[i];
  }
  return cni_motion_factor(m, t);
}

static void move(const CniMoreau *s, double t, const double *q, const double *v, double h) {
  const CniMotion *m = &s->motion;
  const CnSystem *system = m->system;
  double theta = s->def.theta;
  for (int32_t i = 0; i < m->v_count; i++) s->v_mean[i] = theta * s->v_new[i] + (1 - theta) * v[i];
  if (system->advance) {
    system->advance(system->context, q, s->v_mean, h, s->q_new);
    return;
  }
  cni_motion_kinematics(m, t + 0.5 * h, s->q_ahead, s->v_mean, s->q_dot);
  for (int32_t i = 0; i < m->q_count; i++) s->q_new[i] = q[i] + h * s->q_dot[i];
  cni_motion_normalise(m, s->q_new);
}

// v_new without impulses of this iteration: one Newton step on the forces.
static CnStatus free_velocity(CniMoreau *s, double t, double h) {
  const double *v = s->v_struck;
  CniMotion *m = &s->motion;
  int32_t n = m->v_count, size = m->size;
  double theta = s->def.theta;
  CNI_TRY(m->eq->force(m->system->context, t + h, s->q_new, s->v_new, s->force_new));
  for (int32_t i = 0; i < n; i++) {
    double sum = h * ((1 - theta) * s->force[i] + theta * s->force_new[i]);
    const double *row = s->plain + (int64_t)i * size;
    for (int32_t j = 0, c = i - i % size; j < size; j++, c++) sum -= row[j] * (s->v_new[c] - v[c]);
    s->defect[i] = sum;
  }
  cni_motion_mass_solve(m, s->defect);
  for (int32_t i = 0; i < n; i++) s->defect[i] += s->v_new[i];
  return CN_OK;
}

// What a row at the end of the step sees of a velocity, less what it sees half-way. Frames of
// tangents may jump between the two places: then the row half-way stays.
static double end_difference(const CniMoreau *s, int32_t i, const double *v) {
  const CniMotion *m = &s->motion;
  const double *half = m->scratch_g, *end = s->rows_end;
  double apart = 0, size = 0;
  if (s->half_way && i >= s->fixed) return 0;
  for (int32_t k = m->size * m->touch_start[i]; k < m->size * m->touch_start[i + 1]; k++) {
    apart += (end[k] - half[k]) * (end[k] - half[k]);
    size += half[k] * half[k];
  }
  if (cni_row_gap(m->eq, s->rows[i]) < 0 && apart > 0.25 * size) return 0;
  return cni_motion_row(m, end, i, s->rate_end[i], v) - cni_moreau_speed(s, i, v);
}

// The contact problem whose speeds without impulses are in the clash.
CnStatus cni_moreau_solve(CniMoreau *s, CnSolver *solver, double h, CnSolveReport *report) {
  CniMotion *m = &s->motion;
  CniClash *clash = &s->clash;
  const CnEquations *eq = m->eq;
  for (int32_t i = 0; i < s->fixed; i++) cni_clash_block(clash, CN_BLOCK_BILATERAL, 1, 0);
  int32_t row = s->fixed;
  for (int32_t i = 0; i < s->active; i++) {
    double e = cni_contact_law_of(eq, s->contacts[i]).restitution;
    clash->q[row] += e * cn_min(s->before[i], 0);
    row += cni_clash_contact(clash, eq, s->contacts[i]);
  }
  for (int32_t i = 0; i < eq->bound_count; i++) cni_clash_bound(clash, h * m->bounds[i]);
  return s->law != CNI_OF_SPEEDS && cni_moreau_is_hit(s) ? cni_moreau_phases(s, solver, h, report)
                                                         : cni_clash_solve(clash, solver, report);
}

// How much what is asked has changed since the look before.
static double changed(double *last, const double *now, int32_t count) {
  double most = 0;
  for (int32_t i = 0; i < count; i++) {
    most = cn_max(most, fabs(now[i] - last[i]));
    last[i] = now[i];
  }
  return most;
}

// On top of the free velocity in s->defect, which becomes the velocity.
static CnStatus contact_velocity(CniMoreau *s, CnSolver *solver, double h, CnSolveReport *report) {
  CniMotion *m = &s->motion;
  s->asked = changed(s->free_last, s->defect, m->v_count);
  if (m->active == 0) return CN_OK;
  CNI_TRY(cni_clash_begin(&s->clash, m, m->scratch_g, m->scratch_g));
  for (int32_t i = 0; i < m->active; i++)
    s->clash.q[i] = cni_moreau_speed(s, i, s->defect) + end_difference(s, i, s->v_new);
  // a servo goes back to its place within the step
  int32_t bounds = m->active - m->eq->bound_count;
  for (int32_t i = m->eq->bound_count - m->eq->servo_count; i < m->eq->bound_count; i++)
    s->clash.q[bounds + i] += m->gaps[cni_servo_gap(m->eq, i)] / h;
  s->asked = cn_max(s->asked, changed(s->q_last, s->clash.q, m->active));
  CNI_TRY(cni_moreau_solve(s, solver, h, report));
  cni_motion_push(m, s->clash.answer.g, s->defect);
  return CN_OK;
}

// Bounds under the mean forces of the step, as far as they are known.
static void look_at_bounds(CniMoreau *s, double t, double h, int known) {
  CniMotion *m = &s->motion;
  if (m->eq->bound_count == 0) return;
  memset(m->all, 0, (size_t)m->row_count * sizeof *m->all);
  for (int32_t i = 0; known && i < m->active; i++) m->all[m->list[i]] = s->clash.answer.g[i] / h;
  if (known) cni_least_share(&s->least, m->all);
  m->eq->bounds(m->system->context, t, s->q_ahead, m->all, 0, m->bounds);
}

// How much what is asked changes with what was found, by the look before which that changed most.
typedef struct Slope {
  double change, slope;
} Slope;

static void note_slope(const CniMoreau *s, double before, Slope *slope) {
  if (!(before > slope->change) || before == INFINITY) return;
  slope->change = before;
  slope->slope = s->asked / before;
}

// Where forces may be shared in many ways, and what slides goes with the way, the problem's answers jump about though
// what is asked hardly changes any more: any of them is an answer of the step. Forces that are too stiff for
// the iteration ask for something else each time.
static int answers_jump(const CniMoreau *s, const Slope *slope, double change, double size,
                        int last, CnSolveReport *report) {
  if (!(s->motion.active > 0) || !(slope->slope <= CONTRACTS)) return 0;
  int settled = slope->slope * change <= SETTLED * size;
  if (last && !settled) report->converged = 0;
  return last || settled;
}

// Iterate until the velocity stands still: *found. *change: what it did last, *count: looks.
static CnStatus iterate(CniMoreau *s, CnSolver *solver, double t, const double *q, const double *v,
                        double h, CnSolveReport *report, int *found, double *last_change,
                        int32_t *count) {
  int32_t n = s->motion.v_count;
  double change = INFINITY, size = 1, first = 1;
  Slope slope = {0, INFINITY};
  int32_t i = 0, moves = MOVES, restless = 0;
  for (int32_t j = 0; j < n; j++) s->v_new[j] = v[j];
  for (; i < ITERATIONS; i++) {
    // surfaces that jump from piece to piece within the step: those of the last look
    if (i < moves) move(s, t, q, v, h);
    CNI_TRY(free_velocity(s, t, h));
    if (i < moves)
      CNI_TRY(cni_motion_jacobian(&s->motion, t + h, s->q_new, s->rows_end, s->rate_end));
    look_at_bounds(s, t + 0.5 * h, h, i > 0);
    s->look = i;
    CNI_TRY(contact_velocity(s, solver, h, report));
    double before = change;
    change = 0;
    size = 1;
    for (int32_t j = 0; j < n; j++) {
      change = cn_max(change, fabs(s->defect[j] - s->v_new[j]));
      size = cn_max(size, fabs(s->defect[j]));
      s->v_new[j] = s->defect[j];
    }
    if (i == 0) first = size;
    if (change >= before && ++restless == RESTLESS && i < moves) moves = i + 1;
    // round-off of the solver may keep the last digits moving
    int stalls = i > 4 && (change >= 0.5 * before || i == ITERATIONS - 1);
    if (i == 0 && s->motion.eq->bound_count > 0) continue; // bounds of bearings without a load
    note_slope(s, before, &slope);
    int last = s->half_way && (restless == ENDLESS || i == ITERATIONS - 1);
    int jumps = (restless >= RESTLESS || last) && size <= RUNAWAY * first &&
                answers_jump(s, &slope, change, size, last, report);
    if (change <= SMALL * size || (stalls && change <= STALLED * size) || jumps) {
      move(s, t, q, v, h);
      *found = 1;
      return CN_OK;
    }
    // work on problems that nobody can solve any more
    if (!(size <= RUNAWAY * first) || restless == ENDLESS) break;
  }
  *last_change = change;
  *count = i < ITERATIONS ? i + 1 : i;
  return CN_OK;
}

// Where the place of a contact goes far within a step, as of the rim of a disc that lies nearly flat, what the rows at the
// end see is no small correction and may grow without end. Such a step is made with the rows half-way, of order 1.
static CnStatus find_velocity(CniMoreau *s, CnSolver *solver, double t, const double *q,
                              const double *v, double h, CnSolveReport *report) {
  int found = 0;
  double change = 0;
  int32_t count = 0;
  for (int32_t k = 0; k < 2 && !found; k++) {
    s->half_way = k;
    CNI_TRY(iterate(s, solver, t, q, v, h, report, &found, &change, &count));
  }
  if (found) return CN_OK;
  return cni_error(CN_STOPPED,
                   "moreau-jean: t = %.17g s: the velocity was not found in %d iterations (last "
                   "change %g): a smaller step, or the stiffness of the forces, is needed",
                   t * cni_time_unit(s->motion.eq), count, change);
}

// ---- the end of a step ----

// Impulses of all rows.
static void collect(CniMoreau *s) {
  CniMotion *m = &s->motion;
  memset(s->all, 0, (size_t)m->row_count * sizeof *s->all);
  for (int32_t i = 0; i < m->active; i++)
    s->all[m->list[i]] = s->clash.answer.g[i] + s->struck[m->list[i]];
  cni_least_share(&s->least, s->all);
}

// Is it the normal of a contact that does not leave?
static int stays(const CniMoreau *s, int32_t i) {
  const CniMotion *m = &s->motion;
  if (cni_row_gap(m->eq, s->rows[i]) < 0) return 0;
  double speed = cni_motion_row(m, s->rows_end, i, s->rate_end[i], s->v_new);
  return speed <= CNI_LEAVES * (1 + cni_largest(s->v_new, m->v_count));
}

// On bilateral rows and contacts that stay.
static CnStatus project(CniMoreau *s, double t) {
  CniMotion *m = &s->motion;
  int64_t number = m->system->step > 0 ? m->system->step : s->calls + 1;
  int32_t n = s->fixed;
  if (s->def.projection <= 0) return CN_OK;
  for (int32_t i = s->fixed; i < m->active - m->eq->bound_count; i++)
    if (stays(s, i)) s->rows[n++] = s->rows[i];
  if (n == 0 || (n == s->fixed && number % s->def.projection != 0)) return CN_OK;
  CNI_TRY(cni_motion_independent(m, t, s->q_new, s->rows, n, CNI_SHARE_PLACES, s->rows, &n));
  CNI_TRY(cni_motion_set_rows(m, s->rows, NULL, n));
  double *v = s->v_mean;
  memcpy(v, s->v_new, (size_t)m->v_count * sizeof *v);
  memcpy(s->q_ahead, s->q_new, (size_t)m->q_count * sizeof *s->q_new);
  CnStatus status = cni_motion_project(m, t, s->q_new, v);
  if (status == CN_STOPPED) { // contacts that cannot be closed together: left as they are
    memcpy(s->q_new, s->q_ahead, (size_t)m->q_count * sizeof *s->q_new);
    return CN_OK;
  }
  CNI_TRY(status);
  s->report.projections++;
  memcpy(s->v_new, v, (size_t)m->v_count * sizeof *v);
  return CN_OK;
}

static CnStatus tell(CniMoreau *s, double t, double h) {
  const CnObserver *observer = &s->def.observer;
  CniMotion *m = &s->motion;
  CNI_TRY(cni_motion_gaps(m, t, s->q_new));
  s->report.time = t;
  s->report.step = h;
  s->report.steps = 1;
  s->report.systems = m->systems;
  for (int32_t i = 0; i < s->fixed; i++) {
    s->report.position_drift = cn_max(s->report.position_drift, fabs(m->gaps[s->rows[i]]));
  }
  if (!observer->point) return CN_OK;
  CnPoint point = {.time = t, .step = h, .q = s->q_new, .v = s->v_new, .multipliers = s->all};
  observer->point(observer->context, s->handle, &point);
  return CN_OK;
}

static CnStatus step(void *state, const CnSystem *system, CnSolver *solver, double t,
                     const double *q, const double *v, double h, CnSolveReport *report) {
  CniMoreau *s = state;
  CniMotion *m = &s->motion;
  *report = (CnSolveReport){.solver = "none", .converged = 1, .method = "none"};
  s->report = (CnIntegratorReport){.time = t, .last_cause = ""};
  m->systems = 0;
  cni_clash_renew(&s->clash);
  CNI_TRY(fit(s, system));
  CNI_TRY(find_active(s, t, q, v, h));
  cni_motion_kinematics(m, t, q, v, s->q_dot);
  for (int32_t i = 0; i < m->q_count; i++) s->q_ahead[i] = q[i] + 0.5 * h * s->q_dot[i];
  cni_motion_normalise(m, s->q_ahead);
  CNI_TRY(cni_moreau_matrix(s, t, q, v, h));
  if (cni_least_at(&s->least, m, t + 0.5 * h, s->q_ahead) != CN_OK) s->least.left = 0;
  CNI_TRY(cni_motion_jacobian(m, t + 0.5 * h, s->q_ahead, m->scratch_g, m->scratch_rate));
  CNI_TRY(m->eq->force(system->context, t, q, v, s->force));
  CNI_TRY(cni_moreau_strike(s, solver, t, q, v, h, report));
  CNI_TRY(find_velocity(s, solver, t, q, v, h, report));
  CNI_TRY(cni_check_state("v", s->v_new, m->v_count, t));
  CNI_TRY(cni_check_state("q", s->q_new, m->q_count, t));
  collect(s);
  for (int32_t i = 0; i < s->fixed; i++)
    s->report.velocity_drift =
        cn_max(s->report.velocity_drift,
               fabs(cni_motion_row(m, s->rows_end, i, s->rate_end[i], s->v_new)));
  CNI_TRY(project(s, t + h));
  CNI_TRY(tell(s, t + h, h));
  CNI_TRY(system->done(system->context, t + h, s->q_new, s->v_new, NULL));
  s->calls++;
  return CN_OK;
}

static void attach(void *state, CnIntegrator *handle) {
  CniMoreau *s = state;
  s->handle = handle;
}

static void observe(void *state, const CnObserver *observer, CniListener listener) {
  (void)listener; // impulses of the step are those of its impacts
  CniMoreau *s = state;
  s->def.observer = *observer;
}

static void restitution(void *state, CniRestitution law) {
  CniMoreau *s = state;
  s->law = law;
}

static void get_report(const void *state, CnIntegratorReport *report) {
  const CniMoreau *s = state;
  *report = s->report;
}

const CnIntegratorKind cni_integrator_moreau_jean = {
    .name = "moreau-jean",
    .summary = "theta scheme with impacts at velocity level, one contact problem a step",
    .needs_equations = 1,
    .needs_solver = 1,
    .solver = "auto",
    .impulse_multipliers = 1,
    .create = create,
    .step = step,
    .destroy = destroy,
    .attach = attach,
    .report = get_report,
    .observe = observe,
    .restitution = restitution,
};
