#include "simulation/simulation.h"

#include "binding/conversions.h"
#include "coupling/coupling.h"
#include "drawing/node_textures.h"
#include "simulation/debug_view.h"
#include "simulation/simulation_events.h"
#include "simulation/simulation_statistics.h"
#include "sound/sound_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_WORLDS = 64,    // as many as the engine has
	GRAVITY_TICKS = 60, // between two looks at a space's gravity beside a physics thread
};

static struct {
	AddonSettings settings;
	SimulationWorld *worlds[MAX_WORLDS];
	int32_t world_count;
	bool has_gravity;
	FemVec3 gravity;
	int64_t draw_usec;      // spent on drawing since the last frame was shown
	int64_t sound_usec;     // of the last tick
	int64_t last_draw_usec; // in the last frame
	int64_t splinter_frame; // in which a whole body was last given splinters
	int64_t last_owner_usec;
	bool is_stepping; // the step of a world runs beside the drawing
} simulation;

static _Thread_local bool is_tick_thread;

// ---- worlds

int32_t simulation_worker_count(void) {
	int32_t count = simulation.settings.worker_count;
	return count > 0 ? count : fem_default_worker_count((int32_t)gd_os_get_processor_count());
}

// The World3D's default area holds what the project settings and the user's calls made of gravity.
static FemVec3 space_gravity(GdRID space) {
	double strength = 9.81;
	GdVector3 direction = {0, -1, 0};
	GdVariant value = gd_physics_server3d_area_get_param(space, GD_PHYSICS_SERVER3D_AREA_PARAM_GRAVITY);
	variant_to(&value, GDEXTENSION_VARIANT_TYPE_FLOAT, &strength);
	variant_free(&value);
	value = gd_physics_server3d_area_get_param(space, GD_PHYSICS_SERVER3D_AREA_PARAM_GRAVITY_VECTOR);
	variant_to(&value, GDEXTENSION_VARIANT_TYPE_VECTOR3, &direction);
	variant_free(&value);
	if (!isfinite(strength) || !vector3_is_finite(direction)) {
		return (FemVec3){0};
	}
	float g = (float)strength;
	return (FemVec3){direction.x * g, direction.y * g, direction.z * g};
}

static FemVec3 wanted_gravity(GdRID space) {
	return simulation.has_gravity ? simulation.gravity : space_gravity(space);
}

static FemWorldId make_engine_world(GdRID space, float *out_sleep_speed) {
	FemWorldDef def = fem_default_world_def();
	project_settings_apply(&def);
	*out_sleep_speed = def.sleep_speed;
	def.gravity = wanted_gravity(space); // a later change would wake what starts asleep
	def.worker_count = simulation_worker_count();
	def.ground_enabled = simulation.settings.ground_enabled;
	def.ground_height = simulation.settings.ground_height;
	def.ground_friction = (float)simulation.settings.ground_friction;
	return fem_world_create(&def);
}

SimulationWorld *simulation_find_world(GDExtensionObjectPtr world_3d) {
	for (int32_t i = 0; i < simulation.world_count; i++) {
		if (simulation.worlds[i]->world_3d == world_3d) {
			return simulation.worlds[i];
		}
	}
	return NULL;
}

SimulationWorld *simulation_world_for(GDExtensionObjectPtr world_3d) {
	SimulationWorld *world = simulation_find_world(world_3d);
	if (world) {
		return world;
	}
	world = simulation.world_count < MAX_WORLDS ? calloc(1, sizeof(SimulationWorld)) : NULL;
	if (!world) {
		return NULL;
	}
	world->space = gd_world3d_get_space(world_3d);
	world->id = make_engine_world(world->space, &world->sleep_speed);
	if (!fem_world_is_valid(world->id)) {
		free(world);
		return NULL;
	}
	object_reference_assign(&world->world_3d, world_3d);
	simulation.worlds[simulation.world_count++] = world;
	return world;
}

static void destroy_world(int32_t index) {
	SimulationWorld *world = simulation.worlds[index];
	while (world->body_count > 0) {
		simulation_body_destroy(world->bodies[world->body_count - 1]);
	}
	coupling_free(world);
	debug_view_free(world);
	blasts_free(&world->blasts);
	fem_world_destroy(world->id);
	simulation.worlds[index] = simulation.worlds[--simulation.world_count];
	object_reference_assign(&world->world_3d, NULL); // last: its space may go with it
	free(world->bodies);
	free(world->materials);
	free(world->meshes);
	free(world);
}

bool simulation_world_add_body(SimulationWorld *world, SimulationBody *body) {
	if (world->body_count == world->body_capacity) {
		int32_t capacity = world->body_capacity ? 2 * world->body_capacity : 16;
		SimulationBody **bodies = realloc(world->bodies, (size_t)capacity * sizeof(SimulationBody *));
		if (!bodies) {
			return false;
		}
		world->bodies = bodies;
		world->body_capacity = capacity;
	}
	world->bodies[world->body_count++] = body;
	return true;
}

void simulation_world_remove_body(SimulationWorld *world, SimulationBody *body) {
	for (int32_t i = 0; i < world->body_count; i++) {
		if (world->bodies[i] == body) {
			world->bodies[i] = world->bodies[--world->body_count];
			return;
		}
	}
}

void simulation_start(AddonSettings settings) {
	memset(&simulation, 0, sizeof(simulation));
	simulation.settings = settings;
	budget_load();
}

void simulation_stop(void) {
	simulation_finish_steps();
	while (simulation.world_count > 0) {
		destroy_world(simulation.world_count - 1);
	}
	simulation_events_free();
	budget_unload();
	debug_view_unload();
	memset(&simulation, 0, sizeof(simulation));
}

// ---- settings

AddonSettings *simulation_settings(void) {
	return &simulation.settings;
}

void simulation_settings_changed(void) {
	for (int32_t i = 0; i < simulation.world_count; i++) {
		if (!simulation.settings.coupling_enabled) {
			coupling_free(simulation.worlds[i]);
		}
		FemWorldId id = simulation.worlds[i]->id;
		fem_world_set_worker_count(id, simulation_worker_count());
		fem_world_set_ground(id, simulation.settings.ground_enabled, simulation.settings.ground_height,
			(float)simulation.settings.ground_friction);
	}
}

void simulation_set_gravity_override(const FemVec3 *gravity) {
	simulation.has_gravity = gravity != NULL;
	simulation.gravity = gravity ? *gravity : (FemVec3){0};
}

void simulation_material_changed(GDExtensionObjectPtr material) {
	simulation_finish_steps();
	for (int32_t i = 0; i < simulation.world_count; i++) {
		simulation_world_update_material(simulation.worlds[i], material);
	}
}

// ---- tick

// A physics server with a thread of its own answers only when that thread has run: it is asked now and then.
static void update_gravity(SimulationWorld *world) {
	bool is_costly = simulation.settings.physics_on_thread && !simulation.has_gravity;
	if (is_costly && world->gravity_age++ % GRAVITY_TICKS != 0) {
		return;
	}
	FemVec3 wanted = wanted_gravity(world->space), now = fem_world_get_gravity(world->id);
	if (wanted.x != now.x || wanted.y != now.y || wanted.z != now.z) {
		fem_world_set_gravity(world->id, wanted);
	}
}

static void drop_detached(SimulationWorld *world) {
	for (int32_t i = world->body_count - 1; i >= 0; i--) {
		if (world->bodies[i]->is_detached) {
			simulation_body_destroy(world->bodies[i]);
		}
	}
}

// The tick's length in seconds, time scale included; 0 when every body is paused. Paused bodies among others are held,
// and so are frozen ones.
static double hold_paused(SimulationWorld *world) {
	double delta = 0.0;
	int32_t paused = 0;
	for (int32_t i = 0; i < world->body_count; i++) {
		if (gd_node_can_process(world->bodies[i]->node)) {
			delta = gd_node_get_physics_process_delta_time(world->bodies[i]->node);
		} else {
			paused++;
		}
	}
	if (paused == world->body_count) {
		return 0.0;
	}
	for (int32_t i = 0; i < world->body_count; i++) {
		SimulationBody *body = world->bodies[i];
		if (paused > 0 || body->held_velocities || body->settings.freeze) {
			simulation_body_hold(body, body->settings.freeze || !gd_node_can_process(body->node));
		}
	}
	return delta;
}

static int32_t substeps_for(double delta) {
	double wanted = ceil(delta / simulation.settings.max_step - 1e-3);
	return wanted < 1.0                             ? 1
		: wanted > simulation.settings.max_substeps ? simulation.settings.max_substeps
													: (int32_t)wanted;
}

static void fetch(const void *data, size_t size) {
	for (size_t i = 0; i < size; i += 64) {
		__builtin_prefetch((const char *)data + i);
	}
}

// While one body is looked at, the records of those that come next are on their way, if these move: loops over all
// bodies spend most of their time waiting for memory.
static void fetch_records(const SimulationWorld *world, int32_t index) {
	if (index + 6 < world->body_count) {
		fetch(world->bodies[index + 6], sizeof(SimulationBody));
	}
	const SimulationBody *body = index + 3 < world->body_count ? world->bodies[index + 3] : NULL;
	if (body && body->has_moved) {
		fetch(body->view, sizeof(BodyView));
		fem_body_fetch(body->body);
	}
}

// All that comes before the step of a tick; false when there is none, since all is paused.
static bool prepare_step(SimulationWorld *world) {
	double begin = budget_now_ms();
	double delta = hold_paused(world);
	if (!(delta > 0.0)) {
		for (int32_t i = 0; i < world->body_count; i++) {
			simulation_body_not_stepped(world->bodies[i]);
		}
		return false;
	}
	update_gravity(world);
	for (int32_t i = 0; i < world->body_count; i++) {
		simulation_body_go_on_with_modes(world->bodies[i], delta);
	}
	budget_before_step(world, &simulation.settings, simulation.world_count);
	simulation_world_choose_detail(world);
	blasts_go_on(world);
	coupling_before_step(world, delta);
	world->step = STEP_PREPARED;
	world->step_delta = delta;
	world->step_ms = budget_now_ms() - begin;
	return true;
}

static void take_over_step(SimulationWorld *world) {
	double delta = world->step_delta;
	coupling_after_step(world, delta);
	simulation_report_step_errors(world);
	simulation_events_collect(world);
	int64_t start = gd_time_get_ticks_usec();
	sound_after_step(world, delta);
	simulation.sound_usec += gd_time_get_ticks_usec() - start;
	start = gd_time_get_ticks_usec();
	int64_t frame = gd_engine_get_process_frames();
	bool has_given = frame == simulation.splinter_frame;
	for (int32_t i = 0; i < world->body_count; i++) {
		fetch_records(world, i);
		if (world->bodies[i]->awaited) {
			simulation_body_await_splinters(world->bodies[i], &has_given);
			simulation.splinter_frame = has_given ? frame : simulation.splinter_frame;
		}
		simulation_body_after_step(world->bodies[i], (float)delta);
	}
	simulation.draw_usec += gd_time_get_ticks_usec() - start;
}

// Steps what is prepared, or waits for what runs, and takes over what came of it.
static void finish_step(SimulationWorld *world) {
	double begin = budget_now_ms(), beside = 0.0; // ms of other threads
	FemStatistics statistics = {0};
	WorldStep step = world->step;
	if (step == STEP_NONE) {
		return;
	}
	world->step = STEP_NONE; // what follows asks the world in its turn
	if (step == STEP_PREPARED) {
		drop_detached(world);
		world->step_errors = fem_world_step(world->id, (float)world->step_delta, substeps_for(world->step_delta));
	} else {
		world->step_errors = fem_world_step_end(world->id);
		beside = fem_world_get_statistics(world->id, &statistics) == FEM_OK ? statistics.step_ms : 0.0;
		begin = budget_now_ms();
		drop_detached(world);
	}
	if (world->body_count > 0) { // else nothing is left to push others
		take_over_step(world);
	}
	world->budget.tick_ms = world->step_ms + beside + budget_now_ms() - begin;
}

static void finish_steps(void) {
	for (int32_t i = 0; i < simulation.world_count; i++) {
		finish_step(simulation.worlds[i]);
	}
	simulation.is_stepping = false;
}

void simulation_finish_steps(void) {
	if (simulation.is_stepping && is_tick_thread) {
		for (int32_t i = 0; i < simulation.world_count; i++) {
			if (simulation.worlds[i]->step == STEP_RUNNING) {
				finish_step(simulation.worlds[i]);
			}
		}
		simulation.is_stepping = false;
	}
}

static void begin_steps(void) {
	for (int32_t i = 0; i < simulation.world_count; i++) {
		SimulationWorld *world = simulation.worlds[i];
		if (world->step == STEP_PREPARED &&
			fem_world_step_begin(world->id, (float)world->step_delta, substeps_for(world->step_delta)) == FEM_OK) {
			world->step = STEP_RUNNING;
			simulation.is_stepping = true;
		}
	}
}

void simulation_drop_detached(void) {
	simulation_finish_steps();
	for (int32_t i = simulation.world_count - 1; i >= 0; i--) {
		drop_detached(simulation.worlds[i]);
		if (simulation.worlds[i]->body_count == 0) {
			destroy_world(i);
		}
	}
}

void simulation_tick(void) {
	is_tick_thread = true;
	simulation.sound_usec = 0;
	finish_steps();
	simulation_drop_detached();
	for (int32_t i = 0; i < simulation.world_count; i++) {
		if (prepare_step(simulation.worlds[i]) && !simulation.settings.overlap) {
			finish_step(simulation.worlds[i]);
		}
	}
	monitors_after_tick();
	simulation_events_tell();
	simulation_events_clear();
}

int32_t simulation_explode(GDExtensionObjectPtr world_3d, FemPosition center, float radius, float strength) {
	SimulationWorld *world = simulation_find_world(world_3d);
	if (!world) {
		return 0;
	}
	if (simulation.settings.budget_ms > 0.0 || budget_is_replaying()) {
		int32_t bodies = blasts_begin(world, center, radius, strength);
		return bodies < 0 ? bodies : bodies + coupling_explode(world, center, radius, strength);
	}
	for (int32_t b = 0; b < world->body_count; b++) {
		simulation_body_wake_near(world->bodies[b], center, (double)radius);
	}
	int32_t count = fem_world_apply_explosion(world->id, center, radius, strength);
	return count < 0 ? count : count + coupling_explode(world, center, radius, strength);
}

const SimulationBody *simulation_cast_ray(
	GDExtensionObjectPtr world_3d, FemPosition from, FemVec3 translation, FemHit *out) {
	const SimulationWorld *world = simulation_find_world(world_3d);
	*out = world ? fem_world_cast_ray(world->id, from, translation) : (FemHit){0};
	for (int32_t i = 0; world && i < world->body_count; i++) {
		FemBodyId id = world->bodies[i]->body;
		if (id.index1 == out->body.index1 && id.generation == out->body.generation) {
			return world->bodies[i];
		}
	}
	return NULL;
}

GdVector3 simulation_rigid_force(GDExtensionObjectPtr node) {
	GdVector3 force = {0};
	for (int32_t i = 0; i < simulation.world_count; i++) {
		GdVector3 found = coupling_rigid_force(simulation.worlds[i], node);
		force = (GdVector3){force.x + found.x, force.y + found.y, force.z + found.z};
	}
	return force;
}

GDExtensionObjectPtr simulation_material_resource(const SimulationBody *body, FemMaterialId id) {
	for (int32_t i = 0; body->world && i < body->world->material_count; i++) {
		const MaterialEntry *entry = &body->world->materials[i];
		if (entry->id.index1 == id.index1 && entry->id.generation == id.generation) {
			return entry->resource;
		}
	}
	return NULL;
}

static bool must_be_shown(const SimulationBody *body) {
	return (body->is_moved || body->view->nodes.is_between) && !body->is_detached;
}

static void show_world(SimulationWorld *world) {
	for (int32_t i = 0; i < world->body_count; i++) {
		fetch_records(world, i);
		SimulationBody *next = i + 1 < world->body_count ? world->bodies[i + 1] : NULL;
		if (next && must_be_shown(next)) {
			body_nodes_fetch(&next->view->nodes, next->body);
		}
		if (must_be_shown(world->bodies[i])) {
			simulation_body_show(world->bodies[i]);
		}
	}
}

void simulation_show(void) {
	simulation_finish_steps();
	int64_t start = gd_time_get_ticks_usec();
	body_nodes_begin_frame();
	for (int32_t w = 0; w < simulation.world_count; w++) {
		show_world(simulation.worlds[w]);
	}
	for (int32_t w = 0; w < simulation.world_count; w++) {
		debug_view_show(simulation.worlds[w], simulation.settings.debug_view);
	}
	surface_material_watch();
	node_textures_upload();
	simulation.last_draw_usec = simulation.draw_usec + gd_time_get_ticks_usec() - start;
	simulation.last_owner_usec = body_view_take_owner_usec();
	simulation.draw_usec = 0;
	begin_steps();
}

// ---- for statistics

int32_t simulation_world_count(void) {
	return simulation.world_count;
}

SimulationWorld *simulation_world_at(int32_t index) {
	return simulation.worlds[index];
}

SimulationTimes simulation_times(void) {
	return (SimulationTimes){
		.draw_ms = 1e-3 * (double)simulation.last_draw_usec,
		.owners_ms = 1e-3 * (double)simulation.last_owner_usec,
		.sound_ms = 1e-3 * (double)simulation.sound_usec,
	};
}
