#ifndef FEM_BAKING_BAKED_MODES_H
#define FEM_BAKING_BAKED_MODES_H

#include "baking/baked_mesh.h"

// FEM_OK, or a sentence when anything of the modes is out of range. Reading checks sizes by itself.
FemResult fem_baked_check_modes(const FemBakedMesh *mesh, const char *name);

#endif
