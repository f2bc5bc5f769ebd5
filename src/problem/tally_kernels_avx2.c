// SPDX-License-Identifier: Apache-2.0
// The certificate, avx2.
#include "problem/tally_kernels.inc"
