// What the fuzzer does with its bytes, one function a loader. Shared with the C test that replays the corpus.
#ifndef FEM_FUZZ_TARGETS_H
#define FEM_FUZZ_TARGETS_H

#include "baking/baked_mesh.h"
#include "base/memory.h"
#include "fem_bake/files/import_surface.h"
#include "fem_bake/files/tet_import.h"

#include <stdlib.h>
#include <string.h>

// A loader that fails says why, one that succeeds gives a mesh that holds.
static inline void fem_fuzz_tet_mesh(const FemImportFile *file, const FemImportFile *other) {
	int64_t before = fem_memory_bytes();
	FemBakedMesh baked = {0};
	if (fem_import_tet_memory(file, other, &baked.tet_mesh, NULL) != FEM_OK) {
		if (!fem_last_error()[0])
			abort();
	} else if (fem_baked_mesh_check(&baked, "mesh") != FEM_OK) {
		abort();
	}
	fem_baked_mesh_free(&baked);
	if (fem_memory_bytes() != before)
		abort();
}

// Two files in one: an @ parts the nodes from the tets.
static inline void fem_fuzz_tetgen(const uint8_t *data, size_t size) {
	const uint8_t *split = size ? memchr(data, '@', size) : NULL;
	if (!split)
		return;
	size_t first = (size_t)(split - data);
	FemImportFile nodes = {"f.node", data, first}, tets = {"f.ele", split + 1, size - first - 1};
	fem_fuzz_tet_mesh(&nodes, &tets);
}

static inline void fem_fuzz_gmsh(const uint8_t *data, size_t size) {
	fem_fuzz_tet_mesh(&(FemImportFile){"f.msh", data, size}, NULL);
}

// Legacy or XML, as the content says.
static inline void fem_fuzz_vtk(const uint8_t *data, size_t size) {
	fem_fuzz_tet_mesh(&(FemImportFile){"f.vtu", data, size}, NULL);
}

static inline void fem_fuzz_surface(const char *name, const uint8_t *data, size_t size) {
	int64_t before = fem_memory_bytes();
	FemRenderMesh mesh;
	if (fem_import_surface_memory(name, data, size, &mesh) == FEM_OK && fem_render_mesh_check(&mesh, name) != FEM_OK)
		abort();
	fem_render_mesh_free(&mesh);
	if (fem_memory_bytes() != before)
		abort();
}

static inline void fem_fuzz_obj(const uint8_t *data, size_t size) {
	fem_fuzz_surface("f.obj", data, size);
}

static inline void fem_fuzz_stl(const uint8_t *data, size_t size) {
	fem_fuzz_surface("f.stl", data, size);
}

// What was read can be written and read again.
static inline void fem_fuzz_rewrite(const FemBakedMesh *mesh) {
	FemBakedMesh again;
	size_t size = fem_baked_mesh_size(mesh);
	uint8_t *bytes = malloc(size);
	if (!bytes)
		return;
	fem_baked_mesh_write(mesh, bytes, size);
	if (fem_baked_mesh_read("again", bytes, size, &again) != FEM_OK || fem_baked_mesh_size(&again) != size)
		abort();
	fem_baked_mesh_free(&again);
	free(bytes);
}

// As it is, and with size and checksum set right: the fuzzer would never guess them.
static inline void fem_fuzz_baked(const uint8_t *data, size_t size) {
	int64_t before = fem_memory_bytes();
	FemBakedMesh mesh;
	if (fem_baked_mesh_read("f", data, size, &mesh) == FEM_OK)
		fem_baked_mesh_free(&mesh);
	uint8_t *copy = size >= 32 ? malloc(size) : NULL;
	if (copy) {
		memcpy(copy, data, size);
		fem_baked_mesh_seal(copy, size);
		if (fem_baked_mesh_read("f", copy, size, &mesh) == FEM_OK) {
			fem_fuzz_rewrite(&mesh);
			fem_baked_mesh_free(&mesh);
		}
		free(copy);
	}
	if (fem_memory_bytes() != before)
		abort();
}

#endif
