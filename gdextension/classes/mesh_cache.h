// Baked forms of plain meshes: bodies whose meshes and settings are equal share one bake, in one scene and from scene
// to scene. The cache holds a reference to each of the last MESH_CACHE_MAX.
#ifndef MESH_CACHE_H
#define MESH_CACHE_H

#include "fem_baking.h"
#include "godot_calls.h"

enum { MESH_CACHE_MAX = 64 }; // bakes that are kept; chosen: the kinds of bodies of a level

typedef struct MeshCacheSettings {
	int64_t element_count;
	double wall_thickness; // m
	bool regions_from_surfaces;
	FemPattern splinter_pattern;
	FemVec3 splinter_direction;
	FemVec3 scale; // of the body, up to a common factor: it is filled and cut as it stands
} MeshCacheSettings;

struct DestructibleMesh;

// A DestructibleMesh with these settings that is nobody else's; a new reference.
struct DestructibleMesh *mesh_cache_new(const MeshCacheSettings *settings);

// A DestructibleMesh of the mesh's present triangles, baked or not yet; a new reference, which the caller gives back.
// Null, with a sentence in out_message, when the mesh cannot be read.
GDExtensionObjectPtr mesh_cache_get(
	GDExtensionObjectPtr mesh, const MeshCacheSettings *settings, char *out_message, size_t capacity);

// The same of a box, made at once but for its splinters, see destructible_mesh_go_on_cutting(): its tets are those that
// a box without splinters has. Null with fem_last_error() set when it cannot be made.
GDExtensionObjectPtr mesh_cache_get_box(FemVec3 size, const int32_t cells[3], const MeshCacheSettings *settings);

// Bakes that failed are tried again.
void mesh_cache_forget(GDExtensionObjectPtr destructible_mesh);

void mesh_cache_free(void);

#endif
