// Holes of a mesh closed for the cutting: a fan over every rim.
#ifndef FEM_CUTTING_CUT_CAPS_H
#define FEM_CUTTING_CUT_CAPS_H

#include "cutting/cut_mesh.h"

// A copy of a mesh in which every edge that is open has a triangle to the middle of its rim. The new triangles have the
// source of the one whose edge they close, and rim_corners. The copy is closed, whatever crosses itself.
FemResult fem_cut_mesh_cap(FemCutMesh *out, const FemCutMesh *mesh);

#endif
