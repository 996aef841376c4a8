// What of two swept pieces may come together: triangles of one and tets of the other, block by block.
#ifndef FEM_COLLISION_SWEPT_NEARBY_H
#define FEM_COLLISION_SWEPT_NEARBY_H

#include "collision/swept.h"

#define FEM_NEARBY_BLOCK 128 // triangles, and tets, looked at together; chosen

// A triangle of a and a tet of b in the frame that moves with the mean displacement of b: at a fraction f of the step
// their corners are at start + f displacement.
typedef struct FemSweptFace {
	Float4 start[3], displacement[3]; // m
	Box4 box;                         // over the fractions that are looked at
	int32_t tet;                      // behind it
} FemSweptFace;

typedef struct FemSweptSolid {
	Float4 start[4], displacement[4];
	Box4 box;
	int32_t tet;
} FemSweptSolid;

// A face and up to four tets whose boxes it meets. True ends the search.
typedef bool FemVisitSwept(
	void *context, const FemSweptFace *face, const FemSweptSolid *const solids[4], int32_t count);

typedef struct FemNearby {
	const FemSweptPiece *a, *b;
	Float4 offset;      // from the frame of a to that of b, m
	float fractions[2]; // of the step that are looked at
	float reach;        // m, by which boxes are grown besides what nodes deviate from the mean displacement
	FemVisitSwept *visit;
	void *context;
	bool ended;
	FemSweptFace faces[FEM_NEARBY_BLOCK];
	FemSweptSolid solids[FEM_NEARBY_BLOCK];
	int32_t face_count, solid_count;
} FemNearby;

void fem_nearby_start(
	FemNearby *nearby, const FemSweptPiece *a, const FemSweptPiece *b, FemVisitSwept *visit, void *context);
void fem_nearby_visit(FemNearby *nearby); // after fractions and reach were set

static inline void face_at(const FemSweptFace *face, float fraction, Float4 out[3]) {
	for (int k = 0; k < 3; k++)
		out[k] = face->start[k] + all4(fraction) * face->displacement[k];
}

static inline void solid_at(const FemSweptSolid *solid, float fraction, Float4 out[4]) {
	for (int k = 0; k < 4; k++)
		out[k] = solid->start[k] + all4(fraction) * solid->displacement[k];
}

#endif
