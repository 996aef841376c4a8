// What goes to grains under a pressure that it cannot carry.
//
// Brittle material is crushed under what strikes it. To crush a volume takes its crush_strength for each m^3 (Teale
// 1965), so that the energy which a blow spends at one place, and which contact has taken out of the motion already,
// tells how much goes: nothing of it depends on the step or the mesh, but for whole tets. A load that rests crushes
// what it touches where the pressure in it is beyond crush_strength (docs/method.md, "Crushing").
#ifndef FEM_WORLD_CRUSHING_H
#define FEM_WORLD_CRUSHING_H

#include "world/step/step.h"
#include "world/world.h"

// At the end of a step, when what touched and how hard is known: takes crushed tets out of their bodies.
void fem_crushing_run(FemStep *step);

void fem_crushing_publish(FemWorld *world); // events of the step

#endif
