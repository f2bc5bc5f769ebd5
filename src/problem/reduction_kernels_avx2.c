// SPDX-License-Identifier: Apache-2.0
// The certificate, avx2.
#include "problem/reduction_kernels.inc"
