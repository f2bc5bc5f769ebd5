// SPDX-License-Identifier: Apache-2.0
// The passes of each level, and those that every processor of the family runs (SSE2, NEON).
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "solver/gradients/gradient.h"
#else
#include "solver/gradients/gradient_kernels.inc"
#endif

CNI_CHOOSE_KERNELS(CniGradientKernels, cni_gradient_kernels)

int32_t cni_gradient_lines(int32_t kind) {
  int pair = kind >= CNI_GRADIENT_PAIR, full = kind % 2;
  return (pair ? CNI_GRAD_LINES_PAIR : CNI_GRAD_LINES_SPHERE) + (full ? CNI_GRAD_LINES_FULL : 0);
}
