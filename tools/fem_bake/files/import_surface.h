// Render meshes from files that need no other program: Wavefront OBJ and STL (text and binary). For the command line;
// everything else comes through Godot.
//
// OBJ: polygons of any size, positive and negative indices, vertex colours behind the coordinates; every pair of group
// (or object) and material is a surface, or every material where there would be more than 256 pairs. STL: flat normals,
// since the file knows no vertices. Lengths are taken as metres.
#ifndef FEM_BAKE_IMPORT_SURFACE_H
#define FEM_BAKE_IMPORT_SURFACE_H

#include "fem_bake/files/text_reader.h"
#include "fem_baking.h"

// Whether the name's ending is one that fem_import_surface() reads.
bool fem_surface_import_knows(const char *name);

FemResult fem_import_surface(const char *path, FemRenderMesh *out);
FemResult fem_import_surface_memory(const char *name, const void *bytes, size_t size, FemRenderMesh *out);

// The readers; what they leave after a failure is freed by the caller.
FemResult fem_read_obj(FemText text, FemRenderMesh *out);
FemResult fem_read_stl(FemText text, FemRenderMesh *out);

#endif
