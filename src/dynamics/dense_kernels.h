// Dense panel kernels of the sparse Cholesky factor, compiled once per SIMD level (dense_kernels.inl).
//
// A panel is the part of the factor that belongs to one supernode: `width` columns, stored column by column, `stride`
// floats apart. Rows are in two parts, each padded with zero rows to a multiple of FEM_PANEL_TILE: first its own
// rows, then the rows below. A factored panel holds in its diagonal tiles (8 x 8, the last one narrower) the inverse of
// the tile of L, so that a solve multiplies where it would otherwise wait for one division per column.
//
// All levels give bitwise the same result: sums run in column order per element, dot products in eight lanes that are
// added as ((0+4)+(2+6)) + ((1+5)+(3+7)).
#ifndef FEM_DENSE_KERNELS_H
#define FEM_DENSE_KERNELS_H

#include "base/simd.h"

#include <stdbool.h>
#include <stdint.h>

enum { FEM_PANEL_TILE = 8 }; // floats: an AVX2 vector; rows of a panel are padded to whole tiles

// Rows [source, source + length) of an update matrix go to rows [target, target + length) of a panel.
typedef struct FemRowRun {
	int32_t source;
	int32_t target;
	int32_t length;
} FemRowRun;

typedef struct FemDenseKernels {
	// Factors all columns of a panel in place. False when a pivot is not positive and finite.
	bool (*factor_panel)(float *panel, int32_t stride, int32_t width);
	// L -> W = L^-1 in a factored panel without rows below. False when it overflows.
	bool (*invert_panel)(float *panel, int32_t stride, int32_t width);
	// Lower triangle of product = below * below^T (count x count, `product_stride` apart); `below` has `depth` columns.
	// Some elements above the diagonal are written too.
	void (*square)(
		float *product, int32_t product_stride, const float *below, int32_t stride, int32_t count, int32_t depth);
	// panel -= lower triangle of the columns [first, last) of product, moved by the runs. `run` is the one that holds
	// row `first`; a column of the product goes where the row of the same number goes. All counts are multiples of 3.
	void (*subtract)(float *panel, int32_t stride, const float *product, int32_t product_stride, const FemRowRun *run,
		const FemRowRun *run_end, int32_t first, int32_t last);
	// front (stride floats): own rows b -> y = L^-1 b; rows below -= L y.
	void (*solve_forward)(const float *panel, int32_t stride, int32_t width, float *front);
	// front: own rows y -> x = L^-T (y - below^T front_below).
	void (*solve_backward)(const float *panel, int32_t stride, int32_t width, float *front);
	// Of an inverted panel: y = W x and y = W^T x. Both vectors have the panel's own rows, padded; x is 0 beyond
	// `width`.
	void (*multiply)(const float *panel, int32_t stride, int32_t width, const float *x, float *y);
	void (*multiply_transposed)(const float *panel, int32_t stride, int32_t width, const float *x, float *y);
} FemDenseKernels;

// The kernels of a level, or of the best lower level in this build.
const FemDenseKernels *fem_dense_kernels(FemSimdLevel level);

extern const FemDenseKernels fem_dense_kernels_scalar;
extern const FemDenseKernels fem_dense_kernels_sse2;
#ifndef FEM_NO_AVX2
extern const FemDenseKernels fem_dense_kernels_avx2;
#endif

#endif
