// How far places of a mesh's surface that could touch are from each other at rest: a whole body whose nodes stay within
// half of that from where they are in its shape at rest does not touch itself, whatever that shape is. Found once a
// mesh.
#include "base/memory.h"
#include "base/vec.h"
#include "collision/lanes4.h"
#include "collision/narrow_phase.h"
#include "collision/triangle_tests.h"
#include "geometry/closest.h"
#include "topology/topology.h"
#include "world/contact/contact_stage.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

#define TRIANGLES_MAX 2000 // of meshes that are looked at: some 7 ms; chosen
#define GAP_MOST 0.1       // of the mesh's size, beyond which nothing is looked at; chosen

typedef struct Face {
	FemVec3d corners[3];
	double low[3], high[3];
	int32_t tet;
} Face;

static double square(FemVec3d v) {
	return fem_vec3d_dot(v, v);
}

static double clamped(double x) {
	return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

// Squared distance of two segments: Ericson, "Real-Time Collision Detection", 2005, 5.1.9.
static double segments_apart(FemVec3d p, FemVec3d p_end, FemVec3d q, FemVec3d q_end) {
	FemVec3d u = fem_vec3d_sub(p_end, p), v = fem_vec3d_sub(q_end, q), w = fem_vec3d_sub(p, q);
	double a = square(u), e = square(v), b = fem_vec3d_dot(u, v), c = fem_vec3d_dot(u, w), f = fem_vec3d_dot(v, w);
	double skew = a * e - b * b, s = skew > 0.0 ? clamped((b * f - c * e) / skew) : 0.0;
	double t = e > 0.0 ? clamped((b * s + f) / e) : 0.0;
	s = a > 0.0 ? clamped((b * t - c) / a) : 0.0;
	FemVec3d off = fem_vec3d_sub(fem_vec3d_add(w, fem_vec3d_scale(u, s)), fem_vec3d_scale(v, t));
	return square(off);
}

static double corners_apart(const Face *a, const Face *b) {
	double least = INFINITY, weights[3];
	for (int v = 0; v < 3; v++)
		least = fmin(
			least, square(fem_vec3d_sub(a->corners[v], fem_closest_on_triangle(a->corners[v], b->corners, weights))));
	return least;
}

static bool do_cross(const Face *a, const Face *b) {
	Float4 points[2][3];
	for (int v = 0; v < 3; v++) {
		const FemVec3d *p = &a->corners[v], *q = &b->corners[v];
		points[0][v] = (Float4){(float)p->x, (float)p->y, (float)p->z, 0.0f};
		points[1][v] = (Float4){(float)q->x, (float)q->y, (float)q->z, 0.0f};
	}
	return fem_triangles_cross(points[0], points[1]);
}

// Squared distance of two triangles.
static double faces_apart(const Face *a, const Face *b) {
	double least = fmin(corners_apart(a, b), corners_apart(b, a));
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			least = fmin(
				least, segments_apart(a->corners[i], a->corners[(i + 1) % 3], b->corners[k], b->corners[(k + 1) % 3]));
	return do_cross(a, b) ? 0.0 : least;
}

static double boxes_apart(const Face *a, const Face *b) {
	double sum = 0.0;
	for (int k = 0; k < 3; k++) {
		double off = fmax(a->low[k] - b->high[k], b->low[k] - a->high[k]);
		sum += off > 0.0 ? off * off : 0.0;
	}
	return sum;
}

static int compare_faces(const void *left, const void *right) {
	const Face *a = left, *b = right;
	if (a->low[0] != b->low[0])
		return a->low[0] < b->low[0] ? -1 : 1;
	return a->tet < b->tet ? -1 : a->tet > b->tet;
}

// Faces along x; returns the size of the mesh, m.
static double list_faces(const FemMesh *mesh, Face *faces) {
	const FemTopology *t = mesh->topology;
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
	for (int32_t k = 0; k < t->triangle_count; k++) {
		Face *face = &faces[k];
		face->tet = t->triangle_tets[k];
		for (int v = 0; v < 3; v++)
			face->corners[v] =
				fem_mesh_rest_point(mesh, mesh->stretch, t->user_of_node[t->triangles[3 * (int64_t)k + v]]);
		for (int axis = 0; axis < 3; axis++) {
			double at[3];
			for (int v = 0; v < 3; v++)
				at[v] = (&face->corners[v].x)[axis];
			face->low[axis] = fmin(at[0], fmin(at[1], at[2]));
			face->high[axis] = fmax(at[0], fmax(at[1], at[2]));
			low[axis] = fmin(low[axis], face->low[axis]);
			high[axis] = fmax(high[axis], face->high[axis]);
		}
	}
	qsort(faces, (size_t)t->triangle_count, sizeof *faces, compare_faces);
	return sqrt(pow(high[0] - low[0], 2.0) + pow(high[1] - low[1], 2.0) + pow(high[2] - low[2], 2.0));
}

bool fem_mesh_find_gap(FemMesh *mesh) {
	const FemTopology *t = mesh->topology;
	if (mesh->is_gap_known)
		return true;
	mesh->is_gap_known = true;
	mesh->gap = 0.0f;
	if (mesh->convexity == FEM_CONVEX_YES || t->component_count != 1 || t->triangle_count > TRIANGLES_MAX)
		return true;
	Face *faces = FEM_ALLOC_ARRAY(Face, t->triangle_count);
	if (!faces)
		return false;
	double best = pow(GAP_MOST * list_faces(mesh, faces), 2.0);
	for (int32_t i = 0; i < t->triangle_count; i++) {
		for (int32_t k = i + 1; k < t->triangle_count && faces[k].low[0] - faces[i].high[0] < sqrt(best); k++) {
			if (boxes_apart(&faces[i], &faces[k]) >= best || fem_tets_are_near(t, faces[i].tet, faces[k].tet))
				continue;
			best = fmin(best, faces_apart(&faces[i], &faces[k]));
		}
	}
	mesh->gap = (float)sqrt(best);
	FEM_FREE_ARRAY(faces, t->triangle_count);
	return true;
}
