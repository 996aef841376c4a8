// Energy never comes from nowhere: boxes of every stiffness, size, density and mass ratio are dropped, spun, piled and
// struck at every length of step, and their kinetic, elastic and potential energy together may never exceed that of
// the start by more than 1 % of what was put in. `build/fem_tests energy_scan.` prints every case; FEM_LONG=1 runs two
// thousand in the place of a hundred, FEM_SCAN_CASES=37,52 those alone.
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

#define GRAVITY 9.81
#define QUICK_CASES 25 // of each of the four kinds
#define LONG_CASES 500
#define TOLERANCE 0.01  // of the energy put in
#define REST_SPEED 0.01 // m/s; what is slower than this at the end is at rest, and must lie on the ground

typedef enum Kind { DROP, SPIN, PILE, BLOW, KIND_COUNT } Kind;

static const char *const kind_names[] = {"drop", "spin", "pile", "blow"};

typedef struct Case {
	Kind kind;
	int32_t cells[3];
	FemVec3 size;        // m
	float young_modulus; // Pa
	float density;       // kg/m^3
	float dt;            // s
	float speed;         // m/s: drop and blow
	float mass_ratio;    // pile: of one box to the one below; blow: of the ball to the box
	FemQuat rotation;
	FemVec3 spin; // rad/s
	int32_t steps;
} Case;

typedef struct Scene {
	FemWorldId world;
	FemBodyId bodies[3];
	int32_t body_count;
	FemColliderId ball; // null: none
	FemColliderDef ball_def;
	FemPosition ball_position;
	FemVec3 ball_velocity, ball_spin;
} Scene;

// ---- cases

// [0, 1)
static double uniform(uint32_t *seed) {
	return 0.5 * ((double)fem_random(seed) + 1.0);
}

static float between(uint32_t *seed, double low, double high) { // evenly in the logarithm
	return (float)(low * pow(high / low, uniform(seed)));
}

static FemQuat random_rotation(uint32_t *seed) {
	float q[4], square = 0.0f;
	for (int i = 0; i < 4; i++) {
		q[i] = fem_random(seed);
		square += q[i] * q[i];
	}
	float scale = 1.0f / sqrtf(square + 1e-6f);
	return (FemQuat){
		q[0] * scale, q[1] * scale, q[2] * scale, sqrtf(fmaxf(0.0f, 1.0f - (square - q[3] * q[3]) * scale * scale))};
}

static double diagonal_of(const Case *one) {
	FemVec3 s = one->size;
	return sqrt((double)s.x * s.x + (double)s.y * s.y + (double)s.z * s.z);
}

static Case make_case(Kind kind, int32_t index) {
	static const int32_t shapes[][3] = {{2, 2, 2}, {4, 1, 1}, {4, 4, 1}, {1, 1, 1}};
	static const float steps_of_time[] = {0.001f, 1.0f / 240.0f, 1.0f / 60.0f, 1.0f / 60.0f, 1.0f / 30.0f, 0.1f, 0.25f};
	uint32_t seed = 2654435761u * (uint32_t)(index * KIND_COUNT + (int)kind + 1);
	for (int i = 0; i < 4; i++)
		fem_random(&seed);
	const int32_t *cells = shapes[(int)(4.0 * uniform(&seed))];
	Case one = {.kind = kind, .cells = {cells[0], cells[1], cells[2]}, .steps = kind == PILE ? 150 : 250};
	float cell = between(&seed, 1e-3, 100.0) / (float)cells[0];
	one.size = (FemVec3){cell * (float)cells[0], cell * (float)cells[1], cell * (float)cells[2]};
	one.young_modulus = between(&seed, 1e2, 1e13);
	one.density = between(&seed, 1.0, 2e4);
	one.dt = steps_of_time[(int)(7.0 * uniform(&seed))];
	one.speed = between(&seed, 0.5, 15.0);
	one.mass_ratio = between(&seed, 1.0, kind == PILE ? 100.0 : 1e6);
	one.rotation = random_rotation(&seed);
	// No faster than a step can follow, nor than what strains the box by 0.3: beyond, it flies apart. Nor may a corner
	// pass FemWorldDef.node_speed_max, 500 m/s: nodes are braked to that one by one, whatever it strains.
	float spin = fminf(fminf(10.0f, 0.5f / one.dt), (float)(500.0 / diagonal_of(&one))),
		  holds = sqrtf(0.3f * one.young_modulus / one.density) / one.size.x;
	spin = fminf(spin, holds);
	one.spin = (FemVec3){spin * fem_random(&seed), spin * fem_random(&seed), spin * fem_random(&seed)};
	return one;
}

// ---- scenes

static FemBodyId add_box(
	const Case *one, FemWorldId world, FemPosition center, float scale, float density, bool rotated) {
	FemBlock block = fem_block(1.0f, 1);
	memcpy(block.cells, one->cells, sizeof block.cells);
	block.size = (FemVec3){scale * one->size.x, scale * one->size.y, scale * one->size.z};
	block.kind = FEM_CELLS_KUHN;
	block.material.young_modulus = one->young_modulus;
	block.material.density = density;
	block.body.rotation = rotated ? one->rotation : (FemQuat){0.0f, 0.0f, 0.0f, 1.0f};
	const double half[3] = {0.5 * (double)block.size.x, 0.5 * (double)block.size.y, 0.5 * (double)block.size.z};
	FemQuat q = block.body.rotation;
	double x = q.x, y = q.y, z = q.z, w = q.w; // the corner lies at center - R half
	block.body.position = (FemPosition){
		center.x -
			((1 - 2 * (y * y + z * z)) * half[0] + 2 * (x * y - w * z) * half[1] + 2 * (x * z + w * y) * half[2]),
		center.y -
			(2 * (x * y + w * z) * half[0] + (1 - 2 * (x * x + z * z)) * half[1] + 2 * (y * z - w * x) * half[2]),
		center.z -
			(2 * (x * z - w * y) * half[0] + 2 * (y * z + w * x) * half[1] + (1 - 2 * (x * x + y * y)) * half[2]),
	};
	if (one->kind == DROP)
		block.body.linear_velocity = (FemVec3){0.3f * one->speed, -one->speed, 0.0f};
	if (one->kind == SPIN)
		block.body.angular_velocity = one->spin;
	return fem_block_add(world, &block);
}

static void add_ball(const Case *one, Scene *scene) {
	FemColliderDef def = fem_default_collider_def();
	double radius = 0.3 * diagonal_of(one), volume = (double)one->size.x * one->size.y * one->size.z;
	def.kind = FEM_COLLIDER_DYNAMIC;
	def.shape.type = FEM_SHAPE_SPHERE;
	def.shape.radius = (float)radius;
	def.mass = (float)(one->mass_ratio * one->density * volume * 0.01); // from a hundredth to ten thousand times
	float inertia = 0.4f * def.mass * def.shape.radius * def.shape.radius;
	def.inertia = (FemVec3){inertia, inertia, inertia};
	def.linear_velocity = (FemVec3){one->speed, 0.0f, 0.0f};
	def.position = (FemPosition){-0.52 * diagonal_of(one) - radius, 0.1 * diagonal_of(one), 0.0};
	scene->ball_def = def;
	scene->ball_position = def.position;
	scene->ball_velocity = def.linear_velocity;
	scene->ball = fem_collider_create(scene->world, &def);
}

static Scene make_scene(const Case *one) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.ground_enabled = one->kind == DROP || one->kind == PILE;
	if (!world_def.ground_enabled)
		world_def.gravity = (FemVec3){0};
	Scene scene = {.world = fem_world_create(&world_def), .body_count = one->kind == PILE ? 3 : 1};
	double low = 0.0, scale = 1.0, density = one->density;
	for (int32_t b = 0; b < scene.body_count; b++) {
		double height = one->kind == PILE ? 0.52 * scale * (double)one->size.y : 0.52 * diagonal_of(one);
		FemPosition center = {0.0, world_def.ground_enabled ? low + height : 0.0, 0.0};
		scene.bodies[b] = add_box(one, scene.world, center, (float)scale, (float)density, one->kind != PILE);
		low += 2.0 * height;
		density = fmin(2e4, density * one->mass_ratio);
	}
	if (one->kind == BLOW)
		add_ball(one, &scene);
	return scene;
}

// Colliders with mass are moved by the caller with what the solve made of them.
static void move_ball(Scene *scene) {
	FemColliderResult result;
	if (scene->ball.index1 == 0 || fem_collider_get_result(scene->ball, &result) != FEM_OK)
		return;
	scene->ball_position.x += result.translation.x;
	scene->ball_position.y += result.translation.y;
	scene->ball_position.z += result.translation.z;
	scene->ball_velocity = result.linear_velocity;
	scene->ball_spin = result.angular_velocity;
	fem_collider_set_motion(
		scene->ball, scene->ball_position, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, scene->ball_velocity, scene->ball_spin);
}

// ---- energy

static double square(FemVec3 v) {
	return (double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z;
}

// Kinetic, elastic and potential, J; 0 is at the ground.
static double energy_of(const Case *one, const Scene *scene) {
	double sum = 0.0;
	for (int32_t b = 0; b < scene->body_count; b++) {
		FemBodyState state = {0};
		fem_body_get_state(scene->bodies[b], &state);
		sum += state.kinetic_energy + state.elastic_energy;
		if (one->kind == DROP || one->kind == PILE)
			sum += state.mass * GRAVITY * state.center.y;
	}
	const FemColliderDef *ball = &scene->ball_def;
	return one->kind != BLOW ? sum
							 : sum + 0.5 * (double)ball->mass * square(scene->ball_velocity) +
			0.5 * (double)ball->inertia.x * square(scene->ball_spin);
}

// Positions are floats: each is off by up to 2^-24 of its size, which strains a tet by as much times its gradients. At
// E = 1e13 that is energy to be seen, though nothing moves by it. J, of all tets, for six roundings: of the rest shape,
// its gradients, and four in the update.
static double rounding_of(const Case *one, const Scene *scene) {
	double edge = (double)one->size.x / one->cells[0], sum = 0.0;
	for (int32_t b = 0; b < scene->body_count; b++) {
		FemShape shape;
		FemBodyState state = {0};
		fem_body_get_state(scene->bodies[b], &state);
		if (!fem_body_get_shape(scene->bodies[b], false, &shape))
			continue;
		double far = fmax(sqrt(square(shape.low)), sqrt(square(shape.high))), off = far / edge / (1 << 24);
		double volume = (double)one->size.x * one->size.y * one->size.z, gradients = 6.0;
		sum += 36.0 * 0.5 * 1.35 * (double)one->young_modulus * volume * gradients * off * off;
	}
	return sum;
}

typedef struct Outcome {
	double highest; // energy over that of the start, in units of what was put in
	double speed;   // m/s, of the fastest node at the end
	double lowest;  // m, of the lowest node at the end
	uint32_t errors;
} Outcome;

static Outcome run(const Case *one) {
	Scene scene = make_scene(one);
	Outcome outcome = {.lowest = 0.0};
	for (int32_t b = 0; b < scene.body_count; b++)
		FEM_CHECK(fem_body_is_valid(scene.bodies[b]));
	double start = energy_of(one, &scene);
	for (int32_t n = 0; n < one->steps; n++) {
		outcome.errors |= fem_world_step(scene.world, one->dt, 1);
		move_ball(&scene);
		double share = (energy_of(one, &scene) - rounding_of(one, &scene) - start) / start;
		outcome.highest = share > outcome.highest || !isfinite(share) ? share : outcome.highest;
	}
	outcome.speed = fem_peak_speed(scene.bodies, scene.body_count);
	for (int32_t b = 0; b < scene.body_count && (one->kind == DROP || one->kind == PILE); b++)
		outcome.lowest = fmin(outcome.lowest, fem_low(scene.bodies[b]));
	fem_world_destroy(scene.world);
	return outcome;
}

// What rests stands 1 mm deep, and as much deeper as its weight needs: the ground pushes out by a fifth of the depth a
// step with 300 times the mass that stands on it, so g dt^2 / 60 under its own weight; eight times that for an edge of
// the box, and for as many times the weight as lies on the lowest box.
static double depth_allowed(const Case *one) {
	double load = one->kind == PILE ? 1.0 + (double)one->mass_ratio * (1.0 + (double)one->mass_ratio) : 1.0;
	return 1e-3 + 8.0 * load * GRAVITY * (double)one->dt * (double)one->dt / 60.0;
}

static void check_case(Kind kind, int32_t index) {
	Case one = make_case(kind, index);
	Outcome outcome = run(&one);
	char label[192];
	double edge = (double)one.size.x / one.cells[0], ahead = (double)one.dt / edge;
	snprintf(label, sizeof label,
		"%s %d: %d x %d x %d cells, %.2g m, E %.1e Pa, %.0f kg/m^3, dt %.4f s, ratio %.0e, E dt^2 / (rho h^2) %.1e",
		kind_names[kind], index, one.cells[0], one.cells[1], one.cells[2], (double)one.size.x,
		(double)one.young_modulus, (double)one.density, (double)one.dt, (double)one.mass_ratio,
		(double)one.young_modulus * ahead * ahead / (double)one.density);
	bool ok = outcome.highest <= TOLERANCE;
	printf("    %s: energy gained expected 0, got %.3g, tolerance %.2g; ends at %.2g m/s, lowest %.2g, errors %x%s\n",
		label, outcome.highest, TOLERANCE, outcome.speed, outcome.lowest, outcome.errors, ok ? "" : " GAINS");
	fem_test_check(ok, __FILE__, __LINE__, "%s: energy gained expected 0, got %g, tolerance %g", label, outcome.highest,
		TOLERANCE);
	double depth = depth_allowed(&one);
	fem_test_check(outcome.speed > REST_SPEED || outcome.lowest > -depth, __FILE__, __LINE__,
		"%s: rests %g m below the ground, at most %g", label, -outcome.lowest, depth);
}

static void scan(Kind kind) {
	const char *listed = getenv("FEM_SCAN_CASES");
	for (char *end; listed && *listed; listed = *end ? end + 1 : end)
		check_case(kind, (int32_t)strtol(listed, &end, 10));
	if (listed)
		return;
	int32_t count = fem_long_tests() ? LONG_CASES : QUICK_CASES;
	for (int32_t i = 0; i < count; i++)
		check_case(kind, i);
}

// Cubes beyond what floats can hold, E dt^2 / (rho h^2) of 1e14 and more, are softened, say so, and rest where they
// fall.
FEM_TEST(energy_scan, beyond_floats) {
	static const int32_t drops[] = {200, 329, 385};
	for (int i = 0; i < 3; i++)
		check_case(DROP, drops[i]);
	Case one = make_case(DROP, drops[0]);
	Scene scene = make_scene(&one);
	FemBodyState state = {0};
	fem_body_get_state(scene.bodies[0], &state);
	FEM_CHECK_INT(state.softened_tets, fem_body_get_tet_count(scene.bodies[0]));
	FEM_CHECK_INT(fem_body_get_softened_tets(scene.bodies[0]), state.softened_tets);
	FEM_CHECK_INT(fem_body_get_softened_tets((FemBodyId){0}), 0);
	fem_world_destroy(scene.world);
	one.size = (FemVec3){0.01f, 0.01f, 0.01f}; // a steel cube of 1 cm is not
	one.young_modulus = 2e11f;
	one.density = 7800.0f;
	scene = make_scene(&one);
	fem_body_get_state(scene.bodies[0], &state);
	FEM_CHECK_INT(state.softened_tets, 0);
	FEM_CHECK_INT(fem_body_get_softened_tets(scene.bodies[0]), 0);
	fem_world_destroy(scene.world);
}

static double fastest_node(const FemVec3 *before, const FemVec3 *after, int32_t count, float dt) {
	double fastest = 0.0;
	for (int32_t i = 0; i < count; i++) {
		double x = (double)after[i].x - (double)before[i].x, y = (double)after[i].y - (double)before[i].y,
			   z = (double)after[i].z - (double)before[i].z;
		fastest = fmax(fastest, sqrt(x * x + y * y + z * z) / (double)dt);
	}
	return fastest;
}

// A tilted steel cube of 2 x 2 x 2 cells thrown down at 3 m/s: the fastest node of 5 s, and of the last step.
static void throw_cube(float young_modulus, float size, float dt, double *out_fastest, double *out_last) {
	enum { NODES = 27 };
	FemRigDef def = fem_rig_cube_def(2, size);
	def.world.ground_enabled = true;
	def.world.sleeping_enabled = true;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.material.young_modulus = young_modulus;
	def.material.density = 7850.0f;
	def.body.position = (FemPosition){0.0, 2.0 * (double)size, 0.0};
	def.body.rotation = (FemQuat){0.2f, 0.1f, 0.3f, 0.9273618f};
	def.body.linear_velocity = (FemVec3){0.0f, -3.0f, 0.0f};
	FemRig rig = fem_rig_create(&def);
	FemVec3 before[NODES], after[NODES];
	FemPosition origin;
	*out_fastest = 0.0;
	for (int32_t step = 0; step < (int32_t)(5.0f / dt); step++) {
		fem_body_get_positions(rig.body, &origin, before, NODES);
		fem_world_step(rig.world, dt, 1);
		fem_body_get_positions(rig.body, &origin, after, NODES);
		*out_last = fastest_node(before, after, NODES, dt);
		*out_fastest = fmax(*out_fastest, *out_last);
	}
	fem_rig_destroy(&rig);
}

// Small stiff things must not leave faster than they came. With rigid motion and elasticity in one product of floats
// these three reached 185, 500 and 227 m/s and never rested.
FEM_TEST(energy_scan, small_steel_cubes_rest_where_they_fall) {
	static const struct {
		float young_modulus, size, dt; // Pa, m, s
	} cubes[] = {{2e11f, 0.01f, 1.0f / 60.0f}, {7e10f, 0.01f, 1.0f / 30.0f}, {2e11f, 0.1f, 0.25f}};
	for (int i = 0; i < 3; i++) {
		double fastest, last;
		throw_cube(cubes[i].young_modulus, cubes[i].size, cubes[i].dt, &fastest, &last);
		printf("    E %.0e Pa, %.2f m, dt %.4f s: fastest %.2f m/s, at 5 s %.4f m/s\n", (double)cubes[i].young_modulus,
			(double)cubes[i].size, (double)cubes[i].dt, fastest, last);
		FEM_CHECK(fastest < 3.1);
		FEM_CHECK(last < 0.01);
	}
}

// A free box is no support for what strikes it: were contacts as strong as the ball's 1,000 times its mass asks for,
// this blow would gain 2.9 %.
FEM_TEST(energy_scan, heavy_balls_strike_light_boxes) {
	check_case(BLOW, 355);
}

FEM_TEST(energy_scan, drop) {
	scan(DROP);
}

FEM_TEST(energy_scan, spin) {
	scan(SPIN);
}

FEM_TEST(energy_scan, pile) {
	scan(PILE);
}

FEM_TEST(energy_scan, blow) {
	scan(BLOW);
}
