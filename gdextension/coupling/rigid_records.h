// One of Godot's bodies as the coupling knows it. For the coupling's own files.
#ifndef RIGID_RECORDS_H
#define RIGID_RECORDS_H

#include "coupling/coupling.h"
#include "coupling/rigid_math.h"
#include "coupling/shape_source.h"

#define RIGID_LOST_TIME 0.1f // s, without contact, after which a body on a destructible carries nothing any more

typedef enum RigidKind {
	RIGID_STATIC,
	RIGID_KINEMATIC, // moves as it is told: animatable and frozen bodies, and those without a usable mass
	RIGID_DYNAMIC,
	RIGID_CHARACTER, // moves as it is told, but pushes with a bounded force
} RigidKind;

typedef struct RigidShape {
	ShapeSource *source;
	uint32_t revision;   // of the source, when the collider was made
	GdTransform3D local; // in the body
	bool is_disabled;
	FemColliderId collider; // null: none, or refused
} RigidShape;

// A body and what it carries, moving as one.
typedef struct RigidWhole {
	float mass;             // kg
	FemPosition center;     // m
	FemVec3 velocity, spin; // m/s, rad/s
	float inertia[6];       // kg m^2, world axes: xx yy zz xy yz zx
} RigidWhole;

typedef struct RigidRecord {
	GdRID rid;
	uint64_t object_id; // of its CollisionObject3D; 0: it has none, and its RID may die without notice
	uint64_t owner_id;  // of whatever node the server names
	uint32_t seen_tick; // when it was last found
	int64_t mode;       // PhysicsServer3D.BodyMode
	RigidKind kind;
	uint32_t layer, mask;
	float friction, restitution;
	RigidShape *shapes; // the engine's leader is the first that has a collider
	int32_t shape_count;
	bool has_colliders, had_colliders; // now, ever
	bool is_excepted;                  // from touching what stands for our pieces
	bool said_refused;                 // the log was told that the engine refused one of its shapes
	int32_t far_ticks;                 // since it was last near a destructible
	float radius;    // m, around the frame's origin; infinite for world boundaries and before it is known
	float thickness; // m, of its thinnest shape
	// ---- as read in this tick
	bool is_asleep;
	bool is_new;             // has no last tick to compare with
	GdTransform3D transform; // of the body, scale included
	Frame frame;             // centre of mass and principal axes of dynamic bodies, else the body's own
	FemVec3 velocity, spin;  // m/s, rad/s
	FemVec3 gravity;         // m/s^2, as the physics server has it for this body
	float mass;              // kg
	FemVec3 inertia;         // kg m^2, principal
	// ---- who stands on it (rigid_groups.c)
	struct RigidRecord **riders; // bodies that it carries, and those that they carry
	int32_t rider_count, rider_capacity;
	bool has_other_riders; // than in the last tick
	int32_t support_count; // of bodies that it is a rider of
	float settled;         // 0..1: share of its weight that the one beneath bears
	float still_time;      // s, for which it and what it carries have been still
	RigidWhole whole;
	// ---- what the forces know of the last tick
	FemVec3 expected, expected_spin; // velocities that the last force should have led to
	FemVec3 carry, carry_spin;       // its velocities at the end of the solve less their means over the tick
	FemVec3 load, load_torque;       // what acts on it besides gravity and destructibles: others on top, joints
	FemVec3 force, torque;           // N, N m: handed over last
	bool was_touching;
	float touch_time, lost_time; // s, since it came to touch, and since it last touched
	bool stands_on_piece;        // a character
} RigidRecord;

struct Coupling {
	SimulationWorld *world;
	uint64_t serial; // names it in the list of nodes that couplings share
	uint32_t tick;
	RigidRecord **records;
	int32_t count, capacity;
	int32_t check_at; // the record whose shapes are looked at next
	ShapeCache shapes;
	uint32_t refresh_tick; // when a shape's data were last read again
	struct Discovery *discovery;
	struct PieceProxies *pieces;
	uint32_t standing_changes; // of StandingBodies, when they were last listed
	bool said_clamped;
	int32_t force_count; // of the last tick
	double delta;        // s, of the last tick
	double before_ms, ms;
};

static inline bool is_same_rid(GdRID a, GdRID b) {
	return a.opaque[0] == b.opaque[0];
}

// The record of a body, or null.
RigidRecord *rigid_find(const Coupling *coupling, GdRID rid);

// The same, made if it is new; null when memory is short. object_id as the physics server has it.
RigidRecord *rigid_enter(Coupling *coupling, GdRID rid, uint64_t object_id);
void rigid_except(Coupling *coupling, RigidRecord *record, bool except); // from touching what stands for our pieces
void rigid_name(const RigidRecord *record, char *buffer, int capacity);  // its node's path, for messages
void rigid_remove(Coupling *coupling, int32_t index);

// Colliders of a record's shapes: made anew from its frame, or gone. With `quietly` nothing beside them wakes.
void rigid_make_colliders(Coupling *coupling, RigidRecord *record, bool quietly);
void rigid_drop_colliders(RigidRecord *record);

// Reads shapes, layers, friction and restitution again; drops the colliders when something changed. False when the body
// is no longer usable.
bool rigid_read_shapes(Coupling *coupling, RigidRecord *record);

// ---- rigid_motion.c
// Reads where the body is and how it moves; false when it is gone.
bool rigid_read_motion(Coupling *coupling, RigidRecord *record, double delta, bool is_checked);
void rigid_hand_to_engine(Coupling *coupling, RigidRecord *record, double delta);

FemColliderId rigid_leader(const RigidRecord *record); // null: none

// ---- rigid_groups.c
void groups_update(Coupling *coupling, double delta);
void groups_forget(Coupling *coupling, const RigidRecord *record); // it is about to go
void groups_sleep(RigidRecord *record, double delta);
void groups_wake_riders(RigidRecord *record);
void groups_wake(const Coupling *coupling, RigidRecord *record);
void rigid_add_up(RigidRecord *record);                            // fills its `whole`
FemVec3 rigid_times_inertia(const RigidRecord *record, FemVec3 w); // its own
FemVec3 tensor_product(const float inertia[6], FemVec3 w);

// ---- rigid_forces.c
void rigid_observe_load(RigidRecord *record, double delta);
void rigid_take_force(Coupling *coupling, RigidRecord *record, double delta);

// ---- rigid_discovery.c
void discovery_update(Coupling *coupling, bool has_other_boxes); // than in the last tick: destructibles moved
void discovery_free(Coupling *coupling);
// RIDs of the bodies within `margin` (m) of a shape of a body; returns how many were written.
int32_t discovery_touching(Coupling *coupling, const RigidRecord *record, const RigidShape *shape, double margin,
	GdRID *out, int32_t capacity);
void discovery_find_in_sphere(Coupling *coupling, FemPosition center, float radius);
bool discovery_keeps(const Coupling *coupling, const RigidRecord *record);  // it moves, and is near or was not long ago
void discovery_forget(const Coupling *coupling, const RigidRecord *record); // its record is about to go
void discovery_forget_body(Coupling *coupling);                             // a destructible is about to go

#endif
