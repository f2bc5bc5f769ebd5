// SPDX-License-Identifier: Apache-2.0
// HEM5: one step of the half-explicit Runge-Kutta method of order 5 for index 2.
//
// Constraints are imposed on velocities, at every stage: with Q_i explicit,
//
//     Q_i = q0 + h sum_{j<i} a_ij Q'_j
//     V_i = p + w,  p = v0 + h sum_{j<i-1} a_ij V'_j
//     [ M(Q_{i-1})  -D(Q_{i-1})^T ] [ w ]   [ h a_{i,i-1} f(Q_{i-1}, V_{i-1}) ]
//     [ G(Q_i)            0       ] [ . ] = [ -(G(Q_i) p + r(Q_i))            ]
//     V'_{i-1} = w / (h a_{i,i-1})
//
// so that G(Q_i) V_i + r = 0 holds to round-off. The end is a ninth stage with the weights b. Eight
// factorisations a step. The error is that of stage 8 (order 3), weighed with an order-2 result so
// that it behaves like h^5.
//
// Dense output of order 4: one more stage at c = 0.05; positions are a polynomial, velocities end
// in one more solution with the rows at the place asked for. Solving for w rather than for V' keeps
// it regular where the weight of the last stage vanishes (theta = 0.4).
//
// Reference: Brasey 1994; coefficients satisfy row sums, C(2), C(3), D(1) and the quadrature
// conditions to the last place.
#include "integrator/events/drive.h"

#include "core/vec.h"

#include <string.h>

#define STAGES 8

static const double c[STAGES + 1] = {0,   0.1, 0.15, 0.36147873465736535, 0.08535584335486676, 0.5,
                                     0.8, 1,   1};
static const double a[STAGES + 1][STAGES] = {
    {0},
    {0.1},
    {0.0375, 0.1125},
    {0.3222169236216109, -1.188883322987636, 1.2281451340233904},
    {-0.03501123898129558, 0.37254206010860325, -0.2721053535581903, 0.01993037578574944},
    {-0.5576547055041877, 1.3673072896458667, -1.7322363604607236, 0.4587772007467473,
     0.9638065755722973},
    {0.08654517193565361, -0.0881008284794747, 0.19812755473295976, -0.46454226793313264,
     0.16151700911096867, 0.9064533606330253},
    {0, 0, 0, 3.624477248753825, -0.4617724189182735, -3.198024628164286, 1.0353197983287346},
    {0, 0, 0, 0.24677606676367025, 0.21065940874897757, 0.17692181491250708, 0.30644464441479125,
     0.05919806516005386}};

// The extra stage of the dense output: weights of stages 6, 7 and of the end.
static const double extra_c = 0.05;
static const double extra[3] = {0.2519444444444446, -0.3861111111111117, 0.184166666666667};
// b_i(theta) = theta (d1 + theta (d2 + theta (d3 + theta d4))) of stages 4 .. 8 and the extra one.
static const double dense[6][4] = {
    {-0.2661262387118526, 2.963408265225625, -4.141333547260734, 1.690827587510642},
    {-0.4784628694418738, 5.405521925140019, -8.53301760696035, 3.816617960011145},
    {-0.08492247115792709, 0.9129165649477744, -0.8633784567714418, 0.2123061778941055},
    {0.250058829842381, -2.963932600778991, 6.403467289689607, -3.383148874338215},
    {-0.1047577768468651, 1.261033213890067, -2.971000836599169, 1.873923464716025},
    {1.684210526316138, -7.578947368424495, 10.10526315790209, -4.210526315793703}};

// The method's numbers within CniStep::work.
typedef struct Parts {
  double *q_dot[STAGES + 2], *v_dot[STAGES + 1]; // stages 1 .. 8, end; q_dot: and the extra one
  double *q[3], *v[3];                           // two stages in turn; the extra stage
  double *jacobian[2], *rate[2]; // two stages in turn; later those of the extra stage, and spare
  double *q8, *v8, *p, *w, *multipliers;
} Parts;

static int64_t numbers(const CniMotion *m) {
  int64_t nq = cni_pool_need(m->q_count), nv = cni_pool_need(m->v_count);
  int64_t g = cni_pool_need(m->entries), list = cni_pool_need(m->list_count);
  return (STAGES + 2 + 3 + 1) * nq + (STAGES + 1 + 3 + 3) * nv + 2 * g + 3 * list;
}

static Parts parts_of(const CniMotion *m, const CniStep *s) {
  Parts k;
  double *at = s->work;
  int32_t nq = m->q_count, nv = m->v_count, list = m->list_count;
  for (int i = 0; i < STAGES + 2; i++) k.q_dot[i] = cni_cut(&at, nq);
  for (int i = 0; i < STAGES + 1; i++) k.v_dot[i] = cni_cut(&at, nv);
  for (int i = 0; i < 3; i++) k.q[i] = cni_cut(&at, nq);
  for (int i = 0; i < 3; i++) k.v[i] = cni_cut(&at, nv);
  for (int i = 0; i < 2; i++) k.jacobian[i] = cni_cut(&at, m->entries);
  for (int i = 0; i < 2; i++) k.rate[i] = cni_cut(&at, list);
  k.q8 = cni_cut(&at, nq);
  k.v8 = cni_cut(&at, nv);
  k.p = cni_cut(&at, nv);
  k.w = cni_cut(&at, nv);
  k.multipliers = cni_cut(&at, list);
  return k;
}

// v = p + w that meets the rows at a later position, from the forces at `from` with weight hb.
static CnStatus meet_rows(CniMotion *m, Parts *k, CniPlaceOfForce from, double hb, int follow,
                          const double *jacobian, const double *rate, double *v) {
  CNI_TRY(cni_motion_mass(m, from.t, from.q));
  for (int32_t i = 0; i < m->active; i++)
    k->multipliers[i] = -cni_motion_row(m, jacobian, i, rate[i], k->p);
  CNI_TRY(cni_motion_drive(m, &from, hb, follow, jacobian, k->w, k->multipliers));
  for (int32_t i = 0; i < m->v_count; i++) v[i] = k->p[i] + k->w[i];
  return CN_OK;
}

// Error of stage 8 weighed with that of q0 + h (5/2 Y'_7 - 3/2 Y'_8).
static void find_error(CniMotion *m, CniStep *s, Parts *k) {
  double e1 = cni_step_error(m, s, k->q8, k->v8);
  double *q = k->q8, *v = k->v8;
  for (int32_t i = 0; i < m->q_count; i++)
    q[i] = s->q0[i] + s->h * (2.5 * k->q_dot[6][i] - 1.5 * k->q_dot[7][i]);
  for (int32_t i = 0; i < m->v_count; i++)
    v[i] = s->v0[i] + s->h * (2.5 * k->v_dot[6][i] - 1.5 * k->v_dot[7][i]);
  double e2 = cni_step_error(m, s, q, v);
  s->error = e1 + 0.01 * e2 < 1e-13 ? 0 : e1 * e1 / (e1 + 0.01 * e2);
}

static CnStatus step(CniMotion *m, CniStep *s) {
  Parts k = parts_of(m, s);
  int32_t nq = m->q_count, nv = m->v_count;
  if (!s->start_known) CNI_TRY(cni_motion_jacobian(m, s->t, s->q0, s->jacobian0, s->rate0));
  s->start_known = 1;
  s->dense_ready = 0;
  CniPlaceOfForce from = {s->t, s->q0, s->v0, s->jacobian0, s->rate0};
  cni_motion_kinematics(m, s->t, s->q0, s->v0, k.q_dot[0]);

  for (int32_t i = 1; i <= STAGES; i++) {
    int last = i == STAGES;
    double t = s->t + c[i] * s->h, hb = s->h * a[i][i - 1];
    double *q = last ? s->q1 : k.q[i & 1], *v = last ? s->v1 : k.v[i & 1];
    double *jacobian = last ? s->jacobian1 : k.jacobian[i & 1];
    double *rate = last ? s->rate1 : k.rate[i & 1];
    cni_step_combine(s->q0, s->h, a[i], k.q_dot, i, nq, q);
    if (last) cni_motion_normalise(m, q);
    CNI_TRY(cni_motion_jacobian(m, t, q, jacobian, rate));
    cni_step_combine(s->v0, s->h, a[i], k.v_dot, i - 1, nv, k.p);
    CNI_TRY(meet_rows(m, &k, from, hb, 1, jacobian, rate, v));
    for (int32_t j = 0; j < nv; j++) k.v_dot[i - 1][j] = k.w[j] / hb;
    if (i == STAGES - 1) {
      memcpy(k.q8, q, (size_t)nq * sizeof *q);
      memcpy(k.v8, v, (size_t)nv * sizeof *v);
    }
    if (!last) cni_motion_kinematics(m, t, q, v, k.q_dot[i]);
    from = (CniPlaceOfForce){t, q, v, jacobian, rate};
  }
  find_error(m, s, &k);
  return CN_OK;
}

// The extra stage at c = 0.05, from stages 6, 7 and the end of the step.
static CnStatus prepare_dense(CniMotion *m, CniStep *s, Parts *k) {
  double t = s->t + extra_c * s->h, h = s->h;
  cni_motion_kinematics(m, s->t + h, s->q1, s->v1, k->q_dot[8]);
  for (int32_t i = 0; i < m->q_count; i++)
    k->q[2][i] = s->q0[i] + h * (extra[0] * k->q_dot[5][i] + extra[1] * k->q_dot[6][i] +
                                 extra[2] * k->q_dot[8][i]);
  for (int32_t i = 0; i < m->v_count; i++)
    k->p[i] = s->v0[i] + h * (extra[0] * k->v_dot[5][i] + extra[1] * k->v_dot[6][i]);
  CNI_TRY(cni_motion_jacobian(m, t, k->q[2], k->jacobian[0], k->rate[0]));
  CniPlaceOfForce end = {s->t + h, s->q1, s->v1, s->jacobian1, s->rate1};
  CNI_TRY(meet_rows(m, k, end, h * extra[2], 1, k->jacobian[0], k->rate[0], k->v[2]));
  cni_motion_kinematics(m, t, k->q[2], k->v[2], k->q_dot[9]);
  s->dense_ready = 1;
  return CN_OK;
}

static CnStatus dense_state(CniMotion *m, CniStep *s, double theta, double *q, double *v) {
  Parts k = parts_of(m, s);
  if (!s->dense_ready) CNI_TRY(prepare_dense(m, s, &k));
  double b[6];
  for (int32_t i = 0; i < 6; i++) {
    const double *d = dense[i];
    b[i] = theta * (d[0] + theta * (d[1] + theta * (d[2] + theta * d[3])));
  }
  double *slopes[6] = {k.q_dot[3], k.q_dot[4], k.q_dot[5], k.q_dot[6], k.q_dot[7], k.q_dot[9]};
  cni_step_combine(s->q0, s->h, b, slopes, 6, m->q_count, q);
  cni_motion_normalise(m, q);
  if (!v) return CN_OK;
  cni_step_combine(s->v0, s->h, b, &k.v_dot[3], 5, m->v_count, k.p);
  CNI_TRY(cni_motion_jacobian(m, s->t + theta * s->h, q, k.jacobian[1], k.rate[1]));
  CniPlaceOfForce stage = {s->t + extra_c * s->h, k.q[2], k.v[2], k.jacobian[0], k.rate[0]};
  // the weight may vanish: what bounds are is known from the end of the step
  return meet_rows(m, &k, stage, s->h * b[5], 0, k.jacobian[1], k.rate[1], v);
}

static const CniStepper stepper = {
    .name = "hem5", .order = 5, .numbers = numbers, .step = step, .dense = dense_state};

static CnStatus create(const CnIntegratorDef *def, const CnAllocator *allocator, void **state) {
  return cni_drive_create(def, allocator, &stepper, state);
}

const CnIntegratorKind cni_integrator_hem5 = {
    .name = "hem5",
    .summary = "half-explicit Runge-Kutta of order 5 (index 2) between located events, adaptive",
    .create = create,
    CNI_DRIVEN,
};
