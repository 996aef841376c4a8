// The coarse space of rigid motions: its elimination order, and what it does for a tower of stiff blocks.
#include "contact_rig.h"
#include "dynamics/elimination_order.h"
#include "dynamics/rigid_space.h"
#include "fem_test.h"
#include "topology/topology.h"

#include <stdlib.h>

// Entries of the factor below the diagonal.
static int32_t fill(const FemAdjacency *graph, const int32_t *order) {
	int32_t n = graph->node_count, count = 0;
	bool *joined = calloc((size_t)n * (size_t)n, sizeof *joined);
	int32_t *row_start = calloc((size_t)n + 1, sizeof *row_start);
	int32_t entries = fem_adjacency_rows(graph, row_start, NULL);
	int32_t *column = calloc((size_t)entries + 1, sizeof *column);
	fem_adjacency_rows(graph, row_start, column);
	for (int32_t i = 0; i < n; i++) {
		for (int32_t e = row_start[i]; e < row_start[i + 1]; e++)
			joined[i * n + column[e]] = true;
	}
	for (int32_t k = 0; k < n; k++) {
		int32_t gone = order[k];
		for (int32_t i = 0; i < n; i++) {
			if (!joined[gone * n + i])
				continue;
			count++;
			joined[i * n + gone] = false;
			for (int32_t j = 0; j < n; j++)
				joined[i * n + j] |= j != i && joined[gone * n + j];
		}
	}
	free(joined);
	free(row_start);
	free(column);
	return count;
}

// A wheel: the hub touches all, and must go last. A tree gives no fill at all.
FEM_TEST(rigid_space, order_leaves_hubs_for_last) {
	FemAdjacency graph;
	int32_t order[100];
	FEM_REQUIRE(fem_adjacency_create(&graph, 100));
	for (int32_t i = 0; i < 100; i++) {
		if (i != 7)
			fem_adjacency_join(&graph, 7, i);
	}
	fem_adjacency_order(&graph, order);
	FEM_CHECK(order[98] == 7 || order[99] == 7);
	FEM_CHECK_INT(fill(&graph, order), 99);
	fem_adjacency_free(&graph);
}

// 8 x 8: row by row 504 entries, nested dissection about 300.
FEM_TEST(rigid_space, order_of_a_grid_has_little_fill) {
	FemAdjacency graph;
	int32_t order[64], seen[64] = {0};
	FEM_REQUIRE(fem_adjacency_create(&graph, 64));
	for (int32_t i = 0; i < 64; i++) {
		if (i % 8 < 7)
			fem_adjacency_join(&graph, i, i + 1);
		if (i < 56)
			fem_adjacency_join(&graph, i, i + 8);
	}
	fem_adjacency_order(&graph, order);
	for (int32_t i = 0; i < 64; i++)
		seen[order[i]]++;
	for (int32_t i = 0; i < 64; i++)
		FEM_CHECK_INT(seen[i], 1);
	FEM_CHECK(fill(&graph, order) < 340);
	fem_adjacency_free(&graph);
}

// Iterations a solve of a tower of 16 stiff blocks, each set off by `lean` m against the one under it.
static double iterations_of_tower(double lean) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	fem_add_plane(world, FEM_SHAPE_HALF_SPACE, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
	FemBlock block = fem_block(0.3f, 2);
	block.material.young_modulus = 1e9f;
	// Not placed face to face (placed_bodies.h): the bounds below are of blocks that meet one by one.
	block.body.linear_velocity.y = -1e-6f;
	for (int i = 0; i < 16; i++) {
		block.body.position = (FemPosition){lean * (i % 2), 0.3 * i, 0.8 * lean * (i / 2 % 2)};
		fem_block_add(world, &block);
	}
	int64_t iterations = 0, solves = 0;
	for (int i = 0; i < 40; i++) {
		fem_steps(world, 1);
		FemStatistics statistics = {0};
		FEM_CHECK_INT(fem_world_get_statistics(world, &statistics), FEM_OK);
		iterations += statistics.iterations;
		solves += statistics.solves;
	}
	fem_world_destroy(world);
	return (double)iterations / (double)solves;
}

// Without the space a tower takes iterations by its height: 27 a solve.
FEM_TEST(rigid_space, tower_takes_few_iterations) {
	double mean = iterations_of_tower(0.0);
	fem_test_check(mean < 15.0, __FILE__, __LINE__, "%g iterations a solve", mean);
}

// Blocks set off against each other, so that each turns what is under it. Fails when the space takes arms the wrong way
// round: it converges all the same, in 2.5 iterations a solve instead of 2.0.
FEM_TEST(rigid_space, leaning_tower_takes_few_iterations) {
	double mean = iterations_of_tower(0.06);
	fem_test_check(mean < 2.3, __FILE__, __LINE__, "%g iterations a solve", mean);
}

static FemContact contact_of_nodes(int32_t first, int32_t second) {
	FemContact contact = {.normal = {0.0f, 1.0f, 0.0f}, .normal_strength = 1.0f, .active = true};
	int32_t nodes[2] = {first, second};
	for (int s = 0; s < 2; s++) {
		contact.side[s] =
			(FemContactSide){.kind = FEM_SIDE_NODE, .node = nodes[s], .weights = {1.0f, 0.0f, 0.0f, 0.0f}};
		for (int k = 0; k < 4; k++)
			contact.side[s].nodes[k] = nodes[s];
	}
	return contact;
}

// Two islands of four nodes each. A contact between two nodes of one island does not know its translation: weights 1
// and -1 cancel, and the arm that is left is the distance of the nodes. Fails when the sides are added without sign.
FEM_TEST(rigid_space, contact_of_an_island_with_itself_knows_rotations_only) {
	FemVec4 position[] = {
		{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 1, 0}, {5, 0, 0, 0}, {6, 0, 0, 0}, {5, 1, 0, 0}, {5, 0, 1, 0}};
	int32_t node_part[] = {0, 0, 0, 0, 1, 1, 1, 1}, part_chunk[] = {0, 1}, block_of[] = {0, 1};
	FemRange part_nodes[] = {{0, 4}, {4, 8}};
	uint8_t part_state[] = {FEM_ISLAND_LIVE, FEM_ISLAND_LIVE};
	FemTopology topology = {.node_part = node_part, .part_nodes = part_nodes};
	FemBodyStep step = {.part_chunk = part_chunk};
	FemBody body = {.topology = &topology, .position = position, .part_state = part_state, .step = &step};
	FemBody *bodies[] = {&body};
	FemContact contacts[] = {contact_of_nodes(2, 1), contact_of_nodes(1, 4)};
	FemContactRows rows = {.bodies = bodies, .contacts = contacts, .count = 2};
	FemRigidIsland islands[] = {{&body, {0, 4}}, {&body, {4, 8}}};
	FemRigidSpace space;
	FEM_REQUIRE(fem_rigid_space_create(&space, &rows, &(FemRigidIslands){islands, 2, block_of, NULL, 0}));
	const FemRigidSide *own = space.contacts[0].side, *between = space.contacts[1].side;
	float scale = space.blocks[0].inverse_length;
	FEM_CHECK(own[0].block == 0 && own[1].block == -1);
	FEM_CHECK_NEAR(own[0].weight, 0.0, 0.0);
	FEM_CHECK_NEAR(own[0].arm[0] / scale, -1.0, 1e-6);
	FEM_CHECK_NEAR(own[0].arm[1] / scale, 2.0, 1e-6);
	FEM_CHECK(between[0].block == 0 && between[1].block == 1);
	FEM_CHECK(between[0].weight == 1.0f && between[1].weight == -1.0f);
	fem_rigid_space_free(&space);
}
