#define LANES 8 // floats of an AVX2 vector
#define KERNEL_TABLE fem_row_kernels_avx2

#include "dynamics/wide.h"
// Written in the vectors of the header above.
#include "dynamics/row_kernels.inl"
