// The arrays of a body that live for one step. Size and taking stand side by side: they must agree.
#include "world/step.h"
#include "world/world.h"

// Blocks are read 4 floats at a time, the last one past its end.
#define BLOCK_OVERREAD 4

size_t fem_body_step_bytes(const FemTopology *topology) {
	size_t nodes = (size_t)topology->node_count, tets = (size_t)topology->batch_count * FEM_LANES;
	size_t entries = (size_t)topology->row_start[topology->node_count];
	return fem_align_up(tets * sizeof(FemTetBlocks)) + fem_align_up(tets * sizeof(FemTetForces)) +
	       fem_align_up(tets * sizeof(FemTetPlate)) +
	       fem_align_up((entries * 9 + BLOCK_OVERREAD) * sizeof(float)) + // row_blocks
	       fem_align_up(nodes * 12 * sizeof(float)) +                     // node_blocks
	       fem_align_up(nodes * 9 * sizeof(float)) +                      // diagonal_blocks
	       8 * fem_align_up(nodes * sizeof(FemVec4)); // diagonal, ground, rhs, dv, residual, direction, product, z
}

bool fem_body_take_step_memory(FemBody *body, FemArena *arena) {
	const FemTopology *topology = body->topology;
	int32_t nodes = topology->node_count, tets = topology->batch_count * FEM_LANES;
	int32_t entries = topology->row_start[nodes];
	body->tet_blocks = FEM_ARENA_TAKE(arena, FemTetBlocks, tets);
	body->tet_forces = FEM_ARENA_TAKE(arena, FemTetForces, tets);
	body->tet_plates = body->plates ? FEM_ARENA_TAKE(arena, FemTetPlate, tets) : NULL;
	body->row_blocks = FEM_ARENA_TAKE(arena, float, (size_t)entries * 9 + BLOCK_OVERREAD);
	body->node_blocks = FEM_ARENA_TAKE(arena, float, (size_t)nodes * 12);
	body->diagonal_blocks = FEM_ARENA_TAKE(arena, float, (size_t)nodes * 9);
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

size_t fem_step_lists_bytes(int32_t island_count, int32_t node_chunk_count) {
	return fem_align_up(sizeof(int32_t) * (size_t)island_count) + fem_align_up(sizeof(FemIslandResult) * (size_t)island_count) +
	       fem_align_up(sizeof(double) * (size_t)node_chunk_count) +
	       fem_align_up(sizeof(FemMotionSums) * (size_t)node_chunk_count) +
	       fem_align_up(sizeof(int32_t) * (size_t)node_chunk_count);
}
