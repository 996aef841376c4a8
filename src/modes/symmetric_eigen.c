// Householder's reduction to tridiagonal form, then implicit QL steps with Wilkinson's shift (Golub and Van Loan,
// "Matrix Computations", 8.3). Eigenvectors are rows, so that a rotation runs over two stretches of memory.
#include "modes/symmetric_eigen.h"

#include <math.h>
#include <string.h>

#define SWEEPS_MAX 60 // QL steps an eigenvalue; two are usual, more than this means numbers that are not finite

// Reflects rows and columns k + 1.. so that row k is tridiagonal; the reflector stays in row k beyond the diagonal.
// Returns its factor beta of H = 1 - beta v v^T, v[k + 1] = 1.
static double reflector(double *v, int32_t count, double *out_off) {
	double tail = 0.0, head = v[0];
	for (int32_t i = 1; i < count; i++)
		tail += v[i] * v[i];
	if (tail == 0.0) {
		*out_off = head;
		return 0.0;
	}
	double norm = sqrt(head * head + tail), lead = head > 0.0 ? -tail / (head + norm) : head - norm;
	double beta = 2.0 * lead * lead / (tail + lead * lead);
	for (int32_t i = 1; i < count; i++)
		v[i] /= lead;
	v[0] = 1.0;
	*out_off = norm;
	return beta;
}

// A -= v w^T + w v^T with w = beta A v - (beta^2 / 2 v.A v) v, over the trailing block.
static void reflect_both(double *a, int32_t n, int32_t first, const double *v, double beta, double *w) {
	int32_t count = n - first;
	double dot = 0.0;
	for (int32_t i = 0; i < count; i++) {
		const double *row = a + (size_t)(first + i) * (size_t)n + first;
		double sum = 0.0;
		for (int32_t j = 0; j < count; j++)
			sum += row[j] * v[j];
		w[i] = beta * sum;
		dot += w[i] * v[i];
	}
	for (int32_t i = 0; i < count; i++)
		w[i] -= 0.5 * beta * dot * v[i];
	for (int32_t i = 0; i < count; i++) {
		double *row = a + (size_t)(first + i) * (size_t)n + first;
		for (int32_t j = 0; j < count; j++)
			row[j] -= v[i] * w[j] + w[i] * v[j];
	}
}

// The product of the reflectors, transposed, in place of them: row k of it belongs to row k of the tridiagonal matrix.
static void gather_reflectors(double *a, int32_t n, const double *betas, double *w) {
	for (int32_t k = n - 1; k >= 0; k--) {
		double *row_k = a + (size_t)k * (size_t)n;
		int32_t first = k + 1, count = n - first;
		double beta = k < n - 2 ? betas[k] : 0.0;
		// Q = H Q over rows and columns first..: its rows and columns k are still those of the unit matrix.
		if (beta != 0.0) {
			const double *v = row_k + first;
			memset(w, 0, sizeof *w * (size_t)count);
			for (int32_t i = 0; i < count; i++) {
				const double *row = a + (size_t)(first + i) * (size_t)n + first;
				for (int32_t j = 0; j < count; j++)
					w[j] += v[i] * row[j];
			}
			for (int32_t i = 0; i < count; i++) {
				double *row = a + (size_t)(first + i) * (size_t)n + first;
				for (int32_t j = 0; j < count; j++)
					row[j] -= beta * v[i] * w[j];
			}
		}
		for (int32_t j = 0; j < n; j++) {
			if (j >= k)
				row_k[j] = a[(size_t)j * (size_t)n + k] = j == k ? 1.0 : 0.0;
		}
	}
}

static void transpose(double *a, int32_t n) {
	for (int32_t i = 0; i < n; i++) {
		for (int32_t j = i + 1; j < n; j++) {
			double kept = a[(size_t)i * (size_t)n + j];
			a[(size_t)i * (size_t)n + j] = a[(size_t)j * (size_t)n + i];
			a[(size_t)j * (size_t)n + i] = kept;
		}
	}
}

static void rotate_rows(double *a, double *b, int32_t n, double c, double s) {
	for (int32_t i = 0; i < n; i++) {
		double f = b[i];
		b[i] = s * a[i] + c * f;
		a[i] = c * a[i] - s * f;
	}
}

// One QL step with an implicit shift on rows l..m of the tridiagonal matrix d, e (e[i] joins i and i + 1).
static void ql_step(double *d, double *e, int32_t l, int32_t m, double *vectors, int32_t n) {
	double g = (d[l + 1] - d[l]) / (2.0 * e[l]), r = hypot(g, 1.0), s = 1.0, c = 1.0, p = 0.0;
	g = d[m] - d[l] + e[l] / (g + copysign(r, g));
	int32_t i = m - 1;
	for (; i >= l; i--) {
		double f = s * e[i], b = c * e[i];
		r = hypot(f, g);
		e[i + 1] = r;
		if (r == 0.0) { // the matrix falls in two
			d[i + 1] -= p;
			e[m] = 0.0;
			return;
		}
		s = f / r;
		c = g / r;
		g = d[i + 1] - p;
		r = (d[i] - g) * s + 2.0 * c * b;
		p = s * r;
		d[i + 1] = g + p;
		g = c * r - b;
		rotate_rows(vectors + (size_t)i * (size_t)n, vectors + (size_t)(i + 1) * (size_t)n, n, c, s);
	}
	d[l] -= p;
	e[l] = g;
	e[m] = 0.0;
}

static bool diagonalize(double *d, double *e, double *vectors, int32_t n) {
	for (int32_t l = 0; l < n; l++) {
		for (int sweep = 0;; sweep++) {
			int32_t m = l;
			while (m < n - 1 && !(fabs(e[m]) <= 2.3e-16 * (fabs(d[m]) + fabs(d[m + 1]))))
				m++;
			if (m == l)
				break;
			if (sweep == SWEEPS_MAX)
				return false;
			ql_step(d, e, l, m, vectors, n);
		}
	}
	return true;
}

static void sort_ascending(double *values, double *vectors, int32_t n, double *scratch) {
	size_t bytes = sizeof *vectors * (size_t)n;
	for (int32_t i = 0; i < n; i++) {
		int32_t least = i;
		for (int32_t j = i + 1; j < n; j++)
			least = values[j] < values[least] ? j : least;
		if (least == i)
			continue;
		double kept = values[i], *a = vectors + (size_t)i * (size_t)n, *b = vectors + (size_t)least * (size_t)n;
		values[i] = values[least];
		values[least] = kept;
		memcpy(scratch, a, bytes);
		memcpy(a, b, bytes);
		memcpy(b, scratch, bytes);
	}
}

bool fem_symmetric_eigen(double *matrix, int32_t n, double *values, double *scratch) {
	double *off = scratch, *betas = scratch + n, *work = scratch + 2 * (size_t)n;
	memset(scratch, 0, 3 * sizeof *scratch * (size_t)n);
	for (int32_t k = 0; k < n - 2; k++) {
		double *v = matrix + (size_t)k * (size_t)n + k + 1;
		betas[k] = reflector(v, n - k - 1, &off[k]);
		if (betas[k] != 0.0)
			reflect_both(matrix, n, k + 1, v, betas[k], work);
	}
	if (n >= 2)
		off[n - 2] = matrix[(size_t)(n - 2) * (size_t)n + n - 1];
	for (int32_t k = 0; k < n; k++)
		values[k] = matrix[(size_t)k * (size_t)n + k];
	gather_reflectors(matrix, n, betas, work);
	transpose(matrix, n);
	if (!diagonalize(values, off, matrix, n))
		return false;
	sort_ascending(values, matrix, n, work);
	return true;
}
