// Cutting of what cannot be cut well: a clear message and a usable result.
#include "base/memory.h"
#include "cutting_rig.h"
#include "fem_test.h"

static FemCutDef voronoi(int32_t splinters) {
	FemCutDef def = fem_default_cut_def();
	def.pattern = FEM_PATTERN_VORONOI;
	def.seed = 3;
	def.splinter_count = splinters;
	def.joins = false;
	return def;
}

// Everything of the render mesh is shown, and the cuts are there. Where its holes are closed more is shown, and
// splinters are closed.
static void check_usable(const FemBakedMesh *mesh, int32_t splinters_min, double area, bool has_caps, int line) {
	const FemSplinterMesh *m = &mesh->splinters;
	double shown = 0.0;
	for (int32_t s = 0; s + 1 < m->surface_count; s++)
		for (int32_t n = m->index_starts[s]; n < m->index_starts[s + 1]; n += 3) {
			FemVec3d p[3];
			for (int v = 0; v < 3; v++)
				p[v] = fem_vec3d_from(m->positions[m->vertex_starts[s] + m->indices[n + v]]);
			FemVec3d c = fem_vec3d_cross(fem_vec3d_sub(p[1], p[0]), fem_vec3d_sub(p[2], p[0]));
			shown += 0.5 * sqrt(fem_vec3d_dot(c, c));
		}
	fem_test_check(m->splinter_count >= splinters_min, __FILE__, line, "%d pieces", m->splinter_count);
	fem_test_check(
		shown > 0.999 * area && (has_caps || shown < 1.001 * area), __FILE__, line, "%g m2 shown of %g", shown, area);
	if (has_caps)
		FEM_CHECK_INT(fem_cutting_check(m).open_edges, 0);
	fem_test_check(m->vertex_count > m->outer_count || splinters_min < 2, __FILE__, line, "no cuts");
	FEM_CHECK_INT(fem_baked_mesh_check(mesh, "The mesh"), FEM_OK);
}

static double area_of(const FemRenderMesh *render) {
	double area = 0.0;
	for (int32_t s = 0; s < render->surface_count; s++)
		for (int32_t n = 0; n < render->surfaces[s].index_count; n += 3) {
			const FemRenderSurface *surface = &render->surfaces[s];
			FemVec3d a = fem_vec3d_from(surface->positions[surface->indices[n]]);
			FemVec3d u = fem_vec3d_sub(fem_vec3d_from(surface->positions[surface->indices[n + 1]]), a);
			FemVec3d v = fem_vec3d_sub(fem_vec3d_from(surface->positions[surface->indices[n + 2]]), a);
			FemVec3d c = fem_vec3d_cross(u, v);
			area += 0.5 * sqrt(fem_vec3d_dot(c, c));
		}
	return area;
}

static double volume_of(const FemSurfaceMesh *surface) {
	double volume = 0.0;
	for (int32_t t = 0; t < surface->triangle_count; t++) {
		FemVec3d p[3];
		for (int v = 0; v < 3; v++)
			p[v] = fem_vec3d_from(surface->vertices[surface->triangles[t][v]]);
		volume += fem_vec3d_dot(p[0], fem_vec3d_cross(p[1], p[2])) / 6.0;
	}
	return volume;
}

// Leaves out triangles of which a corner lies lower.
static void keep_above(FemSurfaceMesh *surface, double y) {
	int32_t kept = 0;
	for (int32_t t = 0; t < surface->triangle_count; t++) {
		bool above = true;
		for (int v = 0; v < 3; v++)
			above = above && (double)surface->vertices[surface->triangles[t][v]].y > y;
		if (above)
			memcpy(surface->triangles[kept++], surface->triangles[t], sizeof *surface->triangles);
	}
	surface->triangle_count = kept;
}

static void cut_bad(FemSurfaceMesh surface, const char *words, int line) {
	FemBakedMesh mesh;
	char note[FEM_CUT_NOTE_SIZE];
	FemCutDef def = voronoi(60);
	if (fem_cutting_bake(surface, 400, &mesh) && FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK)) {
		fem_test_check(strstr(note, words) != NULL, __FILE__, line, "note: %s", note);
		check_usable(&mesh, 20, area_of(&mesh.render), strstr(note, "holes were closed") != NULL, line);
	}
	fem_baked_mesh_free(&mesh);
}

// Holes, some of which touch at a vertex, are closed, so that every splinter is closed and nothing of the volume lacks.
FEM_TEST(cutting_bad_input, open_mesh_is_cut_into_closed_splinters) {
	FemBakedMesh mesh;
	char note[FEM_CUT_NOTE_SIZE];
	FemCutDef def = voronoi(60);
	FemSurfaceMesh surface = fem_surface_sphere(0.5, 16);
	double whole = volume_of(&surface), area = 3.14159265;
	fem_surface_remove(&surface, 11);
	if (fem_cutting_bake(surface, 400, &mesh) && FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK)) {
		FemSplinterCheck check = fem_cutting_check(&mesh.splinters);
		fem_test_check(strstr(note, "open edges: its holes were closed") != NULL, __FILE__, __LINE__, "note: %s", note);
		FEM_CHECK_INT(check.open_edges, 0);
		FEM_CHECK_NEAR(check.volume_sum, whole, 1e-3 * whole);
		FEM_CHECK(check.smallest > 0.0 && check.splinter_count > 50);
		FEM_CHECK(area_of(&mesh.render) < 0.95 * area);
		FEM_CHECK_INT(fem_baked_mesh_check(&mesh, "The mesh"), FEM_OK);
	}
	fem_baked_mesh_free(&mesh);
}

// A bust: a wide hole with a bent rim, and a shell with a hole that stands in it.
FEM_TEST(cutting_bad_input, open_shells_that_cross_are_cut_into_closed_splinters) {
	FemBakedMesh mesh;
	char note[FEM_CUT_NOTE_SIZE];
	FemCutDef def = voronoi(80);
	FemSurfaceMesh surface = fem_surface_sphere(0.5, 24), eye = fem_surface_sphere(0.15, 12);
	fem_surface_transform(&eye, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){0.45, 0.1, 0.0});
	keep_above(&surface, -0.3);
	keep_above(&eye, 0.02);
	fem_surface_append(&surface, &eye);
	fem_surface_mesh_free(&eye);
	if (fem_cutting_bake(surface, 600, &mesh) && FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK)) {
		FemSplinterCheck check = fem_cutting_check(&mesh.splinters);
		fem_test_check(strstr(note, "its holes were closed") != NULL, __FILE__, __LINE__, "note: %s", note);
		FEM_CHECK_INT(check.open_edges, 0);
		FEM_CHECK(check.volume_sum > 0.45 && check.smallest > 0.0 && check.splinter_count > 60);
	}
	fem_baked_mesh_free(&mesh);
}

// Every splinter is closed, and together they have the volume that the surface goes round, as often as it does.
static void check_crossing(FemSurfaceMesh surface, int32_t splinters_min, const char *words, int line) {
	FemBakedMesh mesh;
	char note[FEM_CUT_NOTE_SIZE];
	FemCutDef def = voronoi(80);
	double volume = volume_of(&surface);
	if (fem_cutting_bake(surface, 400, &mesh) && FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK)) {
		FemSplinterCheck check = fem_cutting_check(&mesh.splinters);
		fem_test_check(words[0] ? strstr(note, words) != NULL : note[0] == 0, __FILE__, line, "note: %s", note);
		fem_test_check(check.open_edges == 0, __FILE__, line, "%d open edges", check.open_edges);
		if (!words[0])
			fem_test_check(fabs(check.volume_sum - volume) < 2e-3 * fabs(volume), __FILE__, line, "%g of %g m3",
				check.volume_sum, volume);
		check_usable(&mesh, splinters_min, area_of(&mesh.render), words[0] != 0, line);
	}
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(cutting_bad_input, self_crossing_meshes_are_cut_into_closed_splinters) {
	FemSurfaceMesh surface = fem_surface_sphere(0.5, 16);
	for (int32_t i = 0; i < surface.vertex_count; i++) // the cap below is pulled out above: inside out there
		if (surface.vertices[i].y < -0.45f)
			surface.vertices[i].y += 1.2f;
	check_crossing(surface, 40, "", __LINE__);
	surface = fem_surface_torus(0.2, 0.3, 24, 16); // its tube is thicker than its hole: twice around the middle
	check_crossing(surface, 40, "", __LINE__);
	surface = fem_surface_torus(0.2, 0.3, 24, 16);
	fem_surface_remove(&surface, 9); // and open
	check_crossing(surface, 40, "its holes were closed", __LINE__);
}

// Legs in a table top: closed shells that stand in each other, one of them hollow, are cut each by itself.
FEM_TEST(cutting_bad_input, crossing_shells_are_cut_into_closed_splinters) {
	FemBakedMesh mesh;
	char note[FEM_CUT_NOTE_SIZE];
	FemCutDef def = voronoi(100);
	FemSurfaceMesh surface = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 3);
	FemSurfaceMesh leg = fem_surface_box((FemVec3){0.6f, 1.7f, 0.6f}, 3);
	FemSurfaceMesh hollow = fem_surface_nested_boxes(0.8, 0.4, true);
	fem_surface_transform(&leg, (FemQuat){0.2f, 0.1f, 0.3f, 0.9f}, 1.0, (FemVec3d){0.2, 0.1, 0.15});
	fem_surface_transform(&hollow, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){-0.7, 0.3, 0.2});
	fem_surface_append(&surface, &leg);
	fem_surface_append(&surface, &hollow);
	fem_surface_mesh_free(&leg);
	fem_surface_mesh_free(&hollow);
	double volume = surface.volume;
	if (fem_cutting_bake(surface, 400, &mesh) && FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK)) {
		FemSplinterCheck check = fem_cutting_check(&mesh.splinters);
		fem_test_check(note[0] == 0, __FILE__, __LINE__, "note: %s", note);
		FEM_CHECK_INT(check.open_edges, 0);
		FEM_CHECK_NEAR(check.volume_sum, volume, 1e-3 * volume);
		FEM_CHECK(check.smallest > 0.0 && check.splinter_count > 80);
	}
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(cutting_bad_input, non_manifold_mesh_is_cut) {
	FemSurfaceMesh surface = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 2);
	FemSurfaceMesh other = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 2);
	fem_surface_transform(&other, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){1.0, 1.0, 0.0}); // share an edge
	fem_surface_append(&surface, &other);
	fem_surface_mesh_free(&other);
	cut_bad(surface, "", __LINE__);
}

FEM_TEST(cutting_bad_input, sheets_and_moebius_strips_are_cut) {
	cut_bad(fem_surface_moebius(0.5, 0.3, 40), "open edges", __LINE__);
}

FEM_TEST(cutting_bad_input, degenerate_and_flipped_triangles_are_cut) {
	FemSurfaceMesh surface = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 4);
	for (int32_t t = 0; t < surface.triangle_count; t += 5)
		surface.vertices[surface.triangles[t][0]] = surface.vertices[surface.triangles[t][1]];
	cut_bad(surface, "", __LINE__);
	surface = fem_surface_sphere(0.5, 12);
	fem_surface_flip(&surface, 7);
	cut_bad(surface, "open edges", __LINE__); // which do not run against each other
}

FEM_TEST(cutting_bad_input, inside_out_mesh_is_cut_into_closed_splinters) {
	FemBakedMesh mesh;
	FemSurfaceMesh surface = fem_surface_sphere(0.5, 12);
	FemCutDef def = voronoi(60);
	fem_surface_flip(&surface, 1);
	if (fem_cutting_bake(surface, 300, &mesh) && FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_OK)) {
		FemSplinterCheck check = fem_cutting_check(&mesh.splinters);
		check_usable(&mesh, 50, area_of(&mesh.render), false, __LINE__);
		FEM_CHECK(check.splinter_count >= 50);
	}
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(cutting_bad_input, counts_and_sizes_beyond_reason) {
	FemBakedMesh mesh;
	if (fem_cutting_bake(fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 3), 200, &mesh)) {
		char note[FEM_CUT_NOTE_SIZE];
		FemCutDef def = voronoi(1);
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		FEM_CHECK_INT(mesh.splinters.splinter_count, 1);
		check_usable(&mesh, 1, 6.0, false, __LINE__);
		def.splinter_count = 1000000;
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		FEM_CHECK(strstr(note, "instead of 1000000") != NULL);
		FEM_CHECK(mesh.splinters.index_count / 3 <= def.triangle_max && mesh.splinters.splinter_count > 500);
		def = voronoi(0);
		def.splinter_size = 50.0f;
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		check_usable(&mesh, 1, 6.0, false, __LINE__);
		def.pattern = FEM_PATTERN_BRICK;
		def.brick_size = (FemVec3){30.0f, 20.0f, 10.0f};
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		check_usable(&mesh, 1, 6.0, false, __LINE__);
		def.brick_size = (FemVec3){0.001f, 0.001f, 0.001f};
		def.mortar = 0.0001f;
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		FEM_CHECK(strstr(note, "times as large") != NULL);
		FEM_CHECK(mesh.splinters.index_count / 3 <= def.triangle_max && mesh.splinters.splinter_count > 30);
		def.brick_size = (FemVec3){0.06f, 0.03f, 0.04f};
		def.mortar = 0.004f;
		def.triangle_max = 20000;
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		FEM_CHECK(strstr(note, "Bricks were made") != NULL);
		FEM_CHECK(mesh.splinters.index_count / 3 <= def.triangle_max && mesh.splinters.splinter_count > 10);
		def = voronoi(100);
		def.pattern = FEM_PATTERN_WOOD;
		def.triangle_max = 20000;
		def.section_width = def.section_height = def.section_length = 0.02f;
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		FEM_CHECK(strstr(note, "Sections were made") != NULL);
		FEM_CHECK(mesh.splinters.index_count / 3 <= def.triangle_max && mesh.splinters.splinter_count > 3);
		def = voronoi(100);
		def.pattern = FEM_PATTERN_WOOD;
		def.section_width = def.section_height = def.section_length = 90.0f;
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK);
		check_usable(&mesh, 1, 6.0, false, __LINE__);
	}
	fem_baked_mesh_free(&mesh);
}

// A scan: the limit is on what the cuts add, and who gets fewer pieces is told, though none were asked for by number.
FEM_TEST(cutting_bad_input, many_outer_triangles_leave_room_for_cuts) {
	FemBakedMesh mesh;
	char note[FEM_CUT_NOTE_SIZE];
	FemCutDef def = voronoi(0);
	def.triangle_max = 8000;
	if (fem_cutting_bake(fem_surface_sphere(0.5, 60), 200, &mesh) &&
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, note), FEM_OK)) {
		int64_t outer = fem_render_mesh_triangle_count(&mesh.render);
		FEM_CHECK(outer > def.triangle_max);
		FEM_CHECK(mesh.splinters.index_count / 3 - outer <= def.triangle_max);
		printf("  %d splinters: %s\n", mesh.splinters.splinter_count, note);
		FEM_CHECK(mesh.splinters.splinter_count >= 15);
		FEM_CHECK(strstr(note, "pieces were made instead of") != NULL);
	}
	fem_baked_mesh_free(&mesh);
}

FEM_TEST(cutting_bad_input, bad_defs_are_refused) {
	FemBakedMesh mesh, none = {0};
	FemCutDef good = voronoi(20), def = good;
	if (!fem_cutting_bake(fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 1), 50, &mesh))
		return;
	float *fields[] = {&def.splinter_size, &def.roughness, &def.unevenness, &def.grain.y, &def.section_width,
		&def.section_height, &def.section_length, &def.random_width, &def.random_height, &def.horizontal_amplitude,
		&def.vertical_amplitude, &def.brick_size.x, &def.brick_size.z, &def.mortar, &def.broken_share};
	for (size_t n = 0; n < sizeof fields / sizeof *fields; n++)
		for (int k = 0; k < 2; k++) {
			def = good;
			*fields[n] = k ? NAN : -INFINITY;
			FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_ERROR_INVALID_ARGUMENT);
		}
	def = good;
	def.pattern = (FemPattern)77;
	FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_ERROR_INVALID_ARGUMENT);
	def = good;
	def.splinter_count = -4;
	FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_ERROR_INVALID_ARGUMENT);
	def = good;
	def.impact_count = 99;
	FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_ERROR_INVALID_ARGUMENT);
	def = (FemCutDef){.pattern = FEM_PATTERN_VORONOI};
	FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_baked_mesh_cut(NULL, &good, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, NULL, NULL), FEM_ERROR_INVALID_ARGUMENT);
	FEM_CHECK_INT(fem_baked_mesh_cut(&none, &good, NULL), FEM_ERROR_MESH);
	fem_baked_mesh_free(&mesh);
}

static bool stop_at_third(void *context, float share) {
	int *calls = context;
	FEM_CHECK(share >= 0.0f && share <= 1.0f);
	return ++*calls < 3;
}

FEM_TEST(cutting_bad_input, progress_can_stop_it_and_memory_is_given_back) {
	FemBakedMesh mesh;
	int64_t before = fem_memory_bytes();
	int calls = 0;
	if (fem_cutting_bake(fem_surface_sphere(0.5, 40), 200, &mesh)) {
		FemCutDef def = voronoi(300);
		def.progress = stop_at_third;
		def.progress_context = &calls;
		FEM_CHECK_INT(fem_baked_mesh_cut(&mesh, &def, NULL), FEM_ERROR_LIMIT);
		FEM_CHECK(strstr(fem_last_error(), "cancelled") != NULL);
		FEM_CHECK_INT(calls, 3);
		FEM_CHECK_INT(mesh.splinters.splinter_count, 0);
	}
	fem_baked_mesh_free(&mesh);
	FEM_CHECK_INT(fem_memory_bytes(), before);
}
