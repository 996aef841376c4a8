#define LANES 4 // floats of an SSE2 vector
#define KERNEL_TABLE fem_row_kernels_sse2

#include "dynamics/wide.h"
// Written in the vectors of the header above.
#include "dynamics/row_kernels.inl"
