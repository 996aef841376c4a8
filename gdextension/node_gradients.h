// How the surroundings of each node are deformed, for normals that are smooth across tets.
//
// A tet's gradient jumps at its faces. The mean of the tets around a node, by rest volume, is one matrix a node, which
// the shader blends by the weights of a vertex; it is exact wherever the deformation is affine. As a sum over the node's
// neighbours, G = sum x_j (x) g_j, it costs 5 to 10 ns a neighbour, no pass over the tets.
#ifndef NODE_GRADIENTS_H
#define NODE_GRADIENTS_H

#include "tet_drawing.h"

typedef struct GradientTerm {
	float g[3]; // 1/m
	int32_t node;
} GradientTerm;

typedef struct NodeGradients {
	int32_t node_count;
	int32_t *begins; // [node_count + 1]
	GradientTerm *terms;
} NodeGradients;

// now: the nodes of each tet, negative for removed ones, all below node_count. False when memory is short.
bool node_gradients_create(NodeGradients *gradients, const TetShape *shape, const int32_t *now, int32_t node_count);
void node_gradients_free(NodeGradients *gradients);

// From positions of 4 floats a node, whose fourth becomes the ninth entry, and into texels of 4 floats: the shader's form
// (fem_unpack() of fem_position.gdshaderinc). Only directions matter, so the body's scale is divided out: pass 1 / scale.
void node_gradients_write(const NodeGradients *gradients, float *positions, float *texels, float inv_scale);

// Whether one of `count` tets from the `first` on (counted round) is strained so much that its neighbours must look bent.
bool node_gradients_are_needed(const TetShape *shape, const int32_t *now, const float *positions, int32_t node_count,
	int32_t first, int32_t count);

#endif
