// Points of a modal body that scripts hold and drag, or join with another body.
#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "fem_modes.h"
#include "simulation/simulation_world.h"

static FemPosition place_of(GdVector3 v) {
	return (FemPosition){(double)v.x, (double)v.y, (double)v.z};
}

// As in destructible_body_actions.c: what is not simulated ignores it without a word.
static void check(DestructibleBody *self, const char *action, bool is_done) {
	if (is_done || !self->simulated.world) {
		self->simulated.is_moved = true;
		return;
	}
	destructible_body_report(self, action, fem_last_error());
}

bool destructible_body_is_modal(void *pointer) {
	const DestructibleBody *self = pointer;
	FemModalState state;
	return self->simulated.world && fem_body_get_modal_state(self->simulated.body, &state) == FEM_OK && state.is_moving;
}

int64_t destructible_body_grab(void *pointer, GdVector3 position) {
	DestructibleBody *self = pointer;
	FemGrabNumber grab = self->simulated.world ? fem_body_grab(self->simulated.body, place_of(position)) : 0;
	check(self, "ignored grab()", grab != 0);
	return (int64_t)grab;
}

static FemGrabNumber number_of(int64_t grab) {
	return grab > 0 && grab <= UINT32_MAX ? (FemGrabNumber)grab : UINT32_MAX; // which is no body's
}

void destructible_body_move_grab(void *pointer, int64_t grab, GdVector3 position) {
	DestructibleBody *self = pointer;
	check(self, "ignored move_grab()",
		fem_body_move_grab(self->simulated.body, number_of(grab), place_of(position)) == FEM_OK);
}

void destructible_body_release_grab(void *pointer, int64_t grab) {
	DestructibleBody *self = pointer;
	check(self, "ignored release_grab()",
		fem_body_release_grab(self->simulated.body, grab == 0 ? 0 : number_of(grab)) == FEM_OK);
}

static void put_vector(GdDictionary *out, const char *key, GdVector3 value) {
	dictionary_take(out, key, make_variant(GDEXTENSION_VARIANT_TYPE_VECTOR3, &value));
}

void destructible_body_get_grab_data(void *pointer, int64_t grab, GdDictionary *out) {
	const DestructibleBody *self = pointer;
	FemPosition at;
	FemVec3 force;
	if (!self->simulated.world || fem_body_get_grab(self->simulated.body, number_of(grab), &at, &force) != FEM_OK) {
		return;
	}
	put_vector(out, "position", (GdVector3){(float)at.x, (float)at.y, (float)at.z});
	put_vector(out, "force", (GdVector3){force.x, force.y, force.z});
}

// ---- joints

int64_t destructible_body_join(void *pointer, GDExtensionObjectPtr object, GdVector3 position) {
	DestructibleBody *self = pointer;
	DestructibleBody *other = object ? class_instance(object, &destructible_body_class) : NULL;
	if (!other) {
		destructible_body_report(self, "ignored join()", "the other is no DestructibleBody; pass one");
		return 0;
	}
	bool both = self->simulated.world && other->simulated.world;
	FemJointNumber joint = both ? fem_body_join(self->simulated.body, other->simulated.body, place_of(position)) : 0;
	check(self, "ignored join()", joint != 0 || !both);
	other->simulated.is_moved = true;
	return (int64_t)joint;
}

// A joint of another pair is none of this body's.
static FemJointNumber joint_of(const DestructibleBody *self, int64_t joint, FemJointState *out) {
	FemJointNumber number = number_of(joint);
	if (!self->simulated.world || fem_world_get_joint(self->simulated.world->id, number, out) != FEM_OK) {
		return 0;
	}
	uint16_t own = self->simulated.body.index1;
	return out->bodies[0].index1 == own || out->bodies[1].index1 == own ? number : 0;
}

void destructible_body_release_joint(void *pointer, int64_t joint) {
	DestructibleBody *self = pointer;
	FemJointState state;
	FemJointNumber number = joint_of(self, joint, &state);
	if (number != 0) {
		fem_world_release_joint(self->simulated.world->id, number);
	} else if (self->simulated.world) {
		destructible_body_report(
			self, "ignored release_joint()", "it has no such joint; it was released, or the other body is gone");
	}
}

void destructible_body_get_joint_data(void *pointer, int64_t joint, GdDictionary *out) {
	const DestructibleBody *self = pointer;
	FemJointState state;
	if (joint_of(self, joint, &state) == 0) {
		return;
	}
	bool is_second = state.bodies[1].index1 == self->simulated.body.index1;
	FemPosition at = state.points[is_second];
	float sign = is_second ? 1.0f : -1.0f;
	put_vector(out, "position", (GdVector3){(float)at.x, (float)at.y, (float)at.z});
	put_vector(out, "force", (GdVector3){sign * state.force.x, sign * state.force.y, sign * state.force.z});
}
