// SPDX-License-Identifier: Apache-2.0
// The same bits for any number of ranks: heaps swept by 2 to 8 ranks, each a thread with a world of its own, with one
// thread or two, against the same heap in one process; saved by some and restored by others. CAIRN_RANKS_ALL: every pile
// by 1 to 8 ranks with one thread and two.
#include "check.h"
#include "crew.h"
#include "piles.h"

#include <cairn/state.h>
#include <stdlib.h>
#include <string.h>

// One heap by some ranks.
typedef struct Run {
  const Pile *pile;
  int32_t workers;
  int steps;
  const char *solver; // null: the pile's
  double tolerance;
  uint64_t hash;       // of one process: all have the same
  CnStepReport report; // of its last step
  void *start, *end;   // snapshots; null: from the beginning, none is asked for
  size_t start_size, end_size;
} Run;

static CnWorld *begin(const Run *run, CnRanks *ranks) {
  CnWorld *world = run->pile->build(run->workers);
  CnWorldDef def;
  if (!world || cn_world_settings(world, &def) != CN_OK) return NULL;
  def.ranks = ranks;
  if (run->solver) {
    def.solver = cn_solver_def_default(run->solver);
    def.solver.max_iterations = 20;
  }
  def.solver.tolerance = run->tolerance;
  int ok = cn_world_set_settings(world, &def) == CN_OK;
  if (ok && run->start) ok = cn_world_restore(world, run->start, run->start_size) == CN_OK;
  if (ok) return world;
  cn_world_destroy(world);
  return NULL;
}

static CnStatus go_on(CnWorld *world, int steps, CnStepReport *report) {
  CnStatus status = CN_OK;
  for (int i = 0; i < steps && status == CN_OK; ++i) status = cn_world_step(world, report);
  return status;
}

static void *snapshot(CnWorld *world, size_t *size) {
  if (cn_world_gather(world) != CN_OK) return NULL;
  if (cn_world_save(world, NULL, 0, size) != CN_OK) return NULL;
  void *data = malloc(*size);
  if (data && cn_world_save(world, data, *size, size) == CN_OK) return data;
  free(data);
  return NULL;
}

static void alone(Run *run) {
  CnWorld *world = begin(run, NULL);
  CHECK(world != NULL);
  CHECK_OK(go_on(world, run->steps, &run->report));
  run->hash = cn_world_hash(world);
  run->end = snapshot(world, &run->end_size);
  CHECK(run->end != NULL);
  cn_world_destroy(world);
}

// Every rank ends with the bits of one process: state, impulses (in the snapshot) and certificate.
static void together(CnRanks *ranks, void *context) {
  const Run *run = context;
  CnStepReport report;
  size_t size = 0;
  CnWorld *world = begin(run, ranks);
  CREW_CHECK(world != NULL);
  if (!world) return;
  CREW_CHECK(go_on(world, run->steps, &report) == CN_OK);
  CREW_CHECK(cn_world_hash(world) == run->hash);
  CREW_CHECK(report.solve.iterations == run->report.solve.iterations);
  CREW_CHECK(report.solve.certificate.residual == run->report.solve.certificate.residual);
  void *data = snapshot(world, &size);
  CREW_CHECK(data && size == run->end_size && memcmp(data, run->end, size) == 0);
  free(data);
  cn_world_destroy(world);
}

static const Pile *pile_of(const char *name) {
  for (int i = 0; i < pile_count; ++i)
    if (!strcmp(piles[i].name, name)) return &piles[i];
  for (int i = 0; i < heap_count; ++i)
    if (!strcmp(heaps[i].name, name)) return &heaps[i];
  return NULL;
}

static void compare(Run run, int32_t least, int32_t most) {
  int all = getenv("CAIRN_RANKS_ALL") != NULL;
  run.workers = 1;
  alone(&run);
  for (int32_t count = all ? 1 : least; count <= (all ? 8 : most); ++count)
    for (run.workers = 1; run.workers <= (all || count == 2 || count == 4 ? 2 : 1); ++run.workers)
      crew_run(count, together, &run);
  free(run.end);
}

static void piles_by_ranks(void **state) {
  (void)state;
  for (int i = 0; i < pile_count; ++i) {
    if (strstr(piles[i].name, "hem5") || strstr(piles[i].name, "rkf45") ||
        strstr(piles[i].name, "moreau"))
      continue; // on one rank alone
    // small ones are swept by everybody
    int steps = piles[i].steps < 50 ? piles[i].steps : strstr(piles[i].name, "wide") ? 50 : 20;
    compare((Run){.pile = &piles[i], .steps = steps}, 2, 2);
  }
}

static void heaps_by_ranks(void **state) {
  (void)state;
  for (int i = 0; i < heap_count; ++i) {
    // those of few steps are so large that four ranks have columns of their own
    int32_t count = heaps[i].steps < 10 ? 4 : 2;
    compare((Run){.pile = &heaps[i], .steps = heaps[i].steps}, count, count);
  }
  compare((Run){.pile = pile_of("many"), .steps = 2}, 3, 3);
  compare((Run){.pile = pile_of("many"), .steps = 2}, 5, 5);
  compare((Run){.pile = pile_of("wide-both"), .steps = 20}, 3, 3);
  compare((Run){.pile = pile_of("wide-both"), .steps = 20}, 8, 8);
}

// Looks at the tolerance are agreed on; auto and pssor sweep by the same phases.
static void other_solvers(void **state) {
  (void)state;
  static const struct {
    const char *pile, *solver;
    double tolerance;
  } cases[] = {{"wide-spheres", "psor", 1e-2},
               {"wide-both", "pssor", 0},
               {"wide-chains", "pssor", 1e-2},
               {"wide-spheres", "auto", 0},
               {"boulder", "psor", 1e-2}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    compare((Run){.pile = pile_of(cases[i].pile),
                  .steps = 30,
                  .solver = cases[i].solver,
                  .tolerance = cases[i].tolerance},
            2, 2);
}

// Saved by two ranks, gone on with by three and by one.
static void saved_and_restored(void **state) {
  (void)state;
  Run first = {.pile = pile_of("wide-both"), .steps = 40, .workers = 1};
  alone(&first);
  crew_run(2, together, &first); // what they save is what one process saves
  Run next = first;
  next.start = first.end;
  next.start_size = first.end_size;
  next.end = NULL;
  alone(&next);
  crew_run(3, together, &next);
  Run whole = {.pile = first.pile, .steps = 80, .workers = 1};
  alone(&whole);
  assert_int_equal(next.hash, whole.hash);
  free(first.end);
  free(next.end);
  free(whole.end);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(piles_by_ranks),
      cmocka_unit_test(heaps_by_ranks),
      cmocka_unit_test(other_solvers),
      cmocka_unit_test(saved_and_restored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
