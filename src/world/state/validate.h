// Walks over every structure that say what the first fault is.
#ifndef FEM_WORLD_VALIDATE_H
#define FEM_WORLD_VALIDATE_H

#include "world/world.h"

// ---- validate.c
FemResult fem_world_check(FemWorld *world);                          // fem_world_validate() for a world at hand
FemResult fem_body_check(const FemWorld *world, int32_t body_index); // without what fracture adds
FemResult fem_topology_check(const FemTopology *topology, int32_t index);

// ---- validate_fracture.c
FemResult fem_body_check_breaking(const FemWorld *world, int32_t body_index);

// ---- validate_contact.c
FemResult fem_world_check_contacts(const FemWorld *world); // colliders, sweep, contacts

#endif
