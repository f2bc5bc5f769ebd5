// SPDX-License-Identifier: Apache-2.0
// simplex: random step problems, redundant and badly scaled ones, pyramids, contradicting joints,
// warm starts, the same bits twice. Residuals are those of the certificate, or of the pyramid
// problem where there is friction.
#include "check.h"
#include "complementarity.h"
#include "core/vec.h"
#include "scenes.h"
#include "solver/pivots/simplex.h"
#include "solving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double error_of(const CnSolveReport *report) {
  return report->facets > 0 ? report->pyramid_residual : report->certificate.residual;
}

// Solve twice from zero; the bits must agree.
static CnSolveReport solve_facets(CnProblem *p, int32_t facets, CnAnswer *answer) {
  CnSolverDef def = cn_solver_def_default("simplex");
  def.facets = facets;
  CnAnswer again = answer_for(p);
  *answer = answer_for(p);
  CnSolveReport report = solve_def(&def, p, answer);
  solve_def(&def, p, &again);
  CHECK(memcmp(answer->g, again.g, (size_t)p->row_count * sizeof *again.g) == 0);
  cn_answer_release(&again);
  return report;
}

static void expect_solved(CnProblem *p, int32_t facets) {
  CnAnswer answer;
  CnSolveReport report = solve_facets(p, facets, &answer);
  CHECK_NEAR(error_of(&report), 0, 1e-10);
  CHECK(report.outcome == CN_OUTCOME_FINISHED && report.converged);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

// ---- random problems ----

static void random_scenes(void **state) {
  (void)state;
  CniRng rng = {2005};
  for (int32_t i = 0; i < 500; i++) {
    RandomProblem how = random_problem_default();
    how.group_count = 4 + i % 12;
    how.block_count = 4 + i % 23;
    how.friction = CN_FRICTION_CONVEX;
    how.compliant = i % 2;
    how.kinds = 1u << CN_BLOCK_BILATERAL | 1u << CN_BLOCK_UNILATERAL | 1u << CN_BLOCK_INTERVAL;
    if (i % 3 == 0) how.kinds |= 1u << CN_BLOCK_FRICTION_2D | 1u << CN_BLOCK_FRICTION;
    expect_solved(random_problem(&rng, &how), i % 4 == 0 ? 4 : i % 4 == 1 ? 16 : 8);
  }
}

// The explicit form of the same problems has the same velocities.
static void forms(void **state) {
  (void)state;
  CniRng rng = {11};
  for (int32_t i = 0; i < 20; i++) {
    RandomProblem how = random_problem_default();
    how.friction = CN_FRICTION_CONVEX;
    how.kinds = 1u << CN_BLOCK_BILATERAL | 1u << CN_BLOCK_UNILATERAL | 1u << CN_BLOCK_INTERVAL |
                1u << CN_BLOCK_FRICTION;
    CnProblem *p = random_problem(&rng, &how), *w;
    CHECK_OK(cn_problem_to_explicit(p, &w));
    CnAnswer a, b;
    solve_facets(p, 8, &a);
    solve_facets(w, 8, &b);
    for (int32_t k = 0; k < p->row_count; k++) CHECK_NEAR(a.u[k], b.u[k], 1e-10);
    cn_answer_release(&a);
    cn_answer_release(&b);
    cn_problem_destroy(p);
    cn_problem_destroy(w);
  }
}

// Small problems with known solvability: semidefinite W of any rank, ties.
static void degenerate(void **state) {
  (void)state;
  CniRng rng = {6};
  for (int32_t i = 0; i < 300; i++) {
    SmallLcp lcp = small_random(&rng, SMALL_DEGENERATE, 2 + i % 9);
    for (int32_t r = 0; r < lcp.size; r++) // the symmetric part of it
      for (int32_t c = 0; c < r; c++)
        lcp.w[r * lcp.size + c] = lcp.w[c * lcp.size + r] =
            (lcp.w[r * lcp.size + c] + lcp.w[c * lcp.size + r]) / 2;
    CnProblem *p = small_problem(&lcp);
    CnAnswer answer;
    CnSolveReport report = solve_facets(p, 8, &answer);
    if (small_solvable(&lcp))
      CHECK(small_error(&lcp, answer.g) <= 1e-10);
    else
      CHECK(report.outcome == CN_OUTCOME_INFEASIBLE && report.infeasible_count > 0);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
}

// ---- redundant problems ----

static int32_t add_body(CnProblem *p, double mass, double size, double fall) {
  CnGroupDef def = cn_group_def_default();
  int32_t group;
  double j = 6 / (mass * size * size);
  def.inv_mass = mass > 0 ? 1 / mass : 0;
  if (mass > 0) def.inv_inertia = cn_sdiag(j, j, j);
  if (mass > 0) def.free.velocity.z = -fall;
  CHECK_OK(cn_problem_add_group(p, &def, &group));
  return group;
}

static CnProblem *empty(void) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p;
  def.friction = CN_FRICTION_CONVEX;
  CHECK_OK(cn_problem_create(&def, &p));
  return p;
}

static int32_t add_set(CnProblem *p, CnBlockKind kind, double mu) {
  CnSet set = cn_set_default(kind);
  int32_t index;
  set.mu = mu;
  CHECK_OK(cn_problem_add_set(p, &set, &index));
  return index;
}

static void add_contact(CnProblem *p, int32_t set, int32_t a, int32_t b, CnVec3 arm_a,
                        CnVec3 arm_b) {
  CnPairDef def = cn_pair_def_default();
  const double zero[3] = {0, 0, 0};
  def.group_a = a;
  def.group_b = b;
  def.normal = cn_vec3(0, 0, 1);
  def.arm_a = arm_a;
  def.arm_b = arm_b;
  CHECK_OK(cn_problem_add_pair(p, set, p->sets[set].kind == CN_BLOCK_UNILATERAL ? 1 : 3, &def, zero,
                               NULL));
}

// A box on `points` points of the ground, frictionless or with pyramids: rank 3 or 6.
static CnProblem *box_on_points(int32_t points, double mu, CniRng *rng) {
  CnProblem *p = empty();
  int32_t ground = add_body(p, 0, 1, 0), box = add_body(p, 3, .4, .0981);
  int32_t set = add_set(p, mu > 0 ? CN_BLOCK_FRICTION : CN_BLOCK_UNILATERAL, mu);
  for (int32_t i = 0; i < points; i++) {
    CnVec3 arm = cn_vec3(cni_rng_range(rng, -.2, .2), cni_rng_range(rng, -.2, .2), -.1);
    add_contact(p, set, ground, box, cn_vec3(0, 0, 0), arm);
  }
  return p;
}

// A table on eight legs standing in a circle.
static CnProblem *table(int32_t legs, double mu, double push) {
  CnProblem *p = empty();
  int32_t ground = add_body(p, 0, 1, 0), top = add_body(p, 8, 1, .0981);
  int32_t set = add_set(p, mu > 0 ? CN_BLOCK_FRICTION : CN_BLOCK_UNILATERAL, mu);
  p->groups[top].v.x = push;
  for (int32_t i = 0; i < legs; i++) {
    double a = 2 * 3.141592653589793 * i / legs;
    add_contact(p, set, ground, top, cn_vec3(0, 0, 0), cn_vec3(.5 * cos(a), .5 * sin(a), -.7));
  }
  return p;
}

// Bilateral and unilateral rows, each given twice with different lengths: rank half.
static CnProblem *half_rank(CniRng *rng) {
  CnProblem *p = empty();
  add_body(p, 0, 1, 0);
  int32_t bodies = 6,
          sets[2] = {add_set(p, CN_BLOCK_BILATERAL, 0), add_set(p, CN_BLOCK_UNILATERAL, 0)};
  for (int32_t i = 0; i < bodies; i++) add_body(p, 1 + i, .3, cni_rng_range(rng, -1, 1));
  for (int32_t i = 0; i < 10; i++) {
    double c[12], b = cni_rng_range(rng, -.1, .1);
    for (int32_t k = 0; k < 12; k++) c[k] = cni_rng_range(rng, -1, 1);
    int32_t first = 1 + i % bodies, second = 1 + (i + 1) % bodies;
    for (int32_t twin = 0; twin < 2; twin++) {
      double f = twin ? 2.5 : 1, side = f * b;
      CnRowEntry entries[2] = {
          {0, first, {{f * c[0], f * c[1], f * c[2]}, {f * c[3], f * c[4], f * c[5]}}},
          {0, second, {{f * c[6], f * c[7], f * c[8]}, {f * c[9], f * c[10], f * c[11]}}}};
      CHECK_OK(cn_problem_add_rows(p, sets[i % 2], 1, entries, 2, &side, NULL));
    }
  }
  return p;
}

static void redundant(void **state) {
  (void)state;
  CniRng rng = {100};
  for (int32_t i = 0; i < 40; i++) expect_solved(box_on_points(100, 0, &rng), 8);
  for (int32_t i = 0; i < 30; i++) expect_solved(box_on_points(12, .4, &rng), i % 2 ? 8 : 4);
  for (int32_t i = 0; i < 30; i++) expect_solved(table(8, i % 2 ? .3 : 0, .02 * i), 8);
  for (int32_t i = 0; i < 100; i++) expect_solved(half_rank(&rng), 8);
}

// ---- stacks ----

// Boxes on four points each, masses alternating between 1 and `ratio`; expected sums of the normal
// impulses are the weights above.
static void stack_of(int32_t count, double ratio, double mu, int32_t heavy_first) {
  CnProblem *p = empty();
  int32_t below = add_body(p, 0, 1, 0);
  int32_t set = add_set(p, mu > 0 ? CN_BLOCK_FRICTION : CN_BLOCK_UNILATERAL, mu);
  double weight[20] = {0};
  for (int32_t i = 0; i < count; i++) {
    double mass = (i % 2 == 0) == heavy_first ? ratio : 1;
    for (int32_t k = 0; k <= i; k++) weight[k] += mass * .0981;
    int32_t box = add_body(p, mass, .2, .0981);
    for (int32_t c = 0; c < 4; c++) {
      double x = c % 2 ? .1 : -.1, y = c / 2 ? .1 : -.1;
      add_contact(p, set, below, box, i == 0 ? cn_vec3(0, 0, 0) : cn_vec3(x, y, .1),
                  cn_vec3(x, y, -.1));
    }
    below = box;
  }
  CnAnswer answer;
  CnSolveReport report = solve_facets(p, 8, &answer);
  CHECK_NEAR(error_of(&report), 0, 1e-10);
  for (int32_t i = 0; i < count; i++) {
    double sum = 0;
    for (int32_t c = 0; c < 4; c++) sum += answer.g[p->blocks[4 * i + c].row];
    CHECK_REL(sum, weight[i], 1e-8);
  }
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

static void stacks(void **state) {
  (void)state;
  for (double ratio = 1; ratio < 2e6; ratio *= 100)
    for (int32_t i = 0; i < 4; i++) {
      stack_of(2, ratio, i % 2 ? .5 : 0, i / 2);
      stack_of(10, ratio, i % 2 ? .5 : 0, i / 2);
    }
}

// ---- pyramids ----

// A ball pushed in a direction between two rays: the error against the true cone falls as 1/k^2.
static void pyramid_error(void **state) {
  (void)state;
  double error[3];
  for (int32_t i = 0; i < 3; i++) {
    CnProblem *p = ball_on_ground_as(1, CNI_PAIR, CN_FRICTION_CONVEX);
    int32_t facets = 4 << i;
    CnVec3 *v = &p->groups[1].v;
    double angle = 3.141592653589793 / facets; // the worst direction
    v->x = cos(angle);
    v->y = sin(angle);
    CnAnswer answer;
    CnSolveReport report = solve_facets(p, facets, &answer);
    CHECK(report.facets == facets && report.converged && report.friction == CN_FRICTION_CONVEX);
    error[i] = report.certificate.residual;
    CHECK(error[i] > 1e-4);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
  for (int32_t i = 0; i < 2; i++) CHECK(error[i] / error[i + 1] > 3 && error[i] / error[i + 1] < 6);
}

// ---- contradictions ----

// Two motors that want different speeds of one slider: their rows are named.
static void contradiction(void **state) {
  (void)state;
  CnProblem *p = empty();
  add_body(p, 0, 1, 0);
  int32_t body = add_body(p, 1, .2, 0), set = add_set(p, CN_BLOCK_BILATERAL, 0);
  const double b[] = {-1, -2, .5};
  for (int32_t i = 0; i < 3; i++) {
    CnRowEntry entry = {0, body, {{i < 2, i == 2, 0}, {0, 0, 0}}};
    CHECK_OK(cn_problem_add_rows(p, set, 1, &entry, 1, &b[i], NULL));
  }
  CnAnswer answer;
  CnSolveReport report = solve_facets(p, 8, &answer);
  CHECK(report.outcome == CN_OUTCOME_INFEASIBLE && !report.converged);
  CHECK(report.infeasible_count == 1 && report.infeasible_rows[0] < 2);
  CHECK_NEAR(answer.u[2], 0, 1e-14); // the others hold
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

// ---- warm starts and the log ----

static void warm(void **state) {
  (void)state;
  CniRng rng = {8};
  const CnAllocator a = cn_allocator_default();
  CnProblem *p = box_on_points(30, .3, &rng);
  CniSimplexRows rows;
  CniSimplex simplex = {.allocator = a};
  CniSimplexWalk cold, hot, cut;
  CHECK_OK(cni_simplex_rows(p, 8, &a, &rows));
  double *g = calloc((size_t)rows.row_count, sizeof *g),
         *v = calloc((size_t)rows.v_count, sizeof *v);
  CHECK_OK(cni_simplex_walk(&simplex, &rows, 10000, NULL, g, v, &cold));
  CHECK(cold.finished && cold.pivots >= 3);
  // the log holds every switch
  int32_t switches = 0;
  for (int32_t i = 0; i < simplex.log_count; i++)
    switches += simplex.log[i].event == CNI_SIMPLEX_ON || simplex.log[i].event == CNI_SIMPLEX_OFF ||
                simplex.log[i].event == CNI_SIMPLEX_HELD;
  CHECK(switches >= cold.pivots);
  // from the solution nothing has to be switched
  CHECK_OK(cni_simplex_walk(&simplex, &rows, 10000, NULL, g, v, &hot));
  CHECK(hot.finished && hot.pivots == 0);
  // a limit of pivots is kept and said
  memset(g, 0, (size_t)rows.row_count * sizeof *g);
  CHECK_OK(cni_simplex_walk(&simplex, &rows, 1, NULL, g, v, &cut));
  CHECK(!cut.finished && cut.pivots == 1);
  free(g);
  free(v);
  cni_simplex_rows_release(&rows);
  cni_simplex_release(&simplex);
  cn_problem_destroy(p);
}

// Wherever a limit of pivots ends the walk, the velocities are those of the impulses.
static void cut_walks(void **state) {
  (void)state;
  CniRng rng = {9};
  CnProblem *p = box_on_points(30, .3, &rng);
  CnAnswer answer = answer_for(p), expected = answer_for(p);
  for (int32_t limit = 1; limit < 12; limit++) {
    CnSolverDef def = cn_solver_def_default("simplex");
    def.max_iterations = limit;
    for (int32_t i = 0; i < p->row_count; i++) answer.g[i] = i % 3 ? 0 : cni_rng_range(&rng, 0, 10);
    for (int32_t i = 0; i < answer.velocity_count; i++) answer.v[i] = 1e30;
    solve_def(&def, p, &answer);
    cni_problem_apply(p, answer.g, expected.v);
    for (int32_t i = 0; i < answer.velocity_count; i++)
      CHECK_NEAR(answer.v[i], expected.v[i], 1e-9);
  }
  cn_answer_release(&answer);
  cn_answer_release(&expected);
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_scenes), cmocka_unit_test(forms),  cmocka_unit_test(degenerate),
      cmocka_unit_test(redundant),     cmocka_unit_test(stacks), cmocka_unit_test(pyramid_error),
      cmocka_unit_test(contradiction), cmocka_unit_test(warm),   cmocka_unit_test(cut_walks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
