// The drawn mesh of a body. Each vertex knows the tet it rides on; the vertex shader places it (see
// addons/fem_destruction/shaders/fem_position.gdshaderinc, which reads what is written here):
//   VERTEX, NORMAL, TANGENT, UV  the rest shape, shown as it is while nothing is simulated
//   CUSTOM0  the 4 nodes of the tet, counted from the body's first texel
//   CUSTOM1  their weights
//   CUSTOM2  transpose(Dm) N sign(det Dm): the normal is then normalize(cof(Ds) CUSTOM2.xyz)
//   CUSTOM3  inverse(Dm) T, and in w the sign of the binormal: the tangent is then Ds CUSTOM3.xyz
// with Dm and Ds the edges from the tet's first node to the others, at rest and now. The normal follows the cofactor of
// the deformation (Ds Dm^-1); all that belongs to the rest shape is multiplied in beforehand.
#ifndef BODY_MESH_H
#define BODY_MESH_H

#include "body_shape.h"
#include "godot_calls.h"

// A mesh of the RenderingServer with one surface; free it with gd_rendering_server_free_rid().
GdRID body_mesh_create(const BodyShape *shape);

#endif
