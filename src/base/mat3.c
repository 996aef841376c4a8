#include "base/mat3.h"

#include <math.h>
#include <string.h>

#define JACOBI_SWEEPS 32    // bound on work: Jacobi's method converges quadratically
#define POLAR_ITERATIONS 64 // bound on work: Newton's method converges quadratically, after halvings of the scale

// One Jacobi rotation that zeroes a[p][q] (Golub & Van Loan, section 8.5).
static void rotate_away(double a[3][3], double v[3][3], int p, int q) {
	double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
	double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
	double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
	for (int k = 0; k < 3; k++) {
		double kp = a[k][p], kq = a[k][q];
		a[k][p] = c * kp - s * kq;
		a[k][q] = s * kp + c * kq;
	}
	for (int k = 0; k < 3; k++) {
		double pk = a[p][k], qk = a[q][k];
		a[p][k] = c * pk - s * qk;
		a[q][k] = s * pk + c * qk;
		double vp = v[p][k], vq = v[q][k];
		v[p][k] = c * vp - s * vq;
		v[q][k] = s * vp + c * vq;
	}
	a[p][q] = a[q][p] = 0.0;
}

static void sort_ascending(double values[3], double vectors[3][3]) {
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 2 - i; j++) {
			if (values[j] <= values[j + 1])
				continue;
			double value = values[j], vector[3];
			values[j] = values[j + 1];
			values[j + 1] = value;
			memcpy(vector, vectors[j], sizeof vector);
			memcpy(vectors[j], vectors[j + 1], sizeof vector);
			memcpy(vectors[j + 1], vector, sizeof vector);
		}
	}
}

void fem_eigen_symmetric3(double matrix[3][3], double values[3], double vectors[3][3]) {
	double a[3][3];
	memcpy(a, matrix, sizeof a);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			vectors[i][j] = i == j ? 1.0 : 0.0;
	}
	for (int sweep = 0; sweep < JACOBI_SWEEPS; sweep++) {
		double off = fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]);
		double on = fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2]);
		if (!(off > 1e-18 * on))
			break;
		for (int p = 0; p < 2; p++) {
			for (int q = p + 1; q < 3; q++) {
				if (a[p][q] != 0.0)
					rotate_away(a, vectors, p, q);
			}
		}
	}
	for (int i = 0; i < 3; i++)
		values[i] = a[i][i];
	sort_ascending(values, vectors);
	if (fem_determinant3(vectors) < 0.0) {
		for (int k = 0; k < 3; k++)
			vectors[2][k] = -vectors[2][k];
	}
}

double fem_determinant3(double m[3][3]) {
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
		m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

int fem_invert3(double m[3][3], double out[3][3]) {
	double inv = 1.0 / fem_determinant3(m);
	if (!(inv - inv == 0.0))
		return 0;
	out[0][0] = (m[1][1] * m[2][2] - m[1][2] * m[2][1]) * inv;
	out[0][1] = (m[0][2] * m[2][1] - m[0][1] * m[2][2]) * inv;
	out[0][2] = (m[0][1] * m[1][2] - m[0][2] * m[1][1]) * inv;
	out[1][0] = (m[1][2] * m[2][0] - m[1][0] * m[2][2]) * inv;
	out[1][1] = (m[0][0] * m[2][2] - m[0][2] * m[2][0]) * inv;
	out[1][2] = (m[0][2] * m[1][0] - m[0][0] * m[1][2]) * inv;
	out[2][0] = (m[1][0] * m[2][1] - m[1][1] * m[2][0]) * inv;
	out[2][1] = (m[0][1] * m[2][0] - m[0][0] * m[2][1]) * inv;
	out[2][2] = (m[0][0] * m[1][1] - m[0][1] * m[1][0]) * inv;
	return 1;
}

// r = exp([w]x) r
static void rotate(double r[3][3], const double w[3], double angle) {
	double x = w[0] / angle, y = w[1] / angle, z = w[2] / angle;
	double c = cos(angle), s = sin(angle), d = 1.0 - c;
	double e[3][3] = {
		{c + x * x * d, x * y * d - z * s, x * z * d + y * s},
		{y * x * d + z * s, c + y * y * d, y * z * d - x * s},
		{z * x * d - y * s, z * y * d + x * s, c + z * z * d},
	};
	double old[3][3];
	memcpy(old, r, sizeof old);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			r[i][j] = e[i][0] * old[0][j] + e[i][1] * old[1][j] + e[i][2] * old[2][j];
	}
}

// Newton's step for the angle: with S = R^T F, the axial vector of R^T F's skew part vanishes at the maximum; the
// Hessian in the world frame is tr(F R^T) I - sym(F R^T). Falls back to the paper's damped step when it is singular.
static int polar_step(double f[3][3], double r[3][3]) {
	double g[3][3]; // F R^T
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			g[i][j] = f[i][0] * r[j][0] + f[i][1] * r[j][1] + f[i][2] * r[j][2];
	}
	double trace = g[0][0] + g[1][1] + g[2][2];
	double torque[3] = {g[2][1] - g[1][2], g[0][2] - g[2][0], g[1][0] - g[0][1]};
	double h[3][3], inverse[3][3], w[3];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			h[i][j] = (i == j ? trace : 0.0) - 0.5 * (g[i][j] + g[j][i]);
	}
	double scale = fabs(trace) + 1e-9;
	double det = fem_determinant3(h);
	int newton = det > 1e-6 * scale * scale * scale && h[0][0] > 0.0 && h[0][0] * h[1][1] - h[0][1] * h[1][0] > 0.0 &&
		fem_invert3(h, inverse);
	for (int i = 0; i < 3; i++) {
		w[i] = newton ? inverse[i][0] * torque[0] + inverse[i][1] * torque[1] + inverse[i][2] * torque[2]
					  : torque[i] / scale;
	}
	double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
	if (!(angle > 1e-14 && angle < 1e300))
		return 0;
	double limited = angle < 0.5 ? angle : 0.5;
	for (int i = 0; i < 3; i++)
		w[i] *= limited / angle;
	rotate(r, w, limited);
	return angle > 1e-10;
}

void fem_polar_polish(double f[3][3], double r[3][3]) {
	for (int iteration = 0; iteration < POLAR_ITERATIONS && polar_step(f, r); iteration++) {
	}
}
