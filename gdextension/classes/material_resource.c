#include "classes/material_resource.h"

#include "conversions.h"
#include "simulation.h"

#include <math.h>

#define RUBBER_MAX 1e7  // Pa; what is softer may stretch to twice its length
#define YIELD_SHARE 0.5 // of the strain at which it would break: where a ductile material yields if not told

typedef struct MaterialResource {
	ClassInstance base;
	GdString description;
	double stiffness; // Pa
	double density;   // kg/m^3
	double ductility; // plastic strain at break
	double damping;   // s, Rayleigh alpha_K
	double friction;  // Coulomb coefficient
	double poisson_ratio;
	double mass_damping;     // 1/s, Rayleigh alpha_M
	int64_t plasticity_mode; // FemPlasticity
	double yield_strain;
	double creep_rate; // 1/s
	double max_plastic_strain;
	bool breakable;
	double toughness;       // Pa or N
	int64_t toughness_mode; // FemToughnessMode
	double toughness_variation;
	int64_t splinter_pattern;  // SplinterPattern
	GdVector3 grain_direction; // in the body's own axes; any length, 0 for none
	double grain_ratio;
	int64_t max_solver_iterations;
	GDExtensionObjectPtr surface_material;  // Material or null; a reference
	GDExtensionObjectPtr interior_material; // the same
	int use_count;                          // engine worlds that know it
} MaterialResource;

static void set_defaults(MaterialResource *self) {
	FemMaterialDef def = fem_default_material_def();
	self->stiffness = (double)def.young_modulus;
	self->friction = (double)def.friction;
	self->poisson_ratio = 0.3;
	self->density = (double)def.density;
	self->damping = 0.002; // some wobble, gone within a second or so
	self->mass_damping = (double)def.mass_damping;
	self->plasticity_mode = def.plasticity;
	self->yield_strain = (double)def.yield_strain;
	self->creep_rate = (double)def.creep_rate;
	self->max_plastic_strain = (double)def.max_plastic_strain;
	self->breakable = def.breakable;
	self->toughness = (double)def.toughness;
	self->toughness_mode = def.toughness_mode;
	self->toughness_variation = 0.1;
	self->grain_direction = (GdVector3){0};
	self->grain_ratio = (double)def.grain_ratio;
	self->max_solver_iterations = def.max_iterations;
}

static void construct(void *pointer) {
	MaterialResource *self = pointer;
	self->description = make_string("");
	set_defaults(self);
}

static void destruct(void *pointer) {
	MaterialResource *self = pointer;
	gd_string_free(&self->description);
	object_reference_assign(&self->surface_material, NULL);
	object_reference_assign(&self->interior_material, NULL);
}

// Ductility is the plain way to say it: a material yields at half the strain at which it would break, unless told
// otherwise, and breaks when it has taken up that much.
static void set_plasticity(FemMaterialDef *def, const MaterialResource *self) {
	bool by_strain = self->toughness_mode == FEM_TOUGHNESS_STRESS;
	double yield = self->yield_strain, limit = self->max_plastic_strain;
	if (self->ductility > 0.0) {
		limit = limit > 0.0 ? limit : self->ductility;
		yield = yield > 0.0 || !by_strain ? yield : YIELD_SHARE * self->toughness / self->stiffness;
	}
	def->plasticity = (FemPlasticity)self->plasticity_mode;
	def->yield_strain = (float)(yield > 100.0 ? 100.0 : yield);
	def->creep_rate = (float)self->creep_rate;
	def->max_plastic_strain = (float)limit;
}

FemMaterialDef material_resource_def(GDExtensionObjectPtr object) {
	MaterialResource plain = {0};
	MaterialResource *self = class_instance(object, &material_resource_class);
	if (!self) {
		self = &plain;
		set_defaults(self);
	}
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = (float)self->stiffness;
	def.poisson_ratio = (float)self->poisson_ratio;
	def.density = (float)self->density;
	def.stiffness_damping = (float)self->damping;
	def.mass_damping = (float)self->mass_damping;
	set_plasticity(&def, self);
	def.friction = (float)self->friction;
	def.breakable = self->breakable;
	def.toughness_mode = (FemToughnessMode)self->toughness_mode;
	def.toughness = (float)self->toughness;
	def.toughness_variation = (float)self->toughness_variation;
	def.grain_direction = (FemVec3){self->grain_direction.x, self->grain_direction.y, self->grain_direction.z};
	def.grain_ratio = (float)self->grain_ratio;
	def.max_iterations = (int32_t)self->max_solver_iterations;
	return def;
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

const char *material_resource_fault(GDExtensionObjectPtr object) {
	MaterialResource *self = class_instance(object, &material_resource_class);
	if (!self) {
		return NULL;
	}
	if (self->density < 1.0) {
		return "its density is below 1 kg/m³, lighter than air; set it to that of the real stuff, such as 700 for oak "
			   "or 7800 for steel";
	}
	if (self->stiffness < 1000.0) {
		return "its stiffness is below 1000 Pa, softer than any jelly, and the body will collapse under its own "
			   "weight; raise it";
	}
	if ((self->max_plastic_strain > 0.0 || self->ductility > 0.0) && self->creep_rate <= 0.0) {
		return "it has a ductility or max_plastic_strain but a creep_rate of 0, so it never yields; raise creep_rate "
			   "or "
			   "set these to 0";
	}
	bool by_stress = self->toughness_mode == FEM_TOUGHNESS_STRESS;
	if (self->breakable && by_stress && self->toughness > 0.5 * self->stiffness && self->stiffness > RUBBER_MAX) {
		return "its toughness is more than half of its stiffness, so it has to be stretched by half its length before "
			   "it breaks; lower toughness, or raise stiffness";
	}
	GdVector3 grain = self->grain_direction;
	if (self->breakable && self->grain_ratio > 1.0 && grain.x == 0.0f && grain.y == 0.0f && grain.z == 0.0f) {
		return "it has a grain_ratio but no grain_direction, so it breaks alike in all directions; set the direction "
			   "of the fibres";
	}
	return NULL;
}

// -------------------------------------------------------------------------------------------------------------- setters

static void announce(MaterialResource *self) {
	if (self->use_count > 0) {
		simulation_material_changed(self->base.object);
	}
	gd_resource_emit_changed(self->base.object);
}

// Keeps the value within what the engine computes with; what is no number changes nothing.
static void change(MaterialResource *self, double *field, const char *name, double value, double low, double high) {
	if (!isfinite(value)) {
		report_error("MaterialResource: %s was set to a value that is not a finite number; it keeps %g.", name, *field);
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
FLOAT_ACCESSORS(poisson_ratio, 0.0, 0.49)
FLOAT_ACCESSORS(density, 1e-3, 1e6)
FLOAT_ACCESSORS(damping, 0.0, 10.0)
FLOAT_ACCESSORS(mass_damping, 0.0, 1000.0)
FLOAT_ACCESSORS(yield_strain, 0.0, 100.0)
FLOAT_ACCESSORS(creep_rate, 0.0, 1e6)
FLOAT_ACCESSORS(max_plastic_strain, 0.0, 100.0)
FLOAT_ACCESSORS(toughness, 0.0, 1e13)
FLOAT_ACCESSORS(toughness_variation, 0.0, 0.99)
FLOAT_ACCESSORS(grain_ratio, 1.0, 1000.0)

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

static GdVector3 get_grain_direction(void *self) {
	return ((MaterialResource *)self)->grain_direction;
}

static void set_grain_direction(void *pointer, GdVector3 value) {
	MaterialResource *self = pointer;
	if (!vector3_is_finite(value)) {
		report_error("MaterialResource: grain_direction was set to a value that is not a finite number; it stays.");
		return;
	}
	GdVector3 old = self->grain_direction;
	if (value.x != old.x || value.y != old.y || value.z != old.z) {
		self->grain_direction = value;
		announce(self);
	}
}

static void change_mode(MaterialResource *self, int64_t *field, const char *name, int64_t value, int64_t last) {
	if (value < 0 || value > last) {
		report_error("MaterialResource: there is no %s %d; use one of the constants of the class.", name, (int)value);
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

static double get_strain_at_break(void *pointer) {
	const MaterialResource *self = pointer;
	if (!self->breakable || self->toughness_mode != FEM_TOUGHNESS_STRESS) {
		return INFINITY;
	}
	FemMaterialDef def = material_resource_def(self->base.object);
	double elastic = self->toughness / self->stiffness;
	return elastic +
		(def.creep_rate > 0.0f && (double)def.yield_strain < elastic ? (double)def.max_plastic_strain : 0.0);
}

// ----------------------------------------------------------------------------------------------------------------- look

static void set_look(
	MaterialResource *self, GDExtensionObjectPtr *slot, const char *name, GDExtensionObjectPtr material) {
	if (material && !object_cast(material, "Material")) {
		report_error(
			"MaterialResource: %s must be a Material, such as a StandardMaterial3D; it keeps the old one.", name);
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

// --------------------------------------------------------------------------------------------------------------- tables

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
	PROPERTY_GROUP("Fracture"),
	PROPERTY_OF_CLASS(
		splinter_pattern, INT, int, ENUM, "None,Voronoi,Glass,Wood,Brick,Surfaces", "MaterialResource.SplinterPattern"),
	PROPERTY(grain_direction, VECTOR3, vector3, "get_", NONE, ""),
	PROPERTY(grain_ratio, FLOAT, float, "get_", RANGE, "1,100,0.1,or_greater,exp"),
	PROPERTY(toughness_variation, FLOAT, float, "get_", RANGE, "0,0.99,0.01"),
	PROPERTY_GROUP("Look"),
	PROPERTY_OF_CLASS(surface_material, OBJECT, object, RESOURCE_TYPE, LOOK_HINT, "Material"),
	PROPERTY_OF_CLASS(interior_material, OBJECT, object, RESOURCE_TYPE, LOOK_HINT, "Material"),
	PROPERTY_GROUP("Advanced"),
	PROPERTY(poisson_ratio, FLOAT, float, "get_", RANGE, "0,0.49,0.001"),
	PROPERTY(mass_damping, FLOAT, float, "get_", RANGE, "0,10,0.001,or_greater,suffix:1/s"),
	PROPERTY(yield_strain, FLOAT, float, "get_", RANGE, "0,1,0.0001,or_greater"),
	PROPERTY(max_plastic_strain, FLOAT, float, "get_", RANGE, "0,2,0.001,or_greater"),
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
