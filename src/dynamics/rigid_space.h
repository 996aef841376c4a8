// Rigid motions as a coarse space of a composite's solve.
//
// Preconditioners know their own island and, of its contacts, the diagonal. What a heap of stiff pieces does is pass
// loads from piece to piece, and conjugate gradients carry those one contact an iteration: several hundred iterations
// for the rubble of a wall. So the 6 rigid motions of every free island, and every dynamic collider, make a small
// system of their own, P^T A P: masses on its diagonal, active contacts between its blocks. It is solved directly in
// each iteration, for what the preconditioners leave (A-DEF2; Tang, Nabben, Vuik, Erlangga 2009; docs/method.md,
// "Preconditioners"). Rigid motions strain nothing, hence no element takes part.
#ifndef FEM_DYNAMICS_RIGID_SPACE_H
#define FEM_DYNAMICS_RIGID_SPACE_H

#include "base/assert.h"
#include "dynamics/contact_rows.h"
#include "dynamics/sparse_cholesky.h"
#include "jobs/pool.h"

// More have no cheap elimination order; they go without. Chosen: finding the order is quadratic in them.
#define FEM_RIGID_BLOCKS_MAX 512

// An elastic island, or a rigid piece or dynamic collider: u = a + b x (x - center) / length.
typedef struct FemRigidBlock {
	FemBody *body; // null: what is rigid
	FemProxy *proxy;
	FemRange nodes;
	float center[3];      // m, in the body's frame
	FemVec4 *arms;        // [node] from the center, m; w = 1
	float inverse_length; // 1/m, scales rotations to the size of translations
	float numbers[8];     // restricted residual, then solution
	float inertia[36];    // P^T D P of its masses and of the ground
} FemRigidBlock;

// How a contact's relative velocity depends on a block: sum of weight (a + b x arm).
typedef struct FemRigidSide {
	int32_t block; // -1: not in the space
	float weight;
	float arm[3]; // weighted, in lengths
} FemRigidSide;

typedef struct FemRigidContact {
	FemRigidSide side[2]; // of the same block: only the first
	int32_t entry[2]; // places of the blocks (0, 1) and (1, 0): of the one that the factor reads; -1: not of this one
} FemRigidContact;

typedef struct FemRigidSpace {
	FemRigidBlock *blocks;
	int32_t block_count;
	FemVec4 *arms; // of all blocks
	int32_t node_count;
	FemRigidContact *contacts; // [contacts of the composite]
	int32_t contact_count;
	int32_t *row_start, *column; // the graph of the blocks
	int32_t entry_count;
	float *diagonal, *entries;           // 36 floats each, column-major
	float *bond_diagonal, *bond_entries; // what bonds add to both, once for all solves; null: there are none
	FemCholesky *factor;
	float *vector, *workspace;
	float *loads; // [8 * block]: P^T r
	size_t workspace_floats;
	bool valid;   // factored
	size_t bytes; // of the block of memory behind all arrays but the factor's and the workspace's
	void *memory;
} FemRigidSpace;

// An elastic island with a block in the space: whole and nowhere pinned. Other elastic islands count as fixed.
typedef struct FemRigidIsland {
	FemBody *body;
	FemRange nodes;
} FemRigidIsland;

// What has a block in the space.
typedef struct FemRigidIslands {
	const FemRigidIsland *list;
	int32_t count;
	const int32_t *block_of; // [node chunk of the composite]: place of its island in the list; -1: none
	FemProxy **rigids;       // rigid pieces and dynamic colliders
	int32_t rigid_count;
} FemRigidIslands;

// For a step: blocks, which contacts join which, elimination order and symbolic factor. False when the space would not
// pay or memory fails: nothing is held then. Allocates. Sets FemProxy.block.
FEM_MUST_USE bool fem_rigid_space_create(
	FemRigidSpace *space, const FemContactRows *rows, const FemRigidIslands *islands);
void fem_rigid_space_free(FemRigidSpace *space);

// Before each solve: masses with the active ground contacts, the active contacts, the factor.
void fem_rigid_space_prepare(FemRigidSpace *space, const FemContactRows *rows, FemLoop *loop);

// z += P (P^T A P)^-1 P^T (r - A z): rows->impulses are those of z, which is 0 on colliders. Returns the share in r.z
// of what is added. K takes no part: P^T K = 0.
double fem_rigid_space_correct(FemRigidSpace *space, const FemContactRows *rows, FemLoop *loop);

// z += P (P^T A P)^-1 P^T r over bodies and colliders; returns r's share in r.z.
double fem_rigid_space_add(FemRigidSpace *space, FemLoop *loop);

#endif
