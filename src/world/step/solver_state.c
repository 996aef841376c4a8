// What the solver keeps with a body from step to step: its preconditioners.
#include "world/step/solver_state.h"
#include "base/memory.h"
#include "dynamics/preconditioner.h"
#include "dynamics/solver_policy.h"
#include "islands/metis_partition.h"
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
	bool ok = row_start && column && position && fem_part_graph_create(&graph, topology, component);
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

static bool allocate(FemBody *body) {
	body->preconditioners = FEM_ALLOC_ARRAY(FemPreconditioner, body->topology->component_count);
	body->preconditioner_count = body->preconditioners ? body->topology->component_count : 0;
	return body->preconditioners != NULL;
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
		fem_preconditioner_create(&body->preconditioners[c], body, c, orders);
	}
	return true;
}

static void free_all(FemPreconditioner *preconditioners, int32_t count) {
	for (int32_t c = 0; c < count; c++)
		fem_preconditioner_free(&preconditioners[c]);
	FEM_FREE_ARRAY(preconditioners, count);
}

void fem_body_solver_free(FemBody *body) {
	free_all(body->preconditioners, body->preconditioner_count);
	body->preconditioners = NULL;
	body->preconditioner_count = 0;
}

size_t fem_body_solver_bytes(const FemBody *body) {
	size_t bytes = 0;
	for (int32_t c = 0; c < body->preconditioner_count; c++)
		bytes += fem_preconditioner_bytes(&body->preconditioners[c]);
	return bytes;
}

// ---- waking, sleeping

static void create_task(void *context, int32_t index) {
	FemWorld *world = context;
	FemBody *body = world->bodies[world->islands.active_bodies[index]];
	if (body->live_part_count > 0 && !body->preconditioners && !body->own_topology)
		fem_body_solver_create(body, &world->meshes[body->mesh_index]); // without: block-Jacobi
}

// A factor is most of what a body at rest would hold. What wakes makes it anew, as it would have to after a step or
// two.
static void give_up(FemWorld *world) {
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (body && body->preconditioners && !body->own_topology && body->live_part_count == 0)
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
	fem_preconditioner_create(&body->preconditioners[component], body, component, orders);
}

// For a snapshot: what they came to be.
void fem_body_note_kinds(FemBody *body) {
	for (int32_t c = 0; body->own_topology && c < body->preconditioner_count; c++)
		body->breaking->piece_kinds[c] = (uint8_t)body->preconditioners[c].kind;
}

bool fem_body_restore_solver(const FemWorld *world, FemBody *body) {
	const FemMesh *mesh = &world->meshes[body->mesh_index];
	if (!body->own_topology)
		return fem_body_solver_create(body, mesh);
	if (!allocate(body))
		return false;
	for (int32_t c = 0; c < body->topology->component_count; c++)
		create_for_piece(body, mesh, c, (FemPreconditionKind)body->breaking->piece_kinds[c]);
	return true;
}

// Components in which nothing changed keep what they have; only their numbers have moved.
static void take_over(FemBody *body, FemPreconditioner *before, int32_t before_count) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t source = t->split->component_source[c];
		if (source < 0 || source >= before_count)
			continue;
		FemPreconditioner *now = &body->preconditioners[c];
		*now = before[source];
		now->nodes = t->component_nodes[c];
		now->parts = t->component_parts[c];
		before[source] = (FemPreconditioner){0};
	}
}

static FemPreconditionKind kind_for(
	const FemTopology *t, int32_t component, const FemPreconditioner *before, int32_t before_count) {
	int32_t index = t->split->component_parent[component];
	FemRange nodes = t->component_nodes[component];
	return fem_policy_kind_of_piece(index < before_count ? &before[index] : NULL, nodes.end - nodes.begin);
}

void fem_body_solver_follow_split(const FemMesh *mesh, FemBody *body) {
	const FemTopology *t = body->topology;
	FemPreconditioner *before = body->preconditioners;
	int32_t before_count = body->preconditioner_count;
	if (!allocate(body)) { // block-Jacobi
		free_all(before, before_count);
		return;
	}
	take_over(body, before, before_count);
	for (int32_t c = 0; c < t->component_count; c++)
		body->breaking->piece_kinds[c] = (uint8_t)kind_for(t, c, before, before_count);
	free_all(before, before_count);
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t source = t->split->component_source[c];
		if (source < 0 || source >= before_count)
			create_for_piece(body, mesh, c, (FemPreconditionKind)body->breaking->piece_kinds[c]);
	}
}

// ---- snapshot

size_t fem_body_solver_state_size(const FemBody *body) {
	size_t size = 0;
	for (int32_t c = 0; c < body->preconditioner_count; c++)
		size += fem_preconditioner_state_size(&body->preconditioners[c]);
	return size;
}

void fem_body_solver_state_write(const FemBody *body, void *out) {
	char *to = out;
	for (int32_t c = 0; c < body->preconditioner_count; c++) {
		fem_preconditioner_state_write(&body->preconditioners[c], to);
		to += fem_preconditioner_state_size(&body->preconditioners[c]);
	}
}

bool fem_body_solver_state_read(FemBody *body, const void *data, size_t size) {
	if (size != fem_body_solver_state_size(body))
		return false;
	const char *from = data;
	for (int32_t c = 0; c < body->preconditioner_count; c++) {
		if (!fem_preconditioner_state_read(&body->preconditioners[c], from))
			return false;
		from += fem_preconditioner_state_size(&body->preconditioners[c]);
	}
	return true;
}
