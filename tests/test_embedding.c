// Render vertices tied to tets: reproduced at rest, bounded outside, right member.
#include "fem_test.h"

#include "base/memory.h"
#include "filling/tetrahedralize.h"
#include "geometry/embedding.h"
#include "scenes/rig.h"
#include "scenes/surface_meshes.h"

static FemEmbedMesh target_of(const FemTetMesh *mesh) {
	return (FemEmbedMesh){mesh->node_count, mesh->tet_count, mesh->nodes, mesh->tets, mesh->tet_members};
}

static void check_bounds(const FemEmbedding *embedding, int32_t tet_count) {
	for (int32_t i = 0; i < embedding->count; i++) {
		const float *w = embedding->weights[i];
		FEM_CHECK(embedding->tets[i] >= 0 && embedding->tets[i] < tet_count);
		FEM_CHECK_NEAR(w[0] + w[1] + w[2] + w[3], 1.0, 1e-5);
		for (int v = 0; v < 4; v++)
			FEM_CHECK(w[v] >= -FEM_EMBED_WEIGHT - 1e-4f && w[v] <= 1.0f + FEM_EMBED_WEIGHT + 1e-4f);
	}
}

static void check_surface(FemSurfaceMesh surface, const char *name, int32_t target, double size) {
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh mesh;
	FemEmbedding embedding;
	def.element_count = target;
	if (FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK)) {
		FemEmbedMesh to = target_of(&mesh);
		if (FEM_CHECK(fem_embed(&to, soup.vertices, mesh.vertex_members, soup.vertex_count, &embedding) == FEM_OK)) {
			printf("  %-10s %5d vertices, %5d outside by up to %.3g m, %d limited, error %.2g of the size\n", name,
				soup.vertex_count, embedding.outside, (double)embedding.max_outside, embedding.limited,
				(double)embedding.max_error / size);
			FEM_CHECK((double)embedding.max_error <= 1e-5 * size);
			FEM_CHECK_INT(embedding.limited, 0);
			check_bounds(&embedding, mesh.tet_count);
			for (int32_t i = 0; i < embedding.count; i++)
				FEM_CHECK(mesh.tet_members[embedding.tets[i]] == mesh.vertex_members[i]);
			fem_embedding_free(&embedding);
		}
	}
	fem_tet_mesh_free(&mesh);
	fem_surface_mesh_free(&surface);
}

FEM_TEST(embedding, vertices_are_reproduced_at_rest) {
	int64_t before = fem_memory_bytes();
	check_surface(fem_surface_torus(0.5, 0.2, 60, 30), "torus", 1000, 1.4);
	check_surface(fem_surface_bowl(0.15, 0.02, 16), "bowl", 3000, 0.3);
	check_surface(fem_surface_box((FemVec3){2.0f, 1.0f, 0.01f}, 8), "pane", 300, 2.0);
	check_surface(fem_surface_cylinder(0.5, 0.02, 48), "disc", 500, 1.0);
	check_surface(fem_surface_cylinder(0.05, 3.0, 24), "rod", 400, 3.0);
	FemSurfaceMesh tiny = fem_surface_sphere(0.5, 16);
	fem_surface_transform(&tiny, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1e-5, (FemVec3d){0});
	check_surface(tiny, "tiny", 500, 1e-5);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// Far points must follow, not fly: weights are bounded and the point is drawn nearer.
FEM_TEST(embedding, far_points_are_limited) {
	FemVec3 nodes[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 0.01f}};
	int32_t tet[4] = {0, 1, 2, 3};
	FemVec3 points[3] = {{0.2f, 0.2f, 0.001f}, {0.2f, 0.2f, 0.03f}, {0.2f, 0.2f, 5.0f}};
	FemEmbedMesh mesh = {4, 1, nodes, tet, NULL};
	FemEmbedding embedding;
	FEM_REQUIRE(fem_embed(&mesh, points, NULL, 3, &embedding) == FEM_OK);
	check_bounds(&embedding, 1);
	FEM_CHECK_INT(embedding.outside, 2);
	FEM_CHECK_INT(embedding.limited, 1);
	FEM_CHECK_NEAR(embedding.weights[1][3], 3.0, 1e-3);
	FEM_CHECK(embedding.max_error > 4.0f);
	fem_embedding_free(&embedding);
}

// A brute-force search over all tets finds no nearer one.
FEM_TEST(embedding, nearest_tet_is_found) {
	FemSurfaceMesh surface = fem_surface_torus(0.5, 0.2, 30, 16);
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh mesh;
	FemEmbedding all, one;
	FemVec3 points[40];
	uint32_t seed = 3;
	def.element_count = 300;
	FEM_REQUIRE(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK);
	FemEmbedMesh to = target_of(&mesh);
	for (int i = 0; i < 40; i++) {
		points[i] = (FemVec3){fem_random(&seed), 0.4f * fem_random(&seed), fem_random(&seed)};
		FEM_REQUIRE(fem_embed(&to, &points[i], NULL, 1, &all) == FEM_OK);
		float nearest = 1e30f;
		for (int32_t t = 0; t < mesh.tet_count; t++) {
			FemEmbedMesh single = {mesh.node_count, 1, mesh.nodes, mesh.tets + 4 * (size_t)t, NULL};
			FEM_REQUIRE(fem_embed(&single, &points[i], NULL, 1, &one) == FEM_OK);
			nearest = fminf(nearest, one.max_outside);
			fem_embedding_free(&one);
		}
		FEM_CHECK_NEAR(all.max_outside, nearest, 1e-5);
		fem_embedding_free(&all);
	}
	fem_tet_mesh_free(&mesh);
	fem_surface_mesh_free(&surface);
}

FEM_TEST(embedding, bad_input_is_refused) {
	FemVec3 nodes[4] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
	FemVec3 bad = {NAN, 0.0f, 0.0f};
	int32_t tet[4] = {0, 1, 2, 3}, wrong[4] = {0, 1, 2, 4};
	FemEmbedding embedding;
	FEM_CHECK_INT(fem_embed(NULL, nodes, NULL, 4, &embedding), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(
		fem_embed(&(FemEmbedMesh){4, 1, nodes, tet, NULL}, nodes, NULL, 0, &embedding), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(
		fem_embed(&(FemEmbedMesh){4, 1, nodes, tet, NULL}, &bad, NULL, 1, &embedding), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_embed(&(FemEmbedMesh){4, 1, nodes, wrong, NULL}, nodes, NULL, 4, &embedding), FEM_ERROR_MESH);
}

// Fails when a vertex follows a tet of another member that is nearer: members that touch would be sewn together.
FEM_TEST(embedding, points_keep_to_their_part) {
	FemVec3 nodes[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {3, 0, 0}, {2, 1, 0}, {2, 0, 1}};
	int32_t tets[8] = {0, 1, 2, 3, 4, 5, 6, 7}, members[2] = {0, 1}, of_points[2] = {0, 1};
	FemVec3 points[2] = {{2.1f, 0.2f, 0.2f}, {0.9f, 0.05f, 0.02f}}; // each inside the other member's tet
	FemEmbedMesh mesh = {8, 2, nodes, tets, members};
	FemEmbedding embedding;
	FEM_REQUIRE(fem_embed(&mesh, points, of_points, 2, &embedding) == FEM_OK);
	FEM_CHECK_INT(embedding.tets[0], 0);
	FEM_CHECK_INT(embedding.tets[1], 1);
	fem_embedding_free(&embedding);
}
