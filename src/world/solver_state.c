// What the solver keeps with a body from step to step: its preconditioners.
#include "base/memory.h"
#include "dynamics/preconditioner.h"
#include "islands/metis_partition.h"
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
	body->preconditioners = FEM_ALLOC_ARRAY(FemPreconditioner, topology->component_count);
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
	FEM_FREE_ARRAY(body->preconditioners, body->topology->component_count);
	body->preconditioners = NULL;
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
