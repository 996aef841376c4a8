#include "geometry/principal_box.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/mat3.h"
#include "base/memory.h"
#include "base/stop_check.h"

#include <stdlib.h>
#include <string.h>

#define FLAT_MAX 8192   // points of an outline looked at together; of more the hull is kept. Chosen
#define AXES_ERROR 1e-9 // of the determinant of axes, by rounding; chosen far above
#define TIE 0.999 // of the smallest box so far: a smaller one wins, so that axes do not jump between equal ones; chosen

typedef struct Point2 {
	double x, y;
} Point2;

// The triangles of one group. Points are gone through corner by corner: no list of them is kept.
typedef struct Points {
	const FemTriangles *triangles;
	const int32_t *groups;
	int32_t group, count;
	Point2 *flat, *hull; // [FLAT_MAX], [2 FLAT_MAX]; flat holds `count` points of the outline and some inside
} Points;

typedef struct Candidate {
	double axes[3][3], lo[3], hi[3], volume;
} Candidate;

static double dot(const double a[3], FemVec3 p) {
	return a[0] * (double)p.x + a[1] * (double)p.y + a[2] * (double)p.z;
}

static bool is_member(const Points *points, int32_t triangle) {
	return !points->groups || points->groups[triangle] == points->group;
}

static FemVec3 corner_of(const Points *points, int32_t triangle, int v) {
	return points->triangles->vertices[points->triangles->triangles[triangle][v]];
}

// Sum of area n n^T: for a plate its largest eigenvector is the normal, for a beam its smallest is the axis, exactly.
static void normal_tensor(const Points *points, double out[3][3]) {
	memset(out, 0, sizeof(double) * 9);
	for (int32_t t = 0; t < points->triangles->triangle_count; t++) {
		if (!is_member(points, t))
			continue;
		FemVec3d n = fem_triangle_area_vector(points->triangles, t);
		double v[3] = {n.x, n.y, n.z}, area = sqrt(fem_vec3d_dot(n, n));
		FEM_ASSERT(area > 0.0); // triangles were cleaned
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				out[i][j] += v[i] * v[j] / area;
	}
}

// Second moments of the triangles' centroids, by area.
static void point_tensor(const Points *points, double out[3][3]) {
	double sum[3][3] = {{0}}, first[3] = {0}, area_sum = 0.0;
	for (int32_t t = 0; t < points->triangles->triangle_count; t++) {
		if (!is_member(points, t))
			continue;
		FemVec3d n = fem_triangle_area_vector(points->triangles, t);
		FemVec3 middle =
			fem_vec3_add(fem_vec3_add(corner_of(points, t, 0), corner_of(points, t, 1)), corner_of(points, t, 2));
		double p[3] = {(double)middle.x / 3.0, (double)middle.y / 3.0, (double)middle.z / 3.0};
		double area = sqrt(fem_vec3d_dot(n, n));
		area_sum += area;
		for (int i = 0; i < 3; i++) {
			first[i] += area * p[i];
			for (int j = 0; j < 3; j++)
				sum[i][j] += area * p[i] * p[j];
		}
	}
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			out[i][j] = sum[i][j] - first[i] * first[j] / area_sum;
}

static int by_x_then_y(const void *left, const void *right) {
	const Point2 *a = left, *b = right;
	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return a->y < b->y ? -1 : a->y > b->y;
}

static double orient2d(Point2 a, Point2 b, Point2 c) {
	return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Andrew's monotone chain.
static int32_t make_hull(const Points *points) {
	int32_t count = 0, n = points->count;
	qsort(points->flat, (size_t)n, sizeof *points->flat, by_x_then_y);
	for (int pass = 0; pass < 2; pass++) {
		int32_t base = count;
		for (int32_t i = 0; i < n; i++) {
			Point2 p = points->flat[pass == 0 ? i : n - 1 - i];
			while (count >= base + 2 && orient2d(points->hull[count - 2], points->hull[count - 1], p) <= 0.0)
				count--;
			points->hull[count++] = p;
		}
		count--; // the last point begins the other chain
	}
	FEM_ASSERT(n <= FLAT_MAX && count < 2 * FLAT_MAX);
	return count;
}

static double area_along(const Points *points, int32_t hull_count, double cosine, double sine) {
	double lo[2] = {1e30, 1e30}, hi[2] = {-1e30, -1e30};
	for (int32_t i = 0; i < hull_count; i++) {
		double at[2] = {cosine * points->hull[i].x + sine * points->hull[i].y,
			cosine * points->hull[i].y - sine * points->hull[i].x};
		for (int axis = 0; axis < 2; axis++) {
			lo[axis] = fmin(lo[axis], at[axis]);
			hi[axis] = fmax(hi[axis], at[axis]);
		}
	}
	return (hi[0] - lo[0]) * (hi[1] - lo[1]);
}

// A full buffer is cut down to its hull; a hull that still fills half of it is thinned.
static void add_flat(Points *points, Point2 p) {
	if (points->count == FLAT_MAX) {
		int32_t hull_count = make_hull(points), stride = hull_count / (FLAT_MAX / 2) + 1;
		points->count = 0;
		for (int32_t i = 0; i < hull_count; i += stride)
			points->flat[points->count++] = points->hull[i];
	}
	FEM_ASSERT(points->count < FLAT_MAX);
	points->flat[points->count++] = p;
}

// The farthest reaches in 8 directions; most points lie well within and need not be sorted (Akl & Toussaint 1978).
static void find_reaches(const Points *points, double axes[3][3], Point2 out[8]) {
	double best[8] = {-1e30, -1e30, -1e30, -1e30, -1e30, -1e30, -1e30, -1e30};
	for (int32_t t = 0; t < points->triangles->triangle_count; t++) {
		for (int v = 0; v < 3 && is_member(points, t); v++) {
			Point2 p = {dot(axes[1], corner_of(points, t, v)), dot(axes[2], corner_of(points, t, v))};
			double reach[8] = {p.x, p.x + p.y, p.y, p.y - p.x, -p.x, -p.x - p.y, -p.y, p.x - p.y};
			for (int i = 0; i < 8; i++)
				if (reach[i] > best[i]) {
					best[i] = reach[i];
					out[i] = p;
				}
		}
	}
}

static void project(Points *points, double axes[3][3]) {
	Point2 octagon[8];
	find_reaches(points, axes, octagon);
	points->count = 0;
	for (int32_t t = 0; t < points->triangles->triangle_count; t++) {
		for (int v = 0; v < 3 && is_member(points, t); v++) {
			Point2 p = {dot(axes[1], corner_of(points, t, v)), dot(axes[2], corner_of(points, t, v))};
			bool within = true;
			for (int i = 0; i < 8 && within; i++)
				within = orient2d(octagon[i], octagon[(i + 1) % 8], p) > 0.0 ||
					(octagon[i].x == octagon[(i + 1) % 8].x && octagon[i].y == octagon[(i + 1) % 8].y);
			if (!within)
				add_flat(points, p);
		}
	}
}

// Rotates axes[1] and axes[2] about axes[0] so that the rectangle they span is smallest. A round outline has thousands
// of hull edges: at most 180 of them are tried.
static void rotate_to_outline(Points *points, double axes[3][3]) {
	project(points, axes);
	int32_t count = make_hull(points), stride = count / 180 + 1;
	if (count < 1)
		return;
	double best = area_along(points, count, 1.0, 0.0) * TIE, cosine = 1.0, sine = 0.0;
	for (int32_t i = 0; i < count; i += stride) {
		Point2 a = points->hull[i], b = points->hull[(i + 1) % count];
		double length = hypot(b.x - a.x, b.y - a.y);
		if (length <= 1e-6)
			continue;
		double area = area_along(points, count, (b.x - a.x) / length, (b.y - a.y) / length);
		if (area >= best)
			continue;
		best = area * TIE;
		cosine = (b.x - a.x) / length;
		sine = (b.y - a.y) / length;
	}
	for (int axis = 0; axis < 3; axis++) {
		double first = axes[1][axis], second = axes[2][axis];
		axes[1][axis] = cosine * first + sine * second;
		axes[2][axis] = cosine * second - sine * first;
	}
}

static void measure(const Points *points, Candidate *candidate) {
	for (int axis = 0; axis < 3; axis++) {
		candidate->lo[axis] = 1e30;
		candidate->hi[axis] = -1e30;
	}
	for (int32_t t = 0; t < points->triangles->triangle_count && !fem_stop_asked(); t++) {
		for (int v = 0; v < 3 && is_member(points, t); v++) {
			for (int axis = 0; axis < 3; axis++) {
				double at = dot(candidate->axes[axis], corner_of(points, t, v));
				candidate->lo[axis] = fmin(candidate->lo[axis], at);
				candidate->hi[axis] = fmax(candidate->hi[axis], at);
			}
		}
	}
	candidate->volume = 1.0;
	for (int axis = 0; axis < 3; axis++) // a flat sheet is compared by its area
		candidate->volume *= candidate->hi[axis] - candidate->lo[axis] + 1e-6;
}

static void try_frame(Points *points, double vectors[3][3], Candidate *best) {
	for (int first = 0; first < 3; first++) {
		Candidate candidate;
		for (int i = 0; i < 3; i++)
			memcpy(candidate.axes[i], vectors[(first + i) % 3], sizeof candidate.axes[i]);
		rotate_to_outline(points, candidate.axes);
		measure(points, &candidate);
		if (candidate.volume < best->volume * TIE)
			*best = candidate;
	}
}

// Axes by falling extent, right-handed, each pointing to its positive side.
static void to_box(const Candidate *best, const FemUnitFrame *unit, FemPrincipalBox *out) {
	int order[3] = {0, 1, 2};
	double extent[3];
	for (int i = 0; i < 3; i++)
		extent[i] = best->hi[i] - best->lo[i];
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2 - i; j++)
			if (extent[order[j]] < extent[order[j + 1]] * TIE) {
				int kept = order[j];
				order[j] = order[j + 1];
				order[j + 1] = kept;
			}
	FemVec3d center = {0};
	for (int i = 0; i < 3; i++) {
		const double *axis = best->axes[order[i]];
		double middle = 0.5 * (best->lo[order[i]] + best->hi[order[i]]);
		center = fem_vec3d_add(center, (FemVec3d){axis[0] * middle, axis[1] * middle, axis[2] * middle});
		memcpy(out->frame.axes[i], axis, sizeof out->frame.axes[i]);
		out->half_extents[i] = 0.5 * extent[order[i]] / extent[order[0]];
	}
	if (fem_determinant3(out->frame.axes) < 0.0)
		for (int axis = 0; axis < 3; axis++)
			out->frame.axes[2][axis] = -out->frame.axes[2][axis];
	FEM_ASSERT(fabs(fem_determinant3(out->frame.axes) - 1.0) < AXES_ERROR); // a right-handed frame of unit vectors
	FEM_ASSERT(out->half_extents[1] * TIE <= 0.5 && out->half_extents[2] * TIE <= out->half_extents[1]);
	out->frame.size = extent[order[0]] * unit->size;
	out->frame.origin = fem_frame_to_user(unit, center);
}

FemResult fem_principal_box(const FemTriangles *triangles, const int32_t *groups, int32_t group, FemPrincipalBox *out) {
	Points points = {
		triangles, groups, group, 0, FEM_ALLOC_ARRAY(Point2, FLAT_MAX), FEM_ALLOC_ARRAY(Point2, 2 * FLAT_MAX)};
	bool ready = points.flat && points.hull;
	if (ready) {
		double tensor[3][3], values[3], vectors[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
		Candidate best = {.axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
		measure(&points, &best); // the mesh's own axes win ties
		try_frame(&points, vectors, &best);
		normal_tensor(&points, tensor);
		fem_eigen_symmetric3(tensor, values, vectors);
		try_frame(&points, vectors, &best);
		point_tensor(&points, tensor);
		fem_eigen_symmetric3(tensor, values, vectors);
		try_frame(&points, vectors, &best);
		to_box(&best, &triangles->frame, out);
	}
	FEM_FREE_ARRAY(points.flat, FLAT_MAX);
	FEM_FREE_ARRAY(points.hull, 2 * FLAT_MAX);
	if (!ready)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the box of a part.");
	return fem_stop_asked() ? fem_fail_stopped() : FEM_OK;
}
