#include "filling/block_planes.h"

#include "base/growing.h"
#include "base/memory.h"
#include "base/stop_check.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNED_COSINE 0.9994 // of two normals that count as one: 2 degrees; chosen
#define SQUARE_COSINE 0.035   // of two faces at right angles: 2 degrees as well
#define ASLANT_COSINE 0.71    // of two axes of families that are not at right angles: 45 degrees; chosen
#define APART_LEAST 0.5       // volume of the box that three such axes span, of a cube's; chosen
#define FAMILY_COSINE 0.7     // of a slanting face and its family's axis: 45 degrees; chosen
#define FAMILY_SHARE 0.9      // of the area that must lie in a family: the rest are bevels; chosen
#define AXIS_TRIES 64         // triangles whose normals are tried as an axis; chosen
#define SAME_PLANE 1e-5       // of the frame: places of triangles of one face, by rounding; chosen
#define FACES_MAX 1024        // of a family before near ones are merged; chosen

static double area_of(FemVec3d area_vector) {
	return sqrt(fem_vec3d_dot(area_vector, area_vector));
}

// ---- axes

// Area of the triangles whose normal lies along an axis.
static double aligned_area(const FemTriangles *triangles, FemVec3d axis) {
	double sum = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double area = area_of(n);
		sum += fabs(fem_vec3d_dot(axis, n)) > ALIGNED_COSINE * area ? area : 0.0;
	}
	return sum;
}

// Whether a normal makes an axis beside those there are: at right angles to them, or else far enough from their plane.
static bool is_apart(FemVec3d normal, const FemPlaneFamily *families, int count, bool aslant) {
	for (int i = 0; i < count; i++) {
		if (fabs(fem_vec3d_dot(normal, families[i].axis)) > (aslant ? ASLANT_COSINE : SQUARE_COSINE))
			return false;
	}
	return count < 2 || fabs(fem_vec3d_dot(normal, fem_vec3d_cross(families[0].axis, families[1].axis))) > APART_LEAST;
}

// The normal that most of the area has, of those apart from the axes there are.
static double find_axis(const FemTriangles *triangles, FemPlaneFamily families[3], int number, bool aslant) {
	int32_t stride = triangles->triangle_count / AXIS_TRIES + 1;
	double best = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count && !fem_stop_asked(); t += stride) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		double area = area_of(n);
		if (!(area > 0.0))
			continue;
		n = fem_vec3d_scale(n, 1.0 / area);
		double found = is_apart(n, families, number, aslant) ? aligned_area(triangles, n) : 0.0;
		if (found <= best)
			continue;
		best = found;
		families[number].axis = n;
	}
	return best;
}

static bool find_square_axes(const FemSolid *solid, FemPlaneFamily families[3]) {
	const FemTriangles *triangles = &solid->triangles;
	double first = find_axis(triangles, families, 0, false);
	double second = first > 0.0 ? find_axis(triangles, families, 1, false) : 0.0;
	if (second <= 0.0)
		return false;
	FemVec3d a = families[0].axis, b = families[1].axis;
	b = fem_vec3d_sub(b, fem_vec3d_scale(a, fem_vec3d_dot(a, b)));
	families[1].axis = fem_vec3d_scale(b, 1.0 / area_of(b));
	families[2].axis = fem_vec3d_cross(a, families[1].axis);
	return first + second + aligned_area(triangles, families[2].axis) > FAMILY_SHARE * fem_solid_area(solid);
}

// The family whose axis a normal is nearest to; -1 where that is too far off.
static int family_of(FemVec3d area_vector, const FemPlaneFamily families[3], double least) {
	int nearest = -1;
	double best = least * area_of(area_vector);
	for (int i = 0; i < 3; i++) {
		double along = fabs(fem_vec3d_dot(area_vector, families[i].axis));
		if (along > best) {
			best = along;
			nearest = i;
		}
	}
	return nearest;
}

static bool find_slanting_axes(const FemSolid *solid, FemPlaneFamily families[3]) {
	const FemTriangles *triangles = &solid->triangles;
	for (int i = 0; i < 3; i++) {
		if (find_axis(triangles, families, i, true) <= 0.0)
			return false;
	}
	double sum = 0.0;
	for (int32_t t = 0; t < triangles->triangle_count; t++) {
		FemVec3d n = fem_triangle_area_vector(triangles, t);
		sum += family_of(n, families, FAMILY_COSINE) >= 0 ? area_of(n) : 0.0;
	}
	return sum > FAMILY_SHARE * fem_solid_area(solid);
}

// ---- planes

typedef struct Face {
	double area;
	int32_t triangle;
} Face;

static int compare_faces(const void *left, const void *right) {
	const Face *a = left, *b = right;
	if (a->area != b->area)
		return a->area > b->area ? -1 : 1;
	return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

// Faces at right angles take their family's axis, or planes that are meant to be parallel would make wedges.
static FemFacePlane plane_of(const FemTriangles *triangles, const Face *face, FemVec3d axis, bool aslant) {
	FemVec3d n = fem_vec3d_scale(fem_triangle_area_vector(triangles, face->triangle), 1.0 / face->area), middle = {0};
	for (int v = 0; v < 3; v++)
		middle = fem_vec3d_add(middle, fem_vec3d_scale(fem_triangle_corner(triangles, face->triangle, v), 1.0 / 3.0));
	double along = fem_vec3d_dot(n, axis);
	n = !aslant ? axis : fem_vec3d_scale(n, along < 0.0 ? -1.0 : 1.0);
	return (FemFacePlane){n, fem_vec3d_dot(n, middle), face->area, fem_vec3d_scale(middle, face->area)};
}

static FemFacePlane *plane_near(FemFacePlane *planes, int32_t count, const FemFacePlane *plane, double distance) {
	FemVec3d middle = fem_vec3d_scale(plane->middle, 1.0 / plane->area);
	for (int32_t i = 0; i < count; i++) {
		if (fem_vec3d_dot(planes[i].normal, plane->normal) > ALIGNED_COSINE &&
			fabs(fem_vec3d_dot(planes[i].normal, middle) - planes[i].at) < distance)
			return &planes[i];
	}
	return NULL;
}

// One plane for all triangles of a face, the largest triangles first. False without memory.
static bool collect_planes(
	const FemTriangles *triangles, const Face *faces, int32_t count, bool aslant, FemPlaneFamily *family) {
	for (int32_t i = 0; i < count && family->count <= FACES_MAX; i++) {
		FemFacePlane plane = plane_of(triangles, &faces[i], family->axis, aslant);
		FemFacePlane *known = plane_near(family->planes, family->count, &plane, SAME_PLANE);
		if (known) {
			known->area += plane.area;
			known->middle = fem_vec3d_add(known->middle, plane.middle);
			continue;
		}
		if (!FEM_GROW(family->planes, family->count, &family->capacity))
			return false;
		family->planes[family->count++] = plane;
	}
	if (family->count > FACES_MAX)
		family->count = 0;
	return true;
}

static int compare_areas(const void *left, const void *right) {
	const FemFacePlane *a = left, *b = right;
	if (a->area != b->area)
		return a->area > b->area ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int compare_places(const void *left, const void *right) {
	const FemFacePlane *a = left, *b = right;
	return a->at < b->at ? -1 : a->at > b->at;
}

// Of planes nearer to each other than `merge` the one with the most area stands for all. Then they are put in order.
static void merge_planes(FemPlaneFamily *family, double merge) {
	int32_t kept = 0;
	if (family->count == 0)
		return;
	qsort(family->planes, (size_t)family->count, sizeof *family->planes, compare_areas);
	for (int32_t i = 0; i < family->count; i++) {
		if (!plane_near(family->planes, kept, &family->planes[i], merge))
			family->planes[kept++] = family->planes[i];
	}
	family->count = kept;
	for (int32_t i = 0; i < kept; i++) { // by where they cross the axis: normals of length 1 along it
		FemFacePlane *plane = &family->planes[i];
		double scale = 1.0 / fem_vec3d_dot(plane->normal, family->axis);
		plane->normal = fem_vec3d_scale(plane->normal, scale);
		plane->at *= scale;
	}
	qsort(family->planes, (size_t)kept, sizeof *family->planes, compare_places);
}

static bool find_planes(const FemSolid *solid, double merge, bool aslant, FemPlaneFamily families[3]) {
	const FemTriangles *triangles = &solid->triangles;
	Face *faces = FEM_ALLOC_ARRAY(Face, triangles->triangle_count);
	bool ready = faces != NULL;
	for (int i = 0; i < 3 && ready; i++) {
		int32_t count = 0;
		for (int32_t t = 0; t < triangles->triangle_count; t++) {
			FemVec3d n = fem_triangle_area_vector(triangles, t);
			if (family_of(n, families, aslant ? FAMILY_COSINE : ALIGNED_COSINE) == i)
				faces[count++] = (Face){area_of(n), t};
		}
		qsort(faces, (size_t)count, sizeof *faces, compare_faces);
		ready = collect_planes(triangles, faces, count, aslant, &families[i]);
		merge_planes(&families[i], fmax(merge, SAME_PLANE));
	}
	FEM_FREE_ARRAY(faces, triangles->triangle_count);
	return ready;
}

bool fem_plane_families_find(const FemSolid *solid, double merge, FemPlaneFamily out[3]) {
	memset(out, 0, 3 * sizeof *out);
	if (find_square_axes(solid, out))
		return find_planes(solid, merge, false, out);
	return !find_slanting_axes(solid, out) || find_planes(solid, merge, true, out);
}

void fem_plane_families_free(FemPlaneFamily families[3]) {
	for (int i = 0; i < 3; i++)
		FEM_FREE_ARRAY(families[i].planes, families[i].capacity);
	memset(families, 0, 3 * sizeof *families);
}
