// What FemWorldDef says about fracture: how often it is looked at, and of which stress.
#include "fem_test.h"
#include "scenes/rig.h"

#define DT (1.0f / 60.0f)

static FemRigDef bar_def(float toughness, float stiffness_damping) {
	FemRigDef def = fem_rig_bar_def(10, 2, 2, FEM_CELLS_KUHN, 0.0f);
	def.size = (FemVec3){1.0f, 0.2f, 0.2f};
	def.material.young_modulus = 1e7f;
	def.material.breakable = true;
	def.material.toughness = toughness; // Pa
	def.material.toughness_mode = FEM_TOUGHNESS_STRESS;
	def.material.toughness_variation = 0.0f;
	def.material.stiffness_damping = stiffness_damping;
	def.clamped = false;
	return def;
}

// Pulls both ends with so many N for a step; returns how many faces opened in it.
static int32_t pull(FemRig *rig, float force) {
	const FemFractureFace *faces;
	fem_rig_load_face(rig, true, (FemVec3){force, 0.0f, 0.0f});
	fem_rig_load_face(rig, false, (FemVec3){-force, 0.0f, 0.0f});
	fem_world_step(rig->world, DT, 1);
	return fem_world_get_fracture_faces(rig->world, &faces);
}

// A pull of 25 times the toughness, step after step. Fails when faces open in steps that the interval passes over, when
// none opens in those it names, or when an interval of 0 lets anything break.
FEM_TEST(fracture_settings, interval_names_the_steps_in_which_things_break) {
	static const int32_t intervals[] = {0, 1, 3};
	for (int k = 0; k < 3; k++) {
		FemRigDef def = bar_def(1e4f, 0.01f);
		def.world.fracture_interval = intervals[k];
		FemRig rig = fem_rig_create(&def);
		int32_t opened = 0, opened_between = 0;
		FEM_REQUIRE(fem_body_is_valid(rig.body));
		for (int32_t step = 0; step < 9; step++) {
			FemStatistics statistics;
			fem_world_get_statistics(rig.world, &statistics);
			int32_t faces = pull(&rig, 1e4f);
			bool is_named = intervals[k] > 0 && statistics.step_count % (uint64_t)intervals[k] == 0;
			opened += faces;
			opened_between += is_named ? 0 : faces;
		}
		printf("  interval %d: %d faces\n", intervals[k], opened);
		FEM_CHECK_INT(opened_between, 0);
		FEM_CHECK((opened > 0) == (intervals[k] > 0));
		fem_rig_destroy(&rig);
	}
}

// A jerk of two steps at twice the toughness: with a stiffness damping of 0.2 s the elastic stress comes to a sixth of
// the pull in that time, the viscous one bears the rest. Fails when the setting is not heeded, either way.
FEM_TEST(fracture_settings, viscous_stress_breaks_only_if_asked) {
	for (int viscous = 0; viscous < 2; viscous++) {
		FemRigDef def = bar_def(5e5f, 0.2f);
		def.world.fracture_viscous = viscous == 1;
		FemRig rig = fem_rig_create(&def);
		FEM_REQUIRE(fem_body_is_valid(rig.body));
		int32_t opened = pull(&rig, 4e4f); // 1 MPa
		opened += pull(&rig, 4e4f);
		for (int32_t step = 0; step < 10; step++)
			opened += pull(&rig, 0.0f);
		printf("  viscous %d: %d faces\n", viscous, opened);
		FEM_CHECK((opened > 0) == (viscous == 1));
		fem_rig_destroy(&rig);
	}
}
