// Memory for what a step must make anew: solvers and trees of pieces that break off, rigid spaces of what touches.
#include "mesh/topology.h"
#include "world/breaking.h"

#define TREE_BYTES 256       // of trees, a tet
#define SPLIT_BYTES_MIN 16384
#define SPLIT_TIMES 6        // while a split is made the old and the new stand side by side, and blocks of many sizes are kept
#define PIECE_TETS 6         // of a usual piece
#define RIGID_BYTES 24576    // a block of the rigid space with its contacts and its share of the factor, in several sizes
#define RIGID_BLOCKS_MAX 1024
#define RIGID_NODE_BYTES 64  // arms from the centre of its piece, in several sizes

// What a whole body's solver takes, and about what its trees do, several times over.
static size_t split_need(const FemBody *body) {
	return SPLIT_TIMES *
	       (fem_body_solver_bytes(body) + TREE_BYTES * (size_t)body->topology->user_tet_count + SPLIT_BYTES_MIN);
}

bool fem_step_heap_reserve(FemWorld *world) {
	size_t need = 0, nodes = (size_t)world->node_count;
	int64_t blocks = world->body_count + world->collider_capacity;
	for (int32_t b = 0; world->breakable_count > 0 && b < world->body_capacity; b++) {
		const FemBody *body = world->bodies[b];
		if (!body || !body->breaking)
			continue;
		need += split_need(body);
		blocks += body->topology->user_tet_count / PIECE_TETS;
		nodes += (size_t)(body->topology->node_capacity - body->topology->node_count); // it may come to have
	}
	if (world->def.contacts_enabled && blocks > 1)
		need += RIGID_BYTES * (size_t)(blocks < RIGID_BLOCKS_MAX ? blocks : RIGID_BLOCKS_MAX) + RIGID_NODE_BYTES * nodes;
	if (need == 0)
		return true;
	return (world->heap || (world->heap = fem_heap_create())) && fem_heap_reserve(world->heap, need);
}
