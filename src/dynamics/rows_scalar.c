#define LANES 1 // one float at a time: the twin that the others must equal bit for bit
#define KERNEL_TABLE fem_row_kernels_scalar

#include "dynamics/wide.h"
// Written in the vectors of the header above.
#include "dynamics/row_kernels.inl"
