// SPDX-License-Identifier: Apache-2.0
// A host that rounds upward, flushes small numbers to zero or traps on a division by zero gets the
// bits that everybody gets, for any number of workers, and finds its own mode again afterwards.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/cairn.h>

#include "lattice.h"
#include "modes.h"
#include "toys.h"

#define STEPS 10

static void *pile;
static size_t pile_size;

// A pile that has fallen for a while, as a snapshot.
static int make_pile(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 5e-3;
  def.solver.max_iterations = 15;
  CnWorld *w = toy_pile(&def, 300);
  toy_steps(w, 60);
  CHECK_OK(cn_world_save(w, NULL, 0, &pile_size));
  pile = malloc(pile_size);
  CHECK_OK(cn_world_save(w, pile, pile_size, &pile_size));
  cn_world_destroy(w);
  return 0;
}

static int drop_pile(void **state) {
  (void)state;
  free(pile);
  return 0;
}

// Workers are started in the mode or before it is set: both kinds have been seen to leak.
static uint64_t run(const char *integrator, int32_t workers, int mode, int late) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = NULL;
  CnPenetration penetration;
  CnWorldSums sums;
  def.worker_count = workers;
  def.integrator = integrator;
  uint64_t usual = mode_now(), hash;
  if (!late) mode_set(mode);
  CnStatus status = cn_world_create(&def, &w);
  if (late) mode_set(mode);
  uint64_t set = mode_now();
  if (status == CN_OK) status = cn_world_restore(w, pile, pile_size);
  for (int i = 0; i < STEPS && status == CN_OK; i++) status = cn_world_step(w, NULL);
  if (status == CN_OK) status = cn_world_penetration(w, &penetration);
  cn_world_sums(w, &sums);
  mode_end(usual, set);
  CHECK_OK(status);
  hash = cn_world_hash(w);
  const double seen[3] = {penetration.mean, sums.kinetic_energy, sums.potential_energy};
  for (int i = 0; i < 3; i++) {
    uint64_t bits;
    memcpy(&bits, &seen[i], sizeof bits);
    hash = hash * 31 + bits;
  }
  cn_world_destroy(w);
  return hash;
}

static void test_steps(void **state) {
  (void)state;
  uint64_t hash = run("impulse", 1, 0, 0);
  for (int mode = 1; mode < MODE_COUNT; mode++)
    for (int32_t workers = 1; workers <= 4; workers++)
      for (int late = 0; late < 2; late++) CHECK(run("impulse", workers, mode, late) == hash);
}

// Threads of the host come in a mode of their own.
static void strange_host(void *context, int32_t count, void (*task)(void *, int32_t),
                         void *task_context) {
  uint64_t before = mode_now();
  for (int32_t i = 0; i < count; i++) {
    mode_set(*(int *)context);
    task(task_context, i);
    mode_back(before);
    (void)fesetround(FE_TONEAREST);
  }
}

static void test_host(void **state) {
  (void)state;
  uint64_t hash = 0;
  for (int mode = 0; mode < MODE_COUNT; mode++) {
    CnWorldDef def = cn_world_def_default();
    CnWorld *w = NULL;
    def.worker_count = 3;
    def.task_host = (CnTaskHost){strange_host, &mode};
    CHECK_OK(cn_world_create(&def, &w));
    CHECK_OK(cn_world_restore(w, pile, pile_size));
    toy_steps(w, STEPS);
    if (mode == 0) hash = cn_world_hash(w);
    CHECK(cn_world_hash(w) == hash);
    cn_world_destroy(w);
  }
}

// A problem solved and certified; every form of it gives the bits of the usual mode.
static void test_solvers(void **state) {
  (void)state;
  static const char *const solvers[] = {"psor", "apgd", "auto"};
  Lattice how = lattice_default();
  how.side = how.layers = 3;
  CnProblem *p = lattice_problem(&how);
  for (int s = 0; s < 3; s++) {
    CnAnswer answer[2] = {cn_answer_empty(NULL), cn_answer_empty(NULL)};
    CnCertificate certificate[2];
    for (int mode = 0; mode < MODE_COUNT; mode++) {
      int which = mode > 0;
      CnSolveReport report;
      CHECK_OK(cn_answer_fit(&answer[which], p));
      uint64_t usual = mode_now();
      mode_set(mode);
      uint64_t set = mode_now();
      CnStatus status = cn_solve(p, solvers[s], 1e-6, &answer[which], &report);
      if (status == CN_OK) status = cn_certify(p, &answer[which], &certificate[which]);
      mode_end(usual, set);
      CHECK_OK(status);
      CHECK(answer[which].row_count == answer[0].row_count);
      assert_memory_equal(answer[which].g, answer[0].g,
                          (size_t)answer[0].row_count * sizeof(double));
      assert_memory_equal(&certificate[which].residual, &certificate[0].residual, sizeof(double));
      if (which) cn_answer_release(&answer[1]);
      if (which) answer[1] = cn_answer_empty(NULL);
    }
    cn_answer_release(&answer[0]);
  }
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_host),
      cmocka_unit_test(test_solvers),
  };
  return cmocka_run_group_tests(tests, make_pile, drop_pile);
}
