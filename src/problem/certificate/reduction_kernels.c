// SPDX-License-Identifier: Apache-2.0
// The certificate's kernels of each level, and those that every processor of the family runs.
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "problem/certificate/reduction.h"
#else
#include "problem/certificate/reduction_kernels.inc"
#endif

CNI_CHOOSE_KERNELS(CniReductionKernels, cni_reduction_kernels)
