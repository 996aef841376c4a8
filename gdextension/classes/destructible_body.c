#include "classes/destructible_body.h"

#include "binding/conversions.h"
#include "classes/destructible_mesh.h"

static void construct(void *pointer) {
	DestructibleBody *self = pointer;
	self->size = (GdVector3){1.0f, 1.0f, 1.0f};
	self->cells = (GdVector3i){4, 4, 4};
	self->element_count = 1000;
	self->layers = 1;
	self->cast_shadow = GD_RENDERING_SERVER_SHADOW_CASTING_SETTING_ON;
	self->region_materials = gd_array_new();
	self->anchors = gd_array_new();
	self->start_state = gd_dictionary_new();
	body_nodes_init(&self->view.nodes);
	self->simulated.node = self->base.object;
	self->simulated.view = &self->view;
	self->simulated.settings = (BodySettings){
		.gravity_scale = 1.0f,
		.mode_count = 20, // Hauser et al. 2003 show 20 to 40; each costs time
		.strength_scale = 1.0f,
		.layer = 1,
		.mask = 1,
		.self_contact = true,
		.impact_speed_min = 1.0f,
		.energy_release = 1.0f,
		.debris_fade = 0.5f,
		.splinter_blend = 0.05,
		.bake_in_background = project_settings_bake_in_background(),
	};
}

// Godot drops the connections of a freed object by itself.
static void destruct(void *pointer) {
	DestructibleBody *self = pointer;
	destructible_body_release(self);
	object_reference_assign(&self->material, NULL);
	gd_array_free(&self->region_materials);
	gd_array_free(&self->anchors);
	gd_dictionary_free(&self->start_state);
	object_reference_assign(&self->start_mesh, NULL);
	object_reference_assign(&self->surface_material, NULL);
	object_reference_assign(&self->editor_mesh, NULL);
	object_reference_assign(&self->baked, NULL);
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

static void configuration_warnings(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)arguments;
	destructible_body_warnings(self, out);
}

static void local_box(void *self, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr out) {
	(void)arguments;
	*(GdAABB *)out = destructible_body_local_box(self);
}

// ---- tables

#define ANCHOR_ARRAY_HINT "16:"                      // of an Array: TYPE_AABB
#define MATERIAL_ARRAY_HINT "24/17:MaterialResource" // TYPE_OBJECT / PROPERTY_HINT_RESOURCE_TYPE : class

#define BODY_METHOD(method, kind, ...) METHOD(#method, kind, destructible_body_##method, __VA_ARGS__)
#define BODY_PROPERTY(property, variant_type, kind, getter_prefix, hint_kind, hint_text, ...) \
	{ \
		.name = #property, .type = GDEXTENSION_VARIANT_TYPE_##variant_type, .hint = GD_PROPERTY_HINT_##hint_kind, \
		.hint_string = hint_text, \
		.getter = METHOD( \
			getter_prefix #property, get_##kind, destructible_body_get_##property, .is_const = true, __VA_ARGS__), \
		.setter = METHOD("set_" #property, set_##kind, destructible_body_set_##property, \
			.argument_names = {#property}, __VA_ARGS__) \
	}
#define BODY_RESOURCE(property, hint_text, class_text) \
	{ \
		.name = #property, .type = GDEXTENSION_VARIANT_TYPE_OBJECT, .hint = GD_PROPERTY_HINT_RESOURCE_TYPE, \
		.hint_string = hint_text, .class_name = class_text, \
		.getter = METHOD("get_" #property, get_object, destructible_body_get_##property, .class_name = class_text, \
			.is_const = true), \
		.setter = METHOD("set_" #property, set_object, destructible_body_set_##property, \
			.argument_names = {#property}, .class_name = class_text) \
	}

static const ClassProperty properties[] = {
	BODY_RESOURCE(mesh, "Mesh,DestructibleMesh", "Resource"),
	BODY_PROPERTY(element_count, INT, int, "get_", RANGE, ELEMENT_COUNT_HINT, ),
	BODY_PROPERTY(wall_thickness, FLOAT, float, "get_", RANGE, "0,0.5,0.0001,or_greater,suffix:m", ),
	BODY_PROPERTY(bake_in_background, BOOL, bool, "is_", NONE, "", ),
	BODY_PROPERTY(size, VECTOR3, vector3, "get_", NONE, "suffix:m", ),
	BODY_PROPERTY(cells, VECTOR3I, vector3i, "get_", RANGE, "1,64,1,or_greater", ),
	BODY_RESOURCE(material, "MaterialResource", "MaterialResource"),
	BODY_PROPERTY(region_materials, ARRAY, array, "get_", ARRAY_TYPE, MATERIAL_ARRAY_HINT, ),
	BODY_PROPERTY(anchors, ARRAY, array, "get_", ARRAY_TYPE, ANCHOR_ARRAY_HINT, ),
	{.name = "start_state",
		.type = GDEXTENSION_VARIANT_TYPE_DICTIONARY,
		.usage = GD_PROPERTY_USAGE_STORAGE,
		.getter = METHOD("get_start_state", get_dictionary, destructible_body_get_start_state, .is_const = true),
		.setter = METHOD(
			"set_start_state", set_dictionary, destructible_body_set_start_state, .argument_names = {"start_state"})},
	PROPERTY_GROUP("Motion"),
	BODY_PROPERTY(freeze, BOOL, bool, "is_", NONE, "", ),
	BODY_PROPERTY(start_asleep, BOOL, bool, "is_", NONE, "", ),
	BODY_PROPERTY(start_velocity, VECTOR3, vector3, "get_", NONE, "suffix:m/s", ),
	BODY_PROPERTY(start_angular_velocity, VECTOR3, vector3, "get_", NONE, "radians_as_degrees,suffix:°/s", ),
	BODY_PROPERTY(gravity_scale, FLOAT, float, "get_", RANGE, "-8,8,0.001,or_less,or_greater", ),
	BODY_PROPERTY(mass_override, FLOAT, float, "get_", RANGE, "0,1000,0.001,or_greater,exp,suffix:kg", ),
	BODY_PROPERTY(dynamics, INT, int, "get_", ENUM, "Auto,Finite Elements,Rigid,Modal,Rigid Pieces",
		.class_name = "DestructibleBody.Dynamics"),
	BODY_PROPERTY(mode_count, INT, int, "get_", RANGE, "1,256,1", ),
	PROPERTY_GROUP("Collision"),
	BODY_PROPERTY(collision_layer, INT, int, "get_", LAYERS_3D_PHYSICS, "", ),
	BODY_PROPERTY(collision_mask, INT, int, "get_", LAYERS_3D_PHYSICS, "", ),
	BODY_PROPERTY(self_contact, BOOL, bool, "is_", NONE, "", ),
	BODY_PROPERTY(impact_speed_min, FLOAT, float, "get_", RANGE, "0,50,0.01,or_greater,suffix:m/s", ),
	PROPERTY_GROUP("Fracture"),
	BODY_PROPERTY(strength_scale, FLOAT, float, "get_", RANGE, "0.01,100,0.001,or_less,or_greater,exp", ),
	BODY_PROPERTY(invulnerable, BOOL, bool, "is_", NONE, "", ),
	BODY_PROPERTY(fracture_seed, INT, int, "get_", RANGE, "0,4294967295,1", ),
	BODY_PROPERTY(debris_cap, INT, int, "get_", RANGE, "0,1000,1,or_greater", ),
	BODY_PROPERTY(debris_lifetime, FLOAT, float, "get_", RANGE, "0,600,0.1,or_greater,suffix:s", ),
	BODY_PROPERTY(debris_fade, FLOAT, float, "get_", RANGE, "0,10,0.01,or_greater,suffix:s", ),
	BODY_PROPERTY(splinter_blend, FLOAT, float, "get_", RANGE, "0,1,0.01,or_greater,suffix:s", ),
	PROPERTY_GROUP("Rigid Pieces"),
	BODY_PROPERTY(rigid_piece_count, INT, int, "get_", RANGE, "0,1000,1,or_greater", ),
	BODY_PROPERTY(energy_release, FLOAT, float, "get_", RANGE, "0,4,0.01,or_greater", ),
	BODY_PROPERTY(breaks_per_second, FLOAT, float, "get_", RANGE, "0,1000,0.1,or_greater,suffix:1/s", ),
	BODY_PROPERTY(rigid_pieces_distance, FLOAT, float, "get_", RANGE, "0,1000,0.1,or_greater,suffix:m", ),
	BODY_PROPERTY(refine_on_break, BOOL, bool, "is_", NONE, "", ),
	PROPERTY_GROUP("Display"),
	BODY_RESOURCE(surface_material, "BaseMaterial3D,ShaderMaterial", "Material"),
	{.name = "layers",
		.type = GDEXTENSION_VARIANT_TYPE_INT,
		.hint = GD_PROPERTY_HINT_LAYERS_3D_RENDER,
		.hint_string = "body", // by which it is told from VisualInstance3D's own
		.getter = METHOD("get_layer_mask", get_int, destructible_body_get_layers, .is_const = true),
		.setter = METHOD("set_layer_mask", set_int, destructible_body_set_layers, .argument_names = {"mask"})},
	BODY_PROPERTY(cast_shadow, INT, int, "get_", ENUM, "Off,On,Double-Sided,Shadows Only", ),
	BODY_PROPERTY(debug_draw_tets, BOOL, bool, "is_", NONE, "", ),
};

static const ClassMethod methods[] = {
	BODY_METHOD(bake_mesh, make_object, .class_name = "DestructibleMesh", .is_const = false),
	BODY_METHOD(get_layer_mask_value, get_bool_of_int, .argument_names = {"layer_number"}, .is_const = true),
	BODY_METHOD(set_layer_mask_value, set_int_bool, .argument_names = {"layer_number", "value"}),
	BODY_METHOD(get_estimate, get_dictionary, .is_const = true),
	BODY_METHOD(get_shown_mesh, make_object, .class_name = "ArrayMesh", .is_const = true),
	BODY_METHOD(get_preview_mesh, make_object_of_int_float, .argument_names = {"kind", "spread"},
		.class_name = "ArrayMesh", .is_const = false),
	BODY_METHOD(show_in_editor, set_object, .argument_names = {"mesh"}, .class_name = "Mesh"),
	BODY_METHOD(simulate_in_editor, set_bool, .argument_names = {"enabled"}),
	BODY_METHOD(get_node_count, get_int, .is_const = true),
	BODY_METHOD(get_tet_count, get_int, .is_const = true),
	BODY_METHOD(get_node_positions, get_vector3_array, .is_const = true),
	BODY_METHOD(get_vertex_positions, get_vector3_array, .is_const = true),
	BODY_METHOD(get_splinter_vertex_positions, get_vector3_array, .is_const = true),
	BODY_METHOD(get_center_of_mass, get_vector3, .is_const = true),
	BODY_METHOD(get_linear_velocity, get_vector3, .is_const = true),
	BODY_METHOD(get_mass, get_float, .is_const = true),
	BODY_METHOD(get_grain_direction, get_vector3, .is_const = true),
	BODY_METHOD(get_softened_tet_count, get_int, .is_const = true),
	BODY_METHOD(get_aabb_world, get_aabb, .is_const = true),
	BODY_METHOD(is_simulated, get_bool, .is_const = true),
	BODY_METHOD(is_asleep, get_bool, .is_const = true),
	BODY_METHOD(wake, nothing, .is_const = false),
	BODY_METHOD(reset, nothing, .is_const = false),
	BODY_METHOD(trigger, nothing, .is_const = false),
	BODY_METHOD(apply_force, set_vector3_pair, .argument_names = {"force", "position"}),
	BODY_METHOD(apply_central_force, set_vector3, .argument_names = {"force"}),
	BODY_METHOD(apply_impulse, set_vector3_pair, .argument_names = {"impulse", "position"}),
	BODY_METHOD(apply_central_impulse, set_vector3, .argument_names = {"impulse"}),
	BODY_METHOD(apply_explosion, set_vector3_float_float, .argument_names = {"position", "radius", "strength"}),
	BODY_METHOD(apply_damage, set_vector3_float_float, .argument_names = {"position", "radius", "amount"}),
	BODY_METHOD(get_state, get_dictionary, .is_const = true),
	BODY_METHOD(set_state, get_int_of_dictionary, .argument_names = {"state"}, .class_name = "Error"),
	BODY_METHOD(get_piece_count, get_int, .is_const = true),
	BODY_METHOD(get_pieces, get_int_array, .is_const = true),
	BODY_METHOD(get_piece_data, get_dictionary_of_int, .argument_names = {"piece"}, .is_const = true),
	BODY_METHOD(get_piece_transform, get_transform_of_int, .argument_names = {"piece"}, .is_const = true),
	BODY_METHOD(remove_piece, set_int, .argument_names = {"piece"}),
	BODY_METHOD(get_piece_at, get_int_of_vector3, .argument_names = {"position"}, .is_const = true),
	BODY_METHOD(get_hit_data, get_dictionary_of_vector3, .argument_names = {"position"}, .is_const = true),
	BODY_METHOD(apply_bullet, set_vector3_vector3_float, .argument_names = {"position", "direction", "energy"}),
	BODY_METHOD(is_modal, get_bool, .is_const = true),
	BODY_METHOD(grab, get_int_of_vector3, .argument_names = {"position"}),
	BODY_METHOD(move_grab, set_int_vector3, .argument_names = {"grab", "position"}),
	BODY_METHOD(release_grab, set_int, .argument_names = {"grab"}),
	BODY_METHOD(get_grab_data, get_dictionary_of_int, .argument_names = {"grab"}, .is_const = true),
	BODY_METHOD(
		join, get_int_of_object_vector3, .argument_names = {"body", "position"}, .class_name = "DestructibleBody"),
	BODY_METHOD(release_joint, set_int, .argument_names = {"joint"}),
	BODY_METHOD(get_joint_data, get_dictionary_of_int, .argument_names = {"joint"}, .is_const = true),
	BODY_METHOD(add_collision_exception_with, set_object, .argument_names = {"body"}, .class_name = "Node"),
	BODY_METHOD(remove_collision_exception_with, set_object, .argument_names = {"body"}, .class_name = "Node"),
	BODY_METHOD(attach_node, set_object, .argument_names = {"node"}, .class_name = "Node3D"),
	BODY_METHOD(detach_node, set_object, .argument_names = {"node"}, .class_name = "Node3D"),
	METHOD("_on_material_changed", nothing, destructible_body_on_material_changed, .is_const = false),
	METHOD("_on_mesh_changed", nothing, destructible_body_on_mesh_changed, .is_const = false),
	METHOD("_on_surface_material_changed", nothing, destructible_body_on_surface_material_changed, .is_const = false),
};

#define ARGUMENT(argument, variant_type) \
	{ .name = argument, .type = GDEXTENSION_VARIANT_TYPE_##variant_type }

static const ClassSignal signals[] = {
	{.name = "fractured",
		.arguments = {ARGUMENT("point", VECTOR3), ARGUMENT("normal", VECTOR3), ARGUMENT("energy", FLOAT),
			ARGUMENT("area", FLOAT)}},
	{.name = "crushed",
		.arguments = {ARGUMENT("point", VECTOR3), ARGUMENT("velocity", VECTOR3), ARGUMENT("volume", FLOAT),
			ARGUMENT("mass", FLOAT)}},
	{.name = "piece_detached", .arguments = {ARGUMENT("piece", INT)}},
	{.name = "impacted",
		.arguments = {ARGUMENT("point", VECTOR3), ARGUMENT("normal", VECTOR3), ARGUMENT("impulse", FLOAT),
			ARGUMENT("speed", FLOAT),
			{.name = "other", .type = GDEXTENSION_VARIANT_TYPE_OBJECT, .class_name = "Object"}}},
	{.name = "slept"},
	{.name = "woke"},
	{.name = "step_failed", .arguments = {ARGUMENT("message", STRING)}},
};

static const ClassConstant constants[] = {
	{"Dynamics", "DYNAMICS_AUTO", FEM_DYNAMICS_AUTO},
	{"Dynamics", "DYNAMICS_FINITE_ELEMENTS", FEM_DYNAMICS_ELEMENTS},
	{"Dynamics", "DYNAMICS_RIGID", FEM_DYNAMICS_RIGID},
	{"Dynamics", "DYNAMICS_MODAL", FEM_DYNAMICS_MODAL},
	{"Dynamics", "DYNAMICS_RIGID_PIECES", FEM_DYNAMICS_RIGID_PIECES},
	{"Preview", "PREVIEW_PIECES", PREVIEW_PIECES},
	{"Preview", "PREVIEW_TETS", PREVIEW_TETS},
	{"Preview", "PREVIEW_STRENGTH", PREVIEW_STRENGTH},
};

static const ClassVirtual virtuals[] = {
	{"_get_configuration_warnings", configuration_warnings},
	{"_get_aabb", local_box},
};

const ClassDescription destructible_body_class = {
	.name = "DestructibleBody",
	.parent = "VisualInstance3D",
	.instance_size = sizeof(DestructibleBody),
	.construct = construct,
	.destruct = destruct,
	.notify = notify,
	.enter = simulation_finish_steps,
	.usage = destructible_body_property_usage,
	.properties = properties,
	.property_count = TABLE_COUNT(properties),
	.methods = methods,
	.method_count = TABLE_COUNT(methods),
	.signals = signals,
	.signal_count = TABLE_COUNT(signals),
	.constants = constants,
	.constant_count = TABLE_COUNT(constants),
	.virtuals = virtuals,
	.virtual_count = TABLE_COUNT(virtuals),
};
