// The arrays of a body that live for one step. Size and taking stand side by side: they must agree.
#include "world/step.h"
#include "world/world.h"

// Blocks are read 4 floats at a time, the last one past its end.
#define BLOCK_OVERREAD 4

size_t fem_body_step_bytes(const FemBody *body) {
	const FemTopology *topology = body->topology;
	size_t nodes = (size_t)topology->node_capacity, tets = (size_t)topology->batch_count * FEM_LANES;
	size_t entries = 2 * (size_t)topology->edge_capacity;
	return fem_align_up(tets * sizeof(FemTetBlocks)) + (body->breaking ? fem_align_up(tets * sizeof(FemTetStress)) : 0) + fem_align_up(tets * sizeof(FemTetForces)) +
	       fem_align_up(tets * sizeof(FemTetPlate)) +
	       fem_align_up((entries * 9 + BLOCK_OVERREAD) * sizeof(float)) + // row_blocks
	       fem_align_up(nodes * 12 * sizeof(float)) +                     // node_blocks
	       fem_align_up(nodes * 9 * sizeof(float)) +                      // diagonal_blocks
	       fem_align_up(nodes * 6 * sizeof(float)) +                      // contact_blocks
	       2 * fem_align_up((size_t)topology->part_capacity * sizeof(int32_t)) + // part_chunk, part_island
	       8 * fem_align_up(nodes * sizeof(FemVec4)); // diagonal, ground, rhs, dv, residual, direction, product, z
}

bool fem_body_take_step_memory(FemBody *body, FemArena *arena) {
	const FemTopology *topology = body->topology;
	int32_t nodes = topology->node_count, tets = topology->batch_count * FEM_LANES;
	int32_t entries = topology->row_start[nodes];
	body->tet_blocks = FEM_ARENA_TAKE(arena, FemTetBlocks, tets);
	body->tet_forces = FEM_ARENA_TAKE(arena, FemTetForces, tets);
	body->tet_plates = body->plates ? FEM_ARENA_TAKE(arena, FemTetPlate, tets) : NULL;
	body->tet_stress = body->breaking ? FEM_ARENA_TAKE(arena, FemTetStress, tets) : NULL;
	body->row_blocks = FEM_ARENA_TAKE(arena, float, (size_t)entries * 9 + BLOCK_OVERREAD);
	body->node_blocks = FEM_ARENA_TAKE(arena, float, (size_t)nodes * 12);
	body->diagonal_blocks = FEM_ARENA_TAKE(arena, float, (size_t)nodes * 9);
	body->contact_blocks = NULL; // taken when there are contacts
	body->part_chunk = FEM_ARENA_TAKE(arena, int32_t, topology->part_count);
	body->part_island = FEM_ARENA_TAKE(arena, int32_t, topology->part_count);
	body->diagonal = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	body->ground = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	body->rhs = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	body->dv = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	body->residual = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	body->direction = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	body->product = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	body->z = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	return body->z != NULL; // the arena is taken front to back: if the last one fits, all did
}

bool fem_body_take_contact_memory(FemBody *body, FemArena *arena) {
	size_t count = (size_t)body->topology->node_count * 6;
	if (!body->contact_blocks)
		body->contact_blocks = FEM_ARENA_TAKE(arena, float, count);
	return body->contact_blocks != NULL;
}

// The lists of fem_step_take_lists().
size_t fem_step_lists_bytes(int32_t island_count, int32_t node_chunk_count, int32_t contact_count, int32_t proxy_count) {
	size_t islands = (size_t)island_count, chunks = (size_t)node_chunk_count, contacts = (size_t)contact_count;
	size_t composites = islands + (size_t)proxy_count; // some may be of dynamic colliders alone
	return fem_composites_bytes(island_count, node_chunk_count, contact_count, proxy_count) +
	       fem_align_up(sizeof(FemSystemIsland) * islands) + fem_align_up(sizeof(int32_t) * composites) +
	       fem_align_up(sizeof(FemCompositeResult) * composites) + fem_align_up(sizeof(double) * chunks) +
	       fem_align_up(sizeof(FemMotionSums) * chunks) + 2 * fem_align_up(sizeof(int32_t) * chunks) +
	       fem_align_up(sizeof(int32_t) * (chunks + composites)) + fem_align_up(sizeof(bool) * chunks) +
	       fem_align_up(sizeof(FemContactRow) * contacts) + fem_align_up(sizeof(FemVec4) * contacts) +
	       fem_align_up(sizeof(FemContactRef) * FEM_CONTACT_REFS * contacts) + fem_align_up(sizeof(double) * contacts);
}

bool fem_step_take_lists(FemStep *step) {
	FemArena *arena = &step->world->arena;
	int32_t islands = step->world->islands.count, chunks = step->world->islands.node_chunk_count;
	int32_t contacts = step->contact_count, composites = islands + step->proxy_count;
	step->system_islands = FEM_ARENA_TAKE(arena, FemSystemIsland, islands);
	step->composite_order = FEM_ARENA_TAKE(arena, int32_t, composites);
	step->results = FEM_ARENA_TAKE(arena, FemCompositeResult, composites);
	step->partials = FEM_ARENA_TAKE(arena, double, chunks);
	step->motion_sums = FEM_ARENA_TAKE(arena, FemMotionSums, chunks);
	step->ground_candidates = FEM_ARENA_TAKE(arena, int32_t, chunks);
	step->chunk_blocks = FEM_ARENA_TAKE(arena, int32_t, chunks);
	step->contact_ref_start = FEM_ARENA_TAKE(arena, int32_t, chunks + composites);
	step->contact_touched = FEM_ARENA_TAKE(arena, bool, chunks);
	step->contact_rows = FEM_ARENA_TAKE(arena, FemContactRow, contacts);
	step->contact_impulses = FEM_ARENA_TAKE(arena, FemVec4, contacts);
	step->contact_refs = FEM_ARENA_TAKE(arena, FemContactRef, FEM_CONTACT_REFS * (size_t)contacts);
	step->contact_partials = FEM_ARENA_TAKE(arena, double, contacts);
	return step->contact_partials != NULL;
}
