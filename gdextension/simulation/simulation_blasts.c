#include "simulation/simulation_blasts.h"

#include "simulation/simulation_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PENDING_MAX = 4096, // chosen: sixteen blasts in a level of 256 bodies
	OF_BODY_MAX = 4,    // blasts that wait for one body; more at once are not told apart
	// Of the elastic tets that a tick may have, the part that blasts may strike anew: a body that bursts is taken
	// through all its passes at once, and its pieces fly (tests/bench/level.sh, vases: with 8 two burst in a tick, and
	// the slowest ticks took half as long again). Chosen.
	BURST_COST = 16,
	SPREAD_TICKS = 30, // in which all that a blast reaches is struck, whatever that costs: half a second. Chosen
};

void blasts_free(Blasts *blasts) {
	free(blasts->list);
	*blasts = (Blasts){0};
}

static SimulationBody *find_body(const SimulationWorld *world, FemBodyId id) {
	for (int32_t i = 0; i < world->body_count; i++) {
		FemBodyId of_body = world->bodies[i]->body;
		if (of_body.index1 == id.index1 && of_body.generation == id.generation) {
			return world->bodies[i];
		}
	}
	return NULL;
}

static double distance_to_box(FemPosition p, FemPosition low, FemPosition high) {
	double x = fmax(fmax(low.x - p.x, p.x - high.x), 0.0), y = fmax(fmax(low.y - p.y, p.y - high.y), 0.0),
		   z = fmax(fmax(low.z - p.z, p.z - high.z), 0.0);
	return sqrt(x * x + y * y + z * z);
}

static bool hold_one_more(Blasts *blasts) {
	if (blasts->count < blasts->capacity) {
		return true;
	}
	int32_t capacity = blasts->capacity > 0 ? 2 * blasts->capacity : 64;
	PendingBlast *list = capacity <= PENDING_MAX ? realloc(blasts->list, (size_t)capacity * sizeof(*list)) : NULL;
	if (list) {
		blasts->list = list;
		blasts->capacity = capacity;
	}
	return list != NULL;
}

static int32_t count_of_body(const Blasts *blasts, FemBodyId body) {
	int32_t count = 0;
	for (int32_t i = 0; i < blasts->count; i++) {
		count += blasts->list[i].body.index1 == body.index1 && blasts->list[i].body.generation == body.generation;
	}
	return count;
}

// Earlier blasts first, then what is nearest.
static void insert(Blasts *blasts, const PendingBlast *one) {
	int32_t at = blasts->count++;
	while (at > 0 && blasts->list[at - 1].tick == one->tick && blasts->list[at - 1].distance > one->distance) {
		blasts->list[at] = blasts->list[at - 1];
		at--;
	}
	blasts->list[at] = *one;
}

// Tets that the blast may wake and break in a tick, by the limits that hold; pieces count, too, since each that is
// awake costs whatever its size.
static int32_t cost_of(const SimulationBody *body) {
	return fem_body_get_tet_count(body->body) + 4 * body->piece_count;
}

int32_t blasts_begin(SimulationWorld *world, FemPosition center, float radius, float strength) {
	Blasts *blasts = &world->blasts;
	int32_t reached = 0;
	if (!isfinite(center.x + center.y + center.z) || !(radius > 0.0f) || !isfinite(radius) || !isfinite(strength)) {
		return fem_world_apply_explosion(world->id, center, radius, strength); // the engine says what is wrong
	}
	for (int32_t i = 0; i < world->body_count; i++) {
		FemBodyId id = world->bodies[i]->body;
		FemPosition low, high;
		if (fem_body_get_bounds(id, &low, &high) != FEM_OK || distance_to_box(center, low, high) >= (double)radius) {
			continue;
		}
		reached++;
		if (count_of_body(blasts, id) >= OF_BODY_MAX || !hold_one_more(blasts)) {
			blasts->dropped++;
			continue;
		}
		PendingBlast one = {id, center, radius, strength, distance_to_box(center, low, high), world->budget.tick,
			cost_of(world->bodies[i])};
		insert(blasts, &one);
	}
	return reached;
}

// What blasts may strike in this tick, at least the nearest body; all of it where the work of a tick is not bounded.
static int32_t most_of_tick(const SimulationWorld *world) {
	const Blasts *blasts = &world->blasts;
	FemWorkLimits limits;
	fem_world_get_work_limits(world->id, &limits);
	if (limits.elastic_tets_max <= 0) {
		return INT32_MAX;
	}
	int64_t waiting = 0;
	for (int32_t i = 0; i < blasts->count; i++) {
		waiting += blasts->list[i].cost;
	}
	int64_t left = blasts->list[0].tick + SPREAD_TICKS - world->budget.tick,
			least = limits.elastic_tets_max / BURST_COST;
	int64_t most = left > 1 ? waiting / left : waiting;
	most = most > least ? most : least;
	return most < INT32_MAX ? (int32_t)most : INT32_MAX;
}

void blasts_go_on(SimulationWorld *world) {
	Blasts *blasts = &world->blasts;
	int32_t spent = 0, done = 0;
	if (blasts->count == 0) {
		return;
	}
	int32_t most = most_of_tick(world);
	while (done < blasts->count && (spent == 0 || spent < most)) {
		const PendingBlast *one = &blasts->list[done++];
		SimulationBody *body = find_body(world, one->body);
		if (!body) {
			continue;
		}
		simulation_body_wake_near(body, one->center, (double)one->radius);
		fem_body_apply_explosion(one->body, one->center, one->radius, one->strength);
		spent += one->cost;
	}
	blasts->count -= done;
	memmove(blasts->list, blasts->list + done, (size_t)blasts->count * sizeof(*blasts->list));
}
