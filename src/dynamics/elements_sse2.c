#define LANES 4 // floats of an SSE2 vector
#define KERNEL_NAME fem_elements_update_sse2
#define CELL_KERNEL_NAME fem_cells_update_sse2

#include "dynamics/lanes.h"
// Written in the vectors of the header above.
#include "dynamics/element_kernel.inl"
// After it: uses its polar decomposition.
#include "dynamics/plate_kernel.inl"
