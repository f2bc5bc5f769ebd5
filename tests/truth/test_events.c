// SPDX-License-Identifier: Apache-2.0
// Motions with events whose times are known: bouncing ball, Newton's cradle, Housner's block, stick
// and slip, surfaces in pieces; hem5 and rkf45 alike.
#include "check.h"
#include "mechanisms.h"

#include <string.h>

#include "core/vec.h"
#include "core/math.h"

static const char *const names[2] = {"hem5", "rkf45"};

typedef struct Log {
  CnEvent events[400];
  int count;
} Log;

static void keep(void *context, CnIntegrator *integrator, const CnEvent *event) {
  Log *log = context;
  (void)integrator;
  CHECK(log->count < 400);
  log->events[log->count++] = *event;
}

static CnIntegratorDef logged(const char *name, double tolerance, Log *log) {
  CnIntegratorDef def = cn_integrator_def_default(name);
  def.tolerance = tolerance;
  *log = (Log){.count = 0};
  def.observer = (CnObserver){log, NULL, keep};
  return def;
}

// ---- bouncing ball ----

// From height 1: impact k at t1 (1 + 2 e + ... + 2 e^k) with speed v1 e^k, at rest at t1
// (1+e)/(1-e).
static void ball(double e, double rest) {
  double t1 = sqrt(2 / 9.81), v1 = 9.81 * t1;
  CHECK_NEAR(t1, 0.451523640986, 1e-12);
  CHECK_NEAR(v1, 4.42944691807, 1e-11);
  for (int k = 0; k < 2; k++) {
    Mechanism m;
    Log log;
    CnIntegratorDef def = logged(names[k], 1e-8, &log);
    CnIntegratorReport report;
    mechanism_ball(&m, 1, e);
    CHECK_OK(mechanism_run(&m, &def, NULL, 5, 5, &report));
    double t = t1, v = v1;
    for (int i = 0; i < log.count - 1; i++) {
      CHECK(log.events[i].kind == CN_EVENT_IMPACT);
      CHECK_NEAR(log.events[i].time, t, 1e-10);
      CHECK_NEAR(log.events[i].speed, -v, 1e-9);
      CHECK_NEAR(log.events[i].impulse, (1 + e) * v, 1e-9);
      v *= e;
      t += 2 * v / 9.81;
    }
    const CnEvent *last = &log.events[log.count - 1];
    CHECK(log.count > 15 && last->kind == CN_EVENT_REST);
    CHECK_NEAR(last->time, t1 * (1 + e) / (1 - e), 1e-9);
    CHECK_NEAR(last->time, rest, 1e-6);
    CHECK_NEAR(m.q[0], 0, 1e-12);
    CHECK_NEAR(m.v[0], 0, 1e-12);
    CHECK(report.events == log.count && report.impacts == log.count - 1);
  }
}

static void bouncing_ball(void **state) {
  (void)state;
  ball(.5, 1.354570922957);
  ball(.8, 4.063712768872);
}

// Elastic: it bounces for ever, and events may be limited.
static void event_limit(void **state) {
  (void)state;
  Mechanism m;
  Log log;
  CnIntegratorReport report;
  CnIntegratorDef def = logged("hem5", 1e-8, &log);
  mechanism_ball(&m, 1, 1);
  CHECK_OK(mechanism_run(&m, &def, NULL, 20, 20, &report));
  CHECK(log.count == 22);
  CHECK_NEAR(m.q[0] + m.v[0] * m.v[0] / (2 * 9.81), 1, 1e-9);
  mechanism_ball(&m, 1, 1);
  def = logged("hem5", 1e-8, &log);
  def.max_events = 5;
  CHECK_STATUS(mechanism_run(&m, &def, NULL, 20, 20, &report), CN_STOPPED);
  CHECK(strstr(cn_error_message(), "more than 5 events") != NULL);
  CHECK_NEAR(report.time, 11 * 0.451523640986, 0.02 + 0.45);
}

// A ball that only just reaches a ceiling: the gap is zero for a moment within one long step.
static CnStatus ceiling_gap(void *context, double t, const double *q, double *g) {
  const Mechanism *m = context;
  (void)t;
  g[0] = m->data[0] - q[0];
  return CN_OK;
}

static CnStatus ceiling_row(void *context, double t, const double *q, const int32_t *rows,
                            int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)q, (void)rows, (void)rate;
  if (count) jacobian[0] = -1;
  return CN_OK;
}

static void grazing(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Mechanism m;
    Log log;
    CnIntegratorDef def = logged(names[k], 1e-8, &log);
    mechanism_ball(&m, 0, 1);
    m.equations.gaps = ceiling_gap;
    m.equations.jacobian = ceiling_row;
    m.v[0] = 9.81 * .537;
    double top = 9.81 * .537 * .537 / 2, below = 1e-5;
    m.data[0] = top - below;
    CHECK_OK(mechanism_run(&m, &def, NULL, 1, 1, NULL));
    CHECK(log.count == 1);
    CHECK_NEAR(log.events[0].time, .537 - sqrt(2 * below / 9.81), 1e-9);
  }
}

// ---- cradle ----

static void cradle(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Mechanism m;
    Log log;
    CnIntegratorDef def = logged(names[k], 1e-8, &log);
    mechanism_cradle(&m, 1);
    CHECK_OK(mechanism_run(&m, &def, NULL, 1, 1, NULL));
    CHECK_NEAR(m.v[0], -1.0 / 3, 1e-12);
    CHECK_NEAR(m.v[1], 2.0 / 3, 1e-12);
    CHECK_NEAR(m.v[2], 2.0 / 3, 1e-12);
    CHECK(log.count == 2);
    CHECK_NEAR(log.events[0].impulse, 4.0 / 3, 1e-12);
    CHECK_NEAR(log.events[1].impulse, 2.0 / 3, 1e-12);

    def = logged(names[k], 1e-8, &log);
    def.impact = CN_IMPACT_SEQUENTIAL;
    mechanism_cradle(&m, 1);
    CHECK_OK(mechanism_run(&m, &def, NULL, 1, 1, NULL));
    CHECK_NEAR(m.v[0], 0, 1e-12);
    CHECK_NEAR(m.v[1], 0, 1e-12);
    CHECK_NEAR(m.v[2], 1, 1e-12);
    CHECK(log.count == 2 && log.events[0].contact == 0 && log.events[1].contact == 1);
  }
}

// ---- Housner's block ----

static void housner(void **state) {
  (void)state;
  static const double times[5] = {0.4908644578, 1.3448047194, 2.1042644233, 2.7889314414,
                                  3.4118616200};
  double alpha = cni_atan2(.2, 1);
  CHECK_NEAR(alpha, .19739555985, 1e-11);
  for (int k = 0; k < 2; k++) {
    Mechanism m;
    Log log;
    CnIntegratorDef def = logged(names[k], 1e-11, &log);
    mechanism_housner(&m, alpha / 2, .3);
    CHECK_OK(mechanism_run(&m, &def, NULL, 3.5, 3.5, NULL));
    int impacts = 0;
    for (int i = 0; i < log.count; i++) {
      if (log.events[i].kind != CN_EVENT_IMPACT) continue;
      CHECK(impacts < 5);
      CHECK_NEAR(log.events[i].time, times[impacts], 1e-7);
      CHECK(log.events[i].contact == (impacts % 2 == 0 ? 1 : 0));
      impacts++;
    }
    CHECK(impacts == 5);
  }
}

// Ratio of the spins after and before the first impact.
static void housner_ratio(void **state) {
  (void)state;
  double alpha = cni_atan2(.2, 1), w[2];
  for (int side = 0; side < 2; side++) {
    Mechanism m;
    CnIntegratorDef def = cn_integrator_def_default("hem5");
    def.tolerance = 1e-11;
    mechanism_housner(&m, alpha / 2, .3);
    double t = 0.4908644578 + (side ? 1e-8 : -1e-8);
    CHECK_OK(mechanism_run(&m, &def, NULL, t, t, NULL));
    w[side] = m.v[2];
  }
  CHECK_NEAR(w[1] / w[0], .94230769, 1e-6);
}

// ---- stick and slip ----

// Drawn by a spring: it sticks until k w t = mu g, then slips by x'' = k (w t - x) - mu g, in
// closed form x = w s - (w/root) sin(root s), s = t - t0.
static void spring_drawn(const char *name) {
  double mu = .3, k = 10, w = .5, root = sqrt(k), t0 = mu * 9.81 / (k * w), s = 1;
  Mechanism m;
  Log log;
  CnIntegratorDef def = logged(name, 1e-10, &log);
  mechanism_slider(&m, mu, k, w);
  CHECK_OK(mechanism_run(&m, &def, NULL, t0 + s, t0 + s, NULL));
  CHECK(log.count == 1 && log.events[0].kind == CN_EVENT_SLIP);
  CHECK_NEAR(log.events[0].time, t0, 1e-8);
  CHECK_NEAR(m.q[0], w * s - w / root * cni_sin(root * s), 1e-8);
  CHECK_NEAR(m.v[0], w - w * cni_cos(root * s), 1e-8);
  CHECK_NEAR(m.q[1], 0, 1e-14);
}

// Sliding to rest: v0 = 5, mu = .3.
static void slide_to_rest(const char *name) {
  Mechanism m;
  Log log;
  CnIntegratorDef def = logged(name, 1e-10, &log);
  mechanism_slider(&m, .3, 0, 0);
  m.v[0] = 5;
  CHECK_OK(mechanism_run(&m, &def, NULL, 3, 3, NULL));
  CHECK(log.count == 1 && log.events[0].kind == CN_EVENT_STICK);
  CHECK_NEAR(log.events[0].time, 1.698946653, 1e-9);
  CHECK_NEAR(m.q[0], 4.247366633, 1e-9);
  CHECK_NEAR(m.v[0], 0, 1e-11);
}

static void stick_slip(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    spring_drawn(names[i]);
    slide_to_rest(names[i]);
  }
}

// ---- surfaces in pieces ----

// Force on the bowl in closed form: z'' = 2 x'^2 + 2 x x'', x'' = -2 x L, z'' = L - 9.81. Right
// after the joint that is 9.81 + 2 4.70283^2 = 54.043.
typedef struct Force {
  double worst;        // difference from it
  double first_x;      // where the bowl was first seen
  double first, after; // force on the plane before the joint, on the bowl there
} Force;

static void look(void *context, CnIntegrator *integrator, const CnPoint *point) {
  (void)integrator;
  Force *force = context;
  double x = point->q[0], v = point->v[0], sum = point->multipliers[0] + point->multipliers[1];
  if (x > 1e-9) force->first = sum;
  if (x > -1e-9) return; // both sides are right on the joint
  force->worst = cn_max(force->worst, fabs(sum - (9.81 + 2 * v * v) / (1 + 4 * x * x)));
  if (force->after == 0) {
    force->after = sum;
    force->first_x = x;
  }
}

// Fig. 7b: over the joint of z = 0 and z = x^2, up, and back.
static void bowl(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    Mechanism m;
    Log log;
    CnIntegratorDef def = logged(names[k % 2], 1e-11, &log);
    def.remedy = k < 2 ? CN_REMEDY_NSCD : CN_REMEDY_LCP;
    mechanism_bowl(&m, .5, -4.70283);
    CHECK_OK(mechanism_run(&m, &def, NULL, 1.4, 1.4, NULL));
    CHECK(log.count == 2);
    CHECK(log.events[0].kind == CN_EVENT_DOMAIN && log.events[1].kind == CN_EVENT_DOMAIN);
    CHECK_NEAR(log.events[0].time, .10631897, 1e-6);
    CHECK_NEAR(log.events[1].time, 1.34187123, 1e-6);
    CHECK_NEAR(m.v[0], 4.70283, 1e-6);
    CHECK_NEAR(m.v[1], 0, 1e-6);
    CHECK_NEAR(m.q[1], 0, 1e-9);

    // the force, up to right after the joint: steps of .1 us
    Force force = {0};
    def = logged(names[k % 2], 1e-11, &log);
    def.remedy = k < 2 ? CN_REMEDY_NSCD : CN_REMEDY_LCP;
    def.step_max = 1e-7;
    def.observer.context = &force;
    def.observer.point = look;
    def.observer.event = NULL;
    mechanism_bowl(&m, 4e-5, -4.70283);
    CHECK_OK(mechanism_run(&m, &def, NULL, 2e-5, 2e-5, NULL));
    CHECK(force.first_x < 0 && force.first_x > -1e-6);
    CHECK_NEAR(force.first, 9.81, 1e-6);
    CHECK_NEAR(force.after, 54.04322, 1e-6);
    CHECK_NEAR(force.worst, 0, 1e-6);

    mechanism_bowl(&m, .5, -4.70283);
    def = logged(names[k % 2], 1e-11, &log);
    double top = .10631897 + .61777613;
    CHECK_OK(mechanism_run(&m, &def, NULL, top, top, NULL));
    CHECK_NEAR(m.q[0], -1.06171946, 1e-6);
    CHECK_NEAR(m.v[0], 0, 1e-5);
  }
}

// Fig. 7a: off the table, slowly over the edge and fast past it.
static void edge(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    Mechanism m;
    Log log;
    CnIntegratorDef def = logged(names[k % 2], 1e-11, &log);
    def.remedy = k < 2 ? CN_REMEDY_NSCD : CN_REMEDY_LCP;
    mechanism_edge(&m, -.05, .5);
    CHECK_OK(mechanism_run(&m, &def, NULL, .1 + .11681551, .1 + .11681551, NULL));
    CHECK(log.count >= 1 && log.events[0].kind == CN_EVENT_DOMAIN);
    CHECK_NEAR(log.events[0].time, .1, 1e-9);
    CHECK_NEAR(m.q[0], .06596032, 1e-6);
    CHECK_NEAR(m.q[1], .07516140, 1e-6);
    CHECK_NEAR(cni_atan2(m.q[0], m.q[1]), .72029072, 1e-6);
    mechanism_edge(&m, -.05, .5);
    def = logged(names[k % 2], 1e-11, &log);
    def.remedy = k < 2 ? CN_REMEDY_NSCD : CN_REMEDY_LCP;
    CHECK_OK(mechanism_run(&m, &def, NULL, .3, .3, NULL));
    CHECK(log.count == 2 && log.events[1].kind == CN_EVENT_RELEASE);
    CHECK_NEAR(log.events[1].time, .1 + .11681551, 1e-6);

    // fast: at once
    def = logged(names[k % 2], 1e-11, &log);
    def.remedy = k < 2 ? CN_REMEDY_NSCD : CN_REMEDY_LCP;
    mechanism_edge(&m, -.05, 2);
    CHECK_OK(mechanism_run(&m, &def, NULL, .125, .125, NULL));
    CHECK_NEAR(m.q[0], .2, 1e-9);
    CHECK_NEAR(m.q[1], .1 - 9.81 * .1 * .1 / 2, 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grazing),     cmocka_unit_test(bouncing_ball),
      cmocka_unit_test(event_limit), cmocka_unit_test(cradle),
      cmocka_unit_test(housner),     cmocka_unit_test(housner_ratio),
      cmocka_unit_test(stick_slip),  cmocka_unit_test(bowl),
      cmocka_unit_test(edge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
