#include "coupling/rigid_reading.h"

#include "binding/conversions.h"

#include <math.h>

#define FRICTION_USUAL 1.0      // of a body without a PhysicsMaterial
enum { BODY_PARAM_BOUNCE = 0 }; // PhysicsServer3D.BODY_PARAM_BOUNCE

GDExtensionObjectPtr reading_node(const RigidRecord *record) {
	return record->object_id ? godot.object_get_instance_from_id(record->object_id) : NULL;
}

// The node to ask instead of the server, or null. Nodes of other classes do not tell all.
static GDExtensionObjectPtr telling_node(const RigidRecord *record) {
	GDExtensionObjectPtr node = simulation_settings()->physics_on_thread ? reading_node(record) : NULL;
	bool can_tell = node &&
		(object_cast(node, "RigidBody3D") || object_cast(node, "StaticBody3D") || object_cast(node, "CharacterBody3D"));
	return can_tell ? node : NULL;
}

bool reading_is_alive(const RigidRecord *record) {
	return record->object_id ? reading_node(record) != NULL
							 : gd_physics_server3d_body_get_direct_state(record->rid) != NULL;
}

bool reading_is_in_space(const Coupling *coupling, const RigidRecord *record) {
	GDExtensionObjectPtr node = telling_node(record);
	if (!node) {
		return is_same_rid(gd_physics_server3d_body_get_space(record->rid), coupling->world->space);
	}
	GDExtensionObjectPtr world = gd_node3d_get_world_3d(node);
	bool is_same = world == coupling->world->world_3d;
	if (world) {
		object_unreference(world);
	}
	return is_same;
}

// ---- body

int64_t reading_mode(const RigidRecord *record) {
	GDExtensionObjectPtr node = telling_node(record);
	if (!node) {
		return gd_physics_server3d_body_get_mode(record->rid);
	}
	if (object_cast(node, "RigidBody3D")) {
		bool is_frozen = gd_rigid_body3d_is_freeze_enabled(node);
		bool is_driven = gd_rigid_body3d_get_freeze_mode(node) == GD_RIGID_BODY3D_FREEZE_MODE_KINEMATIC;
		return !is_frozen ? GD_PHYSICS_SERVER3D_BODY_MODE_RIGID
			: is_driven   ? GD_PHYSICS_SERVER3D_BODY_MODE_KINEMATIC
						  : GD_PHYSICS_SERVER3D_BODY_MODE_STATIC;
	}
	bool is_driven = object_cast(node, "CharacterBody3D") || object_cast(node, "AnimatableBody3D");
	return is_driven ? GD_PHYSICS_SERVER3D_BODY_MODE_KINEMATIC : GD_PHYSICS_SERVER3D_BODY_MODE_STATIC;
}

void reading_layers(const RigidRecord *record, uint32_t *out_layer, uint32_t *out_mask) {
	GDExtensionObjectPtr node = telling_node(record);
	*out_layer = (uint32_t)(node ? gd_collision_object3d_get_collision_layer(node)
								 : gd_physics_server3d_body_get_collision_layer(record->rid));
	*out_mask = (uint32_t)(node ? gd_collision_object3d_get_collision_mask(node)
								: gd_physics_server3d_body_get_collision_mask(record->rid));
}

// Its PhysicsMaterial, with a reference for the caller, or null.
static GDExtensionObjectPtr material_of_node(GDExtensionObjectPtr node) {
	if (object_cast(node, "RigidBody3D")) {
		return gd_rigid_body3d_get_physics_material_override(node);
	}
	return object_cast(node, "StaticBody3D") ? gd_static_body3d_get_physics_material_override(node) : NULL;
}

static double friction_of_node(GDExtensionObjectPtr node) {
	GDExtensionObjectPtr material = material_of_node(node);
	double friction = material ? gd_physics_material_get_friction(material) : FRICTION_USUAL;
	if (material) {
		object_unreference(material);
	}
	return friction;
}

// What absorbs has a bounce below zero, as in the server.
static double bounce_of_node(GDExtensionObjectPtr node) {
	GDExtensionObjectPtr material = material_of_node(node);
	double bounce = 0.0;
	GDExtensionBool absorbs = 0;
	if (material) {
		GdVariant value = call_by_name(material, "get_bounce", NULL, 0),
				  is_absorbent = call_by_name(material, "is_absorbent", NULL, 0);
		variant_to(&value, GDEXTENSION_VARIANT_TYPE_FLOAT, &bounce);
		variant_to(&is_absorbent, GDEXTENSION_VARIANT_TYPE_BOOL, &absorbs);
		variant_free(&value);
		variant_free(&is_absorbent);
		object_unreference(material);
	}
	return absorbs ? -bounce : bounce;
}

static double param_of_server(GdRID rid, int64_t param, double usual) {
	GdVariant value = gd_physics_server3d_body_get_param(rid, param);
	double number = usual;
	variant_to(&value, GDEXTENSION_VARIANT_TYPE_FLOAT, &number);
	variant_free(&value);
	return number;
}

// Rough materials have a friction below zero in the server.
float reading_friction(const RigidRecord *record) {
	GDExtensionObjectPtr node = telling_node(record);
	double friction = node ? friction_of_node(node)
						   : param_of_server(record->rid, GD_PHYSICS_SERVER3D_BODY_PARAM_FRICTION, FRICTION_USUAL);
	return isfinite(friction) ? (float)fmin(fabs(friction), 10.0) : 0.5f;
}

float reading_restitution(const RigidRecord *record) {
	GDExtensionObjectPtr node = telling_node(record);
	double bounce = node ? bounce_of_node(node) : param_of_server(record->rid, BODY_PARAM_BOUNCE, 0.0);
	return isfinite(bounce) ? (float)fmin(fmax(bounce, 0.0), 1.0) : 0.0f;
}

bool reading_can_sleep(const RigidRecord *record) {
	GDExtensionObjectPtr node = telling_node(record);
	if (node && object_cast(node, "RigidBody3D")) {
		return gd_rigid_body3d_is_able_to_sleep(node);
	}
	GDExtensionBool can = 0;
	GdVariant value = gd_physics_server3d_body_get_state(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_CAN_SLEEP);
	bool is_bool = variant_to(&value, GDEXTENSION_VARIANT_TYPE_BOOL, &can);
	variant_free(&value);
	return is_bool && can;
}

// ---- motion

GdTransform3D reading_transform(const RigidRecord *record) {
	GdTransform3D transform = {{{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}, {0.0f, 0.0f, 0.0f}};
	GDExtensionObjectPtr node = telling_node(record);
	if (node) {
		return gd_node3d_get_global_transform(node);
	}
	GdVariant value = gd_physics_server3d_body_get_state(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_TRANSFORM);
	variant_to(&value, GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &transform);
	variant_free(&value);
	return transform;
}

static FemVec3 sound_velocity(GdVector3 velocity) {
	return vector3_is_finite(velocity) ? vec_from(velocity) : (FemVec3){0};
}

static FemVec3 server_velocity(GdRID rid, int64_t state) {
	GdVector3 velocity = {0};
	GdVariant value = gd_physics_server3d_body_get_state(rid, state);
	variant_to(&value, GDEXTENSION_VARIANT_TYPE_VECTOR3, &velocity);
	variant_free(&value);
	return sound_velocity(velocity);
}

// Jolt's server does not tell, the node does.
void reading_surface_motion(const RigidRecord *record, FemVec3 *out_velocity, FemVec3 *out_spin) {
	GDExtensionObjectPtr node = reading_node(record);
	*out_velocity = *out_spin = (FemVec3){0};
	if (node && object_cast(node, "StaticBody3D")) {
		*out_velocity = sound_velocity(gd_static_body3d_get_constant_linear_velocity(node));
		*out_spin = sound_velocity(gd_static_body3d_get_constant_angular_velocity(node));
	} else if (!telling_node(record)) {
		*out_velocity = server_velocity(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_LINEAR_VELOCITY);
		*out_spin = server_velocity(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_ANGULAR_VELOCITY);
	}
}

// ---- shapes

int32_t reading_shape_count(const RigidRecord *record) {
	GDExtensionObjectPtr node = telling_node(record);
	if (!node) {
		return (int32_t)gd_physics_server3d_body_get_shape_count(record->rid);
	}
	GdPackedInt32Array owners = gd_collision_object3d_get_shape_owners(node);
	int64_t owner_count = gd_packed_int32_array_size(&owners), count = 0;
	for (int64_t i = 0; i < owner_count; i++) {
		int32_t owner = *godot.packed_int32_array_operator_index_const(&owners, i);
		count += gd_collision_object3d_shape_owner_get_shape_count(node, owner);
	}
	gd_packed_int32_array_free(&owners);
	return (int32_t)count;
}

static GdRID shape_of_owner(GDExtensionObjectPtr node, int64_t owner, int32_t index) {
	GdRID rid = {{0}};
	int64_t count = gd_collision_object3d_shape_owner_get_shape_count(node, owner);
	for (int64_t i = 0; i < count; i++) {
		if (gd_collision_object3d_shape_owner_get_shape_index(node, owner, i) != index) {
			continue;
		}
		GDExtensionObjectPtr shape = gd_collision_object3d_shape_owner_get_shape(node, owner, i);
		if (shape) {
			rid = gd_resource_get_rid(shape);
			object_unreference(shape);
		}
	}
	return rid;
}

// The server does not tell which shapes are disabled; their node does.
ShapeSeen reading_shape(const RigidRecord *record, int32_t index) {
	GDExtensionObjectPtr node = reading_node(record), telling = telling_node(record);
	int64_t owner = node ? gd_collision_object3d_shape_find_owner(node, index) : 0;
	ShapeSeen seen = {.is_disabled = node && gd_collision_object3d_is_shape_owner_disabled(node, owner)};
	if (telling) {
		seen.rid = shape_of_owner(telling, owner, index);
		seen.local = gd_collision_object3d_shape_owner_get_transform(telling, owner);
	} else if (index < gd_physics_server3d_body_get_shape_count(record->rid)) {
		seen.rid = gd_physics_server3d_body_get_shape(record->rid, index);
		seen.local = gd_physics_server3d_body_get_shape_transform(record->rid, index);
	}
	return seen;
}
