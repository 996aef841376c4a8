// The home tets of splinters.
#ifndef FEM_CUTTING_SPLINTER_HOMES_H
#define FEM_CUTTING_SPLINTER_HOMES_H

#include "fem_baking.h"
#include "geometry/embedding.h"

// Each the tet that holds the splinter's centre of mass, or the nearest.
FemResult fem_splinter_mesh_find_homes(FemSplinterMesh *mesh, const FemEmbedMesh *tets);

#endif
