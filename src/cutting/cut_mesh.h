// A mesh made ready to be cut: welded, in unit space, with whole coordinates and a tree for winding numbers.
#ifndef FEM_CUTTING_CUT_MESH_H
#define FEM_CUTTING_CUT_MESH_H

#include "cutting/cut_solid.h"
#include "geometry/principal_box.h"

typedef struct FemCutMesh {
	FemUnitFrame frame;
	int32_t vertex_count, triangle_count, triangle_capacity;
	FemVec3d *places;    // [vertex], unit space
	FemCutPoint *points; // [vertex]
	int32_t (*triangles)[3];
	int32_t *sources;     // [triangle]: of what it was made from
	int32_t *rim_corners; // [triangle], or null: of a cap the corner of its source at which the edge begins, else -1
	FemTriangles soup;    // the same for the tree, which reorders it
	FemTriangleBvh bvh;
	FemWinding winding;
	FemPrincipalBox box; // of render meshes
	bool is_flipped;     // its source was inside out as a whole
	int32_t open_edges;  // without as many half-edges in one direction as in the other
	double volume;       // unit space
} FemCutMesh;

// All surfaces of a render mesh.
FemResult fem_cut_mesh_from_render(FemCutMesh *mesh, const FemRenderMesh *render);
// The outer faces of tets, in the frame of another mesh.
FemResult fem_cut_mesh_from_tets(FemCutMesh *mesh, const FemTetArrays *tets, const FemUnitFrame *frame);
void fem_cut_mesh_free(FemCutMesh *mesh);
// Turns a mesh that is inside out, counts open edges, builds the tree: once its arrays are filled.
FemResult fem_cut_mesh_finish(FemCutMesh *mesh);

void fem_cut_mesh_bounds(const FemCutMesh *mesh, double io_low[3], double io_high[3]); // widens them

#endif
