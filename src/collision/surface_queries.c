// Questions to one body's trees and groups.
#include "collision/surface_trees.h"
#include "collision/tree_walk.h"

static Box4 box_from(const float min[3], const float max[3]) {
	return (Box4){{min[0], min[1], min[2], 0.0f}, {max[0], max[1], max[2], 0.0f}};
}

// `out` may hold fewer than are found.
static int32_t query_tree(
	const FemSurfaceTrees *trees, const FemSurfaceTree *tree, Box4 box, int32_t *out, int32_t capacity) {
	TreeWalk walk;
	walk_start(&walk, tree, box);
	int32_t count = 0;
	for (int32_t triangle; (triangle = walk_next(&walk)) >= 0;) {
		Float4 v[3];
		fem_triangle_points(trees, triangle, v);
		if (!boxes_meet4(triangle_box4(v), box))
			continue;
		if (count < capacity)
			out[count] = triangle;
		count++;
	}
	return count;
}

int32_t fem_surface_trees_query_box(const FemSurfaceTrees *trees, FemTreeSpan span, const float min[3],
	const float max[3], int32_t *out_triangles, int32_t capacity) {
	Box4 box = box_from(min, max);
	int32_t count = 0;
	for (int32_t i = span.trees.begin; i < span.trees.end; i++) {
		int32_t room = capacity > count ? capacity - count : 0;
		if (boxes_meet4(trees->trees[i].box, box))
			count += query_tree(trees, &trees->trees[i], box, room ? out_triangles + count : NULL, room);
	}
	return count;
}
