// Trees and groups of a body's shape, and what can be asked of them.
#include "base/vec.h"
#include "collision/triangle_tests.h"
#include "fem_constants.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "scenes/tree_shape.h"

#include <stdlib.h>

static const FemVec3d half = {0.5, 0.5, 0.5};

FEM_TEST(surface_trees, trees_and_groups_hold_everything_once) {
	FemTreeShape shape = fem_tree_box(6, 5, 7, fem_vec3(1, 1, 1), FEM_CELLS_KUHN);
	const FemSurfaceTrees *trees = shape.trees;
	int32_t next = 0;
	for (int32_t i = 0; i < trees->tree_count; i++) {
		FEM_CHECK_INT(trees->trees[i].triangles.begin, next);
		next = trees->trees[i].triangles.end;
		FEM_CHECK(next - trees->trees[i].triangles.begin >= FEM_TREE_TRIANGLES);
	}
	FEM_CHECK(trees->tree_count > 2);
	FEM_CHECK_INT(next, shape.topology->triangle_count);
	int32_t tets = 0, faces = 0;
	for (int32_t i = 0; i < 8 * trees->packet_count; i++)
		tets += trees->packet_tets[i] >= 0;
	for (int32_t i = 0; i < shape.topology->batch_count * FEM_LANES; i++)
		faces += __builtin_popcount(trees->outer_faces[i]);
	FEM_CHECK_INT(tets, shape.topology->tet_count);
	FEM_CHECK_INT(faces, shape.topology->triangle_count);
	float min[3], max[3];
	fem_surface_trees_box(trees, fem_surface_trees_all(trees), min, max);
	for (int axis = 0; axis < 3; axis++) {
		FEM_CHECK_NEAR(min[axis], 0.0, 1e-6);
		FEM_CHECK_NEAR(max[axis], 1.0, 1e-6);
	}
	for (int32_t i = 0; i < trees->tree_count; i++)
		FEM_CHECK(fem_surface_trees_rebuild(shape.trees, i, shape.positions));
	fem_tree_shape_free(&shape);
}

FEM_TEST(surface_trees, box_queries_as_brute_force) {
	FemTreeShape shape = fem_tree_box(6, 6, 6, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	uint32_t random = 9;
	int32_t *found = malloc(sizeof(int32_t) * 4096);
	for (int trial = 0; trial < 30; trial++) {
		fem_tree_shape_pose(&shape, fem_seeded_rotation(&random), half, (FemVec3d){0});
		float min[3], max[3];
		for (int axis = 0; axis < 3; axis++) {
			min[axis] = 0.5f + 0.8f * fem_random(&random);
			max[axis] = min[axis] + 0.15f * (1.0f + fem_random(&random));
		}
		Box4 box = {{min[0], min[1], min[2], 0}, {max[0], max[1], max[2], 0}};
		int32_t triangles = 0;
		for (int32_t f = 0; f < shape.topology->triangle_count; f++) {
			Float4 v[3];
			fem_triangle_points(shape.trees, f, v);
			triangles += boxes_meet4(triangle_box4(v), box);
		}
		FEM_CHECK_INT(
			fem_surface_trees_query_box(shape.trees, fem_surface_trees_all(shape.trees), min, max, found, 4096),
			triangles);
		FEM_CHECK_INT(
			fem_surface_trees_query_box(shape.trees, fem_surface_trees_all(shape.trees), min, max, NULL, 0), triangles);
	}
	free(found);
	fem_tree_shape_free(&shape);
}
