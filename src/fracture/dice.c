#include "fracture/dice.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/vec.h"
#include "fem_constants.h"
#include "fracture/crack.h"
#include "model/plate_elements.h"
#include "topology/splitting.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#define NOT_REACHED (-1)    // by the front
#define REACHED (-2)        // and in no die yet
#define SIZE_VARIATION 0.5f // dice are up to this share larger than the smallest fragment; chosen

double fem_prestress_energy(const FemBody *body, int32_t tet) {
	const FemBatch *batch = &body->batches[tet / FEM_LANES];
	int32_t lane = tet % FEM_LANES;
	double s = (double)body->tet_prestress[tet], lambda = (double)batch->lambda[lane], mu = (double)batch->mu[lane];
	if (!(s > 0.0) || !(mu > 0.0))
		return 0.0;
	// (1 - nu) / E in Lame's constants, those of the material and not of a sliver.
	double compliance = (double)body->tet_softening[tet] * (lambda + 2.0 * mu) / (2.0 * mu * (3.0 * lambda + 2.0 * mu));
	return 0.2 * s * s * (double)batch->volume[lane] * compliance;
}

// ---- front

static bool is_prestressed(const FemBody *body, int32_t tet) {
	return body->topology->user_of_tet[tet] >= 0 && body->tet_prestress[tet] > 0.0f;
}

// Of a tet that may be gone.
static bool is_or_was_prestressed(const FemBody *body, int32_t tet) {
	return body->tet_prestress[tet] > 0.0f || !(body->tet_temper[tet] > 0.0f);
}

static void enqueue(FemDice *dice, int32_t node, double time, int32_t *end) {
	if (!(time < dice->node_time[node]))
		return;
	dice->node_time[node] = time;
	if (dice->is_queued[node])
		return;
	dice->is_queued[node] = 1;
	dice->queue[*end] = node;
	*end = (*end + 1) % (dice->nodes + 1);
}

// Where cracks are within: at faces between prestressed tets that have opened, and beside tets that are relieved.
static int32_t find_cracks(const FemBody *body, const FemTopology *whole, FemDice *dice) {
	const FemTopology *t = body->topology;
	int32_t end = 0;
	for (int32_t face = 0; face < 4 * dice->lanes; face++) {
		int32_t tet = face / 4, across = whole->neighbours[face];
		if (t->user_of_tet[tet] < 0)
			continue;
		bool is_crack = is_prestressed(body, tet) && t->neighbours[face] < 0 && across >= 0 &&
			is_or_was_prestressed(body, across / 4);
		bool is_relieved = face % 4 == 0 && !(body->tet_temper[tet] > 0.0f);
		for (int v = 0; (is_crack || is_relieved) && v < 4; v++) {
			if (is_relieved || v != face % 4)
				enqueue(dice, fem_tet_node(t, tet, v), 0.0, &end);
		}
	}
	return end;
}

static double edge_time(const FemBody *body, int32_t tet, int32_t a, int32_t b) {
	const int32_t *parent = body->topology->split->parent;
	FemVec3d d = fem_vec3d_sub(fem_vec3d_from4(body->position[parent[a]]), fem_vec3d_from4(body->position[parent[b]]));
	return sqrt(fem_vec3d_dot(d, d)) / (double)body->tet_crack_speed[tet];
}

// Along the edges of prestressed tets, each node as soon as any way leads there.
static void run_front(const FemBody *body, FemDice *dice, int32_t end, double time) {
	const FemTopology *t = body->topology;
	for (int32_t begin = 0; begin != end; begin = (begin + 1) % (dice->nodes + 1)) {
		int32_t node = dice->queue[begin];
		FemRange star = t->split->star[node];
		double at = dice->node_time[node];
		dice->is_queued[node] = 0;
		for (int32_t k = star.begin; at <= time && k < star.end; k++) {
			int32_t tet = t->node_tets[k] / 4;
			for (int v = 0; is_prestressed(body, tet) && v < 4; v++) {
				int32_t other = fem_tet_node(t, tet, v);
				enqueue(dice, other, at + edge_time(body, tet, node, other), &end);
			}
		}
	}
}

// s, until the front is past a tet; beside a crack it gets at least that far.
static double time_past(const FemBody *body, const FemDice *dice, int32_t tet, double time) {
	double first = INFINITY, last = 0.0;
	for (int v = 0; v < 4; v++) {
		double at = dice->node_time[fem_tet_node(body->topology, tet, v)];
		first = fmin(first, at);
		last = fmax(last, at);
	}
	return last <= time || first == 0.0 ? last : INFINITY;
}

static void reach(FemDice *dice, int32_t tet, double at) {
	dice->die_of_tet[tet] = REACHED;
	dice->time = fmax(dice->time, at);
}

// The tets of a plate cell go together.
static void find_reached(const FemBody *body, FemDice *dice, double time) {
	for (int32_t tet = 0; tet < dice->lanes; tet++) {
		double at = is_prestressed(body, tet) ? time_past(body, dice, tet, time) : INFINITY;
		int32_t cell = isinf(at) ? -1 : fem_acting_cell(body, tet);
		if (!isinf(at))
			reach(dice, tet, at);
		for (int32_t k = 0; cell >= 0 && k < FEM_CELL_TETS; k++) {
			int32_t other = body->topology->cells.cells[cell].tets[k];
			if (other >= 0 && is_prestressed(body, other))
				reach(dice, other, at);
		}
	}
}

static void find_rest(const FemBody *body, FemDice *dice) {
	dice->is_over = true;
	for (int32_t tet = 0; tet < dice->lanes && dice->is_over; tet++) {
		for (int v = 0; v < 4 && is_prestressed(body, tet) && dice->die_of_tet[tet] == NOT_REACHED; v++)
			dice->is_over &= isinf(dice->node_time[fem_tet_node(body->topology, tet, v)]);
	}
}

// ---- dice

// A number in 0..1 that belongs to a tet of a body.
static float chance(const FemBody *body, int32_t tet) {
	uint64_t hash = fem_hash_word(FEM_HASH_START, body->breaking->seed);
	hash = fem_hash_word(fem_hash_word(hash, (uint64_t)body->topology->user_of_tet[tet]), 2);
	return (float)((double)(hash >> 11) * 0x1p-53);
}

static FemVec3d center_of(const FemBody *body, int32_t tet) {
	FemVec3d sum = {0.0, 0.0, 0.0};
	for (int v = 0; v < 4; v++) {
		int32_t node = fem_tet_node(body->topology, tet, v);
		sum = fem_vec3d_add(sum, fem_vec3d_from4(body->position[body->topology->split->parent[node]]));
	}
	return fem_vec3d_scale(sum, 0.25);
}

typedef struct Growth {
	FemVec3d center; // of its first tet
	int32_t die, count, begin, fewest;
	float volume, least; // m^3
} Growth;

static void add_tet(const FemBody *body, FemDice *dice, Growth *growth, int32_t tet) {
	dice->die_of_tet[tet] = growth->die;
	dice->order[growth->begin + growth->count++] = tet;
	growth->volume += body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
	growth->least = fmaxf(growth->least, body->tet_fragment[tet]);
}

// With the other tets of its plate cell.
static void add_unit(const FemBody *body, FemDice *dice, Growth *growth, int32_t tet) {
	int32_t cell = fem_acting_cell(body, tet);
	add_tet(body, dice, growth, tet);
	for (int32_t k = 0; cell >= 0 && k < FEM_CELL_TETS; k++) {
		int32_t other = body->topology->cells.cells[cell].tets[k];
		if (other >= 0 && dice->die_of_tet[other] == REACHED)
			add_tet(body, dice, growth, other);
	}
}

static bool is_enough(const Growth *growth, float factor) {
	return growth->count >= growth->fewest && growth->volume >= factor * growth->least;
}

// The tet beside the die, in none yet, that is nearest to where it began; -1 for none.
static int32_t next_tet(const FemBody *body, const FemDice *dice, const Growth *growth) {
	const FemTopology *t = body->topology;
	double least = INFINITY;
	int32_t best = -1;
	for (int32_t k = 0; k < 4 * growth->count; k++) {
		int32_t across = t->neighbours[4 * dice->order[growth->begin + k / 4] + k % 4];
		if (across < 0 || dice->die_of_tet[across / 4] != REACHED)
			continue;
		FemVec3d d = fem_vec3d_sub(center_of(body, across / 4), growth->center);
		double square = fem_vec3d_dot(d, d);
		if (square < least) {
			least = square;
			best = across / 4;
		}
	}
	return best;
}

// The smallest of the dice beside it; -1 for none. out_waits: tets that the front has not reached are beside it.
static int32_t smallest_beside(const FemBody *body, const FemDice *dice, const Growth *growth, bool *out_waits) {
	const FemTopology *t = body->topology;
	int32_t best = -1;
	*out_waits = false;
	for (int32_t k = 0; k < 4 * growth->count; k++) {
		int32_t across = t->neighbours[4 * dice->order[growth->begin + k / 4] + k % 4];
		int32_t die = across < 0 ? growth->die : dice->die_of_tet[across / 4];
		*out_waits |= die == NOT_REACHED && is_prestressed(body, across / 4);
		if (die >= 0 && die != growth->die && (best < 0 || dice->dice[die].volume < dice->dice[best].volume))
			best = die;
	}
	return best;
}

// What is too small for a die joins one beside it or, at the front, waits.
static void join(const FemBody *body, FemDice *dice, const Growth *growth) {
	bool waits;
	int32_t other = smallest_beside(body, dice, growth, &waits);
	if (other < 0 && !waits)
		return;
	for (int32_t k = 0; k < growth->count; k++)
		dice->die_of_tet[dice->order[growth->begin + k]] = other < 0 ? NOT_REACHED : other;
	if (other >= 0)
		dice->dice[other].volume += growth->volume;
	dice->dice[growth->die].volume = 0.0f;
}

// Returns where the list of tets in dice ends now.
static int32_t grow(const FemBody *body, FemDice *dice, int32_t tet, int32_t begin) {
	Growth growth = {
		.center = center_of(body, tet), .die = dice->count, .begin = begin, .fewest = fem_fewest_tets(body)};
	float factor = 1.0f + SIZE_VARIATION * chance(body, tet);
	dice->dice[dice->count++] = (FemDie){.tet = tet};
	for (int32_t next = tet; next >= 0 && !is_enough(&growth, factor); next = next_tet(body, dice, &growth))
		add_unit(body, dice, &growth, next);
	dice->dice[growth.die].volume = growth.volume;
	if (!is_enough(&growth, 1.0f))
		join(body, dice, &growth);
	return begin + growth.count;
}

// Each die begins beside one that is there already, so that few tets are left over between them.
static bool make_dice(const FemBody *body, FemDice *dice) {
	const FemTopology *t = body->topology;
	int32_t end = 0, looked = 0;
	for (int32_t user = 0; user < t->user_tet_count; user++) {
		int32_t seed = t->tet_of_user[user];
		while (seed >= 0) {
			if (dice->die_of_tet[seed] == REACHED) {
				if (!FEM_LIST_HOLD(dice->dice, dice->capacity, dice->count + 1, INT32_MAX))
					return false;
				end = grow(body, dice, seed, end);
			}
			seed = -1;
			for (; looked < 4 * end && seed < 0; looked++) {
				int32_t across = t->neighbours[4 * dice->order[looked / 4] + looked % 4];
				seed = across >= 0 && dice->die_of_tet[across / 4] == REACHED ? across / 4 : -1;
			}
		}
	}
	return true;
}

// Those that joined others are among them.
static void sort_by_die(FemDice *dice) {
	int32_t end = 0;
	for (int32_t d = 0; d < dice->count; d++)
		dice->dice[d].in_order = 0;
	for (int32_t tet = 0; tet < dice->lanes; tet++) {
		if (dice->die_of_tet[tet] >= 0)
			dice->dice[dice->die_of_tet[tet]].in_order++;
	}
	for (int32_t d = 0; d < dice->count; d++) {
		end += dice->dice[d].in_order;
		dice->dice[d].in_order = end;
	}
	for (int32_t tet = dice->lanes - 1; tet >= 0; tet--) {
		if (dice->die_of_tet[tet] >= 0)
			dice->order[--dice->dice[dice->die_of_tet[tet]].in_order] = tet;
	}
}

// ---- cuts

static int32_t end_of_die(const FemDice *dice, int32_t die) {
	int32_t end = 0;
	if (die + 1 < dice->count)
		return dice->dice[die + 1].in_order;
	for (int32_t tet = 0; tet < dice->lanes; tet++)
		end += dice->die_of_tet[tet] >= 0;
	return end;
}

// From the dice before it, and from what was relieved in earlier steps.
static int32_t cut_die(FemBody *body, const FemDice *dice, int32_t die, int32_t end) {
	const FemTopology *t = body->topology;
	int32_t before = body->breaking->cut_count;
	for (int32_t k = 4 * dice->dice[die].in_order; k < 4 * end; k++) {
		int32_t face = 4 * dice->order[k / 4] + k % 4, across = t->neighbours[face];
		int32_t other = across < 0 ? die : dice->die_of_tet[across / 4];
		bool is_relieved = across >= 0 && other == NOT_REACHED && !(body->tet_temper[across / 4] > 0.0f);
		if (((other >= 0 && other < die) || is_relieved) && !fem_face_holds(body, face, across))
			fem_face_cut(body, face, across);
	}
	int32_t count = body->breaking->cut_count - before;
	if (count == 0 || !fem_cuts_leave_crumbs(body, count, false))
		return count;
	fem_faces_mend(body, count);
	return 0;
}

static void cut_dice(FemBody *body, FemDice *dice) {
	int32_t count = 0;
	for (int32_t d = 0; d < dice->count; d++)
		count += cut_die(body, dice, d, end_of_die(dice, d));
	fem_cuts_regroup(body, count);
}

// ---- all

static bool allocate(FemDice *dice, const FemTopology *t) {
	dice->lanes = t->batch_count * FEM_LANES;
	dice->nodes = t->split->node_count;
	dice->die_of_tet = FEM_ALLOC_ARRAY_UNSET(int32_t, dice->lanes);
	dice->order = FEM_ALLOC_ARRAY_UNSET(int32_t, dice->lanes);
	dice->node_time = FEM_ALLOC_ARRAY_UNSET(double, dice->nodes);
	dice->queue = FEM_ALLOC_ARRAY_UNSET(int32_t, dice->nodes + 1);
	dice->is_queued = FEM_ALLOC_ARRAY(uint8_t, dice->nodes);
	bool has_room = dice->die_of_tet && dice->order && dice->node_time && dice->queue && dice->is_queued;
	for (int32_t tet = 0; has_room && tet < dice->lanes; tet++)
		dice->die_of_tet[tet] = NOT_REACHED;
	for (int32_t i = 0; has_room && i < dice->nodes; i++)
		dice->node_time[i] = INFINITY;
	return has_room;
}

void fem_dice_free(FemDice *dice) {
	FEM_FREE_ARRAY(dice->die_of_tet, dice->lanes);
	FEM_FREE_ARRAY(dice->order, dice->lanes);
	FEM_FREE_ARRAY(dice->node_time, dice->nodes);
	FEM_FREE_ARRAY(dice->queue, dice->nodes + 1);
	FEM_FREE_ARRAY(dice->is_queued, dice->nodes);
	FEM_FREE_ARRAY(dice->dice, dice->capacity);
	*dice = (FemDice){0};
}

bool fem_dice_cut(FemBody *body, const FemTopology *whole, double time, FemDice *out) {
	*out = (FemDice){.is_over = true};
	FEM_ASSERT(body->own_topology);
	if (!fem_split_open(body->own_topology))
		return false;
	int32_t end = allocate(out, body->topology) ? find_cracks(body, whole, out) : 0;
	if (end > 0) {
		run_front(body, out, end, time);
		find_reached(body, out, time);
		if (make_dice(body, out)) {
			sort_by_die(out);
			cut_dice(body, out);
		}
		find_rest(body, out);
	}
	if (body->breaking->cut_count == 0)
		fem_split_close(body->own_topology);
	return out->count > 0;
}

void fem_dice_relieve(FemBody *body, FemDice *dice) {
	for (int32_t tet = 0; tet < dice->lanes; tet++) {
		int32_t die = dice->die_of_tet[tet];
		if (die < 0)
			continue;
		dice->dice[die].energy += fem_prestress_energy(body, tet);
		body->tet_temper[tet] = body->tet_prestress[tet] = 0.0f;
	}
}
