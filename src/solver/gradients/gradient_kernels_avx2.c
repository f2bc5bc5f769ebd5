// Lanes, avx2.
#include "solver/gradients/gradient_kernels.inc"
