// Bounds on the work of a step (fem_budget.h), by counts: the same state gives the same answers.
#ifndef FEM_WORLD_WORK_LIMITS_H
#define FEM_WORLD_WORK_LIMITS_H

#include "world/world.h"

// Passes of this step.
int32_t fem_work_passes(const FemWorld *world);

// Nodes of a body split a pass.
static inline int32_t fem_work_splits(const FemWorld *world) {
	int32_t of_world = world->def.fracture_splits_max > 0 ? world->def.fracture_splits_max : INT32_MAX;
	int32_t of_limits = world->limits.splits_max > 0 ? world->limits.splits_max : INT32_MAX;
	return of_world < of_limits ? of_world : of_limits;
}

// Solves of a system of so many nodes for which of its contacts press, 2 at least; INT32_MAX: as many as it takes.
int32_t fem_work_solves(const FemWorld *world, int32_t node_count);

// The cap of a solve over so many nodes.
int32_t fem_work_iterations(const FemWorld *world, int32_t node_count, int32_t cap);

// Whether a blow of a caller strikes a body that can break, or it cracked a moment ago.
bool fem_work_is_breaking(const FemWorld *world, const FemBody *body);

// Before the first pass, when all that wakes has: stiff pieces that can break, beyond the limit, are rigid. Those of
// bodies that are breaking come first. Of rigid ones the loads are looked at in turn. The islands are up to date.
void fem_work_limit_elastic(FemWorld *world);

// Whether a rigid piece of so many tets may become elastic in this step; it then counts.
bool fem_work_takes_elastic(FemWorld *world, int32_t tet_count);

// Whether a sleeper that contact would wake is to sleep on for now; it is remembered.
bool fem_work_lets_wait(FemWorld *world, FemBody *body, int32_t component, bool by_collider);

// At the start of a step, when the islands are listed: wakes those that waited and need no longer; true if there are.
bool fem_work_wake_waiting(FemWorld *world);

#endif
