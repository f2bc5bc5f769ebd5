// SPDX-License-Identifier: Apache-2.0
// The certificate, avx512.
#include "problem/reduction_kernels.inc"
