// MaterialResource: what a body is made of. A Resource that can be saved, shared, and changed during play.
#ifndef MATERIAL_RESOURCE_H
#define MATERIAL_RESOURCE_H

#include "binding/class_binding.h"
#include "fem_destruction.h"

// How bodies of a material sound; see the class reference.
typedef struct MaterialSound {
	double stiffness;    // Pa, that it rings with; 0: that of the simulation
	double damping;      // s, Rayleigh's a1 of what is heard; that of the simulation is far larger
	double mass_damping; // 1/s, a2
	double brightness;   // dB an octave
	double contact_time; // s
	double roughness;
	double loudness;             // dB
	GDExtensionObjectPtr sample; // AudioStream or null; a reference
	double sample_share;         // 0: modes alone, 1: the sample alone
} MaterialSound;

typedef struct MaterialResource {
	ClassInstance base;
	GdString description;
	double stiffness; // Pa
	double density;   // kg/m^3
	double ductility; // plastic strain at break
	double damping;   // s, Rayleigh alpha_K
	double friction;  // Coulomb coefficient
	double restitution;
	double poisson_ratio;
	double mass_damping;     // 1/s, Rayleigh alpha_M
	int64_t plasticity_mode; // FemPlasticity
	double yield_strain;
	double creep_rate; // 1/s
	double max_plastic_strain;
	GdVector3 initial_strain; // along the body's own axes
	bool breakable;
	double toughness;       // Pa or N
	int64_t toughness_mode; // FemToughnessMode
	double toughness_variation;
	double crack_speed;   // m/s
	double fragment_size; // m
	double fragment_variation;
	double impact_stiffness; // Pa
	double impact_toughness_ratio;
	double prestress;          // Pa
	double crush_strength;     // Pa; 0: never
	double crease_strength;    // share of the bending strength along a fold; 1: as strong as before
	double crease_angle;       // rad
	int64_t splinter_pattern;  // SplinterPattern
	GdVector3 grain_direction; // in the body's own axes; any length, 0 for none
	double grain_ratio;
	double grain_stiffness_ratio;
	double mortar_strength; // across the joints between courses over that of the bricks; 1: there are none
	double course_height;   // m
	int64_t max_solver_iterations;
	GDExtensionObjectPtr surface_material;  // Material or null; a reference
	GDExtensionObjectPtr interior_material; // the same
	MaterialSound sound;
	int use_count; // engine worlds that know it
} MaterialResource;

extern const ClassDescription material_resource_class;

void material_resource_set_defaults(MaterialResource *self);

// Pa: Young's modulus in a blow, as told, or that of a hard solid of its density. 0 of what is soft, fibrous or
// prestressed: a blow then has the force of a tick.
double material_resource_impact_stiffness(const MaterialResource *self);

// The engine's form of a material; null, or an object of another class, stands for a new MaterialResource's values.
FemMaterialDef material_resource_def(GDExtensionObjectPtr object);

// Counts the engine worlds that have taken the material over. While there are none, its setters leave the simulation
// alone: resources may be loaded, and so set up, on another thread.
void material_resource_add_use(GDExtensionObjectPtr object, int change);

// How what is drawn of a body comes apart; the bake cuts by it.
typedef enum SplinterPattern {
	SPLINTERS_NONE = 0,
	SPLINTERS_VORONOI,
	SPLINTERS_GLASS,
	SPLINTERS_WOOD,
	SPLINTERS_BRICK,
	SPLINTERS_SURFACES,
} SplinterPattern;

SplinterPattern material_resource_splinter_pattern(GDExtensionObjectPtr object);

// How bodies of it look, outside and where they have broken: a Material or null.
GDExtensionObjectPtr material_resource_surface_material(GDExtensionObjectPtr object);
GDExtensionObjectPtr material_resource_interior_material(GDExtensionObjectPtr object);

// The sound of a material; of null that of a new MaterialResource.
MaterialSound material_resource_sound(GDExtensionObjectPtr object);

// A sentence about values that make no sense together, or null.
const char *material_resource_fault(GDExtensionObjectPtr object);

#endif
