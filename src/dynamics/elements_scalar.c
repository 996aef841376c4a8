#define LANES 1 // one float at a time: the twin that the others must equal bit for bit
#define KERNEL_NAME fem_elements_update_scalar

#include "dynamics/lanes.h"
// Written in the vectors of the header above.
#include "dynamics/element_kernel.inl"
