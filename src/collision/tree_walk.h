// Walking the nodes of an Opcode tree.
#ifndef FEM_COLLISION_TREE_WALK_H
#define FEM_COLLISION_TREE_WALK_H

#include "collision/surface_trees.h"

// Nodes that wait during a walk: one for each level. Opcode splits at the mean of the centres, or in halves when that
// fails: the range of floats ends the first after a few hundred levels at the very worst.
#define FEM_WALK_STACK 512

static inline Float4 node_center4(const FemTreeNode *node) {
	return load4(node->center);
}

// The fourth lane is half of an address: never look at it.
static inline Float4 node_extent4(const FemTreeNode *node) {
	return load4(node->extent);
}

static inline Float4 abs4(Float4 a) {
	return max4(a, -a);
}

#define FEM_WALK_ROUNDING 4e-7f // of a coordinate: three roundings of a float, and one to spare

// What floats may have lost between a box's corners and its centre and extent: without it the flat face of a crate that
// stands on the grid falls out of its own box.
static inline Float4 rounding4(Float4 center, Float4 extent) {
	return (abs4(center) + extent) * all4(FEM_WALK_ROUNDING);
}

static inline Box4 node_box4(const FemTreeNode *node) {
	Float4 center = {node->center[0], node->center[1], node->center[2], 0.0f};
	Float4 extent = {node->extent[0], node->extent[1], node->extent[2], 0.0f};
	extent += rounding4(center, extent);
	return (Box4){center - extent, center + extent};
}

static inline bool node_meets_box4(const FemTreeNode *node, Float4 center, Float4 extent) {
	return (not_above4(abs4(node_center4(node) - center), node_extent4(node) + extent) & 7) == 7;
}

// The triangles below nodes that meet a box, one after the other.
typedef struct TreeWalk {
	uintptr_t stack[FEM_WALK_STACK];
	int32_t depth, first_triangle;
	Float4 center, extent;
} TreeWalk;

static inline void walk_start(TreeWalk *walk, const FemSurfaceTree *tree, Box4 box) {
	walk->center = (box.min + box.max) * all4(0.5f);
	walk->extent = (box.max - box.min) * all4(0.5f);
	walk->extent += rounding4(walk->center, walk->extent);
	walk->first_triangle = tree->triangles.begin;
	walk->stack[0] = (uintptr_t)fem_triangle_tree_root(tree->tree);
	walk->depth = 1;
}

// The body's number of the next triangle, whose own box may lie apart; -1 at the end.
static inline int32_t walk_next(TreeWalk *walk) {
	while (walk->depth > 0) {
		uintptr_t child = walk->stack[--walk->depth];
		if (fem_tree_is_triangle(child))
			return walk->first_triangle + fem_tree_triangle(child);
		const FemTreeNode *node = fem_tree_node(child);
		if (walk->depth + 2 > FEM_WALK_STACK || !node_meets_box4(node, walk->center, walk->extent))
			continue;
		walk->stack[walk->depth++] = node->child[1];
		walk->stack[walk->depth++] = node->child[0];
	}
	return -1;
}

#endif
