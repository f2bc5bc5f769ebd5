// SPDX-License-Identifier: Apache-2.0
// The first-order family: the same bits by every level of wide arithmetic and any number of
// threads, answers that more iterations never make worse, and the same answer in every storage and
// form.
#include "alloc.h"
#include "check.h"
#include "lattice.h"
#include "scenes.h"
#include "solving.h"
#include "core/memory.h"
#include "solver/gradients/descent.h"

#include <stdlib.h>
#include <string.h>

static const char *const family[] = {"apgd", "spg"};
#define FAMILY 2

static const CniSimdLevel levels[] = {CNI_SIMD_LEVEL_SSE2, CNI_SIMD_LEVEL_AVX2,
                                      CNI_SIMD_LEVEL_AVX512, CNI_SIMD_LEVEL_NEON};

static int runs_here(CniSimdLevel level) {
  CniSimdLevel top = cni_simd_level();
  if (!cni_gradient_kernels(level)) return 0;
  return level == CNI_SIMD_LEVEL_NEON ? top == level : top != CNI_SIMD_LEVEL_NEON && level <= top;
}

static CnAnswer solve_level(const CnSolverDef *from, CnProblem *p, CniSimdLevel level,
                            CnTasks *tasks) {
  CnSolverDef def = *from;
  CnAnswer answer = answer_for(p);
  CnSolveReport report = {0};
  void *state = NULL;
  def.tasks = tasks;
  const CnSolverKind *kind = cni_solver_find(def.name);
  CHECK_OK(kind->create(&def, &def.allocator, &state));
  ((CniDescent *)state)->gradient.level = level;
  CniStepMemory memory = held_memory();
  CHECK_OK(kind->solve(state, p, &answer, &memory, &report));
  cni_step_memory_release(&memory);
  kind->destroy(state);
  return answer;
}

static void check_same(const CnAnswer *a, CnAnswer *b) {
  CHECK(memcmp(a->g, b->g, (size_t)a->row_count * sizeof *a->g) == 0);
  CHECK(memcmp(a->u, b->u, (size_t)a->row_count * sizeof *a->u) == 0);
  CHECK(memcmp(a->v, b->v, (size_t)a->velocity_count * sizeof *a->v) == 0);
  cn_answer_release(b);
}

static void check_bits(const CnSolverDef *def, CnProblem *p) {
  CnAnswer plain = solve_level(def, p, CNI_SIMD_LEVEL_PLAIN, NULL);
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    if (!runs_here(levels[i])) continue;
    CnAnswer wide = solve_level(def, p, levels[i], NULL);
    check_same(&plain, &wide);
  }
  for (int32_t workers = 2; workers <= 4; workers++) {
    CnTasks *tasks = NULL;
    CHECK_OK(cn_tasks_create(workers, NULL, NULL, &tasks));
    CnAnswer many = solve_level(def, p, cni_simd_level(), tasks);
    check_same(&plain, &many);
    cn_tasks_destroy(tasks);
  }
  cn_answer_release(&plain);
}

static void same_bits(void **state) {
  (void)state;
  for (int32_t i = 0; i < 12; i++) {
    Lattice how = lattice_default();
    how.side = how.layers = 8;
    how.friction = i & 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    how.kind = i % 5 == 4 ? CN_BLOCK_ROLLING : CN_BLOCK_FRICTION;
    how.full = i % 3 == 0;
    how.hub = i % 4 == 3;
    CnProblem *p = lattice_problem(&how);
    CnSolverDef def = cn_solver_def_default(family[i % FAMILY]);
    def.effort = CN_EFFORT_EXACT;
    def.max_iterations = 25;
    check_bits(&def, p);
    cn_problem_destroy(p);
  }
}

static double residual_after(const char *name, CnProblem *p, CnAnswer *answer, int32_t iterations) {
  CnSolverDef def = cn_solver_def_default(name);
  def.effort = CN_EFFORT_EXACT;
  def.max_iterations = iterations;
  return solve_def(&def, p, answer).certificate.residual;
}

// The best point so far is kept: cold, the residual never grows with the iterations; warm, it is
// never above that of the warm start.
static void never_worse(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.side = how.layers = 6;
  CnProblem *p = lattice_problem(&how);
  for (int32_t f = 0; f < FAMILY; f++) {
    double last = INFINITY;
    CnAnswer answer = answer_for(p), other = answer_for(p);
    for (int32_t iterations = 10; iterations <= 640; iterations *= 2) {
      memset(answer.g, 0, (size_t)answer.row_count * sizeof *answer.g);
      double residual = residual_after(family[f], p, &answer, iterations);
      CHECK(residual <= last);
      last = residual;
    }
    for (int32_t iterations = 1; iterations <= 4; iterations++) {
      memcpy(other.g, answer.g, (size_t)answer.row_count * sizeof *answer.g);
      CHECK(residual_after(family[f], p, &other, iterations) <= last * (1 + 1e-9));
    }
    cn_answer_release(&answer);
    cn_answer_release(&other);
  }
  cn_problem_destroy(p);
}

// The convex problem has one v; rows of W and step form must find it alike.
static void forms_agree(void **state) {
  (void)state;
  CniRng rng = {7};
  RandomProblem how = random_problem_default();
  how.friction = CN_FRICTION_CONVEX;
  for (int32_t i = 0; i < 6; i++) {
    CnProblem *p = random_problem(&rng, &how), *w = NULL;
    CHECK_OK(cn_problem_to_explicit(p, &w));
    for (int32_t f = 0; f < FAMILY; f++) {
      CnAnswer step = solve_with(family[f], p, 1e-9), by_w = solve_with(family[f], w, 1e-9);
      for (int32_t k = 0; k < p->row_count; k++) CHECK_NEAR(step.u[k], by_w.u[k], 1e-5);
      cn_answer_release(&step);
      cn_answer_release(&by_w);
    }
    cn_problem_destroy(p);
    cn_problem_destroy(w);
  }
}

// A second solve of the same size takes no memory; a lack of it is a status.
static void memory(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.side = how.layers = 5;
  CnProblem *p = lattice_problem(&how);
  for (int32_t f = 0; f < FAMILY; f++) {
    CniMeter meter = {.inner = cn_allocator_default()};
    CnSolverDef def = cn_solver_def_default(family[f]);
    def.effort = CN_EFFORT_EXACT;
    def.allocator = cni_meter_allocator(&meter);
    CnSolver *solver = NULL;
    CnAnswer answer = answer_for(p);
    CHECK_OK(cn_solver_create(&def, &solver));
    CHECK_OK(cn_solver_solve(solver, p, &answer, NULL));
    int64_t before = meter.allocation_count;
    CHECK_OK(cn_solver_solve(solver, p, &answer, NULL));
    CHECK(meter.allocation_count == before);
    cn_solver_destroy(solver);
    CHECK(meter.bytes == 0);
    cn_answer_release(&answer);
  }
  cn_problem_destroy(p);
}

// No blocks, and blocks that nothing can move.
static void nothing_to_do(void **state) {
  (void)state;
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  for (int32_t f = 0; f < FAMILY; f++) {
    CnAnswer answer = solve_with(family[f], p, 1e-9);
    cn_answer_release(&answer);
  }
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_bits), cmocka_unit_test(never_worse),   cmocka_unit_test(forms_agree),
      cmocka_unit_test(memory),    cmocka_unit_test(nothing_to_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
