// A plain tet mesh, as files hold it: imported or baked. FemTetArrays is in fem_baking.h.
#ifndef FEM_BAKING_TET_ARRAYS_H
#define FEM_BAKING_TET_ARRAYS_H

#include "fem_baking.h"

void fem_tet_arrays_free(FemTetArrays *arrays);

// FEM_OK, or the first fault of the mesh, `name` before its sentence. Inverted tets are faults too.
FemResult fem_tet_arrays_check(const FemTetArrays *arrays, const char *name);

#endif
