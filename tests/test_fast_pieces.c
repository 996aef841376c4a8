// Fast pieces of broken bodies: each is stopped for itself, by whatever stands in its way.
#include "contact_rig.h"
#include "fem_test.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <stdlib.h>

#define PIECES 4
#define SPACING 0.5f    // m, from piece to piece along z
#define THICKNESS 0.01f // m, along x; 0.2 m a side

typedef struct Row {
	FemBodyId body;
	int32_t piece_nodes;
} Row;

// One mesh of several plates that face along x. It could break, but is too tough to.
static Row add_row_of(FemWorldId world, int32_t count, double x, float speed) {
	FemBoxMesh box = fem_box_mesh(1, 3, 3, (FemVec3){THICKNESS, 0.2f, 0.2f}, FEM_CELLS_FIVE);
	FemBoxMesh pieces = fem_box_mesh_row(&box, count, (FemVec3){0.0f, 0.0f, SPACING});
	FemMeshDef mesh = fem_box_mesh_def(&pieces);
	FemMaterialDef material_def = fem_default_material_def();
	material_def.young_modulus = 1e8f;
	material_def.breakable = true;
	material_def.toughness = 1e9f;
	FemMaterialId material = fem_material_create(world, &material_def);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material;
	def.material_count = 1;
	def.position.x = x;
	def.linear_velocity.x = speed;
	def.self_contact = true;
	Row row = {fem_body_create(world, &def), box.node_count};
	fem_box_mesh_free(&pieces);
	fem_box_mesh_free(&box);
	return row;
}

static Row add_row(FemWorldId world, double x, float speed) {
	return add_row_of(world, PIECES, x, speed);
}

static FemWorldId empty_world(int32_t workers) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	def.worker_count = workers;
	return fem_world_create(&def);
}

static FemPosition piece_center(const Row *row, int32_t piece) {
	int32_t count = fem_body_get_node_count(row->body);
	FemVec3 *offsets = malloc(sizeof *offsets * (size_t)count);
	FemPosition center, sum = {0.0, 0.0, 0.0};
	fem_body_get_positions(row->body, &center, offsets, count);
	for (int32_t i = 0; i < row->piece_nodes; i++) {
		FemVec3 x = offsets[piece * row->piece_nodes + i];
		sum = (FemPosition){sum.x + (double)x.x, sum.y + (double)x.y, sum.z + (double)x.z};
	}
	free(offsets);
	double share = 1.0 / row->piece_nodes;
	return (FemPosition){center.x + share * sum.x, center.y + share * sum.y, center.z + share * sum.z};
}

static void set_piece_velocity(const Row *row, int32_t piece, FemVec3 velocity) {
	for (int32_t i = 0; i < row->piece_nodes; i++)
		fem_body_set_velocity(row->body, piece * row->piece_nodes + i, velocity);
}

// Fails when two broken bodies are not looked at.
FEM_TEST(fast_pieces, debris_does_not_pass_through_debris) {
	static const float speeds[][2] = {{0.0f, -40.0f}, {40.0f, 0.0f}, {30.0f, -50.0f}};
	for (int i = 0; i < 3; i++) {
		FemWorldId world = empty_world(1);
		Row left = add_row(world, 0.0, speeds[i][0]), right = add_row(world, 0.387, speeds[i][1]);
		fem_steps(world, 6);
		for (int32_t p = 0; p < PIECES; p++)
			FEM_CHECK(piece_center(&left, p).x < piece_center(&right, p).x);
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}

// Two clouds of crumbs that cross at 80 m/s are not searched for places where single ones meet; what is too large for a
// crumb, as in the test above, is. Fails when crumbs are looked at: 86,400 pairs of boxes here, a second a step for
// 2,800 crumbs of thirty vases.
FEM_TEST(fast_pieces, crumbs_pass_each_other_in_flight) {
	FemWorldId world = empty_world(1);
	add_row_of(world, 40, 0.0, 40.0f);
	add_row_of(world, 40, 0.387, -40.0f);
	double visits = 0.0;
	for (int i = 0; i < 3; i++) {
		fem_steps(world, 1);
		visits += (double)fem_world_find(world)->contacts.fast.visits;
	}
	fem_test_check(visits == 0.0, __FILE__, __LINE__, "%g pairs of boxes were looked at", visits);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

// Fails when pieces of one body are not looked at, or one that passes beside the other is stopped.
FEM_TEST(fast_pieces, pieces_of_one_body_do_not_pass_each_other) {
	FemWorldId world = empty_world(1);
	Row row = add_row(world, 0.0, 0.0f), aside = add_row(world, 10.0, 0.0f);
	set_piece_velocity(&row, 0, (FemVec3){0.0f, 0.0f, 60.0f}); // edge on, 0.3 m to the next
	set_piece_velocity(&aside, 0, (FemVec3){60.0f, 0.0f, 0.0f});
	fem_steps(world, 1);
	FEM_CHECK_NEAR(piece_center(&row, 0).z, 0.4, 0.01); // at its edge
	fem_steps(world, 3);
	FEM_CHECK(piece_center(&row, 1).z > 0.6 + 0.05); // it was struck
	FEM_CHECK_NEAR(piece_center(&aside, 0).x, 10.0 + 0.5 * (double)THICKNESS + 60.0 * 4.0 / 60.0, 1e-3);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

// Fails when a body is stopped as a whole: all of its shards would hang in the air for the one that meets something.
FEM_TEST(fast_pieces, one_that_is_stopped_does_not_hold_the_others) {
	FemWorldId world = empty_world(1);
	Row row = add_row(world, 0.0, 60.0f);
	FemBlock wall = fem_block(0.3f, 3);
	wall.all_pinned = true;
	wall.body.position = (FemPosition){0.45, -0.05, -0.05};
	fem_block_add(world, &wall);
	fem_steps(world, 1);
	double far = 0.5 * (double)THICKNESS + 60.0 / 60.0;
	FEM_CHECK(piece_center(&row, 0).x < 0.46);
	for (int32_t p = 1; p < PIECES; p++)
		FEM_CHECK_NEAR(piece_center(&row, p).x, far, 1e-3);
	fem_steps(world, 5);
	FEM_CHECK(piece_center(&row, 0).x < 0.5);
	fem_world_destroy(world);
}

// The same for what stands still: a slab that one shard strikes is no reason to stop the shards that fly over it.
FEM_TEST(fast_pieces, colliders_stop_single_pieces) {
	FemWorldId world = empty_world(1);
	Row row = add_row(world, 0.0, 60.0f);
	FemColliderDef wall = fem_default_collider_def();
	wall.shape.half_extents = (FemVec3){0.02f, 0.15f, 0.15f};
	wall.position = (FemPosition){0.53, 0.1, 0.1};
	fem_collider_create(world, &wall);
	fem_steps(world, 4);
	FEM_CHECK(piece_center(&row, 0).x < 0.53);
	for (int32_t p = 1; p < PIECES; p++)
		FEM_CHECK_NEAR(piece_center(&row, p).x, 0.5 * (double)THICKNESS + 4.0, 1e-3);
	fem_world_destroy(world);
}

static uint64_t hash_of_a_crash(int32_t workers) {
	FemWorldId world = empty_world(workers);
	Row rows[8];
	for (int32_t i = 0; i < 8; i++) {
		rows[i] = add_row(world, 0.31 * i, 0.0f);
		for (int32_t p = 0; p < PIECES; p++)
			set_piece_velocity(&rows[i], p, (FemVec3){(float)(40 - 11 * i), (float)(p - 2), (float)(7 * p - 10)});
	}
	for (int32_t i = 0; i < 3; i++) {
		FemBlock block = fem_block(0.2f, 2);
		block.body.position = (FemPosition){0.4 * i, 0.02, 0.63 * i};
		block.body.linear_velocity = (FemVec3){20.0f, 1.0f, -30.0f};
		fem_block_add(world, &block);
	}
	fem_steps(world, 12);
	FEM_CHECK(fem_world_find(world)->contacts.fast.pair_count > 0);
	uint64_t hash = fem_world_hash(world);
	fem_world_destroy(world);
	return hash;
}

// Fails when the order of threads shows.
FEM_TEST(fast_pieces, the_same_bits_with_any_worker_count) {
	uint64_t one = hash_of_a_crash(1);
	FEM_CHECK(hash_of_a_crash(2) == one);
	FEM_CHECK(hash_of_a_crash(5) == one);
}
