#include "geometry/closest.h"

#include "base/assert.h"
#include "topology/surface.h"

#define WEIGHT_ROUNDING 1e-6 // of a weight: a point no farther within a face may lie beyond it but for rounding; chosen

static FemVec3d blend(const FemVec3d corners[3], const double weights[3]) {
	FemVec3d p = fem_vec3d_scale(corners[0], weights[0]);
	p = fem_vec3d_add(p, fem_vec3d_scale(corners[1], weights[1]));
	return fem_vec3d_add(p, fem_vec3d_scale(corners[2], weights[2]));
}

// Nearest point of the edge a-b: the weight of b.
static double closest_on_edge(FemVec3d p, FemVec3d a, FemVec3d b) {
	FemVec3d edge = fem_vec3d_sub(b, a);
	double length_sq = fem_vec3d_dot(edge, edge);
	double along = fem_vec3d_dot(fem_vec3d_sub(p, a), edge);
	if (along <= 0.0 || length_sq <= 0.0)
		return 0.0;
	return along >= length_sq ? 1.0 : along / length_sq;
}

// For asserts: weights of a point of a triangle or tet.
static bool are_weights(const double *weights, int count) {
	double sum = 0.0, least = 0.0;
	for (int i = 0; i < count; i++) {
		sum += weights[i];
		least = fmin(least, weights[i]);
	}
	return least >= 0.0 && fabs(sum - 1.0) < 1e-12 * count;
}

// Inside the triangle's prism the foot of the perpendicular, else the nearest point of the three edges.
FemVec3d fem_closest_on_triangle(FemVec3d p, const FemVec3d corners[3], double out_weights[3]) {
	FemVec3d u = fem_vec3d_sub(corners[1], corners[0]), v = fem_vec3d_sub(corners[2], corners[0]);
	FemVec3d w = fem_vec3d_sub(p, corners[0]), n = fem_vec3d_cross(u, v);
	double area_sq = fem_vec3d_dot(n, n);
	if (area_sq > 0.0) {
		out_weights[1] = fem_vec3d_dot(fem_vec3d_cross(w, v), n) / area_sq;
		out_weights[2] = fem_vec3d_dot(fem_vec3d_cross(u, w), n) / area_sq;
		out_weights[0] = 1.0 - out_weights[1] - out_weights[2];
		if (out_weights[0] >= 0.0 && out_weights[1] >= 0.0 && out_weights[2] >= 0.0)
			return blend(corners, out_weights);
	}
	double best = -1.0;
	FemVec3d nearest = corners[0];
	for (int a = 0; a < 3; a++) {
		int b = (a + 1) % 3;
		double weights[3] = {0.0, 0.0, 0.0};
		weights[b] = closest_on_edge(p, corners[a], corners[b]);
		weights[a] = 1.0 - weights[b];
		FemVec3d at = blend(corners, weights), offset = fem_vec3d_sub(p, at);
		double distance_sq = fem_vec3d_dot(offset, offset);
		if (best >= 0.0 && distance_sq >= best)
			continue;
		best = distance_sq;
		nearest = at;
		for (int i = 0; i < 3; i++)
			out_weights[i] = weights[i];
	}
	FEM_ASSERT(are_weights(out_weights, 3));
	return nearest;
}

// Weights of a point inside; false outside or when the tet has no volume: then out_weights are those of a point beyond
// every face.
static bool weights_inside(FemVec3d p, const FemVec3d corners[4], double out_weights[4]) {
	FemVec3d a = fem_vec3d_sub(corners[1], corners[0]), b = fem_vec3d_sub(corners[2], corners[0]);
	FemVec3d c = fem_vec3d_sub(corners[3], corners[0]), w = fem_vec3d_sub(p, corners[0]);
	double volume = fem_vec3d_dot(a, fem_vec3d_cross(b, c));
	for (int v = 0; v < 4 && volume == 0.0; v++)
		out_weights[v] = -1.0;
	if (volume == 0.0)
		return false;
	out_weights[1] = fem_vec3d_dot(w, fem_vec3d_cross(b, c)) / volume;
	out_weights[2] = fem_vec3d_dot(a, fem_vec3d_cross(w, c)) / volume;
	out_weights[3] = fem_vec3d_dot(a, fem_vec3d_cross(b, w)) / volume;
	out_weights[0] = 1.0 - out_weights[1] - out_weights[2] - out_weights[3];
	return out_weights[0] >= 0.0 && out_weights[1] >= 0.0 && out_weights[2] >= 0.0 && out_weights[3] >= 0.0;
}

double fem_closest_in_tet(FemVec3d p, const FemVec3d corners[4], double out_weights[4]) {
	if (weights_inside(p, corners, out_weights))
		return 0.0;
	// A tet is convex: the nearest face is one that the point lies beyond.
	bool beyond[4];
	for (int v = 0; v < 4; v++)
		beyond[v] = !(out_weights[v] > WEIGHT_ROUNDING);
	double best = -1.0;
	for (int opposite = 0; opposite < 4; opposite++) {
		FemVec3d face[3];
		double weights[3];
		if (!beyond[opposite])
			continue;
		for (int v = 0; v < 3; v++)
			face[v] = corners[fem_face_corners[opposite][v]];
		FemVec3d offset = fem_vec3d_sub(p, fem_closest_on_triangle(p, face, weights));
		double distance_sq = fem_vec3d_dot(offset, offset);
		if (best >= 0.0 && distance_sq >= best)
			continue;
		best = distance_sq;
		out_weights[opposite] = 0.0;
		for (int v = 0; v < 3; v++)
			out_weights[fem_face_corners[opposite][v]] = weights[v];
	}
	FEM_ASSERT(are_weights(out_weights, 4));
	return best;
}
