#include "world/api/colliders.h"

#include "base/memory.h"
#include "base/vec.h"
#include "world/api/bodies.h"
#include "world/api/cookies.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <string.h>

FemColliderDef fem_default_collider_def(void) {
	return (FemColliderDef){
		.shape = {.type = FEM_SHAPE_BOX,
			.half_extents = {0.5f, 0.5f, 0.5f},
			.radius = 0.5f,
			.half_height = 0.5f,
			.thickness = 0.1f,
			.cell_size = 1.0f},
		.rotation = {0.0f, 0.0f, 0.0f, 1.0f},
		.shape_rotation = {0.0f, 0.0f, 0.0f, 1.0f},
		.friction = 0.5f,
		.layer = 1,
		.mask = UINT32_MAX,
		.cookie = FEM_COOKIE_COLLIDER,
	};
}

// ---- shapes

static void height_field_box(FemCollider *collider) {
	const FemShapeDef *s = &collider->shape;
	float low = s->heights[0], high = low;
	for (int32_t i = 1; i < s->width * s->depth; i++) {
		low = fminf(low, s->heights[i]);
		high = fmaxf(high, s->heights[i]);
	}
	float x = 0.5f * s->cell_size * (float)(s->width - 1), z = 0.5f * s->cell_size * (float)(s->depth - 1);
	collider->box_min = (FemVec3){-x, low - s->thickness, -z};
	collider->box_max = (FemVec3){x, high, z};
}

static void shape_box(FemCollider *collider) {
	const FemShapeDef *s = &collider->shape;
	FemVec3 half = s->half_extents;
	switch (s->type) {
	case FEM_SHAPE_SPHERE: half = (FemVec3){s->radius, s->radius, s->radius}; break;
	case FEM_SHAPE_CAPSULE: half = (FemVec3){s->radius, s->radius + s->half_height, s->radius}; break;
	case FEM_SHAPE_CYLINDER: half = (FemVec3){s->radius, s->half_height, s->radius}; break;
	case FEM_SHAPE_HALF_SPACE: half = (FemVec3){INFINITY, INFINITY, INFINITY}; break;
	default: break;
	}
	collider->box_min = (FemVec3){-half.x, -half.y, -half.z};
	collider->box_max = half;
	if (s->type == FEM_SHAPE_HEIGHT_FIELD)
		height_field_box(collider);
	if (s->type != FEM_SHAPE_CONVEX && s->type != FEM_SHAPE_TRIANGLES)
		return;
	float pad = s->type == FEM_SHAPE_TRIANGLES ? s->thickness : 0.0f;
	FemVec3 low = s->points[0], high = s->points[0];
	for (int32_t i = 1; i < s->point_count; i++) {
		FemVec3 p = s->points[i];
		low = (FemVec3){fminf(low.x, p.x), fminf(low.y, p.y), fminf(low.z, p.z)};
		high = (FemVec3){fmaxf(high.x, p.x), fmaxf(high.y, p.y), fmaxf(high.z, p.z)};
	}
	collider->box_min = (FemVec3){low.x - pad, low.y - pad, low.z - pad};
	collider->box_max = (FemVec3){high.x + pad, high.y + pad, high.z + pad};
}

// Sets the given inertia, or for 0 that of the shape's box: m (b^2 + c^2) / 12 about each axis, with full side lengths,
// kg m^2.
static void set_inertia(FemCollider *collider, FemVec3 inertia) {
	FemVec3 d = fem_vec3_sub(collider->box_max, collider->box_min);
	float m = collider->mass / 12.0f;
	if (collider->kind != FEM_COLLIDER_DYNAMIC)
		return;
	collider->inertia = inertia;
	if (inertia.x <= 0.0f || inertia.y <= 0.0f || inertia.z <= 0.0f)
		collider->inertia =
			(FemVec3){m * (d.y * d.y + d.z * d.z), m * (d.z * d.z + d.x * d.x), m * (d.x * d.x + d.y * d.y)};
}

static bool copy_heights(FemCollider *collider, const FemShapeDef *def) {
	size_t count = (size_t)def->width * (size_t)def->depth;
	float *heights = FEM_ALLOC_ARRAY(float, count);
	if (heights)
		memcpy(heights, def->heights, sizeof *heights * count);
	collider->shape.heights = heights;
	return heights != NULL;
}

static bool copy_shape(FemCollider *collider, const FemShapeDef *def) {
	collider->shape = *def;
	collider->shape.points = NULL;
	collider->shape.triangles = NULL;
	collider->shape.heights = NULL;
	collider->shape.point_count = collider->shape.triangle_count = 0;
	if (def->type == FEM_SHAPE_HEIGHT_FIELD)
		return copy_heights(collider, def);
	collider->shape.width = collider->shape.depth = 0;
	if (def->type != FEM_SHAPE_CONVEX && def->type != FEM_SHAPE_TRIANGLES)
		return true;
	collider->shape.point_count = def->point_count;
	FemVec3 *points = FEM_ALLOC_ARRAY(FemVec3, def->point_count);
	if (points)
		memcpy(points, def->points, sizeof *points * (size_t)def->point_count);
	collider->shape.points = points;
	if (def->type == FEM_SHAPE_CONVEX) {
		collider->hull_storage = FEM_ALLOC_ARRAY(FemConvexStorage, 1);
		return points && collider->hull_storage;
	}
	collider->shape.triangle_count = def->triangle_count;
	int32_t *triangles = FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)def->triangle_count);
	if (triangles)
		memcpy(triangles, def->triangles, sizeof *triangles * 3 * (size_t)def->triangle_count);
	collider->shape.triangles = triangles;
	if (points && triangles)
		collider->tree = fem_triangle_tree_create(&points->x, 3, triangles, def->triangle_count);
	return collider->tree != NULL;
}

static void free_shape(FemCollider *collider) {
	FEM_FREE_ARRAY((FemVec3 *)(uintptr_t)collider->shape.points, collider->shape.point_count);
	FEM_FREE_ARRAY((int32_t *)(uintptr_t)collider->shape.triangles, 3 * (size_t)collider->shape.triangle_count);
	FEM_FREE_ARRAY((float *)(uintptr_t)collider->shape.heights, collider->shape.width * collider->shape.depth);
	FEM_FREE_ARRAY(collider->hull_storage, 1);
	if (collider->tree)
		fem_triangle_tree_destroy(collider->tree);
}

void fem_collider_place_shape(FemCollider *collider) {
	FemVec3d at = fem_quat_rotate(collider->rotation, fem_vec3d_from(collider->local_position));
	collider->shape_position = fem_position_move(collider->position, at);
	collider->shape_rotation = fem_quat_mul(collider->rotation, collider->local_rotation);
}

bool fem_collider_is_free(const FemCollider *collider) {
	return collider->kind == FEM_COLLIDER_DYNAMIC && (!collider->follows || collider->leader >= 0);
}

static FemResult fill(FemCollider *collider, const FemColliderDef *def) {
	uint16_t generation = collider->generation;
	*collider = (FemCollider){
		.generation = generation,
		.kind = def->kind,
		.position = def->position,
		.rotation = def->rotation,
		.linear_velocity = def->linear_velocity,
		.angular_velocity = def->angular_velocity,
		.local_position = def->shape_position,
		.local_rotation = def->shape_rotation,
		.leader = -1,
		.mass = def->kind == FEM_COLLIDER_DYNAMIC ? def->mass : 0.0f,
		.friction = def->friction,
		.restitution = def->restitution,
		.layer = def->layer,
		.mask = def->mask,
		.user_data = def->user_data,
		.has_moved =
			!def->lets_sleep && def->kind != FEM_COLLIDER_DYNAMIC, // those with mass wake what they strike or load
		.sweep_proxy = -1,
	};
	FemResult result = FEM_OK;
	if (!copy_shape(collider, &def->shape))
		result = fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for a collider's shape.");
	else if (def->shape.type == FEM_SHAPE_CONVEX &&
		!fem_convex_hull(collider->shape.points, collider->shape.point_count, collider->hull_storage, &collider->hull))
		result = fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The shape's %d points have no hull with volume: give 4 to %d points that do not lie in one plane.",
			collider->shape.point_count, FEM_CONVEX_VERTICES);
	if (result != FEM_OK) {
		free_shape(collider);
		*collider = (FemCollider){.generation = generation, .sweep_proxy = -1};
		return result;
	}
	shape_box(collider);
	fem_collider_place_shape(collider);
	set_inertia(collider, def->inertia);
	return FEM_OK;
}

FemSweepBox fem_collider_box(const FemCollider *collider) {
	FemSweepBox box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
	if (collider->shape.type == FEM_SHAPE_HALF_SPACE)
		return box;
	double r[3][3], center[3], half[3];
	const float *low = &collider->box_min.x, *high = &collider->box_max.x;
	const double *position = &collider->shape_position.x;
	fem_quat_to_matrix(collider->shape_rotation, r);
	for (int i = 0; i < 3; i++) {
		center[i] = 0.5 * ((double)low[i] + (double)high[i]);
		half[i] = 0.5 * ((double)high[i] - (double)low[i]);
	}
	for (int i = 0; i < 3; i++) {
		double c = position[i], h = 0.0;
		for (int k = 0; k < 3; k++) {
			c += r[i][k] * center[k];
			h += fabs(r[i][k]) * half[k];
		}
		box.min[i] = c - h;
		box.max[i] = c + h;
	}
	return box;
}

float fem_collider_thickness(const FemCollider *collider) {
	FemVec3 d = fem_vec3_sub(collider->box_max, collider->box_min);
	bool thin = collider->shape.type == FEM_SHAPE_TRIANGLES || collider->shape.type == FEM_SHAPE_HEIGHT_FIELD;
	return thin ? collider->shape.thickness : fminf(d.x, fminf(d.y, d.z));
}

FemProxy fem_collider_proxy(const FemCollider *collider, FemVec3 gravity, float dt) {
	bool leads = collider->kind == FEM_COLLIDER_DYNAMIC && !collider->follows;
	FemProxy proxy = {.mass = leads ? collider->mass : 0.0f};
	const float *v = &collider->linear_velocity.x, *w = &collider->angular_velocity.x, *g = &gravity.x;
	const float *force = &collider->force.x, *torque = &collider->torque.x;
	for (int i = 0; i < 3 && collider->kind != FEM_COLLIDER_STATIC; i++) {
		proxy.velocity[i] = v[i];
		proxy.spin[i] = w[i];
	}
	for (int i = 0; i < 3 && leads; i++) {
		proxy.impulse[i] = (collider->mass * g[i] + force[i]) * dt;
		proxy.impulse[i + 3] = torque[i] * dt;
	}
	if (!leads)
		return proxy;
	double r[3][3];
	const float *d = &collider->inertia.x;
	if (collider->has_tensor) {
		memcpy(proxy.inertia, collider->tensor, sizeof proxy.inertia);
		return proxy;
	}
	fem_quat_to_matrix(collider->rotation, r);
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		for (int k = 0; k < 3; k++) {
			proxy.inertia[i] += (float)(r[i][k] * (double)d[k] * r[i][k]);
			proxy.inertia[i + 3] += (float)(r[i][k] * (double)d[k] * r[j][k]);
		}
	}
	return proxy;
}

// ---- public calls

static bool grow_slots(FemWorld *world) {
	int32_t old = world->collider_capacity, capacity = old < 16 ? 16 : old + old / 2;
	FemCollider *grown = fem_realloc(world->colliders, sizeof *grown * (size_t)old, sizeof *grown * (size_t)capacity);
	if (!grown)
		return false;
	world->colliders = grown;
	world->collider_capacity = capacity;
	for (int32_t i = old; i < capacity; i++)
		grown[i] = (FemCollider){.generation = fem_first_generation(world), .sweep_proxy = -1};
	return true;
}

static bool enter_sweep(FemWorld *world, int32_t index) {
	FemCollider *collider = &world->colliders[index];
	if (!fem_world_reserve(world))
		return false;
	if (!world->def.contacts_enabled)
		return true;
	FemSweepBox box = fem_collider_box(collider);
	collider->sweep_proxy = fem_sweep_create_proxy(
		&world->sweep, &box, FEM_SWEEP_COLLIDER | (uint32_t)index, collider->kind == FEM_COLLIDER_STATIC);
	return collider->sweep_proxy >= 0;
}

FemResult fem_collider_enter(FemWorld *world, int32_t index, const FemColliderDef *checked) {
	FemResult result = fill(&world->colliders[index], checked);
	if (result != FEM_OK)
		return result;
	world->colliders[index].in_use = true;
	world->collider_count++;
	if (enter_sweep(world, index))
		return FEM_OK;
	fem_collider_free(world, index);
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for another collider.");
}

FemColliderId fem_collider_create(FemWorldId id, const FemColliderDef *def) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world)
		return (FemColliderId){0};
	if (!def) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The collider def is null: pass one made by fem_default_collider_def().");
		return (FemColliderId){0};
	}
	FemColliderDef checked = *def;
	FemCollider *leader = def->leader.index1 ? fem_collider_find(def->leader, NULL) : NULL;
	if (def->leader.index1 &&
		(!leader || def->leader.world0 != id.index1 - 1 || leader->follows || leader->kind != FEM_COLLIDER_DYNAMIC)) {
		fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The leader must be a dynamic collider of the same world that follows no other.");
		return (FemColliderId){0};
	}
	int32_t index = 0, leader_index = leader ? def->leader.index1 - 1 : -1;
	checked.kind = leader ? FEM_COLLIDER_DYNAMIC : checked.kind;
	checked.mass = leader ? leader->mass : checked.mass;
	while (index < world->collider_capacity && world->colliders[index].in_use)
		index++;
	if (fem_collider_def_check(&checked) != FEM_OK)
		return (FemColliderId){0};
	if (index == world->collider_capacity && !grow_slots(world)) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for another collider.");
		return (FemColliderId){0};
	}
	if (fem_collider_enter(world, index, &checked) != FEM_OK)
		return (FemColliderId){0};
	world->colliders[index].follows = leader_index >= 0;
	world->colliders[index].leader = leader_index;
	return fem_collider_id(world, index);
}

static void lose_followers(FemWorld *world, int32_t leader) {
	for (int32_t c = 0; c < world->collider_capacity; c++) {
		if (world->colliders[c].in_use && world->colliders[c].leader == leader)
			world->colliders[c].leader = -1;
	}
}

void fem_collider_free(FemWorld *world, int32_t index) {
	FemCollider *collider = &world->colliders[index];
	uint16_t generation = fem_next_generation(collider->generation);
	if (collider->sweep_proxy >= 0)
		fem_sweep_destroy_proxy(&world->sweep, collider->sweep_proxy);
	fem_contacts_forget(world, -1, index);
	if (collider->kind == FEM_COLLIDER_DYNAMIC && !collider->follows)
		lose_followers(world, index);
	free_shape(collider);
	*collider = (FemCollider){.generation = generation, .sweep_proxy = -1};
	world->collider_count--;
}

FemResult fem_collider_destroy(FemColliderId id) {
	FemResult result;
	FemWorld *world;
	if (!fem_collider_find_idle(id, &world, &result))
		return result;
	fem_world_wake_touching(world, id.index1 - 1);
	fem_collider_free(world, id.index1 - 1);
	return FEM_OK;
}
