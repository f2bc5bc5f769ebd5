// SPDX-License-Identifier: Apache-2.0
// Lanes, avx2.
#define CNI_AVX2_TWICE
#include "solver/sweeps/psor_kernels.inc"
