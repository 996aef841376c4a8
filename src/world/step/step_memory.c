// The arrays that live for one step, of bodies and of the step itself. Size and taking stand side by side: they must
// agree.
#include "base/assert.h"
#include "model/piece.h"
#include "model/plate_elements.h"
#include "world/step/breaking.h"
#include "world/step/joined_blows.h"
#include "world/step/passes.h"
#include "world/world.h"

#include <string.h>

// Blocks are read 4 floats at a time, the last one past its end.
#define BLOCK_OVERREAD 4

static size_t cell_corners(const FemTopology *topology) {
	return 6 * (size_t)topology->cells.count[0] + 8 * (size_t)topology->cells.count[1];
}

static size_t cell_block_floats(const FemTopology *topology) {
	return FEM_CELL_BLOCK_FLOATS(3) * (size_t)topology->cells.count[0] +
		FEM_CELL_BLOCK_FLOATS(4) * (size_t)topology->cells.count[1];
}

static size_t demand_bytes(const FemBody *body) {
	return body->cells->creases
		? fem_align_up((size_t)fem_plate_cell_count(&body->topology->cells) * sizeof(FemCellDemand))
		: 0;
}

static size_t cell_bytes(const FemBody *body) {
	size_t corners = cell_corners(body->topology);
	return body->cells
		? fem_align_up(corners * sizeof(FemVec4)) + fem_align_up(cell_block_floats(body->topology) * sizeof(float)) +
			(body->breaking ? fem_align_up(corners * sizeof(FemTetStress)) : 0) + demand_bytes(body)
		: 0;
}

static void take_cell_arrays(const FemBody *body, FemBodyStep *step, FemArena *arena) {
	size_t corners = cell_corners(body->topology);
	if (!body->cells)
		return;
	step->cell_forces = FEM_ARENA_TAKE(arena, FemVec4, corners);
	step->cell_blocks = FEM_ARENA_TAKE(arena, float, cell_block_floats(body->topology));
	step->cell_stress = body->breaking ? FEM_ARENA_TAKE(arena, FemTetStress, corners) : NULL;
	int32_t cells = fem_plate_cell_count(&body->topology->cells);
	step->cell_demands = body->cells->creases ? FEM_ARENA_TAKE(arena, FemCellDemand, cells) : NULL;
	if (step->cell_demands) // what is asleep demands nothing
		memset(step->cell_demands, 0, sizeof *step->cell_demands * (size_t)cells);
}

// Arrays by tet and by cell, which a split leaves as they are.
static size_t tet_bytes(const FemBody *body) {
	size_t tets = (size_t)body->topology->batch_count * FEM_LANES;
	return fem_align_up(tets * sizeof(FemTetBlocks)) + fem_align_up(tets * sizeof(FemTetForces)) +
		(body->breaking ? fem_align_up(tets * sizeof(FemTetStress)) : 0) +
		(body->plates ? fem_align_up(tets * sizeof(FemTetPlate)) : 0) +
		(body->fibres ? fem_align_up(tets * sizeof(FemVec4)) : 0) + cell_bytes(body);
}

// Arrays by node, edge and part.
static size_t node_bytes(const FemBody *body) {
	const FemTopology *topology = body->topology;
	size_t nodes = (size_t)topology->node_count, entries = (size_t)topology->row_start[topology->node_count];
	return fem_align_up((entries * 9 + BLOCK_OVERREAD) * sizeof(float)) +      // row_blocks
		fem_align_up(nodes * 12 * sizeof(float)) +                             // node_blocks
		fem_align_up(nodes * 9 * sizeof(float)) +                              // diagonal_blocks
		fem_align_up(nodes * 6 * sizeof(float)) +                              // contact_blocks
		2 * fem_align_up((size_t)topology->part_count * sizeof(int32_t)) +     // part_chunk, part_island
		fem_align_up((size_t)topology->component_count * sizeof(FemProxy *)) + // rigid
		8 * fem_align_up(nodes * sizeof(FemVec4)); // diagonal, ground, rhs, dv, residual, direction, product, z
}

static size_t body_bytes(const FemBody *body) {
	size_t record = fem_align_up(sizeof(FemBodyStep));
	return body->live_part_count == 0 ? record : record + tet_bytes(body) + node_bytes(body); // 0: kinematic
}

static void take_tet_arrays(const FemBody *body, FemBodyStep *step, FemArena *arena) {
	int32_t tets = body->topology->batch_count * FEM_LANES;
	step->tet_blocks = FEM_ARENA_TAKE(arena, FemTetBlocks, tets);
	step->tet_forces = FEM_ARENA_TAKE(arena, FemTetForces, tets);
	step->tet_plates = body->plates ? FEM_ARENA_TAKE(arena, FemTetPlate, tets) : NULL;
	step->tet_fibres = body->fibres ? FEM_ARENA_TAKE(arena, FemVec4, tets) : NULL;
	step->tet_stress = body->breaking ? FEM_ARENA_TAKE(arena, FemTetStress, tets) : NULL;
	take_cell_arrays(body, step, arena);
}

static void take_node_arrays(const FemBody *body, FemBodyStep *step, FemArena *arena) {
	const FemTopology *topology = body->topology;
	int32_t nodes = topology->node_count, entries = topology->row_start[nodes];
	FEM_ASSERT(entries == 2 * topology->edge_count);
	step->row_blocks = FEM_ARENA_TAKE(arena, float, (size_t)entries * 9 + BLOCK_OVERREAD);
	step->node_blocks = FEM_ARENA_TAKE(arena, float, (size_t)nodes * 12);
	step->diagonal_blocks = FEM_ARENA_TAKE(arena, float, (size_t)nodes * 9);
	step->part_chunk = FEM_ARENA_TAKE(arena, int32_t, topology->part_count);
	step->part_island = FEM_ARENA_TAKE(arena, int32_t, topology->part_count);
	step->rigid = FEM_ARENA_TAKE(arena, FemProxy *, topology->component_count);
	step->diagonal = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	step->ground = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	step->rhs = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	step->dv = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	step->residual = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	step->direction = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	step->product = FEM_ARENA_TAKE(arena, FemVec4, nodes);
	step->z = FEM_ARENA_TAKE(arena, FemVec4, nodes);
}

// Contact blocks are taken when it is known who is in contact, arrays of the fracture stage there.
void fem_body_take_step_memory(FemBody *body, FemArena *arena) {
	body->step = FEM_ARENA_TAKE(arena, FemBodyStep, 1);
	*body->step = (FemBodyStep){0};
	if (body->live_part_count == 0) // kinematic
		return;
	take_tet_arrays(body, body->step, arena);
	take_node_arrays(body, body->step, arena);
}

// The record and the arrays by tet stay where the first pass put them; the others have another size.
void fem_body_take_pass_memory(FemBody *body, FemArena *arena) {
	FemBodyStep *step = body->step;
	*step = (FemBodyStep){
		.tet_blocks = step->tet_blocks,
		.tet_forces = step->tet_forces,
		.tet_plates = step->tet_plates,
		.tet_fibres = step->tet_fibres,
		.tet_stress = step->tet_stress,
		.cell_forces = step->cell_forces,
		.cell_blocks = step->cell_blocks,
		.cell_stress = step->cell_stress,
		.cell_demands = step->cell_demands,
		.has_over = step->has_over,
		.was_split = true,
		.kept_ground = step->kept_ground,
		.kept_dv = step->kept_dv,
		.struck = step->struck,
	};
	take_node_arrays(body, step, arena);
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemRange nodes = body->topology->component_nodes[c];
		for (int32_t i = nodes.begin; body->pieces[c].is_over && i < nodes.end; i++) {
			step->ground[i] = step->kept_ground[i];
			step->dv[i] = step->kept_dv[i];
		}
	}
}

// Most nodes of a body that breaks: see topology/splitting.h.
static size_t nodes_most(const FemBody *body) {
	size_t tets = (size_t)body->topology->batch_count * FEM_LANES, nodes = (size_t)body->topology->node_count;
	return nodes > 2 * tets ? nodes : 2 * tets;
}

// What fem_body_keep_piece(), fem_body_keep_results() and fem_body_keep_impulses() take.
static size_t results_bytes(const FemBody *body) {
	size_t nodes = nodes_most(body), vectors = body->blow_speed > 0.0f ? 3 : 2; // a part has a node of its own
	return body->breaking && body->live_part_count > 0
		? vectors * fem_align_up(nodes * sizeof(FemVec4)) + 2 * fem_align_up(nodes * sizeof(int32_t))
		: 0;
}

void fem_body_keep_impulses(FemBody *body, FemArena *arena) {
	FemBodyStep *step = body->step;
	step->struck = FEM_ARENA_TAKE(arena, FemVec4, nodes_most(body));
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		FemVec4 v = body->velocity[i], before = body->good_velocity[i];
		step->struck[i] = body->node_kind[i] == FEM_NODE_FREE
			? (FemVec4){v.x - before.x, v.y - before.y, v.z - before.z, 0.0f}
			: (FemVec4){0};
	}
}

void fem_body_keep_piece(FemBody *body, int32_t component, FemArena *arena) {
	FemBodyStep *step = body->step;
	FemRange nodes = body->topology->component_nodes[component];
	size_t bytes = sizeof(FemVec4) * (size_t)(nodes.end - nodes.begin);
	if (!step->dv) // kinematic
		return;
	if (!step->kept_dv) {
		step->kept_ground = FEM_ARENA_TAKE(arena, FemVec4, nodes_most(body));
		step->kept_dv = FEM_ARENA_TAKE(arena, FemVec4, nodes_most(body));
	}
	memcpy(step->kept_ground + nodes.begin, step->ground + nodes.begin, bytes);
	memcpy(step->kept_dv + nodes.begin, step->dv + nodes.begin, bytes);
}

void fem_body_keep_results(FemBody *body, FemArena *arena) {
	FemBodyStep *step = body->step;
	int32_t parts = body->topology->part_count;
	*step = (FemBodyStep){
		.tet_blocks = step->tet_blocks,
		.tet_forces = step->tet_forces,
		.tet_plates = step->tet_plates,
		.tet_fibres = step->tet_fibres,
		.tet_stress = step->tet_stress,
		.cell_forces = step->cell_forces,
		.cell_blocks = step->cell_blocks,
		.cell_stress = step->cell_stress,
		.cell_demands = step->cell_demands,
		.ground = step->kept_ground,
		.dv = step->kept_dv,
		.kept_ground = step->kept_ground,
		.kept_dv = step->kept_dv,
		.part_chunk = FEM_ARENA_TAKE(arena, int32_t, parts),
		.part_island = FEM_ARENA_TAKE(arena, int32_t, parts),
		.has_over = true,
	};
}

void fem_body_take_contact_memory(FemBody *body, FemArena *arena) {
	size_t count = (size_t)body->topology->node_count * 6;
	if (!body->step->contact_blocks)
		body->step->contact_blocks = FEM_ARENA_TAKE(arena, float, count);
}

static int32_t count_dynamic(const FemStep *step) {
	int32_t count = 0;
	for (int32_t p = 0; p < step->proxy_count; p++)
		count += step->proxies[p].mass > 0.0f;
	return count;
}

// The composites, and the lists of fem_step_take_lists().
static size_t lists_bytes(const FemStep *step) {
	const FemIslands *live = &step->world->islands;
	size_t islands = (size_t)live->count, chunks = (size_t)live->node_chunk_count,
		   contacts = (size_t)step->contact_count;
	size_t composites = islands + (size_t)step->proxy_count; // some may be of dynamic colliders alone
	size_t rigids = islands + (size_t)count_dynamic(step);
	return fem_composites_bytes(live->count, live->node_chunk_count, step->contact_count, step->proxy_count) +
		fem_align_up(sizeof(FemSystemIsland) * islands) + fem_align_up(sizeof(int32_t) * composites) +
		fem_align_up(sizeof(FemCompositeResult) * composites) + fem_align_up(sizeof(double) * chunks) +
		fem_align_up(sizeof(FemMotionSums) * chunks) + 2 * fem_align_up(sizeof(int32_t) * chunks) +
		fem_align_up(sizeof(int32_t) * (chunks + composites)) + fem_align_up(sizeof(bool) * chunks) +
		fem_align_up(sizeof(FemProxy *) * rigids) + fem_align_up(36 * sizeof(double) * rigids) +
		fem_align_up(sizeof(FemProxy *) * islands) + // modals
		(step->world->joined_count > 0 ? fem_align_up(sizeof(FemRange) * islands) : 0) +
		fem_align_up(sizeof(FemContactRow) * contacts) + 2 * fem_align_up(sizeof(FemVec4) * contacts) +
		fem_align_up(sizeof(FemContactRef) * FEM_CONTACT_REFS * contacts) + fem_align_up(sizeof(double) * contacts);
}

// What a pass after the first takes of a body: the arrays that a split changes, else the blocks of its contacts anew.
static size_t later_bytes(const FemBody *body) {
	if (body->step->is_over || body->live_part_count == 0)
		return 0;
	return body->step->was_split ? node_bytes(body)
								 : fem_align_up((size_t)body->topology->node_count * 6 * sizeof(float));
}

bool fem_step_begin_memory(FemStep *step) {
	FemWorld *world = step->world;
	size_t bytes = lists_bytes(step) + fem_fracture_step_bytes(world, step->pass) + fem_passes_bytes(world, step->pass);
	bytes += step->pass == 0 ? fem_joined_blows_bytes(world) : 0;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		const FemBody *body = world->bodies[world->islands.active_bodies[i]];
		bytes += step->pass == 0 ? body_bytes(body) + results_bytes(body) : later_bytes(body);
	}
	return fem_arena_begin(step->arena, bytes);
}

void fem_step_take_lists(FemStep *step) {
	FemArena *arena = step->arena;
	int32_t islands = step->world->islands.count, chunks = step->world->islands.node_chunk_count;
	int32_t contacts = step->contact_count, composites = islands + step->proxy_count;
	int32_t rigids = islands + count_dynamic(step);
	step->system_islands = FEM_ARENA_TAKE(arena, FemSystemIsland, islands);
	step->composite_order = FEM_ARENA_TAKE(arena, int32_t, composites);
	step->results = FEM_ARENA_TAKE(arena, FemCompositeResult, composites);
	step->partials = FEM_ARENA_TAKE(arena, double, chunks);
	step->motion_sums = FEM_ARENA_TAKE(arena, FemMotionSums, chunks);
	step->ground_candidates = FEM_ARENA_TAKE(arena, int32_t, chunks);
	step->chunk_blocks = FEM_ARENA_TAKE(arena, int32_t, chunks);
	step->contact_ref_start = FEM_ARENA_TAKE(arena, int32_t, chunks + composites);
	step->contact_touched = FEM_ARENA_TAKE(arena, bool, chunks);
	step->rigids = FEM_ARENA_TAKE(arena, FemProxy *, rigids);
	step->rigid_factors = FEM_ARENA_TAKE(arena, double, 36 * (size_t)rigids);
	step->modals = FEM_ARENA_TAKE(arena, FemProxy *, islands);
	step->group_nodes = step->world->joined_count > 0 ? FEM_ARENA_TAKE(arena, FemRange, islands) : NULL;
	step->contact_rows = FEM_ARENA_TAKE(arena, FemContactRow, contacts);
	step->contact_impulses = FEM_ARENA_TAKE(arena, FemVec4, contacts);
	step->contact_before = FEM_ARENA_TAKE(arena, FemVec4, contacts);
	step->contact_refs = FEM_ARENA_TAKE(arena, FemContactRef, FEM_CONTACT_REFS * (size_t)contacts);
	step->contact_partials = FEM_ARENA_TAKE(arena, double, contacts);
}
