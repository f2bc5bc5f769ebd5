// SPDX-License-Identifier: Apache-2.0
// Dense kernels, avx2.
#include "sparse/dense_kernels.inc"
