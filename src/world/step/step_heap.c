// Memory for what a step must make anew: topology, solvers and trees of what breaks, rigid spaces of what touches. One
// heap of the world, topped up between steps, so that the usual step finds what it needs there. A step that needs more
// asks the system, which costs time but decides nothing: a run is the same whatever the heap holds.
#include "topology/topology.h"
#include "world/step/breaking.h"
#include "world/step/solver_state.h"
#include "world/step/step.h"
#include "world/world.h"

#define READY_MIN ((size_t)1 << 16)  // bytes kept ready in every world; chosen
#define WHOLE_MAX ((size_t)1 << 24)  // bytes kept ready at most for bodies that are whole: some 10,000 tets. Chosen
#define BROKEN_MAX ((size_t)1 << 20) // the same for broken ones, of which a few at a time break further. Chosen
#define WHOLE_BYTES 900              // measured, a tet: topology of its own, arrays by node and piece
#define TREE_BYTES 150               // measured, a tet: trees of a broken body
#define OWNER_BYTES 50               // a vertex of splinters: who follows what, and did; counted from their arrays

// What a body that breaks in the next step would take. Its solver is made anew in parts before the old one is given up.
static size_t breaking_need(const FemBody *body) {
	const FemSplinters *splinters = body->breaking->splinters;
	size_t tet_bytes = TREE_BYTES + (body->own_topology ? 0 : WHOLE_BYTES);
	size_t owner_bytes = splinters && !splinters->own_block ? OWNER_BYTES * (size_t)splinters->given.vertex_count : 0;
	return fem_body_solver_bytes(body) + tet_bytes * (size_t)body->topology->user_tet_count + owner_bytes;
}

static size_t at_most(size_t bytes, size_t most) {
	return bytes < most ? bytes : most;
}

void fem_step_heap_top_up(FemWorld *world) {
	size_t whole = 0, broken = 0;
	const FemIslands *islands = &world->islands;
	for (int32_t i = 0; i < islands->active_count && world->breakable_count > 0; i++) {
		const FemBody *body = world->bodies[islands->active_bodies[i]];
		if (!body || !body->breaking || body->live_part_count == 0)
			continue;
		*(body->own_topology ? &broken : &whole) += breaking_need(body);
	}
	size_t bytes = READY_MIN + at_most(whole, WHOLE_MAX) + at_most(broken, BROKEN_MAX);
	bool is_ready = fem_heap_keep_ready(world->heap, bytes);
	(void)is_ready; // a split that finds too little asks the system again, and tells when that gives nothing
}
