// Where Godot's bodies are and how they move, as the engine is told before a step.
#include "coupling/piece_proxies.h"
#include "coupling/rigid_reading.h"

#include "binding/conversions.h"

#include <math.h>
#include <string.h>

// Bounds on what the engine is told of; chosen: beyond what games do on purpose.
#define SPEED_MAX 400.0f      // m/s; what is faster is taken for this fast
#define SPIN_MAX 200.0f       // rad/s
#define TELEPORT_SPEED 100.0f // m/s: what is moved by script farther than this in a tick is set there, not swept
#define MASS_MIN 1e-4f        // kg: lighter bodies, and ...
#define MASS_MAX 1e9f         // ... heavier ones, move as they do, whatever they touch
#define STANDING 0.6f         // cosine between up and the normal of what one stands on
#define CHARACTER_MASS 80.0f  // kg, at most

// ---- reading

static RigidKind kind_of(const RigidRecord *record) {
	switch (record->mode) {
	case GD_PHYSICS_SERVER3D_BODY_MODE_STATIC: return RIGID_STATIC;
	case GD_PHYSICS_SERVER3D_BODY_MODE_KINEMATIC: break;
	default: return RIGID_DYNAMIC;
	}
	GDExtensionObjectPtr object = reading_node(record);
	return object && object_cast(object, "CharacterBody3D") ? RIGID_CHARACTER : RIGID_KINEMATIC;
}

static FemPosition position_of(GdVector3 v) {
	return (FemPosition){(double)v.x, (double)v.y, (double)v.z};
}

// Velocities from the displacement of the last tick. A body that was set elsewhere does not sweep through what lies
// between.
static void derive_velocity(RigidRecord *record, const Frame *last, double delta) {
	FemPosition a = last->position, b = record->frame.position;
	float inv = (float)(1.0 / delta);
	FemVec3 displacement = {(float)(b.x - a.x), (float)(b.y - a.y), (float)(b.z - a.z)};
	record->velocity = vec_scale(displacement, inv);
	record->spin = vec_limited(vec_scale(quat_rotation_between(last->rotation, record->frame.rotation), inv), SPIN_MAX);
	if (record->is_new || vec_length(record->velocity) > TELEPORT_SPEED) {
		record->velocity = record->spin = (FemVec3){0};
	}
}

// m/s into a destructible that a character was stopped at in its last move: its own sweep ends at the kinematic bodies
// that stand for pieces, so what it still wanted to go is how it pushes.
static FemVec3 blocked_velocity(RigidRecord *record, GDExtensionObjectPtr character, double delta) {
	FemVec3 sum = {0}, up = vec_from(gd_character_body3d_get_up_direction(character));
	record->stands_on_piece = false;
	int64_t count = gd_character_body3d_get_slide_collision_count(character);
	for (int64_t i = 0; i < count && i < 8; i++) {
		GDExtensionObjectPtr collision = gd_character_body3d_get_slide_collision(character, i);
		if (!collision) {
			continue;
		}
		FemVec3 rest = vec_from(gd_kinematic_collision3d_get_remainder(collision));
		FemVec3 normal = vec_from(gd_kinematic_collision3d_get_normal(collision, 0));
		float into = -vec_dot(rest, normal);
		if (piece_proxies_own((uint64_t)gd_kinematic_collision3d_get_collider_id(collision, 0))) {
			record->stands_on_piece |= vec_dot(normal, up) > STANDING;
			sum = into > 0.0f ? vec_sub(sum, vec_scale(normal, into / (float)delta)) : sum;
		}
		object_unreference(collision);
	}
	return vec_limited(sum, 10.0f);
}

static void read_driven(RigidRecord *record, const GdTransform3D *transform, double delta) {
	Frame last = record->frame;
	record->frame = frame_from_axes(position_of(transform->origin), &transform->basis);
	record->velocity = record->spin = (FemVec3){0};
	if (record->kind == RIGID_STATIC) {
		return;
	}
	derive_velocity(record, &last, delta);
	GDExtensionObjectPtr object = reading_node(record);
	if (record->kind == RIGID_CHARACTER && object) {
		record->velocity = vec_add(record->velocity, blocked_velocity(record, object, delta));
	}
	record->mass = CHARACTER_MASS;
	record->inertia = (FemVec3){1e6f, 1e6f, 1e6f}; // characters do not rotate by being pushed
}

static float sound_inertia(float inverse, float mass) {
	float low = 1e-7f * mass, high = 1e4f * fmaxf(mass, 1.0f);
	float inertia = inverse > 0.0f ? 1.0f / inverse : high;
	return inertia < low ? low : inertia > high || !(inertia == inertia) ? high : inertia;
}

// False when it has no usable mass: it then moves as it does, whatever it touches.
static bool read_dynamic(RigidRecord *record, GDExtensionObjectPtr state, const GdTransform3D *transform) {
	double inverse = gd_physics_direct_body_state3d_get_inverse_mass(state);
	float mass = inverse > 0.0 ? (float)(1.0 / inverse) : 0.0f;
	if (!(mass >= MASS_MIN && mass <= MASS_MAX)) {
		return false;
	}
	GdVector3 arm = gd_physics_direct_body_state3d_get_center_of_mass(state);
	GdVector3 inertia = gd_physics_direct_body_state3d_get_inverse_inertia(state);
	GdBasis axes = gd_physics_direct_body_state3d_get_principal_inertia_axes(state);
	FemPosition at = position_of(transform->origin);
	if (!vector3_is_finite(arm)) {
		return false;
	}
	record->frame =
		frame_from_axes((FemPosition){at.x + (double)arm.x, at.y + (double)arm.y, at.z + (double)arm.z}, &axes);
	FemVec3 found = {sound_inertia(inertia.x, mass), sound_inertia(inertia.y, mass), sound_inertia(inertia.z, mass)};
	if (mass != record->mass || memcmp(&found, &record->inertia, sizeof(found)) != 0) {
		rigid_drop_colliders(record); // the engine's have the old ones
	}
	record->mass = mass;
	record->inertia = found;
	record->velocity = vec_from(gd_physics_direct_body_state3d_get_linear_velocity(state));
	record->spin = vec_from(gd_physics_direct_body_state3d_get_angular_velocity(state));
	record->gravity = vec_from(gd_physics_direct_body_state3d_get_total_gravity(state));
	record->is_asleep = gd_physics_direct_body_state3d_is_sleeping(state);
	return isfinite(vec_dot(record->velocity, record->velocity) + vec_dot(record->spin, record->spin) +
		vec_dot(record->gravity, record->gravity));
}

// What the solve finds for a body is handed over in the next tick where steps overlap with drawing: the solve is told
// where it will be by then, with the force that it was handed in this one and its load.
static void look_ahead(RigidRecord *record, double delta) {
	float dt = (float)delta;
	if (record->is_asleep) {
		return;
	}
	FemVec3 pull = vec_add(vec_scale(record->gravity, record->mass), vec_add(record->force, record->load));
	FemQuat q = record->frame.rotation;
	FemVec3 torque = quat_rotate(quat_conjugate(q), vec_add(record->torque, record->load_torque));
	FemVec3 change = {torque.x / record->inertia.x, torque.y / record->inertia.y, torque.z / record->inertia.z};
	record->velocity = vec_add(record->velocity, vec_scale(pull, dt / record->mass));
	record->spin = vec_limited(vec_add(record->spin, vec_scale(quat_rotate(q, change), dt)), SPIN_MAX);
	FemPosition *at = &record->frame.position;
	FemVec3 v = vec_limited(record->velocity, SPEED_MAX);
	*at = (FemPosition){at->x + delta * (double)v.x, at->y + delta * (double)v.y, at->z + delta * (double)v.z};
	record->frame.rotation = quat_product(quat_from_rotation(vec_scale(record->spin, dt)), q);
}

// Bodies of nodes are asked whether they are still there; others are as long as the server tells of them.
static bool is_there(const Coupling *coupling, const RigidRecord *record, bool is_checked) {
	if (!record->object_id) {
		return true;
	}
	GDExtensionObjectPtr node = reading_node(record);
	return node && gd_node_is_inside_tree(node) && (!is_checked || reading_is_in_space(coupling, record));
}

static bool has_other_scale(const GdTransform3D *a, const GdTransform3D *b) {
	for (int k = 0; k < 3; k++) {
		const float *x = &a->basis.x.x + k, *y = &b->basis.x.x + k;
		float before = x[0] * x[0] + x[3] * x[3] + x[6] * x[6], now = y[0] * y[0] + y[3] * y[3] + y[6] * y[6];
		if (fabsf(now - before) > 1e-3f * (before + now)) {
			return true;
		}
	}
	return false;
}

// Most questions to a physics server with a thread of its own wait for that thread; the direct state does not. So what
// changes seldom is asked only when it is the body's turn.
bool rigid_read_motion(Coupling *coupling, RigidRecord *record, double delta, bool is_checked) {
	if (!is_there(coupling, record, is_checked)) {
		return false;
	}
	if (is_checked || record->is_new) {
		record->mode = reading_mode(record);
	}
	RigidKind kind = kind_of(record), before = record->kind;
	GDExtensionObjectPtr state = kind != RIGID_STATIC ? gd_physics_server3d_body_get_direct_state(record->rid) : NULL;
	GdTransform3D transform = state ? gd_physics_direct_body_state3d_get_transform(state) : reading_transform(record);
	Affine affine = affine_from(&transform);
	if (!affine_is_sound(&affine)) {
		rigid_drop_colliders(record);
		return true; // not to be touched while it stands nowhere
	}
	bool has_moved = memcmp(&transform, &record->transform, sizeof(transform)) != 0;
	if (has_moved && has_other_scale(&record->transform, &transform)) {
		rigid_drop_colliders(record);
	}
	record->transform = transform;
	record->kind = kind;
	record->is_asleep = false;
	if (kind == RIGID_DYNAMIC && (!state || !read_dynamic(record, state, &transform))) {
		record->kind = RIGID_KINEMATIC;
	}
	if (record->kind == RIGID_DYNAMIC && simulation_settings()->overlap) {
		look_ahead(record, delta);
	}
	if (record->kind != RIGID_DYNAMIC && (has_moved || record->is_new || kind != RIGID_STATIC)) {
		read_driven(record, &transform, delta);
	}
	if (record->kind == RIGID_STATIC) { // conveyor belts: the surface moves, the body does not
		reading_surface_motion(record, &record->velocity, &record->spin);
	}
	if (record->kind == RIGID_STATIC &&
		vec_dot(record->velocity, record->velocity) + vec_dot(record->spin, record->spin) > 0.0f) {
		record->kind = RIGID_KINEMATIC;
	}
	if (record->kind != before && !record->is_new) {
		rigid_drop_colliders(record);
	}
	return true;
}

// ---- handing over

// A character pushes with at most this force: its mass is chosen so that stopping it within the tick takes no more. On
// what it stands it puts a person's weight, but no more than that force. It does not rotate by being pushed.
static void set_character(Coupling *coupling, RigidRecord *record, FemColliderId leader, double delta) {
	float limit = (float)simulation_settings()->character_force, speed = vec_length(record->velocity);
	float most = fminf(CHARACTER_MASS, limit * (float)delta / fmaxf(speed, 1e-3f));
	FemVec3 g = fem_world_get_gravity(coupling->world->id);
	float length = vec_length(g);
	FemVec3 weight = length > 0.0f && record->stands_on_piece
		? vec_scale(g, fminf(limit, CHARACTER_MASS * length) / length)
		: (FemVec3){0};
	FemColliderMass mass = {.mass = fmaxf(most, MASS_MIN), .inertia = {1e6f, 1e6f, 1e6f}};
	fem_collider_set_mass(leader, &mass);
	fem_collider_set_force(leader, vec_sub(weight, vec_scale(g, mass.mass)), (FemVec3){0});
}

// The engine adds its own gravity to the mass.
static void set_mass_and_force(Coupling *coupling, const RigidRecord *record, FemColliderId leader) {
	const RigidWhole *whole = &record->whole;
	FemPosition a = record->frame.position, b = whole->center;
	FemColliderMass mass = {
		.mass = whole->mass, .center = {(float)(b.x - a.x), (float)(b.y - a.y), (float)(b.z - a.z)}};
	FemVec3 g = fem_world_get_gravity(coupling->world->id);
	memcpy(mass.inertia, whole->inertia, sizeof(mass.inertia));
	fem_collider_set_mass(leader, &mass);
	fem_collider_set_force(
		leader, vec_add(vec_scale(vec_sub(record->gravity, g), whole->mass), record->load), record->load_torque);
}

void rigid_hand_to_engine(Coupling *coupling, RigidRecord *record, double delta) {
	bool is_dynamic = record->kind == RIGID_DYNAMIC;
	FemVec3 velocity = is_dynamic ? vec_add(record->whole.velocity, record->carry) : record->velocity;
	FemVec3 spin = is_dynamic ? vec_add(record->whole.spin, record->carry_spin) : record->spin;
	velocity = vec_limited(velocity, SPEED_MAX);
	spin = vec_limited(spin, SPIN_MAX);
	FemColliderId leader = rigid_leader(record);
	for (int32_t i = 0; i < record->shape_count; i++) {
		if (record->shapes[i].collider.index1) {
			fem_collider_set_motion(
				record->shapes[i].collider, record->frame.position, record->frame.rotation, velocity, spin);
		}
	}
	if (record->kind == RIGID_CHARACTER && leader.index1) {
		set_character(coupling, record, leader, delta);
	} else if (is_dynamic && leader.index1) {
		set_mass_and_force(coupling, record, leader);
	}
}
