// Who is across each face of each tet.
#include "mesh/surface.h"
#include "mesh/topology.h"
#include "mesh/topology_fill.h"

static bool tet_has(const FemTopology *t, int32_t tet, int32_t node) {
	return fem_tet_node(t, tet, 0) == node || fem_tet_node(t, tet, 1) == node || fem_tet_node(t, tet, 2) == node ||
	       fem_tet_node(t, tet, 3) == node;
}

static int32_t star_size(const FemTopology *t, int32_t node) {
	return t->node_tet_start[node + 1] - t->node_tet_start[node];
}

// The other tet at a face, from the smallest star of its corners, since a hub may have all tets around it; -1 for none. A
// face of three tets joins the first two.
static int32_t find_across(const FemTopology *t, int32_t tet, int32_t local) {
	const int32_t *corners = fem_face_corners[local];
	int32_t a = fem_tet_node(t, tet, corners[0]), b = fem_tet_node(t, tet, corners[1]), c = fem_tet_node(t, tet, corners[2]);
	int32_t hub = star_size(t, a) <= star_size(t, b) ? a : b;
	hub = star_size(t, hub) <= star_size(t, c) ? hub : c;
	for (int32_t k = t->node_tet_start[hub]; k < t->node_tet_start[hub + 1]; k++) {
		int32_t other = t->node_tets[k] / 4;
		if (other == tet || !tet_has(t, other, a) || !tet_has(t, other, b) || !tet_has(t, other, c))
			continue;
		for (int32_t v = 0; v < 4; v++) {
			int32_t node = fem_tet_node(t, other, v);
			if (node != a && node != b && node != c && t->neighbours[other * 4 + v] < 0)
				return other * 4 + v;
		}
	}
	return -1;
}

void fem_topology_fill_neighbours(FemTopology *t) {
	int32_t *neighbours = t->neighbours;
	for (int32_t face = 0; face < t->batch_count * FEM_LANES * 4; face++)
		neighbours[face] = -1;
	for (int32_t face = 0; face < t->batch_count * FEM_LANES * 4; face++) {
		if (t->user_of_tet[face / 4] < 0 || neighbours[face] >= 0)
			continue;
		int32_t across = find_across(t, face / 4, face % 4);
		neighbours[face] = across;
		if (across >= 0)
			neighbours[across] = face;
	}
}
