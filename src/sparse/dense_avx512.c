// Dense kernels, avx512.
#include "sparse/dense_kernels.inc"
