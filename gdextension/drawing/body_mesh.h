// The drawn mesh of a box-shaped body; what each vertex carries is described in surface_arrays.h.
#ifndef BODY_MESH_H
#define BODY_MESH_H

#include "drawing/body_shape.h"
#include "fem_baking.h"
#include "godot_calls.h"

// A mesh of the RenderingServer with one surface; free it with gd_rendering_server_free_rid().
GdRID body_mesh_create(const BodyShape *shape);

// The same surface as an engine's mesh; false when memory is short. Free it in any case.
bool body_mesh_render(const BodyShape *shape, FemRenderMesh *out);

#endif
