// SPDX-License-Identifier: Apache-2.0
// The linear algebra of many bodies: a chain of beads on rods, once as dense matrices and once by
// velocity groups, gives the same accelerations, motions and refusals; by groups nothing of the
// square of its length is asked for.
#include "alloc.h"
#include "check.h"

#include <cairn/cairn.h>
#include <string.h>

#define BEADS 120

// Beads of mass 1 + i/10 on rods of length one, the first at the origin; one rod more than once.
typedef struct Chain {
  int32_t beads, grouped, twice;
  int32_t shift; // constraints are counted from this rod on: an order that is not that of the beads
  CnEquations equations;
  CnSystem system;
  double q[3 * BEADS], v[3 * BEADS];
} Chain;

static int32_t rod_of(const Chain *c, int32_t constraint) {
  if (constraint >= c->beads) return c->beads / 2;
  return (constraint * 7 + c->shift) % c->beads; // 7 and the number of beads have no divisor
}

static double mass_of(int32_t bead) { return 1 + 0.1 * bead; }

static CnStatus mass(void *context, double t, const double *q, double *m) {
  const Chain *c = context;
  int32_t n = 3 * c->beads, size = c->grouped ? 3 : n;
  (void)t;
  (void)q;
  memset(m, 0, (size_t)(n * size) * sizeof *m);
  for (int32_t i = 0; i < n; i++) m[i * size + (c->grouped ? i % 3 : i)] = mass_of(i / 3);
  return CN_OK;
}

static CnStatus force(void *context, double t, const double *q, const double *v, double *f) {
  const Chain *c = context;
  (void)t;
  (void)q;
  (void)v;
  for (int32_t i = 0; i < 3 * c->beads; i++) f[i] = i % 3 == 2 ? -9.81 * mass_of(i / 3) : 0;
  return CN_OK;
}

// Along the rod of a constraint.
static double along(const double *x, int32_t rod, double axis[3]) {
  double length = 0;
  for (int k = 0; k < 3; k++) {
    axis[k] = x[3 * rod + k] - (rod > 0 ? x[3 * rod - 3 + k] : 0);
    length += axis[k] * axis[k];
  }
  length = sqrt(length);
  for (int k = 0; k < 3; k++) axis[k] /= length;
  return length;
}

static CnStatus gaps(void *context, double t, const double *q, double *g) {
  const Chain *c = context;
  double axis[3];
  (void)t;
  for (int32_t i = 0; i < c->beads + c->twice; i++) g[i] = along(q, rod_of(c, i), axis) - 1;
  return CN_OK;
}

static CnStatus jacobian(void *context, double t, const double *q, const int32_t *rows,
                         int32_t count, double *j, double *rate) {
  const Chain *c = context;
  (void)t;
  (void)rate;
  if (!c->grouped) memset(j, 0, (size_t)(count * 3 * c->beads) * sizeof *j);
  for (int32_t i = 0; i < count; i++) {
    int32_t rod = rod_of(c, rows[i]);
    double axis[3], *low = c->grouped ? j : j + 3 * (rod > 0 ? rod - 1 : 0), *high = low;
    along(q, rod, axis);
    if (rod > 0) high += 3;
    for (int k = 0; k < 3; k++) {
      if (rod > 0) low[k] = -axis[k];
      high[k] = axis[k];
    }
    j = c->grouped ? high + 3 : j + 3 * c->beads;
  }
  return CN_OK;
}

static int32_t groups(void *context, int32_t constraint, int32_t *list) {
  int32_t rod = rod_of(context, constraint), count = 0;
  if (rod > 0) list[count++] = rod - 1;
  list[count++] = rod;
  return count;
}

static CnStatus done(void *context, double t, const double *q, const double *v,
                     const CnAnswer *answer) {
  Chain *c = context;
  (void)t;
  (void)answer;
  memcpy(c->q, q, (size_t)(3 * c->beads) * sizeof *q);
  memcpy(c->v, v, (size_t)(3 * c->beads) * sizeof *v);
  return CN_OK;
}

// Straight and slanting, turning about the origin as one.
static void chain(Chain *c, int32_t beads, int grouped, int twice) {
  memset(c, 0, sizeof *c);
  c->beads = beads;
  c->grouped = grouped;
  c->twice = twice;
  c->shift = 3;
  c->equations = (CnEquations){.bilateral_count = beads + twice,
                               .mass = mass,
                               .force = force,
                               .gaps = gaps,
                               .jacobian = jacobian,
                               .group_size = grouped ? 3 : 0,
                               .groups = grouped ? groups : NULL};
  c->system = (CnSystem){.context = c,
                         .q_count = 3 * beads,
                         .v_count = 3 * beads,
                         .done = done,
                         .equations = &c->equations};
  for (int32_t i = 0; i < beads; i++) {
    c->q[3 * i] = 0.8 * (i + 1);
    c->q[3 * i + 2] = -0.6 * (i + 1);
    c->v[3 * i + 1] = 0.05 * (i + 1);
  }
}

static void accelerations_agree(void **state) {
  (void)state;
  static Chain dense, grouped;
  static double a[2][3 * BEADS], multipliers[2][BEADS];
  CnAllocator allocator = cn_allocator_default();
  int32_t rows[BEADS];
  for (int32_t i = 0; i < BEADS; i++) rows[i] = i;
  for (int32_t beads = 1; beads < BEADS; beads += 56) { // below and above the least sparse one
    chain(&dense, beads, 0, 0);
    chain(&grouped, beads, 1, 0);
    CHECK_OK(cn_equations_accelerations(&dense.system, &allocator, 0, dense.q, dense.v, rows, beads,
                                        a[0], multipliers[0]));
    CHECK_OK(cn_equations_accelerations(&grouped.system, &allocator, 0, grouped.q, grouped.v, rows,
                                        beads, a[1], multipliers[1]));
    for (int32_t i = 0; i < 3 * beads; i++) CHECK_NEAR(a[1][i], a[0][i], 1e-9);
    for (int32_t i = 0; i < beads; i++)
      CHECK_NEAR(multipliers[1][i], multipliers[0][i], 1e-11 * (1 + fabs(multipliers[0][i])));
    // what the rods demand: no acceleration along them but that of the circle
    double pull = 0;
    for (int k = 0; k < 3; k++) pull += grouped.q[k] * a[1][k] / 1;
    CHECK_NEAR(pull, -0.05 * 0.05, 1e-9);
  }
}

// A rod that is there twice is left out, whatever the order, and the motion is that without it.
static void dependent_rows(void **state) {
  (void)state;
  static Chain c[4];
  for (int k = 0; k < 4; k++) {
    chain(&c[k], 100, k & 1, k >> 1);
    CnIntegratorDef def = cn_integrator_def_default("hem5");
    CnIntegrator *integrator;
    def.tolerance = 1e-9;
    def.project_start = 1;
    CHECK_OK(cn_integrator_create(&def, &integrator));
    CHECK_OK(cn_integrator_step(integrator, &c[k].system, NULL, 0, c[k].q, c[k].v, .02, NULL));
    cn_integrator_destroy(integrator);
    for (int32_t i = 0; i < 300; i++) CHECK_NEAR(c[k].q[i], c[0].q[i], 1e-10);
  }
}

// Nothing of the size of the square, and nothing at all in the second call.
static void memory(void **state) {
  (void)state;
  static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};
  static Chain c;
  for (int k = 0; k < 3; k++) {
    TestAlloc alloc;
    test_alloc_init(&alloc);
    CnIntegratorDef def = cn_integrator_def_default(names[k]);
    CnSolverDef solver_def = cn_solver_def_default("auto");
    solver_def.effort = CN_EFFORT_EXACT;
    CnIntegrator *integrator;
    CnSolver *solver;
    def.allocator = test_alloc_hook(&alloc);
    chain(&c, 113, 1, 0);
    CHECK_OK(cn_solver_create(&solver_def, &solver));
    CHECK_OK(cn_integrator_create(&def, &integrator));
    CHECK_OK(cn_integrator_step(integrator, &c.system, solver, 0, c.q, c.v, 1e-3, NULL));
    int64_t count = alloc.allocation_count;
    CHECK_OK(cn_integrator_step(integrator, &c.system, solver, 0, c.q, c.v, 1e-3, NULL));
    CHECK(alloc.allocation_count == count);
    cn_integrator_destroy(integrator);
    cn_solver_destroy(solver);
    test_alloc_check_clean(&alloc);
  }
}

static int32_t wrong_groups(void *context, int32_t constraint, int32_t *list) {
  int32_t count = groups(context, constraint, list);
  if (constraint == 5) list[0] = 1000;
  return count;
}

static void refused(void **state) {
  (void)state;
  static Chain c;
  static double a[3 * BEADS];
  CnAllocator allocator = cn_allocator_default();
  int32_t rows[] = {4, 5};
  chain(&c, 20, 1, 0);
  c.equations.groups = wrong_groups;
  CHECK_STATUS(cn_equations_accelerations(&c.system, &allocator, 0, c.q, c.v, rows, 2, a, NULL),
               CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "constraint 5") != NULL);
  c.equations.groups = NULL;
  CHECK_STATUS(cn_equations_accelerations(&c.system, &allocator, 0, c.q, c.v, rows, 2, a, NULL),
               CN_INVALID_ARGUMENT);
  chain(&c, 20, 1, 0);
  c.equations.group_size = 7;
  CHECK_STATUS(cn_equations_accelerations(&c.system, &allocator, 0, c.q, c.v, rows, 2, a, NULL),
               CN_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(accelerations_agree),
                                     cmocka_unit_test(dependent_rows), cmocka_unit_test(memory),
                                     cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
