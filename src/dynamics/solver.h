// Preconditioned conjugate gradients for dv of one island (spec A14, A15), by one thread or by all that are idle.
#ifndef FEM_DYNAMICS_SOLVER_H
#define FEM_DYNAMICS_SOLVER_H

#include "dynamics/preconditioner.h"
#include "fem_types.h"
#include "jobs/pool.h"

typedef struct FemSystem {
	FemBody *body;
	const FemNodeChunk *chunks; // of the island: the units of work, in the order sums are taken
	int32_t chunk_count;
	double *partials;           // [chunk_count]
	FemPreconditioner *preconditioner; // its kind is block-Jacobi where only a part of the component is live
	FemLoop *loop;              // null: alone
	float tolerance;            // relative, preconditioned norm
	float floor;                // J: r.z below this is noise
	int32_t max_iterations;
} FemSystem;

typedef struct FemSolveResult {
	int32_t iterations;
	float residual; // relative to the right-hand side
	bool capped;
	bool finite; // false: the system itself is not finite, dv means nothing
} FemSolveResult;

// Right-hand side, diagonal and forces of the nodes [begin, end): rhs = dt (f_int - (alpha_K + dt) K v + m g + f_user -
// alpha_M m v). The ground's share is added when the residual is formed.
void fem_assemble_nodes(FemBody *body, int32_t begin, int32_t end, float dt, FemVec3 gravity);

// Diagonal of the matrix from masses, mass damping and the active ground contacts.
void fem_assemble_diagonal(FemBody *body, int32_t begin, int32_t end, float dt);

// Solves for body->dv. On entry dv holds the prescribed change of velocity on pinned and driven nodes and the start
// vector on free ones. Leaves b - A dv in body->residual: on driven and pinned nodes minus the reaction impulse.
FemSolveResult fem_system_solve(FemSystem *system);

#endif
