#include "filling/soup_topology.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// Closed components compared pair by pair; a mesh of more keeps the orientation of its triangles. Chosen.
#define NESTING_MAX 2048

int32_t fem_union_find(int32_t *parents, int32_t item) {
	while (parents[item] != item) {
		parents[item] = parents[parents[item]];
		item = parents[item];
	}
	return item;
}

void fem_union_join(int32_t *parents, int32_t a, int32_t b) {
	a = fem_union_find(parents, a);
	b = fem_union_find(parents, b);
	if (a < b)
		parents[b] = a;
	else
		parents[a] = b;
}

static FemResult no_memory(const FemTriangles *triangles) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for %d triangles: reduce the mesh first.",
		triangles->triangle_count);
}

// ---- components

static void number_components(FemTriangles *triangles, int32_t *parents) {
	for (int32_t i = 0; i < triangles->vertex_count; i++)
		parents[i] = i;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		fem_union_join(parents, triangles->triangles[t][0], triangles->triangles[t][1]);
		fem_union_join(parents, triangles->triangles[t][0], triangles->triangles[t][2]);
	}
	for (int32_t i = 0; i < triangles->vertex_count; i++)
		parents[i] = fem_union_find(parents, i);
	// Roots are the lowest of their set: from here on a root holds -1 - its number.
	triangles->component_count = 0;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		int32_t v = triangles->triangles[t][0], root = parents[v] < 0 ? v : parents[v];
		if (parents[root] >= 0)
			parents[root] = -1 - triangles->component_count++;
		triangles->components[t] = -1 - parents[root];
	}
}

FemResult fem_soup_components(FemTriangles *triangles) {
	triangles->components = FEM_ALLOC_ARRAY(int32_t, triangles->triangle_capacity);
	int32_t *parents = FEM_ALLOC_ARRAY(int32_t, triangles->vertex_count);
	bool ready = triangles->components && parents;
	if (ready)
		number_components(triangles, parents);
	FEM_FREE_ARRAY(parents, triangles->vertex_count);
	return ready ? FEM_OK : no_memory(triangles);
}

// ---- edges

// Half edges (triangle * 3 + corner: from that corner to the next) in buckets of their lower vertex, and twins.
typedef struct Edges {
	FemTriangles *triangles;
	int32_t *start; // [vertex + 1]
	int32_t *list;  // [3 triangles]
	int32_t *twin;  // [3 triangles]: -1 open, -2 non-manifold; later the flood's stack
	FemSoupEdges found;
	uint8_t *open_of_component; // [component]
} Edges;

static void half_edge_ends(const FemTriangles *triangles, int32_t half, int32_t out[2]) {
	const int32_t *corners = triangles->triangles[half / 3];
	out[0] = corners[half % 3];
	out[1] = corners[half % 3 == 2 ? 0 : half % 3 + 1];
}

static int32_t lower_end(const FemTriangles *triangles, int32_t half) {
	int32_t ends[2];
	half_edge_ends(triangles, half, ends);
	return ends[0] < ends[1] ? ends[0] : ends[1];
}

static int32_t upper_end(const FemTriangles *triangles, int32_t half) {
	int32_t ends[2];
	half_edge_ends(triangles, half, ends);
	return ends[0] < ends[1] ? ends[1] : ends[0];
}

static void fill_buckets(Edges *edges) {
	const FemTriangles *triangles = edges->triangles;
	int32_t half_count = 3 * triangles->triangle_count;
	for (int32_t h = 0; h < half_count; h++)
		edges->start[lower_end(triangles, h) + 1]++;
	for (int32_t v = 0; v < triangles->vertex_count; v++)
		edges->start[v + 1] += edges->start[v];
	for (int32_t h = 0; h < half_count; h++)
		edges->list[edges->start[lower_end(triangles, h)]++] = h;
	for (int32_t v = triangles->vertex_count; v > 0; v--)
		edges->start[v] = edges->start[v - 1];
	edges->start[0] = 0;
}

// A bucket in the order of the upper ends; insertion, since a vertex has few edges, qsort-like worst cases being rare.
static void sort_bucket(const FemTriangles *triangles, int32_t *bucket, int32_t count) {
	for (int32_t gap = count / 2; gap > 0; gap /= 2)
		for (int32_t i = gap; i < count; i++) {
			int32_t h = bucket[i], key = upper_end(triangles, h), j = i;
			for (; j >= gap &&
				 (upper_end(triangles, bucket[j - gap]) > key ||
					 (upper_end(triangles, bucket[j - gap]) == key && bucket[j - gap] > h));
				 j -= gap)
				bucket[j] = bucket[j - gap];
			bucket[j] = h;
		}
}

static void pair_run(Edges *edges, const int32_t *run, int32_t count) {
	for (int32_t i = 0; i < count; i++)
		edges->twin[run[i]] = count == 2 ? run[1 - i] : count == 1 ? -1 : -2;
	if (count == 1) {
		edges->found.open++;
		edges->open_of_component[edges->triangles->components[run[0] / 3]] = 1;
	} else if (count > 2) {
		edges->found.non_manifold++;
	}
}

static void pair_edges(Edges *edges) {
	fill_buckets(edges);
	for (int32_t v = 0; v < edges->triangles->vertex_count; v++) {
		int32_t *bucket = edges->list + edges->start[v], count = edges->start[v + 1] - edges->start[v];
		sort_bucket(edges->triangles, bucket, count);
		for (int32_t i = 0, next; i < count; i = next) {
			int32_t end = upper_end(edges->triangles, bucket[i]);
			for (next = i + 1; next < count && upper_end(edges->triangles, bucket[next]) == end;)
				next++;
			pair_run(edges, bucket + i, next - i);
		}
	}
}

// ---- orientation

enum { UNSEEN, KEPT, FLIPPED };

static bool has_same_direction(const FemTriangles *triangles, int32_t a, int32_t b) {
	int32_t ends_a[2], ends_b[2];
	half_edge_ends(triangles, a, ends_a);
	half_edge_ends(triangles, b, ends_b);
	return ends_a[0] == ends_b[0];
}

static void flip_triangle(FemTriangles *triangles, int32_t t) {
	int32_t second = triangles->triangles[t][1];
	triangles->triangles[t][1] = triangles->triangles[t][2];
	triangles->triangles[t][2] = second;
}

// Floods one patch; `list` serves as the queue. Marks what must be flipped for the patch to agree with its first
// triangle.
static int32_t flood_patch(const Edges *edges, int32_t first, uint8_t *marks, double out_area[2]) {
	const FemTriangles *triangles = edges->triangles;
	int32_t *queue = edges->list, count = 1;
	queue[0] = first;
	marks[first] = KEPT;
	out_area[0] = out_area[1] = 0.0;
	for (int32_t at = 0; at < count; at++) {
		int32_t t = queue[at];
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		out_area[marks[t] == FLIPPED] += sqrt(fem_vec3d_dot(n, n));
		for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
			int32_t twin = edges->twin[h];
			if (twin < 0 || marks[twin / 3] != UNSEEN)
				continue;
			bool same_as_mine = !has_same_direction(triangles, h, twin);
			marks[twin / 3] = (marks[t] == KEPT) == same_as_mine ? KEPT : FLIPPED;
			queue[count++] = twin / 3;
		}
	}
	return count;
}

static void agree(Edges *edges, uint8_t *marks) {
	for (int32_t first = 0; first < edges->triangles->triangle_count; first++) {
		if (marks[first] != UNSEEN)
			continue;
		double area[2];
		int32_t count = flood_patch(edges, first, marks, area);
		uint8_t minority = area[1] > area[0] ? KEPT : FLIPPED;
		for (int32_t at = 0; at < count; at++) {
			if (marks[edges->list[at]] == minority)
				edges->found.flipped++;
			marks[edges->list[at]] = marks[edges->list[at]] == minority ? FLIPPED : KEPT;
		}
	}
	// Only now: the flood reads the directions of half edges.
	for (int32_t t = 0; t < edges->triangles->triangle_count; t++) {
		if (marks[t] == FLIPPED)
			flip_triangle(edges->triangles, t);
	}
}

// ---- inside out

typedef struct SurfaceComponent {
	int32_t component, parent; // the smallest closed component whose box holds this one's; -1 none
	bool flip;
	double lo[3], hi[3], volume, box;
} SurfaceComponent;

static void measure_surfaces(const FemTriangles *triangles, SurfaceComponent *surfaces) {
	for (int32_t c = 0; c < triangles->component_count; c++)
		surfaces[c] = (SurfaceComponent){c, -1, false, {2, 2, 2}, {-2, -2, -2}, 0.0, 0.0};
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		SurfaceComponent *surface = &surfaces[triangles->components[t]];
		for (int v = 0; v < 3; v++) {
			FemVec3d p = fem_triangle_corner(triangles, t, v);
			double at[3] = {p.x, p.y, p.z};
			for (int axis = 0; axis < 3; axis++) {
				surface->lo[axis] = fmin(surface->lo[axis], at[axis]);
				surface->hi[axis] = fmax(surface->hi[axis], at[axis]);
			}
		}
		surface->volume +=
			fem_vec3d_dot(fem_triangle_corner(triangles, t, 0), fem_triangle_area_vector(triangles, t)) / 3.0;
	}
	for (int32_t c = 0; c < triangles->component_count; c++)
		surfaces[c].box = (surfaces[c].hi[0] - surfaces[c].lo[0]) * (surfaces[c].hi[1] - surfaces[c].lo[1]) *
			(surfaces[c].hi[2] - surfaces[c].lo[2]);
}

static bool box_holds(const SurfaceComponent *outer, const SurfaceComponent *inner) {
	for (int axis = 0; axis < 3; axis++) {
		if (inner->lo[axis] <= outer->lo[axis] || inner->hi[axis] >= outer->hi[axis])
			return false;
	}
	return true;
}

static int by_box_descending(const void *left, const void *right) {
	const SurfaceComponent *a = left, *b = right;
	if (a->box != b->box)
		return a->box > b->box ? -1 : 1;
	return a->component < b->component ? -1 : 1;
}

// Components sorted from large to small: a parent's decision is made before its children's.
static void decide_flips(SurfaceComponent *surfaces, int32_t count, const uint8_t *open_of_component) {
	qsort(surfaces, (size_t)count, sizeof *surfaces, by_box_descending);
	for (int32_t i = 0; i < count; i++) {
		if (open_of_component[surfaces[i].component])
			continue;
		for (int32_t j = i - 1; j >= 0 && surfaces[i].parent < 0; j--) {
			if (!open_of_component[surfaces[j].component] && box_holds(&surfaces[j], &surfaces[i]))
				surfaces[i].parent = j;
		}
		surfaces[i].flip = surfaces[i].parent >= 0 ? surfaces[surfaces[i].parent].flip : surfaces[i].volume < 0.0;
	}
}

static bool flip_inside_out(FemTriangles *triangles, const uint8_t *open_of_component, int32_t *io_flipped) {
	int32_t count = triangles->component_count;
	if (count > NESTING_MAX)
		return true;
	SurfaceComponent *surfaces = FEM_ALLOC_ARRAY(SurfaceComponent, count);
	uint8_t *flip = FEM_ALLOC_ARRAY(uint8_t, count);
	if (surfaces && flip) {
		measure_surfaces(triangles, surfaces);
		decide_flips(surfaces, count, open_of_component);
		for (int32_t i = 0; i < count; i++)
			flip[surfaces[i].component] = surfaces[i].flip;
		for (int32_t t = 0; t < triangles->triangle_count; t++) {
			if (!flip[triangles->components[t]])
				continue;
			flip_triangle(triangles, t);
			++*io_flipped;
		}
	}
	bool done = surfaces && flip;
	FEM_FREE_ARRAY(surfaces, count);
	FEM_FREE_ARRAY(flip, count);
	return done;
}

FemResult fem_soup_orient(FemTriangles *triangles, FemSoupEdges *out_edges, uint8_t *closed_of_component) {
	int32_t half_count = 3 * triangles->triangle_count;
	Edges edges = {.triangles = triangles};
	edges.start = FEM_ALLOC_ARRAY(int32_t, triangles->vertex_count + 1);
	edges.list = FEM_ALLOC_ARRAY(int32_t, half_count);
	edges.twin = FEM_ALLOC_ARRAY(int32_t, half_count);
	edges.open_of_component = FEM_ALLOC_ARRAY(uint8_t, triangles->component_count);
	uint8_t *marks = FEM_ALLOC_ARRAY(uint8_t, triangles->triangle_count);
	bool ready = edges.start && edges.list && edges.twin && edges.open_of_component && marks;
	if (ready) {
		pair_edges(&edges);
		agree(&edges, marks);
	}
	FEM_FREE_ARRAY(marks, triangles->triangle_count);
	FEM_FREE_ARRAY(edges.twin, half_count);
	FEM_FREE_ARRAY(edges.list, half_count);
	FEM_FREE_ARRAY(edges.start, triangles->vertex_count + 1);
	ready = ready && flip_inside_out(triangles, edges.open_of_component, &edges.found.flipped);
	for (int32_t c = 0; ready && closed_of_component && c < triangles->component_count; c++)
		closed_of_component[c] = !edges.open_of_component[c];
	FEM_FREE_ARRAY(edges.open_of_component, triangles->component_count);
	*out_edges = edges.found;
	return ready ? FEM_OK : no_memory(triangles);
}
