// What a world does with its host's hooks: its threads, and its log.
#include "base/error.h"
#include "world/api/registry.h"
#include "world/world.h"

FemResult fem_world_change_pool(FemWorld *world, const FemJobSystem *jobs, int32_t worker_count) {
	FemPool *pool = fem_pool_create_on(jobs, worker_count);
	if (!pool)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no threads for %d workers: try fewer.", worker_count);
	fem_pool_destroy(world->pool);
	world->pool = pool;
	world->def.jobs = *jobs;
	world->def.worker_count = worker_count;
	return FEM_OK;
}

FemResult fem_world_set_job_system(FemWorldId id, const FemJobSystem *jobs) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	FemJobSystem none = {0};
	if (!world)
		return result;
	return fem_world_change_pool(world, jobs ? jobs : &none, world->def.worker_count);
}

FemJobSystem fem_world_get_job_system(FemWorldId id) {
	const FemWorld *world = fem_world_find(id);
	return world ? world->def.jobs : (FemJobSystem){0};
}

// A solve that was capped and the speed of splinters are usual, and nothing is lost by them.
void fem_step_errors_log(FemWorld *world) {
	static const struct {
		uint32_t bit;
		const char *sentence;
	} losses[] = {
		{FEM_STEP_BODY_ROLLED_BACK,
			"A body became unstable and was put back to its last good state: use smaller forces, a lower "
			"Young's modulus, more damping or a smaller dt."},
		{FEM_STEP_EVENTS_FULL,
			"More happened in a step than events tell of, and the rest were dropped: let less break at once."},
		{FEM_STEP_CONTACTS_FULL,
			"More things touch than there is room for, and the smallest contacts were dropped: raise "
			"FemWorldDef.contact_capacity, or keep fewer pieces."},
		{FEM_STEP_NO_MEMORY, "The system gave no memory for a step, and nothing moved or broke in it: free some."},
	};
	uint32_t new_errors = world->step_errors & ~world->logged_errors;
	world->logged_errors |= new_errors;
	for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
		if (new_errors & losses[i].bit)
			fem_warn(losses[i].sentence);
	}
}
