// SPDX-License-Identifier: Apache-2.0
// Kernels of machines of hinges of each level, and those that every processor of the family runs.
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "assembly/tree/tree_private.h"
#else
#include "assembly/tree/tree_kernels.inc"
#endif

CNI_CHOOSE_KERNELS(CniTreeKernels, cni_tree_kernels)
