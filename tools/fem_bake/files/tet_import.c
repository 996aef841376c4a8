#include "fem_bake/files/tet_import.h"

#include "base/file_name.h"
#include "base/memory.h"
#include "fem_bake/files/file_bytes.h"
#include "fem_bake/files/import_builder.h"

#include <stdio.h>

#define PATH_SIZE 4096 // bytes of a file name; the longest that Linux opens

typedef enum Format {
	FORMAT_UNKNOWN,
	FORMAT_TETGEN_NODES,
	FORMAT_TETGEN_TETS,
	FORMAT_GMSH,
	FORMAT_VTK,
	FORMAT_VTU,
} Format;

static Format format_of_name(const char *name) {
	static const char *endings[] = {"", ".node", ".ele", ".msh", ".vtk", ".vtu"};
	size_t length = strlen(name);
	for (int i = FORMAT_TETGEN_NODES; i <= FORMAT_VTU; i++) {
		size_t ending = strlen(endings[i]);
		if (length > ending && fem_token_is_like((FemToken){name + length - ending, (int32_t)ending}, endings[i]))
			return (Format)i;
	}
	return FORMAT_UNKNOWN;
}

// Three of the formats say what they are, whatever the file is called.
static Format format_of(const FemImportFile *file) {
	FemText text = fem_text(file->name, file->bytes, file->size, 0);
	FemToken word;
	if (file->size >= 14 && memcmp(file->bytes, "# vtk DataFile", 14) == 0)
		return FORMAT_VTK;
	fem_text_token(&text, &word);
	if (word.length > 0 && word.start[0] == '$')
		return FORMAT_GMSH;
	if (fem_token_is(word, "<?xml") || fem_token_is(word, "<VTKFile"))
		return FORMAT_VTU;
	Format format = format_of_name(file->name);
	return format == FORMAT_VTK ? FORMAT_UNKNOWN : format; // without its first line it is none
}

bool fem_import_knows(const char *name) {
	return name && format_of_name(name) != FORMAT_UNKNOWN;
}

static FemText text_of(const FemImportFile *file) {
	return fem_text(fem_file_name(file->name), file->bytes, file->size, 0);
}

static FemResult read_two_files(
	FemImportBuilder *builder, Format format, const FemImportFile *file, const FemImportFile *other) {
	if (!other)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"%.60s is half of a mesh: TetGen's .node and .ele are needed together.", builder->name);
	const FemImportFile *nodes = format == FORMAT_TETGEN_NODES ? file : other, *tets = nodes == file ? other : file;
	builder->name = fem_file_name(tets->name);
	return fem_read_tetgen(builder, text_of(nodes), text_of(tets));
}

static FemResult read_file(FemImportBuilder *builder, const FemImportFile *file, const FemImportFile *other) {
	Format format = format_of(file);
	switch (format) {
	case FORMAT_TETGEN_NODES:
	case FORMAT_TETGEN_TETS: return read_two_files(builder, format, file, other);
	case FORMAT_GMSH: return fem_read_gmsh(builder, text_of(file));
	case FORMAT_VTK: return fem_read_vtk(builder, text_of(file));
	case FORMAT_VTU: return fem_read_vtu(builder, text_of(file));
	case FORMAT_UNKNOWN: break;
	}
	return fem_fail(FEM_ERROR_FORMAT,
		"%.60s is no tet mesh that is read: use TetGen's .node and .ele, Gmsh's .msh, or VTK's .vtk or .vtu.",
		builder->name);
}

static FemResult check_file(const FemImportFile *file) {
	if (!file || !file->name || (!file->bytes && file->size))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The import was given no file.");
	if (file->size == 0)
		return fem_fail(FEM_ERROR_FORMAT, "%.60s is empty: export the mesh again.", fem_file_name(file->name));
	if (file->size > FEM_FILE_MAX)
		return fem_fail(
			FEM_ERROR_LIMIT, "%.60s is larger than 2 GB: export a coarser mesh.", fem_file_name(file->name));
	return FEM_OK;
}

FemResult fem_import_tet_memory(
	const FemImportFile *file, const FemImportFile *other, FemTetArrays *out, FemImportInfo *out_info) {
	*out = (FemTetArrays){0};
	if (out_info)
		out_info->region_count = 0;
	FemResult result = check_file(file);
	if (result == FEM_OK && other)
		result = check_file(other);
	if (result != FEM_OK)
		return result;
	FemImportInfo *info = FEM_ALLOC_ARRAY(FemImportInfo, 1); // too large for the stack of a small thread
	if (!info)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to read %.60s.", fem_file_name(file->name));
	FemImportBuilder builder = {.name = fem_file_name(file->name), .info = info};
	result = read_file(&builder, file, other);
	if (result == FEM_OK)
		result = fem_import_finish(&builder, out);
	fem_import_builder_free(&builder);
	if (result == FEM_OK && out_info)
		*out_info = *info;
	FEM_FREE_ARRAY(info, 1);
	return result;
}

// "x.node" for "x.ele" and the reverse, in the case of letters that the given name has.
static bool other_path(const char *path, Format format, char out[PATH_SIZE]) {
	size_t stem = strlen(path) - (format == FORMAT_TETGEN_NODES ? 5 : 4);
	bool upper = path[stem + 1] < 'a';
	const char *ending = format == FORMAT_TETGEN_NODES ? upper ? ".ELE" : ".ele" : upper ? ".NODE" : ".node";
	return stem < PATH_SIZE - 6 && snprintf(out, PATH_SIZE, "%.*s%s", (int)stem, path, ending) > 0;
}

static FemResult import_two_files(
	const char *path, const FemImportFile *file, Format format, FemTetArrays *out, FemImportInfo *out_info) {
	char second[PATH_SIZE];
	FemFileBytes bytes;
	if (!other_path(path, format, second))
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The path of %.60s is too long: move the file.", fem_file_name(path));
	FemResult result = fem_file_read(second, &bytes);
	if (result != FEM_OK)
		return result;
	FemImportFile other = {second, bytes.bytes, bytes.size};
	result = fem_import_tet_memory(file, &other, out, out_info);
	fem_file_free(&bytes);
	return result;
}

FemResult fem_import_tet_mesh(const char *path, FemTetArrays *out, FemImportInfo *out_info) {
	*out = (FemTetArrays){0};
	FemFileBytes bytes;
	if (!path)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The import was given no file.");
	FemResult result = fem_file_read(path, &bytes);
	if (result != FEM_OK)
		return result;
	FemImportFile file = {path, bytes.bytes, bytes.size};
	Format format = format_of(&file);
	if (bytes.size && (format == FORMAT_TETGEN_NODES || format == FORMAT_TETGEN_TETS))
		result = import_two_files(path, &file, format, out, out_info);
	else
		result = fem_import_tet_memory(&file, NULL, out, out_info);
	fem_file_free(&bytes);
	return result;
}
