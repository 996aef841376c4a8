// Colliders: bad input to their calls, what they do to bodies, and what bodies do to them.
#include "cube_scene.h"
#include "fem_test.h"
#include "sentences.h"
#include "world/api/registry.h"
#include "world/world.h"

#define DT (1.0f / 60.0f)

static const FemVec3 zero3 = {0.0f, 0.0f, 0.0f};
static const FemPosition zero_position = {0.0, 0.0, 0.0};
static const FemQuat no_rotation = {0.0f, 0.0f, 0.0f, 1.0f};

#define CHECK_REFUSED(world, def) \
	do { \
		FEM_CHECK_INT(fem_collider_create((world), &(def)).index1, 0); \
		FEM_CHECK(fem_has_sentence()); \
	} while (0)

// ---- scenes

static void run(FemWorldId world, int steps) {
	for (int i = 0; i < steps; i++)
		FEM_CHECK_INT(fem_world_step(world, DT, 1) & ~FEM_STEP_SOLVER_CAPPED, FEM_STEP_OK);
}

static FemColliderDef box_def(FemColliderKind kind, FemPosition position, FemVec3 half) {
	FemColliderDef def = fem_default_collider_def();
	def.kind = kind;
	def.position = position;
	def.shape.half_extents = half;
	return def;
}

static FemColliderId add_box(FemWorldId world, FemColliderKind kind, FemPosition position, FemVec3 half) {
	FemColliderDef def = box_def(kind, position, half);
	FemColliderId collider = fem_collider_create(world, &def);
	FEM_CHECK(fem_collider_is_valid(collider));
	return collider;
}

// One unit cube of 500 kg whose foot stands at y = 0 (or where asked), with a floor box below it.
typedef struct Scene {
	FemCubeScene cube;
	FemWorldId world;
	FemBodyId body;
	FemColliderId floor;
} Scene;

static Scene cube_on_floor(FemColliderKind kind) {
	Scene scene = {.cube = fem_cube_scene()};
	scene.world = scene.cube.world;
	scene.body = scene.cube.body;
	FEM_CHECK_INT(fem_body_teleport(scene.body, (FemPosition){-0.5, 0.0, -0.5}, no_rotation), FEM_OK);
	scene.floor = add_box(scene.world, kind, (FemPosition){0.0, -0.5, 0.0}, (FemVec3){4.0f, 0.5f, 4.0f});
	return scene;
}

static FemBodyState state_of(FemBodyId body) {
	FemBodyState state = {0};
	FEM_CHECK_INT(fem_body_get_state(body, &state), FEM_OK);
	return state;
}

static FemColliderResult result_of(FemColliderId collider) {
	FemColliderResult result = {0};
	FEM_CHECK_INT(fem_collider_get_result(collider, &result), FEM_OK);
	return result;
}

// ---- bad input

static void check_bad_collider(FemColliderId collider) {
	FemColliderResult result;
	FEM_CHECK(!fem_collider_is_valid(collider));
	CHECK_FAILS(fem_collider_destroy(collider), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_collider_set_motion(collider, zero_position, no_rotation, zero3, zero3), FEM_ERROR_INVALID_ID);
	CHECK_FAILS(fem_collider_get_result(collider, &result), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_collider_get_user_data(collider), 0);
}

FEM_TEST(colliders, bad_ids) {
	FemCubeScene scene = fem_cube_scene(), other = fem_cube_scene();
	FemColliderId kept =
		add_box(scene.world, FEM_COLLIDER_STATIC, (FemPosition){50.0, 0.0, 0.0}, (FemVec3){1.0f, 1.0f, 1.0f});
	FemColliderId gone =
		add_box(scene.world, FEM_COLLIDER_STATIC, (FemPosition){60.0, 0.0, 0.0}, (FemVec3){1.0f, 1.0f, 1.0f});
	FEM_CHECK_INT(fem_collider_destroy(gone), FEM_OK);
	check_bad_collider(gone);
	check_bad_collider((FemColliderId){0});
	check_bad_collider((FemColliderId){-1, kept.world0, kept.generation});
	check_bad_collider((FemColliderId){1000000, kept.world0, kept.generation});
	check_bad_collider((FemColliderId){kept.index1, 63, kept.generation});
	check_bad_collider((FemColliderId){kept.index1, UINT16_MAX, kept.generation});
	check_bad_collider((FemColliderId){kept.index1, other.world.index1 - 1, kept.generation});
	// A new one takes the slot; the old id stays dead.
	FemColliderId next =
		add_box(scene.world, FEM_COLLIDER_STATIC, (FemPosition){60.0, 0.0, 0.0}, (FemVec3){1.0f, 1.0f, 1.0f});
	FEM_CHECK_INT(next.index1, gone.index1);
	check_bad_collider(gone);
	FEM_CHECK(fem_collider_is_valid(kept) && fem_collider_is_valid(next));
	FEM_CHECK_INT(fem_collider_in_world(kept, other.world).index1, 0);
	FEM_CHECK_INT(fem_collider_in_world(kept, (FemWorldId){0}).index1, 0);
	FEM_CHECK_INT(fem_collider_in_world(kept, scene.world).index1, kept.index1);
	FemColliderDef def = fem_default_collider_def();
	CHECK_REFUSED((FemWorldId){0}, def);
	FEM_CHECK_INT(fem_world_get_contact_events((FemWorldId){0}, NULL), 0);
	FEM_CHECK_INT(
		fem_world_destroy(other.world), FEM_OK); // made second: its end does not give back the first one's memory
	fem_cube_scene_end(&scene);
	check_bad_collider(kept);
}

FEM_TEST(colliders, bad_defs) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef good = fem_default_collider_def(), def = good;
	const float bad_floats[] = {NAN, INFINITY, -INFINITY};
	FEM_CHECK_INT(fem_collider_create(scene.world, NULL).index1, 0);
#define REFUSE(change) \
	do { \
		def = good; \
		change; \
		CHECK_REFUSED(scene.world, def); \
	} while (0)
	REFUSE(def.cookie = 0);
	REFUSE(def = (FemColliderDef){0});
	REFUSE(def.kind = (FemColliderKind)3);
	REFUSE(def.kind = FEM_COLLIDER_DYNAMIC); // no mass
	REFUSE((def.kind = FEM_COLLIDER_DYNAMIC, def.mass = 1e13f));
	REFUSE((def.kind = FEM_COLLIDER_DYNAMIC, def.mass = -1.0f));
	REFUSE((def.kind = FEM_COLLIDER_DYNAMIC, def.mass = 1.0f, def.shape.type = FEM_SHAPE_HALF_SPACE));
	REFUSE(def.inertia.y = -1.0f);
	REFUSE(def.friction = -0.1f);
	REFUSE(def.friction = 11.0f);
	REFUSE(def.rotation = (FemQuat){0});
	REFUSE(def.position.x = 2e9);
	REFUSE(def.linear_velocity.x = 2e5f);
	REFUSE(def.shape.type = (FemShapeType)0);
	REFUSE(def.shape.type = (FemShapeType)8);
	REFUSE(def.shape.half_extents.y = 0.0f);
	REFUSE(def.shape.half_extents.z = -1.0f);
	REFUSE(def.shape.half_extents.x = 1e6f);
	REFUSE((def.shape.type = FEM_SHAPE_SPHERE, def.shape.radius = 0.0f));
	REFUSE((def.shape.type = FEM_SHAPE_CAPSULE, def.shape.half_height = -1.0f));
	REFUSE((def.shape.type = FEM_SHAPE_CYLINDER, def.shape.half_height = 0.0f));
	for (int i = 0; i < 3; i++) {
		float bad = bad_floats[i];
		REFUSE(def.position.y = (double)bad);
		REFUSE(def.rotation.x = bad);
		REFUSE(def.linear_velocity.z = bad);
		REFUSE(def.angular_velocity.x = bad);
		REFUSE(def.friction = bad);
		REFUSE(def.inertia.x = bad);
		REFUSE(def.shape.half_extents.x = bad);
		REFUSE((def.shape.type = FEM_SHAPE_SPHERE, def.shape.radius = bad));
		REFUSE((def.shape.type = FEM_SHAPE_CYLINDER, def.shape.half_height = bad));
		REFUSE((def.kind = FEM_COLLIDER_DYNAMIC, def.mass = bad));
	}
	run(scene.world, 2); // the slots that were made for what was refused do no harm
	fem_cube_scene_end(&scene);
}

FEM_TEST(colliders, bad_points_and_triangles) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef good = fem_default_collider_def(), def = good;
	FemVec3 flat[5] = {
		{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 1.0f}, {0.5f, 0.0f, 0.5f}};
	FemVec3 same[4] = {{1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f}, {1.0f, 1.0f, 1.0f}};
	FemVec3 broken[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, NAN, 0.0f}, {0.0f, 0.0f, 1.0f}};
	FemVec3 many[65] = {{0.0f, 0.0f, 0.0f}};
	int32_t triangles[6] = {0, 1, 2, 0, 2, 3}, outside[3] = {0, 1, 5}, negative[3] = {0, -1, 2};
	for (int i = 0; i < 65; i++)
		many[i] = (FemVec3){cosf((float)i), sinf((float)i), (float)(i % 7)};
	good.shape.type = FEM_SHAPE_CONVEX;
	REFUSE((void)0); // no points
	REFUSE((def.shape.points = flat, def.shape.point_count = 5));
	REFUSE((def.shape.points = same, def.shape.point_count = 4));
	REFUSE((def.shape.points = broken, def.shape.point_count = 4));
	REFUSE((def.shape.points = many, def.shape.point_count = 65));
	REFUSE((def.shape.points = many, def.shape.point_count = -1));
	REFUSE((def.shape.points = many, def.shape.point_count = 3));
	good.shape.type = FEM_SHAPE_TRIANGLES;
	good.shape.points = flat;
	good.shape.point_count = 5;
	REFUSE((void)0); // no triangles
	good.shape.triangles = triangles;
	good.shape.triangle_count = 2;
	REFUSE(def.shape.triangles = NULL);
	REFUSE(def.shape.triangle_count = 0);
	REFUSE(def.shape.triangle_count = -5);
	REFUSE(def.shape.triangle_count = INT32_MAX);
	REFUSE(def.shape.point_count = INT32_MAX);
	REFUSE((def.shape.triangles = outside, def.shape.triangle_count = 1));
	REFUSE((def.shape.triangles = negative, def.shape.triangle_count = 1));
	REFUSE(def.shape.thickness = 0.0f);
	REFUSE(def.shape.thickness = NAN);
	REFUSE(def.shape.points = broken);
	def = good;
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(scene.world, &def)));
	// Triangles without area are met by nothing, but do no harm.
	FemVec3 lines[3] = {{0.0f, 0.5f, 0.0f}, {1.0f, 0.5f, 1.0f}, {2.0f, 0.5f, 2.0f}};
	def.shape.points = lines;
	def.shape.point_count = 3;
	def.shape.triangle_count = 1;
	fem_collider_create(scene.world, &def);
	run(scene.world, 5);
	fem_cube_scene_end(&scene);
}

FEM_TEST(colliders, bad_motion) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderId box =
		add_box(scene.world, FEM_COLLIDER_KINEMATIC, (FemPosition){9.0, 0.0, 0.0}, (FemVec3){1.0f, 1.0f, 1.0f});
	FemPosition at = {9.0, 0.0, 0.0};
	uint64_t hash = fem_world_hash(scene.world);
	CHECK_FAILS(fem_collider_set_motion(box, (FemPosition){NAN, 0.0, 0.0}, no_rotation, zero3, zero3),
		FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_collider_set_motion(box, (FemPosition){0.0, INFINITY, 0.0}, no_rotation, zero3, zero3),
		FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_collider_set_motion(box, (FemPosition){0.0, 0.0, -2e9}, no_rotation, zero3, zero3),
		FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_collider_set_motion(box, at, (FemQuat){0}, zero3, zero3), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(
		fem_collider_set_motion(box, at, (FemQuat){NAN, 0.0f, 0.0f, 1.0f}, zero3, zero3), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(
		fem_collider_set_motion(box, at, no_rotation, (FemVec3){0.0f, NAN, 0.0f}, zero3), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_collider_set_motion(box, at, no_rotation, zero3, (FemVec3){0.0f, 0.0f, INFINITY}),
		FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(
		fem_collider_set_motion(box, at, no_rotation, (FemVec3){0.0f, 3e5f, 0.0f}, zero3), FEM_ERROR_INVALID_ARGUMENT);
	CHECK_FAILS(fem_collider_get_result(box, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK(fem_world_hash(scene.world) == hash);
	fem_cube_scene_end(&scene);
}

FEM_TEST(colliders, nothing_changes_while_stepping) {
	FemCubeScene scene = fem_cube_scene();
	FemColliderDef def = fem_default_collider_def();
	def.position.x = 9.0;
	def.user_data = 5;
	FemColliderId box = fem_collider_create(scene.world, &def);
	FemColliderResult result;
	FEM_CHECK_INT(fem_world_step_begin(scene.world, DT, 1), FEM_OK);
	CHECK_REFUSED(scene.world, def);
	CHECK_FAILS(fem_collider_destroy(box), FEM_ERROR_STEPPING);
	CHECK_FAILS(fem_collider_set_motion(box, zero_position, no_rotation, zero3, zero3), FEM_ERROR_STEPPING);
	CHECK_FAILS(fem_collider_get_result(box, &result), FEM_ERROR_STEPPING);
	FEM_CHECK(fem_collider_is_valid(box));
	FEM_CHECK_INT(fem_collider_get_user_data(box), 5);
	FEM_CHECK_INT(fem_world_get_contact_events(scene.world, NULL), 0);
	FEM_CHECK_INT(fem_world_step_end(scene.world), FEM_STEP_OK);
	fem_cube_scene_end(&scene);
}

// Without contacts a world keeps colliders, but nothing touches them.
FEM_TEST(colliders, contacts_off) {
	int64_t before = fem_memory_bytes();
	FemWorldDef world_def = fem_default_world_def();
	world_def.contacts_enabled = false;
	FemWorldId world = fem_world_create(&world_def);
	FemColliderId box = add_box(world, FEM_COLLIDER_STATIC, zero_position, (FemVec3){1.0f, 1.0f, 1.0f});
	FEM_CHECK_INT(fem_collider_set_motion(box, (FemPosition){3.0, 0.0, 0.0}, no_rotation, zero3, zero3), FEM_OK);
	run(world, 3);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	FEM_CHECK_INT(fem_collider_destroy(box), FEM_OK);
	FEM_CHECK_INT(fem_world_destroy(world), FEM_OK);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// Places in the sweep of what was destroyed are free only after a step.
FEM_TEST(colliders, come_and_go_without_steps) {
	FemCubeScene scene = fem_cube_scene();
	for (int i = 0; i < 300; i++) {
		FemColliderId box =
			add_box(scene.world, FEM_COLLIDER_STATIC, (FemPosition){9.0, 0.0, 0.0}, (FemVec3){1.0f, 1.0f, 1.0f});
		FemBodyId body = fem_cube_scene_add(&scene);
		if (!FEM_CHECK(fem_body_is_valid(body)))
			break;
		FEM_CHECK_INT(fem_body_destroy(body), FEM_OK);
		FEM_CHECK_INT(fem_collider_destroy(box), FEM_OK);
	}
	FEM_CHECK_INT(fem_world_validate(scene.world), FEM_OK);
	run(scene.world, 2);
	fem_cube_scene_end(&scene);
}

// ---- what they do

FEM_TEST(colliders, rest_on_each_shape) {
	static const FemVec3 corners[8] = {{-2.0f, -1.0f, -2.0f}, {2.0f, -1.0f, -2.0f}, {-2.0f, 0.0f, -2.0f},
		{2.0f, 0.0f, -2.0f}, {-2.0f, -1.0f, 2.0f}, {2.0f, -1.0f, 2.0f}, {-2.0f, 0.0f, 2.0f}, {2.0f, 0.0f, 2.0f}};
	static const int32_t top[6] = {2, 6, 3, 3, 6, 7};
	FemShapeDef shapes[] = {
		{.type = FEM_SHAPE_BOX, .half_extents = {2.0f, 0.5f, 2.0f}},
		{.type = FEM_SHAPE_CYLINDER, .radius = 2.0f, .half_height = 0.5f},
		{.type = FEM_SHAPE_CONVEX, .points = corners, .point_count = 8},
		{.type = FEM_SHAPE_TRIANGLES,
			.points = corners,
			.point_count = 8,
			.triangles = top,
			.triangle_count = 2,
			.thickness = 0.5f},
		{.type = FEM_SHAPE_HALF_SPACE},
	};
	double heights[] = {-0.5, -0.5, 0.0, 0.0, 0.0};
	for (int i = 0; i < 5; i++) {
		FemCubeScene scene = fem_cube_scene();
		FemColliderDef def = fem_default_collider_def();
		def.shape = shapes[i];
		def.position.y = heights[i];
		FemColliderId collider = fem_collider_create(scene.world, &def);
		FEM_CHECK_INT(fem_world_set_sleeping(scene.world, false), FEM_OK);
		fem_body_teleport(scene.body, (FemPosition){-0.5, 0.0, -0.5}, no_rotation);
		run(scene.world, 180);
		FemBodyState state = state_of(scene.body);
		if (!fem_test_check(
				fabs(state.center.y - 0.5) < 0.03, __FILE__, __LINE__, "shape %d: centre at %g m", i, state.center.y))
			printf("  contacts %d\n", result_of(collider).contact_count);
		fem_test_check(fabs((double)result_of(collider).impulse.y * -60.0 / (state.mass * 9.81) - 1.0) < 0.02, __FILE__,
			__LINE__, "shape %d carries %g N of %g", i, (double)result_of(collider).impulse.y * -60.0,
			state.mass * 9.81);
		fem_cube_scene_end(&scene);
	}
}

FEM_TEST(colliders, what_rested_on_it_wakes_when_it_goes) {
	for (int teleported = 0; teleported < 2; teleported++) {
		Scene scene = cube_on_floor(FEM_COLLIDER_STATIC);
		run(scene.world, 300);
		FEM_CHECK(fem_body_is_asleep(scene.body));
		double height = state_of(scene.body).center.y;
		FEM_CHECK_NEAR(height, 0.5, 0.02);
		if (teleported)
			FEM_CHECK_INT(
				fem_collider_set_motion(scene.floor, (FemPosition){100.0, -0.5, 0.0}, no_rotation, zero3, zero3),
				FEM_OK);
		else
			FEM_CHECK_INT(fem_collider_destroy(scene.floor), FEM_OK);
		run(scene.world, 60);
		FEM_CHECK(!fem_body_is_asleep(scene.body));
		FEM_CHECK(state_of(scene.body).center.y < height - 3.0);
		fem_cube_scene_end(&scene.cube);
	}
}

// A level that takes the place of another: what was made asleep has not rested on what goes.
FEM_TEST(colliders, what_starts_asleep_sleeps_on_while_others_go) {
	for (int steps = 0; steps < 2; steps++) {
		Scene scene = cube_on_floor(FEM_COLLIDER_STATIC);
		run(scene.world, 10);
		FemBodyDef def = fem_default_body_def();
		def.mesh = scene.cube.mesh;
		def.materials = &scene.cube.material;
		def.material_count = 1;
		def.position = (FemPosition){0.5, 0.0, -0.5}; // beside the other
		def.starts_asleep = true;
		FemBodyId sleeper = fem_body_create(scene.world, &def);
		FEM_CHECK(fem_body_is_asleep(sleeper));
		run(scene.world, steps);
		FEM_CHECK_INT(fem_collider_destroy(scene.floor), FEM_OK);
		FEM_CHECK(fem_body_is_asleep(sleeper) == (steps == 0));
		fem_body_destroy(scene.body);
		FEM_CHECK(fem_body_is_asleep(sleeper) == (steps == 0));
		fem_cube_scene_end(&scene.cube);
	}
}

// A body that rested on a body that is destroyed falls.
FEM_TEST(colliders, what_rested_on_a_body_wakes_when_it_goes) {
	Scene scene = cube_on_floor(FEM_COLLIDER_STATIC);
	FemBodyId upper = fem_cube_scene_add(&scene.cube);
	fem_body_teleport(upper, (FemPosition){-0.5, 1.0, -0.5}, no_rotation);
	run(scene.world, 400);
	FEM_CHECK(fem_body_is_asleep(upper));
	FEM_CHECK_NEAR(state_of(upper).center.y, 1.5, 0.04);
	fem_body_destroy(scene.body);
	run(scene.world, 60);
	FEM_CHECK(state_of(upper).center.y < 1.0);
	fem_cube_scene_end(&scene.cube);
}

// A sleeper that is woken within a step keeps the floor it sleeps on.
FEM_TEST(colliders, struck_sleeper_stays_on_its_floor) {
	Scene scene = cube_on_floor(FEM_COLLIDER_STATIC);
	run(scene.world, 300);
	FEM_CHECK(fem_body_is_asleep(scene.body));
	FemBodyId other = fem_cube_scene_add(&scene.cube);
	fem_body_teleport(other, (FemPosition){-1.7, 0.1, -0.5}, no_rotation);
	fem_body_add_velocity(other, (FemVec3){3.0f, 0.0f, 0.0f}, zero3);
	run(scene.world, 60);
	FEM_CHECK(state_of(scene.body).center.x > 0.05);
	FEM_CHECK_NEAR(state_of(scene.body).center.y, 0.5, 0.05);
	fem_cube_scene_end(&scene.cube);
}

static void move_floor(const Scene *scene, FemVec3 velocity, int steps) {
	FemWorld *world = fem_world_find(scene->world);
	for (int i = 0; i < steps; i++) {
		FemPosition at = world->colliders[scene->floor.index1 - 1].position;
		FEM_CHECK_INT(fem_collider_set_motion(scene->floor, at, no_rotation, velocity, zero3), FEM_OK);
		fem_world_step(scene->world, DT, 1);
		at = (FemPosition){
			at.x + (double)(velocity.x * DT), at.y + (double)(velocity.y * DT), at.z + (double)(velocity.z * DT)};
		fem_collider_set_motion(scene->floor, at, no_rotation, velocity, zero3);
	}
}

FEM_TEST(colliders, kinematic_one_carries_and_lifts) {
	Scene scene = cube_on_floor(FEM_COLLIDER_KINEMATIC);
	run(scene.world, 30);
	move_floor(&scene, (FemVec3){0.5f, 0.0f, 0.0f}, 120);
	FemBodyState state = state_of(scene.body);
	FEM_CHECK_NEAR(state.linear_velocity.x, 0.5, 0.02);
	FEM_CHECK_NEAR(state.center.x, 1.0, 0.05);
	move_floor(&scene, (FemVec3){0.0f, 0.5f, 0.0f}, 120);
	state = state_of(scene.body);
	FEM_CHECK_NEAR(state.center.y, 1.5, 0.05);
	FEM_CHECK(!fem_body_is_asleep(scene.body));
	fem_cube_scene_end(&scene.cube);
}

FEM_TEST(colliders, kinematic_one_pushes) {
	Scene scene = cube_on_floor(FEM_COLLIDER_STATIC);
	run(scene.world, 300);
	FEM_CHECK(fem_body_is_asleep(scene.body));
	Scene pusher = scene; // the box beside the cube in the floor's place
	pusher.floor =
		add_box(scene.world, FEM_COLLIDER_KINEMATIC, (FemPosition){-1.05, 0.5, 0.0}, (FemVec3){0.5f, 0.4f, 0.4f});
	move_floor(&pusher, (FemVec3){0.5f, 0.0f, 0.0f}, 120);
	FemBodyState state = state_of(scene.body);
	FEM_CHECK_NEAR(state.linear_velocity.x, 0.5, 0.05);
	FEM_CHECK_NEAR(state.center.x, 0.95, 0.06);
	FEM_CHECK(result_of(pusher.floor).impulse.x < 0.0f);
	fem_cube_scene_end(&scene.cube);
}
