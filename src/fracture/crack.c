#include "fracture/crack.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/range.h"
#include "base/vec.h"
#include "fem_constants.h"
#include "model/body.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "model/plate_elements.h"
#include "topology/splitting.h"
#include "topology/surface.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

#define EDGE_CUBED 8.485281374238570 // of a regular tet over its volume: 6 sqrt(2)

// ---- order

// Key of the random order of a node. Taken from the user's number, so that the order does not depend on how nodes are
// numbered inside.
static uint64_t ticket_key(const FemBody *body, uint64_t step, int32_t node) {
	uint64_t hash = fem_hash_word(FEM_HASH_START, body->breaking->seed);
	hash = fem_hash_word(hash, step);
	return fem_hash_word(fem_hash_word(hash, (uint64_t)body->topology->user_of_node[node]), 0);
}

static bool comes_before(const FemSeparation *a, const FemSeparation *b) {
	if (a->excess != b->excess)
		return a->excess > b->excess;
	return a->ticket != b->ticket ? a->ticket < b->ticket : a->node < b->node;
}

// Sinks the element at `at` of a heap whose root comes last.
static void sift_down(FemSeparation *list, int32_t at, int32_t count) {
	FemSeparation moved = list[at];
	for (int32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && comes_before(&list[child], &list[child + 1]))
			child++;
		if (!comes_before(&moved, &list[child]))
			break;
		list[at] = list[child];
		at = child;
	}
	list[at] = moved;
}

// The most overstressed first, equals in a seeded order. Heapsort: the list comes in node order and may be long, and
// the library's sort asks the system for memory.
static void sort_separations(FemBody *body, uint64_t step) {
	FemSeparation *list = body->step->separations;
	int32_t count = body->step->separation_count;
	for (int32_t i = 0; i < count; i++) {
		FEM_ASSERT(i == 0 || list[i - 1].node < list[i].node); // it comes in node order, whoever found them
		list[i].ticket = ticket_key(body, step, list[i].node);
	}
	for (int32_t i = count / 2 - 1; i >= 0; i--)
		sift_down(list, i, count);
	for (int32_t end = count - 1; end > 0; end--) {
		FemSeparation last = list[0];
		list[0] = list[end];
		list[end] = last;
		sift_down(list, 0, end);
	}
}

// ---- sides

// What a plane through a node parts: the tets around the node or, within a plate, around its whole column.
typedef struct Star {
	int32_t nodes[2]; // the node, and the other end of its column or -1
	int32_t tets[FEM_STAR_MAX];
	float offset[FEM_STAR_MAX][3]; // m, from the node to the centre of the tet, or of its acting cell
	uint8_t ahead[FEM_STAR_MAX];   // of the plane that was tried last
	int32_t count;
} Star;

static FemVec4 place_of(const FemBody *body, int32_t node) {
	return body->position[body->topology->split->parent[node]];
}

// From a node to the centre of a tet or of the cell that it acts in: the tets of a plate cell go together, since a
// plate breaks across its thickness.
static void find_offset(const FemBody *body, int32_t tet, const FemPlateCell *cell, int32_t node, float out[3]) {
	const FemTopology *t = body->topology;
	int32_t count = cell ? 2 * fem_cell_column_count(cell) : 4;
	float c[3] = {0.0f, 0.0f, 0.0f};
	for (int v = 0; v < count; v++) {
		int32_t at = cell ? cell->corners[v] : 4 * tet + v;
		FemVec4 x = place_of(body, fem_tet_node(t, at / 4, at % 4));
		c[0] += x.x, c[1] += x.y, c[2] += x.z;
	}
	FemVec4 x = place_of(body, node);
	float share = 1.0f / (float)count;
	out[0] = share * c[0] - x.x, out[1] = share * c[1] - x.y, out[2] = share * c[2] - x.z;
}

static void find_offsets(const FemBody *body, Star *star) {
	int32_t last = -1;
	for (int32_t k = 0; k < star->count; k++) {
		int32_t cell = fem_acting_cell(body, star->tets[k]);
		if (cell >= 0 && cell == last)
			memcpy(star->offset[k], star->offset[k - 1], sizeof star->offset[k]);
		else
			find_offset(body, star->tets[k], cell < 0 ? NULL : &body->topology->cells.cells[cell], star->nodes[0],
				star->offset[k]);
		last = cell;
	}
}

static bool has_node(const FemTopology *t, int32_t tet, int32_t node) {
	return fem_tet_node(t, tet, 0) == node || fem_tet_node(t, tet, 1) == node || fem_tet_node(t, tet, 2) == node ||
		fem_tet_node(t, tet, 3) == node;
}

// The other end of the column that acting plate cells have at a node; -1 where there are none or they do not agree.
static int32_t column_end(const FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	FemRange range = t->split->star[node];
	int32_t found = -1;
	for (int32_t k = range.begin; k < range.end; k++) {
		int32_t tet = t->node_tets[k] / 4, cell = fem_acting_cell(body, tet);
		if (cell < 0)
			continue;
		int32_t at = t->cells.cells[cell].corners[fem_cell_corner(t, cell, tet, t->node_tets[k] % 4) ^ 1];
		int32_t end = fem_tet_node(t, at / 4, at % 4);
		if (found >= 0 && end != found)
			return -1;
		found = end;
	}
	return found;
}

static void add_to_star(const FemBody *body, int32_t node, bool is_second, Star *star) {
	const FemTopology *t = body->topology;
	FemRange range = t->split->star[node];
	for (int32_t k = range.begin; k < range.end && star->count < FEM_STAR_MAX; k++) {
		int32_t tet = t->node_tets[k] / 4;
		if (!is_second || !has_node(t, tet, star->nodes[0]))
			star->tets[star->count++] = tet;
	}
}

static bool is_ahead(const Star *star, int32_t tet) {
	int32_t k = 0;
	while (k < star->count && star->tets[k] != tet)
		k++;
	return k < star->count && star->ahead[k];
}

// Whether a face of a tet has one of the nodes that the plane goes through.
static bool is_at_nodes(const FemTopology *t, const Star *star, int32_t face) {
	for (int v = 0; v < 4; v++) {
		int32_t node = fem_tet_node(t, face / 4, v);
		if (v != face % 4 && (node == star->nodes[0] || node == star->nodes[1]))
			return true;
	}
	return false;
}

bool fem_face_holds(const FemBody *body, int32_t face, int32_t across) {
	return isinf(body->tet_toughness[face / 4]) && isinf(body->tet_toughness[across / 4]);
}

void fem_face_cut(FemBody *body, int32_t face, int32_t across) {
	FemTopology *t = body->own_topology;
	FemBreaking *breaking = body->breaking;
	if (!FEM_LIST_HOLD(breaking->cuts, breaking->cut_capacity, breaking->cut_count + 1, INT32_MAX))
		return;
	FEM_ASSERT(t->neighbours[across] == face && t->user_of_tet[across / 4] >= 0);
	FemFaceCut *cut = &breaking->cuts[breaking->cut_count++];
	*cut = (FemFaceCut){.face = face, .across = across};
	for (int i = 0; i < 3; i++)
		cut->nodes[i] = fem_tet_node(t, face / 4, fem_face_corners[face % 4][i]);
	fem_split_cut(t, face, across);
}

// Cuts the faces at the node between tets ahead of the plane and behind it. Returns their number; they are the last
// cuts.
static int32_t cut_faces(FemBody *body, const Star *star) {
	FemTopology *t = body->own_topology;
	FemBreaking *breaking = body->breaking;
	int32_t before = breaking->cut_count;
	for (int32_t k = 0; k < star->count; k++) {
		for (int32_t v = 0; star->ahead[k] && v < 4; v++) {
			int32_t face = star->tets[k] * 4 + v, across = is_at_nodes(t, star, face) ? t->neighbours[face] : -1;
			if (across < 0 || is_ahead(star, across / 4) || fem_face_holds(body, face, across))
				continue;
			fem_face_cut(body, face, across);
		}
	}
	return breaking->cut_count - before;
}

void fem_faces_mend(FemBody *body, int32_t count) {
	FemBreaking *breaking = body->breaking;
	FEM_ASSERT(count <= breaking->cut_count);
	for (; count > 0; count--) {
		const FemFaceCut *cut = &breaking->cuts[--breaking->cut_count];
		fem_split_mend(body->own_topology, cut->face, cut->across);
	}
}

// ---- crumbs

// Places of a set of tets: twice as many as it can hold.
#define SET_PLACES (2 * FEM_FRAGMENT_TETS_MAX)

typedef struct TetSet {
	int32_t list[FEM_FRAGMENT_TETS_MAX], count;
	int32_t place[SET_PLACES]; // tet + 1; 0: free
} TetSet;

static bool has_tet(const TetSet *set, int32_t tet) {
	uint32_t at = (uint32_t)tet * 2654435761u % SET_PLACES; // Knuth's multiplier
	while (set->place[at] != 0 && set->place[at] != tet + 1)
		at = (at + 1) % SET_PLACES;
	return set->place[at] != 0;
}

static void add_tet(TetSet *set, int32_t tet) {
	uint32_t at = (uint32_t)tet * 2654435761u % SET_PLACES;
	while (set->place[at] != 0)
		at = (at + 1) % SET_PLACES;
	set->place[at] = tet + 1;
	set->list[set->count++] = tet;
}

// Whether what hangs together with a tet is enough for a piece: three tets, or as many as the step's limits say, and
// the volume of the smallest fragment of its material. `set` holds what was looked at.
static bool is_enough(const FemBody *body, int32_t tet, bool is_pierced, TetSet *set) {
	const FemTopology *t = body->topology;
	double volume = 0.0, least = is_pierced ? 0.0 : (double)body->tet_fragment[tet];
	int32_t fewest = fem_fewest_tets(body);
	memset(set->place, 0, sizeof set->place);
	set->count = 0;
	add_tet(set, tet);
	for (int32_t at = 0; at < set->count; at++) {
		int32_t found = set->list[at];
		volume += (double)body->batches[found / FEM_LANES].volume[found % FEM_LANES];
		for (int32_t v = 0; v < 4 && set->count < FEM_FRAGMENT_TETS_MAX; v++) {
			int32_t across = t->neighbours[found * 4 + v];
			if (across >= 0 && !has_tet(set, across / 4))
				add_tet(set, across / 4);
		}
		if (at + 1 >= fewest && volume >= least)
			return true;
	}
	return set->count == FEM_FRAGMENT_TETS_MAX;
}

bool fem_cuts_leave_crumbs(FemBody *body, int32_t count, bool is_pierced) {
	FemBreaking *breaking = body->breaking;
	for (int side = 0; side < 2; side++) {
		TetSet set = {0};
		for (int32_t i = breaking->cut_count - count; i < breaking->cut_count; i++) {
			int32_t tet = (side == 0 ? breaking->cuts[i].face : breaking->cuts[i].across) / 4;
			if (!has_tet(&set, tet) && !is_enough(body, tet, is_pierced, &set))
				return true;
		}
	}
	return false;
}

void fem_cuts_regroup(FemBody *body, int32_t count) {
	FemTopology *t = body->own_topology;
	for (int32_t i = body->breaking->cut_count - count; i < body->breaking->cut_count; i++) {
		const FemFaceCut *cut = &body->breaking->cuts[i];
		for (int v = 0; v < 4; v++) {
			if (v != cut->face % 4)
				fem_split_regroup(t, fem_tet_node(t, cut->face / 4, v));
			if (v != cut->across % 4)
				fem_split_regroup(t, fem_tet_node(t, cut->across / 4, v));
		}
	}
}

// ---- split

static void find_star(const FemBody *body, int32_t node, Star *star) {
	star->nodes[0] = node;
	star->nodes[1] = column_end(body, node);
	star->count = 0;
	add_to_star(body, node, false, star);
	if (star->nodes[1] >= 0)
		add_to_star(body, star->nodes[1], true, star);
	FEM_ASSERT(star->count > 0 && star->count <= FEM_STAR_MAX);
	find_offsets(body, star);
}

// Splits the node of a star: cuts the faces along a plane, checks the rules for what remains, and copies the node.
// Where it is not split nothing has changed.
static bool split_star(FemBody *body, Star *star, const float normal[3], bool is_pierced) {
	FemTopology *t = body->own_topology;
	int32_t sides = 0;
	for (int32_t k = 0; k < star->count; k++) {
		const float *d = star->offset[k];
		star->ahead[k] = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2] >= 0.0f;
		sides += star->ahead[k];
	}
	if (sides == 0 || sides == star->count)
		return false;
	int32_t cuts = cut_faces(body, star);
	if (cuts == 0 || fem_cuts_leave_crumbs(body, cuts, is_pierced) || fem_split_regroup(t, star->nodes[0]) < 1) {
		fem_faces_mend(body, cuts);
		return false;
	}
	fem_cuts_regroup(body, cuts);
	return true;
}

// ---- clamped edges

// Where the rim of a plate is held and all of the plate lies on one side of the plane, nothing can part at the rim
// itself, where the moment is largest: the plate breaks at the next column, the one nearest to the line along the
// normal.
static bool split_beside_rim(FemBody *body, int32_t node, const float normal[3]) {
	const FemTopology *t = body->topology;
	FemRange range = t->split->star[node];
	int32_t best = -1, end = column_end(body, node);
	float least = INFINITY;
	if (end < 0 || body->node_kind[t->split->parent[node]] == FEM_NODE_FREE)
		return false;
	FemVec4 from = place_of(body, node);
	for (int32_t k = 4 * range.begin; k < 4 * range.end; k++) {
		int32_t other = fem_tet_node(t, t->node_tets[k / 4] / 4, k % 4);
		FemVec4 x = place_of(body, other);
		float d[3] = {x.x - from.x, x.y - from.y, x.z - from.z};
		float along = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
		float slope = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (along * along); // 1 straight along the normal
		if (other != node && other != end && body->node_kind[t->split->parent[other]] == FEM_NODE_FREE &&
			(slope < least || (slope == least && other < best))) {
			least = slope;
			best = other;
		}
	}
	if (best < 0 || body->breaking->marks[t->split->parent[best]])
		return false;
	Star star;
	find_star(body, best, &star);
	return split_star(body, &star, normal, false);
}

// ---- deviation

#define DEVIATIONS 4 // planes that are tried in place of one that would leave a crumb; chosen
// rad, about the front of the crack. Chosen: of 0.2 to 0.7, and of two planes or four, these part plates and vases most
// evenly.
static const double deviation_angles[DEVIATIONS] = {0.35, -0.35, 0.7, -0.7};

// The front of a crack through a node: its column in a wall, else the axis that is most square to the normal. Unit
// length, or 0.
static void front_at(const FemBody *body, int32_t node, const float n[3], float out[3]) {
	int32_t end = column_end(body, node);
	FemVec4 x = place_of(body, node), y = end >= 0 ? place_of(body, end) : x;
	float d[3] = {y.x - x.x, y.y - x.y, y.z - x.z};
	if (end < 0) {
		int least = 0;
		for (int k = 1; k < 3; k++)
			least = fabsf(n[k]) < fabsf(n[least]) ? k : least;
		d[least] = 1.0f;
	}
	float along = d[0] * n[0] + d[1] * n[1] + d[2] * n[2], square = 0.0f;
	for (int k = 0; k < 3; k++) {
		d[k] -= along * n[k];
		square += d[k] * d[k];
	}
	for (int k = 0; k < 3; k++)
		out[k] = square > 0.0f ? d[k] / sqrtf(square) : 0.0f;
}

// A crack of a blow on a free piece that would cut off a crumb deviates: else its energy is spent on cracks that end
// there and part nothing. What is held is pierced, and may leave crumbs. Cracks of the step's own loads end there:
// where they deviate, too, slabs and panes in frames part better, but jammed heaps throw pieces out three times as
// often.
static bool split_deviating(FemBody *body, Star *star, const FemSeparation *separation) {
	const float *n = separation->normal;
	float a[3];
	if (fem_piece_is_attached(body, fem_node_component(body->topology, separation->node)))
		return false;
	front_at(body, separation->node, n, a);
	for (int i = 0; i < DEVIATIONS; i++) {
		float c = (float)cos(deviation_angles[i]), s = (float)sin(deviation_angles[i]), other[3];
		for (int k = 0; k < 3; k++)
			other[k] = c * n[k] + s * (a[(k + 1) % 3] * n[(k + 2) % 3] - a[(k + 2) % 3] * n[(k + 1) % 3]);
		if (split_star(body, star, other, separation->is_pierced))
			return true;
	}
	return false;
}

// ---- waiting

// Sine of the angle to the plane of a split below which a neighbour lies ahead in it. Measured on the slab: with 0.6 it
// breaks in 8 passes instead of 13, into as many pieces; with 0.3 in 12.
#define AHEAD_SINE 0.6f
#define FAST_EDGES 16.0 // that the tip of a fast crack passes in a step, at least; chosen

static bool is_in_plane(const FemBody *body, int32_t node, int32_t center, const float n[3]) {
	FemVec4 a = body->position[center], b = body->position[node];
	float d[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, along = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
	return along * along < AHEAD_SINE * AHEAD_SINE * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

// A split unloads what is beside it: nodes of the tets around it wait for the next pass, which finds their stress
// anew. Without that a load which opens one crack shatters all that it strains (docs/method.md, "Fracture within a
// step"). Those ahead in its plane it loads further: they need not wait, unless the crack is slow, whose tip comes by
// one edge a pass.
static void let_neighbours_wait(
	FemBody *body, const FemSeparation *split, const int32_t *star, int32_t count, bool is_fast) {
	const FemTopology *t = body->topology;
	for (int32_t k = 0; k < count; k++) {
		for (int v = 0; v < 4; v++) {
			int32_t node = t->split->parent[fem_tet_node(t, star[k] / 4, v)];
			if (!is_fast || !is_in_plane(body, node, split->node, split->normal))
				body->breaking->marks[node] = 1;
		}
	}
	body->breaking->marks[split->node] = 1;
}

// s, that the tip of a crack takes past a node: the edge of a regular tet as large as those around it.
static double passing_time(const FemBody *body, const int32_t *star, int32_t count) {
	double volume = 0.0, speed = 0.0;
	for (int32_t k = 0; k < count; k++) {
		int32_t tet = star[k] / 4;
		volume += (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		speed = fmax(speed, (double)body->tet_crack_speed[tet]);
	}
	return cbrt(EDGE_CUBED * volume / count) / speed;
}

// m^2, of the cuts from `first` on.
static double area_of_cuts(const FemBody *body, int32_t first) {
	const FemTopology *t = body->topology;
	double sum = 0.0;
	for (int32_t i = first; i < body->breaking->cut_count; i++) {
		FemVec3d x[3];
		for (int k = 0; k < 3; k++)
			x[k] = fem_vec3d_from4(body->position[t->split->parent[body->breaking->cuts[i].nodes[k]]]);
		FemVec3d area = fem_vec3d_cross(fem_vec3d_sub(x[1], x[0]), fem_vec3d_sub(x[2], x[0]));
		sum += 0.5 * sqrt(fem_vec3d_dot(area, area));
	}
	return sum;
}

// ---- running on

#define RUN_EDGES 8  // that a crack runs on in a pass under the stress that was found before it began; chosen
#define RUN_NODES 64 // tips of one crack that are looked at in a pass; chosen: bounds the work

typedef struct Run {
	FemBody *body;
	const FemCrackRules *rules;
	FemCrackSplits result;
	double area;                               // m^2, that may still be opened
	int32_t tips[RUN_NODES], edges[RUN_NODES]; // nodes at the end of what a crack has opened, and how far it has run
	int32_t tip_count;
} Run;

static void add_tips(Run *run, int32_t first_cut, int32_t edges) {
	const FemBreaking *breaking = run->body->breaking;
	for (int32_t i = 3 * first_cut; i < 3 * breaking->cut_count && run->tip_count < RUN_NODES; i++) {
		int32_t node = breaking->cuts[i / 3].nodes[i % 3];
		if (node >= run->body->topology->node_count || breaking->marks[node]) // a copy of this pass, or one that waits
			continue;
		run->tips[run->tip_count] = node;
		run->edges[run->tip_count++] = edges;
	}
}

// Splits a node that wants to, and lets those beside it wait. `edges`: that its crack has run in this pass.
static void split_and_wait(Run *run, const FemSeparation *separation, int32_t edges) {
	FemBody *body = run->body;
	const FemTopology *t = body->topology;
	int32_t cuts = body->breaking->cut_count;
	FemRange range = t->split->star[separation->node];
	int32_t star[FEM_STAR_MAX], count = range.end - range.begin;
	if (body->breaking->marks[separation->node] || count > FEM_STAR_MAX)
		return;
	memcpy(star, t->node_tets + range.begin, sizeof *star * (size_t)count); // splitting moves them
	Star parted;
	find_star(body, separation->node, &parted);
	if (!split_star(body, &parted, separation->normal, separation->is_pierced) &&
		!split_beside_rim(body, separation->node, separation->normal) &&
		!(run->rules->tip_gain && split_deviating(body, &parted, separation)))
		return;
	run->result.count++;
	run->area -= area_of_cuts(body, cuts);
	double time = passing_time(body, star, count);
	bool is_fast = FAST_EDGES * time < (double)run->rules->dt;
	run->result.time = fmin(run->result.time, time);
	run->result.edges = edges + 1 > run->result.edges ? edges + 1 : run->result.edges;
	let_neighbours_wait(body, separation, star, count, is_fast);
	if (is_fast && run->rules->tip_gain && edges + 1 < RUN_EDGES)
		add_tips(run, cuts, edges + 1);
}

// In a wall a fast crack goes on through columns at its tip that the stress found in this pass already drives it
// through: that at the new tip is higher still, so that the next pass would only find the same. In a solid the tip is a
// line, all of which goes on with the next pass: a front that runs ahead in one place spends the energy of a blow on
// cracks that part nothing.
static void run_on(Run *run) {
	FemBody *body = run->body;
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < run->tip_count && run->result.count < run->rules->most; i++) {
		int32_t node = run->tips[i];
		FemRange range = t->split->star[node];
		int32_t star[FEM_STAR_MAX], count = range.end - range.begin;
		FemSeparation separation;
		if (body->breaking->marks[node] || !body->step->node_hot[node] || count > FEM_STAR_MAX ||
			column_end(body, node) < 0)
			continue;
		memcpy(star, t->node_tets + range.begin, sizeof *star * (size_t)count);
		float gain = run->rules->tip_gain(run->rules->context, body, node, star, count);
		if (gain > 1.0f && fem_separation_of_node(body, node, star, count, gain, &separation))
			split_and_wait(run, &separation, run->edges[i]);
	}
	run->tip_count = 0;
}

FemCrackSplits fem_crack_split(FemBody *body, const FemCrackRules *rules, double *io_area) {
	Run run = {.body = body, .rules = rules, .result = {.time = INFINITY}, .area = *io_area};
	FEM_ASSERT(body->own_topology);
	if (!fem_split_open(body->own_topology))
		return run.result;
	sort_separations(body, rules->order);
	memset(body->breaking->marks, 0, (size_t)body->topology->node_count);
	for (int32_t i = 0; i < body->step->separation_count && run.result.count < rules->most && run.area > 0.0; i++) {
		split_and_wait(&run, &body->step->separations[i], 0);
		run_on(&run);
	}
	run.result.is_whole = run.result.count < rules->most && run.area > 0.0;
	FEM_ASSERT(run.result.count <= rules->most && (run.result.count == 0) == (body->breaking->cut_count == 0));
	if (run.result.count == 0)
		fem_split_close(body->own_topology);
	*io_area = run.area;
	return run.result;
}
