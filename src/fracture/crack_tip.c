#include "fracture/crack_tip.h"

#include "topology/topology.h"

#include <math.h>

#define EDGE_CUBED 8.5f // of a regular tet over its volume: 6 sqrt(2) = 8.49
#define TWELVE_PI 37.7f // K^2 = E G at distance h, with G = s T^2 / 6 E (docs/method.md, "The real force of a blow")

// Whether a crack that has opened a face at the node has not parted the node: it still has both sides of the face.
static bool is_tip(
	const FemBody *body, const FemTopology *whole, int32_t node, const int32_t *star, int32_t star_count) {
	const FemTopology *t = body->topology;
	for (int32_t k = 0; k < star_count; k++) {
		int32_t tet = star[k] / 4;
		for (int v = 0; v < 4; v++) {
			int32_t across = whole->neighbours[4 * tet + v];
			if (v == star[k] % 4 || across < 0 || t->neighbours[4 * tet + v] >= 0 || t->user_of_tet[across / 4] < 0)
				continue;
			for (int w = 0; w < 4; w++) {
				if (fem_tet_node(t, across / 4, w) == node)
					return true;
			}
		}
	}
	return false;
}

float fem_crack_tip_gain(const FemBody *body, const FemTopology *whole, int32_t node, const int32_t *star,
	int32_t star_count, float fragment_size) {
	float volume = 0.0f;
	if (body->topology == whole || !(fragment_size > 0.0f) || !is_tip(body, whole, node, star, star_count))
		return 1.0f;
	for (int32_t k = 0; k < star_count; k++)
		volume += body->batches[star[k] / 4 / FEM_LANES].volume[star[k] / 4 % FEM_LANES];
	float edge = cbrtf(EDGE_CUBED * volume / (float)star_count);
	return fmaxf(sqrtf(TWELVE_PI * edge / fragment_size), 1.0f);
}
