// Stages of a step by themselves: going back to the start of a step, which pieces may be rigid and what loads them,
// swinging back in time, and what stopped pieces tell colliders.
#include "base/vec.h"
#include "contact_rig.h"
#include "dynamics/hinged_motion.h"
#include "dynamics/rigid_shape.h"
#include "fem_test.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "scenes/rig.h"
#include "world/api/registry.h"
#include "world/contact/held_pieces.h"
#include "world/step/passes.h"
#include "world/step/piece_probe.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)

static FemBody *body_of(const FemRig *rig) {
	return fem_world_find(rig->world)->bodies[rig->body.index1 - 1];
}

static int32_t rigid_pieces(FemWorldId world) {
	FemStatistics statistics;
	FEM_CHECK_INT(fem_world_get_statistics(world, &statistics), FEM_OK);
	return statistics.rigid_pieces;
}

// ---- passes

static void *other_bytes(const void *from, size_t bytes, uint32_t *seed) {
	unsigned char *to = malloc(bytes);
	memcpy(to, from, bytes);
	to[fem_random(seed) > 0.0f ? 0 : bytes - 1] ^= 0x55;
	return to;
}

// All that a pass changes of a body that breaks and flows comes back, bit for bit. Fails when one of the arrays is
// left as the pass made it.
FEM_TEST(step_stages, all_of_a_body_goes_back) {
	FemRigDef def = fem_rig_stone_def(2);
	def.material.yield_strain = 1e-4f;
	def.material.max_plastic_strain = 0.1f;
	FemRig rig = fem_rig_create(&def);
	FemBody *body = body_of(&rig);
	size_t nodes = (size_t)body->topology->node_count, batches = (size_t)body->topology->batch_count;
	struct {
		void *now, *start;
		size_t bytes;
	} arrays[6] = {{body->position, NULL, sizeof(FemVec4) * nodes}, {body->velocity, NULL, sizeof(FemVec4) * nodes},
		{body->ground_force, NULL, sizeof(float) * nodes},
		{body->rotation, NULL, sizeof(FemVec4) * FEM_LANES * batches},
		{body->batches, NULL, sizeof(FemBatch) * batches}, {body->plastics, NULL, sizeof(FemBatchPlastic) * batches}};
	uint32_t seed = 5;
	for (int i = 0; i < 6; i++)
		arrays[i].start = other_bytes(arrays[i].now, arrays[i].bytes, &seed);
	FemBodyStart start = {
		arrays[0].start, arrays[1].start, arrays[2].start, arrays[3].start, arrays[4].start, arrays[5].start};
	FemBodyStep step = {.start = &start};
	body->step = &step;
	fem_body_send_back(body, 0);
	fem_body_return_to_start(body);
	fem_body_forget_passes(body);
	body->step = NULL;
	FEM_CHECK(step.has_returned);
	for (int i = 0; i < 6; i++) {
		fem_test_check(memcmp(arrays[i].now, arrays[i].start, arrays[i].bytes) == 0, __FILE__, __LINE__,
			"array %d did not go back", i);
		free(arrays[i].start);
	}
	fem_rig_destroy(&rig);
}

// Of two pieces of a body one goes back, nodes and rotations of the other stay as the pass made them. Batches of tets
// that are all of the other are passed over in the next pass. Fails when the body is the unit.
FEM_TEST(step_stages, pieces_go_back_by_themselves) {
	FemWorldDef world_def = fem_contact_world_def();
	world_def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId id = fem_world_create(&world_def);
	FemBoxMesh box = fem_box_mesh(2, 2, 2, (FemVec3){0.3f, 0.3f, 0.3f}, FEM_CELLS_KUHN);
	FemBoxMesh pair = fem_box_mesh_row(&box, 2, (FemVec3){1.0f, 0.0f, 0.0f});
	FemMeshDef mesh_def = fem_box_mesh_def(&pair);
	FemMaterialDef material_def = fem_default_material_def();
	material_def.toughness = 1e6f;
	FemMaterialId material = fem_material_create(id, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(id, &mesh_def);
	def.materials = &material;
	def.material_count = 1;
	FemBodyId body_id = fem_body_create(id, &def);
	FemBody *body = fem_world_find(id)->bodies[body_id.index1 - 1];
	const FemTopology *t = body->topology;
	size_t nodes = (size_t)t->node_count, lanes = (size_t)t->batch_count * FEM_LANES;
	FEM_REQUIRE(t->component_count == 2);
	FemBodyStart start = {calloc(nodes, sizeof(FemVec4)), calloc(nodes, sizeof(FemVec4)), calloc(nodes, sizeof(float)),
		calloc(lanes, sizeof(FemVec4)), NULL, NULL};
	FemBodyStep step = {.start = &start};
	body->step = &step;
	for (size_t i = 0; i < nodes; i++)
		body->velocity[i].x = 1.0f;
	fem_body_send_back(body, 1);
	fem_body_return_to_start(body);
	for (int32_t i = 0; i < t->node_count; i++)
		FEM_CHECK((body->velocity[i].x == 0.0f) == (fem_node_component(t, i) == 1));
	for (int32_t tet = 0; tet < t->batch_count * FEM_LANES; tet++) {
		if (t->user_of_tet[tet] >= 0)
			FEM_CHECK((body->rotation[tet].w == 0.0f) == (fem_tet_component(t, tet) == 1));
	}
	body->pieces[0].is_over = step.has_over = true;
	FemRange run = {0, 0};
	int32_t seen = 0;
	while (fem_passes_next_batches(body, t->batch_count, &run))
		seen += run.end - run.begin;
	FEM_CHECK(seen >= t->batch_count / 2 && seen <= t->batch_count / 2 + 1);
	fem_body_forget_passes(body);
	body->step = NULL;
	free(start.position), free(start.velocity), free(start.ground_force), free(start.rotation);
	fem_box_mesh_free(&box);
	fem_box_mesh_free(&pair);
	fem_world_destroy(id);
}

// Of four bodies in a row of composites the last broke: what is joined with it by others goes back, too, though its
// composite comes first in the list; a bystander does not. Fails when only direct partners are found.
FEM_TEST(step_stages, partners_of_partners_go_back) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId id = fem_world_create(&def);
	FemBodyStep steps[4] = {0};
	for (int i = 0; i < 4; i++) {
		FemBlock block = fem_block(0.3f, 1);
		block.body.position = (FemPosition){2.0 * i, 0.0, 0.0};
		fem_block_add(id, &block);
	}
	fem_steps(id, 1);
	FemWorld *world = fem_world_find(id);
	FEM_REQUIRE(world->islands.count == 4 && world->islands.active_count == 4);
	for (int i = 0; i < 4; i++)
		world->bodies[world->islands.islands[i].body]->step = &steps[i];
	int32_t list[5] = {0, 1, 1, 2, 3}; // body 1 is in two composites, as if by two pieces
	FemComposite composites[3] = {{.islands = {0, 2}}, {.islands = {2, 4}}, {.islands = {4, 5}}};
	FemStep step = {.world = world, .composites = {.composites = composites, .count = 3, .island_list = list}};
	fem_body_send_back(world->bodies[world->islands.islands[2].body], 0);
	fem_passes_find_who_goes_back(&step);
	FEM_CHECK(steps[0].goes_back && steps[1].goes_back && steps[2].goes_back && !steps[3].goes_back);
	for (int i = 0; i < 4; i++) {
		fem_body_forget_passes(world->bodies[world->islands.islands[i].body]);
		world->bodies[world->islands.islands[i].body]->step = NULL;
	}
	fem_world_destroy(id);
}

// ---- which pieces are rigid

// Bodies that are to be rigid: one on two pins, or on a line of them, swings, and one that is driven moves as it is
// told; only pins over an area hold it. Fails when what hangs on a hinge stands, or a driven body is made rigid.
FEM_TEST(step_stages, what_hangs_swings_and_what_is_driven_is_not_rigid) {
	static const int32_t pins[3][3] = {{0, 1, 2}, {0, 2, 0}, {0, 1, 3}}; // node 3 lies beside the line of 0, 1 and 2
	for (int k = 0; k < 4; k++) {
		FemRigDef def = fem_rig_stone_def(2);
		def.body.dynamics = FEM_DYNAMICS_RIGID;
		FemRig rig = fem_rig_create(&def);
		for (int i = 0; i < 3 && k < 3; i++)
			FEM_CHECK_INT(fem_body_pin_node(rig.body, pins[k][i]), FEM_OK);
		if (k == 3)
			fem_body_drive_node(rig.body, 0, (FemVec3){0.1f, 0.0f, 0.0f});
		fem_world_set_gravity(rig.world, (FemVec3){0.0f, -9.81f, 0.0f});
		for (int i = 0; i < (k < 3 ? 30 : 1); i++)
			fem_world_step(rig.world, DT, 1);
		FEM_CHECK_INT(rigid_pieces(rig.world), k < 3);
		FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
		FemVec4 tip = body_of(&rig)->velocity[body_of(&rig)->topology->node_of_user[rig.box.node_count - 1]];
		if (k < 3)
			FEM_CHECK((fabsf(tip.x) + fabsf(tip.y) > 1.0f) == (k < 2));
		fem_rig_destroy(&rig);
	}
}

static int32_t rigid_after(FemRigDef def, float stretch_speed, int steps, float dt) {
	FemRig rig = fem_rig_create(&def);
	fem_world_step(rig.world, dt, 1);
	for (int32_t i = 0; stretch_speed > 0.0f && i < rig.box.node_count; i++)
		fem_body_set_velocity(rig.body, i, (FemVec3){stretch_speed * (rig.box.positions[i].x - 0.5f), 0.0f, 0.0f});
	for (int i = 0; i < steps; i++)
		fem_world_step(rig.world, dt, 1);
	int32_t count = rigid_pieces(rig.world);
	fem_rig_destroy(&rig);
	return count;
}

// In steps of 10 us a bar whose ends fly apart at 1 m/s is hardly strained yet, but will be, beyond its strength: it
// must not be frozen in that. One at rest becomes rigid at once. Fails when vibration is ignored.
FEM_TEST(step_stages, what_vibrates_is_not_calm) {
	FEM_CHECK_INT(rigid_after(fem_rig_stone_def(2), 0.0f, 2, 1e-5f), 1);
	FEM_CHECK_INT(rigid_after(fem_rig_stone_def(2), 1.0f, 2, 1e-5f), 0);
}

// A bar that yields long before it breaks is stiff by its yield strain alone. Fails when only the breaking counts.
FEM_TEST(step_stages, what_yields_is_stiff) {
	FemRigDef def = fem_rig_stone_def(2);
	def.material.toughness = 1e9f;
	FEM_CHECK_INT(rigid_after(def, 0.0f, 3, DT), 0);
	def.material.yield_strain = 3e-4f;
	def.material.max_plastic_strain = 0.1f;
	FEM_CHECK_INT(rigid_after(def, 0.0f, 3, DT), 1);
}

// Velocities of any kind become those of the rigid motion with the same momenta.
FEM_TEST(step_stages, a_rigid_shape_moves_rigidly) {
	FemRigDef def = fem_rig_stone_def(2);
	FemRig rig = fem_rig_create(&def);
	FemBody *body = body_of(&rig);
	FemRange nodes = body->topology->component_nodes[0];
	double rotation[9];
	uint32_t seed = 3;
	for (int32_t i = nodes.begin; i < nodes.end; i++)
		body->velocity[i] = (FemVec4){fem_random(&seed), fem_random(&seed), 1.0f + fem_random(&seed), 0.0f};
	FEM_CHECK(fem_rigid_shape_vibration(body, nodes) > 0.5);
	FEM_CHECK(fem_rigid_shape_take(body, nodes, rotation));
	FEM_CHECK(fem_rigid_shape_vibration(body, nodes) < 1e-6);
	fem_rig_destroy(&rig);
}

// The load of a bar that spins about z at 20 rad/s is m w^2 r outwards. Fails when the probe leaves the spin out.
FEM_TEST(step_stages, spin_loads_a_rigid_piece) {
	FemRigDef def = fem_rig_stone_def(2);
	FemRig rig = fem_rig_create(&def);
	FemBody *body = body_of(&rig);
	FemRange nodes = body->topology->component_nodes[0];
	int32_t count = nodes.end - nodes.begin;
	size_t tets = (size_t)body->topology->batch_count * FEM_LANES;
	FemBodyStep step = {.residual = calloc((size_t)count, sizeof(FemVec4)),
		.product = calloc((size_t)count, sizeof(FemVec4)),
		.tet_forces = calloc(tets, sizeof(FemTetForces))};
	double center[3] = {0.0, 0.0, 0.0}, worst = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double share = (double)body->mass[i] / (double)body->total_mass;
		center[0] += share * (double)body->position[i].x;
		center[1] += share * (double)body->position[i].y;
	}
	for (int32_t i = nodes.begin; i < nodes.end; i++)
		body->velocity[i] = (FemVec4){(float)(-20.0 * ((double)body->position[i].y - center[1])),
			(float)(20.0 * ((double)body->position[i].x - center[0])), 0.0f, 0.0f};
	body->step = &step;
	FEM_CHECK(fem_probe_external(body, 0, DT) > def.material.toughness);
	memcpy(body->pieces[0].shape_rotation, (double[9]){0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0},
		sizeof body->pieces[0].shape_rotation);
	fem_probe_keep(body, 0, DT); // the same loads are no change, half of them are half of one
	FEM_CHECK(fem_probe_change(body, 0, DT) < 1e-5f * def.material.toughness);
	float all = fem_probe_external(body, 0, DT);
	for (int32_t i = 0; i < body->topology->node_count; i++)
		body->last_dv[i].x *= 0.5f, body->last_dv[i].y *= 0.5f, body->last_dv[i].z *= 0.5f;
	FEM_CHECK_NEAR(fem_probe_change(body, 0, DT), 0.5 * (double)all, 1e-3 * (double)all);
	FEM_CHECK(fem_probe_load(body, 0, DT) > def.material.toughness);
	body->step = NULL;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double wanted = (double)(DT * body->mass[i]) * 400.0 * ((double)body->position[i].x - center[0]);
		worst = fmax(worst, fabs((double)step.product[i].x - wanted) / ((double)(DT * body->mass[i]) * 400.0));
	}
	FEM_CHECK(worst < 1e-3); // of 0.5 m
	free(step.residual);
	free(step.product);
	free(step.tet_forces);
	fem_rig_destroy(&rig);
}

// ---- motion

// A bar swings about the pins of an edge at 3 rad/s: 0.1 s back it has turned by 0.3 rad and is as long as before.
// Fails when what hangs on a hinge is taken back along straight lines.
FEM_TEST(step_stages, what_swings_goes_back_on_its_arc) {
	FemRigDef def = fem_rig_stone_def(2);
	FemRig rig = fem_rig_create(&def);
	FEM_CHECK_INT(fem_body_pin_node(rig.body, 0), FEM_OK);
	FEM_CHECK_INT(fem_body_pin_node(rig.body, 2), FEM_OK);
	FemBody *body = body_of(&rig);
	int32_t pin = body->topology->node_of_user[0], tip = body->topology->node_of_user[rig.box.node_count - 3];
	FemVec4 at = body->position[pin], before = body->position[tip];
	for (int32_t i = 0; i < body->topology->node_count; i++) { // about z, along which the pins lie
		FemVec4 x = body->position[i];
		bool is_free = body->node_kind[i] == FEM_NODE_FREE;
		body->velocity[i] = is_free ? (FemVec4){-3.0f * (x.y - at.y), 3.0f * (x.x - at.x), 0.0f, 0.0f} : (FemVec4){0};
	}
	FEM_CHECK(fem_hinge_rewind(body, body->topology->component_nodes[0], 0.1f));
	FemVec4 after = body->position[tip];
	double length = hypot((double)(after.x - at.x), (double)(after.y - at.y));
	double angle = atan2((double)(after.y - at.y), (double)(after.x - at.x)) -
		atan2((double)(before.y - at.y), (double)(before.x - at.x));
	FEM_CHECK_NEAR(length, hypot((double)(before.x - at.x), (double)(before.y - at.y)), 1e-5);
	FEM_CHECK_NEAR(angle, -0.3, 1e-4);
	fem_rig_destroy(&rig);
}

// A cube over the end of a box is held back for 10 ms: the box bears its weight for that time, with the torque of its
// arm, and forgets it when it goes. Fails when the torque is left out, or a collider that is gone is still named.
FEM_TEST(step_stages, a_held_piece_loads_what_stopped_it) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId id = fem_world_create(&def);
	FemColliderDef plank = fem_default_collider_def();
	plank.shape.type = FEM_SHAPE_BOX;
	plank.shape.half_extents = (FemVec3){2.0f, 0.1f, 2.0f};
	FemColliderId collider = fem_collider_create(id, &plank);
	FemBlock block = fem_block(0.2f, 1);
	block.body.position = (FemPosition){1.4, 0.5, -0.1};
	block.body.linear_velocity = (FemVec3){0.0f, -1.0f, 0.0f};
	FemBodyId body_id = fem_block_add(id, &block);
	FemWorld *world = fem_world_find(id);
	FemBody *body = world->bodies[body_id.index1 - 1];
	int32_t index = collider.index1 - 1;
	FemStep step = {.world = world, .dt = DT};
	fem_piece_hold(&step, body_id.index1 - 1, 0, 0.01f, index);
	double impulse = (double)body->pieces[0].mass * 9.81 * 0.01;
	FEM_CHECK_NEAR(world->colliders[index].held_impulse.y, -impulse, 1e-4 * impulse);
	FEM_CHECK_NEAR(world->colliders[index].held_angular_impulse.z, -1.5 * impulse, 1e-3 * impulse);
	FEM_CHECK_NEAR(world->colliders[index].held_angular_impulse.x, 0.0, 1e-3 * impulse);
	FEM_CHECK_INT(body->pieces[0].held_by, index);
	FEM_CHECK_INT(fem_collider_destroy(collider), FEM_OK);
	FEM_CHECK_INT(body->pieces[0].held_by, -1);
	fem_world_destroy(id);
}
