#include "fem_test.h"

#include "base/memory.h"
#include "dynamics/dense_kernels.h"
#include "dynamics/sparse_cholesky.h"

#include <stdlib.h>

enum { MAX_NODES = 200, MAX_ENTRIES = 8000, MAX_BLOCK = 6, MAX_STRIDE = 8, MAX_SIZE = MAX_NODES * MAX_BLOCK };

// A block matrix on a node graph with an elimination order and a right-hand side.
typedef struct Problem {
	int32_t node_count, block;
	bool linked[MAX_NODES][MAX_NODES];
	int32_t row_start[MAX_NODES + 1], column[MAX_ENTRIES], order[MAX_NODES];
	float diagonal[MAX_NODES * MAX_BLOCK * MAX_BLOCK], blocks[MAX_ENTRIES * MAX_BLOCK * MAX_BLOCK];
	uint8_t fixed[MAX_NODES];
	float r[MAX_NODES * MAX_STRIDE], z[MAX_NODES * MAX_STRIDE];
	uint32_t seed;
} Problem;

static Problem problem;
static double dense[MAX_SIZE][MAX_SIZE], expected[MAX_SIZE];

static float random_float(Problem *p) {
	p->seed = p->seed * 1664525u + 1013904223u;
	return (float)(p->seed >> 8) / 8388608.0f - 1.0f;
}

static Problem *start_problem(int32_t node_count, int32_t block) {
	Problem *p = &problem;
	memset(p, 0, sizeof *p);
	p->node_count = node_count;
	p->block = block;
	p->seed = 12345;
	for (int32_t i = 0; i < node_count; i++)
		p->order[i] = i;
	return p;
}

static void link_nodes(Problem *p, int32_t i, int32_t j) {
	if (i != j)
		p->linked[i][j] = p->linked[j][i] = true;
}

static void shuffle_order(Problem *p) {
	for (int32_t i = p->node_count - 1; i > 0; i--) {
		p->seed = p->seed * 1664525u + 1013904223u;
		int32_t j = (int32_t)((p->seed >> 8) % (uint32_t)(i + 1)), kept = p->order[i];
		p->order[i] = p->order[j];
		p->order[j] = kept;
	}
}

static void build_graph(Problem *p) {
	int32_t count = 0;
	for (int32_t i = 0; i < p->node_count; i++) {
		p->row_start[i] = count;
		for (int32_t j = 0; j < p->node_count; j++)
			if (p->linked[i][j])
				p->column[count++] = j;
	}
	p->row_start[p->node_count] = count;
}

// Sum of v v^T springs between neighbours, with a full, non-symmetric v w^T part that keeps the whole symmetric, plus a
// multiple of the identity.
static void build_values(Problem *p) {
	const int32_t b = p->block;
	for (int32_t i = 0; i < p->node_count; i++) {
		for (int32_t e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
			int32_t j = p->column[e], low = i < j ? i : j, high = i < j ? j : i;
			p->seed = (uint32_t)(low * 7919 + high * 104729);
			float v[2][MAX_BLOCK];
			for (int32_t c = 0; c < 2 * b; c++)
				v[c / b][c % b] = random_float(p);
			const float *mine = v[i < j ? 0 : 1], *other = v[i < j ? 1 : 0];
			for (int32_t c = 0; c < b; c++)
				for (int32_t r = 0; r < b; r++) {
					p->blocks[(e * b + c) * b + r] = -mine[r] * other[c];
					p->diagonal[(i * b + c) * b + r] += mine[r] * mine[c];
				}
		}
		for (int32_t c = 0; c < b; c++)
			p->diagonal[(i * b + c) * b + c] += 0.3f;
	}
	p->seed = 99;
	for (int32_t i = 0; i < p->node_count * MAX_STRIDE; i++)
		p->r[i] = random_float(p);
}

// Geometric nested dissection of a box of nodes: both halves, then the layer between them.
static void dissect(Problem *p, const int32_t *size, const int32_t *low, const int32_t *high, int32_t *count) {
	int32_t axis = 0;
	for (int32_t a = 0; a < 3; a++) {
		if (high[a] <= low[a])
			return;
		axis = high[a] - low[a] > high[axis] - low[axis] ? a : axis;
	}
	int32_t middle = (low[axis] + high[axis]) / 2, from[3], to[3];
	memcpy(from, low, sizeof from);
	memcpy(to, high, sizeof to);
	if (high[axis] - low[axis] > 2) {
		to[axis] = middle;
		dissect(p, size, low, to, count);
		from[axis] = middle + 1;
		dissect(p, size, from, high, count);
		from[axis] = middle;
		to[axis] = middle + 1;
	}
	for (int32_t z = from[2]; z < to[2]; z++)
		for (int32_t y = from[1]; y < to[1]; y++)
			for (int32_t x = from[0]; x < to[0]; x++)
				p->order[(*count)++] = (z * size[1] + y) * size[0] + x;
}

// Box of nodes, each linked to all others in its cells.
static Problem *grid_problem(int32_t nx, int32_t ny, int32_t nz, int32_t block) {
	Problem *p = start_problem(nx * ny * nz, block);
	for (int32_t i = 0; i < p->node_count; i++)
		for (int32_t j = 0; j < i; j++) {
			int32_t dx = i % nx - j % nx, dy = i / nx % ny - j / nx % ny, dz = i / (nx * ny) - j / (nx * ny);
			if (abs(dx) <= 1 && abs(dy) <= 1 && abs(dz) <= 1)
				link_nodes(p, i, j);
		}
	const int32_t size[3] = {nx, ny, nz}, low[3] = {0, 0, 0};
	int32_t count = 0;
	dissect(p, size, low, size, &count);
	build_graph(p);
	build_values(p);
	return p;
}

static Problem *random_problem(int32_t node_count, int32_t links, int32_t block, uint32_t seed) {
	Problem *p = start_problem(node_count, block);
	p->seed = seed;
	for (int32_t k = 0; k < links; k++) {
		p->seed = p->seed * 1664525u + 1013904223u;
		int32_t i = (int32_t)((p->seed >> 8) % (uint32_t)node_count);
		p->seed = p->seed * 1664525u + 1013904223u;
		link_nodes(p, i, (int32_t)((p->seed >> 8) % (uint32_t)node_count));
	}
	shuffle_order(p);
	build_graph(p);
	build_values(p);
	return p;
}

static FemCholesky *create(const Problem *p) {
	double flops;
	return fem_cholesky_create(p->node_count, p->row_start, p->column, p->order, p->block, 1e12, &flops);
}

static void fill_dense(const Problem *p, double shift) {
	const int32_t b = p->block;
	memset(dense, 0, sizeof dense);
	for (int32_t i = 0; i < p->node_count; i++)
		for (int32_t c = 0; c < b; c++) {
			for (int32_t r = 0; r < b; r++)
				dense[i * b + r][i * b + c] = p->fixed[i] ? 0.0 : p->diagonal[(i * b + c) * b + r];
			dense[i * b + c][i * b + c] = p->fixed[i] ? 1.0 : dense[i * b + c][i * b + c] * (1.0 + shift);
			for (int32_t e = p->row_start[i]; e < p->row_start[i + 1] && !p->fixed[i]; e++)
				for (int32_t r = 0; r < b && !p->fixed[p->column[e]]; r++)
					dense[i * b + r][p->column[e] * b + c] = p->blocks[(e * b + c) * b + r];
		}
}

// Dense Cholesky in double precision, in place; the right-hand side is 0 at fixed nodes.
static void solve_dense(const Problem *p, int32_t stride) {
	int32_t n = p->node_count * p->block;
	for (int32_t i = 0; i < n; i++)
		expected[i] = p->fixed[i / p->block] ? 0.0 : p->r[i / p->block * stride + i % p->block];
	for (int32_t j = 0; j < n; j++) {
		for (int32_t k = 0; k < j; k++)
			for (int32_t i = j; i < n && dense[j][k] != 0.0; i++)
				dense[i][j] -= dense[i][k] * dense[j][k];
		double root = sqrt(dense[j][j]);
		for (int32_t i = j; i < n; i++)
			dense[i][j] /= root;
	}
	for (int32_t i = 0; i < n; i++) {
		for (int32_t k = 0; k < i; k++)
			expected[i] -= dense[i][k] * expected[k];
		expected[i] /= dense[i][i];
	}
	for (int32_t i = n - 1; i >= 0; i--) {
		for (int32_t k = i + 1; k < n; k++)
			expected[i] -= dense[k][i] * expected[k];
		expected[i] /= dense[i][i];
	}
}

static bool solve(Problem *p, const FemCholesky *factor, int32_t stride) {
	size_t floats = fem_cholesky_workspace(factor);
	float *workspace = FEM_ALLOC_ARRAY(float, floats + 1);
	if (!FEM_CHECK(workspace != NULL))
		return false;
	// Scratch is dirty and not aligned in real use.
	memset(workspace, 0xff, sizeof(float) * (floats + 1));
	memset(p->z, 0xff, sizeof p->z);
	fem_cholesky_solve(factor, p->r, p->z, stride, workspace + 1);
	FEM_FREE_ARRAY(workspace, floats + 1);
	return true;
}

// Largest difference between z and the dense solution, relative to the largest entry of the latter; NaN counts as huge.
static double relative_error(const Problem *p, int32_t stride) {
	double error = 0.0, largest = 1e-30;
	for (int32_t i = 0; i < p->node_count * p->block; i++) {
		double difference = fabs(p->z[i / p->block * stride + i % p->block] - expected[i]);
		error = difference <= error ? error : difference < 1e30 ? difference : 1e30;
		largest = fmax(largest, fabs(expected[i]));
	}
	return error / largest;
}

static void check_against_dense(Problem *p, int32_t stride, float shift) {
	int64_t bytes_before = fem_memory_bytes();
	FemCholesky *factor = create(p);
	FEM_REQUIRE(factor != NULL);
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, p->fixed, shift));
	solve(p, factor, stride);
	fem_cholesky_destroy(factor);
	FEM_CHECK_INT(fem_memory_bytes() - bytes_before, 0);
	fill_dense(p, shift);
	solve_dense(p, stride);
	FEM_CHECK_NEAR(relative_error(p, stride), 0.0, 3e-5);
	for (int32_t i = 0; i < p->node_count; i++)
		for (int32_t c = p->block; c < stride; c++)
			FEM_CHECK(p->z[i * stride + c] == 0.0f);
}

FEM_TEST(cholesky, grids_match_dense) {
	check_against_dense(grid_problem(13, 7, 2, 3), 4, 0.0f);
	check_against_dense(grid_problem(4, 4, 8, 3), 3, 0.0f);
	check_against_dense(grid_problem(40, 2, 2, 3), 4, 0.0f);
	check_against_dense(grid_problem(4, 4, 4, 6), 6, 0.0f);
	check_against_dense(grid_problem(12, 6, 1, 6), 8, 0.0f);
}

// All residues of widths and rows modulo the tile size come up, with and without zeros stored by merged supernodes.
FEM_TEST(cholesky, random_graphs_match_dense) {
	for (int32_t n = 1; n <= 60; n += 1)
		check_against_dense(random_problem(n, n, n % 2 ? 3 : 6, 77u * (uint32_t)n), n % 2 ? 4 : 8, 0.0f);
	for (int32_t n = 5; n <= 40; n += 5)
		check_against_dense(random_problem(n, n * n, n % 2 ? 6 : 3, (uint32_t)n), 8, 0.0f);
	check_against_dense(random_problem(150, 300, 3, 5), 4, 0.0f);
}

FEM_TEST(cholesky, small_and_disconnected_graphs) {
	check_against_dense(random_problem(1, 0, 3, 1), 4, 0.0f);
	check_against_dense(random_problem(1, 0, 6, 1), 6, 0.0f);
	check_against_dense(random_problem(40, 0, 3, 1), 4, 0.0f);
	Problem *p = start_problem(60, 3);
	for (int32_t i = 0; i < 50; i++)
		if (i % 10 < 9)
			link_nodes(p, i, i + 1);
	shuffle_order(p);
	build_graph(p);
	build_values(p);
	check_against_dense(p, 4, 0.0f);
}

FEM_TEST(cholesky, no_nodes) {
	double flops = -1.0;
	FemCholesky *factor = fem_cholesky_create(0, NULL, NULL, NULL, 3, 1e9, &flops);
	FEM_REQUIRE(factor != NULL);
	FEM_CHECK_NEAR(flops, 0.0, 0.0);
	FEM_CHECK(fem_cholesky_factor(factor, NULL, NULL, NULL, 0.0f));
	solve(start_problem(0, 3), factor, 4);
	fem_cholesky_destroy(factor);
	fem_cholesky_destroy(NULL);
}

FEM_TEST(cholesky, shift_multiplies_the_diagonal) {
	check_against_dense(grid_problem(7, 5, 2, 3), 4, 0.25f);
	check_against_dense(grid_problem(3, 3, 3, 6), 6, 1e-3f);
}

FEM_TEST(cholesky, fixed_nodes_are_left_out) {
	for (int32_t block = 3; block <= 6; block += 3) {
		Problem *p = grid_problem(9, 5, 2, block);
		for (int32_t i = 0; i < p->node_count; i += 7)
			p->fixed[i] = 1;
		// Nothing of a fixed node may be read.
		for (int32_t i = 0; i < p->node_count; i += 7) {
			p->diagonal[i * block * block] = NAN;
			p->r[i * 8 + 1] = NAN;
		}
		check_against_dense(p, 8, 0.0f);
		for (int32_t i = 0; i < p->node_count; i += 7)
			for (int32_t c = 0; c < block; c++)
				FEM_CHECK(p->z[i * 8 + c] == 0.0f);
	}
	Problem *p = grid_problem(3, 3, 1, 3);
	memset(p->fixed, 1, sizeof p->fixed);
	check_against_dense(p, 4, 0.0f);
}

FEM_TEST(cholesky, fixed_may_be_null_and_flags_do_not_stick) {
	Problem *p = grid_problem(6, 4, 2, 3);
	FemCholesky *factor = create(p);
	FEM_REQUIRE(factor != NULL);
	p->fixed[3] = p->fixed[17] = 1;
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, p->fixed, 0.0f));
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	solve(p, factor, 4);
	fem_cholesky_destroy(factor);
	memset(p->fixed, 0, sizeof p->fixed);
	fill_dense(p, 0.0);
	solve_dense(p, 4);
	FEM_CHECK_NEAR(relative_error(p, 4), 0.0, 3e-5);
}

FEM_TEST(cholesky, solves_in_place_and_ignores_unused_lanes) {
	Problem *p = grid_problem(6, 4, 2, 3);
	for (int32_t i = 0; i < p->node_count; i++)
		p->r[i * 4 + 3] = NAN;
	FemCholesky *factor = create(p);
	FEM_REQUIRE(factor != NULL);
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	solve(p, factor, 4);
	float *workspace = FEM_ALLOC_ARRAY(float, fem_cholesky_workspace(factor));
	fem_cholesky_solve(factor, p->r, p->r, 4, workspace);
	FEM_CHECK(memcmp(p->r, p->z, sizeof(float) * 4 * (size_t)p->node_count) == 0);
	FEM_FREE_ARRAY(workspace, fem_cholesky_workspace(factor));
	fem_cholesky_destroy(factor);
}

// Each bad value must be noticed wherever it is, and a failed factorization must leave no trace in the next.
static void check_bad_value(Problem *p, FemCholesky *factor, float *value, float bad) {
	float kept = *value;
	*value = bad;
	FEM_CHECK(!fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	*value = kept;
}

FEM_TEST(cholesky, bad_pivots_are_refused) {
	Problem *p = grid_problem(7, 5, 2, 3);
	static float before[MAX_NODES * MAX_STRIDE];
	FemCholesky *factor = create(p);
	FEM_REQUIRE(factor != NULL);
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	solve(p, factor, 4);
	memcpy(before, p->z, sizeof before);
	const float bad_diagonal[] = {NAN, INFINITY, -INFINITY, -1.0f, 0.0f};
	for (int32_t i = 0; i < p->node_count; i++)
		for (int32_t k = 0; k < 5; k++)
			check_bad_value(p, factor, &p->diagonal[i * 9 + 4 * (i % 3)], bad_diagonal[k]);
	for (int32_t i = 0; i < p->node_count; i++)
		check_bad_value(p, factor, &p->diagonal[i * 9 + 2], NAN);
	for (int32_t i = 0; i < p->node_count; i++)
		for (int32_t e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
			int32_t j = p->column[e], back = p->row_start[j];
			while (p->column[back] != i)
				back++;
			float kept = p->blocks[back * 9 + 3 * (e % 3) + e % 2];
			p->blocks[back * 9 + 3 * (e % 3) + e % 2] = NAN;
			check_bad_value(p, factor, &p->blocks[e * 9 + 3 * (e % 2) + e % 3], NAN);
			p->blocks[back * 9 + 3 * (e % 3) + e % 2] = kept;
		}
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	solve(p, factor, 4);
	FEM_CHECK(memcmp(before, p->z, sizeof(float) * 4 * (size_t)p->node_count) == 0);
	fem_cholesky_destroy(factor);
}

static void set_element(Problem *p, int32_t row, int32_t column, float value) {
	int32_t i = row / 3, j = column / 3, e = p->row_start[i];
	while (i != j && p->column[e] != j)
		e++;
	*(i == j ? &p->diagonal[i * 9 + column % 3 * 3 + row % 3] : &p->blocks[e * 9 + column % 3 * 3 + row % 3]) = value;
}

// L with 1 on the diagonal and 2^11 beside it has all pivots in order, yet the inverse of its last tile is too large
// for a float.
FEM_TEST(cholesky, overflow_of_an_inverse_is_refused) {
	Problem *p = grid_problem(5, 1, 1, 3);
	for (int32_t i = 0; i < 5; i++)
		for (int32_t j = 0; j < i; j++)
			link_nodes(p, i, j);
	build_graph(p);
	memset(p->diagonal, 0, sizeof p->diagonal);
	memset(p->blocks, 0, sizeof p->blocks);
	for (int32_t k = 0; k < 5; k++)
		p->order[k] = k;
	for (int32_t k = 0; k < 15; k++)
		set_element(p, k, k, k < 8 ? 1.0f : k == 8 ? 0x1p-126f : 0x1p22f + 1.0f);
	for (int32_t k = 8; k < 14; k++) {
		set_element(p, k + 1, k, k == 8 ? 0x1p-52f : 0x1p11f);
		set_element(p, k, k + 1, k == 8 ? 0x1p-52f : 0x1p11f);
	}
	FemCholesky *factor = create(p);
	FEM_REQUIRE(factor != NULL);
	FEM_CHECK(!fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	set_element(p, 8, 8, 0x1p-100f);
	set_element(p, 9, 8, 0x1p-39f);
	set_element(p, 8, 9, 0x1p-39f);
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	fem_cholesky_destroy(factor);
}

static void check_levels(Problem *p, int32_t stride) {
	static float scalar[MAX_NODES * MAX_STRIDE];
	FemCholesky *factor = create(p);
	FEM_REQUIRE(factor != NULL);
	for (FemSimdLevel level = FEM_SIMD_SCALAR; level <= fem_simd_level(); level++) {
		fem_cholesky_use_level(factor, level);
		FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 1e-6f));
		solve(p, factor, stride);
		if (level == FEM_SIMD_SCALAR)
			memcpy(scalar, p->z, sizeof scalar);
		FEM_CHECK(memcmp(scalar, p->z, sizeof(float) * (size_t)(stride * p->node_count)) == 0);
	}
	fem_cholesky_destroy(factor);
}

FEM_TEST(cholesky, simd_levels_give_the_same_bits) {
	check_levels(grid_problem(14, 7, 2, 3), 4);
	check_levels(grid_problem(5, 5, 8, 3), 4);
	check_levels(grid_problem(5, 5, 4, 6), 6);
	for (int32_t n = 1; n < 60; n++)
		check_levels(random_problem(n, 2 * n, n % 2 ? 6 : 3, (uint32_t)n), 8);
}

FEM_TEST(cholesky, kernel_tables_differ_by_level) {
	FEM_CHECK(fem_dense_kernels(FEM_SIMD_SCALAR) == &fem_dense_kernels_scalar);
	FEM_CHECK(fem_dense_kernels(FEM_SIMD_SSE2) == &fem_dense_kernels_sse2);
#ifndef FEM_NO_AVX2
	FEM_CHECK(fem_dense_kernels(FEM_SIMD_AVX2) == &fem_dense_kernels_avx2);
#endif
}

// Length of every column of L by eliminating the graph as it stands; a small one is dense.
static double eliminate(Problem *p) {
	double flops = 0.0;
	bool is_dense = p->node_count * p->block <= 48;
	for (int32_t k = 0; k < p->node_count; k++) {
		int32_t node = p->order[k], later[MAX_NODES], count = 0;
		for (int32_t m = k + 1; m < p->node_count; m++)
			if (is_dense || p->linked[node][p->order[m]])
				later[count++] = p->order[m];
		for (int32_t a = 0; a < count; a++)
			for (int32_t c = 0; c < a; c++)
				link_nodes(p, later[a], later[c]);
		for (int32_t c = 0; c < p->block; c++)
			flops += pow((count + 1) * p->block - c, 2.0);
	}
	return flops;
}

static void check_flops(Problem *p) {
	double flops = 0.0, refused_flops = 0.0;
	FemCholesky *factor = fem_cholesky_create(p->node_count, p->row_start, p->column, p->order, p->block, 1e12, &flops);
	FEM_REQUIRE(factor != NULL);
	fem_cholesky_destroy(factor);
	FEM_CHECK_NEAR(flops, eliminate(p), 1e-9 * flops);
	int64_t bytes_before = fem_memory_bytes();
	const double limit = flops - 1.0;
	FEM_CHECK(!fem_cholesky_create(p->node_count, p->row_start, p->column, p->order, p->block, limit, &refused_flops));
	FEM_CHECK_NEAR(refused_flops, flops, 0.0);
	FEM_CHECK_INT(fem_memory_bytes() - bytes_before, 0);
	factor = fem_cholesky_create(p->node_count, p->row_start, p->column, p->order, p->block, flops, &refused_flops);
	FEM_CHECK(factor != NULL);
	fem_cholesky_destroy(factor);
}

FEM_TEST(cholesky, flops_are_predicted_and_limited) {
	check_flops(grid_problem(13, 7, 2, 3));
	check_flops(grid_problem(4, 4, 4, 6));
	for (int32_t n = 1; n < 100; n += 3)
		check_flops(random_problem(n, 2 * n, 3, (uint32_t)n));
}

FEM_TEST(cholesky, bad_graphs_are_refused) {
	Problem *p = grid_problem(4, 4, 2, 3);
	int64_t bytes_before = fem_memory_bytes();
	double flops;
	FEM_CHECK(!fem_cholesky_create(p->node_count, p->row_start, p->column, p->order, 4, 1e12, &flops));
	FEM_CHECK(!fem_cholesky_create(-1, p->row_start, p->column, p->order, 3, 1e12, &flops));
	int32_t kept = p->order[5];
	p->order[5] = p->order[6];
	FEM_CHECK(!create(p));
	p->order[5] = p->node_count;
	FEM_CHECK(!create(p));
	p->order[5] = kept;
	kept = p->column[9];
	p->column[9] = -1;
	FEM_CHECK(!create(p));
	p->column[9] = kept;
	// A row out of order.
	kept = p->column[0];
	p->column[0] = p->column[1];
	p->column[1] = kept;
	FEM_CHECK(!create(p));
	// Links in one direction only.
	for (int32_t i = 0; i < p->node_count; i++)
		for (int32_t j = 0; j < p->node_count; j++) {
			p->linked[i][j] ^= true;
			build_graph(p);
			FEM_CHECK(!create(p));
			p->linked[i][j] ^= true;
		}
	FEM_CHECK_INT(fem_memory_bytes() - bytes_before, 0);
}

FEM_TEST(cholesky, factor_and_solve_allocate_nothing_and_repeat) {
	Problem *p = grid_problem(10, 6, 2, 3);
	static float before[MAX_NODES * MAX_STRIDE];
	FemCholesky *factor = create(p);
	FEM_REQUIRE(factor != NULL);
	FEM_CHECK(fem_cholesky_bytes(factor) > 10000);
	float *workspace = FEM_ALLOC_ARRAY(float, fem_cholesky_workspace(factor));
	int64_t allocations = fem_memory_allocations();
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	fem_cholesky_solve(factor, p->r, p->z, 4, workspace);
	memcpy(before, p->z, sizeof before);
	FEM_CHECK(fem_cholesky_factor(factor, p->diagonal, p->blocks, NULL, 0.0f));
	fem_cholesky_solve(factor, p->r, p->z, 4, workspace);
	FEM_CHECK_INT(fem_memory_allocations() - allocations, 0);
	FEM_CHECK(memcmp(before, p->z, sizeof before) == 0);
	FEM_FREE_ARRAY(workspace, fem_cholesky_workspace(factor));
	fem_cholesky_destroy(factor);
}
