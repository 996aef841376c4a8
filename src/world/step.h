// The transient context of one substep, handed to every stage; nothing of it survives the step.
#ifndef FEM_WORLD_STEP_H
#define FEM_WORLD_STEP_H

#include "collision/ground.h"
#include "dynamics/motion.h"
#include "dynamics/solver.h"

// What the solve and the integration of one island tell the world, written by the thread that ran it.
typedef struct FemIslandResult {
	int32_t solves, solves_capped;
	int64_t iterations, factorizations;
	float residual;
	bool in_contact;
	uint32_t errors; // FemStepError bits
} FemIslandResult;

typedef struct FemStep {
	struct FemWorld *world;
	float dt; // s
	FemGround ground;
	int32_t *island_order; // largest expected cost first
	FemIslandResult *results;     // [island]
	double *partials;             // [node chunk]
	FemMotionSums *motion_sums;   // [node chunk]
	int32_t *ground_candidates;   // [node chunk]
} FemStep;

// ---- island_tasks.c: the stages that work island by island
void fem_step_solve_islands(FemStep *step);
void fem_step_integrate_islands(FemStep *step);

#endif
