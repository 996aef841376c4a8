// Colliders with mass, layers, events, and worlds with more contacts than they may have.
#include "cube_scene.h"
#include "fem_test.h"
#include "world/api/registry.h"
#include "world/world.h"

#define DT (1.0f / 60.0f)

static const FemVec3 zero3 = {0.0f, 0.0f, 0.0f};
static const FemQuat no_rotation = {0.0f, 0.0f, 0.0f, 1.0f};

static FemColliderResult result_of(FemColliderId collider) {
	FemColliderResult result = {0};
	FEM_CHECK_INT(fem_collider_get_result(collider, &result), FEM_OK);
	return result;
}

static FemColliderId add_dynamic(FemWorldId world, FemPosition position, FemVec3 half, float mass, FemVec3 velocity) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.position = position;
	def.shape.half_extents = half;
	def.mass = mass;
	def.linear_velocity = velocity;
	FemColliderId collider = fem_collider_create(world, &def);
	FEM_CHECK(fem_collider_is_valid(collider));
	return collider;
}

// As the caller of a rigid-body engine does: the collider goes where the solve sent it.
static void step_and_follow(FemWorldId id, FemColliderId collider) {
	FEM_CHECK_INT(fem_world_step(id, DT, 1) & ~FEM_STEP_SOLVER_CAPPED, FEM_STEP_OK);
	FemWorld *world = fem_world_find(id);
	FemColliderResult result = result_of(collider);
	FemCollider *record = &world->colliders[collider.index1 - 1];
	FemPosition at = record->position;
	FemVec3 v = result.linear_velocity, w = result.angular_velocity;
	FemQuat q = record->rotation;
	float h = 0.5f * DT;
	q = (FemQuat){q.x + h * (w.x * q.w + w.y * q.z - w.z * q.y), q.y + h * (w.y * q.w + w.z * q.x - w.x * q.z),
		q.z + h * (w.z * q.w + w.x * q.y - w.y * q.x), q.w - h * (w.x * q.x + w.y * q.y + w.z * q.z)};
	at = (FemPosition){at.x + (double)(v.x * DT), at.y + (double)(v.y * DT), at.z + (double)(v.z * DT)};
	FEM_CHECK_INT(fem_collider_set_motion(collider, at, q, v, w), FEM_OK);
}

FEM_TEST(colliders, dynamic_one_falls_and_rests_on_a_slab) {
	int64_t before = fem_memory_bytes();
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh slab = fem_box_mesh(8, 1, 8, (FemVec3){2.0f, 0.25f, 2.0f}, FEM_CELLS_FIVE);
	FemMeshDef mesh_def = fem_box_mesh_def(&slab);
	FemBodyDef body_def = fem_default_body_def();
	int32_t pins[162], pin_count = 0;
	for (int32_t i = 0; i < slab.node_count; i++) {
		FemVec3 p = slab.positions[i];
		if (p.x == 0.0f || p.x == 2.0f)
			pins[pin_count++] = i;
	}
	FemWorldId world = fem_world_create(&world_def);
	material_def.young_modulus = 1e7f;
	material_def.stiffness_damping = 0.01f;
	FemMaterialId material = fem_material_create(world, &material_def);
	body_def.mesh = fem_mesh_create(world, &mesh_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	body_def.pinned_nodes = pins;
	body_def.pinned_count = pin_count;
	FEM_CHECK(fem_body_is_valid(fem_body_create(world, &body_def)));
	FemColliderId box = add_dynamic(world, (FemPosition){1.0, 0.9, 1.0}, (FemVec3){0.15f, 0.15f, 0.15f}, 27.0f, zero3);
	step_and_follow(world, box);
	FEM_CHECK_NEAR(result_of(box).linear_velocity.y, -9.81 / 60.0, 1e-4); // touches nothing yet: it falls
	for (int i = 0; i < 240; i++)
		step_and_follow(world, box);
	double sum = 0.0;
	for (int i = 0; i < 60; i++) {
		step_and_follow(world, box);
		sum += (double)result_of(box).impulse.y;
	}
	FEM_CHECK_NEAR(sum, 27.0 * 9.81, 0.01 * 27.0 * 9.81); // 60 steps are a second
	FEM_CHECK_NEAR((double)result_of(box).impulse.y * 60.0, 27.0 * 9.81, 0.01 * 27.0 * 9.81);
	FEM_CHECK_NEAR(result_of(box).linear_velocity.y, 0.0, 1e-2);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_box_mesh_free(&slab);
	fem_world_destroy(world);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(colliders, momentum_with_a_dynamic_one_is_kept) {
	FemCubeScene scene = fem_cube_scene();
	fem_world_set_gravity(scene.world, zero3);
	fem_body_add_velocity(scene.body, (FemVec3){1.0f, 0.0f, 0.0f}, zero3);
	FemVec3 half = {0.3f, 0.3f, 0.3f}, velocity = {-2.0f, 0.0f, 0.0f};
	FemColliderId box = add_dynamic(scene.world, (FemPosition){1.8, 0.6, 0.6}, half, 300.0f, velocity);
	FemBodyState state;
	fem_body_get_state(scene.body, &state);
	double start = (double)state.linear_momentum.x - 600.0, scale = (double)state.linear_momentum.x + 600.0;
	bool touched = false;
	for (int i = 0; i < 60; i++) {
		step_and_follow(scene.world, box);
		fem_body_get_state(scene.body, &state);
		FemColliderResult result = result_of(box);
		touched |= result.contact_count > 0;
		FEM_CHECK_NEAR((double)state.linear_momentum.x + 300.0 * (double)result.linear_velocity.x, start, 1e-4 * scale);
		FEM_CHECK_NEAR((double)state.linear_momentum.y + 300.0 * (double)result.linear_velocity.y, 0.0, 1e-4 * scale);
		FEM_CHECK_NEAR((double)state.linear_momentum.z + 300.0 * (double)result.linear_velocity.z, 0.0, 1e-4 * scale);
	}
	FEM_CHECK(touched);
	FEM_CHECK(result_of(box).linear_velocity.x > -1.0f);
	fem_cube_scene_end(&scene);
}

// ---- layers and events

static bool falls_through(uint32_t layer, uint32_t mask, uint32_t body_layer, uint32_t body_mask) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef def = fem_default_collider_def();
	FemBodyDef body_def = fem_default_body_def();
	FemBodyState state;
	def.position.y = -0.5;
	def.shape.half_extents = (FemVec3){4.0f, 0.5f, 4.0f};
	def.layer = layer;
	def.mask = mask;
	fem_collider_create(scene.world, &def);
	fem_body_destroy(scene.body);
	body_def.mesh = scene.mesh;
	body_def.materials = &scene.material;
	body_def.material_count = 1;
	body_def.layer = body_layer;
	body_def.mask = body_mask;
	FemBodyId body = fem_body_create(scene.world, &body_def);
	for (int i = 0; i < 40; i++)
		fem_world_step(scene.world, DT, 1);
	fem_body_get_state(body, &state);
	fem_cube_scene_end(&scene);
	return state.center.y < -0.5;
}

FEM_TEST(colliders, touch_when_one_looks_for_the_other) {
	FEM_CHECK(!falls_through(1, UINT32_MAX, 1, UINT32_MAX));
	FEM_CHECK(!falls_through(4, 2, 2, 4));
	FEM_CHECK(!falls_through(4, 2, 2, 3));
	FEM_CHECK(!falls_through(4, 1, 2, 4));
	FEM_CHECK(!falls_through(1, 0, 1, UINT32_MAX));
	FEM_CHECK(falls_through(4, 1, 2, 3));
	FEM_CHECK(falls_through(4, 0, 1, 2));
	FEM_CHECK(falls_through(1, UINT32_MAX, 0, 0));
}

FEM_TEST(colliders, contact_events) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef def = fem_default_collider_def();
	def.position = (FemPosition){0.5, -0.5, 0.5};
	def.shape.half_extents = (FemVec3){2.0f, 0.5f, 2.0f};
	FemColliderId floor = fem_collider_create(scene.world, &def);
	FemBodyId upper = fem_cube_scene_add(&scene);
	fem_body_teleport(upper, (FemPosition){0.0, 1.0, 0.0}, no_rotation);
	fem_world_set_sleeping(scene.world, false);
	for (int i = 0; i < 240; i++)
		fem_world_step(scene.world, DT, 1);
	FemBodyState state;
	fem_body_get_state(upper, &state);
	double weight = state.mass * 9.81 / 60.0;
	const FemContactEvent *events;
	int32_t count = fem_world_get_contact_events(scene.world, &events);
	FEM_CHECK_INT(count, 2);
	FEM_REQUIRE(count == 2);
	FEM_CHECK_INT(events[0].body.index1, scene.body.index1);
	FEM_CHECK(fem_body_is_valid(events[0].body) && fem_body_is_valid(events[0].other));
	FEM_CHECK_INT(events[0].other.index1, upper.index1);
	FEM_CHECK_INT(events[0].collider.index1, 0);
	FEM_CHECK_NEAR(events[0].normal.y, 1.0, 1e-2);
	FEM_CHECK_NEAR(events[0].point.y, 1.0, 0.03);
	FEM_CHECK_NEAR(events[0].impulse, weight, 0.02 * weight);
	FEM_CHECK_INT(events[1].body.index1, scene.body.index1);
	FEM_CHECK_INT(events[1].other.index1, 0);
	FEM_CHECK_INT(events[1].collider.index1, floor.index1);
	FEM_CHECK(fem_collider_is_valid(events[1].collider));
	FEM_CHECK_NEAR(events[1].normal.y, -1.0, 1e-2);
	FEM_CHECK_NEAR(events[1].impulse, 2.0 * weight, 0.04 * weight);
	FEM_CHECK_INT(events[1].material.index1, scene.material.index1);
	FEM_CHECK(fem_material_is_valid(events[1].material));
	// Those of the last step can be read while the next one runs.
	FEM_CHECK_INT(fem_world_step_begin(scene.world, DT, 1), FEM_OK);
	FEM_CHECK_INT(fem_world_get_contact_events(scene.world, &events), 2);
	fem_world_step_end(scene.world);
	fem_cube_scene_end(&scene);
}

// ---- too much

static void check_bounded(FemWorldId id, double limit) {
	FemWorld *world = fem_world_find(id);
	FEM_CHECK_INT(fem_world_validate(id), FEM_OK); // finite, too
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemPosition low, high;
		if (!world->bodies[b])
			continue;
		fem_body_get_bounds(fem_body_id(world, b), &low, &high);
		FEM_CHECK(
			low.x > -limit && low.y > -limit && low.z > -limit && high.x < limit && high.y < limit && high.z < limit);
	}
}

static FemWorldId crowd(int32_t contact_capacity, int32_t count, FemPosition step) {
	FemWorldDef world_def = fem_default_world_def();
	FemMaterialDef material_def = fem_default_material_def();
	FemBoxMesh cube = fem_box_mesh(1, 1, 1, (FemVec3){0.3f, 0.3f, 0.3f}, FEM_CELLS_FIVE);
	FemMeshDef mesh_def = fem_box_mesh_def(&cube);
	FemBodyDef body_def = fem_default_body_def();
	FemColliderDef floor = fem_default_collider_def();
	world_def.contact_capacity = contact_capacity;
	FemWorldId world = fem_world_create(&world_def);
	FemMaterialId material = fem_material_create(world, &material_def);
	floor.shape.type = FEM_SHAPE_HALF_SPACE;
	fem_collider_create(world, &floor);
	body_def.mesh = fem_mesh_create(world, &mesh_def);
	body_def.materials = &material;
	body_def.material_count = 1;
	for (int32_t i = 0; i < count; i++) {
		body_def.position = (FemPosition){i * step.x, 0.05 + i * step.y, i * step.z};
		FEM_CHECK(fem_body_is_valid(fem_body_create(world, &body_def)));
	}
	fem_box_mesh_free(&cube);
	return world;
}

FEM_TEST(colliders, more_contacts_than_room) {
	int64_t before = fem_memory_bytes();
	FemWorldId world = crowd(64, 40, (FemPosition){0.2, 0.0, 0.0});
	uint32_t errors = 0;
	for (int i = 0; i < 60; i++)
		errors |= fem_world_step(world, DT, 1);
	FEM_CHECK(errors & FEM_STEP_CONTACTS_FULL);
	FEM_CHECK(!(errors & (FEM_STEP_BAD_WORLD | FEM_STEP_BODY_ROLLED_BACK)));
	check_bounded(world, 100.0);
	fem_world_destroy(world);
	// Nodes on a half space alone fill the list, too.
	world = crowd(64, 40, (FemPosition){1.0, 0.0, 0.0});
	for (int i = 0, full = 0; i < 30; i++) {
		full |= (fem_world_step(world, DT, 1) & FEM_STEP_CONTACTS_FULL) != 0;
		FEM_CHECK(i < 29 || full);
	}
	fem_world_destroy(world);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

FEM_TEST(colliders, a_hundred_bodies_at_one_point) {
	int64_t before = fem_memory_bytes();
	FemWorldId world = crowd(4096, 100, (FemPosition){0.0, 0.0, 0.0});
	uint32_t errors = 0;
	for (int i = 0; i < 60; i++)
		errors |= fem_world_step(world, DT, 1);
	FEM_CHECK(!(errors & FEM_STEP_BAD_WORLD));
	check_bounded(world, 1000.0);
	fem_world_destroy(world);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

static void rebuild_trees(FemWorldId id) {
	FemWorld *world = fem_world_find(id);
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemSurfaceTrees *trees = world->bodies[b] ? world->bodies[b]->trees : NULL;
		for (int32_t t = 0; trees && t < trees->tree_count; t++)
			FEM_CHECK(fem_surface_trees_rebuild(trees, t, trees->positions));
	}
}

// Trees built where the bodies are now have another shape than those that were refitted on the way: nobody must see it.
FEM_TEST(colliders, contacts_do_not_depend_on_the_shape_of_trees) {
	FemWorldId twins[2];
	FemColliderDef box = fem_default_collider_def();
	box.position = (FemPosition){0.2, 0.4, 0.2};
	box.rotation = (FemQuat){0.3f, 0.1f, 0.2f, 0.9f};
	box.shape.half_extents = (FemVec3){0.4f, 0.2f, 0.3f};
	for (int i = 0; i < 2; i++) {
		twins[i] = crowd(4096, 16, (FemPosition){0.03, 0.35, 0.02});
		FEM_CHECK(fem_collider_is_valid(fem_collider_create(twins[i], &box)));
	}
	int64_t pairs = 0;
	for (int step = 0; step < 120; step++) {
		if (step % 5 == 4)
			rebuild_trees(twins[1]);
		fem_world_step(twins[0], DT, 1);
		fem_world_step(twins[1], DT, 1);
		FemContactStage *stage = &fem_world_find(twins[0])->contacts;
		for (int32_t i = 0; i < stage->contact_count; i++)
			pairs += fem_side_is_body(&stage->contacts[i].side[1]);
		if (!FEM_CHECK(fem_world_hash(twins[0]) == fem_world_hash(twins[1])))
			break;
	}
	FEM_CHECK(pairs > 100);
	fem_world_destroy(twins[0]);
	fem_world_destroy(twins[1]);
}

// 1e9 m out, with velocities at the limit, and shapes from the smallest to the largest.
FEM_TEST(colliders, extremes_are_survived) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef def = fem_default_collider_def();
	def.kind = FEM_COLLIDER_KINEMATIC;
	def.linear_velocity = (FemVec3){5e4f, -5e4f, 1e4f};
	def.angular_velocity = (FemVec3){9e4f, 0.0f, 0.0f};
	def.position = (FemPosition){0.5, 0.5, 0.5};
	def.shape.half_extents = (FemVec3){1e-4f, 1e-4f, 1e-4f};
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(scene.world, &def)));
	def.shape.half_extents = (FemVec3){1e5f, 1e5f, 1e5f};
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(scene.world, &def)));
	def.position = (FemPosition){1e9, -1e9, 1e9};
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(scene.world, &def)));
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.position = (FemPosition){0.9, 0.9, 0.9};
	def.shape.half_extents = (FemVec3){0.5f, 0.5f, 0.5f};
	def.mass = 1e-5f;
	FemColliderId light = fem_collider_create(scene.world, &def);
	def.mass = 9e11f;
	FemColliderId heavy = fem_collider_create(scene.world, &def);
	for (int i = 0; i < 20; i++)
		FEM_CHECK(!(fem_world_step(scene.world, DT, 1) & FEM_STEP_BAD_WORLD));
	FemVec3 v = result_of(light).linear_velocity, u = result_of(heavy).linear_velocity;
	FEM_CHECK(isfinite(v.x) && isfinite(v.y) && isfinite(v.z) && isfinite(u.x) && isfinite(u.y) && isfinite(u.z));
	fem_cube_scene_end(&scene);
	scene = fem_cube_scene();
	fem_body_teleport(scene.body, (FemPosition){9.9e8, 0.0, -9.9e8}, no_rotation);
	def = fem_default_collider_def();
	def.position = (FemPosition){9.9e8, -0.5, -9.9e8};
	def.shape.half_extents = (FemVec3){4.0f, 0.5f, 4.0f};
	fem_collider_create(scene.world, &def);
	for (int i = 0; i < 60; i++)
		fem_world_step(scene.world, DT, 1);
	FemBodyState state;
	fem_body_get_state(scene.body, &state);
	FEM_CHECK_NEAR(state.center.y, 0.5, 0.05);
	fem_cube_scene_end(&scene);
}

// Both momenta, of a cube and a bar that lies aslant and strikes it off its centre. Fails when the solve takes the
// bar's inertia along wrong axes, or its arms from its frame and not from its centre of mass.
FEM_TEST(colliders, angular_momentum_with_a_dynamic_one_is_kept) {
	for (int off_center = 0; off_center < 2; off_center++) {
		FemCubeScene scene = fem_cube_scene();
		FemWorld *world = fem_world_find(scene.world);
		fem_world_set_gravity(scene.world, zero3);
		FemVec3 half = {0.2f, 0.6f, 0.3f}, velocity = {-3.0f, 0.0f, 0.0f};
		FemColliderId bar = add_dynamic(scene.world, (FemPosition){1.7, 0.9, 0.8}, half, 300.0f, velocity);
		FemQuat aslant = {0.1894f, 0.2842f, 0.3789f, 0.8599f};
		fem_collider_set_motion(bar, (FemPosition){1.7, 0.9, 0.8}, aslant, velocity, zero3);
		FemColliderMass mass = {300.0f, {0.0f, 0.0f, 0.0f}, {60.0f, 30.0f, 45.0f, 12.0f, -9.0f, 7.0f}};
		if (off_center)
			mass.center = (FemVec3){0.1f, -0.15f, 0.12f};
		FEM_CHECK_INT(fem_collider_set_mass(bar, &mass), FEM_OK);
		FemBodyState before, after;
		bool touched = false;
		for (int i = 0; i < 20 && !touched; i++) {
			fem_body_get_state(scene.body, &before);
			FemPosition at = world->colliders[bar.index1 - 1].position;
			FEM_CHECK_INT(fem_world_step(scene.world, DT, 1) & ~FEM_STEP_SOLVER_CAPPED, FEM_STEP_OK);
			FemColliderResult result = result_of(bar);
			fem_body_get_state(scene.body, &after);
			touched = result.contact_count > 0 && fabsf(result.impulse.x) > 1.0f;
			if (touched) {
				const float *n = mass.inertia;
				FemVec3 w = result.angular_velocity, gained = result.angular_impulse;
				FEM_CHECK_NEAR(n[0] * w.x + n[3] * w.y + n[5] * w.z, gained.x, 0.02 * fabs((double)gained.x) + 0.2);
				FEM_CHECK_NEAR(n[3] * w.x + n[1] * w.y + n[4] * w.z, gained.y, 0.02 * fabs((double)gained.y) + 0.2);
				FEM_CHECK_NEAR(n[5] * w.x + n[4] * w.y + n[2] * w.z, gained.z, 0.02 * fabs((double)gained.z) + 0.2);
				// The cube's, about the bar's centre of mass: its own and that of its motion.
				FemVec3 p = {-result.impulse.x, -result.impulse.y, -result.impulse.z};
				double r[3] = {before.center.x - at.x - (double)mass.center.x,
					before.center.y - at.y - (double)mass.center.y, before.center.z - at.z - (double)mass.center.z};
				double l[3] = {(double)(after.angular_momentum.x - before.angular_momentum.x) + r[1] * (double)p.z -
						r[2] * (double)p.y,
					(double)(after.angular_momentum.y - before.angular_momentum.y) + r[2] * (double)p.x -
						r[0] * (double)p.z,
					(double)(after.angular_momentum.z - before.angular_momentum.z) + r[0] * (double)p.y -
						r[1] * (double)p.x};
				double size = fabs((double)gained.x) + fabs((double)gained.y) + fabs((double)gained.z);
				FEM_CHECK_NEAR(l[0], -gained.x, 0.05 * size);
				FEM_CHECK_NEAR(l[1], -gained.y, 0.05 * size);
				FEM_CHECK_NEAR(l[2], -gained.z, 0.05 * size);
			}
			FemPosition next = {at.x + (double)(velocity.x * DT), at.y, at.z};
			fem_collider_set_motion(bar, next, aslant, velocity, zero3);
		}
		FEM_CHECK(touched);
		fem_cube_scene_end(&scene);
	}
}
