#include "classes/destructible_mesh_splinters.h"

#include "binding/conversions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void construct(void *pointer) {
	DestructibleMesh *self = pointer;
	self->element_count = 1000;
	self->refine_surface = true;
	self->plate_layers = 1;
	self->cut = fem_default_cut_def();
	self->stretch = (FemVec3){1.0f, 1.0f, 1.0f};
	self->data = gd_packed_byte_array_new();
	self->layout = gd_packed_byte_array_new();
	self->surface_materials = gd_array_new();
	self->job_materials = gd_array_new();
}

// Godot drops the connections of a freed object by itself.
static void destruct(void *pointer) {
	DestructibleMesh *self = pointer;
	destructible_mesh_end_bake(self);
	destructible_mesh_end_cut(self);
	mesh_drawing_free(&self->drawing);
	mesh_drawing_free(&self->splinter_drawing);
	fem_baked_mesh_free(&self->baked);
	object_reference_assign(&self->source_mesh, NULL);
	object_reference_assign(&self->interior_material, NULL);
	gd_packed_byte_array_free(&self->data);
	gd_packed_byte_array_free(&self->layout);
	gd_array_free(&self->surface_materials);
	gd_array_free(&self->job_materials);
}

static GdString path_or_name(const DestructibleMesh *self) {
	GdString text = gd_resource_get_path(self->base.object);
	if (gd_string_length(&text) == 0) {
		gd_string_free(&text);
		text = gd_resource_get_name(self->base.object);
	}
	return text;
}

static bool has_name(const DestructibleMesh *self) {
	GdString text = path_or_name(self);
	bool has = gd_string_length(&text) > 0;
	gd_string_free(&text);
	return has;
}

void destructible_mesh_name(const DestructibleMesh *self, char *buffer, int capacity) {
	GdString text = path_or_name(self);
	copy_string(&text, buffer, capacity);
	if (buffer[0] == 0) {
		snprintf(buffer, (size_t)capacity, "without a name");
	}
	gd_string_free(&text);
}

// ---- data

static int32_t count_regions(const FemTetArrays *tets) {
	int32_t last = 0;
	for (int32_t i = 0; tets->tet_regions && i < tets->tet_count; i++) {
		last = tets->tet_regions[i] > last ? tets->tet_regions[i] : last;
	}
	return last + 1;
}

static bool read_data(DestructibleMesh *self, const void *bytes, size_t size) {
	if (fem_baked_mesh_read("Its data", bytes, size, &self->baked) != FEM_OK) {
		snprintf(self->fault, sizeof(self->fault), "%s", fem_last_error());
		return false;
	}
	return true;
}

// What was read is of use for bodies.
static bool complete_baked(DestructibleMesh *self) {
	FemBakedMesh *baked = &self->baked;
	if (baked->render.surface_count == 0 && fem_baked_mesh_add_tet_surface(baked) != FEM_OK) {
		snprintf(self->fault, sizeof(self->fault), "%s", fem_last_error());
		return false;
	}
	if (baked->embedding.count != fem_render_mesh_vertex_count(&baked->render)) {
		snprintf(
			self->fault, sizeof(self->fault), "Its data do not say which tets its vertices belong to: bake it again.");
		return false;
	}
	self->region_count = count_regions(&baked->tet_mesh);
	return true;
}

static void report_fault(void *pointer) {
	DestructibleMesh *self = pointer;
	char name[256];
	destructible_mesh_name(self, name, sizeof(name));
	if (self->fault[0] && !self->is_fault_told) {
		report_error("DestructibleMesh %s cannot be used: %s", name, self->fault);
		self->is_fault_told = true;
	}
	if (self->refused_count > 0) {
		report_warning(
			"DestructibleMesh %s has an element_count of %d: %.0f were asked for, which nothing could simulate; set "
			"fewer.",
			name, FEM_BAKE_ELEMENTS_MAX, (double)self->refused_count);
		self->refused_count = 0;
	}
}

// While a file is loaded its resource does not know its path yet: what there is to say then waits until it does.
static void report_soon(DestructibleMesh *self) {
	if (has_name(self)) {
		report_fault(self);
	} else {
		call_deferred(self->base.object, &names._report_fault);
	}
}

// `baked`: what the data say, taken over; null: they are read here.
static void take(DestructibleMesh *self, const GdPackedByteArray *data, FemBakedMesh *baked) {
	GdPackedByteArray copy = gd_packed_byte_array_new_packed_byte_array(data);
	gd_packed_byte_array_free(&self->data);
	self->data = copy;
	destructible_mesh_end_cut(self);
	mesh_drawing_free(&self->drawing);
	mesh_drawing_free(&self->splinter_drawing);
	fem_baked_mesh_free(&self->baked);
	self->fault[0] = 0;
	self->is_fault_told = false;
	self->is_baked = false;
	self->revision++;
	int64_t size = gd_packed_byte_array_size(&self->data);
	if (baked) {
		self->baked = *baked;
		*baked = (FemBakedMesh){0};
		self->is_baked = complete_baked(self);
	} else if (size > 0) {
		const void *bytes = godot.packed_byte_array_operator_index_const(&self->data, 0);
		self->is_baked = read_data(self, bytes, (size_t)size) && complete_baked(self);
	}
	if (self->fault[0]) {
		fem_baked_mesh_free(&self->baked);
		report_soon(self);
	}
	gd_resource_emit_changed(self->base.object);
}

void destructible_mesh_take_data(DestructibleMesh *self, const GdPackedByteArray *data) {
	take(self, data, NULL);
}

void destructible_mesh_take_baked(DestructibleMesh *self, const GdPackedByteArray *data, FemBakedMesh *baked) {
	take(self, data, baked);
}

const char *destructible_mesh_fault(const DestructibleMesh *self) {
	if (self->fault[0]) {
		return "its mesh holds damaged data, or data of a newer version of the addon; bake the DestructibleMesh again "
			   "or "
			   "update the addon";
	}
	return self->is_baked
		? NULL
		: "its mesh is not baked; give the DestructibleMesh a source_mesh and press its Bake button, or "
		  "call bake()";
}

const MeshDrawing *destructible_mesh_drawing(DestructibleMesh *self) {
	if (self->is_baked && !self->drawing.exists) {
		mesh_drawing_create(&self->drawing, &self->baked, &self->surface_materials);
	}
	return self->drawing.exists ? &self->drawing : NULL;
}

static void get_data(void *self, GdPackedByteArray *out) {
	gd_packed_byte_array_free(out);
	*out = gd_packed_byte_array_new_packed_byte_array(&((DestructibleMesh *)self)->data);
}

static void set_data(void *self, const GdPackedByteArray *data) {
	destructible_mesh_take_data(self, data);
}

// ---- materials

static void watch_materials(DestructibleMesh *self, bool on) {
	for (int64_t i = 0; i < gd_array_size(&self->surface_materials); i++) {
		GDExtensionObjectPtr material = array_object(&self->surface_materials, i);
		if (material && on) {
			signal_connect(material, &names.changed, self->base.object, &names._on_surface_material_changed);
		} else if (material) {
			signal_disconnect(material, &names.changed, self->base.object, &names._on_surface_material_changed);
		}
	}
}

static void update_materials(DestructibleMesh *self) {
	if (self->drawing.exists) {
		mesh_drawing_set_materials(&self->drawing, &self->surface_materials);
	}
	if (self->splinter_drawing.exists) {
		mesh_drawing_set_materials(&self->splinter_drawing, &self->surface_materials);
	}
}

// Keeps what is a Material; anything else becomes null.
void destructible_mesh_take_materials(DestructibleMesh *self, const GdArray *materials) {
	GdArray copy = gd_array_new();
	GdArray source = gd_array_new_array(materials);
	int64_t count = gd_array_size(&source);
	count = count > FEM_SURFACE_MAX ? FEM_SURFACE_MAX : count;
	gd_array_resize(&copy, count);
	for (int64_t i = 0; i < count; i++) {
		GDExtensionObjectPtr material = array_object(&source, i);
		if (object_cast(material, "Material")) {
			array_take(&copy, i, make_variant_object(material));
		}
	}
	gd_array_free(&source);
	watch_materials(self, false);
	gd_array_free(&self->surface_materials);
	self->surface_materials = copy;
	watch_materials(self, true);
	update_materials(self);
	gd_resource_emit_changed(self->base.object);
}

static void get_surface_materials(void *self, GdArray *out) {
	gd_array_free(out);
	*out = gd_array_duplicate(&((DestructibleMesh *)self)->surface_materials, false);
}

static void set_surface_materials(void *self, const GdArray *materials) {
	destructible_mesh_take_materials(self, materials);
}

static void on_surface_material_changed(void *pointer) {
	update_materials(pointer);
}

// ---- settings

static GDExtensionObjectPtr get_source_mesh(void *self) {
	return ((DestructibleMesh *)self)->source_mesh;
}

static void set_source_mesh(void *pointer, GDExtensionObjectPtr mesh) {
	DestructibleMesh *self = pointer;
	if (mesh && !object_cast(mesh, "Mesh")) {
		report_error("DestructibleMesh: the source_mesh must be a Mesh; it keeps the old one.");
		return;
	}
	object_reference_assign(&self->source_mesh, mesh);
	self->revision += self->is_baked ? 0 : 1; // bodies show the source until there is a bake
	gd_resource_emit_changed(self->base.object);
}

static int64_t get_element_count(void *self) {
	return ((DestructibleMesh *)self)->element_count;
}

int64_t bounded_element_count(int64_t count) {
	int64_t most = count > FEM_BAKE_ELEMENTS_MAX ? FEM_BAKE_ELEMENTS_MAX : count;
	return most < FEM_BAKE_ELEMENTS_MIN ? FEM_BAKE_ELEMENTS_MIN : most;
}

static float bounded(float axis) {
	return fminf(fmaxf(axis, FEM_STRETCH_MIN), FEM_STRETCH_MAX);
}

FemVec3 bounded_stretch(FemVec3 stretch) {
	return (FemVec3){bounded(stretch.x), bounded(stretch.y), bounded(stretch.z)};
}

static void set_element_count(void *pointer, int64_t count) {
	DestructibleMesh *self = pointer;
	self->element_count = bounded_element_count(count);
	self->refused_count = count > FEM_BAKE_ELEMENTS_MAX ? count : 0;
	if (self->refused_count > 0) {
		report_soon(self);
	}
	gd_resource_emit_changed(self->base.object); // bodies warn of the cost
}

static int64_t get_plate_layers(void *self) {
	return ((DestructibleMesh *)self)->plate_layers;
}

static void set_plate_layers(void *self, int64_t count) {
	((DestructibleMesh *)self)->plate_layers = count < 1 ? 1 : count > 16 ? 16 : count;
}

static int64_t get_mode_count(void *self) {
	return ((DestructibleMesh *)self)->mode_count;
}

static void set_mode_count(void *self, int64_t count) {
	((DestructibleMesh *)self)->mode_count = count < 0 ? 0 : count > FEM_MODES_MAX ? FEM_MODES_MAX : count;
}

static void set_length(double *field, const char *name, double value) {
	if (!isfinite(value)) {
		report_error("DestructibleMesh: %s was set to a value that is not a finite number; it keeps %g.", name, *field);
		return;
	}
	*field = value < 0.0 ? 0.0 : value > 1e6 ? 1e6 : value;
}

static double get_sheet_thickness(void *self) {
	return ((DestructibleMesh *)self)->sheet_thickness;
}

static void set_sheet_thickness(void *self, double value) {
	set_length(&((DestructibleMesh *)self)->sheet_thickness, "sheet_thickness", value);
}

static double get_wall_thickness(void *self) {
	return ((DestructibleMesh *)self)->wall_thickness;
}

static void set_wall_thickness(void *self, double value) {
	set_length(&((DestructibleMesh *)self)->wall_thickness, "wall_thickness", value);
}

static double get_weld_distance(void *self) {
	return ((DestructibleMesh *)self)->weld_distance;
}

static void set_weld_distance(void *self, double value) {
	set_length(&((DestructibleMesh *)self)->weld_distance, "weld_distance", value);
}

static GdVector3 get_stretch(void *self) {
	FemVec3 stretch = ((DestructibleMesh *)self)->stretch;
	return (GdVector3){stretch.x, stretch.y, stretch.z};
}

static void set_stretch(void *pointer, GdVector3 value) {
	DestructibleMesh *self = pointer;
	if (!(value.x > 0.0f && value.y > 0.0f && value.z > 0.0f) || !vector3_is_finite(value)) {
		report_error("DestructibleMesh: stretch was set to (%g, %g, %g), which is no scale; it keeps (%g, %g, %g).",
			(double)value.x, (double)value.y, (double)value.z, (double)self->stretch.x, (double)self->stretch.y,
			(double)self->stretch.z);
		return;
	}
	self->stretch = bounded_stretch((FemVec3){value.x, value.y, value.z});
}

static bool is_regions_from_surfaces(void *self) {
	return ((DestructibleMesh *)self)->regions_from_surfaces;
}

static bool is_refine_surface(void *self) {
	return ((DestructibleMesh *)self)->refine_surface;
}

static void set_refine_surface(void *self, bool on) {
	((DestructibleMesh *)self)->refine_surface = on;
}

static void set_regions_from_surfaces(void *self, bool on) {
	((DestructibleMesh *)self)->regions_from_surfaces = on;
}

static void get_bake_action(void *pointer, GdCallable *out) {
	DestructibleMesh *self = pointer;
	gd_callable_free(out);
	*out = gd_callable_new_object_string_name(self->base.object, &names._bake_with_undo);
}

// ---- tables

#define MATERIAL_ARRAY_HINT "24/17:Material" // TYPE_OBJECT / PROPERTY_HINT_RESOURCE_TYPE : class

static const ClassProperty properties[] = {
	PROPERTY_OF_CLASS(source_mesh, OBJECT, object, RESOURCE_TYPE, "Mesh", "Mesh"),
	PROPERTY(element_count, INT, int, "get_", RANGE, ELEMENT_COUNT_HINT),
	PROPERTY(plate_layers, INT, int, "get_", RANGE, "1,16,1"),
	PROPERTY(sheet_thickness, FLOAT, float, "get_", RANGE, "0,0.5,0.0001,or_greater,suffix:m"),
	PROPERTY(wall_thickness, FLOAT, float, "get_", RANGE, "0,0.5,0.0001,or_greater,suffix:m"),
	PROPERTY(weld_distance, FLOAT, float, "get_", RANGE, "0,0.1,0.00001,or_greater,suffix:m"),
	PROPERTY(stretch, VECTOR3, vector3, "get_", LINK, ""),
	PROPERTY(mode_count, INT, int, "get_", RANGE, "0,1000,1"),
	{.name = "refine_surface",
		.type = GDEXTENSION_VARIANT_TYPE_BOOL,
		.getter = METHOD("is_refine_surface", get_bool, is_refine_surface, .is_const = true),
		.setter = METHOD("set_refine_surface", set_bool, set_refine_surface, .argument_names = {"enabled"})},
	{.name = "regions_from_surfaces",
		.type = GDEXTENSION_VARIANT_TYPE_BOOL,
		.getter = METHOD("is_regions_from_surfaces", get_bool, is_regions_from_surfaces, .is_const = true),
		.setter =
			METHOD("set_regions_from_surfaces", set_bool, set_regions_from_surfaces, .argument_names = {"enabled"})},
	{.name = "bake_action",
		.type = GDEXTENSION_VARIANT_TYPE_CALLABLE,
		.hint = GD_PROPERTY_HINT_TOOL_BUTTON,
		.hint_string = "Bake,Bake",
		.usage = GD_PROPERTY_USAGE_EDITOR,
		.getter = METHOD("get_bake_action", get_callable, get_bake_action, .is_const = true)},
	SPLINTER_PROPERTIES,
	PROPERTY_GROUP("Baked"),
	{.name = "report",
		.type = GDEXTENSION_VARIANT_TYPE_STRING,
		.hint = GD_PROPERTY_HINT_MULTILINE_TEXT,
		.usage = GD_PROPERTY_USAGE_EDITOR | GD_PROPERTY_USAGE_READ_ONLY,
		.getter = METHOD("get_report", get_string, destructible_mesh_get_report, .is_const = true)},
	{.name = "surface_materials",
		.type = GDEXTENSION_VARIANT_TYPE_ARRAY,
		.hint = GD_PROPERTY_HINT_ARRAY_TYPE,
		.hint_string = MATERIAL_ARRAY_HINT,
		.getter = METHOD("get_surface_materials", get_array, get_surface_materials, .is_const = true),
		.setter =
			METHOD("set_surface_materials", set_array, set_surface_materials, .argument_names = {"surface_materials"})},
	{.name = "data",
		.type = GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY,
		.usage = GD_PROPERTY_USAGE_STORAGE,
		.getter = METHOD("get_data", get_byte_array, get_data, .is_const = true),
		.setter = METHOD("set_data", set_byte_array, set_data, .argument_names = {"data"})},
	{.name = "bake_key",
		.type = GDEXTENSION_VARIANT_TYPE_INT,
		.usage = GD_PROPERTY_USAGE_STORAGE,
		.getter = METHOD("get_bake_key", get_int, destructible_mesh_get_bake_key, .is_const = true),
		.setter = METHOD("set_bake_key", set_int, destructible_mesh_set_bake_key, .argument_names = {"bake_key"})},
	{.name = "layout",
		.type = GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY,
		.usage = GD_PROPERTY_USAGE_STORAGE,
		.getter = METHOD("get_layout", get_byte_array, destructible_mesh_get_layout, .is_const = true),
		.setter = METHOD("set_layout", set_byte_array, destructible_mesh_set_layout, .argument_names = {"layout"})},
};

static const ClassMethod methods[] = {
	METHOD("bake", get_int, destructible_mesh_bake, .class_name = "Error"),
	METHOD("bake_async", get_int, destructible_mesh_bake_async, .class_name = "Error"),
	METHOD("cancel_bake", nothing, destructible_mesh_cancel_bake, .is_const = false),
	METHOD("is_baking", get_bool, destructible_mesh_is_baking, .is_const = true),
	METHOD("is_stale", get_bool, destructible_mesh_is_stale, .is_const = true),
	METHOD("is_baked", get_bool, destructible_mesh_get_is_baked, .is_const = true),
	METHOD("load_baked", make_object_of_string, destructible_mesh_load_baked, .argument_names = {"path"},
		.class_name = "DestructibleMesh", .is_static = true),
	METHOD("save_baked", get_int_of_string, destructible_mesh_save_baked, .argument_names = {"path"},
		.class_name = "Error"),
	METHOD("get_tet_count", get_int, destructible_mesh_get_tet_count, .is_const = true),
	METHOD("get_node_count", get_int, destructible_mesh_get_node_count, .is_const = true),
	METHOD("get_region_count", get_int, destructible_mesh_get_region_count, .is_const = true),
	METHOD("get_region_names", get_string_array, destructible_mesh_get_region_names, .is_const = true),
	METHOD("get_baked_splinter_count", get_int, destructible_mesh_get_baked_splinter_count, .is_const = true),
	METHOD("get_splinter_positions", get_vector3_array, destructible_mesh_get_splinter_positions, .is_const = true),
	METHOD("get_vertex_count", get_int, destructible_mesh_get_vertex_count, .is_const = true),
	METHOD("get_vertex_positions", get_vector3_array, destructible_mesh_get_vertex_positions, .is_const = true),
	METHOD("get_exploded_mesh", make_object_of_float_plane, destructible_mesh_get_exploded_mesh,
		.argument_names = {"gap", "cut_plane"}, .class_name = "ArrayMesh", .is_const = true),
	METHOD("get_tet_mesh_surface", make_object, destructible_mesh_get_tet_mesh_surface, .class_name = "ArrayMesh",
		.is_const = true),
	METHOD("_report_fault", nothing, report_fault, .is_const = false),
	METHOD("_bake_with_undo", nothing, destructible_mesh_bake_with_undo, .is_const = false),
	METHOD("_on_process_frame", nothing, destructible_mesh_on_process_frame, .is_const = false),
	METHOD("_on_surface_material_changed", nothing, on_surface_material_changed, .is_const = false),
};

static const ClassSignal signals[] = {
	{.name = "bake_progressed", .arguments = {{.name = "share", .type = GDEXTENSION_VARIANT_TYPE_FLOAT}}},
	{.name = "bake_finished",
		.arguments = {{.name = "error", .type = GDEXTENSION_VARIANT_TYPE_INT, .class_name = "Error"},
			{.name = "message", .type = GDEXTENSION_VARIANT_TYPE_STRING}}},
};

static const ClassConstant constants[] = {
	{"SplinterPattern", "SPLINTERS_NONE", FEM_PATTERN_NONE},
	{"SplinterPattern", "SPLINTERS_VORONOI", FEM_PATTERN_VORONOI},
	{"SplinterPattern", "SPLINTERS_GLASS", FEM_PATTERN_GLASS},
	{"SplinterPattern", "SPLINTERS_WOOD", FEM_PATTERN_WOOD},
	{"SplinterPattern", "SPLINTERS_BRICK", FEM_PATTERN_BRICK},
	{"SplinterPattern", "SPLINTERS_SURFACES", FEM_PATTERN_SURFACES},
};

const ClassDescription destructible_mesh_class = {
	.name = "DestructibleMesh",
	.parent = "Resource",
	.instance_size = sizeof(DestructibleMesh),
	.construct = construct,
	.destruct = destruct,
	.properties = properties,
	.property_count = TABLE_COUNT(properties),
	.methods = methods,
	.method_count = TABLE_COUNT(methods),
	.signals = signals,
	.signal_count = TABLE_COUNT(signals),
	.constants = constants,
	.constant_count = TABLE_COUNT(constants),
};
