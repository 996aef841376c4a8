#include "filling/soup_members.h"

#include "base/error.h"
#include "base/memory.h"
#include "filling/soup_topology.h"
#include "geometry/winding.h"

#include <stdlib.h>

#define FULL_SOLID_ANGLE 12.566370614359172 // of a whole sphere: 4 pi
#define OPEN_COMPONENTS_MAX 64              // open components: more are what is left of one surface; chosen

typedef struct ComponentBox {
	int32_t component;
	float lo[3], hi[3];
	FemVec3 sample; // one of its vertices
} ComponentBox;

typedef struct Members {
	FemTriangles *triangles;
	const uint8_t *closed;
	ComponentBox *boxes; // [component], by lo[0]
	int32_t *parents;    // [component], union-find
	int32_t *start;      // [component + 1], into list
	int32_t *list;       // [triangle]: the triangles of each component, until the tree orders them anew
	uint8_t *crossing;   // [component]: its box overlaps another closed component's
} Members;

static void measure_boxes(Members *members) {
	const FemTriangles *triangles = members->triangles;
	for (int32_t c = 0; c < triangles->component_count; c++)
		members->boxes[c] = (ComponentBox){c, {4, 4, 4}, {-4, -4, -4}, {0, 0, 0}};
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		ComponentBox *box = &members->boxes[triangles->components[t]];
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
	const ComponentBox *a = left, *b = right;
	if (a->lo[0] != b->lo[0])
		return a->lo[0] < b->lo[0] ? -1 : 1;
	return a->component < b->component ? -1 : 1;
}

static bool boxes_overlap(const ComponentBox *a, const ComponentBox *b) {
	for (int axis = 0; axis < 3; axis++) {
		if (a->lo[axis] > b->hi[axis] || b->lo[axis] > a->hi[axis])
			return false;
	}
	return true;
}

// Solid angles of one component alone: exact sum, used for few points.
static double winding_of_component(const Members *members, int32_t component, FemVec3d p) {
	const FemTriangles *triangles = members->triangles;
	double sum = 0.0;
	for (int32_t i = members->start[component]; i < members->start[component + 1]; i++)
		sum += fem_solid_angle(triangles, members->list[i], p);
	return sum / FULL_SOLID_ANGLE;
}

static bool lies_in(const Members *members, const ComponentBox *inner, const ComponentBox *outer) {
	for (int axis = 0; axis < 3; axis++) {
		if (inner->lo[axis] < outer->lo[axis] || inner->hi[axis] > outer->hi[axis])
			return false;
	}
	return fabs(winding_of_component(members, outer->component, fem_vec3d_from(inner->sample))) > 0.5;
}

static void compare_pair(Members *members, const ComponentBox *a, const ComponentBox *b) {
	if (!boxes_overlap(a, b))
		return;
	bool join = !members->closed[a->component] || !members->closed[b->component] || lies_in(members, a, b) ||
		lies_in(members, b, a);
	if (join)
		fem_union_join(members->parents, a->component, b->component);
	else
		members->crossing[a->component] = members->crossing[b->component] = 1;
}

static void list_triangles(Members *members) {
	const FemTriangles *triangles = members->triangles;
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		members->start[triangles->components[t] + 1]++;
	for (int32_t c = 0; c < triangles->component_count; c++)
		members->start[c + 1] += members->start[c];
	for (int32_t t = 0; t < triangles->triangle_count; t++)
		members->list[members->start[triangles->components[t]]++] = t;
	for (int32_t c = triangles->component_count; c > 0; c--)
		members->start[c] = members->start[c - 1];
	members->start[0] = 0;
}

// Many open components are what is left of one surface.
static void join_open_components(Members *members) {
	int32_t first = -1, open = 0, count = members->triangles->component_count;
	for (int32_t c = 0; c < count; c++)
		open += !members->closed[c];
	for (int32_t c = 0; c < count && open > OPEN_COMPONENTS_MAX; c++) {
		if (members->closed[c])
			continue;
		first = first < 0 ? c : first;
		fem_union_join(members->parents, first, c);
	}
}

static void compare_boxes(Members *members) {
	int32_t count = members->triangles->component_count;
	list_triangles(members);
	join_open_components(members);
	measure_boxes(members);
	qsort(members->boxes, (size_t)count, sizeof *members->boxes, by_left_side);
	for (int32_t i = 0; i < count; i++) {
		for (int32_t j = i + 1; j < count && members->boxes[j].lo[0] <= members->boxes[i].hi[0]; j++) {
			if (fem_union_find(members->parents, members->boxes[i].component) !=
				fem_union_find(members->parents, members->boxes[j].component))
				compare_pair(members, &members->boxes[i], &members->boxes[j]);
		}
	}
}

// Edges of components whose boxes overlap, against all triangles.
static FemResult join_crossing(Members *members) {
	FemTriangles *triangles = members->triangles;
	FemTriangleBvh bvh;
	FemResult result = fem_triangle_bvh_create(&bvh, triangles);
	for (int32_t t = 0; result == FEM_OK && t < triangles->triangle_count; t++) {
		if (!members->crossing[triangles->components[t]])
			continue;
		for (int v = 0; v < 3; v++) {
			FemCrossing crossings[FEM_CROSSING_MAX];
			int32_t count = fem_bvh_crossings(&bvh, fem_triangle_corner(triangles, t, v),
				fem_triangle_corner(triangles, t, (v + 1) % 3), 0.0, crossings);
			for (int32_t i = 0; i < count; i++)
				fem_union_join(
					members->parents, triangles->components[t], triangles->components[crossings[i].triangle]);
		}
	}
	fem_triangle_bvh_free(&bvh);
	return result;
}

static FemResult find_members(Members *members) {
	bool any = false;
	int32_t count = members->triangles->component_count;
	for (int32_t c = 0; c < count; c++)
		members->parents[c] = c;
	compare_boxes(members);
	for (int32_t c = 0; c < count; c++)
		any = any || members->crossing[c];
	return any ? join_crossing(members) : FEM_OK;
}

// Roots are the lowest of their set, so a component's root is numbered before it.
static int32_t number_groups(const Members *members, int32_t *out_groups) {
	int32_t *numbers = (int32_t *)(void *)members->boxes, found = 0; // the boxes are done with
	for (int32_t c = 0; c < members->triangles->component_count; c++) {
		int32_t root = fem_union_find(members->parents, c);
		numbers[c] = root == c ? found++ : numbers[root];
	}
	for (int32_t t = 0; t < members->triangles->triangle_count; t++)
		out_groups[t] = numbers[members->triangles->components[t]];
	return found;
}

FemResult fem_soup_members(FemTriangles *triangles, const uint8_t *closed, int32_t *out_groups, int32_t *out_count) {
	int32_t count = triangles->component_count;
	*out_count = 1;
	if (count == 1 || count > FEM_SOUP_COMPONENT_MAX) {
		for (int32_t t = 0; t < triangles->triangle_count; t++)
			out_groups[t] = 0;
		return FEM_OK;
	}
	Members members = {triangles, closed, FEM_ALLOC_ARRAY(ComponentBox, count), FEM_ALLOC_ARRAY(int32_t, count),
		FEM_ALLOC_ARRAY(int32_t, count + 1), FEM_ALLOC_ARRAY(int32_t, triangles->triangle_count),
		FEM_ALLOC_ARRAY(uint8_t, count)};
	bool ready = members.boxes && members.parents && members.start && members.list && members.crossing;
	FemResult result = ready
		? find_members(&members)
		: fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d pieces: join them first.", count);
	if (result == FEM_OK)
		*out_count = number_groups(&members, out_groups);
	FEM_FREE_ARRAY(members.boxes, count);
	FEM_FREE_ARRAY(members.parents, count);
	FEM_FREE_ARRAY(members.start, count + 1);
	FEM_FREE_ARRAY(members.list, triangles->triangle_count);
	FEM_FREE_ARRAY(members.crossing, count);
	return result;
}
