#include "mesh_cache.h"

#include "classes/destructible_mesh.h"
#include "conversions.h"
#include "mesh_import.h"

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

// FNV-1a over words: fast enough for a million vertices, and no two meshes of a game will meet.
static uint64_t mix(uint64_t hash, const void *data, size_t size) {
	const unsigned char *bytes = data;
	uint64_t word = 0;
	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 29;
	}
	for (; size > 0; size--, bytes++) {
		hash = (hash ^ *bytes) * 0x100000001b3u;
	}
	return hash;
}

static uint64_t mix_surface(uint64_t hash, const FemRenderSurface *surface) {
	size_t vertices = (size_t)surface->vertex_count;
	hash = mix(hash, &surface->vertex_count, sizeof(surface->vertex_count));
	hash = mix(hash, &surface->attributes, sizeof(surface->attributes));
	hash = mix(hash, surface->indices, (size_t)surface->index_count * sizeof(int32_t));
	hash = mix(hash, surface->positions, vertices * sizeof(FemVec3));
	hash = surface->normals ? mix(hash, surface->normals, vertices * sizeof(FemVec3)) : hash;
	hash = surface->tangents ? mix(hash, surface->tangents, vertices * sizeof(*surface->tangents)) : hash;
	hash = surface->uvs ? mix(hash, surface->uvs, vertices * sizeof(*surface->uvs)) : hash;
	hash = surface->uvs2 ? mix(hash, surface->uvs2, vertices * sizeof(*surface->uvs2)) : hash;
	return surface->colors ? mix(hash, surface->colors, vertices * sizeof(*surface->colors)) : hash;
}

// Materials belong to the bake: equal triangles with other materials are another mesh.
static uint64_t key_of(const FemRenderMesh *render, GdArray *materials, const MeshCacheSettings *settings) {
	uint64_t hash = 0xcbf29ce484222325u;
	hash = mix(hash, &settings->element_count, sizeof(settings->element_count));
	hash = mix(hash, &settings->regions_from_surfaces, sizeof(settings->regions_from_surfaces));
	hash = mix(hash, &settings->splinter_pattern, sizeof(settings->splinter_pattern));
	hash = mix(hash, &settings->splinter_direction, sizeof(settings->splinter_direction));
	for (int32_t i = 0; i < render->surface_count; i++) {
		GDExtensionObjectPtr material = array_object(materials, i);
		uint64_t id = material ? godot.object_get_instance_id(material) : 0;
		hash = mix_surface(mix(hash, &id, sizeof(id)), &render->surfaces[i]);
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

static void add(uint64_t key, GDExtensionObjectPtr mesh, const MeshCacheSettings *settings) {
	GDExtensionObjectPtr object = class_create(&destructible_mesh_class);
	DestructibleMesh *made = class_instance(object, &destructible_mesh_class);
	gd_ref_counted_init_ref(object);
	object_reference_assign(&made->source_mesh, mesh);
	made->element_count = settings->element_count;
	made->regions_from_surfaces = settings->regions_from_surfaces;
	made->cut.pattern = settings->splinter_pattern;
	made->cut.grain = settings->splinter_direction;
	made->refines = true;
	if (cache.count == MESH_CACHE_MAX) {
		drop(MESH_CACHE_MAX - 1);
	}
	cache.entries[cache.count] = (CachedMesh){key, object};
	move_to_front(cache.count++);
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
	uint64_t key = key_of(&render, &materials, settings);
	fem_render_mesh_free(&render);
	gd_array_free(&materials);
	int index = 0;
	while (index < cache.count && cache.entries[index].key != key) {
		index++;
	}
	if (index < cache.count) {
		move_to_front(index);
	} else {
		add(key, mesh, settings);
	}
	gd_ref_counted_reference(cache.entries[0].object);
	return cache.entries[0].object;
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
