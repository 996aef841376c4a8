// What a rigid-body engine needs of dynamic colliders: several shapes, loads from elsewhere, sleeping partners, ways.
#include "contact_rig.h"
#include "fem_test.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

static const FemVec3 zero3 = {0.0f, 0.0f, 0.0f};

static FemColliderResult result_of(FemColliderId collider) {
	FemColliderResult result = {0};
	FEM_CHECK_INT(fem_collider_get_result(collider, &result), FEM_OK);
	return result;
}

static FemBodyId add_slab(FemWorldId world) {
	FemBlock slab = fem_block(1.0f, 2);
	slab.cells[0] = slab.cells[2] = 6;
	slab.cells[1] = 1;
	slab.size = (FemVec3){3.0f, 0.3f, 3.0f};
	slab.material.young_modulus = 1e8f;
	slab.material.stiffness_damping = 0.002f;
	slab.body.position = (FemPosition){-1.5, -0.3, -1.5};
	return fem_block_add(world, &slab);
}

static FemColliderDef box_def(FemPosition position, FemVec3 half, float mass) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.shape.half_extents = half;
	def.position = position;
	def.mass = mass;
	return def;
}

static FemQuat rotated(FemQuat q, FemVec3 w) {
	float h = 0.5f;
	return (FemQuat){q.x + h * (w.x * q.w + w.y * q.z - w.z * q.y), q.y + h * (w.y * q.w + w.z * q.x - w.x * q.z),
		q.z + h * (w.z * q.w + w.x * q.y - w.y * q.x), q.w - h * (w.x * q.x + w.y * q.y + w.z * q.z)};
}

// Leader and followers go where the leader's result says.
static void follow(FemWorldId id, const FemColliderId *colliders, int32_t count) {
	FemColliderResult result = result_of(colliders[0]);
	FemCollider *record = &fem_world_find(id)->colliders[colliders[0].index1 - 1];
	FemPosition at = {record->position.x + (double)result.translation.x,
		record->position.y + (double)result.translation.y, record->position.z + (double)result.translation.z};
	FemQuat rotation = rotated(record->rotation, result.rotation_vector);
	for (int32_t i = 0; i < count; i++)
		FEM_CHECK_INT(
			fem_collider_set_motion(colliders[i], at, rotation, result.linear_velocity, result.angular_velocity),
			FEM_OK);
}

// A bar on two feet, each a shape of its own: it stands as one on both, its mass counted once.
FEM_TEST(rigid_colliders, one_of_two_shapes_stands_as_one) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.ground_enabled = true;
	world_def.ground_height = -0.3;
	FemWorldId world = fem_world_create(&world_def);
	add_slab(world);
	FemColliderDef def = box_def((FemPosition){0.0, 0.35, 0.0}, (FemVec3){0.1f, 0.1f, 0.1f}, 40.0f);
	FemColliderId shapes[2];
	def.inertia = (FemVec3){1.0f, 14.0f, 14.0f};
	def.shape_position = (FemVec3){-0.6f, -0.2f, 0.0f};
	shapes[0] = fem_collider_create(world, &def);
	def.shape_position.x = 0.6f;
	def.leader = shapes[0];
	shapes[1] = fem_collider_create(world, &def);
	FEM_CHECK(fem_collider_is_valid(shapes[1]));
	double impulse_sum = 0.0;
	for (int i = 0; i < 240; i++) {
		fem_world_step(world, CONTACT_DT, 1);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		impulse_sum = i < 180 ? 0.0 : impulse_sum + (double)result_of(shapes[0]).impulse.y;
		FEM_CHECK(result_of(shapes[1]).impulse.y == 0.0f);
		follow(world, shapes, 2);
	}
	const FemCollider *record = &fem_world_find(world)->colliders[shapes[0].index1 - 1];
	FEM_CHECK_NEAR(impulse_sum, 40.0 * 9.81, 0.02 * 40.0 * 9.81); // 60 steps are a second
	FEM_CHECK_NEAR(record->position.y, 0.3, 0.01);
	FEM_CHECK_NEAR(record->rotation.w, 1.0, 1e-4); // one foot alone would let it tip over
	FEM_CHECK_INT(fem_collider_destroy(shapes[0]), FEM_OK);
	fem_world_step(world, CONTACT_DT, 1); // the follower is solid, but nothing moves it
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	FEM_CHECK_NEAR(result_of(shapes[1]).linear_velocity.y, 0.0, 0.01);
	fem_world_destroy(world);
}

FEM_TEST(rigid_colliders, bad_leaders_are_refused) {
	FemWorldDef world_def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&world_def), other = fem_world_create(&world_def);
	FemColliderDef def = box_def((FemPosition){0.0, 1.0, 0.0}, (FemVec3){0.1f, 0.1f, 0.1f}, 1.0f),
				   fixed = fem_default_collider_def();
	FemColliderId leader = fem_collider_create(world, &def), wall = fem_collider_create(world, &fixed);
	def.leader = wall;
	FEM_CHECK(!fem_collider_is_valid(fem_collider_create(world, &def)));
	def.leader = leader;
	FEM_CHECK(!fem_collider_is_valid(fem_collider_create(other, &def)));
	FemColliderId follower = fem_collider_create(world, &def);
	FEM_CHECK(fem_collider_is_valid(follower));
	def.leader = follower;
	FEM_CHECK(!fem_collider_is_valid(fem_collider_create(world, &def)));
	FEM_CHECK_INT(fem_collider_set_force(leader, (FemVec3){NAN, 0.0f, 0.0f}, zero3), FEM_ERROR_INVALID_ARGUMENT);
	fem_world_destroy(world);
	fem_world_destroy(other);
}

// What stands on it elsewhere is a force: the slab bears both.
FEM_TEST(rigid_colliders, load_from_elsewhere_is_borne) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.ground_enabled = true;
	world_def.ground_height = -0.3;
	FemWorldId world = fem_world_create(&world_def);
	add_slab(world);
	FemColliderDef def = box_def((FemPosition){0.0, 0.2, 0.0}, (FemVec3){0.2f, 0.2f, 0.2f}, 20.0f);
	FemColliderId box = fem_collider_create(world, &def);
	FEM_CHECK_INT(fem_collider_set_force(box, (FemVec3){0.0f, -600.0f, 0.0f}, zero3), FEM_OK);
	double impulse_sum = 0.0;
	for (int i = 0; i < 240; i++) {
		fem_world_step(world, CONTACT_DT, 1);
		impulse_sum = i < 180 ? 0.0 : impulse_sum + (double)result_of(box).impulse.y;
		follow(world, &box, 1);
	}
	FEM_CHECK_NEAR(impulse_sum, 20.0 * 9.81 + 600.0, 10.0);
	fem_world_destroy(world);
}

// A light thing set down on a sleeper does not wake it, and does not fall through it either.
FEM_TEST(rigid_colliders, sleepers_bear_light_things_asleep) {
	FemWorldDef world_def = fem_default_world_def();
	world_def.ground_enabled = true;
	world_def.ground_height = -0.3;
	FemWorldId world = fem_world_create(&world_def);
	FemBodyId slab = add_slab(world);
	for (int i = 0; i < 600 && !fem_body_is_asleep(slab); i++)
		fem_world_step(world, CONTACT_DT, 1);
	FEM_CHECK(fem_body_is_asleep(slab));
	FemColliderDef def = box_def((FemPosition){0.0, 0.12, 0.0}, (FemVec3){0.1f, 0.1f, 0.1f}, 1.0f);
	FemColliderId box = fem_collider_create(world, &def);
	double impulse_sum = 0.0;
	for (int i = 0; i < 180; i++) {
		fem_world_step(world, CONTACT_DT, 1);
		impulse_sum = i < 120 ? 0.0 : impulse_sum + (double)result_of(box).impulse.y;
		follow(world, &box, 1);
	}
	FEM_CHECK(fem_body_is_asleep(slab));
	FEM_CHECK_NEAR(impulse_sum, 9.81, 0.1);
	FEM_CHECK_NEAR(fem_world_find(world)->colliders[box.index1 - 1].position.y, 0.1, 0.003);
	fem_world_destroy(world);
}

// It falls asleep under a load of twice its weight and stays so. Fails when a load wakes it by its size alone.
FEM_TEST(rigid_colliders, sleepers_bear_what_they_fell_asleep_under) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.ground_enabled = true;
	world_def.ground_height = -0.3;
	world_def.sleeping_enabled = true;
	FemWorldId world = fem_world_create(&world_def);
	FemBodyId slab = add_slab(world);
	FemColliderDef def = box_def((FemPosition){0.0, 0.301, 0.0}, (FemVec3){0.3f, 0.3f, 0.3f}, 5400.0f);
	FemColliderId box = fem_collider_create(world, &def);
	int32_t asleep = 0;
	for (int i = 0; i < 240; i++) {
		fem_world_step(world, CONTACT_DT, 1);
		follow(world, &box, 1);
		asleep = fem_body_is_asleep(slab) ? asleep + 1 : 0;
	}
	fem_test_check(asleep > 60, __FILE__, __LINE__, "asleep for %d steps", asleep);
	fem_world_destroy(world);
}

// Over several substeps the way is the sum of what the solves gave, not the last velocity times the whole time.
FEM_TEST(rigid_colliders, displacement_over_substeps) {
	FemWorldDef world_def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&world_def);
	FemColliderDef def = box_def((FemPosition){0.0, 0.2, 0.0}, (FemVec3){0.1f, 0.1f, 0.1f}, 1.0f);
	def.linear_velocity = (FemVec3){3.0f, 0.0f, 0.0f};
	FemColliderId box = fem_collider_create(world, &def);
	fem_world_step(world, 0.1f, 4);
	FemColliderResult result = result_of(box);
	FEM_CHECK_NEAR(result.linear_velocity.y, -0.981, 1e-4);
	FEM_CHECK_NEAR(result.translation.y, -9.81 * 0.025 * 0.025 * 10.0, 1e-5); // 1 + 2 + 3 + 4 steps of g h^2
	FEM_CHECK_NEAR(result.translation.x, 0.3, 1e-5);
	fem_world_destroy(world);
}

// A level of 20,000 triangles: what lies on it meets only those beneath.
FEM_TEST(rigid_colliders, large_meshes_bear) {
	enum { SIDE = 100 };
	static FemVec3 points[(SIDE + 1) * (SIDE + 1)];
	static int32_t triangles[6 * SIDE * SIDE];
	int32_t count = 0;
	for (int k = 0; k <= SIDE; k++) {
		for (int i = 0; i <= SIDE; i++)
			points[k * (SIDE + 1) + i] = (FemVec3){(float)(i - SIDE / 2), 0.0f, (float)(k - SIDE / 2)};
	}
	for (int k = 0; k < SIDE; k++) {
		for (int i = 0; i < SIDE; i++) {
			int32_t a = k * (SIDE + 1) + i, b = a + 1, c = a + SIDE + 1, d = c + 1;
			int32_t corners[6] = {a, c, b, b, c, d};
			for (int j = 0; j < 6; j++)
				triangles[count++] = corners[j];
		}
	}
	FemWorldDef world_def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&world_def);
	FemColliderDef def = fem_default_collider_def();
	def.shape = (FemShapeDef){.type = FEM_SHAPE_TRIANGLES,
		.points = points,
		.point_count = (SIDE + 1) * (SIDE + 1),
		.triangles = triangles,
		.triangle_count = 2 * SIDE * SIDE,
		.thickness = 0.2f};
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(world, &def)));
	FemBlock cube = fem_block(0.5f, 2);
	cube.body.position = (FemPosition){20.25, 0.05, -30.25};
	FemBodyId body = fem_block_add(world, &cube);
	fem_steps(world, 120);
	FEM_CHECK_NEAR(fem_low(body), 0.0, 0.01);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	FemStatistics statistics;
	fem_world_get_statistics(world, &statistics);
	FEM_CHECK(statistics.phase_ms[FEM_PHASE_COLLISION] < 5.0); // all 20,000 took more
	fem_world_destroy(world);
}

// Two boxes that move as one, told as the mass of both with the middle between them: the lower one stands and does not
// tip, though the middle of the pair lies at its edge.
FEM_TEST(rigid_colliders, mass_of_all_that_moves_as_one) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.ground_enabled = true;
	world_def.ground_height = -0.3;
	FemWorldId world = fem_world_create(&world_def);
	add_slab(world);
	FemColliderDef def = box_def((FemPosition){0.0, 0.2, 0.0}, (FemVec3){0.2f, 0.2f, 0.2f}, 20.0f);
	FemColliderId box = fem_collider_create(world, &def);
	FemColliderMass mass = {80.0f, {0.15f, 0.3f, 0.0f}, {20.0f, 3.0f, 20.0f, 0.0f, 0.0f, 0.0f}};
	FEM_CHECK_INT(fem_collider_set_mass(box, &mass), FEM_OK);
	double impulse_sum = 0.0, torque = 0.0;
	for (int i = 0; i < 240; i++) {
		fem_world_step(world, CONTACT_DT, 1);
		impulse_sum = i < 180 ? 0.0 : impulse_sum + (double)result_of(box).impulse.y;
		torque = i < 180 ? 0.0 : torque + (double)result_of(box).angular_impulse.z;
		FemColliderResult result = result_of(box);
		result.linear_velocity = (FemVec3){0.0f, result.linear_velocity.y, 0.0f};
		FemCollider *record = &fem_world_find(world)->colliders[box.index1 - 1];
		FemPosition at = {0.0, record->position.y + (double)(result.linear_velocity.y * CONTACT_DT), 0.0};
		fem_collider_set_motion(box, at, record->rotation, result.linear_velocity, zero3);
	}
	FEM_CHECK_NEAR(impulse_sum, 80.0 * 9.81, 10.0);
	FEM_CHECK_NEAR(
		torque, 0.0, 15.0); // about the common middle: the slab presses beneath it, not beneath the box's own
	mass.inertia[0] = -1.0f;
	FEM_CHECK_INT(fem_collider_set_mass(box, &mass), FEM_ERROR_INVALID_ARGUMENT);
	mass.inertia[0] = NAN;
	FEM_CHECK_INT(fem_collider_set_mass(box, &mass), FEM_ERROR_INVALID_ARGUMENT);
	fem_world_destroy(world);
}

// A body that a collider ignores falls through it, and stops doing so when that ends; others are borne all the while.
FEM_TEST(rigid_colliders, ignored_bodies_pass) {
	FemWorldDef world_def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&world_def);
	FemBlock cube = fem_block(0.5f, 2);
	cube.body.position = (FemPosition){-1.25, 0.01, -0.25};
	FemBodyId ghost = fem_block_add(world, &cube);
	cube.body.position.x = 0.75;
	FemBodyId solid = fem_block_add(world, &cube);
	FemColliderDef def = fem_default_collider_def();
	def.shape.half_extents = (FemVec3){4.0f, 1.0f, 4.0f};
	def.position.y = -1.0;
	FemColliderId upper = fem_collider_create(world, &def);
	def.position.y = -5.0;
	FemColliderId lower = fem_collider_create(world, &def);
	FEM_CHECK_INT(fem_collider_ignore_body(upper, ghost, true), FEM_OK);
	FEM_CHECK_INT(fem_collider_ignore_body(lower, ghost, true), FEM_OK);
	FEM_CHECK_INT(fem_collider_ignore_body(lower, ghost, false), FEM_OK);
	fem_steps(world, 240);
	FEM_CHECK_NEAR(fem_low(ghost), -4.0, 0.02);
	FEM_CHECK_NEAR(fem_low(solid), 0.0, 0.02);
	FEM_CHECK_INT(fem_body_destroy(ghost), FEM_OK);
	FEM_CHECK_INT(fem_collider_ignore_body(upper, ghost, true), FEM_ERROR_INVALID_ID);
	fem_world_destroy(world);
}

// Bodies that are gone leave their places on the list of ignored ones to others.
FEM_TEST(rigid_colliders, places_of_ignored_bodies_come_free) {
	FemWorldDef world_def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&world_def);
	FemColliderDef def = fem_default_collider_def();
	FemColliderId collider = fem_collider_create(world, &def);
	FemBlock cube = fem_block(0.5f, 1);
	FemBodyId bodies[FEM_COLLIDER_IGNORED], one_more = fem_block_add(world, &cube);
	for (int i = 0; i < FEM_COLLIDER_IGNORED; i++) {
		bodies[i] = fem_block_add(world, &cube);
		FEM_CHECK_INT(fem_collider_ignore_body(collider, bodies[i], true), FEM_OK);
	}
	FEM_CHECK_INT(fem_collider_ignore_body(collider, one_more, true), FEM_ERROR_LIMIT);
	FEM_CHECK_INT(fem_body_destroy(bodies[7]), FEM_OK);
	FEM_CHECK_INT(fem_collider_ignore_body(collider, one_more, true), FEM_OK);
	FEM_CHECK(fem_collider_ignores_body(collider, one_more) && fem_collider_ignores_body(collider, bodies[15]));
	fem_world_destroy(world);
}

// Impulse, N s, that a box and its follower, which alone touches, take from a slab they strike.
static FemVec3 impulse_of_pair(bool mass_first) {
	FemWorldDef world_def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&world_def);
	add_slab(world);
	FemColliderDef def = box_def((FemPosition){0.0, 0.2, 0.0}, (FemVec3){0.2f, 0.2f, 0.2f}, 1.0f);
	def.linear_velocity = (FemVec3){0.0f, -1.0f, 0.0f};
	def.shape_position.y = 1.0f;
	FemColliderId leader = fem_collider_create(world, &def);
	FemColliderMass mass = {80.0f, {0.0f, 0.5f, 0.0f}, {20.0f, 3.0f, 20.0f, 0.0f, 0.0f, 0.0f}};
	if (mass_first)
		FEM_CHECK_INT(fem_collider_set_mass(leader, &mass), FEM_OK);
	def.shape_position.y = -0.001f;
	def.leader = leader;
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(world, &def)));
	if (!mass_first)
		FEM_CHECK_INT(fem_collider_set_mass(leader, &mass), FEM_OK);
	fem_world_step(world, CONTACT_DT, 1);
	FemVec3 impulse = result_of(leader).impulse;
	fem_world_destroy(world);
	return impulse;
}

// Fails when a mass set on the leader does not reach followers it has already: they would press as the light thing it
// was before.
FEM_TEST(rigid_colliders, followers_take_a_new_mass) {
	FemVec3 first = impulse_of_pair(true), later = impulse_of_pair(false);
	FEM_CHECK(first.y > 1.0f);
	FEM_CHECK_NEAR(later.y, first.y, 0.0);
	FEM_CHECK_NEAR(later.x, first.x, 0.0);
}
