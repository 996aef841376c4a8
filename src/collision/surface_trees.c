#include "collision/surface_trees.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/range.h"
#include "base/vec.h"
#include "collision/tree_walk.h"

#include <math.h>

void fem_surface_trees_free(FemSurfaceTrees *trees) {
	if (!trees)
		return;
	for (int32_t i = 0; i < trees->tree_count; i++)
		fem_triangle_tree_destroy(trees->trees[i].tree);
	fem_free(trees->block, trees->bytes);
}

// ---- refit

void fem_surface_trees_begin_refit(FemSurfaceTrees *trees, const FemVec4 *positions) {
	trees->positions = positions;
}

FemTreeSpan fem_surface_trees_all(const FemSurfaceTrees *trees) {
	return (FemTreeSpan){{0, trees->tree_count}, {0, trees->group_count}};
}

FemTreeSpan fem_surface_trees_component(const FemSurfaceTrees *trees, int32_t c) {
	FEM_ASSERT(c >= 0);
	if (c < 0 || c >= trees->component_count) // after a split for which there was no memory
		return (FemTreeSpan){0};
	return (FemTreeSpan){
		{trees->tree_start[c], trees->tree_start[c + 1]}, {trees->group_start[c], trees->group_start[c + 1]}};
}

int32_t fem_surface_trees_task_count(FemTreeSpan span) {
	return span.trees.end - span.trees.begin + (span.groups.end - span.groups.begin + 7) / 8;
}

static void refit_tree(FemSurfaceTrees *trees, FemSurfaceTree *tree) {
	fem_triangle_tree_refit(tree->tree, &trees->positions->x);
	const FemTreeNode *root = fem_triangle_tree_root(tree->tree);
	tree->box = node_box4(root);
}

static void refit_group(FemSurfaceTrees *trees, int32_t g) {
	Box4 box = empty_box4();
	for (int32_t i = trees->groups[g].nodes.begin; i < trees->groups[g].nodes.end; i++) {
		Float4 p = fem_node_point(trees, trees->group_nodes[i]);
		box = (Box4){min4(p, box.min), max4(p, box.max)};
	}
	put_box8(&trees->group_boxes[g / 8], g % 8, box);
	trees->groups[g].filled = false;
}

void fem_surface_trees_refit_task(FemSurfaceTrees *trees, FemTreeSpan span, int32_t task) {
	int32_t tree_count = span.trees.end - span.trees.begin;
	if (task < tree_count) {
		refit_tree(trees, &trees->trees[span.trees.begin + task]);
		return;
	}
	int32_t begin = span.groups.begin + (task - tree_count) * 8;
	for (int32_t g = begin; g < begin + 8 && g < span.groups.end; g++)
		refit_group(trees, g);
}

void fem_surface_trees_refit(FemSurfaceTrees *trees, const FemVec4 *positions, FemTreeSpan span) {
	fem_surface_trees_begin_refit(trees, positions);
	for (int32_t task = 0; task < fem_surface_trees_task_count(span); task++)
		fem_surface_trees_refit_task(trees, span, task);
}

bool fem_surface_trees_rebuild(FemSurfaceTrees *trees, int32_t tree, const FemVec4 *shape) {
	FemRange range = trees->trees[tree].triangles;
	FemTriangleTree *built = fem_triangle_tree_create(
		&shape->x, 4, trees->topology->triangles + 3 * (size_t)range.begin, range.end - range.begin);
	if (!built)
		return false;
	fem_triangle_tree_destroy(trees->trees[tree].tree);
	trees->trees[tree].tree = built;
	refit_tree(trees, &trees->trees[tree]);
	return true;
}

void fem_surface_trees_box(const FemSurfaceTrees *trees, FemTreeSpan span, float out_min[3], float out_max[3]) {
	Box4 box = empty_box4();
	for (int32_t i = span.trees.begin; i < span.trees.end; i++)
		box = joint_box4(trees->trees[i].box, box);
	for (int axis = 0; axis < 3; axis++) {
		out_min[axis] = box.min[axis];
		out_max[axis] = box.max[axis];
	}
}

bool fem_surface_trees_claim_group(FemSurfaceTrees *trees, int32_t group) {
	bool stale = !trees->groups[group].filled;
	trees->groups[group].filled = true;
	return stale;
}

void fem_surface_trees_fill_group(FemSurfaceTrees *trees, int32_t g) {
	const FemTetGroup *group = &trees->groups[g];
	for (int32_t p = 0; p < group->packet_count; p++) {
		const int32_t *tets = trees->packet_tets + 8 * (size_t)(group->packet + p);
		Box4 all = empty_box4();
		for (int32_t lane = 0; lane < 8 && tets[lane] >= 0; lane++) {
			Float4 v[4];
			fem_tet_points(trees, tets[lane], v);
			Box4 box = {min4(min4(v[0], v[1]), min4(v[2], v[3])), max4(max4(v[0], v[1]), max4(v[2], v[3]))};
			put_box8(&trees->packets[group->packet + p], lane, box);
			all = joint_box4(box, all);
		}
		put_box8(&trees->packets8[group->packet8 + p / 8], p % 8, all);
	}
}

// ---- cones

// Unit normal; 0 for a triangle without area, which spoils the cone.
static Float4 triangle_normal(const FemSurfaceTrees *trees, int32_t triangle) {
	Float4 v[3];
	fem_triangle_points(trees, triangle, v);
	Float4 normal = cross4(v[1] - v[0], v[2] - v[0]);
	float length_sq = dot4(normal, normal);
	return length_sq > 0.0f ? normal * all4(1.0f / sqrtf(length_sq)) : all4(0.0f);
}

void fem_surface_trees_make_cone(FemSurfaceTrees *trees, int32_t t) {
	FemSurfaceTree *tree = &trees->trees[t];
	Float4 sum = all4(0.0f);
	for (int32_t i = tree->triangles.begin; i < tree->triangles.end; i++)
		sum += triangle_normal(trees, i);
	float length = sqrtf(dot4(sum, sum));
	Float4 axis = length > 0.0f ? sum * all4(1.0f / length) : all4(0.0f);
	float least = 1.0f;
	for (int32_t i = tree->triangles.begin; i < tree->triangles.end && least > 0.0f; i++)
		least = fminf(least, dot4(axis, triangle_normal(trees, i)));
	axis[3] = least > 0.0f ? least : -1.0f;
	tree->cone_axis = axis;
}
