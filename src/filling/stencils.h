// What stays of a tet of which some nodes lie outside: the stencils of isosurface stuffing (Labelle & Shewchuk 2007,
// figure 3), for tets of any lattice.
#ifndef FEM_FILLING_STENCILS_H
#define FEM_FILLING_STENCILS_H

#include "filling/tet_list.h"

typedef struct FemStencils {
	const FemVec3d *nodes; // [node] of the lattice
	const int8_t *signs;   // [node]: 1 inside, -1 outside, 0 on the surface
	int32_t *node_ids;     // [node]: its number in `out`, -1 while it has none
	FemTetList *out;
	void *context; // of the functions below
	// The number in `out` of the cut between a node inside and one outside.
	int32_t (*cut_id)(void *context, int32_t inside, int32_t outside);
	// The quad that is left of face a b c when its node c is cut off: does the diagonal start at a? Both tets of the
	// face must agree, so only the face may count, and no three quads of a tet may ask for a circle of diagonals.
	bool (*diagonal_at_first)(void *context, int32_t a, int32_t b, int32_t c);
} FemStencils;

int32_t fem_stencils_node(const FemStencils *stencils, int32_t node); // its number in `out`
// Tets without a node inside are left out.
void fem_stencils_add_tet(const FemStencils *stencils, const int32_t nodes[4]);

#endif
