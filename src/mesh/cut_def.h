#ifndef FEM_MESH_CUT_DEF_H
#define FEM_MESH_CUT_DEF_H

#include "fem_baking.h"

// FEM_OK, or the first setting that is out of range.
FemResult fem_cut_def_check(const FemCutDef *def, const FemBakedMesh *mesh);

#endif
