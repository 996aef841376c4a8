// Boxes of an Opcode tree after its vertices moved: as Opcode's own refit, to the same bits, four floats at a time.
#include "collision/lanes4.h"
#include "collision/opcode_bridge.h"

#define KEPT_BOXES 256 // 8 kB: all nodes of most trees of a body; chosen

typedef struct TreeBoxes {
	Box4 boxes[KEPT_BOXES]; // of the first nodes, once they are made
} TreeBoxes;

// Vertices of three floats may end where their array ends.
static Float4 vertex_at(const float *vertices, int32_t stride, int32_t vertex) {
	const float *p = vertices + (size_t)stride * (size_t)vertex;
	return stride > 3 ? load4(p) : (Float4){p[0], p[1], p[2], 0.0f};
}

static Box4 triangle_box(const FemTreeParts *parts, const float *vertices, int32_t triangle) {
	const int32_t *corners = parts->triangles + 3 * (size_t)triangle;
	Float4 v[3];
	for (int i = 0; i < 3; i++)
		v[i] = vertex_at(vertices, parts->vertex_stride_floats, corners[i]);
	return triangle_box4(v);
}

// Of a triangle, or of a node that comes later in the array and is therefore made already. Those of the first nodes are
// kept beside the tree, since what was stored in threes is slow to load in fours.
static Box4 child_box(const FemTreeParts *parts, const float *vertices, const TreeBoxes *kept, uintptr_t child) {
	if (fem_tree_is_triangle(child))
		return triangle_box(parts, vertices, fem_tree_triangle(child));
	ptrdiff_t at = fem_tree_node(child) - parts->nodes;
	if (at < KEPT_BOXES)
		return kept->boxes[at];
	Float4 center = load4(parts->nodes[at].center), extent = load4(parts->nodes[at].extent); // lane 3: never looked at
	return (Box4){center - extent, center + extent};
}

void fem_triangle_tree_refit(FemTriangleTree *tree, const float *vertices) {
	TreeBoxes kept;
	if (!tree || !vertices)
		return;
	FemTreeParts parts = fem_triangle_tree_move(tree, vertices);
	int32_t count = parts.node_count < KEPT_BOXES ? parts.node_count : KEPT_BOXES;
	for (int32_t i = 0; i < count; i++) // a child is made before it is asked for; compilers do not know
		kept.boxes[i] = empty_box4();
	for (int32_t i = parts.node_count; i-- > 0;) {
		FemTreeNode *node = &parts.nodes[i];
		Box4 box = joint_box4(
			child_box(&parts, vertices, &kept, node->child[0]), child_box(&parts, vertices, &kept, node->child[1]));
		Float4 center = (box.max + box.min) * all4(0.5f), extent = (box.max - box.min) * all4(0.5f);
		memcpy(node->center, &center, sizeof node->center);
		memcpy(node->extent, &extent, sizeof node->extent);
		if (i < KEPT_BOXES)
			kept.boxes[i] = (Box4){center - extent, center + extent};
	}
}
