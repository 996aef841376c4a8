// Render meshes read from OBJ and STL files.
#include "base/error.h"
#include "base/memory.h"
#include "fem_bake/files/import_surface.h"
#include "fem_test.h"
#include "mesh_files.h"

#include <stdlib.h>

static FemResult read_text(const char *name, const char *text, FemRenderMesh *out) {
	return fem_import_surface_memory(name, text, strlen(text), out);
}

static void check_refused(const char *name, const char *text, const char *word) {
	FemRenderMesh mesh;
	int64_t before = fem_memory_bytes();
	FemResult result = read_text(name, text, &mesh);
	fem_test_check(result != FEM_OK && strstr(fem_last_error(), word) && strstr(fem_last_error(), name), __FILE__,
		__LINE__, "\"%s\" lacks %s or \"%s\"", result == FEM_OK ? "(was read)" : fem_last_error(), name, word);
	FEM_CHECK(fem_memory_bytes() == before);
	fem_render_mesh_free(&mesh);
}

// ---- OBJ

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

FEM_TEST(import_surface, obj_corners_keep_uvs_and_normals) {
	FemRenderMesh mesh;
	const char *text = "# made by hand\r\nmtllib x.mtl\r\n" SQUARE "vt 0 0\nvt 1 0.25\nvn 0 0 2\nvn 1 0 0\n"
					   "usemtl red stone # 2\nf 1/1/1 2/2/1 3/2/1\nf 1/1/2 3/2/1 4/1/1\n";
	FEM_REQUIRE(read_text("m.obj", text, &mesh) == FEM_OK);
	FEM_REQUIRE(mesh.surface_count == 1);
	const FemRenderSurface *surface = &mesh.surfaces[0];
	FEM_CHECK(strcmp(surface->material, "red stone # 2") == 0);
	FEM_CHECK_INT(surface->index_count, 6);
	FEM_CHECK_INT(surface->vertex_count, 5); // corner 1 has two normals, corner 3 is shared
	FEM_CHECK_INT(surface->attributes, FEM_ATTRIBUTE_NORMAL | FEM_ATTRIBUTE_UV);
	FEM_CHECK(surface->indices[2] == surface->indices[4] && surface->indices[0] != surface->indices[3]);
	FEM_CHECK_NEAR(surface->normals[0].z, 1.0, 1e-6);
	FEM_CHECK_NEAR(surface->normals[surface->indices[3]].x, 1.0, 1e-6);
	FEM_CHECK_NEAR(surface->uvs[1][0], 1.0, 0.0);
	FEM_CHECK_NEAR(surface->uvs[1][1], 0.75, 0.0); // turned downward
	fem_render_mesh_free(&mesh);
}

FEM_TEST(import_surface, obj_polygons_negative_indices_continued_lines) {
	FemRenderMesh mesh;
	FEM_REQUIRE(read_text("m.obj", SQUARE "v 0.2 0.5 0\nf -5 -4 \\\n -3 -2 -1\n", &mesh) == FEM_OK);
	const FemRenderSurface *surface = &mesh.surfaces[0];
	FEM_CHECK_INT(surface->index_count, 9);
	double area = 0.0;
	for (int32_t i = 0; i < surface->index_count; i += 3) {
		FemVec3 a = surface->positions[surface->indices[i]], b = surface->positions[surface->indices[i + 1]],
				c = surface->positions[surface->indices[i + 2]];
		double twice = (double)((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
		FEM_CHECK(twice > 0.0);
		area += 0.5 * twice;
	}
	FEM_CHECK_NEAR(area, 0.9, 1e-6);
	FEM_CHECK_NEAR(surface->normals[0].z, 1.0, 1e-6); // made from the faces
	fem_render_mesh_free(&mesh);
}

FEM_TEST(import_surface, obj_groups_and_materials_are_surfaces) {
	FemRenderMesh mesh;
	FEM_REQUIRE(read_text("m.obj",
					SQUARE "o a\nusemtl red\nf 1 2 3\nusemtl blue\nf 1 3 4\no b\nf 1 2 4\no a\nusemtl red\nf 2 3 4\n",
					&mesh) == FEM_OK);
	FEM_CHECK_INT(mesh.surface_count, 3);
	FEM_CHECK_INT(mesh.surfaces[0].index_count, 6);
	FEM_CHECK(strcmp(mesh.surfaces[2].name, "b") == 0 && strcmp(mesh.surfaces[2].material, "blue") == 0);
	FEM_CHECK_INT(fem_render_mesh_triangle_count(&mesh), 4);
	fem_render_mesh_free(&mesh);
}

static FemTestFile many_groups(const char *keyword, int count) {
	FemTestFile file = {0};
	fem_test_print(&file, SQUARE);
	for (int i = 0; i < count; i++)
		fem_test_print(&file, "%s number%d\nf 1 2 3\n", keyword, i);
	return file;
}

FEM_TEST(import_surface, obj_too_many_groups_merge_too_many_materials_do_not) {
	FemRenderMesh mesh;
	FemTestFile file = many_groups("g", 300);
	FEM_CHECK(fem_import_surface_memory("m.obj", file.bytes, file.size, &mesh) == FEM_OK);
	FEM_CHECK_INT(mesh.surface_count, 1);
	fem_render_mesh_free(&mesh);
	fem_test_file_free(&file);
	file = many_groups("usemtl", 300);
	FEM_CHECK(fem_import_surface_memory("m.obj", file.bytes, file.size, &mesh) == FEM_ERROR_LIMIT);
	FEM_CHECK(strstr(fem_last_error(), "materials") != NULL);
	fem_test_file_free(&file);
}

FEM_TEST(import_surface, obj_vertex_colors) {
	FemRenderMesh mesh;
	FEM_REQUIRE(read_text("m.obj", "v 0 0 0 1 0.5 0\nv 1 0 0 2 -1 0\nv 0 1 0\nf 1 2 3\n", &mesh) == FEM_OK);
	static const uint8_t expected[3][4] = {{255, 128, 0, 255}, {255, 0, 0, 255}, {255, 255, 255, 255}};
	FEM_CHECK(mesh.surfaces[0].colors && memcmp(mesh.surfaces[0].colors, expected, sizeof expected) == 0);
	fem_render_mesh_free(&mesh);
}

FEM_TEST(import_surface, obj_refusals) {
	check_refused("m.obj", "", "empty");
	check_refused("m.obj", SQUARE, "no triangles");
	check_refused("m.obj", SQUARE "f 1 2 5\n", "line 5");
	check_refused("m.obj", SQUARE "f 1 2 0\n", "\"0\"");
	check_refused("m.obj", SQUARE "f 1 2 -5\n", "\"-5\"");
	check_refused("m.obj", SQUARE "f 1/1 2/1 3/1\n", "0 UVs");
	check_refused("m.obj", SQUARE "vt 0 0\nf 1/-2 2/1 3/1\n", "1/-2");
	check_refused("m.obj", SQUARE "f 1 2\n", "2 corners");
	check_refused("m.obj", SQUARE "f 1 2 3/x\n", "3/x");
	check_refused("m.obj", SQUARE "f 1/1/1/1 2 3\n", "not there");
	check_refused("m.obj", "v 0 0\n", "3 are needed");
	check_refused("m.obj", "v 0 0 nan\n", "nan");
	check_refused("m.obj", "v 0 0 1e30\n", "1e30");
	check_refused("m.obj", "v 0 0 1e7\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "position");
	check_refused("m.ply", "ply\n", "neither");
}

// ---- STL

static const float stl_points[2][3][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}}};

static FemTestFile stl_text(const char *line_end) {
	FemTestFile file = {0};
	for (int t = 0; t < 2; t++) {
		fem_test_print(
			&file, "solid part %d%s  facet normal 0 nan 0%s    outer loop%s", t, line_end, line_end, line_end);
		for (int v = 0; v < 3; v++)
			fem_test_print(&file, "      vertex %g %ge0 %g%s", (double)stl_points[t][v][0], (double)stl_points[t][v][1],
				(double)stl_points[t][v][2], line_end);
		fem_test_print(&file, "    endloop%s  endfacet%sendsolid part %d%s", line_end, line_end, t, line_end);
	}
	return file;
}

static FemTestFile stl_binary(uint32_t claimed) {
	FemTestFile file = {0};
	char header[80] = "solid though binary";
	fem_test_put(&file, header, sizeof header);
	fem_test_put_uint(&file, claimed, 4, false);
	for (int t = 0; t < 2; t++) {
		for (int i = 0; i < 12; i++)
			fem_test_put_float(&file, i < 3 ? NAN : stl_points[t][(i - 3) / 3][(i - 3) % 3], false);
		fem_test_put_uint(&file, 0, 2, false);
	}
	return file;
}

static void check_stl(FemTestFile file, int32_t surfaces) {
	FemRenderMesh mesh;
	FemResult result = fem_import_surface_memory("m.STL", file.bytes, file.size, &mesh);
	if (fem_test_check(result == FEM_OK, __FILE__, __LINE__, "%s", fem_last_error())) {
		FEM_CHECK_INT(mesh.surface_count, surfaces);
		FEM_CHECK_INT(fem_render_mesh_triangle_count(&mesh), 2);
		const FemRenderSurface *last = &mesh.surfaces[surfaces - 1];
		FEM_CHECK_NEAR(mesh.surfaces[0].normals[0].z, 1.0, 1e-6);
		FEM_CHECK_NEAR(last->normals[last->vertex_count - 1].z, -1.0, 1e-6);
		FEM_CHECK(memcmp(&last->positions[last->vertex_count - 3], stl_points[1], sizeof stl_points[1]) == 0);
	}
	fem_render_mesh_free(&mesh);
	fem_test_file_free(&file);
}

FEM_TEST(import_surface, stl_text_and_binary) {
	check_stl(stl_text("\n"), 2);
	check_stl(stl_text("\r\n"), 2);
	check_stl(stl_binary(2), 1);
}

FEM_TEST(import_surface, stl_refusals) {
	FemRenderMesh mesh;
	check_refused("m.stl", "", "empty");
	check_refused("m.stl", "rubbish", "no STL");
	check_refused("m.stl", "solid x\nendsolid x\n", "no triangles");
	check_refused("m.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", "vertex");
	check_refused("m.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", "line 4");
	check_refused("m.stl", "solid x\nsomething\n", "endsolid");
	FemTestFile file = stl_binary(3);
	file.bytes[0] = 'x';
	FEM_CHECK(fem_import_surface_memory("m.stl", file.bytes, file.size, &mesh) != FEM_OK);
	FEM_CHECK(strstr(fem_last_error(), "claims 3 triangles but holds 2") != NULL);
	fem_test_file_free(&file);
}

// ---- both

FEM_TEST(import_surface, truncated_at_every_byte) {
	static const char *obj = SQUARE "vt 0 0\nvn 0 0 1\ng a\nusemtl b\nf 1/1/1 2/1/1 3/1/1 4/1/1\nf 1 2 3\n";
	FemTestFile files[3] = {stl_text("\n"), stl_binary(2), {0}};
	fem_test_put(&files[2], obj, strlen(obj));
	int64_t before = fem_memory_bytes();
	for (int i = 0; i < 3; i++) {
		for (size_t size = 0; size < files[i].size; size++) {
			FemRenderMesh mesh;
			char *exact = malloc(size ? size : 1);
			memcpy(exact, files[i].bytes, size);
			if (fem_import_surface_memory(i == 2 ? "m.obj" : "m.stl", exact, size, &mesh) == FEM_OK)
				FEM_CHECK(fem_render_mesh_check(&mesh, "m") == FEM_OK);
			fem_render_mesh_free(&mesh);
			free(exact);
		}
		fem_test_file_free(&files[i]);
	}
	FEM_CHECK(fem_memory_bytes() == before);
}

// A grid of many triangles: the time grows with them, not with their square.
FEM_TEST(import_surface, obj_large_in_linear_time) {
	FemTestFile file = {0};
	int n = 200;
	for (int i = 0; i <= n; i++) {
		for (int j = 0; j <= n; j++)
			fem_test_print(&file, "v %.6f %.6f 0.123456\nvt %.4f %.4f\n", i * 0.01, j * 0.01, i * 0.005, j * 0.005);
	}
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			int a = i * (n + 1) + j + 1, b = a + n + 1;
			fem_test_print(&file, "f %d/%d %d/%d %d/%d %d/%d\n", a, a, b, b, b + 1, b + 1, a + 1, a + 1);
		}
	}
	FemRenderMesh mesh;
	double start = fem_test_cpu_ms();
	FEM_CHECK(fem_import_surface_memory("m.obj", file.bytes, file.size, &mesh) == FEM_OK);
	FEM_CHECK_TIME(fem_test_cpu_ms() - start, 3000.0);
	FEM_CHECK_INT(fem_render_mesh_triangle_count(&mesh), 2 * n * n);
	FEM_CHECK_INT(fem_render_mesh_vertex_count(&mesh), (n + 1) * (n + 1));
	fem_render_mesh_free(&mesh);
	fem_test_file_free(&file);
}
