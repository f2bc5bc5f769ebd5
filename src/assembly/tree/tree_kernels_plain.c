// SPDX-License-Identifier: Apache-2.0
// Machines of hinges in plain C: for machines without wide arithmetic, and to check the others against.
#define CNI_SIMD_PLAIN
#define CNI_PLAIN_LANES 1
#include "assembly/tree/tree_kernels.inc"
