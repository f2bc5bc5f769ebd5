// SPDX-License-Identifier: Apache-2.0
// Kernels of the direct solution of joints of each level, and those that every processor of the family
// runs.
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "sparse/direct/direct_private.h"
#else
#include "sparse/direct/direct_kernels.inc"
#endif

extern const CniDirectKernels cni_direct_kernels_plain;
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
extern const CniDirectKernels cni_direct_kernels_avx2, cni_direct_kernels_avx512;
#endif

const CniDirectKernels *cni_direct_kernels(CniSimdLevel level) {
  if (level == CNI_SIMD_LEVEL_PLAIN) return &cni_direct_kernels_plain;
#ifndef CNI_WIDE_PLAIN
  if (level == CNI_WIDE_LEVEL) return &CNI_WIDE_NAME(cni_direct_kernels);
#endif
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
  if (level == CNI_SIMD_LEVEL_AVX2) return &cni_direct_kernels_avx2;
  if (level == CNI_SIMD_LEVEL_AVX512) return &cni_direct_kernels_avx512;
#endif
  return NULL;
}
