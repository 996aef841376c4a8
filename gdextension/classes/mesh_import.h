// Copies the triangles of a Godot Mesh into plain C memory, where a bake may read them on another thread.
#ifndef MESH_IMPORT_H
#define MESH_IMPORT_H

#include "fem_baking.h"
#include "godot_calls.h"

// For Godot's main thread. Surfaces that are no triangles are left out. Normals and tangents that are not unit vectors
// are mended; positions are taken as they are. `out_materials` becomes an Array with the Material, or null, of each
// surface taken. On failure the sentence is in out_message and nothing needs freeing.
FemResult mesh_import(
	GDExtensionObjectPtr mesh, FemRenderMesh *out, GdArray *out_materials, char *out_message, size_t capacity);

#endif
