// Kinematic bodies in Godot's physics that stand for our pieces, so that rays, areas, shape casts and characters meet
// them.
#ifndef PIECE_PROXIES_H
#define PIECE_PROXIES_H

#include "coupling/coupling.h"
#include "fem_debug_draw.h"

typedef struct PieceProxies PieceProxies;

// After a step: where the pieces are; some that have changed shape get new shapes, a few a tick.
void piece_proxies_update(Coupling *coupling);
void piece_proxies_forget(Coupling *coupling, SimulationBody *body);
void piece_proxies_free(Coupling *coupling);
int32_t piece_proxies_count(const Coupling *coupling);

// Whether a body of the physics server with this instance id is one of ours.
bool piece_proxies_own(uint64_t object_id);

// Whether a rigid body passes through them: the solve holds those that take part in it.
void piece_proxies_except(Coupling *coupling, GdRID rid, bool on);

// The same for the pieces of one body.
void piece_proxies_except_body(SimulationBody *body, GdRID rid, bool on);

// Their RIDs, as an untyped Array, if others than when last asked; else false.
bool piece_proxies_list(Coupling *coupling, GdArray *out);

// The edges of their shapes, where the physics server has them.
void piece_proxies_draw(const Coupling *coupling, const FemDebugDraw *draw);

#endif
