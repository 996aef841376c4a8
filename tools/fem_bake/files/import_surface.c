#include "fem_bake/files/import_surface.h"

#include "base/file_name.h"
#include "fem_bake/files/file_bytes.h"

#include <string.h>

static bool has_ending(const char *name, const char *ending) {
	size_t length = strlen(name), size = strlen(ending);
	return length > size && fem_token_is_like((FemToken){name + length - size, (int32_t)size}, ending);
}

bool fem_surface_import_knows(const char *name) {
	return name && (has_ending(name, ".obj") || has_ending(name, ".stl"));
}

FemResult fem_import_surface_memory(const char *name, const void *bytes, size_t size, FemRenderMesh *out) {
	*out = (FemRenderMesh){0};
	if (!name || (!bytes && size))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The import was given no file.");
	const char *shown = fem_file_name(name);
	if (!fem_surface_import_knows(name))
		return fem_fail(
			FEM_ERROR_FORMAT, "%.60s is neither .obj nor .stl: convert it, or bake it from within Godot.", shown);
	if (size == 0)
		return fem_fail(FEM_ERROR_FORMAT, "%.60s is empty: export the mesh again.", shown);
	if (size > FEM_FILE_MAX)
		return fem_fail(FEM_ERROR_LIMIT, "%.60s is larger than 2 GB: export a coarser mesh.", shown);
	FemText text = fem_text(shown, bytes, size, 0);
	FemResult result = has_ending(name, ".obj") ? fem_read_obj(text, out) : fem_read_stl(text, out);
	if (result == FEM_OK && out->surface_count == 0)
		result = fem_fail(FEM_ERROR_MESH, "%.60s holds no triangles: export the mesh again with its faces.", shown);
	if (result == FEM_OK)
		result = fem_render_mesh_check(out, shown);
	if (result != FEM_OK)
		fem_render_mesh_free(out);
	return result;
}

FemResult fem_import_surface(const char *path, FemRenderMesh *out) {
	FemFileBytes file;
	*out = (FemRenderMesh){0};
	if (!path)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "The import was given no file.");
	FemResult result = fem_file_read(path, &file);
	if (result != FEM_OK)
		return result;
	result = fem_import_surface_memory(path, file.bytes, file.size, out);
	fem_file_free(&file);
	return result;
}
