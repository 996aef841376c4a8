// The border between two cells: a convex polygon, where the surface crosses its
// sides, and which of its corners lie inside.
#ifndef FEM_CUTTING_CUT_BORDER_H
#define FEM_CUTTING_CUT_BORDER_H

#include "base/assert.h"
#include "cutting/cut_solid.h"

#define FEM_CUT_SIDE_MAX 256 // of the polygon; chosen: a cell's border has far fewer

extern const char fem_cut_not_closed[]; // a FemCutSolid.fault

// Where the surface crosses a side of the border polygon.
typedef struct FemCutCrossing {
	int32_t side, vertex;
	double along;
	bool enters;      // the solid lies behind it, going counter-clockwise
	bool is_backward; // where windings are counted: the side runs against the line that `along` is measured on
} FemCutCrossing;

typedef struct FemCutLink {
	int32_t from, to, number;
	bool is_used;
} FemCutLink;

typedef struct FemCutBorder {
	FemCutSolid *solid;
	int32_t cell, other;       // counter-clockwise seen from the other
	int32_t shell;             // whose face is made, -1 for all
	const FemWinding *winding; // of the shell
	int32_t sides[FEM_CUT_SIDE_MAX], count;
	FemVec3d corners[FEM_CUT_SIDE_MAX]; // corner n is the start of side n
	int8_t inside[FEM_CUT_SIDE_MAX];    // of corners: 1, 0, or -1 while unknown
	int32_t windings[FEM_CUT_SIDE_MAX]; // of corners, where solid->counts_windings
	int32_t *open;                      // work space: vertices at which parts of a side begin
	int32_t open_count, open_capacity;
	FemVec3d axes[3]; // two in the plane, then the normal
	FemCutCrossing *crossings;
	int32_t crossing_count, crossing_capacity;
	FemCutLink *links;
	int32_t link_count, link_capacity;
	FemLoopMesh loops;
	int32_t *loop_vertices; // [point of loops]
	int32_t loop_vertex_count, loop_vertex_capacity;
} FemCutBorder;

// Polygon and axes for border->cell and border->other; false when they do not
// touch.
FEM_MUST_USE bool fem_cut_border_make(FemCutBorder *border);
// A vertex at which a segment of the face ends on a side; others are passed
// over.
void fem_cut_border_cross(FemCutBorder *border, int32_t vertex, bool enters);
// When all are there: orders them, finds which corners lie inside. Faults are
// set in the solid.
void fem_cut_border_mark(FemCutBorder *border);
// The same where solid->counts_windings: how often the mesh goes round each corner.
void fem_cut_border_count(FemCutBorder *border);

#endif
