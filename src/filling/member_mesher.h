// Tets for one member of a soup: says what kind of shape it is, and looks for the cell size that gives the count asked
// for.
#ifndef FEM_FILLING_MEMBER_MESHER_H
#define FEM_FILLING_MEMBER_MESHER_H

#include "filling/tet_list.h"
#include "filling/tetrahedralize.h"

typedef struct FemMemberRequest {
	const FemTriangles *triangles; // all members
	const int32_t *groups;         // [triangle], null: one member
	int32_t group, target;
	bool closed; // no open edges: the divergence theorem gives its volume
	const FemBakeDef *def;
	bool *cancelled;
	float share_begin, share_end; // of the whole work, for progress
	bool gives_thickness;         // to what encloses nothing, where the def gives none
} FemMemberRequest;

// Plate correction strength c of the tets of thin members, no unit: the strength at which the excess stiffness was
// measured (docs/method.md, "Plates").
#define FEM_PLATE_STRENGTH 1.0f

// Whether the plate correction is to be set on the tets of a member that is made.
bool fem_member_is_corrected(const FemTetMember *member);

// Adds nodes (in the user's space) and tets to a list; fills everything of `member` but its place in the mesh.
FemResult fem_member_mesh(const FemMemberRequest *request, FemTetList *out, FemTetMember *member);

#endif
