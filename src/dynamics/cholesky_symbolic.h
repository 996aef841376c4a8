// Symbolic factorization for sparse_cholesky.c: elimination tree, column counts, supernodes and their rows.
#ifndef FEM_CHOLESKY_SYMBOLIC_H
#define FEM_CHOLESKY_SYMBOLIC_H

#include "base/assert.h"

#include <stdbool.h>
#include <stdint.h>

// Nodes are numbered by position: the caller's order, rearranged within what the elimination tree allows so that each
// supernode is a range of positions.
typedef struct FemCholeskySymbolic {
	int32_t node_count;
	int32_t supernode_count;
	int32_t *node_at;      // [node_count] position -> node
	int32_t *position_of;  // [node_count] node -> position
	int32_t *supernode_of; // [node_count] position -> supernode
	int32_t *first;        // [supernode_count + 1] first position of each supernode
	int32_t *row_start;    // [supernode_count + 1] into row
	int32_t *row;          // positions below each supernode, ascending
	int32_t row_capacity;
} FemCholeskySymbolic;

// See fem_cholesky_create(). False leaves nothing to destroy.
FEM_MUST_USE bool fem_cholesky_symbolic_create(FemCholeskySymbolic *symbolic, int32_t node_count,
	const int32_t *row_start, const int32_t *column, const int32_t *order, int32_t block_size, double max_flops,
	double *out_flops);
void fem_cholesky_symbolic_destroy(FemCholeskySymbolic *symbolic);

#endif
