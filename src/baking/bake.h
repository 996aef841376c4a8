// From what is seen to what is simulated: render surfaces in, tets and the embedding of every vertex out. For the
// command line and for Godot alike.
#ifndef FEM_BAKING_BAKE_H
#define FEM_BAKING_BAKE_H

#include "baking/baked_mesh.h"
#include "baking/mesh_diagnosis.h"
#include "geometry/embedding.h"

// What came out, for people.
typedef struct FemBakeInfo {
	FemTetMesh tets;        // members, and what the surfaces were like
	FemEmbedding embedding; // how well the vertices are held
	FemDiagnosis diagnosis; // all 0 when it could not be made
	double cut_ms;          // that the cutting took
	bool cancelled;         // by progress
} FemBakeInfo;

// Fills mesh->tet_mesh, mesh->embedding and mesh->report from mesh->render. def->progress hears of the whole bake. Free
// the info with fem_bake_info_free(), also after a failure; a stop by progress answers FEM_ERROR_LIMIT.
FemResult fem_bake_render_mesh(const FemBakeDef *def, FemBakedMesh *mesh, FemBakeInfo *out_info);
void fem_bake_info_free(FemBakeInfo *info);

#endif
