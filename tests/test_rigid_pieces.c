// Pieces that move as rigid bodies: what they keep when they become so, that no load is missed that would break them,
// and the setting that chooses.
#include "contact_rig.h"
#include "cube_scene.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)

// A bar of stone: E 5e8, breaks at a strain of 3e-4.
static FemRigDef stone_bar(FemDynamics dynamics) {
	FemRigDef def = fem_rig_bar_def(10, 2, 2, FEM_CELLS_KUHN, 0.2f);
	def.clamped = false;
	def.material.young_modulus = 5e8f;
	def.material.density = 2500.0f;
	def.material.stiffness_damping = 5e-4f;
	def.material.breakable = true;
	def.material.toughness = 1.6e5f;
	def.material.toughness_variation = 0.0f;
	def.world.solver_tolerance = 1e-3f;
	def.body.dynamics = dynamics;
	return def;
}

static int32_t rigid_pieces(FemWorldId world) {
	FemStatistics statistics;
	FEM_CHECK_INT(fem_world_get_statistics(world, &statistics), FEM_OK);
	return statistics.rigid_pieces;
}

static FemBodyState state_of(FemBodyId body) {
	FemBodyState state = {0};
	FEM_CHECK_INT(fem_body_get_state(body, &state), FEM_OK);
	return state;
}

static double length3(FemVec3 v) {
	return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

static double distance3(FemVec3 a, FemVec3 b) {
	return length3((FemVec3){a.x - b.x, a.y - b.y, a.z - b.z});
}

// ---- motion

// Fails when the shape is made by adding up rotations, whose rounding strains it, or the spin is not that of free
// tumbling.
FEM_TEST(rigid_pieces, tumble_for_long_without_drift) {
	FemRigDef def = stone_bar(FEM_DYNAMICS_RIGID);
	def.body.angular_velocity = (FemVec3){1.0f, 1.0f, 5.0f};
	def.body.linear_velocity = (FemVec3){0.3f, 0.0f, -0.2f};
	FemRig rig = fem_rig_create(&def);
	FemBodyState before = state_of(rig.body), after = before;
	double most = 0.0, least = INFINITY;
	for (int32_t s = 0; s < 1200; s++) {
		fem_world_step(rig.world, DT, 1);
		after = state_of(rig.body);
		most = fmax(most, after.kinetic_energy);
		least = fmin(least, after.kinetic_energy);
	}
	FEM_CHECK_INT(rigid_pieces(rig.world), 1);
	FEM_CHECK_NEAR(most / before.kinetic_energy, 1.0, 1e-4);
	FEM_CHECK_NEAR(least / before.kinetic_energy, 1.0, 1e-4);
	FEM_CHECK(distance3(after.angular_momentum, before.angular_momentum) < 1e-4 * length3(before.angular_momentum));
	FEM_CHECK(distance3(after.linear_momentum, before.linear_momentum) < 1e-5 * length3(before.linear_momentum));
	FEM_CHECK(after.max_strain < 2e-5f); // positions are floats, some 10 m from their origin, and cells 5 cm wide
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// Planks, sticks and cubes that spin by up to 2.3 rad a step keep their energy and angular momentum for five seconds.
// Fails when spin is cut at what an elastic piece can follow, or the tumbling is followed in one part.
FEM_TEST(rigid_pieces, spin_fast_without_loss) {
	static const FemVec3 sizes[] = {{0.1f, 0.1f, 0.1f}, {0.3f, 0.02f, 0.2f}, {0.3f, 0.02f, 0.02f}};
	for (int c = 0; c < 6; c++) {
		FemWorldDef world_def = fem_contact_world_def();
		world_def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
		FemWorldId world = fem_world_create(&world_def);
		FemBlock block = fem_block(0.1f, 1);
		block.size = sizes[c % 3];
		block.material.young_modulus = 1e11f;
		block.body.dynamics = FEM_DYNAMICS_RIGID;
		block.body.angular_velocity = c < 3 ? (FemVec3){12.0f, 18.0f, 55.0f} : (FemVec3){20.0f, 90.0f, 93.0f};
		FemBodyId body = fem_block_add(world, &block);
		FemBodyState before = state_of(body);
		for (int32_t s = 0; s < 300; s++)
			FEM_CHECK_INT(fem_world_step(world, DT, 1), 0);
		FemBodyState after = state_of(body);
		FEM_CHECK_NEAR(after.kinetic_energy / before.kinetic_energy, 1.0, 1e-4);
		FEM_CHECK(distance3(after.angular_momentum, before.angular_momentum) < 1e-5 * length3(before.angular_momentum));
		FEM_CHECK(after.max_strain < 2e-6f);
		fem_world_destroy(world);
	}
}

// A bar that rings becomes rigid when the ringing has died down: both momenta stay, energy falls, the shape does not
// jump. Fails when velocities are dropped, or the shape is that of rest.
FEM_TEST(rigid_pieces, keep_momenta_and_shape_when_they_become_rigid) {
	FemRigDef def = stone_bar(FEM_DYNAMICS_ELEMENTS);
	def.body.angular_velocity = (FemVec3){0.3f, 2.0f, 0.5f};
	FemRig rig = fem_rig_create(&def);
	uint32_t seed = 7;
	for (int32_t i = 0; i < rig.box.node_count; i++)
		fem_body_apply_impulse(rig.body, i, (FemVec3){1e-3f * fem_random(&seed), 1e-3f * fem_random(&seed), 2e-3f});
	fem_world_step(rig.world, DT, 1);
	FEM_CHECK_INT(rigid_pieces(rig.world), 0);
	FemBodyState before = state_of(rig.body), after;
	fem_rig_read(&rig);
	FemVec3 *old = malloc(sizeof *old * (size_t)rig.box.node_count);
	memcpy(old, rig.offsets, sizeof *old * (size_t)rig.box.node_count);
	FEM_CHECK_INT(fem_body_set_dynamics(rig.body, FEM_DYNAMICS_RIGID), FEM_OK);
	fem_world_step(rig.world, 1e-6f, 1); // becomes rigid, and hardly moves
	after = state_of(rig.body);
	fem_rig_read(&rig);
	double jump = 0.0;
	for (int32_t i = 0; i < rig.box.node_count; i++)
		jump = fmax(jump, distance3(old[i], rig.offsets[i]));
	FEM_CHECK_INT(rigid_pieces(rig.world), 1);
	FEM_CHECK(jump < 1e-5); // 2 um of motion, and rounding
	FEM_CHECK(distance3(after.angular_momentum, before.angular_momentum) < 1e-6 * length3(before.angular_momentum));
	FEM_CHECK(distance3(after.linear_momentum, before.linear_momentum) < 1e-6 * length3(before.linear_momentum));
	FEM_CHECK(after.kinetic_energy < before.kinetic_energy);
	FEM_CHECK_NEAR(after.elastic_energy / before.elastic_energy, 1.0, 0.1); // the strain is kept with the shape
	free(old);
	fem_rig_destroy(&rig);
}

// ---- loads

typedef enum Structure {
	SHELF,      // a plank on two supports, loaded in the middle
	CANTILEVER, // pinned at one end, loaded at the other
	BRIDGE,     // pinned at both ends, loaded in the middle
} Structure;

static bool is_loaded(const FemRig *rig, int32_t node, Structure structure) {
	FemVec3 x = rig->box.positions[node];
	float at = structure == CANTILEVER ? 1.0f : 0.5f;
	return fabsf(x.x - at) < 1e-3f && x.y > 0.0999f;
}

static void pin(const FemRig *rig, Structure structure) {
	for (int32_t i = 0; i < rig->box.node_count; i++) {
		float x = rig->box.positions[i].x;
		if ((structure != SHELF && x < 1e-3f) || (structure == BRIDGE && x > 0.999f))
			fem_body_pin_node(rig->body, i);
	}
}

static void add_support(FemWorldId world, double x) {
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_BOX;
	def.shape.half_extents = (FemVec3){0.05f, 0.5f, 0.5f};
	def.position = (FemPosition){x, -0.5, 0.05};
	FEM_CHECK(fem_collider_is_valid(fem_collider_create(world, &def)));
}

// N, of the force at which the structure breaks that grows by 10 N a step; *out_rigid: pieces that were rigid before.
static double breaking_load(Structure structure, FemDynamics dynamics, int32_t *out_rigid) {
	FemRigDef def = stone_bar(dynamics);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.material.toughness = 4e6f;
	FemRig rig = fem_rig_create(&def);
	const FemFractureFace *faces;
	pin(&rig, structure);
	if (structure == SHELF) {
		add_support(rig.world, 0.05);
		add_support(rig.world, 0.95);
	}
	double load = 0.0;
	fem_steps(rig.world, 30);
	*out_rigid = rigid_pieces(rig.world);
	while (load < 2e4 && fem_world_get_fracture_faces(rig.world, &faces) == 0) {
		load += 10.0;
		for (int32_t i = 0; i < rig.box.node_count; i++) {
			if (is_loaded(&rig, i, structure))
				fem_body_apply_force(rig.body, i, (FemVec3){0.0f, (float)(-load / 3.0), 0.0f});
		}
		fem_world_step(rig.world, DT, 1);
	}
	fem_rig_destroy(&rig);
	return load;
}

// Fails when loads are not looked at (nothing breaks), or only their sum is.
FEM_TEST(rigid_pieces, structures_fail_at_the_load_of_elastic_ones) {
	static const char *const names[] = {"shelf", "cantilever", "bridge"};
	for (int s = 0; s < 3; s++) {
		int32_t rigid, elastic;
		double loaded = breaking_load((Structure)s, FEM_DYNAMICS_AUTO, &rigid),
			   expected = breaking_load((Structure)s, FEM_DYNAMICS_ELEMENTS, &elastic);
		printf("  %s: %.0f N, elastic %.0f N\n", names[s], loaded, expected);
		FEM_CHECK(rigid == 1 && elastic == 0 && expected < 1.9e4);
		FEM_CHECK_NEAR(loaded / expected, 1.0, 0.1);
	}
}

// What is thrown is rigid in flight, and breaks in the step in which it strikes. Fails when the look at its loads comes
// a step late, or not at all.
FEM_TEST(rigid_pieces, a_blow_in_flight_is_not_missed) {
	int32_t broke_at[2] = {-1, -1}, pieces[2] = {0};
	for (int d = 0; d < 2; d++) {
		FemRigDef def = stone_bar(d == 0 ? FEM_DYNAMICS_AUTO : FEM_DYNAMICS_ELEMENTS);
		def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
		def.world.ground_enabled = true;
		def.body.position = (FemPosition){0.0, 4.0, 0.0};
		def.body.linear_velocity = (FemVec3){0.0f, -6.0f, 0.0f};
		def.body.rotation = fem_rotation_z(0.2);
		FemRig rig = fem_rig_create(&def);
		for (int32_t s = 0; s < 60; s++) {
			fem_world_step(rig.world, DT, 1);
			if (s == 20)
				FEM_CHECK_INT(rigid_pieces(rig.world), d == 0);
			pieces[d] = fem_body_get_pieces(rig.body, NULL, 0);
			if (pieces[d] > 1 && broke_at[d] < 0)
				broke_at[d] = s;
		}
		FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
		fem_rig_destroy(&rig);
	}
	printf("  broke in step %d into %d pieces, elastic in step %d into %d\n", broke_at[0], pieces[0], broke_at[1],
		pieces[1]);
	FEM_CHECK(broke_at[0] > 20 && broke_at[0] == broke_at[1]);
}

// N s: the kept loads of its nodes, one by one.
static void copy_loads(const FemBody *body, FemVec4 *out) {
	memcpy(out, body->last_dv, sizeof *out * (size_t)body->topology->node_count);
}

// A plank that rests is looked at once, and again as soon as what it carries is another. Fails when it is looked at in
// every step, when loads that come to more by and by are compared with those of the last step, when a restored one is
// looked at anew, and when the rotations of its tets do not follow it while nothing else of them is computed.
FEM_TEST(rigid_pieces, are_looked_at_when_their_loads_change) {
	FemRigDef def = stone_bar(FEM_DYNAMICS_AUTO);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.material.toughness = 4e6f;
	FemRig rig = fem_rig_create(&def);
	add_support(rig.world, 0.05);
	add_support(rig.world, 0.95);
	fem_steps(rig.world, 40);
	const FemBody *body = fem_body_find(rig.body, NULL);
	size_t nodes = (size_t)body->topology->node_count;
	FemVec4 *before = malloc(sizeof *before * nodes), *after = malloc(sizeof *after * nodes);
	FEM_CHECK_INT(rigid_pieces(rig.world), 1);
	FEM_CHECK(body->pieces[0].slack > 0.0f);
	copy_loads(body, before);
	fem_steps(rig.world, 10);
	copy_loads(body, after);
	FEM_CHECK(memcmp(before, after, sizeof *before * nodes) == 0);
	size_t size = fem_world_save(rig.world, NULL, 0);
	void *data = malloc(size);
	FEM_CHECK(fem_world_save(rig.world, data, size) == size);
	FemWorldId copy = fem_world_restore(data, size, 1);
	free(data);
	fem_steps(rig.world, 5);
	fem_steps(copy, 5);
	FEM_CHECK(fem_world_hash(copy) == fem_world_hash(rig.world));
	fem_world_destroy(copy);
	bool is_new = false;
	for (int32_t s = 0; s < 400 && !is_new; s++) { // to 2,000 N: a quarter of what breaks it
		fem_body_apply_force(rig.body, rig.box.node_count / 2, (FemVec3){0.0f, -5.0f * (float)s, 0.0f});
		fem_world_step(rig.world, DT, 1);
		copy_loads(body, after);
		is_new = memcmp(before, after, sizeof *before * nodes) != 0;
	}
	FEM_CHECK(is_new && rigid_pieces(rig.world) == 1);
	free(before);
	free(after);
	fem_rig_destroy(&rig);
	def = stone_bar(FEM_DYNAMICS_AUTO);
	def.body.angular_velocity = (FemVec3){0.0f, 0.0f, 2.0f};
	rig = fem_rig_create(&def);
	fem_steps(rig.world, 120);
	body = fem_body_find(rig.body, NULL);
	FEM_CHECK(body->pieces[0].slack > 0.0f);
	const FemTopology *t = body->topology;
	FemVec3 corner = rig.box.positions[0];
	int32_t along = 0; // a node that lay in the x direction of node 0
	for (int32_t i = 1; i < rig.box.node_count; i++) {
		FemVec3 x = rig.box.positions[i];
		along = x.x > corner.x && x.y == corner.y && x.z == corner.z ? i : along;
	}
	FemVec4 q = body->rotation[0], from = body->position[t->node_of_user[0]],
			to = body->position[t->node_of_user[along]];
	FemVec3d x = fem_quat_rotate((FemQuat){q.x, q.y, q.z, q.w}, (FemVec3d){1.0, 0.0, 0.0});
	FemVec3d edge = {(double)(to.x - from.x), (double)(to.y - from.y), (double)(to.z - from.z)};
	FEM_CHECK(fem_vec3d_dot(x, edge) > (1.0 - 1e-3) * sqrt(fem_vec3d_dot(edge, edge))); // a step late
	fem_rig_destroy(&rig);
}

// The pins of a rigid cantilever hold its weight and its moment.
FEM_TEST(rigid_pieces, reactions_balance_the_load) {
	FemRigDef def = stone_bar(FEM_DYNAMICS_RIGID);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	FemRig rig = fem_rig_create(&def);
	pin(&rig, CANTILEVER);
	fem_world_step(rig.world, DT, 1);
	double force = 0.0, moment = 0.0;
	for (int32_t i = 0; i < rig.box.node_count; i++) {
		FemVec3 r = {0}, x = rig.box.positions[i];
		fem_body_get_reaction(rig.body, i, &r);
		force += (double)r.y;
		moment += (double)x.x * (double)r.y - (double)x.y * (double)r.x;
	}
	double weight = state_of(rig.body).mass * 9.81;
	FEM_CHECK_NEAR(force / weight, 1.0, 1e-4);
	FEM_CHECK_NEAR(moment / (0.5 * weight), 1.0, 1e-3);
	FEM_CHECK(state_of(rig.body).kinetic_energy == 0.0);
	fem_rig_destroy(&rig);
}

// ---- rest

// Steel cubes of 1 cm at 30 Hz, dropped tilted at 3 m/s: what floats hardly hold as elastic rests.
FEM_TEST(rigid_pieces, small_stiff_cubes_rest) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.ground_enabled = true;
	FemWorldId world = fem_world_create(&world_def);
	FemBlock cube = fem_block(0.01f, 2);
	cube.material.young_modulus = 2e11f;
	cube.material.density = 7800.0f;
	cube.body.dynamics = FEM_DYNAMICS_RIGID;
	FemBodyId bodies[3];
	for (int b = 0; b < 3; b++) {
		cube.body.position = (FemPosition){0.1 * b, 0.05, 0.0};
		cube.body.rotation = fem_rotation_z(0.3 * b);
		cube.body.linear_velocity = (FemVec3){0.0f, -3.0f, 0.0f};
		bodies[b] = fem_block_add(world, &cube);
	}
	for (int32_t s = 0; s < 150; s++)
		fem_world_step(world, 1.0f / 30.0f, 1);
	FEM_CHECK_INT(rigid_pieces(world), 3);
	FEM_CHECK(fem_peak_speed(bodies, 3) < 0.01);
	for (int b = 0; b < 3; b++)
		FEM_CHECK_NEAR(fem_high(bodies[b]), 0.01, 1.1e-3); // rests up to 1 mm deep
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

// ---- the setting

FEM_TEST(rigid_pieces, dynamics_is_a_setting_of_the_body) {
	FemRigDef def = stone_bar(FEM_DYNAMICS_AUTO);
	FemRig rig = fem_rig_create(&def);
	FEM_CHECK_INT(fem_body_get_dynamics(rig.body), FEM_DYNAMICS_AUTO);
	fem_steps(rig.world, 3);
	FEM_CHECK_INT(rigid_pieces(rig.world), 1);
	FEM_CHECK_INT(fem_body_set_dynamics(rig.body, FEM_DYNAMICS_ELEMENTS), FEM_OK);
	FEM_CHECK_INT(fem_body_get_dynamics(rig.body), FEM_DYNAMICS_ELEMENTS);
	fem_steps(rig.world, 3);
	FEM_CHECK_INT(rigid_pieces(rig.world), 0);
	FEM_CHECK_INT(fem_body_set_dynamics(rig.body, (FemDynamics)5), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_body_set_dynamics((FemBodyId){0}, FEM_DYNAMICS_AUTO), FEM_ERROR_INVALID_ID);
	FEM_CHECK_INT(fem_body_get_dynamics((FemBodyId){0}), FEM_DYNAMICS_AUTO);
	FEM_CHECK_INT(fem_body_get_dynamics(rig.body), FEM_DYNAMICS_ELEMENTS);
	FemBodyDef bad = fem_default_body_def();
	bad.mesh = rig.mesh;
	bad.materials = &rig.material;
	bad.material_count = 1;
	bad.dynamics = (FemDynamics)-1;
	FEM_CHECK(fem_body_id_is_null(fem_body_create(rig.world, &bad)));
	fem_rig_destroy(&rig);
}

// A rigid body breaks under nothing. A material that becomes soft makes its body elastic, one that drives a node too.
FEM_TEST(rigid_pieces, follow_what_is_done_to_their_body) {
	FemRigDef def = stone_bar(FEM_DYNAMICS_RIGID);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.ground_enabled = true;
	def.body.position = (FemPosition){0.0, 3.0, 0.0};
	FemRig rig = fem_rig_create(&def);
	fem_steps(rig.world, 90);
	FEM_CHECK_INT(fem_body_get_pieces(rig.body, NULL, 0), 1);
	FEM_CHECK(fem_low(rig.body) > -0.01);
	FEM_CHECK_INT(fem_body_set_dynamics(rig.body, FEM_DYNAMICS_AUTO), FEM_OK);
	fem_steps(rig.world, 5);
	FEM_CHECK_INT(rigid_pieces(rig.world), 1);
	FemMaterialDef soft = def.material;
	soft.young_modulus = 1e5f;
	FEM_CHECK_INT(fem_material_set(rig.material, &soft), FEM_OK);
	fem_steps(rig.world, 5);
	FEM_CHECK_INT(rigid_pieces(rig.world), 0);
	FEM_CHECK_INT(fem_material_set(rig.material, &def.material), FEM_OK);
	fem_steps(rig.world, 60);
	FEM_CHECK_INT(rigid_pieces(rig.world), 1);
	fem_body_drive_node(rig.body, 0, (FemVec3){0.0f, 0.01f, 0.0f});
	fem_steps(rig.world, 1);
	FEM_CHECK_INT(rigid_pieces(rig.world), 0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// ---- what cannot break

static FemRigDef loaded_bar(FemDynamics dynamics) {
	FemRigDef def = fem_rig_bar_def(20, 2, 2, FEM_CELLS_KUHN, 0.05f);
	def.clamped = false;
	def.material.young_modulus = 1.5e8f;
	def.material.density = 1000.0f;
	def.material.stiffness_damping = 1e-3f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.sleeping_enabled = false;
	def.body.dynamics = dynamics;
	return def;
}

// m, how much lower the middle of a bar on two supports comes to lie when it weighs ten times as much.
static double sag_of_bar(FemDynamics dynamics, int32_t *out_rigid_before, int32_t *out_rigid_after) {
	FemRigDef def = loaded_bar(dynamics);
	FemRig rig = fem_rig_create(&def);
	FemColliderDef support = fem_default_collider_def();
	support.shape.type = FEM_SHAPE_BOX;
	support.shape.half_extents = (FemVec3){0.05f, 0.05f, 0.1f};
	for (int i = 0; i < 2; i++) {
		support.position = (FemPosition){i == 0 ? 0.05 : 0.95, -0.05, 0.05};
		fem_collider_create(rig.world, &support);
	}
	fem_steps(rig.world, 60);
	*out_rigid_before = rigid_pieces(rig.world);
	double before = fem_low(rig.body);
	FEM_CHECK_INT(fem_body_set_gravity_scale(rig.body, 10.0f), FEM_OK);
	fem_steps(rig.world, 120);
	*out_rigid_after = rigid_pieces(rig.world);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	double sag = before - fem_low(rig.body);
	fem_rig_destroy(&rig);
	return sag;
}

// A bar that is not seen to bend is rigid; under a load by which it is, it bends as an elastic one does. Fails when
// loads are not looked at, or the rule does not know the modulus.
FEM_TEST(rigid_pieces, what_cannot_break_is_rigid_until_it_is_seen_to_bend) {
	int32_t before, after, none;
	double sag = sag_of_bar(FEM_DYNAMICS_AUTO, &before, &after);
	double elastic = sag_of_bar(FEM_DYNAMICS_ELEMENTS, &none, &none);
	FEM_CHECK_INT(before, 1);
	FEM_CHECK_INT(after, 0);
	printf("  sags by %.2f mm, elastic %.2f mm\n", 1e3 * sag, 1e3 * elastic);
	FEM_CHECK(elastic > 1e-3);
	FEM_CHECK_NEAR(sag / elastic, 1.0, 0.05);
	FemRigDef soft = loaded_bar(FEM_DYNAMICS_AUTO);
	soft.material.young_modulus = 1e5f;
	soft.world.ground_enabled = true;
	FemRig rig = fem_rig_create(&soft);
	fem_steps(rig.world, 60);
	FEM_CHECK_INT(rigid_pieces(rig.world), 0);
	fem_rig_destroy(&rig);
}

// Contacts of two cubes of 6 x 6 cells a side on each other: a few points when both are rigid, and the upper one does
// not creep on them.
FEM_TEST(rigid_pieces, lie_on_few_points) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	FemBlock cube = fem_block(0.3f, 6);
	cube.material.young_modulus = 1e9f;
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, fem_rotation_z(0.0), 0.5f);
	fem_block_add(world, &cube);
	cube.body.position.x += 0.05;
	cube.body.position.y += 0.3;
	FemBodyId upper = fem_block_add(world, &cube);
	fem_steps(world, 60);
	FEM_CHECK_INT(rigid_pieces(world), 2);
	FemPosition before = fem_center(upper);
	fem_steps(world, 240);
	FemPosition after = fem_center(upper);
	FEM_CHECK(hypot(after.x - before.x, after.z - before.z) < 2e-4);
	FEM_CHECK(fabs(after.y - before.y) < 2e-4);
	const FemWorld *inside = fem_world_find(world);
	int32_t count = 0;
	for (int32_t c = 0; c < inside->contacts.contact_count; c++)
		count += fem_side_is_body(&inside->contacts.contacts[c].side[1]);
	FEM_CHECK(count >= 3 && count <= 8);
	fem_world_destroy(world);
}

// ---- bad input

// Spin of 1,000 rad/s, a piece of one tet, flat and needle-shaped ones, and bodies that stand in each other: nothing is
// lost, nothing is not finite, nothing flies off.
FEM_TEST(rigid_pieces, hold_at_corners) {
	static const FemVec3 sizes[] = {
		{0.1f, 0.1f, 0.1f}, {0.3f, 1e-3f, 0.3f}, {0.3f, 1e-3f, 1e-3f}, {1e-3f, 1e-3f, 1e-3f}};
	for (int c = 0; c < 4; c++) {
		FemWorldDef world_def = fem_contact_world_def();
		world_def.ground_enabled = true;
		FemWorldId world = fem_world_create(&world_def);
		FemBlock block = fem_block(0.1f, 1);
		block.size = sizes[c];
		block.cells[0] = block.cells[1] = block.cells[2] = 1;
		block.material.young_modulus = 1e11f;
		block.body.dynamics = FEM_DYNAMICS_RIGID;
		block.body.position = (FemPosition){0.0, 0.5, 0.0};
		block.body.angular_velocity = (FemVec3){1000.0f, -300.0f, 100.0f};
		FemBodyId bodies[3];
		for (int b = 0; b < 3; b++) // all in one place
			bodies[b] = fem_block_add(world, &block);
		for (int32_t s = 0; s < 120; s++)
			fem_world_step(world, s % 2 == 0 ? DT : 0.05f, 1);
		double speed = fem_peak_speed(bodies, 3);
		fem_test_check(speed < 60.0, __FILE__, __LINE__, "case %d: %g m/s", c, speed);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}
