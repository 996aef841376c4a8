// Baked meshes as files.
#ifndef FEM_BAKE_BAKED_FILE_H
#define FEM_BAKE_BAKED_FILE_H

#include "baking/baked_mesh.h"

FemResult fem_baked_mesh_save(const FemBakedMesh *mesh, const char *path);

#endif
