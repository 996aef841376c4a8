// Cutting bodies into joined pieces, and putting them together again.
#ifndef FEM_WORLD_JOINING_H
#define FEM_WORLD_JOINING_H

#include "model/bond.h"
#include "world/world.h"

void fem_joined_free(FemJoined *joined);
FEM_MUST_USE FemJoined *fem_joined_create(int32_t tet_count); // no pieces yet; null when memory fails
FEM_MUST_USE bool fem_joined_allocate_bonds(FemJoined *joined, int32_t bond_count, int32_t face_count);

// ---- bond_making.c
// The bonds at the corners of faces that were just cut. False when memory fails.
FEM_MUST_USE bool fem_bonds_make(const FemMesh *mesh, FemBody *body, FemJoined *joined);

// ---- body_joining.c
// Opens the faces between the pieces of a body in the world, and joins them. By the default when it was told none. A
// body that cannot break stays as it is.
FemResult fem_body_cut_joined(FemWorld *world, int32_t body_index);

// Closes the faces whose bonds all hold, by a body that takes the place of the old one.
FemResult fem_body_mend_joined(FemWorld *world, int32_t body_index);

#endif
