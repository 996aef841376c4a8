#include "classes/material_resource.h"

#include "binding/conversions.h"
#include "simulation/simulation.h"

#include <math.h>
#include <stdio.h>

static void construct(void *pointer) {
	MaterialResource *self = pointer;
	self->description = make_string("");
	material_resource_set_defaults(self);
}

static void destruct(void *pointer) {
	MaterialResource *self = pointer;
	gd_string_free(&self->description);
	object_reference_assign(&self->surface_material, NULL);
	object_reference_assign(&self->interior_material, NULL);
	object_reference_assign(&self->sound.sample, NULL);
}

void material_resource_add_use(GDExtensionObjectPtr object, int change) {
	MaterialResource *self = class_instance(object, &material_resource_class);
	if (self) {
		self->use_count += change;
	}
}

GDExtensionObjectPtr material_resource_surface_material(GDExtensionObjectPtr object) {
	const MaterialResource *self = class_instance(object, &material_resource_class);
	return self ? self->surface_material : NULL;
}

GDExtensionObjectPtr material_resource_interior_material(GDExtensionObjectPtr object) {
	const MaterialResource *self = class_instance(object, &material_resource_class);
	return self ? self->interior_material : NULL;
}

SplinterPattern material_resource_splinter_pattern(GDExtensionObjectPtr object) {
	const MaterialResource *self = class_instance(object, &material_resource_class);
	return self ? (SplinterPattern)self->splinter_pattern : SPLINTERS_NONE;
}

// The file, or the resource's name.
static void name_of(const MaterialResource *self, char *buffer, int capacity) {
	GdString text = gd_resource_get_path(self->base.object);
	if (gd_string_length(&text) == 0) {
		gd_string_free(&text);
		text = gd_resource_get_name(self->base.object);
	}
	copy_string(&text, buffer, capacity);
	gd_string_free(&text);
	if (!buffer[0]) {
		snprintf(buffer, (size_t)capacity, "without a name");
	}
}

// "MaterialResource <file or name> <what>"
static void report(const MaterialResource *self, const char *what, const char *detail) {
	char name[256];
	name_of(self, name, sizeof(name));
	report_error("MaterialResource %s keeps its %s: %s.", name, what, detail);
}

// ---- setters

static void announce(MaterialResource *self) {
	if (self->use_count > 0) {
		simulation_material_changed(self->base.object);
	}
	gd_resource_emit_changed(self->base.object);
}

// Keeps the value within what the engine computes with; what is no number changes nothing.
static void change(MaterialResource *self, double *field, const char *name, double value, double low, double high) {
	if (!isfinite(value)) {
		report(self, name, "what was given is not a finite number; correct the script that sets it");
		return;
	}
	value = value < low ? low : value > high ? high : value;
	if (value != *field) {
		*field = value;
		announce(self);
	}
}

#define FLOAT_ACCESSORS(field, low, high) \
	static double get_##field(void *self) { \
		return ((MaterialResource *)self)->field; \
	} \
	static void set_##field(void *self, double value) { \
		change(self, &((MaterialResource *)self)->field, #field, value, low, high); \
	}

FLOAT_ACCESSORS(stiffness, 1.0, 1e13)
FLOAT_ACCESSORS(ductility, 0.0, 100.0)
FLOAT_ACCESSORS(friction, 0.0, 10.0)
FLOAT_ACCESSORS(restitution, 0.0, 1.0)
FLOAT_ACCESSORS(poisson_ratio, 0.0, 0.49)
FLOAT_ACCESSORS(density, 1e-3, 1e6)
FLOAT_ACCESSORS(damping, 0.0, 10.0)
FLOAT_ACCESSORS(mass_damping, 0.0, 1000.0)
FLOAT_ACCESSORS(yield_strain, 0.0, 100.0)
FLOAT_ACCESSORS(creep_rate, 0.0, 1e6)
FLOAT_ACCESSORS(max_plastic_strain, 0.0, 100.0)
FLOAT_ACCESSORS(toughness, 0.0, 1e13)
FLOAT_ACCESSORS(toughness_variation, 0.0, 0.99)
FLOAT_ACCESSORS(crack_speed, 0.01, 1e5)
FLOAT_ACCESSORS(fragment_size, 0.0, 100.0)
FLOAT_ACCESSORS(fragment_variation, 0.0, 20.0)
FLOAT_ACCESSORS(impact_stiffness, 0.0, 1e13)
FLOAT_ACCESSORS(impact_toughness_ratio, 1e-6, 1e6)
FLOAT_ACCESSORS(prestress, 0.0, 1e12)
FLOAT_ACCESSORS(crush_strength, 0.0, 1e12)
FLOAT_ACCESSORS(crease_strength, 0.01, 1.0)
FLOAT_ACCESSORS(crease_angle, 1e-3, 3.0)
FLOAT_ACCESSORS(grain_ratio, 1.0, 1000.0)
FLOAT_ACCESSORS(grain_stiffness_ratio, 1.0, 100.0)
FLOAT_ACCESSORS(mortar_strength, 0.01, 1.0)
FLOAT_ACCESSORS(course_height, 1e-3, 100.0)

// How it sounds leaves the simulation alone.
static void change_sound(
	MaterialResource *self, double *field, const char *name, double value, double low, double high) {
	if (!isfinite(value)) {
		report(self, name, "what was given is not a finite number; correct the script that sets it");
		return;
	}
	*field = value < low ? low : value > high ? high : value;
	gd_resource_emit_changed(self->base.object);
}

#define SOUND_ACCESSORS(field, low, high) \
	static double get_sound_##field(void *self) { \
		return ((MaterialResource *)self)->sound.field; \
	} \
	static void set_sound_##field(void *self, double value) { \
		change_sound(self, &((MaterialResource *)self)->sound.field, "sound_" #field, value, low, high); \
	}

SOUND_ACCESSORS(stiffness, 0.0, 1e13)
SOUND_ACCESSORS(damping, 0.0, 1.0)
SOUND_ACCESSORS(mass_damping, 0.0, 1e4)
SOUND_ACCESSORS(brightness, -24.0, 24.0)
SOUND_ACCESSORS(contact_time, 0.0, 0.1)
SOUND_ACCESSORS(roughness, 0.0, 10.0)
SOUND_ACCESSORS(loudness, -80.0, 40.0)
SOUND_ACCESSORS(sample_share, 0.0, 1.0)

static GDExtensionObjectPtr get_sound_sample(void *self) {
	return ((MaterialResource *)self)->sound.sample;
}

static void set_sound_sample(void *pointer, GDExtensionObjectPtr sample) {
	MaterialResource *self = pointer;
	if (sample && !object_cast(sample, "AudioStream")) {
		report(self, "sound_sample", "what was given is no AudioStream; use a sound file or an AudioStreamRandomizer");
		return;
	}
	object_reference_assign(&self->sound.sample, sample);
	gd_resource_emit_changed(self->base.object);
}

static bool get_breakable(void *self) {
	return ((MaterialResource *)self)->breakable;
}

static void set_breakable(void *pointer, bool value) {
	MaterialResource *self = pointer;
	if (value != self->breakable) {
		self->breakable = value;
		announce(self);
	}
}

static void change_vector(MaterialResource *self, GdVector3 *field, const char *name, GdVector3 value) {
	if (!vector3_is_finite(value)) {
		report(self, name, "what was given is not a finite number; correct the script that sets it");
		return;
	}
	if (value.x != field->x || value.y != field->y || value.z != field->z) {
		*field = value;
		announce(self);
	}
}

static GdVector3 get_grain_direction(void *self) {
	return ((MaterialResource *)self)->grain_direction;
}

static void set_grain_direction(void *pointer, GdVector3 value) {
	MaterialResource *self = pointer;
	change_vector(self, &self->grain_direction, "grain_direction", value);
}

static GdVector3 get_initial_strain(void *self) {
	return ((MaterialResource *)self)->initial_strain;
}

static void set_initial_strain(void *pointer, GdVector3 value) {
	MaterialResource *self = pointer;
	change_vector(self, &self->initial_strain, "initial_strain", value);
}

static void change_mode(MaterialResource *self, int64_t *field, const char *name, int64_t value, int64_t last) {
	if (value < 0 || value > last) {
		report(self, name, "there is no such mode; use one of the constants of the class");
		return;
	}
	if (value != *field) {
		*field = value;
		announce(self);
	}
}

#define MODE_ACCESSORS(field, last) \
	static int64_t get_##field(void *self) { \
		return ((MaterialResource *)self)->field; \
	} \
	static void set_##field(void *self, int64_t value) { \
		change_mode(self, &((MaterialResource *)self)->field, #field, value, last); \
	}

MODE_ACCESSORS(plasticity_mode, FEM_PLASTICITY_DEVIATORIC)
MODE_ACCESSORS(toughness_mode, FEM_TOUGHNESS_FORCE)
MODE_ACCESSORS(splinter_pattern, SPLINTERS_SURFACES)

static void get_description(void *self, GdString *out) {
	gd_string_free(out);
	*out = gd_string_new_string(&((MaterialResource *)self)->description);
}

static void set_description(void *pointer, const GdString *text) {
	MaterialResource *self = pointer;
	GdString copy = gd_string_new_string(text);
	gd_string_free(&self->description);
	self->description = copy;
	gd_resource_emit_changed(self->base.object);
}

// Pa. Of files that were made when it was a value of its own: it is the ratio that is kept.
static double get_impact_strength(void *pointer) {
	const MaterialResource *self = pointer;
	return self->impact_toughness_ratio * self->toughness / self->stiffness * material_resource_impact_stiffness(self);
}

static void set_impact_strength(void *pointer, double value) {
	MaterialResource *self = pointer;
	double plain = self->toughness / self->stiffness * material_resource_impact_stiffness(self);
	set_impact_toughness_ratio(self, value == 0.0 || plain == 0.0 ? 1.0 : value / plain);
}

static double get_strain_at_break(void *pointer) {
	const MaterialResource *self = pointer;
	if (!self->breakable || self->toughness_mode != FEM_TOUGHNESS_STRESS) {
		return INFINITY;
	}
	FemMaterialDef def = material_resource_def(self->base.object);
	double elastic = (self->toughness + (double)def.prestress) / self->stiffness * self->grain_stiffness_ratio;
	// The limit is that of the strain's norm. What keeps its volume thins by half of what it stretches: sqrt(1 + 2/4).
	double plastic = (double)def.max_plastic_strain / (def.plasticity == FEM_PLASTICITY_DEVIATORIC ? sqrt(1.5) : 1.0);
	return elastic + (def.creep_rate > 0.0f && (double)def.yield_strain < elastic ? plastic : 0.0);
}

// ---- look

static void set_look(
	MaterialResource *self, GDExtensionObjectPtr *slot, const char *name, GDExtensionObjectPtr material) {
	if (material && !object_cast(material, "Material")) {
		report(self, name, "what was given is no Material; use a StandardMaterial3D or ShaderMaterial");
		return;
	}
	if (material == *slot) {
		return;
	}
	GDExtensionObjectPtr old = NULL;
	object_reference_assign(&old, *slot);
	object_reference_assign(slot, material);
	if (old && old != self->surface_material && old != self->interior_material) {
		signal_disconnect(old, &names.changed, self->base.object, &names._on_look_changed);
	}
	if (material) {
		signal_connect(material, &names.changed, self->base.object, &names._on_look_changed);
	}
	gd_resource_emit_changed(self->base.object);
	object_reference_assign(&old, NULL);
}

static GDExtensionObjectPtr get_surface_material(void *self) {
	return ((MaterialResource *)self)->surface_material;
}

static void set_surface_material(void *pointer, GDExtensionObjectPtr material) {
	MaterialResource *self = pointer;
	set_look(self, &self->surface_material, "surface_material", material);
}

static GDExtensionObjectPtr get_interior_material(void *self) {
	return ((MaterialResource *)self)->interior_material;
}

static void set_interior_material(void *pointer, GDExtensionObjectPtr material) {
	MaterialResource *self = pointer;
	set_look(self, &self->interior_material, "interior_material", material);
}

static void on_look_changed(void *self) {
	gd_resource_emit_changed(((MaterialResource *)self)->base.object);
}

static int64_t get_max_solver_iterations(void *self) {
	return ((MaterialResource *)self)->max_solver_iterations;
}

static void set_max_solver_iterations(void *pointer, int64_t value) {
	MaterialResource *self = pointer;
	value = value < 1 ? 1 : value > 10000 ? 10000 : value;
	if (value != self->max_solver_iterations) {
		self->max_solver_iterations = value;
		announce(self);
	}
}

// ---- tables

#define LOOK_HINT "BaseMaterial3D,ShaderMaterial"

static const ClassProperty properties[] = {
	PROPERTY(description, STRING, string, "get_", MULTILINE_TEXT, ""),
	PROPERTY(stiffness, FLOAT, float, "get_", RANGE, "1000,1000000000000,1,or_less,or_greater,exp,suffix:Pa"),
	PROPERTY(density, FLOAT, float, "get_", RANGE, "1,20000,0.1,or_less,or_greater,exp,suffix:kg/m³"),
	PROPERTY(breakable, BOOL, bool, "is_", NONE, ""),
	PROPERTY(toughness, FLOAT, float, "get_", RANGE, "100,1000000000,1,or_less,or_greater,exp,suffix:Pa"),
	PROPERTY(ductility, FLOAT, float, "get_", RANGE, "0,2,0.001,or_greater"),
	PROPERTY(damping, FLOAT, float, "get_", RANGE, "0,0.1,0.0001,or_greater,suffix:s"),
	PROPERTY(friction, FLOAT, float, "get_", RANGE, "0,2,0.01,or_greater"),
	PROPERTY(restitution, FLOAT, float, "get_", RANGE, "0,1,0.01"),
	PROPERTY_GROUP("Fracture"),
	PROPERTY_OF_CLASS(
		splinter_pattern, INT, int, ENUM, "None,Voronoi,Glass,Wood,Brick,Surfaces", "MaterialResource.SplinterPattern"),
	PROPERTY(grain_direction, VECTOR3, vector3, "get_", NONE, ""),
	PROPERTY(grain_ratio, FLOAT, float, "get_", RANGE, "1,100,0.1,or_greater,exp"),
	PROPERTY(grain_stiffness_ratio, FLOAT, float, "get_", RANGE, "1,100,0.1,exp"),
	PROPERTY(mortar_strength, FLOAT, float, "get_", RANGE, "0.01,1,0.01"),
	PROPERTY(course_height, FLOAT, float, "get_", RANGE, "0.01,1,0.001,or_less,or_greater,suffix:m"),
	PROPERTY(toughness_variation, FLOAT, float, "get_", RANGE, "0,0.99,0.01"),
	PROPERTY(fragment_size, FLOAT, float, "get_", RANGE, "0,0.5,0.001,or_greater,suffix:m"),
	PROPERTY(fragment_variation, FLOAT, float, "get_", RANGE, "0,20,0.1"),
	PROPERTY(crush_strength, FLOAT, float, "get_", RANGE, "0,1e9,1000,or_greater,exp,suffix:Pa"),
	PROPERTY(prestress, FLOAT, float, "get_", RANGE, "0,1e9,1000,or_greater,exp,suffix:Pa"),
	PROPERTY_GROUP("Look"),
	PROPERTY_OF_CLASS(surface_material, OBJECT, object, RESOURCE_TYPE, LOOK_HINT, "Material"),
	PROPERTY_OF_CLASS(interior_material, OBJECT, object, RESOURCE_TYPE, LOOK_HINT, "Material"),
	PROPERTY_GROUP("Sound"),
	PROPERTY(sound_stiffness, FLOAT, float, "get_", RANGE, "0,1000000000000,1,or_greater,exp,suffix:Pa"),
	PROPERTY(sound_damping, FLOAT, float, "get_", RANGE, "0,0.001,0.00000001,or_greater,exp,suffix:s"),
	PROPERTY(sound_mass_damping, FLOAT, float, "get_", RANGE, "0,200,0.1,or_greater,suffix:1/s"),
	PROPERTY(sound_brightness, FLOAT, float, "get_", RANGE, "-24,24,0.1,suffix:dB"),
	PROPERTY(sound_contact_time, FLOAT, float, "get_", RANGE, "0,0.01,0.000001,or_greater,exp,suffix:s"),
	PROPERTY(sound_roughness, FLOAT, float, "get_", RANGE, "0,1,0.01,or_greater"),
	PROPERTY(sound_loudness, FLOAT, float, "get_", RANGE, "-40,20,0.1,or_less,or_greater,suffix:dB"),
	PROPERTY_OF_CLASS(sound_sample, OBJECT, object, RESOURCE_TYPE, "AudioStream", "AudioStream"),
	PROPERTY(sound_sample_share, FLOAT, float, "get_", RANGE, "0,1,0.01"),
	PROPERTY_GROUP("Advanced"),
	PROPERTY(impact_stiffness, FLOAT, float, "get_", RANGE, "0,300000000000,1000,or_greater,exp,suffix:Pa"),
	PROPERTY(impact_toughness_ratio, FLOAT, float, "get_", RANGE, "0.01,10,0.01,or_less,or_greater,exp"),
	{.name = "impact_strength",
		.type = GDEXTENSION_VARIANT_TYPE_FLOAT,
		.usage = GD_PROPERTY_USAGE_NO_INSTANCE_STATE, // neither saved nor shown, but in the help
		.getter = METHOD("get_impact_strength", get_float, get_impact_strength, .is_const = true),
		.setter = METHOD("set_impact_strength", set_float, set_impact_strength, .argument_names = {"impact_strength"})},
	PROPERTY(crack_speed, FLOAT, float, "get_", RANGE, "0.01,5000,0.01,or_greater,exp,suffix:m/s"),
	PROPERTY(poisson_ratio, FLOAT, float, "get_", RANGE, "0,0.49,0.001"),
	PROPERTY(mass_damping, FLOAT, float, "get_", RANGE, "0,10,0.001,or_greater,suffix:1/s"),
	PROPERTY(yield_strain, FLOAT, float, "get_", RANGE, "0,1,0.0001,or_greater"),
	PROPERTY(max_plastic_strain, FLOAT, float, "get_", RANGE, "0,2,0.001,or_greater"),
	PROPERTY(crease_strength, FLOAT, float, "get_", RANGE, "0.01,1,0.01"),
	PROPERTY(crease_angle, FLOAT, float, "get_", RANGE, "0.1,170,0.1,radians_as_degrees"),
	PROPERTY(initial_strain, VECTOR3, vector3, "get_", RANGE, "-0.5,0.5,0.0001"),
	PROPERTY(creep_rate, FLOAT, float, "get_", RANGE, "0,1000000,0.01,exp,suffix:1/s"),
	PROPERTY_OF_CLASS(plasticity_mode, INT, int, ENUM, "Full,Deviatoric", "MaterialResource.PlasticityMode"),
	PROPERTY_OF_CLASS(toughness_mode, INT, int, ENUM, "Stress,Force", "MaterialResource.ToughnessMode"),
	PROPERTY(max_solver_iterations, INT, int, "get_", RANGE, "1,1000,1,or_greater"),
};

static const ClassMethod methods[] = {
	METHOD("get_strain_at_break", get_float, get_strain_at_break, .is_const = true),
	METHOD("_on_look_changed", nothing, on_look_changed, .is_const = false),
};

static const ClassConstant constants[] = {
	{"PlasticityMode", "PLASTICITY_FULL", FEM_PLASTICITY_FULL},
	{"PlasticityMode", "PLASTICITY_DEVIATORIC", FEM_PLASTICITY_DEVIATORIC},
	{"ToughnessMode", "TOUGHNESS_STRESS", FEM_TOUGHNESS_STRESS},
	{"ToughnessMode", "TOUGHNESS_FORCE", FEM_TOUGHNESS_FORCE},
	{"SplinterPattern", "SPLINTERS_NONE", SPLINTERS_NONE},
	{"SplinterPattern", "SPLINTERS_VORONOI", SPLINTERS_VORONOI},
	{"SplinterPattern", "SPLINTERS_GLASS", SPLINTERS_GLASS},
	{"SplinterPattern", "SPLINTERS_WOOD", SPLINTERS_WOOD},
	{"SplinterPattern", "SPLINTERS_BRICK", SPLINTERS_BRICK},
	{"SplinterPattern", "SPLINTERS_SURFACES", SPLINTERS_SURFACES},
};

const ClassDescription material_resource_class = {
	.name = "MaterialResource",
	.parent = "Resource",
	.instance_size = sizeof(MaterialResource),
	.construct = construct,
	.destruct = destruct,
	.properties = properties,
	.property_count = TABLE_COUNT(properties),
	.methods = methods,
	.method_count = TABLE_COUNT(methods),
	.constants = constants,
	.constant_count = TABLE_COUNT(constants),
};
