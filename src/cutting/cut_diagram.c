// Who borders on whom: each cell is the box clipped by its neighbours, nearest first, until none can reach it.
#include "cutting/cut_diagram.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/growing.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SLOPE_LEAST 1e-300  // so that a quotient stays finite where all sites are at the origin
#define EXTENT_LEAST 1e-12  // of the frame, so that a quotient stays finite where all sites are at one place
#define FLAT_SHARE 1e-3     // of the longest extent: sites that differ by less along an axis share a bucket; chosen
#define BUCKET_SITES 2.0    // sites a bucket of the grid; chosen
#define REACH_MARGIN 1.0001 // on a distance found in floating point: rounding is 1e-12 of it, chosen far above
#define SIDE_MARGIN 1e-9    // of the terms of a sum: below, the sign is left to the exact predicate; rounding is 1e-15
#define BOX_MARGIN 1.01     // of the half extents: the box holds all of the mesh, by a wide margin; chosen
#define BOX_STEPS 16.0      // steps of the grid of whole numbers added to that, for flat bodies; chosen
#define CORNER_MAX 1024     // of one cell; chosen: a cell has far fewer
#define GRID_AXIS_MAX 256   // cells along an axis of the grid that finds near sites; chosen

// A corner of a cell as the three constraints that meet there.
typedef struct Corner {
	int32_t planes[3];
	FemVec3d at;
} Corner;

typedef struct Grid {
	double low[3], cell;
	int32_t counts[3];
	int32_t *start, *sites; // [bucket + 1], [site]
} Grid;

typedef struct Builder {
	FemCutDiagram *diagram;
	const FemCutSites *sites;
	FemVec3d *places; // [site], in the metric's space
	double weight_max;
	Grid grid;
	Corner *corners, *kept; // of the cell at hand, CORNER_MAX each
	int32_t corner_count;
	double reach;        // of the cell at hand: its farthest corner, in the metric's space
	int32_t (*pairs)[2]; // cell, neighbour
	int32_t pair_count, pair_capacity;
} Builder;

void fem_cut_sites_add(FemCutSites *sites, FemVec3d at, double weight, int32_t splinter) {
	if (sites->failed || sites->count == FEM_CUT_CELL_MAX || !FEM_GROW(sites->sites, sites->count, &sites->capacity)) {
		sites->failed = true;
		return;
	}
	sites->sites[sites->count++] = (FemCutSite){at, weight, splinter};
}

void fem_cut_sites_free(FemCutSites *sites) {
	FEM_FREE_ARRAY(sites->sites, sites->capacity);
	*sites = (FemCutSites){0};
}

static FemVec3d apply(const double m[3][3], FemVec3d p) {
	return (FemVec3d){m[0][0] * p.x + m[0][1] * p.y + m[0][2] * p.z, m[1][0] * p.x + m[1][1] * p.y + m[1][2] * p.z,
		m[2][0] * p.x + m[2][1] * p.y + m[2][2] * p.z};
}

// ---- whole numbers

// |M x - y|^2 - w less |M x|^2, which is the same for all: a = -2 M^T y, b = |y|^2 - w; then scaled to fit.
static void make_cells(Builder *b) {
	const double(*m)[3] = b->sites->metric;
	double slope = SLOPE_LEAST;
	for (int pass = 0; pass < 2; pass++) {
		for (int32_t i = 0; i < b->sites->count; i++) {
			FemVec3d y = b->places[i];
			double a[3], scale = FEM_CUT_SLOPE_MAX / slope;
			for (int axis = 0; axis < 3; axis++) {
				a[axis] = -2.0 * (m[0][axis] * y.x + m[1][axis] * y.y + m[2][axis] * y.z);
				if (pass == 0)
					slope = fmax(slope, fabs(a[axis]));
				else
					b->diagram->cells[i].a[axis] = (int32_t)lrint(a[axis] * scale);
			}
			double level = (fem_vec3d_dot(y, y) - b->sites->sites[i].weight) * scale * FEM_CUT_GRID;
			double limit = (double)FEM_CUT_REACH * FEM_CUT_GRID * 2.0;
			b->diagram->cells[i].b = llrint(fmin(fmax(level, -limit), limit));
			b->diagram->cells[i].splinter = b->sites->sites[i].splinter;
		}
	}
}

// ---- grid

static double coordinate(FemVec3d p, int axis) {
	return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static int32_t bucket_on(const Grid *grid, FemVec3d p, int axis) {
	int32_t at = (int32_t)((coordinate(p, axis) - grid->low[axis]) / grid->cell);
	return at < 0 ? 0 : at >= grid->counts[axis] ? grid->counts[axis] - 1 : at;
}

static int32_t bucket_of(const Grid *grid, FemVec3d p) {
	return (bucket_on(grid, p, 0) * grid->counts[1] + bucket_on(grid, p, 1)) * grid->counts[2] + bucket_on(grid, p, 2);
}

// About two sites a bucket, along the axes in which the sites differ at all.
static void size_grid(Builder *b) {
	Grid *grid = &b->grid;
	double extent[3], longest = EXTENT_LEAST, volume = 1.0;
	int axes = 0;
	for (int axis = 0; axis < 3; axis++) {
		double high = coordinate(b->places[0], axis);
		grid->low[axis] = high;
		for (int32_t i = 1; i < b->sites->count; i++) {
			grid->low[axis] = fmin(grid->low[axis], coordinate(b->places[i], axis));
			high = fmax(high, coordinate(b->places[i], axis));
		}
		extent[axis] = high - grid->low[axis];
		longest = fmax(longest, extent[axis]);
	}
	for (int axis = 0; axis < 3; axis++) {
		if (extent[axis] > FLAT_SHARE * longest) {
			volume *= extent[axis];
			axes++;
		}
	}
	grid->cell = fmax(pow(BUCKET_SITES * volume / b->sites->count, 1.0 / (axes ? axes : 1)), longest / GRID_AXIS_MAX);
	for (int axis = 0; axis < 3; axis++)
		grid->counts[axis] = 1 + (int32_t)(extent[axis] / grid->cell);
}

static bool fill_grid(Builder *b) {
	Grid *grid = &b->grid;
	size_grid(b);
	int32_t buckets = grid->counts[0] * grid->counts[1] * grid->counts[2], count = b->sites->count;
	grid->start = FEM_ALLOC_ARRAY(int32_t, buckets + 2);
	grid->sites = FEM_ALLOC_ARRAY(int32_t, count);
	if (!grid->start || !grid->sites)
		return false;
	for (int32_t i = 0; i < count; i++)
		grid->start[bucket_of(grid, b->places[i]) + 2]++;
	for (int32_t n = 1; n < buckets + 2; n++)
		grid->start[n] += grid->start[n - 1];
	for (int32_t i = 0; i < count; i++)
		grid->sites[grid->start[bucket_of(grid, b->places[i]) + 1]++] = i;
	FEM_ASSERT(fem_are_starts(grid->start, buckets) && grid->start[buckets] == count);
	return true;
}

// ---- cells

static void start_cell(Builder *b, int32_t cell) {
	b->corner_count = 8;
	for (int n = 0; n < 8; n++) {
		Corner *corner = &b->corners[n];
		for (int axis = 0; axis < 3; axis++)
			corner->planes[axis] = n >> axis & 1 ? FEM_CUT_UPPER(axis) : FEM_CUT_LOWER(axis);
		corner->at = fem_cut_corner_at(b->diagram, cell, corner->planes[0], corner->planes[1], corner->planes[2]);
	}
}

// The two planes that both name, or false.
static bool share_edge(const Corner *u, const Corner *v, int32_t out[2]) {
	int count = 0;
	for (int n = 0; n < 3; n++)
		for (int m = 0; m < 3; m++)
			if (u->planes[n] == v->planes[m] && count < 2)
				out[count++] = u->planes[n];
	return count == 2;
}

// Far planes are told from near ones in floating point, with a margin; the rest is exact. First by the ball that holds
// the cell, then by its corners.
static bool may_reach(const Builder *b, int32_t cell, int32_t other) {
	FemVec3d offset = fem_vec3d_sub(b->places[other], b->places[cell]);
	double far_sq = fem_vec3d_dot(offset, offset), slack = b->sites->sites[cell].weight - b->sites->sites[other].weight;
	if (far_sq + slack > 2.0 * sqrt(far_sq) * b->reach * REACH_MARGIN)
		return false;
	const FemCutCell *i = &b->diagram->cells[cell], *j = &b->diagram->cells[other];
	double a[3], level = (double)(j->b - i->b) / FEM_CUT_GRID, size = fabs(level);
	for (int axis = 0; axis < 3; axis++) {
		a[axis] = (double)(j->a[axis] - i->a[axis]);
		size += fabs(a[axis]);
	}
	for (int32_t n = 0; n < b->corner_count; n++) {
		FemVec3d at = b->corners[n].at;
		if (a[0] * at.x + a[1] * at.y + a[2] * at.z + level < SIDE_MARGIN * size)
			return true;
	}
	return false;
}

static double reach_of(const Builder *b, int32_t cell) {
	double most = 0.0;
	for (int32_t n = 0; n < b->corner_count; n++) {
		FemVec3d offset = fem_vec3d_sub(apply(b->sites->metric, b->corners[n].at), b->places[cell]);
		most = fmax(most, fem_vec3d_dot(offset, offset));
	}
	return sqrt(most);
}

static bool clip_cell(Builder *b, int32_t cell, int32_t other) {
	bool keeps[CORNER_MAX];
	int32_t kept = 0, count = b->corner_count;
	for (int32_t n = 0; n < count; n++) {
		const int32_t *planes = b->corners[n].planes;
		keeps[n] = fem_cut_keeps_corner(b->diagram, cell, planes[0], planes[1], planes[2], other);
		if (keeps[n])
			b->kept[kept++] = b->corners[n];
	}
	if (kept == count)
		return true;
	for (int32_t n = 0; n < count; n++)
		for (int32_t m = 0; keeps[n] && m < count; m++) {
			int32_t edge[2];
			if (keeps[m] || !share_edge(&b->corners[n], &b->corners[m], edge))
				continue;
			if (kept == CORNER_MAX)
				return false;
			b->kept[kept] = (Corner){.planes = {edge[0], edge[1], other}};
			b->kept[kept++].at = fem_cut_corner_at(b->diagram, cell, edge[0], edge[1], other);
		}
	FEM_ASSERT(kept == 0 || kept >= 4); // what is left of a cell is a polyhedron, or nothing
	Corner *swapped = b->corners;
	b->corners = b->kept;
	b->kept = swapped;
	b->corner_count = kept;
	b->reach = reach_of(b, cell);
	return true;
}

// Buckets whose largest distance along an axis from the site's own is `ring`; false when no bucket is so far.
static bool clip_by_ring(Builder *b, int32_t cell, int32_t ring, bool *out_good) {
	const Grid *grid = &b->grid;
	int32_t low[3], high[3], own[3];
	bool any = false;
	for (int axis = 0; axis < 3; axis++) {
		own[axis] = bucket_on(grid, b->places[cell], axis);
		low[axis] = own[axis] - ring < 0 ? 0 : own[axis] - ring;
		high[axis] = own[axis] + ring >= grid->counts[axis] ? grid->counts[axis] - 1 : own[axis] + ring;
		any = any || own[axis] - ring >= 0 || own[axis] + ring < grid->counts[axis];
	}
	for (int32_t x = low[0]; any && x <= high[0]; x++)
		for (int32_t y = low[1]; y <= high[1]; y++) {
			bool edge = abs(x - own[0]) == ring || abs(y - own[1]) == ring;
			for (int32_t z = low[2]; z <= high[2]; z++) {
				if (!edge && abs(z - own[2]) != ring)
					continue;
				int32_t bucket = (x * grid->counts[1] + y) * grid->counts[2] + z;
				for (int32_t n = grid->start[bucket]; n < grid->start[bucket + 1]; n++)
					if (grid->sites[n] != cell && may_reach(b, cell, grid->sites[n]))
						*out_good = clip_cell(b, cell, grid->sites[n]) && *out_good;
			}
		}
	return any;
}

// The least distance from the mean of the corners to a neighbour's border.
static float radius_of(const Builder *b, int32_t cell) {
	const FemCutCell *i = &b->diagram->cells[cell];
	FemVec3d mean = {0};
	double least = 1.0;
	for (int32_t n = 0; n < b->corner_count; n++)
		mean = fem_vec3d_add(mean, fem_vec3d_scale(b->corners[n].at, 1.0 / b->corner_count));
	for (int32_t n = 0; n < 3 * b->corner_count; n++) {
		int32_t other = b->corners[n / 3].planes[n % 3];
		if (other < 0)
			continue;
		const FemCutCell *j = &b->diagram->cells[other];
		FemVec3d a = {(double)(j->a[0] - i->a[0]), (double)(j->a[1] - i->a[1]), (double)(j->a[2] - i->a[2])};
		double value = fem_vec3d_dot(a, mean) + (double)(j->b - i->b) / FEM_CUT_GRID,
			   length = sqrt(fem_vec3d_dot(a, a));
		least = length > 0.0 ? fmin(least, fmax(value / length, 0.0)) : least;
	}
	return (float)least;
}

static bool find_neighbors(Builder *b, int32_t cell) {
	bool good = true;
	start_cell(b, cell);
	b->reach = reach_of(b, cell);
	for (int32_t ring = 0; good; ring++) {
		if (!clip_by_ring(b, cell, ring, &good) || b->corner_count == 0)
			break;
		double far = ring * b->grid.cell, slack = b->sites->sites[cell].weight - b->weight_max;
		if (far > 0.0 && (far * far + slack) / (2.0 * far) > b->reach * REACH_MARGIN)
			break;
	}
	b->diagram->radii[cell] = radius_of(b, cell);
	if (b->corner_count > 0 && b->diagram->first_cell < 0)
		b->diagram->first_cell = cell;
	for (int32_t n = 0; good && n < 3 * b->corner_count; n++) {
		int32_t other = b->corners[n / 3].planes[n % 3];
		if (other < 0)
			continue;
		if (!FEM_GROW(b->pairs, b->pair_count, &b->pair_capacity))
			return false;
		b->pairs[b->pair_count][0] = cell;
		b->pairs[b->pair_count++][1] = other;
	}
	return good;
}

// ---- result

// The pairs lie cell by cell; within a cell they are sorted and told once.
static bool store_neighbors(Builder *b) {
	FemCutDiagram *d = b->diagram;
	d->start = FEM_ALLOC_ARRAY(int32_t, d->cell_count + 1);
	d->neighbors = FEM_ALLOC_ARRAY(int32_t, b->pair_count + 1);
	d->neighbor_count = b->pair_count + 1;
	if (!d->start || !d->neighbors)
		return false;
	int32_t at = 0, pair = 0;
	for (int32_t i = 0; i < d->cell_count; i++) {
		d->start[i] = at;
		for (; pair < b->pair_count && b->pairs[pair][0] == i; pair++) {
			int32_t other = b->pairs[pair][1], n = at;
			while (n > d->start[i] && d->neighbors[n - 1] > other)
				n--;
			if (n > d->start[i] && d->neighbors[n - 1] == other)
				continue;
			memmove(d->neighbors + n + 1, d->neighbors + n, sizeof(int32_t) * (size_t)(at - n));
			d->neighbors[n] = other;
			at++;
		}
	}
	d->start[d->cell_count] = at;
	FEM_ASSERT(pair == b->pair_count && at <= d->neighbor_count && fem_are_starts(d->start, d->cell_count));
	for (int32_t i = 0; FEM_HAS_ASSERTS && i < d->cell_count; i++)
		FEM_ASSERT(fem_is_ascending(d->neighbors + d->start[i], d->start[i + 1] - d->start[i]));
	return true;
}

static bool build(Builder *b) {
	const FemCutSites *sites = b->sites;
	b->diagram->cells = FEM_ALLOC_ARRAY(FemCutCell, sites->count);
	b->places = FEM_ALLOC_ARRAY(FemVec3d, sites->count);
	b->corners = FEM_ALLOC_ARRAY(Corner, CORNER_MAX);
	b->kept = FEM_ALLOC_ARRAY(Corner, CORNER_MAX);
	b->diagram->radii = FEM_ALLOC_ARRAY(float, sites->count);
	if (!b->diagram->cells || !b->diagram->radii || !b->places || !b->corners || !b->kept)
		return false;
	b->weight_max = sites->sites[0].weight;
	for (int32_t i = 0; i < sites->count; i++) {
		b->places[i] = apply(sites->metric, sites->sites[i].at);
		b->weight_max = fmax(b->weight_max, sites->sites[i].weight);
	}
	make_cells(b);
	if (!fill_grid(b))
		return false;
	for (int32_t i = 0; i < sites->count; i++)
		if (!find_neighbors(b, i))
			return false;
	return b->diagram->first_cell >= 0 && store_neighbors(b);
}

FemResult fem_cut_diagram_create(FemCutDiagram *diagram, const FemCutSites *sites, const double half_extents[3]) {
	*diagram = (FemCutDiagram){.cell_count = sites->count, .splinter_count = sites->splinter_count, .first_cell = -1};
	for (int axis = 0; axis < 3; axis++)
		diagram->box[axis] = (int32_t)fmin(half_extents[axis] * FEM_CUT_GRID * BOX_MARGIN + BOX_STEPS, FEM_CUT_REACH);
	Builder builder = {.diagram = diagram, .sites = sites};
	bool good = !sites->failed && sites->count > 0 && build(&builder);
	if (builder.grid.start) {
		const int32_t *counts = builder.grid.counts;
		FEM_FREE_ARRAY(builder.grid.start, counts[0] * counts[1] * counts[2] + 2);
	}
	FEM_FREE_ARRAY(builder.grid.sites, sites->count);
	FEM_FREE_ARRAY(builder.places, sites->count);
	FEM_FREE_ARRAY(builder.corners, CORNER_MAX);
	FEM_FREE_ARRAY(builder.kept, CORNER_MAX);
	FEM_FREE_ARRAY(builder.pairs, builder.pair_capacity);
	if (good)
		return FEM_OK;
	fem_cut_diagram_free(diagram);
	return fem_fail(
		FEM_ERROR_MEMORY, "The system gave no memory for %d cells to cut by: ask for fewer pieces.", sites->count);
}

void fem_cut_diagram_free(FemCutDiagram *diagram) {
	FEM_FREE_ARRAY(diagram->cells, diagram->cell_count);
	FEM_FREE_ARRAY(diagram->radii, diagram->cell_count);
	FEM_FREE_ARRAY(diagram->start, diagram->cell_count + 1);
	FEM_FREE_ARRAY(diagram->neighbors, diagram->neighbor_count);
	*diagram = (FemCutDiagram){0};
}
