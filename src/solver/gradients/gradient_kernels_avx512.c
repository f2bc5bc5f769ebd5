// Lanes, avx512.
#include "solver/gradients/gradient_kernels.inc"
