// The surface of what a tangled soup encloses: crossing parts and open patches as one closed skin.
#ifndef FEM_FILLING_LATTICE_SKIN_H
#define FEM_FILLING_LATTICE_SKIN_H

#include "filling/solid.h"

// The outer faces of a lattice of these cells that fills the solid, in the same unit space. Its largest body alone;
// out_made is false when it is less than nearly all.
FemResult fem_lattice_skin(const FemSolid *solid, double cell, FemSolid *out, bool *out_made);

#endif
