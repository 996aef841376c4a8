// Wood: stiffer along its fibres than across them, against beam and plate theory.
#include "fem_test.h"
#include "scenes/rig.h"
#include "theory_rig.h"

#define YOUNG 1e9f // Pa, along the fibres
#define RATIO 12.0f

static FemRigDef plank_def(const int32_t cells[3], FemVec3 size, FemCellKind kind, FemVec3 grain) {
	FemRigDef def = fem_rig_bar_def(cells[0], cells[1], cells[2], kind, 0.3f);
	def.size = size;
	def.material.young_modulus = YOUNG;
	def.material.grain_direction = grain;
	def.material.grain_stiffness_ratio = RATIO;
	return def;
}

// ---- pulling

static void pull_both_ends(FemRig *rig, void *context) {
	float force = *(const float *)context;
	fem_rig_load_face(rig, false, (FemVec3){-force, 0.0f, 0.0f});
	fem_rig_load_face(rig, true, (FemVec3){force, 0.0f, 0.0f});
}

// Young's modulus over that along the fibres, of a free bar pulled at its ends.
static double modulus_of(FemVec3 grain) {
	static const int32_t cells[3] = {10, 2, 2};
	FemRigDef def = plank_def(cells, (FemVec3){1.0f, 0.1f, 0.1f}, FEM_CELLS_KUHN, grain);
	def.clamped = false;
	def.material.young_modulus = 1e6f;
	// As in statics.patch_test: what is free must not turn under its loads.
	def.material.stiffness_damping = 0.01f;
	def.material.mass_damping = 20.0f;
	FemRig rig = fem_rig_create(&def);
	float force = 10.0f;
	fem_rig_settle(&rig, 1.0f / 60.0f, 1e-7f, 200, pull_both_ends, &force);
	// Of the middle half: the ends of a leaning grain warp.
	double low = 0.0, high = 0.0, low_count = 0.0, high_count = 0.0;
	for (int32_t i = 0; i < rig.box.node_count; i++) {
		double x = (double)rig.box.positions[i].x, u = (double)fem_rig_displacement(&rig, i).x;
		low += fabs(x - 0.2) < 1e-3 ? u : 0.0, low_count += fabs(x - 0.2) < 1e-3;
		high += fabs(x - 0.8) < 1e-3 ? u : 0.0, high_count += fabs(x - 0.8) < 1e-3;
	}
	double strain = (high / high_count - low / low_count) / 0.6;
	fem_rig_destroy(&rig);
	return (double)force / 0.01 / strain / 1e6;
}

// E along the fibres, E / ratio across them, exactly, and between the two what the tensor of a transversely isotropic
// material gives: 1/E(45) = 1/4 (1/E_L + 1/E_T - 2 nu/E_L + 1/G), G = E_m / 2 (1 + nu) of what is between the fibres.
FEM_TEST(theory, wood_stretches_along_and_across_its_grain) {
	double nu = 0.3, ratio = (double)RATIO, between = (1.0 - nu * nu) / (ratio - nu * nu);
	double shear = between / (2.0 * (1.0 + nu)), skew = 4.0 / (1.0 + ratio - 2.0 * nu + 1.0 / shear);
	fem_compare("bar of wood, E along the grain", 1.0, modulus_of((FemVec3){2.0f, 0.0f, 0.0f}), 2e-3);
	fem_compare("bar of wood, E across the grain", 1.0, ratio * modulus_of((FemVec3){0.0f, 0.0f, 1.0f}), 2e-3);
	fem_compare("bar of wood, E at 45 degrees", 1.0, modulus_of((FemVec3){1.0f, 1.0f, 0.0f}) / skew, 0.06);
}

// ---- bending

static void load_tip(FemRig *rig, void *context) {
	fem_rig_load_face(rig, true, (FemVec3){0.0f, -*(const float *)context, 0.0f});
}

// Tip deflection of a cantilever over P L^3 / 3 E I with E along the fibres.
static double deflection_of(const FemRigDef *def, float load) {
	FemRig rig = fem_rig_create(def);
	double length = (double)def->size.x, inertia = (double)def->size.z * pow((double)def->size.y, 3.0) / 12.0;
	fem_rig_settle(&rig, 0.25f, 1e-7f, 100, load_tip, &load);
	double down = -fem_rig_tip_mean_y(&rig) / ((double)load * pow(length, 3.0) / (3.0 * (double)YOUNG * inertia));
	fem_rig_destroy(&rig);
	return down;
}

// Planks in one layer of plate cells, held at one end.
FEM_TEST(theory, wood_planks_bend_along_and_across_their_grain) {
	static const FemCellKind kinds[] = {FEM_CELLS_KUHN, FEM_CELLS_FIVE};
	static const int32_t cells[3] = {20, 1, 2};
	static const FemVec3 grains[] = {{1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {0.0f, 1.0f, 0.0f}};
	static const char *const names[] = {"along the grain", "across it", "with the grain through the thickness"};
	for (int i = 0; i < 6; i++) {
		FemRigDef def = plank_def(cells, (FemVec3){1.0f, 0.02f, 0.1f}, kinds[i % 2], grains[i / 2]);
		def.plate_correction = 1.0f;
		def.quality_clamp = 0.0f;
		// Across, and through, the matrix bends between fibres that keep it from contracting, or not.
		double nu = 0.3, ratio = (double)RATIO, between = ratio * (1.0 - nu * nu) / (ratio - nu * nu);
		double expected = i / 2 == 0 ? 1.0 : i / 2 == 1 ? ratio : ratio / between;
		fem_compare(fem_named("plank of wood, %s, %s, deflection / theory", i % 2 ? "five-tet" : "Kuhn", names[i / 2]),
			1.0, deflection_of(&def, 0.01f) / expected, 0.05);
	}
}

// A bar of plain tets several cells thick: across the grain it gives more than along it by the ratio, but for what the
// mesh resists in shear.
FEM_TEST(theory, wood_bars_bend_along_and_across_their_grain) {
	static const int32_t cells[3] = {40, 4, 4};
	FemRigDef along = plank_def(cells, (FemVec3){1.0f, 0.1f, 0.1f}, FEM_CELLS_FIVE, (FemVec3){1.0f, 0.0f, 0.0f});
	FemRigDef across = plank_def(cells, (FemVec3){1.0f, 0.1f, 0.1f}, FEM_CELLS_FIVE, (FemVec3){0.0f, 0.0f, 1.0f});
	// Shear adds E h^2 / (4 k G L^2) of the bending: 0.30 along the fibres, whose G is low.
	double nu = 0.3, ratio = (double)RATIO, shear = (1.0 - nu * nu) / (ratio - nu * nu) / (2.0 * (1.0 + nu));
	fem_compare("bar of wood, along the grain, deflection / Timoshenko", 1.0,
		deflection_of(&along, 1.0f) / (1.0 + 0.01 / (4.0 * 5.0 / 6.0 * shear)), 0.16);
	fem_compare("bar of wood, across the grain, deflection / Timoshenko", 1.0,
		deflection_of(&across, 1.0f) / (ratio * (1.0 + 0.01 / (4.0 * 5.0 / 6.0 * shear * ratio))), 0.16);
}

// ---- moving

// A free plank that spins and is struck never has more energy, and keeps its spin: stress and strain are not coaxial.
FEM_TEST(fibres, free_planks_keep_their_momenta) {
	static const int32_t cells[3] = {8, 2, 2};
	FemRigDef def = plank_def(cells, (FemVec3){1.0f, 0.1f, 0.15f}, FEM_CELLS_FIVE, (FemVec3){1.0f, 0.7f, 0.2f});
	def.clamped = false;
	def.material.young_modulus = 1e7f;
	def.body.angular_velocity = (FemVec3){2.0f, 3.0f, 6.0f};
	FemRig rig = fem_rig_create(&def);
	fem_body_apply_impulse_at_point(rig.body, (FemVec3){0.0f, 8.0f, 3.0f}, (FemPosition){0.45, 0.0, 0.0});
	fem_world_step(rig.world, 1.0f / 60.0f, 1);
	FemMomenta before = fem_momenta_of(&rig.body, 1);
	FemBodyState state = fem_state_of(rig.body);
	double start = state.kinetic_energy + state.elastic_energy, most = 0.0;
	for (int n = 0; n < 300; n++) {
		fem_world_step(rig.world, 1.0f / 60.0f, 1);
		state = fem_state_of(rig.body);
		most = fmax(most, state.kinetic_energy + state.elastic_energy);
	}
	FemMomenta after = fem_momenta_of(&rig.body, 1);
	double size = 0.0, change = 0.0;
	for (int i = 0; i < 3; i++) {
		size += before.angular[i] * before.angular[i];
		change += (after.angular[i] - before.angular[i]) * (after.angular[i] - before.angular[i]);
	}
	printf("  %.3f J, at most %.3f; angular momentum changed by %.2e\n", start, most, sqrt(change / size));
	FEM_CHECK(most < 1.02 * start);
	FEM_CHECK(sqrt(change / size) < 1e-3);
	FEM_CHECK(fem_world_validate(rig.world) == FEM_OK);
	fem_rig_destroy(&rig);
}

// A ratio without a direction means the longest axis; one of 1 changes nothing, whatever the direction; materials that
// get fibres during play do.
FEM_TEST(fibres, can_be_set_and_run_along_the_longest_axis) {
	static const int32_t cells[3] = {10, 1, 2};
	FemRigDef def = plank_def(cells, (FemVec3){1.0f, 0.02f, 0.1f}, FEM_CELLS_FIVE, (FemVec3){0.0f, 0.0f, 0.0f});
	def.plate_correction = 1.0f;
	def.quality_clamp = 0.0f;
	double by_shape = deflection_of(&def, 0.01f);
	def.material.grain_direction = (FemVec3){1.0f, 0.0f, 0.0f};
	FEM_CHECK_NEAR(deflection_of(&def, 0.01f), by_shape, 1e-6);
	def.material.grain_stiffness_ratio = 1.0f;
	double plain = deflection_of(&def, 0.01f);
	def.material.grain_direction = (FemVec3){0.0f, 0.0f, 0.0f};
	FEM_CHECK_NEAR(deflection_of(&def, 0.01f), plain, 0.0);
	FemRig rig = fem_rig_create(&def);
	FemMaterialDef material = def.material;
	material.grain_direction = (FemVec3){0.0f, 0.0f, 1.0f};
	material.grain_stiffness_ratio = 1000.0f; // clamped to 100
	FEM_CHECK_INT(fem_material_set(rig.material, &material), FEM_OK);
	FEM_CHECK_INT(fem_material_get(rig.material, &material), FEM_OK);
	FEM_CHECK_NEAR(material.grain_stiffness_ratio, 100.0f, 0.0f);
	FEM_CHECK(fem_world_validate(rig.world) == FEM_OK);
	material.grain_stiffness_ratio = NAN;
	FEM_CHECK_INT(fem_material_set(rig.material, &material), FEM_ERROR_INVALID_ARGUMENT);
	fem_rig_destroy(&rig);
}
