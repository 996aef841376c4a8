#include "filling/edge_table.h"

#include "base/memory.h"

typedef struct Side {
	int32_t low, high, side;
} Side;

static int32_t vertex_count_of(int32_t (*triangles)[3], int32_t count) {
	int32_t most = -1;
	for (int32_t c = 0; c < 3 * count; c++)
		most = triangles[c / 3][c % 3] > most ? triangles[c / 3][c % 3] : most;
	return most + 1;
}

static bool comes_before(const Side *a, const Side *b) {
	return a->high != b->high ? a->high < b->high : a->side < b->side;
}

// By their lower vertex into buckets, in which few are left to be put in order.
static void sort_sides(Side *out, int32_t *starts, int32_t (*triangles)[3], int32_t count) {
	for (int32_t s = 0; s < 3 * count; s++) {
		int32_t a = triangles[s / 3][s % 3], b = triangles[s / 3][(s % 3 + 1) % 3];
		starts[(a < b ? a : b) + 1]++;
	}
	int32_t vertices = vertex_count_of(triangles, count);
	for (int32_t v = 0; v < vertices; v++)
		starts[v + 1] += starts[v];
	for (int32_t s = 0; s < 3 * count; s++) {
		int32_t a = triangles[s / 3][s % 3], b = triangles[s / 3][(s % 3 + 1) % 3], low = a < b ? a : b;
		out[starts[low]++] = (Side){low, a < b ? b : a, s};
	}
	for (int32_t i = 1; i < 3 * count; i++) {
		Side side = out[i];
		int32_t at = i;
		for (; at > 0 && out[at - 1].low == side.low && comes_before(&side, &out[at - 1]); at--)
			out[at] = out[at - 1];
		out[at] = side;
	}
}

static void number_edges(FemEdgeTable *table, const Side *sides, int32_t (*triangles)[3]) {
	int32_t sharing = 0;
	for (int32_t i = 0; i < table->side_count; i++) {
		const Side *side = &sides[i];
		bool is_new = i == 0 || side->low != sides[i - 1].low || side->high != sides[i - 1].high;
		if (is_new) {
			sharing = 0;
			table->ends[table->edge_count][0] = side->low;
			table->ends[table->edge_count][1] = side->high;
			table->sides[table->edge_count][1] = -1;
			table->edge_count++;
		}
		int32_t edge = table->edge_count - 1;
		table->edge_of[side->side] = edge;
		if (sharing < 2)
			table->sides[edge][sharing] = side->side;
		sharing++;
		bool alike = sharing == 2 &&
			triangles[side->side / 3][side->side % 3] ==
				triangles[table->sides[edge][0] / 3][table->sides[edge][0] % 3];
		table->non_manifold += sharing == 3 || alike;
	}
}

bool fem_edge_table_create(FemEdgeTable *table, int32_t (*triangles)[3], int32_t count) {
	*table = (FemEdgeTable){.side_count = 3 * count};
	int32_t start_count = vertex_count_of(triangles, count) + 1, *starts = FEM_ALLOC_ARRAY(int32_t, start_count);
	Side *sides = FEM_ALLOC_ARRAY_UNSET(Side, 3 * count);
	table->sides = (int32_t(*)[2])(void *)FEM_ALLOC_ARRAY_UNSET(int32_t, 6 * (size_t)count);
	table->ends = (int32_t(*)[2])(void *)FEM_ALLOC_ARRAY_UNSET(int32_t, 6 * (size_t)count);
	table->edge_of = FEM_ALLOC_ARRAY_UNSET(int32_t, 3 * count);
	bool ready = starts && sides && table->sides && table->ends && table->edge_of;
	if (ready) {
		sort_sides(sides, starts, triangles, count);
		number_edges(table, sides, triangles);
	}
	FEM_FREE_ARRAY(sides, 3 * count);
	FEM_FREE_ARRAY(starts, start_count);
	if (!ready)
		fem_edge_table_free(table);
	return ready;
}

void fem_edge_table_free(FemEdgeTable *table) {
	FEM_FREE_ARRAY(table->sides, table->side_count);
	FEM_FREE_ARRAY(table->ends, table->side_count);
	FEM_FREE_ARRAY(table->edge_of, table->side_count);
	*table = (FemEdgeTable){0};
}

double fem_edge_length(const FemEdgeTable *table, const FemTriangles *triangles, int32_t edge) {
	FemVec3d a = fem_vec3d_from(triangles->vertices[table->ends[edge][0]]);
	FemVec3d along = fem_vec3d_sub(fem_vec3d_from(triangles->vertices[table->ends[edge][1]]), a);
	return sqrt(fem_vec3d_dot(along, along));
}
