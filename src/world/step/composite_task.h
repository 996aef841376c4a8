// One composite at work: what its solve and its motion share.
#ifndef FEM_WORLD_COMPOSITE_TASK_H
#define FEM_WORLD_COMPOSITE_TASK_H

#include "world/step/step.h"
#include "world/world.h"

typedef struct FemCompositeTask {
	FemStep *step;
	FemComposite *composite;
	FemCompositeResult *result;
	FemSystem system;
} FemCompositeTask;

static inline const FemIsland *fem_composite_island(const FemCompositeTask *task, int32_t place) {
	const FemComposites *composites = &task->step->composites;
	return &task->step->world->islands.islands[composites->island_list[task->composite->islands.begin + place]];
}

// Solves for dv with the active contacts, and keeps it as the next step's start vector.
void fem_composite_solve(FemCompositeTask *task);

#endif
