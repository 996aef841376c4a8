// What scripts can do to a DestructibleBody, and its state as data.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "simulation/node_pose.h"

#include <math.h>

// A method called on a body that is not simulated does nothing: that is normal in tools and just after leaving a tree.
static void check(DestructibleBody *self, const char *action, FemResult result) {
	if (result == FEM_OK || !self->simulated.world) {
		self->simulated.is_moved = true;
		return;
	}
	destructible_body_report(self, action, fem_last_error());
}

static FemVec3 vector_of(GdVector3 v) {
	return (FemVec3){v.x, v.y, v.z};
}

static FemPosition place_of(GdVector3 v) {
	return (FemPosition){(double)v.x, (double)v.y, (double)v.z};
}

static float length_of(GdVector3 v) {
	return sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
}

void destructible_body_wake(void *pointer) {
	DestructibleBody *self = pointer;
	check(self, "ignored wake()", fem_body_wake(self->simulated.body));
}

void destructible_body_reset(void *self) {
	destructible_body_rebuild(self);
}

void destructible_body_trigger(void *pointer) {
	DestructibleBody *self = pointer;
	destructible_body_set_invulnerable(self, false);
	check(self, "ignored trigger()", fem_body_wake(self->simulated.body));
}

// ---- forces and impulses

void destructible_body_apply_force(void *pointer, GdVector3 force, GdVector3 position) {
	DestructibleBody *self = pointer;
	destructible_body_end_waiting(self);
	check(self, "ignored apply_force()",
		fem_body_apply_force_at_point(self->simulated.body, vector_of(force), place_of(position)));
}

// Shared out by mass, so that it neither rotates nor bends the body: node by node, as gravity does.
void destructible_body_apply_central_force(void *pointer, GdVector3 force) {
	DestructibleBody *self = pointer;
	destructible_body_end_waiting(self);
	check(self, "ignored apply_central_force()", fem_body_apply_central_force(self->simulated.body, vector_of(force)));
}

// A paused body is held while others go on: it is let go here, takes the impulse, and is held again in the next tick.
bool destructible_body_takes_impulses(DestructibleBody *self) {
	destructible_body_end_waiting(self);
	if (self->simulated.settings.freeze) {
		return false;
	}
	simulation_body_hold(&self->simulated, false);
	return true;
}

void destructible_body_apply_impulse(void *pointer, GdVector3 impulse, GdVector3 position) {
	DestructibleBody *self = pointer;
	if (!destructible_body_takes_impulses(self)) {
		return;
	}
	simulation_body_wake_struck(&self->simulated, place_of(position), length_of(impulse));
	check(self, "ignored apply_impulse()",
		fem_body_apply_impulse_at_point(self->simulated.body, vector_of(impulse), place_of(position)));
}

void destructible_body_apply_central_impulse(void *pointer, GdVector3 impulse) {
	DestructibleBody *self = pointer;
	if (!destructible_body_takes_impulses(self)) {
		return;
	}
	double mass = destructible_body_get_mass(self);
	float inv_mass = mass > 0.0 ? (float)(1.0 / mass) : 0.0f;
	FemVec3 change = {impulse.x * inv_mass, impulse.y * inv_mass, impulse.z * inv_mass};
	check(self, "ignored apply_central_impulse()", fem_body_add_velocity(self->simulated.body, change, (FemVec3){0}));
}

void destructible_body_apply_explosion(void *pointer, GdVector3 position, double radius, double strength) {
	DestructibleBody *self = pointer;
	if (!destructible_body_takes_impulses(self)) {
		return;
	}
	simulation_body_wake_near(&self->simulated, place_of(position), radius);
	check(self, "ignored apply_explosion()",
		fem_body_apply_explosion(self->simulated.body, place_of(position), (float)radius, (float)strength));
}

void destructible_body_apply_damage(void *pointer, GdVector3 position, double radius, double amount) {
	DestructibleBody *self = pointer;
	destructible_body_end_waiting(self);
	if (self->simulated.settings.invulnerable) {
		return;
	}
	amount = amount < 0.0 ? 0.0 : amount > 1.0 ? 1.0 : amount;
	check(self, "ignored apply_damage()",
		fem_body_apply_damage(self->simulated.body, place_of(position), (float)radius, (float)amount, NULL));
}

// ---- state

// Empty while the body is not simulated.
void destructible_body_get_state(void *pointer, GdDictionary *out) {
	DestructibleBody *self = pointer;
	destructible_body_end_waiting(self);
	gd_dictionary_free(out);
	*out = gd_dictionary_new();
	simulation_body_hold(&self->simulated, false); // what it has of velocity belongs to its state
	size_t size = fem_body_save(self->simulated.body, NULL, 0);
	if (size == 0) {
		return;
	}
	GdPackedByteArray data = gd_packed_byte_array_new();
	gd_packed_byte_array_resize(&data, (int64_t)size);
	void *bytes = godot.packed_byte_array_operator_index(&data, 0);
	if (bytes && fem_body_save(self->simulated.body, bytes, size) == size) {
		dictionary_take(out, "transform", make_variant(GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &self->pose));
		dictionary_take(out, "data", make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, &data));
	}
	gd_packed_byte_array_free(&data);
}

// The node goes where it was, without taking the body along: that is there already.
static int64_t load(DestructibleBody *self, const GdTransform3D *transform, GdPackedByteArray *data) {
	int64_t size = gd_packed_byte_array_size(data);
	const void *bytes = size > 0 ? godot.packed_byte_array_operator_index_const(data, 0) : NULL;
	if (node_pose_fault(transform) || !simulation_body_load(&self->simulated, bytes, (size_t)size)) {
		destructible_body_report(self, "ignored set_state()",
			node_pose_fault(transform) ? "its transform makes no sense; pass what get_state() returned"
									   : fem_last_error());
		return GD_ERR_INVALID_DATA;
	}
	self->pose = *transform;
	gd_node3d_set_global_transform(self->base.object, *transform);
	self->pose = gd_node3d_get_global_transform(self->base.object);
	destructible_body_show_again(self);
	return GD_OK;
}

int64_t destructible_body_set_state(void *pointer, const GdDictionary *state) {
	DestructibleBody *self = pointer;
	destructible_body_end_waiting(self);
	GdTransform3D transform;
	GdPackedByteArray data = gd_packed_byte_array_new();
	int64_t result = GD_ERR_UNCONFIGURED;
	if (!self->simulated.world || !self->is_in_world) {
		destructible_body_report(self, "ignored set_state()", "it is not simulated; put it into the tree first");
	} else if (!dictionary_find(state, "transform", GDEXTENSION_VARIANT_TYPE_TRANSFORM3D, &transform) ||
		!dictionary_find(state, "data", GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, &data)) {
		destructible_body_report(
			self, "ignored set_state()", "what was given is no state; pass what get_state() returned");
		result = GD_ERR_INVALID_PARAMETER;
	} else {
		result = load(self, &transform, &data);
	}
	gd_packed_byte_array_free(&data);
	return result;
}
