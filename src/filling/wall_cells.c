#include "filling/wall_cells.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/edge_table.h"
#include "filling/revolved_skin.h"

#include <stdlib.h>
#include <string.h>

#define FINE_EDGE 0.5        // cells' sides: edges of the skin that is coarsened are no longer than this; chosen
#define FINE_PER_CELL 64     // triangles of that skin for each wanted at the most; chosen
#define FACING_COSINE (-0.5) // of the two normals of a wall: others meet at a rim or in a corner; chosen
#define THINNEST 0.25        // of the median depth: thinner cells are thickened, or they would be slivers; chosen
#define MITER_MOST 2.5      // wall thicknesses that a node may lie below its vertex: a cube's corner needs 1.73; chosen
#define MITER_EVENNESS 1e-3 // weight of the plain offset along the normal against the planes; chosen
#define RIM_EVENNESS 1.0    // the same where that offset goes to where the facing skin ends; chosen
#define BELOW_LEAST 0.1  // of a cell's depth that its lower corners lie below it, or they go along the normal; chosen
#define SHRINK 0.7       // factor on the depth of cells that turned over; chosen
#define SHRINK_ROUNDS 12 // ... which is 1.4 % of it at the end; chosen
#define TET_LEAST 0.15   // of a third of the prism, below which a tet counts as turned over; chosen
#define VOLUME_ROUNDS 3  // of scaling the depth to the volume that is wanted; chosen
#define VOLUME_SCALE_MOST 1.15 // and its inverse: what is farther off is missing or too much, not coarse; chosen

typedef struct Cells {
	const FemWall *wall;
	FemSkin coarse;
	double *depths;                       // [coarse triangle]
	FemVec3d *offsets;                    // [coarse vertex]: from the upper to the lower node
	double *scales;                       // [coarse vertex]: of the offset, where cells would turn over
	int32_t triangle_count, vertex_count; // of the arrays
} Cells;

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the cells of a wall: ask for fewer elements.");
}

static FemVec3d unit(FemVec3d a) {
	double length = sqrt(fem_vec3d_dot(a, a));
	return fem_vec3d_scale(a, length > 0.0 ? 1.0 / length : 0.0);
}

// ---- depth of the wall

// Half way where the skin meets itself. A ray that runs farther than walls are thick before it does so ran along the
// next wall, as from the side of a bottle through its bottom: it tells nothing.
static double depth_at(const FemWall *wall, int32_t triangle, FemVec3d at) {
	const FemSolid *solid = wall->solid;
	int32_t facing;
	double depth = fem_wall_depth(solid, triangle, at, 2.0, &facing);
	if (depth <= 0.0)
		return -1.0;
	FemVec3d here = unit(fem_triangle_area_vector(&solid->triangles, triangle));
	if (fem_vec3d_dot(here, unit(fem_triangle_area_vector(&solid->triangles, facing))) > FACING_COSINE)
		return -1.0;
	if (wall->def.sides[facing] != FEM_SIDE_LAID)
		return depth;
	bool ran_along = wall->def.volume > 0.0 && 0.5 * depth > wall->def.depth_max;
	return ran_along ? -1.0 : 0.5 * depth;
}

static void measure_depths(FemWall *wall) {
	const FemSkin *fine = &wall->fine;
	for (int32_t t = 0; t < fine->triangle_count && !fem_stop_asked(); t++) {
		FemVec3d middle = {0};
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(middle, fem_vec3d_scale(fine->vertices[fine->triangles[t][v]], 1.0 / 3.0));
		wall->depths[t] = wall->def.sheet > 0.0 ? wall->def.sheet : depth_at(wall, fine->sources[t], middle);
	}
}

static FemResult make_lookup(FemWall *wall) {
	const FemSkin *fine = &wall->fine;
	FemTriangles *lookup = &wall->lookup;
	lookup->vertex_count = lookup->vertex_capacity = fine->vertex_count;
	lookup->triangle_count = lookup->triangle_capacity = fine->triangle_count;
	lookup->vertices = FEM_ALLOC_ARRAY(FemVec3, fine->vertex_count);
	lookup->triangles = (int32_t(*)[3])(void *)FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)fine->triangle_count);
	lookup->components = FEM_ALLOC_ARRAY(int32_t, fine->triangle_count);
	if (!lookup->vertices || !lookup->triangles || !lookup->components)
		return no_memory();
	for (int32_t v = 0; v < fine->vertex_count; v++)
		lookup->vertices[v] = fem_vec3d_to_vec3(fine->vertices[v]);
	memcpy(lookup->triangles, fine->triangles, sizeof *fine->triangles * (size_t)fine->triangle_count);
	for (int32_t t = 0; t < fine->triangle_count; t++)
		lookup->components[t] = t;
	return fem_triangle_bvh_create(&wall->bvh, lookup);
}

static int compare_doubles(const void *left, const void *right) {
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

static double median_of(double *values, int32_t count) {
	qsort(values, (size_t)count, sizeof *values, compare_doubles);
	return count > 0 ? values[(count - 1) / 2] : -1.0;
}

// The median over a cell: near an edge of a box rays run along the wall next to it.
static double cell_depth(const Cells *cells, int32_t t) {
	const FemSkin *coarse = &cells->coarse;
	double found[FEM_WALL_SAMPLES];
	int32_t count = 0;
	for (int i = 0; i < FEM_WALL_SAMPLES; i++) {
		FemVec3d p = {0}, nearest;
		int32_t triangle;
		for (int v = 0; v < 3; v++)
			p = fem_vec3d_add(p,
				fem_vec3d_scale(
					coarse->vertices[coarse->triangles[t][v]], fem_wall_samples[i][v] / FEM_WALL_SAMPLE_PARTS));
		fem_bvh_nearest(&cells->wall->bvh, p, 2.0, &triangle, &nearest);
		double depth = triangle >= 0 ? cells->wall->depths[cells->wall->lookup.components[triangle]] : -1.0;
		if (depth > 0.0)
			found[count++] = depth;
	}
	return median_of(found, count);
}

// Cells that know no depth take the median of all.
static bool fill_depths(Cells *cells, double *out_median) {
	int32_t count = cells->coarse.triangle_count, known = 0;
	double *sorted = FEM_ALLOC_ARRAY(double, count);
	if (!sorted)
		return false;
	for (int32_t t = 0; t < count && !fem_stop_asked(); t++) {
		cells->depths[t] = fmin(cell_depth(cells, t), cells->wall->def.depth_max);
		if (cells->depths[t] > 0.0)
			sorted[known++] = cells->depths[t];
	}
	*out_median = median_of(sorted, known);
	for (int32_t t = 0; t < count; t++)
		cells->depths[t] = cells->depths[t] > 0.0 ? fmax(cells->depths[t], THINNEST * *out_median) : *out_median;
	FEM_FREE_ARRAY(sorted, count);
	return true;
}

// ---- offsets

typedef struct Miter {
	double a[6]; // sum of w n n^T: xx yy zz xy yz zx
	FemVec3d b;  // sum of w n depth
	FemVec3d normal;
	double weight, depth;
	bool on_border;
} Miter;

static FemVec3d solve(const double a[6], FemVec3d b) {
	FemVec3d r0 = {a[0], a[3], a[5]}, r1 = {a[3], a[1], a[4]}, r2 = {a[5], a[4], a[2]};
	FemVec3d c0 = fem_vec3d_cross(r1, r2), c1 = fem_vec3d_cross(r2, r0), c2 = fem_vec3d_cross(r0, r1);
	double determinant = fem_vec3d_dot(r0, c0);
	FemVec3d x = fem_vec3d_add(fem_vec3d_scale(c0, b.x), fem_vec3d_scale(c1, b.y));
	return fem_vec3d_scale(fem_vec3d_add(x, fem_vec3d_scale(c2, b.z)), determinant > 0.0 ? 1.0 / determinant : 0.0);
}

static FemVec3d nearest_on(const FemVec3d segment[2], FemVec3d p) {
	FemVec3d along = fem_vec3d_sub(segment[1], segment[0]);
	double length_sq = fem_vec3d_dot(along, along);
	double t = length_sq > 0.0 ? fem_vec3d_dot(fem_vec3d_sub(p, segment[0]), along) / length_sq : 0.0;
	return fem_vec3d_add(segment[0], fem_vec3d_scale(along, fmin(fmax(t, 0.0), 1.0)));
}

// At a rim the planes say little of how far along the wall the lower node lies: where the facing skin ends, if that is
// within reach. Against the normal, as `io_plain` is along it.
static bool offset_at_rim(const FemWall *wall, FemVec3d at, double reach, FemVec3d *io_plain) {
	FemVec3d expected = fem_vec3d_sub(at, *io_plain);
	double nearest = reach * reach;
	bool found = false;
	for (int32_t i = 0; i < wall->rim_count; i++) {
		FemVec3d p = nearest_on(wall->rim[i], expected), off = fem_vec3d_sub(p, expected);
		double distance_sq = fem_vec3d_dot(off, off);
		if (distance_sq < nearest) {
			nearest = distance_sq;
			*io_plain = fem_vec3d_sub(at, p);
			found = true;
		}
	}
	return found;
}

// Where the planes of the triangles round a vertex meet when each has moved inward by its depth, in the least squares.
static FemVec3d offset_of(const FemWall *wall, const Miter *miter, FemVec3d at) {
	FemVec3d plain = fem_vec3d_scale(unit(miter->normal), miter->depth / miter->weight);
	double a[6], even = MITER_EVENNESS * miter->weight, most = MITER_MOST * miter->depth / miter->weight;
	if (miter->on_border && offset_at_rim(wall, at, most, &plain))
		even = RIM_EVENNESS * miter->weight;
	for (int i = 0; i < 6; i++)
		a[i] = miter->a[i] + (i < 3 ? even : 0.0);
	FemVec3d down = solve(a, fem_vec3d_add(miter->b, fem_vec3d_scale(plain, even)));
	double length = sqrt(fem_vec3d_dot(down, down));
	return fem_vec3d_scale(down, length > most ? -most / length : -1.0);
}

static bool fill_offsets(Cells *cells) {
	const FemSkin *coarse = &cells->coarse;
	Miter *miters = FEM_ALLOC_ARRAY(Miter, coarse->vertex_count);
	FemEdgeTable edges;
	if (!miters || !fem_edge_table_create(&edges, coarse->triangles, coarse->triangle_count)) {
		FEM_FREE_ARRAY(miters, coarse->vertex_count);
		return false;
	}
	for (int32_t e = 0; e < edges.edge_count; e++)
		for (int i = 0; i < 2 && edges.sides[e][1] < 0; i++)
			miters[edges.ends[e][i]].on_border = true;
	fem_edge_table_free(&edges);
	for (int32_t t = 0; t < coarse->triangle_count; t++) {
		FemVec3d area = fem_skin_area_vector(coarse, t), n = unit(area);
		double w = sqrt(fem_vec3d_dot(area, area)), depth = cells->depths[t];
		double products[6] = {n.x * n.x, n.y * n.y, n.z * n.z, n.x * n.y, n.y * n.z, n.z * n.x};
		for (int v = 0; v < 3; v++) {
			Miter *miter = &miters[coarse->triangles[t][v]];
			for (int i = 0; i < 6; i++)
				miter->a[i] += w * products[i];
			miter->b = fem_vec3d_add(miter->b, fem_vec3d_scale(n, w * depth));
			miter->normal = fem_vec3d_add(miter->normal, area);
			miter->weight += w;
			miter->depth += w * depth;
		}
	}
	for (int32_t v = 0; v < coarse->vertex_count; v++)
		cells->offsets[v] = offset_of(cells->wall, &miters[v], coarse->vertices[v]);
	for (int32_t t = 0; t < coarse->triangle_count; t++) {
		FemVec3d n = unit(fem_skin_area_vector(coarse, t));
		for (int v = 0; v < 3; v++) {
			int32_t vertex = coarse->triangles[t][v];
			if (fem_vec3d_dot(n, cells->offsets[vertex]) > -BELOW_LEAST * cells->depths[t])
				miters[vertex].weight = -fabs(miters[vertex].weight); // lies above one of its triangles
		}
	}
	for (int32_t v = 0; v < coarse->vertex_count; v++)
		if (miters[v].weight < 0.0)
			cells->offsets[v] = fem_vec3d_scale(unit(miters[v].normal), miters[v].depth / miters[v].weight);
	FEM_FREE_ARRAY(miters, coarse->vertex_count);
	return true;
}

// ---- cells

// share: 0 at the lower node of a vertex, 1 at the upper.
static FemVec3d node_at(const Cells *cells, int32_t vertex, double share) {
	double lower = cells->wall->def.sheet > 0.0 ? 0.5 - share : 1.0 - share;
	return fem_vec3d_add(
		cells->coarse.vertices[vertex], fem_vec3d_scale(cells->offsets[vertex], lower * cells->scales[vertex]));
}

// Whether the column at a vertex has the diagonals of its quadrangles' upright faces at its top, in a layer.
static bool is_high(const FemSkin *skin, int32_t vertex, int32_t layer) {
	return skin->is_odd && (skin->is_odd[vertex] != 0) != (layer % 2 == 1);
}

static bool is_before(const FemSkin *skin, int32_t layer, int32_t a, int32_t b) {
	bool high_a = is_high(skin, a, layer), high_b = is_high(skin, b, layer);
	return high_a != high_b ? high_b : a < b;
}

// Corners in one order for all cells of a layer, so that neighbours agree on the diagonals of the upright faces between
// them, which go from the bottom of the earlier column to the top of the later one.
static void order_corners(const FemSkin *skin, int32_t layer, const int32_t triangle[3], int32_t out[3]) {
	memcpy(out, triangle, 3 * sizeof *out);
	for (int i = 1; i < 3; i++)
		for (int j = i; j > 0 && is_before(skin, layer, out[j], out[j - 1]); j--) {
			int32_t kept = out[j];
			out[j] = out[j - 1];
			out[j - 1] = kept;
		}
}

// Nodes of the three tets of a prism: corner 0..2 in the order of their numbers, + 3 for the upper ones.
static const int tet_corners[3][4] = {{0, 3, 4, 5}, {0, 1, 4, 5}, {0, 1, 2, 5}};

static double volume_of(const FemVec3d p[4]) {
	FemVec3d a = fem_vec3d_sub(p[1], p[0]), b = fem_vec3d_sub(p[2], p[0]), c = fem_vec3d_sub(p[3], p[0]);
	return fem_vec3d_dot(a, fem_vec3d_cross(b, c)) / 6.0;
}

// Whether one of its tets is turned over or nearly flat; adds to the volume of all.
static bool is_folded(const Cells *cells, int32_t t, double *io_volume) {
	int32_t corners[3];
	FemVec3d nodes[6], area = fem_skin_area_vector(&cells->coarse, t);
	const FemSkin *coarse = &cells->coarse;
	const int32_t *v = coarse->triangles[t];
	order_corners(coarse, 0, v, corners);
	// An even order of the corners runs round as the triangle does.
	bool even = corners[0] == v[0] ? corners[1] == v[1] : corners[0] == v[1] ? corners[1] == v[2] : corners[1] == v[0];
	bool folded = false;
	double depth = 0.0;
	for (int i = 0; i < 3; i++) {
		nodes[i] = node_at(cells, corners[i], 0.0);
		nodes[i + 3] = node_at(cells, corners[i], 1.0);
		depth += fem_vec3d_dot(fem_vec3d_sub(nodes[i + 3], nodes[i]), area) / 3.0; // times the area
	}
	for (int k = 0; k < 3; k++) {
		FemVec3d p[4];
		for (int i = 0; i < 4; i++)
			p[i] = nodes[tet_corners[k][i]];
		double volume = volume_of(p) * (k == 1 ? -1.0 : 1.0) * (even ? 1.0 : -1.0);
		*io_volume += volume;
		folded = folded || !(volume > TET_LEAST / 3.0 * depth) || !(volume > 0.0);
	}
	return folded;
}

// Halves the depth at the corners of cells that turn over, until none does. False where some still do.
static bool unfold(Cells *cells, double *out_volume) {
	for (int round = 0;; round++) {
		bool any = false;
		*out_volume = 0.0;
		for (int32_t t = 0; t < cells->coarse.triangle_count; t++) {
			if (!is_folded(cells, t, out_volume))
				continue;
			any = true;
			for (int v = 0; v < 3; v++)
				cells->scales[cells->coarse.triangles[t][v]] *= SHRINK;
		}
		if (!any || round == SHRINK_ROUNDS)
			return !any;
	}
}

// Chords are shorter than arcs, and vertices lie a little off: the depth makes up for it.
static bool meet_volume(Cells *cells, double *out_plain) {
	double volume, scale = 1.0;
	bool sound = unfold(cells, &volume);
	*out_plain = volume;
	for (int i = 0; sound && i < VOLUME_ROUNDS && cells->wall->def.volume > 0.0 && volume > 0.0; i++) {
		double next = fmin(fmax(scale * cells->wall->def.volume / volume, 1.0 / VOLUME_SCALE_MOST), VOLUME_SCALE_MOST);
		for (int32_t v = 0; v < cells->coarse.vertex_count; v++)
			cells->scales[v] *= next / scale;
		scale = next;
		sound = unfold(cells, &volume);
	}
	return sound;
}

// Deepens all cells alike.
static bool thicken(Cells *cells, double factor) {
	double volume;
	for (int32_t v = 0; v < cells->coarse.vertex_count; v++)
		cells->scales[v] *= factor;
	return unfold(cells, &volume);
}

// Nodes of a vertex: from the lower to the upper.
static int32_t node_of(const Cells *cells, int32_t first, int32_t vertex, int32_t layer) {
	return first + vertex * (cells->wall->def.layers + 1) + layer;
}

static void add_prism(const Cells *cells, int32_t t, int32_t layer, int32_t first, FemTetList *out) {
	int32_t corners[3], nodes[6];
	order_corners(&cells->coarse, layer, cells->coarse.triangles[t], corners);
	for (int i = 0; i < 3; i++) {
		nodes[i] = node_of(cells, first, corners[i], layer);
		nodes[i + 3] = nodes[i] + 1;
	}
	for (int n = 0; n < 3; n++)
		fem_tet_list_add_tet(out, nodes[tet_corners[n][0]], nodes[tet_corners[n][1]], nodes[tet_corners[n][2]],
			nodes[tet_corners[n][3]]);
}

// Corners of a quadrangle in turn, of the two triangles that are its halves.
static void quadrangle_of(const FemSkin *skin, int32_t t, int32_t out[4]) {
	const int32_t *a = skin->triangles[t], *b = skin->triangles[t + 1];
	for (int v = 0; v < 3; v++) {
		if (a[v] != b[0] && a[v] != b[1] && a[v] != b[2]) {
			out[0] = a[v];
			out[1] = a[(v + 1) % 3];
			out[3] = a[(v + 2) % 3];
		}
		if (b[v] != a[0] && b[v] != a[1] && b[v] != a[2])
			out[2] = b[v];
	}
}

static void add_hexahedron(const Cells *cells, int32_t t, int32_t layer, int32_t first, FemTetList *out) {
	static const int place[4] = {0, 1, 3, 2}; // of the corners in a cube's lower face
	int32_t corners[4] = {0}, nodes[8];
	quadrangle_of(&cells->coarse, t, corners);
	for (int i = 0; i < 4; i++) {
		nodes[place[i]] = node_of(cells, first, corners[i], layer);
		nodes[place[i] + 4] = nodes[place[i]] + 1;
	}
	fem_tet_list_add_cube(out, nodes, is_high(&cells->coarse, corners[0], layer));
}

static void add_cells(const Cells *cells, FemTetList *out) {
	const FemSkin *coarse = &cells->coarse;
	int32_t first = out->node_count, layers = cells->wall->def.layers;
	for (int32_t v = 0; v < coarse->vertex_count; v++)
		for (int32_t k = 0; k <= layers; k++)
			fem_tet_list_add_node(out, node_at(cells, v, (double)k / layers));
	for (int32_t t = 0; t < coarse->triangle_count && !out->failed; t++) {
		bool whole = coarse->first_halves && coarse->first_halves[t];
		for (int32_t k = 0; k < layers; k++) {
			if (whole)
				add_hexahedron(cells, t, k, first, out);
			else
				add_prism(cells, t, k, first, out);
		}
		t += whole;
	}
}

// ---- whole

static double mean_edge(const FemSkin *skin) {
	double sum = 0.0;
	for (int32_t t = 0; t < skin->triangle_count; t++)
		for (int v = 0; v < 3; v++) {
			FemVec3d along =
				fem_vec3d_sub(skin->vertices[skin->triangles[t][v]], skin->vertices[skin->triangles[t][(v + 1) % 3]]);
			sum += sqrt(fem_vec3d_dot(along, along));
		}
	return skin->triangle_count > 0 ? sum / (3.0 * skin->triangle_count) : 0.0;
}

static bool copy_skin(const FemSkin *from, FemSkin *out) {
	*out = *from;
	out->vertices = FEM_ALLOC_ARRAY(FemVec3d, from->vertex_capacity);
	out->triangles = (int32_t(*)[3])(void *)FEM_ALLOC_ARRAY(int32_t, 3 * (size_t)from->triangle_capacity);
	out->sources = FEM_ALLOC_ARRAY(int32_t, from->triangle_capacity);
	if (!out->vertices || !out->triangles || !out->sources)
		return false;
	memcpy(out->vertices, from->vertices, sizeof *from->vertices * (size_t)from->vertex_count);
	memcpy(out->triangles, from->triangles, sizeof *from->triangles * (size_t)from->triangle_count);
	memcpy(out->sources, from->sources, sizeof *from->sources * (size_t)from->triangle_count);
	return true;
}

static bool make_coarse(Cells *cells, double error_max) {
	int32_t wanted = cells->wall->def.triangle_count;
	if (cells->wall->revolved.found
			? !fem_revolved_skin(&cells->wall->revolved, wanted, error_max, &cells->coarse)
			: !copy_skin(&cells->wall->fine, &cells->coarse) || !fem_skin_coarsen(&cells->coarse, wanted, error_max))
		return false;
	cells->triangle_count = cells->coarse.triangle_count;
	cells->vertex_count = cells->coarse.vertex_count;
	cells->depths = FEM_ALLOC_ARRAY(double, cells->triangle_count);
	cells->offsets = FEM_ALLOC_ARRAY(FemVec3d, cells->vertex_count);
	cells->scales = FEM_ALLOC_ARRAY(double, cells->vertex_count);
	return cells->depths && cells->offsets && cells->scales;
}

static FemResult lay_cells(Cells *cells, double error_max, FemTetList *out, FemWallResult *result) {
	if (!make_coarse(cells, error_max))
		return no_memory();
	if (fem_stop_asked())
		return fem_fail_stopped();
	if (!fill_depths(cells, &result->thickness) || !fill_offsets(cells))
		return no_memory();
	for (int32_t v = 0; v < cells->vertex_count; v++)
		cells->scales[v] = 1.0;
	result->edge = mean_edge(&cells->coarse);
	result->made = result->thickness > 0.0 && meet_volume(cells, &result->plain_volume);
	result->thicker = result->made ? fmax(cells->wall->def.depth_least / result->thickness, 1.0) : 1.0;
	if (result->thicker > 1.0)
		result->made = thicken(cells, result->thicker);
	if (result->made)
		add_cells(cells, out);
	if (out->failed)
		return no_memory();
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}

FemResult fem_wall_fill(const FemWall *wall, double error_max, FemTetList *out, FemWallResult *out_result) {
	Cells cells = {.wall = wall};
	*out_result = (FemWallResult){0};
	FemResult result = wall->is_sound ? lay_cells(&cells, error_max, out, out_result) : FEM_OK;
	FEM_FREE_ARRAY(cells.depths, cells.triangle_count);
	FEM_FREE_ARRAY(cells.offsets, cells.vertex_count);
	FEM_FREE_ARRAY(cells.scales, cells.vertex_count);
	fem_skin_free(&cells.coarse);
	return result;
}

// ---- what attempts have in common

static bool find_rim(FemWall *wall) {
	const FemTriangles *triangles = &wall->solid->triangles;
	FemEdgeTable edges;
	if (!fem_edge_table_create(&edges, wall->solid->triangles.triangles, triangles->triangle_count))
		return false;
	for (int pass = 0; pass < 2; pass++) {
		int32_t count = 0;
		for (int32_t e = 0; e < edges.edge_count; e++) {
			int32_t a = edges.sides[e][0], b = edges.sides[e][1];
			bool ends =
				b >= 0 && (wall->def.sides[a / 3] == FEM_SIDE_FACING) != (wall->def.sides[b / 3] == FEM_SIDE_FACING);
			for (int i = 0; i < 2 && ends && wall->rim; i++)
				wall->rim[count][i] = fem_vec3d_from(triangles->vertices[edges.ends[e][i]]);
			count += ends;
		}
		if (pass == 0) {
			wall->rim_capacity = count + 1;
			wall->rim = (FemVec3d(*)[2])(void *)FEM_ALLOC_ARRAY(FemVec3d, 2 * (size_t)wall->rim_capacity);
			if (!wall->rim)
				break;
		}
		wall->rim_count = count;
	}
	fem_edge_table_free(&edges);
	return wall->rim != NULL;
}

static FemResult make_fine(FemWall *wall) {
	const FemWallDef *def = &wall->def;
	double edge = sqrt(4.0 / sqrt(3.0) * fem_skin_area(&wall->fine) / def->triangle_count);
	int32_t most = wall->fine.triangle_count + FINE_PER_CELL * def->triangle_count;
	if (!fem_skin_refine(&wall->fine, FINE_EDGE * edge, most))
		return no_memory();
	wall->depths = FEM_ALLOC_ARRAY(double, wall->fine.triangle_count);
	if (!wall->depths || !find_rim(wall))
		return no_memory();
	measure_depths(wall);
	return fem_stop_asked() ? fem_fail_stopped() : make_lookup(wall);
}

FemResult fem_wall_create(const FemSolid *solid, const FemWallDef *def, FemWall *out) {
	*out = (FemWall){.solid = solid, .def = *def};
	FEM_ASSERT(def->triangle_count > 0 && def->layers > 0);
	FemSkinResult skin = fem_skin_create(&solid->triangles, def->sides, FEM_SIDE_LAID, &out->fine);
	if (skin == FEM_SKIN_MADE && def->in_rings && !fem_revolved_profile_find(&out->fine, &out->revolved))
		skin = FEM_SKIN_NO_MEMORY;
	out->is_sound = skin == FEM_SKIN_MADE && out->fine.triangle_count > 0 && (out->revolved.found || !def->in_rings);
	FemResult result = skin == FEM_SKIN_NO_MEMORY ? no_memory() : out->is_sound ? make_fine(out) : FEM_OK;
	if (result != FEM_OK)
		fem_wall_free(out);
	return result;
}

void fem_wall_free(FemWall *wall) {
	FEM_FREE_ARRAY(wall->depths, wall->fine.triangle_count);
	fem_triangle_bvh_free(&wall->bvh);
	fem_triangles_free(&wall->lookup);
	fem_skin_free(&wall->fine);
	FEM_FREE_ARRAY(wall->rim, wall->rim_capacity);
	*wall = (FemWall){0};
}
