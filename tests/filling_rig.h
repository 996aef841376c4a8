// A surface filled with tets and measured, and a body of it that is held: for tests of what is laid along walls.
#ifndef FEM_TESTS_FILLING_RIG_H
#define FEM_TESTS_FILLING_RIG_H

#include "filling/tetrahedralize.h"
#include "scenes/surface_meshes.h"

typedef struct FilledShape {
	double volume; // of the tets, over that of the surface
	double far;    // of the farthest vertex from the tets, over the size
} FilledShape;

// Fills the surface, which is freed, rotated, and prints what came of it; false, and a failed check, where nothing did.
bool filling_rig_fill(const char *name, FemSurfaceMesh surface, FemQuat rotation, int32_t target, FemTetMesh *out,
	FilledShape *out_shape);

// An elastic body of it that some nodes hold, in a world of its own without gravity and contacts. E in Pa.
FemBodyId filling_rig_held(const FemTetMesh *mesh, double young, double poisson, const int32_t *pinned,
	int32_t pinned_count, FemWorldId *out_world);

#endif
