// Bodies with DYNAMICS_RIGID_PIECES: which pieces they are cut into, and how these come apart.
#include "simulation/simulation_world.h"

#include "classes/destructible_body.h"
#include "classes/destructible_mesh.h"

// From the splinters of its mesh, which are those of its pattern or the artist's own, unless a number was set.
static FemJoinedDef joined_def(const SimulationBody *body) {
	const BodySettings *settings = &body->settings;
	const DestructibleBody *node = class_instance(body->node, &destructible_body_class);
	const DestructibleMesh *mesh = node ? class_instance(node->baked, &destructible_mesh_class) : NULL;
	FemJoinedDef def = fem_default_joined_def();
	def.seed = settings->fracture_seed;
	def.energy_release = settings->energy_release;
	def.breaks_per_second = settings->breaks_per_second;
	def.refine_on_break = settings->refine_on_break;
	if (settings->rigid_piece_count > 0) {
		def.seed_count = settings->rigid_piece_count;
	} else if (mesh && mesh->baked.splinters.splinter_count > 1) {
		def.seed_tets = mesh->baked.splinters.home_tets;
		def.seed_count = mesh->baked.splinters.splinter_count;
	}
	return def;
}

void simulation_body_cut_pieces(SimulationBody *body) {
	FemJoinedDef def = joined_def(body);
	// The view takes the shape at rest from a body that is whole.
	if (!body->world || !body->view->shape || simulation_body_dynamics(body) != FEM_DYNAMICS_RIGID_PIECES) {
		return;
	}
	if (fem_body_set_joined(body->body, &def) == FEM_OK) {
		fem_body_set_dynamics(body->body, FEM_DYNAMICS_RIGID_PIECES);
	} else {
		fem_body_set_dynamics(body->body, FEM_DYNAMICS_RIGID); // it cannot break: its warnings say so
	}
	simulation_body_count_pieces(body);
}

void simulation_body_apply_dynamics(SimulationBody *body) {
	const BodySettings *settings = &body->settings;
	if (simulation_body_dynamics(body) != FEM_DYNAMICS_RIGID_PIECES) {
		fem_body_set_dynamics(body->body, settings->dynamics);
		simulation_body_count_pieces(body);
	} else if (fem_body_get_dynamics(body->body) != FEM_DYNAMICS_RIGID_PIECES) {
		simulation_body_cut_pieces(body);
	} else {
		fem_body_set_bond_breaking(
			body->body, settings->energy_release, settings->breaks_per_second, settings->refine_on_break);
	}
}
