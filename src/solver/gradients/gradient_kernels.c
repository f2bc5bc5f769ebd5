// SPDX-License-Identifier: Apache-2.0
// The passes of each level, and those that every processor of the family runs (SSE2, NEON).
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "solver/gradients/gradient.h"
#else
#include "solver/gradients/gradient_kernels.inc"
#endif

extern const CniGradientKernels cni_gradient_kernels_plain;
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
extern const CniGradientKernels cni_gradient_kernels_avx2, cni_gradient_kernels_avx512;
#endif

const CniGradientKernels *cni_gradient_kernels(CniSimdLevel level) {
  if (level == CNI_SIMD_LEVEL_PLAIN) return &cni_gradient_kernels_plain;
#ifndef CNI_WIDE_PLAIN
  if (level == CNI_WIDE_LEVEL) return &CNI_WIDE_NAME(cni_gradient_kernels);
#endif
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
  if (level == CNI_SIMD_LEVEL_AVX2) return &cni_gradient_kernels_avx2;
  if (level == CNI_SIMD_LEVEL_AVX512) return &cni_gradient_kernels_avx512;
#endif
  return NULL;
}

int32_t cni_gradient_lines(int32_t kind) {
  int pair = kind >= CNI_GRADIENT_PAIR, full = kind % 2;
  return (pair ? CNI_GRAD_LINES_PAIR : CNI_GRAD_LINES_SPHERE) + (full ? CNI_GRAD_LINES_FULL : 0);
}
