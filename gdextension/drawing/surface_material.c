#include "drawing/surface_material.h"

#include "binding/conversions.h"
#include "binding/hashing.h"
#include "drawing/material_shader.h"
#include "drawing/material_values.h"
#include "drawing/node_textures.h"

#include <stdlib.h>
#include <string.h>

enum {
	PASSES_MAX = 4,
	WATCHED_PER_FRAME = 4, // entries; a look at one takes some 2 us
};

typedef struct MaterialEntry {
	uint64_t source; // instance id; 0: the plain look
	uint32_t use;
	int32_t users; // 0: free
	GdRID rid;
	SurfaceMaterial next_pass;
	uint64_t look; // hash of what was last copied
} MaterialEntry;

static struct {
	MaterialEntry *list;
	int32_t count, capacity;
	int32_t watched; // the last one that was looked at
} entries;

bool surface_material_is_supported(GDExtensionObjectPtr source) {
	return !source || object_cast(source, "BaseMaterial3D") || object_cast(source, "ShaderMaterial");
}

static bool has_text(GdString *code, const char *text) {
	GdString wanted = make_string(text);
	bool has = gd_string_contains(code, &wanted);
	gd_string_free(&wanted);
	return has;
}

bool surface_material_follows(GDExtensionObjectPtr source) {
	GDExtensionObjectPtr material = object_cast(source, "ShaderMaterial");
	GDExtensionObjectPtr shader = material ? gd_shader_material_get_shader(material) : NULL;
	if (!shader) {
		return true;
	}
	GdString code = gd_shader_get_code(shader);
	bool follows = gd_string_length(&code) == 0 || has_text(&code, "fem_deform") || has_text(&code, "#include");
	gd_string_free(&code);
	object_unreference(shader);
	return follows;
}

static void set_textures(GdRID material) {
	GdRID positions = texel_atlas_rid(&node_positions), stencils = texel_atlas_rid(&node_stencils);
	GdVariant variant = make_variant(GDEXTENSION_VARIANT_TYPE_RID, &positions);
	gd_rendering_server_material_set_param(material, &names.fem_positions, &variant);
	variant_free(&variant);
	variant = make_variant(GDEXTENSION_VARIANT_TYPE_RID, &stencils);
	gd_rendering_server_material_set_param(material, &names.fem_stencils, &variant);
	variant_free(&variant);
}

// ---- filling

// A number that is another one when anything is that fill() takes from the source.
static uint64_t hash_look(GDExtensionObjectPtr base, uint32_t use) {
	MaterialShader key = material_shader_of(base, use);
	GDExtensionObjectPtr next = gd_material_get_next_pass(base);
	uint64_t id = next ? godot.object_get_instance_id(next) : 0;
	int64_t priority = gd_material_get_render_priority(base);
	object_unreference(next);
	uint64_t hash = hash_mix(material_values_hash(base), &key, sizeof(key));
	return hash_mix(hash_mix(hash, &id, sizeof(id)), &priority, sizeof(priority));
}

static SurfaceMaterial acquire(GDExtensionObjectPtr source, uint32_t use, int pass);

static void fill_next_pass(int32_t index, GDExtensionObjectPtr base, int pass) {
	SurfaceMaterial old = entries.list[index].next_pass, next = {0};
	GDExtensionObjectPtr source = base ? gd_material_get_next_pass(base) : NULL;
	if (source && pass < PASSES_MAX && surface_material_is_supported(source)) {
		next = acquire(source, entries.list[index].use & SURFACE_FADES, pass + 1);
	}
	object_unreference(source); // the material before it keeps it alive
	gd_rendering_server_material_set_next_pass(entries.list[index].rid, next.rid);
	entries.list[index].next_pass = next;
	surface_material_release(&old);
}

static void fill(int32_t index, GDExtensionObjectPtr source, int pass) {
	GDExtensionObjectPtr base = object_cast(source, "BaseMaterial3D");
	GdRID rid = entries.list[index].rid;
	uint32_t use = entries.list[index].use;
	MaterialShader key = material_shader_of(base, use);
	GDExtensionObjectPtr shader = material_shader_get(&key);
	if (shader) {
		gd_rendering_server_material_set_shader(rid, gd_resource_get_rid(shader));
	}
	set_textures(rid);
	if (base) {
		material_values_copy(rid, base, use);
		gd_rendering_server_material_set_render_priority(rid, gd_material_get_render_priority(base));
		entries.list[index].look = hash_look(base, use);
	}
	if (!(use & SURFACE_INSIDE)) {
		fill_next_pass(index, base, pass);
	}
}

// ---- entries

static int32_t free_entry(void) {
	for (int32_t i = 0; i < entries.count; i++) {
		if (entries.list[i].users == 0) {
			return i;
		}
	}
	if (entries.count == entries.capacity) {
		int32_t capacity = entries.capacity ? 2 * entries.capacity : 16;
		MaterialEntry *list = realloc(entries.list, (size_t)capacity * sizeof(MaterialEntry));
		if (!list) {
			return -1;
		}
		entries.list = list;
		entries.capacity = capacity;
	}
	return entries.count++;
}

static SurfaceMaterial acquire(GDExtensionObjectPtr source, uint32_t use, int pass) {
	if (object_cast(source, "ShaderMaterial")) {
		GdRID rid = gd_resource_get_rid(source);
		set_textures(rid);
		return (SurfaceMaterial){rid, 0};
	}
	uint64_t id = object_cast(source, "BaseMaterial3D") ? godot.object_get_instance_id(source) : 0;
	for (int32_t i = 0; i < entries.count; i++) {
		if (entries.list[i].users > 0 && entries.list[i].source == id && entries.list[i].use == use) {
			entries.list[i].users++;
			return (SurfaceMaterial){entries.list[i].rid, i + 1};
		}
	}
	int32_t index = free_entry();
	if (index < 0) {
		return (SurfaceMaterial){0};
	}
	GdRID rid = gd_rendering_server_material_create();
	entries.list[index] = (MaterialEntry){.source = id, .use = use, .users = 1, .rid = rid};
	fill(index, id ? source : NULL, pass);
	return (SurfaceMaterial){rid, index + 1};
}

SurfaceMaterial surface_material_acquire(GDExtensionObjectPtr source, uint32_t use) {
	return acquire(source, use, 1);
}

void surface_material_release(SurfaceMaterial *material) {
	int32_t index = material->entry - 1;
	*material = (SurfaceMaterial){0};
	if (index < 0 || index >= entries.count || entries.list[index].users == 0 || --entries.list[index].users > 0) {
		return;
	}
	SurfaceMaterial next = entries.list[index].next_pass;
	gd_rendering_server_free_rid(entries.list[index].rid);
	entries.list[index] = (MaterialEntry){0};
	surface_material_release(&next);
}

void surface_material_refresh(GDExtensionObjectPtr source) {
	if (object_cast(source, "ShaderMaterial")) {
		set_textures(gd_resource_get_rid(source));
		return;
	}
	uint64_t id = source ? godot.object_get_instance_id(source) : 0;
	for (int32_t i = 0; id && i < entries.count; i++) {
		if (entries.list[i].users > 0 && entries.list[i].source == id) {
			fill(i, source, 1);
		}
	}
}

void surface_material_watch(void) {
	for (int i = 0; i < WATCHED_PER_FRAME && i < entries.count; i++) {
		entries.watched = (entries.watched + 1) % entries.count;
		const MaterialEntry *entry = &entries.list[entries.watched];
		GDExtensionObjectPtr source =
			entry->users > 0 && entry->source ? godot.object_get_instance_from_id(entry->source) : NULL;
		if (source && hash_look(source, entry->use) != entry->look) {
			fill(entries.watched, source, 1);
		}
	}
}

void surface_material_unload(void) {
	for (int32_t i = 0; i < entries.count; i++) {
		if (entries.list[i].users > 0) {
			gd_rendering_server_free_rid(entries.list[i].rid);
		}
	}
	free(entries.list);
	memset(&entries, 0, sizeof(entries));
	material_shader_unload();
}
