// Triangles as people hand them in: any soup. Checking, welding, cleaning, taking groups of triangles out.
//
// Cleaned triangles are in "unit space", the soup's box centred at 0 with a longest side of 1, so that tolerances are
// the same for a grain of 1e-6 m and a hull of 1e6 m.
#ifndef FEM_GEOMETRY_TRIANGLE_SOUP_H
#define FEM_GEOMETRY_TRIANGLE_SOUP_H

#include "base/vec.h"

typedef struct FemSoup {
	int32_t vertex_count;
	const FemVec3 *vertices; // m
	int32_t triangle_count;
	const int32_t *triangles; // 3 vertex indices each, counter-clockwise from outside where the author cared
} FemSoup;

// An affine map: user = origin + size * (axes^T * unit). The axes are a right-handed frame, row by row.
typedef struct FemUnitFrame {
	FemVec3d origin; // m
	double size;     // m
	double axes[3][3];
} FemUnitFrame;

FemVec3d fem_frame_to_user(const FemUnitFrame *frame, FemVec3d unit);
FemVec3d fem_frame_to_unit(const FemUnitFrame *frame, FemVec3d user);

typedef struct FemTriangles {
	int32_t vertex_count, triangle_count;
	int32_t vertex_capacity, triangle_capacity; // of the arrays, for freeing
	FemVec3 *vertices;                          // unit space
	int32_t (*triangles)[3];
	int32_t *components; // [triangle]: its connected component, by welded vertices; may be null
	int32_t component_count;
	FemUnitFrame frame;
	// What was found on the way.
	int32_t removed_degenerate, removed_duplicate;
} FemTriangles;

// FEM_OK, or the first fault of the soup in fem_last_error().
FemResult fem_soup_check(const FemSoup *soup);

// Welds vertices within weld_distance (m; 0 = 1e-6 of the size), drops triangles without area and second copies (also
// reversed ones: a two-sided sheet would cancel itself). vertex_map: [soup vertex] -> welded vertex, or null.
FemResult fem_soup_clean(const FemSoup *soup, float weld_distance, FemTriangles *out, int32_t *vertex_map);
void fem_triangles_free(FemTriangles *triangles);

// The triangles whose entry of `groups` is `group`, with their vertices, rotated into another frame.
FemResult fem_triangles_extract(
	const FemTriangles *all, const int32_t *groups, int32_t group, const FemUnitFrame *frame, FemTriangles *out);

FemVec3d fem_triangle_corner(const FemTriangles *triangles, int32_t triangle, int corner);
// Half the cross product of two edges: direction by the order of corners, length = area.
FemVec3d fem_triangle_area_vector(const FemTriangles *triangles, int32_t triangle);

#endif
