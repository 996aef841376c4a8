// Who stands on whom among Godot's bodies, and when all of them may sleep.
//
// A body on a destructible that carries others feels their weight, and they move with it. The physics server does not
// tell who touches whom without changing settings that belong to the user; so the bodies around one that bears more than
// itself are asked for, a few times a second, and those above it that move along are taken for its riders, and theirs.
#include "coupling/rigid_records.h"

#include "conversions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	RIDERS_MAX = 64,
	LOOK_TICKS = 6, // between two looks at who stands on a body
	HITS_MAX = 32,
	STILL_TICKS = 30, // for which all of a group must be still before they are put to sleep
};
#define TOUCH_MARGIN 0.02 // m, as large as the slop of the physics engines
#define ALONG_SPEED 0.7f  // m/s, against the one beneath: what is faster does not stand
#define ABOVE_SHARE 0.15f // of the way between two middles that must lead up
#define SETTLE_STEP 0.04f // of a rider's weight that goes over to the one beneath in a tick
#define LOOK_LOAD 0.15f   // of its weight: a load downwards that is worth a look
#define STILL_SPEED 0.04f // m/s
#define STILL_SPIN 0.1f   // rad/s

// ----------------------------------------------------------------------------------------------------------------- masses

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

// World axes.
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
static void add_turning(RigidWhole *whole, const RigidRecord *record, float share, FemVec3 *momentum) {
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
	FemPosition sum = {record->frame.position.x * (double)record->mass, record->frame.position.y * (double)record->mass,
		record->frame.position.z * (double)record->mass};
	FemVec3 momentum = vec_scale(record->velocity, record->mass), angular = {0};
	for (int32_t i = 0; i < record->rider_count; i++) {
		const RigidRecord *rider = record->riders[i];
		float m = rider->mass / (float)rider->support_count;
		sum.x += rider->frame.position.x * (double)m;
		sum.y += rider->frame.position.y * (double)m;
		sum.z += rider->frame.position.z * (double)m;
		momentum = vec_add(momentum, vec_scale(rider->velocity, m));
		whole.mass += m;
	}
	double inv = 1.0 / (double)whole.mass;
	whole.center = (FemPosition){sum.x * inv, sum.y * inv, sum.z * inv};
	whole.velocity = vec_scale(momentum, (float)inv);
	add_turning(&whole, record, 1.0f, &angular);
	for (int32_t i = 0; i < record->rider_count; i++) {
		add_turning(&whole, record->riders[i], 1.0f / (float)record->riders[i]->support_count, &angular);
	}
	whole.spin = record->rider_count > 0 ? tensor_solve(whole.inertia, angular) : record->spin;
	record->whole = whole;
}

// ----------------------------------------------------------------------------------------------------------------- riders

static bool stands_on(const RigidRecord *above, const RigidRecord *below, FemVec3 up) {
	FemPosition a = below->frame.position, b = above->frame.position;
	FemVec3 way = {(float)(b.x - a.x), (float)(b.y - a.y), (float)(b.z - a.z)};
	FemVec3 along = vec_add(below->velocity, vec_cross(below->spin, way));
	return above->kind == RIGID_DYNAMIC && !above->was_touching && vec_dot(way, up) > ABOVE_SHARE * vec_length(way) &&
		vec_length(vec_sub(above->velocity, along)) < ALONG_SPEED;
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
	for (int32_t s = 0; s < below->shape_count; s++) {
		GdRID hits[HITS_MAX];
		if (below->shapes[s].is_disabled) {
			continue;
		}
		int32_t found = discovery_touching(coupling, below, &below->shapes[s], TOUCH_MARGIN, hits, HITS_MAX);
		for (int32_t i = 0; i < found && count < RIDERS_MAX; i++) {
			RigidRecord *hit = rigid_find(coupling, hits[i]);
			if (hit && hit != bottom && hit != below && stands_on(hit, below, up) && !is_among(list, count, hit)) {
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

static bool is_worth_a_look(const Coupling *coupling, const RigidRecord *record, int32_t index) {
	bool is_turn = (coupling->tick + (uint32_t)index) % LOOK_TICKS == 0;
	float down = vec_dot(record->load, record->gravity), own = record->mass * vec_dot(record->gravity, record->gravity);
	return record->was_touching && !record->is_asleep && (record->rider_count > 0 ? is_turn : down > LOOK_LOAD * own);
}

void groups_update(Coupling *coupling) {
	for (int32_t i = 0; i < coupling->count; i++) {
		RigidRecord *record = coupling->records[i];
		record->has_other_riders = false;
		if (is_worth_a_look(coupling, record, i)) {
			find_riders(coupling, record);
		} else if (record->rider_count > 0 && (!record->was_touching || record->kind != RIGID_DYNAMIC)) {
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
		record->settled = record->support_count > 0 ? fminf(1.0f, record->settled + SETTLE_STEP) : 0.0f;
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

// ------------------------------------------------------------------------------------------------------------------ sleep

static bool is_still(const RigidRecord *record) {
	return record->kind != RIGID_DYNAMIC ||
		(vec_length(record->velocity) < STILL_SPEED && vec_length(record->spin) < STILL_SPIN);
}

static bool can_sleep(GdRID rid) {
	GDExtensionBool can = 0;
	GdVariant value = gd_physics_server3d_body_get_state(rid, GD_PHYSICS_SERVER3D_BODY_STATE_CAN_SLEEP);
	bool is_bool = variant_to(&value, GDEXTENSION_VARIANT_TYPE_BOOL, &can);
	variant_free(&value);
	return is_bool && can;
}

// What it rested on is gone.
void groups_wake(RigidRecord *record) {
	if (!record->is_asleep || !record->was_touching ||
		(record->object_id && !godot.object_get_instance_from_id(record->object_id))) {
		return;
	}
	GdVariant no = make_variant_bool(false);
	gd_physics_server3d_body_set_state(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_SLEEPING, &no);
	variant_free(&no);
	record->is_asleep = false;
}

// By its node where it has one: Jolt does not tell nodes of bodies that were put to sleep.
static void put_to_sleep(RigidRecord *record) {
	GDExtensionObjectPtr object = record->object_id ? godot.object_get_instance_from_id(record->object_id) : NULL;
	record->is_asleep = true;
	if (object && object_cast(object, "RigidBody3D")) {
		gd_rigid_body3d_set_sleeping(object, true);
		return;
	}
	GdVariant yes = make_variant_bool(true);
	gd_physics_server3d_body_set_state(record->rid, GD_PHYSICS_SERVER3D_BODY_STATE_SLEEPING, &yes);
	variant_free(&yes);
}

// A body that is handed a force each tick never falls asleep by itself. It, and what it carries, are put to sleep together:
// one that is awake would wake the others.
void groups_sleep(RigidRecord *record) {
	bool still = record->was_touching && is_still(record);
	for (int32_t i = 0; i < record->rider_count; i++) {
		still = still && is_still(record->riders[i]);
	}
	record->still_ticks = still ? record->still_ticks + 1 : 0;
	if (record->still_ticks < STILL_TICKS || record->is_asleep) {
		return;
	}
	record->still_ticks = STILL_TICKS / 2; // if it does not work, not at once again
	bool can = can_sleep(record->rid);
	for (int32_t i = 0; i < record->rider_count; i++) {
		can = can && can_sleep(record->riders[i]->rid);
	}
	if (!can) {
		return;
	}
	put_to_sleep(record);
	for (int32_t i = 0; i < record->rider_count; i++) {
		put_to_sleep(record->riders[i]);
	}
}
