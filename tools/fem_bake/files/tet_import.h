// Tet meshes that other programs made: TetGen (.node and .ele), Gmsh (.msh 2.2 and 4.1, ASCII and binary) and VTK
// (legacy .vtk, ASCII and binary; XML .vtu, uncompressed).
//
// Of second-order tets the 4 corners are taken. Points, lines and faces are passed over; a file with hexahedra, prisms
// or pyramids is refused, since the mesh would have holes. Lengths are taken as metres. Failures are sentences in
// fem_last_error() that name the file, the line where there is one, and the remedy.
#ifndef FEM_BAKE_TET_IMPORT_H
#define FEM_BAKE_TET_IMPORT_H

#include "baking/tet_arrays.h"

typedef struct FemImportRegion {
	double value;                    // of the file: attribute, physical group or cell data
	char name[FEM_REGION_NAME_SIZE]; // of the physical group, or empty
} FemImportRegion;

// Regions are numbered from 0 in ascending order of their values.
typedef struct FemImportInfo {
	int32_t region_count;
	FemImportRegion regions[FEM_REGION_MAX];
} FemImportInfo;

typedef struct FemImportFile {
	const char *name; // for the format (its ending) and for sentences; a path will do
	const void *bytes;
	size_t size;
} FemImportFile;

// Whether the name's ending is one that fem_import_tet_mesh() reads.
bool fem_import_knows(const char *name);

// TetGen's meshes are two files: either of them names both, in the same folder. out_info may be null.
FemResult fem_import_tet_mesh(const char *path, FemTetArrays *out, FemImportInfo *out_info);

// The same from memory. `other` is TetGen's second file (either may be first), else null.
FemResult fem_import_tet_memory(
	const FemImportFile *file, const FemImportFile *other, FemTetArrays *out, FemImportInfo *out_info);

#endif
