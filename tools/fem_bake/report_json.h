// What a bake says of its result to programs: one JSON object.
#ifndef FEM_BAKE_REPORT_JSON_H
#define FEM_BAKE_REPORT_JSON_H

#include "baking/bake.h"

// density: kg/m^3, for the mass. info: null for a tet mesh that was taken over, which has no surface to compare with.
FemResult fem_report_json(const FemBakedMesh *mesh, const FemBakeInfo *info, float density);

#endif
