// Meshes that the scale of their bodies stretches: a cube that is a board there.
//
// The factors are powers of two, so that the stretched cube and the board have the same bits: what is made of both must
// be the same.
#include "baking/baked_mesh.h"
#include "base/vec.h"
#include "contact_rig.h"
#include "cutting_rig.h"
#include "fem_baking.h"
#include "fem_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const FemVec3 board = {1.0f, 2.0f, 0.0625f}, cube = {1.0f, 1.0f, 1.0f};

static FemBakeResult bake(FemVec3 size, FemVec3 stretch) {
	FemBakeResult out;
	FemRenderMesh render;
	FemBakeDef def = fem_default_bake_def();
	FemSurfaceMesh surface = fem_surface_box(size, 6);
	fem_cutting_render(&surface, 1, &render);
	fem_surface_mesh_free(&surface);
	def.element_count = 300;
	def.stretch = stretch;
	def.cut.pattern = FEM_PATTERN_VORONOI;
	fem_bake_now(&render, &def, &out);
	return out;
}

static bool is_stretched(const FemVec3 *a, const FemVec3 *b, int32_t count) {
	for (int32_t i = 0; i < count; i++) {
		FemVec3 p = fem_vec3_multiply(b[i], board);
		if (memcmp(&a[i], &p, sizeof p) != 0)
			return false;
	}
	return true;
}

// Of normals, under the scale of a body; 1: the same.
static float least_cosine(const FemSplinterMesh *a, const FemSplinterMesh *b) {
	float least = 1.0f;
	for (int32_t v = 0; v < a->vertex_count - a->outer_count; v++) {
		FemVec3 n = {b->normals[v].x / board.x, b->normals[v].y / board.y, b->normals[v].z / board.z};
		least = fminf(least, fem_vec3_dot(a->normals[v], n) / fem_vec3_length(n));
	}
	return least;
}

FEM_TEST(stretch, a_cube_is_filled_and_cut_as_the_board_that_it_becomes) {
	int64_t before = fem_memory_bytes();
	FemBakeResult as_board = bake(board, (FemVec3){1.0f, 1.0f, 1.0f}), stretched = bake(cube, board);
	FEM_REQUIRE(as_board.result == FEM_OK && stretched.result == FEM_OK);
	const FemBakedMesh *a = &as_board.mesh, *b = &stretched.mesh;
	const FemTetArrays *p = &a->tet_mesh, *q = &b->tet_mesh;
	FEM_CHECK_INT(q->tet_count, p->tet_count);
	FEM_CHECK_INT(q->node_count, p->node_count);
	FEM_CHECK(memcmp(p->tets, q->tets, 4 * sizeof *p->tets * (size_t)p->tet_count) == 0);
	FEM_CHECK(p->tet_plates && memcmp(p->tet_plates, q->tet_plates, sizeof(float) * (size_t)p->tet_count) == 0);
	FEM_CHECK(is_stretched(p->nodes, q->nodes, p->node_count));
	FEM_CHECK(p->stretch.x == 0.0f && memcmp(&q->stretch, &board, sizeof board) == 0);
	// What is drawn stays where it was.
	FEM_CHECK(is_stretched(a->render.surfaces->positions, b->render.surfaces->positions, a->embedding.count));
	FEM_CHECK(a->splinters.splinter_count > 10 && a->splinters.vertex_count == b->splinters.vertex_count);
	FEM_CHECK(is_stretched(a->splinters.positions, b->splinters.positions, a->splinters.vertex_count));
	FEM_CHECK(least_cosine(&a->splinters, &b->splinters) > 0.9999f);
	fem_bake_result_free(&as_board);
	fem_bake_result_free(&stretched);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}

// m, of all splinters in the mean.
static FemVec3 mean_extent(const FemSplinterMesh *m) {
	FemVec3 sum = {0.0f, 0.0f, 0.0f};
	for (int32_t s = 0; s < m->splinter_count; s++) {
		FemVec3 low = {9.0f, 9.0f, 9.0f}, high = {-9.0f, -9.0f, -9.0f};
		for (int32_t v = 0; v < m->vertex_count; v++) {
			FemVec3 x = m->positions[v];
			if (m->vertex_splinters[v] != s)
				continue;
			low = (FemVec3){fminf(low.x, x.x), fminf(low.y, x.y), fminf(low.z, x.z)};
			high = (FemVec3){fmaxf(high.x, x.x), fmaxf(high.y, x.y), fmaxf(high.z, x.z)};
		}
		sum = fem_vec3_add(sum, fem_vec3_sub(high, low));
	}
	return fem_vec3_scale(sum, 1.0f / (float)m->splinter_count);
}

FEM_TEST(stretch, the_grain_runs_along_the_longest_side_of_the_board) {
	FemBakeResult out[2];
	for (int is_board = 0; is_board < 2; is_board++) {
		FemRenderMesh render;
		FemBakeDef def = fem_default_bake_def();
		FemSurfaceMesh surface = fem_surface_box(is_board ? board : cube, 6);
		fem_cutting_render(&surface, 1, &render);
		fem_surface_mesh_free(&surface);
		def.element_count = 300;
		def.stretch = def.cut.scale = is_board ? cube : board;
		def.cut.pattern = FEM_PATTERN_WOOD;
		fem_bake_now(&render, &def, &out[is_board]);
		FEM_REQUIRE(out[is_board].result == FEM_OK);
	}
	const FemSplinterMesh *a = &out[1].mesh.splinters, *b = &out[0].mesh.splinters;
	FemVec3 extent = mean_extent(a);
	printf("  splinters of %g x %g x %g m\n", (double)extent.x, (double)extent.y, (double)extent.z);
	FEM_CHECK(extent.y > 2.0f * extent.x);
	FEM_CHECK(a->vertex_count == b->vertex_count && is_stretched(a->positions, b->positions, a->vertex_count));
	for (int i = 0; i < 2; i++)
		fem_bake_result_free(&out[i]);
}

// A board that is held at one end and sags.
static FemWorldId hang(const FemTetArrays *tets, FemVec3 stretch, FemVec3 scale, FemBodyId *out_body) {
	FemWorldDef def = fem_contact_world_def();
	def.ground_enabled = false;
	FemWorldId world = fem_world_create(&def);
	FemMaterialDef wood = fem_default_material_def();
	wood.young_modulus = 1e8f;
	FemMaterialId material = fem_material_create(world, &wood);
	FemMeshDef mesh = fem_default_mesh_def();
	mesh.node_count = tets->node_count;
	mesh.node_positions = tets->nodes;
	mesh.tet_count = tets->tet_count;
	mesh.tets = tets->tets;
	mesh.tet_plates = tets->tet_plates;
	mesh.quality_clamp = 0.0f;
	mesh.stretch = stretch;
	int32_t *pinned = malloc((size_t)tets->node_count * sizeof *pinned), count = 0;
	for (int32_t i = 0; i < tets->node_count; i++) {
		if (tets->nodes[i].y * scale.y < -0.99f)
			pinned[count++] = i;
	}
	FemBodyDef body = fem_default_body_def();
	body.mesh = fem_mesh_create(world, &mesh);
	body.materials = &material;
	body.material_count = 1;
	body.scale = scale;
	body.rotation = (FemQuat){0.70710678f, 0.0f, 0.0f, 0.70710678f}; // lies flat
	body.pinned_nodes = pinned;
	body.pinned_count = count;
	*out_body = fem_body_create(world, &body);
	free(pinned);
	return world;
}

static float lowest(FemBodyId body) {
	FemVec3 offsets[1000];
	FemPosition origin;
	int32_t count = fem_body_get_positions(body, &origin, offsets, 1000);
	float least = INFINITY;
	for (int32_t i = 0; i < count; i++)
		least = fminf(least, (float)origin.y + offsets[i].y);
	return least;
}

// The same bits as a board's, and from a snapshot on, too; without its stretch the cells are others.
FEM_TEST(stretch, a_cube_bends_as_the_board_that_it_becomes) {
	FemBakeResult as_board = bake(board, (FemVec3){1.0f, 1.0f, 1.0f}), stretched = bake(cube, board);
	FEM_REQUIRE(as_board.result == FEM_OK && stretched.result == FEM_OK);
	FemBodyId bodies[3];
	FemWorldId worlds[3] = {hang(&as_board.mesh.tet_mesh, (FemVec3){1.0f, 1.0f, 1.0f}, cube, &bodies[0]),
		hang(&stretched.mesh.tet_mesh, stretched.mesh.tet_mesh.stretch, board, &bodies[1]),
		hang(&stretched.mesh.tet_mesh, (FemVec3){1.0f, 1.0f, 1.0f}, board, &bodies[2])};
	float sag[3];
	for (int i = 0; i < 3; i++) {
		fem_steps(worlds[i], 30);
		sag[i] = -lowest(bodies[i]);
	}
	printf("  sags %g m as a board, %g m stretched, %g m without being told\n", (double)sag[0], (double)sag[1],
		(double)sag[2]);
	FEM_CHECK(sag[0] > 0.05f && sag[1] == sag[0] && fabsf(sag[2] / sag[0] - 1.0f) > 0.2f);
	size_t size = fem_world_save(worlds[1], NULL, 0);
	void *data = malloc(size);
	FEM_REQUIRE(data && fem_world_save(worlds[1], data, size) == size);
	FemWorldId again = fem_world_restore(data, size, 1);
	free(data);
	fem_steps(worlds[1], 10);
	fem_steps(again, 10);
	FEM_CHECK(fem_world_hash(again) == fem_world_hash(worlds[1]));
	fem_world_destroy(again);
	for (int i = 0; i < 3; i++)
		fem_world_destroy(worlds[i]);
	fem_bake_result_free(&as_board);
	fem_bake_result_free(&stretched);
}

FEM_TEST(stretch, what_is_no_scale_is_refused) {
	static const float bad[] = {0.0f, -1.0f, NAN, INFINITY, 1e5f, 1e-5f};
	FemBakeResult good = bake(cube, board);
	FEM_REQUIRE(good.result == FEM_OK);
	for (int i = 0; i < 6; i++) {
		FemBakeResult refused = bake(cube, (FemVec3){1.0f, bad[i], 1.0f});
		FEM_CHECK(refused.result == FEM_ERROR_INVALID_ARGUMENT && strstr(refused.message, "stretch.y"));
		fem_bake_result_free(&refused);
		FemBodyId body;
		FemWorldId world = hang(&good.mesh.tet_mesh, (FemVec3){bad[i], 1.0f, 1.0f}, cube, &body);
		FEM_CHECK(!fem_body_is_valid(body));
		fem_world_destroy(world);
		// A file that says so.
		FemVec3 kept = good.mesh.tet_mesh.stretch;
		good.mesh.tet_mesh.stretch.z = bad[i];
		size_t size = fem_baked_mesh_size(&good.mesh);
		void *bytes = malloc(size);
		FEM_REQUIRE(bytes != NULL);
		fem_baked_mesh_write(&good.mesh, bytes, size);
		FemBakedMesh back;
		FEM_CHECK(fem_baked_mesh_read("bad", bytes, size, &back) != FEM_OK && strstr(fem_last_error(), "stretch.z"));
		free(bytes);
		good.mesh.tet_mesh.stretch = kept;
	}
	fem_bake_result_free(&good);
}
