// The cells that a mesh is cut into: a power diagram (Aurenhammer 1987). Cell i is where its affine function
// g_i(x) = a_i . x + b_i is the smallest of all. Coordinates, a and b are whole numbers, and ties are broken by adding
// eps_i to b_i with eps_0 >> eps_1 >> ... > 0 (simulation of simplicity, Edelsbrunner & Muecke 1990). All decisions
// below are therefore exact and agree with each other: no point lies on a border, three cells meet in a line and four
// in a point, whatever the mesh is like.
#ifndef FEM_CUTTING_CUT_DIAGRAM_H
#define FEM_CUTTING_CUT_DIAGRAM_H

#include "geometry/triangle_soup.h"

// Bits: |x| <= 2^19, |a| <= 2^18, |b| <= 2^39; then |g_i - g_j| < 2^41, and the products of three of them that
// fem_cut_keeps_triangle_point() sums stay below 2^127.
#define FEM_CUT_GRID 524288.0      // steps a unit length: the longest side of the mesh
#define FEM_CUT_REACH 524288       // steps from 0 that coordinates may lie
#define FEM_CUT_SLOPE_MAX 262144   // of a cell's plane, in steps: see the bits above
#define FEM_CUT_CELL_MAX (1 << 20) // cells of a diagram: bound on work; more would only be a slip

// Constraints of a cell: against cell c >= 0, or within a side of the box: -1 - 2 * axis for the lower, -2 - 2 * axis
// for the upper one.
#define FEM_CUT_LOWER(axis) (-1 - 2 * (axis))
#define FEM_CUT_UPPER(axis) (-2 - 2 * (axis))

typedef struct FemCutPoint {
	int32_t x[3];
} FemCutPoint;

typedef struct FemCutCell {
	int32_t a[3];
	int32_t splinter; // cells of one splinter are not cut from each other
	int64_t b;
} FemCutCell;

// What a pattern makes: points with weights in a space that is a linear map of unit space.
typedef struct FemCutSite {
	FemVec3d at;   // unit space
	double weight; // squared length in the metric's space
	int32_t splinter;
} FemCutSite;

typedef struct FemCutSites {
	int32_t count, capacity, splinter_count;
	FemCutSite *sites;
	double metric[3][3]; // distances are those of metric * (x - at)
	bool failed;         // memory ran out
} FemCutSites;

typedef struct FemCutDiagram {
	int32_t cell_count, splinter_count;
	int32_t first_cell; // one that is not empty
	int32_t box[3];     // steps from 0 to the sides of the box that closes the outer cells
	FemCutCell *cells;
	float *radii;       // [cell]: unit space, of a ball within it, about
	int32_t *start;     // [cell + 1]: of its neighbours
	int32_t *neighbors; // ascending; all that share a border with the cell within the box
	int32_t neighbor_count;
} FemCutDiagram;

void fem_cut_sites_add(FemCutSites *sites, FemVec3d at, double weight, int32_t splinter);
void fem_cut_sites_free(FemCutSites *sites);

// half_extents: unit space; what is to be cut must lie within them. Sites that win nowhere get no neighbours.
FemResult fem_cut_diagram_create(FemCutDiagram *diagram, const FemCutSites *sites, const double half_extents[3]);
void fem_cut_diagram_free(FemCutDiagram *diagram);

FemCutPoint fem_cut_point(FemVec3d unit);

// ---- predicates

// Each answers true where a point of cell i (or of its border) is nearer to i than to cell l.

bool fem_cut_keeps_point(const FemCutDiagram *d, int32_t i, int32_t l, const FemCutPoint *p);
// The point of edge ab between cells i and j.
bool fem_cut_keeps_edge_point(
	const FemCutDiagram *d, int32_t i, int32_t j, int32_t l, const FemCutPoint *a, const FemCutPoint *b);
// The point of a triangle between cells i, j and k.
bool fem_cut_keeps_triangle_point(
	const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, int32_t l, const FemCutPoint *const t[3]);
// The point between cell i and constraints j, k and l; m is a cell.
bool fem_cut_keeps_corner(const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, int32_t l, int32_t m);

// Where they are: weights of the ends, of the corners, and a place in unit space.
double fem_cut_edge_share(const FemCutDiagram *d, int32_t i, int32_t j, const FemCutPoint *a, const FemCutPoint *b);
void fem_cut_triangle_weights(
	const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, const FemCutPoint *const t[3], double out[3]);
FemVec3d fem_cut_corner_at(const FemCutDiagram *d, int32_t i, int32_t j, int32_t k, int32_t l);

// The cell that holds a point, by walking from cell `from`, which must not be empty.
int32_t fem_cut_find_cell(const FemCutDiagram *d, int32_t from, const FemCutPoint *p);

#endif
