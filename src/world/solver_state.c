// What the solver keeps with a body from step to step: its preconditioners.
#include "base/memory.h"
#include "dynamics/preconditioner.h"
#include "islands/metis_partition.h"
#include "world/breaking.h"

#include <string.h>

// Elimination orders of all components: nodes and parts, in local numbers. Made once a mesh.
static bool order_component(FemMesh *mesh, int32_t component) {
	const FemTopology *topology = mesh->topology;
	FemRange nodes = topology->component_nodes[component], parts = topology->component_parts[component];
	int32_t node_count = nodes.end - nodes.begin, part_count = parts.end - parts.begin;
	int32_t first = topology->row_start[nodes.begin], entries = topology->row_start[nodes.end] - first;
	int32_t longest = node_count > part_count ? node_count : part_count;
	int32_t *row_start = FEM_ALLOC_ARRAY(int32_t, node_count + 1), *column = FEM_ALLOC_ARRAY(int32_t, entries);
	int32_t *position = FEM_ALLOC_ARRAY(int32_t, longest);
	FemPartGraph graph = {0};
	bool ok = row_start && column && position && fem_part_graph_create(&graph, topology, component);
	for (int32_t i = 0; ok && i <= node_count; i++)
		row_start[i] = topology->row_start[nodes.begin + i] - first;
	for (int32_t i = 0; ok && i < entries; i++)
		column[i] = topology->row_column[first + i] - nodes.begin;
	ok = ok && fem_metis_order(node_count, row_start, column, NULL, mesh->node_order + nodes.begin, position) == 0;
	ok = ok && fem_metis_order(part_count, graph.row_start, graph.column, NULL, mesh->part_order + parts.begin, position) == 0;
	fem_part_graph_free(&graph);
	FEM_FREE_ARRAY(row_start, node_count + 1);
	FEM_FREE_ARRAY(column, entries);
	FEM_FREE_ARRAY(position, longest);
	return ok;
}

bool fem_mesh_make_orders(FemMesh *mesh) {
	const FemTopology *topology = mesh->topology;
	mesh->node_order = FEM_ALLOC_ARRAY(int32_t, topology->node_count);
	mesh->part_order = FEM_ALLOC_ARRAY(int32_t, topology->part_count);
	bool ok = mesh->node_order && mesh->part_order;
	for (int32_t c = 0; ok && c < topology->component_count; c++)
		ok = order_component(mesh, c);
	return ok;
}

void fem_mesh_free_orders(FemMesh *mesh) {
	if (!mesh->topology)
		return;
	FEM_FREE_ARRAY(mesh->node_order, mesh->topology->node_count);
	FEM_FREE_ARRAY(mesh->part_order, mesh->topology->part_count);
	mesh->node_order = mesh->part_order = NULL;
}

bool fem_body_solver_create(FemBody *body, const FemMesh *mesh) {
	const FemTopology *topology = body->topology;
	// A second half for the split of a body that breaks.
	body->preconditioners = FEM_ALLOC_ARRAY(FemPreconditioner, 2 * (size_t)topology->component_capacity);
	if (!body->preconditioners)
		return false;
	for (int32_t c = 0; c < topology->component_count; c++) {
		FemPreconditionerOrders orders = {
			.node_order = mesh->node_order + topology->component_nodes[c].begin,
			.part_order = mesh->part_order + topology->component_parts[c].begin,
		};
		fem_preconditioner_create(&body->preconditioners[c], body, c, orders);
	}
	return true;
}

void fem_body_solver_free(FemBody *body) {
	if (!body->preconditioners)
		return;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		fem_preconditioner_free(&body->preconditioners[c]);
	FEM_FREE_ARRAY(body->preconditioners, 2 * (size_t)body->topology->component_capacity);
	body->preconditioners = NULL;
}

size_t fem_body_solver_bytes(const FemBody *body) {
	size_t bytes = 0;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		bytes += fem_preconditioner_bytes(&body->preconditioners[c]);
	return bytes;
}

// ------------------------------------------------------------------------------------------------------------------ splits

// Local numbers of a range in ascending order of rank; equal ranks (copies) by number.
static void order_by_rank(const int32_t *rank, FemRange range, int32_t rank_count, int32_t *cursor, int32_t *out) {
	memset(cursor, 0, sizeof *cursor * ((size_t)rank_count + 1));
	for (int32_t i = range.begin; i < range.end; i++)
		cursor[rank[i] + 1]++;
	for (int32_t k = 0; k < rank_count; k++)
		cursor[k + 1] += cursor[k];
	for (int32_t i = range.begin; i < range.end; i++)
		out[cursor[rank[i]]++] = i - range.begin;
}

// The nested dissection of the whole mesh serves its pieces: separators stay separators, copies stand beside their parents.
// kind: the most that may be worth its cost; anything simpler may come out.
static void create_for_piece(FemBody *body, const FemMesh *mesh, int32_t component, FemPreconditionKind kind) {
	FemBreaking *breaking = body->breaking;
	const FemTopology *t = body->topology;
	int32_t *node_order = breaking->order, *cursor = breaking->cursor;
	FemRange nodes = t->component_nodes[component], parts = t->component_parts[component];
	int32_t *part_order = node_order + (nodes.end - nodes.begin);
	if (kind == FEM_PRECONDITION_FACTOR)
		order_by_rank(breaking->node_rank, nodes, mesh->node_count, cursor, node_order);
	order_by_rank(breaking->part_rank, parts, mesh->topology->part_count, cursor, part_order);
	FemPreconditionerOrders orders = {
		.node_order = kind == FEM_PRECONDITION_FACTOR ? node_order : NULL,
		.part_order = kind == FEM_PRECONDITION_JACOBI ? NULL : part_order,
	};
	fem_preconditioner_create(&body->preconditioners[component], body, component, orders);
}

// For a snapshot: what they came to be.
void fem_body_note_kinds(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++)
		body->breaking->piece_kinds[c] = (uint8_t)body->preconditioners[c].kind;
}

bool fem_body_restore_solver(const FemWorld *world, FemBody *body) {
	const FemTopology *t = body->topology;
	if (body->preconditioners)
		return true; // it cannot break: that of its making holds
	body->preconditioners = FEM_ALLOC_ARRAY(FemPreconditioner, 2 * (size_t)t->component_capacity);
	for (int32_t c = 0; body->preconditioners && c < t->component_count; c++)
		create_for_piece(body, &world->meshes[body->mesh_index], c, (FemPreconditionKind)body->breaking->piece_kinds[c]);
	return body->preconditioners != NULL;
}

// Components in which nothing changed keep what they have; only their numbers have moved.
void fem_body_solver_follow_split(const FemMesh *mesh, FemBody *body) {
	const FemTopology *t = body->topology;
	const FemSplitState *split = t->split;
	FemPreconditioner *now = body->preconditioners, *before = now + t->component_capacity;
	memcpy(before, now, sizeof *now * (size_t)split->old_component_count);
	memset(now, 0, sizeof *now * (size_t)t->component_capacity);
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t source = split->component_source[c];
		if (source < 0)
			continue;
		now[c] = before[source];
		now[c].nodes = t->component_nodes[c];
		now[c].parts = t->component_parts[c];
		before[source] = (FemPreconditioner){0};
	}
	for (int32_t c = 0; c < t->component_count; c++) {
		// What was too large for a factor still is when it lost but little: the analysis that says so is not cheap.
		const FemPreconditioner *parent = &before[split->component_parent[c]];
		int32_t parent_count = parent->nodes.end - parent->nodes.begin, count = t->component_nodes[c].end - t->component_nodes[c].begin;
		bool is_large = parent->kind == FEM_PRECONDITION_TWO_LEVEL && 2 * count > parent_count;
		body->breaking->piece_kinds[c] = is_large ? FEM_PRECONDITION_TWO_LEVEL : FEM_PRECONDITION_FACTOR;
	}
	for (int32_t c = 0; c < split->old_component_count; c++)
		fem_preconditioner_free(&before[c]);
	for (int32_t c = 0; c < t->component_count; c++) {
		if (split->component_source[c] < 0)
			create_for_piece(body, mesh, c, (FemPreconditionKind)body->breaking->piece_kinds[c]);
	}
}

// --------------------------------------------------------------------------------------------------------------- snapshot

size_t fem_body_solver_state_size(const FemBody *body) {
	size_t size = 0;
	for (int32_t c = 0; body->preconditioners && c < body->topology->component_count; c++)
		size += fem_preconditioner_state_size(&body->preconditioners[c]);
	return size;
}

void fem_body_solver_state_write(const FemBody *body, void *out) {
	char *to = out;
	for (int32_t c = 0; body->preconditioners && c < body->topology->component_count; c++) {
		fem_preconditioner_state_write(&body->preconditioners[c], to);
		to += fem_preconditioner_state_size(&body->preconditioners[c]);
	}
}

bool fem_body_solver_state_read(FemBody *body, const void *data, size_t size) {
	if (size != fem_body_solver_state_size(body))
		return false;
	const char *from = data;
	for (int32_t c = 0; body->preconditioners && c < body->topology->component_count; c++) {
		if (!fem_preconditioner_state_read(&body->preconditioners[c], from))
			return false;
		from += fem_preconditioner_state_size(&body->preconditioners[c]);
	}
	return true;
}
