#define LANES 4
#define KERNEL_NAME fem_elements_update_sse2

// clang-format off: the lanes come before the kernel that is written in them
#include "dynamics/lanes.h"
#include "dynamics/element_kernel.inl"
