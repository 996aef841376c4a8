#include "classes/destructible_mesh_modes.h"

#include "classes/destructible_body.h"
#include "classes/material_resource.h"

#include <math.h>

#define SCALE_ALIKE 1e-3f  // of the scale: axes that differ by less are alike; chosen, 0.1 % of a frequency
#define POISSON_ALIKE 0.1f // chosen: a plate's E / (1 - nu^2), and with it its frequencies by 4 %, is off by so much

static bool is_scaled_alike(FemVec3 s) {
	float x = fabsf(s.x), limit = SCALE_ALIKE * x;
	return x > 0.0f && fabsf(fabsf(s.y) - x) <= limit && fabsf(fabsf(s.z) - x) <= limit;
}

bool destructible_mesh_modes_of(const SimulationBody *body, double stiffness_factor, FemModes *out) {
	const DestructibleBody *node = class_instance(body->node, &destructible_body_class);
	const DestructibleMesh *mesh = node ? destructible_body_mesh(node) : NULL;
	FemPieceNumber piece = 0;
	FemPieceState state;
	if (!mesh || mesh->baked.modes.mode_count == 0 || body->material_count != 1 || !is_scaled_alike(body->scale) ||
		fem_body_get_pieces(body->body, &piece, 1) != 1 ||
		fem_body_get_piece_state(body->body, piece, &state) != FEM_OK || state.is_attached) {
		return false;
	}
	const FemModes *baked = &mesh->baked.modes;
	FemMaterialDef material = material_resource_def(body->materials[0]);
	double modulus = (double)material.young_modulus * stiffness_factor / (double)baked->material.young_modulus;
	double density = (double)(material.density * body->density_scale) / (double)baked->material.density;
	return fabsf(material.poisson_ratio - baked->material.poisson_ratio) <= POISSON_ALIKE &&
		baked->node_count == fem_body_get_node_count(body->body) && fem_modes_copy(baked, out) == FEM_OK &&
		fem_modes_scale(out, (float)modulus, (float)density, fabsf(body->scale.x)) == FEM_OK;
}
