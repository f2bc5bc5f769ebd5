// SPDX-License-Identifier: Apache-2.0
// Lanes, avx512.
#include "solver/gradients/gradient_kernels.inc"
