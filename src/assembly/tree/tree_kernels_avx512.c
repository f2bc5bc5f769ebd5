// SPDX-License-Identifier: Apache-2.0
// Machines of hinges, avx512.
#include "assembly/tree/tree_kernels.inc"
