// The splinters of bodies.
#ifndef FEM_WORLD_SPLINTERS_H
#define FEM_WORLD_SPLINTERS_H

#include "base/assert.h"
#include "fracture/splinters.h"
#include "world/world.h"

FemResult fem_splinters_def_check(const FemSplintersDef *def, int32_t tet_count);
// Makes splinters from a definition that was checked; null (with a sentence) when memory fails. Splinters of the body's
// own have no owners yet; shared ones are common to all whole bodies of the mesh with the same definition.
FEM_MUST_USE FemSplinters *fem_body_make_splinters(
	const FemWorld *world, const FemBody *body, const FemSplintersDef *def);
FemSplinters *fem_body_share_splinters(FemWorld *world, const FemBody *body, const FemSplintersDef *def);
void fem_mesh_forget_splinters(FemMesh *mesh); // those that nobody shares any more
void fem_splinters_publish_all(FemWorld *world);

#endif
