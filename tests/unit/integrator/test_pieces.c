// SPDX-License-Identifier: Apache-2.0
// Where pieces of a surface meet (Haddouni et al. 2013, section 4): the singular system printed
// there and its complementarity problem, and what the complementarity problem does when the pieces
// have no domains.
#include "check.h"
#include "mechanisms.h"

#include <string.h>

#include "integrator/events/drive.h"

typedef struct Tools {
  CniMotion motion;
  CniClash clash;
  CnSolver *solver;
} Tools;

static void tools_begin(Tools *tools, const Mechanism *m) {
  static const int32_t rows[2] = {0, 1};
  CnAllocator allocator = cn_allocator_default();
  cni_motion_init(&tools->motion, &allocator);
  CHECK_OK(cni_clash_init(&tools->clash, &allocator));
  CHECK_OK(cni_clash_solver("lemke", &allocator, &tools->solver));
  CHECK_OK(cni_motion_begin(&tools->motion, &m->system));
  CHECK_OK(cni_motion_set_rows(&tools->motion, rows, NULL, 2));
  CHECK_OK(cni_motion_mass(&tools->motion, 0, m->q));
}

static void tools_end(Tools *tools) {
  cn_solver_destroy(tools->solver);
  cni_clash_release(&tools->clash);
  cni_motion_release(&tools->motion);
}

// M a - D^T L = F, 0 <= H a - r _|_ L >= 0 (2013, eq. 13); a = F and l = r on entry.
static void stage_lcp(Tools *tools, const double *columns, const double *rows_of, double *a,
                      double *l) {
  CniMotion *m = &tools->motion;
  CniClash *clash = &tools->clash;
  CnSolveReport report;
  cni_motion_mass_solve(m, a);
  CHECK_OK(cni_clash_begin(clash, m, columns, rows_of));
  for (int32_t i = 0; i < m->active; i++) {
    clash->q[i] = cni_motion_row(m, rows_of, i, -l[i], a);
    cni_clash_block(clash, CN_BLOCK_UNILATERAL, 1, 0);
  }
  CHECK_OK(cni_clash_solve(clash, tools->solver, &report));
  CHECK(report.certificate.error_siconos <= 1e-8);
  for (int32_t i = 0; i < m->active; i++) l[i] = clash->answer.g[i];
  cni_motion_push(m, l, a);
}

// Coordinates (z, x): stage positions before and behind the joint.
static void printed_system(void **state) {
  (void)state;
  static const double columns[4] = {1, 0, 1, 0}, rows_of[4] = {1, 0, 1, 6.65031e-5};
  Mechanism m;
  Tools tools;
  mechanism_bowl(&m, 0, -4.70283);
  tools_begin(&tools, &m);
  double a[2] = {-9.81, 0}, multipliers[2] = {-3.62238e-2, 4.41971e1};
  CHECK_STATUS(cni_motion_solve(&tools.motion, 0, columns, rows_of, a, multipliers), CN_STOPPED);
  CHECK(strstr(cn_error_message(), "singular (2 active rows") != NULL);

  double b[2] = {-9.81, 0}, l[2] = {-3.62238e-2, 4.41971e1};
  stage_lcp(&tools, columns, rows_of, b, l);
  CHECK_NEAR(l[0], 0, 1e-12);
  CHECK_NEAR(l[1], 54.0071, 1e-10);
  CHECK_NEAR(b[0], 44.1971, 1e-10);
  CHECK_NEAR(b[1], 0, 1e-12);
  tools_end(&tools);
}

// Forces of both pieces at the joint, without domains.
static void forces_at_joint(const Mechanism *m, double *multipliers) {
  Tools tools;
  double a[2], jacobian[4], rate[2];
  tools_begin(&tools, m);
  CHECK_OK(cni_motion_curvature(&tools.motion, 0, m->q, m->v, multipliers));
  multipliers[0] = -multipliers[0];
  multipliers[1] = -multipliers[1];
  CHECK_OK(cni_motion_jacobian(&tools.motion, 0, m->q, jacobian, rate));
  CHECK_OK(m->equations.force(tools.motion.system->context, 0, m->q, m->v, a));
  stage_lcp(&tools, jacobian, jacobian, a, multipliers);
  tools_end(&tools);
}

// It takes the intersection of the constraints: right on the way into the bowl, wrong on the way
// out (the floor carries, not the parabola that goes on beyond it) and at the edge of a table (the
// table's plane goes on for ever).
static void without_domains(void **state) {
  (void)state;
  Mechanism m;
  double l[2];
  mechanism_bowl(&m, 0, -4.70283);
  forces_at_joint(&m, l);
  CHECK_NEAR(l[0], 0, 1e-12);
  CHECK_NEAR(l[1], 9.81 + 2 * 4.70283 * 4.70283, 1e-10);
  mechanism_bowl(&m, 0, 4.70283);
  forces_at_joint(&m, l);
  CHECK_NEAR(l[0], 0, 1e-12); // the truth is 9.81
  CHECK_NEAR(l[1], 9.81 + 2 * 4.70283 * 4.70283, 1e-10);
  for (int i = 0; i < 2; i++) {
    double speed = i ? 2 : .5;
    mechanism_edge(&m, 0, speed);
    forces_at_joint(&m, l);
    CHECK_NEAR(l[0], 9.81, 1e-7); // the truth is 0: the edge carries, or nothing
    CHECK_NEAR(l[1], 0, 1e-7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(printed_system),
                                     cmocka_unit_test(without_domains)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
