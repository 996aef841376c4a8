// Pieces of one body in the sweep: each has a box of its own, and those that sleep are left alone.
#include "contact_rig.h"
#include "fem_test.h"
#include "model/piece.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

#define PIECES 4
#define GAP 0.5f // m, from piece to piece along x; each is a cube of 0.2 m

// One mesh of several cubes in a row.
static FemBodyId add_row(FemWorldId world) {
	FemBoxMesh box = fem_box_mesh(2, 2, 2, (FemVec3){0.2f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	FemBoxMesh pieces = fem_box_mesh_row(&box, PIECES, (FemVec3){GAP, 0.0f, 0.0f});
	FemMeshDef mesh = fem_box_mesh_def(&pieces);
	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = 1e7f;
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.self_contact = true;
	FemBodyId body = fem_body_create(world, &def);
	fem_box_mesh_free(&pieces);
	fem_box_mesh_free(&box);
	return body;
}

static void push_piece(FemBodyId body, int32_t piece, float speed) {
	int32_t nodes = fem_body_get_node_count(body) / PIECES;
	for (int32_t n = piece * nodes; n < (piece + 1) * nodes; n++)
		fem_body_set_velocity(body, n, (FemVec3){speed, 0.0f, 0.0f});
}

static int32_t still_count(const FemWorld *world, const FemBody *body) {
	int32_t count = 0;
	for (int32_t c = 0; c < body->sweep_proxy_count; c++)
		count += world->sweep.proxies[body->pieces[c].sweep_proxy].still;
	return count;
}

static FemWorldId row_asleep(FemShapeType floor, FemBodyId *out_body) {
	FemWorldDef def = fem_default_world_def();
	FemWorldId world = fem_world_create(&def);
	fem_add_plane(world, floor, (FemQuat){0, 0, 0, 1}, 0.5f);
	*out_body = add_row(world);
	for (int i = 0; i < 600 && !fem_body_is_asleep(*out_body); i++)
		fem_steps(world, 1);
	FEM_CHECK(fem_body_is_asleep(*out_body));
	return world;
}

// Fails when boxes, trees or pairs are those of whole bodies.
FEM_TEST(contact_pieces, sleeping_ones_cost_nothing) {
	static const FemShapeType shapes[] = {FEM_SHAPE_HALF_SPACE, FEM_SHAPE_BOX, FEM_SHAPE_TRIANGLES};
	for (int i = 0; i < 3; i++) {
		FemBodyId id;
		FemWorldId world_id = row_asleep(shapes[i], &id);
		FemWorld *world = fem_world_find(world_id);
		const FemBody *body = world->bodies[id.index1 - 1];
		FemContactStage *stage = &world->contacts;
		FEM_CHECK_INT(body->sweep_proxy_count, PIECES);
		fem_steps(world_id, 1);
		FEM_CHECK_INT(stage->refit_count, 0);
		FEM_CHECK_INT(still_count(world, body), PIECES);
		push_piece(id, 0, 0.5f);
		fem_steps(world_id, 2);
		FEM_CHECK_INT(stage->refit_count, 1);
		FEM_CHECK_INT(still_count(world, body), PIECES - 1);
		FEM_CHECK_INT(fem_sweep_active_count(&world->sweep), 1); // with the floor
		FEM_CHECK_INT(stage->piece_count,
			1 +
				(world->meshes[body->mesh_index].convexity == FEM_CONVEX_YES ? 0
																			 : 1)); // and with itself, if it may fold
		FemRange parts = body->topology->component_parts[0];
		for (int32_t c = 0; c < stage->contact_count; c++) {
			int32_t part = body->topology->node_part[stage->contacts[c].side[0].nodes[0]];
			FEM_CHECK(part >= parts.begin && part < parts.end);
		}
		FEM_CHECK(stage->contact_count > 0);
		FEM_CHECK_INT(fem_world_validate(world_id), FEM_OK);
		fem_world_destroy(world_id);
	}
}

// Fails when pairs of pieces of one body are not found, or a struck piece wakes more than what it strikes.
FEM_TEST(contact_pieces, a_piece_wakes_the_next_of_its_body) {
	FemBodyId id;
	FemWorldId world_id = row_asleep(FEM_SHAPE_BOX, &id);
	FemWorld *world = fem_world_find(world_id);
	const FemBody *body = world->bodies[id.index1 - 1];
	push_piece(id, 0, 4.0f); // 0.3 m to the next
	fem_steps(world_id, 4);
	FEM_CHECK_INT(still_count(world, body), PIECES - 1);
	fem_steps(world_id, 8);
	FEM_CHECK_INT(still_count(world, body), PIECES - 2);
	FEM_CHECK_INT(fem_world_validate(world_id), FEM_OK);
	fem_world_destroy(world_id);
}

// Sleeping pieces stay where they are in the sweep when the body's origin moves.
FEM_TEST(contact_pieces, boxes_follow_a_teleport) {
	FemBodyId id;
	FemWorldId world_id = row_asleep(FEM_SHAPE_BOX, &id);
	FemWorld *world = fem_world_find(world_id);
	const FemBody *body = world->bodies[id.index1 - 1];
	FEM_CHECK_INT(fem_body_teleport(id, (FemPosition){3.0, 0.5, 0.0}, (FemQuat){0, 0, 0, 1}), FEM_OK);
	fem_steps(world_id, 1);
	for (int32_t c = 0; c < PIECES; c++) {
		const FemSweepBox *box = &world->sweep.boxes[body->pieces[c].sweep_proxy];
		FEM_CHECK_NEAR(box->min[0], 3.0 + (double)(GAP * (float)c), 0.01);
		FEM_CHECK_NEAR(box->max[0], 3.2 + (double)(GAP * (float)c), 0.01);
	}
	fem_world_destroy(world_id);
}

// Fails when what stood beside one piece wakes all of them as it goes.
FEM_TEST(contact_pieces, what_goes_wakes_the_piece_beside_it) {
	FemBodyId id;
	FemWorldId world_id = row_asleep(FEM_SHAPE_BOX, &id);
	FemWorld *world = fem_world_find(world_id);
	const FemBody *body = world->bodies[id.index1 - 1];
	FemColliderDef def = fem_default_collider_def();
	def.shape.type = FEM_SHAPE_BOX;
	def.shape.half_extents = (FemVec3){0.05f, 0.05f, 0.05f};
	def.position = (FemPosition){-0.0505, 0.1, 0.1}; // 0.5 mm beside the first
	FemColliderId collider = fem_collider_create(world_id, &def);
	fem_steps(world_id, 1);
	FEM_CHECK_INT(still_count(world, body), PIECES);
	FEM_CHECK_INT(fem_collider_destroy(collider), FEM_OK);
	fem_steps(world_id, 1);
	FEM_CHECK_INT(still_count(world, body), PIECES - 1);
	FEM_CHECK(fem_piece_is_live(body, fem_node_component(body->topology, body->topology->node_of_user[0])));
	fem_world_destroy(world_id);
}

// Whether all contacts of the same pieces know of the same load.
static bool loads_agree(const FemContactStage *stage) {
	bool agree = true;
	for (int32_t i = 1; i < stage->contact_count; i++)
		agree &= !fem_contact_same_pieces(&stage->contacts[i - 1], &stage->contacts[i]) ||
			stage->contacts[i - 1].pair_load == stage->contacts[i].pair_load;
	return agree;
}

// A block that shatters on a half space, whose contacts are named by nodes: a split gives these other numbers. Fails
// when the list of contacts is not put in order again, so that the next step does not find its contacts in it, or when
// what the pieces carry is not shared out among those that they fell into.
FEM_TEST(contact_pieces, contacts_are_in_order_after_a_split) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0, 0, 0, 1}, 0.5f);
	FemBlock block = fem_block(0.6f, 4);
	block.material.breakable = true;
	block.material.toughness = 5e2f;
	block.body.linear_velocity.y = -6.0f;
	FemBodyId body = fem_block_add(world, &block);
	const FemContactStage *stage = &fem_world_find(world)->contacts;
	int32_t splits_in_contact = 0, nodes = fem_body_get_node_count(body);
	for (int step = 0; step < 20; step++) {
		fem_steps(world, 1);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		FEM_CHECK(loads_agree(stage));
		splits_in_contact += fem_body_get_node_count(body) > nodes && stage->contact_count > 1;
		nodes = fem_body_get_node_count(body);
	}
	printf("  %d steps with a split in contact\n", (int)splits_in_contact);
	FEM_CHECK(splits_in_contact > 1);
	fem_world_destroy(world);
}

// Largest relative error of the smoothed loads between two cubes of fem_add_three_cubes() (-1: the floor), N s.
static double load_error(
	const FemWorld *world, const FemBody *body, const int32_t nodes[3], int a, int b, double load) {
	double worst = 1e30;
	for (int32_t c = 0; c < world->contacts.contact_count; c++) {
		const FemContact *contact = &world->contacts.contacts[c];
		bool at_floor = fem_side_is_collider(&contact->side[1]);
		int32_t pieces[2] = {contact->side[0].piece, at_floor ? -1 : contact->side[1].piece};
		int32_t wanted[2];
		for (int s = 0; s < 2; s++) {
			int cube = s == 0 ? a : b;
			wanted[s] = cube < 0 ? -1 : fem_node_component(body->topology, body->topology->node_of_user[nodes[cube]]);
		}
		bool is_it =
			(pieces[0] == wanted[0] && pieces[1] == wanted[1]) || (pieces[0] == wanted[1] && pieces[1] == wanted[0]);
		double error = fabs((double)contact->pair_load / load - 1.0);
		if (is_it)
			worst = worst > 1e29 || error > worst ? error : worst;
	}
	return worst;
}

// Of one body the first cube bears the second, the third stands alone. Fails when contacts are strengthened by the load
// of all pieces of their body.
FEM_TEST(contact_pieces, loads_are_of_pieces) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world_id = fem_world_create(&def);
	fem_add_plane(world_id, FEM_SHAPE_BOX, (FemQuat){0, 0, 0, 1}, 0.5f);
	int32_t cube_nodes;
	FemBodyId id = fem_add_three_cubes(world_id, false, &cube_nodes);
	fem_steps(world_id, 200);
	const FemWorld *world = fem_world_find(world_id);
	const FemBody *body = world->bodies[id.index1 - 1];
	int32_t nodes[3] = {0, cube_nodes, 2 * cube_nodes};
	double weight = (double)body->total_mass / 3.0 * 9.81 * (double)CONTACT_DT;
	FEM_CHECK_NEAR(load_error(world, body, nodes, 0, -1, 2.0 * weight), 0.0, 0.05);
	FEM_CHECK_NEAR(load_error(world, body, nodes, 2, -1, weight), 0.0, 0.05);
	FEM_CHECK_NEAR(load_error(world, body, nodes, 0, 1, weight), 0.0, 0.05);
	fem_world_destroy(world_id);
}

// Which pieces the last step tested against themselves, as bits.
static uint32_t tested_with_themselves(const FemWorld *world) {
	uint32_t bits = 0;
	for (int32_t i = 0; i < world->contacts.piece_count; i++) {
		FemNarrowPieces pieces = world->contacts.pieces[i];
		bits |= pieces.a == pieces.b ? 1u << pieces.a : 0u;
	}
	return bits;
}

// A row in the air. Fails when one inverted tet keeps the other pieces of its body from touching themselves, or when
// pieces of a convex body are not asked one by one whether they are bent.
FEM_TEST(contact_pieces, each_folds_for_itself) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world_id = fem_world_create(&def);
	FemBodyId id = add_row(world_id);
	FemWorld *world = fem_world_find(world_id);
	FemBody *body = world->bodies[id.index1 - 1];
	const FemTopology *t = body->topology;
	fem_steps(world_id, 1);
	FEM_CHECK_INT(tested_with_themselves(world), 15);
	FemRange nodes = t->component_nodes[2];
	FemVec4 *x = body->position, kept = x[nodes.begin];
	int32_t tet = t->node_tets[t->node_tet_start[nodes.begin]] >> 2, across = fem_tet_node(t, tet, 0);
	across = across == nodes.begin ? fem_tet_node(t, tet, 1) : across;
	x[nodes.begin].x = 3.0f * x[across].x - 2.0f * kept.x; // far beyond the opposite face
	x[nodes.begin].y = 3.0f * x[across].y - 2.0f * kept.y;
	x[nodes.begin].z = 3.0f * x[across].z - 2.0f * kept.z;
	fem_steps(world_id, 1);
	FEM_CHECK_INT(tested_with_themselves(world), 15 & ~(1 << 2));
	x[nodes.begin] = kept;
	world->meshes[body->mesh_index].convexity = FEM_CONVEX_YES; // as of a bar that broke into these
	for (int32_t i = nodes.begin; i < (nodes.begin + nodes.end) / 2; i++)
		body->rotation[t->node_tets[t->node_tet_start[i]] >> 2] = (FemVec4){0.0f, 0.70710678f, 0.0f, 0.70710678f};
	for (int32_t i = 0; i < t->node_count; i++)
		body->velocity[i] = (FemVec4){0.0f, 0.0f, 0.0f, 0.0f};
	fem_steps(world_id, 1);
	FEM_CHECK_INT(tested_with_themselves(world), 1 << 2);
	fem_world_destroy(world_id);
}

// ---- corners

#define SPIKES 3
#define SPIKE_HEIGHT 0.6f // m
#define SPIKE_RADIUS 0.5f // m, of the corners of its base
#define LOAD_SIDE 1.5f    // m, of the cube on them

// One body of three tets that point upwards and a cube on their tips.
static FemBodyId add_cube_on_spikes(FemWorldId world) {
	static const float tips[SPIKES][2] = {{0.0f, 0.0f}, {1.2f, 0.0f}, {0.6f, 1.1f}};
	FemBoxMesh box = fem_box_mesh(1, 1, 1, (FemVec3){LOAD_SIDE, LOAD_SIDE, LOAD_SIDE}, FEM_CELLS_FIVE);
	FemMeshDef mesh = fem_box_mesh_def(&box);
	FemVec3 nodes[4 * SPIKES + 8];
	int32_t tets[4 * (SPIKES + 5)], node_count = 0, tet_count = 0;
	for (int k = 0; k < SPIKES; k++) {
		for (int v = 0; v < 4; v++)
			tets[4 * tet_count + v] = node_count + v;
		tet_count++;
		for (int v = 0; v < 3; v++) {
			float angle = -2.0944f * (float)v; // rad
			nodes[node_count++] =
				(FemVec3){tips[k][0] + SPIKE_RADIUS * cosf(angle), 0.0f, tips[k][1] + SPIKE_RADIUS * sinf(angle)};
		}
		nodes[node_count++] = (FemVec3){tips[k][0], SPIKE_HEIGHT, tips[k][1]};
	}
	for (int32_t i = 0; i < 4 * mesh.tet_count; i++)
		tets[4 * tet_count + i] = node_count + mesh.tets[i];
	for (int32_t i = 0; i < mesh.node_count; i++) {
		FemVec3 x = mesh.node_positions[i];
		nodes[node_count++] = (FemVec3){x.x - 0.15f, x.y + SPIKE_HEIGHT, x.z - 0.38f};
	}
	mesh.node_count = node_count;
	mesh.node_positions = nodes;
	mesh.tet_count += tet_count;
	mesh.tets = tets;
	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = 1e9f;
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.self_contact = true;
	FemBodyId body = fem_body_create(world, &def);
	fem_box_mesh_free(&box);
	return body;
}

// Fails when contacts of small area are weak: what stands on tips sinks in until their overlaps are large enough.
FEM_TEST(contact_pieces, a_cube_rests_on_the_tips_of_others) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0, 0, 0, 1}, 0.5f);
	FemBodyId body = add_cube_on_spikes(world);
	FEM_REQUIRE(fem_body_is_valid(body));
	fem_steps(world, 240);
	double low = INFINITY;
	for (int32_t n = 4 * SPIKES; n < fem_body_get_node_count(body); n++) {
		FemPosition x = {0};
		fem_body_get_node_position(body, n, &x);
		low = fmin(low, x.y);
	}
	printf("  %.1f mm below the tips, fastest node %.4f m/s\n", 1000.0 * ((double)SPIKE_HEIGHT - low),
		fem_peak_speed(&body, 1));
	FEM_CHECK(low > (double)SPIKE_HEIGHT - 0.01);
	FEM_CHECK(fem_peak_speed(&body, 1) < 0.01);
	fem_world_destroy(world);
}

// ---- on a floor

// `others`: colliders far away, made before the floor.
static int32_t contacts_of_row(int32_t cubes, FemQuat rotation, int32_t others) {
	FemWorldDef world_def = fem_default_world_def();
	FemWorldId world = fem_world_create(&world_def);
	FemBoxMesh box = fem_box_mesh(2, 2, 2, (FemVec3){0.2f, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	FemBoxMesh pieces = fem_box_mesh_row(&box, cubes, (FemVec3){GAP, 0.0f, 0.0f});
	FemMeshDef mesh = fem_box_mesh_def(&pieces);
	FemMaterialDef material_def = fem_default_material_def();
	FemMaterialId material = fem_material_create(world, &material_def);
	FemColliderDef floor = fem_default_collider_def();
	floor.shape.type = FEM_SHAPE_BOX;
	floor.shape.half_extents = (FemVec3){20.0f, 0.5f, 20.0f};
	floor.position.y = -0.5;
	for (int32_t i = 0; i <= others; i++) {
		floor.position.x = 100.0 * (others - i);
		fem_collider_create(world, &floor);
	}
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.rotation = rotation;
	def.position = (FemPosition){0.0, -0.01, 0.0};
	fem_body_create(world, &def);
	fem_world_step(world, 1.0f / 60.0f, 1);
	FemStatistics statistics;
	FEM_CHECK_INT(fem_world_get_statistics(world, &statistics), FEM_OK);
	fem_world_destroy(world);
	fem_box_mesh_free(&pieces);
	fem_box_mesh_free(&box);
	return statistics.contacts;
}

// A piece stands on as many points as it would alone: rubble of bodies that broke into many rocked on single points for
// ever. Fails when the number of overlaps is that of a whole body with the floor.
FEM_TEST(contact_pieces, stand_on_as_many_points_among_others) {
	const FemQuat on_an_edge = {0.2f, 0.0f, 0.0f, 0.979796f};
	int32_t alone = contacts_of_row(1, on_an_edge, 0);
	FEM_CHECK(alone >= 4);
	FEM_CHECK_INT(contacts_of_row(30, on_an_edge, 0), 30 * alone);
}

// Fails when the pieces of a body and a collider of the same number are taken for those of one body: sides of cubes
// that lie flat then have contacts of their own.
FEM_TEST(contact_pieces, lie_on_a_floor_of_any_number_alike) {
	const FemQuat flat = {0.0f, 0.0f, 0.0f, 1.0f};
	int32_t first = contacts_of_row(5, flat, 0);
	FEM_CHECK(first >= 20);
	FEM_CHECK_INT(contacts_of_row(5, flat, 1), first);
}
