#include "bench/strain.h"

#include <math.h>
#include <stdlib.h>

typedef double Matrix[3][3];

typedef struct WatchedBody {
	FemBodyId id;
	int32_t tet_count;
	Matrix *rest_inverse; // [tet]: of the rest edges' matrix, 1/m
} WatchedBody;

struct StrainWatch {
	WatchedBody *bodies;
	int32_t body_count;
	int32_t *tets;      // room for the largest body
	FemVec3 *positions; // room for the most nodes a body can come to, four a tet
};

static void edges(Matrix out, const FemVec3 *positions, const int32_t *tet) {
	FemVec3 a = positions[tet[0]];
	for (int k = 0; k < 3; k++) {
		FemVec3 b = positions[tet[k + 1]];
		out[0][k] = (double)b.x - (double)a.x;
		out[1][k] = (double)b.y - (double)a.y;
		out[2][k] = (double)b.z - (double)a.z;
	}
}

static void invert(Matrix out, Matrix m) {
	double c[3][3], determinant = 0.0;
	for (int i = 0; i < 3; i++) {
		int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
		for (int j = 0; j < 3; j++) {
			int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
			c[i][j] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
		}
	}
	for (int j = 0; j < 3; j++)
		determinant += m[0][j] * c[0][j];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out[i][j] = c[j][i] / determinant;
	}
}

// Of a symmetric matrix, by the trigonometric solution of its characteristic equation.
static double largest_eigenvalue(Matrix e) {
	double mean = (e[0][0] + e[1][1] + e[2][2]) / 3.0;
	double off = e[0][1] * e[0][1] + e[1][2] * e[1][2] + e[0][2] * e[0][2], spread = 2.0 * off;
	for (int i = 0; i < 3; i++)
		spread += (e[i][i] - mean) * (e[i][i] - mean);
	double p = sqrt(spread / 6.0);
	if (p == 0.0)
		return mean;
	Matrix b;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			b[i][j] = (e[i][j] - (i == j ? mean : 0.0)) / p;
	}
	double half = 0.5 *
		(b[0][0] * (b[1][1] * b[2][2] - b[1][2] * b[2][1]) - b[0][1] * (b[1][0] * b[2][2] - b[1][2] * b[2][0]) +
			b[0][2] * (b[1][0] * b[2][1] - b[1][1] * b[2][0]));
	return mean + 2.0 * p * cos(acos(fmax(-1.0, fmin(1.0, half))) / 3.0);
}

static double principal_strain(const FemVec3 *positions, const int32_t *tet, Matrix rest_inverse) {
	Matrix now, f = {{0.0}}, strain = {{0.0}};
	edges(now, positions, tet);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			for (int k = 0; k < 3; k++)
				f[i][j] += now[i][k] * rest_inverse[k][j];
		}
	}
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			for (int k = 0; k < 3; k++)
				strain[i][j] += 0.5 * f[k][i] * f[k][j];
			strain[i][j] -= i == j ? 0.5 : 0.0;
		}
	}
	return largest_eigenvalue(strain);
}

static bool read_body(StrainWatch *watch, const WatchedBody *body) {
	FemPosition origin;
	int32_t nodes = 4 * body->tet_count;
	return fem_body_get_tets(body->id, watch->tets, body->tet_count) == body->tet_count &&
		fem_body_get_positions(body->id, &origin, watch->positions, nodes) > 0;
}

static bool watch_body(StrainWatch *watch, WatchedBody *body) {
	body->rest_inverse = malloc(sizeof *body->rest_inverse * (size_t)body->tet_count);
	if (!body->rest_inverse || !read_body(watch, body))
		return false;
	for (int32_t t = 0; t < body->tet_count; t++) {
		Matrix rest;
		edges(rest, watch->positions, watch->tets + 4 * (size_t)t);
		invert(body->rest_inverse[t], rest);
	}
	return true;
}

StrainWatch *strain_watch_open(const FemBodyId *bodies, int32_t body_count) {
	StrainWatch *watch = calloc(1, sizeof *watch);
	int32_t most = 1;
	bool ok = watch && (watch->bodies = calloc((size_t)body_count, sizeof *watch->bodies));
	for (int32_t b = 0; ok && b < body_count; b++) {
		watch->bodies[b] = (WatchedBody){.id = bodies[b], .tet_count = fem_body_get_tet_count(bodies[b])};
		most = watch->bodies[b].tet_count > most ? watch->bodies[b].tet_count : most;
		watch->body_count++;
	}
	ok = ok && (watch->tets = malloc(sizeof *watch->tets * 4 * (size_t)most));
	ok = ok && (watch->positions = malloc(sizeof *watch->positions * 4 * (size_t)most));
	for (int32_t b = 0; ok && b < body_count; b++)
		ok = watch_body(watch, &watch->bodies[b]);
	if (ok)
		return watch;
	strain_watch_close(watch);
	return NULL;
}

void strain_watch_close(StrainWatch *watch) {
	if (!watch)
		return;
	for (int32_t b = 0; b < watch->body_count; b++)
		free(watch->bodies[b].rest_inverse);
	free(watch->bodies);
	free(watch->tets);
	free(watch->positions);
	free(watch);
}

double strain_watch_share(StrainWatch *watch, double limit) {
	int64_t above = 0, all = 0;
	for (int32_t b = 0; b < watch->body_count; b++) {
		WatchedBody *body = &watch->bodies[b];
		if (!read_body(watch, body))
			continue;
		for (int32_t t = 0; t < body->tet_count; t++) {
			const int32_t *tet = watch->tets + 4 * (size_t)t;
			above += tet[0] >= 0 && principal_strain(watch->positions, tet, body->rest_inverse[t]) > limit;
			all++;
		}
	}
	return all ? (double)above / (double)all : 0.0;
}
