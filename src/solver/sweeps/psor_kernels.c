// SPDX-License-Identifier: Apache-2.0
// The kernels of each level, and those that every processor of the family runs (SSE2, NEON).
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "solver/sweeps/psor.h"
#else
#include "solver/sweeps/psor_kernels.inc"
#endif

extern const CniPsorKernels cni_psor_kernels_plain;
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
extern const CniPsorKernels cni_psor_kernels_avx2, cni_psor_kernels_avx512;
#endif

const CniPsorKernels *cni_psor_kernels(CniSimdLevel level) {
  if (level == CNI_SIMD_LEVEL_PLAIN) return &cni_psor_kernels_plain;
#ifndef CNI_WIDE_PLAIN
  if (level == CNI_WIDE_LEVEL) return &CNI_WIDE_NAME(cni_psor_kernels);
#endif
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
  if (level == CNI_SIMD_LEVEL_AVX2) return &cni_psor_kernels_avx2;
  if (level == CNI_SIMD_LEVEL_AVX512) return &cni_psor_kernels_avx512;
#endif
  return NULL;
}

int32_t cni_psor_full(int32_t kind) {
  return kind >= CNI_PSOR_PAIR ? CNI_LINES_PAIR : CNI_LINES_SPHERE;
}

int32_t cni_psor_lines(int32_t kind) {
  static const int32_t more[3] = {0, CNI_LINES_FULL, CNI_LINES_TURN};
  return kind == CNI_PSOR_SPHERE ? CNI_LINES_OWN : cni_psor_full(kind) + more[kind % 3];
}
