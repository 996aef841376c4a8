#include "collision/piece_parts.h"

#include "collision/surface_trees.h"
#include "topology/surface.h"

#include <string.h>

#define NODES_MAX 64  // of a piece that is looked at: larger ones with few faces are rare. Chosen
#define FACES_MAX 124 // of so many nodes, without holes: 2 * 64 - 4
#define TETS_MAX 32   // of a piece that is taken apart: more seldom come to few parts. Chosen; bits of a mask

// ---- whole

static bool list_surface(const FemBody *body, int32_t component, FemHullFace *faces, int32_t *out_count) {
	const FemSurfaceTrees *trees = body->trees;
	const FemTopology *t = body->topology;
	FemRange range = fem_surface_trees_component(trees, component).trees;
	int32_t count = 0;
	for (int32_t i = range.begin; i < range.end; i++) {
		for (int32_t k = trees->trees[i].triangles.begin; k < trees->trees[i].triangles.end; k++) {
			int32_t face = trees->faces[k];
			if (count == FACES_MAX)
				return false;
			for (int c = 0; c < 3; c++)
				faces[count].nodes[c] = fem_tet_node(t, face / 4, fem_face_corners[face % 4][c]);
			faces[count++].is_exterior = true;
		}
	}
	*out_count = count;
	return true;
}

// The largest tet, the first of equals; -1 where some are of another material.
static int32_t choose_tet(const FemBody *body, FemRange nodes) {
	const FemTopology *t = body->topology;
	int32_t largest = -1;
	float most = -1.0f;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		float volume = body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		if (largest >= 0 && body->tet_material[tet] != body->tet_material[largest])
			return -1;
		if (volume > most || (volume == most && tet < largest))
			most = volume, largest = tet;
	}
	return largest;
}

// Whether a piece is one part.
static bool find_whole(const FemBody *body, int32_t component, FemPieceHull *out) {
	FemHullFace faces[FACES_MAX];
	int32_t count, tet = choose_tet(body, body->topology->component_nodes[component]);
	if (tet < 0 || !list_surface(body, component, faces, &count) ||
		!fem_piece_hull_find(body, component, faces, count, NULL, out))
		return false;
	out->tet = tet;
	return true;
}

// ---- taken apart

typedef struct Splitter {
	const FemBody *body;
	int32_t component;
	FemRange nodes;
	int32_t tet_count;
	int32_t tets[TETS_MAX];
	uint32_t beside[TETS_MAX]; // those that it has a face in common with
	int8_t across[TETS_MAX][4];
	uint32_t part[TETS_MAX]; // tets of each part; 0: it is none any more
	FemPieceHull hull[TETS_MAX];
	int8_t gain[TETS_MAX][TETS_MAX]; // of two parts that are put together
} Splitter;

enum { UNKNOWN = 0, NOT_CONVEX = -1 }; // of Splitter.gain: not tried, and tried in vain; else planes saved, and one

// Each once, at its lowest node.
static bool list_tets(Splitter *s) {
	const FemTopology *t = s->body->topology;
	for (int32_t node = s->nodes.begin; node < s->nodes.end; node++) {
		for (int32_t k = t->node_tet_start[node]; k < t->node_tet_start[node + 1]; k++) {
			int32_t tet = t->node_tets[k] / 4, lowest = node;
			for (int v = 0; v < 4; v++)
				lowest = fem_tet_node(t, tet, v) < lowest ? fem_tet_node(t, tet, v) : lowest;
			if (lowest < node)
				continue;
			if (s->tet_count == TETS_MAX)
				return false;
			s->tets[s->tet_count++] = tet;
		}
	}
	return true;
}

static void find_neighbours(Splitter *s) {
	const FemTopology *t = s->body->topology;
	for (int32_t i = 0; i < s->tet_count; i++) {
		s->beside[i] = 0;
		for (int v = 0; v < 4; v++) {
			int32_t across = t->neighbours[4 * s->tets[i] + v];
			s->across[i][v] = -1;
			for (int32_t k = 0; k < s->tet_count && across >= 0; k++) {
				if (s->tets[k] == across / 4)
					s->across[i][v] = (int8_t)k;
			}
			s->beside[i] |= s->across[i][v] >= 0 ? 1u << s->across[i][v] : 0;
		}
	}
}

static bool find_hull(const Splitter *s, uint32_t part, FemPieceHull *out) {
	const FemBody *body = s->body;
	FemHullFace faces[4 * TETS_MAX];
	bool has_node[NODES_MAX] = {false};
	int32_t count = 0, largest = -1;
	float most = -1.0f;
	for (uint32_t left = part; left; left &= left - 1) {
		int32_t i = __builtin_ctz(left), tet = s->tets[i];
		float volume = body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
		if (volume > most)
			most = volume, largest = tet;
		for (int v = 0; v < 4; v++) {
			has_node[fem_tet_node(body->topology, tet, v) - s->nodes.begin] = true;
			if (s->across[i][v] >= 0 && part >> s->across[i][v] & 1)
				continue;
			for (int c = 0; c < 3; c++)
				faces[count].nodes[c] = fem_tet_node(body->topology, tet, fem_face_corners[v][c]);
			faces[count++].is_exterior = s->across[i][v] < 0;
		}
	}
	bool is_convex = fem_piece_hull_find(body, s->component, faces, count, has_node, out);
	out->tet = largest;
	return is_convex;
}

static bool are_beside(const Splitter *s, int32_t p, int32_t q) {
	uint32_t beside = 0;
	for (uint32_t left = s->part[p]; left; left &= left - 1)
		beside |= s->beside[__builtin_ctz(left)];
	return (beside & s->part[q]) != 0 && s->body->tet_material[s->hull[p].tet] == s->body->tet_material[s->hull[q].tet];
}

// Planes that are saved, and one; what is put together has no more than both.
static int8_t gain_of(const Splitter *s, int32_t p, int32_t q) {
	FemPieceHull both;
	if (!are_beside(s, p, q) || !find_hull(s, s->part[p] | s->part[q], &both))
		return NOT_CONVEX;
	int32_t saved = s->hull[p].plane_count + s->hull[q].plane_count - both.plane_count;
	return (int8_t)(saved < 0 ? 1 : saved + 1);
}

// The two parts whose union saves most planes, of equals the first; false: none is convex.
static bool choose_two(Splitter *s, int32_t *out_p, int32_t *out_q) {
	int8_t best = 0;
	for (int32_t p = 0; p < s->tet_count; p++) {
		for (int32_t q = p + 1; q < s->tet_count && s->part[p]; q++) {
			if (!s->part[q])
				continue;
			if (s->gain[p][q] == UNKNOWN)
				s->gain[p][q] = gain_of(s, p, q);
			if (s->gain[p][q] > best)
				best = s->gain[p][q], *out_p = p, *out_q = q;
		}
	}
	return best > 0;
}

static void put_together(Splitter *s, int32_t p, int32_t q) {
	s->part[p] |= s->part[q];
	s->part[q] = 0;
	bool is_convex = find_hull(s, s->part[p], &s->hull[p]);
	FEM_ASSERT(is_convex);
	(void)is_convex;
	for (int32_t i = 0; i < s->tet_count; i++)
		s->gain[i][p] = s->gain[p][i] = UNKNOWN;
}

static bool split(Splitter *s) {
	int32_t p = 0, q = 0;
	if (!list_tets(s))
		return false;
	find_neighbours(s);
	for (int32_t i = 0; i < s->tet_count; i++) {
		s->part[i] = 1u << i;
		if (!find_hull(s, s->part[i], &s->hull[i]))
			return false;
	}
	while (choose_two(s, &p, &q))
		put_together(s, p, q);
	return true;
}

static void find_parts(const FemBody *body, int32_t component, int32_t most, FemPieceParts *out) {
	FemRange nodes = body->topology->component_nodes[component];
	out->count = 0;
	if (nodes.end - nodes.begin > NODES_MAX || component >= body->trees->component_count)
		return;
	if (find_whole(body, component, &out->hulls[0])) {
		out->count = 1;
		return;
	}
	Splitter s = {.body = body, .component = component, .nodes = nodes};
	if (most == 1 || body->topology->component_tets[component] > TETS_MAX || !split(&s))
		return;
	for (int32_t i = 0; i < s.tet_count; i++) {
		if (!s.part[i])
			continue;
		if (out->count == most) {
			out->count = 0;
			return;
		}
		out->hulls[out->count++] = s.hull[i];
	}
}

void fem_piece_parts_find(const FemBody *body, int32_t component, int32_t most, FemPieceParts *out) {
	FEM_ASSERT(most >= 1 && most <= FEM_PIECE_PARTS);
	find_parts(body, component, most, out);
	for (int32_t i = 0; i < out->count; i++)
		fem_piece_hull_keep_graph(body, component, &out->hulls[i]);
}
