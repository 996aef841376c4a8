// How a baked mesh is drawn: one mesh of the RenderingServer and its materials, shared by all bodies that show it.
#ifndef MESH_DRAWING_H
#define MESH_DRAWING_H

#include "drawing/embedded_mesh.h"
#include "drawing/surface_material.h"

typedef struct MeshDrawing {
	bool exists;
	EmbeddedMesh embedded;
	int32_t interior_surface; // of splinters: which surface is their inside; -1: none
	// Of splinters: their cuts begin at this vertex and are collapsed until they open (splinter_faces.h)
	int32_t first_cut;
	int32_t face_count;
	int32_t *face_starts;                              // [face + 1], from first_cut
	int32_t *faces;                                    // [vertex - first_cut]
	int32_t *strays;                                   // of splinters, see mesh_drawing_find_strays()
	int32_t stray_count;                               // -1: not known
	GDExtensionObjectPtr sources[FEM_SURFACE_MAX + 1]; // Material or null of each surface; references
	SurfaceMaterial materials[FEM_SURFACE_MAX + 1];    // made from them
	float margin; // m, how far vertices stick out of the box around the nodes, at rest
} MeshDrawing;

// The baked mesh must have been checked and must have an embedding. `materials`: a Material or null for each surface,
// missing ones are plain.
void mesh_drawing_create(MeshDrawing *drawing, const FemBakedMesh *baked, GdArray *materials);

// The splinters of a baked mesh instead. No drawing when they do not fit into memory.
void mesh_drawing_create_splinters(MeshDrawing *drawing, const FemBakedMesh *baked, GdArray *materials);

// Lists the outer vertices of splinters that follow another tet than the one they were baked with from the start, since
// theirs does not hang together with their splinter's home: of parts that only touch. The same for all bodies of the
// mesh; a body that is broken does not tell.
void mesh_drawing_find_strays(MeshDrawing *drawing, const FemBakedMesh *baked, FemBodyId body);
void mesh_drawing_set_materials(MeshDrawing *drawing, GdArray *materials);
void mesh_drawing_free(MeshDrawing *drawing);

// An ArrayMesh, with a reference for the caller, of tets drawn apart; each tet has a colour of its own, or that of
// `colors`. Null on failure with fem_last_error() set.
GDExtensionObjectPtr mesh_drawing_of_tets(const FemTetArrays *tets, const FemViewDef *def, const GdColor *colors);

// The same of splinters, each moved from the middle of the whole by `spread` of its distance from it. Null when there
// are none.
GDExtensionObjectPtr mesh_drawing_of_splinters(const FemSplinterMesh *splinters, float spread);

#endif
