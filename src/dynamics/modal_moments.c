#include "dynamics/modal_moments.h"

#include <math.h>
#include <string.h>

#define ENTRIES 9 // of a pair of modes: Q_jk as xx yy zz xy yz zx, then A_jk

static const int SECOND_ROW[6] = {0, 1, 2, 0, 1, 2}, SECOND_COLUMN[6] = {0, 1, 2, 1, 2, 0};

// m a b^T + m b a^T over 2, and m a x b, added to a pair.
static void add_pair(double *out, double mass, const double a[3], const double b[3]) {
	for (int e = 0; e < 6; e++)
		out[e] += 0.5 * mass * (a[SECOND_ROW[e]] * b[SECOND_COLUMN[e]] + b[SECOND_ROW[e]] * a[SECOND_COLUMN[e]]);
	for (int k = 0; k < 3; k++)
		out[6 + k] += mass * (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
}

static void mode_of_node(const FemModal *m, int32_t node, int32_t mode, double out[3]) {
	for (size_t axis = 0; axis < 3; axis++)
		out[axis] = (double)m->shapes[((size_t)node * 3 + axis) * (size_t)m->stride + (size_t)mode];
}

static double length3(const double a[3]) {
	return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

// Rows of `moments`: the rest shape is vector 0, modes come after it; the pairs (j, k), j <= k, of all of them.
void fem_modal_set_moments(FemModal *m, const FemBody *body) {
	double vectors[FEM_MODAL_MOMENTS_MODES + 1][3];
	if (m->is_held || m->mode_count > FEM_MODAL_MOMENTS_MODES)
		return;
	memset(m->moments, 0, sizeof *m->moments * fem_modal_moment_count(m->mode_count));
	memset(m->reach, 0, sizeof *m->reach * (size_t)(m->mode_count + 1));
	for (int32_t i = 0; i < m->node_count; i++) {
		double *out = m->moments;
		for (int k = 0; k < 3; k++)
			vectors[0][k] = (double)(&m->rest[i].x)[k];
		for (int32_t k = 0; k < m->mode_count; k++)
			mode_of_node(m, i, k, vectors[k + 1]);
		for (int32_t j = 0; j <= m->mode_count; j++) {
			m->reach[j] = fmax(m->reach[j], length3(vectors[j]));
			for (int32_t k = j; k <= m->mode_count; k++, out += ENTRIES)
				add_pair(out, (double)body->mass[i], vectors[j], vectors[k]);
		}
	}
	m->has_moments = true;
}

bool fem_modal_moments(
	const FemModal *m, const double c[3], const double rotation[9], FemMotionSums *out, double angular[3]) {
	double sum[ENTRIES] = {0.0}, z[FEM_MODAL_MOMENTS_MODES + 1], rate[FEM_MODAL_MOMENTS_MODES + 1];
	const double *entry = m->moments, *r = rotation;
	if (!m->has_moments)
		return false;
	z[0] = 1.0, rate[0] = 0.0;
	memcpy(z + 1, m->z, sizeof *z * (size_t)m->mode_count);
	memcpy(rate + 1, m->z_velocity, sizeof *rate * (size_t)m->mode_count);
	for (int32_t j = 0; j <= m->mode_count; j++) {
		for (int32_t k = j; k <= m->mode_count; k++, entry += ENTRIES) {
			double product = (j == k ? 1.0 : 2.0) * z[j] * z[k];
			double swirl = j == 0 ? 0.0 : z[j] * rate[k] - z[k] * rate[j]; // sum m s x w is 0 but for rounding
			for (int e = 0; e < 6; e++)
				sum[e] += product * entry[e];
			for (int e = 6; e < ENTRIES; e++)
				sum[e] += swirl * entry[e];
		}
	}
	const double q[3][3] = {{sum[0], sum[3], sum[5]}, {sum[3], sum[1], sum[4]}, {sum[5], sum[4], sum[2]}};
	*out = (FemMotionSums){.mass = m->total_mass, .finite = true};
	for (int e = 0; e < 6; e++) {
		int row = SECOND_ROW[e], column = SECOND_COLUMN[e];
		out->second[e] = m->total_mass * c[row] * c[column];
		for (int k = 0; k < 9; k++)
			out->second[e] += r[3 * row + k / 3] * q[k / 3][k % 3] * r[3 * column + k % 3];
	}
	for (int k = 0; k < 3; k++) {
		out->moment[k] = m->total_mass * c[k];
		angular[k] = r[3 * k] * sum[6] + r[3 * k + 1] * sum[7] + r[3 * k + 2] * sum[8];
	}
	return true;
}

double fem_modal_speed_bound(const FemModal *m, const double velocity[3], const double spin[3]) {
	double radius = m->reach[0], speed = 0.0;
	for (int32_t k = 0; k < m->mode_count; k++) {
		radius += fabs(m->z[k]) * m->reach[k + 1];
		speed += fabs(m->z_velocity[k]) * m->reach[k + 1];
	}
	return length3(velocity) + length3(spin) * radius + speed;
}
