#include "world/world.h"

#include "base/memory.h"
#include "base/timing.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/cookies.h"
#include "world/api/meshes.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/step/publish.h"
#include "world/step/step.h"

#include <math.h>
#include <string.h>

#define CONTACT_LEAST 64       // of FemWorldDef.contact_capacity; chosen
#define CONTACT_MOST (1 << 20) // the same: some 0.3 GB
#define TOLERANCE_LEAST 1e-7f  // of a solve: a float's rounding
#define WORKER_MAX 64          // threads of a world; chosen: the shares of a loop end at 16
#define WORKERS_OF_ALL 4       // a machine with at most so many processors gives them all to the step by default
#define DT_MIN 1e-6f           // s; smaller steps are taken as this: dt^2 K must stay above a float's rounding
#define GRAVITY_MAX 1e4f       // m/s^2 on each axis; chosen: more would only be a slip

// ---- defs

FemWorldDef fem_default_world_def(void) {
	return (FemWorldDef){
		.gravity = {0.0f, -9.81f, 0.0f},
		.worker_count = 1,
		.sleeping_enabled = true,
		.sleep_speed = 0.03f,
		.sleep_steps = 30,
		.wake_force_factor = 0.25f,
		.node_speed_max = 500.0f,
		.solver_tolerance = 1e-3f,
		.ground_friction = 0.5f,
		.contacts_enabled = true,
		.contact_capacity = 16384,
		.contact_push = 0.2f,
		.fracture_interval = 1,
		.fracture_passes_max = 24,
		.cookie = FEM_COOKIE_WORLD,
	};
}

static int32_t clamp_workers(int32_t count) {
	return count < 1 ? 1 : count > WORKER_MAX ? WORKER_MAX : count;
}

int32_t fem_default_worker_count(int32_t processor_count) {
	return clamp_workers(processor_count <= WORKERS_OF_ALL ? processor_count : processor_count - 1);
}

static FemResult check_ground(double height, float friction) {
	if (!(fabs(height) <= FEM_COORDINATE_MAX))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "ground_height must be within +-%g m.", FEM_COORDINATE_MAX);
	if (!(friction >= 0.0f && friction <= FEM_FRICTION_MAX))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "ground_friction must be within 0..%g.", (double)FEM_FRICTION_MAX);
	return FEM_OK;
}

static FemResult check_gravity(FemVec3 gravity) {
	if (fem_vec3_is_finite(gravity) && fabsf(gravity.x) <= GRAVITY_MAX && fabsf(gravity.y) <= GRAVITY_MAX &&
		fabsf(gravity.z) <= GRAVITY_MAX)
		return FEM_OK;
	return fem_fail(
		FEM_ERROR_INVALID_ARGUMENT, "gravity must be finite and within +-%g m/s^2 on each axis.", (double)GRAVITY_MAX);
}

FemResult fem_world_def_check(FemWorldDef *def) {
	if (def->cookie != FEM_COOKIE_WORLD)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The world def was not made by fem_default_world_def(): start from that.");
	FemResult result = check_gravity(def->gravity);
	if (result == FEM_OK)
		result = check_ground(def->ground_height, def->ground_friction);
	if (result != FEM_OK)
		return result;
	if (!(def->sleep_speed >= 0.0f && def->sleep_speed <= FEM_SPEED_MAX))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "sleep_speed must be 0 or a positive number of m/s; 0.03 is usual.");
	if (!(def->wake_force_factor >= 0.0f && fem_is_finite(def->wake_force_factor)))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "wake_force_factor must be 0 or a positive number; 0.25 is usual.");
	if (!(def->node_speed_max > 0.0f && def->node_speed_max <= FEM_SPEED_MAX))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "node_speed_max must be within 0..%g m/s and not 0; 500 is usual.",
			(double)FEM_SPEED_MAX);
	if (!(def->solver_tolerance > 0.0f && def->solver_tolerance < 1.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "solver_tolerance must lie between 0 and 1; 0.001 is usual.");
	if (!(def->contact_push >= 0.0f && def->contact_push <= 1.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "contact_push must lie between 0 and 1; 0.2 is usual.");
	if ((int)def->friction_mode < FEM_FRICTION_COULOMB || def->friction_mode > FEM_FRICTION_PAPER)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "friction_mode is %d, which is no FemFrictionMode.", (int)def->friction_mode);
	def->contact_capacity = def->contact_capacity < CONTACT_LEAST ? CONTACT_LEAST : def->contact_capacity;
	def->contact_capacity = def->contact_capacity > CONTACT_MOST ? CONTACT_MOST : def->contact_capacity;
	if (def->fracture_interval < 0 || def->fracture_splits_max < 0 || def->fracture_passes_max < 0)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"fracture_interval, fracture_splits_max and fracture_passes_max must not be negative; 1, 0 and 24 are "
			"usual.");
	def->solver_tolerance = fmaxf(def->solver_tolerance, TOLERANCE_LEAST);
	def->sleep_steps = def->sleep_steps < 1 ? 1 : def->sleep_steps;
	def->worker_count = clamp_workers(def->worker_count);
	return FEM_OK;
}

// ---- making, freeing

FemWorld *fem_world_open(const FemWorldDef *def) {
	FemWorld *world = fem_registry_add();
	if (!world)
		return NULL;
	world->def = *def;
	world->limits = fem_default_work_limits();
	world->friction_gains = fem_default_friction_gains();
	world->islands.dirty = true;
	world->events = FEM_ALLOC_ARRAY(FemEvent, FEM_EVENT_MAX);
	world->pool = fem_pool_create_on(&def->jobs, def->worker_count);
	if (world->events && world->pool && fem_world_reserve(world))
		return world;
	fem_world_close(world);
	fem_fail(FEM_ERROR_MEMORY, "The system gave no memory or no threads for a world with %d workers: try fewer.",
		def->worker_count);
	return NULL;
}

void fem_world_close(FemWorld *world) {
	world->is_closing = true;
	world->contacts.contact_count = 0; // nothing to look through for each body that goes
	for (int32_t b = 0; b < world->body_capacity; b++) {
		if (world->bodies[b])
			fem_body_free(world, b);
	}
	for (int32_t m = 0; m < world->mesh_capacity; m++)
		fem_mesh_clear(&world->meshes[m]);
	if (world->pool)
		fem_pool_destroy(world->pool);
	for (int32_t c = 0; c < world->collider_capacity; c++) {
		if (world->colliders[c].in_use)
			fem_collider_free(world, c);
	}
	FEM_FREE_ARRAY(world->colliders, world->collider_capacity);
	fem_contact_stage_free(world);
	fem_fracture_free(world);
	fem_heap_destroy(world->heap);
	fem_islands_free(&world->islands);
	fem_arena_free(&world->arena);
	fem_arena_free(&world->pass_arena);
	fem_arena_free(&world->owner_changes);
	FEM_FREE_ARRAY(world->bodies, world->body_capacity);
	FEM_FREE_ARRAY(world->body_generations, world->body_capacity);
	FEM_FREE_ARRAY(world->meshes, world->mesh_capacity);
	FEM_FREE_ARRAY(world->materials, world->material_capacity);
	FEM_FREE_ARRAY(world->events, FEM_EVENT_MAX);
	fem_registry_remove(world);
}

FemWorldId fem_world_create(const FemWorldDef *def) {
	if (!def) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The world def is null: pass one made by fem_default_world_def().");
		return (FemWorldId){0};
	}
	FemWorldDef checked = *def;
	if (fem_world_def_check(&checked) != FEM_OK)
		return (FemWorldId){0};
	FemWorld *world = fem_world_open(&checked);
	return world ? (FemWorldId){(uint16_t)(world->index0 + 1), world->generation} : (FemWorldId){0};
}

FemResult fem_world_destroy(FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	if (!world)
		return FEM_ERROR_INVALID_ID;
	if (world->stepping)
		fem_world_step_end(id);
	fem_world_close(world);
	return FEM_OK;
}

// ---- step

static void run_step_job(void *context) {
	fem_world_run_step(context);
}

static FemResult prepare_step(FemWorld *world, float dt, int32_t substeps) {
	if (!(dt > 0.0f && fem_is_finite(dt)))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "dt must be a positive number of seconds, such as 1/60.");
	world->step_substeps = substeps < 1 ? 1 : substeps > FEM_SUBSTEP_MAX ? FEM_SUBSTEP_MAX : substeps;
	world->step_dt = fminf(fmaxf(dt / (float)world->step_substeps, DT_MIN), FEM_STEP_MAX);
	world->step_errors = FEM_STEP_OK;
	world->step_began = fem_time_ms();
	fem_step_heap_top_up(world);
	uint64_t step_count = world->statistics.step_count;
	world->step_statistics = (FemStatistics){.step_count = step_count};
	return FEM_OK;
}

static void clear_forces(FemWorld *world) {
	if (!world->has_forces)
		return;
	world->has_forces = false;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body || !body->has_forces)
			continue;
		memset(body->force, 0, sizeof *body->force * (size_t)body->topology->node_count);
		body->has_forces = false;
	}
}

static uint32_t finish_step(FemWorld *world) {
	double began = fem_time_ms();
	clear_forces(world);
	fem_world_publish(world);
	fem_fracture_publish(world);
	world->step_statistics.phase_ms[FEM_PHASE_PUBLISH] += fem_time_ms() - began;
	world->step_statistics.step_ms = fem_time_ms() - world->step_began;
	world->statistics = world->step_statistics;
	fem_step_errors_log(world);
	return world->step_errors;
}

uint32_t fem_world_step(FemWorldId id, float dt, int32_t substeps) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world || prepare_step(world, dt, substeps) != FEM_OK)
		return FEM_STEP_BAD_WORLD;
	fem_pool_run(world->pool, run_step_job, world);
	return finish_step(world);
}

FemResult fem_world_step_begin(FemWorldId id, float dt, int32_t substeps) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return result;
	result = prepare_step(world, dt, substeps);
	if (result != FEM_OK)
		return result;
	world->stepping = true;
	fem_pool_begin(world->pool, run_step_job, world);
	return FEM_OK;
}

uint32_t fem_world_step_end(FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	if (!world)
		return FEM_STEP_BAD_WORLD;
	if (!world->stepping) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT, "No step is under way: call fem_world_step_begin() first.");
		return FEM_STEP_BAD_WORLD;
	}
	fem_pool_finish(world->pool);
	world->stepping = false;
	return finish_step(world);
}

// ---- settings

static void wake_everything(FemWorld *world) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		if (world->bodies[b])
			fem_body_wake_all(&world->islands, world->bodies[b]);
	}
}

FemResult fem_world_set_gravity(FemWorldId id, FemVec3 gravity) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world || (result = check_gravity(gravity)) != FEM_OK)
		return result;
	FemVec3 old = world->def.gravity;
	world->def.gravity = gravity;
	if (old.x != gravity.x || old.y != gravity.y || old.z != gravity.z)
		wake_everything(world);
	return FEM_OK;
}

FemVec3 fem_world_get_gravity(FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	return world ? world->def.gravity : (FemVec3){0};
}

FemResult fem_world_set_worker_count(FemWorldId id, int32_t count) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return result;
	count = clamp_workers(count);
	return count == world->def.worker_count ? FEM_OK : fem_world_change_pool(world, &world->def.jobs, count);
}

int32_t fem_world_get_worker_count(FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	return world ? world->def.worker_count : 0;
}

FemResult fem_world_set_ground(FemWorldId id, bool enabled, double height, float friction) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world || (result = check_ground(height, friction)) != FEM_OK)
		return result;
	world->def.ground_enabled = enabled;
	world->def.ground_height = height;
	world->def.ground_friction = friction;
	wake_everything(world);
	return FEM_OK;
}

FemResult fem_world_set_sleeping(FemWorldId id, bool enabled) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return result;
	world->def.sleeping_enabled = enabled;
	if (!enabled)
		wake_everything(world);
	return FEM_OK;
}

// ---- statistics

FemResult fem_world_get_statistics(FemWorldId id, FemStatistics *out_statistics) {
	FemWorld *world = fem_world_find(id);
	if (!world)
		return FEM_ERROR_INVALID_ID;
	if (!out_statistics)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "out_statistics is null: pass a place to write to.");
	*out_statistics = world->statistics;
	out_statistics->body_count = world->body_count;
	out_statistics->node_count = (int32_t)world->node_count;
	out_statistics->tet_count = (int32_t)world->tet_count;
	out_statistics->bytes = fem_memory_bytes();
	out_statistics->bytes_peak = fem_memory_peak();
	out_statistics->allocations = fem_memory_allocations();
	return FEM_OK;
}

const char *fem_phase_name(FemPhase phase) {
	static const char *const names[FEM_PHASE_COUNT] = {"commands", "collision", "islands", "elements", "assembly",
		"solve", "integrate", "fracture", "sleep", "publish"};
	return (int)phase >= 0 && phase < FEM_PHASE_COUNT ? names[phase] : "unknown";
}

int32_t fem_world_get_events(FemWorldId id, const FemEvent **out_events) {
	FemWorld *world = fem_world_find(id);
	if (out_events)
		*out_events = world && world->event_count ? world->events : NULL;
	return world ? world->event_count : 0;
}
