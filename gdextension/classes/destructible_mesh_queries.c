// What a DestructibleMesh tells of its bake, and its files.
#include "classes/destructible_mesh.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool destructible_mesh_get_is_baked(void *self) {
	return ((DestructibleMesh *)self)->is_baked;
}

int64_t destructible_mesh_get_tet_count(void *self) {
	return ((DestructibleMesh *)self)->baked.tet_mesh.tet_count;
}

int64_t destructible_mesh_get_node_count(void *self) {
	return ((DestructibleMesh *)self)->baked.tet_mesh.node_count;
}

int64_t destructible_mesh_get_region_count(void *pointer) {
	DestructibleMesh *self = pointer;
	return self->is_baked ? self->region_count : 0;
}

void destructible_mesh_get_region_names(void *pointer, GdPackedStringArray *out) {
	DestructibleMesh *self = pointer;
	for (int32_t i = 0; self->is_baked && i < self->region_count; i++) {
		GdString name = make_string(i < self->baked.region_name_count ? self->baked.region_names[i].name : "");
		gd_packed_string_array_append(out, &name);
		gd_string_free(&name);
	}
}

int64_t destructible_mesh_get_vertex_count(void *self) {
	return fem_render_mesh_vertex_count(&((DestructibleMesh *)self)->baked.render);
}

void destructible_mesh_get_vertex_positions(void *pointer, GdPackedVector3Array *out) {
	DestructibleMesh *self = pointer;
	const FemBakedMesh *baked = &self->baked;
	int32_t count = self->is_baked ? baked->embedding.count : 0;
	gd_packed_vector3_array_resize(out, count);
	GdVector3 *written = count > 0 ? godot.packed_vector3_array_operator_index(out, 0) : NULL;
	for (int32_t i = 0; i < count; i++) {
		const int32_t *nodes = &baked->tet_mesh.tets[4 * (size_t)baked->embedding.tets[i]];
		double sum[3] = {0.0, 0.0, 0.0};
		for (int k = 0; k < 4; k++) {
			const float *p = &baked->tet_mesh.nodes[nodes[k]].x;
			for (int axis = 0; axis < 3; axis++) {
				sum[axis] += (double)baked->embedding.weights[i][k] * (double)p[axis];
			}
		}
		written[i] = (GdVector3){(float)sum[0], (float)sum[1], (float)sum[2]};
	}
}

static GDExtensionObjectPtr make_view(DestructibleMesh *self, const FemViewDef *def) {
	GDExtensionObjectPtr mesh = self->is_baked ? mesh_drawing_of_tets(&self->baked.tet_mesh, def, NULL) : NULL;
	if (!mesh) {
		char name[256];
		destructible_mesh_name(self, name, sizeof(name));
		report_error("DestructibleMesh %s has nothing to show: %s", name,
			self->is_baked ? fem_last_error() : "it is not baked; call bake() first.");
	}
	return mesh;
}

GDExtensionObjectPtr destructible_mesh_get_exploded_mesh(void *self, double gap, GdPlane cut) {
	FemViewDef def = fem_default_view_def();
	def.gap = gap >= 0.0 ? (float)fmin(gap, 0.9) : 0.0f;
	def.cut = vector3_is_finite(cut.normal) && isfinite(cut.d) &&
		(cut.normal.x != 0.0f || cut.normal.y != 0.0f || cut.normal.z != 0.0f);
	def.cut_normal = (FemVec3){cut.normal.x, cut.normal.y, cut.normal.z};
	def.cut_point = (FemVec3){cut.normal.x * cut.d, cut.normal.y * cut.d, cut.normal.z * cut.d};
	return make_view(self, &def);
}

GDExtensionObjectPtr destructible_mesh_get_tet_mesh_surface(void *self) {
	FemViewDef def = fem_default_view_def();
	def.surface_only = true;
	return make_view(self, &def);
}

// ---- report

void destructible_mesh_warnings(const DestructibleMesh *self, char *buffer, int capacity) {
	fem_bake_report_warnings(self->baked.report ? self->baked.report : "", buffer, (size_t)capacity);
}

static void write_regions(const FemBakedMesh *baked, char *out, size_t capacity) {
	size_t length = 0;
	for (int32_t i = 0; i < baked->region_name_count && length < capacity; i++) {
		length += (size_t)snprintf(out + length, capacity - length, "%s%d %s", i == 0 ? "Regions: " : ", ", (int)i,
			baked->region_names[i].name);
	}
	if (length > 0 && length < capacity) {
		snprintf(out + length, capacity - length, ".\n");
	}
}

void destructible_mesh_get_report(void *pointer, GdString *out) {
	DestructibleMesh *self = pointer;
	const FemBakedMesh *baked = &self->baked;
	char text[FEM_REPORT_SIZE + 2048] = "", regions[1024] = "";
	gd_string_free(out);
	if (self->fault[0]) {
		snprintf(text, sizeof(text), "%s", self->fault);
	} else if (self->is_baked) {
		write_regions(baked, regions, sizeof(regions));
		snprintf(text, sizeof(text), "%d tetrahedra, %d nodes, %.0f vertices, %.0f kB.\n%s%s",
			baked->tet_mesh.tet_count, baked->tet_mesh.node_count, (double)fem_render_mesh_vertex_count(&baked->render),
			(double)gd_packed_byte_array_size(&self->data) / 1024.0, regions, baked->report ? baked->report : "");
	}
	*out = make_string(text);
}

// ---- files

GDExtensionObjectPtr destructible_mesh_load_baked(void *no_self, const GdString *path) {
	(void)no_self;
	char text[256];
	copy_string(path, text, sizeof(text));
	GdPackedByteArray bytes = gd_file_access_get_file_as_bytes(path);
	int64_t error = gd_file_access_get_open_error();
	GDExtensionObjectPtr object = NULL;
	if (error != GD_OK) {
		report_error("DestructibleMesh: %s cannot be read (error %d); check the path.", text, (int)error);
	} else if (gd_packed_byte_array_size(&bytes) == 0) {
		report_error("DestructibleMesh: %s is empty; bake it again.", text);
	} else {
		object = class_create(&destructible_mesh_class);
		DestructibleMesh *self = class_instance(object, &destructible_mesh_class);
		if (self) {
			gd_object_notification(object, GD_OBJECT_NOTIFICATION_POSTINITIALIZE, false);
			gd_ref_counted_init_ref(object);
			gd_resource_set_name(object, path);
			destructible_mesh_take_data(self, &bytes);
		}
		if (!self || !self->is_baked) {
			object_unreference(object);
			object = NULL;
		}
	}
	gd_packed_byte_array_free(&bytes);
	return object;
}

int64_t destructible_mesh_save_baked(void *pointer, const GdString *path) {
	DestructibleMesh *self = pointer;
	char name[256], text[256];
	destructible_mesh_name(self, name, sizeof(name));
	copy_string(path, text, sizeof(text));
	if (!self->is_baked) {
		report_error("DestructibleMesh %s cannot be saved as %s: it is not baked; call bake() first.", name, text);
		return GD_ERR_UNCONFIGURED;
	}
	GDExtensionObjectPtr file = gd_file_access_open(path, GD_FILE_ACCESS_WRITE);
	int64_t error = file ? GD_OK : gd_file_access_get_open_error();
	if (file) {
		bool is_stored = gd_file_access_store_buffer(file, &self->data);
		gd_file_access_flush(file);
		error = is_stored ? gd_file_access_get_error(file) : GD_ERR_FILE_CANT_WRITE;
		object_unreference(file);
	}
	if (error != GD_OK) {
		report_error(
			"DestructibleMesh %s cannot be saved as %s (error %d); check the folder and the space on the disk.", name,
			text, (int)error);
	}
	return error;
}
