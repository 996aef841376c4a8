// Block Lanczos with full reorthogonalization and thick restarts (Wu and Simon 2000) on (A + shift)^-1, whose largest
// eigenvalues are the lowest of A (Ericsson and Ruhe 1980). Blocks of four, so that the equal frequencies of round and
// square things are all found. Small matrices are taken whole.
#include "modes/lanczos.h"

#include "base/memory.h"
#include "modes/symmetric_eigen.h"

#include <math.h>
#include <string.h>

#define SIDES FEM_SOLVE_SIDES // vectors of a block
// Least of the largest diagonal entry: above what rounding of 1e-16 makes of a factor of 1e5 unknowns, below the lowest
// modes of sheets of a thousandth of their width.
#define SHIFT_SHARE 1e-11
#define SHIFT_RAISE 100.0 // when a pivot was not positive after all
#define SHIFT_TRIES 4     // up to 1e-5 of the largest
#define RESIDUAL_MAX 1e-7 // of an eigenvalue of the inverse; shapes are then right to some 1e-6, values to 1e-10
#define RESTART_MAX 60    // three are usual; then the best found so far are handed out
#define SPARE_MIN 40      // vectors beyond those wanted: least ...
#define SPARE_MAX 160     // ... and most; between, as many as wanted. Measured: fewer cost more restarts than they save
#define KEPT_SPARE 12     // vectors beyond those wanted that a restart keeps; chosen
#define DENSE_UNKNOWNS 160 // matrices up to here are taken whole; chosen: 20 ms

typedef struct Lanczos {
	const FemModeMatrix *matrix;
	const FemEigenGoal *goal;
	FemDoubleCholesky *factor;
	double shift;
	int32_t unknowns, blocks_max; // blocks of a full basis; one more is the next
	int32_t rigid_blocks;
	double (*basis)[SIDES]; // [block][unknown]
	double *projected;      // [4 blocks_max]^2: basis^T (A + shift)^-1 basis
	double *vectors;        // its eigenvectors, as rows
	double *values;         // and eigenvalues
	double *scratch;
	double next[SIDES][SIDES]; // R of the last block: what couples a full basis to the next block
	int32_t converged;
} Lanczos;

static double (*block_at(const Lanczos *l, int32_t block))[SIDES] {
	return l->basis + (size_t)block * (size_t)l->unknowns;
}

static double (*rigid_block(const Lanczos *l, int32_t block))[SIDES] {
	return l->goal->rigid + (size_t)block * (size_t)l->unknowns;
}

// ---- blocks

static void dot_blocks(double (*a)[SIDES], double (*b)[SIDES], int32_t n, double out[SIDES][SIDES]) {
	double sum[SIDES][SIDES] = {{0.0}};
	for (int32_t r = 0; r < n; r++) {
		for (int i = 0; i < SIDES; i++) {
			for (int j = 0; j < SIDES; j++)
				sum[i][j] += a[r][i] * b[r][j];
		}
	}
	memcpy(out, sum, sizeof sum);
}

static void subtract_block(double (*w)[SIDES], double (*a)[SIDES], int32_t n, double h[SIDES][SIDES]) {
	for (int32_t r = 0; r < n; r++) {
		for (int i = 0; i < SIDES; i++) {
			for (int j = 0; j < SIDES; j++)
				w[r][j] -= a[r][i] * h[i][j];
		}
	}
}

static void remove_rigid(const Lanczos *l, double (*w)[SIDES]) {
	double h[SIDES][SIDES];
	for (int32_t k = 0; k < l->rigid_blocks; k++) {
		dot_blocks(rigid_block(l, k), w, l->unknowns, h);
		subtract_block(w, rigid_block(l, k), l->unknowns, h);
	}
}

// Against rigid motions and the first `count` blocks; adds the coefficients to the last columns of the projection.
static void orthogonalize(Lanczos *l, double (*w)[SIDES], int32_t count, bool keep) {
	double h[SIDES][SIDES];
	int32_t m = SIDES * l->blocks_max, last = SIDES * (count - 1);
	remove_rigid(l, w);
	for (int32_t k = 0; k < count; k++) {
		dot_blocks(block_at(l, k), w, l->unknowns, h);
		subtract_block(w, block_at(l, k), l->unknowns, h);
		for (int i = 0; keep && i < SIDES * SIDES; i++)
			l->projected[(size_t)(SIDES * k + i / SIDES) * (size_t)m + (size_t)(last + i % SIDES)] +=
				h[i / SIDES][i % SIDES];
	}
}

// Numbers in -1..1 that repeat.
static double noise(uint64_t *state) {
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(int64_t)(*state >> 11) / (double)(1LL << 52) - 1.0;
}

static void fill_noise(Lanczos *l, double (*w)[SIDES], int column, uint64_t seed) {
	uint64_t state = seed * 2654435761u + 1;
	for (int32_t r = 0; r < l->unknowns; r++)
		w[r][column] = noise(&state);
}

static double column_norm(const Lanczos *l, double (*w)[SIDES], int column) {
	double sum = 0.0;
	for (int32_t r = 0; r < l->unknowns; r++)
		sum += w[r][column] * w[r][column];
	return sqrt(sum);
}

static void scale_column(const Lanczos *l, double (*w)[SIDES], int column, double factor) {
	for (int32_t r = 0; r < l->unknowns; r++)
		w[r][column] *= factor;
}

// Takes the columns before out of one, twice; adds the coefficients to R.
static void orthogonalize_column(const Lanczos *l, double (*w)[SIDES], int column, double factor[SIDES][SIDES]) {
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < column; i++) {
			double dot = 0.0;
			for (int32_t r = 0; r < l->unknowns; r++)
				dot += w[r][i] * w[r][column];
			for (int32_t r = 0; r < l->unknowns; r++)
				w[r][column] -= dot * w[r][i];
			factor[i][column] += dot;
		}
	}
}

// w = Q R with Q in place of w. A column that has nothing new goes on with noise, and R has 0 there.
static void split_block(Lanczos *l, double (*w)[SIDES], int32_t count, double factor[SIDES][SIDES]) {
	memset(factor, 0, sizeof(double[SIDES][SIDES]));
	for (int j = 0; j < SIDES; j++) {
		double before = column_norm(l, w, j);
		orthogonalize_column(l, w, j, factor);
		double norm = column_norm(l, w, j);
		factor[j][j] = norm;
		for (uint64_t tries = 1; !(norm > 1e-12 * before && norm > 0.0) && tries < 8; tries++) {
			double ignored[SIDES][SIDES];
			factor[j][j] = 0.0;
			fill_noise(l, w, j, (uint64_t)count * 31 + (uint64_t)j * 7 + tries);
			before = column_norm(l, w, j);
			orthogonalize(l, w, count, false);
			orthogonalize(l, w, count, false);
			orthogonalize_column(l, w, j, ignored);
			norm = column_norm(l, w, j);
		}
		scale_column(l, w, j, norm > 0.0 ? 1.0 / norm : 0.0);
	}
}

// ---- iteration

static void start(Lanczos *l) {
	double ignored[SIDES][SIDES];
	for (int c = 0; c < SIDES; c++)
		fill_noise(l, l->basis, c, (uint64_t)c + 1);
	remove_rigid(l, l->basis);
	remove_rigid(l, l->basis);
	split_block(l, l->basis, 0, ignored);
}

// Appends the next block: (A + shift)^-1 times the last one, less what is in the basis.
static void extend(Lanczos *l, int32_t count) {
	double(*w)[SIDES] = block_at(l, count);
	int32_t m = SIDES * l->blocks_max, last = SIDES * (count - 1);
	memcpy(w, block_at(l, count - 1), sizeof *w * (size_t)l->unknowns);
	fem_double_cholesky_solve(l->factor, w);
	for (int32_t i = 0; i < m * SIDES; i++)
		l->projected[(size_t)(i / SIDES) * (size_t)m + (size_t)(last + i % SIDES)] = 0.0;
	orthogonalize(l, w, count, true);
	orthogonalize(l, w, count, true);
	split_block(l, w, count, l->next);
	for (int32_t i = 0; i < SIDES * count; i++) {
		for (int j = 0; j < SIDES; j++)
			l->projected[(size_t)(last + j) * (size_t)m + (size_t)i] =
				l->projected[(size_t)i * (size_t)m + (size_t)(last + j)];
	}
}

static double residual_of(const Lanczos *l, int32_t vector) {
	int32_t m = SIDES * l->blocks_max;
	const double *bottom = l->vectors + (size_t)vector * (size_t)m + (size_t)(m - SIDES);
	double sum = 0.0;
	for (int i = 0; i < SIDES; i++) {
		double entry = 0.0;
		for (int j = 0; j < SIDES; j++)
			entry += l->next[i][j] * bottom[j];
		sum += entry * entry;
	}
	return sqrt(sum);
}

// How many of the lowest are found, and whether that is all that is wanted.
static bool note_converged(Lanczos *l) {
	int32_t m = SIDES * l->blocks_max;
	l->converged = 0;
	for (int32_t k = 0; k < l->goal->count; k++) {
		double inverse = l->values[m - 1 - k];
		if (!(residual_of(l, m - 1 - k) <= RESIDUAL_MAX * inverse))
			return inverse > 0.0 && 1.0 / inverse - l->shift > l->goal->value_max * 1.1;
		l->converged++;
		if (1.0 / inverse - l->shift > l->goal->value_max)
			return true;
	}
	return true;
}

// The basis becomes its combinations `kept` from the end of the eigenvectors, largest first.
static void combine(Lanczos *l, int32_t kept, double (*out)[SIDES]) {
	int32_t m = SIDES * l->blocks_max;
	double *row = l->scratch;
	for (int32_t r = 0; r < l->unknowns; r++) {
		for (int32_t b = 0; b < l->blocks_max; b++)
			memcpy(row + (size_t)(SIDES * b), block_at(l, b)[r], sizeof *l->basis);
		for (int32_t k = 0; k < kept; k++) {
			const double *vector = l->vectors + (size_t)(m - 1 - k) * (size_t)m;
			double sum[4] = {0.0, 0.0, 0.0, 0.0};
			for (int32_t i = 0; i < m; i += 4) {
				for (int c = 0; c < 4; c++)
					sum[c] += vector[i + c] * row[i + c];
			}
			out[(size_t)(k / SIDES) * (size_t)l->unknowns + (size_t)r][k % SIDES] =
				(sum[0] + sum[1]) + (sum[2] + sum[3]);
		}
	}
}

// Returns the number of blocks that go on.
static int32_t restart(Lanczos *l) {
	int32_t m = SIDES * l->blocks_max, kept = l->goal->count + KEPT_SPARE;
	kept = (kept + SIDES - 1) / SIDES * SIDES;
	kept = kept > m - 2 * SIDES ? m - 2 * SIDES : kept;
	combine(l, kept, l->basis);
	memcpy(block_at(l, kept / SIDES), block_at(l, l->blocks_max), sizeof *l->basis * (size_t)l->unknowns);
	memset(l->projected, 0, sizeof *l->projected * (size_t)m * (size_t)m);
	for (int32_t k = 0; k < kept; k++)
		l->projected[(size_t)k * (size_t)m + (size_t)k] = l->values[m - 1 - k];
	return kept / SIDES + 1;
}

static bool goes_on(const Lanczos *l, double share) {
	return !l->goal->progress || l->goal->progress(l->goal->progress_context, (float)share);
}

static FemResult iterate(Lanczos *l) {
	int32_t m = SIDES * l->blocks_max, count = 1;
	start(l);
	for (int round = 0;; round++) {
		for (; count <= l->blocks_max; count++) {
			double done = (round + (double)count / l->blocks_max) / (round + 1.5);
			if (!goes_on(l, 0.1 + 0.85 * done))
				return FEM_ERROR_LIMIT;
			extend(l, count);
		}
		memcpy(l->vectors, l->projected, sizeof *l->vectors * (size_t)m * (size_t)m);
		if (!fem_symmetric_eigen(l->vectors, m, l->values, l->scratch))
			return FEM_ERROR_MESH;
		if (note_converged(l) || round == RESTART_MAX)
			return FEM_OK;
		count = restart(l);
	}
}

// ---- the whole

static bool allocate(Lanczos *l) {
	int64_t m = SIDES * (int64_t)l->blocks_max, rows = ((int64_t)l->blocks_max + 1) * l->unknowns;
	l->basis = fem_alloc(sizeof *l->basis * (size_t)rows);
	l->projected = FEM_ALLOC_ARRAY(double, m *m);
	l->vectors = FEM_ALLOC_ARRAY(double, m *m);
	l->values = FEM_ALLOC_ARRAY(double, m);
	l->scratch = FEM_ALLOC_ARRAY(double, 3 * m);
	return l->basis && l->projected && l->vectors && l->values && l->scratch;
}

static void release(Lanczos *l) {
	int64_t m = SIDES * (int64_t)l->blocks_max;
	FEM_FREE_ARRAY(l->basis, ((int64_t)l->blocks_max + 1) * l->unknowns);
	FEM_FREE_ARRAY(l->projected, m * m);
	FEM_FREE_ARRAY(l->vectors, m * m);
	FEM_FREE_ARRAY(l->values, m);
	FEM_FREE_ARRAY(l->scratch, 3 * m);
	fem_double_cholesky_destroy(l->factor);
}

static bool reserve_pairs(FemEigenpairs *pairs, int32_t count, int32_t unknowns) {
	pairs->unknown_count = unknowns;
	pairs->capacity = (count + SIDES - 1) / SIDES;
	pairs->values = FEM_ALLOC_ARRAY(double, pairs->capacity *SIDES + 1);
	pairs->vectors = fem_alloc(sizeof *pairs->vectors * ((size_t)pairs->capacity * (size_t)unknowns + 1));
	return pairs->values && pairs->vectors;
}

void fem_eigenpairs_free(FemEigenpairs *pairs) {
	FEM_FREE_ARRAY(pairs->values, pairs->capacity * SIDES + 1);
	FEM_FREE_ARRAY(pairs->vectors, (size_t)pairs->capacity * (size_t)pairs->unknown_count + 1);
	*pairs = (FemEigenpairs){0};
}

static FemResult find_by_iteration(Lanczos *l, FemEigenpairs *out) {
	double shift = SHIFT_SHARE * l->matrix->largest;
	if (!allocate(l))
		return FEM_ERROR_MEMORY;
	for (int tries = 0; tries < SHIFT_TRIES && !l->factor; tries++, shift *= SHIFT_RAISE) {
		if (!goes_on(l, 0.0))
			return FEM_ERROR_LIMIT;
		l->shift = shift;
		l->factor = fem_mode_matrix_factor(l->matrix, shift);
	}
	if (!l->factor)
		return goes_on(l, 0.0) ? FEM_ERROR_MEMORY : FEM_ERROR_LIMIT;
	FemResult result = iterate(l);
	if (result != FEM_OK)
		return result;
	if (!reserve_pairs(out, l->converged, l->unknowns))
		return FEM_ERROR_MEMORY;
	combine(l, l->converged, out->vectors);
	for (int32_t k = 0; k < l->converged; k++)
		out->values[k] = 1.0 / l->values[SIDES * l->blocks_max - 1 - k] - l->shift;
	out->count = l->converged;
	return FEM_OK;
}

// ---- small matrices

static void spread(const FemModeMatrix *m, double *dense) {
	size_t n = 3 * (size_t)m->node_count;
	for (int32_t i = 0; i < m->node_count; i++) {
		double *row = dense + 3 * (size_t)i * n;
		for (int k = 0; k < 9; k++)
			row[(size_t)(k / 3) * n + 3 * (size_t)i + (size_t)(k % 3)] = m->diagonal[i][k];
		for (int32_t e = m->graph.row_start[i]; e < m->graph.row_start[i + 1]; e++) {
			for (int k = 0; k < 9; k++)
				row[(size_t)(k / 3) * n + 3 * (size_t)m->graph.column[e] + (size_t)(k % 3)] = m->blocks[e][k];
		}
	}
}

// The rigid motions are the first: nothing is below 0.
static FemResult find_dense(const FemModeMatrix *matrix, const FemEigenGoal *goal, FemEigenpairs *out) {
	int64_t n = 3 * (int64_t)matrix->node_count;
	double *dense = FEM_ALLOC_ARRAY(double, n *n + 1), *values = FEM_ALLOC_ARRAY(double, 4 * n + 1);
	int32_t count = (int32_t)n - goal->rigid_count;
	count = count > goal->count ? goal->count : count;
	count = count < 0 ? 0 : count;
	FemResult result = dense && values && reserve_pairs(out, count, (int32_t)n) ? FEM_OK : FEM_ERROR_MEMORY;
	if (result == FEM_OK) {
		spread(matrix, dense);
		result = fem_symmetric_eigen(dense, (int32_t)n, values, values + n) ? FEM_OK : FEM_ERROR_MESH;
	}
	for (int32_t k = 0; result == FEM_OK && k < count; k++) {
		const double *vector = dense + (size_t)(k + goal->rigid_count) * (size_t)n;
		out->values[k] = values[k + goal->rigid_count];
		for (int64_t i = 0; i < n; i++)
			out->vectors[(size_t)(k / SIDES) * (size_t)n + (size_t)i][k % SIDES] = vector[i];
	}
	out->count = result == FEM_OK ? count : 0;
	FEM_FREE_ARRAY(dense, n * n + 1);
	FEM_FREE_ARRAY(values, 4 * n + 1);
	return result;
}

FemResult fem_eigenpairs_find(const FemModeMatrix *matrix, const FemEigenGoal *goal, FemEigenpairs *out) {
	int32_t unknowns = 3 * matrix->node_count, spare = goal->count > SPARE_MAX ? SPARE_MAX : goal->count;
	*out = (FemEigenpairs){0};
	spare = spare < SPARE_MIN ? SPARE_MIN : spare;
	Lanczos l = {.matrix = matrix,
		.goal = goal,
		.unknowns = unknowns,
		.blocks_max = (goal->count + spare + SIDES - 1) / SIDES,
		.rigid_blocks = (goal->rigid_count + SIDES - 1) / SIDES};
	if (unknowns <= DENSE_UNKNOWNS || unknowns - goal->rigid_count < SIDES * (l.blocks_max + 2))
		return find_dense(matrix, goal, out);
	FemResult result = find_by_iteration(&l, out);
	release(&l);
	if (result != FEM_OK)
		fem_eigenpairs_free(out);
	return result;
}
