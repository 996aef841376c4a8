// Compact members that a lattice of the cells asked for does not cover: the same lattice with smaller cells.
#ifndef FEM_FILLING_MEMBER_FINER_H
#define FEM_FILLING_MEMBER_FINER_H

#include "filling/member_search.h"

// Tries other places of the lattice and smaller cells, up to four times the tets asked for. out_good: every vertex is
// within FEM_MEMBER_GAP of the tets and the volume within what is promised; the result is drawn to the surface already.
// Else the search is as it was.
FemResult fem_member_search_finer(FemMemberSearch *search, double cell, bool *out_good);

#endif
