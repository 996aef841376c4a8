// The shape that a mesh has under the scale of its bodies.
//
// A cube that is a board under the scale of its node must be filled and cut as that board: cells through what is its
// thickness there, splinters that are not flat. So a mesh is stretched before it is baked, and what was made of it is
// brought back into the mesh's own space, where bodies scale it.
#ifndef FEM_BAKING_STRETCH_H
#define FEM_BAKING_STRETCH_H

#include "base/assert.h"
#include "fem_baking.h"

// (1, 1, 1) of zero, which FemTetArrays has where nothing was said.
static inline FemVec3 fem_stretch_or_one(FemVec3 stretch) {
	bool is_said = stretch.x != 0.0f || stretch.y != 0.0f || stretch.z != 0.0f;
	return is_said ? stretch : (FemVec3){1.0f, 1.0f, 1.0f};
}

static inline bool fem_stretch_is_one(FemVec3 stretch) {
	return stretch.x == 1.0f && stretch.y == 1.0f && stretch.z == 1.0f;
}

// The positions of a mesh before it was stretched: bit for bit, which no division gives back.
typedef struct FemUnstretched {
	FemVec3 stretch;
	FemVec3 **positions; // [surface]
	int32_t surface_count;
} FemUnstretched;

FEM_MUST_USE bool fem_stretch_render_mesh(FemRenderMesh *render, FemVec3 stretch, FemUnstretched *out);
FemCutDef fem_stretched_cut(const FemCutDef *def, FemVec3 stretch); // its directions and places

// Everything of the mesh back to its own space; what it was stretched by stays noted with its tets. Nothing where
// nothing was stretched.
void fem_unstretch(FemBakedMesh *mesh, FemUnstretched *kept);
void fem_unstretched_free(FemUnstretched *kept, const FemRenderMesh *render);

#endif
