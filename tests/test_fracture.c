// Fracture: where and when things break, what is kept, what bad input does.
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

static FemRigDef brittle_bar(int32_t nx, int32_t n, float toughness, FemToughnessMode mode) {
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

typedef struct Pull {
	double force; // N
	int32_t pieces;
} Pull;

// Pulls at both ends with a slowly growing force until faces open and there are so many pieces; false when that does not come.
static bool pull_apart(FemRig *rig, double first, double last, int32_t pieces, Pull *out) {
	for (int32_t step = 0; step < 600; step++) {
		double force = first + (last - first) * step / 600.0;
		fem_rig_load_face(rig, true, (FemVec3){(float)force, 0.0f, 0.0f});
		fem_rig_load_face(rig, false, (FemVec3){(float)-force, 0.0f, 0.0f});
		fem_world_step(rig->world, 1.0f / 60.0f, 1);
		const FemFractureFace *faces;
		*out = (Pull){force, fem_body_get_pieces(rig->body, NULL, 0)};
		if (fem_world_get_fracture_faces(rig->world, &faces) > 0 && out->pieces >= pieces)
			return true;
	}
	return false;
}

// The separation tensor as force on a Kuhn mesh of spacing h breaks at tau / h^2 (validation table): h 0.1, tau 100 N.
FEM_TEST(fracture, uniaxial_force_mode) {
	FemRigDef def = brittle_bar(10, 2, 100.0f, FEM_TOUGHNESS_FORCE);
	FemRig rig = fem_rig_create(&def);
	Pull pull;
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	FEM_CHECK(pull_apart(&rig, 300.0, 500.0, 1, &pull));
	printf("  broke at %.1f N\n", pull.force);
	FEM_CHECK_NEAR(pull.force, 400.0, 8.0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

FEM_TEST(fracture, toughness_as_stress_does_not_depend_on_the_mesh) {
	for (int32_t n = 1; n <= 4; n *= 2) {
		FemRigDef def = brittle_bar(5 * n, n, 1e4f, FEM_TOUGHNESS_STRESS);
		FemRig rig = fem_rig_create(&def);
		Pull pull;
		FEM_REQUIRE(fem_body_is_valid(rig.body));
		FEM_CHECK(pull_apart(&rig, 300.0, 500.0, 1, &pull));
		printf("  %d cells across: broke at %.1f N\n", n, pull.force);
		FEM_CHECK_NEAR(pull.force, 400.0, 40.0);
		fem_rig_destroy(&rig);
	}
}

// Overloaded until it comes apart, then let go: what was stored throws the pieces apart.
FEM_TEST(fracture, bar_falls_apart_and_everything_stays_sound) {
	FemRigDef def = brittle_bar(20, 4, 1e4f, FEM_TOUGHNESS_STRESS);
	def.material.toughness_variation = 0.2f;
	FemRig rig = fem_rig_create(&def);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	FemBodyState before, after;
	Pull pull;
	fem_body_get_state(rig.body, &before);
	FEM_CHECK(pull_apart(&rig, 200.0, 600.0, 2, &pull));
	for (int32_t step = 0; step < 100; step++) {
		fem_world_step(rig.world, 1.0f / 60.0f, 1);
		if (!FEM_CHECK(fem_world_validate(rig.world) == FEM_OK)) {
			printf("  step %d: %s\n", step, fem_last_error());
			break;
		}
	}
	fem_body_get_state(rig.body, &after);
	printf("  apart at %.0f N, in the end %d pieces\n", pull.force, fem_body_get_pieces(rig.body, NULL, 0));
	FEM_CHECK(fem_body_get_pieces(rig.body, NULL, 0) >= 2);
	FEM_CHECK_NEAR(after.mass, before.mass, 1e-6 * before.mass);
	FEM_CHECK_NEAR(after.linear_momentum.x, 0.0, 0.1);
	fem_rig_destroy(&rig);
}
