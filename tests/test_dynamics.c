// Motion in time: falling, swinging, spinning, damping, driving.
#include "fem_test.h"
#include "scenes/rig.h"

#include <stdlib.h>

#define DT (1.0f / 60.0f)

static FemBodyState state_of(const FemRig *rig) {
	FemBodyState state = {0};
	fem_body_get_state(rig->body, &state);
	return state;
}

static double length(FemVec3 v) {
	return sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
}

static double distance(FemVec3 a, FemVec3 b) {
	return length((FemVec3){a.x - b.x, a.y - b.y, a.z - b.z});
}

// ---- free fall

static void check_free_fall(FemPosition place, float young_modulus) {
	FemRigDef def = fem_rig_cube_def(3, 0.3f);
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.material.young_modulus = young_modulus;
	def.body.position = place;
	FemRig rig = fem_rig_create(&def);
	FEM_REQUIRE(fem_body_is_valid(rig.body));
	double start = state_of(&rig).center.y, worst = 0.0;
	for (int n = 0; n < 60; n++) {
		fem_world_step(rig.world, DT, 1);
		worst = fmax(worst, (double)state_of(&rig).max_strain);
	}
	FEM_CHECK_NEAR(start - state_of(&rig).center.y, 4.98675, 1e-5); // g h^2 n (n + 1) / 2
	FEM_CHECK_NEAR(worst, 0.0, 1e-5);
	fem_rig_destroy(&rig);
}

// Fails when positions move with the old velocity, or gravity acts on some nodes only.
FEM_TEST(dynamics, free_fall) {
	check_free_fall((FemPosition){0}, 1e6f);
	check_free_fall((FemPosition){0}, 7e10f);
}

// Fails when positions are floats from the world's origin: at 10 km those are 1 mm apart.
FEM_TEST(dynamics, free_fall_10_km_away) {
	check_free_fall((FemPosition){10000.0, 500.0, -10000.0}, 1e6f);
}

// ---- vibration

static void load_tip(FemRig *rig, void *context) {
	FemVec3 down = {0.0f, -0.25f, 0.0f};
	fem_rig_load_face(rig, true, context ? *(const FemVec3 *)context : down);
}

// Hz, from the times at which the released bar's tip passes its rest.
static double bending_frequency(int32_t nx, int32_t n, FemCellKind kind, FemVec3 load) {
	FemRigDef def = fem_rig_bar_def(nx, n, n, kind, 0.3f);
	FemRig rig = fem_rig_create(&def);
	fem_rig_settle(&rig, 0.25f, 1e-7f, 200, load_tip, &load);
	float dt = 1.0f / 200.0f;
	double before = fem_rig_tip_mean_y(&rig), first = 0.0, last = 0.0;
	int crossings = 0;
	for (int step = 1; step < 1000 && crossings < 4; step++) {
		fem_world_step(rig.world, dt, 1);
		fem_rig_read(&rig);
		double now = fem_rig_tip_mean_y(&rig);
		if ((now > 0.0) != (before > 0.0)) {
			last = (double)dt * (step - 1 + before / (before - now));
			first = crossings++ == 1 ? last : first; // the first one still holds higher modes
		}
		before = now;
	}
	fem_rig_destroy(&rig);
	return 1.0 / (last - first); // crossings 2 to 4: one period
}

// f1 = 0.5108 Hz x the table. Fails when masses are wrong or added damping slows the swing.
FEM_TEST(dynamics, bending_frequency) {
	static const struct {
		int32_t nx, n;
		FemCellKind kind;
		double share;
	} rows[] = {
		{10, 1, FEM_CELLS_KUHN, 1.864},
		{20, 2, FEM_CELLS_KUHN, 1.290},
		{20, 2, FEM_CELLS_FIVE, 1.210},
		{40, 4, FEM_CELLS_FIVE, 1.056},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		// Kuhn cells are stiffer along one diagonal of the section than along the other: each is a mode of its own.
		double one = bending_frequency(rows[i].nx, rows[i].n, rows[i].kind, (FemVec3){0.0f, -0.18f, -0.18f});
		double other = bending_frequency(rows[i].nx, rows[i].n, rows[i].kind, (FemVec3){0.0f, -0.18f, 0.18f});
		FEM_CHECK_NEAR(fmin(one, other) / 0.5108 / rows[i].share, 1.0, 0.02);
	}
}

// Peak tip deflections of the released bar, one per half swing: the ratio of two that are a period apart.
static double decay_per_period(float stiffness_damping, float mass_damping, double *out_period) {
	FemRigDef def = fem_rig_bar_def(20, 2, 2, FEM_CELLS_FIVE, 0.3f);
	FemRig rig = fem_rig_create(&def);
	fem_rig_settle(&rig, 0.25f, 1e-7f, 200, load_tip, NULL);
	def.material.stiffness_damping = stiffness_damping;
	def.material.mass_damping = mass_damping;
	fem_material_set(rig.material, &def.material);
	double peaks[6] = {0}, before = fem_rig_tip_mean_y(&rig), crossing[6] = {0};
	int half = 0;
	for (int step = 1; step < 2000 && half < 6; step++) {
		fem_world_step(rig.world, DT, 1);
		fem_rig_read(&rig);
		double now = fem_rig_tip_mean_y(&rig);
		if ((now > 0.0) != (before > 0.0))
			crossing[half++] = (double)DT * (step - 1 + before / (before - now));
		if (half < 6)
			peaks[half] = fmax(peaks[half], fabs(now));
		before = now;
	}
	*out_period = crossing[5] - crossing[3];
	fem_rig_destroy(&rig);
	return peaks[5] / peaks[3];
}

// Backward Euler shrinks a mode by 1 / sqrt(1 + w^2 dt^2 + w dt alpha_K w) a step and no more; Rayleigh damping adds
// (alpha_M + w^2 alpha_K) / 2. Fails when damping is applied twice, not at all, or without dt.
FEM_TEST(dynamics, modes_decay_as_the_scheme_says) {
	static const float damping[3][2] = {{0.0f, 0.0f}, {0.02f, 0.0f}, {0.0f, 0.5f}};
	for (int i = 0; i < 3; i++) {
		double period, ratio = decay_per_period(damping[i][0], damping[i][1], &period);
		double w = 2.0 * acos(-1.0) / period, dt = (double)DT; // of the damped swing: w dt is small
		double steps = period / dt, k = (double)damping[i][0], m = (double)damping[i][1];
		// x' = x + dt v', v' (1 + dt m + dt w^2 (dt + k)) = v - dt w^2 x: the product of the roots is the shrinking
		// squared.
		double expected = pow(1.0 / (1.0 + dt * m + dt * w * w * (dt + k)), 0.5 * steps);
		FEM_CHECK_NEAR(ratio / expected, 1.0, 0.02);
	}
}

// ---- momentum

static FemRig thrown_cube(FemPosition place, float young_modulus, float max_plastic_strain) {
	FemRigDef def = fem_rig_cube_def(4, 0.4f);
	def.material.young_modulus = young_modulus;
	def.material.yield_strain = 0.02f;
	def.material.max_plastic_strain = max_plastic_strain;
	def.body.position = place;
	def.body.linear_velocity = (FemVec3){1.0f, 2.0f, -0.5f};
	def.body.angular_velocity = (FemVec3){1.0f, -2.0f, 0.5f};
	FemRig rig = fem_rig_create(&def);
	uint32_t seed = 3;
	for (int32_t i = 0; i < rig.box.node_count; i += 7)
		fem_body_apply_impulse(rig.body, i, (FemVec3){fem_random(&seed), fem_random(&seed), fem_random(&seed)});
	return rig;
}

static void check_momenta(FemRig *rig, int steps, double tolerance) {
	FemBodyState start = state_of(rig);
	for (int n = 0; n < steps; n++)
		fem_world_step(rig->world, DT, 1);
	FemBodyState end = state_of(rig);
	FEM_CHECK_NEAR(
		distance(end.linear_momentum, start.linear_momentum) / length(start.linear_momentum), 0.0, tolerance);
	FEM_CHECK_NEAR(
		distance(end.angular_momentum, start.angular_momentum) / length(start.angular_momentum), 0.0, tolerance);
}

// Fails when a solve cut short at its tolerance keeps the rigid motion of its residual (drift 2e-5 to 6e-5 a second).
FEM_TEST(dynamics, free_body_keeps_its_momenta) {
	static const float moduli[] = {1e5f, 1e6f, 1e9f};
	for (int i = 0; i < 3; i++) {
		FemRig rig = thrown_cube((FemPosition){0}, moduli[i], 0.0f);
		check_momenta(&rig, 60, 1e-5);
		fem_rig_destroy(&rig);
	}
	FemRig rig = thrown_cube((FemPosition){10000.0, 10000.0, 10000.0}, 1e6f, 0.0f);
	check_momenta(&rig, 60, 1e-5);
	fem_rig_destroy(&rig);
}

// Fails when plastic strain gives an element a torque of its own (docs/method.md, "Plasticity").
FEM_TEST(dynamics, dented_piece_keeps_its_momenta) {
	FemRig rig = thrown_cube((FemPosition){0}, 1e6f, 0.3f);
	uint32_t seed = 4;
	for (int32_t i = 0; i < rig.box.node_count; i += 5)
		fem_body_apply_impulse(
			rig.body, i, (FemVec3){8.0f * fem_random(&seed), 8.0f * fem_random(&seed), 8.0f * fem_random(&seed)});
	fem_world_step(rig.world, DT, 1);
	fem_world_step(rig.world, DT, 1);
	FEM_CHECK((double)state_of(&rig).max_plastic_strain > 0.05);
	check_momenta(&rig, 600, 1e-3);
	fem_rig_destroy(&rig);
}

static void run_far_away(FemPosition place, FemVec3 *out_offsets, FemBodyState *out_state) {
	FemRig rig = thrown_cube(place, 1e6f, 0.0f);
	for (int n = 0; n < 120; n++)
		fem_world_step(rig.world, DT, 1);
	fem_rig_read(&rig);
	for (int32_t i = 0; i < rig.box.node_count; i++) {
		out_offsets[i] = (FemVec3){(float)(rig.origin.x - place.x) + rig.offsets[i].x,
			(float)(rig.origin.y - place.y) + rig.offsets[i].y, (float)(rig.origin.z - place.z) + rig.offsets[i].z};
	}
	*out_state = state_of(&rig);
	fem_rig_destroy(&rig);
}

// Fails when anything is computed in world coordinates in floats.
FEM_TEST(dynamics, same_10_km_away) {
	FemVec3 near[125], far[125];
	FemBodyState near_state, far_state;
	run_far_away((FemPosition){0}, near, &near_state);
	run_far_away((FemPosition){10000.0, -10000.0, 10000.0}, far, &far_state);
	double worst = 0.0;
	for (int i = 0; i < 125; i++)
		worst = fmax(worst, distance(near[i], far[i]));
	FEM_CHECK_NEAR(worst, 0.0, 1e-5);
	FEM_CHECK_NEAR(far_state.kinetic_energy / near_state.kinetic_energy, 1.0, 1e-4);
}

// ---- spin

// Fails when positions move by x += dt v: the cube grows each step, energy and stress rise.
FEM_TEST(dynamics, stiff_body_spins_freely) {
	FemRigDef def = fem_rig_cube_def(4, 0.4f);
	def.material.young_modulus = 1e9f;
	def.body.angular_velocity = (FemVec3){2.6726124f, 5.3452248f, 8.0178373f}; // 10 rad/s
	FemRig rig = fem_rig_create(&def);
	FemBodyState start = state_of(&rig);
	double energy = 0.0, stress = 0.0, lowest = 1e9;
	for (int n = 0; n < 600; n++) {
		fem_world_step(rig.world, DT, 1);
		FemBodyState now = state_of(&rig);
		energy = fmax(energy, now.kinetic_energy + now.elastic_energy);
		lowest = fmin(lowest, now.kinetic_energy + now.elastic_energy);
		stress = fmax(stress, (double)now.max_stress);
	}
	// A real cube has up to about rho w^2 r^2 / 2 = 6 kPa; breaking stresses begin at 1e5.
	FEM_CHECK(energy <= 1.1 * start.kinetic_energy);
	FEM_CHECK(lowest >= 0.9 * start.kinetic_energy);
	FEM_CHECK_NEAR(stress, 0.0, 2e4);
	FEM_CHECK(
		distance(state_of(&rig).angular_momentum, start.angular_momentum) <= 1e-3 * length(start.angular_momentum));
	fem_rig_destroy(&rig);
}

// A soft cube stretches when it spins: about rho w^2 r^2 / 3 E. Fails when the turning frame swallows the centrifugal
// force.
FEM_TEST(dynamics, soft_body_stretches_when_it_spins) {
	FemRigDef def = fem_rig_cube_def(4, 0.4f);
	def.material.young_modulus = 1e5f;
	def.material.stiffness_damping = 0.02f;
	def.body.angular_velocity = (FemVec3){0.0f, 10.0f, 0.0f};
	FemRig rig = fem_rig_create(&def);
	for (int n = 0; n < 120; n++)
		fem_world_step(rig.world, DT, 1);
	FEM_CHECK_NEAR(state_of(&rig).max_strain, 0.0235, 0.004);
	fem_rig_destroy(&rig);
}
