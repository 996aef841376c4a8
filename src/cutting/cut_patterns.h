// Where cells lie: the sites of each pattern, in the manner of the material.
#ifndef FEM_CUTTING_CUT_PATTERNS_H
#define FEM_CUTTING_CUT_PATTERNS_H

#include "cutting/cut_solid.h"
#include "geometry/principal_box.h"

// Square of the length under which a direction of a FemCutDef counts as not given; chosen: 1e-6.
#define FEM_CUT_NO_DIRECTION 1e-12f

// What a pattern knows of the body. Lengths are m unless said otherwise.
typedef struct FemCutBody {
	const FemCutDef *def;
	const FemTetArrays *tets;
	FemUnitFrame frame;     // of unit space: axes along those of the mesh
	FemPrincipalBox box;    // of the render mesh, in the mesh's space
	double low[3], high[3]; // unit space, of what is cut
	double volume;          // m^3
	double *volumes;        // [tet]: of it and all before, m^3
	double splinter_size;   // mean diameter wanted
	int32_t splinter_count; // wanted
	uint64_t random;        // state
	bool is_limited;        // the pattern asked for more cells than there may be
} FemCutBody;

double fem_cut_random(FemCutBody *body);         // 0..1
FemVec3d fem_cut_random_place(FemCutBody *body); // unit space, within a tet

// A frame of the pattern: right-handed axes in the mesh's space, the given direction as `axis`, the others by falling
// extent.
typedef struct FemCutFrame {
	FemVec3d axes[3];
	double low[3], high[3]; // of what is cut along them, m, from the unit frame's origin
} FemCutFrame;

// direction 0: the box's own axis number `by_shape` (0 the longest).
FemCutFrame fem_cut_frame(const FemCutBody *body, FemVec3d direction, int axis, int by_shape);
FemVec3d fem_cut_frame_place(const FemCutBody *body, const FemCutFrame *frame, const double at[3]); // unit space

// Adds the pattern's sites and its metric. Never none.
void fem_cut_pattern(FemCutBody *body, FemCutSites *sites);
void fem_cut_pattern_voronoi(FemCutBody *body, FemCutSites *sites, int32_t impact_count, const FemVec3d *impacts);
bool fem_cut_is_pane(const FemCutBody *body); // flat: glass is cut straight through it
void fem_cut_pattern_glass(FemCutBody *body, FemCutSites *sites);
void fem_cut_pattern_wood(FemCutBody *body, FemCutSites *sites);
void fem_cut_pattern_brick(FemCutBody *body, FemCutSites *sites);

// Splinters with one home tet never part, so there is nothing to be seen between them: their labels become one. A
// label's home is here the tet at the mean of its sites.
FemResult fem_cut_join_labels(FemCutSites *sites, const FemTetArrays *tets, const FemUnitFrame *frame);

#endif
