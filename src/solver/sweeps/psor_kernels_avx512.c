// Lanes, avx512.
#include "solver/sweeps/psor_kernels.inc"
