// Triangles as shapes of Godot's physics.
#ifndef MESH_SHAPES_H
#define MESH_SHAPES_H

#include "binding/conversions.h"

#include <stdbool.h>

// Hands triangles, three corners each in m, to a concave polygon shape. False, and nothing is handed over, where all
// are so small that Jolt, which leaves out what is under a square millimetre, would have none and say so as an error.
bool mesh_shape_set_faces(GdRID shape, GdPackedVector3Array *faces);

#endif
