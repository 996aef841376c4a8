// What the solver keeps with a body from step to step: its preconditioners.
#include "world/step/solver_state.h"
#include "base/memory.h"
#include "dynamics/preconditioner.h"
#include "dynamics/solver_policy.h"
#include "islands/metis_partition.h"
#include "model/piece.h"
#include "world/step/breaking.h"
#include "world/world.h"

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
	bool ok = row_start && column && position && fem_part_graph_create(&graph, topology, component, NULL);
	for (int32_t i = 0; ok && i <= node_count; i++)
		row_start[i] = topology->row_start[nodes.begin + i] - first;
	for (int32_t i = 0; ok && i < entries; i++)
		column[i] = topology->row_column[first + i] - nodes.begin;
	ok = ok && fem_metis_order(node_count, row_start, column, NULL, mesh->node_order + nodes.begin, position) == 0;
	ok = ok &&
		fem_metis_order(part_count, graph.row_start, graph.column, NULL, mesh->part_order + parts.begin, position) == 0;
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

static void drop(FemPiece *piece) {
	fem_preconditioner_free(piece->preconditioner);
	FEM_FREE_ARRAY(piece->preconditioner, 1);
	piece->preconditioner = NULL;
}

void fem_body_solver_free(FemBody *body) {
	for (int32_t c = 0; body->pieces && c < body->topology->component_count; c++) {
		if (body->pieces[c].preconditioner)
			drop(&body->pieces[c]);
	}
}

// Allocates the preconditioners of all pieces, or of none when memory fails.
static bool allocate(FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		if (!piece->preconditioner)
			piece->preconditioner = FEM_ALLOC_ARRAY(FemPreconditioner, 1);
		if (!piece->preconditioner) {
			fem_body_solver_free(body);
			return false;
		}
	}
	return true;
}

bool fem_body_solver_create(FemBody *body, const FemMesh *mesh) {
	const FemTopology *topology = body->topology;
	if (!allocate(body))
		return false;
	for (int32_t c = 0; c < topology->component_count; c++) {
		FemPreconditionerOrders orders = {
			.node_order = mesh->node_order + topology->component_nodes[c].begin,
			.part_order = mesh->part_order + topology->component_parts[c].begin,
		};
		fem_preconditioner_create(body->pieces[c].preconditioner, body, c, orders);
	}
	return true;
}

size_t fem_body_solver_bytes(const FemBody *body) {
	size_t bytes = 0;
	for (int32_t c = 0; fem_body_has_solver(body) && c < body->topology->component_count; c++)
		bytes += fem_preconditioner_bytes(body->pieces[c].preconditioner);
	return bytes;
}

// ---- waking, sleeping

static void create_task(void *context, int32_t index) {
	FemWorld *world = context;
	FemBody *body = world->bodies[world->islands.active_bodies[index]];
	if (body->live_part_count > 0 && !fem_body_has_solver(body) && !body->own_topology)
		fem_body_solver_create(body, &world->meshes[body->mesh_index]); // without: block-Jacobi
}

// A factor is most of what a body at rest would hold. What wakes makes it anew, as it would have to after a step or
// two.
static void give_up(FemWorld *world) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (body && fem_body_has_solver(body) && !body->own_topology && body->live_part_count == 0)
			fem_body_solver_free(body);
	}
}

void fem_world_prepare_solvers(FemWorld *world) {
	if (world->solvers_seen == world->islands.version)
		return;
	world->solvers_seen = world->islands.version;
	give_up(world);
	fem_pool_for_uneven(world->pool, world->islands.active_count, create_task, world);
}

// ---- splits

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

// The nested dissection of the whole mesh serves its pieces: separators stay separators, copies stand beside their
// parents. kind: the most that may be worth its cost; anything simpler may come out.
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
	fem_preconditioner_create(body->pieces[component].preconditioner, body, component, orders);
}

// Notes the kinds of all preconditioners, for a snapshot.
void fem_body_note_kinds(FemBody *body) {
	for (int32_t c = 0; body->own_topology && fem_body_has_solver(body) && c < body->topology->component_count; c++)
		body->pieces[c].preconditioner_kind = (uint8_t)body->pieces[c].preconditioner->kind;
}

bool fem_body_restore_solver(const FemWorld *world, FemBody *body) {
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	if (!body->own_topology)
		return fem_body_solver_create(body, mesh);
	if (!allocate(body))
		return false;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		create_for_piece(body, mesh, c, (FemPreconditionKind)body->pieces[c].preconditioner_kind);
	return true;
}

// After a split: components in which nothing changed keep their preconditioners under new numbers.
static void take_over(FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t source = t->split->component_source[c];
		if (source < 0 || !body->breaking->old_pieces[source].preconditioner)
			continue;
		FemPreconditioner *kept = body->breaking->old_pieces[source].preconditioner;
		kept->nodes = t->component_nodes[c];
		kept->parts = t->component_parts[c];
		body->pieces[c].preconditioner = kept;
		body->breaking->old_pieces[source].preconditioner = NULL;
	}
}

static FemPreconditionKind kind_for(const FemBody *body, int32_t component) {
	int32_t parent = body->topology->split->component_parent[component];
	const FemTopology *t = body->topology;
	FemRange nodes = t->component_nodes[component], parts = t->component_parts[component];
	return fem_policy_kind_of_piece(
		body->breaking->old_pieces[parent].preconditioner, nodes.end - nodes.begin, parts.end - parts.begin);
}

static void drop_old(FemBody *body) {
	for (int32_t c = 0; c < body->topology->split->old_component_count; c++) {
		if (body->breaking->old_pieces[c].preconditioner)
			drop(&body->breaking->old_pieces[c]);
	}
}

void fem_body_solver_follow_split(const FemMesh *mesh, FemBody *body) {
	const FemTopology *t = body->topology;
	take_over(body);
	for (int32_t c = 0; c < t->component_count; c++)
		body->pieces[c].preconditioner_kind = (uint8_t)kind_for(body, c);
	drop_old(body);
	uint8_t *is_kept = body->breaking->marks;
	for (int32_t c = 0; c < t->component_count; c++)
		is_kept[c] = body->pieces[c].preconditioner != NULL;
	if (!allocate(body))
		return; // block-Jacobi
	for (int32_t c = 0; c < t->component_count; c++) {
		if (!is_kept[c])
			create_for_piece(body, mesh, c, (FemPreconditionKind)body->pieces[c].preconditioner_kind);
	}
}

// ---- snapshot

size_t fem_body_solver_state_size(const FemBody *body) {
	size_t size = 0;
	for (int32_t c = 0; fem_body_has_solver(body) && c < body->topology->component_count; c++)
		size += fem_preconditioner_state_size(body->pieces[c].preconditioner);
	return size;
}

void fem_body_solver_state_write(const FemBody *body, void *out) {
	char *to = out;
	for (int32_t c = 0; fem_body_has_solver(body) && c < body->topology->component_count; c++) {
		fem_preconditioner_state_write(body->pieces[c].preconditioner, to);
		to += fem_preconditioner_state_size(body->pieces[c].preconditioner);
	}
}

bool fem_body_solver_state_read(FemBody *body, const void *data, size_t size) {
	if (size != fem_body_solver_state_size(body))
		return false;
	const char *from = data;
	for (int32_t c = 0; fem_body_has_solver(body) && c < body->topology->component_count; c++) {
		if (!fem_preconditioner_state_read(body->pieces[c].preconditioner, from))
			return false;
		from += fem_preconditioner_state_size(body->pieces[c].preconditioner);
	}
	return true;
}
