// Cracks: planes through nodes that want to separate, cut along the faces of tets (P&O09 section 5;
// docs/method.md, "Splitting").
#ifndef FEM_FRACTURE_CRACK_H
#define FEM_FRACTURE_CRACK_H

#include "fracture/separation.h"

// A face that opened. Faces are tet * 4 + local.
typedef struct FemFaceCut {
	int32_t face, across;
	int32_t nodes[3]; // of `face`, numbers of before the rebuild and before this split's copies
} FemFaceCut;

typedef struct FemCrackSplits {
	int32_t count; // nodes split
	int32_t edges; // that the farthest crack has run
	double time;   // s, in which the tip of the fastest crack has passed one of them
	bool is_whole; // all nodes of the list were tried, or wait beside one that was split
} FemCrackSplits;

// The strength over the stress at which a crack runs on through a node with that star (crack_tip.h).
typedef float FemTipGain(
	const void *context, const FemBody *body, int32_t node, const int32_t *star, int32_t star_count);

typedef struct FemCrackRules {
	uint64_t order;       // seed of the order among equals
	int32_t most;         // nodes
	float dt;             // s
	FemTipGain *tip_gain; // of fast cracks that run on within a pass; null: none do
	const void *context;
} FemCrackRules;

// Splits nodes of the list, the most overstressed first, until `most` were split or none is left that is not beside
// one that was; faces go to breaking->cuts. io_area: m^2 that may be opened; the crack that exceeds it runs on to its
// end in this pass and is the last. The topology is left open (fem_split_open) when some were split.
FemCrackSplits fem_crack_split(FemBody *body, const FemCrackRules *rules, double *io_area);

// ---- faces, between fem_split_open() and the rebuild; all that cut go through these

// A face holds when neither of its tets can break: a frame stays whole beside a pane that shatters.
bool fem_face_holds(const FemBody *body, int32_t face, int32_t across);

// Opens a face and adds it to breaking->cuts; without memory it stays.
void fem_face_cut(FemBody *body, int32_t face, int32_t across);

// Of the last `count` cuts: whether they leave less than a piece on either side, unless the tets hung together as less
// before (a body of one or two tets). `is_pierced`: pieces may be smaller than fragments (FemSeparation).
bool fem_cuts_leave_crumbs(FemBody *body, int32_t count, bool is_pierced);

// Closes them again.
void fem_faces_mend(FemBody *body, int32_t count);

// Copies the nodes that they part. Hinges and ball joints can only have come at corners of the faces just opened.
void fem_cuts_regroup(FemBody *body, int32_t count);

#endif
