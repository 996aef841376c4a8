#ifndef FEM_CUTTING_CUT_DEF_H
#define FEM_CUTTING_CUT_DEF_H

#include "fem_baking.h"

// FEM_OK, or the first setting that is out of range.
FemResult fem_cut_def_check(const FemCutDef *def, const FemBakedMesh *mesh);

// The volume (m^3) of a brick with its joints or of a section, where these have sizes of their own; else 0.
double fem_cut_def_unit(const FemCutDef *def);
void fem_cut_def_enlarge(FemCutDef *def, float scale);

#endif
