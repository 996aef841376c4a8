// Bodies that move by their modes (suite `modal`): against the linear solution and formulas, what they keep, how they
// touch. How they are handled: test_modal_handling.c.
#include "contact_rig.h"
#include "fem_modes.h"
#include "fem_test.h"
#include "modal_rig.h"
#include "scenes/rig.h"
#include "theory_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)

static void step(FemWorldId world, float dt) {
	fem_world_step(world, dt, 1);
}

// ---- the linear solution

#define LINEAR_MAX 72 // unknowns of the test below

typedef struct Linear {
	int32_t n;
	double k[LINEAR_MAX][LINEAR_MAX], mass[LINEAR_MAX], force[LINEAR_MAX];
	double a1, a2; // Rayleigh's
	double u[LINEAR_MAX], v[LINEAR_MAX];
} Linear;

// K of the rest shape by the formula of a tet, V (lambda g_i g_j^T + mu g_j g_i^T + mu g_i.g_j 1).
static void add_tet(Linear *l, const FemBoxMesh *box, int32_t tet, double e, double nu, double density, int32_t held) {
	const int32_t *t = box->tets + 4 * tet;
	double d[3][3], g[4][3], lambda = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu = e / (2.0 * (1.0 + nu));
	for (int v = 0; v < 3; v++) {
		FemVec3 a = box->positions[t[v + 1]], b = box->positions[t[0]];
		d[v][0] = (double)a.x - (double)b.x, d[v][1] = (double)a.y - (double)b.y, d[v][2] = (double)a.z - (double)b.z;
	}
	double det = 0.0;
	for (int v = 0; v < 3; v++) {
		const double *p = d[(v + 1) % 3], *q = d[(v + 2) % 3];
		for (int k = 0; k < 3; k++)
			g[v + 1][k] = p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3];
	}
	for (int k = 0; k < 3; k++)
		det += d[0][k] * g[1][k];
	for (int k = 0; k < 3; k++) {
		for (int v = 1; v < 4; v++)
			g[v][k] /= det;
		g[0][k] = -(g[1][k] + g[2][k] + g[3][k]);
	}
	double volume = fabs(det) / 6.0;
	for (int i = 0; i < 4; i++) {
		int32_t a = 3 * (t[i] - held);
		for (int k = 0; k < 3 && a >= 0; k++)
			l->mass[a + k] += density * volume / 4.0;
		for (int j = 0; j < 4; j++) {
			int32_t b = 3 * (t[j] - held);
			double dot = g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2];
			for (int k = 0; k < 9 && a >= 0 && b >= 0; k++)
				l->k[a + k / 3][b + k % 3] += volume *
					(lambda * g[i][k / 3] * g[j][k % 3] + mu * g[j][k / 3] * g[i][k % 3] +
						(k % 4 == 0 ? mu * dot : 0.0));
		}
	}
}

static void acceleration(const Linear *l, const double *u, const double *v, double *out) {
	for (int32_t i = 0; i < l->n; i++) {
		double sum = l->force[i];
		for (int32_t j = 0; j < l->n; j++)
			sum -= l->k[i][j] * (u[j] + l->a1 * v[j]);
		out[i] = sum / l->mass[i] - l->a2 * v[i];
	}
}

// Runge and Kutta's fourth order, in parts.
static void integrate(Linear *l, double time, int32_t parts) {
	double h = time / parts, ku[4][LINEAR_MAX], kv[4][LINEAR_MAX], u[LINEAR_MAX], v[LINEAR_MAX];
	static const double at[4] = {0.0, 0.5, 0.5, 1.0};
	for (int32_t p = 0; p < parts; p++) {
		for (int s = 0; s < 4; s++) {
			for (int32_t i = 0; i < l->n; i++) {
				u[i] = l->u[i] + (s > 0 ? at[s] * h * ku[s - 1][i] : 0.0);
				v[i] = l->v[i] + (s > 0 ? at[s] * h * kv[s - 1][i] : 0.0);
			}
			memcpy(ku[s], v, sizeof v);
			acceleration(l, u, v, kv[s]);
		}
		for (int32_t i = 0; i < l->n; i++) {
			l->u[i] += h / 6.0 * (ku[0][i] + 2.0 * ku[1][i] + 2.0 * ku[2][i] + ku[3][i]);
			l->v[i] += h / 6.0 * (kv[0][i] + 2.0 * kv[1][i] + 2.0 * kv[2][i] + kv[3][i]);
		}
	}
}

// Fails when a mode is missing, propagators are wrong at any ratio of frequency to step, or damping and forces are not
// what K and M say.
FEM_TEST(modal, full_basis_is_the_linear_solution) {
	FemRigDef def = fem_rig_bar_def(3, 1, 1, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){0.6f, 0.2f, 0.2f};
	def.material.young_modulus = 2e5f;
	def.material.stiffness_damping = 2e-3f;
	def.material.mass_damping = 0.5f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.body.dynamics = FEM_DYNAMICS_MODAL;
	FemRig rig = fem_rig_create(&def);
	int32_t held = 4, free_nodes = rig.box.node_count - held;
	static Linear l;
	l = (Linear){.n = 3 * free_nodes, .a1 = 2e-3, .a2 = 0.5};
	FEM_REQUIRE(l.n <= LINEAR_MAX);
	for (int32_t t = 0; t < rig.box.tet_count; t++)
		add_tet(&l, &rig.box, t, 2e5, 0.3, 1000.0, held);
	FemModes modes = fem_give_modes(rig.body, 256);
	FEM_CHECK_INT(modes.mode_count, l.n);
	fem_modes_free(&modes);
	double worst = 0.0, largest = 0.0;
	for (int32_t s = 0; s < 60; s++) {
		FemVec3 force = {s < 20 ? 3.0f : -1.0f, s % 7 < 3 ? 2.0f : 0.0f, 1.0f};
		int32_t node = rig.box.node_count - 1;
		FEM_CHECK_INT(fem_body_apply_force(rig.body, node, force), FEM_OK);
		for (int32_t i = 0; i < l.n; i++)
			l.force[i] = i % 3 == 1 ? -9.81 * l.mass[i] : 0.0;
		l.force[l.n - 3] += (double)force.x, l.force[l.n - 2] += (double)force.y, l.force[l.n - 1] += (double)force.z;
		step(rig.world, DT);
		integrate(&l, (double)DT, 60);
		fem_rig_read(&rig);
		for (int32_t i = 0; i < l.n; i++) {
			FemVec3 u = fem_rig_displacement(&rig, held + i / 3);
			double got = (double)(i % 3 == 0 ? u.x : i % 3 == 1 ? u.y : u.z);
			worst = fmax(worst, fabs(got - l.u[i]));
			largest = fmax(largest, fabs(l.u[i]));
		}
	}
	FEM_CHECK(fem_modal_state(rig.body).is_moving);
	FEM_CHECK(largest > 0.01);
	FEM_CHECK(worst < 1e-5 * largest);
	if (!(worst < 1e-5 * largest))
		printf("    %g of %g\n", worst, largest);
	fem_rig_destroy(&rig);
}

// ---- decay

// z(t) with z(0) = 0, z'(0) = 1.
static double expected_amplitude(double lambda, double b, double t) {
	double d = 0.25 * b * b - lambda;
	if (fabs(d) < 1e-9 * lambda)
		return t * exp(-0.5 * b * t);
	return d < 0.0 ? exp(-0.5 * b * t) * sin(sqrt(-d) * t) / sqrt(-d)
				   : 0.5 * (exp((sqrt(d) - 0.5 * b) * t) - exp((-sqrt(d) - 0.5 * b) * t)) / sqrt(d);
}

static void check_decay(float a1, float a2, const char *what) {
	FemRigDef def = fem_wobbly_bar();
	def.material.stiffness_damping = a1;
	def.material.mass_damping = a2;
	FemRig rig = fem_rig_create(&def);
	FemModes modes = fem_give_modes(rig.body, 6);
	FEM_REQUIRE(modes.mode_count == 6);
	double before[6], z[6], v[6];
	step(rig.world, DT);
	// A blow on one node moves all modes; what each gets is read, not computed.
	FEM_CHECK_INT(fem_body_apply_impulse(rig.body, rig.box.node_count - 1, (FemVec3){0.02f, 0.05f, 0.03f}), FEM_OK);
	step(rig.world, 1e-6f);
	FEM_CHECK_INT(fem_body_get_amplitudes(rig.body, NULL, before, 6), 6);
	double t = 0.0;
	for (int s = 0; s < 30; s++) {
		step(rig.world, DT);
		t += (double)DT;
		FEM_CHECK_INT(fem_body_get_amplitudes(rig.body, z, v, 6), 6);
		for (int k = 0; k < 6; k++) {
			double lambda = modes.eigenvalues[k], b = (double)a1 * lambda + (double)a2;
			double expected = before[k] * expected_amplitude(lambda, b, t + 1e-6);
			double scale = fabs(before[k]) * exp(-0.5 * fmin(b, 2.0 * sqrt(lambda)) * t) / sqrt(lambda);
			if (!FEM_CHECK(fabs(z[k] - expected) < 0.01 * scale + 1e-7))
				printf("    %s: mode %d after %g s: %g, not %g\n", what, k, t, z[k], expected);
		}
	}
	fem_modes_free(&modes);
	fem_rig_destroy(&rig);
}

// Fails when a propagator of any of the three cases is wrong, or damping is not alpha_K lambda + alpha_M.
FEM_TEST(modal, decays_by_formula_however_damped) {
	FemRigDef def = fem_wobbly_bar();
	FemRig rig = fem_rig_create(&def);
	FemModes modes = fem_test_modes_of(rig.body, 1);
	double critical = 2.0 * sqrt(modes.eigenvalues[0]);
	fem_modes_free(&modes);
	fem_rig_destroy(&rig);
	check_decay(0.0f, 0.0f, "undamped");
	check_decay(1e-3f, 0.0f, "underdamped");
	check_decay(0.0f, (float)critical, "critical");
	check_decay(0.2f, 1.0f, "overdamped");
}

// ---- free motion

// Fails when modes carry momentum, spin is not that of the shape as it is, or turning feeds or drains modes.
FEM_TEST(modal, tumbling_keeps_momenta_and_makes_no_energy) {
	FemRigDef def = fem_wobbly_bar();
	def.material.stiffness_damping = 0.0f;
	def.body.angular_velocity = (FemVec3){1.0f, 2.0f, 5.0f};
	def.body.linear_velocity = (FemVec3){0.3f, 0.0f, -0.2f};
	FemRig rig = fem_rig_create(&def);
	fem_make_modal(rig.body, 12);
	step(rig.world, DT);
	FEM_CHECK_INT(fem_body_apply_impulse(rig.body, 0, (FemVec3){0.0f, 9.0f, 3.0f}), FEM_OK);
	step(rig.world, DT);
	FEM_REQUIRE(fem_modal_state(rig.body).is_moving);
	FemBodyState before = fem_state_of(rig.body), after;
	double start = fem_modal_energy(rig.body), most = 0.0, least = INFINITY, wobble = 0.0;
	for (int s = 0; s < 600; s++) {
		step(rig.world, DT);
		double energy = fem_modal_energy(rig.body);
		most = fmax(most, energy);
		least = fmin(least, energy);
		wobble = fmax(wobble, fem_modal_state(rig.body).elastic_energy);
	}
	after = fem_state_of(rig.body);
	FEM_CHECK(wobble > 0.02 * start); // modes do move
	FEM_CHECK(
		fem_distance3(before.linear_momentum, after.linear_momentum) < 1e-5 * fem_length3(before.linear_momentum));
	FEM_CHECK(
		fem_distance3(before.angular_momentum, after.angular_momentum) < 1e-4 * fem_length3(before.angular_momentum));
	if (!FEM_CHECK(most < 1.02 * start) || !FEM_CHECK(least > 0.9 * start))
		printf("    %g J: %g to %g, wobble %g\n", start, least, most, wobble);
	fem_rig_destroy(&rig);
}

// Fails when the frame a body is taken into is not its own, for any rotation it was made with.
FEM_TEST(modal, is_taken_up_where_it_stands_in_any_pose) {
	const FemQuat poses[4] = {
		{0.0f, 0.0f, 0.0f, 1.0f}, {0.0f, 1.0f, 0.0f, 0.0f}, {0.5f, 0.5f, 0.5f, 0.5f}, {0.6f, 0.0f, 0.8f, 0.0f}};
	for (int p = 0; p < 4; p++) {
		FemRigDef def = fem_wobbly_bar();
		def.body.rotation = poses[p];
		def.body.position = (FemPosition){3.0, 20.0, -7.0};
		FemRig rig = fem_rig_create(&def);
		fem_rig_read(&rig);
		FemVec3 first = rig.offsets[0], last = rig.offsets[rig.box.node_count - 1];
		fem_make_modal(rig.body, 8);
		step(rig.world, DT);
		FEM_CHECK(fem_modal_state(rig.body).is_moving);
		fem_rig_read(&rig);
		FEM_CHECK(fem_distance3(first, rig.offsets[0]) < 1e-5 &&
			fem_distance3(last, rig.offsets[rig.box.node_count - 1]) < 1e-5);
		FEM_CHECK(fem_modal_state(rig.body).elastic_energy < 1e-6);
		FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
		fem_rig_destroy(&rig);
	}
}

// ---- contact

static double whole_energy(FemBodyId body) {
	FemBodyState state = fem_state_of(body);
	return fem_modal_energy(body) + state.mass * 9.81 * state.center.y;
}

// Fails when a contact that pushes at modes gives them more than it takes, on the ground and on a collider, at any
// stiffness and rate; or when what rests goes on ringing.
FEM_TEST(modal, falls_and_rests_without_gaining_energy) {
	const float youngs[3] = {3e4f, 1e6f, 1e8f}, rates[2] = {30.0f, 120.0f};
	for (int c = 0; c < 12; c++) {
		bool on_ground = c % 2 == 0;
		float young = youngs[c / 2 % 3], dt = 1.0f / rates[c / 6];
		FemWorldDef def = fem_default_world_def();
		def.ground_enabled = on_ground;
		FemWorldId world = fem_world_create(&def);
		if (!on_ground)
			fem_add_plane(world, FEM_SHAPE_BOX, (FemQuat){0.0f, 0.0f, 0.0f, 1.0f}, 0.5f);
		FemBodyId body = fem_add_wobbly(
			world, (FemPosition){0.0, 0.5, 0.0}, (FemVec3){1.0f, 0.0f, 0.0f}, (FemVec3){0.5f, 1.0f, 2.0f}, young);
		double start = whole_energy(body), last = start, gained = 0.0;
		for (int s = 0; s < (int)(10.0f / dt) && !fem_body_is_asleep(body); s++) {
			step(world, dt);
			double energy = whole_energy(body);
			gained = fmax(gained, energy - last);
			last = energy;
		}
		bool ok = FEM_CHECK(gained < 0.02 * start); // the same body as a rigid one: 0.015, when it lands at 30 Hz
		ok = FEM_CHECK(last < start) && ok;
		ok = FEM_CHECK(fem_low(body) > -0.02) && ok;
		ok = FEM_CHECK(fem_body_is_asleep(body)) && ok;
		if (!ok)
			printf("    E %g, %g Hz, %s: start %g, gained %g, end %g, low %g, fastest %g\n", (double)young,
				(double)(1.0f / dt), on_ground ? "ground" : "collider", start, gained, last, fem_low(body),
				fem_peak_speed(&body, 1));
		FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
		fem_world_destroy(world);
	}
}

// Fails when what modes take of a contact's impulse is missing elsewhere.
FEM_TEST(modal, collisions_keep_momentum_and_make_no_energy) {
	for (int other = 0; other < 3; other++) { // modal against modal, elastic, rigid
		FemWorldDef def = fem_contact_world_def();
		def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
		FemWorldId world = fem_world_create(&def);
		FemBodyId bodies[2];
		bodies[0] = fem_add_wobbly(
			world, (FemPosition){0.0, 0.0, 0.0}, (FemVec3){2.0f, 0.0f, 0.0f}, (FemVec3){0.0f, 0.0f, 1.0f}, 2e5f);
		bodies[1] = fem_add_wobbly(
			world, (FemPosition){0.7, 0.1, 0.05}, (FemVec3){-1.0f, 0.1f, 0.0f}, (FemVec3){1.0f, 0.0f, 0.0f}, 2e5f);
		if (other > 0)
			FEM_CHECK_INT(
				fem_body_set_dynamics(bodies[1], other == 1 ? FEM_DYNAMICS_ELEMENTS : FEM_DYNAMICS_RIGID), FEM_OK);
		FemBodyState a = fem_state_of(bodies[0]), b = fem_state_of(bodies[1]);
		FemVec3 before = {a.linear_momentum.x + b.linear_momentum.x, a.linear_momentum.y + b.linear_momentum.y,
			a.linear_momentum.z + b.linear_momentum.z};
		double start = a.kinetic_energy + b.kinetic_energy, most = 0.0, wobble = 0.0;
		for (int s = 0; s < 120; s++) {
			step(world, DT);
			a = fem_state_of(bodies[0]), b = fem_state_of(bodies[1]);
			double elastic = fem_modal_state(bodies[0]).elastic_energy +
				(other == 0          ? fem_modal_state(bodies[1]).elastic_energy
						: other == 1 ? b.elastic_energy
									 : 0.0);
			most = fmax(most, a.kinetic_energy + b.kinetic_energy + elastic);
			wobble = fmax(wobble, elastic);
		}
		FemVec3 after = {a.linear_momentum.x + b.linear_momentum.x, a.linear_momentum.y + b.linear_momentum.y,
			a.linear_momentum.z + b.linear_momentum.z};
		bool ok = FEM_CHECK(fem_distance3(before, after) < 1e-5 * fem_length3(a.linear_momentum));
		ok = FEM_CHECK(a.linear_velocity.x < 1.5f) && ok; // they met
		ok = FEM_CHECK(wobble > 1e-3 * start) && ok;
		ok = FEM_CHECK(most < 1.001 * start) && ok;
		if (!ok)
			printf("    other %d: start %g, most %g, wobble %g, momentum off %g, v %g\n", other, start, most, wobble,
				fem_distance3(before, after), (double)a.linear_velocity.x);
		fem_world_destroy(world);
	}
}
