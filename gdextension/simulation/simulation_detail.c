// Level of detail: bodies that are far from the camera move as joined rigid pieces until they are near again.
#include "simulation/simulation_world.h"

#include "classes/destructible_body.h"

#include <math.h>

#define NEAR_AGAIN 0.8  // of the distance: nearer than this it is what it was, so that nothing goes to and fro; chosen
#define SHARE_LEAST 0.1 // of the distance, that a tick which takes too long leaves; chosen
enum { CHANGES_MAX = 2 }; // bodies in a tick: a change builds one anew; chosen

FemDynamics simulation_body_dynamics(const SimulationBody *body) {
	return body->is_far ? FEM_DYNAMICS_RIGID_PIECES : body->settings.dynamics;
}

// m, from the nearest point of its box.
static double distance_of(const SimulationBody *body, FemPosition from) {
	FemPosition low, high;
	double square = 0.0;
	if (fem_body_get_bounds(body->body, &low, &high) != FEM_OK) {
		return 0.0;
	}
	for (int i = 0; i < 3; i++) {
		double x = (&from.x)[i], out = fmax(fmax((&low.x)[i] - x, x - (&high.x)[i]), 0.0);
		square += out * out;
	}
	return sqrt(square);
}

static bool may_change(const SimulationBody *body) {
	FemDynamics own = body->settings.dynamics;
	return !body->is_detached && !body->awaited && !body->held_velocities &&
		(own == FEM_DYNAMICS_AUTO || own == FEM_DYNAMICS_ELEMENTS);
}

static bool is_to_be_far(const SimulationBody *body, FemPosition from, double share) {
	double reach = (double)body->settings.rigid_pieces_distance * fmax(share, SHARE_LEAST);
	double distance = distance_of(body, from);
	return body->is_far ? distance > NEAR_AGAIN * reach : distance > reach;
}

static void change(SimulationBody *body, bool is_far) {
	DestructibleBody *node = class_instance(body->node, &destructible_body_class);
	body->is_far = is_far;
	simulation_body_apply_dynamics(body);
	if (is_far && fem_body_get_dynamics(body->body) != FEM_DYNAMICS_RIGID_PIECES) { // it cannot break
		body->is_far = false;
		simulation_body_apply_dynamics(body);
	} else if (node) {
		destructible_body_show_again(node);
	}
}

void simulation_world_choose_detail(SimulationWorld *world) {
	FemObserver observer;
	bool is_asked = false;
	for (int32_t i = 0; i < world->body_count; i++) {
		is_asked |= world->bodies[i]->settings.rigid_pieces_distance > 0.0f || world->bodies[i]->is_far;
	}
	if (!is_asked || budget_find_observer(world, &observer) == 0) {
		return;
	}
	for (int32_t i = 0, changes = 0; i < world->body_count && changes < CHANGES_MAX; i++) {
		SimulationBody *body = world->bodies[i];
		bool has_one = body->settings.rigid_pieces_distance > 0.0f && may_change(body);
		bool is_far = has_one && is_to_be_far(body, observer.position, (double)world->budget.detail_share);
		if (is_far != body->is_far && (has_one || !body->awaited)) {
			change(body, is_far);
			changes++;
		}
	}
}
