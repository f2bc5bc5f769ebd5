// SPDX-License-Identifier: Apache-2.0
// What the theory of the sweeps promises: linear SOR on bilateral rows of explicit problems, a falling objective on the
// convex problem, one solution by every local method and form.
#include "check.h"
#include "reference.h"
#include "scenes.h"
#include "solving.h"
#include "solver/sweeps/small.h"
#include "core/vec.h"

#include <stdlib.h>
#include <string.h>

// ---- an independent linear SOR ----

typedef struct Dense {
  int32_t size;
  double *w;
} Dense;

static Dense dense_of(const CnProblem *p) {
  Dense d = {p->w.row_count, NULL};
  d.w = calloc((size_t)d.size * (size_t)d.size, sizeof *d.w);
  CHECK(d.w != NULL);
  for (int32_t i = 0; i < d.size; i++)
    for (int32_t e = p->w.start[i]; e < p->w.start[i + 1]; e++)
      d.w[i * d.size + p->w.column[e]] = p->w.value[e];
  return d;
}

// Relax the rows [row, row + dim) together: g <- g - lambda omega W_ii^-1 (W g + q)_i.
static void relax(const Dense *d, const double *q, int32_t row, int32_t dim, double omega,
                  double lambda, double *g) {
  double a[CNI_SMALL_SIZE], u[CNI_SMALL_DIM];
  for (int32_t i = 0; i < dim; i++) {
    u[i] = q[row + i];
    for (int32_t j = 0; j < d->size; j++) u[i] += d->w[(row + i) * d->size + j] * g[j];
    for (int32_t j = 0; j < dim; j++) a[i * dim + j] = d->w[(row + i) * d->size + row + j];
  }
  CHECK(cni_small_solve(dim, a, u));
  for (int32_t i = 0; i < dim; i++) g[row + i] -= lambda * omega * u[i];
}

static void linear_sor(const CnProblem *p, const Dense *d, const int32_t *order, int32_t iterations,
                       int back, double omega, double lambda, double *g) {
  for (int32_t k = 0; k < iterations; k++) {
    for (int32_t i = 0; i < p->block_count; i++) {
      const CniBlock *block = &p->blocks[order[i]];
      relax(d, p->b, block->row, block->dim, omega, lambda, g);
    }
    for (int32_t i = p->block_count - 1; i >= 0 && back; i--) {
      const CniBlock *block = &p->blocks[order[i]];
      relax(d, p->b, block->row, block->dim, omega, lambda, g);
    }
  }
}

static void check_sor(CnProblem *p, const char *solver, int back, double omega, double lambda) {
  CnProblem *explicit_form = NULL;
  CHECK_OK(cn_problem_to_explicit(p, &explicit_form));
  Dense d = dense_of(explicit_form);
  double *g = calloc((size_t)p->row_count, sizeof *g), size = 0;
  CnSolverDef def = cn_solver_def_default(solver);
  def.effort = CN_EFFORT_EXACT;
  def.max_iterations = 12;
  def.relaxation = omega;
  def.acceleration = lambda;
  int32_t *order = stored_order(p);
  linear_sor(explicit_form, &d, order, 12, back, omega, lambda, g);
  CnAnswer answer = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&answer, explicit_form));
  solve_def(&def, explicit_form, &answer);
  for (int32_t i = 0; i < p->row_count; i++) size = cn_max(size, fabs(g[i]));
  for (int32_t i = 0; i < p->row_count; i++) CHECK_NEAR(answer.g[i], g[i], 1e-12 * size);
  cn_answer_release(&answer);
  free(order);
  free(d.w);
  free(g);
  cn_problem_destroy(explicit_form);
  cn_problem_destroy(p);
}

static void bilateral_is_linear_sor(void **state) {
  (void)state;
  CniRng rng = {11};
  RandomProblem how = random_problem_default();
  how.kinds = 1u << CN_BLOCK_BILATERAL;
  how.block_count = 10;
  for (int32_t i = 0; i < 20; i++) {
    double omega = .6 + .06 * i, lambda = i % 3 == 0 ? .7 : 1;
    check_sor(random_problem(&rng, &how), "psor", 0, omega, lambda);
    check_sor(random_problem(&rng, &how), "pssor", 1, omega, lambda);
  }
  check_sor(chain_of_rows(8), "psor", 0, 1.4, 1);
}

// ---- the convex objective falls ----

// One sweep at a time; returns how many sweeps decreased the objective clearly.
static int32_t check_descent(CnProblem *p, const char *solver, CnLocalSolve local, double omega,
                             double lambda, int32_t sweeps) {
  CnProblem *explicit_form = NULL;
  CHECK_OK(cn_problem_to_explicit(p, &explicit_form));
  CnSolverDef def = cn_solver_def_default(solver);
  def.effort = CN_EFFORT_EXACT;
  def.max_iterations = 1;
  def.local = local;
  def.relaxation = omega;
  def.acceleration = lambda;
  CnAnswer answer = answer_for(p);
  solve_def(&def, p, &answer); // projects the start
  double before = dual_objective(explicit_form, answer.g);
  int32_t falls = 0;
  for (int32_t k = 0; k < sweeps; k++) {
    solve_def(&def, p, &answer);
    double now = dual_objective(explicit_form, answer.g), noise = 1e-14 * (1 + fabs(now));
    if (now > before + noise)
      print_error("%s, local %d, omega %g: sweep %d raised the objective by %g\n", solver,
                  (int)local, omega, (int)k, now - before);
    CHECK(now <= before + noise);
    if (now < before - noise) falls++;
    before = now;
  }
  cn_answer_release(&answer);
  cn_problem_destroy(explicit_form);
  return falls;
}

static void convex_objective_falls(void **state) {
  (void)state;
  CniRng rng = {12};
  RandomProblem how = random_problem_default();
  how.friction = CN_FRICTION_CONVEX;
  how.block_count = 24;
  how.cohesive = 0;
  static const double omegas[] = {.5, 1, 1.5, 1.95};
  for (int32_t i = 0; i < 24; i++) {
    CnProblem *p = random_problem(&rng, &how);
    const char *solver = i % 2 ? "pssor" : "psor";
    CHECK(check_descent(p, solver, CN_LOCAL_SPLIT, omegas[i % 4], i % 5 ? 1 : .8, 15) > 0);
    CHECK(check_descent(p, solver, CN_LOCAL_PROJECTION, omegas[i % 4], 1, 15) > 0);
    CHECK(check_descent(p, solver, CN_LOCAL_EXACT, 1, 1, 15) > 0);
    cn_problem_destroy(p);
  }
}

// A hub of 1 kg, J = (1e-3, .1, .1), touching the ground at the end of a crank arm of .2 m: one
// direction of the block is 2.83 times stiffer than the mean, and steps by the mean would cycle.
static CnProblem *hub(CnVec3 normal, CnVec3 tangent, CnFrictionModel friction) {
  CnProblemDef def = cn_problem_def_default();
  def.friction = friction;
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CnGroupDef ground = cn_group_def_default(), body = cn_group_def_default();
  body.inv_mass = 1;
  body.inv_inertia = cn_sdiag(1000, 10, 10);
  body.free.velocity = cn_add(cn_scale(-1, normal), cn_scale(.3, tangent));
  body.free.spin = cn_vec3(1, 2, 3);
  CnSet set = cn_set_default(CN_BLOCK_FRICTION);
  set.mu = .6;
  CnPairDef pair = cn_pair_def_default();
  pair.group_a = 0;
  pair.group_b = 1;
  pair.normal = normal;
  pair.tangent = tangent;
  pair.arm_b = cn_vec3(0, .2, 0);
  double b[3] = {0, 0, 0};
  CHECK_OK(cn_problem_add_group(p, &ground, NULL));
  CHECK_OK(cn_problem_add_group(p, &body, NULL));
  CHECK_OK(cn_problem_add_set(p, &set, NULL));
  CHECK_OK(cn_problem_add_pair(p, 0, 3, &pair, b, NULL));
  return p;
}

static void hub_with_crank_arm(void **state) {
  (void)state;
  CnVec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
  CnVec3 normals[] = {z, x, y}, tangents[] = {x, z, z};
  double n[9];
  for (int32_t i = 0; i < 3; i++) {
    CnProblem *p = hub(normals[i], tangents[i], CN_FRICTION_CONVEX);
    cni_storages[CNI_PAIR].diagonal(p, &p->blocks[0], n);
    CHECK_NEAR(3 * cni_small_lambda_max(3, n) / (n[0] + n[4] + n[8]), 3 * 41 / 43.4, 1e-12);
    for (int32_t local = CN_LOCAL_SPLIT; local <= CN_LOCAL_EXACT; local++) {
      check_descent(p, "psor", (CnLocalSolve)local, 1, 1, 40);
      if (local != CN_LOCAL_EXACT) check_descent(p, "psor", (CnLocalSolve)local, 1.9, 1, 40);
    }
    cn_problem_destroy(p);

    // and it ends, in both models
    for (int32_t m = 0; m < 2; m++) {
      p = hub(normals[i], tangents[i], m ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB);
      CnAnswer answer = solve_with("psor", p, 1e-12);
      cn_answer_release(&answer);
      cn_problem_destroy(p);
    }
  }
}

// ---- one solution ----

// Velocities of every local method against each other.
static void check_agreement(CnProblem *p, const char *solver, double omega) {
  CnAnswer answers[3];
  for (int32_t local = 0; local < 3; local++) {
    CnSolverDef def = patient_def(solver, 1e-12);
    def.local = (CnLocalSolve)local;
    def.relaxation = omega;
    answers[local] = answer_for(p);
    CnSolveReport report = solve_def(&def, p, &answers[local]);
    if (!report.converged)
      print_error("%s, local %d, %s: residual %g after %d\n", solver, (int)local,
                  cn_friction_model_name(p->friction), report.certificate.residual,
                  (int)report.iterations);
    CHECK(report.converged);
    for (int32_t i = 0; i < answers[local].velocity_count; i++)
      CHECK_NEAR(answers[local].v[i], answers[0].v[i], 1e-10);
  }
  for (int32_t local = 0; local < 3; local++) cn_answer_release(&answers[local]);
}

static void local_methods_agree(void **state) {
  (void)state;
  CniRng rng = {13};
  RandomProblem how = random_problem_default();
  how.block_count = 8;
  for (int32_t i = 0; i < 30; i++) {
    how.friction = i % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnProblem *p = random_problem(&rng, &how);
    for (int32_t k = 0; k < p->block_count && i & 2; k++)
      if (p->blocks[k].kind == CN_BLOCK_FRICTION)
        p->b[p->blocks[k].row + 1] = p->b[p->blocks[k].row + 2] = 0;
    check_agreement(p, i % 3 ? "psor" : "pssor", i % 4 ? 1 : 1.2);
    cn_problem_destroy(p);
  }
}

static void check_iterates(const CnAnswer *a, const CnAnswer *b) {
  for (int32_t k = 0; k < a->row_count; k++) {
    CHECK_NEAR(a->g[k], b->g[k], 1e-11);
    CHECK_NEAR(a->u[k], b->u[k], 1e-10);
  }
}

// The same iterates to round-off as the plain sweeps: the step form in the order of its schedule,
// the explicit form in the stored order. This checks every kernel, of lanes, rows and rows of W.
static void iterates_are_those_of_plain_sweeps(void **state) {
  (void)state;
  CniRng rng = {14};
  RandomProblem how = random_problem_default();
  how.kinds &= ~(1u << CN_BLOCK_BILATERAL); // joints are not swept but solved
  for (int32_t i = 0; i < 192; i++) {
    how.friction = i & 1 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    how.compliant = i % 3 > 0;
    CnProblem *p = random_problem(&rng, &how), *w = NULL;
    for (int32_t k = 0; k < p->block_count && i & 2; k++)
      if (p->blocks[k].kind == CN_BLOCK_FRICTION)
        p->b[p->blocks[k].row + 1] = p->b[p->blocks[k].row + 2] = 0;
    CHECK_OK(cn_problem_to_explicit(p, &w));
    CnSolverDef def = cn_solver_def_default(i & 4 ? "psor" : "pssor");
    def.effort = CN_EFFORT_EXACT;
    def.local = (CnLocalSolve)(i & 8 ? CN_LOCAL_SPLIT : CN_LOCAL_PROJECTION);
    def.relaxation = cni_rng_range(&rng, .5, 1.5);
    def.acceleration = i & 16 ? 1 : .8;
    def.max_iterations = 20;
    CnAnswer step = answer_for(p), plain = answer_for(p), rows = cn_answer_empty(NULL);
    CHECK_OK(cn_answer_fit(&rows, w));
    for (int32_t k = 0; k < step.row_count; k++) step.g[k] = cni_rng_range(&rng, -.1, .1);
    size_t size = (size_t)step.row_count * sizeof *step.g;
    memcpy(rows.g, step.g, size);

    int32_t *order = sweep_order(&def, p), *stored = stored_order(p);
    memcpy(plain.g, step.g, size);
    reference_sweeps(&def, p, stored, &plain);
    solve_def(&def, w, &rows);
    check_iterates(&rows, &plain);
    memcpy(plain.g, step.g, size);
    reference_sweeps(&def, p, order, &plain);
    solve_def(&def, p, &step);
    check_iterates(&step, &plain);

    free(order);
    free(stored);
    cn_answer_release(&step);
    cn_answer_release(&plain);
    cn_answer_release(&rows);
    cn_problem_destroy(p);
    cn_problem_destroy(w);
  }
}

static void warm_start_stays(void **state) {
  (void)state;
  CniRng rng = {15};
  RandomProblem how = random_problem_default();
  how.block_count = 8;
  for (int32_t i = 0; i < 12; i++) {
    how.friction = i % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer answer = solve_with("psor", p, 1e-13);
    double *g = malloc((size_t)answer.row_count * sizeof *g);
    memcpy(g, answer.g, (size_t)answer.row_count * sizeof *g);
    CnSolverDef def = cn_solver_def_default("psor");
    def.max_iterations = 30;
    CnSolveReport report = solve_def(&def, p, &answer);
    for (int32_t k = 0; k < answer.row_count; k++) CHECK_NEAR(answer.g[k], g[k], 1e-11);
    CHECK(report.certificate.residual <= 1e-12);

    // to a tolerance it stops at the first look
    def = patient_def("psor", 1e-12);
    CHECK(solve_def(&def, p, &answer).iterations == def.check_interval);
    free(g);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bilateral_is_linear_sor),
      cmocka_unit_test(convex_objective_falls),
      cmocka_unit_test(hub_with_crank_arm),
      cmocka_unit_test(local_methods_agree),
      cmocka_unit_test(iterates_are_those_of_plain_sweeps),
      cmocka_unit_test(warm_start_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
