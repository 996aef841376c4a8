// How large and how heavy the pieces of a body are. All from the rest shape, so that a body restored from a snapshot,
// which is not where it was made, measures the same.
#include "world/api/pieces.h"

#include "base/vec.h"
#include "topology/splitting.h"

#include <math.h>

void fem_pieces_weigh(FemBody *body) {
	const FemTopology *t = body->topology;
	double whole = 0.0;
	for (int32_t c = 0; c < t->component_count; c++) {
		double mass = 0.0;
		for (int32_t i = t->component_nodes[c].begin; i < t->component_nodes[c].end; i++) {
			mass += (double)body->mass[i];
			whole += (double)body->mass[i];
		}
		body->pieces[c].mass = (float)mass;
	}
	body->total_mass = (float)whole;
}

void fem_pieces_count_pinned(FemBody *body) {
	const FemTopology *t = body->topology;
	body->pinned_count = 0;
	for (int32_t c = 0; c < t->component_count; c++) {
		int32_t count = 0;
		for (int32_t i = t->component_nodes[c].begin; i < t->component_nodes[c].end; i++)
			count += body->node_kind[i] != FEM_NODE_FREE;
		body->pieces[c].pinned_count = count;
		body->pinned_count += count;
	}
}

// Measures are taken of the rest shape because a body restored from a snapshot has another place than when it was
// made, and must measure the same.
FemVec3d fem_body_rest_point(const FemMesh *mesh, const FemBody *body, int32_t node) {
	const FemTopology *t = body->topology;
	int32_t user = t->user_of_node[node];
	return fem_mesh_rest_point(mesh, body->scale, t->split ? t->split->source_of_user[user] : user);
}

// Each tet counts at its first node.
static double volume_of(const FemBody *body, FemRange nodes) {
	const FemTopology *t = body->topology;
	double volume = 0.0;
	for (int32_t k = t->node_tet_start[nodes.begin]; k < t->node_tet_start[nodes.end]; k++) {
		int32_t tet = t->node_tets[k] / 4;
		if (t->node_tets[k] % 4 == 0)
			volume += (double)body->batches[tet / FEM_LANES].volume[tet % FEM_LANES];
	}
	return volume;
}

static void measure_box(const FemMesh *mesh, const FemBody *body, FemRange nodes, FemPiece *piece) {
	double low[3] = {1e30, 1e30, 1e30}, high[3] = {-1e30, -1e30, -1e30}, volume = 1.0, square = 0.0;
	for (int32_t i = nodes.begin; i < nodes.end; i++) {
		FemVec3d p = fem_body_rest_point(mesh, body, i);
		const double *x = &p.x;
		for (int k = 0; k < 3; k++) {
			low[k] = fmin(low[k], x[k]);
			high[k] = fmax(high[k], x[k]);
		}
	}
	for (int k = 0; k < 3; k++) {
		volume *= high[k] - low[k];
		square += (high[k] - low[k]) * (high[k] - low[k]);
	}
	piece->box_area = (float)pow(volume, 2.0 / 3.0);
	piece->length = (float)sqrt(square);
}

// Surface nodes ascend, and so do the nodes of components. A plate's sides are nearly all of its surface.
void fem_pieces_measure(const FemMesh *mesh, FemBody *body) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0, at = 0; c < t->component_count; c++) {
		FemPiece *piece = &body->pieces[c];
		FemRange nodes = t->component_nodes[c];
		double volume = volume_of(body, nodes), area = 0.0;
		for (; at < body->surface_node_count && body->surface_nodes[at] < nodes.end; at++)
			area += (double)body->surface_area[at];
		piece->volume = (float)volume;
		piece->area = (float)area;
		piece->thickness = (float)(2.0 * volume / area);
		measure_box(mesh, body, nodes, piece);
	}
}
