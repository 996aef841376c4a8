// Tet meshes read from files of other programs: every format gives back the mesh it was made from, and nothing that is
// wrong with a file goes unnoticed or unexplained.
#include "base/error.h"
#include "base/memory.h"
#include "fem_bake/files/file_bytes.h"
#include "fem_bake/files/tet_import.h"
#include "fem_test.h"
#include "mesh_files.h"
#include "scenes/box_mesh.h"

#include <stdlib.h>

static const FemVec3 two_nodes[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1.1f, 1.2f, 1.3f}};
static const int32_t two_tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
static const int32_t two_regions[] = {3, 2};
static const FemTestMesh two = {5, 2, two_nodes, two_tets, two_regions};

static FemResult import(const FemTestFile *file, const char *name, FemTetArrays *out, FemImportInfo *info) {
	return fem_import_tet_memory(&(FemImportFile){name, file->bytes, file->size}, NULL, out, info);
}

static FemImportInfo info; // too large for the stack

// The same nodes in the same order, the same tets up to being turned round, regions numbered by ascending value.
static void check_same(const FemTetArrays *mesh, const FemTestMesh *expected) {
	FEM_CHECK_INT(mesh->node_count, expected->node_count);
	FEM_CHECK_INT(mesh->tet_count, expected->tet_count);
	if (mesh->node_count != expected->node_count || mesh->tet_count != expected->tet_count)
		return;
	FEM_CHECK(memcmp(mesh->nodes, expected->nodes, sizeof *mesh->nodes * (size_t)mesh->node_count) == 0);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		const int32_t *a = mesh->tets + 4 * t, *b = expected->tets + 4 * t;
		bool same = a[0] == b[0] && a[1] == b[1] && ((a[2] == b[2] && a[3] == b[3]) || (a[2] == b[3] && a[3] == b[2]));
		FEM_CHECK(same);
		FEM_CHECK_INT(
			fmod(info.regions[mesh->tet_regions[t]].value, 100.0), expected->regions ? expected->regions[t] : 0);
	}
	for (int32_t i = 1; i < info.region_count; i++)
		FEM_CHECK(info.regions[i - 1].value < info.regions[i].value);
	FEM_CHECK(fem_tet_arrays_check(mesh, "mesh") == FEM_OK);
}

// Takes the file.
static void check_file(FemTestFile file, const char *name, const FemTestMesh *expected) {
	FemTetArrays mesh;
	FemResult result = import(&file, name, &mesh, &info);
	fem_test_check(result == FEM_OK, __FILE__, __LINE__, "%s: %s", name, fem_last_error());
	if (result == FEM_OK)
		check_same(&mesh, expected);
	fem_tet_arrays_free(&mesh);
	fem_test_file_free(&file);
}

// The file is refused, and the sentence names the file and holds the word.
static void check_refused(const char *name, const void *bytes, size_t size, const char *word) {
	FemTetArrays mesh;
	int64_t before = fem_memory_bytes();
	FemResult result = fem_import_tet_memory(&(FemImportFile){name, bytes, size}, NULL, &mesh, NULL);
	fem_test_check(result != FEM_OK, __FILE__, __LINE__, "%s was read, but not \"%s\"", name, word);
	fem_test_check(result == FEM_OK || (strstr(fem_last_error(), name) && strstr(fem_last_error(), word)), __FILE__,
		__LINE__, "\"%s\" lacks %s or \"%s\"", fem_last_error(), name, word);
	FEM_CHECK(mesh.nodes == NULL && mesh.tets == NULL);
	FEM_CHECK(fem_memory_bytes() == before);
}

static void check_text_refused(const char *name, const char *text, const char *word) {
	check_refused(name, text, strlen(text), word);
}

// ---- TetGen

static FemResult import_tetgen(const FemTestFile *nodes, const FemTestFile *tets, FemTetArrays *out) {
	FemImportFile first = {"m.node", nodes->bytes, nodes->size}, second = {"m.ele", tets->bytes, tets->size};
	return fem_import_tet_memory(&second, &first, out, &info);
}

static void check_tetgen(const FemTestMesh *mesh, int first, int corners, const char *line_end) {
	FemTestFile nodes = fem_test_tetgen_nodes(mesh, first, line_end),
				tets = fem_test_tetgen_tets(mesh, first, corners, line_end);
	FemTetArrays read;
	FemResult result = import_tetgen(&nodes, &tets, &read);
	fem_test_check(result == FEM_OK, __FILE__, __LINE__, "first %d, %d corners: %s", first, corners, fem_last_error());
	if (result == FEM_OK)
		check_same(&read, mesh);
	fem_tet_arrays_free(&read);
	fem_test_file_free(&nodes);
	fem_test_file_free(&tets);
}

FEM_TEST(import, tetgen_from_0_and_1_crlf_second_order) {
	for (int first = 0; first < 2; first++) {
		check_tetgen(&two, first, 4, "\n");
		check_tetgen(&two, first, 10, "\r\n");
	}
}

static void check_tetgen_refused(const char *nodes, const char *tets, const char *word) {
	FemTestFile node_file = {(char *)(uintptr_t)nodes, strlen(nodes), 0},
				tet_file = {(char *)(uintptr_t)tets, strlen(tets), 0};
	FemTetArrays mesh;
	FEM_CHECK(import_tetgen(&node_file, &tet_file, &mesh) != FEM_OK);
	fem_test_check(strstr(fem_last_error(), word) && strstr(fem_last_error(), "m."), __FILE__, __LINE__,
		"\"%s\" lacks \"%s\"", fem_last_error(), word);
}

#define FOUR_POINTS "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"

FEM_TEST(import, tetgen_refusals) {
	check_tetgen_refused(FOUR_POINTS, "1 4 0\n1 1 2 3 5\n", "names node 5");
	check_tetgen_refused(FOUR_POINTS, "1 4 0\n1 1 2 3 3\n", "at least 4 nodes");
	check_tetgen_refused(FOUR_POINTS, "2 4 0\n1 1 2 3 4\n2 4 3 2 1\n", "same nodes");
	check_tetgen_refused(FOUR_POINTS, "2 4 0\n1 1 2 3 4\n", "cut short");
	check_tetgen_refused(FOUR_POINTS, "999999999999 4 0\n1 1 2 3 4\n", "cut short");
	check_tetgen_refused(FOUR_POINTS, "1 4 0\n1 1 2 x 4\n", "line 2");
	check_tetgen_refused(FOUR_POINTS, "1 3 0\n1 1 2 3\n", "3 points");
	check_tetgen_refused(FOUR_POINTS, "-1 4 0\n", "at least 1");
	check_tetgen_refused("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n", "1 4 0\n1 1 2 3 4\n", "no volume");
	check_tetgen_refused("4 2 0 0\n1 0 0\n", "1 4 0\n1 1 2 3 4\n", "2 coordinates");
	check_tetgen_refused("4 3 0 0\n1 0 0 0\n2 1 0 nan\n3 0 1 0\n4 0 0 1\n", "1 4 0\n1 1 2 3 4\n", "line 3");
	check_tetgen_refused("4 3 0 0\n1 0 0 0\n2 1 0 1e40\n3 0 1 0\n4 0 0 1\n", "1 4 0\n1 1 2 3 4\n", "node 2");
	check_tetgen_refused("4 3 0 0\n1 0 0 0\n2 1 0 1e400\n3 0 1 0\n4 0 0 1\n", "1 4 0\n1 1 2 3 4\n", "line 3");
	check_tetgen_refused("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n2 0 0 1\n", "1 4 0\n1 1 2 3 4\n", "node 2 twice");
	check_text_refused("m.node", FOUR_POINTS, "together");
}

FEM_TEST(import, tetgen_by_path) {
	const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : getenv("TEMP") ? getenv("TEMP") : "/tmp";
	char path[2][512];
	FemTestFile files[2] = {fem_test_tetgen_nodes(&two, 1, "\n"), fem_test_tetgen_tets(&two, 1, 4, "\n")};
	FemTetArrays mesh;
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof path[i], "%s/fem_test_import.%s", folder, i ? "ele" : "node");
		FEM_REQUIRE(fem_file_write(path[i], files[i].bytes, files[i].size) == FEM_OK);
		fem_test_file_free(&files[i]);
	}
	for (int i = 0; i < 2; i++) {
		FEM_CHECK(fem_import_tet_mesh(path[i], &mesh, &info) == FEM_OK);
		check_same(&mesh, &two);
		fem_tet_arrays_free(&mesh);
	}
	remove(path[0]);
	FEM_CHECK(fem_import_tet_mesh(path[1], &mesh, &info) != FEM_OK);
	FEM_CHECK(strstr(fem_last_error(), "fem_test_import.node") != NULL);
	remove(path[1]);
}

// ---- Gmsh

FEM_TEST(import, gmsh_2_and_4_ascii_and_binary) {
	for (int i = 0; i < 16; i++)
		check_file(fem_test_gmsh(&two, i & 1 ? 2 : 4, i & 2, i & 4 ? 10 : 4, i & 8), "m.msh", &two);
}

FEM_TEST(import, gmsh_names_regions) {
	for (int version = 2; version <= 4; version += 2) {
		FemTestFile file = fem_test_gmsh(&two, version, false, 4, false);
		FemTetArrays mesh;
		FEM_CHECK(import(&file, "m.msh", &mesh, &info) == FEM_OK);
		FEM_CHECK_INT(info.region_count, 2);
		FEM_CHECK(strcmp(info.regions[0].name, "") == 0);
		FEM_CHECK(strcmp(info.regions[1].name, "core of it") == 0);
		FEM_CHECK_INT(mesh.tet_regions[0], 1);
		fem_tet_arrays_free(&mesh);
		fem_test_file_free(&file);
	}
}

#define GMSH_2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define GMSH_NODES "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"

// Where no tet is in a physical group, the entities are the regions.
FEM_TEST(import, gmsh_entities_without_groups) {
	const char *text = GMSH_2 "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n"
							  "$Elements\n2\n1 4 2 0 7 1 2 3 4\n2 4 2 0 5 2 3 4 5\n$EndElements\n";
	FemTestFile file = {(char *)(uintptr_t)text, strlen(text), 0};
	FemTetArrays mesh;
	FEM_REQUIRE(import(&file, "m.msh", &mesh, &info) == FEM_OK);
	FEM_CHECK_INT(info.region_count, 2);
	FEM_CHECK_INT(mesh.tet_regions[0], 1);
	FEM_CHECK_INT(mesh.tet_regions[1], 0);
	fem_tet_arrays_free(&mesh);
}

// Nodes on curves and faces may carry their parameters; sections may come that we do not know.
FEM_TEST(import, gmsh_4_parametric_nodes) {
	const char *text =
		"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 4 1 9\n2 1 1 2\n1\n2\n0 0 0 0.5 0.5\n1 0 0 0.1 0.2\n"
		"3 1 0 2\n9\n4\n0 1 0\n0 0 1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 9 4\n$EndElements\n"
		"$NodeData\n1\n\"x\"\n$EndNodeData\n";
	static const FemVec3 nodes[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	static const int32_t tets[] = {0, 1, 2, 3}, regions[] = {1};
	FemTestFile file = {0};
	fem_test_put(&file, text, strlen(text));
	check_file(file, "m.msh", &(FemTestMesh){4, 1, nodes, tets, regions});
}

FEM_TEST(import, gmsh_big_endian) {
	FemTestFile file = {0};
	fem_test_print(&file, "$MeshFormat\n2.2 1 8\n");
	fem_test_put_uint(&file, 1, 4, true);
	fem_test_print(&file, "\n$EndMeshFormat\n$Nodes\n4\n");
	for (int i = 0; i < 4; i++) {
		fem_test_put_uint(&file, (uint64_t)i + 1, 4, true);
		for (int axis = 0; axis < 3; axis++)
			fem_test_put_double(&file, axis == i ? 1.0 : 0.0, true);
	}
	fem_test_print(&file, "\n$EndNodes\n$Elements\n1\n");
	static const int32_t element[] = {4, 1, 2, 1, 0, 0, 1, 2, 3, 4};
	for (int i = 0; i < 10; i++)
		fem_test_put_uint(&file, (uint64_t)element[i], 4, true);
	fem_test_print(&file, "\n$EndElements\n");
	static const FemVec3 nodes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
	static const int32_t tets[] = {0, 1, 2, 3};
	check_file(file, "m.msh", &(FemTestMesh){4, 1, nodes, tets, NULL});
}

FEM_TEST(import, gmsh_refusals) {
	check_text_refused("m.msh", "$MeshFormat\n1.0 0 8\n$EndMeshFormat\n", "Version 4.1");
	check_text_refused("m.msh", "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", "Version 4.1");
	check_text_refused("m.msh", "$NOD\n4\n", "$MeshFormat");
	check_text_refused("m.msh", GMSH_2 GMSH_NODES, "no tets");
	check_text_refused(
		"m.msh", GMSH_2 GMSH_NODES "$Elements\n1\n1 2 0 1 2 3\n$EndElements\n", "points, lines or faces");
	check_text_refused(
		"m.msh", GMSH_2 GMSH_NODES "$Elements\n1\n1 5 0 1 2 3 4 1 2 3 4\n$EndElements\n", "cut them into tets");
	check_text_refused("m.msh", GMSH_2 GMSH_NODES "$Elements\n1\n1 77 0 1 2 3 4\n$EndElements\n", "unknown type");
	check_text_refused("m.msh", GMSH_2 GMSH_NODES "$Elements\n1\n1 4 0 1 2 3 4\n", "not closed");
	check_text_refused(
		"m.msh", GMSH_2 GMSH_NODES "$Elements\n1\n1 4 0 1 2 3 4\n2 4 0 1 2 3 4\n$EndElements\n", "line 14");
	check_text_refused("m.msh", GMSH_2 GMSH_NODES "$Elements\n2000000000\n1 4 0 1 2 3 4\n", "cut short");
	check_text_refused("m.msh", GMSH_2 GMSH_NODES "$Elements\n1\n1 4 0 1 2 3 9\n$EndElements\n", "names node 9");
	check_text_refused("m.msh", GMSH_2 "$Nodes\n1\n1 0 0 inf\n$EndNodes\n", "inf");
	check_text_refused("m.msh", GMSH_2 "$Strange\n1 2 3\n", "no end");
	check_text_refused("m.msh", GMSH_2 "1 2 3\n", "a section");
}

// ---- VTK

FEM_TEST(import, vtk_legacy_ascii_and_binary) {
	for (int i = 0; i < 4; i++)
		check_file(fem_test_vtk(&two, i & 1 ? 3 : 5, i & 2), "m.vtk", &two);
}

FEM_TEST(import, vtu_ascii_base64_appended) {
	for (int form = 0; form < FEM_VTU_FORM_COUNT; form++) {
		check_file(fem_test_vtu(&two, (FemVtuForm)form, false), "m.vtu", &two);
		check_file(fem_test_vtu(&two, (FemVtuForm)form, true), "m.vtu", &two);
	}
}

#define VTK_HEAD \
	"# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
#define VTU_HEAD "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"><UnstructuredGrid>"

// Skipped: everything a file may hold beside the grid.
FEM_TEST(import, vtk_passes_over_other_data) {
	const char *text =
		"# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n"
		"POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1d0\nCELLS 2 9\n4 0 1 2 3\n3 0 1 2\nCELL_TYPES 2\n24 5\n"
		"POINT_DATA 4\nVECTORS v float\n1 2 3 1 2 3 1 2 3 1 2 3\nSCALARS s float\nLOOKUP_TABLE l\n0 1 2 nan\n"
		"LOOKUP_TABLE l 1\n0 0 0 1\nTEXTURE_COORDINATES t 2 float\n0 0 0 0 0 0 0 0\nCOLOR_SCALARS c 1\n1 1 1 1\n"
		"CELL_DATA 2\nTENSORS t float\n1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9\nSCALARS CellEntityIds int 1\n"
		"LOOKUP_TABLE default\n12 5\nSCALARS other int 1\nLOOKUP_TABLE default\n1 1\n";
	static const FemVec3 nodes[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	static const int32_t tets[] = {0, 1, 2, 3}, regions[] = {12};
	FemTestFile file = {0};
	fem_test_put(&file, text, strlen(text));
	check_file(file, "m.vtk", &(FemTestMesh){4, 1, nodes, tets, regions});
}

FEM_TEST(import, vtk_refusals) {
	check_text_refused("m.vtk", "nothing", "no tet mesh");
	check_text_refused("m.vtk", "# vtk DataFile Version 3.0\nx\nASCI\n", "ASCII or BINARY");
	check_text_refused("m.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\n", "UNSTRUCTURED_GRID");
	check_text_refused("m.vtk", VTK_HEAD "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n", "cut them into tets");
	check_text_refused("m.vtk", VTK_HEAD "CELLS 1 5\n4 0 1 2 3\n", "0 cell types");
	check_text_refused("m.vtk", VTK_HEAD "CELLS 1 5\n5 0 1 2 3\nCELL_TYPES 1\n10\n", "longer than");
	check_text_refused("m.vtk", VTK_HEAD "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n", "has 3 points");
	check_text_refused("m.vtk", VTK_HEAD "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n", "names node 4");
	check_text_refused("m.vtk", VTK_HEAD "CELLS 999999999999 9999999999999\n4 0 1 2 3\n", "cut short");
	check_text_refused("m.vtk", VTK_HEAD "POINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n", "two sets");
	check_text_refused("m.vtk", VTK_HEAD "CELL_DATA 9\nSCALARS s strange\n", "strange");
	check_text_refused("m.vtk", VTK_HEAD "CELL_DATA 9223372036854775\nTENSORS s float\n1 2\n", "cut short");
	check_text_refused("m.vtk", VTK_HEAD "NONSENSE 1\n", "NONSENSE");
}

FEM_TEST(import, vtu_refusals) {
	check_text_refused("m.vtu", "<?xml version=\"1.0\"?><other/>", "VTKFile");
	check_text_refused("m.vtu", "<VTKFile type=\"PolyData\"></VTKFile>", "UnstructuredGrid");
	check_text_refused(
		"m.vtu", "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkZLibDataCompressor\">", "without compression");
	check_text_refused("m.vtu", VTU_HEAD, "Piece");
	check_text_refused("m.vtu", VTU_HEAD "<Piece NumberOfPoints=\"x\" NumberOfCells=\"1\">", "how many");
	check_text_refused(
		"m.vtu", VTU_HEAD "<Piece NumberOfPoints='4' NumberOfCells='1'></Piece><Piece>", "several pieces");
	check_text_refused("m.vtu", VTU_HEAD "<Piece NumberOfPoints='4' NumberOfCells='1'/>", "no array of points");
	check_text_refused("m.vtu",
		VTU_HEAD "<Piece NumberOfPoints='4' NumberOfCells='1'><Points><DataArray type='Float32' "
				 "format='appended' offset='99'/></Points><AppendedData encoding='raw'>_abc",
		"behind the end");
	check_text_refused("m.vtu",
		VTU_HEAD "<Piece NumberOfPoints='4000000000' NumberOfCells='1'><Points><DataArray type='Float32' "
				 "format='binary'>/////w==</DataArray></Points></Piece>",
		"shorter than it says");
	check_text_refused("m.vtu",
		VTU_HEAD "<Piece NumberOfPoints='4' NumberOfCells='1'><Points><DataArray type='Float32' "
				 "format='ascii'>0 0 0 1 0 0 nan 1 0 0 0 1</DataArray></Points></Piece>",
		"nan");
}

// An array of ids is no list of materials.
FEM_TEST(import, vtk_guessed_regions_may_be_too_many) {
	FemBoxMesh box = fem_box_mesh(4, 4, 4, (FemVec3){1, 1, 1}, FEM_CELLS_KUHN);
	int32_t *ids = malloc(sizeof *ids * (size_t)box.tet_count);
	for (int32_t t = 0; t < box.tet_count; t++)
		ids[t] = t;
	for (int known = 0; known < 2; known++) {
		FemTestFile file =
			fem_test_vtk(&(FemTestMesh){box.node_count, box.tet_count, box.positions, box.tets, ids}, 3, false);
		FemTetArrays mesh;
		fem_test_put(&file, "", 1); // ended by a zero, which counts as a blank
		char *name = strstr(file.bytes, "material 1");
		FEM_REQUIRE(name != NULL);
		if (!known)
			memcpy(name, "cell_num", 8);
		FemResult result = import(&file, "m.vtk", &mesh, &info);
		FEM_CHECK(result == (known ? FEM_ERROR_LIMIT : FEM_OK));
		FEM_CHECK_INT(known ? 1 : info.region_count, 1);
		fem_tet_arrays_free(&mesh);
		fem_test_file_free(&file);
	}
	free(ids);
	fem_box_mesh_free(&box);
}

// ---- all of them

static FemTestFile make_file(int kind, const FemTestMesh *mesh, const char **out_name) {
	*out_name = kind < 4 ? "m.msh" : kind < 8 ? "m.vtk" : "m.vtu";
	if (kind < 4)
		return fem_test_gmsh(mesh, kind & 1 ? 2 : 4, kind & 2, 4, false);
	if (kind < 8)
		return fem_test_vtk(mesh, kind & 1 ? 3 : 5, kind & 2);
	return fem_test_vtu(mesh, (FemVtuForm)(kind - 8), false);
}

#define KIND_COUNT 12

// Cut at any byte, a file is refused or, where only its end was cut off, gives the whole mesh.
FEM_TEST(import, truncated_at_every_byte) {
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const char *name;
		FemTestFile file = make_file(kind, &two, &name);
		int64_t before = fem_memory_bytes();
		for (size_t size = 0; size < file.size; size++) {
			FemTetArrays mesh;
			char *exact = malloc(size ? size : 1); // so that the sanitizer sees a read past the end
			memcpy(exact, file.bytes, size);
			FemResult result = fem_import_tet_memory(&(FemImportFile){name, exact, size}, NULL, &mesh, NULL);
			fem_test_check(result != FEM_OK ? fem_last_error()[0] != 0 : mesh.tet_count == two.tet_count, __FILE__,
				__LINE__, "kind %d, %d of %d bytes: %d tets", kind, (int)size, (int)file.size, mesh.tet_count);
			fem_tet_arrays_free(&mesh);
			free(exact);
		}
		FEM_CHECK(fem_memory_bytes() == before);
		fem_test_file_free(&file);
	}
}

FEM_TEST(import, flipped_bits) {
	uint32_t random = 1;
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const char *name;
		FemTestFile file = make_file(kind, &two, &name);
		int64_t before = fem_memory_bytes();
		for (int round = 0; round < 2000; round++) {
			FemTetArrays mesh;
			random = random * 1664525u + 1013904223u;
			size_t at = (random >> 4) % file.size;
			char flip = (char)(1u << (random >> 28 & 7));
			file.bytes[at] ^= flip;
			if (import(&file, name, &mesh, NULL) == FEM_OK)
				FEM_CHECK(fem_tet_arrays_check(&mesh, name) == FEM_OK);
			fem_tet_arrays_free(&mesh);
			file.bytes[at] ^= flip;
		}
		FEM_CHECK(fem_memory_bytes() == before);
		fem_test_file_free(&file);
	}
}

FEM_TEST(import, empty_and_unknown_files) {
	check_refused("m.msh", NULL, 0, "empty");
	check_text_refused("m.xyz", "1 2 3", "no tet mesh");
	FEM_CHECK(fem_import_knows("a/b.MSH") && fem_import_knows("x.vtu") && !fem_import_knows("x.obj") &&
		!fem_import_knows(".ele"));
	FemTetArrays mesh;
	FEM_CHECK(fem_import_tet_mesh("there/is/no.msh", &mesh, NULL) != FEM_OK);
	FEM_CHECK(strstr(fem_last_error(), "no.msh") != NULL);
}

// A mesh of some size: the same from every format, in time that grows with the bytes.
FEM_TEST(import, larger_meshes) {
	FemBoxMesh box = fem_box_mesh(12, 12, 12, (FemVec3){1, 2, 3}, FEM_CELLS_FIVE);
	int32_t *regions = malloc(sizeof *regions * (size_t)box.tet_count);
	for (int32_t t = 0; t < box.tet_count; t++)
		regions[t] = t % 7;
	FemTestMesh mesh = {box.node_count, box.tet_count, box.positions, box.tets, regions};
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const char *name;
		FemTestFile file = make_file(kind, &mesh, &name);
		double start = fem_test_cpu_ms();
		check_file(file, name, &mesh);
		FEM_CHECK_TIME(fem_test_cpu_ms() - start, 2000.0);
	}
	free(regions);
	fem_box_mesh_free(&box);
}
