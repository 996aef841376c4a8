#include "dynamics/solver_policy.h"

#include "model/piece.h"

#include <math.h>

// ---- which preconditioner

// A one-layer pane of 1,000 tets needs 4 Mflop a factorization, a vase of 1,300 under 15, and takes 84 iterations
// without; a bar of 2,500 tets needs 20, and it is faster in two levels, which also share among threads.
#define FACTOR_FLOPS_MAX 1.15e7
#define COARSE_FLOPS_MAX 1e9  // chosen: never reached by what steps in real time
#define RIGID_FLOPS_MAX 3e7   // about 8 ms; beyond that iterations are cheaper
#define TWO_LEVEL_PARTS_MIN 4 // chosen: with fewer the coarse space is hardly smaller than the fine one

double fem_policy_factor_flops_max(FemPreconditionKind kind) {
	return kind == FEM_PRECONDITION_TWO_LEVEL ? COARSE_FLOPS_MAX : FACTOR_FLOPS_MAX;
}

double fem_policy_rigid_flops_max(void) {
	return RIGID_FLOPS_MAX;
}

bool fem_policy_takes_two_levels(int32_t part_count) {
	return part_count >= TWO_LEVEL_PARTS_MIN;
}

// What was too large for a factor still is when it lost but little: the analysis that says so is not cheap. A piece of
// too few parts for two levels is analysed all the same: 327 nodes of a slab took 240 iterations with neither.
FemPreconditionKind fem_policy_kind_of_piece(const FemPreconditioner *parent, int32_t node_count, int32_t part_count) {
	bool is_large = parent && parent->kind == FEM_PRECONDITION_TWO_LEVEL &&
		2 * node_count > parent->nodes.end - parent->nodes.begin;
	return is_large && fem_policy_takes_two_levels(part_count) ? FEM_PRECONDITION_TWO_LEVEL : FEM_PRECONDITION_FACTOR;
}

#define COMPACT_SHARE 0.25f // thickness over the edge of a cube of the same box: a cube has 1/3, plates and beams less
#define NODES_A_CONTACT 4   // of a composite: with fewer, contact decides; chosen

// Where compact pieces lean on each other at many points, contact decides how many iterations a solve takes; a factor
// that knows nothing of it only makes each of them dearer (a pile of 27 cubes is 2.5 times faster without). Plates and
// beams still need theirs.
bool fem_policy_uses_kept(const FemPiece *piece, int32_t contact_count, int32_t node_count) {
	bool is_compact = piece->thickness > COMPACT_SHARE * sqrtf(piece->box_area);
	bool contact_decides = contact_count > 0 && NODES_A_CONTACT * contact_count > node_count && is_compact;
	return !contact_decides || piece->preconditioner->kind != FEM_PRECONDITION_FACTOR;
}

// ---- costs

// In flops as fast as those of the rows.
#define ENTRY_COST 21.0       // of a 3x3 block of the rows: 9 multiplications, 12 additions with the difference
#define NODE_COST 60.0        // of a node's share in the vector work of an iteration; counted, about
#define DENSE_FLOP_COST 0.5   // of a flop in dense panels: those run about twice as fast
#define PROJECTION_COST 250.0 // of projecting one block of the matrix into the coarse space; about

double fem_policy_rows_cost(int32_t node_count, int32_t entry_count) {
	return ENTRY_COST * entry_count + NODE_COST * node_count;
}

// Two passes over its floats of 4 bytes, two flops each.
double fem_policy_kept_cost(size_t factor_bytes) {
	return (double)factor_bytes;
}

double fem_policy_factor_cost(double flops) {
	return DENSE_FLOP_COST * flops;
}

double fem_policy_two_level_cost(double flops, int32_t entry_count) {
	return DENSE_FLOP_COST * flops + PROJECTION_COST * entry_count;
}

// ---- when a factor is made anew

#define CHEAP_FACTOR 8.0 // iterations that making a factor may cost for it to be made anew whenever contacts change
#define LOAD_CHANGE 0.1f // of a node's diagonal block; chosen

// A factor serves until the iterations it cost beyond those of a fresh one add up to making it. Outdated contacts in a
// factor cost more, so in contact a cheap factor is made before every solve; within a step only if the active contacts
// have changed. What contacts do to a piece as a rigid body is left to the rigid space.
FemRenewal fem_policy_renewal(const FemPreconditioner *p, FemMatrixChange change) {
	if (p->kind == FEM_PRECONDITION_JACOBI)
		return FEM_RENEWAL_KEEP;
	if (!p->valid || change.wholly || p->wasted_cost > p->factor_cost)
		return FEM_RENEWAL_ANEW;
	bool is_cheap = p->kind == FEM_PRECONDITION_FACTOR && p->factor_cost < CHEAP_FACTOR * p->iteration_cost;
	if (!change.by_contact || !is_cheap)
		return FEM_RENEWAL_KEEP;
	bool is_of_this_step = !change.has_moved && !p->is_rotated;
	return is_of_this_step ? FEM_RENEWAL_IF_LOADED : FEM_RENEWAL_ANEW;
}

bool fem_policy_load_counts(float change, float diagonal) {
	return fabsf(change) > LOAD_CHANGE * diagonal;
}

void fem_policy_note_renewed(FemPreconditioner *p) {
	p->fresh_iterations = -1;
	p->wasted_cost = 0.0;
}

void fem_policy_note_solve(FemPreconditioner *p, int32_t iterations) {
	if (p->fresh_iterations < 0)
		p->fresh_iterations = iterations;
	else if (iterations > p->fresh_iterations)
		p->wasted_cost += (iterations - p->fresh_iterations) * p->iteration_cost;
}

bool fem_policy_repeats_capped(const FemSystem *system, int64_t made) {
	if (made > 0)
		return false;
	for (int32_t i = 0; i < system->island_count; i++) {
		if (system->islands[i].preconditioner && system->islands[i].preconditioner->kind != FEM_PRECONDITION_JACOBI)
			return true;
	}
	return false;
}

// ---- where a solve starts and ends

#define SOLVE_FLOOR 1e-12f      // (1e-6 m/s)^2: a residual worth less kinetic energy per kg is rounding
#define DEFLATED_TOLERANCE 0.25 // of the tolerance: see fem_policy_tolerance()
// The same where something rebounds so lively that an error could make it gain, for the load of that is far larger than
// any other: with the whole tolerance a steel ball with e = 1 came up to 1.29 times its first height within 15 rebounds
// at 30 Hz, with a tenth it only loses. Cubes of 5e10 Pa thrown with spin gained up to 4 % in a step even with that;
// with 0.02 none over 0.6 %.
#define BOUNCE_TOLERANCE 0.02
#define LIVELY 0.5f // restitution from which on it could; below, a quarter of the energy comes back. Chosen
// The same of what rebounds with less: with the whole tolerance the stress of the blow is not what it would be, and a
// plank of stone that is set down from 10 cm broke (e = 0.3); with 0.3 of it not.
#define REBOUND_TOLERANCE 0.1
#define SPARE_ITERATIONS 30  // chosen
#define RIGID_ITERATIONS 100 // of dynamic colliders that touch only sleepers: 6 unknowns each; chosen

// Factors of whole bodies that touch nothing come so near in one iteration that a start vector does not pay.
bool fem_policy_tries_start_vector(const FemSystem *system) {
	for (int32_t i = 0; i < system->island_count; i++) {
		if (fem_preconditioner_kind_in_use(system->islands[i].preconditioner) != FEM_PRECONDITION_FACTOR)
			return true;
	}
	return fem_contact_rows_total(&system->contacts) > 0;
}

// Where a rigid space answers for rigid motions, what is left is deformation alone, while most of the right-hand side
// is of rigid motions: with the whole tolerance 6 of 500 piles of the energy scan gained 1 to 11 % of their energy,
// with 0.3 of it none more than 0.9 %. The deformation of what breaks before it is seen to deform holds next to no
// energy, and is solved to the tolerance (wall 13 %, glass2400 20 % faster).
double fem_policy_tolerance(const FemSystem *system) {
	bool is_soft = false;
	for (int32_t i = 0; i < system->island_count; i++)
		is_soft |= !system->islands[i].is_rigid && !system->islands[i].body->is_stiff;
	double share = system->rigid && system->rigid->valid && is_soft ? DEFLATED_TOLERANCE : 1.0;
	float rebound = fmaxf(system->contacts.rebound, system->ground_rebound);
	share *= rebound > LIVELY ? BOUNCE_TOLERANCE : rebound > 0.0f ? REBOUND_TOLERANCE : 1.0;
	return share * (double)system->tolerance;
}

float fem_policy_floor(float mass) {
	return SOLVE_FLOOR * mass;
}

// Conjugate gradients end after as many iterations as there are unknowns, but for rounding, which some more make up
// for: beyond that floats do not hold the tolerance. (Two splinters of wood with 33 unknowns took all of 400.)
int32_t fem_policy_useful_iterations(int64_t unknowns, int32_t max_iterations) {
	int64_t useful = unknowns + SPARE_ITERATIONS;
	return useful < max_iterations ? (int32_t)useful : max_iterations;
}

int32_t fem_policy_iteration_cap(int32_t of_materials, int32_t island_count) {
	return island_count > 0 ? of_materials : RIGID_ITERATIONS;
}

// ---- the solves of a step

#define PASSES 4            // solves a step while the set of active contacts still changes: 1 to 3 do (docs/method.md)
#define PASSES_AGAIN 2      // those of a pass in which the step is taken again after bonds broke; chosen
#define LOOSE 3.0f          // times the tolerance: enough to see which contacts press ...
#define LOOSE_ITERATIONS 30 // ... and so are these in a heap, whose jammed pieces converge slowly
#define HEAP_ISLANDS 8      // islands of a composite from which on it counts as a heap; chosen

int32_t fem_policy_first_pass(int32_t step_pass, int32_t bond_count, int32_t most) {
	int32_t first = most < PASSES ? PASSES - most : 0, again = PASSES - PASSES_AGAIN;
	return step_pass > 0 && bond_count > 0 && again > first ? again : first;
}

// The active set is looked for by loose solves, one after the other until it stays as it is; the last one is sharp.
FemSolvePass fem_policy_pass(
	int32_t pass, bool settled, float tolerance, int32_t max_iterations, int32_t island_count) {
	bool is_last = pass + 1 == PASSES;
	if (settled || is_last)
		return (FemSolvePass){tolerance, max_iterations, .is_sharp = true, .is_last = is_last};
	bool is_heap = island_count >= HEAP_ISLANDS && max_iterations > LOOSE_ITERATIONS;
	return (FemSolvePass){LOOSE * tolerance, is_heap ? LOOSE_ITERATIONS : max_iterations, false, false};
}
