#include "classes/destruction_server.h"

#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/mesh_cache.h"
#include "drawing/node_textures.h"
#include "drawing/surface_material.h"
#include "fem_destruction.h"
#include "license_data.h"
#include "simulation/debug_view.h"
#include "simulation/simulation.h"
#include "simulation/simulation_budget.h"
#include "simulation/simulation_statistics.h"

#include <math.h>
#include <stdio.h>

typedef struct DestructionServer {
	ClassInstance base;
	bool gravity_override;
	GdVector3 gravity; // m/s^2, used when gravity_override is on
} DestructionServer;

static GDExtensionObjectPtr server;

// ---- the tick

// On SceneTree.physics_frame: before any _physics_process of the tick, so scripts see the tick's new positions, and
// what they apply takes part in the next one. The signal also comes while the tree is paused; see simulation.c.
static void on_physics_frame(void *self) {
	(void)self;
	simulation_tick();
}

// On RenderingServer.frame_pre_draw: once for each drawn frame, however many ticks there were.
static void on_frame_pre_draw(void *self) {
	(void)self;
	simulation_show();
}

// On tree_exiting of the tree's root, when all nodes below it have left: the game ends, and no tick comes any more.
// What bodies held goes now, while scripts, World3Ds and servers are still there, and not when the library is unloaded.
static void on_root_exiting(void *self) {
	(void)self;
	monitors_remove();
	simulation_drop_detached();
	mesh_cache_free();
}

void destruction_server_attach(GDExtensionObjectPtr scene_tree) {
	if (!server) {
		return;
	}
	GdStringName rendering = make_string_name("RenderingServer");
	GDExtensionObjectPtr rendering_server = godot.global_get_singleton(&rendering);
	gd_string_name_free(&rendering);
	if (scene_tree) {
		monitors_add(server, &names._get_monitor);
		signal_connect(scene_tree, &names.physics_frame, server, &names._on_physics_frame);
		signal_connect(gd_scene_tree_get_root(scene_tree), &names.tree_exiting, server, &names._on_root_exiting);
	}
	if (rendering_server) {
		signal_connect(rendering_server, &names.frame_pre_draw, server, &names._on_frame_pre_draw);
	}
}

// ---- settings

static int64_t get_worker_count(void *self) {
	(void)self;
	return simulation_worker_count();
}

static void set_worker_count(void *self, int64_t count) {
	(void)self;
	simulation_settings()->worker_count = (int32_t)(count < 0 ? 0 : count > 64 ? 64 : count);
	simulation_settings_changed();
}

static bool get_ground_enabled(void *self) {
	(void)self;
	return simulation_settings()->ground_enabled;
}

static void set_ground_enabled(void *self, bool enabled) {
	(void)self;
	simulation_settings()->ground_enabled = enabled;
	simulation_settings_changed();
}

static bool accept(const char *name, double value) {
	if (!isfinite(value)) {
		report_error(
			"DestructionServer: %s was set to a value that is not a finite number; it keeps the old one.", name);
	}
	return isfinite(value);
}

static double get_ground_height(void *self) {
	(void)self;
	return simulation_settings()->ground_height;
}

static void set_ground_height(void *self, double height) {
	(void)self;
	if (accept("ground_height", height)) {
		simulation_settings()->ground_height = height;
		simulation_settings_changed();
	}
}

static double get_ground_friction(void *self) {
	(void)self;
	return simulation_settings()->ground_friction;
}

static void set_ground_friction(void *self, double friction) {
	(void)self;
	if (accept("ground_friction", friction)) {
		simulation_settings()->ground_friction = friction < 0.0 ? 0.0 : friction > 100.0 ? 100.0 : friction;
		simulation_settings_changed();
	}
}

static bool get_rigid_coupling(void *self) {
	(void)self;
	return simulation_settings()->coupling_enabled;
}

static void set_rigid_coupling(void *self, bool enabled) {
	(void)self;
	simulation_settings()->coupling_enabled = enabled;
	simulation_settings_changed();
}

static bool get_overlap(void *self) {
	(void)self;
	return simulation_settings()->overlap;
}

static void set_overlap(void *self, bool enabled) {
	(void)self;
	simulation_settings()->overlap = enabled;
}

static int64_t get_debug_view(void *self) {
	(void)self;
	return simulation_settings()->debug_view;
}

// Seen from the next frame on.
static void set_debug_view(void *self, int64_t flags) {
	(void)self;
	simulation_settings()->debug_view = (uint32_t)(flags & DEBUG_VIEW_ALL);
}

static double get_character_push_force(void *self) {
	(void)self;
	return simulation_settings()->character_force;
}

static void set_character_push_force(void *self, double force) {
	(void)self;
	if (accept("character_push_force", force)) {
		simulation_settings()->character_force = force < 0.0 ? 0.0 : force > 1e6 ? 1e6 : force;
	}
}

// ---- budget

static double get_budget_ms(void *self) {
	(void)self;
	return simulation_settings()->budget_ms;
}

static void set_budget_ms(void *self, double ms) {
	(void)self;
	if (accept("budget_ms", ms)) {
		simulation_settings()->budget_ms = ms < 0.0 ? 0.0 : ms > 1e6 ? 1e6 : ms;
	}
}

static int32_t as_bound(int64_t count) {
	return (int32_t)(count < 0 ? 0 : count > 1000000000 ? 1000000000 : count);
}

static int64_t get_budget_live_tets(void *self) {
	(void)self;
	return simulation_settings()->budget_live_tets;
}

static void set_budget_live_tets(void *self, int64_t count) {
	(void)self;
	simulation_settings()->budget_live_tets = as_bound(count);
}

static int64_t get_budget_pieces(void *self) {
	(void)self;
	return simulation_settings()->budget_pieces;
}

static void set_budget_pieces(void *self, int64_t count) {
	(void)self;
	simulation_settings()->budget_pieces = as_bound(count);
}

static int64_t get_budget_contacts(void *self) {
	(void)self;
	return simulation_settings()->budget_contacts;
}

static void set_budget_contacts(void *self, int64_t count) {
	(void)self;
	simulation_settings()->budget_contacts = as_bound(count);
}

static bool get_budget_recording(void *self) {
	(void)self;
	return budget_is_recording();
}

static void set_budget_recording(void *self, bool enabled) {
	(void)self;
	budget_set_recording(enabled);
}

static void get_budget_record(void *self, GdPackedByteArray *out) {
	(void)self;
	budget_get_record(out);
}

static void replay_budget(void *self, const GdPackedByteArray *record) {
	(void)self;
	GdPackedByteArray copy = gd_packed_byte_array_new_packed_byte_array(record);
	bool is_taken = budget_replay(&copy);
	gd_packed_byte_array_free(&copy);
	if (!is_taken) {
		report_error(
			"DestructionServer: replay_budget() was given something else than what get_budget_record() of this "
			"version returned, or memory is short; nothing is replayed.");
	}
}

static void apply_gravity(const DestructionServer *self) {
	FemVec3 gravity = {self->gravity.x, self->gravity.y, self->gravity.z};
	simulation_set_gravity_override(self->gravity_override ? &gravity : NULL);
}

static bool get_gravity_override(void *self) {
	return ((DestructionServer *)self)->gravity_override;
}

static void set_gravity_override(void *self, bool enabled) {
	((DestructionServer *)self)->gravity_override = enabled;
	apply_gravity(self);
}

static GdVector3 get_gravity(void *self) {
	return ((DestructionServer *)self)->gravity;
}

static void set_gravity(void *self, GdVector3 gravity) {
	if (accept("gravity", gravity.x + gravity.y + gravity.z)) {
		((DestructionServer *)self)->gravity = gravity;
		apply_gravity(self);
	}
}

// ---- queries

static void get_statistics(void *self, GdDictionary *out) {
	(void)self;
	gd_dictionary_free(out);
	*out = gd_dictionary_new();
	simulation_statistics(out);
}

static double get_monitor(void *self, int64_t index) {
	(void)self;
	return monitors_get(index);
}

static void get_version(void *self, GdString *out) {
	(void)self;
	char text[32];
	snprintf(text, sizeof(text), "%d.%d.%d", FEM_VERSION_MAJOR, FEM_VERSION_MINOR, FEM_VERSION_PATCH);
	gd_string_free(out);
	*out = make_string(text);
}

static void get_license_text(void *self, GdString *out) {
	(void)self;
	gd_string_free(out);
	*out = make_string(license_data);
}

// ---- explosions

// Without a World3D the one of the scene tree's root is meant.
static GDExtensionObjectPtr world_of(GDExtensionObjectPtr world_3d) {
	GDExtensionObjectPtr tree = world_3d ? NULL : object_cast(gd_engine_get_main_loop(), "SceneTree");
	GDExtensionObjectPtr root = tree ? gd_scene_tree_get_root(tree) : NULL;
	if (root) {
		return gd_viewport_find_world_3d(root);
	}
	if (world_3d) {
		gd_ref_counted_reference(world_3d);
	}
	return world_3d;
}

static bool is_world(GDExtensionObjectPtr object, const char *method) {
	if (object && !object_cast(object, "World3D")) {
		report_error(
			"DestructionServer: %s() was given something else than a World3D; pass node.get_world_3d().", method);
		return false;
	}
	return true;
}

static int64_t apply_explosion(
	void *self, GdVector3 position, double radius, double strength, GDExtensionObjectPtr world_3d) {
	(void)self;
	if (!is_world(world_3d, "apply_explosion")) {
		return 0;
	}
	GDExtensionObjectPtr world = world_of(world_3d);
	FemPosition center = {(double)position.x, (double)position.y, (double)position.z};
	if (world) {
		destructible_bodies_end_waiting_near(world, center, radius);
	}
	int32_t count = world ? simulation_explode(world, center, (float)radius, (float)strength) : 0;
	object_unreference(world);
	if (count < 0) {
		report_error("DestructionServer: apply_explosion() was ignored: %s", fem_last_error());
		return 0;
	}
	return count;
}

// Where a ray meets the surface of a destructible as it is now; empty: nowhere.
static void cast_ray(void *self, GdVector3 from, GdVector3 to, GDExtensionObjectPtr world_3d, GdDictionary *out) {
	(void)self;
	gd_dictionary_free(out);
	*out = gd_dictionary_new();
	if (!is_world(world_3d, "cast_ray")) {
		return;
	}
	if (!vector3_is_finite(from) || !vector3_is_finite(to)) {
		report_error("DestructionServer: cast_ray() was given numbers that are not finite; correct its two points.");
		return;
	}
	GDExtensionObjectPtr world = world_of(world_3d);
	FemHit hit;
	FemPosition start = {(double)from.x, (double)from.y, (double)from.z};
	FemVec3 translation = {to.x - from.x, to.y - from.y, to.z - from.z};
	const SimulationBody *body = world ? simulation_cast_ray(world, start, translation, &hit) : NULL;
	object_unreference(world);
	if (body) {
		GdVector3 point = {(float)hit.point.x, (float)hit.point.y, (float)hit.point.z};
		GdVector3 normal = {hit.normal.x, hit.normal.y, hit.normal.z};
		dictionary_take(out, "body", make_variant_object(body->node));
		dictionary_take(out, "position", make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &point));
		dictionary_take(out, "normal", make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &normal));
	}
}

// False when what was hit takes no bullets: level geometry.
static bool apply_bullet(
	void *self, GDExtensionObjectPtr collider, GdVector3 position, GdVector3 direction, double energy) {
	(void)self;
	DestructibleBody *body = collider ? class_instance(collider, &destructible_body_class) : NULL;
	if (body) {
		destructible_body_apply_bullet(body, position, direction, energy);
		return true;
	}
	float length = sqrtf(direction.x * direction.x + direction.y * direction.y + direction.z * direction.z);
	if (!collider || !object_cast(collider, "RigidBody3D") || !(length > 0.0f) ||
		!accept("the bullet", (double)length + energy + (double)(position.x + position.y + position.z))) {
		return false;
	}
	float impulse = (float)(2.0 * energy / 300.0) / length; // of a bullet of 300 m/s, as for destructibles
	GdVector3 origin = gd_node3d_get_global_transform(collider).origin;
	gd_rigid_body3d_apply_impulse(collider,
		(GdVector3){direction.x * impulse, direction.y * impulse, direction.z * impulse},
		(GdVector3){position.x - origin.x, position.y - origin.y, position.z - origin.z});
	return true;
}

static GdVector3 get_rigid_force(void *self, GDExtensionObjectPtr body) {
	(void)self;
	return body ? simulation_rigid_force(body) : (GdVector3){0};
}

// ---- tables

static void construct(void *pointer) {
	DestructionServer *self = pointer;
	self->gravity = (GdVector3){0.0f, -9.81f, 0.0f};
}

static const ClassProperty properties[] = {
	PROPERTY(worker_count, INT, int, "get_", RANGE, "0,64,1"),
	PROPERTY(ground_enabled, BOOL, bool, "is_", NONE, ""),
	PROPERTY(ground_height, FLOAT, float, "get_", RANGE, "-1000,1000,0.001,or_less,or_greater,suffix:m"),
	PROPERTY(ground_friction, FLOAT, float, "get_", RANGE, "0,2,0.01,or_greater"),
	PROPERTY(rigid_coupling, BOOL, bool, "is_", NONE, ""),
	PROPERTY(character_push_force, FLOAT, float, "get_", RANGE, "0,10000,1,or_greater,suffix:N"),
	PROPERTY(overlap, BOOL, bool, "is_", NONE, ""),
	PROPERTY(debug_view, INT, int, "get_", FLAGS, DEBUG_VIEW_NAMES),
	PROPERTY(budget_ms, FLOAT, float, "get_", RANGE, "0,33,0.1,or_greater,suffix:ms"),
	PROPERTY(budget_live_tets, INT, int, "get_", RANGE, "0,100000,1,or_greater"),
	PROPERTY(budget_pieces, INT, int, "get_", RANGE, "0,10000,1,or_greater"),
	PROPERTY(budget_contacts, INT, int, "get_", RANGE, "0,100000,1,or_greater"),
	PROPERTY(budget_recording, BOOL, bool, "is_", NONE, ""),
	PROPERTY(gravity_override, BOOL, bool, "is_", NONE, ""),
	PROPERTY(gravity, VECTOR3, vector3, "get_", NONE, "suffix:m/s²"),
};

static const ClassMethod methods[] = {
	METHOD("apply_bullet", get_bool_of_object_vector3_vector3_float, apply_bullet,
		.argument_names = {"collider", "position", "direction", "energy"}, .class_name = "Object"),
	METHOD("get_rigid_force", get_vector3_of_object, get_rigid_force, .argument_names = {"body"},
		.class_name = "Node3D", .is_const = true),
	METHOD("apply_explosion", get_int_of_vector3_float_float_object, apply_explosion,
		.argument_names = {"position", "radius", "strength", "world_3d"}, .optional_count = 1, .class_name = "World3D"),
	METHOD("cast_ray", get_dictionary_of_vector3_pair_object, cast_ray, .argument_names = {"from", "to", "world_3d"},
		.optional_count = 1, .class_name = "World3D", .is_const = true),
	METHOD("get_budget_record", get_byte_array, get_budget_record, .is_const = true),
	METHOD("replay_budget", set_byte_array, replay_budget, .argument_names = {"record"}),
	METHOD("get_statistics", get_dictionary, get_statistics, .is_const = true),
	METHOD("get_license_text", get_string, get_license_text, .is_const = true),
	METHOD("get_version", get_string, get_version, .is_const = true),
	METHOD("_get_monitor", get_float_of_int, get_monitor, .argument_names = {"index"}, .is_const = true),
	METHOD("_on_physics_frame", nothing, on_physics_frame, .is_const = false),
	METHOD("_on_root_exiting", nothing, on_root_exiting, .is_const = false),
	METHOD("_on_frame_pre_draw", nothing, on_frame_pre_draw, .is_const = false),
};

static const ClassConstant constants[] = {
	{"DebugView", "DEBUG_TETS", FEM_DRAW_TETS},
	{"DebugView", "DEBUG_STRESS", FEM_DRAW_STRESS},
	{"DebugView", "DEBUG_CONTACTS", FEM_DRAW_CONTACTS},
	{"DebugView", "DEBUG_ISLANDS", FEM_DRAW_ISLANDS},
	{"DebugView", "DEBUG_BOXES", FEM_DRAW_BOXES},
	{"DebugView", "DEBUG_MOTION", FEM_DRAW_MOTION},
	{"DebugView", "DEBUG_PROXIES", DEBUG_VIEW_PROXIES},
	{"StepErrors", "STEP_BAD_WORLD", FEM_STEP_BAD_WORLD},
	{"StepErrors", "STEP_BODY_ROLLED_BACK", FEM_STEP_BODY_ROLLED_BACK},
	{"StepErrors", "STEP_SOLVER_CAPPED", FEM_STEP_SOLVER_CAPPED},
	{"StepErrors", "STEP_SPEED_CLAMPED", FEM_STEP_SPEED_CLAMPED},
	{"StepErrors", "STEP_EVENTS_FULL", FEM_STEP_EVENTS_FULL},
	{"StepErrors", "STEP_CONTACTS_FULL", FEM_STEP_CONTACTS_FULL},
	{"StepErrors", "STEP_NO_MEMORY", FEM_STEP_NO_MEMORY},
};

const ClassDescription destruction_server_class = {
	.name = "DestructionServer",
	.parent = "Object",
	.instance_size = sizeof(DestructionServer),
	.is_abstract = true,
	.construct = construct,
	.enter = simulation_finish_steps,
	.properties = properties,
	.property_count = TABLE_COUNT(properties),
	.methods = methods,
	.method_count = TABLE_COUNT(methods),
	.constants = constants,
	.constant_count = TABLE_COUNT(constants),
	.flags_enum = "StepErrors",
};

void destruction_server_start(void) {
	simulation_start(project_settings_load());
	server = class_create(&destruction_server_class);
	GdStringName name = make_string_name("DestructionServer");
	gd_engine_register_singleton(&name, server);
	gd_string_name_free(&name);
}

void destruction_server_stop(void) {
	simulation_stop();
	surface_material_unload();
	node_textures_free();
	if (server) {
		GdStringName name = make_string_name("DestructionServer");
		gd_engine_unregister_singleton(&name);
		gd_string_name_free(&name);
		godot.object_destroy(server);
		server = NULL;
	}
}
