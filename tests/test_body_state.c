// Saved states of bodies: how large they are, and that all comes back.
#include "base/timing.h"
#include "fem_test.h"
#include "scenes/fracture_scenes.h"
#include "scenes/rig.h"
#include "splinter_rig.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)
#define RIGID_BYTES 200 // a body that never deformed takes less
#define NODE_BYTES 40   // and others this a node at most,
#define FLOWED_BYTES 28 // and this a tet that flowed
#define FIXED_BYTES 200 // besides what every state has

// ---- states

typedef struct State {
	size_t size;
	char *data;
} State;

static State save(FemBodyId body) {
	State state = {.size = fem_body_save(body, NULL, 0)};
	state.data = malloc(state.size + 1);
	FEM_CHECK_INT(fem_body_save(body, state.data, state.size), state.size);
	return state;
}

static FemMaterialId material_of(FemBodyId body) {
	FemTetState tet = {0};
	for (int32_t t = 0; fem_body_get_tet_state(body, t, &tet) != FEM_OK && t < 100000; t++) {
	}
	return tet.material;
}

static bool load(FemBodyId body, const State *state) {
	FemMaterialId material = material_of(body);
	FemResult result = fem_body_load(body, &material, 1, state->data, state->size);
	return fem_test_check(result == FEM_OK, __FILE__, __LINE__, "%s", fem_last_error());
}

static bool same(const State *a, const State *b) {
	return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static int32_t count_flowed(FemBodyId body) {
	FemTetState tet;
	int32_t count = 0, missing = 0;
	for (int32_t t = 0; missing < 1000; t++) {
		if (fem_body_get_tet_state(body, t, &tet) != FEM_OK) {
			missing++;
			continue;
		}
		float sum = 0.0f;
		for (int i = 0; i < 6; i++)
			sum += fabsf(tet.plastic_strain[i]);
		count += sum > 0.0f;
	}
	return count;
}

// ---- scenes

static FemRigDef crate_def(void) {
	FemRigDef def = fem_rig_cube_def(3, 1.0f); // 64 nodes
	def.kind = FEM_CELLS_KUHN;
	def.material.young_modulus = 1e9f;
	def.material.density = 500.0f;
	def.material.stiffness_damping = 0.002f;
	def.material.breakable = true;
	def.material.toughness = 1e7f;
	def.material.max_plastic_strain = 0.2f;
	def.material.yield_strain = 0.02f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.sleeping_enabled = true;
	def.world.ground_enabled = true;
	def.body.position = (FemPosition){3.0, 0.2, -7.0};
	return def;
}

static FemRig crate(void) {
	FemRigDef def = crate_def();
	return fem_rig_create(&def);
}

static void run(FemWorldId world, int32_t steps) {
	for (int32_t i = 0; i < steps; i++)
		fem_world_step(world, DT, 1);
}

static FemRig sleeping_crate(void) {
	FemRig rig = crate();
	for (int32_t i = 0; i < 600 && !fem_body_is_asleep(rig.body); i++)
		run(rig.world, 1);
	FEM_CHECK(fem_body_is_asleep(rig.body));
	return rig;
}

// A sheet of steel, clamped at one end, that was bent for good by its other end.
static FemRig bent_sheet(void) {
	FemRigDef def = fem_rig_bar_def(20, 1, 6, FEM_CELLS_KUHN, 0.3f);
	def.size = (FemVec3){1.0f, 0.02f, 0.3f};
	def.material.young_modulus = 1e8f;
	def.material.stiffness_damping = 0.002f;
	def.material.max_plastic_strain = 0.3f;
	def.material.yield_strain = 0.005f;
	FemRig rig = fem_rig_create(&def);
	for (int32_t i = 0; i < 60; i++) {
		fem_rig_load_face(&rig, true, (FemVec3){0.0f, -40.0f, 0.0f});
		run(rig.world, 1);
	}
	run(rig.world, 30);
	FEM_CHECK(count_flowed(rig.body) > 20);
	return rig;
}

typedef struct Glass {
	FemWorldId world;
	FemSceneBodies bodies;
} Glass;

static Glass broken_glass(int32_t workers, int32_t steps) {
	Glass glass = {0};
	const FemScene *scene = fem_scene_find("glass2400");
	FemWorldDef def = fem_scene_world_def(scene, workers);
	glass.world = fem_world_create(&def);
	glass.bodies = fem_scene_build(scene, glass.world);
	for (int32_t step = 0; step < steps; step++) {
		scene->drive(&glass.bodies, step, scene->dt);
		fem_world_step(glass.world, scene->dt, 1);
	}
	return glass;
}

static void glass_end(Glass *glass) {
	FEM_CHECK_INT(fem_world_validate(glass->world), FEM_OK);
	fem_scene_bodies_free(&glass->bodies);
	fem_world_destroy(glass->world);
}

// ---- sizes

// Prints a row of the table, and checks the size against the body's nodes and tets that flowed.
static size_t measure(const char *name, FemBodyId body, size_t limit) {
	double began = fem_time_ms();
	State state = save(body);
	double saved = fem_time_ms();
	load(body, &state);
	double loaded = fem_time_ms();
	int32_t nodes = fem_body_get_node_count(body);
	printf("  %-22s %5d nodes %4d flowed %8zu bytes, saved in %.3f ms, loaded in %.3f ms\n", name, nodes,
		count_flowed(body), state.size, saved - began, loaded - saved);
	fem_test_check(state.size < limit, __FILE__, __LINE__, "%s: %lld bytes are not below %lld", name,
		(long long)state.size, (long long)limit);
	free(state.data);
	return state.size;
}

static size_t node_limit(FemBodyId body) {
	return FIXED_BYTES + NODE_BYTES * (size_t)fem_body_get_node_count(body) + FLOWED_BYTES * (size_t)count_flowed(body);
}

FEM_TEST(body_state, sizes_of_bodies_that_never_deformed) {
	FemRig rig = crate();
	measure("untouched crate", rig.body, RIGID_BYTES);
	fem_body_add_velocity(rig.body, (FemVec3){1.0f, 5.0f, 0.0f}, (FemVec3){0.5f, 2.0f, -1.0f});
	run(rig.world, 20);
	measure("flying crate", rig.body, RIGID_BYTES);
	fem_rig_destroy(&rig);
	rig = sleeping_crate();
	measure("sleeping crate", rig.body, RIGID_BYTES);
	fem_rig_destroy(&rig);
}

FEM_TEST(body_state, sizes_of_bent_and_broken_bodies) {
	FemRig sheet = bent_sheet();
	measure("bent sheet", sheet.body, node_limit(sheet.body));
	fem_rig_destroy(&sheet);
	Glass glass = broken_glass(2, 60);
	size_t sum = 0;
	int32_t pieces = 0;
	for (int32_t b = 0; b < glass.bodies.count; b++) {
		pieces += fem_body_get_pieces(glass.bodies.ids[b], NULL, 0);
		sum += measure("broken pane", glass.bodies.ids[b], node_limit(glass.bodies.ids[b]));
	}
	printf("  %d panes in %d pieces: %zu bytes\n", glass.bodies.count, pieces, sum);
	FEM_CHECK(pieces > 100);
	glass_end(&glass);
}

// ---- round trip

static bool same_shape(FemBodyId a, FemBodyId b) {
	FemShape of_a, of_b;
	const float *at_a = fem_body_get_shape(a, false, &of_a), *at_b = fem_body_get_shape(b, false, &of_b);
	return at_a && at_b && of_a.node_count == of_b.node_count &&
		memcmp(&of_a.origin, &of_b.origin, sizeof of_a.origin) == 0 &&
		memcmp(at_a, at_b, sizeof(float) * 4 * (size_t)of_a.node_count) == 0;
}

// Momenta to a millionth of what the mass would have at `speed` (m/s), about the centre at `arm` (m).
static void check_momenta(FemBodyId body, const FemBodyState *before, double speed, double arm) {
	FemBodyState after;
	fem_body_get_state(body, &after);
	double linear = 2e-6 * before->mass * speed, angular = linear * arm;
	FEM_CHECK_NEAR(after.mass, before->mass, 1e-6 * before->mass);
	FEM_CHECK_NEAR(after.linear_momentum.x, before->linear_momentum.x, linear);
	FEM_CHECK_NEAR(after.linear_momentum.y, before->linear_momentum.y, linear);
	FEM_CHECK_NEAR(after.linear_momentum.z, before->linear_momentum.z, linear);
	FEM_CHECK_NEAR(after.angular_momentum.x, before->angular_momentum.x, angular);
	FEM_CHECK_NEAR(after.angular_momentum.y, before->angular_momentum.y, angular);
	FEM_CHECK_NEAR(after.angular_momentum.z, before->angular_momentum.z, angular);
	FEM_CHECK_INT(after.asleep, before->asleep);
	FEM_CHECK_INT(after.pinned_count, before->pinned_count);
}

// Pieces with their numbers, and each tet in the piece where it was.
static void check_pieces(FemBodyId a, FemBodyId b, int32_t tet_count) {
	FemPieceNumber numbers[2][256];
	int32_t count = fem_body_get_pieces(a, numbers[0], 256);
	FEM_REQUIRE(count <= 256);
	FEM_CHECK_INT(fem_body_get_pieces(b, numbers[1], 256), count);
	FEM_CHECK(memcmp(numbers[0], numbers[1], sizeof **numbers * (size_t)count) == 0);
	for (int32_t t = 0; t < tet_count; t++)
		FEM_CHECK_INT(fem_body_get_tet_piece(b, t), fem_body_get_tet_piece(a, t));
	for (int32_t i = 0; i < count; i++) {
		FemPieceState of_a, of_b;
		fem_body_get_piece_state(a, numbers[0][i], &of_a);
		fem_body_get_piece_state(b, numbers[0][i], &of_b);
		FEM_CHECK_INT(of_b.parent, of_a.parent);
		FEM_CHECK_INT(of_b.asleep, of_a.asleep);
		FEM_CHECK_NEAR(of_b.age, of_a.age, 1e-8);
		FEM_CHECK_NEAR(of_b.center.x, of_a.center.x, 1e-6);
		FEM_CHECK_NEAR(of_b.linear_velocity.y, of_a.linear_velocity.y, 1e-4);
	}
}

// Saved, loaded into `other` and saved again: equal bytes.
static void check_repeats(FemBodyId body, FemBodyId other) {
	State first = save(body);
	FEM_REQUIRE(load(other, &first));
	State second = save(other);
	FEM_CHECK(same(&first, &second));
	load(other, &second);
	State third = save(other);
	FEM_CHECK(same(&second, &third));
	free(first.data);
	free(second.data);
	free(third.data);
}

FEM_TEST(body_state, rigid_motion_comes_back) {
	FemRig rig = crate(), other = crate();
	FemBodyState before;
	fem_body_teleport(rig.body, (FemPosition){1234.5, 300.25, -77.0}, (FemQuat){0.0f, 0.0f, 1.0f, 0.0f});
	fem_body_add_velocity(rig.body, (FemVec3){1.0f, 5.0f, 0.0f}, (FemVec3){0.5f, 2.0f, -1.0f});
	run(rig.world, 20);
	run(other.world, 3);
	fem_body_get_state(rig.body, &before);
	check_repeats(rig.body, other.body);
	check_momenta(other.body, &before, 6.0, 1.0);
	fem_rig_read(&rig);
	fem_rig_read(&other);
	for (int32_t i = 0; i < rig.box.node_count; i++) {
		double x = rig.origin.x + (double)rig.offsets[i].x - other.origin.x - (double)other.offsets[i].x;
		double y = rig.origin.y + (double)rig.offsets[i].y - other.origin.y - (double)other.offsets[i].y;
		FEM_CHECK_NEAR(hypot(x, y), 0.0, 1.7e-5);
	}
	// And goes on from there, moved by its pose.
	run(rig.world, 20);
	run(other.world, 20);
	FemBodyState a, b;
	fem_body_get_state(rig.body, &a);
	fem_body_get_state(other.body, &b);
	FEM_CHECK_NEAR(a.center.y, b.center.y, 1e-3);
	FEM_CHECK_INT(
		fem_body_teleport(other.body, (FemPosition){1235.5, 300.25, -77.0}, (FemQuat){0.0f, 0.0f, 1.0f, 0.0f}), FEM_OK);
	fem_body_get_state(other.body, &b);
	FEM_CHECK_NEAR(b.center.x, a.center.x + 1.0, 1e-3);
	fem_rig_destroy(&rig);
	fem_rig_destroy(&other);
}

// A pose fitted to a body that is a little deformed must not make it whole.
FEM_TEST(body_state, small_deformation_is_kept) {
	FemRig rig = crate(), other = crate();
	FemPosition moved;
	FEM_CHECK_INT(fem_body_get_node_position(rig.body, 13, &moved), FEM_OK);
	moved.x += 1e-4;
	fem_body_set_node_position(rig.body, 13, moved);
	check_repeats(rig.body, other.body);
	FEM_CHECK(same_shape(rig.body, other.body));
	fem_rig_destroy(&rig);
	fem_rig_destroy(&other);
}

FEM_TEST(body_state, a_bent_sheet_stays_bent) {
	FemRig rig = bent_sheet(), other = bent_sheet();
	FemTetState a, b;
	FemBodyState before;
	run(other.world, 17);
	fem_body_get_state(rig.body, &before);
	check_repeats(rig.body, other.body);
	FEM_CHECK(same_shape(rig.body, other.body));
	check_momenta(other.body, &before, 1.0, 1.0);
	for (int32_t t = 0; t < rig.box.tet_count; t++) {
		fem_body_get_tet_state(rig.body, t, &a);
		fem_body_get_tet_state(other.body, t, &b);
		for (int i = 0; i < 6; i++) {
			FEM_CHECK_NEAR(b.plastic_strain[i], a.plastic_strain[i], 0.0);
			FEM_CHECK_NEAR(b.strain[i], a.strain[i], 1e-6);
		}
	}
	run(rig.world, 60);
	run(other.world, 60);
	fem_rig_read(&rig);
	fem_rig_read(&other);
	printf("  tip bent by %.4f m, loaded %.4f m\n", fem_rig_tip_mean_y(&rig), fem_rig_tip_mean_y(&other));
	FEM_CHECK(fem_rig_tip_mean_y(&rig) < -0.01);
	FEM_CHECK_NEAR(fem_rig_tip_mean_y(&other), fem_rig_tip_mean_y(&rig), 1e-4);
	fem_rig_destroy(&rig);
	fem_rig_destroy(&other);
}

#define PANE_TETS 150

FEM_TEST(body_state, broken_bodies_come_back) {
	Glass glass = broken_glass(2, 40), other = broken_glass(1, 7);
	for (int32_t b = 0; b < glass.bodies.count; b++) {
		FemBodyId body = glass.bodies.ids[b], copy = other.bodies.ids[b];
		FemBodyState before;
		fem_body_get_state(body, &before);
		check_repeats(body, copy);
		FEM_CHECK(same_shape(body, copy));
		check_pieces(body, copy, PANE_TETS);
		check_momenta(copy, &before, 20.0, 2.0);
		check_repeats(copy, body);
	}
	FEM_CHECK_INT(fem_world_validate(glass.world), FEM_OK);
	FEM_CHECK_INT(fem_world_validate(other.world), FEM_OK);
	for (int32_t i = 0; i < 120; i++)
		FEM_CHECK_INT(fem_world_step(other.world, DT, 1) & FEM_STEP_BODY_ROLLED_BACK, 0);
	glass_end(&glass);
	glass_end(&other);
}

static void remove_every_third(FemBodyId body) {
	FemPieceNumber numbers[256];
	int32_t count = fem_body_get_pieces(body, numbers, 256);
	for (int32_t i = 1; i < count && i < 256; i += 3)
		FEM_CHECK_INT(fem_body_remove_piece(body, numbers[i]), FEM_OK);
}

static bool same_velocities(FemBodyId a, FemBodyId b) {
	FemVec3 of_a[512] = {0}, of_b[512] = {0};
	int32_t count = fem_body_get_node_count(a);
	FEM_CHECK(count <= 512);
	fem_body_get_velocities(a, of_a, 512);
	fem_body_get_velocities(b, of_b, 512);
	return memcmp(of_a, of_b, sizeof *of_a * (size_t)count) == 0;
}

FEM_TEST(body_state, pieces_that_were_removed_stay_away) {
	Glass glass = broken_glass(2, 30), other = broken_glass(2, 3);
	for (int32_t b = 0; b < glass.bodies.count; b++) {
		FemBodyId body = glass.bodies.ids[b], copy = other.bodies.ids[b];
		remove_every_third(body);
		run(glass.world, 3); // breaks on: copies get numbers beyond those of removed nodes
		check_repeats(body, copy);
		check_pieces(body, copy, PANE_TETS);
		FEM_CHECK_INT(fem_body_get_node_count(copy), fem_body_get_node_count(body));
		FEM_CHECK(same_velocities(body, copy));
		remove_every_third(copy);
	}
	run(other.world, 30);
	glass_end(&glass);
	glass_end(&other);
}

// Fails when what is loaded depends on the number of threads, or on anything but the state.
FEM_TEST(body_state, loaded_bodies_go_on_the_same_for_any_worker_count) {
	Glass glass = broken_glass(2, 20);
	uint64_t hash[3];
	for (int32_t w = 0; w < 3; w++) {
		Glass other = broken_glass(1 << w, 0);
		for (int32_t b = 0; b < glass.bodies.count; b++) {
			State state = save(glass.bodies.ids[b]);
			load(other.bodies.ids[b], &state);
			free(state.data);
		}
		run(other.world, 20);
		hash[w] = fem_world_hash(other.world);
		glass_end(&other);
	}
	FEM_CHECK(hash[0] == hash[1] && hash[0] == hash[2]);
	glass_end(&glass);
}

// ---- sleep

FEM_TEST(body_state, a_stack_that_slept_sleeps_on) {
	FemRigDef def = crate_def();
	def.body.position.y = 0.0;
	FemRig rig = fem_rig_create(&def);
	FemBodyId bodies[3] = {rig.body};
	for (int32_t b = 1; b < 3; b++) {
		def.body.mesh = rig.mesh;
		def.body.materials = &rig.material;
		def.body.material_count = 1;
		def.body.position.y = b * 1.001;
		bodies[b] = fem_body_create(rig.world, &def.body);
	}
	for (int32_t i = 0; i < 900 && !fem_body_is_asleep(bodies[2]); i++)
		run(rig.world, 1);
	State states[3];
	for (int32_t b = 0; b < 3; b++) {
		FEM_CHECK(fem_body_is_asleep(bodies[b]));
		states[b] = save(bodies[b]);
	}
	fem_body_apply_impulse_at_point(bodies[2], (FemVec3){3000.0f, 0.0f, 0.0f}, (FemPosition){3.0, 2.5, -7.0});
	run(rig.world, 60);
	for (int32_t b = 0; b < 3; b++)
		load(bodies[b], &states[b]);
	run(rig.world, 30);
	for (int32_t b = 0; b < 3; b++) {
		FEM_CHECK(fem_body_is_asleep(bodies[b]));
		free(states[b].data);
	}
	fem_rig_destroy(&rig);
}

// A long beam on the ground of which one end is kept awake.
FEM_TEST(body_state, parts_that_sleep_are_kept) {
	FemRigDef def = fem_rig_bar_def(60, 2, 2, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){12.0f, 0.4f, 0.4f};
	def.clamped = false;
	def.world.ground_enabled = true;
	def.world.sleeping_enabled = true;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.material.stiffness_damping = 0.01f;
	FemRig rig = fem_rig_create(&def), other = fem_rig_create(&def);
	for (int32_t i = 0; i < 900 && !fem_body_is_asleep(rig.body); i++)
		run(rig.world, 1);
	fem_body_pin_node(rig.body, 0);
	run(rig.world, 2);
	FemBodyState before, after;
	fem_body_get_state(rig.body, &before);
	FEM_CHECK(before.live_tets > 0 && before.live_tets < rig.box.tet_count / 2);
	check_repeats(rig.body, other.body);
	run(other.world, 1);
	fem_body_get_state(other.body, &after);
	printf("  %d of %d tets are live, loaded %d\n", before.live_tets, rig.box.tet_count, after.live_tets);
	FEM_CHECK_INT(after.live_tets, before.live_tets);
	fem_rig_destroy(&rig);
	fem_rig_destroy(&other);
}

// ---- splinters

// Fails when owners are part of the state, or a loaded body's are others than the saved one's.
FEM_TEST(body_state, splinters_are_not_in_it) {
	FemRigDef def = crate_def();
	def.material.toughness = 3e4f;
	FemRig rig = fem_rig_create(&def), other = fem_rig_create(&def);
	FemBoxSplinters boxes = fem_box_splinters(&rig.box, (FemVec3){0.0f, 0.0f, 0.0f}, def.size, 5, 5, 5);
	size_t without = fem_body_save(rig.body, NULL, 0);
	FEM_CHECK_INT(fem_body_set_splinters(rig.body, &boxes.def), FEM_OK);
	FEM_CHECK_INT(fem_body_set_splinters(other.body, &boxes.def), FEM_OK);
	FEM_CHECK_INT(fem_body_save(rig.body, NULL, 0), without);
	fem_body_apply_impulse_at_point(rig.body, (FemVec3){-1500.0f, 0.0f, 0.0f}, (FemPosition){3.0, 0.7, -6.5});
	fem_body_apply_impulse_at_point(rig.body, (FemVec3){1500.0f, 0.0f, 0.0f}, (FemPosition){4.0, 0.7, -6.5});
	run(rig.world, 10);
	FEM_REQUIRE(fem_body_get_pieces(rig.body, NULL, 0) > 1);
	check_repeats(rig.body, other.body);
	int32_t moved = 0;
	for (int32_t i = 0; i < boxes.def.vertex_count; i++) {
		FemVertexOwner a, b;
		FEM_CHECK_INT(fem_body_get_vertex_owner(rig.body, i, &a), FEM_OK);
		FEM_CHECK_INT(fem_body_get_vertex_owner(other.body, i, &b), FEM_OK);
		FEM_CHECK(a.tet == b.tet && memcmp(a.nodes, b.nodes, sizeof a.nodes) == 0 &&
			memcmp(a.weights, b.weights, sizeof a.weights) == 0);
		moved += a.tet != boxes.def.vertex_tets[i];
	}
	printf("  %d of %d vertices have another owner\n", moved, boxes.def.vertex_count);
	FEM_CHECK(moved > 0);
	FEM_CHECK_INT(fem_world_validate(other.world), FEM_OK);
	run(other.world, 20);
	FEM_CHECK_INT(fem_world_validate(other.world), FEM_OK);
	fem_box_splinters_free(&boxes);
	fem_rig_destroy(&rig);
	fem_rig_destroy(&other);
}
