// Cracks: planes through nodes that want to separate, cut along the faces of tets (P&O09 section 5;
// docs/method.md, "Splitting").
#ifndef FEM_FRACTURE_CRACK_H
#define FEM_FRACTURE_CRACK_H

#include "fracture/separation.h"

// A face that opened. Faces are tet * 4 + local.
typedef struct FemFaceCut {
	int32_t face, across;
	int32_t nodes[3]; // of `face`, numbers of before the rebuild and before this split's copies
} FemFaceCut;

// Splits nodes of the list, in seeded random order, until `most` were split or none is left; faces go to
// breaking->cuts. Returns how many nodes were split. The topology is left open (fem_split_open) when it returns more
// than 0.
int32_t fem_crack_split(FemBody *body, uint64_t step, int32_t most);

#endif
