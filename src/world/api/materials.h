// The materials of a world: slots and checks.
#ifndef FEM_WORLD_MATERIALS_H
#define FEM_WORLD_MATERIALS_H

#include "world/world.h"

int32_t fem_material_slot(FemWorld *world);            // a free slot, growing the list; -1 when memory fails
FemResult fem_material_def_check(FemMaterialDef *def); // and clamps

#endif
