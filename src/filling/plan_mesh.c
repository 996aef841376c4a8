#include "filling/plan_mesh.h"

#include "base/growing.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "geometry/loop_mesh.h"

#include <math.h>
#include <string.h>

#define DIRECTIONS 48             // tried for the order of points; chosen
#define APART 0.6                 // cells: how far points inside a face are from others at the least; chosen
#define ROW 0.8660254             // cells: between rows of such points, which make even triangles
#define CORNER_SINE 0.2           // of the angle by which a strip bends at a corner, at the least; chosen
#define PARTS_MAX 10000.0         // of an edge; chosen
#define PI 3.14159265358979323846 // half a turn, within which a direction is sought

// What is known of the graph while its faces are filled.
typedef struct Faces {
	const FemPlanGraph *graph;
	double cell, thin;
	double order[2]; // unit: the direction by which points are ordered
	int32_t *indices, *ends, loop_count;
	double *areas;      // [loop], negative around what stands free
	int32_t *groups;    // [point]: what hangs together by edges
	int32_t *classes;   // [edge]: of edges that have as many cells
	double *sums;       // [class]: of lengths
	int32_t *numbers;   // [class]: of edges
	int32_t *parts;     // [edge]: cells along it
	int32_t *first;     // [edge]: the first of the points on it
	FemLoopMesh filled; // of one face
	FemPlanMesh *out;
} Faces;

static int32_t loop_begin(const Faces *faces, int32_t loop) {
	return loop > 0 ? faces->ends[loop - 1] : 0;
}

static const double *point_of(const Faces *faces, int32_t at) {
	return faces->graph->points[faces->indices[at]];
}

static double length_of(const Faces *faces, int32_t edge) {
	const FemPlanGraph *graph = faces->graph;
	const double *a = graph->points[graph->edges[edge].ends[0]], *b = graph->points[graph->edges[edge].ends[1]];
	return hypot(b[0] - a[0], b[1] - a[1]);
}

static int32_t edge_between(const Faces *faces, int32_t a, int32_t b) {
	for (int32_t e = 0; e < faces->graph->edge_count; e++) {
		const int32_t *ends = faces->graph->edges[e].ends;
		if ((ends[0] == a && ends[1] == b) || (ends[0] == b && ends[1] == a))
			return e;
	}
	return -1;
}

static int32_t root_of(int32_t *parents, int32_t i) {
	while (parents[i] != i) {
		parents[i] = parents[parents[i]];
		i = parents[i];
	}
	return i;
}

static void join(int32_t *parents, int32_t a, int32_t b) {
	int32_t low = root_of(parents, a), high = root_of(parents, b);
	parents[low > high ? low : high] = low < high ? low : high;
}

// ---- loops

static double area_of_loop(const Faces *faces, int32_t loop) {
	double sum = 0.0;
	int32_t begin = loop_begin(faces, loop), end = faces->ends[loop];
	for (int32_t n = begin, before = end - 1; n < end; before = n++) {
		const double *a = point_of(faces, before), *b = point_of(faces, n);
		sum += 0.5 * (a[0] * b[1] - a[1] * b[0]);
	}
	return sum;
}

static bool loop_holds(const Faces *faces, int32_t loop, const double p[2]) {
	bool inside = false;
	int32_t begin = loop_begin(faces, loop), end = faces->ends[loop];
	for (int32_t n = begin, before = end - 1; n < end; before = n++) {
		const double *a = point_of(faces, before), *b = point_of(faces, n);
		if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1]))
			inside = !inside;
	}
	return inside;
}

// The smallest face around what stands free in it; -1 around all.
static int32_t face_around(const Faces *faces, int32_t hole) {
	int32_t best = -1, point = faces->indices[loop_begin(faces, hole)];
	for (int32_t l = 0; l < faces->loop_count; l++) {
		bool is_other = faces->groups[faces->indices[loop_begin(faces, l)]] != faces->groups[point];
		if (faces->areas[l] > 0.0 && is_other && (best < 0 || faces->areas[l] < faces->areas[best]) &&
			loop_holds(faces, l, faces->graph->points[point]))
			best = l;
	}
	return best;
}

// ---- edges

// Whether a face bends to the left at its corner number k, by more than what is nearly straight on.
static bool is_corner(const Faces *faces, int32_t begin, int k) {
	const double *a = point_of(faces, begin + (k + 3) % 4), *b = point_of(faces, begin + k),
				 *c = point_of(faces, begin + (k + 1) % 4);
	double u[2] = {b[0] - a[0], b[1] - a[1]}, v[2] = {c[0] - b[0], c[1] - b[1]};
	return u[0] * v[1] - u[1] * v[0] > CORNER_SINE * hypot(u[0], u[1]) * hypot(v[0], v[1]);
}

// The edges of a face of four sides, in its order; false for others, a triangle with a point on a side among them.
static bool sides_of(const Faces *faces, int32_t loop, int32_t out[4]) {
	int32_t begin = loop_begin(faces, loop);
	if (faces->ends[loop] - begin != 4)
		return false;
	for (int k = 0; k < 4; k++) {
		if (!is_corner(faces, begin, k))
			return false;
	}
	for (int k = 0; k < 4; k++)
		out[k] = edge_between(faces, faces->indices[begin + k], faces->indices[begin + (k + 1) % 4]);
	return true;
}

// Both sides of a strip have as many cells.
static void class_edges(Faces *faces) {
	int32_t edges = faces->graph->edge_count, sides[4];
	for (int32_t e = 0; e < edges; e++)
		faces->classes[e] = e;
	for (int32_t l = 0; l < faces->loop_count; l++) {
		if (!(faces->areas[l] > 0.0) || !sides_of(faces, l, sides))
			continue;
		for (int k = 0; k < 2; k++) {
			if (fmin(length_of(faces, sides[1 - k]), length_of(faces, sides[3 - k])) < faces->thin)
				join(faces->classes, sides[k], sides[k + 2]);
		}
	}
	for (int32_t e = 0; e < edges; e++) {
		int32_t class = root_of(faces->classes, e);
		faces->sums[class] += length_of(faces, e);
		faces->numbers[class]++;
	}
}

static int32_t add_point(FemPlanMesh *mesh, double x, double y) {
	if (!FEM_GROW(mesh->points, mesh->point_count, &mesh->point_capacity)) {
		mesh->failed = true;
		return 0;
	}
	mesh->points[mesh->point_count][0] = x;
	mesh->points[mesh->point_count][1] = y;
	return mesh->point_count++;
}

static void divide_edges(Faces *faces) {
	const FemPlanGraph *graph = faces->graph;
	for (int32_t i = 0; i < graph->point_count; i++)
		add_point(faces->out, graph->points[i][0], graph->points[i][1]);
	for (int32_t e = 0; e < graph->edge_count; e++) {
		int32_t class = root_of(faces->classes, e);
		double parts = floor(faces->sums[class] / faces->numbers[class] / faces->cell + 0.5);
		faces->parts[e] = (int32_t)fmin(fmax(parts, 1.0), PARTS_MAX);
		faces->first[e] = faces->out->point_count;
		const double *a = graph->points[graph->edges[e].ends[0]], *b = graph->points[graph->edges[e].ends[1]];
		for (int32_t k = 1; k < faces->parts[e]; k++) {
			double share = (double)k / faces->parts[e];
			add_point(faces->out, a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]));
		}
	}
}

// The point after k of an edge's cells, from one of its ends on.
static int32_t point_on(const Faces *faces, int32_t edge, int32_t from, int32_t k) {
	const int32_t *ends = faces->graph->edges[edge].ends;
	int32_t parts = faces->parts[edge];
	if (k == 0 || k == parts)
		return (k == 0) == (ends[0] == from) ? ends[0] : ends[1];
	return faces->first[edge] + (ends[0] == from ? k - 1 : parts - 1 - k);
}

// ---- triangles

static double height_of(const Faces *faces, int32_t point) {
	const double *p = faces->out->points[point];
	return faces->order[0] * p[0] + faces->order[1] * p[1];
}

static bool is_lower(const Faces *faces, int32_t a, int32_t b) {
	double low = height_of(faces, a), high = height_of(faces, b);
	return low != high ? low < high : a < b;
}

static void add_triangle(Faces *faces, int32_t a, int32_t b, int32_t c) {
	FemPlanMesh *mesh = faces->out;
	if (!FEM_GROW(mesh->triangles, mesh->triangle_count, &mesh->triangle_capacity)) {
		mesh->failed = true;
		return;
	}
	int32_t *out = mesh->triangles[mesh->triangle_count++], sorted[3] = {a, b, c};
	for (int i = 1; i < 3; i++) {
		for (int k = i; k > 0 && is_lower(faces, sorted[k], sorted[k - 1]); k--) {
			int32_t kept = sorted[k];
			sorted[k] = sorted[k - 1];
			sorted[k - 1] = kept;
		}
	}
	memcpy(out, sorted, sizeof sorted);
}

// The diagonal begins at the lowest corner: with tets in the order of points a cell then is two prisms along each of
// its axes, so that a wall finds those across it.
static void add_quadrangle(Faces *faces, const int32_t corners[4]) {
	int lowest = 0;
	for (int k = 1; k < 4; k++)
		lowest = is_lower(faces, corners[k], corners[lowest]) ? k : lowest;
	const int32_t *c = corners;
	if (lowest % 2 == 0) {
		add_triangle(faces, c[0], c[1], c[2]);
		add_triangle(faces, c[0], c[2], c[3]);
	} else {
		add_triangle(faces, c[0], c[1], c[3]);
		add_triangle(faces, c[1], c[2], c[3]);
	}
}

// The point i cells along the first side and k along the second; `inner` is the first of those on no side.
static int32_t grid_point(
	const Faces *faces, const int32_t corners[4], const int32_t sides[4], const int32_t at[2], int32_t inner) {
	int32_t wide = faces->parts[sides[0]], deep = faces->parts[sides[1]];
	if (at[1] == 0)
		return point_on(faces, sides[0], corners[0], at[0]);
	if (at[1] == deep)
		return point_on(faces, sides[2], corners[3], at[0]);
	if (at[0] == 0)
		return point_on(faces, sides[3], corners[0], at[1]);
	if (at[0] == wide)
		return point_on(faces, sides[1], corners[1], at[1]);
	return inner + (at[1] - 1) * (wide - 1) + at[0] - 1;
}

static void add_inner_points(Faces *faces, const int32_t corners[4], int32_t wide, int32_t deep) {
	double(*p)[2] = faces->graph->points;
	for (int32_t k = 1; k < deep; k++) {
		for (int32_t i = 1; i < wide; i++) {
			double u = (double)i / wide, v = (double)k / deep, place[2];
			for (int axis = 0; axis < 2; axis++)
				place[axis] = (1.0 - v) * ((1.0 - u) * p[corners[0]][axis] + u * p[corners[1]][axis]) +
					v * ((1.0 - u) * p[corners[3]][axis] + u * p[corners[2]][axis]);
			add_point(faces->out, place[0], place[1]);
		}
	}
}

// False where opposite sides have not as many cells.
static bool fill_strip(Faces *faces, int32_t loop) {
	int32_t sides[4], inner = faces->out->point_count;
	if (!sides_of(faces, loop, sides) || faces->parts[sides[0]] != faces->parts[sides[2]] ||
		faces->parts[sides[1]] != faces->parts[sides[3]])
		return false;
	const int32_t *corners = faces->indices + loop_begin(faces, loop);
	int32_t wide = faces->parts[sides[0]], deep = faces->parts[sides[1]];
	add_inner_points(faces, corners, wide, deep);
	for (int32_t k = 0; k < deep && !faces->out->failed; k++) {
		for (int32_t i = 0; i < wide; i++) {
			int32_t cell[4];
			for (int c = 0; c < 4; c++)
				cell[c] = grid_point(
					faces, corners, sides, (int32_t[2]){i + (c == 1 || c == 2), k + (c == 2 || c == 3)}, inner);
			add_quadrangle(faces, cell);
		}
	}
	return true;
}

// Adds a loop's points to the face that is filled; names: [point of the face] its point of the plan.
static bool add_loop(Faces *faces, int32_t loop, int32_t **names, int32_t *capacity) {
	int32_t begin = loop_begin(faces, loop), end = faces->ends[loop];
	for (int32_t n = begin; n < end; n++) {
		int32_t from = faces->indices[n], edge = edge_between(faces, from, faces->indices[n + 1 < end ? n + 1 : begin]);
		for (int32_t k = 0; k < faces->parts[edge]; k++) {
			int32_t point = point_on(faces, edge, from, k);
			const double *p = faces->out->points[point];
			if (!fem_grow(names, faces->filled.point_count, capacity, sizeof **names))
				return false;
			(*names)[faces->filled.point_count] = point;
			fem_loop_mesh_add_index(&faces->filled, fem_loop_mesh_add_point(&faces->filled, p[0], p[1]));
		}
	}
	fem_loop_mesh_end_loop(&faces->filled);
	return true;
}

// Points in rows, each half a cell off the last.
static void insert_points(FemLoopMesh *mesh, double cell) {
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
	for (int32_t i = 0; i < mesh->point_count; i++) {
		for (int axis = 0; axis < 2; axis++) {
			low[axis] = fmin(low[axis], mesh->points[i][axis]);
			high[axis] = fmax(high[axis], mesh->points[i][axis]);
		}
	}
	int32_t rows = (int32_t)((high[1] - low[1]) / (ROW * cell)), columns = (int32_t)((high[0] - low[0]) / cell) + 1;
	for (int32_t k = 1; k <= rows && !fem_stop_asked(); k++) {
		for (int32_t i = 0; i < columns && !mesh->failed; i++)
			fem_loop_mesh_insert(mesh, low[0] + (i + 0.5 * (k % 2)) * cell, low[1] + ROW * k * cell, APART * cell);
	}
	fem_loop_mesh_improve(mesh);
}

static void fill_freely(Faces *faces, int32_t loop) {
	int32_t *names = NULL, capacity = 0;
	fem_loop_mesh_clear(&faces->filled);
	bool ready = add_loop(faces, loop, &names, &capacity);
	for (int32_t l = 0; l < faces->loop_count && ready; l++) {
		if (faces->areas[l] <= 0.0 && face_around(faces, l) == loop)
			ready = add_loop(faces, l, &names, &capacity);
	}
	int32_t known = faces->filled.point_count, shift = faces->out->point_count - known;
	if (ready) {
		fem_loop_mesh_fill(&faces->filled);
		insert_points(&faces->filled, faces->cell);
	}
	for (int32_t i = known; i < faces->filled.point_count && ready; i++)
		add_point(faces->out, faces->filled.points[i][0], faces->filled.points[i][1]);
	for (int32_t t = 0; t < faces->filled.triangle_count && ready; t++) {
		int32_t corners[3];
		for (int v = 0; v < 3; v++) {
			int32_t point = faces->filled.triangles[t][v];
			corners[v] = point < known ? names[point] : shift + point;
		}
		add_triangle(faces, corners[0], corners[1], corners[2]);
	}
	faces->out->failed |= !ready || faces->filled.failed;
	FEM_FREE_ARRAY(names, capacity);
}

// In the middle of the largest triangle.
static void end_face(FemPlanMesh *mesh) {
	int32_t begin = mesh->face_count > 0 ? mesh->face_ends[mesh->face_count - 1] : 0;
	double most = -1.0, place[2] = {0.0, 0.0};
	if (mesh->failed || begin == mesh->triangle_count)
		return;
	for (int32_t t = begin; t < mesh->triangle_count; t++) {
		const int32_t *n = mesh->triangles[t];
		const double *a = mesh->points[n[0]], *b = mesh->points[n[1]], *c = mesh->points[n[2]];
		double area = fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
		if (area <= most)
			continue;
		most = area;
		place[0] = (a[0] + b[0] + c[0]) / 3.0;
		place[1] = (a[1] + b[1] + c[1]) / 3.0;
	}
	if (!FEM_GROW(mesh->face_ends, mesh->face_count, &mesh->face_capacity) ||
		!FEM_GROW(mesh->face_places, mesh->face_count, &mesh->place_capacity)) {
		mesh->failed = true;
		return;
	}
	mesh->face_ends[mesh->face_count] = mesh->triangle_count;
	memcpy(mesh->face_places[mesh->face_count++], place, sizeof place);
}

// The direction that is least square to any edge, so that of the sides of a strip none is level with it.
static void choose_order(Faces *faces) {
	double best = -1.0;
	for (int i = 0; i < DIRECTIONS; i++) {
		double x = cos(PI * (i + 0.5) / DIRECTIONS), y = sin(PI * (i + 0.5) / DIRECTIONS), least = 1.0;
		for (int32_t e = 0; e < faces->graph->edge_count; e++) {
			const int32_t *ends = faces->graph->edges[e].ends;
			const double *a = faces->graph->points[ends[0]], *b = faces->graph->points[ends[1]];
			least = fmin(least, fabs(x * (b[0] - a[0]) + y * (b[1] - a[1])) / length_of(faces, e));
		}
		if (least <= best)
			continue;
		best = least;
		faces->order[0] = x;
		faces->order[1] = y;
	}
}

static bool begin(Faces *faces) {
	int32_t points = faces->graph->point_count, edges = faces->graph->edge_count;
	faces->indices = FEM_ALLOC_ARRAY(int32_t, 2 * edges);
	faces->ends = FEM_ALLOC_ARRAY(int32_t, 2 * edges);
	faces->areas = FEM_ALLOC_ARRAY(double, 2 * edges);
	faces->groups = FEM_ALLOC_ARRAY(int32_t, points);
	faces->classes = FEM_ALLOC_ARRAY(int32_t, edges);
	faces->sums = FEM_ALLOC_ARRAY(double, edges);
	faces->numbers = FEM_ALLOC_ARRAY(int32_t, edges);
	faces->parts = FEM_ALLOC_ARRAY(int32_t, edges);
	faces->first = FEM_ALLOC_ARRAY(int32_t, edges);
	if (!faces->indices || !faces->ends || !faces->areas || !faces->groups || !faces->classes || !faces->sums ||
		!faces->numbers || !faces->parts || !faces->first)
		return false;
	faces->loop_count = fem_plan_graph_loops(faces->graph, faces->indices, faces->ends);
	for (int32_t l = 0; l < faces->loop_count; l++)
		faces->areas[l] = area_of_loop(faces, l);
	for (int32_t i = 0; i < points; i++)
		faces->groups[i] = i;
	for (int32_t e = 0; e < edges; e++)
		join(faces->groups, faces->graph->edges[e].ends[0], faces->graph->edges[e].ends[1]);
	for (int32_t i = 0; i < points; i++)
		faces->groups[i] = root_of(faces->groups, i);
	return faces->loop_count >= 0;
}

static void end(Faces *faces) {
	int32_t points = faces->graph->point_count, edges = faces->graph->edge_count;
	FEM_FREE_ARRAY(faces->indices, 2 * edges);
	FEM_FREE_ARRAY(faces->ends, 2 * edges);
	FEM_FREE_ARRAY(faces->areas, 2 * edges);
	FEM_FREE_ARRAY(faces->groups, points);
	FEM_FREE_ARRAY(faces->classes, edges);
	FEM_FREE_ARRAY(faces->sums, edges);
	FEM_FREE_ARRAY(faces->numbers, edges);
	FEM_FREE_ARRAY(faces->parts, edges);
	FEM_FREE_ARRAY(faces->first, edges);
	fem_loop_mesh_free(&faces->filled);
}

void fem_plan_mesh_make(const FemPlanGraph *graph, double cell, double thin, FemPlanMesh *out) {
	Faces faces = {.graph = graph, .cell = cell, .thin = thin, .out = out};
	out->point_count = out->triangle_count = out->face_count = 0;
	out->failed = graph->edge_count == 0 || !begin(&faces);
	if (!out->failed) {
		choose_order(&faces);
		class_edges(&faces);
		divide_edges(&faces);
	}
	for (int32_t l = 0; l < faces.loop_count && !out->failed && !fem_stop_asked(); l++) {
		if (!(faces.areas[l] > 0.0))
			continue;
		if (!fill_strip(&faces, l))
			fill_freely(&faces, l);
		end_face(out);
	}
	end(&faces);
}

void fem_plan_mesh_free(FemPlanMesh *mesh) {
	FEM_FREE_ARRAY(mesh->points, mesh->point_capacity);
	FEM_FREE_ARRAY(mesh->triangles, mesh->triangle_capacity);
	FEM_FREE_ARRAY(mesh->face_ends, mesh->face_capacity);
	FEM_FREE_ARRAY(mesh->face_places, mesh->place_capacity);
	*mesh = (FemPlanMesh){0};
}
