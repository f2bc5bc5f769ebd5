// Lanes, avx512.
#include "solver/gradient_kernels.inc"
