// From polygons and faces to splinters with everything a renderer and the fracture engine want to know.
#ifndef FEM_CUTTING_CUT_OUTPUT_H
#define FEM_CUTTING_CUT_OUTPUT_H

#include "base/assert.h"
#include "cutting/cut_solid.h"

typedef struct FemCutSource {
	const FemRenderMesh *render;
	const FemTetArrays *tets;
	FemUnitFrame frame;
	FemVec3 grain;                 // texture coordinates of cuts run along it; 0 = any direction
	const int32_t *sources;        // [triangle of the outside]: of all surfaces in a row
	const int32_t *rim_corners;    // [triangle of the outside], or null: see FemCutMesh
	bool is_flipped;               // the triangles were flipped to be cut
	FemCutSolid *outside;          // whose polygons are shown
	FemCutSolid *inside;           // whose faces are shown: the same, or that of the tets' surface
	bool is_apart;                 // inside is another solid than outside
	const int32_t *cell_splinters; // [polygon]: of the outside when there is no diagram; else null
} FemCutSource;

FemResult fem_cut_output(const FemCutSource *source, FemSplinterMesh *out);
FEM_MUST_USE bool fem_splinter_mesh_reserve(
	FemSplinterMesh *mesh); // arrays for the counts it has, zeroed; false when memory fails
void fem_splinter_mesh_free(FemSplinterMesh *mesh);

#endif
