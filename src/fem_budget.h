// The public API of what a world may cost: bounds on the work of a step, what is shed to keep them, and the rule that
// sets both by the time that steps took. Conventions in fem_destruction.h.
//
// The engine reads no clock here: bounds are counts, and shedding is a command like others, made between steps. A host
// that repeats its commands, these included, gets the same bits again.
#ifndef FEM_BUDGET_H
#define FEM_BUDGET_H

#include "fem_basics.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- bounds on the work of a step

typedef struct FemWorkLimits {
	// Times that a step is taken again when something broke in it; FemWorldDef.fracture_passes_max holds, too. What is
	// left breaks in the next steps. Default 1000: the world's alone counts.
	int32_t passes_max;
	// Tets that may break, times passes, at least one pass; default 0: no bound. The same as passes_max, but small
	// things break to the end where large ones take a few steps.
	int32_t fracture_work_max;
	int32_t splits_max; // nodes of a body split a pass, besides FemWorldDef.fracture_splits_max; default 0: no bound
	// Tets of the smallest pieces that things break into, 3..256, but of a body at most its tets over twice
	// pieces_free, and of pieces beyond the first pieces_free of it: whatever it is struck by, it breaks. Default 3.
	int32_t piece_tets_min;
	int32_t pieces_free; // 2..1024, default 12
	// Tets of what is awake and stiff, can break, and moves by finite elements; default 0: no bound. What is beyond is
	// rigid and does not break for the time; what is breaking comes first, so that cracks end before others begin. A
	// whole body that lands on something that does not move stands still until its blow can be looked at, 12 steps at
	// most.
	int32_t elastic_tets_max;
	// The same of what nothing but other pieces and bodies strikes, or that broke before and falls on what does not
	// move, and of rigid pieces whose loads are looked at, unless they cracked in the last 0.1 s; default 0:
	// elastic_tets_max alone counts. At least one body has room. Impulses, explosions and moving colliders, which are
	// what a player does, do not count.
	int32_t rubble_tets_max;
	// Pieces awake; default 0: no bound. When there are more, sleepers that rubble strikes sleep on until there is
	// room, and what colliders or a user's calls strike wakes all the same.
	int32_t awake_pieces_max;
	// Boxes of a face and a tet that are looked at where fast pieces may meet within a step, and as much time of other
	// tests; default 0: the engine's own bounds, some 30 ms of each. What passes through something unseen is left to
	// the contacts of the next step.
	int32_t sweep_work_max;
	// Nodes times iterations of one solve, at least 8 iterations; default 0: no bound. Large systems are also solved
	// fewer times, at least twice, for which of their contacts press.
	int32_t solve_work_max;
	uint32_t cookie; // set by fem_default_work_limits()
} FemWorkLimits;

FemWorkLimits fem_default_work_limits(void); // [any time] that bound nothing

// For the next steps; part of snapshots.
FemResult fem_world_set_work_limits(FemWorldId world, const FemWorkLimits *limits);
FemResult fem_world_get_work_limits(FemWorldId world, FemWorkLimits *out_limits); // [any time]

// ---- shedding

// Who looks at a world.
typedef struct FemObserver {
	FemPosition position; // m
	FemVec3 forward;      // where it looks, of any length; zero: all around
	float cone_cosine;    // of half the angle that it sees; what is outside of it is unseen
} FemObserver;

#define FEM_OBSERVER_MAX 16 // that are looked at; chosen: a split screen has four

typedef struct FemShedDef {
	const FemObserver *observers; // none: everything is seen and equally near
	int32_t observer_count;
	int32_t awake_max;  // pieces awake that are to be left, twice as many where they fly; default 0: no bound
	int32_t pieces_max; // pieces of all bodies that are to be left; default 0: no bound
	// m/s of a piece 10 m away, default 0.5: what moves more slowly, and is held up by something at rest, may be put to
	// sleep at once; farther away by so much faster, four times where nobody looks. What looks larger than 0.1 m from
	// 10 m must be at rest.
	float freeze_speed;
	float freeze_time; // s for which it then sleeps on whatever touches it; default 1
	// s in which pieces fade that must go altogether, up to a fifteenth more, since a body loses those of it together;
	// default 0.5. Meanwhile they are as those beyond FemBodyDef.piece_limit. What is unseen goes at once
	float fade_time;
	int32_t removals_max; // pieces that begin to go in one call; default 32
	uint32_t cookie;
} FemShedDef;

typedef struct FemShedResult {
	int32_t awake;  // pieces, before
	int32_t frozen; // put to sleep
	int32_t faded;  // that begin to fade
} FemShedResult;

FemShedDef fem_default_shed_def(void); // [any time]

// Puts pieces to sleep, and lets others fade, until no more are left than the def says: the least seen first, by size
// and speed over distance. Pinned pieces, the largest of each body, and for awake_max what looks larger than 0.1 m from
// 10 m away, stay. out_result may be null.
FemResult fem_world_shed(FemWorldId world, const FemShedDef *def, FemShedResult *out_result);

// ---- the rule

// What a world may cost; all 0, which is the default: no bound.
typedef struct FemBudgetDef {
	float step_ms;         // of a step with all that belongs to it, by the host's clock
	int32_t live_tets_max; // tets awake
	int32_t pieces_max;    // of all bodies
	int32_t contacts_max;  // of a step
	uint32_t cookie;
} FemBudgetDef;

// How much a step may do, between two of them. `share` is of what FemBudgetDef.step_ms buys on a usual machine: a step
// that took too long lowers it at once, and quick ones raise it again within seconds. Steps in which things broke do
// neither: they say nothing of what rubble costs.
typedef struct FemBudget {
	float share;
	int32_t late_steps; // since the start
	int32_t pieces;     // of the last step
} FemBudget;

// What one step did.
typedef struct FemStepCost {
	float ms;
	int32_t live_tets, pieces, awake_pieces, contacts;
} FemStepCost;

FemBudgetDef fem_default_budget_def(void); // [any time]
FemBudget fem_budget_start(void);          // [any time]

// [any time] The bounds and the shedding for the next step: out_limits, and awake_max, pieces_max, freeze_speed and
// removals_max of *io_shed. Depends on nothing but its arguments. Numbers that make no sense count as 0.
FemResult fem_budget_next(FemBudget *budget, const FemBudgetDef *def, const FemStepCost *last,
	FemWorkLimits *out_limits, FemShedDef *io_shed);

#ifdef __cplusplus
}
#endif

#endif
