// Shedding: which pieces go to sleep, and which fade, when there are more than a game can afford.
#include "base/memory.h"
#include "base/vec.h"
#include "fem_constants.h"
#include "model/piece.h"
#include "world/api/checks.h"
#include "world/api/cookies.h"
#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/step/breaking.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>

#define NEAR_DISTANCE 10.0 // m, at which speeds count as they are; nearer they do, too. Chosen
#define UNSEEN_SHARE 0.25  // of its speed and size, of what no observer sees; chosen
#define RUBBLE_SPEED 0.1   // m/s: what lies still counts as if it moved so fast, so that size and distance decide
#define SLEEPER_SHARE 0.25 // of its rank, of a piece that sleeps: it goes before what moves. Chosen
#define FLYING_SHARE 2     // times awake_max: so many may be awake before some of what flies must go; chosen
// m, edge of a cube at NEAR_DISTANCE: what looks larger is seen to vanish, and does not fade for the sake of time. Half
// a brick; chosen
#define LARGE_SIZE 0.1
// s, for which what looks larger must have been slower than the speed of sleep before it is frozen: a slab that begins
// to topple would hang in the air. Chosen, a fifth of what sleep takes
#define LARGE_REST 0.1
#define HELD_LEAST 0.05f // of FemContact.props of what it touches: less is nothing that holds it up; as in bearing.c
#define FREEZE_TIME_MAX 1e6f // s; chosen: longer than a game
// s, from one step in which a body loses pieces to the next, and in how many parts of that bodies take turns. Chosen:
// with one in every step a level of thirty burst vases spent 2 ms a step on tables.
#define GOING_INTERVAL (1.0 / 15.0)
#define GOING_PHASES 4
#define COUNT_MAX (1 << 24) // pieces that are ranked; chosen

FemShedDef fem_default_shed_def(void) {
	return (FemShedDef){
		.freeze_speed = 0.5f, .freeze_time = 1.0f, .fade_time = 0.5f, .removals_max = 32, .cookie = FEM_COOKIE_SHED};
}

typedef struct Candidate {
	int32_t body, component;
	double rank;  // how much it would be missed: size and speed over distance
	double speed; // m/s, as seen from NEAR_DISTANCE
	bool unseen;
	bool awake;
	bool is_debris; // it may go
	bool is_large;  // but not before the eyes of all
} Candidate;

typedef struct Shedding {
	FemWorld *world;
	const FemShedDef *def;
	Candidate *list;
	int32_t count, capacity, awake;
} Shedding;

// ---- what is seen

typedef struct Sight {
	double distance; // m, to the nearest observer
	bool unseen;
} Sight;

static Sight look_at(const FemShedDef *def, FemPosition place, double radius) {
	Sight out = {def->observer_count > 0 ? INFINITY : NEAR_DISTANCE, def->observer_count > 0};
	for (int32_t i = 0; i < def->observer_count && i < FEM_OBSERVER_MAX; i++) {
		const FemObserver *observer = &def->observers[i];
		FemVec3d away = fem_position_sub(place, observer->position), forward = fem_vec3d_from(observer->forward);
		double distance = sqrt(fem_vec3d_dot(away, away)), length = sqrt(fem_vec3d_dot(forward, forward));
		double along = length > 0.0 ? fem_vec3d_dot(away, forward) / length : distance;
		bool is_seen =
			length == 0.0 || distance < 2.0 * radius || along + radius > (double)observer->cone_cosine * distance;
		out.distance = fmin(out.distance, distance);
		out.unseen &= !is_seen;
	}
	return out;
}

// Mean of a few nodes: where a piece is and how fast it moves is not asked to the digit.
static void measure(const FemBody *body, FemRange nodes, FemPosition *out_place, double *out_speed) {
	int32_t count = nodes.end - nodes.begin, stride = count > 8 ? count / 8 : 1, taken = 0;
	FemVec3d sum = {0};
	double fastest = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i += stride, taken++) {
		FemVec3d v = fem_vec3d_from4(body->velocity[i]);
		sum = fem_vec3d_add(sum, fem_vec3d_from4(body->position[i]));
		fastest = fmax(fastest, fem_vec3d_dot(v, v));
	}
	*out_place = fem_position_move(body->origin, fem_vec3d_scale(sum, 1.0 / taken));
	*out_speed = sqrt(fastest);
}

// ---- candidates

static void add(Shedding *s, int32_t body_index, int32_t component, bool awake, int32_t largest) {
	const FemBody *body = s->world->bodies[body_index];
	const FemPiece *piece = &body->pieces[component];
	FemPosition place;
	double speed, size = cbrt((double)fmaxf(piece->volume, 0.0f));
	measure(body, body->topology->component_nodes[component], &place, &speed);
	Sight sight = look_at(s->def, place, size);
	double near = NEAR_DISTANCE / fmax(sight.distance, NEAR_DISTANCE);
	double seen_speed = speed * near * (sight.unseen ? UNSEEN_SHARE : 1.0);
	double seen_size = size * NEAR_DISTANCE / fmax(sight.distance, 1.0) * (sight.unseen ? UNSEEN_SHARE : 1.0);
	FEM_ASSERT(s->count < s->capacity);
	s->list[s->count++] = (Candidate){
		.body = body_index,
		.component = component,
		.rank = seen_size * (seen_speed + RUBBLE_SPEED) * (awake ? 1.0 : SLEEPER_SHARE),
		.speed = seen_speed,
		.unseen = sight.unseen,
		.awake = awake,
		.is_debris = body->breaking && fem_piece_is_debris(body, component, largest),
		.is_large = seen_size > LARGE_SIZE,
	};
}

// Of equals the one that is listed first: no two orders of the same list.
static int compare(const void *left, const void *right) {
	const Candidate *a = left, *b = right;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->body != b->body)
		return a->body < b->body ? -1 : 1;
	return a->component < b->component ? -1 : a->component > b->component;
}

static void sort(Shedding *s) {
	if (s->count > 1)
		qsort(s->list, (size_t)s->count, sizeof *s->list, compare);
}

// ---- sleep

// Pieces that touch what does not move, or what rests on that: shards of a slab touch each other while they fall.
static void mark_held_up(FemWorld *world) {
	const FemContactStage *stage = &world->contacts;
	for (int32_t i = 0; i < 2 * stage->contact_count; i++) {
		const FemContact *contact = &stage->contacts[i / 2];
		const FemContactSide *side = &contact->side[i % 2];
		FemBody *body = fem_side_is_body(side) ? world->bodies[side->body] : NULL;
		bool holds = contact->side[1 - i % 2].is_fixed || contact->props[1 - i % 2] > HELD_LEAST;
		if (body && side->piece < body->topology->component_count && holds)
			body->pieces[side->piece].is_held_up = true;
	}
}

static bool is_at_rest(const FemWorld *world, const FemBody *body, int32_t component) {
	FemRange parts = body->topology->component_parts[component];
	for (int32_t p = parts.begin; p < parts.end; p++) {
		if ((double)body->part_still[p] * (double)world->step_dt < LARGE_REST)
			return false;
	}
	return true;
}

static bool is_on_ground(const FemBody *body, FemRange nodes) {
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		if (body->ground_force[i] > 0.0f)
			return true;
	}
	return false;
}

// Something must hold it up: what flies is not stopped in the air. Nor is what hangs together by bonds: a piece of a
// tower that begins to fall would hold all of it.
static bool may_freeze(const Shedding *s, const Candidate *candidate) {
	const FemBody *body = s->world->bodies[candidate->body];
	FemRange nodes = body->topology->component_nodes[candidate->component];
	return candidate->awake && !body->pieces[candidate->component].is_joined &&
		candidate->speed < (double)s->def->freeze_speed &&
		(body->pieces[candidate->component].is_held_up || is_on_ground(body, nodes)) &&
		(!candidate->is_large || is_at_rest(s->world, body, candidate->component));
}

static int32_t freeze_most(Shedding *s) {
	FemWorld *world = s->world;
	int32_t frozen = 0;
	for (int32_t i = 0; i < s->count && s->awake > s->def->awake_max; i++) {
		Candidate *candidate = &s->list[i];
		if (!may_freeze(s, candidate))
			continue;
		FemBody *body = world->bodies[candidate->body];
		fem_body_sleep_component(&world->islands, body, candidate->component);
		body->pieces[candidate->component].frozen_until = world->time + (double)s->def->freeze_time;
		candidate->awake = false;
		s->awake--;
		frozen++;
	}
	return frozen;
}

// ---- fading

// s, world time. Tables are made anew for each body that loses pieces: those of a body go together, a few times a
// second, and different bodies in different steps.
static double end_of(const Shedding *s, const Candidate *candidate) {
	double now = s->world->time, phase = GOING_INTERVAL * (candidate->body % GOING_PHASES) / GOING_PHASES;
	double fade_time = candidate->unseen ? 0.0 : (double)s->def->fade_time;
	return fade_time > 0.0 ? phase + GOING_INTERVAL * ceil((now + fade_time - phase) / GOING_INTERVAL) : now;
}

// Those that are to go are counted as gone.
static int32_t fade(Shedding *s, int32_t excess, bool only_awake) {
	FemWorld *world = s->world;
	int32_t faded = 0, most = excess < s->def->removals_max ? excess : s->def->removals_max;
	for (int32_t i = 0; i < s->count && faded < most; i++) {
		const Candidate *candidate = &s->list[i];
		const FemPiece *piece = &world->bodies[candidate->body]->pieces[candidate->component];
		bool stays = only_awake && (!candidate->awake || candidate->is_large);
		if (!candidate->is_debris || piece->retires < INFINITY || stays)
			continue;
		fem_piece_retire_at(world->bodies[candidate->body], candidate->component, end_of(s, candidate));
		faded++;
	}
	return faded;
}

static int32_t count_going(const FemWorld *world, bool only_awake) {
	int32_t count = 0;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		const FemBody *body = world->bodies[b];
		for (int32_t c = 0; body && body->breaking && c < body->topology->component_count; c++)
			count += body->pieces[c].retires < INFINITY && (!only_awake || fem_piece_is_live(body, c));
	}
	return count;
}

// ---- the call

static FemResult check(const FemShedDef *def) {
	bool is_sane = def && def->cookie == FEM_COOKIE_SHED && def->awake_max >= 0 && def->pieces_max >= 0 &&
		def->removals_max >= 0 && def->observer_count >= 0 && (def->observers || def->observer_count == 0) &&
		def->freeze_speed >= 0.0f && def->freeze_time >= 0.0f && def->freeze_time <= FREEZE_TIME_MAX &&
		def->fade_time >= 0.0f && def->fade_time <= FREEZE_TIME_MAX;
	for (int32_t i = 0; is_sane && i < def->observer_count; i++)
		is_sane = fem_position_is_valid(def->observers[i].position) && fem_vec3_is_finite(def->observers[i].forward) &&
			def->observers[i].cone_cosine >= -1.0f && def->observers[i].cone_cosine <= 1.0f;
	return is_sane ? FEM_OK
				   : fem_fail(FEM_ERROR_INVALID_ARGUMENT,
						 "The def of a shedding must be made by fem_default_shed_def(), without negative numbers and "
						 "with observers in finite places.");
}

// Of each body that is awake, or of all of them: the pieces that are not held.
static void list_candidates(Shedding *s, bool of_all) {
	FemWorld *world = s->world;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		FemBody *body = world->bodies[b];
		bool is_listed = body && !body->kinematic && (of_all || body->live_part_count > 0);
		int32_t largest = is_listed ? fem_largest_piece(body->topology) : 0;
		for (int32_t c = 0; is_listed && c < body->topology->component_count; c++) {
			bool awake = fem_piece_is_live(body, c);
			body->pieces[c].is_held_up = false;
			s->awake += awake;
			if ((awake || of_all) && !fem_piece_is_attached(body, c) && s->count < s->capacity)
				add(s, b, c, awake, largest);
		}
	}
}

static bool has_more_awake(const FemWorld *world, int32_t most) {
	int32_t awake = 0;
	for (int32_t b = 0; b < world->body_capacity && awake <= most; b++) {
		const FemBody *body = world->bodies[b];
		bool is_awake = body && !body->kinematic && body->live_part_count > 0;
		for (int32_t c = 0; is_awake && c < body->topology->component_count; c++)
			awake += fem_piece_is_live(body, c);
	}
	return awake > most;
}

FemResult fem_world_shed(FemWorldId id, const FemShedDef *def, FemShedResult *out_result) {
	FemResult result;
	FemWorld *world = fem_world_find_idle(id, &result);
	FemShedResult done = {0};
	if (!world || (result = check(def)) != FEM_OK)
		return result;
	Shedding s = {.world = world, .def = def};
	bool is_over = def->pieces_max > 0 && world->piece_count > def->pieces_max;
	bool may_be_awake_over = def->awake_max > 0 && has_more_awake(world, def->awake_max);
	s.capacity = (int32_t)(world->piece_count < COUNT_MAX ? world->piece_count : COUNT_MAX);
	if (is_over || may_be_awake_over) {
		s.list = FEM_ALLOC_ARRAY_UNSET(Candidate, s.capacity);
		if (!s.list)
			return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for ranking %d pieces.", s.capacity);
		list_candidates(&s, is_over);
		done.awake = s.awake;
		sort(&s);
		if (def->awake_max > 0 && s.awake > def->awake_max) {
			mark_held_up(world);
			done.frozen = freeze_most(&s);
			done.faded = fade(&s, s.awake - count_going(world, true) - FLYING_SHARE * def->awake_max, true);
		}
		if (is_over)
			done.faded += fade(&s, (int32_t)world->piece_count - count_going(world, false) - def->pieces_max, false);
		FEM_FREE_ARRAY(s.list, s.capacity);
	}
	if (out_result)
		*out_result = done;
	return FEM_OK;
}
