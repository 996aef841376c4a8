// What the solve did to dynamic bodies, handed to Godot as one force and one torque a body and tick.
//
// A body and what it carries (rigid_groups.c) are one to the solve. The forces lead Godot's integrator to where the
// solve put the collider: with vb = displacement / dt, F = M (vb - v) / dt less weight and load. Over several substeps
// the velocity at the end is another than vb; the difference (carry) goes into the collider's velocity at the start of
// the next tick, so that no momentum is lost. With one substep F is the contact impulse over dt.
//
// Sharing out: the change of motion goes to each body that moves along, so that nothing has to be passed on within the
// tick: the physics server's solver does not carry a blow through ten boxes in its few iterations, and what is left of
// it throws the lowest about. The weight of what is carried goes to the body beneath, as it must for friction to hold,
// but no more than of BORNE_MAX bodies, for the same reason; for something that has just been set down only by and by.
//
// Bodies of a group that move against each other are braced: a share of what each goes beside the common motion is
// taken from it. That sums up to no force and no torque. Without it a tower sways on for seconds in GodotPhysics, on a
// static floor as here.
//
// The load is what neither sees: joints, bodies that lean. It is observed: what the velocity found is beside the one
// expected. A blow shows in the same way for one tick and would be answered twice; so the load grows by no more than a
// few times the weight in a tick.
#include "coupling/rigid_records.h"

#include "coupling/rigid_reading.h"

#include "binding/conversions.h"

#include <math.h>

// Bounds on what is handed over in a tick; chosen.
#define LOAD_STEP 3.0f     // weights by which the load may change in a tick
#define LOAD_MAX 300.0f    // weights, that the load may come to
#define CHANGE_MAX 300.0f  // m/s by which a force may change a velocity in a tick
#define SPIN_MAX 300.0f    // rad/s, likewise
#define BRACE_RATE 10.0f   // 1/s, at which motion against each other dies away in a group
#define BORNE_MAX 2.0f     // riders' weights, at most, that go to the body beneath
#define CARRY_MIN 1e-4f    // m/s, rad/s: less is rounding
#define WAKE_SHARE 0.25f   // of the weight: what differs from rest by more wakes a sleeper
#define PUSHED_SPEED 0.03f // m/s: what the solve moves faster is still being pushed out
#define QUIET_SHARE 1e-3f  // of the weight: less is not worth a call, which would keep a body awake
#define REST_GRAVITY 9.81f // m/s^2, the weight that limits are taken of where there is none

static void forget(RigidRecord *record) {
	record->load = record->load_torque = record->carry = record->carry_spin = (FemVec3){0};
	record->was_touching = false;
}

// A tower that is pushed out a little too far hangs in the air for a tick or two: what it carries is not lost by that.
static void lose_touch(RigidRecord *record, double delta) {
	record->lost_time += (float)delta;
	if (record->rider_count == 0 || record->lost_time > RIGID_LOST_TIME) {
		forget(record);
		return;
	}
	record->carry = record->carry_spin = (FemVec3){0};
	record->was_touching = false;
}

static FemVec3 weight_of(const RigidRecord *record) {
	return vec_scale(record->gravity, record->whole.mass);
}

static float weight_scale(const RigidRecord *record) {
	return record->whole.mass * fmaxf(vec_length(record->gravity), REST_GRAVITY);
}

// ---- load

void rigid_observe_load(RigidRecord *record, double delta) {
	bool is_lost =
		record->kind != RIGID_DYNAMIC || record->is_new || (!record->was_touching && record->rider_count == 0);
	if (is_lost) {
		forget(record);
		return;
	}
	if (!record->was_touching || record->is_asleep || record->has_other_riders) {
		return; // rests as it did; or there is nothing to compare with
	}
	float weight = weight_scale(record), inv = (float)(1.0 / delta);
	float reach = fmaxf(record->radius < 1e6f ? record->radius : 1.0f, 0.01f);
	FemVec3 change = vec_scale(vec_sub(record->whole.velocity, record->expected), record->whole.mass * inv);
	FemVec3 torque =
		vec_scale(tensor_product(record->whole.inertia, vec_sub(record->whole.spin, record->expected_spin)), inv);
	record->load = vec_limited(vec_add(record->load, vec_limited(change, LOAD_STEP * weight)), LOAD_MAX * weight);
	record->load_torque = vec_limited(
		vec_add(record->load_torque, vec_limited(torque, LOAD_STEP * weight * reach)), LOAD_MAX * weight * reach);
}

// ---- giving

static void say_clamped(Coupling *coupling, const RigidRecord *record) {
	if (coupling->said_clamped) {
		return;
	}
	coupling->said_clamped = true;
	char name[128];
	rigid_name(record, name, sizeof(name));
	report_warning(
		"Destructibles pushed %s harder than is sound, and the force was limited; bodies that stand deep in each "
		"other cause this, as do masses a million times apart. This is said once.",
		name);
}

static void give(Coupling *coupling, RigidRecord *record, FemVec3 force, FemVec3 torque) {
	float weight = record->mass * fmaxf(vec_length(record->gravity), REST_GRAVITY),
		  reach = fmaxf(record->thickness, 0.01f);
	if (simulation_settings()->overlap && !reading_is_alive(record)) {
		return; // it went while the step ran
	}
	record->force = vec_add(record->force, force);
	record->torque = vec_add(record->torque, torque);
	if (vec_length(force) > QUIET_SHARE * weight) {
		gd_physics_server3d_body_apply_central_force(record->rid, vec_to_godot(force));
	}
	if (vec_length(torque) > QUIET_SHARE * weight * fminf(reach, 1.0f)) {
		gd_physics_server3d_body_apply_torque(record->rid, vec_to_godot(torque));
	}
	coupling->force_count++;
}

static FemVec3 offset_between(FemPosition a, FemPosition b) {
	return (FemVec3){(float)(b.x - a.x), (float)(b.y - a.y), (float)(b.z - a.z)};
}

// A share of a body's mass, moving with the whole: what it takes to change the velocity and spin of the whole by
// `change` and `spin_change`, and the bracing.
static void move_along(const RigidRecord *record, const RigidRecord *body, FemVec3 change, FemVec3 spin_change,
	double delta, FemVec3 *out_force, FemVec3 *out_torque) {
	const RigidWhole *whole = &record->whole;
	float inv = (float)(1.0 / delta), brace = record->rider_count > 0 ? fminf(BRACE_RATE * (float)delta, 0.5f) : 0.0f;
	FemVec3 arm = offset_between(whole->center, body->frame.position);
	FemVec3 aside = vec_sub(vec_add(whole->velocity, vec_cross(whole->spin, arm)), body->velocity);
	change = vec_add(change, vec_add(vec_cross(spin_change, arm), vec_scale(aside, brace)));
	spin_change = vec_add(spin_change, vec_scale(vec_sub(whole->spin, body->spin), brace));
	float share = body == record ? 1.0f : 1.0f / (float)body->support_count;
	*out_force = vec_scale(change, share * body->mass * inv);
	*out_torque = vec_scale(rigid_times_inertia(body, spin_change), share * inv);
}

// Shares out the changes of the whole's velocity (m/s) and spin (rad/s) in this tick.
static void share_out(Coupling *coupling, RigidRecord *record, FemVec3 change, FemVec3 spin_change, double delta) {
	FemVec3 arm = offset_between(record->whole.center, record->frame.position), force, torque;
	move_along(record, record, change, spin_change, delta, &force, &torque);
	force = vec_sub(force, vec_scale(record->gravity, record->mass));
	force = vec_sub(force, record->load);
	torque = vec_add(torque, vec_sub(vec_cross(arm, record->load), record->load_torque));
	float share = fminf(1.0f, BORNE_MAX / fmaxf((float)record->rider_count, 1.0f));
	for (int32_t i = 0; i < record->rider_count; i++) {
		RigidRecord *rider = record->riders[i];
		float mass = rider->mass / (float)rider->support_count;
		FemVec3 offset = offset_between(record->frame.position, rider->frame.position), rider_force, rider_torque;
		FemVec3 held = vec_scale(record->gravity, -mass * (1.0f - share * rider->settled));
		FemVec3 borne = vec_scale(record->gravity, -mass * share * rider->settled);
		move_along(record, rider, change, spin_change, delta, &rider_force, &rider_torque);
		give(coupling, rider, vec_add(rider_force, held), rider_torque);
		force = vec_add(force, borne);
		torque = vec_add(torque, vec_cross(offset, borne));
	}
	give(coupling, record, force, torque);
}

// ---- taking

// Sleepers are left alone while what they feel is what they felt, and they are not still being pushed out of something:
// a force would wake them.
static bool may_sleep_on(const RigidRecord *record, FemVec3 force, FemVec3 velocity) {
	FemVec3 rest = vec_scale(vec_add(weight_of(record), record->load), -1.0f);
	return record->is_asleep && vec_length(velocity) < PUSHED_SPEED &&
		vec_length(vec_sub(force, rest)) < WAKE_SHARE * (weight_scale(record) + vec_length(record->load));
}

// With one substep there is nothing to carry but rounding.
static FemVec3 without_noise(FemVec3 carry) {
	return vec_length(carry) > CARRY_MIN ? carry : (FemVec3){0};
}

static void take(Coupling *coupling, RigidRecord *record, const FemColliderResult *result, double delta) {
	float inv = (float)(1.0 / delta);
	FemVec3 mean = vec_scale(result->translation, inv), mean_spin = vec_scale(result->rotation_vector, inv);
	FemVec3 change = vec_sub(mean, record->whole.velocity), spin_change = vec_sub(mean_spin, record->whole.spin);
	FemVec3 force = vec_sub(vec_scale(change, record->whole.mass * inv), vec_add(weight_of(record), record->load));
	record->carry = record->carry_spin = (FemVec3){0};
	record->expected = record->whole.velocity;
	record->expected_spin = record->whole.spin;
	if (may_sleep_on(record, force, mean)) {
		return;
	}
	if (record->is_asleep) {
		groups_wake_riders(record);
	}
	if (!isfinite(vec_dot(change, change) + vec_dot(spin_change, spin_change))) {
		say_clamped(coupling, record);
		return;
	}
	if (vec_length(change) > CHANGE_MAX || vec_length(spin_change) > SPIN_MAX) {
		say_clamped(coupling, record);
		change = vec_limited(change, CHANGE_MAX);
		spin_change = vec_limited(spin_change, SPIN_MAX);
	} else {
		record->carry = without_noise(vec_sub(result->linear_velocity, mean));
		record->carry_spin = without_noise(vec_sub(result->angular_velocity, mean_spin));
	}
	share_out(coupling, record, change, spin_change, delta);
	record->expected = vec_add(record->whole.velocity, change);
	record->expected_spin = vec_add(record->whole.spin, spin_change);
}

// Bodies that move as they are told are handed nothing; what pushed them can be asked all the same.
static void read_push(RigidRecord *record, double delta) {
	record->force = (FemVec3){0};
	for (int32_t i = 0; i < record->shape_count; i++) {
		FemColliderResult result;
		if (record->shapes[i].collider.index1 &&
			fem_collider_get_result(record->shapes[i].collider, &result) == FEM_OK) {
			record->force = vec_add(record->force, vec_scale(result.impulse, (float)(1.0 / delta)));
		}
	}
}

void rigid_take_force(Coupling *coupling, RigidRecord *record, double delta) {
	FemColliderResult result;
	record->is_new = false;
	if (record->kind != RIGID_DYNAMIC) {
		read_push(record, delta);
	}
	if (record->kind != RIGID_DYNAMIC || fem_collider_get_result(rigid_leader(record), &result) != FEM_OK) {
		forget(record);
		return;
	}
	bool has_carry = vec_dot(record->carry, record->carry) + vec_dot(record->carry_spin, record->carry_spin) > 0.0f;
	bool touches = result.contact_count > 0 || vec_dot(result.impulse, result.impulse) > 0.0f;
	if (!touches && !has_carry) {
		groups_wake(coupling, record);
		lose_touch(record, delta);
		return;
	}
	record->lost_time = 0.0f;
	take(coupling, record, &result, delta);
	record->touch_time = record->was_touching ? record->touch_time + (float)delta : (float)delta;
	record->was_touching = touches;
}
