// What a body's materials mean for its tets and nodes.
#include "base/memory.h"
#include "mesh/topology.h"
#include "world/world.h"

#include <string.h>

static const FemMaterialDef *material_of(const FemWorld *world, const FemBody *body, int32_t tet) {
	int32_t material = body->tet_material[tet];
	return material >= 0 ? &world->materials[material].def : NULL;
}

// ------------------------------------------------------------------------------------------------------- plastic state

static bool yields(const FemWorld *world, const FemBody *body) {
	int32_t lane_count = body->topology->batch_count * FEM_LANES;
	for (int32_t tet = 0; tet < lane_count; tet++) {
		const FemMaterialDef *def = material_of(world, body, tet);
		if (def && def->max_plastic_strain > 0.0f)
			return true;
	}
	return false;
}

bool fem_body_allocate_plastics(FemBody *body) {
	int32_t batch_count = body->topology->batch_count;
	body->plastics = FEM_ALLOC_ARRAY(FemBatchPlastic, batch_count);
	if (!body->plastics)
		return false;
	// No flow yet: the batches still hold the undeformed rest shape.
	for (int32_t b = 0; b < batch_count; b++)
		memcpy(body->plastics[b].gradient, body->batches[b].gradient, sizeof body->plastics[b].gradient);
	return true;
}

bool fem_body_prepare_plastics(FemWorld *world, FemBody *body) {
	return body->plastics || !yields(world, body) || fem_body_allocate_plastics(body);
}

// -------------------------------------------------------------------------------------------------------------- moduli

// Lame's moduli from Young's modulus and Poisson's ratio; a sliver's are scaled (mesh/tet_mesh.h).
static void set_lane(const FemWorld *world, FemBody *body, int32_t tet) {
	const FemMaterialDef *def = material_of(world, body, tet);
	FemBatch *batch = &body->batches[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	if (!def)
		return; // padding has no moduli
	double e = (double)def->young_modulus, nu = (double)def->poisson_ratio, soft = (double)body->tet_softening[tet];
	batch->lambda[lane] = (float)(soft * e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)));
	batch->mu[lane] = (float)(soft * e / (2.0 * (1.0 + nu)));
	batch->damping[lane] = def->stiffness_damping;
	if (!body->plastics)
		return;
	FemBatchPlastic *plastic = &body->plastics[tet / FEM_LANES];
	plastic->yield[lane] = def->yield_strain;
	plastic->creep[lane] = def->creep_rate;
	plastic->limit[lane] = def->max_plastic_strain;
	plastic->deviatoric[lane] = def->plasticity == FEM_PLASTICITY_DEVIATORIC ? 1.0f : 0.0f;
}

// Lumped: a quarter of each tet's mass goes to each of its nodes (spec A10); alpha_M with it.
static void set_node_mass(const FemWorld *world, FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	double mass = 0.0, damping = 0.0;
	for (int32_t s = t->node_tet_start[node]; s < t->node_tet_start[node + 1]; s++) {
		int32_t tet = t->node_tets[s] / 4;
		const FemMaterialDef *def = material_of(world, body, tet);
		double share = 0.25 * (double)def->density * (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		mass += share;
		damping += share * (double)def->mass_damping;
	}
	body->mass[node] = (float)mass;
	body->mass_damping[node] = (float)damping;
}

static void set_totals(const FemWorld *world, FemBody *body) {
	double mass = 0.0;
	body->max_iterations = 1;
	for (int32_t i = 0; i < body->topology->node_count; i++)
		mass += (double)body->mass[i];
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		const FemMaterialDef *def = material_of(world, body, tet);
		if (def && def->max_iterations > body->max_iterations)
			body->max_iterations = def->max_iterations;
	}
	body->total_mass = (float)mass;
}

bool fem_body_refresh_materials(FemWorld *world, FemBody *body) {
	if (!fem_body_prepare_plastics(world, body))
		return false;
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++)
		set_lane(world, body, tet);
	for (int32_t i = 0; i < body->topology->node_count; i++)
		set_node_mass(world, body, i);
	set_totals(world, body);
	return true;
}

// The caller has made room for plastic state if the new material yields.
void fem_body_refresh_tet(FemWorld *world, FemBody *body, int32_t tet) {
	set_lane(world, body, tet);
	for (int32_t v = 0; v < 4; v++)
		set_node_mass(world, body, fem_tet_node(body->topology, tet, v));
	set_totals(world, body);
}
