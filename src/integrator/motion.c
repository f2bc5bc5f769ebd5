// SPDX-License-Identifier: Apache-2.0
// The equations of motion with some constraints active, and their linear algebra (motion.h).
//
// M = L L^T is kept group by group along the profile of the lower part: row i from its first entry
// that is not zero. One step of refinement on the constraint rows makes H w = r hold to round-off
// of H w itself, which is what keeps the velocity constraints of hem5 at 1e-16.
#include "integrator/motion.h"

#include "core/vec.h"

#include <stdio.h>
#include <string.h>

// ---- pool ----

static int64_t doubles_of(const CniArray *a) {
  return a->count * (int64_t)(a->size / sizeof(double));
}

CnStatus cni_pool_lay(CniPool *pool, const CniArray *arrays) {
  int64_t used = 8;
  for (const CniArray *a = arrays; a->address; a++) used += cni_pool_need(doubles_of(a));
  if (used > INT32_MAX / 2)
    return cni_error(CN_NO_MEMORY, "equations: more than %d numbers are needed", INT32_MAX / 2);
  CNI_TRY(CNI_RESERVE(&pool->allocator, pool->data, pool->capacity, 0, (int32_t)used));
  memset(pool->data, 0, (size_t)used * sizeof(double));
  double *at = pool->data;
  for (; arrays->address; at += cni_pool_need(doubles_of(arrays++)))
    memcpy(arrays->address, &at, sizeof at);
  return CN_OK;
}

void cni_pool_release(CniPool *pool) {
  cni_release(&pool->allocator, pool->data, (size_t)pool->capacity * sizeof(double));
  pool->data = NULL;
  pool->capacity = 0;
}

// ---- rows ----

int32_t cni_row_contact(const CnEquations *eq, int32_t row) {
  int32_t bound = row - cni_normal_row(eq, eq->contact_count);
  if (bound >= 0) return eq->contact_count + bound;
  return row < eq->bilateral_count ? -1 : (row - eq->bilateral_count) / eq->contact_dim;
}

int32_t cni_row_gap(const CnEquations *eq, int32_t row) {
  if (row < eq->bilateral_count) return row;
  int32_t bound = row - cni_normal_row(eq, eq->contact_count);
  if (bound >= 0) return cni_servo_gap(eq, bound);
  int32_t from = row - eq->bilateral_count;
  return from % eq->contact_dim == 0 ? eq->bilateral_count + from / eq->contact_dim : -1;
}

void cni_row_label(const CnSystem *system, int32_t row, char label[96]) {
  const CnEquations *eq = system->equations;
  int32_t contact = cni_row_contact(eq, row);
  if (contact < 0 && eq->bilateral_name)
    eq->bilateral_name(system->context, row, label, 96);
  else if (contact < 0)
    snprintf(label, 96, "bilateral constraint %d", (int)row);
  else if (eq->contact_name)
    eq->contact_name(system->context, contact, label, 96);
  else
    snprintf(label, 96, "contact %d", (int)contact);
}

// ---- set-up ----

void cni_motion_init(CniMotion *m, const CnAllocator *allocator) {
  *m = (CniMotion){.allocator = *allocator, .pool = {.allocator = *allocator}};
  cni_arena_init(&m->schur.arena, allocator);
}

void cni_motion_release(CniMotion *m) {
  const CnAllocator *a = &m->allocator;
  cni_release(a, m->list, (size_t)m->list_capacity * sizeof *m->list);
  cni_release(a, m->slip, (size_t)m->slip_capacity * sizeof *m->slip);
  cni_release(a, m->first, (size_t)m->first_capacity * sizeof *m->first);
  cni_release(a, m->touch_start, (size_t)m->start_capacity * sizeof *m->touch_start);
  cni_release(a, m->touch, (size_t)m->touch_capacity * sizeof *m->touch);
  cni_schur_release(m);
  cni_release(a, m->gaps, (size_t)m->gap_capacity * sizeof *m->gaps);
  cni_pool_release(&m->pool);
}

CnStatus cni_motion_begin(CniMotion *m, const CnSystem *system) {
  m->system = system;
  m->eq = system->equations;
  m->q_count = system->q_count;
  m->v_count = system->v_count;
  m->size = m->eq->group_size > 0 ? m->eq->group_size : m->v_count;
  m->groups = m->size > 0 ? m->v_count / m->size : 0;
  m->row_count = cni_normal_row(m->eq, m->eq->contact_count) + m->eq->bound_count;
  CNI_TRY(
      CNI_RESERVE(&m->allocator, m->first, m->first_capacity, 0, m->v_count > 0 ? m->v_count : 1));
  int32_t gaps = m->eq->bilateral_count + m->eq->contact_count + m->eq->servo_count;
  CNI_TRY(CNI_RESERVE(&m->allocator, m->gaps, m->gap_capacity, 0, gaps + 1));
  return cni_motion_set_rows(m, NULL, NULL, 0);
}

// Cut the pool for the present sizes.
static CnStatus carve(CniMotion *m) {
  int32_t n = m->v_count, k = m->active, list = m->list_count;
  int32_t bounded = m->eq->bound_count > 0 ? m->row_count : 0;
  int64_t mass = (int64_t)n * m->size, entries = (int64_t)m->size * m->touch_start[list];
  if (mass > INT32_MAX || entries > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "equations: more than %d numbers are needed", INT32_MAX);
  m->entries = (int32_t)entries;
  return CNI_CUT(&m->pool, CNI_ARRAY(mass, m->mass), CNI_ARRAY(mass, m->profile),
                 CNI_ARRAY(entries, m->x), CNI_ARRAY(k, m->row_scale), CNI_ARRAY(k, m->residual),
                 CNI_ARRAY(k, m->multipliers), CNI_ARRAY(k, m->right), CNI_ARRAY(n, m->scratch_v),
                 CNI_ARRAY(2 * m->q_count, m->scratch_q), CNI_ARRAY(entries, m->scratch_g),
                 CNI_ARRAY(list, m->scratch_rate), CNI_ARRAY(k, m->wanted),
                 CNI_ARRAY(bounded, m->all), CNI_ARRAY(4 * m->eq->bound_count, m->bounds));
}

// The groups of the last row of the list so far. Rows of one constraint touch the same.
static CnStatus ask_groups(CniMotion *m, int32_t place) {
  const CnEquations *eq = m->eq;
  int32_t at = m->touch_start[place], row = m->list[place], count = 1;
  CNI_TRY(CNI_RESERVE(&m->allocator, m->touch, m->touch_capacity, at, at + m->groups + 1));
  int32_t *touch = m->touch + at;
  touch[0] = 0;
  if (eq->group_size > 0) {
    int32_t contact = cni_row_contact(eq, row);
    count =
        eq->groups(m->system->context, contact < 0 ? row : eq->bilateral_count + contact, touch);
    int legal = count >= 0 && count <= m->groups;
    for (int32_t i = 0; legal && i < count; i++)
      legal = touch[i] < m->groups && touch[i] > (i > 0 ? touch[i - 1] : -1);
    if (!legal) {
      char label[96];
      cni_row_label(m->system, row, label);
      return cni_invalid("equations: the velocity groups of %s must ascend within 0 .. %d", label,
                         (int)m->groups - 1);
    }
  }
  m->touch_start[place + 1] = at + count;
  return CN_OK;
}

CnStatus cni_motion_set_rows(CniMotion *m, const int32_t *rows, const CniSlips *slips,
                             int32_t count) {
  const CnAllocator *a = &m->allocator;
  int32_t slip_count = slips ? slips->count : 0, most = count + 2 * slip_count + 2;
  CNI_TRY(CNI_RESERVE(a, m->list, m->list_capacity, 0, most));
  CNI_TRY(CNI_RESERVE(a, m->slip, m->slip_capacity, 0, most));
  CNI_TRY(CNI_RESERVE(a, m->touch_start, m->start_capacity, 0, most));
  m->active = m->list_count = count;
  m->slip_count = slip_count;
  m->schur.known = 0;
  for (int32_t i = 0; i < count; i++) m->list[i] = rows[i];
  for (int32_t i = 0; i < slip_count; i++) {
    CniSlip *slip = &m->slip[i];
    *slip = slips->list[i];
    slip->place = m->list_count;
    for (int32_t k = 0; k < 2; k++) slip->now[k] = slip->start[k];
    for (int32_t k = 0; k < slip->count; k++) m->list[m->list_count++] = slip->row + k;
  }
  m->touch_start[0] = 0;
  for (int32_t i = 0; i < m->list_count; i++) CNI_TRY(ask_groups(m, i));
  return carve(m);
}

// ---- evaluations ----

void cni_motion_kinematics(const CniMotion *m, double t, const double *q, const double *v,
                           double *q_dot) {
  if (m->eq->kinematics)
    m->eq->kinematics(m->system->context, t, q, v, q_dot);
  else
    memcpy(q_dot, v, (size_t)m->q_count * sizeof *q_dot);
}

void cni_motion_normalise(const CniMotion *m, double *q) {
  if (m->eq->normalise) m->eq->normalise(m->system->context, q);
}

CnStatus cni_motion_jacobian(CniMotion *m, double t, const double *q, double *jacobian,
                             double *rate) {
  if (m->list_count == 0) return CN_OK;
  memset(rate, 0, (size_t)m->list_count * sizeof *rate);
  return m->eq->jacobian(m->system->context, t, q, m->list, m->list_count, jacobian, rate);
}

double cni_motion_row(const CniMotion *m, const double *jacobian, int32_t i, double start,
                      const double *v) {
  int32_t size = m->size;
  for (int32_t e = m->touch_start[i]; e < m->touch_start[i + 1]; e++) {
    const double *x = jacobian + (int64_t)e * size, *y = v + (int64_t)m->touch[e] * size;
    for (int32_t k = 0; k < size; k++) start += x[k] * y[k];
  }
  return start;
}

// Central differences along the motion; the step balances truncation and round-off.
static CnStatus difference(CniMotion *m, double t, const double *q, const double *v,
                           double *curvature) {
  double *q_dot = m->scratch_q, *moved = m->scratch_q + m->q_count;
  cni_motion_kinematics(m, t, q, v, q_dot);
  double e = 6e-6 * (1 + cni_largest(q, m->q_count)) / (1 + cni_largest(q_dot, m->q_count));
  memset(curvature, 0, (size_t)m->active * sizeof *curvature);
  for (int32_t side = -1; side <= 1; side += 2) {
    for (int32_t i = 0; i < m->q_count; i++) moved[i] = q[i] + side * e * q_dot[i];
    cni_motion_normalise(m, moved);
    CNI_TRY(cni_motion_jacobian(m, t + side * e, moved, m->scratch_g, m->scratch_rate));
    for (int32_t i = 0; i < m->active; i++)
      curvature[i] +=
          side * (cni_motion_row(m, m->scratch_g, i, 0, v) + m->scratch_rate[i]) / (2 * e);
  }
  return CN_OK;
}

CnStatus cni_motion_curvature(CniMotion *m, double t, const double *q, const double *v,
                              double *curvature) {
  if (m->active == 0) return CN_OK;
  if (!m->eq->curvature) return difference(m, t, q, v, curvature);
  memset(curvature, 0, (size_t)m->active * sizeof *curvature);
  return m->eq->curvature(m->system->context, t, q, v, m->list, m->active, curvature);
}

// ---- mass ----

CnStatus cni_motion_mass(CniMotion *m, double t, const double *q) {
  CNI_TRY(m->eq->mass(m->system->context, t, q, m->mass));
  return cni_motion_factor(m, t);
}

CnStatus cni_motion_factor(CniMotion *m, double t) {
  int32_t n = m->size;
  for (int32_t r = 0; r < m->v_count; r++) {
    int32_t i = r % n, begin = r - i; // row of its block, and where that begins
    const double *row = m->mass + (int64_t)r * n;
    double *to = m->profile + (int64_t)r * n;
    int32_t first = 0;
    while (first < i && row[first] == 0) first++;
    m->first[r] = first;
    for (int32_t j = first; j <= i; j++) {
      const double *other = m->profile + (int64_t)(begin + j) * n;
      int32_t from = first > m->first[begin + j] ? first : m->first[begin + j];
      double sum = row[j];
      for (int32_t k = from; k < j; k++) sum -= to[k] * other[k];
      if (j < i) {
        to[j] = sum / other[j];
        continue;
      }
      if (!(sum > 1e-14 * fabs(row[i])))
        return cni_error(CN_STOPPED,
                         "t = %.17g s: the mass matrix is not positive definite (row %d, %g left "
                         "of %g)",
                         t * cni_time_unit(m->eq), (int)r, sum, row[i]);
      to[i] = sqrt(sum);
    }
  }
  return CN_OK;
}

void cni_motion_group_solve(const CniMotion *m, int32_t group, double *x) {
  int32_t n = m->size;
  const int32_t *first = m->first + (int64_t)group * n;
  const double *block = m->profile + (int64_t)group * n * n;
  for (int32_t i = 0; i < n; i++) {
    const double *row = block + (int64_t)i * n;
    double sum = x[i];
    for (int32_t k = first[i]; k < i; k++) sum -= row[k] * x[k];
    x[i] = sum / row[i];
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    const double *row = block + (int64_t)i * n;
    x[i] /= row[i];
    for (int32_t k = first[i]; k < i; k++) x[k] -= row[k] * x[i];
  }
}

void cni_motion_mass_solve(const CniMotion *m, double *x) {
  for (int32_t i = 0; i < m->groups; i++) cni_motion_group_solve(m, i, x + (int64_t)i * m->size);
}

// ---- the system ----

// w += X dL with S dL = r - H w; dL is added to the multipliers.
static void correct(CniMotion *m, const double *rows_of, const double *r, double *w,
                    double *multipliers) {
  for (int32_t i = 0; i < m->active; i++)
    m->residual[i] = m->row_scale[i] * (r[i] - cni_motion_row(m, rows_of, i, 0, w));
  cni_schur_solve(m, m->residual);
  for (int32_t i = 0; i < m->active; i++) multipliers[i] += m->residual[i];
  cni_motion_push(m, m->residual, w);
}

CnStatus cni_motion_solve(CniMotion *m, double t, const double *columns, const double *rows_of,
                          double *w, double *multipliers) {
  int32_t k = m->active;
  m->systems++;
  cni_motion_mass_solve(m, w);
  if (k == 0) return CN_OK;
  cni_motion_directions(m, columns);
  CNI_TRY(cni_schur_factor(m, t, rows_of));
  double *r = m->right;
  for (int32_t i = 0; i < k; i++) {
    r[i] = multipliers[i];
    multipliers[i] = 0;
  }
  correct(m, rows_of, r, w, multipliers);
  correct(m, rows_of, r, w, multipliers);
  return CN_OK;
}

CnStatus cni_motion_accelerate(CniMotion *m, double t, const double *q, const double *v,
                               const double *jacobian, const double *rate, double *a,
                               double *multipliers) {
  // the curvature may use the scratch Jacobian: it comes first
  CNI_TRY(cni_motion_curvature(m, t, q, v, multipliers));
  for (int32_t i = 0; i < m->active; i++) multipliers[i] = -multipliers[i];
  if (!jacobian) {
    CNI_TRY(cni_motion_jacobian(m, t, q, m->scratch_g, m->scratch_rate));
    jacobian = m->scratch_g;
    rate = m->scratch_rate;
  }
  CNI_TRY(cni_motion_mass(m, t, q));
  CniPlaceOfForce at = {t, q, v, jacobian, rate};
  return cni_motion_drive(m, &at, 1, 1, jacobian, a, multipliers);
}

// ---- drift and projection ----

CnStatus cni_motion_gaps(CniMotion *m, double t, const double *q) {
  if (m->eq->bilateral_count + m->eq->contact_count + m->eq->servo_count == 0) return CN_OK;
  return m->eq->gaps(m->system->context, t, q, m->gaps);
}

CnStatus cni_motion_drift(CniMotion *m, double t, const double *q, const double *v,
                          const double *jacobian, const double *rate, double *position,
                          double *velocity) {
  const CnEquations *eq = m->eq;
  *position = *velocity = 0;
  if (m->active == 0) return CN_OK;
  CNI_TRY(cni_motion_gaps(m, t, q));
  for (int32_t i = 0; i < m->active; i++) {
    int32_t gap = cni_row_gap(eq, m->list[i]);
    if (gap >= 0) *position = cn_max(*position, fabs(m->gaps[gap]));
    double u = cni_motion_row(m, jacobian, i, 0, v) + rate[i];
    *velocity = cn_max(*velocity, fabs(u));
  }
  return CN_OK;
}

// One Newton step on the positions; *size is |g| before it.
static CnStatus project_once(CniMotion *m, double t, double *q, double *size) {
  int32_t n = m->v_count;
  double *g = m->scratch_g, *w = m->scratch_v, *r = m->multipliers, *q_dot = m->scratch_q;
  CNI_TRY(cni_motion_gaps(m, t, q));
  *size = 0;
  for (int32_t i = 0; i < m->active; i++) {
    int32_t gap = cni_row_gap(m->eq, m->list[i]);
    r[i] = gap < 0 ? 0 : -m->gaps[gap];
    *size = cn_max(*size, fabs(r[i]));
  }
  CNI_TRY(cni_motion_mass(m, t, q));
  CNI_TRY(cni_motion_jacobian(m, t, q, g, m->scratch_rate));
  memset(w, 0, (size_t)n * sizeof *w);
  CNI_TRY(cni_motion_solve(m, t, g, g, w, r));
  cni_motion_kinematics(m, t, q, w, q_dot);
  for (int32_t i = 0; i < m->q_count; i++) q[i] += q_dot[i];
  cni_motion_normalise(m, q);
  return CN_OK;
}

#define PROJECTIONS 10

CnStatus cni_motion_project(CniMotion *m, double t, double *q, double *v) {
  int32_t n = m->v_count;
  if (m->active == 0) return CN_OK;
  double size = INFINITY, before = INFINITY, floor_size = 4e-15 * (1 + cni_largest(q, m->q_count));
  int32_t i = 0;
  do {
    before = size;
    CNI_TRY(project_once(m, t, q, &size));
  } while (++i < PROJECTIONS && size > floor_size && (size < 0.5 * before || i < 4));
  // what is left after the last of them is no larger than its square or round-off
  if (!(size <= 1e-8))
    return cni_error(CN_STOPPED,
                     "t = %.17g s: the constraints cannot be met by projection (%g left after %d "
                     "steps)",
                     t * cni_time_unit(m->eq), size, (int)i);
  double *g = m->scratch_g, *w = m->scratch_v, *r = m->multipliers;
  CNI_TRY(cni_motion_mass(m, t, q));
  CNI_TRY(cni_motion_jacobian(m, t, q, g, m->scratch_rate));
  for (int32_t k = 0; k < m->active; k++)
    r[k] = -cni_motion_row(m, g, k, 0, v) - m->scratch_rate[k];
  memset(w, 0, (size_t)n * sizeof *w);
  CNI_TRY(cni_motion_solve(m, t, g, g, w, r));
  for (int32_t k = 0; k < n; k++) v[k] += w[k];
  return CN_OK;
}
