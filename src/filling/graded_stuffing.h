// Isosurface stuffing (see stuffing.h) of a graded lattice. What is thinner than the lattice can resolve is thickened
// there, and only there, to a good part of a cell.
#ifndef FEM_FILLING_GRADED_STUFFING_H
#define FEM_FILLING_GRADED_STUFFING_H

#include "filling/graded_lattice.h"
#include "filling/solid.h"
#include "filling/tet_list.h"

// Thickness of the solid at a triangle, found when it is first asked for.
typedef struct FemThickness {
	const FemSolid *solid;
	float *of; // [triangle]; negative: not asked for yet
	double limit;
} FemThickness;

FEM_MUST_USE bool fem_thickness_create(FemThickness *thickness, const FemSolid *solid, double limit);
void fem_thickness_free(FemThickness *thickness);
double fem_thickness_at(FemThickness *thickness, int32_t triangle);

typedef struct FemGradedFilling {
	const FemSolid *solid;
	FemThickness *thickness;
	double thin;       // of a cell: what is thinner is kept whole
	int32_t tets_most; // it stops early where there will be more
	bool thickened;    // out: there was something thin
	bool is_too_much;  // out: there would have been more tets than that, and the list has none
} FemGradedFilling;

// Adds the tets of the solid to a list, nodes in the solid's unit space. Where the solid is thinner than `thin` of a
// cell, every tet that its surface touches is kept whole: what is touched hangs together by faces. Nodes of the lattice
// move.
FemResult fem_graded_fill(FemGradedLattice *lattice, FemGradedFilling *filling, FemTetList *out);

#endif
