// Does a tet mesh lie where the soup does?
#ifndef FEM_FILLING_COVERAGE_H
#define FEM_FILLING_COVERAGE_H

#include "filling/tet_list.h"
#include "geometry/triangle_soup.h"

// Up to `samples` points, spread evenly over the soup's area; their number.
int32_t fem_coverage_spread(const FemTriangles *triangles, FemVec3 *out, int32_t samples);

// The farthest that any of about `samples` points spread over the soup's area lies from the tets (0 within them), in
// the soup's unit space; -1 without memory.
double fem_coverage_gap(const FemTriangles *triangles, const FemTetList *list, int32_t samples);

// The same of the soup's vertices, at most `most` of them.
double fem_coverage_of_vertices(const FemTriangles *triangles, const FemTetList *list, int32_t most);

// The vertices, of at most `most`, that lie farther than `limit` from the tets, up to `capacity` of them; their number,
// -1 without memory. out_gap: the farthest of all. The list has tets.
int32_t fem_coverage_far_vertices(const FemTriangles *triangles, const FemTetList *list, int32_t most, double limit,
	FemVec3d *out, int32_t capacity, double *out_gap);

#endif
