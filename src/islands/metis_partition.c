// METIS must be kept away from bad input: it answers some with a signal (fewer than 2 parts: SIGFPE) and others by
// overrunning its arrays. So every graph is checked first, and the small cases are answered here.
#include "islands/metis_partition.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

#include <metis.h>
#include <stdbool.h>
#include <string.h>

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS must be built with 32-bit indices");

// Any number will do, as long as it never changes: partitions are part of a baked mesh's identity.
#define SEED 20090801

// Up to this many parts recursive bisection cuts fewer edges than the direct k-way method, and balances better.
#define BISECTION_PARTS_MAX 8

// METIS's random numbers and error handling are global.
static FemMutex metis_mutex = FEM_MUTEX_INITIALIZER;

// A checked copy of the caller's graph with every row in ascending order.
typedef struct SortedGraph {
	int32_t node_count;
	int32_t edge_count;       // directed: twice the number of pairs
	int32_t *row_start;       // [node_count + 1]
	int32_t *column;          // [edge_count]
	int32_t *transpose_start; // [node_count + 1]
	int32_t *transpose;       // [edge_count]
} SortedGraph;

static void graph_free(SortedGraph *graph) {
	FEM_FREE_ARRAY(graph->row_start, graph->node_count + 1);
	FEM_FREE_ARRAY(graph->transpose_start, graph->node_count + 1);
	FEM_FREE_ARRAY(graph->column, graph->edge_count);
	FEM_FREE_ARRAY(graph->transpose, graph->edge_count);
}

static FemResult check_rows(int32_t node_count, const int32_t *row_start, const int32_t *column) {
	if (node_count < 0 || !row_start)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "the graph has no rows: give node_count + 1 row starts");
	if (row_start[0] != 0)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "the graph's first row starts at %d: it must start at 0", row_start[0]);
	for (int32_t i = 0; i < node_count; i++) {
		if (row_start[i + 1] < row_start[i])
			return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "the graph's row %d ends before it starts", i);
	}
	if (row_start[node_count] > 0 && !column)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "the graph has edges but no column array");
	for (int32_t i = 0; i < node_count; i++) {
		for (int32_t e = row_start[i]; e < row_start[i + 1]; e++) {
			if (column[e] < 0 || column[e] >= node_count)
				return fem_fail(
					FEM_ERROR_INVALID_ARGUMENT, "node %d has a neighbour %d that does not exist", i, column[e]);
			if (column[e] == i)
				return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "node %d is its own neighbour", i);
		}
	}
	return FEM_OK;
}

// Reverses all edges. Rows of the result are in ascending order, whatever the input's were.
static void transpose_graph(
	int32_t node_count, const int32_t *row_start, const int32_t *column, int32_t *out_start, int32_t *out_column) {
	memset(out_start, 0, sizeof *out_start * (size_t)(node_count + 1));
	for (int32_t e = 0; e < row_start[node_count]; e++)
		out_start[column[e]]++;
	int32_t sum = 0;
	for (int32_t i = 0; i <= node_count; i++) {
		int32_t length = i < node_count ? out_start[i] : 0;
		out_start[i] = sum;
		sum += length;
	}
	for (int32_t i = 0; i < node_count; i++) {
		for (int32_t e = row_start[i]; e < row_start[i + 1]; e++)
			out_column[out_start[column[e]]++] = i;
	}
	// The starts have moved to the rows' ends: move them back by one row.
	for (int32_t i = node_count; i > 0; i--)
		out_start[i] = out_start[i - 1];
	out_start[0] = 0;
}

// A graph is symmetric when it equals its transpose; transposing it twice sorts its rows for the comparison.
static FemResult check_symmetry(const SortedGraph *graph) {
	for (int32_t i = 0; i < graph->node_count; i++) {
		bool same_row = graph->row_start[i] == graph->transpose_start[i] &&
			graph->row_start[i + 1] == graph->transpose_start[i + 1];
		for (int32_t e = graph->row_start[i]; same_row && e < graph->row_start[i + 1]; e++) {
			same_row = graph->column[e] == graph->transpose[e];
			if (e > graph->row_start[i] && graph->column[e] == graph->column[e - 1])
				return fem_fail(
					FEM_ERROR_INVALID_ARGUMENT, "node %d lists its neighbour %d twice", i, graph->column[e]);
		}
		if (!same_row)
			return fem_fail(
				FEM_ERROR_INVALID_ARGUMENT, "the graph is not symmetric at node %d: list each edge at both ends", i);
	}
	return FEM_OK;
}

static FemResult graph_create(SortedGraph *graph, int32_t node_count, const int32_t *row_start, const int32_t *column) {
	FemResult result = check_rows(node_count, row_start, column);
	if (result != FEM_OK)
		return result;
	int32_t edge_count = row_start[node_count];
	*graph = (SortedGraph){
		.node_count = node_count,
		.edge_count = edge_count,
		.row_start = FEM_ALLOC_ARRAY(int32_t, node_count + 1),
		.column = FEM_ALLOC_ARRAY(int32_t, edge_count),
		.transpose_start = FEM_ALLOC_ARRAY(int32_t, node_count + 1),
		.transpose = FEM_ALLOC_ARRAY(int32_t, edge_count),
	};
	bool has_edges = graph->column && graph->transpose;
	if (!graph->row_start || !graph->transpose_start || (edge_count > 0 && !has_edges)) {
		graph_free(graph);
		return fem_fail(FEM_ERROR_MEMORY, "no memory for a graph of %d nodes", node_count);
	}
	transpose_graph(node_count, row_start, column, graph->transpose_start, graph->transpose);
	transpose_graph(node_count, graph->transpose_start, graph->transpose, graph->row_start, graph->column);
	result = check_symmetry(graph);
	if (result != FEM_OK)
		graph_free(graph);
	return result;
}

static FemResult metis_failure(int code) {
	if (code == METIS_ERROR_MEMORY)
		return fem_fail(FEM_ERROR_MEMORY, "METIS ran out of memory");
	return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "METIS refused the graph (code %d)", code);
}

static void set_options(idx_t *options) {
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_SEED] = SEED;
	options[METIS_OPTION_NUMBERING] = 0;
}

// Equal runs of nodes in their own order; with fewer nodes than parts, a part each.
static void partition_by_index(int32_t node_count, int32_t part_count, int32_t *out_part) {
	int32_t used_count = node_count < part_count ? node_count : part_count;
	for (int32_t i = 0; i < node_count; i++)
		out_part[i] = (int32_t)((int64_t)i * used_count / node_count);
}

static int32_t largest_part(const int32_t *size, int32_t part_count) {
	int32_t largest = 0;
	for (int32_t p = 1; p < part_count; p++) {
		if (size[p] > size[largest])
			largest = p;
	}
	return largest;
}

// METIS may leave a part empty when there are few nodes to a part: give it a node of the largest one.
static FemResult fill_empty_parts(int32_t node_count, int32_t part_count, int32_t *part) {
	int32_t *size = FEM_ALLOC_ARRAY(int32_t, part_count);
	if (!size)
		return fem_fail(FEM_ERROR_MEMORY, "no memory for %d parts", part_count);
	for (int32_t i = 0; i < node_count; i++)
		size[part[i]]++;
	for (int32_t p = 0; p < part_count; p++) {
		if (size[p] > 0)
			continue;
		int32_t donor = largest_part(size, part_count);
		for (int32_t i = 0; i < node_count; i++) {
			if (part[i] == donor) {
				part[i] = p;
				break;
			}
		}
		size[donor]--;
		size[p]++;
	}
	FEM_FREE_ARRAY(size, part_count);
	return FEM_OK;
}

static FemResult partition_by_metis(SortedGraph *graph, int32_t part_count, int32_t *out_part) {
	idx_t options[METIS_NOPTIONS];
	idx_t node_count = graph->node_count, constraint_count = 1, parts = part_count, cut;
	set_options(options);
	fem_mutex_lock(&metis_mutex);
	int code = part_count <= BISECTION_PARTS_MAX
		? METIS_PartGraphRecursive(&node_count, &constraint_count, graph->row_start, graph->column, NULL, NULL, NULL,
			  &parts, NULL, NULL, options, &cut, out_part)
		: METIS_PartGraphKway(&node_count, &constraint_count, graph->row_start, graph->column, NULL, NULL, NULL, &parts,
			  NULL, NULL, options, &cut, out_part);
	fem_mutex_unlock(&metis_mutex);
	return code == METIS_OK ? fill_empty_parts(graph->node_count, part_count, out_part) : metis_failure(code);
}

int fem_metis_partition(
	int32_t node_count, const int32_t *row_start, const int32_t *column, int32_t part_count, int32_t *out_part) {
	if (part_count < 1 || (node_count > 0 && !out_part))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "a graph cannot be split into %d parts", part_count);
	SortedGraph graph;
	FemResult result = graph_create(&graph, node_count, row_start, column);
	if (result != FEM_OK)
		return result;
	if (part_count == 1 || node_count <= part_count || graph.edge_count == 0)
		partition_by_index(node_count, part_count, out_part);
	else
		result = partition_by_metis(&graph, part_count, out_part);
	graph_free(&graph);
	return result;
}

static FemResult check_weights(int32_t node_count, const int32_t *weight) {
	for (int32_t i = 0; weight && i < node_count; i++) {
		if (weight[i] < 1)
			return fem_fail(
				FEM_ERROR_INVALID_ARGUMENT, "node %d has the weight %d: it must be 1 or more", i, weight[i]);
	}
	return FEM_OK;
}

static FemResult order_by_metis(SortedGraph *graph, const int32_t *weight, int32_t *out_order, int32_t *out_position) {
	idx_t options[METIS_NOPTIONS];
	idx_t node_count = graph->node_count;
	set_options(options);
	fem_mutex_lock(&metis_mutex);
	// METIS only reads the weights, though its prototype does not say so.
	int code = METIS_NodeND(
		&node_count, graph->row_start, graph->column, (idx_t *)(uintptr_t)weight, options, out_order, out_position);
	fem_mutex_unlock(&metis_mutex);
	return code == METIS_OK ? FEM_OK : metis_failure(code);
}

int fem_metis_order(int32_t node_count, const int32_t *row_start, const int32_t *column,
	const int32_t *node_weight_or_null, int32_t *out_order, int32_t *out_position) {
	if (node_count > 0 && (!out_order || !out_position))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "the order has no place to go: both outputs are needed");
	FemResult result = check_weights(node_count, node_weight_or_null);
	if (result != FEM_OK)
		return result;
	SortedGraph graph;
	result = graph_create(&graph, node_count, row_start, column);
	if (result != FEM_OK)
		return result;
	if (node_count <= 2 || graph.edge_count == 0) {
		for (int32_t i = 0; i < node_count; i++)
			out_order[i] = out_position[i] = i;
	} else {
		result = order_by_metis(&graph, node_weight_or_null, out_order, out_position);
	}
	graph_free(&graph);
	return result;
}
