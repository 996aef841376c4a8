// Tets as triangles that a person can look at: each tet drawn apart from its neighbours, all or behind a cut.
#ifndef FEM_MESH_EXPLODED_VIEW_H
#define FEM_MESH_EXPLODED_VIEW_H

#include "base/vec.h"

typedef struct FemViewDef {
	float gap;          // 0..0.9: tets shrink towards their centres by this share; default 0.1
	bool cut;           // leave out tets whose centre lies on the normal's side of the plane
	FemVec3 cut_point;  // m
	FemVec3 cut_normal; // any length
	bool surface_only;  // outer faces of what is left instead of whole tets (gap is not used)
	uint32_t cookie;
} FemViewDef;

typedef struct FemViewMesh {
	int32_t triangle_count;
	FemVec3 *vertices;      // 3 a triangle, counter-clockwise from outside
	FemVec3 *normals;       // [vertex], flat
	int32_t *triangle_tets; // [triangle]
} FemViewMesh;

FemViewDef fem_default_view_def(void);
FemResult fem_tet_mesh_view(int32_t node_count, const FemVec3 *nodes, int32_t tet_count, const int32_t *tets,
	const FemViewDef *def, FemViewMesh *out);
void fem_view_mesh_free(FemViewMesh *mesh);

#endif
