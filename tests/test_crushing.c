// Brittle things go to grains under a pressure that they cannot carry.
#include "contact_rig.h"
#include "fem_test.h"
#include "model/piece.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRENGTH 1e7f // Pa

typedef struct Strike {
	int32_t cells;   // of the slab, along x
	double hz;       // steps a second
	float speed;     // m/s
	float ball_mass; // kg
	float crush_strength;
	float gravity;  // m/s^2
	double seconds; // of the run
} Strike;

typedef struct Crater {
	FemWorldId world;
	FemBodyId body;
	FemColliderId ball;
	FemPosition ball_position;
	FemVec3 ball_velocity;
	double volume, mass; // m^3, kg: crushed
	double lowest, highest;
	FemVec3 momentum; // kg m/s, of the grains
	float width;      // m, that crushed tets are from where the ball is above
} Crater;

static FemMaterialDef stone(float crush_strength) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = 1.5e9f;
	def.poisson_ratio = 0.25f;
	def.density = 2700.0f;
	def.stiffness_damping = 0.002f;
	def.breakable = true;
	def.toughness = 1.5e6f;
	def.crush_strength = crush_strength;
	return def;
}

// A slab of 0.4 x 0.2 x 0.4 m on a floor, a ball just above it.
static Crater make_strike(const Strike *strike) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, -strike->gravity, 0.0f};
	Crater out = {.world = fem_world_create(&def), .ball_position = {0.21, 0.261, 0.19}};
	fem_add_plane(out.world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	FemBlock block = fem_block(0.4f, strike->cells);
	block.kind = FEM_CELLS_KUHN;
	block.cells[1] = strike->cells / 2;
	block.size.y = 0.2f;
	block.material = stone(strike->crush_strength);
	out.body = fem_block_add(out.world, &block);
	FemColliderDef ball = fem_default_collider_def();
	ball.shape.type = FEM_SHAPE_SPHERE;
	ball.shape.radius = 0.06f;
	ball.kind = FEM_COLLIDER_DYNAMIC;
	ball.mass = strike->ball_mass;
	ball.position = out.ball_position;
	out.ball_velocity = ball.linear_velocity = (FemVec3){0.0f, -strike->speed, 0.0f};
	out.ball = fem_collider_create(out.world, &ball);
	return out;
}

// Balls are moved by the caller.
static void move_ball(Crater *crater, float dt) {
	FemColliderResult result;
	FEM_CHECK_INT(fem_collider_get_result(crater->ball, &result), FEM_OK);
	FemVec3 v = crater->ball_velocity = result.linear_velocity;
	crater->ball_position.x += (double)(dt * v.x);
	crater->ball_position.y += (double)(dt * v.y);
	crater->ball_position.z += (double)(dt * v.z);
	fem_collider_set_motion(crater->ball, crater->ball_position, (FemQuat){.w = 1.0f}, v, (FemVec3){0.0f, 0.0f, 0.0f});
}

static void note_events(Crater *crater) {
	const FemCrushEvent *events;
	int32_t count = fem_world_get_crush_events(crater->world, &events);
	for (int32_t i = 0; i < count; i++) {
		crater->volume += (double)events[i].volume;
		crater->mass += (double)events[i].mass;
		FEM_CHECK(events[i].tet_count > 0 && fem_material_is_valid(events[i].material));
		crater->width =
			fmaxf(crater->width, (float)fabs(events[i].center.x - 0.21) + (float)fabs(events[i].center.z - 0.19));
	}
}

static Crater run_strike(const Strike *strike) {
	Crater crater = make_strike(strike);
	float dt = (float)(1.0 / strike->hz);
	for (int s = 0; s < (int)(strike->seconds * strike->hz); s++) {
		fem_world_step(crater.world, dt, 1);
		move_ball(&crater, dt);
		note_events(&crater);
	}
	FEM_CHECK_INT(fem_world_validate(crater.world), FEM_OK);
	return crater;
}

static double crushed_cm3(const Strike *strike) {
	Crater crater = run_strike(strike);
	fem_world_destroy(crater.world);
	return 1e6 * crater.volume;
}

// 60 kg at 8 m/s have 1,920 J, which crush 192 cm3 at 10 MPa, less what stays in the slab's motion. Fails when what is
// crushed follows the force of a step, or the size of tets.
FEM_TEST(crushing, a_crater_is_as_large_as_the_energy_of_the_blow) {
	static const double rates[] = {30.0, 60.0, 120.0, 240.0};
	for (int32_t cells = 8; cells <= 12; cells += 4) {
		for (int r = 0; r < 4; r++) {
			Strike strike = {cells, rates[r], 8.0f, 60.0f, STRENGTH, 9.81f, 0.05};
			double volume = crushed_cm3(&strike);
			printf("  %d cells, %.0f Hz: %.0f cm3\n", cells, rates[r], volume);
			FEM_CHECK(volume > 75.0 && volume < 200.0);
		}
	}
}

FEM_TEST(crushing, only_what_is_said_to_is_crushed) {
	Strike none = {8, 60.0, 16.0f, 60.0f, 0.0f, 9.81f, 0.05}, weak = {8, 60.0, 1.0f, 60.0f, STRENGTH, 9.81f, 0.05};
	FEM_CHECK(crushed_cm3(&none) == 0.0);
	FEM_CHECK(crushed_cm3(&weak) == 0.0);
}

// A weight that rests crushes nothing until its pressure is beyond the strength. Fails without the rule for loads, and
// when loads count as blows.
FEM_TEST(crushing, weights_that_rest_crush_by_their_pressure) {
	Strike light = {8, 60.0, 0.0f, 300.0f, STRENGTH, 9.81f, 0.5},
		   heavy = {8, 60.0, 0.0f, 60000.0f, STRENGTH, 9.81f, 0.5};
	double volumes[2] = {crushed_cm3(&light), crushed_cm3(&heavy)};
	printf("  %.0f cm3 under 300 kg, %.0f under 60 t\n", volumes[0], volumes[1]);
	FEM_CHECK(volumes[0] == 0.0 && volumes[1] > 50.0);
}

// What rebounds gives back a part of its energy, 1 - e^2 is left. Fails when all that its larger impulse stops is
// counted.
FEM_TEST(crushing, rebounds_crush_less) {
	double volumes[2];
	for (int e = 0; e < 2; e++) {
		Strike strike = {8, 60.0, 8.0f, 60.0f, STRENGTH, 9.81f, 0.05};
		Crater crater = make_strike(&strike);
		FemMaterialDef material = stone(STRENGTH);
		FemBodyState state;
		FEM_CHECK_INT(fem_body_get_state(crater.body, &state), FEM_OK);
		FemTetState tet;
		FEM_CHECK_INT(fem_body_get_tet_state(crater.body, 0, &tet), FEM_OK);
		material.restitution = e ? 0.7f : 0.0f;
		FEM_CHECK_INT(fem_material_set(tet.material, &material), FEM_OK);
		for (int s = 0; s < 3; s++) {
			fem_world_step(crater.world, 1.0f / 60.0f, 1);
			move_ball(&crater, 1.0f / 60.0f);
			note_events(&crater);
		}
		volumes[e] = 1e6 * crater.volume;
		fem_world_destroy(crater.world);
	}
	printf("  %.0f cm3, %.0f with a rebound of 0.7\n", volumes[0], volumes[1]);
	FEM_CHECK(volumes[0] > 75.0 && volumes[1] < 0.9 * volumes[0]);
}

// Under a flat weight that covers it a slab is pressed and nowhere pulled: what it touches goes, each tet once. Fails
// when the largest tension is taken for the pressure.
FEM_TEST(crushing, flat_weights_crush_what_they_lie_on) {
	static const float masses[] = {40e3f, 600e3f}; // 2.5 and 37 MPa
	for (int n = 0; n < 2; n++) {
		FemWorldDef def = fem_contact_world_def();
		FemWorldId world = fem_world_create(&def);
		fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.0f);
		FemBlock block = fem_block(0.4f, 4);
		block.kind = FEM_CELLS_KUHN;
		block.cells[1] = 6;
		block.size.y = 0.6f;
		block.material = stone(STRENGTH);
		Crater crater = {.world = world, .body = fem_block_add(world, &block), .ball_position = {0.2, 0.8, 0.2}};
		FemColliderDef weight = fem_default_collider_def();
		weight.shape.type = FEM_SHAPE_BOX;
		weight.shape.half_extents = (FemVec3){0.3f, 0.2f, 0.3f};
		weight.kind = FEM_COLLIDER_DYNAMIC;
		weight.mass = masses[n];
		weight.friction = 0.0f;
		weight.position = crater.ball_position;
		crater.ball = fem_collider_create(world, &weight);
		FemBodyState before, after;
		fem_body_get_state(crater.body, &before);
		for (int s = 0; s < 60 && crater.volume == 0.0; s++) {
			fem_world_step(world, 1.0f / 60.0f, 1);
			move_ball(&crater, 1.0f / 60.0f);
			note_events(&crater);
		}
		fem_body_get_state(crater.body, &after);
		printf(
			"  %.0f t: %.0f cm3, at %.4f m\n", (double)masses[n] / 1000.0, 1e6 * crater.volume, crater.ball_position.y);
		FEM_CHECK(n ? crater.volume > 5e-3 : crater.volume == 0.0); // all of the two layers that are pressed
		FEM_CHECK_NEAR(after.mass + after.crushed_mass, before.mass, 1e-3);
		FEM_CHECK_NEAR(crater.mass, after.crushed_mass, 1e-6);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}

// No tet and no mass is lost without being told of.
FEM_TEST(crushing, mass_is_accounted_for) {
	Strike strike = {8, 60.0, 12.0f, 60.0f, STRENGTH, 9.81f, 0.0};
	Crater crater = make_strike(&strike);
	FemBodyState before, after;
	int32_t tets = fem_body_get_tet_count(crater.body), gone = 0, told = 0, nodes[4];
	fem_body_get_state(crater.body, &before);
	for (int s = 0; s < 10; s++) {
		FemStatistics statistics;
		fem_world_step(crater.world, 1.0f / 60.0f, 1);
		move_ball(&crater, 1.0f / 60.0f);
		note_events(&crater);
		fem_world_get_statistics(crater.world, &statistics);
		told += statistics.crushed_tets;
		FEM_CHECK_INT(fem_world_validate(crater.world), FEM_OK);
	}
	for (int32_t tet = 0; tet < tets; tet++)
		gone += !fem_body_get_tet_nodes(crater.body, tet, nodes);
	fem_body_get_state(crater.body, &after);
	FEM_CHECK(gone > 5);
	FEM_CHECK_INT(gone, told);
	FEM_CHECK_NEAR(after.crushed_mass, crater.mass, 1e-6);
	FEM_CHECK_NEAR(after.mass + after.crushed_mass, before.mass, 1e-4);
	FEM_CHECK_NEAR(crater.mass, 2700.0 * crater.volume, 1e-4);
	FEM_CHECK(crater.width < 0.1f);
	fem_world_destroy(crater.world);
}

// In free space: grains take along the momentum that they have, and nothing has more energy than there was.
FEM_TEST(crushing, momentum_goes_with_the_grains_and_energy_goes) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	Crater crater = {.world = fem_world_create(&def), .ball_position = {0.21, 0.261, 0.19}};
	FemBlock block = fem_block(0.4f, 8);
	block.kind = FEM_CELLS_KUHN;
	block.material = stone(STRENGTH);
	block.cells[1] = 4;
	block.size.y = 0.2f;
	crater.body = fem_block_add(crater.world, &block);
	FemColliderDef ball = fem_default_collider_def();
	ball.shape.type = FEM_SHAPE_SPHERE;
	ball.shape.radius = 0.06f;
	ball.kind = FEM_COLLIDER_DYNAMIC;
	ball.mass = 60.0f;
	ball.position = crater.ball_position;
	ball.linear_velocity = (FemVec3){0.0f, -12.0f, 0.0f};
	crater.ball = fem_collider_create(crater.world, &ball);
	double grains = 0.0, energy = 0.5 * 60.0 * 144.0;
	for (int s = 0; s < 10; s++) {
		FemBodyState state;
		const FemCrushEvent *events;
		fem_world_step(crater.world, 1.0f / 60.0f, 1);
		int32_t count = fem_world_get_crush_events(crater.world, &events);
		for (int32_t i = 0; i < count; i++)
			grains += (double)(events[i].mass * events[i].velocity.y);
		move_ball(&crater, 1.0f / 60.0f);
		note_events(&crater);
		fem_body_get_state(crater.body, &state);
		double v = (double)crater.ball_velocity.y, now = 30.0 * v * v + state.kinetic_energy + state.elastic_energy;
		FEM_CHECK_NEAR((double)state.linear_momentum.y + 60.0 * v + grains, -720.0, 0.5);
		FEM_CHECK(now <= energy * (1.0 + 2e-4)); // contact pushes what is deep out again
		energy = now;
	}
	FEM_CHECK(crater.volume > 5e-5 && crater.ball_velocity.y > -11.5f);
	fem_world_destroy(crater.world);
}

// ---- falls

static double crushed_by_fall(float tilt, float speed, bool on_ground) {
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = on_ground;
	Crater crater = {.world = fem_world_create(&def)};
	if (!on_ground)
		fem_add_plane(crater.world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	FemBlock block = fem_block(0.3f, 8);
	block.kind = FEM_CELLS_KUHN;
	block.material = stone(STRENGTH);
	block.material.toughness = 1e7f; // it shall not break
	double angle = 0.5 * (double)tilt;
	block.body.rotation =
		(FemQuat){(float)(sin(angle) * 0.7071), 0.0f, (float)(sin(angle) * 0.7071), (float)cos(angle)};
	block.body.position = (FemPosition){0.0, 0.3, 0.0};
	block.body.linear_velocity = (FemVec3){0.0f, -speed, 0.0f};
	crater.body = fem_block_add(crater.world, &block);
	for (int s = 0; s < 20; s++) {
		fem_world_step(crater.world, 1.0f / 60.0f, 1);
		note_events(&crater);
	}
	FEM_CHECK_INT(fem_world_validate(crater.world), FEM_OK);
	fem_world_destroy(crater.world);
	return 1e6 * crater.volume;
}

// On a corner the energy is spent at one place, on a face it is spread. Fails when all contacts are taken together.
FEM_TEST(crushing, corners_are_crushed_and_faces_are_not) {
	for (int on_ground = 0; on_ground < 2; on_ground++) {
		double volumes[2] = {crushed_by_fall(0.9f, 8.0f, on_ground != 0), crushed_by_fall(0.0f, 8.0f, on_ground != 0)};
		printf("  %.0f cm3 on a corner, %.0f on a face\n", volumes[0], volumes[1]);
		FEM_CHECK(volumes[0] > 10.0 && volumes[0] < 400.0 && volumes[1] == 0.0);
	}
}

// ---- limits

// The last of a body stays, pinned tets go like others, and sleepers that are struck.
FEM_TEST(crushing, small_pinned_and_sleeping_bodies) {
	for (int variant = 0; variant < 3; variant++) {
		Strike strike = {variant == 0 ? 2 : 8, 60.0, 16.0f, 2000.0f, STRENGTH, 9.81f, 0.0};
		Crater crater = make_strike(&strike);
		int32_t nodes = fem_body_get_node_count(crater.body);
		for (int32_t i = 0; variant == 1 && i < nodes; i++)
			fem_body_pin_node(crater.body, i);
		if (variant == 2)
			fem_body_sleep(crater.body);
		for (int s = 0; s < 20; s++) {
			fem_world_step(crater.world, 1.0f / 60.0f, 1);
			move_ball(&crater, 1.0f / 60.0f);
			note_events(&crater);
			FEM_CHECK_INT(fem_world_validate(crater.world), FEM_OK);
		}
		FemBodyState state;
		fem_body_get_state(crater.body, &state);
		FEM_CHECK(state.mass > 0.0);
		FEM_CHECK(variant == 0 || crater.volume > 1e-4);
		fem_world_destroy(crater.world);
	}
}

// Saved between two steps it goes on bitwise, with any number of threads; a saved body comes back with its crater.
FEM_TEST(crushing, craters_are_saved) {
	uint64_t hashes[3];
	for (int w = 0; w < 3; w++) {
		Strike strike = {8, 60.0, 12.0f, 60.0f, STRENGTH, 9.81f, 0.0};
		Crater crater = make_strike(&strike);
		fem_world_set_worker_count(crater.world, w + 1);
		for (int s = 0; s < 3; s++) {
			fem_world_step(crater.world, 1.0f / 60.0f, 1);
			move_ball(&crater, 1.0f / 60.0f);
		}
		FemBodyState before, after;
		fem_body_get_state(crater.body, &before);
		FEM_CHECK(before.crushed_mass > 0.1);
		size_t size = fem_world_save(crater.world, NULL, 0), body_size = fem_body_save(crater.body, NULL, 0);
		char *data = malloc(size), *body_data = malloc(body_size);
		FEM_CHECK(fem_world_save(crater.world, data, size) == size);
		FEM_CHECK(fem_body_save(crater.body, body_data, body_size) == body_size);
		FemWorldId other = fem_world_restore(data, size, w + 1);
		for (int s = 0; s < 10; s++) {
			fem_world_step(crater.world, 1.0f / 60.0f, 1);
			fem_world_step(other, 1.0f / 60.0f, 1);
			FEM_CHECK(fem_world_hash(crater.world) == fem_world_hash(other));
		}
		hashes[w] = fem_world_hash(crater.world);
		FemMaterialDef def = stone(STRENGTH);
		FemMaterialId material = fem_material_create(crater.world, &def);
		FEM_CHECK_INT(fem_body_load(crater.body, &material, 1, body_data, body_size), FEM_OK);
		fem_body_get_state(crater.body, &after);
		FEM_CHECK_NEAR(after.mass, before.mass, 1e-4);
		FEM_CHECK_NEAR(after.crushed_mass, before.crushed_mass, 1e-9);
		fem_world_step(crater.world, 1.0f / 60.0f, 1);
		FEM_CHECK_INT(fem_world_validate(crater.world), FEM_OK);
		free(data);
		free(body_data);
		fem_world_destroy(other);
		fem_world_destroy(crater.world);
	}
	FEM_CHECK(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

FEM_TEST(crushing, bad_input_is_refused_or_clamped) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world = fem_world_create(&def);
	static const float bad[] = {-1.0f, NAN, INFINITY};
	for (int i = 0; i < 3; i++) {
		FemMaterialDef material = stone(bad[i]);
		FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
		FEM_CHECK(strstr(fem_last_error(), "crush_strength") != NULL);
	}
	FemMaterialDef material = stone(STRENGTH);
	material.toughness_mode = FEM_TOUGHNESS_FORCE;
	FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
	material = stone(1.0f); // weaker than it is pulled apart
	FEM_CHECK_INT(fem_material_get(fem_material_create(world, &material), &material), FEM_OK);
	FEM_CHECK_NEAR(material.crush_strength, 1.5e6, 1.0);
	material = stone(STRENGTH);
	material.toughness = INFINITY;
	FEM_CHECK_INT(fem_material_get(fem_material_create(world, &material), &material), FEM_OK);
	FEM_CHECK(material.crush_strength == STRENGTH);
	FEM_CHECK_INT(fem_world_get_crush_events((FemWorldId){0}, NULL), 0);
	fem_world_destroy(world);
}
