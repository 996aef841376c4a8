// The edges of a list of triangles, each with the sides of triangles that lie along it.
#ifndef FEM_FILLING_EDGE_TABLE_H
#define FEM_FILLING_EDGE_TABLE_H

#include "base/assert.h"
#include "geometry/triangle_soup.h"

typedef struct FemEdgeTable {
	int32_t edge_count, side_count,
		non_manifold;    // non_manifold: edges of more than two sides, or of two that run alike
	int32_t (*sides)[2]; // [edge]: 3 * triangle + corner where the side begins; -1: none
	int32_t (*ends)[2];  // [edge]: vertices, the lower one first
	int32_t *edge_of;    // [3 * triangle + corner]
} FemEdgeTable;

// False without memory. Of an edge of more than two sides the first two are kept.
FEM_MUST_USE bool fem_edge_table_create(FemEdgeTable *table, int32_t (*triangles)[3], int32_t count);
void fem_edge_table_free(FemEdgeTable *table);

double fem_edge_length(const FemEdgeTable *table, const FemTriangles *triangles, int32_t edge);

#endif
