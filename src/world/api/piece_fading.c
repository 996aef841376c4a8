// How long pieces have until they are removed for their age or number, so that they can be drawn fading.
#include "world/step/breaking.h"

#include "world/api/pieces.h"
#include "world/api/registry.h"
#include "world/world.h"

#include <math.h>

// World time at which a piece is removed, s; infinite for the largest and for attached pieces.
static double end_of(const FemBody *body, int32_t component) {
	const FemBreaking *breaking = body->breaking;
	const FemPiece *piece = &body->pieces[component];
	double too_old = breaking->piece_lifetime > 0.0f ? piece->born + (double)breaking->piece_lifetime : INFINITY;
	return fmin(too_old, piece->retires);
}

double fem_piece_time_left(const FemWorld *world, const FemBody *body, int32_t component, int32_t largest) {
	double end = body->breaking ? end_of(body, component) : INFINITY;
	if (isinf(end) || !fem_piece_is_debris(body, component, largest))
		return INFINITY;
	return fmax(end - world->time, 0.0);
}

// The next component from `first` on that has less than fade_time left; the number of components: there is none.
static int32_t next_fading(
	const FemWorld *world, const FemBody *body, int32_t first, float fade_time, double *out_left) {
	int32_t count = body->topology->component_count, largest = -1;
	for (int32_t c = first; c < count; c++) {
		if (!(end_of(body, c) - world->time < (double)fade_time))
			continue;
		largest = largest < 0 ? fem_largest_piece(body->topology) : largest;
		*out_left = fem_piece_time_left(world, body, c, largest);
		if (*out_left < (double)fade_time)
			return c;
	}
	return count;
}

bool fem_body_has_fading_pieces(FemBodyId id, float fade_time) {
	FemResult result;
	FemWorld *world;
	double left;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	return body && body->breaking && next_fading(world, body, 0, fade_time, &left) < body->topology->component_count;
}

int32_t fem_body_get_node_fades(FemBodyId id, float fade_time, float *out_fades, int32_t node_capacity) {
	FemResult result;
	FemWorld *world;
	FemBody *body = fem_body_find_idle(id, &world, &result);
	if (!body)
		return 0;
	const FemTopology *t = body->topology;
	int32_t room = out_fades ? node_capacity : 0;
	double left = 0.0;
	for (int32_t user = 0; user < room && user < t->user_node_count; user++)
		out_fades[user] = 1.0f;
	if (!(fade_time > 0.0f) || !body->breaking || room <= 0)
		return t->user_node_count;
	for (int32_t c = 0; (c = next_fading(world, body, c, fade_time, &left)) < t->component_count; c++) {
		for (int32_t i = t->component_nodes[c].begin; i < t->component_nodes[c].end; i++) {
			if (t->user_of_node[i] < room)
				out_fades[t->user_of_node[i]] = (float)(left / (double)fade_time);
		}
	}
	return t->user_node_count;
}
