#include "topology/plate_cells.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/vec.h"
#include "topology/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// How far a column, or one of the four edges along an axis of a hexahedron, may be from their mean, in lengths of that
// mean. Chosen: walls taper and bend; cells of other meshes are off by 1 and more.
#define COLUMN_SPREAD 0.35
// The same of cells whose tets follow each other, as those of a mesher do, and whose bottom and top are outer: coarse
// cells round a tube. Single tets between them would lock all of it. Measured: with 0.6 some are left out, with 1.2
// cells at the rim of a bent panel are too soft (1.21 of the deflection of theory), from 0.75 to 0.9 both are right.
#define COLUMN_SPREAD_IN_ORDER 0.8
#define FLAT_IN_ORDER 0.5 // their columns over the side of a square of their area, at the most; chosen
#define VOLUME_LEAST 0.4  // of the share of a tet in its cell if that were straight; chosen
#define VOLUME_MOST 2.0   // the same
// Columns over the side of a square of the cell's area: taller ones would be slices of a rod. Chosen.
#define TALLEST 10.0
// Columns over the shortest side of a cell. Nothing shears in a cell, so that it is stiffer than its tets by a third of
// the square of this: 750 times with 48, in a slice where two boards run into each other. Floats do not hold such a
// cell that rotates beside a soft one.
#define TALLEST_OVER_SIDE 6.0
// Share of its tallness that lying along a direction which all cells prefer is worth. Cells in several layers bend as
// one when they take the same axis for their thickness: 0.98 to 1 of the right deflection, 0.69 to 0.94 when that is
// left to chance. Chosen: cells of a bar are cubes within that, those of a plate are flatter.
#define PREFERENCE 0.3
#define INNER_PENALTY 100.0 // on the same, of cells whose top or bottom is not outer; chosen: more than TALLEST

// A cell that could be made, and how good it would be.
typedef struct Candidate {
	// Length of its columns over the side of a square of its area; more where bottom and top are not both outer, so
	// that short slices of a beam do not take its axis for their thickness.
	double tall;
	int32_t tets[FEM_CELL_TETS];
	int32_t nodes[FEM_CELL_CORNERS];
} Candidate;

typedef struct Finder {
	const FemVec3 *positions;
	const int32_t *tets, *regions;
	const float *plates;
	int32_t tet_count;
	FemSurface surface;
	bool in_order;     // only candidates whose tets follow each other and whose bottom and top are outer
	uint8_t *is_taken; // [tet]
	Candidate *candidates;
	int32_t candidate_count, candidate_capacity;
	FemPlateCells *out;
	bool failed;
} Finder;

// ---- geometry

static FemVec3d position_of(const Finder *f, int32_t node) {
	return fem_vec3d_from(f->positions[node]);
}

static FemVec3d edge(const Finder *f, int32_t from, int32_t to) {
	return fem_vec3d_sub(position_of(f, to), position_of(f, from));
}

static double volume_of(const Finder *f, int32_t tet) {
	const int32_t *n = f->tets + 4 * (size_t)tet;
	return fem_vec3d_dot(edge(f, n[0], n[1]), fem_vec3d_cross(edge(f, n[0], n[2]), edge(f, n[0], n[3]))) / 6.0;
}

// How far vectors are from their mean at the most, in lengths of that mean.
static double spread_of(const FemVec3d *vectors, int count, FemVec3d *out_mean) {
	FemVec3d mean = {0.0, 0.0, 0.0};
	for (int i = 0; i < count; i++)
		mean = fem_vec3d_add(mean, fem_vec3d_scale(vectors[i], 1.0 / count));
	double farthest = 0.0;
	for (int i = 0; i < count; i++) {
		FemVec3d off = fem_vec3d_sub(vectors[i], mean);
		farthest = fmax(farthest, fem_vec3d_dot(off, off));
	}
	double square = fem_vec3d_dot(mean, mean);
	*out_mean = mean;
	return square > 0.0 ? sqrt(farthest / square) : INFINITY;
}

static bool has_share(double volume, double share) {
	return volume > VOLUME_LEAST * share && volume < VOLUME_MOST * share;
}

// ---- candidates

static bool hold_candidate(Finder *f) {
	if (f->candidate_count < f->candidate_capacity)
		return true;
	int32_t capacity = f->candidate_capacity < 64 ? 64 : 2 * f->candidate_capacity;
	Candidate *grown =
		fem_realloc(f->candidates, sizeof *grown * (size_t)f->candidate_capacity, sizeof *grown * (size_t)capacity);
	if (!grown) {
		f->failed = true;
		return false;
	}
	f->candidates = grown;
	f->candidate_capacity = capacity;
	return true;
}

static bool is_eligible(const Finder *f, int32_t tet, int32_t like) {
	return tet >= 0 && f->plates[tet] > 0.0f && !f->is_taken[tet] &&
		(!f->regions || f->regions[tet] == f->regions[like]);
}

static int32_t neighbour(const Finder *f, int32_t tet, int32_t local, int32_t *out_apex) {
	int32_t across = f->surface.across[4 * (size_t)tet + (size_t)local];
	if (across < 0)
		return -1;
	*out_apex = f->tets[across];
	return across / 4;
}

// Columns counter-clockwise seen from the top: the second and the last change places otherwise.
static void orient(const Finder *f, Candidate *c, int columns) {
	FemVec3d up = edge(f, c->nodes[0], c->nodes[1]), first = edge(f, c->nodes[0], c->nodes[2]),
			 last = edge(f, c->nodes[0], c->nodes[2 * (columns - 1)]);
	if (fem_vec3d_dot(up, fem_vec3d_cross(first, last)) > 0.0)
		return;
	for (int i = 0; i < 2; i++) {
		int32_t kept = c->nodes[2 + i];
		c->nodes[2 + i] = c->nodes[2 * (columns - 1) + i];
		c->nodes[2 * (columns - 1) + i] = kept;
	}
}

// How many of the faces of a candidate's tets that lie in its bottom (0) or top (1) are outer.
static int count_outer(const Finder *f, const Candidate *c, int side) {
	int outer = 0;
	for (int t = 0; t < FEM_CELL_TETS && c->tets[t] >= 0; t++) {
		for (int opposite = 0; opposite < 4; opposite++) {
			int inside = 0;
			for (int v = 0; v < 4; v++) {
				for (int corner = side; corner < FEM_CELL_CORNERS && v != opposite; corner += 2)
					inside += c->nodes[corner] == f->tets[4 * (size_t)c->tets[t] + (size_t)v];
			}
			outer += inside == 3 && f->surface.across[4 * (size_t)c->tets[t] + (size_t)opposite] < 0;
		}
	}
	return outer;
}

static double length_of(FemVec3d v) {
	return sqrt(fem_vec3d_dot(v, v));
}

// `side` is the length of its shortest side, of a prism that of the square of which it would be half.
static double tallness(const Finder *f, const Candidate *c, int columns, double volume, FemVec3d column, double side) {
	double tall = length_of(column);
	double share = tall / sqrt(volume / tall * (columns == 3 ? 2.0 : 1.0)); // a prism is half of a square
	bool is_outer = count_outer(f, c, 0) >= columns - 2 && count_outer(f, c, 1) >= columns - 2;
	bool is_possible = share < TALLEST && tall < TALLEST_OVER_SIDE * side;
	return is_possible ? share + (is_outer ? 0.0 : INNER_PENALTY) : INFINITY;
}

static void add_candidate(Finder *f, Candidate *c, int columns) {
	if (!(c->tall < INFINITY) || !hold_candidate(f))
		return;
	orient(f, c, columns);
	f->candidates[f->candidate_count++] = *c;
}

static int32_t other_than(const int32_t *nodes, int32_t a, int32_t b, int which) {
	for (int v = 0; v < 4; v++) {
		if (nodes[v] != a && nodes[v] != b && which-- == 0)
			return nodes[v];
	}
	FEM_ASSERT(!"a tet has four nodes");
	return nodes[0];
}

// By the lowest height of the triangle of the middles of its columns.
static double side_of_prism(const Finder *f, const Candidate *c, double volume, FemVec3d column) {
	double longest = 0.0;
	for (int k = 0; k < 3; k++) {
		int a = 2 * k, b = 2 * ((k + 1) % 3);
		FemVec3d bottom = edge(f, c->nodes[a], c->nodes[b]), top = edge(f, c->nodes[a + 1], c->nodes[b + 1]);
		longest = fmax(longest, 0.5 * length_of(fem_vec3d_add(bottom, top)));
	}
	return sqrt(2.0) * 2.0 * volume / (length_of(column) * longest);
}

static bool follow_each_other(int32_t a, int32_t b, int32_t c) {
	int32_t low = a < b ? a : b, high = a < b ? b : a;
	return (low < c ? low : c) + 2 == (high > c ? high : c);
}

// The middle tet p q r s of a prism has q r s in common with the first and p r s with the last, whose fourth nodes are
// x and y. Its columns are p q, and either r x and y s, or s x and y r.
static void try_prism(Finder *f, int32_t tet, int32_t i, int32_t j) {
	const int32_t *n = f->tets + 4 * (size_t)tet;
	int32_t x = -1, y = -1, first = neighbour(f, tet, i, &x), last = neighbour(f, tet, j, &y);
	if (!is_eligible(f, first, tet) || !is_eligible(f, last, tet) || first == last || x == y)
		return;
	if (f->in_order && !follow_each_other(first, tet, last))
		return;
	double volumes[3] = {volume_of(f, first), volume_of(f, tet), volume_of(f, last)},
		   volume = volumes[0] + volumes[1] + volumes[2];
	for (int k = 0; k < 3; k++) {
		if (!has_share(volumes[k], volume / 3.0))
			return;
	}
	for (int which = 0; which < 2; which++) {
		int32_t p = n[i], q = n[j], r = other_than(n, p, q, which), s = other_than(n, p, q, 1 - which);
		FemVec3d columns[3] = {edge(f, p, q), edge(f, r, x), edge(f, y, s)}, mean;
		double spread = spread_of(columns, 3, &mean);
		if (!(spread < (f->in_order ? COLUMN_SPREAD_IN_ORDER : COLUMN_SPREAD)))
			continue;
		Candidate c = {.tets = {first, tet, last, -1, -1}, .nodes = {p, q, r, x, y, s, -1, -1}};
		c.tall = tallness(f, &c, 3, volume, mean, side_of_prism(f, &c, volume, mean));
		if (f->in_order) // of triples that overlap, the one whose columns are the most alike was meant
			c.tall = c.tall < FLAT_IN_ORDER ? spread : INFINITY;
		add_candidate(f, &c, 3);
	}
}

// How well a column lies along a direction that is the same for all cells, 0 to 1.
static double preference(FemVec3d column) {
	static const FemVec3d direction = {0.36, 0.48, 0.8}; // any that is no axis nor diagonal of usual grids
	return fabs(fem_vec3d_dot(column, direction)) / sqrt(fem_vec3d_dot(column, column));
}

// The central tet c_0..c_3 of a hexahedron of five: a_i is across the face opposite c_i. The face with c_i and c_j has
// a_k and a_l; its columns to the opposite face are a_k c_l, c_i a_j, a_l c_k, c_j a_i, in the order around it.
static void try_hexahedron(Finder *f, int32_t tet) {
	static const int splits[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
	const int32_t *c = f->tets + 4 * (size_t)tet;
	int32_t a[4], low = tet, high = tet;
	Candidate best = {.tall = INFINITY, .tets = {tet}};
	double volume = volume_of(f, tet);
	for (int i = 0; i < 4; i++) {
		best.tets[i + 1] = neighbour(f, tet, i, &a[i]);
		if (!is_eligible(f, best.tets[i + 1], tet))
			return;
		low = best.tets[i + 1] < low ? best.tets[i + 1] : low;
		high = best.tets[i + 1] > high ? best.tets[i + 1] : high;
		volume += volume_of(f, best.tets[i + 1]);
		for (int j = 0; j < i; j++) {
			if (a[i] == a[j])
				return;
		}
	}
	if (f->in_order && high - low + 1 != FEM_CELL_TETS)
		return;
	for (int i = 0; i < 5; i++) {
		if (!has_share(volume_of(f, best.tets[i]), volume / (i == 0 ? 3.0 : 6.0)))
			return;
	}
	Candidate made[3];
	FemVec3d means[3];
	for (int s = 0; s < 3; s++) {
		int i = splits[s][0], j = splits[s][1], k = splits[s][2], l = splits[s][3];
		int32_t nodes[8] = {a[k], c[l], c[i], a[j], a[l], c[k], c[j], a[i]};
		FemVec3d columns[4] = {edge(f, nodes[0], nodes[1]), edge(f, nodes[2], nodes[3]), edge(f, nodes[4], nodes[5]),
			edge(f, nodes[6], nodes[7])};
		if (!(spread_of(columns, 4, &means[s]) < (f->in_order ? COLUMN_SPREAD_IN_ORDER : COLUMN_SPREAD)))
			return;
		made[s] = best;
		memcpy(made[s].nodes, nodes, sizeof nodes);
	}
	double best_rank = INFINITY;
	for (int s = 0; s < 3; s++) {
		double side = fmin(length_of(means[(s + 1) % 3]), length_of(means[(s + 2) % 3]));
		made[s].tall = tallness(f, &made[s], 4, volume, means[s], side);
		double rank = made[s].tall * (1.0 - PREFERENCE * preference(means[s]));
		if (rank < best_rank) {
			best_rank = rank;
			best = made[s];
		}
	}
	if (!f->in_order || best.tall < FLAT_IN_ORDER)
		add_candidate(f, &best, 4);
}

// ---- choice

static int compare_candidates(const void *left, const void *right) {
	const Candidate *a = left, *b = right;
	if (a->tall != b->tall)
		return a->tall < b->tall ? -1 : 1;
	int order = memcmp(a->tets, b->tets, sizeof a->tets);
	return order != 0 ? order : memcmp(a->nodes, b->nodes, sizeof a->nodes);
}

static void add_cell(Finder *f, const Candidate *c) {
	FemPlateCells *out = f->out;
	int set = c->tets[3] < 0 ? 0 : 1;
	FemPlateCell *cell = &out->cells[fem_plate_cell_count(out)];
	memcpy(cell->tets, c->tets, sizeof cell->tets);
	for (int32_t t = 0; t < fem_cell_tet_count(cell); t++) {
		f->is_taken[cell->tets[t]] = 1;
		for (int v = 0; v < 4; v++) {
			int corner = 0;
			while (corner < FEM_CELL_CORNERS && c->nodes[corner] != f->tets[4 * (size_t)cell->tets[t] + (size_t)v])
				corner++;
			FEM_ASSERT(corner < FEM_CELL_CORNERS);
			cell->place[t][v] = (uint8_t)corner;
		}
	}
	out->count[set]++;
}

// The flattest first, each if its tets are still free.
static void take_candidates(Finder *f) {
	if (f->candidate_count > 1)
		qsort(f->candidates, (size_t)f->candidate_count, sizeof *f->candidates, compare_candidates);
	for (int32_t i = 0; i < f->candidate_count && !f->failed; i++) {
		const Candidate *c = &f->candidates[i];
		bool is_free = true;
		for (int t = 0; t < FEM_CELL_TETS && c->tets[t] >= 0; t++)
			is_free = is_free && !f->is_taken[c->tets[t]];
		if (is_free)
			add_cell(f, c);
	}
	f->candidate_count = 0;
}

// ---- numbering

static void sort_tets(FemPlateCell *cell) {
	for (int i = 1; i < fem_cell_tet_count(cell); i++) {
		for (int j = i; j > 0 && cell->tets[j] < cell->tets[j - 1]; j--) {
			int32_t tet = cell->tets[j];
			uint8_t place[4];
			memcpy(place, cell->place[j], sizeof place);
			cell->tets[j] = cell->tets[j - 1];
			memcpy(cell->place[j], cell->place[j - 1], sizeof place);
			cell->tets[j - 1] = tet;
			memcpy(cell->place[j - 1], place, sizeof place);
		}
	}
}

static int compare_cells(const void *left, const void *right) {
	const FemPlateCell *a = left, *b = right;
	return a->tets[0] < b->tets[0] ? -1 : a->tets[0] > b->tets[0];
}

void fem_plate_cells_rename(FemPlateCells *cells, const int32_t *tet_of_user) {
	for (int32_t i = 0; i < fem_plate_cell_count(cells); i++) {
		FemPlateCell *cell = &cells->cells[i];
		for (int32_t t = 0; t < fem_cell_tet_count(cell); t++)
			cell->tets[t] = tet_of_user ? tet_of_user[cell->tets[t]] : cell->tets[t];
		sort_tets(cell);
		for (int32_t t = fem_cell_tet_count(cell) - 1; t >= 0; t--) { // the lowest tet that has a corner
			for (int v = 0; v < 4; v++)
				cell->corners[cell->place[t][v]] = 4 * cell->tets[t] + v;
		}
	}
	for (int set = 0, begin = 0; set < FEM_CELL_SETS; begin += cells->count[set++]) {
		if (cells->count[set] > 1)
			qsort(cells->cells + begin, (size_t)cells->count[set], sizeof *cells->cells, compare_cells);
	}
}

static bool begin(Finder *f, int32_t node_count) {
	int32_t *same = FEM_ALLOC_ARRAY(int32_t, node_count);
	f->is_taken = FEM_ALLOC_ARRAY(uint8_t, f->tet_count);
	f->out->capacity = f->tet_count / 3;
	f->out->cells = FEM_ALLOC_ARRAY(FemPlateCell, f->out->capacity);
	bool ok = same && f->is_taken && (f->out->cells || f->out->capacity == 0);
	for (int32_t i = 0; ok && i < node_count; i++)
		same[i] = i;
	ok = ok && fem_surface_create(&f->surface, same, node_count, f->tets, f->tet_count);
	FEM_FREE_ARRAY(same, node_count);
	return ok;
}

static void find_prisms(Finder *f) {
	for (int32_t tet = 0; tet < f->tet_count; tet++) {
		for (int pair = 0; pair < 6 && is_eligible(f, tet, tet); pair++) {
			static const int ends[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
			try_prism(f, tet, ends[pair][0], ends[pair][1]);
		}
	}
	take_candidates(f);
}

static void find_hexahedra(Finder *f) {
	for (int32_t tet = 0; tet < f->tet_count; tet++) {
		if (is_eligible(f, tet, tet))
			try_hexahedron(f, tet);
	}
	take_candidates(f);
}

// Hexahedra first: their tets also make prisms across cells, which are worse.
static void find_all(Finder *f) {
	find_hexahedra(f);
	f->in_order = true;
	find_hexahedra(f);
	FemPlateCells hexahedra = *f->out;
	find_prisms(f);
	f->in_order = false;
	find_prisms(f);
	// Prisms stand first: the hexahedra, found first, go behind them.
	FemPlateCell *cells = f->out->cells;
	int32_t hexes = hexahedra.count[1], prisms = f->out->count[0];
	FemPlateCell *kept = FEM_ALLOC_ARRAY(FemPlateCell, hexes);
	f->failed = f->failed || (hexes > 0 && !kept);
	if (!f->failed && hexes > 0) {
		memcpy(kept, cells, sizeof *kept * (size_t)hexes);
		memmove(cells, cells + hexes, sizeof *cells * (size_t)prisms);
		memcpy(cells + prisms, kept, sizeof *kept * (size_t)hexes);
	}
	FEM_FREE_ARRAY(kept, hexes);
}

bool fem_plate_cells_find(const FemVec3 *positions, int32_t node_count, const int32_t *tets, int32_t tet_count,
	const float *tet_plates, const int32_t *tet_regions, FemPlateCells *out) {
	*out = (FemPlateCells){.capacity = 0};
	if (!tet_plates)
		return true;
	Finder f = {.positions = positions,
		.tets = tets,
		.regions = tet_regions,
		.plates = tet_plates,
		.tet_count = tet_count,
		.out = out};
	f.failed = !begin(&f, node_count);
	if (!f.failed)
		find_all(&f);
	fem_surface_free(&f.surface);
	FEM_FREE_ARRAY(f.is_taken, tet_count);
	FEM_FREE_ARRAY(f.candidates, f.candidate_capacity);
	if (f.failed || fem_plate_cell_count(out) == 0)
		fem_plate_cells_free(out);
	else
		fem_plate_cells_rename(out, NULL);
	return !f.failed;
}

void fem_plate_cells_free(FemPlateCells *cells) {
	FEM_FREE_ARRAY(cells->cells, cells->capacity);
	*cells = (FemPlateCells){.capacity = 0};
}

// ---- pattern

int32_t *fem_plate_cells_pattern(
	const FemPlateCells *cells, const int32_t *tets, int32_t tet_count, int32_t *out_count) {
	// Of four columns every two, with all their corners; of three as well.
	static const int pairs[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
	int32_t count = tet_count + 3 * cells->count[0] + 6 * cells->count[1], at = tet_count;
	int32_t *pattern = FEM_ALLOC_ARRAY(int32_t, 4 * (int64_t)count);
	*out_count = count;
	if (!pattern)
		return NULL;
	memcpy(pattern, tets, sizeof *tets * 4 * (size_t)tet_count);
	for (int32_t i = 0; i < fem_plate_cell_count(cells); i++) {
		const FemPlateCell *cell = &cells->cells[i];
		for (int k = 0; k < (fem_cell_column_count(cell) == 3 ? 3 : 6); k++, at++) {
			for (int v = 0; v < 4; v++)
				pattern[4 * (size_t)at + (size_t)v] = tets[cell->corners[2 * pairs[k][v / 2] + v % 2]];
		}
	}
	FEM_ASSERT(at == count);
	return pattern;
}
