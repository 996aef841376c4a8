// Trees and groups of a body's shape, and what can be asked of them.
#include "collision/triangle_tests.h"
#include "fem_test.h"
#include "scenes/rig.h"
#include "scenes/tree_shape.h"

#include <stdlib.h>

static const FemPosition half = {0.5, 0.5, 0.5};

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

FEM_TEST(surface_trees, box_queries_and_points_as_brute_force) {
	FemTreeShape shape = fem_tree_box(6, 6, 6, fem_vec3(1, 1, 1), FEM_CELLS_FIVE);
	uint32_t random = 9;
	int32_t *found = malloc(sizeof(int32_t) * 4096);
	for (int trial = 0; trial < 30; trial++) {
		fem_tree_shape_pose(&shape, fem_seeded_rotation(&random), half, (FemPosition){0});
		float min[3], max[3];
		for (int axis = 0; axis < 3; axis++) {
			min[axis] = 0.5f + 0.8f * fem_random(&random);
			max[axis] = min[axis] + 0.15f * (1.0f + fem_random(&random));
		}
		Box4 box = {{min[0], min[1], min[2], 0}, {max[0], max[1], max[2], 0}};
		int32_t triangles = 0, tets = 0, holder = -1;
		for (int32_t f = 0; f < shape.topology->triangle_count; f++) {
			Float4 v[3];
			fem_triangle_points(shape.trees, f, v);
			triangles += boxes_meet4(triangle_box4(v), box);
		}
		for (int32_t t = 0; t < shape.topology->batch_count * FEM_LANES; t++) {
			Float4 v[4];
			fem_tet_points(shape.trees, t, v);
			if (shape.topology->user_of_tet[t] < 0)
				continue;
			tets += boxes_meet4(
				(Box4){min4(min4(v[0], v[1]), min4(v[2], v[3])), max4(max4(v[0], v[1]), max4(v[2], v[3]))}, box);
			holder = fem_point_in_tet(box.min, v) ? t : holder;
		}
		FEM_CHECK_INT(
			fem_surface_trees_query_box(shape.trees, fem_surface_trees_all(shape.trees), min, max, found, 4096),
			triangles);
		FEM_CHECK_INT(
			fem_surface_trees_query_box(shape.trees, fem_surface_trees_all(shape.trees), min, max, NULL, 0), triangles);
		FEM_CHECK_INT(fem_surface_trees_query_tets(shape.trees, min, max, found, 4096), tets);
		FEM_CHECK_INT(fem_surface_trees_query_tets(shape.trees, min, max, found, 3), tets);
		FEM_CHECK((fem_surface_trees_locate(shape.trees, min) >= 0) == (holder >= 0));
	}
	free(found);
	fem_tree_shape_free(&shape);
}

FEM_TEST(surface_trees, rays_hit_the_nearest_triangle) {
	FemTreeShape shape = fem_tree_box(6, 6, 6, fem_vec3(1, 1, 1), FEM_CELLS_KUHN);
	// Straight down on the top face, along grid lines and between them: also in the planes of boxes.
	for (int i = 0; i <= 24; i++) {
		float x = (float)i / 24.0f;
		FemSurfaceHit hit = fem_surface_trees_cast_ray(shape.trees, (float[]){x, 3, 0.3f}, (float[]){0, -4, 0});
		FEM_CHECK(hit.triangle >= 0);
		FEM_CHECK_NEAR(hit.fraction, 0.5, 1e-5);
		double sum = 0.0;
		for (int v = 0; v < 3 && hit.triangle >= 0; v++)
			sum += (double)hit.weights[v] * (double)shape.positions[shape.topology->triangles[3 * hit.triangle + v]].x;
		FEM_CHECK_NEAR(sum, x, 1e-5);
	}
	FEM_CHECK_INT(fem_surface_trees_cast_ray(shape.trees, (float[]){1.2f, 3, 0.3f}, (float[]){0, -4, 0}).triangle, -1);
	FEM_CHECK_INT(
		fem_surface_trees_cast_ray(shape.trees, (float[]){0.4f, 3, 0.3f}, (float[]){0, -1.9f, 0}).triangle, -1);
	// Through the body from all sides: in at one face, not out at the other.
	uint32_t random = 21;
	for (int trial = 0; trial < 60; trial++) {
		int axis = trial % 3;
		float sign = trial % 2 ? 1.0f : -1.0f, from[3], ray[3] = {0, 0, 0};
		for (int i = 0; i < 3; i++)
			from[i] = 0.5f + 0.45f * fem_random(&random);
		from[axis] = 0.5f + 2.5f * sign;
		ray[axis] = -4.0f * sign;
		FEM_CHECK_NEAR(fem_surface_trees_cast_ray(shape.trees, from, ray).fraction, 0.5, 1e-5);
	}
	// From inside, the far wall; oblique.
	FemSurfaceHit hit =
		fem_surface_trees_cast_ray(shape.trees, (float[]){0.5f, 0.5f, 0.5f}, (float[]){1, 0.25f, 0.125f});
	FEM_CHECK_NEAR(hit.fraction, 0.5, 1e-5);
	fem_tree_shape_free(&shape);
}
