// The settings of a DestructibleMesh that say into what splinters it is cut, and what its cuts look like.
#ifndef DESTRUCTIBLE_MESH_SPLINTERS_H
#define DESTRUCTIBLE_MESH_SPLINTERS_H

#include "classes/destructible_mesh.h"

// Accessors of each setting: destructible_mesh_get_NAME(), destructible_mesh_set_NAME().
#define SPLINTER_ACCESSORS(name, type) \
	type destructible_mesh_get_##name(void *self); \
	void destructible_mesh_set_##name(void *self, type value);
SPLINTER_ACCESSORS(splinter_pattern, int64_t)
SPLINTER_ACCESSORS(splinter_seed, int64_t)
SPLINTER_ACCESSORS(splinter_count, int64_t)
SPLINTER_ACCESSORS(splinter_size, double)
SPLINTER_ACCESSORS(splinter_triangle_limit, int64_t)
SPLINTER_ACCESSORS(splinter_roughness, double)
SPLINTER_ACCESSORS(splinter_unevenness, double)
SPLINTER_ACCESSORS(splinter_direction, GdVector3)
SPLINTER_ACCESSORS(splinter_join, bool)
SPLINTER_ACCESSORS(section_width, double)
SPLINTER_ACCESSORS(section_height, double)
SPLINTER_ACCESSORS(section_length, double)
SPLINTER_ACCESSORS(random_width, double)
SPLINTER_ACCESSORS(random_height, double)
SPLINTER_ACCESSORS(horizontal_frequency, int64_t)
SPLINTER_ACCESSORS(horizontal_amplitude, double)
SPLINTER_ACCESSORS(vertical_frequency, int64_t)
SPLINTER_ACCESSORS(vertical_amplitude, double)
SPLINTER_ACCESSORS(brick_size, GdVector3)
SPLINTER_ACCESSORS(mortar, double)
SPLINTER_ACCESSORS(broken_bricks, double)
SPLINTER_ACCESSORS(interior_material, GDExtensionObjectPtr)
#undef SPLINTER_ACCESSORS

void destructible_mesh_get_impact_points(void *self, GdArray *out);
void destructible_mesh_set_impact_points(void *self, const GdArray *points);

int64_t destructible_mesh_get_baked_splinter_count(void *self);
void destructible_mesh_get_splinter_positions(void *self, GdPackedVector3Array *out);

#define SPLINTER_PROPERTY(property, variant_type, kind, hint_kind, hint_text) \
	{ \
		.name = #property, .type = GDEXTENSION_VARIANT_TYPE_##variant_type, .hint = GD_PROPERTY_HINT_##hint_kind, \
		.hint_string = hint_text, \
		.getter = METHOD("get_" #property, get_##kind, destructible_mesh_get_##property, .is_const = true), \
		.setter = \
			METHOD("set_" #property, set_##kind, destructible_mesh_set_##property, .argument_names = {#property}) \
	}

// For the table of properties.
#define SPLINTER_PROPERTIES \
	PROPERTY_GROUP("Splinters"), \
		{.name = "splinter_pattern", \
			.type = GDEXTENSION_VARIANT_TYPE_INT, \
			.hint = GD_PROPERTY_HINT_ENUM, \
			.hint_string = "None,Voronoi,Glass,Wood,Brick,Surfaces", \
			.class_name = "DestructibleMesh.SplinterPattern", \
			.getter = METHOD("get_splinter_pattern", get_int, destructible_mesh_get_splinter_pattern, \
				.class_name = "DestructibleMesh.SplinterPattern", .is_const = true), \
			.setter = METHOD("set_splinter_pattern", set_int, destructible_mesh_set_splinter_pattern, \
				.argument_names = {"splinter_pattern"}, .class_name = "DestructibleMesh.SplinterPattern")}, \
		SPLINTER_PROPERTY(splinter_seed, INT, int, RANGE, "0,1000,1,or_greater"), \
		SPLINTER_PROPERTY(splinter_count, INT, int, RANGE, "0,4000,1,or_greater"), \
		SPLINTER_PROPERTY(splinter_size, FLOAT, float, RANGE, "0,1,0.001,or_greater,suffix:m"), \
		SPLINTER_PROPERTY(splinter_join, BOOL, bool, NONE, ""), \
		SPLINTER_PROPERTY(splinter_triangle_limit, INT, int, RANGE, "1000,500000,1000,or_less,or_greater"), \
		SPLINTER_PROPERTY(splinter_roughness, FLOAT, float, RANGE, "0,1,0.01"), \
		SPLINTER_PROPERTY(splinter_unevenness, FLOAT, float, RANGE, "0,1,0.01"), \
		SPLINTER_PROPERTY(splinter_direction, VECTOR3, vector3, NONE, ""), \
		{.name = "interior_material", \
			.type = GDEXTENSION_VARIANT_TYPE_OBJECT, \
			.hint = GD_PROPERTY_HINT_RESOURCE_TYPE, \
			.hint_string = "StandardMaterial3D,ORMMaterial3D,ShaderMaterial", \
			.class_name = "Material", \
			.getter = METHOD("get_interior_material", get_object, destructible_mesh_get_interior_material, \
				.class_name = "Material", .is_const = true), \
			.setter = METHOD("set_interior_material", set_object, destructible_mesh_set_interior_material, \
				.argument_names = {"interior_material"}, .class_name = "Material")}, \
		PROPERTY_GROUP("Glass Splinters"), \
		{.name = "impact_points", \
			.type = GDEXTENSION_VARIANT_TYPE_ARRAY, \
			.hint = GD_PROPERTY_HINT_ARRAY_TYPE, \
			.hint_string = "9:", \
			.getter = METHOD("get_impact_points", get_array, destructible_mesh_get_impact_points, .is_const = true), \
			.setter = METHOD("set_impact_points", set_array, destructible_mesh_set_impact_points, \
				.argument_names = {"impact_points"})}, \
		PROPERTY_GROUP("Wood Splinters"), \
		SPLINTER_PROPERTY(section_width, FLOAT, float, RANGE, "0,1,0.001,or_greater,suffix:m"), \
		SPLINTER_PROPERTY(section_height, FLOAT, float, RANGE, "0,1,0.001,or_greater,suffix:m"), \
		SPLINTER_PROPERTY(section_length, FLOAT, float, RANGE, "0,4,0.001,or_greater,suffix:m"), \
		SPLINTER_PROPERTY(random_width, FLOAT, float, RANGE, "0,1,0.01"), \
		SPLINTER_PROPERTY(random_height, FLOAT, float, RANGE, "0,1,0.01"), \
		SPLINTER_PROPERTY(horizontal_frequency, INT, int, RANGE, "1,8,1"), \
		SPLINTER_PROPERTY(horizontal_amplitude, FLOAT, float, RANGE, "0,1,0.01"), \
		SPLINTER_PROPERTY(vertical_frequency, INT, int, RANGE, "0,8,1"), \
		SPLINTER_PROPERTY(vertical_amplitude, FLOAT, float, RANGE, "0,1,0.01"), PROPERTY_GROUP("Brick Splinters"), \
		SPLINTER_PROPERTY(brick_size, VECTOR3, vector3, NONE, "suffix:m"), \
		SPLINTER_PROPERTY(mortar, FLOAT, float, RANGE, "0,0.1,0.001,or_greater,suffix:m"), \
		SPLINTER_PROPERTY(broken_bricks, FLOAT, float, RANGE, "0,1,0.01")

#endif
