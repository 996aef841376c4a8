// What the vertex shader knows of all bodies' nodes: two texture arrays, shared by all bodies.
//
// One atlas for all was measured three times faster than a texture for each body. Positions are relative to the body's
// origin, which the instance's transform carries; a float is then exact enough wherever the body is.
#ifndef NODE_TEXTURES_H
#define NODE_TEXTURES_H

#include "drawing/texel_atlas.h"

// Planes of node_positions, a texel a node. The shader knows these numbers.
typedef enum NodePlane {
	PLANE_POSITIONS = 0, // (x, y, z, 1)
	PLANE_POSITIONS_2,   // the same: a moving body uses both in turn, so that the frame before can still be read
	PLANE_REST,          // (x, y, z, 1) at rest, in the mesh's own space
	PLANE_COUNT,
} NodePlane;

extern TexelAtlas node_positions;
extern TexelAtlas node_stencils; // STENCIL_SIZE texels a node, see node_stencils.h

// Once for each drawn frame.
void node_textures_upload(void);
void node_textures_free(void);

#endif
