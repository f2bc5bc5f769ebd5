// SPDX-License-Identifier: Apache-2.0
// The drift along trees in plain C: for machines without wide arithmetic, and to check the others against.
#define CNI_SIMD_PLAIN
#define CNI_PLAIN_LANES 1
#include "assembly/drift/along_kernels.inc"
