// A mesh whose vertices are embedded in the tets of a body, shared by all bodies that look alike.
//
// It draws any list of surfaces whose vertices have a tet and four weights each: the surface of a baked mesh, or its
// splinters, outer surfaces and an interior one. What a vertex carries is described in surface_arrays.h. When a body
// breaks and its vertices change owner, it gets a copy of its own (embedded_copy.h).
#ifndef EMBEDDED_MESH_H
#define EMBEDDED_MESH_H

#include "fem_baking.h"
#include "godot_calls.h"

// What it is made from; only read while it is made.
typedef struct EmbeddedSource {
	int32_t surface_count;
	const FemRenderSurface *surfaces;
	const int32_t *vertex_tets;       // [vertex of all surfaces in a row]
	const float (*vertex_weights)[4]; // [vertex of all surfaces in a row]
	const int32_t *tets;              // 4 nodes each
	// Fewer triangles for when it is far, or null
	const int32_t *coarse_indices;
	const int32_t *coarse_starts; // [surface + 1]
	float coarse_error;           // m, how far they are off
} EmbeddedSource;

// Where the 4 nodes and the 4 weights of its vertices lie in the attribute buffer of the RenderingServer.
typedef struct EmbeddedSurface {
	int32_t first_vertex, vertex_count;   // among the vertices of all surfaces in a row
	int32_t stride, nodes_at, weights_at; // bytes; stride 0: not asked for yet
	GdDictionary data;                    // the whole surface as the server has it, for copies
} EmbeddedSurface;

typedef struct EmbeddedMesh {
	bool exists;
	GdRID mesh; // surface i of it is surface i of the source, without a material
	int32_t surface_count, vertex_count;
	EmbeddedSurface *surfaces;
	struct EmbeddedCopy *spare;  // ready for the next body that breaks, or null
	int32_t followers, breakers; // bodies that asked for copies to be prepared; that took one
} EmbeddedMesh;

// Surfaces that do not fit into memory are left out, and all after them.
void embedded_mesh_create(EmbeddedMesh *mesh, const EmbeddedSource *source);
void embedded_mesh_free(EmbeddedMesh *mesh);

// For a body that may break: reads the surfaces back and makes one copy in store, so that no frame waits for either.
// Call it while the game loads. False when the server's layout is not understood: then there are no copies.
bool embedded_mesh_prepare_copies(EmbeddedMesh *mesh);

// In a quiet frame after a body took the copy in store: makes another if there are more bodies to break.
void embedded_mesh_restock(EmbeddedMesh *mesh);

#endif
