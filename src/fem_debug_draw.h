// Draws what the engine sees, by callbacks of the host: for finding out why something stands, sinks, sleeps or breaks.
#ifndef FEM_DEBUG_DRAW_H
#define FEM_DEBUG_DRAW_H

#include "fem_basics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum FemDebugDrawFlag {
	FEM_DRAW_TETS = 1 << 0,     // lines: every edge of the tets once; awake bright, asleep grey, kinematic blue
	FEM_DRAW_STRESS = 1 << 1,   // triangles: outer faces by the largest tension in the tet behind, from blue to red
	FEM_DRAW_CONTACTS = 1 << 2, // a point at each contact of the last step, red where it has an impulse, and a line
								// along its normal, 0.1 m
	FEM_DRAW_ISLANDS = 1 << 3,  // the 12 edges of the box of every live island, a colour each
	FEM_DRAW_BOXES = 1 << 4,    // the same of every body, and of every collider that is not infinite
	FEM_DRAW_MOTION = 1 << 5,   // triangles: outer faces by how the piece moves; elastic orange, rigid blue, asleep
								// grey, kinematic violet
	FEM_DRAW_ALL = (1 << 6) - 1,
} FemDebugDrawFlag;

// Colours are 0xRRGGBBAA. A callback that is null is not called. Callbacks must not call the engine.
typedef struct FemDebugDraw {
	void (*line)(void *user, FemPosition from, FemPosition to, uint32_t color);
	void (*triangle)(void *user, const FemPosition corners[3], uint32_t color); // counter-clockwise from outside
	void (*point)(void *user, FemPosition at, uint32_t color);
	void *user;
	float stress_max; // Pa that is drawn red; 0: what the tet breaks at, of what does not break the largest of the body
} FemDebugDraw;

// Between steps only. `flags` is a set of FemDebugDrawFlag. Slow: stress is computed for every tet.
FemResult fem_world_debug_draw(FemWorldId world, uint32_t flags, const FemDebugDraw *draw);

#ifdef __cplusplus
}
#endif

#endif
