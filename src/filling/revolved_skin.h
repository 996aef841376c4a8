// Triangles along a skin that could have been turned on a lathe (revolved_profile.h): rings of corners, all on the same
// meridians. A shell that bends without stretching, as a bottle that becomes oval, folds along meridians; triangles
// that lie across them have to stretch for it, and are too stiff unless they are many times as small.
//
// Where rings lie farther apart than a shell is wide, as along a tube, the two triangles between them are one
// quadrangle: triangles of constant strain in the wall would keep the tube from bending as a beam.
#ifndef FEM_FILLING_REVOLVED_SKIN_H
#define FEM_FILLING_REVOLVED_SKIN_H

#include "filling/revolved_profile.h"

// At most triangle_count triangles, or as many more as it takes until none lies farther than error_max from the turned
// profile (unit space). False without memory.
FEM_MUST_USE bool fem_revolved_skin(
	const FemRevolvedProfile *profile, int32_t triangle_count, double error_max, FemSkin *out);

#endif
