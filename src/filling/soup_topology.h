// How the triangles of a cleaned soup hang together: edges, components, orientation.
#ifndef FEM_FILLING_SOUP_TOPOLOGY_H
#define FEM_FILLING_SOUP_TOPOLOGY_H

#include "geometry/triangle_soup.h"

typedef struct FemSoupEdges {
	int32_t open;         // edges of one triangle
	int32_t non_manifold; // edges of three and more
	int32_t flipped;      // triangles flipped to agree with their neighbours (by fem_soup_orient)
} FemSoupEdges;

// Fills triangles->components: triangles joined by welded vertices, numbered by their first triangle.
FemResult fem_soup_components(FemTriangles *triangles);

// Flips triangles so that neighbours across two-sided edges agree, each component by the majority of its area;
// then closed components that are inside out and lie in no other are flipped as a whole, with all that lies in their
// boxes (a cavity stays a cavity). Needs components. closed_of_component (may be null): [component], 1 when it has no
// open edge.
FemResult fem_soup_orient(FemTriangles *triangles, FemSoupEdges *out_edges, uint8_t *closed_of_component);

int32_t fem_union_find(int32_t *parents, int32_t item);
void fem_union_join(int32_t *parents, int32_t a, int32_t b); // the lower root stays

#endif
