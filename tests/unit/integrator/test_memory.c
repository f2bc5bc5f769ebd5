// SPDX-License-Identifier: Apache-2.0
// Memory of the integrators that work with equations: every allocation fails once and leaves
// nothing behind; after the first call a call allocates nothing.
#include "alloc.h"
#include "check.h"
#include "mechanisms.h"

static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};

static CnSolver *make_solver(const CnAllocator *hook) {
  CnSolverDef def = cn_solver_def_default("auto");
  def.effort = CN_EFFORT_EXACT;
  CnSolver *solver = NULL;
  def.allocator = *hook;
  return cn_solver_create(&def, &solver) == CN_OK ? solver : NULL;
}

// Events of all kinds that need memory: impacts with friction, a stick contact, accumulation.
static CnStatus run_all(CnIntegrator *integrator, CnSolver *solver, double h) {
  Mechanism m;
  mechanism_housner(&m, .1, .3);
  CnStatus status = cn_integrator_step(integrator, &m.system, solver, 0, m.q, m.v, h, NULL);
  if (status != CN_OK) return status;
  mechanism_ball(&m, .01, .5);
  status = cn_integrator_step(integrator, &m.system, solver, 0, m.q, m.v, h, NULL);
  if (status != CN_OK) return status;
  mechanism_four_bar(&m);
  return cn_integrator_step(integrator, &m.system, solver, 0, m.q, m.v, h, NULL);
}

static void failures(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    TestAlloc alloc;
    test_alloc_init(&alloc);
    CnAllocator hook = test_alloc_hook(&alloc);
    for (int64_t n = 1;; n++) {
      test_alloc_fail_at(&alloc, n);
      CnIntegratorDef def = cn_integrator_def_default(names[k]);
      def.allocator = hook;
      CnIntegrator *integrator = NULL;
      CnSolver *solver = make_solver(&hook);
      CnStatus status = cn_integrator_create(&def, &integrator);
      if (status == CN_OK && solver) status = run_all(integrator, solver, k == 2 ? 1e-3 : .6);
      cn_integrator_destroy(integrator);
      cn_solver_destroy(solver);
      test_alloc_check_clean(&alloc);
      if (!alloc.failed_count) {
        CHECK_OK(status);
        break;
      }
      if (solver) CHECK_FAILED(status, CN_NO_MEMORY);
      CHECK(n < 1000);
    }
  }
}

static void warm(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    TestAlloc alloc;
    test_alloc_init(&alloc);
    CnAllocator hook = test_alloc_hook(&alloc);
    CnIntegratorDef def = cn_integrator_def_default(names[k]);
    def.allocator = hook;
    CnIntegrator *integrator;
    CnSolver *solver = make_solver(&hook);
    CHECK_OK(cn_integrator_create(&def, &integrator));
    CHECK_OK(run_all(integrator, solver, k == 2 ? 1e-3 : .6));
    int64_t count = alloc.allocation_count;
    CHECK_OK(run_all(integrator, solver, k == 2 ? 1e-3 : .6));
    CHECK(alloc.allocation_count == count);
    cn_integrator_destroy(integrator);
    cn_solver_destroy(solver);
    test_alloc_check_clean(&alloc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(failures), cmocka_unit_test(warm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
