// The certificate, avx2.
#include "problem/tally_kernels.inc"
