// SPDX-License-Identifier: Apache-2.0
// The certificate, avx2.
#include "problem/certificate/reduction_kernels.inc"
