#include "modal_rig.h"

#include "contact_rig.h"
#include "fem_test.h"
#include "theory_rig.h"

#include <math.h>
#include <stdlib.h>

FemRigDef fem_wobbly_bar(void) {
	FemRigDef def = fem_rig_bar_def(8, 2, 2, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){1.0f, 0.2f, 0.2f};
	def.clamped = false;
	def.material.young_modulus = 1e6f;
	def.material.stiffness_damping = 2e-4f;
	def.body.dynamics = FEM_DYNAMICS_MODAL;
	return def;
}

FemModes fem_test_modes_of(FemBodyId body, int32_t count) {
	FemModes modes = {0};
	FemModesDef def = fem_default_modes_def();
	def.mode_count = count;
	def.frequency_max = 0.0f;
	FemModesJob *job = fem_body_start_modes(body, 1, &def);
	if (FEM_CHECK(job))
		FEM_CHECK_INT(fem_modes_finish(job, &modes), FEM_OK);
	return modes;
}

FemModes fem_give_modes(FemBodyId body, int32_t count) {
	FemModes modes = fem_test_modes_of(body, count);
	int32_t *nodes = malloc(sizeof *nodes * (size_t)(modes.node_count + 1));
	FEM_CHECK_INT(fem_body_get_piece_nodes(body, 1, nodes, modes.node_count), modes.node_count);
	FEM_CHECK_INT(fem_body_set_modes(body, &modes, nodes), FEM_OK);
	free(nodes);
	return modes;
}

void fem_make_modal(FemBodyId body, int32_t count) {
	FemModes modes = fem_give_modes(body, count);
	fem_modes_free(&modes);
}

FemModalState fem_modal_state(FemBodyId body) {
	FemModalState state;
	FEM_CHECK_INT(fem_body_get_modal_state(body, &state), FEM_OK);
	return state;
}

double fem_modal_energy(FemBodyId body) {
	return fem_state_of(body).kinetic_energy + fem_modal_state(body).elastic_energy;
}

FemBodyId fem_add_wobbly(FemWorldId world, FemPosition position, FemVec3 velocity, FemVec3 spin, float young) {
	FemBlock block = fem_block(0.4f, 3);
	block.material.young_modulus = young;
	block.material.stiffness_damping = 1e-3f;
	block.body.dynamics = FEM_DYNAMICS_MODAL;
	block.body.position = position;
	block.body.linear_velocity = velocity;
	block.body.angular_velocity = spin;
	FemBodyId body = fem_block_add(world, &block);
	fem_make_modal(body, 20);
	return body;
}

// Energy with height, J.

double fem_length3(FemVec3 v) {
	return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

double fem_distance3(FemVec3 a, FemVec3 b) {
	return fem_length3((FemVec3){a.x - b.x, a.y - b.y, a.z - b.z});
}
