// Trees over triangle meshes, by Opcode: a C face on the engine's one C++ file.
//
// The trees are Opcode's no-leaf, unquantized ones, the only kind that can be refitted: build costs 0.4-0.8 us a
// triangle and allocates, refit some 6 ns a triangle and does not. When vertices move, refit; when triangles change,
// build anew. One tree for each METIS part of a surface keeps a fracture's rebuild small.
//
// Queries are walks over the nodes (fem_triangle_tree_root, tree_walk.h), by any number of threads at once; refitting
// needs the tree alone.
#ifndef FEM_COLLISION_OPCODE_BRIDGE_H
#define FEM_COLLISION_OPCODE_BRIDGE_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FemTriangleTree FemTriangleTree;

// Vertices are x, y, z every `vertex_stride_floats` (3 or more) floats; triangles are 3 vertex indices each. Both
// arrays stay the caller's, are read by every later call, and must live as long as the tree. Null for bad input or no
// memory.
FEM_MUST_USE FemTriangleTree *fem_triangle_tree_create(
	const float *vertices, int32_t vertex_stride_floats, const int32_t *triangles, int32_t triangle_count);
void fem_triangle_tree_destroy(FemTriangleTree *tree);

// Brings the boxes up to date after vertices moved. The array may itself have moved: give where it is now.
void fem_triangle_tree_refit(FemTriangleTree *tree, const float *vertices);

// The same triangles under new vertex numbers, in the same order, at another place in memory. Refit afterwards. False,
// and nothing is changed, for a tree over a single triangle.
FEM_MUST_USE bool fem_triangle_tree_rename(FemTriangleTree *tree, const int32_t *triangles);

// A node as Opcode keeps it, for walks of our own. A child is a triangle or another node of the same tree. A tree over
// a single triangle holds it twice, as triangles 0 and 1.
typedef struct FemTreeNode {
	float center[3], extent[3]; // m; the box reaches from center - extent to center + extent
	uintptr_t child[2];         // triangle * 2 + 1, or the address of a node
} FemTreeNode;

// What a refit (tree_refit.c) needs of a tree.
typedef struct FemTreeParts {
	FemTreeNode *nodes; // [node_count]: the root first, children behind their parents
	int32_t node_count;
	const int32_t *triangles; // 3 vertices each
	int32_t vertex_stride_floats;
} FemTreeParts;

FemTreeParts fem_triangle_tree_move(FemTriangleTree *tree, const float *vertices); // to where vertices are now

// Valid until the tree is destroyed; the boxes change with every refit.
const FemTreeNode *fem_triangle_tree_root(const FemTriangleTree *tree);

static inline bool fem_tree_is_triangle(uintptr_t child) {
	return (child & 1) != 0;
}

static inline int32_t fem_tree_triangle(uintptr_t child) {
	return (int32_t)(child >> 1);
}

static inline const FemTreeNode *fem_tree_node(uintptr_t child) {
	return (const FemTreeNode *)child;
}

#ifdef __cplusplus
}
#endif

#endif
