// Pieces of bodies on straight paths through a step: where two of them first overlap, and how deep.
//
// The paths are sampled. What is asked at a sample is whether an outer triangle of one piece reaches into an outer tet
// of the other: two closed surfaces that come to overlap cross each other first, and where they cross, a triangle
// reaches into a tet behind a triangle.
//
// Trees are read only, as they were fitted for the start of the step: boxes are moved by the mean displacement of their
// piece and grown by what single nodes go beyond it. So any threads may ask at once.
#ifndef FEM_COLLISION_SWEPT_H
#define FEM_COLLISION_SWEPT_H

#include "base/range.h"
#include "collision/surface_trees.h"
#include "model/body.h"

typedef struct FemSweptPiece {
	const FemBody *body;
	FemTreeSpan span; // of its trees
	FemRange nodes;
	FemVec3 shift;  // m, mean displacement of its surface nodes
	float slack;    // m, most that a node leaves its box moved by the mean displacement
	float dt, lead; // s: at a fraction f of the step a node is at position + (f dt - lead) velocity
} FemSweptPiece;

Float4 fem_swept_point(const FemSweptPiece *piece, int32_t node, float fraction); // m, from the body's origin

Box4 fem_swept_box(const FemSweptPiece *piece); // m, at the start of the step

// What a search has looked at, and the bounds beyond which it gives up: what it would have found is left to the
// contacts of the next step.
typedef struct FemSweptWork {
	int32_t visits, visits_max; // pairs of boxes: of a face and a tet, or of a tet and a sub-shape of a collider
	int32_t clips, clips_max;   // pairs of solids tested against each other at one sample
} FemSweptWork;

// The first of the samples 1..count, evenly spaced, at which a overlaps b; count + 1 when there is none. `displacement`
// is the largest of a node of one relative to a node of the other, m.
int32_t fem_swept_first_overlap(
	const FemSweptPiece *a, const FemSweptPiece *b, float displacement, int32_t count, FemSweptWork *work);

// How many of `count` samples on a path of `displacement` m are looked at together: those in which the smaller piece
// goes half its size. Boxes drawn out along a path of many lengths hold far more than the piece comes near
// to, and what lies behind the first overlap need not be looked at. b may be null.
int32_t fem_swept_window(const FemSweptPiece *a, const FemSweptPiece *b, float displacement, int32_t count);

// Depth to which two pieces overlap at a fraction of the step, m; the search ends once `enough` is found. `clips`
// counts pairs of tets that were clipped.
typedef struct FemSweptDepth {
	float fraction, enough;
	int32_t clips, clips_max;
} FemSweptDepth;

float fem_swept_depth(const FemSweptPiece *a, const FemSweptPiece *b, FemSweptDepth *at);

// Which fractions of the step the boxes of two pieces can meet in; false: in none.
bool fem_swept_boxes_meet(Box4 a, FemVec3 shift_a, Box4 b, FemVec3 shift_b, float slack, float out_fractions[2]);

#endif
