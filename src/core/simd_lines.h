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

CNI_LINES_INLINE const double *cni_line(const double *base, int32_t line, int32_t k) {
  return base + (size_t)line * CNI_LINE + k;
}
CNI_LINES_INLINE double *cni_line_out(double *base, int32_t line, int32_t k) {
  return base + (size_t)line * CNI_LINE + k;
}

// Numbers k and k + 1 of every line. Halves of 16 bytes are read and written throughout, so that a
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
  const double *p0 = cni_line(base, line[0], k), *p1 = cni_line(base, line[1], k);
  const double *p2 = cni_line(base, line[2], k), *p3 = cni_line(base, line[3], k);
  const double *p4 = cni_line(base, line[4], k), *p5 = cni_line(base, line[5], k);
  const double *p6 = cni_line(base, line[6], k), *p7 = cni_line(base, line[7], k);
  __m512d even = cni_lines_four(p0, p2, p4, p6);
  __m512d odd = cni_lines_four(p1, p3, p5, p7);
  *x = _mm512_unpacklo_pd(even, odd);
  *y = _mm512_unpackhi_pd(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  double *p0 = cni_line_out(base, line[0], k), *p1 = cni_line_out(base, line[1], k);
  double *p2 = cni_line_out(base, line[2], k), *p3 = cni_line_out(base, line[3], k);
  double *p4 = cni_line_out(base, line[4], k), *p5 = cni_line_out(base, line[5], k);
  double *p6 = cni_line_out(base, line[6], k), *p7 = cni_line_out(base, line[7], k);
  __m512d even = _mm512_unpacklo_pd(x, y), odd = _mm512_unpackhi_pd(x, y);
  __m256d even_low = _mm512_castpd512_pd256(even), even_high = _mm512_extractf64x4_pd(even, 1);
  __m256d odd_low = _mm512_castpd512_pd256(odd), odd_high = _mm512_extractf64x4_pd(odd, 1);
  _mm_store_pd(p0, _mm256_castpd256_pd128(even_low));
  _mm_store_pd(p1, _mm256_castpd256_pd128(odd_low));
  _mm_store_pd(p2, _mm256_extractf128_pd(even_low, 1));
  _mm_store_pd(p3, _mm256_extractf128_pd(odd_low, 1));
  _mm_store_pd(p4, _mm256_castpd256_pd128(even_high));
  _mm_store_pd(p5, _mm256_castpd256_pd128(odd_high));
  _mm_store_pd(p6, _mm256_extractf128_pd(even_high, 1));
  _mm_store_pd(p7, _mm256_extractf128_pd(odd_high, 1));
}

#elif defined(CNI_WIDE_AVX2)

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  const double *p0 = cni_line(base, line[0], k), *p1 = cni_line(base, line[1], k);
  const double *p2 = cni_line(base, line[2], k), *p3 = cni_line(base, line[3], k);
  __m256d even = _mm256_castpd128_pd256(_mm_load_pd(p0));
  __m256d odd = _mm256_castpd128_pd256(_mm_load_pd(p1));
  even = _mm256_insertf128_pd(even, _mm_load_pd(p2), 1);
  odd = _mm256_insertf128_pd(odd, _mm_load_pd(p3), 1);
  *x = _mm256_unpacklo_pd(even, odd);
  *y = _mm256_unpackhi_pd(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  double *p0 = cni_line_out(base, line[0], k), *p1 = cni_line_out(base, line[1], k);
  double *p2 = cni_line_out(base, line[2], k), *p3 = cni_line_out(base, line[3], k);
  __m256d even = _mm256_unpacklo_pd(x, y), odd = _mm256_unpackhi_pd(x, y);
  _mm_store_pd(p0, _mm256_castpd256_pd128(even));
  _mm_store_pd(p1, _mm256_castpd256_pd128(odd));
  _mm_store_pd(p2, _mm256_extractf128_pd(even, 1));
  _mm_store_pd(p3, _mm256_extractf128_pd(odd, 1));
}

#elif defined(CNI_WIDE_SSE2)

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  __m128d even = _mm_load_pd(cni_line(base, line[0], k));
  __m128d odd = _mm_load_pd(cni_line(base, line[1], k));
  *x = _mm_unpacklo_pd(even, odd);
  *y = _mm_unpackhi_pd(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  _mm_store_pd(cni_line_out(base, line[0], k), _mm_unpacklo_pd(x, y));
  _mm_store_pd(cni_line_out(base, line[1], k), _mm_unpackhi_pd(x, y));
}

#elif defined(CNI_WIDE_NEON)

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  float64x2_t even = vld1q_f64(cni_line(base, line[0], k));
  float64x2_t odd = vld1q_f64(cni_line(base, line[1], k));
  *x = vzip1q_f64(even, odd);
  *y = vzip2q_f64(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  vst1q_f64(cni_line_out(base, line[0], k), vzip1q_f64(x, y));
  vst1q_f64(cni_line_out(base, line[1], k), vzip2q_f64(x, y));
}

#else

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  for (int i = 0; i < CNI_LANES; i++) {
    const double *p = cni_line(base, line[i], k);
    x->lane[i] = p[0];
    y->lane[i] = p[1];
  }
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  for (int i = 0; i < CNI_LANES; i++) {
    double *p = cni_line_out(base, line[i], k);
    p[0] = x.lane[i];
    p[1] = y.lane[i];
  }
}

#endif

// All eight numbers of the lines line[0] .. line[CNI_LANES - 1]; the first six. Written out: a loop
// would put the registers into memory.
CNI_LINES_INLINE void cni_lines_load(const double *base, const int32_t *line, CniWide *x) {
  cni_lines_load_two(base, line, 0, &x[0], &x[1]);
  cni_lines_load_two(base, line, 2, &x[2], &x[3]);
  cni_lines_load_two(base, line, 4, &x[4], &x[5]);
  cni_lines_load_two(base, line, 6, &x[6], &x[7]);
}

CNI_LINES_INLINE void cni_lines_load_six(const double *base, const int32_t *line, CniWide *x) {
  cni_lines_load_two(base, line, 0, &x[0], &x[1]);
  cni_lines_load_two(base, line, 2, &x[2], &x[3]);
  cni_lines_load_two(base, line, 4, &x[4], &x[5]);
}

CNI_LINES_INLINE void cni_lines_store(double *base, const int32_t *line, const CniWide *x) {
  cni_lines_store_two(base, line, 0, x[0], x[1]);
  cni_lines_store_two(base, line, 2, x[2], x[3]);
  cni_lines_store_two(base, line, 4, x[4], x[5]);
  cni_lines_store_two(base, line, 6, x[6], x[7]);
}

#endif
