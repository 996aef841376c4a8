// The closed shells of a mesh, for meshes whose components stand in each other, as
// legs in a table top: each is cut by itself, and its splinters are closed though
// the whole crosses itself. A cavity belongs to the shell around it.
#ifndef FEM_CUTTING_CUT_SHELLS_H
#define FEM_CUTTING_CUT_SHELLS_H

#include "cutting/cut_mesh.h"

#define FEM_CUT_SHELL_MAX 64 // shells that are cut each by itself; chosen: with more the mesh is cut as a whole

typedef struct FemCutShell {
	FemTriangles soup;
	FemTriangleBvh bvh;
	FemWinding winding;
	double low[3], high[3]; // unit space
} FemCutShell;

typedef struct FemCutShells {
	int32_t count; // 0: there is but one, or too many, or one that is inside out
	FemCutShell *shells;
	int32_t *of_triangle;
	int32_t triangle_count;
} FemCutShells;

FemResult fem_cut_shells_create(FemCutShells *shells, const FemCutMesh *mesh);
void fem_cut_shells_free(FemCutShells *shells);

#endif
