#include "classes/destructible_body.h"

#include "classes/destructible_mesh.h"
#include "conversions.h"

#include <math.h>

static void construct(void *pointer) {
	DestructibleBody *self = pointer;
	self->size = (GdVector3){1.0f, 1.0f, 1.0f};
	self->cells = (GdVector3i){4, 4, 4};
	self->region_materials = gd_array_new();
	self->anchors = gd_array_new();
	self->view.texel_offset = -1;
}

static void watch(DestructibleBody *self, GDExtensionObjectPtr resource, const GdStringName *method, bool on) {
	if (resource && on) {
		signal_connect(resource, &names.changed, self->base.object, method);
	} else if (resource) {
		signal_disconnect(resource, &names.changed, self->base.object, method);
	}
}

// Godot drops the connections of a freed object by itself.
static void destruct(void *pointer) {
	DestructibleBody *self = pointer;
	destructible_body_release(self);
	object_reference_assign(&self->material, NULL);
	gd_array_free(&self->region_materials);
	gd_array_free(&self->anchors);
	object_reference_assign(&self->surface_material, NULL);
	object_reference_assign(&self->mesh, NULL);
}

static void notify(void *pointer, int32_t what) {
	DestructibleBody *self = pointer;
	switch (what) {
	case GD_NODE3D_NOTIFICATION_ENTER_WORLD: destructible_body_enter(self); break;
	case GD_NODE3D_NOTIFICATION_EXIT_WORLD: destructible_body_leave(self); break;
	case GD_NODE3D_NOTIFICATION_TRANSFORM_CHANGED: destructible_body_transform_changed(self); break;
	case GD_NODE3D_NOTIFICATION_VISIBILITY_CHANGED:
		body_view_set_visible(&self->view, gd_node3d_is_visible_in_tree(self->base.object));
		break;
	case GD_OBJECT_NOTIFICATION_EXTENSION_RELOADED:
		if (gd_node_is_inside_tree(self->base.object)) {
			destructible_body_enter(self);
		}
		break;
	default: break;
	}
}

// ----------------------------------------------------------------------------------------------------------- properties

static void describe_change(DestructibleBody *self) {
	gd_node_update_configuration_warnings(self->base.object);
}

static GDExtensionObjectPtr get_surface_material(void *self) {
	return ((DestructibleBody *)self)->surface_material;
}

static void set_surface_material(void *pointer, GDExtensionObjectPtr material) {
	DestructibleBody *self = pointer;
	if (material && !object_cast(material, "Material")) {
		destructible_body_report(self, "keeps its surface_material",
			"what was given is no Material; use a StandardMaterial3D or ShaderMaterial");
		return;
	}
	if (material == self->surface_material) {
		return;
	}
	body_view_set_material(&self->view, material);
	watch(self, self->surface_material, &names._on_surface_material_changed, false);
	object_reference_assign(&self->surface_material, material);
	watch(self, material, &names._on_surface_material_changed, true);
	destructible_body_update_look(self);
	describe_change(self);
}

static GDExtensionObjectPtr get_mesh(void *self) {
	return ((DestructibleBody *)self)->mesh;
}

// The old mesh is let go last: its drawing is in use until the body has been rebuilt.
static void set_mesh(void *pointer, GDExtensionObjectPtr mesh) {
	DestructibleBody *self = pointer;
	if (mesh && !class_instance(mesh, &destructible_mesh_class)) {
		destructible_body_report(
			self, "keeps its mesh", "what was given is no DestructibleMesh; make one and give it your Mesh to bake");
		return;
	}
	if (mesh == self->mesh) {
		return;
	}
	GDExtensionObjectPtr old = NULL;
	object_reference_assign(&old, self->mesh);
	watch(self, self->mesh, &names._on_mesh_changed, false);
	object_reference_assign(&self->mesh, mesh);
	watch(self, mesh, &names._on_mesh_changed, true);
	destructible_body_rebuild(self);
	describe_change(self);
	object_reference_assign(&old, NULL);
}

static const DestructibleMesh *mesh_of(const DestructibleBody *self) {
	return class_instance(self->mesh, &destructible_mesh_class);
}

// Most changes of the resource are to settings of its next bake.
static void on_mesh_changed(void *pointer) {
	DestructibleBody *self = pointer;
	const DestructibleMesh *mesh = mesh_of(self);
	if (mesh && mesh->revision != self->mesh_revision) {
		destructible_body_rebuild(self);
	} else {
		destructible_body_update_look(self);
	}
	describe_change(self);
}

static GdVector3 get_size(void *self) {
	return ((DestructibleBody *)self)->size;
}

static void set_size(void *pointer, GdVector3 size) {
	DestructibleBody *self = pointer;
	if (!vector3_is_finite(size)) {
		destructible_body_report(
			self, "keeps its size", "what was given is not a finite number; correct the script that sets it");
		return;
	}
	self->size = size;
	destructible_body_rebuild(self);
	describe_change(self);
}

static GdVector3i get_cells(void *self) {
	return ((DestructibleBody *)self)->cells;
}

static void set_cells(void *pointer, GdVector3i cells) {
	DestructibleBody *self = pointer;
	self->cells = cells;
	destructible_body_rebuild(self);
	describe_change(self);
}

static GdVector3 get_start_velocity(void *self) {
	return ((DestructibleBody *)self)->start_velocity;
}

static void set_start_velocity(void *pointer, GdVector3 velocity) {
	DestructibleBody *self = pointer;
	if (!vector3_is_finite(velocity)) {
		destructible_body_report(
			self, "keeps its start_velocity", "what was given is not a finite number; correct the script that sets it");
		return;
	}
	self->start_velocity = velocity;
}

static void get_anchors(void *self, GdArray *out) {
	gd_array_free(out);
	*out = gd_array_duplicate(&((DestructibleBody *)self)->anchors, false);
}

// Used when the body is built: the engine pins nodes that are at rest.
static void set_anchors(void *pointer, const GdArray *anchors) {
	DestructibleBody *self = pointer;
	GdArray source = gd_array_new_array(anchors), old = self->anchors;
	self->anchors = gd_array_duplicate(&source, false);
	gd_array_free(&source);
	gd_array_free(&old);
	destructible_body_rebuild(self);
}

static int64_t get_fracture_seed(void *self) {
	return ((DestructibleBody *)self)->fracture.seed;
}

static void set_fracture_seed(void *pointer, int64_t seed) {
	DestructibleBody *self = pointer;
	self->fracture.seed = (uint32_t)seed;
	simulation_body_set_fracture(&self->simulated, self->fracture);
}

static int64_t get_debris_cap(void *self) {
	return ((DestructibleBody *)self)->fracture.debris_cap;
}

static void set_debris_cap(void *pointer, int64_t cap) {
	DestructibleBody *self = pointer;
	self->fracture.debris_cap = (int32_t)(cap < 0 ? 0 : cap > 1000000 ? 1000000 : cap);
	simulation_body_set_fracture(&self->simulated, self->fracture);
}

static double get_debris_lifetime(void *self) {
	return (double)((DestructibleBody *)self)->fracture.debris_lifetime;
}

static void set_debris_lifetime(void *pointer, double lifetime) {
	DestructibleBody *self = pointer;
	if (!isfinite(lifetime)) {
		destructible_body_report(self, "keeps its debris_lifetime",
			"what was given is not a finite number; use 0 for pieces that stay for ever");
		return;
	}
	self->fracture.debris_lifetime = (float)(lifetime < 0.0 ? 0.0 : lifetime > 1e6 ? 1e6 : lifetime);
	simulation_body_set_fracture(&self->simulated, self->fracture);
}

static bool get_debug_draw_tets(void *self) {
	return ((DestructibleBody *)self)->debug_draw_tets;
}

static void set_debug_draw_tets(void *pointer, bool draws) {
	DestructibleBody *self = pointer;
	self->debug_draw_tets = draws;
	body_view_show_tets(&self->view, self->simulated.body, draws);
}

static void on_material_changed(void *self) {
	describe_change(self);
}

static void on_surface_material_changed(void *pointer) {
	DestructibleBody *self = pointer;
	body_view_set_material(&self->view, self->surface_material);
	destructible_body_update_look(self);
	describe_change(self);
}

// -------------------------------------------------------------------------------------------------------------- queries

static int64_t get_node_count(void *pointer) {
	DestructibleBody *self = pointer;
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	const DestructibleMesh *mesh = mesh_of(self);
	if (self->simulated.world) {
		return fem_body_get_node_count(self->simulated.body);
	}
	return mesh ? mesh->baked.tet_mesh.node_count : body_shape_box_nodes(cells);
}

static int64_t get_tet_count(void *pointer) {
	DestructibleBody *self = pointer;
	const int32_t cells[3] = {self->cells.x, self->cells.y, self->cells.z};
	const DestructibleMesh *mesh = mesh_of(self);
	if (self->simulated.world) {
		return fem_body_get_tet_count(self->simulated.body);
	}
	return mesh ? mesh->baked.tet_mesh.tet_count : body_shape_box_tets(cells);
}

static void get_node_positions(void *pointer, GdPackedVector3Array *out) {
	DestructibleBody *self = pointer;
	FemPosition origin;
	int32_t count = 0;
	const float *positions = fem_body_get_position_data(self->simulated.body, &origin, &count);
	gd_packed_vector3_array_resize(out, positions ? count : 0);
	if (!positions || count <= 0) {
		return;
	}
	GdVector3 *written = godot.packed_vector3_array_operator_index(out, 0);
	for (int32_t i = 0; i < count; i++) {
		const float *p = &positions[4 * i];
		written[i] = (GdVector3){
			(float)(origin.x + (double)p[0]), (float)(origin.y + (double)p[1]), (float)(origin.z + (double)p[2])};
	}
}

// What the vertex shader does, on the processor.
static void get_vertex_positions(void *pointer, GdPackedVector3Array *out) {
	DestructibleBody *self = pointer;
	const DestructibleMesh *mesh = mesh_of(self);
	FemPosition origin;
	int32_t node_count = 0;
	const float *positions = fem_body_get_position_data(self->simulated.body, &origin, &node_count);
	bool is_there = positions && mesh && mesh->is_baked && mesh->revision == self->mesh_revision &&
		node_count == mesh->baked.tet_mesh.node_count;
	int32_t count = is_there ? mesh->baked.embedding.count : 0;
	gd_packed_vector3_array_resize(out, count);
	GdVector3 *written = count > 0 ? godot.packed_vector3_array_operator_index(out, 0) : NULL;
	for (int32_t i = 0; i < count; i++) {
		const int32_t *nodes = &mesh->baked.tet_mesh.tets[4 * (size_t)mesh->baked.embedding.tets[i]];
		double sum[3] = {origin.x, origin.y, origin.z};
		for (int k = 0; k < 4; k++) {
			const float *p = &positions[4 * (size_t)nodes[k]];
			for (int axis = 0; axis < 3; axis++) {
				sum[axis] += (double)mesh->baked.embedding.weights[i][k] * (double)p[axis];
			}
		}
		written[i] = (GdVector3){(float)sum[0], (float)sum[1], (float)sum[2]};
	}
}

static FemBodyState body_state(const DestructibleBody *self) {
	FemBodyState state = {0};
	if (fem_body_get_state(self->simulated.body, &state) != FEM_OK) {
		state = (FemBodyState){0};
	}
	return state;
}

static GdVector3 get_center_of_mass(void *pointer) {
	DestructibleBody *self = pointer;
	FemBodyState state = body_state(self);
	return (GdVector3){(float)state.center.x, (float)state.center.y, (float)state.center.z};
}

static GdVector3 get_linear_velocity(void *self) {
	FemVec3 v = body_state(self).linear_velocity;
	return (GdVector3){v.x, v.y, v.z};
}

static double get_mass(void *self) {
	return body_state(self).mass;
}

static GdAABB get_aabb_world(void *pointer) {
	DestructibleBody *self = pointer;
	FemPosition low, high;
	if (fem_body_get_bounds(self->simulated.body, &low, &high) != FEM_OK) {
		return (GdAABB){0};
	}
	return (GdAABB){{(float)low.x, (float)low.y, (float)low.z},
		{(float)(high.x - low.x), (float)(high.y - low.y), (float)(high.z - low.z)}};
}

static bool is_simulated(void *self) {
	return ((DestructibleBody *)self)->simulated.world != NULL;
}

static bool is_asleep(void *self) {
	return fem_body_is_asleep(((DestructibleBody *)self)->simulated.body);
}

// -------------------------------------------------------------------------------------------------------------- actions

// A method called on a body that is not simulated does nothing: that is normal in tools and just after leaving a tree.
static void check(DestructibleBody *self, const char *action, FemResult result) {
	if (result == FEM_OK || !self->simulated.world) {
		self->simulated.is_moved = true;
		return;
	}
	destructible_body_report(self, action, fem_last_error());
}

static void wake(void *pointer) {
	DestructibleBody *self = pointer;
	check(self, "ignored wake()", fem_body_wake(self->simulated.body));
}

static void apply_impulse(void *pointer, GdVector3 impulse, GdVector3 position) {
	DestructibleBody *self = pointer;
	FemPosition point = {(double)position.x, (double)position.y, (double)position.z};
	check(self, "ignored apply_impulse()",
		fem_body_apply_impulse_at_point(self->simulated.body, (FemVec3){impulse.x, impulse.y, impulse.z}, point));
}

static void apply_central_impulse(void *pointer, GdVector3 impulse) {
	DestructibleBody *self = pointer;
	double mass = get_mass(self);
	float inv_mass = mass > 0.0 ? (float)(1.0 / mass) : 0.0f;
	FemVec3 change = {impulse.x * inv_mass, impulse.y * inv_mass, impulse.z * inv_mass};
	check(self, "ignored apply_central_impulse()", fem_body_add_velocity(self->simulated.body, change, (FemVec3){0}));
}

static void reset(void *self) {
	destructible_body_rebuild(self);
}

// --------------------------------------------------------------------------------------------------------------- tables

static void configuration_warnings(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)arguments;
	destructible_body_warnings(self, out);
}

#define ANCHOR_ARRAY_HINT "16:"                       // TYPE_AABB
#define MATERIAL_ARRAY_HINT "24/17:MaterialResource" // TYPE_OBJECT / PROPERTY_HINT_RESOURCE_TYPE : class

static const ClassProperty properties[] = {
	{.name = "material",
		.type = GDEXTENSION_VARIANT_TYPE_OBJECT,
		.hint = GD_PROPERTY_HINT_RESOURCE_TYPE,
		.hint_string = "MaterialResource",
		.class_name = "MaterialResource",
		.getter = METHOD("get_material", get_object, destructible_body_get_material, .class_name = "MaterialResource",
			.is_const = true),
		.setter = METHOD("set_material", set_object, destructible_body_set_material, .argument_names = {"material"},
			.class_name = "MaterialResource")},
	{.name = "region_materials",
		.type = GDEXTENSION_VARIANT_TYPE_ARRAY,
		.hint = GD_PROPERTY_HINT_ARRAY_TYPE,
		.hint_string = MATERIAL_ARRAY_HINT,
		.getter = METHOD("get_region_materials", get_array, destructible_body_get_region_materials, .is_const = true),
		.setter = METHOD("set_region_materials", set_array, destructible_body_set_region_materials,
			.argument_names = {"region_materials"})},
	PROPERTY(start_velocity, VECTOR3, vector3, "get_", NONE, "suffix:m/s"),
	PROPERTY(anchors, ARRAY, array, "get_", ARRAY_TYPE, ANCHOR_ARRAY_HINT),
	PROPERTY_GROUP("Fracture"),
	PROPERTY(fracture_seed, INT, int, "get_", RANGE, "0,4294967295,1"),
	PROPERTY(debris_cap, INT, int, "get_", RANGE, "0,1000,1,or_greater"),
	PROPERTY(debris_lifetime, FLOAT, float, "get_", RANGE, "0,600,0.1,or_greater,suffix:s"),
	PROPERTY_GROUP("Shape"),
	PROPERTY_OF_CLASS(mesh, OBJECT, object, RESOURCE_TYPE, "DestructibleMesh", "DestructibleMesh"),
	PROPERTY(size, VECTOR3, vector3, "get_", NONE, "suffix:m"),
	PROPERTY(cells, VECTOR3I, vector3i, "get_", RANGE, "1,64,1,or_greater"),
	PROPERTY_GROUP("Display"),
	PROPERTY_OF_CLASS(surface_material, OBJECT, object, RESOURCE_TYPE, "BaseMaterial3D,ShaderMaterial", "Material"),
	PROPERTY(debug_draw_tets, BOOL, bool, "is_", NONE, ""),
};

static const ClassMethod methods[] = {
	METHOD("get_node_count", get_int, get_node_count, .is_const = true),
	METHOD("get_tet_count", get_int, get_tet_count, .is_const = true),
	METHOD("get_node_positions", get_vector3_array, get_node_positions, .is_const = true),
	METHOD("get_vertex_positions", get_vector3_array, get_vertex_positions, .is_const = true),
	METHOD("get_center_of_mass", get_vector3, get_center_of_mass, .is_const = true),
	METHOD("get_linear_velocity", get_vector3, get_linear_velocity, .is_const = true),
	METHOD("get_mass", get_float, get_mass, .is_const = true),
	METHOD("get_aabb_world", get_aabb, get_aabb_world, .is_const = true),
	METHOD("is_simulated", get_bool, is_simulated, .is_const = true),
	METHOD("is_asleep", get_bool, is_asleep, .is_const = true),
	METHOD("wake", nothing, wake, .is_const = false),
	METHOD("apply_impulse", set_vector3_pair, apply_impulse, .argument_names = {"impulse", "position"}),
	METHOD("apply_central_impulse", set_vector3, apply_central_impulse, .argument_names = {"impulse"}),
	METHOD("get_piece_count", get_int, destructible_body_get_piece_count, .is_const = true),
	METHOD("get_pieces", get_int_array, destructible_body_get_pieces, .is_const = true),
	METHOD("get_piece_data", get_dictionary_of_int, destructible_body_get_piece_data, .argument_names = {"piece"},
		.is_const = true),
	METHOD("get_piece_transform", get_transform_of_int, destructible_body_get_piece_transform,
		.argument_names = {"piece"}, .is_const = true),
	METHOD("remove_piece", set_int, destructible_body_remove_piece, .argument_names = {"piece"}),
	METHOD("reset", nothing, reset, .is_const = false),
	METHOD("_on_material_changed", nothing, on_material_changed, .is_const = false),
	METHOD("_on_mesh_changed", nothing, on_mesh_changed, .is_const = false),
	METHOD("_on_surface_material_changed", nothing, on_surface_material_changed, .is_const = false),
};

static const ClassSignal signals[] = {
	{.name = "fractured",
		.arguments = {{.name = "point", .type = GDEXTENSION_VARIANT_TYPE_VECTOR3},
			{.name = "normal", .type = GDEXTENSION_VARIANT_TYPE_VECTOR3},
			{.name = "energy", .type = GDEXTENSION_VARIANT_TYPE_FLOAT}}},
	{.name = "piece_detached", .arguments = {{.name = "piece", .type = GDEXTENSION_VARIANT_TYPE_INT}}},
	{.name = "slept"},
	{.name = "woken"},
	{.name = "step_failed", .arguments = {{.name = "message", .type = GDEXTENSION_VARIANT_TYPE_STRING}}},
};

static const ClassVirtual virtuals[] = {
	{"_get_configuration_warnings", configuration_warnings},
};

const ClassDescription destructible_body_class = {
	.name = "DestructibleBody",
	.parent = "Node3D",
	.instance_size = sizeof(DestructibleBody),
	.construct = construct,
	.destruct = destruct,
	.notify = notify,
	.properties = properties,
	.property_count = TABLE_COUNT(properties),
	.methods = methods,
	.method_count = TABLE_COUNT(methods),
	.signals = signals,
	.signal_count = TABLE_COUNT(signals),
	.virtuals = virtuals,
	.virtual_count = TABLE_COUNT(virtuals),
};
