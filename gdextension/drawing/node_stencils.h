// From which neighbours the shader learns how the surroundings of a node are deformed, for normals that are smooth
// across tets.
//
// A tet's gradient jumps at its faces. A node has one of its own, sum (x_j - x) (x) g_j over up to eight neighbours j,
// by least squares; it is exact wherever the deformation is affine. The shader blends those of a vertex's four nodes.
// The vectors g_j depend on the rest shape only, so nothing is sent while a body moves. The same sum on the main
// thread, sent as another texel a node, cost 25 ns a node and frame: mostly the way of the vectors through the caches.
#ifndef NODE_STENCILS_H
#define NODE_STENCILS_H

#include "drawing/tet_shape.h"

enum { STENCIL_SIZE = 8 }; // neighbours a node, as in fem_position.gdshaderinc; chosen

// STENCIL_SIZE texels a node: (g_j in 1/m, j), rest with g 0. now: the nodes of each tet, negative for removed ones,
// all below node_count. To be freed; null when memory is short.
float *node_stencils_make(const TetShape *shape, const int32_t *now, int32_t node_count);

// Whether one of `count` tets from the `first` on (counted round) is strained so much that its neighbours look bent.
// positions: 4 floats a node.
bool node_stencils_are_needed(const TetShape *shape, const int32_t *now, const float *positions, int32_t node_count,
	int32_t first, int32_t count);

#endif
