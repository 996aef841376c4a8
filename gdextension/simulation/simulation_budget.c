#include "simulation/simulation_budget.h"

#include "binding/conversions.h"
#include "simulation/simulation_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STALL_MS 1000.0    // a tick that took longer was stopped by a debugger or the system, and says nothing; chosen
#define CORNER_FACTOR 2.04 // of the tangent of half the field of view, to the corner of a picture of 16:9
#define CONE_MARGIN 0.1    // rad beyond what is seen; chosen
#define RECORD_MAGIC 0x46425233u // "3RBF": first word of a record

// All that a tick gave a world. Records are rows of these: other machines of the same byte order read them.
typedef struct Decision {
	FemWorkLimits limits;
	int32_t awake_max, pieces_max, removals_max;
	float freeze_speed;
	float detail_share;
	int32_t observer_count;
	FemObserver observer;
} Decision;

static struct {
	bool is_recording;
	uint8_t *bytes; // recorded, or to be replayed
	size_t size, capacity, at;
	bool is_replaying;
} record;

// ---- time

double budget_now_ms(void) {
#if defined(CLOCK_THREAD_CPUTIME_ID) && !defined(__EMSCRIPTEN__)
	struct timespec now;
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0) {
		return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
	}
#endif
	return 1e-3 * (double)gd_time_get_ticks_usec();
}

// ---- records

void budget_unload(void) {
	free(record.bytes);
	memset(&record, 0, sizeof(record));
}

void budget_load(void) {
	budget_unload();
}

bool budget_is_recording(void) {
	return record.is_recording;
}

bool budget_is_replaying(void) {
	return record.is_replaying;
}

void budget_set_recording(bool enabled) {
	if (enabled) {
		budget_unload();
	}
	record.is_recording = enabled;
}

static void note(const Decision *decision) {
	if (record.size + sizeof(*decision) > record.capacity) {
		size_t capacity = record.capacity > 0 ? 2 * record.capacity : 1 << 16;
		uint8_t *bytes = realloc(record.bytes, capacity);
		if (!bytes) {
			record.is_recording = false;
			report_error("DestructionServer: memory is short, and budget_recording ended; record shorter plays.");
			return;
		}
		record.bytes = bytes;
		record.capacity = capacity;
	}
	memcpy(record.bytes + record.size, decision, sizeof(*decision));
	record.size += sizeof(*decision);
}

void budget_get_record(GdPackedByteArray *out) {
	uint32_t head[2] = {RECORD_MAGIC, (uint32_t)sizeof(Decision)};
	size_t size = record.is_replaying ? 0 : record.size;
	gd_packed_byte_array_resize(out, (int64_t)(sizeof(head) + size));
	if (gd_packed_byte_array_size(out) != (int64_t)(sizeof(head) + size)) {
		return;
	}
	memcpy(godot.packed_byte_array_operator_index(out, 0), head, sizeof(head));
	if (size > 0) {
		memcpy(godot.packed_byte_array_operator_index(out, sizeof(head)), record.bytes, size);
	}
}

bool budget_replay(GdPackedByteArray *from) {
	uint32_t head[2];
	size_t size = (size_t)gd_packed_byte_array_size(from);
	if (size == 0) {
		budget_unload();
		return true;
	}
	const uint8_t *bytes = godot.packed_byte_array_operator_index_const(from, 0);
	if (size < sizeof(head)) {
		return false;
	}
	memcpy(head, bytes, sizeof(head));
	size -= sizeof(head);
	if (head[0] != RECORD_MAGIC || head[1] != sizeof(Decision) || size % sizeof(Decision) != 0) {
		return false;
	}
	budget_unload();
	record.bytes = malloc(size > 0 ? size : 1);
	if (!record.bytes) {
		return false;
	}
	memcpy(record.bytes, bytes + sizeof(head), size);
	record.size = record.capacity = size;
	record.is_replaying = true;
	return true;
}

// False, and the replay has ended, when there is no more.
static bool next_recorded(Decision *out) {
	if (!record.is_replaying || record.at + sizeof(*out) > record.size) {
		return false;
	}
	memcpy(out, record.bytes + record.at, sizeof(*out));
	record.at += sizeof(*out);
	return true;
}

// ---- decisions

// The camera of the game's window, if it looks at this world; else everything is seen.
int32_t budget_find_observer(const SimulationWorld *world, FemObserver *out) {
	GDExtensionObjectPtr tree = object_cast(gd_engine_get_main_loop(), "SceneTree");
	GDExtensionObjectPtr root = tree ? gd_scene_tree_get_root(tree) : NULL;
	GDExtensionObjectPtr camera = root ? gd_viewport_get_camera_3d(root) : NULL;
	GDExtensionObjectPtr seen = camera ? gd_viewport_find_world_3d(root) : NULL;
	bool is_here = seen && seen == world->world_3d;
	object_unreference(seen);
	if (!is_here) {
		return 0;
	}
	GdTransform3D pose = gd_node3d_get_global_transform(camera);
	double fov = gd_camera3d_get_fov(camera) * 3.14159265358979 / 180.0;
	double corner = atan(CORNER_FACTOR * tan(fmin(fov, 3.0) / 2.0)) + CONE_MARGIN;
	*out = (FemObserver){
		.position = {(double)pose.origin.x, (double)pose.origin.y, (double)pose.origin.z},
		.forward = {-pose.basis.x.z, -pose.basis.y.z, -pose.basis.z.z}, // x, y and z are the rows
		.cone_cosine = (float)cos(fmin(corner, 3.14159265358979)),
	};
	return 1;
}

static FemBudgetDef budget_def(const AddonSettings *settings, int32_t world_count) {
	FemBudgetDef def = fem_default_budget_def();
	def.step_ms = (float)(settings->budget_ms / (world_count > 1 ? world_count : 1));
	def.live_tets_max = settings->budget_live_tets;
	def.pieces_max = settings->budget_pieces;
	def.contacts_max = settings->budget_contacts;
	return def;
}

static Decision decide(SimulationWorld *world, const FemBudgetDef *def) {
	BudgetState *state = &world->budget;
	FemStatistics s = {0};
	FemShedDef shed = fem_default_shed_def();
	Decision decision = {0};
	fem_world_get_statistics(world->id, &s);
	FemStepCost last = {
		.ms = state->tick_ms < STALL_MS ? (float)state->tick_ms : 0.0f,
		.live_tets = s.live_tets,
		.pieces = s.pieces,
		.awake_pieces = s.live_islands,
		.contacts = s.contacts,
	};
	if (!state->has_begun) {
		state->budget = fem_budget_start();
		state->has_begun = true;
	}
	fem_budget_next(&state->budget, def, &last, &decision.limits, &shed);
	decision.awake_max = shed.awake_max;
	decision.pieces_max = shed.pieces_max;
	decision.removals_max = shed.removals_max;
	decision.freeze_speed = shed.freeze_speed;
	decision.detail_share = state->budget.share;
	bool is_shedding =
		(shed.awake_max > 0 && s.live_islands > shed.awake_max) || (shed.pieces_max > 0 && s.pieces > shed.pieces_max);
	decision.observer_count = is_shedding ? budget_find_observer(world, &decision.observer) : 0;
	return decision;
}

static void carry_out(SimulationWorld *world, const Decision *decision) {
	BudgetState *state = &world->budget;
	FemShedDef shed = fem_default_shed_def();
	fem_world_set_work_limits(world->id, &decision->limits);
	state->detail_share = decision->detail_share;
	shed.observers = &decision->observer;
	shed.observer_count = decision->observer_count > 0 ? 1 : 0;
	shed.awake_max = decision->awake_max;
	shed.pieces_max = decision->pieces_max;
	shed.removals_max = decision->removals_max;
	shed.freeze_speed = decision->freeze_speed;
	shed.fade_time = BUDGET_FADE_TIME;
	state->shed = (FemShedResult){0};
	if (fem_world_shed(world->id, &shed, &state->shed) != FEM_OK) {
		shed.observer_count = 0; // a camera that is nowhere
		fem_world_shed(world->id, &shed, &state->shed);
	}
	state->frozen += state->shed.frozen;
	state->faded += state->shed.faded;
	state->has_faded |= state->shed.faded > 0;
	state->is_bounded = true;
}

void budget_before_step(SimulationWorld *world, const AddonSettings *settings, int32_t world_count) {
	BudgetState *state = &world->budget;
	FemBudgetDef def = budget_def(settings, world_count);
	Decision decision;
	bool is_on = def.step_ms > 0.0f || def.live_tets_max > 0 || def.pieces_max > 0 || def.contacts_max > 0;
	state->tick++;
	state->detail_share = 1.0f;
	if (record.is_replaying) {
		if (next_recorded(&decision)) {
			carry_out(world, &decision);
		}
		return;
	}
	if (!is_on && state->is_bounded) {
		FemWorkLimits none = fem_default_work_limits();
		fem_world_set_work_limits(world->id, &none);
		state->is_bounded = state->has_begun = false;
	}
	if (!is_on && !record.is_recording) {
		return;
	}
	decision = decide(world, &def);
	carry_out(world, &decision);
	if (record.is_recording) {
		note(&decision);
	}
}

void budget_add_statistics(const SimulationWorld *world, BudgetStatistics *sum) {
	const BudgetState *state = &world->budget;
	sum->tick_ms += state->tick_ms;
	sum->share = state->has_begun ? fmin(sum->share, (double)state->budget.share) : sum->share;
	sum->late_ticks += state->budget.late_steps;
	sum->frozen += state->frozen;
	sum->faded += state->faded;
	sum->blasts += world->blasts.count;
}
