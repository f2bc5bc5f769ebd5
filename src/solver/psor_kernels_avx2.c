// Lanes, avx2.
#include "solver/psor_kernels.inc"
