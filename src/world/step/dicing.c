#include "world/step/dicing.h"

#include "base/hash.h"
#include "dynamics/rigid_motion.h"
#include "model/piece.h"
#include "topology/splitting.h"
#include "world/step/breaking.h"

#include <math.h>

// Of the energy that prestress held: what dice fly apart with. The rest is in new surfaces and in waves, which end as
// heat. Chosen.
#define BURST_SHARE 0.5

// ---- front

static bool may_dice(const FemBody *body) {
	return body->breaking->is_dicing && !fem_body_is_rigid_by_choice(body);
}

// What is cut must be awake and elastic. Nodes may be copies that no table knows yet.
static void wake(FemBody *body, const FemDice *dice) {
	const FemTopology *t = body->topology;
	for (int32_t d = 0; d < dice->count; d++) {
		int32_t part = t->node_part[t->split->parent[fem_tet_node(t, dice->dice[d].tet, 0)]];
		int32_t component = t->part_component[part];
		FemRange parts = t->component_parts[component];
		fem_piece_release(&body->pieces[component]);
		for (int32_t p = parts.begin; p < parts.end; p++) {
			body->live_part_count += body->part_state[p] == FEM_ISLAND_ASLEEP;
			body->part_state[p] = body->part_state[p] == FEM_ISLAND_ASLEEP ? FEM_ISLAND_LIVE : body->part_state[p];
			body->part_still[p] = 0;
		}
	}
}

bool fem_dicing_cut(FemWorld *world, FemBody *body, float dt, FemDice *out) {
	FemBreaking *breaking = body->breaking;
	double from = fmax(breaking->dice_time, world->time), until = world->time + (double)dt;
	*out = (FemDice){0};
	if (!may_dice(body) || !(from < until))
		return false;
	bool found = fem_dice_cut(body, world->meshes[body->mesh_index].topology, until - from, out);
	breaking->is_dicing = !out->is_over;
	if (found)
		breaking->dice_time = from + out->time;
	if (breaking->cut_count > 0)
		wake(body, out);
	return found;
}

// ---- burst

// A unit vector that belongs to a tet of a body, in the axes of its rest shape turned with it.
static FemVec3d direction_of(const FemBody *body, int32_t tet) {
	uint64_t hash = fem_hash_word(FEM_HASH_START, body->breaking->seed);
	hash = fem_hash_word(fem_hash_word(hash, (uint64_t)body->topology->user_of_tet[tet]), 3);
	FemVec4 q = body->rotation[tet];
	return fem_quat_rotate((FemQuat){q.x, q.y, q.z, q.w}, fem_unit_of_hash(hash));
}

// The dice that came of one piece. The velocities that they are given have neither momentum nor spin in all.
typedef struct Burst {
	FemMotionSums sums;
	double energy;        // J
	double center[3];     // m
	double velocity[3];   // m/s, to be taken away again
	double spin[3];       // rad/s
	double square, along; // kg m^2/s^2: sums of m u.u and of m u.v
} Burst;

// m/s, of a die, before what all of them have in common is taken away.
static FemVec3d fling(const FemBody *body, const FemDie *die, float mass) {
	return fem_vec3d_scale(direction_of(body, die->tet), sqrt(2.0 * BURST_SHARE * die->energy / (double)mass));
}

static void velocity_at(const Burst *burst, FemVec3d flung, const float *x, double out[3]) {
	const double *w = burst->spin, *v = burst->velocity, u[3] = {flung.x, flung.y, flung.z};
	double r[3];
	for (int k = 0; k < 3; k++)
		r[k] = (double)x[k] - burst->center[k];
	for (int k = 0; k < 3; k++)
		out[k] = u[k] - v[k] - (w[(k + 1) % 3] * r[(k + 2) % 3] - w[(k + 2) % 3] * r[(k + 1) % 3]);
}

typedef void VisitDie(FemBody *body, Burst *burst, FemRange nodes, FemVec3d flung, double factor);

static void add_sums(FemBody *body, Burst *burst, FemRange nodes, FemVec3d flung, double factor) {
	(void)factor;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		const float *x = &body->position[i].x;
		fem_sums_add_node(
			&burst->sums, (double)body->mass[i], (double[3]){x[0], x[1], x[2]}, (double[3]){flung.x, flung.y, flung.z});
	}
}

static void add_energy(FemBody *body, Burst *burst, FemRange nodes, FemVec3d flung, double factor) {
	(void)factor;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double u[3], m = (double)body->mass[i];
		const float *v = &body->velocity[i].x;
		velocity_at(burst, flung, &body->position[i].x, u);
		for (int k = 0; k < 3; k++) {
			burst->square += m * u[k] * u[k];
			burst->along += m * u[k] * (double)v[k];
		}
	}
}

static void add_velocity(FemBody *body, Burst *burst, FemRange nodes, FemVec3d flung, double factor) {
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		double u[3];
		float *v = &body->velocity[i].x;
		velocity_at(burst, flung, &body->position[i].x, u);
		for (int k = 0; k < 3; k++)
			v[k] += (float)(factor * u[k]);
	}
}

// Dice that hang together count as one, the first of them.
static void merge(FemBody *body, FemDice *dice) {
	const FemTopology *t = body->topology;
	int32_t *first = body->breaking->order; // [component]: of its dice, or -1
	for (int32_t c = 0; c < t->component_count; c++)
		first[c] = -1;
	for (int32_t d = 0; d < dice->count; d++) {
		FemDie *die = &dice->dice[d];
		int32_t component = fem_tet_component(t, die->tet);
		if (first[component] >= 0) {
			dice->dice[first[component]].energy += die->energy;
			die->energy = 0.0;
		} else if (die->energy > 0.0) {
			first[component] = d;
		}
	}
}

// Over the free dice that came of a piece of before.
static void visit(
	FemBody *body, const FemDice *dice, int32_t parent, Burst *burst, VisitDie *visit_die, double factor) {
	const FemTopology *t = body->topology;
	for (int32_t d = 0; d < dice->count; d++) {
		const FemDie *die = &dice->dice[d];
		int32_t component = fem_tet_component(t, die->tet);
		if (die->energy > 0.0 && t->split->component_parent[component] == parent &&
			!fem_piece_is_attached(body, component))
			visit_die(
				body, burst, t->component_nodes[component], fling(body, die, body->pieces[component].mass), factor);
	}
}

static double energy_of(const FemBody *body, const FemDice *dice, int32_t parent) {
	const FemTopology *t = body->topology;
	double energy = 0.0;
	for (int32_t d = 0; d < dice->count; d++) {
		if (t->split->component_parent[fem_tet_component(t, dice->dice[d].tet)] == parent)
			energy += BURST_SHARE * dice->dice[d].energy;
	}
	return energy;
}

// The share k of the velocities u for which no more energy comes into the world: k^2 square / 2 + k along <= energy.
static double share_of(const Burst *burst, double energy) {
	double a = burst->square, b = burst->along;
	if (!(a > 0.0))
		return 0.0;
	return fmin((sqrt(b * b + 2.0 * a * energy) - b) / a, 1.0);
}

static void burst_piece(FemBody *body, const FemDice *dice, int32_t parent) {
	Burst burst = {.sums.finite = true};
	double angular[3];
	visit(body, dice, parent, &burst, add_sums, 0.0);
	if (!(burst.sums.mass > 0.0))
		return;
	fem_sums_center(&burst.sums, burst.center);
	for (int k = 0; k < 3; k++)
		burst.velocity[k] = burst.sums.momentum[k] / burst.sums.mass;
	fem_about_center(burst.sums.angular, burst.sums.momentum, burst.center, angular);
	fem_sums_solve_inertia(&burst.sums, burst.center, angular, burst.spin);
	visit(body, dice, parent, &burst, add_energy, 0.0);
	visit(body, dice, parent, &burst, add_velocity, share_of(&burst, energy_of(body, dice, parent)));
}

static void burst(FemBody *body, FemDice *dice) {
	const FemTopology *t = body->topology;
	merge(body, dice);
	for (int32_t parent = 0; parent < t->split->old_component_count; parent++) {
		bool has_dice = false;
		for (int32_t d = 0; d < dice->count && !has_dice; d++)
			has_dice = t->split->component_parent[fem_tet_component(t, dice->dice[d].tet)] == parent;
		if (has_dice)
			burst_piece(body, dice, parent);
	}
}

void fem_dicing_finish(const FemWorld *world, FemBody *body, FemDice *dice, bool is_cut) {
	fem_dice_relieve(body, dice);
	fem_body_follow_relief(world, body);
	if (is_cut)
		burst(body, dice);
}
