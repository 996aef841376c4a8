// Right-looking supernodal Cholesky. Columns with nearly the same rows form a supernode, stored as one dense panel. For
// each supernode, children before parents: factor its panel, form the square of its rows below once as a dense product,
// and subtract each part of that from the panel of the ancestor it belongs to. The places are known from the symbolic
// factorization as runs of consecutive rows. Unlike in the multifrontal method every update moves once, straight to
// where it ends, and there is no stack of update matrices. Ng and Peyton, "Block sparse Cholesky algorithms on advanced
// uniprocessor computers" (1993).
//
// A small matrix is one panel, and its L is inverted: a solve is then two products, whose sums do not wait for one
// another as the tiles of a triangular solve do.
#include "dynamics/sparse_cholesky.h"

#include "base/assert.h"
#include "base/memory.h"
#include "dynamics/cholesky_symbolic.h"
#include "dynamics/dense_kernels.h"

#include <string.h>

// A single panel up to here is inverted; chosen: 96^2 floats are 36 KB, about a first-level cache.
#define INVERTED_COLUMNS_MAX 96

// Counts of rows and columns are in floats unless they say nodes.
typedef struct Supernode {
	size_t panel;                     // offset into values
	int32_t stride;                   // from column to column: own_rows + rows below, padded
	int32_t width;                    // columns
	int32_t own_rows;                 // width, padded
	int32_t below;                    // rows below, not padded
	int32_t slot;                     // own rows in the vector of a solve
	int32_t row_start, row_end;       // nodes below: into row_slot
	int32_t update_start, update_end; // into updates
} Supernode;

// Columns [first, last) of a supernode's product belong to the panel of `target`.
typedef struct Update {
	int32_t target;
	int32_t first, last;
	int32_t run_start, run_end; // into runs
} Update;

// Where the column of a node is.
typedef struct NodePlace {
	int32_t supernode;
	int32_t column; // first column within the panel
	int32_t slot;   // in the vector of a solve
	int32_t pinned;
} NodePlace;

struct FemCholesky {
	const FemDenseKernels *kernels;
	int32_t node_count, supernode_count, entry_count, row_count, update_count, run_count;
	int32_t block_size;
	bool is_inverted; // the panel holds L^-1
	Supernode *supernodes;
	NodePlace *places;           // per node
	int32_t *row_start, *column; // the graph
	int32_t *entry_row;          // per entry: row of the neighbour in the node's panel, -1 when it is eliminated before
	int32_t *row_slot;           // per node below a supernode: its place in the vector of a solve
	Update *updates;
	FemRowRun *runs;
	float *values;  // the panels
	float *product; // the largest square of rows below
	size_t value_count, product_count;
	int32_t slot_count, max_stride;
};

static int32_t pad(int32_t count) {
	return (count + FEM_PANEL_TILE - 1) / FEM_PANEL_TILE * FEM_PANEL_TILE;
}

// Symbolic part.

static void plan_panels(FemCholesky *f, const FemCholeskySymbolic *s) {
	for (int32_t i = 0; i < f->supernode_count; i++) {
		Supernode *node = &f->supernodes[i];
		node->width = (s->first[i + 1] - s->first[i]) * f->block_size;
		node->own_rows = pad(node->width);
		node->row_start = s->row_start[i];
		node->row_end = s->row_start[i + 1];
		node->below = (node->row_end - node->row_start) * f->block_size;
		node->stride = node->own_rows + pad(node->below);
		// Columns a multiple of 256 bytes apart fall into few sets of the first level cache.
		if (node->stride % 64 == 0 && node->below > 0)
			node->stride += FEM_PANEL_TILE;
		node->panel = f->value_count;
		node->slot = f->slot_count;
		f->value_count += (size_t)node->stride * node->width;
		f->slot_count += node->own_rows;
		size_t product = (size_t)(node->stride - node->own_rows) * node->below;
		f->product_count = product > f->product_count ? product : f->product_count;
		f->max_stride = node->stride > f->max_stride ? node->stride : f->max_stride;
	}
}

static void plan_nodes(FemCholesky *f, const FemCholeskySymbolic *s) {
	for (int32_t i = 0; i < f->node_count; i++) {
		NodePlace *place = &f->places[i];
		int32_t position = s->position_of[i];
		place->supernode = s->supernode_of[position];
		place->column = (position - s->first[place->supernode]) * f->block_size;
		place->slot = f->supernodes[place->supernode].slot + place->column;
	}
	for (int32_t i = 0; i < f->row_count; i++)
		f->row_slot[i] = f->places[s->node_at[s->row[i]]].slot;
}

// Row of a position in the panel of a supernode that has it; *hint is where the search in the sorted rows begins.
static int32_t panel_row(
	const FemCholesky *f, const FemCholeskySymbolic *s, int32_t supernode, int32_t position, int32_t *hint) {
	if (s->supernode_of[position] == supernode)
		return (position - s->first[supernode]) * f->block_size;
	while (s->row[*hint] < position)
		++*hint;
	FEM_ASSERT(*hint < s->row_start[supernode + 1] && s->row[*hint] == position); // the supernode has it
	return f->supernodes[supernode].own_rows + (*hint - s->row_start[supernode]) * f->block_size;
}

static void plan_entries(FemCholesky *f, const FemCholeskySymbolic *s) {
	for (int32_t i = 0; i < f->node_count; i++) {
		int32_t supernode = f->places[i].supernode;
		for (int32_t e = f->row_start[i]; e < f->row_start[i + 1]; e++) {
			int32_t position = s->position_of[f->column[e]], hint = s->row_start[supernode];
			f->entry_row[e] = position < s->position_of[i] ? -1 : panel_row(f, s, supernode, position, &hint);
		}
	}
}

// Appends the rows [first, end) of a supernode as seen from the panel of `target`. Counts only while runs is null.
static void plan_runs(
	FemCholesky *f, const FemCholeskySymbolic *s, int32_t start, int32_t first, int32_t end, int32_t target) {
	int32_t hint = s->row_start[target], next_row = -1;
	for (int32_t q = first; q < end; q++) {
		int32_t row = panel_row(f, s, target, s->row[q], &hint);
		if (row != next_row) {
			if (f->runs)
				f->runs[f->run_count] = (FemRowRun){.source = (q - start) * f->block_size, .target = row};
			f->run_count++;
		}
		if (f->runs)
			f->runs[f->run_count - 1].length += f->block_size;
		next_row = row + f->block_size;
	}
}

static void plan_updates(FemCholesky *f, const FemCholeskySymbolic *s) {
	f->update_count = f->run_count = 0;
	for (int32_t i = 0; i < f->supernode_count; i++) {
		Supernode *node = &f->supernodes[i];
		node->update_start = f->update_count;
		for (int32_t q = node->row_start, last; q < node->row_end; q = last) {
			int32_t target = s->supernode_of[s->row[q]], run_start = f->run_count;
			FEM_ASSERT(target > i); // children come before parents
			for (last = q; last < node->row_end && s->supernode_of[s->row[last]] == target;)
				last++;
			plan_runs(f, s, node->row_start, q, node->row_end, target);
			if (f->updates)
				f->updates[f->update_count] = (Update){target, (q - node->row_start) * f->block_size,
					(last - node->row_start) * f->block_size, run_start, f->run_count};
			f->update_count++;
		}
		node->update_end = f->update_count;
	}
}

// Arrays get one element more than they need: an allocation of nothing would look like a failed one.
#define ALLOCATE(array, count) ((array) = fem_alloc(sizeof *(array) * ((size_t)(count) + 1)))
#define ALLOCATE_UNSET(array, count) ((array) = fem_alloc_unset(sizeof *(array) * ((size_t)(count) + 1)))
#define FREE(array, count) fem_free((array), sizeof *(array) * ((size_t)(count) + 1))

static bool plan(FemCholesky *f, const FemCholeskySymbolic *s, const int32_t *row_start, const int32_t *column) {
	if (!ALLOCATE(f->supernodes, f->supernode_count) || !ALLOCATE(f->places, f->node_count) ||
		!ALLOCATE(f->row_start, f->node_count) || !ALLOCATE(f->column, f->entry_count) ||
		!ALLOCATE(f->entry_row, f->entry_count) || !ALLOCATE(f->row_slot, f->row_count))
		return false;
	memcpy(f->row_start, row_start, sizeof *row_start * ((size_t)f->node_count + 1));
	if (f->entry_count > 0)
		memcpy(f->column, column, sizeof *column * (size_t)f->entry_count);
	plan_panels(f, s);
	plan_nodes(f, s);
	plan_entries(f, s);
	plan_updates(f, s);
	if (!ALLOCATE(f->updates, f->update_count) || !ALLOCATE(f->runs, f->run_count))
		return false;
	plan_updates(f, s);
	return ALLOCATE_UNSET(f->values, f->value_count) && ALLOCATE_UNSET(f->product, f->product_count);
}

FemCholesky *fem_cholesky_create(int32_t node_count, const int32_t *row_start, const int32_t *column,
	const int32_t *order, int32_t block_size, double max_flops, double *out_flops) {
	static const int32_t no_rows[1] = {0};
	*out_flops = 0.0;
	if (node_count < 0 || (block_size != 3 && block_size != 6))
		return NULL;
	const int32_t *starts = node_count > 0 ? row_start : no_rows;
	FemCholeskySymbolic symbolic;
	if (!fem_cholesky_symbolic_create(&symbolic, node_count, starts, column, order, block_size, max_flops, out_flops))
		return NULL;
	FemCholesky *factor = fem_alloc(sizeof *factor);
	if (factor) {
		factor->kernels = fem_dense_kernels(fem_simd_level());
		factor->node_count = node_count;
		factor->supernode_count = symbolic.supernode_count;
		factor->entry_count = starts[node_count];
		factor->row_count = symbolic.row_start[symbolic.supernode_count];
		factor->block_size = block_size;
		factor->is_inverted = symbolic.supernode_count == 1 && node_count * block_size <= INVERTED_COLUMNS_MAX;
		if (!plan(factor, &symbolic, starts, column)) {
			fem_cholesky_destroy(factor);
			factor = NULL;
		}
	}
	fem_cholesky_symbolic_destroy(&symbolic);
	return factor;
}

void fem_cholesky_destroy(FemCholesky *factor) {
	if (!factor)
		return;
	FREE(factor->supernodes, factor->supernode_count);
	FREE(factor->places, factor->node_count);
	FREE(factor->row_start, factor->node_count);
	FREE(factor->column, factor->entry_count);
	FREE(factor->entry_row, factor->entry_count);
	FREE(factor->row_slot, factor->row_count);
	FREE(factor->updates, factor->update_count);
	FREE(factor->runs, factor->run_count);
	FREE(factor->values, factor->value_count);
	FREE(factor->product, factor->product_count);
	fem_free(factor, sizeof *factor);
}

size_t fem_cholesky_bytes(const FemCholesky *factor) {
	const FemCholesky *f = factor;
	size_t numbers = (size_t)f->node_count + 2 * (size_t)f->entry_count + (size_t)f->row_count;
	return sizeof *f + sizeof *f->supernodes * (size_t)f->supernode_count + sizeof *f->places * (size_t)f->node_count +
		sizeof(int32_t) * numbers + sizeof *f->updates * (size_t)f->update_count +
		sizeof *f->runs * (size_t)f->run_count + sizeof(float) * (f->value_count + f->product_count);
}

void fem_cholesky_use_level(FemCholesky *factor, FemSimdLevel level) {
	factor->kernels = fem_dense_kernels(level);
}

bool fem_cholesky_reads(const FemCholesky *factor, int32_t entry) {
	return factor->entry_row[entry] >= 0;
}

// Numeric part.

static inline __attribute__((always_inline)) void load_node(
	FemCholesky *f, int32_t i, const float *diagonal, const float *blocks, float shift, const int32_t b) {
	const Supernode *s = &f->supernodes[f->places[i].supernode];
	size_t stride = (size_t)s->stride;
	float *panel = f->values + s->panel + (size_t)f->places[i].column * stride;
	float *own = panel + f->places[i].column;
	if (f->places[i].pinned) {
		for (int32_t c = 0; c < b; c++)
			own[(size_t)c * stride + c] = 1.0f;
		return;
	}
	const float *from = diagonal + (size_t)i * (size_t)(b * b);
	for (int32_t c = 0; c < b; c++)
		for (int32_t r = c; r < b; r++)
			own[(size_t)c * stride + r] = r == c ? from[c * b + r] * (1.0f + shift) : from[c * b + r];
	for (int32_t e = f->row_start[i]; e < f->row_start[i + 1]; e++) {
		if (f->entry_row[e] < 0 || f->places[f->column[e]].pinned)
			continue;
		// The entry is row i, column neighbour; the panel wants its transpose.
		const float *block = blocks + (size_t)e * (size_t)(b * b);
		float *to = panel + f->entry_row[e];
		FEM_ASSERT(f->entry_row[e] + b <= s->stride);
		for (int32_t c = 0; c < b; c++)
			for (int32_t r = 0; r < b; r++)
				to[(size_t)c * stride + r] = block[r * b + c];
	}
}

static void load_matrix(FemCholesky *f, const float *diagonal, const float *blocks, const uint8_t *fixed, float shift) {
	memset(f->values, 0, sizeof *f->values * f->value_count);
	for (int32_t i = 0; i < f->node_count; i++)
		f->places[i].pinned = fixed && fixed[i];
	if (f->block_size == 3)
		for (int32_t i = 0; i < f->node_count; i++)
			load_node(f, i, diagonal, blocks, shift, 3);
	else
		for (int32_t i = 0; i < f->node_count; i++)
			load_node(f, i, diagonal, blocks, shift, 6);
}

static void update_ancestors(FemCholesky *f, const Supernode *s) {
	int32_t product_stride = s->stride - s->own_rows;
	f->kernels->square(f->product, product_stride, f->values + s->panel + s->own_rows, s->stride, s->below, s->width);
	for (int32_t i = s->update_start; i < s->update_end; i++) {
		const Update *update = &f->updates[i];
		const Supernode *target = &f->supernodes[update->target];
		f->kernels->subtract(f->values + target->panel, target->stride, f->product, product_stride,
			f->runs + update->run_start, f->runs + update->run_end, update->first, update->last);
	}
}

bool fem_cholesky_factor(
	FemCholesky *factor, const float *diagonal, const float *blocks, const uint8_t *fixed, float shift) {
	FEM_ASSERT(factor->values && (factor->block_size == 3 || factor->block_size == 6) && shift >= 0.0f);
	load_matrix(factor, diagonal, blocks, fixed, shift);
	for (int32_t i = 0; i < factor->supernode_count; i++) {
		const Supernode *s = &factor->supernodes[i];
		if (!factor->kernels->factor_panel(factor->values + s->panel, s->stride, s->width))
			return false;
		if (s->below > 0)
			update_ancestors(factor, s);
	}
	const Supernode *s = factor->supernodes;
	return !factor->is_inverted || factor->kernels->invert_panel(factor->values + s->panel, s->stride, s->width);
}

// Solve. The vector is held in supernode order with each supernode's rows padded; `front` is one supernode's rows.

size_t fem_cholesky_workspace(const FemCholesky *factor) {
	return (size_t)factor->slot_count + (size_t)factor->max_stride + 2 * FEM_ALIGNMENT / sizeof(float);
}

// Counts are multiples of a tile and mostly one or two: a loop beats a call.
static inline void copy_tiles(float *to, const float *from, int32_t count) {
	for (int32_t i = 0; i < count; i += FEM_PANEL_TILE)
		memcpy(to + i, from + i, sizeof *to * FEM_PANEL_TILE);
}

static inline void clear_tiles(float *to, int32_t count) {
	for (int32_t i = 0; i < count; i += FEM_PANEL_TILE)
		memset(to + i, 0, sizeof *to * FEM_PANEL_TILE);
}

static inline __attribute__((always_inline)) void solve_supernodes(
	const FemCholesky *f, float *x, float *front, const int32_t b) {
	for (int32_t i = 0; i < f->supernode_count; i++) {
		const Supernode *s = &f->supernodes[i];
		const float *below = front + s->own_rows;
		copy_tiles(front, x + s->slot, s->own_rows);
		clear_tiles(front + s->own_rows, s->stride - s->own_rows);
		f->kernels->solve_forward(f->values + s->panel, s->stride, s->width, front);
		copy_tiles(x + s->slot, front, s->own_rows);
		for (int32_t q = s->row_start; q < s->row_end; q++, below += b)
			for (int32_t c = 0; c < b; c++)
				x[f->row_slot[q] + c] += below[c];
	}
	for (int32_t i = f->supernode_count - 1; i >= 0; i--) {
		const Supernode *s = &f->supernodes[i];
		float *below = front + s->own_rows;
		clear_tiles(below, s->stride - s->own_rows);
		copy_tiles(front, x + s->slot, s->own_rows);
		for (int32_t q = s->row_start; q < s->row_end; q++, below += b)
			for (int32_t c = 0; c < b; c++)
				below[c] = x[f->row_slot[q] + c];
		f->kernels->solve_backward(f->values + s->panel, s->stride, s->width, front);
		copy_tiles(x + s->slot, front, s->own_rows);
	}
}

static void solve_inverted(const FemCholesky *f, float *x, float *front) {
	const Supernode *s = f->supernodes;
	const float *panel = f->values + s->panel;
	f->kernels->multiply(panel, s->stride, s->width, x, front);
	f->kernels->multiply_transposed(panel, s->stride, s->width, front, x);
}

static float *align(float *pointer) {
	return (float *)fem_align_up((uintptr_t)pointer);
}

static inline __attribute__((always_inline)) void solve(
	const FemCholesky *f, const float *r, float *z, int32_t stride, float *workspace, const int32_t b) {
	float *front = align(workspace), *x = align(front + f->max_stride);
	clear_tiles(x, f->slot_count);
	for (int32_t i = 0; i < f->node_count; i++)
		if (!f->places[i].pinned)
			memcpy(x + f->places[i].slot, r + (size_t)i * (size_t)stride, sizeof *x * (size_t)b);
	if (f->is_inverted)
		solve_inverted(f, x, front);
	else
		solve_supernodes(f, x, front, b);
	for (int32_t i = 0; i < f->node_count; i++) {
		float *to = z + (size_t)i * (size_t)stride;
		memcpy(to, x + f->places[i].slot, sizeof *x * (size_t)b);
		for (int32_t c = b; c < stride; c++)
			to[c] = 0.0f;
	}
}

void fem_cholesky_solve(const FemCholesky *factor, const float *r, float *z, int32_t stride, float *workspace) {
	if (factor->block_size == 3)
		solve(factor, r, z, stride, workspace, 3);
	else
		solve(factor, r, z, stride, workspace, 6);
}

// Snapshots. The values hold the whole factor; which nodes were pinned belongs to it.

size_t fem_cholesky_state_size(const FemCholesky *factor) {
	return factor->value_count * sizeof(float) + (size_t)factor->node_count;
}

void fem_cholesky_state_write(const FemCholesky *factor, void *out) {
	char *to = out;
	memcpy(to, factor->values, factor->value_count * sizeof(float));
	to += factor->value_count * sizeof(float);
	for (int32_t i = 0; i < factor->node_count; i++)
		to[i] = (char)(factor->places[i].pinned != 0);
}

void fem_cholesky_state_read(FemCholesky *factor, const void *data) {
	const char *from = data;
	memcpy(factor->values, from, factor->value_count * sizeof(float));
	from += factor->value_count * sizeof(float);
	for (int32_t i = 0; i < factor->node_count; i++)
		factor->places[i].pinned = from[i];
}
