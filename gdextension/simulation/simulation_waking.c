// Blows on sleepers. The engine wakes the parts that an impulse acts on; the rest of the piece would stand still like a
// wall and swallow it, so all of the piece is woken first, as contact does.
#include "simulation/simulation_world.h"

#include <math.h>
#include <stdlib.h>

#define REACH 1e4 // m, within which the tet that takes the impulse is looked for

// A blow that cannot give the piece the speed under which things fall asleep stays with the parts around it.
void simulation_body_wake_struck(SimulationBody *body, FemPosition point, float impulse) {
	FemPieceState state;
	if (!body->world || !isfinite(point.x + point.y + point.z) || !isfinite(impulse)) {
		return;
	}
	FemHit hit = fem_body_closest_point(body->body, point, REACH);
	FemPieceNumber piece = hit.body.index1 ? fem_body_get_tet_piece(hit.body, hit.tet) : 0;
	if (piece > 0 && fem_body_get_piece_state(body->body, piece, &state) == FEM_OK &&
		(double)impulse > (double)body->world->sleep_speed * state.mass) {
		fem_body_wake_piece(body->body, piece);
	}
}

static double outside(double low, double high, double x) {
	return x < low ? low - x : x > high ? x - high : 0.0;
}

bool simulation_box_is_near(FemPosition low, FemPosition high, FemPosition center, double radius) {
	double x = outside(low.x, high.x, center.x), y = outside(low.y, high.y, center.y),
		   z = outside(low.z, high.z, center.z);
	return x * x + y * y + z * z < radius * radius;
}

void simulation_body_wake_near(SimulationBody *body, FemPosition center, double radius) {
	FemPosition low, high;
	bool is_reached = body->world && fem_body_get_bounds(body->body, &low, &high) == FEM_OK &&
		simulation_box_is_near(low, high, center, radius);
	int32_t count = is_reached ? fem_body_get_pieces(body->body, NULL, 0) : 0;
	FemPieceNumber *pieces = count > 0 ? malloc((size_t)count * sizeof(FemPieceNumber)) : NULL;
	count = pieces ? fem_body_get_pieces(body->body, pieces, count) : 0;
	for (int32_t i = 0; i < count; i++) {
		FemPieceState state;
		if (fem_body_get_piece_state(body->body, pieces[i], &state) == FEM_OK &&
			simulation_box_is_near(state.min, state.max, center, radius)) {
			fem_body_wake_piece(body->body, pieces[i]);
		}
	}
	free(pieces);
}
