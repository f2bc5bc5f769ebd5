// SPDX-License-Identifier: Apache-2.0
// Direct solution of joints, avx2.
#include "sparse/direct/direct_kernels.inc"
