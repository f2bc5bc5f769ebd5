// Dense kernels, avx2.
#include "sparse/dense_kernels.inc"
