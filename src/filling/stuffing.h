// Isosurface stuffing (Labelle & Shewchuk 2007, "Isosurface stuffing: fast tetrahedral meshes with good dihedral
// angles"): the tets of a BCC lattice, with nodes near the surface warped onto it and the rest cut along it by fixed
// stencils. With cubic cells every dihedral angle is at least 10.7 degrees and at most 164.8; stretched cells lose by
// their stretch.
#ifndef FEM_FILLING_STUFFING_H
#define FEM_FILLING_STUFFING_H

#include "filling/bcc_lattice.h"
#include "filling/tet_list.h"

// Adds the tets of the solid to a list; nodes in the solid's unit space. `fitted` and `shift` as in fem_bcc_create().
FemResult fem_stuffing_fill(const FemSolid *solid, const double cell[3], bool fitted, double shift, FemTetList *out);

#endif
