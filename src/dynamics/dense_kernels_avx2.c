#define FEM_KERNEL_LANES 8 // floats of an AVX2 vector
#define FEM_KERNEL_TABLE fem_dense_kernels_avx2
// Written in the vectors of the header above.
#include "dynamics/dense_kernels.inl"
