// The lattice method alone: angles of isosurface stuffing, and the winding number that says what is inside.
#include "fem_test.h"

#include "filling/stuffing.h"
#include "geometry/principal_box.h"
#include "scenes/rig.h"
#include "scenes/surface_meshes.h"
#include "topology/surface.h"

#include <stdlib.h>

static bool make_solid(const FemSurfaceMesh *surface, FemSolid *out) {
	FemSoup soup = fem_surface_soup(surface);
	FemTriangles triangles;
	FemPrincipalBox box;
	*out = (FemSolid){0};
	bool made = fem_soup_clean(&soup, 0.0f, &triangles, NULL) == FEM_OK &&
		fem_principal_box(&triangles, NULL, 0, &box) == FEM_OK &&
		fem_triangles_extract(&triangles, NULL, 0, &box.frame, &out->triangles) == FEM_OK &&
		fem_triangle_bvh_create(&out->bvh, &out->triangles) == FEM_OK &&
		fem_winding_create(&out->winding, &out->bvh) == FEM_OK;
	for (int axis = 0; made && axis < 3; axis++)
		out->half_extents[axis] = box.half_extents[axis];
	fem_triangles_free(&triangles);
	return made;
}

// A rough ball: cuts at all places of the lattice's edges.
static FemSurfaceMesh make_rough_ball(void) {
	FemSurfaceMesh ball = fem_surface_sphere(0.5, 14);
	uint32_t seed = 11;
	for (int32_t i = 0; i < ball.vertex_count; i++)
		ball.vertices[i] = fem_vec3_scale(ball.vertices[i], 1.0f + 0.15f * fem_random(&seed));
	return ball;
}

// Corners of outer faces that do not lie on the soup. Tets that disagree on a face's diagonal leave outer faces within.
static int32_t count_strays(const FemSolid *solid, const FemTetList *list) {
	int32_t *identity = malloc(sizeof(int32_t) * (size_t)list->node_count), strays = 0, triangle;
	FemSurface surface;
	FemVec3d nearest;
	for (int32_t n = 0; n < list->node_count; n++)
		identity[n] = n;
	FEM_CHECK(fem_surface_create(&surface, identity, list->node_count, &list->tets[0][0], list->tet_count));
	for (int32_t i = 0; i < 3 * surface.count; i++) {
		int32_t face = surface.faces[i / 3], node = list->tets[face / 4][fem_face_corners[face % 4][i % 3]];
		strays += fem_bvh_nearest(&solid->bvh, list->nodes[node], 1.0, &triangle, &nearest) > 1e-4;
	}
	fem_surface_free(&surface);
	free(identity);
	return strays;
}

// Labelle & Shewchuk 2007 prove 10.7 degrees for these warp limits. Fails with other diagonals or limits.
FEM_TEST(stuffing, angles_keep_the_papers_bound) {
	FemSurfaceMesh ball = make_rough_ball();
	FemSolid solid;
	double worst = 180.0;
	FEM_REQUIRE(make_solid(&ball, &solid));
	for (int n = 0; n < 8; n++) {
		double cell = 0.1 - 0.009 * n, cells[3] = {cell, cell, cell};
		FemTetList list = {0};
		FEM_CHECK(fem_stuffing_fill(&solid, cells, false, 0.13 * n, &list) == FEM_OK);
		worst = fmin(worst, fem_tet_list_min_dihedral(&list));
		fem_tet_list_free(&list);
	}
	printf("  smallest dihedral angle %.2f degrees\n", worst);
	FEM_CHECK(worst >= 10.7);
	fem_solid_free(&solid);
	fem_surface_mesh_free(&ball);
}

FEM_TEST(stuffing, faces_of_neighbours_match) {
	FemSurfaceMesh ball = fem_surface_sphere(0.5, 24);
	FemSolid solid;
	FEM_REQUIRE(make_solid(&ball, &solid));
	for (int n = 0; n < 6; n++) {
		double cell = 0.2 - 0.02 * n, cells[3] = {cell, cell, cell};
		FemTetList list = {0};
		FEM_CHECK(fem_stuffing_fill(&solid, cells, false, 0.13 * n, &list) == FEM_OK);
		FEM_CHECK_INT(count_strays(&solid, &list), 0);
		fem_tet_list_free(&list);
	}
	fem_solid_free(&solid);
	fem_surface_mesh_free(&ball);
}

// Largest error of the winding number at random points, and the largest number there.
static double worst_winding(FemSurfaceMesh *surface, double *out_most) {
	FemSolid solid;
	uint32_t seed = 5;
	double worst = 0.0;
	*out_most = 0.0;
	if (!make_solid(surface, &solid))
		return HUGE_VAL;
	for (int i = 0; i < 300; i++) {
		FemVec3d p = {
			0.6 * (double)fem_random(&seed), 0.6 * (double)fem_random(&seed), 0.3 * (double)fem_random(&seed)};
		double exact = 0.0;
		for (int32_t t = 0; t < solid.triangles.triangle_count; t++)
			exact += fem_solid_angle(&solid.triangles, t, p) / 12.566370614359172;
		worst = fmax(worst, fabs(exact - fem_winding_number(&solid.winding, p)));
		*out_most = fmax(*out_most, fabs(exact));
	}
	fem_solid_free(&solid);
	fem_surface_mesh_free(surface);
	return worst;
}

FEM_TEST(winding, tree_agrees_with_the_exact_sum) {
	FemSurfaceMesh torus = fem_surface_torus(0.5, 0.2, 60, 30);
	double most;
	fem_surface_remove(&torus, 7);
	double worst = worst_winding(&torus, &most);
	printf("  largest error of the winding number: %.4f\n", worst);
	FEM_CHECK(worst < 0.05);
}

// Five spheres in each other go round a point five times, one way or the other.
FEM_TEST(winding, counts_every_turn) {
	for (int flipped = 0; flipped < 2; flipped++) {
		FemSurfaceMesh spheres = fem_surface_sphere(0.5, 6);
		double most;
		for (int i = 0; i < 4; i++) {
			FemSurfaceMesh sphere = fem_surface_sphere(0.45 - 0.05 * i, 6);
			fem_surface_append(&spheres, &sphere);
			fem_surface_mesh_free(&sphere);
		}
		if (flipped)
			fem_surface_flip(&spheres, 1);
		FEM_CHECK(worst_winding(&spheres, &most) < 0.05);
		FEM_CHECK_NEAR(most, 5.0, 1e-6);
	}
}
