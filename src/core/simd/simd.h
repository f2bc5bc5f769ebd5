// SPDX-License-Identifier: Apache-2.0
// Wide arithmetic: one type of CNI_LANES doubles with the same bits on every machine.
//
// The width follows the flags the including file is compiled with: AVX-512 8 lanes, AVX2 4, SSE2
// and NEON 2, plain C otherwise and wherever CNI_SIMD_PLAIN is defined. A kernel is written once in
// a file that is compiled once a level and chosen at run time by cni_simd_level():
//
//   // kernel_avx2.c, compiled with -mavx2 because of its name (cmake/Library.cmake)
//   #include "kernel.inc"        // defines void CNI_WIDE_NAME(kernel)(...), here kernel_avx2
//
// Every operation is one IEEE operation a lane, there is no fused multiply-add and no estimate, so
// a lane computes what a scalar would. Minimum and maximum are the comparisons of cn_min and
// cn_max, which fixes their answers for NaN and for zeros of both signs. Only the payload of a NaN
// that an arithmetic operation makes is left open.
#ifndef CNI_CORE_SIMD_H
#define CNI_CORE_SIMD_H

#include <math.h>
#include <stdint.h>

typedef enum CniSimdLevel {
  CNI_SIMD_LEVEL_PLAIN = 0,
  CNI_SIMD_LEVEL_SSE2,
  CNI_SIMD_LEVEL_AVX2,
  CNI_SIMD_LEVEL_AVX512,
  CNI_SIMD_LEVEL_NEON
} CniSimdLevel;

// The widest level this machine runs; plain in a build without SIMD.
CniSimdLevel cni_simd_level(void);
const char *cni_simd_level_name(CniSimdLevel level); // "avx2"
int32_t cni_simd_lanes(CniSimdLevel level);

#if defined(CNI_SIMD_PLAIN) || defined(CNI_SIMD_OFF)
#define CNI_WIDE_PLAIN
#elif defined(__AVX512F__) || defined(CNI_EMULATE_AVX512)
#define CNI_WIDE_AVX512
#elif defined(__AVX2__)
#define CNI_WIDE_AVX2
#elif defined(__SSE2__)
#define CNI_WIDE_SSE2
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define CNI_WIDE_NEON
#else
#define CNI_WIDE_PLAIN
#endif

#if defined(CNI_WIDE_AVX512)
// ---- AVX-512: only instructions of its foundation part ----
#if defined(CNI_EMULATE_AVX512)
// each as a function of instructions that every machine has: to test on those without
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#else
#include <immintrin.h>
#endif

#define CNI_LANES 8
#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_AVX512
#define CNI_WIDE_NAME(name) name##_avx512
typedef __m512d CniWide;
typedef __mmask8 CniMask;

static inline CniWide cni_wide_load(const double *p) { return _mm512_load_pd(p); }
static inline void cni_wide_store(double *p, CniWide a) { _mm512_store_pd(p, a); }
static inline CniWide cni_wide_set(double x) { return _mm512_set1_pd(x); }
static inline CniWide cni_wide_add(CniWide a, CniWide b) { return _mm512_add_pd(a, b); }
static inline CniWide cni_wide_sub(CniWide a, CniWide b) { return _mm512_sub_pd(a, b); }
static inline CniWide cni_wide_mul(CniWide a, CniWide b) { return _mm512_mul_pd(a, b); }
static inline CniWide cni_wide_div(CniWide a, CniWide b) { return _mm512_div_pd(a, b); }
static inline CniWide cni_wide_sqrt(CniWide a) { return _mm512_sqrt_pd(a); }
static inline CniWide cni_wide_neg(CniWide a) {
  __m512i sign = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
  return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(a), sign));
}
static inline CniWide cni_wide_abs(CniWide a) {
  __m512i sign = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
  return _mm512_castsi512_pd(_mm512_andnot_si512(sign, _mm512_castpd_si512(a)));
}
static inline CniMask cni_wide_less(CniWide a, CniWide b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
static inline CniMask cni_wide_less_equal(CniWide a, CniWide b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
}
static inline CniMask cni_wide_equal(CniWide a, CniWide b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
static inline CniMask cni_mask_and(CniMask a, CniMask b) { return (CniMask)(a & b); }
static inline CniMask cni_mask_or(CniMask a, CniMask b) { return (CniMask)(a | b); }
static inline CniMask cni_mask_not(CniMask a) { return (CniMask)~a; }
static inline int cni_mask_any(CniMask a) { return a != 0; }
static inline CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return _mm512_mask_blend_pd(m, b, a);
}
// The instruction returns its second operand for NaN and for zeros: exactly a < b ? a : b.
static inline CniWide cni_wide_min(CniWide a, CniWide b) { return _mm512_min_pd(a, b); }
static inline CniWide cni_wide_max(CniWide a, CniWide b) { return _mm512_max_pd(a, b); }
// Loads beat the gather instruction on most processors.
static inline CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return _mm512_set_pd(p[i[7]], p[i[6]], p[i[5]], p[i[4]], p[i[3]], p[i[2]], p[i[1]], p[i[0]]);
}

#elif defined(CNI_WIDE_AVX2) && defined(CNI_AVX2_TWICE)
// ---- AVX2, two registers ----
//
// For kernels that wait for one result after the other: the two halves of the lanes are worked on
// side by side, and one fills the waits of the other.
#include <immintrin.h>

#define CNI_LANES 8
#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_AVX2
#define CNI_WIDE_NAME(name) name##_avx2
typedef struct CniWide {
  __m256d low, high;
} CniWide;
typedef CniWide CniMask;

#define CNI_TWICE static inline __attribute__((always_inline))
#define CNI_TWICE_UNARY(name, expression)                                                          \
  static inline __m256d name##_half(__m256d x) { return expression; }                              \
  CNI_TWICE CniWide name(CniWide a) { return (CniWide){name##_half(a.low), name##_half(a.high)}; }
#define CNI_TWICE_BINARY(name, expression)                                                         \
  static inline __m256d name##_half(__m256d x, __m256d y) { return expression; }                   \
  CNI_TWICE CniWide name(CniWide a, CniWide b) {                                                   \
    return (CniWide){name##_half(a.low, b.low), name##_half(a.high, b.high)};                      \
  }
CNI_TWICE CniWide cni_wide_load(const double *p) {
  return (CniWide){_mm256_load_pd(p), _mm256_load_pd(p + 4)};
}
CNI_TWICE void cni_wide_store(double *p, CniWide a) {
  _mm256_store_pd(p, a.low);
  _mm256_store_pd(p + 4, a.high);
}
CNI_TWICE CniWide cni_wide_set(double x) { return (CniWide){_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
CNI_TWICE_BINARY(cni_wide_add, _mm256_add_pd(x, y))
CNI_TWICE_BINARY(cni_wide_sub, _mm256_sub_pd(x, y))
CNI_TWICE_BINARY(cni_wide_mul, _mm256_mul_pd(x, y))
CNI_TWICE_BINARY(cni_wide_div, _mm256_div_pd(x, y))
CNI_TWICE_BINARY(cni_wide_min, _mm256_min_pd(x, y))
CNI_TWICE_BINARY(cni_wide_max, _mm256_max_pd(x, y))
CNI_TWICE_BINARY(cni_wide_less, _mm256_cmp_pd(x, y, _CMP_LT_OQ))
CNI_TWICE_BINARY(cni_wide_less_equal, _mm256_cmp_pd(x, y, _CMP_LE_OQ))
CNI_TWICE_BINARY(cni_wide_equal, _mm256_cmp_pd(x, y, _CMP_EQ_OQ))
CNI_TWICE_BINARY(cni_mask_and, _mm256_and_pd(x, y))
CNI_TWICE_BINARY(cni_mask_or, _mm256_or_pd(x, y))
CNI_TWICE_UNARY(cni_wide_sqrt, _mm256_sqrt_pd(x))
CNI_TWICE_UNARY(cni_wide_neg, _mm256_xor_pd(x, _mm256_set1_pd(-0.0)))
CNI_TWICE_UNARY(cni_wide_abs, _mm256_andnot_pd(_mm256_set1_pd(-0.0), x))
CNI_TWICE_UNARY(cni_mask_not, _mm256_xor_pd(x, _mm256_castsi256_pd(_mm256_set1_epi64x(-1))))
#undef CNI_TWICE_UNARY
#undef CNI_TWICE_BINARY
CNI_TWICE int cni_mask_any(CniMask a) {
  return _mm256_movemask_pd(_mm256_or_pd(a.low, a.high)) != 0;
}
CNI_TWICE CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return (CniWide){_mm256_blendv_pd(b.low, a.low, m.low), _mm256_blendv_pd(b.high, a.high, m.high)};
}
CNI_TWICE CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return (CniWide){_mm256_set_pd(p[i[3]], p[i[2]], p[i[1]], p[i[0]]),
                   _mm256_set_pd(p[i[7]], p[i[6]], p[i[5]], p[i[4]])};
}

#elif defined(CNI_WIDE_AVX2)
// ---- AVX2 ----
#include <immintrin.h>

#define CNI_LANES 4
#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_AVX2
#define CNI_WIDE_NAME(name) name##_avx2
typedef __m256d CniWide;
typedef __m256d CniMask;

static inline CniWide cni_wide_load(const double *p) { return _mm256_load_pd(p); }
static inline void cni_wide_store(double *p, CniWide a) { _mm256_store_pd(p, a); }
static inline CniWide cni_wide_set(double x) { return _mm256_set1_pd(x); }
static inline CniWide cni_wide_add(CniWide a, CniWide b) { return _mm256_add_pd(a, b); }
static inline CniWide cni_wide_sub(CniWide a, CniWide b) { return _mm256_sub_pd(a, b); }
static inline CniWide cni_wide_mul(CniWide a, CniWide b) { return _mm256_mul_pd(a, b); }
static inline CniWide cni_wide_div(CniWide a, CniWide b) { return _mm256_div_pd(a, b); }
static inline CniWide cni_wide_sqrt(CniWide a) { return _mm256_sqrt_pd(a); }
static inline CniWide cni_wide_neg(CniWide a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
static inline CniWide cni_wide_abs(CniWide a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
static inline CniMask cni_wide_less(CniWide a, CniWide b) {
  return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}
static inline CniMask cni_wide_less_equal(CniWide a, CniWide b) {
  return _mm256_cmp_pd(a, b, _CMP_LE_OQ);
}
static inline CniMask cni_wide_equal(CniWide a, CniWide b) {
  return _mm256_cmp_pd(a, b, _CMP_EQ_OQ);
}
static inline CniMask cni_mask_and(CniMask a, CniMask b) { return _mm256_and_pd(a, b); }
static inline CniMask cni_mask_or(CniMask a, CniMask b) { return _mm256_or_pd(a, b); }
static inline CniMask cni_mask_not(CniMask a) {
  return _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
}
static inline int cni_mask_any(CniMask a) { return _mm256_movemask_pd(a) != 0; }
static inline CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return _mm256_blendv_pd(b, a, m);
}
// The instruction returns its second operand for NaN and for zeros: exactly a < b ? a : b.
static inline CniWide cni_wide_min(CniWide a, CniWide b) { return _mm256_min_pd(a, b); }
static inline CniWide cni_wide_max(CniWide a, CniWide b) { return _mm256_max_pd(a, b); }
// Loads beat the gather instruction on most processors.
static inline CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return _mm256_set_pd(p[i[3]], p[i[2]], p[i[1]], p[i[0]]);
}

#elif defined(CNI_WIDE_SSE2)
// ---- SSE2 ----
#include <emmintrin.h>

#define CNI_LANES 2
#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_SSE2
#define CNI_WIDE_NAME(name) name##_sse2
typedef __m128d CniWide;
typedef __m128d CniMask;

static inline CniWide cni_wide_load(const double *p) { return _mm_load_pd(p); }
static inline void cni_wide_store(double *p, CniWide a) { _mm_store_pd(p, a); }
static inline CniWide cni_wide_set(double x) { return _mm_set1_pd(x); }
static inline CniWide cni_wide_add(CniWide a, CniWide b) { return _mm_add_pd(a, b); }
static inline CniWide cni_wide_sub(CniWide a, CniWide b) { return _mm_sub_pd(a, b); }
static inline CniWide cni_wide_mul(CniWide a, CniWide b) { return _mm_mul_pd(a, b); }
static inline CniWide cni_wide_div(CniWide a, CniWide b) { return _mm_div_pd(a, b); }
static inline CniWide cni_wide_sqrt(CniWide a) { return _mm_sqrt_pd(a); }
static inline CniWide cni_wide_neg(CniWide a) { return _mm_xor_pd(a, _mm_set1_pd(-0.0)); }
static inline CniWide cni_wide_abs(CniWide a) { return _mm_andnot_pd(_mm_set1_pd(-0.0), a); }
static inline CniMask cni_wide_less(CniWide a, CniWide b) { return _mm_cmplt_pd(a, b); }
static inline CniMask cni_wide_less_equal(CniWide a, CniWide b) { return _mm_cmple_pd(a, b); }
static inline CniMask cni_wide_equal(CniWide a, CniWide b) { return _mm_cmpeq_pd(a, b); }
static inline CniMask cni_mask_and(CniMask a, CniMask b) { return _mm_and_pd(a, b); }
static inline CniMask cni_mask_or(CniMask a, CniMask b) { return _mm_or_pd(a, b); }
static inline CniMask cni_mask_not(CniMask a) {
  return _mm_xor_pd(a, _mm_castsi128_pd(_mm_set1_epi32(-1)));
}
static inline int cni_mask_any(CniMask a) { return _mm_movemask_pd(a) != 0; }
static inline CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return _mm_or_pd(_mm_and_pd(m, a), _mm_andnot_pd(m, b));
}
// The instruction returns its second operand for NaN and for zeros: exactly a < b ? a : b.
static inline CniWide cni_wide_min(CniWide a, CniWide b) { return _mm_min_pd(a, b); }
static inline CniWide cni_wide_max(CniWide a, CniWide b) { return _mm_max_pd(a, b); }
static inline CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return _mm_set_pd(p[i[1]], p[i[0]]);
}

#elif defined(CNI_WIDE_NEON)
// ---- NEON, 64-bit ARM ----
#include <arm_neon.h>

#define CNI_LANES 2
#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_NEON
#define CNI_WIDE_NAME(name) name##_neon
typedef float64x2_t CniWide;
typedef uint64x2_t CniMask;

static inline CniWide cni_wide_load(const double *p) { return vld1q_f64(p); }
static inline void cni_wide_store(double *p, CniWide a) { vst1q_f64(p, a); }
static inline CniWide cni_wide_set(double x) { return vdupq_n_f64(x); }
static inline CniWide cni_wide_add(CniWide a, CniWide b) { return vaddq_f64(a, b); }
static inline CniWide cni_wide_sub(CniWide a, CniWide b) { return vsubq_f64(a, b); }
static inline CniWide cni_wide_mul(CniWide a, CniWide b) { return vmulq_f64(a, b); }
static inline CniWide cni_wide_div(CniWide a, CniWide b) { return vdivq_f64(a, b); }
static inline CniWide cni_wide_sqrt(CniWide a) { return vsqrtq_f64(a); }
static inline CniWide cni_wide_neg(CniWide a) { return vnegq_f64(a); }
static inline CniWide cni_wide_abs(CniWide a) { return vabsq_f64(a); }
static inline CniMask cni_wide_less(CniWide a, CniWide b) { return vcltq_f64(a, b); }
static inline CniMask cni_wide_less_equal(CniWide a, CniWide b) { return vcleq_f64(a, b); }
static inline CniMask cni_wide_equal(CniWide a, CniWide b) { return vceqq_f64(a, b); }
static inline CniMask cni_mask_and(CniMask a, CniMask b) { return vandq_u64(a, b); }
static inline CniMask cni_mask_or(CniMask a, CniMask b) { return vorrq_u64(a, b); }
static inline CniMask cni_mask_not(CniMask a) {
  return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(a)));
}
static inline int cni_mask_any(CniMask a) {
  return (vgetq_lane_u64(a, 0) | vgetq_lane_u64(a, 1)) != 0;
}
static inline CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return vbslq_f64(m, a, b);
}
// The machine's own minimum treats NaN and zeros in another way.
static inline CniWide cni_wide_min(CniWide a, CniWide b) {
  return vbslq_f64(vcltq_f64(a, b), a, b);
}
static inline CniWide cni_wide_max(CniWide a, CniWide b) {
  return vbslq_f64(vcgtq_f64(a, b), a, b);
}
static inline CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return vsetq_lane_f64(p[i[1]], vdupq_n_f64(p[i[0]]), 1);
}

#else
// ---- plain C ----
#include <string.h>

// A file with long kernels may ask for one lane: compilers then see ordinary scalar code.
#ifndef CNI_PLAIN_LANES
#define CNI_PLAIN_LANES 4
#endif
#define CNI_LANES CNI_PLAIN_LANES
#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_PLAIN
#define CNI_WIDE_NAME(name) name##_plain
typedef struct CniWide {
  double lane[CNI_LANES];
} CniWide;
typedef struct CniMask {
  int64_t lane[CNI_LANES]; // 0 or 1
} CniMask;

// One function over the lanes; x and y are the operands of a lane.
#define CNI_PLAIN_BINARY(name, Type, expression)                                                   \
  static inline Type name(CniWide a, CniWide b) {                                                  \
    Type r;                                                                                        \
    for (int i = 0; i < CNI_LANES; ++i) {                                                          \
      double x = a.lane[i], y = b.lane[i];                                                         \
      r.lane[i] = (expression);                                                                    \
    }                                                                                              \
    return r;                                                                                      \
  }
#define CNI_PLAIN_UNARY(name, expression)                                                          \
  static inline CniWide name(CniWide a) {                                                          \
    CniWide r;                                                                                     \
    for (int i = 0; i < CNI_LANES; ++i) {                                                          \
      double x = a.lane[i];                                                                        \
      r.lane[i] = (expression);                                                                    \
    }                                                                                              \
    return r;                                                                                      \
  }

static inline CniWide cni_wide_load(const double *p) {
  CniWide r;
  memcpy(r.lane, p, sizeof r.lane);
  return r;
}
static inline void cni_wide_store(double *p, CniWide a) { memcpy(p, a.lane, sizeof a.lane); }
static inline CniWide cni_wide_set(double x) {
  CniWide r;
  for (int i = 0; i < CNI_LANES; ++i) r.lane[i] = x;
  return r;
}
CNI_PLAIN_BINARY(cni_wide_add, CniWide, x + y)
CNI_PLAIN_BINARY(cni_wide_sub, CniWide, x - y)
CNI_PLAIN_BINARY(cni_wide_mul, CniWide, x *y)
CNI_PLAIN_BINARY(cni_wide_div, CniWide, x / y)
CNI_PLAIN_BINARY(cni_wide_min, CniWide, x < y ? x : y)
CNI_PLAIN_BINARY(cni_wide_max, CniWide, x > y ? x : y)
CNI_PLAIN_BINARY(cni_wide_less, CniMask, x < y)
CNI_PLAIN_BINARY(cni_wide_less_equal, CniMask, x <= y)
CNI_PLAIN_BINARY(cni_wide_equal, CniMask, x == y)
CNI_PLAIN_UNARY(cni_wide_sqrt, sqrt(x))
CNI_PLAIN_UNARY(cni_wide_neg, -x)
CNI_PLAIN_UNARY(cni_wide_abs, fabs(x))
#undef CNI_PLAIN_BINARY
#undef CNI_PLAIN_UNARY

static inline CniMask cni_mask_and(CniMask a, CniMask b) {
  for (int i = 0; i < CNI_LANES; ++i) a.lane[i] &= b.lane[i];
  return a;
}
static inline CniMask cni_mask_or(CniMask a, CniMask b) {
  for (int i = 0; i < CNI_LANES; ++i) a.lane[i] |= b.lane[i];
  return a;
}
static inline CniMask cni_mask_not(CniMask a) {
  for (int i = 0; i < CNI_LANES; ++i) a.lane[i] ^= 1;
  return a;
}
static inline int cni_mask_any(CniMask a) {
  int64_t any = 0;
  for (int i = 0; i < CNI_LANES; ++i) any |= a.lane[i];
  return any != 0;
}
static inline CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  for (int i = 0; i < CNI_LANES; ++i) b.lane[i] = m.lane[i] ? a.lane[i] : b.lane[i];
  return b;
}
static inline CniWide cni_wide_gather(const double *p, const int32_t *i) {
  CniWide r;
  for (int k = 0; k < CNI_LANES; ++k) r.lane[k] = p[i[k]];
  return r;
}
#endif

// ---- the same for all ----

// p[i[lane]] = a[lane], lanes in ascending order.
static inline void cni_wide_scatter(double *p, const int32_t *i, CniWide a) {
  _Alignas(64) double lane[CNI_LANES];
  cni_wide_store(lane, a);
  for (int k = 0; k < CNI_LANES; ++k) p[i[k]] = lane[k];
}

#endif
