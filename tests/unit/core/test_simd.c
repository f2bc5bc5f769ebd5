// SPDX-License-Identifier: Apache-2.0
// Every wide level that was built and that this machine runs, against scalars, bit for bit, on
// ordinary and on special numbers (zeros of both signs, infinities, NaN, subnormals, extremes).

#include "check.h"
#include "core/rng.h"
#include "core/simd/simd.h"
#include "core/vec.h"
#include "simd_backend.h"

#include <float.h>
#include <string.h>

typedef struct Backend {
  CniSimdLevel level;
  SimdBackend run;
} Backend;

// SIMD_TEST_... tell what cmake/Tests.cmake has built.
static const Backend backends[] = {
    {CNI_SIMD_LEVEL_PLAIN, simd_backend_plain},
#ifdef SIMD_TEST_X86
    {CNI_SIMD_LEVEL_SSE2, simd_backend_sse2},     {CNI_SIMD_LEVEL_AVX2, simd_backend_avx2},
    {CNI_SIMD_LEVEL_AVX512, simd_backend_avx512},
#endif
#ifdef SIMD_TEST_NEON
    {CNI_SIMD_LEVEL_NEON, simd_backend_neon},
#endif
};
#define BACKEND_COUNT (sizeof backends / sizeof backends[0])

static int32_t lanes_of(CniSimdLevel level) {
  return level == CNI_SIMD_LEVEL_AVX512                                  ? 8
         : level == CNI_SIMD_LEVEL_AVX2 || level == CNI_SIMD_LEVEL_PLAIN ? 4
                                                                         : 2;
}

static int runs_here(CniSimdLevel level) {
  if (level == CNI_SIMD_LEVEL_PLAIN) return 1;
  CniSimdLevel top = cni_simd_level();
  return level == CNI_SIMD_LEVEL_NEON ? top == level : top != CNI_SIMD_LEVEL_NEON && level <= top;
}

static double number(CniRng *rng) {
  static const double special[] = {0.0,       -0.0,      1,          -1,       INFINITY,
                                   -INFINITY, NAN,       DBL_MIN,    -DBL_MIN, DBL_MAX,
                                   -DBL_MAX,  0x1p-1074, -0x1p-1060, 0x1p-540, 1 + DBL_EPSILON};
  uint64_t draw = cni_rng_next(rng) >> 33;
  if (draw % 4 == 0) return special[draw / 4 % (sizeof special / sizeof special[0])];
  if (draw % 4 == 1) return cni_rng_range(rng, -2, 2);
  uint64_t bits = cni_rng_next(rng) ^ (cni_rng_next(rng) >> 31);
  double any;
  memcpy(&any, &bits, sizeof any);
  return any;
}

static void fill(SimdData *data) {
  CniRng rng = {99};
  for (int32_t i = 0; i < SIMD_SIZE; ++i) {
    data->a[i] = number(&rng);
    data->b[i] = i % 11 == 0 ? data->a[i] : number(&rng);
    // the sum a b + c nearly cancels: a fused multiply-add would differ
    data->c[i] = i % 3 == 0 ? -(data->a[i] * data->b[i]) : number(&rng);
    data->index[i] = (int32_t)(cni_rng_next(&rng) >> 33) % SIMD_SIZE;
    data->mix[i] = i / 8 * 8 + (i * 3 + 5) % 8;
  }
}

// The reference: scalars only.
static double scalar(const SimdData *d, SimdOp op, int32_t i) {
  double a = d->a[i], b = d->b[i], c = d->c[i];
  switch (op) {
  case OP_ADD:
    return a + b;
  case OP_SUB:
    return a - b;
  case OP_MUL:
    return a * b;
  case OP_DIV:
    return a / b;
  case OP_SQRT:
    return sqrt(a);
  case OP_MUL_ADD:
    return a * b + c;
  case OP_NEG:
    return -a;
  case OP_ABS:
    return fabs(a);
  case OP_MIN:
    return cn_min(a, b);
  case OP_MAX:
    return cn_max(a, b);
  case OP_LESS:
    return a < b;
  case OP_LESS_EQUAL:
    return a <= b;
  case OP_EQUAL:
    return a == b;
  case OP_AND:
    return a < b && b < c;
  case OP_OR:
    return a < b || b < c;
  case OP_NOT:
    return !(a < b);
  case OP_SELECT:
    return a < b ? c : a;
  case OP_GATHER:
    return d->a[d->index[i]];
  case OP_SET:
    return d->a[i / 8 * 8];
  case OP_SCATTER:
    for (int32_t k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) {
      if (d->mix[k] == i) return d->b[k];
    }
    return 0;
  case OP_COUNT:
    break;
  }
  return 0;
}

// Same bits; the payload of a NaN counts only where numbers are moved, not computed.
static int same(double x, double y, SimdOp op) {
  uint64_t x_bits, y_bits;
  memcpy(&x_bits, &x, sizeof x);
  memcpy(&y_bits, &y, sizeof y);
  return x_bits == y_bits || (op <= OP_MUL_ADD && isnan(x) && isnan(y));
}

static void check_backend(const Backend *backend, const SimdData *data) {
  static SimdResult result;
  memset(&result, 0xAB, sizeof result);
  backend->run(data, &result);
  assert_int_equal(result.lanes, lanes_of(backend->level));
  assert_int_equal(result.wrong_any, 0);
  for (int op = 0; op < OP_COUNT; ++op) {
    for (int32_t i = 0; i < SIMD_SIZE; ++i) {
      double expected = scalar(data, (SimdOp)op, i);
      if (same(result.out[op][i], expected, (SimdOp)op)) continue;
      fail_msg("%s, operation %d, a = %a b = %a c = %a: %a, expected %a",
               cni_simd_level_name(backend->level), op, data->a[i], data->b[i], data->c[i],
               result.out[op][i], expected);
    }
  }
}

static void same_bits_as_scalars(void **state) {
  (void)state;
  static SimdData data;
  fill(&data);
  for (size_t k = 0; k < BACKEND_COUNT; ++k) {
    const char *name = cni_simd_level_name(backends[k].level);
    if (!runs_here(backends[k].level)) {
      print_message("%s: not on this machine, skipped\n", name);
      continue;
    }
    check_backend(&backends[k], &data);
  }
}

// NaN and zeros: the second operand wins, as with cn_min and cn_max.
static void minimum_of_zeros(void **state) {
  (void)state;
  static SimdData data;
  static SimdResult result;
  for (int32_t i = 0; i < SIMD_SIZE; ++i) {
    data.index[i] = data.mix[i] = i;
    data.a[i] = i % 2 ? 0.0 : -0.0;
    data.b[i] = i % 2 ? -0.0 : 0.0;
    if (i % 5 == 0) data.a[i] = NAN;
    data.c[i] = 1;
  }
  for (size_t k = 0; k < BACKEND_COUNT; ++k) {
    if (!runs_here(backends[k].level)) continue;
    backends[k].run(&data, &result);
    for (int32_t i = 0; i < SIMD_SIZE; ++i) {
      CHECK(same(result.out[OP_MIN][i], data.b[i], OP_MIN));
      CHECK(same(result.out[OP_MAX][i], data.b[i], OP_MAX));
    }
  }
}

static void levels(void **state) {
  (void)state;
  CniSimdLevel level = cni_simd_level();
  assert_string_equal(cni_simd_level_name(CNI_SIMD_LEVEL_PLAIN), "plain");
  assert_string_equal(cni_simd_level_name(CNI_SIMD_LEVEL_AVX512), "avx512");
  assert_string_equal(cni_simd_level_name((CniSimdLevel)77), "unknown");
#ifdef SIMD_TEST_OFF
  assert_int_equal(level, CNI_SIMD_LEVEL_PLAIN);
#elif defined(__x86_64__)
  CHECK(level >= CNI_SIMD_LEVEL_SSE2 && level <= CNI_SIMD_LEVEL_AVX512);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_bits_as_scalars),
      cmocka_unit_test(minimum_of_zeros),
      cmocka_unit_test(levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
