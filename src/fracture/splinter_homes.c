// Which tet a splinter is at home in. It is the one that was given, until a piece breaks off in which no splinter is at
// home: such a piece would not be seen. It takes over the splinter of a neighbour that has others; when all neighbours
// have one only, one of them gives that and takes another itself, and so on.
//
// Homes never change back, and only pieces that were one until this split give each other something: splinters of
// pieces that have flown apart stay with them. A splinter of which too little lies in a piece is not taken: the piece
// is bare then, and drawn by its own faces (fem_body_get_bare_tets()).
//
// Where tets are crushed the splinters go of which half lies there, whatever tet they were at home in, so that a hole
// is seen as large as the one that is there.
#include "fracture/splinters.h"

#include "base/memory.h"
#include "model/piece.h"
#include "topology/splitting.h"
#include "topology/topology.h"

#include <string.h>

// One splinter vertex in so many lies in the piece that takes it, at least: one that mostly lies elsewhere would leave
// a hole there, and look nothing like the piece. Chosen.
#define SHARE_LEAST 4

#define LOOKS_MAX 32 // pieces that are asked for a splinter on behalf of a bare one; chosen: bounds the time of a split

// -1: removed.
static int32_t component_of(const FemTopology *t, int32_t tet) {
	return t->user_of_tet[tet] < 0 ? -1 : fem_tet_component(t, tet);
}

static void count_homes(FemSplinters *s, const FemTopology *t) {
	memset(s->households, 0, sizeof *s->households * (size_t)t->component_count);
	for (int32_t i = 0; i < s->given.splinter_count; i++) {
		int32_t component = component_of(t, s->home[i]);
		if (component >= 0)
			s->households[component].splinter_count++;
	}
}

static int32_t given_tet(const FemSplinters *s, int32_t vertex) {
	return s->rest.topology->tet_of_user[s->given.vertex_tets[vertex]];
}

// How many of the splinter's vertices lie in the component, at rest.
static int32_t vertices_in(const FemSplinters *s, const FemTopology *t, int32_t splinter, int32_t component) {
	int32_t count = 0;
	for (int32_t k = s->vertex_start[splinter]; k < s->vertex_start[splinter + 1]; k++)
		count += component_of(t, given_tet(s, s->vertices[k])) == component;
	return count;
}

// Lists the splinters that reach into the component; returns how many.
static int32_t list_reaching(FemSplinters *s, const FemTopology *t, int32_t component) {
	int32_t count = 0;
	FemRange nodes = t->component_nodes[component];
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		for (int32_t j = s->tet_start[tet]; t->node_tets[k] % 4 == 0 && j < s->tet_start[tet + 1]; j++) {
			int32_t splinter = s->tet_splinters[j];
			if (!s->is_listed[splinter])
				s->list[count++] = splinter;
			s->is_listed[splinter] = 1;
		}
	}
	for (int32_t i = 0; i < count; i++)
		s->is_listed[s->list[i]] = 0;
	return count;
}

static bool are_near(const FemTopology *t, bool is_split, int32_t a, int32_t b) {
	return !is_split || t->split->component_parent[a] == t->split->component_parent[b];
}

// The splinter that has the largest share of its vertices in the taker, of those that a neighbour can spare; -1: none.
// Neighbours that have one only, which might do without when they get another, go into the queue.
static int32_t find_spare(FemSplinters *s, const FemTopology *t, bool is_split, int32_t taker, int32_t *queued) {
	int32_t best = -1, best_in = 0, best_of = 1, count = list_reaching(s, t, taker);
	for (int32_t i = 0; i < count; i++) {
		int32_t splinter = s->list[i], giver = component_of(t, s->home[splinter]);
		int32_t of = s->vertex_start[splinter + 1] - s->vertex_start[splinter];
		if (giver < 0 || giver == taker || !are_near(t, is_split, giver, taker))
			continue;
		int32_t in = vertices_in(s, t, splinter, taker);
		if (in == 0 || (int64_t)in * SHARE_LEAST < of)
			continue;
		FemHousehold *household = &s->households[giver];
		int64_t better = (int64_t)in * best_of - (int64_t)best_in * of;
		if (household->splinter_count > 1 && (better > 0 || (better == 0 && splinter < best))) {
			best = splinter;
			best_in = in;
			best_of = of;
		} else if (household->splinter_count == 1 && !household->was_asked && *queued < LOOKS_MAX) {
			household->was_asked = true;
			household->gives = splinter;
			household->to = taker;
			s->component_queue[(*queued)++] = giver;
		}
	}
	return best;
}

// Its new home is the tet of the first of its vertices that lies there.
static void move_home(FemSplinters *s, const FemTopology *t, int32_t splinter, int32_t taker) {
	int32_t k = s->vertex_start[splinter];
	while (component_of(t, given_tet(s, s->vertices[k])) != taker)
		k++;
	s->households[component_of(t, s->home[splinter])].splinter_count--;
	s->households[taker].splinter_count++;
	s->home[splinter] = given_tet(s, s->vertices[k]);
	s->is_lost[splinter] = 1;
	s->is_behind = true;
}

// Breadth first: as few splinters as can be change their home.
static void house(FemSplinters *s, const FemTopology *t, bool is_split, int32_t bare) {
	int32_t queued = 1, at = 0, spare = -1;
	s->component_queue[0] = bare;
	s->households[bare].was_asked = true;
	while (at < queued && spare < 0)
		spare = find_spare(s, t, is_split, s->component_queue[at++], &queued);
	int32_t taker = s->component_queue[at - 1];
	while (spare >= 0) {
		move_home(s, t, spare, taker);
		spare = taker == bare ? -1 : s->households[taker].gives;
		taker = s->households[taker].to;
	}
	for (int32_t i = 0; i < queued; i++)
		s->households[s->component_queue[i]].was_asked = false;
}

void fem_splinters_find_homes(FemSplinters *s, const FemTopology *t, bool is_split) {
	count_homes(s, t);
	for (int32_t c = 0; c < t->component_count; c++) {
		if (s->households[c].splinter_count == 0 && !(is_split && t->split->component_source[c] >= 0))
			house(s, t, is_split, c);
	}
}

// ---- craters

#define GONE 3 // mark of a tet that is crushed

static int32_t vertices_gone(const FemSplinters *s, int32_t splinter) {
	int32_t count = 0;
	for (int32_t k = s->vertex_start[splinter]; k < s->vertex_start[splinter + 1]; k++)
		count += s->tet_mark[given_tet(s, s->vertices[k])] == GONE;
	return count;
}

// To the tet of the first of its vertices that is crushed, or that is not, of those in a component. False: there is
// none.
static bool rehouse(FemSplinters *s, const FemTopology *t, int32_t splinter, int32_t component, bool to_crater) {
	for (int32_t k = s->vertex_start[splinter]; k < s->vertex_start[splinter + 1]; k++) {
		int32_t tet = given_tet(s, s->vertices[k]);
		if (component_of(t, tet) != component || (s->tet_mark[tet] == GONE) != to_crater)
			continue;
		s->home[splinter] = tet;
		s->is_lost[splinter] = 1;
		s->is_behind = true;
		return true;
	}
	return false;
}

// The splinters that the listed ones of `count` lose or keep; returns how many are lost, and of the others the one of
// which the largest share is crushed, a quarter at least, or -1.
static int32_t settle_crater(FemSplinters *s, const FemTopology *t, int32_t count, int32_t *out_next) {
	int32_t lost = 0, next = -1, next_in = 0, next_of = 1;
	for (int32_t i = 0; i < count; i++) {
		int32_t splinter = s->list[i], component = component_of(t, s->home[splinter]);
		int32_t in = vertices_gone(s, splinter), of = s->vertex_start[splinter + 1] - s->vertex_start[splinter];
		bool is_at_home = s->tet_mark[s->home[splinter]] == GONE, goes = 2 * in >= of;
		if (component < 0)
			continue;
		if (goes != is_at_home && !rehouse(s, t, splinter, component, goes))
			goes = is_at_home;
		lost += goes;
		int64_t better = (int64_t)in * next_of - (int64_t)next_in * of;
		if (!goes && in * SHARE_LEAST >= of && (better > 0 || (better == 0 && splinter < next))) {
			next = splinter;
			next_in = in;
			next_of = of;
		}
	}
	*out_next = next;
	return lost;
}

void fem_splinters_crush(FemSplinters *s, const FemTopology *t, const int32_t *tets, int32_t tet_count) {
	int32_t count = 0, next;
	for (int32_t i = 0; i < tet_count; i++) {
		s->tet_mark[tets[i]] = GONE;
		for (int32_t k = s->tet_start[tets[i]]; k < s->tet_start[tets[i] + 1]; k++) {
			int32_t splinter = s->tet_splinters[k];
			if (!s->is_listed[splinter])
				s->list[count++] = splinter;
			s->is_listed[splinter] = 1;
		}
	}
	if (settle_crater(s, t, count, &next) == 0 && next >= 0)
		(void)rehouse(s, t, next, component_of(t, s->home[next]), true);
	for (int32_t i = 0; i < count; i++)
		s->is_listed[s->list[i]] = 0;
	for (int32_t i = 0; i < tet_count; i++)
		s->tet_mark[tets[i]] = 0;
}

int32_t fem_splinters_bare_tets(const FemSplinters *s, const FemTopology *t, int32_t *out_tets, int32_t capacity) {
	int32_t count = 0;
	uint8_t *has_home = FEM_ALLOC_ARRAY(uint8_t, t->component_count);
	if (!has_home)
		return 0;
	for (int32_t i = 0; i < s->given.splinter_count; i++) {
		int32_t component = component_of(t, s->home[i]);
		if (component >= 0)
			has_home[component] = 1;
	}
	for (int32_t user = 0; user < t->user_tet_count; user++) {
		if (t->tet_of_user[user] < 0 || has_home[component_of(t, t->tet_of_user[user])])
			continue;
		if (count < capacity)
			out_tets[count] = user;
		count++;
	}
	FEM_FREE_ARRAY(has_home, t->component_count);
	return count;
}

// ---- homes as data

bool fem_splinters_is_in_reach(const FemSplinters *s, int32_t splinter, int32_t tet) {
	for (int32_t k = s->reach_start[splinter]; k < s->reach_start[splinter + 1]; k++) {
		if (s->reach[k] == tet)
			return true;
	}
	return false;
}

FemSplinterHomes *fem_splinter_homes_create(int32_t splinter_count, int32_t moved_count) {
	size_t bytes = sizeof(FemSplinterHomes) + sizeof(FemMovedHome) * (size_t)moved_count;
	FemSplinterHomes *homes = fem_alloc(bytes);
	if (homes)
		*homes = (FemSplinterHomes){splinter_count, moved_count, bytes, (FemMovedHome *)(homes + 1)};
	return homes;
}

void fem_splinter_homes_free(FemSplinterHomes *homes) {
	if (homes)
		fem_free(homes, homes->bytes);
}

FemSplinterHomes *fem_splinters_moved_homes(const FemSplinters *s) {
	int32_t count = 0;
	for (int32_t i = 0; i < s->given.splinter_count; i++)
		count += s->home[i] != s->first_home[i];
	FemSplinterHomes *homes = fem_splinter_homes_create(s->given.splinter_count, count);
	for (int32_t i = 0, at = 0; homes && i < s->given.splinter_count; i++) {
		if (s->home[i] != s->first_home[i])
			homes->moved[at++] = (FemMovedHome){i, s->rest.topology->user_of_tet[s->home[i]]};
	}
	return homes;
}

// Those of other splinters say nothing, and those out of reach cannot have been saved.
bool fem_splinters_take_homes(FemSplinters *s, const FemSplinterHomes *homes) {
	memcpy(s->home, s->first_home, sizeof *s->home * (size_t)s->given.splinter_count);
	if (!homes || homes->splinter_count != s->given.splinter_count)
		return false;
	for (int32_t i = 0; i < homes->moved_count; i++) {
		int32_t tet = s->rest.topology->tet_of_user[homes->moved[i].user_tet];
		if (fem_splinters_is_in_reach(s, homes->moved[i].splinter, tet))
			s->home[homes->moved[i].splinter] = tet;
	}
	return true;
}
