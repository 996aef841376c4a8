// What the values of a MaterialResource mean to the engine, and which make no sense together.
#include "classes/material_resource.h"

#include <math.h>

#define RUBBER_MAX 1e7     // Pa; what is softer may stretch to twice its length
#define SOUND_SPEED 4000.0 // m/s, in a bar of most hard solids: brick 2800, wood 3700, stone 4300, glass 5300
#define PRESTRESS_MAX 10.0 // of toughness, as the engine clamps it
#define YIELD_SHARE 0.5    // of the strain at which it would break: where a ductile material yields if not told

void material_resource_set_defaults(MaterialResource *self) {
	FemMaterialDef def = fem_default_material_def();
	self->stiffness = (double)def.young_modulus;
	self->friction = (double)def.friction;
	self->restitution = (double)def.restitution;
	self->poisson_ratio = 0.3;
	self->density = (double)def.density;
	self->damping = 0.002; // some wobble, gone within a second or so
	self->mass_damping = (double)def.mass_damping;
	self->plasticity_mode = def.plasticity;
	self->yield_strain = (double)def.yield_strain;
	self->creep_rate = (double)def.creep_rate;
	self->max_plastic_strain = (double)def.max_plastic_strain;
	self->crease_strength = (double)def.crease_strength;
	self->crease_angle = (double)def.crease_angle;
	self->initial_strain = (GdVector3){0};
	self->breakable = def.breakable;
	self->toughness = (double)def.toughness;
	self->toughness_mode = def.toughness_mode;
	self->toughness_variation = 0.1;
	self->crack_speed = (double)def.crack_speed;
	self->fragment_size = (double)def.fragment_size;
	self->fragment_variation = (double)def.fragment_variation;
	self->impact_stiffness = (double)def.impact_modulus;
	self->impact_toughness_ratio = (double)def.impact_toughness_ratio;
	self->prestress = (double)def.prestress;
	self->crush_strength = (double)def.crush_strength;
	self->grain_direction = (GdVector3){0};
	self->grain_ratio = (double)def.grain_ratio;
	self->grain_stiffness_ratio = (double)def.grain_stiffness_ratio;
	self->mortar_strength = (double)def.mortar_strength;
	self->course_height = (double)def.course_height;
	self->max_solver_iterations = def.max_iterations;
	self->sound = (MaterialSound){
		.damping = 2e-6, .mass_damping = 20.0, .contact_time = 1e-4, .roughness = 0.3, .sample_share = 0.5};
}

MaterialSound material_resource_sound(GDExtensionObjectPtr object) {
	const MaterialResource *self = class_instance(object, &material_resource_class);
	if (self) {
		return self->sound;
	}
	MaterialResource plain = {0};
	material_resource_set_defaults(&plain);
	return plain.sound;
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

double material_resource_impact_stiffness(const MaterialResource *self) {
	if (self->impact_stiffness > 0.0) {
		return self->impact_stiffness;
	}
	if (self->stiffness <= RUBBER_MAX || self->grain_ratio > 1.0 || self->prestress > 0.0) {
		return 0.0;
	}
	double solid = self->density * SOUND_SPEED * SOUND_SPEED;
	return solid > self->stiffness ? solid : self->stiffness;
}

FemMaterialDef material_resource_def(GDExtensionObjectPtr object) {
	MaterialResource plain = {0};
	MaterialResource *self = class_instance(object, &material_resource_class);
	if (!self) {
		self = &plain;
		material_resource_set_defaults(self);
	}
	FemMaterialDef def = fem_default_material_def();
	def.young_modulus = (float)self->stiffness;
	def.poisson_ratio = (float)self->poisson_ratio;
	def.density = (float)self->density;
	def.stiffness_damping = (float)self->damping;
	def.mass_damping = (float)self->mass_damping;
	set_plasticity(&def, self);
	def.crease_strength = (float)self->crease_strength;
	def.crease_angle = (float)self->crease_angle;
	def.initial_strain = (FemVec3){self->initial_strain.x, self->initial_strain.y, self->initial_strain.z};
	def.friction = (float)self->friction;
	def.restitution = (float)self->restitution;
	def.breakable = self->breakable;
	def.toughness_mode = (FemToughnessMode)self->toughness_mode;
	def.toughness = (float)self->toughness;
	def.toughness_variation = (float)self->toughness_variation;
	def.crack_speed = (float)self->crack_speed;
	def.fragment_size = (float)self->fragment_size;
	def.fragment_variation = (float)self->fragment_variation;
	def.impact_modulus = (float)material_resource_impact_stiffness(self);
	def.impact_toughness_ratio = (float)self->impact_toughness_ratio;
	if (self->toughness_mode == FEM_TOUGHNESS_STRESS) {
		def.crush_strength = (float)self->crush_strength;
		double most = PRESTRESS_MAX * self->toughness;
		def.prestress = (float)(self->prestress < most ? self->prestress : most);
	}
	def.grain_direction = (FemVec3){self->grain_direction.x, self->grain_direction.y, self->grain_direction.z};
	def.grain_ratio = (float)self->grain_ratio;
	def.grain_stiffness_ratio = (float)self->grain_stiffness_ratio;
	def.mortar_strength = (float)self->mortar_strength;
	def.course_height = (float)self->course_height;
	def.max_iterations = (int32_t)self->max_solver_iterations;
	return def;
}

static double largest_of(GdVector3 v) {
	double x = fabs((double)v.x), y = fabs((double)v.y), z = fabs((double)v.z);
	return fmax(x, fmax(y, z));
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
	double strain = largest_of(self->initial_strain);
	if (self->breakable && by_stress && strain * self->stiffness > self->toughness) {
		return "its initial_strain is more than the strain at which it breaks, so that it tears where a neighbour "
			   "holds "
			   "it to its length; lower initial_strain, or raise toughness";
	}
	if (self->breakable && self->prestress > 0.0 && !by_stress) {
		return "it has a prestress, which is a stress, but a toughness_mode of Force, so that prestress has no effect; "
			   "set "
			   "toughness_mode to Stress";
	}
	if (self->breakable && self->prestress > PRESTRESS_MAX * self->toughness) {
		return "its prestress is more than 10 times its toughness, which would tear it apart by itself, and counts as "
			   "10 "
			   "times; lower prestress, or raise toughness";
	}
	if (self->breakable && self->crush_strength > 0.0 && by_stress && self->crush_strength < self->toughness) {
		return "its crush_strength is below its toughness, while what is brittle holds several times more pressure "
			   "than "
			   "tension, and counts as the toughness; raise it to some 10 times the toughness, or set it to 0";
	}
	return NULL;
}
