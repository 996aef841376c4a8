// Which tet a splinter is at home in. It is the one that was given, unless a piece of the body would then be drawn by
// none: what physics separates must be seen. Such a piece takes over the splinter of a neighbour that has several and
// reaches into it the most.
//
// Homes are found from the topology alone, whatever broke before: states that are loaded need not tell of them.
#include "fracture/splinters.h"

#include "topology/topology.h"

#include <string.h>

// -1: removed.
static int32_t component_of(const FemTopology *t, int32_t tet) {
	return t->user_of_tet[tet] < 0 ? -1 : t->part_component[t->node_part[fem_tet_node(t, tet, 0)]];
}

static void count_homes(FemSplinters *s, const FemTopology *t) {
	memset(s->component_homes, 0, sizeof *s->component_homes * (size_t)t->component_count);
	for (int32_t i = 0; i < s->given.splinter_count; i++) {
		int32_t component = component_of(t, s->first_home[i]);
		if (component >= 0)
			s->component_homes[component]++;
	}
}

// A splinter that may be taken: it is at home where it was put, and not alone there.
static bool can_give(const FemSplinters *s, const FemTopology *t, int32_t splinter) {
	int32_t component = component_of(t, s->first_home[splinter]);
	return component >= 0 && s->home[splinter] == s->first_home[splinter] && s->component_homes[component] > 1;
}

// The splinter that can be given and has most tets of the component in its reach; -1: none.
static int32_t find_giver(FemSplinters *s, const FemTopology *t, int32_t component) {
	int32_t best = -1, count = 0;
	FemRange nodes = t->component_nodes[component];
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		if (t->node_tets[k] % 4 != 0) // each tet once
			continue;
		for (int32_t j = s->tet_start[tet]; j < s->tet_start[tet + 1]; j++) {
			int32_t splinter = s->tet_splinters[j];
			if (!s->is_listed[splinter]) {
				s->is_listed[splinter] = 1;
				s->list[count++] = splinter;
				s->reached[splinter] = 0;
			}
			s->reached[splinter]++;
		}
	}
	for (int32_t i = 0; i < count; i++) {
		int32_t splinter = s->list[i];
		s->is_listed[splinter] = 0;
		bool is_more = best < 0 || s->reached[splinter] > s->reached[best] ||
			(s->reached[splinter] == s->reached[best] && splinter < best);
		if (is_more && can_give(s, t, splinter))
			best = splinter;
	}
	return best;
}

// The reach begins with the home that was given, and ends with what the splinter does not touch.
static int32_t first_tet_in(const FemSplinters *s, const FemTopology *t, int32_t splinter, int32_t component) {
	int32_t k = s->reach_start[splinter];
	while (k < s->reach_start[splinter + 1] - 1 && component_of(t, s->reach[k]) != component)
		k++;
	return s->reach[k];
}

static void move(FemSplinters *s, const FemTopology *t, int32_t splinter, int32_t component) {
	s->component_homes[component_of(t, s->home[splinter])]--;
	s->component_homes[component]++;
	s->home[splinter] = first_tet_in(s, t, splinter, component);
}

// Of a piece whose neighbours have one splinter each, one such neighbour gives its own, and takes another itself.
static void take_the_only_one(FemSplinters *s, const FemTopology *t, int32_t component) {
	FemRange nodes = t->component_nodes[component];
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		for (int32_t j = s->tet_start[tet]; t->node_tets[k] % 4 == 0 && j < s->tet_start[tet + 1]; j++) {
			int32_t splinter = s->tet_splinters[j], neighbour = component_of(t, s->first_home[splinter]);
			if (neighbour < 0 || s->home[splinter] != s->first_home[splinter])
				continue;
			move(s, t, splinter, component);
			int32_t giver = find_giver(s, t, neighbour);
			if (giver >= 0) {
				move(s, t, giver, neighbour);
				return;
			}
			s->home[splinter] = s->first_home[splinter];
			s->component_homes[neighbour]++;
			s->component_homes[component]--;
		}
	}
}

int32_t fem_splinters_choose_homes(FemSplinters *s, const FemTopology *t) {
	size_t bytes = sizeof *s->home * (size_t)s->given.splinter_count;
	int32_t count = 0;
	memcpy(s->home_before, s->home, bytes);
	memcpy(s->home, s->first_home, bytes);
	count_homes(s, t);
	for (int32_t c = 0; c < t->component_count; c++) {
		if (s->component_homes[c] > 0 || t->component_tets[c] == 0)
			continue;
		int32_t giver = find_giver(s, t, c);
		if (giver >= 0)
			move(s, t, giver, c);
		else
			take_the_only_one(s, t, c);
	}
	for (int32_t i = 0; i < s->given.splinter_count; i++) {
		if (s->home[i] != s->home_before[i])
			s->list[count++] = i;
	}
	return count;
}
