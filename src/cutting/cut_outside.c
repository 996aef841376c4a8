// Triangles into polygons, one for each cell that a triangle reaches into.
#include "cutting/cut_solid.h"

#include "base/growing.h"
#include "base/memory.h"

#include <string.h>

#define TELL_EVERY 1024 // triangles between two calls of progress; chosen
#define SIDE_MAX 128    // of a polygon: a triangle that so many cells meet in one is refused; chosen

// A polygon within a triangle and a cell as its sides in order: a cell beyond, or -1 - edge of the triangle. Corner n
// is the start of side n, between sides n - 1 and n.
typedef struct Outline {
	int32_t sides[SIDE_MAX], count;
} Outline;

typedef struct Cutter {
	FemCutSolid *solid;
	int32_t *stack, *seen_plus_1; // [cell]
	int32_t triangle;
	const FemCutPoint *points[3];
} Cutter;

static bool keeps_corner(const Cutter *cutter, const Outline *outline, int32_t n, int32_t cell, int32_t other) {
	const FemCutDiagram *d = cutter->solid->diagram;
	int32_t before = outline->sides[(n + outline->count - 1) % outline->count], behind = outline->sides[n];
	if (before < 0 && behind < 0)
		return fem_cut_keeps_point(d, cell, other, cutter->points[-1 - behind]);
	if (before >= 0 && behind >= 0)
		return fem_cut_keeps_triangle_point(d, cell, before, behind, other, cutter->points);
	int32_t edge = -1 - (before < 0 ? before : behind), neighbor = before < 0 ? behind : before;
	return fem_cut_keeps_edge_point(d, cell, neighbor, other, cutter->points[edge], cutter->points[(edge + 1) % 3]);
}

// What is nearer to the cell than to the other. False when nothing is left.
static bool clip(const Cutter *cutter, Outline *outline, int32_t cell, int32_t other) {
	bool keeps[SIDE_MAX];
	Outline kept = {.count = 0};
	int32_t count = outline->count, good = 0;
	for (int32_t n = 0; n < count; n++) {
		keeps[n] = keeps_corner(cutter, outline, n, cell, other);
		good += keeps[n];
	}
	if (good == count || good == 0)
		return good > 0;
	for (int32_t n = 0; n < count; n++) {
		bool starts = keeps[n], ends = keeps[(n + 1) % count];
		if (starts || ends)
			kept.sides[kept.count++] = outline->sides[n];
		if (starts && !ends)
			kept.sides[kept.count++] = other;
		if (kept.count >= SIDE_MAX - 1)
			return false;
	}
	*outline = kept;
	return true;
}

// ---- vertices

static void sort(int32_t *values, int count) {
	for (int n = 1; n < count; n++)
		for (int m = n; m > 0 && values[m - 1] > values[m]; m--) {
			int32_t lower = values[m];
			values[m] = values[m - 1];
			values[m - 1] = lower;
		}
}

static FemVec3d mix(FemVec3d a, FemVec3d b, double share) {
	return fem_vec3d_add(a, fem_vec3d_scale(fem_vec3d_sub(b, a), share));
}

static int32_t edge_vertex(const Cutter *cutter, int32_t cell, int32_t edge, int32_t other) {
	FemCutSolid *solid = cutter->solid;
	int32_t ends[2] = {solid->triangles[cutter->triangle][edge], solid->triangles[cutter->triangle][(edge + 1) % 3]};
	int32_t cells[2] = {cell, other};
	bool is_new;
	sort(ends, 2);
	sort(cells, 2);
	int32_t vertex =
		fem_cut_vertex(solid, FEM_CUT_ON_EDGE, (int32_t[4]){ends[0], ends[1], cells[0], cells[1]}, &is_new);
	if (vertex >= 0 && is_new) {
		double share =
			fem_cut_edge_share(solid->diagram, cells[0], cells[1], &solid->points[ends[0]], &solid->points[ends[1]]);
		solid->vertices[vertex].weights[0] = share;
		solid->vertices[vertex].at = mix(solid->places[ends[0]], solid->places[ends[1]], share);
	}
	return vertex;
}

static int32_t triangle_vertex(const Cutter *cutter, int32_t cell, int32_t one, int32_t two) {
	FemCutSolid *solid = cutter->solid;
	int32_t cells[3] = {cell, one, two};
	bool is_new;
	sort(cells, 3);
	int32_t vertex = fem_cut_vertex(
		solid, FEM_CUT_ON_TRIANGLE, (int32_t[4]){cutter->triangle, cells[0], cells[1], cells[2]}, &is_new);
	if (vertex >= 0 && is_new) {
		FemCutVertex *out = &solid->vertices[vertex];
		fem_cut_triangle_weights(solid->diagram, cells[0], cells[1], cells[2], cutter->points, out->weights);
		out->at = (FemVec3d){0};
		for (int v = 0; v < 3; v++)
			out->at = fem_vec3d_add(
				out->at, fem_vec3d_scale(solid->places[solid->triangles[cutter->triangle][v]], out->weights[v]));
	}
	return vertex;
}

static int32_t vertex_of(const Cutter *cutter, const Outline *outline, int32_t cell, int32_t n) {
	int32_t before = outline->sides[(n + outline->count - 1) % outline->count], behind = outline->sides[n];
	if (before < 0 && behind < 0)
		return cutter->solid->triangles[cutter->triangle][-1 - behind];
	if (before >= 0 && behind >= 0)
		return triangle_vertex(cutter, cell, before, behind);
	return edge_vertex(cutter, cell, -1 - (before < 0 ? before : behind), before < 0 ? behind : before);
}

// ---- results

static int32_t neighbor_place(const FemCutDiagram *d, int32_t cell, int32_t other) {
	int32_t low = d->start[cell], high = d->start[cell + 1];
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (d->neighbors[middle] < other)
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->start[cell + 1] && d->neighbors[low] == other ? low : -1;
}

// The face closes the lower cell: it runs against the sense of the polygon there.
static void add_segment(FemCutSolid *solid, int32_t triangle, int32_t cell, int32_t other, int32_t start, int32_t end) {
	int32_t place = neighbor_place(solid->diagram, cell, other);
	if (place < 0 || !FEM_GROW(solid->segments, solid->segment_count, &solid->segment_capacity)) {
		solid->failed = true;
		return;
	}
	solid->segments[solid->segment_count] = (FemCutSegment){triangle, end, start, solid->face_segments[place]};
	solid->face_segments[place] = ++solid->segment_count;
}

static void add_polygon(Cutter *cutter, const Outline *outline, int32_t cell) {
	FemCutSolid *solid = cutter->solid;
	const FemCutDiagram *d = solid->diagram;
	int32_t first = solid->corner_count;
	if (!FEM_GROW(solid->polygons, solid->polygon_count, &solid->polygon_capacity)) {
		solid->failed = true;
		return;
	}
	solid->polygons[solid->polygon_count++] = (FemCutPolygon){cutter->triangle, cell, first, outline->count};
	for (int32_t n = 0; n < outline->count && !solid->failed; n++) {
		int32_t vertex = vertex_of(cutter, outline, cell, n);
		if (vertex < 0 || !FEM_GROW(solid->corners, solid->corner_count, &solid->corner_capacity) ||
			!FEM_GROW(solid->sides, solid->corner_count, &solid->side_capacity)) {
			solid->failed = true;
			return;
		}
		solid->corners[solid->corner_count] = vertex;
		solid->sides[solid->corner_count++] = outline->sides[n];
	}
	for (int32_t n = 0; n < outline->count && !solid->failed; n++) {
		int32_t other = outline->sides[n];
		if (other > cell && d->cells[other].splinter != d->cells[cell].splinter)
			add_segment(solid, cutter->triangle, cell, other, solid->corners[first + n],
				solid->corners[first + (n + 1) % outline->count]);
	}
}

// Cells are found from one to the next across the sides of polygons.
static void cut_triangle(Cutter *cutter, int32_t first_cell) {
	FemCutSolid *solid = cutter->solid;
	const FemCutDiagram *d = solid->diagram;
	int32_t depth = 0, mark = cutter->triangle + 1;
	cutter->stack[depth++] = first_cell;
	cutter->seen_plus_1[first_cell] = mark;
	while (depth > 0 && !solid->failed) {
		int32_t cell = cutter->stack[--depth];
		Outline outline = {{-1, -2, -3}, 3};
		bool any = true;
		for (int32_t n = d->start[cell]; n < d->start[cell + 1] && any; n++)
			any = clip(cutter, &outline, cell, d->neighbors[n]);
		if (!any)
			continue;
		add_polygon(cutter, &outline, cell);
		for (int32_t n = 0; n < outline.count; n++) {
			int32_t other = outline.sides[n];
			if (other >= 0 && cutter->seen_plus_1[other] != mark) {
				cutter->seen_plus_1[other] = mark;
				cutter->stack[depth++] = other;
			}
		}
	}
}

static void cut_all(Cutter *cutter, int32_t *cells) {
	FemCutSolid *solid = cutter->solid;
	int32_t cell = solid->diagram->first_cell;
	for (int32_t v = 0; v < solid->mesh_vertex_count && !solid->failed; v++) {
		bool is_new;
		cell = cells[v] = fem_cut_find_cell(solid->diagram, cell, &solid->points[v]);
		int32_t vertex = fem_cut_vertex(solid, FEM_CUT_MESH_VERTEX, (int32_t[4]){v, 0, 0, 0}, &is_new);
		if (vertex == v)
			solid->vertices[v].at = solid->places[v];
	}
	for (int32_t t = 0; t < solid->triangle_count && !solid->failed && !solid->is_stopped; t++) {
		const int32_t *corners = solid->triangles[t];
		cutter->triangle = t;
		for (int v = 0; v < 3; v++)
			cutter->points[v] = &solid->points[corners[v]];
		if (cells[corners[0]] == cells[corners[1]] && cells[corners[1]] == cells[corners[2]])
			add_polygon(cutter, &(Outline){{-1, -2, -3}, 3}, cells[corners[0]]); // a cell is convex
		else
			cut_triangle(cutter, cells[corners[0]]);
		if (t % TELL_EVERY == 0 && solid->progress)
			solid->is_stopped = !solid->progress(
				solid->progress_context, FEM_CUT_OUTSIDE_SHARE * (float)t / (float)solid->triangle_count);
	}
}

void fem_cut_solid_outside(FemCutSolid *solid) {
	const FemCutDiagram *d = solid->diagram;
	Cutter cutter = {.solid = solid,
		.stack = FEM_ALLOC_ARRAY(int32_t, d->cell_count),
		.seen_plus_1 = FEM_ALLOC_ARRAY(int32_t, d->cell_count)};
	int32_t *cells = FEM_ALLOC_ARRAY(int32_t, solid->mesh_vertex_count);
	solid->face_segment_count = d->neighbor_count;
	solid->face_segments = FEM_ALLOC_ARRAY(int32_t, solid->face_segment_count);
	if (cutter.stack && cutter.seen_plus_1 && cells && solid->face_segments)
		cut_all(&cutter, cells);
	else
		solid->failed = true;
	FEM_FREE_ARRAY(cutter.stack, d->cell_count);
	FEM_FREE_ARRAY(cutter.seen_plus_1, d->cell_count);
	FEM_FREE_ARRAY(cells, solid->mesh_vertex_count);
}
