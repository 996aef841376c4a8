// Tets for one part of a soup: says what kind of shape it is, and looks for the cell size that gives the count asked
// for.
#ifndef FEM_FILLING_PART_MESHER_H
#define FEM_FILLING_PART_MESHER_H

#include "filling/tet_list.h"
#include "filling/tetrahedralize.h"

typedef struct FemPartRequest {
	const FemTriangles *triangles; // all parts
	const int32_t *groups;         // [triangle], null: one part
	int32_t group, target;
	bool closed; // no open edges: the divergence theorem gives its volume
	const FemBakeDef *def;
	bool *cancelled;
	float share_begin, share_end; // of the whole work, for progress
} FemPartRequest;

// Adds nodes (in the user's space) and tets to a list; fills everything of `part` but its place in the mesh.
// Whether the plate correction is to be set on the tets of a part that is made.
bool fem_part_is_corrected(const FemTetPart *part);

FemResult fem_part_mesh(const FemPartRequest *request, FemTetList *out, FemTetPart *part);

#endif
