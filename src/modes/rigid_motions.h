// Motions of a mode matrix's nodes without deformation: six for each component that nothing holds, fewer where pins let
// it turn, none where they do not.
#ifndef FEM_MODES_RIGID_MOTIONS_H
#define FEM_MODES_RIGID_MOTIONS_H

#include "modes/mode_matrix.h"

typedef struct FemRigidMotions {
	int32_t count, unknown_count, block_count;
	double (*vectors)[FEM_SOLVE_SIDES]; // [block][unknown]: orthonormal; motion k is column k % 4 of block k / 4
} FemRigidMotions;

// False when memory fails.
FEM_MUST_USE bool fem_rigid_motions_find(
	FemRigidMotions *motions, const FemModeMatrix *matrix, const FemVec3 *node_positions);
void fem_rigid_motions_free(FemRigidMotions *motions);

#endif
