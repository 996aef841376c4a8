// Sparse Cholesky factor of a symmetric positive definite block matrix, kept for several steps as a preconditioner.
// Supernodal and right-looking; single precision, no pivoting. See sparse_cholesky.c for the method.
#ifndef FEM_SPARSE_CHOLESKY_H
#define FEM_SPARSE_CHOLESKY_H

#include "base/assert.h"
#include "base/simd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FemCholesky FemCholesky;

// Symbolic factorization. The node graph is in CSR form, rows sorted, both triangles, without the diagonal; order[k] is
// the node eliminated k-th (nested dissection); block_size is 3 or 6. *out_flops gets the multiplications and additions
// of one numeric factorization, a property of graph, order and block size alone. Null when they exceed max_flops, when
// memory fails or when the input is not a symmetric graph with a permutation (then *out_flops is 0). Keeps no pointer.
FEM_MUST_USE FemCholesky *fem_cholesky_create(int32_t node_count, const int32_t *row_start, const int32_t *column,
	const int32_t *order, int32_t block_size, double max_flops, double *out_flops);
void fem_cholesky_destroy(FemCholesky *factor);

// Numeric factorization; allocates nothing. diagonal: block_size^2 floats a node; blocks: block_size^2 floats per entry
// of `column`, element (r, c) of a block at [c * block_size + r]. Only one of each pair of blocks is read; of a
// diagonal block only the lower triangle. Diagonal entries are multiplied by 1 + shift. A node with fixed[i] != 0 is
// pinned: its row and column are left out and a solve gives 0 there; fixed may be null. False when a pivot is not
// positive and finite: the factor must not be used then.
FEM_MUST_USE bool fem_cholesky_factor(
	FemCholesky *factor, const float *diagonal, const float *blocks, const uint8_t *fixed, float shift);

// Whether it reads the block of an entry of `column`: of each pair one.
bool fem_cholesky_reads(const FemCholesky *factor, int32_t entry);

// Floats of scratch that one solve needs.
size_t fem_cholesky_workspace(const FemCholesky *factor);

// z = A^-1 r, with `stride` >= block_size floats a node; beyond block_size nothing is read from r and z is set to 0.
// z may be r. The factor is only read, so several threads can solve at once, each with its own workspace.
void fem_cholesky_solve(const FemCholesky *factor, const float *r, float *z, int32_t stride, float *workspace);

// Place of `column` in a row of such a graph that has it.
static inline int32_t fem_graph_entry(const int32_t *row_start, const int32_t *columns, int32_t row, int32_t column) {
	int32_t low = row_start[row], high = row_start[row + 1];
	while (low + 1 < high) {
		int32_t middle = (low + high) / 2;
		if (columns[middle] <= column)
			low = middle;
		else
			high = middle;
	}
	return low;
}

// Bytes held, for memory reports.
size_t fem_cholesky_bytes(const FemCholesky *factor);

// The numbers of the last factorization, for snapshots: a factor of the same pattern that reads them solves bitwise
// alike.
size_t fem_cholesky_state_size(const FemCholesky *factor);
void fem_cholesky_state_write(const FemCholesky *factor, void *out);
void fem_cholesky_state_read(FemCholesky *factor, const void *data);

// For tests: kernels of another level than fem_simd_level(). The processor must have it.
void fem_cholesky_use_level(FemCholesky *factor, FemSimdLevel level);

#endif
