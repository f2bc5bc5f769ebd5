// SPDX-License-Identifier: Apache-2.0
// The schedule of a sweep: every block once, no group twice at the same time, whoever makes it.
#include "check.h"
#include "core/rng.h"
#include "lattice.h"
#include "reference.h"
#include "scenes.h"

#include <stdlib.h>
#include <string.h>

// Kinds for tests: pairs and spheres in lanes, everything else alone.
enum { ALONE, SPHERES, PAIRS };
static const CniBatchRule rules[] = {{1, 1}, {CNI_BATCH_LANES, 1}, {CNI_BATCH_LANES, 4}};

static uint8_t *kinds_of(const CnProblem *p) {
  uint8_t *kinds = malloc((size_t)p->block_count + 1);
  CHECK(kinds != NULL);
  for (int32_t i = 0; i < p->block_count; i++) {
    uint8_t storage = p->blocks[i].storage;
    kinds[i] = storage == CNI_SPHERE ? SPHERES : storage == CNI_PAIR ? PAIRS : ALONE;
  }
  return kinds;
}

static CniSchedule make(const CnProblem *p, CnTasks *tasks) {
  CniSchedule s;
  CnAllocator allocator = cn_allocator_default();
  uint8_t *kinds = kinds_of(p);
  cni_schedule_init(&s, &allocator);
  CHECK_OK(cni_schedule_make(&s, p, kinds, rules, tasks));
  free(kinds);
  return s;
}

static void groups_of(const CnProblem *p, int32_t block, int32_t *a, int32_t *b) {
  const CniBlock *at = &p->blocks[block];
  *a = at->storage == CNI_PAIR ? p->pairs[at->index].group_a : p->spheres[at->index].group_a;
  *b = at->storage == CNI_PAIR ? p->pairs[at->index].group_b : p->spheres[at->index].group_b;
}

// Mark a group with mass; it must not be marked yet.
static void touch(const CnProblem *p, int32_t group, int32_t *mark, int32_t number) {
  if (cni_group_kind(&p->groups[group]) == CNI_MASS_NONE) return;
  CHECK(mark[group] != number);
  mark[group] = number;
}

static void check_batch(const CnProblem *p, const CniBatch *batch, int32_t *seen, int32_t *mark,
                        int32_t number) {
  CHECK(batch->lane_count >= 1 && batch->lane_count <= rules[batch->kind].lanes);
  CHECK(batch->length >= 1 && batch->length <= rules[batch->kind].length);
  for (int32_t lane = 0; lane < CNI_BATCH_LANES; lane++) {
    int32_t first = batch->block[lane];
    CHECK((first >= 0) == (lane < batch->lane_count));
    if (first < 0) continue;
    for (int32_t k = 0; k < batch->length; k++) seen[first + k]++;
    if (batch->kind == ALONE) continue;
    int32_t a, b, next_a, next_b;
    groups_of(p, first, &a, &b);
    touch(p, a, mark, number);
    touch(p, b, mark, number);
    for (int32_t k = 1; k < batch->length; k++) {
      groups_of(p, first + k, &next_a, &next_b);
      CHECK(next_a == a && next_b == b);
    }
  }
}

// Groups with mass of all blocks of a column belong to one column of the phase.
static void claim_column(const CnProblem *p, const CniSchedule *s, int32_t column, int32_t *owner) {
  for (int32_t i = s->start[column]; i < s->start[column + 1]; i++) {
    const CniBatch *batch = &s->batches[i];
    for (int32_t lane = 0; lane < batch->lane_count; lane++) {
      CnRowEntry e[64];
      const CniBlock *block = &p->blocks[batch->block[lane]];
      int32_t n = cni_storages[block->storage].expand(p, block, e, 64);
      for (int32_t k = 0; k < n; k++) {
        if (cni_group_kind(&p->groups[e[k].group]) == CNI_MASS_NONE) continue;
        CHECK(owner[e[k].group] < 0 || owner[e[k].group] == column);
        owner[e[k].group] = column;
      }
    }
  }
}

static void check_schedule(const CnProblem *p, const CniSchedule *s) {
  size_t blocks = (size_t)p->block_count + 1, groups = (size_t)p->group_count + 1;
  int32_t *seen = calloc(blocks, sizeof *seen), *mark = calloc(groups, sizeof *mark);
  int32_t *order = calloc(blocks, sizeof *order), *owner = calloc(groups, sizeof *owner);
  CHECK(seen && mark && order && owner);
  for (int32_t i = 0; i < s->batch_count; i++) check_batch(p, &s->batches[i], seen, mark, i + 1);
  for (int32_t i = 0; i < p->block_count; i++) CHECK(seen[i] == 1);
  schedule_order(s, order);
  for (int32_t i = 0; i < p->block_count; i++) seen[order[i]]++;
  for (int32_t i = 0; i < p->block_count; i++) CHECK(seen[i] == 2);

  int32_t columns = 0;
  for (int32_t phase = 0; phase < s->phase_count; phase++) {
    for (size_t i = 0; i < groups; i++) owner[i] = -1;
    int32_t count = cni_schedule_phase_size(s, phase);
    for (int32_t i = 0; i < count; i++) claim_column(p, s, cni_schedule_column(s, phase, i), owner);
    columns += count;
  }
  CHECK(columns >= s->column_count);
  free(seen);
  free(mark);
  free(order);
  free(owner);
}

// Part of the lanes that is used.
static double fill(const CniSchedule *s) {
  int32_t lanes = 0, used = 0;
  for (int32_t i = 0; i < s->batch_count; i++) {
    lanes += rules[s->batches[i].kind].lanes;
    used += s->batches[i].lane_count;
  }
  return (double)used / lanes;
}

static void random_problems(void **state) {
  (void)state;
  CniRng rng = {31};
  RandomProblem how = random_problem_default();
  for (int32_t i = 0; i < 60; i++) {
    how.block_count = 1 + 2 * i;
    how.group_count = 2 + i / 2;
    CnProblem *p = random_problem(&rng, &how);
    CniSchedule s = make(p, NULL);
    CHECK(s.column_count == 1);
    check_schedule(p, &s);
    cni_schedule_release(&s);
    cn_problem_destroy(p);
  }
}

static void empty_problem(void **state) {
  (void)state;
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CniSchedule s = make(p, NULL);
  CHECK(s.batch_count == 0 && s.column_count == 1);
  CHECK(s.phase_count == 1);
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

static void pile(void **state) {
  (void)state;
  Lattice how = lattice_default();
  CnProblem *p = lattice_problem(&how);
  CniSchedule s = make(p, NULL);
  check_schedule(p, &s);
  CHECK(s.column_count >= 4);
  CHECK(cni_schedule_phase_size(&s, 2) == 0);
  // lanes stay empty at the end of a slab only: a batch or two for each of five kinds and lengths
  CHECK(fill(&s) > .85);
  cni_schedule_release(&s);
  cn_problem_destroy(p);

  // with one kind there is little to lose
  how.storages = 1u << CNI_SPHERE;
  p = lattice_problem(&how);
  s = make(p, NULL);
  CHECK(fill(&s) > .95);
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

// Blocks stay near their place in the stored order: within a slab and the length of the window.
static void order_is_kept(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.storages = 1u << CNI_SPHERE;
  how.side = how.layers = 5;
  CnProblem *p = lattice_problem(&how);
  CniSchedule s = make(p, NULL);
  int32_t *order = calloc((size_t)p->block_count, sizeof *order);
  CHECK(s.column_count == 1);
  schedule_order(&s, order);
  for (int32_t i = 0; i < p->block_count; i++) CHECK(abs(order[i] - i) <= 64 * CNI_BATCH_LANES);
  free(order);
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

// Slabs from six bodies along a side on, as four slabs then are one and a half bodies thick.
static void thickness(void **state) {
  (void)state;
  Lattice how = lattice_default();
  for (int32_t side = 4; side <= 9; side++) {
    how.side = how.layers = side;
    CnProblem *p = lattice_problem(&how);
    CniSchedule s = make(p, NULL);
    check_schedule(p, &s);
    CHECK(s.column_count == (side < 6 ? 1 : 4));
    CHECK(cni_cuts_aim(side * side * side).slabs == s.column_count);
    cni_schedule_release(&s);
    cn_problem_destroy(p);
  }
}

// A body that touches all others is no reason to give up slabs.
static void hub(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.hub = 1;
  CnProblem *p = lattice_problem(&how);
  CniSchedule s = make(p, NULL);
  check_schedule(p, &s);
  CHECK(s.column_count >= 4);
  CHECK(cni_schedule_phase_size(&s, 2) == 1);
  int32_t rest = s.start[s.column_count + 1] - s.start[s.column_count];
  CHECK(rest > 0 && rest < s.batch_count * 3 / 4);
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

// Slabs are found whatever the order of the bodies, as long as neighbours are near.
static void mixed_order(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.side = 10;
  how.layers = 30;
  how.storages = 1u << CNI_SPHERE;
  CnProblem *p = lattice_problem(&how);
  // bodies in another order: columns first
  int32_t layer = how.side * how.side, count = layer * how.layers;
  for (int32_t i = 0; i < p->sphere_count; i++) {
    int32_t *ends[2] = {&p->spheres[i].group_a, &p->spheres[i].group_b};
    for (int32_t k = 0; k < 2; k++) {
      if (*ends[k] == 0) continue;
      int32_t j = *ends[k] - 1;
      *ends[k] = 1 + (j % layer) * how.layers + j / layer;
      CHECK(*ends[k] <= count);
    }
  }
  CniSchedule s = make(p, NULL);
  check_schedule(p, &s);
  CHECK(s.column_count >= 4);
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

// Bodies in columns, as a world keeps them: slabs along x, rows along y, then from the floor up.
static void order_columns(CnProblem *p, const Lattice *how, CniCuts cuts) {
  int32_t side = how->side, count = side * side * how->layers, next = 1;
  int32_t *number = calloc((size_t)count, sizeof *number);
  CHECK(number && side % cuts.slabs == 0 && side % cuts.rows == 0);
  for (int32_t column = 0; column < cuts.slabs * cuts.rows; column++)
    for (int32_t i = 0; i < count; i++) {
      int32_t slab = i % side * cuts.slabs / side, row = i / side % side * cuts.rows / side;
      if (slab * cuts.rows + row == column) number[i] = next++;
    }
  for (int32_t i = 0; i < p->sphere_count; i++) {
    CniSphereBlock *c = &p->spheres[i];
    if (c->group_a > 0) c->group_a = number[c->group_a - 1];
    if (c->group_b > 0) c->group_b = number[c->group_b - 1];
  }
  free(number);
}

// Columns: as many at once as a quarter of them, every block in one, hardly a lane empty.
static void columns(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.side = how.layers = 20;
  how.storages = 1u << CNI_SPHERE;
  CnProblem *p = lattice_problem(&how);
  order_columns(p, &how, cni_cuts_aim(8000));
  CniSchedule s = make(p, NULL);
  check_schedule(p, &s);
  CHECK(s.cuts.slabs == 4 && s.cuts.rows == 4 && s.phase_count == 5);
  for (int32_t phase = 0; phase < 4; phase++) CHECK(cni_schedule_phase_size(&s, phase) == 4);
  CHECK(cni_schedule_phase_size(&s, 4) == 0);
  CHECK(fill(&s) > .97);
  // even slabs before odd ones: what ranks that own slabs rely on
  for (int32_t phase = 0; phase < 4; phase++)
    for (int32_t i = 0; i < 4; i++)
      CHECK(cni_schedule_column(&s, phase, i) / s.cuts.rows % 2 == phase / 2);
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

// One thread's order: every column once, and of two that may share a group the one of the earlier phase first.
static void order_of_one(void **state) {
  (void)state;
  for (int32_t slabs = 1; slabs <= 9; slabs++)
    for (int32_t rows = 1; rows <= 9; rows++) {
      CniSchedule s = {.start = NULL};
      cni_schedule_cut(&s, (CniCuts){slabs, rows});
      int32_t place[81];
      for (int32_t i = 0; i < 81; i++) place[i] = -1;
      for (int32_t i = 0; i < s.column_count; i++) {
        int32_t column = cni_schedule_near(&s, i);
        CHECK(column >= 0 && column < s.column_count && place[column] < 0);
        place[column] = i;
      }
      for (int32_t i = 0; i < s.column_count; i++)
        for (int32_t k = 0; k < s.column_count; k++) {
          int32_t x = i / rows, y = i % rows, z = k / rows, w = k % rows;
          int32_t first = 2 * (x % 2) + y % 2, second = 2 * (z % 2) + w % 2;
          int share = x - z <= 1 && z - x <= 1 && y - w <= 1 && w - y <= 1;
          CHECK(!share || first >= second || place[i] < place[k]);
        }
    }
}

// A wall four bodies thick has room for slabs along it and for no rows across.
static void no_rows(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.side = 40;
  how.layers = 4;
  how.storages = 1u << CNI_SPHERE;
  CnProblem *p = lattice_problem(&how);
  // slabs along x, rows along z, which has a body for each
  int32_t count = how.side * how.side * how.layers;
  CniCuts cuts = cni_cuts_aim(count);
  CHECK(cuts.rows == 4);
  for (int32_t i = 0; i < p->sphere_count; i++) {
    int32_t *ends[2] = {&p->spheres[i].group_a, &p->spheres[i].group_b};
    for (int32_t k = 0; k < 2; k++) {
      if (*ends[k] == 0) continue;
      int32_t j = *ends[k] - 1, x = j % 40, y = j / 40 % 40, z = j / 1600;
      *ends[k] = 1 + x / 10 * 1600 + z * 400 + y * 10 + x % 10;
    }
  }
  CniSchedule s = make(p, NULL);
  check_schedule(p, &s);
  CHECK(s.cuts.slabs == 4 && s.cuts.rows == 1 && s.phase_count == 3);
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

// How many columns can be swept at once.
static int32_t at_once(int32_t moving) {
  CniCuts cuts = cni_cuts_aim(moving);
  return (cuts.slabs + 1) / 2 * ((cuts.rows + 1) / 2);
}

static void aims(void **state) {
  (void)state;
  CHECK(at_once(125) == 1 && at_once(1000) == 2);
  CHECK(at_once(8000) == 4 && at_once(27000) == 16 && at_once(120000) == 42);
  CHECK(at_once(216000) == 48 && at_once(1000000) == 140 && at_once(INT32_MAX) == 64 * 64);
  // more bodies never have fewer columns: the working memory of a schedule is found by that
  for (int64_t n = 1, last = 1; n < INT32_MAX; n += n / 16 + 1) {
    CniCuts cuts = cni_cuts_aim((int32_t)n);
    CHECK(cuts.slabs * cuts.rows >= last && cuts.slabs <= CNI_CUT_LIMIT);
    last = cuts.slabs * cuts.rows;
  }
}

static void same_for_all_workers(void **state) {
  (void)state;
  Lattice how = lattice_default();
  how.hub = 1;
  CnProblem *p = lattice_problem(&how);
  CniSchedule one = make(p, NULL);
  for (int32_t workers = 2; workers <= 4; workers++) {
    CnTasks *tasks = NULL;
    CHECK_OK(cn_tasks_create(workers, NULL, NULL, &tasks));
    CniSchedule s = make(p, tasks);
    CHECK(s.batch_count == one.batch_count && s.column_count == one.column_count);
    CHECK(memcmp(s.start, one.start, ((size_t)s.column_count + 2) * sizeof *s.start) == 0);
    CHECK(memcmp(s.batches, one.batches, (size_t)s.batch_count * sizeof *s.batches) == 0);
    cni_schedule_release(&s);
    cn_tasks_destroy(tasks);
  }
  cni_schedule_release(&one);
  cn_problem_destroy(p);
}

// The validator sees what is wrong.
static void faults(void **state) {
  (void)state;
  Lattice how = lattice_default();
  CnProblem *p = lattice_problem(&how);
  CniSchedule s = make(p, NULL);
  CHECK(cni_schedule_fault(&s, p) == NULL);
  CniBatch *full = s.batches;
  while (full->lane_count < 2) full++;
  CniBatch kept = *full;
  full->block[1] = full->block[0];
  CHECK_TEXT(cni_schedule_fault(&s, p), "twice in a colour");
  *full = kept;
  full->block[--full->lane_count] = -1;
  CHECK_TEXT(cni_schedule_fault(&s, p), "in no batch");
  *full = kept;
  full->block[0] = p->block_count;
  CHECK_TEXT(cni_schedule_fault(&s, p), "not there");
  *full = kept;
  // a column that takes over the first batch of the next but one of its phase
  CHECK(cni_schedule_phase_size(&s, 0) >= 2);
  int32_t column = cni_schedule_column(&s, 0, 0) + 1;
  s.start[column] = s.start[column + 1] = s.start[column + 1] + 1;
  CHECK_TEXT(cni_schedule_fault(&s, p), "two columns");
  cni_schedule_release(&s);
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_problems),
      cmocka_unit_test(empty_problem),
      cmocka_unit_test(pile),
      cmocka_unit_test(order_is_kept),
      cmocka_unit_test(thickness),
      cmocka_unit_test(hub),
      cmocka_unit_test(mixed_order),
      cmocka_unit_test(columns),
      cmocka_unit_test(order_of_one),
      cmocka_unit_test(no_rows),
      cmocka_unit_test(aims),
      cmocka_unit_test(same_for_all_workers),
      cmocka_unit_test(faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
