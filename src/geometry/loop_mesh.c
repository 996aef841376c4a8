#include "geometry/loop_mesh.h"

#include "base/assert.h"
#include "base/growing.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define FLIP_ROUNDS 12 // of edge flips towards Delaunay, each over all edges; chosen

void fem_loop_mesh_clear(FemLoopMesh *mesh) {
	mesh->point_count = mesh->index_count = mesh->loop_count = mesh->triangle_count = 0;
}

void fem_loop_mesh_free(FemLoopMesh *mesh) {
	FEM_FREE_ARRAY(mesh->points, mesh->point_capacity);
	FEM_FREE_ARRAY(mesh->indices, mesh->index_capacity);
	FEM_FREE_ARRAY(mesh->loop_ends, mesh->loop_capacity);
	FEM_FREE_ARRAY(mesh->triangles, mesh->triangle_capacity);
	FEM_FREE_ARRAY(mesh->opposite, mesh->opposite_capacity);
	FEM_FREE_ARRAY(mesh->ring, mesh->ring_capacity);
	*mesh = (FemLoopMesh){0};
}

int32_t fem_loop_mesh_add_point(FemLoopMesh *mesh, double x, double y) {
	if (!FEM_GROW(mesh->points, mesh->point_count, &mesh->point_capacity)) {
		mesh->failed = true;
		return 0;
	}
	mesh->points[mesh->point_count][0] = x;
	mesh->points[mesh->point_count][1] = y;
	return mesh->point_count++;
}

void fem_loop_mesh_add_index(FemLoopMesh *mesh, int32_t point) {
	FEM_ASSERT(mesh->failed || (point >= 0 && point < mesh->point_count));
	if (FEM_GROW(mesh->indices, mesh->index_count, &mesh->index_capacity))
		mesh->indices[mesh->index_count++] = point;
	else
		mesh->failed = true;
}

void fem_loop_mesh_end_loop(FemLoopMesh *mesh) {
	if (FEM_GROW(mesh->loop_ends, mesh->loop_count, &mesh->loop_capacity))
		mesh->loop_ends[mesh->loop_count++] = mesh->index_count;
	else
		mesh->failed = true;
}

static void add_triangle(FemLoopMesh *mesh, int32_t a, int32_t b, int32_t c) {
	if (!FEM_GROW(mesh->triangles, mesh->triangle_count, &mesh->triangle_capacity)) {
		mesh->failed = true;
		return;
	}
	int32_t *out = mesh->triangles[mesh->triangle_count++];
	out[0] = a;
	out[1] = b;
	out[2] = c;
}

// ---- plane

// Twice the signed area of the triangle abc, positive when its corners are counter-clockwise.
static double orient2d(const FemLoopMesh *mesh, int32_t a, int32_t b, int32_t c) {
	const double *p = mesh->points[a], *q = mesh->points[b], *r = mesh->points[c];
	return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

static bool same_place(const FemLoopMesh *mesh, int32_t a, int32_t b) {
	return a == b || (mesh->points[a][0] == mesh->points[b][0] && mesh->points[a][1] == mesh->points[b][1]);
}

static double loop_area(const FemLoopMesh *mesh, int32_t begin, int32_t end) {
	double sum = 0.0;
	for (int32_t n = begin + 1; n + 1 < end; n++)
		sum += orient2d(mesh, mesh->indices[begin], mesh->indices[n], mesh->indices[n + 1]);
	return sum;
}

static bool loop_holds(const FemLoopMesh *mesh, int32_t begin, int32_t end, const double p[2]) {
	bool inside = false;
	for (int32_t n = begin, before = end - 1; n < end; before = n++) {
		const double *a = mesh->points[mesh->indices[before]], *b = mesh->points[mesh->indices[n]];
		if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (b[0] - a[0]) * (p[1] - a[1]) / (b[1] - a[1]))
			inside = !inside;
	}
	return inside;
}

static bool segments_cross(const FemLoopMesh *mesh, int32_t a, int32_t b, int32_t c, int32_t d) {
	if (same_place(mesh, a, c) || same_place(mesh, a, d) || same_place(mesh, b, c) || same_place(mesh, b, d))
		return false;
	return (orient2d(mesh, a, b, c) > 0.0) != (orient2d(mesh, a, b, d) > 0.0) &&
		(orient2d(mesh, c, d, a) > 0.0) != (orient2d(mesh, c, d, b) > 0.0);
}

// ---- bridges

static bool is_free(const FemLoopMesh *mesh, int32_t a, int32_t b, const int32_t *loop, int32_t count) {
	for (int32_t n = 0; n < count; n++)
		if (segments_cross(mesh, a, b, loop[n], loop[(n + 1) % count]))
			return false;
	return true;
}

static double distance_sq(const FemLoopMesh *mesh, int32_t a, int32_t b) {
	double x = mesh->points[a][0] - mesh->points[b][0], y = mesh->points[a][1] - mesh->points[b][1];
	return x * x + y * y;
}

// The place in the ring of the nearest point from which the hole's point is seen; of the nearest of all where it is
// seen from none.
static int32_t find_bridge(const FemLoopMesh *mesh, int32_t point, const int32_t *hole, int32_t hole_count) {
	int32_t best = 0, best_free = -1;
	FEM_ASSERT(mesh->ring_count > 0 && hole_count > 2);
	for (int32_t n = 0; n < mesh->ring_count; n++) {
		double distance = distance_sq(mesh, point, mesh->ring[n]);
		if (distance < distance_sq(mesh, point, mesh->ring[best]))
			best = n;
		if (best_free >= 0 && distance >= distance_sq(mesh, point, mesh->ring[best_free]))
			continue;
		if (is_free(mesh, point, mesh->ring[n], mesh->ring, mesh->ring_count) &&
			is_free(mesh, point, mesh->ring[n], hole, hole_count))
			best_free = n;
	}
	return best_free >= 0 ? best_free : best;
}

static bool reserve_ring(FemLoopMesh *mesh, int32_t count) {
	while (mesh->ring_capacity < count)
		if (!fem_grow(&mesh->ring, mesh->ring_capacity, &mesh->ring_capacity, sizeof *mesh->ring)) {
			mesh->failed = true;
			return false;
		}
	return true;
}

// Ring r0 .. rk .. becomes r0 .. rk h0 .. hn h0 rk ..
static void join_hole(FemLoopMesh *mesh, int32_t begin, int32_t end) {
	const int32_t *hole = mesh->indices + begin;
	int32_t count = end - begin, first = 0;
	for (int32_t n = 1; n < count; n++)
		if (mesh->points[hole[n]][0] > mesh->points[hole[first]][0])
			first = n;
	if (!reserve_ring(mesh, mesh->ring_count + count + 2))
		return;
	int32_t at = find_bridge(mesh, hole[first], hole, count), rest = mesh->ring_count - at;
	memmove(mesh->ring + at + count + 2, mesh->ring + at, sizeof(int32_t) * (size_t)rest);
	for (int32_t n = 0; n <= count; n++)
		mesh->ring[at + 1 + n] = hole[(first + n) % count];
	mesh->ring_count += count + 2;
	FEM_ASSERT(mesh->ring[at] == mesh->ring[at + count + 2] && mesh->ring[at + 1] == mesh->ring[at + count + 1]);
}

// ---- ears

static bool is_ear(const FemLoopMesh *mesh, int32_t at) {
	int32_t count = mesh->ring_count;
	int32_t a = mesh->ring[(at + count - 1) % count], b = mesh->ring[at], c = mesh->ring[(at + 1) % count];
	if (!(orient2d(mesh, a, b, c) > 0.0))
		return false;
	for (int32_t n = 0; n < count; n++) {
		int32_t p = mesh->ring[n];
		if (same_place(mesh, p, a) || same_place(mesh, p, b) || same_place(mesh, p, c))
			continue;
		if (orient2d(mesh, a, b, p) >= 0.0 && orient2d(mesh, b, c, p) >= 0.0 && orient2d(mesh, c, a, p) >= 0.0)
			return false;
	}
	return true;
}

// A ring without an ear touches or crosses itself: its most convex corner is cut off all the same.
static int32_t least_bad(const FemLoopMesh *mesh) {
	int32_t count = mesh->ring_count, best = 0;
	double most = -HUGE_VAL;
	for (int32_t n = 0; n < count; n++) {
		double area = orient2d(mesh, mesh->ring[(n + count - 1) % count], mesh->ring[n], mesh->ring[(n + 1) % count]);
		if (area > most) {
			most = area;
			best = n;
		}
	}
	return best;
}

static void clip_ears(FemLoopMesh *mesh) {
	int32_t from = 0;
	while (mesh->ring_count > 3) {
		int32_t count = mesh->ring_count, ear = -1;
		for (int32_t n = 0; n < count && ear < 0; n++)
			if (is_ear(mesh, (from + n) % count))
				ear = (from + n) % count;
		if (ear < 0)
			ear = least_bad(mesh);
		add_triangle(mesh, mesh->ring[(ear + count - 1) % count], mesh->ring[ear], mesh->ring[(ear + 1) % count]);
		memmove(mesh->ring + ear, mesh->ring + ear + 1, sizeof(int32_t) * (size_t)(count - ear - 1));
		mesh->ring_count--;
		from = (ear + 1) % mesh->ring_count; // else triangles would fan out from one corner
	}
	if (mesh->ring_count == 3)
		add_triangle(mesh, mesh->ring[0], mesh->ring[1], mesh->ring[2]);
}

static int32_t loop_begin(const FemLoopMesh *mesh, int32_t loop) {
	return loop > 0 ? mesh->loop_ends[loop - 1] : 0;
}

// The smallest outer loop around the hole; else the first one.
static int32_t outer_of(const FemLoopMesh *mesh, int32_t hole) {
	const double *p = mesh->points[mesh->indices[loop_begin(mesh, hole)]];
	double best_area = HUGE_VAL;
	int32_t best = -1, any = -1;
	for (int32_t n = 0; n < mesh->loop_count; n++) {
		int32_t begin = loop_begin(mesh, n), end = mesh->loop_ends[n];
		double area = loop_area(mesh, begin, end);
		if (!(area > 0.0))
			continue;
		any = any < 0 ? n : any;
		if (area < best_area && loop_holds(mesh, begin, end, p)) {
			best_area = area;
			best = n;
		}
	}
	return best >= 0 ? best : any;
}

static void fill_loop(FemLoopMesh *mesh, int32_t loop) {
	int32_t begin = loop_begin(mesh, loop), count = mesh->loop_ends[loop] - begin;
	if (count < 3 || !reserve_ring(mesh, count))
		return;
	memcpy(mesh->ring, mesh->indices + begin, sizeof(int32_t) * (size_t)count);
	mesh->ring_count = count;
	for (int32_t n = 0; n < mesh->loop_count; n++) {
		int32_t hole = loop_begin(mesh, n), end = mesh->loop_ends[n];
		if (n != loop && end - hole > 2 && !(loop_area(mesh, hole, end) > 0.0) && outer_of(mesh, n) == loop)
			join_hole(mesh, hole, end);
	}
	int32_t triangles = mesh->triangle_count + mesh->ring_count - 2;
	clip_ears(mesh);
	FEM_ASSERT(mesh->failed || mesh->triangle_count == triangles); // as many as close a polygon, whatever it is like
	(void)triangles;
}

void fem_loop_mesh_fill(FemLoopMesh *mesh) {
	for (int32_t n = 0; n < mesh->loop_count && !mesh->failed; n++) {
		bool is_outer = loop_area(mesh, loop_begin(mesh, n), mesh->loop_ends[n]) > 0.0;
		if (is_outer || outer_of(mesh, n) < 0)
			fill_loop(mesh, n);
	}
	fem_loop_mesh_improve(mesh);
}

// ---- flips

// For asserts: what lies across an edge has that edge across, in the other direction.
static bool edges_are_linked(const FemLoopMesh *mesh) {
	bool linked = true;
	for (int32_t e = 0; e < 3 * mesh->triangle_count; e++) {
		int32_t other = mesh->opposite[e / 3][e % 3];
		linked &= other < 0 ||
			(other < 3 * mesh->triangle_count && mesh->opposite[other / 3][other % 3] == e &&
				mesh->triangles[other / 3][other % 3] == mesh->triangles[e / 3][(e + 1) % 3] &&
				mesh->triangles[other / 3][(other + 1) % 3] == mesh->triangles[e / 3][e % 3]);
	}
	return linked;
}

static void link_edges(FemLoopMesh *mesh) {
	int32_t size = 64, count = 3 * mesh->triangle_count;
	while (size < 2 * count)
		size *= 2;
	int32_t *table = FEM_ALLOC_ARRAY(int32_t, size); // edge + 1
	while (table && mesh->opposite_capacity < mesh->triangle_count)
		if (!fem_grow(&mesh->opposite, mesh->opposite_capacity, &mesh->opposite_capacity, sizeof *mesh->opposite))
			break;
	if (!table || mesh->opposite_capacity < mesh->triangle_count) {
		mesh->failed = true;
		FEM_FREE_ARRAY(table, size);
		return;
	}
	for (int32_t e = 0; e < count; e++)
		mesh->opposite[e / 3][e % 3] = -1;
	for (int32_t e = 0; e < count; e++) {
		int32_t a = mesh->triangles[e / 3][e % 3], b = mesh->triangles[e / 3][(e + 1) % 3];
		uint32_t low = (uint32_t)(a < b ? a : b), high = (uint32_t)(a < b ? b : a);
		uint32_t slot = (low * 0x9e3779b9u ^ high * 0x85ebca6bu) >> 7 & (uint32_t)(size - 1);
		for (; table[slot]; slot = (slot + 1) & (uint32_t)(size - 1)) {
			int32_t other = table[slot] - 1;
			if (mesh->opposite[other / 3][other % 3] >= 0 || mesh->triangles[other / 3][other % 3] != b ||
				mesh->triangles[other / 3][(other + 1) % 3] != a)
				continue;
			mesh->opposite[other / 3][other % 3] = e;
			mesh->opposite[e / 3][e % 3] = other;
			break;
		}
		if (mesh->opposite[e / 3][e % 3] < 0)
			table[slot] = e + 1;
	}
	FEM_FREE_ARRAY(table, size);
	FEM_ASSERT(edges_are_linked(mesh));
}

static bool in_circle(const FemLoopMesh *mesh, int32_t a, int32_t b, int32_t c, int32_t d) {
	const double *p = mesh->points[d];
	double m[3][3];
	int32_t corners[3] = {a, b, c};
	for (int n = 0; n < 3; n++) {
		m[n][0] = mesh->points[corners[n]][0] - p[0];
		m[n][1] = mesh->points[corners[n]][1] - p[1];
		m[n][2] = m[n][0] * m[n][0] + m[n][1] * m[n][1];
	}
	double sum = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
		m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
	double size = (m[0][2] + m[1][2] + m[2][2]);
	return sum > 1e-9 * size * size;
}

static void relink(FemLoopMesh *mesh, int32_t edge, int32_t other) {
	mesh->opposite[edge / 3][edge % 3] = other;
	if (other >= 0)
		mesh->opposite[other / 3][other % 3] = edge;
}

// Triangles (a b c) and (b a d), which share the edge ab, become (c a d) and (d b c), which share cd.
static bool flip(FemLoopMesh *mesh, int32_t edge) {
	int32_t other = mesh->opposite[edge / 3][edge % 3];
	if (other < 0 || other / 3 == edge / 3)
		return false;
	int32_t *t = mesh->triangles[edge / 3], *u = mesh->triangles[other / 3], i = edge % 3, k = other % 3;
	int32_t a = t[i], b = t[(i + 1) % 3], c = t[(i + 2) % 3], d = u[(k + 2) % 3];
	if (c == d || !(orient2d(mesh, c, a, d) > 0.0 && orient2d(mesh, d, b, c) > 0.0) || !in_circle(mesh, a, b, c, d))
		return false;
	int32_t bc = mesh->opposite[edge / 3][(i + 1) % 3], ca = mesh->opposite[edge / 3][(i + 2) % 3];
	int32_t ad = mesh->opposite[other / 3][(k + 1) % 3], db = mesh->opposite[other / 3][(k + 2) % 3];
	int32_t first = edge / 3 * 3, second = other / 3 * 3;
	memcpy(t, (int32_t[3]){c, a, d}, sizeof(int32_t) * 3);
	memcpy(u, (int32_t[3]){d, b, c}, sizeof(int32_t) * 3);
	relink(mesh, first, ca);
	relink(mesh, first + 1, ad);
	relink(mesh, second, db);
	relink(mesh, second + 1, bc);
	relink(mesh, first + 2, second + 2);
	return true;
}

void fem_loop_mesh_improve(FemLoopMesh *mesh) {
	link_edges(mesh);
	for (int round = 0, flips = 1; round < FLIP_ROUNDS && flips > 0 && !mesh->failed; round++) {
		flips = 0;
		for (int32_t edge = 0; edge < 3 * mesh->triangle_count; edge++)
			flips += flip(mesh, edge);
	}
	FEM_ASSERT(mesh->failed || edges_are_linked(mesh));
}

bool fem_loop_mesh_insert(FemLoopMesh *mesh, double x, double y, double distance) {
	int32_t p = fem_loop_mesh_add_point(mesh, x, y);
	for (int32_t t = 0; t < mesh->triangle_count && !mesh->failed; t++) {
		int32_t a = mesh->triangles[t][0], b = mesh->triangles[t][1], c = mesh->triangles[t][2];
		if (!(orient2d(mesh, a, b, p) > 0.0 && orient2d(mesh, b, c, p) > 0.0 && orient2d(mesh, c, a, p) > 0.0))
			continue;
		double near = fmin(distance_sq(mesh, a, p), fmin(distance_sq(mesh, b, p), distance_sq(mesh, c, p)));
		if (near < distance * distance)
			break;
		mesh->triangles[t][2] = p;
		add_triangle(mesh, b, c, p);
		add_triangle(mesh, c, a, p);
		return !mesh->failed;
	}
	if (!mesh->failed)
		mesh->point_count--;
	return false;
}

void fem_loop_mesh_thin(FemLoopMesh *mesh, const bool *keeps) {
	int32_t at = 0, loops = 0, from = 0;
	for (int32_t loop = 0; loop < mesh->loop_count; loop++) {
		int32_t end = mesh->loop_ends[loop], first = at;
		for (; from < end; from++)
			if (keeps[mesh->indices[from]])
				mesh->indices[at++] = mesh->indices[from];
		if (at - first < 3)
			at = first;
		else
			mesh->loop_ends[loops++] = at;
	}
	FEM_ASSERT(loops <= mesh->loop_count && at <= mesh->index_count && from <= mesh->index_count);
	mesh->loop_count = loops;
	mesh->index_count = at;
	mesh->triangle_count = 0;
}
