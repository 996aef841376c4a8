// The list of known bodies, and their colliders in the engine.
#include "coupling/rigid_reading.h"

#include "coupling/collision_exceptions.h"
#include "coupling/piece_proxies.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTER_MARGIN 0.03f // m, by which a character's shape is grown: its own sweep stops before it touches

// ---- list

RigidRecord *rigid_find(const Coupling *coupling, GdRID rid) {
	for (int32_t i = 0; i < coupling->count; i++) {
		if (is_same_rid(coupling->records[i]->rid, rid)) {
			return coupling->records[i];
		}
	}
	return NULL;
}

// Bodies of nodes that make and free them as they like (GridMap, CSG) count as having none: their RIDs die unnoticed.
static uint64_t owner_of(uint64_t object_id) {
	GDExtensionObjectPtr object = object_id ? godot.object_get_instance_from_id(object_id) : NULL;
	return object && object_cast(object, "CollisionObject3D") ? object_id : 0;
}

RigidRecord *rigid_enter(Coupling *coupling, GdRID rid, uint64_t object_id) {
	RigidRecord *record = rigid_find(coupling, rid);
	if (record) {
		return record;
	}
	if (coupling->count == coupling->capacity) {
		int32_t capacity = coupling->capacity ? 2 * coupling->capacity : 64;
		RigidRecord **records = realloc(coupling->records, (size_t)capacity * sizeof(*records));
		if (!records) {
			return NULL;
		}
		coupling->records = records;
		coupling->capacity = capacity;
	}
	record = calloc(1, sizeof(RigidRecord));
	if (!record) {
		return NULL;
	}
	record->rid = rid;
	record->object_id = owner_of(object_id);
	record->owner_id = object_id;
	record->is_new = true;
	record->radius = INFINITY;
	coupling->records[coupling->count++] = record;
	return record;
}

static void free_shapes(Coupling *coupling, RigidRecord *record) {
	for (int32_t i = 0; i < record->shape_count; i++) {
		shape_source_release(&coupling->shapes, record->shapes[i].source);
	}
	free(record->shapes);
	record->shapes = NULL;
	record->shape_count = 0;
}

void rigid_except(Coupling *coupling, RigidRecord *record, bool except) {
	if (record->is_excepted != except) {
		record->is_excepted = except;
		piece_proxies_except(coupling, record->rid, except);
	}
}

void rigid_remove(Coupling *coupling, int32_t index) {
	RigidRecord *record = coupling->records[index];
	rigid_drop_colliders(record);
	rigid_except(coupling, record, false);
	free_shapes(coupling, record);
	groups_forget(coupling, record);
	discovery_forget(coupling, record);
	free(record->riders);
	free(record);
	coupling->records[index] = coupling->records[--coupling->count];
}

void rigid_name(const RigidRecord *record, char *buffer, int capacity) {
	GDExtensionObjectPtr object = record->object_id ? godot.object_get_instance_from_id(record->object_id) : NULL;
	if (!object || !gd_node_is_inside_tree(object)) {
		snprintf(buffer, (size_t)capacity, "a body without a node");
		return;
	}
	GdNodePath path = gd_node_get_path(object);
	GdString text = gd_string_new_node_path(&path);
	copy_string(&text, buffer, capacity);
	gd_string_free(&text);
	gd_node_path_free(&path);
}

// ---- colliders

void rigid_drop_colliders(RigidRecord *record) {
	for (int32_t i = record->shape_count - 1; i >= 0; i--) { // followers before their leader
		if (record->shapes[i].collider.index1) {
			fem_collider_destroy(record->shapes[i].collider);
			record->shapes[i].collider = (FemColliderId){0};
		}
	}
	record->has_colliders = false;
}

FemColliderId rigid_leader(const RigidRecord *record) {
	for (int32_t i = 0; i < record->shape_count; i++) {
		if (record->shapes[i].collider.index1) {
			return record->shapes[i].collider;
		}
	}
	return (FemColliderId){0};
}

static FemColliderKind engine_kind(RigidKind kind) {
	switch (kind) {
	case RIGID_STATIC: return FEM_COLLIDER_STATIC;
	case RIGID_KINEMATIC: return FEM_COLLIDER_KINEMATIC;
	default: return FEM_COLLIDER_DYNAMIC;
	}
}

// How far a shape reaches from the frame's origin, and how thin it is.
static void measure(RigidRecord *record, const ShapeMade *made) {
	const FemShapeDef *def = &made->def;
	float reach = 0.0f, thin = INFINITY;
	switch (def->type) {
	case FEM_SHAPE_BOX:
		reach = vec_length(def->half_extents);
		thin = 2.0f * fminf(def->half_extents.x, fminf(def->half_extents.y, def->half_extents.z));
		break;
	case FEM_SHAPE_SPHERE: reach = def->radius, thin = 2.0f * def->radius; break;
	case FEM_SHAPE_CAPSULE: reach = def->radius + def->half_height, thin = 2.0f * def->radius; break;
	case FEM_SHAPE_CYLINDER:
		reach = def->radius + def->half_height;
		thin = 2.0f * fminf(def->radius, def->half_height);
		break;
	case FEM_SHAPE_HALF_SPACE: reach = INFINITY; break;
	case FEM_SHAPE_HEIGHT_FIELD:
		reach = def->cell_size * (float)(def->width + def->depth);
		for (int32_t i = 0; i < def->width * def->depth; i++) {
			reach = fmaxf(reach, fabsf(def->heights[i]));
		}
		reach *= 1.5f;
		break;
	default:
		for (int32_t i = 0; i < def->point_count; i++) {
			reach = fmaxf(reach, vec_length(def->points[i]));
		}
		thin = def->type == FEM_SHAPE_CONVEX ? 0.5f * reach : def->thickness;
		break;
	}
	record->radius = fmaxf(record->radius, reach + vec_length(made->position));
	record->thickness = fminf(record->thickness, thin);
}

static FemColliderId make_collider(
	Coupling *coupling, RigidRecord *record, const ShapeMade *made, FemColliderId leader, bool quietly) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = engine_kind(record->kind);
	def.shape = made->def;
	def.shape_position = made->position;
	def.shape_rotation = made->rotation;
	def.position = record->frame.position;
	def.rotation = record->frame.rotation;
	def.linear_velocity = vec_limited(record->velocity, 400.0f);
	def.angular_velocity = vec_limited(record->spin, 200.0f);
	def.mass = record->mass;
	def.inertia = record->inertia;
	def.friction = record->kind == RIGID_CHARACTER ? 0.0f : record->friction; // feet do not drag along what they pass
	def.restitution = record->kind == RIGID_CHARACTER ? 0.0f : record->restitution;
	def.layer = record->layer;
	def.mask = record->mask;
	def.leader = leader;
	def.lets_sleep = quietly;
	def.user_data = record->owner_id;
	return fem_collider_create(coupling->world->id, &def);
}

// Once for a body.
static void say_refused(RigidRecord *record, FemColliderId collider) {
	if (collider.index1 || record->said_refused) {
		return;
	}
	record->said_refused = true;
	char name[128];
	rigid_name(record, name, sizeof(name));
	report_warning("A collision shape of %s is not touched by destructibles: %s", name, fem_last_error());
}

static void ignore_exceptions(const Coupling *coupling, const RigidRecord *record, FemColliderId collider) {
	for (int32_t i = 0; record->owner_id && i < coupling->world->body_count; i++) {
		if (collision_exceptions_has(coupling->world->bodies[i], record->owner_id)) {
			fem_collider_ignore_body(collider, coupling->world->bodies[i]->body, true);
		}
	}
}

void rigid_make_colliders(Coupling *coupling, RigidRecord *record, bool quietly) {
	Affine body = affine_from(&record->transform), back = affine_inverse_of_frame(&record->frame);
	FemColliderId leader = {0};
	bool has_mass = record->kind == RIGID_DYNAMIC || record->kind == RIGID_CHARACTER;
	rigid_drop_colliders(record);
	record->radius = 0.0f;
	record->thickness = INFINITY;
	for (int32_t i = 0; i < record->shape_count; i++) {
		RigidShape *shape = &record->shapes[i];
		Affine local = affine_from(&shape->local);
		local = affine_product(&body, &local);
		local = affine_product(&back, &local);
		ShapeMade made = {0};
		shape->revision = shape->source->revision;
		float margin = record->kind == RIGID_CHARACTER ? CHARACTER_MARGIN : 0.0f;
		if (!shape->is_disabled && shape_source_make(shape->source, &local, margin, &made)) {
			measure(record, &made);
			shape->collider = make_collider(coupling, record, &made, leader, quietly);
			say_refused(record, shape->collider);
			ignore_exceptions(coupling, record, shape->collider);
			leader = has_mass && !leader.index1 ? shape->collider : leader;
		}
		shape_made_free(&made);
	}
	record->has_colliders = record->had_colliders = true;
}

// ---- shapes

static bool is_same_shape(const RigidShape *shape, const ShapeSeen *seen) {
	return is_same_rid(shape->source->rid, seen->rid) && shape->is_disabled == seen->is_disabled &&
		shape->revision == shape->source->revision && memcmp(&shape->local, &seen->local, sizeof(seen->local)) == 0;
}

// A shape's data are asked of the server, which costs a wait when it has a thread: there one shape a tick.
static void refresh(Coupling *coupling, ShapeSource *source) {
	bool is_on_thread = simulation_settings()->physics_on_thread;
	if (!is_on_thread || coupling->refresh_tick != coupling->tick) {
		coupling->refresh_tick = coupling->tick;
		shape_source_refresh(source);
	}
}

static bool read_shape(Coupling *coupling, RigidRecord *record, int32_t index) {
	ShapeSeen seen = reading_shape(record, index);
	RigidShape *shape = &record->shapes[index];
	if (shape->source && is_same_rid(shape->source->rid, seen.rid)) {
		refresh(coupling, shape->source);
		if (is_same_shape(shape, &seen)) {
			return false;
		}
	} else {
		shape_source_release(&coupling->shapes, shape->source);
		shape->source = seen.rid.opaque[0] ? shape_source_acquire(&coupling->shapes, seen.rid) : NULL;
	}
	shape->local = seen.local;
	shape->is_disabled = seen.is_disabled;
	return true;
}

// False when memory is short.
static bool set_shape_count(Coupling *coupling, RigidRecord *record, int32_t count) {
	rigid_drop_colliders(record);
	free_shapes(coupling, record);
	record->shapes = calloc((size_t)(count > 0 ? count : 1), sizeof(RigidShape));
	record->shape_count = record->shapes ? count : 0;
	return record->shapes != NULL;
}

bool rigid_read_shapes(Coupling *coupling, RigidRecord *record) {
	int32_t count = reading_shape_count(record);
	uint32_t layer, mask;
	reading_layers(record, &layer, &mask);
	float friction = reading_friction(record), restitution = reading_restitution(record);
	bool changed = layer != record->layer || mask != record->mask || friction != record->friction ||
		restitution != record->restitution;
	record->layer = layer;
	record->mask = mask;
	record->friction = friction;
	record->restitution = restitution;
	if (count != record->shape_count) {
		if (!set_shape_count(coupling, record, count)) {
			return false;
		}
		changed = true;
	}
	for (int32_t i = 0; i < record->shape_count; i++) {
		changed |= read_shape(coupling, record, i);
		if (!record->shapes[i].source) {
			return false;
		}
	}
	if (changed) {
		rigid_drop_colliders(record);
		record->radius = INFINITY;
	}
	return true;
}
