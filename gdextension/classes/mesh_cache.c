#include "classes/mesh_cache.h"

#include "binding/conversions.h"
#include "binding/hashing.h"
#include "classes/bake_store.h"
#include "classes/destructible_mesh.h"
#include "classes/mesh_import.h"
#include "drawing/body_mesh.h"

#include <string.h>

typedef struct CachedMesh {
	uint64_t key;                // of triangles and settings
	GDExtensionObjectPtr object; // DestructibleMesh; a reference
} CachedMesh;

// The last used stand first.
static struct {
	CachedMesh entries[MESH_CACHE_MAX];
	int count;
} cache;

static uint64_t mix_surface(uint64_t hash, const FemRenderSurface *surface) {
	size_t vertices = (size_t)surface->vertex_count;
	hash = hash_mix(hash, &surface->vertex_count, sizeof(surface->vertex_count));
	hash = hash_mix(hash, &surface->attributes, sizeof(surface->attributes));
	hash = hash_mix(hash, surface->indices, (size_t)surface->index_count * sizeof(int32_t));
	hash = hash_mix(hash, surface->positions, vertices * sizeof(FemVec3));
	hash = surface->normals ? hash_mix(hash, surface->normals, vertices * sizeof(FemVec3)) : hash;
	hash = surface->tangents ? hash_mix(hash, surface->tangents, vertices * sizeof(*surface->tangents)) : hash;
	hash = surface->uvs ? hash_mix(hash, surface->uvs, vertices * sizeof(*surface->uvs)) : hash;
	hash = surface->uvs2 ? hash_mix(hash, surface->uvs2, vertices * sizeof(*surface->uvs2)) : hash;
	return surface->colors ? hash_mix(hash, surface->colors, vertices * sizeof(*surface->colors)) : hash;
}

static uint64_t key_of(const FemRenderMesh *render, const MeshCacheSettings *settings) {
	uint64_t hash = HASH_START;
	hash = hash_mix(hash, &settings->element_count, sizeof(settings->element_count));
	hash = hash_mix(hash, &settings->wall_thickness, sizeof(settings->wall_thickness));
	hash = hash_mix(hash, &settings->regions_from_surfaces, sizeof(settings->regions_from_surfaces));
	hash = hash_mix(hash, &settings->splinter_pattern, sizeof(settings->splinter_pattern));
	hash = hash_mix(hash, &settings->splinter_direction, sizeof(settings->splinter_direction));
	hash = hash_mix(hash, &settings->scale, sizeof(settings->scale));
	for (int32_t i = 0; i < render->surface_count; i++) {
		hash = mix_surface(hash, &render->surfaces[i]);
	}
	return hash;
}

// Materials belong to what bodies share: equal triangles with other materials are another mesh.
static uint64_t mix_materials(uint64_t hash, GdArray *materials) {
	int64_t count = gd_array_size(materials);
	for (int64_t i = 0; i < count; i++) {
		GDExtensionObjectPtr material = array_object(materials, i);
		uint64_t id = material ? godot.object_get_instance_id(material) : 0;
		hash = hash_mix(hash, &id, sizeof(id));
	}
	return hash;
}

static void move_to_front(int index) {
	CachedMesh entry = cache.entries[index];
	memmove(&cache.entries[1], &cache.entries[0], (size_t)index * sizeof(CachedMesh));
	cache.entries[0] = entry;
}

static void drop(int index) {
	GDExtensionObjectPtr object = cache.entries[index].object;
	cache.count--;
	memmove(&cache.entries[index], &cache.entries[index + 1], (size_t)(cache.count - index) * sizeof(CachedMesh));
	object_unreference(object);
}

DestructibleMesh *mesh_cache_new(const MeshCacheSettings *settings) {
	GDExtensionObjectPtr object = class_create(&destructible_mesh_class);
	DestructibleMesh *made = class_instance(object, &destructible_mesh_class);
	gd_ref_counted_init_ref(object);
	made->element_count = settings->element_count;
	made->wall_thickness = settings->wall_thickness;
	made->regions_from_surfaces = settings->regions_from_surfaces;
	made->cut.pattern = settings->splinter_pattern;
	made->cut.grain = settings->splinter_direction;
	made->stretch = made->cut.scale = settings->scale;
	return made;
}

static DestructibleMesh *add(uint64_t key, const MeshCacheSettings *settings) {
	DestructibleMesh *made = mesh_cache_new(settings);
	if (cache.count == MESH_CACHE_MAX) {
		drop(MESH_CACHE_MAX - 1);
	}
	cache.entries[cache.count] = (CachedMesh){key, made->base.object};
	move_to_front(cache.count++);
	return made;
}

// Puts the entry first. False when there is none.
static bool find(uint64_t key) {
	int index = 0;
	while (index < cache.count && cache.entries[index].key != key) {
		index++;
	}
	if (index < cache.count) {
		move_to_front(index);
	}
	return index < cache.count;
}

static GDExtensionObjectPtr first_entry(void) {
	gd_ref_counted_reference(cache.entries[0].object);
	return cache.entries[0].object;
}

GDExtensionObjectPtr mesh_cache_get(
	GDExtensionObjectPtr mesh, const MeshCacheSettings *settings, char *out_message, size_t capacity) {
	FemRenderMesh render = {0};
	GdArray materials = gd_array_new();
	FemResult result = mesh_import(mesh, &render, &materials, out_message, capacity);
	if (result != FEM_OK) {
		gd_array_free(&materials);
		return NULL;
	}
	uint64_t bake = key_of(&render, settings), key = mix_materials(bake, &materials);
	fem_render_mesh_free(&render);
	if (!find(key)) {
		DestructibleMesh *made = add(key, settings);
		object_reference_assign(&made->source_mesh, mesh);
		made->store_key = bake_store_key(bake);
		destructible_mesh_take_materials(made, &materials); // one from the store has no others
	}
	gd_array_free(&materials);
	return first_entry();
}

static uint64_t key_of_box(FemVec3 size, const int32_t cells[3], const MeshCacheSettings *settings) {
	uint64_t hash = 0x9e3779b97f4a7c15u;
	hash = hash_mix(hash, &size, sizeof(size));
	hash = hash_mix(hash, cells, 3 * sizeof(int32_t));
	hash = hash_mix(hash, &settings->splinter_pattern, sizeof(settings->splinter_pattern));
	hash = hash_mix(hash, &settings->splinter_direction, sizeof(settings->splinter_direction));
	return hash_mix(hash, &settings->scale, sizeof(settings->scale));
}

static FemResult bake_box(FemVec3 size, const int32_t cells[3], FemVec3 stretch, FemBakedMesh *out) {
	BodyShape shape = {0};
	FemRenderMesh render = {0};
	FemResult result = FEM_ERROR_MEMORY;
	if (body_shape_make_box(&shape, size, cells, stretch) && body_mesh_render(&shape, &render)) {
		FemTetArrays tets = {.node_count = shape.node_count,
			.tet_count = shape.tet_count,
			.nodes = shape.positions,
			.tets = shape.tets,
			.tet_plates = shape.tet_plates,
			.stretch = shape.stretch};
		result = fem_baked_mesh_from_tets(&tets, &render, out);
	}
	fem_render_mesh_free(&render);
	body_shape_free(&shape);
	return result;
}

GDExtensionObjectPtr mesh_cache_get_box(FemVec3 size, const int32_t cells[3], const MeshCacheSettings *settings) {
	uint64_t key = key_of_box(size, cells, settings);
	if (!find(key)) {
		DestructibleMesh *made = add(key, settings);
		made->is_baked = made->awaits_cut = bake_box(size, cells, settings->scale, &made->baked) == FEM_OK;
		made->region_count = 1;
		made->revision = 1;
		if (!made->is_baked) {
			fem_baked_mesh_free(&made->baked);
			drop(0);
			return NULL;
		}
	}
	return first_entry();
}

void mesh_cache_forget(GDExtensionObjectPtr destructible_mesh) {
	for (int i = 0; i < cache.count; i++) {
		if (cache.entries[i].object == destructible_mesh) {
			drop(i);
			return;
		}
	}
}

void mesh_cache_free(void) {
	while (cache.count > 0) {
		drop(cache.count - 1);
	}
}
