// SPDX-License-Identifier: Apache-2.0
// The certificate's kernels of each level, and those that every processor of the family runs.
#include "core/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "problem/tally.h"
#else
#include "problem/tally_kernels.inc"
#endif

extern const CniTallyKernels cni_tally_kernels_plain;
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
extern const CniTallyKernels cni_tally_kernels_avx2, cni_tally_kernels_avx512;
#endif

const CniTallyKernels *cni_tally_kernels(CniSimdLevel level) {
  if (level == CNI_SIMD_LEVEL_PLAIN) return &cni_tally_kernels_plain;
#ifndef CNI_WIDE_PLAIN
  if (level == CNI_WIDE_LEVEL) return &CNI_WIDE_NAME(cni_tally_kernels);
#endif
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
  if (level == CNI_SIMD_LEVEL_AVX2) return &cni_tally_kernels_avx2;
  if (level == CNI_SIMD_LEVEL_AVX512) return &cni_tally_kernels_avx512;
#endif
  return NULL;
}
