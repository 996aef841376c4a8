// The partition of a baked mesh's tets, kept with it: the engine takes some 4 ms a thousand tets to find it.
#include "classes/destructible_mesh.h"

#include "binding/conversions.h"
#include "classes/bake_store.h"
#include "simulation/simulation.h"

#include <string.h>

const int32_t *destructible_mesh_layout(DestructibleMesh *self, int32_t *out_count) {
	int64_t bytes = gd_packed_byte_array_size(&self->layout);
	*out_count = (int32_t)(bytes / (int64_t)sizeof(int32_t));
	return *out_count > 0
		? (const int32_t *)(const void *)godot.packed_byte_array_operator_index_const(&self->layout, 0)
		: NULL;
}

void destructible_mesh_keep_layout(DestructibleMesh *self, FemMeshId mesh) {
	int32_t count = fem_mesh_get_layout(mesh, NULL, 0);
	int64_t bytes = (int64_t)count * (int64_t)sizeof(int32_t);
	if (count == 0) {
		return;
	}
	GdPackedByteArray layout = gd_packed_byte_array_new();
	gd_packed_byte_array_resize(&layout, bytes);
	int32_t *written = (int32_t *)(void *)godot.packed_byte_array_operator_index(&layout, 0);
	if (!written || fem_mesh_get_layout(mesh, written, count) != count) {
		gd_packed_byte_array_free(&layout);
		return;
	}
	gd_packed_byte_array_free(&self->layout);
	self->layout = layout;
	if (self->store_key != 0) {
		bake_store_save(self->store_key, &self->data, &self->layout);
		self->store_key = 0;
	}
}

void destructible_mesh_find_layout(DestructibleMesh *self) {
	FemWorldDef world_def = fem_default_world_def();
	FemWorldId world = self->is_baked ? fem_world_create(&world_def) : (FemWorldId){0};
	FemMeshDef def = simulation_mesh_def(&self->baked.tet_mesh);
	destructible_mesh_keep_layout(self, fem_mesh_create(world, &def));
	fem_world_destroy(world);
}

void destructible_mesh_get_layout(void *self, GdPackedByteArray *out) {
	gd_packed_byte_array_free(out);
	*out = gd_packed_byte_array_new_packed_byte_array(&((DestructibleMesh *)self)->layout);
}

void destructible_mesh_set_layout(void *pointer, const GdPackedByteArray *layout) {
	DestructibleMesh *self = pointer;
	GdPackedByteArray copy = gd_packed_byte_array_new_packed_byte_array(layout);
	gd_packed_byte_array_free(&self->layout);
	self->layout = copy;
}
