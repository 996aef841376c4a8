#define LANES 4
#define KERNEL_TABLE fem_row_kernels_sse2

// clang-format off: the wide operations come before the kernels that are written in them
#include "dynamics/wide.h"
#include "dynamics/row_kernels.inl"
