#include "dynamics/paper_friction.h"

#include "model/piece.h"

#include <math.h>
#include <string.h>

#define PID_PROPORTIONAL 0.376f // of effective mass / dt. The four gains were found by tests/tuning/tune_pid.c
#define PID_INTEGRAL 0.674f     // of effective mass / dt^2
#define PID_DERIVATIVE 0.0044f  // of effective mass
#define PID_THRESHOLD 0.231f    // m/s: slower contacts are static

// In metres. Resting contacts are as good as flat, but must share the friction too. Chosen: far below the slop.
#define DEPTH_MIN 1e-6f

FemFrictionGains fem_default_friction_gains(void) {
	return (FemFrictionGains){PID_PROPORTIONAL, PID_INTEGRAL, PID_DERIVATIVE, PID_THRESHOLD};
}

typedef struct Friction {
	FemFrictionGains gains;
	FemVec3 gravity; // m/s^2
	float mass;      // kg, all that moves in the composite
	float dt;        // s
} Friction;

// Overlap volume W, m^3. Inactive contacts take no share: friction given to them would be lost.
static float volume_of(const FemContact *contact) {
	return contact->active ? contact->area * fmaxf(contact->depth, DEPTH_MIN) : 0.0f;
}

// Inverse mass that a contact sees, 1/kg.
static float inverse_mass(const FemContactRows *rows, const FemContactSide *side) {
	if (side->is_fixed)
		return 0.0f;
	return 1.0f /
		(fem_side_is_body(side) ? rows->bodies[side->body]->pieces[side->piece].mass : rows->proxies[side->proxy].mass);
}

static void make_tangential(const FemContact *contact, float v[3]) {
	const float *n = contact->normal;
	float along = n[0] * v[0] + n[1] * v[1] + n[2] * v[2];
	for (int i = 0; i < 3; i++)
		v[i] -= along * n[i];
}

static float length(const float v[3]) {
	return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The contacts of two pieces, or of a piece and a collider.
typedef struct Pair {
	FemContact *contacts;
	FemPaperHold *holds; // [contact.hold]
	int32_t count;
	float volume;      // m^3
	float mass;        // kg, reduced: 1/(1/m0 + 1/m1)
	float integral[3]; // m, mean over its static contacts by volume
	bool is_static;    // has such
} Pair;

static Pair pair_at(const FemContactRows *rows, int32_t begin) {
	Pair pair = {.contacts = &rows->contacts[begin], .holds = rows->holds};
	float known = 0.0f;
	while (begin + pair.count < rows->count && fem_contact_same_pieces(&pair.contacts[0], &pair.contacts[pair.count])) {
		const FemContact *contact = &pair.contacts[pair.count++];
		const FemPaperHold *hold = &rows->holds[contact->hold];
		float volume = volume_of(contact);
		pair.volume += volume;
		for (int i = 0; hold->is_static && i < 3; i++)
			pair.integral[i] += volume * hold->integral[i];
		known += hold->is_static ? volume : 0.0f;
	}
	pair.is_static = known > 0.0f;
	for (int i = 0; pair.is_static && i < 3; i++)
		pair.integral[i] /= known;
	pair.mass = 1.0f / (inverse_mass(rows, &pair.contacts[0].side[0]) + inverse_mass(rows, &pair.contacts[0].side[1]));
	return pair;
}

// A contact that comes to a pair which holds already takes over what the others know: the set of overlapping tets
// flickers, and each that began from nothing would let the pair slip on.
static void begin_static(FemPaperHold *hold, const Pair *pair, const float w[3]) {
	if (hold->is_static)
		return;
	memcpy(hold->integral, pair->integral, sizeof hold->integral);
	memcpy(hold->slip, w, sizeof hold->slip);
}

// The controller of docs/method.md, "Friction": F = Kp w + Ki int w dt + Kd dw/dt against the slip, |F| <= limit.
static void hold_back(
	const FemContact *contact, const Friction *friction, const Pair *pair, const float w[3], float limit) {
	FemPaperHold *hold = &pair->holds[contact->hold];
	const FemFrictionGains *gains = &friction->gains;
	float dt = friction->dt, force[3], mass = pair->mass * volume_of(contact) / pair->volume;
	begin_static(hold, pair, w);
	make_tangential(contact, hold->integral);
	for (int i = 0; i < 3; i++) {
		float integral = hold->integral[i] + dt * w[i], change = w[i] - hold->slip[i];
		force[i] =
			mass / dt * (gains->proportional * w[i] + gains->integral / dt * integral + gains->derivative * change);
	}
	make_tangential(contact, force);
	float size = length(force), scale = size > limit ? limit / size : 1.0f;
	for (int i = 0; i < 3; i++) {
		hold->impulse[i] = dt * scale * force[i];
		hold->next_integral[i] = hold->integral[i] + (size > limit ? 0.0f : dt * w[i]);
		hold->next_slip[i] = w[i];
	}
	hold->is_static = true;
}

// F_f = M |g| mu |n.g_hat| alpha (N), alpha the contact's share of the composite's overlap volume.
static void apply_to_pair(const FemContactRows *rows, const Friction *friction, const Pair *pair, float whole) {
	const float g[3] = {friction->gravity.x, friction->gravity.y, friction->gravity.z};
	for (int32_t c = 0; c < pair->count; c++) {
		FemContact *contact = &pair->contacts[c];
		FemPaperHold *hold = &pair->holds[contact->hold];
		const float *n = contact->normal;
		float w[3], volume = volume_of(contact);
		contact->friction_strength = 0.0f;
		memset(hold->impulse, 0, sizeof hold->impulse);
		if (!(volume > 0.0f)) {
			hold->is_static = false;
			continue;
		}
		float steep = fabsf(n[0] * g[0] + n[1] * g[1] + n[2] * g[2]);
		float limit = friction->mass * steep * contact->friction * volume / whole;
		fem_contact_velocity(rows, contact, w);
		make_tangential(contact, w);
		float speed = length(w);
		if (speed < friction->gains.threshold) {
			hold_back(contact, friction, pair, w, limit);
		} else {
			contact->friction_strength = friction->dt * limit / speed;
			hold->is_static = false;
		}
	}
}

// kg, of all that moves.
static float mass_of(const FemSystem *system) {
	double mass = 0.0;
	for (int32_t c = 0; c < system->chunk_count; c++) {
		const FemNodeChunk *chunk = &system->chunks[c];
		if (system->islands[chunk->island].is_rigid)
			continue;
		for (int32_t i = chunk->begin; i < chunk->end; i++)
			mass += (double)system->bodies[chunk->body]->mass[i];
	}
	for (int32_t k = 0; k < system->rigid_count; k++)
		mass += (double)system->rigids[k]->mass;
	return (float)mass;
}

void fem_paper_friction_apply(FemSystem *system, const FemFrictionGains *gains, FemVec3 gravity, float dt) {
	FemContactRows *rows = &system->contacts;
	Friction friction = {*gains, gravity, mass_of(system), dt};
	float whole = 0.0f;
	for (int32_t c = 0; c < rows->count; c++)
		whole += volume_of(&rows->contacts[c]);
	for (int32_t c = 0; c < rows->count && whole > 0.0f;) {
		Pair pair = pair_at(rows, c);
		apply_to_pair(rows, &friction, &pair, whole);
		c += pair.count;
	}
}

void fem_paper_friction_carry(const FemPaperHold *last, FemPaperHold *out) {
	if (!last->is_static)
		return;
	*out = *last; // what is not solved in this step keeps it
	memset(out->impulse, 0, sizeof out->impulse);
	memcpy(out->integral, last->next_integral, sizeof out->integral);
	memcpy(out->slip, last->next_slip, sizeof out->slip);
}
