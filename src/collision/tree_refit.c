// Boxes of an Opcode tree after its vertices moved: as Opcode's own refit, to the same bits, four floats at a time.
#include "collision/lanes4.h"
#include "collision/opcode_bridge.h"

// Vertices of three floats may end where their array ends.
static Float4 vertex_at(const float *vertices, int32_t stride, int32_t vertex) {
	const float *p = vertices + (size_t)stride * (size_t)vertex;
	return stride > 3 ? load4(p) : (Float4){p[0], p[1], p[2], 0.0f};
}

static Box4 child_box(const FemTreeParts *parts, const float *vertices, uintptr_t child) {
	if (!fem_tree_is_triangle(child)) {
		const FemTreeNode *node = fem_tree_node(child);
		Float4 center = load4(node->center), extent = load4(node->extent); // fourth lanes: never looked at
		return (Box4){center - extent, center + extent};
	}
	const int32_t *corners = parts->triangles + 3 * (size_t)fem_tree_triangle(child);
	Float4 v[3];
	for (int i = 0; i < 3; i++)
		v[i] = vertex_at(vertices, parts->vertex_stride_floats, corners[i]);
	return triangle_box4(v);
}

void fem_triangle_tree_refit(FemTriangleTree *tree, const float *vertices) {
	if (!tree || !vertices)
		return;
	FemTreeParts parts = fem_triangle_tree_move(tree, vertices);
	for (int32_t i = parts.node_count; i-- > 0;) {
		FemTreeNode *node = &parts.nodes[i];
		Box4 box =
			joint_box4(child_box(&parts, vertices, node->child[0]), child_box(&parts, vertices, node->child[1]));
		Float4 center = (box.max + box.min) * all4(0.5f), extent = (box.max - box.min) * all4(0.5f);
		memcpy(node->center, &center, sizeof node->center);
		memcpy(node->extent, &extent, sizeof node->extent);
	}
}
