// The triangles that are seen, with what a renderer wants to know of each vertex.
//
// Triangles are counter-clockwise seen from outside and v of a texture coordinate runs downward, whatever file they
// came from.
#ifndef FEM_MESH_RENDER_MESH_H
#define FEM_MESH_RENDER_MESH_H

#include "fem_types.h"

#define FEM_SURFACE_MAX 256 // surfaces a mesh: Godot's limit
#define FEM_SURFACE_NAME_SIZE 64
#define FEM_MATERIAL_NAME_SIZE 256

typedef enum FemAttribute {
	FEM_ATTRIBUTE_NORMAL = 1 << 0,
	FEM_ATTRIBUTE_TANGENT = 1 << 1,
	FEM_ATTRIBUTE_UV = 1 << 2,
	FEM_ATTRIBUTE_UV2 = 1 << 3,
	FEM_ATTRIBUTE_COLOR = 1 << 4,
	FEM_ATTRIBUTE_ALL = (1 << 5) - 1,
} FemAttribute;

typedef struct FemRenderSurface {
	char name[FEM_SURFACE_NAME_SIZE];      // of the object or group, or empty
	char material[FEM_MATERIAL_NAME_SIZE]; // name or path, or empty
	int32_t vertex_count, index_count;     // 3 indices a triangle
	uint32_t attributes;                   // set of FemAttribute: which of the arrays below are there
	FemVec3 *positions;                    // m, rest shape
	FemVec3 *normals;                      // unit
	float (*tangents)[4];                  // unit, then the sign of the bitangent: 1 or -1
	float (*uvs)[2];
	float (*uvs2)[2];     // for light maps
	uint8_t (*colors)[4]; // RGBA
	int32_t *indices;
} FemRenderSurface;

typedef struct FemRenderMesh {
	int32_t surface_count, surface_capacity;
	FemRenderSurface *surfaces;
} FemRenderMesh;

// A new empty surface at the end; null when memory fails or there are FEM_SURFACE_MAX already.
FemRenderSurface *fem_render_mesh_add(FemRenderMesh *mesh, const char *name, const char *material);
// Its arrays, zeroed; false when memory fails. What was taken is freed with the mesh.
bool fem_render_surface_reserve(
	FemRenderSurface *surface, int32_t vertex_count, int32_t index_count, uint32_t attributes);
void fem_render_mesh_free(FemRenderMesh *mesh);

int64_t fem_render_mesh_vertex_count(const FemRenderMesh *mesh);
int64_t fem_render_mesh_triangle_count(const FemRenderMesh *mesh);

// FEM_OK, or the first fault: indices out of range, numbers that are not finite, normals without length. `name` is put
// before the sentence.
FemResult fem_render_mesh_check(const FemRenderMesh *mesh, const char *name);

#endif
