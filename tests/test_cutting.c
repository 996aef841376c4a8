// Cutting: splinters that are closed, turned outward and together the body, for every shape and pattern.
#include "baking/bake.h"
#include "base/memory.h"
#include "cutting/cut_output.h"
#include "cutting_rig.h"
#include "fem_test.h"
#include "scenes/box_mesh.h"

static const char *const pattern_names[] = {"none", "voronoi", "glass", "wood", "brick", "surfaces"};

static FemSurfaceMesh shape(int which) {
	switch (which) {
	case 0: return fem_surface_box((FemVec3){1.0f, 0.8f, 0.6f}, 4);
	case 1: return fem_surface_sphere(0.5, 16);
	case 2: return fem_surface_torus(0.5, 0.15, 32, 16);
	case 3: return fem_surface_window_wall((FemVec3){3.0f, 2.0f, 0.24f}, 0.4);
	case 4: return fem_surface_box((FemVec3){1.2f, 0.9f, 0.006f}, 1);
	default: return fem_surface_vase(0.4, 0.012, 20);
	}
}
#define SHAPES 6

static void check_cut(FemBakedMesh *mesh, const FemCutDef *def, const char *what) {
	char note[FEM_CUT_NOTE_SIZE];
	double volume = fem_cutting_volume(&mesh->render);
	if (!fem_test_check(
			fem_baked_mesh_cut(mesh, def, note) == FEM_OK, __FILE__, __LINE__, "%s: %s", what, fem_last_error()))
		return;
	FemSplinterCheck check = fem_cutting_check(&mesh->splinters);
	fem_test_check(note[0] == 0, __FILE__, __LINE__, "%s: %s", what, note);
	fem_test_check(check.open_edges == 0, __FILE__, __LINE__, "%s: %d open edges", what, check.open_edges);
	fem_test_check(check.splinter_count > 3, __FILE__, __LINE__, "%s: %d pieces", what, check.splinter_count);
	fem_test_check(fabs(check.volume_sum - volume) < 1e-3 * volume, __FILE__, __LINE__, "%s: volume %g of %g", what,
		check.volume_sum, volume);
	fem_test_check(check.smallest > -1e-6 * volume, __FILE__, __LINE__, "%s: a piece of %g m3", what, check.smallest);
	fem_test_check(
		fem_baked_mesh_check(mesh, "The mesh") == FEM_OK, __FILE__, __LINE__, "%s: %s", what, fem_last_error());
}

// Every pattern on one shape.
static void cut_shape(int which) {
	FemBakedMesh mesh;
	if (fem_cutting_bake(shape(which), 300, &mesh))
		for (int n = 0; n < 7; n++) {
			char what[64];
			FemCutDef def = fem_default_cut_def();
			def.pattern = n < 2 ? FEM_PATTERN_VORONOI : (FemPattern)(FEM_PATTERN_GLASS + (n - 2) % 3);
			def.seed = 7 + (uint32_t)n;
			def.splinter_count = 120;
			def.triangle_max = 300000;
			def.joins = n % 2 == 1;
			def.roughness = n == 0 ? 0.0f : n < 5 ? 0.5f : 1.0f;
			snprintf(what, sizeof what, "%s, roughness %g", pattern_names[def.pattern], (double)def.roughness);
			check_cut(&mesh, &def, what);
		}
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(cutting, box_into_closed_splinters) {
	cut_shape(0);
}

FEM_TEST(cutting, sphere_into_closed_splinters) {
	cut_shape(1);
}

FEM_TEST(cutting, torus_into_closed_splinters) {
	cut_shape(2);
}

FEM_TEST(cutting, wall_with_a_window_into_closed_splinters) {
	cut_shape(3);
}

FEM_TEST(cutting, thin_pane_into_closed_splinters) {
	cut_shape(4);
}

FEM_TEST(cutting, vase_into_closed_splinters) {
	cut_shape(5);
}

// Borders of cells that run exactly through vertices, edges and triangles of the mesh, and eight cells that meet in a
// point: only the symbolic perturbation decides.
FEM_TEST(cutting, borders_through_vertices_and_edges) {
	for (int cells = 2; cells <= 4; cells += 2) {
		FemBakedMesh mesh;
		FemCutDef def = fem_default_cut_def();
		def.pattern = FEM_PATTERN_BRICK;
		def.brick_size = (FemVec3){1.0f, 0.5f, 0.5f};
		def.mortar = 0.0f;
		def.broken_share = 1.0f;
		def.roughness = 0.0f;
		def.joins = false;
		if (fem_cutting_bake(fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, cells), 100, &mesh)) {
			check_cut(&mesh, &def, "bricks through vertices");
			FEM_CHECK_INT(mesh.splinters.splinter_count, 8);
			FEM_CHECK_NEAR(fem_cutting_check(&mesh.splinters).smallest, 0.125, 1e-4);
		}
		fem_baked_mesh_free(&mesh);
	}
}

// ---- other promises

static bool same_splinters(const FemSplinterMesh *a, const FemSplinterMesh *b) {
	return a->splinter_count == b->splinter_count && a->vertex_count == b->vertex_count &&
		a->index_count == b->index_count &&
		memcmp(a->positions, b->positions, sizeof *a->positions * (size_t)a->vertex_count) == 0 &&
		memcmp(a->indices, b->indices, sizeof *a->indices * (size_t)a->index_count) == 0 &&
		memcmp(a->home_tets, b->home_tets, sizeof *a->home_tets * (size_t)a->splinter_count) == 0;
}

FEM_TEST(cutting, same_seed_same_splinters) {
	FemBakedMesh mesh;
	FemSplinterMesh first;
	FemCutDef def = fem_default_cut_def();
	def.splinter_count = 40;
	if (fem_cutting_bake(fem_surface_torus(0.5, 0.2, 24, 12), 200, &mesh))
		for (int pattern = FEM_PATTERN_VORONOI; pattern <= FEM_PATTERN_BRICK; pattern++) {
			def.pattern = (FemPattern)pattern;
			def.seed = 11;
			FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_OK);
			first = mesh.splinters;
			mesh.splinters = (FemSplinterMesh){0};
			FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_OK);
			FEM_CHECK(same_splinters(&first, &mesh.splinters));
			def.seed = 12;
			FemSplinterMesh again = mesh.splinters;
			mesh.splinters = (FemSplinterMesh){0};
			FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_OK);
			FEM_CHECK(!same_splinters(&first, &mesh.splinters));
			fem_splinter_mesh_free(&first);
			fem_splinter_mesh_free(&again);
		}
	fem_baked_mesh_free(&mesh);
}

// The uvs of the rig are a linear function of the place, so those between must be, too; surfaces keep their triangles.
FEM_TEST(cutting, attributes_and_surfaces_are_kept) {
	FemBakedMesh mesh = {0};
	FemBakeDef bake = fem_default_bake_def();
	FemBakeInfo info;
	FemSurfaceMesh surface = fem_surface_sphere(0.5, 14);
	fem_cutting_render(&surface, 3, &mesh.render);
	fem_surface_mesh_free(&surface);
	bake.element_count = 200;
	bake.cut.pattern = FEM_PATTERN_VORONOI;
	bake.cut.splinter_count = 80;
	bake.cut.joins = false;
	FEM_CHECK_INT(fem_bake_render_mesh(&bake, &mesh, &info), FEM_OK);
	FEM_CHECK_INT(mesh.splinters.surface_count, 4);
	FEM_CHECK_INT(fem_cutting_check(&mesh.splinters).open_edges, 0);
	float worst = 0.0f;
	for (int32_t s = 0; s < mesh.splinters.surface_count; s++) {
		FemRenderSurface cut;
		FEM_CHECK_INT(fem_baked_mesh_splinter_surface(&mesh, s, &cut), FEM_OK);
		FEM_CHECK(cut.vertex_count > 100 && cut.normals && cut.tangents && cut.uvs);
		FEM_CHECK((cut.colors != NULL) == (s < 3));
		for (int32_t v = 0; s < 3 && v < cut.vertex_count; v++) {
			FemVec3 p = cut.positions[v];
			worst = fmaxf(worst, fabsf(cut.uvs[v][0] - p.x - 2.0f * p.y) + fabsf(cut.uvs[v][1] - p.z));
			worst = fmaxf(worst, fabsf(cut.uvs2[v][0] - p.y));
		}
		fem_render_surface_free(&cut);
	}
	FEM_CHECK_NEAR(worst, 0.0, 1e-5);
	FEM_CHECK(fem_baked_mesh_splinter_surface(&mesh, 4, &(FemRenderSurface){0}) != FEM_OK);
	fem_bake_info_free(&info);
	fem_baked_mesh_free(&mesh);
}

// Each weight list puts its vertex where it is, and a file gives the same back.
FEM_TEST(cutting, splinters_are_tied_to_tets_and_saved) {
	FemBakedMesh mesh, back;
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_WOOD;
	def.splinter_count = 60;
	if (!fem_cutting_bake(fem_surface_box((FemVec3){1.0f, 0.1f, 0.2f}, 3), 300, &mesh))
		return;
	FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_OK);
	const FemSplinterMesh *m = &mesh.splinters;
	double worst = 0.0;
	for (int32_t v = 0; v < m->vertex_count; v++) {
		FemVec3d at = {0};
		for (int k = 0; k < 4; k++)
			at = fem_vec3d_add(at,
				fem_vec3d_scale(fem_vec3d_from(mesh.tet_mesh.nodes[mesh.tet_mesh.tets[4 * m->vertex_tets[v] + k]]),
					(double)m->vertex_weights[v][k]));
		at = fem_vec3d_sub(at, fem_vec3d_from(m->positions[v]));
		worst = fmax(worst, sqrt(fem_vec3d_dot(at, at)));
	}
	FEM_CHECK_NEAR(worst, 0.0, 1e-5);
	for (int32_t f = 0; f < m->face_count; f++) {
		int32_t first = m->outer_count + m->face_starts[f], half = (m->face_starts[f + 1] - m->face_starts[f]) / 2;
		bool twins = half >= 3;
		for (int32_t v = first; v < first + half; v++)
			twins = twins && memcmp(&m->positions[v], &m->positions[v + half], sizeof(FemVec3)) == 0 &&
				m->vertex_splinters[v] != m->vertex_splinters[v + half] &&
				m->vertex_tets[v] == m->vertex_tets[v + half];
		FEM_CHECK(twins);
	}
	FEM_CHECK(m->face_count > 100);
	size_t size = fem_baked_mesh_size(&mesh);
	char *bytes = fem_alloc(size);
	fem_baked_mesh_write(&mesh, bytes, size);
	if (!FEM_CHECK_INT(fem_baked_mesh_read("m", bytes, size, &back), FEM_OK) ||
		!FEM_CHECK(same_splinters(m, &back.splinters)) || !FEM_CHECK_INT(back.splinters.face_count, m->face_count))
		return;
	FEM_CHECK(memcmp(m->face_starts, back.splinters.face_starts, sizeof(int32_t) * (size_t)m->face_count) == 0);
	FEM_CHECK(
		memcmp(m->source_triangles, back.splinters.source_triangles, sizeof(int32_t) * (size_t)m->outer_count) == 0);
	for (size_t cut = size - 4000; cut < size; cut += 97) { // damage in or near the chunk is refused, never followed
		bytes[cut] ^= 0x55;
		fem_baked_mesh_seal(bytes, size);
		FemBakedMesh damaged;
		fem_baked_mesh_read("m", bytes, size, &damaged);
		fem_baked_mesh_free(&damaged);
		bytes[cut] ^= 0x55;
	}
	fem_free(bytes, size);
	fem_baked_mesh_free(&back);
	fem_baked_mesh_free(&mesh);
}

// A mesh whose splinters are to be its own; takes the surface over.
static FemSplinterCheck take_splinters(FemSurfaceMesh surface, int32_t surface_count, char note[FEM_CUT_NOTE_SIZE]) {
	FemBakedMesh mesh = {0};
	FemBakeDef bake = fem_default_bake_def();
	FemCutDef cut = fem_default_cut_def();
	FemBakeInfo info;
	FemSplinterCheck check = {0};
	fem_cutting_render(&surface, surface_count, &mesh.render);
	bake.element_count = 200;
	bake.sheet_thickness = 0.05f;
	cut.pattern = FEM_PATTERN_SURFACES;
	if (FEM_CHECK_INT(fem_bake_render_mesh(&bake, &mesh, &info), FEM_OK) &&
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &cut, note), FEM_OK)) {
		check = fem_cutting_check(&mesh.splinters);
		FEM_CHECK_INT(mesh.splinters.index_count, 3 * (int32_t)fem_render_mesh_triangle_count(&mesh.render));
		FEM_CHECK_NEAR(check.volume_sum, fem_cutting_volume(&mesh.render), 1e-6);
	}
	fem_surface_mesh_free(&surface);
	fem_bake_info_free(&info);
	fem_baked_mesh_free(&mesh);
	return check;
}

static FemSurfaceMesh boxes_in_a_row(double distance) {
	FemSurfaceMesh row = {0};
	for (int n = 0; n < 3; n++) {
		FemSurfaceMesh box = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 2);
		fem_surface_transform(&box, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){distance * n, 0.0, 0.0});
		fem_surface_append(&row, &box);
		fem_surface_mesh_free(&box);
	}
	return row;
}

// Three boxes apart, and three that touch; all in one surface, and each with triangles of two.
FEM_TEST(cutting, artists_shells_become_splinters) {
	char note[FEM_CUT_NOTE_SIZE];
	for (int n = 0; n < 4; n++) {
		FemSplinterCheck check = take_splinters(boxes_in_a_row(n < 2 ? 1.001 : 1.0), 1 + n % 2, note);
		FEM_CHECK_INT(check.splinter_count, 3);
		FEM_CHECK_INT(check.open_edges, 0);
		FEM_CHECK_NEAR(check.smallest, 1.0, 1e-5);
		FEM_CHECK(note[0] == 0);
	}
}

FEM_TEST(cutting, artists_pieces_keep_their_cavities) {
	char note[FEM_CUT_NOTE_SIZE];
	FemSplinterCheck check = take_splinters(fem_surface_nested_boxes(1.0, 0.5, true), 1, note);
	FEM_CHECK_INT(check.splinter_count, 1);
	FEM_CHECK_INT(check.open_edges, 0);
	FEM_CHECK(note[0] == 0);
}

// A box without its top is one splinter a surface, and it is said that they are open.
FEM_TEST(cutting, artists_open_pieces_are_named) {
	char note[FEM_CUT_NOTE_SIZE];
	FemSurfaceMesh box = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 1);
	box.triangle_count -= 2;
	FemSplinterCheck check = take_splinters(box, 1, note);
	FEM_CHECK_INT(check.splinter_count, 1);
	FEM_CHECK(check.open_edges > 0);
	FEM_CHECK(strstr(note, "1 of the mesh's own pieces") != NULL);
}

// A shape whose tets are known needs no bake to be cut.
FEM_TEST(cutting, box_of_known_tets) {
	FemBoxMesh box = fem_box_mesh(3, 3, 3, (FemVec3){1.0f, 1.0f, 1.0f}, FEM_CELLS_FIVE);
	FemTetArrays tets = {
		.node_count = box.node_count, .tet_count = box.tet_count, .nodes = box.positions, .tets = box.tets};
	FemSurfaceMesh surface = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 3);
	fem_surface_transform(&surface, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){0.5, 0.5, 0.5});
	FemRenderMesh render = {0};
	FemBakedMesh mesh = {0};
	FemCutDef def = fem_default_cut_def();
	fem_cutting_render(&surface, 1, &render);
	FEM_CHECK(fem_baked_mesh_from_tets(NULL, &render, &mesh) != FEM_OK);
	if (FEM_CHECK_INT(fem_baked_mesh_from_tets(&tets, &render, &mesh), FEM_OK)) {
		FEM_CHECK_INT(render.surface_count, 0);
		FEM_CHECK_INT(mesh.tet_mesh.tet_count, box.tet_count);
		def.pattern = FEM_PATTERN_VORONOI;
		check_cut(&mesh, &def, "known tets");
	}
	fem_baked_mesh_free(&mesh);
	fem_cutting_render(&surface, 1, &render);
	tets.nodes[5].x = NAN;
	FEM_CHECK(fem_baked_mesh_from_tets(&tets, &render, &mesh) != FEM_OK);
	FEM_CHECK(mesh.tet_mesh.tet_count == 0 && mesh.render.surface_count == 0 && render.surface_count == 0);
	fem_surface_mesh_free(&surface);
	fem_box_mesh_free(&box);
}
