// SPDX-License-Identifier: Apache-2.0
// Equations of motion in units that suit the scene (equations.h).
//
// The integrators' tolerances and thresholds have absolute parts, made for bodies of some centimetres
// to metres under our gravity: gaps of 1e-10 are closed, an error of the tolerance is one of a body
// of size one. A world of parts of a micrometre, or of bodies of a kilometre, is given to them in
// units of its own, where it is such a world too: with L of length, T of time, m of mass
//
//     x = L x*,  v = L/T v*,  w = w*/T,  t = T t*,  g = s g*  (s = L, or 1 where a row turns)
//     M* = S M S / E,  f* = T S f / E,  G* = T/s G S,  force of a row = E/s of that in these units,
//
// S = L/T or 1/T by velocity and E = m L^2/T^2. The units are powers of two: nothing is rounded by the
// change, and a world that is 4^k times as large has the same digits. Between 2 cm and 10 m they are m,
// s, kg.
#include "world/equations/equations.h"

#include <string.h>

#include "core/math.h"

#define LEAST 0.02  // m
#define MOST 10.0   // m
#define USUAL 0.125 // m: size of the smallest body in units of a scene

// How large a body is: how far its shapes reach, or its radius of gyration without any.
static double size_of(const CniModel *model, int32_t body) {
  double arm = 0;
  for (int32_t i = model->bodies[body].first_shape; i >= 0; i = model->shapes[i].next) {
    const CniShape *s = &model->shapes[i];
    if (!cni_shape_unbounded(s->kind))
      arm = cn_max(arm, cn_norm(cni_shape_pose(s).position) + cni_model_outradius(s));
  }
  if (arm > 0) return arm;
  CnSym3 j = cni_model_inertia(model, body, CN_QUAT_ONE);
  return sqrt((j.xx + j.yy + j.zz) / (2 * model->mass[body].mass));
}

// The power of two, or of four, next to x.
static double power_near(double x, int four) {
  double unit = 1, step = four ? 4 : 2;
  while (x > unit * (four ? 2 : 1.4142135623730951)) unit *= step;
  while (x * (four ? 2 : 1.4142135623730951) < unit) unit /= step;
  return unit;
}

CniUnits cni_units_of(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  double size = INFINITY, mass = 0, gravity = cn_norm(world->now.settings.gravity);
  for (int32_t i = 0; i < model->body_count; i++) {
    if (!cni_is_free(model, i)) continue;
    size = cn_min(size, size_of(model, i));
    mass = cn_max(mass, model->mass[i].mass);
  }
  if (!(size < INFINITY) || !(size > 1e-12) || size > 1e12 || (size >= LEAST && size <= MOST))
    return (CniUnits){1, 1, 1};
  double length = power_near(size / USUAL, 1);
  double time = power_near(sqrt(length * (gravity > 0 ? 9.81 / gravity : 1)), 0);
  return (CniUnits){length, time, power_near(mass, 0)};
}

// ---- states ----

static const struct CniWorldEquations *equations_of(void *context) {
  const CnWorld *world = context;
  return world->work.equations;
}

void cni_units_state(const CnWorld *world, const double *q, const double *v, int out, double *q_to,
                     double *v_to) {
  const struct CniWorldEquations *eq = world->work.equations;
  int32_t bodies = world->now.model.body_count,
          count = cni_equations_velocities(eq, &world->now.model);
  double length = out ? eq->unit.length : 1 / eq->unit.length;
  double time = out ? eq->unit.time : 1 / eq->unit.time;
  for (int32_t i = 0; q && i < 7 * bodies; i++) q_to[i] = i % 7 < 3 ? length * q[i] : q[i];
  for (int32_t i = 0; v && i < count; i++) {
    int32_t rotor = i - 6 * bodies;
    int turns = rotor < 0 ? i % 6 > 2 : rotor < eq->rotor_count && eq->rotor_turns[rotor];
    v_to[i] = v[i] * (turns ? 1 : length) / time;
  }
}

// In m, s, into memory of the equations.
static const double *places(void *context, const double *q) {
  const struct CniWorldEquations *eq = equations_of(context);
  cni_units_state(context, q, NULL, 1, eq->scratch_q, NULL);
  return eq->scratch_q;
}

static const double *velocities(void *context, const double *v) {
  const struct CniWorldEquations *eq = equations_of(context);
  cni_units_state(context, NULL, v, 1, NULL, eq->scratch_v);
  return eq->scratch_v;
}

// What one of a row's value is in m or rad.
static double row_unit(void *context, int32_t row) {
  CnWorld *world = context;
  const struct CniWorldEquations *eq = world->work.equations;
  int32_t touch = 0, k = 0;
  const CniWorldRow *own = cni_equations_row(eq, row, &touch, &k);
  if (!own) return k < 3 ? eq->unit.length : 1;
  return cni_row_turns(world, own) ? 1 : eq->unit.length;
}

double cni_units_force(CnWorld *world, int32_t row, int impulse) {
  const CniUnits *u = &world->work.equations->unit;
  double energy = u->mass * (u->length / u->time) * (u->length / u->time);
  return energy * (impulse ? u->time : 1) / row_unit(world, row);
}

double cni_units_speed(CnWorld *world, int32_t row) {
  return row_unit(world, row) / world->work.equations->unit.time;
}

// ---- the functions ----

static CnStatus mass(void *context, double t, const double *q, double *m) {
  const struct CniWorldEquations *eq = equations_of(context);
  int32_t bodies = ((const CnWorld *)context)->now.model.body_count;
  int32_t count = cni_equations_velocities(eq, &((const CnWorld *)context)->now.model);
  double way = 1 / eq->unit.mass, turn = way / (eq->unit.length * eq->unit.length);
  CNI_TRY(eq->plain.mass(context, eq->unit.time * t, places(context, q), m));
  for (int32_t i = 0; i < 6 * count; i++) {
    int32_t row = i / 6, rotor = row - 6 * bodies;
    int turns = rotor < 0 ? row % 6 > 2 : rotor < eq->rotor_count && eq->rotor_turns[rotor];
    m[i] *= turns ? turn : way;
  }
  return CN_OK;
}

static CnStatus force(void *context, double t, const double *q, const double *v, double *f) {
  const struct CniWorldEquations *eq = equations_of(context);
  int32_t bodies = ((const CnWorld *)context)->now.model.body_count;
  const CniUnits *u = &eq->unit;
  double way = u->time * u->time / (u->mass * u->length), turn = way / u->length;
  CNI_TRY(eq->plain.force(context, u->time * t, places(context, q), velocities(context, v), f));
  for (int32_t i = 0; i < 6 * bodies; i++) f[i] *= i % 6 > 2 ? turn : way;
  return CN_OK;
}

static CnStatus gaps(void *context, double t, const double *q, double *g) {
  const struct CniWorldEquations *eq = equations_of(context);
  const CnEquations *e = &eq->equations;
  CNI_TRY(eq->plain.gaps(context, eq->unit.time * t, places(context, q), g));
  for (int32_t i = 0; i < e->bilateral_count + e->contact_count; i++) {
    int32_t contact = i - e->bilateral_count;
    g[i] /= row_unit(context, contact < 0 ? i : e->bilateral_count + contact * e->contact_dim);
  }
  g += e->bilateral_count + e->contact_count;
  int32_t first = e->bilateral_count + e->contact_count * e->contact_dim + e->bound_count;
  for (int32_t i = 0; i < e->servo_count; i++)
    g[i] /= row_unit(context, first - e->servo_count + i);
  return CN_OK;
}

static CnStatus jacobian(void *context, double t, const double *q, const int32_t *rows,
                         int32_t count, double *result, double *rate) {
  const struct CniWorldEquations *eq = equations_of(context);
  const CnEquations *e = &eq->equations;
  int32_t bodies = ((const CnWorld *)context)->now.model.body_count;
  CNI_TRY(eq->plain.jacobian(context, eq->unit.time * t, places(context, q), rows, count, result,
                             rate));
  for (int32_t i = 0; i < count; i++) {
    double unit = row_unit(context, rows[i]);
    int32_t bound = rows[i] - e->bilateral_count - e->contact_count * e->contact_dim;
    int32_t constraint = rows[i] < e->bilateral_count ? rows[i]
                         : bound >= 0
                             ? e->bilateral_count + e->contact_count + bound
                             : e->bilateral_count + (rows[i] - e->bilateral_count) / e->contact_dim;
    int32_t groups = e->groups(context, constraint, eq->scratch_groups);
    rate[i] *= eq->unit.time / unit;
    for (int32_t k = 0; k < 6 * groups; k++) {
      int32_t group = eq->scratch_groups[k / 6], rotor = 6 * (group - bodies) + k % 6;
      int turns = rotor < 0 ? k % 6 > 2 : rotor < eq->rotor_count && eq->rotor_turns[rotor];
      *result++ *= (turns ? 1 : eq->unit.length) / unit;
    }
  }
  return CN_OK;
}

static CnStatus curvature(void *context, double t, const double *q, const double *v,
                          const int32_t *rows, int32_t count, double *result) {
  const struct CniWorldEquations *eq = equations_of(context);
  double time = eq->unit.time;
  CNI_TRY(eq->plain.curvature(context, time * t, places(context, q), velocities(context, v), rows,
                              count, result));
  for (int32_t i = 0; i < count; i++) result[i] *= time * time / row_unit(context, rows[i]);
  return CN_OK;
}

static void domains(void *context, double t, const double *q, double *domain) {
  const struct CniWorldEquations *eq = equations_of(context);
  eq->plain.domains(context, eq->unit.time * t, places(context, q), domain);
}

static int32_t covered(void *context, double t, const double *q) {
  const struct CniWorldEquations *eq = equations_of(context);
  return eq->plain.covered(context, eq->unit.time * t, places(context, q));
}

static double next_jolt(void *context, double t) {
  const struct CniWorldEquations *eq = equations_of(context);
  return eq->plain.next_jolt(context, eq->unit.time * t) / eq->unit.time;
}

static void bounds(void *context, double t, const double *q, const double *multipliers,
                   int32_t impact, double *result) {
  const struct CniWorldEquations *eq = equations_of(context);
  const CnEquations *e = &eq->equations;
  int32_t first = e->bilateral_count + e->contact_count * e->contact_dim;
  for (int32_t i = 0; i < e->bilateral_count; i++)
    eq->scratch_rows[i] = multipliers[i] * cni_units_force(context, i, impact);
  for (int32_t i = 0; i < eq->limit_count; i++) {
    int32_t row = cni_limit_row(eq, i);
    eq->scratch_rows[row] = multipliers[row] * cni_units_force(context, row, impact);
  }
  eq->plain.bounds(context, eq->unit.time * t, places(context, q), eq->scratch_rows, impact,
                   result);
  for (int32_t i = 0; i < e->bound_count; i++)
    result[i] /= cni_units_force(context, first + i, impact);
}

void cni_units_put(struct CniWorldEquations *eq) {
  CnEquations *e = &eq->equations;
  eq->plain = *e;
  if (eq->unit.length == 1 && eq->unit.time == 1 && eq->unit.mass == 1) return;
  e->mass = mass;
  e->force = force;
  e->gaps = gaps;
  e->jacobian = jacobian;
  e->curvature = curvature;
  if (e->domains) e->domains = domains;
  e->covered = covered;
  e->bounds = bounds;
  e->next_jolt = next_jolt;
  e->time_unit = eq->unit.time;
  e->row_unit = row_unit;
}
