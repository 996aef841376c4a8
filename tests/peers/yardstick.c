// A plain corotational FEM step on one thread, written only to be measured against: assembled 3x3 blocks, block-Jacobi
// conjugate gradients, warm start. Fast enough to be worth beating, with none of what an engine needs: no threads,
// fracture, contact, sleeping, determinism or care for inverted elements.
//
//   yardstick MESH [STEPS]   bar of E 1e6 Pa, nu 0.3, rho 1000 kg/m^3 under gravity, steps of 1/60 s, 300 or as told
//
// A mesh is "nodes tets fixed", positions, 4 node numbers a tet; the first `fixed` nodes are clamped. Prints per mesh:
// name, median and 10th percentile of ms a step, mean iterations, largest downward displacement of the nodes at x = max
// (m).
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS_MAX 300
#define WARM_UP 10
#define ROW_MAX 200 // tet corners around a node, all four nodes of each
#define ITERATIONS_MAX 1000
#define TOLERANCE_SQUARE 1e-6 // 1e-3 in the preconditioned norm

static const float lambda = 577e3f, mu = 385e3f; // Pa
static const float density = 1000.0f, gravity = 9.81f, dt = 1.0f / 60.0f;

// Vectors have 4 floats a node, the last one 0.
typedef struct Mesh {
	int node_count, tet_count, fixed_count;
	float *rest; // m
	int *tets;
} Mesh;

typedef struct Rows {
	int *start, *column;
	int *diagonal;  // place of each node's own block
	int *tet_block; // [tet][4][4]: place of each pair's block
	long count;
	float *blocks; // 9 floats each, column by column
} Rows;

typedef struct Tet {
	float gradient[4][3]; // 1/m
	float volume;         // m^3
} Tet;

typedef struct State {
	float *x, *velocity, *dv;
	float *force, *rhs, *product, *r, *z, *p;
	float *mass;     // kg
	float *inverse;  // 12 floats a node: inverse diagonal block, 3 columns of 4
	float *rotation; // quaternion a tet
} State;

static double now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare_ints(const void *a, const void *b) {
	return *(const int *)a - *(const int *)b;
}

static int compare_doubles(const void *left, const void *right) {
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

// ---- set-up

static int read_mesh(const char *path, Mesh *mesh) {
	FILE *file = fopen(path, "r");
	if (!file || fscanf(file, "%d %d %d", &mesh->node_count, &mesh->tet_count, &mesh->fixed_count) != 3)
		return 0;
	mesh->rest = calloc((size_t)mesh->node_count, 16);
	mesh->tets = malloc((size_t)mesh->tet_count * 16);
	for (int i = 0; i < mesh->node_count; i++) {
		float *x = mesh->rest + 4 * i;
		if (fscanf(file, "%f %f %f", x, x + 1, x + 2) != 3)
			return 0;
	}
	for (int i = 0; i < 4 * mesh->tet_count; i++) {
		if (fscanf(file, "%d", mesh->tets + i) != 1)
			return 0;
	}
	fclose(file);
	return 1;
}

static Rows make_rows(const Mesh *mesh) {
	int node_count = mesh->node_count, *length = calloc((size_t)node_count, sizeof(int));
	int *lists = malloc((size_t)node_count * ROW_MAX * sizeof(int));
	Rows rows = {
		.start = calloc((size_t)node_count + 1, sizeof(int)), .diagonal = malloc((size_t)node_count * sizeof(int))};
	for (int t = 0; t < mesh->tet_count; t++) {
		for (int k = 0; k < 16; k++) {
			int i = mesh->tets[4 * t + k / 4];
			lists[(long)ROW_MAX * i + length[i]++] = mesh->tets[4 * t + k % 4];
		}
	}
	for (int i = 0; i < node_count; i++) {
		int *list = lists + (long)ROW_MAX * i, kept = 0;
		qsort(list, (size_t)length[i], sizeof(int), compare_ints);
		for (int k = 0; k < length[i]; k++) {
			if (kept == 0 || list[kept - 1] != list[k])
				list[kept++] = list[k];
		}
		rows.start[i + 1] = rows.start[i] + kept;
	}
	rows.count = rows.start[node_count];
	rows.column = malloc((size_t)rows.count * sizeof(int));
	rows.blocks = malloc((size_t)rows.count * 36 + 64); // 16-byte loads read past the last block
	for (int i = 0; i < node_count; i++) {
		for (int k = rows.start[i]; k < rows.start[i + 1]; k++) {
			rows.column[k] = lists[(long)ROW_MAX * i + k - rows.start[i]];
			if (rows.column[k] == i)
				rows.diagonal[i] = k;
		}
	}
	rows.tet_block = malloc((size_t)mesh->tet_count * 64);
	for (int t = 0; t < mesh->tet_count; t++) {
		for (int k = 0; k < 16; k++) {
			int place = rows.start[mesh->tets[4 * t + k / 4]];
			while (rows.column[place] != mesh->tets[4 * t + k % 4])
				place++;
			rows.tet_block[16L * t + k] = place;
		}
	}
	free(lists);
	free(length);
	return rows;
}

static Tet make_tet(const float *rest, const int *nodes) {
	float m[9], cofactor[9];
	Tet tet;
	for (int k = 0; k < 3; k++) {
		for (int d = 0; d < 3; d++)
			m[3 * d + k] = rest[4 * nodes[1 + k] + d] - rest[4 * nodes[0] + d];
	}
	for (int i = 0; i < 9; i++) { // transposed: row of the inverse = gradient
		int r1 = (i % 3 + 1) % 3, r2 = (i % 3 + 2) % 3, c1 = (i / 3 + 1) % 3, c2 = (i / 3 + 2) % 3;
		cofactor[i] = m[3 * r1 + c1] * m[3 * r2 + c2] - m[3 * r1 + c2] * m[3 * r2 + c1];
	}
	float det = m[0] * cofactor[0] + m[1] * cofactor[3] + m[2] * cofactor[6];
	for (int d = 0; d < 3; d++) {
		for (int k = 0; k < 3; k++)
			tet.gradient[k + 1][d] = cofactor[3 * k + d] / det;
		tet.gradient[0][d] = -tet.gradient[1][d] - tet.gradient[2][d] - tet.gradient[3][d];
	}
	tet.volume = fabsf(det) / 6;
	return tet;
}

static State make_state(const Mesh *mesh, const Tet *tets) {
	size_t n = (size_t)mesh->node_count;
	State s = {.x = malloc(n * 16),
		.velocity = calloc(n, 16),
		.dv = calloc(n, 16),
		.force = calloc(n, 16),
		.rhs = calloc(n, 16),
		.product = calloc(n, 16),
		.r = calloc(n, 16),
		.z = calloc(n, 16),
		.p = calloc(n, 16),
		.mass = calloc(n, 4),
		.inverse = calloc(n, 48),
		.rotation = calloc((size_t)mesh->tet_count, 16)};
	memcpy(s.x, mesh->rest, n * 16);
	for (int t = 0; t < mesh->tet_count; t++) {
		s.rotation[4 * t + 3] = 1.0f;
		for (int k = 0; k < 4; k++)
			s.mass[mesh->tets[4 * t + k]] += 0.25f * density * tets[t].volume;
	}
	return s;
}

// ---- elements

static inline void rotation_matrix(const float *q, float r[9]) {
	float x = q[0], y = q[1], z = q[2], w = q[3];
	r[0] = 1 - 2 * (y * y + z * z), r[1] = 2 * (x * y - z * w), r[2] = 2 * (x * z + y * w);
	r[3] = 2 * (x * y + z * w), r[4] = 1 - 2 * (x * x + z * z), r[5] = 2 * (y * z - x * w);
	r[6] = 2 * (x * z - y * w), r[7] = 2 * (y * z + x * w), r[8] = 1 - 2 * (x * x + y * y);
}

// out = a^T b
static inline void transpose_multiply(const float a[9], const float b[9], float out[9]) {
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
	}
}

// One Newton step of the polar decomposition from the last step's rotation: solves (tr C I - sym C) w = -axial(C) for
// C = R^T F and turns by the Cayley vector w / 2.
static inline void rotate_towards(const float f[9], float *q) {
	float r[9], c[9];
	rotation_matrix(q, r);
	transpose_multiply(r, f, c);
	float g0 = c[5] - c[7], g1 = c[6] - c[2], g2 = c[1] - c[3];
	float h00 = c[4] + c[8], h11 = c[0] + c[8], h22 = c[0] + c[4];
	float h01 = -0.5f * (c[1] + c[3]), h02 = -0.5f * (c[2] + c[6]), h12 = -0.5f * (c[5] + c[7]);
	float a00 = h11 * h22 - h12 * h12, a01 = h02 * h12 - h01 * h22, a02 = h01 * h12 - h02 * h11;
	float a11 = h00 * h22 - h02 * h02, a12 = h01 * h02 - h00 * h12, a22 = h00 * h11 - h01 * h01;
	float scale = -0.5f / (h00 * a00 + h01 * a01 + h02 * a02 + 1e-20f);
	float o0 = scale * (a00 * g0 + a01 * g1 + a02 * g2);
	float o1 = scale * (a01 * g0 + a11 * g1 + a12 * g2);
	float o2 = scale * (a02 * g0 + a12 * g1 + a22 * g2);
	float w = 1 / sqrtf(1 + o0 * o0 + o1 * o1 + o2 * o2), x = o0 * w, y = o1 * w, z = o2 * w;
	float q0 = q[0], q1 = q[1], q2 = q[2], q3 = q[3];
	q[0] = q3 * x + q0 * w + q1 * z - q2 * y;
	q[1] = q3 * y - q0 * z + q1 * w + q2 * x;
	q[2] = q3 * z + q0 * y - q1 * x + q2 * w;
	q[3] = q3 * w - q0 * x - q1 * y - q2 * z;
}

// Forces of a tet from P = 2 mu e + lambda tr(e) I, e = sym(R^T F) - I.
static inline void add_forces(const Tet *tet, const int *nodes, const float r[9], const float f[9], float *force) {
	float e[9];
	transpose_multiply(r, f, e);
	float pressure = lambda * (e[0] + e[4] + e[8] - 3);
	float xy = mu * (e[1] + e[3]), xz = mu * (e[2] + e[6]), yz = mu * (e[5] + e[7]);
	float s[9] = {2 * mu * (e[0] - 1) + pressure, xy, xz, xy, 2 * mu * (e[4] - 1) + pressure, yz, xz, yz,
		2 * mu * (e[8] - 1) + pressure};
	for (int k = 0; k < 4; k++) {
		const float *g = tet->gradient[k];
		float u[3];
		for (int d = 0; d < 3; d++)
			u[d] = tet->volume * (s[3 * d] * g[0] + s[3 * d + 1] * g[1] + s[3 * d + 2] * g[2]);
		for (int d = 0; d < 3; d++)
			force[4 * nodes[k] + d] -= r[3 * d] * u[0] + r[3 * d + 1] * u[1] + r[3 * d + 2] * u[2];
	}
}

// K_ij = V (lambda c_i c_j^T + mu c_j c_i^T + mu (c_i.c_j) I), c = R g, into both places.
static inline void add_stiffness(const Tet *tet, const float r[9], const int *places, float *blocks) {
	float c[4][3], v_lambda = tet->volume * lambda, v_mu = tet->volume * mu;
	for (int k = 0; k < 4; k++) {
		const float *g = tet->gradient[k];
		for (int d = 0; d < 3; d++)
			c[k][d] = r[3 * d] * g[0] + r[3 * d + 1] * g[1] + r[3 * d + 2] * g[2];
	}
	for (int i = 0; i < 4; i++) {
		for (int j = i; j < 4; j++) {
			float m[9], dot = v_mu * (c[i][0] * c[j][0] + c[i][1] * c[j][1] + c[i][2] * c[j][2]);
			for (int d = 0; d < 3; d++) {
				for (int k = 0; k < 3; k++)
					m[3 * d + k] = v_lambda * c[i][d] * c[j][k] + v_mu * c[j][d] * c[i][k];
			}
			m[0] += dot, m[4] += dot, m[8] += dot;
			float *block = blocks + 9L * places[4 * i + j];
			for (int k = 0; k < 9; k++)
				block[k] += m[3 * (k % 3) + k / 3];
			if (i != j) {
				block = blocks + 9L * places[4 * j + i];
				for (int k = 0; k < 9; k++)
					block[k] += m[k];
			}
		}
	}
}

static void assemble(const Mesh *mesh, const Tet *tets, Rows *rows, State *s) {
	memset(rows->blocks, 0, (size_t)rows->count * 36);
	memset(s->force, 0, (size_t)mesh->node_count * 16);
	for (int t = 0; t < mesh->tet_count; t++) {
		const int *nodes = mesh->tets + 4 * t;
		float f[9], r[9];
		for (int d = 0; d < 3; d++) {
			for (int e = 0; e < 3; e++) {
				float sum = 0;
				for (int k = 0; k < 4; k++)
					sum += s->x[4 * nodes[k] + d] * tets[t].gradient[k][e];
				f[3 * d + e] = sum;
			}
		}
		rotate_towards(f, s->rotation + 4L * t);
		rotation_matrix(s->rotation + 4L * t, r);
		add_forces(&tets[t], nodes, r, f, s->force);
		add_stiffness(&tets[t], r, rows->tet_block + 16L * t, rows->blocks);
	}
}

// ---- solving

static void multiply(int n, const Rows *rows, const float *x, float *y) {
	for (int i = 0; i < n; i++) {
		__m128 a = _mm_setzero_ps(), b = a, c = a;
		const float *block = rows->blocks + 9L * rows->start[i];
		for (int k = rows->start[i]; k < rows->start[i + 1]; k++, block += 9) {
			const float *v = x + 4L * rows->column[k];
			a = _mm_fmadd_ps(_mm_loadu_ps(block), _mm_broadcast_ss(v), a);
			b = _mm_fmadd_ps(_mm_loadu_ps(block + 3), _mm_broadcast_ss(v + 1), b);
			c = _mm_fmadd_ps(_mm_loadu_ps(block + 6), _mm_broadcast_ss(v + 2), c);
		}
		_mm_storeu_ps(y + 4L * i, _mm_add_ps(_mm_add_ps(a, b), c));
	}
}

static void precondition(int n, const float *inverse, const float *r, float *z) {
	for (int i = 0; i < n; i++) {
		__m128 v = _mm_loadu_ps(r + 4L * i);
		const float *d = inverse + 12L * i;
		__m128 sum = _mm_mul_ps(_mm_loadu_ps(d), _mm_permute_ps(v, 0));
		sum = _mm_fmadd_ps(_mm_loadu_ps(d + 4), _mm_permute_ps(v, 0x55), sum);
		sum = _mm_fmadd_ps(_mm_loadu_ps(d + 8), _mm_permute_ps(v, 0xaa), sum);
		_mm_storeu_ps(z + 4L * i, sum);
	}
}

static float dot(int n, const float *a, const float *b) {
	float sum = 0;
	for (int i = 0; i < 4 * n; i++)
		sum += a[i] * b[i];
	return sum;
}

// (M + dt^2 K) dv = dt (f + m g) - dt^2 K v
static void make_system(const Mesh *mesh, Rows *rows, State *s) {
	int n = mesh->node_count;
	multiply(n, rows, s->velocity, s->product);
	for (int i = 0; i < n; i++) {
		for (int d = 0; d < 3; d++) {
			float weight = d == 1 ? -gravity * s->mass[i] : 0;
			s->rhs[4 * i + d] =
				i < mesh->fixed_count ? 0 : dt * (s->force[4 * i + d] + weight) - dt * dt * s->product[4 * i + d];
		}
	}
	for (long k = 0; k < 9 * rows->count; k++)
		rows->blocks[k] *= dt * dt;
	for (int i = 0; i < n; i++) {
		float *o = rows->blocks + 9L * rows->diagonal[i], *w = s->inverse + 12L * i;
		o[0] += s->mass[i], o[4] += s->mass[i], o[8] += s->mass[i];
		float scale = 1 /
			(o[0] * (o[4] * o[8] - o[5] * o[7]) - o[1] * (o[3] * o[8] - o[5] * o[6]) +
				o[2] * (o[3] * o[7] - o[4] * o[6]));
		w[0] = scale * (o[4] * o[8] - o[5] * o[7]);
		w[1] = w[4] = scale * (o[5] * o[6] - o[3] * o[8]);
		w[2] = w[8] = scale * (o[3] * o[7] - o[4] * o[6]);
		w[5] = scale * (o[0] * o[8] - o[2] * o[6]);
		w[6] = w[9] = scale * (o[1] * o[6] - o[0] * o[7]);
		w[10] = scale * (o[0] * o[4] - o[1] * o[3]);
	}
}

// Conjugate gradients from the last step's dv; rows of clamped nodes are struck out. Returns the iterations.
static int solve(const Mesh *mesh, const Rows *rows, State *s) {
	int n = mesh->node_count, fixed = mesh->fixed_count, iterations = 0;
	multiply(n, rows, s->dv, s->product);
	precondition(n, s->inverse, s->rhs, s->z);
	double target = TOLERANCE_SQUARE * (double)dot(n, s->rhs, s->z);
	for (int i = 0; i < 4 * n; i++)
		s->r[i] = i < 4 * fixed ? 0 : s->rhs[i] - s->product[i];
	precondition(n, s->inverse, s->r, s->z);
	double rz = dot(n, s->r, s->z);
	memcpy(s->p, s->z, (size_t)n * 16);
	float *x = s->dv, *r = s->r, *z = s->z, *p = s->p, *q = s->product;
	while (rz > target && iterations < ITERATIONS_MAX) {
		multiply(n, rows, p, q);
		memset(q, 0, (size_t)fixed * 16);
		float a = rz / dot(n, p, q);
		for (int i = 0; i < 4 * n; i++) {
			x[i] += a * p[i];
			r[i] -= a * q[i];
		}
		precondition(n, s->inverse, r, z);
		double next = dot(n, r, z);
		float b = next / rz;
		rz = next;
		for (int i = 0; i < 4 * n; i++)
			p[i] = z[i] + b * p[i];
		iterations++;
	}
	return iterations;
}

// ---- run

static double tip_displacement(const Mesh *mesh, const State *s) {
	float far = 0;
	double sum = 0;
	int count = 0;
	for (int i = 0; i < mesh->node_count; i++)
		far = fmaxf(far, mesh->rest[4 * i]);
	for (int i = 0; i < mesh->node_count; i++) {
		if (mesh->rest[4 * i] > far - 1e-4f) {
			sum += s->x[4 * i + 1] - mesh->rest[4 * i + 1];
			count++;
		}
	}
	return sum / count;
}

static void run(const char *path, const Mesh *mesh, int steps) {
	Rows rows = make_rows(mesh);
	Tet *tets = malloc((size_t)mesh->tet_count * sizeof *tets);
	for (int t = 0; t < mesh->tet_count; t++)
		tets[t] = make_tet(mesh->rest, mesh->tets + 4 * t);
	State s = make_state(mesh, tets);
	double times[STEPS_MAX], swing = 0;
	long iterations = 0;
	for (int step = 0; step < steps; step++) {
		double start = now_ms();
		assemble(mesh, tets, &rows, &s);
		make_system(mesh, &rows, &s);
		int count = solve(mesh, &rows, &s);
		for (int i = 4 * mesh->fixed_count; i < 4 * mesh->node_count; i++) {
			s.velocity[i] += s.dv[i];
			s.x[i] += dt * s.velocity[i];
		}
		times[step] = now_ms() - start;
		iterations += step >= WARM_UP ? count : 0;
		swing = fmax(swing, -tip_displacement(mesh, &s));
	}
	int timed = steps - WARM_UP;
	qsort(times + WARM_UP, (size_t)timed, sizeof *times, compare_doubles);
	printf("%s ms_median %.4f ms_p10 %.4f iterations %.1f tip_first_swing %.4f\n", path, times[WARM_UP + timed / 2],
		times[WARM_UP + timed / 10], (double)iterations / timed, swing);
	// The memory goes with the process.
}

int main(int count, char **arguments) {
	int steps = count > 2 ? atoi(arguments[2]) : STEPS_MAX;
	Mesh mesh;
	if (count < 2 || steps < WARM_UP + 10 || steps > STEPS_MAX) {
		fprintf(stderr, "usage: yardstick MESH [STEPS]\n");
		return 2;
	}
	if (!read_mesh(arguments[1], &mesh)) {
		fprintf(stderr, "yardstick: %s is not a mesh.\n", arguments[1]);
		return 1;
	}
	run(arguments[1], &mesh, steps);
	return 0;
}
