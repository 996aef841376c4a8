// From what happened in a tick to what is heard of it: contacts strike or rub, cracks crack.
#ifndef SOUND_EVENTS_H
#define SOUND_EVENTS_H

#include "simulation/simulation_world.h"

// After each step of a world, on the main thread.
void sound_after_step(SimulationWorld *world, double delta);

// A blow that a script gives: N s at a point of a body, by a striker that touches for so long (s). False when nothing
// is heard of it yet, or the numbers are none.
struct DestructionSound;
bool sound_strike(
	struct DestructionSound *sound, SimulationBody *body, FemPosition point, FemVec3 impulse, double duration);

// What a bullet gave a body (N s): heard when the body's world is. Other impulses of scripts may be pushes of every
// tick.
void sound_hear_impulse(SimulationBody *body, FemPosition point, FemVec3 impulse);

#endif
