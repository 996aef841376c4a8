// Rigid shapes that bodies touch, and their part in the solve.
#ifndef FEM_WORLD_COLLIDERS_H
#define FEM_WORLD_COLLIDERS_H

#include "collision/convex.h"
#include "collision/opcode_bridge.h"
#include "collision/sweep.h"
#include "fem_colliders.h"
#include "model/contact.h"

#define FEM_COLLIDER_IGNORED 16 // bodies at most; chosen: they are looked through one by one

// Pose in which the caller put a collider, kept while a step of several substeps runs.
typedef struct FemColliderStart {
	FemPosition position;
	FemQuat rotation;
	FemVec3 linear_velocity, angular_velocity;
} FemColliderStart;

typedef struct FemCollider {
	uint16_t generation;
	bool in_use;
	bool has_moved; // since the last step: what rests on it wakes
	bool travels;   // while a step runs: has moved before it, or has mass; a belt has velocity but stays
	FemColliderKind kind;
	FemShapeDef shape;    // points and triangles are owned copies
	FemPosition position; // of its frame, m
	FemQuat rotation;
	FemVec3 linear_velocity, angular_velocity;
	FemVec3 local_position; // the shape in the frame, m
	FemQuat local_rotation;
	FemPosition shape_position; // the shape in the world: follows from the four above
	FemQuat shape_rotation;
	bool follows;          // it is a further shape of another collider:
	int32_t leader;        // that one's index; -1: none, or gone
	float mass, friction;  // kg; a follower has its leader's
	float restitution;     // 0..1
	FemVec3 inertia;       // kg m^2, principal
	FemVec3 center;        // m, centre of mass from `position`, world axes
	bool has_tensor;       // inertia is given in world axes:
	float tensor[6];       // kg m^2
	FemVec3 force, torque; // N, N m: external, besides gravity
	uint32_t layer, mask;
	uint64_t user_data;
	FemBodyId ignored[FEM_COLLIDER_IGNORED]; // bodies that pass through it
	int32_t ignored_count;
	FemConvex hull; // of a convex shape, in its own frame
	FemConvexStorage *hull_storage;
	FemTriangleTree *tree;    // over triangles
	FemVec3 box_min, box_max; // m, of the shape in its own frame; infinite for a half space
	int32_t sweep_proxy;
	FemColliderResult result;  // of the last step
	FemColliderStart start;    // only while a step runs
	FemColliderResult earlier; // sums over the earlier substeps of this step
	// N s, N m s: weight of pieces that it stopped and holds for the rest of a substep, less that of the substep before
	FemVec3 held_impulse, held_angular_impulse;
} FemCollider;

struct FemWorld;

bool fem_collider_ignores(const FemCollider *collider, FemBodyId body);
float fem_collider_thickness(const FemCollider *collider); // m, its smallest extent
FemSweepBox fem_collider_box(const FemCollider *collider); // world

// Places the shape by the collider's frame.
void fem_collider_place_shape(FemCollider *collider);

// Whether it has unknowns in the solve, its own or its leader's.
bool fem_collider_is_free(const FemCollider *collider);

// The unknowns of a collider in the solve; its mass is 0 unless it is dynamic and its own leader.
FemProxy fem_collider_proxy(const FemCollider *collider, FemVec3 gravity, float dt);

// ---- collider_checks.c
FemResult fem_collider_motion_check(FemPosition position, FemQuat *rotation, FemVec3 linear, FemVec3 angular);
FemResult fem_collider_def_check(FemColliderDef *def); // and normalizes

// ---- colliders.c
// Makes a collider in a free slot; the slot stays free on failure.
FemResult fem_collider_enter(struct FemWorld *world, int32_t collider_index, const FemColliderDef *checked_def);
void fem_collider_free(struct FemWorld *world, int32_t collider_index);

#endif
