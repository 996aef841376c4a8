// What a step adds to a body.
#ifndef FEM_MODEL_BODY_STEP_H
#define FEM_MODEL_BODY_STEP_H

#include "model/tet_batches.h"

#include <stdbool.h>

// How much a cell that creases wants to flow.
typedef struct FemCellDemand {
	float demand; // its strain over the one at which it flows; 0: it is below that
	float fold;   // rad, what it was folded by before
	float borne;  // share of its stress that it can bear: less than 1 where another folds in its place
} FemCellDemand;

// What one step computes of a body, in the step's arena: from the islands stage to the end of the step, for bodies that
// are not asleep. Kinematic ones have no arrays.
typedef struct FemBodyStep {
	// ---- tets: [batch * 8 + lane]
	FemTetBlocks *tet_blocks;
	FemTetForces *tet_forces;
	FemTetPlate *tet_plates;  // null when the mesh has none
	FemVec4 *tet_fibres;      // world direction; w = V (dt^2 + dt alpha_K) modulus; null when the body has none
	FemTetStress *tet_stress; // of bodies that can break, else null

	// ---- plate cells, prisms before hexahedra; null without
	FemVec4 *cell_forces;      // [cell][corner], N
	float *cell_blocks;        // [cell][pair of corners]: 3 columns of 4
	FemTetStress *cell_stress; // [cell][corner], of bodies that can break
	// [cell]: what its folding is decided by (dynamics/plate_flow.c); null where no cell of the body creases
	struct FemCellDemand *cell_demands;

	// ---- the system
	float *row_blocks; // 9 floats (column-major) per entry of row_column, (dt^2 + dt alpha_K) K_ij
	FemVec4 *diagonal; // [node], kg: mass (1 + dt alpha_M) and ground contact, per axis
	FemVec4 *ground;   // [node]: contact with the ground, see collision/ground.h
	float
		*contact_blocks; // 6 floats a node (symmetric): added by contacts to its diagonal block; null without contacts
	float *diagonal_blocks; // 9 floats a node: scratch for a new factor
	float *node_blocks;     // 12 floats a node: inverse of the diagonal 3x3 block, 3 columns of 4; 0 for pinned nodes
	FemVec4 *rhs, *dv, *residual, *direction, *product, *z; // [node]: of the conjugate gradients

	// ---- of live pieces
	struct FemProxy **rigid; // [component]: the unknowns of a rigid piece in the solve of its composite; else null

	// ---- of live parts
	int32_t *part_chunk;  // [part]: its first chunk in the list of its composite
	int32_t *part_island; // [part]

	// ---- fracture; of bodies that can break, in steps that look for cracks
	uint8_t *node_hot;                 // [node]: beside a tet with a tension that might break it
	FemTetStress *tension;             // [tet]: the tensile part of tets around hot nodes
	FemVec3d *cell_normals;            // [cell]: fem_wall_cell_normal() of acting cells of this pass; or null
	struct FemSeparation *separations; // [node]
	int32_t separation_count;
	struct FemBlow *blows; // [component]: how it is struck (world/step/blows.c); null: nothing of the body is
	// [node], m/s: by what impulses and explosions changed its velocity; null: none did (world/step/blows.c)
	FemVec4 *struck;
	struct FemBondBlow *bond_blows; // [component]: the same of what bonds hold (world/step/joined_blows.c)
	bool look_is_over;              // blows break nothing of it any more in this step
	bool waits;         // its blow is looked at in a later step, until when it stands still (world/step/blow_waits.h)
	uint8_t blow_rank;  // in a look: whose blow comes first when there is no time for all (world/step/blows.c)
	bool was_looked_at; // in the last pass: its elements are of the shape that the blow gave it

	float fast_displacement; // m, longest of a surface node

	// ---- elements (world/step/kept_elements.h)
	bool is_kept;        // all pieces are rigid: only the rotations of its tets are those of this step
	bool wants_elements; // something asks for more

	// ---- passes (world/step/passes.h)
	bool is_over;                   // the step of all its pieces ended in an earlier pass
	bool has_over;                  // that of some did
	bool was_split;                 // in an earlier pass: its arrays by node are of the last pass's memory
	bool has_returned;              // to the start of the step, in this pass
	bool goes_back;                 // some of its pieces take the step again
	bool was_released;              // rigid pieces of it became elastic in an earlier pass: their rows were not made
	struct FemBodyStart *start;     // of bodies whose step may be taken again, else null
	FemVec4 *kept_ground, *kept_dv; // [node], of pieces that are over in bodies that can break; null: there are none
} FemBodyStep;

#endif
