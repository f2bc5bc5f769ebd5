// Lanes, avx2.
#define CNI_AVX2_TWICE
#include "solver/psor_kernels.inc"
