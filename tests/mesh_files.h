// Writes small meshes in the formats that the engine imports, for tests and as seeds for fuzzing.
#ifndef FEM_MESH_FILES_H
#define FEM_MESH_FILES_H

#include "fem_destruction.h"

typedef struct FemTestFile {
	char *bytes;
	size_t size, capacity;
} FemTestFile;

typedef struct FemTestMesh {
	int32_t node_count, tet_count;
	const FemVec3 *nodes;
	const int32_t *tets;
	const int32_t *regions; // any values
} FemTestMesh;

typedef enum FemVtuForm {
	FEM_VTU_ASCII,
	FEM_VTU_BASE64,
	FEM_VTU_RAW, // appended
	FEM_VTU_APPENDED_BASE64,
	FEM_VTU_FORM_COUNT,
} FemVtuForm;

void fem_test_file_free(FemTestFile *file);
void fem_test_put(FemTestFile *file, const void *bytes, size_t size);
void fem_test_print(FemTestFile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fem_test_put_uint(FemTestFile *file, uint64_t value, int width, bool big_endian);
void fem_test_put_double(FemTestFile *file, double value, bool big_endian);
void fem_test_put_float(FemTestFile *file, float value, bool big_endian);

// corners: 4, or 10 for second order (the extra nodes repeat corners).
FemTestFile fem_test_tetgen_nodes(const FemTestMesh *mesh, int first, const char *line_end);
FemTestFile fem_test_tetgen_tets(const FemTestMesh *mesh, int first, int corners, const char *line_end);
// version 2 or 4; tags of nodes are 10 times their place + 7 where sparse.
FemTestFile fem_test_gmsh(const FemTestMesh *mesh, int version, bool binary, int corners, bool sparse);
// version 3 (CELLS as rows) or 5 (OFFSETS and CONNECTIVITY).
FemTestFile fem_test_vtk(const FemTestMesh *mesh, int version, bool binary);
FemTestFile fem_test_vtu(const FemTestMesh *mesh, FemVtuForm form, bool long_headers);

#endif
