#include "filling/block_grid.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"

#include <string.h>

#define PLANES_MAX 256    // faces along an axis; chosen
#define BLOCKS_MAX 30000  // whose middle is looked at, some microseconds each; chosen
#define NODES_MAX 4000000 // places of nodes in the whole grid, 16 MB; chosen
#define SKEW_LEAST 0.1    // of the product of a block's three edges: the volume they span at each corner; chosen

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the cells of a wall: ask for fewer elements.");
}

// ---- blocks

// Where three planes meet, one of each family.
static FemVec3d crossing_of(const FemBlockGrid *grid, const int32_t at[3]) {
	const FemFacePlane *p[3];
	for (int axis = 0; axis < 3; axis++)
		p[axis] = &grid->families[axis].planes[at[axis]];
	FemVec3d a = fem_vec3d_cross(p[1]->normal, p[2]->normal), b = fem_vec3d_cross(p[2]->normal, p[0]->normal),
			 c = fem_vec3d_cross(p[0]->normal, p[1]->normal);
	FemVec3d sum = fem_vec3d_add(fem_vec3d_scale(a, p[0]->at), fem_vec3d_scale(b, p[1]->at));
	double determinant = fem_vec3d_dot(p[0]->normal, a);
	return fem_vec3d_scale(
		fem_vec3d_add(sum, fem_vec3d_scale(c, p[2]->at)), determinant != 0.0 ? 1.0 / determinant : 0.0);
}

// Corners are numbered by a bit for each axis.
static void block_corners(const FemBlockGrid *grid, const int32_t place[3], FemVec3d out[8]) {
	for (int corner = 0; corner < 8; corner++) {
		int32_t at[3] = {place[0] + (corner & 1), place[1] + (corner >> 1 & 1), place[2] + (corner >> 2)};
		out[corner] = crossing_of(grid, at);
	}
}

static FemVec3d point_in(const FemVec3d corners[8], const double shares[3]) {
	FemVec3d p = {0};
	for (int corner = 0; corner < 8; corner++) {
		double weight = 1.0;
		for (int axis = 0; axis < 3; axis++)
			weight *= corner >> axis & 1 ? shares[axis] : 1.0 - shares[axis];
		p = fem_vec3d_add(p, fem_vec3d_scale(corners[corner], weight));
	}
	return p;
}

// Whether planes of one family do not cross in a block, nor lie nearly along those of another.
static bool is_upright(const FemVec3d corners[8]) {
	double sign = 0.0;
	for (int corner = 0; corner < 8; corner++) {
		FemVec3d edge[3];
		double lengths = 1.0;
		for (int axis = 0; axis < 3; axis++) {
			int low = corner & ~(1 << axis);
			edge[axis] = fem_vec3d_sub(corners[low | 1 << axis], corners[low]);
			lengths *= sqrt(fem_vec3d_dot(edge[axis], edge[axis]));
		}
		double volume = fem_vec3d_dot(edge[0], fem_vec3d_cross(edge[1], edge[2]));
		sign = corner == 0 ? (volume < 0.0 ? -1.0 : 1.0) : sign;
		if (!(sign * volume > SKEW_LEAST * lengths))
			return false;
	}
	return true;
}

// The place of a block along each axis.
static void block_place(const FemBlockGrid *grid, int32_t block, int32_t out[3]) {
	int32_t rows = grid->families[1].count - 1, deep = grid->families[2].count - 1;
	out[0] = block / (rows * deep);
	out[1] = block / deep % rows;
	out[2] = block % deep;
}

// False where the planes do not make blocks.
static bool are_blocks(const FemBlockGrid *grid, int64_t *out_count) {
	*out_count = 1;
	for (int axis = 0; axis < 3; axis++) {
		int32_t count = grid->families[axis].count;
		if (count < 2 || count > PLANES_MAX)
			return false;
		*out_count *= count - 1;
	}
	if (*out_count > BLOCKS_MAX)
		return false;
	for (int32_t b = 0; b < *out_count; b++) {
		int32_t place[3];
		FemVec3d corners[8];
		block_place(grid, b, place);
		block_corners(grid, place, corners);
		if (!is_upright(corners))
			return false;
	}
	return true;
}

// Adds the mean length of a block's edges along each axis to its slabs.
static void measure_spans(FemBlockGrid *grid, const int32_t place[3], const FemVec3d corners[8]) {
	for (int axis = 0; axis < 3; axis++) {
		FemSlab *slab = &grid->slabs[axis][place[axis]];
		for (int corner = 0; corner < 8; corner++) {
			FemVec3d edge = fem_vec3d_sub(corners[corner | 1 << axis], corners[corner & ~(1 << axis)]);
			slab->length += sqrt(fem_vec3d_dot(edge, edge)) / 8.0;
		}
		slab->blocks++;
	}
}

static bool fill_blocks(const FemSolid *solid, FemBlockGrid *grid) {
	static const double middle[3] = {0.5, 0.5, 0.5}; // shares of a block along its axes
	int64_t count;
	if (!are_blocks(grid, &count))
		return true;
	grid->filled = FEM_ALLOC_ARRAY(uint8_t, count);
	grid->block_count = (int32_t)count;
	for (int axis = 0; axis < 3; axis++)
		grid->slabs[axis] = FEM_ALLOC_ARRAY(FemSlab, grid->families[axis].count);
	if (!grid->filled || !grid->slabs[0] || !grid->slabs[1] || !grid->slabs[2])
		return false;
	for (int32_t b = 0; b < grid->block_count && !fem_stop_asked(); b++) {
		int32_t place[3];
		FemVec3d corners[8];
		block_place(grid, b, place);
		block_corners(grid, place, corners);
		grid->filled[b] = fem_solid_inside(solid, point_in(corners, middle));
		grid->filled_count += grid->filled[b];
		if (grid->filled[b])
			measure_spans(grid, place, corners);
	}
	return true;
}

FemResult fem_block_grid_create(const FemSolid *solid, double merge, FemBlockGrid *out) {
	memset(out, 0, sizeof *out);
	bool ready = fem_plane_families_find(solid, merge, out->families) && fill_blocks(solid, out);
	if (ready && !fem_stop_asked())
		return FEM_OK;
	fem_block_grid_free(out);
	return ready ? fem_fail_stopped() : no_memory();
}

void fem_block_grid_free(FemBlockGrid *grid) {
	for (int axis = 0; axis < 3; axis++)
		FEM_FREE_ARRAY(grid->slabs[axis], grid->families[axis].count);
	FEM_FREE_ARRAY(grid->filled, grid->block_count);
	fem_plane_families_free(grid->families);
	memset(grid, 0, sizeof *grid);
}

// ---- cells

// Into how many cells what lies between a plane and the next is divided.
static int32_t parts_of(const FemBlockGrid *grid, int axis, int32_t slab, double cell) {
	const FemSlab *between = &grid->slabs[axis][slab];
	double parts = between->blocks > 0 ? floor(between->length / between->blocks / cell + 0.5) : 1.0;
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
		int32_t planes = lines->grid->families[axis].count;
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
		FEM_FREE_ARRAY(lines->first[axis], lines->grid->families[axis].count);
	if (lines->nodes)
		FEM_FREE_ARRAY(lines->nodes, lines->node_places);
}

// The node where three lines meet; `place` is the block it is asked for.
static int32_t node_at(Lines *lines, const int32_t place[3], const int32_t line[3]) {
	int32_t *node = &lines->nodes[((int64_t)line[0] * lines->count[1] + line[1]) * lines->count[2] + (int64_t)line[2]];
	if (*node == 0) {
		double shares[3];
		for (int axis = 0; axis < 3; axis++) {
			const int32_t *first = lines->first[axis] + place[axis];
			shares[axis] = (double)(line[axis] - first[0]) / (first[1] - first[0]);
		}
		FemVec3d corners[8];
		block_corners(lines->grid, place, corners);
		*node = 1 + fem_tet_list_add_node(lines->out, point_in(corners, shares));
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
