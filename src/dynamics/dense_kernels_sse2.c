#define FEM_KERNEL_LANES 4
#define FEM_KERNEL_TABLE fem_dense_kernels_sse2
// Written in the vectors of the header above.
#include "dynamics/dense_kernels.inl"
