// Faces between cells: the part of each border polygon that lies within the
// mesh, as loops, then as triangles.
#include "base/growing.h"
#include "base/memory.h"
#include "cutting/cut_border.h"
#include "cutting/cut_shells.h"

#include <stdlib.h>

#define ROW_SHARE 0.87 // rows of points over points in a row, in a lattice of equal triangles: sqrt(3) / 2
#define QUARTER 0.25   // of the spacing, by which rows of points are shifted, even and odd ones in opposite directions
#define POINT_GAP 0.55 // of the spacing: nearest that a point of the lattice comes to one of the outline; chosen
#define EDGE_GAP 0.2   // of the spacing: nearest that it comes to an edge; chosen
#define INNER_MAX 48   // points added within a face; chosen by eye

// ---- loops

static void add_link(FemCutBorder *border, int32_t triangle, int32_t third, int32_t from, int32_t to) {
	int32_t added[FEM_CUT_ADDED_MAX], cells[3] = {border->cell, border->other, third};
	int32_t count = fem_cut_added(border->solid, triangle, from, to, cells, added);
	for (int32_t n = 0; n <= count; n++) {
		if (!FEM_GROW(border->links, border->link_count, &border->link_capacity)) {
			border->solid->failed = true;
			return;
		}
		border->links[border->link_count] =
			(FemCutLink){n > 0 ? added[n - 1] : from, n < count ? added[n] : to, border->link_count, false};
		border->link_count++;
	}
}

static int32_t corner_vertex(FemCutBorder *border, int32_t n) {
	n %= border->count;
	int32_t cells[4] = {
		border->cell, border->other, border->sides[(n + border->count - 1) % border->count], border->sides[n]};
	bool is_new;
	for (int a = 1; a < 4; a++)
		for (int b = a; b > 0 && cells[b - 1] > cells[b]; b--) {
			int32_t lower = cells[b];
			cells[b] = cells[b - 1];
			cells[b - 1] = lower;
		}
	int32_t vertex = fem_cut_vertex(border->solid, FEM_CUT_CORNER, cells, &is_new);
	if (vertex >= 0 && is_new)
		// The last is a cell; the first may be sides of the box.
		border->solid->vertices[vertex].at =
			fem_cut_corner_at(border->solid->diagram, cells[3], cells[0], cells[1], cells[2]);
	return vertex;
}

// The parts of the polygon's sides that lie inside.
static void link_sides(FemCutBorder *border) {
	FemCutSolid *solid = border->solid;
	int32_t at = 0;
	for (int32_t side = 0; side < border->count && !solid->failed; side++) {
		int32_t open = border->inside[side] > 0 ? corner_vertex(border, side) : -1;
		for (; at < border->crossing_count && border->crossings[at].side == side; at++) {
			const FemCutCrossing *crossing = &border->crossings[at];
			if (crossing->enters)
				open = crossing->vertex;
			else if (open >= 0) {
				add_link(border, -1, border->sides[side], open, crossing->vertex);
				open = -1;
			}
		}
		if (open >= 0)
			add_link(border, -1, border->sides[side], open, corner_vertex(border, side + 1));
	}
}

static void open_side(FemCutBorder *border, int32_t vertex) {
	if (FEM_GROW(border->open, border->open_count, &border->open_capacity))
		border->open[border->open_count++] = vertex;
	else
		border->solid->failed = true;
}

// From the last vertex at which a part of the side was begun; backward where the mesh goes round it the other way.
static void close_side(FemCutBorder *border, int32_t side, int32_t vertex, bool is_backward) {
	int32_t begun = border->open[--border->open_count];
	add_link(border, -1, border->sides[side], is_backward ? vertex : begun, is_backward ? begun : vertex);
}

// The same as link_sides() where the mesh goes round places several times, or the other way: a side is linked once for
// each winding. What was begun last ends first, so that all borders at a line have the same links.
static void link_counted_sides(FemCutBorder *border) {
	FemCutSolid *solid = border->solid;
	int32_t at = 0;
	for (int32_t side = 0; side < border->count && !solid->failed; side++) {
		int32_t winding = border->windings[side];
		border->open_count = 0;
		for (int32_t n = 0; n < abs(winding) && !solid->failed; n++)
			open_side(border, corner_vertex(border, side));
		for (; at < border->crossing_count && border->crossings[at].side == side && !solid->failed; at++) {
			int32_t step = border->crossings[at].enters ? 1 : -1;
			if (winding * step >= 0)
				open_side(border, border->crossings[at].vertex);
			else
				close_side(border, side, border->crossings[at].vertex, winding < 0);
			winding += step;
		}
		while (border->open_count > 0 && !solid->failed)
			close_side(border, side, corner_vertex(border, side + 1), winding < 0);
	}
}

static int compare_links(const void *a, const void *b) {
	const FemCutLink *p = a, *q = b;
	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return (p->number > q->number) - (p->number < q->number);
}

static FemCutLink *find_link(FemCutBorder *border, int32_t from) {
	int32_t low = 0, high = border->link_count;
	while (low < high) {
		int32_t middle = low + (high - low) / 2;
		if (border->links[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < border->link_count && border->links[low].from == from; low++)
		if (!border->links[low].is_used)
			return &border->links[low];
	return NULL;
}

static void add_loop_point(FemCutBorder *border, int32_t vertex) {
	FemVec3d at = fem_vec3d_sub(border->solid->vertices[vertex].at, border->corners[0]);
	int32_t point =
		fem_loop_mesh_add_point(&border->loops, fem_vec3d_dot(at, border->axes[0]), fem_vec3d_dot(at, border->axes[1]));
	fem_loop_mesh_add_index(&border->loops, point);
	if (!FEM_GROW(border->loop_vertices, border->loop_vertex_count, &border->loop_vertex_capacity)) {
		border->solid->failed = true;
		return;
	}
	border->loop_vertices[border->loop_vertex_count++] = vertex;
}

static void trace_loops(FemCutBorder *border) {
	FemCutSolid *solid = border->solid;
	qsort(border->links, (size_t)border->link_count, sizeof *border->links, compare_links);
	for (int32_t n = 0; n < border->link_count && !solid->failed; n++) {
		int32_t start = border->links[n].from;
		FemCutLink *link = border->links[n].is_used ? NULL : &border->links[n];
		if (!link)
			continue;
		for (;;) {
			link->is_used = true;
			add_loop_point(border, link->from);
			if (link->to == start)
				break;
			link = find_link(border, link->to);
			if (!link) {
				solid->fault = fem_cut_not_closed;
				return;
			}
		}
		fem_loop_mesh_end_loop(&border->loops);
	}
}

// ---- triangles

static int32_t add_inner_vertex(FemCutBorder *border, int32_t number, const double at[2]) {
	FemCutSolid *solid = border->solid;
	bool is_new;
	int32_t vertex = fem_cut_vertex(
		solid, FEM_CUT_ADDED_INSIDE, (int32_t[4]){-2 - number, border->cell, border->other, border->shell}, &is_new);
	if (vertex < 0)
		return -1;
	FemVec3d p = border->corners[0];
	p = fem_vec3d_add(p, fem_vec3d_scale(border->axes[0], at[0]));
	p = fem_vec3d_add(p, fem_vec3d_scale(border->axes[1], at[1]));
	double limit = fem_cut_noise_limit(solid, (int32_t[3]){border->cell, border->other, -1}, solid->noise.amplitude);
	double height = fem_cut_noise_depth(solid, p, limit) * fem_cut_noise(&solid->noise, p, 4);
	solid->vertices[vertex].at = fem_vec3d_add(p, fem_vec3d_scale(border->axes[2], height));
	return vertex;
}

// Points on a grid of equal triangles, where they are not too near to others.
static void roughen(FemCutBorder *border) {
	FemLoopMesh *loops = &border->loops;
	double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL}, spacing = border->solid->noise.spacing;
	int32_t boundary = loops->point_count, added = 0;
	if (!(spacing > 0.0))
		return;
	for (int32_t n = 0; n < boundary; n++)
		for (int axis = 0; axis < 2; axis++) {
			low[axis] = fmin(low[axis], loops->points[n][axis]);
			high[axis] = fmax(high[axis], loops->points[n][axis]);
		}
	spacing = fmax(spacing, sqrt((high[0] - low[0]) * (high[1] - low[1]) / INNER_MAX));
	int32_t rows = (int32_t)((high[1] - low[1]) / (ROW_SHARE * spacing)),
			columns = (int32_t)((high[0] - low[0]) / spacing);
	for (int32_t row = 0; row <= rows; row++)
		for (int32_t column = 0; column <= columns && added < INNER_MAX; column++) {
			double x = low[0] + spacing * (column + (row % 2 ? 0.5 + QUARTER : QUARTER)),
				   y = low[1] + ROW_SHARE * spacing * (row + 0.5);
			bool near = false;
			for (int32_t n = 0; n < boundary && !near; n++)
				near = hypot(loops->points[n][0] - x, loops->points[n][1] - y) < POINT_GAP * spacing;
			if (!near && fem_loop_mesh_insert(loops, x, y, EDGE_GAP * spacing))
				added++;
		}
	if (added > 0)
		fem_loop_mesh_improve(loops);
	for (int32_t n = 0; n < added; n++) {
		int32_t vertex = add_inner_vertex(border, n, loops->points[boundary + n]);
		if (vertex < 0 || !FEM_GROW(border->loop_vertices, border->loop_vertex_count, &border->loop_vertex_capacity)) {
			border->solid->failed = true;
			return;
		}
		border->loop_vertices[border->loop_vertex_count++] = vertex;
	}
}

static void store_triangles(FemCutBorder *border, int32_t *out_first, int32_t *out_count) {
	FemCutSolid *solid = border->solid;
	const FemLoopMesh *loops = &border->loops;
	*out_first = solid->face_triangle_count;
	*out_count = loops->triangle_count;
	for (int32_t t = 0; t < loops->triangle_count; t++) {
		if (!FEM_GROW(solid->face_triangles, solid->face_triangle_count, &solid->face_triangle_capacity)) {
			solid->failed = true;
			return;
		}
		int32_t *out = solid->face_triangles[solid->face_triangle_count++];
		for (int v = 0; v < 3; v++)
			out[v] = border->loop_vertices[loops->triangles[t][v]];
	}
}

// Loops without what roughness added to them.
static void smoothen(FemCutBorder *border) {
	FemLoopMesh *loops = &border->loops;
	bool *keeps = FEM_ALLOC_ARRAY(bool, loops->point_count);
	if (!keeps) {
		border->solid->failed = true;
		return;
	}
	for (int32_t n = 0; n < loops->point_count; n++)
		keeps[n] = border->solid->vertices[border->loop_vertices[n]].kind < FEM_CUT_ADDED_OUTSIDE;
	fem_loop_mesh_thin(loops, keeps);
	fem_loop_mesh_fill(loops);
	FEM_FREE_ARRAY(keeps, loops->point_count);
}

static void store_face(FemCutBorder *border) {
	FemCutSolid *solid = border->solid;
	FemCutFace face = {.cells = {border->cell, border->other}};
	if (border->loops.triangle_count == 0)
		return;
	if (!FEM_GROW(solid->faces, solid->face_count, &solid->face_capacity)) {
		solid->failed = true;
		return;
	}
	store_triangles(border, &face.first_triangle, &face.triangle_count);
	if (solid->noise.spacing > 0.0) {
		smoothen(border);
		store_triangles(border, &face.first_coarse, &face.coarse_count);
	}
	solid->faces[solid->face_count++] = face;
}

static bool is_of_shell(const FemCutBorder *border, const FemCutSegment *segment) {
	return border->shell < 0 || border->solid->shells->of_triangle[segment->triangle] == border->shell;
}

static bool near_shell(const FemCutBorder *border) {
	const FemCutShell *shell = border->shell < 0 ? NULL : &border->solid->shells->shells[border->shell];
	for (int axis = 0; shell && axis < 3; axis++) {
		double low = HUGE_VAL, high = -HUGE_VAL;
		for (int32_t n = 0; n < border->count; n++) {
			const FemVec3d *p = &border->corners[n];
			double at = axis == 0 ? p->x : axis == 1 ? p->y : p->z;
			low = fmin(low, at);
			high = fmax(high, at);
		}
		if (low > shell->high[axis] || high < shell->low[axis])
			return false;
	}
	return true;
}

// One shell's part of the polygon that has been made.
static void make_face(FemCutBorder *border, int32_t first_segment_plus_1) {
	FemCutSolid *solid = border->solid;
	border->crossing_count = border->link_count = border->loop_vertex_count = 0;
	fem_loop_mesh_clear(&border->loops);
	if (!near_shell(border))
		return;
	for (int32_t n = first_segment_plus_1; n && !solid->failed && !solid->fault;
		 n = solid->segments[n - 1].next_plus_1) {
		FemCutSegment segment = solid->segments[n - 1];
		if (!is_of_shell(border, &segment))
			continue;
		fem_cut_border_cross(border, segment.from, false);
		fem_cut_border_cross(border, segment.to, true);
		add_link(border, segment.triangle, -1, segment.from, segment.to);
	}
	if (solid->counts_windings)
		fem_cut_border_count(border);
	else
		fem_cut_border_mark(border);
	if (solid->failed || solid->fault)
		return;
	if (solid->counts_windings)
		link_counted_sides(border);
	else
		link_sides(border);
	if (solid->failed || solid->fault || border->link_count == 0)
		return;
	trace_loops(border);
	if (solid->failed || solid->fault)
		return;
	fem_loop_mesh_fill(&border->loops);
	roughen(border);
	store_face(border);
	solid->failed = solid->failed || border->loops.failed;
}

static void make_faces(FemCutBorder *border, int32_t first_segment_plus_1) {
	FemCutSolid *solid = border->solid;
	if (!fem_cut_border_make(border)) {
		if (first_segment_plus_1)
			solid->fault = fem_cut_not_closed;
		return;
	}
	border->shell = -1;
	border->winding = solid->winding;
	if (!solid->shells)
		make_face(border, first_segment_plus_1);
	for (int32_t n = 0; solid->shells && n < solid->shells->count && !solid->failed && !solid->fault; n++) {
		border->shell = n;
		border->winding = &solid->shells->shells[n].winding;
		make_face(border, first_segment_plus_1);
	}
}

void fem_cut_solid_inside(FemCutSolid *solid) {
	const FemCutDiagram *d = solid->diagram;
	FemCutBorder *border = FEM_ALLOC_ARRAY(FemCutBorder, 1);
	if (!border) {
		solid->failed = true;
		return;
	}
	border->solid = solid;
	for (int32_t i = 0; i < d->cell_count && !solid->failed && !solid->fault && !solid->is_stopped; i++) {
		for (int32_t n = d->start[i]; n < d->start[i + 1] && !solid->failed && !solid->fault; n++) {
			if (d->neighbors[n] < i || d->cells[d->neighbors[n]].splinter == d->cells[i].splinter)
				continue;
			border->cell = i;
			border->other = d->neighbors[n];
			make_faces(border, solid->face_segments[n]);
		}
		if (i % 64 == 0 && solid->progress)
			solid->is_stopped = !solid->progress(solid->progress_context,
				FEM_CUT_OUTSIDE_SHARE + FEM_CUT_INSIDE_SHARE * (float)i / (float)d->cell_count);
	}
	FEM_FREE_ARRAY(border->crossings, border->crossing_capacity);
	FEM_FREE_ARRAY(border->links, border->link_capacity);
	FEM_FREE_ARRAY(border->open, border->open_capacity);
	FEM_FREE_ARRAY(border->loop_vertices, border->loop_vertex_capacity);
	fem_loop_mesh_free(&border->loops);
	FEM_FREE_ARRAY(border, 1);
}
