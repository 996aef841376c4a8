// Prestressed glass: it holds more, and goes to dice all over at its first crack.
#include "contact_rig.h"
#include "fem_test.h"
#include "fracture/dice.h"
#include "model/piece.h"
#include "scenes/rig.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOUGHNESS 4e5f // Pa
#define PRESTRESS 1.5e6f

typedef struct Pane {
	int32_t cells[2]; // along x and z
	float prestress;  // Pa
	float ball_mass;  // kg; 0: there is none
	float ball_speed; // m/s
	float fragment_size;
	bool is_free; // else held along its rim
	int32_t workers;
} Pane;

static FemMaterialDef glass(float prestress) {
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = 1e9f;
	def.poisson_ratio = 0.22f;
	def.density = 2500.0f;
	def.stiffness_damping = 0.002f;
	def.breakable = true;
	def.toughness = TOUGHNESS;
	def.toughness_variation = 0.05f;
	def.prestress = prestress;
	return def;
}

static bool is_at_rim(FemVec3 x, FemVec3 size) {
	return x.x < 1e-4f || x.x > size.x - 1e-4f || x.z < 1e-4f || x.z > size.z - 1e-4f;
}

// A pane of 1 x 0.8 m, 1 cm thick, level; a ball over its middle.
static FemRig make_pane(const Pane *pane) {
	FemRigDef def = fem_rig_bar_def(pane->cells[0], 1, pane->cells[1], FEM_CELLS_KUHN, 0.22f);
	def.size = (FemVec3){1.0f, 0.01f, 0.8f};
	def.material = glass(pane->prestress);
	def.material.fragment_size = pane->fragment_size;
	def.clamped = false;
	def.plate_correction = 1.0f;
	def.world.solver_tolerance = 1e-3f;
	def.world.worker_count = pane->workers > 0 ? pane->workers : 1;
	if (!pane->is_free)
		def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	FemRig rig = fem_rig_create(&def);
	for (int32_t i = 0; !pane->is_free && i < rig.box.node_count; i++) {
		if (is_at_rim(rig.box.positions[i], def.size))
			FEM_CHECK_INT(fem_body_pin_node(rig.body, i), FEM_OK);
	}
	if (pane->ball_mass > 0.0f) {
		FemColliderDef ball = fem_default_collider_def();
		ball.shape.type = FEM_SHAPE_SPHERE;
		ball.shape.radius = 0.04f;
		ball.kind = FEM_COLLIDER_DYNAMIC;
		ball.mass = pane->ball_mass;
		ball.position = (FemPosition){0.47, 0.01 + 0.04 + 0.001, 0.39};
		ball.linear_velocity = (FemVec3){0.0f, -pane->ball_speed, 0.0f};
		FEM_CHECK(fem_collider_is_valid(fem_collider_create(rig.world, &ball)));
	}
	return rig;
}

static int32_t pieces_after(const Pane *pane, double hz) {
	FemRig rig = make_pane(pane);
	for (int s = 0; s < (int)(0.1 * hz); s++)
		fem_world_step(rig.world, (float)(1.0 / hz), 1);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	int32_t pieces = fem_body_get_pieces(rig.body, NULL, 0);
	fem_rig_destroy(&rig);
	return pieces;
}

// A blow that breaks plain glass leaves it whole, a harder one leaves dice where plain glass breaks here and there.
// Fails without the strength that prestress adds, and when cracks run by the load alone.
FEM_TEST(prestress, panes_hold_or_go_to_dice_all_over) {
	static const int32_t cells[2][2] = {{10, 8}, {15, 12}};
	static const double rates[] = {30.0, 60.0, 120.0};
	for (int m = 0; m < 2; m++) {
		for (int r = 0; r < 3; r++) {
			Pane pane = {.cells = {cells[m][0], cells[m][1]}, .ball_mass = 0.5f, .ball_speed = 1.4f};
			int32_t pieces[2][2];
			for (int hard = 0; hard < 2; hard++) {
				for (int tempered = 0; tempered < 2; tempered++) {
					pane.prestress = tempered ? PRESTRESS : 0.0f;
					pane.ball_speed = hard ? 10.0f : 1.4f;
					pieces[hard][tempered] = pieces_after(&pane, rates[r]);
				}
			}
			printf("  %d x %d cells, %.0f Hz: plain %d and %d pieces, prestressed %d and %d\n", cells[m][0],
				cells[m][1], rates[r], pieces[0][0], pieces[1][0], pieces[0][1], pieces[1][1]);
			FEM_CHECK(pieces[0][0] > 1);
			FEM_CHECK_INT(pieces[0][1], 1);
			FEM_CHECK_INT(pieces[1][1], 2 * cells[m][0] * cells[m][1]); // every prism
			FEM_CHECK(2 * pieces[1][0] < pieces[1][1]);
		}
	}
}

// Dice have the size that the material says, whatever the mesh.
FEM_TEST(prestress, dice_have_the_size_of_fragments) {
	static const int32_t cells[2][2] = {{15, 12}, {25, 20}};
	int32_t counts[2];
	for (int m = 0; m < 2; m++) {
		Pane pane = {.cells = {cells[m][0], cells[m][1]}, .prestress = PRESTRESS, .fragment_size = 0.05f};
		pane.ball_mass = 0.5f;
		pane.ball_speed = 10.0f;
		FemRig rig = make_pane(&pane);
		fem_world_step(rig.world, 1.0f / 60.0f, 1);
		const FemBody *body = fem_body_find(rig.body, NULL);
		counts[m] = body->topology->component_count;
		for (int32_t c = 0; c < counts[m]; c++)
			FEM_CHECK(body->pieces[c].volume >= 0.999f * 1.25e-4f && body->pieces[c].volume < 4.0f * 1.25e-4f);
		fem_rig_destroy(&rig);
	}
	printf("  %d and %d dice\n", counts[0], counts[1]);
	FEM_CHECK(counts[0] > 30 && counts[1] > 30 && abs(counts[0] - counts[1]) < 0.25 * counts[0]);
}

// A pane that rotates in free space, without contact: one weak tet tears.
static FemRig make_spinning(void) {
	FemRigDef def = fem_rig_bar_def(12, 1, 10, FEM_CELLS_KUHN, 0.22f);
	def.size = (FemVec3){1.0f, 0.01f, 0.8f};
	def.material = glass(PRESTRESS);
	def.clamped = false;
	def.plate_correction = 1.0f;
	def.world.contacts_enabled = false;
	def.body.angular_velocity = (FemVec3){0.3f, 4.0f, -0.2f};
	def.body.linear_velocity = (FemVec3){1.0f, 2.0f, 0.0f};
	return fem_rig_create(&def);
}

// What flies apart has the momenta of the whole and no more energy than prestress held. Fails without taking away what
// all dice have in common, or with more than a share of the energy.
FEM_TEST(prestress, dice_fly_apart_with_the_energy_that_was_held) {
	FemRig rig = make_spinning();
	FemBodyState before, after;
	fem_world_step(rig.world, 1.0f / 60.0f, 1);
	fem_body_get_state(rig.body, &before);
	// (1 - nu) / E s^2 / 5, of the whole pane
	FEM_CHECK_NEAR(before.prestress_energy, 0.78 / 1e9 * (double)PRESTRESS * (double)PRESTRESS / 5.0 * 0.008, 1e-3);
	FEM_CHECK_INT(fem_body_set_tet_toughness(rig.body, 300, 0.0f), FEM_OK);
	fem_world_step(rig.world, 2e-3f, 1);
	fem_body_get_state(rig.body, &after);
	FEM_CHECK_INT(fem_body_get_pieces(rig.body, NULL, 0), 240);
	FEM_CHECK(after.prestress_energy == 0.0);
	double gain = after.kinetic_energy + after.elastic_energy - before.kinetic_energy - before.elastic_energy;
	printf("  %.3f J were held, %.3f J gained\n", before.prestress_energy, gain);
	FEM_CHECK(gain > 0.4 * before.prestress_energy && gain < 0.501 * before.prestress_energy);
	FemVec3 p[2] = {before.linear_momentum, after.linear_momentum};
	FemVec3 l[2] = {before.angular_momentum, after.angular_momentum};
	FEM_CHECK(fabsf(p[0].x - p[1].x) + fabsf(p[0].y - p[1].y) + fabsf(p[0].z - p[1].z) < 1e-3f);
	FEM_CHECK(fabsf(l[0].x - l[1].x) + fabsf(l[0].y - l[1].y) + fabsf(l[0].z - l[1].z) < 2e-3f);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// ---- a slow front

static FemRig make_slow(float speed) {
	FemRig rig = make_spinning();
	FemMaterialDef def = glass(PRESTRESS);
	def.crack_speed = speed;
	FEM_CHECK_INT(fem_material_set(rig.material, &def), FEM_OK);
	FEM_CHECK_INT(fem_body_set_tet_toughness(rig.body, 0, 0.0f), FEM_OK);
	return rig;
}

static double relieved_share(const FemRig *rig) {
	const FemBody *body = fem_body_find(rig->body, NULL);
	double sum = 0.0, all = 0.0;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		double volume = (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		all += volume;
		sum += body->tet_temper[tet] > 0.0f ? 0.0 : volume;
	}
	return sum / all;
}

// At 5 m/s the front needs 0.2 s and more from one end to the other. Fails when it gets a tet further every step.
FEM_TEST(prestress, cracks_run_at_their_speed_at_any_rate) {
	double shares[3];
	for (int r = 0; r < 3; r++) {
		int32_t rate = 60 << r;
		FemRig rig = make_slow(5.0f);
		for (int32_t s = 0; s < rate / 10; s++)
			fem_world_step(rig.world, 1.0f / (float)rate, 1);
		shares[r] = relieved_share(&rig);
		FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
		fem_rig_destroy(&rig);
	}
	printf("  %.2f, %.2f, %.2f of the pane after 0.1 s at 60, 120, 240 Hz\n", shares[0], shares[1], shares[2]);
	for (int r = 0; r < 3; r++)
		FEM_CHECK(shares[r] > 0.1 && shares[r] < 0.5 && fabs(shares[r] - shares[0]) < 0.1);
}

// A world saved while the front runs goes on bitwise, and so with any number of threads; a saved body goes on to the
// end.
FEM_TEST(prestress, a_running_front_is_saved) {
	uint64_t hashes[3];
	for (int w = 0; w < 3; w++) {
		FemRig rig = make_slow(5.0f);
		fem_world_set_worker_count(rig.world, w + 1);
		for (int s = 0; s < 6; s++)
			fem_world_step(rig.world, 1.0f / 60.0f, 1);
		FEM_CHECK(relieved_share(&rig) > 0.05 && relieved_share(&rig) < 0.6);
		size_t size = fem_world_save(rig.world, NULL, 0), body_size = fem_body_save(rig.body, NULL, 0);
		char *data = malloc(size), *body_data = malloc(body_size);
		FEM_CHECK(fem_world_save(rig.world, data, size) == size);
		FEM_CHECK(fem_body_save(rig.body, body_data, body_size) == body_size);
		FemWorldId other = fem_world_restore(data, size, w + 1);
		for (int s = 0; s < 20; s++) {
			fem_world_step(rig.world, 1.0f / 60.0f, 1);
			fem_world_step(other, 1.0f / 60.0f, 1);
			FEM_CHECK(fem_world_hash(rig.world) == fem_world_hash(other));
		}
		hashes[w] = fem_world_hash(rig.world);
		FEM_CHECK_NEAR(relieved_share(&rig), 1.0, 1e-9);
		FEM_CHECK_INT(fem_body_load(rig.body, &rig.material, 1, body_data, body_size), FEM_OK);
		FEM_CHECK(relieved_share(&rig) < 0.6);
		for (int s = 0; s < 30; s++)
			fem_world_step(rig.world, 1.0f / 60.0f, 1);
		FEM_CHECK_NEAR(relieved_share(&rig), 1.0, 1e-9);
		free(data);
		free(body_data);
		fem_world_destroy(other);
		fem_rig_destroy(&rig);
	}
	FEM_CHECK(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

// ---- what is beside it

// Of a pane that is prestressed in one half only that half goes to dice.
FEM_TEST(prestress, cracks_end_where_prestress_does) {
	FemRig rig = make_spinning();
	FemMaterialDef plain = glass(0.0f);
	plain.toughness = TOUGHNESS + PRESTRESS;
	FemMaterialId material = fem_material_create(rig.world, &plain);
	int32_t tets = fem_body_get_tet_count(rig.body);
	for (int32_t tet = tets / 2; tet < tets; tet++)
		FEM_CHECK_INT(fem_body_set_tet_material(rig.body, tet, material), FEM_OK);
	FEM_CHECK_INT(fem_body_set_tet_toughness(rig.body, 100, 0.0f), FEM_OK);
	fem_world_step(rig.world, 1.0f / 60.0f, 1);
	int32_t pieces = fem_body_get_pieces(rig.body, NULL, 0);
	FemPieceNumber whole = fem_body_get_tet_piece(rig.body, tets - 1);
	for (int32_t tet = tets / 2; tet < tets; tet++)
		FEM_CHECK_INT((int32_t)fem_body_get_tet_piece(rig.body, tet), (int32_t)whole);
	FEM_CHECK(pieces > 100 && pieces <= 121);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// All of a pane of which most sleeps breaks, and what is rigid too.
FEM_TEST(prestress, sleepers_break_with_the_rest) {
	Pane pane = {.cells = {15, 12}, .prestress = PRESTRESS};
	FemRig rig = make_pane(&pane);
	fem_world_set_sleeping(rig.world, true);
	for (int s = 0; s < 60 && !fem_body_is_asleep(rig.body); s++)
		fem_world_step(rig.world, 1.0f / 60.0f, 1);
	FEM_CHECK(fem_body_is_asleep(rig.body) || fem_body_sleep(rig.body) == FEM_OK);
	FEM_CHECK_INT(fem_body_set_tet_toughness(rig.body, 17, 0.0f), FEM_OK);
	fem_world_step(rig.world, 1.0f / 60.0f, 1);
	FEM_CHECK_INT(fem_body_get_pieces(rig.body, NULL, 0), 1); // nothing looks at a sleeper
	fem_body_wake_piece(rig.body, 1);
	for (int s = 0; s < 3; s++)
		fem_world_step(rig.world, 1.0f / 60.0f, 1);
	FEM_CHECK_INT(fem_body_get_pieces(rig.body, NULL, 0), 360);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

FEM_TEST(prestress, bad_input_is_refused_or_clamped) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world = fem_world_create(&def);
	static const float bad[] = {-1.0f, NAN, INFINITY};
	for (int i = 0; i < 3; i++) {
		FemMaterialDef material = glass(bad[i]);
		FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
		FEM_CHECK(strstr(fem_last_error(), "prestress") != NULL);
	}
	FemMaterialDef material = glass(PRESTRESS);
	material.toughness_mode = FEM_TOUGHNESS_FORCE;
	FEM_CHECK(!fem_material_is_valid(fem_material_create(world, &material)));
	FEM_CHECK(strstr(fem_last_error(), "toughness_mode") != NULL);
	material = glass(1e12f);
	FEM_CHECK_INT(fem_material_get(fem_material_create(world, &material), &material), FEM_OK);
	FEM_CHECK_NEAR(material.prestress, 10.0 * (double)TOUGHNESS, 1.0);
	material = glass(1e12f);
	material.toughness = 0.0f;
	FEM_CHECK_INT(fem_material_get(fem_material_create(world, &material), &material), FEM_OK);
	FEM_CHECK(material.prestress == 0.0f);
	fem_world_destroy(world);
}
