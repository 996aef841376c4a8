#include "dynamics/cholesky_symbolic.h"

#include "base/memory.h"

#define DENSE_COLUMNS_MAX 48 // a factor of so few columns costs less as one dense panel; chosen

// Working arrays of one analysis, each node_count long. Once the tree is postordered, "column" means position in that
// order.
typedef struct Analysis {
	int32_t count;
	const int32_t *row_start;
	const int32_t *neighbour;
	int32_t *node;         // column -> node
	int32_t *label;        // node -> column
	int32_t *parent;       // elimination tree, -1 at a root
	int32_t *column_count; // entries of the column of L, with the diagonal
	int32_t *top;          // last column of the supernode a column was merged into; itself if it is the last
	int32_t *width;        // columns of the supernode, valid at its top
	int32_t *scratch[4];
} Analysis;

enum { ANALYSIS_ARRAYS = 10 }; // of the record above

// Elimination tree with path compression: Liu, "The role of elimination trees in sparse factorization" (1990), 5.2.
static void find_tree(Analysis *a) {
	int32_t *ancestor = a->scratch[0];
	for (int32_t k = 0; k < a->count; k++) {
		a->parent[k] = ancestor[k] = -1;
		int32_t node = a->node[k];
		for (int32_t e = a->row_start[node]; e < a->row_start[node + 1]; e++)
			for (int32_t i = a->label[a->neighbour[e]], next; i >= 0 && i < k; i = next) {
				next = ancestor[i];
				ancestor[i] = k;
				if (next < 0)
					a->parent[i] = k;
			}
	}
}

// Depth first over the forest; rank[column] is its place in the postorder.
static void find_postorder(const Analysis *a, int32_t *rank) {
	int32_t *child = a->scratch[1], *sibling = a->scratch[2];
	int32_t next_rank = 0, roots = -1;
	for (int32_t k = 0; k < a->count; k++)
		child[k] = -1;
	for (int32_t k = a->count - 1; k >= 0; k--) {
		int32_t *list = a->parent[k] < 0 ? &roots : &child[a->parent[k]];
		sibling[k] = *list;
		*list = k;
	}
	for (int32_t root = roots; root >= 0; root = sibling[root])
		for (int32_t k = root;;) {
			if (child[k] >= 0) {
				int32_t down = child[k];
				child[k] = -1;
				k = down;
				continue;
			}
			rank[k] = next_rank++;
			if (k == root)
				break;
			k = sibling[k] >= 0 ? sibling[k] : a->parent[k];
		}
}

static void apply_postorder(Analysis *a, const int32_t *rank) {
	int32_t *old_parent = a->scratch[1], *old_node = a->scratch[2];
	for (int32_t k = 0; k < a->count; k++) {
		old_parent[k] = a->parent[k];
		old_node[k] = a->node[k];
	}
	for (int32_t k = 0; k < a->count; k++) {
		a->parent[rank[k]] = old_parent[k] < 0 ? -1 : rank[old_parent[k]];
		a->node[rank[k]] = old_node[k];
		a->label[old_node[k]] = rank[k];
	}
}

// Root of the tree of columns done so far that holds `column`, with path compression.
static int32_t find_root(int32_t *ancestor, int32_t column) {
	int32_t root = column;
	while (ancestor[root] != root)
		root = ancestor[root];
	for (int32_t next; column != root; column = next) {
		next = ancestor[column];
		ancestor[column] = root;
	}
	return root;
}

static void start_counts(Analysis *a, int32_t *first, int32_t *max_first, int32_t *previous_leaf, int32_t *ancestor) {
	for (int32_t k = 0; k < a->count; k++) {
		first[k] = max_first[k] = previous_leaf[k] = -1;
		ancestor[k] = k;
	}
	for (int32_t k = 0; k < a->count; k++) {
		a->column_count[k] = first[k] < 0;
		for (int32_t j = k; j >= 0 && first[j] < 0; j = a->parent[j])
			first[j] = k;
	}
}

// Column counts from the leaves of the row subtrees: Gilbert, Ng, Peyton, "An efficient algorithm to compute row and
// column counts for sparse Cholesky factorization" (1994). Nearly linear in the entries of the matrix, not of L.
static void count_columns(Analysis *a) {
	int32_t *first = a->scratch[0], *max_first = a->scratch[1], *previous_leaf = a->scratch[2],
			*ancestor = a->scratch[3];
	int32_t *delta = a->column_count;
	start_counts(a, first, max_first, previous_leaf, ancestor);
	for (int32_t j = 0; j < a->count; j++) {
		if (a->parent[j] >= 0)
			delta[a->parent[j]]--;
		int32_t node = a->node[j];
		for (int32_t e = a->row_start[node]; e < a->row_start[node + 1]; e++) {
			int32_t i = a->label[a->neighbour[e]];
			if (i <= j || first[j] <= max_first[i])
				continue;
			max_first[i] = first[j];
			delta[j]++;
			if (previous_leaf[i] >= 0)
				delta[find_root(ancestor, previous_leaf[i])]--;
			previous_leaf[i] = j;
		}
		if (a->parent[j] >= 0)
			ancestor[j] = a->parent[j];
	}
	for (int32_t j = 0; j < a->count; j++)
		if (a->parent[j] >= 0)
			delta[a->parent[j]] += delta[j];
}

// A column of length l (with its diagonal) costs l^2 multiplications and additions.
static double count_flops(const Analysis *a, int32_t block_size) {
	double flops = 0.0;
	for (int32_t k = 0; k < a->count; k++)
		for (int32_t c = 0; c < block_size; c++) {
			double length = (double)a->column_count[k] * block_size - c;
			flops += length * length;
		}
	return flops;
}

// Time of a supernode in cycles, for one factorization and a few solves with it. Tuned on an AVX2 machine with
// panes, bars and coarse grids; the optimum is flat, and this end of it needs the least memory.
static double supernode_cost(int32_t width, int32_t below, int32_t block_size) {
	// Measured, cycles.
	const double cycles_per_flop = 0.12, cycles_per_update = 1.0, cycles_per_tile = 300.0, cycles_per_supernode = 300.0;
	const double solves = 10.0, solve_cycles_per_entry = 0.8, solve_cycles_per_tile = 50.0, solve_cycles_per_row = 5.0;
	const double solve_cycles_per_supernode = 100.0; // as those above
	double w = (double)width * block_size, u = (double)below * block_size;
	double flops = w * (w * w / 3.0 + u * w + u * u);
	double tiles = (w + 7.0) / 8.0;
	double factor =
		flops * cycles_per_flop + u * u * cycles_per_update + tiles * cycles_per_tile + cycles_per_supernode;
	double solve = w * (u + 0.5 * w) * solve_cycles_per_entry + tiles * solve_cycles_per_tile +
		below * solve_cycles_per_row + solve_cycles_per_supernode;
	return factor + solves * solve;
}

// Rows below a supernode: those of its last column.
static int32_t rows_below(const Analysis *a, int32_t top) {
	return a->column_count[top] - 1;
}

static void merge(Analysis *a, int32_t top, int32_t parent_top) {
	a->top[top] = parent_top;
	a->width[parent_top] += a->width[top];
}

// Relaxed amalgamation after Ashcraft and Grimes, "The influence of relaxed supernode partitions on the multifrontal
// method" (1989): first merges that store no zero, then those that save time in spite of them. A supernode merged with
// any of its children has the parent's rows below.
static void amalgamate(Analysis *a, int32_t block_size) {
	for (int32_t k = 0; k < a->count; k++) {
		a->top[k] = k;
		a->width[k] = 1;
	}
	for (int32_t k = 0; k < a->count; k++) {
		int32_t p = a->parent[k];
		if (p >= 0 && a->width[p] == 1 && a->column_count[k] == a->column_count[p] + 1)
			merge(a, k, p);
	}
	for (int32_t k = 0; k < a->count; k++) {
		if (a->top[k] != k || a->parent[k] < 0)
			continue;
		int32_t p = find_root(a->top, a->parent[k]);
		double apart = supernode_cost(a->width[k], rows_below(a, k), block_size) +
			supernode_cost(a->width[p], rows_below(a, p), block_size);
		if (supernode_cost(a->width[k] + a->width[p], rows_below(a, p), block_size) < apart)
			merge(a, k, p);
	}
}

static bool allocate_result(FemCholeskySymbolic *s, const Analysis *a) {
	int64_t rows = 0;
	for (int32_t k = 0; k < a->count; k++)
		if (a->top[k] == k) {
			s->supernode_count++;
			rows += rows_below(a, k);
		}
	if (rows > INT32_MAX)
		return false;
	s->row_capacity = rows > 0 ? (int32_t)rows : 1;
	s->node_at = FEM_ALLOC_ARRAY(int32_t, s->node_count + 1);
	s->position_of = FEM_ALLOC_ARRAY(int32_t, s->node_count + 1);
	s->supernode_of = FEM_ALLOC_ARRAY(int32_t, s->node_count + 1);
	s->first = FEM_ALLOC_ARRAY(int32_t, s->supernode_count + 1);
	s->row_start = FEM_ALLOC_ARRAY(int32_t, s->supernode_count + 1);
	s->row = FEM_ALLOC_ARRAY(int32_t, s->row_capacity);
	return s->node_at && s->position_of && s->supernode_of && s->first && s->row_start && s->row;
}

// Numbers the supernodes by their last column (children before parents) and the nodes by supernode.
static void number_supernodes(FemCholeskySymbolic *s, Analysis *a) {
	int32_t *supernode_at = a->scratch[0], *next = a->scratch[1];
	int32_t index = 0;
	for (int32_t k = 0; k < a->count; k++)
		if (a->top[k] == k) {
			supernode_at[k] = index;
			next[index] = s->first[index];
			s->first[index + 1] = s->first[index] + a->width[k];
			s->row_start[index + 1] = s->row_start[index] + rows_below(a, k);
			index++;
		}
	for (int32_t k = 0; k < a->count; k++) {
		int32_t supernode = supernode_at[find_root(a->top, k)];
		int32_t position = next[supernode]++;
		s->node_at[position] = a->node[k];
		s->position_of[a->node[k]] = position;
		s->supernode_of[position] = supernode;
	}
}

// Row by row: row i is in every supernode on the tree paths from its neighbours up to itself, so the lists come out
// sorted.
static void find_rows(FemCholeskySymbolic *s, Analysis *a) {
	int32_t *parent = a->scratch[0], *seen = a->scratch[1], *next = a->scratch[2];
	for (int32_t k = 0, index = 0; k < a->count; k++)
		if (a->top[k] == k) {
			int32_t p = a->parent[k];
			parent[index] = p < 0 ? -1 : s->supernode_of[s->position_of[a->node[p]]];
			seen[index] = -1;
			next[index] = s->row_start[index];
			index++;
		}
	for (int32_t i = 0; i < s->node_count; i++) {
		int32_t node = s->node_at[i], own = s->supernode_of[i];
		for (int32_t e = a->row_start[node]; e < a->row_start[node + 1]; e++) {
			int32_t neighbour = s->supernode_of[s->position_of[a->neighbour[e]]];
			for (int32_t j = neighbour; j >= 0 && j < own && seen[j] != i; j = parent[j]) {
				seen[j] = i;
				s->row[next[j]++] = i;
			}
		}
	}
}

// The rest relies on sorted rows and a symmetric graph without loops: seen row by row, the entries that lead to a row
// come in the order in which that row lists them.
static bool graph_is_symmetric(const Analysis *a) {
	int32_t *next = a->scratch[0];
	if (a->row_start[0] != 0)
		return false;
	for (int32_t i = 0; i < a->count; i++) {
		if (a->row_start[i + 1] < a->row_start[i])
			return false;
		next[i] = a->row_start[i];
	}
	for (int32_t i = 0; i < a->count; i++)
		for (int32_t e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
			int32_t j = a->neighbour[e];
			if (j < 0 || j >= a->count || j == i || next[j] == a->row_start[j + 1] || a->neighbour[next[j]] != i)
				return false;
			next[j]++;
		}
	return true;
}

// The order must name every node once.
static bool take_order(Analysis *a, const int32_t *order) {
	for (int32_t i = 0; i < a->count; i++)
		a->label[i] = -1;
	for (int32_t k = 0; k < a->count; k++) {
		if (order[k] < 0 || order[k] >= a->count || a->label[order[k]] >= 0)
			return false;
		a->node[k] = order[k];
		a->label[order[k]] = k;
	}
	return true;
}

static bool analyse(FemCholeskySymbolic *s, Analysis *a, int32_t block_size, double max_flops, double *out_flops) {
	find_tree(a);
	find_postorder(a, a->scratch[0]);
	apply_postorder(a, a->scratch[0]);
	count_columns(a);
	*out_flops = count_flops(a, block_size);
	if (!(*out_flops <= max_flops))
		return false;
	amalgamate(a, block_size);
	if (!allocate_result(s, a))
		return false;
	number_supernodes(s, a);
	find_rows(s, a);
	return true;
}

// A graph so small that it is faster as one dense panel, in any order.
static bool make_dense(FemCholeskySymbolic *s, int32_t block_size, double max_flops, double *out_flops) {
	double columns = (double)s->node_count * block_size;
	*out_flops = columns * (columns + 1.0) * (2.0 * columns + 1.0) / 6.0; // see count_flops()
	if (!(*out_flops <= max_flops))
		return false;
	s->supernode_count = s->row_capacity = 1;
	s->node_at = FEM_ALLOC_ARRAY(int32_t, s->node_count + 1);
	s->position_of = FEM_ALLOC_ARRAY(int32_t, s->node_count + 1);
	s->supernode_of = FEM_ALLOC_ARRAY(int32_t, s->node_count + 1); // all 0
	s->first = FEM_ALLOC_ARRAY(int32_t, 2);
	s->row_start = FEM_ALLOC_ARRAY(int32_t, 2); // no rows below
	s->row = FEM_ALLOC_ARRAY(int32_t, 1);
	if (!s->node_at || !s->position_of || !s->supernode_of || !s->first || !s->row_start || !s->row)
		return false;
	for (int32_t i = 0; i < s->node_count; i++)
		s->node_at[i] = s->position_of[i] = i;
	s->first[1] = s->node_count;
	return true;
}

bool fem_cholesky_symbolic_create(FemCholeskySymbolic *symbolic, int32_t node_count, const int32_t *row_start,
	const int32_t *column, const int32_t *order, int32_t block_size, double max_flops, double *out_flops) {
	*symbolic = (FemCholeskySymbolic){.node_count = node_count};
	size_t memory_count = (size_t)(node_count + 1) * ANALYSIS_ARRAYS;
	int32_t *memory = FEM_ALLOC_ARRAY(int32_t, memory_count);
	if (!memory)
		return false;
	Analysis a = {.count = node_count, .row_start = row_start, .neighbour = column};
	int32_t **arrays[ANALYSIS_ARRAYS] = {&a.node, &a.label, &a.parent, &a.column_count, &a.top, &a.width, &a.scratch[0],
		&a.scratch[1], &a.scratch[2], &a.scratch[3]};
	for (int32_t i = 0; i < ANALYSIS_ARRAYS; i++)
		*arrays[i] = memory + (size_t)i * node_count;
	bool is_dense = node_count > 0 && node_count * block_size <= DENSE_COLUMNS_MAX;
	bool done = graph_is_symmetric(&a) && take_order(&a, order) &&
		(is_dense ? make_dense(symbolic, block_size, max_flops, out_flops)
				  : analyse(symbolic, &a, block_size, max_flops, out_flops));
	FEM_FREE_ARRAY(memory, memory_count);
	if (!done)
		fem_cholesky_symbolic_destroy(symbolic);
	return done;
}

void fem_cholesky_symbolic_destroy(FemCholeskySymbolic *symbolic) {
	FEM_FREE_ARRAY(symbolic->node_at, symbolic->node_count + 1);
	FEM_FREE_ARRAY(symbolic->position_of, symbolic->node_count + 1);
	FEM_FREE_ARRAY(symbolic->supernode_of, symbolic->node_count + 1);
	FEM_FREE_ARRAY(symbolic->first, symbolic->supernode_count + 1);
	FEM_FREE_ARRAY(symbolic->row_start, symbolic->supernode_count + 1);
	FEM_FREE_ARRAY(symbolic->row, symbolic->row_capacity);
	*symbolic = (FemCholeskySymbolic){0};
}
