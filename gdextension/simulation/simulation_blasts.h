// Blasts under a budget: their front passes from body to body, as many in a tick as the limits of the step allow.
#ifndef SIMULATION_BLASTS_H
#define SIMULATION_BLASTS_H

#include "fem_destruction.h"

// What of a blast has not reached a body yet.
typedef struct PendingBlast {
	FemBodyId body;
	FemPosition center;     // m
	float radius, strength; // m, N s for each m^2
	double distance;        // m, from the centre to the body's box
	int64_t tick;           // in which it went off
	int32_t cost;           // tets, about, whose time a tick takes in which it breaks the body
} PendingBlast;

typedef struct Blasts {
	PendingBlast *list; // in the order in which they reach their bodies
	int32_t count, capacity;
	int32_t dropped; // for want of room, since the start
} Blasts;

struct SimulationWorld;

// Returns how many bodies it reaches, now and in the next ticks, or -1 with fem_last_error() set.
int32_t blasts_begin(struct SimulationWorld *world, FemPosition center, float radius, float strength);

// Before each step: gives the nearest bodies their share.
void blasts_go_on(struct SimulationWorld *world);

void blasts_free(Blasts *blasts);

#endif
