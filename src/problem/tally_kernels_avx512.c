// The certificate, avx512.
#include "problem/tally_kernels.inc"
