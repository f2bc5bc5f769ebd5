// Lanes, avx2.
#define CNI_AVX2_TWICE
#include "solver/gradient_kernels.inc"
