#include "filling/block_grid.h"

#include "base/error.h"
#include "base/growing.h"
#include "base/memory.h"
#include "base/stop_check.h"

#include <stdlib.h>

#define ALIGNED_COSINE 0.9994 // of a face and its axis: 2 degrees; chosen
#define SQUARE_COSINE 0.035   // of two faces at right angles: 2 degrees as well
#define ALIGNED_SHARE 0.9     // of the area that must lie along the axes: the rest are bevels; chosen
#define AXIS_TRIES 64         // triangles whose normals are tried as an axis; chosen
#define SAME_PLANE 1e-5       // of the frame: places of triangles of one face, by rounding; chosen
#define PLANES_MAX 256        // faces along an axis; chosen
#define BLOCKS_MAX 30000      // whose middle is looked at, some microseconds each; chosen
#define NODES_MAX 4000000     // places of nodes in the whole grid, 16 MB; chosen

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the cells of a wall: ask for fewer elements.");
}

// ---- axes

static double along(const double axis[3], FemVec3d v) {
	return axis[0] * v.x + axis[1] * v.y + axis[2] * v.z;
}

// Area of the triangles whose normal lies along an axis.
static double aligned_area(const FemTriangles *triangles, const double axis[3]) {
	double sum = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double area = sqrt(fem_vec3d_dot(n, n));
		sum += fabs(along(axis, n)) > ALIGNED_COSINE * area ? area : 0.0;
	}
	return sum;
}

// The normal that most of the area has, of those at right angles to `other` if there is one.
static double find_axis(const FemTriangles *triangles, const double *other, double out[3]) {
	int32_t stride = triangles->triangle_count / AXIS_TRIES + 1;
	double best = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count && !fem_stop_asked(); t += stride) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double area = sqrt(fem_vec3d_dot(n, n)), axis[3] = {n.x / area, n.y / area, n.z / area};
		if (!(area > 0.0) || (other && fabs(along(other, n)) > SQUARE_COSINE * area))
			continue;
		double found = aligned_area(triangles, axis);
		if (found <= best)
			continue;
		best = found;
		for (int i = 0; i < 3; i++)
			out[i] = axis[i];
	}
	return best;
}

// False where too little of the surface lies along three axes.
static bool find_axes(const FemSolid *solid, double axes[3][3]) {
	const FemTriangles *triangles = &solid->triangles;
	double area = find_axis(triangles, NULL, axes[0]);
	if (area <= 0.0)
		return false;
	double second = find_axis(triangles, axes[0], axes[1]);
	if (second <= 0.0)
		return false;
	double dot = axes[0][0] * axes[1][0] + axes[0][1] * axes[1][1] + axes[0][2] * axes[1][2];
	FemVec3d a = {axes[0][0], axes[0][1], axes[0][2]}, b = {axes[1][0], axes[1][1], axes[1][2]};
	b = fem_vec3d_sub(b, fem_vec3d_scale(a, dot));
	b = fem_vec3d_scale(b, 1.0 / sqrt(fem_vec3d_dot(b, b)));
	FemVec3d c = fem_vec3d_cross(a, b);
	FemVec3d rows[3] = {a, b, c};
	for (int i = 0; i < 3; i++) {
		axes[i][0] = rows[i].x;
		axes[i][1] = rows[i].y;
		axes[i][2] = rows[i].z;
	}
	return area + second + aligned_area(triangles, axes[2]) > ALIGNED_SHARE * fem_solid_area(solid);
}

// ---- planes

typedef struct Place {
	double at, area;
} Place;

static int compare_places(const void *left, const void *right) {
	const Place *a = left, *b = right;
	return a->at < b->at ? -1 : a->at > b->at;
}

// Of places nearer to each other than `merge` the one with the most area stands for all. False without memory.
static bool merge_places(const Place *places, int32_t count, double merge, FemBlockGrid *grid, int axis) {
	for (int32_t i = 0; i < count;) {
		double begin = places[i].at, best_area = 0.0, best = begin;
		while (i < count && places[i].at - begin < merge) {
			double first = places[i].at, area = 0.0;
			for (; i < count && places[i].at - first < SAME_PLANE; i++)
				area += places[i].area;
			best = area > best_area ? first : best;
			best_area = fmax(area, best_area);
		}
		if (!FEM_GROW(grid->planes[axis], grid->plane_count[axis], &grid->plane_capacity[axis]))
			return false;
		grid->planes[axis][grid->plane_count[axis]++] = best;
	}
	return true;
}

static bool find_planes(const FemSolid *solid, double merge, FemBlockGrid *grid, int axis) {
	const FemTriangles *triangles = &solid->triangles;
	Place *places = FEM_ALLOC_ARRAY(Place, triangles->triangle_count);
	int32_t count = 0;
	if (!places)
		return false;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t), middle = {0};
		double area = sqrt(fem_vec3d_dot(n, n));
		if (fabs(along(grid->axes[axis], n)) <= ALIGNED_COSINE * area)
			continue;
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(middle, fem_vec3d_scale(fem_triangle_corner(triangles, t, v), 1.0 / 3.0));
		places[count++] = (Place){along(grid->axes[axis], middle), area};
	}
	qsort(places, (size_t)count, sizeof *places, compare_places);
	bool ready = merge_places(places, count, fmax(merge, SAME_PLANE), grid, axis);
	FEM_FREE_ARRAY(places, triangles->triangle_count);
	return ready;
}

// ---- blocks

static FemVec3d point_at(const FemBlockGrid *grid, const double at[3]) {
	FemVec3d p = {0};
	for (int i = 0; i < 3; i++) {
		FemVec3d axis = {grid->axes[i][0], grid->axes[i][1], grid->axes[i][2]};
		p = fem_vec3d_add(p, fem_vec3d_scale(axis, at[i]));
	}
	return p;
}

// The place of a block along each axis.
static void block_place(const FemBlockGrid *grid, int32_t block, int32_t out[3]) {
	int32_t rows = grid->plane_count[1] - 1, deep = grid->plane_count[2] - 1;
	out[0] = block / (rows * deep);
	out[1] = block / deep % rows;
	out[2] = block % deep;
}

static bool fill_blocks(const FemSolid *solid, FemBlockGrid *grid) {
	int64_t count = 1;
	for (int axis = 0; axis < 3; axis++) {
		if (grid->plane_count[axis] < 2 || grid->plane_count[axis] > PLANES_MAX)
			return true;
		count *= grid->plane_count[axis] - 1;
	}
	if (count > BLOCKS_MAX)
		return true;
	grid->filled = FEM_ALLOC_ARRAY(uint8_t, count);
	if (!grid->filled)
		return false;
	grid->block_count = (int32_t)count;
	for (int32_t b = 0; b < grid->block_count && !fem_stop_asked(); b++) {
		int32_t place[3];
		double middle[3];
		block_place(grid, b, place);
		for (int axis = 0; axis < 3; axis++)
			middle[axis] = 0.5 * (grid->planes[axis][place[axis]] + grid->planes[axis][place[axis] + 1]);
		grid->filled[b] = fem_solid_inside(solid, point_at(grid, middle));
		grid->filled_count += grid->filled[b];
	}
	return true;
}

FemResult fem_block_grid_create(const FemSolid *solid, double merge, FemBlockGrid *out) {
	*out = (FemBlockGrid){0};
	bool ready = true;
	if (find_axes(solid, out->axes)) {
		for (int axis = 0; axis < 3 && ready; axis++)
			ready = find_planes(solid, merge, out, axis);
		ready = ready && fill_blocks(solid, out);
	}
	if (ready && !fem_stop_asked())
		return FEM_OK;
	fem_block_grid_free(out);
	return ready ? fem_fail_stopped() : no_memory();
}

void fem_block_grid_free(FemBlockGrid *grid) {
	for (int axis = 0; axis < 3; axis++)
		FEM_FREE_ARRAY(grid->planes[axis], grid->plane_capacity[axis]);
	FEM_FREE_ARRAY(grid->filled, grid->block_count);
	*grid = (FemBlockGrid){0};
}

// ---- cells

// Into how many cells what lies between a plane and the next is divided.
static int32_t parts_of(const FemBlockGrid *grid, int axis, int32_t slab, double cell) {
	double parts = floor((grid->planes[axis][slab + 1] - grid->planes[axis][slab]) / cell + 0.5);
	return parts < 1.0 ? 1 : (int32_t)fmin(parts, NODES_MAX);
}

double fem_block_grid_tets(const FemBlockGrid *grid, double cell) {
	double sum = 0.0;
	for (int32_t b = 0; b < grid->block_count; b++) {
		int32_t place[3];
		block_place(grid, b, place);
		if (grid->filled[b])
			sum += (double)FEM_CUBE_TETS * parts_of(grid, 0, place[0], cell) * parts_of(grid, 1, place[1], cell) *
				parts_of(grid, 2, place[2], cell);
	}
	return sum;
}

// The lines of the divided grid along each axis.
typedef struct Lines {
	const FemBlockGrid *grid;
	double cell;
	int32_t *first[3]; // [axis][slab]: its first line; one more for the last line of all
	int32_t count[3];  // lines
	int32_t *nodes;    // [line, line, line]: node + 1; 0: none yet
	int64_t node_places;
	FemTetList *out;
} Lines;

static bool make_lines(Lines *lines) {
	lines->node_places = 1;
	for (int axis = 0; axis < 3; axis++) {
		int32_t planes = lines->grid->plane_count[axis];
		lines->first[axis] = FEM_ALLOC_ARRAY(int32_t, planes);
		if (!lines->first[axis])
			return false;
		for (int32_t i = 0; i + 1 < planes; i++)
			lines->first[axis][i + 1] = lines->first[axis][i] + parts_of(lines->grid, axis, i, lines->cell);
		lines->count[axis] = lines->first[axis][planes - 1] + 1;
		lines->node_places *= lines->count[axis];
		if (lines->node_places > NODES_MAX)
			return true;
	}
	lines->nodes = FEM_ALLOC_ARRAY(int32_t, lines->node_places);
	return lines->nodes != NULL;
}

static void free_lines(Lines *lines) {
	for (int axis = 0; axis < 3; axis++)
		FEM_FREE_ARRAY(lines->first[axis], lines->grid->plane_count[axis]);
	if (lines->nodes)
		FEM_FREE_ARRAY(lines->nodes, lines->node_places);
}

// The node where three lines meet; `place` is the block it is asked for.
static int32_t node_at(Lines *lines, const int32_t place[3], const int32_t line[3]) {
	int32_t *node = &lines->nodes[((int64_t)line[0] * lines->count[1] + line[1]) * lines->count[2] + (int64_t)line[2]];
	if (*node == 0) {
		double at[3];
		for (int axis = 0; axis < 3; axis++) {
			const double *planes = lines->grid->planes[axis] + place[axis];
			const int32_t *first = lines->first[axis] + place[axis];
			double share = (double)(line[axis] - first[0]) / (first[1] - first[0]);
			at[axis] = planes[0] + share * (planes[1] - planes[0]);
		}
		*node = 1 + fem_tet_list_add_node(lines->out, point_at(lines->grid, at));
	}
	return *node - 1;
}

static void add_cell(Lines *lines, const int32_t place[3], const int32_t low[3]) {
	int32_t nodes[8];
	for (int corner = 0; corner < 8; corner++) {
		int32_t line[3] = {low[0] + (corner & 1), low[1] + (corner >> 1 & 1), low[2] + (corner >> 2)};
		nodes[corner] = node_at(lines, place, line);
	}
	fem_tet_list_add_cube(lines->out, nodes, (low[0] + low[1] + low[2]) % 2 == 1);
}

static void add_block(Lines *lines, int32_t block) {
	int32_t place[3], low[3];
	block_place(lines->grid, block, place);
	const int32_t *first[3] = {lines->first[0] + place[0], lines->first[1] + place[1], lines->first[2] + place[2]};
	for (low[0] = first[0][0]; low[0] < first[0][1]; low[0]++)
		for (low[1] = first[1][0]; low[1] < first[1][1]; low[1]++)
			for (low[2] = first[2][0]; low[2] < first[2][1] && !lines->out->failed; low[2]++)
				add_cell(lines, place, low);
}

FemResult fem_block_grid_fill(const FemBlockGrid *grid, double cell, FemTetList *out) {
	Lines lines = {.grid = grid, .cell = cell, .out = out};
	bool ready = make_lines(&lines);
	for (int32_t b = 0; lines.nodes && b < grid->block_count && !fem_stop_asked(); b++) {
		if (grid->filled[b])
			add_block(&lines, b);
	}
	free_lines(&lines);
	if (!ready || out->failed)
		return no_memory();
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}
