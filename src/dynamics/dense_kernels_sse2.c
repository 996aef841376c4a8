#define FEM_KERNEL_LANES 4 // floats of an SSE2 vector
#define FEM_KERNEL_TABLE fem_dense_kernels_sse2
// Written in the vectors of the header above.
#include "dynamics/dense_kernels.inl"
