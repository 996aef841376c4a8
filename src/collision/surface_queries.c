// Questions to one body's trees and groups.
#include "collision/surface_trees.h"
#include "collision/tree_walk.h"
#include "collision/triangle_tests.h"

#include <math.h>

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

int32_t fem_surface_trees_query_box(const FemSurfaceTrees *trees, FemTreePart part, const float min[3],
	const float max[3], int32_t *out_triangles, int32_t capacity) {
	Box4 box = box_from(min, max);
	int32_t count = 0;
	for (int32_t i = part.trees.begin; i < part.trees.end; i++) {
		int32_t room = capacity > count ? capacity - count : 0;
		if (boxes_meet4(trees->trees[i].box, box))
			count += query_tree(trees, &trees->trees[i], box, room ? out_triangles + count : NULL, room);
	}
	return count;
}

// Calls for every tet of a group whose box meets the given one. True ends the walk.
typedef bool VisitTet(void *context, int32_t tet);

static bool visit_group(const FemSurfaceTrees *trees, int32_t g, Box4 box, VisitTet *visit, void *context) {
	const FemTetGroup *group = &trees->groups[g];
	for (int32_t base = 0; base < group->packet_count; base += 8) {
		unsigned packets = boxes_meet8(&trees->packets8[group->packet8 + base / 8], box);
		for (; packets; packets &= packets - 1) {
			int32_t packet = base + __builtin_ctz(packets);
			unsigned tets = boxes_meet8(&trees->packets[group->packet + packet], box);
			for (; tets; tets &= tets - 1) {
				if (visit(context,
						trees->packet_tets[8 * (size_t)(group->packet + packet) + (unsigned)__builtin_ctz(tets)]))
					return true;
			}
		}
	}
	return false;
}

static void visit_tets(FemSurfaceTrees *trees, Box4 box, VisitTet *visit, void *context) {
	for (int32_t base = 0; base < trees->group_count; base += 8) {
		unsigned groups = boxes_meet8(&trees->group_boxes[base / 8], box);
		for (; groups; groups &= groups - 1) {
			int32_t group = base + __builtin_ctz(groups);
			if (fem_surface_trees_claim_group(trees, group))
				fem_surface_trees_fill_group(trees, group);
			if (visit_group(trees, group, box, visit, context))
				return;
		}
	}
}

typedef struct TetList {
	int32_t *out;
	int32_t count, capacity;
} TetList;

static bool list_tet(void *context, int32_t tet) {
	TetList *list = context;
	if (list->count < list->capacity)
		list->out[list->count] = tet;
	list->count++;
	return false;
}

int32_t fem_surface_trees_query_tets(
	FemSurfaceTrees *trees, const float min[3], const float max[3], int32_t *out_tets, int32_t capacity) {
	TetList list = {.out = out_tets, .capacity = capacity};
	visit_tets(trees, box_from(min, max), list_tet, &list);
	return list.count;
}

typedef struct Search {
	const FemSurfaceTrees *trees;
	Float4 point;
	int32_t found;
} Search;

static bool search_tet(void *context, int32_t tet) {
	Search *search = context;
	Float4 v[4];
	fem_tet_points(search->trees, tet, v);
	if (!fem_point_in_tet(search->point, v))
		return false;
	search->found = tet;
	return true;
}

int32_t fem_surface_trees_locate(FemSurfaceTrees *trees, const float point[3]) {
	Search search = {.trees = trees, .point = {point[0], point[1], point[2], 0.0f}, .found = -1};
	visit_tets(trees, (Box4){search.point, search.point}, search_tet, &search);
	return search.found;
}

// ---- ray

typedef struct Ray {
	Float4 from, direction, inverse; // inverse of way, large where it is 0
	float end;                       // fraction of the nearest hit so far
} Ray;

// Fraction at which the ray enters the box, or infinity. The box is taken a little larger, for rays that run in the
// plane of one of its sides and for the rounding of Opcode's boxes.
static float enter_box(const Ray *ray, Box4 box) {
	Float4 slack = (box.max - box.min) * all4(1e-5f) + abs4(box.max) * all4(1e-6f) + all4(1e-7f);
	Float4 a = (box.min - slack - ray->from) * ray->inverse, b = (box.max + slack - ray->from) * ray->inverse;
	Float4 near = max4(min4(a, b), all4(0.0f)), far = min4(max4(a, b), all4(ray->end));
	float first = fmaxf(fmaxf(near[0], near[1]), near[2]), last = fminf(fminf(far[0], far[1]), far[2]);
	return first <= last ? first : INFINITY;
}

// Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", both sides.
static void hit_triangle(const FemSurfaceTrees *trees, int32_t triangle, Ray *ray, FemSurfaceHit *hit) {
	Float4 v[3];
	fem_triangle_points(trees, triangle, v);
	Float4 e1 = v[1] - v[0], e2 = v[2] - v[0], p = cross4(ray->direction, e2);
	float determinant = dot4(e1, p);
	if (determinant == 0.0f)
		return;
	float inverse = 1.0f / determinant;
	Float4 t = ray->from - v[0], q = cross4(t, e1);
	float u = dot4(t, p) * inverse, w = dot4(ray->direction, q) * inverse, fraction = dot4(e2, q) * inverse;
	if (!(u >= 0.0f && w >= 0.0f && u + w <= 1.0f && fraction >= 0.0f && fraction <= ray->end))
		return;
	if (fraction == ray->end && hit->triangle >= 0 && hit->triangle < triangle)
		return;
	ray->end = fraction;
	*hit = (FemSurfaceHit){triangle, fraction, {1.0f - u - w, u, w}};
}

static void cast_into_tree(const FemSurfaceTrees *trees, const FemSurfaceTree *tree, Ray *ray, FemSurfaceHit *hit) {
	const FemTreeNode *stack[FEM_WALK_STACK];
	int32_t depth = 0;
	stack[depth++] = fem_triangle_tree_root(tree->tree);
	while (depth > 0) {
		const FemTreeNode *node = stack[--depth];
		if (!(enter_box(ray, node_box4(node)) <= ray->end))
			continue;
		for (int c = 1; c >= 0; c--) {
			if (fem_tree_is_triangle(node->child[c]))
				hit_triangle(trees, tree->triangles.begin + fem_tree_triangle(node->child[c]), ray, hit);
			else if (depth < FEM_WALK_STACK)
				stack[depth++] = fem_tree_node(node->child[c]);
		}
	}
}

FemSurfaceHit fem_surface_trees_cast_ray(const FemSurfaceTrees *trees, const float from[3], const float ray[3]) {
	Ray cast = {.from = {from[0], from[1], from[2], 0.0f}, .direction = {ray[0], ray[1], ray[2], 0.0f}, .end = 1.0f};
	for (int axis = 0; axis < 3; axis++)
		cast.inverse[axis] = fabsf(ray[axis]) > 1e-30f ? 1.0f / ray[axis] : 1e30f;
	FemSurfaceHit hit = {.triangle = -1, .fraction = 1.0f};
	for (int32_t i = 0; i < trees->tree_count; i++) {
		if (enter_box(&cast, trees->trees[i].box) <= cast.end)
			cast_into_tree(trees, &trees->trees[i], &cast, &hit);
	}
	return hit;
}
