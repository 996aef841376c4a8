// Kinematic bodies in Godot's physics that stand for our pieces, so that rays, areas, shape casts and characters meet
// them.
#ifndef PIECE_PROXIES_H
#define PIECE_PROXIES_H

#include "coupling/coupling.h"

// After a step: where the pieces are; some that have changed shape get new shapes, a few a tick.
void piece_proxies_update(Coupling *coupling, double delta);
void piece_proxies_forget(Coupling *coupling, SimulationBody *body);
void piece_proxies_free(Coupling *coupling);
int32_t piece_proxies_count(const Coupling *coupling);

// Whether a body of the physics server is one of ours.
bool piece_proxies_own(const Coupling *coupling, GdRID rid);

#endif
