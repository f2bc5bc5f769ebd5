// Lanes, avx2.
#include "solver/gradient_kernels.inc"
