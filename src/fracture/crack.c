#include "fracture/crack.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/range.h"
#include "base/vec.h"
#include "fem_constants.h"
#include "model/body.h"
#include "model/body_step.h"
#include "topology/splitting.h"
#include "topology/surface.h"
#include "topology/topology.h"

#include <math.h>

// ---- order

// Key of the random order of a node. Taken from the user's number, so that the order does not depend on how nodes are
// numbered inside.
static uint64_t ticket_key(const FemBody *body, uint64_t step, int32_t node) {
	uint64_t hash = fem_hash_word(FEM_HASH_START, body->breaking->seed);
	hash = fem_hash_word(hash, step);
	return fem_hash_word(fem_hash_word(hash, (uint64_t)body->topology->user_of_node[node]), 0);
}

// Seeded shuffle of the list, which comes in node order: place i changes with one not before it.
static void shuffle(FemBody *body, uint64_t step) {
	FemSeparation *list = body->step->separations;
	int32_t count = body->step->separation_count;
	for (int32_t i = 1; FEM_HAS_ASSERTS && i < count; i++)
		FEM_ASSERT(list[i - 1].node < list[i].node); // it comes in node order, whoever found them
	for (int32_t i = 0; i + 1 < count; i++) {
		uint64_t key = ticket_key(body, step, list[i].node);
		int32_t other = i + (int32_t)(key % (uint64_t)(count - i));
		FemSeparation moved = list[i];
		list[i] = list[other];
		list[other] = moved;
	}
}

// ---- sides

static float side_of(const FemBody *body, int32_t tet, int32_t node, const float normal[3]) {
	float c[3] = {0.0f, 0.0f, 0.0f};
	for (int v = 0; v < 4; v++) {
		FemVec4 x = body->position[body->topology->split->parent[fem_tet_node(body->topology, tet, v)]];
		c[0] += x.x, c[1] += x.y, c[2] += x.z;
	}
	FemVec4 x = body->position[body->topology->split->parent[node]];
	return (0.25f * c[0] - x.x) * normal[0] + (0.25f * c[1] - x.y) * normal[1] + (0.25f * c[2] - x.z) * normal[2];
}

static bool is_ahead(const int32_t *star, const uint8_t *ahead, int32_t count, int32_t tet) {
	int32_t k = 0;
	while (k < count && star[k] / 4 != tet)
		k++;
	return k < count && ahead[k];
}

// A face holds when neither of its tets can break: a frame stays whole beside a pane that shatters.
static bool holds(const FemBody *body, int32_t face, int32_t across) {
	return isinf(body->tet_toughness[face / 4]) && isinf(body->tet_toughness[across / 4]);
}

// Cuts the faces at the node between tets ahead of the plane and behind it. Returns their number; they are the last
// cuts.
static int32_t cut_faces(FemBody *body, const int32_t *star, const uint8_t *ahead, int32_t count) {
	FemTopology *t = body->own_topology;
	FemBreaking *breaking = body->breaking;
	int32_t before = breaking->cut_count;
	for (int32_t k = 0; k < count; k++) {
		for (int32_t v = 0; ahead[k] && v < 4; v++) {
			int32_t face = star[k] / 4 * 4 + v, across = v == star[k] % 4 ? -1 : t->neighbours[face];
			if (across < 0 || is_ahead(star, ahead, count, across / 4) || holds(body, face, across) ||
				!FEM_LIST_HOLD(breaking->cuts, breaking->cut_capacity, breaking->cut_count + 1, INT32_MAX))
				continue;
			FEM_ASSERT(t->neighbours[across] == face && t->user_of_tet[across / 4] >= 0);
			FemFaceCut *cut = &breaking->cuts[breaking->cut_count++];
			*cut = (FemFaceCut){.face = face, .across = across};
			for (int i = 0; i < 3; i++)
				cut->nodes[i] = fem_tet_node(t, face / 4, fem_face_corners[v][i]);
			fem_split_cut(t, face, across);
		}
	}
	return breaking->cut_count - before;
}

static void mend_faces(FemBody *body, int32_t count) {
	FemBreaking *breaking = body->breaking;
	FEM_ASSERT(count <= breaking->cut_count);
	for (; count > 0; count--) {
		const FemFaceCut *cut = &breaking->cuts[--breaking->cut_count];
		fem_split_mend(body->own_topology, cut->face, cut->across);
	}
}

// No piece of fewer than three tets, unless the tets hung together as fewer before (a body of one or two tets).
static bool leaves_crumbs(FemBody *body, int32_t count) {
	FemBreaking *breaking = body->breaking;
	for (int32_t i = breaking->cut_count - count; i < breaking->cut_count; i++) {
		const FemFaceCut *cut = &breaking->cuts[i];
		if (fem_split_count_connected(body->own_topology, cut->face / 4, FEM_PIECE_TETS_MIN) < FEM_PIECE_TETS_MIN ||
			fem_split_count_connected(body->own_topology, cut->across / 4, FEM_PIECE_TETS_MIN) < FEM_PIECE_TETS_MIN)
			return true;
	}
	return false;
}

// ---- split

// Splits one node: cuts the faces along its separation plane, checks the rules for what remains, and copies the node.
static bool split_node(FemBody *body, int32_t node, const float normal[3]) {
	FemTopology *t = body->own_topology;
	FemRange range = t->split->star[node];
	int32_t count = range.end - range.begin, sides = 0, star[FEM_STAR_MAX];
	uint8_t ahead[FEM_STAR_MAX];
	FEM_ASSERT(count > 0 && count <= FEM_STAR_MAX);
	for (int32_t k = 0; k < count; k++) {
		star[k] = t->node_tets[range.begin + k]; // regrouping moves them
		ahead[k] = side_of(body, star[k] / 4, node, normal) >= 0.0f;
		sides += ahead[k];
	}
	if (sides == 0 || sides == count)
		return false;
	int32_t cuts = cut_faces(body, star, ahead, count);
	if (cuts == 0 || leaves_crumbs(body, cuts) || fem_split_regroup(t, node) < 1) {
		mend_faces(body, cuts);
		return false;
	}
	// Hinges and ball joints can only have come at corners of the faces just opened.
	for (int32_t i = body->breaking->cut_count - cuts; i < body->breaking->cut_count; i++) {
		const FemFaceCut *cut = &body->breaking->cuts[i];
		for (int v = 0; v < 4; v++) {
			if (v != cut->face % 4)
				fem_split_regroup(t, fem_tet_node(t, cut->face / 4, v));
			if (v != cut->across % 4)
				fem_split_regroup(t, fem_tet_node(t, cut->across / 4, v));
		}
	}
	return true;
}

// An earlier split of this step may have taken tets from the node: it is looked at again with those it has now.
static bool still_wants(const FemBody *body, FemSeparation *separation) {
	const FemSplitState *split = body->topology->split;
	FEM_ASSERT_INDEX(separation->node, body->topology->node_count);
	FemRange star = split->star[separation->node];
	int32_t count = star.end - star.begin;
	if (count > FEM_STAR_MAX)
		return false;
	return !split->changed[separation->node] ||
		fem_separation_of_node(body, separation->node, body->topology->node_tets + star.begin, count, separation);
}

int32_t fem_crack_split(FemBody *body, uint64_t step, int32_t most) {
	int32_t done = 0;
	shuffle(body, step);
	for (int32_t i = 0; i < body->step->separation_count && done < most; i++) {
		FemSeparation separation = body->step->separations[i];
		if (!fem_split_open(body->own_topology))
			return 0;
		if (still_wants(body, &separation))
			done += split_node(body, separation.node, separation.normal);
	}
	FEM_ASSERT(done <= most && (done == 0) == (body->breaking->cut_count == 0));
	if (done == 0 && body->topology->split->is_open)
		fem_split_close(body->own_topology);
	return done;
}
