// SPDX-License-Identifier: Apache-2.0
// The kernels of each level, and those that every processor of the family runs (SSE2, NEON).
#include "core/simd/simd.h"

#ifdef CNI_WIDE_PLAIN
#include "solver/sweeps/psor.h"
#else
#include "solver/sweeps/psor_kernels.inc"
#endif

CNI_CHOOSE_KERNELS(CniPsorKernels, cni_psor_kernels)

int32_t cni_psor_full(int32_t kind) {
  return kind >= CNI_PSOR_PAIR ? CNI_LINES_PAIR : CNI_LINES_SPHERE;
}

int32_t cni_psor_lines(int32_t kind) {
  static const int32_t more[3] = {0, CNI_LINES_FULL, CNI_LINES_TURN};
  return kind == CNI_PSOR_SPHERE ? CNI_LINES_OWN : cni_psor_full(kind) + more[kind % 3];
}
