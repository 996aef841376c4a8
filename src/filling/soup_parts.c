#include "filling/soup_parts.h"

#include "base/error.h"
#include "base/memory.h"
#include "filling/soup_topology.h"
#include "geometry/winding.h"

#include <stdlib.h>

#define SHARDS_MIN 64 // open pieces: more are the shards of one surface; chosen

typedef struct PieceBox {
	int32_t component;
	float lo[3], hi[3];
	FemVec3 sample; // one of its vertices
} PieceBox;

typedef struct Parts {
	FemTriangles *triangles;
	const uint8_t *closed;
	PieceBox *boxes;       // [component], by lo[0]
	int32_t *parents;      // [component], union-find
	int32_t *start, *list; // [component + 1], [triangle]: the triangles of each piece, until the tree orders them anew
	uint8_t *crossing;     // [component]: its box overlaps another closed piece's
} Parts;

static void measure_boxes(Parts *parts) {
	const FemTriangles *triangles = parts->triangles;
	for (int32_t c = 0; c < triangles->component_count; c++)
		parts->boxes[c] = (PieceBox){c, {4, 4, 4}, {-4, -4, -4}, {0, 0, 0}};
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		PieceBox *box = &parts->boxes[triangles->components[t]];
		for (int v = 0; v < 3; v++) {
			box->sample = triangles->vertices[triangles->triangles[t][v]];
			const float *p = &box->sample.x;
			for (int axis = 0; axis < 3; axis++) {
				box->lo[axis] = p[axis] < box->lo[axis] ? p[axis] : box->lo[axis];
				box->hi[axis] = p[axis] > box->hi[axis] ? p[axis] : box->hi[axis];
			}
		}
	}
}

static int by_left_side(const void *left, const void *right) {
	const PieceBox *a = left, *b = right;
	if (a->lo[0] != b->lo[0])
		return a->lo[0] < b->lo[0] ? -1 : 1;
	return a->component < b->component ? -1 : 1;
}

static bool boxes_overlap(const PieceBox *a, const PieceBox *b) {
	for (int axis = 0; axis < 3; axis++) {
		if (a->lo[axis] > b->hi[axis] || b->lo[axis] > a->hi[axis])
			return false;
	}
	return true;
}

// Solid angles of one piece alone: exact sum, used for few points.
static double winding_of_piece(const Parts *parts, int32_t component, FemPosition p) {
	const FemTriangles *triangles = parts->triangles;
	double sum = 0.0;
	for (int32_t i = parts->start[component]; i < parts->start[component + 1]; i++)
		sum += fem_solid_angle(triangles, parts->list[i], p);
	return sum / 12.566370614359172;
}

static bool lies_in(const Parts *parts, const PieceBox *inner, const PieceBox *outer) {
	for (int axis = 0; axis < 3; axis++) {
		if (inner->lo[axis] < outer->lo[axis] || inner->hi[axis] > outer->hi[axis])
			return false;
	}
	return fabs(winding_of_piece(parts, outer->component, fem_position_from(inner->sample))) > 0.5;
}

static void compare_pair(Parts *parts, const PieceBox *a, const PieceBox *b) {
	if (!boxes_overlap(a, b))
		return;
	bool join =
		!parts->closed[a->component] || !parts->closed[b->component] || lies_in(parts, a, b) || lies_in(parts, b, a);
	if (join)
		fem_union_join(parts->parents, a->component, b->component);
	else
		parts->crossing[a->component] = parts->crossing[b->component] = 1;
}

static void list_triangles(Parts *parts) {
	const FemTriangles *triangles = parts->triangles;
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		parts->start[triangles->components[t] + 1]++;
	for (int32_t c = 0; c < triangles->component_count; c++)
		parts->start[c + 1] += parts->start[c];
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		parts->list[parts->start[triangles->components[t]]++] = t;
	for (int32_t c = triangles->component_count; c > 0; c--)
		parts->start[c] = parts->start[c - 1];
	parts->start[0] = 0;
}

// Many open pieces are the shards of one surface.
static void join_shards(Parts *parts) {
	int32_t first = -1, open = 0, count = parts->triangles->component_count;
	for (int32_t c = 0; c < count; c++)
		open += !parts->closed[c];
	for (int32_t c = 0; c < count && open > SHARDS_MIN; c++) {
		if (parts->closed[c])
			continue;
		first = first < 0 ? c : first;
		fem_union_join(parts->parents, first, c);
	}
}

static void compare_boxes(Parts *parts) {
	int32_t count = parts->triangles->component_count;
	list_triangles(parts);
	join_shards(parts);
	measure_boxes(parts);
	qsort(parts->boxes, (size_t)count, sizeof *parts->boxes, by_left_side);
	for (int32_t i = 0; i < count; i++) {
		for (int32_t j = i + 1; j < count && parts->boxes[j].lo[0] <= parts->boxes[i].hi[0]; j++) {
			if (fem_union_find(parts->parents, parts->boxes[i].component) !=
				fem_union_find(parts->parents, parts->boxes[j].component))
				compare_pair(parts, &parts->boxes[i], &parts->boxes[j]);
		}
	}
}

// Edges of pieces whose boxes overlap, against all triangles.
static FemResult join_crossing(Parts *parts) {
	FemTriangles *triangles = parts->triangles;
	FemTriangleBvh bvh;
	FemResult result = fem_triangle_bvh_create(&bvh, triangles);
	for (int32_t t = 0; result == FEM_OK && t < triangles->triangle_count; t++) {
		if (!parts->crossing[triangles->components[t]])
			continue;
		for (int v = 0; v < 3; v++) {
			FemCrossing crossings[FEM_CROSSING_MAX];
			int32_t count = fem_bvh_crossings(&bvh, fem_triangle_corner(triangles, t, v),
				fem_triangle_corner(triangles, t, (v + 1) % 3), 0.0, crossings);
			for (int32_t i = 0; i < count; i++)
				fem_union_join(parts->parents, triangles->components[t], triangles->components[crossings[i].triangle]);
		}
	}
	fem_triangle_bvh_free(&bvh);
	return result;
}

static FemResult find_parts(Parts *parts) {
	bool any = false;
	int32_t count = parts->triangles->component_count;
	for (int32_t c = 0; c < count; c++)
		parts->parents[c] = c;
	compare_boxes(parts);
	for (int32_t c = 0; c < count; c++)
		any = any || parts->crossing[c];
	return any ? join_crossing(parts) : FEM_OK;
}

// Roots are the lowest of their set, so a piece's root is numbered before it.
static int32_t number_groups(const Parts *parts, int32_t *out_groups) {
	int32_t *numbers = (int32_t *)(void *)parts->boxes, found = 0; // the boxes are done with
	for (int32_t c = 0; c < parts->triangles->component_count; c++) {
		int32_t root = fem_union_find(parts->parents, c);
		numbers[c] = root == c ? found++ : numbers[root];
	}
	for (int32_t t = 0; t < parts->triangles->triangle_count; t++)
		out_groups[t] = numbers[parts->triangles->components[t]];
	return found;
}

FemResult fem_soup_parts(FemTriangles *triangles, const uint8_t *closed, int32_t *out_groups, int32_t *out_count) {
	int32_t count = triangles->component_count;
	*out_count = 1;
	if (count == 1 || count > FEM_PIECE_MAX) {
		for (int32_t t = 0; t < triangles->triangle_count; t++)
			out_groups[t] = 0;
		return FEM_OK;
	}
	Parts parts = {triangles, closed, FEM_ALLOC_ARRAY(PieceBox, count), FEM_ALLOC_ARRAY(int32_t, count),
		FEM_ALLOC_ARRAY(int32_t, count + 1), FEM_ALLOC_ARRAY(int32_t, triangles->triangle_count),
		FEM_ALLOC_ARRAY(uint8_t, count)};
	bool ready = parts.boxes && parts.parents && parts.start && parts.list && parts.crossing;
	FemResult result = ready
		? find_parts(&parts)
		: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d pieces: join them first.", count);
	if (result == FEM_OK)
		*out_count = number_groups(&parts, out_groups);
	FEM_FREE_ARRAY(parts.boxes, count);
	FEM_FREE_ARRAY(parts.parents, count);
	FEM_FREE_ARRAY(parts.start, count + 1);
	FEM_FREE_ARRAY(parts.list, triangles->triangle_count);
	FEM_FREE_ARRAY(parts.crossing, count);
	return result;
}
