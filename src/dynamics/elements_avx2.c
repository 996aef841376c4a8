#define LANES 8 // floats of an AVX2 vector
#define KERNEL_NAME fem_elements_update_avx2
#define CELL_KERNEL_NAME fem_cells_update_avx2

#include "dynamics/lanes.h"
// Written in the vectors of the header above.
#include "dynamics/element_kernel.inl"
// After it: uses its polar decomposition.
#include "dynamics/plate_kernel.inl"
