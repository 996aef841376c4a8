// Members with limbs: a graded lattice, coarse in the trunk and fine in what is thin, until every vertex is covered.
#ifndef FEM_FILLING_MEMBER_GRADED_H
#define FEM_FILLING_MEMBER_GRADED_H

#include "filling/member_search.h"

// Of the mesh's size: farthest that a vertex may lie from the tets; promised.
#define FEM_MEMBER_GAP 0.01

typedef struct FemMemberFit {
	double gap; // unit space: farthest that a vertex lies from the tets
	bool good;  // ... is within FEM_MEMBER_GAP, and the volume within what is promised for the count
} FemMemberFit;

double fem_member_gap_allowed(const FemMemberSearch *search); // FEM_MEMBER_GAP with a margin, unit space

// Moves nodes of a list of the search out to vertices that it does not cover.
FemResult fem_member_cover(const FemMemberSearch *search, FemTetList *list, FemMemberFit *out);

// Whether cells of a plate or a beam miss so much of the solid that a lattice does better.
FemResult fem_member_is_lost(const FemMemberSearch *search, bool *out_lost);

// Cells of `cell` in the trunk. Takes what comes out when it is better than what the search has; the result is drawn to
// the surface already.
FemResult fem_member_search_graded(FemMemberSearch *search, double cell, bool *out_found);

#endif
