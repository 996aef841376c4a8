// Whether a DestructibleMesh was baked with the settings and the source that it has now.
#include "classes/destructible_mesh.h"

#include "binding/hashing.h"

#include <stdio.h>
#include <string.h>

// Of the settings of a bake, and of the number of surfaces and the box of the source; never 0.
int64_t destructible_mesh_settings_key(const DestructibleMesh *self) {
	const FemCutDef *c = &self->cut;
	GdAABB box = self->source_mesh ? gd_mesh_get_aabb(self->source_mesh) : (GdAABB){0};
	int64_t surfaces = self->source_mesh ? gd_mesh_get_surface_count(self->source_mesh) : 0;
	char text[768];
	int length = snprintf(text, sizeof(text),
		"%d %d %g %g %g %d %d|%d %d %g %g %d %g %g %g %g|%d %g %g %g %g %g %g|%g %g %g %g %g %g",
		(int)self->element_count, (int)self->plate_layers, self->sheet_thickness, self->wall_thickness,
		self->weld_distance, self->regions_from_surfaces, self->refine_surface, (int)c->pattern, (int)c->splinter_count,
		(double)c->splinter_size, (double)c->roughness, c->joins, (double)c->grain.x, (double)c->grain.y,
		(double)c->grain.z, (double)c->mortar, (int)surfaces, (double)box.position.x, (double)box.position.y,
		(double)box.position.z, (double)box.size.x, (double)box.size.y, (double)box.size.z, (double)c->brick_size.x,
		(double)c->brick_size.y, (double)c->brick_size.z, (double)c->section_width, (double)c->section_height,
		(double)c->section_length);
	uint64_t key = hash_mix(0x9e3779b97f4a7c15u, text, (size_t)(length < (int)sizeof(text) ? length : 0));
	if (self->mode_count > 0) { // keys of before are of bakes without
		key = hash_mix(key, &self->mode_count, sizeof(self->mode_count));
	}
	if (self->stretch.x != 1.0f || self->stretch.y != 1.0f || self->stretch.z != 1.0f) {
		key = hash_mix(key, &self->stretch, sizeof(self->stretch));
	}
	return (int64_t)(key & INT64_MAX) | 1;
}

int64_t destructible_mesh_get_bake_key(void *self) {
	return ((DestructibleMesh *)self)->bake_key;
}

void destructible_mesh_set_bake_key(void *self, int64_t key) {
	((DestructibleMesh *)self)->bake_key = key;
}

// What was baked by another program, or before keys were kept, is taken as it is.
bool destructible_mesh_is_stale(void *pointer) {
	const DestructibleMesh *self = pointer;
	return self->is_baked && self->source_mesh && self->bake_key != 0 &&
		self->bake_key != destructible_mesh_settings_key(self);
}
