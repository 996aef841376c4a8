// How a DestructibleMesh bakes: at once, on a thread, or from the inspector's button with undo.
#include "classes/destructible_mesh.h"

#include "binding/conversions.h"
#include "classes/mesh_import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REFINED_MAX = 40000 }; // triangles

static int64_t error_of(FemResult result) {
	switch (result) {
	case FEM_OK: return GD_OK;
	case FEM_ERROR_MEMORY: return GD_ERR_OUT_OF_MEMORY;
	case FEM_ERROR_INVALID_ARGUMENT: return GD_ERR_INVALID_PARAMETER;
	case FEM_ERROR_MESH:
	case FEM_ERROR_FORMAT: return GD_ERR_INVALID_DATA;
	default: return GD_FAILED;
	}
}

static void report_failure(const DestructibleMesh *self, const char *cause) {
	char name[256];
	destructible_mesh_name(self, name, sizeof(name));
	report_error("DestructibleMesh %s could not be baked: %s", name, cause);
}

static FemBakeDef bake_def(const DestructibleMesh *self) {
	FemBakeDef def = fem_default_bake_def();
	def.element_count = (int32_t)self->element_count;
	def.plate_layers = (int32_t)self->plate_layers;
	def.sheet_thickness = (float)self->sheet_thickness;
	def.wall_thickness = (float)self->wall_thickness;
	def.weld_distance = (float)self->weld_distance;
	def.surface_regions = self->regions_from_surfaces;
	def.stretch = self->stretch;
	def.cut = self->cut;
	def.cut.scale = self->stretch;
	def.mode_count = (int32_t)self->mode_count;
	def.mode_material = (FemModeMaterial){1e9f, 0.3f, 1000.0f}; // modes of bodies follow from it: only its ratio counts
	def.compute_modes = fem_modes_compute;
	return def;
}

// Vertices about as far apart as those of the tets will be (a regular tet of edge a has a^3 / 8.5). One that cannot be
// refined is baked as it is.
static void refine(FemRenderMesh *render, int64_t element_count) {
	double volume = fabs(fem_render_mesh_volume(render));
	float edge = (float)cbrt(8.5 * volume / (double)element_count);
	int64_t limit = 10 * element_count > 4000 ? 10 * element_count : 4000;
	if (edge > 0.0f && isfinite(edge)) {
		fem_render_mesh_refine(render, edge, (int32_t)(limit > REFINED_MAX ? REFINED_MAX : limit));
	}
}

// Copies the source mesh out of Godot. Bodies take the result over at once, which only the main thread may do.
static int64_t fetch_source(DestructibleMesh *self, FemRenderMesh *render, GdArray *materials) {
	if (gd_os_get_thread_caller_id() != gd_os_get_main_thread_id()) {
		report_failure(self, "bakes begin on the main thread; call bake_async() there, which has a thread of its own.");
		return GD_ERR_UNAVAILABLE;
	}
	self->job_key = destructible_mesh_settings_key(self);
	if (!self->source_mesh) {
		report_failure(self, "it has no source_mesh; set one.");
		return GD_ERR_UNCONFIGURED;
	}
	char message[512];
	FemResult result = mesh_import(self->source_mesh, render, materials, message, sizeof(message));
	if (result != FEM_OK) {
		report_failure(self, message);
	} else if (self->refine_surface) {
		refine(render, self->element_count);
	}
	return error_of(result);
}

// ---- result

static GdPackedByteArray bytes_of(const FemBakeResult *result) {
	GdPackedByteArray bytes = gd_packed_byte_array_new();
	gd_packed_byte_array_resize(&bytes, (int64_t)result->size);
	void *written = result->size > 0 ? godot.packed_byte_array_operator_index(&bytes, 0) : NULL;
	if (written) {
		memcpy(written, result->bytes, result->size);
	}
	return bytes;
}

static GDExtensionObjectPtr editor_undo_manager(void) {
	GdStringName name = make_string_name("EditorInterface");
	GDExtensionObjectPtr editor = gd_engine_is_editor_hint() ? godot.global_get_singleton(&name) : NULL;
	gd_string_name_free(&name);
	GDExtensionObjectPtr manager = NULL;
	if (editor) {
		GdVariant result = call_by_name(editor, "get_editor_undo_redo", NULL, 0);
		variant_to(&result, GDEXTENSION_VARIANT_TYPE_OBJECT, &manager);
		variant_free(&result);
	}
	return manager;
}

static void call_undo(GDExtensionObjectPtr manager, const char *method, GdVariant *values, int count) {
	GdVariant result = call_by_name(manager, method, values, count);
	variant_free(&result);
}

static void add_property(
	GDExtensionObjectPtr manager, DestructibleMesh *self, const char *property, GdVariant before, GdVariant after) {
	GdStringName name = make_string_name(property);
	GdVariant name_value = make_variant(GDEXTENSION_VARIANT_TYPE_STRING_NAME, &name);
	GdVariant name_copy = make_variant(GDEXTENSION_VARIANT_TYPE_STRING_NAME, &name);
	call_undo(manager, "add_do_property", (GdVariant[]){make_variant_object(self->base.object), name_value, after}, 3);
	call_undo(
		manager, "add_undo_property", (GdVariant[]){make_variant_object(self->base.object), name_copy, before}, 3);
	gd_string_name_free(&name);
}

// The editor's own undo history sets the new values now, and the old ones when the user takes the bake back.
static void take_with_undo(
	GDExtensionObjectPtr manager, DestructibleMesh *self, const GdPackedByteArray *data, const GdArray *materials) {
	call_undo(manager, "create_action",
		(GdVariant[]){
			make_variant_string("Bake DestructibleMesh"), make_variant_int(0), make_variant_object(self->base.object)},
		3);
	add_property(manager, self, "surface_materials",
		make_variant(GDEXTENSION_VARIANT_TYPE_ARRAY, &self->surface_materials),
		make_variant(GDEXTENSION_VARIANT_TYPE_ARRAY, materials));
	add_property(manager, self, "bake_key", make_variant_int(self->bake_key), make_variant_int(self->job_key));
	add_property(manager, self, "data", make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, &self->data),
		make_variant(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, data));
	call_undo(manager, "commit_action", NULL, 0);
}

// Takes the mesh out of the result.
static int64_t take_result(DestructibleMesh *self, FemBakeResult *result, const GdArray *materials, bool with_undo) {
	if (result->result != FEM_OK) {
		report_failure(self, result->message);
		return error_of(result->result);
	}
	GdPackedByteArray data = bytes_of(result);
	GDExtensionObjectPtr manager = with_undo ? editor_undo_manager() : NULL;
	if (manager) {
		take_with_undo(manager, self, &data, materials);
	} else {
		self->bake_key = self->job_key;
		destructible_mesh_take_materials(self, materials);
		destructible_mesh_take_baked(self, &data, &result->mesh);
	}
	gd_packed_byte_array_free(&data);
	if (gd_engine_is_editor_hint()) {
		destructible_mesh_find_layout(self);
	}
	return self->is_baked ? GD_OK : GD_ERR_INVALID_DATA;
}

// ---- frames

static GDExtensionObjectPtr scene_tree(void) {
	return object_cast(gd_engine_get_main_loop(), "SceneTree");
}

static void poll(DestructibleMesh *self, bool on) {
	GDExtensionObjectPtr tree = scene_tree();
	if (tree && on) {
		signal_connect(tree, &names.process_frame, self->base.object, &names._on_process_frame);
	} else if (tree) {
		signal_disconnect(tree, &names.process_frame, self->base.object, &names._on_process_frame);
	}
}

// ---- what an earlier start baked

// False when there is nothing of it.
static bool start_reading(DestructibleMesh *self) {
	self->job_is_cancelled = false;
	if (self->job || self->store_key == 0 || !bake_store_load(self->store_key, &self->job_stored)) {
		return false;
	}
	StoredBake *stored = &self->job_stored;
	const uint8_t *bytes = godot.packed_byte_array_operator_index_const(&stored->file, 0);
	self->job = fem_bake_read_start(bytes + stored->data_start, (size_t)stored->data_size);
	self->job_reads = self->job != NULL;
	if (!self->job) {
		gd_packed_byte_array_free(&stored->file);
	}
	return self->job_reads;
}

static void drop_stored(DestructibleMesh *self) {
	if (self->job_reads) {
		gd_packed_byte_array_free(&self->job_stored.file);
		self->job_reads = false;
	}
}

// Waits for the end. A damaged file counts as none: what is baked instead takes its place.
static bool finish_reading(DestructibleMesh *self) {
	FemBakeResult result;
	StoredBake *stored = &self->job_stored;
	fem_bake_finish(self->job, &result);
	self->job = NULL;
	bool is_good = result.result == FEM_OK && !self->job_is_cancelled;
	if (is_good) {
		int64_t data_end = stored->data_start + stored->data_size;
		int64_t layout_end = stored->layout_start + stored->layout_size;
		GdPackedByteArray data = gd_packed_byte_array_slice(&stored->file, stored->data_start, data_end);
		GdPackedByteArray layout = gd_packed_byte_array_slice(&stored->file, stored->layout_start, layout_end);
		destructible_mesh_set_layout(self, &layout);
		self->bake_key = destructible_mesh_settings_key(self);
		self->store_key = 0;
		destructible_mesh_take_baked(self, &data, &result.mesh);
		gd_packed_byte_array_free(&data);
		gd_packed_byte_array_free(&layout);
	}
	fem_bake_result_free(&result);
	drop_stored(self);
	return is_good;
}

// ---- at once

int64_t destructible_mesh_bake(void *pointer) {
	DestructibleMesh *self = pointer;
	FemRenderMesh render = {0};
	if (self->job_reads) {
		poll(self, false);
	}
	if ((self->job_reads || start_reading(self)) && finish_reading(self)) {
		return GD_OK;
	}
	GdArray materials = gd_array_new();
	int64_t error = fetch_source(self, &render, &materials);
	if (error == GD_OK) {
		destructible_mesh_cancel_bake(self);
		FemBakeResult result;
		FemBakeDef def = bake_def(self);
		fem_bake_now(&render, &def, &result);
		error = take_result(self, &result, &materials, false);
		fem_bake_result_free(&result);
	}
	gd_array_free(&materials);
	return error;
}

// ---- thread

static int64_t start(DestructibleMesh *self, bool with_undo) {
	FemRenderMesh render = {0};
	if (!scene_tree()) {
		report_failure(self, "there is no SceneTree whose frames could tell of its end; call bake() instead.");
		return GD_ERR_UNAVAILABLE;
	}
	GdArray materials = gd_array_new();
	int64_t error = fetch_source(self, &render, &materials);
	if (error != GD_OK) {
		gd_array_free(&materials);
		return error;
	}
	destructible_mesh_end_bake(self);
	gd_array_free(&self->job_materials);
	self->job_materials = materials;
	FemBakeDef def = bake_def(self);
	self->job = fem_bake_start(&render, &def);
	if (!self->job) {
		report_failure(self, "the system gave no thread or no memory; close other programs.");
		return GD_ERR_OUT_OF_MEMORY;
	}
	self->job_with_undo = with_undo;
	self->job_is_for_bodies = false;
	self->job_is_cancelled = false;
	self->job_share = -1.0f;
	poll(self, true);
	return GD_OK;
}

int64_t destructible_mesh_bake_async(void *self) {
	return start(self, false);
}

void destructible_mesh_bake_for_bodies(DestructibleMesh *self) {
	destructible_mesh_end_bake(self);
	if (scene_tree() && start_reading(self)) {
		poll(self, true);
	} else {
		start(self, false);
	}
	self->job_is_for_bodies = self->job != NULL;
}

void destructible_mesh_bake_with_undo(void *self) {
	start(self, true);
}

// The thread notices soon; the next frames tell bake_finished.
void destructible_mesh_cancel_bake(void *pointer) {
	DestructibleMesh *self = pointer;
	if (self->job) {
		self->job_is_cancelled = true;
		fem_bake_cancel(self->job);
	}
}

bool destructible_mesh_is_baking(void *self) {
	return ((DestructibleMesh *)self)->job != NULL;
}

void destructible_mesh_end_bake(DestructibleMesh *self) {
	if (self->job) {
		FemBakeResult result;
		fem_bake_cancel(self->job);
		fem_bake_finish(self->job, &result);
		fem_bake_result_free(&result);
		self->job = NULL;
		drop_stored(self);
		poll(self, false);
	}
}

// Bodies that wait for a file that is damaged wait for a bake instead.
static void end_reading(DestructibleMesh *self) {
	poll(self, false);
	if (!finish_reading(self) && !self->job_is_cancelled) {
		start(self, false);
		self->job_is_for_bodies = self->job != NULL;
	}
}

static void finish(DestructibleMesh *self) {
	FemBakeResult result;
	fem_bake_finish(self->job, &result);
	self->job = NULL;
	poll(self, false);
	int64_t error = GD_ERR_SKIP;
	if (self->job_is_cancelled || result.is_cancelled) {
		snprintf(result.message, sizeof(result.message), "The bake was cancelled.");
	} else {
		error = take_result(self, &result, &self->job_materials, self->job_with_undo);
	}
	gd_array_resize(&self->job_materials, 0);
	if (error == GD_OK && self->job_share < 1.0f) { // the last poll may have told of the end already
		emit_signal_values(self->base.object, &names.bake_progressed, (GdVariant[]){make_variant_float(1.0)}, 1);
	}
	emit_signal_values(self->base.object, &names.bake_finished,
		(GdVariant[]){make_variant_int(error), make_variant_string(result.message)}, 2);
	fem_bake_result_free(&result);
}

// A file that was damaged is followed by a bake.
void destructible_mesh_finish_bake(DestructibleMesh *self) {
	GDExtensionObjectPtr object = self->base.object;
	gd_ref_counted_reference(object);
	for (int i = 0; i < 2 && self->job; i++) {
		(self->job_reads ? end_reading : finish)(self);
	}
	object_unreference(object);
}

// Bodies take over what is done, one mesh a frame: that takes some milliseconds. Who asked for one waits for none.
static bool may_finish(const DestructibleMesh *self) {
	static int64_t last_frame = -1;
	int64_t frame = gd_engine_get_process_frames();
	bool may = !self->job_is_for_bodies || frame != last_frame;
	last_frame = frame;
	return may;
}

// What answers a signal may drop the last reference: one of our own keeps the resource until the end.
void destructible_mesh_on_process_frame(void *pointer) {
	DestructibleMesh *self = pointer;
	GDExtensionObjectPtr object = self->base.object;
	if (!self->job) {
		return;
	}
	if (self->job_is_for_bodies && self->waiting_count == 0) {
		destructible_mesh_cancel_bake(self);
	}
	gd_ref_counted_reference(object);
	if (fem_bake_is_done(self->job)) {
		if (may_finish(self)) {
			(self->job_reads ? end_reading : finish)(self);
		}
	} else {
		float share = fem_bake_share(self->job);
		if (share > self->job_share && !self->job_is_cancelled) {
			self->job_share = share;
			emit_signal_values(object, &names.bake_progressed, (GdVariant[]){make_variant_float((double)share)}, 1);
		}
	}
	object_unreference(object);
}
