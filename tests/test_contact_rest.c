// What touches comes to rest, holds on slopes and slides as Coulomb says (docs/method.md, "Standard measurements").
#include "contact_rig.h"
#include "fem_test.h"

#include <math.h>

#define GRAVITY 9.81
#define DEGREES (3.14159265358979 / 180.0)

// ---- slopes

typedef struct Slope {
	FemWorldId world;
	FemBodyId body;
	double angle; // rad
} Slope;

static Slope make_slope(double degrees, float friction, FemShapeType shape, FemBlock block) {
	Slope slope = {.angle = degrees * DEGREES};
	FemWorldDef def = fem_contact_world_def();
	slope.world = fem_world_create(&def);
	fem_add_plane(slope.world, shape, fem_rotation_z(slope.angle), friction);
	block.material.friction = friction;
	block.body.rotation = fem_rotation_z(slope.angle);
	// Off the middle, where the diagonal of the two triangles runs.
	block.body.position = (FemPosition){10.0 * cos(slope.angle), 10.0 * sin(slope.angle), 0.1};
	slope.body = fem_block_add(slope.world, &block);
	return slope;
}

// m downhill and m/s downhill
static double distance_down(const Slope *slope) {
	FemPosition c = fem_center(slope->body);
	return -(c.x * cos(slope->angle) + c.y * sin(slope->angle));
}

static double speed(const Slope *slope) {
	FemBodyState state = {0};
	fem_body_get_state(slope->body, &state);
	return -((double)state.linear_velocity.x * cos(slope->angle) + (double)state.linear_velocity.y * sin(slope->angle));
}

// Height of the centre over the slope: a tipping cube lifts it.
static double height(const Slope *slope) {
	FemPosition c = fem_center(slope->body);
	return -c.x * sin(slope->angle) + c.y * cos(slope->angle);
}

static void check_holds(double degrees, float friction, FemShapeType shape, FemBlock block, int32_t seconds) {
	Slope slope = make_slope(degrees, friction, shape, block);
	fem_steps(slope.world, 60);
	double before = distance_down(&slope);
	fem_steps(slope.world, 60 * (seconds - 1));
	FEM_CHECK_NEAR(distance_down(&slope) - before, 0.0, 1e-3 * (seconds - 1) / 9.0);
	FEM_CHECK_NEAR(height(&slope), 0.5 * (double)block.size.y, 3e-3);
	fem_world_destroy(slope.world);
}

static void check_slides(double degrees, float friction, FemShapeType shape, FemBlock block, double share) {
	Slope slope = make_slope(degrees, friction, shape, block);
	double exact = GRAVITY * (sin(slope.angle) - (double)friction * cos(slope.angle));
	fem_steps(slope.world, 30);
	double before = speed(&slope);
	fem_steps(slope.world, 90);
	FEM_CHECK_NEAR((speed(&slope) - before) / 1.5, exact, share * exact);
	FEM_CHECK_NEAR(height(&slope), 0.5 * (double)block.size.y, 3e-3);
	fem_world_destroy(slope.world);
}

static int32_t slope_seconds(void) {
	return fem_long_tests() ? 10 : 4;
}

// Fails when friction is not bounded by the contact's own normal force, or drags at the wrong strength.
FEM_TEST(contact_rest, slope_half_space_holds) {
	check_holds(26.0, 0.5f, FEM_SHAPE_HALF_SPACE, fem_block(0.3f, 3), 10);
}

FEM_TEST(contact_rest, slope_half_space_slides) {
	check_slides(30.0, 0.5f, FEM_SHAPE_HALF_SPACE, fem_block(0.3f, 3), 0.02);
}

FEM_TEST(contact_rest, slope_box_holds) {
	check_holds(26.0, 0.5f, FEM_SHAPE_BOX, fem_block(0.3f, 3), 10); // the first seconds are not even: the whole row
}

FEM_TEST(contact_rest, slope_box_slides) {
	check_slides(30.0, 0.5f, FEM_SHAPE_BOX, fem_block(0.3f, 3), 0.02);
}

FEM_TEST(contact_rest, slope_triangles_hold) {
	check_holds(26.0, 0.5f, FEM_SHAPE_TRIANGLES, fem_block(0.3f, 3), slope_seconds());
}

FEM_TEST(contact_rest, slope_triangles_slide) {
	check_slides(30.0, 0.5f, FEM_SHAPE_TRIANGLES, fem_block(0.3f, 3), 0.02);
}

static FemBlock rough_mesh(int which) {
	FemBlock block = fem_block(0.3f, which == 0 ? 2 : 3);
	block.kind = which == 1 ? FEM_CELLS_KUHN : FEM_CELLS_FIVE;
	block.jitter = which == 2 ? 0.02f : 0.0f;
	return block;
}

// mu = 0.8: the support must reach to the cube's edges, or it tips where it should slide (docs/method.md, "Support").
FEM_TEST(contact_rest, rough_slope_half_space) {
	for (int mesh = 0; mesh < 3; mesh++) {
		check_holds(37.0, 0.8f, FEM_SHAPE_HALF_SPACE, rough_mesh(mesh), 3);
		check_slides(42.0, 0.8f, FEM_SHAPE_HALF_SPACE, rough_mesh(mesh), 0.05);
	}
}

FEM_TEST(contact_rest, rough_slope_box) {
	for (int mesh = 0; mesh < 3; mesh++) {
		check_holds(37.0, 0.8f, FEM_SHAPE_BOX, rough_mesh(mesh), 3);
		check_slides(42.0, 0.8f, FEM_SHAPE_BOX, rough_mesh(mesh), 0.05);
	}
}

FEM_TEST(contact_rest, rough_slope_triangles) {
	for (int mesh = 0; mesh < 3; mesh++) {
		check_holds(37.0, 0.8f, FEM_SHAPE_TRIANGLES, rough_mesh(mesh), 3);
		check_slides(42.0, 0.8f, FEM_SHAPE_TRIANGLES, rough_mesh(mesh), 0.05);
	}
}

// ---- stacks

#define STACK 5

static FemWorldId make_stack(FemWorldDef def, float young_modulus, FemBodyId bodies[STACK]) {
	FemWorldId world = fem_world_create(&def);
	FemBlock block = fem_block(0.3f, 3);
	block.material.young_modulus = young_modulus;
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){.w = 1.0f}, 0.5f);
	for (int i = 0; i < STACK; i++) {
		block.body.position.y = 0.3 * i;
		bodies[i] = fem_block_add(world, &block);
	}
	return world;
}

static double drift(const FemPosition *from, const FemBodyId *bodies) {
	double most = 0.0;
	for (int i = 0; i < STACK; i++) {
		FemPosition to = fem_center(bodies[i]);
		double x = to.x - from[i].x, y = to.y - from[i].y, z = to.z - from[i].z;
		most = fmax(most, sqrt(x * x + y * y + z * z));
	}
	return most;
}

// RMS speed at 5 s; then the drift of 2 s, in the long run of 55 s. Its own weight shortens the stack by rho g H^2 /
// 2E, and five contacts rest at the slop of 1 mm.
static void check_stack_rests(float young_modulus, double drift_max) {
	FemBodyId bodies[STACK];
	FemPosition from[STACK];
	FemWorldId world = make_stack(fem_contact_world_def(), young_modulus, bodies);
	fem_steps(world, 300);
	FEM_CHECK_NEAR(fem_rms_speed(bodies, STACK), 0.0, 1e-3);
	for (int i = 0; i < STACK; i++)
		from[i] = fem_center(bodies[i]);
	int32_t seconds = fem_long_tests() ? 55 : 2;
	fem_steps(world, 60 * seconds);
	FEM_CHECK_NEAR(drift(from, bodies), 0.0, fem_long_tests() ? drift_max : drift_max / 10.0);
	FEM_CHECK_NEAR(fem_rms_speed(bodies, STACK), 0.0, 1e-3);
	double height = 0.3 * STACK;
	height -= 1000.0 * GRAVITY * height * height / (2.0 * (double)young_modulus) + STACK * 1e-3;
	FEM_CHECK_NEAR(fem_high(bodies[STACK - 1]), height, 2e-3);
	fem_world_destroy(world);
}

FEM_TEST(contact_rest, stack_1e7) {
	check_stack_rests(1e7f, 1e-3);
}

FEM_TEST(contact_rest, stack_1e9) {
	check_stack_rests(1e9f, 1e-3);
}

FEM_TEST(contact_rest, stack_1e6) {
	check_stack_rests(1e6f, 2e-3);
}

static void check_stack_sleeps(float young_modulus) {
	FemBodyId bodies[STACK];
	FemWorldId world = make_stack(fem_default_world_def(), young_modulus, bodies);
	int32_t steps = 0;
	while (steps < 600 && !fem_body_is_asleep(bodies[0])) {
		fem_steps(world, 1);
		steps++;
	}
	// What touches sleeps as one.
	for (int i = 0; i < STACK; i++)
		FEM_CHECK(fem_body_is_asleep(bodies[i]));
	fem_world_destroy(world);
}

FEM_TEST(contact_rest, stack_sleeps) {
	check_stack_sleeps(1e6f);
	check_stack_sleeps(1e7f);
	check_stack_sleeps(1e9f);
}

// ---- push-out

// Depth of a cube in a pinned slab, m after 5 s.
static double sinking(float push) {
	FemWorldDef def = fem_contact_world_def();
	def.contact_push = push;
	FemWorldId world = fem_world_create(&def);
	FemBlock slab = fem_block(0.0f, 0), cube = fem_block(0.3f, 3);
	slab.size = (FemVec3){1.0f, 0.2f, 1.0f};
	slab.cells[0] = slab.cells[2] = 5, slab.cells[1] = 1;
	slab.all_pinned = true;
	slab.body.position = (FemPosition){-0.5, -0.2, -0.5};
	fem_block_add(world, &slab);
	cube.body.position = (FemPosition){-0.16, 0.0, -0.14};
	FemBodyId body = fem_block_add(world, &cube);
	fem_steps(world, 300);
	double depth = -fem_low(body);
	fem_world_destroy(world);
	return depth;
}

FEM_TEST(contact_rest, sinks_only_without_push) {
	FEM_CHECK(sinking(0.0f) > 0.002); // 0.5 mm a second
	FEM_CHECK_NEAR(sinking(fem_default_world_def().contact_push), 1.05e-3, 3e-4);
}

// 100 times as heavy as what it stands on.
FEM_TEST(contact_rest, heavy_on_light) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	FemBlock light = fem_block(0.3f, 3), heavy = fem_block(0.3f, 3);
	light.material.density = 100.0f;
	heavy.material.density = 10000.0f;
	heavy.body.position.y = 0.3;
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){.w = 1.0f}, 0.5f);
	FemBodyId bodies[2] = {fem_block_add(world, &light), fem_block_add(world, &heavy)};
	fem_steps(world, 240);
	FEM_CHECK_NEAR(fem_high(bodies[0]) - fem_low(bodies[1]), 1.2e-3, 4e-4);
	FEM_CHECK_NEAR(fem_rms_speed(bodies, 2), 0.0, 2e-3);
	fem_world_destroy(world);
}

// 8 t on 125 g. The same strength for any load let it go 25 cm into the ground for good.
static void rest_eight_tonnes(int floor, float dt, double depth) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = floor == 0;
	FemWorldId world = fem_world_create(&def);
	if (floor > 0)
		fem_add_plane(world, floor == 1 ? FEM_SHAPE_HALF_SPACE : FEM_SHAPE_BOX, (FemQuat){.w = 1.0f}, 0.5f);
	FemBlock light = fem_block(0.5f, 2), heavy = fem_block(2.0f, 2);
	light.material.density = 1.0f;
	light.material.young_modulus = heavy.material.young_modulus = 1e9f;
	light.body.position = (FemPosition){-0.25, 0.0, -0.25};
	heavy.body.position = (FemPosition){-1.0, 0.5, -1.0};
	FemBodyId bodies[2] = {fem_block_add(world, &light), fem_block_add(world, &heavy)};
	double deepest = 0.0;
	int steps = 0, most = (int)(4.0f / dt);
	for (; steps < most && !fem_body_is_asleep(bodies[0]); steps++) {
		fem_world_step(world, dt, 1);
		deepest = fmax(deepest, -fem_low(bodies[0]));
	}
	printf("    floor %d, %.0f Hz: %.2f mm in the floor, %.2f mm in each other, %.1f mm at first, asleep at %.1f s\n",
		floor, 1.0 / (double)dt, -1e3 * fem_low(bodies[0]), 1e3 * (fem_high(bodies[0]) - fem_low(bodies[1])),
		1e3 * deepest, steps * (double)dt);
	FEM_CHECK(fem_low(bodies[0]) > -depth);
	FEM_CHECK(fem_high(bodies[0]) - fem_low(bodies[1]) < 2.0 * depth + 1e-3);
	FEM_CHECK(deepest < 0.04);
	FEM_CHECK(fem_body_is_asleep(bodies[0]) && fem_body_is_asleep(bodies[1]));
	fem_world_destroy(world);
}

FEM_TEST(contact_rest, eight_tonnes_on_125_grams) {
	for (int floor = 0; floor < 3; floor++) {
		rest_eight_tonnes(floor, 1.0f / 60.0f, 1e-3);
		rest_eight_tonnes(floor, 1.0f / 30.0f, 4e-3);
	}
}

// ---- every collider type

static FemColliderDef shape_with_top_at_zero(FemShapeType type) {
	static const FemVec3 points[] = {{-1, -1, -1}, {1, -1, -1}, {1, -1, 1}, {-1, -1, 1}, {-1.5f, 0, -1.5f},
		{1.5f, 0, -1.5f}, {1.5f, 0, 1.5f}, {-1.5f, 0, 1.5f}};
	static const int32_t triangles[] = {4, 7, 6, 4, 6, 5};
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = type;
	def.shape.half_extents = (FemVec3){1.0f, 0.5f, 1.0f};
	def.shape.radius = 1.0f;
	def.shape.half_height = 0.5f;
	def.shape.points = points;
	def.shape.point_count = 8;
	if (type == FEM_SHAPE_TRIANGLES) {
		def.shape.triangles = triangles;
		def.shape.triangle_count = 2;
	}
	bool lies = type == FEM_SHAPE_CAPSULE; // along x
	if (lies)
		def.rotation = fem_rotation_z(90.0 * DEGREES);
	def.position.y = type == FEM_SHAPE_BOX || type == FEM_SHAPE_CYLINDER ? -0.5
		: type == FEM_SHAPE_SPHERE || lies                               ? -1.0
																		 : 0.0;
	return def;
}

static void check_rests_on(FemShapeType type) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	FemColliderDef collider = shape_with_top_at_zero(type);
	FemColliderId id = fem_collider_create(world, &collider);
	FemBlock cube = fem_block(0.2f, 2);
	cube.body.position = (FemPosition){-0.1, 0.01, -0.1};
	FemBodyId body = fem_block_add(world, &cube);
	fem_steps(world, 180);
	FemColliderResult result = {0};
	fem_collider_get_result(id, &result);
	FemPosition center = fem_center(body);
	fem_test_check(fem_rms_speed(&body, 1) < 2e-3, __FILE__, __LINE__, "shape %d: moves at %g m/s", (int)type,
		fem_rms_speed(&body, 1));
	fem_test_check(
		fabs(center.y - 0.099) < 3e-3, __FILE__, __LINE__, "shape %d: centre at %g m, not 0.1", (int)type, center.y);
	fem_test_check(fabs(center.x) < 5e-3 && fabs(center.z) < 5e-3, __FILE__, __LINE__, "shape %d: went to %g, %g",
		(int)type, center.x, center.z);
	// The collider carries the weight: 8 kg for 1/60 s.
	FEM_CHECK_NEAR(result.impulse.y, -8.0 * GRAVITY / 60.0, 0.02 * 8.0 * GRAVITY / 60.0);
	fem_world_destroy(world);
}

FEM_TEST(contact_rest, on_every_collider) {
	for (int type = FEM_SHAPE_BOX; type <= FEM_SHAPE_TRIANGLES; type++)
		check_rests_on((FemShapeType)type);
}

// ---- towers

typedef struct Tower {
	float size;          // m, of each of ten cubes
	float young_modulus; // Pa
	float rate;          // Hz
	bool on_ground;      // the world's ground; else a box
	double gap;          // m, under each of them
} Tower;

// How far its top moves in ten seconds, in edges of a cube.
static double tower_moves(const Tower *tower) {
	enum { COUNT = 10 };
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = tower->on_ground;
	FemWorldId world = fem_world_create(&def);
	FemBodyId top = {0};
	if (!tower->on_ground)
		fem_add_plane(world, FEM_SHAPE_BOX, (FemQuat){.w = 1.0f}, 0.5f);
	for (int i = 0; i < COUNT; i++) {
		FemBlock cube = fem_block(tower->size, 2);
		cube.material.young_modulus = tower->young_modulus;
		cube.body.position.y = ((double)tower->size + tower->gap) * i + tower->gap;
		top = fem_block_add(world, &cube);
	}
	FemPosition before = fem_center(top);
	for (int32_t n = 0; n < (int32_t)(10.0f * tower->rate); n++)
		fem_world_step(world, 1.0f / tower->rate, 1);
	FemPosition after = fem_center(top);
	fem_world_destroy(world);
	double x = after.x - before.x, y = after.y - before.y + COUNT * tower->gap, z = after.z - before.z;
	return sqrt(x * x + y * y + z * z) / (double)tower->size;
}

// Fails when the ground is no stronger for what stands on what stands on it, when cubes that begin without overlap meet
// one after the other, a step each (at 30 Hz the tenth falls 11 cm before it does), or when their contacts become
// active one a pass: towers of 0.05 m then fall over at 30 Hz.
FEM_TEST(contact_rest, towers_of_small_cubes_stand) {
	static const float sizes[] = {0.05f, 0.1f, 0.2f}, moduli[] = {1e6f, 1e7f, 1e9f}, rates[] = {30.0f, 60.0f, 120.0f};
	for (int i = 0; i < 54; i++) {
		Tower tower = {sizes[i % 3], moduli[i / 3 % 3], rates[i / 9 % 3], i / 27 == 0, 0.0};
		double moved = tower_moves(&tower);
		fem_test_check(moved < 0.2, __FILE__, __LINE__, "%g m, E %g Pa, %g Hz, ground %d: moved by %g edges",
			(double)tower.size, (double)tower.young_modulus, (double)tower.rate, tower.on_ground, moved);
	}
}

// The same with gaps of 1 mm. Fails when a gap under the lowest cube counts as one while those between cubes do not: it
// then falls into the floor with all of the tower on it.
FEM_TEST(contact_rest, towers_with_gaps_stand) {
	for (int i = 0; i < 8; i++) {
		Tower tower = {i % 2 ? 0.1f : 0.05f, i / 2 % 2 ? 1e9f : 1e7f, 30.0f, i / 4 == 0, 1e-3};
		double moved = tower_moves(&tower);
		fem_test_check(moved < 0.2, __FILE__, __LINE__, "%g m, E %g Pa, ground %d: moved by %g edges",
			(double)tower.size, (double)tower.young_modulus, tower.on_ground, moved);
	}
}

// ---- statues

// Pieces of a slender thing of brittle ceramic, 1.6 m high, one step and one second after it was let go.
static void drop_statue(int which, double height, double tilt, int32_t out_pieces[2]) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = which % 2 == 0;
	FemWorldId world = fem_world_create(&def);
	if (which % 2)
		fem_add_plane(world, FEM_SHAPE_BOX, (FemQuat){.w = 1.0f}, 0.5f);
	FemBlock block = fem_block(0.0f, 0);
	block.cells[0] = block.cells[2] = 2 + which / 4;
	block.cells[1] = 8 + 2 * (which / 4);
	block.size = (FemVec3){0.3f, 1.6f, 0.3f};
	block.kind = which / 2 % 2 ? FEM_CELLS_FIVE : FEM_CELLS_KUHN;
	block.material.young_modulus = 1e9f;
	block.material.density = 2400.0f;
	block.material.toughness = 5e4f;
	block.material.breakable = true;
	block.body.position.y = height;
	block.body.rotation = fem_rotation_z(tilt);
	FemBodyId body = fem_block_add(world, &block);
	for (int n = 0; n < 60; n++) {
		fem_world_step(world, CONTACT_DT, 1);
		out_pieces[n > 0] = fem_body_get_pieces(body, NULL, 0);
	}
	fem_world_destroy(world);
}

// What stands 2 mm above its floor comes to rest on it whole; tilted, of 2 m, it breaks.
FEM_TEST(contact_rest, statues_just_above_the_floor_stay_whole) {
	int32_t pieces[2];
	for (int i = 0; i < 8; i++) {
		drop_statue(i, 2e-3, 0.0, pieces);
		FEM_CHECK_INT(pieces[0], 1);
		FEM_CHECK_INT(pieces[1], 1);
	}
	drop_statue(0, 2.0, 0.5, pieces);
	printf("  %d pieces of 2 m\n", pieces[1]);
	FEM_CHECK(pieces[1] > 1);
}

// What is sunk into a floor, whatever face and corner down, is pushed straight up: without friction nothing else moves
// it. Fails when the direction is a mean of the floor's face and of those that look down: a shard that stood 0.3 m deep
// in a floor slid over it at 0.8 m/s for ever.
FEM_TEST(contact_rest, what_is_sunk_into_a_floor_comes_out_straight) {
	static const FemQuat rotations[3] = {
		{0.3f, 0.1f, 0.2f, 0.927362f}, {0.1f, 0.5f, 0.4f, 0.761577f}, {0.6f, 0.0f, 0.3f, 0.74162f}};
	for (int k = 0; k < 3; k++) {
		FemWorldDef world_def = fem_default_world_def();
		FemWorldId world = fem_world_create(&world_def);
		FemBoxMesh box = fem_box_mesh(2, 3, 1, (FemVec3){0.4f, 0.5f, 0.2f}, FEM_CELLS_KUHN);
		FemMeshDef mesh = fem_box_mesh_def(&box);
		FemMaterialDef material_def = fem_default_material_def();
		material_def.friction = 0.0f;
		material_def.young_modulus = 1e9f;
		FemMaterialId material = fem_material_create(world, &material_def);
		FemColliderDef floor = fem_default_collider_def();
		floor.shape.type = FEM_SHAPE_BOX;
		floor.shape.half_extents = (FemVec3){20.0f, 2.0f, 20.0f};
		floor.position.y = -2.0;
		floor.friction = 0.0f;
		fem_collider_create(world, &floor);
		FemBodyDef def = fem_default_body_def();
		def.mesh = fem_mesh_create(world, &mesh);
		def.materials = &material;
		def.material_count = 1;
		def.dynamics = FEM_DYNAMICS_RIGID;
		def.rotation = rotations[k];
		FemBodyId body = fem_body_create(world, &def);
		FemPosition low, high;
		FEM_CHECK_INT(fem_body_get_bounds(body, &low, &high), FEM_OK);
		FEM_CHECK_INT(fem_body_teleport(body, (FemPosition){0.0, -low.y - 0.12, 0.0}, rotations[k]), FEM_OK);
		double fastest = 0.0;
		for (int i = 0; i < 120; i++) {
			fem_world_step(world, 1.0f / 60.0f, 1);
			FemBodyState state;
			FEM_CHECK_INT(fem_body_get_state(body, &state), FEM_OK);
			fastest =
				fmax(fastest, hypot((double)state.linear_momentum.x, (double)state.linear_momentum.z) / state.mass);
		}
		fem_test_check(fastest < 0.01, __FILE__, __LINE__, "case %d moves aside at %g m/s", k, fastest);
		fem_world_destroy(world);
		fem_box_mesh_free(&box);
	}
}
