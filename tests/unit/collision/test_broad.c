// SPDX-License-Identifier: Apache-2.0
// Every broad phase of the table finds exactly the pairs that testing all with all finds, none
// twice, whatever the boxes look like and however many workers there are.
#include <stdlib.h>
#include <string.h>

#include "collision/collision.h"
#include "core/rng.h"
#include "alloc.h"
#include "check.h"

#define LIMIT 2048

// ---- sets of boxes ----

typedef struct Boxes {
  const char *name;
  void (*make)(CniRng *rng, CniBounds *bounds, int32_t count);
} Boxes;

static CniBounds box_at(CnVec3 lo, CnVec3 side) {
  return (CniBounds){lo, {lo.x + side.x, lo.y + side.y, lo.z + side.z}};
}

static CnVec3 random_vec(CniRng *rng, double lo, double hi) {
  double x = cni_rng_range(rng, lo, hi), y = cni_rng_range(rng, lo, hi);
  return (CnVec3){x, y, cni_rng_range(rng, lo, hi)};
}

static void uniform(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) b[i] = box_at(random_vec(rng, -5, 5), random_vec(rng, 0.1, 1));
}

// Equal boxes, as spheres of one radius have.
static void equal(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) b[i] = box_at(random_vec(rng, -5, 5), (CnVec3){0.7, 0.7, 0.7});
}

static void clustered(CniRng *rng, CniBounds *b, int32_t n) {
  CnVec3 centre = {0, 0, 0};
  for (int32_t i = 0; i < n; i++) {
    if (i % 50 == 0) centre = random_vec(rng, -1000, 1000);
    CnVec3 d = random_vec(rng, -1, 1), lo = {centre.x + d.x, centre.y + d.y, centre.z + d.z};
    b[i] = box_at(lo, random_vec(rng, 0.05, 0.5));
  }
}

// Sides from 1e-6 to 1, equally many in every octave.
static void many_sizes(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double size = 1;
    for (int32_t k = (int32_t)cni_rng_range(rng, 0, 20); k > 0; k--) size /= 2;
    b[i] = box_at(random_vec(rng, -1, 1), random_vec(rng, 0.5 * size, size));
  }
}

// A few boxes around everything, a million times larger than the rest.
static void giants(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double size = i % 100 == 0 ? 1e4 : 0.01;
    CnVec3 lo = random_vec(rng, -0.5, 0.5);
    if (i % 100 == 0) lo = (CnVec3){lo.x - 5e3, lo.y - 5e3, lo.z - 5e3};
    b[i] = box_at(lo, (CnVec3){size, size, size});
  }
}

static void identical(CniRng *rng, CniBounds *b, int32_t n) {
  (void)rng;
  for (int32_t i = 0; i < n; i++) b[i] = box_at((CnVec3){1, 2, 3}, (CnVec3){1, 1, 1});
}

static void identical_points(CniRng *rng, CniBounds *b, int32_t n) {
  (void)rng;
  for (int32_t i = 0; i < n; i++) b[i] = box_at((CnVec3){0, 0, 0}, (CnVec3){0, 0, 0});
}

// A deck of cards along each axis in turn, and boxes without any thickness.
static void flat(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double thick = i % 2 ? 1e-4 : 0, at = cni_rng_range(rng, -0.1, 0.1);
    CnVec3 lo = random_vec(rng, -0.1, 0.1), side = {1, 1, 1};
    if (i % 3 == 0) lo.x = at, side.x = thick;
    if (i % 3 == 1) lo.y = at, side.y = thick;
    if (i % 3 == 2) lo.z = at, side.z = thick;
    b[i] = box_at(lo, side);
  }
}

static void points_on_lattice(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    CnVec3 p = random_vec(rng, 0, 6);
    b[i] = box_at((CnVec3){floor(p.x), floor(p.y), floor(p.z)}, (CnVec3){0, 0, 0});
  }
}

// Most near the origin, clusters at 1e9 and 1e12, where neighbouring doubles are 1e-4 apart, and a
// few beyond all measure.
static void far_away(CniRng *rng, CniBounds *b, int32_t n) {
  static const double distance[8] = {0, 0, 0, 1e9, -1e9, 1e12, -1e12, 1e200};
  for (int32_t i = 0; i < n; i++) {
    CnVec3 lo = random_vec(rng, -1, 1);
    lo.x += distance[i % 8];
    if (i % 16 < 8) lo.z += distance[i % 8];
    b[i] = box_at(lo, random_vec(rng, 0.1, 0.3));
  }
}

// Half-spaces, slabs, beams and corners without end among finite boxes.
static void infinite(CniRng *rng, CniBounds *b, int32_t n) {
  uniform(rng, b, n);
  for (int32_t i = 0; i < n; i += 10) {
    int32_t kind = i / 10 % 5;
    if (kind == 0)
      b[i] = (CniBounds){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    if (kind == 1) b[i].lo.x = -INFINITY;
    if (kind == 2) b[i].hi.y = INFINITY;
    if (kind == 3) b[i].lo.z = -INFINITY, b[i].hi.z = INFINITY;
    if (kind == 4) b[i].lo.x = b[i].lo.y = -INFINITY;
  }
}

// Sides end exactly where the neighbours' begin, on a grid of thirds (rounded) and of quarters.
static void touching(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    double unit = i % 2 ? 1.0 / 3 : 0.25;
    CnVec3 p = random_vec(rng, -6, 6);
    CnVec3 k = {floor(p.x), floor(p.y), floor(p.z)};
    b[i] = (CniBounds){{k.x * unit, k.y * unit, k.z * unit},
                       {(k.x + 1) * unit, (k.y + 1) * unit, (k.z + 1) * unit}};
  }
}

// Boxes that hold nothing meet nothing.
static void illegal(CniRng *rng, CniBounds *b, int32_t n) {
  uniform(rng, b, n);
  for (int32_t i = 0; i < n; i += 3) {
    if (i % 2)
      b[i].lo.y = NAN;
    else
      b[i].hi.z = b[i].lo.z - 1;
  }
}

// One long row, and one long column: no room for a cell to be full.
static void lines(CniRng *rng, CniBounds *b, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    CnVec3 lo = random_vec(rng, 0, 0.1);
    if (i % 2)
      lo.x = i * 0.3;
    else
      lo.z = i * 0.3;
    b[i] = box_at(lo, (CnVec3){0.5, 0.5, 0.5});
  }
}

static const Boxes sets[] = {
    {"uniform", uniform},         {"equal", equal},       {"clustered", clustered},
    {"many sizes", many_sizes},   {"giants", giants},     {"identical", identical},
    {"points", identical_points}, {"flat", flat},         {"lattice", points_on_lattice},
    {"far away", far_away},       {"infinite", infinite}, {"touching", touching},
    {"illegal", illegal},         {"lines", lines},
};
#define SET_COUNT ((int32_t)(sizeof sets / sizeof *sets))

// ---- all with all ----

static int legal(const CniBounds *b) {
  return b->lo.x <= b->hi.x && b->lo.y <= b->hi.y && b->lo.z <= b->hi.z;
}

static int meet(const CniBounds *a, const CniBounds *b) {
  if (a->hi.x < b->lo.x || b->hi.x < a->lo.x) return 0;
  if (a->hi.y < b->lo.y || b->hi.y < a->lo.y) return 0;
  return !(a->hi.z < b->lo.z || b->hi.z < a->lo.z);
}

static unsigned char *all_with_all(const CniBounds *b, int32_t n, int32_t *pair_count) {
  unsigned char *matrix = calloc((size_t)n * (size_t)n + 1, 1);
  CHECK(matrix != NULL);
  *pair_count = 0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = i + 1; j < n; j++)
      if (legal(&b[i]) && legal(&b[j]) && meet(&b[i], &b[j])) {
        matrix[(size_t)i * (size_t)n + (size_t)j] = 1;
        (*pair_count)++;
      }
  return matrix;
}

// The pairs are those of the matrix, each once.
static void check_pairs(const unsigned char *matrix, int32_t n, const CniPair *pairs, int32_t count,
                        int32_t expected) {
  unsigned char *seen = calloc((size_t)n * (size_t)n + 1, 1);
  CHECK(seen != NULL);
  int32_t foreign = 0, twice = 0;
  for (int32_t k = 0; k < count; k++) {
    CHECK(pairs[k].a >= 0 && pairs[k].a < pairs[k].b && pairs[k].b < n);
    size_t at = (size_t)pairs[k].a * (size_t)n + (size_t)pairs[k].b;
    foreign += !matrix[at];
    twice += seen[at]++;
  }
  free(seen);
  assert_int_equal(foreign, 0);
  assert_int_equal(twice, 0);
  assert_int_equal(count, expected);
}

// ---- tests ----

static void check_set(const Boxes *set, int32_t n, uint64_t seed, CnTasks *tasks) {
  CniBounds *bounds = malloc((size_t)(n + 1) * sizeof *bounds);
  CHECK(bounds != NULL);
  CniRng rng = {seed};
  set->make(&rng, bounds, n);
  int32_t expected = 0;
  unsigned char *matrix = all_with_all(bounds, n, &expected);
  CnAllocator allocator = cn_allocator_default();
  for (int32_t k = 0; k < cni_broad_phase_count; k++) {
    CniArena arena;
    cni_arena_init(&arena, &allocator);
    CniPair *pairs = NULL;
    int32_t count = -1;
    CHECK_OK(cni_broad_phases[k].find(bounds, NULL, n, tasks, &arena, &pairs, &count));
    if (count != expected)
      print_error("%s, %s, %d boxes: %d pairs, not %d\n", cni_broad_phases[k].name, set->name, n,
                  count, expected);
    check_pairs(matrix, n, pairs, count, expected);
    cni_arena_release(&arena);
  }
  free(matrix);
  free(bounds);
}

static void all_sets_agree(void **state) {
  (void)state;
  static const int32_t counts[] = {0, 1, 2, 3, 17, 100, 700};
  for (int32_t s = 0; s < SET_COUNT; s++)
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
      check_set(&sets[s], counts[k], (uint64_t)s * 100 + k, NULL);
}

static void large_sets_agree(void **state) {
  (void)state;
  for (int32_t s = 0; s < SET_COUNT; s++) {
    if (sets[s].make == identical || sets[s].make == identical_points) continue;
    check_set(&sets[s], 2000, 77 + (uint64_t)s, NULL);
  }
}

static void small_sets_of_many_seeds_agree(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 150; seed++)
    for (int32_t s = 0; s < SET_COUNT; s++) check_set(&sets[s], 30, seed, NULL);
}

// Two balls in boxes that meet are a pair only if the balls meet; near the origin and far away,
// where sizes are a few thousand roundings.
static void balls_that_meet(void **state) {
  (void)state;
  enum { N = 900 };
  static CniBounds bounds[N];
  static uint8_t round[N];
  CnAllocator allocator = cn_allocator_default();
  for (int32_t far = 0; far < 2; far++) {
    CniRng rng = {31 + (uint64_t)far};
    double shift = far ? 1e12 : 0;
    for (int32_t i = 0; i < N; i++) {
      double r = 0.3 + 0.5 * cni_rng_unit(&rng), x = 8 * cni_rng_unit(&rng) + shift;
      double y = 8 * cni_rng_unit(&rng), z = 8 * cni_rng_unit(&rng);
      bounds[i] = (CniBounds){{x - r, y - r, z - r}, {x + r, y + r, z + r}};
      round[i] = i % 5 != 0;
    }
    int32_t expected = 0, left_out = 0, doubtful = 0;
    unsigned char *matrix = all_with_all(bounds, N, &expected);
    for (int32_t i = 0; i < N; i++)
      for (int32_t j = i + 1; j < N; j++) {
        const CniBounds *a = &bounds[i], *b = &bounds[j];
        unsigned char *at = &matrix[(size_t)i * N + (size_t)j];
        CnVec3 d = cn_scale(0.5, cn_sub(cn_add(b->lo, b->hi), cn_add(a->lo, a->hi)));
        double r = 0.5 * (a->hi.x - a->lo.x + b->hi.x - b->lo.x);
        // far away only what is apart beyond the slack has to go
        if (!*at || !(round[i] && round[j])) continue;
        doubtful += cn_norm(d) > r;
        if (!(cn_norm(d) > r + (far ? 0.2 : 1e-8))) continue;
        *at = 0;
        left_out++;
      }
    expected -= left_out;
    doubtful -= left_out;
    CHECK(left_out > expected / 8);
    for (int32_t k = 0; k < cni_broad_phase_count; k++) {
      CniArena arena;
      cni_arena_init(&arena, &allocator);
      CniPair *pairs = NULL;
      int32_t count = -1;
      CHECK_OK(cni_broad_phases[k].find(bounds, round, N, NULL, &arena, &pairs, &count));
      if (!far) check_pairs(matrix, N, pairs, count, expected);
      CHECK(count >= expected - doubtful && count <= expected);
      cni_arena_release(&arena);
    }
    free(matrix);
  }
}

// The same pairs in the same order.
static void workers_change_nothing(void **state) {
  (void)state;
  static CniBounds bounds[LIMIT];
  CnAllocator allocator = cn_allocator_default();
  for (int32_t s = 0; s < SET_COUNT; s++) {
    int32_t n = sets[s].make == identical || sets[s].make == identical_points ? 600 : LIMIT;
    CniRng rng = {5};
    sets[s].make(&rng, bounds, n);
    for (int32_t k = 0; k < cni_broad_phase_count; k++) {
      CniArena one, many;
      cni_arena_init(&one, &allocator);
      cni_arena_init(&many, &allocator);
      CniPair *expected = NULL, *pairs = NULL;
      int32_t expected_count = -1, count = -1;
      CHECK_OK(cni_broad_phases[k].find(bounds, NULL, n, NULL, &one, &expected, &expected_count));
      for (int32_t workers = 1; workers <= 4; workers++) {
        CnTasks *tasks = NULL;
        CHECK_OK(cn_tasks_create(workers, NULL, &allocator, &tasks));
        CHECK_OK(cni_arena_reset(&many));
        CHECK_OK(cni_broad_phases[k].find(bounds, NULL, n, tasks, &many, &pairs, &count));
        assert_int_equal(count, expected_count);
        if (count > 0) assert_memory_equal(pairs, expected, (size_t)count * sizeof *pairs);
        cn_tasks_destroy(tasks);
      }
      cni_arena_release(&one);
      cni_arena_release(&many);
    }
  }
}

// More overlaps than a block expects, so that blocks are run twice.
static void every_failing_allocation_is_told(void **state) {
  (void)state;
  static CniBounds bounds[800];
  CniRng rng = {9};
  infinite(&rng, bounds, 800);
  identical(&rng, bounds, 100);
  for (int32_t k = 0; k < cni_broad_phase_count; k++) {
    int64_t failures = 0;
    for (int64_t n = 1;; n++) {
      TestAlloc alloc;
      test_alloc_init(&alloc);
      CnAllocator hook = test_alloc_hook(&alloc);
      CniArena arena;
      cni_arena_init(&arena, &hook);
      test_alloc_fail_at(&alloc, n);
      CniPair *pairs = NULL;
      int32_t count = -1;
      CnStatus status = cni_broad_phases[k].find(bounds, NULL, 800, NULL, &arena, &pairs, &count);
      int64_t failed = alloc.failed_count;
      if (failed) {
        CHECK_FAILED(status, CN_NO_MEMORY);
        CHECK(count == 0 && pairs == NULL);
        failures++;
      }
      cni_arena_release(&arena);
      test_alloc_check_clean(&alloc);
      if (!failed) {
        CHECK_OK(status);
        break;
      }
    }
    CHECK(failures >= 4);
  }
}

static void names_are_listed(void **state) {
  (void)state;
  assert_string_equal(cn_broad_phase_name(0), "grid");
  assert_string_equal(cn_broad_phase_name(1), "sap");
  CHECK(cn_broad_phase_name(cni_broad_phase_count) == NULL);
  CHECK(cn_broad_phase_name(-1) == NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_sets_agree),
      cmocka_unit_test(large_sets_agree),
      cmocka_unit_test(small_sets_of_many_seeds_agree),
      cmocka_unit_test(balls_that_meet),
      cmocka_unit_test(workers_change_nothing),
      cmocka_unit_test(every_failing_allocation_is_told),
      cmocka_unit_test(names_are_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
