// Destructibles among Godot's own bodies, one coupling for each engine world.
//
// Before a step: find the bodies near destructibles (rigid_discovery.c), bring their colliders up to date
// (rigid_motion.c). After it: hand each rigid body the force that its collider felt (rigid_forces.c), and bring the
// kinematic bodies that stand for our pieces to where the pieces are (piece_proxies.c).
//
// Everything here runs on Godot's main thread, in SceneTree.physics_frame: the physics server has finished its last
// step and has not begun the next one, also when it runs on a thread of its own.
#ifndef COUPLING_H
#define COUPLING_H

#include "fem_debug_draw.h"
#include "simulation/simulation_world.h"

typedef struct Coupling Coupling;

void coupling_before_step(SimulationWorld *world, double delta);
void coupling_after_step(SimulationWorld *world, double delta);

// The body is about to be destroyed in the engine.
void coupling_forget_body(SimulationBody *body);

// The world is about to be destroyed.
void coupling_free(SimulationWorld *world);

// A blast on rigid bodies, as fem_world_apply_explosion() is on destructibles; returns how many it reached.
int32_t coupling_explode(SimulationWorld *world, FemPosition center, float radius, float strength);

// N, that destructibles gave a body in the last tick, by its node.
GdVector3 coupling_rigid_force(const SimulationWorld *world, GDExtensionObjectPtr node);

// What the last tick cost on the main thread, and how much there is: for DestructionServer.get_statistics().
typedef struct CouplingStatistics {
	int32_t bodies;    // Godot's, known
	int32_t colliders; // in the engine
	int32_t forces;    // bodies that were handed a force in the last tick
	int32_t proxies;   // kinematic bodies that stand for pieces
	double ms;         // of the last tick
} CouplingStatistics;

// What stands for pieces in Godot's physics, as lines.
void coupling_debug_draw(const SimulationWorld *world, const FemDebugDraw *draw);

void coupling_add_statistics(const SimulationWorld *world, CouplingStatistics *sum);

#endif
