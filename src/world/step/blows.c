#include "world/step/blows.h"

#include "fracture/separation.h"
#include "model/body_step.h"
#include "model/piece.h"
#include "world/step/passes.h"

#include <math.h>

// m/s along the normal: what comes more slowly is no blow, what comes faster is one wholly. A piece that rests gains
// 0.33 m/s of its weight in a step of 30 Hz. Chosen.
#define SLOW_SPEED 0.5f
#define BLOW_SPEED 1.5f
// m/s, of hard things as they really are: brick and ice 3000, glass 5000.
#define SOUND_SPEED 4000.0f
// Pa, of shear: what has no duration of its own and is stiffer strikes as a stone does. Chosen.
#define HARD_MODULUS 3e7f

size_t fem_blows_bytes(const FemBody *body) {
	const FemTopology *t = body->topology;
	if (!body->breaking || !body->breaking->has_impacts)
		return 0;
	return fem_align_up(sizeof(float) * (size_t)t->component_count) +
		fem_align_up(sizeof(FemTetStress) * (size_t)t->batch_count * FEM_LANES);
}

// ---- who is struck

static bool may_be_struck(const FemBody *body) {
	return body->breaking && body->breaking->has_impacts && !body->plastics && body->live_part_count > 0 &&
		body->step->start && !body->step->is_over && !body->went_bad;
}

static void open(FemBody *body, FemArena *arena) {
	int32_t count = body->topology->component_count;
	body->step->blow = FEM_ARENA_TAKE(arena, float, count);
	body->step->start_stress = FEM_ARENA_TAKE(arena, FemTetStress, body->topology->batch_count * FEM_LANES);
	for (int32_t c = 0; c < count; c++)
		body->step->blow[c] = 1.0f;
}

// s: half a period of the bending of a piece, of its length L and depth d, pi / (7 c d / L^2): a free beam has 6.5
// there, a free plate 7.8. Until then a slender piece gives way to the blow. d is the thickness of its walls, or that
// of a plate with the same box where this is more: what is curved is stiff.
static float bending_time(const FemPiece *piece) {
	float square = piece->length * piece->length, box = piece->box_area * sqrtf(piece->box_area);
	float depth = fmaxf(piece->thickness, square > 0.0f ? 2.0f * box / square : 0.0f);
	return depth > 0.0f ? 0.45f * square / (SOUND_SPEED * depth) : 0.0f;
}

// How many times harder than a step sees it a piece is struck. duration: s, of a blow on the material at BLOW_SPEED; 0:
// as long as the step. By Hertz's law it falls with the fifth root of the speed.
static float factor_of(float duration, float least, float approach, float dt) {
	float share = (approach - SLOW_SPEED) / (BLOW_SPEED - SLOW_SPEED);
	if (!(duration > 0.0f) || !(share > 0.0f))
		return 1.0f;
	float lasts = fmaxf(duration * powf(fmaxf(approach / BLOW_SPEED, 1.0f), -0.2f), least);
	return 1.0f + fminf(share, 1.0f) * fmaxf(dt / lasts - 1.0f, 0.0f);
}

static void note(FemBody *body, int32_t component, float factor) {
	body->step->blow[component] = fmaxf(body->step->blow[component], factor);
}

// s, of a side that is a body: that of its material; of others infinite where they are hard, which leaves it to the
// other side how long the blow lasts, 0 where they are soft.
static float duration_of_body(const FemBody *body, const FemContactSide *side) {
	const FemTopology *t = body->topology;
	int32_t tet = side->kind == FEM_SIDE_TET ? side->tet : t->node_tets[t->node_tet_start[side->node]] / 4;
	if (body->breaking && !body->plastics && body->tet_impact[tet] > 0.0f)
		return body->tet_impact[tet];
	return body->batches[tet / FEM_LANES].mu[tet % FEM_LANES] > HARD_MODULUS ? INFINITY : 0.0f;
}

static float duration_of(const FemWorld *world, const FemContactSide *side) {
	return fem_side_is_collider(side) ? INFINITY : duration_of_body(world->bodies[side->body], side);
}

// The softer of the two sides decides how long it lasts.
static float combine(float a, float b) {
	if (isinf(a) || isinf(b))
		return fminf(a, b);
	return a > 0.0f && b > 0.0f ? fmaxf(a, b) : 0.0f;
}

static void find_contact_blow(FemStep *step, const FemContact *contact) {
	FemWorld *world = step->world;
	float duration[2] = {duration_of(world, &contact->side[0]), duration_of(world, &contact->side[1])};
	float lasts = combine(duration[0], duration[1]);
	for (int s = 0; s < 2 && lasts > 0.0f && contact->normal_impulse > 0.0f; s++) {
		const FemContactSide *side = &contact->side[s];
		FemBody *body = fem_side_is_body(side) && isfinite(duration[s]) ? world->bodies[side->body] : NULL;
		if (body && body->step && body->step->blow)
			note(body, side->piece,
				factor_of(lasts, bending_time(&body->pieces[side->piece]), contact->approach, step->dt));
	}
}

static void find_ground_blows(FemBody *body, float dt) {
	const FemTopology *t = body->topology;
	for (int32_t i = 0; i < t->node_count; i++) {
		bool is_live = body->part_state[t->node_part[i]] == FEM_ISLAND_LIVE;
		if (!is_live || !(body->step->ground[i].x > 0.0f))
			continue;
		int32_t tet = t->node_tets[t->node_tet_start[i]] / 4, component = fem_node_component(t, i);
		note(body, component,
			factor_of(
				body->tet_impact[tet], bending_time(&body->pieces[component]), -body->step->start->velocity[i].y, dt));
	}
}

// Impulses and explosions act at once, before anything can give way.
static void find_impulse_blows(FemBody *body, float dt) {
	const FemTopology *t = body->topology;
	for (int32_t c = 0; body->blow_speed > SLOW_SPEED && c < t->component_count; c++) {
		int32_t tet = t->node_tets[t->node_tet_start[t->component_nodes[c].begin]] / 4;
		note(body, c, factor_of(body->tet_impact[tet], 0.0f, body->blow_speed, dt));
	}
}

void fem_blows_end(FemStep *step) {
	const FemWorld *world = step->world;
	for (int32_t i = 0; i < world->islands.active_count; i++)
		world->bodies[world->islands.active_bodies[i]]->blow_speed = 0.0f;
}

void fem_blows_find(FemStep *step) {
	FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; world->breakable_count > 0 && i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		body->step->blow = NULL;
		if (!may_be_struck(body))
			continue;
		open(body, step->arena);
		find_ground_blows(body, step->dt);
		find_impulse_blows(body, step->dt);
		any = true;
	}
	for (int32_t c = 0; any && c < step->composites.count; c++) {
		FemRange contacts = step->composites.composites[c].contacts;
		for (int32_t k = contacts.begin; k < contacts.end; k++)
			find_contact_blow(step, &step->composites.contacts[k]);
	}
}

float fem_blow_of_piece(const FemBody *body, int32_t component) {
	return body->step->blow ? body->step->blow[component] : 1.0f;
}

// ---- stress

bool fem_blows_swap_with_start(FemStep *step) {
	const FemWorld *world = step->world;
	bool any = false;
	for (int32_t i = 0; i < world->islands.active_count; i++) {
		FemBody *body = world->bodies[world->islands.active_bodies[i]];
		if (!body->step->blow)
			continue;
		FemVec4 *position = body->position;
		FemTetStress *stress = body->step->tet_stress;
		body->position = body->step->start->position;
		body->step->start->position = position;
		body->step->tet_stress = body->step->start_stress;
		body->step->start_stress = stress;
		any = true;
	}
	return any;
}

static FemVec4 amplify(FemVec4 start, FemVec4 end, float factor) {
	return (FemVec4){start.x + factor * (end.x - start.x), start.y + factor * (end.y - start.y),
		start.z + factor * (end.z - start.z), 0.0f};
}

void fem_blows_amplify_stress(FemBody *body, int32_t batch_begin, int32_t batch_end) {
	const FemTopology *t = body->topology;
	for (int32_t tet = batch_begin * FEM_LANES; body->step->blow && tet < batch_end * FEM_LANES; tet++) {
		float factor = t->user_of_tet[tet] >= 0 ? body->step->blow[fem_tet_component(t, tet)] : 1.0f;
		FemTetStress *end = &body->step->tet_stress[tet], *start = &body->step->start_stress[tet];
		if (!(factor > 1.0f))
			continue;
		end->normal = amplify(start->normal, end->normal, factor);
		end->shear = amplify(start->shear, end->shear, factor);
	}
}
