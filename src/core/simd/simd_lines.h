// SPDX-License-Identifier: Apache-2.0
// Lines of eight doubles, one a lane, turned into eight wide registers and back.
//
// A velocity group is one cache line. A kernel that works on CNI_LANES groups at once needs their
// first numbers in one register, their second in the next, and so on: a transposition. Done by
// shuffles it costs three instructions a register and line, a fraction of what a gather takes, and
// it moves numbers without touching them.
#ifndef CNI_CORE_SIMD_LINES_H
#define CNI_CORE_SIMD_LINES_H

#include "core/simd/simd.h"
#include <stddef.h>

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

CNI_LINES_INLINE void cni_lines_load_half(const double *base, const int32_t *line, int32_t k,
                                          __m256d *x, __m256d *y) {
  const double *p0 = cni_line(base, line[0], k), *p1 = cni_line(base, line[1], k);
  const double *p2 = cni_line(base, line[2], k), *p3 = cni_line(base, line[3], k);
  __m256d even = _mm256_castpd128_pd256(_mm_load_pd(p0));
  __m256d odd = _mm256_castpd128_pd256(_mm_load_pd(p1));
  even = _mm256_insertf128_pd(even, _mm_load_pd(p2), 1);
  odd = _mm256_insertf128_pd(odd, _mm_load_pd(p3), 1);
  *x = _mm256_unpacklo_pd(even, odd);
  *y = _mm256_unpackhi_pd(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_half(double *base, const int32_t *line, int32_t k, __m256d x,
                                           __m256d y) {
  double *p0 = cni_line_out(base, line[0], k), *p1 = cni_line_out(base, line[1], k);
  double *p2 = cni_line_out(base, line[2], k), *p3 = cni_line_out(base, line[3], k);
  __m256d even = _mm256_unpacklo_pd(x, y), odd = _mm256_unpackhi_pd(x, y);
  _mm_store_pd(p0, _mm256_castpd256_pd128(even));
  _mm_store_pd(p1, _mm256_castpd256_pd128(odd));
  _mm_store_pd(p2, _mm256_extractf128_pd(even, 1));
  _mm_store_pd(p3, _mm256_extractf128_pd(odd, 1));
}

#if CNI_LANES == 4

#define cni_lines_load_two cni_lines_load_half
#define cni_lines_store_two cni_lines_store_half

#else

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  cni_lines_load_half(base, line, k, &x->low, &y->low);
  cni_lines_load_half(base, line + 4, k, &x->high, &y->high);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  cni_lines_store_half(base, line, k, x.low, y.low);
  cni_lines_store_half(base, line + 4, k, x.high, y.high);
}

#endif

#elif defined(CNI_WIDE_SSE2) || defined(CNI_WIDE_NEON)

#if defined(CNI_WIDE_SSE2)
#define CNI_FIRST(a, b) _mm_unpacklo_pd(a, b)
#define CNI_SECOND(a, b) _mm_unpackhi_pd(a, b)
#else
#define CNI_FIRST(a, b) vzip1q_f64(a, b)
#define CNI_SECOND(a, b) vzip2q_f64(a, b)
#endif

CNI_LINES_INLINE void cni_lines_load_two(const double *base, const int32_t *line, int32_t k,
                                         CniWide *x, CniWide *y) {
  CniWide even = cni_wide_load(cni_line(base, line[0], k));
  CniWide odd = cni_wide_load(cni_line(base, line[1], k));
  *x = CNI_FIRST(even, odd);
  *y = CNI_SECOND(even, odd);
}

CNI_LINES_INLINE void cni_lines_store_two(double *base, const int32_t *line, int32_t k, CniWide x,
                                          CniWide y) {
  cni_wide_store(cni_line_out(base, line[0], k), CNI_FIRST(x, y));
  cni_wide_store(cni_line_out(base, line[1], k), CNI_SECOND(x, y));
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

// Numbers index[lane] and the one after it; base + index needs no alignment.
#if defined(CNI_WIDE_AVX2) || defined(CNI_WIDE_AVX512)

CNI_LINES_INLINE void cni_pairs_load_four(const double *base, const int32_t *index, __m256d *x,
                                          __m256d *y) {
  __m256d even = _mm256_castpd128_pd256(_mm_loadu_pd(base + index[0]));
  __m256d odd = _mm256_castpd128_pd256(_mm_loadu_pd(base + index[1]));
  even = _mm256_insertf128_pd(even, _mm_loadu_pd(base + index[2]), 1);
  odd = _mm256_insertf128_pd(odd, _mm_loadu_pd(base + index[3]), 1);
  *x = _mm256_unpacklo_pd(even, odd);
  *y = _mm256_unpackhi_pd(even, odd);
}

#if CNI_LANES == 4
#define cni_pairs_load cni_pairs_load_four
#else
CNI_LINES_INLINE void cni_pairs_load(const double *base, const int32_t *index, CniWide *x,
                                     CniWide *y) {
#if defined(CNI_WIDE_AVX2)
  cni_pairs_load_four(base, index, &x->low, &y->low);
  cni_pairs_load_four(base, index + 4, &x->high, &y->high);
#else
  __m256d x_low, x_high, y_low, y_high;
  cni_pairs_load_four(base, index, &x_low, &y_low);
  cni_pairs_load_four(base, index + 4, &x_high, &y_high);
  *x = _mm512_insertf64x4(_mm512_castpd256_pd512(x_low), x_high, 1);
  *y = _mm512_insertf64x4(_mm512_castpd256_pd512(y_low), y_high, 1);
#endif
}
#endif

#else

CNI_LINES_INLINE void cni_pairs_load(const double *base, const int32_t *index, CniWide *x,
                                     CniWide *y) {
  *x = cni_wide_gather(base, index);
  *y = cni_wide_gather(base + 1, index);
}

#endif

// ---- rows ----
//
// Half a line is a row: a vector of three and a fourth number that goes with it. What needs no more
// than sums of rows is done before they are turned, which halves the shuffles, and turned back is
// only what changes. A row is read and written as a whole: 32 bytes that the store buffer serves.
//
// a, b, from, to: one pointer a lane to its line; k: 0 or 4, which half. Results are the columns of
// the three numbers.
//
//   difference   a - b
//   sum          s a + t b; s, t: one number a lane
//   add          from + d x, or from - d x, with d the row's fourth number, times factor[lane] if
//                there is one

#if defined(CNI_WIDE_AVX2) || defined(CNI_WIDE_AVX512)

CNI_LINES_INLINE void cni_rows_turn_four(__m256d r0, __m256d r1, __m256d r2, __m256d r3,
                                         __m256d *x) {
  __m256d even01 = _mm256_unpacklo_pd(r0, r1), odd01 = _mm256_unpackhi_pd(r0, r1);
  __m256d even23 = _mm256_unpacklo_pd(r2, r3), odd23 = _mm256_unpackhi_pd(r2, r3);
  x[0] = _mm256_insertf128_pd(even01, _mm256_castpd256_pd128(even23), 1);
  x[1] = _mm256_insertf128_pd(odd01, _mm256_castpd256_pd128(odd23), 1);
  x[2] = _mm256_permute2f128_pd(even01, even23, 0x31);
}

CNI_LINES_INLINE __m256d cni_row_difference(const double *a, const double *b) {
  return _mm256_sub_pd(_mm256_load_pd(a), _mm256_load_pd(b));
}

CNI_LINES_INLINE __m256d cni_row_sum(const double *s, const double *a, const double *t,
                                     const double *b) {
  return _mm256_add_pd(_mm256_mul_pd(_mm256_broadcast_sd(s), _mm256_load_pd(a)),
                       _mm256_mul_pd(_mm256_broadcast_sd(t), _mm256_load_pd(b)));
}

CNI_LINES_INLINE void cni_row_add(const double *from, double *to, const double *factor, int minus,
                                  __m256d x) {
  __m256d scale = _mm256_broadcast_sd(from + 3);
  if (factor) scale = _mm256_mul_pd(_mm256_broadcast_sd(factor), scale);
  __m256d step = _mm256_mul_pd(scale, x), old = _mm256_load_pd(from);
  _mm256_store_pd(to, minus ? _mm256_sub_pd(old, step) : _mm256_add_pd(old, step));
}

CNI_LINES_INLINE void cni_rows_difference_four(const double *const *a, const double *const *b,
                                               int k, __m256d *x) {
  cni_rows_turn_four(cni_row_difference(a[0] + k, b[0] + k), cni_row_difference(a[1] + k, b[1] + k),
                     cni_row_difference(a[2] + k, b[2] + k), cni_row_difference(a[3] + k, b[3] + k),
                     x);
}

CNI_LINES_INLINE void cni_rows_sum_four(const double *s, const double *const *a, const double *t,
                                        const double *const *b, int k, __m256d *x) {
  cni_rows_turn_four(cni_row_sum(s, a[0] + k, t, b[0] + k),
                     cni_row_sum(s + 1, a[1] + k, t + 1, b[1] + k),
                     cni_row_sum(s + 2, a[2] + k, t + 2, b[2] + k),
                     cni_row_sum(s + 3, a[3] + k, t + 3, b[3] + k), x);
}

CNI_LINES_INLINE void cni_rows_add_four(const double *const *from, double *const *to, int k,
                                        const double *factor, int minus, const __m256d *x) {
  __m256d zero = _mm256_setzero_pd();
  __m256d even_xy = _mm256_unpacklo_pd(x[0], x[1]), odd_xy = _mm256_unpackhi_pd(x[0], x[1]);
  __m256d even_z = _mm256_unpacklo_pd(x[2], zero), odd_z = _mm256_unpackhi_pd(x[2], zero);
  cni_row_add(from[0] + k, to[0] + k, factor, minus,
              _mm256_insertf128_pd(even_xy, _mm256_castpd256_pd128(even_z), 1));
  cni_row_add(from[1] + k, to[1] + k, factor ? factor + 1 : factor, minus,
              _mm256_insertf128_pd(odd_xy, _mm256_castpd256_pd128(odd_z), 1));
  cni_row_add(from[2] + k, to[2] + k, factor ? factor + 2 : factor, minus,
              _mm256_permute2f128_pd(even_xy, even_z, 0x31));
  cni_row_add(from[3] + k, to[3] + k, factor ? factor + 3 : factor, minus,
              _mm256_permute2f128_pd(odd_xy, odd_z, 0x31));
}

#endif

#if defined(CNI_WIDE_AVX2) && CNI_LANES == 4

#define cni_rows_difference cni_rows_difference_four
#define cni_rows_sum cni_rows_sum_four
#define cni_rows_add cni_rows_add_four

#elif defined(CNI_WIDE_AVX2) || defined(CNI_WIDE_AVX512)

#if defined(CNI_WIDE_AVX2)
CNI_LINES_INLINE void cni_rows_join(const __m256d *low, const __m256d *high, CniWide *x) {
  x[0] = (CniWide){low[0], high[0]};
  x[1] = (CniWide){low[1], high[1]};
  x[2] = (CniWide){low[2], high[2]};
}
CNI_LINES_INLINE __m256d cni_wide_low(CniWide x) { return x.low; }
CNI_LINES_INLINE __m256d cni_wide_high(CniWide x) { return x.high; }
#else
CNI_LINES_INLINE void cni_rows_join(const __m256d *low, const __m256d *high, CniWide *x) {
  x[0] = _mm512_insertf64x4(_mm512_castpd256_pd512(low[0]), high[0], 1);
  x[1] = _mm512_insertf64x4(_mm512_castpd256_pd512(low[1]), high[1], 1);
  x[2] = _mm512_insertf64x4(_mm512_castpd256_pd512(low[2]), high[2], 1);
}
CNI_LINES_INLINE __m256d cni_wide_low(CniWide x) { return _mm512_castpd512_pd256(x); }
CNI_LINES_INLINE __m256d cni_wide_high(CniWide x) { return _mm512_extractf64x4_pd(x, 1); }
#endif

CNI_LINES_INLINE void cni_rows_difference(const double *const *a, const double *const *b, int k,
                                          CniWide *x) {
  __m256d low[3], high[3];
  cni_rows_difference_four(a, b, k, low);
  cni_rows_difference_four(a + 4, b + 4, k, high);
  cni_rows_join(low, high, x);
}

CNI_LINES_INLINE void cni_rows_sum(const double *s, const double *const *a, const double *t,
                                   const double *const *b, int k, CniWide *x) {
  __m256d low[3], high[3];
  cni_rows_sum_four(s, a, t, b, k, low);
  cni_rows_sum_four(s + 4, a + 4, t + 4, b + 4, k, high);
  cni_rows_join(low, high, x);
}

CNI_LINES_INLINE void cni_rows_add(const double *const *from, double *const *to, int k,
                                   const double *factor, int minus, const CniWide *x) {
  __m256d low[3] = {cni_wide_low(x[0]), cni_wide_low(x[1]), cni_wide_low(x[2])};
  __m256d high[3] = {cni_wide_high(x[0]), cni_wide_high(x[1]), cni_wide_high(x[2])};
  cni_rows_add_four(from, to, k, factor, minus, low);
  cni_rows_add_four(from + 4, to + 4, k, factor ? factor + 4 : factor, minus, high);
}

#elif defined(CNI_WIDE_SSE2) || defined(CNI_WIDE_NEON)

// Two lanes, a row in two registers.
CNI_LINES_INLINE void cni_rows_turn(const CniWide *r0, const CniWide *r1, CniWide *x) {
  x[0] = CNI_FIRST(r0[0], r1[0]);
  x[1] = CNI_SECOND(r0[0], r1[0]);
  x[2] = CNI_FIRST(r0[1], r1[1]);
}

CNI_LINES_INLINE void cni_row_difference(const double *a, const double *b, CniWide *r) {
  r[0] = cni_wide_sub(cni_wide_load(a), cni_wide_load(b));
  r[1] = cni_wide_sub(cni_wide_load(a + 2), cni_wide_load(b + 2));
}

CNI_LINES_INLINE void cni_row_sum(double s, const double *a, double t, const double *b,
                                  CniWide *r) {
  CniWide s2 = cni_wide_set(s), t2 = cni_wide_set(t);
  r[0] = cni_wide_add(cni_wide_mul(s2, cni_wide_load(a)), cni_wide_mul(t2, cni_wide_load(b)));
  r[1] =
      cni_wide_add(cni_wide_mul(s2, cni_wide_load(a + 2)), cni_wide_mul(t2, cni_wide_load(b + 2)));
}

CNI_LINES_INLINE void cni_row_add(const double *from, double *to, const double *factor, int minus,
                                  CniWide xy, CniWide z) {
  CniWide scale = cni_wide_set(factor ? *factor * from[3] : from[3]);
  CniWide first = cni_wide_mul(scale, xy), second = cni_wide_mul(scale, z);
  CniWide old_first = cni_wide_load(from), old_second = cni_wide_load(from + 2);
  cni_wide_store(to, minus ? cni_wide_sub(old_first, first) : cni_wide_add(old_first, first));
  cni_wide_store(to + 2,
                 minus ? cni_wide_sub(old_second, second) : cni_wide_add(old_second, second));
}

CNI_LINES_INLINE void cni_rows_difference(const double *const *a, const double *const *b, int k,
                                          CniWide *x) {
  CniWide r0[2], r1[2];
  cni_row_difference(a[0] + k, b[0] + k, r0);
  cni_row_difference(a[1] + k, b[1] + k, r1);
  cni_rows_turn(r0, r1, x);
}

CNI_LINES_INLINE void cni_rows_sum(const double *s, const double *const *a, const double *t,
                                   const double *const *b, int k, CniWide *x) {
  CniWide r0[2], r1[2];
  cni_row_sum(s[0], a[0] + k, t[0], b[0] + k, r0);
  cni_row_sum(s[1], a[1] + k, t[1], b[1] + k, r1);
  cni_rows_turn(r0, r1, x);
}

CNI_LINES_INLINE void cni_rows_add(const double *const *from, double *const *to, int k,
                                   const double *factor, int minus, const CniWide *x) {
  CniWide zero = cni_wide_set(0);
  cni_row_add(from[0] + k, to[0] + k, factor, minus, CNI_FIRST(x[0], x[1]), CNI_FIRST(x[2], zero));
  cni_row_add(from[1] + k, to[1] + k, factor ? factor + 1 : factor, minus, CNI_SECOND(x[0], x[1]),
              CNI_SECOND(x[2], zero));
}

#else

CNI_LINES_INLINE void cni_rows_difference(const double *const *a, const double *const *b, int k,
                                          CniWide *x) {
  _Alignas(64) double column[3][CNI_LANES];
  for (int i = 0; i < CNI_LANES; i++)
    for (int j = 0; j < 3; j++) column[j][i] = a[i][k + j] - b[i][k + j];
  for (int j = 0; j < 3; j++) x[j] = cni_wide_load(column[j]);
}

CNI_LINES_INLINE void cni_rows_sum(const double *s, const double *const *a, const double *t,
                                   const double *const *b, int k, CniWide *x) {
  _Alignas(64) double column[3][CNI_LANES];
  for (int i = 0; i < CNI_LANES; i++)
    for (int j = 0; j < 3; j++) column[j][i] = s[i] * a[i][k + j] + t[i] * b[i][k + j];
  for (int j = 0; j < 3; j++) x[j] = cni_wide_load(column[j]);
}

CNI_LINES_INLINE void cni_rows_add(const double *const *from, double *const *to, int k,
                                   const double *factor, int minus, const CniWide *x) {
  _Alignas(64) double column[3][CNI_LANES];
  for (int j = 0; j < 3; j++) cni_wide_store(column[j], x[j]);
  for (int i = 0; i < CNI_LANES; i++) {
    double scale = factor ? factor[i] * from[i][k + 3] : from[i][k + 3];
    for (int j = 0; j < 3; j++) {
      double step = scale * column[j][i];
      to[i][k + j] = minus ? from[i][k + j] - step : from[i][k + j] + step;
    }
  }
}

#endif

// Whether one of the lanes' numbers in a or b is negative.
CNI_LINES_INLINE int cni_lanes_negative(const int32_t *a, const int32_t *b) {
#if defined(CNI_WIDE_AVX2) && CNI_LANES == 4
  __m128i both = _mm_or_si128(_mm_load_si128((const __m128i *)(const void *)a),
                              _mm_load_si128((const __m128i *)(const void *)b));
  return _mm_movemask_ps(_mm_castsi128_ps(both)) != 0;
#elif defined(CNI_WIDE_AVX2) || defined(CNI_WIDE_AVX512)
  __m256i both = _mm256_or_si256(_mm256_load_si256((const __m256i *)(const void *)a),
                                 _mm256_load_si256((const __m256i *)(const void *)b));
  return _mm256_movemask_ps(_mm256_castsi256_ps(both)) != 0;
#else
  int32_t both = 0;
  for (int i = 0; i < CNI_LANES; i++) both |= a[i] | b[i];
  return both < 0;
#endif
}

// ---- vectors of lanes, for the kernels that include this file ----

#define INLINE static inline __attribute__((always_inline))

typedef struct Wide3 {
  CniWide x, y, z;
} Wide3;

INLINE CniWide add(CniWide a, CniWide b) { return cni_wide_add(a, b); }
INLINE CniWide sub(CniWide a, CniWide b) { return cni_wide_sub(a, b); }
INLINE CniWide mul(CniWide a, CniWide b) { return cni_wide_mul(a, b); }

INLINE Wide3 add3(Wide3 a, Wide3 b) { return (Wide3){add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)}; }
INLINE Wide3 sub3(Wide3 a, Wide3 b) { return (Wide3){sub(a.x, b.x), sub(a.y, b.y), sub(a.z, b.z)}; }
INLINE Wide3 scale3(CniWide s, Wide3 a) { return (Wide3){mul(s, a.x), mul(s, a.y), mul(s, a.z)}; }
INLINE Wide3 madd3(Wide3 a, CniWide s, Wide3 b) { return add3(a, scale3(s, b)); }
INLINE Wide3 msub3(Wide3 a, CniWide s, Wide3 b) { return sub3(a, scale3(s, b)); }
INLINE CniWide dot3(Wide3 a, Wide3 b) {
  return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z));
}
INLINE Wide3 cross3(Wide3 a, Wide3 b) {
  return (Wide3){sub(mul(a.y, b.z), mul(a.z, b.y)), sub(mul(a.z, b.x), mul(a.x, b.z)),
                 sub(mul(a.x, b.y), mul(a.y, b.x))};
}

#endif
