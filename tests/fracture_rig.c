#include "fracture_rig.h"

FemRigDef fracture_rig_bar(int32_t nx, int32_t n, float toughness, FemToughnessMode mode) {
	FemRigDef def = fem_rig_bar_def(nx, n, n, FEM_CELLS_KUHN, 0.0f);
	def.size = (FemVec3){1.0f, 0.2f, 0.2f};
	def.material.young_modulus = 1e7f;
	def.material.breakable = true;
	def.material.toughness = toughness;
	def.material.toughness_mode = mode;
	def.material.toughness_variation = 0.0f;
	def.material.stiffness_damping = 0.01f;
	def.clamped = false;
	return def;
}

FemRig fracture_rig_struck_plate(int32_t workers, uint32_t seed) {
	FemRigDef def = fem_rig_bar_def(10, 1, 10, FEM_CELLS_FIVE, 0.2f);
	def.size = (FemVec3){1.0f, 0.05f, 1.0f};
	def.material.young_modulus = 1e8f;
	def.material.density = 2500.0f;
	def.material.breakable = true;
	def.material.toughness = 1e5f;
	def.world.worker_count = workers;
	def.world.solver_tolerance = 1e-3f;
	def.body.fracture_seed = seed;
	FemRig rig = fem_rig_create(&def);
	for (int32_t i = 5; i < 7; i++) {
		for (int32_t k = 5; k < 7; k++)
			fem_body_set_velocity(rig.body, (i * 2 + 1) * 11 + k, (FemVec3){0.0f, -60.0f, 0.0f});
	}
	return rig;
}

uint64_t fracture_rig_run_plate(FemRig *rig, int32_t steps, int32_t *out_pieces) {
	uint64_t hash = 0;
	for (int32_t step = 0; step < steps; step++) {
		const FemFractureFace *faces;
		const FemPieceEvent *events;
		fem_world_step(rig->world, 1.0f / 60.0f, 1);
		hash = hash * 31 + fem_world_hash(rig->world);
		for (int32_t i = fem_world_get_fracture_faces(rig->world, &faces); i-- > 0;)
			hash = hash * 31 + (uint64_t)(faces[i].tets[0] * 7919 + faces[i].tets[1]) +
				(uint64_t)(faces[i].center.x * 1e9);
		for (int32_t i = fem_world_get_piece_events(rig->world, &events); i-- > 0;)
			hash = hash * 31 + events[i].piece;
	}
	*out_pieces = fem_body_get_pieces(rig->body, NULL, 0);
	return hash;
}
