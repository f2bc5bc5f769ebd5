// SPDX-License-Identifier: Apache-2.0
// Kernels of the direct solution of joints of each level, and those that every processor of the family
// runs.
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "sparse/direct/direct_private.h"
#else
#include "sparse/direct/direct_kernels.inc"
#endif

CNI_CHOOSE_KERNELS(CniDirectKernels, cni_direct_kernels)
