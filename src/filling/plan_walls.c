#include "filling/plan_walls.h"

#include "base/error.h"
#include "base/growing.h"
#include "base/memory.h"
#include "base/stop_check.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNED_COSINE 0.9994 // of a normal along the axis: 2 degrees; chosen
#define SQUARE_COSINE 0.035   // of one square to it: 2 degrees as well
#define APART_SINE 0.1        // of two normals whose cross product is tried as an axis: 6 degrees; chosen
#define AXIS_SHARE 0.98       // of the area that must be parallel or square to the axis: the rest are bevels; chosen
#define AXIS_TRIES 24         // triangles whose normals, and the products of two of them, are tried; chosen
#define TRIANGLES_MAX 60000   // of meshes that are looked at: 300 axes are tried, 0.2 s; chosen
#define SIDES_MAX 30000       // triangles seen as lines, which long ones are split into; chosen
#define LINES_MAX 6000        // of those while they are joined ...
#define EDGES_MAX 1500        // ... and of the plan, to bound the search; both chosen
#define LEVELS_MAX 256        // chosen
#define PARTS_MAX 30000       // of the plan and between levels, whose insides are asked for; chosen
#define NODES_MAX 4000000     // places of nodes, 16 MB; chosen
#define REACH 2.5             // walls: rungs are no longer, and strips no wider; chosen
#define HIGH 2.5              // walls: what is lower between two levels is a floor; chosen
#define SAME_LINE 0.1         // of what counts as one: how far triangles of one face may be from its line; chosen
#define SAME_LEVEL 1e-3       // of that: heights of one face, by rounding; chosen
#define FLAT_COSINE 0.7       // of an axis that is no good to make another square to; chosen
#define NARROWEST 0.02        // walls: the least height of a triangle of the plan; chosen
#define PRISM_TETS 3          // of a triangle and a layer

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the cells of a wall: ask for fewer elements.");
}

static double length_of(FemVec3d v) {
	return sqrt(fem_vec3d_dot(v, v));
}

// ---- axis

// Area of the triangles that are parallel or square to an axis.
static double area_along(const FemTriangles *triangles, FemVec3d axis) {
	double sum = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double area = length_of(n), along = fabs(fem_vec3d_dot(axis, n));
		sum += along > ALIGNED_COSINE * area || along < SQUARE_COSINE * area ? area : 0.0;
	}
	return sum;
}

// Normals of triangles from all over the mesh, no two alike. Returns their number.
static int find_normals(const FemTriangles *triangles, FemVec3d out[AXIS_TRIES]) {
	int count = 0;
	for (int32_t t = 0; t < triangles->triangle_count && count < AXIS_TRIES; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double area = length_of(n);
		bool is_new = area > 0.0;
		n = fem_vec3d_scale(n, is_new ? 1.0 / area : 0.0);
		for (int i = 0; i < count && is_new; i++)
			is_new = length_of(fem_vec3d_cross(n, out[i])) > APART_SINE;
		if (is_new)
			out[count++] = n;
	}
	return count;
}

static void try_axis(const FemTriangles *triangles, FemVec3d axis, double *best, FemVec3d *out) {
	double length = length_of(axis);
	if (length < APART_SINE)
		return;
	axis = fem_vec3d_scale(axis, 1.0 / length);
	double found = area_along(triangles, axis);
	if (found <= *best)
		return;
	*best = found;
	*out = axis;
}

static bool find_axes(const FemSolid *solid, FemVec3d axes[3]) {
	FemVec3d normals[AXIS_TRIES];
	int count = find_normals(&solid->triangles, normals);
	double best = 0.0;
	for (int i = 0; i < count; i++) {
		try_axis(&solid->triangles, normals[i], &best, &axes[2]);
		for (int k = 0; k < i && !fem_stop_asked(); k++)
			try_axis(&solid->triangles, fem_vec3d_cross(normals[k], normals[i]), &best, &axes[2]);
	}
	if (best < AXIS_SHARE * fem_solid_area(solid))
		return false;
	FemVec3d across = fabs(axes[2].x) < FLAT_COSINE ? (FemVec3d){1.0, 0.0, 0.0} : (FemVec3d){0.0, 1.0, 0.0};
	axes[0] = fem_vec3d_cross(across, axes[2]);
	axes[0] = fem_vec3d_scale(axes[0], 1.0 / length_of(axes[0]));
	axes[1] = fem_vec3d_cross(axes[2], axes[0]);
	return true;
}

// ---- levels

static int compare_areas(const void *left, const void *right) {
	const FemPlanLevel *a = left, *b = right;
	if (a->area != b->area)
		return a->area > b->area ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int compare_places(const void *left, const void *right) {
	const FemPlanLevel *a = left, *b = right;
	return a->at < b->at ? -1 : a->at > b->at;
}

static bool add_level(FemPlanWalls *walls, FemVec3d middle, double area, double merge) {
	double at = fem_vec3d_dot(middle, walls->axes[2]);
	for (int32_t i = 0; i < walls->level_count; i++) {
		if (fabs(walls->levels[i].at - at) < merge) {
			walls->levels[i].area += area;
			return true;
		}
	}
	if (!FEM_GROW(walls->levels, walls->level_count, &walls->level_capacity))
		return false;
	walls->levels[walls->level_count++] = (FemPlanLevel){at, area};
	return true;
}

// Of levels nearer to each other than `merge` the one with the most area stands for all.
static void merge_levels(FemPlanWalls *walls, double merge) {
	int32_t kept = 0;
	qsort(walls->levels, (size_t)walls->level_count, sizeof *walls->levels, compare_areas);
	for (int32_t i = 0; i < walls->level_count; i++) {
		bool is_new = true;
		for (int32_t k = 0; k < kept && is_new; k++)
			is_new = fabs(walls->levels[k].at - walls->levels[i].at) >= merge;
		if (is_new)
			walls->levels[kept++] = walls->levels[i];
	}
	walls->level_count = kept;
	qsort(walls->levels, (size_t)kept, sizeof *walls->levels, compare_places);
}

static bool find_levels(FemPlanWalls *walls, double merge) {
	const FemTriangles *triangles = &walls->solid->triangles;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t), middle = {0.0, 0.0, 0.0};
		double area = length_of(n);
		if (fabs(fem_vec3d_dot(n, walls->axes[2])) <= ALIGNED_COSINE * area)
			continue;
		for (int v = 0; v < 3; v++)
			middle = fem_vec3d_add(middle, fem_vec3d_scale(fem_triangle_corner(triangles, t, v), 1.0 / 3.0));
		if (!add_level(walls, middle, area, SAME_LEVEL * merge))
			return false;
		if (walls->level_count > LEVELS_MAX)
			break;
	}
	merge_levels(walls, merge);
	return true;
}

// ---- plan

typedef struct Line {
	double length, ends[2][2];
} Line;

static int compare_lines(const void *left, const void *right) {
	const Line *a = left, *b = right;
	if (a->length != b->length)
		return a->length > b->length ? -1 : 1;
	return memcmp(a->ends, b->ends, sizeof a->ends);
}

static void place_of(const FemPlanWalls *walls, FemVec3d p, double out[2]) {
	for (int axis = 0; axis < 2; axis++)
		out[axis] = fem_vec3d_dot(p, walls->axes[axis]);
}

// A triangle that is seen as a line: its two corners farthest from each other there.
static Line line_of(const FemPlanWalls *walls, int32_t triangle) {
	double corners[3][2];
	Line line = {.length = -1.0};
	for (int v = 0; v < 3; v++)
		place_of(walls, fem_triangle_corner(&walls->solid->triangles, triangle, v), corners[v]);
	for (int v = 0; v < 3; v++) {
		const double *a = corners[v], *b = corners[(v + 1) % 3];
		double length = hypot(b[0] - a[0], b[1] - a[1]);
		if (length <= line.length)
			continue;
		line.length = length;
		memcpy(line.ends[0], a, sizeof line.ends[0]);
		memcpy(line.ends[1], b, sizeof line.ends[1]);
	}
	return line;
}

static FemVec3d point_at(const FemPlanWalls *walls, const double place[2], double height) {
	FemVec3d p = fem_vec3d_scale(walls->axes[2], height);
	p = fem_vec3d_add(p, fem_vec3d_scale(walls->axes[0], place[0]));
	return fem_vec3d_add(p, fem_vec3d_scale(walls->axes[1], place[1]));
}

static double middle_of_level(const FemPlanWalls *walls, int32_t level) {
	return 0.5 * (walls->levels[level].at + walls->levels[level + 1].at);
}

// Between levels that are no floor, or any where all are floors.
static bool is_wall(void *context, double x, double y) {
	const FemPlanWalls *walls = context;
	bool has_high = false;
	for (int pass = 0; pass < 2; pass++) {
		for (int32_t l = 0; l + 1 < walls->level_count; l++) {
			bool is_high = walls->levels[l + 1].at - walls->levels[l].at > HIGH * walls->wall;
			has_high |= is_high;
			if ((is_high || (pass == 1 && !has_high)) &&
				fem_solid_inside(walls->solid, point_at(walls, (double[2]){x, y}, middle_of_level(walls, l))))
				return true;
		}
	}
	return false;
}

// Whether a line lies along another and touches it, which then is as long as both.
static bool join_lines(Line *line, const Line *other, double distance) {
	double x = (line->ends[1][0] - line->ends[0][0]) / line->length, low = 0.0, high = line->length;
	double y = (line->ends[1][1] - line->ends[0][1]) / line->length, along[2];
	for (int end = 0; end < 2; end++) {
		double u = other->ends[end][0] - line->ends[0][0], v = other->ends[end][1] - line->ends[0][1];
		if (!(fabs(x * v - y * u) < distance))
			return false;
		along[end] = x * u + y * v;
	}
	if (fmax(along[0], along[1]) < low - distance || fmin(along[0], along[1]) > high + distance)
		return false;
	for (int end = 0; end < 2; end++) {
		if (along[end] < low)
			memcpy(line->ends[0], other->ends[end], sizeof line->ends[0]);
		if (along[end] > high)
			memcpy(line->ends[1], other->ends[end], sizeof line->ends[1]);
		low = fmin(low, along[end]);
		high = fmax(high, along[end]);
	}
	line->length = hypot(line->ends[1][0] - line->ends[0][0], line->ends[1][1] - line->ends[0][1]);
	return true;
}

// One line for all triangles of a face: long ones are split where they are to be seen bent. Returns their number.
static int32_t merge_lines(Line *lines, int32_t count, double distance) {
	for (int32_t before = count + 1; count < before && !fem_stop_asked();) {
		before = count;
		count = 0;
		for (int32_t i = 0; i < before && count <= LINES_MAX; i++) {
			int32_t k = 0;
			while (k < count && !join_lines(&lines[k], &lines[i], distance))
				k++;
			if (k == count)
				lines[count++] = lines[i];
		}
		if (count > LINES_MAX)
			break;
	}
	return count;
}

// The longest first, so that what is shorter is drawn to them. Leaves no levels where there are too many.
static bool draw_plan(FemPlanWalls *walls) {
	const FemTriangles *triangles = &walls->solid->triangles;
	Line *lines = FEM_ALLOC_ARRAY(Line, triangles->triangle_count);
	int32_t count = 0;
	if (!lines)
		return false;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		if (fabs(fem_vec3d_dot(n, walls->axes[2])) < SQUARE_COSINE * length_of(n))
			lines[count++] = line_of(walls, t);
	}
	qsort(lines, (size_t)count, sizeof *lines, compare_lines);
	count = count <= SIDES_MAX ? merge_lines(lines, count, SAME_LINE * walls->graph.snap) : count;
	qsort(lines, (size_t)count, sizeof *lines, compare_lines);
	bool few = count <= EDGES_MAX;
	for (int32_t i = 0; i < count && few && walls->graph.edge_count <= EDGES_MAX && !fem_stop_asked(); i++)
		fem_plan_graph_add(&walls->graph, lines[i].ends[0], lines[i].ends[1]);
	FEM_FREE_ARRAY(lines, triangles->triangle_count);
	if (!few || walls->graph.edge_count > EDGES_MAX)
		walls->level_count = 0;
	else if (!walls->graph.failed)
		fem_plan_graph_add_rungs(&walls->graph, REACH * walls->wall, is_wall, walls);
	return !walls->graph.failed;
}

FemResult fem_plan_walls_create(const FemSolid *solid, double wall, double merge, FemPlanWalls *out) {
	*out = (FemPlanWalls){.solid = solid, .wall = wall, .graph = {.snap = merge}};
	if (solid->triangles.triangle_count > TRIANGLES_MAX || !find_axes(solid, out->axes))
		return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
	bool ready = find_levels(out, merge);
	if (ready && (out->level_count < 2 || out->level_count > LEVELS_MAX))
		out->level_count = 0;
	else if (ready)
		ready = draw_plan(out);
	if (ready && !fem_stop_asked())
		return FEM_OK;
	fem_plan_walls_free(out);
	return ready ? fem_fail_stopped() : no_memory();
}

void fem_plan_walls_free(FemPlanWalls *walls) {
	fem_plan_graph_free(&walls->graph);
	fem_plan_mesh_free(&walls->mesh);
	FEM_FREE_ARRAY(walls->levels, walls->level_capacity);
	FEM_FREE_ARRAY(walls->filled, walls->filled_count);
	*walls = (FemPlanWalls){.solid = NULL};
}

// ---- cells

// Into how many cells what lies between a level and the next is divided.
static int32_t parts_of(const FemPlanWalls *walls, int32_t level, double cell) {
	double parts = floor((walls->levels[level + 1].at - walls->levels[level].at) / cell + 0.5);
	return (int32_t)fmin(fmax(parts, 1.0), NODES_MAX);
}

static int32_t first_triangle(const FemPlanMesh *mesh, int32_t face) {
	return face > 0 ? mesh->face_ends[face - 1] : 0;
}

// False without memory.
static bool ask_insides(FemPlanWalls *walls) {
	int64_t count = (int64_t)walls->mesh.face_count * (walls->level_count - 1);
	FEM_FREE_ARRAY(walls->filled, walls->filled_count);
	walls->filled = NULL;
	walls->filled_count = 0;
	if (count == 0 || count > PARTS_MAX)
		return true;
	walls->filled = FEM_ALLOC_ARRAY(uint8_t, count);
	walls->filled_count = walls->filled ? (int32_t)count : 0;
	for (int32_t i = 0; i < walls->filled_count && !fem_stop_asked(); i++) {
		int32_t face = i / (walls->level_count - 1), level = i % (walls->level_count - 1);
		walls->filled[i] = fem_solid_inside(
			walls->solid, point_at(walls, walls->mesh.face_places[face], middle_of_level(walls, level)));
	}
	return walls->filled != NULL;
}

// Lines that nearly lie on each other leave slivers between them, of which floats make flat tets.
static bool is_sliver(const FemPlanWalls *walls, int32_t triangle) {
	const int32_t *n = walls->mesh.triangles[triangle];
	double(*p)[2] = walls->mesh.points, longest = 0.0;
	for (int v = 0; v < 3; v++) {
		const double *a = p[n[v]], *b = p[n[(v + 1) % 3]];
		longest = fmax(longest, hypot(b[0] - a[0], b[1] - a[1]));
	}
	double area =
		(p[n[1]][0] - p[n[0]][0]) * (p[n[2]][1] - p[n[0]][1]) - (p[n[1]][1] - p[n[0]][1]) * (p[n[2]][0] - p[n[0]][0]);
	return !(fabs(area) > NARROWEST * walls->wall * longest);
}

static bool has_slivers(const FemPlanWalls *walls) {
	for (int32_t i = 0; i < walls->filled_count; i++) {
		int32_t face = i / (walls->level_count - 1);
		for (int32_t t = first_triangle(&walls->mesh, face); walls->filled[i] && t < walls->mesh.face_ends[face]; t++) {
			if (is_sliver(walls, t))
				return true;
		}
	}
	return false;
}

FemResult fem_plan_walls_divide(FemPlanWalls *walls, double cell, double *out_tets) {
	FemPlanMesh *mesh = &walls->mesh;
	*out_tets = 0.0;
	if (walls->level_count < 2)
		return FEM_OK;
	fem_plan_mesh_make(&walls->graph, cell, REACH * walls->wall, mesh);
	if (fem_stop_asked())
		return fem_fail_stopped();
	if (mesh->failed || !ask_insides(walls))
		return no_memory();
	bool slivers = has_slivers(walls);
	for (int32_t i = 0; i < walls->filled_count && !slivers; i++) {
		int32_t face = i / (walls->level_count - 1), level = i % (walls->level_count - 1);
		if (walls->filled[i])
			*out_tets += (double)PRISM_TETS * parts_of(walls, level, cell) *
				(mesh->face_ends[face] - first_triangle(mesh, face));
	}
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}

typedef struct Layers {
	const FemPlanWalls *walls;
	int32_t *nodes; // [layer, point]: node + 1; 0: none yet
	int64_t node_places;
	FemTetList *out;
} Layers;

static int32_t node_at(Layers *layers, int32_t point, int32_t layer, double height) {
	int32_t *node = &layers->nodes[(int64_t)layer * layers->walls->mesh.point_count + point];
	if (*node == 0)
		*node =
			1 + fem_tet_list_add_node(layers->out, point_at(layers->walls, layers->walls->mesh.points[point], height));
	return *node - 1;
}

// Its tets go up from the lowest point to the highest, so that neighbours have the same diagonals.
static void add_prism(Layers *layers, const int32_t points[3], int32_t layer, const double heights[2]) {
	int32_t n[3][2];
	for (int v = 0; v < 3; v++)
		for (int up = 0; up < 2; up++)
			n[v][up] = node_at(layers, points[v], layer + up, heights[up]);
	fem_tet_list_add_tet(layers->out, n[0][0], n[1][0], n[2][0], n[2][1]);
	fem_tet_list_add_tet(layers->out, n[0][0], n[1][0], n[1][1], n[2][1]);
	fem_tet_list_add_tet(layers->out, n[0][0], n[0][1], n[1][1], n[2][1]);
}

static void add_level_cells(Layers *layers, int32_t level, int32_t parts, int32_t first_layer) {
	const FemPlanWalls *walls = layers->walls;
	double low = walls->levels[level].at, high = walls->levels[level + 1].at;
	for (int32_t face = 0; face < walls->mesh.face_count; face++) {
		if (!walls->filled[(int64_t)face * (walls->level_count - 1) + level])
			continue;
		for (int32_t t = first_triangle(&walls->mesh, face); t < walls->mesh.face_ends[face]; t++) {
			for (int32_t k = 0; k < parts && !layers->out->failed; k++) {
				double heights[2] = {low + (high - low) * k / parts, low + (high - low) * (k + 1) / parts};
				add_prism(layers, walls->mesh.triangles[t], first_layer + k, heights);
			}
		}
	}
}

FemResult fem_plan_walls_fill(const FemPlanWalls *walls, double cell, FemTetList *out) {
	Layers layers = {.walls = walls, .out = out};
	int64_t count = 1;
	if (walls->filled_count == 0)
		return FEM_OK;
	for (int32_t l = 0; l + 1 < walls->level_count; l++)
		count += parts_of(walls, l, cell);
	layers.node_places = count * walls->mesh.point_count;
	if (layers.node_places > NODES_MAX)
		return FEM_OK;
	layers.nodes = FEM_ALLOC_ARRAY(int32_t, layers.node_places);
	for (int32_t l = 0, layer = 0; layers.nodes && l + 1 < walls->level_count && !fem_stop_asked(); l++) {
		int32_t parts = parts_of(walls, l, cell);
		add_level_cells(&layers, l, parts, layer);
		layer += parts;
	}
	bool ready = layers.nodes && !out->failed;
	FEM_FREE_ARRAY(layers.nodes, layers.node_places);
	if (!ready)
		return no_memory();
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}
