// Colliders within a step of several substeps: they go on with the velocity they have, dynamic ones with what the solve
// gave them, and their impulses add up. After the step they stand again where the caller put them.
#include "base/vec.h"
#include "world/step/substeps.h"
#include "world/world.h"

static void place(FemWorld *world, FemCollider *collider, FemPosition position, FemQuat rotation) {
	collider->position = position;
	collider->rotation = rotation;
	fem_collider_place_shape(collider);
	FemSweepBox box = fem_collider_box(collider);
	fem_sweep_move_proxy(&world->sweep, collider->sweep_proxy, &box);
}

static bool moves(const FemCollider *collider) {
	return collider->in_use && collider->kind != FEM_COLLIDER_STATIC && collider->sweep_proxy >= 0;
}

static FemColliderStart start_of(const FemCollider *collider) {
	return (FemColliderStart){
		collider->position, collider->rotation, collider->linear_velocity, collider->angular_velocity};
}

static void begin_step(FemWorld *world) {
	for (int32_t c = 0; c < world->collider_capacity; c++)
		world->colliders[c].travels = world->colliders[c].has_moved || world->colliders[c].kind == FEM_COLLIDER_DYNAMIC;
}

void fem_colliders_begin_substep(FemWorld *world, int32_t substep, float dt) {
	if (substep == 0)
		begin_step(world);
	for (int32_t c = 0; c < world->collider_capacity && world->step_substeps > 1; c++) {
		FemCollider *collider = &world->colliders[c];
		const FemColliderResult *result = &collider->result;
		collider->earlier = substep > 0 ? *result : (FemColliderResult){0};
		if (collider->leader >= 0) // moves as its leader does, which may have been told already
			result = substep > 0 ? &world->colliders[collider->leader].result : result;
		if (!moves(collider))
			continue;
		if (substep == 0) {
			collider->start = start_of(collider);
			continue;
		}
		if (collider->kind == FEM_COLLIDER_DYNAMIC) {
			collider->linear_velocity = result->linear_velocity;
			collider->angular_velocity = result->angular_velocity;
		}
		fem_collider_move(world, collider, (FemVec3){0.0f, 0.0f, 0.0f}, dt);
		place(world, collider, collider->position, collider->rotation);
	}
}

void fem_colliders_end_substeps(FemWorld *world) {
	for (int32_t c = 0; c < world->collider_capacity && world->step_substeps > 1; c++) {
		FemCollider *collider = &world->colliders[c];
		if (!moves(collider))
			continue;
		collider->linear_velocity = collider->start.linear_velocity;
		collider->angular_velocity = collider->start.angular_velocity;
		place(world, collider, collider->start.position, collider->start.rotation);
	}
}
