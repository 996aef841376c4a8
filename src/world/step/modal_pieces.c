#include "world/step/modal_pieces.h"

#include "dynamics/elements.h"
#include "dynamics/modal_basis.h"
#include "dynamics/modal_motion.h"
#include "fracture/separation.h"
#include "model/body_step.h"
#include "world/step/breaking.h"
#include "world/step/passes.h"

#include <math.h>
#include <string.h>

#define CALM_SHARE 0.4f // of the strength: as LOW_SHARE of rigid pieces

// ---- which

static bool is_wholly_live(const FemBody *body) {
	return body->live_part_count == body->topology->part_count && body->live_part_count > 0 && !body->kinematic;
}

// Pins that are in a line let it swing, which no frame that stands still does; driven nodes move by themselves.
static bool has_frame(const FemBody *body) {
	double c[3] = {0.0}, second[6] = {0.0}, count = 0.0;
	if (body->pinned_count == 0)
		return true;
	for (int32_t i = 0; i < body->topology->node_count; i++) {
		const float *x = &body->position[i].x;
		if (body->node_kind[i] == FEM_NODE_DRIVEN)
			return false;
		if (body->node_kind[i] == FEM_NODE_FREE)
			continue;
		count += 1.0;
		for (int k = 0; k < 3; k++) {
			c[k] += (double)x[k];
			second[k] += (double)x[k] * (double)x[k];
			second[k + 3] += (double)x[k] * (double)x[(k + 1) % 3];
		}
	}
	for (int k = 0; k < 3; k++)
		second[k] -= c[k] * c[k] / count, second[k + 3] -= c[k] * c[(k + 1) % 3] / count;
	// Twice the sum of the products of two of three principal moments: 0 for points on a line.
	double trace = second[0] + second[1] + second[2], square = 0.0;
	for (int k = 0; k < 3; k++)
		square += second[k] * second[k] + 2.0 * second[k + 3] * second[k + 3];
	return count >= 3.0 && trace * trace - square > 1e-6 * trace * trace; // chosen: a line as floats know it
}

// By how strong its tets are it is told when they break; the paper's toughness is no stress.
static float least_limit(const FemBody *body) {
	float least = INFINITY;
	for (int32_t tet = 0; body->breaking && tet < body->topology->batch_count * FEM_LANES; tet++) {
		if (body->topology->user_of_tet[tet] >= 0)
			least = fminf(least, fem_tet_limit(body, tet));
	}
	return least;
}

bool fem_modal_piece_begin(FemBody *body) {
	FemModal *modal = body->modal;
	FemPiece *piece = &body->pieces[0];
	float limit = least_limit(body);
	if (!fem_modal_fits(modal) || body->topology->component_count != 1 || !has_frame(body) || !(limit > 0.0f) ||
		!fem_modal_take(body))
		return false;
	piece->is_rigid = modal->is_moving = true;
	piece->margin = CALM_SHARE * limit;
	piece->probe_dt = 0.0f;
	return true;
}

// An impulse of the user's that may break it: sqrt(E rho) v is the stress of its wave, which no few modes hold.
static bool is_struck(const FemBody *body) {
	const FemPiece *piece = &body->pieces[0];
	if (!body->breaking || !(body->blow_speed > 0.0f) || !(piece->volume > 0.0f))
		return false;
	float modulus = 2.5f * body->batches[0].mu[0]; // E of a Poisson ratio of 1/4
	return body->blow_speed * sqrtf(modulus * piece->mass / piece->volume) > CALM_SHARE * least_limit(body);
}

void fem_modal_pieces_begin(FemBody *body) {
	FemModal *modal = body->modal;
	if (!fem_modal_fits(modal))
		return;
	modal->is_stale = modal->node_count != body->topology->node_count ||
		memcmp(modal->node_kinds, body->node_kind, (size_t)modal->node_count) != 0;
	if (modal->is_stale && fem_modal_of(body))
		fem_piece_release(&body->pieces[0]);
	modal->is_out |= is_struck(body);
	if (modal->is_out && fem_modal_of(body))
		fem_piece_release(&body->pieces[0]);
	if (modal->is_stale || body->pieces[0].is_rigid || modal->is_out || !is_wholly_live(body))
		return;
	(void)fem_modal_piece_begin(body); // what cannot is elastic
}

// ---- stress

float fem_modal_tension(const FemModal *m) {
	double sum = 0.0;
	for (int32_t k = 0; k < m->mode_count; k++)
		sum += fabs(m->z[k]) * (double)m->tension[k];
	return (float)sum;
}

// dt R W z' of the start: the probe adds what loads change of it.
void fem_modal_add_to_probe(FemBody *body, float dt) {
	const FemModal *m = body->modal;
	float rates[FEM_MODAL_MODES_MAX] __attribute__((aligned(16))) = {0.0f};
	const float *r = m->rotation;
	for (int32_t k = 0; k < m->mode_count; k++)
		rates[k] = dt * (float)m->start_rate[k];
	for (int32_t i = 0; i < m->node_count; i++) {
		float u[3];
		FemVec4 *z = &body->step->z[i], *x = &body->step->direction[i];
		fem_modal_displacement(m, i, rates, u);
		const FemVec4 d = {r[0] * u[0] + r[1] * u[1] + r[2] * u[2], r[3] * u[0] + r[4] * u[1] + r[5] * u[2],
			r[6] * u[0] + r[7] * u[1] + r[8] * u[2], 0.0f};
		*z = (FemVec4){z->x + d.x, z->y + d.y, z->z + d.z, 0.0f};
		*x = (FemVec4){x->x + d.x, x->y + d.y, x->z + d.z, 0.0f};
	}
}

bool fem_modal_is_calm(const FemBody *body) {
	for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++) {
		if (body->topology->user_of_tet[tet] >= 0 &&
			!(fem_tension_bound(&body->step->tet_stress[tet]) < CALM_SHARE * fem_tet_limit(body, tet)))
			return false;
	}
	return true;
}

// ---- end of the step

void fem_modal_pieces_finish(FemStep *step) {
	FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!fem_modal_hides_tets(body))
			continue;
		double r[3][3];
		memcpy(r, body->pieces[0].shape_rotation, sizeof r);
		FemQuat q = fem_quaternion_of(r);
		const FemVec4 *first = &body->rotation[0];
		if (body->modal->tets_follow && first->x == q.x && first->y == q.y && first->z == q.z && first->w == q.w)
			continue;
		body->modal->tets_follow = true;
		for (int32_t tet = 0; tet < body->topology->batch_count * FEM_LANES; tet++)
			body->rotation[tet] = (FemVec4){q.x, q.y, q.z, q.w};
	}
}

int32_t fem_modal_pieces_count(const FemWorld *world) {
	int32_t count = 0;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		count += fem_modal_of(world->bodies[world->islands.active_bodies[i]]) != NULL;
	return count;
}
