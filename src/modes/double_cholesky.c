// Right-looking and supernodal, as dynamics/sparse_cholesky.c, without its padding and tiles: a factor is made once a
// shape and solved with some hundreds of times.
#include "modes/double_cholesky.h"

#include "base/memory.h"
#include "base/stop_check.h"
#include "dynamics/cholesky_symbolic.h"

#include <math.h>
#include <string.h>

#define SIDES FEM_SOLVE_SIDES // columns of every right-hand side
#define FLOPS_MAX 1e13        // of one factorization: an hour; chosen, a shape that needs more is a slip

struct FemDoubleCholesky {
	FemCholeskySymbolic symbolic;
	int64_t *panel;  // [supernode + 1]: where its panel begins in values
	double *values;  // panels, column by column; rows: its own, then those below
	double *product; // square of the rows below of one supernode
	int32_t *place;  // [position]: row of a target's panel
	double (*permuted)[SIDES];
	double (*below)[SIDES];
	int64_t value_count, product_count;
	int32_t below_max;
};

// ---- pattern

static int32_t width_of(const FemDoubleCholesky *f, int32_t s) {
	return 3 * (f->symbolic.first[s + 1] - f->symbolic.first[s]);
}

static int32_t below_of(const FemDoubleCholesky *f, int32_t s) {
	return 3 * (f->symbolic.row_start[s + 1] - f->symbolic.row_start[s]);
}

static bool allocate(FemDoubleCholesky *f) {
	int32_t count = f->symbolic.supernode_count, nodes = f->symbolic.node_count;
	f->panel = FEM_ALLOC_ARRAY(int64_t, count + 1);
	if (!f->panel)
		return false;
	for (int32_t s = 0; s < count; s++) {
		int64_t below = below_of(f, s), width = width_of(f, s);
		f->panel[s + 1] = f->panel[s] + width * (width + below);
		f->product_count = below * below > f->product_count ? below * below : f->product_count;
		f->below_max = below > f->below_max ? (int32_t)below : f->below_max;
	}
	f->value_count = f->panel[count];
	f->values = FEM_ALLOC_ARRAY(double, f->value_count + 1);
	f->product = FEM_ALLOC_ARRAY_UNSET(double, f->product_count + 1);
	f->place = FEM_ALLOC_ARRAY(int32_t, nodes + 1);
	f->permuted = fem_alloc(sizeof *f->permuted * (3 * (size_t)nodes + 1));
	f->below = fem_alloc(sizeof *f->below * ((size_t)f->below_max + 1));
	return f->values && f->product && f->place && f->permuted && f->below;
}

// Rows of the panel of supernode s by position.
static void note_places(FemDoubleCholesky *f, int32_t s) {
	const FemCholeskySymbolic *y = &f->symbolic;
	for (int32_t p = y->first[s]; p < y->first[s + 1]; p++)
		f->place[p] = 3 * (p - y->first[s]);
	for (int32_t q = y->row_start[s]; q < y->row_start[s + 1]; q++)
		f->place[y->row[q]] = width_of(f, s) + 3 * (q - y->row_start[s]);
}

static void load(
	FemDoubleCholesky *f, const int32_t *row_start, const int32_t *column, double (*diagonal)[9], double (*blocks)[9]) {
	const FemCholeskySymbolic *y = &f->symbolic;
	for (int32_t s = 0; s < y->supernode_count; s++) {
		int64_t rows = width_of(f, s) + below_of(f, s);
		note_places(f, s);
		for (int32_t p = y->first[s]; p < y->first[s + 1]; p++) {
			int32_t node = y->node_at[p];
			double *column_start = f->values + f->panel[s] + 3 * (p - y->first[s]) * rows;
			for (int k = 0; k < 9; k++)
				column_start[k % 3 * rows + f->place[p] + k / 3] = diagonal[node][k];
			for (int32_t e = row_start[node]; e < row_start[node + 1]; e++) {
				int32_t other = y->position_of[column[e]];
				// Block e is (node, other); the panel holds rows of `other`, so its transpose.
				for (int k = 0; other > p && k < 9; k++)
					column_start[k / 3 * rows + f->place[other] + k % 3] = blocks[e][k];
			}
		}
	}
}

// ---- factor

// c[i] -= sum over four columns of a.
static void subtract_four(
	double *c, const double *a, int64_t stride, const double *b, int64_t b_stride, int64_t count) {
	const double *a1 = a + stride, *a2 = a1 + stride, *a3 = a2 + stride;
	double b0 = b[0], b1 = b[b_stride], b2 = b[2 * b_stride], b3 = b[3 * b_stride];
	for (int64_t i = 0; i < count; i++)
		c[i] -= a[i] * b0 + a1[i] * b1 + a2[i] * b2 + a3[i] * b3;
}

// c[i] -= sum over k < depth of a[i, k] b[k]; both are rows of one panel.
static void subtract_columns(
	double *c, const double *a, const double *b, int64_t stride, int32_t depth, int64_t count) {
	int32_t k = 0;
	for (; k + 4 <= depth; k += 4)
		subtract_four(c, a + k * stride, stride, b + k * stride, stride, count);
	for (; k < depth; k++) {
		const double *from = a + k * stride;
		double factor = b[k * stride];
		for (int64_t i = 0; i < count; i++)
			c[i] -= from[i] * factor;
	}
}

// Left-looking within the panel.
static bool factor_panel(double *panel, int32_t width, int64_t rows) {
	for (int32_t j = 0; j < width; j++) {
		double *column = panel + j * rows;
		subtract_columns(column + j, panel + j, panel + j, rows, j, rows - j);
		if (!(column[j] > 0.0 && column[j] < INFINITY))
			return false;
		double pivot = sqrt(column[j]), inverse = 1.0 / pivot;
		for (int64_t i = j; i < rows; i++)
			column[i] *= inverse;
	}
	return true;
}

// Subtracts the square of the rows below from the panels of the ancestors.
static void update_ancestors(FemDoubleCholesky *f, int32_t s) {
	const FemCholeskySymbolic *y = &f->symbolic;
	int32_t width = width_of(f, s), below = below_of(f, s), target = -1;
	int64_t rows = width + below, target_rows = 0;
	const double *square = f->values + f->panel[s] + width;
	for (int32_t j = 0; j < below; j++) {
		int32_t position = y->row[y->row_start[s] + j / 3];
		double *product = f->product;
		memset(product + j, 0, sizeof *product * (size_t)(below - j));
		subtract_columns(product + j, square + j, square + j, rows, width, below - j);
		if (y->supernode_of[position] != target) {
			target = y->supernode_of[position];
			target_rows = width_of(f, target) + below_of(f, target);
			note_places(f, target);
		}
		double *to = f->values + f->panel[target] + (f->place[position] + j % 3) * target_rows;
		for (int32_t i = j; i < below; i++)
			to[f->place[y->row[y->row_start[s] + i / 3]] + i % 3] += product[i];
	}
}

FemDoubleCholesky *fem_double_cholesky_create(int32_t node_count, const int32_t *row_start, const int32_t *column,
	const int32_t *order, double (*diagonal)[9], double (*blocks)[9]) {
	double flops;
	FemDoubleCholesky *f = FEM_ALLOC_ARRAY(FemDoubleCholesky, 1);
	if (!f)
		return NULL;
	bool good = fem_cholesky_symbolic_create(&f->symbolic, node_count, row_start, column, order, 3, FLOPS_MAX, &flops);
	if (!good) {
		FEM_FREE_ARRAY(f, 1);
		return NULL;
	}
	good = allocate(f);
	if (good)
		load(f, row_start, column, diagonal, blocks);
	for (int32_t s = 0; good && s < f->symbolic.supernode_count; s++) {
		int64_t rows = width_of(f, s) + below_of(f, s);
		good = !fem_stop_asked() && factor_panel(f->values + f->panel[s], width_of(f, s), rows);
		if (good)
			update_ancestors(f, s);
	}
	if (good)
		return f;
	fem_double_cholesky_destroy(f);
	return NULL;
}

void fem_double_cholesky_destroy(FemDoubleCholesky *f) {
	if (!f)
		return;
	size_t nodes = (size_t)f->symbolic.node_count;
	FEM_FREE_ARRAY(f->panel, f->symbolic.supernode_count + 1);
	FEM_FREE_ARRAY(f->values, f->value_count + 1);
	FEM_FREE_ARRAY(f->product, f->product_count + 1);
	FEM_FREE_ARRAY(f->place, nodes + 1);
	FEM_FREE_ARRAY(f->permuted, 3 * nodes + 1);
	FEM_FREE_ARRAY(f->below, f->below_max + 1);
	fem_cholesky_symbolic_destroy(&f->symbolic);
	FEM_FREE_ARRAY(f, 1);
}

// ---- solve

static void subtract_scaled(double *to, const double *from, double factor) {
	for (int c = 0; c < SIDES; c++)
		to[c] -= factor * from[c];
}

static void solve_forward(FemDoubleCholesky *f, int32_t s) {
	const FemCholeskySymbolic *y = &f->symbolic;
	int32_t width = width_of(f, s), below = below_of(f, s);
	int64_t rows = width + below;
	double(*own)[SIDES] = f->permuted + 3 * (size_t)y->first[s];
	memset(f->below, 0, sizeof *f->below * (size_t)below);
	for (int32_t j = 0; j < width; j++) {
		const double *column = f->values + f->panel[s] + j * rows;
		for (int c = 0; c < SIDES; c++)
			own[j][c] /= column[j];
		for (int32_t i = j + 1; i < width; i++)
			subtract_scaled(own[i], own[j], column[i]);
		for (int32_t i = 0; i < below; i++)
			subtract_scaled(f->below[i], own[j], column[width + i]);
	}
	for (int32_t i = 0; i < below; i++)
		subtract_scaled(f->permuted[3 * (size_t)y->row[y->row_start[s] + i / 3] + (size_t)(i % 3)], f->below[i], -1.0);
}

static void solve_backward(FemDoubleCholesky *f, int32_t s) {
	const FemCholeskySymbolic *y = &f->symbolic;
	int32_t width = width_of(f, s), below = below_of(f, s);
	int64_t rows = width + below;
	double(*own)[SIDES] = f->permuted + 3 * (size_t)y->first[s];
	for (int32_t i = 0; i < below; i++)
		memcpy(
			f->below[i], f->permuted[3 * (size_t)y->row[y->row_start[s] + i / 3] + (size_t)(i % 3)], sizeof *f->below);
	for (int32_t j = width - 1; j >= 0; j--) {
		const double *column = f->values + f->panel[s] + j * rows;
		for (int32_t i = j + 1; i < width; i++)
			subtract_scaled(own[j], own[i], column[i]);
		for (int32_t i = 0; i < below; i++)
			subtract_scaled(own[j], f->below[i], column[width + i]);
		for (int c = 0; c < SIDES; c++)
			own[j][c] /= column[j];
	}
}

void fem_double_cholesky_solve(FemDoubleCholesky *f, double (*x)[FEM_SOLVE_SIDES]) {
	const FemCholeskySymbolic *y = &f->symbolic;
	for (int32_t p = 0; p < y->node_count; p++)
		memcpy(f->permuted[3 * (size_t)p], x[3 * (size_t)y->node_at[p]], 3 * sizeof *x);
	for (int32_t s = 0; s < y->supernode_count; s++)
		solve_forward(f, s);
	for (int32_t s = y->supernode_count - 1; s >= 0; s--)
		solve_backward(f, s);
	for (int32_t p = 0; p < y->node_count; p++)
		memcpy(x[3 * (size_t)y->node_at[p]], f->permuted[3 * (size_t)p], 3 * sizeof *x);
}
