#define LANES 1 // one float at a time: the twin that the others must equal bit for bit
#define KERNEL_NAME fem_elements_update_scalar
#define CELL_KERNEL_NAME fem_cells_update_scalar

#include "dynamics/lanes.h"
// Written in the vectors of the header above.
#include "dynamics/element_kernel.inl"
// After it: uses its polar decomposition.
#include "dynamics/plate_kernel.inl"
