// The public API of colliders: the level and moving bodies that a world meets. Conventions in fem_destruction.h.
#ifndef FEM_COLLIDERS_H
#define FEM_COLLIDERS_H

#include "fem_basics.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rigid shapes that bodies touch: fixed, moved by the caller, or with mass, in the same linear system as the bodies.

typedef enum FemColliderKind {
	FEM_COLLIDER_STATIC = 0,
	FEM_COLLIDER_KINEMATIC, // moves with the velocity set on it, whatever touches it
	FEM_COLLIDER_DYNAMIC,   // has mass: takes part in the solve; the caller moves it with what fem_collider_get_result
							// says
} FemColliderKind;

typedef enum FemShapeType {
	FEM_SHAPE_BOX = 1,      // half_extents
	FEM_SHAPE_SPHERE,       // radius
	FEM_SHAPE_CAPSULE,      // radius, half_height of its segment along y
	FEM_SHAPE_CYLINDER,     // radius, half_height along y
	FEM_SHAPE_CONVEX,       // hull of 4 to 64 points
	FEM_SHAPE_HALF_SPACE,   // all below y = 0 of its frame
	FEM_SHAPE_TRIANGLES,    // points and triangles, solid to `thickness` behind their counter-clockwise side
	FEM_SHAPE_HEIGHT_FIELD, // heights on a grid, solid to `thickness` below; larger bodies need a larger thickness
} FemShapeType;

typedef struct FemShapeDef {
	FemShapeType type;
	FemVec3 half_extents;  // m
	float radius;          // m
	float half_height;     // m
	const FemVec3 *points; // m, copied
	int32_t point_count;
	const int32_t *triangles; // 3 indices each, copied
	int32_t triangle_count;
	float thickness;      // m, default 0.1
	const float *heights; // m, y of the points of a grid, copied: point (i, k) is heights[k * width + i], centred:
						  // x = (i - (width - 1) / 2) cell_size, z the same with k and depth
	int32_t width, depth; // points along x and z, at least 2
	float cell_size;      // m, default 1
} FemShapeDef;

typedef struct FemColliderDef {
	FemColliderKind kind; // default static
	FemShapeDef shape;
	FemPosition position; // m, of its frame, whose origin is the centre of mass
	FemQuat rotation;
	FemVec3 shape_position;   // m, where the shape lies in the frame; default 0
	FemQuat shape_rotation;   // default none
	FemColliderId leader;     // not null: another shape of that dynamic collider, which moves as one with it; see below
	FemVec3 linear_velocity;  // m/s
	FemVec3 angular_velocity; // rad/s
	float mass;               // kg, dynamic only
	FemVec3 inertia;          // kg m^2, about the axes of its frame; 0: that of the shape's box with this mass
	float friction;           // default 0.5
	float restitution;        // as of a FemMaterialDef, 0..1; default 0
	uint32_t layer, mask;     // default 1 and all
	bool lets_sleep;          // what sleeps beside it is not woken when it is made; default false
	uint64_t user_data;
	uint32_t cookie;
} FemColliderDef;

// A rigid body of several shapes is a dynamic collider with the mass and as many followers as it has further shapes.
// What touches a follower acts on its leader. Followers are moved by the caller like the leader, with the same frame
// and velocities. When the leader is destroyed they are solid, but nothing moves them.
FemColliderDef fem_default_collider_def(void); // [any time]
FemColliderId fem_collider_create(FemWorldId world, const FemColliderDef *def);
FemResult fem_collider_destroy(FemColliderId collider);      // what rested on it wakes
bool fem_collider_is_valid(FemColliderId collider);          // [any time]
uint64_t fem_collider_get_user_data(FemColliderId collider); // [any time]

// Whether a body passes through a collider, whatever their layers say. At most 16 bodies a collider (FEM_ERROR_LIMIT
// beyond); what rested on it wakes. Bodies that are gone do not count.
FemResult fem_collider_ignore_body(FemColliderId collider, FemBodyId body, bool ignored);
bool fem_collider_ignores_body(FemColliderId collider, FemBodyId body); // [any time]

// Where it is and how it moves in the next step. Static colliders may be moved too: that is a teleport.
FemResult fem_collider_set_motion(
	FemColliderId collider, FemPosition position, FemQuat rotation, FemVec3 linear_velocity, FemVec3 angular_velocity);

// The same as last set; steps do not change it. Any of the pointers may be null.
FemResult fem_collider_get_motion(FemColliderId collider, FemPosition *out_position, FemQuat *out_rotation,
	FemVec3 *out_linear_velocity, FemVec3 *out_angular_velocity);

// The mass of a dynamic collider that leads itself, for every step until it is set anew: that of the body alone, or of
// all that moves as one with it. Its velocities are then those of this centre of mass, and so are impulses and
// displacements.
typedef struct FemColliderMass {
	float mass;       // kg
	FemVec3 center;   // m, centre of mass from the frame's origin, world axes
	float inertia[6]; // kg m^2, about that centre, world axes: xx yy zz xy yz zx
} FemColliderMass;

FemResult fem_collider_set_mass(FemColliderId collider, const FemColliderMass *mass);
FemResult fem_collider_get_mass(FemColliderId collider, FemColliderMass *out_mass); // as set, or that of its def

// What acts on a dynamic collider besides contact and the world's gravity, in every step until it is set anew: N, N m
// about its centre of mass.
FemResult fem_collider_set_force(FemColliderId collider, FemVec3 force, FemVec3 torque);
FemResult fem_collider_get_force(FemColliderId collider, FemVec3 *out_force, FemVec3 *out_torque); // [any time]

// What touched it in the last step, over all its substeps.
typedef struct FemColliderResult {
	FemVec3 impulse;          // N s, on the collider: what the solve gave, and the weight of what it stopped in flight
	FemVec3 angular_impulse;  // N m s, about its centre of mass
	FemVec3 linear_velocity;  // m/s: dynamic ones as the solve left them
	FemVec3 angular_velocity; // rad/s
	FemVec3 translation;      // m, how far its centre of mass went
	FemVec3 rotation_vector;  // rad, its rotation in the step: axis times angle
	int32_t contact_count;    // of the last substep
} FemColliderResult;

FemResult fem_collider_get_result(FemColliderId collider, FemColliderResult *out_result);

typedef struct FemContactEvent {
	FemBodyId body;         // side 0
	FemBodyId other;        // side 1, or null:
	FemColliderId collider; // the collider of side 1; null too: the built-in ground
	FemPosition point;      // m, where the normal impulse of the pair is largest
	FemVec3 normal;         // unit, from side 0 to side 1
	float impulse;          // N s, sum over the pair in those substeps
	float speed; // m/s, at which the two closed in before the step where that was most; about 0 for what rests
	FemMaterialId material; // at the point, of side 0
} FemContactEvent;

// Pairs with a normal impulse in the last substep, or that struck in one before, in deterministic order; valid until
// the next step. Returns their number. [any time]
int32_t fem_world_get_contact_events(FemWorldId world, const FemContactEvent **out_events);

#ifdef __cplusplus
}
#endif

#endif
