// SPDX-License-Identifier: Apache-2.0
// Lanes, avx2.
#include "solver/gradients/gradient_kernels.inc"
