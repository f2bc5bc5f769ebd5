// Lanes, avx512.
#include "solver/psor_kernels.inc"
