#include "world/step/work_limits.h"

#include "fracture/separation.h"
#include "model/piece.h"
#include "world/step/rigid_pieces.h"

#include <math.h>

#define ITERATIONS_LEAST 8  // of a solve, however large; fewer only move things apart by chance. Chosen
#define SOLVES_LEAST 2      // of a pass: one finds which contacts press, one is with these. Chosen
#define CRACKING_TIME 0.1   // s after its last crack in which a body counts as breaking; chosen
#define LARGE_PIECE_TETS 64 // a piece of so many tets does not wait: a wall that hangs in the air is seen. Chosen

int32_t fem_work_passes(const FemWorld *world) {
	int32_t of_world = world->def.fracture_passes_max, most = world->limits.passes_max;
	int32_t tets = world->elastic_tets + world->struck_tets, work = world->limits.fracture_work_max;
	if (work > 0 && tets > 0 && work / tets < most)
		most = work / tets > 1 ? work / tets : 1;
	return of_world < most ? of_world : most;
}

// What has no time for ITERATIONS_LEAST in each of its solves has fewer of these.
int32_t fem_work_solves(const FemWorld *world, int32_t node_count) {
	if (world->limits.solve_work_max <= 0 || node_count <= 0)
		return INT32_MAX;
	int32_t most = world->limits.solve_work_max / node_count / ITERATIONS_LEAST;
	return most > SOLVES_LEAST ? most : SOLVES_LEAST;
}

int32_t fem_work_iterations(const FemWorld *world, int32_t node_count, int32_t cap) {
	if (world->limits.solve_work_max <= 0 || node_count <= 0)
		return cap;
	int32_t most = world->limits.solve_work_max / node_count;
	most = most < ITERATIONS_LEAST ? ITERATIONS_LEAST : most;
	return most < cap ? most : cap;
}

// ---- elastic tets

bool fem_work_is_breaking(const FemWorld *world, const FemBody *body) {
	return body->blow_speed > 0.0f || body->breaking->crack_time + CRACKING_TIME > world->time;
}

static bool fits(const FemWorld *world, int32_t tet_count) {
	int32_t most = world->limits.elastic_tets_max;
	return most <= 0 || world->elastic_tets == 0 || world->elastic_tets + tet_count <= most;
}

static void limit_elastic_of(FemWorld *world, FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		int32_t tets = body->topology->component_tets[c];
		if (body->pieces[c].is_rigid || !fem_piece_is_live(body, c))
			continue;
		if (fits(world, tets) || !fem_rigid_piece_take(body, c))
			world->elastic_tets += tets;
	}
}

// Returns how many tets of rigid pieces are looked at by now.
static int32_t limit_looks_of(const FemWorld *world, FemBody *body, int32_t tets) {
	int32_t of_all = world->limits.elastic_tets_max, of_rubble = world->limits.rubble_tets_max;
	bool is_less = of_rubble > 0 && (of_all <= 0 || of_rubble < of_all) && !fem_work_is_breaking(world, body);
	int32_t most = is_less ? of_rubble : of_all;
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		bool is_looked_at = piece->is_rigid && !isinf(piece->margin) && fem_piece_is_live(body, c);
		int32_t more = is_looked_at ? body->topology->component_tets[c] : 0;
		piece->is_limited = most > 0 && more > 0 && tets > 0 && tets + more > most;
		tets += piece->is_limited ? 0 : more;
	}
	return tets;
}

static FemBody *active_breakable(const FemWorld *world, int32_t place) {
	FemBody *body = world->bodies[world->islands.active_bodies[place]];
	return body->breaking && body->breaking->can_break && !body->kinematic ? body : NULL;
}

// What a blow would break off first is often a chip. A beaker of 500 tets that may not lose 32 of them stays whole.
static void set_piece_limits(const FemWorld *world, FemBody *body) {
	const FemWorkLimits *limits = &world->limits;
	int32_t of_body = body->topology->tet_count / (2 * limits->pieces_free), of_world = limits->piece_tets_min;
	// Below FEM_PIECE_TETS_MIN it counts as that.
	body->breaking->piece_tets_min = of_body < of_world ? of_body : of_world;
	body->breaking->pieces_free = limits->pieces_free;
}

void fem_work_limit_elastic(FemWorld *world) {
	int32_t count = world->islands.active_count, looked_at = 0;
	bool is_limited = world->limits.elastic_tets_max > 0 || world->limits.fracture_work_max > 0;
	world->elastic_tets = world->struck_tets = world->woken_pieces = 0;
	for (int32_t i = 0; is_limited && i < 2 * count; i++) {
		FemBody *body = active_breakable(world, i % count);
		if (body && fem_work_is_breaking(world, body) == (i < count))
			limit_elastic_of(world, body);
	}
	// Each in its turn, so that none is left out for good.
	int32_t first = count > 0 ? (int32_t)(world->step_statistics.step_count % (uint64_t)count) : 0;
	for (int32_t i = 0; i < count; i++) {
		FemBody *body = active_breakable(world, (first + i) % count);
		if (body)
			set_piece_limits(world, body);
		looked_at = body ? limit_looks_of(world, body, looked_at) : looked_at;
	}
}

bool fem_work_takes_elastic(FemWorld *world, int32_t tet_count) {
	bool has_room = fits(world, tet_count);
	world->elastic_tets += has_room ? tet_count : 0;
	return has_room;
}

// ---- waking

static bool is_room_awake(const FemWorld *world) {
	int32_t most = world->limits.awake_pieces_max;
	return most <= 0 || world->islands.count + world->woken_pieces < most;
}

bool fem_work_lets_wait(FemWorld *world, FemBody *body, int32_t component, bool by_collider) {
	FemPiece *piece = &body->pieces[component];
	bool is_frozen = piece->frozen_until > world->time,
		 is_large = body->topology->component_tets[component] >= LARGE_PIECE_TETS;
	bool waits = !by_collider && !is_large && (is_frozen || !is_room_awake(world));
	if (!waits) {
		world->woken_pieces += world->limits.awake_pieces_max > 0 && !fem_piece_is_live(body, component);
		return false;
	}
	piece->waits_to_wake = world->has_waiting_pieces = true;
	return true;
}

static void wake_waiting_of(FemWorld *world, FemBody *body) {
	for (int32_t c = 0; c < body->topology->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		if (!piece->waits_to_wake)
			continue;
		if (piece->frozen_until > world->time || !is_room_awake(world)) {
			world->has_waiting_pieces = true;
			continue;
		}
		piece->waits_to_wake = false;
		world->woken_pieces += !fem_piece_is_live(body, c);
		fem_body_wake_component(&world->islands, body, c);
	}
}

bool fem_work_wake_waiting(FemWorld *world) {
	world->woken_pieces = 0;
	if (!world->has_waiting_pieces)
		return false;
	world->has_waiting_pieces = false;
	for (int32_t b = 0; b < world->body_capacity; b++) {
		if (world->bodies[b] && !world->bodies[b]->kinematic)
			wake_waiting_of(world, world->bodies[b]);
	}
	return world->islands.dirty;
}
