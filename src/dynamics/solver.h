// Preconditioned conjugate gradients for dv of a composite: islands that touch, one linear system (P&O09 section 4;
// docs/method.md, "The linear system"). By one thread or by all that are idle.
#ifndef FEM_DYNAMICS_SOLVER_H
#define FEM_DYNAMICS_SOLVER_H

#include "base/range.h"
#include "dynamics/contact_rows.h"
#include "dynamics/preconditioner.h"
#include "dynamics/rigid_balance.h"
#include "dynamics/rigid_space.h"
#include "jobs/pool.h"
#include "model/body.h"
#include "model/island.h"

// One island of the composite.
typedef struct FemSystemIsland {
	FemBody *body;
	FemRange chunks;                   // of the composite
	FemPreconditioner *preconditioner; // null: block-Jacobi, where only a part of the component is live
	FemRigidBalance balance;           // of stiff free islands
	bool is_rigid;                     // of a rigid piece: its nodes take no part
	// Of rigid pieces that move as one: the first of them, whose unknowns are those of all, and its ranges of nodes in
	// FemSystem.group_nodes. Null: it moves by itself.
	struct FemSystemIsland *leader;
	FemRange group;
	int32_t group_filled; // of it
	FemProxy rigid;       // its unknowns ...
	float extra[36];      // ... and FemProxy.extra of them
	double share;         // of r.z or x.Ax: the solver's
} FemSystemIsland;

typedef struct FemSystem {
	FemBody *const *bodies; // the world's
	FemSystemIsland *islands;
	int32_t island_count;
	const FemNodeChunk *chunks; // the units of work, in the order sums are taken; their `island` is a place in islands
	int32_t chunk_count;
	double *partials;  // [chunk_count]
	FemProxy **rigids; // dynamic colliders, then rigid pieces that can move
	int32_t rigid_count;
	double *rigid_factors;    // [36 * rigid_count]: Cholesky factors of their blocks, where there is no rigid space
	FemContactRows contacts;  // count 0: none
	FemRange *group_nodes;    // [island_count] of pieces that move as one; null: none do
	bool is_direct;           // nothing deforms: solved by rigid_direct.h
	double *contact_partials; // [contact chunks]
	float ground_rebound;     // largest restitution of what rebounds from the ground; 0: nothing does
	FemProxy **modals;        // of bodies that move by modes which have part in the solve
	int32_t modal_count;
	FemRigidSpace *rigid; // null: none
	FemLoop *loop;        // null: alone
	float tolerance;      // relative, preconditioned norm
	float floor;          // J: r.z below this is noise
	double scale;         // J: b.M^-1 b if known from a solve of nearly the same system, whose dv is the start; else 0
	int32_t max_iterations;
} FemSystem;

// Nodes of rigid pieces take no part in it.
static inline bool fem_chunk_is_rigid(const FemSystem *system, int32_t chunk) {
	return system->islands[system->chunks[chunk].island].is_rigid;
}

typedef struct FemSolveResult {
	int32_t iterations;
	float residual; // relative to the right-hand side
	double scale;   // J: b.M^-1 b
	bool capped;    // the tolerance was not reached
	bool is_broken; // for the matrix or its preconditioner were not positive: dv is what had been found by then
	bool finite;    // false: the system itself is not finite, dv means nothing
} FemSolveResult;

// Right-hand side, diagonal and forces of the nodes [begin, end): rhs = dt (f_int - (alpha_K + dt) K v + m g + f_user -
// alpha_M m v). The ground's share is added when the residual is formed.
void fem_assemble_nodes(FemBody *body, int32_t begin, int32_t end, float dt, FemVec3 gravity);

// All of it for nodes of a rigid piece: external forces and masses, at dv = 0.
void fem_assemble_rigid_nodes(FemBody *body, int32_t begin, int32_t end, float dt, FemVec3 gravity);

// Diagonal of the matrix from masses, mass damping and the active ground contacts.
void fem_assemble_diagonal(FemBody *body, int32_t begin, int32_t end, float dt);

// Solves for body->step->dv. On entry dv holds the start vector on free nodes and is 0 on pinned and driven ones, whose
// velocities already are what they shall be. Leaves b - A dv in body->step->residual: on driven and pinned nodes minus
// the reaction impulse.
FemSolveResult fem_system_solve(FemSystem *system);

// After it: dv of the nodes of rigid pieces, and their residual without contacts.
void fem_system_spread_rigid(FemSystem *system);

// After the last, before the move: of bodies that move by modes dv of the nodes is that of their frame alone.
void fem_system_close_modal(FemSystem *system, float dt);

// After the last, with FemContact.impulse set: contacts join the residual of the nodes of rigid pieces.
void fem_system_load_rigid(FemSystem *system);

// Its parts, for the same system after it. residual = b - A dv; overwrites direction, product and z.
void fem_system_residual(FemSystem *system);

// product = A direction, of bodies and colliders; returns direction.product. Overwrites z.
double fem_system_multiply(FemSystem *system);

#endif
