// SPDX-License-Identifier: Apache-2.0
// The number of workers, and who runs them, never shows in the state.
#include "check.h"
#include "toys.h"

static uint64_t run(int32_t workers, const CnTaskHost *host) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 5e-3;
  def.solver.max_iterations = 15;
  def.worker_count = workers;
  if (host) def.task_host = *host;
  CnWorld *w = toy_pile(&def, 300);
  toy_steps(w, 80);
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.contact_count > 300);
  uint64_t hash = cn_world_hash(w);
  cn_world_destroy(w);
  return hash;
}

// A host that runs everything backwards.
static void backwards(void *context, int32_t count, void (*task)(void *, int32_t),
                      void *task_context) {
  ++*(int32_t *)context;
  for (int32_t i = count - 1; i >= 0; i--) task(task_context, i);
}

static void test_workers(void **state) {
  (void)state;
  int32_t calls = 0;
  CnTaskHost host = {backwards, &calls};
  uint64_t hash = run(1, NULL);
  for (int32_t workers = 2; workers <= 4; workers++) CHECK(run(workers, NULL) == hash);
  CHECK(run(3, &host) == hash);
  CHECK(calls > 0);
}

static void test_broad_phases(void **state) {
  (void)state;
  uint64_t hash = 0;
  for (int32_t i = 0; cn_broad_phase_name(i); i++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = 5e-3;
    def.solver.max_iterations = 15;
    def.broad_phase = cn_broad_phase_name(i);
    CnWorld *w = toy_pile(&def, 200);
    toy_steps(w, 60);
    if (i == 0) hash = cn_world_hash(w);
    CHECK(cn_world_hash(w) == hash);
    cn_world_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_workers),
      cmocka_unit_test(test_broad_phases),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
