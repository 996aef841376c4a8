#include "world/api/materials.h"
#include "base/assert.h"
#include "base/memory.h"
#include "world/api/bodies.h"
#include "world/api/checks.h"
#include "world/api/cookies.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>

#define DAMPING_MAX 1e6f        // s and 1/s; chosen: a body damped more does not move at all
#define INITIAL_STRAIN_MAX 0.5f // half or one and a half times as long; chosen: nothing is made farther from its shape
#define PRESTRESS_MAX 10.0f     // of toughness: the core then is pulled at 5 times of it. Glass is made up to 4; chosen
#define CREASE_STRENGTH_MIN 0.01f // chosen: less would be a hinge that any weight folds
#define MORTAR_STRENGTH_MIN 0.01f // chosen: less holds nothing
#define ITERATION_MAX 100000      // of a solve; chosen: seconds, more would only be a slip

FemMaterialDef fem_default_material_def(void) {
	return (FemMaterialDef){
		.young_modulus = 1e6f,
		.poisson_ratio = 0.3f,
		.density = 1000.0f,
		.plasticity = FEM_PLASTICITY_FULL,
		.creep_rate = 1e6f,
		.crease_strength = 1.0f,
		.crease_angle = 0.2f,
		.friction = 0.5f,
		.max_iterations = 400,
		.toughness = 1e6f,
		.toughness_variation = 0.1f,
		.crack_speed = 1000.0f,
		.impact_toughness_ratio = 1.0f,
		.grain_ratio = 1.0f,
		.grain_stiffness_ratio = 1.0f,
		.mortar_strength = 1.0f,
		.course_height = 0.081f,
		.cookie = FEM_COOKIE_MATERIAL,
	};
}

static FemResult check_not_negative(float value, const char *name) {
	if (value >= 0.0f && fem_is_finite(value))
		return FEM_OK;
	return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "%s must be 0 or a positive number.", name);
}

static FemResult check_elastic(const FemMaterialDef *def) {
	if (!fem_is_finite(def->young_modulus) || def->young_modulus <= 0.0f)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "young_modulus must be a positive number of Pa.");
	if (!fem_is_finite(def->poisson_ratio))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "poisson_ratio must be a number; it is clamped to 0..0.49.");
	if (!fem_is_finite(def->density) || def->density <= 0.0f)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "density must be a positive number of kg/m^3.");
	return FEM_OK;
}

static FemResult check_plastic(const FemMaterialDef *def) {
	if (def->plasticity != FEM_PLASTICITY_FULL && def->plasticity != FEM_PLASTICITY_DEVIATORIC)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "plasticity is %d, which is no value of FemPlasticity.", (int)def->plasticity);
	if (!fem_vec3_is_finite(def->initial_strain))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "initial_strain must be finite; (0, 0, 0) is none.");
	FemResult result = check_not_negative(def->yield_strain, "yield_strain");
	if (result == FEM_OK)
		result = check_not_negative(def->creep_rate, "creep_rate");
	if (result == FEM_OK)
		result = check_not_negative(def->max_plastic_strain, "max_plastic_strain");
	if (result == FEM_OK)
		result = check_not_negative(def->crease_strength, "crease_strength");
	if (result == FEM_OK)
		result = check_not_negative(def->crease_angle, "crease_angle");
	return result;
}

static FemResult check_breaking(const FemMaterialDef *def) {
	if (!(def->toughness >= 0.0f)) // infinite is allowed, not a number is not
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "toughness must be 0 or a positive number of Pa; infinite never breaks.");
	if (def->toughness_mode != FEM_TOUGHNESS_STRESS && def->toughness_mode != FEM_TOUGHNESS_FORCE)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "toughness_mode is %d, which is no value of FemToughnessMode.",
			(int)def->toughness_mode);
	if (!fem_vec3_is_finite(def->grain_direction))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "grain_direction must be finite; (0, 0, 0) is no grain.");
	if (!(def->crack_speed > 0.0f))
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "crack_speed must be a positive number of m/s; 1000 is usual.");
	FemResult result = check_not_negative(def->toughness_variation, "toughness_variation");
	if (result == FEM_OK)
		result = check_not_negative(def->fragment_size, "fragment_size");
	if (result == FEM_OK)
		result = check_not_negative(def->fragment_variation, "fragment_variation");
	if (result == FEM_OK)
		result = check_not_negative(def->impact_modulus, "impact_modulus");
	if (result == FEM_OK)
		result = check_not_negative(def->impact_toughness_ratio, "impact_toughness_ratio");
	if (result == FEM_OK)
		result = check_not_negative(def->prestress, "prestress");
	if (result == FEM_OK)
		result = check_not_negative(def->crush_strength, "crush_strength");
	if (result == FEM_OK && def->crush_strength > 0.0f && def->toughness_mode == FEM_TOUGHNESS_FORCE)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"crush_strength is a pressure beside a toughness in N: set toughness_mode to FEM_TOUGHNESS_STRESS.");
	if (result == FEM_OK && def->prestress > 0.0f && def->toughness_mode == FEM_TOUGHNESS_FORCE)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"prestress is a stress and cannot add to a toughness in N: set toughness_mode to FEM_TOUGHNESS_STRESS.");
	if (result == FEM_OK)
		result = check_not_negative(def->grain_stiffness_ratio, "grain_stiffness_ratio");
	if (result == FEM_OK)
		result = check_not_negative(def->mortar_strength, "mortar_strength");
	if (result == FEM_OK)
		result = check_not_negative(def->course_height, "course_height");
	return result == FEM_OK ? check_not_negative(def->grain_ratio, "grain_ratio") : result;
}

static float clamp(float value, float low, float high) {
	return fminf(fmaxf(value, low), high);
}

FemResult fem_material_def_check(FemMaterialDef *def) {
	if (def->cookie != FEM_COOKIE_MATERIAL)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT,
			"The material def was not made by fem_default_material_def(): start from that.");
	FemResult result = check_elastic(def);
	if (result == FEM_OK)
		result = check_not_negative(def->stiffness_damping, "stiffness_damping");
	if (result == FEM_OK)
		result = check_not_negative(def->mass_damping, "mass_damping");
	if (result == FEM_OK)
		result = check_not_negative(def->friction, "friction");
	if (result == FEM_OK)
		result = check_not_negative(def->restitution, "restitution");
	if (result == FEM_OK)
		result = check_plastic(def);
	if (result == FEM_OK)
		result = check_breaking(def);
	if (result != FEM_OK)
		return result;
	FemVec3 e = def->initial_strain;
	def->initial_strain = (FemVec3){clamp(e.x, -INITIAL_STRAIN_MAX, INITIAL_STRAIN_MAX),
		clamp(e.y, -INITIAL_STRAIN_MAX, INITIAL_STRAIN_MAX), clamp(e.z, -INITIAL_STRAIN_MAX, INITIAL_STRAIN_MAX)};
	def->crease_strength = clamp(def->crease_strength, CREASE_STRENGTH_MIN, 1.0f);
	def->crease_angle = clamp(def->crease_angle, 1e-3f, 3.0f);
	def->toughness_variation = fminf(def->toughness_variation, 0.99f);
	def->crack_speed = clamp(def->crack_speed, 0.01f, 1e5f);
	def->impact_modulus = def->impact_modulus > 0.0f ? clamp(def->impact_modulus, 1.0f, 1e13f) : 0.0f;
	def->impact_toughness_ratio = clamp(def->impact_toughness_ratio, 1e-6f, 1e6f);
	def->fragment_size = clamp(def->fragment_size, 0.0f, 100.0f);
	def->fragment_variation = clamp(def->fragment_variation, 0.0f, 20.0f);
	if (def->crush_strength > 0.0f && !isinf(def->toughness))
		def->crush_strength =
			fmaxf(def->crush_strength, def->toughness); // what breaks sooner under pressure is no solid
	def->prestress = fminf(def->prestress, PRESTRESS_MAX * def->toughness);
	def->mortar_strength = clamp(def->mortar_strength, MORTAR_STRENGTH_MIN, 1.0f);
	def->course_height = clamp(def->course_height, 1e-3f, 100.0f);
	def->grain_ratio = clamp(def->grain_ratio, 1.0f, 1e6f);
	def->grain_stiffness_ratio = clamp(def->grain_stiffness_ratio, 1.0f, 100.0f);
	def->young_modulus = clamp(def->young_modulus, 1.0f, 1e13f);
	def->poisson_ratio = clamp(def->poisson_ratio, 0.0f, 0.49f);
	def->density = clamp(def->density, 1e-3f, 1e6f);
	def->stiffness_damping = fminf(def->stiffness_damping, DAMPING_MAX);
	def->mass_damping = fminf(def->mass_damping, DAMPING_MAX);
	def->friction = fminf(def->friction, FEM_FRICTION_MAX);
	def->restitution = fminf(def->restitution, 1.0f);
	def->max_iterations = def->max_iterations < 1 ? 1 : def->max_iterations;
	def->max_iterations = def->max_iterations > ITERATION_MAX ? ITERATION_MAX : def->max_iterations;
	return FEM_OK;
}

static FemResult copy_checked(const FemMaterialDef *def, FemMaterialDef *out_def) {
	if (!def)
		return fem_fail(
			FEM_ERROR_INVALID_ARGUMENT, "The material def is null: pass one made by fem_default_material_def().");
	*out_def = *def;
	return fem_material_def_check(out_def);
}

// Half as many again, at least 16: slots are never given back before the world goes.
static bool grow_slots(FemWorld *world) {
	int32_t old = world->material_capacity;
	int32_t capacity = old < 16 ? 16 : old + old / 2;
	FemMaterial *grown = fem_realloc(world->materials, sizeof *grown * (size_t)old, sizeof *grown * (size_t)capacity);
	if (!grown)
		return false;
	world->materials = grown;
	world->material_capacity = capacity;
	for (int32_t i = old; i < capacity; i++)
		grown[i].generation = fem_first_generation(world);
	return true;
}

int32_t fem_material_slot(FemWorld *world) {
	int32_t index = 0;
	while (index < world->material_capacity && world->materials[index].in_use)
		index++;
	if (index == world->material_capacity && !grow_slots(world)) {
		fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for another material.");
		return -1;
	}
	return index;
}

FemMaterialId fem_material_create(FemWorldId id, const FemMaterialDef *def) {
	FemResult result;
	FemMaterialDef checked;
	FemWorld *world = fem_world_find_idle(id, &result);
	if (!world || copy_checked(def, &checked) != FEM_OK)
		return (FemMaterialId){0};
	int32_t index = fem_material_slot(world);
	if (index < 0)
		return (FemMaterialId){0};
	FemMaterial *material = &world->materials[index];
	*material = (FemMaterial){.generation = material->generation, .in_use = true, .def = checked};
	return fem_material_id(world, index);
}

FemResult fem_material_destroy(FemMaterialId id) {
	FemResult result;
	FemWorld *world;
	FemMaterial *material = fem_material_find_idle(id, &world, &result);
	if (!material)
		return result;
	if (material->use_count > 0)
		return fem_fail(FEM_ERROR_IN_USE, "%d tets still have the material: destroy their bodies or change them first.",
			material->use_count);
	material->in_use = false;
	material->generation = fem_next_generation(material->generation);
	return FEM_OK;
}

static bool body_uses(const FemBody *body, int32_t material_index) {
	int32_t lane_count = body->topology->batch_count * FEM_LANES;
	for (int32_t tet = 0; tet < lane_count; tet++) {
		if (body->tet_material[tet] == material_index)
			return true;
	}
	return false;
}

// Bodies that were made ready for a material which they do not get: they break no sooner than before.
static void leave_as_it_was(const FemWorld *world, int32_t body_end) {
	for (int32_t b = 0; b < body_end; b++) {
		if (world->bodies[b])
			fem_body_refresh_toughness(world, world->bodies[b]);
	}
}

// Room first, for all bodies; after that nothing can fail.
FemResult fem_material_set(FemMaterialId id, const FemMaterialDef *def) {
	FemResult result;
	FemWorld *world;
	FemMaterialDef checked;
	FemMaterial *material = fem_material_find_idle(id, &world, &result);
	if (!material || (result = copy_checked(def, &checked)) != FEM_OK)
		return result;
	FemMaterialDef old = material->def;
	material->def = checked;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body || !body_uses(body, id.index1 - 1))
			continue;
		if (fem_body_prepare_materials(world, body) && (!checked.breakable || fem_body_prepare_breaking(world, b)))
			continue;
		material->def = old;
		leave_as_it_was(world, b);
		return fem_fail(
			FEM_ERROR_MEMORY, "The system gave no memory for the plastic state, the fibres or the breaking of a body.");
	}
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		if (!body || !body_uses(body, id.index1 - 1))
			continue;
		bool has_room = fem_body_refresh_materials(world, body);
		FEM_ASSERT(has_room);
		(void)has_room;
		fem_body_wake_all(&world->islands, body);
	}
	return FEM_OK;
}

FemResult fem_material_get(FemMaterialId id, FemMaterialDef *out_def) {
	FemResult result;
	FemWorld *world;
	FemMaterial *material = fem_material_find_idle(id, &world, &result);
	if (!material)
		return result;
	if (!out_def)
		return fem_fail(FEM_ERROR_INVALID_ARGUMENT, "out_def is null: pass a place to write to.");
	*out_def = material->def;
	return FEM_OK;
}
