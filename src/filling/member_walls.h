// Thin walls of any shape: cells along the wall, if its two skins can be told apart.
#ifndef FEM_FILLING_MEMBER_WALLS_H
#define FEM_FILLING_MEMBER_WALLS_H

#include "filling/member_search.h"

// `wall`: about how thick the walls are, unit space. Leaves the search as it was when no cells came of it that cover
// the member in one body with its volume; out_found says which.
FemResult fem_member_search_walls(FemMemberSearch *search, double wall, bool *out_found);

// The same along a surface that encloses nothing: cells of this thickness (unit space) on both sides of it.
FemResult fem_member_search_sheet(FemMemberSearch *search, double thickness, bool *out_found);

// A hollow body: cells of this thickness (unit space) inside the skin, half way where the skin meets itself before
// that. What crosses itself or is in patches gets the skin of a lattice.
FemResult fem_member_search_hollow(FemMemberSearch *search, double thickness, bool *out_found);

#endif
