#include "fracture/principal.h"

#include "base/mat3.h"

#include <math.h>
#include <string.h>

#define TWO_PI_THIRD 2.0943951023931953 // rad
// Squared length of the cross product, against the matrix's size, below which rows are parallel: 1e-6 of it, half of a
// double's digits.
#define DOUBLE_VALUE 1e-12

void fem_principal_values(const double m[6], double values[3]) {
	double mean = (m[0] + m[1] + m[2]) / 3.0;
	double a = m[0] - mean, b = m[1] - mean, c = m[2] - mean;
	double shear = m[3] * m[3] + m[4] * m[4] + m[5] * m[5];
	double p = sqrt((a * a + b * b + c * c + 2.0 * shear) / 6.0);
	if (!(p > 0.0)) {
		values[0] = values[1] = values[2] = mean;
		return;
	}
	double det = a * (b * c - m[4] * m[4]) - m[3] * (m[3] * c - m[4] * m[5]) + m[5] * (m[3] * m[4] - b * m[5]);
	double angle = acos(fmin(1.0, fmax(-1.0, 0.5 * det / (p * p * p)))) / 3.0;
	values[0] = mean + 2.0 * p * cos(angle);
	values[2] = mean + 2.0 * p * cos(angle + TWO_PI_THIRD);
	values[1] = 3.0 * mean - values[0] - values[2];
}

static void vector_by_rotations(const double m[6], double value, double vector[3]) {
	double full[3][3] = {{m[0], m[3], m[5]}, {m[3], m[1], m[4]}, {m[5], m[4], m[2]}}, values[3], vectors[3][3];
	fem_eigen_symmetric3(full, values, vectors);
	int best = 0;
	for (int k = 1; k < 3; k++)
		best = fabs(values[k] - value) < fabs(values[best] - value) ? k : best;
	memcpy(vector, vectors[best], sizeof vectors[best]);
}

void fem_principal_vector(const double m[6], double value, double vector[3]) {
	double rows[3][3] = {{m[0] - value, m[3], m[5]}, {m[3], m[1] - value, m[4]}, {m[5], m[4], m[2] - value}};
	double best = 0.0, size = 0.0;
	for (int i = 0; i < 3; i++) {
		const double *u = rows[i], *v = rows[(i + 1) % 3];
		double cross[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
		double square = cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2];
		if (square > best) {
			best = square;
			memcpy(vector, cross, sizeof cross);
		}
		size = fmax(size, u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
	}
	if (!(best > DOUBLE_VALUE * size * size)) {
		vector_by_rotations(m, value, vector);
		return;
	}
	double scale = 1.0 / sqrt(best);
	for (int i = 0; i < 3; i++)
		vector[i] *= scale;
}

static void add_dyad(double out[6], double scale, const double v[3]) {
	for (int i = 0; i < 3; i++) {
		out[i] += scale * v[i] * v[i];
		out[i + 3] += scale * v[i] * v[(i + 1) % 3];
	}
}

// With one positive value only its vector is needed, with two only that of the negative one.
bool fem_tensile_part(const double m[6], double out[6]) {
	double values[3], vector[3];
	fem_principal_values(m, values);
	if (!(values[0] > 0.0)) {
		memset(out, 0, 6 * sizeof *out);
		return false;
	}
	if (values[1] <= 0.0 && values[2] < 0.0) {
		fem_principal_vector(m, values[0], vector);
		memset(out, 0, 6 * sizeof *out);
		add_dyad(out, values[0], vector);
		return true;
	}
	memcpy(out, m, 6 * sizeof *out);
	if (values[2] < 0.0) {
		fem_principal_vector(m, values[2], vector);
		add_dyad(out, -values[2], vector);
	}
	return true;
}
