// SPDX-License-Identifier: Apache-2.0
// The farthest of many vectors, avx2.
#include "geometry/hulls/farthest.inc"
