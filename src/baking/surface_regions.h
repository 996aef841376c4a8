// Material regions from what is seen: each tet belongs to the render surface nearest to its centre, so that the handle
// of a hammer can be of wood and its head of steel.
#ifndef FEM_BAKING_SURFACE_REGIONS_H
#define FEM_BAKING_SURFACE_REGIONS_H

#include "baking/baked_mesh.h"

// Fills tet_regions and region_names of a mesh that has tets and surfaces: region i is surface i, named after its name
// or its material. Of surfaces equally near the first counts.
FemResult fem_regions_from_surfaces(FemBakedMesh *mesh);

#endif
