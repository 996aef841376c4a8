// Cells for what is made of boards and bars: solids with flat faces, at right angles or all along one axis, and
// straight beams.
#ifndef FEM_FILLING_MEMBER_BLOCKS_H
#define FEM_FILLING_MEMBER_BLOCKS_H

#include "filling/member_search.h"

// All leave the search as it was when the member is of another shape, or cells would not have its volume or not cover
// it in one body; out_found says which.

// `wall`: about how thick the walls are, unit space.
FemResult fem_member_search_blocks(FemMemberSearch *search, double wall, bool *out_found);
// The same for walls at any angles round one axis.
FemResult fem_member_search_plan(FemMemberSearch *search, double wall, bool *out_found);

// Cells along the box's first axis, about as long as wide, or one across where there are too few for that.
FemResult fem_member_search_beam(FemMemberSearch *search, bool *out_found);

#endif
