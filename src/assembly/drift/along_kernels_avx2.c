// SPDX-License-Identifier: Apache-2.0
// The drift along trees, avx2.
#include "assembly/drift/along_kernels.inc"
