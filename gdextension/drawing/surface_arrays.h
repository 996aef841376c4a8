// The arrays of one surface, written straight into Godot's packed arrays and then handed to a mesh.
//
// A surface with SURFACE_EMBEDDED follows tets: each vertex knows the tet it belongs to, and the vertex shader places
// it (see addons/fem_destruction/shaders/fem_position.gdshaderinc, which reads what is written here):
//   VERTEX, NORMAL, TANGENT, UV  the rest shape, shown as it is while nothing is simulated
//   CUSTOM0  the 4 nodes of the tet, counted from the body's first texel
//   CUSTOM1  their weights
// How normals and tangents rotate follows from where those nodes were at rest and are now.
#ifndef SURFACE_ARRAYS_H
#define SURFACE_ARRAYS_H

#include "fem_destruction.h"
#include "godot_calls.h"

typedef enum SurfaceFlags {
	SURFACE_TANGENTS = 1 << 0,
	SURFACE_UVS = 1 << 1,
	SURFACE_UVS2 = 1 << 2,
	SURFACE_COLORS = 1 << 3,
	SURFACE_EMBEDDED = 1 << 4,
} SurfaceFlags;

typedef struct SurfaceArrays {
	GdVector3 *positions, *normals;
	float *tangents; // 4 a vertex
	GdVector2 *uvs, *uvs2;
	GdColor *colors;
	float *custom[2];              // 4 a vertex
	int32_t *indices;              // Godot's front faces run clockwise
	const int32_t *coarse_indices; // the caller's, wound as above: triangles for when it is far, or null
	int32_t coarse_count;
	float coarse_error; // m, how far they are off
	uint32_t flags;     // set of SurfaceFlags: which of the arrays above are there beside positions, normals, indices
	struct {
		GdPackedVector3Array positions, normals;
		GdPackedFloat32Array tangents, custom[2];
		GdPackedVector2Array uvs, uvs2;
		GdPackedColorArray colors;
		GdPackedInt32Array indices;
	} packed;
} SurfaceArrays;

// Both counts must be above 0.
void surface_arrays_create(SurfaceArrays *arrays, int32_t vertex_count, int32_t index_count, uint32_t flags);
void surface_arrays_free(SurfaceArrays *arrays);

// CUSTOM0 and CUSTOM1 of a vertex.
void surface_arrays_tie(SurfaceArrays *arrays, int32_t vertex, const int32_t nodes[4], const float weights[4]);

// Adds the surface to a mesh of the RenderingServer, or to an ArrayMesh.
void surface_arrays_add_to_server(const SurfaceArrays *arrays, GdRID mesh);
void surface_arrays_add_to_mesh(const SurfaceArrays *arrays, GDExtensionObjectPtr array_mesh);

#endif
