#include "fem_bake/files/baked_file.h"

#include "base/error.h"
#include "base/file_name.h"
#include "base/memory.h"
#include "fem_bake/files/file_bytes.h"

FemResult fem_baked_mesh_save(const FemBakedMesh *mesh, const char *path) {
	FemResult result = fem_baked_mesh_check(mesh, fem_file_name(path));
	if (result != FEM_OK)
		return result;
	size_t size = fem_baked_mesh_size(mesh);
	uint8_t *bytes = FEM_ALLOC_ARRAY(uint8_t, size);
	if (!bytes)
		return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory to write %.100s.", path);
	fem_baked_mesh_write(mesh, bytes, size);
	result = fem_file_write(path, bytes, size);
	FEM_FREE_ARRAY(bytes, size);
	return result;
}
