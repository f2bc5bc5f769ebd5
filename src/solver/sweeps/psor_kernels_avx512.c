// SPDX-License-Identifier: Apache-2.0
// Lanes, avx512.
#include "solver/sweeps/psor_kernels.inc"
