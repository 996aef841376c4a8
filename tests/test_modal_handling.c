// Bodies that move by their modes (suite `modal`): how they are held, break, are saved, and what they cost.
#include "contact_rig.h"
#include "fem_modes.h"
#include "fem_test.h"
#include "modal_rig.h"
#include "scenes/rig.h"
#include "theory_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)

static void step(FemWorldId world, float dt) {
	fem_world_step(world, dt, 1);
}

// ---- grabs

static double grab_distance(FemBodyId body, FemGrabNumber grab, FemPosition target) {
	FemPosition at;
	FEM_CHECK_INT(fem_body_get_grab(body, grab, &at, NULL), FEM_OK);
	return sqrt((at.x - target.x) * (at.x - target.x) + (at.y - target.y) * (at.y - target.y) +
		(at.z - target.z) * (at.z - target.z));
}

// Fails when a dragged point is not where it was dragged to, swings past it, or what lies on the way is gone through.
FEM_TEST(modal, grabbed_points_reach_their_targets) {
	for (int clamped = 0; clamped < 2; clamped++) {
		FemRigDef def = fem_wobbly_bar();
		def.clamped = clamped == 1;
		def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
		FemRig rig = fem_rig_create(&def);
		fem_make_modal(rig.body, 12);
		step(rig.world, DT);
		FemGrabNumber grab = fem_body_grab(rig.body, (FemPosition){1.0, 0.1, 0.1});
		FEM_REQUIRE(grab != 0);
		FemPosition from, target;
		FEM_CHECK_INT(fem_body_get_grab(rig.body, grab, &from, NULL), FEM_OK);
		double worst = 0.0, fastest = 0.0;
		for (int s = 1; s <= 90; s++) {
			double share = s < 60 ? s / 60.0 : 1.0, reach = clamped ? 0.15 : 2.0;
			target = (FemPosition){from.x, from.y + reach * share, from.z + 0.5 * reach * share};
			FEM_CHECK_INT(fem_body_move_grab(rig.body, grab, target), FEM_OK);
			step(rig.world, DT);
			worst = fmax(worst, grab_distance(rig.body, grab, target));
			fastest = fmax(fastest, fem_peak_speed(&rig.body, 1));
		}
		FemVec3 force;
		FEM_CHECK_INT(fem_body_get_grab(rig.body, grab, NULL, &force), FEM_OK);
		if (!FEM_CHECK(worst < 2e-6) || !FEM_CHECK(fastest < 30.0))
			printf("    %g m off, fastest %g m/s\n", worst, fastest);
		FEM_CHECK(clamped || force.y > 0.0f); // it carries the bar
		FEM_CHECK_INT(fem_body_release_grab(rig.body, grab), FEM_OK);
		for (int s = 0; s < 30; s++)
			step(rig.world, DT);
		if (!FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK))
			printf("    %s\n", fem_last_error());
		fem_rig_destroy(&rig);
	}
}

// Fails when the pseudo-inverse is not one: points that cannot all be where they are to be must come near, not fly off.
FEM_TEST(modal, ten_points_are_held_at_once) {
	FemRigDef def = fem_wobbly_bar();
	FemRig rig = fem_rig_create(&def);
	fem_make_modal(rig.body, 30);
	step(rig.world, DT);
	FemGrabNumber grabs[FEM_GRABS_MAX + 1];
	FemPosition targets[FEM_GRABS_MAX];
	for (int k = 0; k < 10; k++) {
		targets[k] = (FemPosition){0.1 + 0.09 * k, k % 2 ? 0.2 : 0.0, k % 3 ? 0.2 : 0.0};
		FEM_REQUIRE((grabs[k] = fem_body_grab(rig.body, targets[k])) != 0);
	}
	// A bend that the modes have: all points reach it.
	for (int s = 0; s < 40; s++) {
		for (int k = 0; k < 10; k++) {
			FemPosition to = targets[k];
			to.y += 0.05 * s / 40.0 * (4.0 * (to.x - 0.5) * (to.x - 0.5));
			FEM_CHECK_INT(fem_body_move_grab(rig.body, grabs[k], to), FEM_OK);
		}
		step(rig.world, DT);
	}
	double worst = 0.0;
	for (int k = 0; k < 10; k++) {
		FemPosition to = targets[k];
		to.y += 0.05 * 39.0 / 40.0 * (4.0 * (to.x - 0.5) * (to.x - 0.5));
		worst = fmax(worst, grab_distance(rig.body, grabs[k], to));
	}
	if (!FEM_CHECK(worst < 1e-5))
		printf("    %g m off\n", worst);
	FEM_CHECK(fem_peak_speed(&rig.body, 1) < 5.0);
	FEM_CHECK_INT(fem_modal_state(rig.body).grab_count, 10);
	for (int k = 10; k < FEM_GRABS_MAX; k++)
		FEM_CHECK((grabs[k] = fem_body_grab(rig.body, (FemPosition){0.5, 0.0, 0.0})) != 0);
	FEM_CHECK_INT(fem_body_grab(rig.body, (FemPosition){0.5, 0.0, 0.0}), 0); // as many as there may be
	// The same point to two places: in between, for as long as one likes.
	for (int s = 0; s < 60; s++) {
		FEM_CHECK_INT(fem_body_move_grab(rig.body, grabs[14], (FemPosition){0.5, 0.1, 0.0}), FEM_OK);
		FEM_CHECK_INT(fem_body_move_grab(rig.body, grabs[15], (FemPosition){0.5, -0.1, 0.0}), FEM_OK);
		step(rig.world, DT);
	}
	FEM_CHECK(isfinite(fem_peak_speed(&rig.body, 1)) && fem_peak_speed(&rig.body, 1) < 100.0);
	FEM_CHECK_INT(fem_body_release_grab(rig.body, 0), FEM_OK);
	FEM_CHECK_INT(fem_modal_state(rig.body).grab_count, 0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// ---- breaking

static FemBodyId add_brittle(FemWorldId world, FemDynamics dynamics) {
	FemBlock block = fem_block(0.3f, 3);
	block.cells[0] = 8, block.size.x = 1.2f;
	block.material.young_modulus = 5e7f;
	block.material.density = 2000.0f;
	block.material.stiffness_damping = 5e-4f;
	block.material.breakable = true;
	block.material.toughness = 5e4f;
	block.material.toughness_variation = 0.0f;
	block.body.dynamics = dynamics;
	block.body.position = (FemPosition){-0.6, 0.5, -0.15};
	return fem_block_add(world, &block);
}

static int32_t pieces_of(FemWorldId world) {
	FemStatistics statistics;
	FEM_CHECK_INT(fem_world_get_statistics(world, &statistics), FEM_OK);
	return statistics.pieces;
}

// A block of 40 kg that strikes the middle of it. Returns into how many pieces it broke, in which tick.
static int32_t strike(FemDynamics dynamics, float speed, int32_t *out_tick, bool *out_was_modal) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world = fem_world_create(&def);
	FemBodyId body = add_brittle(world, dynamics);
	for (int32_t n = 0; n < 16; n++) { // held at both ends
		FEM_CHECK_INT(fem_body_pin_node(body, n), FEM_OK);
		FEM_CHECK_INT(fem_body_pin_node(body, 9 * 16 - 1 - n), FEM_OK);
	}
	if (dynamics == FEM_DYNAMICS_MODAL)
		fem_make_modal(body, 20); // of what is pinned now
	FemBlock hammer = fem_block(0.2f, 1);
	hammer.material.density = 5000.0f;
	hammer.body.dynamics = FEM_DYNAMICS_RIGID;
	hammer.body.position = (FemPosition){-0.1, 0.8 + 0.05 * (double)speed, -0.1}; // there in some three ticks
	hammer.body.linear_velocity = (FemVec3){0.0f, -speed, 0.0f};
	fem_block_add(world, &hammer);
	*out_tick = -1;
	*out_was_modal = false;
	for (int32_t s = 0; s < 40 && *out_tick < 0; s++) {
		*out_was_modal |= dynamics == FEM_DYNAMICS_MODAL && fem_modal_state(body).is_moving;
		step(world, DT);
		if (pieces_of(world) > 2)
			*out_tick = s;
	}
	int32_t pieces = pieces_of(world) - 1;
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
	return pieces;
}

// Fails when a blow that breaks an elastic body is spread over modes instead, breaks a modal one ticks later, or a tap
// releases it.
FEM_TEST(modal, breaks_in_the_tick_of_the_blow) {
	int32_t elastic_tick, modal_tick;
	bool was_modal;
	int32_t elastic = strike(FEM_DYNAMICS_ELEMENTS, 20.0f, &elastic_tick, &was_modal);
	int32_t modal = strike(FEM_DYNAMICS_MODAL, 20.0f, &modal_tick, &was_modal);
	FEM_CHECK(was_modal);
	if (!FEM_CHECK(elastic > 1 && modal > 1) || !FEM_CHECK_INT(modal_tick, elastic_tick))
		printf("    %d pieces in tick %d, %d in tick %d\n", elastic, elastic_tick, modal, modal_tick);
	FEM_CHECK_INT(strike(FEM_DYNAMICS_MODAL, 0.02f, &modal_tick, &was_modal), 1);
	FEM_CHECK(was_modal);
}

// ---- state

static FemWorldId modal_scene(int32_t workers, FemBodyId bodies[3]) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = true;
	def.worker_count = workers;
	FemWorldId world = fem_world_create(&def);
	for (int k = 0; k < 3; k++)
		bodies[k] = fem_add_wobbly(world, (FemPosition){0.1 * k, 0.3 + 0.5 * k, 0.05 * k}, (FemVec3){0.2f, 0.0f, 0.0f},
			(FemVec3){0.0f, 0.3f, 1.0f}, 3e5f);
	return world;
}

// Fails when what a step computes depends on the threads, or something of a modal body is not in a snapshot.
FEM_TEST(modal, same_bits_for_any_threads_and_from_a_snapshot) {
	uint64_t hashes[3];
	for (int32_t workers = 1; workers <= 3; workers++) {
		FemBodyId bodies[3];
		FemWorldId world = modal_scene(workers, bodies);
		step(world, DT);
		FEM_CHECK(fem_body_grab(bodies[2], (FemPosition){0.3, 1.5, 0.1}) == 1);
		for (int s = 0; s < 40; s++) {
			FEM_CHECK_INT(fem_body_move_grab(bodies[2], 1, (FemPosition){0.3, 1.5 + 0.002 * s, 0.1}), FEM_OK);
			step(world, DT);
		}
		if (workers == 2) { // from here on twice
			size_t size = fem_world_save(world, NULL, 0);
			void *data = malloc(size);
			FEM_CHECK(fem_world_save(world, data, size) == size);
			FemWorldId copy = fem_world_restore(data, size, 1);
			FEM_REQUIRE(fem_world_is_valid(copy));
			FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
			for (int s = 0; s < 20; s++) {
				step(world, DT);
				step(copy, DT);
				FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
			}
			FEM_CHECK_INT(fem_world_validate(copy), FEM_OK);
			for (size_t cut = 0; cut < 40; cut++) { // what is cut short is refused
				FemWorldId none = fem_world_restore(data, size * cut / 40, 1);
				FEM_CHECK(!fem_world_is_valid(none));
			}
			fem_world_destroy(copy);
			free(data);
		} else {
			for (int s = 0; s < 20; s++)
				step(world, DT);
		}
		hashes[workers - 1] = fem_world_hash(world);
		FEM_CHECK(fem_modal_state(bodies[0]).is_moving && fem_modal_state(bodies[2]).grab_count == 1);
		fem_world_destroy(world);
	}
	FEM_CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2]);
}

// Fails when a body that was put elsewhere, pushed, loaded or stopped in mid-flight goes on with old amplitudes.
FEM_TEST(modal, follows_what_users_do_to_its_nodes) {
	FemRigDef def = fem_wobbly_bar();
	FemRig rig = fem_rig_create(&def);
	fem_make_modal(rig.body, 12);
	step(rig.world, DT);
	FEM_CHECK_INT(fem_body_apply_impulse(rig.body, 0, (FemVec3){0.0f, 2.0f, 0.0f}), FEM_OK);
	FemVec3 momentum = fem_state_of(rig.body).linear_momentum;
	FEM_CHECK_NEAR((double)momentum.y, 2.0, 1e-4);
	for (int s = 0; s < 5; s++)
		step(rig.world, DT);
	FEM_CHECK(fem_distance3(fem_state_of(rig.body).linear_momentum, momentum) < 1e-4);
	FEM_CHECK(fem_modal_state(rig.body).elastic_energy + fem_modal_state(rig.body).kinetic_energy > 1e-3);
	size_t size = fem_body_save(rig.body, NULL, 0);
	void *data = malloc(size);
	FEM_CHECK(fem_body_save(rig.body, data, size) == size);
	FemPosition before = fem_center(rig.body);
	double energy = fem_modal_energy(rig.body);
	for (int s = 0; s < 20; s++)
		step(rig.world, DT);
	FEM_CHECK_INT(fem_body_load(rig.body, &rig.material, 1, data, size), FEM_OK);
	free(data);
	FEM_CHECK_INT(fem_body_get_dynamics(rig.body), FEM_DYNAMICS_MODAL);
	FEM_CHECK_NEAR(fem_center(rig.body).y, before.y, 1e-4);
	step(rig.world, DT);
	FEM_CHECK(fem_modal_state(rig.body).is_moving);
	FEM_CHECK_NEAR(fem_modal_energy(rig.body), energy, 0.05 * energy);
	FEM_CHECK_INT(
		fem_body_teleport(rig.body, (FemPosition){100.0, 5.0, 0.0}, (FemQuat){0.0f, 1.0f, 0.0f, 0.0f}), FEM_OK);
	step(rig.world, DT);
	FEM_CHECK(fem_modal_state(rig.body).is_moving);
	FEM_CHECK(fabs(fem_center(rig.body).x - 99.5) < 0.1);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// ---- bad input

// Fails when a wrong call is believed or crashes, or a body without use for modes does not move as automatic.
FEM_TEST(modal, bad_input_is_refused) {
	FemRigDef def = fem_wobbly_bar();
	FemRig rig = fem_rig_create(&def), pinned;
	FemModes modes = fem_test_modes_of(rig.body, 12), none = {0}, other;
	step(rig.world, DT); // no modes: automatic, which is elastic here
	FEM_CHECK(!fem_modal_state(rig.body).is_moving);
	FEM_CHECK_INT(fem_modal_state(rig.body).mode_count, 0);
	FEM_CHECK_INT(fem_body_grab(rig.body, (FemPosition){0.0, 0.0, 0.0}), 0);
	FEM_CHECK(fem_body_set_modes(rig.body, NULL, NULL) != FEM_OK);
	FEM_CHECK(fem_body_set_modes((FemBodyId){0}, &modes, NULL) != FEM_OK);
	FEM_CHECK_INT(fem_body_set_modes(rig.body, &none, NULL), FEM_OK);
	other = modes;
	other.node_count--;
	FEM_CHECK(fem_body_set_modes(rig.body, &other, NULL) != FEM_OK);
	other = modes;
	int32_t *nodes = calloc((size_t)modes.node_count, sizeof *nodes);
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK); // all the same node
	nodes[0] = -5;
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	fem_body_get_piece_nodes(rig.body, 1, nodes, modes.node_count);
	double *kept = malloc(sizeof *kept * (size_t)modes.mode_count);
	memcpy(kept, modes.eigenvalues, sizeof *kept * (size_t)modes.mode_count);
	const double bad[3] = {NAN, -1.0, 0.0};
	for (int k = 0; k < 3; k++) {
		modes.eigenvalues[3] = bad[k];
		FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	}
	modes.eigenvalues[3] = kept[3];
	float first = modes.shapes[0];
	modes.shapes[0] = NAN;
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	modes.shapes[0] = first;
	FEM_CHECK_INT(fem_modes_scale(&modes, 1.0f, 4.0f, 1.0f), FEM_OK); // of another density
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	FEM_CHECK_INT(fem_modes_scale(&modes, 1.0f, 0.25f, 1.0f), FEM_OK);
	FEM_CHECK_INT(fem_body_set_modes(rig.body, &modes, nodes), FEM_OK);
	step(rig.world, DT);
	FEM_CHECK(fem_modal_state(rig.body).is_moving);
	FemGrabNumber grab = fem_body_grab(rig.body, (FemPosition){0.0, 0.0, 0.0});
	FEM_CHECK(grab != 0 && fem_body_grab(rig.body, (FemPosition){NAN, 0.0, 0.0}) == 0);
	FEM_CHECK(fem_body_move_grab(rig.body, grab, (FemPosition){0.0, INFINITY, 0.0}) != FEM_OK);
	FEM_CHECK(fem_body_move_grab(rig.body, 99, (FemPosition){0.0, 0.0, 0.0}) != FEM_OK);
	FEM_CHECK(fem_body_release_grab(rig.body, 99) != FEM_OK);
	FEM_CHECK(fem_body_get_grab(rig.body, 99, NULL, NULL) != FEM_OK);
	FEM_CHECK_INT(fem_body_get_grab(rig.body, grab, NULL, NULL), FEM_OK);
	FEM_CHECK_INT(fem_body_move_grab(rig.body, grab, (FemPosition){0.0, 900.0, 0.0}), FEM_OK); // at once
	for (int s = 0; s < 10; s++)
		step(rig.world, DT);
	FEM_CHECK_INT(fem_body_get_amplitudes(rig.body, NULL, NULL, 5), 12);
	FEM_CHECK(isfinite(fem_peak_speed(&rig.body, 1)));
	FEM_CHECK_INT(fem_body_pin_node(rig.body, 0), FEM_OK); // modes are not of that
	step(rig.world, DT);
	FEM_CHECK(!fem_modal_state(rig.body).is_moving && fem_modal_state(rig.body).mode_count == 0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
	// Everything pinned has no modes; hinged on a line it is no frame that stands still.
	def.body.position = (FemPosition){0.0, 0.0, 0.0};
	pinned = fem_rig_create(&def);
	for (int32_t n = 0; n < pinned.box.node_count; n++)
		FEM_CHECK_INT(fem_body_pin_node(pinned.body, n), FEM_OK);
	other = fem_test_modes_of(pinned.body, 12);
	FEM_CHECK_INT(other.mode_count, 0);
	FEM_CHECK_INT(fem_body_set_modes(pinned.body, &other, NULL), FEM_OK);
	fem_modes_free(&other);
	for (int32_t n = 3; n < pinned.box.node_count; n++)
		FEM_CHECK_INT(fem_body_release_node(pinned.body, n), FEM_OK); // nodes 0 to 2 are a line
	fem_make_modal(pinned.body, 12);
	for (int s = 0; s < 10; s++)
		step(pinned.world, DT);
	FEM_CHECK(!fem_modal_state(pinned.body).is_moving);
	FEM_CHECK_INT(fem_world_validate(pinned.world), FEM_OK);
	fem_rig_destroy(&pinned);
	free(nodes);
	free(kept);
	fem_modes_free(&modes);
}

// One tet, which has six modes, and one that was asked for more than it has.
FEM_TEST(modal, one_tet_wobbles) {
	FemWorldDef world_def = fem_default_world_def();
	world_def.ground_enabled = true;
	FemWorldId world = fem_world_create(&world_def);
	const FemVec3 points[4] = {{0.0f, 0.0f, 0.0f}, {0.2f, 0.0f, 0.0f}, {0.0f, 0.2f, 0.0f}, {0.0f, 0.0f, 0.2f}};
	const int32_t tet[4] = {0, 1, 2, 3};
	FemMeshDef mesh = fem_default_mesh_def();
	mesh.node_count = 4, mesh.node_positions = points, mesh.tet_count = 1, mesh.tets = tet;
	FemMaterialDef material = fem_default_material_def();
	material.young_modulus = 1e5f;
	FemMaterialId material_id = fem_material_create(world, &material);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material_id, def.material_count = 1;
	def.position = (FemPosition){0.0, 0.5, 0.0};
	def.dynamics = FEM_DYNAMICS_MODAL;
	FemBodyId body = fem_body_create(world, &def);
	FemModes modes = fem_give_modes(body, 50);
	FEM_CHECK_INT(modes.mode_count, 6);
	fem_modes_free(&modes);
	for (int s = 0; s < 300; s++)
		step(world, DT);
	FEM_CHECK(fem_modal_state(body).is_moving);
	FEM_CHECK(fem_low(body) > -0.01 && fem_high(body) < 0.3);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

// On a box tilted by 15 degrees, on which friction holds it: fails when the points that bear it are not the same ones
// from step to step, or are too few.
FEM_TEST(modal, rests_on_a_slope) {
	FemRigDef def = fem_rig_bar_def(10, 2, 4, FEM_CELLS_FIVE, 0.3f);
	const float half = 0.5f * 15.0f * (float)(3.14159265358979 / 180.0);
	const FemQuat tilt = {0.0f, 0.0f, sinf(half), cosf(half)};
	def.size = (FemVec3){1.0f, 0.2f, 0.4f};
	def.clamped = false;
	def.material.young_modulus = 1e6f;
	def.material.stiffness_damping = 1e-3f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.body.dynamics = FEM_DYNAMICS_MODAL;
	def.body.rotation = tilt;
	FemRig rig = fem_rig_create(&def);
	FemColliderDef slope = fem_default_collider_def();
	slope.shape.type = FEM_SHAPE_BOX;
	slope.shape.half_extents = (FemVec3){5.0f, 0.5f, 5.0f};
	slope.rotation = tilt;
	slope.position = (FemPosition){0.5 * sin(2.0 * (double)half), -0.5 * cos(2.0 * (double)half), 0.0};
	slope.friction = 0.8f;
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(rig.world, &slope)));
	fem_make_modal(rig.body, 20);
	for (int s = 0; s < 60; s++)
		step(rig.world, DT);
	FemPosition before = fem_state_of(rig.body).center;
	for (int s = 0; s < 120; s++)
		step(rig.world, DT);
	FemPosition after = fem_state_of(rig.body).center;
	double moved = hypot(after.x - before.x, after.y - before.y);
	FEM_CHECK(fem_modal_state(rig.body).is_moving);
	if (!FEM_CHECK(moved < 1e-3))
		printf("    moved by %.5f m\n", moved);
	FemStatistics statistics;
	FEM_CHECK_INT(fem_world_get_statistics(rig.world, &statistics), FEM_OK);
	FEM_CHECK(statistics.contacts > 4 && statistics.contacts < 30); // of 55 nodes
	fem_rig_destroy(&rig);
}

// ---- speed

typedef enum Pose { SWINGS, LIES, LIES_ON_A_BOX, POSES } Pose;

// A bar of 3,150 tets that swings, or lies on the ground, or on a box.
static FemRig timed_bar(FemDynamics dynamics, Pose pose) {
	bool lies = pose != SWINGS;
	FemRigDef def = fem_rig_bar_def(18, 5, 7, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){1.0f, 0.25f, 0.35f};
	def.clamped = !lies;
	def.material.young_modulus = 1e6f;
	def.material.stiffness_damping = 1e-4f;
	def.world.solver_tolerance = 1e-3f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.ground_enabled = pose == LIES;
	def.body.dynamics = dynamics;
	def.body.position.y = lies ? 0.05 : 0.0;
	FemRig rig = fem_rig_create(&def);
	FemColliderDef box = fem_default_collider_def();
	box.shape.type = FEM_SHAPE_BOX;
	box.shape.half_extents = (FemVec3){1.0f, 0.5f, 1.0f};
	box.position = (FemPosition){0.5, -0.5, 0.175};
	if (pose == LIES_ON_A_BOX) {
		FEM_CHECK(fem_collider_is_valid(fem_collider_create(rig.world, &box)));
	}
	if (dynamics == FEM_DYNAMICS_MODAL)
		fem_make_modal(rig.body, 20);
	return rig;
}

// Processor time of so many steps, ms.
static double time_of(FemWorldId world, int32_t steps) {
	double before = fem_test_cpu_ms();
	for (int s = 0; s < steps; s++)
		step(world, DT);
	return fem_test_cpu_ms() - before;
}

// Fails when a modal body costs more than a tenth of the elastic one, and a fifth of that for this build, which has
// asserts: fem_bench has the figures of the library. The quick bound leaves room for others at work.
FEM_TEST(modal, steps_in_a_tenth_of_the_elastic_time) {
	static const char *const names[POSES] = {"swings", "lies", "lies on a box"};
	for (Pose pose = SWINGS; pose < POSES; pose++) {
		FemRig elastic = timed_bar(FEM_DYNAMICS_ELEMENTS, pose), modal = timed_bar(FEM_DYNAMICS_MODAL, pose);
		FEM_CHECK_INT(elastic.box.tet_count, 3150);
		time_of(elastic.world, 10);
		time_of(modal.world, 10);
		double slow = INFINITY, fast = INFINITY; // the least of three: what else the machine does is in all of them
		for (int k = 0; k < 3; k++) {
			slow = fmin(slow, time_of(elastic.world, 30) / 30.0);
			fast = fmin(fast, time_of(modal.world, 30) / 30.0);
		}
		FEM_CHECK(fem_modal_state(modal.body).is_moving);
		double most = fem_long_tests() ? 0.12 : 0.15;
		if (!FEM_CHECK(fast < most * slow) || fem_long_tests())
			printf("    %s: %.4f ms a step, elastic %.4f: %.3f\n", names[pose], fast, slow, fast / slow);
		fem_rig_destroy(&elastic);
		fem_rig_destroy(&modal);
	}
}
