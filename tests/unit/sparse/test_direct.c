// SPDX-License-Identifier: Apache-2.0
// Joints solved exactly: chains, trees, loops, hubs and nets against dense elimination, mass ratios,
// dependent rows with equal shares, linear cost, the same bits with workers, memory.
#include "alloc.h"
#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "sparse/dense.h"
#include "sparse/direct.h"
#include "sparse/direct/direct_private.h"

#include <stdlib.h>
#include <string.h>

// A mechanism under construction.
typedef struct Machine {
  CniDirectBody *bodies;
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
  double *compliance;
  CniDirectSystem system;
  int32_t twist_count;
} Machine;

static Machine machine_make(int32_t bodies, int32_t blocks) {
  Machine m = {calloc((size_t)bodies, sizeof *m.bodies),
               calloc((size_t)blocks, sizeof *m.blocks),
               calloc(2 * (size_t)blocks, sizeof *m.sides),
               calloc(12 * (size_t)blocks, sizeof *m.e),
               calloc(6 * (size_t)blocks, sizeof *m.compliance),
               {0},
               0};
  m.system = (CniDirectSystem){.bodies = m.bodies,
                               .blocks = m.blocks,
                               .sides = m.sides,
                               .e = m.e,
                               .compliance = m.compliance,
                               .body_count = bodies};
  return m;
}

static void machine_free(Machine *m) {
  free(m->bodies);
  free(m->blocks);
  free(m->sides);
  free(m->e);
  free(m->compliance);
}

static CnVec3 random_vector(CniRng *rng) {
  double x = cni_rng_range(rng, -1, 1), y = cni_rng_range(rng, -1, 1);
  return cn_vec3(x, y, cni_rng_range(rng, -1, 1));
}

static void random_body(CniRng *rng, CniDirectBody *body, double mass) {
  body->inv_mass = 1 / mass;
  CnVec3 axis = random_vector(rng), other = random_vector(rng);
  body->inv_inertia =
      (CnSym3){1 + axis.x * axis.x + other.x * other.x, 1 + axis.y * axis.y + other.y * other.y,
               1 + axis.z * axis.z + other.z * other.z, axis.x * axis.y + other.x * other.y,
               axis.x * axis.z + other.x * other.z,     axis.y * axis.z + other.y * other.z};
  double *j = &body->inv_inertia.xx;
  for (int32_t i = 0; i < 6; i++) j[i] *= 10 / mass;
}

// A side with the rows of a joint: three of the point, then those that turn.
static void add_side(Machine *m, int32_t body, CnVec3 arm, CnMat3 axes, int32_t dim, double sign) {
  CnVec3 axis[3] = {axes.x, axes.y, axes.z};
  m->sides[m->system.side_count++] = (CniDirectSide){body, m->twist_count};
  for (int32_t r = 0; r < dim; r++) {
    CnVec3 a = axis[r % 3];
    m->e[m->twist_count++] = r < 3 ? (CnTwist){cn_scale(sign, a), cn_scale(sign, cn_cross(arm, a))}
                                   : (CnTwist){CN_VEC3_ZERO, cn_scale(.3 * sign, a)};
  }
}

// A joint of bodies a and b (-1: the ground), of 1 to 6 rows.
static void add_joint(Machine *m, CniRng *rng, int32_t a, int32_t b, int32_t dim) {
  CnQuat q = cni_quat_exp(cn_scale(3, random_vector(rng)));
  CnMat3 axes = cn_qmat(q);
  CniDirectSystem *s = &m->system;
  m->blocks[s->block_count++] =
      (CniDirectBlock){s->row_count, dim, s->side_count, (a >= 0) + (b >= 0)};
  s->row_count += dim;
  if (a >= 0) add_side(m, a, random_vector(rng), axes, dim, -1);
  if (b >= 0) add_side(m, b, random_vector(rng), axes, dim, 1);
}

// S x without the factor.
static void product(const Machine *m, const double *x, double *y) {
  const CniDirectSystem *s = &m->system;
  CnTwist *v = calloc((size_t)s->body_count, sizeof *v);
  for (int32_t pass = 0; pass < 2; pass++)
    for (int32_t i = 0; i < s->block_count; i++) {
      const CniDirectBlock *b = &s->blocks[i];
      for (int32_t r = 0; r < b->dim; r++) {
        if (pass == 1) y[b->row + r] = s->compliance[b->row + r] * x[b->row + r];
        for (int32_t k = b->side; k < b->side + b->side_count; k++) {
          const CniDirectBody *body = &s->bodies[s->sides[k].body];
          CnTwist e = s->e[s->sides[k].at + r], *to = &v[s->sides[k].body];
          if (pass == 1) {
            y[b->row + r] += cn_dot(e.velocity, to->velocity) + cn_dot(e.spin, to->spin);
            continue;
          }
          to->velocity = cn_madd(to->velocity, x[b->row + r] * body->inv_mass, e.velocity);
          to->spin = cn_madd(to->spin, x[b->row + r], cn_smul(body->inv_inertia, e.spin));
        }
      }
    }
  free(v);
}

static double size_of(int32_t n, const double *x, const double *y) {
  double worst = 0;
  for (int32_t i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - (y ? y[i] : 0)));
  return worst;
}

static void dense_solution(const Machine *m, double *x) {
  int32_t n = m->system.row_count, stride = cni_dense_stride(n);
  double *a = aligned_alloc(64, (size_t)n * (size_t)stride * sizeof *a);
  double *unit = calloc((size_t)n, sizeof *unit), *column = calloc((size_t)n, sizeof *column);
  int32_t *pivot = calloc((size_t)n, sizeof *pivot);
  memset(a, 0, (size_t)n * (size_t)stride * sizeof *a);
  for (int32_t j = 0; j < n; j++) {
    unit[j] = 1;
    product(m, unit, column);
    unit[j] = 0;
    for (int32_t i = 0; i < n; i++) a[(int64_t)i * stride + j] = column[i];
  }
  CHECK(cni_dense_factor(cni_dense_kernels(), n, a, stride, pivot, 0));
  cni_dense_solve(n, a, stride, pivot, x);
  free(a);
  free(unit);
  free(column);
  free(pivot);
}

static CniDirect *factored(const Machine *m, const CnAllocator *allocator) {
  CniDirect *d;
  CHECK_OK(cni_direct_create(allocator, &d));
  CHECK_OK(cni_direct_shape(d, &m->system));
  cni_direct_factor(d, &m->system, NULL);
  return d;
}

// Against dense elimination; consistent right-hand sides.
static void compare(const Machine *m, CniRng *rng, double tolerance) {
  int32_t n = m->system.row_count;
  double *known = calloc((size_t)n, sizeof *known), *c = calloc((size_t)n, sizeof *c),
         *x = calloc((size_t)n, sizeof *x);
  const CnAllocator a = cn_allocator_default();
  CniDirect *d = factored(m, &a);
  for (int32_t i = 0; i < n; i++) c[i] = cni_rng_range(rng, -1, 1);
  memcpy(known, c, (size_t)n * sizeof *c);
  dense_solution(m, known);
  CHECK(cni_direct_dependent(d, NULL, 0) == 0);
  cni_direct_refine(d, c, x, 1, NULL);
  CHECK(size_of(n, x, known) <= tolerance * size_of(n, known, NULL));
  cni_direct_destroy(d);
  free(known);
  free(c);
  free(x);
}

// Trees with joints of any size, some bodies on the ground, some joints soft, closing `loops`.
static Machine random_machine(CniRng *rng, int32_t bodies, int32_t loops, double ratio) {
  Machine m = machine_make(bodies, bodies + loops);
  for (int32_t i = 0; i < bodies; i++) {
    double f = cni_rng_unit(rng) < .5 ? ratio : 1;
    random_body(rng, &m.bodies[i], f * cni_rng_range(rng, .5, 2));
    int32_t parent = i > 0 && cni_rng_unit(rng) < .9 ? (int32_t)cni_rng_range(rng, 0, i) : -1;
    add_joint(&m, rng, parent, i, 1 + (int32_t)cni_rng_range(rng, 0, 5.99));
  }
  for (int32_t i = 0; i < loops; i++) {
    int32_t a = (int32_t)cni_rng_range(rng, 0, bodies), b = (int32_t)cni_rng_range(rng, 0, bodies);
    if (a == b) continue;
    int32_t row = m.system.row_count;
    add_joint(&m, rng, a, b, 3);
    // soft, so that a loop is never overconstrained
    for (int32_t r = 0; r < 3; r++) m.compliance[row + r] = cni_rng_range(rng, .1, 1);
  }
  return m;
}

static void random_machines(void **state) {
  (void)state;
  CniRng rng = {5};
  for (int32_t trial = 0; trial < 300; trial++) {
    int32_t bodies = 1 + (int32_t)cni_rng_range(&rng, 0, 30);
    Machine m = random_machine(&rng, bodies, trial % 3 ? (int32_t)cni_rng_range(&rng, 0, 6) : 0, 1);
    compare(&m, &rng, 1e-9);
    machine_free(&m);
  }
}

// Every level of wide arithmetic that was built and runs here gives the bits of plain C.
static void levels(void **state) {
  (void)state;
  CniRng rng = {15};
  const CnAllocator a = cn_allocator_default();
  for (int32_t trial = 0; trial < 50; trial++) {
    Machine m = random_machine(&rng, 1 + trial % 25, trial % 5, 1);
    int32_t n = m.system.row_count;
    double *x = calloc(2 * (size_t)n, sizeof *x), *c = calloc((size_t)n, sizeof *c);
    for (int32_t i = 0; i < n; i++) c[i] = cni_rng_range(&rng, -1, 1);
    for (int32_t k = 0; k < 2; k++) {
      CniDirect *d;
      CHECK_OK(cni_direct_create(&a, &d));
      if (k == 1) d->kernels = cni_direct_kernels(CNI_SIMD_LEVEL_PLAIN);
      CHECK_OK(cni_direct_shape(d, &m.system));
      cni_direct_factor(d, &m.system, NULL);
      cni_direct_refine(d, c, x + k * n, 0, NULL);
      cni_direct_destroy(d);
    }
    CHECK(memcmp(x, x + n, (size_t)n * sizeof *x) == 0);
    free(x);
    free(c);
    machine_free(&m);
  }
}

static void mass_ratios(void **state) {
  (void)state;
  CniRng rng = {6};
  for (int32_t trial = 0; trial < 100; trial++) {
    Machine m = random_machine(&rng, 2 + trial % 25, 0, 1e6);
    compare(&m, &rng, 1e-6);
    machine_free(&m);
  }
}

// A hub with `arms` chains of two bodies each; held: also by a joint to the ground; tied: chains
// are joined to each other by soft rows, two by two.
static Machine hub_machine(CniRng *rng, int32_t arms, int held, int tied) {
  Machine m = machine_make(1 + 2 * arms, 3 * arms + 1);
  random_body(rng, &m.bodies[0], 3);
  if (held) add_joint(&m, rng, -1, 0, 5);
  for (int32_t i = 0; i < arms; i++) {
    random_body(rng, &m.bodies[1 + 2 * i], 1);
    random_body(rng, &m.bodies[2 + 2 * i], 1);
    add_joint(&m, rng, 0, 1 + 2 * i, 5);
    add_joint(&m, rng, 1 + 2 * i, 2 + 2 * i, 3);
    if (!tied || i % 2 == 0) continue;
    int32_t row = m.system.row_count;
    add_joint(&m, rng, 2 * i, 2 + 2 * i, 2);
    m.compliance[row] = m.compliance[row + 1] = .2;
  }
  return m;
}

static void hubs(void **state) {
  (void)state;
  CniRng rng = {7};
  const CnAllocator a = cn_allocator_default();
  int64_t numbers[2];
  for (int32_t way = 0; way < 4; way++) {
    Machine m = hub_machine(&rng, 20, way & 1, way & 2);
    compare(&m, &rng, 1e-9);
    machine_free(&m);
  }
  for (int32_t i = 0; i < 2; i++) {
    Machine m = hub_machine(&rng, i ? 4000 : 400, 1, 0);
    CniDirect *d = factored(&m, &a);
    numbers[i] = cni_direct_numbers(d);
    cni_direct_destroy(d);
    machine_free(&m);
  }
  CHECK(numbers[1] < 11 * numbers[0]); // linear
  // two hubs that share a joint, and one whose arms end on the ground
  Machine m = machine_make(2 + 20, 41);
  for (int32_t i = 0; i < 22; i++) random_body(&rng, &m.bodies[i], 1);
  add_joint(&m, &rng, 0, 1, 6);
  for (int32_t i = 0; i < 20; i++) add_joint(&m, &rng, i % 2, 2 + i, 5);
  for (int32_t i = 0; i < 10; i++) {
    int32_t row = m.system.row_count;
    add_joint(&m, &rng, -1, 0, 1);
    m.compliance[row] = .1;
  }
  compare(&m, &rng, 1e-9);
  machine_free(&m);
}

// A body without inertia about some axes at a hub: its joint has to wait.
static void thin_bodies(void **state) {
  (void)state;
  CniRng rng = {8};
  Machine m = hub_machine(&rng, 9, 0, 0);
  m.bodies[1].inv_inertia = (CnSym3){0, 0, 0, 0, 0, 0};
  compare(&m, &rng, 1e-9);
  machine_free(&m);
}

// ---- rows beside joints ----

// What momenta of some bodies do to the rows of joints, as columns of C.
static int32_t random_columns(const Machine *m, CniRng *rng, int32_t count, int32_t *start,
                              CniDirectEntry *entries) {
  const CniDirectSystem *s = &m->system;
  int32_t at = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t body = (int32_t)cni_rng_range(rng, 0, s->body_count);
    const CniDirectBody *b = &s->bodies[body];
    CnTwist v = {cn_scale(b->inv_mass, random_vector(rng)),
                 cn_smul(b->inv_inertia, random_vector(rng))};
    start[i] = at;
    for (int32_t k = 0; k < s->block_count; k++)
      for (int32_t side = s->blocks[k].side; side < s->blocks[k].side + s->blocks[k].side_count;
           side++)
        for (int32_t r = 0; s->sides[side].body == body && r < s->blocks[k].dim; r++) {
          const CnTwist *e = &s->e[s->sides[side].at + r];
          entries[at++] = (CniDirectEntry){s->blocks[k].row + r, cn_dot(e->velocity, v.velocity) +
                                                                     cn_dot(e->spin, v.spin)};
        }
  }
  start[count] = at;
  return at;
}

// W - C^T S^-1 C, column by column and all at once; the same bits at any level.
static void compare_eliminated(const Machine *m, CniRng *rng) {
  enum { columns = 21 };
  const CnAllocator a = cn_allocator_default();
  int32_t n = m->system.row_count, start[columns + 1];
  CniDirectEntry *entries = calloc((size_t)(columns * n), sizeof *entries);
  double w[2][columns * columns], *c = calloc((size_t)n, sizeof *c);
  double *x = calloc((size_t)n, sizeof *x);
  random_columns(m, rng, columns, start, entries);
  CniDirect *d = factored(m, &a);
  CniArena room;
  cni_arena_init(&room, &a);
  for (int32_t k = 0; k < 2; k++) {
    for (int32_t i = 0; i < columns * columns; i++) w[k][i] = 1;
    if (k == 1) d->kernels = cni_direct_kernels(CNI_SIMD_LEVEL_PLAIN);
    CHECK_OK(cni_direct_eliminate(d, &room, columns, start, entries, w[k]));
  }
  CHECK(memcmp(w[0], w[1], sizeof w[0]) == 0);
  for (int32_t i = 0; i < columns; i++) {
    memset(c, 0, (size_t)n * sizeof *c);
    for (int32_t e = start[i]; e < start[i + 1]; e++) c[entries[e].row] += entries[e].value;
    cni_direct_refine(d, c, x, 1, NULL);
    for (int32_t j = 0; j < columns; j++) {
      double sum = 0, size = 1;
      for (int32_t e = start[j]; e < start[j + 1]; e++) {
        sum += entries[e].value * x[entries[e].row];
        size += fabs(entries[e].value * x[entries[e].row]);
      }
      CHECK_NEAR(w[0][i * columns + j], j < i ? 1 : 1 - sum, 1e-9 * size);
    }
  }
  cni_arena_release(&room);
  cni_direct_destroy(d);
  free(entries);
  free(c);
  free(x);
}

static void elimination(void **state) {
  (void)state;
  CniRng rng = {31};
  for (int32_t trial = 0; trial < 60; trial++) {
    Machine m = trial % 4 ? random_machine(&rng, 1 + trial % 30, trial % 3, 1)
                          : hub_machine(&rng, 9, trial & 4, trial & 8);
    compare_eliminated(&m, &rng);
    machine_free(&m);
  }
}

// ---- dependent rows ----

// A door of mass m on n hinges in a line along z, unit c in all rows along z.
static void door(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  for (int32_t n = 2; n <= 12; n++) {
    Machine m = machine_make(1, n);
    m.bodies[0] = (CniDirectBody){1 / 30., cn_sdiag(1 / 12., 1 / 10., 1 / 2.5)};
    CnMat3 axes = cn_qmat(CN_QUAT_ONE);
    for (int32_t i = 0; i < n; i++) {
      m.blocks[m.system.block_count++] = (CniDirectBlock){5 * i, 5, m.system.side_count, 1};
      m.system.row_count += 5;
      add_side(&m, 0, cn_vec3(-.5, 0, -1 + 2. * i / (n - 1)), axes, 5, 1);
    }
    CniDirect *d = factored(&m, &a);
    double c[60] = {0}, x[60], y[60], fall[6] = {0, 0, -.0981, 0, 0, 0};
    for (int32_t i = 0; i < n; i++) // the free velocity of the hinges, to be stopped
      for (int32_t r = 0; r < 5; r++) c[5 * i + r] = -(m.e[5 * i + r].velocity.z * fall[2]);
    CHECK(cni_direct_dependent(d, NULL, 0) == 5 * (n - 1));
    cni_direct_refine(d, c, x, 0, NULL);
    product(&m, x, y);
    CHECK(size_of(5 * n, y, c) <= 1e-14);
    for (int32_t i = 0; i < n; i++) CHECK_REL(x[5 * i + 2], 30 * .0981 / n, 1e-7);
    cni_direct_destroy(d);
    machine_free(&m);
  }
}

// Every joint of a random tree two or three times: the copies share alike, and their sum is the
// answer of the tree.
static void copies(void **state) {
  (void)state;
  CniRng rng = {9};
  const CnAllocator a = cn_allocator_default();
  for (int32_t trial = 0; trial < 50; trial++) {
    int32_t bodies = 1 + trial % 20, times = 2 + trial % 2;
    Machine one = random_machine(&rng, bodies, 0, 1), many = machine_make(bodies, 3 * bodies);
    memcpy(many.bodies, one.bodies, (size_t)bodies * sizeof *one.bodies);
    CniDirectSystem *s = &many.system;
    for (int32_t k = 0; k < times; k++)
      for (int32_t i = 0; i < one.system.block_count; i++) {
        CniDirectBlock block = one.blocks[i];
        for (int32_t side = block.side; side < block.side + block.side_count; side++) {
          many.sides[s->side_count + side - block.side] =
              (CniDirectSide){one.sides[side].body, many.twist_count};
          for (int32_t r = 0; r < block.dim; r++)
            many.e[many.twist_count++] = one.e[one.sides[side].at + r];
        }
        block.side = s->side_count;
        block.row = s->row_count;
        s->side_count += block.side_count;
        s->row_count += block.dim;
        many.blocks[s->block_count++] = block;
      }
    int32_t n = one.system.row_count;
    double c[400], x[400], known[200];
    for (int32_t i = 0; i < n; i++) known[i] = c[i] = c[i + n] = cni_rng_range(&rng, -1, 1);
    for (int32_t i = 0; i < n && times > 2; i++) c[i + 2 * n] = c[i];
    dense_solution(&one, known);
    CniDirect *d = factored(&many, &a);
    CHECK(cni_direct_dependent(d, NULL, 0) == (times - 1) * n);
    cni_direct_refine(d, c, x, 0, NULL);
    for (int32_t i = 0; i < times * n; i++)
      CHECK_NEAR(x[i], known[i % n] / times, 1e-6 * size_of(n, known, NULL));
    cni_direct_destroy(d);
    machine_free(&one);
    machine_free(&many);
  }
}

// Windows of hinges in a plane: three rows too many in each. Loads in the plane are shared by nobody:
// the rows that are left out are zero, and vectors that S does not see are not looked for. Loads across it
// are; where there is no room for them S + shift D is factored, with the same result.
enum { MOST_WINDOWS = 12 };
static void windows_in_plane(int32_t windows) {
  CniRng rng = {21};
  const CnAllocator a = cn_allocator_default();
  const CnMat3 axes = cn_qmat(CN_QUAT_ONE);
  int32_t bodies = 2 * windows + 1, joints = 3 * windows + 1, n = 5 * joints;
  Machine m = machine_make(bodies, joints);
  for (int32_t i = 0; i < bodies; i++)
    m.bodies[i] = (CniDirectBody){1, cn_sdiag(12, 12, cni_rng_range(&rng, 1, 20))};
  for (int32_t i = 0; i < joints; i++) {
    int32_t k = i - windows - 1, bar = k < 0 ? i : windows + 1 + k / 2, post = (k + 1) / 2;
    m.blocks[m.system.block_count++] =
        (CniDirectBlock){5 * i, 5, m.system.side_count, 1 + (k >= 0)};
    m.system.row_count += 5;
    if (k >= 0) add_side(&m, post, cn_vec3(.1, .5, 0), axes, 5, -1);
    add_side(&m, bar, k < 0 ? cn_vec3(-.1, -.5, 0) : cn_vec3(k % 2 ? .5 : -.5, .03, 0), axes, 5, 1);
  }
  CniDirect *d = factored(&m, &a);
  CHECK(cni_direct_dependent(d, NULL, 0) == 3 * windows);
  double c[15 * MOST_WINDOWS + 5], x[15 * MOST_WINDOWS + 5], y[15 * MOST_WINDOWS + 5];
  double some[15 * MOST_WINDOWS + 5];
  for (int32_t across = 0; across < 2; across++) {
    for (int32_t i = 0; i < n; i++) {
      x[i] = cni_rng_range(&rng, -1, 1);
      if (!across && i % 5 >= 2) x[i] = 0;
    }
    product(&m, x, c);
    cni_direct_solve(d, c, x, 0, 1);
    CHECK(d->null_used[0] == across && d->null_known[0] == across);
    CHECK(d->shift[0] == 0 && (!across || d->null_count[0] > 0));
    product(&m, x, y);
    CHECK(size_of(n, y, c) <= 1e-12);
    for (int32_t i = 0; i < n && !across; i++)
      if (i % 5 >= 2) CHECK(fabs(x[i]) <= 1e-12);
    cni_direct_solve_some(d, c, some, 0, 1);
    product(&m, some, y);
    CHECK(size_of(n, y, c) <= 1e-12);
    if (across) CHECK(size_of(n, some, x) > 1e-3);
    cni_direct_least(d, some, 0, 1);
    CHECK(size_of(n, some, x) <= 1e-7);
    if (!across) continue;
    d->null_count[0] = -1; // as if there were no room for them
    cni_direct_solve(d, c, some, 0, 1);
    CHECK(d->shift[0] != 0);
    CHECK(size_of(n, some, x) <= 1e-6);
  }
  compare_eliminated(&m, &rng);
  cni_direct_destroy(d);
  machine_free(&m);
}

// A loop whose axes are not quite parallel has pivots that tell nothing; with the rows of the loop that is, it is
// solved but for those.
static void imposed_rows(void **state) {
  (void)state;
  CniRng rng = {22};
  const CnAllocator a = cn_allocator_default();
  const CnMat3 axes = cn_qmat(CN_QUAT_ONE);
  Machine m = machine_make(3, 4);
  double c[20], x[20], y[20];
  int32_t lost[20];
  CniDirect *d = NULL;
  for (int32_t bent = 0; bent < 2; bent++) {
    m.system.block_count = m.system.side_count = m.system.row_count = m.twist_count = 0;
    for (int32_t i = 0; i < 4; i++) {
      CnMat3 own = bent ? cn_qmat(cni_quat_exp(cn_scale(1e-4, random_vector(&rng)))) : axes;
      if (i < 3) m.bodies[i] = (CniDirectBody){1, cn_sdiag(12, 12, 3 + i)};
      m.blocks[m.system.block_count++] =
          (CniDirectBlock){5 * i, 5, m.system.side_count, 1 + (i % 3 > 0)};
      m.system.row_count += 5;
      if (i > 0) add_side(&m, i - 1, cn_vec3(.1 * i, .5, 0), own, 5, -1);
      if (i < 3) add_side(&m, i, cn_vec3(-.5, .2 * i, 0), own, 5, 1);
    }
    if (!bent) d = factored(&m, &a);
    cni_direct_impose(d, bent);
    cni_direct_factor(d, &m.system, NULL);
    CHECK(cni_direct_dependent(d, lost, 20) == 3);
  }
  for (int32_t i = 0; i < 20; i++) c[i] = cni_rng_range(&rng, -1, 1);
  cni_direct_solve_basic(d, c, x, 0, 1);
  product(&m, x, y);
  for (int32_t i = 0; i < 20; i++)
    if (i == lost[0] || i == lost[1] || i == lost[2])
      CHECK(x[i] == 0);
    else
      CHECK_NEAR(y[i], c[i], 1e-10);
  cni_direct_impose(d, 0);
  cni_direct_factor(d, &m.system, NULL);
  CHECK(cni_direct_dependent(d, lost, 20) < 3);
  cni_direct_destroy(d);
  machine_free(&m);
}

static void plane_loops(void **state) {
  (void)state;
  windows_in_plane(1);
  windows_in_plane(3);
  windows_in_plane(MOST_WINDOWS);
}

// ---- cost, bits, memory ----

static Machine chain(CniRng *rng, int32_t n) {
  Machine m = machine_make(n, n);
  for (int32_t i = 0; i < n; i++) {
    random_body(rng, &m.bodies[i], 1);
    add_joint(&m, rng, i - 1, i, 5);
  }
  return m;
}

static void linear_chain(void **state) {
  (void)state;
  CniRng rng = {10};
  const CnAllocator a = cn_allocator_default();
  Machine m = chain(&rng, 10000);
  CniDirect *d = factored(&m, &a);
  CHECK(cni_direct_numbers(d) <= 10000 * 2 * 40);
  int32_t n = m.system.row_count;
  double *x = calloc((size_t)n, sizeof *x), *c = calloc((size_t)n, sizeof *c),
         *y = calloc((size_t)n, sizeof *y);
  for (int32_t i = 0; i < n; i++) y[i] = cni_rng_range(&rng, -1, 1);
  product(&m, y, c);
  cni_direct_refine(d, c, x, 1, NULL);
  CHECK(size_of(n, x, y) <= 1e-9);
  cni_direct_destroy(d);
  machine_free(&m);
  free(x);
  free(c);
  free(y);
}

// Many islands, with and without workers; and a second factorisation allocates nothing.
static void workers(void **state) {
  (void)state;
  CniRng rng = {11};
  Machine m = machine_make(900, 900);
  for (int32_t i = 0; i < 900; i++) {
    random_body(&rng, &m.bodies[i], 1);
    add_joint(&m, &rng, i % 9 ? i - 1 - (i % 9) / 3 : -1, i, 5);
  }
  double *x = calloc(4500, sizeof *x), *y = calloc(4500, sizeof *y), *c = calloc(4500, sizeof *c);
  for (int32_t i = 0; i < 4500; i++) c[i] = cni_rng_range(&rng, -1, 1);
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniDirect *d = factored(&m, &hook);
  CHECK(cni_direct_islands(d) == 100);
  cni_direct_refine(d, c, x, 1, NULL);
  int64_t before = alloc.allocation_count;
  CnTasks *tasks;
  CHECK_OK(cn_tasks_create(3, NULL, NULL, &tasks));
  CHECK_OK(cni_direct_shape(d, &m.system));
  cni_direct_factor(d, &m.system, tasks);
  cni_direct_refine(d, c, y, 1, tasks);
  CHECK(alloc.allocation_count == before);
  CHECK(memcmp(x, y, 4500 * sizeof *x) == 0);
  cn_tasks_destroy(tasks);
  cni_direct_destroy(d);
  test_alloc_check_clean(&alloc);
  machine_free(&m);
  free(x);
  free(y);
  free(c);
}

// A lattice in space is refused, a net in the plane is not.
static void lattices(void **state) {
  (void)state;
  CniRng rng = {13};
  const CnAllocator a = cn_allocator_default();
  for (int32_t deep = 1; deep <= 16; deep += 15) {
    int32_t n = 16, count = n * n * deep;
    Machine m = machine_make(count, 3 * count);
    for (int32_t i = 0; i < count; i++) random_body(&rng, &m.bodies[i], 1);
    for (int32_t i = 0; i < count; i++) {
      if (i % n) add_joint(&m, &rng, i - 1, i, 3);
      if (i / n % n) add_joint(&m, &rng, i - n, i, 3);
      if (i / n / n) add_joint(&m, &rng, i - n * n, i, 3);
    }
    CniDirect *d;
    CHECK_OK(cni_direct_create(&a, &d));
    CHECK_OK(cni_direct_shape(d, &m.system));
    CHECK(cni_direct_fits(d) == (deep == 1));
    CHECK_OK(cni_direct_shape(d, &m.system)); // known
    CHECK(cni_direct_fits(d) == (deep == 1));
    cni_direct_destroy(d);
    machine_free(&m);
  }
}

static void no_memory(void **state) {
  (void)state;
  CniRng rng = {12};
  Machine m = hub_machine(&rng, 9, 1, 1);
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  for (int n = 1;; n++) {
    CniDirect *d;
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cni_direct_create(&hook, &d);
    if (status == CN_OK) status = cni_direct_shape(d, &m.system);
    cni_direct_destroy(d);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    test_alloc_check_clean(&alloc);
  }
  machine_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_machines), cmocka_unit_test(levels),
      cmocka_unit_test(mass_ratios),     cmocka_unit_test(hubs),
      cmocka_unit_test(thin_bodies),     cmocka_unit_test(door),
      cmocka_unit_test(copies),          cmocka_unit_test(linear_chain),
      cmocka_unit_test(workers),         cmocka_unit_test(lattices),
      cmocka_unit_test(no_memory),       cmocka_unit_test(plane_loops),
      cmocka_unit_test(elimination),     cmocka_unit_test(imposed_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
