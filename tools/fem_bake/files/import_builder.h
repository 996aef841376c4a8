// What the readers of tet mesh files fill, and how it becomes a mesh. Nodes and tets are appended as they are read, so
// that memory follows the bytes of a file and never a count that it claims.
#ifndef FEM_BAKE_IMPORT_BUILDER_H
#define FEM_BAKE_IMPORT_BUILDER_H

#include "base/byte_reader.h"
#include "fem_bake/files/tet_import.h"
#include "fem_bake/files/text_reader.h"

typedef struct FemImportNode {
	double position[3]; // m
	int64_t id;         // as the file numbers it
} FemImportNode;

typedef struct FemImportTet {
	int64_t nodes[4];    // ids
	double region;       // the file's own value, any number
	double other_region; // used when no tet has a region: Gmsh's entity where there are no physical groups
} FemImportTet;

typedef struct FemImportBuilder {
	const char *name; // of the file, for sentences
	FemImportNode *nodes;
	int32_t node_count, node_capacity;
	FemImportTet *tets;
	int32_t tet_count, tet_capacity;
	int32_t flat_count;   // points, lines and faces that were passed over
	int32_t solid_count;  // hexahedra, prisms, pyramids: the mesh would have holes without them
	bool regions_guessed; // the values may be something else: more than 256 are then taken for none
	FemImportInfo *info;  // regions named by the file while reading; all of them at the end
} FemImportBuilder;

FemResult fem_import_add_node(FemImportBuilder *builder, int64_t id, const double position[3]);
FemResult fem_import_add_tet(FemImportBuilder *builder, const FemImportTet *tet);
void fem_import_name_region(FemImportBuilder *builder, double value, FemToken name);
void fem_import_builder_free(FemImportBuilder *builder);

// Finds the nodes by their ids, drops nodes of no tet, flips inverted tets, numbers the regions, checks everything.
FemResult fem_import_finish(FemImportBuilder *builder, FemTetArrays *out);

// The readers. Each fills a builder; what it leaves after a failure is freed by the caller.
FemResult fem_read_tetgen(FemImportBuilder *builder, FemText nodes, FemText tets);
FemResult fem_read_gmsh(FemImportBuilder *builder, FemText text);
FemResult fem_read_vtk(FemImportBuilder *builder, FemText text);
FemResult fem_read_vtu(FemImportBuilder *builder, FemText text);

#endif
