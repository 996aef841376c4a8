// The modes that a DestructibleMesh was baked with, for a body of it.
#ifndef DESTRUCTIBLE_MESH_MODES_H
#define DESTRUCTIBLE_MESH_MODES_H

#include "classes/destructible_mesh.h"
#include "simulation/simulation.h"

// A copy for the whole of a body, scaled to its material and size, by node of the body; fem_modes_free() it. False:
// there are none, or they are not those of this body: it is anchored, of several materials, of too different a
// Poisson's ratio, or not scaled alike along its axes. stiffness_factor: on the material's modulus.
bool destructible_mesh_modes_of(const SimulationBody *body, double stiffness_factor, FemModes *out);

#endif
