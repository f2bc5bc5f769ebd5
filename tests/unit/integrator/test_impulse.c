// SPDX-License-Identifier: Apache-2.0
// The impulse scheme on systems made of callbacks: a bead on a wire whose constraint is a block of
// rows, free fall, and steps that fail and must leave no trace.
#include <cairn/system.h>

#include "alloc.h"
#include "check.h"
#include "core/error.h"

#include <string.h>

// A bead of mass m on the unit circle in the x-z plane: q = (x, y, z), one velocity group whose
// spin is prescribed to zero. Constraint c = (|q|^2 - 1)/2 with row q, b = kappa c/h.
typedef struct Bead {
  double q[3], v[6], t;
  CnProblem *problem;
  CnAnswer answer;
  double g_last; // N s
  int free;      // no wire
  int refuses;   // done fails
  int detect_count, done_count;
  CnStatus fail_detect, fail_problem;
  double poison;   // added to the free velocity
  int contradicts; // the wire is twice there, with two lengths
  int again_count;
} Bead;

static CnStatus bead_detect(void *context, double t, const double *q, const double *v, double h) {
  Bead *bead = context;
  (void)t, (void)q, (void)v, (void)h;
  bead->detect_count++;
  return bead->fail_detect;
}

static CnStatus bead_problem(void *context, double t, const double *q, const double *v, double h,
                             CnProblem **problem, CnAnswer **answer) {
  Bead *bead = context;
  (void)t;
  if (bead->fail_problem != CN_OK) return bead->fail_problem;
  cn_problem_clear(bead->problem);
  CnGroupDef group = cn_group_def_default();
  group.inv_mass = 1;
  group.inv_inertia = (CnSym3){1, 1, 1, 0, 0, 0};
  group.old.velocity = (CnVec3){v[0], v[1], v[2]};
  group.free.velocity = (CnVec3){v[0] + bead->poison, v[1], v[2] - 9.81 * h};
  int32_t index, set, block;
  CHECK_OK(cn_problem_add_group(bead->problem, &group, &index));
  if (!bead->free) {
    CnSet bilateral = cn_set_default(CN_BLOCK_BILATERAL);
    CHECK_OK(cn_problem_add_set(bead->problem, &bilateral, &set));
    double c = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1) / 2, b = 0.5 * c / h;
    CnRowEntry entry = {0, index, {{q[0], q[1], q[2]}, {0, 0, 0}}};
    CHECK_OK(cn_problem_add_rows(bead->problem, set, 1, &entry, 1, &b, &block));
    b += 1;
    if (bead->contradicts)
      CHECK_OK(cn_problem_add_rows(bead->problem, set, 1, &entry, 1, &b, &block));
  }
  CHECK_OK(cn_answer_fit(&bead->answer, bead->problem));
  if (!bead->free) bead->answer.g[0] = bead->g_last;
  *problem = bead->problem;
  *answer = &bead->answer;
  return CN_OK;
}

static void bead_advance(void *context, const double *q, const double *v, double h, double *q_new) {
  (void)context;
  for (int i = 0; i < 3; i++) q_new[i] = q[i] + h * v[i];
}

static CnStatus bead_done(void *context, double t_new, const double *q_new, const double *v_new,
                          const CnAnswer *answer) {
  Bead *bead = context;
  if (bead->refuses) return cni_error(CN_FILE, "bead: the disk is full");
  bead->t = t_new;
  memcpy(bead->q, q_new, sizeof bead->q);
  memcpy(bead->v, v_new, sizeof bead->v);
  if (answer->row_count) bead->g_last = answer->g[0];
  bead->done_count++;
  return CN_OK;
}

static CnSystem bead_start(Bead *bead) {
  *bead = (Bead){.q = {-1, 0, 0}};
  CnAllocator allocator = cn_allocator_default();
  CnProblemDef def = cn_problem_def_default();
  CHECK_OK(cn_problem_create(&def, &bead->problem));
  bead->answer = cn_answer_empty(&allocator);
  return (CnSystem){.context = bead,
                    .q_count = 3,
                    .v_count = 6,
                    .detect = bead_detect,
                    .problem = bead_problem,
                    .advance = bead_advance,
                    .done = bead_done};
}

static void bead_end(Bead *bead) {
  cn_answer_release(&bead->answer);
  cn_problem_destroy(bead->problem);
}

static CnIntegrator *make_integrator(void) {
  CnIntegratorDef def = cn_integrator_def_default("impulse");
  CnIntegrator *integrator;
  CHECK_OK(cn_integrator_create(&def, &integrator));
  return integrator;
}

static CnSolver *make_solver(void) {
  CnSolverDef def = cn_solver_def_default("psor");
  CnSolver *solver;
  def.max_iterations = 50;
  def.tolerance = 1e-14;
  CHECK_OK(cn_solver_create(&def, &solver));
  return solver;
}

// Distance from the true place of the pendulum at t = 1, after `steps` steps.
static double pendulum_error(int steps) {
  Bead bead;
  CnSystem system = bead_start(&bead);
  CnIntegrator *integrator = make_integrator();
  CnSolver *solver = make_solver();
  double h = 1.0 / steps;
  for (int i = 0; i < steps; i++) {
    CnSolveReport report;
    CHECK_OK(cn_integrator_step(integrator, &system, solver, i * h, bead.q, bead.v, h, &report));
    CHECK(report.certificate.residual_speed <= 1e-13);
  }
  CHECK(bead.done_count == steps && bead.detect_count == steps);
  CHECK_NEAR(bead.t, 1, 1e-12);
  CHECK_NEAR(bead.q[1], 0, 0);
  double dx = bead.q[0] - 0.9862917511319, dz = bead.q[2] + 0.1650108531255;
  cn_solver_destroy(solver);
  cn_integrator_destroy(integrator);
  bead_end(&bead);
  return sqrt(dx * dx + dz * dz);
}

// The exact pendulum of length 1, released level, at t = 1; first order.
static void pendulum(void **state) {
  (void)state;
  double coarse = pendulum_error(1000), fine = pendulum_error(2000), finest = pendulum_error(4000);
  CHECK(finest < 5e-3);
  CHECK_NEAR(coarse / fine, 2, 0.2);
  CHECK_NEAR(fine / finest, 2, 0.1);
}

// Free fall of semi-implicit Euler in closed form: z = -g h^2 n(n+1)/2.
static void free_fall(void **state) {
  (void)state;
  Bead bead;
  CnSystem system = bead_start(&bead);
  bead.free = 1;
  bead.v[0] = 2;
  CnIntegrator *integrator = make_integrator();
  CnSolver *solver = make_solver();
  for (int i = 0; i < 10; i++)
    CHECK_OK(cn_integrator_step(integrator, &system, solver, 0.1 * i, bead.q, bead.v, 0.1, NULL));
  CHECK_NEAR(bead.q[0], -1 + 2 * 1.0, 1e-14);
  CHECK_NEAR(bead.q[2], -9.81 * 0.01 * 55, 1e-13);
  CHECK_NEAR(bead.v[2], -9.81, 1e-13);
  cn_solver_destroy(solver);
  cn_integrator_destroy(integrator);
  bead_end(&bead);
}

// A step that fails at any stage does not reach `done`, and the next one works.
static void failures_leave_no_trace(void **state) {
  (void)state;
  Bead bead;
  CnSystem system = bead_start(&bead);
  CnIntegrator *integrator = make_integrator();
  CnSolver *solver = make_solver();
  CnSolveReport report;
  CHECK_OK(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, &report));
  Bead before = bead;

  bead.fail_detect = CN_NO_MEMORY;
  CHECK(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, &report) ==
        CN_NO_MEMORY);
  bead.fail_detect = CN_OK;
  bead.fail_problem = CN_INVALID_DATA;
  CHECK(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, &report) ==
        CN_INVALID_DATA);
  bead.fail_problem = CN_OK;
  bead.v[0] = 1e308; // the position overflows
  CHECK_STATUS(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 1e10, &report),
               CN_NOT_FINITE);
  bead.v[0] = before.v[0];
  bead.refuses = 1;
  CHECK_STATUS(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, &report),
               CN_FILE);
  bead.refuses = 0;
  system.v_count = 12; // more than the problem has
  double v[12] = {0};
  CHECK_STATUS(cn_integrator_step(integrator, &system, solver, 0, bead.q, v, 0.01, &report),
               CN_INVALID_ARGUMENT);
  system.v_count = 6;

  CHECK(bead.done_count == 1);
  CHECK(memcmp(before.q, bead.q, sizeof bead.q) == 0);
  CHECK(memcmp(before.v, bead.v, sizeof bead.v) == 0);
  CHECK_OK(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, &report));
  CHECK(bead.done_count == 2);
  cn_solver_destroy(solver);
  cn_integrator_destroy(integrator);
  bead_end(&bead);
}

static void misuse(void **state) {
  (void)state;
  Bead bead;
  CnSystem system = bead_start(&bead);
  CnIntegrator *integrator = make_integrator();
  CnSolver *solver = make_solver();
  const double bad_steps[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; i++)
    CHECK_STATUS(
        cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, bad_steps[i], NULL),
        CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_integrator_step(NULL, &system, solver, 0, bead.q, bead.v, 1, NULL),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_integrator_step(integrator, NULL, solver, 0, bead.q, bead.v, 1, NULL),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_integrator_step(integrator, &system, NULL, 0, bead.q, bead.v, 1, NULL),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_integrator_step(integrator, &system, solver, 0, NULL, bead.v, 1, NULL),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_integrator_step(integrator, &system, solver, NAN, bead.q, bead.v, 1, NULL),
               CN_INVALID_ARGUMENT);
  system.advance = NULL;
  CHECK_STATUS(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 1, NULL),
               CN_INVALID_ARGUMENT);
  CHECK(bead.done_count == 0 && bead.detect_count == 0);
  cn_solver_destroy(solver);
  cn_integrator_destroy(integrator);
  bead_end(&bead);
}

// ---- the table ----

static void table(void **state) {
  (void)state;
  int32_t count = 0;
  while (cn_integrator_name(count)) {
    CHECK(cn_integrator_summary(count) && cn_integrator_summary(count)[0]);
    CnIntegratorDef def = cn_integrator_def_default(cn_integrator_name(count));
    CnIntegrator *integrator;
    CHECK_OK(cn_integrator_create(&def, &integrator));
    cn_integrator_destroy(integrator);
    count++;
  }
  CHECK(count >= 1 && !cn_integrator_summary(count) && !cn_integrator_name(-1));

  CnIntegrator *integrator = (CnIntegrator *)&count;
  CnIntegratorDef def = cn_integrator_def_default("leapfrog");
  CHECK_STATUS(cn_integrator_create(&def, &integrator), CN_INVALID_ARGUMENT);
  CHECK(integrator == NULL);
  def = cn_integrator_def_default(NULL);
  CHECK_STATUS(cn_integrator_create(&def, &integrator), CN_INVALID_ARGUMENT);
  def = cn_integrator_def_default("impulse");
  def.tag = 0;
  CHECK_STATUS(cn_integrator_create(&def, &integrator), CN_INVALID_ARGUMENT);
  cn_integrator_destroy(NULL);
}

// Every allocation fails once: a status, nothing left behind.
static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnIntegratorDef def = cn_integrator_def_default("impulse");
  def.allocator = test_alloc_hook(&alloc);
  CnIntegrator *integrator = NULL;
  int n = 1;
  for (;; n++) {
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_integrator_create(&def, &integrator);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(integrator == NULL);
    test_alloc_check_clean(&alloc);
  }
  CHECK(n > 1);

  Bead bead;
  CnSystem system = bead_start(&bead);
  CnSolver *solver = make_solver();
  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, NULL),
               CN_NO_MEMORY);
  CHECK(bead.done_count == 0);
  test_alloc_fail_never(&alloc);
  CHECK_OK(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, NULL));
  int64_t allocations = alloc.allocation_count;
  CHECK_OK(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, NULL));
  CHECK(alloc.allocation_count == allocations);
  cn_solver_destroy(solver);
  cn_integrator_destroy(integrator);
  test_alloc_check_clean(&alloc);
  bead_end(&bead);
}

#define STAGES 1024

static CnStatus bead_again(void *context, int32_t solves, CnProblem *problem, CnAnswer *answer,
                           int32_t *again) {
  Bead *bead = context;
  (void)problem, (void)answer;
  bead->again_count++;
  *again = solves < STAGES;
  return CN_OK;
}

// A step whose solves all succeed may have as many as it asks for; one that cannot be solved has a bound on its work.
static void rounds(void **state) {
  (void)state;
  for (int contradicts = 0; contradicts < 2; contradicts++) {
    Bead bead;
    CnSystem system = bead_start(&bead);
    system.again = bead_again;
    bead.contradicts = contradicts;
    CnIntegrator *integrator = make_integrator();
    CnSolver *solver = make_solver();
    CHECK_OK(cn_integrator_step(integrator, &system, solver, 0, bead.q, bead.v, 0.01, NULL));
    CHECK(contradicts ? bead.again_count < 130 : bead.again_count == STAGES);
    cn_solver_destroy(solver);
    cn_integrator_destroy(integrator);
    bead_end(&bead);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum), cmocka_unit_test(free_fall),
      cmocka_unit_test(misuse),   cmocka_unit_test(failures_leave_no_trace),
      cmocka_unit_test(table),    cmocka_unit_test(no_memory),
      cmocka_unit_test(rounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
