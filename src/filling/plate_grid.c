#include "filling/plate_grid.h"

#include "base/assert.h"
#include "base/carve.h"
#include "base/error.h"

#include <stdlib.h>

#define SURVEY_STEPS 24 // columns a side in which a member is looked at: 576; chosen
#define BISECTIONS 14   // of an edge at the outline: to 6e-5 of it; chosen
// A node nearer to the outline than this share of an edge goes onto it; chosen between the two of isosurface stuffing.
#define WARP 0.3
#define INSET 1e-3 // of a cell: nodes on the box's border look this far inward; chosen
// Of the median thickness: thinner columns are thickened, or cells would be slivers; chosen.
#define THINNEST (1.0 / 3.0)
#define RANGES 8              // pieces of a column at most; chosen: a plate has one
#define LEAN_FROM 0.05        // slope: flatter places keep upright columns ...
#define LEAN_MOST 2.0         // ... and so do steeper ones, which are steps rather than slopes; both chosen
#define LEAN_ROOM 0.3         // of the distance between two columns that must be left at their ends; chosen
#define SURVEY_SHIFT_X 1.3e-6 // of the frame: columns miss edges that lie on the grid; any two unlike numbers ...
#define SURVEY_SHIFT_Y 1.7e-6 // ... for the two axes
// One column in so many must be solid for a median thickness, and in so many may at most be broken, have an odd
// thickness (a factor of under 0.7 or over 1.5 off the median; plates) or a very odd one (0.5 or 2; rods). Chosen.
#define SOLID_ONE_IN 20
#define BROKEN_ONE_IN 20
#define ODD_ONE_IN 10
#define VERY_ODD_ONE_IN 6
#define ODD_LEAST 0.7      // of the median thickness: see above
#define ODD_MOST 1.5       // of the median thickness: see above
#define VERY_ODD_LEAST 0.5 // of the median thickness: see above
#define VERY_ODD_MOST 2.0  // of the median thickness: see above
#define DIAGONAL 1.4142    // sides of a cell: the length of its diagonal, a little short
#define PROBE_SHARE 0.25   // of a cell: how far off the slope of the middle is measured; chosen
// Thickness of neighbouring columns over each other's: beyond this and its inverse one is cut off by a rim; chosen.
#define THICKNESS_CHANGE 1.25
#define CORNER_MIN 0.2   // of a cell's area: smaller half cells mean that it is no quad to split in five; chosen
#define CENTRAL_MIN 0.05 // of a flat cell's central tet: below, the cell is split into prisms; chosen

typedef struct Column {
	double x, y, lo, hi;
	double lean[3];  // where the top lies from the bottom; upright: 0, 0, hi - lo
	int8_t sign;     // 1 in the plate, -1 out, 0 on the outline
	int8_t parity;   // of its grid place; cut points count as odd
	int32_t base_id; // first of its layers + 1 nodes, -1 not made yet
} Column;

typedef struct Grid {
	const FemSolid *solid;
	int32_t cells[2], layers, column_count, edge_count;
	double step[2], thickness;
	Column *columns; // [(nx + 1) * (ny + 1)]
	Column *cuts;    // [edge]: sign 0 where the edge is cut, else -1; edges: 3 a column: along x, along y, diagonal
	FemTetList *out;
} Grid;

// ---- survey

static int compare_doubles(const void *left, const void *right) {
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

FemPlateSurvey fem_plate_survey(const FemSolid *solid) {
	static const int32_t all = SURVEY_STEPS * SURVEY_STEPS;
	double thick[SURVEY_STEPS * SURVEY_STEPS], ranges[RANGES][2];
	int32_t covered = 0, broken = 0, odd = 0, very_odd = 0;
	for (int32_t n = 0; n < all; n++) {
		double x = solid->half_extents[0] * ((2.0 * (n / SURVEY_STEPS) + 1.0) / SURVEY_STEPS - 1.0);
		double y = solid->half_extents[1] * ((2.0 * (n % SURVEY_STEPS) + 1.0) / SURVEY_STEPS - 1.0);
		int32_t count = fem_solid_column(solid, x + SURVEY_SHIFT_X, y + SURVEY_SHIFT_Y, ranges, RANGES);
		if (count == 0)
			continue;
		broken += count > 1;
		thick[covered++] = ranges[count - 1][1] - ranges[0][0];
	}
	FemPlateSurvey survey = {.fill = (double)covered / all};
	if (covered < all / SOLID_ONE_IN)
		return survey;
	qsort(thick, (size_t)covered, sizeof *thick, compare_doubles);
	survey.thickness = thick[covered / 2];
	for (int32_t i = 0; i < covered; i++) {
		odd += thick[i] < ODD_LEAST * survey.thickness || thick[i] > ODD_MOST * survey.thickness;
		very_odd += thick[i] < VERY_ODD_LEAST * survey.thickness || thick[i] > VERY_ODD_MOST * survey.thickness;
	}
	survey.fits = broken * BROKEN_ONE_IN <= covered && odd * ODD_ONE_IN <= covered;
	survey.fits_rod = broken * BROKEN_ONE_IN <= covered && very_odd * VERY_ODD_ONE_IN <= covered;
	return survey;
}

// ---- outline

static double inset(double at, double half, double step) {
	double limit = half - INSET * step;
	return fmin(fmax(at, -limit), limit);
}

// Looks a little inward at the box's border, so that a rectangular plate keeps its rim exactly.
static bool find_column(const Grid *grid, double x, double y, Column *out) {
	double ranges[RANGES][2];
	const double *half = grid->solid->half_extents;
	int32_t count = fem_solid_column(
		grid->solid, inset(x, half[0], grid->step[0]), inset(y, half[1], grid->step[1]), ranges, RANGES);
	*out = (Column){.x = x, .y = y, .sign = -1, .parity = 1, .base_id = -1};
	if (count == 0)
		return false;
	double middle = 0.5 * (ranges[0][0] + ranges[count - 1][1]), least = THINNEST * grid->thickness;
	double tall = fmax(ranges[count - 1][1] - ranges[0][0], least);
	out->lo = middle - 0.5 * tall;
	out->hi = middle + 0.5 * tall;
	out->sign = 1;
	return true;
}

static int32_t column_at(const Grid *grid, int32_t i, int32_t j) {
	FEM_ASSERT(i <= grid->cells[0] && j <= grid->cells[1]);
	return i * (grid->cells[1] + 1) + j;
}

// Edges of a column's cell: 0 along x, 1 along y, 2 the diagonal, which joins even places. -1 beyond the border.
static bool edge_ends(const Grid *grid, int32_t edge, int32_t out[2]) {
	int32_t i = edge / 3 / (grid->cells[1] + 1), j = edge / 3 % (grid->cells[1] + 1), kind = edge % 3;
	if ((kind != 1 && i == grid->cells[0]) || (kind != 0 && j == grid->cells[1]))
		return false;
	bool rising = (i + j) % 2 == 0;
	out[0] = kind == 2 && !rising ? column_at(grid, i, j + 1) : column_at(grid, i, j);
	out[1] = kind == 0 ? column_at(grid, i + 1, j)
		: kind == 1    ? column_at(grid, i, j + 1)
		: rising       ? column_at(grid, i + 1, j + 1)
					   : column_at(grid, i + 1, j);
	return true;
}

// Where the outline crosses between a column in the plate and one out of it, with the last column found inside.
static Column find_cut(const Grid *grid, const Column *in, const Column *out) {
	double low = 0.0, high = 1.0;
	Column found = *in, probe;
	FEM_ASSERT(in->sign > 0 && out->sign < 0);
	for (int i = 0; i < BISECTIONS; i++) {
		double t = 0.5 * (low + high);
		if (find_column(grid, in->x + t * (out->x - in->x), in->y + t * (out->y - in->y), &probe)) {
			low = t;
			found = probe;
		} else {
			high = t;
		}
	}
	found.sign = 0;
	found.parity = 1;
	found.base_id = -1;
	return found;
}

static void fill_columns(Grid *grid) {
	for (int32_t n = 0; n < grid->column_count; n++) {
		int32_t i = n / (grid->cells[1] + 1), j = n % (grid->cells[1] + 1);
		find_column(grid, -grid->solid->half_extents[0] + i * grid->step[0],
			-grid->solid->half_extents[1] + j * grid->step[1], &grid->columns[n]);
		grid->columns[n].parity = (int8_t)((i + j) % 2);
	}
	for (int32_t e = 0; e < grid->edge_count; e++) {
		int32_t ends[2];
		grid->cuts[e].sign = -1;
		if (!edge_ends(grid, e, ends) || grid->columns[ends[0]].sign == grid->columns[ends[1]].sign)
			continue;
		bool first_in = grid->columns[ends[0]].sign > 0;
		grid->cuts[e] = find_cut(grid, &grid->columns[ends[!first_in]], &grid->columns[ends[first_in]]);
	}
}

static double cut_share(const Column *node, const Column *other, const Column *cut) {
	double whole = hypot(other->x - node->x, other->y - node->y);
	return hypot(cut->x - node->x, cut->y - node->y) / whole;
}

// One sweep over the cut edges for each end: the nearest cut of every node is found first, then nodes move in order.
static void warp_columns(Grid *grid) {
	for (int32_t n = 0; n < grid->column_count; n++) {
		int32_t i = n / (grid->cells[1] + 1), j = n % (grid->cells[1] + 1), ends[2], best = -1;
		double nearest = WARP;
		for (int pass = 0; pass < 2; pass++)
			for (int32_t cell = 0; cell < 4; cell++)
				for (int kind = 0; kind < 3; kind++) {
					int32_t a = i - cell / 2, b = j - cell % 2, e = 3 * column_at(grid, a, b) + kind;
					if (a < 0 || b < 0 || !edge_ends(grid, e, ends) || (ends[0] != n && ends[1] != n) ||
						grid->cuts[e].sign < 0)
						continue;
					double share = cut_share(&grid->columns[n], &grid->columns[ends[ends[0] == n]], &grid->cuts[e]);
					share *= kind == 2 ? DIAGONAL : 1.0; // in sides of a cell: no move may invert a half cell
					if (pass == 0 && share < nearest) {
						nearest = share;
						best = e;
					}
					if (pass == 1 && best >= 0 && e != best)
						grid->cuts[e].sign = -1;
				}
		if (best < 0)
			continue;
		int8_t parity = grid->columns[n].parity;
		grid->columns[n] = grid->cuts[best];
		grid->columns[n].parity = parity;
		grid->cuts[best].sign = -1;
	}
}

// ---- lean

// The height of the plate's middle a step away; false at the outline and where columns are cut off by a slanting rim.
static bool middle_at(const Grid *grid, const Column *column, double dx, double dy, double *out_height) {
	Column probe;
	if (!find_column(grid, column->x + dx, column->y + dy, &probe))
		return false;
	double ratio = (probe.hi - probe.lo) / (column->hi - column->lo);
	*out_height = 0.5 * (probe.lo + probe.hi);
	return ratio > 1.0 / THICKNESS_CHANGE && ratio < THICKNESS_CHANGE;
}

// How the plate's middle rises along an axis, from one or both sides.
static bool slope_along(const Grid *grid, const Column *column, int axis, double step, double *out_slope) {
	double here = 0.5 * (column->lo + column->hi), ahead = here, behind = here, dx = axis == 0 ? step : 0.0,
		   dy = axis == 1 ? step : 0.0;
	bool has_ahead = middle_at(grid, column, dx, dy, &ahead), has_behind = middle_at(grid, column, -dx, -dy, &behind);
	ahead = has_ahead ? ahead : here;
	behind = has_behind ? behind : here;
	*out_slope = (ahead - behind) / (has_ahead && has_behind ? 2.0 * step : step);
	return has_ahead || has_behind;
}

static void stand_upright(Column *column) {
	column->lean[0] = column->lean[1] = 0.0;
	column->lean[2] = column->hi - column->lo;
}

// Upright columns in a slope make slanting cells, which are up to three times stiffer than square ones: a column on a
// slope leans over until it stands square, and is as long as the wall is thick.
static void lean_column(const Grid *grid, Column *column) {
	double tall = column->hi - column->lo, step = PROBE_SHARE * fmin(grid->step[0], grid->step[1]),
		   slope[2] = {0.0, 0.0};
	stand_upright(column);
	if (column->sign < 0 || !slope_along(grid, column, 0, step, &slope[0]) ||
		!slope_along(grid, column, 1, step, &slope[1]))
		return;
	double steep = slope[0] * slope[0] + slope[1] * slope[1];
	if (steep < LEAN_FROM * LEAN_FROM || steep > LEAN_MOST * LEAN_MOST)
		return;
	double along = tall / (1.0 + steep); // thickness tall * nz along the normal (-slope, 1) * nz
	column->lean[0] = -slope[0] * along;
	column->lean[1] = -slope[1] * along;
	column->lean[2] = along;
}

static bool run_together(const Column *a, const Column *b) {
	double offset[2] = {b->x - a->x, b->y - a->y}, lean[2] = {b->lean[0] - a->lean[0], b->lean[1] - a->lean[1]};
	double change = 0.5 * fabs(offset[0] * lean[0] + offset[1] * lean[1]);
	return change > (1.0 - LEAN_ROOM) * (offset[0] * offset[0] + offset[1] * offset[1]);
}

// Where columns would run into each other, both stay upright.
static void lean_columns(Grid *grid) {
	for (int32_t n = 0; n < grid->column_count; n++)
		lean_column(grid, &grid->columns[n]);
	for (int32_t e = 0; e < grid->edge_count; e++)
		if (grid->cuts[e].sign >= 0)
			lean_column(grid, &grid->cuts[e]);
	for (int32_t e = 0; e < grid->edge_count; e++) {
		int32_t ends[2];
		if (!edge_ends(grid, e, ends))
			continue;
		for (int i = 0; i < 2; i++) {
			Column *a = &grid->columns[ends[i]],
				   *b = grid->cuts[e].sign >= 0 ? &grid->cuts[e] : &grid->columns[ends[1 - i]];
			if (run_together(a, b)) {
				stand_upright(a);
				stand_upright(b);
			}
		}
	}
}

// ---- cells

static FemVec3d point_of(const Column *column, double share) {
	double away = share - 0.5;
	return (FemVec3d){column->x + away * column->lean[0], column->y + away * column->lean[1],
		0.5 * (column->lo + column->hi) + away * column->lean[2]};
}

static int32_t base_of(Grid *grid, Column *column) {
	if (column->base_id < 0) {
		for (int32_t k = 0; k <= grid->layers; k++) {
			int32_t id = fem_tet_list_add_node(grid->out, point_of(column, (double)k / grid->layers));
			if (k == 0)
				column->base_id = id;
		}
	}
	return column->base_id;
}

// The rank decides where the diagonal of an upright face starts below: as in 5-tet cells between grid places of unlike
// parity, by number between others. A total order, so the three diagonals of a prism never run in a circle.
static bool ranks_before(const Column *a, const Column *b, int32_t layer) {
	int rank_a = (a->parity + layer) % 2, rank_b = (b->parity + layer) % 2;
	return rank_a != rank_b ? rank_a < rank_b : a->base_id < b->base_id;
}

static void add_prisms(Grid *grid, Column *a, Column *b, Column *c) {
	Column *corners[3] = {a, b, c};
	for (int i = 0; i < 3; i++)
		base_of(grid, corners[i]);
	for (int32_t k = 0; k < grid->layers && !grid->out->failed; k++) {
		for (int i = 1; i < 3; i++)
			for (int j = i; j > 0 && ranks_before(corners[j], corners[j - 1], k); j--) {
				Column *kept = corners[j];
				corners[j] = corners[j - 1];
				corners[j - 1] = kept;
			}
		FEM_ASSERT(!ranks_before(corners[2], corners[0], k)); // a total order
		int32_t p[3] = {corners[0]->base_id + k, corners[1]->base_id + k, corners[2]->base_id + k};
		fem_tet_list_add_tet(grid->out, p[0], p[0] + 1, p[1] + 1, p[2] + 1);
		fem_tet_list_add_tet(grid->out, p[0], p[1], p[1] + 1, p[2] + 1);
		fem_tet_list_add_tet(grid->out, p[0], p[1], p[2], p[2] + 1);
	}
}

static double area_of(const Column *a, const Column *b, const Column *c) {
	return 0.5 * ((b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x));
}

// The central tet of a cell in one layer must not be flattened by the plate's curvature.
static bool splits_into_five(const Grid *grid, Column *const n[4]) {
	double area = area_of(n[0], n[1], n[2]) + area_of(n[0], n[2], n[3]);
	for (int i = 0; i < 4; i++) {
		if (area_of(n[i], n[(i + 1) % 4], n[(i + 2) % 4]) < CORNER_MIN * area)
			return false;
	}
	for (int32_t k = 0; k < grid->layers; k++) {
		double below = (double)k / grid->layers, above = (k + 1.0) / grid->layers;
		int low = (n[0]->parity + k) % 2;
		FemVec3d a = point_of(n[low], below), b = point_of(n[low + 2], below);
		FemVec3d c = point_of(n[1 - low], above), d = point_of(n[3 - low], above);
		FemVec3d u = fem_vec3d_sub(b, a), v = fem_vec3d_sub(c, a), w = fem_vec3d_sub(d, a);
		double volume = fem_vec3d_dot(u, fem_vec3d_cross(v, w)) / 6.0 * (low ? 1.0 : -1.0);
		double flat = area * (n[0]->hi - n[0]->lo) / grid->layers / 3.0;
		if (volume < CENTRAL_MIN * flat)
			return false;
	}
	return true;
}

static void add_five(Grid *grid, Column *const n[4]) {
	for (int i = 0; i < 4; i++)
		base_of(grid, n[i]);
	for (int32_t k = 0; k < grid->layers && !grid->out->failed; k++) {
		int low = (n[0]->parity + k) % 2;
		int32_t a = n[low]->base_id + k, b = n[low + 2]->base_id + k, c = n[1 - low]->base_id + k,
				d = n[3 - low]->base_id + k;
		fem_tet_list_add_tet(grid->out, a, b, c + 1, d + 1);
		fem_tet_list_add_tet(grid->out, c, a, b, c + 1);
		fem_tet_list_add_tet(grid->out, d, a, b, d + 1);
		fem_tet_list_add_tet(grid->out, a + 1, c + 1, d + 1, a);
		fem_tet_list_add_tet(grid->out, b + 1, c + 1, d + 1, b);
	}
}

static Column *cut_between(Grid *grid, int32_t cell, const Column *a, const Column *b) {
	int32_t row = grid->cells[1] + 1;
	int32_t candidates[5] = {3 * cell, 3 * cell + 1, 3 * cell + 2, 3 * (cell + 1), 3 * (cell + row) + 1};
	for (int i = 0; i < 5; i++) {
		int32_t ends[2];
		if (!edge_ends(grid, candidates[i], ends))
			continue;
		const Column *from = &grid->columns[ends[0]], *to = &grid->columns[ends[1]];
		if ((from == a && to == b) || (from == b && to == a))
			return &grid->cuts[candidates[i]];
	}
	FEM_ASSERT(!"every two corners of a cell have an edge");
	return &grid->cuts[candidates[0]];
}

static bool middle_is_inside(const Grid *grid, Column *const *corners, int count) {
	double x = 0.0, y = 0.0;
	Column probe;
	for (int i = 0; i < count; i++) {
		x += corners[i]->x / count;
		y += corners[i]->y / count;
	}
	return find_column(grid, x, y, &probe);
}

// Half a cell, cut along the outline.
static void add_half(Grid *grid, int32_t cell, Column *const n[3]) {
	Column *polygon[6];
	int count = 0, inside = 0;
	for (int i = 0; i < 3; i++) {
		Column *a = n[i], *b = n[(i + 1) % 3];
		inside += a->sign > 0;
		if (a->sign >= 0)
			polygon[count++] = a;
		if (a->sign * b->sign < 0)
			polygon[count++] = cut_between(grid, cell, a, b);
	}
	FEM_ASSERT(count <= 4);
	if (count < 3 || (inside == 0 && !middle_is_inside(grid, n, 3)))
		return;
	if (count == 3) {
		add_prisms(grid, polygon[0], polygon[1], polygon[2]);
		return;
	}
	bool even = hypot(polygon[0]->x - polygon[2]->x, polygon[0]->y - polygon[2]->y) <=
		hypot(polygon[1]->x - polygon[3]->x, polygon[1]->y - polygon[3]->y);
	add_prisms(grid, polygon[even ? 0 : 1], polygon[even ? 1 : 2], polygon[even ? 2 : 3]);
	add_prisms(grid, polygon[even ? 0 : 1], polygon[even ? 2 : 3], polygon[even ? 3 : 0]);
}

static void add_cell(Grid *grid, int32_t i, int32_t j) {
	int32_t cell = column_at(grid, i, j);
	Column *n[4] = {&grid->columns[cell], &grid->columns[column_at(grid, i + 1, j)],
		&grid->columns[column_at(grid, i + 1, j + 1)], &grid->columns[column_at(grid, i, j + 1)]};
	bool whole = n[0]->sign >= 0 && n[1]->sign >= 0 && n[2]->sign >= 0 && n[3]->sign >= 0;
	bool inside = n[0]->sign > 0 || n[1]->sign > 0 || n[2]->sign > 0 || n[3]->sign > 0;
	if (whole && !fem_plate_is_wide(grid->cells, grid->layers) && splits_into_five(grid, n) &&
		(inside || middle_is_inside(grid, n, 4))) {
		add_five(grid, n);
		return;
	}
	int first = (i + j) % 2; // the diagonal joins even places
	add_half(grid, cell, (Column *[3]){n[first], n[first + 1], n[first + 2]});
	add_half(grid, cell, (Column *[3]){n[first], n[first + 2], n[(first + 3) % 4]});
}

static size_t place(Grid *grid, char *base) {
	FemCarver carver = {.base = base};
	grid->columns = FEM_CARVE(&carver, Column, grid->column_count);
	grid->cuts = FEM_CARVE(&carver, Column, grid->edge_count);
	return carver.used;
}

FemResult fem_plate_fill(
	const FemSolid *solid, const int32_t cells[2], int32_t layers, double thickness, FemTetList *out) {
	Grid grid = {.solid = solid, .cells = {cells[0], cells[1]}, .layers = layers, .thickness = thickness, .out = out};
	grid.column_count = (cells[0] + 1) * (cells[1] + 1);
	grid.edge_count = 3 * grid.column_count;
	for (int axis = 0; axis < 2; axis++)
		grid.step[axis] = 2.0 * solid->half_extents[axis] / cells[axis];
	size_t bytes = place(&grid, NULL);
	char *block = fem_alloc(bytes);
	if (!block)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the plate's cells: ask for fewer elements.");
	place(&grid, block);
	fill_columns(&grid);
	warp_columns(&grid);
	lean_columns(&grid);
	for (int32_t i = 0; i < cells[0]; i++)
		for (int32_t j = 0; j < cells[1]; j++)
			add_cell(&grid, i, j);
	fem_free(block, bytes);
	if (out->failed)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
	return FEM_OK;
}
