// SPDX-License-Identifier: Apache-2.0
// Kernels of the drift along trees of each level, and those that every processor of the family runs.
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "assembly/drift/along.h"
#else
#include "assembly/drift/along_kernels.inc"
#endif

CNI_CHOOSE_KERNELS(CniAlongKernels, cni_along_kernels)
