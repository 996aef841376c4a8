// What the solve did to dynamic bodies, handed to Godot as one force and one torque a tick.
//
// The force leads Godot's integrator to where the solve put the collider: with vb = way / dt, F = m ((vb - v0) / dt - g)
// less the load. Over several substeps the velocity at the end is another than vb; the difference (carry) goes into the
// collider's velocity at the start of the next tick, so that no momentum is lost. With one substep F is the contact
// impulse over dt.
//
// The load is what the solve does not see: other bodies on top, joints. It is observed: what the velocity found is beside
// the one expected. A box under nine others would else sink at 9 g dt. A blow shows in the same way for one tick, and
// would be answered twice; so the load grows by no more than a few times the body's weight in a tick.
#include "coupling/rigid_records.h"

#include "conversions.h"

#include <math.h>

#define LOAD_STEP 4.0f     // weights of the body by which the load may change in a tick
#define LOAD_MAX 300.0f    // weights
#define CHANGE_MAX 300.0f  // m/s that a force may change a body's velocity by in a tick
#define SPIN_MAX 300.0f    // rad/s, likewise
#define CARRY_MIN 1e-4f    // m/s, rad/s
#define WAKE_SHARE 0.25f   // of its weight: what differs from rest by more wakes a sleeper
#define REST_GRAVITY 9.81f // m/s^2, the weight that limits are taken of where there is none

// World axes from principal ones, and back.
static FemVec3 in_axes(FemQuat q, FemVec3 v) {
	FemVec3 u = {q.x, q.y, q.z}, t = vec_scale(vec_cross(u, v), 2.0f);
	return vec_add(v, vec_add(vec_scale(t, q.w), vec_cross(u, t)));
}

static FemVec3 times_inertia(const RigidRecord *record, FemVec3 w, bool inverse) {
	FemVec3 local = in_axes(quat_conjugate(record->frame.rotation), w), i = record->inertia;
	local = inverse ? (FemVec3){local.x / i.x, local.y / i.y, local.z / i.z}
					: (FemVec3){local.x * i.x, local.y * i.y, local.z * i.z};
	return in_axes(record->frame.rotation, local);
}

static FemColliderId leader_of(const RigidRecord *record) {
	for (int32_t i = 0; i < record->shape_count; i++) {
		if (record->shapes[i].collider.index1) {
			return record->shapes[i].collider;
		}
	}
	return (FemColliderId){0};
}

static void forget(RigidRecord *record) {
	record->load = record->load_torque = record->carry = record->carry_spin = (FemVec3){0};
	record->was_touching = false;
}

// ------------------------------------------------------------------------------------------------------------------- load

void rigid_observe_load(RigidRecord *record, double delta) {
	if (record->kind != RIGID_DYNAMIC || record->is_new || !record->was_touching) {
		forget(record);
		return;
	}
	if (record->is_asleep) {
		return; // rests as it did
	}
	float weight = record->mass * fmaxf(vec_length(record->gravity), REST_GRAVITY), inv = (float)(1.0 / delta);
	float reach = fmaxf(record->radius < 1e6f ? record->radius : 1.0f, 0.01f);
	FemVec3 change = vec_scale(vec_sub(record->velocity, record->expected), record->mass * inv);
	FemVec3 turn = vec_scale(times_inertia(record, vec_sub(record->spin, record->expected_spin), false), inv);
	record->load = vec_limited(vec_add(record->load, vec_limited(change, LOAD_STEP * weight)), LOAD_MAX * weight);
	record->load_torque = vec_limited(
		vec_add(record->load_torque, vec_limited(turn, LOAD_STEP * weight * reach)), LOAD_MAX * weight * reach);
}

// ------------------------------------------------------------------------------------------------------------------ force

static void say_clamped(Coupling *coupling, const RigidRecord *record) {
	if (coupling->said_clamped) {
		return;
	}
	coupling->said_clamped = true;
	char name[128];
	rigid_name(record, name, sizeof(name));
	report_warning("Destructibles pushed %s harder than is sound, and the force was limited; bodies that "
				   "stand deep in each other cause this, as do masses a million times apart. This is said once.",
		name);
}

// A sleeper is left alone while what it feels is what it felt: a force would wake it.
static bool may_sleep_on(const RigidRecord *record, FemVec3 force) {
	FemVec3 rest = vec_sub(vec_scale(record->gravity, -record->mass), record->load);
	float weight = record->mass * fmaxf(vec_length(record->gravity), REST_GRAVITY);
	return record->is_asleep && vec_length(vec_sub(force, rest)) < WAKE_SHARE * (weight + vec_length(record->load));
}

static void hand_over(Coupling *coupling, RigidRecord *record, double delta) {
	float inv = (float)(1.0 / delta), dt = (float)delta;
	FemVec3 change = vec_scale(record->force, dt / record->mass), turn = times_inertia(record, record->torque, true);
	turn = vec_scale(turn, dt);
	bool is_bad = !isfinite(vec_dot(change, change) + vec_dot(turn, turn));
	if (is_bad || vec_length(change) > CHANGE_MAX || vec_length(turn) > SPIN_MAX) {
		say_clamped(coupling, record);
		change = is_bad ? (FemVec3){0} : vec_limited(change, CHANGE_MAX);
		turn = is_bad ? (FemVec3){0} : vec_limited(turn, SPIN_MAX);
		record->force = vec_scale(change, record->mass * inv);
		record->torque = vec_scale(times_inertia(record, turn, false), inv);
		record->carry = record->carry_spin = (FemVec3){0};
	}
	gd_physics_server3d_body_apply_central_force(record->rid, vec_to_godot(record->force));
	gd_physics_server3d_body_apply_torque(record->rid, vec_to_godot(record->torque));
	coupling->force_count++;
}

static void expect(RigidRecord *record, double delta) {
	float dt = (float)delta;
	FemVec3 sum = vec_add(record->force, record->load), torque = vec_add(record->torque, record->load_torque);
	record->expected = vec_add(record->velocity, vec_scale(vec_add(vec_scale(sum, 1.0f / record->mass), record->gravity), dt));
	record->expected_spin = vec_add(record->spin, vec_scale(times_inertia(record, torque, true), dt));
}

// With one substep there is nothing to carry but rounding.
static FemVec3 without_noise(FemVec3 carry) {
	return vec_length(carry) > CARRY_MIN ? carry : (FemVec3){0};
}

void rigid_take_force(Coupling *coupling, RigidRecord *record, double delta) {
	FemColliderResult result;
	record->force = record->torque = (FemVec3){0};
	record->is_new = false;
	if (record->kind != RIGID_DYNAMIC || fem_collider_get_result(leader_of(record), &result) != FEM_OK) {
		forget(record);
		return;
	}
	bool has_carry = vec_dot(record->carry, record->carry) + vec_dot(record->carry_spin, record->carry_spin) > 0.0f;
	bool touches = result.contact_count > 0 || vec_dot(result.impulse, result.impulse) > 0.0f;
	if (!touches && !has_carry) {
		forget(record);
		return;
	}
	float inv = (float)(1.0 / delta);
	FemVec3 mean = vec_scale(result.translation, inv), mean_spin = vec_scale(result.turn, inv);
	FemVec3 change = vec_sub(vec_scale(vec_sub(mean, record->velocity), inv), record->gravity);
	FemVec3 turn = vec_scale(vec_sub(mean_spin, record->spin), inv);
	record->force = vec_sub(vec_scale(change, record->mass), record->load);
	record->torque = vec_sub(times_inertia(record, turn, false), record->load_torque);
	record->was_touching = touches;
	if (may_sleep_on(record, record->force)) {
		record->carry = record->carry_spin = (FemVec3){0};
		record->expected = record->velocity;
		record->expected_spin = record->spin;
		return;
	}
	record->carry = without_noise(vec_sub(result.linear_velocity, mean));
	record->carry_spin = without_noise(vec_sub(result.angular_velocity, mean_spin));
	hand_over(coupling, record, delta);
	expect(record, delta);
}
