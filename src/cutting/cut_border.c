#include "cutting/cut_border.h"

#include "base/growing.h"

#include <stdlib.h>
#include <string.h>

#define NOT_ALONG 0.6 // component of a unit vector: an axis with less than this crosses it well; 1/sqrt(3) and more
#define VOTES_MAX 8   // corners of a border that are asked for their winding number; chosen: two that agree are enough
#define NEAR 1e-7 // unit space: crossings of a line so near to each other may change places; a tenth of the grid's step

const char fem_cut_not_closed[] = "its surface crosses itself or is not closed";

// ---- border polygon

static bool set_axes(FemCutBorder *border) {
	const FemCutCell *i = &border->solid->diagram->cells[border->cell],
					 *j = &border->solid->diagram->cells[border->other];
	FemVec3d n = {(double)(i->a[0] - j->a[0]), (double)(i->a[1] - j->a[1]), (double)(i->a[2] - j->a[2])};
	double length = sqrt(fem_vec3d_dot(n, n));
	if (!(length > 0.0))
		return false;
	n = fem_vec3d_scale(n, 1.0 / length);
	FemVec3d side = fabs(n.x) < NOT_ALONG ? (FemVec3d){1.0, 0.0, 0.0} : (FemVec3d){0.0, 1.0, 0.0};
	FemVec3d u = fem_vec3d_cross(side, n);
	border->axes[0] = fem_vec3d_scale(u, 1.0 / sqrt(fem_vec3d_dot(u, u)));
	border->axes[1] = fem_vec3d_cross(n, border->axes[0]);
	border->axes[2] = n;
	return true;
}

// The sides of the box that cross the plane, in the sense of its normal.
static void start_polygon(FemCutBorder *border) {
	double n[3] = {border->axes[2].x, border->axes[2].y, border->axes[2].z};
	int axis = fabs(n[0]) >= fabs(n[1]) && fabs(n[0]) >= fabs(n[2]) ? 0 : fabs(n[1]) >= fabs(n[2]) ? 1 : 2;
	int u = (axis + 1) % 3, v = (axis + 2) % 3;
	int32_t upper = n[axis] > 0.0 ? FEM_CUT_UPPER(u) : FEM_CUT_LOWER(u);
	int32_t lower = n[axis] > 0.0 ? FEM_CUT_LOWER(u) : FEM_CUT_UPPER(u);
	memcpy(border->sides, (int32_t[4]){FEM_CUT_LOWER(v), upper, FEM_CUT_UPPER(v), lower}, 4 * sizeof(int32_t));
	border->count = 4;
}

static bool clip_polygon(FemCutBorder *border, int32_t by) {
	const FemCutDiagram *d = border->solid->diagram;
	bool keeps[FEM_CUT_SIDE_MAX];
	int32_t kept[FEM_CUT_SIDE_MAX], kept_count = 0, good = 0, count = border->count;
	for (int32_t n = 0; n < count; n++) {
		keeps[n] = fem_cut_keeps_corner(
			d, border->cell, border->other, border->sides[(n + count - 1) % count], border->sides[n], by);
		good += keeps[n];
	}
	if (good == count || good == 0)
		return good > 0;
	for (int32_t n = 0; n < count; n++) {
		bool starts = keeps[n], ends = keeps[(n + 1) % count];
		if (kept_count >= FEM_CUT_SIDE_MAX - 2)
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

bool fem_cut_border_make(FemCutBorder *border) {
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

// ---- crossings

static int32_t side_of_vertex(const FemCutBorder *border, const FemCutVertex *vertex) {
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

void fem_cut_border_cross(FemCutBorder *border, int32_t vertex, bool enters) {
	FemCutSolid *solid = border->solid;
	if (solid->vertices[vertex].kind != FEM_CUT_ON_TRIANGLE)
		return;
	int32_t side = side_of_vertex(border, &solid->vertices[vertex]);
	if (side < 0) {
		solid->fault = fem_cut_not_closed;
		return;
	}
	if (!FEM_GROW(border->crossings, border->crossing_count, &border->crossing_capacity)) {
		solid->failed = true;
		return;
	}
	FemVec3d start = border->corners[side], edge = fem_vec3d_sub(border->corners[(side + 1) % border->count], start);
	double length = sqrt(fem_vec3d_dot(edge, edge));
	double along =
		fem_vec3d_dot(fem_vec3d_sub(solid->vertices[vertex].at, start), edge) / (length > 0.0 ? length : 1.0);
	border->crossings[border->crossing_count++] = (FemCutCrossing){side, vertex, along, enters, false};
}

static int compare_crossings(const void *a, const void *b) {
	const FemCutCrossing *p = a, *q = b;
	if (p->side != q->side)
		return p->side < q->side ? -1 : 1;
	if (p->along != q->along)
		return p->along < q->along ? -1 : 1;
	return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

// Entering and leaving crossings must alternate along a line. Rounding may have swapped crossings at one place.
static void mend_order(FemCutBorder *border) {
	FemCutCrossing *c = border->crossings;
	for (int32_t n = 1; n < border->crossing_count; n++) {
		if (c[n].side != c[n - 1].side || c[n].enters != c[n - 1].enters)
			continue;
		int32_t m = n + 1;
		while (m < border->crossing_count && c[m].side == c[n].side && c[m].enters == c[n].enters &&
			c[m].along - c[n].along < NEAR)
			m++;
		if (m < border->crossing_count && c[m].side == c[n].side && c[m].enters != c[n].enters &&
			c[m].along - c[n].along < NEAR) {
			FemCutCrossing moved = c[m];
			memmove(c + n + 1, c + n, sizeof *c * (size_t)(m - n));
			c[n] = moved;
		} else {
			border->solid->fault = fem_cut_not_closed;
			return;
		}
	}
}

static void mark_corner(FemCutBorder *border, int32_t corner, bool inside) {
	int8_t *state = &border->inside[corner % border->count];
	if (*state >= 0 && *state != (int8_t)inside)
		border->solid->fault = fem_cut_not_closed;
	*state = (int8_t)inside;
}

static bool corner_on_box(const FemCutBorder *border, int32_t n) {
	return border->sides[n] < 0 || border->sides[(n + border->count - 1) % border->count] < 0;
}

// From the crossings on either side; where there are none at all, by the winding number there.
static void mark_corners(FemCutBorder *border) {
	const FemCutCrossing *c = border->crossings;
	int32_t count = border->count;
	bool empty[FEM_CUT_SIDE_MAX];
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
		border->inside[0] = fem_winding_inside(border->winding, border->corners[0]);
	for (int32_t n = 0; n < 2 * count; n++)
		if (empty[n % count] && border->inside[n % count] >= 0)
			mark_corner(border, n + 1, border->inside[n % count]);
	for (int32_t n = 2 * count; n-- > 0;)
		if (empty[n % count] && border->inside[(n + 1) % count] >= 0)
			mark_corner(border, n, border->inside[(n + 1) % count]);
}

// ---- winding numbers

static FemVec3d slope_between(const FemCutBorder *border, int32_t cell, int32_t other) {
	const FemCutCell *i = &border->solid->diagram->cells[cell], *j = &border->solid->diagram->cells[other];
	return (FemVec3d){(double)(i->a[0] - j->a[0]), (double)(i->a[1] - j->a[1]), (double)(i->a[2] - j->a[2])};
}

static bool is_odd_order(int32_t a, int32_t b, int32_t c) {
	return (a > b) ^ (b > c) ^ (a > c);
}

// Three borders meet in the line that a side lies on, and must have its crossings in one order: places are measured in
// one of its two senses, the same for all three. Cross products of whole numbers of 19 bits are exact.
static void order_along_lines(FemCutBorder *border) {
	for (int32_t n = 0; n < border->crossing_count; n++) {
		FemCutCrossing *crossing = &border->crossings[n];
		int32_t third = border->sides[crossing->side];
		if (third < 0)
			continue; // of the box, which the surface does not reach
		FemVec3d ahead = fem_vec3d_cross(
			slope_between(border, border->cell, border->other), slope_between(border, border->cell, third));
		crossing->is_backward = is_odd_order(border->cell, border->other, third);
		crossing->along = fem_vec3d_dot(
			border->solid->vertices[crossing->vertex].at, crossing->is_backward ? fem_vec3d_scale(ahead, -1.0) : ahead);
	}
}

static int compare_on_lines(const void *a, const void *b) {
	const FemCutCrossing *p = a, *q = b;
	if (p->side != q->side)
		return p->side < q->side ? -1 : 1;
	int order =
		p->along != q->along ? (p->along < q->along ? -1 : 1) : (p->vertex > q->vertex) - (p->vertex < q->vertex);
	return p->is_backward ? -order : order;
}

// Crossings say how winding numbers of corners differ; the number itself is asked for until two corners agree on it,
// since one may lie so near to the surface that rounding decides.
static int32_t first_winding(const FemCutBorder *border) {
	int32_t said[VOTES_MAX], count = 0;
	for (int32_t n = 0; n < border->count; n++)
		if (corner_on_box(border, n))
			return -border->windings[n];
	for (; count < border->count && count < VOTES_MAX; count++) {
		said[count] =
			(int32_t)lround(fem_winding_number(border->winding, border->corners[count])) - border->windings[count];
		for (int32_t n = 0; n < count; n++)
			if (said[n] == said[count])
				return said[n];
	}
	return said[0];
}

void fem_cut_border_count(FemCutBorder *border) {
	int32_t at = 0, winding = 0;
	order_along_lines(border);
	if (border->crossing_count > 0)
		qsort(border->crossings, (size_t)border->crossing_count, sizeof *border->crossings, compare_on_lines);
	for (int32_t side = 0; side < border->count; side++) {
		border->windings[side] = winding;
		for (; at < border->crossing_count && border->crossings[at].side == side; at++)
			winding += border->crossings[at].enters ? 1 : -1;
	}
	if (winding != 0) {
		border->solid->fault = fem_cut_not_closed;
		return;
	}
	int32_t first = first_winding(border);
	for (int32_t side = 0; side < border->count; side++)
		border->windings[side] += first;
}

void fem_cut_border_mark(FemCutBorder *border) {
	if (border->crossing_count > 0)
		qsort(border->crossings, (size_t)border->crossing_count, sizeof *border->crossings, compare_crossings);
	mend_order(border);
	mark_corners(border);
}
