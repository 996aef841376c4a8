// Meshes as other programs write them: few digits, stray triangles, wrong units.
#include "baking/bake.h"
#include "baking/bake_report.h"
#include "baking/mesh_diagnosis.h"
#include "fem_test.h"
#include "filling/tetrahedralize.h"
#include "geometry/embedding.h"
#include "scenes/surface_meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOX_TRIANGLES 12
#define MORE_TRIANGLES 5 // that tests add
#define VERTICES_MAX (3 * (BOX_TRIANGLES + MORE_TRIANGLES))

typedef struct Rough {
	FemVec3 vertices[VERTICES_MAX];
	int32_t triangles[VERTICES_MAX];
	int32_t count; // vertices, each of one triangle
} Rough;

// A cube whose triangles share no vertices; corners that belong together lie up to `error` apart along each axis.
static Rough rough_cube(float size, float error) {
	static const int8_t quads[6][4] = {
		{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
	Rough rough = {0};
	for (int t = 0; t < BOX_TRIANGLES; t++)
		for (int v = 0; v < 3; v++) {
			int c = quads[t / 2][v == 0 ? 0 : t % 2 + v];
			float off = error * (float)((3 * t + 5 * v) % 7) / 7.0f;
			rough.vertices[rough.count] =
				(FemVec3){size * (float)(c & 1) + off, size * (float)(c >> 1 & 1) - off, size * (float)(c >> 2) + off};
			rough.triangles[rough.count] = rough.count;
			rough.count++;
		}
	return rough;
}

static FemSoup soup_of(const Rough *rough) {
	return (FemSoup){rough->count, rough->vertices, rough->count / 3, rough->triangles};
}

// Fails when vertices are welded as closely as floats always.
FEM_TEST(rough_input, vertices_of_sixteen_bits_are_welded) {
	FemDiagnosis diagnosis;
	Rough rough = rough_cube(1.0f, 0.8e-5f);
	FemSoup soup = soup_of(&rough);
	FEM_CHECK(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	FEM_CHECK(diagnosis.open_edges == 0 && diagnosis.component_count == 1);
	// What lies farther apart was meant so.
	rough = rough_cube(1.0f, 1e-3f);
	soup = soup_of(&rough);
	FEM_CHECK(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	FEM_CHECK(diagnosis.open_edges > 12);
}

FEM_TEST(rough_input, a_stray_triangle_is_left_out_with_a_note) {
	Rough rough = rough_cube(1.0f, 0.0f);
	for (int v = 0; v < 3; v++) {
		rough.vertices[rough.count] = (FemVec3){2.0f + 0.1f * (float)(v == 1), 0.1f * (float)(v == 2), 0.0f};
		rough.triangles[rough.count] = rough.count;
		rough.count++;
	}
	FemSoup soup = soup_of(&rough);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh mesh;
	FemDiagnosis diagnosis;
	FemEmbedding embedding = {0};
	char report[FEM_REPORT_SIZE];
	def.element_count = 100;
	if (!FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK))
		return;
	FEM_CHECK(mesh.left_out_parts == 1 && mesh.left_out_triangles == 1 && mesh.member_count == 2);
	FEM_CHECK(fabsf(mesh.volume - 1.0f) < 0.01f && mesh.warning[0] == 0);
	FEM_CHECK(fem_mesh_diagnose(&soup, &mesh, &diagnosis) == FEM_OK);
	fem_bake_report_write(&mesh, &embedding, &diagnosis, report, sizeof report);
	FEM_CHECK(strstr(report, "1 small parts of 1 triangles") != NULL && strstr(report, "1 compact") != NULL);
	FEM_CHECK(strstr(report, "kg at 1000 kg/m3") != NULL && strstr(report, "while it breaks") != NULL);
	fem_tet_mesh_free(&mesh);
	// Alone it has nothing to follow, and is a sheet.
	soup = (FemSoup){3, rough.vertices, 1, rough.triangles};
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK && mesh.members[0].has_given_thickness);
	fem_tet_mesh_free(&mesh);
}

static void add_triangle(Rough *rough, FemVec3 a, FemVec3 b, FemVec3 c) {
	const FemVec3 corners[3] = {a, b, c};
	for (int v = 0; v < 3; v++) {
		rough->vertices[rough->count] = corners[v];
		rough->triangles[rough->count] = rough->count;
		rough->count++;
	}
}

// Points, lines and second copies, one of them turned round, among the triangles of a cube change nothing.
FEM_TEST(rough_input, triangles_without_area_change_nothing) {
	Rough rough = rough_cube(1.0f, 0.0f);
	FemSoup soup = soup_of(&rough);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh clean = {0}, mesh = {0};
	FemDiagnosis diagnosis;
	char text[2048];
	def.element_count = 200;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &clean) == FEM_OK);
	const FemVec3 *x = rough.vertices;
	add_triangle(&rough, x[0], x[0], x[0]);
	add_triangle(&rough, x[0], x[1], x[1]);
	add_triangle(&rough, x[0], x[1], fem_vec3_scale(fem_vec3_add(x[0], x[1]), 0.5f));
	add_triangle(&rough, x[3], x[4], x[5]);
	add_triangle(&rough, x[6], x[8], x[7]);
	soup = soup_of(&rough);
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &mesh) == FEM_OK);
	FEM_CHECK(clean.tet_count > 100 && mesh.tet_count == clean.tet_count && mesh.node_count == clean.node_count);
	FEM_CHECK(mesh.node_count == clean.node_count &&
		memcmp(mesh.nodes, clean.nodes, sizeof *mesh.nodes * (size_t)mesh.node_count) == 0);
	FEM_CHECK(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	FEM_CHECK_INT(diagnosis.useless_triangles, 5);
	FEM_CHECK(diagnosis.open_edges == 0 && diagnosis.non_manifold_edges == 0);
	fem_diagnosis_text(&diagnosis, text, (int32_t)sizeof text);
	FEM_CHECK(strstr(text, "5 triangles") != NULL);
	fem_tet_mesh_free(&clean);
	fem_tet_mesh_free(&mesh);
}

FEM_TEST(rough_input, a_doubtful_size_is_told_with_the_factor) {
	const double sizes[][2] = {
		{0.001, 100.0}, {0.00001, 1000.0}, {0.5, 1.0}, {19.0, 1.0}, {25.0, 0.01}, {350.0, 0.01}, {9000.0, 0.001}};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		FemDiagnosis diagnosis = {.size = sizes[i][0]};
		fem_test_check(fem_diagnosis_scale(&diagnosis) == sizes[i][1], __FILE__, __LINE__, "%g m: %g", sizes[i][0],
			fem_diagnosis_scale(&diagnosis));
	}
	Rough rough = rough_cube(350.0f, 0.0f);
	FemSoup soup = soup_of(&rough);
	FemDiagnosis diagnosis;
	char text[2048];
	FEM_CHECK(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	fem_diagnosis_text(&diagnosis, text, (int32_t)sizeof text);
	FEM_CHECK(strstr(text, "scale it by 0.01") != NULL && strstr(text, "3.5 m") != NULL);
}

// ---- sizes

// Cells are those of a ball of 1 m, scaled, whatever its size: a grain of 0.1 mm, a hill of 10 km.
FEM_TEST(rough_input, any_size_is_filled_alike) {
	FemBakeDef def = fem_default_bake_def();
	int32_t expected = 0;
	def.element_count = 200;
	for (int i = 0; i < 3; i++) {
		double size = (const double[]){1.0, 1e-4, 1e4}[i];
		FemSurfaceMesh ball = fem_surface_sphere(0.5 * size, 12);
		FemSoup soup = fem_surface_soup(&ball);
		FemTetMesh tets = {0};
		FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
		expected = i == 0 ? tets.tet_count : expected;
		FEM_CHECK(expected > 100);
		FEM_CHECK_INT(tets.tet_count, expected);
		FEM_CHECK_NEAR((double)tets.volume / ball.volume, 1.0, 0.1);
		fem_tet_mesh_free(&tets);
		fem_surface_mesh_free(&ball);
	}
}

// ---- one side

#define KLEIN_ROWS 16
#define KLEIN_SIDES 10

// The last row is the first one, turned inside out.
static int32_t klein_vertex(int32_t row, int32_t side) {
	return (row % KLEIN_ROWS) * KLEIN_SIDES + (row == KLEIN_ROWS ? KLEIN_SIDES - side : side) % KLEIN_SIDES;
}

FEM_TEST(rough_input, a_klein_bottle_is_filled_and_told) {
	FemVec3 vertices[KLEIN_ROWS * KLEIN_SIDES];
	int32_t triangles[6 * KLEIN_ROWS * KLEIN_SIDES], count = 0;
	for (int32_t i = 0; i < KLEIN_ROWS * KLEIN_SIDES; i++) {
		double u = 2.0 * 3.14159265358979 * (i / KLEIN_SIDES) / KLEIN_ROWS;
		double v = 2.0 * 3.14159265358979 * (i % KLEIN_SIDES) / KLEIN_SIDES;
		double r = 2.0 + cos(0.5 * u) * sin(v) - sin(0.5 * u) * sin(2.0 * v);
		vertices[i] = (FemVec3){(float)(0.2 * r * cos(u)),
			(float)(0.2 * (sin(0.5 * u) * sin(v) + cos(0.5 * u) * sin(2.0 * v))), (float)(0.2 * r * sin(u))};
	}
	for (int32_t i = 0; i < KLEIN_ROWS * KLEIN_SIDES; i++) {
		int32_t row = i / KLEIN_SIDES, side = i % KLEIN_SIDES;
		int32_t corners[4] = {klein_vertex(row, side), klein_vertex(row + 1, side), klein_vertex(row + 1, side + 1),
			klein_vertex(row, (side + 1) % KLEIN_SIDES)};
		for (int k = 0; k < 6; k++)
			triangles[count++] = corners[(const int[]){0, 1, 2, 0, 2, 3}[k]];
	}
	FemSoup soup = {KLEIN_ROWS * KLEIN_SIDES, vertices, count / 3, triangles};
	FemBakeDef def = fem_default_bake_def();
	FemDiagnosis diagnosis;
	FemTetMesh tets = {0};
	def.element_count = 200;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	printf("  %d tets, %.3f m3\n", tets.tet_count, (double)tets.volume);
	FEM_CHECK(tets.tet_count > 100 && tets.tet_count < 10000);
	FEM_CHECK(isfinite(tets.volume) && tets.volume > 0.0f && tets.volume < 0.3f); // its box has 0.6 m3
	FEM_CHECK(fem_mesh_diagnose(&soup, NULL, &diagnosis) == FEM_OK);
	FEM_CHECK(diagnosis.flipped_triangles > 0 || diagnosis.open_edges > 0 || diagnosis.non_manifold_edges > 0);
	fem_tet_mesh_free(&tets);
}

// ---- cards

// Two quads one behind the other, as signs and curtains are made.
FEM_TEST(rough_input, cards_have_a_thickness) {
	FemVec3 vertices[8] = {{-0.5f, 0.0f, 0.0f}, {0.5f, 0.0f, 0.0f}, {0.5f, 1.0f, 0.0f}, {-0.5f, 1.0f, 0.0f},
		{-0.5f, 0.0f, 0.5f}, {0.5f, 0.0f, 0.5f}, {0.5f, 1.0f, 0.5f}, {-0.5f, 1.0f, 0.5f}};
	int32_t triangles[12] = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7};
	FemSoup soup = {8, vertices, 4, triangles};
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh tets = {0};
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	FEM_CHECK_NEAR(tets.volume, 0.02 * sqrt(0.5), 0.008); // two of a hundredth of their longest side
	FEM_CHECK(strstr(tets.warning, "sheet_thickness") != NULL);
	fem_tet_mesh_free(&tets);
	def.sheet_thickness = 0.01f;
	def.element_count = 200;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	FEM_CHECK_INT(tets.member_count, 2);
	FEM_CHECK_NEAR(tets.volume, 0.02, 0.002);
	fem_tet_mesh_free(&tets);
}

// Grass: two cards that cross at right angles, not welded where they do. Two boards come of it, not a solid.
FEM_TEST(rough_input, cards_that_cross_are_boards) {
	FemVec3 vertices[8] = {{-0.5f, 0.0f, 0.0f}, {0.5f, 0.0f, 0.0f}, {0.5f, 1.0f, 0.0f}, {-0.5f, 1.0f, 0.0f},
		{0.0f, 0.0f, -0.5f}, {0.0f, 0.0f, 0.5f}, {0.0f, 1.0f, 0.5f}, {0.0f, 1.0f, -0.5f}};
	int32_t triangles[12] = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7};
	FemSoup soup = {8, vertices, 4, triangles};
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh tets = {0};
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	printf("  %d tets, %.4f m3: %s\n", tets.tet_count, (double)tets.volume, tets.warning);
	FEM_CHECK_INT(tets.member_count, 1);
	FEM_CHECK_NEAR(tets.volume, 0.02, 0.002);
	FEM_CHECK(strstr(tets.warning, "2 surfaces that enclose nothing") != NULL);
	fem_tet_mesh_free(&tets);
	def.sheet_thickness = 0.04f;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	FEM_CHECK_NEAR(tets.volume, 0.08, 0.008);
	FEM_CHECK_INT(tets.thickened_count, 0); // as told
	fem_tet_mesh_free(&tets);
}

// A floor through a cube is one body with it, and is covered to its corners.
FEM_TEST(rough_input, a_floor_through_a_cube_is_covered) {
	FemSurfaceMesh surface = fem_surface_box((FemVec3){1.0f, 1.0f, 1.0f}, 1);
	FemSurfaceMesh floor = fem_surface_box((FemVec3){6.0f, 0.1f, 6.0f}, 1);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh tets = {0};
	FemEmbedding embedding = {0};
	int32_t kept = 0;
	for (int32_t t = 0; t < floor.triangle_count; t++) { // its upper side alone
		bool above = true;
		for (int v = 0; v < 3; v++)
			above = above && floor.vertices[floor.triangles[t][v]].y > 0.0f;
		if (above)
			memcpy(floor.triangles[kept++], floor.triangles[t], sizeof *floor.triangles);
	}
	floor.triangle_count = kept;
	fem_surface_append(&surface, &floor);
	FemSoup soup = fem_surface_soup(&surface);
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	FEM_CHECK_INT(tets.member_count, 1);
	FEM_CHECK_NEAR(tets.volume, 1.0 + 0.06 * 35.0, 0.2);
	FemEmbedMesh mesh = {tets.node_count, tets.tet_count, tets.nodes, tets.tets, tets.tet_members};
	FEM_CHECK(fem_embed(&mesh, soup.vertices, tets.vertex_members, soup.vertex_count, &embedding) == FEM_OK);
	FEM_CHECK((double)embedding.max_outside < 0.01 * 6.0);
	fem_embedding_free(&embedding);
	fem_tet_mesh_free(&tets);
	fem_surface_mesh_free(&floor);
	fem_surface_mesh_free(&surface);
}

// The count is a wish: each of many parts gets its few tets, and the report tells how many there are.
FEM_TEST(rough_input, many_parts_take_more_elements_than_asked_for) {
	FemSurfaceMesh surface = fem_surface_box((FemVec3){0.1f, 0.1f, 0.1f}, 1);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh tets = {0};
	for (int32_t n = 1; n < 40; n++) {
		FemSurfaceMesh box = fem_surface_box((FemVec3){0.1f, 0.1f, 0.1f}, 1);
		fem_surface_transform(
			&box, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 1.0, (FemVec3d){0.2 * (n % 8), 0.2 * (double)(n / 8), 0.0});
		fem_surface_append(&surface, &box);
		fem_surface_mesh_free(&box);
	}
	FemSoup soup = fem_surface_soup(&surface);
	def.element_count = 100;
	FEM_CHECK(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	FEM_CHECK_INT(tets.member_count, 40);
	FEM_CHECK(tets.tet_count >= 200 && tets.tet_count < 600);
	FEM_CHECK_NEAR(tets.volume, 0.04, 0.0004);
	FEM_CHECK_INT(tets.asked_count, 100); // what the report compares with
	fem_tet_mesh_free(&tets);
	fem_surface_mesh_free(&surface);
}

// ---- volume

// Three bars through each other, open at one end: most columns through their box meet nothing (1.3 % off when all are
// counted).
FEM_TEST(rough_input, open_sticks_have_their_volume) {
	const FemVec3 sizes[] = {{1.0f, 0.012f, 0.012f}, {0.012f, 1.0f, 0.012f}, {0.012f, 0.012f, 1.0f}};
	FemSurfaceMesh surface = {0};
	for (int i = 0; i < 3; i++) {
		FemSurfaceMesh bar = fem_surface_box(sizes[i], 1);
		int32_t kept = 0;
		for (int32_t t = 0; t < bar.triangle_count; t++) {
			bool at_end = true;
			for (int v = 0; v < 3; v++)
				at_end = at_end && (&bar.vertices[bar.triangles[t][v]].x)[i] > 0.4f;
			if (!at_end)
				memcpy(bar.triangles[kept++], bar.triangles[t], sizeof *bar.triangles);
		}
		bar.triangle_count = kept;
		if (i == 0)
			surface = bar;
		else
			fem_surface_append(&surface, &bar);
		if (i > 0)
			fem_surface_mesh_free(&bar);
	}
	fem_surface_transform(&surface, (FemQuat){0.2f, 0.3f, 0.1f, 0.927f}, 1.0, (FemVec3d){0.0, 0.0, 0.0});
	FemSoup soup = fem_surface_soup(&surface);
	FemBakeDef def = fem_default_bake_def();
	FemTetMesh tets = {0};
	double wanted = 3.0 * 0.012 * 0.012 - 2.0 * 0.012 * 0.012 * 0.012;
	FEM_REQUIRE(fem_tetrahedralize(&soup, &def, &tets) == FEM_OK);
	double measured = (double)tets.members[0].input_volume / wanted, filled = (double)tets.volume / wanted;
	printf("  %d tets, %.3f of the volume; measured %.3f\n", tets.tet_count, filled, measured);
	FEM_CHECK_INT(tets.member_count, 1);
	FEM_CHECK_NEAR(measured, 1.0, 0.01);
	FEM_CHECK_NEAR(filled, 1.0, 0.1);
	fem_tet_mesh_free(&tets);
	fem_surface_mesh_free(&surface);
}
