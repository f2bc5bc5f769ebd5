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

// One operation of one lane after the other: x and y are its operands.
#define CNI_WIDE_INLINE static inline
#define CNI_UNARY(Type, name, expression)                                                          \
  CNI_WIDE_INLINE Type name(Type x) { return expression; }
#define CNI_BINARY(Type, Operand, name, expression)                                                \
  CNI_WIDE_INLINE Type name(Operand x, Operand y) { return expression; }

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
#define CNI_X86(operation) _mm512_##operation
typedef __m512d CniWide;
typedef __mmask8 CniMask;

#define CNI_BITS(x) _mm512_castpd_si512(x)
#define CNI_SIGN CNI_BITS(_mm512_set1_pd(-0.0))
CNI_UNARY(CniWide, cni_wide_neg, _mm512_castsi512_pd(_mm512_xor_si512(CNI_BITS(x), CNI_SIGN)))
CNI_UNARY(CniWide, cni_wide_abs, _mm512_castsi512_pd(_mm512_andnot_si512(CNI_SIGN, CNI_BITS(x))))
CNI_BINARY(CniMask, CniWide, cni_wide_less, _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ))
CNI_BINARY(CniMask, CniWide, cni_wide_less_equal, _mm512_cmp_pd_mask(x, y, _CMP_LE_OQ))
CNI_BINARY(CniMask, CniWide, cni_wide_equal, _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ))
CNI_BINARY(CniMask, CniMask, cni_mask_and, (CniMask)(x &y))
CNI_BINARY(CniMask, CniMask, cni_mask_or, (CniMask)(x | y))
CNI_UNARY(CniMask, cni_mask_not, (CniMask)~x)
CNI_WIDE_INLINE int cni_mask_any(CniMask a) { return a != 0; }
CNI_WIDE_INLINE CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return _mm512_mask_blend_pd(m, b, a);
}
// Loads beat the gather instruction on most processors.
CNI_WIDE_INLINE CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return _mm512_set_pd(p[i[7]], p[i[6]], p[i[5]], p[i[4]], p[i[3]], p[i[2]], p[i[1]], p[i[0]]);
}

#elif defined(CNI_WIDE_AVX2)
// ---- AVX2, in one register or two ----
//
// Two are for kernels that wait for one result after the other: the two halves of the lanes are
// worked on side by side, and one fills the waits of the other.
#include <immintrin.h>

#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_AVX2
#define CNI_WIDE_NAME(name) name##_avx2
#define CNI_X86(operation) _mm256_##operation
#if defined(CNI_AVX2_TWICE)
#define CNI_LANES 8
typedef struct CniWide {
  __m256d low, high;
} CniWide;
typedef CniWide CniMask;
#undef CNI_WIDE_INLINE
#undef CNI_UNARY
#undef CNI_BINARY
#define CNI_WIDE_INLINE static inline __attribute__((always_inline))
#define CNI_UNARY(Type, name, expression)                                                          \
  static inline __m256d name##_half(__m256d x) { return expression; }                              \
  CNI_WIDE_INLINE Type name(Type a) { return (Type){name##_half(a.low), name##_half(a.high)}; }
#define CNI_BINARY(Type, Operand, name, expression)                                                \
  static inline __m256d name##_half(__m256d x, __m256d y) { return expression; }                   \
  CNI_WIDE_INLINE Type name(Operand a, Operand b) {                                                \
    return (Type){name##_half(a.low, b.low), name##_half(a.high, b.high)};                         \
  }
CNI_WIDE_INLINE CniWide cni_wide_load(const double *p) {
  return (CniWide){_mm256_load_pd(p), _mm256_load_pd(p + 4)};
}
CNI_WIDE_INLINE void cni_wide_store(double *p, CniWide a) {
  _mm256_store_pd(p, a.low);
  _mm256_store_pd(p + 4, a.high);
}
CNI_WIDE_INLINE CniWide cni_wide_set(double x) {
  return (CniWide){_mm256_set1_pd(x), _mm256_set1_pd(x)};
}
CNI_WIDE_INLINE int cni_mask_any(CniMask a) {
  return _mm256_movemask_pd(_mm256_or_pd(a.low, a.high)) != 0;
}
CNI_WIDE_INLINE CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return (CniWide){_mm256_blendv_pd(b.low, a.low, m.low), _mm256_blendv_pd(b.high, a.high, m.high)};
}
CNI_WIDE_INLINE CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return (CniWide){_mm256_set_pd(p[i[3]], p[i[2]], p[i[1]], p[i[0]]),
                   _mm256_set_pd(p[i[7]], p[i[6]], p[i[5]], p[i[4]])};
}
#else
#define CNI_LANES 4
typedef __m256d CniWide;
typedef __m256d CniMask;
CNI_WIDE_INLINE int cni_mask_any(CniMask a) { return _mm256_movemask_pd(a) != 0; }
CNI_WIDE_INLINE CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return _mm256_blendv_pd(b, a, m);
}
CNI_WIDE_INLINE CniWide cni_wide_gather(const double *p, const int32_t *i) {
  return _mm256_set_pd(p[i[3]], p[i[2]], p[i[1]], p[i[0]]);
}
#endif
CNI_BINARY(CniMask, CniWide, cni_wide_less, _mm256_cmp_pd(x, y, _CMP_LT_OQ))
CNI_BINARY(CniMask, CniWide, cni_wide_less_equal, _mm256_cmp_pd(x, y, _CMP_LE_OQ))
CNI_BINARY(CniMask, CniWide, cni_wide_equal, _mm256_cmp_pd(x, y, _CMP_EQ_OQ))
CNI_UNARY(CniMask, cni_mask_not, _mm256_xor_pd(x, _mm256_castsi256_pd(_mm256_set1_epi64x(-1))))

#elif defined(CNI_WIDE_SSE2)
// ---- SSE2 ----
#include <emmintrin.h>

#define CNI_LANES 2
#define CNI_WIDE_LEVEL CNI_SIMD_LEVEL_SSE2
#define CNI_WIDE_NAME(name) name##_sse2
#define CNI_X86(operation) _mm_##operation
typedef __m128d CniWide;
typedef __m128d CniMask;

CNI_BINARY(CniMask, CniWide, cni_wide_less, _mm_cmplt_pd(x, y))
CNI_BINARY(CniMask, CniWide, cni_wide_less_equal, _mm_cmple_pd(x, y))
CNI_BINARY(CniMask, CniWide, cni_wide_equal, _mm_cmpeq_pd(x, y))
CNI_UNARY(CniMask, cni_mask_not, _mm_xor_pd(x, _mm_castsi128_pd(_mm_set1_epi32(-1))))
CNI_WIDE_INLINE int cni_mask_any(CniMask a) { return _mm_movemask_pd(a) != 0; }
CNI_WIDE_INLINE CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return _mm_or_pd(_mm_and_pd(m, a), _mm_andnot_pd(m, b));
}
CNI_WIDE_INLINE CniWide cni_wide_gather(const double *p, const int32_t *i) {
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

CNI_WIDE_INLINE CniWide cni_wide_load(const double *p) { return vld1q_f64(p); }
CNI_WIDE_INLINE void cni_wide_store(double *p, CniWide a) { vst1q_f64(p, a); }
CNI_WIDE_INLINE CniWide cni_wide_set(double x) { return vdupq_n_f64(x); }
CNI_BINARY(CniWide, CniWide, cni_wide_add, vaddq_f64(x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_sub, vsubq_f64(x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_mul, vmulq_f64(x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_div, vdivq_f64(x, y))
CNI_UNARY(CniWide, cni_wide_sqrt, vsqrtq_f64(x))
CNI_UNARY(CniWide, cni_wide_neg, vnegq_f64(x))
CNI_UNARY(CniWide, cni_wide_abs, vabsq_f64(x))
CNI_BINARY(CniMask, CniWide, cni_wide_less, vcltq_f64(x, y))
CNI_BINARY(CniMask, CniWide, cni_wide_less_equal, vcleq_f64(x, y))
CNI_BINARY(CniMask, CniWide, cni_wide_equal, vceqq_f64(x, y))
CNI_BINARY(CniMask, CniMask, cni_mask_and, vandq_u64(x, y))
CNI_BINARY(CniMask, CniMask, cni_mask_or, vorrq_u64(x, y))
CNI_UNARY(CniMask, cni_mask_not, vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(x))))
// The machine's own minimum treats NaN and zeros in another way.
CNI_BINARY(CniWide, CniWide, cni_wide_min, vbslq_f64(vcltq_f64(x, y), x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_max, vbslq_f64(vcgtq_f64(x, y), x, y))
CNI_WIDE_INLINE int cni_mask_any(CniMask a) {
  return (vgetq_lane_u64(a, 0) | vgetq_lane_u64(a, 1)) != 0;
}
CNI_WIDE_INLINE CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  return vbslq_f64(m, a, b);
}
CNI_WIDE_INLINE CniWide cni_wide_gather(const double *p, const int32_t *i) {
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

#define CNI_EACH_LANE for (int i = 0; i < CNI_LANES; ++i)
#undef CNI_UNARY
#undef CNI_BINARY
#define CNI_BINARY(Type, Operand, name, expression)                                                \
  static inline Type name(Operand a, Operand b) {                                                  \
    Type r;                                                                                        \
    CNI_EACH_LANE {                                                                                \
      __typeof__(a.lane[0]) x = a.lane[i], y = b.lane[i];                                          \
      r.lane[i] = (expression);                                                                    \
    }                                                                                              \
    return r;                                                                                      \
  }
#define CNI_UNARY(Type, name, expression)                                                          \
  static inline Type name(Type a) {                                                                \
    CNI_EACH_LANE {                                                                                \
      __typeof__(a.lane[0]) x = a.lane[i];                                                         \
      a.lane[i] = (expression);                                                                    \
    }                                                                                              \
    return a;                                                                                      \
  }

static inline CniWide cni_wide_load(const double *p) {
  CniWide r;
  memcpy(r.lane, p, sizeof r.lane);
  return r;
}
static inline void cni_wide_store(double *p, CniWide a) { memcpy(p, a.lane, sizeof a.lane); }
static inline CniWide cni_wide_set(double x) {
  CniWide r;
  CNI_EACH_LANE r.lane[i] = x;
  return r;
}
CNI_BINARY(CniWide, CniWide, cni_wide_add, x + y)
CNI_BINARY(CniWide, CniWide, cni_wide_sub, x - y)
CNI_BINARY(CniWide, CniWide, cni_wide_mul, x *y)
CNI_BINARY(CniWide, CniWide, cni_wide_div, x / y)
CNI_BINARY(CniWide, CniWide, cni_wide_min, x < y ? x : y)
CNI_BINARY(CniWide, CniWide, cni_wide_max, x > y ? x : y)
CNI_BINARY(CniMask, CniWide, cni_wide_less, x < y)
CNI_BINARY(CniMask, CniWide, cni_wide_less_equal, x <= y)
CNI_BINARY(CniMask, CniWide, cni_wide_equal, x == y)
CNI_BINARY(CniMask, CniMask, cni_mask_and, x &y)
CNI_BINARY(CniMask, CniMask, cni_mask_or, x | y)
CNI_UNARY(CniMask, cni_mask_not, x ^ 1)
CNI_UNARY(CniWide, cni_wide_sqrt, sqrt(x))
CNI_UNARY(CniWide, cni_wide_neg, -x)
CNI_UNARY(CniWide, cni_wide_abs, fabs(x))
static inline int cni_mask_any(CniMask a) {
  int64_t any = 0;
  CNI_EACH_LANE any |= a.lane[i];
  return any != 0;
}
static inline CniWide cni_wide_select(CniMask m, CniWide a, CniWide b) {
  CNI_EACH_LANE b.lane[i] = m.lane[i] ? a.lane[i] : b.lane[i];
  return b;
}
static inline CniWide cni_wide_gather(const double *p, const int32_t *index) {
  CniWide r;
  CNI_EACH_LANE r.lane[i] = p[index[i]];
  return r;
}
#endif

#if defined(CNI_X86)
// ---- what the instruction sets of x86 share ----
#if !defined(CNI_AVX2_TWICE) || !defined(CNI_WIDE_AVX2)
CNI_WIDE_INLINE CniWide cni_wide_load(const double *p) { return CNI_X86(load_pd)(p); }
CNI_WIDE_INLINE void cni_wide_store(double *p, CniWide a) { CNI_X86(store_pd)(p, a); }
CNI_WIDE_INLINE CniWide cni_wide_set(double x) { return CNI_X86(set1_pd)(x); }
#endif
CNI_BINARY(CniWide, CniWide, cni_wide_add, CNI_X86(add_pd)(x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_sub, CNI_X86(sub_pd)(x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_mul, CNI_X86(mul_pd)(x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_div, CNI_X86(div_pd)(x, y))
// The instructions return their second operand for NaN and for zeros: exactly x < y ? x : y.
CNI_BINARY(CniWide, CniWide, cni_wide_min, CNI_X86(min_pd)(x, y))
CNI_BINARY(CniWide, CniWide, cni_wide_max, CNI_X86(max_pd)(x, y))
CNI_UNARY(CniWide, cni_wide_sqrt, CNI_X86(sqrt_pd)(x))
#if !defined(CNI_WIDE_AVX512)
CNI_UNARY(CniWide, cni_wide_neg, CNI_X86(xor_pd)(x, CNI_X86(set1_pd)(-0.0)))
CNI_UNARY(CniWide, cni_wide_abs, CNI_X86(andnot_pd)(CNI_X86(set1_pd)(-0.0), x))
CNI_BINARY(CniMask, CniMask, cni_mask_and, CNI_X86(and_pd)(x, y))
CNI_BINARY(CniMask, CniMask, cni_mask_or, CNI_X86(or_pd)(x, y))
#endif
#endif
#undef CNI_UNARY
#undef CNI_BINARY

// ---- the same for all ----

// The function NAME(level) that gives the kernels of a level, null where there are none: in a file that
// includes the kernels, so that those every processor of the family runs (SSE2, NEON) are among them.
#if defined(CNI_WIDE_PLAIN)
#define CNI_CHOOSE_KERNELS(Type, name)                                                             \
  extern const Type name##_plain;                                                                  \
  const Type *name(CniSimdLevel level) {                                                           \
    return level == CNI_SIMD_LEVEL_PLAIN ? &name##_plain : NULL;                                   \
  }
#elif defined(__x86_64__)
#define CNI_CHOOSE_KERNELS(Type, name)                                                             \
  extern const Type name##_plain, name##_avx2, name##_avx512;                                      \
  const Type *name(CniSimdLevel level) {                                                           \
    return level == CNI_SIMD_LEVEL_PLAIN    ? &name##_plain                                        \
           : level == CNI_SIMD_LEVEL_AVX2   ? &name##_avx2                                         \
           : level == CNI_SIMD_LEVEL_AVX512 ? &name##_avx512                                       \
           : level == CNI_WIDE_LEVEL        ? &CNI_WIDE_NAME(name)                                 \
                                            : NULL;                                                       \
  }
#else
#define CNI_CHOOSE_KERNELS(Type, name)                                                             \
  extern const Type name##_plain;                                                                  \
  const Type *name(CniSimdLevel level) {                                                           \
    return level == CNI_SIMD_LEVEL_PLAIN ? &name##_plain                                           \
           : level == CNI_WIDE_LEVEL     ? &CNI_WIDE_NAME(name)                                    \
                                         : NULL;                                                       \
  }
#endif

// p[i[lane]] = a[lane], lanes in ascending order.
static inline void cni_wide_scatter(double *p, const int32_t *i, CniWide a) {
  _Alignas(64) double lane[CNI_LANES];
  cni_wide_store(lane, a);
  for (int k = 0; k < CNI_LANES; ++k) p[i[k]] = lane[k];
}

#endif
