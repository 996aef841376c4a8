// Who stands on whom among Godot's bodies, and when all of them may sleep.
//
// A body on a destructible that carries others feels their weight, and they move with it. The physics server does not
// tell who touches whom without changing settings that belong to the user; so the bodies around one that bears more
// than itself are asked for, a few times a second, and those above it that move along are taken for its riders, and
// theirs.
#include "coupling/rigid_reading.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	RIDERS_MAX = 64,
	HITS_MAX = 32,
	LOOKS_A_TICK = 8,
};
// Times, speeds and shares by which bodies count as standing on each other; chosen.
#define LOOK_TIME 0.1     // s, between two looks at who stands on a body
#define FRESH_TIME 0.5    // s, after coming to touch, in which a body is looked at though it bears nothing yet
#define STILL_TIME 0.5    // s, for which all of a group must be still before they are put to sleep
#define TOUCH_MARGIN 0.02 // m, as large as the slop of the physics engines
#define ALONG_SPEED 0.7f  // m/s, against the one beneath: what is faster does not stand
#define ALONG_TICKS 3.0f  // or as fast as falling for so many ticks makes it
#define ABOVE_SHARE 0.15f // of the distance between two centres that must be vertical
#define SETTLE_TIME 0.4   // s, in which a rider's weight goes over to the one beneath
#define LOOK_LOAD 0.15f   // of its weight: a load downwards that is worth a look
#define FALL_TIME 0.0167  // s, of free fall that a body starts with when its support is gone (groups_wake())
#define STILL_SPEED 0.04f // m/s, below which a body counts as still
#define STILL_SPIN 0.1f   // rad/s, the same

// ---- masses

FemVec3 tensor_product(const float i[6], FemVec3 w) {
	return (FemVec3){i[0] * w.x + i[3] * w.y + i[5] * w.z, i[3] * w.x + i[1] * w.y + i[4] * w.z,
		i[5] * w.x + i[4] * w.y + i[2] * w.z};
}

static FemVec3 tensor_solve(const float i[6], FemVec3 l) {
	double a = (double)i[0], b = (double)i[1], c = (double)i[2], d = (double)i[3], e = (double)i[4], f = (double)i[5];
	double m00 = b * c - e * e, m01 = f * e - d * c, m02 = d * e - f * b, m11 = a * c - f * f, m12 = d * f - a * e,
		   m22 = a * b - d * d;
	double det = a * m00 + d * m01 + f * m02, inv = det > 0.0 ? 1.0 / det : 0.0;
	double x = (double)l.x, y = (double)l.y, z = (double)l.z;
	return (FemVec3){(float)(inv * (m00 * x + m01 * y + m02 * z)), (float)(inv * (m01 * x + m11 * y + m12 * z)),
		(float)(inv * (m02 * x + m12 * y + m22 * z))};
}

// kg m^2, in the world's axes.
static void own_inertia(const RigidRecord *record, float out[6]) {
	Affine r = affine_from_frame(&record->frame);
	const float *d = &record->inertia.x;
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		double on = 0.0, off = 0.0;
		for (int k = 0; k < 3; k++) {
			on += r.m[i][k] * (double)d[k] * r.m[i][k];
			off += r.m[i][k] * (double)d[k] * r.m[j][k];
		}
		out[i] = (float)on;
		out[i + 3] = (float)off;
	}
}

FemVec3 rigid_times_inertia(const RigidRecord *record, FemVec3 w) {
	float inertia[6];
	own_inertia(record, inertia);
	return tensor_product(inertia, w);
}

static FemVec3 from_center(const RigidWhole *whole, const RigidRecord *record) {
	FemPosition a = whole->center, b = record->frame.position;
	return (FemVec3){(float)(b.x - a.x), (float)(b.y - a.y), (float)(b.z - a.z)};
}

// Adds a body's inertia and angular momentum about the middle of the whole.
static void add_angular(RigidWhole *whole, const RigidRecord *record, float share, FemVec3 *momentum) {
	float inertia[6], m = share * record->mass;
	FemVec3 r = from_center(whole, record), v = vec_sub(record->velocity, whole->velocity);
	own_inertia(record, inertia);
	*momentum = vec_add(*momentum, vec_scale(tensor_product(inertia, record->spin), share));
	*momentum = vec_add(*momentum, vec_scale(vec_cross(r, v), m));
	float squares[6] = {
		r.y * r.y + r.z * r.z, r.z * r.z + r.x * r.x, r.x * r.x + r.y * r.y, -r.x * r.y, -r.y * r.z, -r.z * r.x};
	for (int i = 0; i < 6; i++) {
		whole->inertia[i] += share * inertia[i] + m * squares[i];
	}
}

void rigid_add_up(RigidRecord *record) {
	RigidWhole whole = {.mass = record->mass};
	double moment[3] = {record->frame.position.x * (double)record->mass,
		record->frame.position.y * (double)record->mass, record->frame.position.z * (double)record->mass}; // kg m
	FemVec3 momentum = vec_scale(record->velocity, record->mass), angular = {0};
	for (int32_t i = 0; i < record->rider_count; i++) {
		const RigidRecord *rider = record->riders[i];
		float m = rider->mass / (float)rider->support_count;
		moment[0] += rider->frame.position.x * (double)m;
		moment[1] += rider->frame.position.y * (double)m;
		moment[2] += rider->frame.position.z * (double)m;
		momentum = vec_add(momentum, vec_scale(rider->velocity, m));
		whole.mass += m;
	}
	double inv = 1.0 / (double)whole.mass;
	whole.center = (FemPosition){moment[0] * inv, moment[1] * inv, moment[2] * inv};
	whole.velocity = vec_scale(momentum, (float)inv);
	add_angular(&whole, record, 1.0f, &angular);
	for (int32_t i = 0; i < record->rider_count; i++) {
		add_angular(&whole, record->riders[i], 1.0f / (float)record->riders[i]->support_count, &angular);
	}
	whole.spin = record->rider_count > 0 ? tensor_solve(whole.inertia, angular) : record->spin;
	record->whole = whole;
}

// ---- riders

static bool stands_on(const RigidRecord *above, const RigidRecord *below, FemVec3 up, float along_speed) {
	FemPosition a = below->frame.position, b = above->frame.position;
	FemVec3 offset = {(float)(b.x - a.x), (float)(b.y - a.y), (float)(b.z - a.z)};
	FemVec3 along = vec_add(below->velocity, vec_cross(below->spin, offset));
	return above->kind == RIGID_DYNAMIC && !above->was_touching &&
		vec_dot(offset, up) > ABOVE_SHARE * vec_length(offset) &&
		vec_length(vec_sub(above->velocity, along)) < along_speed;
}

static bool is_among(RigidRecord *const *list, int32_t count, const RigidRecord *record) {
	for (int32_t i = 0; i < count; i++) {
		if (list[i] == record) {
			return true;
		}
	}
	return false;
}

// Adds to the list what touches `below` and stands on it.
static int32_t look_above(Coupling *coupling, const RigidRecord *bottom, const RigidRecord *below, FemVec3 up,
	RigidRecord **list, int32_t count) {
	float along = fmaxf(ALONG_SPEED, ALONG_TICKS * (float)coupling->delta * vec_length(bottom->gravity));
	for (int32_t s = 0; s < below->shape_count; s++) {
		GdRID hits[HITS_MAX];
		if (below->shapes[s].is_disabled || !is_same_rid(reading_shape(below, s).rid, below->shapes[s].source->rid)) {
			continue; // swapped since it was read: the one before may be gone
		}
		int32_t found = discovery_touching(coupling, below, &below->shapes[s], TOUCH_MARGIN, hits, HITS_MAX);
		for (int32_t i = 0; i < found && count < RIDERS_MAX; i++) {
			RigidRecord *hit = rigid_find(coupling, hits[i]);
			if (hit && hit != bottom && hit != below && stands_on(hit, below, up, along) &&
				!is_among(list, count, hit)) {
				list[count++] = hit;
			}
		}
	}
	return count;
}

static void set_riders(RigidRecord *record, RigidRecord **list, int32_t count) {
	bool same = count == record->rider_count;
	for (int32_t i = 0; i < count && same; i++) {
		same = is_among(record->riders, record->rider_count, list[i]);
	}
	if (same) {
		return;
	}
	if (count > record->rider_capacity) {
		RigidRecord **riders = realloc(record->riders, (size_t)count * sizeof(*riders));
		if (!riders) {
			return;
		}
		record->riders = riders;
		record->rider_capacity = count;
	}
	if (count > 0) {
		memcpy(record->riders, list, (size_t)count * sizeof(*list));
	}
	record->rider_count = count;
	record->has_other_riders = true;
	record->load = record->load_torque = (FemVec3){0}; // it was theirs
}

static void find_riders(Coupling *coupling, RigidRecord *record) {
	float g = vec_length(record->gravity);
	RigidRecord *list[RIDERS_MAX];
	int32_t count = 0;
	if (g > 0.1f) {
		FemVec3 up = vec_scale(record->gravity, -1.0f / g);
		count = look_above(coupling, record, record, up, list, 0);
		for (int32_t i = 0; i < count; i++) {
			count = look_above(coupling, record, list[i], up, list, count);
		}
	}
	set_riders(record, list, count);
}

// When it comes to touch, for what comes down with it; then in turn for a while, and as long as it carries something or
// bears more than itself.
static bool is_worth_a_look(const Coupling *coupling, const RigidRecord *record, int32_t index, double delta) {
	if (!record->was_touching || record->is_asleep || record->kind != RIGID_DYNAMIC) {
		return false;
	}
	uint32_t pause = (uint32_t)fmax(1.0, round(LOOK_TIME / delta));
	bool is_due = (coupling->tick + (uint32_t)index) % pause == 0;
	float down = vec_dot(record->load, record->gravity), own = record->mass * vec_dot(record->gravity, record->gravity);
	bool is_fresh = record->touch_time <= 1.5f * (float)delta || (is_due && record->touch_time < (float)FRESH_TIME);
	return record->rider_count > 0 ? is_due : is_fresh || down > LOOK_LOAD * own;
}

static bool is_parted(const RigidRecord *record) {
	bool is_lost = !record->was_touching && record->lost_time > RIGID_LOST_TIME;
	return is_lost || !record->has_colliders || record->kind != RIGID_DYNAMIC;
}

void groups_update(Coupling *coupling, double delta) {
	float settling = (float)(delta / SETTLE_TIME);
	int32_t looks = LOOKS_A_TICK;
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		record->has_other_riders = false;
		if (looks > 0 && is_worth_a_look(coupling, record, i, delta)) {
			looks--;
			find_riders(coupling, record);
		} else if (record->rider_count > 0 && is_parted(record)) {
			set_riders(record, NULL, 0);
		}
		record->support_count = 0;
	}
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		for (int32_t k = 0; k < record->rider_count; k++) {
			record->riders[k]->support_count++;
		}
	}
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		record->settled = record->support_count > 0 ? fminf(1.0f, record->settled + settling) : 0.0f;
	}
}

void groups_forget(Coupling *coupling, const RigidRecord *record) {
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *other = coupling->records[i];
		for (int32_t k = other->rider_count - 1; k >= 0; k--) {
			if (other->riders[k] == record) {
				other->riders[k] = other->riders[--other->rider_count];
				other->has_other_riders = true;
			}
		}
	}
}

// ---- sleep

static bool is_still(const RigidRecord *record) {
	return record->kind != RIGID_DYNAMIC ||
		(vec_length(record->velocity) < STILL_SPEED && vec_length(record->spin) < STILL_SPIN);
}

static void set_awake(RigidRecord *record) {
	GdVariant no = make_variant_bool(false);
	gd_physics_server3d_body_set_state(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_SLEEPING, &no);
	variant_free(&no);
	record->is_asleep = false;
}

// What carries them moves again; those without a node may be gone.
void groups_wake_riders(RigidRecord *record) {
	for (int32_t i = 0; i < record->rider_count; i++) {
		RigidRecord *rider = record->riders[i];
		if (rider->is_asleep && rider->object_id && godot.object_get_instance_from_id(rider->object_id)) {
			set_awake(rider);
		}
	}
}

// One that left its space with its node can be neither woken nor pushed: when a level goes, a rigid body may leave
// before what it rests on does.
static bool can_be_woken(const RigidRecord *record) {
	GDExtensionObjectPtr node = reading_node(record);
	return record->object_id ? node && gd_node_is_inside_tree(node) : reading_is_alive(record);
}

// What it rested on is gone. GodotPhysics puts a body to sleep again at once that is slow after its first tick awake,
// as one is that has fallen for 1/100 s: so it starts as if it had been falling for FALL_TIME.
void groups_wake(const Coupling *coupling, RigidRecord *record) {
	if (!record->is_asleep || !record->was_touching || !can_be_woken(record)) {
		return;
	}
	set_awake(record);
	float ahead = (float)fmax(0.0, FALL_TIME - coupling->delta);
	if (ahead > 0.0f) {
		GdVector3 impulse = vec_to_godot(vec_scale(record->gravity, ahead * record->mass));
		gd_physics_server3d_body_apply_central_impulse(record->rid, impulse);
	}
}

// By its node where it has one: Jolt does not tell nodes of bodies that were put to sleep.
static void put_to_sleep(RigidRecord *record) {
	GDExtensionObjectPtr object = reading_node(record);
	record->is_asleep = true;
	if (object && object_cast(object, "RigidBody3D")) {
		gd_rigid_body3d_set_sleeping(object, true);
		return;
	}
	GdVariant yes = make_variant_bool(true);
	gd_physics_server3d_body_set_state(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_SLEEPING, &yes);
	variant_free(&yes);
}

// A body that is handed a force each tick never falls asleep by itself. It, and what it carries, are put to sleep
// together: one that is awake would wake the others.
void groups_sleep(RigidRecord *record, double delta) {
	bool still = record->was_touching && is_still(record);
	for (int32_t i = 0; i < record->rider_count; i++) {
		still = still && is_still(record->riders[i]);
	}
	record->still_time = still ? record->still_time + (float)delta : 0.0f;
	if (record->still_time < (float)STILL_TIME || record->is_asleep) {
		return;
	}
	record->still_time = (float)(0.5 * STILL_TIME); // if it does not work, not at once again
	bool can = reading_can_sleep(record);
	for (int32_t i = 0; i < record->rider_count; i++) {
		can = can && reading_can_sleep(record->riders[i]);
	}
	if (!can) {
		return;
	}
	put_to_sleep(record);
	for (int32_t i = 0; i < record->rider_count; i++) {
		put_to_sleep(record->riders[i]);
	}
}
