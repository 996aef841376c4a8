// Bodies that move by their modes (suite `modal`): against the linear solution and formulas, what they keep, how they
// touch, are held, break, and are saved.
#include "contact_rig.h"
#include "fem_modes.h"
#include "fem_test.h"
#include "scenes/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DT (1.0f / 60.0f)

// ---- rig

static FemRigDef wobbly_bar(void) {
	FemRigDef def = fem_rig_bar_def(8, 2, 2, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){1.0f, 0.2f, 0.2f};
	def.clamped = false;
	def.material.young_modulus = 1e6f;
	def.material.stiffness_damping = 2e-4f;
	def.body.dynamics = FEM_DYNAMICS_MODAL;
	return def;
}

static FemModes modes_of(FemBodyId body, int32_t count) {
	FemModes modes = {0};
	FemModesDef def = fem_default_modes_def();
	def.mode_count = count;
	def.frequency_max = 0.0f;
	FemModesJob *job = fem_body_start_modes(body, 1, &def);
	if (FEM_CHECK(job))
		FEM_CHECK_INT(fem_modes_finish(job, &modes), FEM_OK);
	return modes;
}

// Computes modes of the body and gives them to it. The caller frees them.
static FemModes give_modes(FemBodyId body, int32_t count) {
	FemModes modes = modes_of(body, count);
	int32_t *nodes = malloc(sizeof *nodes * (size_t)(modes.node_count + 1));
	FEM_CHECK_INT(fem_body_get_piece_nodes(body, 1, nodes, modes.node_count), modes.node_count);
	FEM_CHECK_INT(fem_body_set_modes(body, &modes, nodes), FEM_OK);
	free(nodes);
	return modes;
}

static void make_modal(FemBodyId body, int32_t count) {
	FemModes modes = give_modes(body, count);
	fem_modes_free(&modes);
}

static FemModalState modal_state(FemBodyId body) {
	FemModalState state;
	FEM_CHECK_INT(fem_body_get_modal_state(body, &state), FEM_OK);
	return state;
}

static FemBodyState state_of(FemBodyId body) {
	FemBodyState state = {0};
	FEM_CHECK_INT(fem_body_get_state(body, &state), FEM_OK);
	return state;
}

// J: of a body that moves by modes; elasticity is that of the modes.
static double modal_energy(FemBodyId body) {
	return state_of(body).kinetic_energy + modal_state(body).elastic_energy;
}

static void step(FemWorldId world, float dt) {
	fem_world_step(world, dt, 1);
}

static double length3(FemVec3 v) {
	return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

static double distance3(FemVec3 a, FemVec3 b) {
	return length3((FemVec3){a.x - b.x, a.y - b.y, a.z - b.z});
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
	FemModes modes = give_modes(rig.body, 256);
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
	FEM_CHECK(modal_state(rig.body).is_moving);
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
	FemRigDef def = wobbly_bar();
	def.material.stiffness_damping = a1;
	def.material.mass_damping = a2;
	FemRig rig = fem_rig_create(&def);
	FemModes modes = give_modes(rig.body, 6);
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
	FemRigDef def = wobbly_bar();
	FemRig rig = fem_rig_create(&def);
	FemModes modes = modes_of(rig.body, 1);
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
	FemRigDef def = wobbly_bar();
	def.material.stiffness_damping = 0.0f;
	def.body.angular_velocity = (FemVec3){1.0f, 2.0f, 5.0f};
	def.body.linear_velocity = (FemVec3){0.3f, 0.0f, -0.2f};
	FemRig rig = fem_rig_create(&def);
	make_modal(rig.body, 12);
	step(rig.world, DT);
	FEM_CHECK_INT(fem_body_apply_impulse(rig.body, 0, (FemVec3){0.0f, 9.0f, 3.0f}), FEM_OK);
	step(rig.world, DT);
	FEM_REQUIRE(modal_state(rig.body).is_moving);
	FemBodyState before = state_of(rig.body), after;
	double start = modal_energy(rig.body), most = 0.0, least = INFINITY, wobble = 0.0;
	for (int s = 0; s < 600; s++) {
		step(rig.world, DT);
		double energy = modal_energy(rig.body);
		most = fmax(most, energy);
		least = fmin(least, energy);
		wobble = fmax(wobble, modal_state(rig.body).elastic_energy);
	}
	after = state_of(rig.body);
	FEM_CHECK(wobble > 0.02 * start); // modes do move
	FEM_CHECK(distance3(before.linear_momentum, after.linear_momentum) < 1e-5 * length3(before.linear_momentum));
	FEM_CHECK(distance3(before.angular_momentum, after.angular_momentum) < 1e-4 * length3(before.angular_momentum));
	if (!FEM_CHECK(most < 1.02 * start) || !FEM_CHECK(least > 0.9 * start))
		printf("    %g J: %g to %g, wobble %g\n", start, least, most, wobble);
	fem_rig_destroy(&rig);
}

// Fails when the frame a body is taken into is not its own, for any rotation it was made with.
FEM_TEST(modal, is_taken_up_where_it_stands_in_any_pose) {
	const FemQuat poses[4] = {
		{0.0f, 0.0f, 0.0f, 1.0f}, {0.0f, 1.0f, 0.0f, 0.0f}, {0.5f, 0.5f, 0.5f, 0.5f}, {0.6f, 0.0f, 0.8f, 0.0f}};
	for (int p = 0; p < 4; p++) {
		FemRigDef def = wobbly_bar();
		def.body.rotation = poses[p];
		def.body.position = (FemPosition){3.0, 20.0, -7.0};
		FemRig rig = fem_rig_create(&def);
		fem_rig_read(&rig);
		FemVec3 first = rig.offsets[0], last = rig.offsets[rig.box.node_count - 1];
		make_modal(rig.body, 8);
		step(rig.world, DT);
		FEM_CHECK(modal_state(rig.body).is_moving);
		fem_rig_read(&rig);
		FEM_CHECK(
			distance3(first, rig.offsets[0]) < 1e-5 && distance3(last, rig.offsets[rig.box.node_count - 1]) < 1e-5);
		FEM_CHECK(modal_state(rig.body).elastic_energy < 1e-6);
		FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
		fem_rig_destroy(&rig);
	}
}

// ---- contact

static FemBodyId add_wobbly(FemWorldId world, FemPosition position, FemVec3 velocity, FemVec3 spin, float young) {
	FemBlock block = fem_block(0.4f, 3);
	block.material.young_modulus = young;
	block.material.stiffness_damping = 1e-3f;
	block.body.dynamics = FEM_DYNAMICS_MODAL;
	block.body.position = position;
	block.body.linear_velocity = velocity;
	block.body.angular_velocity = spin;
	FemBodyId body = fem_block_add(world, &block);
	make_modal(body, 20);
	return body;
}

// Energy with height, J.
static double whole_energy(FemBodyId body) {
	FemBodyState state = state_of(body);
	return modal_energy(body) + state.mass * 9.81 * state.center.y;
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
		FemBodyId body = add_wobbly(
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
		bodies[0] = add_wobbly(
			world, (FemPosition){0.0, 0.0, 0.0}, (FemVec3){2.0f, 0.0f, 0.0f}, (FemVec3){0.0f, 0.0f, 1.0f}, 2e5f);
		bodies[1] = add_wobbly(
			world, (FemPosition){0.7, 0.1, 0.05}, (FemVec3){-1.0f, 0.1f, 0.0f}, (FemVec3){1.0f, 0.0f, 0.0f}, 2e5f);
		if (other > 0)
			FEM_CHECK_INT(
				fem_body_set_dynamics(bodies[1], other == 1 ? FEM_DYNAMICS_ELEMENTS : FEM_DYNAMICS_RIGID), FEM_OK);
		FemBodyState a = state_of(bodies[0]), b = state_of(bodies[1]);
		FemVec3 before = {a.linear_momentum.x + b.linear_momentum.x, a.linear_momentum.y + b.linear_momentum.y,
			a.linear_momentum.z + b.linear_momentum.z};
		double start = a.kinetic_energy + b.kinetic_energy, most = 0.0, wobble = 0.0;
		for (int s = 0; s < 120; s++) {
			step(world, DT);
			a = state_of(bodies[0]), b = state_of(bodies[1]);
			double elastic = modal_state(bodies[0]).elastic_energy +
				(other == 0          ? modal_state(bodies[1]).elastic_energy
						: other == 1 ? b.elastic_energy
									 : 0.0);
			most = fmax(most, a.kinetic_energy + b.kinetic_energy + elastic);
			wobble = fmax(wobble, elastic);
		}
		FemVec3 after = {a.linear_momentum.x + b.linear_momentum.x, a.linear_momentum.y + b.linear_momentum.y,
			a.linear_momentum.z + b.linear_momentum.z};
		bool ok = FEM_CHECK(distance3(before, after) < 1e-5 * length3(a.linear_momentum));
		ok = FEM_CHECK(a.linear_velocity.x < 1.5f) && ok; // they met
		ok = FEM_CHECK(wobble > 1e-3 * start) && ok;
		ok = FEM_CHECK(most < 1.001 * start) && ok;
		if (!ok)
			printf("    other %d: start %g, most %g, wobble %g, momentum off %g, v %g\n", other, start, most, wobble,
				distance3(before, after), (double)a.linear_velocity.x);
		fem_world_destroy(world);
	}
}

// ---- grabs

static double grab_distance(FemBodyId body, FemGrabNumber grab, FemPosition target) {
	FemPosition at;
	FEM_CHECK_INT(fem_body_get_grab(body, grab, &at, NULL), FEM_OK);
	return sqrt((at.x - target.x) * (at.x - target.x) + (at.y - target.y) * (at.y - target.y) +
		(at.z - target.z) * (at.z - target.z));
}

// Fails when a dragged point is not where it was dragged to, swings past it, or what lies on the way is gone through.
FEM_TEST(modal, grabbed_points_reach_their_targets) {
	for (int clamped = 0; clamped < 2; clamped++) {
		FemRigDef def = wobbly_bar();
		def.clamped = clamped == 1;
		def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
		FemRig rig = fem_rig_create(&def);
		make_modal(rig.body, 12);
		step(rig.world, DT);
		FemGrabNumber grab = fem_body_grab(rig.body, (FemPosition){1.0, 0.1, 0.1});
		FEM_REQUIRE(grab != 0);
		FemPosition from, target;
		FEM_CHECK_INT(fem_body_get_grab(rig.body, grab, &from, NULL), FEM_OK);
		double worst = 0.0, fastest = 0.0;
		for (int s = 1; s <= 90; s++) {
			double share = s < 60 ? s / 60.0 : 1.0, reach = clamped ? 0.15 : 2.0;
			target = (FemPosition){from.x, from.y + reach * share, from.z + 0.5 * reach * share};
			FEM_CHECK_INT(fem_body_move_grab(rig.body, grab, target), FEM_OK);
			step(rig.world, DT);
			worst = fmax(worst, grab_distance(rig.body, grab, target));
			fastest = fmax(fastest, fem_peak_speed(&rig.body, 1));
		}
		FemVec3 force;
		FEM_CHECK_INT(fem_body_get_grab(rig.body, grab, NULL, &force), FEM_OK);
		if (!FEM_CHECK(worst < 2e-6) || !FEM_CHECK(fastest < 30.0))
			printf("    %g m off, fastest %g m/s\n", worst, fastest);
		FEM_CHECK(clamped || force.y > 0.0f); // it carries the bar
		FEM_CHECK_INT(fem_body_release_grab(rig.body, grab), FEM_OK);
		for (int s = 0; s < 30; s++)
			step(rig.world, DT);
		if (!FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK))
			printf("    %s\n", fem_last_error());
		fem_rig_destroy(&rig);
	}
}

// Fails when the pseudo-inverse is not one: points that cannot all be where they are to be must come near, not fly off.
FEM_TEST(modal, ten_points_are_held_at_once) {
	FemRigDef def = wobbly_bar();
	FemRig rig = fem_rig_create(&def);
	make_modal(rig.body, 30);
	step(rig.world, DT);
	FemGrabNumber grabs[FEM_GRABS_MAX + 1];
	FemPosition targets[FEM_GRABS_MAX];
	for (int k = 0; k < 10; k++) {
		targets[k] = (FemPosition){0.1 + 0.09 * k, k % 2 ? 0.2 : 0.0, k % 3 ? 0.2 : 0.0};
		FEM_REQUIRE((grabs[k] = fem_body_grab(rig.body, targets[k])) != 0);
	}
	// A bend that the modes have: all points reach it.
	for (int s = 0; s < 40; s++) {
		for (int k = 0; k < 10; k++) {
			FemPosition to = targets[k];
			to.y += 0.05 * s / 40.0 * (4.0 * (to.x - 0.5) * (to.x - 0.5));
			FEM_CHECK_INT(fem_body_move_grab(rig.body, grabs[k], to), FEM_OK);
		}
		step(rig.world, DT);
	}
	double worst = 0.0;
	for (int k = 0; k < 10; k++) {
		FemPosition to = targets[k];
		to.y += 0.05 * 39.0 / 40.0 * (4.0 * (to.x - 0.5) * (to.x - 0.5));
		worst = fmax(worst, grab_distance(rig.body, grabs[k], to));
	}
	if (!FEM_CHECK(worst < 1e-5))
		printf("    %g m off\n", worst);
	FEM_CHECK(fem_peak_speed(&rig.body, 1) < 5.0);
	FEM_CHECK_INT(modal_state(rig.body).grab_count, 10);
	for (int k = 10; k < FEM_GRABS_MAX; k++)
		FEM_CHECK((grabs[k] = fem_body_grab(rig.body, (FemPosition){0.5, 0.0, 0.0})) != 0);
	FEM_CHECK_INT(fem_body_grab(rig.body, (FemPosition){0.5, 0.0, 0.0}), 0); // as many as there may be
	// The same point to two places: in between, for as long as one likes.
	for (int s = 0; s < 60; s++) {
		FEM_CHECK_INT(fem_body_move_grab(rig.body, grabs[14], (FemPosition){0.5, 0.1, 0.0}), FEM_OK);
		FEM_CHECK_INT(fem_body_move_grab(rig.body, grabs[15], (FemPosition){0.5, -0.1, 0.0}), FEM_OK);
		step(rig.world, DT);
	}
	FEM_CHECK(isfinite(fem_peak_speed(&rig.body, 1)) && fem_peak_speed(&rig.body, 1) < 100.0);
	FEM_CHECK_INT(fem_body_release_grab(rig.body, 0), FEM_OK);
	FEM_CHECK_INT(modal_state(rig.body).grab_count, 0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// ---- breaking

static FemBodyId add_brittle(FemWorldId world, FemDynamics dynamics) {
	FemBlock block = fem_block(0.3f, 3);
	block.cells[0] = 8, block.size.x = 1.2f;
	block.material.young_modulus = 5e7f;
	block.material.density = 2000.0f;
	block.material.stiffness_damping = 5e-4f;
	block.material.breakable = true;
	block.material.toughness = 5e4f;
	block.material.toughness_variation = 0.0f;
	block.body.dynamics = dynamics;
	block.body.position = (FemPosition){-0.6, 0.5, -0.15};
	return fem_block_add(world, &block);
}

static int32_t pieces_of(FemWorldId world) {
	FemStatistics statistics;
	FEM_CHECK_INT(fem_world_get_statistics(world, &statistics), FEM_OK);
	return statistics.pieces;
}

// A block of 40 kg that strikes the middle of it. Returns into how many pieces it broke, in which tick.
static int32_t strike(FemDynamics dynamics, float speed, int32_t *out_tick, bool *out_was_modal) {
	FemWorldDef def = fem_contact_world_def();
	def.gravity = (FemVec3){0.0f, 0.0f, 0.0f};
	FemWorldId world = fem_world_create(&def);
	FemBodyId body = add_brittle(world, dynamics);
	for (int32_t n = 0; n < 16; n++) { // held at both ends
		FEM_CHECK_INT(fem_body_pin_node(body, n), FEM_OK);
		FEM_CHECK_INT(fem_body_pin_node(body, 9 * 16 - 1 - n), FEM_OK);
	}
	if (dynamics == FEM_DYNAMICS_MODAL)
		make_modal(body, 20); // of what is pinned now
	FemBlock hammer = fem_block(0.2f, 1);
	hammer.material.density = 5000.0f;
	hammer.body.dynamics = FEM_DYNAMICS_RIGID;
	hammer.body.position = (FemPosition){-0.1, 0.8 + 0.05 * (double)speed, -0.1}; // there in some three ticks
	hammer.body.linear_velocity = (FemVec3){0.0f, -speed, 0.0f};
	fem_block_add(world, &hammer);
	*out_tick = -1;
	*out_was_modal = false;
	for (int32_t s = 0; s < 40 && *out_tick < 0; s++) {
		*out_was_modal |= dynamics == FEM_DYNAMICS_MODAL && modal_state(body).is_moving;
		step(world, DT);
		if (pieces_of(world) > 2)
			*out_tick = s;
	}
	int32_t pieces = pieces_of(world) - 1;
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
	return pieces;
}

// Fails when a blow that breaks an elastic body is spread over modes instead, breaks a modal one ticks later, or a tap
// releases it.
FEM_TEST(modal, breaks_in_the_tick_of_the_blow) {
	int32_t elastic_tick, modal_tick;
	bool was_modal;
	int32_t elastic = strike(FEM_DYNAMICS_ELEMENTS, 20.0f, &elastic_tick, &was_modal);
	int32_t modal = strike(FEM_DYNAMICS_MODAL, 20.0f, &modal_tick, &was_modal);
	FEM_CHECK(was_modal);
	if (!FEM_CHECK(elastic > 1 && modal > 1) || !FEM_CHECK_INT(modal_tick, elastic_tick))
		printf("    %d pieces in tick %d, %d in tick %d\n", elastic, elastic_tick, modal, modal_tick);
	FEM_CHECK_INT(strike(FEM_DYNAMICS_MODAL, 0.02f, &modal_tick, &was_modal), 1);
	FEM_CHECK(was_modal);
}

// ---- state

static FemWorldId modal_scene(int32_t workers, FemBodyId bodies[3]) {
	FemWorldDef def = fem_default_world_def();
	def.ground_enabled = true;
	def.worker_count = workers;
	FemWorldId world = fem_world_create(&def);
	for (int k = 0; k < 3; k++)
		bodies[k] = add_wobbly(world, (FemPosition){0.1 * k, 0.3 + 0.5 * k, 0.05 * k}, (FemVec3){0.2f, 0.0f, 0.0f},
			(FemVec3){0.0f, 0.3f, 1.0f}, 3e5f);
	return world;
}

// Fails when what a step computes depends on the threads, or something of a modal body is not in a snapshot.
FEM_TEST(modal, same_bits_for_any_threads_and_from_a_snapshot) {
	uint64_t hashes[3];
	for (int32_t workers = 1; workers <= 3; workers++) {
		FemBodyId bodies[3];
		FemWorldId world = modal_scene(workers, bodies);
		step(world, DT);
		FEM_CHECK(fem_body_grab(bodies[2], (FemPosition){0.3, 1.5, 0.1}) == 1);
		for (int s = 0; s < 40; s++) {
			FEM_CHECK_INT(fem_body_move_grab(bodies[2], 1, (FemPosition){0.3, 1.5 + 0.002 * s, 0.1}), FEM_OK);
			step(world, DT);
		}
		if (workers == 2) { // from here on twice
			size_t size = fem_world_save(world, NULL, 0);
			void *data = malloc(size);
			FEM_CHECK(fem_world_save(world, data, size) == size);
			FemWorldId copy = fem_world_restore(data, size, 1);
			FEM_REQUIRE(fem_world_is_valid(copy));
			FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
			for (int s = 0; s < 20; s++) {
				step(world, DT);
				step(copy, DT);
				FEM_CHECK(fem_world_hash(copy) == fem_world_hash(world));
			}
			FEM_CHECK_INT(fem_world_validate(copy), FEM_OK);
			for (size_t cut = 0; cut < 40; cut++) { // what is cut short is refused
				FemWorldId none = fem_world_restore(data, size * cut / 40, 1);
				FEM_CHECK(!fem_world_is_valid(none));
			}
			fem_world_destroy(copy);
			free(data);
		} else {
			for (int s = 0; s < 20; s++)
				step(world, DT);
		}
		hashes[workers - 1] = fem_world_hash(world);
		FEM_CHECK(modal_state(bodies[0]).is_moving && modal_state(bodies[2]).grab_count == 1);
		fem_world_destroy(world);
	}
	FEM_CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2]);
}

// Fails when a body that was put elsewhere, pushed, loaded or stopped in mid-flight goes on with old amplitudes.
FEM_TEST(modal, follows_what_users_do_to_its_nodes) {
	FemRigDef def = wobbly_bar();
	FemRig rig = fem_rig_create(&def);
	make_modal(rig.body, 12);
	step(rig.world, DT);
	FEM_CHECK_INT(fem_body_apply_impulse(rig.body, 0, (FemVec3){0.0f, 2.0f, 0.0f}), FEM_OK);
	FemVec3 momentum = state_of(rig.body).linear_momentum;
	FEM_CHECK_NEAR((double)momentum.y, 2.0, 1e-4);
	for (int s = 0; s < 5; s++)
		step(rig.world, DT);
	FEM_CHECK(distance3(state_of(rig.body).linear_momentum, momentum) < 1e-4);
	FEM_CHECK(modal_state(rig.body).elastic_energy + modal_state(rig.body).kinetic_energy > 1e-3);
	size_t size = fem_body_save(rig.body, NULL, 0);
	void *data = malloc(size);
	FEM_CHECK(fem_body_save(rig.body, data, size) == size);
	FemPosition before = fem_center(rig.body);
	double energy = modal_energy(rig.body);
	for (int s = 0; s < 20; s++)
		step(rig.world, DT);
	FEM_CHECK_INT(fem_body_load(rig.body, &rig.material, 1, data, size), FEM_OK);
	free(data);
	FEM_CHECK_INT(fem_body_get_dynamics(rig.body), FEM_DYNAMICS_MODAL);
	FEM_CHECK_NEAR(fem_center(rig.body).y, before.y, 1e-4);
	step(rig.world, DT);
	FEM_CHECK(modal_state(rig.body).is_moving);
	FEM_CHECK_NEAR(modal_energy(rig.body), energy, 0.05 * energy);
	FEM_CHECK_INT(
		fem_body_teleport(rig.body, (FemPosition){100.0, 5.0, 0.0}, (FemQuat){0.0f, 1.0f, 0.0f, 0.0f}), FEM_OK);
	step(rig.world, DT);
	FEM_CHECK(modal_state(rig.body).is_moving);
	FEM_CHECK(fabs(fem_center(rig.body).x - 99.5) < 0.1);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
}

// ---- bad input

// Fails when a wrong call is believed or crashes, or a body without use for modes does not move as automatic.
FEM_TEST(modal, bad_input_is_refused) {
	FemRigDef def = wobbly_bar();
	FemRig rig = fem_rig_create(&def), pinned;
	FemModes modes = modes_of(rig.body, 12), none = {0}, other;
	step(rig.world, DT); // no modes: automatic, which is elastic here
	FEM_CHECK(!modal_state(rig.body).is_moving);
	FEM_CHECK_INT(modal_state(rig.body).mode_count, 0);
	FEM_CHECK_INT(fem_body_grab(rig.body, (FemPosition){0.0, 0.0, 0.0}), 0);
	FEM_CHECK(fem_body_set_modes(rig.body, NULL, NULL) != FEM_OK);
	FEM_CHECK(fem_body_set_modes((FemBodyId){0}, &modes, NULL) != FEM_OK);
	FEM_CHECK_INT(fem_body_set_modes(rig.body, &none, NULL), FEM_OK);
	other = modes;
	other.node_count--;
	FEM_CHECK(fem_body_set_modes(rig.body, &other, NULL) != FEM_OK);
	other = modes;
	int32_t *nodes = calloc((size_t)modes.node_count, sizeof *nodes);
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK); // all the same node
	nodes[0] = -5;
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	fem_body_get_piece_nodes(rig.body, 1, nodes, modes.node_count);
	double *kept = malloc(sizeof *kept * (size_t)modes.mode_count);
	memcpy(kept, modes.eigenvalues, sizeof *kept * (size_t)modes.mode_count);
	const double bad[3] = {NAN, -1.0, 0.0};
	for (int k = 0; k < 3; k++) {
		modes.eigenvalues[3] = bad[k];
		FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	}
	modes.eigenvalues[3] = kept[3];
	float first = modes.shapes[0];
	modes.shapes[0] = NAN;
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	modes.shapes[0] = first;
	FEM_CHECK_INT(fem_modes_scale(&modes, 1.0f, 4.0f, 1.0f), FEM_OK); // of another density
	FEM_CHECK(fem_body_set_modes(rig.body, &modes, nodes) != FEM_OK);
	FEM_CHECK_INT(fem_modes_scale(&modes, 1.0f, 0.25f, 1.0f), FEM_OK);
	FEM_CHECK_INT(fem_body_set_modes(rig.body, &modes, nodes), FEM_OK);
	step(rig.world, DT);
	FEM_CHECK(modal_state(rig.body).is_moving);
	FemGrabNumber grab = fem_body_grab(rig.body, (FemPosition){0.0, 0.0, 0.0});
	FEM_CHECK(grab != 0 && fem_body_grab(rig.body, (FemPosition){NAN, 0.0, 0.0}) == 0);
	FEM_CHECK(fem_body_move_grab(rig.body, grab, (FemPosition){0.0, INFINITY, 0.0}) != FEM_OK);
	FEM_CHECK(fem_body_move_grab(rig.body, 99, (FemPosition){0.0, 0.0, 0.0}) != FEM_OK);
	FEM_CHECK(fem_body_release_grab(rig.body, 99) != FEM_OK);
	FEM_CHECK(fem_body_get_grab(rig.body, 99, NULL, NULL) != FEM_OK);
	FEM_CHECK_INT(fem_body_get_grab(rig.body, grab, NULL, NULL), FEM_OK);
	FEM_CHECK_INT(fem_body_move_grab(rig.body, grab, (FemPosition){0.0, 900.0, 0.0}), FEM_OK); // at once
	for (int s = 0; s < 10; s++)
		step(rig.world, DT);
	FEM_CHECK_INT(fem_body_get_amplitudes(rig.body, NULL, NULL, 5), 12);
	FEM_CHECK(isfinite(fem_peak_speed(&rig.body, 1)));
	FEM_CHECK_INT(fem_body_pin_node(rig.body, 0), FEM_OK); // modes are not of that
	step(rig.world, DT);
	FEM_CHECK(!modal_state(rig.body).is_moving && modal_state(rig.body).mode_count == 0);
	FEM_CHECK_INT(fem_world_validate(rig.world), FEM_OK);
	fem_rig_destroy(&rig);
	// Everything pinned has no modes; hinged on a line it is no frame that stands still.
	def.body.position = (FemPosition){0.0, 0.0, 0.0};
	pinned = fem_rig_create(&def);
	for (int32_t n = 0; n < pinned.box.node_count; n++)
		FEM_CHECK_INT(fem_body_pin_node(pinned.body, n), FEM_OK);
	other = modes_of(pinned.body, 12);
	FEM_CHECK_INT(other.mode_count, 0);
	FEM_CHECK_INT(fem_body_set_modes(pinned.body, &other, NULL), FEM_OK);
	fem_modes_free(&other);
	for (int32_t n = 3; n < pinned.box.node_count; n++)
		FEM_CHECK_INT(fem_body_release_node(pinned.body, n), FEM_OK); // nodes 0 to 2 are a line
	make_modal(pinned.body, 12);
	for (int s = 0; s < 10; s++)
		step(pinned.world, DT);
	FEM_CHECK(!modal_state(pinned.body).is_moving);
	FEM_CHECK_INT(fem_world_validate(pinned.world), FEM_OK);
	fem_rig_destroy(&pinned);
	free(nodes);
	free(kept);
	fem_modes_free(&modes);
}

// One tet, which has six modes, and one that was asked for more than it has.
FEM_TEST(modal, one_tet_wobbles) {
	FemWorldDef world_def = fem_default_world_def();
	world_def.ground_enabled = true;
	FemWorldId world = fem_world_create(&world_def);
	const FemVec3 points[4] = {{0.0f, 0.0f, 0.0f}, {0.2f, 0.0f, 0.0f}, {0.0f, 0.2f, 0.0f}, {0.0f, 0.0f, 0.2f}};
	const int32_t tet[4] = {0, 1, 2, 3};
	FemMeshDef mesh = fem_default_mesh_def();
	mesh.node_count = 4, mesh.node_positions = points, mesh.tet_count = 1, mesh.tets = tet;
	FemMaterialDef material = fem_default_material_def();
	material.young_modulus = 1e5f;
	FemMaterialId material_id = fem_material_create(world, &material);
	FemBodyDef def = fem_default_body_def();
	def.mesh = fem_mesh_create(world, &mesh);
	def.materials = &material_id, def.material_count = 1;
	def.position = (FemPosition){0.0, 0.5, 0.0};
	def.dynamics = FEM_DYNAMICS_MODAL;
	FemBodyId body = fem_body_create(world, &def);
	FemModes modes = give_modes(body, 50);
	FEM_CHECK_INT(modes.mode_count, 6);
	fem_modes_free(&modes);
	for (int s = 0; s < 300; s++)
		step(world, DT);
	FEM_CHECK(modal_state(body).is_moving);
	FEM_CHECK(fem_low(body) > -0.01 && fem_high(body) < 0.3);
	FEM_CHECK_INT(fem_world_validate(world), FEM_OK);
	fem_world_destroy(world);
}

// ---- speed

// Processor time of steps of a bar of 3,150 tets that swings, or lies on the ground, ms.
static FemRig timed_bar(FemDynamics dynamics, bool lies) {
	FemRigDef def = fem_rig_bar_def(18, 5, 7, FEM_CELLS_FIVE, 0.3f);
	def.size = (FemVec3){1.0f, 0.25f, 0.35f};
	def.clamped = !lies;
	def.material.young_modulus = 1e6f;
	def.material.stiffness_damping = 1e-4f;
	def.world.solver_tolerance = 1e-3f;
	def.world.gravity = (FemVec3){0.0f, -9.81f, 0.0f};
	def.world.ground_enabled = lies;
	def.body.dynamics = dynamics;
	def.body.position.y = lies ? 0.05 : 0.0;
	FemRig rig = fem_rig_create(&def);
	if (dynamics == FEM_DYNAMICS_MODAL)
		make_modal(rig.body, 20);
	return rig;
}

static double time_of(FemWorldId world, int32_t steps) {
	double before = fem_test_cpu_ms();
	for (int s = 0; s < steps; s++)
		step(world, DT);
	return fem_test_cpu_ms() - before;
}

// Fails when a modal body costs more than a tenth of the elastic one; on the ground, where 152 of its 912 nodes are
// looked at one by one in every solve, more than three quarters. With others at work the first is 0.09 to 0.11.
FEM_TEST(modal, steps_in_a_tenth_of_the_elastic_time) {
	for (int lies = 0; lies < 2; lies++) {
		FemRig elastic = timed_bar(FEM_DYNAMICS_ELEMENTS, lies == 1), modal = timed_bar(FEM_DYNAMICS_MODAL, lies == 1);
		FEM_CHECK_INT(elastic.box.tet_count, 3150);
		time_of(elastic.world, 10);
		time_of(modal.world, 10);
		double slow = INFINITY, fast = INFINITY; // the least of three: what else the machine does is in all of them
		for (int k = 0; k < 3; k++) {
			slow = fmin(slow, time_of(elastic.world, 30) / 30.0);
			fast = fmin(fast, time_of(modal.world, 30) / 30.0);
		}
		FEM_CHECK(modal_state(modal.body).is_moving);
		double most = lies ? 0.75 : fem_long_tests() ? 0.1 : 0.15;
		if (!FEM_CHECK(fast < most * slow) || fem_long_tests())
			printf("    %s: %.4f ms a step, elastic %.4f\n", lies ? "lies" : "swings", fast, slow);
		fem_rig_destroy(&elastic);
		fem_rig_destroy(&modal);
	}
}
