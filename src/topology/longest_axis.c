#include "topology/longest_axis.h"

#include "base/mat3.h"
#include "base/vec.h"

#include <math.h>

// Of the largest moment: axes with more are as long, to the eye. Lengths go with the root: 5 %. Chosen.
#define AS_LONG 0.9
#define NEARER 1.01 // times the share of the axis before that an axis of coordinates must have to be taken; chosen

static const int products[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};

static FemVec3d corner_of(const FemVec3 *nodes, const int32_t *tet, int v, FemVec3d origin) {
	return fem_vec3d_sub(fem_vec3d_from(nodes[tet[v]]), origin);
}

// Over a tet of volume V with corners x_i and their sum s: the integral of x x^T is V / 20 (sum x_i x_i^T + s s^T).
FemVolumeMoments fem_volume_moments(const FemVec3 *nodes, const int32_t *tets, int32_t tet_count) {
	FemVolumeMoments out = {{0}};
	double first[3] = {0}, whole = 0.0;
	FemVec3d origin = tet_count > 0 ? fem_vec3d_from(nodes[tets[0]]) : (FemVec3d){0}; // near: less is lost by rounding
	for (int32_t t = 0; t < tet_count; t++) {
		double x[4][3], sum[3] = {0};
		FemVec3d corners[4];
		for (int v = 0; v < 4; v++) {
			corners[v] = corner_of(nodes, tets + 4 * (size_t)t, v, origin);
			x[v][0] = corners[v].x, x[v][1] = corners[v].y, x[v][2] = corners[v].z;
			for (int axis = 0; axis < 3; axis++)
				sum[axis] += x[v][axis];
		}
		FemVec3d a = fem_vec3d_sub(corners[1], corners[0]), b = fem_vec3d_sub(corners[2], corners[0]);
		double volume = fabs(fem_vec3d_dot(fem_vec3d_cross(a, b), fem_vec3d_sub(corners[3], corners[0]))) / 6.0;
		whole += volume;
		for (int axis = 0; axis < 3; axis++)
			first[axis] += 0.25 * volume * sum[axis];
		for (int k = 0; k < 6; k++) {
			int i = products[k][0], j = products[k][1];
			double square = sum[i] * sum[j];
			for (int v = 0; v < 4; v++)
				square += x[v][i] * x[v][j];
			out.products[k] += volume / 20.0 * square;
		}
	}
	for (int k = 0; k < 6 && whole > 0.0; k++)
		out.products[k] -= first[products[k][0]] * first[products[k][1]] / whole;
	return out;
}

// Projects the axes of coordinates onto what is spanned by all axes of the shape that are as long as the longest.
FemVec3 fem_longest_axis(const FemVolumeMoments *moments, FemVec3 scale) {
	double s[3] = {(double)scale.x, (double)scale.y, (double)scale.z}, matrix[3][3], values[3], vectors[3][3];
	double onto[3][3] = {{0}};
	int best = 0;
	for (int k = 0; k < 6; k++) {
		int i = products[k][0], j = products[k][1];
		matrix[i][j] = matrix[j][i] = moments->products[k] * s[i] * s[j];
	}
	fem_eigen_symmetric3(matrix, values, vectors);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 9 && values[k] >= AS_LONG * values[2]; i++)
			onto[i / 3][i % 3] += vectors[k][i / 3] * vectors[k][i % 3];
	}
	for (int i = 1; i < 3; i++)
		best = onto[i][i] > NEARER * onto[best][best] ? i : best;
	double length = sqrt(onto[best][best]); // |P e|^2 = e P P e = e P e
	if (!(length > 0.0))
		return (FemVec3){1.0f, 0.0f, 0.0f};
	return (FemVec3){(float)(onto[0][best] / length), (float)(onto[1][best] / length), (float)(onto[2][best] / length)};
}
