// The real force of a blow: what strikes for a millisecond breaks as such, at any length of step.
#include "contact_rig.h"
#include "fem_test.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "preset_rig.h"
#include "scenes/filled_mesh.h"
#include "things_rig.h"
#include "world/api/registry.h"
#include "world/step/blow_response.h"
#include "world/step/blows.h"
#include "world/step/wall_blows.h"
#include "world/world.h"

#include <math.h>

#define MODULUS 2e10f // Pa, of impact: 40 times that of the solve

typedef struct Drop {
	FemVec3 size; // m
	int32_t cells[3];
	float height;             // m, of its lowest corner
	float tilt;               // rad, about z
	float toughness, modulus; // Pa, of impact
	double hz;
	bool on_collider; // else on the world's ground
} Drop;

static int32_t pieces_of_drop(const Drop *drop) {
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = !drop->on_collider;
	FemWorldId world = fem_world_create(&def);
	if (drop->on_collider)
		fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	FemBlock block = fem_block(0.1f, 1);
	for (int i = 0; i < 3; i++)
		block.cells[i] = drop->cells[i];
	block.size = drop->size;
	block.kind = FEM_CELLS_KUHN;
	block.material.young_modulus = 5e8f;
	block.material.density = 2300.0f;
	block.material.stiffness_damping = 0.001f;
	block.material.breakable = true;
	block.material.toughness = drop->toughness;
	block.material.impact_modulus = drop->modulus;
	block.material.fragment_size = 0.06f;
	block.body.rotation = fem_rotation_z(drop->tilt);
	block.body.position = (FemPosition){0.0, (double)drop->height, 0.0};
	FemBodyId body = fem_block_add(world, &block);
	FEM_CHECK(fem_body_is_valid(body));
	int32_t steps = (int32_t)((sqrt(2.0 * (double)drop->height / 9.81) + 0.3) * drop->hz);
	for (int32_t step = 0; step < steps; step++)
		fem_world_step(world, (float)(1.0 / drop->hz), 1);
	int32_t pieces = fem_body_get_pieces(body, NULL, 0);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
	return pieces;
}

// A cube of 0.3 m that falls on an edge.
static Drop cube_drop(float height, float modulus, double hz) {
	return (Drop){.size = {0.3f, 0.3f, 0.3f},
		.cells = {6, 6, 6},
		.height = height,
		.tilt = 0.6f,
		.toughness = 1.5e5f,
		.modulus = modulus,
		.hz = hz,
		.on_collider = true};
}

// Fails without looks: nothing breaks from any height then, and when the force follows the step.
FEM_TEST(blows, things_break_from_the_same_height_at_any_rate) {
	static const double rates[] = {30.0, 60.0, 120.0};
	for (int r = 0; r < 3; r++) {
		Drop low = cube_drop(0.03f, MODULUS, rates[r]), high = cube_drop(3.0f, MODULUS, rates[r]);
		Drop dull = cube_drop(3.0f, 0.0f, rates[r]);
		int32_t pieces[3] = {pieces_of_drop(&low), pieces_of_drop(&high), pieces_of_drop(&dull)};
		printf("  %.0f Hz: %d pieces from 0.03 m, %d from 3 m, %d without a modulus\n", rates[r], pieces[0], pieces[1],
			pieces[2]);
		FEM_CHECK_INT(pieces[0], 1);
		FEM_CHECK(pieces[1] > 5);
		FEM_CHECK_INT(pieces[2], 1);
	}
}

FEM_TEST(blows, the_ground_strikes_as_a_collider_does) {
	Drop drop = cube_drop(3.0f, MODULUS, 60.0);
	drop.on_collider = false;
	FEM_CHECK(pieces_of_drop(&drop) > 5);
	drop.height = 0.05f;
	FEM_CHECK_INT(pieces_of_drop(&drop), 1);
}

// A blow of the hardest kind. Fails when what only comes to rest counts as one.
FEM_TEST(blows, what_is_set_down_is_not_struck) {
	Drop drop = cube_drop(0.001f, 1e13f, 60.0);
	drop.tilt = 0.0f;
	FEM_CHECK_INT(pieces_of_drop(&drop), 1);
}

// A hard cube that falls on a soft mat, and on a floor. The mat takes its time.
FEM_TEST(blows, the_softer_side_decides) {
	int32_t pieces[2];
	for (int on_mat = 0; on_mat < 2; on_mat++) {
		FemWorldDef def = fem_contact_world_def();
		FemWorldId world = fem_world_create(&def);
		fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
		FemBlock mat = fem_block(0.4f, 4), cube = fem_block(0.3f, 6);
		mat.body.position = (FemPosition){-0.05, 0.0, -0.05};
		cube.kind = FEM_CELLS_KUHN;
		cube.material.young_modulus = 5e8f;
		cube.material.density = 2300.0f;
		cube.material.breakable = true;
		cube.material.toughness = 1.5e5f;
		cube.material.impact_modulus = MODULUS;
		cube.material.fragment_size = 0.06f;
		cube.body.position = (FemPosition){0.0, on_mat ? 0.41 : 0.01, 0.0};
		cube.body.linear_velocity = (FemVec3){0.0f, -4.0f, 0.0f};
		cube.body.rotation = fem_rotation_z(0.2);
		if (on_mat)
			fem_block_add(world, &mat);
		FemBodyId body = fem_block_add(world, &cube);
		fem_steps(world, 12);
		pieces[on_mat] = fem_body_get_pieces(body, NULL, 0);
		fem_world_destroy(world);
	}
	printf("  %d pieces on the floor, %d on the mat\n", pieces[0], pieces[1]);
	FEM_CHECK(pieces[0] > 1 && pieces[1] == 1);
}

// The world's hash after a tough block fell on a plane, elastic all the time.
static uint64_t hash_of_bounce(float impact_modulus) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	FemBlock block = fem_block(0.3f, 3);
	block.material.young_modulus = 5e7f;
	block.material.density = 2300.0f;
	block.material.breakable = true;
	block.material.toughness = 1e8f;
	block.material.impact_modulus = impact_modulus;
	block.body.dynamics = FEM_DYNAMICS_ELEMENTS;
	block.body.rotation = fem_rotation_z(0.6f);
	block.body.position = (FemPosition){0.0, 0.3, 0.0};
	fem_block_add(world, &block);
	fem_steps(world, 30);
	uint64_t hash = fem_world_hash(world);
	fem_world_destroy(world);
	return hash;
}

// A look at a blow that breaks nothing leaves no trace. Fails when elements stay those of the shape that the blow would
// give: their forces push what did not break.
FEM_TEST(blows, a_look_that_breaks_nothing_changes_nothing) {
	FEM_CHECK(hash_of_bounce(0.0f) == hash_of_bounce(7e8f));
}

FEM_TEST(blows, bad_input_is_refused) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world = fem_world_create(&def);
	FemMaterialDef material = fem_default_material_def();
	static const float bad[] = {-1.0f, NAN, INFINITY};
	for (int i = 0; i < 3; i++) {
		material.impact_modulus = bad[i];
		FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
		FEM_CHECK(strstr(fem_last_error(), "impact_modulus") != NULL);
	}
	material.impact_modulus = 1e30f;
	for (int i = 0; i < 3; i++) {
		material.impact_toughness_ratio = bad[i];
		FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
	}
	material.impact_toughness_ratio = 1e30f;
	for (int i = 0; i < 3; i++) {
		material.fragment_variation = bad[i];
		FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
	}
	material.fragment_variation = 1e30f;
	FemMaterialId hardest = fem_material_create(world, &material);
	FEM_CHECK_INT(fem_material_get(hardest, &material), FEM_OK);
	FEM_CHECK_NEAR(material.impact_modulus, 1e13, 1e7);
	FEM_CHECK_NEAR(material.impact_toughness_ratio, 1e6, 1.0);
	FEM_CHECK_NEAR(material.fragment_variation, 20.0, 1e-5);
	fem_world_destroy(world);
}

// What is left of the speed of a piece that falls on, by what each of its blows stopped of the rest; and who has the
// last word on it in the step. Fails when only the last blow counts, and when what leans or is pressed is left to the
// blow.
FEM_TEST(blows, what_falls_on_keeps_the_rest_of_its_speed) {
	FemTopology topology = {.component_count = 1};
	FemPiece piece = {.length = 0.3f};
	FemBlow blow = {.is_struck = true, .stopped = 0.5f, .impulse = 1.0f, .approach = 2.0f, .first = 1e-3f};
	FemBodyStep step = {.blows = &blow};
	FemBody body = {.topology = &topology, .pieces = &piece, .step = &step};
	fem_blows_settle_uncut(&body);
	FEM_CHECK_NEAR(piece.spent_speed, 0.5, 1e-6);
	FEM_CHECK(!piece.look_is_over && piece.blow_decides && piece.blow_time == 0.0f);
	FEM_CHECK(piece.spent_until > 1e-3f && piece.spent_until < 2e-3f);
	blow.stopped = 0.6f;
	fem_blows_settle_uncut(&body);
	FEM_CHECK_NEAR(piece.spent_speed, 0.8, 1e-6);
	blow.load = 0.9f; // of what pressed before
	fem_blows_settle_uncut(&body);
	FEM_CHECK(!piece.blow_decides);
	blow.load = 0.0f;
	piece.ground_load = 1.0f;
	fem_blows_settle_uncut(&body);
	FEM_CHECK(!piece.blow_decides && !piece.look_is_over);
	blow.stopped = 0.9f;
	fem_blows_settle_uncut(&body);
	FEM_CHECK(piece.spent_speed == 1.0f && piece.look_is_over);
	blow.is_struck = false;
	piece.spent_speed = 0.25f;
	fem_blows_settle_uncut(&body);
	FEM_CHECK(piece.spent_speed == 0.25f);
}

// 4 mm of glass (D 398 N m, 10 kg/m^2: 8 sqrt(D m) = 505 N s/m) under 4 kN after 0.2 ms, by Westergaard's formula with
// the radius of a stiff pavement.
FEM_TEST(blows, walls_answer_as_plates_without_end) {
	FemWallBlow wall = {.thickness = 0.004f, .share = 1.0f, .cosine = 1.0f};
	FEM_CHECK_NEAR(fem_wall_response(&wall, 7e10f, 2500.0f, 2e-4f), 1.0 / (2e-4 * 504.9), 0.01);
	FEM_CHECK_NEAR(fem_wall_stress(&wall, 7e10f, 2500.0f, 2e-4f, 4000.0f), 5.85e8, 0.02e8);
	FEM_CHECK_NEAR(fem_wall_ring_stress(&wall, 4000.0f), 2.387e8, 0.01e8);
	wall.cosine = 0.5f;
	FEM_CHECK_NEAR(fem_wall_response(&wall, 7e10f, 2500.0f, 2e-4f), 0.25 / (2e-4 * 504.9), 0.01);
	wall.patch = 1e-6f; // 2 kN on a radius of 4.5 cm, more than the dent has
	FEM_CHECK(fem_wall_stress(&wall, 7e10f, 2500.0f, 2e-4f, 4000.0f) < 1e8f);
}

// Of two cubes that differ in nothing else the one that is weak under blows breaks. Fails when the strength of blows is
// that of weights.
FEM_TEST(blows, a_strength_of_their_own) {
	FemWorldDef def = fem_contact_world_def();
	int32_t pieces[2];
	for (int is_weak = 0; is_weak < 2; is_weak++) {
		FemWorldId world = fem_world_create(&def);
		fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
		FemBlock cube = fem_block(0.3f, 4);
		cube.material.young_modulus = 5e8f;
		cube.material.density = 2300.0f;
		cube.material.breakable = true;
		cube.material.toughness = 1e6f;
		cube.material.impact_modulus = MODULUS;
		cube.material.impact_toughness_ratio = is_weak ? 0.05f : 1.0f;
		cube.body.position = (FemPosition){0.0, 0.01, 0.0};
		cube.body.linear_velocity = (FemVec3){0.0f, -5.0f, 0.0f};
		cube.body.rotation = fem_rotation_z(0.6);
		FemBodyId body = fem_block_add(world, &cube);
		fem_steps(world, 6);
		pieces[is_weak] = fem_body_get_pieces(body, NULL, 0);
		fem_world_destroy(world);
	}
	printf("  %d pieces of the weak one, %d of the other\n", pieces[1], pieces[0]);
	FEM_CHECK(pieces[0] == 1 && pieces[1] > 3);
}

// m^3, of the smallest pieces of a block of plain tets.
static double fragment_of(FemVec3 size) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world = fem_world_create(&def);
	FemBlock block = fem_block(0.1f, 4);
	block.size = size;
	block.cells[1] = 2;
	block.material.breakable = true;
	block.material.fragment_size = 0.02f;
	FemBodyId body = fem_block_add(world, &block);
	const FemBody *of = fem_body_find(body, NULL);
	double most = 0.0;
	for (int32_t tet = 0; tet < of->topology->batch_count * FEM_LANES; tet++)
		most = of->topology->user_of_tet[tet] >= 0 ? fmax(most, (double)of->tet_fragment[tet]) : most;
	fem_world_destroy(world);
	return most;
}

// Fails when only walls of one plate cell break into pieces as high as they are thick.
FEM_TEST(blows, thin_things_break_into_flat_pieces) {
	double thickness = 0.3 * 0.006 / (0.3 + 2.0 * 0.006); // volume over half of the surface
	FEM_CHECK_NEAR(fragment_of((FemVec3){0.3f, 0.006f, 0.3f}), 0.02 * 0.02 * thickness, 1e-9);
	FEM_CHECK_NEAR(fragment_of((FemVec3){0.3f, 0.2f, 0.3f}), 8e-6, 1e-9);
}

static FemBodyId add_tets(FemWorldId world, FemTetMesh tets, const FemMaterialDef *made_of, FemBodyDef def) {
	FemMaterialId material = fem_material_create(world, made_of);
	FemMeshDef mesh = fem_filled_mesh_def(&tets);
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	fem_tet_mesh_free(&tets);
	return fem_body_create(world, &def);
}

// 17 kg of iron that fall at 6 m/s on 5 cm of glass between two supports, which bend it further than its own inertia
// does. Fails when the blow has the last word on what lies on something.
FEM_TEST(blows, supports_bend_what_is_struck) {
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = false;
	FemWorldId world = fem_world_create(&def);
	FemColliderDef support = fem_default_collider_def();
	support.shape.type = FEM_SHAPE_BOX;
	support.shape.half_extents = (FemVec3){0.05f, 0.2f, 0.3f};
	for (int i = 0; i < 2; i++) {
		support.position = (FemPosition){i ? 0.4 : -0.4, -0.2, 0.0};
		fem_collider_create(world, &support);
	}
	FemPreset glass;
	FEM_CHECK(fem_preset_load("pane_glass", &glass));
	FemBodyDef lying = fem_default_body_def(), falling = lying;
	lying.position = (FemPosition){0.0, 0.03, 0.0};
	FemBodyId slab = add_tets(world, fem_thing_box((FemVec3){1.0f, 0.05f, 0.4f}, 250), &glass.def, lying);
	FemMaterialDef iron = fem_default_material_def();
	iron.density = 7800.0f;
	iron.young_modulus = 1e7f;
	falling.dynamics = FEM_DYNAMICS_RIGID;
	falling.position = (FemPosition){0.0, 0.7, 0.0};
	falling.linear_velocity = (FemVec3){0.0f, -6.0f, 0.0f};
	FEM_CHECK(fem_body_is_valid(add_tets(world, fem_thing_bake(fem_surface_sphere(0.08, 16), 60), &iron, falling)));
	fem_steps(world, 40);
	int32_t pieces = fem_body_get_pieces(slab, NULL, 0);
	printf("  %d pieces between supports\n", pieces);
	FEM_CHECK(pieces > 1);
	fem_world_destroy(world);
}
