// What swings about its pins: a bar on a hinge or on one pin, let go from the horizontal, one line a case.
#include "contact_rig.h"
#include "fem_test.h"
#include "theory_rig.h"

#include <math.h>

#define GRAVITY 9.81
#define PI 3.14159265358979323846
#define LENGTH 1.0f // m, of the bar
#define WIDTH 0.1f
#define SECONDS 10.0

typedef struct Swing {
	bool is_hinge;       // pins along the edge of one end; else one at a corner
	float young_modulus; // Pa
	int32_t rate;        // Hz
	bool is_rigid;       // moves by its rotation about the pins alone
} Swing;

typedef struct Outcome {
	double least, most; // energy less that of the start, in units of what the bar can fall
	double strain;      // most elastic energy, in the same units
	double half_period; // s, until it stands still on the other side
} Outcome;

static FemBodyId add_bar(FemWorldId world, const Swing *swing) {
	FemBlock bar = fem_block(0.0f, 0);
	bar.size = (FemVec3){LENGTH, WIDTH, WIDTH};
	bar.cells[0] = 10, bar.cells[1] = bar.cells[2] = 1;
	bar.material.young_modulus = swing->young_modulus;
	bar.body.dynamics = swing->is_rigid ? FEM_DYNAMICS_RIGID : FEM_DYNAMICS_AUTO;
	FemBodyId body = fem_block_add(world, &bar);
	for (int32_t z = 0; z < (swing->is_hinge ? 2 : 1); z++)
		fem_body_pin_node(body, z);
	return body;
}

// Kinetic, elastic and potential energy, J. The scheme's velocities are half a step ahead of its positions (v += dt g,
// then x += dt v), so the height is taken half a step back.
static double energy_of(const FemBodyState *state, double dt) {
	return state->kinetic_energy + state->elastic_energy +
		state->mass * GRAVITY * (state->center.y - 0.5 * dt * (double)state->linear_velocity.y);
}

static Outcome let_go(const Swing *swing) {
	FemWorldDef def = fem_contact_world_def();
	FemWorldId world = fem_world_create(&def);
	FemBodyId body = add_bar(world, swing);
	FemBodyState state = fem_state_of(body);
	double dt = 1.0 / swing->rate, start = energy_of(&state, dt), unit = state.mass * GRAVITY * 0.5 * (double)LENGTH;
	double last = 0.0, before_last = 0.0; // kinetic energy, J
	Outcome outcome = {.least = 0.0};
	for (int32_t n = 1; n <= (int32_t)(SECONDS * swing->rate); n++) {
		fem_world_step(world, (float)dt, 1);
		state = fem_state_of(body);
		double gained = (energy_of(&state, dt) - start) / unit;
		outcome.least = fmin(outcome.least, gained);
		outcome.most = !(gained <= outcome.most) ? gained : outcome.most;
		outcome.strain = fmax(outcome.strain, state.elastic_energy / unit);
		if (outcome.half_period == 0.0 && n > 2 && last < before_last && last < state.kinetic_energy)
			outcome.half_period = (n - 1) * dt;
		before_last = last;
		last = state.kinetic_energy;
	}
	fem_world_destroy(world);
	return outcome;
}

// Half the period of a compound pendulum that starts at rest 90 degrees and the slope of the bar's diagonal from below:
// pi / w0 over the arithmetic-geometric mean of 1 and the cosine of half that angle.
static double half_period_of_theory(void) {
	double l = (double)LENGTH, b = (double)WIDTH, arm = 0.5 * sqrt(l * l + b * b);
	double w0 = sqrt(GRAVITY * arm / ((l * l + b * b) / 3.0)), x = 1.0, y = cos(0.5 * (0.5 * PI + atan(b / l)));
	for (int i = 0; i < 8; i++) {
		double mean = 0.5 * (x + y);
		y = sqrt(x * y);
		x = mean;
	}
	return PI / w0 / x;
}

static void check_swing(const Swing *swing) {
	Outcome outcome = let_go(swing);
	const char *held = swing->is_rigid ? (swing->is_hinge ? "rigid on a hinge" : "rigid on one pin")
		: swing->is_hinge              ? "on a hinge"
									   : "on one pin";
	double e = (double)swing->young_modulus, dt = 1.0 / swing->rate;
	fem_compare(fem_named("bar %s, E %.0e, %d Hz, energy gained", held, e, swing->rate), 0.0, outcome.most, 0.01);
	fem_compare(fem_named("bar %s, E %.0e, %d Hz, energy after 10 s", held, e, swing->rate), 0.0, outcome.least, 0.08);
	fem_compare(fem_named("bar %s, E %.0e, %d Hz, strained by", held, e, swing->rate), 0.0, outcome.strain, 0.01);
	if (swing->is_hinge)
		fem_compare(fem_named("bar %s, E %.0e, %d Hz, half a period, s", held, e, swing->rate), half_period_of_theory(),
			outcome.half_period, 0.02 + dt);
}

// Fails when what swings is moved along its tangents, which stretches it: E 1e9 has 125 times its energy at 30 Hz.
FEM_TEST(theory, pendulum) {
	static const int32_t rates[] = {30, 60, 120, 240};
	static const float moduli[] = {1e7f, 1e9f, 1e11f, 1e12f};
	for (int i = 0; i < 32; i++)
		check_swing(&(Swing){i / 16 == 0, moduli[i / 4 % 4], rates[i % 4], false});
}

// The same of a rigid bar. Fails when what hangs on a hinge stands, or when its inertia is that about its centre.
FEM_TEST(theory, rigid_pendulum) {
	static const int32_t rates[] = {30, 60, 120, 240};
	for (int i = 0; i < 8; i++)
		check_swing(&(Swing){i / 4 == 0, 1e9f, rates[i % 4], .is_rigid = true});
}
