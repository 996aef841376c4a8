#include "classes/material_resource.h"

#include "conversions.h"
#include "simulation.h"

#include <math.h>

typedef struct MaterialResource {
	ClassInstance base;
	double stiffness; // Pa
	double poisson_ratio;
	double density;          // kg/m^3
	double damping;          // s, Rayleigh alpha_K
	double mass_damping;     // 1/s, Rayleigh alpha_M
	int64_t plasticity_mode; // FemPlasticity
	double yield_strain;
	double creep_rate; // 1/s
	double max_plastic_strain;
	bool breakable;
	double toughness; // Pa
	double toughness_variation;
	GdVector3 grain_direction; // in the body's own axes; any length, 0 for none
	double grain_ratio;
	int64_t max_solver_iterations;
	int use_count; // engine worlds that know it
} MaterialResource;

static void set_defaults(MaterialResource *self) {
	FemMaterialDef def = fem_default_material_def();
	self->stiffness = (double)def.young_modulus;
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
	self->toughness_variation = 0.1;
	self->grain_direction = (GdVector3){0};
	self->grain_ratio = (double)def.grain_ratio;
	self->max_solver_iterations = def.max_iterations;
}

static void construct(void *self) {
	set_defaults(self);
}

FemMaterialDef material_resource_def(GDExtensionObjectPtr object) {
	MaterialResource plain;
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
	def.plasticity = (FemPlasticity)self->plasticity_mode;
	def.yield_strain = (float)self->yield_strain;
	def.creep_rate = (float)self->creep_rate;
	def.max_plastic_strain = (float)self->max_plastic_strain;
	def.breakable = self->breakable;
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
	if (self->max_plastic_strain > 0.0 && self->creep_rate <= 0.0) {
		return "it has a max_plastic_strain but a creep_rate of 0, so it never yields; raise creep_rate or set "
			   "max_plastic_strain to 0";
	}
	if (self->breakable && self->toughness > 0.5 * self->stiffness) {
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

static int64_t get_plasticity_mode(void *self) {
	return ((MaterialResource *)self)->plasticity_mode;
}

static void set_plasticity_mode(void *pointer, int64_t value) {
	MaterialResource *self = pointer;
	if (value != FEM_PLASTICITY_FULL && value != FEM_PLASTICITY_DEVIATORIC) {
		report_error("MaterialResource: there is no plasticity_mode %d; use PLASTICITY_FULL or PLASTICITY_DEVIATORIC.",
			(int)value);
		return;
	}
	if (value != self->plasticity_mode) {
		self->plasticity_mode = value;
		announce(self);
	}
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

static const ClassProperty properties[] = {
	PROPERTY(stiffness, FLOAT, float, "get_", RANGE, "1000,1000000000000,1,or_less,or_greater,exp,suffix:Pa"),
	PROPERTY(density, FLOAT, float, "get_", RANGE, "1,20000,0.1,or_less,or_greater,exp,suffix:kg/m³"),
	PROPERTY(damping, FLOAT, float, "get_", RANGE, "0,0.1,0.0001,or_greater,suffix:s"),
	PROPERTY_GROUP("Plasticity"),
	PROPERTY(max_plastic_strain, FLOAT, float, "get_", RANGE, "0,2,0.001,or_greater"),
	PROPERTY(yield_strain, FLOAT, float, "get_", RANGE, "0,1,0.0001,or_greater"),
	PROPERTY(creep_rate, FLOAT, float, "get_", RANGE, "0,1000000,0.01,exp,suffix:1/s"),
	PROPERTY_OF_CLASS(plasticity_mode, INT, int, ENUM, "Full,Deviatoric", "MaterialResource.PlasticityMode"),
	PROPERTY_GROUP("Fracture"),
	PROPERTY(breakable, BOOL, bool, "is_", NONE, ""),
	PROPERTY(toughness, FLOAT, float, "get_", RANGE, "100,1000000000,1,or_less,or_greater,exp,suffix:Pa"),
	PROPERTY(toughness_variation, FLOAT, float, "get_", RANGE, "0,0.99,0.01"),
	PROPERTY(grain_direction, VECTOR3, vector3, "get_", NONE, ""),
	PROPERTY(grain_ratio, FLOAT, float, "get_", RANGE, "1,100,0.1,or_greater,exp"),
	PROPERTY_GROUP("Advanced"),
	PROPERTY(poisson_ratio, FLOAT, float, "get_", RANGE, "0,0.49,0.001"),
	PROPERTY(mass_damping, FLOAT, float, "get_", RANGE, "0,10,0.001,or_greater,suffix:1/s"),
	PROPERTY(max_solver_iterations, INT, int, "get_", RANGE, "1,1000,1,or_greater"),
};

static const ClassConstant constants[] = {
	{"PlasticityMode", "PLASTICITY_FULL", FEM_PLASTICITY_FULL},
	{"PlasticityMode", "PLASTICITY_DEVIATORIC", FEM_PLASTICITY_DEVIATORIC},
};

const ClassDescription material_resource_class = {
	.name = "MaterialResource",
	.parent = "Resource",
	.instance_size = sizeof(MaterialResource),
	.construct = construct,
	.properties = properties,
	.property_count = TABLE_COUNT(properties),
	.constants = constants,
	.constant_count = TABLE_COUNT(constants),
};
