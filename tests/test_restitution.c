// Restitution: how high what is dropped comes up again, and that it never gains.
#include "base/vec.h"
#include "contact_rig.h"
#include "fem_test.h"
#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>

#define RADIUS 0.1f // m
#define DROP 1.0    // m
#define G 9.81      // m/s^2

typedef enum Floor { FLOOR_GROUND, FLOOR_HALF_SPACE, FLOOR_BOX, FLOOR_TRIANGLES, FLOOR_COUNT } Floor;

static const char *const floor_names[FLOOR_COUNT] = {"ground", "half space", "box", "triangles"};

typedef struct Drop {
	const char *name;
	bool is_ball, on_corner;
	float young_modulus, density;
	FemDynamics dynamics;
	Floor floor;
	float restitution, hz;
	float floor_restitution; // of colliders
} Drop;

static const Drop stone_ball = {
	.name = "rigid ball", .is_ball = true, .young_modulus = 5e10f, .density = 2700.0f, .dynamics = FEM_DYNAMICS_RIGID};
static const Drop stone_cube = {
	.name = "rigid cube", .young_modulus = 5e10f, .density = 2700.0f, .dynamics = FEM_DYNAMICS_RIGID};
static const Drop stone_corner = {.name = "rigid cube on its corner",
	.on_corner = true,
	.young_modulus = 5e10f,
	.density = 2700.0f,
	.dynamics = FEM_DYNAMICS_RIGID};
static const Drop steel_ball = {.name = "elastic steel ball",
	.is_ball = true,
	.young_modulus = 2e11f,
	.density = 7800.0f,
	.dynamics = FEM_DYNAMICS_ELEMENTS};
static const Drop rubber_ball = {.name = "rubber ball",
	.is_ball = true,
	.young_modulus = 1e6f,
	.density = 1000.0f,
	.dynamics = FEM_DYNAMICS_ELEMENTS};
static const float rates[] = {30.0f, 60.0f, 120.0f, 240.0f};

// The nodes of a cube of 2 m about the origin, each moved along its ray to the sphere of its layer.
static void round_off(FemBoxMesh *mesh) {
	for (int32_t i = 0; i < mesh->node_count; i++) {
		FemVec3 *p = &mesh->positions[i];
		float length = fem_vec3_length(*p), most = fmaxf(fabsf(p->x), fmaxf(fabsf(p->y), fabsf(p->z)));
		if (length > 0.0f)
			*p = fem_vec3_scale(*p, most / length);
	}
}

static FemBodyId add_drop(FemWorldId world, const Drop *drop) {
	FemBoxMesh mesh = fem_box_mesh(4, 4, 4, (FemVec3){2.0f, 2.0f, 2.0f}, FEM_CELLS_FIVE);
	for (int32_t i = 0; i < mesh.node_count; i++)
		mesh.positions[i] = fem_vec3_sub(mesh.positions[i], (FemVec3){1.0f, 1.0f, 1.0f});
	if (drop->is_ball)
		round_off(&mesh);
	for (int32_t i = 0; i < mesh.node_count; i++)
		mesh.positions[i] = fem_vec3_scale(mesh.positions[i], RADIUS);
	FemMeshDef mesh_def = fem_box_mesh_def(&mesh);
	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = drop->young_modulus;
	material_def.density = drop->density;
	material_def.restitution = drop->restitution;
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh_def);
	def.materials = &material;
	def.material_count = 1;
	def.dynamics = drop->dynamics;
	double reach = drop->on_corner ? sqrt(3.0) * (double)RADIUS : (double)RADIUS;
	def.position = (FemPosition){0.0, DROP + reach, 0.0};
	if (drop->on_corner) { // the diagonal is upright
		double angle = acos(1.0 / sqrt(3.0)), half = 0.5 * angle, s = sin(half) / sqrt(2.0);
		def.rotation = (FemQuat){(float)s, 0.0f, (float)-s, (float)cos(half)};
	}
	fem_box_mesh_free(&mesh);
	FemBodyId body = fem_body_create(world, &def);
	FEM_CHECK(fem_body_is_valid(body));
	return body;
}

static FemWorldId world_of(const Drop *drop, FemBodyId *out_body) {
	static const FemShapeType shapes[] = {[FLOOR_HALF_SPACE] = FEM_SHAPE_HALF_SPACE,
		[FLOOR_BOX] = FEM_SHAPE_BOX,
		[FLOOR_TRIANGLES] = FEM_SHAPE_TRIANGLES};
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = drop->floor == FLOOR_GROUND;
	FemWorldId world = fem_world_create(&def);
	*out_body = add_drop(world, drop);
	if (drop->floor != FLOOR_GROUND)
		fem_add_bouncing_plane(world, shapes[drop->floor], drop->floor_restitution);
	return world;
}

// m, the mean of the nodes. fem_center() would sum up the strains of all tets in every step, which took longer than the
// steps.
static double mean_height(FemBodyId body) {
	enum { NODES = 125 };
	FemVec3 positions[NODES];
	FemPosition origin;
	double sum = 0.0;
	FEM_CHECK_INT(fem_body_get_positions(body, &origin, positions, NODES), NODES);
	for (int i = 0; i < NODES; i++)
		sum += (double)positions[i].y;
	return origin.y + sum / NODES;
}

// Heights above the place where it rests, of as many rebounds, m; those that do not come are 0.
static void measure_heights(const Drop *drop, int count, double *out) {
	FemBodyId body;
	FemWorldId world = world_of(drop, &body);
	double start = mean_height(body), rest = start - DROP, last = start;
	int rebounds = 0;
	bool was_rising = false;
	for (int i = 0; i < count; i++)
		out[i] = 0.0;
	for (int i = 0; i < (int)((float)(count + 1) * drop->hz) && rebounds < count; i++) {
		fem_world_step(world, 1.0f / drop->hz, 1);
		double now = mean_height(body);
		if (was_rising && now <= last)
			out[rebounds++] = last - rest;
		was_rising = now > last;
		last = now;
	}
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

static void check_heights(Drop drop, Floor floor, float hz, double tolerance) {
	double heights[2];
	drop.floor = floor;
	drop.hz = hz;
	drop.restitution = 0.5f;
	measure_heights(&drop, 2, heights);
	bool good = fabs(heights[0] - 0.25) <= tolerance * 0.25;
	fem_test_check(good, __FILE__, __LINE__, "%s on %s at %.0f Hz comes up to %.3f m", drop.name, floor_names[floor],
		(double)hz, heights[0]);
}

// A fall of 1 m with e = 0.5 comes up to 0.25 m. Fails when only a part of the mass is turned round, when what rebounds
// before it touches, or below the surface, keeps or loses that height, and when gravity of a stopped step counts twice.
FEM_TEST(restitution, half_comes_up_to_a_quarter) {
	for (int r = 0; r < 4; r++) {
		for (int floor = 0; floor < FLOOR_COUNT; floor++) {
			check_heights(stone_ball, (Floor)floor, rates[r], 0.1);
			check_heights(stone_cube, (Floor)floor, rates[r], 0.1);
			check_heights(stone_corner, (Floor)floor, rates[r], rates[r] < 60.0f ? 0.2 : 0.1);
			check_heights(steel_ball, (Floor)floor, rates[r], 0.1);
		}
	}
}

static void check_no_gain(Drop drop, Floor floor, float hz, double least) {
	double heights[20], highest = 0.0;
	drop.floor = floor;
	drop.hz = hz;
	drop.restitution = 1.0f;
	measure_heights(&drop, 20, heights);
	for (int i = 0; i < 20; i++)
		highest = fmax(highest, heights[i]);
	fem_test_check(highest <= 1.01 * DROP && heights[0] >= least, __FILE__, __LINE__,
		"%s on %s at %.0f Hz comes up to %.3f m first, and to %.3f m at most", drop.name, floor_names[floor],
		(double)hz, heights[0], highest);
}

// With e = 1 twenty rebounds never come higher than the drop, and the first of stiff things nearly so. Fails when the
// depth or the gap at which it rebounds adds to its energy.
FEM_TEST(restitution, one_never_gains) {
	for (int r = 0; r < 4; r++) {
		for (int floor = 0; floor < FLOOR_COUNT; floor++) {
			if (fem_long_tests() || (r + floor) % 2 == 0) // each rate and each floor
				check_no_gain(stone_ball, (Floor)floor, rates[r], 0.97);
		}
	}
	check_no_gain(steel_ball, FLOOR_GROUND, 60.0f, 0.97);
	check_no_gain(steel_ball, FLOOR_BOX, 30.0f, 0.97);
	check_no_gain(rubber_ball, FLOOR_GROUND, 30.0f, 0.9);
	check_no_gain(rubber_ball, FLOOR_BOX, 60.0f, 0.7);
	check_no_gain(rubber_ball, FLOOR_GROUND, 240.0f, 0.0);
}

static double largest_energy(Drop drop) {
	FemBodyId body;
	FemWorldId world = world_of(&drop, &body);
	FemBodyState state;
	double first = 0.0, most = 0.0;
	for (int i = 0; i < (int)(1.5f * drop.hz); i++) {
		fem_world_step(world, 1.0f / drop.hz, 1);
		fem_body_get_state(body, &state);
		double now = state.kinetic_energy + state.elastic_energy + state.mass * G * state.center.y;
		first = i == 0 ? now : first;
		most = fmax(most, now);
	}
	fem_world_destroy(world);
	return most / first;
}

// A jelly of 1e5 Pa rebounds by its elasticity alone: at 240 Hz its nodes would shake it to 1.3 times its energy.
// Rubber of 1e6 Pa at 60 Hz, which waves cross in a step, comes up to 0.37 m and more.
FEM_TEST(restitution, what_is_soft_does_not_gain) {
	Drop jelly = rubber_ball, plain;
	double bouncing[1], elastic[1];
	jelly.young_modulus = 1e5f;
	jelly.hz = 240.0f;
	plain = jelly;
	jelly.restitution = 0.7f;
	FEM_CHECK(largest_energy(jelly) < 1.001);
	measure_heights(&jelly, 1, bouncing);
	measure_heights(&plain, 1, elastic);
	FEM_CHECK_NEAR(bouncing[0], elastic[0], 0.0);
	FEM_CHECK(elastic[0] > 0.15);
	Drop rubber = rubber_ball;
	rubber.restitution = 0.7f;
	rubber.hz = 60.0f;
	measure_heights(&rubber, 1, bouncing);
	printf("  rubber of 1e6 Pa, e 0.7, 60 Hz: %.3f m\n", bouncing[0]);
	FEM_CHECK(bouncing[0] > 0.35 && bouncing[0] < 0.495);
}

typedef struct Throw {
	FemVec3 velocity, spin; // m/s, rad/s
	FemQuat rotation;
	float restitution, hz;
	FemDynamics dynamics;
	bool on_box;
} Throw;

static Throw random_throw(int index) {
	static const float restitutions[] = {1.0f, 0.97f, 0.9f};
	uint32_t seed = 77u + 13u * (uint32_t)(index / 12);
	float r[10], length = 0.0f;
	for (int i = 0; i < 10; i++)
		r[i] = fem_random(&seed);
	for (int i = 6; i < 10; i++)
		length += r[i] * r[i];
	length = sqrtf(length);
	return (Throw){
		.velocity = {3.0f * r[0], -2.0f + r[1], 3.0f * r[2]},
		.spin = {20.0f * r[3], 20.0f * r[4], 20.0f * r[5]},
		.rotation = {r[6] / length, r[7] / length, r[8] / length, r[9] / length},
		.restitution = restitutions[index % 3],
		.hz = index / 3 % 2 == 0 ? 60.0f : 240.0f,
		.dynamics = index / 12 % 2 == 0 ? FEM_DYNAMICS_RIGID : FEM_DYNAMICS_ELEMENTS,
		.on_box = index / 6 % 2 == 0,
	};
}

// Of kinetic, elastic and potential energy and -m g v dt / 2, which free flight keeps: the largest rise in a step over
// what there is at the start. out_left: the share that is left in the end.
static double largest_gain(const Throw *thrown, double *out_left) {
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = !thrown->on_box;
	FemWorldId world = fem_world_create(&def);
	if (thrown->on_box)
		fem_add_bouncing_plane(world, FEM_SHAPE_BOX, 0.0f);
	FemBlock block = fem_block(0.2f, 2);
	block.material.young_modulus = 5e10f;
	block.material.density = 2700.0f;
	block.material.restitution = thrown->restitution;
	block.body.dynamics = thrown->dynamics;
	block.body.position.y = 0.6;
	block.body.rotation = thrown->rotation;
	block.body.linear_velocity = thrown->velocity;
	block.body.angular_velocity = thrown->spin;
	FemBodyId body = fem_block_add(world, &block);
	double start = 0.0, before = 0.0, gain = 0.0;
	for (int i = 0; i < (int)thrown->hz; i++) {
		FemBodyState state;
		fem_body_get_state(body, &state);
		double height = state.center.y - 0.5 / (double)thrown->hz * (double)state.linear_velocity.y;
		double now = state.kinetic_energy + state.elastic_energy + state.mass * G * height;
		start = i == 0 ? now : start;
		gain = i == 0 ? 0.0 : fmax(gain, (now - before) / start);
		before = now;
		fem_world_step(world, 1.0f / thrown->hz, 1);
	}
	fem_world_destroy(world);
	*out_left = before / start;
	return gain;
}

// Cubes thrown with spin on rough ground. Fails when a slip that friction turns round may add to the rebound (24 % in a
// step on the ground, 9 % on a box).
FEM_TEST(restitution, spin_and_friction_add_nothing) {
	double most = 0.0, kept = 0.0;
	for (int i = 0; i < 48; i++) {
		Throw thrown = random_throw(i);
		double left, gain = largest_gain(&thrown, &left);
		most = fmax(most, gain);
		kept += left / 48.0;
		fem_test_check(gain < 0.005, __FILE__, __LINE__, "throw %d, e %.2f, %.0f Hz, gains %.4f in a step", i,
			(double)thrown.restitution, (double)thrown.hz, gain);
	}
	printf("  48 throws gain at most %.4f in a step, and keep %.2f of their energy for a second\n", most, kept);
	FEM_CHECK(kept > 0.6); // they do rebound
}

// The larger of both counts: a stone without restitution on a floor with 0.5, and the other way round with less.
FEM_TEST(restitution, of_a_pair_is_the_larger) {
	Drop drop = stone_ball;
	double heights[1];
	drop.hz = 60.0f;
	drop.floor = FLOOR_BOX;
	drop.floor_restitution = 0.5f;
	measure_heights(&drop, 1, heights);
	FEM_CHECK_NEAR(heights[0], 0.25, 0.025);
	drop.floor_restitution = 0.1f;
	drop.restitution = 0.5f;
	measure_heights(&drop, 1, heights);
	FEM_CHECK_NEAR(heights[0], 0.25, 0.025);
}

// Without gravity a ball of 1 meets one of 4 times its density: momentum stays, and the relative speed is halved.
FEM_TEST(restitution, of_two_bodies_of_unequal_mass) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	for (int k = 0; k < 2; k++) {
		FemWorldId world = fem_world_create(&def);
		Drop light = k == 0 ? stone_ball : steel_ball, heavy = light;
		light.restitution = 0.5f;
		heavy.density = 4.0f * light.density;
		FemBodyId a = add_drop(world, &light), b = add_drop(world, &heavy);
		fem_body_teleport(b, (FemPosition){0.02, DROP + 0.5, 0.01}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
		FemBodyState before, one, other;
		for (int32_t i = 0; i < 125; i++)
			fem_body_set_velocity(a, i, (FemVec3){0.0f, 3.0f, 0.0f});
		fem_body_get_state(a, &before);
		fem_steps(world, 30);
		fem_body_get_state(a, &one);
		fem_body_get_state(b, &other);
		double sum = (double)one.linear_momentum.y + (double)other.linear_momentum.y;
		double apart = (double)other.linear_velocity.y - (double)one.linear_velocity.y;
		double left = one.kinetic_energy + other.kinetic_energy;
		printf("  %s: parted at %.3f of 3 m/s, %.3f of the energy\n", light.name, apart, left / before.kinetic_energy);
		FEM_CHECK_NEAR(sum, (double)before.linear_momentum.y, 1e-3 * (double)before.linear_momentum.y);
		FEM_CHECK_NEAR(apart, 1.5, 0.1);
		FEM_CHECK(left < before.kinetic_energy);
		fem_world_destroy(world);
	}
}

// What rests does not rebound, whatever its restitution. Fails when the speed that gravity gives in a step counts.
FEM_TEST(restitution, what_rests_stays) {
	for (int r = 0; r < 4; r++) {
		Drop drop = stone_cube;
		FemBodyId body;
		drop.restitution = 1.0f;
		drop.floor = r % 2 == 0 ? FLOOR_GROUND : FLOOR_BOX;
		FemWorldId world = world_of(&drop, &body);
		fem_body_teleport(body, (FemPosition){0.0, (double)RADIUS, 0.0}, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f});
		for (int i = 0; i < (int)rates[r]; i++) {
			fem_world_step(world, 1.0f / rates[r], 1);
			FEM_CHECK(fabs(fem_low(body)) < 2e-3);
		}
		fem_world_destroy(world);
	}
}

// Twelve cubes fall on each other with e = 0.5, and sleep within six seconds.
FEM_TEST(restitution, piles_sleep) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = true;
	FemWorldId world = fem_world_create(&def);
	FemBodyId bodies[12];
	for (int i = 0; i < 12; i++) {
		FemBlock block = fem_block(0.2f, 1);
		block.material.young_modulus = 5e10f;
		block.material.density = 2700.0f;
		block.material.restitution = 0.5f;
		block.body.dynamics = i % 2 == 0 ? FEM_DYNAMICS_RIGID : FEM_DYNAMICS_ELEMENTS;
		block.body.position = (FemPosition){0.05 * (i % 3), 0.5 + 0.3 * i, 0.04 * (i % 2)};
		bodies[i] = fem_block_add(world, &block);
	}
	int steps = 0, asleep = 0;
	for (; steps < 360 && asleep < 12; steps++) {
		fem_steps(world, 1);
		asleep = 0;
		for (int i = 0; i < 12; i++)
			asleep += fem_body_is_asleep(bodies[i]);
	}
	printf("  asleep after %.1f s\n", (double)steps * (double)CONTACT_DT);
	FEM_CHECK_INT(asleep, 12);
	fem_world_destroy(world);
}

static uint64_t hash_after(FemWorldId world, int steps) {
	fem_steps(world, steps);
	uint64_t hash = fem_world_hash(world);
	fem_world_destroy(world);
	return hash;
}

// Fails when a snapshot, or what is read back of a material, loses the restitution of materials or colliders.
FEM_TEST(restitution, is_checked_and_saved) {
	FemWorldDef world_def = fem_contact_world_def();
	FemWorldId empty = fem_world_create(&world_def);
	FemMaterialDef def = fem_default_material_def(), read;
	FEM_CHECK_NEAR(def.restitution, 0.0, 0.0);
	def.restitution = 3.0f;
	FemMaterialId material = fem_material_create(empty, &def);
	FEM_CHECK_INT(fem_material_get(material, &read), FEM_OK);
	FEM_CHECK_NEAR(read.restitution, 1.0, 0.0);
	def.restitution = -0.1f;
	FEM_CHECK_INT(fem_material_set(material, &def), FEM_ERROR_INVALID_ARGUMENT);
	def.restitution = NAN;
	FEM_CHECK_INT(fem_material_set(material, &def), FEM_ERROR_INVALID_ARGUMENT);
	FemColliderDef collider = fem_default_collider_def();
	collider.restitution = 1.5f;
	FEM_CHECK(!fem_collider_is_valid(fem_collider_create(empty, &collider)));
	fem_world_destroy(empty);
	for (int k = 0; k < 2; k++) {
		Drop drop = stone_ball;
		FemBodyId body;
		drop.floor = FLOOR_BOX;
		drop.restitution = k == 0 ? 0.5f : 0.0f;
		drop.floor_restitution = k == 0 ? 0.0f : 0.5f;
		FemWorldId world = world_of(&drop, &body);
		fem_steps(world, 20);
		size_t size = fem_world_save(world, NULL, 0);
		void *data = malloc(size);
		FEM_CHECK(fem_world_save(world, data, size) == size);
		FemWorldId copy = fem_world_restore(data, size, 1);
		free(data);
		FEM_CHECK(fem_world_is_valid(copy));
		FEM_CHECK(hash_after(world, 60) == hash_after(copy, 60));
	}
}
