// The search for cells with which a lattice gives as many tets as are wanted, well shaped and all of the solid.
#ifndef FEM_FILLING_MEMBER_SEARCH_H
#define FEM_FILLING_MEMBER_SEARCH_H

#include "filling/member_mesher.h"
#include "filling/stuffing.h"

#define FEM_MEMBER_GOOD_RATIO 0.11      // |log(count / target)| that ends the search ...
#define FEM_MEMBER_NO_SCORE 1e9         // score of a search that has found nothing: beyond every |ln(tets / target)|
#define FEM_MEMBER_COUNT_RATIO 0.18     // ... and what is promised: within 20 %
#define FEM_MEMBER_COMPACT_DIHEDRAL 8.5 // degrees; 8 are promised

typedef struct FemMemberSearch {
	const FemMemberRequest *request;
	FemSolid solid;
	FemUnitFrame frame;
	FemTetMember *member;
	double volume; // of the soup, unit space
	FemTetList best, trial;
	double best_score, best_cell;
	bool best_whole;     // one body, little volume lost
	bool fitted;         // the best is drawn to the surface already
	FemSolid best_solid; // inflation of the best try; arrays are not its own
} FemMemberSearch;

// False when the caller's progress function cancels.
bool fem_member_report(const FemMemberRequest *request, double share);

// The triangles in their principal box, with what it takes to tell inside from outside, and their volume.
FemResult fem_member_make_solid(const FemMemberRequest *request, FemMemberSearch *search);
double fem_member_box_volume(const FemSolid *solid);
double fem_member_bounding_share(
	const FemSolid *solid); // of places beside the surface that have an inside and an outside

// A try is kept as the best when it is judged to be better.
FemResult fem_member_try(
	FemMemberSearch *search, const double stretch[3], double cell, bool fitted, double shift, int32_t *out_count);
// Leaves the largest body and others of some size; true when one is left and most of the volume is there.
bool fem_member_keep_sound(FemMemberSearch *search, FemTetList *list, bool *out_memory);
// The trial is the best from now on.
void fem_member_keep_trial(FemMemberSearch *search, double cell, bool whole);
// The same when it is sound where the best is not, or nearer to the count.
void fem_member_judge(FemMemberSearch *search, double cell, bool whole);
bool fem_member_found_good(const FemMemberSearch *search);

FemResult fem_member_search_cells(FemMemberSearch *search, const double stretch[3], double cell, int attempts);
FemResult fem_member_search_thin(
	FemMemberSearch *search, double wall, double cell); // walls of this thickness, 0: sheets

#endif
