// What makes the conjugate gradients short. One per component of a body, chosen when the body is made:
//
//   block-Jacobi  the inverse 3x3 diagonal blocks; always there, costs nothing to keep.
//   factor        a sparse Cholesky factor of the whole matrix, kept over several steps; each node's residual is
//   rotated
//                 into the frame the node had when the factor was made. For plates, beams, small bodies.
//   two-level     block-Jacobi plus a coarse space: the 6 rigid motions of every part, with a kept factor of the coarse
//                 matrix in frames that rotate with the parts. For large compact bodies.
//
// Which of them, and when a kept factor is made anew, is decided in solver_policy.h.
#ifndef FEM_DYNAMICS_PRECONDITIONER_H
#define FEM_DYNAMICS_PRECONDITIONER_H

#include "base/assert.h"
#include "base/range.h"
#include "base/vec.h"
#include "dynamics/coarse_groups.h"
#include "dynamics/sparse_cholesky.h"
#include "jobs/pool.h"
#include "model/body.h"
#include "topology/topology.h"

typedef enum FemPreconditionKind {
	FEM_PRECONDITION_JACOBI,
	FEM_PRECONDITION_FACTOR,
	FEM_PRECONDITION_TWO_LEVEL,
} FemPreconditionKind;

// A group's place now: the coarse space is R a + (R b) x (x - c) / length over its nodes.
typedef struct FemPartFrame {
	float center[3];   // m
	float rotation[9]; // row by row
	float coarse[8];   // the group's 6 coarse numbers: restricted residual, then solution
	float motion[8];   // R a, then R b / length of the solution, each with a 0 behind it
} FemPartFrame;

typedef struct FemPreconditioner {
	FemPreconditionKind kind;
	FemRange nodes; // of the component
	FemRange parts;
	FemCholesky *factor;
	double factor_cost;       // of making it anew, and
	double iteration_cost;    // of one CG iteration, in flops as fast as those of the rows
	bool valid;               // the factor may be used
	int32_t fresh_iterations; // of the first solve with this factor
	double wasted_cost;       // of iterations beyond those, since
	int64_t factorizations;

	float *workspace;
	size_t workspace_floats;

	FemVec4 *node_frames;  // factor: quaternion of each node when the factor was made
	float *node_rotations; // factor: 9 floats a node, rotation since then, row by row
	float *node_loads;     // factor: trace of each node's mass and contact blocks when the factor was made, kg
	bool is_rotated;       // false: the factor is of this step, no node has rotated since

	FemCoarseGroups groups; // two-level
	FemPartFrame *frames;   // two-level: [group]
	FemVec4 *arms; // two-level: [node of the component] from its group's centre, m; w = 1, or 0 unless it is free
	int32_t *coarse_row_start, *coarse_column;
	float *coarse_diagonal, *coarse_blocks; // 36 floats each, column-major
	float *coarse_vector;                   // 8 floats a group
	float length;                           // m, scales rotations to the size of translations
} FemPreconditioner;

// The kind of preconditioner in use: that of one whose factor may be used; for null block-Jacobi.
static inline FemPreconditionKind fem_preconditioner_kind_in_use(const FemPreconditioner *preconditioner) {
	return preconditioner && preconditioner->valid ? preconditioner->kind : FEM_PRECONDITION_JACOBI;
}

// Chooses by predicted cost. `node_order`: elimination order of the component's nodes (local numbers) by nested
// dissection, `part_order` that of its parts; either may be null, which rules that kind out. Falls back to
// block-Jacobi, also when memory fails.
typedef struct FemPreconditionerOrders {
	const int32_t *node_order, *part_order;
} FemPreconditionerOrders;

void fem_preconditioner_create(
	FemPreconditioner *preconditioner, const FemBody *body, int32_t component, FemPreconditionerOrders orders);
void fem_preconditioner_free(FemPreconditioner *preconditioner);
size_t fem_preconditioner_bytes(const FemPreconditioner *preconditioner); // held by it

// The graph of a component's parts, or of groups of its nodes (local numbers). Caller frees with fem_part_graph_free.
typedef struct FemPartGraph {
	int32_t part_count;
	int32_t *row_start, *column;
} FemPartGraph;

FEM_MUST_USE bool fem_part_graph_create(
	FemPartGraph *graph, const FemTopology *topology, int32_t component, const FemCoarseGroups *groups);
void fem_part_graph_free(FemPartGraph *graph);

// Before a solve: frames of nodes or parts, and a new factor where the old one has served. diagonal_blocks is scratch
// of 9 floats a node of the body. The system's rows, diagonal and node_blocks are ready.
typedef struct FemMatrixChange {
	bool has_moved;  // nodes, since the last call: false in later solves of a step
	bool by_contact; // touching others: a factor that is cheap to make is made anew, since old contacts in it cost many
					 // iterations
	bool wholly;     // every factor is made anew
} FemMatrixChange;

void fem_preconditioner_prepare(FemPreconditioner *preconditioner, const FemBody *body, FemLoop *loop,
	float *diagonal_blocks, FemMatrixChange change);

// Factor: z = M^-1 r over the component's nodes; returns r.z.
double fem_preconditioner_solve(
	const FemPreconditioner *preconditioner, const FemBody *body, const FemVec4 *r, FemVec4 *z);

// Two-level: sums of a group's residual into its coarse numbers; the coarse solve (returns its share of r.z); and the
// motion it adds to some nodes of a part, p += motion.
void fem_coarse_restrict(FemPreconditioner *preconditioner, const FemBody *body, int32_t group, const FemVec4 *r);
double fem_coarse_solve(FemPreconditioner *preconditioner);
void fem_coarse_prolong(const FemPreconditioner *preconditioner, int32_t local_part, FemRange nodes, FemVec4 *p);

// What a snapshot must hold for the kept factor to go on bitwise. The size depends on the kind alone.
size_t fem_preconditioner_state_size(const FemPreconditioner *preconditioner);
void fem_preconditioner_state_write(const FemPreconditioner *preconditioner, void *out);
FEM_MUST_USE bool fem_preconditioner_state_read(
	FemPreconditioner *preconditioner, const void *data); // false: not such a state

#endif
