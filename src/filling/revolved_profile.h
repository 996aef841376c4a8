// Whether a skin is one that could have been turned on a lathe (vases, bottles, bowls, tubes, glasses), or turned and
// then stretched to one side (ovals), and its profile: what half a plane through its axis cuts out of it before that.
#ifndef FEM_FILLING_REVOLVED_PROFILE_H
#define FEM_FILLING_REVOLVED_PROFILE_H

#include "filling/skin.h"

#define FEM_PROFILE_MOST 160 // points of a profile; chosen

typedef struct FemRevolvedProfile {
	bool found;
	FemVec3d origin, axis; // unit space; the axis a unit vector
	FemVec3d across[2];    // unit vectors: where the profile lies, and a quarter of a turn from there
	int32_t count;
	double radius[FEM_PROFILE_MOST], height[FEM_PROFILE_MOST]; // unit space, from one end to the other
	bool on_axis[2];                                           // first and last point: the skin is closed there
	FemVec3d wide;    // unit vector across the axis: what was turned is then stretched along it ...
	double stretch;   // ... by this factor, 1 or more (1 where it is round) ...
	double still;     // ... from this place along it
	bool faces_right; // normals point to the right of the way along the profile, the axis upward and radii to the right
} FemRevolvedProfile;

// False without memory. What is turned but has facets as large as those of a pillar of eight sides counts as not
// turned, and so does what closes in itself, as a tyre.
FEM_MUST_USE bool fem_revolved_profile_find(const FemSkin *skin, FemRevolvedProfile *out);

#endif
