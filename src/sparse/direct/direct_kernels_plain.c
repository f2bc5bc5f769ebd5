// SPDX-License-Identifier: Apache-2.0
// Direct solution of joints in plain C: for machines without wide arithmetic, and to check the others
// against.
#define CNI_SIMD_PLAIN
#include "sparse/direct/direct_kernels.inc"
