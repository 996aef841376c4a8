// The transient context of one substep, handed to every stage; nothing of it survives the step.
#ifndef FEM_WORLD_STEP_H
#define FEM_WORLD_STEP_H

#include "base/arena.h"
#include "base/assert.h"
#include "collision/ground.h"
#include "dynamics/motion.h"
#include "dynamics/solver.h"
#include "islands/composites.h"

// What the solve and the integration of one composite tell the world, written by the thread that ran it.
typedef struct FemCompositeResult {
	int32_t solves, solves_capped, solves_bounded;
	int64_t iterations, factorizations;
	float residual;
	bool in_contact; // some contact is active
	bool on_ground;
	uint32_t errors; // FemStepError bits
} FemCompositeResult;

typedef struct FemStep {
	struct FemWorld *world;
	float dt;        // s
	int32_t pass;    // 0, and one more each time that something broke and the step is taken again
	int32_t moves;   // passes before this one that were solved; the others looked at blows
	bool has_looked; // no blow breaks anything any more
	bool is_again;   // something broke in this one
	FemArena *arena; // of this pass
	FemGround ground;
	FemContact *contacts; // of this step, in key order
	int32_t contact_count;
	FemProxy *proxies; // the colliders
	int32_t proxy_count;
	FemComposites composites;
	FemSystemIsland *system_islands; // [island], composite by composite
	FemProxy **rigids;               // composite by composite: its dynamic colliders and rigid pieces
	double *rigid_factors;           // 36 each
	FemProxy **modals;               // composite by composite: of bodies that move by modes
	FemRange *group_nodes;           // [island], composite by composite, of worlds with bonds; else null
	int32_t *composite_order;        // largest expected cost first
	FemCompositeResult *results;     // [composite]

	// By the chunks of the composites.
	double *partials;
	FemMotionSums *motion_sums;
	int32_t *ground_candidates;
	int32_t *chunk_blocks;      // of the rigid space
	int32_t *contact_ref_start; // one more for each composite
	bool *contact_touched;      // its preconditioner holds blocks of contacts

	// By the contacts of the composites.
	FemContactRow *contact_rows;
	FemVec4 *contact_before; // m/s
	FemVec4 *contact_impulses;
	FemContactRef *contact_refs; // FEM_CONTACT_REFS each
	double *contact_partials;
} FemStep;

// ---- step.c
void fem_world_run_step(struct FemWorld *world); // all substeps of the step that step_begin described

// ---- step_memory.c: what a step takes of the arena
// Room for all that the step takes, as far as it is known once contacts and islands are. False when memory fails.
FEM_MUST_USE bool fem_step_begin_memory(FemStep *step);
void fem_step_take_lists(FemStep *step);
void fem_body_take_step_memory(FemBody *body, FemArena *arena);
void fem_body_take_pass_memory(FemBody *body, FemArena *arena); // of one that was split, after the first pass
void fem_body_keep_piece(FemBody *body, int32_t component, FemArena *arena); // results of one whose step ended
void fem_body_keep_results(FemBody *body, FemArena *arena);  // the same for all of a body that was split, after that
void fem_body_keep_impulses(FemBody *body, FemArena *arena); // what they did to the nodes, as the step begins
void fem_body_take_contact_memory(FemBody *body, FemArena *arena);

// ---- step_heap.c
void fem_step_heap_top_up(struct FemWorld *world); // between steps

// ---- composite_tasks.c: the stages that work composite by composite
void fem_step_solve_composites(FemStep *step);
void fem_step_integrate_composites(FemStep *step);

#endif
