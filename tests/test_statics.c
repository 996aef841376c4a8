// Equilibria against theory. Linear tets lock in bending, so bending and torsion are compared with what the mesh itself
// must give (docs/method.md, "Standard measurements"), and with theory by refining.
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

#define STILL 1e-8f     // m/s
#define STATIC_DT 0.25f // s: backward Euler damps all modes of these bodies within some tens of steps

// ---- patch test

static void pull_both_ends(FemRig *rig, void *context) {
	float force = *(const float *)context;
	fem_rig_load_face(rig, false, (FemVec3){-force, 0.0f, 0.0f});
	fem_rig_load_face(rig, true, (FemVec3){force, 0.0f, 0.0f});
}

static void check_patch(int32_t nx, int32_t ny, int32_t nz, FemCellKind kind, float jitter) {
	FemRigDef def = fem_rig_bar_def(nx, ny, nz, kind, 0.3f);
	def.clamped = false;
	def.jitter = jitter;
	// Loads that keep their direction turn a free body back explicitly: small steps, and damping of its rigid motion.
	def.material.stiffness_damping = 0.01f;
	def.material.mass_damping = 20.0f;
	FemRig rig = fem_rig_create(&def);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	float force = 1e4f * 0.1f * 0.1f; // 1e4 Pa
	fem_rig_settle(&rig, 1.0f / 60.0f, STILL, 200, pull_both_ends, &force);
	double worst_strain = 0.0, worst_place = 0.0;
	for (int32_t t = 0; t < rig.box.tet_count; t++) {
		static const double expected[6] = {0.01, -0.003, -0.003, 0.0, 0.0, 0.0};
		FemTetState state;
		fem_body_get_tet_state(rig.body, t, &state);
		for (int i = 0; i < 6; i++)
			worst_strain = fmax(worst_strain, fabs((double)state.strain[i] - expected[i]));
		FEM_CHECK_NEAR(state.stress[0], 1e4, 10.0);
	}
	// Free in space, the body stays about its centre.
	for (int32_t i = 0; i < rig.box.node_count; i++) {
		FemVec3 p = rig.box.positions[i], u = fem_rig_displacement(&rig, i);
		worst_place = fmax(worst_place, fabs((double)u.x - 0.01 * ((double)p.x - 0.5)));
		worst_place = fmax(worst_place, fabs((double)u.y + 0.003 * ((double)p.y - 0.05)));
		worst_place = fmax(worst_place, fabs((double)u.z + 0.003 * ((double)p.z - 0.05)));
	}
	FEM_CHECK_NEAR(worst_strain, 0.0, 1e-5);
	FEM_CHECK_NEAR(worst_place, 0.0, 1e-5);
	fem_rig_destroy(&rig);
}

// Fails when an element's volume or gradient is wrong, or the sliver clamp softens ordinary tets.
FEM_TEST(statics, patch_test) {
	check_patch(10, 1, 1, FEM_CELLS_FIVE, 0.0f);
	check_patch(10, 3, 3, FEM_CELLS_KUHN, 0.0f);
	check_patch(20, 4, 4, FEM_CELLS_FIVE, 0.005f);
	check_patch(20, 4, 4, FEM_CELLS_KUHN, 0.003f); // more would make slivers, which the mesh softens on purpose
}

// ---- bending, twist

static void load_tip(FemRig *rig, void *context) {
	fem_rig_load_face(rig, true, (FemVec3){0.0f, -*(const float *)context, 0.0f});
}

static double tip_deflection(int32_t nx, int32_t n, FemCellKind kind, float poisson_ratio) {
	FemRigDef def = fem_rig_bar_def(nx, n, n, kind, poisson_ratio);
	FemRig rig = fem_rig_create(&def);
	float load = 0.25f; // N
	fem_rig_settle(&rig, STATIC_DT, STILL, 200, load_tip, &load);
	double deflection = -fem_rig_tip_mean_y(&rig);
	fem_rig_destroy(&rig);
	return deflection;
}

// How far plain tets bend at nu 0.45, of what they do at 0.3: cells of five tets hardly less, Kuhn's of six half in one
// layer. Fails when lambda is taken for that of plane strain, or counts twice.
FEM_TEST(statics, plain_tets_lock_by_so_much_at_nu_045) {
	static const struct {
		int32_t nx, n;
		FemCellKind kind;
		double least; // of the deflection at nu 0.3
	} rows[] = {{10, 1, FEM_CELLS_KUHN, 0.49}, {20, 2, FEM_CELLS_KUHN, 0.58}, {40, 4, FEM_CELLS_KUHN, 0.75},
		{10, 1, FEM_CELLS_FIVE, 0.91}, {20, 2, FEM_CELLS_FIVE, 0.93}, {40, 4, FEM_CELLS_FIVE, 0.96}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double at[3];
		for (int k = 0; k < 3; k++)
			at[k] = tip_deflection(rows[i].nx, rows[i].n, rows[i].kind, k == 0 ? 0.0f : k == 1 ? 0.3f : 0.45f);
		printf("  %s %d x %d x %d: nu 0, 0.3, 0.45: %.4f %.4f %.4f of 10.06 mm, %.3f\n",
			rows[i].kind == FEM_CELLS_KUHN ? "Kuhn" : "five", rows[i].nx, rows[i].n, rows[i].n, at[0] / 10.06e-3,
			at[1] / 10.08e-3, at[2] / 10.09e-3, at[2] / at[1]);
		FEM_CHECK(at[2] > rows[i].least * at[1]);
	}
}

// Bars of cubes of six tets and of five, as plate cells: towards y, of what they bend at nu 0.3. Fails when cells take
// the moduli of plane strain.
FEM_TEST(statics, cells_do_not_lock_at_nu_045) {
	for (int i = 0; i < 6; i++) {
		double at[2];
		for (int k = 0; k < 2; k++) {
			int32_t n = 1 << i % 3;
			FemRigDef def =
				fem_rig_bar_def(10 * n, n, n, i < 3 ? FEM_CELLS_KUHN : FEM_CELLS_FIVE, k == 0 ? 0.3f : 0.45f);
			def.plate_correction = 1.0f;
			FemRig rig = fem_rig_create(&def);
			float load = 0.25f; // N
			fem_rig_settle(&rig, STATIC_DT, STILL, 200, load_tip, &load);
			at[k] = -fem_rig_tip_mean_y(&rig);
			fem_rig_destroy(&rig);
		}
		printf("  %s, %d cells across: %.3f\n", i < 3 ? "Kuhn" : "five", 1 << i % 3, at[1] / at[0]);
		FEM_CHECK(at[1] > 0.93 * at[0]);
	}
}

// Timoshenko: P L^3 / 3 E I + P L / (5/6 G A).
#define DEFLECTION_NU0 10.06e-3
#define DEFLECTION_NU3 10.08e-3

// Fails when the stiffness has a wrong modulus, mass is added to the static balance, or a solve stops far too early.
FEM_TEST(statics, cantilever_bends_as_its_mesh_must) {
	static const struct {
		int32_t nx, n;
		FemCellKind kind;
		double nu0, nu3; // share of theory
	} rows[] = {
		{10, 1, FEM_CELLS_KUHN, 0.244, 0.219},
		{20, 2, FEM_CELLS_KUHN, 0.550, 0.504},
		{40, 4, FEM_CELLS_KUHN, 0.824, 0.787},
		{20, 2, FEM_CELLS_FIVE, 0.642, 0.674},
		{40, 4, FEM_CELLS_FIVE, 0.877, 0.886},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double nu0 = tip_deflection(rows[i].nx, rows[i].n, rows[i].kind, 0.0f) / DEFLECTION_NU0;
		double nu3 = tip_deflection(rows[i].nx, rows[i].n, rows[i].kind, 0.3f) / DEFLECTION_NU3;
		FEM_CHECK_NEAR(nu0 / rows[i].nu0, 1.0, 0.02);
		FEM_CHECK_NEAR(nu3 / rows[i].nu3, 1.0, 0.02);
	}
}

// The error falls at least by half per refinement. Fails when locking is hidden by a wrong stiffness.
FEM_TEST(statics, cantilever_converges_to_theory) {
	double errors[3];
	for (int i = 0; i < 3; i++)
		errors[i] = 1.0 - tip_deflection(10 << i, 1 << i, FEM_CELLS_KUHN, 0.0f) / DEFLECTION_NU0;
	FEM_CHECK(errors[2] > 0.0 && errors[2] < 0.2);
	FEM_CHECK(errors[1] < 0.7 * errors[0]);
	FEM_CHECK(errors[2] < 0.5 * errors[1]);
}

#define TORQUE 2e-3f // N m

// Forces across the radius on the far face, scaled to the given torque about the bar's axis.
static void twist_tip(FemRig *rig, void *context) {
	(void)context;
	int32_t begin = fem_rig_tip_begin(rig);
	double second = 0.0;
	for (int32_t i = begin; i < rig->box.node_count; i++) {
		double y = (double)rig->box.positions[i].y - 0.05, z = (double)rig->box.positions[i].z - 0.05;
		second += y * y + z * z;
	}
	for (int32_t i = begin; i < rig->box.node_count; i++) {
		double y = (double)rig->box.positions[i].y - 0.05, z = (double)rig->box.positions[i].z - 0.05;
		double scale = (double)TORQUE / second;
		fem_body_apply_force(rig->body, i, (FemVec3){0.0f, (float)(-scale * z), (float)(scale * y)});
	}
}

// rad: the turn of the far face's nodes by least squares.
static double twist_angle(int32_t nx, int32_t n, FemCellKind kind) {
	FemRigDef def = fem_rig_bar_def(nx, n, n, kind, 0.3f);
	FemRig rig = fem_rig_create(&def);
	fem_rig_settle(&rig, STATIC_DT, STILL, 200, twist_tip, NULL);
	double moment = 0.0, second = 0.0;
	for (int32_t i = fem_rig_tip_begin(&rig); i < rig.box.node_count; i++) {
		double y = (double)rig.box.positions[i].y - 0.05, z = (double)rig.box.positions[i].z - 0.05;
		FemVec3 u = fem_rig_displacement(&rig, i);
		moment += y * (double)u.z - z * (double)u.y;
		second += y * y + z * z;
	}
	fem_rig_destroy(&rig);
	return moment / second;
}

// theta = T L / (0.1406 a^4 G), G = E / 2.6. Fails when shear and bulk moduli are mixed up.
FEM_TEST(statics, torsion_twists_as_its_mesh_must) {
	static const struct {
		int32_t nx, n;
		FemCellKind kind;
		double share;
	} rows[] = {
		{10, 1, FEM_CELLS_KUHN, 0.177},
		{20, 2, FEM_CELLS_KUHN, 0.430},
		{40, 4, FEM_CELLS_KUHN, 0.731},
		{20, 2, FEM_CELLS_FIVE, 0.483},
		{40, 4, FEM_CELLS_FIVE, 0.767},
	};
	double exact = (double)TORQUE / (0.1406 * 1e-4 * 1e6 / 2.6);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double share = twist_angle(rows[i].nx, rows[i].n, rows[i].kind) / exact;
		FEM_CHECK_NEAR(share / rows[i].share, 1.0, 0.02);
	}
}
