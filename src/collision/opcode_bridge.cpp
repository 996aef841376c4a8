// The one C++ file of the engine, and the only one that knows Opcode.
#include "collision/opcode_bridge.h"

#include <Opcode.h>

#include <new>

static_assert(sizeof(IndexedTriangle) == 3 * sizeof(int32_t), "Opcode must be built with 32-bit triangle indices");
static_assert(sizeof(Point) == 3 * sizeof(float), "Opcode must be built with float coordinates");

static_assert(sizeof(FemTreeNode) == sizeof(Opcode::AABBNoLeafNode), "FemTreeNode must be Opcode's node");
static_assert(offsetof(FemTreeNode, center) == offsetof(Opcode::AABBNoLeafNode, mAABB.mCenter) &&
		offsetof(FemTreeNode, extent) == offsetof(Opcode::AABBNoLeafNode, mAABB.mExtents) &&
		offsetof(FemTreeNode, child[0]) == offsetof(Opcode::AABBNoLeafNode, mPosData) &&
		offsetof(FemTreeNode, child[1]) == offsetof(Opcode::AABBNoLeafNode, mNegData),
	"FemTreeNode must be laid out as Opcode's node");

struct FemTriangleTree {
	Opcode::MeshInterface mesh;
	Opcode::Model model;
	// Opcode has no tree for a single triangle, so that triangle is listed twice and its double's pairs are dropped.
	bool is_doubled;
	IndexedTriangle doubled[2];
};

static bool are_triangles_valid(const int32_t *triangles, int32_t triangle_count) {
	for (int64_t i = 0; i < 3 * (int64_t)triangle_count; i++) {
		if (triangles[i] < 0)
			return false;
	}
	return true;
}

static void set_mesh(FemTriangleTree *tree, const float *vertices, int32_t vertex_stride_floats,
	const int32_t *triangles, int32_t triangle_count) {
	const IndexedTriangle *faces = reinterpret_cast<const IndexedTriangle *>(triangles);
	tree->is_doubled = triangle_count == 1;
	if (tree->is_doubled) {
		tree->doubled[0] = tree->doubled[1] = faces[0];
		faces = tree->doubled;
		triangle_count = 2;
	}
	tree->mesh.SetNbTriangles((udword)triangle_count);
	// Opcode never uses the number of vertices but refuses zero.
	tree->mesh.SetNbVertices(3 * (udword)triangle_count);
	tree->mesh.SetPointers(faces, reinterpret_cast<const Point *>(vertices));
	tree->mesh.SetStrides(sizeof(IndexedTriangle), (udword)vertex_stride_floats * (udword)sizeof(float));
	tree->mesh.SetSingle(true);
}

static bool build_model(FemTriangleTree *tree) {
	const bool no_leaf = true, quantized = false;
	// Splitting at the mean of the triangles' centres along the longest side of their box: as good as by largest spread
	// here, and a fifth less to do when a body breaks.
	const Opcode::BuildSettings settings(Opcode::SPLIT_LARGEST_AXIS | Opcode::SPLIT_GEOM_CENTER);
	return tree->model.Build(Opcode::OPCODECREATE(&tree->mesh, settings, no_leaf, quantized));
}

FemTriangleTree *fem_triangle_tree_create(
	const float *vertices, int32_t vertex_stride_floats, const int32_t *triangles, int32_t triangle_count) {
	if (!vertices || !triangles || vertex_stride_floats < 3 || triangle_count < 1)
		return nullptr;
	if (!are_triangles_valid(triangles, triangle_count))
		return nullptr;
	static const bool is_opcode_ready = Opcode::InitOpcode(); // once, whichever thread comes first
	if (!is_opcode_ready)
		return nullptr;
	FemTriangleTree *tree = new (std::nothrow) FemTriangleTree;
	if (!tree)
		return nullptr;
	set_mesh(tree, vertices, vertex_stride_floats, triangles, triangle_count);
	if (!build_model(tree)) {
		delete tree;
		return nullptr;
	}
	return tree;
}

void fem_triangle_tree_destroy(FemTriangleTree *tree) {
	delete tree;
}

FemTreeParts fem_triangle_tree_move(FemTriangleTree *tree, const float *vertices) {
	tree->mesh.SetPointers(tree->mesh.GetTris(), reinterpret_cast<const Point *>(vertices));
	FemTreeParts parts = {};
	parts.nodes = const_cast<FemTreeNode *>(fem_triangle_tree_root(tree));
	parts.node_count = (int32_t)tree->model.GetTree()->GetNbNodes();
	parts.triangles = reinterpret_cast<const int32_t *>(tree->mesh.GetTris());
	parts.vertex_stride_floats = (int32_t)(tree->mesh.GetVertexStride() / sizeof(float));
	return parts;
}

bool fem_triangle_tree_rename(FemTriangleTree *tree, const int32_t *triangles) {
	if (!tree || !triangles || tree->is_doubled)
		return false;
	tree->mesh.SetPointers(reinterpret_cast<const IndexedTriangle *>(triangles), tree->mesh.GetVerts());
	return true;
}

const FemTreeNode *fem_triangle_tree_root(const FemTriangleTree *tree) {
	if (!tree)
		return nullptr;
	const Opcode::AABBNoLeafTree *nodes = static_cast<const Opcode::AABBNoLeafTree *>(tree->model.GetTree());
	return reinterpret_cast<const FemTreeNode *>(nodes->GetNodes());
}
