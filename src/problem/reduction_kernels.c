// SPDX-License-Identifier: Apache-2.0
// The certificate's kernels of each level, and those that every processor of the family runs.
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "problem/reduction.h"
#else
#include "problem/reduction_kernels.inc"
#endif

extern const CniReductionKernels cni_reduction_kernels_plain;
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
extern const CniReductionKernels cni_reduction_kernels_avx2, cni_reduction_kernels_avx512;
#endif

const CniReductionKernels *cni_reduction_kernels(CniSimdLevel level) {
  if (level == CNI_SIMD_LEVEL_PLAIN) return &cni_reduction_kernels_plain;
#ifndef CNI_WIDE_PLAIN
  if (level == CNI_WIDE_LEVEL) return &CNI_WIDE_NAME(cni_reduction_kernels);
#endif
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
  if (level == CNI_SIMD_LEVEL_AVX2) return &cni_reduction_kernels_avx2;
  if (level == CNI_SIMD_LEVEL_AVX512) return &cni_reduction_kernels_avx512;
#endif
  return NULL;
}
