// Body of dense_kernels_<level>.c, which defines FEM_KERNEL_LANES (1, 4 or 8 floats per vector) and FEM_KERNEL_TABLE.
// Register blocking after Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008); without
// packing, since a panel fits the first or second level cache. Loops over `const int` parameters unroll completely.
#include "dynamics/dense_kernels.h"

#include <math.h>
#include <stddef.h>

#define LANES FEM_KERNEL_LANES
#define TILE FEM_PANEL_TILE
#define VECS (TILE / LANES)
#define INLINE static inline __attribute__((always_inline))

#if LANES == 1
typedef float Vec;
typedef float VecMemory;
#else
typedef float Vec __attribute__((vector_size(4 * LANES)));
typedef float VecMemory __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
#endif

// Eight rows of one column.
typedef union Lane8 {
	Vec vec[VECS];
	float lane[TILE];
} Lane8;

INLINE Vec load(const float *from) {
	return *(const VecMemory *)from;
}

INLINE void store(float *to, Vec value) {
	*(VecMemory *)to = value;
}

INLINE Lane8 load8(const float *from) {
	Lane8 result;
	for (int p = 0; p < VECS; p++)
		result.vec[p] = load(from + p * LANES);
	return result;
}

INLINE void store8(float *to, const Lane8 *value) {
	for (int p = 0; p < VECS; p++)
		store(to + p * LANES, value->vec[p]);
}

// Products: C = A B^T or C -= A B^T.

// One register tile: `vectors` * LANES rows and `columns` columns of C.
INLINE void multiply_tile(float *c, int32_t c_stride, const float *a, const float *b, int32_t stride, int32_t depth,
	const int vectors, const int columns, const bool subtract) {
	Vec sum[2][6];
	for (int j = 0; j < columns; j++)
		for (int v = 0; v < vectors; v++)
			sum[v][j] = (Vec){0};
	for (int32_t k = 0; k < depth; k++, a += stride, b += stride) {
		Vec row[2];
		for (int v = 0; v < vectors; v++)
			row[v] = load(a + v * LANES);
		for (int j = 0; j < columns; j++)
			for (int v = 0; v < vectors; v++)
				sum[v][j] += row[v] * b[j];
	}
	for (int j = 0; j < columns; j++, c += c_stride)
		for (int v = 0; v < vectors; v++)
			store(c + v * LANES, subtract ? load(c + v * LANES) - sum[v][j] : sum[v][j]);
}

// `rows` is a multiple of 8; A and B are rows of the same panel.
INLINE void multiply_columns(float *c, int32_t c_stride, const float *a, const float *b, int32_t stride, int32_t depth,
	int32_t rows, const int columns, const bool subtract) {
	int32_t i = 0;
	for (; i + 2 * LANES <= rows; i += 2 * LANES)
		multiply_tile(c + i, c_stride, a + i, b, stride, depth, 2, columns, subtract);
	if (i < rows)
		multiply_tile(c + i, c_stride, a + i, b, stride, depth, 1, columns, subtract);
}

// At most 8 columns.
static void multiply_subtract(float *c, const float *a, int32_t stride, int32_t depth, int32_t rows, int32_t columns) {
	const float *b = a;
	for (int32_t taken; columns > 0; columns -= taken, c += (size_t)taken * stride, b += taken) {
		taken = columns == 6 ? 6 : columns < 4 ? columns : 4;
		switch (taken) {
		case 6: multiply_columns(c, stride, a, b, stride, depth, rows, 6, true); break;
		case 4: multiply_columns(c, stride, a, b, stride, depth, rows, 4, true); break;
		case 3: multiply_columns(c, stride, a, b, stride, depth, rows, 3, true); break;
		case 2: multiply_columns(c, stride, a, b, stride, depth, rows, 2, true); break;
		default: multiply_columns(c, stride, a, b, stride, depth, rows, 1, true); break;
		}
	}
}

static void square(
	float *product, int32_t product_stride, const float *below, int32_t stride, int32_t count, int32_t depth) {
	for (int32_t j = 0; j < count; j += 6) {
		int32_t top = j / TILE * TILE;
		float *c = product + (size_t)j * product_stride + top;
		if (count - j >= 6)
			multiply_columns(c, product_stride, below + top, below + j, stride, depth, product_stride - top, 6, false);
		else
			multiply_columns(c, product_stride, below + top, below + j, stride, depth, product_stride - top, 3, false);
	}
}

// Factorization of a panel, left-looking by tiles of eight columns.

// ones_from[8 - j + i] is 1 for i >= j: rows on and below the diagonal of column j.
static const float ones_from[2 * TILE] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

// L of a tile, column by column; rows above the diagonal come out zero. inverse_pivot[j] = 1 / L_jj.
static bool factor_tile(Lane8 *lower, float *inverse_pivot, int32_t columns) {
	for (int32_t j = 0; j < columns; j++) {
		const float *column = lower[j].lane;
		float pivot = column[j];
		if (!(pivot > 0.0f && pivot <= 3.402823466e+38f))
			return false;
		inverse_pivot[j] = 1.0f / sqrtf(pivot);
		Lane8 mask = load8(ones_from + TILE - j);
		for (int p = 0; p < VECS; p++)
			lower[j].vec[p] = lower[j].vec[p] * inverse_pivot[j] * mask.vec[p];
		for (int32_t k = j + 1; k < columns; k++)
			for (int p = 0; p < VECS; p++)
				lower[k].vec[p] -= lower[j].vec[p] * column[k];
	}
	return true;
}

// X = L^-1 from X L = I, last column first: X_j = (e_j - sum_{k > j} X_k L_kj) / L_jj. False when it overflows.
static bool invert_tile(Lane8 *inverse, const Lane8 *lower, const float *inverse_pivot, int32_t columns) {
	Lane8 probe = {.lane = {0}};
	for (int32_t j = columns - 1; j >= 0; j--) {
		const float *column = lower[j].lane;
		Lane8 unit = load8(ones_from + TILE - j), after = load8(ones_from + TILE - j - 1);
		for (int p = 0; p < VECS; p++) {
			Vec x = unit.vec[p] - after.vec[p];
			for (int32_t k = j + 1; k < columns; k++)
				x -= inverse[k].vec[p] * column[k];
			inverse[j].vec[p] = x * inverse_pivot[j];
			probe.vec[p] += inverse[j].vec[p] * 0.0f;
		}
	}
	bool finite = true;
	for (int i = 0; i < TILE; i++)
		finite &= probe.lane[i] == 0.0f;
	return finite;
}

// rows *= inverse^T: the rows of L below the tile.
INLINE void scale_rows(float *rows, int32_t stride, int32_t count, const Lane8 *inverse, const int columns) {
	for (int32_t i = 0; i < count; i += LANES) {
		Vec old[TILE];
		for (int k = 0; k < columns; k++)
			old[k] = load(rows + i + (size_t)k * stride);
		for (int j = 0; j < columns; j++) {
			Vec sum = old[0] * inverse[0].lane[j];
			for (int k = 1; k <= j; k++)
				sum += old[k] * inverse[k].lane[j];
			store(rows + i + (size_t)j * stride, sum);
		}
	}
}

// Calls FUNCTION with the number of columns of a tile as a constant.
#define FOR_COLUMNS(columns, FUNCTION, ...) \
	switch (columns) { \
	case 1: FUNCTION(__VA_ARGS__, 1); break; \
	case 2: FUNCTION(__VA_ARGS__, 2); break; \
	case 3: FUNCTION(__VA_ARGS__, 3); break; \
	case 4: FUNCTION(__VA_ARGS__, 4); break; \
	case 5: FUNCTION(__VA_ARGS__, 5); break; \
	case 6: FUNCTION(__VA_ARGS__, 6); break; \
	case 7: FUNCTION(__VA_ARGS__, 7); break; \
	default: FUNCTION(__VA_ARGS__, 8); break; \
	}

static bool factor_panel(float *panel, int32_t stride, int32_t width) {
	for (int32_t k = 0; k < width; k += TILE) {
		int32_t columns = width - k < TILE ? width - k : TILE;
		float *tile = panel + (size_t)k * stride + k;
		if (k > 0)
			multiply_subtract(tile, panel + k, stride, k, stride - k, columns);
		Lane8 lower[TILE], inverse[TILE];
		float inverse_pivot[TILE];
		for (int32_t j = 0; j < columns; j++)
			lower[j] = load8(tile + (size_t)j * stride);
		if (!factor_tile(lower, inverse_pivot, columns) || !invert_tile(inverse, lower, inverse_pivot, columns))
			return false;
		for (int32_t j = 0; j < columns; j++)
			store8(tile + (size_t)j * stride, &inverse[j]);
		FOR_COLUMNS(columns, scale_rows, tile + TILE, stride, stride - k - TILE, inverse);
	}
	return true;
}

// Inversion of a small panel: W_ij = -W_ii sum_{j <= k < i} L_ik W_kj, tile by tile, rows of tiles from above. Tile ij of L
// is last needed for its own sum.

// sum[c] += L_ik column c of W_kj, for some columns.
INLINE void add_tile_product(Lane8 *sum, const float *l, const float *w, int32_t stride, int32_t depth, const int columns) {
	for (int32_t m = 0; m < depth; m++) {
		Lane8 column = load8(l + (size_t)m * stride);
		for (int c = 0; c < columns; c++)
			for (int p = 0; p < VECS; p++)
				sum[c].vec[p] += column.vec[p] * w[(size_t)c * stride + m];
	}
}

// Columns of tile ij of W, of row of tiles i and first column j; at_once of them.
INLINE void invert_columns(float *panel, int32_t stride, int32_t i, int32_t first, int32_t j, int32_t width, Lane8 *probe,
	const int at_once) {
	Lane8 sum[TILE] = {{.lane = {0}}}, out[TILE] = {{.lane = {0}}};
	float *to = panel + (size_t)j * stride + i;
	for (int32_t k = first; k < i; k += TILE)
		add_tile_product(sum, panel + (size_t)k * stride + i, panel + (size_t)j * stride + k, stride, TILE, at_once);
	const float *own = panel + (size_t)i * stride + i;
	for (int32_t m = 0; m < TILE && i + m < width; m++) {
		Lane8 column = load8(own + (size_t)m * stride);
		for (int c = 0; c < at_once; c++)
			for (int p = 0; p < VECS; p++)
				out[c].vec[p] -= column.vec[p] * sum[c].lane[m];
	}
	for (int c = 0; c < at_once; c++) {
		store8(to + (size_t)c * stride, &out[c]);
		for (int p = 0; p < VECS; p++)
			probe->vec[p] += out[c].vec[p] * 0.0f;
	}
}

static bool invert_panel(float *panel, int32_t stride, int32_t width) {
	const int at_once = LANES == 8 ? 8 : 4; // what the registers hold
	Lane8 probe = {.lane = {0}};
	for (int32_t i = TILE; i < width; i += TILE)
		for (int32_t j = 0; j < i; j += at_once)
			invert_columns(panel, stride, i, j / TILE * TILE, j, width, &probe, at_once);
	bool finite = true;
	for (int i = 0; i < TILE; i++)
		finite &= probe.lane[i] == 0.0f;
	return finite;
}

// Assembly of an update.

// Three columns at once: the lengths vary, so the branches on them are hard to foresee.
INLINE void subtract_span(float *to, int32_t stride, const float *from, int32_t product_stride, int32_t length) {
	int32_t i = 0;
	for (; i + LANES <= length; i += LANES)
		for (int c = 0; c < 3; c++) {
			float *at = to + i + (size_t)c * stride;
			store(at, load(at) - load(from + i + (size_t)c * product_stride));
		}
#if LANES == 8
	if (i + 4 <= length) {
		typedef float Half __attribute__((vector_size(16), aligned(4), may_alias));
		for (int c = 0; c < 3; c++)
			*(Half *)(to + i + (size_t)c * stride) -= *(const Half *)(from + i + (size_t)c * product_stride);
		i += 4;
	}
#endif
	for (; i < length; i++)
		for (int c = 0; c < 3; c++)
			to[i + (size_t)c * stride] -= from[i + (size_t)c * product_stride];
}

static void subtract(float *panel, int32_t stride, const float *product, int32_t product_stride, const FemRowRun *run,
	const FemRowRun *run_end, int32_t first, int32_t last) {
	for (int32_t j = first; j < last; j += 3) {
		while (run->source + run->length <= j)
			run++;
		int32_t skipped = j - run->source, target = run->target + skipped;
		float *to = panel + (size_t)target * stride;
		const float *from = product + (size_t)j * product_stride;
		subtract_span(to + target, stride, from + j, product_stride, run->length - skipped);
		for (const FemRowRun *r = run + 1; r < run_end; r++)
			subtract_span(to + r->target, stride, from + r->source, product_stride, r->length);
	}
}

// Solves.

// Lane j of the result is the sum over the lanes of sum[j]: ((0+4)+(2+6)) + ((1+5)+(3+7)).
#if LANES == 1
INLINE Lane8 add_lanes(const Lane8 *sum) {
	Lane8 result;
	for (int j = 0; j < TILE; j++) {
		const float *s = sum[j].lane;
		result.lane[j] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
	}
	return result;
}
#else
#if LANES == 4
#define SHUFFLE(a, b, i, j) __builtin_shufflevector(a, b, i, j, (i) + 4, (j) + 4)
#else
#define SHUFFLE(a, b, i, j) __builtin_shufflevector(a, b, i, j, (i) + 8, (j) + 8, (i) + 4, (j) + 4, (i) + 12, (j) + 12)
#endif

// Within each group of four lanes: lane j is the sum of vector j.
INLINE Vec add_lanes_of_four(Vec a, Vec b, Vec c, Vec d) {
	Vec ab = SHUFFLE(a, b, 0, 1) + SHUFFLE(a, b, 2, 3);
	Vec cd = SHUFFLE(c, d, 0, 1) + SHUFFLE(c, d, 2, 3);
	return SHUFFLE(ab, cd, 0, 2) + SHUFFLE(ab, cd, 1, 3);
}

INLINE Lane8 add_lanes(const Lane8 *sum) {
	Lane8 result;
#if LANES == 4
	Vec s[TILE];
	for (int j = 0; j < TILE; j++)
		s[j] = sum[j].vec[0] + sum[j].vec[1];
	result.vec[0] = add_lanes_of_four(s[0], s[1], s[2], s[3]);
	result.vec[1] = add_lanes_of_four(s[4], s[5], s[6], s[7]);
#else
	Vec s[4];
	for (int j = 0; j < 4; j++) {
		Vec a = sum[j].vec[0], b = sum[j + 4].vec[0];
		s[j] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
			__builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
	}
	result.vec[0] = add_lanes_of_four(s[0], s[1], s[2], s[3]);
#endif
	return result;
}
#endif

// One tile of columns: solve its own rows, then take it out of all rows below.
INLINE void forward_tile(const float *tile, int32_t stride, int32_t rows, float *front, const int columns) {
	Lane8 solved = {.lane = {0}};
	for (int p = 0; p < VECS; p++) {
		Vec sum = load(tile + p * LANES) * front[0];
		for (int j = 1; j < columns; j++)
			sum += load(tile + (size_t)j * stride + p * LANES) * front[j];
		solved.vec[p] = sum;
	}
	store8(front, &solved);
	for (int32_t i = TILE; i < rows; i += LANES) {
		Vec sum = load(tile + i) * solved.lane[0];
		for (int j = 1; j < columns; j++)
			sum += load(tile + (size_t)j * stride + i) * solved.lane[j];
		store(front + i, load(front + i) - sum);
	}
}

static void solve_forward(const float *panel, int32_t stride, int32_t width, float *front) {
	for (int32_t k = 0; k < width; k += TILE)
		FOR_COLUMNS(width - k, forward_tile, panel + (size_t)k * stride + k, stride, stride - k, front + k);
}

// sum[j] = lane-wise dot product of column j with the front, from row `first` on.
INLINE void dot_columns(
	const float *tile, int32_t stride, int32_t first, int32_t rows, const float *front, Lane8 *sum, const int columns) {
	Vec dot[TILE][VECS];
	for (int j = 0; j < columns; j++)
		for (int p = 0; p < VECS; p++)
			dot[j][p] = (Vec){0};
	for (int32_t i = first; i < rows; i += TILE)
		for (int j = 0; j < columns; j++)
			for (int p = 0; p < VECS; p++)
				dot[j][p] += load(tile + (size_t)j * stride + i + p * LANES) * load(front + i + p * LANES);
	for (int j = 0; j < columns; j++)
		for (int p = 0; p < VECS; p++)
			sum[j].vec[p] = dot[j][p];
}

// Lane j of the result is the dot product of column j with the front, from row `first` on.
INLINE Lane8 dot_tile(
	const float *tile, int32_t stride, int32_t first, int32_t rows, const float *front, const int columns) {
	Lane8 sum[TILE] = {{.lane = {0}}};
	// Half a tile at a time where all of its sums would not fit the registers.
	const int at_once = LANES == 8 ? 8 : 4;
	dot_columns(tile, stride, first, rows, front, sum, columns < at_once ? columns : at_once);
	if (columns > at_once)
		dot_columns(tile + (size_t)at_once * stride, stride, first, rows, front, sum + at_once, columns - at_once);
	return add_lanes(sum);
}

INLINE void backward_tile(const float *tile, int32_t stride, int32_t rows, float *front, const int columns) {
	Lane8 sum[TILE] = {{.lane = {0}}};
	Lane8 taken = dot_tile(tile, stride, TILE, rows, front, columns), rest = load8(front);
	for (int p = 0; p < VECS; p++)
		rest.vec[p] -= taken.vec[p];
	for (int j = 0; j < columns; j++)
		for (int p = 0; p < VECS; p++)
			sum[j].vec[p] = load(tile + (size_t)j * stride + p * LANES) * rest.vec[p];
	Lane8 solved = add_lanes(sum);
	store8(front, &solved);
}

static void solve_backward(const float *panel, int32_t stride, int32_t width, float *front) {
	for (int32_t k = (width - 1) / TILE * TILE; k >= 0; k -= TILE)
		FOR_COLUMNS(width - k, backward_tile, panel + (size_t)k * stride + k, stride, stride - k, front + k);
}

// Products with an inverted panel. Four sums each: additions would otherwise wait for one another.
static void multiply(const float *panel, int32_t stride, int32_t width, const float *x, float *y) {
	for (int32_t i = 0; i < width; i += TILE) {
		int32_t end = i + TILE < width ? i + TILE : width, c = 0;
		Lane8 sum[4] = {{.lane = {0}}};
		for (; c + 4 <= end; c += 4)
			for (int q = 0; q < 4; q++)
				for (int p = 0; p < VECS; p++)
					sum[q].vec[p] += load(panel + (size_t)(c + q) * stride + i + p * LANES) * x[c + q];
		for (; c < end; c++)
			for (int p = 0; p < VECS; p++)
				sum[0].vec[p] += load(panel + (size_t)c * stride + i + p * LANES) * x[c];
		for (int p = 0; p < VECS; p++)
			store(y + i + p * LANES, (sum[0].vec[p] + sum[1].vec[p]) + (sum[2].vec[p] + sum[3].vec[p]));
	}
}

INLINE void transposed_tile(const float *tile, int32_t stride, int32_t rows, const float *x, float *y, const int columns) {
	Lane8 sum = dot_tile(tile, stride, 0, rows, x, columns);
	store8(y, &sum);
}

static void multiply_transposed(const float *panel, int32_t stride, int32_t width, const float *x, float *y) {
	for (int32_t k = 0; k < width; k += TILE)
		FOR_COLUMNS(width - k, transposed_tile, panel + (size_t)k * stride + k, stride, stride - k, x + k, y + k);
}

const FemDenseKernels FEM_KERNEL_TABLE = {
	.factor_panel = factor_panel,
	.invert_panel = invert_panel,
	.square = square,
	.subtract = subtract,
	.solve_forward = solve_forward,
	.solve_backward = solve_backward,
	.multiply = multiply,
	.multiply_transposed = multiply_transposed,
};
