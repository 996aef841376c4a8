// Cutting graphs into parts and ordering them for elimination. The only files that know METIS are this one's .c.
//
// A graph is given as CSR: the neighbours of node i are column[row_start[i]] .. column[row_start[i + 1] - 1]. It must
// be symmetric, without self loops and without repeated neighbours; anything else is answered with a FemResult other
// than FEM_OK (0) and the outputs are left alone. The order of a node's neighbours does not change the result.
//
// Calls are served one at a time (METIS keeps global state) and take milliseconds: this is work for creation and
// baking, never for a step. The same graph gives the same answer in every call.
#ifndef FEM_ISLANDS_METIS_PARTITION_H
#define FEM_ISLANDS_METIS_PARTITION_H

#include <stdint.h>

// Splits the nodes into `part_count` parts of nearly equal size with few edges between them; out_part[i] is the part of
// node i. Every part gets a node as long as there are nodes enough.
int fem_metis_partition(
	int32_t node_count, const int32_t *row_start, const int32_t *column, int32_t part_count, int32_t *out_part);

// A fill-reducing order (nested dissection): out_order[k] is the node to eliminate k-th, out_position its inverse.
// Weights (1 or more, null for all equal) say how many unknowns a node stands for.
int fem_metis_order(int32_t node_count, const int32_t *row_start, const int32_t *column,
	const int32_t *node_weight_or_null, int32_t *out_order, int32_t *out_position);

#endif
