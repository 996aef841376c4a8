// The drawn mesh of a box-shaped body; what each vertex carries is described in surface_arrays.h.
#ifndef BODY_MESH_H
#define BODY_MESH_H

#include "body_shape.h"
#include "godot_calls.h"

// A mesh of the RenderingServer with one surface; free it with gd_rendering_server_free_rid().
GdRID body_mesh_create(const BodyShape *shape);

#endif
