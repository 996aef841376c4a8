#include "filling/member_walls.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/stop_check.h"
#include "filling/coverage.h"
#include "filling/lattice_skin.h"
#include "filling/wall_cells.h"

#include <string.h>

#define REACH_WALLS 4.0    // mean walls: thicker parts are no walls, though cells may go through them; chosen
#define PAIRED_LEAST 0.5   // share of the area that must belong to walls; chosen
#define HIDDEN_MOST 0.05   // share of the area that may belong to walls which no cell reaches; chosen
#define PRISM_TETS 3.0     // of a cell in one layer
#define CELLS_LEAST 4      // of a member: a tetrahedron's faces
#define VOLUME_FAR 0.25    // share by which the cells' volume may differ before they are scaled to the mesh's; chosen
#define VOLUME_GOOD 0.1    // ... and after; promised
#define COVERAGE_GOOD 0.01 // of the mesh's size: farthest of a vertex from the tets; promised
#define COVERAGE_POOR 0.03 // of the mesh's size: where it stays farther, a lattice is tried instead; chosen
#define THICK_WALL 0.05    // of the member's size: a lattice fills thicker walls as well; chosen
#define ATTEMPTS 11        // counts tried until vertices are covered; chosen
#define ATTEMPTS_ASKED 3   // ... of which with as many cells as were asked for; chosen
#define GAP_FAR 0.0152     // of the mesh's size: what is this far after the first needs more cells; chosen
#define MORE_FREE 1.6      // times those: what is covered by no more is laid evenly enough; chosen
#define MORE_LEAST 1.2   // factor on the cells from one attempt to the next where they are not enough, at the least ...
#define MORE_AT_ONCE 1.5 // ... and at the most, the root of what the gap is too large by between them; chosen
#define ERROR_SHARE 0.6  // of that distance: the error of corners that is tried first; chosen
#define ERROR_RINGS 0.9  // ... and of rings, whose error is known as it is; chosen
#define ATTEMPTS_RINGS 4 // with rings; chosen
#define TIGHTER_LEAST 0.7  // factor on the error from one attempt to the next, at the least ...
#define TIGHTER_MOST 0.85  // ... and at the most; both chosen
#define TIGHTER_MARGIN 0.9 // under what the gap asks for; chosen
#define WORTH_IT 0.9       // of the gap before: what comes no nearer is not worth its cells; chosen
// Times the root of a member's size over its wall: cells of what needs more than were asked for. Chosen by measuring:
// car bodies (500 walls long) bend 1.02 of theory with 18, 1.3 with 10 (tests/test_shell_bending.c).
#define CELLS_BENDING 18.0
#define MORE_MOST 6.0 // times the cells that were asked for, at the most; chosen
// Of the mesh's size: walls are laid no thinner. Chosen: what floats make of bodies of 2 m that break into single cells
// was still when these are 1e-3 m thick, of 6e-4 m steel left at 500 m/s. That was measured before
// dynamics/strain_bound.c held where another body touches such a wall.
#define LAID_LEAST 5e-4
#define THINNEST 1e-3      // of the size: walls thinner than this count as so thick there; chosen, to bound the cells
#define FLAT_ASPECT 1.5    // as in member_mesher.c: sides of cells over the thickness of a layer, at the least ...
#define LAYER_ROUNDING 0.1 // ... layers, by which their number may fall short of it ...
#define LAYERS_MAX 16.0    // ... and the most
#define FLAT_WALLS 2.5     // thicknesses of the wall: sides of cells that may have any angles; chosen
#define SHARPEST 5.0       // degrees, of other cells: a lattice has 8 or 4; chosen
#define SKIN_CELL 0.025    // of the frame: cells of a lattice that stands in for a tangled skin; chosen
#define COVERAGE_FEW 1000  // vertices that are looked at first; chosen
#define COVERAGE_POINTS 20000 // vertices that are looked at in each attempt at the most; chosen

typedef struct WallTry {
	const FemSolid *skin; // what cells are laid along, and what they are to cover
	FemWallDef def;
	FemWall wall;
	FemWallResult made;
	double error_max; // unit space: see fem_wall_fill()
	double volume;    // of the tets, unit space
	double thicker;   // times the wall that was asked for, where floats do not hold that; 1
	double gap;       // of the farthest vertex, in shares of the mesh's size
	double gap_most;  // with which cells are kept
	double best_gap;  // of what was kept; gap_most before
	bool whole;       // one body
	bool more;        // the cells that were asked for are not enough
} WallTry;

static FemResult no_memory(void) {
	return fem_fail(FEM_ERROR_MEMORY, "The system gave no memory for the tets: ask for fewer elements.");
}

// Fills search->trial.
static FemResult fill(FemMemberSearch *search, WallTry *attempt) {
	int32_t capacity;
	fem_tet_list_clear(&search->trial);
	FemResult result = fem_wall_fill(&attempt->wall, attempt->error_max, &search->trial, &attempt->made);
	attempt->whole = false;
	if (result != FEM_OK || !attempt->made.made || search->trial.tet_count == 0)
		return result;
	capacity = search->trial.tet_count;
	int32_t *bodies = FEM_ALLOC_ARRAY(int32_t, capacity);
	if (!bodies)
		return no_memory();
	attempt->whole = fem_tet_list_bodies(&search->trial, bodies) == 1;
	FEM_FREE_ARRAY(bodies, capacity);
	attempt->volume = fem_tet_list_volume_sum(&search->trial) / attempt->made.thicker;
	double size = search->request->triangles->frame.size / search->frame.size;
	double gap = fem_coverage_of_vertices(&attempt->skin->triangles, &search->trial, COVERAGE_FEW);
	if (gap >= 0.0 && gap < COVERAGE_GOOD * size)
		gap = fem_coverage_of_vertices(&attempt->skin->triangles, &search->trial, COVERAGE_POINTS);
	attempt->gap = gap / size;
	return gap < 0.0 ? no_memory() : FEM_OK;
}

static void keep(FemMemberSearch *search, const WallTry *attempt) {
	fem_member_keep_trial(search, attempt->made.edge, true);
	search->member->thickness = (float)(attempt->made.thickness * attempt->made.thicker * search->frame.size);
	search->member->thicker = (float)(attempt->made.thicker * attempt->thicker);
	search->member->layers = attempt->def.layers;
}

// What is far from the mesh's volume by itself is no thin wall of two skins, or one whose parts overlap, which the
// mesh's volume counts twice.
static bool has_volume(const WallTry *attempt) {
	double wanted = attempt->def.volume;
	return wanted <= 0.0 ||
		(fabs(attempt->made.plain_volume / wanted - 1.0) < VOLUME_FAR &&
			fabs(attempt->volume / wanted - 1.0) < VOLUME_GOOD);
}

// Cells that are not flat are squeezed where the wall has a sharp bend: a lattice does better there.
static bool has_shape(const FemMemberSearch *search, const WallTry *attempt) {
	return attempt->made.edge > FLAT_WALLS * attempt->made.thickness ||
		fem_tet_list_min_dihedral(&search->trial) > SHARPEST;
}

static FemResult try_once(FemMemberSearch *search, WallTry *attempt, bool *out_found) {
	FemResult result = fill(search, attempt);
	if (result != FEM_OK)
		return result;
	double made = search->trial.tet_count / (PRISM_TETS * attempt->def.layers);
	bool right = attempt->whole && has_volume(attempt) && has_shape(search, attempt);
	double gap = attempt->whole ? attempt->gap : fmax(attempt->gap_most, COVERAGE_POOR);
	if (right && (gap < WORTH_IT * attempt->best_gap || (gap < attempt->best_gap && gap <= COVERAGE_GOOD))) {
		attempt->best_gap = gap;
		keep(search, attempt);
		*out_found = true;
	}
	int32_t *cells = &attempt->wall.def.triangle_count;
	if (attempt->more)
		*cells = (int32_t)(fmin(fmax(sqrt(gap / COVERAGE_GOOD), MORE_LEAST), MORE_AT_ONCE) * *cells) + 1;
	if (made <= *cells || !attempt->more)
		attempt->error_max *= fmin(fmax(TIGHTER_MARGIN * COVERAGE_GOOD / gap, TIGHTER_LEAST), TIGHTER_MOST);
	return FEM_OK;
}

// Ever closer to the skin until every vertex is covered, with as many more cells as that takes.
static FemResult try_errors(FemMemberSearch *search, WallTry *attempt, int attempts, bool *out_found) {
	FemResult result = fem_wall_create(attempt->skin, &attempt->def, &attempt->wall);
	for (int i = 0; i < attempts && result == FEM_OK && attempt->wall.is_sound; i++) {
		bool is_far = i > 0 && !attempt->more && !attempt->def.in_rings && attempt->best_gap > GAP_FAR;
		if (attempt->best_gap <= COVERAGE_GOOD || is_far)
			break;
		result = fem_member_report(search->request, (double)i / attempts) ? try_once(search, attempt, out_found)
																		  : fem_fail_stopped();
	}
	fem_wall_free(&attempt->wall);
	return result;
}

// Cells by which a shell bends as it should. Fewer that a small error alone forbids to join lie where the shell is
// curved most, and what is left to the rest is too stiff.
static int32_t enough_to_bend(const WallTry *attempt) {
	double asked = attempt->def.triangle_count;
	double cells = CELLS_BENDING / sqrt(fmax(attempt->made.thickness, THINNEST));
	return (int32_t)fmax(fmin(cells, MORE_MOST * asked), asked);
}

// Rings round what could have been turned on a lathe cover and bend with the fewest cells.
static FemResult search_rings(FemMemberSearch *search, WallTry *attempt, bool *out_found) {
	double error = attempt->error_max;
	attempt->def.in_rings = true;
	attempt->error_max *= ERROR_RINGS / ERROR_SHARE;
	FemResult result = try_errors(search, attempt, ATTEMPTS_RINGS, out_found);
	attempt->def.in_rings = false;
	attempt->error_max = error;
	return result;
}

// Cells as many as were asked for, or more where these leave vertices uncovered.
static FemResult search_coverage(FemMemberSearch *search, WallTry *attempt, bool *out_found) {
	double error = attempt->error_max;
	double most = MORE_FREE * PRISM_TETS * attempt->def.layers * attempt->def.triangle_count;
	attempt->best_gap = attempt->gap_most;
	FemResult result = search_rings(search, attempt, out_found);
	if (result != FEM_OK || attempt->best_gap <= COVERAGE_GOOD)
		return result;
	result = try_errors(search, attempt, ATTEMPTS_ASKED, out_found);
	if (result != FEM_OK || (attempt->best_gap <= COVERAGE_GOOD && search->best.tet_count <= most))
		return result;
	attempt->more = true;
	attempt->best_gap = fmax(attempt->best_gap, nextafter(COVERAGE_GOOD, 1.0)); // others that cover take its place
	attempt->def.triangle_count = enough_to_bend(attempt);
	attempt->error_max = error;
	return try_errors(search, attempt, ATTEMPTS - ATTEMPTS_ASKED, out_found);
}

// Cells as many as were asked for, and how near to the skin they are to lie at first.
// Cells shorter than thick would be too stiff: with many there are more layers of longer ones (see enough_layers() of
// member_mesher.c). Of n tets in L layers over an area A, sides are sqrt(4 / sqrt(3) * 3 L A / n) long.
static int32_t layers_of(const FemMemberSearch *search, double wall) {
	double side = sqrt(4.0 * sqrt(3.0) * 0.5 * fem_solid_area(&search->solid) / search->request->target);
	double layers = ceil(pow(FLAT_ASPECT * wall / side, 2.0 / 3.0) - LAYER_ROUNDING);
	int32_t asked = search->request->def->plate_layers;
	return layers > asked ? (int32_t)fmin(layers, LAYERS_MAX) : asked;
}

static WallTry first_try(const FemMemberSearch *search, const int8_t *sides, double wall) {
	int32_t layers = layers_of(search, wall);
	double size = search->request->triangles->frame.size / search->frame.size;
	WallTry attempt = {.skin = &search->solid, .error_max = ERROR_SHARE * COVERAGE_GOOD * size, .thicker = 1.0};
	attempt.gap_most = COVERAGE_POOR;
	attempt.def.sides = sides;
	attempt.def.layers = layers;
	attempt.def.depth_least = LAID_LEAST * size;
	attempt.def.triangle_count = (int32_t)fmax(search->request->target / (PRISM_TETS * layers), CELLS_LEAST);
	return attempt;
}

FemResult fem_member_search_walls(FemMemberSearch *search, double wall, bool *out_found) {
	FemWallSides sides;
	*out_found = false;
	FemResult result = fem_wall_sides_find(&search->solid, REACH_WALLS * wall, &sides);
	if (result != FEM_OK)
		return result;
	WallTry attempt = first_try(search, sides.sides, sides.wall);
	attempt.def.depth_max = REACH_WALLS * sides.wall;
	attempt.def.volume = fem_solid_volume(&search->solid);
	if (sides.wall > THICK_WALL)
		attempt.gap_most = nextafter(COVERAGE_GOOD, 1.0);
	if (sides.paired > PAIRED_LEAST && sides.hidden < HIDDEN_MOST && attempt.def.volume > 0.0)
		result = search_coverage(search, &attempt, out_found);
	if (*out_found)
		search->volume = attempt.def.volume * attempt.made.thicker;
	fem_wall_sides_free(&sides);
	return result;
}

static int8_t *all_laid(int32_t count) {
	int8_t *sides = FEM_ALLOC_ARRAY(int8_t, count);
	if (sides)
		memset(sides, FEM_SIDE_LAID, (size_t)count);
	return sides;
}

FemResult fem_member_search_sheet(FemMemberSearch *search, double thickness, bool *out_found) {
	int32_t count = search->solid.triangles.triangle_count;
	int8_t *sides = all_laid(count);
	*out_found = false;
	if (!sides)
		return no_memory();
	WallTry attempt = first_try(search, sides, thickness);
	attempt.thicker = fmax(attempt.def.depth_least / thickness, 1.0);
	attempt.def.depth_max = attempt.def.sheet = attempt.thicker * thickness;
	FemResult result = search_coverage(search, &attempt, out_found);
	FEM_FREE_ARRAY(sides, count);
	return result;
}

static FemResult lay_hollow(FemMemberSearch *search, const FemSolid *skin, double thickness, bool *out_found) {
	int32_t count = skin->triangles.triangle_count;
	int8_t *sides = all_laid(count);
	if (!sides)
		return no_memory();
	WallTry attempt = first_try(search, sides, thickness);
	attempt.skin = skin;
	attempt.thicker = fmax(attempt.def.depth_least / thickness, 1.0);
	attempt.def.depth_max = attempt.thicker * thickness;
	FemResult result = search_coverage(search, &attempt, out_found);
	FEM_FREE_ARRAY(sides, count);
	return result;
}

FemResult fem_member_search_hollow(FemMemberSearch *search, double thickness, bool *out_found) {
	FemSolid skin;
	bool made;
	*out_found = false;
	FemResult result = lay_hollow(search, &search->solid, thickness, out_found);
	if (result != FEM_OK || *out_found)
		return result;
	result = fem_lattice_skin(&search->solid, SKIN_CELL, &skin, &made);
	if (result == FEM_OK && made)
		result = lay_hollow(search, &skin, thickness, out_found);
	fem_solid_free(&skin);
	return result;
}
