#include "base/assert.h"
#include "base/carve.h"
#include "topology/topology.h"

// The tets around each node, in user numbers, in order of the tets.
typedef struct Stars {
	int32_t *start; // [node + 1]
	int32_t *tets;
	int32_t *mark; // [node]: the last node that listed this one
} Stars;

static size_t place_stars(Stars *stars, char *base, int32_t node_count, int32_t tet_count) {
	FemCarver carver = {.base = base};
	stars->start = FEM_CARVE(&carver, int32_t, node_count + 1);
	stars->tets = FEM_CARVE(&carver, int32_t, 4 * (size_t)tet_count);
	stars->mark = FEM_CARVE(&carver, int32_t, node_count);
	return carver.used;
}

static void fill_stars(Stars *stars, int32_t node_count, const int32_t *tets, int32_t tet_count) {
	FEM_ASSERT(fem_are_indices(tets, 4 * (int64_t)tet_count, node_count));
	for (int64_t i = 0; i < 4 * (int64_t)tet_count; i++)
		stars->start[tets[i] + 1]++;
	for (int32_t i = 0; i < node_count; i++)
		stars->start[i + 1] += stars->start[i];
	int32_t *cursor = stars->mark;
	for (int32_t i = 0; i < node_count; i++)
		cursor[i] = stars->start[i];
	for (int32_t t = 0; t < tet_count; t++) {
		for (int v = 0; v < 4; v++)
			stars->tets[cursor[tets[4 * (size_t)t + (size_t)v]]++] = t;
	}
	for (int32_t i = 0; i < node_count; i++)
		stars->mark[i] = -1;
}

// Lists every neighbour of `node` once and returns how many there are; out is null for counting alone.
static int32_t list_neighbours(const Stars *stars, const int32_t *tets, int32_t node, int32_t *out) {
	int32_t count = 0;
	stars->mark[node] = node;
	for (int32_t s = stars->start[node]; s < stars->start[node + 1]; s++) {
		const int32_t *tet = tets + 4 * (size_t)stars->tets[s];
		for (int v = 0; v < 4; v++) {
			if (stars->mark[tet[v]] == node)
				continue;
			stars->mark[tet[v]] = node;
			if (out)
				out[count] = tet[v];
			count++;
		}
	}
	return count;
}

// The pattern is symmetric: listing i in the row of each of its neighbours, for ascending i, gives sorted rows.
static void fill_rows(FemNodeGraph *graph, Stars *stars, const int32_t *tets, int32_t *cursor, int32_t *unsorted) {
	for (int32_t i = 0; i < graph->node_count; i++)
		stars->mark[i] = -1;
	for (int32_t i = 0; i < graph->node_count; i++) {
		cursor[i] = graph->row_start[i];
		list_neighbours(stars, tets, i, unsorted + graph->row_start[i]);
	}
	for (int32_t i = 0; i < graph->node_count; i++) {
		for (int32_t s = graph->row_start[i]; s < graph->row_start[i + 1]; s++)
			graph->column[cursor[unsorted[s]]++] = i;
	}
	for (int32_t i = 0; FEM_HAS_ASSERTS && i < graph->node_count; i++) {
		int32_t begin = graph->row_start[i], count = graph->row_start[i + 1] - begin;
		FEM_ASSERT(cursor[i] == begin + count && fem_is_ascending(graph->column + begin, count));
	}
}

static bool build_rows(FemNodeGraph *graph, Stars *stars, const int32_t *tets) {
	int32_t node_count = graph->node_count;
	graph->row_start = FEM_ALLOC_ARRAY(int32_t, node_count + 1);
	if (!graph->row_start)
		return false;
	for (int32_t i = 0; i < node_count; i++)
		graph->row_start[i + 1] = graph->row_start[i] + list_neighbours(stars, tets, i, NULL);
	int32_t entry_count = graph->row_start[node_count];
	size_t scratch_bytes = sizeof(int32_t) * ((size_t)node_count + (size_t)entry_count);
	graph->column = FEM_ALLOC_ARRAY(int32_t, entry_count + 1); // a node alone has none, and that is no failure
	int32_t *scratch = fem_alloc(scratch_bytes);
	if (graph->column && scratch)
		fill_rows(graph, stars, tets, scratch, scratch + node_count);
	fem_free(scratch, scratch_bytes);
	return graph->column && scratch;
}

bool fem_node_graph_create(FemNodeGraph *graph, int32_t node_count, const int32_t *tets, int32_t tet_count) {
	*graph = (FemNodeGraph){.node_count = node_count};
	Stars stars;
	size_t bytes = place_stars(&stars, NULL, node_count, tet_count);
	char *block = fem_alloc(bytes);
	if (!block)
		return false;
	place_stars(&stars, block, node_count, tet_count);
	fill_stars(&stars, node_count, tets, tet_count);
	bool built = build_rows(graph, &stars, tets);
	fem_free(block, bytes);
	if (!built)
		fem_node_graph_free(graph);
	return built;
}

void fem_node_graph_free(FemNodeGraph *graph) {
	if (graph->column)
		FEM_FREE_ARRAY(graph->column, graph->row_start[graph->node_count] + 1);
	FEM_FREE_ARRAY(graph->row_start, graph->node_count + 1);
	*graph = (FemNodeGraph){0};
}
