// How long pieces have until they are removed for their age, so that they can be drawn fading.
#include "world/breaking.h"

#include <math.h>

double fem_piece_time_left(const FemWorld *world, const FemBody *body, int32_t component, int32_t largest) {
	const FemBreaking *breaking = body->breaking;
	if (!breaking || !(breaking->piece_lifetime > 0.0f) || component == largest || fem_piece_is_attached(body, component))
		return INFINITY;
	return fmax(breaking->pieces[component].born + (double)breaking->piece_lifetime - world->time, 0.0);
}

int32_t fem_body_get_node_fades(FemBodyId id, float fade_time, float *out_fades, int32_t node_capacity) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body || !(fade_time > 0.0f) || !out_fades || !body->breaking || !(body->breaking->piece_lifetime > 0.0f))
		return 0;
	const FemTopology *t = body->topology;
	int32_t largest = fem_largest_piece(t), count = 0;
	for (int32_t c = 0; c < t->component_count; c++) {
		double left = fem_piece_time_left(world, body, c, largest);
		if (!(left < (double)fade_time))
			continue;
		for (int32_t user = 0; count == 0 && user < node_capacity && user < t->user_node_count; user++)
			out_fades[user] = 1.0f;
		for (int32_t i = t->component_nodes[c].begin; i < t->component_nodes[c].end; i++) {
			if (t->user_of_node[i] < node_capacity)
				out_fades[t->user_of_node[i]] = (float)(left / (double)fade_time);
		}
		count++;
	}
	return count;
}
