#define FEM_KERNEL_LANES 8
#define FEM_KERNEL_TABLE fem_dense_kernels_avx2
// Written in the vectors of the header above.
#include "dynamics/dense_kernels.inl"
