// Faces between cells: the part of each border polygon that lies within the mesh, as loops, then as triangles.
#include "mesh/cut_solid.h"

#include "base/memory.h"
#include "mesh/growing.h"

#include <stdlib.h>
#include <string.h>

#define SIDE_MAX 256 // of the polygon between two cells
#define INNER_MAX 48 // points added within a face
#define NEAR 1e-7    // unit space: crossings of a line so near to each other may change places

static const char not_closed[] = "its surface crosses itself or is not closed";

// Where the surface crosses a side of the border polygon.
typedef struct Crossing {
	int32_t side, vertex;
	double along;
	bool enters; // the solid lies behind it, going counter-clockwise
} Crossing;

typedef struct Link {
	int32_t from, to, number;
	bool is_used;
} Link;

typedef struct Border {
	FemCutSolid *solid;
	int32_t cell, other; // counter-clockwise seen from the other
	int32_t sides[SIDE_MAX], count;
	FemPosition corners[SIDE_MAX]; // corner n is the start of side n
	int8_t inside[SIDE_MAX];       // of corners: 1, 0, or -1 while unknown
	FemPosition axes[3];           // two in the plane, then the normal
	Crossing *crossings;
	int32_t crossing_count, crossing_capacity;
	Link *links;
	int32_t link_count, link_capacity;
	FemLoopMesh loops;
	int32_t *loop_vertices; // [point of loops]
	int32_t loop_vertex_count, loop_vertex_capacity;
} Border;

// ------------------------------------------------------------------------------------------------------- border polygon

static bool set_axes(Border *border) {
	const FemCutCell *i = &border->solid->diagram->cells[border->cell],
					 *j = &border->solid->diagram->cells[border->other];
	FemPosition n = {(double)(i->a[0] - j->a[0]), (double)(i->a[1] - j->a[1]), (double)(i->a[2] - j->a[2])};
	double length = sqrt(fem_position_dot(n, n));
	if (!(length > 0.0))
		return false;
	n = fem_position_scale(n, 1.0 / length);
	FemPosition side = fabs(n.x) < 0.6 ? (FemPosition){1.0, 0.0, 0.0} : (FemPosition){0.0, 1.0, 0.0};
	FemPosition u = fem_position_cross(side, n);
	border->axes[0] = fem_position_scale(u, 1.0 / sqrt(fem_position_dot(u, u)));
	border->axes[1] = fem_position_cross(n, border->axes[0]);
	border->axes[2] = n;
	return true;
}

// The sides of the box that cross the plane, in the sense of its normal.
static void start_polygon(Border *border) {
	double n[3] = {border->axes[2].x, border->axes[2].y, border->axes[2].z};
	int axis = fabs(n[0]) >= fabs(n[1]) && fabs(n[0]) >= fabs(n[2]) ? 0 : fabs(n[1]) >= fabs(n[2]) ? 1 : 2;
	int u = (axis + 1) % 3, v = (axis + 2) % 3;
	int32_t upper = n[axis] > 0.0 ? FEM_CUT_UPPER(u) : FEM_CUT_LOWER(u);
	int32_t lower = n[axis] > 0.0 ? FEM_CUT_LOWER(u) : FEM_CUT_UPPER(u);
	memcpy(border->sides, (int32_t[4]){FEM_CUT_LOWER(v), upper, FEM_CUT_UPPER(v), lower}, 4 * sizeof(int32_t));
	border->count = 4;
}

static bool clip_polygon(Border *border, int32_t by) {
	const FemCutDiagram *d = border->solid->diagram;
	bool keeps[SIDE_MAX];
	int32_t kept[SIDE_MAX], kept_count = 0, good = 0, count = border->count;
	for (int32_t n = 0; n < count; n++) {
		keeps[n] = fem_cut_keeps_corner(
			d, border->cell, border->other, border->sides[(n + count - 1) % count], border->sides[n], by);
		good += keeps[n];
	}
	if (good == count || good == 0)
		return good > 0;
	for (int32_t n = 0; n < count; n++) {
		bool starts = keeps[n], ends = keeps[(n + 1) % count];
		if (kept_count >= SIDE_MAX - 2)
			return false;
		if (starts || ends)
			kept[kept_count++] = border->sides[n];
		if (starts && !ends)
			kept[kept_count++] = by;
	}
	memcpy(border->sides, kept, sizeof(int32_t) * (size_t)kept_count);
	border->count = kept_count;
	return true;
}

static bool make_polygon(Border *border) {
	const FemCutDiagram *d = border->solid->diagram;
	if (!set_axes(border))
		return false;
	start_polygon(border);
	for (int32_t n = d->start[border->cell]; n < d->start[border->cell + 1]; n++)
		if (d->neighbors[n] != border->other && !clip_polygon(border, d->neighbors[n]))
			return false;
	for (int32_t n = 0; n < border->count; n++)
		border->corners[n] = fem_cut_corner_at(
			d, border->cell, border->other, border->sides[(n + border->count - 1) % border->count], border->sides[n]);
	return true;
}

// ------------------------------------------------------------------------------------------------------------- crossings

static int32_t side_of_vertex(const Border *border, const FemCutVertex *vertex) {
	for (int n = 1; n < 4; n++) {
		int32_t third = vertex->key[n];
		if (third == border->cell || third == border->other)
			continue;
		for (int32_t side = 0; side < border->count; side++)
			if (border->sides[side] == third)
				return side;
	}
	return -1;
}

static void add_crossing(Border *border, int32_t vertex, bool enters) {
	FemCutSolid *solid = border->solid;
	if (solid->vertices[vertex].kind != FEM_CUT_ON_TRIANGLE)
		return;
	int32_t side = side_of_vertex(border, &solid->vertices[vertex]);
	if (side < 0) {
		solid->fault = not_closed;
		return;
	}
	if (!FEM_GROW(border->crossings, border->crossing_count, &border->crossing_capacity)) {
		solid->failed = true;
		return;
	}
	FemPosition start = border->corners[side],
				way = fem_position_sub(border->corners[(side + 1) % border->count], start);
	double length = sqrt(fem_position_dot(way, way));
	double along =
		fem_position_dot(fem_position_sub(solid->vertices[vertex].at, start), way) / (length > 0.0 ? length : 1.0);
	border->crossings[border->crossing_count++] = (Crossing){side, vertex, along, enters};
}

static int compare_crossings(const void *a, const void *b) {
	const Crossing *p = a, *q = b;
	if (p->side != q->side)
		return p->side < q->side ? -1 : 1;
	if (p->along != q->along)
		return p->along < q->along ? -1 : 1;
	return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

// In and out must take turns. Rounding may have confused crossings that lie at one place.
static void mend_order(Border *border) {
	Crossing *c = border->crossings;
	for (int32_t n = 1; n < border->crossing_count; n++) {
		if (c[n].side != c[n - 1].side || c[n].enters != c[n - 1].enters)
			continue;
		int32_t m = n + 1;
		while (m < border->crossing_count && c[m].side == c[n].side && c[m].enters == c[n].enters &&
			c[m].along - c[n].along < NEAR)
			m++;
		if (m < border->crossing_count && c[m].side == c[n].side && c[m].enters != c[n].enters &&
			c[m].along - c[n].along < NEAR) {
			Crossing moved = c[m];
			memmove(c + n + 1, c + n, sizeof *c * (size_t)(m - n));
			c[n] = moved;
		} else {
			border->solid->fault = not_closed;
			return;
		}
	}
}

static void mark_corner(Border *border, int32_t corner, bool inside) {
	int8_t *state = &border->inside[corner % border->count];
	if (*state >= 0 && *state != (int8_t)inside)
		border->solid->fault = not_closed;
	*state = (int8_t)inside;
}

static bool corner_on_box(const Border *border, int32_t n) {
	return border->sides[n] < 0 || border->sides[(n + border->count - 1) % border->count] < 0;
}

// From the crossings on either hand; where there are none at all, by the winding number there.
static void mark_corners(Border *border) {
	const Crossing *c = border->crossings;
	int32_t count = border->count;
	bool empty[SIDE_MAX];
	for (int32_t n = 0; n < count; n++) {
		border->inside[n] = corner_on_box(border, n) ? 0 : -1;
		empty[n] = true;
	}
	for (int32_t n = 0; n < border->crossing_count; n++) {
		empty[c[n].side] = false;
		if (n == 0 || c[n - 1].side != c[n].side)
			mark_corner(border, c[n].side, !c[n].enters);
		if (n + 1 == border->crossing_count || c[n + 1].side != c[n].side)
			mark_corner(border, c[n].side + 1, c[n].enters);
	}
	bool any = false;
	for (int32_t n = 0; n < count; n++)
		any = any || border->inside[n] >= 0;
	if (!any)
		border->inside[0] = fem_winding_inside(border->solid->winding, border->corners[0]);
	for (int32_t n = 0; n < 2 * count; n++)
		if (empty[n % count] && border->inside[n % count] >= 0)
			mark_corner(border, n + 1, border->inside[n % count]);
	for (int32_t n = 2 * count; n-- > 0;)
		if (empty[n % count] && border->inside[(n + 1) % count] >= 0)
			mark_corner(border, n, border->inside[(n + 1) % count]);
}

// ----------------------------------------------------------------------------------------------------------------- loops

static void add_link(Border *border, int32_t triangle, int32_t third, int32_t from, int32_t to) {
	int32_t added[FEM_CUT_ADDED_MAX], cells[3] = {border->cell, border->other, third};
	int32_t count = fem_cut_added(border->solid, triangle, from, to, cells, added);
	for (int32_t n = 0; n <= count; n++) {
		if (!FEM_GROW(border->links, border->link_count, &border->link_capacity)) {
			border->solid->failed = true;
			return;
		}
		border->links[border->link_count] =
			(Link){n > 0 ? added[n - 1] : from, n < count ? added[n] : to, border->link_count, false};
		border->link_count++;
	}
}

static int32_t corner_vertex(Border *border, int32_t n) {
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
		border->solid->vertices[vertex].at =
			fem_cut_corner_at(border->solid->diagram, cells[0], cells[1], cells[2], cells[3]);
	return vertex;
}

// The parts of the polygon's sides that lie inside.
static void link_sides(Border *border) {
	FemCutSolid *solid = border->solid;
	int32_t at = 0;
	for (int32_t side = 0; side < border->count && !solid->failed; side++) {
		int32_t open = border->inside[side] > 0 ? corner_vertex(border, side) : -1;
		for (; at < border->crossing_count && border->crossings[at].side == side; at++) {
			const Crossing *crossing = &border->crossings[at];
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

static int compare_links(const void *a, const void *b) {
	const Link *p = a, *q = b;
	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return (p->number > q->number) - (p->number < q->number);
}

static Link *find_link(Border *border, int32_t from) {
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

static void add_loop_point(Border *border, int32_t vertex) {
	FemPosition at = fem_position_sub(border->solid->vertices[vertex].at, border->corners[0]);
	int32_t point = fem_loop_mesh_add_point(
		&border->loops, fem_position_dot(at, border->axes[0]), fem_position_dot(at, border->axes[1]));
	fem_loop_mesh_add_index(&border->loops, point);
	if (!FEM_GROW(border->loop_vertices, border->loop_vertex_count, &border->loop_vertex_capacity)) {
		border->solid->failed = true;
		return;
	}
	border->loop_vertices[border->loop_vertex_count++] = vertex;
}

static void trace_loops(Border *border) {
	FemCutSolid *solid = border->solid;
	qsort(border->links, (size_t)border->link_count, sizeof *border->links, compare_links);
	for (int32_t n = 0; n < border->link_count && !solid->failed; n++) {
		int32_t start = border->links[n].from;
		Link *link = border->links[n].is_used ? NULL : &border->links[n];
		if (!link)
			continue;
		for (;;) {
			link->is_used = true;
			add_loop_point(border, link->from);
			if (link->to == start)
				break;
			link = find_link(border, link->to);
			if (!link) {
				solid->fault = not_closed;
				return;
			}
		}
		fem_loop_mesh_end_loop(&border->loops);
	}
}

// --------------------------------------------------------------------------------------------------------------- triangles

static int32_t add_inner_vertex(Border *border, int32_t number, const double at[2]) {
	FemCutSolid *solid = border->solid;
	bool is_new;
	int32_t vertex =
		fem_cut_vertex(solid, FEM_CUT_ADDED_INSIDE, (int32_t[4]){-2 - number, border->cell, border->other, 0}, &is_new);
	if (vertex < 0)
		return -1;
	FemPosition p = border->corners[0];
	p = fem_position_add(p, fem_position_scale(border->axes[0], at[0]));
	p = fem_position_add(p, fem_position_scale(border->axes[1], at[1]));
	double limit = fem_cut_noise_limit(solid, (int32_t[3]){border->cell, border->other, -1}, solid->noise.amplitude);
	double height = fem_cut_noise_depth(solid, p, limit) * fem_cut_noise(&solid->noise, p, 4);
	solid->vertices[vertex].at = fem_position_add(p, fem_position_scale(border->axes[2], height));
	return vertex;
}

// Points on a grid of equal triangles, where they are not too near to others.
static void roughen(Border *border) {
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
	int32_t rows = (int32_t)((high[1] - low[1]) / (0.87 * spacing)), columns = (int32_t)((high[0] - low[0]) / spacing);
	for (int32_t row = 0; row <= rows; row++)
		for (int32_t column = 0; column <= columns && added < INNER_MAX; column++) {
			double x = low[0] + spacing * (column + (row % 2 ? 0.75 : 0.25)), y = low[1] + 0.87 * spacing * (row + 0.5);
			bool near = false;
			for (int32_t n = 0; n < boundary && !near; n++)
				near = hypot(loops->points[n][0] - x, loops->points[n][1] - y) < 0.55 * spacing;
			if (!near && fem_loop_mesh_insert(loops, x, y, 0.2 * spacing))
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

static void store_triangles(Border *border, int32_t *out_first, int32_t *out_count) {
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
static void smoothen(Border *border) {
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

static void store_face(Border *border) {
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

static void make_face(Border *border, int32_t first_segment_plus_1) {
	FemCutSolid *solid = border->solid;
	border->crossing_count = border->link_count = border->loop_vertex_count = 0;
	fem_loop_mesh_clear(&border->loops);
	if (!make_polygon(border)) {
		if (first_segment_plus_1)
			solid->fault = not_closed;
		return;
	}
	for (int32_t n = first_segment_plus_1; n && !solid->failed && !solid->fault;
		 n = solid->segments[n - 1].next_plus_1) {
		FemCutSegment segment = solid->segments[n - 1];
		add_crossing(border, segment.from, false);
		add_crossing(border, segment.to, true);
		add_link(border, segment.triangle, -1, segment.from, segment.to);
	}
	if (border->crossing_count > 0)
		qsort(border->crossings, (size_t)border->crossing_count, sizeof *border->crossings, compare_crossings);
	mend_order(border);
	mark_corners(border);
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

void fem_cut_solid_inside(FemCutSolid *solid) {
	const FemCutDiagram *d = solid->diagram;
	Border *border = FEM_ALLOC_ARRAY(Border, 1);
	if (!border) {
		solid->failed = true;
		return;
	}
	border->solid = solid;
	for (int32_t i = 0; i < d->cell_count && !solid->failed && !solid->fault && !solid->is_stopped; i++) {
		for (int32_t n = d->start[i]; n < d->start[i + 1] && !solid->failed && !solid->fault; n++) {
			if (d->neighbors[n] < i || d->cells[d->neighbors[n]].piece == d->cells[i].piece)
				continue;
			border->cell = i;
			border->other = d->neighbors[n];
			make_face(border, solid->face_segments[n]);
		}
		if (i % 64 == 0 && solid->progress)
			solid->is_stopped =
				!solid->progress(solid->progress_context, 0.4f + 0.4f * (float)i / (float)d->cell_count);
	}
	FEM_FREE_ARRAY(border->crossings, border->crossing_capacity);
	FEM_FREE_ARRAY(border->links, border->link_capacity);
	FEM_FREE_ARRAY(border->loop_vertices, border->loop_vertex_capacity);
	fem_loop_mesh_free(&border->loops);
	FEM_FREE_ARRAY(border, 1);
}
