// Lines of eight doubles, one a lane, turned into eight wide registers and back.
//
// A velocity group is one cache line. A kernel that works on CNI_LANES groups at once needs their
// first numbers in one register, their second in the next, and so on: a transposition. Done by
// shuffles it costs three instructions a register and line, a fraction of what a gather takes, and
// it moves numbers without touching them.
#ifndef CNI_CORE_SIMD_LINES_H
#define CNI_CORE_SIMD_LINES_H

#include "core/simd.h"

#define CNI_LINE 8 // doubles

#define CNI_LINES_INLINE static inline __attribute__((always_inline))

// Numbers 2k and 2k+1 of every line. Halves of 16 bytes are read and written throughout, so that a
// read soon after a write is served by the store buffer.
#if defined(CNI_WIDE_AVX512)

CNI_LINES_INLINE __m512d cni_lines_four(const double *p0, const double *p1, const double *p2,
                                        const double *p3) {
  __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p0)), _mm_load_pd(p1), 1);
  __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p2)), _mm_load_pd(p3), 1);
  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  const double *p[8];
  for (int i = 0; i < 8; i++) p[i] = base + (size_t)line[i] * CNI_LINE + k;
  __m512d even = cni_lines_four(p[0], p[2], p[4], p[6]);
  __m512d odd = cni_lines_four(p[1], p[3], p[5], p[7]);
  *x = _mm512_unpacklo_pd(even, odd);
  *y = _mm512_unpackhi_pd(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  double *p[8];
  for (int i = 0; i < 8; i++) p[i] = base + (size_t)line[i] * CNI_LINE + k;
  __m512d even = _mm512_unpacklo_pd(x, y), odd = _mm512_unpackhi_pd(x, y);
  __m256d even_low = _mm512_castpd512_pd256(even), even_high = _mm512_extractf64x4_pd(even, 1);
  __m256d odd_low = _mm512_castpd512_pd256(odd), odd_high = _mm512_extractf64x4_pd(odd, 1);
  _mm_store_pd(p[0], _mm256_castpd256_pd128(even_low));
  _mm_store_pd(p[1], _mm256_castpd256_pd128(odd_low));
  _mm_store_pd(p[2], _mm256_extractf128_pd(even_low, 1));
  _mm_store_pd(p[3], _mm256_extractf128_pd(odd_low, 1));
  _mm_store_pd(p[4], _mm256_castpd256_pd128(even_high));
  _mm_store_pd(p[5], _mm256_castpd256_pd128(odd_high));
  _mm_store_pd(p[6], _mm256_extractf128_pd(even_high, 1));
  _mm_store_pd(p[7], _mm256_extractf128_pd(odd_high, 1));
}

#elif defined(CNI_WIDE_AVX2)

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  const double *p[4];
  for (int i = 0; i < 4; i++) p[i] = base + (size_t)line[i] * CNI_LINE + k;
  __m256d even = _mm256_castpd128_pd256(_mm_load_pd(p[0]));
  __m256d odd = _mm256_castpd128_pd256(_mm_load_pd(p[1]));
  even = _mm256_insertf128_pd(even, _mm_load_pd(p[2]), 1);
  odd = _mm256_insertf128_pd(odd, _mm_load_pd(p[3]), 1);
  *x = _mm256_unpacklo_pd(even, odd);
  *y = _mm256_unpackhi_pd(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  double *p[4];
  for (int i = 0; i < 4; i++) p[i] = base + (size_t)line[i] * CNI_LINE + k;
  __m256d even = _mm256_unpacklo_pd(x, y), odd = _mm256_unpackhi_pd(x, y);
  _mm_store_pd(p[0], _mm256_castpd256_pd128(even));
  _mm_store_pd(p[1], _mm256_castpd256_pd128(odd));
  _mm_store_pd(p[2], _mm256_extractf128_pd(even, 1));
  _mm_store_pd(p[3], _mm256_extractf128_pd(odd, 1));
}

#elif defined(CNI_WIDE_SSE2)

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  __m128d even = _mm_load_pd(base + (size_t)line[0] * CNI_LINE + k);
  __m128d odd = _mm_load_pd(base + (size_t)line[1] * CNI_LINE + k);
  *x = _mm_unpacklo_pd(even, odd);
  *y = _mm_unpackhi_pd(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  _mm_store_pd(base + (size_t)line[0] * CNI_LINE + k, _mm_unpacklo_pd(x, y));
  _mm_store_pd(base + (size_t)line[1] * CNI_LINE + k, _mm_unpackhi_pd(x, y));
}

#elif defined(CNI_WIDE_NEON)

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  float64x2_t even = vld1q_f64(base + (size_t)line[0] * CNI_LINE + k);
  float64x2_t odd = vld1q_f64(base + (size_t)line[1] * CNI_LINE + k);
  *x = vzip1q_f64(even, odd);
  *y = vzip2q_f64(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  vst1q_f64(base + (size_t)line[0] * CNI_LINE + k, vzip1q_f64(x, y));
  vst1q_f64(base + (size_t)line[1] * CNI_LINE + k, vzip2q_f64(x, y));
}

#else

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  for (int i = 0; i < CNI_LANES; i++) {
    const double *p = base + (size_t)line[i] * CNI_LINE + k;
    x->lane[i] = p[0];
    y->lane[i] = p[1];
  }
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  for (int i = 0; i < CNI_LANES; i++) {
    double *p = base + (size_t)line[i] * CNI_LINE + k;
    p[0] = x.lane[i];
    p[1] = y.lane[i];
  }
}

#endif

// Registers [0, count) of the lines line[0] .. line[CNI_LANES - 1]; count is even.
CNI_LINES_INLINE void cni_lines_load(const double *base, const int32_t *line, int32_t count,
                                     CniWide *x) {
  for (int32_t k = 0; k < count; k += 2) cni_lines_load_two(base, line, k, &x[k], &x[k + 1]);
}

CNI_LINES_INLINE void cni_lines_store(double *base, const int32_t *line, int32_t count,
                                      const CniWide *x) {
  for (int32_t k = 0; k < count; k += 2) cni_lines_store_two(base, line, k, x[k], x[k + 1]);
}

#endif
