// What the solver decides, all in one place: which preconditioner a component gets and whether a solve uses it, when a
// kept factor is made anew, where conjugate gradients start and end, and how many solves a step takes to find the
// active contacts. Whoever solves asks here. Every rule is by counts and predicted costs, never by time, so that a run
// repeats to the bit.
#ifndef FEM_DYNAMICS_SOLVER_POLICY_H
#define FEM_DYNAMICS_SOLVER_POLICY_H

#include "dynamics/preconditioner.h"
#include "dynamics/solver.h"
#include "model/body.h"

// ---- which preconditioner

// Flops of one factorization beyond which a factor of this kind is not kept.
double fem_policy_factor_flops_max(FemPreconditionKind kind);
double fem_policy_rigid_flops_max(void); // of the rigid space, which is factored before every solve

// Whether a coarse space of so many parts pays.
bool fem_policy_takes_two_levels(int32_t part_count);

// The dearest kind worth analysing for a piece of so many nodes and parts that came out of a component with this
// preconditioner; null: unknown.
FemPreconditionKind fem_policy_kind_of_piece(const FemPreconditioner *parent, int32_t node_count, int32_t part_count);

// Whether the solve of a composite of so many contacts and nodes uses what the piece has kept.
bool fem_policy_uses_kept(const struct FemPiece *piece, int32_t contact_count, int32_t node_count);

// ---- costs, in flops as fast as those of the rows

double fem_policy_rows_cost(int32_t node_count, int32_t entry_count); // of a product with the matrix
double fem_policy_kept_cost(size_t factor_bytes);                     // of a solve with a kept factor
double fem_policy_factor_cost(double flops);                          // of factoring the matrix
double fem_policy_two_level_cost(double flops, int32_t entry_count);  // of projecting and factoring the coarse one

// ---- when a factor is made anew

typedef enum FemRenewal {
	FEM_RENEWAL_KEEP,
	FEM_RENEWAL_ANEW,
	FEM_RENEWAL_IF_LOADED, // if contacts have come or gone since it was made: fem_policy_load_counts() at any node
} FemRenewal;

FemRenewal fem_policy_renewal(const FemPreconditioner *preconditioner, FemMatrixChange change);

// Whether contacts that changed a node's diagonal block by so much count. Both are traces, kg.
bool fem_policy_load_counts(float change, float diagonal);

// What the rule above goes by: that the factor was made anew, and how many iterations a solve with it took.
void fem_policy_note_renewed(FemPreconditioner *preconditioner);
void fem_policy_note_solve(FemPreconditioner *preconditioner, int32_t iterations);

// A solve that ended at its cap is repeated with new factors: a plate must not fall for want of iterations. made: how
// many were new already.
bool fem_policy_repeats_capped(const FemSystem *system, int64_t made);

// ---- where a solve starts and ends

bool fem_policy_tries_start_vector(const FemSystem *system);

// Relative to the right-hand side, of a system whose preconditioners are ready.
double fem_policy_tolerance(const FemSystem *system);

// Bound of r.z below which it is rounding, J, for a composite of this mass (kg).
float fem_policy_floor(float mass);

// Cap of iterations of a composite: that of its materials, or of rigid bodies alone.
int32_t fem_policy_iteration_cap(int32_t of_materials, int32_t island_count);

// Of the iterations that a system of so many unknowns may take, those that can bring it nearer.
int32_t fem_policy_useful_iterations(int64_t unknowns, int32_t max_iterations);

// ---- the solves of a step

typedef struct FemSolvePass {
	float tolerance;
	int32_t max_iterations;
	bool is_sharp; // its dv may be the step's; it is measured against this active set's own load
	bool is_last;
} FemSolvePass;

// The first solve that a system does in a later pass of a step: once bonds broke it begins with the active set and the
// friction that the pass before came to, and few solves are left to it. `most`: solves that limits of the step leave
// it.
int32_t fem_policy_first_pass(int32_t step_pass, int32_t bond_count, int32_t most);

// The pass-th solve of a step for a system with this tolerance and cap. settled: the solve before left the set of
// active contacts as it was, or there are no contacts.
FemSolvePass fem_policy_pass(int32_t pass, bool settled, float tolerance, int32_t max_iterations, int32_t island_count);

#endif
