#include "mesh_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- building

void fem_test_file_free(FemTestFile *file) {
	free(file->bytes);
	*file = (FemTestFile){0};
}

void fem_test_put(FemTestFile *file, const void *bytes, size_t size) {
	if (file->size + size > file->capacity) {
		file->capacity = 2 * (file->size + size) + 64;
		file->bytes = realloc(file->bytes, file->capacity);
		if (!file->bytes)
			abort();
	}
	if (size)
		memcpy(file->bytes + file->size, bytes, size);
	file->size += size;
}

void fem_test_print(FemTestFile *file, const char *format, ...) {
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fem_test_put(file, text, (size_t)length);
}

void fem_test_put_uint(FemTestFile *file, uint64_t value, int width, bool big_endian) {
	uint8_t bytes[8];
	for (int i = 0; i < width; i++)
		bytes[i] = (uint8_t)(value >> 8 * (big_endian ? width - 1 - i : i));
	fem_test_put(file, bytes, (size_t)width);
}

void fem_test_put_double(FemTestFile *file, double value, bool big_endian) {
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	fem_test_put_uint(file, bits, 8, big_endian);
}

void fem_test_put_float(FemTestFile *file, float value, bool big_endian) {
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	fem_test_put_uint(file, bits, 4, big_endian);
}

static int region_of(const FemTestMesh *mesh, int32_t tet) {
	return mesh->regions ? mesh->regions[tet] : 0;
}

static int corner_of(const FemTestMesh *mesh, int32_t tet, int v) {
	return mesh->tets[4 * tet + v % 4];
}

static double coordinate(const FemTestMesh *mesh, int32_t node, int axis) {
	FemVec3 p = mesh->nodes[node];
	return (double)(axis == 0 ? p.x : axis == 1 ? p.y : p.z);
}

// ---- TetGen

FemTestFile fem_test_tetgen_nodes(const FemTestMesh *mesh, int first, const char *end) {
	FemTestFile file = {0};
	fem_test_print(&file, "# a comment%s%s%d 3 1 1 # header%s", end, end, mesh->node_count, end);
	for (int32_t i = 0; i < mesh->node_count; i++)
		fem_test_print(&file, "%d  %.9g %.9g %.9g 0.5 1%s", first + i, coordinate(mesh, i, 0), coordinate(mesh, i, 1),
			coordinate(mesh, i, 2), end);
	return file;
}

FemTestFile fem_test_tetgen_tets(const FemTestMesh *mesh, int first, int corners, const char *end) {
	FemTestFile file = {0};
	fem_test_print(&file, "# 7 7 7%s%d %d 1%s", end, mesh->tet_count, corners, end);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		fem_test_print(&file, "%d", first + t);
		for (int v = 0; v < corners; v++)
			fem_test_print(&file, " %d", corner_of(mesh, t, v) + first);
		fem_test_print(&file, " %d # tet%s", region_of(mesh, t), end);
	}
	fem_test_print(&file, "# end%s", end);
	return file;
}

// ---- Gmsh

// A number as text or bytes: the formats differ in nothing else.
static void put_int(FemTestFile *file, bool binary, int value) {
	if (binary)
		fem_test_put_uint(file, (uint32_t)value, 4, false);
	else
		fem_test_print(file, "%d ", value);
}

static void put_size(FemTestFile *file, bool binary, int value) {
	if (binary)
		fem_test_put_uint(file, (uint32_t)value, 8, false);
	else
		fem_test_print(file, "%d ", value);
}

static void put_real(FemTestFile *file, bool binary, double value) {
	if (binary)
		fem_test_put_double(file, value, false);
	else
		fem_test_print(file, "%.17g ", value);
}

static void put_line(FemTestFile *file, bool binary) {
	if (!binary)
		fem_test_print(file, "\n");
}

static int tag_of(int32_t node, bool sparse) {
	return sparse ? 10 * node + 7 : node + 1;
}

static void gmsh_2(FemTestFile *file, const FemTestMesh *mesh, bool binary, int corners, bool sparse) {
	fem_test_print(file, "$Nodes\n%d\n", mesh->node_count);
	for (int32_t i = 0; i < mesh->node_count; i++) {
		put_int(file, binary, tag_of(i, sparse));
		for (int axis = 0; axis < 3; axis++)
			put_real(file, binary, coordinate(mesh, i, axis));
		put_line(file, binary);
	}
	fem_test_print(file, "$EndNodes\n$Elements\n%d\n", mesh->tet_count + 1);
	for (int32_t t = -1; t < mesh->tet_count; t++) {
		int type = t < 0 ? 2 : corners == 4 ? 4 : 11;
		int header[3] = {binary ? type : t + 2, binary ? 1 : type, 2};
		for (int i = 0; i < 3; i++)
			put_int(file, binary, header[i]);
		if (binary)
			put_int(file, binary, t + 2);
		put_int(file, binary, t < 0 ? 99 : region_of(mesh, t));
		put_int(file, binary, 1);
		for (int v = 0; v < (t < 0 ? 3 : corners); v++)
			put_int(file, binary, tag_of(corner_of(mesh, t < 0 ? 0 : t, v), sparse));
		put_line(file, binary);
	}
	fem_test_print(file, "%s$EndElements\n", binary ? "\n" : "");
}

// One volume for each region from 0 to 9, of physical group region + 100 (0: none).
static void gmsh_4_entities(FemTestFile *file, bool binary) {
	fem_test_print(file, "$Entities\n");
	for (int dimension = 0; dimension < 4; dimension++)
		put_size(file, binary, dimension == 3 ? 10 : dimension == 0 ? 1 : 0);
	put_line(file, binary);
	put_int(file, binary, 1);
	for (int i = 0; i < 3; i++)
		put_real(file, binary, 0.0);
	put_size(file, binary, 0);
	put_line(file, binary);
	for (int region = 0; region < 10; region++) {
		put_int(file, binary, region + 1);
		for (int i = 0; i < 6; i++)
			put_real(file, binary, i / 3);
		put_size(file, binary, 1);
		put_int(file, binary, region + 100);
		put_size(file, binary, 2);
		put_int(file, binary, 5);
		put_int(file, binary, -6);
		put_line(file, binary);
	}
	fem_test_print(file, "%s$EndEntities\n", binary ? "\n" : "");
}

static void gmsh_4_nodes(FemTestFile *file, const FemTestMesh *mesh, bool binary, bool sparse) {
	int head[4] = {1, mesh->node_count, tag_of(0, sparse), tag_of(mesh->node_count - 1, sparse)}, block[3] = {3, 1, 0};
	fem_test_print(file, "$Nodes\n");
	for (int i = 0; i < 4; i++)
		put_size(file, binary, head[i]);
	put_line(file, binary);
	for (int i = 0; i < 3; i++)
		put_int(file, binary, block[i]);
	put_size(file, binary, mesh->node_count);
	put_line(file, binary);
	for (int32_t i = 0; i < mesh->node_count; i++) {
		put_size(file, binary, tag_of(i, sparse));
		put_line(file, binary);
	}
	for (int32_t i = 0; i < mesh->node_count; i++) {
		for (int axis = 0; axis < 3; axis++)
			put_real(file, binary, coordinate(mesh, i, axis));
		put_line(file, binary);
	}
	fem_test_print(file, "%s$EndNodes\n", binary ? "\n" : "");
}

// Each tet is a block of its own, so that each has its region.
static void gmsh_4_elements(FemTestFile *file, const FemTestMesh *mesh, bool binary, int corners, bool sparse) {
	int head[4] = {mesh->tet_count, mesh->tet_count, 1, mesh->tet_count};
	fem_test_print(file, "$Elements\n");
	for (int i = 0; i < 4; i++)
		put_size(file, binary, head[i]);
	put_line(file, binary);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		put_int(file, binary, 3);
		put_int(file, binary, region_of(mesh, t) + 1);
		put_int(file, binary, corners == 4 ? 4 : 11);
		put_size(file, binary, 1);
		put_line(file, binary);
		put_size(file, binary, t + 1);
		for (int v = 0; v < corners; v++)
			put_size(file, binary, tag_of(corner_of(mesh, t, v), sparse));
		put_line(file, binary);
	}
	fem_test_print(file, "%s$EndElements\n", binary ? "\n" : "");
}

FemTestFile fem_test_gmsh(const FemTestMesh *mesh, int version, bool binary, int corners, bool sparse) {
	FemTestFile file = {0};
	fem_test_print(&file, "$MeshFormat\n%s %d 8\n", version == 2 ? "2.2" : "4.1", binary);
	if (binary) {
		fem_test_put_uint(&file, 1, 4, false);
		fem_test_print(&file, "\n");
	}
	fem_test_print(&file, "$EndMeshFormat\n$Comments\nmade by a test\n$EndComments\n");
	fem_test_print(
		&file, "$PhysicalNames\n2\n2 99 \"skin\"\n3 %d \"core of it\"\n$EndPhysicalNames\n", version == 2 ? 3 : 103);
	if (version == 2) {
		gmsh_2(&file, mesh, binary, corners, sparse);
		return file;
	}
	gmsh_4_entities(&file, binary);
	gmsh_4_nodes(&file, mesh, binary, sparse);
	gmsh_4_elements(&file, mesh, binary, corners, sparse);
	return file;
}

// ---- VTK

static void put_vtk_int(FemTestFile *file, bool binary, int value, int width) {
	if (binary)
		fem_test_put_uint(file, (uint32_t)value, width, true);
	else
		fem_test_print(file, "%d ", value);
}

static void vtk_cells(FemTestFile *file, const FemTestMesh *mesh, int version, bool binary) {
	if (version < 5) {
		fem_test_print(file, "CELLS %d %d\n", mesh->tet_count, 5 * mesh->tet_count);
		for (int32_t t = 0; t < mesh->tet_count; t++) {
			put_vtk_int(file, binary, 4, 4);
			for (int v = 0; v < 4; v++)
				put_vtk_int(file, binary, corner_of(mesh, t, v), 4);
		}
		return;
	}
	fem_test_print(file, "CELLS %d %d\nOFFSETS vtktypeint64\n", mesh->tet_count + 1, 4 * mesh->tet_count);
	for (int32_t t = 0; t <= mesh->tet_count; t++)
		put_vtk_int(file, binary, 4 * t, 8);
	fem_test_print(file, "\nCONNECTIVITY vtktypeint64\n");
	for (int32_t i = 0; i < 4 * mesh->tet_count; i++)
		put_vtk_int(file, binary, mesh->tets[i], 8);
}

FemTestFile fem_test_vtk(const FemTestMesh *mesh, int version, bool binary) {
	FemTestFile file = {0};
	fem_test_print(&file, "# vtk DataFile Version %d.%d\na test\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS %d float\n",
		version, version == 5, binary ? "BINARY" : "ASCII", mesh->node_count);
	for (int32_t i = 0; i < 3 * mesh->node_count; i++) {
		if (binary)
			fem_test_put_float(&file, (float)coordinate(mesh, i / 3, i % 3), true);
		else
			fem_test_print(&file, "%.9g%s", coordinate(mesh, i / 3, i % 3), i % 9 == 8 ? "\n" : " ");
	}
	fem_test_print(&file, "\nMETADATA\nINFORMATION 0\n\n");
	vtk_cells(&file, mesh, version, binary);
	fem_test_print(&file, "\nCELL_TYPES %d\n", mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		put_vtk_int(&file, binary, 10, 4);
	fem_test_print(&file, "\nCELL_DATA %d\nSCALARS quality float 1\nLOOKUP_TABLE default\n", mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++) {
		if (binary)
			fem_test_put_float(&file, 0.5f, true);
		else
			fem_test_print(&file, "0.5\n");
	}
	fem_test_print(&file, "\nFIELD FieldData 1\nmaterial 1 %d int\n", mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		put_vtk_int(&file, binary, region_of(mesh, t), 4);
	fem_test_print(&file, "\n");
	return file;
}

// ---- VTU

static void put_base64(FemTestFile *file, const FemTestFile *data) {
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *bytes = (const uint8_t *)data->bytes;
	for (size_t i = 0; i < data->size; i += 3) {
		uint32_t bits = (uint32_t)bytes[i] << 16;
		bits |= i + 1 < data->size ? (uint32_t)bytes[i + 1] << 8 : 0;
		bits |= i + 2 < data->size ? (uint32_t)bytes[i + 2] : 0;
		char group[4] = {letters[bits >> 18], letters[bits >> 12 & 63], letters[bits >> 6 & 63], letters[bits & 63]};
		if (i + 1 >= data->size)
			group[2] = '=';
		if (i + 2 >= data->size)
			group[3] = '=';
		fem_test_put(file, group, 4);
	}
}

typedef struct VtuWriter {
	FemTestFile file, appended;
	FemVtuForm form;
	bool long_headers;
} VtuWriter;

// The numbers as doubles; type picks how they are written.
static void put_array(
	VtuWriter *writer, const char *type, const char *attributes, const double *values, int32_t count) {
	FemTestFile data = {0};
	int width = strstr(type, "64") ? 8 : strstr(type, "32") ? 4 : 1;
	fem_test_print(&writer->file, "<DataArray type=\"%s\" %s format=\"%s\"", type, attributes,
		writer->form == FEM_VTU_ASCII        ? "ascii"
			: writer->form == FEM_VTU_BASE64 ? "binary"
											 : "appended");
	fem_test_put_uint(&data, (uint64_t)(count * width), writer->long_headers ? 8 : 4, false);
	for (int32_t i = 0; i < count; i++) {
		if (type[0] == 'F' && width == 4)
			fem_test_put_float(&data, (float)values[i], false);
		else if (type[0] == 'F')
			fem_test_put_double(&data, values[i], false);
		else
			fem_test_put_uint(&data, (uint64_t)(int64_t)values[i], width, false);
	}
	if (writer->form >= FEM_VTU_RAW) {
		fem_test_print(&writer->file, " offset=\"%d\"/>\n", (int)writer->appended.size);
		if (writer->form == FEM_VTU_RAW)
			fem_test_put(&writer->appended, data.bytes, data.size);
		else
			put_base64(&writer->appended, &data);
	} else {
		fem_test_print(&writer->file, ">\n");
		for (int32_t i = 0; writer->form == FEM_VTU_ASCII && i < count; i++)
			fem_test_print(&writer->file, "%.9g ", values[i]);
		if (writer->form == FEM_VTU_BASE64)
			put_base64(&writer->file, &data);
		fem_test_print(&writer->file, "\n</DataArray>\n");
	}
	fem_test_file_free(&data);
}

static void vtu_arrays(VtuWriter *writer, const FemTestMesh *mesh, double *values) {
	for (int32_t t = 0; t < mesh->tet_count; t++)
		values[t] = region_of(mesh, t);
	fem_test_print(&writer->file, "<CellData Scalars=\"material\">\n");
	put_array(writer, "Int32", "Name=\"material\"", values, mesh->tet_count);
	fem_test_print(&writer->file, "</CellData>\n<!-- <Piece> --><Points>\n");
	for (int32_t i = 0; i < 3 * mesh->node_count; i++)
		values[i] = coordinate(mesh, i / 3, i % 3);
	put_array(writer, "Float32", "Name=\"Points\" NumberOfComponents=\"3\"", values, 3 * mesh->node_count);
	fem_test_print(&writer->file, "</Points>\n<Cells>\n");
	for (int32_t i = 0; i < 4 * mesh->tet_count; i++)
		values[i] = mesh->tets[i];
	put_array(writer, "Int64", "Name=\"connectivity\"", values, 4 * mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		values[t] = 4 * (t + 1);
	put_array(writer, "Int64", "Name=\"offsets\"", values, mesh->tet_count);
	for (int32_t t = 0; t < mesh->tet_count; t++)
		values[t] = 10;
	put_array(writer, "UInt8", "Name='types'", values, mesh->tet_count);
	fem_test_print(&writer->file, "</Cells>\n</Piece>\n</UnstructuredGrid>\n");
}

FemTestFile fem_test_vtu(const FemTestMesh *mesh, FemVtuForm form, bool long_headers) {
	VtuWriter writer = {.form = form, .long_headers = long_headers};
	double *values = malloc(sizeof *values * (size_t)(3 * mesh->node_count + 4 * mesh->tet_count));
	if (!values)
		abort();
	fem_test_print(&writer.file,
		"<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
		"byte_order=\"LittleEndian\" header_type=\"%s\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" "
		"NumberOfCells=\"%d\">\n",
		long_headers ? "UInt64" : "UInt32", mesh->node_count, mesh->tet_count);
	vtu_arrays(&writer, mesh, values);
	if (form >= FEM_VTU_RAW) {
		fem_test_print(&writer.file, "<AppendedData encoding=\"%s\">\n_", form == FEM_VTU_RAW ? "raw" : "base64");
		fem_test_put(&writer.file, writer.appended.bytes, writer.appended.size);
		fem_test_print(&writer.file, "\n</AppendedData>\n");
	}
	fem_test_print(&writer.file, "</VTKFile>\n");
	fem_test_file_free(&writer.appended);
	free(values);
	return writer.file;
}
